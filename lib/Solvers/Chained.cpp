// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Logic chained within a cycle: as soon as possible by a model or by delays,
// and the dependences with which any other solver meets the period.
#include "Loop.h"
#include <algorithm>

namespace rhizome::schedule {
/// An operation moves after a register if it follows other logic in its
/// cycle and makes that longer than the period.
static bool isTooLong(ChainModel::Arrival at, int64_t period) {
  return at.before > 0 && at.after > std::max(at.before, period);
}

Schedule scheduleChained(int count, ChainModel &model, int64_t period) {
  Schedule s;
  s.start.assign(size_t(count), 0);
  for (int i = 0; i < count; ++i) {
    s.start[i] = model.earliest(i, s.start);
    if (isTooLong(model.place(i, s.start[i]), period))
      model.place(i, ++s.start[i]);
  }
  return s;
}

std::optional<std::string> verifyChained(const Problem &p, ChainModel &model,
                                         int64_t period, const Schedule &s) {
  if (auto fault = verify(p, s))
    return fault;
  for (int i = 0; i < p.size(); ++i) {
    ChainModel::Arrival at = model.place(i, s.start[i]);
    if (isTooLong(at, period))
      return "the logic up to operation " + std::to_string(i) + " takes " +
             std::to_string(at.after) + " of a period of " +
             std::to_string(period);
  }
  return std::nullopt;
}

std::optional<Schedule> scheduleChained(const ChainedProblem &p) {
  auto order = topologicalOrder(p);
  if (!order)
    return std::nullopt;
  std::vector<std::vector<const Dependence *>> from(p.latency.size());
  for (const Dependence &d : p.dependences)
    if (d.distance == 0)
      from[d.to].push_back(&d);
  Schedule s;
  s.start.assign(p.latency.size(), 0);
  std::vector<int64_t> results(p.latency.size());
  for (int i : *order) {
    ChainedProblem::Delay own = p.delayOf(i);
    if (p.period > 0 && std::max(own.before, own.after) > p.period)
      return std::nullopt;
    auto thereFor = [&](const Dependence &d) {
      return s.start[d.from] + p.latency[d.from] + d.wait;
    };
    for (const Dependence *d : from[i])
      s.start[i] = std::max(s.start[i], thereFor(*d));
    int64_t operands = 0;
    for (const Dependence *d : from[i])
      if (d->wait == 0 && thereFor(*d) == s.start[i])
        operands = std::max(operands, results[d->from]);
    if (p.period > 0 && operands + own.before > p.period) {
      ++s.start[i];
      operands = 0;
    }
    results[i] = p.latency[i] > 0 ? own.after : operands + own.before;
  }
  return s;
}

std::optional<std::vector<Dependence>> chainBreaks(const ChainedProblem &p) {
  std::vector<Dependence> breaks;
  if (p.period == 0)
    return breaks;
  for (int i = 0; i < p.size(); ++i)
    if (std::max(p.delayOf(i).before, p.delayOf(i).after) > p.period)
      return std::nullopt;
  std::vector<std::vector<int>> to(p.latency.size());
  for (const Dependence &d : p.dependences)
    if (d.distance == 0 && d.wait == 0)
      to[d.from].push_back(d.to);
  // Longest chains from each operation; chains that are too long are cut there.
  std::vector<int64_t> longest(p.latency.size(), -1);
  std::vector<int> reached, open;
  for (int from = 0; from < p.size(); ++from) {
    ChainedProblem::Delay own = p.delayOf(from);
    longest[from] = p.latency[from] > 0 ? own.after : own.before;
    reached = open = {from};
    while (!open.empty()) {
      int at = open.back();
      open.pop_back();
      if (at != from && p.latency[at] > 0)
        continue;
      for (int reader : to[at]) {
        int64_t length = longest[at] + p.delayOf(reader).before;
        if (reader == from || longest[reader] >= length)
          continue;
        bool wasShort = longest[reader] <= p.period;
        if (longest[reader] < 0)
          reached.push_back(reader);
        longest[reader] = length;
        if (length <= p.period)
          open.push_back(reader);
        else if (wasShort)
          breaks.push_back({from, reader, 1, 0});
      }
    }
    for (int i : reached)
      longest[i] = -1;
  }
  return breaks;
}

int64_t registerWait(const ChainedProblem &p, const Dependence &d) {
  if (p.period == 0 || d.distance == 0)
    return 0;
  return p.latency[d.from] == 0 || p.delayOf(d.from).after > 0;
}

std::optional<LoopProblem> withoutChains(const LoopProblem &p) {
  auto breaks = chainBreaks(p);
  if (!breaks)
    return std::nullopt;
  LoopProblem plain = p;
  plain.period = 0;
  for (Dependence &d : plain.dependences)
    d.wait = std::max(d.wait, registerWait(p, d));
  plain.dependences.insert(plain.dependences.end(), breaks->begin(),
                           breaks->end());
  return plain;
}
} // namespace rhizome::schedule
