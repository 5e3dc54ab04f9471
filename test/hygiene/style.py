#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every source file: SPDX line, at most 800 lines, no tabs or trailing blanks,
no TODO without an issue's number, no path of one machine's checkout."""
import re
import sys

from common import ROOT, report, tracked

CODE = (".cpp", ".c", ".h", ".td", ".py", ".sv", ".v", ".sh", ".mlir", ".yaml",
        ".tcl", ".xdc", ".sdc", ".cfg")
TEXT = CODE + (".md", ".txt", ".cmake", ".json", "Makefile")
SPDX = "SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception"
LIMIT = 800
LIMITED = ("lib/", "include/", "tools/", "runtime/", "rtl/")
TODO = re.compile(r"\b(?:TODO|FIXME|XXX)\b(?!\(#\d+\))")
# What a test compares with is as the program writes it.
GOLDEN = "test/vendor/golden/"
# Where people keep checkouts; spelled so that this file does not match itself.
HOME = re.compile(r"(?<![\w.~-])/(?:work|home|root|Users)" + r"/\w")


def main():
    problems = []
    for path in tracked(*TEXT):
        try:
            text = (ROOT / path).read_text(encoding="utf-8")
        except UnicodeDecodeError:
            problems.append(f"{path}: is not UTF-8")
            continue
        lines = text.split("\n")
        is_code = path.endswith(CODE) and not path.startswith(GOLDEN)
        if is_code and text and not any(SPDX in line for line in lines[:2]):
            problems.append(f"{path}:1: lacks the SPDX line")
        if (is_code and path.startswith(LIMITED) and
                text.count("\n") > LIMIT):
            problems.append(f"{path}: {text.count(chr(10))} lines, above "
                            f"{LIMIT}")
        if text and not text.endswith("\n"):
            problems.append(f"{path}:{len(lines)}: lacks a final newline")
        for number, line in enumerate(lines, 1):
            place = f"{path}:{number}"
            if "\t" in line and not path.endswith("Makefile"):
                problems.append(f"{place}: tab")
            if line != line.rstrip():
                problems.append(f"{place}: trailing blank")
            if is_code and TODO.search(line) and not path.endswith("style.py"):
                problems.append(f"{place}: a TODO names its issue: TODO(#7)")
            if HOME.search(line):
                problems.append(f"{place}: a path of one machine")
    return report("style", problems)


if __name__ == "__main__":
    sys.exit(main())
