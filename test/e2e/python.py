# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The Python interface: its own tests with the program under test, and its
types. The tutorials run where the site is built; `documents` runs the code of
other pages, `bitstream` the tutorial whose last step takes minutes."""
import os
import pathlib
import re
import sys

from framework import needed, run_program

ROOT = pathlib.Path(__file__).resolve().parents[2]


def tests(suite, *arguments):
    needed("pytest")
    os.environ["RHIZOME_PROGRAM"] = str(suite.rhizome)
    os.environ["PYTHONPATH"] = str(ROOT / "python")
    result = run_program([sys.executable, "-m", "pytest", "-q", "-p",
                          "no:cacheprovider", "-c", ROOT / "pyproject.toml",
                          *arguments, ROOT / "python/tests"], cwd=suite.work)
    passed = re.search(r"(\d+) passed", result.out)
    if not suite.check(result.status == 0 and passed,
                       f"pytest: {passed[0] if passed else 'none passed'}",
                       result.command):
        print(result.out)


def python(suite):
    needed("mypy")
    tests(suite, "-m", "not slow")
    result = run_program([sys.executable, "-m", "mypy", "--config-file",
                          ROOT / "pyproject.toml", "--cache-dir",
                          suite.work / "mypy"], cwd=ROOT)
    suite.check(result.status == 0, f"mypy: {result.message}", result.command)


def documents(suite):
    tests(suite, "-m", "slow", "-k", "test_code_of")


def bitstream(suite):
    needed("nbclient")
    suite.tool("nextpnr-ice40")
    tests(suite, "--long", "-k", "icebreaker")
