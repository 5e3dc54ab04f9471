// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The operations: exact, then rounded. Fixed point of usual widths computes in
// 128 bits at once; everything else goes through exact values.
#include "rhizome/Numeric/Arithmetic.h"
#include "Elementary.h"
#include "Exact.h"
#include <bit>

using namespace rhizome::numeric;

const char *rhizome::numeric::name(Rounding rounding) {
  switch (rounding) {
  case Rounding::NearestEven:
    return "nearest_even";
  case Rounding::NearestAway:
    return "nearest_away";
  case Rounding::TowardZero:
    return "toward_zero";
  case Rounding::Up:
    return "up";
  case Rounding::Down:
    return "down";
  }
  return "";
}

const char *rhizome::numeric::name(Overflow overflow) {
  switch (overflow) {
  case Overflow::Wrap:
    return "wrap";
  case Overflow::Saturate:
    return "saturate";
  case Overflow::Infinity:
    return "infinity";
  }
  return "";
}

std::optional<Rounding> rhizome::numeric::parseRounding(std::string_view text) {
  for (Rounding r : {Rounding::NearestEven, Rounding::NearestAway,
                     Rounding::TowardZero, Rounding::Up, Rounding::Down})
    if (text == name(r))
      return r;
  return std::nullopt;
}

std::optional<Overflow> rhizome::numeric::parseOverflow(std::string_view text) {
  for (Overflow o : {Overflow::Wrap, Overflow::Saturate, Overflow::Infinity})
    if (text == name(o))
      return o;
  return std::nullopt;
}

Overflow rhizome::numeric::defaultOverflow(const Format &format) {
  return format.isFixed() ? Overflow::Wrap
         : format.finite  ? Overflow::Saturate
                          : Overflow::Infinity;
}

Arithmetic::Arithmetic(const Format &format, Rounding rounding,
                       Overflow overflow)
    : f(format), mode(rounding), onOverflow(overflow) {
  assert(format.check().empty() && "not a format");
  assert((format.isFixed() ? overflow != Overflow::Infinity
                           : overflow != Overflow::Wrap) &&
         "an overflow that the format cannot have");
  narrow = f.isFixed() && f.width() <= (f.isSigned ? 64 : 63) &&
           f.fractionBits >= 0 && f.fractionBits <= 63;
}

/// The pattern as an integer; narrow formats only.
__int128 Arithmetic::integer(Bits a) const {
  if (!f.isSigned)
    return __int128(a);
  int unused = 128 - f.width();
  return __int128(a << unused) >> unused;
}

/// value / 2^shift rounded, with overflow handled; narrow formats only.
Bits Arithmetic::finishNarrow(__int128 value, int shift) const {
  __int128 floor = value >> shift;
  if (shift > 0) {
    Bits rest = Bits(value) & ((Bits(1) << shift) - 1);
    Bits half = Bits(1) << (shift - 1);
    bool up = false;
    switch (mode) {
    case Rounding::NearestEven:
      up = rest > half || (rest == half && (floor & 1));
      break;
    case Rounding::NearestAway:
      up = rest > half || (rest == half && value >= 0);
      break;
    case Rounding::TowardZero:
      up = rest != 0 && value < 0;
      break;
    case Rounding::Up:
      up = rest != 0;
      break;
    case Rounding::Down:
      break;
    }
    floor += up;
  }
  if (onOverflow == Overflow::Saturate) {
    if (floor > integer(f.greatest()))
      return f.greatest();
    if (floor < integer(f.least()))
      return f.least();
  }
  return Bits(floor) & f.mask();
}

// Floats need 4 words (the sum of a product of 124 bits and a sticky
// rest), fixed point 8 (128 bits shifted by up to 256).
template <typename Fn> static Bits inWords(const Format &f, Fn fn) {
  return f.isFloat() ? fn(std::integral_constant<unsigned, 4>())
                     : fn(std::integral_constant<unsigned, 8>());
}

Bits Arithmetic::add(Bits a, Bits b) const {
  if (narrow)
    return finishNarrow(integer(a) + integer(b), 0);
  return inWords(f, [&](auto n) {
    return encode(f, mode, onOverflow,
                  sum(decode<n>(f, a), decode<n>(f, b), mode));
  });
}

Bits Arithmetic::sub(Bits a, Bits b) const {
  if (narrow)
    return finishNarrow(integer(a) - integer(b), 0);
  return inWords(f, [&](auto n) {
    return encode(f, mode, onOverflow,
                  sum(decode<n>(f, a), -decode<n>(f, b), mode));
  });
}

