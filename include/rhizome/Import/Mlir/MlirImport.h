// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Networks as MLIR: `linalg` on tensors, as exporters of PyTorch write it, and
// `osa`. What comes out is what the ONNX importer gives for the same network.
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "rhizome/Support/Refusal.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace rhizome::importer {
/// True for bytes that begin as MLIR does: bytecode, or text that starts with
/// an operation or an alias.
bool isMlir(llvm::StringRef bytes);

/// What the functions of a module are for.
enum class MlirKind {
  /// Without parameters of its own, or marked `rhizome.kernel`.
  Kernel,
  /// Computes on reals, with constant tensors or `osa`.
  Network,
  /// `osa` on integers, as a package holds it.
  IntegerNetwork
};

/// What the module in `path` is; nullopt if it cannot be read, which a reader
/// of either kind then explains.
std::optional<MlirKind> mlirKind(llvm::StringRef path);

struct MlirOptions {
  /// `--shape`: sizes of inputs. A file says them itself; others are refused.
  std::map<std::string, std::vector<int64_t>> shapes;
  /// `--input-type`: inputs that hold whole numbers, {signed, bits}.
  std::map<std::string, std::pair<bool, unsigned>> inputTypes;
};

/// Reads the module in `path`, text or bytecode.
///
/// Of a network on reals the result holds one `func.func @main` of real-level
/// `osa`, with loops of `linalg` for what the host computes: the contract of
/// importOnnx(). Arguments and results are named by `rhizome.name`, by their
/// locations, or input0, output0 and so on; a location of an operation is a
/// NameLoc, whose child is a NameLoc with the operation's name in the file.
/// Of a network on integers the result is a graph of tasks, as integerize()
/// leaves it.
///
/// Returns null if anything is refused; `refusals` then lists everything that
/// was found, by place in the file.
mlir::OwningOpRef<mlir::ModuleOp> importMlir(mlir::MLIRContext *context,
                                             llvm::StringRef path,
                                             const MlirOptions &options,
                                             Refusals &refusals);

/// The same for text or bytecode in memory; places are told in `name`.
mlir::OwningOpRef<mlir::ModuleOp> importMlirBuffer(mlir::MLIRContext *context,
                                                   llvm::StringRef bytes,
                                                   llvm::StringRef name,
                                                   const MlirOptions &options,
                                                   Refusals &refusals);
} // namespace rhizome::importer
