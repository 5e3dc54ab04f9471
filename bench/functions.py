#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How far Softmax and LayerNormalization in fixed point are from the real
functions: models of one operation between 8-bit quantizers are evaluated with
--fixed-point-functions on random rows. Beside each other the codes that differ
from the correctly rounded ones (in float64), by how much at most, and the
signal-to-noise ratios of both against the real function. With --update the table
of docs/operations.md."""
import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
VENV = ROOT / ".venv/bin/python"
if VENV.exists() and pathlib.Path(sys.prefix) != VENV.parents[1]:
    os.execv(VENV, [str(VENV), *sys.argv])
sys.path.insert(0, str(ROOT / "test/e2e"))
sys.dont_write_bytecode = True
import numpy as np  # noqa: E402
import onnxkit  # noqa: E402

MARK = "<!-- bench/functions.py -->"
ROWS = 400


def codes(x, scale, zero, low, high):
    return np.clip(np.round(x / scale) + zero, low, high)


def rounded(x, scale, zero, low, high):
    return (codes(x, scale, zero, low, high) - zero) * scale


def softmax(x):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def normalized(x, centered, epsilon):
    if centered:
        x = x - x.mean(axis=-1, keepdims=True)
    return x / np.sqrt((x ** 2).mean(axis=-1, keepdims=True) + epsilon)


def evaluated(rhizome, folder, model, x):
    path = folder / "model.onnx"
    onnxkit.onnx.save(model, path)
    np.save(folder / "x.npy", x.astype("f4")[:, None])
    subprocess.run([rhizome, "evaluate", path, "--fixed-point-functions", "--data",
                    folder / "x.npy", "--output", folder / "y.npy", "--float-frames",
                    "0", "--layer-frames", "0", "--json"], check=True,
                   stdout=subprocess.DEVNULL)
    return np.load(folder / "y.npy").reshape(x.shape).astype("f8")


def snr(got, wanted):
    return 10 * np.log10((wanted ** 2).sum() / ((got - wanted) ** 2).sum())


def row(name, got, exact, scale, zero, low, high):
    best = rounded(exact, scale, zero, low, high)
    apart = np.abs(np.round((got - best) / scale))
    return (f"| {name} | {100 * (apart > 0).mean():.2f} % | {apart.max():.0f} | "
            f"{snr(got, exact):.1f} dB | {snr(best, exact):.1f} dB |")


def table(rhizome):
    lines = ["| operation, elements of a row, input scale | codes that differ | "
             "by at most | SNR in fixed point | correctly rounded |",
             "|---|---|---|---|---|"]
    rng = np.random.default_rng(1)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for length, scale, spread in ((16, 0.02, 0.8), (64, 0.05, 2.0),
                                      (197, 0.05, 2.0), (197, 0.2, 8.0),
                                      (512, 0.1, 4.0)):
            x = rounded(rng.normal(0, spread, (ROWS, length)), scale, 0, -128, 127)
            b = onnxkit.Builder(opset=17)
            q = b.quantized(b.input([1, length], name="x"), scale)
            out = (1 / 256, -128, -128, 127)
            b.output(b.quantized(b.node("Softmax", q, axis=-1), out[0], out[1]))
            got = evaluated(rhizome, folder, b.model(), x)
            lines.append(row(f"Softmax, {length}, {scale}", got, softmax(x), *out))
        for op, length, scale, shift in (
                ("LayerNormalization", 64, 0.05, 0.0),
                ("LayerNormalization", 192, 0.05, 0.0),
                ("LayerNormalization", 192, 0.4, 4.0),
                ("LayerNormalization", 768, 0.05, 1.0),
                ("RMSNormalization", 768, 0.05, 0.0)):
            x = rng.normal(shift, 20 * scale, (ROWS, length))
            x = rounded(x, scale, 0, -128, 127)
            b = onnxkit.Builder(opset=23 if op[0] == "R" else 17)
            gain = rng.uniform(0.5, 1.5, length).astype("f4")
            bias = rng.normal(0, 0.2, length).astype("f4")
            if op[0] == "R":
                bias[:] = 0
            inputs = [b.constant(gain)] + ([] if op[0] == "R" else [b.constant(bias)])
            q = b.quantized(b.input([1, length], name="x"), scale)
            out = (5 / 127, 0, -128, 127)
            b.output(b.quantized(b.node(op, q, *inputs, axis=-1, epsilon=1e-5),
                                 out[0]))
            got = evaluated(rhizome, folder, b.model(), x)
            exact = normalized(x, op[0] == "L", 1e-5) * gain + bias
            lines.append(row(f"{op}, {length}, {scale}", got, exact, *out))
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rhizome", default=ROOT / "build/bin/rhizome")
    parser.add_argument("--update", action="store_true")
    arguments = parser.parse_args()
    text = table(arguments.rhizome)
    print(text)
    if arguments.update:
        page = ROOT / "docs/operations.md"
        found = re.sub(f"{MARK}\n.*?{MARK}", lambda _: f"{MARK}\n{text}\n{MARK}",
                       page.read_text(), flags=re.S)
        page.write_text(found)


if __name__ == "__main__":
    main()
