#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""FIFOs whose words lie in a memory, rhz_mem_fifo, behind arbiters in Icarus
(rhz_tb_mem_fifo): words narrower, as wide and wider than a beat, frames of whole
bursts or not, rings of few and many places, with and without pauses. And lint of the
same parameters.
  mem_fifo.py [--seeds N]    as many random sets besides the fixed ones"""
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
    dict(Width=8, DataWidth=64, Words=256, Per=8, Burst=16, Slots=3, Buffer=32, Fifos=1),
    dict(Width=8, DataWidth=64, Words=24, Per=8, Burst=16, Slots=2, Buffer=16, Fifos=2),
    dict(Width=64, DataWidth=64, Words=70, Per=1, Burst=8, Slots=4, Buffer=80, Fifos=1),
    dict(Width=100, DataWidth=32, Words=33, Per=1, Burst=16, Slots=5, Buffer=70, Fifos=3),
    dict(Width=5, DataWidth=256, Words=99, Per=33, Burst=1, Slots=2, Buffer=2, Fifos=2),
    dict(Width=16, DataWidth=512, Words=1280, Per=32, Burst=64, Slots=9, Buffer=64, Fifos=1),
    dict(Width=1, DataWidth=8, Words=1, Per=1, Burst=1, Slots=2, Buffer=2, InFlight=1, Fifos=1),
]


def random_case(rng):
    width, bus = rng.randint(1, 150), 8 << rng.randint(0, 5)
    per = rng.randint(1, max(1, min(32, bus // width)))
    burst = rng.choice([1, 2, 4, 8, 16])
    return dict(Width=width, DataWidth=bus, Words=per * rng.randint(1, 60), Per=per, Burst=burst,
                Slots=rng.randint(2, 12), Buffer=max(2, burst * rng.choice([1, 2, 5])),
                InFlight=rng.randint(1, 5), Depth=rng.choice([2, 4, 70]), Fifos=rng.randint(1, 3),
                Memory=rng.randint(1, 40))


def run(p, folder):
    program = os.path.join(folder, "sim.vvp")
    command = ["iverilog", "-g2012", "-s", "rhz_tb_mem_fifo", "-o", program, "-y",
               os.path.join(ROOT, "rtl/src"), "-Y", ".sv"]
    command += ["-Prhz_tb_mem_fifo.%s=%d" % item for item in p.items()]
    command += [os.path.join(ROOT, "rtl/test/rhz_tb_mem_fifo.sv"),
                os.path.join(ROOT, "data/sim/rhz_tb_memory.sv")]
    built = subprocess.run(command, capture_output=True, text=True)
    if built.returncode:
        return "\n".join(line for line in built.stderr.splitlines() if "sorry" not in line)[:800]
    ran = subprocess.run(["vvp", "-n", program], capture_output=True, text=True, cwd=folder,
                         timeout=300)
    return "" if re.match(r"PASS \d+$", ran.stdout.strip()) else ran.stdout[-500:] + ran.stderr


def lint(p):
    own = {k: v for k, v in p.items() if k not in ("Fifos", "Memory", "Stalls", "Seed")}
    fifos = max(2, p["Fifos"])
    for cell, values in (("rhz_mem_fifo", {**own, "Page": 3}),
                         ("rhz_mem_write_arbiter", {"DataWidth": p["DataWidth"],
                                                    "Writers": fifos, "Bursts": fifos * 2})):
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
    rng = random.Random(23)
    cases = FIXED + [random_case(rng) for _ in range(arguments.seeds)]
    failed = 0
    folder = tempfile.mkdtemp(prefix="rhz_mem_fifo_")
    try:
        for p in cases:
            for stalls in (0, 35):
                problem = run({**p, "Stalls": stalls, "Seed": rng.randrange(1, 1 << 20)}, folder)
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
