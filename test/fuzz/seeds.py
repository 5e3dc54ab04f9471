#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes small models for the fuzzer to begin with: one for each operation
that the importer reads, and those that the tests of bad models are made of.
usage: seeds.py FOLDER"""
import pathlib
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "e2e"))
import imports  # noqa: E402
import onnxkit  # noqa: E402
from badmodels import cases, info, init, model, node, qdq, quant  # noqa: E402

X = (1, 2, 4, 4)


def one(kind, inits=(), shape=X, outputs=("y",), **attributes):
    """x and the initializers through one node."""
    tensors = [init(f"i{k}", v, v.dtype) for k, v in enumerate(inits)]
    return model([node(kind, ["x", *(t.name for t in tensors)], list(outputs),
                       **attributes)], tensors, [info("x", shape)])


def ints(*values):
    return np.array(values, np.int64)


def reals(*shape):
    return np.linspace(-1, 1, int(np.prod(shape)), dtype=np.float32).reshape(
        shape)


def body(nodes, inputs, outputs, constants=()):
    return onnxkit.helper.make_graph(
        nodes, "body", [info(*i) for i in inputs], [info(*o) for o in outputs],
        [init(n, v, v.dtype) for n, v in constants])


def repeated():
    """Bodies with a trip count, one in another, and one step of a network that
    keeps its state."""
    step = body([node("Add", ["s", "e"], ["t"]), node("Mul", ["t", "k"], ["y"])],
                [("s", (4,)), ("e", (4,))], [("t", (4,)), ("y", (4,))])
    trip, goes_on = ("i", (), 7), ("c", (), 9)  # int64, bool
    counted = body([node("Add", ["s", "x"], ["t"]),
                    node("Identity", ["c"], ["on"])],
                   [trip, goes_on, ("s", (3, 4))],
                   [("on", (), 9), ("t", (3, 4)), ("s", (3, 4))])
    scan = node("Scan", ["z", "x"], ["last", "y"], body=step, num_scan_inputs=1,
                scan_input_directions=[1], scan_output_axes=[1])
    outer = body([node("Loop", ["n", "", "s"], ["t"], body=body(
        [node("Add", ["v", "e"], ["w"]), node("Identity", ["c"], ["on"])],
        [trip, goes_on, ("v", (4,))], [("on", (), 9), ("w", (4,))]))],
        [("s", (4,)), ("e", (4,))], [("t", (4,))], [("n", ints(2)[0])])
    parts = [init("z", reals(4)), init("k", reals(4))]
    return {
        "scan": model([scan], parts, [info("x", (3, 4))]),
        "loop": model([node("Loop", ["n", "", "x"], ["last", "y"],
                            body=counted)],
                      [init("n", 3, np.int64)], [info("x", (3, 4))]),
        "nested": model([node("Scan", ["z", "x"], ["y"], body=outer,
                              num_scan_inputs=1)], parts[:1],
                        [info("x", (3, 4))]),
        "step": model([node("LSTM", ["x", "w", "r", "", "", "h", "c"],
                            ["all", "hn", "y"], hidden_size=2)],
                      [init("w", reals(1, 8, 3)), init("r", reals(1, 8, 2))],
                      [info("x", (1, 1, 3)), info("h", (1, 1, 2)),
                       info("c", (1, 1, 2))]),
    }


def seeds():
    made = {
        "conv": one("Conv", [reals(4, 2, 3, 3), reals(4)], pads=[1] * 4),
        "conv1d": one("Conv", [reals(4, 1, 3)], (1, 2, 8), group=2),
        "gemm": one("Gemm", [reals(3, 8), reals(3)], (1, 8), transB=1),
        "matmul": one("MatMul", [reals(8, 3)], (1, 8)),
        "bn": one("BatchNormalization", [reals(2), reals(2), reals(2),
                                         np.abs(reals(2)) + 1]),
        "topk": one("TopK", [ints(1)], (1, 8), ("v", "y")),
        "reshape": one("Reshape", [ints(1, -1)]),
        "clip": one("Clip", [np.float32(-1), np.float32(1)]),
        "pad": one("Pad", [ints(0, 0, 1, 1, 0, 0, 1, 1)]),
        "slice": one("Slice", [ints(0), ints(1), ints(2)]),
        "gather": one("Gather", [ints(0)], axis=1),
        "flatten": one("Flatten"), "dropout": one("Dropout"),
        "cast": one("Cast", to=1), "transpose": one("Transpose",
                                                    perm=[0, 2, 3, 1]),
        "squeeze": one("Squeeze", [ints(0)]),
        "unsqueeze": one("Unsqueeze", [ints(0)], (2, 4)),
        "softmax": one("Softmax", axis=1), "argmax": one("ArgMax", axis=1),
        "reduce": one("ReduceMean", axes=[2, 3]), "concat": model(
            [node("Concat", ["x", "x"], ["y"], axis=1)]),
        "shape": model([node("Shape", ["x"], ["s"]),
                        node("Gather", ["s", "i"], ["d"]),
                        node("Unsqueeze", ["d", "a"], ["u"]),
                        node("Concat", ["u", "m"], ["t"], axis=0),
                        node("Reshape", ["x", "t"], ["y"])],
                       [init("i", 0, np.int64), init("a", [0], np.int64),
                        init("m", [-1], np.int64)]),
        "fill": model([node("ConstantOfShape", ["n"], ["c"]),
                       node("Expand", ["c", "e"], ["f"]),
                       node("Add", ["x", "f"], ["y"])],
                      [init("n", [6, 1], np.int64),
                       init("e", [6, 6], np.int64)]),
        "qdq": qdq(), "quant": quant(), **repeated(),
        "bipolar": model([node("BipolarQuant", ["x", "s"], ["y"])],
                         [init("s", 0.5)]),
    }
    for kind in ("MaxPool", "AveragePool"):
        made[kind] = one(kind, kernel_shape=[2, 2], strides=[2, 2])
    for kind in ("GlobalAveragePool", "Relu", "LeakyRelu", "Sigmoid", "Tanh",
                 "Erf", "HardSwish", "Floor", "Identity"):
        made[kind] = one(kind)
    for kind in ("Add", "Sub", "Mul", "Div", "Pow", "Sum"):
        made[kind] = one(kind, [reals(2, 1, 1)])
    for name, case in cases(qdq().SerializeToString()).items():
        made["bad " + name] = case[0] if isinstance(case, tuple) else case
    made |= imports.functions(onnxkit)
    made |= {"bad " + name: case for name, (case, _)
             in imports.bad_functions(onnxkit).items()}
    return made


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name, made in seeds().items():
        data = made if isinstance(made, bytes) else made.SerializeToString()
        if len(data) < 16384:
            (folder / name.replace(" ", "_").replace("/", "_")).write_bytes(
                data)


if __name__ == "__main__":
    main()
