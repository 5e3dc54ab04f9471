# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A transformer block (LayerNormalization, Softmax and MatMuls in turns) as a graph
of tasks: regions of the FPGA on both sides of what the host computes, in every
level equal to the interpreter, with the copies and their cost; and task lists that
are broken."""
import json
import pathlib
import shutil

import framework
import numpy as np
import operations

ROOT = pathlib.Path(__file__).resolve().parents[2]
MODEL = ROOT / "examples/pytorch/transformer.onnx"
IMAGES = ROOT / "examples/digits/test_images.npy"


def places(tasks):
    return [task["place"] for task in tasks["list"]]


def check_list(suite, tasks, what):
    """Host and FPGA take turns, and every copy is priced."""
    order = places(tasks)
    suite.check(order.count("fpga") >= 3 and order[0] == order[-1] == "host"
                and all(a != b for a, b in zip(order, order[1:])),
                f"{what}: host and FPGA in turns: {order}")
    regions = [t for t in tasks["list"] if t["place"] == "fpga"]
    copies = [(c["task"], c["to"]) for c in tasks["copies"]]
    suite.check(copies == [(t["name"], to) for t in regions
                           for to in ("fpga", "host")],
                f"{what}: a copy into and out of each region: {copies}")
    suite.check(all(c["bytes"] > 0 and c["us"] > 0 for c in tasks["copies"]),
                f"{what}: copies with bytes and microseconds")
    given = {name for t in tasks["list"] for name in t["gives"]}
    skipped = [name for i, t in enumerate(tasks["list"]) for name in t["takes"]
               if name in given and i > 0
               and name not in tasks["list"][i - 1]["gives"]]
    suite.check(len(skipped) > 0,
                f"{what}: residuals wait on the host: {skipped}")


def check_levels(suite, package):
    outputs = {}
    for level, frames in (("functional", 20), ("rtl", 3)):
        out = suite.work / f"{level}.npy"
        result = suite.run("simulate", package, "--level", level, "--input",
                           IMAGES, "-n", frames, "--output", out, "--json")
        if suite.check(result.status == 0 and result.json["mismatches"] == 0,
                       f"{level} equals the interpreter: {result.err}",
                       result.command):
            outputs[level] = np.load(out)
    if len(outputs) == 2:
        rtl = outputs["rtl"]
        suite.check((outputs["functional"][:len(rtl)] == rtl).all(),
                    "the model's outputs agree, host tasks included")


def check_drivers(suite, package):
    """The regions in order through drivers: the simulated levels' outputs."""
    wanted = np.load(suite.work / "functional.npy")
    for driver, frames in (("cpu", 4), ("simulation", 2)):
        out = suite.work / f"{driver}.npy"
        result = suite.run("run", package, "--driver", driver, "--input",
                           IMAGES, "-n", frames, "--output", out, "--json")
        answer = result.json or {}
        suite.check(result.status == 0 and answer.get("checked")
                    and answer.get("mismatches") == 0
                    and (np.load(out) == wanted[:frames]).all(),
                    f"driver {driver}: regions in order {result.message}",
                    result.command)
    result = suite.run("run", package, "--driver", "null", "-n", 1, "--input",
                       IMAGES, "--json")
    suite.check(result.status == 0, f"driver null {result.message}",
                result.command)
    result = suite.run("run", package, "--driver", "uart", "--port",
                       "/dev/null", "--input", IMAGES, "--json")
    said = (result.json or {}).get("error", "")
    suite.check(result.status == 1 and "tasks on the FPGA with the host" in said,
                f"driver uart: {said}", result.command)


def check_broken(suite, package):
    """A list that leaves a task out, and one out of order."""
    text = (package / "model/network.mlir").read_text()
    for old, new, why in ((", @region1", "", "C2: it takes 'region1.0'"),
                          ("@host0, @region0", "@region0, @host0",
                           "C2: it takes 'host0.0'")):
        broken = suite.work / "broken.rhz"
        shutil.rmtree(broken, ignore_errors=True)
        shutil.copytree(package, broken)
        assert old in text
        (broken / "model/network.mlir").write_text(text.replace(old, new, 1))
        result = suite.run("simulate", broken, "--level", "functional",
                           "--accept-changes", "--input", IMAGES, "--json")
        said = (result.json or {}).get("error", "")
        suite.check(result.status == 1 and why in said
                    and "compile the model again" in said,
                    f"refused: {said}", result.command)


