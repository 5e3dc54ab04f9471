#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How many elements of a kernel a device computes per second, from one lane.

explore --systems chooses stages, copies, lanes and units for each format; one
lane of the best is compiled with the system around it, its cycles are measured in
RTL on the memory, with random stalls for the results, and its resources with
Yosys. --unit does the same with all lanes of a unit (minutes). Helmholtz on xcu280
by default.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
# D4.2's kernel for the same card, in double: one element after the other, and
# a read, a compute and a write stage; 22,977 LUT, 36,891 FF, 134 DSP.
THEIR_COMPUTE = 13_876


def answer(*command):
    done = subprocess.run([str(c) for c in command] + ["--json"], text=True,
                          stdout=subprocess.PIPE)
    try:
        return json.loads(done.stdout)
    except ValueError:
        sys.exit(f"{' '.join(str(c) for c in command)} failed")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--rhizome", default=ROOT / "build/bin/rhizome",
                        type=pathlib.Path)
    parser.add_argument("--kernel", type=pathlib.Path,
                        default=ROOT / "examples/kernels/helmholtz.cfd")
    parser.add_argument("--device", default="xcu280")
    parser.add_argument("--resident", action="append", default=[])
    parser.add_argument("--formats", nargs="*",
                        default=["fixed<8,24>", "fixed<24,40>"])
    parser.add_argument("--elements", type=int, default=20)
    parser.add_argument("--unit", action="store_true",
                        help="also simulate a unit with all its lanes")
    options = parser.parse_args()
    residents = options.resident or (
        ["S"] if options.kernel.name == "helmholtz.cfd" else [])
    stay = [word for name in residents for word in ("--resident", name)]
    print(f"{options.kernel.name} on {options.device}\n")
    for number_format in options.formats:
        common = (options.kernel, "--numbers", number_format, "--device",
                  options.device, *stay)
        found = answer(options.rhizome, "explore", *common, "--systems")
        best = found["best"]
        print(f"{number_format}: {best['lanes']} lanes in {best['units']} "
              f"units, {best['stages']} stages, {best['products']} products a "
              f"cycle and lane")
        print(f"  bound: {best['bound']}")
        with tempfile.TemporaryDirectory() as folder:
            package = pathlib.Path(folder) / "lane.rhz"
            copies = [word for text in best["copies"]
                      for word in ("--copies", text)]
            built = answer(options.rhizome, "compile", *common, "--stages",
                           best["stages"], *copies, "--system", "-o", package)
            free = answer(options.rhizome, "simulate", package, "-n",
                          options.elements)
            stalled = answer(options.rhizome, "simulate", package, "-n",
                             options.elements, "--stalls-in", 30,
                             "--stalls-out", 30)
            synth = answer(options.rhizome, "synth", package)
            lanes = -(-best["lanes"] // best["units"])
            whole = None
            if options.unit:
                package = pathlib.Path(folder) / "unit.rhz"
                answer(options.rhizome, "compile", *common, "--stages",
                       best["stages"], *copies, "--system", "--lanes", lanes,
                       "-o", package)
                whole = answer(options.rhizome, "simulate", package, "-n",
                               lanes)
        cycles = free["measured"]["interval_cycles"]
        wrong = free["mismatches"] + stalled["mismatches"]
        rate = best["lanes"] * found["clock_mhz"] * 1e6 / cycles
        print(f"  RTL: {cycles:,.0f} cycles an element and lane, "
              f"{best['interval_cycles']:,} predicted; {wrong} wrong words in "
              f"{2 * options.elements} elements, half of them under stalls")
        if options.kernel.name == "helmholtz.cfd":
            print(f"  {THEIR_COMPUTE / cycles:.1f} times the {THEIR_COMPUTE:,} "
                  f"cycles of D4.2's kernel")
        measured = synth["nodes"][0]["measured"]
        if whole:
            wrong += whole["mismatches"]
            print(f"  a unit of {lanes} lanes: "
                  f"{whole['measured']['interval_cycles']:,.0f} cycles, "
                  f"{whole['mismatches']} wrong words")
        print("  Yosys, one lane with its system: " + ", ".join(
            f"{measured[k]:,g} {k.upper()}" for k in
            ("lut", "ff", "dsp", "bram", "uram") if k in measured)
            + "; predicted: " + ", ".join(
                f"{built['predicted'][k]:,g} {k.upper()}" for k in
                ("lut", "ff", "dsp", "bram", "uram")))
        print(f"  {rate / 1e6:.2f} M elements/s at {found['clock_mhz']:g} MHz, "
              f"{rate * found['operations'] / 1e12:.3f} TFLOPS-equivalent "
              f"({found['operations']:,} operations each)")
        print(f"  memory: {best['bytes_per_s'] / 1e9:.1f} GB/s over "
              f"{best['channels']} channels, the busiest at "
              f"{best['channel_load']:.0%}\n")


if __name__ == "__main__":
    main()
