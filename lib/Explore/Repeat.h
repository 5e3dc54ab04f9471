// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Chains of equal blocks of a network, and the network in which each chain is
// one body that a frame passes several times (flow.enter).
#pragma once

#include "rhizome/Explore/Explore.h"

namespace rhizome::explore {
/// The chains of blocks that could be bodies, none of which has an operation of
/// another one. Blocks have the same operations on tensors of the same shapes
/// and signs, and depend on nothing but the block before.
std::vector<Repeat> findRepeats(mlir::func::FuncOp network);

/// A copy of the network with these bodies, or itself if there are none. What
/// cannot be one is entered in `refused`. Next to it is a function with all
/// blocks, to which the operations of bodies refer.
mlir::func::FuncOp foldAs(mlir::func::FuncOp network,
                          const std::vector<Repeat> &repeats,
                          Refusals &refused);
/// The network with these splits, and then with these bodies; itself if there
/// are none or they are refused. Blocks of one trip stay apart.
mlir::func::FuncOp alteredAs(mlir::func::FuncOp network,
                             const std::vector<Split> &splits,
                             const std::vector<Repeat> &repeats,
                             Refusals &refused);
/// Erases such a copy, and what is next to it.
void eraseFolded(mlir::func::FuncOp copy);
/// The repeats with the full identities of their first operations.
std::vector<Repeat> wholeIds(mlir::func::FuncOp network,
                             const std::vector<Repeat> &repeats);
} // namespace rhizome::explore
