// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The logic between registers, analyzed bit by bit over a netlist: the number
// of levels of LUTs of the longest path, and the path itself.
#pragma once

#include "rhizome/Synth/Netlist.h"

namespace rhizome::synth {
/// A cell of a path; consecutive pieces of one carry chain are one step.
struct PathStep {
  std::string cell; ///< "LUT6", "FDRE"; "port" for a port of the module
  std::string name; ///< of what it drives in the source, "" if that has none
  std::string src;  ///< "file:line", "" if not known
  int bits = 0;     ///< of a carry chain along the path
};

struct Depth {
  int levels = 0;
  std::vector<PathStep> path; ///< from start to end; empty without any path
  std::string loop;           ///< a cell on a combinational loop, "" if none
};

/// Paths start at the outputs of registers, shift registers, memories and DSPs
/// and at input ports; they end at the inputs of these and at output ports. A
/// level is a LUT, a read of a memory in LUTs, or the LUT inside an ECP5 carry
/// cell; inverters and wide multiplexers are not. A carry chain is free
/// up to 32 bits from where the path enters it, every further 32 bits count as
/// a level, and so does every chain beyond the second of a path. Carry cells
/// are split by bits: an output depends on no operand above it. Takes time
/// linear in the netlist.
Depth depthOf(const Netlist &netlist);
} // namespace rhizome::synth
