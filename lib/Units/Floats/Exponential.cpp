// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// e^x = 2^k · e^y with 0 ≤ y < 3/4. The upper bits of y choose factors in
// tables; what remains is so small that a few terms of the series give the
// last factor.
#include "Elementary.h"
#include "Float.h"
#include "rhizome/Cost/Structure.h"
#include "rhizome/Numeric/Constants.h"
#include <cmath>
#include <numbers>

using namespace mlir;

namespace rhizome::gen::floats {
static llvm::APInt wide(const std::array<uint64_t, 4> &words, int64_t width) {
  return llvm::APInt(256, words).trunc(unsigned(width));
}

namespace {
/// The steps of one operator.
class Exp {
public:
  Exp(Datapath &d, const CostContext &device, int64_t precision)
      : d(d), a(d, device), p(precision), index(precision <= 40 ? 6 : 8),
        levels(precision <= 90 ? 2 : 3) {}

  Exponential build(Value sign, Value magnitude, int64_t fraction);

private:
  Datapath &d;
  Approximate a;
  int64_t p;
  /// Bits of a table's index, and tables.
  int64_t index, levels;

  Number remainder(Value sign, Value magnitude, int64_t fraction, Value count);
  Number factor(const Number &y, int64_t level);
  Number series(const Number &r);
};
} // namespace

/// y = |k log 2 ± x|, which is below 1, so that only fraction bits matter.
Number Exp::remainder(Value sign, Value magnitude, int64_t fraction,
                      Value count) {
  Number y;
  y.scale = std::max(p, fraction);
  y.most = 0.75;
  const int64_t n = Datapath::width(count);
  Value multiple;
  if (n <= 6) {
    std::vector<llvm::APInt> entries;
    for (int64_t k = 0; k < int64_t(1) << n; ++k) {
      llvm::APInt one = wide(numeric::scaledLog(2, 0, int(y.scale + 8)), 256);
      one *= llvm::APInt(256, uint64_t(k));
      entries.push_back(one.lshr(8).trunc(unsigned(y.scale)));
    }
    multiple = a.lookup(count, entries);
    y.error = 1.5 * powerOfTwo(-y.scale);
  } else {
    const int64_t scale = y.scale + n;
    Value logOfTwo =
        d.constant(scale, wide(numeric::scaledLog(2, 0, int(scale)), scale));
    multiple = d.extract(d.multiply(logOfTwo, count), n, y.scale);
    y.error = 1.5 * powerOfTwo(-y.scale);
  }
  Value x =
      d.extract(magnitude, 0, std::min(fraction, Datapath::width(magnitude)));
  x = d.extend(x, fraction);
  if (fraction < y.scale)
    x = d.join({d.zero(y.scale - fraction), x});
  Value isPositive = d.inverse(sign);
  y.bits = d.add(d.differ(x, d.spread(sign, y.scale)),
                 d.differ(multiple, d.spread(isPositive, y.scale)), d.ones());
  return a.cut(y, p);
}

/// The factor of one group of y's bits; less 1 but for the first.
Number Exp::factor(const Number &y, int64_t level) {
  const int64_t from = p - index * (level + 1);
  const bool isFirst = level == 0;
  // Above the first table's last quarter y is not.
  std::vector<llvm::APInt> entries;
  const double most =
      std::exp(isFirst ? 0.75 : powerOfTwo(-index * level)) - (isFirst ? 0 : 1);
  const int64_t width = bitsFor(most, p);
  for (int64_t i = 0; i < int64_t(1) << index; ++i) {
    llvm::APInt entry(unsigned(width), 0);
    if (!isFirst || i < int64_t(3) << (index - 2)) {
      llvm::APInt e(256, 0);
      if (i == 0)
        e.setBit(unsigned(p));
      else
        e = wide(
            numeric::scaledExp(uint64_t(i), int(index * (level + 1)), int(p)),
            256);
      if (!isFirst)
        e -= llvm::APInt::getOneBitSet(256, unsigned(p));
      entry = e.trunc(unsigned(width));
    }
    entries.push_back(entry);
  }
  Number f;
  f.bits = a.lookup(d.extract(y.bits, from, index), entries);
  f.scale = p;
  f.most = most;
  f.error = powerOfTwo(-p - 1);
  return f;
}

/// e^r − 1 = r + r · (r/2 + r²/6 + …).
Number Exp::series(const Number &r) {
  int64_t terms = 1;
  auto omitted = [&] {
    return std::pow(r.most, double(terms + 1)) / std::tgamma(terms + 2) * 1.01;
  };
  while (omitted() > powerOfTwo(-p - 2))
    ++terms;
  if (terms == 1) {
    Number sum = r;
    sum.error += omitted();
    return sum;
  }
  const int64_t size = -int64_t(std::floor(std::log2(r.most)));
  // Each term counts by the powers of r before it.
  auto scaleOf = [&](int64_t power) {
    return std::max<int64_t>(4, p + 2 - power * (size - 1));
  };
  Number s = a.inverseFactorial(terms, scaleOf(terms));
  for (int64_t j = terms - 1; j > 1; --j)
    s = a.plus(a.inverseFactorial(j, scaleOf(j)), a.times(s, r, scaleOf(j)));
  s = a.times(s, r, scaleOf(1));
  Number sum = a.plus(r, a.times(s, r, p + 1));
  sum.error += omitted();
  return sum;
}

Exponential Exp::build(Value sign, Value magnitude, int64_t fraction) {
  // k from x's upper bits, so that y is not negative: below x / log 2, or, of
  // a negative x, above.
  constexpr int64_t kBelow = 6;
  const int64_t above = Datapath::width(magnitude) - fraction;
  Value high = fraction >= kBelow
                   ? d.extract(magnitude, fraction - kBelow, above + kBelow)
                   : d.join({d.zero(kBelow - fraction), magnitude});
  const int64_t n = above + kBelow + 1, digits = n + 2;
  Value estimate =
      d.add(d.extend(high, n), d.extend(d.join({d.zero(), sign}), n));
  Value product = d.multiply(
      estimate,
      d.constant(digits + 1, int64_t(std::floor(std::ldexp(std::numbers::log2e,
                                                           int(digits))))));
  Value count = d.extract(product, kBelow + digits, above + 2);
  count = d.add(count, d.zero(above + 2), sign);
  Exponential out;
  const int64_t bits = above + 3;
  Value wideCount = d.extend(count, bits);
  out.exponent =
      d.add(d.differ(wideCount, d.spread(sign, bits)), d.zero(bits), sign);

  Number y = remainder(sign, magnitude, fraction, count);
  // e^y and its factors have the same relative error as y.
  Number value = factor(y, 0);
  for (int64_t l = 1; l < levels; ++l)
    value = a.plus(value, a.times(value, factor(y, l), p));
  Number r;
  r.scale = p;
  r.bits = d.extract(y.bits, 0, p - index * levels);
  r.most = powerOfTwo(-index * levels);
  value = a.plus(value, a.times(value, series(r), p));
  // That of y, which no table has seen.
  value.error += y.error * 2.1;
  value.most = 2.1;
  value.bits = d.extend(
      d.extract(value.bits, 0, std::min(p + 2, Datapath::width(value.bits))),
      p + 2);
  out.value = value;
  return out;
}

Exponential exponentialOf(Datapath &d, const CostContext &device, Value sign,
                          Value magnitude, int64_t fraction,
                          int64_t precision) {
  return Exp(d, device, precision).build(sign, magnitude, fraction);
}

/// e^x overflows or vanishes from 2^n on.
static int64_t rangeOf(double most, double least) {
  const double bound = std::max(most, -least) * std::numbers::ln2;
  return std::max<int64_t>(1, int64_t(std::ceil(std::log2(bound))));
}

Value Float::exp(Value a, const CostContext &device) {
  const int64_t m = mantissa();
  Fields x = unpack(a);
  const int64_t above =
      rangeOf(f.maxExponent() + 2, f.minExponent() - f.mantissaBits - 3);
  // Below 2^-below the result is next to 1, as it is there.
  const int64_t below = m + 3, fraction = below + m;
  const int64_t size = above + fraction;
  const int64_t n = signedBits(-std::abs(f.bias) - size - 2,
                               topField() + std::abs(f.bias) + size + 2);
  Value shift =
      d.add(d.extend(exponentOf(x), n), d.constant(n, below - f.bias));
  Value isTiny = d.top(shift);
  Value isHuge = d.isLessSigned(d.constant(n, above + below - 1), shift);
  const int64_t bits = cost::clog2(above + below);
  Value amount = d.both(d.extract(d.extend(shift, std::max(n, bits)), 0, bits),
                        d.spread(d.inverse(isTiny), bits));
  Value digits =
      d.choose(isTiny, d.join({d.zero(m), d.ones()}), significand(x));
  digits = d.both(digits, d.spread(d.inverse(x.isZero), m + 1));
  Value magnitude = d.shiftLeft(d.extend(digits, size), amount);
  magnitude = d.either(magnitude, d.spread(isHuge, size));
  Value sign = d.both(x.sign, d.inverse(x.isZero));

  const double distance = *distanceOf(Function::Exp, f);
  Exponential e = exponentialOf(d, device, sign, magnitude, fraction,
                                int64_t(std::ceil(distance)) + 5);
  assert(e.value.error < std::exp2(-distance) && "a result that is not right");
  const int64_t p = e.value.scale;
  Value isHigh = d.bit(e.value.bits, p + 1);
  Value kept = d.choose(isHigh, d.extract(e.value.bits, p - m, m + 2),
                        d.extract(e.value.bits, p - m - 1, m + 2));
  const int64_t reach = (int64_t(1) << (above + 1)) + 2;
  const int64_t width =
      std::max(signedBits(-reach - std::abs(f.bias) - 2,
                          reach + std::abs(f.bias) + topField() + 2),
               Datapath::width(e.exponent));
  Value field = d.add(d.extendSigned(e.exponent, width),
                      d.constant(width, f.bias), isHigh);
  Unrounded r;
  place(r, kept, d.inverse(x.isZero), field, f.bias - reach, f.bias + reach);
  r.sign = d.zero();
  r.isNaN = x.isNaN;
  r.isInfinite = d.both(x.isInfinite, d.inverse(x.sign));
  r.isZero = d.both(x.isInfinite, x.sign);
  return round(r);
}
} // namespace rhizome::gen::floats
