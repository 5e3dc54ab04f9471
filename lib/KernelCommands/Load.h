// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels from their files into memory, and what MLIR says of them as text with
// places in these files.
#pragma once

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "rhizome/Import/Kernel/Program.h"
#include "rhizome/Import/Kernel/Signature.h"
#include "rhizome/KernelCommands/Kernel.h"
#include "llvm/Support/Error.h"
#include <memory>

namespace rhizome::kernelcommands {
/// A kernel in memory.
struct Loaded {
  std::unique_ptr<mlir::MLIRContext> own; ///< null: the context is a caller's
  mlir::MLIRContext *context = nullptr;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::func::FuncOp func;
  kernel::Signature signature;
};

/// The kernel's file: itself, or the one in a folder.
std::string sourceOf(const std::string &path);
/// A kernel from its file, in any notation, in a context of its own unless one
/// is given. A failure has the places in it.
llvm::Expected<Loaded> load(const std::string &path,
                            const KernelOptions &options,
                            mlir::MLIRContext *context = nullptr);
/// A kernel in the language from text.
llvm::Expected<Loaded> loadText(const kernel::Source &source,
                                const std::string &name,
                                const KernelOptions &options,
                                mlir::MLIRContext *context = nullptr);

/// Collects what MLIR says as long as it lives:
/// "kernel.mlir:3:8: error: …", as mistakes in the language are shown.
class PlacedDiagnostics {
public:
  explicit PlacedDiagnostics(mlir::MLIRContext &context);
  /// All of it, then what else is known; ends without a line break.
  llvm::Error error(const llvm::Twine &remedy) const;
  const std::string &text() const { return all; }

private:
  std::string all;
  mlir::ScopedDiagnosticHandler handler;
};
} // namespace rhizome::kernelcommands
