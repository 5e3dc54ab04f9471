// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the engine's compiler refuses: the operation and the reason, of all that
// is wrong at once.
#include "../NetworkBuilder.h"
#include "rhizome/EngineCompiler/Compile.h"
#include <gtest/gtest.h>

using namespace rhizome;
using namespace rhizome::engine;
using rhizome::test::NetworkBuilder;

namespace {
class RefusalTest : public testing::Test {
protected:
  RefusalTest() {
    auto loaded = loadCore("core16x16");
    if (!loaded)
      ADD_FAILURE() << llvm::toString(loaded.takeError());
    else
      core = *loaded;
    b.begin({1, 6, 50, 8}, bytes());
  }
  num::IntType bytes(bool isSigned = true) {
    return num::IntType::getFull(b.b.getContext(), isSigned, 8);
  }
  void requantize(const char *name) {
    b.requantize(name, bytes(), false, true);
  }
  /// "node: reason" of each refusal.
  std::vector<std::string> refused() {
    std::vector<EngineRefusal> refusals;
    auto made = compileForCore(b.end(), core, refusals);
    EXPECT_FALSE(made.has_value());
    std::vector<std::string> texts;
    for (const EngineRefusal &refusal : refusals)
      texts.push_back(osa::nodeName(refusal.op) + ": " + refusal.reason);
    return texts;
  }

  mlir::MLIRContext context;
  NetworkBuilder b{context};
  Core core;
};
using Texts = std::vector<std::string>;

TEST_F(RefusalTest, SumsLargerThanAccumulators) {
  core.sum_bits = 20;
  NetworkBuilder::Conv conv;
  conv.kh = 3;
  conv.kw = 20;
  b.conv("wide", conv);
  requantize("q");
  const Texts texts = refused();
  ASSERT_EQ(texts.size(), 1u);
  EXPECT_EQ(texts[0],
            "wide: its sums need 23 bits, and the core's accumulators "
            "have 20");
}

TEST_F(RefusalTest, AllAtOnceAndNotWhatFollows) {
  NetworkBuilder::Conv large;
  large.kw = 40;
  b.conv("large", large);
  requantize("q");
  b.maxPool("pool");
  mlir::Value first = b.value;
  b.value = b.func.getArgument(0);
  b.gather("gather", 1, {0, 1, 0});
  b.maxPool("pool2");
  mlir::Value second = b.value;
  b.value = b.func.getArgument(0);
  b.transpose("transpose", {0, 2, 1, 3});
  (void)first, (void)second;
  EXPECT_EQ(refused(),
            (Texts{"large: its window of 1 × 40 is larger than 31 × 31",
                   "gather: the engine has no instruction for 'osa.gather'",
                   "transpose: the engine has no instruction for "
                   "'osa.transpose'"}));
}

TEST_F(RefusalTest, AdditionsOfTooManyBits) {
  mlir::Value before = b.value;
  b.maxPool("pool", {{1, 1}, {1, 1}, {0, 0, 0, 0}, {1, 1}});
  b.add("add", before, (1 << 25) + 1, 3);
  b.requantize("q", bytes(), true, false);
  EXPECT_EQ(refused(),
            (Texts{"q: no multipliers of 24 bits and offset of 47 do "
                   "what it does"}));
}

TEST_F(RefusalTest, SumsThatNoRequantizerFollows) {
  b.conv("conv", {});
  const Texts texts = refused();
  EXPECT_EQ(texts,
            (Texts{"conv: its sums go elsewhere than to one requantizer"}));
}

TEST_F(RefusalTest, BordersThatNoLoadMakes) {
  NetworkBuilder::Conv conv;
  conv.kw = 20;
  conv.pads[1] = 17;
  b.conv("conv", conv);
  requantize("q");
  EXPECT_EQ(refused(), (Texts{"conv: its border of 17 is wider than 15"}));
}

TEST_F(RefusalTest, OneTableForEachChannel) {
  b.table("table", bytes(), true);
  EXPECT_EQ(refused(),
            (Texts{"table: the engine has one table for all channels"}));
}

TEST_F(RefusalTest, NoTileFits) {
  core.words = 256;
  core.banks = 1;
  NetworkBuilder::Conv conv;
  conv.kh = 6;
  conv.kw = 31;
  conv.out = 40;
  b.conv("conv", conv);
  requantize("q");
  b.conv("second", conv);
  EXPECT_FALSE(refused().empty());
}
} // namespace
