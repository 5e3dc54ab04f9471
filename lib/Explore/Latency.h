// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How long a single request takes through built nodes and their links.
#pragma once

#include "Realize.h"

namespace rhizome::explore {
/// A node as a request meets it; of replicas the first.
struct RequestNode {
  const NodeResult &node;
  Place place; ///< with the streams that the node has
  const Ends &ends;
};

/// Seconds from a request's first bit at the host to its answer's last one
/// there, the whole being empty before. Operands' nodes come first.
mlir::FailureOr<double> latencyOf(const Posed &posed, const Problem &problem,
                                  llvm::ArrayRef<RequestNode> nodes);
} // namespace rhizome::explore
