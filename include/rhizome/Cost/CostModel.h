// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The calibrated part of the cost model: kinds of logic structure (terms), and
// how many LUTs and FFs one of each takes in a unit of each kind. The
// numbers come from data/models, one file a device family.
#pragma once

#include "rhizome/Cost/MemoryImages.h"
#include "rhizome/Cost/Resources.h"
#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

namespace rhizome::gen {
/// What logic an actor is made of, as far as its LUTs are not known exactly.
enum class Term : unsigned {
  Fixed,       ///< 1: the cell's own control
  Counter,     ///< bits of counters
  Buffer,      ///< bits of output buffers' counters
  Control,     ///< bits of the cell's positions and addresses
  Adder,       ///< bits of adders
  Compare,     ///< bits of comparisons
  Mux,         ///< LUTs of multiplexers by number, per bit
  Select,      ///< bits that one of two values or a constant is chosen for
  Product,     ///< bits of the carry chains of products in LUTs
  ProductRow,  ///< LUTs of the rows beside them, where a LUT cannot hold both
  ProductEdge, ///< bits of the adders of groups of digits
  Products,    ///< products in LUTs
  RomLeaf,     ///< functions of as many address bits as a LUT has inputs
  RomMux,      ///< choices between these
  MemoryMux,   ///< LUTs that choose among the parts of deep memories
  Collision,   ///< bits of reads that must see what is written beside them
  Lane,        ///< lanes
};
constexpr std::array<const char *, 17> kTermNames = {
    "fixed",        "counter",  "buffer",   "control", "adder",
    "compare",      "mux",      "select",   "product", "product_row",
    "product_edge", "products", "rom_leaf", "rom_mux", "memory_mux",
    "collision",    "lane"};

using Terms = std::array<double, kTermNames.size()>;

/// An actor's structure: resources that follow exactly, and counts of terms.
struct Structure {
  const char *unit = ""; ///< the name it is characterized under
  Resources exact;
  Terms terms{};
  double heldBits = 0; ///< of the data in block RAM
};

/// How far predictions of a unit are off, as characterization found: a share of
/// the prediction, or that many at least. Nine of ten actors lie within.
struct ErrorBar {
  double share = 0, least = 0;
  double of(double predicted) const {
    return std::max(share * predicted, least);
  }
};

/// LUTs of every term, by the name that units are characterized under.
struct CostModel {
  struct Unit {
    Terms lut{};
    ErrorBar lutError, ffError;
  };
  std::map<std::string, Unit, std::less<>> units;

  /// A unit that the family has not been characterized for has one LUT a term.
  const Unit &of(std::string_view name) const;
};

/// What the cost model needs to know of a device.
struct CostContext {
  int64_t lutInputs = 6;
  /// Signed operands of one DSP block's multiplier; 0 without any.
  int64_t dspWide = 27, dspNarrow = 18;
  /// Bits of one block RAM and its widest port.
  int64_t bramBits = 36864, bramPort = 72;
  /// Half blocks are units of their own.
  bool halfBlocks = true;
  /// Width of the family's smallest memory in LUTs; 0 without any. AMD's are
  /// 32 deep, others 16.
  int64_t lutramBits = 14;
  /// LUTs that a block RAM is worth where a ROM may lie in either: which of the
  /// two is scarce depends on the plan.
  double lutsOfABlock = kUsualLutsOfABlock;
  static constexpr double kUsualLutsOfABlock = 100;
  /// Rows of registers without a reset become LUTs.
  bool shiftRegisters = true;
  /// What a level of LUTs with its routing takes, and a register before and
  /// behind: how much logic generated pipelines put between registers.
  double levelNs = 0.75, registerNs = 0.6;
  /// The family's calibrated model.
  std::shared_ptr<const CostModel> model = std::make_shared<CostModel>();
};

/// DSP blocks that one product of signed operands takes.
int64_t dspTiles(int64_t a, int64_t b, const CostContext &context);
} // namespace rhizome::gen
