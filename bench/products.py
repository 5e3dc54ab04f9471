#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Large matrix products on the CPU, one thread, beside ONNX Runtime and, with
--base, another build: layers of a transformer, dense layers of one frame, and
what no cache holds. Prints operations a nanosecond and the largest difference.
    bench/products.py [--rhizome build/bin/rhizome] [--base RHIZOME]"""
import argparse
import os
import pathlib
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
VENV = ROOT / ".venv/bin/python"
sys.path[:0] = [str(ROOT / "test/e2e"), str(ROOT / "test/reference"),
                str(ROOT / "bench")]
sys.dont_write_bytecode = True

# Name, kind, rows, terms of a sum, columns. The weights are constant, but for
# `float x float`.
PRODUCTS = (
    ("large", "float", 1024, 4096, 1024),
    ("two tensors", "float x float", 512, 2048, 512),
    ("DistilBERT query", "float", 128, 768, 768),
    ("DistilBERT up", "float", 128, 768, 3072),
    ("DistilBERT down", "float", 128, 3072, 768),
    ("VGG's first, 1/4", "float", 1, 25088, 1024),
    ("VGG's second", "float", 1, 4096, 4096),
    ("large", "QLinear", 1024, 4096, 1024),
    ("DistilBERT query", "QLinear", 128, 768, 768),
    ("a frame", "QLinear", 1, 4096, 1024),
    ("large", "Integer", 1024, 4096, 1024),
    ("DistilBERT query", "Integer", 128, 768, 768),
)


def model_of(kind, rows, terms, columns):
    import numpy as np
    import onnx
    from onnx import TensorProto, helper, numpy_helper
    draw = np.random.RandomState(1)
    real, data = TensorProto.FLOAT, TensorProto.UINT8
    weights = draw.randn(terms, columns).astype(np.float32)
    if not kind.startswith("float"):
        weights = draw.randint(-127, 128, (terms, columns)).astype(np.int8)
    held = {"w": weights}
    op, inputs, types = "MatMul", ["x", "w"], (real, real)
    if kind == "Integer":
        op, types = "MatMulInteger", (data, TensorProto.INT32)
    if kind == "QLinear":
        op, types = "QLinearMatMul", (data, data)
        inputs = ["x", "xs", "xz", "w", "ws", "wz", "ys", "yz"]
        held |= {"xs": np.float32(0.02), "xz": np.uint8(128),
                 "ws": np.float32(0.01), "wz": np.int8(0),
                 "ys": np.float32(0.01 * terms ** 0.5), "yz": np.uint8(128)}
    given = [helper.make_tensor_value_info("x", types[0], [rows, terms])]
    if kind == "float x float":
        held = {}
        given.append(helper.make_tensor_value_info("w", real,
                                                   [terms, columns]))
    graph = helper.make_graph(
        [helper.make_node(op, inputs, ["y"])], "product", given,
        [helper.make_tensor_value_info("y", types[1], [rows, columns])],
        [numpy_helper.from_array(value, name) for name, value in held.items()])
    return helper.make_model(
        graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)


def main():
    if VENV.exists() and pathlib.Path(sys.prefix) != VENV.parents[1]:
        os.execv(VENV, [str(VENV), *sys.argv])
    import numpy as np
    import onnx
    import ort
    import ort_reference
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rhizome", default=ROOT / "build/bin/rhizome")
    parser.add_argument("--base", help="another build's rhizome")
    options = parser.parse_args()
    print(f"{'':17} {'':14} {'product':>16} {'base':>7} {'ours':>7} {'ORT':>7} "
          f"{'ratio':>6} {'difference':>10}")
    for name, kind, *sizes in PRODUCTS:
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "product.onnx"
            model = model_of(kind, *sizes)
            onnx.save(model, path)
            session = ort_reference.session(str(path))
            frames = ort.draw_frames(model, session, [], 2)
            wanted = [session.run(None, frame)[0] for frame in frames]
            level = "float" if kind.startswith("float") else "functional"
            speeds, apart = [], 0.0
            for program in (options.base, options.rhizome):
                if not program:
                    speeds.append(0)
                    continue
                got, us = ort.ours(program, path, [], frames, 1, level, folder)
                apart = max(np.abs(np.asarray(g[0], np.float64) - w).max()
                            for g, w in zip(got, wanted))
                speeds.append(2e-3 * np.prod(sizes) / us)
            speeds.append(2e-3 * np.prod(sizes)
                          / ort.runtime_us(path, frames[0]))
        print(f"{name:17} {kind:14} {'x'.join(map(str, sizes)):>16} "
              f"{speeds[0]:7.1f} {speeds[1]:7.1f} {speeds[2]:7.1f} "
              f"{speeds[1] / speeds[2]:6.2f} {apart:10.1e}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
