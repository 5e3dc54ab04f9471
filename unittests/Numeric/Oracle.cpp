// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Oracle.h"
#include <gmp.h>

using namespace rhizome::numeric;
using namespace rhizome::numeric::test;

static void setBits(mpfr_ptr to, Bits magnitude) {
  mpfr_set_ui(to, (unsigned long)(magnitude >> 64), MPFR_RNDN);
  mpfr_mul_2ui(to, to, 64, MPFR_RNDN);
  mpfr_add_ui(to, to, (unsigned long)(magnitude), MPFR_RNDN);
}

void test::setPattern(Real &to, const Format &f, Bits a) {
  bool top = a >> (f.width() - 1) & 1;
  if (f.isFixed()) {
    bool negative = f.isSigned && top;
    setBits(to, negative ? (~a + 1) & f.mask() : a);
    if (negative)
      mpfr_neg(to, to, MPFR_RNDN);
    mpfr_mul_2si(to, to, -f.fractionBits, MPFR_RNDN);
    return;
  }
  Bits mantissa = a & ((Bits(1) << f.mantissaBits) - 1);
  Bits fields = (Bits(1) << f.exponentBits) - 1;
  Bits field = a >> f.mantissaBits & fields;
  if (field == fields && !f.finite) {
    if (mantissa)
      mpfr_set_nan(to);
    else
      mpfr_set_inf(to, top ? -1 : 1);
    return;
  }
  if (field == 0)
    setBits(to, f.subnormals ? mantissa : 0);
  else
    setBits(to, mantissa + (Bits(1) << f.mantissaBits));
  long scale = long(field == 0 ? 1 : field) - f.bias - f.mantissaBits;
  mpfr_mul_2si(to, to, scale, MPFR_RNDN);
  mpfr_setsign(to, to, top, MPFR_RNDN);
}

static Bits toBits(mpfr_srcptr integer) {
  mpz_t z;
  mpz_init(z);
  mpfr_get_z(z, integer, MPFR_RNDZ);
  bool negative = mpz_sgn(z) < 0;
  mpz_abs(z, z);
  mpz_t low;
  mpz_init(low);
  mpz_tdiv_r_2exp(low, z, 64);
  Bits r = mpz_get_ui(low);
  mpz_tdiv_q_2exp(z, z, 64);
  mpz_tdiv_r_2exp(low, z, 64);
  r |= Bits(mpz_get_ui(low)) << 64;
  mpz_clear(z);
  mpz_clear(low);
  return negative ? ~r + 1 : r;
}

/// Rounds to an integer as IEEE 754 defines for the mode.
static void toInteger(Real &to, const Real &x, Rounding mode) {
  switch (mode) {
  case Rounding::NearestEven:
    mpfr_rint(to, x, MPFR_RNDN);
    return;
  case Rounding::NearestAway:
    mpfr_round(to, x);
    return;
  case Rounding::TowardZero:
    mpfr_trunc(to, x);
    return;
  case Rounding::Up:
    mpfr_ceil(to, x);
    return;
  case Rounding::Down:
    mpfr_floor(to, x);
    return;
  }
}

