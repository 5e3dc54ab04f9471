// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The differential test of the generators: seeded random layers with random
// options (foldings, lanes, styles), simulated as four-state RTL with random
// stalls, against the interpreter. No mismatch, no hang, no X.
// RHIZOME_RANDOM_LAYERS sets how many (default 5), RHIZOME_RANDOM_SEED where
// to start: a failure names the seed that reproduces it.
#include "Layers.h"
#include <set>

using namespace mlir;
using namespace rhizome;
using rhizome::test::NetworkBuilder;
using rhizome::test::testDevice;

namespace {
void randomWindow(NetworkBuilder &n, int64_t size, int64_t &kernel,
                  int64_t &stride, int64_t &dilation, int64_t &low,
                  int64_t &high, bool pool) {
  for (;;) {
    kernel = n.draw(1, 4);
    stride = n.draw(1, 3);
    dilation = n.coin() ? 1 : n.draw(1, 2);
    low = n.coin() ? 0 : n.draw(0, kernel - 1);
    high = n.coin() ? 0 : n.draw(0, kernel - 1);
    int64_t span = (kernel - 1) * dilation + 1;
    // A pool's window must touch the frame.
    bool touches = !pool || dilation == 1;
    if (size + low + high >= span && touches)
      return;
  }
}

/// One layer, sometimes followed by a second one, of a random kind.
func::FuncOp randomNetwork(NetworkBuilder &n) {
  int64_t kind = n.draw(0, 11);
  int64_t h = n.coin() ? 1 : n.draw(1, 7), w = n.draw(1, 8), c = n.draw(1, 6);
  num::IntType x = n.drawType(kind == 6 ? 6 : n.coin() ? 8 : 16);
  mlir::Value input = n.begin({1, h, w, c}, x);
  auto window = [&](int64_t size, int64_t axis, auto &&p, bool pool) {
    int64_t kernel, stride, dilation, low, high;
    randomWindow(n, size, kernel, stride, dilation, low, high, pool);
    p.strides[axis] = stride;
    p.dilations[axis] = dilation;
    p.pads[axis] = low;
    p.pads[axis + 2] = high;
    return kernel;
  };
  auto drawConv = [&](bool depthwise) {
    NetworkBuilder::Conv conv;
    conv.kh = window(h, 0, conv, false);
    conv.kw = window(w, 1, conv, false);
    conv.out = n.draw(1, 7);
    if (depthwise) {
      conv.groups = c;
      conv.out = c * (n.coin() ? 1 : n.draw(1, 2));
    } else if (c % 2 == 0 && n.draw(0, 3) == 0) {
      conv.groups = 2;
      conv.out = 2 * n.draw(1, 4);
    }
    conv.weightBits = n.draw(1, n.coin() ? 4 : 12);
    conv.bias = n.coin();
    return conv;
  };
  auto drawPool = [&] {
    NetworkBuilder::Pool pool;
    pool.kernel[0] = window(h, 0, pool, true);
    pool.kernel[1] = window(w, 1, pool, true);
    return pool;
  };
  switch (kind) {
  case 0:
  case 1:
  case 2:
    n.conv("conv", drawConv(kind == 2));
    if (n.coin())
      n.requantize("conv", n.drawType(8), n.coin(), n.coin());
    break;
  case 3:
    n.flatten();
    n.dense("dense", n.draw(1, 9), n.draw(1, 8), n.coin());
    if (n.coin())
      n.threshold("dense", n.draw(1, n.coin() ? 3 : 17), n.coin());
    break;
  case 4:
    n.maxPool("pool", drawPool());
    break;
  case 5:
    n.sumPool("pool", drawPool(), n.coin(), n.coin());
    break;
  case 6:
    n.table("table", n.drawType(9), n.coin());
    break;
  case 7: {
    // A fork whose different paths join again.
    NetworkBuilder::Conv conv;
    conv.kh = conv.kw = 3;
    conv.pads[0] = conv.pads[1] = conv.pads[2] = conv.pads[3] = 1;
    conv.out = c;
    conv.weightBits = n.draw(1, 6);
    n.conv("conv", conv);
    n.add("add", input, n.draw(-5, 5) | 1, n.draw(1, 100));
    break;
  }
  case 10: {
    n.maxPool("pool", {{1, 1}, {1, 1}, {0, 0, 0, 0}, {1, 1}});
    bool product = n.coin();
    n.pair(product ? "product" : "max", input, product, n.draw(-5, 5),
           n.draw(-9, 9), n.draw(-70, 70));
    break;
  }
  case 11: {
    int64_t axis = n.draw(1, 3), size = n.shape()[axis];
    std::vector<int64_t> indices;
    if (n.coin()) { // a slice
      int64_t step = n.draw(1, 3), end = n.draw(1, size);
      for (int64_t i = n.draw(0, end - 1); i < end; i += step)
        indices.push_back(i);
    } else if (n.coin()) { // nearest neighbors
      int64_t factor = n.draw(2, 3);
      for (int64_t i = 0; i < size * factor; ++i)
        indices.push_back(i / factor);
    } else {
      for (int64_t i = n.draw(1, 9); i > 0; --i)
        indices.push_back(n.draw(0, size - 1));
    }
    n.gather("gather", axis, indices);
    break;
  }
  case 8: {
    mlir::Value first = n.value;
    n.maxPool("pool", {{1, 1}, {1, 1}, {0, 0, 0, 0}, {1, 1}});
    n.concat("concat", first, n.draw(1, 3));
    break;
  }
  default:
    if (n.coin()) {
      n.transpose("transpose", n.coin() ? llvm::ArrayRef<int64_t>{0, 3, 1, 2}
                                        : llvm::ArrayRef<int64_t>{0, 2, 1, 3});
    } else {
      n.pad("pad", n.draw(0, 2), n.draw(0, 2), n.draw(0, 2), n.draw(0, 2),
            n.draw(x.getLo(), x.getHi()));
    }
  }
  return n.end();
}

void runLayer(uint64_t seed, bool measure) {
  MLIRContext context;
  NetworkBuilder n(context, seed);
  func::FuncOp network = randomNetwork(n);
  gen::DeviceContext d = testDevice();
  if (seed % 2)
    d.cost.dspWide = 25; // pairs in a DSP48E1
  SCOPED_TRACE("RHIZOME_RANDOM_SEED=" + std::to_string(seed));
  test::runLayer(n, network, test::drawSelections(n, network, d), d, measure);
}

TEST(RandomLayers, SummariesTellOptionsApart) {
  gen::DeviceContext d = testDevice();
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    MLIRContext context;
    NetworkBuilder n(context, seed);
    func::FuncOp network = randomNetwork(n);
    for (Operation &op : network.getBody().front()) {
      if (isa<osa::ConstantOp, osa::ReshapeOp, func::ReturnOp>(op))
        continue;
      for (const auto &generator : gen::allGenerators()) {
        if (generator->coverage(&op))
          continue;
        std::set<std::string> summaries;
        for (const gen::Offer &o : generator->offers(&op, {}, d))
          EXPECT_TRUE(summaries.insert(o.summary).second)
              << "RHIZOME_RANDOM_SEED=" << seed << " " << o.generator << ": "
              << o.summary;
      }
    }
  }
}

TEST(RandomLayers, FourStateRtlEqualsInterpreter) {
  test::forSeeds(1, 1, [](uint64_t seed) { runLayer(seed, false); });
}

TEST(RandomLayers, MeasuredCyclesEqualPrediction) {
  test::forSeeds(1002, 10, [](uint64_t seed) { runLayer(seed, true); });
}
} // namespace
