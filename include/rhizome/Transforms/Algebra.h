// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The algebra of kernels: counts the work of a kernel, and reduces it.
// Works on any function of linalg operations on tensors, also on
// one from an MLIR file.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace rhizome::kernel {
/// Arithmetic operations per run. A multiply-accumulate is one product of an
/// iteration added to a sum; arithmetic operations are counted individually, an
/// accumulation as one.
struct Work {
  int64_t macs = 0;
  int64_t operations = 0;
};
Work workOf(mlir::func::FuncOp kernel);

/// Multiply-accumulates and operations of each linalg operation, in order.
std::vector<std::pair<mlir::Operation *, Work>>
workByOperation(mlir::func::FuncOp kernel);

/// True for a tensor that a linalg.fill sets to zeros.
bool isZeroFilled(mlir::Value tensor);

/// The position of an intermediate's new indices.
enum class IndexOrder {
  InPlace, ///< of the summed one: a step changes one dimension and moves none
  First,   ///< first: contracting the last index each time restores the
           ///< order and needs no transpose as a matrix product
};

/// Computes common subexpressions once, fuses elementwise operations, and
/// contracts sums of products two factors at a time in the cheapest order:
/// exact dynamic programming over the subsets of up to ten factors, where a
/// step costs the product of the extents of both sides' live indices; among
/// equal orders the one whose largest intermediate is smallest is taken. Sums
/// are reordered only if their arithmetic has `fastmath<reassoc>`.
mlir::LogicalResult factorizeProducts(mlir::func::FuncOp kernel,
                                      IndexOrder order = IndexOrder::InPlace);

/// Every contraction whose indices fall into rows, columns and summed ones
/// becomes a linalg.matmul on collapsed operands (transpose, transpose, GEMM,
/// transpose), if its sums begin at zero. Transposes that a matmul's maps can
/// express are omitted. Returns the number of matmuls.
int64_t formMatmuls(mlir::func::FuncOp kernel);
} // namespace rhizome::kernel
