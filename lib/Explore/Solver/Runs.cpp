// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Labels of a run: every way to choose options for its stages that is not
// dominated, extended stage by stage. If there are too many, the best
// under each of a fixed table of prices are kept, and the cheapest.
#include "rhizome/Explore/Solver/Runs.h"
#include "rhizome/Explore/Solver/RunLayout.h"
#include <algorithm>
#include <cmath>
#include <numeric>

namespace rhizome::explore {
using gen::Resources;
constexpr size_t kKinds = gen::kResources;

//                      lut ff dsp bram uram lutram, memories
const std::array<std::array<double, kKinds>, kPrices> kPriceTable = {{
    {1, 1, 1, 1, 1, 1, 1, 1, 1, 1},
    {4, 1, 1, 1, 1, 1, 1, 1, 1, 1},
    {8, 1, 1, 1, 1, 1, 8, 8, 8, 8},
    {1, 1, 8, 1, 1, 1, 8, 8, 8, 8},
    {1, 1, 1, 8, 8, 1, 1, 1, 1, 1},
    {8, 8, 1, 8, 8, 8, 8, 8, 8, 8},
    {64, 8, 1, 1, 1, 8, 1, 1, 1, 1},
    {1, 1, 64, 1, 1, 1, 1, 1, 1, 1},
    {1, 1, 1, 64, 64, 1, 1, 1, 1, 1},
    // For a plan without UltraRAM these are the last and the first again.
    {1, 1, 1, 64, 1, 1, 1, 1, 1, 1},
    {1, 1, 1, 1, 64, 1, 1, 1, 1, 1},
}};

Cost &Cost::operator+=(const Cost &other) {
  resources += other.resources;
  lutVariance += other.lutVariance;
  ffVariance += other.ffVariance;
  return *this;
}

Cost Glue::crossing(int, int, int) { return {}; }

int64_t Glue::wires(int, int) { return 0; }

Resources Cost::most() const {
  Resources r = resources;
  r.lut() += std::sqrt(lutVariance);
  r.ff() += std::sqrt(ffVariance);
  return r;
}

static std::array<double, kKinds> sharesOf(const Resources &cost,
                                           const Resources &capacity) {
  std::array<double, kKinds> share;
  for (size_t k = 0; k < kKinds; ++k)
    share[k] = cost.amount[k] <= 0      ? 0
               : capacity.amount[k] > 0 ? cost.amount[k] / capacity.amount[k]
                                        : 1e3 * cost.amount[k];
  return share;
}

double priceOf(const Resources &cost, const Resources &capacity) {
  double price = 0;
  for (double share : sharesOf(cost, capacity))
    price += share;
  return price;
}

std::array<double, kPrices> pricesOf(const Resources &cost,
                                     const Resources &capacity) {
  std::array<double, kKinds> share = sharesOf(cost, capacity);
  std::array<double, kPrices> prices{};
  for (size_t p = 0; p < kPrices; ++p)
    for (size_t k = 0; k < kKinds; ++k)
      prices[p] += kPriceTable[p][k] * share[k];
  return prices;
}

bool fits(const Cost &cost, const Resources &budget, const Limits &limits) {
  Resources need = limits.errorBars ? cost.most() : cost.resources;
  for (size_t k = 0; k < kKinds; ++k)
    if (need.amount[k] > budget.amount[k] * limits.share)
      return false;
  return true;
}

Ends crossingOf(const Problem &problem, int begin, int end) {
  Ends crossing;
  for (int t = 0; t < int(problem.tensors.size()); ++t) {
    const Tensor &tensor = problem.tensors[t];
    auto inside = [&](int s) { return s >= begin && s < end; };
    bool isLater = !tensor.readers.empty() && tensor.readers.back() >= end;
    if (inside(tensor.producer)) {
      if (tensor.toHost || isLater)
        crossing.out.push_back(t);
      continue;
    }
    if (tensor.producer >= end)
      continue;
    // In a chain, values read by later runs come through this one.
    bool passes = problem.isChain && isLater;
    if (passes)
      crossing.out.push_back(t);
    if (passes ||
        std::any_of(tensor.readers.begin(), tensor.readers.end(), inside))
      crossing.in.push_back(t);
  }
  return crossing;
}

/// Of each resource the most that a place of this kind has, and of each memory
/// the bytes that it moves within the interval.
static Resources largestBudget(const Problem &problem, int kind,
                               int64_t interval) {
  Resources most;
  for (const Place &place : problem.places) {
    if (place.kind != kind)
      continue;
    Resources budget = place.budgetFor(double(interval + 1) / place.clockHz);
    for (size_t k = 0; k < kKinds; ++k)
      most.amount[k] = std::max(most.amount[k], budget.amount[k]);
  }
  return most;
}

/// A capacity with the memories of a budget.
static Resources withTraffic(Resources capacity, const Resources &budget) {
  for (size_t m = 0; m < gen::kMemories; ++m)
    capacity.amount[gen::memoryKind(m)] = budget.amount[gen::memoryKind(m)];
  return capacity;
}

void RunGlue::add(Cost &sum, int stage, const Choice &choice,
                  Chosen chosen) const {
  const Stage &what = problem.stages[stage];
  const Tensor &result = problem.tensors[what.result];
  for (size_t i = 0; i < what.operands.size(); ++i) {
    int t = what.operands[i];
    const Tensor &tensor = problem.tensors[t];
    if (choice.in[i] == kInside)
      continue;
    if (tensor.producer >= begin) {
      int from = chosen(tensor.producer).out;
      if (from != choice.in[i])
        sum += problem.glue->convert(kind, t, from, choice.in[i]);
      continue;
    }
    // The border has the format of the first reader.
    int first =
        *std::lower_bound(tensor.readers.begin(), tensor.readers.end(), begin);
    if (first == stage) {
      sum += problem.glue->border(kind, streamBits, t, choice.in[i],
                                  /*enters=*/true);
      continue;
    }
    const Stage &reader = problem.stages[first];
    size_t slot = std::find(reader.operands.begin(), reader.operands.end(), t) -
                  reader.operands.begin();
    int from = chosen(first).in[slot];
    if (from != choice.in[i])
      sum += problem.glue->convert(kind, t, from, choice.in[i]);
  }
  // Those of the same region use it inside.
  int last = stage + choice.parts - 1 - choice.part;
  auto readers = result.toHost + (result.readers.end() -
                                  std::upper_bound(result.readers.begin(),
                                                   result.readers.end(), last));
  if (readers > 1 && choice.out != kInside)
    sum += problem.glue->fork(kind, what.result, choice.out, int(readers));
}

Cost RunGlue::closing(int end, const Ends &ends, Chosen chosen) const {
  Cost cost;
  for (int t : ends.out) {
    const Tensor &tensor = problem.tensors[t];
    if (tensor.producer >= begin) {
      int format = chosen(tensor.producer).out;
      cost += problem.glue->border(kind, streamBits, t, format, false);
      continue;
    }
    // Passed on, in the format of the first reader here or element by element.
    auto first =
        std::lower_bound(tensor.readers.begin(), tensor.readers.end(), begin);
    int format = -1;
    if (first != tensor.readers.end() && *first < end) {
      const Stage &reader = problem.stages[*first];
      size_t slot =
          std::find(reader.operands.begin(), reader.operands.end(), t) -
          reader.operands.begin();
      format = chosen(*first).in[slot];
      cost += problem.glue->fork(kind, t, format, 2);
    } else {
      cost += problem.glue->border(kind, streamBits, t, format, true);
    }
    cost += problem.glue->border(kind, streamBits, t, format, false);
  }
  return cost;
}

RunFront::RunFront(const Problem &problem, const Limits &limits,
                   Candidates &candidates, int kind, int64_t streamBits,
                   int begin, int64_t interval)
    : problem(problem), limits(limits), candidates(candidates),
      glue{problem, kind, begin, streamBits}, kind(kind), begin(begin),
      streamBits(streamBits), interval(interval) {
  most = largestBudget(problem, kind, interval);
  capacity = withTraffic(problem.kinds[kind].capacity, most);
}

const Choice &RunFront::choiceAt(int level, int label, int stage) const {
  while (begin + level > stage)
    label = levels[level--][label].parent;
  return problem.kinds[kind].choices[stage][levels[level][label].choice];
}

static bool dominates(const Choice &a, const Choice &b) {
  for (size_t k = 0; k < kKinds; ++k)
    if (a.cost.resources.amount[k] > b.cost.resources.amount[k])
      return false;
  return a.cost.lutVariance <= b.cost.lutVariance &&
         a.cost.ffVariance <= b.cost.ffVariance;
}

/// Whether one can replace the other.
static bool isAlike(const Choice &a, const Choice &b) {
  return a.in == b.in && a.out == b.out && a.region == b.region &&
         a.unit == b.unit && (a.unit < 0 || a.interval <= b.interval);
}

/// Whether `a` has at least the free time of shared units that `b` has.
static bool isFreer(llvm::ArrayRef<RunFront::Busy> a,
                    llvm::ArrayRef<RunFront::Busy> b) {
  return std::all_of(b.begin(), b.end(), [&](const RunFront::Busy &theirs) {
    return std::any_of(a.begin(), a.end(), [&](const RunFront::Busy &mine) {
      return mine.unit == theirs.unit && mine.cycles <= theirs.cycles;
    });
  });
}

const std::vector<int> &Candidates::of(int kind, int64_t interval, int stage) {
  auto [place, isNew] = known.try_emplace({kind, interval, stage});
  std::vector<int> &kept = place->second;
  if (!isNew)
    return kept;
  const Kind &device = problem.kinds[kind];
  const std::vector<Choice> &all = device.choices[stage];
  std::vector<int> quick;
  const Resources capacity =
      withTraffic(device.capacity, largestBudget(problem, kind, interval));
  std::vector<std::array<double, kPrices>> prices;
  for (int c = 0; c < int(all.size()); ++c)
    if (all[c].part > 0) {
      // It follows from the choice for the first part.
      kept.push_back(c);
    } else if (all[c].interval <= interval) {
      quick.push_back(c);
      prices.push_back(pricesOf(all[c].cost.resources, capacity));
    }
  // Those on shared units take no places of the others, nor do regions, whose
  // first parts have the cost of all.
  enum Class : uint8_t { Own, Shared, Region, kClasses };
  auto classOf = [&](int c) {
    return all[c].region >= 0 ? Region : all[c].unit >= 0 ? Shared : Own;
  };
  std::array<size_t, kClasses> count{};
  std::vector<int> order(quick.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](int a, int b) {
    return std::pair(prices[a][0], a) < std::pair(prices[b][0], b);
  });
  auto keep = [&](int i) {
    int c = quick[i];
    for (int k : kept)
      if (k == c || (isAlike(all[k], all[c]) && dominates(all[k], all[c])))
        return;
    if (size_t &taken = count[classOf(c)]; taken < limits.choices) {
      ++taken;
      kept.push_back(c);
    } else {
      exact = false;
    }
  };
  if (quick.size() > limits.choices)
    for (Class one : {Own, Shared, Region})
      for (size_t p = 0; p < kPrices; ++p) {
        int least = -1;
        for (int i = 0; i < int(quick.size()); ++i)
          if (classOf(quick[i]) == one &&
              (least < 0 || prices[i][p] < prices[least][p]))
            least = i;
        if (least >= 0)
          keep(least);
      }
  for (int i : order)
    keep(i);
  return kept;
}

