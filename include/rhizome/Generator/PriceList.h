// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Offers for one region share units: each unit is finished and priced once.
#pragma once

#include "rhizome/Generator/Generator.h"
#include <unordered_map>

namespace rhizome::gen {
class PriceList {
public:
  explicit PriceList(const CostContext &context) : context(context) {}

  struct Price {
    Resources cost, error;
  };
  const CostContext &context;
  /// Places the actor's memories, sizes its buffer, and prices it. It has no
  /// contents yet.
  const Price &finish(Actor &actor);
  /// The same for a unit that no other offer has.
  static Price finishAlone(Actor &actor, const CostContext &context,
                           RomChoices *roms = nullptr);

private:
  /// A unit with its given parameters, and the finished one.
  struct Entry {
    Price price;
    const UnitModel *model = nullptr;
    llvm::SmallVector<int64_t, 24> given;
    llvm::SmallVector<int64_t, 2> placed; ///< for each of its memories
    int64_t depth = 0;
  };
  std::unordered_multimap<size_t, Entry> known; ///< by a hash of the key
};

/// Like finishOffer(), for offers without shared units that have all but their
/// last unit in common with others.
void finishOffer(Offer &offer, PriceList &prices);
} // namespace rhizome::gen
