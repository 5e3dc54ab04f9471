// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels as MLIR: one function on tensors whose body is linalg operations, one
// for each statement and each reduction inside one. What linalg cannot express
// is in attributes of the dialect `rhizome` (Dialect/Marks/Marks.def). An
// argument and a result of one name are one variable of the caller.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "rhizome/Import/Kernel/Program.h"
#include "llvm/Support/Error.h"

namespace rhizome::kernel {
/// Loads the dialects that kernels use.
void loadDialects(mlir::MLIRContext &context);

/// Also loads the dialects of external modules: affine, memref, scf, vector.
void loadForeignDialects(mlir::MLIRContext &context);

/// The program as a module of one function. With `reassociate` its arithmetic
/// may be reordered and contracted (`fastmath<reassoc,contract>`).
mlir::OwningOpRef<mlir::ModuleOp> buildModule(mlir::MLIRContext &context,
                                              const Program &program,
                                              bool reassociate);

/// The kernel function of a module: the marked one, or the only
/// one with a body.
llvm::Expected<mlir::func::FuncOp> findKernel(mlir::ModuleOp module);

/// A kernel as text of the language, in the index form, which parses to the
/// same kernel. Fails on what the language cannot express.
llvm::Expected<std::string> printProgram(mlir::func::FuncOp kernel);
} // namespace rhizome::kernel
