// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Extracts nodes' functions from the network's.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "rhizome/Dialect/Marks/Marks.h"

namespace rhizome::explore {
/// `@<name>` after `after`: a copy of `ops` (of `network`, operands first)
/// with their constants and reshapes. Values computed by others become
/// arguments, values read by others or the host become results; both carry the
/// tensor's name and, as marks::kValue, its number in `values`, to which new
/// ones are added. `passing` are values that enter and leave unchanged.
/// marks::kInput and marks::kOutputs refer to the network's argument and
/// results. `copies[i]` is the copy of ops[i]. If the node is the `whole`
/// network, it takes and gives what that does, in the same order.
mlir::func::FuncOp cutFunction(mlir::func::FuncOp network,
                               llvm::ArrayRef<mlir::Operation *> ops,
                               llvm::ArrayRef<mlir::Value> passing, bool whole,
                               llvm::StringRef name, mlir::Operation *after,
                               llvm::SmallVectorImpl<mlir::Value> &values,
                               std::vector<mlir::Operation *> &copies);
} // namespace rhizome::explore
