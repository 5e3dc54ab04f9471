# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A transformer block (LayerNormalization, Softmax and MatMuls in turns) as a graph
of tasks: regions of the FPGA on both sides of what the host computes, in every
level and behind every driver equal to the interpreter, with the copies and their
cost; and task lists that are broken."""
import json
import pathlib
import shutil

import boards
import clients
import framework
import nodes
import numpy as np
import operations
from framework import run_program

ROOT = pathlib.Path(__file__).resolve().parents[2]
MODEL = ROOT / "examples/pytorch/transformer.onnx"
IMAGES = ROOT / "examples/digits/test_images.npy"
PORT = 27318


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


def simulate(suite, package, level, frames):
    """The answers of a simulated level, kept under its name."""
    out = suite.work / f"{level}.npy"
    result = suite.run("simulate", package, "--level", level, "--input", IMAGES,
                       "-n", frames, "--output", out, "--json")
    if suite.check(result.status == 0 and result.json["mismatches"] == 0,
                   f"{level} equals the interpreter: {result.err}",
                   result.command):
        return np.load(out)
    return None


def check_levels(suite, package):
    functional = simulate(suite, package, "functional", 20)
    rtl = simulate(suite, package, "rtl", 3)
    if functional is not None and rtl is not None:
        suite.check((functional[:len(rtl)] == rtl).all(),
                    "the model's outputs agree, host tasks included")


def run(suite, package, driver, frames, *more):
    """`rhizome run` of the images, whose outputs are the simulated levels'."""
    wanted = np.load(suite.work / "functional.npy")
    out = suite.work / f"{driver}.npy"
    out.unlink(missing_ok=True)
    result = suite.run("run", package, "--driver", driver, "--input", IMAGES,
                       "-n", frames, "--output", out, "--json", *more)
    answer = result.json or {}
    suite.check(result.status == 0 and answer.get("checked")
                and answer.get("frames") == frames
                and answer.get("mismatches") == 0
                and (np.load(out) == wanted[:frames]).all(),
                f"driver {driver} {' '.join(map(str, more))}: regions in order "
                f"{result.message}", result.command)


def check_drivers(suite, package):
    run(suite, package, "cpu", 4)
    run(suite, package, "cpu", 3, "--outstanding", "1")
    run(suite, package, "simulation", 2)
    if suite.run("run", package, "--driver", "opencl", "--input", IMAGES, "-n",
                 1).status == 0:
        run(suite, package, "opencl", 4, "--outstanding", "2")
    else:
        suite.skip("there is no OpenCL device here")
    result = suite.run("run", package, "--driver", "null", "-n", 1, "--input",
                       IMAGES, "--json")
    suite.check(result.status == 0, f"driver null {result.message}",
                result.command)
    # Two of its inputs belong to one region.
    result = suite.run("run", package, "--driver", "uart", "--port",
                       "/dev/null", "--input", IMAGES, "--json")
    said = (result.json or {}).get("error", "")
    suite.check(result.status == 1 and "one tensor in and one out; region" in
                said, f"driver uart: {said}", result.command)
    plan = json.loads((package / "plan.json").read_text())
    plan["tasks"]["list"] = [t for t in plan["tasks"]["list"]
                             if t["name"] != "region1"]
    other = suite.work / "other.rhz"
    shutil.copytree(package, other)
    (other / "plan.json").write_text(json.dumps(plan))
    result = suite.run("run", other, "--driver", "cpu", "--accept-changes",
                       "--input", IMAGES, "--json")
    said = (result.json or {}).get("error", "")
    suite.check(result.status == 1 and "compile the model again" in said,
                f"a plan of other regions: {said}", result.command)


def client_of(suite, package):
    """The generated client, which computes the host's tasks between the regions:
    a check of its answers by a driver; None if it cannot be built here."""
    program = clients.built_example(suite, package)
    if not program:
        return None
    images = np.load(IMAGES)[:2].reshape(2, -1)
    text = suite.work / "frames.txt"
    text.write_text("\n".join(" ".join(str(float(v)) for v in row)
                              for row in images))
    wanted = np.load(suite.work / "functional.npy")[:2].reshape(2, -1)

    def answers(driver, *where):
        words = " ".join(f'"{w}"' for w in (program, package, driver, *where))
        result = run_program(["sh", "-c", f'exec {words} < "{text}"'])
        got = np.array([[float(w) for w in line.split()]
                        for line in result.out.splitlines()], np.float32)
        suite.check(result.status == 0
                    and np.array_equal(got, wanted.astype(np.float32)),
                    f"the client's {driver} answers as simulate does: "
                    f"{result.err}", result.command)

    return answers


