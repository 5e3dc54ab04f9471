// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From `linalg.generic` to a scheduled loop.
#pragma once

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
/// The elements that a nest reads or writes, counted in row-major order.
struct Reach {
  int64_t first = 0;          ///< in the first iteration
  std::vector<int64_t> steps; ///< by loop of `Nest::order`
};
/// All indices of the operand are linear.
Reach reachOf(const Nest &nest, mlir::OpOperand &operand);
/// The constant that all of a tensor's elements have; nothing if they differ
/// or are computed.
std::optional<llvm::APInt> uniformValue(mlir::Value tensor);
} // namespace rhizome::gen::hls
