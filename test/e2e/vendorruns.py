# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`rhizome synth` with vendors' tools, which stand-ins replace: they run the
package's scripts with stubs of the tools' commands (test/vendor) and write
reports in the tools' formats. And the drivers over DMA and over XRT, whose
libraries are stand-ins in front of the simulator."""
import json
import os
import pathlib
import signal
import subprocess
import sys
import time

import networks
from framework import needed, run_program

HERE = networks.ROOT / "test/vendor"
MODEL = networks.ROOT / "examples/tiny-digits/tiny_digits_qdq_int8.onnx"
IMAGES = networks.ROOT / "examples/tiny-digits/test_images.npy"
GOAL = "throughput=1000/s"
#: Figures of the stand-ins' reports, and what becomes of them.
FIGURES = {"lut": 4321, "lutram": 210, "ff": 5432, "bram": 7.5, "uram": 0,
           "dsp": 12}


def compiled(suite, name, *where):
    package = suite.work / f"{name}.rhz"
    result = suite.run("compile", MODEL, "--goal", GOAL, *where, "-o", package,
                       "--json")
    suite.check(result.status == 0, f"{name}: compiles {result.message[:300]}",
                result.command)
    return package, json.loads((package / "plan.json").read_text())


def tools(suite, *names):
    """A folder with stand-ins by these names."""
    folder = suite.work / ("tools-" + "-".join(names)).replace("+", "p")
    folder.mkdir(exist_ok=True)
    for name in names:
        if not (folder / name).exists():
            (folder / name).symlink_to(HERE / "tool.sh")
    return folder


def synth(suite, package, plan, *more, path=None, **environment):
    period = f"{int(1e6 / plan['clock_mhz'] + 1e-6) / 1000:g}"
    result = subprocess.run(
        [suite.rhizome, "synth", package, *more, "--json"], text=True,
        capture_output=True, check=False, timeout=120,
        env={**os.environ, "STANDIN_STUBS": str(HERE), "STANDIN_PERIOD": period,
             "PATH": f"{path}:{os.environ['PATH']}" if path
             else os.environ["PATH"], **environment})
    lines = result.stdout.strip().splitlines()
    return result, json.loads(lines[-1]) if lines else {}


def built(suite, label, package, plan, *more, figures=None, **how):
    """Runs a tool; its figures must be those of the reports."""
    result, answer = synth(suite, package, plan, *more, **how)
    node = (answer.get("nodes") or [{}])[0]
    flow = answer.get("flow", "none")
    kept = package / f"results/{flow}.json"
    suite.check(result.returncode == 0 and node.get("measured")
                == (figures or FIGURES) and node.get("predicted", {}).get("lut")
                == plan["predicted"]["lut"]
                and kept.exists() and json.loads(kept.read_text()) == answer
                and os.path.exists(node["result"])
                and os.path.exists(node["log"]),
                f"{label}: the reports are read: {node.get('measured')} "
                f"{result.stdout[-300:] if result.returncode else ''}"
                f"{result.stderr[-300:]}")
    return answer, node


def refused(suite, words, result, answer, package, flow):
    suite.check(result.returncode == 1 and words in answer.get("error", "")
                and not (package / f"results/{flow}.json").exists(),
                f"no result, and said: {words}: {answer} {result.stderr[:200]}")


def vivado(suite):
    package, plan = compiled(suite, "zu3eg", "--device", "xczu3eg")
    path = tools(suite, "vivado")
    answer, node = built(suite, "Vivado", package, plan, "--tool", "vivado",
                         path=path)
    period = 1000 / plan["clock_mhz"]
    suite.check(node["slack_ns"] == 0.193 and node["power_w"] == 2.871
                and abs(node["fmax_mhz"] - 1000 / (period - 0.193)) < 1e-6
                and answer["version"] == "Vivado v.2023.2 (lin64)",
                f"clock, power and version: {node['fmax_mhz']:.1f} MHz, "
                f"{answer['version']}")
    page = (package / "report.html").read_text()
    suite.check('"vivado":' in page and "4321" in page,
                "the report has the figures")
    # As people see it, and where the tool may be.
    own = suite.run("synth", package, "--tool", "vivado", "--tool-path", path)
    suite.check(own.status == 1 and "STANDIN_STUBS" in own.err
                and "zu3eg.rhz/results/vivado/node0.log" in own.err
                and not (package / "results/vivado.json").exists(),
                f"a tool that fails: its log is named, and the earlier result "
                f"is gone: {own.err[:300]}", own.command)
    root = suite.work / "root"
    (root / "bin").mkdir(parents=True, exist_ok=True)
    (root / "bin/vivado").symlink_to(HERE / "tool.sh")
    built(suite, "XILINX_VIVADO", package, plan, "--tool", "vivado",
          XILINX_VIVADO=str(root))
    built(suite, "a path", package, plan, "--tool", root / "bin/vivado")
    shown = subprocess.run(
        [suite.rhizome, "synth", package, "--tool", "vivado"], text=True,
        capture_output=True, check=False,
        env={**os.environ, "XILINX_VIVADO": str(root), "STANDIN_STUBS": str(HERE),
             "STANDIN_PERIOD": f"{period:g}", "STANDIN": "slack -0.25"})
    suite.check(shown.returncode == 1 and "misses its clock" in shown.stderr
                and "worst slack -0.25 ns" in shown.stdout
                and "4,321" in shown.stdout and "of budget" in shown.stdout,
                f"a missed clock: {shown.stdout[-500:]} {shown.stderr}")
    kept = json.loads((package / "results/vivado.json").read_text())
    suite.check(not kept["meets_clock"], "and its figures are kept")
    said = subprocess.run([suite.rhizome, "doctor"], text=True, check=False,
                          capture_output=True, env={
                              **os.environ, "XILINX_VIVADO": str(root)})
    suite.check("vivado v2023.2 (64-bit)" in said.stdout,
                "doctor finds it by XILINX_VIVADO and tells its version")
    return package, plan


def wrong_runs(suite, package, plan):
    bad = suite.work / "bad"
    bad.mkdir(exist_ok=True)
    vivado_run = ("--tool", "vivado", "--tool-path", bad)

    def fake(text):
        (bad / "vivado").write_text("#!/bin/sh\n" + text)
        (bad / "vivado").chmod(0o755)
    fake("exit 0\n")
    refused(suite, "without its report", *synth(suite, package, plan,
                                                *vivado_run), package, "vivado")
    fake("mkdir -p out; echo nothing | tee out/post_route_utilization.rpt\n")
    refused(suite, "does not say 'lut'",
            *synth(suite, package, plan, *vivado_run), package, "vivado")
    # It writes in its own folder only.
    child = package / "results/vivado/node0/vivado/child"
    fake("/bin/sleep 300 &\necho $! >child\necho routing\nwait\n")
    start = time.time()
    refused(suite, "was stopped; its log is", *synth(
        suite, package, plan, *vivado_run, "--timeout-s", "1"), package,
        "vivado")
    pid = int(child.read_text())
    time.sleep(0.2)
    gone = (not pathlib.Path(f"/proc/{pid}").exists() or "State:\tZ" in
            pathlib.Path(f"/proc/{pid}/status").read_text())
    suite.check(gone and time.time() - start < 20,
                "what hangs is stopped with its children")
    # Interrupted by the user.
    child.unlink()
    process = subprocess.Popen(
        [suite.rhizome, "synth", package, *map(str, vivado_run)],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while not child.exists() or not child.read_text().strip():
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    process.wait(20)
    time.sleep(0.2)
    pid = int(child.read_text())
    suite.check(not pathlib.Path(f"/proc/{pid}").exists() or "State:\tZ" in
                pathlib.Path(f"/proc/{pid}/status").read_text(),
                "an interrupt ends the tool")
    result, answer = synth(suite, package, plan, "--tool", "vivado",
                           PATH="/usr/bin:/bin")
    refused(suite, "is not in PATH", result, answer, package, "vivado")
    suite.check("XILINX_VIVADO" in answer["error"] and "--tool-path"
                in answer["error"], f"and where it may be: {answer['error']}")
    refused(suite, "no build files for Intel Quartus Prime", *synth(
        suite, package, plan, "--tool", "quartus",
        path=tools(suite, "quartus_sh")), package, "quartus")
    refused(suite, "names none ('platform')", *synth(
        suite, package, plan, "--tool", "vitis",
        path=tools(suite, "vivado", "v++")), package, "vitis")
    for option in (("--tool-path", bad), ("--timeout-s", "3")):
        result = suite.run("synth", package, *option)
        suite.check(result.status == 2 and "vendors' tools only" in result.err,
                    f"{option[0]} is for vendors' tools", result.command)


def boards(suite):
    """Boards with a serial line, with processors and with a platform."""
    for name, answer in (("arty-a7-35t", "arty-a7-35t.bit"),
                         ("pynq-z2", "rhizome.bit"), ("kv260", "rhizome.bit")):
        package, plan = compiled(suite, name, "--board", name)
        figures = dict(FIGURES)
        if plan["nodes"][0]["family"] == "7series":
            del figures["uram"]  # it has none
        found, node = built(suite, name, package, plan, "--tool", "vivado",
                            path=tools(suite, "vivado"), figures=figures)
        suite.check(node["result"].endswith(f"/out/{answer}")
                    and (not found["flash"] or found["flash"]
                         == f"openFPGALoader -b arty_a7_35t {node['result']}"),
                    f"{name}: {node['result']} {found['flash']}")
    result = suite.run("simulate", suite.work / "arty-a7-35t.rhz", "--level",
                       "board", "--input", IMAGES, "-n", 1, "--json")
    suite.check((result.json or {}).get("mismatches") == 0,
                f"arty-a7-35t: the design in its shell {result.message}",
                result.command)
    result = suite.run("simulate", suite.work / "pynq-z2.rhz", "--level",
                       "board", "-n", 1)
    suite.check(result.status == 1 and "no serial line" in result.err,
                "pynq-z2 has no serial line", result.command)
    package, plan = compiled(suite, "alveo-u280", "--board", "alveo-u280")
    _, node = built(suite, "Vitis", package, plan, "--tool", "vitis",
                    path=tools(suite, "vivado", "v++"))
    suite.check(node["platform_slack_ns"] == 0.193 and "slack_ns" not in node
                and node["result"].endswith("out/hw/rhizome.xclbin"),
                f"Vitis: {node['result']}")
    package, plan = compiled(suite, "arria10", "--device", "10ax115")
    answer, node = built(
        suite, "Quartus", package, plan, "--tool", "quartus",
        path=tools(suite, "quartus_sh"), STANDIN="bram 8 slack 0.5",
        figures={"lut": 4321, "lutram": 210, "ff": 5432, "bram": 8, "dsp": 24})
    suite.check(node["slack_ns"] == 0.5 and answer["version"].startswith(
        "18.1.0 Build 625"), f"Quartus: the worst corner's setup slack, "
        f"{node['slack_ns']} ns")


def vendor_runs(suite):
    suite.tool("tclsh")
    wrong_runs(suite, *vivado(suite))
    boards(suite)


# Drivers over DMA and over XRT


def interpreted(suite, np, package, frames):
    """The interpreter's values."""
    output = suite.work / "wanted.npy"
    result = suite.run("run", package, "--driver", "cpu", "--input", IMAGES,
                       "-n", frames, "--output", output)
    suite.check(result.status == 0, f"run --driver cpu {result.message}",
                result.command)
    return np.load(output)


