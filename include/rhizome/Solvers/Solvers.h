// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Solvers for the problems of Problem.h: as soon as possible, with and without
// chaining; difference constraints; lists for shared resources; modulo
// scheduling; and exact, by integer programming, if that is fast. All
// give the same schedule for the same problem, independent of time.
#pragma once

#include "rhizome/Solvers/Problem.h"

namespace rhizome::schedule {
/// x[to] − x[from] ≥ least.
struct Difference {
  int from = 0, to = 0;
  int64_t least = 0;
};
/// The least x ≥ 0 that satisfies all constraints (Bellman-Ford), or nothing if
/// there is none: then a cycle adds up to more than 0.
std::optional<std::vector<int64_t>>
solveDifferences(int count, const std::vector<Difference> &differences);
/// The constraints of a problem's dependences at an interval.
std::vector<Difference> differencesOf(const Problem &problem,
                                      int64_t interval = 0);

/// As soon as possible. Nothing if dependences without distance form a cycle.
std::optional<Schedule> scheduleAsap(const Problem &problem);

/// As late as possible without starting later than `last` allows: every
/// operation's latest start such that all results are available by the cycle
/// `last`. Nothing if there is a cycle, or if `last` is too early.
std::optional<Schedule> scheduleAlap(const Problem &problem, int64_t last);

/// The position of a signal in its cycle when it leaves an operation, by a
/// model of a technology in which that depends on more than the operation
/// itself.
class ChainModel {
public:
  virtual ~ChainModel() = default;
  /// The cycle in which the last operand of `op` starts, 0 if it has
  /// none.
  virtual int64_t earliest(int op, const std::vector<int64_t> &start) = 0;
  /// Places `op` in the cycle `start`, once all its operands are placed, and
  /// returns where its result and the latest of its operands in that cycle are.
  /// May be called again for the same operation with a later cycle.
  struct Arrival {
    int64_t before = 0, after = 0;
  };
  virtual Arrival place(int op, int64_t start) = 0;
};

/// As soon as possible with logic chained up to `period` by the model, which
/// knows the operands of each of `count` operations without latency, so that
/// large circuits need no second form. They are in a topological order. An
/// operation that is longer than the period by itself follows a register,
/// alone except for operations that take no time.
Schedule scheduleChained(int count, ChainModel &model, int64_t period);
/// Why this is not such a schedule, or nothing. The model must be a fresh one.
std::optional<std::string> verifyChained(const Problem &problem,
                                         ChainModel &model, int64_t period,
                                         const Schedule &schedule);

/// As soon as possible with logic chained by the problem's own delays. Nothing
/// if there is a cycle, or an operation does not fit the period by itself.
std::optional<Schedule> scheduleChained(const ChainedProblem &problem);

/// Dependences that keep chains within the period: if a path of logic is
/// too long, its end waits a cycle. With them, any solver's schedule meets the
/// period. Nothing if an operation by itself does not fit it.
std::optional<std::vector<Dependence>>
chainBreaks(const ChainedProblem &problem);

/// A list schedule: an operation that is ready and finds its resources starts;
/// the one with the longest path to the end is first. Nothing as for
/// scheduleAsap.
std::optional<Schedule> scheduleList(const SharedProblem &problem);

/// The least interval that the dependences allow, and that the resources allow.
/// Nothing if no interval is sufficient.
std::optional<int64_t> recurrenceInterval(const CyclicProblem &problem);
int64_t resourceInterval(const SharedProblem &problem);

/// The limits of a search.
struct Effort {
  /// Placements for each operation at one interval of the heuristic.
  int64_t placements = 12;
  /// Total number of nodes of the integer program's search.
  int64_t nodes = 2000;
  /// Integer programs with more variables are not tried.
  int64_t variables = 4000;
};

/// Iterative modulo scheduling (Rau, MICRO 27, 1994): for rising intervals,
/// operations by height; one that finds no slot evicts those in its way.
/// Always ends with a schedule if the dependences allow any, at the length of
/// one iteration at the latest. With a period, chains are broken first.
std::optional<Schedule> scheduleModulo(const LoopProblem &problem,
                                       const Effort &effort = {});

/// The result of the exact solver.
struct Exact {
  std::optional<Schedule> schedule; ///< the best known
  /// Whether it is proved that none has a smaller interval (of a loop) or
  /// length.
  bool isProved = false;
};
/// The least interval and, at that, a short length, by integer programs
/// (Eichenberger and Davidson, PLDI 1997) in GLPK between the bounds of
/// dependences and resources and the heuristic's interval. If it would take
/// more than the effort allows, the result is the heuristic's schedule without
/// a proof.
Exact scheduleExactly(const LoopProblem &problem, const Effort &effort = {});
/// The least length without overlapped iterations.
Exact scheduleExactly(const SharedProblem &problem, const Effort &effort = {});
} // namespace rhizome::schedule
