# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Ways of writing a quantized network: small models in every style and with
every variant of a layer that exporters write, each against ONNX Runtime. All
scales are powers of two, so that float32 is exact and every element must be
equal; a model says how many of its operations must be on the host."""
import pathlib
import sys

from framework import Skip, needed

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "reference"))

VARIANTS = {}


def variant(name, **more):
    """Registers a function (builder, image) that builds a model, the image
    quantized to int8 or as `image` says."""
    def register(build):
        VARIANTS[name] = (build, more)
        return build
    return register


def family(names, **more):
    """The same for each entry of a dict: its value is what the function takes
    in addition to builder and image."""
    def register(build):
        for label, value in names.items():
            def one(b, x, value=value):
                return build(b, x, value)
            VARIANTS[f"{build.__name__} {label}"] = (one, more)
        return build
    return register


# ---- QDQ: types, axes, zero points ------------------------------------------

@family({kind: kind for kind in ("int4", "uint4", "int8", "uint8", "int16",
                                 "uint16")}, opset=21)
def weights_of(b, x, kind):
    zero = {"uint4": 7, "uint8": 128, "uint16": 32768}.get(kind, 0)
    w = b.draw((3, 4, 3, 3), "int8", -7, 7) + zero
    w = b.dequantized(b.constant(w, kind), 0.25, zero, kind)
    return b.quantized(b.node("Conv", x, w), 4.0)


@family({kind: kind for kind in ("int4", "uint4", "int8", "uint8", "int16",
                                 "uint16")}, opset=21)
def activations_of(b, x, kind):
    zero = {"uint4": 7, "uint8": 120, "uint16": 30000, "int16": -90,
            "int8": 5, "int4": -1}[kind]
    x = b.quantized(x, 0.25, zero, kind)
    y = b.node("Relu", b.node("Conv", x, b.weights(3, 4, 3, 3)))
    return b.quantized(y, 0.5, zero, kind)


@family({"0": [0.25, 0.5, 0.125], "0 with zero points": [0.25, 0.5, 1.0]})
def weights_per_channel(b, x, scales):
    zero = [3, -2, 0] if scales[2] == 1 else 0
    w = b.weights(3, 4, 3, 3, scale=scales, zero=zero, axis=0)
    return b.quantized(b.node("Conv", x, w), 4.0, 3)


@family({"axis 0": (0, 1), "axis 1": (1, 0), "axis -1": (-1, 0)})
def gemm_per_channel(b, x, given):
    axis, transposed = given
    w = b.weights(*((5, 256) if transposed else (256, 5)), axis=axis,
                  scale=[0.25, 0.5, 0.125, 1.0, 0.25])
    y = b.node("Gemm", b.node("Flatten", x), w, transB=transposed)
    return b.quantized(y, 16.0)


@variant("matmul per channel")
def _(b, x):
    w = b.weights(8, 3, scale=[0.25, 0.5, 2.0], axis=1)
    return b.quantized(b.node("MatMul", x, w), 2.0)


@variant("matmul per row", host=None)
def _(b, x):
    w = b.weights(8, 3, scale=[0.25, 0.5, 2.0, 1, 1, .5, .5, 4], axis=0)
    return b.quantized(b.node("MatMul", x, w), 2.0)


@family({"int4": "int4", "uint4": "uint4", "int8": "int8"}, opset=21, ir=10)
def blocked_weights(b, x, kind):
    zero = b.draw((2, 5), kind, 0, 3)
    w = b.node("DequantizeLinear", b.constant(b.draw((8, 5), kind, 0, 7), kind),
               b.constant([[0.25, 0.5, 1, 1, 2], [0.5, 0.5, 2, 1, 0.25]]),
               b.constant(zero, kind), axis=0, block_size=4)
    return b.quantized(b.node("MatMul", x, w), 4.0)


@variant("activations per channel", host=None)
def _(b, x):
    x = b.quantized(x, [0.25, 0.5, 1.0, 0.125], [1, 2, 0, -3], axis=1)
    return b.quantized(b.node("Conv", x, b.weights(3, 4, 3, 3)), 4.0)


@variant("no zero points")
def _(b, x):
    q = b.node("QuantizeLinear", x, b.constant(0.5))
    x = b.node("DequantizeLinear", q, b.constant(0.5))
    w = b.node("DequantizeLinear", b.constant(b.draw((3, 4, 1, 1)), "int8"),
               b.constant(0.25))
    return b.quantized(b.node("Conv", x, w), 2.0)


@variant("output_dtype", opset=21, ir=10)
def _(b, x):
    q = b.node("QuantizeLinear", x, b.constant(0.5),
               output_dtype=b.kind("int16"))
    x = b.node("DequantizeLinear", q, b.constant(0.5))
    return b.quantized(b.node("Conv", x, b.weights(3, 4, 3, 3)), 2.0)


@variant("weights quantized in the graph")
def _(b, x):
    w = b.quantized(b.constant(b.rng.integers(-80, 80, (3, 4, 3, 3)) / 16),
                    0.25)
    return b.quantized(b.node("Conv", x, w), 2.0)


@family({"float": 0, "int32": 1, "int32 per channel": 2, "none": 3,
         "quantized": 4})
def bias_of(b, x, how):
    scales = [0.25, 0.5, 0.125] if how == 2 else 0.25
    w = b.weights(3, 4, 3, 3, scale=scales, **({"axis": 0} if how == 2 else {}))
    values = [100, -200, 31]
    bias = "" if how == 3 else b.constant([1.5, -3, 0.25]) if how == 0 \
        else b.quantized(b.constant([1.5, -3, 0.25]), 0.25) if how == 4 \
        else b.dequantized(b.constant(values, "int32"),
                           [0.0625, 0.125, 0.03125] if how == 2 else 0.0625, 0,
                           "int32", **({"axis": 0} if how == 2 else {}))
    return b.quantized(b.node("Conv", x, w, bias), 2.0)


@family({"Transpose": 0, "Reshape": 1, "Identity": 2, "Unsqueeze": 3,
         "Cast": 4})
def weights_through(b, x, how):
    x = b.node("Flatten", x)
    if how == 0:
        w = b.node("Transpose", b.weights(5, 256), perm=[1, 0])
    elif how == 1:
        w = b.node("Reshape", b.weights(5, 16, 16), b.ints(256, 5))
    elif how == 2:
        w = b.node("Identity", b.weights(256, 5))
    elif how == 3:
        w = b.node("Squeeze", b.node("Unsqueeze", b.weights(256, 5),
                                     b.ints(0)), b.ints(0))
    else:
        w = b.node("Cast", b.weights(256, 5), to=1)
    return b.quantized(b.node("MatMul", x, w), 16.0)


@family({"Mul": 0, "Concat": 1, "transA": 2}, host=None)
def computed_weights(b, x, how):
    """Weights that do not come from a single quantizer: on the host."""
    x = b.node("Flatten", x)
    if how == 0:
        w = b.node("Mul", b.weights(256, 5), b.constant(2.0))
    elif how == 1:
        w = b.node("Concat", b.weights(128, 5), b.weights(128, 5, scale=0.5),
                   axis=0)
    else:
        return b.quantized(b.node("Gemm", b.node(
            "Reshape", x, b.ints(256, 1)), b.weights(256, 5), transA=1), 16.0)
    return b.quantized(b.node("MatMul", x, w), 16.0)


@family({"Transpose": 0, "Reshape": 1, "Flatten": 2, "Slice": 3, "MaxPool": 4,
         "Relu": 5, "Clip": 6, "Concat": 7, "Pad": 8, "two": 9})
def codes_through(b, x, how):
    """Between QuantizeLinear and DequantizeLinear, on integers."""
    q = b.codes(x, 0.25, 3)
    if how == 0:
        q = b.node("Transpose", q, perm=[0, 1, 3, 2])
    elif how == 1:
        q = b.node("Reshape", q, b.ints(1, 4, 16, 4))
    elif how == 2:
        q = b.node("Reshape", b.node("Flatten", q), b.ints(1, 4, 8, 8))
    elif how == 3:
        q = b.node("Slice", q, b.ints(1), b.ints(7), b.ints(2))
    elif how == 4:
        q = b.node("MaxPool", q, kernel_shape=[2, 2])
    elif how == 5:
        q = b.node("Relu", q)
    elif how == 6:
        q = b.node("Clip", q, b.constant(-5, "int8"), b.constant(90, "int8"))
    elif how == 7:
        q = b.node("Concat", q, b.codes(x, 0.5, 1), axis=1)
    elif how == 8:
        q = b.node("Pad", q, b.ints(0, 0, 1, 1, 0, 0, 1, 1),
                   b.constant(3, "int8"))
    x = b.dequantized(q, 0.25, 3)
    if how == 9:
        return b.quantized(b.node("Add", x, b.dequantized(q, 0.25, 3)), 0.5)
    channels = 8 if how == 7 else 4
    return b.quantized(b.node("Conv", x, b.weights(3, channels, 3, 3)), 2.0)


# ---- Layers ------------------------------------------------------------------

@family({"pads": {"pads": [1, 0, 2, 1]}, "same upper": {"auto_pad":
         "SAME_UPPER", "strides": [2, 2]}, "same lower": {"auto_pad":
         "SAME_LOWER", "strides": [2, 3]}, "valid": {"auto_pad": "VALID"},
         "strides": {"strides": [2, 1]}, "dilations": {"dilations": [2, 1]},
         "kernel_shape": {"kernel_shape": [3, 3]}, "groups": {"group": 2},
         "notset": {"auto_pad": "NOTSET", "pads": [0, 1, 0, 1]}})
def conv_with(b, x, attributes):
    w = b.weights(6, 4 // attributes.get("group", 1), 3, 3)
    return b.quantized(b.node("Conv", x, w, **attributes), 2.0, 9)


@family({"once": 4, "twice": 8})
def depthwise(b, x, outputs):
    w = b.weights(outputs, 1, 3, 3, scale=[0.25] * outputs, axis=0)
    return b.quantized(b.node("Conv", x, w, group=4, pads=[1] * 4), 1.0)


@variant("conv of one axis", shape=(1, 4, 16))
def _(b, x):
    y = b.node("Conv", x, b.weights(6, 2, 3), group=2, dilations=[2],
               pads=[2, 1])
    y = b.node("MaxPool", b.quantized(b.node("Relu", y), 1.0),
               kernel_shape=[3], strides=[2], pads=[1, 0])
    return b.quantized(b.node("ConvTranspose", b.quantized(y, 1.0),
                              b.weights(6, 3, 3), strides=[2]), 4.0)


@variant("conv of three axes", shape=(1, 2, 4, 5, 6), host=None)
def _(b, x):
    y = b.node("Conv", x, b.weights(3, 2, 2, 3, 3), b.floats(1, 2, 3),
               pads=[0, 1, 1, 1, 1, 0])
    return b.quantized(b.node("Relu", y), 2.0)


@family({"plain": {}, "alpha": {"alpha": 0.5}, "beta": {"beta": 2.0},
         "both": {"alpha": 2.0, "beta": 0.25}, "no C": None})
def gemm_with(b, x, given):
    attributes = given or {}
    x = b.node("Flatten", x)
    c = [] if given is None else [b.floats(1, -2, 3, 8, 5)]
    y = b.node("Gemm", x, b.weights(5, 256), *c, transB=1, **attributes)
    return b.quantized(y, 16.0, 3)


@family({"(5)": (5,), "(1, 5)": (1, 5), "scalar": (), "(1)": (1,)})
def gemm_addend(b, x, shape):
    c = b.constant(b.rng.integers(-9, 9, shape) * 0.5)
    y = b.node("Gemm", b.node("Flatten", x), b.weights(256, 5), c)
    return b.quantized(y, 16.0)


@family({"ceil": {"ceil_mode": 1, "strides": [2, 2]}, "pads": {"pads":
         [1, 0, 1, 1]}, "dilations": {"dilations": [2, 1]}, "same": {
             "auto_pad": "SAME_UPPER", "strides": [3, 2]}, "lower": {
                 "auto_pad": "SAME_LOWER", "strides": [2, 2]}})
def max_pool(b, x, attributes):
    y = b.node("MaxPool", x, kernel_shape=[3, 3], **attributes)
    return b.quantized(y, 0.25)


@family({"plain": {}, "ceil": {"ceil_mode": 1, "strides": [2, 2]},
         "pads": {"pads": [1, 0, 1, 1]}, "counted": {
             "pads": [1, 0, 1, 1], "count_include_pad": 1},
         "ceil counted": {"ceil_mode": 1, "strides": [3, 3], "pads": [1] * 4,
                          "count_include_pad": 1},
         "ceil pads": {"ceil_mode": 1, "strides": [3, 3], "pads": [1] * 4},
         "same": {"auto_pad": "SAME_UPPER", "strides": [2, 2]},
         "same lower": {"auto_pad": "SAME_LOWER", "strides": [2, 2]},
         "dilations": {"dilations": [2, 2]}}, opset=19, ir=9, within=0.25)
def average_pool(b, x, attributes):
    y = b.node("AveragePool", x, kernel_shape=[3, 2], **attributes)
    return b.quantized(y, 0.25)


@family({op: op for op in ("GlobalAveragePool", "GlobalMaxPool")})
def pooled(b, x, op):
    return b.quantized(b.node(op, x), 0.125)


@family({"Relu": ("Relu", {}), "Relu6": ("Clip", (0.0, 6.0)),
         "Clip": ("Clip", (-3.0, 5.5)), "Clip low": ("Clip", (-1.0,)),
         "LeakyRelu": ("LeakyRelu", {"alpha": 0.25}),
         "HardSwish": ("HardSwish", {}), "HardSigmoid": ("HardSigmoid", {}),
         "Sigmoid": ("Sigmoid", {}), "Tanh": ("Tanh", {}),
         "Elu": ("Elu", {"alpha": 0.5}), "Selu": ("Selu", {}),
         "Softplus": ("Softplus", {}), "Softsign": ("Softsign", {}),
         "Erf": ("Erf", {}), "Exp": ("Exp", {}), "Abs": ("Abs", {}),
         "Neg": ("Neg", {}), "Celu": ("Celu", {}), "Mish": ("Mish", {}),
         "Gelu": ("Gelu", {}), "Sign": ("Sign", {}),
         "ThresholdedRelu": ("ThresholdedRelu", {"alpha": 1.5}),
         "Sqrt of Abs": ("Sqrt", {}), "Floor": ("Floor", {}),
         "Round": ("Round", {}), "Ceil": ("Ceil", {}), "Sin": ("Sin", {})},
        opset=20, ir=9, within=0.125, host=None)
def behind_conv(b, x, given):
    op, attributes = given
    y = b.node("Conv", b.quantized(x, 0.5), b.weights(3, 4, 1, 1, scale=0.125))
    y = b.quantized(y, 0.25)
    if op == "Clip":
        return b.quantized(b.node(op, y, *(b.constant(v)
                                           for v in attributes)), 0.125)
    if op == "Sqrt":
        y = b.node("Abs", y)
    return b.quantized(b.node(op, y, **attributes), 0.125)


@variant("SiLU and its like", within=0.125)
def _(b, x):
    y = b.quantized(b.node("Conv", x, b.weights(3, 4, 1, 1, scale=0.03125)),
                    0.125)
    y = b.quantized(b.node("Mul", y, b.node("Sigmoid", y)), 0.125)
    return b.quantized(b.node("Mul", y, b.quantized(b.node("Sigmoid", y),
                                                    0.0078125, -128)), 0.125)


@family({"(3,1,1)": (3, 1, 1), "(1)": (1,), "(1,3,1,1)": (1, 3, 1, 1)})
def prelu(b, x, shape):
    y = b.node("Conv", x, b.weights(3, 4, 1, 1))
    slope = b.constant(b.rng.integers(0, 5, shape) * 0.25)
    return b.quantized(b.node("PRelu", y, slope), 2.0)


@family({"Conv": 0, "before": 1, "Gemm": 2})
def batch_norm(b, x, how):
    n = 4 if how == 1 else 3
    values = [b.constant(v[:n]) for v in (
        [1, 2, .5, 1], [0, 1, -1, 2], [0, .5, 0, 1], [1, 4, .25, 1])]
    if how == 2:
        y = b.node("MatMul", b.node("Flatten", x), b.weights(256, 3))
    else:
        y = x if how == 1 else b.node("Conv", x, b.weights(3, 4, 3, 3))
    y = b.node("BatchNormalization", y, *values, epsilon=0.0)
    return b.quantized(b.node("Relu", y), 4.0)


@family({"Add": "Add", "Sub": "Sub", "Mul": "Mul", "Min": "Min", "Max": "Max"})
def two_streams(b, x, op):
    other = b.quantized(b.node("Conv", x, b.weights(4, 4, 1, 1)), 1.0, -4)
    return b.quantized(b.node(op, x, other), 0.5 if op != "Mul" else 8.0)


@family({"channel": (4, 1, 1), "scalar": (), "row": (8,), "left": (1, 4, 1, 1)})
def with_constant(b, x, shape):
    c = b.constant(b.rng.integers(-9, 9, shape) * 0.5)
    y = b.node("Sub", c, b.node("Add", x, c))
    return b.quantized(b.node("Mul", y, b.constant(
        b.rng.integers(1, 9, shape) * 0.25)), 0.5)


@family({f"{op} {axes} {keep}": (op, axes, keep)
         for op in ("ReduceMean", "ReduceSum", "ReduceMax", "ReduceMin")
         for axes, keep in (([2, 3], 1), ([2, 3], 0), ([1], 0), ([-1], 1))},
        opset=18)
def reduced(b, x, given):
    op, axes, keep = given
    y = b.node(op, x, b.ints(*axes), keepdims=keep)
    return b.quantized(y, 0.25 if op != "ReduceSum" else 2.0)


@family({"nearest": {"mode": "nearest"}, "floor": {
    "mode": "nearest", "nearest_mode": "floor",
    "coordinate_transformation_mode": "asymmetric"}, "linear": {
        "mode": "linear"}, "align": {
            "mode": "linear", "coordinate_transformation_mode":
            "align_corners"}, "asymmetric": {
                "mode": "linear",
                "coordinate_transformation_mode": "asymmetric"}}, host=None,
        within=0.125)
def resized(b, x, attributes):
    y = b.node("Resize", x, "", b.floats(1, 1, 2, 2), **attributes)
    return b.quantized(y, 0.125)


@family({"stride": {"strides": [2, 2]}, "pads": {
    "strides": [2, 2], "pads": [1, 0, 1, 1]}, "output padding": {
        "strides": [3, 2], "output_padding": [1, 1]}, "dilations": {
            "dilations": [2, 1]}, "same": {
                "strides": [2, 2], "auto_pad": "SAME_UPPER"}, "shape": {
                    "strides": [2, 2], "output_shape": [16, 15]}}, host=None)
def conv_transpose(b, x, attributes):
    y = b.node("ConvTranspose", x, b.weights(4, 3, 3, 3), b.floats(1, 2, 3),
               **attributes)
    return b.quantized(y, 4.0)


@variant("conv transpose per channel", host=None)
def _(b, x):
    w = b.weights(4, 3, 2, 2, scale=[0.25, 0.5, 1.0], axis=1)
    return b.quantized(b.node("ConvTranspose", x, w, strides=[2, 2]), 4.0)


@family({"reflect": "reflect", "edge": "edge"}, host=None)
def padded(b, x, mode):
    x = b.node("Pad", x, b.ints(0, 0, 1, 1, 0, 0, 1, 2), mode=mode)
    return b.quantized(b.node("Conv", x, b.weights(3, 4, 3, 3)), 2.0)


@variant("pad with a value before conv")
def _(b, x):
    x = b.node("Pad", x, b.ints(0, 0, 1, 1, 0, 0, 1, 2), b.constant(1.5))
    return b.quantized(b.node("Conv", x, b.weights(3, 4, 3, 3)), 2.0)


@variant("concat of three scales")
def _(b, x):
    parts = [b.quantized(b.node("Conv", x, b.weights(2, 4, 1, 1)), s, z)
             for s, z in ((0.5, 3), (1.0, -9), (2.0, 0))]
    y = b.quantized(b.node("Concat", *parts, axis=1), 1.0, 5)
    return b.quantized(b.node("Conv", y, b.weights(2, 6, 1, 1)), 8.0)


@variant("squeeze and excite", within=1.0)
def _(b, x):
    s = b.quantized(b.node("GlobalAveragePool", x), 0.125)
    s = b.quantized(b.node("Relu", b.node("Conv", s, b.weights(2, 4, 1, 1))),
                    0.25)
    s = b.node("HardSigmoid", b.node("Conv", s, b.weights(4, 2, 1, 1)),
               alpha=0.125, beta=0.5)
    return b.quantized(b.node("Mul", x, b.quantized(s, 0.0078125, -128)), 0.25)


@variant("attention of two streams", shape=(1, 8, 16), host=None, within=0.01)
def _(b, x):
    q, k, v = (b.quantized(b.node("MatMul", x, b.weights(16, 16, scale=0.0625)),
                           0.25) for _ in range(3))
    s = b.quantized(b.node("MatMul", q, b.node("Transpose", k,
                                               perm=[0, 2, 1])), 4.0)
    p = b.quantized(b.node("Softmax", s, axis=-1), 0.0078125, -128)
    return b.node("MatMul", p, v)


@family({"int8": ("int8", -7, 7), "uint8": ("uint8", 0, 15),
         "one bound": ("int8", None, 7)})
def clipped_codes(b, x, given):
    """Widths that ONNX has no type for: codes are clipped."""
    kind, low, high = given
    q = b.node("Clip", b.codes(x, 0.5, 0, kind),
               "" if low is None else b.constant(low, kind),
               b.constant(high, kind))
    x = b.dequantized(q, 0.5, 0, kind)
    w = b.node("Clip", b.constant(b.draw((3, 4, 3, 3), "int8"), "int8"),
               b.constant(-1, "int8"), b.constant(1, "int8"))
    y = b.node("Conv", x, b.dequantized(w, 0.25))
    q = b.node("Clip", b.codes(y, 0.25, 0, kind), b.constant(0, kind),
               b.constant(3, kind))
    return b.dequantized(q, 0.25, 0, kind)


# ---- Operators with built-in quantization ------------------------------------

def levels(b, scale, zero, kind="int8"):
    return b.constant(scale), b.constant(zero, kind)


@family({"plain": {}, "pads": {"pads": [1, 0, 2, 1]}, "uint8": {
    "kind": "uint8"}, "per channel": {"scales": [0.25, 0.5, 1.0]},
         "bias": {"bias": [100, -20, 7]}, "strides": {"strides": [2, 2]}})
def qlinear_conv(b, x, given):
    kind, given = given.get("kind", "int8"), dict(given)
    given.pop("kind", None)
    scales, bias = given.pop("scales", 0.25), given.pop("bias", None)
    zero = 100 if kind == "uint8" else 3
    a = levels(b, 0.25, zero, kind)
    q = b.node("QuantizeLinear", x, *a)
    w = b.constant(b.draw((3, 4, 3, 3), kind, 0 if kind == "uint8" else None),
                   kind)
    z = [0] * 3 if isinstance(scales, list) else 9 if kind == "uint8" else 0
    y = levels(b, 2.0, 5, kind)
    y = b.node("QLinearConv", q, *a, w, b.constant(scales),
               b.constant(z, kind), *y,
               *([b.constant(bias, "int32")] if bias else []), **given)
    return b.dequantized(y, 2.0, 5, kind)


@family({"per tensor": 0.25, "per column": [0.25, 0.5, 1.0, 0.125, 2.0]})
def qlinear_matmul(b, x, scales):
    a = levels(b, 0.25, 3)
    q = b.node("QuantizeLinear", b.node("Flatten", x), *a)
    w = b.constant(b.draw((256, 5)), "int8")
    z = b.constant([0] * 5 if isinstance(scales, list) else 2, "int8")
    y = b.node("QLinearMatMul", q, *a, w, b.constant(scales), z,
               *levels(b, 16.0, -1))
    return b.dequantized(y, 16.0, -1)


# ONNX Runtime adds the zero point before it rounds here: ties differ
# unless it is even.
@family({"QLinearAdd": "QLinearAdd", "QLinearMul": "QLinearMul"})
def qlinear_pair(b, x, op):
    a, c = levels(b, 0.25, 3), levels(b, 0.5, -7)
    y = b.node(op, b.node("QuantizeLinear", x, *a), *a,
               b.node("QuantizeLinear", x, *c), *c, *levels(b, 4.0, 2),
               domain="com.microsoft")
    return b.dequantized(y, 4.0, 2)


@variant("QLinearAdd of a constant")
def _(b, x):
    a, c = levels(b, 0.25, 3), levels(b, 0.5, -7)
    y = b.node("QLinearAdd", b.node("QuantizeLinear", x, *a), *a,
               b.constant(b.draw((4, 1, 1)), "int8"), *c, *levels(b, 1.0, 2),
               domain="com.microsoft")
    return b.dequantized(y, 1.0, 2)


@family({"average": ("QLinearAveragePool", {"kernel_shape": [2, 2],
                                            "strides": [2, 2]}),
         "average pads": ("QLinearAveragePool", {
             "kernel_shape": [2, 2], "pads": [1, 1, 0, 0]}),
         "average counted": ("QLinearAveragePool", {
             "kernel_shape": [2, 2], "pads": [1, 1, 0, 0],
             "count_include_pad": 1}),
         "global": ("QLinearGlobalAveragePool", {}),
         "sigmoid": ("QLinearSigmoid", {}),
         "leaky": ("QLinearLeakyRelu", {"alpha": 0.25})},
        within=0.0625)
def qlinear_unary(b, x, given):
    op, attributes = given
    a = levels(b, 0.25, 3)
    y = b.node(op, b.node("QuantizeLinear", x, *a), *a,
               *levels(b, 0.0625, -8), domain="com.microsoft", **attributes)
    return b.dequantized(y, 0.0625, -8)


@variant("QLinearGlobalAveragePool of channels last", within=0.0625)
def _(b, x):
    a = levels(b, 0.25, 3)
    q = b.node("QuantizeLinear", b.node("Transpose", x, perm=[0, 2, 3, 1]), *a)
    y = b.node("QLinearGlobalAveragePool", q, *a, *levels(b, 0.0625, -8),
               domain="com.microsoft", channels_last=1)
    return b.dequantized(y, 0.0625, -8)


@variant("QLinearConv of channels last")
def _(b, x):
    a = levels(b, 0.25, 3)
    q = b.node("QuantizeLinear", b.node("Transpose", x, perm=[0, 2, 3, 1]), *a)
    y = b.node("QLinearConv", q, *a, b.constant(b.draw((3, 4, 3, 3)), "int8"),
               *levels(b, 0.25, 0), *levels(b, 2.0, 1),
               domain="com.microsoft", channels_last=1)
    return b.dequantized(y, 2.0, 1)


@variant("QLinearConcat")
def _(b, x):
    parts = []
    for scale, zero in ((0.25, 3), (0.5, -7), (1.0, 0)):
        a = levels(b, scale, zero)
        parts += [b.node("QuantizeLinear", x, *a), *a]
    y = b.node("QLinearConcat", *levels(b, 0.5, 4), *parts, axis=1,
               domain="com.microsoft")
    return b.dequantized(y, 0.5, 4)


@variant("QLinearSoftmax", host=None, within=0.0078125)
def _(b, x):
    a = levels(b, 0.25, 3)
    q = b.node("QuantizeLinear", b.node("Flatten", x), *a)
    y = b.node("QLinearSoftmax", q, *a, *levels(b, 0.00390625, -128),
               domain="com.microsoft", axis=1, opset=13)
    return b.dequantized(y, 0.00390625, -128)


@family({"plain": {}, "transB": {"transB": 1}, "alpha": {"alpha": 0.5}})
def qgemm(b, x, attributes):
    a = levels(b, 0.25, 3)
    q = b.node("QuantizeLinear", b.node("Flatten", x), *a)
    w = b.constant(b.draw((5, 256) if attributes.get("transB") else (256, 5)),
                   "int8")
    y = b.node("QGemm", q, *a, w, *levels(b, 0.25, 0),
               b.constant([100, -7, 3, 900, 0], "int32"), *levels(b, 16.0, 1),
               domain="com.microsoft", **attributes)
    return b.dequantized(y, 16.0, 1)


# ---- Integer products ----------------------------------------------------------

@family({"uint8": ("uint8", 120), "int8": ("int8", 3)})
def conv_integer(b, x, given):
    kind, zero = given
    q = b.codes(x, 0.25, zero, kind)
    y = b.node("ConvInteger", q, b.constant(b.draw((3, 4, 3, 3)), "int8"),
               b.constant(zero, kind), b.constant(0, "int8"), pads=[1] * 4)
    y = b.node("Mul", b.node("Cast", y, to=1), b.constant(0.0625))
    y = b.node("Relu", b.node("Add", y, b.constant([[[1.5]], [[-2]], [[0]]])))
    return b.quantized(y, 2.0)


@family({"per tensor": [], "per column": [1, -2, 0, 3, 5]})
def matmul_integer(b, x, zeros):
    q = b.codes(b.node("Flatten", x), 0.25, 120, "uint8")
    y = b.node("MatMulInteger", q, b.constant(b.draw((256, 5)), "int8"),
               b.constant(120, "uint8"), b.constant(zeros or 2, "int8"))
    y = b.node("Mul", b.node("Cast", y, to=1), b.constant(
        [0.0625, 0.125, 0.25, 1, 0.5] if zeros else 0.0625))
    return b.quantized(y, 16.0)


@family({"MatMulInteger": 0, "ConvInteger": 1, "DynamicQuantizeMatMul": 2,
         "MatMulIntegerToFloat": 3}, host=None, within=0.5)
def dynamic(b, x, how):
    """Scales that depend on the data."""
    if how == 2:
        return b.node("DynamicQuantizeMatMul", b.node("Flatten", x),
                      b.constant(b.draw((256, 5)), "int8"), b.constant(0.25),
                      b.constant(0, "int8"), b.floats(1, 2, 3, 4, 5),
                      domain="com.microsoft")
    x = x if how == 1 else b.node("Flatten", x)
    q, scale, zero = b.node("DynamicQuantizeLinear", x, outputs=3)
    w = b.constant(b.draw((3, 4, 3, 3) if how == 1 else (256, 5)), "int8")
    if how == 3:
        return b.node("MatMulIntegerToFloat", q, w, scale, b.constant(0.25),
                      zero, b.constant(0, "int8"), domain="com.microsoft")
    y = b.node("ConvInteger" if how else "MatMulInteger", q, w, zero,
               b.constant(0, "int8"))
    return b.node("Mul", b.node("Cast", y, to=1),
                  b.node("Mul", scale, b.constant(0.25)))


# ---- Operators that ONNX Runtime fuses -----------------------------------------

@family({"Relu": "Relu", "Clip": "Clip", "LeakyRelu": "LeakyRelu",
         "HardSigmoid": "HardSigmoid"}, within=0.01)
def fused_conv(b, x, activation):
    parameters = {"Clip": [0.0, 6.0], "LeakyRelu": [0.25],
                  "HardSigmoid": [0.25, 0.5]}.get(activation)
    more = {"activation_params": parameters} if parameters else {}
    y = b.node("FusedConv", x, b.weights(3, 4, 3, 3), b.floats(1, 2, 3),
               domain="com.microsoft", activation=activation, **more)
    return b.quantized(y, 0.5)


@variant("FusedGemm")
def _(b, x):
    y = b.node("FusedGemm", b.node("Flatten", x), b.weights(5, 256),
               b.floats(1, 2, 3, 4, 5), domain="com.microsoft", transB=1,
               alpha=0.5, activation="LeakyRelu", activation_alpha=0.25)
    return b.quantized(y, 16.0)


@variant("FusedMatMul")
def _(b, x):
    y = b.node("FusedMatMul", b.node("Flatten", x), b.weights(5, 256),
               domain="com.microsoft", transB=1, alpha=0.5)
    return b.quantized(y, 16.0)


@variant("NhwcMaxPool")
def _(b, x):
    q = b.codes(b.node("Transpose", x, perm=[0, 2, 3, 1]), 0.25, 3, "uint8")
    q = b.node("NhwcMaxPool", q, domain="com.microsoft", kernel_shape=[2, 2],
               strides=[2, 2])
    return b.node("Transpose", b.dequantized(q, 0.25, 3, "uint8"),
                  perm=[0, 3, 1, 2])


# ---- QONNX and FINN, against the definition in test/reference --------------------

GENERAL = "qonnx.custom_op.general"


def quant(b, x, scale, zero=0.0, bits=4.0, domain=GENERAL, op="Quant", **more):
    return b.node(op, x, b.constant(scale), b.constant(zero), b.constant(bits),
                  domain=domain, **{"signed": 1, "narrow": 0, **more})


@family({f"{mode} {'signed' if signed else 'unsigned'}"
         f"{' narrow' if narrow else ''}": (mode, signed, narrow)
         for mode in ("ROUND", "CEIL", "FLOOR", "UP", "DOWN", "HALF_UP",
                      "HALF_DOWN", "round", "ROUND_TO_ZERO")
         for signed, narrow in ((1, 0), (1, 1), (0, 0), (0, 1))},
        reference="qonnx")
def quant_of(b, x, given):
    mode, signed, narrow = given
    y = b.node("Conv", x, quant(b, b.constant(
        b.rng.integers(-40, 40, (3, 4, 3, 3)) / 16), 0.25, narrow=1))
    return quant(b, y, 1.5, rounding_mode=mode, signed=signed, narrow=narrow)


def ternary(b):
    return quant(b, b.constant(b.rng.integers(-1, 2, (3, 4, 3, 3)) * 0.5), 0.5,
                 bits=2.0, narrow=1)


@family({"zero point": (2.0, "ROUND"), "odd zero point": (3.0, "HALF_UP"),
         "floor and zero point": (1.0, "FLOOR")}, reference="qonnx",
        host=None)
def quant_from(b, x, given):
    zero, mode = given
    y = b.node("Conv", x, ternary(b))
    return quant(b, y, 1.5, zero, rounding_mode=mode)


@family({"per channel": 1, "one bit": 2, "unsigned one bit": 3,
         "IntQuant": 4, "brevitas": 5, "wide": 6, "bipolar": 7},
        reference="qonnx")
def quant_as(b, x, how):
    w = b.constant(b.rng.integers(-40, 40, (3, 4, 3, 3)) / 16)
    more = {"domain": "onnx.brevitas"} if how == 5 else \
        {"op": "IntQuant"} if how == 4 else {}
    if how == 7:
        w = b.node("BipolarQuant", w, b.constant(0.5), domain=GENERAL)
    elif how == 1:
        w = quant(b, w, [[[[0.25]]], [[[0.5]]], [[[0.125]]]])
    else:
        w = quant(b, w, 0.25, bits=1.0 if how == 2 else 4.0, **more)
    y = b.node("Conv", x, w)
    if how == 7:
        return b.node("BipolarQuant", y, b.constant(0.5), domain=GENERAL)
    if how == 1:
        return quant(b, y, [[[[0.5]], [[1.0]], [[2.0]]]], bits=6.0)
    return quant(b, y, 0.5, bits={2: 1.0, 3: 1.0, 6: 16.0}.get(how, 6.0),
                 signed=how != 3, **more)


@family({"1": (1, "FLOOR"), "1 rounded": (1, "ROUND"), "2": (2, "FLOOR"),
         "2 rounded": (2, "ROUND"), "2 ceil": (2, "CEIL")}, reference="qonnx")
def trunc(b, x, given):
    version, mode = given
    y = b.node("Conv", x, quant(b, b.constant(
        b.rng.integers(-40, 40, (3, 4, 3, 3)) / 16), 0.25))
    y = quant(b, y, 0.25, bits=8.0)
    more = [b.constant(1.0)] if version == 2 else []
    return b.node("Trunc", y, b.constant(0.25), b.constant(0.0),
                  b.constant(8.0), *more, b.constant(6.0), domain=GENERAL,
                  rounding_mode=mode)


@family({"E4M3": (4, 3, 7, 448), "E5M2": (5, 2, 15, 57344),
         "E2M1": (2, 1, 1, 6), "E3M0": (3, 0, 3, 16), "E8M7": (8, 7, 127,
                                                               3e38),
         "floor": (4, 3, 7, 448, "FLOOR"), "ceil": (4, 3, 7, 448, "CEIL"),
         "wide scale": (4, 3, 7, 448, "ROUND", [[[[0.5]], [[4.0]], [[2.0]]]])},
        reference="qonnx", host=None)
def float_quant(b, x, given):
    mode = given[4] if len(given) > 4 else "ROUND"
    scale = given[5] if len(given) > 5 else 0.125

    def one(value, scale):
        return b.node("FloatQuant", value, b.constant(scale),
                      *(b.constant(float(v)) for v in given[:4]),
                      domain=GENERAL, rounding_mode=mode)
    w = one(b.constant(b.rng.integers(-400, 400, (3, 4, 3, 3)) / 128), 1.0)
    return one(b.node("Conv", x, w), scale)


@family({"channels": {}, "scaled": {"out_scale": 0.5, "out_bias": -2.0},
         "bipolar": {"out_scale": 2.0, "out_bias": -1.0, "steps": 1},
         "one for all": {"rows": 1}, "NHWC": {"data_layout": "NHWC"}},
        reference="qonnx", host=None)
def multi_threshold(b, x, given):
    given = dict(given)
    steps, rows = given.pop("steps", 7), given.pop("rows", 3)
    y = b.node("Conv", x, ternary(b))
    if "data_layout" in given:
        y = b.node("Transpose", y, perm=[0, 2, 3, 1])
    t = b.constant(sorted_rows(b.rng.integers(-80, 80, (rows, steps)) * 0.5))
    return b.node("MultiThreshold", y, t, domain="finn.custom_op.general",
                  **given)


def sorted_rows(values):
    values.sort(axis=-1)
    return values


# ---- Integers in float tensors ------------------------------------------------------

@family({"Div": "Div", "Mul": "Mul"})
def integers_in_floats(b, x, how):
    """NEMO and similar: whole numbers scaled, divided, floored, clipped."""
    x = b.node("Clip", b.node("Floor", x), b.constant(0.0), b.constant(15.0))
    y = b.node("Conv", x, b.constant(b.draw((3, 4, 3, 3))))
    y = b.node("Add", b.node("Mul", y, b.constant([[[3.]], [[5.]], [[2.]]])),
               b.constant([[[40.]], [[-7.]], [[0.]]]))
    y = b.node(how, y, b.constant(64.0 if how == "Div" else 0.015625))
    return b.node("Clip", b.node("Floor", y), b.constant(0.0),
                  b.constant(255.0))


def build(k, name):
    """The model of a variant."""
    make, more = VARIANTS[name]
    b = k.Builder(opset=more.get("opset", 17), ir=more.get("ir", 8))
    x = b.input(more.get("shape", (1, 4, 8, 8)))
    x = quant(b, x, 0.25, bits=8.0) if more.get("reference") \
        else b.quantized(x, 0.25, 3)
    b.output(make(b, x))
    return b.model(), more


def styles(suite, *names):
    k = needed("onnxkit")
    try:
        import qonnx_reference
    except ImportError as why:
        raise Skip(f"Python's {why.name} is missing") from why
    for name in names or VARIANTS:
        model, more = build(k, name)
        feeds, want = k.feeds_for(model), None
        if more.get("reference"):
            frames = [qonnx_reference.evaluate(
                model, {key: v[f] for key, v in feeds.items()})
                for f in range(3)]
            want = [k.np.stack(list(column)) for column in zip(
                *(row.values() for row in frames))]
        k.agrees(suite, name, model, feeds, want,
                 within=more.get("within", 0.0), host=more.get("host", 0))
