// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Single stages: how fast one can be on any place, and what it lacks.
#include "Solve.h"
#include <algorithm>
#include <cmath>

namespace rhizome::explore {
using gen::Resources;
constexpr size_t kKinds = gen::kResources;

/// The end of a stage and of those that stay with it.
static int groupEnd(const Problem &problem, int stage) {
  int end = stage + 1;
  while (end < int(problem.stages.size()) && !problem.stages[end].mayCut)
    ++end;
  return end;
}

/// The cheapest run of a group on one place like this, together with the next
/// group if that is easier: a part and the tensor that it is joined to.
static std::optional<Run> runAlone(const Problem &problem, int begin,
                                   const Place &place, double seconds) {
  Limits limits = limitsFor(problem, {});
  Candidates candidates(problem, limits);
  auto interval =
      int64_t(std::min(9e15, seconds * place.clockHz * (1 + 1e-12)));
  int end = groupEnd(problem, begin), n = int(problem.stages.size());
  for (int last : {end, end < n ? groupEnd(problem, end) : end}) {
    Ends ends = crossingOf(problem, begin, last);
    ends.framesPerS = 1 / seconds;
    for (const Place &as : place.widths()) {
      if (!passes(problem, ends, as, seconds))
        continue;
      RunFront front(problem, limits, candidates, as.kind, as.streamBits, begin,
                     interval);
      if (auto run = front.best(last, as, as.budgetFor(seconds), ends))
        return run;
      break;
    }
  }
  return std::nullopt;
}

double aloneSeconds(const Problem &problem, int stage) {
  if (stage > 0 && !problem.stages[stage].mayCut)
    return 0;
  int end = groupEnd(problem, stage);
  double least = INFINITY;
  for (const Sort &sort : sortsOf(problem)) {
    const Place &place = sort.place;
    std::vector<double> all;
    for (int s = stage; s < end; ++s)
      for (const Choice &choice : problem.kinds[place.kind].choices[s])
        all.push_back(double(choice.interval) / place.clockHz);
    all.push_back(INFINITY);
    std::sort(all.begin(), all.end());
    size_t low = 0, high = all.size();
    while (low < high) {
      size_t middle = (low + high) / 2;
      if (runAlone(problem, stage, place, all[middle]))
        high = middle;
      else
        low = middle + 1;
    }
    int most = 1;
    for (int r : copiesUpTo(problem))
      if (r <= int(sort.members.size()))
        most = r;
    if (low < all.size())
      least = std::min(least, all[low] / most);
  }
  return least;
}

/// The most of each resource that one stage may take.
static Resources mostOfOne(const Place &place) {
  Resources most = place.budget;
  for (size_t k = 0; k < gen::kResourceNames.size() && place.dies.count();
       ++k) {
    double largest = 0;
    for (const Resources &die : place.dies.budgets)
      largest = std::max(largest, die.amount[k]);
    most.amount[k] = std::min(most.amount[k], largest);
  }
  return most;
}

Limit whyNotAlone(const Problem &problem, int stage) {
  Limit why;
  double least = INFINITY;
  for (const Sort &sort : sortsOf(problem)) {
    Place open = sort.place;
    open.unlimit();
    auto run = runAlone(problem, stage, open, INFINITY);
    if (!run)
      continue;
    Resources need = run->cost.most();
    const Resources budget = mostOfOne(sort.place);
    double ratio = 0;
    for (size_t k = 0; k < kKinds; ++k)
      if (need.amount[k] > 0)
        ratio =
            std::max(ratio, need.amount[k] / std::max(1e-9, budget.amount[k]));
    if (ratio >= least)
      continue;
    least = ratio;
    why = exceeded(need, budget, problem.kinds[open.kind]);
    why.kind = Limit::Kind::StageAlone;
    why.stage = problem.stages[stage].name;
    why.device = problem.kinds[open.kind].name;
  }
  return why;
}
} // namespace rhizome::explore
