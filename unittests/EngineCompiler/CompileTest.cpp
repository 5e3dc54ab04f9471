// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Random layers and chains of them on random cores: programs pass the verifier
// and give the interpreter's bytes on the checked face, in program order and in
// others, and on the native one.
#include "../NetworkBuilder.h"
#include "NetworkRun.h"
#include <cstdlib>
#include <gtest/gtest.h>

using namespace rhizome;
using namespace rhizome::engine;
using namespace rhizome::engine::test;
using rhizome::test::NetworkBuilder;

namespace {
Core coreOf(int64_t in, int64_t out, int64_t words, int64_t entries,
            int64_t ports) {
  Core core;
  core.name = "random";
  core.in = in;
  core.out = out;
  core.words = words;
  core.banks = 4;
  core.entries = entries;
  core.sum_bits = 27;
  core.queue = 4;
  core.depth = 8;
  core.tokens = 3;
  core.ports = ports;
  core.port_bits = 8 * in;
  return core;
}

class CompileTest : public testing::Test {
protected:
  mlir::MLIRContext context;

  /// Compiles and runs a function on all faces; returns what is refused.
  std::vector<EngineRefusal> check(mlir::func::FuncOp network, const Core &core,
                                   uint64_t seed,
                                   const CompileOptions &options = {}) {
    std::vector<EngineRefusal> refusals;
    auto compiled = compileForCore(network, core, refusals, options);
    if (!compiled)
      return refusals;
    EXPECT_TRUE(refusals.empty());
    for (const Problem &problem :
         verify(compiled->program, core, compiled->surroundings()))
      ADD_FAILURE() << problem.text << "\n"
                    << (problem.instruction > 0
                            ? print(compiled->program
                                        .instructions[problem.instruction - 1])
                            : "");
    if (HasFailure())
      return refusals;
    std::mt19937_64 random(seed);
    const auto inputs = randomFrame(network, random);
    auto expected = interpret(network, inputs);
    if (failed(expected)) {
      ADD_FAILURE() << "the interpreter fails";
      return refusals;
    }
    const State before = stateOf(*compiled, core, inputs);
    State state = before;
    if (llvm::Error error = runChecked(compiled->program, core, state))
      ADD_FAILURE() << llvm::toString(std::move(error));
    EXPECT_EQ(difference(*compiled, core, state, *expected), "");
    State native = before;
    runNative(compiled->program, core, native);
    EXPECT_TRUE(native == state) << "the native face differs";
    State reordered = before;
    if (llvm::Error error =
            runChecked(compiled->program, core, reordered, seed))
      ADD_FAILURE() << llvm::toString(std::move(error));
    EXPECT_TRUE(reordered == state) << "another order differs";
    return refusals;
  }

