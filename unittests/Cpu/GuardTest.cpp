// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Functions that read or write outside of their tensors, or divide by zero:
// whoever has written them, neither machine code nor the interpreter does so.
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Parser/Parser.h"
#include "rhizome/Cpu/Function.h"
#include "rhizome/Dialect/Marks/Marks.h"
#include "rhizome/Dialect/Osa/Osa.h"
#include "rhizome/Interp/Interpreter.h"
#include <gtest/gtest.h>

using namespace mlir;
using namespace rhizome;

namespace {
using Whole = std::vector<int64_t>;

class GuardTest : public ::testing::Test {
protected:
  GuardTest() {
    context.loadDialect<arith::ArithDialect, func::FuncDialect,
                        linalg::LinalgDialect, marks::MarksDialect,
                        math::MathDialect, num::NumDialect, osa::OsaDialect,
                        scf::SCFDialect, tensor::TensorDialect>();
  }
  /// What machine code and the interpreter compute of these: numbers, or why
  /// they stop.
  std::pair<std::string, std::string> outcomes(const std::string &text,
                                               std::vector<Whole> inputs) {
    std::string said;
    ScopedDiagnosticHandler handler(&context, [&](Diagnostic &d) {
      said += d.str();
      return success();
    });
    OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
    EXPECT_TRUE(module) << said;
    if (!module)
      return {};
    auto func = *module->getOps<func::FuncOp>().begin();
    std::vector<Tensor> in;
    for (auto [type, values] : llvm::zip(func.getArgumentTypes(), inputs))
      in.push_back(Tensor::ofInts(cast<ShapedType>(type).getShape().vec(),
                                  std::move(values)));
    auto numbers = [](const std::vector<Tensor> &results) {
      std::string all;
      for (int64_t v : results.front().ints)
        all += std::to_string(v) + " ";
      return all;
    };
    std::string fast;
    auto compiled = CompiledFunction::compile(func);
    if (failed(compiled)) {
      fast = std::exchange(said, "");
    } else {
      auto results = (*compiled)->run(in);
      fast = results ? numbers(*results) : llvm::toString(results.takeError());
    }
    auto plain = interpret(func, in);
    return {fast, failed(plain) ? said : numbers(*plain)};
  }
  void expectRefused(const std::string &text, std::vector<Whole> inputs,
                     const std::string &fast, const std::string &plain) {
    auto [first, second] = outcomes(text, std::move(inputs));
    EXPECT_NE(first.find(fast), std::string::npos) << first << "\n" << text;
    EXPECT_NE(second.find(plain), std::string::npos) << second << "\n" << text;
  }
  void expectBoth(const std::string &text, std::vector<Whole> inputs,
                  const std::string &wanted) {
    auto [first, second] = outcomes(text, std::move(inputs));
    EXPECT_EQ(first, wanted) << text;
    EXPECT_EQ(second, wanted) << text;
  }
  MLIRContext context;
};

/// A loop over `extents` that reads an input of `size` by `map`.
std::string mapped(const std::string &map, const std::string &loops,
                   const std::string &extents, int size,
                   const std::string &outMap) {
  std::string kinds;
  for (char c : loops)
    kinds += c == ',' ? ", \"parallel\"" : "";
  const std::string in = "tensor<" + std::to_string(size) + "xi64>",
                    out = "tensor<" + extents + "xi64>";
  return "func.func @f(%x: " + in + ") -> " + out +
         " {\n%e = tensor.empty() : " + out +
         "\n%r = linalg.generic {indexing_maps = [affine_map<(" + loops +
         ") -> (" + map + ")>, affine_map<(" + loops + ") -> (" + outMap +
         ")>], iterator_types = [\"parallel\"" + kinds + "]} ins(%x : " + in +
         ") outs(%e : " + out +
         ") {\n^bb0(%v: i64, %o: i64):\n linalg.yield %v : i64\n} -> " + out +
         "\nreturn %r : " + out + "\n}\n";
}

/// Elementwise over four elements, with the table %t of eight.
std::string body(const std::string &text) {
  return R"(func.func @f(%t: tensor<8xi64>, %a: tensor<4xi64>) -> tensor<4xi64> {
    %e = tensor.empty() : tensor<4xi64>
    %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
        iterator_types = ["parallel"]} ins(%a : tensor<4xi64>) outs(%e : tensor<4xi64>) {
    ^bb0(%x: i64, %o: i64):
    )" + text +
         R"(
      linalg.yield %y : i64
    } -> tensor<4xi64>
    return %r : tensor<4xi64>
  })";
}
const Whole kTable = {10, 11, 12, 13, 14, 15, 16, 17};

TEST_F(GuardTest, MapsStayWithinTheirTensors) {
  expectBoth(mapped("3 - i", "i", "4", 4, "i"), {{1, 2, 3, 4}}, "4 3 2 1 ");
  expectBoth(mapped("i + j", "i, j", "2x2", 3, "i, j"), {{1, 2, 3}},
             "1 2 2 3 ");
  // MLIR's verifier takes these: the first and the last trip are inside.
  for (const char *map : {"i - j", "j - i", "(i - j) * 1000000"})
    expectRefused(mapped(map, "i, j", "8x8", 1, "i, j"), {{1}},
                  "reads or writes outside of operand 0",
                  "reads or writes outside of operand 0");
  expectRefused(mapped("i mod 7", "i", "8", 1, "i"), {{1}},
                "reads or writes outside of operand 0",
                "reads or writes outside of operand 0");
}

