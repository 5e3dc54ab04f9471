// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the objects, the C99 text and the LLVM IR of a kernel share.
#pragma once

#include "Buffers.h"
#include "rhizome/Cpu/Kernel.h"

namespace rhizome::kernel {
/// A kernel on buffers.
struct BufferedKernel {
  mlir::OwningOpRef<mlir::ModuleOp> module;
  /// @body: one memref argument for each of the signature's, in their layouts,
  /// then the constants.
  mlir::func::FuncOp body;
  cpu::Constants constants;
};

/// `kernel` itself stays as it is. Fails with a diagnostic.
mlir::FailureOr<BufferedKernel> bufferizeKernel(mlir::func::FuncOp kernel,
                                                const Signature &signature);

/// Adds to `module` the part of a kernel that computes `outputs` from `inputs`,
/// as a function of these alone.
mlir::func::FuncOp extractPart(mlir::ModuleOp module, mlir::func::FuncOp kernel,
                               llvm::StringRef name,
                               llvm::ArrayRef<mlir::Value> inputs,
                               llvm::ArrayRef<mlir::Value> outputs);

/// Adds @NAME_range(arrays, first, last), which calls @body for elements first
/// to last - 1, packing arrays that do not have the declared layout.
void addRange(mlir::ModuleOp module, const Signature &signature,
              const cpu::Constants &constants, int64_t scratchBytes);

/// LLVM IR of NAME_run and NAME_fortran, which call NAME_range.
std::string entryPoints(const Signature &signature);
} // namespace rhizome::kernel