def simulator_of(suite, package):
    answer = suite.run("simulate", package, "-n", 1, "--json").json or {}
    suite.check("simulator" in answer, f"{package.stem}: a simulator")
    return answer.get("simulator", "")


def pynq(suite, np, frames=6):
    """On PYNQ, with weights in the bitstream and in the processors' memory."""
    for name, more in (("pynq-rom", ()), ("pynq-ddr", ("--weights", "streamed"))):
        package, plan = compiled(suite, name, "--board", "pynq-z2", *more)
        suite.check(bool(plan["nodes"][0]["segments"]) == bool(more),
                    f"{name}: {len(plan['nodes'][0]['segments'])} segments")
        wanted = interpreted(suite, np, package, frames)
        output = suite.work / f"{name}.npy"
        stubs = suite.work / "stubs"
        stubs.mkdir(exist_ok=True)
        if not (stubs / "pynq.py").exists():
            (stubs / "pynq.py").symlink_to(HERE / "pynq.py")
        for ending in ("bit", "hwh"):
            (suite.work / f"overlay.{ending}").touch()
        environment = {**os.environ, "PYTHONPATH": str(stubs),
                       "STANDIN_SIMULATOR": simulator_of(suite, package),
                       "STANDIN_PACKAGE": str(package),
                       "STANDIN_MOST": str(suite.work / "most")}
        words = [sys.executable, package / "host/rhizome_client.py", "pynq",
                 suite.work / "overlay.bit", "--input", IMAGES, "-n", str(frames),
                 "--output", output]
        result = subprocess.run(words, env=environment, text=True, check=False,
                                capture_output=True, timeout=120)
        suite.check(result.returncode == 0 and np.load(output).tobytes()
                    == wanted.tobytes(), f"{name}: the driver's answers are the "
                    f"interpreter's {result.stderr[-300:]}")
        suite.check((suite.work / "most").read_text() == "2",
                    f"{name}: a frame goes in while the one before is computed")
        result = run_on_zynq(suite, package, environment, "--input", IMAGES, "-n",
                             frames, "--program", suite.work / "overlay.bit")
        suite.check(result.status == 0 and (result.json or {}).get("checked")
                    and result.json["mismatches"] == 0, f"{name}: run --driver "
                    f"pynq {result.message}", result.command)
    (suite.work / "overlay.hwh").unlink()
    for problem, more in (("overlay.hwh' is missing", environment),
                          ("needs the Python package pynq",
                           {**environment, "PYTHONPATH": ""})):
        result = subprocess.run(words, env=more, text=True, check=False,
                                capture_output=True, timeout=120)
        suite.check(result.returncode == 1 and problem in result.stderr
                    and "Traceback" not in result.stderr,
                    f"refused: {problem}: {result.stderr[-200:]}")
        result = run_on_zynq(suite, package, more, "-n", 1, "--program",
                             suite.work / "overlay.bit")
        suite.check(result.status == 1 and problem in
                    (result.json or {}).get("error", ""),
                    f"run refuses: {result.message[-200:]}", result.command)


