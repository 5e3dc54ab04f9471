#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""hls4ml's getting-started next to ours: convert, compile, predict, build, with
the jet tagger of examples/jets, 6 bits. Both scripts below are what a user
writes; each runs in a process of its own, and their lines and seconds are
counted, the seconds on the processor. hls4ml comes from PyPI, in an environment
of its own:
    python3 -m venv E && E/bin/pip install hls4ml qonnx
    bench/hls4ml.py --hls4ml E/bin/python [--rhizome build/bin/rhizome]
hls4ml's last step, build(), runs Vitis HLS, which has to be installed for it;
ours needs Verilator and Yosys. Prints the table and writes bench/hls4ml.txt.
"""
import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
VENV = ROOT / ".venv/bin/python"
JETS = ROOT / "examples/jets"

# A comment "# STEP" begins a step; everything up to the next one counts to it.
OURS = """
import numpy as np, rhizome
x, labels = np.load("test_jets.npy"), np.load("test_labels.npy")
# convert
plan = rhizome.explore("jets_qonnx_w6a6.onnx", device="xcvu9p-slr",
                       clock_mhz=200, border="wide", goal="latency=50ns")
print("latency", plan.predicted.latency_us, "us")
# compile
package = plan.build("jets.rhz")
# predict
y = package.infer(x)
print("accuracy", (y.argmax(1) == labels).mean())
# simulate
print("mismatches", package.simulate(x[:20], four_state=True).mismatches)
# build
print(package.synth().measured)
"""
THEIRS = """
import hls4ml, numpy as np
from qonnx.core.modelwrapper import ModelWrapper
from qonnx.util.cleanup import cleanup_model
x, labels = np.load("test_jets.npy"), np.load("test_labels.npy")
# convert
model = cleanup_model(ModelWrapper("jets_qonnx_w6a6.onnx"))
config = hls4ml.utils.config_from_onnx_model(
    model, granularity="name", backend="Vitis", default_precision="fixed<16,6>")
net = hls4ml.converters.convert_from_onnx_model(
    model, hls_config=config, backend="Vitis", io_type="io_parallel",
    part="xcvu9p-flga2104-2L-e", clock_period=5, output_dir="hls")
# compile
net.compile()
# predict
y = net.predict(x)
print("accuracy", (y.argmax(1) == labels).mean())
# build
net.build(csim=False, synth=True, vsynth=True)
"""


def steps(script):
    """Name and code of each step; what stands before the first is `read`."""
    parts = re.split(r"^# (\w+)\n", "# read\n" + script.strip() + "\n", flags=re.M)
    return list(zip(parts[1::2], parts[2::2]))


def timed(script):
    """The script, with a line of seconds after each step: of the processor, in
    this process and its children, so that a busy machine changes little."""
    code = """
import resource as _r
def _now():
    return sum(u.ru_utime + u.ru_stime for u in map(
        _r.getrusage, (_r.RUSAGE_SELF, _r.RUSAGE_CHILDREN)))
"""
    for name, body in steps(script):
        code += f"_begun = _now()\n{body}"
        code += f"print('seconds', '{name}', _now() - _begun, flush=True)\n"
        if name == "predict":
            code += "np.save('y.npy', y)\n"
    return code


def run(python, script, folder, environment):
    """What a script prints, its seconds by step, and why it ended."""
    result = subprocess.run(
        [python, "-c", timed(script)], cwd=folder, text=True,
        env={**os.environ, **environment}, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    seconds = {name: float(value) for name, value in
               re.findall(r"^seconds (\w+) (\S+)$", result.stdout, re.M)}
    why = result.stderr.strip().splitlines()[-1:] if result.returncode else []
    return result.stdout, seconds, "".join(why)


def lines(script):
    return sum(1 for line in script.splitlines()
               if line.strip() and not line.startswith("#"))


def found(text, pattern):
    match = re.findall(pattern, text)
    return match[-1] if match else ""


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hls4ml", required=True, metavar="PYTHON")
    parser.add_argument("--rhizome", default=ROOT / "build/bin/rhizome")
    args = parser.parse_args()
    python = VENV if VENV.exists() else sys.executable
    with tempfile.TemporaryDirectory() as folder:
        folders = [pathlib.Path(folder, name) for name in ("ours", "theirs")]
        for each in folders:
            each.mkdir()
            for path in (*JETS.glob("*.npy"), *JETS.glob("*.onnx")):
                shutil.copy(path, each)
        ours = run(python, OURS, folders[0], {
            "PYTHONPATH": str(ROOT / "python"), "XDG_CACHE_HOME": folder,
            "RHIZOME_PROGRAM": str(pathlib.Path(args.rhizome).resolve())})
        theirs = run(args.hls4ml, THEIRS, folders[1], {})
        text = table(ours, theirs) + f"\n{equal(python, folders)}"
    print(text)
    (ROOT / "bench/hls4ml.txt").write_text(text + "\n")


def equal(python, folders):
    """How many frames have the same scores in both."""
    code = ("import numpy as np, sys\n"
            "a, b = (np.load(name + '/y.npy') for name in sys.argv[1:])\n"
            "print(int((a == b).all(1).sum()), 'of', len(a), 'jets have "
            "the same five scores')")
    result = subprocess.run([python, "-c", code, *folders], text=True,
                            capture_output=True)
    return result.stdout.strip() or result.stderr.strip().splitlines()[-1]


def table(ours, theirs):
    rows = [("", "rhizome", "hls4ml"),
            ("lines", lines(OURS), lines(THEIRS)),
            ("accuracy", *(found(each[0], r"accuracy (\S+)")
                           for each in (ours, theirs)))]
    for name in ("convert", "compile", "predict", "simulate", "build"):
        rows.append((f"{name}, s", *(
            f"{each[1][name]:.1f}" if name in each[1] else
            "-" if name not in dict(steps(script)) else
            "not run" for each, script in ((ours, OURS), (theirs, THEIRS)))))
    text = "\n".join(f"{a:<12}{b:>10}{c:>10}" for a, b, c in rows)
    for name, each in (("rhizome", ours), ("hls4ml", theirs)):
        if each[2]:
            text += f"\n{name} ended with: {each[2]}"
    return text + "\n" + found(ours[0], r"(\{'.*\})")


if __name__ == "__main__":
    main()
