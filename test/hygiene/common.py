# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Shared by the hygiene tests: the files of the project, and how a test
reports its findings."""
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]


def tracked(*endings):
    """Files that git tracks or would track, relative to the root."""
    listing = subprocess.run(
        ["git", "-c", "safe.directory=*", "ls-files", "-z", "--cached",
         "--others", "--exclude-standard"],
        cwd=ROOT, capture_output=True, text=True, check=True)
    paths = sorted(p for p in set(listing.stdout.split("\0"))
                   if p and (ROOT / p).is_file())
    return [p for p in paths if not endings or p.endswith(endings)]


def argument(usage):
    """The script's first argument; without one, ends with its usage."""
    if len(sys.argv) < 2:
        sys.exit(usage)
    return sys.argv[1]


def report(name, problems):
    """Prints the problems; returns the test's exit code."""
    for problem in problems:
        print(problem)
    print(f"{name}: {len(problems) or 'no'} problem"
          f"{'' if len(problems) == 1 else 's'}")
    return 1 if problems else 0
