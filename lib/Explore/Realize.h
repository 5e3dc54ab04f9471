// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From a solution's numbers to functions, designs, and their resources.
#pragma once

#include "Menu.h"

namespace rhizome::explore {
/// A network's problem in every order.
struct Posed {
  mlir::func::FuncOp network;
  const Cluster &cluster;
  const Steering &steering;
  Menu menu;
  std::vector<std::vector<int>> orders;
  std::vector<Problem> problems;
  llvm::SmallVector<mlir::Value> values; ///< values that cross between nodes

  Posed(mlir::func::FuncOp network, const Cluster &cluster,
        const Steering &steering, OfferCache &cache);
  Posed(mlir::func::FuncOp, const Cluster &, const Steering &&,
        OfferCache &) = delete; ///< it keeps a reference
  /// Enters in `result.others` what other generators offer for a node's
  /// operations at its rate.
  void addOffers(const NodeResult &node, Result &result) const;
};

/// A solution of one of the orders.
struct Proposal {
  size_t order = 0;
  Solution solution;
};

/// How much a proposal is worth.
struct Trial {
  /// Leaves the buffers of nodes that do not fit at the depths that the first
  /// frames need.
  bool isFirst = false;
  bool waits = false; ///< designs are expected to wait for memories
  /// A node whose frames have more firings is left as it is before any run, or,
  /// if none went before, as soon as its run shows that it does not fit: no
  /// other plan will be tried that could learn from it.
  int64_t mostFirings = std::numeric_limits<int64_t>::max();
  bool hasRun = false;
  /// Moves FIFOs to a memory also where only a die lacks blocks: another layout
  /// may do without.
  bool spillsDies = true;
};
/// Builds functions and designs, without timing, which takes the most time.
/// Endpoints are part of every node's resources, for the proposal's rate.
mlir::FailureOr<Result> realize(Posed &posed, const Proposal &proposal,
                                const Trial &trial = {});
/// The same without running the event simulator, for a plan that only shows by
/// how much it does not fit: buffers are minimal, a frame takes
/// the time of its slowest operation, and there is no latency.
mlir::FailureOr<Result> outline(Posed &posed, const Proposal &proposal);
/// Gives the result of `realize` the timing of `outline`.
void outlineTiming(Posed &posed, const Proposal &proposal, Result &result);
/// Predicts the timing of the result of `realize`: rate, latency, bottleneck,
/// and endpoints for this rate.
mlir::LogicalResult addTiming(Posed &posed, const Proposal &proposal,
                              Result &result);
/// Whether a node fits its place, and what lies on each die fits there, if the
/// prediction has its maximum error.
bool fitsPlace(const NodeResult &node, const Place &place, const Kind &kind);
/// Enters in the problems what nodes that exceed their budget took beyond the
/// proposal's estimate; false if that explains none of them.
bool learn(Posed &posed, const Proposal &proposal, Result &result);
/// The same plan with its parts on other dies, by what was learned from it;
/// none if it does not fit the device as a whole or no layout is found.
std::optional<Proposal> laidOutAgain(const Posed &posed,
                                     const Proposal &proposal,
                                     const Result &result,
                                     const Limits &limits);
/// Removes what learn() has entered.
void forget(Posed &posed);

/// Numbers the values that cross between nodes in the nodes' order, so that
/// rejected trials leave no trace.
void renumberValues(Result &result);

/// Removes a result's functions and designs from the module.
void erase(Result &result);
} // namespace rhizome::explore
