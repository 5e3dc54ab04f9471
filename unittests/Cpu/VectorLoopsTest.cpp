// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The vectors that loops on buffers become, for a unit of 32 registers of 512
// bits, whatever processor the test runs on.
#include "../../lib/Cpu/VectorLoops.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "rhizome/Cpu/Function.h"
#include <gtest/gtest.h>
#include <set>

using namespace mlir;
using namespace rhizome;

namespace {
class VectorLoopsTest : public ::testing::Test {
protected:
  VectorLoopsTest() { loadCpuDialects(context); }
  /// The function vectorized. Its first `borders` arguments are the caller's.
  func::FuncOp vectorized(const std::string &text, unsigned borders,
                          bool hasByteDots = false) {
    module = parseSourceString<ModuleOp>(text, &context);
    EXPECT_TRUE(module);
    auto func = *module->getOps<func::FuncOp>().begin();
    cpu::vectorizeLoops(
        func, {{512, 512, 32, true, hasByteDots}, borders, true}, constants);
    EXPECT_TRUE(succeeded(verify(*module)));
    func.walk(
        [](linalg::LinalgOp op) { ADD_FAILURE() << "an operation left"; });
    return func;
  }
  /// The elements of the vectors that operations of a kind give.
  template <typename Op> std::set<int64_t> widths(func::FuncOp func) {
    std::set<int64_t> all;
    func.walk([&](Op op) {
      all.insert(cast<VectorType>(op->getResult(0).getType()).getNumElements());
    });
    return all;
  }
  static int64_t fetches(func::FuncOp func, bool writes) {
    int64_t count = 0;
    func.walk(
        [&](memref::PrefetchOp op) { count += op.getIsWrite() == writes; });
    return count;
  }
  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  cpu::Constants constants;
};

std::string matrix(int64_t rows, int64_t columns) {
  return "memref<" + std::to_string(rows) + "x" + std::to_string(columns) +
         "xf64>";
}

/// y = a * b, of 11 rows; `scaled`: y = (a * b) .* d.
std::string product(int64_t terms, int64_t columns, bool scaled = false) {
  std::string a = matrix(11, terms), b = matrix(terms, columns),
              y = matrix(11, columns), sums = scaled ? "%t" : "%y";
  std::string text = "func.func @f(%a: " + a + ", %b: " + b + ", %d: " + y +
                     ", %y: " + y + ") {\n%zero = arith.constant 0.0 : f64\n";
  if (scaled)
    text += "%t = memref.alloc() : " + y + "\n";
  text += "linalg.fill ins(%zero : f64) outs(" + sums + " : " + y +
          ")\nlinalg.matmul ins(%a, %b : " + a + ", " + b + ") outs(" + sums +
          " : " + y + ")\n";
  if (scaled)
    text +=
        "linalg.mul ins(%t, %d : " + y + ", " + y + ") outs(%y : " + y + ")\n";
  return text + "return\n}";
}
} // namespace

TEST_F(VectorLoopsTest, TheLastVectorIsNoWiderThanWhatItHolds) {
  auto of = [&](int64_t columns) {
    return widths<arith::AddFOp>(vectorized(product(9, columns), 4));
  };
  EXPECT_EQ(of(16), (std::set<int64_t>{8}));
  EXPECT_EQ(of(13), (std::set<int64_t>{8}));
  EXPECT_EQ(of(11), (std::set<int64_t>{4, 8}));
  EXPECT_EQ(of(9), (std::set<int64_t>{2, 8}));
  EXPECT_EQ(of(3), (std::set<int64_t>{4}));
}

TEST_F(VectorLoopsTest, MasksOfTheLastVectorAreAsNarrow) {
  // In its own place nothing is computed twice, nor read beyond the end.
  std::string y = "memref<11xf64>";
  auto func =
      vectorized("func.func @f(%y: " + y + ") {\nlinalg.add ins(%y, %y : " + y +
                     ", " + y + ") outs(%y : " + y + ")\nreturn\n}",
                 1);
  EXPECT_EQ(widths<vector::MaskedLoadOp>(func), (std::set<int64_t>{4}));
  EXPECT_EQ(widths<arith::AddFOp>(func), (std::set<int64_t>{4, 8}));
}

TEST_F(VectorLoopsTest, WhatFollowsLongSumsIsFetchedMeanwhile) {
  // Eleven rows of two vectors are one tile.
  auto plain = vectorized(product(9, 11), 4);
  EXPECT_EQ(fetches(plain, true), 22);
  EXPECT_EQ(fetches(plain, false), 0);
  auto scaled = vectorized(product(9, 11, true), 4);
  EXPECT_EQ(fetches(scaled, true), 22);
  EXPECT_EQ(fetches(scaled, false), 22);
  // Short sums leave no time, and what is no caller's is in the cache.
  EXPECT_EQ(fetches(vectorized(product(7, 11, true), 4), true), 0);
  EXPECT_EQ(fetches(vectorized(product(9, 11, true), 0), true), 0);
}

