#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""LUTs per bit of a multiplexer between registers, for the two forms in rtl/src:
rhz_mux, a tree that synthesis may decompose, and rhz_choose, whose multiplexers
of four words it keeps. Prints the table of docs/rationale/stream-cells.md.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
FAMILIES = {
    "ultrascale+": "synth_xilinx -top top -family xcup -flatten -noiopad "
                   "-noclkbuf -nowidelut",
    "ecp5": "synth_ecp5 -top top -nowidelut",
}
CELLS = {"rhz_mux": ("rhz_mux",), "rhz_choose": ("rhz_choose", "rhz_choose_few")}
TOP = """
module top #(parameter int C = {count}, parameter int W = {width}) (
  input logic clk_i, input logic [$clog2(C)-1:0] sel_i,
  input logic [C*W-1:0] data_i, output logic [W-1:0] data_o);
  logic [$clog2(C)-1:0] sel_q;
  logic [C*W-1:0] data_q;
  logic [W-1:0] chosen;
  {cell} #(.Width(W), .Count(C)) u_cell (
    .sel_i(sel_q), .data_i(data_q), .data_o(chosen));
  always_ff @(posedge clk_i) begin
    sel_q  <= sel_i;
    data_q <= data_i;
    data_o <= chosen;
  end
endmodule
"""


def luts(tool, cell, count, width, script):
    with tempfile.TemporaryDirectory() as folder:
        top, netlist = (pathlib.Path(folder) / n for n in ("top.sv", "top.json"))
        top.write_text(TOP.format(cell=cell, count=count, width=width))
        reads = [f"read_verilog -defer -sv {ROOT}/rtl/src/{name}.sv"
                 for name in CELLS[cell]]
        subprocess.run([tool, "-q", "-p", "\n".join(reads + [
            f"read_verilog -sv {top}", script,
            "setattr -mod -unset keep_hierarchy", "flatten", "clean",
            f"json -o {netlist} top"])], check=True)
        cells = json.loads(netlist.read_text())["modules"]["top"]["cells"]
    return sum(c["type"].startswith("LUT") for c in cells.values()) / width


def main():
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", default="yosys")
    parser.add_argument("--width", type=int, default=16, help="bits of a word")
    parser.add_argument("counts", nargs="*", type=int,
                        default=[4, 8, 12, 16, 24, 32, 48, 64], help="of words")
    options = parser.parse_args()
    columns = [(family, cell) for family in FAMILIES for cell in CELLS]
    titles = [f"{cell} {family}" for family, cell in columns]
    print("words  " + "  ".join(titles))
    for count in options.counts:
        found = [luts(options.tool, cell, count, options.width, FAMILIES[family])
                 for family, cell in columns]
        print(f"{count:5}  " + "  ".join(
            f"{each:.1f}".rjust(len(title))
            for each, title in zip(found, titles)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
