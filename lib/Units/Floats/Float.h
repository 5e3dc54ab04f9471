// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What operators on floats share: the fields of a pattern, and the one
// rounding into a pattern.
#pragma once

#include "Datapath.h"
#include "rhizome/Units/Floats/Operators.h"

namespace rhizome::gen::floats {
using mlir::Value;

/// A pattern's fields.
struct Fields {
  Value sign, field, fraction;
  Value isNormal; ///< the field is not zero
  Value isZero, isInfinite, isNaN;
};

/// A result before its rounding. The bits below that are not set are zero.
struct Unrounded {
  Value sign;
  /// The pattern of the result's magnitude is (base · 2^M + kept), rounded:
  /// `kept` has a bit above the fraction, which is 1 in normal numbers.
  Value base, kept;
  Value half, rest; ///< the first bit below, and whether one of the others is
  Value isOver;     ///< above all binades
  Value isZero;     ///< exactly zero, with this sign
  Value isInfinite; ///< exactly
  Value isNaN;
  /// Formats without subnormals: below all binades; and the two bits of a
  /// rounding to the least normal number or zero.
  Value isTiny, tinyHalf, tinyRest;
};

/// Logic of operators in one format.
class Float {
public:
  Float(Datapath &d, const Operator &op) : d(d), op(op), f(op.format) {}

  Value add(Value a, Value b, bool isDifference);
  Value mul(Value a, Value b);
  Value fma(Value a, Value b, Value c);
  Value div(Value a, Value b);
  Value sqrt(Value a);
  Value exp(Value a, const CostContext &device);
  Value log(Value a, const CostContext &device);
  /// The lesser of two numbers, or the greater one.
  Value least(Value a, Value b, bool isGreatest);
  /// −a, or |a|.
  Value signedAs(Value a, bool isNegated);

  /// Into this format, and, of fixed point, from it.
  Value fromFixed(Value a, const numeric::Format &from);
  Value fromFloat(Value a, const Operator &source);
  Value toFixed(Value a, const numeric::Format &to);

  /// 1 if a magnitude is rounded up.
  Value roundsUp(Value sign, Value odd, Value half, Value rest);
  /// Signed numbers that include `least` and `most`.
  static int64_t signedBits(int64_t least, int64_t most);

  /// False for formats whose subnormal numbers are too large to be fused.
  static bool canFuse(const numeric::Format &f);

private:
  Datapath &d;
  const Operator &op;
  const numeric::Format &f;

  int64_t mantissa() const { return f.mantissaBits; }
  int64_t exponent() const { return f.exponentBits; }
  int64_t topField() const { return (int64_t(1) << f.exponentBits) - 1; }
  /// The field of the highest binade.
  int64_t mostField() const { return f.finite ? topField() : topField() - 1; }
  bool keepsInfinity() const {
    return !f.finite && op.overflow != numeric::Overflow::Saturate;
  }

  Fields unpack(Value pattern);
  /// 1.fraction, or 0.fraction.
  Value significand(const Fields &x) {
    return d.join({x.fraction, x.isNormal});
  }
  /// The field that gives the exponent: 1 for subnormal numbers.
  Value exponentOf(const Fields &x);
  /// The significand with its top bit set, and the field that belongs to it, in
  /// n bits.
  Value normalized(const Fields &x, int64_t n, Value &field);
  /// Moves the highest one of a sum to its top bit, which is in the binade
  /// after that of `field`, as far as the exponents go.
  Unrounded normalize(Value sum, Value field);
  /// The same for a significand whose top bit is set, with the bit below it and
  /// whether there are others, in the binade of `field`, a signed number of
  /// that range.
  void place(Unrounded &r, Value kept, Value rest, Value field, int64_t least,
             int64_t most);
  Value nan();
  Value round(const Unrounded &x);
};
} // namespace rhizome::gen::floats
