// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Networks in MLIR: `linalg` on tensors, as exporters of PyTorch write it, and
// `osa`. The result is the same as that of the ONNX importer for the same
// network.
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
/// True for bytes that begin like MLIR: bytecode, or text that starts with
/// an operation or an alias.
bool isMlir(llvm::StringRef bytes);

/// The purpose of the functions of a module.
enum class MlirKind {
  /// Without parameters of its own, or marked `rhizome.kernel`.
  Kernel,
  /// Computes on reals, with constant tensors or `osa`.
  Network,
  /// `osa` on integers, as in a package.
  IntegerNetwork
};

/// The purpose of the module in `path`; nullopt if it cannot be read, which a
/// reader of either kind then explains.
std::optional<MlirKind> mlirKind(llvm::StringRef path);

struct MlirOptions {
  /// `--shape`: sizes of inputs. The file defines them itself; others are
  /// refused.
  std::map<std::string, std::vector<int64_t>> shapes;
  /// `--input-type`: inputs with whole numbers, {signed, bits}.
  std::map<std::string, std::pair<bool, unsigned>> inputTypes;
};

/// Reads the module in `path`, text or bytecode.
///
/// For a network on reals, the result is one `func.func @main` of real-level
/// `osa`, with loops of `linalg` for what the host computes: the contract of
/// importOnnx(). Arguments and results are named by `rhizome.name`, by their
/// locations, or input0, output0 and so on; a location of an operation is a
/// NameLoc, whose child is a NameLoc with the operation's name in the file.
/// For a network on integers, the result is a graph of tasks, as made by
/// integerize(). leaves it.
///
/// Returns null if anything is refused; `refusals` then lists everything that
/// was found, by place in the file.
mlir::OwningOpRef<mlir::ModuleOp> importMlir(mlir::MLIRContext *context,
                                             llvm::StringRef path,
                                             const MlirOptions &options,
                                             Refusals &refusals);

/// The same for text or bytecode in memory; locations refer to `name`.
mlir::OwningOpRef<mlir::ModuleOp> importMlirBuffer(mlir::MLIRContext *context,
                                                   llvm::StringRef bytes,
                                                   llvm::StringRef name,
                                                   const MlirOptions &options,
                                                   Refusals &refusals);
} // namespace rhizome::importer
