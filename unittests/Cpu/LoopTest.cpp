// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Bodies with a trip count or a condition: the interpreter, and the CPU path
// against it.
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Parser/Parser.h"
#include "rhizome/Cpu/Function.h"
#include "rhizome/Dialect/Osa/Osa.h"
#include "rhizome/Interp/Interpreter.h"
#include <gtest/gtest.h>

using namespace mlir;
using namespace rhizome;

namespace {
class LoopTest : public ::testing::Test {
protected:
  LoopTest() {
    context
        .loadDialect<arith::ArithDialect, func::FuncDialect,
                     linalg::LinalgDialect, math::MathDialect, scf::SCFDialect,
                     tensor::TensorDialect, num::NumDialect, osa::OsaDialect>();
    context.getDiagEngine().registerHandler(
        [this](Diagnostic &d) { message += d.str(); });
  }
  /// Runs a function on both paths, compares the results and returns them.
  std::vector<Tensor> both(StringRef text, std::vector<Tensor> inputs) {
    module = parseSourceString<ModuleOp>(text, &context);
    EXPECT_TRUE(module) << message;
    if (!module)
      return {};
    auto func = *module->getOps<func::FuncOp>().begin();
    auto want = interpret(func, inputs);
    EXPECT_TRUE(succeeded(want)) << message;
    auto compiled = CompiledFunction::compile(func);
    EXPECT_TRUE(succeeded(compiled)) << message;
    if (failed(want) || failed(compiled))
      return {};
    // Twice: a call leaves no state for the next one.
    for (int i = 0; i < 2; ++i) {
      auto got = (*compiled)->run(inputs);
      EXPECT_TRUE(bool(got));
      if (!got)
        return {};
      for (size_t k = 0; k < want->size(); ++k) {
        EXPECT_EQ((*got)[k].ints, (*want)[k].ints);
        EXPECT_EQ((*got)[k].floats.size(), (*want)[k].floats.size());
        for (size_t e = 0; e < (*want)[k].floats.size(); ++e)
          EXPECT_NEAR((*got)[k].floats[e], (*want)[k].floats[e], 1e-5)
              << "result " << k << ", element " << e;
      }
    }
    return *want;
  }
  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  std::string message;
};

TEST_F(LoopTest, CarriesAStateAndWritesASequenceBackwards) {
  auto out = both(R"(
    #id = affine_map<(i) -> (i)>
    func.func @f(%x: tensor<5x3xf32>, %h0: tensor<3xf32>) -> (tensor<5x3xf32>, tensor<3xf32>) {
      %zero = arith.constant 0 : index
      %one = arith.constant 1 : index
      %last = arith.constant 4 : index
      %end = arith.constant 5 : index
      %none = tensor.empty() : tensor<5x3xf32>
      %y, %h = scf.for %t = %zero to %end step %one iter_args(%seq = %none, %state = %h0) -> (tensor<5x3xf32>, tensor<3xf32>) {
        %now = arith.subi %last, %t : index
        %row = tensor.extract_slice %x[%now, 0] [1, 3] [1, 1] : tensor<5x3xf32> to tensor<3xf32>
        %empty = tensor.empty() : tensor<3xf32>
        %next = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]} ins(%row, %state : tensor<3xf32>, tensor<3xf32>) outs(%empty : tensor<3xf32>) {
        ^bb0(%a: f32, %b: f32, %c: f32):
          %half = arith.constant 0.5 : f32
          %m = arith.mulf %b, %half : f32
          %s = arith.addf %a, %m : f32
          linalg.yield %s : f32
        } -> tensor<3xf32>
        %more = tensor.insert_slice %next into %seq[%now, 0] [1, 3] [1, 1] : tensor<3xf32> into tensor<5x3xf32>
        scf.yield %more, %next : tensor<5x3xf32>, tensor<3xf32>
      }
      return %y, %h : tensor<5x3xf32>, tensor<3xf32>
    })",
                  {Tensor::ofFloats({5, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11,
                                             12, 13, 14, 15}),
                   Tensor::ofFloats({3}, {8, 16, 32})});
  ASSERT_EQ(out.size(), 2u);
  // The last row first: 13 + 8 / 2, and so on towards the first row.
  EXPECT_EQ(out[0].floats[12], 17);
  EXPECT_EQ(out[0].floats[9], 18.5f);
  EXPECT_EQ(out[1].floats[0], out[0].floats[0]);
}

