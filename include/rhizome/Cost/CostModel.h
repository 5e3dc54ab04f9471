// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The calibrated part of the cost model: kinds of logic structure (terms), and
// the LUTs and FFs of one of each in a unit of each kind. The
// numbers come from data/models, one file per device family.
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
/// The logic structure of an actor, as far as its LUTs are not known exactly.
enum class Term : unsigned {
  Fixed,       ///< 1: the cell's own control
  Counter,     ///< bits of counters
  Buffer,      ///< bits of output buffers' counters
  Control,     ///< bits of the cell's positions and addresses
  Adder,       ///< bits of adders
  Compare,     ///< bits of comparisons
  Mux,         ///< LUTs of multiplexers by count, per bit
  Select,      ///< bits of 2:1 multiplexers and multiplexers with a constant
  Product,     ///< bits of the carry chains of products in LUTs
  ProductRow,  ///< LUTs of the rows next to them, if a LUT cannot hold both
  ProductEdge, ///< bits of the adders of groups of digits
  Products,    ///< products in LUTs
  RomLeaf,     ///< functions of as many address bits as a LUT has inputs
  RomMux,      ///< multiplexers of these
  MemoryMux,   ///< LUTs that select among the parts of deep memories
  Collision, ///< bits of reads that must return data written in the same cycle
  Lane,      ///< lanes
};
constexpr std::array<const char *, 17> kTermNames = {
    "fixed",        "counter",  "buffer",   "control", "adder",
    "compare",      "mux",      "select",   "product", "product_row",
    "product_edge", "products", "rom_leaf", "rom_mux", "memory_mux",
    "collision",    "lane"};

using Terms = std::array<double, kTermNames.size()>;

/// An actor's structure: resources that are exact, and counts of terms.
struct Structure {
  const char *unit = ""; ///< the name it is characterized under
  Resources exact;
  Terms terms{};
  double heldBits = 0; ///< of the data in block RAM
};

/// The prediction errors of a unit found by characterization: a share of
/// the prediction, or at least that many. Nine of ten actors are within.
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

  /// A unit that the family is not characterized for has one LUT per term.
  const Unit &of(std::string_view name) const;
};

/// The properties of a device that the cost model needs.
struct CostContext {
  int64_t lutInputs = 6;
  /// Signed operands of one DSP block's multiplier; 0 without any.
  int64_t dspWide = 27, dspNarrow = 18;
  /// Bits of one block RAM and its widest port.
  int64_t bramBits = 36864, bramPort = 72;
  /// Half blocks are separate units.
  bool halfBlocks = true;
  /// Width of the family's smallest memory in LUTs; 0 without any. AMD's are
  /// 32 deep, others 16.
  int64_t lutramBits = 14;
  /// LUTs that a block RAM is worth where a ROM may be in either: which of the
  /// two is scarce depends on the plan.
  double lutsOfABlock = kUsualLutsOfABlock;
  static constexpr double kUsualLutsOfABlock = 100;
  /// Rows of registers without a reset become LUTs.
  bool shiftRegisters = true;
  /// The family's delays, which decide how much logic generated pipelines have
  /// between registers.
  struct Delays {
    double levelNs = 0.85;     ///< a LUT and the way to it
    double chainNs = 0.6;      ///< a carry chain in addition to its LUT
    double chainBitNs = 0.029; ///< each of its bits
    double registerNs = 0.5;   ///< clock to output, setup, skew
  } delays;
  /// The family's calibrated model.
  std::shared_ptr<const CostModel> model = std::make_shared<CostModel>();
};

/// DSP blocks of one product of signed operands.
int64_t dspTiles(int64_t a, int64_t b, const CostContext &context);
} // namespace rhizome::gen