def check_service(suite, options):
    """Real nodes run one region; several are refused before anything is sent."""
    package = suite.work / "service.rhz"
    result = suite.run("compile", MODEL, *options, "--cluster", "ku060x1",
                       "--goal", "throughput=5000/s", "-o", package, "--json")
    if suite.check(result.status == 0, f"for a cluster: {result.err}",
                   result.command):
        suite.check(result.json["tasks"]["link"] == "udp-10g",
                    "copies go over the cluster's link")
    result = suite.run("run", package, "--at", "node0=127.0.0.1:9", "--json")
    said = (result.json or {}).get("error", "")
    suite.check(result.status == 1 and "tasks on the FPGA with the host" in said
                and "simulate --level cluster" in said, f"a service: {said}",
                result.command)


def check_choice(suite):
    """A curve between two operations of the host, with a layer before them: the
    FPGA gets it where that takes less time than the copies."""
    try:
        import onnx
    except ImportError as why:
        raise framework.Skip(f"no {why.name}: run make setup") from None
    for size, place in ((4, "host"), (64, "fpga")):
        b = operations.Branches(np, onnx, (1, 8, size, size))
        x = b.node("Conv", b.quantized("x", 0.5), b.weights(8, 8, 1, 1))
        x = b.node("CumSum", b.quantized(x, 4.0), b.constant(3, "int64"))
        x = b.node("Sigmoid", b.quantized(x, 0.25))
        b.node("CumSum", b.quantized(x, 1 / 128), b.constant(3, "int64"))
        path = suite.work / f"choice-{size}.onnx"
        onnx.save(b.model(), path)
        result = suite.run("coverage", path, "--json")
        ops = (result.json or {"ops": []})["ops"]
        where = ["host" if o["op"] == "Sigmoid" else "fpga" for o in ops
                 if o["op"] in ("Sigmoid", "table", "threshold")]
        suite.check(where == [place], f"a curve of {8 * size * size} values: "
                    f"{where}", result.command)
        reasons = [o["reason"] for o in ops if o["op"] == "Sigmoid"]
        suite.check(all("a copy to the FPGA and back would take longer" in r
                        for r in reasons), f"and why: {reasons}")


def tasks(suite):
    suite.tool("verilator")
    calibration = suite.work / "calibration.npy"
    np.save(calibration, np.load(IMAGES)[:200])
    options = "--calibration", calibration
    result = suite.run("coverage", MODEL, *options, "--json")
    if suite.check(result.status == 0, f"coverage: {result.err}",
                   result.command):
        check_list(suite, result.json["tasks"], "coverage")
        on = {(o["op"], o["runs_on"]) for o in result.json["ops"]}
        suite.check({("LayerNormalization", "host"), ("Softmax", "host"),
                     ("dense", "fpga")} <= on, f"who computes what: {on}")
    package = suite.work / "transformer.rhz"
    result = suite.run("compile", MODEL, *options, "--goal",
                       "throughput=5000/s", "-o", package, "--json")
    if not suite.check(result.status == 0, f"compiles: {result.err}",
                       result.command):
        return
    check_list(suite, result.json["tasks"], "compile")
    plan = json.loads((package / "plan.json").read_text())
    suite.check(plan["tasks"] == result.json["tasks"], "plan.json has the same")
    shown = suite.run("compile", MODEL, *options, "--goal", "throughput=5000/s",
                      "-o", package)
    suite.check("host to fpga" in shown.out and "region1" in shown.out,
                "and so do people", shown.command)
    check_choice(suite)
    check_service(suite, options)
    check_levels(suite, package)
    check_drivers(suite, package)
    check_broken(suite, package)
