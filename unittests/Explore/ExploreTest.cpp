// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Exploration on the shape of DOSA's PTTCNN: goals are met with the resources
// of a hand calculation (docs/architecture.md, "The marks").
#include "rhizome/Explore/Explore.h"
#include "../NetworkBuilder.h"
#include "rhizome/Generator/Delay.h"
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
    n.requantize(name, relu, true, false);
  };
  n.begin({1, 32, 32, 3}, s8);
  conv("conv1", 6, 5);
  n.maxPool("pool1");
  conv("conv2", 16, 5);
  n.maxPool("pool2");
  conv("conv3", 32, 3);
  n.flatten();
  n.dense("fc1", 84);
  n.requantize("fc1", relu, true, false);
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
  return d;
}

explore::Result run(func::FuncOp f, const std::string &goal, int devices = 1) {
  explore::ClusterPlace place;
  place.device = "xcku060-role";
  place.context = ku060();
  place.capacity = place.context.budget;
  if (devices > 1) {
    place.wire = explore::Wire{{Medium::Kind::Udp, 10e9, 1000}};
    place.link = "wire";
  }
  explore::Cluster cluster;
  cluster.hostWire = place.wire;
  cluster.places.assign(devices, place);
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
    for (const gen::Body::Unit &unit : s.offer.body.units)
      multipliers += gen::productsOf(unit.actor).count;
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

/// h' = requantize(W2 requantize(W1 requantize(x + h))), which the FPGA keeps.
func::FuncOp recurrent(NetworkBuilder &n) {
  auto byte = num::IntType::getFull(n.b.getContext(), true, 8);
  n.begin({1, 16}, byte);
  func::FuncOp f = n.func;
  (void)f.insertArgument(1, n.tensor({1, 16}, byte), {}, n.loc("h"));
  n.add("add", f.getArgument(1), 1, 1);
  n.requantize("add", byte, true, false);
  for (const char *name : {"fc1", "fc2"}) {
    n.dense(name, 16);
    n.requantize(name, byte, true, false);
  }
  n.end();
  auto shaped = RankedTensorType::get({1, 16}, n.b.getI64Type());
  n.keepState({"y"}, "y", DenseElementsAttr::get(shaped, ArrayRef<int64_t>{0}));
  return f;
}

TEST(Explore, AStateBoundsTheRate) {
  constexpr double kClockHz = 156.25e6;
  MLIRContext context;
  NetworkBuilder n(context);
  func::FuncOp f = recurrent(n);
  auto fastest = run(f, "max-throughput");
  EXPECT_EQ(fastest.limit.kind, explore::Limit::Kind::State);
  EXPECT_EQ(fastest.limit.stage, "state");
  EXPECT_EQ(fastest.limit.seconds, fastest.seconds);
  // More than any operation needs, and near what the best plan takes.
  const double bound = fastest.bound * kClockHz;
  for (const auto &s : fastest.nodes[0].selections)
    EXPECT_LT(double(s.offer.busyCycles), bound);
  EXPECT_LE(fastest.bound, fastest.seconds);
  EXPECT_GE(fastest.bound, fastest.seconds / 2);
  const double luts = fastest.nodes[0].resources.lut();
  fastest.nodes[0].design.erase();

  // No plan is asked for that the loop forbids.
  auto goal = [](double seconds) {
    return "throughput=" + std::to_string(1 / seconds) + "/s";
  };
  auto never = run(f, goal(bound / kClockHz * 0.99));
  EXPECT_FALSE(never.meetsGoal);
  EXPECT_EQ(never.limit.kind, explore::Limit::Kind::State);
  never.nodes[0].design.erase();
  for (double slower : {1.5, 2.0, 4.0, 8.0}) {
    auto plan = run(f, goal(fastest.seconds * slower));
    EXPECT_TRUE(plan.meetsGoal) << slower;
    EXPECT_LE(plan.seconds, fastest.seconds * slower * (1 + 1e-9));
    EXPECT_LT(plan.nodes[0].resources.lut(), luts) << slower;
    // What its units take at least adds up to no more than the simulator says.
    int64_t way = 0;
    for (const auto &s : plan.nodes[0].selections)
      way += gen::leastDelay(s.offer.body, s.offer.inputs.size(), 0);
    EXPECT_LE(double(way), plan.nodes[0].timing.intervalCycles) << slower;
    EXPECT_GE(double(way), plan.nodes[0].timing.intervalCycles / 3) << slower;
    plan.nodes[0].design.erase();
  }
}

TEST(Explore, RomsMoveToLutsWhereBlocksAreScarce) {
  MLIRContext context;
  std::map<int64_t, double> price; // by the number of available blocks
  for (int64_t blocks : {64, 1}) {
    NetworkBuilder n(context);
    explore::ClusterPlace place;
    place.device = "xcku060-role";
    place.context = ku060();
    place.context.budget["bram"] = blocks;
    place.context.budget["lut"] = 5200;
    place.context.budget["dsp"] = 6;
    place.capacity = place.context.budget;
    explore::Cluster cluster;
    cluster.places = {place};
    auto byte = num::IntType::getFull(n.b.getContext(), true, 8);
    n.begin({1, 64}, byte);
    for (const char *name : {"fc1", "fc2", "fc3"}) {
      n.dense(name, 64);
      n.requantize(name, byte, true, false);
    }
    func::FuncOp f = n.end();
    auto goal = *explore::parseGoal("throughput=10000/s");
    auto result = explore::explore(f, goal, cluster);
    ASSERT_TRUE(succeeded(result));
    EXPECT_TRUE(result->fits && result->meetsGoal)
        << blocks << ": " << explore::describe(result->limit);
    EXPECT_LE(result->nodes[0].resources.bram(), double(blocks));
    price[blocks] = result->lutsOfABlock;
    // A plan records its price, and is rebuilt with it.
    explore::Steering steering;
    steering.lutsOfABlock = result->lutsOfABlock;
    auto again = explore::explore(f, goal, cluster, steering);
    ASSERT_TRUE(succeeded(again));
    EXPECT_EQ(again->nodes[0].resources, result->nodes[0].resources);
  }
  EXPECT_EQ(price[64], gen::CostContext::kUsualLutsOfABlock);
  EXPECT_GT(price[1], price[64]);
}

TEST(Explore, LargeTablesOfParametersMayBeInEitherMemory) {
  MLIRContext context;
  NetworkBuilder n(context);
  auto byte = num::IntType::getFull(n.b.getContext(), true, 8);
  n.begin({1, 4096}, byte);
  n.dense("fc", 4096);
  n.requantize("fc", byte, /*unit=*/false, /*perChannel=*/true);
  func::FuncOp f = n.end();
  int inBlocks = 0, inLuts = 0;
  f.walk([&](osa::RequantizeOp op) {
    for (const gen::Offer &offer :
         gen::findGenerator("stream")->offers(op.getOperation(), {}, ku060())) {
      if (offer.key.text().find("lanes=1&") == std::string::npos)
        continue;
      bool isBlock = offer.resources.bram() > 0;
      (isBlock ? inBlocks : inLuts) += 1;
      EXPECT_EQ(offer.body.back().get("Block"), isBlock);
      EXPECT_EQ(offer.key.text().find("table=lut") == std::string::npos,
                isBlock);
    }
  });
  EXPECT_GT(inBlocks, 0);
  EXPECT_EQ(inBlocks, inLuts);
}

TEST(Explore, TheLeastLatencyIsSoughtAtAllPricesOfBlocks) {
  MLIRContext context;
  int quicker = 0;
  for (int64_t blocks : {24, 40, 60, 100}) {
    NetworkBuilder n(context);
    auto byte = num::IntType::getFull(n.b.getContext(), true, 8);
    n.begin({1, 16, 16, 16}, byte);
    for (const char *name : {"conv1", "conv2", "conv3"}) {
      n.conv(name, {.out = 32, .kh = 3, .kw = 3, .pads = {1, 1, 1, 1}});
      n.requantize(name, byte, true, false);
    }
    func::FuncOp f = n.end();
    explore::ClusterPlace place;
    place.device = "xcku060-role";
    place.context = ku060();
    place.context.budget["bram"] = blocks;
    place.context.budget["lut"] = 40000;
    place.context.budget["dsp"] = 150;
    place.context.pairBits = 0;
    place.capacity = place.context.budget;
    explore::Cluster cluster;
    cluster.places = {place};
    auto latency = [&](const char *goal, double price) {
      explore::Steering steering;
      steering.lutsOfABlock = price;
      auto result =
          explore::explore(f, *explore::parseGoal(goal), cluster, steering);
      EXPECT_TRUE(succeeded(result) && result->fits) << blocks << goal;
      return result->fits ? result->latency : INFINITY;
    };
    double least = latency("min-latency", 0);
    EXPECT_LE(least, latency("max-throughput", 0) * (1 + 1e-9)) << blocks;
    quicker +=
        least < latency("min-latency", gen::CostContext::kUsualLutsOfABlock) *
                    (1 - 1e-6);
  }
  EXPECT_GT(quicker, 0);
}

TEST(Explore, WeightsAreLoadedWhereBlocksDoNotHoldThem) {
  auto byte = [](NetworkBuilder &n) {
    return num::IntType::getFull(n.b.getContext(), true, 8);
  };
  // Three layers of 512 Kbit each: at least 15 blocks each.
  for (bool hasMemory : {true, false})
    for (int64_t blocks : {200, 20}) {
      MLIRContext context;
      NetworkBuilder n(context);
      n.begin({1, 256}, byte(n));
      for (const char *name : {"fc1", "fc2", "fc3"}) {
        n.dense(name, 256);
        n.requantize(name, byte(n), true, false);
      }
      func::FuncOp f = n.end();
      explore::ClusterPlace place;
      place.device = "with UltraRAM";
      place.context = ku060();
      place.context.budget["bram"] = blocks;
      place.context.budget["lut"] = 9000;
      place.context.budget["uram"] = 16;
      if (hasMemory) {
        gen::Memory &memory = place.context.memories.emplace_back();
        memory.name = "ddr4";
        memory.bytesPerS = 1'000'000'000;
      }
      place.capacity = place.context.budget;
      explore::Cluster cluster;
      cluster.places = {place};
      auto goal = *explore::parseGoal("throughput=1000/s");
      auto result = explore::explore(f, goal, cluster);
      ASSERT_TRUE(succeeded(result));
      SCOPED_TRACE(std::to_string(blocks) +
                   " blocks: " + explore::describe(result->limit));
      bool mustLoad = blocks == 20;
      EXPECT_EQ(result->fits && result->meetsGoal, hasMemory || !mustLoad);
      bool loads = result->nodes[0].resources.uram() > 0;
      EXPECT_EQ(loads, hasMemory && mustLoad);
      EXPECT_EQ(result->residents != gen::Residents::None, loads);
      if (loads) {
        EXPECT_LE(result->nodes[0].resources.bram(), double(blocks));
      }
    }
}

/// Rows of wide frames leave blocks that do not hold them, on any device.
TEST(Explore, RowsAreInUltraRamWhereBlocksDoNotHoldThem) {
  for (int64_t ultras : {0, 8}) {
    MLIRContext context;
    NetworkBuilder n(context);
    auto byte = num::IntType::getFull(n.b.getContext(), true, 8);
    n.begin({1, 16, 224, 32}, byte);
    for (const char *name : {"conv1", "conv2"}) {
      n.conv(name, {.out = 32, .kh = 3, .kw = 3, .pads = {1, 1, 1, 1}});
      n.requantize(name, byte, true, false);
    }
    func::FuncOp f = n.end();
    explore::ClusterPlace place;
    place.device = ultras ? "with UltraRAM" : "without UltraRAM";
    place.context = ku060();
    place.context.budget["bram"] = 11;
    place.context.budget["lut"] = 20000;
    place.context.budget["uram"] = ultras;
    place.capacity = place.context.budget;
    explore::Cluster cluster;
    cluster.places = {place};
    auto result =
        explore::explore(f, *explore::parseGoal("throughput=100/s"), cluster);
    ASSERT_TRUE(succeeded(result));
    SCOPED_TRACE(place.device + ": " + explore::describe(result->limit));
    EXPECT_EQ(result->fits && result->meetsGoal, ultras > 0);
    EXPECT_EQ(result->nodes[0].resources.uram() > 0, ultras > 0);
    EXPECT_EQ(result->ultraRows != gen::UltraRows::None, ultras > 0);
  }
}

/// Where weights take most of the memories on chip, and banks outside it are
/// idle, layers choose among all homes, which is at least as fast.
TEST(Explore, WhereWeightsFillTheChipLayersChooseAmongAllHomes) {
  MLIRContext context;
  NetworkBuilder n(context);
  auto byte = num::IntType::getFull(n.b.getContext(), true, 8);
  n.begin({1, 8, 8, 64}, byte);
  // Weights of 295 Kbit each, memories of 1.3 Mbit.
  for (const char *name : {"conv1", "conv2", "conv3"}) {
    n.conv(name, {.out = 64, .kh = 3, .kw = 3, .pads = {1, 1, 1, 1}});
    n.requantize(name, byte, true, false);
  }
  func::FuncOp f = n.end();
  auto with = [&](unsigned banks) {
    explore::ClusterPlace place;
    place.device = "with UltraRAM";
    place.context = ku060();
    place.context.budget["bram"] = 20;
    place.context.budget["uram"] = 2;
    place.context.budget["lut"] = 16000;
    gen::Memory &memory = place.context.memories.emplace_back();
    memory.name = "hbm2";
    memory.banks = banks;
    memory.bytesPerS = 100e9;
    place.capacity = place.context.budget;
    explore::Cluster cluster;
    cluster.places = {place};
    auto goal = *explore::parseGoal("max-throughput");
    auto result = explore::explore(f, goal, cluster);
    EXPECT_TRUE(succeeded(result) && result->fits) << banks;
    return std::move(*result);
  };
  explore::Result one = with(1), many = with(8);
  EXPECT_NE(one.streaming, gen::Streaming::All);
  EXPECT_EQ(many.streaming, gen::Streaming::All);
  EXPECT_LE(many.seconds, one.seconds * (1 + 1e-9));
  bool isStreamed = false;
  for (auto op : many.nodes[0].design.getBody().getOps<flow::ActorOp>())
    isStreamed |= op.getUnit().is<unit::MemReader>();
  EXPECT_TRUE(isStreamed);
}

TEST(Explore, WhatDoesNotFitIsSimulatedOnlyIfItIsToBeBuilt) {
  MLIRContext context;
  NetworkBuilder n(context);
  explore::ClusterPlace place;
  place.device = "xcku060-role";
  place.context = ku060();
  place.context.budget["lut"] = 100;
  place.capacity = place.context.budget;
  explore::Cluster cluster;
  cluster.places = {place};
  auto byte = num::IntType::getFull(n.b.getContext(), true, 8);
  n.begin({1, 64}, byte);
  n.dense("fc", 64);
  n.requantize("fc", byte, true, false);
  func::FuncOp f = n.end();
  auto goal = *explore::parseGoal("max-throughput");
  auto told = explore::explore(f, goal, cluster);
  ASSERT_TRUE(succeeded(told));
  EXPECT_FALSE(told->fits || told->meetsGoal);
  EXPECT_EQ(told->limit.resource, "lut");
  EXPECT_EQ(told->latency, 0);
  EXPECT_GT(told->seconds, 0);
  goal.buildsNearest = true;
  auto built = explore::explore(f, goal, cluster);
  ASSERT_TRUE(succeeded(built));
  EXPECT_FALSE(built->fits);
  EXPECT_GT(built->latency, built->seconds);
  EXPECT_EQ(built->limit.resource, "lut");
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
  for (const char *wrong : {"",
                            "fast",
                            "throughput=",
                            "throughput=-1/s",
                            "latency=5",
                            "latency=0us",
                            "throughput=inf",
                            "min-nodes,",
                            "min-nodes,max-throughput",
                            "throughput=1/s,throughput=2/s",
                            "nodes=0",
                            "nodes=1.5",
                            "nodes=1,nodes=2",
                            "lut=",
                            "lut",
                            "lut=-1",
                            "lut=101%",
                            "lut=x",
                            "lut=1,lut=50%",
                            "slices=5",
                            "lut=1%%"})
    EXPECT_FALSE(parseGoal(wrong)) << wrong;
}

/// The part that is wrong, and what may be meant.
TEST(Explore, WrongGoalsAreExplained) {
  using explore::parseGoal;
  for (auto [goal, why] :
       std::initializer_list<std::pair<const char *, const char *>>{
           {"throughput=1000fps", "'throughput=1000fps': 'fps' is no unit of a "
                                  "rate; write throughput=1000/s"},
           {"min-latency,throughput=-3/s",
            "'throughput=-3/s': a rate is above 0"},
           {"-3/s", "'-3/s' has no name: a rate is throughput=N/s"},
           {"throughput=0.0", "'throughput=0.0': a rate is above 0"},
           {"throughput=", "'throughput=' has no number"},
           {"throughput=many", "'throughput=many': 'many' is not a number"},
           {"lut=200%", "'lut=200%': a share is at most 100%"},
           {"dsp=-1", "'dsp=-1': it is below 0"},
           {"ff", "'ff' has no amount: ff=N or ff=P%"},
           {"min-area", "'min-area' is no objective; did you mean "
                        "'min-resources'?"},
           {"max-troughput", "'max-troughput' is no objective; did you mean "
                             "'max-throughput'?"},
           {"fps=30", "'fps=30' is no bound; did you mean 'throughput='?"},
           {"slices=5", "'slices=5' is no bound; did you mean 'lut='?"},
           {"color=5", "'color=5' is no bound; bounds are throughput, latency, "
                       "nodes, lut, ff, dsp, bram, uram, lutram"},
           {"latency=10ps", "'latency=10ps': 'ps' is no unit of time; units "
                            "are ns, us, ms and s"},
           {"latency=5", "'latency=5': the time has no unit; units are ns, us, "
                         "ms and s"},
           {"10ps", "'10ps' has no name: a time is latency=T, a rate "
                    "throughput=N/s, resources are lut=N or lut=P% and the "
                    "like"},
           {"nodes=1.5", "'nodes=1.5': nodes are a whole number above 0"},
           {"lut=1,lut=2", "it has lut= twice"},
           {"min-nodes,", "nothing is between two commas, or at an end"},
           {"min-nodes,min-latency",
            "it has two objectives, 'min-nodes' and 'min-latency'"}}) {
    std::string fault;
    EXPECT_FALSE(parseGoal(goal, &fault)) << goal;
    EXPECT_EQ(fault, why);
  }
  EXPECT_DOUBLE_EQ(parseGoal("throughput=1e3/s")->throughput, 1000);
  EXPECT_DOUBLE_EQ(parseGoal("latency=2.5e2us")->latency, 250e-6);
}

TEST(Explore, GoalsBoundResources) {
  using explore::parseGoal;
  auto goal = parseGoal("lut=30000,ff=22.5%,dsp=0,nodes=3,min-latency");
  ASSERT_TRUE(goal);
  EXPECT_EQ(goal->maxNodes, 3);
  EXPECT_EQ(goal->parts.size(), 3u);
  explore::Cluster cluster;
  cluster.places.resize(2);
  for (explore::ClusterPlace &place : cluster.places) {
    place.context = ku060();
    place.capacity = place.context.budget;
  }
  cluster.places[1].context.budget["lut"] = 20000; // less is left
  cluster = explore::withinParts(cluster, *goal);
  gen::DeviceContext &first = cluster.places[0].context;
  EXPECT_EQ(first.budget["lut"], 30000);
  EXPECT_EQ(first.budget["ff"], 45602); // 22.5 % of 202,676, rounded down
  EXPECT_EQ(first.budget["bram"], 254);
  EXPECT_EQ(first.budget["dsp"], 0);
  EXPECT_FALSE(first.hasDsp);
  EXPECT_EQ(cluster.places[0].capacity["lut"], 96801);
  EXPECT_EQ(cluster.places[1].context.budget["lut"], 20000);
}

/// The tighter of two bounds decides; the objective selects within
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
  // What the fastest plan leaves of the device shortens the way of a frame.
  auto fastest = run(f, "max-throughput");
  EXPECT_LT(least.latency, 0.98 * fastest.latency);
  EXPECT_LE(least.seconds, fastest.seconds * (1 + 1e-9));
  auto never = run(f, "max-throughput,latency=1us");
  EXPECT_FALSE(never.meetsGoal);
  EXPECT_FALSE(never.limit.isNone());
  EXPECT_FALSE(run(f, "max-throughput,throughput=1e9").meetsGoal);
}
/// Datagrams hold words of 64 bits, for any width of streams: a request
/// takes longer over narrow streams, and no width is arbitrary.
TEST(Explore, LatencyOverStreamsOfAnyWidth) {
  MLIRContext context;
  NetworkBuilder n(context);
  func::FuncOp f = pttcnn(n);
  double before = INFINITY;
  for (int64_t bits : {8, 16, 32, 64, 128, 256, 512, 1024}) {
    explore::ClusterPlace place;
    place.device = "xcku060-role";
    place.context = ku060();
    place.capacity = place.context.budget;
    place.streamBits = bits;
    place.wire = explore::Wire{{Medium::Kind::Udp, 10e9, 1000}};
    explore::Cluster cluster;
    cluster.hostWire = place.wire;
    cluster.places.assign(1, place);
    auto result =
        explore::explore(f, *explore::parseGoal("throughput=5000/s"), cluster);
    ASSERT_TRUE(succeeded(result));
    EXPECT_TRUE(result->meetsGoal) << bits;
    const explore::NodeResult &node = result->nodes[0];
    double clock = 156.25e6, design = double(node.timing.latencyCycles) / clock;
    // There and back, with a datagram and one of ten results on the medium; the
    // design works while others arrive. They also enter the device and then
    // the design, beat by beat.
    double least = 2 * 1e-6 + 8 * (1024 + 10) / 10e9;
    EXPECT_GT(result->latency, least + design) << bits;
    EXPECT_LT(result->latency,
              least + design + 4e-6 + 2 * 3072 * 8 / double(bits) / clock)
        << bits;
    EXPECT_LE(result->latency, before * (1 + 1e-9)) << bits;
    before = result->latency;
  }
}

