#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every source file: SPDX line, at most 800 lines, no tabs or trailing blanks,
no TODO without an issue's number, no path of one machine's checkout. Modules of
the Python package import each other at the top, without a circle."""
import ast
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


def check_imports(problems):
    """Imports for annotations only are for type checkers, and do not count."""
    imports = {}
    for path in tracked(".py"):
        if not path.startswith("python/rhizome/"):
            continue
        tree = ast.parse((ROOT / path).read_text())
        found = imports.setdefault(path.rsplit("/")[-1][:-3], set())
        for node in ast.walk(tree):
            if not isinstance(node, ast.ImportFrom) or not node.level:
                continue
            if node in tree.body:
                found |= ({node.module} if node.module else
                          {name.name for name in node.names})
            elif not any(isinstance(each, ast.If) and node in each.body and
                         ast.unparse(each.test) == "TYPE_CHECKING"
                         for each in tree.body):
                problems.append(f"{path}:{node.lineno}: an import that is not "
                                "at the top")
    if len(imports) < 5:
        problems.append(f"found {len(imports)} modules of python/rhizome only")
    while leaves := [name for name, of in imports.items()
                     if not of & set(imports)]:
        for name in leaves:
            del imports[name]
    if imports:
        problems.append("python/rhizome: modules import each other in a circle: "
                        + ", ".join(sorted(imports)))


def main():
    problems = []
    check_imports(problems)
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
