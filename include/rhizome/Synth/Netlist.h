// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A synthesized module from Yosys' write_json: cells of the device's
// family connected by bits. Counts the resources of its cells.
#pragma once

#include "llvm/Support/Error.h"
#include <map>
#include <string>
#include <vector>

namespace rhizome::synth {
/// The kind of a cell, for counting and for paths.
enum class CellKind {
  Lut,      ///< a look-up table
  Inverter, ///< absorbed by its readers
  Mux,      ///< a wide multiplexer next to LUTs
  Carry,    ///< a piece of a carry chain
  Ff,
  Shift,  ///< a shift register in a LUT
  LutRam, ///< a memory in LUTs, read asynchronously
  Memory, ///< a separate memory, read into a register
  Dsp,
  Constant,
};

/// One cell of a vendor's library: its kind and its resources.
struct CellType {
  const char *name;
  CellKind kind;
  double lut = 0;  ///< LUTs, for memories those of their ports and bits
  double unit = 0; ///< DSPs or block RAMs (36 kbit, or the family's own block)
  bool ultra = false; ///< a URAM
};

/// The cell called `name`, null if it is unknown.
const CellType *findCellType(llvm::StringRef name);

/// A bit of a netlist: its number, or a constant if negative.
using Bit = int;

struct CellPort {
  std::string name;
  bool isOutput = false;
  std::vector<Bit> bits;
};

struct Cell {
  const CellType *type;
  std::string name;
  std::string src; ///< "file:line", "" if not known
  std::vector<CellPort> ports;
  /// The port's bits, empty if it has none or is not connected.
  const std::vector<Bit> &bits(llvm::StringRef port) const;
};

/// A name in the source for a bit.
struct BitName {
  std::string name; ///< "u_outbuf.credits_q[2]"
  std::string src;
};

struct Netlist {
  std::vector<Cell> cells;
  std::vector<CellPort> ports; ///< of the module
  std::map<Bit, BitName> names;
  int bitCount = 0; ///< bits are below this

  /// Reads the only (or the top) module of write_json's text. Refuses other
  /// text, and unknown cells, by name.
  static llvm::Expected<Netlist> parse(llvm::StringRef json);
};

/// By resource name: lut, ff, dsp, bram, uram, lutram as the cost model counts
/// them; in addition carry (cells of carry chains), mux and shift (LUTs that
/// are shift registers, also in lut and lutram).
using Counts = std::map<std::string, double>;

/// `lut` is LUT1–6 (each one, without inverters), the LUTs of memories and
/// shift registers, and the two LUTs of an ECP5 carry cell.
Counts countCells(const Netlist &netlist);
} // namespace rhizome::synth
