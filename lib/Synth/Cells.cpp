// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The vendors' cells in the output of Yosys' scripts, with their resources.
// Names do not clash between families, so one table serves all.
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
    {"$scopeinfo", K::Constant}, // newer versions' note of what was flattened
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
    // TRELLIS_DPR16X4 takes four LUTs and blocks the two of the slice that
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
    // Lattice Nexus: like ECP5; a WIDEFN9 is two LUTs and a multiplexer.
    {"VHI", K::Constant},
    {"VLO", K::Constant},
    {"WIDEFN9", K::Lut, 2},
    {"CCU2", K::Carry, 2},
    {"DPR16X4", K::LutRam, 6},
    {"DP16K", K::Memory, 0, 1},
    {"PDP16K", K::Memory, 0, 1},
    {"PDPSC16K", K::Memory, 0, 1},
    {"MULT9X9", K::Dsp, 0, 0.5},
    {"MULT18X18", K::Dsp, 0, 1},
    {"MULT18X36", K::Dsp, 0, 2},
    {"MULT36X36", K::Dsp, 0, 4},
    // Gowin: an ALU is a LUT with its carry.
    {"MUX2_LUT5", K::Mux},
    {"MUX2_LUT6", K::Mux},
    {"MUX2_LUT7", K::Mux},
    {"MUX2_LUT8", K::Mux},
    {"ALU", K::Carry, 1},
    {"RAM16S1", K::LutRam, 1},
    {"RAM16S2", K::LutRam, 2},
    {"RAM16S4", K::LutRam, 4},
    {"RAM16SDP1", K::LutRam, 1},
    {"RAM16SDP2", K::LutRam, 2},
    {"RAM16SDP4", K::LutRam, 4},
    {"SP", K::Memory, 0, 1},
    {"SPX9", K::Memory, 0, 1},
    {"SDP", K::Memory, 0, 1},
    {"SDPX9", K::Memory, 0, 1},
    {"DP", K::Memory, 0, 1},
    {"DPX9", K::Memory, 0, 1},
    // Intel Cyclone V: half an ALM is a LUT; an MLAB cell is a bit of 32
    // places; a DSP block holds three products of 9 bits or two of 18.
    {"MISTRAL_NOT", K::Inverter},
    {"MISTRAL_ALUT2", K::Lut, 1},
    {"MISTRAL_ALUT3", K::Lut, 1},
    {"MISTRAL_ALUT4", K::Lut, 1},
    {"MISTRAL_ALUT5", K::Lut, 1},
    {"MISTRAL_ALUT6", K::Lut, 2},
    {"MISTRAL_ALUT_ARITH", K::Carry, 1},
    {"MISTRAL_FF", K::Ff},
    {"MISTRAL_MLAB", K::LutRam, 1},
    {"MISTRAL_M10K", K::Memory, 0, 1},
    {"MISTRAL_MUL9X9", K::Dsp, 0, 1. / 3},
    {"MISTRAL_MUL18X18", K::Dsp, 0, 0.5},
    {"MISTRAL_MUL27X27", K::Dsp, 0, 1},
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
  static constexpr CellType flipFlops[] = {
      {"SB_DFF", K::Ff}, {"FD1P3", K::Ff}, {"DFF", K::Ff}};
  for (const CellType &flipFlop : flipFlops)
    if (name.starts_with(flipFlop.name))
      return &flipFlop;
  return table.lookup(name);
}
