# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What files and options say of rounding, against exact arithmetic: outputs in a
number format, weights that only the file rounds, dynamic quantization, constants of
many bits, a bit width per channel, scales along input channels."""
import json



def tools():
    global np, kit
    import numpy as np

    import onnxkit as kit


def rounded(values, integer, fraction):
    """In fixed<integer,fraction>: half to even, saturated."""
    unit, end = 2.0 ** -fraction, 2.0 ** (integer + fraction - 1)
    return np.clip(np.rint(values / unit), -end, end - 1) * unit


def quant(b, x, scale, bits, zero=0.0, **attributes):
    attributes = {"signed": 1, "narrow": 0, "rounding_mode": "ROUND",
                  **attributes}
    return b.node("Quant", x, b.constant(scale), b.constant(zero),
                  b.constant(bits), domain="qonnx.custom_op.general",
                  **attributes)


def quanted(values, scale, bits, rounding=None):
    """QONNX's Quant, signed; a width of 0 gives 0."""
    bits = np.broadcast_to(np.asarray(bits, float), np.shape(values))
    low = np.where(bits > 0, -2.0 ** (bits - 1), 0)
    high = np.where(bits > 0, 2.0 ** (bits - 1) - 1, 0)
    codes = (rounding or np.rint)(np.asarray(values, float) / scale)
    return np.clip(codes, low, high) * scale


class Case:
    """A model of one input `x0`, and its exact outputs for `data`."""

    def __init__(self, name, builder, data, want, *options, rtl=False):
        self.name, self.model = name, builder.model()
        self.data = np.asarray(data, np.float32)
        self.want = np.asarray(want, np.float64)
        self.options, self.rtl = options, rtl


def grid(b, *shape, step=0.0625, most=80):
    return b.rng.integers(-most, most + 1, shape) * step


def formats(kind):
    """A layer, or an end without one, in a number format."""
    b = kit.Builder()
    x = b.input([1, 6])
    data = grid(b, 20, 1, 6, step=0.03125, most=300)
    w = b.rng.normal(0, 1, (6, 4)).astype(np.float32)
    bias = b.rng.normal(0, 1, 4).astype(np.float32)
    options = ["--number-format", "ap_fixed<10,6>"]
    inner = rounded(data, 6, 4)
    wide = inner @ rounded(w, 6, 4)
    if kind == "gemm":
        b.node("Gemm", x, b.constant(w), b.constant(bias))
        want = rounded(wide + rounded(bias, 6, 4), 6, 4)
    elif kind == "wider output":
        y = b.node("Gemm", x, b.constant(w), b.constant(bias))
        b.output(y)
        options += ["--tensor-format", f"{y}=fixed<14,8>"]
        want = rounded(wide + rounded(bias, 6, 4), 14, 8)
    elif kind == "relu":
        b.node("Relu", b.node("MatMul", x, b.constant(w)))
        want = rounded(np.maximum(wide, 0), 6, 4)
    elif kind == "sum":
        b.node("Add", x, b.node("MatMul", x, b.constant(
            w6 := b.rng.normal(0, 1, (6, 6)).astype(np.float32))))
        want = rounded(inner + rounded(inner @ rounded(w6, 6, 4), 6, 4), 6, 4)
    elif kind == "moved":
        b.node("Reshape", b.node("MatMul", x, b.constant(w)), b.ints(1, 2, 2))
        want = rounded(wide, 6, 4).reshape(20, 1, 2, 2)
    return Case(f"the last layer in a format, {kind}", b, data, want, *options,
                rtl=kind == "gemm")


def raw_integers():
    b = kit.Builder()
    x = b.input([1, 4])
    w = b.rng.integers(-100, 100, (4, 3))
    b.node("MatMul", x, b.constant(w))
    data = b.rng.integers(-128, 128, (20, 1, 4)) / 128
    return Case("raw integers end in codes of the format", b, data,
                rounded(data @ (w / 128), 1, 7),
                "--number-format", "fixed<1,7>", "--raw-integers")


def large_bias(bits):
    """Int32Bias of Brevitas: codes of many bits in the scale of the products."""
    b = kit.Builder(opset=13)
    x = b.input([1, 5])
    data = grid(b, 20, 1, 5, most=40)
    w = b.rng.integers(-7, 8, (5, 3)) * 0.25
    bias = b.rng.normal(0, 40, 3).astype(np.float32)
    y = b.node("MatMul", quant(b, x, 0.0625, 8.0), quant(b, b.constant(w), 0.25, 4.0))
    scale = 0.0625 * 0.25 / 16
    y = b.node("Add", y, quant(b, b.constant(bias), scale, float(bits)))
    quant(b, y, 0.5, 8.0)
    exact = quanted(data, 0.0625, 8) @ w + quanted(bias.astype(float), scale, bits)
    return Case(f"a bias of {bits} bits", b, data, quanted(exact, 0.5, 8),
                rtl=bits == 32)


