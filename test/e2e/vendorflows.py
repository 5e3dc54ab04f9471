# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The build files for vendor tools, without these tools: every Tcl, XDC and
SDC file runs in a Tcl interpreter whose vendor commands check their arguments
(test/vendor), HDL is read by Verilator and Yosys, C++ compiled and run against
small headers of our own, XML and configurations parsed. And `doctor`, on a bare
machine and on one with programs of all kinds of behavior."""
import configparser
import json
import os
import pathlib
import shutil
import stat
import subprocess
import sys
import time
import xml.etree.ElementTree

import cluster
import framework
import networks
from framework import run_program

HERE = networks.ROOT / "test/vendor"
MODEL = networks.ROOT / "examples/digits/digits_qonnx_w4a4.onnx"
BLACK_BOX = networks.ROOT / "rtl/sim/DSP48E2_blackbox.v"
GOAL = "throughput=20000/s"
# Device: the flows that its packages must contain.
DEVICES = {
    "xc7z020": {"vivado"},
    "xcku060-role": {"cloudfpga", "vivado"},
    "xczu3eg": {"vitis", "vivado"},
    "xcu280": {"floorplan", "vitis", "vivado"},
    "10ax115": {"quartus"},
    "lfe5u-85f": set(),
}


def compiled(suite, device, model=MODEL, clock=None):
    """The plan and the node's folder of a new package."""
    package = suite.work / f"{device}{'-two' if model != MODEL else ''}.rhz"
    more = ["--clock-mhz", clock] if clock else []
    result = suite.compile(model, (), GOAL, package, "--device", device, *more)
    if not suite.check(result.status == 0, f"compiles for {device}"
                       + ("" if result.status == 0 else result.message),
                       result.command):
        return None, None
    plan = json.loads((package / "plan.json").read_text())
    return plan, package / "nodes" / plan["nodes"][0]["name"]


def two_streams(suite):
    """A network with two inputs and two outputs, if onnx is installed."""
    try:
        import numpy as np
        from onnx import TensorProto, helper, numpy_helper
    except ImportError:
        suite.skip("no onnx: networks with two inputs are not tested")
        return None
    shape = [1, 4, 4, 4]
    inits = [numpy_helper.from_array(np.array(v, t), n) for n, v, t in
             (("s", 0.1, np.float32), ("z", 0, np.int8),
              ("s2", 0.2, np.float32))]
    nodes = []
    for x in "ab":
        nodes += [helper.make_node("QuantizeLinear", [x, "s", "z"],
                                   [x + "q"], name="quantize_" + x),
                  helper.make_node("DequantizeLinear", [x + "q", "s", "z"],
                                   [x + "d"], name="dequantize_" + x)]
    nodes += [helper.make_node("Add", ["ad", "bd"], ["sum"], name="add"),
              helper.make_node("Relu", ["ad"], ["positive"], name="relu")]
    for x in ("sum", "positive"):
        nodes += [helper.make_node("QuantizeLinear", [x, "s2", "z"],
                                   [x + "_q"], name="quantize_" + x),
                  helper.make_node("DequantizeLinear",
                                   [x + "_q", "s2", "z"], [x + "_d"],
                                   name="dequantize_" + x)]
    info = helper.make_tensor_value_info
    graph = helper.make_graph(
        nodes, "two", [info(x, TensorProto.FLOAT, shape) for x in "ab"],
        [info(x + "_d", TensorProto.FLOAT, shape)
         for x in ("sum", "positive")], inits)
    path = suite.work / "two.onnx"
    path.write_bytes(helper.make_model(
        graph, opset_imports=[helper.make_opsetid("", 13)],
        ir_version=8).SerializeToString())
    return path


def files_as_said(suite, device, node, flows):
    """The folders and files listed by `targets`, and no others."""
    said = suite.run("targets", device, "--json").json["targets"][0]["flows"]
    suite.check(set(said) == flows, f"{device} has the flows {sorted(flows)}: "
                                    f"{sorted(said)}")
    there = {f.relative_to(node).as_posix() for f in node.rglob("*")
             if f.is_file() and f.relative_to(node).parts[0] not in (
                 "rtl", "tb")}
    wanted = {f"{flow}/{name}" for flow, what in said.items()
              for name in what["files"]} | {"design.mlir", "timeline.json"}
    suite.check(there == wanted, f"{device}: the files that targets names "
                                 f"{sorted(there ^ wanted)}")


