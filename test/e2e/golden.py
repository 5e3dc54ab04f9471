# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Networks whose authors publish inputs and expected outputs: DORY's examples,
integerized into float tensors, with the last layer's integers; FINN's and
tract's with the outputs. Every one must match."""
import dataclasses
import pathlib
import re
import typing

import framework
import networks

DORY = networks.MODELS / "pulp-platform+dory_examples/examples/Nemo_examples"
# Folder, model, graph input, its shape, whether the text is channels-last,
# the last layer's file, how the model's outputs are computed from its integers.
CASES = {
    "tcn": ("8-bits-1D/TCN_T", "TCN.onnx", "input.1", (1, 1, 140), False,
            "out_layer11.txt", "logsoftmax"),
    "dscnn": ("8-bits-2D/dscnn_test", "model_int.onnx", "input.1",
              (1, 1, 49, 10), False, "out_layer10.txt", "logsoftmax"),
    "eegnet": ("8-bits-2D/eegnet_1d_8b_1xW", "eegnet_id_8b.onnx", "0",
               (1, 100, 1, 512), True, "out_layer6.txt", ""),
    "eegnet_depthwise": ("8-bits-2D/eegnetDW_1d_8b_Hx1", "eegnet_id_8b.onnx",
                         "0", (1, 100, 512, 1), True, "out_layer6.txt", ""),
    "frontnet": ("8-bits-2D/NAS_Frontnet", "Frontnet.onnx", "0",
                 (1, 1, 96, 160), False, "out_layer8.txt", "four"),
    "dronet": ("8-bits-2D/dronet_2.0", "model_int.onnx", "0",
               (1, 1, 200, 200), False, "out_layer20.txt", "sigmoid"),
}
FINN = networks.MODELS / "Xilinx+finn/src/finn/qnn-data/build_dataflow"
KWS = networks.MODELS / ("mlcommons+tiny_results_v0.7/open/hls4ml-finn/code/kws/"
                         "KWS-W3A3")
TRACT = networks.MODELS / "sonos+tract/onnx/test_cases"
# Model, its options, file and key of the input and of the output, and how the
# two are compared.
VECTORS = {
    "finn": (FINN / "model.onnx", [], FINN / "input.npy",
             FINN / "expected_output.npy", "equal"),
    "kws": (KWS / "training/training_checkpoint/QONNX_model.onnx", [],
            KWS / "inference/pynq-z2/input.npy",
            KWS / "inference/pynq-z2/expected_output.npy", "class"),
}
for _name, _rows in (("qrelu_1", 5), ("qsigmoid_1", 5),
                     ("qtdnn_10x5_101_i32_biases", 10)):
    VECTORS[_name] = (TRACT / _name / "model.onnx",
                      ["--shape", f"input={_rows},10"],
                      TRACT / _name / "io.npz", TRACT / _name / "io.npz",
                      "inner rows" if "tdnn" in _name else "float")


@dataclasses.dataclass
class Golden:
    """Inputs of a model, [frames, …], and the outputs published by an author."""
    model: pathlib.Path
    options: list
    inputs: object      # an array
    outputs: int        # number of the graph's outputs
    meets: typing.Callable  # the outputs' arrays -> (good, what was compared)


def vectors(np, name):
    model, options, given, wanted, how = VECTORS[name]

    def load(path, key):
        array = np.load(path)
        return array[key] if path.suffix == ".npz" else array
    x, y = load(given, "input"), load(wanted, "output")

    def meets(outputs):
        got, want = outputs[0], y
        if how == "class":
            got = got.reshape(len(want), -1).argmax(axis=1)
        if how == "inner rows":  # the author pads the signal with its ends
            want = want[1:-1]
        got = got.reshape(want.shape)
        bound = 1e-6 * abs(want).max() if want.dtype.kind == "f" else 0
        return ((abs(got - want) <= bound).all(),
                f"{want.size} golden outputs")
    if "tract" in str(model):  # the file holds one frame
        x = x[None]
    return Golden(model, options, x, 1, meets)


def integers(np, path):
    """One number per line; the lines with a shape are like comments."""
    lines = [line.strip(" ,\\") for line in path.read_text().splitlines()]
    return np.array([int(float(line)) for line in lines
                     if re.fullmatch(r"-?\d+(\.\d+)?", line)])


def dory(np, name):
    folder, model, argument, shape, last, layer, ending = CASES[name]
    values = integers(np, DORY / folder / "input.txt")
    if last:
        _, channels, height, width = shape
        values = values.reshape(1, height, width, channels)
        values = values.transpose(0, 3, 1, 2)
    expected = integers(np, DORY / folder / layer)

    def meets(outputs):
        got = np.concatenate([o.reshape(-1).astype(np.float64)
                              for o in outputs])
        wanted = expected.astype(np.float64)
        if ending == "logsoftmax":  # only differences of its results are exact
            wanted = wanted - wanted[0]
            got = got - got[0]
        elif ending == "sigmoid":
            wanted[1] = 1 / (1 + np.exp(-wanted[1]))
        return (got.shape == wanted.shape and (abs(got - wanted) < 0.5).all(),
                f"{len(wanted)} golden outputs of {layer}")
    return Golden(DORY / folder / model, ["--input-type", f"{argument}=u8"],
                  values.reshape(shape).astype(np.float32),
                  {"four": 4, "sigmoid": 2}.get(ending, 1), meets)


def models():
    """The name of every case by its model's file."""
    return {**{v[0]: name for name, v in VECTORS.items()},
            **{DORY / c[0] / c[1]: name for name, c in CASES.items()}}


def read(np, name):
    """The case with that name; FileNotFoundError if its files are missing."""
    return vectors(np, name) if name in VECTORS else dory(np, name)


def golden(suite, name, level):
    try:
        import numpy as np
    except ImportError:
        raise framework.Skip("no numpy: run make setup") from None
    if level == "rtl":
        suite.tool("verilator")
    try:
        case = read(np, name)
    except FileNotFoundError as why:
        raise framework.Skip(f"{why.filename} is missing") from None
    np.save(suite.work / "x.npy", case.inputs)
    package = suite.work / f"{name}.rhz"
    result = suite.run("compile", case.model, "--device", "xcku060-role",
                       "--goal", "throughput=500/s", *case.options, "-o",
                       package, "--json")
    if not suite.check(result.status == 0, f"{name}: compiles"
                       + ("" if result.status == 0 else f": {result.message}"),
                       result.command):
        return
    files = [suite.work / f"y{i}.npy" for i in range(case.outputs)]
    result = suite.run("simulate", package, "--level", level, "--input",
                       suite.work / "x.npy", *sum((["--output", f]
                                                   for f in files), []),
                       "--json")
    suite.check(result.status == 0 and result.json["mismatches"] == 0,
                f"{name}: no bit differs from the interpreter's"
                + ("" if result.status == 0 else f": {result.message}"),
                result.command)
    good, what = case.meets([np.load(f) for f in files])
    suite.check(good, f"{name}: {what} are met")
