// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The offers of generators, cached by what they depend on: equal operations
// occur in many variants of a network, and networks repeat shapes.
#pragma once

#include "rhizome/Generator/Generator.h"
#include <map>

namespace rhizome::gen {
class OfferCache {
public:
  using Upstream = std::vector<std::optional<BeatFormat>>;
  /// Which of one generator's offers are worth keeping.
  using Choose =
      llvm::function_ref<std::vector<int>(const std::vector<Offer> &)>;

  /// Every generator's offers for a region; their addresses are stable. Those
  /// that were prepared are sketches until somebody completes them.
  std::vector<Offer> &of(const Region &region, const Upstream &upstream,
                         const DeviceContext &device);
  /// Asks generators about operations that are not in the cache, with no
  /// upstream formats, on all threads.
  void prepare(llvm::ArrayRef<mlir::Operation *> ops,
               const DeviceContext &device, Choose choose);
  /// Prepares generators for operations that depend on upstream formats, on all
  /// threads.
  void prepare(llvm::ArrayRef<mlir::Operation *> ops,
               const DeviceContext &device);

private:
  /// Everything that a region's offers depend on except the upstream formats:
  /// names, attributes, types and constants, which are all unique in the
  /// context.
  using Key = std::vector<const void *>;
  static Key keyOf(const Region &region, const DeviceContext &device);

  std::map<Key, std::map<std::vector<int64_t>, std::vector<Offer>>> known;
};

/// Sketches of what each generator offers for each of these operations, or the
/// part that `take` leaves, with no upstream formats; by operation, then by
/// generator.
/// All threads ask; equal dependences are queried only once.
std::vector<std::vector<std::vector<Offer>>>
offersFor(llvm::ArrayRef<mlir::Operation *> ops, const DeviceContext &device,
          llvm::function_ref<void(std::vector<Offer> &)> take);
} // namespace rhizome::gen
