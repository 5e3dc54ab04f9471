#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Plans beside published designs, on their devices and at their clocks:
HIDA's six networks on one die of a VU9P, at HIDA's own DSPs and LUTs and with
the whole die, and fpgaConvNet's entries in MLPerf Tiny, with all of a device's
LUTs and with four fifths of them, for rate and for the least latency.

    bench/published.py FOLDER [NAME …] [--table hida|tiny]

FOLDER holds the networks as ONNX files (../shared/tools/large_networks.py
makes them); NAME selects some. Nothing is asserted; both tables, if they are
whole, are kept in bench/published.txt. What is published for HIDA is an
estimate of its tool; for MLPerf Tiny it is measured on boards, with a clock
that was routed. Ours are `explore`'s predictions; "%" is the share of
what the goal allows, "share" that of the published latency, "eff %" products
per second over those of the DSPs, one each a cycle, and "in LUTs" how many
multipliers are built from LUTs besides.
"""
import argparse
import json
import pathlib
import re
import sys

from large import RHIZOME, measure

# Ye et al., HIDA, ASPLOS 2024, table 8: samples per second, DSPs, LUTs.
HIDA = {
    "hida_resnet18": (45.4, 667, 142100),
    "hida_mobilenet": (137.4, 518, 132900),
    "hida_zfnet": (90.4, 639, 103800),
    "hida_vgg16": (48.3, 1118, 266200),
    "hida_yolo": (33.7, 904, 202800),
    "hida_mlp": (938.9, 164, 21000),
}
# MLPerf Tiny v1.1, closed division, fpgaConvNet: the board, its device, MHz,
# inferences per second; latency is their inverse. Where no clock is published,
# the device file's.
TINY = (
    ("ic_resnet8", "ZC706", "xc7z045", 187, 6790),
    ("vww_mobilenet025", "ZC706", "xc7z045", 200, 1388),
    ("ic_resnet8", "ZedBoard", "xc7z020", 143, 2431),
    ("kws_dscnn", "ZedBoard", "xc7z020", 143, 3088),
    ("vww_mobilenet025", "ZedBoard", "xc7z020", 111, 105.4),
    ("ic_resnet8", "ZyBo", "xc7z010", 100, 317.5),
    ("kws_dscnn", "Cora", "xc7z007s", 100, 237.5),
)


class Plan:
    """What `explore` prints, with what it takes to find it."""

    def __init__(self, network, *options):
        (self.seconds, self.cpu, self.megabytes, status,
         output) = measure([RHIZOME, "explore", network, "--json", *options])
        self.known = status in (0, 3) and output.startswith("{")
        plan = json.loads(output) if self.known else {}
        self.known = "predicted" in plan
        if not self.known:
            return
        self.plan = plan
        self.meets = plan["ok"]
        self.p = plan["predicted"]
        self.rate = self.p["throughput_per_s"]

    def efficiency(self):
        """Products per second over those of the DSPs, one each a cycle."""
        macs = self.plan["analysis"]["total"]["macs"]
        return self.rate * macs / (max(1, self.p["dsp"])
                                   * self.p["clock_mhz"] * 1e6)

    def lut_products(self):
        """Multipliers that are built from LUTs."""
        count = 0
        for operation in self.plan["nodes"][0]["operations"]:
            key = dict(re.findall(r"(\w+)=(\w+)", operation["option"]))
            if key.get("style") == "lut" and "pe" in key:
                count += (int(key["pe"]) * int(key["simd"])
                          * int(key.get("pixels", 1)))
        return count

    def cost(self):
        return (f"{self.seconds:6.1f} {self.cpu:6.1f} {self.megabytes:5.0f}")


ROWS = []


def row(*fields):
    ROWS.append(" ".join(fields).rstrip())
    print(ROWS[-1], flush=True)


def hida(folder, wanted):
    row(f"{'network':15}", f"{'HIDA/s':>7}", f"{'DSP':>5}", f"{'LUT':>7}",
        f"{'ours/s':>8}", "ratio", f"{'DSP':>5}", f"{'LUT':>7}",
        f"{'BRAM':>6}", "URAM", "eff %", "in LUTs", f"{'s':>6}",
        f"{'CPU s':>6}", f"{'MB':>5}", "limit")
    for name, (rate, dsp, lut) in HIDA.items():
        if wanted and name not in wanted:
            continue
        for bounds in (f",dsp={dsp},lut={lut}", ""):
            plan = Plan(folder / f"{name}.onnx", "--device", "xcvu9p-slr",
                        "--goal", "max-throughput" + bounds)
            theirs = (f"{name:15}", f"{rate:7.1f}", f"{dsp:5}", f"{lut:7}")
            if not bounds:
                theirs = (f"{'  the whole die':15}", " " * 7, " " * 5, " " * 7)
            if not plan.known or not plan.meets:
                row(*theirs, "refused", plan.cost())
                continue
            p = plan.p
            row(*theirs, f"{plan.rate:8.1f}", f"{plan.rate / rate:5.1f}",
                f"{p['dsp']:5}", f"{p['lut']:7}", f"{p['bram']:6}",
                f"{p['uram']:4}", f"{100 * plan.efficiency():5.0f}",
                f"{plan.lut_products():7}", plan.cost(), plan.plan["limit"])


def tiny(folder, wanted):
    row(f"{'network':17}", f"{'board':8}", "MHz", f"{'their/s':>7}",
        f"{'us':>7}", f"{'goal':22}", f"{'ours/s':>8}", "ratio", f"{'us':>7}",
        "share", f"{'LUT':>6}", "   %", "DSP", "   %", f"{'BRAM':>5}",
        "limit")
    for name, board, device, mhz, rate in TINY:
        if wanted and name not in wanted:
            continue
        theirs = (f"{name:17}", f"{board:8}", f"{mhz:3}", f"{rate:7.1f}",
                  f"{1e6 / rate:7.1f}")
        for goal in ("max-throughput", "max-throughput,lut=80%",
                     "min-latency", "min-latency,lut=80%"):
            plan = Plan(folder / f"{name}.onnx", "--device", device,
                        "--clock-mhz", str(mhz), "--goal", goal)
            if not plan.known or not plan.meets:
                row(*theirs, f"{goal:22}", "refused")
                continue
            p, used = plan.p, plan.plan["nodes"][0]["utilization"]
            row(*theirs, f"{goal:22}", f"{plan.rate:8.0f}",
                f"{plan.rate / rate:5.1f}", f"{p['latency_us']:7.1f}",
                f"{p['latency_us'] * rate / 1e6:5.2f}", f"{p['lut']:6}",
                f"{100 * used['lut']:4.0f}", f"{p['dsp']:3}",
                f"{100 * used['dsp']:4.0f}", f"{p['bram']:5}",
                plan.plan["limit"])
            theirs = (" " * 17, " " * 8, " " * 3, " " * 7, " " * 7)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("networks", nargs="*")
    parser.add_argument("--table", choices=("hida", "tiny"))
    args = parser.parse_intermixed_args()
    if not args.folder.is_dir():
        sys.exit(f"no such folder: {args.folder}")
    if args.table != "tiny":
        hida(args.folder, args.networks)
    if args.table is None:
        row()
    if args.table != "hida":
        tiny(args.folder, args.networks)
    if args.table is None and not args.networks:
        pathlib.Path(__file__).with_suffix(".txt").write_text(
            "\n".join(ROWS) + "\n")


if __name__ == "__main__":
    main()
