# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiled networks as hardware: simulated bits and cycles compared with the
prediction, and every emitted file read by the external tools."""
import json

import networks
from framework import Skip, run_program, slug

FRAMES = 20
COMPILE_LIMIT_S = 2.0
LINE_RATE_CYCLES = 409   # 10 GbE, 3,072 bytes and headers at 156.25 MHz
MULTIPLIERS_AT_5000 = 30
# Maximum cycles times multipliers of a frame for simulation in Icarus.
FOUR_STATE_WORK = {"quick": 20000, "all": 400000}
# Percent of cycles in which sources and sinks pause.
STALLS = {"quick": ((30, 40),), "all": ((30, 0), (0, 60), (40, 40))}


def near(predicted, measured):
    return abs(predicted - measured) <= 0.01 * measured


def multipliers(plan):
    """Multipliers of a plan: a packed DSP counts for both of its products."""
    total = 0
    for node in plan["nodes"]:
        for actor in node["actors"]:
            config = actor.get("config", {})
            if actor["kind"] == "matvec":
                total += config["Pe"] * config["Simd"] * config["Pixels"]
            elif config.get("MulWidth", 0):
                total += config.get("Lanes", 1)
    return total


def check_files(suite, package, label):
    """Lint, Yosys and Icarus on the contents of the package, with nothing added
    except the simulation model of a vendor's primitive."""
    plan = json.loads((package / "plan.json").read_text())
    for node in plan["nodes"]:
        rtl = package / "nodes" / node["name"] / "rtl"
        models, top = node.get("simulation_models", []), node["top"]
        try:
            lint = run_program(
                [suite.tool("verilator"), "--lint-only", "-Wall",
                 "--top-module", top, "-f", "files.f", *models], cwd=rtl)
            suite.check(lint.status == 0 and not lint.err.strip(),
                        f"{label}: verilator --lint-only -Wall is clean"
                        + lint.err[:600], f"cd {rtl} && {lint.command}")
        except Skip as why:
            suite.skip(str(why))
        try:
            files = (rtl / "files.f").read_text().split()
            vendor = ("read_verilog -lib +/xilinx/cells_xtra.v; " if models
                      else "")
            script = (f"{vendor}read_verilog -sv {' '.join(files)}; "
                      f"hierarchy -check -top {top}")
            read = run_program([suite.tool("yosys"), "-q", "-p", script],
                               cwd=rtl)
            suite.check(read.status == 0, f"{label}: Yosys reads it"
                        + ("" if read.status == 0 else ": " + read.message),
                        f"cd {rtl} && {read.command}")
        except Skip as why:
            suite.skip(str(why))
        try:
            icarus = run_program(
                [suite.tool("iverilog"), "-g2012", "-s", top, "-t", "null",
                 "-f", "files.f", *models], cwd=rtl)
            suite.check(icarus.status == 0, f"{label}: Icarus compiles it"
                        + ("" if icarus.status == 0 else
                           ": " + icarus.message),
                        f"cd {rtl} && {icarus.command}")
        except Skip as why:
            suite.skip(str(why))


def check_simulation(suite, package, label, stalls):
    """Bits with free and with stalled streams; cycles compared with the prediction."""
    suite.tool("verilator")
    free = suite.run("simulate", package, "--level", "rtl", "-n", FRAMES,
                     "--json")
    answer = free.json or {}
    suite.check(free.status == 0 and answer.get("mismatches") == 0
                and answer.get("frames") == FRAMES,
                f"{label}: {FRAMES} frames, {answer.get('mismatches')} "
                f"mismatches" + ("" if free.status == 0 else
                                 f": {free.message}"), free.command)
    predicted, measured = answer.get("predicted"), answer.get("measured")
    if predicted and measured:
        for key in ("interval_cycles", "latency_cycles"):
            suite.check(near(predicted[key], measured[key]),
                        f"{label}: {key} predicted {predicted[key]}, measured "
                        f"{measured[key]}", free.command)
    for seed, (at_input, at_output) in enumerate(stalls, 2):
        stalled = suite.run("simulate", package, "--level", "rtl", "-n",
                            FRAMES, "--stalls-in", at_input, "--stalls-out",
                            at_output, "--seed", seed, "--json")
        found = stalled.json or {}
        suite.check(stalled.status == 0 and found.get("mismatches") == 0,
                    f"{label}: stalls {at_input} % in, {at_output} % out, "
                    f"{found.get('mismatches')} mismatches"
                    + ("" if stalled.status == 0 else f": {stalled.message}"),
                    stalled.command)
    return answer


