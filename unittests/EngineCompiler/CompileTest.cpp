// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Random layers and chains of them on random cores: programs pass the verifier
// and give the interpreter's bytes on the checked face, in program order and in
// others, and on the native one.
#include "CompileCheck.h"

using namespace rhizome;
using namespace rhizome::engine;
using namespace rhizome::engine::test;

namespace {
TEST_F(CompileTest, ConvolutionsAreTheInterpreters) {
  checkNetworks(0, 2, {"no tile"}, [&](NetworkBuilder &b, const Core &) {
    b.begin({1, b.draw(1, 20), b.draw(1, 20), b.draw(1, 40)}, randomBytes(b));
    b.conv("conv", randomConv(b, b.draw(0, 4) == 0));
    requantize(b, "requantize");
  });
}

TEST_F(CompileTest, ChainsAreTheInterpreters) {
  checkNetworks(
      1000, 3, {"no tile", "ties", "24 bits"},
      [&](NetworkBuilder &b, const Core &) {
        b.begin({1, b.draw(4, 16), b.draw(4, 16), b.draw(1, 24)},
                randomBytes(b));
        for (int64_t layer = 0, layers = b.draw(2, 6); layer < layers;
             ++layer) {
          const std::string name = "layer" + std::to_string(layer);
          switch (b.draw(0, 5)) {
          case 0:
            b.conv(name, randomConv(b, true));
            requantize(b, name + "q");
            break;
          case 1: {
            NetworkBuilder::Pool pool;
            pool.kernel[0] = b.draw(1, std::min<int64_t>(3, b.shape()[1]));
            pool.kernel[1] = b.draw(1, std::min<int64_t>(3, b.shape()[2]));
            for (int64_t i = 0; i < 4; ++i)
              pool.pads[i] = b.draw(0, pool.kernel[i % 2] - 1);
            b.maxPool(name, pool);
            break;
          }
          case 2: {
            NetworkBuilder::Pool pool;
            pool.kernel[0] = b.draw(1, b.shape()[1]);
            pool.kernel[1] = b.draw(1, b.shape()[2]);
            b.sumPool(name, pool, b.coin(), false);
            requantize(b, name + "q");
            break;
          }
          case 3: { // a residual block
            mlir::Value before = b.value;
            NetworkBuilder::Conv conv;
            conv.out = b.shape()[3];
            conv.kh = conv.kw = 3;
            for (int64_t &pad : conv.pads)
              pad = 1;
            b.conv(name, conv);
            requantize(b, name + "q");
            b.add(name + "add", before, b.draw(1, 9000), b.draw(1, 9000));
            b.requantize(name + "addq", randomBytes(b), true, false);
            break;
          }
          default:
            b.conv(name, randomConv(b, false));
            requantize(b, name + "q");
          }
        }
        if (b.coin()) {
          if (b.shape()[1] * b.shape()[2] > 1)
            b.flatten();
          b.dense("dense", b.draw(1, 30));
          requantize(b, "denseq");
        }
      });
}

/// Thresholds of additions: those of real scales, some moved a little.
TEST_F(CompileTest, ThresholdsOfAdditionsAreTheInterpreters) {
  checkNetworks(7000, 2, {"24 bits"}, [&](NetworkBuilder &b, const Core &) {
    b.begin({1, 3, 4, b.draw(1, 20)}, randomBytes(b));
    mlir::Value before = b.value;
    NetworkBuilder::Conv conv;
    conv.out = b.shape()[3];
    b.conv("conv", conv);
    requantize(b, "convq");
    const int64_t left = b.draw(1, 1 << b.draw(1, 24)),
                  right = b.draw(1, 1 << b.draw(1, 24));
    b.add("add", before, left, right);
    const int64_t count = b.draw(1, 255), channels = b.coin() ? 1 : conv.out,
                  apart = (left + right) * b.draw(1, 300) / 100,
                  moved = b.draw(0, 3) ? 0 : left / 20000;
    std::vector<int64_t> values;
    for (int64_t c = 0; c < channels; ++c) {
      const int64_t first = -count / 2 * apart + b.draw(-apart, apart);
      for (int64_t k = 0; k < count; ++k)
        values.push_back(first + k * apart + b.draw(-moved, moved));
    }
    auto out = num::IntType::getForRange(&context, -128, count - 128);
    auto type = num::IntType::getFull(&context, true, 64);
    b.value = osa::ThresholdOp::create(
        b.b, b.loc("threshold"), b.tensor(b.shape(), out), b.value,
        osa::makeIntAttr(&context, "t", {channels, count}, type, values), -128,
        1);
  });
}

/// Thresholds of a quantizer, of other ones and of signs.
TEST_F(CompileTest, ThresholdsAreTheInterpreters) {
  checkNetworks(
      5000, 2, {"meet its thresholds"}, [&](NetworkBuilder &b, const Core &) {
        b.begin({1, 3, 4, b.draw(1, 20)}, randomBytes(b));
        NetworkBuilder::Conv conv;
        conv.out = b.draw(1, 20);
        conv.bias = b.coin();
        b.conv("conv", conv);
        const int64_t count = b.draw(1, 15), channels = b.coin() ? conv.out : 1;
        std::vector<int64_t> values;
        const bool isUneven = b.draw(0, 2) == 0;
        for (int64_t c = 0; c < channels; ++c) {
          const int64_t first = b.draw(-3000, 1000), apart = b.draw(1, 300);
          for (int64_t k = 0; k < count; ++k)
            values.push_back(first + k * apart + (isUneven ? k % 2 : 0));
        }
        const int64_t base = b.draw(-4, 4), step = count == 1 ? b.draw(1, 3)
                                                   : b.coin() ? 1
                                                              : -1;
        auto out = num::IntType::getForRange(
            &context, std::min(base, base + step * count),
            std::max(base, base + step * count));
        auto type = num::IntType::getFull(&context, true, 64);
        b.value = osa::ThresholdOp::create(
            b.b, b.loc("threshold"), b.tensor(b.shape(), out), b.value,
            osa::makeIntAttr(&context, "t", {channels, count}, type, values),
            base, step);
      });
}

/// A block of MobileNet-V2: what expands it and its depthwise part are joined,
/// instructions of both take turns, and the bytes are the same.
TEST_F(CompileTest, JoinedLayersAreFaster) {
  auto core = loadCore("core16x16");
  ASSERT_TRUE(bool(core));
  NetworkBuilder b(context, 11);
  const auto bytes = num::IntType::getFull(&context, true, 8);
  b.begin({1, 14, 14, 96}, bytes);
  NetworkBuilder::Conv conv;
  conv.out = 576;
  b.conv("expand", conv);
  b.requantize("expandq", bytes, true, false);
  conv.groups = 576;
  conv.kh = conv.kw = 3;
  for (int64_t &pad : conv.pads)
    pad = 1;
  b.conv("depthwise", conv);
  b.requantize("depthwiseq", bytes, true, false);
  conv = {};
  conv.out = 96;
  b.conv("project", conv);
  b.requantize("projectq", bytes, true, false);
  mlir::func::FuncOp network = b.end();

  CompileOptions options;
  EXPECT_TRUE(check(network, *core, 1, options).empty());
  std::vector<EngineRefusal> refusals;
  auto joined = compileForCore(network, *core, refusals, options);
  options.joins = false;
  auto apart = compileForCore(network, *core, refusals, options);
  ASSERT_TRUE(joined && apart);
  EXPECT_LT(double(joined->predicted.cycles),
            0.95 * double(apart->predicted.cycles));
  // How often the lanes go from one layer to another one.
  auto changes = [](const CompiledNetwork &compiled) {
    size_t count = 0, last = 0;
    for (const Listing::Line &line : compiled.listing.lines)
      if (line.opcode == Opcode::Vector)
        count += std::exchange(last, line.layer) != line.layer;
    return count;
  };
  EXPECT_GT(changes(*joined), 20u);
  EXPECT_LT(changes(*apart), 4u);
}
} // namespace
