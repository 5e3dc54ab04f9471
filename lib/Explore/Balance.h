// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A run for a given budget, found by prices that follow what is scarce in it.
#pragma once

#include "Runs.h"

namespace rhizome::explore {
/// A run [begin, end) of one kind of device, within one interval. It takes no
/// shared units.
class BalancedRun {
public:
  BalancedRun(const Problem &problem, const Limits &limits, const RunGlue &glue,
              int end, int64_t interval, const Ends &ends);
  /// A run that fits the place's budget at this rate; none if none is found.
  std::optional<Run> within(const Place &place, const gen::Resources &budget);

private:
  using Prices = std::array<double, gen::kResources>;
  /// A choice for each stage.
  using Path = std::vector<int>;
  /// Choices that differ only in cost.
  using Alike = std::vector<int>;

  const Problem &problem;
  const Limits &limits;
  const RunGlue glue;
  const int begin, end;
  const Ends &ends;
  std::vector<std::vector<Alike>> options; ///< by stage
  Cost fixed; ///< what every path takes besides its choices and their glue

  const Choice &choiceOf(int stage, int choice) const {
    return problem.kinds[glue.kind].choices[stage][choice];
  }
  std::vector<std::pair<double, int>> cheapestAt(int stage,
                                                 const Prices &prices) const;
  std::optional<std::pair<Path, double>> cheapest(const Prices &prices) const;
  Cost costOf(const Path &path) const;
  gen::Resources needOf(const Cost &cost) const;
  /// A path that fits as a run, on the dies of a place that has several.
  std::optional<Run> runOf(const Path &path, const Place &place) const;
  std::vector<gen::Resources> sumsOf(const Path &path) const;
  std::optional<Run> mixed(const std::vector<Path> &paths, const Place &place,
                           const gen::Resources &budget) const;
};
} // namespace rhizome::explore
