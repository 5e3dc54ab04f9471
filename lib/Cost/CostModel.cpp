// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The model of a family that was not characterized, and how products are split
// into DSP blocks.
#include "rhizome/Cost/CostModel.h"
#include "rhizome/Cost/ProductCut.h"
#include "rhizome/Cost/Structure.h"
#include <algorithm>

namespace rhizome::gen {
const CostModel::Unit &CostModel::of(std::string_view name) const {
  static const Unit plain = [] {
    Unit unit;
    unit.lut.fill(1);
    return unit;
  }();
  auto found = units.find(name);
  return found == units.end() ? plain : found->second;
}

// Wider operands are split into pieces, of which all except the top one lose a
// bit to the sign. A top piece of two bits goes to LUTs, except on AMD.
int64_t dspTiles(int64_t a, int64_t b, const CostContext &ctx) {
  auto pieces = [&](int64_t bits, int64_t port) {
    if (bits <= port)
      return int64_t(1);
    int64_t n = cost::ceilDiv(bits - 1, port - 1);
    return !ctx.shiftRegisters && bits - (port - 1) * (n - 1) <= 2 ? n - 1 : n;
  };
  return std::min(pieces(a, ctx.dspWide) * pieces(b, ctx.dspNarrow),
                  pieces(b, ctx.dspWide) * pieces(a, ctx.dspNarrow));
}

ProductCut productCut(int64_t m, int64_t x, const CostContext &ctx) {
  int64_t wide = ctx.dspWide, narrow = ctx.dspNarrow;
  int64_t port = x <= narrow ? wide : narrow; // the port that x leaves for m
  return {std::max<int64_t>(0, m - port), x > wide ? wide - 1 : 0};
}
} // namespace rhizome::gen
