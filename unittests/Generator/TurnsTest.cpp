// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Layers of one shape that take turns on one unit (stream/turns): networks of
// random shapes, widths and foldings, simulated with stalls, against the
// interpreter; cycles against the prediction; what the explorer makes of the
// offers; residual branches around a layer on the unit, which must not block.
#include "Layers.h"
#include "rhizome/Explore/Explore.h"

using namespace mlir;
using namespace rhizome;
using rhizome::test::NetworkBuilder;
using rhizome::test::testDevice;

namespace {
bool isTurns(const gen::Offer &offer) { return offer.shared.has_value(); }

/// The operations on one unit: the same random folding for all of them; others
/// have units of their own.
std::vector<gen::Selection> select(NetworkBuilder &n, func::FuncOp network,
                                   const gen::DeviceContext &device) {
  const gen::Generator *stream = gen::findGenerator("stream");
  std::vector<gen::Region> regions;
  std::vector<std::vector<gen::Offer>> offers;
  for (Operation &op : network.getBody().front()) {
    if (!isa<osa::Conv2dOp, osa::DenseOp>(op))
      continue;
    std::vector<gen::Offer> own = stream->offers(&op, {}, device);
    llvm::erase_if(own, [](const gen::Offer &o) { return !isTurns(o); });
    if (own.empty())
      continue;
    regions.push_back(&op);
    offers.push_back(std::move(own));
  }
  EXPECT_FALSE(regions.empty());
  std::vector<gen::Selection> selections =
      test::drawSelections(n, network, device);
  if (regions.empty())
    return selections;
  const size_t folding = n.rng() % offers[0].size();
  std::vector<const gen::Offer *> taken;
  for (const std::vector<gen::Offer> &own : offers) {
    EXPECT_EQ(own[folding].shared->key, offers[0][folding].shared->key);
    taken.push_back(&own[folding]);
  }
  llvm::erase_if(selections, [&](const gen::Selection &s) {
    return llvm::any_of(regions, [&](const gen::Region &region) {
      return region.front() == s.region.front();
    });
  });
  selections.push_back(
      {gen::Region::joined(regions), stream->join(regions, taken, device)});
  return selections;
}

void layer(NetworkBuilder &n, const std::string &name, int64_t out,
           bool isDense, int64_t kernel, bool bias, int64_t weightBits) {
  if (isDense)
    return n.dense(name, out, weightBits, bias);
  NetworkBuilder::Conv conv;
  conv.kh = conv.kw = kernel;
  for (int64_t &pad : conv.pads)
    pad = (kernel - 1) / 2;
  if (kernel % 2 == 0)
    conv.pads[2] = conv.pads[3] = kernel / 2;
  conv.out = out;
  conv.bias = bias;
  conv.weightBits = weightBits;
  n.conv(name, conv);
}

/// Two to four layers of one shape, requantized to one type: one after another,
/// sometimes with an addition of what was before one of them or a pool between;
/// or two next to each other, whose results are added.
func::FuncOp layers(NetworkBuilder &n) {
  const bool isDense = n.draw(0, 2) == 0, bias = n.coin();
  const int64_t kernel = n.draw(1, 3), channels = n.draw(1, 8);
  const int64_t weightBits = n.draw(2, 8);
  num::IntType type = n.drawType(8);
  if (isDense)
    n.begin({1, channels}, type);
  else
    n.begin({1, n.draw(1, 5), n.draw(1, 5), channels}, type);
  auto add = [&](const std::string &name, Value other) {
    n.add(name + "_add", other, n.draw(-5, 5) | 1, n.draw(1, 100));
    n.requantize(name + "_add", type, n.coin(), n.coin());
  };
  auto one = [&](const std::string &name) {
    layer(n, name, channels, isDense, kernel, bias, weightBits);
    n.requantize(name, type, n.coin(), n.coin());
  };
  const int64_t count = n.draw(2, 4);
  for (int64_t i = 0; i < count; ++i) {
    const std::string name = "layer" + std::to_string(i);
    Value before = n.value;
    one(name);
    switch (n.draw(0, 5)) {
    case 0:
    case 1:
      add(name, before);
      break;
    case 2:
      if (!isDense)
        n.maxPool(name + "_pool", {{3, 3}, {1, 1}, {1, 1, 1, 1}, {1, 1}});
      break;
    case 3: {
      Value beside = n.value;
      n.value = before;
      one(name + "_beside");
      add(name, beside);
      ++i;
      break;
    }
    default:
      break;
    }
  }
  return n.end();
}

void run(uint64_t seed, bool measure) {
  MLIRContext context;
  NetworkBuilder n(context, seed);
  func::FuncOp network = layers(n);
  gen::DeviceContext d = testDevice();
  SCOPED_TRACE("RHIZOME_RANDOM_SEED=" + std::to_string(seed));
  test::LayerRun left;
  test::runLayer(n, network, select(n, network, d), d, measure, &left);
  EXPECT_EQ(llvm::count(left.kinds, "matvec_turns"), 1);
}

TEST(Turns, FourStateRtlEqualsInterpreter) {
  test::forSeeds(1, 1, [](uint64_t seed) { run(seed, false); });
}

TEST(Turns, MeasuredCyclesEqualPrediction) {
  test::forSeeds(1001, 2, [](uint64_t seed) { run(seed, true); });
}
} // namespace
