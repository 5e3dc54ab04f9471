// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Prices of computing units, kept from one exploration of a network to the
// next: of what these differ in, only the price of blocks changes a unit, and
// only where that moves one of its ROMs.
#pragma once

#include "rhizome/Generator/PriceList.h"

namespace rhizome::gen::stream {
/// The price of a unit, and for which prices of blocks it holds.
struct KnownUnit {
  std::array<double, 8> amounts{}; ///< on chip, then the errors of LUTs and FFs
  std::array<RomChoice, 2> roms;
  int8_t romCount = -1; ///< −1: nothing is known
  std::array<bool, 2> isBlock{};
  bool usesBlocks = false; ///< for its weights

  KnownUnit() = default;
  explicit KnownUnit(const PriceList::Price &price);
  PriceList::Price price() const;
  /// With its ROMs where this price puts them.
  void keep(const RomChoices &choices, double lutsOfABlock);
  bool holds(double lutsOfABlock) const;
};

namespace KnownUnits {
/// Those of an operation, by the home of its weights, then by folding and
/// style.
struct Table {
  std::array<std::vector<KnownUnit>, 3> byHome;
};
/// The table for operations that are equal for a device, empty if there is
/// none; nobody else has it until it is put back. Those that were put back
/// first are forgotten if there are many.
Table take(mlir::Operation *op, const DeviceContext &device);
void put(mlir::Operation *op, const DeviceContext &device, Table table);
} // namespace KnownUnits
} // namespace rhizome::gen::stream
