#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""docs/supported-ops.md is what the importer's two tables and the table of
expansions say. --update writes it."""
import re
import sys

from common import ROOT, report

PAGE = ROOT / "docs/supported-ops.md"
HEAD = """# Supported ONNX operations

Made from the importer's tables by `test/hygiene/supported.py --update`. An
operation that can be part of an FPGA network becomes one of
[`osa`](operations.md), where its limits stand and which units the generators
build for it; where its operands do not allow that, and for all others, the host
computes it, through LLVM. `rhizome coverage MODEL` says for a model which is
which, and why. An attribute that is not listed is refused. Control flow, training,
string, sequence and random operations are refused, and operations whose result's
shape depends on data.

| operation | FPGA | host | attributes |
|---|---|---|---|
"""


def network():
    """Operation: its attributes, of those that a network can hold."""
    text = (ROOT / "lib/Import/Importer.cpp").read_text()
    text = text[text.index("table = {"):]
    text = text[:text.index("return table;")]
    ops = {}
    for name, handler, rest in re.findall(
            r'\{"(\w+)",\s*\{&I::(\w+),\s*\{([^}]*)\}', text):
        ops[name] = (handler, re.findall(r'"(\w+)"', rest))
    return ops


def host():
    text = (ROOT / "lib/Import/Host.cpp").read_text()
    text = text[text.index("Importer::hostOperations()"):]
    text = text[:text.index("return t;")]
    ops = {}
    for names, rest in re.findall(
            r"add\(\{([^}]*)\},\s*&I::\w+((?:,\s*\{[^}]*\})?)\)", text):
        for name in re.findall(r'"(\w+)"', names):
            ops[name] = re.findall(r'"(\w+)"', rest)
    return ops


def expanded():
    """Operations that are short for others."""
    text = (ROOT / "lib/Import/Decompose.cpp").read_text()
    text = text[text.index("rules()"):]
    return set(re.findall(r'\{"(\w+)",\s*\{', text))


def page():
    net, cpu, short = network(), host(), expanded()
    lines = []
    for op in sorted(set(net) | set(cpu) | short):
        handler, attributes = net.get(op, ("", []))
        fpga = ("expanded" if op in short else
                "constants" if handler == "foldedOnly" else
                "yes" if op in net else "")
        names = sorted(set(attributes) | set(cpu.get(op, [])))
        runs = "yes" if op in cpu or op in short or op in net else ""
        lines.append(f"| {op} | {fpga} | {runs} | "
                     + ", ".join(f"`{n}`" for n in names) + " |")
    return (HEAD + "\n".join(lines) + "\n\n*expanded*: written out as others; "
            "*constants*: computed at import where its operands are constant.\n")


def main():
    text = page()
    if "--update" in sys.argv:
        PAGE.write_text(text)
        return 0
    current = PAGE.exists() and PAGE.read_text() == text
    return report("supported", [] if current else [
        "docs/supported-ops.md is not current: "
        "run test/hygiene/supported.py --update"])


if __name__ == "__main__":
    sys.exit(main())
