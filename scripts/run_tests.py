#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs CTest on a part of the tests and ends with one line that counts the
passed, failed and skipped ones. The tests of a part are determined only by their
labels, and all of them run, independent of the clock, the commit or
chance.

  everyday  tests with neither of the labels slow and long
  main      those and the slow ones: `make test`
  long      the long ones: `make test-long`
  ci-long   the long ones that CI runs after main

A test that exceeds its timeout, or whose program is missing, has failed. With
--keep the results go to a file instead of the closing line; --total prints the
line for such files."""
import argparse
import json
import pathlib
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

PARTS = {"everyday": ["-LE", "^(slow|long)$"], "main": ["-LE", "^long$"],
         "long": ["-L", "^long$"], "ci-long": ["-L", "^ci-long$"]}


def names(build, select):
    listing = subprocess.run(
        ["ctest", "--test-dir", build, "--show-only=json-v1", *select],
        stdin=subprocess.DEVNULL, capture_output=True, text=True, check=True)
    return {test["name"] for test in json.loads(listing.stdout)["tests"]}


def outcome(case):
    """passed, failed or skipped. A test that CTest does not run, e.g. because its
    program is missing, has the same status as one that asks to be skipped; only the
    latter has a reason of these forms."""
    if case.get("status") == "run":
        return "passed"
    skipped = case.find("skipped")
    asked = skipped is not None and re.search(
        "SKIP_RETURN_CODE|SKIP_REGULAR_EXPRESSION", skipped.get("message", ""))
    return "skipped" if asked else "failed"


def run(build, jobs, part):
    """Runs a part and returns {name: passed|failed|skipped}."""
    expected = names(build, PARTS[part])
    report = pathlib.Path(build, f"tests-{part}.xml").resolve()
    report.unlink(missing_ok=True)
    subprocess.run(["ctest", "--test-dir", build, "-j", str(jobs),
                    "--output-on-failure", "--output-junit", str(report),
                    *PARTS[part]], stdin=subprocess.DEVNULL)
    # Tests missing from the report were not run.
    results = dict.fromkeys(expected, "failed")
    try:
        cases = ElementTree.parse(report).iter("testcase")
    except (OSError, ElementTree.ParseError):
        return results
    results |= {case.get("name"): outcome(case) for case in cases}
    return results


def total(results):
    """Prints the skipped and the failed tests, and the closing line."""
    groups = {kind: sorted(n for n, r in results.items() if r == kind)
              for kind in ("passed", "failed", "skipped")}
    print()
    for kind in ("skipped", "failed"):
        for name in groups[kind]:
            print(f"{kind}: {name}")
    line = f"{len(groups['passed'])} passed, {len(groups['failed'])} failed"
    if groups["skipped"]:
        line += f", {len(groups['skipped'])} skipped"
    print(line, flush=True)
    return 1 if groups["failed"] or not groups["passed"] else 0


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--build", default="build")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--part", choices=PARTS, default="main")
    parser.add_argument("--keep", metavar="FILE", type=pathlib.Path,
                        help="write the results there; no closing line")
    parser.add_argument("--total", metavar="FILE", type=pathlib.Path, nargs="+",
                        help="run nothing: the closing line for kept results")
    options = parser.parse_args()
    if options.total:
        results = {}
        for file in options.total:
            results |= json.loads(file.read_text())
        return total(results)
    results = run(options.build, options.jobs, options.part)
    if options.keep:
        options.keep.write_text(json.dumps(results))
        return 1 if "failed" in results.values() else 0
    return total(results)


if __name__ == "__main__":
    sys.exit(main())
