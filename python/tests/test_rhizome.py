# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The Python interface on networks and kernels of examples/."""
import concurrent.futures
import os
import pathlib
import shutil
import signal
import subprocess
import sys
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
    assert logits.shape == (len(IMAGES), 10)
    correct = int((logits.argmax(1) == LABELS).sum())
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


def test_plans_are_edited_and_built(package, tmp_path):
    plan = rhizome.explore(DIGITS, goal="throughput=100000/s")
    edited = plan.edit({"conv2": "matvec?pe=16&simd=9"})
    changed = {a.name for a, b in zip(plan.operations, edited.operations)
               if a.option != b.option}
    assert changed == {"conv2"}
    assert edited["conv2"].option.startswith("stream/matvec?pe=16&simd=9&")
    assert edited.predicted.lut > plan.predicted.lut
    assert plan["conv2"].option == package.plan["conv2"].option
    again = edited.edit({"conv3": {"generator": "dhm"}})
    assert again["conv2"].option == edited["conv2"].option
    assert again["conv3"].generator == "dhm"
    faster = edited.edit(goal="throughput=140000/s", keep=False)
    assert faster["conv2"].option == edited["conv2"].option
    assert faster.predicted.throughput_per_s >= 140000
    built = again.build(tmp_path / "edited.rhz")
    assert built.plan.predicted == again.predicted
    assert ([each.option for each in built.plan.operations] ==
            [each.option for each in again.operations])


def test_wrong_edits_say_what_would_work(package):
    plan = rhizome.explore(DIGITS, goal="throughput=100000/s")
    with pytest.raises(rhizome.UsageError) as caught:
        plan.edit({"conv9": "matvec?pe=1"})
    assert "conv9" in caught.value.reason and "conv2" in caught.value.remedy
    with pytest.raises(rhizome.Refused) as caught:
        plan.edit({"conv2": "stream/matvec?pe=7"})
    assert caught.value.node == "conv2" and "pe=7" in caught.value.reason
    assert caught.value.refusals[0].line == 0 and "line" not in str(caught.value)
    assert "stream/matvec?pe=" in caught.value.remedy
    with pytest.raises(rhizome.UsageError) as caught:
        plan.edit({"conv2": {"opton": "stream/matvec"}})
    assert "'opton'" in caught.value.reason and "option" in caught.value.remedy
    with pytest.raises(rhizome.RhizomeError, match="read from a package"):
        rhizome.Package(package.folder).plan.edit({"conv2": "matvec?pe=1"})


def test_a_pair_of_numbers_is_one_value():
    network = EXAMPLES / "pytorch/cnn.onnx"
    plans = [rhizome.explore(network, calibration=IMAGES[:20], bits=bits)
             for bits in ((4, 8), "4,8", 8)]
    assert plans[0].predicted == plans[1].predicted != plans[2].predicted


def test_a_quantized_network_is_looked_at_and_compiled(tmp_path):
    network = EXAMPLES / "pytorch/cnn.onnx"
    quantized = rhizome.quantize(network, IMAGES[:100], bits=(6, 8),
                                 layer_bits={"node_conv2d_1": (8, 8)})
    layers = {layer.name: layer for layer in quantized.layers}
    assert len(layers) > 4 and quantized.frames == 100
    assert layers["node_conv2d_1"].weight_bits == 8
    assert quantized["node_conv2d_2"].weight_bits == 6
    for layer in quantized.layers:
        if layer.activation_bits and layer.op != "input":
            # The scale covers the range that was observed, but for what
            # saturates on purpose.
            codes = 2 ** layer.activation_bits
            assert 0 <= layer.saturated < 0.05
            assert layer.scale * codes >= 0.5 * (layer.high - layer.low)
    assert 20 < quantized.snr_db < 60 and quantized.agreement > 0.95
    lower = rhizome.quantize(network, IMAGES[:100], bits=4)
    assert lower.snr_db < quantized.snr_db

    # The same hardware as from the float network with the same options.
    goal = "throughput=10000/s"
    plan = rhizome.explore(quantized, goal=goal)
    package = plan.build(tmp_path / "cnn.rhz")
    options = {"calibration": IMAGES[:100],
               "bits": ["6,8", "node_conv2d_1=8,8"]}
    whole = rhizome.compile(network, goal=goal, output=tmp_path / "whole",
                            **options)
    assert whole.plan.predicted == package.plan.predicted == plan.predicted
    assert ([p.read_text() for p in whole.rtl] ==
            [p.read_text() for p in package.rtl])
    measured = rhizome.evaluate(quantized, IMAGES[100:], LABELS[100:])
    assert measured.correct == package.evaluate(
        IMAGES[100:], LABELS[100:]).correct
    assert measured.accuracy > 0.9