def tcl(suite, tool, node, top, period, clock, script, *arguments, needs=()):
    """Runs a script with stubs for the tool's commands; `needs` must be called,
    in this order."""
    command = [suite.tool("tclsh"), HERE / f"{tool}.tcl", node, top, period,
               clock, script, *arguments]
    result = run_program(command, timeout=60)
    called = iter(result.out.split())
    in_order = all(name in called for name in needs)
    suite.check(result.status == 0 and in_order,
                f"{node.parent.parent.name}: {script.relative_to(node)} "
                f"{' '.join(pathlib.Path(a).name for a in arguments)}"
                + (f": {result.message}" if result.status else "")
                + ("" if in_order else " lacks a step"), result.command)
    return result


def scripts(suite, node, plan, flows, period):
    if "vivado" in flows:
        steps = ("synth_design", "opt_design", "place_design",
                 "phys_opt_design", "route_design", "write_checkpoint",
                 "report_timing_summary")
        pins = node / "pins.xdc"
        pins.write_text("# no pins\n")
        vivado = node / "vivado"

        def run(*arguments, **more):
            tcl(suite, "vivado", node, *arguments, **more)
            shutil.rmtree(vivado / "out", ignore_errors=True)
        run("rhz_top", period, "clk_i", vivado / "build.tcl", needs=steps)
        run("rhz_top", period, "clk_i", vivado / "build.tcl", pins,
            needs=steps + ("write_bitstream",))
        run("rhz_top", period, "clk_i", vivado / "project.tcl",
            needs=("create_project", "launch_runs", "wait_on_run",
                   "launch_runs", "wait_on_run", "open_run"))
        run("rhz_top", period, "clk_i", vivado / "project.tcl", "create",
            needs=("create_project", "close_project"))
        run("rhz_kernel", period, "ap_clk", vivado / "package_ip.tcl",
            needs=("ipx::package_project", "ipx::associate_bus_interfaces",
                   "ipx::save_core"))
    if "vitis" in flows:
        tcl(suite, "vivado", node, "rhz_kernel", period, "ap_clk",
            node / "vitis/package_xo.tcl", node / "vitis/out/rhz_kernel.xo",
            needs=("ipx::save_core", "package_xo"))
    if "cloudfpga" in flows:
        tcl(suite, "vivado", node, "Role_Themisto", "6.4", "piSHL_156_25Clk",
            node / "cloudfpga/synth_role.tcl",
            needs=("synth_design", "write_checkpoint"))
    if "quartus" in flows:
        tcl(suite, "quartus", node, "rhz_top", period, "clk_i",
            node / "quartus/project.tcl",
            needs=("project_new", "export_assignments", "execute_flow",
                   "project_close"))
        shutil.rmtree(node / "quartus/out")
        tcl(suite, "quartus", node, "rhz_top", period, "clk_i",
            node / "quartus/project.tcl", "create",
            needs=("export_assignments", "project_close"))


