// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Depths of the buffers before joins, in designs that load weights: with them a
// design is as fast as with buffers that never fill, whatever is slow, and
// where what follows a join is slow they do not hold what would pile up.
#include "Layers.h"
#include "rhizome/Design/Sizing.h"

using namespace mlir;
using namespace rhizome;
using rhizome::test::NetworkBuilder;

namespace {
/// conv2(q(conv1(x)) + x), each with a requantizer.
struct Residual {
  MLIRContext context;
  NetworkBuilder n;
  gen::DeviceContext device = test::testDevice();
  func::FuncOp network;
  gen::MemoryImages images;
  flow::DesignOp design;
  std::vector<gen::Selection> selections;

  explicit Residual(uint64_t seed) : n(context, seed) {
    auto byte = num::IntType::getFull(&context, true, 8);
    n.begin({1, 6, 6, 4}, byte);
    Value x = n.value;
    n.conv("conv1", {.out = 4, .kh = 1, .kw = 1});
    n.requantize("q1", byte, true, false);
    n.add("add", x, 1, 1);
    n.requantize("q2", byte, true, false);
    n.conv("conv2", {.out = 8, .kh = 3, .kw = 3});
    n.requantize("q3", byte, true, false);
    network = n.end();
    device.residents = gen::Residents::All;
    device.memories.emplace_back().name = "ddr4";
    device.memories.back().bytesPerS = 500'000'000;
  }

  /// Builds the design with an offer of `choose` for each convolution, and
  /// sizes its buffers.
  std::optional<gen::Timing>
  size(llvm::function_ref<size_t(bool isFirst, const std::vector<gen::Offer> &)>
           choose) {
    for (Operation &op : network.getBody().front()) {
      if (isa<osa::ConstantOp, func::ReturnOp>(op))
        continue;
      std::vector<gen::Offer> offers;
      for (gen::Offer &o :
           gen::findGenerator("stream")->offers(&op, {}, device))
        if (!isa<osa::Conv2dOp>(op) ||
            (o.weights == gen::WeightHome::Resident && !o.shared))
          offers.push_back(std::move(o));
      const bool isFirst = osa::nodeName(&op) == "conv1";
      const size_t chosen =
          isa<osa::Conv2dOp>(op) ? choose(isFirst, offers) : offers.size() - 1;
      selections.push_back({&op, offers[chosen]});
    }
    gen::Border border{"test", 100, 64, "node0", device.memories};
    design = gen::buildDesign(network, selections, border, images);
    auto timing = gen::BufferSizing(design).fully();
    EXPECT_TRUE(succeeded(timing));
    return *timing;
  }

