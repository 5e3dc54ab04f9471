// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The inverse Helmholtz operator as linalg on tensors of f64, factorized: six
// contractions over the last index, the new index first, and one product.
#pragma once

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "rhizome/Dialect/Num/Num.h"
#include <string>

namespace rhizome::test {
inline void loadKernelDialects(mlir::MLIRContext &context) {
  context.loadDialect<mlir::arith::ArithDialect, mlir::func::FuncDialect,
                      mlir::linalg::LinalgDialect, mlir::math::MathDialect,
                      mlir::tensor::TensorDialect, num::NumDialect>();
  context.allowUnregisteredDialects();
}

/// @helmholtz(S, D, u) -> v.
inline std::string helmholtz(int p) {
  std::string n = std::to_string(p);
  std::string matrix = "tensor<" + n + "x" + n + "xf64>";
  std::string cube = "tensor<" + n + "x" + n + "x" + n + "xf64>";
  std::string text = "func.func @helmholtz(%S: " + matrix + ", %D: " + cube +
                     ", %u: " + cube + ") -> " + cube +
                     " {\n%zero = arith.constant 0.0 : f64\n";
  int next = 0;
  auto contract = [&](std::string result, std::string from, bool transposed) {
    std::string k = std::to_string(next++);
    text += "%e" + k + " = tensor.empty() : " + cube + "\n%f" + k +
            " = linalg.fill ins(%zero : f64) outs(%e" + k + " : " + cube +
            ") -> " + cube + "\n%" + result +
            " = linalg.contract indexing_maps = [affine_map<(n,a,b,c) -> " +
            (transposed ? "(c,n)" : "(n,c)") +
            ">, affine_map<(n,a,b,c) -> (a,b,c)>, affine_map<(n,a,b,c) -> "
            "(n,a,b)>] ins(%S, %" +
            from + " : " + matrix + ", " + cube + ") outs(%f" + k + " : " +
            cube + ") -> " + cube + "\n";
  };
  contract("t1", "u", false);
  contract("t2", "t1", false);
  contract("t3", "t2", false);
  text += "%er = tensor.empty() : " + cube +
          "\n%r = linalg.mul ins(%D, %t3 : " + cube + ", " + cube +
          ") outs(%er : " + cube + ") -> " + cube + "\n";
  contract("v1", "r", true);
  contract("v2", "v1", true);
  contract("v3", "v2", true);
  return text + "return %v3 : " + cube + "\n}\n";
}
} // namespace rhizome::test
