#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Trains a small residual CNN on scikit-learn's 8x8 handwritten digits, with
# fixed seeds, and fine-tunes it twice under quantization: to 8 bits, written
# as a static QDQ graph, and to 4 bits, written as a QONNX graph whose batch
# normalizations are left unfolded. Writes the models and the test set.

import argparse
import os
from pathlib import Path

# One thread for each operation, so that sums are always in the same order.
os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ.setdefault("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false")

import jax
import jax.numpy as jnp
import numpy as np
import onnx
from jax import lax
from onnx import TensorProto, helper, numpy_helper
from sklearn.datasets import load_digits

SEED = 20240229
TRAIN_IMAGES = 1347
BN_EPSILON = 1e-5
BATCH = 64
INPUT_SCALE = 1.0 / 255  # of the 8-bit model, after the division by 16

# Name, input channels, output channels, stride. All are 3x3 with padding 1.
CONVS = [("conv1", 1, 16, 1), ("conv2", 16, 16, 1), ("conv3", 16, 16, 1),
         ("conv4", 16, 32, 2)]
FEATURES = 32 * 2 * 2
CLASSES = 10


# ---- Data ------------------------------------------------------------------


def load_data():
    digits = load_digits()
    images = digits.images.astype(np.float32).reshape(-1, 1, 8, 8)
    labels = digits.target.astype(np.int64)
    order = np.random.RandomState(SEED).permutation(len(images))
    train, test = order[:TRAIN_IMAGES], order[TRAIN_IMAGES:]
    return images[train], labels[train], images[test], labels[test]


def augment(images, rng):
    """Shift about half of the images by up to one pixel each way."""
    padded = np.pad(images, [(0, 0), (0, 0), (1, 1), (1, 1)])
    shifts = rng.randint(0, 3, size=(len(images), 2))
    shifts[rng.random_sample(len(images)) < 0.5] = 1
    rows = shifts[:, 0, None] + np.arange(8)
    columns = shifts[:, 1, None] + np.arange(8)
    index = np.arange(len(images))[:, None, None]
    return padded[index, 0, rows[:, :, None], columns[:, None, :]][:, None]


# ---- Network ---------------------------------------------------------------


def convolve(x, w, stride=1):
    return lax.conv_general_dilated(
        x, w, (stride, stride), [(1, 1), (1, 1)],
        dimension_numbers=("NCHW", "OIHW", "NCHW"))