void RunFront::prune(std::vector<Label> &labels, int stage) {
  const Kind &device = problem.kinds[kind];
  const std::vector<Choice> &all = device.choices[stage];
  // What no place can hold makes room for what one can.
  std::vector<bool> tooLarge(labels.size());
  for (size_t i = 0; i < labels.size(); ++i)
    tooLarge[i] = !fits(labels[i].cost, most, limits);
  std::vector<int> order(labels.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](int a, int b) {
    return std::tuple(bool(tooLarge[a]), labels[a].price, a) <
           std::tuple(bool(tooLarge[b]), labels[b].price, b);
  });
  std::vector<Label> kept;
  std::vector<bool> taken(labels.size());
  // Those with shared units take no places of the others, nor do those within
  // a region, which is paid for by then.
  std::array<size_t, 3> count{};
  auto keep = [&](int i) {
    const Label &label = labels[i];
    if (taken[i])
      return;
    for (const Label &k : kept) {
      const Choice &a = all[k.choice], &b = all[label.choice];
      if (a.out != b.out ||
          (!(a.isWhole() && b.isWhole()) &&
           (a.region != b.region || a.part != b.part)) ||
          !isFreer(k.busy, label.busy))
        continue;
      bool dominated = k.cost.lutVariance <= label.cost.lutVariance &&
                       k.cost.ffVariance <= label.cost.ffVariance;
      for (size_t r = 0; dominated && r < kKinds; ++r)
        dominated =
            k.cost.resources.amount[r] <= label.cost.resources.amount[r];
      if (dominated)
        return;
    }
    size_t &places = count[!all[label.choice].isWhole() ? 2
                           : !label.busy.empty()        ? 1
                                                        : 0];
    if (places >= limits.partial) {
      exact = false;
      return;
    }
    ++places;
    taken[i] = true;
    kept.push_back(label);
  };
  if (labels.size() > limits.partial) {
    std::array<int, 2 * kPrices> cheapest;
    std::array<double, 2 * kPrices> least;
    cheapest.fill(order.front());
    least.fill(INFINITY);
    for (int i = 0; i < int(labels.size()); ++i) {
      if (tooLarge[i])
        continue;
      auto prices = pricesOf(labels[i].cost.resources, capacity);
      const size_t from = labels[i].busy.empty() ? 0 : kPrices;
      for (size_t p = 0; p < kPrices; ++p)
        if (prices[p] < least[from + p]) {
          least[from + p] = prices[p];
          cheapest[from + p] = i;
        }
    }
    for (int i : cheapest)
      keep(i);
  }
  for (int i : order)
    keep(i);
  labels = std::move(kept);
}

