# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Layers of one shape that take turns on one unit, in whole networks: when the
explorer takes it, and that the plan says who shares it; values with and without
stalls, cycles and resources as predicted; a branch around a layer on the unit."""
import json

import framework
import networks

DEVICE, LAYERS, SIZE = "xc7a35t", 6, 64


def perceptron(kit):
    """Dense layers of one size; the second and the fourth are residual."""
    b = kit.Builder(seed=5)
    v = b.quantized(b.input([1, SIZE], name="x"), 1 / 16)
    for i in range(LAYERS):
        before = v
        v = b.node("Gemm", v, b.weights(SIZE, SIZE, scale=1 / 64))
        v = b.quantized(b.node("Relu", v), 1 / 8)
        if i in (1, 3):
            v = b.quantized(b.node("Add", v, before), 1 / 8)
    b.output(v)
    return b.model()


def made(suite, label, model, *options):
    """The package and its plan."""
    package = suite.work / f"{label}.rhz"
    result = suite.run("compile", model, "--device", DEVICE, *options, "-o",
                       package, "--json")
    if not suite.check(result.status == 0, f"{label}: compiles "
                       f"{result.message[:200]}", result.command):
        return None, None
    return package, json.loads((package / "plan.json").read_text())


def sharers(plan):
    """The operations on a shared unit, with what the plan says of them."""
    return {o["name"]: o["text"] for o in plan["nodes"][0]["operations"]
            if o["option"].startswith("stream/turns")}


def check_runs(suite, label, package, plan):
    for options in ((), ("--stalls-in", "40", "--stalls-out", "40")):
        result = suite.run("simulate", package, "-n", "8", *options, "--json")
        answer = result.json or {}
        suite.check(result.status == 0 and answer.get("mismatches") == 0,
                    f"{label}: values {options} {result.message[:200]}",
                    result.command)
        if options or "measured" not in answer:
            continue
        measured, promised = answer["measured"], plan["predicted"]
        suite.check(all(measured[k] == promised[k] for k in (
            "interval_cycles", "latency_cycles")),
            f"{label}: {measured} as predicted: {promised}", result.command)


def shared(suite):
    kit = framework.needed("onnxkit")
    import onnx
    model = suite.work / "perceptron.onnx"
    onnx.save(perceptron(kit), model)
    package, plan = made(suite, "low", model, "--goal", "min-resources")
    if not plan:
        return
    mine = sharers(plan)
    units = [a for a in plan["nodes"][0]["actors"]
             if a["kind"] == "matvec_turns"]
    suite.check(len(mine) >= 3 and len(units) == 1 and all(
        f"one unit with {', '.join(o for o in mine if o != node)}" in text
        for node, text in mine.items()), f"one unit for all: {mine}")
    check_runs(suite, "low", package, plan)

    # With a unit for each layer it would be larger, and faster than asked for.
    steer = suite.work / "own.yaml"
    steer.write_text("nodes:\n" + "".join(
        f"  {node}: {{option: matvec}}\n" for node in mine))
    _, own = made(suite, "own", model, "--goal", "min-resources", "--steer",
                  steer)
    if own:
        a, b = (p["predicted"] for p in (plan, own))
        suite.check(a["lut"] < 0.95 * b["lut"] and a["ff"] < 0.95 * b["ff"],
                    f"{a}, with own units {b}")
    # One unit has no time for this rate.
    _, fast = made(suite, "fast", model, "--goal", "throughput=20000/s")
    if fast:
        suite.check(fast["predicted"]["interval_cycles"] <= 5000
                    and not sharers(fast), f"own units: {fast['predicted']}")

    # Convolutions, by name; an addition goes around the second one.
    steer = suite.work / "turns.yaml"
    steer.write_text("".join(["nodes:\n"] + [
        f'  {node}: {{option: "stream/turns?pe=2&simd=4&style=lut"}}\n'
        for node in ("conv2", "conv3")]))
    package, plan = made(suite, "digits",
                         networks.NETWORKS["digits_qdq_int8"].path,
                         "--goal", "min-resources", "--steer", steer)
    if plan:
        suite.check(set(sharers(plan)) == {"conv2", "conv3"},
                    f"as steered: {sharers(plan)}")
        check_runs(suite, "digits", package, plan)


def shared_netlist(suite):
    """Resources of a network with a shared unit by Yosys."""
    suite.tool("yosys")
    kit = framework.needed("onnxkit")
    import onnx
    model = suite.work / "perceptron.onnx"
    onnx.save(perceptron(kit), model)
    package, plan = made(suite, "low", model, "--goal", "min-resources")
    if not plan:
        return
    result = suite.run("synth", package, "--json")
    if not suite.check(result.status == 0, f"synthesis {result.message[:200]}",
                       result.command):
        return
    units = [m for m in result.json["modules"] if m["cell"] == "matvec_turns"]
    for unit in units:
        a, b = unit["predicted"], unit["measured"]
        suite.check(abs(a["lut"] / b["lut"] - 1) < 0.25
                    and abs(a["ff"] / b["ff"] - 1) < 0.05
                    and a["bram"] == b["bram"],
                    f"the unit: {a}, by Yosys {b}", result.command)
    suite.check(len(units) == 1, f"{len(units)} shared units")