def test_progress_is_told(tmp_path):
    said = []
    rhizome.explore(DIGITS, progress=said.append)
    assert said and any("explore" in line for line in said)
    assert not any("\r" in line or "\x1b" in line for line in said)

    def stop(line):
        raise RuntimeError(line)
    with pytest.raises(RuntimeError, match="…"):
        rhizome.compile(DIGITS, output=tmp_path / "never", progress=stop)
    assert not (tmp_path / "never").exists()


def test_an_interrupt_ends_what_the_program_runs(package, tmp_path,
                                                 monkeypatch):
    # A new folder for caches, so that Verilator has to build.
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))

    def running():
        for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
            try:
                text = stat.read_text()
                words = (stat.parent / "cmdline").read_bytes()
            except OSError:
                continue
            if text.rpartition(")")[2].split()[0] != "Z":
                yield words.replace(b"\0", b" ").decode(errors="replace")

    def building():
        return [words for words in running()
                if "verilator" in words and str(package.folder) in words]

    def interrupt():
        while not building():
            time.sleep(0.05)
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=interrupt, daemon=True).start()
    with pytest.raises(KeyboardInterrupt):
        package.simulate(frames=2)
    assert not building()


def test_refusals_name_every_node():
    with pytest.raises(rhizome.Refused) as caught:
        rhizome.compile(EXAMPLES / "pytorch/cnn.onnx", output="unused.rhz")
    refusals = caught.value.refusals
    assert len(refusals) > 1 and all(r.op == "Conv" for r in refusals[:2])
    assert "give calibration DATA" in refusals[0].remedy
    assert caught.value.node == refusals[0].node != ""
    assert not pathlib.Path("unused.rhz").exists()


def test_goals_out_of_reach_name_the_limit():
    with pytest.raises(rhizome.GoalError) as caught:
        rhizome.compile(DIGITS, goal="throughput=1e12/s", output="unused.rhz")
    assert "border" in caught.value.limit and "accept_nearest" in str(caught.value)
    assert caught.value.nearest["interval_cycles"] == 128


def test_wrong_options_and_files_are_told_apart(tmp_path):
    with pytest.raises(rhizome.UsageError, match="frobnicate"):
        rhizome.coverage(DIGITS, frobnicate=3)
    with pytest.raises(rhizome.UsageError, match="^goal: "):
        rhizome.explore(DIGITS, goal="fast")
    with pytest.raises(rhizome.RhizomeError, match="No such file"):
        rhizome.explore(tmp_path / "absent.onnx")
    with pytest.raises(rhizome.RhizomeError, match="not a package"):
        rhizome.Package(tmp_path)


def test_paths_are_no_options(tmp_path: pathlib.Path,
                              monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "evil.yaml").write_text(f"model: {DIGITS}\n")
    for name in ("--config=evil.yaml", "--json", "-o"):
        for call in (rhizome.compile, rhizome.coverage, rhizome.explore):
            with pytest.raises(rhizome.RhizomeError) as caught:
                call(name)
            assert "config" not in str(caught.value) or name in str(caught.value)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["evil.yaml"]


