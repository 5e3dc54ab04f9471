// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The solver against brute force: exactly for chains, within the stated bound
// for other graphs; and more of anything never hurts.
#include "rhizome/Explore/Solver/Problem.h"
#include <cmath>
#include <functional>
#include <gtest/gtest.h>
#include <map>
#include <random>

using namespace rhizome::explore;
using rhizome::gen::memoryKind;
using rhizome::gen::Resources;

namespace {
/// Converters, forks, borders and endpoints with random prices.
class DrawnGlue final : public Glue {
public:
  Cost convert(int kind, int tensor, int from, int to) override {
    return luts(1 + (7 * kind + 5 * tensor + 3 * from + to) % 9);
  }
  Cost fork(int, int, int, int readers) override { return luts(readers); }
  Cost border(int, int64_t bits, int tensor, int format, bool) override {
    return luts(1 + (tensor + format) % 4 + double(bits) / 32);
  }
  Cost endpoint(const Place &place, const Ends &ends) override {
    return luts(3 * double(ends.in.size() + ends.out.size()) + place.kind);
  }

  int layouts = 0; ///< that were tried: each asks for the input's crossing
  Cost crossing(int, int tensor, int format) override {
    layouts += tensor == 0;
    return luts(1 + (tensor + format) % 3);
  }
  int64_t wires(int tensor, int format) override {
    return 4 + (3 * tensor + 2 * format) % 7;
  }

private:
  static Cost luts(double n) {
    Cost cost;
    cost.resources.lut() = n;
    return cost;
  }
};

struct Drawn {
  Problem problem;
  DrawnGlue glue;
  std::mt19937_64 rng;

  int draw(int lo, int hi) { return lo + int(rng() % uint64_t(hi - lo + 1)); }

  Drawn(uint64_t seed, bool isChain) : rng(seed) {
    problem.glue = &glue;
    int stages = draw(1, isChain ? 4 : 5), kinds = draw(1, 2);
    problem.tensors.push_back({-1, {}, false, 8 * draw(1, 40), 8});
    for (int s = 0; s < stages; ++s) {
      Stage stage;
      stage.name = "s" + std::to_string(s);
      // The newest tensor, and sometimes also an older one.
      stage.operands = {s};
      if (!isChain && s > 1 && draw(0, 1))
        stage.operands.push_back(draw(0, s - 1));
      for (int t : stage.operands)
        problem.tensors[t].readers.push_back(s);
      stage.result = s + 1;
      problem.tensors.push_back({s, {}, s + 1 == stages, 8 * draw(1, 40), 8});
      problem.stages.push_back(std::move(stage));
    }
    for (int k = 0; k < kinds; ++k) {
      Kind kind;
      kind.name = "k" + std::to_string(k);
      kind.capacity.lut() = 100;
      kind.capacity.dsp() = 20;
      for (const Stage &stage : problem.stages) {
        std::vector<Choice> choices;
        for (int c = draw(1, 3); c > 0; --c) {
          Choice choice;
          choice.interval = draw(5, 60);
          choice.cost.resources.lut() = draw(5, 60);
          choice.cost.resources.dsp() = draw(0, 12);
          choice.cost.lutVariance = draw(0, 9);
          for (size_t i = 0; i < stage.operands.size(); ++i)
            choice.in.push_back(draw(0, 2));
          choice.out = draw(0, 2);
          choices.push_back(std::move(choice));
        }
        kind.choices.push_back(std::move(choices));
      }
      problem.kinds.push_back(std::move(kind));
    }
    for (int p = draw(1, 3); p > 0; --p) {
      bool same = !problem.places.empty() && draw(0, 1);
      problem.places.push_back(same ? problem.places.back() : drawPlace());
    }
    Wire wire;
    wire.bitsPerS = 1e9 * draw(1, 10);
    problem.hostWire = wire;
  }

