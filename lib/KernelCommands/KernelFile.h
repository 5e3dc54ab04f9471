// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A kernel read from its file, in any notation, after its algebra passes.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "rhizome/KernelCommands/Kernel.h"
#include "llvm/Support/Error.h"
#include <memory>

namespace rhizome::kernelcommands {
struct KernelFile {
  std::unique_ptr<mlir::MLIRContext> context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::func::FuncOp func;
};
/// In reals: formats are still annotations.
llvm::Expected<KernelFile> readKernel(const std::string &path,
                                      const KernelOptions &options);

/// How the kernel of a folder was compiled; run and simulate use the same
/// options.
inline constexpr const char *kernelOptionsFile = "options.json";
std::string kernelOptionsText(const KernelOptions &options);
/// `options` with the values from the folder's file.
llvm::Expected<KernelOptions> readKernelOptions(const std::string &folder,
                                                KernelOptions options);
} // namespace rhizome::kernelcommands
