// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The savings of the algebra, and the form of its result.
#include "rhizome/Transforms/Algebra.h"
#include "Programs.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/Verifier.h"
#include <gtest/gtest.h>

using namespace rhizome::kernel;
using namespace rhizome::kernel::test;

namespace {
struct Algebra : testing::Test {
  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;

  mlir::func::FuncOp build(const std::string &text, bool reassociate = true) {
    module = buildModule(context, *parsed(text), reassociate);
    return llvm::cantFail(findKernel(*module));
  }
  mlir::func::FuncOp optimized(const std::string &text, bool reassociate = true,
                               IndexOrder order = IndexOrder::InPlace) {
    mlir::func::FuncOp func = build(text, reassociate);
    EXPECT_TRUE(mlir::succeeded(factorizeProducts(func, order)));
    EXPECT_TRUE(mlir::succeeded(mlir::verify(*module)));
    return func;
  }
  template <typename Op> int count(mlir::func::FuncOp func) {
    int n = 0;
    func.walk([&](Op) { ++n; });
    return n;
  }
};
} // namespace

TEST_F(Algebra, HelmholtzWork) {
  for (auto [p, operations, direct, macs] :
       {std::tuple(7, 29155, 117649, 7203),
        std::tuple(11, 177023, 1771561, 43923)}) {
    EXPECT_EQ(workOf(build(helmholtz(p))).macs, 2 * direct);
    Work work = workOf(optimized(helmholtz(p)));
    EXPECT_EQ(work.macs, 2 * macs);
    EXPECT_EQ(work.operations, operations);
  }
}

TEST_F(Algebra, ReassociatesOnlyWhereAllowed) {
  mlir::func::FuncOp func = optimized(helmholtz(7), false);
  EXPECT_EQ(workOf(func).macs, 2 * 117649);
}

TEST_F(Algebra, HelmholtzIsSixMatmulsWithoutTransposes) {
  mlir::func::FuncOp func = optimized(helmholtz(11), true, IndexOrder::First);
  EXPECT_EQ(count<mlir::linalg::ContractOp>(func), 6);
  EXPECT_EQ(formMatmuls(func), 6);
  EXPECT_TRUE(mlir::succeeded(mlir::verify(*module)));
  EXPECT_EQ(count<mlir::linalg::MatmulOp>(func), 6);
  EXPECT_EQ(count<mlir::linalg::TransposeOp>(func), 0);
}

TEST_F(Algebra, CommonSubexpressions) {
  mlir::func::FuncOp func =
      optimized("var input A : [4 4] var input x : [4] var output y : [4] "
                "var output z : [4]\ny = A . x + x\nz = A . x - x\n");
  EXPECT_EQ(count<mlir::linalg::ContractOp>(func), 1);
}

TEST_F(Algebra, ElementwiseWorkIsFused) {
  mlir::func::FuncOp func =
      optimized("var input a : [4 4] var input b : [4 4] var output y : [4 4]\n"
                "var t : [4 4] var r : [4 4]\n"
                "t = a + b\nr = t * b\ny[i,j] = sqrt(abs(r[i,j]))\n");
  EXPECT_EQ(count<mlir::linalg::GenericOp>(func), 1);
}

TEST_F(Algebra, ChainTakesTheCheaperOrder) {
  // (A B) x costs 64 + 16, A (B x) 16 + 16.
  mlir::func::FuncOp func =
      optimized("var input A : [4 4] var input B : [4 4] var input x : [4] "
                "var output y : [4]\ny = (A . B) . x\n");
  EXPECT_EQ(workOf(func).macs, 32);
}
