// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tensors that lie in the memory of others, on integers or still in formats.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace rhizome::gen::loops {
/// Where a tensor's elements are: in its own memory, or in that of a tensor
/// that it is a part of.
struct View {
  /// An index of the base: `first`, plus `step` times the index `of` of the
  /// tensor, if there is one.
  struct Dimension {
    int64_t first = 0, step = 1;
    std::optional<unsigned> of;
  };
  mlir::Value base;
  std::vector<Dimension> dims; ///< of the base
};
View viewOf(mlir::Value tensor);

/// An index as a constant plus multiples of loops.
struct Index {
  int64_t constant = 0;
  std::vector<int64_t> scale; ///< by loop
  /// Adds a multiple of an expression; false if it is not such a sum.
  bool add(mlir::AffineExpr expr, int64_t by);
};
/// The tensor in whose memory a tensor is.
mlir::Value baseOf(mlir::Value tensor);

/// True if a part is computed where it belongs: by a nest of its own, when
/// nothing needs any longer what was there.
bool isInPlace(mlir::tensor::InsertSliceOp insert);

/// Makes loop nests with bodies of contractions and other named operations, so
/// that sums can be split and hardware be built.
void generalizeAll(mlir::func::FuncOp kernel);

/// A nest before `op` that copies a tensor.
mlir::Value copyOf(mlir::Value tensor, mlir::Operation *op);

/// Before conversion to integers: copies parts of tensors, and tensors that are
/// put together, wherever a part cannot be computed in its place.
void separateParts(mlir::func::FuncOp kernel);
} // namespace rhizome::gen::loops
