// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Verifies a schedule: each rule is checked separately and from the
// problem alone, without any code of the solvers.
#include "rhizome/Solvers/Problem.h"
#include <algorithm>
#include <map>

namespace rhizome::schedule {
namespace {
using Fault = std::optional<std::string>;

std::string text(int64_t n) { return std::to_string(n); }

Fault checkStarts(const Problem &p, const Schedule &s) {
  if (s.start.size() != p.latency.size())
    return "the schedule has " + text(int64_t(s.start.size())) +
           " starts for " + text(p.size()) + " operations";
  for (int i = 0; i < p.size(); ++i)
    if (s.start[i] < 0)
      return "operation " + text(i) + " starts before cycle 0";
  return std::nullopt;
}

Fault checkDependences(const Problem &p, const Schedule &s) {
  for (const Dependence &d : p.dependences) {
    int64_t there = s.start[d.from] + p.latency[d.from] + d.wait;
    int64_t read = s.start[d.to] + s.interval * d.distance;
    if (read < there)
      return "operation " + text(d.to) + " reads in cycle " + text(read) +
             " what operation " + text(d.from) + " has for it in cycle " +
             text(there);
  }
  return std::nullopt;
}

Fault checkInterval(const Schedule &s) {
  if (s.interval < 1)
    return "a loop's interval is " + text(s.interval) + ", not 1 or more";
  return std::nullopt;
}

/// The signal delays in every cycle: repeated until nothing changes,
/// which is soon, since logic without a register has no cycle.
Fault checkChains(const ChainedProblem &p, const Schedule &s) {
  if (p.period == 0)
    return std::nullopt;
  std::vector<int64_t> operands(p.latency.size(), 0);
  auto result = [&](int i) {
    return p.latency[i] > 0 ? p.delayOf(i).after
                            : operands[i] + p.delayOf(i).before;
  };
  bool changed = true;
  for (int round = 0; changed; ++round) {
    if (round > p.size())
      return "logic without a register forms a cycle";
    changed = false;
    for (const Dependence &d : p.dependences) {
      bool isSameCycle = d.distance == 0 &&
                         s.start[d.from] + p.latency[d.from] == s.start[d.to];
      if (isSameCycle && operands[d.to] < result(d.from)) {
        operands[d.to] = result(d.from);
        changed = true;
      }
    }
  }
  for (int i = 0; i < p.size(); ++i) {
    int64_t end = operands[i] + p.delayOf(i).before;
    if (std::max(end, p.delayOf(i).after) > p.period)
      return "the logic up to operation " + text(i) + " takes " +
             text(std::max(end, p.delayOf(i).after)) + " of a period of " +
             text(p.period);
  }
  for (const Dependence &d : p.dependences) {
    bool isRegistered = p.latency[d.from] > 0 && p.delayOf(d.from).after == 0;
    if (d.distance > 0 && !isRegistered &&
        s.start[d.to] + s.interval * d.distance <=
            s.start[d.from] + p.latency[d.from])
      return "what operation " + text(d.from) + " hands to operation " +
             text(d.to) + " of a later iteration passes no register";
  }
  return std::nullopt;
}

Fault checkResources(const SharedProblem &p, const Schedule &s) {
  std::map<std::pair<int, int64_t>, int64_t> held;
  for (int i = 0; i < p.size(); ++i)
    for (const SharedProblem::Use &use : p.usesOf(i))
      for (int64_t c = 0; c < use.cycles; ++c) {
        int64_t cycle = s.start[i] + use.first + c;
        if (s.interval > 0)
          cycle %= s.interval;
        if (++held[{use.resource, cycle}] > p.limit[use.resource])
          return "resource " + text(use.resource) + " is held " +
                 text(p.limit[use.resource] + 1) + " times in cycle " +
                 text(cycle) + ", at last by operation " + text(i) +
                 "; there are " + text(p.limit[use.resource]);
      }
  return std::nullopt;
}
} // namespace

int64_t Schedule::length(const Problem &problem) const {
  int64_t end = 1;
  for (int i = 0; i < problem.size(); ++i)
    end = std::max(end, start[i] + problem.latency[i]);
  return end;
}

Fault verify(const Problem &p, const Schedule &s) {
  if (Fault fault = checkStarts(p, s))
    return fault;
  return checkDependences(p, s);
}

Fault verify(const CyclicProblem &p, const Schedule &s) {
  if (Fault fault = checkInterval(s))
    return fault;
  return verify(static_cast<const Problem &>(p), s);
}

Fault verify(const ChainedProblem &p, const Schedule &s) {
  if (Fault fault = verify(static_cast<const Problem &>(p), s))
    return fault;
  return checkChains(p, s);
}

Fault verify(const SharedProblem &p, const Schedule &s) {
  if (Fault fault = verify(static_cast<const Problem &>(p), s))
    return fault;
  return checkResources(p, s);
}

Fault verify(const LoopProblem &p, const Schedule &s) {
  if (Fault fault = verify(static_cast<const CyclicProblem &>(p), s))
    return fault;
  if (Fault fault = checkChains(p, s))
    return fault;
  return checkResources(p, s);
}
} // namespace rhizome::schedule