TEST_F(LoopTest, ExchangesWhatItCarries) {
  auto out =
      both(R"(
    func.func @f(%a: tensor<2xf32>, %b: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
      %zero = arith.constant 0 : index
      %one = arith.constant 1 : index
      %end = arith.constant 3 : index
      %x, %y = scf.for %t = %zero to %end step %one iter_args(%p = %a, %q = %b) -> (tensor<2xf32>, tensor<2xf32>) {
        scf.yield %q, %p : tensor<2xf32>, tensor<2xf32>
      }
      return %x, %y : tensor<2xf32>, tensor<2xf32>
    })",
           {Tensor::ofFloats({2}, {1, 2}), Tensor::ofFloats({2}, {3, 4})});
  ASSERT_EQ(out.size(), 2u);
  EXPECT_EQ(out[0].floats, (std::vector<float>{3, 4}));
  EXPECT_EQ(out[1].floats, (std::vector<float>{1, 2}));
}

TEST_F(LoopTest, BeginsTwiceWithOneTensorAndReadsItAfterwards) {
  auto out = both(R"(
    #id = affine_map<(i) -> (i)>
    func.func @f(%a: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) {
      %zero = arith.constant 0 : index
      %one = arith.constant 1 : index
      %end = arith.constant 2 : index
      %empty = tensor.empty() : tensor<2xf32>
      %twice = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%a : tensor<2xf32>) outs(%empty : tensor<2xf32>) {
      ^bb0(%u: f32, %v: f32):
        %s = arith.addf %u, %u : f32
        linalg.yield %s : f32
      } -> tensor<2xf32>
      %x, %y = scf.for %t = %zero to %end step %one iter_args(%p = %twice, %q = %twice) -> (tensor<2xf32>, tensor<2xf32>) {
        %sum = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%q : tensor<2xf32>) outs(%p : tensor<2xf32>) {
        ^bb0(%u: f32, %v: f32):
          %s = arith.addf %u, %v : f32
          linalg.yield %s : f32
        } -> tensor<2xf32>
        scf.yield %sum, %q : tensor<2xf32>, tensor<2xf32>
      }
      return %x, %y, %twice : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
    })",
                  {Tensor::ofFloats({2}, {1, 10})});
  ASSERT_EQ(out.size(), 3u);
  EXPECT_EQ(out[0].floats, (std::vector<float>{6, 60}));
  EXPECT_EQ(out[1].floats, (std::vector<float>{2, 20}));
  EXPECT_EQ(out[2].floats, (std::vector<float>{2, 20}));
}

TEST_F(LoopTest, LoopsInLoopsAndLayersInBodies) {
  auto out = both(R"(
    func.func @f(%x: tensor<1x4xf32>) -> tensor<1x4xf32> {
      %zero = arith.constant 0 : index
      %one = arith.constant 1 : index
      %end = arith.constant 3 : index
      %y = scf.for %t = %zero to %end step %one iter_args(%p = %x) -> (tensor<1x4xf32>) {
        %s = osa.softmax %p {axis = 1 : i64} : (tensor<1x4xf32>) -> tensor<1x4xf32>
        %q = scf.for %u = %zero to %t step %one iter_args(%r = %s) -> (tensor<1x4xf32>) {
          %a = osa.add %r, %x : (tensor<1x4xf32>, tensor<1x4xf32>) -> tensor<1x4xf32>
          scf.yield %a : tensor<1x4xf32>
        }
        scf.yield %q : tensor<1x4xf32>
      }
      return %y : tensor<1x4xf32>
    })",
                  {Tensor::ofFloats({1, 4}, {0, 1, 2, -1})});
  ASSERT_EQ(out.size(), 1u);
}

TEST_F(LoopTest, NoTripGivesWhatItBeginsWith) {
  auto out = both(R"(
    func.func @f(%x: tensor<2xf32>) -> tensor<2xf32> {
      %zero = arith.constant 0 : index
      %one = arith.constant 1 : index
      %y = scf.for %t = %zero to %zero step %one iter_args(%p = %x) -> (tensor<2xf32>) {
        %s = osa.add %p, %x : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
        scf.yield %s : tensor<2xf32>
      }
      return %y : tensor<2xf32>
    })",
                  {Tensor::ofFloats({2}, {1, 2})});
  ASSERT_EQ(out.size(), 1u);
  EXPECT_EQ(out[0].floats, (std::vector<float>{1, 2}));
}

