// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What phases and commands do with a kernel, one step after the other: its
// algebra, its number formats, its nests, its integers.
#pragma once

#include "KernelFile.h"

namespace rhizome::kernelcommands {
/// The algebra: the same with less work. The result's counts and statements are
/// those of this kernel.
llvm::Error normalizeKernel(mlir::func::FuncOp kernel,
                            const KernelOptions &options, KernelResult &result);

/// Number formats, as chosen and annotated; a kernel without any becomes nests
/// in reals.
llvm::Error quantizeKernel(mlir::func::FuncOp kernel,
                           const KernelOptions &options);

/// Nests as hardware has them: one for each result, and one for each part of a
/// tensor that is written alone.
void separateNests(mlir::func::FuncOp kernel);

/// A module's kernel after these steps, with sums in another order. The module
/// stays as it is, and owns the context.
llvm::Expected<NumberedKernel> numberedOf(mlir::ModuleOp module,
                                          llvm::ArrayRef<SumChoice> sums,
                                          bool isForUnits = true);

/// For the CPU: formats and the chosen orders of sums; returns whether there
/// are any formats.
llvm::Expected<bool> chooseNumbers(mlir::func::FuncOp kernel,
                                   const KernelOptions &options);
/// Numbers in formats to integers, for the CPU or for units of our own.
llvm::Error lowerNumbers(mlir::ModuleOp module, bool isForUnits = false);
/// Both.
llvm::Error numbersToCpu(mlir::func::FuncOp kernel,
                         const KernelOptions &options);
} // namespace rhizome::kernelcommands
