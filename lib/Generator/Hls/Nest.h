// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From `linalg.generic` to a scheduled loop.
#pragma once

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "rhizome/Generator/Hls/KernelUnit.h"

namespace rhizome::gen::hls {
/// Registers before and behind a multiplier.
inline constexpr int64_t kProductLatency = 2;

/// Simplifies the body of a nest, in place.
void simplify(mlir::linalg::GenericOp op);

/// Cuts products that are too large for a DSP block into products that are not,
/// and sums of these; in place.
void cutProducts(mlir::linalg::GenericOp op, const CostContext &context);

/// The schedule of a nest without obstacles; fails with a diagnostic if the
/// result is scheduled wrongly.
mlir::FailureOr<Nest> scheduleNest(mlir::linalg::GenericOp op,
                                   const cost::LogicPace &pace);
/// True if an index is a constant plus multiples of loops.
bool isLinear(mlir::AffineExpr index);
/// The elements of a memory that a nest reads or writes.
struct Reach {
  int64_t first = 0;          ///< in the first iteration
  std::vector<int64_t> steps; ///< by loop of `Nest::order`
};
/// All indices of the operand are linear.
Reach reachOf(const Nest &nest, mlir::OpOperand &operand);
/// Where a tensor's elements are: in its own memory, or in that of a tensor
/// that it is a part of.
struct View {
  mlir::Value base;
  int64_t first = 0;            ///< element of the base
  std::vector<int64_t> strides; ///< by dimension, in elements of the base
};
View viewOf(mlir::Value tensor);
/// True if a part is computed where it belongs: by a nest of its own, when
/// nothing needs any longer what was there.
bool isInPlace(mlir::tensor::InsertSliceOp insert);
/// The constant that all of a tensor's elements have; nothing if they differ
/// or are computed.
std::optional<llvm::APInt> uniformValue(mlir::Value tensor);
} // namespace rhizome::gen::hls