/// Whether every device stays within the goal's limits, including error bars.
void expectWithin(const explore::Result &result, const std::string &goal) {
  auto parsed = explore::parseGoal(goal);
  for (const explore::NodeResult &node : result.nodes) {
    gen::Resources most = node.resources;
    most += node.errors;
    for (size_t k = 0; k < gen::kResourceNames.size(); ++k)
      if (auto part = parsed->parts.find(gen::kResourceNames[k]);
          part != parsed->parts.end())
        EXPECT_LE(most.amount[k], part->second.amount) << goal;
  }
}

/// Every kind of bound holds; the tighter it is, the slower is the best plan.
TEST(Explore, ResourcesBoundPlans) {
  MLIRContext context;
  NetworkBuilder n(context);
  func::FuncOp f = pttcnn(n);
  // DSPs only bind where products do not fit in LUTs.
  for (auto [resource, most] : {std::pair("lut", 40000.0),
                                {"ff", 40000.0},
                                {"lut=20000,dsp", 600.0},
                                {"lutram", 4000.0}}) {
    auto free = run(f, std::string(resource) + "=100%,max-throughput");
    double slower = free.seconds;
    for (double share : {1.0, 0.5, 0.25}) {
      std::string goal = std::string(resource) + "=" +
                         std::to_string(share * most) + ",max-throughput";
      auto result = run(f, goal);
      ASSERT_TRUE(result.meetsGoal) << goal << ": " << describe(result.limit);
      expectWithin(result, goal);
      EXPECT_GE(result.seconds, slower * (1 - 1e-9)) << goal;
      slower = result.seconds;
    }
    EXPECT_GT(slower, free.seconds) << resource << " never binds";
  }
  // A few DSP blocks are never worse than none.
  double none = run(f, "max-throughput,dsp=0").seconds;
  for (const char *few : {"1", "2", "5"})
    EXPECT_LE(run(f, std::string("max-throughput,dsp=") + few).seconds,
              none * (1 + 1e-9));
  // With other bounds and objectives.
  std::string goal = "throughput=20000/s,latency=200us,lut=12000,dsp=300";
  auto both = run(f, goal);
  EXPECT_TRUE(both.meetsGoal) << describe(both.limit);
  expectWithin(both, goal);
  EXPECT_LE(both.seconds, 1.0 / 20000);
  EXPECT_LE(both.latency, 200e-6);
  auto slow = run(f, "throughput=5000/s,dsp=0");
  EXPECT_TRUE(slow.meetsGoal) << describe(slow.limit);
  EXPECT_EQ(slow.nodes[0].resources.dsp(), 0);
}

