#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""docs/supported-ops.md is what the importer's table, docs/operations.md and the
generators' claims say. --update writes it."""
import re
import sys

from common import ROOT, report
from onnx_table import operations

PAGE = ROOT / "docs/supported-ops.md"
HEAD = """# Supported ONNX operations

Made from the importer's table and the generators' claims by
`test/hygiene/supported.py --update`. An operation that can be part of an FPGA
network becomes one of [`osa`](operations.md), which lists its limits; the
generators that can build it are listed, and *folded* means that it
only changes the constants of the operations around it. If its operands do not
allow that, and for all other operations, the host computes it, through LLVM. `rhizome
coverage MODEL` shows the choice for each operation of a model, with reasons. An
attribute that is not listed is refused. Scan and Loop are loops over time on the
host; the values that they carry keep their shapes, and a Loop whose trip count or
condition is computed while the model runs gives no sequences. Of an If whose condition is
constant, or follows from shapes, the branch that is taken is compiled. Other Ifs, training,
string, sequence and random operations are refused, and so are operations whose result shape
depends on data.

| operation | FPGA | generators | host | attributes |
|---|---|---|---|---|
"""


def claims():
    """Operation of `osa`: the generators that claim it, by the families in
    which the face of each, lib/Generator/<Name>/<Name>.cpp, tells them apart."""
    found = {}
    for face in sorted((ROOT / "lib/Generator").glob("*/*.cpp")):
        text = face.read_text()
        name = re.search(r'name\(\) const override \{ return "(\w+)"', text)
        if face.stem != face.parent.name or not name:
            continue
        families = re.findall(
            r"^bool is\w+\(Operation \*op\) \{\s*return isa<([^>]*)>", text,
            re.M)
        if not families:
            raise SystemExit(f"{face}: no family of operations is claimed")
        for op in re.findall(r"osa::(\w+)Op", " ".join(families)):
            snake = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", op).lower()
            found.setdefault(snake, []).append(name[1])
    return found


def built():
    """ONNX operation: the generators that claim what becomes of it, or that it
    is folded, by docs/operations.md."""
    claimed, found = claims(), {}
    text = (ROOT / "docs/operations.md").read_text()
    rows = []
    for line in re.findall(r"^\| `osa\..*", text, re.M):
        op, _, made_from, becomes = (c.strip() for c in line.split("|")[1:5])
        rows.append((op[len("`osa."):-1], made_from, becomes))
    unknown = set(claimed) - {row[0] for row in rows}
    if unknown:
        raise SystemExit(f"docs/operations.md: no rows of {sorted(unknown)}")
    texts = {op: becomes for op, _, becomes in rows}
    for op, made_from, becomes in rows:
        if like := re.match(r"as `osa\.(\w+)`", becomes):
            op, becomes = like[1], texts[like[1]]
        for onnx in re.findall(r"\b[A-Z]\w*", made_from):
            found.setdefault(onnx, []).extend(
                ways(onnx, op, becomes, claimed))
    return found


def ways(onnx, op, becomes, claimed):
    """What a row of docs/operations.md says of one of its ONNX operations: the
    generators, "folded" or "host"."""
    parts = [p.strip() for p in becomes.split(";")]
    # "A, B: …" is said of these alone.
    said = [re.match(r"((?:[A-Z]\w*(?:, |: ))+)(.*)", p) for p in parts]
    own = [m[2] for m in said if m and onnx in re.findall(r"\w+", m[1])]
    out = []
    for part in own or [p for p, m in zip(parts, said) if not m]:
        units = re.findall(r"`(\w+)`", part)
        if part.startswith("itself"):
            units.append(op)
        out += [g for unit in units for g in claimed.get(unit, [])]
        out += re.findall(r"(?:^|: )(folded)", part)
        out += ["host"] if part == "host" else []
    return out


def page():
    built_by, lines = built(), []
    for name, op in sorted(operations().items()):
        fpga = ("expanded" if op.is_expanded else
                "yes" if op.network else
                "constants" if op.folds else "")
        by = set(built_by.get(name, []))
        if by == {"host"}:
            fpga = ""
        by = sorted(by - {"host"}, key=lambda b: (b == "folded", b))
        lines.append(f"| {name} | {fpga} | {', '.join(by) if fpga else ''} "
                     "| yes | "
                     + ", ".join(f"`{a}`" for a in sorted(op.attributes))
                     + " |")
    return (HEAD + "\n".join(lines) + "\n\n*expanded*: rewritten as other operations; "
            "*constants*: computed at import if its operands are constant.\n")


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
