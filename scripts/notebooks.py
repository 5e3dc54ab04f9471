# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs a notebook of docs/tutorials from the first cell to the last one, for
the site (site_notebooks.py) and for the tests (python/tests). The notebooks
themselves hold no outputs. Cells with the tag `long` take minutes."""
import pathlib

import nbformat
from nbclient import NotebookClient

TUTORIALS = pathlib.Path(__file__).resolve().parents[1] / "docs/tutorials"


def is_long(cell):
    return "long" in cell.metadata.get("tags", [])


def executed(path, folder, with_long=False, timeout=900):
    """The notebook after its cells have run in the folder; those that were left
    out are where they were."""
    notebook = nbformat.read(path, 4)
    every = notebook.cells
    notebook.cells = [c for c in every if with_long or not is_long(c)]
    NotebookClient(
        notebook, timeout=timeout, kernel_name="python3",
        extra_arguments=["--IPKernelApp.log_level=ERROR"],
        resources={"metadata": {"path": str(folder)}}).execute()
    notebook.cells = every
    return notebook
