// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The one door for files of users: what a path names, by its content.
#pragma once

#include "llvm/ADT/StringRef.h"

namespace rhizome::model {
enum class InputKind {
  Onnx,        ///< also what is nothing else: its importer says what is wrong
  MlirNetwork, ///< MLIR that computes a network on reals
  IntegerNetwork, ///< MLIR that holds a network of integers
  Kernel,         ///< in the kernel language, or as MLIR
  KernelFolder,   ///< what compileKernel wrote
  Folder          ///< any other folder, such as a package
};

/// Looks into the file; its name decides nothing but between the kernel
/// language and ONNX, where it ends in .cfd.
InputKind inputKind(llvm::StringRef path);

/// True for the kinds that the commands on kernels take.
inline bool isKernel(InputKind kind) {
  return kind == InputKind::Kernel || kind == InputKind::KernelFolder;
}
/// True for what the CPU can apply to data as it stands.
inline bool runsOnCpu(InputKind kind) {
  return isKernel(kind) || kind == InputKind::MlirNetwork;
}
} // namespace rhizome::model
