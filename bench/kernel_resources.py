#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Predicted resources of kernels' units against Yosys: serial and parallel ones
of bench/kernels, at small sizes, of examples/kernels and of a 3-D convolution, a
7-point stencil and a matrix chain, in fixed and floating point. Prints a row
for each unit and the errors, and keeps the table with --write. Modules are
cached by content (rhizome synth).
    bench/kernel_resources.py [NAME …] [--rhizome build/bin/rhizome] [--write]"""
import argparse
import json
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
KEPT = ROOT / "bench" / "kernel_resources.txt"
KINDS = ("lut", "ff", "dsp", "bram")
LARGE = 200  # LUTs or FFs, above which errors are in percent
SMALLER = 8  # PolyBench's sizes are divided by this

INLINE = {
    "conv3d": "var input u : [10 10 10] halo [1 1 1]\n"
              "var input w : [3 3 3]\nvar output v : [10 10 10]\n"
              "v[i,j,k] = sum(a,b,c) w[a,b,c] * u[i+a-1, j+b-1, k+c-1]\n",
    "stencil": "var input u : [12 12 12] halo [1 1 1]\n"
               "var input c : []\nvar output v : [12 12 12]\n"
               "v[i,j,k] = u[i,j,k] + c * (u[i-1,j,k] + u[i+1,j,k] "
               "+ u[i,j-1,k] + u[i,j+1,k] + u[i,j,k-1] + u[i,j,k+1] "
               "- 6 * u[i,j,k])\n",
    "chain": "var input A : [16 12]\nvar input B : [12 20]\n"
             "var input C : [20 8]\nvar output E : [16 8]\n"
             "E = A # B # C . [[1 2] [3 4]]\n",
    "product": "var input A : [32 32]\nvar input B : [32 32]\n"
               "var output C : [32 32]\nC = A # B . [[1 2]]\n",
    "sum": "var input a : [512]\nvar input b : [512]\nvar output c : [512]\n"
           "c = a * b + a - 0.75 * b\n",
}
POLYBENCH = ("gemm", "2mm", "3mm", "atax", "bicg", "gesummv", "mvt")
HELMHOLTZ_STAGES = ("--stages", "7", "--resident", "S", "--copies",
                    "line 13=11x1x1x1", "--copies", "line 15=11x1x1x1")
# Kernel, numbers, device, options.
ROWS = [
    ("helmholtz", "fixed<8,24>", "xcu280", ()),
    ("helmholtz", "fixed<24,40>", "xcu280", ()),
    ("helmholtz", "float<8,23>", "xcu280", ()),
    ("helmholtz", "float<11,52>", "xcu280", ()),
    ("helmholtz", "fixed<8,24>", "xcu280", ("--resident", "S", "--stages",
                                            "7")),
    ("helmholtz", "fixed<8,24>", "xcu280", HELMHOLTZ_STAGES),
    ("helmholtz", "fixed<8,24>", "xcu280", ("--words", "16")),
    ("helmholtz", "fixed<8,24>", "xcu280", ("--goal",
                                            "max-throughput,dsp=100")),
    ("helmholtz", "float<8,23>", "xcu280", ("--goal",
                                            "max-throughput,dsp=100")),
    ("interpolation", "fixed<8,8>", "xcu280", ()),
    ("gradient", "fixed<8,16>", "xcu280", ()),
    ("heat", "fixed<4,14>", "xcu280", ()),
    ("pooling", "fixed<6,10>", "xcu280", ()),
    ("convolution", "fixed<6,10>", "xcu280", ()),
    ("conv3d", "fixed<8,16>", "xcu280", ()),
    ("conv3d", "float<8,23>", "xcu280", ()),
    ("stencil", "fixed<8,16>", "xcu280", ()),
    ("stencil", "float<5,10>", "xcu280", ()),
    ("chain", "fixed<8,24>", "xcu280", ()),
    ("chain", "fixed<8,24>", "xcu280", ("--goal", "max-throughput,dsp=60")),
    *((name, "fixed<8,24>", "xcu280", ()) for name in POLYBENCH),
    ("gemm", "float<8,23>", "xcu280", ()),
    ("3mm", "float<8,23>", "xcu280", ("--goal", "max-throughput,dsp=40")),
    ("atax", "fixed<8,24>", "xcu280", ("--goal", "max-throughput,dsp=60")),
    ("product", "float<8,23>", "xcu280", ("--copies", "1=4x4x1")),
    ("product", "fixed<16,16>", "xc7z020", ()),
    ("product", "fixed<8,24>", "xc7a35t", ()),
    ("sum", "fixed<8,24>", "xczu3eg", ()),
    ("product", "fixed<3,5>", "lfe5u-25f", ()),
    ("helmholtz", "fixed<8,24>", "lfe5u-85f", ()),
    ("conv3d", "fixed<8,16>", "xc7z020", ()),
]


def source(name, folder):
    """The kernel's file; PolyBench's with smaller sizes."""
    if name not in POLYBENCH and name not in INLINE:
        return ROOT / "examples/kernels" / f"{name}.cfd"
    path = folder / f"{name}.cfd"
    text = INLINE.get(name)
    if text is None:
        text = (ROOT / f"bench/kernels/{name}.cfd").read_text()
        text = re.sub(r"^(var .*\[)([\d ]*)\]", lambda m: m[1] + " ".join(
            str(max(2, int(n) // SMALLER)) for n in m[2].split()) + "]",
            text, flags=re.MULTILINE)
    path.write_text(text)
    return path


def run(command):
    done = subprocess.run([str(part) for part in command],
                          capture_output=True, text=True)
    try:
        return json.loads(done.stdout)
    except json.JSONDecodeError:
        sys.exit(f"{' '.join(map(str, command))}: {done.stderr.strip()}")


def measure(rhizome, row, folder):
    """(predicted, measured) of a unit, by kind."""
    name, numbers, device, options = row
    package = folder / "unit.rhz"
    shutil.rmtree(package, ignore_errors=True)
    built = run([rhizome, "compile", source(name, folder), "--numbers",
                 numbers, "--device", device, *options, "-o", package,
                 "--json"])
    if not built["ok"]:
        sys.exit(f"{name} {numbers} {device}: {built}")
    node = run([rhizome, "synth", package, "--json"])["nodes"][0]
    return [{kind: of.get(kind, 0) for kind in KINDS}
            for of in (node["predicted"], node["measured"])]


def main():
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="only these kernels")
    parser.add_argument("--rhizome", default=ROOT / "build/bin/rhizome")
    parser.add_argument("--write", action="store_true",
                        help=f"keep the table in {KEPT.relative_to(ROOT)}")
    options = parser.parse_args()
    rows = [row for row in ROWS
            if not options.names or row[0] in options.names]
    lines = ["Predicted and measured by Yosys.", "",
             f"{'kernel':13} {'numbers':12} {'device':9} "
             f"{'LUT':>15} {'error':>6} {'FF':>15} {'error':>6} "
             f"{'DSP':>9} {'BRAM':>11}  options"]
    print("\n".join(lines), flush=True)
    errors = {"lut": [], "ff": []}
    exact = {"dsp": 0, "bram": 0}
    with tempfile.TemporaryDirectory() as folder:
        for row in rows:
            predicted, measured = measure(options.rhizome, row,
                                          pathlib.Path(folder))
            cells = []
            for kind, width in (("lut", 15), ("ff", 15)):
                p, m = predicted[kind], measured[kind]
                error = (p - m) / m if m else 0
                if m >= LARGE:
                    errors[kind].append(abs(error))
                cells.append(f"{f'{p:,}, {m:,}':>{width}} {error:+6.1%}")
            for kind, width in (("dsp", 9), ("bram", 11)):
                p, m = predicted[kind], measured[kind]
                exact[kind] += p == m
                cells.append(f"{f'{p:g}, {m:g}':>{width}}")
            name, numbers, device, extra = row
            lines.append(f"{name:13} {numbers:12} {device:9} "
                         f"{' '.join(cells)}  {' '.join(extra)}".rstrip())
            print(lines[-1], flush=True)
    for kind, all_errors in errors.items():
        if all_errors:
            lines.append(
                f"{kind.upper()}, {len(all_errors)} units of {LARGE} and more:"
                f" median {statistics.median(all_errors):.1%}, worst "
                f"{max(all_errors):.1%}")
    lines.append("exact: " + ", ".join(
        f"{kind.upper()} {count} of {len(rows)}"
        for kind, count in exact.items()))
    print("\n".join(line for line in lines[3 + len(rows):]))
    if options.write:
        KEPT.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