void RunFront::takeUnit(Label &label, const Choice &choice) const {
  if (choice.unit < 0)
    return;
  auto known =
      std::find_if(label.busy.begin(), label.busy.end(),
                   [&](const Busy &b) { return b.unit == choice.unit; });
  if (known != label.busy.end() &&
      known->cycles + choice.interval <= interval) {
    known->cycles += choice.interval;
    label.instance = known->instance;
    return;
  }
  label.cost += problem.kinds[kind].units[choice.unit];
  if (known == label.busy.end()) {
    label.busy.push_back({choice.unit, 0, choice.interval});
    return;
  }
  known->cycles = choice.interval;
  label.instance = ++known->instance;
}

void RunFront::extend() {
  int level = int(levels.size()), stage = begin + level;
  const Kind &device = problem.kinds[kind];
  const std::vector<int> &options = candidates.of(kind, interval, stage);
  std::vector<Label> next;
  auto add = [&](int parent) {
    // Within a region its next part follows.
    const Choice *before =
        parent < 0
            ? nullptr
            : &device.choices[stage - 1][levels[level - 1][parent].choice];
    int open = before && !before->isWhole() ? before->region : -1;
    for (int c : options) {
      const Choice &choice = device.choices[stage][c];
      if (choice.part > 0
              ? open != choice.region || before->part + 1 != choice.part
              : open >= 0)
        continue;
      Label label{choice.cost, 0, c, parent};
      if (!device.beyond.empty() && begin <= device.beyond[stage].from)
        label.cost.resources += device.beyond[stage].resources;
      if (parent >= 0) {
        label.cost += levels[level - 1][parent].cost;
        label.busy = levels[level - 1][parent].busy;
      }
      takeUnit(label, choice);
      glue.add(label.cost, stage, choice, [&](int before) -> const Choice & {
        return choiceAt(level - 1, parent, before);
      });
      label.price = priceOf(label.cost.resources, capacity);
      next.push_back(label);
    }
  };
  if (level == 0)
    add(-1);
  else
    for (int parent = 0; parent < int(levels[level - 1].size()); ++parent)
      add(parent);
  prune(next, stage);
  levels.push_back(std::move(next));
}

