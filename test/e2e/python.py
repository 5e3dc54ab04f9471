# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The Python interface: its own tests with the program under test, and its
types."""
import os
import pathlib
import re
import sys

from framework import needed, run_program

ROOT = pathlib.Path(__file__).resolve().parents[2]


def python(suite):
    needed("pytest")
    needed("mypy")
    os.environ["RHIZOME_PROGRAM"] = str(suite.rhizome)
    result = run_program([sys.executable, "-m", "pytest", "-q", "-p",
                          "no:cacheprovider", "-c", ROOT / "pyproject.toml",
                          ROOT / "python/tests"], cwd=suite.work)
    passed = re.search(r"(\d+) passed", result.out)
    if not suite.check(result.status == 0 and passed,
                       f"pytest: {passed[0] if passed else 'none passed'}",
                       result.command):
        print(result.out)
    result = run_program([sys.executable, "-m", "mypy", "--config-file",
                          ROOT / "pyproject.toml", "--cache-dir",
                          suite.work / "mypy"], cwd=ROOT)
    suite.check(result.status == 0, f"mypy: {result.message}", result.command)
