// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Scalars of every kind in loops: integers of their widths, booleans, reals of
// every format, and what is refused.
#include "../HelmholtzKernel.h"
#include "mlir/Parser/Parser.h"
#include "rhizome/Interp/Interpreter.h"
#include "rhizome/Interp/Numbers.h"
#include <cmath>
#include <gtest/gtest.h>

using namespace mlir;
using namespace rhizome;

namespace {
class Loops : public ::testing::Test {
protected:
  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  std::string message;
  ScopedDiagnosticHandler handler{&context, [this](Diagnostic &d) {
                                    message += d.str();
                                    return success();
                                  }};
  Loops() { test::loadKernelDialects(context); }

  func::FuncOp parse(const std::string &text) {
    module = parseSourceString<ModuleOp>(text, &context);
    EXPECT_TRUE(module) << message;
    return *module->getOps<func::FuncOp>().begin();
  }
  /// Elementwise over four elements of `from`: `body` computes %r of type `to`
  /// from %x and %y.
  Tensor map(const std::string &from, const std::string &to,
             const std::string &body, const Tensor &x, const Tensor &y) {
    std::string in = "tensor<4x" + from + ">", out = "tensor<4x" + to + ">";
    auto func = parse(
        "func.func @k(%a: " + in + ", %b: " + in + ") -> " + out +
        " {\n%e = tensor.empty() : " + out +
        "\n%m = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, "
        "affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = "
        "[\"parallel\"]} ins(%a, %b : " +
        in + ", " + in + ") outs(%e : " + out + ") {\n^bb0(%x: " + from +
        ", %y: " + from + ", %o: " + to + "):\n" + body +
        "\nlinalg.yield %r : " + to + "\n} -> " + out + "\nreturn %m : " + out +
        "\n}\n");
    auto results = interpret(func, {x, y});
    if (failed(results)) {
      ADD_FAILURE() << message;
      return zeros(Float32Type::get(&context));
    }
    return results->front();
  }
  std::vector<int64_t> whole(const std::string &from, const std::string &to,
                             const std::string &body, std::vector<int64_t> x,
                             std::vector<int64_t> y) {
    return map(from, to, body, Tensor::ofInts({4}, x), Tensor::ofInts({4}, y))
        .ints;
  }
};
using Whole = std::vector<int64_t>;
} // namespace

TEST_F(Loops, IntegersHaveTheirWidth) {
  EXPECT_EQ(whole("i8", "i8", "%r = arith.addi %x, %y : i8", {127, -128, 5, -1},
                  {1, -1, -6, -1}),
            (Whole{-128, 127, -1, -2}));
  EXPECT_EQ(whole("i8", "i8", "%r = arith.divui %x, %y : i8", {-1, 100, -2, 7},
                  {2, 7, -1, 0}),
            (Whole{127, 14, 0, 0}));
  EXPECT_EQ(whole("i8", "i16", "%r = arith.extui %x : i8 to i16",
                  {-1, -128, 5, 0}, {0, 0, 0, 0}),
            (Whole{255, 128, 5, 0}));
  EXPECT_EQ(whole("i64", "i64", "%r = arith.muli %x, %y : i64",
                  {INT64_MAX, INT64_MIN, 3, -3}, {2, -1, 5, 5}),
            (Whole{-2, INT64_MIN, 15, -15}));
  EXPECT_EQ(whole("i32", "i32", "%r = arith.shrui %x, %y : i32",
                  {-1, -1, -1, 8}, {28, 31, 32, 1}),
            (Whole{15, 1, 0, 4}));
}

TEST_F(Loops, TruthsAreZeroOrOne) {
  const char *flag = "%c = arith.cmpi slt, %x, %y : i64\n"
                     "%t = arith.constant true\n"
                     "%n = arith.xori %c, %t : i1\n"
                     "%r = arith.extui %n : i1 to i64";
  EXPECT_EQ(whole("i64", "i64", flag, {1, 2, 3, -4}, {2, 1, 3, 4}),
            (Whole{0, 1, 1, 0}));
  const char *chosen = "%c = arith.cmpi uge, %x, %y : i64\n"
                       "%r = arith.select %c, %x, %y : i64";
  EXPECT_EQ(whole("i64", "i64", chosen, {-1, 2, 3, 0}, {2, 5, 3, 4}),
            (Whole{-1, 5, 3, 4}));
}

TEST_F(Loops, ComparisonsKnowNaN) {
  Tensor x = Tensor::ofFloats({4}, {NAN, 1, 2, -0.0f}),
         y = Tensor::ofFloats({4}, {1, 1, 1, 0.0f});
  auto compare = [&](const std::string &predicate) {
    return map("f32", "i64",
               "%c = arith.cmpf " + predicate +
                   ", %x, %y : f32\n%r = arith.extui %c : i1 to i64",
               x, y)
        .ints;
  };
  EXPECT_EQ(compare("olt"), (Whole{0, 0, 0, 0}));
  EXPECT_EQ(compare("oge"), (Whole{0, 1, 1, 1}));
  EXPECT_EQ(compare("uno"), (Whole{1, 0, 0, 0}));
  EXPECT_EQ(compare("une"), (Whole{1, 0, 1, 0}));
  std::vector<float>
      least =
          map("f32", "f32", "%r = arith.minimumf %x, %y : f32", x, y).floats,
      number =
          map("f32", "f32", "%r = arith.minnumf %x, %y : f32", x, y).floats;
  EXPECT_TRUE(std::isnan(least[0]));
  EXPECT_EQ(number[0], 1);
  EXPECT_TRUE(std::signbit(least[3]) && std::signbit(number[3]));
}

