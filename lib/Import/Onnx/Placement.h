// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Whether a node becomes part of the network, a constant, or the host's, or is
// refused: the one place that decides it.
#pragma once

#include "Operations.h"
#include "Values.h"

namespace rhizome::importer {
/// Where a node may be built.
enum class Sides { Network, NetworkOrHost };

/// Builds a node where it can be. Its results enter the state; if it is
/// refused, they are placeholders, so that one run finds everything that is to
/// be refused, and the reasons are appended to `refusals`.
void importNode(ImportState &state, const Node &file, Sides sides,
                Refusals &refusals);

/// Imports the node `first` of the graph, with those of the same expansion: as
/// part of the network if all can be, else the operation as the file has it on
/// the host, else part by part. The number of the next node.
size_t importExpansion(ImportState &state, size_t first);

//===----------------------------------------------------------------------===//
// What is judged before a node is read (Judge.cpp)
//===----------------------------------------------------------------------===//

/// Refuses operations that can be built on none of these sides.
bool isSupported(Place &place, const Node &file, const OnnxOperation *operation,
                 Sides sides);
/// Refuses attributes that the operation has not, or of another kind.
bool checkAttributes(NodeContext &node, const OnnxOperation &operation,
                     bool onHost);
/// The same, of a node that could be built on either side.
void judgeAttributes(NodeContext &node, const OnnxOperation &operation,
                     Sides sides);

//===----------------------------------------------------------------------===//
// Integers that the network carries as reals (Whole.cpp)
//===----------------------------------------------------------------------===//

/// Refuses integers that the operation is not defined for, and makes integer
/// constants beside a tensor of whole numbers real, exactly.
llvm::LogicalResult prepareWhole(NodeContext &node,
                                 const OnnxOperation &operation);
/// Says which results hold whole numbers, for what the inputs hold.
void propagateWhole(NodeContext &node, const OnnxOperation &operation);
} // namespace rhizome::importer