  /// Regions of two stages, units that stages may share, and a memory.
  void addSums() {
    int next = 0;
    for (Kind &kind : problem.kinds) {
      kind.memories = {"ddr"};
      for (int u = draw(1, 2); u > 0; --u) {
        kind.units.emplace_back();
        kind.units.back().resources.lut() = draw(10, 50);
      }
      for (auto &choices : kind.choices)
        for (size_t c = choices.size(); c-- > 0;) {
          Choice other = choices[c];
          if (draw(0, 1)) {
            other.unit = draw(0, int(kind.units.size()) - 1);
            other.interval = draw(5, 30);
            other.cost.resources.lut() = draw(1, 10);
            choices.push_back(other);
          } else if (draw(0, 1)) {
            other.cost.resources.lut() /= 2;
            other.cost.resources.amount[memoryKind(0)] = draw(10, 100);
            choices.push_back(other);
          }
        }
      for (size_t s = 0; s + 1 < kind.choices.size(); ++s) {
        if (draw(0, 1))
          continue;
        Choice first = kind.choices[s][0], second = kind.choices[s + 1][0];
        first.region = second.region = next++;
        first.parts = second.parts = 2;
        second.part = 1;
        first.interval = second.interval = draw(5, 30);
        first.out = second.in[0] = kInside;
        second.cost = {};
        kind.choices[s].push_back(first);
        kind.choices[s + 1].push_back(second);
      }
    }
    for (Place &place : problem.places)
      place.bandwidth[0] = 1e6 * draw(100, 1000);
  }

  /// One place without a link, of several dies.
  void addDies() {
    problem.places.resize(1);
    problem.hostWire.reset();
    Place &place = problem.places[0];
    place.wire.reset();
    place.leastBits = 0;
    place.streamBits = 8;
    place.budget = {};
    for (int d = draw(2, 3); d > 0; --d) {
      Resources die;
      die.lut() = draw(30, 90);
      die.dsp() = draw(3, 15);
      place.dies.budgets.push_back(die);
      place.budget += die;
    }
    if (draw(0, 3) == 0)
      place.budget.lut() *= 0.7;
    place.dies.wires = draw(20, 60);
    place.dies.registers = 2;
    place.dies.border = draw(0, int(place.dies.count()) - 1);
    place.dies.memory = draw(0, int(place.dies.count()) - 1);
  }

