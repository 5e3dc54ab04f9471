#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs CTest: first everything that is not labelled slow, then the slow tests
as far as the time budget reaches. Which of these come first changes with every
commit, so that a few commits see all. Ends with one line that counts what
passed, failed and was skipped; a test that the budget left out counts as
skipped."""
import argparse
import datetime
import json
import re
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree
import zlib

# CTest stops at whole seconds.
LEEWAY = datetime.timedelta(seconds=2)
# The slow tests fall into so many parts; a commit begins with one of them.
PARTS = 3


def names(build, select):
    listing = subprocess.run(
        ["ctest", "--test-dir", build, "--show-only=json-v1", *select],
        stdin=subprocess.DEVNULL, capture_output=True, text=True, check=True)
    return {test["name"] for test in json.loads(listing.stdout)["tests"]}


def run(build, jobs, select, report, stop_at=None):
    """Runs the selected tests and returns {name: passed|failed|skipped}."""
    expected = names(build, select)
    if not expected:
        return {}
    command = ["ctest", "--test-dir", build, "-j", str(jobs),
               "--output-on-failure", "--output-junit", report, *select]
    if stop_at:
        command += ["--stop-time", stop_at.strftime("%H:%M:%S")]
    cut_off = set()  # what the end of the budget stopped
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, text=True,
                          errors="replace", stdout=subprocess.PIPE) as process:
        for line in process.stdout:
            late = stop_at and datetime.datetime.now() >= stop_at - LEEWAY
            test = re.search(r"Test +#\d+: (\S+) .*\*\*\*Timeout", line)
            if late and test:
                cut_off.add(test.group(1))
            if any(f" {name} " in line for name in cut_off):
                line = re.sub(r"\*\*\*Timeout|\(Timeout\)", "left out", line)
            print(line, end="", flush=True)
    results = dict.fromkeys(expected, "skipped")
    try:
        cases = ElementTree.parse(f"{build}/{report}").iter("testcase")
    except (OSError, ElementTree.ParseError):
        return dict.fromkeys(expected, "failed")
    for case in cases:
        name = case.get("name")
        if name not in cut_off:
            results[name] = {"run": "passed", "fail": "failed"}.get(
                case.get("status"), "skipped")
    return results


def in_turn(slow):
    """The slow tests in parts, the part whose turn it is first."""
    count = subprocess.run(["git", "rev-list", "--count", "HEAD"],
                           capture_output=True, text=True)
    turn = int(count.stdout) if count.returncode == 0 else 0
    parts = [[name for name in sorted(slow)
              if zlib.crc32(name.encode()) % PARTS == (turn + k) % PARTS]
             for k in range(PARTS)]
    return [part for part in parts if part]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", default="build")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--fast", action="store_true",
                        help="leave out the tests labelled slow")
    parser.add_argument("--started", type=float, default=time.time(),
                        help="when the budget began, in seconds since 1970")
    parser.add_argument("--budget-s", type=float, default=2100,
                        help="seconds after which no slow test goes on")
    options = parser.parse_args()
    results = run(options.build, options.jobs, ["-LE", "^slow$"], "fast.xml")
    if not options.fast:
        end = datetime.datetime.fromtimestamp(options.started + options.budget_s)
        for k, part in enumerate(in_turn(names(options.build, ["-L", "^slow$"]))):
            if end - datetime.datetime.now() < datetime.timedelta(seconds=10):
                results |= dict.fromkeys(part, "skipped")
                continue
            select = ["-R", "^(" + "|".join(map(re.escape, part)) + ")$"]
            results |= run(options.build, options.jobs, select, f"slow-{k}.xml",
                           end)
    groups = {kind: sorted(n for n, r in results.items() if r == kind)
              for kind in ("passed", "failed", "skipped")}
    print()
    for kind in ("skipped", "failed"):
        for name in groups[kind]:
            print(f"{kind}: {name}")
    line = f"{len(groups['passed'])} passed, {len(groups['failed'])} failed"
    if groups["skipped"]:
        line += f", {len(groups['skipped'])} skipped"
    print(line)
    return 1 if groups["failed"] or not groups["passed"] else 0


if __name__ == "__main__":
    sys.exit(main())