def channel_widths(mode="ROUND"):
    b = kit.Builder(opset=13)
    x = b.input([1, 4])
    data = grid(b, 30, 1, 4, step=0.03125, most=200)
    bits = np.array([[3, 8, 0, 5]], np.float32)
    w = b.rng.normal(0, 1, (4, 3)).astype(np.float32)
    own = b.rng.integers(0, 6, (4, 3)).astype(np.float32)
    own[own == 1] = 2
    step = {"ROUND": np.rint, "FLOOR": np.floor, "CEIL": np.ceil,
            "ROUND_TO_ZERO": np.trunc}[mode]
    scale = np.float32(0.0625)
    a = quant(b, x, scale, bits, rounding_mode=mode)
    y = b.node("MatMul", a, quant(b, b.constant(w), 0.25, own,
                                  rounding_mode=mode))
    quant(b, y, 0.125, np.array([[4, 6, 9]], np.float32))
    exact = (quanted(data, 0.0625, bits, step)
             @ quanted(w.astype(float), 0.25, own, step))
    return Case(f"widths of their own, {mode}", b, data,
                quanted(exact, 0.125, [4, 6, 9]), rtl=mode == "ROUND")


def channel_scales(kind="MatMul"):
    """HGQ: a scale and a width per input channel, of activations and weights,
    with channels of no bits."""
    b = kit.Builder(opset=13)
    convolution = kind == "Conv"
    along = (1, 4, 1, 1) if convolution else (1, 4)
    x = b.input([1, 4, 5, 5] if convolution else [1, 4])
    data = grid(b, 20, 1, *((4, 5, 5) if convolution else (4,)), step=0.03125,
                most=200)
    scale = np.array([0.5, 0.25, 0.75, 1], np.float32).reshape(along)
    bits = np.array([3, 0, 5, 2], np.float32).reshape(along)
    a = quant(b, x, scale, bits)
    inner = quanted(data, scale, bits)
    shape = (3, 4, 3, 3) if convolution else (4, 3)
    w = b.rng.normal(0, 1, shape).astype(np.float32)
    own = np.array([0.25, 0.5, 0.125, 0.0625], np.float32).reshape(
        (1, 4, 1, 1) if convolution else (4, 1))
    own_bits = b.rng.integers(2, 6, shape).astype(np.float32)
    codes = quanted(w.astype(float), own, own_bits)
    weights = quant(b, b.constant(w), own, own_bits)
    if convolution:
        y = b.node(kind, a, weights, pads=[1, 1, 1, 1])
        padded = np.pad(inner, [(0, 0)] * 3 + [(1, 1)] * 2)
        exact = sum(np.einsum("fnchw,oc->fnohw", padded[..., i:i + 5, j:j + 5],
                              codes[..., i, j])
                    for i in range(3) for j in range(3))
    else:
        y = b.node(kind, a, weights)
        exact = inner @ codes
    quant(b, y, 0.125, 7.0)
    return Case(f"scales of their own, {kind}", b, data,
                quanted(exact, 0.125, 7), rtl=True)


def sixteen_bits(kind="uint16"):
    """Activations of 16 bits between layers, at scales that are no powers of two:
    no product of 62 bits gives the next codes."""
    import fractions
    b = kit.Builder(opset=21, ir=10)
    unsigned = kind == "uint16"
    exact = np.vectorize(lambda v: fractions.Fraction(float(v)), otypes=[object])
    first, second, third = (np.float32(v) for v in (0.0000915, 0.0005, 0.0007))
    zeros = (32768, 31806, 30000) if unsigned else (0, 0, -7)
    low, high = (0, 65535) if unsigned else (-32768, 32767)
    codes = b.rng.integers(low, high + 1, (20, 1, 16))
    codes[0], codes[1] = low, high
    own = np.array([0.002273575, 0.0011, 0.00317, 0.0009], np.float32)
    bias = (b.rng.normal(0, 1, 4)).astype(np.float32)
    layers = [(16, own, second, zeros[1]), (4, own[::-1].copy(), third, zeros[2])]
    y = b.quantized(b.input([1, 16]), first, zeros[0], kind)
    value = (codes - zeros[0]) * exact(first)
    for inputs, scales, out, zero in layers:
        w = b.draw((inputs, 4), low=-127, high=127)
        y = b.node("MatMul", y, b.dequantized(b.constant(w, "int8"), scales,
                                              np.zeros(4), axis=1))
        y = b.quantized(b.node("Add", y, b.constant(bias)), out, zero, kind)
        value = value @ (w * exact(scales)) + exact(bias)
        # Python rounds ties of fractions to even.
        level = np.vectorize(round, otypes=[np.int64])(value / exact(out))
        level = np.clip(level + zero, low, high) - zero
        value = level * exact(out)
    return Case(f"activations of {kind}", b,
                ((codes - zeros[0]) * float(first)), value.astype(np.float64),
                rtl=True)


