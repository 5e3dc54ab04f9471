#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Floating-point operators next to published ones: LUTs, FFs, DSPs and latency
of each on xcu280 at 300 MHz, by Yosys with the options of
data/models/ultrascale+.yaml, and predicted.
    bench/floats.py [--program build/bin/rhizome-bench-floats] [--folder DIR]
Prints the table and writes bench/floats.txt. Yosys takes 15 minutes of a core,
most of them for exp and log of double; --folder keeps modules and netlists, and
what is in it and has not changed is not measured again.
"""
import argparse
import collections
import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
DEVICE, CLOCK = "xcu280", 300
FORMATS = ("half", "float<5,10,flush>", "single", "float<8,23,flush>",
           "double")
NAMES = {"e5m10": "half", "e5m10_flush": "half, flush", "e8m23": "single",
         "e8m23_flush": "single, flush", "e11m52": "double"}
SYNTH = "synth_xilinx -top {top} -family xcup -flatten -noiopad -noclkbuf " \
        "-nowidelut"
# LUT, FF, DSP and cycles, as far as the sources have them.
PUBLISHED = {
    ("add", "half"): (("FloPoCo, 300 MHz", "–", "–", "–", 1),
                      ("AMD, 300 MHz, DSP", 113, 109, 2, 4),
                      ("AMD, 300 MHz, no DSP", 166, 88, 0, 3)),
    ("mul", "half"): (("AMD, 300 MHz", 34, 91, 2, 3),),
    ("add", "single"): (("FloPoCo, 552 MHz", 450, 358, 0, 6),
                        ("FloPoCo, 234 MHz", 459, 181, 0, 2),
                        ("AMD, 140 MHz", 226, 177, 2, 2),
                        ("AMD, 300 MHz, no DSP", 376, 374, 0, 7),
                        ("ScaleHLS's model", "–", "–", 2, 4)),
    ("mul", "single"): (("FloPoCo, 422 MHz", 177, 146, 2, 3),
                        ("AMD, 300 MHz", 123, 197, 3, 6),
                        ("ScaleHLS's model", "–", "–", 3, 3)),
    ("add", "double"): (("FloPoCo, 385 MHz", 982, 902, 0, 8),
                        ("FloPoCo, 236 MHz", 1100, 439, 0, 3),
                        ("AMD, only latency", "–", "–", "–", 4)),
    ("mul", "double"): (("FloPoCo, 287 MHz", 698, 959, 12, 6),
                        ("FloPoCo, 257 MHz", 701, 372, 12, 2),
                        ("AMD, only latency", "–", "–", "–", 5)),
}
NOTES = """
LUTs contain shift registers, as in all tables here; inverters are not counted.
AMD: the core "Floating-Point Operator" (PG060) in reports of Vitis HLS, which
are estimates before synthesis. It takes subnormal operands for zero and gives
zero for subnormal results, like our rows "flush".
300 MHz: Vitis HLS 2024.2 for an xczu7ev-2, hadd_16ns_16ns_16_5_full_dsp_1,
hadd_16ns_16ns_16_4_no_dsp_1, hmul_16ns_16ns_16_4_max_dsp_1,
fadd_32ns_32ns_32_8_no_dsp_1 and fmul_32ns_32ns_32_7_max_dsp_1 (a cycle less
than their stages) in github.com/hijoouzc/UpConv_Block_HLS,
upconv_core/upconv_core_top/hls/syn/report/
UpConv_Fused_Row_8_16_16_16_16_s_csynth.rpt.
Only the latency: names of modules in public designs
(dadd_64ns_64ns_64_5_full_dsp, dmul_64ns_64ns_64_6_max_dsp); clocks and devices
differ.
140 MHz: vadd_fadd_32ns_32ns_32_3_full_dsp_1 in the report of Vitis HLS 2019.2
for a U280 in github.com/WenqiJiang/SIGMOD-2022-submission-Fanns,
PE_optimization/distance_estimation_by_LUT/unused/README.md.
FloPoCo: its operators as Bambu builds them, with the conversions from and to
IEEE words, by Vivado on an xcu280-2L; registers at both ends are counted, the
clock is the reported period's. fp_plus_expr_FU and fp_mult_expr_FU, parameters
32 32 32 and 64 64 64 with 100, 200, 300 or 400, in
github.com/ferrandi/PandA-bambu, etc/devices/Xilinx_devices/
xcu280-2Lfsvh2892-VVD.xml. They have no subnormal numbers. It has no half: the
cycle is what FloPoCo writes of FPAdd_5_10_Freq300 for VirtexUltrascalePlus.
AMD's tables of the core's LUTs and FFs
(xilinx.com/html_docs/ip_docs/pru_files/floating-point.html) were not at hand.
ScaleHLS's model: fadd and fmul on XC7Z020 at 100 MHz.
"""


def measure(tool, folder, name, is_known):
    netlist = folder / f"{name}.json"
    if not is_known or not netlist.exists():
        subprocess.run(
            [tool, "-p", f"read_verilog -sv {folder / name}.sv; "
             f"{SYNTH.format(top=name)}; json -o {netlist}.part {name}"],
            check=True, capture_output=True)
        pathlib.Path(f"{netlist}.part").rename(netlist)
    cells = json.loads(netlist.read_text())["modules"][name]["cells"]
    kinds = collections.Counter(c["type"] for c in cells.values())

    def count(*starts):
        return sum(n for kind, n in kinds.items() if kind.startswith(starts))

    return (count("LUT", "SRL"), count("FD"), count("DSP"))


def rows(args):
    with tempfile.TemporaryDirectory() as work:
        folder = args.folder or pathlib.Path(work)
        folder.mkdir(parents=True, exist_ok=True)
        before = {f.stem: f.read_text() for f in folder.glob("*.sv")}
        lines = subprocess.run(
            [args.program, folder, DEVICE, str(CLOCK), *FORMATS], check=True,
            capture_output=True, text=True).stdout.splitlines()
        for line in lines:
            name, latency, _, _, lut, ff, dsp = line.split()
            function, kind = name.removeprefix("rhz_float_").split("_", 1)
            if function == "sub":
                continue  # one inverter more than add
            print(f"{name} …", file=sys.stderr)
            yield (function, NAMES[kind], int(latency),
                   measure(args.tool, folder, name, before.get(name) ==
                           (folder / f"{name}.sv").read_text()),
                   (int(lut), int(ff), int(dsp)))


def main():
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", type=pathlib.Path,
                        default=ROOT / "build/bin/rhizome-bench-floats")
    parser.add_argument("--folder", type=pathlib.Path)
    parser.add_argument("--tool", default="yosys")
    args = parser.parse_args()
    version = subprocess.run([args.tool, "-V"], check=True, text=True,
                             capture_output=True).stdout.split(" (")[0]
    form = "{:<6}{:<15}{:<22}{:>7}{:>7}{:>5}{:>8}{:>20}"
    out = [f"Floating-point operators on {DEVICE} at {CLOCK} MHz, {version}",
           "",
           form.format("", "format", "whose", "LUT", "FF", "DSP", "cycles",
                       "LUT, FF predicted").rstrip()]
    for function, kind, latency, measured, predicted in rows(args):
        out.append(form.format(function, kind, "ours", *measured, latency,
                               f"{predicted[0]}, {predicted[1]}"))
        for whose, *figures in PUBLISHED.get((function, kind), ()):
            out.append(form.format("", "", whose, *figures, "").rstrip())
    text = "\n".join(out) + "\n" + NOTES
    print(text, end="")
    (ROOT / "bench/floats.txt").write_text(text)


if __name__ == "__main__":
    main()