def max_pool(x):
    n, c, h, w = x.shape
    return x.reshape(n, c, h // 2, 2, w // 2, 2).max(axis=(3, 5))


def fake_quant(x, scale, zero_point, low, high):
    """Quantize with a straight-through gradient (also into the scale)."""
    code = jnp.clip(x / scale + zero_point, low, high)
    code = code + lax.stop_gradient(jnp.round(code) - code)
    return (code - zero_point) * scale


def weight_scale(w, high):
    """One scale per output channel, symmetric, narrow range."""
    peak = jnp.max(jnp.abs(w), axis=tuple(range(1, w.ndim)), keepdims=True)
    return lax.stop_gradient(jnp.maximum(peak, 1e-6) / high)


def quant_weight(w, high):
    return fake_quant(w, weight_scale(w, high), 0.0, -high, high)


def initialize():
    rng = np.random.RandomState(SEED + 1)
    params, state = {}, {}
    for name, fan_in, fan_out, _ in CONVS:
        deviation = np.sqrt(2.0 / (9 * fan_in))
        params[name] = {
            "w": rng.normal(0, deviation, (fan_out, fan_in, 3, 3)),
            "gamma": np.ones(fan_out), "beta": np.zeros(fan_out)}
        state[name] = {"mean": np.zeros(fan_out), "var": np.ones(fan_out)}
    params["dense"] = {
        "w": rng.normal(0, np.sqrt(1.0 / FEATURES), (CLASSES, FEATURES)),
        "b": np.zeros(CLASSES)}
    single = lambda tree: jax.tree.map(
        lambda a: jnp.asarray(a, jnp.float32), tree)
    return single(params), single(state)


def forward(params, state, x, train, four_bit):
    """The network with batch normalization; new state, logits, activations.

    x holds raw pixels, 0 to 16. With four_bit, weights are quantized to 4
    bits, signed, and activations to 4 bits by the learned params["scale"].
    """
    updated, seen = {}, {}

    def conv_bn(name, x, stride=1):
        p, s = params[name], state[name]
        w = quant_weight(p["w"], 7.0) if four_bit else p["w"]
        y = convolve(x, w, stride)
        if train:
            mean, var = y.mean(axis=(0, 2, 3)), y.var(axis=(0, 2, 3))
            updated[name] = {"mean": 0.95 * s["mean"] + 0.05 * mean,
                             "var": 0.95 * s["var"] + 0.05 * var}
        else:
            mean, var = s["mean"], s["var"]
            updated[name] = s
        factor = p["gamma"] / jnp.sqrt(var + BN_EPSILON)
        shape = (1, -1, 1, 1)
        return ((y - mean.reshape(shape)) * factor.reshape(shape)
                + p["beta"].reshape(shape))

    def act(name, x, scale, low=0.0, high=15.0):
        seen[name] = x
        if not four_bit:
            return x
        return fake_quant(x, jnp.exp(params["scale"][scale]), 0.0, low, high)

    a1 = act("a1", jax.nn.relu(conv_bn("conv1", x)), "residual")
    a2 = act("a2", jax.nn.relu(conv_bn("conv2", a1)), "a2")
    a3 = act("a3", conv_bn("conv3", a2), "residual", -8.0, 7.0)
    a4 = act("a4", jax.nn.relu(a1 + a3), "a4")
    a5 = act("a5", jax.nn.relu(conv_bn("conv4", max_pool(a4), 2)), "a5")
    w = params["dense"]["w"]
    w = quant_weight(w, 7.0) if four_bit else w
    logits = a5.reshape(len(x), -1) @ w.T + params["dense"]["b"]
    seen["a6"] = logits
    return updated, logits, seen


def forward_int8(params, ranges, x):
    """The folded network in 8 bits; ranges holds (scale, zero point)s."""
    def act(name, x):
        scale, zero_point = ranges[name]
        return fake_quant(x, scale, zero_point, 0.0, 255.0)

    def conv(name, x, stride=1):
        p = params[name]
        return (convolve(x, quant_weight(p["w"], 127.0), stride)
                + p["b"].reshape(1, -1, 1, 1))

    a0 = act("a0", x / 16.0)
    a1 = act("a1", jax.nn.relu(conv("conv1", a0)))
    a2 = act("a2", jax.nn.relu(conv("conv2", a1)))
    a3 = act("a3", conv("conv3", a2))
    a4 = act("a4", jax.nn.relu(a1 + a3))
    a5 = act("a5", jax.nn.relu(conv("conv4", max_pool(a4), 2)))
    p = params["dense"]
    return act("a6", a5.reshape(len(x), -1)
               @ quant_weight(p["w"], 127.0).T + p["b"])


def fold(params, state):
    """Batch normalizations into weights for pixels of 0 to 1, and biases."""
    folded = {"dense": params["dense"]}
    for name, *_ in CONVS:
        p, s = params[name], state[name]
        factor = p["gamma"] / jnp.sqrt(s["var"] + BN_EPSILON)
        pixel = 16.0 if name == "conv1" else 1.0
        folded[name] = {"w": p["w"] * factor.reshape(-1, 1, 1, 1) * pixel,
                        "b": p["beta"] - s["mean"] * factor}
    return folded


# ---- Training --------------------------------------------------------------


def cross_entropy(logits, labels):
    return -jnp.take_along_axis(jax.nn.log_softmax(logits), labels[:, None],
                                axis=1).mean()


def optimize(loss, params, state, images, labels, epochs, rate, seed):
    """Adam with a cosine rate; loss(params, state, x, y) -> loss, state."""
    zeros = jax.tree.map(jnp.zeros_like, params)
    moments = (zeros, zeros)
    steps = epochs * (len(images) // BATCH)

    @jax.jit
    def step(i, params, state, moments, x, y):
        (value, state), grads = jax.value_and_grad(loss, has_aux=True)(
            params, state, x, y)
        lr = rate * 0.5 * (1 + jnp.cos(jnp.pi * i / steps))
        m = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, moments[0], grads)
        v = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g * g, moments[1],
                         grads)
        c1, c2 = 1 - 0.9 ** (i + 1), 1 - 0.999 ** (i + 1)
        params = jax.tree.map(
            lambda p, m, v: p - lr * (m / c1) / (jnp.sqrt(v / c2) + 1e-8),
            params, m, v)
        return params, state, (m, v), value

    rng = np.random.RandomState(seed)
    i, value = 0, 0.0
    for _ in range(epochs):
        order = rng.permutation(len(images))
        shifted = augment(images, rng)
        for at in range(0, len(order) - BATCH + 1, BATCH):
            pick = order[at:at + BATCH]
            params, state, moments, value = step(
                float(i), params, state, moments, shifted[pick], labels[pick])
            i += 1
    return params, state, float(value)


