# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The tutorials run from the first cell to the last one."""
import os
import pathlib

import pytest

import rhizome

ROOT = pathlib.Path(__file__).resolve().parents[2]
TUTORIALS = sorted((ROOT / "docs/tutorials").glob("*.ipynb"))


def test_there_are_tutorials_without_outputs():
    nbformat = pytest.importorskip("nbformat")
    assert len(TUTORIALS) >= 5
    for path in TUTORIALS:
        for cell in nbformat.read(path, 4).cells:
            assert not cell.get("outputs") and not cell.get("execution_count"), (
                f"{path.name} holds outputs: clear them before a commit")


@pytest.mark.slow
@pytest.mark.parametrize("path", TUTORIALS, ids=lambda path: path.stem)
def test_tutorial(path, tmp_path, monkeypatch, request):
    nbformat = pytest.importorskip("nbformat")
    nbclient = pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    pytest.importorskip("matplotlib")
    # The kernel imports the package under test.
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(
        [str(pathlib.Path(rhizome.__file__).parents[1]),
         os.environ.get("PYTHONPATH", "")]))
    notebook = nbformat.read(path, 4)
    if not request.config.getoption("--long"):
        notebook.cells = [cell for cell in notebook.cells
                          if "long" not in cell.metadata.get("tags", [])]
    nbclient.NotebookClient(
        notebook, timeout=900, kernel_name="python3",
        resources={"metadata": {"path": str(tmp_path)}}).execute()
    shown = [output for cell in notebook.cells
             for output in cell.get("outputs", [])]
    assert any("image/png" in each.get("data", {}) for each in shown) or any(
        "text/html" in each.get("data", {}) for each in shown)
    assert not [each for each in shown if each.get("name") == "stderr"]