  Place drawPlace() {
    Place place;
    place.kind = draw(0, int(problem.kinds.size()) - 1);
    place.budget.lut() = draw(40, 140);
    place.budget.dsp() = draw(4, 24);
    place.clockHz = 1e6 * draw(50, 150);
    Wire wire;
    wire.bitsPerS = 1e9 * draw(1, 10);
    wire.overheadBytes = draw(0, 60);
    place.wire = wire;
    if (wire.overheadBytes < 30)
      place.leastBits = 8 << draw(0, 3);
    return place;
  }
};

/// The least seconds of any plan, by trying everything, in this order of
/// stages.
double bruteForce(const Problem &p) {
  int n = int(p.stages.size()), places = int(p.places.size());
  double host = 0, back = 0;
  for (const Tensor &t : p.tensors) {
    double once = p.hostWire->secondsForFrame(t.bits);
    double answer = p.hostWire->answerFor(t.bits);
    host += (t.producer < 0 ? once : 0) + (t.toHost ? answer : 0);
    back += (t.toHost ? once : 0) + (t.producer < 0 ? answer : 0);
  }
  double floor = std::max(host, back);

  // Least seconds of stages [begin, end) on `copies` places like this.
  auto runSeconds = [&](int begin, int end, const Place &place, int copies) {
    const Kind &kind = p.kinds[place.kind];
    Ends ends;
    double inS = 0, outS = 0;
    double inC = 0, outC = 0;
    int64_t border = 0;
    for (int t = 0; t < int(p.tensors.size()); ++t) {
      const Tensor &tensor = p.tensors[t];
      bool made = tensor.producer >= begin && tensor.producer < end;
      bool readIn = false, readOut = tensor.toHost;
      for (int r : tensor.readers)
        (r >= begin && r < end ? readIn : readOut) |= r >= begin;
      if (made ? !readOut : !readIn)
        continue;
      (made ? ends.out : ends.in).push_back(t);
      (made ? outS : inS) += place.wire->secondsForFrame(tensor.bits);
      (made ? inS : outS) += place.wire->answerFor(tensor.bits);
      (made ? outC : inC) +=
          place.wire->cyclesFor(tensor.bits, place.streamBits);
      border = std::max(border, (tensor.bits + place.streamBits - 1) /
                                    place.streamBits);
    }
    double least = INFINITY;
    std::vector<int> chosen(p.stages.size(), 0);
    // Cycles of the newest unit of each kind, and the cost of the units.
    std::vector<int64_t> busy(kind.units.size());
    Cost units;
    auto at = [&](int stage) -> const Choice & {
      return kind.choices[stage][chosen[stage]];
    };
    std::function<void(int, int64_t)> choose = [&](int s, int64_t slowest) {
      if (s < end) {
        for (size_t c = 0; c < kind.choices[s].size(); ++c) {
          const Choice &choice = kind.choices[s][c];
          bool follows = s > begin && !at(s - 1).isWhole();
          if (choice.part > 0 ? !follows || at(s - 1).region != choice.region
                              : follows)
            continue;
          chosen[s] = int(c);
          if (choice.unit < 0) {
            choose(s + 1, std::max(slowest, choice.interval));
            continue;
          }
          int64_t &cycles = busy[choice.unit], before = cycles;
          Cost paid = units;
          if (before > 0) {
            cycles = before + choice.interval;
            choose(s + 1, std::max(slowest, cycles));
          }
          cycles = choice.interval;
          units += kind.units[choice.unit];
          choose(s + 1, std::max(slowest, cycles));
          cycles = before;
          units = paid;
        }
        return;
      }
      if (!at(end - 1).isWhole())
        return;
      Cost cost = units;
      std::map<int, int> entered; // tensor -> format of its first reader
      for (int stage = begin; stage < end; ++stage) {
        cost += at(stage).cost;
        const Stage &what = p.stages[stage];
        for (size_t i = 0; i < what.operands.size(); ++i) {
          int t = what.operands[i], want = at(stage).in[i], from;
          if (want == kInside)
            continue;
          if (p.tensors[t].producer >= begin) {
            from = at(p.tensors[t].producer).out;
          } else if (auto it = entered.find(t); it != entered.end()) {
            from = it->second;
          } else {
            cost += p.glue->border(place.kind, place.streamBits, t, want, true);
            entered[t] = from = want;
          }
          if (from != want)
            cost += p.glue->convert(place.kind, t, from, want);
        }
        const Tensor &result = p.tensors[what.result];
        int readers = int(result.readers.size()) + result.toHost;
        if (readers > 1 && at(stage).out != kInside)
          cost += p.glue->fork(place.kind, what.result, at(stage).out, readers);
      }
      for (int t : ends.out)
        cost += p.glue->border(place.kind, place.streamBits, t,
                               at(p.tensors[t].producer).out, false);
      cost += p.glue->endpoint(place, ends);
      Resources most = cost.most();
      for (size_t k = 0; k < rhizome::gen::kResourceNames.size(); ++k)
        if (most.amount[k] > place.budget.amount[k])
          return;
      double bytes = most.amount[memoryKind(0)];
      double memory = bytes > 0 ? bytes / place.bandwidth[0] : 0;
      double cycles = std::max({double(std::max(slowest, border)), inC, outC});
      least = std::min(least,
                       std::max({cycles / place.clockHz, inS, outS, memory}) /
                           copies);
    };
    choose(begin, 0);
    return least;
  };

  double best = INFINITY;
  std::function<void(int, int, double)> lay = [&](int begin, int at,
                                                  double seconds) {
    if (begin == n) {
      best = std::min(best, std::max(seconds, floor));
      return;
    }
    // Any places from `at` on, with what they have in common.
    for (int mask = 1; mask < 1 << places; ++mask) {
      int last = 0, copies = 0;
      bool good = (mask & ((1 << at) - 1)) == 0;
      std::optional<Place> common;
      for (int q = 0; q < places; ++q)
        if (mask >> q & 1) {
          last = q;
          ++copies;
          const Place &place = p.places[q];
          if (!common)
            common = place;
          for (size_t k = 0; k < common->budget.amount.size(); ++k)
            common->budget.amount[k] =
                std::min(common->budget.amount[k], place.budget.amount[k]);
          common->bandwidth[0] =
              std::min(common->bandwidth[0], place.bandwidth[0]);
          common->wire->bitsPerS =
              std::min(common->wire->bitsPerS, place.wire->bitsPerS);
        }
      for (int q = 0; q < places; ++q)
        good &= !(mask >> q & 1) || p.places[q].covers(*common);
      for (int end = begin + 1; good && end <= n; ++end)
        for (const Place &width : common->widths())
          lay(end, last + 1,
              std::max(seconds, runSeconds(begin, end, width, copies)));
    }
  };
  lay(0, 0, 0);
  return best;
}

double fastest(const Problem &problem, bool *exact = nullptr) {
  auto solution = solveFastest(problem, {});
  if (exact)
    *exact = solution && solution->isExact;
  if (!solution)
    return INFINITY;
  int at = 0;
  for (const rhizome::explore::Run &run : solution->runs) {
    EXPECT_EQ(run.begin, at);
    at = run.end;
    for (int p : run.places)
      EXPECT_EQ(problem.places[p].kind, problem.places[run.places[0]].kind);
  }
  EXPECT_EQ(at, int(problem.stages.size()));
  return solution->seconds;
}

void expectEqual(double a, double b, uint64_t seed, double error = 1e-9) {
  if (std::isinf(a) || std::isinf(b))
    EXPECT_EQ(std::isinf(a), std::isinf(b)) << "seed " << seed;
  else
    EXPECT_NEAR(a, b, error * b) << "seed " << seed;
}

TEST(Solve, ChainsEqualBruteForce) {
  int feasible = 0, bound = 0;
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    Drawn drawn(seed, /*isChain=*/true);
    bool exact;
    double found = fastest(drawn.problem, &exact);
    expectEqual(found, bruteForce(drawn.problem), seed);
    if (std::isinf(found))
      continue;
    ++feasible;
    EXPECT_TRUE(exact) << "seed " << seed;
    EXPECT_LE(lowerBound(drawn.problem), found * (1 + 1e-9));
    // A goal leaves only a part of one resource on every device.
    Problem part = drawn.problem;
    for (Place &place : part.places)
      place.budget.amount[seed % 2 ? 0 : 2] *= drawn.draw(3, 9) / 10.0;
    double within = fastest(part, &exact);
    expectEqual(within, bruteForce(part), seed);
    EXPECT_GE(within, found * (1 - 1e-9)) << "seed " << seed;
    bound += std::isfinite(within) && within > found * (1 + 1e-9);
  }
  EXPECT_GT(feasible, 150);
  EXPECT_GT(bound, 20);
}

