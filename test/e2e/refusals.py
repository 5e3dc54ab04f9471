# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Refusals come at once, and their remedies work: each is
tried. Also the reports of `evaluate` and `simulate` on real data."""
import json

import networks
import numpy as np
import onnx
import onnx.defs
from onnx import TensorProto, helper

from onnxkit import Builder, feeds_for, is_refused, runtime_outputs

QONNX = "qonnx.custom_op.general"


def saved(suite, label, model):
    path = suite.work / f"{label.replace(' ', '_')}.onnx"
    onnx.save(model, path)
    return path


def covered(suite, label, model, *options, fpga=True):
    """Checks that a model is accepted, and has operations on the FPGA."""
    path = saved(suite, label, model)
    result = suite.run("coverage", path, *options, "--json")
    answer = result.json or {}
    return suite.check(result.status == (0 if fpga else 1)
                       and (answer.get("fpga", 0) > 0) == fpga, f"{label}: {answer.get('fpga')} operations on "
                       f"the FPGA; {result.message[:200]}", result.command)


def samples(suite, model, frames=6):
    """Normally distributed inputs as a file."""
    path = suite.work / "samples.npz"
    np.savez(path, **{k: (v / 64).astype(np.float32)
                      for k, v in feeds_for(model, frames, step=1).items()})
    return path


def one_input_too_many(suite):
    """A node for each of ONNX's operations, in one model: all are named."""
    b = Builder(opset=25, ir=11)
    x = b.input([1, 2])
    wanted = {}
    for schema in onnx.defs.get_all_schemas_with_history():
        most = schema.max_input
        # An operation's latest form that takes the most inputs.
        if schema.domain == "" and schema.since_version <= 25:
            known = wanted.get(schema.name, 0)
            wanted[schema.name] = max(known, most)
    wanted = {op: n for op, n in wanted.items() if n < 20}
    for op, most in wanted.items():
        b.node(op, *[x] * (most + 1))
    b.output(*[n.output[0] for n in b.nodes])
    path = saved(suite, "one input too many", b.model())
    result = suite.run("coverage", path, "--json")
    told = {r["node"]: r["reason"]
            for r in (result.json or {}).get("refused", [])}
    bad = [n.op_type for n in b.nodes
           if f"it has {len(n.input)} inputs" not in told.get(n.name, "")
           and "is not supported" not in told.get(n.name, "")]
    suite.check(result.status == 1 and not bad and len(told) > 150,
                f"an input too many: {len(told)} of {len(b.nodes)} refused at "
                f"once, not {bad}", result.command)
    counted = sum("inputs" in reason for reason in told.values())
    suite.check(counted > 120, f"{counted} of them for their inputs",
                result.command)


def groups(suite):
    """Similar refusals are one message with names and a count."""
    b = Builder()
    x = b.input([1, 4])
    for _ in range(9):
        x = b.node("Cast", b.node("NonZero", x), to=TensorProto.FLOAT)
    path = saved(suite, "nine times", b.model())
    result = suite.run("coverage", path)
    suite.check(result.status == 1 and "and 3 more (NonZero, 9 times): the "
                "operation NonZero is not supported" in result.err
                and result.err.count("error:") == 1,
                f"alike refusals: {result.message[:160]}", result.command)
    b = Builder()
    x = b.input([1, 4])
    for _ in range(8):
        x = b.node("MatMul", x, b.constant(np.eye(4)))
    model = b.model()
    path = suite.work / "external.onnx"
    onnx.save_model(model, path, save_as_external_data=True,
                    location="external.bin", size_threshold=0)
    (suite.work / "external.bin").unlink()
    result = suite.run("coverage", path)
    suite.check(result.status == 1 and result.err.count("error:") == 1
                and "and 2 more (initializer, 8 times): its external data is "
                "missing" in result.err,
                f"missing external data: {result.message[:200]}",
                result.command)


