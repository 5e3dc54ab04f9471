// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The C++ interface of the `num` dialect: the integer element type, number
// formats as types, and helpers that query them.
#pragma once

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "rhizome/Numeric/Format.h"

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

/// The format of a scalar or of a tensor's elements: for `!num.fixed`,
/// `!num.float`, f64 and f32; nothing for other types.
std::optional<numeric::Format> formatOf(mlir::Type type);

/// `!num.fixed` or `!num.float`.
mlir::Type typeOf(mlir::MLIRContext *context, const numeric::Format &format);
} // namespace rhizome::num