def the_checker_checks(suite, node, period):
    """The stubs refuse what the tools would: each damage is detected."""
    vivado = node / "vivado"
    damages = {
        "an unknown command": ("implement.tcl", "opt_design\n", "opt_disign\n"),
        "an unknown option": ("implement.tcl", "-hierarchical",
                              "-hierarchic"),
        "a step too early": ("implement.tcl", "opt_design\n  place_design",
                             "place_design\n  opt_design"),
        "another top": ("sources.tcl", "set top rhz_top", "set top rhz_tip"),
        "a missing file": ("sources.tcl", "rhz_top.sv", "rhz_tip.sv"),
        "a file left out": ("sources.tcl", "  rhz_counter.sv\n", ""),
        "an image left out": ("sources.tcl", "conv1_matvec_weights.hex", ""),
        "an unbalanced brace": ("build.tcl", "if {", "if {{"),
        "another period": ("rhz_top.xdc", f"-period {period}", "-period 9"),
        "another clock port": ("rhz_top.xdc", "get_ports clk_i",
                               "get_ports clk"),
        "a port without delay": ("rhz_top.xdc", "s_axis_0_tlast }",
                                 "}"),
        "a bus without its bits": ("rhz_top.xdc", "tdata[*]", "tdata"),
        "control flow in XDC": ("rhz_top.xdc", "create_clock",
                                "if {1} {}\ncreate_clock"),
    }
    for what, (name, before, after) in damages.items():
        text = (vivado / name).read_text()
        if not suite.check(before in text, f"{name} can be damaged"):
            continue
        (vivado / name).write_text(text.replace(before, after))
        shutil.rmtree(vivado / "out", ignore_errors=True)
        result = run_program(
            [suite.tool("tclsh"), HERE / "vivado.tcl", node, "rhz_top", period,
             "clk_i", vivado / "build.tcl"], timeout=60)
        suite.check(result.status != 0, f"{what} is noticed", result.command)
        (vivado / name).write_text(text)
    shutil.rmtree(vivado / "out", ignore_errors=True)


def hdl(suite, node, flows):
    """Verilator's lint and Yosys on the RTL with the flows' wrappers."""
    rtl = [f"rtl/{name}" for name in
           (node / "rtl/files.f").read_text().split()]
    models = [f"rtl/sim/{f.name}" for f in (node / "rtl").glob("sim/*.sv")]
    tops = {"vivado": ("rhz_kernel", "vivado/rhz_kernel.v"),
            "cloudfpga": ("Role_Themisto", "cloudfpga/Role_Themisto.sv")}
    for flow in sorted(flows & set(tops)):
        top, name = tops[flow]
        label = f"{node.parent.parent.name}: {name}"
        result = run_program(
            [suite.tool("verilator"), "--lint-only", "-Wall",
             "-Wno-DECLFILENAME", "--top-module", top, name, *rtl, *models],
            cwd=node)
        suite.check(result.status == 0 and not result.err,
                    f"{label} passes lint: {result.err[:400]}",
                    result.command)
        # In rtl/, where $readmemh finds the images. A .v is plain Verilog.
        plain = "" if name.endswith(".v") else "-sv "
        result = run_program(
            [suite.tool("yosys"), "-q", "-p",
             f"read_verilog -lib {BLACK_BOX}; read_verilog {plain}../{name}; "
             f"read_verilog -sv {' '.join(f[4:] for f in rtl)}; "
             f"hierarchy -check -top {top}"], cwd=node / "rtl")
        suite.check(result.status == 0 and not result.out,
                    f"{label} is read by Yosys: {result.message[:400]}",
                    result.command)