  gen::Timing predicted() {
    auto timing = gen::predictTiming(design);
    EXPECT_TRUE(succeeded(timing));
    return *timing;
  }
  flow::ActorOp join() {
    for (auto op : design.getBody().getOps<flow::ActorOp>())
      if (op.getKind() == "scaled_add")
        return op;
    return {};
  }
  /// The depth of an operand of the join.
  int64_t depth(unsigned operand) {
    return join()
        .getInputs()[operand]
        .getDefiningOp<flow::ActorOp>()
        .getDepths()[0];
  }
  /// Cycles between frames if no buffer before the join ever fills.
  double freeInterval() {
    for (Value v : join().getInputs()) {
      auto op = v.getDefiningOp<flow::ActorOp>();
      op.setDepths(SmallVector<int64_t>(op.getNumResults(), 1 << 16));
    }
    return predicted().intervalCycles;
  }
  int64_t slowest() const {
    int64_t most = 0;
    for (const gen::Selection &s : selections)
      most = std::max(most, s.offer.busyCycles);
    return most;
  }
};

bool isQuicker(const gen::Offer &a, const gen::Offer &b) {
  return a.busyCycles < b.busyCycles;
}
size_t quickest(const std::vector<gen::Offer> &offers) {
  return size_t(llvm::min_element(offers, isQuicker) - offers.begin());
}
size_t slowest(const std::vector<gen::Offer> &offers) {
  return size_t(llvm::max_element(offers, isQuicker) - offers.begin());
}

TEST(BufferSizing, NothingPilesUpBeforeASlowActorAfterAJoin) {
  Residual r(1);
  auto timing = r.size([](bool isFirst, const auto &offers) {
    return isFirst ? quickest(offers) : slowest(offers);
  });
  ASSERT_TRUE(timing);
  const gen::Timing predicted = r.predicted();
  EXPECT_EQ(timing->intervalCycles, predicted.intervalCycles);
  EXPECT_EQ(timing->latencyCycles, predicted.latencyCycles);
  EXPECT_EQ(timing->intervalCycles, double(r.slowest()));

  // Without bounds, both operands come as fast as they can.
  gen::ProcessNetwork network = gen::networkOf(r.design);
  DenseMap<Value, int> channels;
  for (auto op : r.design.getBody().getOps<flow::ActorOp>())
    for (Value v : op.getOutputs())
      channels.try_emplace(v, int(channels.size()));
  std::vector<int> watched;
  for (Value v : r.join().getInputs()) {
    watched.push_back(channels[v]);
    network.channels[size_t(channels[v])].capacity = INT64_MAX / 4;
  }
  gen::Simulation simulation(network, watched);
  simulation.upTo(6);
  for (auto [operand, channel] : llvm::enumerate(watched))
    EXPECT_LT(r.depth(unsigned(operand)), simulation.occupancy(channel) / 2);
  // All of the frame before fits neither.
  EXPECT_EQ(r.freeInterval(), timing->intervalCycles);
}

TEST(BufferSizing, WhereNothingPilesUpTheRunWithoutBoundsTells) {
  Residual r(2);
  auto timing = r.size([](bool isFirst, const auto &offers) {
    return isFirst ? slowest(offers) : quickest(offers);
  });
  const gen::Timing predicted = r.predicted();
  EXPECT_EQ(predicted.intervalCycles, double(r.slowest()));
  if (timing) {
    EXPECT_EQ(timing->intervalCycles, predicted.intervalCycles);
    EXPECT_EQ(timing->latencyCycles, predicted.latencyCycles);
  }
  // x waits for the convolution.
  EXPECT_GT(std::max(r.depth(0), r.depth(1)), std::min(r.depth(0), r.depth(1)));
  EXPECT_EQ(r.freeInterval(), predicted.intervalCycles);
}

TEST(BufferSizing, NoOptionIsSlowerThanWithoutBounds) {
  for (uint64_t seed = 1; seed <= 12; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Residual r(seed);
    auto timing = r.size([&](bool, const auto &offers) {
      return size_t(r.n.draw(0, int64_t(offers.size()) - 1));
    });
    const gen::Timing predicted = r.predicted();
    if (timing) {
      EXPECT_EQ(timing->intervalCycles, predicted.intervalCycles);
      EXPECT_EQ(timing->latencyCycles, predicted.latencyCycles);
    }
    EXPECT_EQ(r.freeInterval(), predicted.intervalCycles);
  }
}
TEST(BufferSizing, AtAnEvenPaceBuffersHoldLess) {
  int64_t least = 0, paced = 0, free = 0;
  for (uint64_t seed = 10; seed < 30; ++seed) {
    SCOPED_TRACE(seed);
    Residual r(seed);
    r.size([&](bool, const auto &offers) { return r.n.rng() % offers.size(); });
    gen::BufferSizing sizing(r.design);
    sizing.atLeast();
    const std::array<int64_t, 2> fewest = {r.depth(0), r.depth(1)};
    ASSERT_TRUE(succeeded(sizing.roughly(r.slowest())));
    free += r.depth(0) + r.depth(1);
    ASSERT_TRUE(succeeded(sizing.paced(r.slowest())));
    for (unsigned i : {0, 1})
      EXPECT_LE(fewest[i], r.depth(i));
    least += fewest[0] + fewest[1];
    paced += r.depth(0) + r.depth(1);
    // Nothing comes later than at that pace.
    EXPECT_EQ(r.predicted().intervalCycles, double(r.slowest()));
  }
  EXPECT_LT(least, paced);
  EXPECT_LT(paced, free);
}
} // namespace
