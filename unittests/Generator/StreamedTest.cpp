// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Weights that are read from an off-chip memory for every frame: dense layers
// and convolutions with random shapes, widths and options, also next to weights
// that are loaded when the design starts, over one bank or several. Values are
// correct under any stalls; interval and latency are as predicted.
#include "Layers.h"
#include "rhizome/Design/Segments.h"
#include <set>

using namespace mlir;
using namespace rhizome;
using rhizome::test::NetworkBuilder;

namespace {
enum class Layer { Dense, Vectors, Pointwise, Conv, Grouped, Depthwise };

/// The layer, and a dense one after it.
func::FuncOp networkOf(NetworkBuilder &n, Layer layer) {
  int64_t c = 2 * n.draw(1, layer == Layer::Dense ? 24 : 6);
  int64_t edge = layer == Layer::Dense ? 1 : n.draw(2, 4);
  n.begin({1, edge, edge, c}, n.drawType(8));
  NetworkBuilder::Conv conv;
  conv.kh = conv.kw = layer == Layer::Conv ? 2 : 1;
  conv.out = n.draw(1, 24);
  conv.weightBits = n.draw(2, 8);
  conv.bias = n.coin();
  if (layer == Layer::Depthwise) {
    conv.kh = conv.kw = 2;
    conv.out = conv.groups = c;
    conv.pads[0] = conv.pads[1] = 1;
  }
  if (layer == Layer::Grouped) {
    conv.groups = 2;
    conv.out = 2 * n.draw(1, 6);
  }
  if (layer == Layer::Dense || layer == Layer::Vectors) {
    if (layer == Layer::Dense)
      n.flatten();
    n.dense("first", conv.out, conv.weightBits, conv.bias);
  } else {
    n.conv("first", conv);
  }
  n.requantize("first", n.drawType(8), n.coin(), n.coin());
  n.flatten();
  n.dense("last", n.draw(1, 9), n.draw(2, 8), n.coin());
  return n.end();
}

gen::DeviceContext deviceOf(NetworkBuilder &n) {
  gen::DeviceContext device = test::testDevice();
  device.budget["uram"] = 64;
  device.residents = gen::Residents::All;
  device.streaming = gen::Streaming::All;
  gen::Memory memory;
  memory.name = "ddr4";
  memory.banks = n.draw(1, 2);
  memory.portBits = 32 << n.draw(0, 3);
  memory.bytesPerS = 100'000'000 * n.draw(3, 40);
  memory.latencyNs = n.draw(10, 400);
  memory.turnaroundNs = n.draw(0, 30);
  memory.refreshEveryNs = 3900;
  memory.refreshNs = 350;
  device.memories = {memory};
  return device;
}

/// A random option for every operation: for the first one with weights one that
/// streams them, for the last one with weights one in this home.
std::vector<gen::Selection> selectionsOf(NetworkBuilder &n,
                                         func::FuncOp network,
                                         gen::WeightHome last,
                                         const gen::DeviceContext &device) {
  Operation *first = nullptr; // with weights
  return test::drawSelections(
      n, network, device, [&](Operation *op, const gen::Offer &offer) {
        if (offer.generator != "stream")
          return false;
        if (!isa<osa::Conv2dOp, osa::DenseOp>(op))
          return true;
        first = first ? first : op;
        return offer.weights ==
               (op == first ? gen::WeightHome::Streamed : last);
      });
}

void run(uint64_t seed, bool measure) {
  int64_t rounds = test::setting("RHIZOME_STREAMED_DESIGNS", 1);
  for (int64_t round = 0; round < rounds; ++round)
    for (Layer layer : {Layer::Dense, Layer::Vectors, Layer::Pointwise,
                        Layer::Conv, Layer::Grouped, Layer::Depthwise})
      for (gen::WeightHome last :
           {gen::WeightHome::Streamed, gen::WeightHome::Resident}) {
        // Measured designs are built by Verilator, which takes longer.
        if (measure && rounds == 1 &&
            (layer == Layer::Dense) == (last == gen::WeightHome::Resident))
          continue;
        SCOPED_TRACE("layer " + std::to_string(int(layer)) + ", last home " +
                     std::to_string(int(last)) + ", seed " +
                     std::to_string(seed));
        MLIRContext context;
        NetworkBuilder n(context, seed++);
        func::FuncOp network = networkOf(n, layer);
        gen::DeviceContext device = deviceOf(n);
        test::LayerRun left;
        test::runLayer(n, network, selectionsOf(n, network, last, device),
                       device, measure, &left, /*tolerance=*/0.03);
        EXPECT_EQ(llvm::count(left.kinds, "matvec_streamed") +
                      llvm::count(left.kinds, "depthwise_streamed"),
                  last == gen::WeightHome::Streamed ? 2 : 1);
        if (::testing::Test::HasFailure())
          return;
      }
}

TEST(Streamed, FourStateRtlEqualsInterpreter) { run(1, false); }
TEST(Streamed, MeasuredCyclesEqualPrediction) { run(101, true); }

/// The positions that use a weight one after another; 1 if each reads its own.
int64_t tileOf(const gen::Offer &offer) {
  for (const gen::Body::Unit &unit : offer.body.units)
    if (unit.actor.is<unit::MatvecStreamed>())
      return unit.actor.get("Positions");
  return 0;
}

/// Layers whose weights are used by a tile of positions before others come: by
/// the smallest tile, and by the largest.
void runTiled(uint64_t seed, bool measure) {
  for (Layer layer : {Layer::Vectors, Layer::Pointwise, Layer::Conv})
    for (bool isLargest : {false, true}) {
      if (measure && isLargest == (layer == Layer::Pointwise))
        continue;
      SCOPED_TRACE("layer " + std::to_string(int(layer)) + ", seed " +
                   std::to_string(seed));
      MLIRContext context;
      NetworkBuilder n(context, seed++);
      const int64_t height = layer == Layer::Vectors ? 6 : 2 * n.draw(2, 3);
      n.begin({1, height, layer == Layer::Vectors ? 1 : n.draw(2, 5),
               2 * n.draw(1, 6)},
              n.drawType(8));
      NetworkBuilder::Conv conv;
      conv.out = n.draw(2, 24);
      conv.weightBits = n.draw(2, 8);
      conv.bias = n.coin();
      if (layer == Layer::Conv) {
        conv.kh = n.draw(2, 3);
        conv.kw = n.draw(1, 2);
        conv.pads[0] = 1;
        conv.pads[2] = conv.kh - 2;
        conv.pads[1] = n.draw(0, 1);
        conv.strides[0] = n.draw(1, 2);
      }
      if (layer == Layer::Vectors)
        n.dense("first", conv.out, conv.weightBits, conv.bias);
      else
        n.conv("first", conv);
      n.requantize("first", n.drawType(8), n.coin(), n.coin());
      n.flatten();
      n.dense("last", n.draw(1, 9), n.draw(2, 8), n.coin());
      func::FuncOp network = n.end();
      gen::DeviceContext device = deviceOf(n);
      Operation *first = nullptr;
      int64_t least = INT64_MAX, most = 0;
      network.walk([&](Operation *op) {
        if (first || !isa<osa::Conv2dOp, osa::DenseOp>(op))
          return;
        first = op;
        for (const gen::Offer &o :
             gen::findGenerator("stream")->offers(op, {}, device))
          if (int64_t tile = tileOf(o); tile > 1) {
            least = std::min(least, tile);
            most = std::max(most, tile);
          }
      });
      ASSERT_GT(most, 1);
      auto selections = test::drawSelections(
          n, network, device, [&](Operation *op, const gen::Offer &o) {
            if (o.generator != "stream")
              return false;
            return op == first ? tileOf(o) == (isLargest ? most : least)
                               : !isa<osa::DenseOp>(op) ||
                                     o.weights == gen::WeightHome::Streamed;
          });
      test::LayerRun left;
      test::runLayer(n, network, selections, device, measure, &left,
                     /*tolerance=*/0.03);
      EXPECT_EQ(llvm::count(left.kinds, "window_tiled"), 1);
      if (::testing::Test::HasFailure())
        return;
    }
}

TEST(Streamed, TilesOfPositionsShareWeights) { runTiled(201, false); }
TEST(Streamed, TilesAreMeasuredAsPredicted) { runTiled(301, true); }

/// The frames that share weights.
int64_t batchOf(const gen::Offer &offer) {
  for (const gen::Body::Unit &unit : offer.body.units)
    if (unit.actor.is<unit::WindowBatch>())
      return unit.actor.get("Frames");
  return 1;
}

/// Two layers whose weights are used by a batch of frames before others come,
/// of as many or of different numbers. Three frames fill no batch of four.
void runBatched(uint64_t seed, bool measure) {
  for (Layer layer : {Layer::Dense, Layer::Vectors, Layer::Conv}) {
    SCOPED_TRACE("layer " + std::to_string(int(layer)) + ", seed " +
                 std::to_string(seed));
    MLIRContext context;
    NetworkBuilder n(context, seed++);
    const int64_t height = layer == Layer::Dense ? 1 : n.draw(2, 3);
    n.begin({1, height, layer == Layer::Conv ? n.draw(2, 3) : 1,
             2 * (measure ? n.draw(16, 24) : n.draw(4, 12))},
            n.drawType(8));
    NetworkBuilder::Conv conv;
    // Measured are layers whose weights are more than a reader fetches ahead.
    conv.out = measure ? n.draw(64, 96) : n.draw(8, 24);
    conv.weightBits = measure ? 8 : n.draw(2, 8);
    conv.bias = n.coin();
    conv.kh = 2;
    conv.pads[0] = 1;
    if (layer == Layer::Dense)
      n.flatten();
    if (layer == Layer::Conv)
      n.conv("first", conv);
    else
      n.dense("first", conv.out, conv.weightBits, conv.bias);
    n.requantize("first", n.drawType(8), n.coin(), n.coin());
    n.flatten();
    n.dense("last", n.draw(4, 12), n.draw(2, 8), n.coin());
    func::FuncOp network = n.end();
    gen::DeviceContext device = deviceOf(n);
    device.memories[0].bytesPerS = 400'000'000;
    device.memories[0].portBits = 32;
    device.batch = 4;
    auto selections = test::drawSelections(
        n, network, device, [&](Operation *op, const gen::Offer &o) {
          if (!isa<osa::Conv2dOp, osa::DenseOp>(op))
            return o.generator == "stream";
          return batchOf(o) == (osa::nodeName(op) == "first" ? 4 : 2);
        });
    test::LayerRun left;
    test::runLayer(n, network, selections, device, measure, &left,
                   /*tolerance=*/0.03);
    EXPECT_EQ(llvm::count(left.kinds, "window_batch"), 2);
    EXPECT_EQ(llvm::count(left.kinds, "unbatch"), 2);
    if (::testing::Test::HasFailure())
      return;
  }
}

TEST(Streamed, FramesShareWeights) { runBatched(401, false); }
TEST(Streamed, BatchesAreMeasuredAsPredicted) { runBatched(501, true); }

TEST(Streamed, IsOfferedWhereItIsAllowed) {
  MLIRContext context;
  NetworkBuilder n(context, 1);
  n.begin({1, 4, 4, 8}, n.drawType(8));
  n.conv("conv", {});
  n.requantize("conv", n.drawType(8), false, false);
  n.flatten();
  n.dense("dense", 16, 8, false);
  func::FuncOp network = n.end();
  auto streamed = [&](const gen::DeviceContext &device) {
    std::set<std::string> nodes;
    network.walk([&](Operation *op) {
      if (isa<osa::Conv2dOp, osa::DenseOp>(op))
        for (const gen::Offer &o :
             gen::findGenerator("stream")->offers(op, {}, device))
          if (o.weights == gen::WeightHome::Streamed)
            nodes.insert(osa::nodeName(op));
    });
    return nodes;
  };
  using Nodes = std::set<std::string>;
  gen::DeviceContext device = test::testDevice();
  device.streaming = gen::Streaming::All;
  EXPECT_EQ(streamed(device), Nodes()) << "without a memory";
  gen::Memory memory;
  memory.name = "ddr4";
  memory.bytesPerS = 1'000'000'000;
  device.memories = {memory};
  EXPECT_EQ(streamed(device), Nodes({"conv", "dense"}));
  device.streaming = gen::Streaming::Once;
  EXPECT_EQ(streamed(device), Nodes({"dense"})) << "one use per frame";
  device.streaming = gen::Streaming::None;
  EXPECT_EQ(streamed(device), Nodes()) << "not asked for";
}

TEST(Streamed, TakesTheBytesThatItSays) {
  MLIRContext context;
  NetworkBuilder n(context, 1);
  n.begin({1, 96}, n.drawType(8));
  n.dense("dense", 64, 8, false);
  func::FuncOp network = n.end();
  gen::DeviceContext device = deviceOf(n);
  device.memories[0].portBits = 128;
  device.memories[0].banks = 1;
  Operation *dense = nullptr;
  network.walk([&](osa::DenseOp op) { dense = op; });
  for (const gen::Offer &o :
       gen::findGenerator("stream")->offers(dense, {}, device)) {
    if (o.weights != gen::WeightHome::Streamed)
      continue;
    ASSERT_EQ(o.traffic.size(), 1u);
    EXPECT_GE(o.traffic[0].readBytes, 96 * 64) << o.summary;
    explore::NodeResult result;
    std::vector<gen::Selection> selections = {{dense, o}};
    flow::DesignOp design = gen::buildDesign(
        network, selections, {"test", 100, 128, "node0", device.memories},
        result.images);
    auto segments = gen::layOut(design, result.images);
    ASSERT_TRUE(succeeded(segments));
    ASSERT_EQ(segments->size(), 1u);
    EXPECT_EQ(double((*segments)[0].bytes), o.traffic[0].readBytes);
    design.erase();
  }
}

TEST(Streamed, ReadersTakeTheBanksThatGiveLeast) {
  MLIRContext context;
  NetworkBuilder n(context, 1);
  n.begin({1, 16}, n.drawType(8));
  for (int i = 0; i < 4; ++i) {
    std::string name = "dense" + std::to_string(i);
    n.dense(name, i == 1 ? 64 : 16, 8, false);
    n.requantize(name, n.drawType(8), false, false);
  }
  func::FuncOp network = n.end();
  gen::DeviceContext device = deviceOf(n);
  device.memories[0].banks = 2;
  explore::NodeResult result;
  auto selections = selectionsOf(n, network, gen::WeightHome::Streamed, device);
  flow::DesignOp design = gen::buildDesign(
      network, selections, {"test", 100, 128, "node0", device.memories},
      result.images);
  std::map<int64_t, std::vector<std::string>> banks;
  for (auto op : design.getBody().getOps<flow::ActorOp>())
    for (flow::BankAttr bank : op.getBanks())
      banks[bank.getBank()].push_back(bank.getSegment().str());
  ASSERT_EQ(banks.size(), 2u);
  EXPECT_EQ(banks[0].size() + banks[1].size(), 4u);
}
} // namespace
