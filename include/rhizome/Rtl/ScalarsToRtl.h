// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Scalar integer arithmetic, as in the body of a loop nest, to `rtl` logic.
#pragma once

#include "mlir/IR/Builders.h"

namespace rhizome {
/// True if an operation has logic: on signless integers, no division.
bool hasRtlLogic(mlir::Operation &op);

/// The logic of an operation on signals of its operands' widths, at the
/// builder's insertion point. Fixed point is integers here
/// (`convert-num-to-arith`). Fails with a diagnostic at an operation that has
/// no logic.
mlir::FailureOr<mlir::Value>
scalarToRtl(mlir::Operation &op, mlir::ValueRange operands, mlir::OpBuilder &b);
} // namespace rhizome
