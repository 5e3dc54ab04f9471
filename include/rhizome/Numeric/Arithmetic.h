// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Bit-accurate arithmetic on patterns of any format: exact result, one
// rounding, one overflow behavior. Plain and general; the
// interpreter uses it, and tests compare it with MPFR.
#pragma once

#include "rhizome/Numeric/Format.h"

namespace rhizome::numeric {
/// The five directions of IEEE 754.
enum class Rounding : uint8_t {
  NearestEven,
  NearestAway,
  TowardZero,
  Up,
  Down
};

/// The treatment of a rounded result outside the format. Fixed point
/// wraps (modulo 2^width) or saturates; floats go to infinity (if IEEE 754
/// requires it for the rounding direction) or saturate. Finite floats always
/// saturate.
enum class Overflow : uint8_t { Wrap, Saturate, Infinity };

const char *name(Rounding rounding);
const char *name(Overflow overflow);
std::optional<Rounding> parseRounding(std::string_view text);
std::optional<Overflow> parseOverflow(std::string_view text);

enum class Order : uint8_t { Less, Equal, Greater, Unordered };

/// Arithmetic in one format with one rounding and one overflow behavior.
/// Operands and results are patterns of that format. If a result is not a
/// number (0/0, ∞−∞, √ of a negative number), floats with NaN give NaN and the
/// others zero. Division by zero gives an infinity, which fixed point and
/// finite floats saturate; wrapped, it is zero.
class Arithmetic {
public:
  /// `overflow` must suit the format's kind.
  Arithmetic(const Format &format, Rounding rounding, Overflow overflow);

  const Format &format() const { return f; }
  Rounding rounding() const { return mode; }
  Overflow overflow() const { return onOverflow; }

  Bits add(Bits a, Bits b) const;
  Bits sub(Bits a, Bits b) const;
  Bits mul(Bits a, Bits b) const;
  /// a·b + c, rounded once.
  Bits fma(Bits a, Bits b, Bits c) const;
  Bits div(Bits a, Bits b) const;
  Bits sqrt(Bits a) const;
  /// e^a and the natural logarithm, within one unit in the last place (float)
  /// or one quantum (fixed) of the exact value. Fixed point saturates here
  /// whatever its overflow: the low bits of such results have no meaning.
  Bits exp(Bits a) const;
  Bits log(Bits a) const;
  Bits neg(Bits a) const;
  Bits abs(Bits a) const;
  /// NaN if either operand is.
  Bits min(Bits a, Bits b) const;
  Bits max(Bits a, Bits b) const;
  Order compare(Bits a, Bits b) const;

  /// Converts a pattern of another format into this one, rounded once.
  Bits convert(const Format &from, Bits a) const;
  Bits fromDouble(double value) const;
  /// To the nearest double, ties to even.
  double toDouble(Bits a) const;

private:
  Format f;
  Rounding mode;
  Overflow onOverflow;
  bool narrow; ///< fixed point whose products fit 128 bits

  Bits finishNarrow(__int128 value, int shift) const;
  __int128 integer(Bits a) const;
};

/// The default overflow of an operation: wrap for fixed point,
/// infinity for floats.
Overflow defaultOverflow(const Format &format);
} // namespace rhizome::numeric
