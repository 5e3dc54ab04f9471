// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the engine's compiler refuses: the operation and the reason, of all that
// is wrong at once.
#include "../NetworkBuilder.h"
#include "rhizome/Dialect/Osa/Matmul.h"
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
  b.gather("gather", 3, {0, 2});
  b.maxPool("pool2");
  mlir::Value second = b.value;
  b.value = b.func.getArgument(0);
  b.transpose("transpose", {0, 3, 1, 2});
  mlir::Value third = b.value;
  b.value = b.func.getArgument(0);
  b.pair("product", b.value, true, 0, 0, 0);
  (void)first, (void)second, (void)third;
  EXPECT_EQ(refused(),
            (Texts{"large: its window of 1 × 40 is larger than 31 × 31",
                   "gather: its channels would move within words of 16",
                   "transpose: its channels would become pixels",
                   "product: the engine has no instruction for "
                   "'osa.product'"}));
}

/// What moves elements, where words would not stay whole.
TEST_F(RefusalTest, MovesWithinWords) {
  const mlir::Value input = b.value;
  b.concat("concat", input, 3);
  b.value = input;
  b.value = osa::ReshapeOp::create(
      b.b, b.loc("reshape"), b.tensor({1, 6, 25, 16}, b.element()), input);
  b.value = input;
  b.value = osa::PadOp::create(
      b.b, b.loc("pad"), b.tensor({1, 6, 50, 9}, b.element()), input,
      llvm::ArrayRef<int64_t>{0, 0, 0, 0}, llvm::ArrayRef<int64_t>{0, 0, 0, 1},
      llvm::APFloat(0.0));
  b.value = input;
  std::vector<int64_t> all;
  for (int64_t i = 0; i < 200; ++i)
    all.push_back(i * i * i % 50);
  b.gather("gather", 2, all);
  EXPECT_EQ(refused(),
            (Texts{"concat: a part of 8 channels is no whole number of words "
                   "of 16",
                   "pad: it adds channels",
                   "gather: it takes 116 copies, more than 64"}));
}

TEST_F(RefusalTest, ProductsOfPartsOfWords) {
  b.value = osa::ReshapeOp::create(
      b.b, b.loc("reshape"), b.tensor({1, 1, 300, 8}, b.element()), b.value);
  const mlir::Value rows = b.value;
  const mlir::Value turns = osa::ReshapeOp::create(
      b.b, b.loc("reshape"), b.tensor({8, 150, 2}, b.element()), rows);
  auto sums = num::IntType::getFull(b.b.getContext(), true, 20);
  b.value = osa::MatmulOp::create(
      b.b, b.loc("product"), b.tensor({150, 2, 1, 150}, sums),
      osa::ReshapeOp::create(b.b, b.loc("reshape2"),
                             b.tensor({150, 2, 1, 8}, b.element()), rows),
      turns, llvm::ArrayRef<int64_t>{2, 0, 1}, 0, 0);
  b.requantize("q", bytes(), false, false);
  EXPECT_EQ(refused(),
            (Texts{"reshape: its elements would move to other words"}));
}

TEST_F(RefusalTest, AdditionsThatAreNone) {
  mlir::Value before = b.value;
  b.maxPool("pool", {{1, 1}, {1, 1}, {0, 0, 0, 0}, {1, 1}});
  b.add("add", before, 100, 1);
  // Further apart from step to step.
  auto type = num::IntType::getFull(b.b.getContext(), true, 64);
  b.value = osa::ThresholdOp::create(
      b.b, b.loc("q"), b.tensor(b.shape(), bytes()), b.value,
      osa::makeIntAttr(b.b.getContext(), "t", {1, 6}, type,
                       {0, 10, 100, 1000, 3000, 9000}),
      0, 1);
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
