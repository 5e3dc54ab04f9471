#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# qonnx_reference.py MODEL INPUT.npz OUTPUT.npz: a plain numpy evaluator, in
# float64, of QONNX graphs (Quant, BipolarQuant and the usual CNN operators).
# It shares no code with the compiler, so it can serve as its reference; the
# batch dimension may be larger than the one the model declares.

import argparse
import sys

import numpy as np
import onnx
from onnx import numpy_helper

QUANT_DOMAINS = ("onnx.brevitas", "qonnx.custom_op.general",
                 "finn.custom_op.general")

OPS = {}


class Context:
    """What an operator sees of its node: attributes and the opset."""

    def __init__(self, node, opset):
        self.node = node
        self.opset = opset
        self.attrs = {a.name: onnx.helper.get_attribute_value(a)
                      for a in node.attribute}

    def get(self, name, default=None):
        value = self.attrs.get(name, default)
        return value.decode() if isinstance(value, bytes) else value


def op(*names, domains=("", "ai.onnx")):
    def register(function):
        for name in names:
            for domain in domains:
                OPS[domain, name] = function
        return function
    return register


def present(inputs, index):
    return len(inputs) > index and inputs[index] is not None


# ---- Quantizers ------------------------------------------------------------

ROUNDING = {
    "ROUND": np.round,  # ties to even
    "HALF_EVEN": np.round,
    "CEIL": np.ceil,
    "FLOOR": np.floor,
    "UP": lambda x: np.sign(x) * np.ceil(np.abs(x)),
    "DOWN": np.trunc,
    "ROUND_TO_ZERO": np.trunc,
    "HALF_UP": lambda x: np.sign(x) * np.floor(np.abs(x) + 0.5),
    "HALF_DOWN": lambda x: np.sign(x) * np.ceil(np.abs(x) - 0.5),
}


@op("Quant", "IntQuant", domains=QUANT_DOMAINS)
def quant(c, x, scale, zero_point, bit_width):
    signed, narrow = c.get("signed", 1), c.get("narrow", 0)
    mode = c.get("rounding_mode", "ROUND").upper()
    if mode not in ROUNDING:
        raise NotImplementedError(f"rounding_mode {mode!r}")
    if signed:
        high = 2.0 ** (bit_width - 1) - 1
        low = -(2.0 ** (bit_width - 1)) + (1 if narrow else 0)
    else:
        high = 2.0 ** bit_width - (2 if narrow else 1)
        low = np.zeros_like(high)
    if signed and np.all(bit_width == 1):
        # One signed bit is read as bipolar by the operator's definition.
        codes = np.where(x / scale + zero_point >= 0, 1.0, -1.0)
    else:
        codes = ROUNDING[mode](np.clip(x / scale + zero_point, low, high))
    return (codes - zero_point) * scale


@op("BipolarQuant", domains=QUANT_DOMAINS)
def bipolar_quant(c, x, scale):
    return np.where(x >= 0, 1.0, -1.0) * scale


@op("FloatQuant", domains=QUANT_DOMAINS)
def float_quant(c, x, scale, exponent, mantissa, bias, most):
    x = x / scale
    # |x| = f · 2^e with 1/2 <= f < 1; below the normal numbers one step.
    e = np.maximum(np.frexp(x)[1] - 1, 1 - bias)
    step = 2.0 ** (e - mantissa)
    largest = (2 - 2.0 ** -mantissa) * 2.0 ** (2 ** exponent - 1 - bias)
    codes = ROUNDING[c.get("rounding_mode", "ROUND").upper()](x / step)
    return np.clip(codes * step, -np.minimum(largest, most),
                   np.minimum(largest, most)) * scale


@op("Trunc", domains=QUANT_DOMAINS)
def trunc(c, x, scale, zero_point, in_bits, *rest):
    # Version 1 ends with the output's bits, version 2 has its scale before.
    out_bits, codes = rest[-1], np.round(x / scale + zero_point)
    out_scale = rest[0] if len(rest) == 2 else scale * 2.0 ** (in_bits
                                                               - out_bits)
    codes = ROUNDING[c.get("rounding_mode", "FLOOR").upper()](
        codes / 2.0 ** np.round(np.log2(out_scale / scale)))
    if len(rest) == 2:
        signed, narrow = c.get("signed", 1), c.get("narrow", 0)
        high = 2.0 ** (out_bits - 1) - 1 if signed \
            else 2.0 ** out_bits - 1 - narrow
        low = -high - 1 + narrow if signed else 0
        return (np.clip(codes, low, high) - zero_point) * out_scale
    return (codes - zero_point) * scale