def normalized(op, opset=18, **attributes):
    """Convolutions with a host operation between them."""
    b = Builder(opset=opset, ir=10)
    x = b.input([1, 4, 6, 6])
    y = b.node("Conv", x, b.constant(b.rng.normal(0, 0.3, (8, 4, 3, 3))),
               pads=[1] * 4)
    more = []
    if op in ("GroupNormalization", "InstanceNormalization"):
        size = attributes.get("num_groups", 8) if opset < 21 else 8
        more = [b.constant(np.ones(size)), b.constant(np.zeros(size))]
    y = b.node("Relu", b.node(op, y, *more, **attributes))
    b.node("Conv", y, b.constant(b.rng.normal(0, 0.3, (2, 8, 3, 3))))
    return b.model()


def lstm(layers):
    b = Builder()
    x = b.input([5, 1, 3])
    y = b.node("LSTM", x, b.constant(b.rng.normal(0, 0.3, (1, 16, 3))),
               b.constant(b.rng.normal(0, 0.3, (1, 16, 4))), outputs=1,
               hidden_size=4)
    if layers:
        y = b.node("Reshape", y, b.ints(1, 20))
        b.node("MatMul", y, b.constant(b.rng.normal(0, 0.3, (20, 6))))
    return b.model()


def attention_block(length=4, width=8, heads=2):
    """LayerNormalization, self attention, a residual sum; again with a Gelu."""
    b = Builder(opset=20, ir=9)
    x = b.input([1, length, width])

    def weights(*shape):
        return b.constant(b.rng.normal(0, 0.3, shape))

    def normal(v):
        return b.node("LayerNormalization", v, b.constant(np.ones(width)),
                      b.constant(np.zeros(width)), axis=-1)

    shape = b.ints(1, length, heads, width // heads)
    n = normal(x)
    q, k, v = (b.node("Transpose", b.node("Reshape", b.node(
        "MatMul", n, weights(width, width)), shape), perm=perm)
        for perm in ([0, 2, 1, 3], [0, 2, 3, 1], [0, 2, 1, 3]))
    p = b.node("Softmax", b.node("Mul", b.node("MatMul", q, k),
                                 b.constant(np.float32(0.5))), axis=-1)
    y = b.node("Transpose", b.node("MatMul", p, v), perm=[0, 2, 1, 3])
    y = b.node("Reshape", y, b.ints(1, length, width))
    y = b.node("Add", b.node("MatMul", y, weights(width, width)), x)
    f = b.node("Gelu", b.node("Add", b.node("MatMul", normal(y),
                                            weights(width, 16)),
                              weights(16)))
    b.node("Add", b.node("MatMul", f, weights(16, width)), y)
    return b.model()


def float_networks(suite):
    """Whatever the host computes between layers, --calibration and
    --number-format do what the refusal says."""
    models = {"GroupNormalization": normalized("GroupNormalization", 21,
                                               num_groups=2),
              "GroupNormalization of opset 18": normalized(
                  "GroupNormalization", num_groups=2),
              "InstanceNormalization": normalized("InstanceNormalization"),
              "LRN": normalized("LRN", size=3),
              "LpNormalization": normalized("LpNormalization", axis=1),
              "LSTM": lstm(layers=True),
              "an attention block": attention_block()}
    for label, model in models.items():
        is_refused(suite, label, model, "--calibration DATA or "
                   "--number-format 'fixed<I,F>'", command="compile")
        covered(suite, f"{label} calibrated", model, "--calibration",
                samples(suite, model))
        covered(suite, f"{label} in fixed point", model, "--number-format",
                "fixed:12,6")
    # The calibrated network is close to the float one.
    model = attention_block()
    path = saved(suite, "block", model)
    data = samples(suite, model, 20)
    out = suite.work / "block.npy"
    result = suite.run("evaluate", path, "--data", data, "--calibration", data,
                       "--output", out, "--json")
    if suite.check(result.status == 0, f"the block is evaluated: "
                   f"{result.message[:200]}", result.command):
        feeds = {k: v for k, v in np.load(data).items()}
        want = runtime_outputs(model, feeds)[0]
        got = np.load(out)
        noise = 10 * np.log10((want ** 2).sum() / ((got - want) ** 2).sum())
        suite.check(noise > 25, f"the block at 8 bits: {noise:.1f} dB",
                    result.command)
    # Without a layer there is nothing to build, with any options.
    alone = lstm(layers=False)
    for options in ((), ("--number-format", "fixed:12,6"),
                    ("--calibration", samples(suite, alone))):
        is_refused(suite, "an LSTM alone", alone, "rhizome evaluate",
                   options=options, command="compile")
    path = saved(suite, "alone", alone)
    result = suite.run("evaluate", path, "--data", samples(suite, alone),
                       "--json")
    forms = [f["form"] for f in (result.json or {}).get("forms", [])]
    suite.check(result.status == 0 and forms == ["host", "float"],
                f"evaluate computes it: {forms} {result.message[:200]}",
                result.command)


def conv_of_bytes(kind, how):
    """`how`: plain, dequantized or ConvInteger."""
    b = Builder(opset=21, ir=10)
    x = b.input([1, 1, 6, 6], kind)
    w = b.constant(b.draw((2, 1, 3, 3), kind), kind)
    if how == "dequantized":
        x, w = (b.dequantized(v, 0.5, kind=kind) for v in (x, w))
    b.node("ConvInteger" if how == "ConvInteger" else "Conv", x, w)
    return b.model()


def product(kind, how):
    b = Builder(opset=21, ir=10)
    x = b.input([1, 6], kind)
    w = b.constant(b.draw((6, 3), kind), kind)
    if how == "dequantized":
        x, w = (b.dequantized(v, 0.5, kind=kind) for v in (x, w))
    b.node("MatMul" if how == "dequantized" else how, x, w)
    return b.model()


def remedies(suite):
    is_refused(suite, "uint8 Conv", conv_of_bytes("uint8", "plain"),
               "put a DequantizeLinear before each of its inputs, or use "
               "ConvInteger")
    covered(suite, "dequantized", conv_of_bytes("uint8", "dequantized"))
    covered(suite, "ConvInteger", conv_of_bytes("uint8", "ConvInteger"))
    is_refused(suite, "uint8 MatMul", product("uint8", "MatMul"),
               "put a DequantizeLinear before each of its inputs, or use "
               "MatMulInteger")
    covered(suite, "MatMulInteger", product("uint8", "MatMulInteger"))
    is_refused(suite, "int16 MatMulInteger", product("int16", "MatMulInteger"),
               "put a DequantizeLinear before each")
    covered(suite, "int16 dequantized", product("int16", "dequantized"))

    b = Builder()
    b.node("Conv", b.input([16, 1, 6, 6]),
           b.constant(b.rng.normal(0, 0.3, (2, 1, 3, 3))))
    model = b.model()
    for options in ((), ("--number-format", "fixed:8,4"),
                    ("--calibration", samples(suite, model))):
        is_refused(suite, "batch 16", model, "a batch of 16", "--shape",
                   options=options, command="compile")
    covered(suite, "batch 1", model, "--shape", "x0=1,1,6,6",
            "--number-format", "fixed:8,4")

    def quantized(constant):
        b = Builder(opset=13)
        x = b.input([1, 4])
        s = b.constant(0.5) if constant else b.input([], name="s")
        b.node("Quant", x, s, b.constant(0.0), b.constant(4.0), domain=QONNX,
               signed=1, narrow=0)
        b.node("MatMul", b.nodes[-1].output[0], b.weights(4, 2))
        return b.model()
    is_refused(suite, "a scale from outside", quantized(False),
               "its scale is not constant", "store the scale as an initializer")
    covered(suite, "a constant scale", quantized(True))


def quantized_network(scale=0.125):
    """x, quantized to int8, through a dense layer that is quantized again; its
    Relu bends below, its scale saturates above."""
    b = Builder(opset=13)
    x = b.quantized(b.input([1, 8]), scale)
    w = b.dequantized(b.constant(np.eye(8) * 12, "int8"), 0.25)
    b.quantized(b.node("Relu", b.node("MatMul", x, w)), scale, -128)
    return b.model()


def saturation(suite):
    """Counted by hand: x triples, is bent at 0 by the Relu, and saturates above
    255 codes."""
    model = quantized_network()
    path = saved(suite, "saturating", model)
    rng = np.random.default_rng(2)
    x = (rng.integers(-200, 201, (20, 1, 8)) * 0.125).astype(np.float32)
    data = suite.work / "x.npy"
    np.save(data, x)
    codes = np.rint(x / 0.125)
    first = ((codes < -128).sum(), (codes > 127).sum())
    second = (np.maximum(3 * codes.clip(-128, 127), 0) > 255).sum()
    package = suite.work / "saturating.rhz"
    made = suite.run("compile", path, "-o", package, "--json")
    suite.check(made.status == 0, f"compiles: {made.message[:200]}",
                made.command)
    suite.check("saturates" in (package / "model/network.mlir").read_text(),
                "the package says which requantizers saturate")
    for args in (["evaluate", path, "--data", data],
                 ["evaluate", package, "--data", data],
                 ["simulate", package, "--input", data, "--level",
                  "functional"]):
        result = suite.run(*args, "--json")
        told = [(s["low"], s["high"])
                for s in (result.json or {}).get("saturation", [])]
        suite.check(told == [tuple(map(int, first)), (0, int(second))],
                    f"{args[0]} {args[1].name}: {told}, wanted {first} and "
                    f"{(0, second)}", result.command)
        words = suite.run(*args).out
        suite.check("values that saturate" in words and "above %" in words,
                    f"{args[0]} {args[1].name} tells it", result.command)
    # Relu bends at 0, which cuts nothing off; the upper end does.
    at_end = np.mean(np.maximum(3 * codes.clip(-128, 127), 0) >= 255)
    result = suite.run("run", package, "--driver", "cpu", "--input", data)
    suite.check(f"note: {100 * at_end:.0f} % of the values" in result.err
                and "is cut off" in result.err,
                f"run tells it, {at_end}: {result.err}", result.command)
    result = suite.run("run", package, "--driver", "cpu", "-n", 3)
    suite.check("cut off" not in result.err, "not of random data",
                result.command)
    np.save(data, x * 0.1)
    result = suite.run("simulate", package, "--input", data, "--level",
                       "functional")
    suite.check(result.status == 0 and "saturate" not in result.out,
                "without any nothing is said", result.command)
    result = suite.run("simulate", package, "-n", 2, "--level", "functional",
                       "--json")
    suite.check("saturation" not in (result.json or {"saturation": 0}),
                "random data say nothing", result.command)


def evaluations(suite):
    model = quantized_network()
    path = saved(suite, "quantized", model)
    is_refused(suite, "a number format for a quantized model", model,
               "no layer of this model has float weights",
               "drop --number-format",
               options=("--number-format", "fixed:8,4"), command="compile")
    for text, says in (("fixed<64,32>", "2 to 16 bits"),
                       ("fixed:16", "expected fixed<integer bits")):
        result = suite.run("compile", path, "--number-format", text)
        suite.check(result.status == 2 and says in result.err,
                    f"{text}: {result.message[:120]}", result.command)
    result = suite.run("compile", path, "--normalize", "0..1")
    suite.check(result.status == 2 and "did you mean "
                "'--calibration-normalize'" in result.err,
                f"--normalize: {result.message[:120]}", result.command)

    # Pixels without a range: the option of this command is named, and evaluate
    # looks at its data before it calibrates.
    b = Builder(opset=13)
    b.node("MatMul", b.input([1, 8]), b.constant(b.rng.normal(0, 1, (8, 4))))
    plain = saved(suite, "plain", b.model())
    pixels, reals = suite.work / "pixels.npy", suite.work / "reals.npy"
    np.save(pixels, np.zeros((30, 1, 8), np.uint8))
    np.save(reals, suite_reals := np.random.default_rng(1).normal(
        size=(30, 1, 8)).astype(np.float32))
    result = suite.run("compile", plain, "--calibration", pixels)
    suite.check(result.status == 1 and "say how with --calibration-normalize"
                in result.err, f"pixels for calibration: "
                f"{result.message[:160]}", result.command)
    result = suite.run("evaluate", plain, "--data", pixels, "--calibration",
                       suite.work / "nowhere.npy")
    suite.check(result.status == 1 and "say how with --normalize" in result.err,
                f"evaluate looks at its data first: {result.message[:160]}",
                result.command)

    labels = suite.work / "labels.npy"
    np.save(labels, np.zeros(30, np.int64))
    run = ["evaluate", plain, "--data", reals, "--labels", labels]
    result = suite.run(*run, "--json")
    forms = [f["form"] for f in (result.json or {}).get("forms", [])]
    suite.check(forms == ["host", "float"], f"an unquantized model: {forms}",
                result.command)
    result = suite.run(*run)
    suite.check("nothing of this model runs on the FPGA" in result.out
                and "integer" not in result.out, "and the same in words",
                result.command)
    run += ["--calibration", reals]
    result = suite.run(*run, "--float-frames", 10, "--json")
    integer, real = (result.json or {}).get("forms", [{}, {}])
    suite.check(real.get("frames") == 10 and 0 <= real.get(
        "integer_correct", -1) <= 10 and integer.get("integer_correct")
        == integer.get("correct"), f"fewer frames in float: {real}",
        result.command)
    result = suite.run(*run, "--float-frames", 10)
    suite.check("float is over the first 10 frames; there the integer model "
                "has" in result.out, "and the same in words", result.command)

    suite_reals[[4, 9]] = np.nan
    np.save(reals, suite_reals)
    result = suite.run("evaluate", path, "--data", reals)
    suite.check(result.status == 1 and "frame 4" in result.err
                and result.err.count("meets NaN") == 1,
                f"no numbers: {result.message[:200]}", result.command)
    result = suite.run("compile", plain, "--raw-integers", "--tensor-format",
                       "x0=fixed:8,4", "--json")
    told = json.dumps(result.json)
    suite.check("--raw-integers says" in told and "--tensor-format differs"
                in told, f"options that contradict: {told[:200]}",
                result.command)
    result = suite.run("explore", networks.ROOT / "examples/pytorch/cnn.onnx",
                       "--number-format", "fixed<4,4>",
                       "--tensor-format", "node_rel=fixed<4,6>")
    suite.check(result.status == 1 and "did you mean 'node_relu'?" in
                result.err, f"a format of nothing: {result.message[:200]}",
                result.command)


def folders(suite):
    """A package, and any other folder, in place of a model's file."""
    package = suite.work / "again.rhz"
    suite.run("compile", networks.ROOT / "examples/digits/digits_qdq_int8.onnx",
              "-o", package)
    for path, words in ((package, "this is a package: it is compiled"),
                        (suite.work, "this is a folder")):
        result = suite.run("compile", path)
        suite.check(result.status == 1 and words in result.err,
                    f"refused: {result.message[:200]}", result.command)


def indices(suite):
    """A network in MLIR whose input is whole numbers is no kernel."""
    path = suite.work / "indices.mlir"
    path.write_text("""
#same = affine_map<(d0) -> (d0)>
func.func @main(%index: tensor<4xi64>) -> tensor<4xf32> {
  %empty = tensor.empty() : tensor<4xf32>
  %real = linalg.generic {indexing_maps = [#same, #same],
      iterator_types = ["parallel"]}
      ins(%index : tensor<4xi64>) outs(%empty : tensor<4xf32>) {
  ^bb0(%a: i64, %o: f32):
    %f = arith.sitofp %a : i64 to f32
    linalg.yield %f : f32
  } -> tensor<4xf32>
  return %real : tensor<4xf32>
}
""")
    result = suite.run("coverage", path)
    suite.check(result.status == 1 and "1 on the host" in result.out,
                f"a network, its loop on the host: {result.message[:200]}",
                result.command)


def sizes(suite):
    """A tensor whose elements cannot be counted."""
    path = suite.work / "huge.mlir"
    path.write_text("""
func.func @main(%x: tensor<2000000x2000000xf32>)
    -> tensor<2000000x2000000xf32> {
  return %x : tensor<2000000x2000000xf32>
}
""")
    result = suite.run("compile", path)
    suite.check(result.status == 1 and ", which has more elements than the "
                "1099511627776 that are supported" in result.err,
                f"refused: {result.message[:200]}", result.command)


def refusals(suite):
    folders(suite)
    sizes(suite)
    indices(suite)
    one_input_too_many(suite)
    groups(suite)
    remedies(suite)
    float_networks(suite)
    saturation(suite)
    evaluations(suite)
