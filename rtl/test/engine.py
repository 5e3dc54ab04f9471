#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The engine's hardware on programs: every case is a folder with core.json, program.bin,
memories and streams (see engine.cpp). For each core that the cases are for, rhz_engine is
built with Verilator around engine.cpp; each case runs without and with pauses of its
memories and streams.
  engine.py FOLDER...        all cases below these folders
  engine.py --cases PROGRAM  cases that engine-cases writes for small cores; with --more,
                             for more and larger ones
  engine.py --seeds N        as many runs with pauses (2)
  engine.py --isa FILE       the generated decoder (build/rtl/rhz_isa.sv)
  engine.py --builds FOLDER  keeps the simulators there
  engine.py --measure        prints the cycles of each run, and runs nothing that is wrong
  engine.py --icarus         in four states (rhz_tb_engine), once with pauses; and the
                             unit with frames whose programs are wrong (rhz_tb_engine_unit)
"""
import argparse
import concurrent.futures
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SOURCES = os.path.join(ROOT, "rtl/src")
PARAMETERS = {"in": "In", "out": "Out", "words": "Words", "banks": "Banks", "entries": "Entries",
              "sum_bits": "SumBits", "queue": "Queue", "depth": "Depth", "tokens": "Tokens",
              "ports": "Ports", "port_bits": "PortBits"}
# Of engine-cases: in, out, bits of a port, ports, kind, cases, seed.
FEW = [(4, 4, 32, 1, "all", 4, 50)]
MORE = [(4, 8, 32, 3, "all", 20, 51), (8, 16, 64, 2, "all", 20, 52), (16, 16, 32, 1, "all", 10, 53),
        (16, 32, 128, 4, "all", 10, 54), (32, 32, 128, 2, "all", 6, 55), (8, 8, 32, 1, "pack", 20, 56),
        (4, 4, 32, 4, "stream", 20, 57), (16, 16, 64, 1, "matrix", 10, 58)]
# For the unit, in four states.
STREAMS = [(4, 8, 32, 1, "stream", 1, 61)]
UNITS = ["load", "weights", "matrix", "vector", "store"]
PAUSES = [10, 30, 60]       # percent of cycles
LATENCIES = [5, 20, 80]     # cycles


def build(core, arguments):
    """The simulator of a core, a dictionary of core.json."""
    values = ["-G%s=%d" % (name, core[key]) for key, name in PARAMETERS.items()]
    values += ["-GCoreHash=32'h%x" % core["hash"]]
    name = hashlib.sha256(" ".join(values).encode()).hexdigest()[:16]
    folder = os.path.join(arguments.builds, name)
    program = os.path.join(folder, "sim")
    flags = "-std=c++20 -DIN=%d -DPORTS=%d -DPORT_BITS=%d" % (
        core["in"], core["ports"], core["port_bits"])
    compiler = next((c for c in ("clang++-22", "clang++", "g++") if shutil.which(c)), "g++")
    cache = ["OBJCACHE=ccache"] if shutil.which("ccache") else []
    command = ["verilator", "--cc", "--exe", "--build", "-j", "1", "-O3", "--assert", "-Wall",
               "--x-assign", "unique", "--x-initial", "unique", "--top-module", "rhz_engine",
               "-y", SOURCES, "-y", os.path.join(ROOT, "rtl/sim")] + values
    # One file is compiled in a quarter of the time that many take.
    make = ["CXX=" + compiler, "VM_PARALLEL_BUILDS=0", "OPT_FAST=-O1"] + cache
    command += ["-Mdir", folder, "-o", "sim", "-CFLAGS", flags, "-MAKEFLAGS", " ".join(make),
                arguments.isa, os.path.join(SOURCES, "rhz_engine.sv"), os.path.join(ROOT, "rtl/test/engine.cpp")]
    result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode != 0:
        sys.exit("%s does not build\n%s" % (core, (result.stderr + result.stdout)[-3000:]))
    return program


def hex_lines(data, size):
    """Lines for $readmemh of as many bytes each."""
    return ["%s\n" % data[i:i + size][::-1].hex() for i in range(0, len(data), size)]


def read(folder, name):
    with open(os.path.join(folder, name), "rb") as file:
        return file.read()


def mistakes(case, folder):
    """A case made wrong in every way that the core tells, as folders by its error."""
    program = read(case, "program.bin")
    head = int.from_bytes(program[:32], "little")

    def headed(bits, rest):
        return bits.to_bytes(32, "little") + rest

    # The head's fields: isa from bit 13, core from 45, instructions from 77 on.
    one = head & ((1 << 77) - 1) | 1 << 77
    programs = {1: headed(head ^ 1 << 20, program[32:]), 2: headed(head ^ 1 << 50, program[32:]),
                3: program[:32] + program, 4: headed(one, program[32:64]), 5: program}
    made = {}
    for error, content in programs.items():
        made[error] = os.path.join(folder, str(error))
        shutil.rmtree(made[error], ignore_errors=True)
        os.makedirs(made[error])
        for name in os.listdir(case):
            if name.endswith(".before.bin"):
                data = read(case, name)
                # Nothing but the program lies behind the ports.
                data = b"" if error == 5 else data
                with open(os.path.join(made[error], name), "wb") as file:
                    file.write(data)
                if error != 5:
                    with open(os.path.join(made[error], name.replace("before", "after")),
                              "wb") as file:
                        file.write(data)
            elif name == "stream_in.bin":
                shutil.copy(os.path.join(case, name), made[error])
        with open(os.path.join(made[error], "program.bin"), "wb") as file:
            file.write(content)
    return made


def run(job):
    """What one run says: its case, numbers, or what is wrong. With an error, the core
    must tell it."""
    program, case, seed, error = job
    pauses = PAUSES[seed % len(PAUSES)] if seed else 0
    latency = LATENCIES[seed // len(PAUSES) % len(LATENCIES)] if seed else 20
    command = [program, case, str(seed + 1), str(pauses), str(latency)]
    command += [str(error)] if error else []
    command += ["+verilator+rand+reset+2", "+verilator+seed+%d" % (seed + 1)]
    try:
        result = subprocess.run(command, capture_output=True, text=True, timeout=600)
    except subprocess.TimeoutExpired:
        return case, seed, None, "600 s are over"
    if result.returncode != 0:
        return case, seed, None, (result.stderr.strip() or result.stdout)[:400]
    return case, seed, json.loads(result.stdout), None


def page(size):
    """Bytes of whole pages."""
    return -(-size // 4096) * 4096


def icarus(bench, values, folder, arguments):
    """What is wrong with a run of a bench in a folder with its files, or None."""
    command = ["iverilog", "-g2012", "-s", bench, "-o", "sim.vvp", "-Y", ".sv",
               "-y", SOURCES, "-y", os.path.join(ROOT, "rtl/sim"),
               "-I", os.path.join(ROOT, "rtl/test")]
    command += ["-P%s.%s=%d" % (bench, *item) for item in values.items()]
    command += [os.path.abspath(arguments.isa), os.path.join(ROOT, "rtl/test", bench + ".sv"),
                os.path.join(ROOT, "data/sim/rhz_tb_memory.sv")]
    for step in (command, ["vvp", "-n", "sim.vvp"]):
        result = subprocess.run(step, cwd=folder, capture_output=True, text=True, timeout=600)
        if result.returncode:
            return (result.stderr + result.stdout)[-600:]
    last = (result.stdout.strip().splitlines() or [""])[-1]
    return None if last.startswith("PASS") else result.stdout[-600:]


def run_unit(core, case, arguments):
    """What is wrong with rhz_engine_unit on a case with streams: between frames that are
    right come those with each mistake that stops a program, and with one in its middle."""
    program, before = read(case, "program.bin"), read(case, "m0.before.bin")
    begin, beat = page(len(before)), core["port_bits"] // 8
    size = begin + page(len(program) + 32)
    frames = [(0, program)]
    middle = len(program) // 64 * 32
    with tempfile.TemporaryDirectory(prefix="rhz_engine_") as folder:
        wrong = {error: read(made, "program.bin")
                 for error, made in mistakes(case, folder).items() if error <= 4}
        wrong[5] = program[:middle] + program[:32] + program[middle:]
        for error, content in wrong.items():
            # What comes before a mistake may have sent words.
            frames += [(1 if error <= 2 else 2, content), (0, program)]
        values = {name: core[key] for key, name in PARAMETERS.items()
                  if name not in ("Depth", "Ports", "PortBits")}
        values.update(
            Hash=core["hash"], Waiting=core["depth"], DataWidth=core["port_bits"],
            Beats=size // beat, Program=begin // core["in"], Frames=len(frames), Stalls=30,
            InBeats=len(read(case, "stream_in.bin")) // core["in"],
            OutBeats=len(read(case, "stream_out.bin")) // core["in"])
        files = {"in.hex": hex_lines(read(case, "stream_in.bin"), core["in"]),
                 "out.hex": hex_lines(read(case, "stream_out.bin"), core["in"]),
                 "kinds.hex": ["%d\n" % kind for kind, _ in frames],
                 "images.hex": [line for _, content in frames for line in hex_lines(
                     (before.ljust(begin, b"\0") + content).ljust(size, b"\0"), beat)]}
        for name, lines in files.items():
            with open(os.path.join(folder, name), "w") as file:
                file.writelines(lines)
        return icarus("rhz_tb_engine_unit", values, folder, arguments)


def run_icarus(core, case, arguments):
    """What is wrong with a case in four states, or None. The program lies behind what
    memory 0 has, in a page of its own."""
    ports, beat = core["ports"], core["port_bits"] // 8
    before = [read(case, "m%d.before.bin" % p) for p in range(ports)]
    begin = page(len(before[0]))
    images = [before[0].ljust(begin, b"\0") + read(case, "program.bin")] + before[1:]
    size = page(max(map(len, images)))
    stream = read(case, "stream_in.bin")
    values = {name: core[key] for key, name in PARAMETERS.items()}
    values.update(CoreHash=core["hash"], Beats=size // beat, Program=begin // core["in"],
                  StreamIn=len(stream) // core["in"], Stalls=30)
    with tempfile.TemporaryDirectory(prefix="rhz_engine_") as folder:
        for p, image in enumerate(images):
            with open(os.path.join(folder, "m%d.hex" % p), "w") as file:
                file.writelines(hex_lines(image.ljust(size, b"\0"), beat))
        with open(os.path.join(folder, "in.hex"), "w") as file:
            file.writelines(hex_lines(stream, core["in"]))
        problem = icarus("rhz_tb_engine", values, folder, arguments)
        if problem:
            return problem
        for p in range(ports):
            after = read(case, "m%d.after.bin" % p)
            lines = read(folder, "m%d.out" % p).decode().split("\n")
            lines = [line + "\n" for line in lines if line and not line.startswith("//")]
            if lines[:len(after) // beat] != hex_lines(after, beat):
                return "m%d differs" % p
        if read(folder, "out.hex").decode() != "".join(
                hex_lines(read(case, "stream_out.bin"), core["in"])):
            return "the stream out differs"
    return None


def cases(folders):
    found = {}
    for top in folders:
        for folder, _, files in sorted(os.walk(top)):
            if "program.bin" in files and "core.json" in files:
                with open(os.path.join(folder, "core.json")) as file:
                    core = json.load(file)
                found.setdefault(json.dumps(core, sort_keys=True), []).append(folder)
    return found


def benches(folders):
    """What runs in four states: a core, a case and the function for its bench; the unit
    with one case of each core."""
    for text, found in cases(folders).items():
        core = json.loads(text)
        for case in found:
            yield core, case, run_icarus
        streams = [case for case in found if core["ports"] == 1 and
                   read(case, "stream_in.bin") and read(case, "stream_out.bin")]
        for case in streams[:1]:
            yield core, case, run_unit


def generate(arguments, folder):
    """Has cases written, and returns their folder."""
    shapes = FEW + MORE if arguments.more else FEW + STREAMS if arguments.icarus else FEW
    for number, shape in enumerate(shapes):
        subprocess.run([arguments.cases, os.path.join(folder, str(number))] +
                       [str(value) for value in shape], check=True)
    return folder


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="*")
    parser.add_argument("--cases", help="the program engine-cases")
    parser.add_argument("--more", action="store_true", help="more cores")
    parser.add_argument("--seeds", type=int, default=2, help="runs with pauses")
    parser.add_argument("--isa", default=os.path.join(ROOT, "build/rtl/rhz_isa.sv"))
    parser.add_argument("--builds", help="keeps the simulators in this folder")
    parser.add_argument("--icarus", action="store_true", help="in four states")
    parser.add_argument("--verbose", action="store_true", help="the cycles of each run")
    parser.add_argument("--measure", action="store_true", help="these, and no mistakes")
    arguments = parser.parse_args()
    tool = "iverilog" if arguments.icarus else "verilator"
    if not shutil.which(tool):
        print("SKIPPED: %s is not installed" % tool)
        return 0
    temporary = tempfile.mkdtemp(prefix="rhz_engine_")
    try:
        return check(arguments, temporary)
    finally:
        shutil.rmtree(temporary)


def check(arguments, temporary):
    """Runs all cases; 0 if they pass."""
    arguments.builds = arguments.builds or os.path.join(temporary, "builds")
    os.makedirs(arguments.builds, exist_ok=True)
    if arguments.cases:
        arguments.folders.append(generate(arguments, os.path.join(temporary, "cases")))
    if arguments.icarus:
        problems = [(case, check(core, case, arguments))
                    for core, case, check in benches(arguments.folders)]
        for case, problem in problems:
            if problem:
                print("FAILED %s in four states: %s" % (case, problem))
        failed = sum(bool(problem) for _, problem in problems)
        print("%d runs passed, %d failed" % (len(problems) - failed, failed))
        return 1 if failed or not problems else 0
    passed = failed = 0
    for text, folders in cases(arguments.folders).items():
        program = build(json.loads(text), arguments)
        jobs = [(program, case, seed, 0) for case in folders
                for seed in range(arguments.seeds + 1)]
        if not arguments.measure:
            wrong = mistakes(folders[0], os.path.join(temporary, "mistakes"))
            jobs += [(program, case, 1, error) for error, case in wrong.items()]
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            for case, seed, numbers, message in pool.map(run, jobs):
                if message:
                    failed += 1
                    print("FAILED %s seed %d: %s" % (case, seed, message), flush=True)
                    continue
                passed += 1
                if arguments.verbose or arguments.measure:
                    print("%-50s seed %d %8d cycles; run/wait %s" % (
                        case[-50:], seed, numbers["cycles"], " ".join(
                            "%s %d/%d" % item for item in
                            zip(UNITS, numbers["runs"], numbers["waits"]))), flush=True)
    print("%d runs passed, %d failed" % (passed, failed))
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