bool passes(const Problem &problem, const Ends &ends, const Place &place,
            double seconds) {
  double most = seconds * (1 + 1e-12);
  for (auto *side : {&ends.in, &ends.out}) {
    double busy = 0;
    double cycles = 0;
    if (place.wire)
      for (int t : side == &ends.in ? ends.out : ends.in)
        busy += place.wire->answerFor(problem.tensors[t].bits);
    for (int t : *side) {
      int64_t bits = problem.tensors[t].bits;
      int64_t beats = (bits + place.streamBits - 1) / place.streamBits;
      if (double(beats) / place.clockHz > most)
        return false;
      if (!place.wire)
        continue;
      busy += place.wire->secondsForFrame(bits);
      cycles += place.wire->cyclesFor(bits, place.streamBits);
    }
    if (busy > most || cycles / place.clockHz > most)
      return false;
  }
  return true;
}

std::optional<std::vector<int>> RunFront::layOutOn(const Place &place,
                                                   int level, int label,
                                                   const Ends &ends,
                                                   const Cost &atBorder) const {
  std::vector<Placed> stages(level + 1);
  for (int at = level, l = label; at >= 0; --at) {
    const Label &here = levels[at][l];
    stages[at] = {&problem.kinds[kind].choices[begin + at][here.choice],
                  here.cost, here.instance};
    l = here.parent;
    if (at > 0)
      subtract(stages[at].cost, levels[at - 1][l].cost);
  }
  LaidOut on = layOutRun(glue, stages, limits, place, ends, atBorder);
  if (!on.fits)
    return std::nullopt;
  return std::move(on.dies);
}

