// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What generators offer, kept by what it depends on: equal operations stand in
// many variants of a network, and networks repeat shapes.
#pragma once

#include "rhizome/Generator/Generator.h"
#include <map>

namespace rhizome::gen {
class OfferCache {
public:
  using Upstream = std::vector<std::optional<Format>>;
  /// Which of one generator's offers are worth keeping.
  using Choose =
      llvm::function_ref<std::vector<int>(const std::vector<Offer> &)>;

  /// Every generator's offers for a region, which stay where they are.
  const std::vector<Offer> &of(const Region &region, const Upstream &upstream,
                               const DeviceContext &device);
  /// Asks generators about operations that are not known yet, with nothing from
  /// upstream, on all threads.
  void prepare(llvm::ArrayRef<mlir::Operation *> ops,
               const DeviceContext &device, Choose choose);

private:
  /// All that a region's offers depend on but what comes from upstream: names,
  /// attributes, types and constants, all of which the context holds once.
  using Key = std::vector<const void *>;
  static Key keyOf(const Region &region, const DeviceContext &device);

  std::map<Key, std::map<std::vector<int64_t>, std::vector<Offer>>> known;
};

/// What each generator offers for each of these operations, or as much of it as
/// `take` leaves, with nothing from upstream; by operation, then by generator.
/// All threads ask; what depends on the same is asked for once.
std::vector<std::vector<std::vector<Offer>>>
offersFor(llvm::ArrayRef<mlir::Operation *> ops, const DeviceContext &device,
          llvm::function_ref<void(std::vector<Offer> &)> take);
} // namespace rhizome::gen