TEST_F(VectorLoopsTest, WhatIsFetchedIsNotWritten) {
  // Between the zeros of %z and its sums stands another product, which fetches:
  // the sums still begin in registers.
  auto func = vectorized(R"(
    !m = memref<11x11xf64>
    func.func @f(%a: !m, %b: !m, %y: !m, %z: !m) {
      %zero = arith.constant 0.0 : f64
      linalg.fill ins(%zero : f64) outs(%y : !m)
      linalg.fill ins(%zero : f64) outs(%z : !m)
      linalg.matmul ins(%a, %b : !m, !m) outs(%y : !m)
      linalg.matmul ins(%b, %a : !m, !m) outs(%z : !m)
      return
    })",
                         4);
  EXPECT_EQ(fetches(func, true), 44);
  int64_t stores = 0;
  func.walk([&](vector::StoreOp) { ++stores; });
  EXPECT_EQ(stores, 44) << "zeros are stored";
}

TEST_F(VectorLoopsTest, DotProductsOfBytes) {
  struct Case {
    const char *data, *weights;
    int64_t fours, twos; ///< instructions of a tile
    size_t constants;
  };
  // Seven rows of 20 columns; of signed factors one is read 128 higher, and
  // what that adds to a column is one more constant.
  const Case cases[] = {{"extui", "extsi", 14, 0, 1},
                        {"extsi", "extui", 14, 0, 1},
                        {"extsi", "extsi", 14, 0, 2},
                        {"extui", "extui", 0, 14, 1}};
  for (const Case &c : cases) {
    SCOPED_TRACE(std::string(c.data) + " by " + c.weights);
    constants = {std::vector<char>(20 * 10, 3)};
    auto func = vectorized(std::string(R"(
      func.func @f(%x: memref<7x10xi8>, %y: memref<7x20xi32>, %w: memref<20x10xi8>) {
        %zero = arith.constant 0 : i32
        linalg.fill ins(%zero : i32) outs(%y : memref<7x20xi32>)
        linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (i, j)>],
                        iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%x, %w : memref<7x10xi8>, memref<20x10xi8>) outs(%y : memref<7x20xi32>) {
        ^bb0(%a: i8, %b: i8, %s: i32):
          %c = arith.)") + c.data +
                               " %a : i8 to i32\n%d = arith." + c.weights +
                               R"( %b : i8 to i32
          %p = arith.muli %c, %d : i32
          %t = arith.addi %s, %p : i32
          linalg.yield %t : i32
        }
        return
      })",
                           2, true);
    std::set<std::string> names;
    int64_t fours = 0, twos = 0;
    func.walk([&](LLVM::CallIntrinsicOp op) {
      names.insert(op.getIntrin().str());
      ++fours;
    });
    func.walk([&](vector::DeinterleaveOp) { ++twos; });
    EXPECT_EQ(fours, c.fours);
    EXPECT_EQ(twos, c.twos);
    EXPECT_EQ(constants.size(), c.constants);
    EXPECT_EQ(func.getNumArguments(), 2 + c.constants);
    if (c.fours)
      EXPECT_EQ(names, (std::set<std::string>{"llvm.x86.avx512.vpdpbusd.128",
                                              "llvm.x86.avx512.vpdpbusd.512"}));
    // 128 times the sum of ten weights.
    if (c.constants == 2)
      EXPECT_EQ(reinterpret_cast<int32_t *>(constants[1].data())[19], 3840);
  }
}

TEST_F(VectorLoopsTest, FactorsOfDotProductsNeedNotBeConstant) {
  // A transposed factor of 20 columns is copied with four terms side by side.
  auto func = vectorized(R"(
    #x = affine_map<(i, j, k) -> (i, k)>
    #w = affine_map<(i, j, k) -> (j, k)>
    #y = affine_map<(i, j, k) -> (i, j)>
    func.func @f(%x: memref<7x10xi8>, %y: memref<7x20xi32>, %w: memref<20x10xi8>) {
      %zero = arith.constant 0 : i32
      linalg.fill ins(%zero : i32) outs(%y : memref<7x20xi32>)
      linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%x, %w : memref<7x10xi8>, memref<20x10xi8>) outs(%y : memref<7x20xi32>) {
      ^bb0(%a: i8, %b: i8, %s: i32):
        %c = arith.extui %a : i8 to i32
        %d = arith.extsi %b : i8 to i32
        %p = arith.muli %c, %d : i32
        %t = arith.addi %s, %p : i32
        linalg.yield %t : i32
      }
      return
    })",
                         3, true);
  int64_t dots = 0, sizes = 0;
  func.walk([&](LLVM::CallIntrinsicOp) { ++dots; });
  // Three groups of four; data are copied, which the caller's memory ends with.
  func.walk(
      [&](memref::AllocOp op) { sizes += op.getType().getNumElements(); });
  EXPECT_EQ(dots, 14);
  EXPECT_EQ(sizes, 20 * 12 + 7 * 10);
}