bool RunFront::exceeds(int end, const std::vector<Resources> &budgets) {
  while (begin + int(levels.size()) < end)
    extend();
  beyond.resize(levels.size());
  std::optional<bool> &known = beyond[end - begin - 1];
  if (!known)
    known = std::none_of(
        levels[end - begin - 1].begin(), levels[end - begin - 1].end(),
        [&](const Label &label) {
          return std::any_of(budgets.begin(), budgets.end(),
                             [&](const Resources &budget) {
                               return fits(label.cost, budget, limits);
                             });
        });
  return *known;
}

std::optional<Run> RunFront::best(int end, const Place &place,
                                  const Resources &budget, const Ends &ends) {
  // Labels of a large problem are much alike: if several fit no layout, hardly
  // any does, and runs are balanced for their dies.
  const int mostLaidOut = isLarge(problem) ? 4 : INT_MAX;
  int laidOut = 0;
  while (begin + int(levels.size()) < end)
    extend();
  int level = end - begin - 1;
  std::optional<Run> best;
  int bestLabel = -1;
  double bestPrice = INFINITY;
  std::optional<Cost> endpoint; // the same for all labels
  for (int l = 0; l < int(levels[level].size()); ++l) {
    const Label &label = levels[level][l];
    if (!problem.kinds[kind].choices[begin + level][label.choice].isWhole() ||
        label.price >= bestPrice || !fits(label.cost, budget, limits))
      continue;
    if (!endpoint)
      endpoint = place.wire ? problem.glue->endpoint(place, ends) : Cost();
    Cost cost = glue.closing(end, ends, [&](int stage) -> const Choice & {
      return choiceAt(level, l, stage);
    });
    cost += *endpoint;
    const Cost atBorder = cost;
    cost += label.cost;
    double price = priceOf(cost.resources, capacity);
    if (price >= bestPrice || !fits(cost, budget, limits))
      continue;
    std::vector<int> dies;
    if (place.dies.count() > 1) {
      if (laidOut++ == mostLaidOut)
        break;
      // Labels were compared by their sums.
      exact = false;
      auto layout = layOutOn(place, level, l, ends, atBorder);
      if (!layout)
        continue;
      dies = std::move(*layout);
    }
    bestPrice = price;
    bestLabel = l;
    best = Run{begin, end, {}, {}, {}, std::move(dies), cost, streamBits};
  }
  if (best) {
    best->choices.resize(end - begin);
    best->units.resize(end - begin);
    for (int at = level, l = bestLabel; at >= 0; --at) {
      best->choices[at] = levels[at][l].choice;
      best->units[at] = levels[at][l].instance;
      l = levels[at][l].parent;
    }
  }
  return best;
}
} // namespace rhizome::explore