/// The trip count is an input; two tensors change places as long as a sum is
/// small, in an outer loop of two trips.
constexpr const char *kWhile = R"(
  #id = affine_map<(i) -> (i)>
  #none = affine_map<(i) -> ()>
  func.func @f(%a: tensor<2xf32>, %b: tensor<2xf32>, %most: tensor<i64>) -> (tensor<i64>, tensor<2xf32>, tensor<2xf32>) {
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    %two = arith.constant 2 : index
    %first = arith.constant dense<0> : tensor<i64>
    %step = arith.constant dense<1> : tensor<i64>
    %limit = arith.constant 10.0 : f32
    %n, %x, %y = scf.for %o = %zero to %two step %one iter_args(%m = %first, %u = %a, %v = %b) -> (tensor<i64>, tensor<2xf32>, tensor<2xf32>) {
      %i:3 = scf.while (%t = %first, %p = %u, %q = %v) : (tensor<i64>, tensor<2xf32>, tensor<2xf32>) -> (tensor<i64>, tensor<2xf32>, tensor<2xf32>) {
        %now = tensor.extract %t[] : tensor<i64>
        %end = tensor.extract %most[] : tensor<i64>
        %isEarly = arith.cmpi slt, %now, %end : i64
        %e = tensor.extract %p[%one] : tensor<2xf32>
        %isSmall = arith.cmpf olt, %e, %limit : f32
        %go = arith.andi %isEarly, %isSmall : i1
        scf.condition(%go) %t, %p, %q : tensor<i64>, tensor<2xf32>, tensor<2xf32>
      } do {
      ^bb0(%t: tensor<i64>, %p: tensor<2xf32>, %q: tensor<2xf32>):
        %s = osa.add %p, %q : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
        %none = tensor.empty() : tensor<i64>
        %next = linalg.generic {indexing_maps = [affine_map<() -> ()>, affine_map<() -> ()>, affine_map<() -> ()>], iterator_types = []}
            ins(%t, %step : tensor<i64>, tensor<i64>) outs(%none : tensor<i64>) {
          ^bb0(%c: i64, %d: i64, %old: i64):
            %sum = arith.addi %c, %d : i64
            linalg.yield %sum : i64
          } -> tensor<i64>
        scf.yield %next, %q, %s : tensor<i64>, tensor<2xf32>, tensor<2xf32>
      }
      scf.yield %i#0, %i#1, %i#2 : tensor<i64>, tensor<2xf32>, tensor<2xf32>
    }
    return %n, %x, %y : tensor<i64>, tensor<2xf32>, tensor<2xf32>
  })";

TEST_F(LoopTest, RunsAsLongAsAConditionHolds) {
  const auto a = Tensor::ofFloats({2}, {1, 1}),
             b = Tensor::ofFloats({2}, {2, 3});
  // 1 3 4 7 11: the second loop begins where the first one ended.
  auto out = both(kWhile, {a, b, Tensor::ofInts({}, {100})});
  ASSERT_EQ(out.size(), 3u);
  EXPECT_EQ(out[0].ints, (std::vector<int64_t>{0}));
  EXPECT_EQ(out[1].floats, (std::vector<float>{8, 11}));
  EXPECT_EQ(out[2].floats, (std::vector<float>{13, 18}));

  out = both(kWhile, {a, b, Tensor::ofInts({}, {1})});
  ASSERT_EQ(out.size(), 3u);
  EXPECT_EQ(out[0].ints, (std::vector<int64_t>{1}));
  EXPECT_EQ(out[1].floats, (std::vector<float>{3, 4}));

  out = both(kWhile, {a, b, Tensor::ofInts({}, {-1})});
  ASSERT_EQ(out.size(), 3u);
  EXPECT_EQ(out[1].floats, a.floats);
  EXPECT_EQ(out[2].floats, b.floats);
}

TEST_F(LoopTest, APlaceOutsideOfATensorStopsTheInterpreter) {
  module = parseSourceString<ModuleOp>(R"(
    func.func @f(%x: tensor<2x2xf32>) -> tensor<2xf32> {
      %zero = arith.constant 0 : index
      %one = arith.constant 1 : index
      %end = arith.constant 3 : index
      %first = tensor.extract_slice %x[0, 0] [1, 2] [1, 1] : tensor<2x2xf32> to tensor<2xf32>
      %y = scf.for %t = %zero to %end step %one iter_args(%p = %first) -> (tensor<2xf32>) {
        %row = tensor.extract_slice %x[%t, 0] [1, 2] [1, 1] : tensor<2x2xf32> to tensor<2xf32>
        scf.yield %row : tensor<2xf32>
      }
      return %y : tensor<2xf32>
    })",
                                       &context);
  ASSERT_TRUE(module) << message;
  auto func = *module->getOps<func::FuncOp>().begin();
  EXPECT_TRUE(
      failed(interpret(func, {Tensor::ofFloats({2, 2}, {1, 2, 3, 4})})));
  EXPECT_NE(message.find("outside a tensor"), std::string::npos) << message;
}
} // namespace
