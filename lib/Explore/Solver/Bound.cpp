// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// No plan takes fewer seconds per frame: every stage at its cheapest on the sum
// of all budgets and memories, the host's link, and the border.
#include "Solve.h"
#include <algorithm>
#include <cmath>

namespace rhizome::explore {
using gen::Resources;
constexpr size_t kKinds = gen::kResources;

namespace {
/// Choices of one stage by interval, with the lowest price so far.
class Relaxation {
public:
  explicit Relaxation(const Problem &problem)
      : problem(problem), copies(copiesUpTo(problem)) {
    for (const Place &place : problem.places) {
      Group *group = nullptr;
      for (Group &g : groups)
        if (g.kind == place.kind && g.clockHz == place.clockHz)
          group = &g;
      if (!group) {
        groups.push_back({place.kind, place.clockHz, 0, {}, {}});
        group = &groups.back();
      }
      ++group->count;
      for (size_t m = 0; m < gen::kMemories; ++m)
        bandwidth[m] += place.bandwidth[m];
      for (size_t k = 0; k < kKinds; ++k)
        group->budget.amount[k] =
            std::max(group->budget.amount[k], place.budget.amount[k]);
    }
    for (Group &group : groups) {
      // Memories are considered together, not per stage.
      for (size_t m = 0; m < gen::kMemories; ++m)
        group.budget.amount[gen::memoryKind(m)] = INFINITY;
      for (const auto &choices : problem.kinds[group.kind].choices)
        group.steps.push_back(stepsOf(choices, group.budget));
    }
    addTraffic();
  }

  /// None if no relaxed bound excludes a frame of this many seconds, otherwise
  /// the reason.
  Limit forbids(double seconds) const;

private:
  struct Step {
    int64_t interval;
    std::array<double, kPrices> least;
  };
  struct Group {
    int kind;
    double clockHz;
    int count; ///< of places
    Resources budget;
    std::vector<std::vector<Step>> steps; ///< by stage
  };
  const Problem &problem;
  std::vector<int> copies;
  std::vector<Group> groups;
  /// For each memory: the rate of all places, and the fewest bytes per frame.
  std::array<double, gen::kMemories> bandwidth{}, traffic{};

  void addTraffic();

