// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Iterative modulo scheduling: the heuristic for pipelined loops.
#include "Loop.h"
#include <algorithm>

namespace rhizome::schedule {
void compact(const LoopProblem &p, Schedule &s) {
  std::vector<int64_t> least(p.latency.size(), 0);
  auto fit = [&](int i, int64_t start) {
    if (p.usesOf(i).empty())
      return start;
    int64_t offset = (s.start[i] - start) % s.interval;
    return start + (offset < 0 ? offset + s.interval : offset);
  };
  for (int i = 0; i < p.size(); ++i)
    least[i] = fit(i, 0);
  for (bool changed = true; changed;) {
    changed = false;
    for (const Dependence &d : p.dependences) {
      int64_t start = fit(d.to, least[d.from] + p.latency[d.from] + d.wait -
                                    s.interval * d.distance);
      if (least[d.to] < start) {
        least[d.to] = start;
        changed = true;
      }
    }
  }
  s.start = std::move(least);
}

namespace {
class Modulo {
public:
  Modulo(const LoopProblem &p, int64_t interval)
      : p(p), interval(interval), heights(heightsOf(p, interval)),
        held(p, interval), start(p.latency.size(), 0),
        isPlaced(p.latency.size(), false), from(p.latency.size()),
        to(p.latency.size()) {
    for (const Dependence &d : p.dependences) {
      from[d.to].push_back(&d);
      to[d.from].push_back(&d);
    }
  }

  bool run(int64_t placements) {
    for (; placements > 0; --placements) {
      int next = -1;
      for (int i = 0; i < p.size(); ++i)
        if (!isPlaced[i] && (next < 0 || heights[i] > heights[next]))
          next = i;
      if (next < 0)
        return true;
      place(next);
    }
    return std::find(isPlaced.begin(), isPlaced.end(), false) == isPlaced.end();
  }
  Schedule result() const { return {start, interval}; }

private:
  const LoopProblem &p;
  const int64_t interval;
  const std::vector<int64_t> heights;
  Reservations held;
  std::vector<int64_t> start; ///< or its last start
  std::vector<bool> isPlaced;
  std::vector<bool> wasPlaced = std::vector<bool>(p.latency.size(), false);
  std::vector<std::vector<const Dependence *>> from, to;

  void evict(int i) {
    isPlaced[i] = false;
    held.release(i, start[i]);
  }
  bool isInTheWay(int other, int i, int64_t at) const;
  void place(int i);
};

/// Whether a placed operation holds a resource in a cycle in which `i`, placed
/// at `at`, would hold it.
bool Modulo::isInTheWay(int other, int i, int64_t at) const {
  for (const SharedProblem::Use &its : p.usesOf(other))
    for (const SharedProblem::Use &mine : p.usesOf(i)) {
      if (its.resource != mine.resource)
        continue;
      for (int64_t c = 0; c < its.cycles; ++c)
        for (int64_t m = 0; m < mine.cycles; ++m)
          if ((start[other] + its.first + c - at - mine.first - m) % interval ==
              0)
            return true;
    }
  return false;
}

void Modulo::place(int i) {
  int64_t earliest = 0;
  for (const Dependence *d : from[i])
    if (isPlaced[d->from] && d->from != i)
      earliest = std::max(earliest, start[d->from] + p.latency[d->from] +
                                        d->wait - interval * d->distance);
  int64_t at = earliest;
  while (at < earliest + interval && !held.isFree(i, at))
    ++at;
  if (at == earliest + interval) {
    at = wasPlaced[i] ? std::max(earliest, start[i] + 1) : earliest;
    for (int other = 0; other < p.size() && !held.isFree(i, at); ++other)
      if (isPlaced[other] && isInTheWay(other, i, at))
        evict(other);
  }
  start[i] = at;
  isPlaced[i] = wasPlaced[i] = true;
  held.hold(i, at);
  for (const Dependence *d : to[i])
    if (d->to != i && isPlaced[d->to] &&
        start[d->to] + interval * d->distance < at + p.latency[i] + d->wait)
      evict(d->to);
}
} // namespace

std::optional<Schedule> scheduleModulo(const LoopProblem &chained,
                                       const Effort &effort) {
  std::optional<LoopProblem> p = withoutChains(chained);
  if (!p)
    return std::nullopt;
  std::optional<Schedule> list = scheduleList(*p);
  std::optional<int64_t> recurrence = recurrenceInterval(*p);
  if (!list || !recurrence)
    return std::nullopt;
  // Executing iterations one after the other always works.
  list->interval = 1;
  for (int i = 0; i < p->size(); ++i)
    for (const SharedProblem::Use &use : p->usesOf(i))
      list->interval =
          std::max(list->interval, list->start[i] + use.first + use.cycles);
  for (const Dependence &d : p->dependences)
    if (d.distance > 0) {
      int64_t gap =
          list->start[d.from] + p->latency[d.from] + d.wait - list->start[d.to];
      list->interval =
          std::max(list->interval, (gap + d.distance - 1) / d.distance);
    }
  int64_t least = std::max(*recurrence, resourceInterval(*p));
  for (int64_t interval = least; interval < list->interval; ++interval) {
    bool fits = true;
    for (int i = 0; i < p->size() && fits; ++i)
      fits = fitsAlone(*p, i, interval);
    if (!fits)
      continue;
    Modulo modulo(*p, interval);
    if (!modulo.run(effort.placements * p->size()))
      continue;
    Schedule s = modulo.result();
    compact(*p, s);
    return s;
  }
  return list;
}
} // namespace rhizome::schedule
