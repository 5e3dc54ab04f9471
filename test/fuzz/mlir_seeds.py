#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes small modules for the MLIR fuzzer to begin with: the cases of the lit
tests, and the networks from PyTorch. usage: mlir_seeds.py FOLDER"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("Import", "Dialect/Osa", "Transforms", "Conversion"):
        for path in sorted((ROOT / "test" / name).glob("*.mlir")):
            cases = re.split(r"^// -----$", path.read_text(), flags=re.M)
            for k, case in enumerate(cases):
                lines = [line for line in case.splitlines()
                         if line.strip() and not line.strip().startswith("//")]
                if lines:
                    (folder / f"{path.stem}-{k}.mlir").write_text(
                        "\n".join(lines) + "\n")
    for path in (ROOT / "examples/pytorch").glob("*.mlir"):
        if path.stat().st_size <= 32768:
            (folder / path.name).write_bytes(path.read_bytes())


main()
