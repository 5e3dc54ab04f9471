// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Fixed-point operations as `rtl` logic give the patterns of the evaluator's
// arithmetic: all pairs of operands of small formats, random ones of large.
#include "rhizome/Rtl/ScalarsToRtl.h"
#include "../HelmholtzKernel.h"
#include "../RtlValues.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "rhizome/Conversion/Passes.h"
#include "rhizome/Dialect/Rtl/Rtl.h"
#include "rhizome/Numeric/Arithmetic.h"
#include <random>

using namespace mlir;
using namespace rhizome;
using llvm::APInt;
using numeric::Bits;
using numeric::Format;
using numeric::Overflow;
using numeric::Rounding;

namespace {
class ScalarsToRtl : public ::testing::Test {
protected:
  MLIRContext context;
  std::mt19937_64 rng{3};
  std::string problem; ///< the diagnostics
  ScopedDiagnosticHandler handler{&context, [this](Diagnostic &diagnostic) {
                                    problem += diagnostic.str();
                                    return success();
                                  }};

  ScalarsToRtl() {
    test::loadKernelDialects(context);
    context.loadDialect<rtl::RtlDialect>();
  }

  /// The logic of a function, as a module; null if it is refused.
  OwningOpRef<ModuleOp> logicOf(const std::string &text) {
    auto module = parseSourceString<ModuleOp>(text, &context);
    if (!module)
      return module;
    PassManager pm(&context);
    pm.addPass(createConvertNumToArith());
    if (failed(pm.run(*module)))
      return {};
    auto func = *module->getOps<func::FuncOp>().begin();
    OpBuilder b(&context);
    Location loc = b.getUnknownLoc();
    OwningOpRef<ModuleOp> parent = ModuleOp::create(loc);
    b.setInsertionPointToEnd(parent->getBody());
    SmallVector<StringRef> names = {"a_i", "b_i", "c_i"};
    names.resize(func.getNumArguments());
    auto made =
        rtl::ModuleOp::create(b, loc, "logic_of", b.getStrArrayAttr(names),
                              b.getStrArrayAttr({"x_o"}), StringAttr());
    Block *body = b.createBlock(&made.getBody());
    for (Type type : func.getArgumentTypes())
      body->addArgument(type, loc);
    Block &from = func.getBody().front();
    IRMapping signals;
    signals.map(from.getArguments(), body->getArguments());
    for (Operation &op : from.without_terminator()) {
      auto operands = llvm::map_to_vector(
          op.getOperands(), [&](Value v) { return signals.lookup(v); });
      auto logic = scalarToRtl(op, operands, b);
      if (failed(logic))
        return {};
      signals.map(op.getResult(0), *logic);
    }
    Value result = signals.lookup(from.getTerminator()->getOperand(0));
    rtl::OutputOp::create(b, loc, result);
    return parent;
  }

  Bits random(const Format &f) {
    Bits pattern = (Bits(rng()) << 64 | rng()) & f.mask();
    switch (rng() % 6) { // extremes are rare otherwise
    case 0:
      return f.greatest();
    case 1:
      return f.least();
    case 2:
      return pattern >> (f.width() / 2);
    default:
      return pattern;
    }
  }

  /// A pattern as it is stored: extended to the width of the signal.
  static APInt stored(const Format &f, Bits pattern, Type type) {
    APInt value(unsigned(f.width()),
                {uint64_t(pattern), uint64_t(pattern >> 64)});
    unsigned width = type.getIntOrFloatBitWidth();
    return f.isSigned ? value.sext(width) : value.zext(width);
  }

