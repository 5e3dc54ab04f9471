// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Places in order, stages in order: which run is where. For a given time per
// frame this is a dynamic program over (place, stage); the least time is
// searched among the times at which anything can change.
//
// Why more resources never hurt: the runs that are considered depend only on
// the time and the kind of device, never on a budget or on other places; a
// larger budget or a faster link only admits more of them, and an additional
// place may be left out. Runs that are balanced for a budget (Balance.cpp)
// only come to these.
#include "Solve.h"
#include "Balance.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <cmath>
#include <numeric>

namespace rhizome::explore {
using gen::Resources;

/// Whether a run may end before each stage. Of very many stages only the
/// cheapest cut of every few is followed, since the program's work is that of
/// all pairs of cuts: in a network of equal blocks it is a border of theirs.
static std::vector<bool> endsOf(const Problem &problem) {
  const int n = int(problem.stages.size());
  constexpr int kMany = 400, kCuts = 64, kCutsOfPlace = 8;
  std::vector<bool> ends(n + 1);
  for (int s = 1; s < n; ++s)
    ends[s] = problem.stages[s].mayCut;
  ends[n] = true;
  if (n <= kMany)
    return ends;
  std::vector<int64_t> bits(n + 1); // across a cut; first as differences
  for (const Tensor &tensor : problem.tensors)
    if (!tensor.readers.empty()) {
      bits[std::max(0, tensor.producer + 1)] += tensor.bits;
      bits[tensor.readers.back() + 1] -= tensor.bits;
    }
  std::partial_sum(bits.begin(), bits.end(), bits.begin());
  auto isKept = [&](int s) { // by who steers
    return llvm::any_of(llvm::ArrayRef(problem.stages).slice(s - 1, 2),
                        [](const Stage &stage) {
                          return stage.isPinned() || stage.copies > 0;
                        });
  };
  const int cuts = std::max(kCuts, kCutsOfPlace * int(problem.places.size()));
  const int window = (n + cuts - 1) / cuts;
  for (int from = 1; from < n; from += window) {
    int best = -1;
    for (int s = from; s < std::min(n, from + window); ++s)
      if (ends[s]) {
        if (best < 0 || bits[s] < bits[best])
          best = s;
        ends[s] = isKept(s);
      }
    if (best >= 0)
      ends[best] = true;
  }
  return ends;
}

namespace {
/// The dynamic program for one time per frame.
class Placement {
public:
  Placement(const Problem &problem, double seconds, const Limits &limits)
      : problem(problem), seconds(seconds), limits(limits),
        candidates(problem, limits), copies(copiesUpTo(problem)),
        sorts(sortsOf(problem)), ends(endsOf(problem)) {
    for (const Sort &sort : sorts)
      widths.push_back(sort.place.widths());
  }
  std::optional<Solution> run();
  /// All stages on the only place, by prices for its budget.
  std::optional<Solution> balanced();
  /// Whether nothing was left out so far.
  bool isExact() const { return exact && candidates.isExact(); }

private:
  /// The state of the stages so far on the places so far.
  struct State {
    int64_t nodes = INT64_MAX;
    double price = INFINITY;
    int place = -1, stage = -1; ///< the state before
    const Run *run = nullptr;   ///< null if a place was left out
    int sort = 0, copies = 1;
    bool operator<(const State &o) const {
      return nodes != o.nodes ? nodes < o.nodes : price < o.price;
    }
  };

  const Problem &problem;
  double seconds;
  const Limits &limits;
  Candidates candidates;
  std::vector<int> copies;
  std::vector<Sort> sorts;
  const std::vector<bool> ends;           ///< before which stages runs may end
  std::vector<std::vector<Place>> widths; ///< by sort, ascending
  std::map<std::pair<int, int>, std::vector<Resources>> budgets;
  std::map<std::tuple<int, int64_t, int64_t, int>, RunFront> fronts;
  std::map<std::tuple<int, int, int, int>, std::optional<Run>> runs;
  std::vector<std::vector<State>> states;
  bool exact = true;

