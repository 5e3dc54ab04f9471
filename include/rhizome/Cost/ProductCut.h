// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How a product that one DSP block cannot make is shared out over several, so
// that registers lie between a block and the adders behind it.
#pragma once

#include "rhizome/Cost/CostModel.h"

namespace rhizome::gen {
/// Low bits of the multiplier that are multiplied apart, and bits of the other
/// operand that a block takes (0: all); see rhz_requant and rhz_mul.
struct ProductCut {
  int64_t split = 0, slice = 0;
};

/// The cut of a multiplier of m signed bits times x signed bits.
ProductCut productCut(int64_t m, int64_t x, const CostContext &context);
} // namespace rhizome::gen
