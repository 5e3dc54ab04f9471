#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every operation of `osa` has its row in docs/operations.md, and every row an
operation; README names every ONNX operation that Import reads."""
import re
import sys

from common import ROOT, report


def main():
    problems = []
    definitions = (ROOT / "include/rhizome/Dialect/Osa/Osa.td").read_text()
    ops = set(re.findall(r'^def \w+ : Osa_(?:Op|Binary)<"(\w+)"', definitions,
                         re.M))
    page = (ROOT / "docs/operations.md").read_text()
    rows = set(re.findall(r"^\| `osa\.(\w+)` \|", page, re.M))
    for op in sorted(ops - rows):
        problems.append(f"docs/operations.md: lacks osa.{op}")
    for op in sorted(rows - ops):
        problems.append(f"docs/operations.md: there is no osa.{op}")
    if not ops:
        problems.append("found no operation at all")

    importer = (ROOT / "lib/Import/Importer.cpp").read_text()
    table = importer[importer.index("table = {"):]
    table = table[:table.index("return table;")]
    read = set(re.findall(r'\{"(\w+)",\s*\{&I::', table))
    named = set(re.findall(r"\b[A-Z]\w+\b", (ROOT / "README.md").read_text()))
    for op in sorted(read - named):
        if "{&I::foldedOnly" not in table[table.index(f'"{op}"'):][:60]:
            problems.append(f"README.md: does not name {op}, which is read")
    return report("operations", problems)


if __name__ == "__main__":
    sys.exit(main())
