# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Packages and files that mean harm: refused by name, and nothing of theirs
has run (docs/trust.md)."""
import json
import pathlib
import shutil

import networks

MODEL = networks.ROOT / "examples/tiny-digits/tiny_digits_qdq_int8.onnx"
DEVICE = networks.ROOT / "data/devices/xczu3eg.yaml"
SECONDS = 20  # far more than a refusal takes


def hostile_plans(harm):
    """By name: a change to a plan, and what the message names."""
    def node(plan):
        return plan["nodes"][0]

    def stream(plan):
        return node(plan)["ports"]["stream"][0]

    def set_every(plan):
        plan["channels"] = [{
            "id": 1, "tensor": "x", "elements": 1,
            "element": stream(plan)["element"], "from": {"node": "host", "port": "input0"},
            "to": {"node": node(plan)["name"], "port": "s_axis_0"},
            "first": 0, "every": 4 * 10**18, "link": "lan"}]

    def rename_parameter(plan):
        actor = next(a for a in node(plan)["actors"] if a["parameters"])
        name = actor["parameters"][0]
        actor["parameters"][0] = f"../../{harm.name}"
        actor["config"][f"../../{harm.name}"] = actor["config"].pop(name)

    return {
        "a command in a file's name": (
            lambda p: node(p)["rtl"].append(f"x.sv\n!touch {harm}"),
            "plan.nodes[0].rtl"),
        "a parameter that is a path": (rename_parameter,
                                       "plan.nodes[0].actors"),
        "a file of others": (lambda p: node(p)["rtl"].append("/etc/hostname"),
                             "plan.nodes[0].rtl"),
        "a node elsewhere": (lambda p: node(p).update(name="../elsewhere"),
                             "plan.nodes[0].name"),
        "a port without a number": (
            lambda p: stream(p).update(port="s_axis"),
            "plan.nodes[0].ports.stream.in[0].port"),
        "turns without end": (set_every, "plan.channels[0].every"),
        "a shape too large": (
            lambda p: stream(p).update(shape=[2**40, 2**40]),
            "shape"),
        "a terminal's commands": (lambda p: p.update(device="\x1b[2J"),
                                  "plan.device"),
    }


def refused(suite, label, names, *args):
    result = suite.run(*args, timeout=SECONDS)
    suite.check(result.status == 1 and names in result.err
                and "\x1b" not in result.err,
                f"{label}: {result.message[:150]} ({result.wall_s:.2f} s)",
                result.command)


def strangers(suite):
    package = suite.work / "plain.rhz"
    result = suite.compile(MODEL, (), "throughput=1000/s", package)
    suite.check(result.status == 0, "compiles", result.command)
    harm = suite.work / "harm"
    plan = json.loads((package / "plan.json").read_text())
    copy = suite.work / "hostile.rhz"

    def fresh():
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(package, copy)
        return json.loads(json.dumps(plan))

    for label, (change, names) in hostile_plans(harm).items():
        changed = fresh()
        change(changed)
        (copy / "plan.json").write_text(json.dumps(changed))
        for command in ("report", "synth", "simulate"):
            refused(suite, f"{label}, {command}", names, command, copy,
                    "--accept-changes")
    fresh()
    (copy / "plan.json").write_text("[" * 300000)
    refused(suite, "a plan nested deeply", "nested deeper", "report", copy,
            "--accept-changes")
    # Hardware that calls a shell.
    fresh()
    source = next((copy / "nodes/node0/rtl").glob("rhz_*.sv"))
    source.write_text(source.read_text().replace(
        "endmodule", f'initial $system("touch {harm}");\nendmodule', 1))
    for command in ("synth", "simulate"):
        refused(suite, f"a system task, {command}", "'$system'", command, copy,
                "--accept-changes")
    # A simulator that a package brings along.
    fresh()
    folder = copy / "results/sim"
    folder.mkdir(parents=True, exist_ok=True)
    script = f"#!/bin/sh\ntouch {harm}\n"
    first = suite.run("simulate", package, "-n", 2, "--json")
    suite.check(first.status == 0, "the plain package simulates",
                first.command)
    brought = list((package / "results/sim").glob("sim-*"))
    suite.check(not brought, f"no program lies in the package {brought}")
    # Under the very name by which this design's simulator is kept.
    simulator = pathlib.Path((first.json or {}).get("simulator", "none"))
    suite.check(simulator.is_file() and package not in simulator.parents,
                f"the simulator lies elsewhere: {simulator}", first.command)
    (folder / simulator.name).write_text(script)
    (folder / simulator.name).chmod(0o755)
    result = suite.run("simulate", copy, "-n", 2, "--json")
    suite.check(result.status == 0 and (result.json or {}).get("mismatches")
                == (first.json or {}).get("mismatches"),
                "a program in the package changes nothing", result.command)
    # Files.
    kernel = suite.work / "deep.mlir"
    kernel.write_text("module {" * 100000 + "}" * 100000)
    refused(suite, "a module nested deeply", "nested deeper", "compile", kernel,
            "-o", suite.work / "deep.rhz")
    device = suite.work / "device.yaml"
    device.write_text(DEVICE.read_text().replace(
        "name: xczu3eg", 'name: "x\\n    load: touch harm"', 1))
    refused(suite, "a device that brings a command", "'name' is", "compile",
            MODEL, "--device", device, "-o", suite.work / "named.rhz")
    suite.check(not harm.exists(), "nothing of theirs has run")
