// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Folding of constant nodes: shape arithmetic and what exporters leave around
// weights. Every float result is rounded to its tensor's precision, integers of
// every width are exact, and tensors may be empty.
#pragma once

#include "Constant.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace mlir {
class MLIRContext;
} // namespace mlir

namespace rhizome::importer {
enum class Fold { NotFoldable, Folded, Failed };

/// A node whose inputs are all constant, absent optional ones null.
struct Folding {
  const Node &node;
  llvm::ArrayRef<HostRef> inputs;
  mlir::MLIRContext *context;
  int64_t limit;     ///< elements of the result
  std::string error; ///< what is wrong, after a failure

  Fold fail(std::string why) {
    error = std::move(why);
    return Fold::Failed;
  }
  const HostTensor *in(size_t i) const {
    return i < inputs.size() ? inputs[i].get() : nullptr;
  }
  /// A result of `type` and `shape`, allocated; null (with the error set) if
  /// it would be too large.
  std::shared_ptr<HostTensor> make(int type, Shape shape);
  /// Integers in input `i`, else in the attribute.
  std::optional<std::vector<int64_t>> integers(size_t i,
                                               llvm::StringRef attribute) const;
};

/// The offset in a tensor of `shape` that broadcasts to the current `index`.
size_t broadcastOffset(llvm::ArrayRef<int64_t> shape,
                       llvm::ArrayRef<int64_t> index);
/// Calls `visit(index)` for every index of `shape`, in row-major order.
void forEachIndex(llvm::ArrayRef<int64_t> shape,
                  llvm::function_ref<void(llvm::ArrayRef<int64_t>)> visit);

namespace fold {
// FoldMoves.cpp
Fold constant(Folding &f, HostRef &out);
Fold constantOfShape(Folding &f, HostRef &out);
Fold gather(Folding &f, HostRef &out);
Fold concat(Folding &f, HostRef &out);
Fold slice(Folding &f, HostRef &out);
Fold expand(Folding &f, HostRef &out);

// FoldArithmetic.cpp
Fold cast(Folding &f, HostRef &out);
Fold binary(Folding &f, HostRef &out);
Fold unary(Folding &f, HostRef &out);
} // namespace fold
} // namespace rhizome::importer
