// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The times per frame at which a plan can become possible.
#include "Solve.h"
#include <algorithm>
#include <cmath>
#include <map>

namespace rhizome::explore {
/// Times for which tensors occupy a medium or an endpoint: the ends of every
/// run, for short networks; for long ones those of single tensors.
static void addWireTimes(const Problem &problem, const Place &place,
                         std::vector<double> &all) {
  int n = int(problem.stages.size());
  const Wire &wire = *place.wire;
  for (const Tensor &tensor : problem.tensors) {
    all.push_back(wire.secondsForFrame(tensor.bits));
    all.push_back(wire.cyclesFor(tensor.bits, place.streamBits) /
                  place.clockHz);
  }
  for (int begin = 0; n <= 16 && begin < n; ++begin)
    for (int end = begin + 1; end <= n; ++end) {
      Ends crossing = crossingOf(problem, begin, end);
      for (auto *side : {&crossing.in, &crossing.out}) {
        double sum = 0, cycles = 0;
        auto *other = side == &crossing.in ? &crossing.out : &crossing.in;
        for (int t : *other)
          sum += wire.answerFor(problem.tensors[t].bits);
        for (int t : *side) {
          sum += wire.secondsForFrame(problem.tensors[t].bits);
          cycles += wire.cyclesFor(problem.tensors[t].bits, place.streamBits);
        }
        all.push_back(sum);
        all.push_back(cycles / place.clockHz);
      }
    }
}

double busySeconds(const Problem &problem, const Run &run) {
  const Place &place = problem.places[run.places.front()];
  std::map<std::pair<int, int>, int64_t> units;
  int64_t cycles = 0;
  for (int s = run.begin; s < run.end; ++s) {
    const Choice &choice =
        problem.kinds[place.kind].choices[s][run.choices[s - run.begin]];
    int64_t busy = choice.interval;
    if (choice.unit >= 0)
      busy += units[{choice.unit, run.units[s - run.begin]}];
    if (choice.unit >= 0)
      units[{choice.unit, run.units[s - run.begin]}] = busy;
    cycles = std::max(cycles, busy);
  }
  double seconds = double(cycles) / place.clockHz;
  for (size_t m = 0; m < gen::kMemories; ++m)
    if (double bytes = run.cost.resources.amount[gen::memoryKind(m)]; bytes > 0)
      for (int p : run.places)
        seconds = std::max(seconds, bytes / problem.places[p].bandwidth[m]);
  return seconds / double(run.places.size());
}

bool hasSums(const Problem &problem) {
  for (const Kind &kind : problem.kinds) {
    if (!kind.units.empty())
      return true;
    for (const auto &choices : kind.choices)
      for (const Choice &choice : choices)
        for (size_t m = 0; m < gen::kMemories; ++m)
          if (choice.cost.resources.amount[gen::memoryKind(m)] > 0)
            return true;
  }
  return false;
}

/// Times that bound the sums of stages, in steps: from the minimum of a
/// single stage to all of them one after another.
static void addSumTimes(const Problem &problem, const Place &place,
                        std::vector<double> &all) {
  constexpr double kRatio = 1.05;
  double least = INFINITY, sum = 0;
  for (const auto &choices : problem.kinds[place.kind].choices) {
    double most = 0;
    for (const Choice &choice : choices) {
      if (choice.interval == Choice::kNever)
        continue;
      double seconds = double(choice.interval) / place.clockHz;
      for (size_t m = 0; m < gen::kMemories; ++m)
        if (place.bandwidth[m] > 0)
          seconds = std::max(seconds,
                             choice.cost.resources.amount[gen::memoryKind(m)] /
                                 place.bandwidth[m]);
      all.push_back(seconds);
      least = std::min(least, seconds);
      most = std::max(most, seconds);
    }
    sum += most;
  }
  for (double t = least; t < sum * kRatio; t *= kRatio)
    all.push_back(t);
}

std::vector<double> times(const Problem &problem) {
  std::vector<double> all;
  std::vector<int> copies = copiesUpTo(problem);
  for (const Sort &sort : sortsOf(problem)) {
    const Place &place = sort.place;
    std::vector<double> once;
    for (const auto &choices : problem.kinds[place.kind].choices)
      for (const Choice &choice : choices)
        if (choice.interval != Choice::kNever)
          once.push_back(double(choice.interval) / place.clockHz);
    if (hasSums(problem))
      addSumTimes(problem, place, once);
    for (const Place &as : place.widths()) {
      for (const Tensor &tensor : problem.tensors)
        once.push_back(
            double((tensor.bits + as.streamBits - 1) / as.streamBits) /
            as.clockHz);
      if (as.wire)
        addWireTimes(problem, as, once);
    }
    for (int r : copies)
      for (double t : once)
        if (r <= int(sort.members.size()))
          all.push_back(t / r);
  }
  std::sort(all.begin(), all.end());
  all.erase(
      std::unique(all.begin(), all.end(),
                  [](double a, double b) { return b <= a * (1 + 1e-12); }),
      all.end());
  return all;
}
} // namespace rhizome::explore