def check_four_state(suite, package, label):
    """Two frames in Icarus, where an unknown value would be an X."""
    suite.tool("iverilog")
    result = suite.run("simulate", package, "--level", "rtl", "-n", 2,
                       "--four-state", "--stalls-in", 20, "--stalls-out", 20,
                       "--json")
    answer = result.json or {}
    suite.check(result.status == 0 and answer.get("mismatches") == 0,
                f"{label}: four-state simulation, "
                f"{answer.get('mismatches')} mismatches"
                + ("" if result.status == 0 else f": {result.message}"),
                result.command)


def check_goal(suite, network, goal, plan, answer):
    """The requirements of a goal on its plan."""
    predicted = answer["predicted"]
    label = f"{network.name} {goal}"
    if goal.startswith("throughput="):
        wanted = float(goal.split("=")[1].removesuffix("/s"))
        suite.check(predicted["throughput_per_s"] >= wanted,
                    f"{label}: promises {predicted['throughput_per_s']:.0f} "
                    f"per second")
    if goal.startswith("latency="):
        text = goal.split("=")[1]
        unit = {"ms": 1e-3, "us": 1e-6, "ns": 1e-9}[text[-2:]]
        seconds = predicted["latency_cycles"] / predicted["clock_mhz"] / 1e6
        suite.check(seconds <= float(text[:-2]) * unit,
                    f"{label}: promises {seconds * 1e6:.2f} us")
    if network.name != "PTTCNN_int8":
        return
    if goal == "throughput=5000/s":
        suite.check(multipliers(plan) <= MULTIPLIERS_AT_5000,
                    f"{label}: {multipliers(plan)} multipliers, at most "
                    f"{MULTIPLIERS_AT_5000}")
    if goal == "max-throughput":
        suite.check(predicted["interval_cycles"] <= LINE_RATE_CYCLES,
                    f"{label}: an interval of {predicted['interval_cycles']} "
                    f"cycles, at most {LINE_RATE_CYCLES}")
        worst = max(answer["utilization"].items(), key=lambda item: item[1])
        suite.check(worst[1] <= 1, f"{label}: {worst[1]:.1%} of the budget's "
                                   f"{worst[0]}")


def hardware(suite, name, which):
    """One network at its quick goal, or at all of its goals."""
    network = networks.NETWORKS[name]
    suite.need(network.path)
    for goal in (network.goals if which == "all" else (network.quick,)):
        label = f"{name} {goal}"
        package = suite.work / f"{slug(label)}.rhz"
        answer, result = suite.compiled(network, goal, package)
        if not answer:
            continue
        suite.check(result.cpu_s < COMPILE_LIMIT_S,
                    f"{label}: compiled in {result.cpu_s:.2f} s of processor "
                    f"time, below {COMPILE_LIMIT_S}", result.command)
        plan = json.loads((package / "plan.json").read_text())
        check_goal(suite, network, goal, plan, answer)
        check_files(suite, package, label)
        measured = check_simulation(suite, package, label,
                                    STALLS[which]).get("measured")
        if (goal == network.quick and measured
                and measured["interval_cycles"] * max(multipliers(plan), 1)
                < FOUR_STATE_WORK[which]):
            check_four_state(suite, package, label)


def smallest(suite, name):
    """The compile time of the goal that searches and simulates longest. Load
    on the machine also inflates processor time, so the better of two counts."""
    network = networks.NETWORKS[name]
    package = suite.work / f"{name}.rhz"
    times = []
    for _ in range(2):
        answer, result = suite.compiled(network, "min-resources", package)
        if not answer:
            return
        times.append(result.cpu_s)
    suite.check(min(times) < COMPILE_LIMIT_S,
                f"{name} min-resources: compiled in {min(times):.2f} s of "
                f"processor time, below {COMPILE_LIMIT_S}", result.command)
