// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From a solution's numbers to functions, designs, and what they take.
#pragma once

#include "Menu.h"

namespace rhizome::explore {
/// A network's problem in every order that is tried.
struct Posed {
  mlir::func::FuncOp network;
  const Cluster &cluster;
  Menu menu;
  std::vector<std::vector<int>> orders;
  std::vector<Problem> problems;
  llvm::SmallVector<mlir::Value> values; ///< that cross between nodes

  Posed(mlir::func::FuncOp network, const Cluster &cluster,
        const Steering &steering, OfferCache &cache);
  /// Enters in `result.others` what other generators offered for a node's
  /// operations at its rate.
  void addOffers(const NodeResult &node, Result &result) const;
};

/// A solution of one of the orders.
struct Proposal {
  size_t order = 0;
  Solution solution;
};

/// Builds functions and designs, without timing: that takes the most time.
/// Endpoints are part of every node's resources, for the proposal's rate.
mlir::FailureOr<Result> realize(Posed &posed, const Proposal &proposal);
/// The same without a run of the event simulator, for a plan that only says by
/// how much it does not fit: buffers are as small as they can be, a frame takes
/// what its slowest operation does, and there is no latency.
mlir::FailureOr<Result> outline(Posed &posed, const Proposal &proposal);
/// Predicts the timing of what `realize` has built: rate, latency, bottleneck,
/// and endpoints for this rate.
mlir::LogicalResult addTiming(Posed &posed, const Proposal &proposal,
                              Result &result);
/// Enters in the problems what nodes that exceed their budget took beyond the
/// proposal's account; false if that explains none of them.
bool learn(Posed &posed, const Proposal &proposal, Result &result);
/// Takes out what learn() has entered.
void forget(Posed &posed);

/// Numbers the values that cross between nodes in the nodes' order, so that
/// nothing of what else was tried shows.
void renumberValues(Result &result);

/// Removes a result's functions and designs from the module.
void erase(Result &result);
} // namespace rhizome::explore