Bits Arithmetic::mul(Bits a, Bits b) const {
  if (narrow)
    return finishNarrow(integer(a) * integer(b), f.fractionBits);
  return inWords(f, [&](auto n) {
    return encode(f, mode, onOverflow,
                  multiply(decode<n>(f, a), decode<n>(f, b)));
  });
}

Bits Arithmetic::fma(Bits a, Bits b, Bits c) const {
  if (narrow)
    return finishNarrow(integer(a) * integer(b) +
                            (integer(c) << f.fractionBits),
                        f.fractionBits);
  return inWords(f, [&](auto n) {
    return encode(
        f, mode, onOverflow,
        sum(multiply(decode<n>(f, a), decode<n>(f, b)), decode<n>(f, c), mode));
  });
}

Bits Arithmetic::div(Bits a, Bits b) const {
  return inWords(f, [&](auto n) {
    return encode(f, mode, onOverflow,
                  quotient(decode<n>(f, a), decode<n>(f, b), f));
  });
}

Bits Arithmetic::sqrt(Bits a) const {
  return inWords(f, [&](auto n) {
    return encode(f, mode, onOverflow, root(decode<n>(f, a), f));
  });
}

Bits Arithmetic::exp(Bits a) const {
  return encode(f, mode, f.isFixed() ? Overflow::Saturate : onOverflow,
                exponential(decode<8>(f, a)));
}

Bits Arithmetic::log(Bits a) const {
  return encode(f, mode, f.isFixed() ? Overflow::Saturate : onOverflow,
                logarithm(decode<8>(f, a)));
}

Bits Arithmetic::neg(Bits a) const {
  return inWords(
      f, [&](auto n) { return encode(f, mode, onOverflow, -decode<n>(f, a)); });
}

Bits Arithmetic::abs(Bits a) const {
  return inWords(f, [&](auto n) {
    auto x = decode<n>(f, a);
    x.negative = false;
    return encode(f, mode, onOverflow, x);
  });
}

Order Arithmetic::compare(Bits a, Bits b) const {
  auto x = decode<8>(f, a), y = decode<8>(f, b);
  if (x.isNaN() || y.isNaN())
    return Order::Unordered;
  if (x.isZero() && y.isZero())
    return Order::Equal;
  if (x.isZero())
    return y.negative ? Order::Greater : Order::Less;
  if (x.negative != y.negative || y.isZero())
    return x.negative ? Order::Less : Order::Greater;
  Order more = x.negative ? Order::Less : Order::Greater;
  Order less = x.negative ? Order::Greater : Order::Less;
  if (x.isInfinite() || y.isInfinite())
    return x.isInfinite() && y.isInfinite() ? Order::Equal
           : x.isInfinite()                 ? more
                                            : less;
  if (x.top() != y.top())
    return x.top() > y.top() ? more : less;
  // Equal top bits: a shift aligns them within the width of a pattern.
  int low = std::min(x.exponent, y.exponent);
  int order = (x.magnitude << (x.exponent - low))
                  .compare(y.magnitude << (y.exponent - low));
  return order == 0 ? Order::Equal : order > 0 ? more : less;
}

// The larger of two zeros is the positive one.
static bool isNegative(const Format &f, Bits a) {
  return f.hasSign() && (a >> (f.width() - 1) & 1);
}

Bits Arithmetic::min(Bits a, Bits b) const {
  Order order = compare(a, b);
  if (order == Order::Unordered)
    return encode(f, mode, onOverflow, Exact<4>::nan());
  if (order == Order::Equal)
    return isNegative(f, a) ? a : b;
  return order == Order::Less ? a : b;
}

Bits Arithmetic::max(Bits a, Bits b) const {
  Order order = compare(a, b);
  if (order == Order::Unordered)
    return encode(f, mode, onOverflow, Exact<4>::nan());
  if (order == Order::Equal)
    return isNegative(f, a) ? b : a;
  return order == Order::Greater ? a : b;
}

Bits Arithmetic::convert(const Format &from, Bits a) const {
  return encode(f, mode, onOverflow, decode<8>(from, a));
}

Bits Arithmetic::fromDouble(double value) const {
  return convert(Format::binary64(), std::bit_cast<uint64_t>(value));
}

double Arithmetic::toDouble(Bits a) const {
  return std::bit_cast<double>(
      uint64_t(encode(Format::binary64(), Rounding::NearestEven,
                      Overflow::Infinity, decode<8>(f, a))));
}
