// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Prices of kernels' units: what is built of small modules, by hand, and that a
// unit has one product where nests take turns.
#include "../HelmholtzKernel.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "rhizome/Conversion/Passes.h"
#include "rhizome/Dialect/Rtl/Rtl.h"
#include "rhizome/Generator/Actor.h"
#include "rhizome/Generator/Loops/KernelUnit.h"
#include "rhizome/Transforms/ApplyFormats.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace rhizome;
using namespace rhizome::gen;
using numeric::Format;

namespace {
class KernelCosts : public ::testing::Test {
protected:
  MLIRContext context;
  OwningOpRef<ModuleOp> formats, parent;

  KernelCosts() {
    test::loadKernelDialects(context);
    context.loadDialect<rtl::RtlDialect>();
  }

  /// The resources of a module with a clock, a reset and two numbers.
  Resources priceOf(const std::string &body) {
    auto module = parseSourceString<ModuleOp>(
        "rtl.module @m attributes {input_names = [\"clk\", \"rst\", \"on\", "
        "\"a\", \"b\"], output_names = [\"x\"]} {\n^bb0(%clk: i1, %rst: i1, "
        "%on: i1, %a: i8, %b: i8):\n" +
            body + "}\n",
        &context);
    EXPECT_TRUE(module) << body;
    return costOf(
        loops::structureOf(*module->getOps<rtl::ModuleOp>().begin(), {}), {});
  }