def accuracy(function, images, labels):
    return float((np.asarray(jax.jit(function)(images)).argmax(axis=1)
                  == labels).mean())


# ---- ONNX ------------------------------------------------------------------


class Graph:
    """Nodes, constants and static shapes on their way to a ModelProto."""

    def __init__(self):
        self.nodes, self.constants, self.shapes = [], {}, {}

    def constant(self, name, value, dtype=np.float32):
        self.constants[name] = np.asarray(value, dtype)
        return name

    def node(self, kind, name, inputs, shape=None, domain="",
             dtype=TensorProto.FLOAT, **attributes):
        output = name + "_out"
        self.nodes.append(helper.make_node(
            kind, inputs, [output], name=name, domain=domain, **attributes))
        if shape is not None:
            self.shapes[output] = (dtype, shape)
        return output

    def save(self, path, name, output, domains, producer="digits"):
        """Write the model, its last value renamed to `logits`."""
        for node in self.nodes:
            for names in (node.input, node.output):
                for i, value in enumerate(names):
                    if value == output:
                        names[i] = "logits"
        self.shapes.pop(output, None)
        info = helper.make_tensor_value_info
        graph = helper.make_graph(
            self.nodes, name,
            [info("image", TensorProto.FLOAT, [1, 1, 8, 8])],
            [info("logits", TensorProto.FLOAT, [1, CLASSES])],
            [numpy_helper.from_array(value, key)
             for key, value in self.constants.items()],
            value_info=[info(key, dtype, shape)
                        for key, (dtype, shape) in self.shapes.items()])
        model = helper.make_model(
            graph, producer_name=f"examples/{producer}/train.py",
            opset_imports=[helper.make_opsetid(d, v) for d, v in domains],
            ir_version=8)
        onnx.checker.check_model(model)
        onnx.save(model, path)


