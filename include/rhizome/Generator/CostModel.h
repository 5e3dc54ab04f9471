// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The calibrated part of the cost model: kinds of logic structure (terms), and
// how many LUTs and FFs one of each takes in an actor of each cell. The
// numbers come from data/models, one file a device family.
#pragma once

#include "rhizome/Generator/MemoryImages.h"
#include "rhizome/Generator/Resources.h"
#include <algorithm>
#include <array>
#include <string>

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

/// What is characterised apart: cells, some of them by their options.
constexpr std::array<const char *, 19> kUnitNames = {
    "window_serial", "window_parallel", "matvec_lut",
    "matvec_dsp",    "matvec_pair",     "lane_reduce",
    "depthwise",     "requant",         "requant_dsp",
    "threshold",     "bisect",          "table",
    "scaled_add",    "gearbox",         "gearbox_rotate",
    "concat",        "reorder",         "fork",
    "circuit"};

using Terms = std::array<double, kTermNames.size()>;

/// An actor's structure: resources that follow exactly, and counts of terms.
struct Structure {
  unsigned unit = 0; ///< index of kUnitNames
  Resources exact;
  Terms terms{};
  double heldBits = 0; ///< of the data in block RAM
};

/// How far predictions of a unit are off, as characterisation found: a share of
/// the prediction, or that many at least. Nine of ten actors lie within.
struct ErrorBar {
  double share = 0, least = 0;
  double of(double predicted) const {
    return std::max(share * predicted, least);
  }
};

/// LUTs of every term, by unit.
struct CostModel {
  struct Unit {
    Terms lut{};
    ErrorBar lutError, ffError;
  };
  std::array<Unit, kUnitNames.size()> units;
  /// The model whose every term is one LUT: for tests, and where a family has
  /// not been characterised.
  static CostModel unit();
};
} // namespace rhizome::gen
