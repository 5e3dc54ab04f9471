// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Exact values between the operands and the one rounding: a sign, a magnitude
// of N words, an exponent, and whether something smaller remains.
#pragma once

#include "Wide.h"
#include "rhizome/Numeric/Arithmetic.h"
#include <algorithm>
#include <cassert>
#include <utility>

namespace rhizome::numeric {
/// ±(magnitude + ε) · 2^exponent with 0 < ε < 1 if `sticky`, ε = 0 if not.
template <unsigned N> struct Exact {
  enum class Class : uint8_t { Finite, Infinite, NaN };
  Class is = Class::Finite;
  bool negative = false;
  bool sticky = false;
  int exponent = 0;
  Wide<N> magnitude;

  bool isZero() const {
    return is == Class::Finite && magnitude.isZero() && !sticky;
  }
  bool isNaN() const { return is == Class::NaN; }
  bool isInfinite() const { return is == Class::Infinite; }
  /// Exponent of the highest one.
  int top() const { return exponent + magnitude.length() - 1; }

  static Exact nan() {
    Exact r;
    r.is = Class::NaN;
    return r;
  }
  static Exact infinity(bool negative) {
    Exact r;
    r.is = Class::Infinite;
    r.negative = negative;
    return r;
  }
  static Exact zero(bool negative) {
    Exact r;
    r.negative = negative;
    return r;
  }
  Exact operator-() const {
    Exact r = *this;
    r.negative = !negative;
    return r;
  }
};

/// The value of a pattern.
template <unsigned N> Exact<N> decode(const Format &f, Bits a) {
  Exact<N> r;
  if (f.isFixed()) {
    r.negative = f.isSigned && (a >> (f.width() - 1) & 1);
    r.magnitude = r.negative ? (~a + 1) & f.mask() : a;
    r.exponent = -f.fractionBits;
    return r;
  }
  Bits mantissa = a & ((Bits(1) << f.mantissaBits) - 1);
  int top = (1 << f.exponentBits) - 1;
  int field = int(a >> f.mantissaBits) & top;
  r.negative = a >> (f.width() - 1) & 1;
  if (field == top && !f.finite) {
    r.is = mantissa ? Exact<N>::Class::NaN : Exact<N>::Class::Infinite;
    return r;
  }
  if (field == 0 && !f.subnormals)
    return r;
  r.magnitude = field ? mantissa | Bits(1) << f.mantissaBits : mantissa;
  r.exponent = std::max(field, 1) - f.bias - f.mantissaBits;
  return r;
}

inline bool roundsUp(Rounding mode, bool negative, bool odd, bool half,
                     bool rest) {
  switch (mode) {
  case Rounding::NearestEven:
    return half && (rest || odd);
  case Rounding::NearestAway:
    return half;
  case Rounding::TowardZero:
    return false;
  case Rounding::Up:
    return !negative && (half || rest);
  case Rounding::Down:
    return negative && (half || rest);
  }
  return false;
}

/// |x| as a multiple of 2^quantum, rounded. `lost` reports that high bits were
/// dropped, so that only the residue modulo 2^(64 N) is right.
template <unsigned N>
Wide<N> roundAt(const Exact<N> &x, int quantum, Rounding mode, bool &lost) {
  int shift = x.exponent - quantum;
  lost = false;
  if (shift >= 0) {
    // A sticky value of e^x may end above the quantum; it saturates.
    lost = !x.magnitude.isZero() &&
           x.magnitude.length() + shift > Wide<N>::bits - 1;
    Wide<N> n = x.magnitude << shift;
    if (roundsUp(mode, x.negative, false, false, x.sticky))
      n = n + Wide<N>(1);
    return n;
  }
  int drop = -shift;
  Wide<N> n = x.magnitude >> drop;
  bool half = x.magnitude.bit(drop - 1);
  bool rest = x.sticky || x.magnitude.anyBelow(drop - 1);
  if (roundsUp(mode, x.negative, n.bit(0), half, rest))
    n = n + Wide<N>(1);
  return n;
}

template <unsigned N>
Bits encodeFixed(const Format &f, Rounding mode, Overflow overflow,
                 const Exact<N> &x) {
  bool saturate = overflow == Overflow::Saturate;
  Bits bound = x.negative ? f.least() : f.greatest();
  if (x.isNaN())
    return 0;
  if (x.isInfinite())
    return saturate ? bound : 0;
  bool lost;
  Wide<N> n = roundAt(x, -f.fractionBits, mode, lost);
  if (saturate) {
    // The magnitude of the bound on x's side.
    Bits limit = x.negative ? (~f.least() + 1) & f.mask() : f.greatest();
    if (lost || n.compare(Wide<N>(limit)) > 0)
      return bound;
  }
  Bits low = n.low();
  return (x.negative ? ~low + 1 : low) & f.mask();
}

template <unsigned N>
Bits encodeFloat(const Format &f, Rounding mode, Overflow overflow,
                 const Exact<N> &x) {
  const int mantissa = f.mantissaBits;
  const Bits sign = Bits(x.negative) << (f.width() - 1);
  const Bits infinity = ((Bits(1) << f.exponentBits) - 1) << mantissa;
  const bool keepsInfinity = !f.finite && overflow != Overflow::Saturate;
  if (x.isNaN())
    return f.finite ? 0 : infinity | Bits(1) << (mantissa - 1);
  if (x.isInfinite())
    return sign | (keepsInfinity ? infinity : f.greatest());
  if (x.magnitude.isZero() && !x.sticky)
    return sign;
  // The quantum is that of x's binade, but no finer than the least binade's.
  // Without subnormals there is no value between zero and the least normal
  // number.
  int low = f.minExponent(), top = x.top(), quantum;
  if (top >= low)
    quantum = top - mantissa;
  else
    quantum = f.subnormals ? low - mantissa : low;
  bool lost;
  Wide<N> n = roundAt(x, quantum, mode, lost);
  if (n.isZero())
    return sign;
  top = n.length() - 1 + quantum;
  if (top > f.maxExponent()) {
    bool away = mode == Rounding::NearestEven ||
                mode == Rounding::NearestAway ||
                mode == (x.negative ? Rounding::Down : Rounding::Up);
    return sign | (keepsInfinity && away ? infinity : f.greatest());
  }
  if (top < low)
    return sign | n.low();
  int align = n.length() - 1 - mantissa;
  Bits digits = (align > 0 ? n >> align : n << -align).low();
  return sign | Bits(top + f.bias) << mantissa |
         (digits & ((Bits(1) << mantissa) - 1));
}

/// Rounds once into `f`.
template <unsigned N>
Bits encode(const Format &f, Rounding mode, Overflow overflow,
            const Exact<N> &x) {
  return f.isFixed() ? encodeFixed(f, mode, overflow, x)
                     : encodeFloat(f, mode, overflow, x);
}

/// Exact product; the operands are not sticky and at most 32 N bits long.
template <unsigned N> Exact<N> multiply(const Exact<N> &a, const Exact<N> &b) {
  using E = Exact<N>;
  bool negative = a.negative != b.negative;
  if (a.isNaN() || b.isNaN() || (a.isInfinite() && b.isZero()) ||
      (a.isZero() && b.isInfinite()))
    return E::nan();
  if (a.isInfinite() || b.isInfinite())
    return E::infinity(negative);
  E r;
  r.negative = negative;
  r.magnitude = a.magnitude * b.magnitude;
  r.exponent = a.exponent + b.exponent;
  return r;
}

/// Exact sum up to a sticky rest far below the larger operand. An exact zero
/// of operands of different signs is −0 only when rounding down.
template <unsigned N>
Exact<N> sum(const Exact<N> &a, const Exact<N> &b, Rounding mode) {
  using E = Exact<N>;
  if (a.isNaN() || b.isNaN() ||
      (a.isInfinite() && b.isInfinite() && a.negative != b.negative))
    return E::nan();
  if (a.isInfinite() || b.isInfinite())
    return a.isInfinite() ? a : b;
  if (a.isZero() && b.isZero())
    return E::zero(a.negative == b.negative ? a.negative
                                            : mode == Rounding::Down);
  if (a.isZero() || b.isZero())
    return a.isZero() ? b : a;
  const E &high = a.top() >= b.top() ? a : b;
  const E &low = a.top() >= b.top() ? b : a;
  E r;
  r.negative = high.negative;
  // Two bits of space above: one for the carry, one kept clear.
  r.exponent = std::max(std::min(a.exponent, b.exponent),
                        high.top() - (Wide<N>::bits - 3));
  Wide<N> h = high.magnitude << (high.exponent - r.exponent), l;
  if (low.exponent >= r.exponent) {
    l = low.magnitude << (low.exponent - r.exponent);
  } else {
    int drop = r.exponent - low.exponent;
    l = low.magnitude >> drop;
    r.sticky = low.magnitude.anyBelow(drop);
  }
  if (a.negative == b.negative) {
    r.magnitude = h + l;
    return r;
  }
  if (h.compare(l) < 0) { // equal top bits, no rest
    std::swap(h, l);
    r.negative = !r.negative;
  }
  r.magnitude = h - l;
  if (r.sticky)
    r.magnitude = r.magnitude - Wide<N>(1);
  if (r.isZero())
    r.negative = mode == Rounding::Down;
  return r;
}

/// a / b with at least the bits that rounding at 2^quantum, or to `digits`
/// digits if there is no quantum, needs.
template <unsigned N>
Exact<N> quotient(const Exact<N> &a, const Exact<N> &b, const Format &f) {
  using E = Exact<N>;
  bool negative = a.negative != b.negative;
  if (a.isNaN() || b.isNaN() || (a.isInfinite() && b.isInfinite()) ||
      (a.isZero() && b.isZero()))
    return E::nan();
  if (a.isInfinite() || b.isZero())
    return E::infinity(negative);
  if (a.isZero() || b.isInfinite())
    return E::zero(negative);
  int shift = f.isFixed() ? f.fractionBits + 2
                          : f.mantissaBits + 3 + b.magnitude.length() -
                                a.magnitude.length();
  shift = std::max(shift, 0);
  E r;
  r.negative = negative;
  r.exponent = a.exponent - b.exponent - shift;
  Wide<N> rest;
  r.magnitude = (a.magnitude << shift).divide(b.magnitude, rest);
  r.sticky = !rest.isZero();
  return r;
}

template <unsigned N> Exact<N> root(const Exact<N> &a, const Format &f) {
  using E = Exact<N>;
  if (a.isNaN() || a.isZero())
    return a;
  if (a.negative)
    return E::nan();
  if (a.isInfinite())
    return a;
  int shift = f.isFixed() ? f.fractionBits + 4
                          : 2 * (f.mantissaBits + 3) - a.magnitude.length();
  shift = std::max(shift, 0);
  shift += (a.exponent - shift) & 1;
  E r;
  bool exact;
  r.magnitude = (a.magnitude << shift).squareRoot(exact);
  r.exponent = (a.exponent - shift) / 2;
  r.sticky = !exact;
  return r;
}
} // namespace rhizome::numeric
