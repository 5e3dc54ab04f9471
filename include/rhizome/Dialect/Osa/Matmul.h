// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The operation osa.matmul.
#pragma once

#include "rhizome/Dialect/Osa/Osa.h"

namespace rhizome::osa {
/// The sizes of a matmul, and how its operands lie in memory.
struct MatmulShape {
  int64_t outer, batch, rows, inner, columns; ///< O, B, M, K, N
  std::array<int64_t, 3> axes;                ///< of rhs: batch, K, N

  /// The right operand's stride along an axis: 0 batch, 1 K, 2 N.
  int64_t stride(int axis) const {
    const int64_t sizes[] = {batch, inner, columns};
    int64_t stride = 1;
    for (int i = 0; i < 3; ++i)
      if (axes[i] > axes[axis])
        stride *= sizes[i];
    return stride;
  }
};
} // namespace rhizome::osa

#define GET_OP_CLASSES
#include "rhizome/Dialect/Osa/Matmul.h.inc"

namespace rhizome::osa {
MatmulShape matmulShape(MatmulOp op);
} // namespace rhizome::osa
