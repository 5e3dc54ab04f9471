// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Designs that keep a tensor from frame to frame, of random shapes and options:
// RTL with random stalls against the interpreter, which is handed the state,
// and cycles against the prediction.
// RHIZOME_RANDOM_LAYERS and RHIZOME_RANDOM_SEED as for random layers.
#include "Layers.h"

using namespace mlir;
using namespace rhizome;
using rhizome::test::NetworkBuilder;
using rhizome::test::testDevice;

namespace {
/// h' = requantize(a * layer(x) + b * h), which leaves the network or goes
/// through another layer first.
func::FuncOp recurrentNetwork(NetworkBuilder &n) {
  const int64_t h = n.coin() ? 1 : n.draw(1, 5), w = n.draw(1, 6),
                c = n.draw(1, 5);
  n.begin({1, h, w, c}, n.drawType(8));
  num::IntType type = n.drawType(8);
  func::FuncOp f = n.func;
  (void)f.insertArgument(1, n.tensor({1, h, w, c}, type), {}, n.loc("h"));
  if (n.coin()) {
    NetworkBuilder::Conv conv;
    conv.kh = conv.kw = 3;
    conv.pads[0] = conv.pads[1] = conv.pads[2] = conv.pads[3] = 1;
    conv.out = c;
    conv.weightBits = n.draw(1, 6);
    n.conv("conv", conv);
  }
  n.add("add", f.getArgument(1), n.draw(1, 9), n.draw(-7, 7) | 1);
  n.requantize("next", type, n.coin(), n.coin());
  Value next = n.value;
  const bool isRead = n.coin();
  if (!isRead)
    n.requantize("out", n.drawType(6), n.coin(), false);
  n.end();
  auto ret = cast<func::ReturnOp>(f.front().getTerminator());
  if (!isRead)
    ret->insertOperands(1, next);
  auto shaped = RankedTensorType::get({1, h, w, c}, n.b.getI64Type());
  auto initial = DenseElementsAttr::get(
      shaped, ArrayRef<int64_t>(n.drawValues(shaped.getNumElements(), type)));
  if (isRead)
    n.keepState({"y"}, "y", initial);
  else
    n.keepState({"y", "g"}, "g", initial);
  return f;
}

void runState(uint64_t seed, bool measure) {
  MLIRContext context;
  NetworkBuilder n(context, seed);
  func::FuncOp network = recurrentNetwork(n);
  gen::DeviceContext d = testDevice();
  SCOPED_TRACE("RHIZOME_RANDOM_SEED=" + std::to_string(seed));
  test::LayerRun run;
  test::runLayer(n, network, test::drawSelections(n, network, d), d, measure,
                 &run);
  EXPECT_EQ(llvm::count(run.kinds, "state"), 1);
  EXPECT_EQ(llvm::count(run.kinds, "axis_in"), 1);
  EXPECT_EQ(llvm::count(run.kinds, "axis_out"), 1);
}

TEST(States, FourStateRtlEqualsInterpreter) {
  test::forSeeds(1, 1, [](uint64_t seed) { runState(seed, false); });
}

TEST(States, MeasuredCyclesEqualPrediction) {
  test::forSeeds(500, 3, [](uint64_t seed) { runState(seed, true); });
}
} // namespace
