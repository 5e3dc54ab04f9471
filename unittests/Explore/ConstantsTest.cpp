// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The bits of an operation's constants, which are those that it needs and not
// those in which the IR stores them.
#include "../../lib/Explore/Constants.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "rhizome/Dialect/Osa/Osa.h"
#include <gtest/gtest.h>

using namespace mlir;
using namespace rhizome;
using namespace rhizome::explore;

namespace {
class Constants : public testing::Test {
protected:
  Constants() { context.loadDialect<func::FuncDialect, osa::OsaDialect>(); }

  /// The last operation before the end of @f.
  Operation *last(StringRef body) {
    module = parseSourceString<ModuleOp>(body, &context);
    if (!module)
      return nullptr;
    auto f = *module->getOps<func::FuncOp>().begin();
    return f.getBody().front().getTerminator()->getPrevNode();
  }
  MLIRContext context;
  OwningOpRef<ModuleOp> module;
};

TEST_F(Constants, OfTablesAreTheLongestEntrys) {
  Operation *table = last(R"(
    func.func @f(%x: tensor<1x3x!num.int<u2>>) {
      %t = osa.table %x {values = dense<[[0, 1, 4, 9]]> : tensor<1x4xi64>}
          : (tensor<1x3x!num.int<u2>>) -> tensor<1x3x!num.int<u4, 0:9>>
      return
    })");
  ASSERT_TRUE(table);
  EXPECT_EQ(constantBitsOf(table), 4 * 4);
  EXPECT_EQ(weightsOf(table), nullptr);
  EXPECT_EQ(usedWeightBitsOf(table), 0);
  Operation *thresholds = last(R"(
    func.func @f(%x: tensor<1x3x!num.int<s12>>) {
      %t = osa.threshold %x {thresholds = dense<[[-8, 0, 7]]> : tensor<1x3xi64>, base = -2 : i64}
          : (tensor<1x3x!num.int<s12>>) -> tensor<1x3x!num.int<s2>>
      return
    })");
  ASSERT_TRUE(thresholds);
  EXPECT_EQ(constantBitsOf(thresholds), 3 * 4);
}

TEST_F(Constants, OfProductsAreWeightsAndBiases) {
  Operation *dense = last(R"(
    func.func @f(%x: tensor<1x2x!num.int<u8>>) {
      %w = osa.constant {value = dense<[[3, 0], [-4, 0], [0, 1]]> : tensor<3x2xi8>} : () -> tensor<3x2x!num.int<s3>>
      %b = osa.constant {value = dense<[1, 2, 3]> : tensor<3xi16>} : () -> tensor<3x!num.int<s9>>
      %y = osa.dense %x, %w, %b : (tensor<1x2x!num.int<u8>>, tensor<3x2x!num.int<s3>>, tensor<3x!num.int<s9>>) -> tensor<1x3x!num.int<s12>>
      return
    })");
  ASSERT_TRUE(dense);
  EXPECT_TRUE(multiplies(dense));
  ASSERT_TRUE(weightsOf(dense));
  EXPECT_EQ(weightsOf(dense)->getOperandNumber(), 1u);
  EXPECT_EQ(constantBitsOf(dense), 6 * 3 + 3 * 9);
  EXPECT_EQ(usedWeightBitsOf(dense), 3 * 3);
}
} // namespace
