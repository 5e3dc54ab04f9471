// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A built plan whose dies turn out to be too small is laid out again, with the
// same choices, as long as the device as a whole has room.
#include "../../lib/Explore/Realize.h"
#include "../NetworkBuilder.h"
#include <gtest/gtest.h>

using namespace mlir;
using namespace rhizome;
using namespace rhizome::explore;
using rhizome::test::NetworkBuilder;

namespace {
ClusterPlace twoDies() {
  ClusterPlace place;
  place.device = "two dies";
  place.context.budget = {{"lut", 40000},
                          {"ff", 80000},
                          {"dsp", 400},
                          {"bram", 200},
                          {"lutram", 20000}};
  place.capacity = place.context.budget;
  gen::Resources half;
  for (size_t k = 0; k < gen::kResourceNames.size(); ++k)
    half.amount[k] = gen::available(place.context.budget, k) / 2;
  place.dies.budgets = {half, half};
  place.dies.wires = 100000;
  place.dies.registers = 2;
  return place;
}

TEST(Realize, WhatOneDieDoesNotHoldMovesToAnother) {
  MLIRContext context;
  NetworkBuilder n(context);
  auto byte = num::IntType::getFull(&context, true, 8);
  n.begin({1, 64}, byte);
  for (const char *name : {"fc1", "fc2", "fc3", "fc4"}) {
    n.dense(name, 64);
    n.requantize(name, byte, true, false);
  }
  func::FuncOp f = n.end();
  Cluster cluster;
  cluster.places = {twoDies()};
  OfferCache cache;
  const Steering steering;
  Posed posed(f, cluster, steering, cache);
  const Limits limits;
  auto solution = solveWithin(posed.problems[0], 2e-6, limits);
  ASSERT_TRUE(solution);
  const Proposal proposal{0, *solution};
  auto result = realize(posed, proposal);
  ASSERT_TRUE(succeeded(result));
  ASSERT_EQ(result->nodes.size(), 1u);
  NodeResult &node = result->nodes[0];
  Problem &problem = posed.problems[0];
  Place &place = problem.places[0];
  ASSERT_TRUE(fitsPlace(node, place, problem.kinds[0]));
  ASSERT_EQ(node.dies.size(), 2u);

  // What fits stays.
  EXPECT_FALSE(laidOutAgain(posed, proposal, *result, limits));

  // The fuller die has three quarters of what is there.
  const bool isSecond =
      node.dies[1].resources.lut() > node.dies[0].resources.lut();
  place.dies.budgets[isSecond].lut() =
      0.75 * node.dies[isSecond].resources.lut();
  place.dies.budgets[!isSecond].lut() = 2 * node.resources.lut();
  ASSERT_FALSE(fitsPlace(node, place, problem.kinds[0]));
  auto moved = laidOutAgain(posed, proposal, *result, limits);
  ASSERT_TRUE(moved);
  const explore::Run &before = proposal.solution.runs[0],
                     &after = moved->solution.runs[0];
  EXPECT_NE(after.dies, before.dies);
  EXPECT_EQ(after.choices, before.choices);
  EXPECT_EQ(moved->solution.seconds, proposal.solution.seconds);
  auto again = realize(posed, *moved);
  ASSERT_TRUE(succeeded(again));
  EXPECT_TRUE(fitsPlace(again->nodes[0], place, problem.kinds[0]));

  // What both dies together do not hold has no other layout.
  for (gen::Resources &die : place.dies.budgets)
    die.lut() = node.resources.lut() / 4;
  EXPECT_FALSE(laidOutAgain(posed, proposal, *result, limits));
  // Nor has what exceeds the device.
  place.dies.budgets[isSecond].lut() = 0;
  place.dies.budgets[!isSecond].lut() = 2 * node.resources.lut();
  place.budget.lut() = node.resources.lut() / 2;
  EXPECT_FALSE(laidOutAgain(posed, proposal, *result, limits));
  erase(*again);
  erase(*result);
}
} // namespace