/// A goal that cannot be met names the bound that it breaks, and the nearest
/// plan.
TEST(Explore, ResourceBoundsThatCannotBeMet) {
  MLIRContext context;
  NetworkBuilder n(context);
  func::FuncOp f = pttcnn(n);
  auto slow = run(f, "throughput=300000/s,lut=12000");
  EXPECT_FALSE(slow.meetsGoal);
  EXPECT_TRUE(slow.fits); // the fastest within the bound
  EXPECT_EQ(slow.limit.kind, explore::Limit::Kind::Resource);
  EXPECT_EQ(slow.limit.resource, "lut");
  EXPECT_GT(slow.limit.needed, 12000);
  EXPECT_EQ(slow.limit.available, 12000);
  auto tiny = run(f, "max-throughput,lut=100");
  EXPECT_FALSE(tiny.meetsGoal);
  EXPECT_FALSE(tiny.fits);
  EXPECT_EQ(tiny.limit.resource, "lut");
  EXPECT_EQ(tiny.limit.available, 100);
  EXPECT_TRUE(StringRef(describe(tiny.limit)).ends_with("100 available"))
      << describe(tiny.limit);
}

/// Bounds hold on every device, `nodes` for all together.
TEST(Explore, BoundsOfSeveralDevices) {
  MLIRContext context;
  NetworkBuilder n(context);
  func::FuncOp f = pttcnn(n);
  std::string goal = "throughput=100000/s,lut=9000";
  EXPECT_FALSE(run(f, goal).meetsGoal);
  auto several = run(f, goal, 6);
  EXPECT_TRUE(several.meetsGoal) << describe(several.limit);
  EXPECT_GT(several.devices(), 1);
  expectWithin(several, goal);
  EXPECT_FALSE(run(f, goal + ",nodes=1", 6).meetsGoal);
  goal = "max-throughput,lut=9000,nodes=2";
  auto two = run(f, goal, 6);
  EXPECT_EQ(two.devices(), 2);
  expectWithin(two, goal);
  EXPECT_GE(two.seconds, run(f, "max-throughput,lut=9000", 6).seconds);
}
} // namespace