def save_qdq(path, params, ranges):
    g = Graph()
    scales = {}  # of each dequantized value

    def quantize(name, value, key, shape):
        scale = g.constant(f"{name}_scale", ranges[key][0])
        zero = g.constant(f"{name}_zero_point", ranges[key][1], np.uint8)
        q = g.node("QuantizeLinear", f"{name}_quantize", [value, scale, zero],
                   shape, dtype=TensorProto.UINT8)
        out = g.node("DequantizeLinear", f"{name}_dequantize",
                     [q, scale, zero], shape)
        scales[out] = g.constants[scale]
        return out

    def weights(name, x):
        """Per-channel int8 weights and int32 biases at scale s_x * s_w."""
        w = np.asarray(params[name]["w"], np.float32)
        s_w = np.asarray(weight_scale(w, 127.0), np.float32).reshape(-1)
        wide = s_w.reshape((-1,) + (1,) * (w.ndim - 1))
        codes = np.clip(np.round(w / wide), -127, 127)
        s_b = (scales[x] * s_w).astype(np.float32)
        bias = np.round(np.asarray(params[name]["b"], np.float64) / s_b)
        result = []
        for part, value, scale, dtype in (("weight", codes, s_w, np.int8),
                                          ("bias", bias, s_b, np.int32)):
            key = f"{name}_{part}"
            result.append(g.node(
                "DequantizeLinear", f"{key}_dequantize",
                [g.constant(key, value, dtype),
                 g.constant(f"{key}_scale", scale),
                 g.constant(f"{key}_zero_point", np.zeros(len(w)), dtype)],
                value.shape, axis=0))
        return result

    def conv(name, x, shape, stride=1):
        return g.node("Conv", name, [x] + weights(name, x), shape,
                      kernel_shape=[3, 3], pads=[1, 1, 1, 1],
                      strides=[stride, stride], dilations=[1, 1], group=1)

    full, half = [1, 16, 8, 8], [1, 16, 4, 4]
    x = g.node("Div", "normalize", ["image", g.constant("pixel_max", 16.0)],
               [1, 1, 8, 8])
    x = quantize("image", x, "a0", [1, 1, 8, 8])
    x = g.node("Relu", "relu1", [conv("conv1", x, full)], full)
    a1 = quantize("act1", x, "a1", full)
    x = g.node("Relu", "relu2", [conv("conv2", a1, full)], full)
    a2 = quantize("act2", x, "a2", full)
    a3 = quantize("act3", conv("conv3", a2, full), "a3", full)
    x = g.node("Add", "add1", [a1, a3], full)
    x = g.node("Relu", "relu3", [x], full)
    a4 = quantize("act4", x, "a4", full)
    x = g.node("MaxPool", "pool1", [a4], half, kernel_shape=[2, 2],
               strides=[2, 2], pads=[0, 0, 0, 0])
    x = quantize("pool1", x, "a4", half)
    x = g.node("Relu", "relu4", [conv("conv4", x, [1, 32, 2, 2], 2)],
               [1, 32, 2, 2])
    a5 = quantize("act5", x, "a5", [1, 32, 2, 2])
    x = g.node("Flatten", "flatten1", [a5], [1, FEATURES], axis=1)
    x = quantize("flatten1", x, "a5", [1, FEATURES])
    x = g.node("Gemm", "dense1", [x] + weights("dense", x),
               [1, CLASSES], alpha=1.0, beta=1.0, transB=1)
    x = quantize("dense1", x, "a6", [1, CLASSES])
    g.save(path, "digits_qdq_int8", x, [("", 13)])


def save_qonnx(path, params, state):
    g = Graph()
    domain = "qonnx.custom_op.general"
    g.constant("zero", 0.0)
    learned = {name: np.exp(np.asarray(value, np.float32))
               for name, value in params["scale"].items()}
    for name, value in learned.items():
        g.constant(f"{name}_scale", value)

    def quant(name, value, scale, bits, signed, narrow, shape):
        return g.node("Quant", name,
                      [value, scale, "zero", g.constant(f"bits{bits}", bits)],
                      shape, domain=domain, signed=signed, narrow=narrow,
                      rounding_mode="ROUND")

    def weights(name):
        """4-bit weights, stored as the values the Quant returns."""
        w = np.asarray(params[name]["w"], np.float32)
        scale = np.asarray(weight_scale(w, 7.0), np.float32)
        codes = np.clip(np.round(w / scale), -7, 7)
        return quant(f"{name}_weight_quant",
                     g.constant(f"{name}_weight", codes * scale),
                     g.constant(f"{name}_weight_scale", scale), 4, 1, 1,
                     w.shape), scale

    def conv_bn(index, x, shape, stride=1):
        name = f"conv{index}"
        x = g.node("Conv", name, [x, weights(name)[0]], shape,
                   kernel_shape=[3, 3], pads=[1, 1, 1, 1],
                   strides=[stride, stride], dilations=[1, 1], group=1)
        p, s = params[name], state[name]
        values = [("gamma", p["gamma"]), ("beta", p["beta"]),
                  ("mean", s["mean"]), ("var", s["var"])]
        return g.node("BatchNormalization", f"bn{index}",
                      [x] + [g.constant(f"bn{index}_{key}", value)
                             for key, value in values],
                      shape, epsilon=BN_EPSILON)

    full, half, deep = [1, 16, 8, 8], [1, 16, 4, 4], [1, 32, 2, 2]
    # The pixels are whole numbers from 0 to 16: five bits at scale one.
    x = quant("image_quant", "image", g.constant("image_scale", 1.0), 5, 0, 0,
              [1, 1, 8, 8])
    x = g.node("Relu", "relu1", [conv_bn(1, x, full)], full)
    a1 = quant("act1_quant", x, "residual_scale", 4, 0, 0, full)
    x = g.node("Relu", "relu2", [conv_bn(2, a1, full)], full)
    a2 = quant("act2_quant", x, "a2_scale", 4, 0, 0, full)
    a3 = quant("act3_quant", conv_bn(3, a2, full), "residual_scale", 4, 1, 0,
               full)
    x = g.node("Add", "add1", [a1, a3], full)
    x = g.node("Relu", "relu3", [x], full)
    a4 = quant("act4_quant", x, "a4_scale", 4, 0, 0, full)
    x = g.node("MaxPool", "pool1", [a4], half, kernel_shape=[2, 2],
               strides=[2, 2], pads=[0, 0, 0, 0])
    x = g.node("Relu", "relu4", [conv_bn(4, x, deep, 2)], deep)
    a5 = quant("act5_quant", x, "a5_scale", 4, 0, 0, deep)
    x = g.node("Flatten", "flatten1", [a5], [1, FEATURES], axis=1)
    w, s_w = weights("dense")
    s_b = (learned["a5"] * s_w).astype(np.float32).reshape(-1)
    bias = np.asarray(params["dense"]["b"], np.float64)
    b = quant("dense_bias_quant",
              g.constant("dense_bias", np.round(bias / s_b) * s_b),
              g.constant("dense_bias_scale", s_b), 16, 1, 0, [CLASSES])
    x = g.node("Gemm", "dense1", [x, w, b], [1, CLASSES], alpha=1.0, beta=1.0,
               transB=1)
    g.save(path, "digits_qonnx_w4a4", x, [("", 13), (domain, 1)])


