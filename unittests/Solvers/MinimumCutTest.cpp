// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Placement by minimum cut against exhaustive search.
#include "rhizome/Solvers/MinimumCut.h"
#include <gtest/gtest.h>
#include <random>

using namespace rhizome::place;

namespace {
/// A graph like those of models: each node reads some before it, a few can run
/// only in one place, and copies share their latency.
Problem randomProblem(std::mt19937 &rng) {
  auto below = [&](unsigned n) { return unsigned(rng() % n); };
  Problem problem;
  unsigned n = 1 + below(12);
  std::vector<Copy> batches(1 + below(3));
  for (unsigned i = 0; i < n; ++i) {
    Node node{Cost(below(100)), Cost(below(100))};
    if (below(4) == 0)
      node.only = below(2) ? Side::Host : Side::Fpga;
    problem.nodes.push_back(node);
  }
  for (unsigned i = 0; i + 1 < n; ++i) {
    Copy tensor{{i}, {}, Cost(below(60)), Cost(below(60))};
    for (unsigned reader = i + 1; reader < n; ++reader)
      if (below(3) == 0) {
        tensor.to.push_back(reader);
        Copy &batch = batches[below(unsigned(batches.size()))];
        batch.from.push_back(i);
        batch.to.push_back(reader);
        if (below(3) == 0)
          problem.needs.push_back({reader, i});
      }
    problem.copies.push_back(std::move(tensor));
  }
  for (Copy &batch : batches) {
    batch.toFpga = Cost(below(80));
    batch.toHost = Cost(below(80));
    problem.copies.push_back(std::move(batch));
  }
  return problem;
}

/// The lowest cost of all choices.
std::optional<Cost> exhaustive(const Problem &problem) {
  std::optional<Cost> best;
  size_t n = problem.nodes.size();
  for (uint32_t choice = 0; choice < (1u << n); ++choice) {
    Sides sides;
    for (size_t i = 0; i < n; ++i)
      sides.push_back(choice >> i & 1 ? Side::Fpga : Side::Host);
    if (auto cost = costOf(problem, sides); cost && (!best || *cost < *best))
      best = cost;
  }
  return best;
}
} // namespace

TEST(Place, TheCutCostsWhatExhaustiveSearchFinds) {
  std::mt19937 rng(1);
  int possible = 0;
  for (int i = 0; i < 200; ++i) {
    Problem problem = randomProblem(rng);
    std::optional<Cost> best = exhaustive(problem);
    std::optional<Sides> found = cheapest(problem);
    ASSERT_EQ(found.has_value(), best.has_value()) << "graph " << i;
    if (!found)
      continue;
    ++possible;
    EXPECT_EQ(costOf(problem, *found), best) << "graph " << i;
  }
  EXPECT_GT(possible, 100);
}

TEST(Place, ALatencyIsPaidOnceForWhatTravelsTogether) {
  // Two cheap operations after one of the host: alone neither is worth a copy.
  Problem problem;
  problem.nodes = {{0, 0, Side::Host}, {6, 0}, {6, 0}};
  problem.copies = {{{0}, {1, 2}, 10, 10}};
  EXPECT_EQ(*cheapest(problem), (Sides{Side::Host, Side::Fpga, Side::Fpga}));
  problem.copies = {{{0}, {1}, 10, 10}, {{0}, {2}, 10, 10}};
  EXPECT_EQ(*cheapest(problem), (Sides{Side::Host, Side::Host, Side::Host}));
}

TEST(Place, ANeedThatCannotBeMetHasNoChoice) {
  Problem problem;
  problem.nodes = {{1, 1, Side::Host}, {1, 1, Side::Fpga}};
  problem.needs = {{1, 0}};
  EXPECT_FALSE(cheapest(problem));
  EXPECT_FALSE(costOf(problem, {Side::Host, Side::Fpga}));
}
