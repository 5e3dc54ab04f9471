// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rows and pages in UltraRAM: windows of every kind and the pages that follow
// tiles, on a device whose blocks are so small that an UltraRAM replaces many.
// Values are correct under any stalls; interval and latency are as predicted.
#include "Layers.h"
#include "rhizome/Cost/Structure.h"

using namespace mlir;
using namespace rhizome;
using rhizome::test::NetworkBuilder;

namespace {
gen::DeviceContext deviceOf() {
  gen::DeviceContext device = test::testDevice();
  device.budget["uram"] = 64;
  device.ultraRows = gen::UltraRows::Also;
  device.cost.bramBits = 128;
  device.cost.bramPort = 8;
  device.cost.lutramBits = 0;
  device.cost.shiftRegisters = false;
  device.streaming = gen::Streaming::All;
  device.batch = 2;
  gen::Memory memory;
  memory.name = "ddr4";
  memory.portBits = 64;
  memory.bytesPerS = 2'000'000'000;
  memory.latencyNs = 100;
  device.memories = {memory};
  return device;
}

bool isInUltra(const gen::Offer &offer, StringRef kind) {
  return llvm::any_of(offer.body.units, [&](const gen::Body::Unit &unit) {
    return kind == unit.actor.kind().name && unit.actor.get("Ultra");
  });
}

/// A convolution whose `kind` of store is in UltraRAM, and a pool of which the
/// same is true of its window.
void run(uint64_t seed, StringRef kind, bool measure) {
  SCOPED_TRACE(kind.str() + ", seed " + std::to_string(seed));
  MLIRContext context;
  NetworkBuilder n(context, seed);
  n.begin({1, n.draw(4, 6), n.draw(4, 6), 2 * n.draw(2, 4)},
          num::IntType::getFull(&context, /*isSigned=*/true, 8));
  NetworkBuilder::Conv conv;
  conv.kh = conv.kw = 3;
  conv.pads[0] = conv.pads[1] = 1;
  conv.out = n.draw(6, 12);
  conv.weightBits = 6;
  n.conv("first", conv);
  n.requantize("first", n.drawType(8), n.coin(), n.coin());
  n.flatten();
  n.dense("last", n.draw(1, 5), n.draw(2, 8), n.coin());
  func::FuncOp network = n.end();
  const gen::DeviceContext device = deviceOf();
  int inUltra = 0;
  auto selections = test::drawSelections(
      n, network, device, [&](Operation *op, const gen::Offer &offer) {
        return offer.generator == "stream" &&
               (!isa<osa::Conv2dOp>(op) || isInUltra(offer, kind));
      });
  for (const gen::Selection &selection : selections) {
    inUltra += isInUltra(selection.offer, kind);
    EXPECT_EQ(selection.offer.key.text().find("rows=ultra") !=
                  std::string::npos,
              selection.offer.resources.uram() > 0);
  }
  EXPECT_GE(inUltra, 1);
  test::LayerRun left;
  test::runLayer(n, network, selections, device, measure, &left,
                 /*tolerance=*/0.03);
  EXPECT_GT(left.resources.uram(), 0);
}

TEST(UltraRows, FourStateRtlEqualsInterpreter) {
  uint64_t seed = 1;
  for (const char *kind : {unit::Window::kKind, unit::WindowTiled::kKind,
                           unit::WindowBatch::kKind, unit::Reorder::kKind})
    run(seed++, kind, /*measure=*/false);
}

TEST(UltraRows, MeasuredCyclesEqualPrediction) {
  run(101, unit::Window::kKind, /*measure=*/true);
}

TEST(UltraRows, ReplaceSeveralBlocks) {
  const gen::CostContext context;
  using gen::cost::isForUltra;
  // Eight blocks of 512 words, or eight UltraRAMs; 32 blocks, or eight.
  EXPECT_FALSE(isForUltra({512, 576}, context));
  EXPECT_TRUE(isForUltra({2048, 576}, context));
  // Two blocks are fewer than are worth an UltraRAM.
  EXPECT_FALSE(isForUltra({1024, 72}, context));
  EXPECT_TRUE(isForUltra({4096, 72}, context));
  EXPECT_FALSE(isForUltra({1, 4096}, context));
}
} // namespace
