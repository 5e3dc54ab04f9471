# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Networks that PyTorch exported as MLIR and as ONNX (examples/pytorch): both
files give the same, in float32, as integers and in hardware. Also the other inputs
of the importer: networks of integers, kernels for a device."""
import pathlib

import framework
import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDER = ROOT / "examples/pytorch"
IMAGES = ROOT / "examples/digits/test_images.npy"
LABELS = ROOT / "examples/digits/test_labels.npy"
NETWORKS = ("mlp", "cnn", "transformer")
FRAMES = 200
# Results of up to 33, in float32, summed in two orders.
TOLERANCE = 1e-4


def calibration(suite):
    path = suite.work / "calibration.npy"
    np.save(path, np.load(IMAGES)[:FRAMES])
    return "--calibration", path


def evaluated(suite, name, *options):
    """The outputs of both files, and the messages."""
    outputs, answers = [], []
    for end in ("mlir", "onnx"):
        out = suite.work / f"{name}-{end}.npy"
        result = suite.run("evaluate", FOLDER / f"{name}.{end}", "--data",
                           IMAGES, "--labels", LABELS, "--output", out,
                           "--json", *options)
        if not suite.check(result.status == 0, f"{name}.{end}: "
                           f"{result.message[:200]}", result.command):
            return None
        outputs.append(np.load(out))
        answers.append(result.json)
    return *outputs, *answers


def same_results(suite):
    calibrated = calibration(suite)
    for name in NETWORKS:
        found = evaluated(suite, name, "--level", "float")
        if found:
            mlir, onnx, answer, _ = found
            torch = np.load(FOLDER / f"{name}.npy")
            off = np.abs(mlir[:len(torch)].reshape(torch.shape) - torch).max()
            suite.check(off < TOLERANCE, f"{name} in PyTorch: {off}")
            suite.check(np.abs(mlir - onnx).max() < TOLERANCE,
                        f"{name} in float32: {np.abs(mlir - onnx).max()}")
            suite.check(answer["accuracy"] > 0.96,
                        f"{name}: {answer['accuracy']} of the classes")
        found = evaluated(suite, name, *calibrated)
        if found:
            mlir, onnx, mine, other = found
            suite.check((mlir == onnx).all(),
                        f"{name} as integers: {np.sum(mlir != onnx)} values "
                        f"of {mlir.size} differ")
            suite.check(mine["correct"] == other["correct"] and
                        mine["accuracy"] > 0.95,
                        f"{name}: {mine['correct']} and {other['correct']} "
                        "right")


def any_name(suite):
    """A file's content determines its kind, as text or as bytecode, not its name."""
    renamed, code = suite.work / "renamed.onnx", suite.work / "code.bin"
    renamed.write_bytes((FOLDER / "mlp.mlir").read_bytes())
    made = framework.run_program(
        [pathlib.Path(suite.rhizome).parent / "rhizome-opt", "--emit-bytecode",
         FOLDER / "mlp.mlir", "-o", code])
    suite.check(made.status == 0, f"bytecode: {made.message}", made.command)
    for path in (renamed, code):
        result = suite.run("evaluate", path, "--data", IMAGES, "--labels",
                           LABELS, "--level", "float", "--json")
        suite.check(result.status == 0 and result.json["correct"] == 440,
                    f"{path.name}: {result.message[:200]}", result.command)


def compiled(suite, source, package, *options):
    result = suite.run("compile", source, "--goal", "throughput=100000/s", "-o",
                       suite.work / package, "--json", *options)
    suite.check(result.status == 0, f"{source.name}: {result.message[:200]}",
                result.command)
    return result.json if result.status == 0 else None


def hardware(suite):
    """The CNN in RTL, and as integers from both files."""
    calibrated = calibration(suite)
    plans = [compiled(suite, FOLDER / f"cnn.{end}", f"{end}.rhz",
                      *calibrated) for end in ("mlir", "onnx")]
    if not all(plans):
        return
    # The ONNX exporter has put the batch norm into the weights: the constants
    # differ, the hardware's shape doesn't.
    shapes = [[plan["predicted"][key] for key in
               ("interval_cycles", "latency_cycles", "dsp", "bram")]
              for plan in plans]
    suite.check(shapes[0] == shapes[1], f"predictions: {shapes}")
    outputs = []
    for end in ("mlir", "onnx"):
        out = suite.work / f"rtl-{end}.npy"
        result = suite.run("simulate", suite.work / f"{end}.rhz", "--input",
                           IMAGES, "-n", 20, "--output", out, "--json")
        answer = result.json or {}
        suite.check(result.status == 0 and answer.get("mismatches") == 0,
                    f"cnn.{end} in RTL: {result.message[:200]}", result.command)
        measured = answer.get("measured") or {}
        suite.check(measured.get("interval_cycles") ==
                    answer.get("predicted", {}).get("interval_cycles"),
                    f"cnn.{end}: {measured} cycles")
        outputs.append(np.load(out))
    suite.check((outputs[0] == outputs[1]).all(), "RTL from MLIR and from ONNX")


