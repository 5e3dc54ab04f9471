// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The logic between registers, walked bit by bit over a netlist: how many
// levels of LUTs the longest path has, and which path that is.
#pragma once

#include "rhizome/Synth/Netlist.h"

namespace rhizome::synth {
/// A cell of a path; all pieces of one carry chain in a row are one step.
struct PathStep {
  std::string cell; ///< "LUT6", "FDRE"; "port" for a port of the module
  std::string name; ///< of what it drives in the source, "" if that has none
  std::string src;  ///< "file:line", "" if not known
  int bits = 0;     ///< of a carry chain that the path runs along
};

struct Depth {
  int levels = 0;
  std::vector<PathStep> path; ///< from start to end; empty without any path
  std::string loop;           ///< a cell on a combinational loop, "" if none
};

/// Paths start at the outputs of registers, shift registers, memories and DSPs
/// and at input ports; they end at the inputs of these and at output ports. A
/// level is a LUT, a read of a memory in LUTs, or the LUT inside an ECP5 carry
/// cell; inverters and multiplexers beside LUTs are none. A carry chain is free
/// up to 32 bits from where the path enters it, every further 32 bits are a
/// level, and so is every chain beyond the second of a path. Carry cells are
/// taken apart by bits: an output depends on no operand above it. Takes time
/// linear in the netlist.
Depth depthOf(const Netlist &netlist);
} // namespace rhizome::synth
