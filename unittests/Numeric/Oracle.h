// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An operation's correctly rounded result, from MPFR: the exact result
// rounded to odd at high precision, then rounded to an integer multiple of the
// quantum that the format's definition gives.
#pragma once

#include "rhizome/Numeric/Arithmetic.h"
#include <mpfr.h>

namespace rhizome::numeric::test {
/// An MPFR number of the oracle's precision.
class Real {
public:
  static constexpr mpfr_prec_t precision = 900;
  Real() { mpfr_init2(value, precision); }
  Real(const Real &other) : Real() { mpfr_set(value, other, MPFR_RNDN); }
  Real &operator=(const Real &other) {
    mpfr_set(value, other, MPFR_RNDN);
    return *this;
  }
  ~Real() { mpfr_clear(value); }
  operator mpfr_ptr() { return value; }
  operator mpfr_srcptr() const { return value; }

private:
  mpfr_t value;
};

/// The value of a pattern, by the format's definition.
void setPattern(Real &to, const Format &f, Bits a);

enum class Op { Add, Sub, Mul, Fma, Div, Sqrt };

/// Computes with MPFR; `scratch` numbers are kept between calls.
class Oracle {
public:
  Oracle(const Format &f, Rounding mode, Overflow overflow)
      : f(f), mode(mode), overflow(overflow) {}
  Bits compute(Op op, Bits a, Bits b, Bits c);
  /// Rounds x, known up to the ternary value t, into the format.
  Bits round(Real &x, int t);

private:
  Format f;
  Rounding mode;
  Overflow overflow;
  Real x, y, z, r, scaled, integer;
};
} // namespace rhizome::numeric::test
