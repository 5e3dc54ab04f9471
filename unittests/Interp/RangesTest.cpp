// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Range analysis: its warnings, its proofs, and that no occurring value
// is outside the computed range.
#include "rhizome/Interp/Ranges.h"
#include "../HelmholtzKernel.h"
#include "mlir/Parser/Parser.h"
#include "rhizome/Interp/Numbers.h"
#include "rhizome/Transforms/ApplyFormats.h"
#include <gtest/gtest.h>

using namespace mlir;
using namespace rhizome;
using numeric::Format;

namespace {
class Ranges : public ::testing::Test {
protected:
  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  Ranges() { test::loadKernelDialects(context); }

  func::FuncOp kernel(const std::string &text, const char *format,
                      bool saturate = false) {
    module = parseSourceString<ModuleOp>(text, &context);
    EXPECT_TRUE(module);
    FormatChoice choice;
    std::string error;
    choice.format = Format::parse(format, error);
    choice.saturate = saturate;
    auto func = *module->getOps<func::FuncOp>().begin();
    EXPECT_TRUE(succeeded(applyFormats(func, choice)));
    return func;
  }
  /// A kernel of one elementwise body on tensors of 4.
  static std::string elementwise(const std::string &body) {
    return "func.func @k(%a: tensor<4xf64>, %b: tensor<4xf64>) -> "
           "tensor<4xf64> "
           "{\n%e = tensor.empty() : tensor<4xf64>\n%r = linalg.generic "
           "{indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, "
           "affine_map<(i) -> (i)>], iterator_types = [\"parallel\"]} ins(%a, "
           "%b : tensor<4xf64>, tensor<4xf64>) outs(%e : tensor<4xf64>) "
           "{\n^bb0(%x: f64, %y: f64, %o: f64):\n" +
           body +
           "\nlinalg.yield %z : f64\n} -> tensor<4xf64>\nreturn %r : "
           "tensor<4xf64>\n}\n";
  }
  RangeReport analyze(func::FuncOp func, RangeOptions options = {}) {
    auto report = analyzeRanges(func, options);
    EXPECT_TRUE(succeeded(report));
    return succeeded(report) ? *report : RangeReport();
  }
};
} // namespace

TEST_F(Ranges, HelmholtzOverflowsInNarrowFixedPoint) {
  auto func = kernel(test::helmholtz(11), "fixed<8,24>");
  RangeReport report = analyze(func);
  ASSERT_FALSE(report.warnings.empty());
  const OverflowWarning &first = report.warnings.front();
  EXPECT_TRUE(first.isCertain);
  EXPECT_GT(std::abs(first.reached), 128);
  // Run it once more, here.
  std::vector<Tensor> inputs;
  for (auto [type, values] : llvm::zip(func.getArgumentTypes(), first.input)) {
    for (double v : values)
      EXPECT_LE(std::abs(v), 1);
    inputs.push_back(numbersOf(cast<ShapedType>(type).getShape().vec(), values,
                               Format::binary64()));
  }
  OverflowEvent event;
  ASSERT_TRUE(succeeded(interpret(func, inputs, nullptr, &event)));
  EXPECT_GT(event.count, 0u);
  // Its location is the third contraction's, a sum of 11^3 products of at
  // most 1.
  auto place = dyn_cast<FileLineColLoc>(first.place);
  ASSERT_TRUE(place);
  EXPECT_GT(place.getLine(), 1u);
}

TEST_F(Ranges, HelmholtzFitsWideFixedPoint) {
  EXPECT_TRUE(
      analyze(kernel(test::helmholtz(7), "fixed<24,40>")).warnings.empty());
}

TEST_F(Ranges, AffineFormsCancel) {
  // (x + y) − x stays within y's range: intervals alone give 3.
  auto func = kernel(elementwise("%s = arith.addf %x, %y : f64\n"
                                 "%z = arith.subf %s, %x : f64"),
                     "fixed<3,8>");
  EXPECT_TRUE(analyze(func).warnings.empty());
  RangeOptions options;
  options.inputs = {{-1.9, 1.9}, {-1.9, 1.9}};
  EXPECT_TRUE(analyze(func, options).warnings.empty());
  options.inputs = {{-2.1, 2.1}, {-2.1, 2.1}};
  RangeReport report = analyze(func, options);
  ASSERT_EQ(report.warnings.size(), 1u); // the sum; not the difference
  EXPECT_TRUE(report.warnings[0].isCertain);
  EXPECT_NEAR(report.warnings[0].range.hi, 4.2, 0.05);
}

TEST_F(Ranges, SaysWhatItCannotShow) {
  // |x| · (1 − |x|) never leaves 1/4, which neither arithmetic can know.
  auto func = kernel(elementwise("%one = arith.constant 1.0 : f64\n"
                                 "%m = math.absf %x : f64\n"
                                 "%d = arith.subf %one, %m : f64\n"
                                 "%p = arith.mulf %m, %d : f64\n"
                                 "%four = arith.constant 3.9 : f64\n"
                                 "%z = arith.mulf %p, %four : f64"),
                     "fixed<3,12>");
  RangeOptions options;
  options.inputs = {{-1, 1}, {0, 0}};
  EXPECT_TRUE(analyze(func, options).warnings.empty());
  func = kernel(elementwise("%one = arith.constant 1.0 : f64\n"
                            "%m = math.absf %x : f64\n"
                            "%d = arith.subf %one, %m : f64\n"
                            "%p = arith.mulf %m, %d : f64\n"
                            "%c = arith.constant 1.9 : f64\n"
                            "%q = arith.mulf %p, %c : f64\n"
                            "%z = arith.mulf %q, %c : f64"),
                "fixed<2,12>");
  RangeReport report = analyze(func, options);
  ASSERT_EQ(report.warnings.size(), 1u);
  EXPECT_FALSE(report.warnings[0].isCertain);
  EXPECT_LT(report.warnings[0].reached, 1);
}

TEST_F(Ranges, DivisionByARangeWithZeroIsFound) {
  auto func = kernel(elementwise("%z = arith.divf %x, %y : f64"), "half");
  RangeReport report = analyze(func);
  ASSERT_EQ(report.warnings.size(), 1u);
  EXPECT_EQ(report.warnings[0].format.str(), "half");
}
