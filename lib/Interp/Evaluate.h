// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Shared by the interpreter's files: the operands, decoded attributes and the
// result of the operation being evaluated.
#pragma once

#include "mlir/IR/BuiltinAttributes.h"
#include "rhizome/Dialect/Osa/Osa.h"
#include "rhizome/Interp/Interpreter.h"
#include "rhizome/Support/Tensor.h"
#include "llvm/ADT/DenseMap.h"

namespace rhizome::interp {
/// An ElementsAttr's values, in the vector that its element type selects.
struct Decoded {
  std::vector<int64_t> ints;
  std::vector<float> floats;
};
using DecodedAttrs = llvm::DenseMap<mlir::Attribute, Decoded>;

/// One evaluation. `out` has its shape, kind and size when it begins.
struct Frame {
  mlir::Operation *op;
  llvm::SmallVector<const Tensor *> in;
  const DecodedAttrs &attrs;
  Tensor out;

  const Decoded &decoded(mlir::Attribute attr) const {
    return attrs.find(attr)->second;
  }
};

/// The values of a tensor as T (int64_t or float).
template <typename T> const std::vector<T> &values(const Tensor &t) {
  if constexpr (std::is_same_v<T, float>)
    return t.floats;
  else
    return t.ints;
}
template <typename T> std::vector<T> &values(Tensor &t) {
  return const_cast<std::vector<T> &>(values<T>(std::as_const(t)));
}

/// The range of the result's integer element type; any int64 for others.
std::pair<int64_t, int64_t> resultRange(mlir::Operation *op);

/// Stores an exact integer in the result, or reports that it exceeds the
/// declared range.
llvm::LogicalResult store(Frame &frame, size_t index, __int128 value);

/// Operations of both levels, of the real and of the integer level.
/// Each fails with a diagnostic, also for operations of another group.
llvm::LogicalResult evaluateCommon(Frame &frame);
llvm::LogicalResult evaluateReal(Frame &frame);
llvm::LogicalResult evaluateInteger(Frame &frame);
bool isCommon(mlir::Operation *op);
bool isReal(mlir::Operation *op);
bool isInteger(mlir::Operation *op);
/// Loops and scalars: linalg, tensor, arith, math and num, on integers and on
/// numbers of every format. `of` returns the values of the enclosing function,
/// null for unknown ones.
llvm::LogicalResult
evaluateLoops(mlir::Operation *op,
              llvm::function_ref<const Tensor *(mlir::Value)> of,
              OverflowEvent *overflow, llvm::SmallVectorImpl<Tensor> &results);
bool isLoop(mlir::Operation *op);
} // namespace rhizome::interp