/// Whether something is taken whose time is only determined by whole sums.
bool takesSums(const Problem &problem, const Solution &solution) {
  for (const rhizome::explore::Run &run : solution.runs)
    for (int s = run.begin; s < run.end; ++s) {
      const Choice &choice = problem.kinds[problem.places[run.places[0]].kind]
                                 .choices[s][run.choices[s - run.begin]];
      if (choice.unit >= 0 || choice.region >= 0 ||
          choice.cost.resources.amount[memoryKind(0)] > 0)
        return true;
    }
  return false;
}

TEST(Solve, RegionsSharedUnitsAndMemoriesEqualBruteForce) {
  int feasible = 0, taken = 0, helped = 0;
  for (uint64_t seed = 4001; seed <= 4300; ++seed) {
    Drawn drawn(seed, /*isChain=*/true);
    double without = fastest(drawn.problem);
    drawn.addSums();
    bool exact;
    double found = fastest(drawn.problem, &exact);
    expectEqual(found, bruteForce(drawn.problem), seed, 2e-4);
    if (std::isinf(found))
      continue;
    ++feasible;
    auto solution = solveFastest(drawn.problem, {});
    taken += takesSums(drawn.problem, *solution);
    helped += found < without * (1 - 1e-3);
    EXPECT_LE(lowerBound(drawn.problem), found * (1 + 1e-9)) << "seed " << seed;
    // More of a memory never hurts.
    for (Place &place : drawn.problem.places)
      place.bandwidth[0] *= 2;
    EXPECT_LE(fastest(drawn.problem), found * (1 + 2e-4)) << "seed " << seed;
  }
  EXPECT_GT(feasible, 200);
  EXPECT_GT(taken, 100);
  EXPECT_GT(helped, 50);
}

