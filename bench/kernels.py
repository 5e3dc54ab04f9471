#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Speed of kernels on the CPU, one thread. Every kernel of examples/kernels, as
chosen, in the order written and as matrix products: nanoseconds of an
application, and with --base beside those of another build's object, in turns.
Then the inverse Helmholtz operator, p = 11, double: our object, our object of
the formula as written (--keep-order, the naive loops), and factorized loops
written by hand in C and compiled with -O3 -march=native by each compiler that
is there.
    bench/kernels.py [--rhizome build/bin/rhizome] [--base RHIZOME] [--json]"""
import argparse
import ctypes
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
OPERATIONS = 177023
VARIANTS = ([], ["--keep-order"], ["--gemm"])
ELEMENTS, LEAST_ROUNDS, MEASURE_S = 256, 5, 1


class Array(ctypes.Structure):
    """rhz_array of rhizome_kernel.h."""
    _fields_ = [("data", ctypes.c_void_p), ("element_stride", ctypes.c_int64),
                ("strides", ctypes.c_int64 * 8)]


def compile_kernel(rhizome, source, options, folder):
    done = subprocess.run([rhizome, "compile", source, "--target", "cpu", "-o",
                           folder, *options], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{rhizome} cannot compile {source}: {done.stderr.strip()}")


class Kernel:
    """A compiled kernel of doubles on ELEMENTS elements, called from here.
    What is smaller than the largest array is shared by all elements."""

    def __init__(self, rhizome, source, options, folder):
        name = source.stem
        compile_kernel(rhizome, source, options, folder)
        library = folder / f"{name}.so"
        subprocess.run(["gcc", "-shared", folder / f"{name}.o", "-o", library,
                        "-lm", "-lpthread"], check=True)
        header = (folder / f"{name}.h").read_text()
        shapes = [[int(n) for n in (shape or "").split()] for shape in
                  re.findall(r"^ \*   \w+: 8 bytes, (?:in|out|inout), "
                             r"(?:\[([\d ]+)\]|a scalar)", header, re.M)]
        sizes = []
        for shape in shapes:
            size = 1
            for extent in shape:
                size *= extent
            sizes.append(size)
        self.memory, self.arrays = [], (Array * len(shapes))()
        for array, shape, size in zip(self.arrays, shapes, sizes):
            shared = size < max(sizes) / 2
            count = size * (1 if shared else ELEMENTS)
            self.memory.append((ctypes.c_double * count)(
                *(((7 * i) % 16) / 16 for i in range(count))))
            array.data = ctypes.addressof(self.memory[-1])
            array.element_stride = 0 if shared else size
            step = 1
            for d in reversed(range(len(shape))):
                array.strides[d] = step
                step *= shape[d]
        self.call = getattr(ctypes.CDLL(str(library)), f"{name}_run")
        self.call.argtypes = [ctypes.c_int64, ctypes.c_int32,
                              ctypes.POINTER(Array)]

    def nanoseconds(self):
        begin = time.perf_counter()
        self.call(ELEMENTS, 1, self.arrays)
        return (time.perf_counter() - begin) / ELEMENTS * 1e9


def all_kernels(rhizome, base, folder):
    """Rows of every kernel and variant: ns, and base_ns and ratio."""
    rows = []
    for source in sorted((ROOT / "examples/kernels").glob("*.cfd")):
        for options in VARIANTS:
            kernels = {}
            for which, program in (("ns", rhizome), ("base_ns", base)):
                if not program:
                    continue
                at = folder / f"{len(rows)}{which}"
                at.mkdir()
                kernels[which] = Kernel(program, source, options, at)
            row = {"kernel": source.stem, "options": " ".join(options)}
            rounds, start = 0, time.perf_counter()
            while rounds < LEAST_ROUNDS \
                    or time.perf_counter() - start < MEASURE_S:
                rounds += 1
                for which, kernel in kernels.items():
                    row[which] = min(row.get(which, float("inf")),
                                     kernel.nanoseconds())
            if base:
                row["ratio"] = row["base_ns"] / row["ns"]
            rows.append(row)
    return rows


def helmholtz(rhizome, folder):
    rows = {}
    source = ROOT / "examples/kernels/helmholtz.cfd"
    naive = folder / "naive.cfd"
    shutil.copy(source, naive)
    for path, more in ((source, []), (naive, ["--keep-order"])):
        compile_kernel(rhizome, path, more, folder)
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
        row = rows[compiler] = json.loads(run.stdout)
        row["times_naive"] = row["naive_ns"] / row["ours_ns"]
        row["times_by_hand"] = row["by_hand_ns"] / row["ours_ns"]
        row["gflops"] = OPERATIONS / row["ours_ns"]
    return rows


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rhizome", default=ROOT / "build/bin/rhizome")
    parser.add_argument("--base", help="another build's rhizome")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        kernels = all_kernels(options.rhizome, options.base, folder)
        rows = helmholtz(options.rhizome, folder)
    good = bool(rows) and all(
        row["times_naive"] >= 8 and row["times_by_hand"] >= 1
        for row in rows.values())
    if options.json:
        print(json.dumps({"ok": good, "compilers": rows, "kernels": kernels}))
        return 0 if good else 1
    print(f"{'kernel':14} {'options':13} {'ns':>9} {'base ns':>9} {'ratio':>6}")
    for row in kernels:
        line = f"{row['kernel']:14} {row['options']:13} {row['ns']:9.0f}"
        if "ratio" in row:
            line += f" {row['base_ns']:9.0f} {row['ratio']:6.2f}"
        print(line)
    print()
    for compiler, row in rows.items():
        print(f"by hand with {compiler} -O3 -march=native "
              f"{row['by_hand_ns']:.0f} ns, ours {row['ours_ns']:.0f} ns "
              f"({row['gflops']:.1f} GFLOP/s): {row['times_by_hand']:.2f} "
              f"times as fast; naive loops {row['naive_ns']:.0f} ns: "
              f"{row['times_naive']:.0f} times")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
