// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels as MLIR: one function on tensors whose body is linalg operations, one
// for each statement and each reduction inside one. What linalg cannot express
// is in attributes of the dialect `rhizome`:
//   rhizome.kernel                 on the function: it is a kernel
//   rhizome.elements = N           on the function: elements of its elem loop
//   rhizome.name = "t"             the variable's name; on arguments, results
//                                  and operations
//   rhizome.format = "fixed<8,24>" the number format that the user chose; there
//   rhizome.accuracy = 1.0e-9      the largest relative error wanted; there
//   rhizome.column_major           its first index is the fastest
//   rhizome.halo = array<i64: lo, hi, …>   margins that the type includes
//   rhizome.element_first          has an element dimension, the first
//   rhizome.element_last           has an element dimension, the last
// An argument and a result of one name are one variable of the caller.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "rhizome/Import/Kernel/Program.h"
#include "llvm/Support/Error.h"

namespace rhizome::kernel {
inline constexpr llvm::StringLiteral kKernelAttr = "rhizome.kernel";
inline constexpr llvm::StringLiteral kElementsAttr = "rhizome.elements";
inline constexpr llvm::StringLiteral kNameAttr = "rhizome.name";
inline constexpr llvm::StringLiteral kFormatAttr = "rhizome.format";
inline constexpr llvm::StringLiteral kAccuracyAttr = "rhizome.accuracy";
inline constexpr llvm::StringLiteral kColumnMajorAttr = "rhizome.column_major";
inline constexpr llvm::StringLiteral kHaloAttr = "rhizome.halo";
inline constexpr llvm::StringLiteral kElementFirstAttr =
    "rhizome.element_first";
inline constexpr llvm::StringLiteral kElementLastAttr = "rhizome.element_last";

/// Owns the attributes above; it has no operations.
class KernelDialect : public mlir::Dialect {
public:
  explicit KernelDialect(mlir::MLIRContext *context);
  static llvm::StringRef getDialectNamespace() { return "rhizome"; }
};

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

MLIR_DECLARE_EXPLICIT_TYPE_ID(rhizome::kernel::KernelDialect)
