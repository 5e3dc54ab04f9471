#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The ```mlir examples of the dialects' descriptions and of the documents
parse and verify. An example without a function is put into one.
Usage: snippets.py RHIZOME_OPT"""
import re
import subprocess
import sys
import textwrap

from common import ROOT, argument, report, tracked

BLOCK = re.compile(r"^([ \t]*)```mlir\n(.*?)^[ \t]*```", re.M | re.S)


def example_files(*endings):
    """The examples of each file that has some: (line, code)."""
    found = {}
    for path in tracked(*endings):
        text = (ROOT / path).read_text()
        for match in BLOCK.finditer(text):
            line = text.count("\n", 0, match.start()) + 1
            code = textwrap.dedent(match.group(2))
            if not re.match(r"\s*(func\.func|module|rtl\.module|flow\.design|!)",
                            code):
                code = "func.func @example() {\n" + code + "\nreturn\n}\n"
            found.setdefault(path, []).append((line, code))
    return found


def main():
    tool = argument(__doc__)
    problems, count = [], 0
    for path, examples in example_files(".td", ".md").items():
        for line, code in examples:
            count += 1
            run = subprocess.run([tool, "-"], input=code, text=True,
                                 capture_output=True)
            if run.returncode:
                problems.append(f"{path}:{line}: {run.stderr.strip()}")
    if not count:
        problems.append("found no example at all")
    return report(f"snippets ({count} examples)", problems)


if __name__ == "__main__":
    sys.exit(main())
