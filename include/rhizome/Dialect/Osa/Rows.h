// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The operations along rows: osa.normalize, osa.row_softmax, osa.row_norm.
#pragma once

#include "rhizome/Dialect/Osa/Osa.h"

#define GET_OP_CLASSES
#include "rhizome/Dialect/Osa/Rows.h.inc"

namespace rhizome::osa {
/// The bits of a root (osa.row_norm), and of its reciprocal less one.
constexpr int64_t kRootBits = 16;

/// What bounds the numbers of an osa.row_norm.
struct RowNormShape {
  int64_t elements; ///< of a row, C
  /// The largest |x − zero|, and the largest |C·(x − zero) − A|.
  int64_t most, mostDifference;
  __int128 mostSquare; ///< the largest W
  int64_t digits;      ///< the most digits of W to the base 4
  int64_t mostResult;  ///< the largest |out|
};
RowNormShape rowNormShape(RowNormOp op);

/// ⌊√C · 2^fraction · (1 + 2^−14) + 1⌋.
int64_t mostNormalized(int64_t elements, int64_t fraction);
/// Digits to the base 4.
int64_t digitsOf(__int128 value);
} // namespace rhizome::osa