TEST(Solve, GraphsLieWithinTheBound) {
  int feasible = 0, cut = 0;
  for (uint64_t seed = 1001; seed <= 1100; ++seed) {
    Drawn drawn(seed, /*isChain=*/false);
    double best = INFINITY, found = INFINITY, bound = INFINITY;
    for (const auto &order : ordersOf(drawn.problem)) {
      Problem other = reorder(drawn.problem, order);
      found = std::min(found, fastest(other));
      best = std::min(best, bruteForce(other));
      bound = std::min(bound, lowerBound(other));
    }
    if (std::isinf(best))
      continue;
    ++feasible;
    cut += found > best * (1 + 1e-9);
    EXPECT_GE(found, best * (1 - 1e-9)) << "seed " << seed;
    EXPECT_LE(bound, best * (1 + 1e-9)) << "seed " << seed;
  }
  EXPECT_GT(feasible, 50);
  EXPECT_LE(cut, feasible / 10);
}

TEST(Solve, MoreNeverHurts) {
  int helped = 0;
  for (uint64_t seed = 2001; seed <= 2300; ++seed) {
    Drawn drawn(seed, seed % 2 == 0);
    // Every third problem with shared units, regions and memories, whose
    // times are found to a ten-thousandth.
    const bool sums = seed % 3 == 0;
    if (sums)
      drawn.addSums();
    double before = fastest(drawn.problem);
    Problem device = drawn.problem;
    Place other = drawn.drawPlace();
    if (sums)
      other.bandwidth[0] = 1e6 * drawn.draw(100, 1000);
    device.places.insert(device.places.begin() +
                             drawn.draw(0, int(device.places.size())),
                         other);
    Problem budget = drawn.problem;
    Place &place = budget.places[drawn.draw(0, int(budget.places.size()) - 1)];
    for (double &amount : place.budget.amount)
      amount *= 1 + drawn.draw(0, 10) * 0.1;
    Problem link = drawn.problem;
    for (Place &p : link.places)
      p.wire->bitsPerS *= 2;
    Problem memory = drawn.problem;
    for (Place &p : memory.places)
      p.bandwidth[0] *= 1 + drawn.draw(0, 10) * 0.1;
    const char *const what[] = {"a device", "a budget", "links", "memories"};
    for (auto [i, more] :
         {std::pair(0, &device), {1, &budget}, {2, &link}, {3, &memory}}) {
      double after = fastest(*more);
      EXPECT_LE(after, before * (1 + (sums ? 2e-4 : 1e-9)))
          << "seed " << seed << ", more of " << what[i];
      helped += after < before * (1 - 1e-9);
    }
  }
  EXPECT_GT(helped, 45);
}

/// A long chain on one place. Products are in LUTs or in DSPs, at any folding:
/// which are where depends on both budgets.
struct Long {
  Problem problem;
  DrawnGlue glue;

  Long(uint64_t seed, int stages) {
    std::mt19937_64 rng(seed);
    auto draw = [&](int lo, int hi) {
      return lo + int(rng() % uint64_t(hi - lo + 1));
    };
    problem.glue = &glue;
    problem.tensors.push_back({-1, {}, false, 64, 8});
    Kind kind;
    kind.name = "k";
    kind.capacity.lut() = 100000;
    kind.capacity.dsp() = 1000;
    for (int s = 0; s < stages; ++s) {
      Stage stage;
      stage.name = "s" + std::to_string(s);
      stage.operands = {s};
      problem.tensors[s].readers.push_back(s);
      stage.result = s + 1;
      problem.tensors.push_back({s, {}, s + 1 == stages, 64, 8});
      std::vector<Choice> choices;
      const int64_t work = draw(2000, 20000);
      const double luts = draw(20, 60);
      for (int products = 1; products <= 256; products += 1 + products / 8)
        for (bool inDsps : {false, true}) {
          Choice choice;
          choice.interval = (work + products - 1) / products;
          choice.cost.resources.lut() = 30 + products * (inDsps ? 6 : luts);
          choice.cost.resources.dsp() = inDsps ? products : 0;
          choice.in = {products % 3};
          choice.out = products % 3;
          choices.push_back(choice);
        }
      kind.choices.push_back(std::move(choices));
      problem.stages.push_back(std::move(stage));
    }
    problem.kinds.push_back(std::move(kind));
    Place place;
    place.budget.lut() = draw(50000, 100000);
    place.budget.dsp() = draw(200, 1000);
    problem.places = {place};
  }
};

