// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The `num` dialect's C++ face: the integer element type and helpers that ask
// a tensor type for it.
#pragma once

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"

#include "rhizome/Dialect/Num/NumDialect.h.inc"

#define GET_TYPEDEF_CLASSES
#include "rhizome/Dialect/Num/NumTypes.h.inc"

namespace rhizome::num {
/// The integer element type of a tensor type, or null if its elements are not
/// `!num.int`.
IntType elementInt(mlir::Type tensor);

/// Bits that a two's-complement (lo < 0) or unsigned (lo ≥ 0) integer needs to
/// hold lo..hi; at least 1.
unsigned bitsForRange(int64_t lo, int64_t hi);
} // namespace rhizome::num
