#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The hash of the instruction set changes with everything that has a meaning,
and with no explanation: 100 changes of rtl/isa/Engine.td to opcodes, fields,
bounds, rules, accesses and semantics give 100 new hashes, 20 changes of texts
give the old one.

    isa_mutations.py LLVM_TBLGEN"""
import json
import random
import re
import subprocess
import sys

from common import ROOT, argument, report

sys.path.insert(0, str(ROOT / "scripts"))
import generate_isa  # noqa: E402

SOURCE = ROOT / "rtl" / "isa" / "Engine.td"
CHANGES, TEXTS = 100, 20


def hash_of(tblgen, text):
    made = subprocess.run(
        [tblgen, "--dump-json", "-I", ROOT / "include", "-"], input=text,
        capture_output=True, text=True, check=True)
    return generate_isa.Isa(json.loads(made.stdout)).hash()


def replaced(text, match, new, group=0):
    return text[:match.start(group)] + new + text[match.end(group):]


def inside(text, pattern):
    """The places of `pattern` in what the comments do not say."""
    return [m for m in re.finditer(pattern, text)
            if "//" not in text[text.rfind("\n", 0, m.start()) + 1:m.start()]]


def one_of(chance, text, pattern):
    return chance.choice(inside(text, pattern))


def opcodes(chance, text):
    """Two instructions change their opcodes."""
    a, b = sorted(chance.sample(inside(text, r": Instruction<(\d)"), 2),
                  key=lambda m: m.start())
    return replaced(replaced(text, b, a[1], 1), a, b[1], 1)


def units(chance, text):
    """An instruction goes to another unit."""
    match = one_of(chance, text, r"Instruction<\d, \"\w+\", (\w+)>")
    return replaced(text, match, chance.choice(
        [u for u in ("LoadUnit", "WeightUnit", "MatrixUnit", "StoreUnit")
         if u != match[1]]), 1)


def widths(chance, text):
    """A field has one bit less."""
    match = one_of(chance, text, r"(?:Times|Stride|Field)<\"\w+\", (\d+),")
    return replaced(text, match, str(int(match[1]) - 1), 1)


def fields(chance, text):
    """Two neighboring fields change their order."""
    field = r"(?:Times|Stride|Field|Place|Byte|Flag)<[^<>]*>"
    match = one_of(chance, text, rf"({field})(,\s+)({field})")
    return replaced(text, match, match[3] + match[2] + match[1])


def names(chance, text):
    """A value of a choice has another name."""
    match = one_of(chance, text, r"\"(m\d|stream|scratch|requantize|add|maximum|"
                                 r"dot|multiply|table)\"(?=[,\]])")
    return replaced(text, match, match[1] + "x", 1)


def bounds(chance, text):
    """A field or a parameter has another greatest value."""
    match = one_of(chance, text, r"(?:Times|Field)<\"\w+\", \d+, (?:\"\w\", )?"
                                 r"\"([^\"]+)\"")
    return replaced(text, match, match[1] + " - 1", 1)


def parameters(chance, text):
    match = one_of(chance, text, r"CoreParameter<\"\w+\", \d+, (\d+)")
    return replaced(text, match, str(int(match[1]) - 1), 1)


def rules(chance, text):
    match = one_of(chance, text, r"Rule<\"([^\"]+)\"")
    return replaced(text, match, "!(" + match[1] + ")", 1)


def accesses(chance, text):
    """An access has another first word, condition or loop."""
    match = one_of(chance, text, r"(?:Reads|Writes)<\"\w+\", \"(\w+)\"|"
                                 r"\"[^\"]+, (\w+)\"[,\]]")
    group = 1 if match[1] else 2
    return replaced(text, match, match[group] + " + 1", group)


def blocks(chance, text):
    match = one_of(chance, text, r"let P(?:ushe|op)s = \"([^\"]+)\"")
    return replaced(text, match, match[1] + " * 2", 1)


def semantics(chance, text):
    """One sign or number of what an instruction does is another one."""
    body = chance.choice(list(re.finditer(
        r"let Semantics = \[\{(.*?)\}\];", text, re.S)))
    match = chance.choice([
        m for m in re.finditer(r"(?<![\w+<>=&|*-])(\d+|\+|-|\*|<|>|&|<=|>=|==)"
                               r"(?![\w+<>=&|*-])", text)
        if body.start(1) <= m.start() < body.end(1)])
    sign = match[1]
    others = {"+": "-", "-": "+", "*": "+", "<": "<=", ">": "<", "&": "|",
              "<=": "<", ">=": ">", "==": "!="}
    return replaced(text, match, others.get(sign) or str(int(sign) + 1))


def explanations(chance, text):
    """A word of a summary, of a text or of a field's text is another one."""
    match = one_of(chance, text, r"let Summary = \"(\w+)|"
                                 r"(?:Times|Stride|Place)<[^<>]*\"(\w+)[^<>\"]*\">")
    group = 1 if match[1] else 2
    return replaced(text, match, "words", group)


def main():
    tblgen = argument(__doc__)
    text = SOURCE.read_text()
    chance = random.Random(1)
    known = {hash_of(tblgen, text): "no change"}
    first = next(iter(known))
    problems, seen = [], {text}

    def different(kind):
        for _ in range(100):
            changed = kind(chance, text)
            if changed not in seen:
                seen.add(changed)
                return changed
        return None

    kinds = [opcodes, units, widths, fields, names, bounds, parameters, rules,
             accesses, blocks, semantics, semantics, semantics]
    made = 0
    while made < CHANGES:
        kind = kinds[made % len(kinds)]
        changed = different(kind)
        if changed is None:  # there are no more of this kind
            kinds.remove(kind)
            continue
        made += 1
        found = hash_of(tblgen, changed)
        if found in known:
            problems.append(f"change {made} ({kind.__name__}) has the hash of "
                            f"{known[found]}")
        known[found] = f"change {made} ({kind.__name__})"
    for _ in range(TEXTS):
        if hash_of(tblgen, different(explanations)) != first:
            problems.append("an explanation changes the hash")
    return report(f"isa_mutations ({made} changes)", problems)


if __name__ == "__main__":
    sys.exit(main())
