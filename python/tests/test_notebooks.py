# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The tutorials run from the first cell to the last one."""
import os
import pathlib

import pytest

import rhizome

pytest.importorskip("nbclient")
pytest.importorskip("ipykernel")
notebooks = pytest.importorskip("notebooks")
TUTORIALS = sorted(notebooks.TUTORIALS.glob("*.ipynb"))


def test_there_are_tutorials_without_outputs():
    assert len(TUTORIALS) >= 5
    for path in TUTORIALS:
        for cell in notebooks.nbformat.read(path, 4).cells:
            assert not cell.get("outputs") and not cell.get("execution_count"), (
                f"{path.name} holds outputs: clear them before a commit")


@pytest.mark.slow
@pytest.mark.parametrize("path", TUTORIALS, ids=lambda path: path.stem)
def test_tutorial(path, tmp_path, monkeypatch, request):
    pytest.importorskip("matplotlib")
    # The kernel imports the package under test.
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(
        [str(pathlib.Path(rhizome.__file__).parents[1]),
         os.environ.get("PYTHONPATH", "")]))
    notebook = notebooks.executed(path, tmp_path,
                                  request.config.getoption("--long"))
    shown = [output for cell in notebook.cells
             for output in cell.get("outputs", [])]
    assert any("image/png" in each.get("data", {}) for each in shown) or any(
        "text/html" in each.get("data", {}) for each in shown)
    assert not [each for each in shown if each.get("name") == "stderr"]
