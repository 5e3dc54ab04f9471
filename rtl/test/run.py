#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests of the stream cells. Every cell runs in Icarus over seeded parameter
sets, free and with random stalls on both sides; every value and the exact cycle
of every beat in and out are compared (values: cells.py, cycles: timing.py).
With --lint: Verilator -Wall and a Yosys read over the same parameter sets;
with --netlist: the same simulation of what Yosys has made of the sources."""

import argparse
import concurrent.futures
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import traceback

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import cases  # noqa: E402
import cells  # noqa: E402, F401  (its makers register themselves)
import pairs  # noqa: E402, F401  (so do its)
import rows  # noqa: E402, F401  (so do its)
import tiles  # noqa: E402, F401  (so do its)
import timing  # noqa: E402
import turns  # noqa: E402, F401  (so does its)
import wide  # noqa: E402, F401  (so do its)

SRC = os.path.join(HERE, "..", "src")
SIM = os.path.join(HERE, "..", "sim")
UNITS = {}       # what rtl/units says, by module: build/rtl/units.json
MARGIN = 40      # cycles a run goes on after the last beat that is expected


def literal(value):
    return '"%s"' % value if isinstance(value, str) else str(value)


def pack(lanes, width):
    word = 0
    for index, value in enumerate(lanes):
        word |= (value & ((1 << width) - 1)) << (index * width)
    return word


def patterns(rng, count):
    """Per run and stream a pattern of 64 cycles: run 0 free, 1 and 2 stalled."""
    runs = [[[1] * 64 for _ in range(count)]]
    for _ in range(2):
        runs.append([])
        for _ in range(count):
            rate = rng.choice([0.15, 0.5, 0.8, 1.0])
            bits = [int(rng.random() < rate) for _ in range(64)]
            bits[rng.randrange(64)] = 1
            runs[-1].append(bits)
    return runs


def testbench(case, runs, limits):
    """A test bench that drives and logs the streams of `case`: it samples at the
    falling edge and drives after the rising one, so no simulator sees a race."""
    text = ["`timescale 1ns/1ns", "module tb;",
            "  logic clk = 0, rst_n = 0; always #2 clk = !clk;",
            "  integer cycle, run, log;"]
    ports = [".clk_i(clk)", ".rst_ni(rst_n)"]
    drive, restart, record = [], [], []
    number = 0
    for port in case.inputs + case.outputs:
        bits = ", ".join("64'h%x" % sum(bit << i for i, bit in enumerate(run[number]))
                         for run in reversed(runs))
        name = port.name
        text += ["  localparam [%d*64-1:0] pattern_%s = {%s};" % (len(runs), name, bits)]
        if number < len(case.inputs):
            count = len(port.beats)
            text += [
                "  logic %s_valid, %s_ready; logic [%d:0] mem_%s [0:%d];" %
                (name, name, port.bits - 1, name, count),
                "  integer at_%s; wire [%d:0] %s_data = %s_valid ? mem_%s[at_%s] : 'x;" %
                (name, port.bits - 1, name, name, name, name),
                '  initial $readmemh("%s.hex", mem_%s);' % (name, name)]
            text += ["  logic pop_%s;" % name]
            restart += ["at_%s = 0; %s_valid = pattern_%s[run*64];" % (name, name, name)]
            record += ["pop_%s = %s_valid && %s_ready;" % (name, name, name),
                       'if (pop_%s) $fwrite(log, "I 0 %s %%0d\\n", cycle);' % (name, name)]
            drive += [
                "if (pop_%s) at_%s = at_%s + 1;" % (name, name, name),
                "%s_valid = (%s_valid && !pop_%s) || (at_%s < %d"
                " && pattern_%s[run*64 + (cycle+1)%%64]);"
                % (name, name, name, name, count, name)]
        else:
            text += ["  logic %s_valid, %s_ready; logic [%d:0] %s_data;" %
                     (name, name, port.bits - 1, name)]
            restart += ["%s_ready = pattern_%s[run*64];" % (name, name)]
            drive += ["%s_ready = pattern_%s[run*64 + (cycle+1)%%64];" % (name, name)]
            record += ['if (%s_valid && %s_ready) $fwrite(log, "O %d %s %%0d %%h\\n", cycle,'
                       " %s_data);" % (name, name, 0, name, name),
                       'if (^{%s_valid} === 1\'bx) $fwrite(log, "X %s\\n");' % (name, name)]
        number += 1
    record += case.record
    text += case.extra
    instance = "  %s #(%s) u_dut (%s);" % (
        case.cell, ", ".join(".%s(%s)" % (k, literal(v)) for k, v in case.params.items()),
        ", ".join(ports[:case.clocks] + case.connections))
    text += [instance, "  initial begin", '    log = $fopen("log.txt", "w");',
             "    for (run = 0; run < %d; run = run + 1) begin" % len(runs),
             '      $fwrite(log, "R\\n"); rst_n = 0; cycle = -1;']
    text += ["      %s_valid = 0;" % port.name for port in case.inputs]
    text += ["      %s_ready = 0;" % port.name for port in case.outputs]
    text += ["      repeat (3) @(posedge clk);", "      #1 rst_n = 1; cycle = 0;"]
    text += ["      " + line for line in restart]
    text += ["      while (cycle < (%s)) begin" %
             " : ".join(["run == %d ? %d" % (i, limit) for i, limit in enumerate(limits)] + ["0"]),
             "        @(negedge clk);"]
    text += ["        " + line for line in record]
    text += ["        @(posedge clk);", "        #1;"]
    text += ["        " + line for line in drive]
    text += ["        cycle = cycle + 1;", "      end", "    end"]
    text += ["    " + line for line in case.final]
    text += ["    $finish;", "  end", "endmodule", ""]
    return "\n".join(text)


def write_inputs(case, directory):
    for name, lines in case.files.items():
        with open(os.path.join(directory, name), "w") as file:
            file.write("\n".join("%x" % line for line in lines) + "\n")
    for port in case.inputs:
        with open(os.path.join(directory, port.name + ".hex"), "w") as file:
            beats = [pack([v or 0 for v in beat], port.width) for beat in port.beats] + [0]
            file.write("\n".join("%x" % beat for beat in beats) + "\n")


def check(case, runs, expected, values, log):
    """A message on the first difference between the log and what is expected: the
    cycles, and the values of each run."""
    sections = log.split("R\n")[1:]
    if len(sections) != len(runs):
        return "%d runs of %d in the log" % (len(sections), len(runs))
    for number, section in enumerate(sections):
        pops = {port.name: [] for port in case.inputs + case.outputs}
        data = {port.name: [] for port in case.outputs}
        for line in section.splitlines():
            fields = line.split()
            if fields[0] == "X":
                return "run %d: %s_valid is unknown" % (number, fields[1])
            if fields[0] == "F":
                return "run %d: %s" % (number, line[2:])
            if fields[0] == "E":
                if int(fields[1]) != case.errors:
                    return "err_o is %s, expected %d" % (fields[1], case.errors)
                continue
            if case.endless and len(pops[fields[2]]) == len(expected[number][fields[2]]):
                continue
            pops[fields[2]].append(int(fields[3]))
            if fields[0] == "O":
                data[fields[2]].append(fields[4])
        for port in case.outputs:
            beats = values[number][port.name]
            for index, text in enumerate(data[port.name]):
                if index < len(beats) and not any(want is not None for want in beats[index]):
                    continue
                if "x" in text.lower() or "z" in text.lower():
                    return "run %d: %s beat %d is %s" % (number, port.name, index, text)
                value = int(text, 16)
                if index >= len(beats):
                    return "run %d: %s has an extra beat" % (number, port.name)
                for lane, want in enumerate(beats[index]):
                    got = (value >> (lane * port.width)) & ((1 << port.width) - 1)
                    if want is not None and got != want & ((1 << port.width) - 1):
                        return ("run %d: %s beat %d lane %d is %x, expected %x" % (
                            number, port.name, index, lane, got,
                            want & ((1 << port.width) - 1)))
        for port in case.inputs + case.outputs:
            want = expected[number][port.name]
            got = pops[port.name]
            for index, (a, b) in enumerate(zip(got, want)):
                if a != b:
                    return "run %d: %s beat %d passes in cycle %d, predicted %d" % (
                        number, port.name, index, a, b)
            if len(got) != len(want):
                return "run %d: %s passes %d beats, predicted %d" % (
                    number, port.name, len(got), len(want))
    return None


def simulate(case, seed, keep, netlist=False):
    rng = random.Random(seed)
    streams = case.inputs + case.outputs
    runs = patterns(rng, len(streams))
    expected, limits, values = [], [], []
    for run in runs:
        inputs = [timing.Input(timing.Pattern(bits), len(port.beats))
                  for bits, port in zip(run, case.inputs)]
        outputs = [timing.Output(timing.Pattern(bits), case.depth,
                                 case.stages - case.early.get(port.name, 0), case.returns)
                   for bits, port in zip(run[len(inputs):], case.outputs)]
        made = case.predict(inputs, outputs)
        # What some cells answer depends on when their inputs come.
        values.append(dict({port.name: port.beats for port in case.outputs},
                           **(made if isinstance(made, dict) else {})))
        pops = [stream.pops for stream in inputs + outputs]
        expected.append({port.name: p for port, p in zip(streams, pops)})
        limits.append(max([p[-1] for p in pops if p] + [case.cycles]) + MARGIN)
        for port, sink in zip(case.outputs, outputs):
            beats = len(values[-1][port.name])
            assert len(sink.pops) == beats, "model: %s makes %d beats of %d" % (
                port.name, len(sink.pops), beats)
    directory = tempfile.mkdtemp(prefix="rhz_")
    try:
        write_inputs(case, directory)
        with open(os.path.join(directory, "tb.sv"), "w") as file:
            file.write(testbench(case, runs, limits))
        commands = [["iverilog", "-g2012", "-s", "tb", "-y", SRC, "-y", SIM, "-Y", ".sv",
                     "-o", "tb.vvp", "tb.sv"], ["vvp", "-n", "tb.vvp"]]
        if netlist:
            # Yosys' reading of the cell in place of the source.
            script = yosys_script(case, directory) + (
                "delete top; hierarchy -auto-top; flatten; opt_expr; opt_clean; "
                "rename -top dut_netlist; write_verilog -noattr netlist.v")
            path = os.path.join(directory, "tb.sv")
            with open(path) as file:
                bench = re.sub(r"  %s #\(.*?\) u_dut \(" % case.cell, "  dut_netlist u_dut (",
                               file.read(), flags=re.S)
            with open(path, "w") as file:
                file.write(bench)
            commands[0].append("netlist.v")
            commands.insert(0, ["yosys", "-q", "-p", script])
        for command in commands:
            result = subprocess.run(command, cwd=directory, capture_output=True, text=True,
                                    timeout=300)
            output = "\n".join(line for line in (result.stdout + result.stderr).splitlines()
                               if "sorry: constant selects" not in line)
            if result.returncode != 0 or re.search("(?i)error|fatal|warning", output):
                return output.strip()[:2000] or "exit status %d" % result.returncode
        with open(os.path.join(directory, "log.txt")) as file:
            return check(case, runs, expected, values, file.read())
    finally:
        if keep:
            print("kept", directory)
        else:
            shutil.rmtree(directory)


def refuses(case, seed, keep):
    """A wrong Latency ends elaboration or the first instant of the simulation."""
    del seed, keep
    directory = tempfile.mkdtemp(prefix="rhz_")
    try:
        write_inputs(case, directory)
        params = dict(case.params, Latency=case.params["Latency"] + 1)
        with open(os.path.join(directory, "tb.sv"), "w") as file:
            file.write("module tb; %s #(%s) u_dut (); endmodule\n" % (case.cell, ", ".join(
                ".%s(%s)" % (k, literal(v)) for k, v in params.items())))
        subprocess.run(["iverilog", "-g2012", "-s", "tb", "-y", SRC, "-y", SIM, "-Y", ".sv",
                        "-o", "tb.vvp", "tb.sv"], cwd=directory, capture_output=True)
        result = subprocess.run(["vvp", "-n", "tb.vvp"], cwd=directory, capture_output=True,
                                text=True)
        if "Latency %d given" % params["Latency"] not in result.stdout:
            return "accepts a wrong Latency"
        return None
    finally:
        shutil.rmtree(directory)


def yosys_script(case, directory):
    """Reads the sources that a package with the cell has, and elaborates it with
    its parameters."""
    with open(os.path.join(directory, "top.sv"), "w") as file:
        file.write("module top; %s #(%s) u_dut (); endmodule\n" % (case.cell, ", ".join(
            ".%s(%s)" % (k, literal(v)) for k, v in case.params.items())))
    files = [os.path.join(HERE, "..", name) for name in UNITS["modules"][case.cell]]
    return ("read_verilog -lib %s %s; read_verilog -sv -defer %s; read_verilog -sv top.sv; "
            "hierarchy -check -top top; proc; " % (
                os.path.join(SIM, "DSP48E1_blackbox.v"),
                os.path.join(SIM, "DSP48E2_blackbox.v"), " ".join(files)))


def lint(case, seed, keep):
    del seed
    directory = tempfile.mkdtemp(prefix="rhz_")
    try:
        write_inputs(case, directory)
        top = os.path.join(SRC, case.cell + ".sv")
        command = ["verilator", "--lint-only", "-Wall", "-y", SRC, "-y", SIM,
                   "--top-module", case.cell]
        command += ["-G%s=%s" % (k, literal(v)) for k, v in case.params.items()] + [top]
        result = subprocess.run(command, cwd=directory, capture_output=True, text=True)
        if result.returncode != 0 or result.stderr.strip():
            return "verilator: " + result.stderr[:1500]
        script = yosys_script(case, directory) + "check -assert"
        result = subprocess.run(["yosys", "-q", "-p", script], cwd=directory,
                                capture_output=True, text=True)
        if result.returncode != 0 or "ERROR" in result.stderr or "Warning" in result.stderr:
            return "yosys: " + (result.stdout + result.stderr)[-1500:]
        return None
    finally:
        if keep:
            print("kept", directory)
        else:
            shutil.rmtree(directory)


def source_of(module):
    for folder in (SRC, SIM):
        path = os.path.join(folder, module + ".sv")
        if os.path.exists(path):
            with open(path) as file:
                return file.read()
    raise FileNotFoundError(module)


def check_units():
    """The records of rtl/units name the parameters, ports and files that the
    sources have, and every unit is tested."""
    failed = 0

    def fail(module, text):
        nonlocal failed
        print("FAILED %s: rtl/units %s" % (module, text))
        failed += 1

    kinds, modules = UNITS["kinds"], UNITS["modules"]
    # A generated datapath is tested with the layers that it computes.
    units = {module for module, unit in kinds.items() if not unit["generated"]}
    # By mem_fifo.py and engine.py, with their memories.
    units -= {"rhz_mem_fifo", "rhz_engine_unit"}
    for module in sorted(set(cases.names()) ^ units):
        fail(module, "and rtl/test/cells.py do not both have it")
    for module, unit in kinds.items():
        head = source_of(module).split("\n);")[0]
        own = set(re.findall(r"parameter\s+(?:int|logic +\[.*?\])?\s*(\w+)\s*=", head))
        known = set(unit["parameters"]) | set(unit["images"])
        # Latency is what a user believes; OutLanes follows from the others.
        if own - {"Latency", "OutLanes"} != known:
            fail(module, "has other parameters: %s" % sorted(own ^ known))
        signals = set(re.findall(r"put +logic +(?:\[.*?\] +)?(\w+)", head))
        missing = set(unit["signals"]) ^ (signals - {"clk_i", "rst_ni"})
        if missing and not unit["generated"]:
            fail(module, "has other ports: %s" % sorted(missing))
    for module, files in modules.items():
        needed, todo = set(), [module]
        while todo:
            name = todo.pop()
            # Decoders are generated, in one file, which the whole engine lists.
            if name not in needed and not name.startswith("rhz_isa"):
                needed.add(name)
                todo += re.findall(r"^\s*(rhz_\w+|DSP48E[12]) (?:#\(|u_)",
                                   source_of(name), re.M)
        listed = {os.path.basename(name)[:-len(".sv")] for name in files} - {"rhz_isa"}
        if listed != needed:
            fail(module, "lists other files: %s" % sorted(listed ^ needed))
    return failed


def work(job):
    cell, index, seed, arguments = job
    try:
        case = cases.make(cell, max(index, 0), seed)
        if index < 0:
            message = refuses(case, seed, arguments.keep)
        elif arguments.lint:
            message = lint(case, seed, arguments.keep)
        else:
            message = simulate(case, seed, arguments.keep, arguments.netlist)
    except Exception:  # a broken case is a failed case
        return cell, index, {}, traceback.format_exc()
    return cell, index, case.params, message


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cells", nargs="*", help="cells to test (all)")
    parser.add_argument("--seeds", type=int, default=10, help="random sets a cell")
    parser.add_argument("--seed", type=int, default=1, help="first seed")
    parser.add_argument("--only", type=int, help="one parameter set by number")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--lint", action="store_true")
    parser.add_argument("--netlist", action="store_true",
                        help="simulate what Yosys has read, not the sources")
    parser.add_argument("--keep", action="store_true", help="keep the test benches")
    parser.add_argument("--units", help="units.json of a build (build/rtl/units.json)",
                        default=os.path.join(HERE, "../../build/rtl/units.json"))
    arguments = parser.parse_args()
    try:
        with open(arguments.units) as stream:
            UNITS.update(json.load(stream))
    except OSError as error:
        parser.error("%s; build the project first" % error)
    passed = failed = 0
    if arguments.lint:
        failed += check_units()
    jobs = []
    for cell in arguments.cells or cases.names():
        first = 0 if arguments.lint or arguments.netlist else -1
        for index in range(first, cases.corners(cell) + arguments.seeds):
            if arguments.only is None or index == arguments.only:
                jobs.append((cell, index, arguments.seed * 1000003 + index, arguments))
    with concurrent.futures.ProcessPoolExecutor(arguments.jobs) as pool:
        for cell, index, params, message in pool.map(work, jobs):
            if message is None:
                passed += 1
            else:
                failed += 1
                print("FAILED %s set %d %s\n  %s" % (
                    cell, index, " ".join("%s=%s" % item for item in params.items()),
                    message.replace("\n", "\n  ")))
    print("%d passed, %d failed" % (passed, failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