TEST_F(GuardTest, IndicesThatAModelComputesStayInside) {
  const std::string at = body(R"(%i = arith.index_cast %x : i64 to index
      %y = tensor.extract %t[%i] : tensor<8xi64>)");
  expectBoth(at, {kTable, {7, 0, 3, 1}}, "17 10 13 11 ");
  for (int64_t wrong : {int64_t(8), int64_t(-1), int64_t(1) << 40, INT64_MIN})
    expectRefused(at, {kTable, {0, 0, wrong, 0}},
                  "its index at element 2 is " + std::to_string(wrong) +
                      ", it must be from 0 to 7",
                  "outside");
  // What is narrower wraps.
  const std::string narrow = body(R"(%n = arith.trunci %x : i64 to i8
      %c = arith.constant 100 : i8
      %s = arith.addi %n, %c : i8
      %w = arith.extsi %s : i8 to i64
      %k = arith.constant -100 : i64
      %p = arith.addi %w, %k : i64
      %i = arith.index_cast %p : i64 to index
      %y = tensor.extract %t[%i] : tensor<8xi64>)");
  expectBoth(narrow, {kTable, {7, 0, 3, 1}}, "17 10 13 11 ");
  expectRefused(narrow, {kTable, {7, 30, 3, 1}}, "its index at element 1",
                "outside");
}

TEST_F(GuardTest, IndicesThatShowItNeedNoCheck) {
  // Without a record, machine code has nothing to say.
  expectBoth(body(R"(%z = arith.constant 0 : i64
      %m = arith.constant 7 : i64
      %l = arith.maxsi %x, %z : i64
      %p = arith.minsi %l, %m : i64
      %i = arith.index_cast %p : i64 to index
      %y = tensor.extract %t[%i] : tensor<8xi64>)"),
             {kTable, {-5, 99, 3, 1}}, "10 17 13 11 ");
  // A condition that says something else does not count.
  expectRefused(body(R"(%z = arith.constant 0 : i64
      %m = arith.constant 9 : i64
      %n = arith.cmpi sge, %x, %z : i64
      %c = arith.cmpi slt, %x, %m : i64
      %b = arith.andi %n, %c : i1
      %p = arith.select %b, %x, %z {rhizome.check = "index",
          rhizome.check_range = array<i64: 0, 7>} : i64
      %i = arith.index_cast %p : i64 to index
      %y = tensor.extract %t[%i] : tensor<8xi64>)"),
                {kTable, {8, 0, 0, 0}}, "is 8, it must be from 0 to 7",
                "outside");
}

/// A loop of one trip, in which %i is what the first element of %a says.
std::string trip(const std::string &text, const std::string &result) {
  return "func.func @f(%t: tensor<8xi64>, %a: tensor<1xi64>) -> " + result +
         R"( {
      %z = arith.constant 0 : index
      %one = arith.constant 1 : index
      %e = tensor.empty() : )" +
         result + R"(
      %r = scf.for %k = %z to %one step %one iter_args(%s = %e) -> ()" +
         result + R"() {
        %v = tensor.extract %a[%k] : tensor<1xi64>
        %i = arith.index_cast %v : i64 to index
        )" +
         text + R"(
        scf.yield %p : )" +
         result + "\n}\nreturn %r : " + result + "\n}";
}

TEST_F(GuardTest, PlacesOfSlicesStayInside) {
  const std::string read = trip("%p = tensor.extract_slice %t[%i] [4] [1] : "
                                "tensor<8xi64> to tensor<4xi64>",
                                "tensor<4xi64>");
  expectBoth(read, {kTable, {4}}, "14 15 16 17 ");
  for (int64_t wrong : {int64_t(5), int64_t(-1), int64_t(1) << 40})
    expectRefused(read, {kTable, {wrong}},
                  "is " + std::to_string(wrong) + ", it must be from 0 to 4",
                  "outside a tensor");
  const std::string write = trip("%p = tensor.insert_slice %a into %t[%i] [1] "
                                 "[1] : tensor<1xi64> into tensor<8xi64>",
                                 "tensor<8xi64>");
  expectBoth(write, {kTable, {7}}, "10 11 12 13 14 15 16 7 ");
  expectRefused(write, {kTable, {1000000}}, "it must be from 0 to 7",
                "outside a tensor");
  // Between tasks there are tensors only.
  auto [fast, plain] = outcomes(
      R"(func.func @f(%a: tensor<1xi64>) -> tensor<1xi64> {
           %z = arith.constant 0 : index
           %v = tensor.extract %a[%z] : tensor<1xi64>
           %r = tensor.insert %v into %a[%z] : tensor<1xi64>
           return %r : tensor<1xi64>
         })",
      {{3}});
  EXPECT_NE(fast.find("outside of a loop"), std::string::npos) << fast;
  EXPECT_EQ(plain, "3 ");
}

TEST_F(GuardTest, DivisionsDoNotTrap) {
  for (const auto &[op, wanted] :
       {std::pair("divsi", "9223372036854775808 0 -4611686018427387904 "),
        {"remsi", "0 0 0 "}}) {
    auto [fast, plain] = outcomes(
        body("%c = arith.constant -9223372036854775808 : i64\n%y = arith." +
             std::string(op) + " %c, %x : i64"),
        {kTable, {-1, 0, 2, 3}});
    EXPECT_EQ(fast, plain) << op;
    EXPECT_NE(fast.find(wanted), std::string::npos) << fast;
  }
  expectBoth(body(R"(%z = arith.subi %x, %x : i64
      %y = arith.divui %x, %z : i64)"),
             {kTable, {1, 2, 3, 4}}, "0 0 0 0 ");
}
} // namespace
