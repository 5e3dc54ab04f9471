#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every operation of `osa` has its row in docs/operations.md, and every row an
operation; docs/input-formats.md names every ONNX operation that Import supports."""
import re
import sys

import onnx_table
from common import ROOT, report


def main():
    problems = []
    definitions = "".join(file.read_text() for file in sorted(
        (ROOT / "include/rhizome/Dialect/Osa").glob("*.td")))
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

    page = "docs/input-formats.md"
    named = set(re.findall(r"\b[A-Z]\w+\b", (ROOT / page).read_text()))
    for op, row in sorted(onnx_table.operations().items()):
        if row.network and op not in named:
            problems.append(f"{page}: does not name {op}, which is read")
    return report("operations", problems)


if __name__ == "__main__":
    sys.exit(main())
