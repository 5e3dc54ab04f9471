# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every kernel of the tree as hardware: the evaluator's bits in RTL, and the cycles
that its schedules say. Kernels for which simulation would take minutes have their
sizes divided."""
import json
import re

import kernels

ROOT = kernels.ROOT
# What is refused, by a part of the reason, in every number format.
REFUSED = {}
FIXED = ("--numbers", "fixed<8,24>")
FLOATS = ((), ("--numbers", "float<8,23>"), ("--numbers", "float<5,10>"))
MOST_CYCLES = 150000


def smaller(text, by):
    """A kernel with its sizes divided. Halos and small sizes stay."""
    return re.sub(r"\b\d{3,}\b", lambda n: str(max(2, int(n.group()) // by)),
                  text)


def found():
    """Names and texts of all kernels: files, and snippets of the docs."""
    for path in sorted((ROOT / "examples/kernels").glob("*.cfd")) + \
            sorted((ROOT / "bench/kernels").glob("*.cfd")) + \
            sorted((ROOT / "test").rglob("*.cfd")):
        yield f"{path.relative_to(ROOT)}", path.read_text()
    for path in sorted((ROOT / "docs").rglob("*.md")):
        text = path.read_text()
        for match in re.finditer(r"^```cfd\n(.*?)^```", text, re.M | re.S):
            line = text.count("\n", 0, match.start()) + 2
            yield f"{path.relative_to(ROOT)}:{line}", match.group(1)


def check(suite, name, text, numbers, options):
    """Compiles a kernel and simulates two elements; the cycles of an element.
    The reason, if it is refused."""
    path = suite.work / (re.sub(r"\W", "_", name) + ".cfd")
    path.write_text(text)
    package = suite.work / "all.rhz"
    common = (path, *numbers, "--device", "xcu280", "--clock-mhz", "300",
              *options)
    result = suite.run("explore", *common, "--json")
    answer = result.json or {}
    if result.status != 0:
        return None, json.dumps(answer.get("refusals") or answer.get("error"))
    cycles = answer["predicted"]["interval_cycles"]
    if cycles > MOST_CYCLES:
        return cycles, ""
    result = suite.run("compile", *common, "-o", package, "--json")
    result = suite.run("simulate", package, "-n", "2", "--json")
    answer = result.json or {}
    measured = answer.get("measured") or {}
    suite.check(answer.get("mismatches") == 0 and
                measured.get("interval_cycles") == cycles,
                f"{name} {' '.join(numbers)} {' '.join(options)}: {cycles:,} "
                f"cycles, {answer} {result.message}", result.command)
    return cycles, ""


def all_kernels(suite):
    """Each in fixed and in floating point, or as it is written; with a goal or
    without one, words of a beat and stages in turn."""
    suite.tool("verilator")
    built = turn = 0
    for place, (name, text) in enumerate(found()):
        reasons = []
        for numbers in (FIXED, FLOATS[place % len(FLOATS)]):
            turn += place % 2 + 1
            options = ((), ("--words", "4"), ("--stages", "2", "--words", "6"),
                       ("--goal", "max-throughput,dsp=40"))[turn % 4]
            cycles, reason = check(suite, name, text, numbers, options)
            by = 2
            # Where nothing is left to divide, the schedules are verified only.
            while (cycles and cycles > MOST_CYCLES and
                   smaller(text, by) != smaller(text, by // 2)):
                cycles, reason = check(suite, f"{name} / {by}",
                                       smaller(text, by), numbers, options)
                by *= 2
            if cycles:
                built += 1
            else:
                reasons.append(reason)
        if len(reasons) == 2:
            wanted = REFUSED.get(name.split(":")[0])
            suite.check(wanted and wanted in reasons[0],
                        f"{name} is refused: {reasons}")
    suite.check(built > 40, f"{built} units")
