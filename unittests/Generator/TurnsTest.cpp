// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Layers that take turns on one unit (stream/turns), of one shape or of
// several, with their weights in each home: networks of random shapes, widths
// and foldings, simulated with stalls, against the interpreter; cycles against
// the prediction; residual branches around a layer on the unit, which must not
// block.
#include "Layers.h"
#include "rhizome/Explore/Explore.h"

using namespace mlir;
using namespace rhizome;
using rhizome::test::NetworkBuilder;
using rhizome::test::testDevice;

namespace {
/// Which of the offers: layers of one shape or of any, where the weights are.
struct Wanted {
  bool isMixed = false;
  gen::WeightHome home = gen::WeightHome::Rom;

  bool takes(const gen::Offer &offer) const {
    return offer.shared && offer.weights == home &&
           llvm::StringRef(offer.key.text()).contains("sizes=any") == isMixed;
  }
};

gen::DeviceContext deviceOf(NetworkBuilder &n, const Wanted &wanted) {
  gen::DeviceContext device = testDevice();
  if (wanted.home == gen::WeightHome::Rom)
    return device;
  device.budget["uram"] = 64;
  device.residents = gen::Residents::All;
  device.streaming = gen::Streaming::All;
  gen::Memory memory;
  memory.name = "ddr4";
  memory.portBits = 32 << n.draw(0, 3);
  memory.bytesPerS = 100'000'000 * n.draw(3, 40);
  memory.latencyNs = n.draw(10, 400);
  memory.turnaroundNs = n.draw(0, 30);
  memory.refreshEveryNs = 3900;
  memory.refreshNs = 350;
  device.memories = {memory};
  return device;
}

/// The operations on one unit: the same random folding for all of them; others
/// have units of their own.
std::vector<gen::Selection> select(NetworkBuilder &n, func::FuncOp network,
                                   const gen::DeviceContext &device,
                                   const Wanted &wanted) {
  const gen::Generator *stream = gen::findGenerator("stream");
  std::vector<gen::Region> regions;
  std::vector<std::vector<gen::Offer>> offers;
  for (Operation &op : network.getBody().front()) {
    if (!isa<osa::Conv2dOp, osa::DenseOp>(op))
      continue;
    std::vector<gen::Offer> own = stream->offers(&op, {}, device);
    llvm::erase_if(own, [&](const gen::Offer &o) { return !wanted.takes(o); });
    if (own.empty())
      continue;
    regions.push_back(&op);
    offers.push_back(std::move(own));
  }
  EXPECT_FALSE(regions.empty());
  std::vector<gen::Selection> selections =
      test::drawSelections(n, network, device, [](auto *, const auto &offer) {
        return offer.weights == gen::WeightHome::Rom;
      });
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

/// Two to four layers of different shapes, some of them alike: one after
/// another, sometimes with a pool between that makes the frame smaller.
func::FuncOp shapes(NetworkBuilder &n, bool isDense) {
  const bool bias = n.coin();
  const int64_t weightBits = n.draw(2, 8), step = n.draw(1, 3);
  num::IntType type = n.drawType(8);
  auto channels = [&] { return step * n.draw(1, 4); };
  int64_t edge = n.draw(2, 5);
  if (isDense)
    n.begin({1, channels()}, type);
  else
    n.begin({1, edge, edge, channels()}, type);
  const int64_t count = n.draw(2, 4);
  for (int64_t i = 0; i < count; ++i) {
    const std::string name = "layer" + std::to_string(i);
    const bool isFlat = isDense || (i + 1 == count && n.coin());
    if (isFlat && !isDense)
      n.flatten();
    // The first one has a shape of its own.
    layer(n, name, i == 0 ? n.shape().back() + step : channels(), isFlat,
          isFlat ? 1 : n.draw(1, 3), bias, weightBits);
    n.requantize(name, type, n.coin(), n.coin());
    if (!isFlat && edge > 3 && n.coin()) {
      n.maxPool(name + "_pool", {{2, 2}, {2, 2}, {0, 0, 0, 0}, {1, 1}});
      edge /= 2;
    }
  }
  return n.end();
}

void run(uint64_t seed, bool measure, const Wanted &wanted = {}) {
  MLIRContext context;
  NetworkBuilder n(context, seed);
  const bool isOnce = wanted.home == gen::WeightHome::Streamed;
  func::FuncOp network =
      wanted.isMixed ? shapes(n, isOnce || n.draw(0, 2) == 0) : layers(n);
  gen::DeviceContext d = deviceOf(n, wanted);
  SCOPED_TRACE("RHIZOME_RANDOM_SEED=" + std::to_string(seed) + ", home " +
               std::to_string(int(wanted.home)) +
               (wanted.isMixed ? ", shapes" : ""));
  test::LayerRun left;
  test::runLayer(n, network, select(n, network, d, wanted), d, measure, &left,
                 wanted.home == gen::WeightHome::Rom ? 0 : 0.03);
  const char *kind = wanted.home == gen::WeightHome::Rom ? "matvec_turns"
                     : isOnce                            ? "turns_streamed"
                                                         : "turns_resident";
  EXPECT_EQ(llvm::count(left.kinds, kind), 1);
}

constexpr gen::WeightHome kHomes[] = {
    gen::WeightHome::Rom, gen::WeightHome::Resident, gen::WeightHome::Streamed};

TEST(Turns, FourStateRtlEqualsInterpreter) {
  test::forSeeds(1, 5, [](uint64_t seed) {
    for (gen::WeightHome home : kHomes)
      run(seed, false, {false, home});
  });
}

TEST(Turns, MeasuredCyclesEqualPrediction) {
  test::forSeeds(1001, 5, [](uint64_t seed) {
    for (gen::WeightHome home : kHomes)
      run(seed, true, {false, home});
  });
}

TEST(Turns, ShapesInFourStateRtl) {
  test::forSeeds(2001, 5, [](uint64_t seed) {
    for (gen::WeightHome home : kHomes)
      run(seed, false, {true, home});
  });
}

TEST(Turns, ShapesAreMeasuredAsPredicted) {
  test::forSeeds(3001, 5, [](uint64_t seed) {
    for (gen::WeightHome home : kHomes)
      run(seed, true, {true, home});
  });
}
} // namespace
