// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Patterns' fields, and results' roundings. Whatever is not a rounded number
// (infinities, NaN, overflow) is chosen before the rounding's carry chain,
// which so ends every operator.
#include "Float.h"

using namespace mlir;

namespace rhizome::gen::floats {
using numeric::Rounding;

Fields Float::unpack(Value pattern) {
  Fields x;
  const int64_t m = mantissa(), e = exponent();
  x.sign = d.top(pattern);
  x.field = d.extract(pattern, m, e);
  x.fraction = d.extract(pattern, 0, m);
  x.isNormal = d.any(x.field);
  if (!f.subnormals)
    x.fraction = d.both(x.fraction, d.spread(x.isNormal, m));
  Value hasFraction = d.any(d.extract(pattern, 0, m));
  x.isZero = d.inverse(x.isNormal);
  if (f.subnormals)
    x.isZero = d.both(x.isZero, d.inverse(hasFraction));
  x.isInfinite = x.isNaN = d.zero();
  if (!f.finite) {
    Value isTop = d.all(x.field);
    x.isInfinite = d.both(isTop, d.inverse(hasFraction));
    x.isNaN = d.both(isTop, hasFraction);
  }
  return x;
}

Value Float::exponentOf(const Fields &x) {
  if (!f.subnormals)
    return x.field;
  Value low = d.either(d.bit(x.field, 0), d.inverse(x.isNormal));
  return d.join({low, d.extract(x.field, 1, exponent() - 1)});
}

int64_t Float::signedBits(int64_t least, int64_t most) {
  int64_t n = 1;
  while ((int64_t(1) << (n - 1)) <= most || -(int64_t(1) << (n - 1)) > least)
    ++n;
  return n;
}

Value Float::roundsUp(Value sign, Value odd, Value half, Value rest) {
  switch (op.rounding) {
  case Rounding::NearestEven:
    return d.both(half, d.either(rest, odd));
  case Rounding::NearestAway:
    return half;
  case Rounding::TowardZero:
    return d.zero();
  case Rounding::Up:
    return d.both(d.inverse(sign), d.either(half, rest));
  case Rounding::Down:
    return d.both(sign, d.either(half, rest));
  }
  llvm_unreachable("every rounding is handled");
}

Unrounded Float::normalize(Value sum, Value field) {
  const int64_t m = mantissa(), e = exponent(), size = Datapath::width(sum);
  Value zeros = d.leadingZeros(sum);
  const int64_t n =
      std::max(Datapath::width(field), Datapath::width(zeros)) + 1;
  Value lowered = d.sub(d.extend(field, n), d.extend(zeros, n));
  Value isBelow = d.top(lowered);
  Unrounded r;
  r.base = d.extract(lowered, 0, e);
  r.isOver = d.both(d.inverse(isBelow),
                    d.isLess(d.constant(n, mostField() - 1), lowered));
  if (f.subnormals) {
    zeros = d.choose(isBelow,
                     d.extract(d.extend(field, n), 0, Datapath::width(zeros)),
                     zeros);
    r.base = d.both(r.base, d.spread(d.inverse(isBelow), e));
  }
  Value placed = d.shiftLeft(sum, zeros);
  const int64_t below = size - m - 1;
  r.kept = d.extract(placed, below, m + 1);
  r.half = d.bit(placed, below - 1);
  r.rest = d.any(d.extract(placed, 0, below - 1));
  if (!f.subnormals) {
    r.isTiny = isBelow;
    r.tinyHalf = d.all(lowered); // the binade below the least
    r.tinyRest =
        d.either(d.inverse(r.tinyHalf), d.any(d.extract(placed, 0, size - 1)));
  }
  return r;
}

void Float::place(Unrounded &r, Value kept, Value rest, Value field,
                  int64_t least, int64_t most) {
  const int64_t m = mantissa(), e = exponent(), n = Datapath::width(field);
  Value lowered = d.sub(field, d.constant(n, 1));
  Value isBelow = least < 1 ? d.top(lowered) : d.zero();
  r.base = d.extract(lowered, 0, e);
  if (most > mostField())
    r.isOver = d.isLessSigned(d.constant(n, mostField()), field);
  if (!f.subnormals) {
    r.isTiny = isBelow;
    r.tinyHalf = d.equals(field, 0);
    r.tinyRest = d.either(d.either(rest, d.inverse(r.tinyHalf)),
                          d.any(d.extract(kept, 0, m + 1)));
  } else if (least < 1) {
    // Down to the exponent of subnormal numbers: by 1 − field.
    int64_t bits = 1;
    while ((int64_t(1) << bits) < m + 3)
      ++bits;
    Value amount = d.sub(d.constant(n, 1), field);
    Value some = d.extract(d.extend(amount, std::max(n, bits)), 0, bits);
    if (n > bits)
      some = d.either(some,
                      d.spread(d.any(d.extract(amount, bits, n - bits)), bits));
    some = d.both(some, d.spread(isBelow, bits));
    Value lost;
    kept = d.shiftRight(kept, some, lost);
    rest = d.either(rest, lost);
    r.base = d.both(r.base, d.spread(d.inverse(isBelow), e));
  }
  r.kept = d.extract(kept, 1, m + 1);
  r.half = d.bit(kept, 0);
  r.rest = rest;
}

Value Float::round(const Unrounded &x) {
  const int64_t m = mantissa(), e = exponent();
  auto orZero = [&](Value v) { return v ? v : d.zero(); };
  Value isNaN = orZero(x.isNaN), isInfinite = orZero(x.isInfinite);
  Value isExact = d.either(d.either(isNaN, isInfinite), orZero(x.isZero));
  Value isInexact = d.inverse(isExact);
  Value isOver = d.both(orZero(x.isOver), isInexact);
  Value isTiny = d.both(orZero(x.isTiny), isInexact);

  // Above all binades: infinity if the rounding leads away from zero.
  Value away = d.ones();
  if (op.rounding == Rounding::TowardZero)
    away = d.zero();
  else if (op.rounding == Rounding::Up)
    away = d.inverse(x.sign);
  else if (op.rounding == Rounding::Down)
    away = x.sign;
  Value overToInfinity = keepsInfinity() ? d.both(isOver, away) : d.zero();
  Value overToGreatest =
      keepsInfinity() ? d.both(isOver, d.inverse(away)) : isOver;
  Value toInfinity = overToInfinity, toGreatest = overToGreatest;
  if (keepsInfinity())
    toInfinity = d.either(toInfinity, isInfinite);
  else
    toGreatest = d.either(toGreatest, d.both(isInfinite, d.inverse(isNaN)));

  // What a format without NaN gives instead is zero.
  Value ones = f.finite ? d.zero() : d.either(toInfinity, isNaN);
  Value high = d.either(ones, toGreatest);
  Value specialBase =
      d.join({f.finite ? toGreatest : ones, d.spread(high, e - 1)});
  Value specialFraction = d.spread(toGreatest, m);
  if (!f.finite) {
    Value first = d.either(toGreatest, isNaN);
    specialFraction =
        m == 1 ? first : d.join({d.spread(toGreatest, m - 1), first});
  }

  Value isSpecial = d.either(d.either(isExact, isOver), isTiny);
  Value base = d.choose(isSpecial, specialBase, x.base);
  Value fraction =
      d.choose(isSpecial, specialFraction, d.extract(x.kept, 0, m));
  Value up = roundsUp(x.sign, d.bit(x.kept, 0), orZero(x.half), orZero(x.rest));
  if (!keepsInfinity()) {
    // The greatest number is not rounded up.
    Value field = d.equals(x.base, mostField() - 1);
    up = d.both(up, d.inverse(d.both(field, d.all(x.kept))));
  }
  up = d.both(up, d.inverse(isSpecial));
  Value step = d.both(d.top(x.kept), d.inverse(isSpecial));
  if (x.isTiny)
    step = d.either(step, d.both(isTiny, roundsUp(x.sign, d.zero(), x.tinyHalf,
                                                  x.tinyRest)));
  Value magnitude = d.add(d.join({fraction, base}),
                          d.join({d.zero(m), d.extend(step, e)}), up);
  Value sign = x.sign;
  if (x.isNaN)
    sign = d.both(sign, d.inverse(isNaN));
  return d.join({magnitude, sign});
}
} // namespace rhizome::gen::floats