  RunFront &front(const Place &place, int copies, int begin) {
    double cycles = std::min(9e15, seconds * copies * place.clockHz);
    int64_t interval = int64_t(std::floor(cycles * (1 + 1e-12)));
    return fronts
        .try_emplace({place.kind, place.streamBits, interval, begin}, problem,
                     limits, candidates, place.kind, place.streamBits, begin,
                     interval)
        .first->second;
  }
  /// For places of one kind, by number of copies.
  const std::vector<Resources> &budgetsOf(int kind, int copies) {
    auto [it, isNew] = budgets.try_emplace({kind, copies});
    if (isNew)
      for (const Sort &sort : sorts)
        if (sort.place.kind == kind)
          it->second.push_back(sort.place.budgetFor(seconds * copies));
    return it->second;
  }
  /// `copies` places from `place` on that can hold replicas of this sort's
  /// runs; none if there are not that many, or the first is of another sort.
  std::vector<int> group(int sort, int place, int copies) const {
    const std::vector<int> &all = sorts[sort].members;
    auto from = std::lower_bound(all.begin(), all.end(), place);
    if (from == all.end() || *from != place || all.end() - from < copies)
      return {};
    return {from, from + copies};
  }
  bool mayHold(int stage, const std::vector<int> &places) const {
    const Stage &s = problem.stages[stage];
    if (s.copies > 0)
      return int(places.size()) == s.copies && places.front() == s.place;
    return s.place < 0 ||
           std::find(places.begin(), places.end(), s.place) != places.end();
  }
  /// Whether a run [begin, end) may use the streams of this place.
  bool mayStream(const Place &as, int begin, int end) const {
    for (int s = begin; s < end; ++s)
      if (int64_t bits = problem.stages[s].streamBits;
          bits > 0 && bits != as.streamBits)
        return false;
    return true;
  }
  void place(int sort, const std::vector<int> &places, int begin);
  const std::optional<Run> &best(int sort, int copies, int begin, int end);
};

/// The cheapest run with the narrowest streams that are wide enough.
const std::optional<Run> &Placement::best(int sort, int copies, int begin,
                                          int end) {
  auto [it, isNew] = runs.try_emplace({sort, copies, begin, end});
  if (!isNew)
    return it->second;
  Ends ends = crossingOf(problem, begin, end);
  ends.framesPerS = 1 / (seconds * copies);
  for (const Place &as : widths[sort])
    if (mayStream(as, begin, end) &&
        passes(problem, ends, as, seconds * copies)) {
      it->second = front(as, copies, begin)
                       .best(end, as, as.budgetFor(seconds * copies), ends);
      break;
    }
  return it->second;
}

void Placement::place(int sort, const std::vector<int> &places, int begin) {
  const Place &here = sorts[sort].place;
  int p = places.front(), r = int(places.size());
  const State from = states[p][begin];
  RunFront &labels = front(widths[sort].front(), r, begin);
  int n = int(problem.stages.size());
  const bool isLast = places.back() + 1 == int(problem.places.size());
  for (int end = begin + 1; end <= n; ++end) {
    const Stage &last = problem.stages[end - 1];
    if ((end - 1 > begin && last.mustCut) || !mayHold(end - 1, places) ||
        labels.exceeds(end, budgetsOf(here.kind, r)))
      break;
    // Of what ends behind the last place only whole networks are of use.
    if (!ends[end] || (isLast && end < n))
      continue;
    const std::optional<Run> &found = best(sort, r, begin, end);
    if (!found)
      continue;
    double price =
        priceOf(found->cost.resources, problem.kinds[here.kind].capacity);
    State next{
        from.nodes + r, from.price + r * price, p, begin, &*found, sort, r};
    State &best = states[places.back() + 1][end];
    if (next < best)
      best = next;
  }
  exact &= labels.isExact();
}

std::optional<Solution> Placement::run() {
  int n = int(problem.stages.size()), count = int(problem.places.size());
  states.assign(count + 1, std::vector<State>(n + 1));
  states[0][0] = {0, 0, -1, -1, nullptr, 0, 1};
  std::pair<int, int> best{-1, n};
  State least;
  for (int p = 0; p <= count; ++p) {
    if (states[p][n] < least) {
      least = states[p][n];
      best.first = p;
    }
    if (p == count)
      break;
    for (int begin = 0; begin < n; ++begin) {
      if (states[p][begin].nodes >= limits.maxNodes)
        continue;
      if (!problem.isChain && states[p][begin] < states[p + 1][begin]) {
        State &skip = states[p + 1][begin];
        skip = states[p][begin];
        skip.run = nullptr;
        skip.place = p;
        skip.stage = begin;
      }
      for (int sort = 0; sort < int(sorts.size()); ++sort)
        for (int r : copies) {
          // A single copy uses its place directly.
          if (states[p][begin].nodes + r > limits.maxNodes ||
              (r == 1 && !(sorts[sort].place == problem.places[p])))
            continue;
          std::vector<int> places = group(sort, p, r);
          if (!places.empty())
            place(sort, places, begin);
        }
    }
  }
  if (best.first < 0)
    return std::nullopt;
  Solution solution;
  solution.seconds = seconds;
  solution.isExact = isExact();
  for (auto [p, s] = best; p > 0;) {
    const State &state = states[p][s];
    if (state.run) {
      Run run = *state.run;
      run.places = group(state.sort, state.place, state.copies);
      solution.runs.insert(solution.runs.begin(), std::move(run));
    }
    p = state.place;
    s = state.stage;
  }
  return solution;
}

std::optional<Solution> Placement::balanced() {
  const int n = int(problem.stages.size());
  if (problem.places.size() != 1)
    return std::nullopt;
  for (int s = 0; s < n; ++s)
    if ((s > 0 && problem.stages[s].mustCut) || !mayHold(s, {0}))
      return std::nullopt;
  Ends ends = crossingOf(problem, 0, n);
  ends.framesPerS = 1 / seconds;
  for (const Place &as : widths[0]) {
    if (!mayStream(as, 0, n) || !passes(problem, ends, as, seconds))
      continue;
    double cycles = std::min(9e15, seconds * as.clockHz);
    auto interval = int64_t(std::floor(cycles * (1 + 1e-12)));
    BalancedRun runs(problem, limits, {problem, as.kind, 0, as.streamBits}, n,
                     interval, ends);
    std::optional<Run> run = runs.within(as, as.budgetFor(seconds));
    if (!run)
      return std::nullopt;
    run->places = {0};
    Solution solution;
    solution.seconds = seconds;
    solution.isExact = false;
    solution.runs.push_back(std::move(*run));
    return solution;
  }
  return std::nullopt;
}
} // namespace

std::optional<Solution> solveWithin(const Problem &problem, double seconds,
                                    const Limits &limits) {
  if (hostSeconds(problem) > seconds * (1 + 1e-12))
    return std::nullopt;
  Limits used = limitsFor(problem, limits);
  Placement placement(problem, seconds, used);
  auto solution = placement.run();
  if (!solution && !placement.isExact())
    solution = placement.balanced();
  if (solution && isLarge(problem))
    solution->isExact = false;
  return solution;
}

/// The fastest plan between a time that is too short and that of a plan, whose
/// own sums may show that it takes less.
static Solution tightened(const Problem &problem, double low, Solution found,
                          const Limits &limits) {
  const double close = isLarge(problem) ? 2e-3 : 1e-4;
  auto takeOwn = [&] {
    double own = limits.least;
    for (const Run &run : found.runs)
      own = std::max(own, busySeconds(problem, run) * (1 + 1e-12));
    if (own < found.seconds)
      if (auto same = solveWithin(problem, own, limits))
        found = std::move(*same);
  };
  takeOwn();
  while (found.seconds > low * (1 + close)) {
    double middle =
        low > 0 ? std::sqrt(low * found.seconds) : found.seconds / 2;
    if (auto better = solveWithin(problem, middle, limits)) {
      found = std::move(*better);
      takeOwn();
    } else {
      low = middle;
    }
  }
  return found;
}

std::optional<Solution> solveFastest(const Problem &problem,
                                     const Limits &limits) {
  std::vector<double> all = times(problem);
  double bound = boundOf(problem, all, nullptr);
  double host = hostSeconds(problem);
  if (host > 0)
    all.insert(std::lower_bound(all.begin(), all.end(), host), host);
  bound = std::max(bound, limits.least);
  size_t low = std::lower_bound(all.begin(), all.end(), bound * (1 - 1e-12)) -
               all.begin();
  if (low == all.size())
    return std::nullopt;
  // What fits at no rate is not tried at every one.
  if (isLarge(problem) && problem.places.size() == 1 &&
      !solveWithin(problem, all.back(), limits))
    return std::nullopt;
  // Upwards in steps of a few percent, so that nothing feasible is missed by
  // much, or larger ones where each takes long; then within the step.
  constexpr size_t kLong = 60; // stages
  double ratio = 1.0;
  std::optional<Solution> found;
  size_t high = low;
  while (true) {
    found = solveWithin(problem, all[high], limits);
    if (found)
      break;
    low = high + 1;
    if (low == all.size())
      return std::nullopt;
    ratio = isLarge(problem) ? (problem.stages.size() > kLong ? 1.25 : 1.05)
                             : std::min(1.3, 1 + (ratio - 1) * 1.15 + 0.002);
    high = std::upper_bound(all.begin(), all.end(), all[high] * ratio) -
           all.begin();
    high = std::max(low, std::min(high, all.size() - 1));
  }
  // To half a percent if a step is expensive.
  double close = isLarge(problem) ? 1.005 : 1;
  while (low < high && all[high] > all[low] * close) {
    size_t middle = (low + high) / 2;
    if (auto better = solveWithin(problem, all[middle], limits)) {
      found = std::move(better);
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  if (!hasSums(problem))
    return found;
  double tooShort = std::max(bound * (1 - 1e-12), low > 0 ? all[low - 1] : 0);
  return tightened(problem, tooShort, std::move(*found), limits);
}
} // namespace rhizome::explore
