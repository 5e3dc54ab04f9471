# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The importer's table of ONNX operations, as the hygiene tests read it."""
import re

from common import ROOT

FOLDER = ROOT / "lib/Import/Onnx"


class Operation:
    """A row: the names of its builders (empty where there is none), and its
    attributes as a file has them."""

    def __init__(self, network, host, exact, attributes):
        self.network, self.host, self.exact = network, host, exact
        self.attributes = attributes


def operations():
    """Rows by the operation's name."""
    names = dict(re.findall(r'OnnxAttribute (\w+)\{\s*"(\w+)"',
                            (FOLDER / "Attributes.h").read_text()))
    text = (FOLDER / "Operations.cpp").read_text()
    text = text[text.index("table[] = {"):text.index("return table;")]
    rows = re.split(r"\bOp\(", text)[1:]
    found = {}
    for row in rows:
        name = re.match(r'"(\w+)"', row)[1]
        builder = {side: re.findall(rf"\b{side}::(\w+)", row)
                   for side in ("network", "onhost")}
        exact = [b for b in builder["onhost"] if b.startswith("exact")]
        host = [b for b in builder["onhost"] if b not in exact]
        found[name] = Operation("".join(builder["network"]), "".join(host),
                                "".join(exact),
                                [names[a] for a in re.findall(r"\bk\w+", row)
                                 if a not in ("kAny", "kUnjudged")])
    return found
