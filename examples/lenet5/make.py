#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Writes lenet5_codes.onnx: a LeNet-5 shape with seeded, untrained parameters.
# Every tensor holds whole numbers in float32, the integer codes of fixed<1,7>
# (8 bits, 7 of them fraction: value = code / 128), the convention of DOSA's
# public networks.

import argparse
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

SEED = 32606

# Name, weight shape, standard deviation of the weight and of the bias codes.
LAYERS = [("conv1", (6, 1, 5, 5), 26.0, 20.0),
          ("conv2", (16, 6, 5, 5), 14.0, 20.0),
          ("conv3", (60, 16, 5, 5), 9.0, 15.0),
          ("fc1", (84, 60), 20.0, 12.0),
          ("fc2", (10, 84), 14.0, 20.0)]


def draw():
    """Codes of every parameter; the weights of one output sum to about 0."""
    rng = np.random.RandomState(SEED)
    tensors = {}
    for name, shape, deviation, bias_deviation in LAYERS:
        weight = rng.normal(0.0, 1.0, shape)
        weight -= weight.mean(axis=tuple(range(1, len(shape))), keepdims=True)
        tensors[f"{name}.weight"] = weight * deviation
        tensors[f"{name}.bias"] = rng.normal(0.0, bias_deviation, shape[0])
    return {name: np.clip(np.round(value), -127, 127).astype(np.float32)
            for name, value in tensors.items()}


def build():
    tensors = draw()
    nodes = []
    value = "input_0"

    def node(kind, extra=(), **attributes):
        nonlocal value
        name = f"{kind}_{len(nodes)}"
        nodes.append(helper.make_node(kind, [value, *extra], [name + "_out"],
                                      name=name, **attributes))
        value = name + "_out"

    def layer(name):
        return [f"{name}.weight", f"{name}.bias"]

    def conv(name):
        node("Conv", layer(name), dilations=[1, 1], group=1,
             kernel_shape=[5, 5], pads=[0, 0, 0, 0], strides=[1, 1])
        node("Relu")

    def pool():
        node("MaxPool", kernel_shape=[2, 2], pads=[0, 0, 0, 0],
             strides=[2, 2])

    def gemm(name):
        node("Gemm", layer(name), alpha=1.0, beta=1.0, transB=1)

    conv("conv1")
    pool()
    conv("conv2")
    pool()
    conv("conv3")
    node("Flatten", axis=1)
    gemm("fc1")
    node("Relu")
    gemm("fc2")
    nodes[-1].output[0] = "output_0"

    info = helper.make_tensor_value_info
    graph = helper.make_graph(
        nodes, "lenet5_codes",
        [info("input_0", TensorProto.FLOAT, [1, 1, 32, 32])],
        [info("output_0", TensorProto.FLOAT, [1, 10])],
        [numpy_helper.from_array(t, name) for name, t in tensors.items()])
    model = helper.make_model(
        graph, producer_name="examples/lenet5/make.py",
        opset_imports=[helper.make_opsetid("", 9)], ir_version=4)
    model = onnx.shape_inference.infer_shapes(model)
    onnx.checker.check_model(model, full_check=True)
    assert sum(t.size for t in tensors.values()) == 32606
    return model


def main():
    parser = argparse.ArgumentParser(description="Write lenet5_codes.onnx.")
    parser.add_argument("output", type=Path, nargs="?",
                        default=Path(__file__).resolve().parent
                        / "lenet5_codes.onnx")
    onnx.save(build(), parser.parse_args().output)


if __name__ == "__main__":
    main()
