#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What calibration takes: seconds, CPU seconds and peak memory of a compile to
the phase `quantize`, on random frames.

    bench/calibration.py FOLDER NETWORK … [--frames N]

FOLDER holds ONNX files. Quantizers of theirs are taken out first, so that the
network is one of floats. Needs the Python packages of the tests:
`.venv/bin/python bench/calibration.py`. Nothing is asserted: times are this
machine's.
"""
import argparse
import pathlib
import tempfile

import numpy as np
import onnx
from large import RHIZOME, measure
from onnx import numpy_helper


def dequantized(node, initializers):
    """The floats of a constant behind a DequantizeLinear, under its name."""
    codes, scale = (numpy_helper.to_array(initializers[name])
                    for name in node.input[:2])
    axis = next((a.i for a in node.attribute if a.name == "axis"), 1)
    if scale.ndim:
        scale = scale.reshape([-1 if d == axis else 1
                               for d in range(codes.ndim)])
    return numpy_helper.from_array((codes * scale).astype(np.float32),
                                   node.output[0])


def without_quantizers(model):
    """The network whose activations and weights are floats."""
    graph = model.graph
    initializers = {i.name: i for i in graph.initializer}
    same, nodes, floats = {}, [], []  # a tensor that is another one
    for node in graph.node:
        isConstant = node.input[0] in initializers
        if node.op_type == "DequantizeLinear" and isConstant:
            floats.append(dequantized(node, initializers))
        elif node.op_type in ("QuantizeLinear", "DequantizeLinear"):
            same[node.output[0]] = node.input[0]
        else:
            nodes.append(node)

    def source(name):
        while name in same:
            name = same[name]
        return name

    outputs = {source(o.name): o.name for o in graph.output}
    for node in nodes:
        for names in (node.input, node.output):
            for i, name in enumerate(names):
                names[i] = outputs.get(source(name), source(name))
    used = {name for node in nodes for name in node.input}
    kept = [i for i in [*graph.initializer, *floats] if i.name in used]
    del graph.node[:], graph.initializer[:]
    graph.node.extend(nodes)
    graph.initializer.extend(kept)
    onnx.checker.check_model(model)
    return model


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("networks", nargs="+")
    parser.add_argument("--frames", type=int, default=8)
    args = parser.parse_args()
    print(f"{'network':18} {'frames':>6} {'s':>7} {'CPU s':>7} {'MB':>6}")
    for name in args.networks:
        with tempfile.TemporaryDirectory() as folder:
            network = pathlib.Path(folder, "float.onnx")
            frames = pathlib.Path(folder, "frames.npy")
            model = without_quantizers(onnx.load(args.folder / f"{name}.onnx"))
            onnx.save(model, network)
            shape = [d.dim_value for d in
                     model.graph.input[0].type.tensor_type.shape.dim]
            np.save(frames, np.random.default_rng(1).standard_normal(
                (args.frames, *shape[1:]), dtype=np.float32))
            seconds, cpu, peak, status, _ = measure(
                [RHIZOME, "compile", network, "--calibration", frames,
                 "--compile-to", "quantize", "-o",
                 pathlib.Path(folder, "quantized.mlir")])
        note = f"  ended with {status}" if status else ""
        print(f"{name:18} {args.frames:6} {seconds:7.2f} {cpu:7.2f} "
              f"{peak:6.0f}{note}", flush=True)


if __name__ == "__main__":
    main()
