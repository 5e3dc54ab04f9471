// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Scheduling problems in layers: plain (latencies and dependences), cyclic
// (dependences between iterations of a loop), chained (logic within a cycle
// under a clock's limit), shared (resources with limits), and a loop, which
// combines them. Also schedules and their verification, which shares
// no code with the solvers (Solvers.h). Depends neither on MLIR nor on hardware
// units.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace rhizome::schedule {
/// `to` reads the result of `from`: it starts at least `wait` cycles after
/// that is available.
struct Dependence {
  int from = 0, to = 0;
  int64_t wait = 0;
  /// Iterations between the two: `to` reads the value from the iteration
  /// `distance` before its own. 0 outside of loops.
  int64_t distance = 0;
};

/// Plain: operations that take cycles, and dependences between them.
struct Problem {
  /// By operation: cycles from its start until its result can be read. With 0,
  /// a reader may start in the same cycle.
  std::vector<int64_t> latency;
  std::vector<Dependence> dependences;

  virtual ~Problem() = default;

  int size() const { return int(latency.size()); }
  /// Adds an operation and returns its number.
  int add(int64_t cycles) {
    latency.push_back(cycles);
    return size() - 1;
  }
  void depend(int from, int to, int64_t wait = 0) {
    dependences.push_back({from, to, wait, 0});
  }
};

/// Cyclic: the operations of a loop's body. A new iteration starts every
/// interval.
struct CyclicProblem : virtual Problem {
  void carry(int from, int to, int64_t distance, int64_t wait = 0) {
    dependences.push_back({from, to, wait, distance});
  }
};

/// Chained: the delay of an operation's logic within a cycle, in the unit of
/// the period.
struct ChainedProblem : virtual Problem {
  struct Delay {
    /// From the operands to the first register within, or to the result of an
    /// operation without latency.
    int64_t before = 0;
    /// From the last register within to the result; 0 without latency.
    int64_t after = 0;
  };
  /// By operation; none beyond its end.
  std::vector<Delay> delay;
  int64_t period = 0; ///< 0: no limit

  Delay delayOf(int op) const {
    return size_t(op) < delay.size() ? delay[op] : Delay();
  }
  void setDelay(int op, int64_t before, int64_t after = 0) {
    if (size_t(op) >= delay.size())
      delay.resize(size_t(op) + 1);
    delay[op] = {before, after};
  }
};

/// Shared: resources with a limited number of instances (multipliers, a
/// memory's ports), and which operation holds one, when and for how long.
struct SharedProblem : virtual Problem {
  struct Use {
    int resource = 0;
    int64_t first = 0;  ///< cycles after the operation's start
    int64_t cycles = 1; ///< for which it is held
  };
  std::vector<int64_t> limit; ///< by resource, at least 1
  /// By operation; none beyond its end.
  std::vector<std::vector<Use>> uses;

  int addResource(int64_t count) {
    limit.push_back(count);
    return int(limit.size()) - 1;
  }
  void use(int op, int resource, int64_t first = 0, int64_t cycles = 1) {
    if (size_t(op) >= uses.size())
      uses.resize(size_t(op) + 1);
    uses[op].push_back({resource, first, cycles});
  }
  const std::vector<Use> &usesOf(int op) const {
    static const std::vector<Use> none;
    return size_t(op) < uses.size() ? uses[op] : none;
  }
};

/// A pipelined loop. A value that one iteration passes to a later one goes
/// through a register if the problem has a period, so no logic is chained
/// across iterations.
struct LoopProblem : CyclicProblem, ChainedProblem, SharedProblem {};

/// The start of each operation; for a loop, in its first iteration.
struct Schedule {
  std::vector<int64_t> start;
  /// Cycles from one iteration to the next; 0: there is one iteration.
  int64_t interval = 0;

  /// Cycles until all results of an iteration are available, at least 1.
  int64_t length(const Problem &problem) const;
};

/// Why this is not a schedule of the problem, or nothing. Every class is
/// checked including all layers below it.
std::optional<std::string> verify(const Problem &problem,
                                  const Schedule &schedule);
std::optional<std::string> verify(const CyclicProblem &problem,
                                  const Schedule &schedule);
std::optional<std::string> verify(const ChainedProblem &problem,
                                  const Schedule &schedule);
std::optional<std::string> verify(const SharedProblem &problem,
                                  const Schedule &schedule);
std::optional<std::string> verify(const LoopProblem &problem,
                                  const Schedule &schedule);
} // namespace rhizome::schedule
