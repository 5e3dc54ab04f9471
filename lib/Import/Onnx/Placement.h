// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Decides whether a node becomes part of the network, a constant, or a host
// operation, or is refused; the only place that decides it.
#pragma once

#include "Operations.h"
#include "Values.h"

namespace rhizome::importer {
/// Where a node may be built.
enum class Sides { Network, NetworkOrHost };

/// Builds a node where possible. Its results enter the state; if it is
/// refused, they are placeholders, so that one run finds all
/// refusals, and the reasons are appended to `refusals`.
void importNode(ImportState &state, const Node &file, Sides sides,
                Refusals &refusals);

/// The same for a node whose inputs have no bounds (Bounds.h).
void importPlain(ImportState &state, const Node &file, Sides sides,
                 Refusals &refusals);
/// Placeholders for a refused node's results, of known shape where the file or
/// the operation says it.
void giveUnknown(NodeContext &node);

/// Imports the node `first` of the graph, with those of the same expansion: as
/// part of the network if all can be, otherwise the original operation on
/// the host, otherwise part by part. Returns the index of the next node.
size_t importExpansion(ImportState &state, size_t first);

//===----------------------------------------------------------------------===//
// Checks before a node is read (Judge.cpp)
//===----------------------------------------------------------------------===//

/// Refuses operations that cannot be built on any of these sides.
bool isSupported(Place &place, const Node &file, const OnnxOperation *operation,
                 Sides sides);
/// Refuses unknown attributes of the operation, or attributes of another kind.
bool checkAttributes(NodeContext &node, const OnnxOperation &operation,
                     bool onHost);
/// The same, for a node that could be built on either side.
void judgeAttributes(NodeContext &node, const OnnxOperation &operation,
                     Sides sides);

//===----------------------------------------------------------------------===//
// Integers that the network represents as reals (Whole.cpp)
//===----------------------------------------------------------------------===//

/// Refuses integers for which the operation is not defined, and makes integer
/// constants used with a tensor of whole numbers real, exactly.
llvm::LogicalResult prepareWhole(NodeContext &node,
                                 const OnnxOperation &operation);
/// Marks the results that are whole numbers, given the inputs; refuses those
/// that may not fit their type.
llvm::LogicalResult propagateWhole(NodeContext &node,
                                   const OnnxOperation &operation);
} // namespace rhizome::importer
