// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Solvers of the problems of Problem.h: as soon as possible, with and without
// chaining; difference constraints; lists for shared resources; modulo
// scheduling; and exactly, by integer programming, where that is quick. All
// give the same schedule for the same problem; none looks at a clock.
#pragma once

#include "rhizome/Schedule/Problem.h"

namespace rhizome::schedule {
/// x[to] − x[from] ≥ least.
struct Difference {
  int from = 0, to = 0;
  int64_t least = 0;
};
/// The least x ≥ 0 that meets all constraints (Bellman-Ford), or nothing if
/// there is none: a cycle then adds up to more than 0.
std::optional<std::vector<int64_t>>
solveDifferences(int count, const std::vector<Difference> &differences);
/// The constraints of a problem's dependences at an interval.
std::vector<Difference> differencesOf(const Problem &problem,
                                      int64_t interval = 0);

/// As soon as possible. Nothing if dependences without distance form a cycle.
std::optional<Schedule> scheduleAsap(const Problem &problem);

/// As late as possible without starting later than `last` allows: every
/// operation's greatest start such that all results are there by the cycle
/// `last`. Nothing if there is a cycle, or if `last` is too early.
std::optional<Schedule> scheduleAlap(const Problem &problem, int64_t last);

/// How far the signal is in its cycle when it leaves an operation, by a model
/// of the technology in which that depends on more than the operation itself.
class ChainModel {
public:
  virtual ~ChainModel() = default;
  /// The cycle in which the last of what `op` reads starts, 0 if it reads
  /// nothing.
  virtual int64_t earliest(int op, const std::vector<int64_t> &start) = 0;
  /// Places `op` in the cycle `start`, once all that it reads is placed, and
  /// tells where its result and the latest of what it reads in that cycle are.
  /// May be called again for the same operation with a later cycle.
  struct Arrival {
    int64_t before = 0, behind = 0;
  };
  virtual Arrival place(int op, int64_t start) = 0;
};

/// As soon as possible with logic chained up to `period` by the model, which
/// alone knows what each of `count` operations without latency reads, so that
/// large circuits need no second form. They stand in a topological order. An
/// operation that is longer than the period by itself stands behind a register,
/// alone but for what takes no time.
Schedule scheduleChained(int count, ChainModel &model, int64_t period);
/// Why this is no such schedule, or nothing. The model must be a fresh one.
std::optional<std::string> verifyChained(const Problem &problem,
                                         ChainModel &model, int64_t period,
                                         const Schedule &schedule);

/// As soon as possible with logic chained by the problem's own delays. Nothing
/// if there is a cycle, or an operation does not fit the period by itself.
std::optional<Schedule> scheduleChained(const ChainedProblem &problem);

/// Dependences that keep chains within the period: wherever a path of logic is
/// too long, its end waits a cycle. With them any solver's schedule meets the
/// period. Nothing if an operation by itself does not fit it.
std::optional<std::vector<Dependence>>
chainBreaks(const ChainedProblem &problem);

/// A list schedule: whatever is ready and finds its resources starts, what has
/// the longest way to the end first. Nothing as for scheduleAsap.
std::optional<Schedule> scheduleList(const SharedProblem &problem);

/// The least interval that the dependences allow, and that the resources allow.
/// Nothing if no interval helps.
std::optional<int64_t> recurrenceInterval(const CyclicProblem &problem);
int64_t resourceInterval(const SharedProblem &problem);

/// What a search may spend.
struct Effort {
  /// Placements for each operation at one interval of the heuristic.
  int64_t placements = 12;
  /// Nodes of the integer program's search, in all.
  int64_t nodes = 2000;
  /// Integer programs with more variables are not tried.
  int64_t variables = 4000;
};

/// Iterative modulo scheduling (Rau, MICRO 27, 1994): for rising intervals,
/// operations by height; one that finds no place evicts those in its way.
/// Always ends with a schedule if the dependences allow any, at the length of
/// one iteration at the latest. With a period chains are broken first.
std::optional<Schedule> scheduleModulo(const LoopProblem &problem,
                                       const Effort &effort = {});

/// What the exact solver says.
struct Exact {
  std::optional<Schedule> schedule; ///< the best that is known
  /// That there is none with a smaller interval (of a loop) or length.
  bool isProved = false;
};
/// The least interval and, at that, a short length, by integer programs
/// (Eichenberger and Davidson, PLDI 1997) in GLPK between the bounds of
/// dependences and resources and the heuristic's interval. If it would take
/// more than the effort allows, the heuristic's schedule without a proof.
Exact scheduleExactly(const LoopProblem &problem, const Effort &effort = {});
/// The least length without overlapped iterations.
Exact scheduleExactly(const SharedProblem &problem, const Effort &effort = {});
} // namespace rhizome::schedule
