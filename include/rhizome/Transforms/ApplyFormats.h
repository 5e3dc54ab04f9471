// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Chosen number formats put into a kernel: `num-apply-formats` as a function.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "rhizome/Numeric/Arithmetic.h"

namespace rhizome {
/// How a kernel's numbers are chosen.
struct FormatChoice {
  /// Of values that no annotation reaches; none: they stay as they are.
  std::optional<numeric::Format> format;
  numeric::Rounding rounding = numeric::Rounding::NearestEven;
  bool saturate = false; ///< else fixed point wraps, floats go to infinity
  bool fused = false;    ///< products and their sums are rounded once
};

/// Rewrites `func`, a kernel in f64 or f32, in place. Formats come from the
/// attribute `rhizome.format` of arguments, results and operations and from
/// `choice`. Fails with a diagnostic at a value whose annotations contradict or
/// at an operation that formats do not have.
llvm::LogicalResult applyFormats(mlir::func::FuncOp func,
                                 const FormatChoice &choice);
} // namespace rhizome