@op("MultiThreshold", domains=QUANT_DOMAINS)
def multi_threshold(c, x, thresholds):
    last = x.ndim != 4 or c.get("data_layout", "NCHW") == "NHWC"
    moved = x if last else np.moveaxis(x, 1, -1)
    counts = (moved[..., None] >= thresholds).sum(-1)
    return ((counts if last else np.moveaxis(counts, -1, 1))
            * c.get("out_scale", 1.0) + c.get("out_bias", 0.0))


# ---- Windows ---------------------------------------------------------------


def window_geometry(c, spatial, kernel):
    """Strides, dilations and (begin, end) pads of a window operator."""
    rank = len(spatial)
    strides = list(c.get("strides", [1] * rank))
    dilations = list(c.get("dilations", [1] * rank))
    auto = c.get("auto_pad", "NOTSET")
    if auto in ("SAME_UPPER", "SAME_LOWER"):
        pads = []
        for size, k, s, d in zip(spatial, kernel, strides, dilations):
            total = max((-(-size // s) - 1) * s + (k - 1) * d + 1 - size, 0)
            small, large = total // 2, total - total // 2
            pads.append((small, large) if auto == "SAME_UPPER"
                        else (large, small))
    elif auto == "VALID":
        pads = [(0, 0)] * rank
    else:
        flat = list(c.get("pads", [0] * (2 * rank)))
        pads = list(zip(flat[:rank], flat[rank:]))
    return strides, dilations, pads


def windows(x, kernel, strides, dilations, pads, value, ceil_mode=False):
    """Array [n, c, out..., kernel...] of the windows of x [n, c, spatial...].

    With ceil_mode the far edge is padded further so that the last, partial
    window exists; a window that would start in the far padding is dropped.
    """
    pads = [list(p) for p in pads]
    outs = []
    for i, (k, s, d) in enumerate(zip(kernel, strides, dilations)):
        size = x.shape[2 + i]
        span = size + sum(pads[i]) - ((k - 1) * d + 1)
        if span < 0:
            raise ValueError("window larger than its padded input")
        out = span // s + 1
        if ceil_mode:
            out = -(-span // s) + 1
            if (out - 1) * s >= size + pads[i][0]:
                out -= 1
            pads[i][1] += max((out - 1) * s - span, 0)
        outs.append(out)
    x = np.pad(x, [(0, 0), (0, 0)] + [tuple(p) for p in pads],
               constant_values=value)
    reach = tuple((k - 1) * d + 1 for k, d in zip(kernel, dilations))
    axes = tuple(range(2, x.ndim))
    view = np.lib.stride_tricks.sliding_window_view(x, reach, axis=axes)
    index = [slice(None)] * 2
    index += [slice(0, (o - 1) * s + 1, s) for o, s in zip(outs, strides)]
    index += [slice(None, None, d) for d in dilations]
    return view[tuple(index)]


@op("Conv")
def conv(c, x, w, bias=None):
    kernel = w.shape[2:]
    group = c.get("group", 1)
    strides, dilations, pads = window_geometry(c, x.shape[2:], kernel)
    view = windows(x, kernel, strides, dilations, pads, 0.0)
    rank = len(kernel)
    per_in, per_out = x.shape[1] // group, w.shape[0] // group
    if per_in != w.shape[1]:
        raise ValueError("Conv: channels do not agree with group")
    parts = []
    for g in range(group):
        part = view[:, g * per_in:(g + 1) * per_in]
        taps = w[g * per_out:(g + 1) * per_out]
        reduce_in = [1] + list(range(2 + rank, 2 + 2 * rank))
        reduce_w = list(range(1, 2 + rank))
        parts.append(np.moveaxis(
            np.tensordot(part, taps, axes=(reduce_in, reduce_w)), -1, 1))
    y = np.concatenate(parts, axis=1)
    if bias is not None:
        y = y + bias.reshape((1, -1) + (1,) * rank)
    return y


@op("MaxPool")
def max_pool(c, x):
    kernel = c.get("kernel_shape")
    strides, dilations, pads = window_geometry(c, x.shape[2:], kernel)
    view = windows(x, kernel, strides, dilations, pads, -np.inf,
                   c.get("ceil_mode", 0))
    return view.max(axis=tuple(range(-len(kernel), 0)))


@op("AveragePool")
def average_pool(c, x):
    kernel = c.get("kernel_shape")
    strides, dilations, pads = window_geometry(c, x.shape[2:], kernel)
    ceil_mode = c.get("ceil_mode", 0)
    axes = tuple(range(-len(kernel), 0))
    sums = windows(x, kernel, strides, dilations, pads, 0.0, ceil_mode
                   ).sum(axis=axes)
    ones = np.ones((1, 1) + x.shape[2:])
    if c.get("count_include_pad", 0):
        # Declared padding counts; what ceil_mode adds beyond it does not.
        ones = np.pad(ones, [(0, 0), (0, 0)] + pads, constant_values=1.0)
        pads = [(0, 0)] * len(kernel)
    count = windows(ones, kernel, strides, dilations, pads, 0.0, ceil_mode
                    ).sum(axis=axes)
    return sums / count


@op("GlobalAveragePool")
def global_average_pool(c, x):
    return x.mean(axis=tuple(range(2, x.ndim)), keepdims=True)


# ---- Products and elementwise ----------------------------------------------


@op("Gemm")
def gemm(c, a, b, addend=None):
    a = a.T if c.get("transA", 0) else a
    b = b.T if c.get("transB", 0) else b
    y = c.get("alpha", 1.0) * (a @ b)
    return y if addend is None else y + c.get("beta", 1.0) * addend


@op("MatMul")
def matmul(c, a, b):
    return a @ b


@op("BatchNormalization")
def batch_normalization(c, x, gamma, beta, mean, var):
    if c.get("training_mode", 0):
        raise NotImplementedError("BatchNormalization in training mode")
    shape = (1, -1) + (1,) * (x.ndim - 2)
    factor = gamma / np.sqrt(var + c.get("epsilon", 1e-5))
    return ((x - mean.reshape(shape)) * factor.reshape(shape)
            + beta.reshape(shape))


@op("Relu")
def relu(c, x):
    return np.maximum(x, 0)


@op("LeakyRelu")
def leaky_relu(c, x):
    return np.where(x < 0, x * c.get("alpha", 0.01), x)


@op("Clip")
def clip(c, x, low=None, high=None):
    low = c.get("min") if low is None else low
    high = c.get("max") if high is None else high
    x = x if low is None else np.maximum(x, low)
    return x if high is None else np.minimum(x, high)


@op("Add")
def add(c, a, b):
    return a + b


@op("Sub")
def sub(c, a, b):
    return a - b


@op("Mul")
def mul(c, a, b):
    return a * b


@op("Div")
def div(c, a, b):
    if np.issubdtype(np.asarray(a).dtype, np.integer):
        return (np.sign(a) * np.sign(b)) * (np.abs(a) // np.abs(b))
    return a / b


@op("Pow")
def power(c, a, b):
    return np.power(a, b)


@op("Softmax")
def softmax(c, x):
    if c.opset >= 13:
        axes = (c.get("axis", -1),)
    else:
        # Before opset 13 the input is seen as a matrix, cut at the axis.
        axis = c.get("axis", 1)
        axes = tuple(range(axis + x.ndim if axis < 0 else axis, x.ndim))
    e = np.exp(x - x.max(axis=axes, keepdims=True))
    return e / e.sum(axis=axes, keepdims=True)


# ---- Shapes ----------------------------------------------------------------


@op("Shape")
def shape(c, x):
    return np.array(x.shape[c.get("start", 0):c.get("end", x.ndim)], np.int64)


@op("Gather")
def gather(c, x, indices):
    return np.take(x, indices, axis=c.get("axis", 0))


@op("Unsqueeze")
def unsqueeze(c, x, axes=None):
    axes = c.get("axes") if axes is None else axes.tolist()
    return np.expand_dims(x, tuple(axes))


@op("Squeeze")
def squeeze(c, x, axes=None):
    axes = c.get("axes") if axes is None else axes
    return np.squeeze(x, axis=None if axes is None
                      else tuple(int(a) for a in axes))


@op("Concat")
def concat(c, *xs):
    return np.concatenate(xs, axis=c.get("axis"))


@op("Reshape")
def reshape(c, x, target):
    target = [int(t) for t in target]
    if not c.get("allowzero", 0):
        target = [x.shape[i] if t == 0 else t for i, t in enumerate(target)]
    return x.reshape(target)


@op("Flatten")
def flatten(c, x):
    axis = c.get("axis", 1)
    axis = axis + x.ndim if axis < 0 else axis
    return x.reshape(int(np.prod(x.shape[:axis])), -1)


@op("Transpose")
def transpose(c, x):
    return np.transpose(x, c.get("perm"))


@op("Pad")
def pad(c, x, pads=None, value=None, axes=None):
    pads = c.get("pads") if pads is None else pads.tolist()
    value = c.get("value", 0.0) if value is None else value
    axes = range(x.ndim) if axes is None else [int(a) for a in axes]
    widths = [(0, 0)] * x.ndim
    for i, axis in enumerate(axes):
        widths[axis] = (pads[i], pads[i + len(pads) // 2])
    mode = c.get("mode", "constant")
    if min(min(w) for w in widths) < 0:
        raise NotImplementedError("Pad with a negative amount")
    if mode == "constant":
        return np.pad(x, widths, constant_values=value)
    return np.pad(x, widths, mode={"reflect": "reflect", "edge": "edge",
                                   "wrap": "wrap"}[mode])


@op("Identity")
def identity(c, x):
    return x


@op("Constant")
def constant(c):
    for name, value in c.attrs.items():
        if name == "value":
            return as_float64(numpy_helper.to_array(value))
        if name in ("value_float", "value_floats"):
            return np.asarray(value, np.float64)
        if name in ("value_int", "value_ints"):
            return np.asarray(value, np.int64)
    raise NotImplementedError("Constant without a numeric value")


# ---- The graph -------------------------------------------------------------


def as_float64(array):
    array = np.asarray(array)
    return (array.astype(np.float64)
            if np.issubdtype(array.dtype, np.floating) else array)


def evaluate(model, inputs, intermediate=False):
    """Run the graph on a dict of named arrays; a dict of named outputs."""
    graph = model.graph
    opset = {o.domain: o.version for o in model.opset_import}
    opset = opset.get("", opset.get("ai.onnx", 1))
    values = {t.name: as_float64(numpy_helper.to_array(t))
              for t in graph.initializer}
    constants = set(values)
    for info in graph.input:
        if info.name in inputs:
            values[info.name] = as_float64(inputs[info.name])
        elif info.name not in constants:
            raise KeyError(f"no value given for input {info.name!r}")
    unknown = set(inputs) - {info.name for info in graph.input}
    if unknown:
        raise KeyError(f"not an input of the model: {sorted(unknown)}")
    produced = []
    # ONNX requires the nodes in topological order.
    for node in graph.node:
        function = OPS.get((node.domain, node.op_type))
        if function is None:
            raise NotImplementedError(
                f"operator {node.domain or 'ai.onnx'}.{node.op_type}")
        if sum(bool(name) for name in node.output) > 1:
            raise NotImplementedError(f"{node.op_type} with several outputs")
        arguments = [values[name] if name else None for name in node.input]
        values[node.output[0]] = function(Context(node, opset), *arguments)
        produced.append(node.output[0])
    names = [o.name for o in graph.output]
    if intermediate:
        names += [name for name in produced if name not in names]
    return {name: values[name] for name in names}


def main():
    parser = argparse.ArgumentParser(
        description="Evaluate a QONNX graph in numpy float64 on an .npz.")
    parser.add_argument("model")
    parser.add_argument("input", help=".npz with one array per model input")
    parser.add_argument("output", help=".npz to write")
    parser.add_argument("--intermediate", action="store_true",
                        help="also store every intermediate tensor")
    args = parser.parse_args()
    with np.load(args.input) as data:
        inputs = {name: data[name] for name in data.files}
    results = evaluate(onnx.load(args.model), inputs, args.intermediate)
    # Opened here: given a name, savez would append ".npz" to another suffix.
    with open(args.output, "wb") as stream:
        np.savez(stream, **results)
    return 0


if __name__ == "__main__":
    sys.exit(main())
