// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The algebra of kernels: how much work a kernel is, and the same kernel with
// less of it. Works on any function of linalg operations on tensors, also on
// one that came as MLIR.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace rhizome::kernel {
/// Arithmetic of one application. A multiply-accumulate is one product of an
/// iteration added to a sum; of arithmetic operations every one counts, an
/// accumulation as one.
struct Work {
  int64_t macs = 0;
  int64_t operations = 0;
};
Work workOf(mlir::func::FuncOp kernel);

/// Multiply-accumulates and operations of each linalg operation, in order.
std::vector<std::pair<mlir::Operation *, Work>>
workByOperation(mlir::func::FuncOp kernel);

/// True for a tensor that a linalg.fill gives zeros.
bool isZeroFilled(mlir::Value tensor);

/// Where an intermediate's new indices stand.
enum class IndexOrder {
  InPlace, ///< of the summed one: a step changes one dimension, none moves
  First,   ///< in front: contracting the last index each time restores the
           ///< order and needs no transpose as a matrix product
};

/// Common subexpressions once, elementwise operations fused, and sums of
/// products contracted two factors at a time in the cheapest order: exact
/// dynamic programming over the subsets of up to ten factors, where a step
/// costs the product of the extents of both sides' live indices; of equal
/// orders the one with the smallest largest intermediate is taken. Sums are
/// touched only if their arithmetic says `fastmath<reassoc>`.
mlir::LogicalResult factorizeProducts(mlir::func::FuncOp kernel,
                                      IndexOrder order = IndexOrder::InPlace);

/// Every contraction whose indices fall into rows, columns and summed ones
/// becomes a linalg.matmul on collapsed operands (transpose, transpose, GEMM,
/// transpose), if its sums begin at zero. Transposes that a matmul's maps can express are not written.
/// Returns the number of matmuls.
int64_t formMatmuls(mlir::func::FuncOp kernel);
} // namespace rhizome::kernel
