// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Quotients of products of float32 numbers, exactly, and integers times them.
#pragma once

#include "llvm/ADT/APInt.h"

namespace rhizome::importer {
/// A positive float32 number as a multiple of 2^-kScale, exactly, in a type
/// that is wide enough for sums of products of four of them.
constexpr int kScale = 160;
llvm::APInt fixedPoint(double value);
/// An integer of that width.
llvm::APInt wideInteger(int64_t value);

/// A quotient of positive numbers.
struct Ratio {
  llvm::APInt over = wideInteger(1), under = wideInteger(1);

  Ratio &times(double value);
  Ratio &dividedBy(double value);
};

/// a / b rounded half to even; b is positive.
int64_t roundedQuotient(const llvm::APInt &a, const llvm::APInt &b);
/// The least integer that, times `ratio`, rounds to `level` or more.
int64_t leastFor(int64_t level, const Ratio &ratio);
} // namespace rhizome::importer
