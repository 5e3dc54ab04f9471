// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Networks of hundreds of stages: runs end where little crosses, and where
// somebody wants it.
#include "rhizome/Explore/Solver/Problem.h"
#include <gtest/gtest.h>

using namespace rhizome::explore;

namespace {
/// Whatever lies between stages costs nothing.
class NoGlue final : public Glue {
public:
  Cost convert(int, int, int, int) override { return {}; }
  Cost fork(int, int, int, int) override { return {}; }
  Cost border(int, int64_t, int, int, bool) override { return {}; }
  Cost endpoint(const Place &, const Ends &) override { return {}; }
  Cost crossing(int, int, int) override { return {}; }
  int64_t wires(int, int) override { return 1; }
};

constexpr int kStages = 600, kBlock = 12, kPlaces = 4;

/// Equal stages in blocks, between which a tenth as much crosses, on places
/// that together hold a tenth more.
Problem blocks(Glue &glue) {
  Problem problem;
  problem.glue = &glue;
  Kind kind;
  kind.name = "k";
  problem.tensors.push_back({-1, {0}, false, 80, 8});
  for (int s = 0; s < kStages; ++s) {
    const bool isLast = s + 1 == kStages, isBorder = (s + 1) % kBlock == 0;
    Stage stage;
    stage.name = "s" + std::to_string(s);
    stage.operands = {s};
    stage.result = s + 1;
    problem.stages.push_back(stage);
    problem.tensors.push_back({s,
                               isLast ? std::vector<int>{} : std::vector{s + 1},
                               isLast, isBorder ? 80 : 800, 8});
    Choice choice;
    choice.interval = 100;
    choice.in = {0};
    choice.cost.resources.lut() = 10;
    kind.choices.push_back({choice});
  }
  Place place;
  place.clockHz = 1e8;
  place.budget.lut() = 1.1 * 10 * kStages / kPlaces;
  kind.capacity = place.budget;
  problem.kinds = {kind};
  problem.places.assign(kPlaces, place);
  return problem;
}
} // namespace

TEST(ManyStages, RunsEndAtBordersOfBlocks) {
  NoGlue glue;
  const Problem problem = blocks(glue);
  auto solution = solveFastest(problem, {});
  ASSERT_TRUE(solution);
  ASSERT_EQ(solution->runs.size(), size_t(kPlaces));
  for (const auto &run : solution->runs)
    EXPECT_EQ(run.end % kBlock, 0) << run.end;
}

TEST(ManyStages, RunsEndWhereSomebodyWantsIt) {
  NoGlue glue;
  Problem problem = blocks(glue);
  const int wanted = kStages / kPlaces + 5; // inside a block
  problem.stages[wanted].mustCut = true;
  auto solution = solveFastest(problem, {});
  ASSERT_TRUE(solution);
  EXPECT_TRUE(
      std::any_of(solution->runs.begin(), solution->runs.end(),
                  [&](const auto &run) { return run.begin == wanted; }));
}
