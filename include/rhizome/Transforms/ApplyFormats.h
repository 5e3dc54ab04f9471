// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Applies chosen number formats to a kernel: `num-apply-formats` as a function.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "rhizome/Numeric/Arithmetic.h"

namespace rhizome {
/// How a kernel's numbers are chosen.
struct FormatChoice {
  /// For values that no annotation reaches; none: they are not changed.
  std::optional<numeric::Format> format;
  numeric::Rounding rounding = numeric::Rounding::NearestEven;
  bool saturate = false; ///< otherwise fixed point wraps, floats go to infinity
  bool fused = false;    ///< products and their sums are rounded once
};

/// Whether an argument, a result or an operation of a kernel is annotated with
/// a format.
bool isAnnotated(mlir::func::FuncOp func);

/// Rewrites `func`, a kernel in f64 or f32, in place. Formats come from the
/// attribute `rhizome.format` of arguments, results and operations and from
/// `choice`. Fails with a diagnostic at a value with contradicting annotations
/// or at an operation that does not exist in formats.
llvm::LogicalResult applyFormats(mlir::func::FuncOp func,
                                 const FormatChoice &choice);
} // namespace rhizome
