// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A network some of whose operations are split by channels.
#pragma once

#include "Explorer.h"
#include "Split.h"
#include "rhizome/Explore/Explore.h"

namespace rhizome::explore {
/// The splits with the full identities of their operations.
std::vector<Split> wholeIds(mlir::func::FuncOp network,
                            const std::vector<Split> &splits);

/// Whether one plan is better than another for a goal.
bool isBetter(const Result &a, const Result &b, const Goal &goal);
/// Takes the other plan if it is better, and erases the one that is not taken.
void keepBetter(Result &plan, Result other, const Goal &goal);

class Sharing {
public:
  Sharing(mlir::func::FuncOp network, const Goal &goal, const Cluster &cluster,
          const Steering &steering, Spent &spent);
  ~Sharing();
  /// The network as it is, before anything is split.
  Explorer &whole();
  /// What the solver promises with the splits that `run` takes.
  Prospect promise();
  /// What keeps it from less than that.
  Limit limitBelow(double seconds);
  /// As Explorer's.
  mlir::FailureOr<Result> run(double below = INFINITY);

private:
  /// Operations of a network, by their index in its body, and the number of
  /// parts of each.
  using Parts = std::map<size_t, int>;
  struct Variant;
  using Handle = std::unique_ptr<Variant>;
  mlir::func::FuncOp network;
  const Goal &goal;
  const Cluster &cluster;
  const Steering &steering;
  Spent &spent;
  OfferCache cache;
  std::vector<mlir::Operation *> ops; ///< of the network
  Handle unsplit;                     ///< if it is known
  Handle chosen;                      ///< the splits that `run` takes, if known

  Handle variant(const Parts &parts);
  /// The network's operation that a variant's operation is, or is a part of, if
  /// it may be split.
  std::optional<size_t> originOf(const Variant &v, int stage) const;
  int64_t devices() const {
    return std::min<int64_t>(goal.maxNodes, int64_t(cluster.places.size()));
  }
  std::optional<int> more(size_t at, int parts, double factor) const;
  void choose();
  Handle necessary();
  Handle climb(Handle best);
  bool mayGain(const Prospect &prospect, const Problem &problem) const;
  std::vector<Split> splitsOf(const Parts &parts) const;
};
} // namespace rhizome::explore
