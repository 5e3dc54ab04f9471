// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A region of many stages has all its cost in its first part: it must not be
// crowded out by cheaper first stages of plans that do not fit in the end.
#include "rhizome/Explore/Solver/Problem.h"
#include <gtest/gtest.h>

using namespace rhizome::explore;

namespace {
class NoGlue final : public Glue {
public:
  Cost convert(int, int, int, int) override { return {}; }
  Cost fork(int, int, int, int) override { return {}; }
  Cost border(int, int64_t, int, int, bool) override { return {}; }
  Cost endpoint(const Place &, const Ends &) override { return {}; }
};

/// A chain of stages, each with many choices between LUTs and DSPs, and a
/// region over all of them that takes as much as `regionLuts`.
Problem chain(Glue &glue, int stages, double budget, double regionLuts) {
  constexpr int kChoices = 40;
  Problem problem;
  problem.glue = &glue;
  Kind kind;
  kind.name = "k";
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
    std::vector<Choice> choices;
    for (int c = 0; c < kChoices; ++c) {
      Choice choice;
      choice.interval = 100;
      choice.in = {c};
      choice.out = c;
      choice.cost.resources.lut() = 10 + c;
      choice.cost.resources.dsp() = kChoices - c;
      choices.push_back(choice);
    }
    Choice part;
    part.interval = 100;
    part.region = 0;
    part.part = s;
    part.parts = stages;
    part.in = {s == 0 ? 0 : kInside};
    part.out = isLast ? 0 : kInside;
    if (s == 0)
      part.cost.resources.lut() = regionLuts;
    choices.push_back(part);
    kind.choices.push_back(choices);
  }
  Place place;
  place.clockHz = 1e8;
  place.budget.lut() = budget;
  place.budget.dsp() = budget;
  kind.capacity = place.budget;
  problem.kinds = {kind};
  problem.places = {place};
  return problem;
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
