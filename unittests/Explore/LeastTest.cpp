// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A bound of what plans take is below each of them, and near enough to be of
// use.
#include "../../lib/Explore/Least.h"
#include "../../lib/Explore/Realize.h"
#include "../NetworkBuilder.h"
#include "rhizome/Generator/Offer.h"
#include <gtest/gtest.h>

using namespace mlir;
using namespace rhizome;
using namespace rhizome::explore;
using rhizome::test::NetworkBuilder;

namespace {
TEST(Least, NoPlanTakesLess) {
  for (uint64_t seed = 1; seed <= 12; ++seed) {
    MLIRContext context;
    NetworkBuilder n(context, seed);
    auto byte = num::IntType::getFull(&context, true, 8);
    n.begin({1, n.draw(4, 24)}, byte);
    for (int64_t i = 0, layers = n.draw(1, 6); i < layers; ++i) {
      n.dense("fc" + std::to_string(i), n.draw(4, 24));
      n.requantize("q" + std::to_string(i), byte, n.coin(), n.coin());
    }
    func::FuncOp f = n.end();
    Cluster cluster;
    ClusterPlace &place = cluster.places.emplace_back();
    place.device = "one";
    place.context.budget = {{"lut", 200000},
                            {"ff", 400000},
                            {"dsp", 500},
                            {"bram", 400},
                            {"lutram", 100000}};
    place.capacity = place.context.budget;
    for (const char *text : {"min-resources", "throughput=100000/s"}) {
      const Goal goal = *parseGoal(text);
      auto plan = rhizome::explore::explore(f, goal, cluster);
      ASSERT_TRUE(succeeded(plan) && plan->fits);
      const double share = shareOf(*plan, cluster);
      EXPECT_FALSE(takesMore(f, goal, cluster, share)) << seed << text;
      // What lies between layers takes as much as they do at most.
      if (goal.throughput == 0)
        EXPECT_TRUE(takesMore(f, goal, cluster, share / 8)) << seed;
      erase(*plan);
    }
  }
}
} // namespace
