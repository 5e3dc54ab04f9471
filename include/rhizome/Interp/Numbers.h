// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tensors of numbers in any format: conversion from and to doubles and
// patterns.
#pragma once

#include "mlir/IR/BuiltinTypes.h"
#include "rhizome/Numeric/Arithmetic.h"
#include "rhizome/Support/Tensor.h"

namespace rhizome {
/// Zeros of a tensor type, or one of a scalar type, whose elements are integers
/// of at most 64 bits, or reals.
Tensor zeros(mlir::Type type);

/// Doubles, rounded to nearest even and saturated if they do not fit.
Tensor numbersOf(std::vector<int64_t> shape, llvm::ArrayRef<double> values,
                 const numeric::Format &format);
std::vector<double> doublesOf(const Tensor &tensor);

/// The format of a tensor's elements; 64 bits for integers.
numeric::Format formatOf(const Tensor &tensor);

/// Elements as patterns of their format, and tensors of patterns.
std::vector<numeric::Bits> patternsOf(const Tensor &tensor);
Tensor ofPatterns(std::vector<int64_t> shape,
                  llvm::ArrayRef<numeric::Bits> patterns,
                  const numeric::Format &format);
} // namespace rhizome
