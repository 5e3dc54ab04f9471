// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The single entry for users' files: the kind of a file, by its content.
#pragma once

#include "llvm/ADT/StringRef.h"

namespace rhizome::model {
enum class InputKind {
  Onnx,           ///< also anything unknown: its importer reports the problem
  MlirNetwork,    ///< MLIR that computes a network on reals
  IntegerNetwork, ///< MLIR with a network of integers
  BrokenMlir,     ///< MLIR that cannot be read: its importer reports why
  Kernel,         ///< in the kernel language, or as MLIR
  KernelFolder,   ///< the output folder of compileKernel
  KernelPackage,  ///< a package with a kernel's hardware
  Folder          ///< any other folder, such as a package
};

/// Looks into the file; its name only decides between the kernel
/// language and ONNX, if it ends in .cfd.
InputKind inputKind(llvm::StringRef path);

/// True for the kinds that the commands on kernels accept.
inline bool isKernel(InputKind kind) {
  return kind == InputKind::Kernel || kind == InputKind::KernelFolder;
}
/// True for kinds that the CPU can apply to data directly.
inline bool runsOnCpu(InputKind kind) {
  return isKernel(kind) || kind == InputKind::MlirNetwork ||
         kind == InputKind::BrokenMlir;
}
} // namespace rhizome::model
