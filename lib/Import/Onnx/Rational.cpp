// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Exact quotients of float32 numbers, in integers of a fixed, ample width.
#include "Rational.h"
#include <cmath>

using namespace rhizome;
using namespace rhizome::importer;
using llvm::APInt;

/// Sums of products of four float32 numbers of any exponent, shifted to whole
/// ones, have fewer bits.
constexpr unsigned kBits = 1536;

APInt importer::fixedPoint(double value) {
  int exponent;
  int64_t mantissa = int64_t(std::ldexp(std::frexp(value, &exponent), 24));
  APInt out(kBits, uint64_t(mantissa));
  int shift = exponent - 24 + kScale;
  return shift >= 0 ? out.shl(unsigned(shift)) : out.lshr(unsigned(-shift));
}

APInt importer::wideInteger(int64_t value) {
  return APInt(kBits, uint64_t(value), /*isSigned=*/true);
}

Ratio &Ratio::times(double value) {
  over *= fixedPoint(value);
  under = under.shl(kScale);
  return *this;
}

Ratio &Ratio::dividedBy(double value) {
  under *= fixedPoint(value);
  over = over.shl(kScale);
  return *this;
}

/// a / b rounded down; b is positive.
static APInt floorOf(const APInt &a, const APInt &b) {
  APInt quotient(kBits, 0), rest(kBits, 0);
  APInt::sdivrem(a, b, quotient, rest);
  return rest.isNegative() ? quotient - 1 : quotient;
}

static int64_t saturated(const APInt &v) {
  if (v.isSignedIntN(64))
    return v.getSExtValue();
  return v.isNegative() ? INT64_MIN : INT64_MAX;
}

int64_t importer::roundedQuotient(const APInt &a, const APInt &b) {
  APInt down = floorOf(a, b), rest = (a - down * b).shl(1);
  bool up = rest.ugt(b) || (rest == b && down[0]);
  return saturated(up ? down + 1 : down);
}

int64_t importer::leastFor(int64_t level, const Ratio &ratio) {
  // v · over / under ≥ level − 1/2; a tie goes up to an even level.
  APInt bound = wideInteger(2 * level - 1) * ratio.under,
        step = ratio.over.shl(1);
  APInt down = floorOf(bound, step);
  bool isTie = down * step == bound;
  return saturated(isTie && level % 2 == 0 ? down : down + 1);
}
