// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The vendors' cells that Yosys' scripts leave, with what each takes. Names do
// not clash between families, so one table serves all.
#include "rhizome/Synth/Netlist.h"
#include "llvm/ADT/StringMap.h"

using namespace llvm;
using namespace rhizome::synth;

namespace {
using K = CellKind;

constexpr CellType kCells[] = {
    {"LUT1", K::Lut, 1},
    {"LUT2", K::Lut, 1},
    {"LUT3", K::Lut, 1},
    {"LUT4", K::Lut, 1},
    {"LUT5", K::Lut, 1},
    {"LUT6", K::Lut, 1},
    {"INV", K::Inverter},
    {"VCC", K::Constant},
    {"GND", K::Constant},
    // AMD 7-series and UltraScale(+). A LUT holds 64 places of one bit or 32 of
    // two; memories with several ports hold their contents once per port.
    {"MUXF7", K::Mux},
    {"MUXF8", K::Mux},
    {"MUXF9", K::Mux},
    {"CARRY4", K::Carry},
    {"CARRY8", K::Carry},
    {"FDRE", K::Ff},
    {"FDSE", K::Ff},
    {"FDCE", K::Ff},
    {"FDPE", K::Ff},
    {"FDRE_1", K::Ff},
    {"FDSE_1", K::Ff},
    {"FDCE_1", K::Ff},
    {"FDPE_1", K::Ff},
    {"SRL16E", K::Shift, 1},
    {"SRLC16E", K::Shift, 1},
    {"SRLC32E", K::Shift, 1},
    {"RAM32X1S", K::LutRam, 1},
    {"RAM64X1S", K::LutRam, 1},
    {"RAM128X1S", K::LutRam, 2},
    {"RAM256X1S", K::LutRam, 4},
    {"RAM512X1S", K::LutRam, 8},
    {"RAM32X1D", K::LutRam, 2},
    {"RAM64X1D", K::LutRam, 2},
    {"RAM128X1D", K::LutRam, 4},
    {"RAM256X1D", K::LutRam, 8},
    {"RAM32M", K::LutRam, 4},
    {"RAM64M", K::LutRam, 4},
    {"RAM32M16", K::LutRam, 8},
    {"RAM64M8", K::LutRam, 8},
    {"RAM64X8SW", K::LutRam, 8},
    {"RAMB18E1", K::Memory, 0, 0.5},
    {"RAMB36E1", K::Memory, 0, 1},
    {"RAMB18E2", K::Memory, 0, 0.5},
    {"RAMB36E2", K::Memory, 0, 1},
    {"URAM288", K::Memory, 0, 1, true},
    {"DSP48E1", K::Dsp, 0, 1},
    {"DSP48E2", K::Dsp, 0, 1},
    // Lattice ECP5: a CCU2C is two LUTs with the carry between them. A
    // TRELLIS_DPR16X4 lies in four LUTs and blocks the two of the slice that
    // drives its write port; nextpnr counts the same six.
    {"PFUMX", K::Mux},
    {"L6MUX21", K::Mux},
    {"CCU2C", K::Carry, 2},
    {"TRELLIS_FF", K::Ff},
    {"TRELLIS_DPR16X4", K::LutRam, 6},
    {"DP16KD", K::Memory, 0, 1},
    {"PDPW16KD", K::Memory, 0, 1},
    {"MULT9X9D", K::Dsp, 0, 0.5},
    {"MULT18X18D", K::Dsp, 0, 1},
    {"ALU54B", K::Dsp, 0, 0},
    // Lattice iCE40.
    {"SB_LUT4", K::Lut, 1},
    {"SB_CARRY", K::Carry},
    {"SB_RAM40_4K", K::Memory, 0, 1},
    {"SB_RAM40_4KNR", K::Memory, 0, 1},
    {"SB_RAM40_4KNW", K::Memory, 0, 1},
    {"SB_RAM40_4KNRNW", K::Memory, 0, 1},
    {"SB_SPRAM256KA", K::Memory, 0, 1, true},
    {"SB_MAC16", K::Dsp, 0, 1},
};
} // namespace

const CellType *rhizome::synth::findCellType(StringRef name) {
  static const StringMap<const CellType *> table = [] {
    StringMap<const CellType *> map;
    for (const CellType &cell : kCells)
      map[cell.name] = &cell;
    return map;
  }();
  static constexpr CellType sbFlipFlop = {"SB_DFF", K::Ff};
  if (name.starts_with("SB_DFF"))
    return &sbFlipFlop;
  return table.lookup(name);
}
