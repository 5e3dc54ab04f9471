#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The engine's hardware on programs: every case is a folder with core.json, program.bin,
memories and streams (see engine.cpp). For each core that the cases are for, rhz_engine is
built with Verilator around engine.cpp; each case runs without and with pauses of its
memories and streams.
  engine.py FOLDER...        all cases below these folders
  engine.py --seeds N        as many runs with pauses (2)
  engine.py --isa FILE       the generated decoder (build/rtl/rhz_isa.sv)
  engine.py --builds FOLDER  keeps the simulators there
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
    flags = "-std=c++20 -O2 -DIN=%d -DPORTS=%d -DPORT_BITS=%d" % (
        core["in"], core["ports"], core["port_bits"])
    compiler = next((c for c in ("clang++-22", "clang++", "g++") if shutil.which(c)), "g++")
    cache = ["OBJCACHE=ccache"] if shutil.which("ccache") else []
    command = ["verilator", "--cc", "--exe", "--build", "-j", "2", "-O3", "--assert", "-Wall",
               "--x-assign", "unique", "--x-initial", "unique", "--top-module", "rhz_engine",
               "-y", SOURCES, "-y", os.path.join(ROOT, "rtl/sim")] + values
    command += [flag for folder_ in arguments.sources for flag in ("-y", folder_)]
    command += ["-Mdir", folder, "-o", "sim", "-CFLAGS", flags, "-MAKEFLAGS",
                " ".join(["CXX=" + compiler] + cache), arguments.isa,
                os.path.join(SOURCES, "rhz_engine.sv"), os.path.join(ROOT, "rtl/test/engine.cpp")]
    result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode != 0:
        sys.exit("%s does not build\n%s" % (core, (result.stderr + result.stdout)[-3000:]))
    return program


def run(job):
    """What one run says: its case, numbers, or what is wrong."""
    program, case, seed = job
    pauses = PAUSES[seed % len(PAUSES)] if seed else 0
    latency = LATENCIES[seed // len(PAUSES) % len(LATENCIES)] if seed else 20
    command = [program, case, str(seed + 1), str(pauses), str(latency),
               "+verilator+rand+reset+2", "+verilator+seed+%d" % (seed + 1)]
    try:
        result = subprocess.run(command, capture_output=True, text=True, timeout=600)
    except subprocess.TimeoutExpired:
        return case, seed, None, "600 s are over"
    if result.returncode != 0:
        return case, seed, None, (result.stderr.strip() or result.stdout)[:400]
    return case, seed, json.loads(result.stdout), None


def cases(folders):
    found = {}
    for top in folders:
        for folder, _, files in sorted(os.walk(top)):
            if "program.bin" in files and "core.json" in files:
                with open(os.path.join(folder, "core.json")) as file:
                    core = json.load(file)
                found.setdefault(json.dumps(core, sort_keys=True), []).append(folder)
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+")
    parser.add_argument("--seeds", type=int, default=2, help="runs with pauses")
    parser.add_argument("--isa", default=os.path.join(ROOT, "build/rtl/rhz_isa.sv"))
    parser.add_argument("--builds", help="keeps the simulators in this folder")
    parser.add_argument("--sources", action="append", default=[], help="more sources")
    parser.add_argument("--verbose", action="store_true", help="the cycles of each run")
    arguments = parser.parse_args()
    if not shutil.which("verilator"):
        print("SKIPPED: verilator is not installed")
        return 0
    temporary = None if arguments.builds else tempfile.mkdtemp(prefix="rhz_engine_")
    arguments.builds = arguments.builds or temporary
    passed = failed = 0
    try:
        for text, folders in cases(arguments.folders).items():
            program = build(json.loads(text), arguments)
            jobs = [(program, case, seed) for case in folders
                    for seed in range(arguments.seeds + 1)]
            with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
                for case, seed, numbers, message in pool.map(run, jobs):
                    if message:
                        failed += 1
                        print("FAILED %s seed %d: %s" % (case, seed, message), flush=True)
                        continue
                    passed += 1
                    if arguments.verbose:
                        print("%-50s seed %d %8d cycles; run/wait %s" % (
                            case[-50:], seed, numbers["cycles"], " ".join(
                                "%s %d/%d" % item for item in
                                zip(UNITS, numbers["runs"], numbers["waits"]))), flush=True)
    finally:
        if temporary:
            shutil.rmtree(temporary)
    print("%d runs passed, %d failed" % (passed, failed))
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