  FailureOr<loops::KernelUnit> helmholtz(const loops::UnitOptions &options) {
    return build(test::helmholtz(3), Format::fixed(8, 24), options);
  }
  FailureOr<loops::KernelUnit> build(const std::string &text, Format format,
                                     const loops::UnitOptions &options) {
    formats = parseSourceString<ModuleOp>(text, &context);
    auto kernel = *formats->getOps<func::FuncOp>().begin();
    FormatChoice choice;
    choice.format = format;
    EXPECT_TRUE(succeeded(applyFormats(kernel, choice)));
    PassManager pm(&context);
    pm.addPass(createConvertNumToArith({.callsQuotients = true}));
    EXPECT_TRUE(succeeded(pm.run(*formats)));
    OpBuilder b(&context);
    parent = ModuleOp::create(b.getUnknownLoc());
    b.setInsertionPointToEnd(parent->getBody());
    for (auto func : formats->getOps<func::FuncOp>())
      if (!func.isExternal())
        return loops::buildKernelUnit(func, "unit", {8 * 32}, {}, options, b);
    return failure();
  }
  static size_t productsOf(const loops::KernelUnit &unit) {
    size_t count = 0;
    rtl::ModuleOp(unit.module).walk([&](rtl::MulOp) { ++count; });
    return count;
  }
};

TEST_F(KernelCosts, RowsOfRegistersAreShiftersWhateverIsBetween) {
  const char *row = "%1 = rtl.register %a at %clk : i8\n"
                    "%j = rtl.concat %1, %a : (i8, i8) -> i16\n"
                    "%l = rtl.extract %j from 0 : (i16) -> i8\n"
                    "%2 = rtl.register %l at %clk : i8\n"
                    "%3 = rtl.register %2 at %clk : i8\n";
  Resources r = priceOf(std::string(row) + "rtl.output %3 : i8\n");
  EXPECT_EQ(r.ff(), 0);
  EXPECT_EQ(r.lutram(), 8);
  // Something reads the second: rows of two and one.
  r = priceOf(std::string(row) +
              "%x = rtl.add %2, %3 : i8\nrtl.output %x : i8\n");
  EXPECT_EQ(r.ff(), 24);
  EXPECT_EQ(r.lutram(), 0);
}

TEST_F(KernelCosts, WhatIsConstantUnreadOrThereTwiceHasNoRegister) {
  // Four low bits are read; the others of the word are constant.
  EXPECT_EQ(priceOf("%n = rtl.constant 4 : i8\n"
                    "%s = rtl.shift_left %a by %n : i8, i8\n"
                    "%q = rtl.register %s at %clk : i8\n"
                    "rtl.output %q : i8\n")
                .ff(),
            4);
  EXPECT_EQ(priceOf("%q = rtl.register %a at %clk : i8\n"
                    "%l = rtl.extract %q from 0 : (i8) -> i3\n"
                    "rtl.output %l : i3\n")
                .ff(),
            3);
  EXPECT_EQ(priceOf("%p = rtl.register %a at %clk : i8\n"
                    "%q = rtl.register %a at %clk : i8\n"
                    "%x = rtl.add %p, %q : i8\nrtl.output %x : i8\n")
                .ff(),
            8);
  // Another enable is another register.
  EXPECT_EQ(priceOf("%p = rtl.register %a at %clk : i8\n"
                    "%q = rtl.register %a at %clk enable %on : i8\n"
                    "%x = rtl.add %p, %q : i8\nrtl.output %x : i8\n")
                .ff(),
            16);
}

TEST_F(KernelCosts, AChoiceWithAConstantResetsItsRegister) {
  // So it begins no row, and takes no LUT.
  Resources r = priceOf("%z = rtl.constant 0 : i8\n"
                        "%s = rtl.mux %on, %z, %a : i8\n"
                        "%1 = rtl.register %s at %clk : i8\n"
                        "%2 = rtl.register %1 at %clk : i8\n"
                        "%3 = rtl.register %2 at %clk : i8\n"
                        "rtl.output %3 : i8\n");
  EXPECT_EQ(r.ff(), 24);
  EXPECT_EQ(r.lut(), 0);
}

TEST_F(KernelCosts, AConstantFactorHasItsOwnBits) {
  EXPECT_EQ(priceOf("%w = rtl.sign_extend %a : (i8) -> i23\n"
                    "%v = rtl.sign_extend %b : (i8) -> i23\n"
                    "%s = rtl.add %w, %v : i23\n"
                    "%c = rtl.constant 3 : i23\n"
                    "%p = rtl.mul %s, %c : i23\n"
                    "rtl.output %p : i23\n")
                .dsp(),
            1);
}

TEST_F(KernelCosts, SerialNestsHaveOneProductInTurns) {
  auto unit = helmholtz({});
  ASSERT_TRUE(succeeded(unit));
  // Six contractions and the product with D, of three pieces each.
  ASSERT_EQ(unit->groups.size(), 2u);
  EXPECT_EQ(unit->groups[0], (std::vector<size_t>{0, 1, 2, 4, 5, 6}));
  EXPECT_EQ(productsOf(*unit), 6u);
  EXPECT_EQ(costOf(loops::structureOf(unit->module, {}), {}).dsp(), 6);
}

TEST_F(KernelCosts, AWrappedFactorHasItsOwnBits) {
  // 18 by 18 bits, in one block; the difference wraps before.
  auto unit = build(
      "func.func @f(%a: tensor<5xf64>, %b: tensor<5xf64>) -> tensor<5xf64> {\n"
      "%e = tensor.empty() : tensor<5xf64>\n"
      "%r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, "
      "affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = "
      "[\"parallel\"]} ins(%a, %b : tensor<5xf64>, tensor<5xf64>) outs(%e : "
      "tensor<5xf64>) {\n^bb0(%x: f64, %y: f64, %o: f64):\n"
      "%d = arith.subf %x, %y : f64\n%p = arith.mulf %d, %y : f64\n"
      "linalg.yield %p : f64\n} -> tensor<5xf64>\n"
      "return %r : tensor<5xf64>\n}\n",
      Format::fixed(4, 14), {});
  ASSERT_TRUE(succeeded(unit));
  EXPECT_EQ(costOf(loops::structureOf(unit->module, {}), {}).dsp(), 1);
}

TEST_F(KernelCosts, StagesHaveProductsOfTheirOwn) {
  loops::UnitOptions options;
  options.stages = 7;
  auto unit = helmholtz(options);
  ASSERT_TRUE(succeeded(unit));
  EXPECT_EQ(unit->groups.size(), 7u);
  EXPECT_EQ(productsOf(*unit), 21u);
}

TEST_F(KernelCosts, ChosenNestsThatWaitForEachOtherTakeTurns) {
  // One copy of each; all wait for the one before.
  loops::UnitOptions options;
  options.choices.resize(7);
  auto unit = helmholtz(options);
  ASSERT_TRUE(succeeded(unit));
  EXPECT_EQ(unit->groups.size(), 2u);
}

TEST_F(KernelCosts, NothingIsBuiltThatIsNotWanted) {
  loops::UnitOptions options;
  int64_t cycles = 0;
  options.isWanted = [&](const loops::KernelUnit &unit) {
    cycles = unit.cycles();
    return false;
  };
  EXPECT_TRUE(failed(helmholtz(options)));
  EXPECT_GT(cycles, 6 * 81);
  EXPECT_TRUE(parent->getBody()->empty());
}
} // namespace