def check_client(suite, package):
    answers = client_of(suite, package)
    if answers:
        named = suite.run("simulate", package, "-n", 1, "--json").json or {}
        answers("model")
        answers("cpu")
        answers("simulation", named.get("simulator", ""))


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


def service(suite):
    """The regions as a service: ranks of an MPI job, and nodes that compute on the
    CPU or as RTL."""
    suite.tool("verilator")
    options = calibration(suite)
    package = suite.work / "service.rhz"
    result = suite.run("compile", MODEL, *options, "--cluster", "ku060x1",
                       "--goal", "throughput=5000/s", "-o", package,
                       "--cpu-object", "--json")
    if not suite.check(result.status == 0, f"for a cluster: {result.err}",
                       result.command):
        return
    suite.check(result.json["tasks"]["link"] == "udp-10g",
                "copies go over the cluster's link")
    simulate(suite, package, "functional", 4)
    if shutil.which("mpirun"):
        run(suite, package, "mpi", 2)
    else:
        suite.skip("there is no mpirun")
    places = {"node0": f"127.0.0.1:{PORT}"}
    at = "--at", f"node0={places['node0']}"
    for engine, frames in (("cpu", 4), ("rtl", 2)):
        node = nodes.Node(suite, package, "node0", places, "--engine", engine)
        run(suite, package, "udp", frames, *at)
        run(suite, package, "udp", frames, "--outstanding", "1", *at)
        client = client_of(suite, package) if engine == "cpu" else None
        if client:
            client("udp", at[1])
        status, _, err = node.stop()
        suite.check(status == 0, f"the node ends well: {err}")


def check_board(suite):
    """Two regions behind the serial line of a board, in its shell."""
    try:
        import onnx
    except ImportError as why:
        raise framework.Skip(f"no {why.name}: run make setup") from None
    b = operations.Branches(np, onnx, (1, 2, 3, 3))
    x = b.node("Conv", b.quantized("x", 0.5), b.weights(3, 2, 1, 1))
    x = b.node("CumSum", b.quantized(x, 4.0), b.constant(3, "int64"))
    b.node("Conv", b.quantized(x, 4.0), b.weights(2, 3, 2, 2))
    path, package = suite.work / "two.onnx", suite.work / "two.rhz"
    onnx.save(b.model(), path)
    result = suite.run("compile", path, "--board", "ice40-hx8k-breakout",
                       "--goal", "min-resources", "-o", package, "--json")
    if not suite.check(result.status == 0, f"for a board: {result.err}",
                       result.command):
        return
    order = places(result.json["tasks"])
    suite.check(order.count("fpga") == 2, f"two regions: {order}")
    for level in ("rtl", "board"):
        result = suite.run("simulate", package, "--level", level, "-n", 2,
                           "--json")
        suite.check(result.status == 0 and result.json["mismatches"] == 0,
                    f"level {level}: {result.message if result.status else ''}",
                    result.command)
    boards.lint(suite, package)


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


def calibration(suite):
    data = suite.work / "calibration.npy"
    np.save(data, np.load(IMAGES)[:200])
    return "--calibration", data


def tasks(suite):
    suite.tool("verilator")
    options = calibration(suite)
    result = suite.run("coverage", MODEL, *options, "--json")
    if suite.check(result.status == 0, f"coverage: {result.err}",
                   result.command):
        check_list(suite, result.json["tasks"], "coverage")
        on = {(o["op"], o["runs_on"]) for o in result.json["ops"]}
        suite.check({("LayerNormalization", "host"), ("Softmax", "host"),
                     ("dense", "fpga")} <= on, f"who computes what: {on}")
    package = suite.work / "transformer.rhz"
    goal = "--goal", "throughput=5000/s", "--cpu-object"
    result = suite.run("compile", MODEL, *options, *goal, "-o", package,
                       "--json")
    if not suite.check(result.status == 0, f"compiles: {result.err}",
                       result.command):
        return
    check_list(suite, result.json["tasks"], "compile")
    plan = json.loads((package / "plan.json").read_text())
    suite.check(plan["tasks"] == result.json["tasks"], "plan.json has the same")
    shown = suite.run("compile", MODEL, *options, *goal, "-o", package)
    suite.check("host to fpga" in shown.out and "region1" in shown.out,
                "and so do people", shown.command)
    check_choice(suite)
    check_board(suite)
    check_levels(suite, package)
    check_drivers(suite, package)
    check_client(suite, package)
    check_broken(suite, package)