TEST(Solve, LongChainsUseWhatIsScarce) {
  double sum = 0;
  constexpr int kCount = 10;
  for (uint64_t seed = 5001; seed < 5001 + kCount; ++seed) {
    Long drawn(seed, 60);
    auto solution = solveFastest(drawn.problem, {});
    ASSERT_TRUE(solution) << "seed " << seed;
    const Resources &need = solution->runs[0].cost.resources;
    const Resources &budget = drawn.problem.places[0].budget;
    EXPECT_LE(need.lut(), budget.lut()) << "seed " << seed;
    EXPECT_LE(need.dsp(), budget.dsp()) << "seed " << seed;
    // Neither is left over.
    EXPECT_GE(need.lut(), 0.9 * budget.lut()) << "seed " << seed;
    EXPECT_GE(need.dsp(), 0.9 * budget.dsp()) << "seed " << seed;
    double bound = lowerBound(drawn.problem);
    EXPECT_GE(solution->seconds, bound * (1 - 1e-9)) << "seed " << seed;
    sum += solution->seconds / bound;
    // More never hurts by more than what the search leaves open.
    Problem more = drawn.problem;
    more.places[0].budget.lut() *= 1.1;
    EXPECT_LE(fastest(more), solution->seconds * 1.005) << "seed " << seed;
    more.places[0].budget.dsp() *= 1.3;
    EXPECT_LE(fastest(more), solution->seconds * 1.005) << "seed " << seed;
  }
  EXPECT_LE(sum / kCount, 1.1);
}

/// The least seconds of a chain on one place of several dies, by trying
/// everything.
double bruteForceOnDies(const Problem &p) {
  const Place &place = p.places[0];
  const Kind &kind = p.kinds[place.kind];
  const Dies &dies = place.dies;
  int n = int(p.stages.size());
  double border = 0; // seconds
  for (const Tensor &tensor : p.tensors)
    if (tensor.producer < 0 || tensor.toHost)
      border = std::max(border, double((tensor.bits + place.streamBits - 1) /
                                       place.streamBits) /
                                    place.clockHz);
  double best = INFINITY;
  std::vector<int> chosen(n), on(n);
  auto at = [&](int s) -> const Choice & { return kind.choices[s][chosen[s]]; };
  auto evaluate = [&](int64_t slowest) {
    std::vector<Cost> lies(dies.count());
    std::vector<int64_t> wires(dies.count());
    Cost whole;
    for (int s = 0; s < n; ++s) {
      lies[on[s]] += at(s).cost;
      whole += at(s).cost;
      int t = p.stages[s].operands[0];
      if (s > 0 && at(s - 1).out != at(s).in[0]) {
        Cost convert =
            p.glue->convert(place.kind, t, at(s - 1).out, at(s).in[0]);
        lies[on[s]] += convert;
        whole += convert;
      }
    }
    auto cross = [&](int t, int format, int from, int to) {
      for (int d = std::min(from, to); d < std::max(from, to); ++d) {
        wires[d] += p.glue->wires(t, format);
        lies[from < to ? d + 1 : d] += p.glue->crossing(place.kind, t, format);
      }
    };
    for (bool enters : {true, false}) {
      int t = enters ? p.stages[0].operands[0] : p.stages[n - 1].result;
      int format = enters ? at(0).in[0] : at(n - 1).out;
      Cost cost =
          p.glue->border(place.kind, place.streamBits, t, format, enters);
      lies[dies.border] += cost;
      whole += cost;
      if (enters)
        cross(t, format, dies.border, on[0]);
      else
        cross(t, format, on[n - 1], dies.border);
    }
    for (int s = 1; s < n; ++s)
      cross(p.stages[s].operands[0], at(s - 1).out, on[s - 1], on[s]);
    auto fits = [](const Cost &cost, const Resources &budget) {
      Resources most = cost.most();
      return most.lut() <= budget.lut() + 1e-9 &&
             most.dsp() <= budget.dsp() + 1e-9;
    };
    for (size_t d = 0; d < lies.size(); ++d)
      if (!fits(lies[d], dies.budgets[d]) || wires[d] > dies.wires)
        return;
    if (fits(whole, place.budget))
      best = std::min(best, std::max(border, double(slowest) / place.clockHz));
  };
  std::function<void(int, int64_t)> choose = [&](int s, int64_t slowest) {
    if (s == n)
      return evaluate(slowest);
    for (on[s] = 0; on[s] < int(dies.count()); ++on[s])
      for (chosen[s] = 0; chosen[s] < int(kind.choices[s].size()); ++chosen[s])
        choose(s + 1, std::max(slowest, at(s).interval));
  };
  choose(0, 0);
  return best;
}

