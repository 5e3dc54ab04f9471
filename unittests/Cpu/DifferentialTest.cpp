// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Interpreter against CPU path on seeded random integer functions: every value
// of every frame must be equal. A failure prints its seed and function.
// RHIZOME_RANDOM_FUNCTIONS sets how many a batch compares (default 20).
#include "RandomFunction.h"
#include "mlir/IR/Verifier.h"
#include "rhizome/Cpu/Function.h"
#include "rhizome/Interp/Interpreter.h"
#include <gtest/gtest.h>

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
/// Rows of a tile overlap: where one reads a part of a vector, another one reads
/// it whole (vectors of 256 bits).
TEST(DifferentialSeeds, OverlappingRowsOfAReduction) {
  std::map<std::string, int> operations;
  compare(102, 1, operations);
}

INSTANTIATE_TEST_SUITE_P(Seeds, Differential, ::testing::Range(0u, 8u));
} // namespace