def weight_only(kind, stored="int8", half=False):
    """Integer weights behind a DequantizeLinear, real activations."""
    b = kit.Builder(opset=21, ir=10)
    real = "float16" if half else "float"
    x = b.input([1, 6], real)
    data = grid(b, 20, 1, 6)
    codes = b.draw((6, 4), stored, -7, 7)
    scale = np.array([0.25, 0.5, 0.75, 0.125])
    w = b.node("DequantizeLinear", b.constant(codes, stored),
               b.constant(scale, real), axis=1)
    if kind == "MatMul":
        b.node("MatMul", x, w)
    elif kind == "Gemm":
        b.node("Gemm", x, w)
    want = rounded(rounded(data, 8, 4) @ (codes * scale), 8, 4)
    return Case(f"{stored} weights of {kind}{' in float16' if half else ''}", b,
                data, want, "--number-format", "fixed<8,4>",
                rtl=(kind, stored) == ("Gemm", "int4"))


def dynamic(kind="MatMulInteger", weights="uint8"):
    """ONNX Runtime's quantize_dynamic: codes of each frame's own range."""
    b = kit.Builder(opset=17)
    x = b.input([1, 6] if kind != "ConvInteger" else [1, 2, 5, 5])
    zero = 3 if weights == "uint8" else 0
    scale, bias = np.float32(0.0625), b.rng.normal(0, 1, 4).astype(np.float32)
    if kind == "ConvInteger":
        codes = b.draw((4, 2, 3, 3), weights)
        data = grid(b, 6, 1, 2, 5, 5, most=30)
    else:
        codes = b.draw((6, 4), weights)
        data = grid(b, 20, 1, 6, most=30)
    w = b.constant(codes, weights)
    own = (codes - zero) * float(scale)
    inner = rounded(data, 6, 8)
    if kind == "DynamicQuantizeMatMul":
        b.node(kind, x, w, b.constant(scale), b.constant(zero, weights),
               domain="com.microsoft")
        exact = inner @ own
    else:
        q, s, z = b.node("DynamicQuantizeLinear", x, outputs=3)
        attributes = ({"pads": [1, 1, 1, 1]} if kind == "ConvInteger" else {})
        y = b.node(kind, q, w, z, b.constant(zero, weights), **attributes)
        y = b.node("Cast", y, to=kit.Builder.kind("float"))
        y = b.node("Mul", y, b.node("Mul", s, b.constant(scale)))
        shape = (4, 1, 1) if kind == "ConvInteger" else (4,)
        b.node("Add", y, b.constant(bias.reshape(shape)))
        if kind == "ConvInteger":
            padded = np.pad(inner, [(0, 0)] * 3 + [(1, 1)] * 2)
            exact = sum(np.einsum("fnchw,oc->fnohw",
                                  padded[..., i:i + 5, j:j + 5], own[..., i, j])
                        for i in range(3) for j in range(3))
        else:
            exact = inner @ own
        exact = exact + bias.astype(float).reshape(shape)
    return Case(f"{kind} of {weights} codes of each frame's own", b, data,
                rounded(exact, 6, 8), "--number-format", "fixed<6,8>",
                rtl=kind == "MatMulInteger")


def input_scales():
    """A QDQ layer whose weights have a scale per input channel."""
    b = kit.Builder(opset=17)
    x = b.quantized(b.input([1, 6]), 0.0625)
    data = grid(b, 20, 1, 6)
    codes = b.draw((6, 4), "int8")
    scales = np.array([0.1, 0.2, 0.3, 0.4, 0.5, 0.6], np.float32)
    w = b.dequantized(b.constant(codes, "int8"), scales, axis=0)
    b.node("MatMul", x, w)
    inner = np.clip(np.rint(data / 0.0625), -128, 127) * 0.0625
    own = codes * scales.astype(float)[:, None]
    return Case("a scale per input channel", b, data,
                rounded(inner @ rounded(own, 6, 10), 6, 10),
                "--number-format", "fixed<6,10>")


