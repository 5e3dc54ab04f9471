# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The package under test is the one that is installed, otherwise the one beside
these tests. The tutorials are run by what makes their pages."""
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
try:
    import rhizome  # noqa: F401
except ImportError:
    sys.path.insert(0, str(ROOT / "python"))
sys.path.append(str(ROOT / "scripts"))


def pytest_addoption(parser):
    parser.addoption("--long", action="store_true",
                     help="also run the cells of notebooks that take minutes")
