// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which die of a device holds which part of a run. Nothing here depends on
// stages or choices.
#pragma once

#include "rhizome/Explore/Solver/Problem.h"
#include <map>
#include <mutex>

namespace rhizome::explore {
/// Items that each lie on one die, and the streams between them.
struct Layout {
  struct Item {
    Cost cost;
    int die = -1; ///< where it must lie, -1 for any
  };
  static constexpr int kBorder = -1; ///< instead of an item: the border
  struct Stream {
    int from = kBorder;
    std::vector<int> to;
    int64_t wires = 0;
    Cost crossing; ///< on the die that receives, from each die to the next
  };
  std::vector<Item> items; ///< in the order in which frames pass them
  std::vector<Stream> streams;
  std::vector<gen::Resources> room; ///< of each die, in the order of their row
  int64_t wires = 0;                ///< between two neighbors
  int border = 0;                   ///< the die with the border
  double share = 1;                 ///< of every die that may be used
  bool errorBars = true;            ///< whether these count
  std::vector<int> first;           ///< dies to begin with, if not empty
};

/// The die of each item.
struct LaidOut {
  std::vector<int> dies;
  bool fits = false; ///< every die and all wires suffice
};

/// A layout that fits, with few wires, or else one in which little is missing.
/// Of few items all layouts are tried, so that more of anything never hurts; of
/// more, a search from several beginnings moves and swaps them as long as less
/// is missing; of more than 200 it only moves them.
LaidOut layOut(const Layout &layout);

/// Layouts that were searched for. A search for the least time asks for the
/// same ones again and again: in ResNet-50 on four devices of three dies, three
/// times of four. Layouts are known by 128 bits of a hash. Threads may share
/// one.
class Layouts {
public:
  LaidOut of(const Layout &layout);

private:
  std::mutex mutex;
  std::map<std::pair<uint64_t, uint64_t>, LaidOut> known;
};
} // namespace rhizome::explore
