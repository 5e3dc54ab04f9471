// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs of stages on one kind of device at one rate, with their costs, by
// labels. Nothing here depends on budgets or on the number of places, so more
// of either can only add plans.
#pragma once

#include "rhizome/Explore/Solver/Problem.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include <array>
#include <map>
#include <tuple>

namespace rhizome::explore {
/// Weights of resources, relative to a device's capacity. The best label under
/// each of them is always followed.
constexpr size_t kPrices = 11;
extern const std::array<std::array<double, gen::kResources>, kPrices>
    kPriceTable;

/// `cost` under each weighting; the first weights all equally.
std::array<double, kPrices> pricesOf(const gen::Resources &cost,
                                     const gen::Resources &capacity);
/// The first of these.
double priceOf(const gen::Resources &cost, const gen::Resources &capacity);

/// The choices of every stage that are fast enough and worth following, cached
/// by kind, interval and stage.
class Candidates {
public:
  Candidates(const Problem &problem, const Limits &limits)
      : problem(problem), limits(limits) {}
  const std::vector<int> &of(int kind, int64_t interval, int stage);
  bool isExact() const { return exact; }

private:
  const Problem &problem;
  const Limits &limits;
  bool exact = true;
  std::map<std::tuple<int, int64_t, int>, std::vector<int>> known;
};

/// What is between the choices of a run.
struct RunGlue {
  /// The choice for a stage of the run that has one.
  using Chosen = llvm::function_ref<const Choice &(int stage)>;
  const Problem &problem;
  int kind, begin;
  int64_t streamBits;

  /// Adds converters and borders before a stage with this choice, and the fork
  /// after it.
  void add(Cost &sum, int stage, const Choice &choice, Chosen chosen) const;
  /// What is at the borders of a run up to `end`, without the link's endpoint.
  Cost closing(int end, const Ends &ends, Chosen chosen) const;
};

/// All runs that begin at one stage, of one kind, within one interval.
class RunFront {
public:
  /// A shared unit of a run: the newest of its kind.
  struct Busy {
    int unit, instance;
    int64_t cycles;
  };
  /// A partial run: the choices so far as a chain of labels.
  struct Label {
    Cost cost;
    double price = 0;
    int choice = 0, parent = -1;
    int instance = 0; ///< of the shared unit that the choice takes
    /// Cycles for which the shared units are busy so far.
    llvm::SmallVector<Busy, 0> busy = {};
  };

  RunFront(const Problem &problem, const Limits &limits, Candidates &candidates,
           int kind, int64_t streamBits, int begin, int64_t interval);

  /// The run [begin, end) that costs least and fits the place's budget
  /// at this rate; none if none does. `ends` pass the place.
  std::optional<Run> best(int end, const Place &place,
                          const gen::Resources &budget, const Ends &ends);
  /// Whether all runs up to `end` exceed every budget. They are the same in
  /// every call.
  bool exceeds(int end, const std::vector<gen::Resources> &budgets);
  bool isExact() const { return exact; }

private:
  const Problem &problem;
  const Limits &limits;
  Candidates &candidates;
  RunGlue glue;
  int kind, begin;
  int64_t streamBits, interval;
  gen::Resources most;     ///< maximum of places of this kind
  gen::Resources capacity; ///< the base of prices
  bool exact = true;
  std::vector<std::vector<Label>> levels;  ///< [0] are runs of one stage
  std::vector<std::optional<bool>> beyond; ///< by level: what `exceeds` said

  void extend();
  /// Takes the choice's unit, or pays for a new one.
  void takeUnit(Label &label, const Choice &choice) const;
  const Choice &choiceAt(int level, int label, int stage) const;
  void prune(std::vector<Label> &labels, int stage);
  /// The dies of a run's stages on a place with several.
  std::optional<std::vector<int>> layOutOn(const Place &place, int level,
                                           int label, const Ends &ends,
                                           const Cost &atBorder) const;
};

/// Tensors that enter or leave [begin, end).
Ends crossingOf(const Problem &problem, int begin, int end);

/// Seconds for which a frame occupies the host's link, in the busier direction.
double hostSeconds(const Problem &problem);

/// Whether they enter and leave in `seconds` over the place's border and link.
bool passes(const Problem &problem, const Ends &ends, const Place &place,
            double seconds);

/// Whether `cost` fits `budget`.
bool fits(const Cost &cost, const gen::Resources &budget, const Limits &limits);
} // namespace rhizome::explore
