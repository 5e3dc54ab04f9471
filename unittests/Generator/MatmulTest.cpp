// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Products of two tensors with random shapes, widths, zero points, batches,
// orders of the operands and foldings: of two inputs, and of one tensor that
// forks, as in attention. Values are correct under any stalls, interval and
// latency are as predicted.
#include "../MatmulBuilder.h"
#include "Layers.h"
#include <set>

using namespace mlir;
using namespace rhizome;
using rhizome::test::matmul;
using rhizome::test::NetworkBuilder;

namespace {
int64_t drawZero(NetworkBuilder &n, num::IntType t) {
  return n.coin() ? 0 : n.draw(t.getLo(), t.getHi());
}

/// Two inputs.
func::FuncOp pairOf(NetworkBuilder &n) {
  osa::MatmulShape s;
  bool isInside = n.coin();
  s.outer = isInside ? n.draw(1, 5) : 1;
  s.batch = n.draw(1, 3);
  s.rows = isInside ? 1 : n.draw(1, 6);
  s.inner = n.draw(1, 9);
  s.columns = n.draw(1, 9);
  s.axes = test::drawAxes(n);
  num::IntType x = n.drawType(n.coin() ? 8 : 12), y = n.drawType(8);
  Value lhs = n.begin({s.outer * s.batch * s.rows, s.inner}, x);
  (void)n.func.insertArgument(1, n.tensor({s.batch * s.columns, s.inner}, y),
                              {}, n.loc("second"));
  matmul(n, "product", lhs, n.func.getArgument(1), s, drawZero(n, x),
         drawZero(n, y));
  if (n.coin())
    n.requantize("product", n.drawType(8), n.coin(), false);
  return n.end();
}

/// Attention without its softmax: queries, keys and values of one tensor of
/// tokens, with the heads inside.
func::FuncOp attention(NetworkBuilder &n) {
  int64_t tokens = n.draw(2, 5), heads = n.draw(1, 3), depth = n.draw(1, 4);
  Value x = n.begin({tokens, n.draw(2, 6)}, n.drawType(8));
  auto projection = [&](llvm::StringRef name) {
    n.value = x;
    n.dense(name, heads * depth, n.draw(2, 8), n.coin());
    n.requantize(name, n.drawType(8), n.coin(), false);
    return n.value;
  };
  Value q = projection("q"), k = projection("k"), v = projection("v");
  matmul(n, "scores", q, k, {tokens, heads, 1, depth, tokens, {1, 2, 0}}, 0, 0);
  n.requantize("scores", n.drawType(8), n.coin(), false);
  matmul(n, "mix", n.value, v, {tokens, heads, 1, tokens, depth, {1, 0, 2}}, 0,
         0);
  return n.end();
}

/// A tensor by itself: both operands come from one fork.
func::FuncOp square(NetworkBuilder &n) {
  int64_t rows = n.draw(1, 6), inner = n.draw(1, 7);
  Value x = n.begin({rows, inner}, n.drawType(8));
  matmul(n, "square", x, x, {1, 1, rows, inner, rows, {0, 2, 1}}, 0, 0);
  return n.end();
}

void run(uint64_t seed, bool measure) {
  MLIRContext context;
  NetworkBuilder n(context, seed);
  func::FuncOp network = seed % 3 == 0   ? attention(n)
                         : seed % 6 == 1 ? square(n)
                                         : pairOf(n);
  gen::DeviceContext d = test::testDevice();
  if (n.coin())
    d.budget["uram"] = 64;
  SCOPED_TRACE("RHIZOME_RANDOM_SEED=" + std::to_string(seed));
  test::LayerRun left;
  test::runLayer(n, network, test::drawSelections(n, network, d), d, measure,
                 &left);
  EXPECT_TRUE(llvm::is_contained(left.kinds, "matmul"));
}

TEST(Matmul, FourStateRtlEqualsInterpreter) {
  test::forSeeds(1, 1, [](uint64_t seed) { run(seed, false); });
}
TEST(Matmul, MeasuredCyclesEqualPrediction) {
  test::forSeeds(1002, 5, [](uint64_t seed) { run(seed, true); });
}

/// The offers for a product of 8-bit matrices.
std::vector<gen::Offer> offersFor(NetworkBuilder &n, const osa::MatmulShape &s,
                                  const gen::DeviceContext &device) {
  auto byte = num::IntType::getFull(n.b.getContext(), true, 8);
  Value lhs = n.begin({s.outer * s.batch * s.rows, s.inner}, byte);
  (void)n.func.insertArgument(1, n.tensor({s.batch * s.columns, s.inner}, byte),
                              {}, n.loc("second"));
  matmul(n, "product", lhs, n.func.getArgument(1), s, 0, 0);
  Operation *op = n.value.getDefiningOp();
  n.end();
  return gen::findGenerator("stream")->offers(op, {}, device);
}

TEST(Matmul, UsesDspsAndAnyFolding) {
  MLIRContext context;
  NetworkBuilder n(context, 1);
  auto offers =
      offersFor(n, {197, 3, 1, 64, 197, {1, 2, 0}}, test::testDevice());
  std::set<std::pair<int64_t, int64_t>> foldings;
  for (const gen::Offer &offer : offers) {
    const gen::Actor &unit = offer.body.back();
    int64_t pe = unit.get("Pe"), simd = unit.get("Simd");
    foldings.insert({pe, simd});
    if (unit.get("Style") == 2) {
      EXPECT_EQ(offer.resources.dsp(), double((pe + 1) / 2 * simd));
    }
    if (unit.get("Style") == 1) {
      EXPECT_EQ(offer.resources.dsp(), double(pe * simd));
    }
    EXPECT_EQ(offer.busyCycles,
              3 * 197 * ((197 + pe - 1) / pe) * ((64 + simd - 1) / simd));
  }
  EXPECT_EQ(foldings.size(),
            gen::foldings(197).size() * gen::foldings(64).size());
}

/// The memory follows the shape: two pages, of one matrix where both operands
/// have their matrices one after another, otherwise of all.
TEST(Matmul, StoresTwoPages) {
  MLIRContext context;
  gen::DeviceContext device = test::testDevice();
  auto heldBy = [&](const osa::MatmulShape &s) {
    NetworkBuilder n(context, 1);
    for (const gen::Offer &offer : offersFor(n, s, device)) {
      const gen::Actor &unit = offer.body.back();
      if (unit.get("Pe") == 4 && unit.get("Simd") == 8)
        return unit.get("Matrices") * unit.get("Folds") * unit.get("OutFolds");
    }
    return int64_t(0);
  };
  EXPECT_EQ(heldBy({1, 12, 64, 32, 64, {0, 2, 1}}), 16 * 4);
  EXPECT_EQ(heldBy({1, 12, 64, 32, 64, {1, 2, 0}}), 12 * 16 * 4);
  EXPECT_EQ(heldBy({64, 12, 1, 32, 64, {0, 1, 2}}), 12 * 16 * 4);
}

TEST(Matmul, MayTakeUltraRam) {
  MLIRContext context;
  NetworkBuilder n(context, 1);
  gen::DeviceContext device = test::testDevice();
  device.budget["uram"] = 64;
  bool isOffered = false;
  for (const gen::Offer &offer :
       offersFor(n, {197, 3, 1, 64, 197, {1, 2, 0}}, device))
    if (offer.body.back().get("Ultra")) {
      isOffered = true;
      EXPECT_GT(offer.resources.uram(), 0) << offer.summary;
    }
  EXPECT_TRUE(isOffered);
}
} // namespace