TEST(Solve, DiesAgainstBruteForce) {
  int feasible = 0, several = 0, missed = 0;
  for (uint64_t seed = 5001; seed <= 5300; ++seed) {
    Drawn drawn(seed, /*isChain=*/true);
    drawn.addDies();
    double found = fastest(drawn.problem),
           best = bruteForceOnDies(drawn.problem);
    EXPECT_GE(found, best * (1 - 1e-9)) << "seed " << seed;
    if (std::isinf(best))
      continue;
    ++feasible;
    // Of choices that need less in sum, a die may not hold one.
    missed += found > best * (1 + 1e-9);
    EXPECT_LE(lowerBound(drawn.problem), best * (1 + 1e-9)) << "seed " << seed;
    if (std::isinf(found))
      continue;
    auto solution = solveFastest(drawn.problem, {});
    const std::vector<int> &dies = solution->runs[0].dies;
    ASSERT_EQ(dies.size(), drawn.problem.stages.size());
    several += dies.front() != dies.back();
  }
  EXPECT_GT(feasible, 120);
  EXPECT_GT(several, 50);
  EXPECT_LE(missed, feasible / 10);
}

TEST(Solve, MoreOfDiesNeverHurts) {
  int feasible = 0, helped = 0;
  for (uint64_t seed = 6001; seed <= 6300; ++seed) {
    Drawn drawn(seed, /*isChain=*/seed % 2 == 0);
    drawn.addDies();
    if (seed % 3 == 0)
      drawn.addSums();
    double before = fastest(drawn.problem);
    feasible += std::isfinite(before);
    Problem die = drawn.problem, wires = drawn.problem, another = drawn.problem,
            memory = drawn.problem;
    Place &place = die.places[0];
    Resources &bigger =
        place.dies.budgets[drawn.draw(0, int(place.dies.count()) - 1)];
    for (size_t k = 0; k < bigger.amount.size(); ++k) {
      double more = bigger.amount[k] * drawn.draw(1, 10) * 0.1;
      bigger.amount[k] += more;
      place.budget.amount[k] += more;
    }
    wires.places[0].dies.wires += drawn.draw(5, 40);
    another.places[0].dies.budgets.push_back(
        drawn.problem.places[0].dies.budgets[0]);
    another.places[0].budget += drawn.problem.places[0].dies.budgets[0];
    for (double &rate : memory.places[0].bandwidth)
      rate *= 2;
    for (const Problem &more : {die, wires, another, memory}) {
      double after = fastest(more);
      EXPECT_LE(after, before * (1 + 2e-4)) << "seed " << seed;
      helped += after < before * (1 - 1e-3);
    }
  }
  EXPECT_GT(feasible, 120);
  EXPECT_GT(helped, 50);
}

