// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How many groups of elements a system is measured with, and predicted.
#pragma once

#include "rhizome/Package/PlannedKernel.h"
#include <algorithm>

namespace rhizome {
/// The cycles from an element to the next one in a unit that waits for no
/// memory.
inline int64_t cyclesOf(const PlannedKernel &unit) {
  return unit.isDataflow
             ? std::max({unit.readCycles, unit.computeCycles, unit.writeCycles})
             : unit.readCycles + unit.computeCycles + unit.writeCycles;
}

/// Groups of a unit with so many cycles from one to the next, in whose second
/// half distances are settled and refreshes of the memory are so many that one
/// more or less changes the mean by some thousandths. Where units share a bank,
/// distances grow as long as what was read ahead is used up, so that a
/// prediction and its measurement need the same number.
inline int64_t measuredGroups(const PlannedSystem &system, int64_t cycles,
                              int64_t refreshEvery) {
  constexpr int64_t kRefreshes = 12, kMost = 16384, kMostBytes = 1 << 27;
  int64_t most = kMost;
  for (const PlannedMover &port : system.ports)
    most = std::min(most, kMostBytes / std::max<int64_t>(1, port.groupBytes));
  const int64_t refreshed =
      2 * kRefreshes * refreshEvery / std::max<int64_t>(1, cycles);
  return std::max(system.settledGroups(), std::min(most, refreshed));
}
} // namespace rhizome
