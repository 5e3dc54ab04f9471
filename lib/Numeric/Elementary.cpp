// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Argument reduction by log 2 and power series, in fixed point with 200
// fraction bits. Only e^0 and log 1 have exact results.
#include "Elementary.h"
#include "rhizome/Numeric/Constants.h"

using namespace rhizome::numeric;

namespace {
using W = Wide<8>;
constexpr int fraction = 200;
// Beyond these e^x overflows or underflows every format (exponents of at most
// 15 bits, biases of at most 17; fixed point of at most 385 places).
constexpr int hugeTop = 18;
constexpr int hugeExponent = 1 << 22;
} // namespace

/// log 2 with 256 fraction bits.
static W logOfTwo() {
  W r;
  r.word[0] = 0x8a0d175b8baafa2b;
  r.word[1] = 0x40f343267298b62d;
  r.word[2] = 0xc9e3b39803f2f6af;
  r.word[3] = 0xb17217f7d1cf79ab;
  return r;
}

static W power(int bit) {
  W r;
  r.set(bit);
  return r;
}

static W times(const W &a, const W &b) { return (a * b) >> fraction; }

Exact<8> rhizome::numeric::exponential(const Exact<8> &x) {
  using E = Exact<8>;
  E r;
  if (x.isNaN())
    return x;
  if (x.isInfinite())
    return x.negative ? E::zero(false) : x;
  r.magnitude = W(1);
  if (x.isZero())
    return r;
  r.sticky = true;
  if (x.top() >= hugeTop) {
    r.exponent = x.negative ? -hugeExponent : hugeExponent;
    return r;
  }
  // |x| = k log 2 + y with 256 fraction bits, 0 ≤ y < log 2.
  constexpr int wide = 256;
  int shift = x.exponent + wide;
  W a = shift >= 0 ? x.magnitude << shift : x.magnitude >> -shift;
  W y, ln2 = logOfTwo();
  int k = int(a.divide(ln2, y).low());
  if (x.negative) { // −|x| = −(k + 1) log 2 + (log 2 − y)
    k = -(k + 1);
    y = ln2 - y;
  }
  // e^y = (e^(y / 2^8))^(2^8)
  constexpr int halvings = 8;
  W z = y >> (wide - fraction + halvings);
  W term = power(fraction), total = term;
  for (uint64_t n = 1; !term.isZero(); ++n) {
    term = times(term, z).dividedBy(n);
    total = total + term;
  }
  for (int i = 0; i < halvings; ++i)
    total = times(total, total);
  r.magnitude = total;
  r.exponent = k - fraction;
  return r;
}

Exact<8> rhizome::numeric::logarithm(const Exact<8> &x) {
  using E = Exact<8>;
  if (x.isNaN())
    return x;
  if (x.isZero())
    return E::infinity(true);
  if (x.negative)
    return E::nan();
  if (x.isInfinite())
    return x;
  // x = m · 2^k with 3/4 ≤ m < 3/2, log m = 2 artanh((m − 1) / (m + 1)).
  int k = x.top();
  W m = x.magnitude << (fraction - (x.magnitude.length() - 1));
  W one = power(fraction), threeHalves = one + (one >> 1);
  int scale = fraction;
  if (m.compare(threeHalves) >= 0) {
    ++k;
    ++scale; // m has one more fraction bit
  }
  one = power(scale);
  bool below = m.compare(one) < 0;
  W distance = below ? one - m : m - one, rest;
  W z = (distance << fraction).divide(one + m, rest);
  W square = times(z, z), term = z, series = z;
  for (uint64_t n = 3; !term.isZero(); n += 2) {
    term = times(term, square);
    series = series + term.dividedBy(n);
  }
  E small, large;
  small.negative = below;
  small.magnitude = series << 1;
  small.exponent = -fraction;
  large.negative = k < 0;
  large.magnitude = logOfTwo() * W((unsigned __int128)(k < 0 ? -k : k));
  large.exponent = -256;
  E r = sum(large, small, Rounding::NearestEven);
  if (!r.isZero())
    r.sticky = true;
  return r;
}

/// |x| · 2^fraction, rounded.
static std::array<uint64_t, 4> scaled(const Exact<8> &x, int fraction) {
  // One bit more, for the rounding.
  const int shift = x.exponent + fraction + 1;
  W w = shift >= 0 ? x.magnitude << shift : x.magnitude >> -shift;
  w = (w + W(1)) >> 1;
  return {w.word[0], w.word[1], w.word[2], w.word[3]};
}

static Exact<8> dyadic(uint64_t n, int scale) {
  Exact<8> x;
  x.magnitude = W(n);
  x.exponent = -scale;
  return x;
}

std::array<uint64_t, 4> rhizome::numeric::scaledExp(uint64_t n, int scale,
                                                    int fraction) {
  return scaled(exponential(dyadic(n, scale)), fraction);
}

std::array<uint64_t, 4> rhizome::numeric::scaledLog(uint64_t n, int scale,
                                                    int fraction) {
  return scaled(logarithm(dyadic(n, scale)), fraction);
}