def vitis(suite, node, plan, device):
    folder = node / "vitis"
    ports = plan["nodes"][0]
    inputs = [p["port"] for p in cluster.streams(ports, "in")]
    outputs = [p["port"] for p in cluster.streams(ports, "out")]
    kernel = xml.etree.ElementTree.parse(folder / "kernel.xml").find("kernel")
    modes = {p.get("name"): p.get("mode") for p in kernel.iter("port")}
    suite.check(
        kernel.get("name") == "rhz_kernel"
        and kernel.get("hwControlProtocol") == "ap_ctrl_none"
        and modes == {**{p: "read_only" for p in inputs},
                      **{p: "write_only" for p in outputs}}
        and {p.get("dataWidth") for p in kernel.iter("port")}
        == {str(cluster.streams(ports, "in")[0]["data_width"])}
        and [(a.get("name"), a.get("id")) for a in kernel.iter("arg")]
        == [(p, str(i)) for i, p in enumerate(inputs + outputs)],
        f"{device}: kernel.xml names the streams {inputs} {outputs}")

    class Several(dict):  # a key may come more than once
        def __setitem__(self, key, value):
            if isinstance(value, list) and key in self:
                self[key].extend(value)
            else:
                super().__setitem__(key, value)
    config = configparser.RawConfigParser(dict_type=Several, strict=False,
                                          delimiters=("=",))
    config.read(folder / "link.cfg")
    link = {key: value.splitlines()
            for key, value in config["connectivity"].items()}
    streams = ([f"mm2s_{i}.stream:rhz_kernel_0.{p}"
                for i, p in enumerate(inputs)]
               + [f"rhz_kernel_0.{p}:s2mm_{i}.stream"
                  for i, p in enumerate(outputs)])
    units = {u for _, _, names in (n.split(":") for n in link["nk"])
             for u in names.split(".")}
    suite.check(link["stream_connect"] == streams
                and units == {s.split(".")[0] for e in streams
                              for s in e.split(":")},
                f"{device}: link.cfg connects {streams}")
    banks = [b.split(":", 1)[1] for b in link.get("sp", ())]
    wanted = [f"HBM[{i}]" for i in range(len(streams))]
    suite.check(banks == (wanted if device == "xcu280" else []),
                f"{device}: memory banks {banks}")
    clocks = config["clock"]["freqhz"].splitlines()
    hertz = str(round(plan["clock_mhz"] * 1e6))
    suite.check(sorted(clocks) == sorted(f"{hertz}:{u}" for u in units),
                f"{device}: one clock of {hertz} Hz")
    result = run_program([suite.tool("make"), "-n", "-C", folder,
                          "PLATFORM=some"])
    suite.check(result.status == 0 and "--link" in result.out,
                f"{device}: make knows how to link",
                result.command)
    result = run_program([suite.tool("make"), "-n", "-C", folder])
    suite.check((result.status == 0) == (device == "xcu280"),
                f"{device}: make without a platform ends with "
                f"{result.status}", result.command)


def movers(suite, node, device):
    """The data movers as a program."""
    folder = node / "vitis"
    clang = shutil.which("clang++-22") or suite.tool("g++")
    program = folder.parent / "movers"
    result = run_program([clang, "-std=c++20", "-Wall", "-Werror",
                          "-Wno-unknown-pragmas", "-Wno-unused-label",
                          f"-I{HERE / 'hls'}", f"-I{folder}",
                          HERE / "movers.cpp", "-o", program])
    suite.check(result.status == 0, f"{device}: the movers compile "
                                    f"{result.message}", result.command)
    result = run_program([program], timeout=60)
    suite.check(result.status == 0, f"{device}: the movers move "
                                    f"{result.message}", result.command)


def hex_image(package, node, port):
    """What lies in the port's bank, a beat a line, and the number of beats."""
    data = bytearray()
    for segment in node["segments"]:
        if (segment["memory"], segment["bank"]) == (port["memory"],
                                                    port["bank"]):
            contents = (package / segment["file"]).read_bytes()
            data.extend(bytes(segment["address"] - len(data)) + contents)
    size = port["data_width"] // 8
    data.extend(bytes(-len(data) % size))
    return "".join(data[i:i + size][::-1].hex() + "\n"
                   for i in range(0, len(data), size)), len(data) // size


