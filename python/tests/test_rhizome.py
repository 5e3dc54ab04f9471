# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The Python interface on networks and kernels of examples/."""
import concurrent.futures
import os
import pathlib
import signal
import threading
import time

import numpy as np
import pytest

import rhizome

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples"
DIGITS = EXAMPLES / "digits/digits_qdq_int8.onnx"
IMAGES = np.load(EXAMPLES / "digits/test_images.npy")
LABELS = np.load(EXAMPLES / "digits/test_labels.npy")


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    return rhizome.compile(DIGITS, goal="throughput=100000/s",
                           output=tmp_path_factory.mktemp("p") / "digits.rhz")


def test_compile_predicts_and_leaves_a_package(package):
    assert package.plan.predicted.interval_cycles == 1536
    assert package.plan.predicted.throughput_per_s > 100000
    assert package.rtl and package.report_page.exists()
    assert any(a["kind"] == "matvec" for a in package.plan.actors)
    again = rhizome.Package(package.folder)
    assert again.outputs == package.outputs


def test_infer_gives_what_evaluate_counts(package):
    logits = package.infer(IMAGES)
    assert logits.shape[0] == len(IMAGES)
    correct = int((logits.reshape(len(IMAGES), -1).argmax(1) == LABELS).sum())
    measured = package.evaluate(IMAGES, LABELS)
    assert (measured.correct, measured.frames) == (correct, len(IMAGES))
    assert correct == 444


def test_functional_simulation_equals_infer(package):
    result = package.simulate(IMAGES[:5], level="functional")
    assert (result.frames, result.mismatches) == (5, 0)
    assert result.measured is None
    np.testing.assert_array_equal(result.outputs[0], package.infer(IMAGES[:5]))


def test_explore_builds_nothing_and_agrees_with_compile(package, tmp_path,
                                                        monkeypatch):
    monkeypatch.chdir(tmp_path)
    plan = rhizome.explore(DIGITS, goal="throughput=100000/s")
    assert plan.predicted == package.plan.predicted
    assert not list(tmp_path.iterdir())


def test_a_plan_is_taken_again(package, tmp_path):
    again = rhizome.compile(DIGITS, plan=package, output=tmp_path / "again")
    assert again.plan.predicted == package.plan.predicted
    assert ([p.read_text() for p in again.rtl] ==
            [p.read_text() for p in package.rtl])


def test_refusals_name_every_node():
    with pytest.raises(rhizome.Refused) as caught:
        rhizome.compile(EXAMPLES / "pytorch/cnn.onnx", output="unused.rhz")
    refusals = caught.value.refusals
    assert len(refusals) > 1 and all(r.op == "Conv" for r in refusals[:2])
    assert "--calibration" in refusals[0].remedy
    assert not pathlib.Path("unused.rhz").exists()


def test_goals_out_of_reach_name_the_limit():
    with pytest.raises(rhizome.GoalError) as caught:
        rhizome.compile(DIGITS, goal="throughput=1e12/s", output="unused.rhz")
    assert "border" in caught.value.limit and "accept_nearest" in str(caught.value)
    assert caught.value.nearest["interval_cycles"] == 72


def test_wrong_options_and_files_are_told_apart(tmp_path):
    with pytest.raises(rhizome.UsageError, match="frobnicate"):
        rhizome.coverage(DIGITS, frobnicate=3)
    with pytest.raises(rhizome.RhizomeError, match="No such file"):
        rhizome.explore(tmp_path / "absent.onnx")
    with pytest.raises(rhizome.RhizomeError, match="not a package"):
        rhizome.Package(tmp_path)


def test_calibration_takes_arrays(tmp_path):
    frames = np.random.default_rng(1).random((20, 1, 8, 8), dtype=np.float32)
    plan = rhizome.explore(EXAMPLES / "pytorch/cnn.onnx", calibration=frames)
    assert plan.predicted.throughput_per_s > 0


def test_kernels_are_called_with_arrays():
    rng = np.random.default_rng(1)
    n = 11
    S, D, u = rng.random((n, n)), rng.random((n, n, n)), rng.random((2, n, n, n))
    v = rhizome.Kernel(EXAMPLES / "kernels/helmholtz.cfd")(S=S, D=D, u=u)
    t = np.einsum("il,jm,kn,elmn->eijk", S, S, S, u)
    wanted = np.einsum("li,mj,nk,elmn->eijk", S, S, S, D * t)
    np.testing.assert_allclose(v, wanted, rtol=1e-10)


def test_threads_run_side_by_side():
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        plans = list(pool.map(lambda goal: rhizome.explore(DIGITS, goal=goal),
                              ["max-throughput", "min-resources"]))
    assert (plans[0].predicted.throughput_per_s >
            plans[1].predicted.throughput_per_s)


def test_an_interrupt_ends_the_program(monkeypatch, tmp_path):
    waiting = tmp_path / "waits"
    waiting.write_text("#!/bin/sh\ntrap 'touch %s; exit 130' INT\n"
                       "touch %s\nwhile :; do sleep 0.05; done\n"
                       % (tmp_path / "ended", tmp_path / "began"))
    waiting.chmod(0o755)
    monkeypatch.setenv("RHIZOME_PROGRAM", str(waiting))

    def interrupt():
        while not (tmp_path / "began").exists():
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=interrupt).start()
    with pytest.raises(KeyboardInterrupt):
        rhizome.explore(DIGITS)
    assert (tmp_path / "ended").exists()


def test_notebooks_show_tables(package):
    shown = package._repr_html_()
    assert "<table>" in shown and "conv2_matvec" in shown
    assert "444" in package.evaluate(IMAGES, LABELS)._repr_html_()
