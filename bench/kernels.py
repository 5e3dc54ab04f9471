#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Speed of a kernel on the CPU: the inverse Helmholtz operator, p = 11, double,
one thread. In one run: our object, our object of the formula as written
(--keep-order, the naive loops), and factorized loops written by hand in C and
compiled with -O3 -march=native by each compiler that is there.
    bench/kernels.py [--rhizome build/bin/rhizome] [--json]"""
import argparse
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
OPERATIONS = 177023


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rhizome", default=ROOT / "build/bin/rhizome")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    rows = {}
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        source = ROOT / "examples/kernels/helmholtz.cfd"
        naive = folder / "naive.cfd"
        shutil.copy(source, naive)
        for path, more in ((source, []), (naive, ["--keep-order"])):
            subprocess.run([options.rhizome, "compile", path, "--target", "cpu",
                            "-o", folder, *more], check=True,
                           stdout=subprocess.DEVNULL)
        for compiler in ("gcc", "clang-22"):
            if not shutil.which(compiler):
                continue
            program = folder / compiler
            subprocess.run([compiler, "-std=gnu11", "-O3", "-march=native",
                            f"-I{folder}", ROOT / "bench/kernels/helmholtz.c",
                            folder / "helmholtz.o", folder / "naive.o", "-o",
                            program, "-lm", "-lpthread"], check=True)
            run = subprocess.run([program], check=True, capture_output=True,
                                 text=True)
            rows[compiler] = json.loads(run.stdout)
    good = bool(rows)
    for compiler, row in rows.items():
        row["times_naive"] = row["naive_ns"] / row["ours_ns"]
        row["times_by_hand"] = row["by_hand_ns"] / row["ours_ns"]
        row["gflops"] = OPERATIONS / row["ours_ns"]
        good = good and row["times_naive"] >= 8 and row["times_by_hand"] >= 1
        if not options.json:
            print(f"by hand with {compiler} -O3 -march=native "
                  f"{row['by_hand_ns']:.0f} ns, ours {row['ours_ns']:.0f} ns "
                  f"({row['gflops']:.1f} GFLOP/s): {row['times_by_hand']:.2f} "
                  f"times as fast; naive loops {row['naive_ns']:.0f} ns: "
                  f"{row['times_naive']:.0f} times")
    if options.json:
        print(json.dumps({"ok": good, "compilers": rows}))
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
