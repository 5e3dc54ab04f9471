// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How a product that is too large for one DSP block is split over several, so
// that there are registers between a block and the adders after it.
#pragma once

#include "rhizome/Cost/CostModel.h"

namespace rhizome::gen {
/// Low bits of the multiplier that are multiplied separately, and bits of the
/// other operand per block (0: all); see rhz_requant and rhz_mul.
struct ProductCut {
  int64_t split = 0, slice = 0;
};

/// The cut of a multiplier of m signed bits times x signed bits.
ProductCut productCut(int64_t m, int64_t x, const CostContext &context);
} // namespace rhizome::gen
