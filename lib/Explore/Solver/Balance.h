// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A run for a given budget, found by prices that follow what is scarce in it.
#pragma once

#include "rhizome/Explore/Solver/Runs.h"

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
  /// A stage's choices, those that differ only in cost next to each other, and
  /// their costs by resource: what all of them cost at some prices is asked
  /// again and again.
  struct Options {
    std::vector<int> choices;
    std::vector<size_t> ends; ///< of each group of choices that are alike
    /// Of each resource that any of them takes.
    std::vector<std::pair<size_t, std::vector<double>>> amounts;

    Options(const std::vector<Choice> &all, int64_t interval);
    std::vector<double> pricesAt(const Prices &prices) const;
  };

  const Problem &problem;
  const Limits &limits;
  const RunGlue glue;
  const int begin, end;
  const Ends &ends;
  std::vector<Options> options; ///< by stage
  gen::Resources beyond;        ///< of all stages, see Kind
  Cost endpoint;                ///< of the link, if there is one

  const Choice &choiceOf(int stage, int choice) const {
    return problem.kinds[glue.kind].choices[stage][choice];
  }
  /// What stages may use: one budget, or one for each die if it is known which
  /// stage lies on which.
  struct Rooms {
    std::vector<gen::Resources> budgets;
    std::vector<int> dies; ///< by stage; empty with one budget
    int of(int stage) const { return dies.empty() ? 0 : dies[stage]; }
  };
  std::vector<std::pair<double, int>> cheapestAt(int stage,
                                                 const Prices &prices) const;
  /// The cheapest path at the prices of each room.
  std::optional<std::pair<Path, double>>
  cheapest(const std::vector<Prices> &prices, const Rooms &rooms) const;
  Cost costOf(const Path &path) const;
  /// What a path needs of each room.
  std::vector<gen::Resources> needsOf(const Path &path, const Rooms &rooms,
                                      const Place &place) const;
  gen::Resources needOf(const Cost &cost) const;
  Run runOf(const Path &path) const;
  struct Fitting {
    std::optional<Run> run;
    Path nearest; ///< without a run: what lacks little, if anything was found
  };
  /// The first path that fits as a run, among those that are cheapest at prices
  /// which follow what is scarce.
  Fitting fitted(const Place &place, const Rooms &rooms) const;
  /// Where the stages of dies lack something, other choices for them.
  std::optional<Run> fittedOnDies(const Place &place, std::vector<int> dies,
                                  const gen::Resources &budget) const;
  using Shares = std::vector<std::vector<double>>;
  class Scarcity;
  Shares sharesOf(const Path &path, const Rooms &rooms,
                  const Scarcity &scarcity) const;
  std::pair<Path, double> spliced(const std::vector<Path> &paths,
                                  const Rooms &rooms, const Scarcity &scarcity,
                                  const Place &place) const;
  /// A path as a run, on the dies of a place that has several. `dies` is where
  /// it was laid out, whether that fits or not.
  std::optional<Run> laidOut(const Path &path, const Place &place,
                             const Rooms &rooms, std::vector<int> &dies) const;
};
} // namespace rhizome::explore
