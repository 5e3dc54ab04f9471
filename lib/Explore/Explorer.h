// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Goals as searches over the solver, for one fixed network.
#pragma once

#include "Realize.h"
#include "rhizome/Explore/Solver/Layout.h"

namespace rhizome::explore {
/// The solver's prediction for a goal, before anything is built.
struct Prospect {
  bool meets = false;
  double seconds = INFINITY; ///< per frame; infinite if nothing fits
  int64_t nodes = 0;
};

/// What an exploration has taken so far, and what it knows from then.
struct Spent {
  int64_t firings = 0; ///< of the frames that were simulated to size plans
  std::shared_ptr<Layouts> layouts = std::make_shared<Layouts>();
};

/// That there is no plan of use: a result without nodes. No plan takes fewer
/// seconds per frame than `bound`.
Result noResult(double bound = INFINITY);

class Explorer {
public:
  Explorer(mlir::func::FuncOp network, const Cluster &cluster,
           const Steering &steering, OfferCache &cache, Spent &spent)
      : posed(network, cluster, steering, cache), spentInAll(spent) {
    for (Problem &problem : posed.problems)
      problem.layouts = spent.layouts;
  }

  Prospect prospect(const Goal &goal);
  /// Whether a single device may need less than that many seconds per frame.
  bool mayFallBelow(double seconds) {
    return std::isinf(seconds) || problem().places.size() > 1 ||
           within(seconds * (1 - 1e-6), {});
  }
  /// Whether the solver finds a plan for the goal that takes no more seconds
  /// per frame: one question instead of the search for the least time.
  bool isWithin(double seconds, const Goal &goal) {
    Limits limits;
    limits.maxNodes = goal.maxNodes;
    return within(seconds, limits).has_value();
  }
  /// Whether pins match nothing.
  bool isRefused() const { return !posed.menu.refused().empty(); }
  /// Why the solver finds no plan that takes less than that many seconds.
  Limit limitBelow(double seconds) { return limitAt(seconds * (1 - 1e-9), {}); }
  /// The best plan. For a rate, only one that takes fewer seconds per frame
  /// than `below` is of use: a result without nodes says that there is none.
  mlir::FailureOr<Result> run(const Goal &goal, double below = INFINITY);
  const Problem &problem() const { return posed.problems[0]; }
  /// The network's operation for a stage of that problem.
  mlir::Operation *operation(int stage) const {
    return posed.menu.operation(posed.orders[0][stage]);
  }

private:
  Posed posed;
  std::optional<Proposal> quickest; ///< of all devices, before anything is
                                    ///< learned
  bool isSolved = false;
  bool buildsNearest = false; ///< see Goal
  double below = INFINITY;    ///< only less is of use
  bool isBeaten = false;      ///< and nothing less is promised any more
  Spent &spentInAll;

  /// The best among all orders.
  std::optional<Proposal> fastest(const Limits &limits);
  std::optional<Proposal> within(double seconds, const Limits &limits);
  /// The plan without budgets, on the first place; none if something has no
  /// offer there.
  std::optional<Proposal> nearest();
  Limit limitAt(double seconds, const Limits &limits);
  bool holds(const Result &result) const;

  /// A proposal, built.
  struct Built {
    Proposal proposal;
    Result result;                       ///< without timing
    bool holds = false, isSized = false; ///< its frames were simulated
    int64_t firings = 0;                 ///< of a frame
  };
  /// The firings that are simulated in all to size plans; fewer where a plan
  /// stands already.
  int64_t mostFirings() const;
  /// Whether its frames are simulated: not those of a plan that does not fit
  /// and takes long.
  bool isTimed(const Built &built) const;
  using Propose = llvm::function_ref<std::optional<Proposal>(const Limits &)>;
  /// Builds proposals; if one exceeds a budget, records that and asks
  /// again. None if nothing was proposed, or nothing of use.
  mlir::FailureOr<std::optional<Built>> settle(Propose propose, Limits &limits);

  /// `taken` is what the result was built from, if it meets its goal.
  mlir::FailureOr<Result> realizeFastest(Limits limits,
                                         std::optional<Proposal> &taken);
  mlir::LogicalResult quicken(Proposal proposal, Result &result);
  mlir::FailureOr<Result> realizeWithin(double target, Limits limits);
  mlir::FailureOr<Result> realizeQuickest(const Goal &goal, Limits limits);
  void addOthers(Result &result);
};
} // namespace rhizome::explore