Bits Oracle::round(Real &value, int t) {
  bool saturate = overflow == Overflow::Saturate;
  if (mpfr_nan_p(value))
    return f.isFixed() || f.finite
               ? 0
               : ((Bits(2) << f.exponentBits) - 1) << (f.mantissaBits - 1);
  bool negative = mpfr_signbit(value);
  if (f.isFixed()) {
    if (mpfr_inf_p(value))
      return saturate ? (negative ? f.least() : f.greatest()) : 0;
  } else if (mpfr_inf_p(value)) {
    if (f.finite || saturate)
      return negative ? f.least() : f.greatest();
    return Bits(negative) << (f.width() - 1) | ((Bits(1) << f.exponentBits) - 1)
                                                   << f.mantissaBits;
  } else if (mpfr_zero_p(value)) {
    return Bits(negative) << (f.width() - 1);
  }
  // To odd: truncated with the last bit set if something was lost. At 900
  // bits only a quotient, a root or a distant sum loses anything.
  if (t != 0) {
    // A number strictly between two neighbors: truncate, then move away from
    // every tie and every integer by half a unit of the precision.
    mpfr_t odd;
    mpfr_init2(odd, Real::precision + 2);
    mpfr_set(odd, value, MPFR_RNDN);
    mpfr_t unit;
    mpfr_init2(unit, 2);
    mpfr_set_ui_2exp(unit, 1, mpfr_get_exp(value) - Real::precision - 1,
                     MPFR_RNDN);
    // value was truncated toward zero, so the exact one is farther away.
    if (negative)
      mpfr_sub(odd, odd, unit, MPFR_RNDZ);
    else
      mpfr_add(odd, odd, unit, MPFR_RNDZ);
    mpfr_set_prec(scaled, Real::precision + 2);
    mpfr_set(scaled, odd, MPFR_RNDN);
    mpfr_clear(odd);
    mpfr_clear(unit);
  } else {
    mpfr_set_prec(scaled, Real::precision + 2);
    mpfr_set(scaled, value, MPFR_RNDN);
  }
  if (f.isFixed()) {
    mpfr_mul_2si(scaled, scaled, f.fractionBits, MPFR_RNDN);
    toInteger(integer, scaled, mode);
    if (saturate) {
      setPattern(z, f, f.greatest());
      mpfr_mul_2si(z, z, f.fractionBits, MPFR_RNDN);
      if (mpfr_cmp(integer, z) > 0)
        return f.greatest();
      setPattern(z, f, f.least());
      mpfr_mul_2si(z, z, f.fractionBits, MPFR_RNDN);
      if (mpfr_cmp(integer, z) < 0)
        return f.least();
    }
    return toBits(integer) & f.mask();
  }
  long top = mpfr_get_exp(scaled) - 1, low = f.minExponent();
  long quantum = top >= low ? top - f.mantissaBits
                            : (f.subnormals ? low - f.mantissaBits : low);
  mpfr_mul_2si(scaled, scaled, -quantum, MPFR_RNDN);
  toInteger(integer, scaled, mode);
  Bits sign = Bits(negative) << (f.width() - 1);
  if (mpfr_zero_p(integer))
    return sign;
  mpfr_abs(integer, integer, MPFR_RNDN);
  top = mpfr_get_exp(integer) - 1 + quantum;
  if (top > f.maxExponent()) {
    bool away = mode == Rounding::NearestEven ||
                mode == Rounding::NearestAway ||
                mode == (negative ? Rounding::Down : Rounding::Up);
    if (f.finite || saturate || !away)
      return negative ? f.least() : f.greatest();
    return sign | ((Bits(1) << f.exponentBits) - 1) << f.mantissaBits;
  }
  long field = top >= low ? top + f.bias : 0;
  // The mantissa field: the integer as a multiple of the binade's quantum.
  long binade = (field ? top : low) - f.mantissaBits;
  mpfr_mul_2si(integer, integer, quantum - binade, MPFR_RNDN);
  return sign | Bits(field) << f.mantissaBits |
         (toBits(integer) & ((Bits(1) << f.mantissaBits) - 1));
}

Bits Oracle::compute(Op op, Bits a, Bits b, Bits c) {
  setPattern(x, f, a);
  setPattern(y, f, b);
  // The sign of an exact zero sum depends on the direction only.
  mpfr_rnd_t zero = mode == Rounding::Down ? MPFR_RNDD : MPFR_RNDZ;
  int t = 0;
  switch (op) {
  case Op::Add:
    t = mpfr_add(r, x, y, MPFR_RNDZ);
    if (mpfr_zero_p(r))
      mpfr_add(r, x, y, zero);
    break;
  case Op::Sub:
    t = mpfr_sub(r, x, y, MPFR_RNDZ);
    if (mpfr_zero_p(r))
      mpfr_sub(r, x, y, zero);
    break;
  case Op::Mul:
    t = mpfr_mul(r, x, y, MPFR_RNDZ);
    break;
  case Op::Fma:
    setPattern(z, f, c);
    t = mpfr_fma(r, x, y, z, MPFR_RNDZ);
    if (mpfr_zero_p(r))
      mpfr_fma(r, x, y, z, zero);
    break;
  case Op::Div:
    t = mpfr_div(r, x, y, MPFR_RNDZ);
    break;
  case Op::Sqrt:
    t = mpfr_sqrt(r, x, MPFR_RNDZ);
    break;
  }
  // Fixed point has one zero.
  if (f.isFixed() && mpfr_zero_p(r))
    return 0;
  return round(r, t);
}
