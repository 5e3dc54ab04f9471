// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Interpreter against CPU path on seeded random integer functions: every value
// of every frame must be equal. A failure prints its seed and function.
// RHIZOME_RANDOM_FUNCTIONS sets how many a batch compares (default 20).
#include "RandomFunction.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "rhizome/Cpu/Function.h"
#include "rhizome/Interp/Interpreter.h"
#include <gtest/gtest.h>
#include <random>

using namespace mlir;
using namespace rhizome;
using namespace rhizome::test;

namespace {
class Differential : public ::testing::TestWithParam<unsigned> {};

/// Compares the two on three frames; counts the tested operations.
void compare(unsigned seed, unsigned length,
             std::map<std::string, int> &operations) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  context.loadDialect<func::FuncDialect, num::NumDialect, osa::OsaDialect>();
  RandomFunction random(context, seed, length);
  ASSERT_TRUE(succeeded(verify(random.module()))) << "seed " << seed;
  random.func().walk(
      [&](Operation *op) { ++operations[op->getName().getStringRef().str()]; });
  auto dump = [&] {
    std::string text;
    llvm::raw_string_ostream os(text);
    random.func().print(os, OpPrintingFlags().elideLargeElementsAttrs(64));
    return "seed " + std::to_string(seed) + "\n" + text;
  };
  auto compiled = CompiledFunction::compile(random.func());
  ASSERT_TRUE(succeeded(compiled)) << dump();
  Interpreter interpreter(random.func());
  for (int i = 0; i < 3; ++i) {
    std::vector<Tensor> frame = random.frame();
    auto expected = interpreter.run(frame);
    ASSERT_TRUE(succeeded(expected)) << dump();
    auto got = (*compiled)->run(frame);
    ASSERT_TRUE(bool(got)) << dump() << llvm::toString(got.takeError());
    ASSERT_EQ((*expected)[0].shape, (*got)[0].shape) << dump();
    ASSERT_EQ((*expected)[0].ints, (*got)[0].ints) << dump();
  }
}

TEST_P(Differential, InterpreterEqualsCpu) {
  std::map<std::string, int> operations;
  const char *text = std::getenv("RHIZOME_RANDOM_FUNCTIONS");
  unsigned perBatch = text ? std::atoi(text) : 20;
  for (unsigned i = 0; i < perBatch && !HasFatalFailure(); ++i) {
    unsigned seed = GetParam() * perBatch + i;
    // Single operations first, then chains of two to five.
    compare(seed, GetParam() < 3 ? 1 : 2 + seed % 4, operations);
  }
  if (GetParam() >= 3) {
    // A batch of chains covers every operation except the rarest.
    EXPECT_GE(operations.size(), 12u);
  }
}
/// Three columns of a window are the lanes, and rows of a tile overlap: where
/// one reads a part of a vector, another one reads it whole. For each width of
/// vectors there is such a number of channels.
TEST(DifferentialCases, OverlappingRowsOfAReduction) {
  for (int64_t channels : {4, 8, 16}) {
    SCOPED_TRACE(std::to_string(channels) + " channels");
    std::mt19937 random{unsigned(channels)};
    std::string weights;
    for (int64_t i = 0; i < 6 * channels; ++i)
      weights += llvm::utohexstr(random() % 8, /*LowerCase=*/true, 2);
    const std::string c = "x" + std::to_string(channels),
                      x = "tensor<1x2x6" + c + "x!num.int<u8>>",
                      w = "tensor<1x2x3" + c + "x!num.int<s4>>",
                      y = "tensor<1x1x4x1x!num.int<s20>>";
    MLIRContext context(MLIRContext::Threading::DISABLED);
    context.loadDialect<func::FuncDialect, num::NumDialect, osa::OsaDialect>();
    auto module = parseSourceString<ModuleOp>(
        "func.func @network(%x: " + x + ") -> " + y + " {\n" +
            "%w = osa.constant {value = dense<\"0x" + weights +
            "\"> : tensor<1x2x3" + c + "xi8>} : () -> " + w + "\n" +
            "%y = osa.conv2d %x, %w {strides = array<i64: 1, 1>, pads = "
            "array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (" +
            x + ", " + w + ") -> " + y + "\nreturn %y : " + y + "\n}\n",
        &context);
    ASSERT_TRUE(module);
    func::FuncOp func = *module->getOps<func::FuncOp>().begin();
    std::vector<int64_t> values(size_t(12 * channels));
    for (int64_t &v : values)
      v = int64_t(random() % 256);
    const std::vector<Tensor> frame = {
        Tensor::ofInts({1, 2, 6, channels}, std::move(values))};
    auto compiled = CompiledFunction::compile(func);
    ASSERT_TRUE(succeeded(compiled));
    auto expected = Interpreter(func).run(frame);
    ASSERT_TRUE(succeeded(expected));
    auto got = (*compiled)->run(frame);
    ASSERT_TRUE(bool(got)) << llvm::toString(got.takeError());
    EXPECT_EQ((*expected)[0].ints, (*got)[0].ints);
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, Differential, ::testing::Range(0u, 8u));
} // namespace
