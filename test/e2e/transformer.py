# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Blocks of transformers in 8-bit QDQ form, made for this test: that of a vision
transformer, which normalizes before its layers, and that of DistilBERT, which
normalizes after them. With --fixed-point-functions the whole block is one region of
the FPGA, softmax, layer normalizations and GELU included; the RTL equals the
interpreter, takes the predicted cycles, and its output's signal-to-noise ratio
against the float network is printed and bounded."""
import json
import math
import pathlib

import framework

ROOT = pathlib.Path(__file__).resolve().parents[2]
TRAINED = ROOT / "examples/pytorch/transformer.onnx"
IMAGES = ROOT / "examples/digits/test_images.npy"
LABELS = ROOT / "examples/digits/test_labels.npy"
CALIBRATION, FRAMES = 24, 3


class Block:
    """A block in float or, with the ranges that the float one had, in QDQ form."""

    def __init__(self, kit, np, shape, ranges=None):
        self.np, self.b, self.ranges = np, kit.Builder(opset=17, seed=11), ranges
        self.x = self.b.input([1, *shape], name="x")
        self.names = {}

    def rounded(self, x, kind="int8", scale=None, zero=0):
        """A place where the quantized network rounds; the float one is observed."""
        index = len(self.names)
        self.names[index] = x
        if self.ranges is None:
            return x
        low, high = self.ranges[index]
        if scale is None and kind == "uint8":
            scale = (high - low) / 255
            zero = round(-low / scale)
        elif scale is None:
            scale = max(-low, high) / 127
        return self.b.quantized(x, scale, zero, kind)

    def dense(self, x, inputs, outputs, gain=1.0):
        rng, np = self.b.rng, self.np
        w = rng.normal(0, gain / math.sqrt(inputs), (inputs, outputs)).astype("f4")
        bias = rng.normal(0, 0.1, outputs).astype("f4")
        weights = self.b.constant(w)
        if self.ranges is not None:
            scale = abs(w).max(axis=0) / 127
            codes = np.clip(np.round(w / scale), -127, 127)
            weights = self.b.dequantized(self.b.constant(codes, "int8"),
                                         scale.astype("f4"), 0, "int8", axis=1)
        return self.b.node("Add", self.b.node("MatMul", x, weights),
                           self.b.constant(bias))

    def normalized(self, x, width):
        rng = self.b.rng
        return self.b.node(
            "LayerNormalization", x,
            self.b.constant(rng.uniform(0.6, 1.4, width).astype("f4")),
            self.b.constant(rng.normal(0, 0.2, width).astype("f4")),
            axis=-1, epsilon=1e-6)

    def shares(self, scores):
        return self.b.node("Softmax", scores, axis=-1)

    def attention(self, x, tokens, heads, depth):
        b, width = self.b, heads * depth

        def split(v, order):
            v = b.node("Reshape", v, b.ints(1, tokens, heads, depth))
            return b.node("Transpose", v, perm=order)

        q, k, v = (self.rounded(self.dense(x, width, width, gain))
                   for gain in (2.0, 2.0, 1.0))
        scores = b.node("MatMul", split(q, [0, 2, 1, 3]), split(k, [0, 2, 3, 1]))
        scores = self.rounded(b.node("Mul", scores,
                                     b.constant(1 / math.sqrt(depth))))
        # As ONNX Runtime's quantizer has it.
        shares = self.rounded(self.shares(scores), "int8", 1 / 256, -128)
        mixed = b.node("MatMul", shares, split(v, [0, 2, 1, 3]))
        mixed = b.node("Transpose", self.rounded(mixed), perm=[0, 2, 1, 3])
        mixed = b.node("Reshape", mixed, b.ints(1, tokens, width))
        return self.rounded(self.dense(mixed, width, width))

    def perceptron(self, x, width, hidden):
        b = self.b
        h = self.rounded(self.dense(x, width, hidden))
        bent = b.node("Erf", b.node("Div", h, b.constant(math.sqrt(2.0))))
        bent = b.node("Mul", h, b.node("Add", bent, b.constant(1.0)))
        bent = self.rounded(b.node("Mul", bent, b.constant(0.5)), "uint8")
        return self.rounded(self.dense(bent, hidden, width))

    def vision(self, tokens, heads, depth, hidden, count=1):
        width = heads * depth
        x = self.rounded(self.x)
        for _ in range(count):
            y = self.attention(self.rounded(self.normalized(x, width)), tokens,
                               heads, depth)
            x = self.rounded(self.b.node("Add", x, y))
            y = self.perceptron(self.rounded(self.normalized(x, width)), width,
                                hidden)
            x = self.rounded(self.b.node("Add", x, y))
        return x

    def language(self, tokens, heads, depth, hidden):
        width = heads * depth
        x = self.rounded(self.x)
        y = self.attention(x, tokens, heads, depth)
        x = self.rounded(self.b.node("Add", x, y))
        x = self.rounded(self.normalized(x, width))
        y = self.perceptron(x, width, hidden)
        x = self.rounded(self.b.node("Add", x, y))
        return self.rounded(self.normalized(x, width))


def snr(np, got, wanted):
    noise = ((got.astype("f8") - wanted) ** 2).sum()
    return 10 * math.log10((wanted.astype("f8") ** 2).sum() / noise)


def block(suite, label, build, shape, least, goal):
    """`build` makes a Block's layers; the output's ratio is at least `least` dB."""
    kit = framework.needed("onnxkit")
    np, onnx = kit.np, kit.onnx
    rng = np.random.default_rng(3)
    # Tokens whose channels differ, some by much, as in trained networks.
    spread = rng.uniform(0.5, 1.5, shape[1])
    spread[rng.integers(0, shape[1], 2)] *= 2
    frames = (rng.normal(0, 1, (CALIBRATION + FRAMES, 1, *shape))
              * spread).astype("f4")
    plain = Block(kit, np, shape)
    out = build(plain)
    plain.b.output(*plain.names.values())
    observed = kit.runtime_outputs(plain.b.model(), {"x": frames})
    ranges = [(float(v[:CALIBRATION].min()), float(v[:CALIBRATION].max()))
              for v in observed]
    wanted = observed[-1][CALIBRATION:]
    made = Block(kit, np, shape, ranges)
    made.b.output(build(made))
    path, package = suite.work / f"{label}.onnx", suite.work / f"{label}.rhz"
    onnx.save(made.b.model(), path)
    x = suite.work / "x.npy"
    np.save(x, frames[CALIBRATION:, 0])
    done = suite.run("compile", path, "--fixed-point-functions", "--device",
                     "xcku060", "--goal", goal, "-o", package, "--json")
    if not suite.check(done.status == 0, f"{label}: compiles"
                       + ("" if done.status == 0 else f": {done.message}"),
                       done.command):
        return
    plan = json.loads((package / "plan.json").read_text())
    kinds = [a["kind"] for n in plan["nodes"] for a in n["actors"]]
    text = (package / "model" / "network.mlir").read_text()
    between = [line for line in text.splitlines() if "func.func @host" in line]
    suite.check(kinds.count("row_softmax") == 1 and kinds.count("row_norm") == 2
                and kinds.count("matmul") == 2
                and "@region1" not in text and len(between) <= 2,
                f"{label}: one region of the FPGA with {len(kinds)} actors, "
                "nothing on the host between them", str(between))
    y = suite.work / "y.npy"
    done = suite.run("simulate", package, "--input", x, "--output", y, "--json")
    if not suite.check(done.status == 0 and done.json["mismatches"] == 0,
                       f"{label}: RTL equals the interpreter", done.command
                       + done.message):
        return
    measured, predicted = done.json["measured"], done.json["predicted"]
    suite.check(all(measured[key] == predicted[key]
                    for key in ("interval_cycles", "latency_cycles")),
                f"{label}: {measured['interval_cycles']:.0f} cycles a frame and "
                f"{measured['latency_cycles']} to the first, as predicted",
                done.command)
    got = np.load(y).reshape(wanted.shape)
    rounded = kit.runtime_outputs(str(path), {"x": frames[CALIBRATION:]})[0]
    ours, theirs = snr(np, got, wanted), snr(np, rounded, wanted)
    suite.check(ours >= least and ours >= theirs - 0.5,
                f"{label}: {ours:.1f} dB against the float network, {theirs:.1f} "
                "dB with softmax and normalizations in float32", done.command)


def calibrated(suite):
    """A trained float network, quantized by samples: of its operations only what is
    before the block is the host's, and it classifies as well."""
    np = framework.needed("onnxkit").np
    samples = suite.work / "samples.npy"
    np.save(samples, np.load(IMAGES)[:100])
    options = "--calibration", samples, "--fixed-point-functions", "--json"
    done = suite.run("coverage", TRAINED, *options)
    host = ([] if done.status else
            sorted(o["op"] for o in done.json["ops"] if o["runs_on"] == "host"))
    suite.check(host == ["Add", "Div"], f"trained: on the host are {host}",
                done.command + done.message)
    right = {}
    for name, more in (("host", ()), ("fixed point", options[2:3])):
        done = suite.run("evaluate", TRAINED, *options[:2], *more, "--data", IMAGES,
                         "--labels", LABELS, "--layer-frames", 0, "--json")
        right[name] = 0 if done.status else done.json["correct"]
    suite.check(right["fixed point"] >= right["host"] - 2 > 400,
                f"trained: correct with the functions on the host and not: {right}",
                done.command + done.message)