def cases():
    yield from (formats(kind) for kind in
                ("gemm", "wider output", "relu", "sum", "moved"))
    yield raw_integers()
    yield from (large_bias(bits) for bits in (16, 24, 32))
    yield from (channel_widths(mode) for mode in
                ("ROUND", "FLOOR", "CEIL", "ROUND_TO_ZERO"))
    yield from (channel_scales(kind) for kind in ("MatMul", "Conv"))
    yield from (sixteen_bits(kind) for kind in ("uint16", "int16"))
    yield from (weight_only(*of) for of in (
        ("MatMul",), ("Gemm",), ("Gemm", "int4"), ("MatMul", "int8", True),
        ("MatMul", "int4", True)))
    yield from (dynamic(*of) for of in (
        (), ("MatMulInteger", "int8"), ("ConvInteger",),
        ("DynamicQuantizeMatMul",)))
    yield input_scales()


def saved(suite, case):
    path = suite.work / "model.onnx"
    path.write_bytes(case.model.SerializeToString())
    data = suite.work / "data.npy"
    np.save(data, case.data)
    return path, data


def compiled(suite, case):
    path, data = saved(suite, case)
    package = suite.work / "model.rhz"
    result = suite.run("compile", path, *case.options, "-o", package)
    suite.check(result.status == 0, f"{case.name}: {result.message[:300]}",
                result.command)
    return result.status == 0 and package, data


def compare(suite, case, package, data, level):
    out = suite.work / "out.npy"
    result = suite.run("simulate", package, "--level", level, "--input", data,
                       "--output", out, timeout=600)
    got = np.load(out) if result.status == 0 else None
    wrong = (got is None or got.shape != case.want.shape or
             int((got != case.want.astype(np.float32)).sum()))
    suite.check(wrong == 0 and wrong is not True,
                f"{case.name}, {level}: {wrong} of {case.want.size} differ",
                result.command)


def quantizers(suite):
    tools()
    for case in cases():
        package, data = compiled(suite, case)
        if package:
            compare(suite, case, package, data, "functional")
    calibrations(suite)
    ports(suite)
    refused(suite)


def quantizers_rtl(suite):
    tools()
    for case in cases():
        if not case.rtl:
            continue
        package, data = compiled(suite, case)
        if package:
            np.save(data, case.data[:4])
            case.want = case.want[:4]
            compare(suite, case, package, data, "rtl")


def calibrations(suite):
    """What has formats of this compiler's is a float layer with integer weights:
    these stay, and the result is near ONNX Runtime's."""
    for case in (weight_only("MatMul"), weight_only("Gemm", "int4"),
                 weight_only("MatMul", "int8", True), dynamic(),
                 dynamic("ConvInteger", "int8"), input_scales()):
        path, data = saved(suite, case)
        want, = kit.runtime_outputs(case.model, {
            "x0": case.data.astype("float16" if "float16" in case.name
                                   else "float32")})
        out = suite.work / "out.npy"
        result = suite.run("evaluate", path, "--calibration", data, "--data",
                           data, "--output", out, "--json")
        error = (np.abs(np.load(out) - want).max() / np.abs(want).max()
                 if result.status == 0 else 1)
        suite.check(error < 0.02, f"{case.name}, calibrated: {error:.4f} of the "
                    f"largest value off; {result.message[:200]}", result.command)
        answer = result.json or {}
        suite.check(answer.get("accuracy", 0) is None
                    and answer.get("correct", 0) is None
                    and all(form["accuracy"] is None
                            for form in answer["forms"]),
                    "without labels nothing is right or wrong", result.command)
        result = suite.run("compile", path, "--calibration", data, "-o",
                           suite.work / "calibrated.rhz")
        suite.check(result.status == 0, f"{case.name}, calibrated, compiles: "
                    f"{result.message[:200]}", result.command)


