// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What tests of random networks share: cores, draws, and a network's program on
// the faces against the interpreter.
#pragma once

#include "../NetworkBuilder.h"
#include "NetworkRun.h"
#include <cstdlib>
#include <gtest/gtest.h>

namespace rhizome::engine::test {
using rhizome::test::NetworkBuilder;

inline Core coreOf(int64_t in, int64_t out, int64_t words, int64_t entries,
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
    int64_t cycles = 0;
    for (const LayerUse &use : compiled->listing.account(
             compiled->predicted.spans, compiled->predicted.cycles))
      cycles += use.cycles;
    EXPECT_EQ(cycles, compiled->predicted.cycles) << "of all layers";
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

  /// Draws a network for each seed, and all options of the compiler: `draw`
  /// makes the network of a builder whose seed is `first` more. Each is right,
  /// or all its refusals have one of the reasons; more than one of `most` is
  /// right.
  template <typename Draw>
  void checkNetworks(uint64_t first, uint64_t most,
                     std::initializer_list<const char *> reasons, Draw draw);
};

inline NetworkBuilder::Conv randomConv(NetworkBuilder &b, bool isDepthwise) {
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

inline num::IntType randomBytes(NetworkBuilder &b) {
  return num::IntType::getFull(b.b.getContext(), b.coin(),
                               unsigned(b.draw(4, 8)));
}

/// A requantizer that uses the range of its sums.
inline void requantize(NetworkBuilder &b, const std::string &name) {
  b.requantize(name, randomBytes(b), /*unit=*/false, /*perChannel=*/b.coin());
}

inline std::vector<Core> cores() {
  return {coreOf(4, 4, 1024, 32, 1), coreOf(4, 8, 2048, 64, 2),
          coreOf(8, 8, 4096, 128, 1), coreOf(8, 16, 2048, 100, 2),
          coreOf(16, 16, 4096, 512, 1)};
}

inline uint64_t runs() {
  const char *text = std::getenv("RHIZOME_ENGINE_NETWORKS");
  return text ? std::strtoull(text, nullptr, 10) : 40;
}

template <typename Draw>
void CompileTest::checkNetworks(uint64_t first, uint64_t most,
                                std::initializer_list<const char *> reasons,
                                Draw draw) {
  size_t done = 0;
  for (uint64_t seed = 0; seed < runs(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Core core = cores()[seed % 5];
    NetworkBuilder b(context, first + seed);
    draw(b, core);
    CompileOptions options;
    options.keepsInside = b.coin();
    options.movesLoads = b.coin();
    options.joins = b.coin();
    options.streams = core.ports == 1 && b.coin();
    options.memory = {b.draw(1, 60), b.draw(1, 60), double(b.draw(1, 3)),
                      b.draw(0, 9), b.coin()};
    const auto refusals = check(b.end(), core, seed, options);
    done += refusals.empty();
    for (const EngineRefusal &refusal : refusals)
      EXPECT_TRUE(llvm::any_of(reasons, [&](const char *reason) {
        return llvm::StringRef(refusal.reason).contains(reason);
      })) << refusal.reason;
    if (HasFailure())
      return b.func.dump();
  }
  EXPECT_GT(done, runs() / most);
}
} // namespace rhizome::engine::test
