# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels with the system around them: simulated from a host's registers to
buffers in memory, with pauses, several units and devices; files for vendors'
tools against goldens and stubs; and rhz_kernel between AXI models of others."""
import json
import os
import shutil

import framework
import networks
import vendorflows
from framework import run_program
from kernels import EXAMPLES, helmholtz_of

GOLDEN = networks.ROOT / "test/vendor/golden/xcu280-system"
NUMBERS = ("--numbers", "fixed<8,24>")
SUMS = """type cube : [9 9 9]
var input  a : cube
var input  b : cube
var output c : cube
c = a + b
"""


def simulated(suite, package, count, *stalls, within=0.03):
    """The evaluator's bits; without pauses the predicted cycles."""
    plan = json.loads((package / "plan.json").read_text())
    result = suite.run("simulate", package, "-n", count, *stalls, "--json")
    answer = result.json or {}
    good = result.status == 0 and answer.get("mismatches") == 0
    measured, predicted = answer.get("measured"), plan["predicted"]
    if good and not stalls:
        good = all(abs(measured[name] - predicted[name]) <=
                   within * predicted[name]
                   for name in ("interval_cycles", "latency_cycles"))
    suite.check(good, f"{package.stem} {stalls}: {measured} as predicted "
                f"{predicted['interval_cycles']} {predicted['latency_cycles']} "
                f"{result.message}", result.command)
    return plan


def compiled(suite, kernel, name, *options, device="xcu280"):
    package = suite.work / f"{name}.rhz"
    numbers = () if "--numbers" in options else NUMBERS
    result = suite.run("compile", kernel, *numbers, "--device", device,
                       "--system", *options, "-o", package)
    suite.check(result.status == 0, f"{name} {result.message}", result.command)
    return package


def described(suite, plan):
    """Ports and registers follow each other, buffers hold their groups."""
    system = plan["kernel"]["system"]
    streams = plan["kernel"]["streams"]
    for at, port in enumerate(system["ports"]):
        beat = port["data_width"] // 8
        words = port["words"] * port["lanes"] * port["word_bits"] // 8
        suite.check(
            port["port"] == f"m_axi_{at}" and port["offset"] == 16 + 12 * at
            and port["stream"] == streams[at]["port"]
            and port["once"] == streams[at]["once"]
            and (port["direction"] == "write") ==
            port["stream"].startswith("m_axis")
            and words <= port["group_bytes"] < words + (
                port["burst_beats"] + 1) * beat
            and port["group_bytes"] % (port["burst_beats"] * beat) == 0
            and 4096 % (port["burst_beats"] * beat) == 0
            and len(port["banks"]) == system["units"],
            f"{port} is as described")
    suite.check(system["control"]["elements"] == 16 + 12 * len(streams),
                f"the elements' register: {system['control']}")


