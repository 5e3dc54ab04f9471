#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Trains a jet tagger, 16-64-32-32-5, on the jets of generate.py: first in
# float32, then with weights and activations of 6 bits. All scales are powers of
# two, so that fixed point has them exactly. Writes both networks, and jets for
# testing. All seeds are fixed.

import argparse
import os
from pathlib import Path

os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ.setdefault("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false")

import jax
import jax.numpy as jnp
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

HERE = Path(__file__).resolve().parent
SEED = 20240229
SIZES = (16, 64, 32, 32, 5)
LAYERS = len(SIZES) - 1
BITS = 6
INPUT_BITS, INPUT_SCALE = 8, 2.0 ** -5     # of observables, standardized
BIAS_BITS, BIAS_SCALE = 10, 2.0 ** -6
TEST_JETS = 2000
BATCH = 128


def load(path):
    data = np.load(path)
    x, y = data["x"].astype(np.float64), data["y"]
    order = np.random.RandomState(SEED).permutation(len(x))
    test, train = order[:TEST_JETS], order[TEST_JETS:]
    mean, deviation = x[train].mean(0), x[train].std(0)
    # As electronics would deliver them: 16 bits, 10 of them fraction.
    codes = np.clip(np.round((x - mean) / deviation * 1024), -2**15, 2**15 - 1)
    x = (codes / 1024).astype(np.float32)
    return x[train], y[train], x[test], y[test]


def quantized(x, scale, low, high):
    """Half to even, with a straight-through gradient."""
    code = jnp.clip(x / scale, low, high)
    code = code + jax.lax.stop_gradient(jnp.round(code) - code)
    return code * scale


def power_of_two(peak, codes):
    return 2.0 ** np.ceil(np.log2(max(float(peak), 1e-6) / codes))


def forward(params, x, scales):
    if scales:
        high = 2 ** (INPUT_BITS - 1)
        x = quantized(x, INPUT_SCALE, -high, high - 1)
    seen = []
    for i, (w, b) in enumerate(params):
        if scales:
            high = 2 ** (BITS - 1) - 1
            w = quantized(w, scales["w"][i], -high, high)
            high = 2 ** (BIAS_BITS - 1)
            b = quantized(b, BIAS_SCALE, -high, high - 1)
        x = x @ w + b
        if i < LAYERS - 1:
            x = jax.nn.relu(x)
            seen.append(x)
            if scales:
                x = quantized(x, scales["a"][i], 0, 2 ** BITS - 1)
    return x, seen


def train(params, x, y, scales, epochs, rate, seed):
    """Adam with a cosine rate."""
    steps = epochs * (len(x) // BATCH)
    zeros = jax.tree.map(jnp.zeros_like, params)

    def loss(params, x, y):
        logits = forward(params, x, scales)[0]
        return -jnp.take_along_axis(jax.nn.log_softmax(logits), y[:, None],
                                    axis=1).mean()

    @jax.jit
    def step(i, params, m, v, x, y):
        grads = jax.grad(loss)(params, x, y)
        lr = rate * 0.5 * (1 + jnp.cos(jnp.pi * i / steps))
        m = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, m, grads)
        v = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g * g, v, grads)
        params = jax.tree.map(
            lambda p, m, v: p - lr * (m / (1 - 0.9 ** (i + 1))) / (
                jnp.sqrt(v / (1 - 0.999 ** (i + 1))) + 1e-8), params, m, v)
        return params, m, v

    m, v, rng = zeros, zeros, np.random.RandomState(seed)
    for i in range(steps):
        if i % (steps // epochs) == 0:
            order = rng.permutation(len(x))
        at = i % (steps // epochs) * BATCH
        batch = order[at:at + BATCH]
        params, m, v = step(i, params, m, v, x[batch], y[batch])
    return params


class Graph:
    """An ONNX graph, node by node."""

    def __init__(self):
        self.nodes, self.constants = [], []

    def constant(self, name, value):
        self.constants.append(numpy_helper.from_array(np.float32(value), name))
        return name

    def node(self, op, name, inputs, **attributes):
        self.nodes.append(helper.make_node(op, inputs, [name], name=name,
                                           **attributes))
        return name

    def quant(self, name, x, scale, bits, signed, narrow):
        return self.node("Quant", name, [
            x, self.constant(name + "_scale", scale),
            self.constant(name + "_zero", 0),
            self.constant(name + "_bits", bits)], domain="qonnx.custom_op.general",
            signed=signed, narrow=narrow, rounding_mode="ROUND")

    def save(self, path, output):
        def tensor(name, size):
            return helper.make_tensor_value_info(name, TensorProto.FLOAT,
                                                 [1, size])
        graph = helper.make_graph(self.nodes, "jets",
                                  [tensor("jet", SIZES[0])],
                                  [tensor(output, SIZES[-1])], self.constants)
        model = helper.make_model(graph, ir_version=8, opset_imports=[
            helper.make_opsetid("", 13),
            helper.make_opsetid("qonnx.custom_op.general", 1)])
        onnx.save(model, path)


def save(path, params, scales):
    graph = Graph()
    x = "jet"
    if scales:
        x = graph.quant("jet_quant", x, INPUT_SCALE, INPUT_BITS, 1, 0)
    for i, (w, b) in enumerate(params):
        weights = graph.constant(f"fc{i + 1}_weights", w)
        bias = graph.constant(f"fc{i + 1}_bias", b)
        if scales:
            weights = graph.quant(f"fc{i + 1}_weights_quant", weights,
                                  scales["w"][i], BITS, 1, 1)
            bias = graph.quant(f"fc{i + 1}_bias_quant", bias, BIAS_SCALE,
                               BIAS_BITS, 1, 0)
        x = graph.node("MatMul", f"fc{i + 1}", [x, weights])
        last = i == LAYERS - 1
        x = graph.node("Add", "logits" if last else f"fc{i + 1}_add",
                       [x, bias])
        if not last:
            x = graph.node("Relu", f"relu{i + 1}", [x])
            if scales:
                x = graph.quant(f"relu{i + 1}_quant", x, scales["a"][i], BITS,
                                0, 0)
    graph.save(path, x)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jets", type=Path, default=Path("jets.npz"))
    parser.add_argument("--output", type=Path, default=HERE)
    args = parser.parse_args()
    x, y, test_x, test_y = load(args.jets)
    rng = np.random.RandomState(SEED + 1)
    params = [(jnp.float32(rng.normal(0, (2 / n) ** 0.5, (n, m))),
               jnp.zeros(m, jnp.float32)) for n, m in zip(SIZES, SIZES[1:])]

    def accuracy(params, scales):
        right = forward(params, test_x, scales)[0].argmax(1) == test_y
        return f"{100 * float(right.mean()):.2f} %"

    params = train(params, x, y, None, 40, 2e-3, SEED + 2)
    print("float32:", accuracy(params, None))
    save(args.output / "jets_float.onnx", params, None)
    seen = forward(params, x, None)[1]
    scales = {"w": [power_of_two(np.abs(w).max(), 2 ** (BITS - 1) - 1)
                    for w, _ in params],
              "a": [power_of_two(np.quantile(a, 0.999), 2 ** BITS - 1)
                    for a in seen]}
    params = train(params, x, y, scales, 30, 1e-3, SEED + 3)
    print(f"{BITS} bits:", accuracy(params, scales))
    save(args.output / "jets_qonnx_w6a6.onnx", params, scales)
    np.save(args.output / "test_jets.npy", test_x[:1000])
    np.save(args.output / "test_labels.npy", test_y[:1000].astype(np.uint8))


if __name__ == "__main__":
    main()
