#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every message of a dialect's verifiers and parsers is covered by a test:
its text is in an errors.mlir, or, if only the programs check it, in refusals.py."""
import re
import sys

from common import ROOT, report, tracked

STATEMENT = re.compile(r"emit(?:Op)?Error\([^;]*;")
LITERAL = re.compile(r'"((?:[^"\\]|\\.)*)"')


def main():
    tested = "".join((ROOT / path).read_text()
                     for path in (*tracked("errors.mlir"),
                                  "test/e2e/refusals.py"))
    problems, count = [], 0
    for path in tracked(".cpp"):
        if not path.startswith("lib/Dialect/"):
            continue
        text = (ROOT / path).read_text()
        for statement in STATEMENT.finditer(text):
            # Adjacent literals are joined.
            joined = re.sub(r'"\s+"', "", statement.group())
            for words in LITERAL.findall(joined):
                if len(words.strip()) < 4:
                    continue
                count += 1
                if words.strip() not in tested:
                    line = text.count("\n", 0, statement.start()) + 1
                    problems.append(f"{path}:{line}: no test provokes "
                                    f"'{words.strip()}'")
    if not count:
        problems.append("found no message at all")
    return report(f"messages ({count} texts)", problems)


if __name__ == "__main__":
    sys.exit(main())