// A value that a double can represent may not fit a float.
TEST_F(Loops, RealsHaveTheirFormat) {
  const double third = 1.0 / 3;
  auto compute = [&](const std::string &type, const numeric::Format &format,
                     const std::string &op) {
    Tensor x = numbersOf({4}, {third, 1, 0.1, 300}, format),
           y = numbersOf({4}, {1, 1.0 / 1024, 0.2, 300}, format);
    return doublesOf(map(type, type, "%r = " + op + " : " + type, x, y));
  };
  EXPECT_EQ(compute("f64", numeric::Format::binary64(), "arith.addf %x, %y"),
            (std::vector<double>{third + 1, 1 + 1.0 / 1024, 0.1 + 0.2, 600}));
  EXPECT_EQ(compute("f64", numeric::Format::binary64(), "math.tanh %x")[0],
            std::tanh(third));
  EXPECT_EQ(compute("f32", numeric::Format::binary32(), "arith.addf %x, %y")[2],
            double(0.1f + 0.2f));
  // bfloat16 has eight bits, the tie goes to the even one; half ends at 65504.
  EXPECT_EQ(
      compute("bf16", numeric::Format::floating(8, 7), "arith.addf %x, %y")[1],
      1);
  EXPECT_EQ(
      compute("f16", numeric::Format::floating(5, 10), "arith.mulf %x, %y")[3],
      INFINITY);
  EXPECT_EQ(compute("!num.fixed<4, 4>", numeric::Format::fixed(4, 4),
                    "num.add %x, %y rounding(nearest_even) overflow(saturate)"),
            (std::vector<double>{1.3125, 1, 0.3125, 7.9375}));
}

TEST_F(Loops, SeveralResultsAndIndices) {
  auto func = parse(R"(
    func.func @k(%a: tensor<3x2xi64>) -> (tensor<3xi64>, tensor<2xi64>) {
      %p = arith.constant dense<0> : tensor<3xi64>
      %q = arith.constant dense<[10, 20]> : tensor<2xi64>
      %r:2 = linalg.generic {
          indexing_maps = [affine_map<(i, j) -> (i, j)>,
                           affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (j)>],
          iterator_types = ["reduction", "reduction"]}
          ins(%a : tensor<3x2xi64>) outs(%p, %q : tensor<3xi64>, tensor<2xi64>) {
      ^bb0(%x: i64, %s: i64, %t: i64):
        %j = linalg.index 1 : index
        %w = arith.index_cast %j : index to i64
        %u = arith.addi %x, %w : i64
        %v = arith.addi %s, %u : i64
        %z = arith.addi %t, %x : i64
        linalg.yield %v, %z : i64, i64
      } -> (tensor<3xi64>, tensor<2xi64>)
      return %r#0, %r#1 : tensor<3xi64>, tensor<2xi64>
    })");
  auto results = interpret(func, {Tensor::ofInts({3, 2}, {1, 2, 3, 4, 5, 6})});
  ASSERT_TRUE(succeeded(results)) << message;
  EXPECT_EQ((*results)[0].ints, (Whole{4, 8, 12}));
  EXPECT_EQ((*results)[1].ints, (Whole{19, 32}));
}

TEST_F(Loops, Refusals) {
  auto refused = [&](const std::string &text, std::vector<Tensor> inputs) {
    message.clear();
    EXPECT_TRUE(failed(interpret(parse(text), inputs)));
    return message;
  };
  EXPECT_NE(refused("func.func @k(%a: memref<?xf32>) { return }",
                    {Tensor::ofFloats({4}, {0, 0, 0, 0})})
                .find("not a tensor of numbers"),
            std::string::npos);
  EXPECT_NE(refused("func.func @k(%a: tensor<4xf64>) { return }",
                    {Tensor::ofFloats({4}, {0, 0, 0, 0})})
                .find("4 reals of shape [4] were given"),
            std::string::npos);
  EXPECT_NE(refused(R"(
      func.func @k(%a: tensor<2xf32>, %i: tensor<1xi64>) -> tensor<1xf32> {
        %e = tensor.empty() : tensor<1xf32>
        %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>,
                                              affine_map<(i) -> (i)>],
                             iterator_types = ["parallel"]}
            ins(%i : tensor<1xi64>) outs(%e : tensor<1xf32>) {
        ^bb0(%n: i64, %o: f32):
          %k = arith.index_cast %n : i64 to index
          %v = tensor.extract %a[%k] : tensor<2xf32>
          linalg.yield %v : f32
        } -> tensor<1xf32>
        return %r : tensor<1xf32>
      })",
                    {Tensor::ofFloats({2}, {1, 2}), Tensor::ofInts({1}, {2})})
                .find("out of range"),
            std::string::npos);
}
