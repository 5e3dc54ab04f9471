// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Shared by the solvers: orders, loops whose chains are broken, and tables of
// held resources.
#pragma once

#include "rhizome/Solvers/Solvers.h"

namespace rhizome::schedule {
/// The operations in an order in which operands without distance
/// precede their readers; the same for the same problem. Nothing if there is
/// none.
std::optional<std::vector<int>> topologicalOrder(const Problem &problem);

/// Additional cycles of a register between iterations.
int64_t registerWait(const ChainedProblem &problem, const Dependence &d);

/// The same loop without a period: its chains are broken by dependences.
std::optional<LoopProblem> withoutChains(const LoopProblem &problem);

/// Longest path from each operation's start to the end of its iteration.
std::vector<int64_t> heightsOf(const Problem &problem, int64_t interval);

/// Whether an operation can find its resources at all: alone, or while
/// overlapping itself every `interval` cycles (0: never).
bool fitsAlone(const SharedProblem &problem, int op, int64_t interval);

/// The resources held in each cycle; with an interval, modulo that.
class Reservations {
public:
  Reservations(const SharedProblem &problem, int64_t interval)
      : problem(problem), interval(interval), held(problem.limit.size()) {}

  bool isFree(int op, int64_t start) const;
  void hold(int op, int64_t start) { change(op, start, 1); }
  void release(int op, int64_t start) { change(op, start, -1); }

private:
  const SharedProblem &problem;
  int64_t interval;
  std::vector<std::vector<int64_t>> held; ///< by resource and cycle

  size_t cycleOf(int64_t cycle) const {
    return size_t(interval > 0 ? cycle % interval : cycle);
  }
  void change(int op, int64_t start, int64_t by);
};

/// The least starts with which operations that hold resources are in the same
/// slot of the interval as in `s`, which is a schedule: as short as its slots
/// allow.
void compact(const LoopProblem &problem, Schedule &s);
} // namespace rhizome::schedule