def run_on_zynq(suite, package, environment, *arguments):
    """rhizome run --driver pynq, with the stand-in where PYNQ would be."""
    search = os.pathsep.join([os.path.dirname(sys.executable),
                              os.environ["PATH"]])
    names = [f"{name}={value}" for name, value in environment.items()
             if name == "PYTHONPATH" or name.startswith("STANDIN")]
    return run_program(["env", f"PATH={search}", *names, suite.rhizome, "run",
                        package, "--driver", "pynq", "--json", *arguments])


def xrt(suite, np, frames=6):
    """The C++ driver and the C example, with weights in HBM."""
    package, plan = compiled(suite, "xrt", "--board", "alveo-u280", "--weights",
                             "streamed")
    node = plan["nodes"][0]
    wanted = interpreted(suite, np, package, frames)
    card, build = suite.work / "card", suite.work / "client"
    (card / "lib").mkdir(parents=True, exist_ok=True)
    if not (card / "include").exists():
        (card / "include").symlink_to(HERE / "xrt")
    for words in (
            ["g++", "-std=c++20", "-Wall", "-Wextra", "-c", "-o",
             card / "standin.o", HERE / "xrt/standin.cpp"],
            ["ar", "rcs", card / "lib/libxrt_coreutil.a", card / "standin.o"],
            ["env", f"XILINX_XRT={card}", "cmake", "-S", package / "host", "-B",
             build, "-DCMAKE_BUILD_TYPE=Debug"],
            ["cmake", "--build", build, "-j2", "--target", "example"]):
        result = run_program(words)
        if not suite.check(result.status == 0, f"{words[0]}: "
                           f"{result.message[-400:]}", result.command):
            return
    environment = {**os.environ, "STANDIN_FOLDER": str(package / "nodes/node0/rtl"),
                   "STANDIN_SIMULATOR": simulator_of(suite, package),
                   "STANDIN_WORK": str(suite.work), "STANDIN_INPUTS": "1",
                   "STANDIN_OUTPUTS": "1"}
    for k, port in enumerate(node["ports"]["memory"]):
        data = bytearray()
        for segment in node["segments"]:
            if (segment["memory"], segment["bank"]) == (port["memory"],
                                                        port["bank"]):
                size = segment["address"] + segment["bytes"]
                data.extend(b"\xaa" * (size - len(data)))
                data[segment["address"]:size] = (
                    package / segment["file"]).read_bytes()
        file = suite.work / f"memory{k}.bin"
        file.write_bytes(data)
        environment[f"STANDIN_MEMORY{k}"] = str(file)
    suite.check(len(node["ports"]["memory"]) > 0, "the design reads memories")
    text = "\n".join(" ".join(f"{v:.9g}" for v in image.reshape(-1))
                     for image in np.load(IMAGES)[:frames])
    xclbin = suite.work / "rhizome.xclbin"
    xclbin.touch()

    def example(*where):
        return subprocess.run([build / "example", package, "xrt", *where],
                              input=text, env=environment, text=True,
                              capture_output=True, check=False, timeout=120)
    result = example(xclbin)
    got = np.array([line.split() for line in result.stdout.splitlines()],
                   np.float32)
    suite.check(result.returncode == 0
                and got.tobytes() == wanted.astype(np.float32).tobytes(),
                f"xrt: the driver's answers are the interpreter's "
                f"{result.stderr[-300:]}")
    for words, more in (("needs --program", ()),
                        ("built without AMD's runtime XRT",
                         ("--program", xclbin))):
        result = suite.run("run", package, "--driver", "xrt", *more)
        suite.check(result.status in (1, 2) and words in result.err,
                    f"run refuses: {result.err[:200]}", result.command)
    for where, words in ((("/no/such",), "no such file"),
                         ((xclbin, "7"), "on card 7: no such card"),
                         ((), "needs a program")):
        result = example(*where)
        suite.check(result.returncode == 1 and words in result.stderr,
                    f"refused: {words}: {result.stderr[:200]}")


def dma_drivers(suite):
    np = needed("numpy")
    suite.tool("verilator")
    pynq(suite, np)
    suite.tool("cmake")
    xrt(suite, np)
