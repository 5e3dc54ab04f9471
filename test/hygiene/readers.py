#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Whoever parses MLIR checks the text before, since MLIR's parser can be made to
crash, and resources and accesses after it, since MLIR's verifiers let loops
leave their operands."""
import re
import sys

from common import ROOT, report, tracked

PARSES = re.compile(r"\bparseSource(?:String|File)\b")
CHECKS = ("checkMlirText", "verifyResources", "checkAccesses")
# Where, and why not.
EXCEPTIONS = {
    "lib/Model/Model.cpp": "a module that this process has printed",
    "lib/Calibrate/Runner.cpp": "a module that this process has written",
    "lib/Import/Mlir/Bytecode.cpp": "bytecode, in a process of its own; its "
                                    "text is checked then",
}


def main():
    problems, used = [], set()
    for path in tracked(".cpp", ".h"):
        if not path.startswith(("lib/", "tools/")):
            continue
        text = (ROOT / path).read_text()
        if not PARSES.search(text):
            continue
        if path in EXCEPTIONS:
            used.add(path)
            continue
        problems += [f"{path}: parses MLIR without '{check}'"
                     for check in CHECKS if check not in text]
    problems += [f"{path}: an exception that nothing needs"
                 for path in EXCEPTIONS.keys() - used]
    return report("readers", problems)


if __name__ == "__main__":
    sys.exit(main())
