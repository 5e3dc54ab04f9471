// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Places in order, stages in order: which run stands where. For a given time a
// frame this is a dynamic program over (place, stage); the least time is found
// among the times at which anything can change.
//
// Why more never hurts: the runs that are considered depend on the time and the
// kind of device alone, never on a budget or on other places; a larger budget
// or a faster link only lets more of them pass, and a further place may be left
// out.
#include "Runs.h"
#include "llvm/ADT/ArrayRef.h"
#include <algorithm>
#include <cmath>

namespace rhizome::explore {
using gen::Resources;
constexpr size_t kKinds = gen::kResources;

double Wire::secondsForFrame(int64_t bits) const {
  return gen::linkBytesPerFrame(*this, bits) * 8 / bitsPerS;
}

double Wire::answerFor(int64_t bits) const {
  return gen::linkAckBytesPerFrame(*this, bits) * 8 / bitsPerS;
}

double Wire::cyclesFor(int64_t bits, int64_t streamBits) const {
  auto words = double((bits + 63) / 64);
  // A datagram's beats, those of its header and the gap to the next.
  int64_t whole = (slotWords * 8 + headerBytes) * 8;
  double beats = double((whole + streamBits - 1) / streamBits) + 4;
  return words / double(slotWords) * beats;
}

int64_t Solution::nodes() const {
  int64_t n = 0;
  for (const Run &run : runs)
    n += int64_t(run.places.size());
  return n;
}

double hostSeconds(const Problem &problem) {
  if (!problem.hostWire)
    return 0;
  const Wire &wire = *problem.hostWire;
  double in = 0, out = 0;
  for (const Tensor &tensor : problem.tensors) {
    double once = wire.secondsForFrame(tensor.bits);
    double answer = wire.answerFor(tensor.bits);
    if (tensor.producer < 0) {
      out += once;
      in += answer;
    }
    if (tensor.toHost) {
      in += once;
      out += answer;
    }
  }
  return std::max(in, out);
}

std::pair<size_t, double> scarcest(const Resources &need,
                                   const Resources &budget) {
  std::pair<size_t, double> worst{0, 0};
  for (size_t k = 0; k < kKinds; ++k) {
    double share = need.amount[k] <= 0     ? 0
                   : budget.amount[k] <= 0 ? 1e9
                                           : need.amount[k] / budget.amount[k];
    if (share > worst.second)
      worst = {k, share};
  }
  return worst;
}

Limit exceeded(const Resources &need, const Resources &budget,
               const Kind &kind) {
  Limit limit;
  auto [worst, share] = scarcest(need, budget);
  if (share <= 1)
    return limit;
  bool isMemory = worst >= gen::memoryKind(0);
  limit.kind = isMemory ? Limit::Kind::Bandwidth : Limit::Kind::Resource;
  limit.resource = isMemory ? kind.memories[worst - gen::memoryKind(0)]
                            : gen::kResourceNames[worst];
  limit.needed = need.amount[worst];
  limit.available = budget.amount[worst];
  return limit;
}

bool isLarge(const Problem &problem) { return problem.stages.size() > 40; }

/// The limits that a problem of this size is solved with; they depend on
/// nothing that more devices or budgets could change.
static Limits limitsFor(const Problem &problem, Limits limits) {
  if (isLarge(problem)) {
    limits.choices = std::min<size_t>(limits.choices, 6);
    limits.partial = std::min<size_t>(limits.partial, 6);
  }
  return limits;
}

/// Numbers of replicas that are considered.
static std::vector<int> copiesUpTo(const Problem &problem) {
  static const int kAll[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 16, 20, 24, 32};
  static const int kFew[] = {1, 2, 4, 8, 16, 32};
  std::vector<int> copies;
  for (int r :
       isLarge(problem) ? llvm::ArrayRef<int>(kFew) : llvm::ArrayRef<int>(kAll))
    if (r <= int(problem.places.size()) && (r == 1 || problem.mayReplicate))
      copies.push_back(r);
  return copies;
}

Resources Place::budgetFor(double seconds) const {
  Resources all = budget;
  for (size_t m = 0; m < gen::kMemories; ++m)
    if (bandwidth[m] > 0)
      all.amount[gen::memoryKind(m)] = bandwidth[m] * seconds;
  return all;
}

void Place::unlimit() {
  budget.amount.fill(INFINITY);
  bandwidth.fill(INFINITY);
}

std::vector<Place> Place::widths() const {
  std::vector<Place> all;
  for (int64_t bits = leastBits > 0 ? leastBits : streamBits; bits < streamBits;
       bits *= 2) {
    all.push_back(*this);
    all.back().streamBits = bits;
  }
  all.push_back(*this);
  return all;
}

bool Place::covers(const Place &other) const {
  if (kind != other.kind || clockHz != other.clockHz ||
      streamBits != other.streamBits || leastBits != other.leastBits ||
      wire.has_value() != other.wire.has_value())
    return false;
  for (size_t k = 0; k < kKinds; ++k)
    if (budget.amount[k] < other.budget.amount[k])
      return false;
  for (size_t m = 0; m < gen::kMemories; ++m)
    if (bandwidth[m] < other.bandwidth[m])
      return false;
  if (!wire)
    return true;
  Wire as = *other.wire;
  as.bitsPerS = wire->bitsPerS;
  as.latencyNs = wire->latencyNs;
  return as == *wire && wire->bitsPerS >= other.wire->bitsPerS &&
         wire->latencyNs <= other.wire->latencyNs;
}

/// Places that differ, each once, with those that cover it, ascending.
struct Sort {
  const Place *place;
  std::vector<int> members;
};
static std::vector<Sort> sortsOf(const Problem &problem) {
  std::vector<Sort> sorts;
  for (const Place &place : problem.places) {
    bool known = false;
    for (const Sort &sort : sorts)
      known |= *sort.place == place;
    if (known)
      continue;
    sorts.push_back({&place, {}});
    for (int p = 0; p < int(problem.places.size()); ++p)
      if (problem.places[p].covers(place))
        sorts.back().members.push_back(p);
  }
  return sorts;
}

namespace {
/// The dynamic program for one time a frame.
class Placement {
public:
  Placement(const Problem &problem, double seconds, const Limits &limits)
      : problem(problem), seconds(seconds), limits(limits),
        candidates(problem, limits), copies(copiesUpTo(problem)),
        sorts(sortsOf(problem)) {
    for (const Sort &sort : sorts)
      widths.push_back(sort.place->widths());
  }
  std::optional<Solution> run();

private:
  /// How the stages so far stand on the places so far.
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
  /// Of places of one kind, for each of so many copies.
  const std::vector<Resources> &budgetsOf(int kind, int copies) {
    auto [it, isNew] = budgets.try_emplace({kind, copies});
    if (isNew)
      for (const Sort &sort : sorts)
        if (sort.place->kind == kind)
          it->second.push_back(sort.place->budgetFor(seconds * copies));
    return it->second;
  }
  bool mayEnd(int end) const {
    return end == int(problem.stages.size()) || problem.stages[end].mayCut;
  }
  /// `copies` places from `place` on that hold replicas of this sort's runs;
  /// none if there are not as many, or the first is another one.
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
  /// May a run [begin, end) have the streams of this place?
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
  const Place &here = *sorts[sort].place;
  int p = places.front(), r = int(places.size());
  const State from = states[p][begin];
  RunFront &labels = front(widths[sort].front(), r, begin);
  int n = int(problem.stages.size());
  for (int end = begin + 1; end <= n; ++end) {
    const Stage &last = problem.stages[end - 1];
    if ((end - 1 > begin && last.mustCut) || !mayHold(end - 1, places) ||
        labels.exceeds(end, budgetsOf(here.kind, r)))
      break;
    if (!mayEnd(end))
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
          // One copy stands as what the place is.
          if (states[p][begin].nodes + r > limits.maxNodes ||
              (r == 1 && !(*sorts[sort].place == problem.places[p])))
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
  solution.isExact = exact && candidates.isExact();
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

/// Times for which tensors hold a medium or an endpoint: every run's ends, of
/// short networks; of long ones those of single tensors.
void addWireTimes(const Problem &problem, const Place &place,
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

/// Seconds for which the parts of a run's place are busy with a frame.
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
      seconds = std::max(seconds, bytes / place.bandwidth[m]);
  return seconds / double(run.places.size());
}

/// Do several stages add up their times, on a shared unit or a memory?
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

/// Times between which the sums of stages lie, in steps: from the least of a
/// single stage to all of them one after another.
void addSumTimes(const Problem &problem, const Place &place,
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

/// Every time a frame at which a plan can become possible, ascending.
std::vector<double> times(const Problem &problem) {
  std::vector<double> all;
  std::vector<int> copies = copiesUpTo(problem);
  for (const Sort &sort : sortsOf(problem)) {
    const Place &place = *sort.place;
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

/// Choices of one stage by interval, with the least price so far.
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
      // Memories are looked at together, not by the stage.
      for (size_t m = 0; m < gen::kMemories; ++m)
        group.budget.amount[gen::memoryKind(m)] = INFINITY;
      for (const auto &choices : problem.kinds[group.kind].choices)
        group.steps.push_back(stepsOf(choices, group.budget));
    }
    addTraffic();
  }

  /// None if no relaxed bound forbids a frame in so many seconds, else why.
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
  /// Of each memory: what all places have, and the fewest bytes a frame.
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
    // So that a whole budget costs one.
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
double boundOf(const Problem &problem, const std::vector<double> &all,
               Limit *why) {
  Relaxation relaxation(problem);
  double host = hostSeconds(problem);
  size_t low = 0, high = all.size(); // the first that nothing forbids
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
  if (host > bound) {
    bound = host;
    reason = {Limit::Kind::HostLink};
  }
  // Whatever place takes a tensor from the host, or gives it, needs its beats.
  for (const Tensor &tensor : problem.tensors) {
    if (tensor.producer >= 0 && !tensor.toHost)
      continue;
    double least = INFINITY;
    Limit border{Limit::Kind::Border};
    for (const Sort &sort : sortsOf(problem)) {
      const Place &place = *sort.place;
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

} // namespace

double lowerBound(const Problem &problem, Limit *why) {
  return boundOf(problem, times(problem), why);
}

std::optional<Solution> solveWithin(const Problem &problem, double seconds,
                                    const Limits &limits) {
  if (hostSeconds(problem) > seconds * (1 + 1e-12))
    return std::nullopt;
  Limits used = limitsFor(problem, limits);
  auto solution = Placement(problem, seconds, used).run();
  if (solution && isLarge(problem))
    solution->isExact = false;
  return solution;
}

/// The quickest plan between a time that is too short and that of a plan, whose
/// own sums may say that it takes less.
static Solution tightened(const Problem &problem, double low, Solution found,
                          const Limits &limits) {
  constexpr double kClose = 1e-4;
  auto takeOwn = [&] {
    double own = limits.least;
    for (const Run &run : found.runs)
      own = std::max(own, busySeconds(problem, run) * (1 + 1e-12));
    if (own < found.seconds)
      if (auto same = solveWithin(problem, own, limits))
        found = std::move(*same);
  };
  takeOwn();
  while (found.seconds > low * (1 + kClose)) {
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
  // Upwards in steps of some per cent, so that nothing feasible is passed by
  // far; then within the step.
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
    ratio =
        isLarge(problem) ? 1.25 : std::min(1.3, 1 + (ratio - 1) * 1.15 + 0.002);
    high = std::upper_bound(all.begin(), all.end(), all[high] * ratio) -
           all.begin();
    high = std::max(low, std::min(high, all.size() - 1));
  }
  // To half a per cent where a step is expensive.
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

//===----------------------------------------------------------------------===//
// Stages by themselves
//===----------------------------------------------------------------------===//

/// The end of a stage and those that stay with it.
static int groupEnd(const Problem &problem, int stage) {
  int end = stage + 1;
  while (end < int(problem.stages.size()) && !problem.stages[end].mayCut)
    ++end;
  return end;
}

/// The cheapest run of a group on one place like this, with the group behind it
/// if that is easier: a part with the tensor that it is joined to.
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
    const Place &place = *sort.place;
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

Limit whyNotAlone(const Problem &problem, int stage) {
  Limit why;
  double least = INFINITY;
  for (const Sort &sort : sortsOf(problem)) {
    Place open = *sort.place;
    open.unlimit();
    auto run = runAlone(problem, stage, open, INFINITY);
    if (!run)
      continue;
    Resources need = run->cost.most();
    double ratio = 0;
    for (size_t k = 0; k < kKinds; ++k)
      if (need.amount[k] > 0)
        ratio =
            std::max(ratio, need.amount[k] /
                                std::max(1e-9, sort.place->budget.amount[k]));
    if (ratio >= least)
      continue;
    least = ratio;
    why = exceeded(need, sort.place->budget, problem.kinds[open.kind]);
    why.kind = Limit::Kind::StageAlone;
    why.stage = problem.stages[stage].name;
    why.device = problem.kinds[open.kind].name;
  }
  return why;
}
} // namespace rhizome::explore