def integer_files(suite):
    """The network of a package, and one written by hand, as input files."""
    if not compiled(suite, FOLDER / "mlp.mlir", "mlp.rhz",
                    *calibration(suite)):
        return
    inner = suite.work / "inner.mlir"
    inner.write_text((suite.work / "mlp.rhz/model/network.mlir").read_text())
    compiled(suite, inner, "again.rhz")
    outputs = []
    for package in ("mlp.rhz", "again.rhz"):
        out = suite.work / f"{package}.npy"
        result = suite.run("simulate", suite.work / package, "--level",
                           "functional", "--input", IMAGES, "--output", out,
                           "--json")
        suite.check(result.status == 0, f"{package}: {result.message[:200]}",
                    result.command)
        outputs.append(np.load(out))
    suite.check((outputs[0] == outputs[1]).all(), "the package's own network")
    result = suite.run("evaluate", inner, "--data", IMAGES, "--labels", LABELS,
                       "--json")
    suite.check(result.status == 0 and result.json["accuracy"] > 0.95,
                f"integers alone: {result.message[:200]}", result.command)
    result = suite.run("compile", inner, "--number-format", "fixed<4,4>",
                       "--json")
    suite.check(result.status == 1 and "needs no --calibration" in result.out,
                f"a format for integers: {result.message[:200]}", result.command)


REFUSED = {
    "a dialect that nobody has lowered": (
        'func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {\n'
        '  %w = arith.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>\n'
        '  %y = "stablehlo.tanh"(%x) : (tensor<4xf32>) -> tensor<4xf32>\n'
        '  return %y : tensor<4xf32>\n}\n',
        ("evaluate", "--data", IMAGES),
        ("stablehlo.tanh", "refused.mlir:3:8", "linalg-on-tensors")),
    "double precision": (
        'module {\n func.func @main(%x: tensor<2xf64>) -> tensor<2xf32> {\n'
        '  %c = osa.constant {value = dense<1.0> : tensor<2xf32>} : () -> '
        'tensor<2xf32>\n  return %c : tensor<2xf32>\n }\n}\n',
        ("coverage",), ("tensor<2xf64>", "float32")),
    "a kernel in a network's place": (
        'func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {\n'
        '  return %x : tensor<2xf32>\n}\n',
        ("evaluate", "--data", IMAGES), ("this is a kernel",)),
}


def refusals(suite):
    for label, (text, command, says) in REFUSED.items():
        path = suite.work / "refused.mlir"
        path.write_text(text)
        result = suite.run(command[0], path, *command[1:], "--json")
        missing = [words for words in says if words not in result.out]
        suite.check(result.status == 1 and not missing,
                    f"{label}: the answer lacks {missing}: {result.message[:200]}",
                    result.command)


def kernels_for_devices(suite):
    """The generator of kernels reports on every operation of one in floats."""
    kernel = suite.work / "functions.cfd"
    kernel.write_text("var input u : [4]\nvar output v : [4]\n"
                      "v[i] = exp(u[i]) + 1\n")
    helmholtz = ROOT / "examples/kernels/helmholtz.cfd"
    result = suite.run("coverage", helmholtz, "--json")
    ops = (result.json or {}).get("ops", [])
    suite.check(result.status == 0 and len(ops) == 7 and all(
        op["generators"]["loops"] is True for op in ops),
        f"coverage of a kernel: {str(ops)[:300]}", result.command)
    for command in ("compile", "explore"):
        result = suite.run(command, kernel, "--numbers", "float<15,30>",
                           "--device", "xczu3eg", "--json")
        refused = str(result.json)
        suite.check(result.status == 1 and "'exp'" in refused and
                    "linalg.generic" in refused,
                    f"{command} of a kernel for a device: {result.message[:200]}",
                    result.command)
    result = suite.run("compile", kernel, "--max-nodes", "2")
    suite.check(result.status == 2 and "--max-nodes" in result.err,
                "a kernel takes no --max-nodes", result.command)


def torch_mlir(suite):
    same_results(suite)
    any_name(suite)
    integer_files(suite)
    refusals(suite)
    kernels_for_devices(suite)


def torch_mlir_rtl(suite):
    hardware(suite)
