#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which tests run, and how they are counted. Every test of this build belongs
to exactly one of everyday, slow and long, and CI's list contains only long ones;
scripts/run_tests.py runs all of a part and counts a timeout, a crash and a
missing program as failures. Usage: tests.py BUILD"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile

from common import ROOT, argument, report

KNOWN = {"e2e", "fast", "slow", "long", "ci-long"}
# Name, what runs, properties, and the expected result. A label says which parts
# of the made-up build below hold it.
MADE_UP = (
    ("good", 'true', "", "passed"),
    ("bad", 'false', "", "failed"),
    ("absent", '/nowhere/program', "", "failed"),
    ("late", 'sleep 60', "TIMEOUT 1", "failed"),
    ("crashes", 'sh -c "kill -11 $$"', "", "failed"),
    ("skips", 'sh -c "exit 77"', "SKIP_RETURN_CODE 77", "skipped"),
    ("says-so", 'echo SKIPPED', "SKIP_REGULAR_EXPRESSION SKIPPED", "skipped"),
    ("slow", 'true', "LABELS slow", "passed"),
    ("long", 'true', "LABELS long", "passed"),
    ("ci", 'true', "LABELS long;ci-long", "passed"),
)
PARTS = {"everyday": {m[0] for m in MADE_UP} - {"slow", "long", "ci"},
         "main": {m[0] for m in MADE_UP} - {"long", "ci"},
         "long": {"long", "ci"}, "ci-long": {"ci"}}


def labels(build):
    """{test: labels} of a build."""
    listing = subprocess.run(
        ["ctest", "--test-dir", build, "--show-only=json-v1"],
        stdin=subprocess.DEVNULL, capture_output=True, text=True, check=True)
    found = {}
    for test in json.loads(listing.stdout)["tests"]:
        values = [p["value"] for p in test.get("properties", [])
                  if p["name"] == "LABELS"]
        found[test["name"]] = set(values[0] if values else ())
    return found


def check_labels(tests):
    problems = []
    for name, own in sorted(tests.items()):
        for label in sorted(own - KNOWN):
            problems.append(f"{name}: the label '{label}' is unknown")
        if {"slow", "long"} <= own:
            problems.append(f"{name}: is slow and long")
        if "ci-long" in own and "long" not in own:
            problems.append(f"{name}: is ci-long, but not long")
    for label in ("slow", "long", "ci-long"):
        if not any(label in own for own in tests.values()):
            problems.append(f"no test has the label '{label}'")
    return problems


def run_tests(*arguments):
    return subprocess.run(
        [sys.executable, ROOT / "scripts/run_tests.py", *arguments],
        stdin=subprocess.DEVNULL, capture_output=True, text=True)


def closing(results):
    count = {kind: sum(r == kind for r in results.values())
             for kind in ("passed", "failed", "skipped")}
    line = f"{count['passed']} passed, {count['failed']} failed"
    return line + (f", {count['skipped']} skipped" if count["skipped"] else "")


def check_runner(folder):
    """The parts of the made-up build, their results and the closing line."""
    problems = []
    lines = []
    for name, command, properties, _ in MADE_UP:
        lines.append(f"add_test({name} {command})")
        if properties:
            key, value = properties.split(" ", 1)
            lines.append(f"set_tests_properties({name} PROPERTIES {key} "
                         f"\"{value}\")")
    (folder / "CTestTestfile.cmake").write_text("\n".join(lines) + "\n")
    expected = {m[0]: m[3] for m in MADE_UP}
    kept = []
    for part, members in PARTS.items():
        kept.append(folder / f"{part}.json")
        run = run_tests("--build", folder, "--part", part, "--keep", kept[-1])
        results = json.loads(kept[-1].read_text())
        wanted = {name: expected[name] for name in members}
        if results != wanted:
            problems.append(f"part {part}: {results} is not {wanted}")
        if run.returncode != ("failed" in wanted.values()):
            problems.append(f"part {part}: status {run.returncode}")
        if re.search(r"^\d+ passed, ", run.stdout, re.M):
            problems.append(f"part {part}: a closing line despite --keep")
    direct = run_tests("--build", folder, "--part", "long")
    if direct.stdout.splitlines()[-1] != "2 passed, 0 failed" or (
            direct.returncode):
        problems.append(f"part long ends with {direct.stdout[-80:]!r}")
    whole = run_tests("--total", kept[1], kept[3])
    wanted = closing({n: expected[n] for n in PARTS["main"] | PARTS["ci-long"]})
    if whole.stdout.splitlines()[-1] != wanted or whole.returncode != 1:
        problems.append(f"the total ends with {whole.stdout[-80:]!r}, not with "
                        f"{wanted!r}")
    return problems


def main():
    problems = check_labels(labels(argument(__doc__)))
    with tempfile.TemporaryDirectory() as folder:
        problems += check_runner(pathlib.Path(folder))
    return report("tests", problems)


if __name__ == "__main__":
    sys.exit(main())