  /// `count` random pairs of operands; 0: all.
  void check(const Format &f, Rounding rounding, Overflow overflow,
             const std::string &op, int count) {
    const bool isUnary = op == "neg" || op == "abs", isFma = op == "fma";
    const int operands = isFma ? 3 : isUnary ? 1 : 2;
    const char *names[] = {"%a", "%b", "%c"};
    std::string type = "!num." + f.str(), parameters, used;
    for (int i = 0; i < operands; ++i) {
      parameters += (i ? ", " : "") + std::string(names[i]) + ": " + type;
      used += (i ? ", " : "") + std::string(names[i]);
    }
    std::string text = "func.func @f(" + parameters + ") -> " + type +
                       " {\n%x = num." + op + " " + used + " rounding(" +
                       numeric::name(rounding) + ") overflow(" +
                       numeric::name(overflow) + ") : " + type +
                       "\nreturn %x : " + type + "\n}";
    auto parent = logicOf(text);
    ASSERT_TRUE(parent) << text << problem;
    ASSERT_TRUE(succeeded(verify(*parent))) << text << problem;
    auto made = *parent->getOps<rtl::ModuleOp>().begin();
    Block &body = made.getBody().front();
    Value result = body.getTerminator()->getOperand(0);
    numeric::Arithmetic arithmetic(f, rounding, overflow);
    const int all = 1 << (2 * std::min(f.width(), 8));
    for (int n = 0; n < (count ? count : all); ++n) {
      Bits v[3];
      for (Bits &one : v)
        one = random(f);
      if (!count) {
        v[0] = Bits(n) & f.mask();
        v[1] = Bits(n >> f.width()) & f.mask();
      }
      Bits want = op == "add"   ? arithmetic.add(v[0], v[1])
                  : op == "sub" ? arithmetic.sub(v[0], v[1])
                  : op == "mul" ? arithmetic.mul(v[0], v[1])
                  : op == "fma" ? arithmetic.fma(v[0], v[1], v[2])
                  : op == "min" ? arithmetic.min(v[0], v[1])
                  : op == "max" ? arithmetic.max(v[0], v[1])
                  : op == "neg" ? arithmetic.neg(v[0])
                                : arithmetic.abs(v[0]);
      SmallVector<APInt> inputs;
      for (int i = 0; i < operands; ++i)
        inputs.push_back(stored(f, v[i], body.getArgument(i).getType()));
      APInt got = test::valuesOf(body, inputs).at(result);
      ASSERT_EQ(got, stored(f, want, result.getType()))
          << text << " of " << uint64_t(v[0]) << ", " << uint64_t(v[1]) << ", "
          << uint64_t(v[2]);
    }
  }
};

const char *const kOps[] = {"add", "sub", "mul", "fma",
                            "min", "max", "neg", "abs"};
const Rounding kRoundings[] = {Rounding::NearestEven, Rounding::NearestAway,
                               Rounding::TowardZero, Rounding::Up,
                               Rounding::Down};

TEST_F(ScalarsToRtl, AllPairsOfSmallFormats) {
  for (const Format &f :
       {Format::fixed(2, 2), Format::fixed(1, 3, false), Format::fixed(-1, 5)})
    for (Rounding rounding : kRoundings)
      for (Overflow overflow : {Overflow::Wrap, Overflow::Saturate})
        for (const char *op : kOps)
          check(f, rounding, overflow, op, 0);
}

TEST_F(ScalarsToRtl, RandomPairsOfLargeFormats) {
  for (const Format &f : {Format::fixed(24, 40), Format::fixed(8, 24),
                          Format::fixed(9, 7), Format::fixed(40, 60)})
    for (Rounding rounding : kRoundings)
      for (Overflow overflow : {Overflow::Wrap, Overflow::Saturate})
        for (const char *op : kOps)
          check(f, rounding, overflow, op, 12);
}

TEST_F(ScalarsToRtl, WhatHasNoLogicIsNamed) {
  EXPECT_FALSE(logicOf("func.func @f(%a: f64) -> f64 {\n"
                       "%x = arith.addf %a, %a : f64\nreturn %x : f64\n}"));
  EXPECT_NE(problem.find("'arith.addf'"), std::string::npos) << problem;
  problem.clear();
  EXPECT_FALSE(logicOf("func.func @f(%a: i8) -> i8 {\n"
                       "%x = arith.divsi %a, %a : i8\nreturn %x : i8\n}"));
  EXPECT_NE(problem.find("'arith.divsi'"), std::string::npos) << problem;
  EXPECT_NE(problem.find("remedy"), std::string::npos) << problem;
}
} // namespace