/// A chain of which either choice is one of LUTs or one of DSPs, on a place
/// with these dies.
static Problem chainOnDies(int stages, DrawnGlue &glue,
                           const std::vector<Resources> &dies) {
  Problem problem;
  problem.glue = &glue;
  Kind kind;
  kind.name = "k";
  problem.tensors.push_back({-1, {0}, false, 64, 8});
  for (int s = 0; s < stages; ++s) {
    Stage stage;
    stage.name = "s" + std::to_string(s);
    stage.operands = {s};
    stage.result = s + 1;
    problem.stages.push_back(stage);
    const bool isLast = s + 1 == stages;
    problem.tensors.push_back(
        {s, isLast ? std::vector<int>{} : std::vector{s + 1}, isLast, 64, 8});
    Choice inLuts, inDsp;
    inLuts.interval = inDsp.interval = 100;
    inLuts.in = inDsp.in = {0};
    inLuts.cost.resources.lut() = 100 + s;
    inDsp.cost.resources.lut() = 10;
    inDsp.cost.resources.dsp() = 4 + s % 3;
    kind.choices.push_back({inLuts, inDsp});
  }
  Place place;
  for (const Resources &die : dies) {
    place.dies.budgets.push_back(die);
    place.budget += die;
  }
  place.dies.wires = 1000;
  kind.capacity = place.budget;
  problem.kinds = {kind};
  problem.places = {place};
  return problem;
}

static Resources dieOf(double luts, double dsps) {
  Resources die;
  die.lut() = luts;
  die.dsp() = dsps;
  die.ff() = 1e6;
  return die;
}

/// In sum every half of the stages may take the DSPs; only one of the dies has
/// them.
TEST(Solve, ChoicesFollowTheDies) {
  constexpr int kStages = 20;
  DrawnGlue glue;
  Problem problem =
      chainOnDies(kStages, glue, {dieOf(1100, 0), dieOf(200, 50)});
  for (int s = 0; s < kStages; ++s)
    problem.stages[s].die = s < kStages / 2 ? 0 : 1;
  auto solution = solveFastest(problem, {});
  ASSERT_TRUE(solution);
  const struct Run &run = solution->runs[0];
  for (int s = 0; s < kStages; ++s) {
    EXPECT_EQ(run.dies[s], s < kStages / 2 ? 0 : 1) << s;
    EXPECT_EQ(run.choices[s], s < kStages / 2 ? 0 : 1) << s;
  }
}

/// Parts of a network that no other place completes are not laid out: a longer
/// one takes no more layouts.
TEST(Solve, LaysOutWholeNetworks) {
  for (int stages : {50, 100}) {
    DrawnGlue glue;
    Problem problem =
        chainOnDies(stages, glue, {dieOf(5000, 400), dieOf(5000, 400)});
    ASSERT_TRUE(solveWithin(problem, 1, {}));
    EXPECT_GE(glue.layouts, 1);
    EXPECT_LE(glue.layouts, 4) << stages;
  }
}

TEST(Solve, FewestNodesAndPins) {
  for (uint64_t seed = 3001; seed <= 3060; ++seed) {
    Drawn drawn(seed, true);
    auto fast = solveFastest(drawn.problem, {});
    if (!fast)
      continue;
    auto slack = solveWithin(drawn.problem, 4 * fast->seconds, {});
    ASSERT_TRUE(slack);
    EXPECT_LE(slack->nodes(), fast->nodes());
    Limits one;
    one.maxNodes = fast->nodes();
    auto same = solveFastest(drawn.problem, one);
    ASSERT_TRUE(same);
    EXPECT_NEAR(same->seconds, fast->seconds, 1e-9 * fast->seconds);
    // A stage may be pinned to the place where the plan puts the last stage.
    Problem pinned = drawn.problem;
    int where = fast->runs.back().places.back();
    pinned.stages.back().place = where;
    auto kept = solveFastest(pinned, {});
    ASSERT_TRUE(kept);
    EXPECT_NEAR(kept->seconds, fast->seconds, 1e-9 * fast->seconds);
    const std::vector<int> &places = kept->runs.back().places;
    EXPECT_TRUE(std::count(places.begin(), places.end(), where));
  }
}
} // namespace
