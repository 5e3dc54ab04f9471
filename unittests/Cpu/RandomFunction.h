// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Test help: seeded random integer osa functions, with ranges derived by plain
// interval arithmetic, and frames for them.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "rhizome/Dialect/Osa/Osa.h"
#include "rhizome/Support/Tensor.h"
#include <random>

namespace rhizome::test {
class RandomFunction {
public:
  /// Builds a function of `length` operations into its own module.
  RandomFunction(mlir::MLIRContext &context, unsigned seed, unsigned length);

  mlir::func::FuncOp func() { return function; }
  mlir::ModuleOp module() { return *owner; }
  /// A frame of random inputs; every other one has only extreme values.
  std::vector<Tensor> frame();

private:
  int64_t pick(int64_t lo, int64_t hi);
  bool coin() { return pick(0, 1); }
  num::IntType element(mlir::Value v) { return num::elementInt(v.getType()); }
  llvm::ArrayRef<int64_t> shape(mlir::Value v);
  mlir::RankedTensorType type(llvm::ArrayRef<int64_t> shape, __int128 lo,
                              __int128 hi);
  num::IntType randomInt(unsigned maxWidth);
  mlir::Value constant(llvm::ArrayRef<int64_t> shape, num::IntType type);
  mlir::Value argument(llvm::ArrayRef<int64_t> shape, num::IntType type);
  /// One more operation on `v`; null if the draw does not fit its shape.
  mlir::Value step(mlir::Value v);
  mlir::Value conv2d(mlir::Value v);
  mlir::Value dense(mlir::Value v);
  mlir::Value matmul(mlir::Value v);
  mlir::Value pool(mlir::Value v, bool sum);
  mlir::Value requantize(mlir::Value v);
  mlir::Value threshold(mlir::Value v);
  mlir::Value table(mlir::Value v);
  mlir::Value rows(mlir::Value v);
  mlir::Value scaledAdd(mlir::Value v);
  mlir::Value pair(mlir::Value v);
  mlir::Value gather(mlir::Value v);
  mlir::Value concat(mlir::Value v);
  mlir::Value pad(mlir::Value v);
  mlir::Value transpose(mlir::Value v);
  mlir::Value reshape(mlir::Value v);

  std::mt19937_64 random;
  mlir::OpBuilder b;
  mlir::Location loc;
  mlir::OwningOpRef<mlir::ModuleOp> owner;
  mlir::func::FuncOp function;
  bool extremes = false;
};
} // namespace rhizome::test