@pytest.mark.parametrize("plan", [
    "", "[", "[]", "null", "7", "{}", '{"schema": "x"}', "[" * 100000,
    '{"schema": 1, "nodes": 5}', '{"schema": 1, "nodes": [5]}',
    '{"schema": 1, "nodes": [{"name": 1}]}',
    '{"schema": 1, "predicted": [1]}', '{"schema": 1, "predicted": {"lut": "x"}}',
    '{"schema": 1, "nodes": [{"name": "a", "actors": {}}]}',
    '{"schema": 1, "nodes": [{"name": "a", "operations": [{"name": "b"}]}]}',
    '{"schema": 1, "notes": [1]}', '{"schema": 1, "alternatives": "x"}'])
def test_a_malformed_plan_is_no_package(tmp_path: pathlib.Path, plan: str) -> None:
    (tmp_path / "plan.json").write_text(plan)
    with pytest.raises(rhizome.RhizomeError, match="not a package"):
        rhizome.Package(tmp_path)


def test_a_device_that_is_not_there_is_bad_usage() -> None:
    for call in (rhizome.explore, rhizome.analyze, rhizome.compile):
        with pytest.raises(rhizome.UsageError, match="nothing"):
            call(DIGITS, device="nothing")


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


DOUBLE = """
var input  u : [4 4]
var output v : [4 4]
v[i,j] = 2 * u[i,j]
"""


def test_kernels_are_texts_too(tmp_path):
    u = np.arange(16.0).reshape(4, 4)
    double = rhizome.Kernel(DOUBLE)
    assert (double.inputs, double.outputs) == (["u"], ["v"])
    np.testing.assert_array_equal(double(u=u), 2 * u)
    np.testing.assert_array_equal(double(u=u[None]), 2 * u[None])
    one = rhizome.Kernel("var input u : [4] var output v : [4] v[i] = 3 * u[i]")
    np.testing.assert_array_equal(one(u=np.ones(4)), 3 * np.ones(4))
    module = rhizome.Kernel("""
func.func @two(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  return %x, %x : tensor<4xf32>, tensor<4xf32>
}""")
    for each in module(x0=np.ones(4)):
        np.testing.assert_array_equal(each, np.ones(4))
    with pytest.raises(rhizome.RhizomeError, match="^source:4:"):
        rhizome.Kernel(DOUBLE.replace("u[i,j]", "w[i,j]"))
    with pytest.raises(rhizome.RhizomeError, match="No such file"):
        rhizome.Kernel(tmp_path / "absent.cfd")
    with pytest.raises(rhizome.UsageError, match="^source: .*no kernel's file"):
        rhizome.Kernel(DIGITS)
    with pytest.raises(rhizome.RhizomeError, match="the arrays: 'u' is"):
        double(u=np.ones(3))
    with pytest.raises(rhizome.UsageError, match="^numbers: "):
        rhizome.Kernel(DOUBLE, numbers="fixd<3>")


def test_kernels_in_hardware(tmp_path):
    path = tmp_path / "both.cfd"
    path.write_text("var input a : [3 4]\nvar input b : [4]\n"
                    "var output c : [3]\nvar output d : [3 4]\n"
                    "d[i,j] = a[i,j] + b[j]\nc[i] = sum(j) d[i,j]\n")
    options = {"numbers": "fixed<8,8>", "device": "xcu280"}
    plan = rhizome.explore(path, **options)
    assert plan.operations and plan.predicted.throughput_per_s
    package = rhizome.compile(path, output=tmp_path / "both.rhz",
                              goal="min-resources", **options)
    assert repr(package.plan).startswith("Plan(") and "1 node," in repr(package)
    assert package.plan.bottleneck and package.plan.operations
    assert package.inputs == {"a": (3, 4), "b": (4,)}
    assert sorted(package.outputs) == ["c", "d"]
    assert package.report_page.exists() and (package.folder / "README.md").exists()
    a, b = np.arange(12.0).reshape(3, 4) / 4, np.arange(4.0)
    got = dict(zip(package.outputs, package.infer({"a": a, "b": b})))
    np.testing.assert_array_equal(got["d"], a + b)
    np.testing.assert_array_equal(got["c"], (a + b).sum(axis=1))
    many = dict(zip(package.outputs, package.infer([np.stack([a, a]), b])))
    np.testing.assert_array_equal(many["d"], np.stack([a + b, a + b]))
    with pytest.raises(rhizome.RhizomeError, match="inputs: .*'a' is"):
        package.infer({"a": b, "b": b})
    with pytest.raises(rhizome.RhizomeError, match="number formats|finite"):
        package.infer({"a": a * np.nan, "b": b})
    if shutil.which("verilator"):
        simulation = package.simulate({"a": a, "b": b})
        assert simulation.mismatches == 0
        got = dict(zip(package.outputs, simulation.outputs))
        np.testing.assert_array_equal(got["d"], a + b)
        again = package.infer({"a": a, "b": b}, driver="simulation")
        np.testing.assert_array_equal(again[package.outputs.index("c")], got["c"])


