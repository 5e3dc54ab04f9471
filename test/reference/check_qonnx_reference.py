#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Compares the float operators of qonnx_reference.py with onnxruntime on random
# data, one single-node model for each case, and its Quant with hand-made
# codes. Prints one line for each failure and exits 1 if there is any.

import sys

import numpy as np
from onnx import TensorProto, helper, numpy_helper

import ort_reference
import qonnx_reference

RNG = np.random.RandomState(7)


def draw(*shape):
    return RNG.normal(0, 1, shape).astype(np.float32)


def model(kind, arrays, opset, attributes, domain=""):
    names = [f"x{i}" if a is not None else "" for i, a in enumerate(arrays)]
    node = helper.make_node(kind, names, ["y"], domain=domain, **attributes)
    constants = [numpy_helper.from_array(a, n)
                 for n, a in zip(names[1:], arrays[1:]) if a is not None]
    graph = helper.make_graph(
        [node], "case",
        [helper.make_tensor_value_info("x0", TensorProto.FLOAT,
                                       arrays[0].shape)],
        [helper.make_empty_tensor_value_info("y")], constants)
    sets = [helper.make_opsetid("", opset)]
    if domain:
        sets.append(helper.make_opsetid(domain, 1))
    return helper.make_model(graph, opset_imports=sets, ir_version=7)


image = draw(2, 4, 9, 7)
ints = lambda *v: np.array(v, np.int64)
window = {"kernel_shape": [3, 2], "strides": [2, 2]}
CASES = [
    ("Conv", [image, draw(6, 4, 3, 3), draw(6)], 11, {"pads": [1, 0, 2, 1]}),
    ("Conv", [image, draw(8, 1, 3, 2)], 11, {"group": 4, "strides": [2, 3]}),
    ("Conv", [image, draw(6, 2, 2, 3), draw(6)], 11,
     {"group": 2, "dilations": [3, 2], "pads": [2, 1, 0, 1]}),
    ("Conv", [image, draw(6, 4, 3, 2)], 11,
     {"auto_pad": "SAME_UPPER", "strides": [2, 2]}),
    ("Conv", [image, draw(6, 4, 3, 2)], 11,
     {"auto_pad": "SAME_LOWER", "strides": [2, 1]}),
    ("Conv", [draw(2, 3, 11), draw(5, 3, 4), draw(5)], 11, {"pads": [1, 2]}),
    ("MaxPool", [image], 12, {**window, "pads": [1, 0, 1, 1]}),
    ("MaxPool", [image], 12, {**window, "ceil_mode": 1}),
    ("MaxPool", [image], 12, {"kernel_shape": [2, 2], "dilations": [2, 3]}),
    ("AveragePool", [image], 11, {**window, "pads": [1, 0, 1, 1]}),
    ("AveragePool", [image], 11,
     {**window, "pads": [1, 0, 1, 1], "count_include_pad": 1}),
    ("AveragePool", [image], 11, {**window, "ceil_mode": 1}),
    ("GlobalAveragePool", [image], 11, {}),
    ("Gemm", [draw(3, 5), draw(4, 5), draw(4)], 11,
     {"transB": 1, "alpha": 0.5, "beta": 2.0}),
    ("Gemm", [draw(5, 3), draw(5, 4)], 11, {"transA": 1}),
    ("MatMul", [draw(2, 3, 5), draw(5, 4)], 11, {}),
    ("BatchNormalization", [image, draw(4), draw(4), draw(4),
                            draw(4) ** 2 + 0.1], 9, {"epsilon": 1e-3}),
    ("Relu", [image], 11, {}),
    ("LeakyRelu", [image], 11, {"alpha": 0.125}),
    ("LeakyRelu", [image], 11, {}),
    ("Clip", [image], 6, {"min": -0.5, "max": 0.25}),
    ("Clip", [image, None, np.float32(0.25).reshape(())], 11, {}),
    ("Add", [image, draw(4, 1, 1)], 11, {}),
    ("Sub", [image, draw(7)], 11, {}),
    ("Mul", [image, draw(9, 1)], 11, {}),
    ("Div", [image, draw(7) ** 2 + 1], 11, {}),
    ("Pow", [np.abs(image), np.float32(0.5).reshape(())], 12, {}),
    ("Softmax", [draw(2, 3, 4)], 11, {}),
    ("Softmax", [draw(2, 3, 4)], 11, {"axis": 2}),
    ("Softmax", [draw(2, 3, 4)], 13, {}),
    ("Softmax", [draw(2, 3, 4)], 13, {"axis": 1}),
    ("Shape", [image], 11, {}),
    ("Gather", [image, ints(2, 0)], 11, {"axis": 1}),
    ("Unsqueeze", [draw(2, 3)], 11, {"axes": [0, 3]}),
    ("Unsqueeze", [draw(2, 3), ints(0, -1)], 13, {}),
    ("Squeeze", [draw(2, 1, 3, 1)], 11, {"axes": [1, -1]}),
    ("Squeeze", [draw(2, 1, 3), ints(1)], 13, {}),
    ("Concat", [draw(2, 3), draw(2, 1)], 11, {"axis": -1}),
    ("Reshape", [draw(2, 3, 4), ints(0, -1)], 11, {}),
    ("Flatten", [draw(2, 3, 4)], 11, {"axis": 2}),
    ("Flatten", [draw(2, 3, 4)], 11, {"axis": 0}),
    ("Transpose", [draw(2, 3, 4)], 11, {"perm": [1, 2, 0]}),
    ("Transpose", [draw(2, 3, 4)], 11, {}),
    ("Pad", [draw(2, 3)], 9, {"pads": [1, 0, 0, 2], "value": 1.5}),
    ("Pad", [draw(2, 3), ints(1, 0, 0, 2)], 11, {}),
    ("Pad", [draw(4, 5), ints(1, 0, 0, 2)], 11, {"mode": "reflect"}),
    ("Pad", [draw(4, 5), ints(1, 0, 0, 2)], 11, {"mode": "edge"}),
]

