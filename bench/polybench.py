#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""PolyBench kernels in single precision as hardware, beside published designs.
Each of bench/kernels is compiled for an Alveo U280 at 300 MHz with as many DSPs
as the fastest published design has, and simulated: one element in RTL, whose
words must be the evaluator's and whose cycles must be the predicted ones. Our
cycles are those of the nests, with the data in banked memories on chip, as
theirs are, and streams of one word a beat, which take nothing from the nests.
"in all" is what an element takes in the unit that the goal chooses by itself,
with reading and writing: fewer DSPs and wide streams. Resources are predicted.
    bench/polybench.py [KERNEL …] [--rhizome build/bin/rhizome] [--no-rtl]
        [--write]"""
import argparse
import json
import math
import pathlib
import resource
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
KEPT = ROOT / "bench" / "polybench.txt"
# Cycles in RTL simulation and DSPs, as the artefact of Stream-HLS gives them
# (Vitis HLS 2023.2, the same sizes and device). Allo's 3mm fails there.
PEERS = ("Allo", "HeteroCL", "HIDA", "ScaleHLS", "S-220", "S-2560")
PUBLISHED = {
    "gemm": ((238622, 175), (236034, 175), (176964, 324), (176964, 324),
             (330053, 194), (24051, 2552)),
    "2mm": ((268436, 328), (480630, 176), (245532, 967), (245524, 967),
            (378254, 222), (36352, 1942)),
    "3mm": (None, (464955, 303), (279370, 623), (266068, 637), (601511, 227),
            (49092, 2507)),
    "atax": ((8822, 403), (29195, 100), (13402, 155), (19300, 110),
             (15855, 202), (2180, 1502)),
    "bicg": ((1651, 603), (2883, 575), (14446, 116), (14446, 116),
             (8033, 201), (1112, 1501)),
    "gesummv": ((1538, 393), (1787, 393), (6316, 181), (6324, 141),
                (3177, 218), (673, 922)),
    "mvt": ((468, 4000), (2081, 2000), (10060, 162), (15076, 112),
            (8041, 202), (667, 2306)),
}


def run(command):
    done = subprocess.run([str(part) for part in command],
                          capture_output=True, text=True)
    try:
        return json.loads(done.stdout)
    except json.JSONDecodeError:
        sys.exit(f"{' '.join(map(str, command))}: {done.stderr.strip()}")


def row(rhizome, name, folder, isSimulated):
    peers = [peer for peer in PUBLISHED[name] if peer]
    best, dsps = min(peers)
    package = folder / f"{name}.rhz"
    # Others may work on this machine.
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    asked = [ROOT / f"bench/kernels/{name}.cfd", "--numbers", "float<8,23>",
             "--device", "xcu280", "--clock-mhz", "300", "--goal",
             f"max-throughput,dsp={dsps}", "--json"]
    built = run([rhizome, "compile", *asked, "--words", "1", "-o", package])
    if not built["ok"]:
        sys.exit(f"{name}: {built}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    predicted, kernel = built["predicted"], built["kernel"]
    whole = run([rhizome, "explore", *asked])
    rtl = "not simulated"
    if isSimulated:
        begin = time.monotonic()
        ran = run([rhizome, "simulate", package, "-n", "1", "--json"])
        if "measured" not in ran:
            sys.exit(f"{name}: {ran}")
        measured = ran["measured"]["interval_cycles"]
        if ran["mismatches"] or measured != predicted["interval_cycles"]:
            sys.exit(f"{name}: {ran}")
        rtl = f"exact, {time.monotonic() - begin:,.0f} s"
    return {"name": name, "best": best, "best_dsp": dsps,
            "cycles": kernel["compute_cycles"], "dsp": predicted["dsp"],
            "lut": predicted["lut"], "bram": predicted["bram"],
            "whole": whole["predicted"]["interval_cycles"],
            "whole_dsp": whole["predicted"]["dsp"],
            "words": whole["kernel"]["streams"][0]["words"],
            "rtl": rtl, "seconds": after.ru_utime - before.ru_utime +
            after.ru_stime - before.ru_stime}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    # The largest one last.
    parser.add_argument("kernels", nargs="*", default=list(PUBLISHED)[::-1])
    parser.add_argument("--rhizome", default=ROOT / "build/bin/rhizome")
    parser.add_argument("--no-rtl", action="store_true")
    parser.add_argument("--write", action="store_true",
                        help=f"keep the table in {KEPT.relative_to(ROOT)}")
    options = parser.parse_args()
    head = ("kernel    cycles   DSP     LUT  BRAM | best of others   DSP "
            "| ratio | in all   DSP words | RTL")
    rows, ratios, slow = {}, [], []
    with tempfile.TemporaryDirectory() as folder:
        for name in options.kernels:
            r = row(options.rhizome, name, pathlib.Path(folder),
                    not options.no_rtl)
            ratios.append(r["cycles"] / r["best"])
            slow.append(r["seconds"])
            rows[name] = (
                f"{name:8} {r['cycles']:7,} {r['dsp']:5,} {r['lut']:7,} "
                f"{r['bram']:5} | {r['best']:14,} {r['best_dsp']:5,} "
                f"| {ratios[-1]:5.2f} | {r['whole']:6,} {r['whole_dsp']:5,} "
                f"{r['words']:5} | {r['rtl']}")
            print(rows[name], flush=True)
    mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
    end = (f"geometric mean of the ratios {mean:.2f}; compiled in at most "
           f"{max(slow):.1f} s of a core")
    print(f"{head}\n{end}")
    names = [name for name in PUBLISHED if name in rows]
    lines = [head, *(rows[name] for name in names), end, "",
             "Published, cycles / DSPs:",
             "kernel   " + " ".join(f"{peer:>14}" for peer in PEERS)]
    for name in names:
        cells = [f"{p[0]:,} / {p[1]}" if p else "fails"
                 for p in PUBLISHED[name]]
        lines.append(f"{name:8} " + " ".join(f"{cell:>14}" for cell in cells))
    if options.write:
        KEPT.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
