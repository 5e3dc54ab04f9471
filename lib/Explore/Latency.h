// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The time that a single request takes through built nodes and their links.
#pragma once

#include "Realize.h"

namespace rhizome::explore {
/// A node on the path of a request; for replicas the first.
struct RequestNode {
  const NodeResult &node;
  Place place; ///< with the streams that the node has
  const Ends &ends;
};

/// Seconds from a request's first bit at the host to its result's last one
/// there, with everything empty before. Operands' nodes come first.
mlir::FailureOr<double> latencyOf(const Posed &posed, const Problem &problem,
                                  llvm::ArrayRef<RequestNode> nodes);
} // namespace rhizome::explore
