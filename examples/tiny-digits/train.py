#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Trains a CNN of 6,032 weights on scikit-learn's 8x8 handwritten digits and
# fine-tunes it to 8 bits with scales that are powers of two, so that its
# requantizers are shifts: a network for FPGAs of a few thousand logic cells.
# Data, optimizer and ONNX writer are those of examples/digits.

import argparse
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "digits"))

import train as digits  # examples/digits/train.py, which also sets up JAX
import jax
import jax.numpy as jnp
import numpy as np
from onnx import TensorProto

# Name, input channels, output channels. Both are 3x3 with stride 2, padding 1
# and a Relu.
CONVS = [("conv1", 1, 16), ("conv2", 16, 32)]
FEATURES = 32 * 2 * 2
TEST_IMAGES = 100  # of the 450 that examples/digits keeps


def initialize():
    rng = np.random.RandomState(digits.SEED + 7)
    params = {name: {"w": rng.normal(0, np.sqrt(2 / (9 * fan_in)),
                                     (fan_out, fan_in, 3, 3)),
                     "b": np.zeros(fan_out)}
              for name, fan_in, fan_out in CONVS}
    params["conv1"]["w"] = params["conv1"]["w"] / 16  # pixels are 0 to 16
    params["dense"] = {"w": rng.normal(0, np.sqrt(1 / FEATURES),
                                       (digits.CLASSES, FEATURES)),
                       "b": np.zeros(digits.CLASSES)}
    return jax.tree.map(lambda a: jnp.asarray(a, jnp.float32), params)


def power_of_two(peak, codes):
    """The smallest power of two that brings peak into so many codes."""
    return 2.0 ** jnp.ceil(jnp.log2(jnp.maximum(peak, 1e-6) / codes))


def quantize_weight(w):
    scale = jax.lax.stop_gradient(power_of_two(jnp.abs(w).max(), 127.0))
    return digits.fake_quant(w, scale, 0.0, -127.0, 127.0)


def forward(params, x, scales=None):
    """Logits and the activations before their quantizers; x: raw pixels."""
    seen = {}

    def act(name, x, low=0.0, high=255.0):
        seen[name] = x
        return x if scales is None else digits.fake_quant(
            x, scales[name], 0.0, low, high)

    def weight(name):
        w = params[name]["w"]
        return w if scales is None else quantize_weight(w)

    for i, (name, *_) in enumerate(CONVS):
        x = digits.convolve(x, weight(name), 2)
        x = jax.nn.relu(x + params[name]["b"].reshape(1, -1, 1, 1))
        x = act(f"a{i + 1}", x)
    x = x.reshape(len(x), -1) @ weight("dense").T + params["dense"]["b"]
    return act("logits", x, -128.0, 127.0), seen


def save(path, params, scales):
    g = digits.Graph()
    known = {}  # scales of dequantized values

    def quantize(name, value, scale, shape, dtype=np.uint8,
                 kind=TensorProto.UINT8):
        s = g.constant(f"{name}_scale", scale)
        zero = g.constant(f"{name}_zero_point", 0, dtype)
        q = g.node("QuantizeLinear", f"{name}_quantize", [value, s, zero],
                   shape, dtype=kind)
        out = g.node("DequantizeLinear", f"{name}_dequantize", [q, s, zero],
                     shape)
        known[out] = float(scale)
        return out

    def weights(name, x):
        """int8 weights of one scale, int32 biases at scale s_x * s_w."""
        w = np.asarray(params[name]["w"], np.float64)
        s_w = float(power_of_two(np.abs(w).max(), 127.0))
        s_b = known[x] * s_w
        result = []
        for part, value, scale, dtype in (
                ("weight", np.clip(np.round(w / s_w), -127, 127), s_w,
                 np.int8),
                ("bias", np.round(np.asarray(params[name]["b"]) / s_b), s_b,
                 np.int32)):
            key = f"{name}_{part}"
            result.append(g.node(
                "DequantizeLinear", f"{key}_dequantize",
                [g.constant(key, value, dtype),
                 g.constant(f"{key}_scale", scale),
                 g.constant(f"{key}_zero_point", 0, dtype)], value.shape))
        return result

    size = 8
    x = quantize("image", "image", 1.0, [1, 1, size, size])
    for i, (name, _, channels) in enumerate(CONVS):
        size //= 2
        shape = [1, channels, size, size]
        x = g.node("Conv", name, [x] + weights(name, x), shape,
                   kernel_shape=[3, 3], pads=[1, 1, 1, 1], strides=[2, 2],
                   dilations=[1, 1], group=1)
        x = g.node("Relu", f"relu{i + 1}", [x], shape)
        x = quantize(f"act{i + 1}", x, scales[f"a{i + 1}"], shape)
    scale = known[x]
    x = g.node("Flatten", "flatten1", [x], [1, FEATURES], axis=1)
    known[x] = scale
    x = g.node("Gemm", "dense1", [x] + weights("dense", x),
               [1, digits.CLASSES], alpha=1.0, beta=1.0, transB=1)
    x = quantize("dense1", x, scales["logits"], [1, digits.CLASSES], np.int8,
                 TensorProto.INT8)
    g.save(path, "tiny_digits_qdq_int8", x, [("", 13)],
           producer="tiny-digits")


def main():
    parser = argparse.ArgumentParser(
        description="Train the tiny-digits example and write its files.")
    parser.add_argument("--output", type=Path, default=HERE)
    args = parser.parse_args()
    args.output.mkdir(parents=True, exist_ok=True)
    x, y, test_x, test_y = digits.load_data()

    def trainer(scales):
        def loss(params, state, images, labels):
            logits, _ = forward(params, images, scales)
            return digits.cross_entropy(logits, labels), state
        return loss

    params, _, value = digits.optimize(trainer(None), initialize(), {}, x, y,
                                       epochs=60, rate=4e-3,
                                       seed=digits.SEED + 8)
    print(f"float: loss {value:.4f}, test accuracy", digits.accuracy(
        lambda x: forward(params, x)[0], test_x, test_y))
    seen = jax.jit(lambda x: forward(params, x)[1])(x)
    scales = {name: np.float32(power_of_two(jnp.abs(a).max(),
                                            127.0 if name == "logits"
                                            else 255.0))
              for name, a in seen.items()}
    tuned, _, value = digits.optimize(trainer(scales), params, {}, x, y,
                                      epochs=10, rate=2e-4,
                                      seed=digits.SEED + 9)
    print(f"8 bits: loss {value:.4f}, test accuracy", digits.accuracy(
        lambda x: forward(tuned, x, scales)[0], test_x, test_y))
    print("scales", {k: float(v) for k, v in scales.items()})
    save(args.output / "tiny_digits_qdq_int8.onnx", tuned, scales)
    np.save(args.output / "test_images.npy", test_x[:TEST_IMAGES])
    np.save(args.output / "test_labels.npy", test_y[:TEST_IMAGES])


if __name__ == "__main__":
    main()
