# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Test benches that are whole designs, in Icarus: a program draws sets of parameters,
each runs with and without pauses, and the cells are linted with the same ones."""
import argparse
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SOURCES = os.path.join(ROOT, "rtl/src")


def simulate(bench, p, folder):
    """Runs rtl/test/<bench>.sv next to the memory of the simulator; "" if it passes."""
    program = os.path.join(folder, "sim.vvp")
    command = ["iverilog", "-g2012", "-s", bench, "-o", program, "-y", SOURCES, "-Y", ".sv",
               "-I", os.path.join(ROOT, "rtl/test")]
    command += ["-P%s.%s=%d" % (bench, key, value) for key, value in p.items()]
    command += [os.path.join(ROOT, "rtl/test", bench + ".sv"),
                os.path.join(ROOT, "data/sim/rhz_tb_memory.sv")]
    built = subprocess.run(command, capture_output=True, text=True)
    if built.returncode:
        lines = built.stderr.splitlines()
        return "\n".join([line for line in lines if "sorry" not in line] or lines)[:800]
    ran = subprocess.run(["vvp", "-n", program], capture_output=True, text=True, cwd=folder,
                         timeout=300)
    return "" if re.match(r"PASS \d+$", ran.stdout.strip()) else ran.stdout[-500:] + ran.stderr


def lint(cell, values):
    """What Verilator says of a cell with these parameters."""
    ran = subprocess.run(
        ["verilator", "--lint-only", "-Wall", "-y", SOURCES, "--top-module", cell,
         os.path.join(SOURCES, cell + ".sv")] + ["-G%s=%d" % item for item in values.items()],
        capture_output=True, text=True)
    return ran.stderr[-1500:] if ran.returncode or ran.stderr else ""


def main(doc, seed, fixed, random_case, run, cells, stalls):
    """Runs the fixed and as many random sets of parameters. run(p, rng, folder) tells
    what is wrong with one, cells(p) the cells to lint and their parameters."""
    parser = argparse.ArgumentParser(description=doc,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=12)
    arguments = parser.parse_args()
    if not shutil.which("iverilog"):
        print("SKIPPED: iverilog is not installed")
        return 0
    rng = random.Random(seed)
    cases = fixed + [random_case(rng) for _ in range(arguments.seeds)]
    failed = 0
    folder = tempfile.mkdtemp(prefix="rhz_bench_")
    try:
        for p in cases:
            for percent in (0, stalls):
                problem = run({**p, "Stalls": percent, "Seed": rng.randrange(1, 1 << 20)}, rng,
                              folder)
                if not problem and not percent and shutil.which("verilator"):
                    problem = "".join(lint(*cell) for cell in cells(p))
                if problem:
                    failed += 1
                    print("FAILED %s stalls %d: %s" % (p, percent, problem), flush=True)
    finally:
        shutil.rmtree(folder)
    print("%d of %d runs failed" % (failed, 2 * len(cases)))
    return 1 if failed else 0
