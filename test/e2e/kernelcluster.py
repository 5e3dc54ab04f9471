# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels on the nodes of a cluster: equal units behind link endpoints, in RTL
with lossy links, as MPI ranks, as processes, and on this CPU."""
import json
import os
import signal
import time

import kernels
import nodes
import numpy as np
import streams

CLUSTER = "xcu280:3@udp-100g"


def package_of(suite, kernel, name, *options):
    package = suite.work / f"{name}.rhz"
    result = suite.run("compile", kernel, "--cluster", CLUSTER, *options, "-o",
                       package, "--json")
    suite.check(result.status == 0, f"{name} compiles {result.message[-300:]}",
                result.command)
    return package, (result.json or {})


def is_near(measured, predicted, share):
    return abs(measured - predicted) <= share * predicted


def simulated(suite, name, package, plan):
    """In RTL, with links that lose and reorder, then without for the figures."""
    result = suite.run("simulate", package, "--level", "cluster", "-n", 8,
                       "--loss", 0.02, "--reorder", 0.1, "--json")
    answer = result.json or {}
    suite.check(result.status == 0 and answer.get("mismatches") == 0,
                f"{name} is exact with losses {result.message[-200:]}",
                result.command)
    result = suite.run("simulate", package, "--level", "cluster", "-n", 8,
                       "--json")
    measured = (result.json or {}).get("measured") or {}
    predicted = plan["predicted"]
    suite.check(
        is_near(measured.get("throughput_per_s", 0),
                predicted["throughput_per_s"], 0.01) and
        is_near(measured.get("latency_us", 0), predicted["latency_us"], 0.03),
        f"{name}: {measured}, predicted {predicted['throughput_per_s']} "
        f"{predicted['latency_us']}", result.command)
    kept = json.loads((package / "results/cluster.json").read_text())
    suite.check(len(kept["parties"]) == len(plan["nodes"]) + 1,
                f"{name}: who did what is kept", result.command)


def kernel_cluster(suite):
    suite.tool("verilator")
    suite.tool("mpirun")
    kernel = kernels.helmholtz_of(suite, 4)
    formats = ("--numbers", "fixed<8,24>")
    for name, options, count in (
            ("plain", formats, 3), ("stages", (*formats, "--stages", 3), 3),
            ("fast", (*formats, "--goal", "max-throughput,dsp=200"), None),
            ("enough", (*formats, "--goal", "throughput=2000000/s,dsp=200"), 2),
            ("narrow", ("--numbers", "fixed<4,12>"), 3),
            ("float", ("--numbers", "half"), 3)):
        package, answer = package_of(suite, kernel, name, *options)
        plan = json.loads((package / "plan.json").read_text())
        suite.check(count in (None, len(plan["nodes"])) and
                    plan["kernel"]["choice"]["nodes"] == len(plan["nodes"]),
                    f"{name} is on {len(plan['nodes'])} nodes: "
                    f"{answer.get('predicted')}")
        simulated(suite, name, package, plan)


def near_lut(part):
    return is_near(part["measured"]["lut"], part["predicted"]["lut"], 0.15)


def same(folder, other):
    a, b = kernels.files_of(folder), kernels.files_of(other)
    return {name for name in {*a, *b} if a.get(name) != b.get(name)}


def kernel_drivers(suite):
    """One package through every driver that it has, and what has none."""
    for tool in ("verilator", "mpirun"):
        suite.tool(tool)
    kernel = kernels.helmholtz_of(suite, 4)
    formats = ("--numbers", "fixed<8,24>")
    package, _ = package_of(suite, kernel, "service", *formats)
    data, want = suite.work / "x.npz", suite.work / "want.npy"
    random = np.random.default_rng(1)
    np.savez(data, S=random.uniform(-1, 1, (4, 4)),
             D=random.uniform(-1, 1, (12, 4, 4, 4)),
             u=random.uniform(-1, 1, (12, 4, 4, 4)))
    common = (package, "--input", data, "--json")
    result = suite.run("run", *common, "--driver", "cpu", "--output", want)
    suite.check(result.status == 0, "cpu", result.command)

    def check(label, result, output):
        answer = result.json or {}
        suite.check(result.status == 0 and answer.get("mismatches") == 0 and
                    answer.get("compared") == answer.get("frames") == 12 and
                    (np.load(output) == np.load(want)).all(),
                    f"{label}: {answer} {result.message[-300:]}",
                    result.command)

    for driver in ("mpi", "opencl"):
        output = suite.work / f"{driver}.npy"
        check(driver, suite.run("run", *common, "--driver", driver,
                                "--output", output), output)
    result = suite.run("run", package, "--driver", "null", "-n", 5, "--json")
    suite.check(result.status == 0 and (result.json or {}).get("frames") == 5,
                "null", result.command)
    plan = json.loads((package / "plan.json").read_text())
    for engine in ("cpu", "rtl"):
        base = 20000 + os.getpid() % 20000
        places = {node["name"]: f"127.0.0.1:{base + node['address']}"
                  for node in plan["nodes"]}
        with nodes.running([nodes.Node(suite, package, name, places,
                                       "--engine", engine)
                            for name in places]):
            output = suite.work / f"udp-{engine}.npy"
            check(f"udp, {engine}", suite.run(
                "run", *common, "--output", output, *nodes.at(places)), output)

    # Elements come batch by batch: at once, and none after an interruption.
    output = suite.work / "many.npy"
    result = suite.run("run", package, "--driver", "opencl", "-n", 2500,
                       "--output", output, "--json")
    answer = result.json or {}
    suite.check(result.status == 0 and answer.get("mismatches") == 0 and
                answer.get("compared") == answer.get("frames") == 2500 and
                len(np.unique(np.load(output).reshape(2500, -1), axis=0)) ==
                2500, f"many: {answer} {result.message}", result.command)
    run = streams.Running(suite, package, "--driver", "opencl", "-n", 10**9,
                          "--json")
    run.wait_for(lambda: run.catches(signal.SIGINT))
    time.sleep(2)
    streams.interrupted(suite, run, signal.SIGINT, "elements")

    # Each node's design is complete: synthesis reads it.
    pooling, _ = package_of(suite, kernels.EXAMPLES / "pooling.cfd",
                            "pooling", *formats)
    result = suite.run("synth", pooling, "--json")
    parts = (result.json or {}).get("nodes") or []
    suite.check(result.status == 0 and parts and
                all(near_lut(part) for part in parts),
                f"synth: {parts} {result.message[-300:]}", result.command)

    # In phases, and by its plan.
    other = suite.work / "again.rhz"
    result = suite.run("compile", kernel, *formats, "--cluster", CLUSTER,
                       "--plan", package, "-o", other)
    suite.check(result.status == 0 and not same(package, other),
                f"--plan: {result.message}", result.command)
    for phase in ("integerize", "explore", "emit"):
        module = suite.work / f"{phase}.mlir"
        result = suite.run("compile", kernel, *formats, "--cluster", CLUSTER,
                           "--compile-to", phase, "-o", module)
        suite.check(result.status == 0, phase, result.command)
        result = suite.run("compile", module, "--compile-from", phase, "-o",
                           other)
        suite.check(result.status == 0 and not same(package, other),
                    f"from {phase}: {same(package, other)} {result.message}",
                    result.command)

    single = suite.work / "single.rhz"
    suite.run("compile", kernel, *formats, "--device", "xcu280", "-o", single)
    compile_on = ("compile", kernel, *formats, "--cluster")
    for words, why in (
            ((*compile_on, CLUSTER, "--system"), "over links"),
            ((*compile_on, CLUSTER, "--lanes", 2), "one element at a time"),
            ((*compile_on, CLUSTER, "--resident", "S"), "with each element"),
            ((*compile_on, "xcu280:1,xck26:1@udp-10g"), "are equal"),
            (("compile", kernel, "--numbers", "fixed<40,40>", "--cluster",
              CLUSTER), "80 bits"),
            ((*compile_on, "xcu280:2@udp-100g", "--plan", package),
             "room for 2"),
            (("compile", kernel, *formats, "--device", "xcu280", "--plan",
              package), "one device"),
            (("simulate", package), "--level cluster"),
            (("simulate", single, "--level", "cluster"), "no links"),
            (("simulate", package, "--level", "cluster", "--stalls-in", 30),
             "links make nodes wait"),
            (("simulate", package, "--level", "cluster", "--four-state"),
             "--level cluster"),
            (("run", single, "--driver", "udp"), "no links"),
            (("run", single, "--driver", "uart"), "has the drivers")):
        result = suite.run(*words)
        suite.check(result.status in (1, 2) and why in result.err,
                    f"{words[0]} {words[-2:]}: {result.err}", result.command)
    result = suite.run("run", single, "--driver", "opencl", "-n", 4, "--json")
    suite.check(result.status == 0 and
                (result.json or {}).get("compared") == 4,
                f"opencl of one device: {result.message}", result.command)