# ---- Main ------------------------------------------------------------------


def main():
    parser = argparse.ArgumentParser(
        description="Train the digits examples and write their files.")
    parser.add_argument("--output", type=Path,
                        default=Path(__file__).resolve().parent)
    args = parser.parse_args()
    args.output.mkdir(parents=True, exist_ok=True)
    x, y, test_x, test_y = load_data()

    def trainer(four_bit):
        def loss(params, state, images, labels):
            state, logits, _ = forward(params, state, images, True, four_bit)
            return cross_entropy(logits, labels), state
        return loss

    params, state = initialize()
    params, state, value = optimize(trainer(False), params, state, x, y,
                                    epochs=40, rate=4e-3, seed=SEED + 2)
    print(f"float: loss {value:.4f}, test accuracy", accuracy(
        lambda x: forward(params, state, x, False, False)[1], test_x, test_y))
    seen = jax.jit(lambda x: forward(params, state, x, False, False)[2])(x)
    seen = {name: np.asarray(a) for name, a in seen.items()}

    # 8 bits: ranges from the training set, then a short fine-tuning.
    ranges = {"a0": (np.float32(INPUT_SCALE), 0)}
    for name, a in seen.items():
        low, high = min(float(a.min()), 0.0), float(a.max())
        scale = np.float32((high - low) / 255)
        ranges[name] = (scale, int(np.round(-low / scale)))

    def loss_int8(params, state, images, labels):
        logits = forward_int8(params, ranges, images)
        return cross_entropy(logits, labels), state

    int8, _, value = optimize(loss_int8, fold(params, state), {}, x, y,
                              epochs=6, rate=1e-4, seed=SEED + 3)
    print(f"8 bits: loss {value:.4f}, test accuracy", accuracy(
        lambda x: forward_int8(int8, ranges, x), test_x, test_y))

    # 4 bits: learned activation scales; the two sides of Add share theirs.
    def start(name, level, codes):
        return jnp.log(jnp.float32(
            np.quantile(np.abs(seen[name]), level) / codes))

    scale = {"residual": jnp.maximum(start("a1", 0.995, 15),
                                     start("a3", 0.99, 8))}
    scale.update({name: start(name, 0.995, 15) for name in ("a2", "a4", "a5")})
    four, four_state, value = optimize(
        trainer(True), {**params, "scale": scale}, state, x, y,
        epochs=40, rate=2e-3, seed=SEED + 4)
    print(f"4 bits: loss {value:.4f}, test accuracy", accuracy(
        lambda x: forward(four, four_state, x, False, True)[1],
        test_x, test_y))

    save_qdq(args.output / "digits_qdq_int8.onnx", int8, ranges)
    save_qonnx(args.output / "digits_qonnx_w4a4.onnx", four, four_state)
    np.save(args.output / "test_images.npy", test_x)
    np.save(args.output / "test_labels.npy", test_y)


if __name__ == "__main__":
    main()
