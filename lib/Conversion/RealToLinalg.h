// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// convert-osa-to-linalg for host functions.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace rhizome {
/// Rewrites a function with real-level operations as loops.
llvm::LogicalResult convertRealFunction(mlir::func::FuncOp func);
} // namespace rhizome
