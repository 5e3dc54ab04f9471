// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Softmax and normalization of random rows, widths, scales, lanes and styles:
// four-state RTL under random stalls equals the interpreter, interval and
// latency are as predicted.
#include "../RowsBuilder.h"
#include "Layers.h"

using namespace mlir;
using namespace rhizome;
using rhizome::test::NetworkBuilder;

namespace {
func::FuncOp rows(NetworkBuilder &n) {
  const int64_t row = n.coin() ? n.draw(1, 9) : n.draw(10, 60);
  n.begin({n.draw(1, 3), n.draw(1, 4), row}, n.drawType(9));
  n.value = n.coin() ? test::rowSoftmax(n, "shares", n.value)
                     : test::rowNorm(n, "norm", n.value);
  if (n.coin())
    n.requantize("codes", n.drawType(8), n.coin(), false);
  return n.end();
}

void run(uint64_t seed, bool measure) {
  MLIRContext context;
  NetworkBuilder n(context, seed);
  func::FuncOp network = rows(n);
  gen::DeviceContext d = test::testDevice();
  SCOPED_TRACE("RHIZOME_RANDOM_SEED=" + std::to_string(seed));
  test::runLayer(n, network, test::drawSelections(n, network, d), d, measure);
}

TEST(Rows, FourStateRtlEqualsInterpreter) {
  test::forSeeds(1, 1, [](uint64_t seed) { run(seed, false); });
}
TEST(Rows, MeasuredCyclesEqualPrediction) {
  test::forSeeds(1002, 2, [](uint64_t seed) { run(seed, true); });
}

/// The stores are no deeper than a row and the time until its numbers are
/// known; a quotient has as many parts as rows come quickly.
TEST(Rows, TakeABeatInEveryCycle) {
  MLIRContext context;
  for (bool isNorm : {false, true}) {
    NetworkBuilder n(context, 1);
    n.begin({4, 64}, num::IntType::getFull(&context, true, 8));
    n.value = isNorm ? test::rowNorm(n, "norm", n.value)
                     : test::rowSoftmax(n, "shares", n.value);
    Operation *op = n.value.getDefiningOp();
    n.end();
    double before = 1e9;
    for (const gen::Offer &offer :
         gen::findGenerator("stream")->offers(op, {}, test::testDevice())) {
      const gen::Actor &unit = offer.body.back();
      const int64_t lanes = unit.get("Lanes"), beats = (63 + lanes) / lanes;
      EXPECT_EQ(offer.busyCycles, 4 * beats);
      EXPECT_EQ(gen::serviceCycles(unit), 4 * beats);
      EXPECT_LE(unit.get("Store"), beats + 60);
      if (unit.get("Style"))
        EXPECT_GE(offer.resources.dsp(), double(lanes));
      if (lanes == 64 || lanes == 1)
        EXPECT_NE(offer.resources.lut(),
                  std::exchange(before, offer.resources.lut()));
    }
  }
}
} // namespace
