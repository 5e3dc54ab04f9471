# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The package under test is the one that is installed, otherwise the one beside
these tests."""
import pathlib
import sys

try:
    import rhizome  # noqa: F401
except ImportError:
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))


def pytest_addoption(parser):
    parser.addoption("--long", action="store_true",
                     help="also run the cells of notebooks that take minutes")
