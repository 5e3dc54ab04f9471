// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A region of many stages has all its cost in its first part: it must not be
// crowded out by cheaper first stages of plans that do not fit in the end.
#include "rhizome/Explore/Solver/Problem.h"
#include <gtest/gtest.h>
#include <limits>
#include <random>

using namespace rhizome;
using namespace rhizome::explore;

namespace {
class NoGlue final : public Glue {
public:
  Cost convert(int, int, int, int) override { return {}; }
  Cost fork(int, int, int, int) override { return {}; }
  Cost border(int, int64_t, int, int, bool) override { return {}; }
  Cost endpoint(const Place &, const Ends &) override { return {}; }
};

/// A chain of `stages` tensors and stages without choices on one place.
Problem emptyChain(Glue &glue, int stages) {
  Problem problem;
  problem.glue = &glue;
  problem.tensors.push_back({-1, {0}, false, 80, 8});
  for (int s = 0; s < stages; ++s) {
    const bool isLast = s + 1 == stages;
    Stage stage;
    stage.name = "s" + std::to_string(s);
    stage.operands = {s};
    stage.result = s + 1;
    problem.stages.push_back(stage);
    problem.tensors.push_back(
        {s, isLast ? std::vector<int>{} : std::vector{s + 1}, isLast, 80, 8});
  }
  Kind kind;
  kind.name = "k";
  kind.choices.resize(size_t(stages));
  problem.kinds = {kind};
  Place place;
  place.clockHz = 1e8;
  problem.places = {place};
  return problem;
}

/// Adds a region over stages, of which the first part has the cost.
void addRegion(Problem &problem, int region, int first, int last,
               int64_t interval, const Cost &cost) {
  for (int s = first; s <= last; ++s) {
    Choice part;
    part.interval = interval;
    part.region = region;
    part.part = s - first;
    part.parts = last - first + 1;
    part.in = {s == first ? 0 : kInside};
    part.out = s == last ? 0 : kInside;
    if (s == first)
      part.cost = cost;
    problem.kinds[0].choices[size_t(s)].push_back(part);
  }
}

void setBudget(Problem &problem, double lut, double dsp) {
  problem.places[0].budget.lut() = lut;
  problem.places[0].budget.dsp() = dsp;
  problem.kinds[0].capacity = problem.places[0].budget;
}

Cost costOf(double lut, double dsp) {
  Cost cost;
  cost.resources.lut() = lut;
  cost.resources.dsp() = dsp;
  return cost;
}

/// A chain of stages, each with many choices between LUTs and DSPs, and a
/// region over all of them that takes as much as `regionLuts`.
Problem chain(Glue &glue, int stages, double budget, double regionLuts) {
  constexpr int kChoices = 40;
  Problem problem = emptyChain(glue, stages);
  for (int s = 0; s < stages; ++s)
    for (int c = 0; c < kChoices; ++c) {
      Choice choice;
      choice.interval = 100;
      choice.in = {c};
      choice.out = c;
      choice.cost = costOf(10 + c, kChoices - c);
      problem.kinds[0].choices[size_t(s)].push_back(choice);
    }
  addRegion(problem, 0, 0, stages - 1, 100, costOf(regionLuts, 0));
  setBudget(problem, budget, budget);
  return problem;
}

/// The least interval of all ways to cover the stages from `stage` on.
int64_t leastInterval(const Problem &problem, size_t stage,
                      gen::Resources left) {
  if (stage == problem.stages.size())
    return 0;
  int64_t least = std::numeric_limits<int64_t>::max();
  for (const Choice &choice : problem.kinds[0].choices[stage]) {
    if (choice.part > 0)
      continue;
    gen::Resources rest = left;
    bool fits = true;
    for (size_t k = 0; k < rest.amount.size(); ++k) {
      rest.amount[k] -= choice.cost.resources.amount[k];
      fits = fits && rest.amount[k] >= 0;
    }
    if (fits)
      least = std::min(
          least,
          std::max(choice.interval,
                   leastInterval(problem, stage + size_t(choice.parts), rest)));
  }
  return least;
}
} // namespace

TEST(Regions, StandBesideManyCheaperFirstStages) {
  NoGlue glue;
  // Few stages, and so many that fewer labels are followed.
  for (int stages : {8, 60, 143}) {
    const double budget = 20.0 * stages; // a stage takes 50 of both together
    auto solution = solveFastest(chain(glue, stages, budget, 0.9 * budget), {});
    ASSERT_TRUE(solution) << stages;
    ASSERT_EQ(solution->runs.size(), 1u);
    for (int choice : solution->runs[0].choices)
      EXPECT_EQ(choice, 40) << "the region's part";
  }
}

TEST(Regions, ThatTakeTooMuchAreNotTaken) {
  NoGlue glue;
  const Problem problem = chain(glue, 60, 20.0 * 60, 20.0 * 60 + 1);
  EXPECT_FALSE(solveFastest(problem, {}));
}

/// Chains of stages with units of their own and cores for runs of them: the
/// fastest plan is that of an exhaustive search.
TEST(Regions, OfRandomChainsEqualBruteForce) {
  NoGlue glue;
  int feasible = 0, withRegions = 0;
  for (unsigned seed = 0; seed < 200; ++seed) {
    std::mt19937 random(seed);
    auto draw = [&](int least, int most) {
      return std::uniform_int_distribution<int>(least, most)(random);
    };
    const int stages = draw(2, 7);
    Problem problem = emptyChain(glue, stages);
    for (int s = 0; s < stages; ++s)
      for (int c = 0, count = draw(1, 3); c < count; ++c) {
        Choice choice;
        choice.interval = draw(5, 40);
        choice.in = {0};
        choice.out = 0;
        choice.cost = costOf(draw(1, 30), draw(0, 20));
        problem.kinds[0].choices[size_t(s)].push_back(choice);
      }
    for (int region = 0, count = draw(1, 5); region < count; ++region) {
      const int first = draw(0, stages - 2);
      addRegion(problem, region, first, draw(first + 1, stages - 1),
                draw(5, 60), costOf(draw(10, 60), draw(5, 40)));
    }
    setBudget(problem, draw(20, 120), draw(10, 80));
    const int64_t least = leastInterval(problem, 0, problem.places[0].budget);
    auto solution = solveFastest(problem, {});
    ASSERT_EQ(bool(solution), least < std::numeric_limits<int64_t>::max())
        << seed;
    if (!solution)
      continue;
    EXPECT_DOUBLE_EQ(solution->seconds, double(least) / 1e8) << seed;
    ++feasible;
    for (size_t s = 0; s < size_t(stages); ++s)
      if (const Choice &choice =
              problem.kinds[0].choices[s][size_t(solution->runs[0].choices[s])];
          choice.region >= 0 && choice.part == 0)
        ++withRegions;
  }
  EXPECT_GT(feasible, 100);
  EXPECT_GT(withRegions, 60);
}
