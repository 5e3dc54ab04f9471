// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The `dhm` generator: adder graphs compute their matrix and share common
// sums; random layers built only with it equal the interpreter
// in four-state RTL under random stalls, and their cycles equal the prediction.
// RHIZOME_DHM_LAYERS sets how many layers (default 5).
#include "../../lib/Generator/Dhm/AdderGraph.h"
#include "Layers.h"
#include "RtlValues.h"
#include "rhizome/Units/Shared.h"
#include <ctime>

using namespace mlir;
using namespace rhizome;
using rhizome::test::NetworkBuilder;
using rhizome::test::setting;
using rhizome::test::testDevice;

namespace {
struct Matrix {
  std::vector<gen::dhm::Row> rows;
  std::vector<int64_t> bias;
  int64_t digits = 0;
};

Matrix randomMatrix(std::mt19937_64 &rng, int64_t outputs, int64_t inputs,
                    int64_t bits, int64_t zeros, bool bias) {
  Matrix m;
  m.rows.resize(outputs);
  for (auto &row : m.rows) {
    for (int64_t i = 0; i < inputs; ++i) {
      int64_t w =
          int64_t(rng() % (uint64_t(1) << bits)) - (int64_t(1) << (bits - 1));
      if (int64_t(rng() % 100) >= zeros && w)
        row.push_back({int(i), w});
    }
    for (auto [i, w] : row)
      m.digits += gen::dhm::digitsOf(w);
    if (bias)
      m.bias.push_back(int64_t(rng() % 401) - 200);
  }
  return m;
}

gen::Circuit circuitOf(const Matrix &m, int64_t inputs, int64_t lo, int64_t hi,
                       const gen::dhm::Effort &effort = {}) {
  gen::Circuit c;
  c.inLanes = inputs;
  std::vector<int> nodes;
  for (int64_t i = 0; i < inputs; ++i)
    nodes.push_back(c.input(i, lo, hi));
  c.outputs = gen::dhm::addLinear(c, nodes, m.rows, m.bias, effort);
  return c;
}

int64_t addersOf(const gen::Circuit &c) {
  return gen::describe(c, 160).get("adders");
}

TEST(AdderGraph, ComputesTheMatrix) {
  std::mt19937_64 rng(11);
  for (int round = 0; round < 200; ++round) {
    int64_t inputs = 1 + int64_t(rng() % 12), outputs = 1 + int64_t(rng() % 9);
    int64_t bits = 1 + int64_t(rng() % 9);
    Matrix m = randomMatrix(rng, outputs, inputs, bits, int64_t(rng() % 90),
                            rng() & 1);
    int64_t lo = rng() & 1 ? -int64_t(rng() % 130) : 0;
    int64_t hi = lo + 1 + int64_t(rng() % 255);
    gen::dhm::Effort effort;
    effort.pairs = rng() & 1 ? 400000 : 20;
    effort.slack = int64_t(rng() % 3);
    gen::Circuit c = circuitOf(m, inputs, lo, hi, effort);
    test::CircuitLogic logic(c);
    for (int frame = 0; frame < 8; ++frame) {
      std::vector<int64_t> x(inputs);
      for (int64_t &v : x)
        v = frame < 2 ? (frame ? hi : lo)
                      : lo + int64_t(rng() % uint64_t(hi - lo + 1));
      std::vector<int64_t> y = logic(x);
      for (int64_t o = 0; o < outputs; ++o) {
        int64_t expected = m.bias.empty() ? 0 : m.bias[o];
        for (auto [i, w] : m.rows[o])
          expected += w * x[i];
        ASSERT_EQ(y[o], expected) << "round " << round << ", result " << o;
      }
    }
  }
}

TEST(AdderGraph, RangesAreExact) {
  // x0 + x1 and x0 - x1 share inputs: their sum is 2 x0, no wider.
  gen::Circuit c;
  c.inLanes = 2;
  std::vector<int> x = {c.input(0, 0, 15), c.input(1, 0, 15)};
  c.outputs = gen::dhm::addLinear(c, x, {{{0, 7}, {1, -9}}}, {3});
  const auto &out = c.nodes[c.outputs[0]];
  EXPECT_EQ(out.lo, -9 * 15 + 3);
  EXPECT_EQ(out.hi, 7 * 15 + 3);
}

TEST(AdderGraph, SharesAndStaysShallow) {
  std::mt19937_64 rng(3);
  Matrix m = randomMatrix(rng, 64, 64, 8, 0, true);
  // Processor time: other load on the machine does not count.
  std::clock_t begin = std::clock();
  gen::Circuit c = circuitOf(m, 64, -128, 127);
  double ms = 1e3 * double(std::clock() - begin) / CLOCKS_PER_SEC;
  int64_t plain = m.digits; // an adder per digit, including those of the bias
  RecordProperty("ms", int(ms));
  std::printf("64x64, 8 bit: %lld digits, %lld adders, %.0f ms\n",
              (long long)plain, (long long)addersOf(c), ms);
  EXPECT_LT(addersOf(c), plain * 6 / 10);
  EXPECT_LT(ms, 1000);
  // Equal rows cost one.
  Matrix twice = m;
  twice.rows.insert(twice.rows.end(), m.rows.begin(), m.rows.end());
  twice.bias.insert(twice.bias.end(), m.bias.begin(), m.bias.end());
  EXPECT_LT(addersOf(circuitOf(twice, 64, -128, 127)), addersOf(c) * 11 / 10);
}

TEST(Circuit, BehindAnotherOneComputesBoth) {
  std::mt19937_64 rng(5);
  Matrix first = randomMatrix(rng, 5, 4, 5, 20, true);
  gen::Circuit a = circuitOf(first, 4, -8, 7);
  gen::Circuit b;
  b.inLanes = 5;
  for (int i = 0; i < 5; ++i) {
    int x = b.input(i, -2000, 2000);
    b.outputs.push_back(i == 4  ? b.table(b.clamp(x, 0, 3), {7, 5, 3, 1})
                        : i > 2 ? b.even(x, 2)
                                : b.clamp(b.floor(x, 2), -7, 8));
  }
  gen::Circuit both = a.then(b);
  test::CircuitLogic one(a), second(b), together(both);
  for (int frame = 0; frame < 100; ++frame) {
    std::vector<int64_t> x(4);
    for (int64_t &v : x)
      v = int64_t(rng() % 16) - 8;
    EXPECT_EQ(together(x), second(one(x)));
  }
}

TEST(Circuit, TablesMayGoOnBeyondTheirIndex) {
  // The value before a table of four entries needs only one bit.
  gen::Circuit bit, table;
  bit.inLanes = table.inLanes = 1;
  bit.outputs = {bit.input(0, 0, 1)};
  table.outputs = {table.table(table.input(0, 0, 3), {7, 5, 3, 1})};
  gen::Circuit both = bit.then(table);
  test::CircuitLogic logic(both);
  EXPECT_EQ(logic({0}), (std::vector<int64_t>{7}));
  EXPECT_EQ(logic({1}), (std::vector<int64_t>{5}));
}

/// A layer that dhm covers, sometimes followed by a requantizer or thresholds.
func::FuncOp randomNetwork(NetworkBuilder &n);

// The built circuit comes from a longer search than the offer.
TEST(Dhm, BuildsNoDearerThanOffered) {
  for (uint64_t seed = 0; seed < 12; ++seed) {
    MLIRContext context;
    NetworkBuilder n(context, 300 + seed);
    n.begin({1, 1, 1, n.draw(4, 40)}, n.drawType(8));
    n.flatten();
    n.dense("dense", n.draw(1, 24), n.draw(1, 8), n.coin());
    func::FuncOp f = n.end();
    gen::DeviceContext device = testDevice();
    std::vector<gen::Selection> selections;
    for (Operation &op : f.getBody().front())
      if (isa<osa::DenseOp>(op))
        selections.push_back(
            {&op, gen::findGenerator("dhm")->offers(&op, {}, device)[0]});
    double offered = selections[0].offer.resources.lut();
    gen::MemoryImages images;
    auto design = gen::buildDesign(f, selections, {"test", 100, 64}, images);
    double built = 0;
    for (auto op : design.getBody().getOps<flow::ActorOp>())
      if (op.getKind() == "circuit")
        built += gen::costOf(gen::actorOf(op), device.cost).lut();
    EXPECT_GT(built, 0);
    EXPECT_LE(built, offered * 1.02 + 8) << "seed " << seed;
  }
}

func::FuncOp randomNetwork(NetworkBuilder &n) {
  n.bellShaped = n.coin();
  int64_t kind = n.draw(0, 5);
  int64_t h = n.draw(1, 6), w = n.draw(1, 6), c = n.draw(1, 4);
  if (kind == 5) {
    n.begin({1, h, w, c}, n.drawType(6));
    n.table("table", n.drawType(7), n.coin());
    return n.end();
  }
  n.begin({1, h, w, c}, n.drawType(n.coin() ? 3 : 8));
  auto behind = [&](StringRef name) {
    switch (n.draw(0, 3)) {
    case 0:
      return n.requantize(name, n.drawType(8), n.coin(), n.coin());
    case 1:
      return n.requantize(name, n.drawType(3), n.coin(), n.coin());
    case 2:
      return n.threshold(name, n.draw(1, n.coin() ? 3 : 17), n.coin());
    default:
      return;
    }
  };
  if (kind < 3) {
    NetworkBuilder::Conv conv;
    conv.out = n.draw(1, 6);
    conv.kh = n.draw(1, std::min<int64_t>(3, h));
    conv.kw = n.draw(1, std::min<int64_t>(3, w));
    for (int i : {0, 1}) {
      conv.strides[i] = n.draw(1, 2);
      conv.pads[i] = n.draw(0, 1);
      conv.pads[i + 2] = n.draw(0, 1);
    }
    if (kind == 1) {
      conv.groups = c;
      conv.out = c * n.draw(1, 2);
    }
    conv.weightBits = n.draw(1, n.coin() ? 3 : 9);
    conv.bias = n.coin();
    n.conv("conv", conv);
    behind("conv");
  } else {
    n.flatten();
    n.dense("dense", n.draw(1, 9), n.draw(1, 8), n.coin());
    behind("dense");
    if (kind == 4) {
      n.dense("second", n.draw(1, 5), n.draw(1, 4), n.coin());
      behind("second");
    }
  }
  return n.end();
}

void runLayer(uint64_t seed, bool measure) {
  MLIRContext context;
  NetworkBuilder n(context, seed);
  func::FuncOp network = randomNetwork(n);
  gen::DeviceContext device = testDevice();
  // From one level between registers to many.
  device.clockMhz = double(n.draw(80, 500));
  SCOPED_TRACE("seed " + std::to_string(seed));
  const gen::Generator *dhm = gen::findGenerator("dhm");
  std::vector<gen::Selection> selections;
  for (Operation &op : network.getBody().front()) {
    if (isa<osa::ConstantOp, osa::ReshapeOp, func::ReturnOp>(op))
      continue;
    auto reason = dhm->coverage(&op);
    ASSERT_FALSE(reason) << *reason;
    auto options = dhm->offers(&op, {}, device);
    ASSERT_FALSE(options.empty());
    for (const gen::Offer &o : options)
      EXPECT_EQ(o.resources.dsp(), 0);
    selections.push_back({&op, options[n.rng() % options.size()]});
  }
  test::runLayer(n, network, selections, device, measure);
}

/// Its second layer adds complements of inputs that are always zero.
TEST(Dhm, TheComplementOfZeroCounts) { runLayer(160, false); }

TEST(Dhm, FourStateRtlEqualsInterpreter) {
  int64_t count = setting("RHIZOME_DHM_LAYERS", 5);
  for (int64_t i = 0; i < count && !HasFatalFailure(); ++i)
    runLayer(uint64_t(100 + i), false);
}

TEST(Dhm, MeasuredCyclesEqualPrediction) {
  int64_t count = setting("RHIZOME_DHM_LAYERS", 5) / 5;
  for (int64_t i = 0; i < count && !HasFatalFailure(); ++i)
    runLayer(uint64_t(2000 + i), true);
}

TEST(Dhm, CircuitsBehindEachOtherAreOnePipeline) {
  MLIRContext context;
  NetworkBuilder n(context, 9);
  n.begin({1, 1, 1, 8}, num::IntType::getFull(&context, true, 6));
  n.flatten();
  n.dense("fc1", 12, 4, true);
  n.requantize("fc1", num::IntType::getFull(&context, false, 4), true, false);
  n.dense("fc2", 3, 4, true);
  func::FuncOp network = n.end();
  gen::DeviceContext device = testDevice();
  std::vector<gen::Selection> selections;
  for (Operation &op : network.getBody().front())
    if (isa<osa::DenseOp, osa::RequantizeOp>(op)) {
      auto options = gen::findGenerator("dhm")->offers(&op, {}, device);
      selections.push_back({&op, options.front()});
    }
  test::LayerRun run;
  test::runLayer(n, network, selections, device, false, &run);
  EXPECT_EQ(run.kinds,
            (std::vector<std::string>{"axis_in", "circuit", "axis_out"}));
  EXPECT_LE(run.timing.intervalCycles, 3);
}

TEST(Dhm, WideBordersTakeNoCycle) {
  MLIRContext context;
  NetworkBuilder n(context, 9);
  n.begin({1, 1, 1, 8}, num::IntType::getFull(&context, true, 6));
  n.flatten();
  n.dense("fc1", 12, 4, true);
  n.requantize("fc1", num::IntType::getFull(&context, false, 4), true, false);
  n.dense("fc2", 3, 4, true);
  func::FuncOp network = n.end();
  gen::DeviceContext device = testDevice();
  std::vector<gen::Selection> selections;
  for (Operation &op : network.getBody().front())
    if (isa<osa::DenseOp, osa::RequantizeOp>(op)) {
      auto options = gen::findGenerator("dhm")->offers(&op, {}, device);
      selections.push_back({&op, options.front()});
    }
  // Without stalls the cycles are those that were predicted.
  for (bool measure : {false, true}) {
    test::LayerRun run;
    run.width = gen::kWideBorder;
    test::runLayer(n, network, selections, device, measure, &run);
    EXPECT_EQ(run.kinds,
              (std::vector<std::string>{"wide_in", "circuit", "wide_out"}));
    EXPECT_EQ(run.timing.intervalCycles, 1);
    EXPECT_LE(run.timing.latencyCycles, 8);
  }
}
} // namespace
