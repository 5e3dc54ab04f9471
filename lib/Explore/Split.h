// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Splits an operation that is too large for a device into several, each with
// some of the output channels, and a concatenation: in osa, so that the
// interpreter defines the result.
#pragma once

#include "rhizome/Explore/Explore.h"

namespace rhizome::explore {
/// Whether `op`'s output channels can be split.
bool isSplittable(mlir::Operation *op, int parts);

/// Replaces `op` by `parts` operations with nearly equal shares of the output
/// channels, each followed by its share of the elementwise operations
/// that only read `op`, and joined one after the other by osa.concat. Returns
/// the parts of `op` itself.
llvm::SmallVector<mlir::Operation *> splitChannels(mlir::Operation *op,
                                                   int parts);

/// The network with the splits requested by a user or a plan, or itself if
/// there are none. All are looked up before any is made, in the model's
/// network; names without an operation are entered in `refused`.
mlir::func::FuncOp splitAs(mlir::func::FuncOp network,
                           const std::vector<Split> &splits, Refusals &refused);
/// Settings for the kinds of memories: ROMs are placed as if a block
/// were worth this many LUTs, and weights may be in memories that are filled
/// when the design starts, or off chip, then read once for up to `batch`
/// frames. Rows of frames may be in UltraRAM.
struct MemoryPrices {
  double lutsOfABlock = gen::CostContext::kUsualLutsOfABlock;
  gen::Residents residents = gen::Residents::None;
  gen::Streaming streaming = gen::Streaming::None;
  int64_t batch = 1;
  gen::UltraRows ultraRows = gen::UltraRows::None;
  bool operator==(const MemoryPrices &) const = default;
};
Cluster priced(Cluster cluster, const MemoryPrices &prices);
} // namespace rhizome::explore
