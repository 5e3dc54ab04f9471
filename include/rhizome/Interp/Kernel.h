// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The semantics of kernels: `linalg` on tensors of f64, f32 and `num` formats,
// executable, bit-accurate, in the order in which the operations' loops stand.
// The CPU path is tested against it.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "rhizome/Numeric/Arithmetic.h"
#include <vector>

namespace rhizome {
/// Row-major numbers in one format, as patterns.
struct NumberTensor {
  std::vector<int64_t> shape;
  numeric::Format format;
  std::vector<numeric::Bits> values;

  /// Doubles, rounded to nearest even and saturated where they do not fit.
  static NumberTensor ofDoubles(std::vector<int64_t> shape,
                                const std::vector<double> &values,
                                const numeric::Format &format);
  std::vector<double> toDoubles() const;
};

/// Results that left their format.
struct OverflowEvent {
  std::vector<mlir::Operation *> ops; ///< whose, each once, as they happened
  uint64_t count = 0;                 ///< of all such results
};

/// Evaluates `func` once. Arguments and results are tensors or scalars of f64,
/// f32 or `num` formats; a scalar is a tensor of rank 0. If `overflow` is
/// given, it gets the operations whose results did not fit. Fails with a
/// diagnostic at the operation if one is unknown.
llvm::FailureOr<std::vector<NumberTensor>>
interpretKernel(mlir::func::FuncOp func, llvm::ArrayRef<NumberTensor> inputs,
                OverflowEvent *overflow = nullptr);
} // namespace rhizome
