// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Quotients and roots digit by digit, e^x and log x by tables and series, all
// on magnitudes, which are rounded once.
#include "Fixed.h"
#include "Elementary.h"
#include "Float.h"
#include "rhizome/Cost/Structure.h"
#include <cmath>
#include <numbers>

using namespace mlir;

namespace rhizome::gen::floats {
Value Fixed::magnitudeOf(Value a, Value &sign) {
  const int64_t w = Datapath::width(a);
  sign = d.zero();
  if (!f.isSigned)
    return a;
  sign = d.top(a);
  return d.add(d.differ(a, d.spread(sign, w)), d.zero(w), sign);
}

Value Fixed::pattern(numeric::Bits v) {
  const uint64_t words[2] = {uint64_t(v), uint64_t(v >> 64)};
  const unsigned w = unsigned(f.width());
  return d.constant(w, llvm::APInt(128, words).trunc(w));
}

Value Fixed::finish(Value sign, Value whole, Value half, Value rest,
                    Value isOver, bool saturates) {
  const int64_t w = f.width();
  Value up = Float(d, op).roundsUp(sign, d.bit(whole, 0), half, rest);
  // A bit for the carry.
  int64_t n = std::max(Datapath::width(whole), w) + 1;
  whole = d.add(d.extend(whole, n), d.zero(n), up);
  Value low = d.extract(whole, 0, w);
  Value result = d.add(d.differ(low, d.spread(sign, w)), d.zero(w), sign);
  if (!saturates)
    return result;
  const numeric::Bits least = (~f.least() + 1) & f.mask();
  Value limit = d.choose(sign, pattern(least), pattern(f.greatest()));
  isOver = d.either(isOver, d.isLess(d.extend(limit, n), whole));
  return d.choose(isOver,
                  d.choose(sign, pattern(f.least()), pattern(f.greatest())),
                  result);
}

Value Fixed::div(Value a, Value b) {
  const int64_t w = f.width();
  Value signA, signB;
  Value number = magnitudeOf(a, signA), divisor = magnitudeOf(b, signB);
  Value sign = d.differ(signA, signB);
  const bool saturates = op.overflow == numeric::Overflow::Saturate;
  // With a negative number of fraction bits it is the divisor that is larger.
  if (f.fractionBits > 0)
    number = d.join({d.zero(f.fractionBits), number});
  else if (f.fractionBits < 0)
    divisor = d.join({d.zero(-f.fractionBits), divisor});
  // Non-restoring: the rest is between minus the divisor and the divisor.
  const int64_t n = Datapath::width(number);
  const int64_t size = Datapath::width(divisor) + 1;
  Value by = d.extend(divisor, size), rest = d.zero(size);
  Value isPositive = d.ones();
  SmallVector<Value> digits;
  for (int64_t i = n; i-- > 0;) {
    rest = d.join({d.bit(number, i), d.extract(rest, 0, size - 1)});
    rest = d.add(rest, d.differ(by, d.spread(isPositive, size)), isPositive);
    isPositive = d.inverse(d.top(rest));
    digits.push_back(isPositive);
  }
  std::reverse(digits.begin(), digits.end());
  // The rest itself, and twice the rest next to the divisor.
  rest = d.add(rest, d.both(by, d.spread(d.inverse(isPositive), size)));
  Value isInexact = d.any(rest);
  Value twice = d.join({d.zero(), rest});
  Value wide = d.extend(by, size + 1);
  Value half = d.inverse(d.isLess(twice, wide));
  Value beyond = d.differ(twice, wide);
  // The half is exact, or more remains.
  Value more = d.choose(half, d.any(beyond), isInexact);
  Value byZero = d.inverse(d.any(b));
  Value result = finish(sign, d.join(digits), half, more, d.zero(), saturates);
  Value infinite = pattern(0);
  if (saturates) {
    infinite = d.choose(signA, pattern(f.least()), pattern(f.greatest()));
    infinite = d.both(infinite, d.spread(d.any(a), w));
  }
  return d.choose(byZero, infinite, result);
}

Value Fixed::sqrt(Value a) {
  // The root of n · 2^F, to its integer and half a unit.
  const int64_t w = f.width();
  Value sign;
  Value number = magnitudeOf(a, sign);
  const int64_t fraction = f.fractionBits;
  // Two bits below, for the half; its lowest bit at an even place.
  Value radicand = number;
  if (fraction + 2 > 0)
    radicand = d.join({d.zero(fraction + 2), radicand});
  int64_t drop = fraction + 2 > 0 ? 0 : -(fraction + 2);
  Value lost = d.zero();
  if (drop > 0) {
    drop = std::min(drop, w - 1);
    lost = d.any(d.extract(radicand, 0, drop));
    radicand = d.extract(radicand, drop, w - drop);
  }
  if (Datapath::width(radicand) % 2)
    radicand = d.extend(radicand, Datapath::width(radicand) + 1);
  const int64_t count = Datapath::width(radicand) / 2;
  Value root = d.zero(count), rest;
  // Non-restoring, two bits of the radicand for each digit.
  Value isPositive = d.ones();
  SmallVector<Value> digits;
  for (int64_t i = 0; i < count; ++i) {
    Value next = d.extract(radicand, 2 * (count - 1 - i), 2);
    const int64_t size = i + 3;
    if (i == 0) {
      rest = d.sub(d.extend(next, size), d.constant(size, 1));
    } else {
      Value by = d.join(
          {d.ones(2), d.differ(root, d.spread(isPositive, i)), isPositive});
      rest = d.join({next, d.extract(rest, 0, size - 2)});
      rest = d.add(rest, by);
    }
    isPositive = d.inverse(d.top(rest));
    root = i == 0 ? isPositive : d.join({isPositive, root});
  }
  Value back =
      d.add(rest, d.extend(d.join({d.ones(), root}), Datapath::width(rest)));
  Value isInexact = d.both(d.any(rest), d.either(isPositive, d.any(back)));
  isInexact = d.either(isInexact, lost);
  Value whole = count > 1 ? d.extract(root, 1, count - 1) : d.zero();
  Value result = finish(d.zero(), whole, d.bit(root, 0), isInexact, d.zero(),
                        op.overflow == numeric::Overflow::Saturate);
  // Of negative numbers there is none.
  return d.both(result, d.spread(d.inverse(sign), w));
}

Value Fixed::exp(Value a, const CostContext &device) {
  const int64_t fraction = f.fractionBits;
  Value sign;
  Value number = magnitudeOf(a, sign);
  // Beyond 2^above the result saturates, or is below half a unit.
  const int64_t integers = f.integerBits - (f.isSigned ? 1 : 0);
  const double bound =
      std::max<double>(double(integers) + 1, double(fraction) + 3) *
      std::numbers::ln2;
  const int64_t above =
      std::max<int64_t>(1, int64_t(std::ceil(std::log2(bound))));
  // In units of 2^-places, of which there is one at least.
  const int64_t places = std::max<int64_t>(fraction, 1);
  Value x = number;
  if (places > fraction)
    x = d.join({d.zero(places - fraction), x});
  const int64_t size = above + places;
  Value isHuge = d.zero();
  if (Datapath::width(x) > size) {
    isHuge = d.any(d.extract(x, size, Datapath::width(x) - size));
    x = d.either(d.extract(x, 0, size), d.spread(isHuge, size));
  } else {
    x = d.extend(x, size);
  }
  const double distance = *distanceOf(Function::Exp, f);
  Exponential e = exponentialOf(d, device, sign, x, places,
                                int64_t(std::ceil(distance)) + 5);
  assert(e.value.error < std::exp2(-distance) && "a result that is not right");
  // Value · 2^k in units: from the highest k that the format has, to the right.
  const int64_t p = e.value.scale;
  const int64_t highest = std::max<int64_t>(integers, -fraction);
  const int64_t n =
      std::max(Datapath::width(e.exponent) + 1,
               Float::signedBits(-highest - 2, std::abs(highest) + 2));
  Value down = d.sub(d.constant(n, highest), d.extendSigned(e.exponent, n));
  Value isOver = d.top(down);
  // Integer bits at the highest k, and one below.
  const int64_t kept = highest + fraction + 2 + 1;
  Value digits = e.value.bits;
  Value rest = d.any(a);
  if (kept < p + 2)
    digits = d.extract(digits, p + 2 - kept, kept);
  else
    digits = d.join({d.zero(kept - p - 2), digits});
  const int64_t bits = cost::clog2(kept + 1);
  Value amount = d.extract(d.extend(down, std::max(n, bits)), 0, bits);
  if (n - 1 > bits)
    amount = d.either(
        amount, d.spread(d.any(d.extract(down, bits, n - 1 - bits)), bits));
  Value lost;
  digits = d.shiftRight(digits, amount, lost);
  rest = d.either(rest, lost);
  return finish(d.zero(), d.extract(digits, 1, kept - 1), d.bit(digits, 0),
                rest, isOver, true);
}

Value Fixed::log(Value a, const CostContext &device) {
  const int64_t w = f.width(), fraction = f.fractionBits;
  Value sign;
  Value number = magnitudeOf(a, sign);
  Value zeros = d.leadingZeros(number);
  Value digits = d.shiftLeft(number, zeros);
  const int64_t most = w - 1 - fraction, least = -fraction;
  const int64_t n =
      std::max<int64_t>(4, Float::signedBits(std::min<int64_t>(least, -1) - w,
                                             std::max<int64_t>(most, w) + 1));
  Value exponent = d.sub(d.constant(n, most),
                         d.extend(zeros, std::max(n, Datapath::width(zeros))));
  const double distance = *distanceOf(Function::Log, f);
  Logarithm l = logarithmOf(d, device, exponent, digits,
                            int64_t(std::ceil(distance)) + 5, false);
  assert(l.value.error < std::exp2(-distance) && "a result that is not right");
  Value isNothing = d.inverse(d.any(number));
  Value isOne =
      d.inverse(d.either(d.any(exponent), d.any(d.extract(digits, 0, w - 1))));
  Value v = l.value.bits;
  const int64_t drop = l.value.scale - fraction;
  Value whole, half;
  if (drop > Datapath::width(v)) {
    whole = half = d.zero();
  } else {
    half = d.bit(v, drop - 1);
    whole = drop == Datapath::width(v)
                ? d.zero()
                : d.extract(v, drop, Datapath::width(v) - drop);
  }
  // Zero is minus infinity; one has the exact result 0.
  Value isNegative = d.either(isNothing, l.isNegative);
  Value result = finish(isNegative, whole, half, d.ones(), isNothing, true);
  Value isNone = d.either(sign, d.both(isOne, d.inverse(isNothing)));
  return d.both(result, d.spread(d.inverse(isNone), w));
}
} // namespace rhizome::gen::floats