def encoders(suite):
    """Six equal blocks are one body, with products of two tensors, and with the
    softmax's table, the normalizations and the scales of each trip; three of them
    in RTL, with stalls."""
    suite.tool("verilator")
    kit = framework.needed("onnxkit")
    shape, seen = (5, 8), {}
    for count in (6, 3):
        model, package = (suite.work / f"encoders{count}.{end}"
                          for end in ("onnx", "rhz"))
        kit.onnx.save(quantized(
            kit, shape, lambda b: b.vision(5, 2, 4, 16, count)), model)
        done = suite.run("compile", model, "--fixed-point-functions", "--device",
                         "xczu3eg", "--goal", "min-resources", "-o", package,
                         "--json")
        if not suite.check(done.status == 0, f"{count} encoders: compile "
                           f"{done.message[:200]}", done.command):
            return
        plan = json.loads((package / "plan.json").read_text())
        kinds = [a["kind"] for a in plan["nodes"][0]["actors"]]
        suite.check([r["trips"] for r in plan["repeats"]] == [count]
                    and kinds.count("row_softmax") == 1
                    and kinds.count("row_norm") == 2
                    and kinds.count("matmul") == 2,
                    f"{count} encoders: {plan['repeats']}")
        seen[count] = plan["predicted"]["lut"]
    suite.check(seen[6] < 1.15 * seen[3], f"LUTs: {seen}")
    for options in ((), ("--stalls-in", "40", "--stalls-out", "40")):
        done = suite.run("simulate", package, "-n", "3", *options, "--json")
        if not suite.check(done.status == 0 and done.json["mismatches"] == 0,
                           f"encoders: values {options} {done.message[:200]}",
                           done.command) or options:
            continue
        measured, predicted = done.json["measured"], done.json["predicted"]
        suite.check(all(measured[key] == predicted[key] for key in (
            "interval_cycles", "latency_cycles")),
            f"encoders: {measured} as predicted: {predicted}", done.command)


def quantized(kit, shape, build):
    """A network in QDQ form, with the ranges of its float form."""
    np = kit.np
    frames = np.random.default_rng(3).normal(
        0, 1, (CALIBRATION, 1, *shape)).astype("f4")
    plain = Block(kit, np, shape)
    build(plain)
    plain.b.output(*plain.names.values())
    made = Block(kit, np, shape, [
        (float(v.min()), float(v.max()))
        for v in kit.runtime_outputs(plain.b.model(), {"x": frames})])
    made.b.output(build(made))
    return made.b.model()


def transformer(suite):
    suite.tool("verilator")
    calibrated(suite)
    # DeiT-tiny but for 197 tokens, and DistilBERT with a quarter of its width.
    vision, language = (17, 3, 64, 768), (16, 12, 16, 768)
    block(suite, "vit", lambda b: b.vision(*vision), (17, 192), 25, "throughput=2000/s")
    block(suite, "distilbert", lambda b: b.language(*language), (16, 192), 25,
          "throughput=2000/s")