  std::string reasonsOf(llvm::ArrayRef<EngineRefusal> refusals) {
    std::string text;
    for (const EngineRefusal &refusal : refusals)
      text += refusal.reason + "\n";
    return text;
  }
};

NetworkBuilder::Conv randomConv(NetworkBuilder &b, bool isDepthwise) {
  NetworkBuilder::Conv conv;
  const auto shape = b.shape();
  conv.kh = b.draw(1, std::min<int64_t>(4, shape[1]));
  conv.kw = b.draw(1, std::min<int64_t>(4, shape[2]));
  conv.out = b.draw(1, 40);
  if (isDepthwise)
    conv.groups = conv.out = shape[3];
  else if (shape[3] % 2 == 0 && b.draw(0, 5) == 0) {
    conv.groups = 2;
    conv.out = 2 * b.draw(1, 9);
  }
  for (int64_t &stride : conv.strides)
    stride = b.draw(1, 3);
  for (int64_t axis : {0, 1}) {
    const int64_t kernel = axis ? conv.kw : conv.kh;
    if (kernel > 1 && (kernel - 1) * 2 < shape[1 + axis])
      conv.dilations[axis] = b.draw(1, 2);
    for (int64_t side : {0, 2})
      conv.pads[side + axis] = b.draw(0, kernel - 1);
  }
  conv.bias = b.coin();
  conv.weightBits = b.draw(0, 3) == 0 ? 4 : 8;
  return conv;
}

num::IntType randomBytes(NetworkBuilder &b) {
  return num::IntType::getFull(b.b.getContext(), b.coin(),
                               unsigned(b.draw(4, 8)));
}

/// A requantizer that uses the range of its sums.
void requantize(NetworkBuilder &b, const std::string &name) {
  b.requantize(name, randomBytes(b), /*unit=*/false, /*perChannel=*/b.coin());
}

std::vector<Core> cores() {
  return {coreOf(4, 4, 1024, 32, 1), coreOf(4, 8, 2048, 64, 2),
          coreOf(8, 8, 4096, 128, 1), coreOf(8, 16, 2048, 100, 2),
          coreOf(16, 16, 4096, 512, 1)};
}

uint64_t runs() {
  const char *text = std::getenv("RHIZOME_ENGINE_NETWORKS");
  return text ? std::strtoull(text, nullptr, 10) : 40;
}

TEST_F(CompileTest, ConvolutionsAreTheInterpreters) {
  size_t done = 0;
  for (uint64_t seed = 0; seed < runs(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    NetworkBuilder b(context, seed);
    b.begin({1, b.draw(1, 20), b.draw(1, 20), b.draw(1, 40)}, randomBytes(b));
    b.conv("conv", randomConv(b, b.draw(0, 4) == 0));
    requantize(b, "requantize");
    CompileOptions options;
    options.movesLoads = b.coin();
    options.streams = cores()[seed % 5].ports == 1 && b.coin();
    auto refusals = check(b.end(), cores()[seed % 5], seed, options);
    done += refusals.empty();
    for (const EngineRefusal &refusal : refusals)
      EXPECT_NE(refusal.reason.find("no tile"), std::string::npos)
          << refusal.reason;
    if (HasFailure())
      return;
  }
  EXPECT_GT(done, runs() / 2);
}

TEST_F(CompileTest, ChainsAreTheInterpreters) {
  size_t done = 0;
  for (uint64_t seed = 0; seed < runs(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    NetworkBuilder b(context, 1000 + seed);
    b.begin({1, b.draw(4, 16), b.draw(4, 16), b.draw(1, 24)}, randomBytes(b));
    for (int64_t layer = 0, layers = b.draw(2, 6); layer < layers; ++layer) {
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
    CompileOptions options;
    options.keepsInside = b.coin();
    options.streams = cores()[seed % 5].ports == 1 && b.coin();
    auto refusals = check(b.end(), cores()[seed % 5], seed, options);
    done += refusals.empty();
    if (HasFailure())
      return b.func.dump();
    for (const EngineRefusal &refusal : refusals)
      EXPECT_TRUE(llvm::StringRef(refusal.reason).contains("no tile") ||
                  llvm::StringRef(refusal.reason).contains("ties") ||
                  llvm::StringRef(refusal.reason).contains("24 bits"))
          << refusal.reason;
  }
  EXPECT_GT(done, runs() / 3);
}
/// Thresholds of a quantizer, of other ones and of signs.
TEST_F(CompileTest, ThresholdsAreTheInterpreters) {
  size_t done = 0;
  for (uint64_t seed = 0; seed < runs(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    NetworkBuilder b(context, 5000 + seed);
    b.begin({1, 3, 4, b.draw(1, 20)}, randomBytes(b));
    NetworkBuilder::Conv conv;
    conv.out = b.draw(1, 20);
    conv.bias = b.coin();
    b.conv("conv", conv);
    const int64_t count = b.draw(1, 15), channels = b.coin() ? conv.out : 1;
    std::vector<int64_t> values;
    for (int64_t c = 0; c < channels; ++c) {
      const int64_t first = b.draw(-3000, 1000), apart = b.draw(1, 300);
      for (int64_t k = 0; k < count; ++k)
        values.push_back(first + k * apart + (seed % 3 == 0 ? k % 2 : 0));
    }
    const int64_t base = b.draw(-4, 4), step = count == 1 ? b.draw(1, 3)
                                               : b.coin() ? 1
                                                          : -1;
    auto out =
        num::IntType::getForRange(&context, std::min(base, base + step * count),
                                  std::max(base, base + step * count));
    auto type = num::IntType::getFull(&context, true, 64);
    b.value = osa::ThresholdOp::create(
        b.b, b.loc("threshold"), b.tensor(b.shape(), out), b.value,
        osa::makeIntAttr(&context, "t", {channels, count}, type, values), base,
        step);
    auto refusals = check(b.end(), cores()[seed % 5], seed);
    done += refusals.empty();
    for (const EngineRefusal &refusal : refusals)
      EXPECT_NE(refusal.reason.find("meet its thresholds"), std::string::npos);
    if (HasFailure())
      return b.func.dump();
  }
  EXPECT_GT(done, runs() / 2);
}
} // namespace
