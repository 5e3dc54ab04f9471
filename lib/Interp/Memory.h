// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Buffers: what reads and writes them element by element, and the affine
// expressions that say where.
#pragma once

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "rhizome/Support/Tensor.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace rhizome::interp {
/// What the values of a function hold: numbers, and the buffers that may be
/// written; null for a value that has none.
struct Values {
  llvm::function_ref<const Tensor *(mlir::Value)> of;
  llvm::function_ref<Tensor *(mlir::Value)> buffer;
};

/// True for loads, stores and copies of buffers, and for affine.apply, min and
/// max. What makes buffers is not among them.
bool isOnMemory(mlir::Operation *op);
/// One of these; the value of its result, if it has one, goes to `result`.
/// Fails with a diagnostic, also for an access outside of a buffer.
llvm::LogicalResult evaluateOnMemory(mlir::Operation *op, const Values &values,
                                     std::optional<Tensor> &result);

/// The first trip and the end of a loop; nothing if a value is unknown.
std::optional<std::pair<int64_t, int64_t>>
boundsOf(mlir::affine::AffineForOp op, const Values &values);
} // namespace rhizome::interp
