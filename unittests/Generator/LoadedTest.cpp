// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Weights that are loaded when a design starts: every kind of layer with
// weights, with random options, in UltraRAM and in block RAM. Values are
// correct under any stalls and nothing is unknown before it is loaded;
// interval, latency and the loading time are as predicted.
#include "Layers.h"

using namespace mlir;
using namespace rhizome;
using rhizome::test::NetworkBuilder;

namespace {
enum class Layer { Conv, Grouped, Depthwise, Dense };

/// The layer and a dense one after it, so that two memories are in the chain.
func::FuncOp networkOf(NetworkBuilder &n, Layer layer) {
  int64_t c = 2 * n.draw(1, 3);
  n.begin({1, n.draw(3, 6), n.draw(3, 6), c}, n.drawType(8));
  NetworkBuilder::Conv conv;
  conv.kh = conv.kw = n.draw(1, 3);
  conv.out = n.draw(1, 9);
  conv.weightBits = n.draw(2, 8);
  conv.bias = n.coin();
  if (layer == Layer::Grouped) {
    conv.groups = 2;
    conv.out = 2 * n.draw(1, 4);
  } else if (layer == Layer::Depthwise) {
    conv.groups = conv.out = c;
  }
  if (layer == Layer::Dense) {
    n.flatten();
    n.dense("first", n.draw(1, 9), conv.weightBits, conv.bias);
  } else {
    n.conv("first", conv);
  }
  n.requantize("first", n.drawType(8), n.coin(), n.coin());
  n.flatten();
  n.dense("last", n.draw(1, 5), n.draw(2, 8), n.coin());
  return n.end();
}

/// A random option for every operation; for those with weights, one that loads
/// them into this memory.
std::vector<gen::Selection> selectionsOf(NetworkBuilder &n,
                                         func::FuncOp network, bool ultra,
                                         const gen::DeviceContext &device) {
  return test::drawSelections(
      n, network, device, [&](Operation *op, const gen::Offer &offer) {
        return offer.generator == "stream" &&
               (!isa<osa::Conv2dOp, osa::DenseOp>(op) ||
                (offer.weights == gen::WeightHome::Resident &&
                 (offer.resources.uram() > 0) == ultra));
      });
}

void run(uint64_t seed, bool measure) {
  gen::DeviceContext device = test::testDevice();
  device.budget["uram"] = 64;
  device.residents = gen::Residents::All;
  gen::Memory memory;
  memory.name = "ddr4";
  memory.bytesPerS = 500'000'000; // 5 bytes per cycle
  memory.latencyNs = 200;
  memory.turnaroundNs = 20;
  memory.refreshEveryNs = 3900;
  memory.refreshNs = 350;
  device.memories = {memory};
  for (Layer layer :
       {Layer::Conv, Layer::Grouped, Layer::Depthwise, Layer::Dense})
    for (bool ultra : {false, true}) {
      // Measured designs are built by Verilator, which takes longer.
      if (measure &&
          (layer == Layer::Conv ? !ultra : layer != Layer::Depthwise || ultra))
        continue;
      SCOPED_TRACE("layer " + std::to_string(int(layer)) +
                   (ultra ? " in UltraRAM, seed " : " in block RAM, seed ") +
                   std::to_string(seed));
      MLIRContext context;
      NetworkBuilder n(context, seed++);
      func::FuncOp network = networkOf(n, layer);
      test::LayerRun left;
      test::runLayer(n, network, selectionsOf(n, network, ultra, device),
                     device, measure, &left);
      EXPECT_EQ(left.resources.uram() > 0, ultra);
      EXPECT_EQ(llvm::count(left.kinds, "load_reader"), 1);
      if (::testing::Test::HasFailure())
        return;
    }
}

TEST(Loaded, FourStateRtlEqualsInterpreter) { run(1, false); }
TEST(Loaded, MeasuredCyclesEqualPrediction) { run(101, true); }

TEST(Loaded, IsOfferedWhereItCanBeLoaded) {
  MLIRContext context;
  NetworkBuilder n(context, 1);
  n.begin({1, 512}, n.drawType(8));
  n.dense("dense", 512, 8, false);
  func::FuncOp network = n.end();
  Operation *dense = nullptr;
  network.walk([&](osa::DenseOp op) { dense = op; });
  auto homes = [&](const gen::DeviceContext &device) {
    int ultra = 0, block = 0;
    for (const gen::Offer &o :
         gen::findGenerator("stream")->offers(dense, {}, device))
      if (o.weights == gen::WeightHome::Resident)
        ++(o.resources.uram() > 0 ? ultra : block);
    return std::pair(ultra > 0, block > 0);
  };
  gen::DeviceContext device = test::testDevice();
  device.residents = gen::Residents::All;
  EXPECT_EQ(homes(device), std::pair(false, false)) << "without a memory";
  device.memories.emplace_back();
  EXPECT_EQ(homes(device), std::pair(false, true)) << "without UltraRAM";
  device.budget["uram"] = 64;
  EXPECT_EQ(homes(device), std::pair(true, true));
  device.residents = gen::Residents::Ultra;
  EXPECT_EQ(homes(device), std::pair(true, false));
  device.residents = gen::Residents::None;
  EXPECT_EQ(homes(device), std::pair(false, false)) << "not asked for";
}
} // namespace
