// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The steps from a kernel on tensors to loops on buffers, shared by the object
// and the C99 paths.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "rhizome/Kernel/Cpu.h"

namespace rhizome::kernel {
/// Loads the dialects and interfaces that lowering needs.
void loadLoweringDialects(mlir::MLIRContext &context);

/// A new module whose function @body is the kernel on buffers: one memref
/// argument for each of the signature's, in their layouts. Tensors inside are
/// memref.alloc without deallocation.
mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>>
bufferise(mlir::func::FuncOp kernel, const Signature &signature);

/// Registers of the processor's vector unit.
struct VectorUnit {
  unsigned bits = 128, registers = 16;
};

/// Linalg operations on buffers to register-blocked vector loops, where their
/// subscripts allow it; others stay.
void vectorise(mlir::func::FuncOp body, const VectorUnit &unit);

/// Replaces allocations by views of one scratch buffer, a new last argument of
/// the function: buffers whose lifetimes do not overlap share their place
/// (left-edge order). Returns the buffer's bytes.
int64_t shareScratch(mlir::func::FuncOp body);

/// Adds @NAME_range(arrays, first, last), which calls @body for elements first
/// to last - 1, packing arrays that do not have the declared layout.
void addRange(mlir::ModuleOp module, const Signature &signature,
              int64_t scratchBytes);

/// LLVM IR of NAME_run and NAME_fortran, which call NAME_range.
std::string entryPoints(const Signature &signature);
} // namespace rhizome::kernel