  static std::vector<Step> stepsOf(const std::vector<Choice> &choices,
                                   const Resources &budget);
};

std::vector<Relaxation::Step>
Relaxation::stepsOf(const std::vector<Choice> &choices,
                    const Resources &budget) {
  std::vector<Step> steps;
  for (const Choice &choice : choices) {
    bool possible = true;
    for (size_t k = 0; k < kKinds; ++k)
      possible &= choice.cost.resources.amount[k] <= budget.amount[k];
    if (!possible)
      continue;
    Step step{choice.interval, pricesOf(choice.cost.resources, budget)};
    // Such that a whole budget costs one.
    for (size_t p = 0; p < kPrices; ++p) {
      double whole = 0;
      for (size_t k = 0; k < gen::kResourceNames.size(); ++k)
        whole += budget.amount[k] > 0 ? kPriceTable[p][k] : 0;
      step.least[p] /= std::max(1.0, whole);
    }
    steps.push_back(step);
  }
  std::sort(steps.begin(), steps.end(), [](const Step &a, const Step &b) {
    return a.interval < b.interval;
  });
  for (size_t i = 1; i < steps.size(); ++i)
    for (size_t p = 0; p < kPrices; ++p)
      steps[i].least[p] = std::min(steps[i].least[p], steps[i - 1].least[p]);
  return steps;
}

void Relaxation::addTraffic() {
  for (size_t m = 0; m < gen::kMemories; ++m)
    for (size_t s = 0; s < problem.stages.size(); ++s) {
      double least = INFINITY;
      for (const Group &group : groups)
        for (const Choice &choice : problem.kinds[group.kind].choices[s])
          least =
              std::min(least, choice.cost.resources.amount[gen::memoryKind(m)]);
      traffic[m] += least;
    }
}

Limit Relaxation::forbids(double seconds) const {
  for (size_t m = 0; m < gen::kMemories; ++m)
    if (traffic[m] > bandwidth[m] * seconds * (1 + 1e-12)) {
      Limit limit{Limit::Kind::Bandwidth};
      limit.resource = problem.kinds[0].memories[m];
      limit.needed = traffic[m];
      limit.available = bandwidth[m] * seconds;
      return limit;
    }
  std::array<double, kPrices> sum{};
  for (size_t s = 0; s < problem.stages.size(); ++s) {
    std::array<double, kPrices> least;
    least.fill(INFINITY);
    for (const Group &group : groups)
      for (int r : copies) {
        if (r > group.count)
          continue;
        double cycles = seconds * r * group.clockHz * (1 + 1e-12);
        const auto &steps = group.steps[s];
        auto end = std::upper_bound(steps.begin(), steps.end(), cycles,
                                    [](double c, const Step &step) {
                                      return c < double(step.interval);
                                    });
        if (end == steps.begin())
          continue;
        for (size_t p = 0; p < kPrices; ++p)
          least[p] = std::min(least[p], r * std::prev(end)->least[p]);
      }
    if (std::isinf(least[0])) {
      Limit limit{Limit::Kind::Stage};
      limit.stage = problem.stages[s].name;
      return limit;
    }
    for (size_t p = 0; p < kPrices; ++p)
      sum[p] += least[p];
  }
  for (double s : sum)
    if (s > double(problem.places.size()) * (1 + 1e-12))
      return {Limit::Kind::AllResources};
  return {};
}
} // namespace

double boundOf(const Problem &problem, const std::vector<double> &all,
               Limit *why) {
  Relaxation relaxation(problem);
  double host = hostSeconds(problem);
  size_t low = 0, high = all.size(); // the first that is not excluded
  while (low < high) {
    size_t middle = (low + high) / 2;
    if (relaxation.forbids(all[middle]).isNone())
      high = middle;
    else
      low = middle + 1;
  }
  double bound = low < all.size() ? all[low] : INFINITY;
  Limit reason =
      low > 0 ? relaxation.forbids(all[low - 1]) : Limit{Limit::Kind::Options};
  if (low < all.size() && reason.kind == Limit::Kind::Stage)
    for (const Place &place : problem.places)
      if (double loop = double(problem.loop.cycles) / place.clockHz;
          loop >= bound * (1 - 1e-9)) {
        reason = {Limit::Kind::State};
        reason.stage = problem.loop.state;
        reason.seconds = loop;
      }
  if (host > bound) {
    bound = host;
    reason = {Limit::Kind::HostLink};
  }
  // Any place that takes a tensor from the host, or sends it, needs its beats.
  for (const Tensor &tensor : problem.tensors) {
    if (tensor.producer >= 0 && !tensor.toHost)
      continue;
    double least = INFINITY;
    Limit border{Limit::Kind::Border};
    for (const Sort &sort : sortsOf(problem)) {
      const Place &place = sort.place;
      int64_t beats = (tensor.bits + place.streamBits - 1) / place.streamBits;
      int64_t most = 1;
      for (int r : copiesUpTo(problem))
        if (r <= int(sort.members.size()))
          most = r;
      double here = double(beats) / place.clockHz / double(most);
      if (here < least) {
        least = here;
        border.beats = beats;
        border.bits = place.streamBits;
      }
    }
    if (least > bound) {
      bound = least;
      reason = border;
    }
  }
  if (why)
    *why = reason;
  return bound;
}

Problem withLoops(Problem problem) {
  for (Kind &kind : problem.kinds)
    for (std::vector<Choice> &choices : kind.choices)
      for (Choice &choice : choices)
        choice.interval = std::max(choice.interval, choice.around);
  return problem;
}

double lowerBound(const Problem &problem, Limit *why) {
  if (problem.loop.cycles == 0)
    return boundOf(problem, times(problem), why);
  const Problem looped = withLoops(problem);
  return boundOf(looped, times(looped), why);
}
} // namespace rhizome::explore