def test_errors_name_arguments(tmp_path):
    frames = np.random.default_rng(1).random((2, 3), dtype=np.float32)
    with pytest.raises(rhizome.RhizomeError) as caught:
        rhizome.explore(EXAMPLES / "pytorch/cnn.onnx", calibration=frames)
    assert "calibration" in str(caught.value)
    assert "/tmp" not in str(caught.value) and "--" not in str(caught.value)
    with pytest.raises(rhizome.RhizomeError) as caught:
        rhizome.evaluate(DIGITS, frames)
    assert "data" in str(caught.value) and ".npy" not in str(caught.value)


def test_formats_are_compared():
    found = rhizome.formats(EXAMPLES / "kernels/gradient.cfd",
                            ["half", "fixed<8,24>", "fixed<8,8>"])
    by_name = {each.format: each for each in found}
    assert len(found) == 3 and found.pareto
    assert (by_name["fixed<8,24>"].relative_error <
            by_name["fixed<8,8>"].relative_error)
    assert (by_name["fixed<8,24>"].multiply_add_luts >
            by_name["fixed<8,8>"].multiply_add_luts)
    assert "fixed&lt;8,24&gt;" in found._repr_html_()


def test_widths_are_found_for_an_accuracy():
    network = EXAMPLES / "jets/jets_float.onnx"
    jets = np.load(EXAMPLES / "jets/test_jets.npy")[:200]
    labels = np.load(EXAMPLES / "jets/test_labels.npy")[:200]
    options = {"device": "xc7a35t",
               "goal": "throughput=1000000/s,min-resources,dsp=0"}
    told = []
    found = rhizome.precision(network, jets, labels, bits=6, accuracy_loss=3,
                              calibration_frames=50, progress=told.append,
                              **options)
    assert told and found.chosen.keeps_accuracy and found.chosen.meets_goal
    assert found.uniform.predicted.lut > found.chosen.predicted.lut
    assert all(weights <= 6 and activations <= 6
               for weights, activations in found.bits.values())
    assert found.chosen in found.front and len(found.choices) > 10
    with_widths = {"calibration": jets, "calibration_frames": 50,
                   "bits": found.bits}
    counted = rhizome.evaluate(network, jets, labels, **with_widths)
    assert counted.accuracy == found.chosen.accuracy
    plan = rhizome.explore(network, **with_widths, **options)
    assert plan.predicted == found.chosen.predicted
    shown = found._repr_html_()
    assert shown.startswith("<svg") and "<table>" in shown


def test_rates_are_rounded_as_the_program_does(package):
    assert [rhizome.plan.rate(each) for each in
            (1101562.5, 999.6, 500.5, 62.5, 62.0, 1.125, 0.01234, 0.0)] == [
                "1,101,563", "1,000", "501", "62.5", "62", "1.13", "0.0123", "0"]
    assert "101,725" in repr(package.plan)


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
    assert "<table>" in shown and "stream/matvec" in shown
    assert "444" in package.evaluate(IMAGES, LABELS)._repr_html_()


