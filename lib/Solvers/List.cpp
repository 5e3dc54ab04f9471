// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Shared resources without overlapped iterations: a list schedule.
#include "Loop.h"
#include <algorithm>

namespace rhizome::schedule {
void Reservations::change(int op, int64_t start, int64_t by) {
  for (const SharedProblem::Use &use : problem.usesOf(op)) {
    std::vector<int64_t> &cycles = held[use.resource];
    for (int64_t c = 0; c < use.cycles; ++c) {
      size_t cycle = cycleOf(start + use.first + c);
      if (cycle >= cycles.size())
        cycles.resize(cycle + 1, 0);
      cycles[cycle] += by;
    }
  }
}

bool Reservations::isFree(int op, int64_t start) const {
  // An operation may hold a resource several times, and conflict with itself.
  Reservations own(problem, interval);
  own.hold(op, start);
  for (const SharedProblem::Use &use : problem.usesOf(op))
    for (int64_t c = 0; c < use.cycles; ++c) {
      size_t cycle = cycleOf(start + use.first + c);
      const std::vector<int64_t> &others = held[use.resource];
      int64_t count = cycle < others.size() ? others[cycle] : 0;
      if (count + own.held[use.resource][cycle] > problem.limit[use.resource])
        return false;
    }
  return true;
}

bool fitsAlone(const SharedProblem &p, int op, int64_t interval) {
  return Reservations(p, interval).isFree(op, 0);
}

std::vector<int64_t> heightsOf(const Problem &p, int64_t interval) {
  std::vector<int64_t> heights(p.latency);
  // Longest paths; as many rounds as a path can have steps.
  for (int round = 0; round < p.size(); ++round) {
    bool changed = false;
    for (const Dependence &d : p.dependences) {
      if (d.distance > 0 && interval == 0)
        continue;
      int64_t way =
          p.latency[d.from] + d.wait - interval * d.distance + heights[d.to];
      if (heights[d.from] < way) {
        heights[d.from] = way;
        changed = true;
      }
    }
    if (!changed)
      break;
  }
  return heights;
}

std::optional<Schedule> scheduleList(const SharedProblem &p) {
  std::optional<Schedule> asap = scheduleAsap(p);
  if (!asap)
    return std::nullopt;
  for (int i = 0; i < p.size(); ++i)
    if (!fitsAlone(p, i, 0))
      return std::nullopt;
  std::vector<int64_t> heights = heightsOf(p, 0);
  std::vector<std::vector<const Dependence *>> readers(p.latency.size());
  std::vector<int> open(p.latency.size(), 0);
  for (const Dependence &d : p.dependences)
    if (d.distance == 0) {
      readers[d.from].push_back(&d);
      ++open[d.to];
    }
  // Ready operations, the highest first, then by number.
  auto isLater = [&](int x, int y) {
    return heights[x] != heights[y] ? heights[x] < heights[y] : x > y;
  };
  std::vector<int> ready;
  for (int i = 0; i < p.size(); ++i)
    if (open[i] == 0)
      ready.push_back(i);
  std::make_heap(ready.begin(), ready.end(), isLater);
  Schedule s;
  s.start.assign(p.latency.size(), 0);
  Reservations held(p, 0);
  while (!ready.empty()) {
    std::pop_heap(ready.begin(), ready.end(), isLater);
    int i = ready.back();
    ready.pop_back();
    while (!held.isFree(i, s.start[i]))
      ++s.start[i];
    held.hold(i, s.start[i]);
    for (const Dependence *d : readers[i]) {
      s.start[d->to] =
          std::max(s.start[d->to], s.start[i] + p.latency[i] + d->wait);
      if (--open[d->to] == 0) {
        ready.push_back(d->to);
        std::push_heap(ready.begin(), ready.end(), isLater);
      }
    }
  }
  return s;
}

int64_t resourceInterval(const SharedProblem &p) {
  std::vector<int64_t> cycles(p.limit.size(), 0);
  for (int i = 0; i < p.size(); ++i)
    for (const SharedProblem::Use &use : p.usesOf(i))
      cycles[use.resource] += use.cycles;
  int64_t least = 1;
  for (size_t r = 0; r < cycles.size(); ++r)
    least = std::max(least, (cycles[r] + p.limit[r] - 1) / p.limit[r]);
  return least;
}
} // namespace rhizome::schedule
