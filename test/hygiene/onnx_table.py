# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The importer's table of ONNX operations, as the hygiene tests read it."""
import re

from common import ROOT

FOLDER = ROOT / "lib/Import/Onnx"


class Operation:
    """A row: the names of its builders (empty if there is none), whether
    constants fold and whether it is expanded, and its attributes
    as in a file."""

    def __init__(self, network, host, folds, is_expanded, attributes):
        self.network, self.host, self.folds = network, host, folds
        self.is_expanded = is_expanded
        self.attributes = attributes


def operations():
    """Rows by the operation's name."""
    names = dict(re.findall(r'OnnxAttribute (\w+)\{\s*"(\w+)"',
                            (FOLDER / "Attributes.h").read_text()))
    text = (FOLDER / "Operations.cpp").read_text()
    text = text[text.index("table[] = {"):text.index("return table;")]
    found = {}
    for row in re.split(r"\b(?:Op|written)\(", text)[1:]:
        builder = {side: re.search(rf"\b{side}::(?!exact)(\w+)", row)
                   for side in ("network", "onhost")}
        found[re.match(r'"(\w+)"', row)[1]] = Operation(
            *(b[1] if b else "" for b in builder.values()),
            "fold::" in row, "expand::" in row,
            [names[a] for a in re.findall(r"\bk\w+", row)
             if a not in ("kAny", "kUnjudged")])
    return found
