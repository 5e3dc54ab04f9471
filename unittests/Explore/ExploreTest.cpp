// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Exploration on the shape of DOSA's PTTCNN: goals are met with the resources
// that hand calculation gives (docs/architecture.md, "The marks").
#include "rhizome/Explore/Explore.h"
#include "../NetworkBuilder.h"
#include <gtest/gtest.h>

using namespace mlir;
using namespace rhizome;
using rhizome::test::NetworkBuilder;

namespace {
func::FuncOp pttcnn(NetworkBuilder &n) {
  auto *context = n.b.getContext();
  auto s8 = num::IntType::getFull(context, true, 8);
  auto relu = num::IntType::get(context, true, 8, 0, 127);
  auto conv = [&](StringRef name, int64_t out, int64_t k) {
    n.conv(name, {.out = out, .kh = k, .kw = k});
    n.requantise(name, relu, true, false);
  };
  n.begin({1, 32, 32, 3}, s8);
  conv("conv1", 6, 5);
  n.maxPool("pool1");
  conv("conv2", 16, 5);
  n.maxPool("pool2");
  conv("conv3", 32, 3);
  n.flatten();
  n.dense("fc1", 84);
  n.requantise("fc1", relu, true, false);
  n.dense("fc2", 10);
  return n.end();
}

gen::DeviceContext ku060() {
  gen::DeviceContext d;
  d.budget = {{"lut", 96801},
              {"ff", 202676},
              {"dsp", 1077},
              {"bram", 254},
              {"lutram", 53941}};
  d.clockMhz = 156.25;
  d.pairBits = 8;
  d.packedSigned = 7;
  d.packedUnsigned = 4;
  return d;
}

explore::Result run(func::FuncOp f, const std::string &goal) {
  explore::ClusterPlace place;
  place.device = "xcku060-role";
  place.context = ku060();
  place.capacity = place.context.budget;
  explore::Cluster cluster;
  cluster.places = {place};
  auto result = explore::explore(f, *explore::parseGoal(goal), cluster);
  EXPECT_TRUE(succeeded(result));
  return std::move(*result);
}

TEST(Explore, PttcnnAtFiveThousand) {
  MLIRContext context;
  NetworkBuilder n(context);
  auto result = run(pttcnn(n), "throughput=5000/s");
  EXPECT_TRUE(result.meetsGoal);
  ASSERT_EQ(result.nodes.size(), 1u);
  EXPECT_LE(result.nodes[0].timing.intervalCycles, 31250);
  int64_t multipliers = 0;
  for (auto &s : result.nodes[0].selections)
    for (const gen::Actor &actor : s.option.actors)
      multipliers += gen::productsOf(actor);
  EXPECT_LE(multipliers, 30);
}

TEST(Explore, PttcnnAtLineRate) {
  MLIRContext context;
  NetworkBuilder n(context);
  auto result = run(pttcnn(n), "max-throughput");
  EXPECT_TRUE(result.meetsGoal);
  EXPECT_LE(result.nodes[0].timing.intervalCycles, 392);
  EXPECT_GE(1 / result.bound, 1 / result.seconds);
}

TEST(Explore, GoalsHaveBoundsAndOneObjective) {
  using explore::Goal, explore::parseGoal;
  auto both = parseGoal("latency=250us,throughput=5000/s");
  ASSERT_TRUE(both);
  EXPECT_EQ(both->kind, Goal::Kind::MinResources);
  EXPECT_DOUBLE_EQ(both->throughput, 5000);
  EXPECT_DOUBLE_EQ(both->latency, 250e-6);
  EXPECT_EQ(parseGoal("latency=2ms,max-throughput")->kind,
            Goal::Kind::MaxThroughput);
  EXPECT_EQ(parseGoal("min-latency")->kind, Goal::Kind::MinLatency);
  for (const char *wrong :
       {"", "fast", "throughput=", "throughput=-1/s", "latency=5",
        "latency=0us", "throughput=inf", "min-nodes,",
        "min-nodes,max-throughput", "throughput=1/s,throughput=2/s"})
    EXPECT_FALSE(parseGoal(wrong)) << wrong;
}

/// Of two bounds the tighter one decides; the objective what is best within.
TEST(Explore, BoundsHoldTogether) {
  MLIRContext context;
  NetworkBuilder n(context);
  func::FuncOp f = pttcnn(n);
  auto slow = run(f, "throughput=5000/s"), soon = run(f, "latency=200us");
  EXPECT_GT(slow.latency, 200e-6);
  auto both = run(f, "throughput=5000/s,latency=200us");
  EXPECT_TRUE(both.meetsGoal);
  EXPECT_LE(both.latency, 200e-6);
  EXPECT_LE(both.seconds, 1.0 / 5000);
  double often = 2 / soon.seconds;
  auto quick = run(f, "latency=200us,throughput=" + std::to_string(often));
  EXPECT_TRUE(quick.meetsGoal);
  EXPECT_LE(quick.latency, 200e-6);
  EXPECT_LE(quick.seconds, 1 / often * (1 + 1e-9));
  auto least = run(f, "min-latency");
  EXPECT_TRUE(least.meetsGoal);
  EXPECT_LE(least.latency, soon.latency);
  auto never = run(f, "max-throughput,latency=1us");
  EXPECT_FALSE(never.meetsGoal);
  EXPECT_FALSE(never.limit.empty());
  EXPECT_FALSE(run(f, "max-throughput,throughput=1e9").meetsGoal);
}
} // namespace