def vendor_files(suite, package):
    """Goldens, Tcl in stubs, lint and Yosys."""
    node = package / "nodes/node0"
    made = {f.relative_to(node).as_posix(): f for flow in ("floorplan", "vitis", "vivado")
            for f in sorted((node / flow).glob("*"))}
    if os.environ.get("RHIZOME_UPDATE_GOLDENS"):
        shutil.rmtree(GOLDEN, ignore_errors=True)
        for name, file in made.items():
            (GOLDEN / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(file, GOLDEN / name)
    golden = {f.relative_to(GOLDEN).as_posix(): f for f in
              GOLDEN.rglob("*") if f.is_file()}
    suite.check(set(golden) == set(made) and
                all(made[n].read_text() == golden[n].read_text()
                    for n in made),
                "files for vendors' tools are the goldens: "
                f"{[n for n in made if n not in golden or made[n].read_text() != golden[n].read_text()]}"
                " (with RHIZOME_UPDATE_GOLDENS=1 they are written anew)")
    if shutil.which("tclsh"):
        vendorflows.tcl(suite, "vivado", node, "rhz_kernel", "3.333", "ap_clk",
                        node / "vitis/package_xo.tcl",
                        node / "vitis/out/rhz_kernel.xo",
                        needs=("ipx::save_core", "package_xo"))
    vendorflows.hdl(suite, node, {"vivado"})
    result = run_program([suite.tool("make"), "-n", "-C", node / "vitis"])
    suite.check(result.status == 0 and "--link" in result.out and
                "mm2s" not in result.out, "make knows how to link",
                result.command)


def memory_errors(suite, package):
    """The memory answers with an error for one tensor: the run fails and names
    it; the next one is well again."""
    for tensor, port, options in (("u", "m_axi_0", ()), ("S", "m_axi_2", (
            "--stalls-in", "30")), ("v=decerr", "m_axi_3", ())):
        result = suite.run("simulate", package, "-n", 7, *options,
                           "--memory-error", tensor)
        suite.check(result.status == 1 and "the memory answered with an error "
                    f"for '{tensor[0]}' ({port} of unit 0)" in result.err,
                    f"{tensor}: {result.err}", result.command)
    for options, wanted in (("w", "no buffer holds 'w'; remedy: one of u, D, "
                             "S, v"), ("u=okay", "'okay' is no answer")):
        result = suite.run("simulate", package, "--memory-error", options)
        suite.check(result.status == 2 and wanted in result.err,
                    f"{options}: {result.err}", result.command)


def dies(suite, kernel):
    """What explore --systems finds best, compile builds on the same dies; a unit
    more is refused for the reason that explore names."""
    found = suite.run("explore", kernel, *NUMBERS, "--device", "xcu280",
                      "--systems", "--resident", "S", "--json")
    best = (found.json or {}).get("best") or {"units": 1, "lanes": 1}
    units = best["units"]
    options = ["--resident", "S", "--lanes", str(best["lanes"] // units),
               "--stages", str(best.get("stages")), "--words",
               str(best.get("words", 1))]
    for copies in best.get("copies", []):
        options += ["--copies", copies]
    # Copies of as many as there are.
    package = compiled(suite, kernel, "best", *options, "--units", str(units))
    plan = json.loads((package / "plan.json").read_text())
    node, system = plan["nodes"][0], plan["kernel"]["system"]
    share = {d["name"]: max(d["resources"].get(k, 0) / all for k, all in
                            d["budget"].items()) for d in node["dies"]}
    suite.check(
        all(abs(share[d["name"]] - d["share"]) < 0.002 and d["share"] <= 1 and
            system["dies"].count(d["name"]) == d["units"]
            for d in best["dies"]) and len(system["dies"]) == units and
        abs(plan["predicted"]["throughput_per_s"] / best["throughput_per_s"] -
            1) < 0.02, f"{best} is built as explored: {share} {system['dies']} "
        f"{plan['predicted']}", found.command)
    result = suite.run("compile", kernel, *NUMBERS, "--device", "xcu280",
                       "--system", *options, "--units", str(4 * units))
    suite.check(result.status == 1 and "xcu280 has no room for" in result.err
                and "SLR" in result.err and "remedy: choose fewer" in result.err,
                f"units for which no die has room: {result.err}",
                result.command)


def ends(suite):
    """Bursts that are longer than the places of a Zynq's ports: the model of
    its memory comes to an end."""
    for n, device in ((6, "xc7z020"), (6, "xc7z010"), (7, "xc7z020"),
                      (8, "xc7z010")):
        kernel = suite.work / f"burst{n}.cfd"
        kernel.write_text(
            f"var input S : [{n} {n}]\nvar input u : [{n} {n} {n}]\n"
            f"var output v : [{n} {n} {n}]\nvar t : [{n} {n} {n}]\n"
            "t = S # S # S # u . [[1 6] [3 7] [5 8]]\nv = t * u\n")
        result = suite.run("compile", kernel, *NUMBERS, "--device", device,
                           "--system", "-o", suite.work / "burst.rhz",
                           timeout=60)
        suite.check(result.status in (0, 1), f"{n} on {device}: "
                    f"{result.status} {result.message[:100]}", result.command)


def kernel_system(suite):
    """A small kernel: lanes over a wide bus, stages, what stays, two units."""
    kernel = helmholtz_of(suite, 3)
    package = compiled(suite, kernel, "lanes", "--stages", "7", "--resident",
                       "S", "--lanes", "2", "--units", "2")
    plan = simulated(suite, package, 7)
    simulated(suite, package, 7, "--stalls-in", "30", "--stalls-out", "30")
    described(suite, plan)
    vendor_files(suite, package)
    for wanted, *options in (
            ("say --system", "--units", "2", "--device", "xcu280"),
            ("has no off-chip memory", "--system", "--device", "lfe5u-85f"),
            ("name a --device", "--system")):
        result = suite.run("compile", kernel, *NUMBERS, *options)
        suite.check(result.status in (1, 2) and wanted in result.err,
                    f"{options}: {result.err}", result.command)
    dies(suite, kernel)
    ends(suite)
    memory_errors(suite, package)
    result = suite.run("simulate", package, "--four-state")
    suite.check(result.status == 1 and "in Verilator only" in result.err,
                f"--four-state {result.err}", result.command)


def kernel_system_units(suite):
    """Other shapes: a ring between 3 lanes and 16 words, one bank of DDR for all
    ports, kernels that memory limits, one with floats, a network's device."""
    small = helmholtz_of(suite, 4)
    sums = suite.work / "sums.cfd"
    sums.write_text(SUMS)
    for kernel, name, device, *options in (
            (small, "serial", "xcu280", "--lanes", "3", "--resident", "S"),
            (small, "ddr", "xcvu9p-slr", "--stages", "3", "--lanes", "2"),
            (small, "wide", "xcu280", "--stages", "2", "--lanes", "17"),
            (small, "words", "xcu280", "--words", "4", "--lanes", "3",
             "--stages", "2", "--resident", "S"),
            (sums, "bound", "xcu280", "--stages", "1", "--lanes", "16"),
            (sums, "double", "xcu280", "--numbers", "double", "--stages", "1",
             "--lanes", "64"),
            (sums, "serial16", "xcu280", "--lanes", "16"),
            (sums, "shared", "xcvu9p-slr", "--stages", "1", "--lanes", "8")):
        package = compiled(suite, kernel, name, *options, device=device)
        # Of several ports at a bank the order of bursts is not known.
        plan = simulated(suite, package, 35, within=0.06 if name == "shared"
                         else 0.03)
        simulated(suite, package, 35, "--stalls-in", "30")
        bound = "bound" in name or name in ("shared", "double")
        suite.check((plan["bottleneck"] in ("hbm2", "ddr4")) == bound,
                    f"{name} is limited by {plan['bottleneck']}")


    # A rate that one word a beat cannot reach.
    package = suite.work / "rate.rhz"
    result = suite.run("compile", sums, *NUMBERS, "--device", "xcu280", "--goal",
                       "throughput=500000/s", "-o", package)
    suite.check(result.status == 0, f"wide for a rate {result.message}",
                result.command)
    plan = simulated(suite, package, 5)
    suite.check(plan["predicted"]["throughput_per_s"] >= 500000 and
                all(s["words"] > 1 for s in plan["kernel"]["streams"]),
                f"words for a rate: {plan['predicted']}")


def kernel_system_large(suite):
    """Helmholtz of 11 points: two lanes of seven stages."""
    package = compiled(suite, EXAMPLES / "helmholtz.cfd", "large", "--stages",
                       "7", "--resident", "S", "--lanes", "2", "--copies",
                       "line 13=11x1x1x1", "--copies", "line 15=11x1x1x1")
    plan = simulated(suite, package, 8)
    suite.check(plan["predicted"]["interval_cycles"] == 1336,
                f"{plan['predicted']}")
    simulated(suite, package, 8, "--stalls-in", "30", "--stalls-out", "30")


def kernel_system_axi(suite):
    """rhz_kernel between cocotbext-axi's memories and its AXI4-Lite master."""
    runner = framework.needed("cocotb_tools.runner")
    framework.needed("cocotbext.axi")
    numpy = framework.needed("numpy")
    suite.tool("iverilog")
    package = compiled(suite, helmholtz_of(suite, 3), "axi", "--stages", "2",
                       "--resident", "S", "--lanes", "2")
    plan = json.loads((package / "plan.json").read_text())
    node = package / "nodes/node0"
    # Results of the package's own simulation; buffers as the plan describes.
    elements, points, fraction = 5, 3, 1 << 24
    rng = numpy.random.default_rng(1)
    tensors = {name: rng.integers(-1024, 1024, shape) / 1024 for name, shape in
               (("S", [points] * 2), ("D", [elements] + [points] * 3),
                ("u", [elements] + [points] * 3))}
    files = suite.work / "in.npz", suite.work / "out.npy"
    numpy.savez(files[0], **tensors)
    result = suite.run("simulate", package, "-n", elements, "--stalls-in", "1",
                       "--input", files[0], "--output", files[1])
    if not suite.check(result.status == 0, f"results {result.message}",
                       result.command):
        return
    tensors["v"] = numpy.load(files[1])
    streams = {s["port"]: s["tensors"] for s in plan["kernel"]["streams"]}

    def buffer(port):
        lanes, words = port["lanes"], port["words"]
        count = 1 if port["once"] else -(-elements // lanes)
        places = numpy.zeros((count, port["group_bytes"] // 4), "<i4")
        data = numpy.concatenate(
            [tensors[t].reshape(1 if port["once"] else elements, -1)
             for t in streams[port["stream"]]], axis=1)
        for at, element in enumerate(data):
            places[at // lanes, at % lanes:words * lanes:lanes] = \
                numpy.rint(element * fraction)
        return places.tobytes()
    case = {"elements": elements, "ports": []}
    kernel = (node / "vivado/rhz_kernel.v").read_text()
    for at, port in enumerate(plan["kernel"]["system"]["ports"]):
        case["ports"].append({
            "port": port["port"], "write": port["direction"] == "write",
            "base": 0x3000 + 0x100000 * at, "offset": port["offset"],
            "bytes": buffer(port).hex(), "group": port["group_bytes"],
            "elements": elements, "lanes": port["lanes"],
            "used": port["words"] * port["lanes"] * port["word_bits"] // 8})
        # The kernel has no identifiers, the models want some.
        for name in (("awid", "bid") if port["direction"] == "write" else
                     ("arid", "rid")):
            wire = "output" if name.startswith("a") else "input "
            name = f"{port['port']}_{name}"
            kernel = kernel.replace("  input  wire ap_clk,",
                                    f"  {wire} wire {name},\n"
                                    "  input  wire ap_clk,", 1)
            if wire == "output":
                kernel = kernel.replace("endmodule", f"  assign {name} = 1'b0;"
                                        "\nendmodule", 1)
    (suite.work / "case.json").write_text(json.dumps(case))
    source = suite.work / "rhz_kernel.v"
    source.write_text(kernel)
    rtl = node / "rtl"
    simulator = runner.get_runner("icarus")
    try:
        simulator.build(
            sources=[source, *(rtl / f for f in plan["nodes"][0]["rtl"])],
            hdl_toplevel="rhz_kernel", build_args=["-g2012"],
            build_dir=suite.work / "sim", timescale=("1ns", "1ps"),
            log_file=suite.work / "build.log")
        shutil.copy(networks.ROOT / "test/vendor/kernel_axi.py", suite.work)
        results = simulator.test(
            hdl_toplevel="rhz_kernel", test_module="kernel_axi",
            build_dir=suite.work / "sim", test_dir=suite.work,
            results_xml=suite.work / "results.xml", seed=1,
            log_file=suite.work / "test.log",
            extra_env={"PYTHONDONTWRITEBYTECODE": "1",
                       "RHIZOME_CASE": str(suite.work / "case.json")})
        good = runner.get_results(results) == (1, 0)
    except (RuntimeError, SystemExit) as why:
        good = False
        print(why)
    log = suite.work / "test.log"
    suite.check(good, "the system works between cocotbext-axi's memories and "
                "registers, which pause"
                + ("" if good or not log.exists()
                   else "\n" + log.read_text()[-1500:]))
