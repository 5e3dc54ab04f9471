#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes small modules between phases for the fuzzer to begin with: a network
of two layers after each phase, the phase's number in front.
usage: phase_seeds.py RHIZOME FOLDER"""
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
PHASES = ("import", "normalize", "quantize", "integerize", "explore", "build",
          "lower")
MODEL = ROOT / "examples/tiny-digits/tiny_digits_qdq_int8.onnx"


def main():
    rhizome, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    for number, phase in enumerate(PHASES):
        done = subprocess.run([rhizome, "compile", str(MODEL), "--compile-to",
                               phase, "-o", "-", "--goal", "min-resources"],
                              capture_output=True, check=True)
        (folder / phase).write_bytes(str(number).encode() + done.stdout)


main()
