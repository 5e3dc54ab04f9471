// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Functions of nodes out of the network's.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace rhizome::explore {
/// `@<name>` behind `after`: a copy of `ops` (of `network`, operands first)
/// with their constants and reshapes. Values that others compute become
/// arguments, values that others or the host read results; both carry the
/// tensor's name and, as "rhizome.value", its number in `values`, to which new
/// ones are added. `passing` are values that come in and go on. "rhizome.input"
/// and "rhizome.outputs" are the network's argument and results that they are.
/// `copies[i]` is the copy of ops[i].
mlir::func::FuncOp cutFunction(mlir::func::FuncOp network,
                               llvm::ArrayRef<mlir::Operation *> ops,
                               llvm::ArrayRef<mlir::Value> passing,
                               llvm::StringRef name, mlir::Operation *after,
                               llvm::SmallVectorImpl<mlir::Value> &values,
                               std::vector<mlir::Operation *> &copies);
} // namespace rhizome::explore