def test_a_trace_names_the_layer_that_saturates(package):
    network = EXAMPLES / "pytorch/cnn.onnx"
    trace = rhizome.trace(network, IMAGES[:20], number_format="fixed<1,7>")
    assert trace.frames == 20 and trace.findings
    found = trace.findings[0]
    assert found.saturated > 0.001 and found.format == "fixed<1,7>"
    assert found.finding.kind == "saturated" and found.finding.remedy
    assert trace[found.name] is found
    assert found.name in trace._repr_html_()
    # On data like those it was trained on, compared with unrounded arithmetic.
    own = package.trace(IMAGES[:20], model=DIGITS)
    assert own.frames == 20 and len(own.layers) > 4
    assert max(layer.saturated for layer in own.layers) < 0.02
    assert min(layer.snr_db for layer in own.layers
               if layer.snr_db is not None) > 15
    assert trace["node_relu"].snr_db < 5


def test_a_device_stays_open(package):
    wanted = package.infer(IMAGES[:64])
    with package.open() as device:
        assert (device.infer(IMAGES[:64]) == wanted).all()
        for image, scores in zip(IMAGES[:64], wanted):
            assert (device.infer(image) == scores).all()
        # What is wrong with an array is said, and it goes on.
        with pytest.raises(rhizome.RhizomeError, match="takes"):
            device.infer(np.zeros((3, 3), np.float32))
        with pytest.raises(rhizome.RhizomeError, match="inputs"):
            device.infer(IMAGES[0], IMAGES[0])
        assert (device.infer(IMAGES[0]) == wanted[0]).all()
        # A child that was forked has none, and takes ours not away.
        child = os.fork()
        if child == 0:
            try:
                device.infer(IMAGES[0])
                os._exit(1)
            except rhizome.RhizomeError:
                device.close()
                os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
        assert (device.infer(IMAGES[1]) == wanted[1]).all()
        process = device._child._process
    assert process.returncode == 0
    with pytest.raises(rhizome.RhizomeError, match="closed"):
        device.infer(IMAGES[0])
    with pytest.raises(rhizome.RhizomeError, match="has no links"):
        package.open("udp")


def test_an_interrupt_ends_a_call_of_a_device(package):
    with package.open() as device:
        wanted = device.infer(IMAGES[:2])
        first = device._child._process
        timer = threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT))
        timer.start()
        many = np.concatenate([IMAGES] * 100)
        with pytest.raises(KeyboardInterrupt):
            while True:
                device.infer(many)
        assert first.returncode is not None
        assert (device.infer(IMAGES[:2]) == wanted).all()


def test_a_device_that_nobody_closes_ends_with_the_program(package):
    script = ("import rhizome, sys, numpy as np\n"
              "device = rhizome.Package(sys.argv[1]).open()\n"
              "print(device._child._process.pid)\n")
    path = pathlib.Path(rhizome.__file__).parents[1]
    done = subprocess.run([sys.executable, "-c", script, package.folder],
                          capture_output=True, text=True, check=True,
                          env={**os.environ, "PYTHONPATH": str(path)})
    assert not pathlib.Path(f"/proc/{done.stdout.strip()}").exists()


def test_pynq_runs_in_the_callers_interpreter(package, tmp_path):
    """The message is the client's own: PYNQ is missing, not numpy."""
    fake = tmp_path / "python3"
    fake.write_text("#!/bin/sh\necho 'error: the wrong interpreter' >&2; exit 1\n")
    fake.chmod(0o755)
    path, os.environ["PATH"] = os.environ["PATH"], f"{tmp_path}:{os.environ['PATH']}"
    try:
        with pytest.raises(rhizome.RhizomeError) as why:
            package.infer(IMAGES[:1], driver="pynq")
    finally:
        os.environ["PATH"] = path
    assert "needs the Python package pynq" in str(why.value)
    assert "has ended" not in str(why.value)
