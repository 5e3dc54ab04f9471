// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One operation too big for a device becomes several, each with some of the
// output channels, and a concatenation: in osa, so that the interpreter says
// what it computes.
#pragma once

#include "rhizome/Explore/Explore.h"

namespace rhizome::explore {
/// Can `op`'s output channels be shared out?
bool isSplittable(mlir::Operation *op, int parts);

/// Replaces `op` by `parts` operations with as equal shares of the output
/// channels as can be, each followed by its share of the elementwise operations
/// that alone read `op`, and joined one after the other by osa.concat. Returns
/// the parts of `op` itself.
llvm::SmallVector<mlir::Operation *> splitChannels(mlir::Operation *op,
                                                   int parts);

/// The network with the splits that a user or a plan asks for, or itself if
/// there are none. All are found before any is made, in the network as the
/// model has it; what names no operation is entered in `refused`.
mlir::func::FuncOp splitAs(mlir::func::FuncOp network,
                           const std::vector<Split> &splits, Refusals &refused);
/// What makes memories of one kind or another: ROMs are placed as if a block
/// were worth so many LUTs, and weights may lie in memories that are filled
/// when the design starts.
struct MemoryPrices {
  double lutsOfABlock = gen::CostContext::kUsualLutsOfABlock;
  gen::Residents residents = gen::Residents::None;
};
Cluster priced(Cluster cluster, const MemoryPrices &prices);
} // namespace rhizome::explore
