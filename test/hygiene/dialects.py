#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The dialects' definitions: what has a fixed set of values is an enumeration,
every operation has an example, and every numbered constraint has a case of
invalid IR that is named after it, `@conv2d_c2…` for C2 of osa.conv2d."""
import re
import sys

from common import ROOT, report, tracked

# Attributes that hold text: names and what people write. Why none of them is
# an enumeration.
TEXTS = {
    "flow.design sym_name": "the name of a design",
    "flow.design device": "the name of a file in data/devices",
    "flow.actor kind": "the name of a unit kind, of which generators bring "
                       "their own",
    "flow.actor nodes": "names of the model's nodes",
    "flow.actor name": "the name of an actor, from the model's node",
    "flow.memory name": "the name of a memory of a device",
    "flow.bank memory": "the name of a memory of a device",
    "flow.bank segment": "the name of an image",
    "flow.state name": "the name of a tensor",
    "flow.state next": "the name of a tensor",
    "flow.state of": "the name that the model has for a tensor",
    "flow.state why": "a reason for people",
    "flow.plan goal": "what a user asks for, in the words of --goal",
    "flow.plan bottleneck_name": "the name of a node or of a memory",
    "flow.plan no_faster": "for people",
    "flow.split node": "the name of a model's node",
    "flow.split op": "the name of an operation",
    "flow.repeat node": "the name of a model's node",
    "flow.repeat op": "the name of an operation",
    "flow.enter body": "a name that its end repeats",
    "flow.leave body": "a name that its entry repeats",
    "flow.node function": "the name of a function",
    "flow.node design": "the name of a design",
    "flow.node bottleneck": "the name of a model's node",
    "flow.node moved": "names of the model's nodes",
    "flow.node rtl": "the name of a module",
    "flow.node link": "the name of a module",
    "flow.choice node": "the name of a model's node",
    "flow.choice op": "the name of an operation",
    "flow.choice generator": "the name of a generator",
    "flow.choice key": "the key of an offer",
    "flow.choice summary": "for people",
    "flow.image name": "the name of an image",
    "flow.image hex": "the words of a memory",
    "flow.alternative what": "for people",
    "flow.alternative why": "for people",
    "rtl.file name": "the name of a file",
    "rtl.memory name": "the name of a memory",
    "rtl.file text": "its text",
    "rtl.module sym_name": "the name of a module",
    "rtl.module input_names": "names of ports",
    "rtl.module output_names": "names of ports",
    "rtl.module comment": "for people",
    "rtl.instance name": "the name of an instance",
    "rtl.instance callee": "the name of a module or of a cell's file",
    "rtl.instance input_names": "names of ports",
    "rtl.instance output_names": "names of ports",
}

TEXT = re.compile(r"\b(?:\w*Str\w*Attr|SymbolNameAttr|FlatSymbolRefAttr|"
                  r"StringRefParameter(?:<[^>]*>)?|\"(?:std::string|"
                  r"::llvm::StringRef)\")\s*>*:\$(\w+)")
# def X : Y<"mnemonic" … up to the next definition.
RECORD = re.compile(r"^(?P<what>def|class) (?P<name>\w+)(?:<[^{;]*?>)?\s*:\s*"
                    r"(?P<base>\w+)(?:<(?P<arguments>[^{;]*?))?[{;]"
                    r"(?P<body>.*?)(?=^(?:def|class) |\Z)", re.M | re.S)


class Record:
    """A definition or class of a .td file with what it inherits."""

    def __init__(self, match, line):
        self.name, self.base = match["name"], match["base"]
        self.is_class = match["what"] == "class"
        self.body, self.line = match["body"], line
        names = re.findall(r'"([\w]+)"', match["arguments"] or "")
        self.mnemonic = names[0] if names else None
        given = re.search(r'let mnemonic = "(\w+)"', self.body)
        if given:
            self.mnemonic = given[1]


def records(text):
    found = {}
    for match in RECORD.finditer(text):
        record = Record(match, text.count("\n", 0, match.start()) + 1)
        found[record.name] = record
    return found


def described(record, known):
    """The record's own description, or the nearest class's, and whose."""
    while record:
        if "let description" in record.body:
            return record
        record = known.get(record.base)
    return None


def constraints(text):
    """The numbers n of (Cn), ranges written out."""
    numbers = set()
    for first, last in re.findall(r"\(C(\d+)\)(?: … \(C(\d+)\))?", text):
        numbers |= set(range(int(first), int(last or first) + 1))
    return numbers


# The numbers of an entry of a list of constraints: (C1), (C1), (C3) or
# (C1) … (C3), in whatever comment or text it is.
ENTRY = re.compile(r"^[^\w(]*(\(C\d+\)(?:(?:, | … )\(C\d+\))*)", re.M)


def blocks(path, text):
    """The texts of a file in which numbers begin at 1, each with its line:
    descriptions of a .td file, sections of a page, otherwise comments."""
    pattern = (r"\[\{.*?\}\]" if path.endswith(".td") else
               r"^#.*\n(?:(?!#).*\n?)*" if path.endswith(".md") else
               r"(?:^[ \t]*(?://|#).*\n)+")
    for match in re.finditer(pattern, text, re.M | re.S if path.endswith(".td")
                             else re.M):
        yield text.count("\n", 0, match.start()) + 1, match[0]


def numbered_once(where, text, problems):
    """The constraints of one list are C1, C2 … without a gap or a repetition,
    and no others are mentioned next to it."""
    found = []
    for entry in ENTRY.findall(text):
        for part in entry.split(", "):
            found += sorted(constraints(part))
    if sorted(found) != list(range(1, len(found) + 1)):
        problems.append(f"{where}: its constraints are numbered {found}")
    elif found and not constraints(text) <= set(found):
        problems.append(f"{where}: mentions a constraint above C{len(found)}")


def check_phases(problems):
    """Each constraint of a phase has its message and a test with that."""
    page = "include/rhizome/Pipeline/Phases.h"
    numbers = constraints((ROOT / page).read_text())
    for folder, what in (("lib/Pipeline/", "message"),
                         ("test/Pipeline/", "case of invalid IR")):
        text = "".join((ROOT / p).read_text() for p in tracked(".cpp", ".mlir")
                       if p.startswith(folder))
        named = {int(n) for n in re.findall(r"\bC(\d+): ", text)}
        for n in sorted(numbers ^ named):
            problems.append(f"{page}: C{n} has no {what} in {folder}"
                            if n in numbers else
                            f"{folder}: C{n} is no constraint of {page}")


def root_of(record, known):
    while record.base in known:
        record = known[record.base]
    return record.base


def check(path, problems):
    dialect = path.split("/")[-2]
    text = (ROOT / path).read_text()
    known = records(text)
    errors = ROOT / f"test/Dialect/{dialect}/errors.mlir"
    cases = set(re.findall(r"@(\w+)", errors.read_text()))
    # What a class describes is shown by one of its operations.
    shared, count = {}, 0
    for record in known.values():
        if record.is_class or not record.mnemonic:
            continue
        where = f"{path}:{record.line}"
        name = f"{dialect.lower()}.{record.mnemonic}"
        for attribute in TEXT.findall(record.body):
            if f"{name} {attribute}" not in TEXTS:
                problems.append(f"{where}: '{attribute}' of {name} is text: "
                                "give its values as an enumeration, or the "
                                "reason why it has none")
        root = root_of(record, known)
        if root not in ("Op", "TypeDef", "AttrDef"):
            continue
        count += 1
        owner = described(record, known)
        if not owner:
            problems.append(f"{where}: {name} has no description")
            continue
        if "```mlir" not in owner.body and "`!" not in owner.body:
            problems.append(f"{where}: {name} has no example")
        for n in constraints(owner.body):
            case = f"{record.mnemonic}_c{n}"
            shown = any(c == case or c.startswith(case + "_") for c in cases)
            entry = shared.setdefault((owner.name, n), [where, name, False])
            entry[2] |= shown
    for (_, n), (where, name, shown) in shared.items():
        if not shown:
            problems.append(f"{where}: no case of {errors.name} is named after "
                            f"C{n} of {name}")
    # And the other way round: nobody tests what is not promised. The dialect's
    # files share their tests.
    for other in tracked(".td"):
        if other.rsplit("/", 1)[0] == path.rsplit("/", 1)[0]:
            known |= records((ROOT / other).read_text())
    promised = {f"{r.mnemonic}_c{n}" for r in known.values() if r.mnemonic
                for owner in [described(r, known)] if owner
                for n in constraints(owner.body)}
    for case in sorted(cases):
        numbered = re.match(r"\w+?_c\d+(?=_|$)", case)
        if numbered and numbered[0] not in promised:
            problems.append(f"{errors.name}: @{case} names a constraint that "
                            f"{path} does not have")
    return count


def main():
    problems, count = [], 0
    paths = [p for p in tracked(".td") if "/Dialect/" in p
             and not p.endswith("Interfaces.td")]
    for path in paths:
        count += check(path, problems)
    check_phases(problems)
    lists = 0
    for path in tracked(".td", ".h", ".cpp", ".c", ".mlir", ".sv", ".md", ".py"):
        if path.endswith("hygiene/dialects.py"):
            continue
        for line, block in blocks(path, (ROOT / path).read_text()):
            numbered_once(f"{path}:{line}", block, problems)
            lists += bool(ENTRY.search(block))
    if lists < 40:
        problems.append(f"found {lists} lists of constraints only")
    texts = "".join((ROOT / p).read_text() for p in paths)
    for entry in TEXTS:
        attribute = entry.split()[1]
        if f":${attribute}" not in texts:
            problems.append(f"dialects.py: there is no {entry}")
    if count < 50:
        problems.append(f"found {count} operations and types only")
    return report(f"dialects ({count} operations and types)", problems)


if __name__ == "__main__":
    sys.exit(main())