def reading_kernel(suite, device="xczu3eg"):
    """A kernel that reads weights from a memory: its registers, and what it
    computes before and after it is started again."""
    package = suite.work / f"{device}-reads.rhz"
    result = suite.compile(MODEL, (), "throughput=10000/s", package,
                           "--device", device, "--weights", "streamed")
    if not suite.check(result.status == 0 and "no files" not in result.err,
                       f"{device}: compiles with weights in a memory: "
                       f"{result.message}", result.command):
        return
    plan = json.loads((package / "plan.json").read_text())
    planned = plan["nodes"][0]
    node = package / "nodes" / planned["name"]
    scripts(suite, node, plan, {"vivado", "vitis"},
            f"{int(1e6 / plan['clock_mhz'] + 1e-6) / 1000:g}")
    hdl(suite, node, {"vivado"})
    ports = planned["ports"]["memory"]
    kernel = xml.etree.ElementTree.parse(
        node / "vitis/kernel.xml").find("kernel")
    pointers = [(a.get("port"), a.get("offset")) for a in kernel.iter("arg")
                if a.get("addressQualifier") == "1"]
    suite.check(kernel.get("hwControlProtocol") == "ap_ctrl_hs" and pointers
                == [(p["port"], f"0x{16 + 12 * i:03x}")
                    for i, p in enumerate(ports)],
                f"{device}: kernel.xml has an argument for each of "
                f"{len(ports)} memory ports")
    memories, to_kernel, to_top = [], [], []
    for i, port in enumerate(ports):
        name, width = port["port"], port["data_width"]
        text, beats = hex_image(package, planned, port)
        (suite.work / f"bank{i}.hex").write_text(text)
        for side, address in (("k", f" - u_kernel.bases[{64 * i} +: 64]"),
                              ("t", "")):
            n = f"{side}{i}"
            memories.append(
                f"wire {n}_arvalid, {n}_arready, {n}_rvalid, {n}_rready, "
                f"{n}_rlast; wire [63:0] {n}_araddr; wire [7:0] {n}_arlen; "
                f"wire [{width - 1}:0] {n}_rdata; rhz_tb_memory "
                f"#(.Width({width}), .Beats({beats}), .Latency(20), "
                f".Stalls(20), .Seed({i + 1}), "
                f'.File("{suite.work}/bank{i}.hex")) m_{n} (.clk_i(clk), '
                f".rst_ni(rst_n), .arvalid_i({n}_arvalid), "
                f".arready_o({n}_arready), .araddr_i({n}_araddr{address}), "
                f".arlen_i({n}_arlen), .rvalid_o({n}_rvalid), "
                f".rready_i({n}_rready), .rdata_o({n}_rdata), "
                f".rlast_o({n}_rlast));")
            signals = ["arvalid", "arready", "araddr", "arlen", "rvalid",
                       "rready", "rdata", "rlast"]
            joined = " ".join(f".{name}_{s}({n}_{s})," for s in signals)
            if side == "k":
                to_kernel.append(joined + f" .{name}_rresp(2'b00), "
                                 f".{name}_arsize(), .{name}_arburst(), "
                                 f".{name}_arcache(), .{name}_arprot(),")
            else:
                to_top.append(joined)
    inputs, outputs = (cluster.streams(planned, d) for d in ("in", "out"))

    def beats_of(port):
        bits = port["element"]["width"]
        for size in port["shape"]:
            bits *= size
        return -(-bits // port["data_width"])
    bench = (HERE / "kernel_tb.v").read_text()
    for key, value in {
            "KERNEL_MEMORIES": "\n".join(to_kernel),
            "TOP_MEMORIES": "\n".join(to_top),
            "MEMORIES": "\n".join(memories), "PORTS": len(ports),
            "WIDTH": inputs[0]["data_width"], "FRAMES": 3,
            "BEATS": beats_of(inputs[0]),
            "OUTPUTS": beats_of(outputs[0])}.items():
        bench = bench.replace("`" + key, str(value))
    (suite.work / "kernel_tb.v").write_text(bench)
    rtl = node / "rtl"
    result = run_program(
        [suite.tool("verilator"), "--binary", "--timing", "-Wno-fatal",
         "-Wno-lint", "-Wno-BLKANDNBLK", "--top-module", "kernel_tb", "--Mdir",
         suite.work / "obj", "-o", "kernel_tb", suite.work / "kernel_tb.v",
         node / "vivado/rhz_kernel.v",
         networks.ROOT / "data/sim/rhz_tb_memory.sv",
         *(rtl / name for name in (rtl / "files.f").read_text().split()),
         *(rtl / "sim").glob("*.sv")])
    if result.status == 0:
        result = run_program([suite.work / "obj/kernel_tb"], cwd=rtl,
                             timeout=300)
    suite.check(result.status == 0 and "PASS" in result.out,
                f"{device}: the kernel computes what the design does, also "
                f"when it is started again: {result.message[-300:]}"
                f"{result.out[-200:]}", result.command)


def packed(codes, element, data_width):
    """Elements next to each other, in whole beats."""
    width = element["width"]
    word = sum((int(code) & (1 << width) - 1) << k * width
               for k, code in enumerate(codes))
    beats = -(-len(codes) * width // data_width)
    return word.to_bytes(beats * data_width // 8, "little")


def small_network(suite):
    """A convolution and a dense layer."""
    b = framework.needed("onnxkit").Builder()
    x = b.quantized(b.input([1, 3, 6, 6]), 0.25)
    x = b.node("Conv", x, b.weights(8, 3, 3, 3), kernel_shape=[3, 3])
    x = b.node("Flatten", b.quantized(b.node("Relu", x), 2.0))
    b.output(b.quantized(b.node("Gemm", x, b.weights(10, 128), transB=1), 8.0))
    path = suite.work / "small.onnx"
    path.write_bytes(b.model().SerializeToString())
    return path


def border_frames(suite, package, plan, count=6):
    """Random frames at the ports, and what the interpreter makes of them."""
    np = framework.needed("onnxkit").np
    into, out = plan["host"]["to_device"][0], plan["host"]["from_device"][0]
    shape = plan["host"]["inputs"][into["tensor"]]["shape"]
    low, high = into["element"]["lo"], into["element"]["hi"]
    codes = np.random.default_rng(7).integers(low, high + 1, [count, *shape])
    scale, zero = (np.array(into[k], "float32") for k in ("scale", "zero_point"))
    np.save(suite.work / "x.npy", ((codes - zero) * scale).astype("float32"))
    made = suite.run("simulate", package, "--level", "functional", "--input",
                     suite.work / "x.npy", "-n", count, "--output",
                     suite.work / "y.npy")
    suite.check(made.status == 0, "the interpreter computes its results"
                + (f": {made.message}" if made.status else ""),
                made.command)
    values = np.load(suite.work / "y.npy").reshape(count, -1)
    scale, offset, zero = (np.array(out[k] or [0], "float64")
                           for k in ("scale", "offset", "zero_point"))
    results = np.rint((values - offset) / scale + zero).astype("int64")

    def ordered(frame, border):
        """A tensor's elements as they pass the port."""
        places = np.zeros(1, "int64")
        for axis in border["order"]:
            places = np.add.outer(places, np.arange(axis["size"])
                                  * axis["stride"]).reshape(-1)
        return packed(frame.reshape(-1)[places], border["element"],
                      border["data_width"]).hex()
    return [{"in": ordered(x, into), "out": ordered(y, out)}
            for x, y in zip(codes, results)]


def axi_models(suite, device="xczu3eg"):
    """The kernel between AXI models of others: cocotbext-axi's."""
    runner = framework.needed("cocotb_tools.runner")
    framework.needed("cocotbext.axi")
    suite.tool("iverilog")
    package = suite.work / "kernel.rhz"
    result = suite.compile(small_network(suite), (), "throughput=200000/s",
                           package, "--device", device, "--weights", "streamed")
    if not suite.check(result.status == 0, "a kernel that reads weights compiles"
                       + (f": {result.message}" if result.status else ""),
                       result.command):
        return
    plan = json.loads((package / "plan.json").read_text())
    planned = plan["nodes"][0]
    node = package / "nodes" / planned["name"]
    case = {"memories": [], "frames": border_frames(suite, package, plan)}
    ids = []
    for k, port in enumerate(planned["ports"]["memory"]):
        text, _ = hex_image(package, planned, port)
        beats = text.split()
        case["memories"].append({
            "port": port["port"], "base": 0x3000 + 0x100000 * k,
            "bytes": b"".join(bytes.fromhex(b)[::-1] for b in beats).hex()})
        # The kernel has one reader a port, and so no identifiers.
        ids += [f"{port['port']}_arid", f"{port['port']}_rid"]
    (suite.work / "case.json").write_text(json.dumps(case))
    kernel = (node / "vivado/rhz_kernel.v").read_text()
    for name in ids:
        wire = ("output wire {} " if name.endswith("arid")
                else "input  wire {} ").format(name)
        kernel = kernel.replace("  input  wire ap_clk,",
                                f"  {wire.rstrip()},\n  input  wire ap_clk,", 1)
        if name.endswith("arid"):
            kernel = kernel.replace("\n);\n", f"\n);\n  assign {name} = 1'b0;\n", 1)
    top = suite.work / "rhz_kernel.v"
    top.write_text(kernel)
    rtl = node / "rtl"
    icarus = runner.get_runner("icarus")
    good = True
    sys.path.append(str(HERE))  # which the runner hands to the simulator
    try:
        icarus.build(sources=[top, *(rtl / name for name in
                                     (rtl / "files.f").read_text().split()),
                              *sorted((rtl / "sim").glob("*.sv"))],
                     hdl_toplevel="rhz_kernel", build_args=["-g2012"],
                     timescale=("1ns", "1ps"), build_dir=suite.work / "sim",
                     log_file=suite.work / "build.log")
        results = icarus.test(
            hdl_toplevel="rhz_kernel", test_module="axi_models",
            build_dir=suite.work / "sim", test_dir=rtl,
            results_xml=suite.work / "results.xml", seed=1,
            log_file=suite.work / "test.log",
            extra_env={"PYTHONDONTWRITEBYTECODE": "1",
                       "RHIZOME_CASE": str(suite.work / "case.json")})
        good = runner.get_results(results) == (1, 0)
    except (RuntimeError, SystemExit) as why:
        good = False
        print(why)
    log = suite.work / "test.log"
    suite.check(good, "the kernel works between cocotbext-axi's memory, streams "
                "and registers, which pause"
                + ("" if good or not log.exists()
                   else "\n" + log.read_text()[-1500:]))


def role(suite, node):
    """The role, simulated with a stub for the design."""
    text = (node / "cloudfpga/Role_Themisto.sv").read_text()
    own = text.split("FrameWords    = ")[1].split(";")[0]
    for answer in (int(own), 1, 176, 177, 400):
        source = suite.work / "Role_Themisto.sv"
        source.write_text(text.replace(f"FrameWords    = {own};",
                                       f"FrameWords    = {answer};"))
        program = suite.work / "role.vvp"
        result = run_program([suite.tool("iverilog"), "-g2012", "-DASK=5",
                              f"-DANSWER={answer}", "-o", program,
                              HERE / "role_tb.sv", source])
        if result.status == 0:
            result = run_program([suite.tool("vvp"), "-n", program],
                                 timeout=60)
        suite.check(result.status == 0 and result.out.split() == ["PASS"],
                    f"the role answers {answer} words as datagrams "
                    + ("" if result.out.split() == ["PASS"]
                       else result.message), result.command)


def vendor_flows(suite):
    suite.tool("tclsh")
    two = two_streams(suite)
    for device, flows in DEVICES.items():
        for model in (MODEL, two):
            plan, node = (compiled(suite, device, model) if model
                          else (None, None))
            if not plan:
                continue
            served = set(flows)
            if model == two:
                served.discard("cloudfpga")
            else:
                files_as_said(suite, device, node, served)
            # A period is truncated to picoseconds.
            period = f"{int(1e6 / plan['clock_mhz'] + 1e-6) / 1000:g}"
            scripts(suite, node, plan, served, period)
            # The larger network once, the small one for every device.
            if model == two or not two or "cloudfpga" in served:
                hdl(suite, node, served)
            if "vitis" in served:
                vitis(suite, node, plan, device)
            if "vitis" in served and model == MODEL:
                movers(suite, node, device)
            if "cloudfpga" in served:
                role(suite, node)
            if device == "xczu3eg" and model == MODEL:
                the_checker_checks(suite, node, period)
    plan, node = compiled(suite, "xczu3eg", clock="333.25")
    if plan:
        scripts(suite, node, plan, {"vivado"}, "3")


def fake(folder, name, text):
    path = folder / name
    path.write_text("#!/bin/sh\n" + text)
    path.chmod(path.stat().st_mode | stat.S_IXUSR)


def doctor(suite):
    def run(path, *more):
        result = subprocess.run(
            [suite.rhizome, "doctor", *more], capture_output=True, text=True,
            env={**os.environ, "PATH": str(path)}, timeout=60)
        return result.returncode, result.stdout

    bare = suite.work / "bare"
    bare.mkdir()
    status, out = run(bare, "--json")
    answer = json.loads(out)
    states = {t["name"]: t["state"] for t in answer["tools"]}
    suite.check(status == 1 and not answer["ok"]
                and not any(t["found"] for t in answer["tools"])
                and not any(a["ok"] for a in answer["abilities"])
                and states["verilator"] == "MISSING"
                and states["vivado"] == "not installed",
                f"a bare machine has nothing: {out[:200]}")
    status, out = run(bare)
    suite.check(status == 1 and "apt-get install verilator" in out,
                "and says what to install")

    full = suite.work / "full"
    full.mkdir()
    for name in states:
        fake(full, name, f"echo '{name} version 7.5'\n")
    fake(full, "vivado", "echo\necho Vivado says hello\n"
                         "echo 'Vivado v2099.1 (64-bit)'\necho 2\n")
    fake(full, "nextpnr-ecp5", "echo 'nextpnr-ecp5 0.4' >&2\n")
    status, out = run(full, "--json")
    answer = json.loads(out)
    versions = {t["name"]: t["version"] for t in answer["tools"]}
    suite.check(status == 0 and answer["ok"]
                and all(t["state"] == "found" and t["path"]
                        for t in answer["tools"])
                and all(a["ok"] and not a["missing"]
                        for a in answer["abilities"]),
                f"a full machine has all: {out[:300]}")
    suite.check(versions["vivado"] == "Vivado v2099.1 (64-bit)"
                and versions["nextpnr-ecp5"] == "nextpnr-ecp5 0.4"
                and versions["yosys"] == "yosys version 7.5"
                and versions["icepack"] == "",
                f"versions: {versions}")
    status, out = run(full)
    lines = out.splitlines()
    tools = lines[:lines.index("")]
    column = tools[0].index("version")
    suite.check(status == 0
                and all(line[column - 1] == " " and (
                    len(line) <= column or line[column] != " ")
                        for line in tools if len(line) > column),
                "the table is aligned")
    # Doctor checks every program that a flow needs.
    for manifest in sorted((networks.ROOT / "data/flows").glob("*/flow.json")):
        programs = json.loads(manifest.read_text())["programs"]
        suite.check(set(programs) <= set(states),
                    f"{manifest.parent.name} needs {programs}")

    # One that hangs, with a child that would outlive it; one that fails; one
    # that cannot run.
    child = suite.work / "child"
    fake(full, "vivado", f"/bin/sleep 300 &\necho $! > '{child}'\nwait\n")
    fake(full, "quartus_sh", "echo no license\nexit 3\n")
    (full / "v++").write_text("#!/no/such/interpreter\n")
    start = time.time()
    status, out = run(full, "--json", "--timeout-s", "1")
    seconds = time.time() - start
    answer = json.loads(out)
    states = {t["name"]: t["state"] for t in answer["tools"]}
    missing = {a["name"].split(":")[0]: a["missing"]
               for a in answer["abilities"]}
    suite.check(status == 0 and seconds < 20
                and states["vivado"] == "hangs"
                and states["quartus_sh"] == "fails"
                and states["v++"] in ("fails", "does not run")
                and states["yosys"] == "found",
                f"one hangs, one fails, one cannot run; {seconds:.1f} s: "
                f"{states}")
    suite.check(missing["AMD Vivado"] == ["vivado"]
                and missing["AMD Vitis"] == ["vivado", "v++"]
                and missing["Intel Quartus Prime"] == ["quartus_sh"],
                "what does not answer enables nothing")
    time.sleep(0.2)
    pid = int(child.read_text())
    status_file = pathlib.Path(f"/proc/{pid}/status")
    gone = (not status_file.exists()
            or "State:\tZ" in status_file.read_text())
    suite.check(gone, "the child of what hung is gone")
    fake(full, "make", "exec /bin/sleep 300\n")
    status, out = run(full, "--timeout-s", "0.5")
    suite.check(status == 1 and "hangs" in out,
                "a needed tool that hangs is a problem")
