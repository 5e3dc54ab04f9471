#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What exploration chooses: frames a second of each network on each device by
units for its operations, by a core that carries out programs, and by whatever
serves best; and whether the choice is at least as fast as either.

    bench/choice.py FOLDER [NETWORK …] [--devices NAME …] [--results FOLDER]

FOLDER holds ONNX files; without names all of them are taken. Explored are the
devices' fastest plans at their usual clocks, a process each. Writes choice.txt
into --results.
"""
import argparse
import json
import pathlib
import sys

from large import RHIZOME, measure

DEVICES = ("xc7z020", "xczu3eg", "xck26", "xczu7ev", "xcvu9p-slr", "xcu55c")
WAYS = {"units": ["--generators", "stream,dhm"],
        "core": ["--generators", "engine"], "chosen": []}
NEAR = 1e-6  # of a rate


def explored(network, device, options):
    """Frames a second, the generators that build it, and seconds; 0 if nothing
    does."""
    seconds, _, _, status, output = measure(
        [RHIZOME, "explore", network, "--device", device, "--json", *options])
    if status:
        return 0, set(), seconds
    plan = json.loads(output)
    generators = {op["generator"] for node in plan["nodes"]
                  for op in node["operations"]}
    return plan["predicted"]["throughput_per_s"], generators, seconds


def kind(generators):
    """units, a core, or both."""
    if "engine" not in generators:
        return "units" if generators else "-"
    return "core" if len(generators) == 1 else "both"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("networks", nargs="*")
    parser.add_argument("--devices", nargs="+", default=DEVICES)
    parser.add_argument("--results", type=pathlib.Path)
    args = parser.parse_args()
    files = ([args.folder / f"{name}.onnx" for name in args.networks]
             or sorted(args.folder.glob("*.onnx")))
    missing = [str(file) for file in files if not file.is_file()]
    if missing or not files:
        sys.exit("no such network: " + (", ".join(missing)
                                        or f"no *.onnx in {args.folder}"))
    lines = [f"{'network':16} {'device':12} {'units':>10} {'core':>10} "
             f"{'chosen':>10}  {'which':6} {'s':>6}"]
    print(lines[0])
    slower = []
    for file in files:
        for device in args.devices:
            found = {way: explored(file, device, options)
                     for way, options in WAYS.items()}
            rates = {way: rate for way, (rate, _, _) in found.items()}
            _, generators, seconds = found["chosen"]
            lines.append(f"{file.stem:16} {device:12} "
                         + " ".join(f"{rate:10,.1f}" if rate else f"{'-':>10}"
                                    for rate in rates.values())
                         + f"  {kind(generators):6} {seconds:6.1f}")
            print(lines[-1], flush=True)
            if rates["chosen"] < max(rates.values()) * (1 - NEAR):
                slower.append(f"{file.stem} on {device}")
    lines.append(f"slower than one of both: {', '.join(slower) or 'none'}")
    print(lines[-1])
    if args.results:
        (args.results / "choice.txt").write_text("\n".join(lines) + "\n")
    return 1 if slower else 0


if __name__ == "__main__":
    sys.exit(main())
