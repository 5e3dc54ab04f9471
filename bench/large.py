#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the commands take on large networks: seconds, CPU seconds and peak
memory of `rhizome coverage` and `rhizome explore`, each in a process of its
own.

    bench/large.py FOLDER [NETWORK …] [--device NAME] [--roles N …] [--frame]

FOLDER holds ONNX files; without names all of them are taken. A network is
explored for --device, or for the device of the case that names it below; its
plan follows: the rate, the resources, what limits it. With --roles it is
explored for clusters of so many KU060 roles instead. With --frame the plan for
the device is compiled and a frame of random data simulated in RTL: mismatches,
and cycles next to the predicted ones. The interval is measured over several
frames, which takes from a quarter of an hour to hours.
Nothing is asserted: times are this machine's.
"""
import argparse
import json
import os
import pathlib
import resource
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
RHIZOME = ROOT / "build" / "bin" / "rhizome"
# The devices of the published designs; the others are explored for a whole
# U55C.
DEVICES = {"hida": "xcvu9p-slr", "ic": "xc7z020", "kws": "xc7z020",
           "vww": "xc7z020", "ad": "xc7z020"}
OTHERWISE = "xcu55c"


def measure(command):
    """Seconds, CPU seconds, MB, the exit status and the output of a command."""
    start = time.monotonic()
    with tempfile.TemporaryFile("w+") as out:
        child = subprocess.Popen(command, stdout=out,
                                 stderr=subprocess.DEVNULL)
        _, status, usage = os.wait4(child.pid, 0)
        seconds = time.monotonic() - start
        out.seek(0)
        return (seconds, usage.ru_utime + usage.ru_stime,
                usage.ru_maxrss / 1024, os.waitstatus_to_exitcode(status),
                out.read())


def plan_text(output):
    """The plan that `explore --json` printed."""
    plan = json.loads(output)
    if not plan.get("fits", True):
        return "does not fit"
    p = plan["predicted"]
    return (f"{p['throughput_per_s']:,.1f} per second, {p['lut']:,} LUT, "
            f"{p['dsp']:,} DSP, {p['bram']:,} BRAM, {p.get('uram', 0):,} URAM; "
            f"bottleneck {plan['bottleneck']}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("networks", nargs="*")
    parser.add_argument("--device")
    parser.add_argument("--roles", type=int, nargs="+", default=[])
    parser.add_argument("--frame", action="store_true")
    parser.add_argument("--timeout", type=int,
                        help="CPU seconds after which a command is ended; "
                             "default 600, with --frame 30,000")
    args = parser.parse_args()
    if args.frame and args.roles:
        parser.error("--frame is of one device: leave --roles out")
    args.timeout = args.timeout or (30000 if args.frame else 600)
    files = sorted(args.folder.glob("*.onnx"))
    if args.networks:
        files = [args.folder / f"{name}.onnx" for name in args.networks]
    missing = [str(file) for file in files if not file.is_file()]
    if missing or not files:
        sys.exit("no such network: " + (", ".join(missing)
                                        or f"no *.onnx in {args.folder}"))
    resource.setrlimit(resource.RLIMIT_CPU, (args.timeout, args.timeout))
    print(f"{'network':18} {'command':30} {'s':>7} {'CPU s':>7} {'MB':>6}")
    with tempfile.TemporaryDirectory() as folder:
        run(files, args, pathlib.Path(folder))


def frame_text(output):
    """What `simulate --json` measured, next to what was predicted."""
    result = json.loads(output)
    predicted, measured = result["predicted"], result["measured"]
    return (f"{result['mismatches']} mismatches; interval "
            f"{measured['interval_cycles']:,.2f} cycles, predicted "
            f"{predicted['interval_cycles']:,}; latency "
            f"{measured['latency_cycles']:,}, predicted "
            f"{predicted['latency_cycles']:,}")


def targets_of(file, args, folder):
    """The options of `explore` that say for what."""
    if not args.roles:
        device = args.device or DEVICES.get(file.stem.split("_")[0], OTHERWISE)
        return [["--device", device]]
    targets = []
    for count in args.roles:
        cluster = folder / f"ku060x{count}.yaml"
        nine = (ROOT / "data" / "clusters" / "ku060x9.yaml").read_text()
        cluster.write_text(nine.replace("ku060x9", f"ku060x{count}")
                           .replace("count: 9", f"count: {count}"))
        targets.append(["--cluster", cluster])
    return targets


def run(files, args, folder):
    for file in files:
        explores = [["explore", file, *target, "--json"]
                    for target in targets_of(file, args, folder)]
        frames = []
        if args.frame:
            package = folder / f"{file.stem}.rhz"
            [target] = targets_of(file, args, folder)
            frames = [["compile", file, *target, "-o", package, "--json"],
                      ["simulate", package, "--level", "rtl", "-n", "1",
                       "--json"]]
        for command in (["coverage", file], *explores, *frames):
            seconds, cpu, peak, status, output = measure([RHIZOME, *command])
            text = " ".join(getattr(word, "stem", word)
                            for word in [command[0], *command[2:]])
            note = f"  ended with {status}" if status else ""
            print(f"{file.stem:18} {text:30} {seconds:7.2f} {cpu:7.2f} "
                  f"{peak:6.0f}{note}", flush=True)
            if command[0] == "explore" and output:
                print(f"{'':18} {plan_text(output)}", flush=True)
            if command[0] == "simulate" and output and status < 2:
                print(f"{'':18} {frame_text(output)}", flush=True)


if __name__ == "__main__":
    main()
