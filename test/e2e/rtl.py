# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every network of ../shared/models with operations on the FPGA,
as bench/models.json lists them, in simulated RTL: on the first device that
holds it, three frames compared bit by bit with the interpreter, cycles with the
prediction, and the author's vectors if there are some. bench/rtl.py writes the
table of all; the suite here runs a part of the list."""
import itertools
import json
import re
import tempfile
import time

import framework
import golden
import networks

FRAMES = 3
# The first device that holds the network at the first rate that one of them reaches;
# each is larger than those before it. The rate keeps the simulation short.
DEVICES = ("xcku060-role", "xcu280")
GOALS = ("throughput=1000/s", "min-resources")
LIMIT_S = 3600
TEST_LIMIT_S = 600  # longer ones are left to bench/rtl.py
# Smaller inputs for the simulation of large networks.
CUT = (
    (r"nn_resize/quant_model", ["--shape", "onnx::Relu_0=1,3,12,10"]),
    (r"MauiModelTester", ["--shape", "image=1,3,36,36"]),
)
TABLES = networks.ROOT / "bench"


def listed():
    """Rows of bench/models.json with operations on the FPGA."""
    rows = json.loads((TABLES / "models.json").read_text())
    return [r for r in rows if r.get("fpga") and r["verdict"] == "accepted"]


def vectors(np, row, folder):
    """The golden case of a model, with frames of the same values in another
    order after the author's; None without one."""
    name = golden.models().get(networks.MODELS / row["model"])
    if not name:
        return None
    case = golden.read(np, name)
    rng = np.random.default_rng(1)
    more = [rng.permutation(case.inputs[0].ravel()).reshape(
        case.inputs.shape[1:]) for _ in range(FRAMES - len(case.inputs))]
    np.save(folder / "x.npy", np.concatenate([case.inputs, np.array(
        more, case.inputs.dtype).reshape(-1, *case.inputs.shape[1:])]))
    return case


def near(predicted, measured):
    return abs(predicted - measured) <= 0.01 * measured


def simulate(np, rhizome, row, folder):
    """The result for one row of the list, as a row of bench/rtl.json; its
    `verdict` is "equal" if nothing is wrong."""
    cut = next((o for pattern, o in CUT if re.search(pattern, row["model"])),
               [])
    found = {"model": row["model"], "style": row["style"], "cut": cut}
    package = folder / "m.rhz"

    def run(*words):
        result = framework.run_program([rhizome, *words, "--json"],
                                       timeout=LIMIT_S)
        return result, result.json or {}

    case = None if cut else vectors(np, row, folder)
    options = case.options if case else row["options"] + cut
    start = time.time()
    for goal, device in itertools.product(GOALS, DEVICES):
        result, answer = run("compile", networks.MODELS / row["model"],
                             "--device", device, "--goal", goal, *options,
                             "-o", package)
        if answer.get("ok"):
            break
    found["compile_s"] = round(time.time() - start, 1)
    if not answer.get("ok"):
        found["verdict"] = f"not compiled: {result.message[:300]}"
        return found
    found["device"] = device
    files = [folder / f"y{i}.npy" for i in range(case.outputs if case else 0)]
    start = time.time()
    result, answer = run(
        "simulate", package, *(["--input", folder / "x.npy"] if case else
                               ["-n", str(FRAMES)]),
        *sum((["--output", f] for f in files), []))
    found["simulate_s"] = round(time.time() - start, 1)
    if "mismatches" not in answer or not answer.get("measured"):
        found["verdict"] = f"not simulated: {result.message[:300]}"
        return found
    found.update({k: answer[k] for k in ("frames", "mismatches")})
    for key in ("interval_cycles", "latency_cycles"):
        found[key] = [answer["predicted"][key], answer["measured"][key]]
    wrong = []
    if result.status != 0 or found["mismatches"]:
        wrong.append(f"{found['mismatches']} values DIFFER")
    if not all(near(*found[key]) for key in ("interval_cycles",
                                             "latency_cycles")):
        wrong.append("cycles are not as promised")
    if case:
        got = [np.load(f)[:len(case.inputs)] for f in files]
        good, found["golden"] = case.meets(got)
        if not good:
            wrong.append("golden vectors are NOT met")
    found["verdict"] = ", ".join(wrong) or "equal"
    return found


def seconds():
    """By model: its time in bench/rtl.json."""
    table = TABLES / "rtl.json"
    return {r["model"]: r["compile_s"] + r.get("simulate_s", 0)
            for r in (json.loads(table.read_text()) if table.exists()
                      else [])}


def share(rows, part, parts):
    """The rows of a part, such that all parts take about equally long."""
    known = seconds()
    loads = [[0, i, []] for i in range(parts)]
    for row in sorted(rows, key=lambda r: -known.get(r["model"], 10)):
        least = min(loads)
        least[0] += known.get(row["model"], 10)
        least[2].append(row)
    return loads[part][2]


def rtl(suite, part, parts):
    """Part `part`, from 0, of `parts`."""
    try:
        import numpy as np
    except ImportError:
        raise framework.Skip("no numpy: run make setup") from None
    suite.need(networks.MODELS)
    suite.tool("verilator")
    known = seconds()
    for row in share(listed(), int(part), int(parts)):
        if known.get(row["model"], 0) > TEST_LIMIT_S:
            suite.skip(f"{row['model']} takes {known[row['model']]:.0f} s: "
                       "bench/rtl.py --only")
            continue
        with tempfile.TemporaryDirectory(dir=suite.work) as folder:
            found = simulate(np, suite.rhizome, row,
                             networks.pathlib.Path(folder))
        suite.check(found["verdict"] == "equal",
                    f"{row['model']}: {found.get('frames')} frames, "
                    f"{found.get('mismatches')} mismatches, cycles "
                    f"{found.get('interval_cycles')}"
                    + (f", {found['golden']}" if "golden" in found else "")
                    + (f", {found['verdict']}"
                       if found["verdict"] != "equal" else ""))
