#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Measures data/hosts/*.yaml: how many operations of each class one core of this
machine computes per second, as `rhizome evaluate --time` runs the host tasks.

    bench/host_rates.py [--rhizome build/bin/rhizome] [--runs 3]

Each class is one ONNX model at two sizes; the difference of their times over the
difference of their work is the rate, so that the constant time of a frame cancels
out. That constant, from a model with almost no computation, is call_us. The
median of the runs is printed as lines of the data file."""
import argparse
import json
import pathlib
import statistics
import subprocess
import tempfile

import numpy as np
import onnx
from onnx import helper, numpy_helper, TensorProto


def matmul(n):
    """n × 256 times 256 × 256."""
    weights = np.random.default_rng(1).normal(size=(256, 256))
    return ("MatMul", [n, 256], [n, 256], {}, weights.astype(np.float32),
            n * 256 * 256)


def add(n):
    return "Add", [n, 256], [n, 256], {}, np.float32([0.5]), n * 256


def exp(n):
    return "Exp", [n, 256], [n, 256], {}, None, n * 256


def reduce(n):
    return ("ReduceMax", [n, 256], [n, 1], {"axes": [1], "keepdims": 1}, None,
            n * 256)


CLASSES = {"macs_per_s": (matmul, 16, 128), "elements_per_s": (add, 64, 2048),
           "curves_per_s": (exp, 64, 1024), "reduced_per_s": (reduce, 64, 2048)}


def build(case, path):
    op, shape, result, attributes, constant, _ = case
    extra = ([] if constant is None
             else [numpy_helper.from_array(constant, "c")])
    node = helper.make_node(op, ["x"] + ["c"] * len(extra), ["y"],
                            name="node", **attributes)
    graph = helper.make_graph(
        [node], "rates",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, result)], extra)
    onnx.save(helper.make_model(
        graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)


def microseconds(rhizome, case, folder):
    """One frame on one core."""
    build(case, folder / "m.onnx")
    x = np.random.default_rng(2).uniform(-1, 1, [2] + case[1])
    np.save(folder / "x.npy", x.astype(np.float32))
    run = subprocess.run(
        [rhizome, "evaluate", folder / "m.onnx", "--data", folder / "x.npy",
         "--time", "--float-frames", "0", "--json"],
        capture_output=True, text=True, check=False)
    if run.returncode:
        raise SystemExit(run.stdout + run.stderr)
    return json.loads(run.stdout)["forms"][0]["frame_us"]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rhizome", default="build/bin/rhizome")
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for key, (case, small, large) in CLASSES.items():
            rates = []
            for _ in range(options.runs):
                least, most = case(small), case(large)
                us = (microseconds(options.rhizome, most, folder)
                      - microseconds(options.rhizome, least, folder))
                rates.append((most[5] - least[5]) / us * 1e6)
            print(f"{key}: {statistics.median(rates):.1e}")
        calls = [microseconds(options.rhizome, add(1), folder)
                 for _ in range(options.runs)]
        print(f"call_us: {statistics.median(calls):.2g}")


if __name__ == "__main__":
    main()
