#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The movers between a memory and a stream, rhz_move_in and rhz_move_out, in Icarus
(rhz_tb_movers): buses as wide as the stream, wider and narrower, in whole beats or
not, groups of a part of a burst up to several bursts, with and without pauses. And
lint of the same parameters.
  movers.py [--seeds N]    as many random sets besides the fixed ones"""
import argparse
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FIXED = [
    dict(BusIn=64, BusOut=64, Elem=32, Wide=1, Row=64),
    dict(BusIn=64, BusOut=64, Elem=16, Wide=1, Row=21),
    dict(BusIn=64, BusOut=32, Elem=16, Wide=3, Row=27),
    dict(BusIn=32, BusOut=32, Elem=8, Wide=16, Row=80),
    dict(BusIn=32, BusOut=64, Elem=8, Wide=16, Row=37),
    dict(BusIn=64, BusOut=64, Elem=64, Wide=1, Row=9),
    dict(BusIn=128, BusOut=128, Elem=8, Wide=1, Row=3, Burst=1),
    dict(BusIn=512, BusOut=512, Elem=32, Wide=8, Row=216, Burst=16, Depth=64, Lanes=8, Missing=5),
    dict(BusIn=512, BusOut=512, Elem=32, Wide=9, Row=243, Burst=16, Depth=128, Lanes=9),
]


def complete(case, rng):
    """The bench's parameters: bursts and buffers of both sides."""
    p = {k: v for k, v in case.items() if k not in ("Burst", "Depth")}
    burst = case.get("Burst", rng.choice([1, 2, 4, 8]))
    for side in ("In", "Out"):
        p["Burst" + side] = burst
        p["Depth" + side] = case.get("Depth", max(2, burst) * rng.choice([1, 2, 5]))
    p.setdefault("Groups", 6)
    return p


def random_case(rng):
    elem = rng.choice([8, 16, 32])
    lanes = rng.randint(1, 4)
    wide = lanes * rng.choice([1, 1, 2])
    return dict(BusIn=elem * rng.choice([1, 2, 4, 8]), BusOut=elem * rng.choice([1, 2, 4, 8]),
                Elem=elem, Wide=wide, Row=lanes * rng.randint(1, 40), Lanes=lanes,
                Missing=rng.randrange(lanes), Groups=rng.randint(1, 7))


def memory_image(path, p, rng):
    words = p["BusIn"] // p["Elem"]
    beats = -(-p["Row"] // words)
    step = -(-beats // p["BurstIn"]) * p["BurstIn"]
    with open(path, "w", encoding="utf-8") as file:
        for _ in range(p["Groups"] * step):
            file.write("%0*x\n" % (p["BusIn"] // 4, rng.getrandbits(p["BusIn"])))


def run(p, rng, folder):
    memory_image(os.path.join(folder, "memory.hex"), p, rng)
    sources = [os.path.join(ROOT, "rtl/test/rhz_tb_movers.sv"),
               os.path.join(ROOT, "data/sim/rhz_tb_memory.sv")]
    program = os.path.join(folder, "sim.vvp")
    command = ["iverilog", "-g2012", "-s", "rhz_tb_movers", "-o", program, "-y",
               os.path.join(ROOT, "rtl/src"), "-Y", ".sv"]
    command += ["-Prhz_tb_movers.%s=%d" % item for item in p.items()]
    built = subprocess.run(command + sources, capture_output=True, text=True)
    if built.returncode:
        return built.stderr[-1500:]
    ran = subprocess.run(["vvp", "-n", program], capture_output=True, text=True, cwd=folder,
                         timeout=300)
    return "" if re.match(r"PASS \d+$", ran.stdout.strip()) else ran.stdout[-500:] + ran.stderr


def lint(p):
    for cell, side in (("rhz_move_in", "In"), ("rhz_move_out", "Out")):
        values = {"DataWidth": p["Bus" + side], "Burst": p["Burst" + side],
                  "Depth": p["Depth" + side], **{k: p.get(k, 1) for k in ("Elem", "Wide", "Row",
                                                                         "Lanes")}}
        ran = subprocess.run(
            ["verilator", "--lint-only", "-Wall", "-y", os.path.join(ROOT, "rtl/src"),
             "--top-module", cell, os.path.join(ROOT, "rtl/src", cell + ".sv")]
            + ["-G%s=%d" % item for item in values.items()], capture_output=True, text=True)
        if ran.returncode or ran.stderr:
            return ran.stderr[-1500:]
    return ""


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=12)
    arguments = parser.parse_args()
    if not shutil.which("iverilog"):
        print("SKIPPED: iverilog is not installed")
        return 0
    rng = random.Random(19)
    cases = FIXED + [random_case(rng) for _ in range(arguments.seeds)]
    failed = 0
    folder = tempfile.mkdtemp(prefix="rhz_movers_")
    try:
        for case in cases:
            p = complete(case, rng)
            for stalls in (0, 40):
                problem = run({**p, "Stalls": stalls, "Seed": rng.randrange(1, 1 << 20)}, rng,
                              folder)
                if not problem and not stalls and shutil.which("verilator"):
                    problem = lint(p)
                if problem:
                    failed += 1
                    print("FAILED %s stalls %d: %s" % (p, stalls, problem), flush=True)
    finally:
        shutil.rmtree(folder)
    print("%d of %d runs failed" % (failed, 2 * len(cases)))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
