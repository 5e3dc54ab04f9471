// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Difference constraints, and their direct applications: as soon and as late
// as possible, and the least interval of a loop.
#include "Loop.h"
#include <algorithm>

namespace rhizome::schedule {
std::optional<std::vector<int64_t>>
solveDifferences(int count, const std::vector<Difference> &differences) {
  std::vector<int64_t> x(size_t(count), 0);
  for (int round = 0; round <= count; ++round) {
    bool changed = false;
    for (const Difference &d : differences)
      if (x[d.to] < x[d.from] + d.least) {
        x[d.to] = x[d.from] + d.least;
        changed = true;
      }
    if (!changed)
      return x;
  }
  return std::nullopt;
}

std::vector<Difference> differencesOf(const Problem &p, int64_t interval) {
  std::vector<Difference> all;
  all.reserve(p.dependences.size());
  for (const Dependence &d : p.dependences)
    all.push_back(
        {d.from, d.to, p.latency[d.from] + d.wait - interval * d.distance});
  return all;
}

std::optional<std::vector<int>> topologicalOrder(const Problem &p) {
  std::vector<std::vector<int>> readers(p.latency.size());
  std::vector<int> open(p.latency.size(), 0), order;
  for (const Dependence &d : p.dependences)
    if (d.distance == 0) {
      readers[d.from].push_back(d.to);
      ++open[d.to];
    }
  for (int i = 0; i < p.size(); ++i)
    if (open[i] == 0)
      order.push_back(i);
  for (size_t at = 0; at < order.size(); ++at)
    for (int reader : readers[order[at]])
      if (--open[reader] == 0)
        order.push_back(reader);
  if (order.size() != p.latency.size())
    return std::nullopt;
  return order;
}

std::optional<Schedule> scheduleAsap(const Problem &p) {
  auto order = topologicalOrder(p);
  if (!order)
    return std::nullopt;
  std::vector<std::vector<const Dependence *>> to(p.latency.size());
  for (const Dependence &d : p.dependences)
    if (d.distance == 0)
      to[d.from].push_back(&d);
  Schedule s;
  s.start.assign(p.latency.size(), 0);
  for (int i : *order)
    for (const Dependence *d : to[i])
      s.start[d->to] =
          std::max(s.start[d->to], s.start[i] + p.latency[i] + d->wait);
  return s;
}

std::optional<Schedule> scheduleAlap(const Problem &p, int64_t last) {
  auto order = topologicalOrder(p);
  if (!order)
    return std::nullopt;
  std::vector<std::vector<const Dependence *>> from(p.latency.size());
  for (const Dependence &d : p.dependences)
    if (d.distance == 0)
      from[d.to].push_back(&d);
  Schedule s;
  for (int64_t cycles : p.latency)
    s.start.push_back(last - cycles);
  for (auto it = order->rbegin(); it != order->rend(); ++it) {
    if (s.start[*it] < 0)
      return std::nullopt;
    for (const Dependence *d : from[*it])
      s.start[d->from] = std::min(s.start[d->from],
                                  s.start[*it] - d->wait - p.latency[d->from]);
  }
  return s;
}

std::optional<int64_t> recurrenceInterval(const CyclicProblem &p) {
  // No cycle takes longer than all operations one after the other.
  int64_t most = 1;
  for (int64_t cycles : p.latency)
    most += cycles;
  for (const Dependence &d : p.dependences)
    most += std::max<int64_t>(d.wait, 0);
  auto isEnough = [&](int64_t interval) {
    return solveDifferences(p.size(), differencesOf(p, interval)).has_value();
  };
  if (!isEnough(most))
    return std::nullopt;
  int64_t least = 1;
  while (least < most) {
    int64_t middle = least + (most - least) / 2;
    if (isEnough(middle))
      most = middle;
    else
      least = middle + 1;
  }
  return least;
}
} // namespace rhizome::schedule