f32 = np.float32
HALVES = np.arange(-5, 6).astype(f32) / 2
# Input, scale, zero point, bits, attributes, what Quant must return.
QUANTS = [
    (HALVES, 1, 0, 3, {"signed": 1, "narrow": 0},
     [-2, -2, -2, -1, 0, 0, 0, 1, 2, 2, 2]),
    (HALVES, 1, 0, 2, {"signed": 1, "narrow": 1},
     [-1, -1, -1, -1, 0, 0, 0, 1, 1, 1, 1]),
    (HALVES, 1, 0, 2, {"signed": 0, "narrow": 1},
     [0, 0, 0, 0, 0, 0, 0, 1, 2, 2, 2]),
    (HALVES, 0.5, 1, 2, {"signed": 0, "narrow": 0},
     [-.5, -.5, -.5, -.5, -.5, 0, .5, 1, 1, 1, 1]),
    (HALVES, 2, 0, 1, {"signed": 1, "narrow": 0}, [-2] * 5 + [2] * 6),
    (HALVES, 1, 0, 4, {"signed": 1, "narrow": 0, "rounding_mode": "FLOOR"},
     [-3, -2, -2, -1, -1, 0, 0, 1, 1, 2, 2]),
    (HALVES, 1, 0, 4, {"signed": 1, "narrow": 0, "rounding_mode": "HALF_UP"},
     [-3, -2, -2, -1, -1, 0, 1, 1, 2, 2, 3]),
]


def main():
    failures = 0

    def report(label, got, want):
        nonlocal failures
        if (np.shape(got) != np.shape(want)
                or not np.allclose(got, want, rtol=1e-5, atol=1e-5)):
            failures += 1
            print(f"FAIL {label}: {np.shape(got)} against {np.shape(want)}")

    for kind, arrays, opset, attributes in CASES:
        label = f"{kind}-{opset} {attributes}"
        case = model(kind, arrays, opset, attributes)
        report(label, qonnx_reference.evaluate(case, {"x0": arrays[0]})["y"],
               ort_reference.run(case, {"x0": arrays[0]})["y"])
    for x, scale, zero, bits, attributes, want in QUANTS:
        for domain in qonnx_reference.QUANT_DOMAINS:
            case = model("Quant", [x, f32(scale).reshape(()),
                                   f32(zero).reshape(()),
                                   f32(bits).reshape(())], 11, attributes,
                         domain)
            report(f"{domain}.Quant {attributes}",
                   qonnx_reference.evaluate(case, {"x0": x})["y"], want)
    case = model("BipolarQuant", [HALVES, f32(0.25).reshape(())], 11, {},
                 "onnx.brevitas")
    report("BipolarQuant", qonnx_reference.evaluate(case, {"x0": HALVES})["y"],
           [-.25] * 5 + [.25] * 6)
    print(f"{len(CASES) + 3 * len(QUANTS) + 1} cases, {failures} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
