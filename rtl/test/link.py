#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The link's hardware against the C++ peer: builds rhz_tb_link with Verilator
around rtl/test/link.cpp and runs it over bad media. Nothing may be lost or wrong.
  link.py            a few hundred tensors each
  link.py --long     as many as fit some minutes
  link.py --build "small frames"     one build alone
"""
import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
# Stream width, bits of a frame, words of a slot, slots, keeps slots.
BUILDS = {
    "small frames": (64, 84, 128, 16, 1),
    "large frames": (64, 3072 * 8, 128, 16, 1),
    "byte stream": (8, 133, 16, 4, 1),
    "wire": (16, 700, 4, 4, 0),
}
BAD = dict(late=0.2, twice=0.05)
WORST = dict(loss=0.2, late=0.3, twice=0.1, garbage=0.2, garbage_bytes=200, cut=0.05, flip=0.05,
             stall=0.3, block=0.2)
LINE = dict(gbits=10, all=0)
HOSTILE = dict(hostile=0.5, alone=3000)
FLOOD = 100_000  # datagrams a second, at least
ACK_BYTES = 24
# Build, arguments, tensors, tensors of the long form.
RUNS = [
    ("small frames", dict(), 500, 100000),
    ("small frames", dict(BAD, loss=0.01), 500, 100000),
    ("small frames", dict(BAD, loss=0.05), 500, 100000),
    ("small frames", dict(BAD, loss=0.2), 500, 100000),
    ("small frames", dict(WORST), 500, 20000),
    ("small frames", dict(garbage=1, garbage_exact=1), 500, 20000),
    ("small frames", dict(BAD, loss=0.1, restart_at=200), 500, 2000),
    ("small frames", dict(HOSTILE), 10000, 100000),
    ("small frames", dict(BAD, **HOSTILE, loss=0.1, restart_at=200), 5000, 20000),
    ("small frames", dict(one=1, all=0), 20, 200),
    ("large frames", dict(LINE), 150, 3000),
    ("large frames", dict(LINE, loss=0.01, late=0.2), 100, 2500),
    ("large frames", dict(LINE, loss=0.05, late=0.2), 100, 2500),
    ("large frames", dict(LINE, loss=0.2, late=0.2), 50, 2500),
    ("large frames", dict(LINE, one=1), 5, 50),
    ("byte stream", dict(WORST, gbits=1), 300, 5000),
    ("byte stream", dict(BAD, gbits=1, loss=0.2, restart_at=100), 300, 3000),
    ("wire", dict(gbits=1, reliable=1, stall=0.3, block=0.3), 300, 20000),
]


def build(name, folder):
    width, bits, words, slots, retain = BUILDS[name]
    runtime = os.path.join(ROOT, "runtime")
    sources = [os.path.join(runtime, "lib", n + ".cpp")
               for n in ("Datagram", "Endpoint", "Packing", "Receiver", "Sender")]
    flags = ["-std=c++20", "-O2", "-DWIDTH=%d" % width, "-DFRAME_BITS=%d" % bits,
             "-DSLOT_WORDS=%d" % words, "-I" + os.path.join(runtime, "include"),
             "-I" + os.path.join(ROOT, "unittests", "Runtime")]
    compiler = next((c for c in ("clang++-22", "clang++", "g++") if shutil.which(c)), "g++")
    cache = ["-MAKEFLAGS", "OBJCACHE=ccache"] if shutil.which("ccache") else []
    command = ["verilator", "--cc", "--exe", "--build", "-j", "2", "-O3", "--assert", "-Wall",
               "--x-assign", "unique", "--x-initial", "unique", "-y",
               os.path.join(ROOT, "rtl", "src"), "--top-module", "rhz_tb_link",
               "-GWidth=%d" % width, "-GFrameBeats=%d" % (-(-bits // width)),
               "-GSlotWords=%d" % words, "-GSlots=%d" % slots, "-GWait=80",
               "-GRetain=%d" % retain, "-Mdir", folder, "-o", "sim", "-CFLAGS", " ".join(flags),
               "-MAKEFLAGS", "CXX=" + compiler] + cache
    command += [os.path.join(ROOT, "rtl", "test", "rhz_tb_link.sv"),
                os.path.join(ROOT, "rtl", "test", "link.cpp")] + sources
    result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode != 0:
        sys.exit("%s: the simulator does not build\n%s" % (name, result.stderr[-3000:]))
    return os.path.join(folder, "sim")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--long", action="store_true", help="many tensors")
    parser.add_argument("--build", choices=sorted(BUILDS), help="one of the builds only")
    parser.add_argument("--seed", type=int, default=1, help="of random initial values")
    arguments = parser.parse_args()
    if not shutil.which("verilator"):
        print("SKIPPED: verilator is not installed")
        return 0
    failed = 0
    folder = tempfile.mkdtemp(prefix="rhz_link_")
    try:
        programs = {}
        print("%-13s %-52s %7s %5s %5s %10s %9s %6s %9s" % (
            "build", "medium", "tensors", "lost", "wrong", "tensors/s", "latency", "resent",
            "malformed"))
        runs = [run for run in RUNS if arguments.build in (None, run[0])]
        for name, medium, few, many in runs:
            if name not in programs:
                programs[name] = build(name, os.path.join(folder, name.replace(" ", "-")))
            count = many if arguments.long else few
            command = [programs[name], "tensors=%d" % count, "+verilator+rand+reset+2",
                       "+verilator+seed+%d" % arguments.seed]
            command += ["%s=%s" % item for item in medium.items()]
            result = subprocess.run(command, capture_output=True, text=True, timeout=600)
            try:
                r = json.loads(result.stdout)
            except ValueError:
                print("FAILED %s %s: %s" % (name, medium, result.stdout + result.stderr))
                failed += 1
                continue
            flood = bool(medium.get("garbage_exact")) and not r["malformed"]
            # All kinds of harm were noticed.
            flood |= "hostile" in medium and not (
                r["malformed"] and r["foreign"] and r["stale"])
            # As many as a flood has; alone, they get one short answer at most,
            # and nobody but the host gets any.
            flood |= "hostile" in medium and (r["hostile_per_s"] < FLOOD
                                              or r["answers"] > r["alone"]
                                              or r["longest"] > ACK_BYTES)
            flood |= bool(r["elsewhere"])
            if result.returncode != 0 or r["lost"] or r["wrong"] or r["stuck"] or flood:
                failed += 1
                print("FAILED", r, end=" ")
            print("%-13s %-52s %7d %5d %5d %10d %7dns %6d %9d" % (
                name, " ".join("%s=%s" % i for i in medium.items())[:52], r["tensors"], r["lost"],
                r["wrong"], r["per_s"], r["latency_ns"], r["resent"], r["malformed"]), flush=True)
    finally:
        shutil.rmtree(folder)
    print("%d of %d runs failed" % (failed, len(runs)))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