def ports(suite):
    """What leaves a device before the host's end has a name of its own, and an
    output of the model that one."""
    b = kit.Builder(opset=17)
    x = b.node("Neg", b.input([1, 6]))
    a = b.quantized(b.node("MatMul", b.quantized(x, 0.0625), b.weights(6, 4)), 0.5)
    soft = b.node("Softmax", a, axis=-1)
    plain = b.node("MatMul", b.quantized(x, 0.0625), b.weights(6, 4))
    b.output(soft, plain)
    path, package = suite.work / "ends.onnx", suite.work / "ends.rhz"
    path.write_bytes(b.model().SerializeToString())
    result = suite.run("compile", path, "-o", package)
    suite.check(result.status == 0, f"ends on the host: {result.message[:200]}",
                result.command)
    plan = json.loads((package / "plan.json").read_text())
    outputs = {t["name"]: t["of_model"] for t in plan["host"]["outputs"]}
    suite.check(outputs == {a: False, plain: True},
                f"outputs of the device: {outputs}", result.command)
    inputs = {t["name"]: t["of_model"] for t in plan["host"]["inputs"]}
    suite.check(inputs.get(x) is False and "x0" not in inputs,
                f"its inputs: {inputs}", result.command)
    network = (package / "model/network.mlir").read_text()
    suite.check(f'flow.outputs = ["{soft}", "{plain}"]' in network,
                "the model's outputs are the network's", result.command)
    page = (package / "host/README.md").read_text()
    suite.check(f"`{a}`" in page and f"`{soft}`" not in page,
                "and on the host's page", result.command)


def refused(suite):
    def is_refused(name, builder, *reasons, options=(), status=1):
        path = suite.work / "refused.onnx"
        path.write_bytes(builder.model().SerializeToString())
        result = suite.run("compile", path, *options)
        suite.check(result.status == status and
                    all(r in result.err for r in reasons),
                    f"{name}: {result.message[:400]}", result.command)

    number = ("--number-format", "fixed<6,8>")
    b = kit.Builder()
    q, s, z = b.node("DynamicQuantizeLinear", b.input([1, 6]), outputs=3)
    y = b.node("MatMulInteger", q, b.constant(b.draw((6, 4)), "int8"), z)
    y = b.node("Cast", y, to=kit.Builder.kind("float"))
    b.node("Mul", y, s)
    is_refused("dynamic quantization", b, "quantized anew in each frame",
               "give --calibration DATA or --number-format")
    b.output(b.nodes[-1].output[0], q)
    is_refused("codes of each frame that somebody else reads", b,
               "DynamicQuantizeLinear", "quantizes anew in each frame",
               options=number)

    b = kit.Builder(opset=13)
    quant(b, b.input([1, 4]), 0.25, 20.0)
    is_refused("20 bits of a tensor", b, "its bit width is 20",
               "whole bit widths from 1 to 16 are supported")
    b = kit.Builder(opset=13)
    quant(b, b.input([1, 4]), 0.25, np.array([[1, 2, 3, 4]], np.float32))
    is_refused("signs of their own", b, "one of its bit widths is 1",
               "several bit widths are supported")
    b = kit.Builder(opset=13)
    quant(b, b.input([1, 4]), 0.25, np.array([[2, 3, 4]], np.float32))
    is_refused("widths for other channels", b, "its bit widths [1, 3] do not fit",
               "one for each channel")

    b = kit.Builder()
    hidden = b.node("Relu", b.node("MatMul", b.input([1, 4]),
                                   b.constant(b.rng.normal(0, 1, (4, 4)))))
    b.node("MatMul", hidden, b.constant(b.rng.normal(0, 1, (4, 4))))
    is_refused("a wide format inside", b, "is for the model's outputs alone",
               options=(*number, "--tensor-format", f"{hidden}=fixed<12,12>"))
    is_refused("a format of 33 bits", b, "2 to 32 bits", status=2,
               options=(*number, "--tensor-format", f"{hidden}=fixed<1,32>"))

    # Gains of a batch norm have square roots of their own.
    b = kit.Builder(opset=17)
    y = b.node("MatMul", b.quantized(b.input([1, 4]), 0.25), b.weights(4, 3))
    y = b.node("BatchNormalization", y, *(
        b.constant(np.array(values, np.float32)) for values in
        ((1, 2, 3), (0.5, 1, 0.25), (0, 1, 2), (0.3, 0.7, 1.1))))
    b.quantized(b.node("MatMul", y, b.weights(3, 2)), 0.5)
    path = suite.work / "roots.onnx"
    path.write_bytes(b.model().SerializeToString())
    result = suite.run("coverage", path)
    suite.check("scales are not small multiples of one" in result.out,
                f"channels with different roots: {result.out[-300:]} "
                f"{result.err[-300:]}", result.command)
