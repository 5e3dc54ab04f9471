#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ort_reference.py MODEL INPUT.npz OUTPUT.npz: runs a model in onnxruntime (CPU)
# on the named arrays of INPUT.npz and stores its outputs under their names.
# Graph optimizations are off unless asked for, so that every node is computed
# as it is written in the file.

import argparse
import sys

import numpy as np
import onnx
import onnxruntime


def session(model, optimize=False, threads=1):
    options = onnxruntime.SessionOptions()
    levels = onnxruntime.GraphOptimizationLevel
    options.graph_optimization_level = (
        levels.ORT_ENABLE_ALL if optimize else levels.ORT_DISABLE_ALL)
    options.intra_op_num_threads = threads
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(
        model if isinstance(model, (str, bytes)) else model.SerializeToString(),
        options, providers=["CPUExecutionProvider"])


def with_intermediates(model):
    """A copy of the model in which every node's output is a graph output."""
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    known = {output.name for output in copy.graph.output}
    for node in copy.graph.node:
        for name in node.output:
            if name and name not in known:
                known.add(name)
                # onnxruntime infers the type and shape of an untyped output.
                copy.graph.output.append(onnx.ValueInfoProto(name=name))
    return copy


def run(model, inputs, optimize=False, intermediate=False, threads=1,
        split_batch=False):
    """Run on a dict of named arrays; a dict of named outputs.

    With split_batch, the first dimension of every input is run one by one
    and the outputs are joined again along theirs.
    """
    if intermediate:
        model = with_intermediates(model)
    runner = session(model, optimize, threads)
    expected = {i.name: i.type for i in runner.get_inputs()}
    if set(inputs) != set(expected):
        raise KeyError(f"the model wants inputs {sorted(expected)}, "
                       f"given {sorted(inputs)}")
    types = {"tensor(float)": np.float32, "tensor(double)": np.float64}
    inputs = {name: np.asarray(array, types.get(expected[name]))
              for name, array in inputs.items()}
    names = [o.name for o in runner.get_outputs()]
    if not split_batch:
        return dict(zip(names, runner.run(names, inputs)))
    count = {len(array) for array in inputs.values()}
    if len(count) != 1:
        raise ValueError("the inputs differ in their first dimension")
    rows = [runner.run(names, {name: array[i:i + 1]
                               for name, array in inputs.items()})
            for i in range(count.pop())]
    # A constant without a batch dimension is kept once.
    return {name: np.concatenate(column) if column[0].ndim
            and column[0].shape[0] == 1 else column[0]
            for name, column in zip(names, zip(*rows))}


def main():
    parser = argparse.ArgumentParser(
        description="Run a model in onnxruntime (CPU) on an .npz of inputs.")
    parser.add_argument("model")
    parser.add_argument("input", help=".npz with one array per model input")
    parser.add_argument("output", help=".npz to write")
    parser.add_argument("--optimize", action="store_true",
                        help="enable all of onnxruntime's graph optimizations")
    parser.add_argument("--intermediate", action="store_true",
                        help="also store every intermediate tensor")
    parser.add_argument("--split-batch", action="store_true",
                        help="run the first dimension one by one, for models "
                             "with a fixed batch of 1")
    parser.add_argument("--threads", type=int, default=1)
    args = parser.parse_args()
    with np.load(args.input) as data:
        inputs = {name: data[name] for name in data.files}
    results = run(onnx.load(args.model), inputs, args.optimize,
                  args.intermediate, args.threads, args.split_batch)
    # Opened here: given a name, savez would append ".npz" to another suffix.
    with open(args.output, "wb") as stream:
        np.savez(stream, **results)
    return 0


if __name__ == "__main__":
    sys.exit(main())
