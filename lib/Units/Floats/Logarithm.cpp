// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// log x = k · log 2 − Σ log(1 + t) + log(1 + r): factors 1 + t from tables
// bring the significand to 1 + r, exactly, and a few terms of the series give
// the rest. Next to 1 there is only r, whose digits are moved up first, so that
// the result has as many as elsewhere.
#include "Elementary.h"
#include "Float.h"
#include "rhizome/Numeric/Constants.h"
#include <cmath>

using namespace mlir;

namespace rhizome::gen::floats {
namespace {
class Log {
public:
  Log(Datapath &d, const CostContext &device, int64_t precision, bool isFloat)
      : d(d), a(d, device), p(precision), isFloat(isFloat),
        index(precision <= 40 ? 6 : 8), levels(precision <= 90 ? 2 : 3),
        // Each table but the first halves the remainder index − 1 times.
        small(index + (levels - 1) * (index - 1)),
        scale(precision + (isFloat ? small + 4 : 2)) {}

  Logarithm build(Value exponent, Value digits);

private:
  Datapath &d;
  Approximate a;
  int64_t p;
  bool isFloat;
  int64_t index, levels, small, scale;
  /// Signed, in units of 2^-scale.
  Value sum;
  double error = 0;
  int64_t above; ///< bits before the point, with the sign

  Value signedTable(Value at, ArrayRef<llvm::APInt> entries);
  void reduce(Value &r, int64_t &fraction, int64_t cell, Value &isUnity);
  Number series(const Number &r, Value isNegative);
};
} // namespace

/// One table: r becomes r + t · (1 + r). All r between −2 and 2^(index − 1) − 1
/// cells are chosen by the bits from the cell's on.
void Log::reduce(Value &r, int64_t &fraction, int64_t cell, Value &isUnity) {
  const int64_t size = fraction - cell;
  Value at = d.extract(r, size, index);
  const int64_t unit = cell + 4; // of t
  std::vector<llvm::APInt> factors, logs;
  double greatest = 0;
  for (int64_t i = 0; i < int64_t(1) << index; ++i) {
    const int64_t number =
        i < int64_t(1) << (index - 1) ? i : i - (int64_t(1) << index);
    const double center = std::ldexp(double(number) + 0.5, int(-cell));
    int64_t t = 0;
    // Cells next to 1 stay, and so do those that no number is in.
    if (number != 0 && number != -1 && center > -0.26 && center < 0.5)
      t = std::llround(std::ldexp(1 / (1 + center) - 1, int(unit)));
    greatest = std::max(greatest, std::abs(double(t)));
    factors.push_back(llvm::APInt(64, uint64_t(std::abs(t))));
    llvm::APInt log(256, 0);
    if (t != 0)
      log = llvm::APInt(256,
                        numeric::scaledLog(uint64_t((int64_t(1) << unit) + t),
                                           int(unit), int(scale)));
    if (t > 0)
      log.negate();
    logs.push_back(log);
  }
  const unsigned width = unsigned(bitsFor(greatest, 0));
  for (llvm::APInt &one : factors)
    one = one.trunc(width);
  Value t = a.lookup(at, factors);
  sum = d.add(sum, signedTable(at, logs));
  error += powerOfTwo(-scale - 1);

  Value isNegative = d.top(r);
  Value unity = d.either(d.inverse(d.any(at)), d.all(at));
  isUnity = isUnity ? d.both(isUnity, unity) : unity;
  // 1 + r, without a sign: its top bit is that of the sum.
  Value one = d.extendSigned(r, fraction + 2);
  one = d.join({d.extract(one, 0, fraction),
                d.add(d.extract(one, fraction, 2), d.constant(2, 1))});
  one = d.extract(one, 0, fraction + 1);
  Value product = d.multiply(one, t);
  const int64_t whole = fraction + unit + 1;
  Value opposed = d.inverse(isNegative); // t is negative where r is not
  auto fit = [&](Value v) {
    return Datapath::width(v) > whole ? d.extract(v, 0, whole)
                                      : d.extend(v, whole);
  };
  Value wide = d.join({d.zero(unit), d.extendSigned(r, fraction + 1)});
  r = d.add(wide, d.differ(fit(product), d.spread(opposed, whole)), opposed);
  // Now within a cell of 0 on either side.
  fraction += unit;
  r = d.extract(r, 0, fraction - cell + 1);
}

Value Log::signedTable(Value at, ArrayRef<llvm::APInt> entries) {
  unsigned width = 1;
  for (const llvm::APInt &one : entries)
    width = std::max(width, one.getSignificantBits());
  std::vector<llvm::APInt> cut;
  for (const llvm::APInt &one : entries)
    cut.push_back(one.trunc(width));
  return d.extendSigned(a.lookup(at, cut), scale + above);
}

/// h, where log(1 + r) = r · (1 − h): |r| · (1/2 − r · (1/3 − r · …)).
Number Log::series(const Number &r, Value isNegative) {
  // Signs of r are those of its magnitude here.
  int64_t terms = 2;
  auto omitted = [&] {
    return std::pow(r.most, double(terms)) / double(terms + 1) * 1.01;
  };
  while (omitted() > powerOfTwo(-p - 3))
    ++terms;
  const int64_t size = -int64_t(std::floor(std::log2(r.most)));
  auto scaleOf = [&](int64_t power) {
    return std::max<int64_t>(4, p + 3 - power * (size - 1));
  };
  Number s = a.inverseOf(terms, scaleOf(terms - 1));
  for (int64_t j = terms - 1; j > 1; --j)
    s = a.minusOrPlus(a.inverseOf(j, scaleOf(j - 1)),
                      a.times(s, r, scaleOf(j - 1)), isNegative);
  Number h = a.times(s, r, p + 3);
  h.error += omitted();
  return h;
}

Logarithm Log::build(Value exponent, Value digits) {
  const int64_t m = Datapath::width(digits) - 1;
  // 3/4 … 3/2, so that next to 1 there is no power of two.
  Value isUpper = d.bit(digits, m - 1);
  const int64_t n = Datapath::width(exponent) + 1;
  Value k = d.add(d.extendSigned(exponent, n), d.zero(n), isUpper);
  int64_t fraction = m + 1;
  Value r = d.choose(isUpper, d.join({digits, d.ones()}),
                     d.join({d.zero(), d.extract(digits, 0, m), d.zero()}));

  above = n - 1;
  Value negative = d.top(k);
  Value size = d.add(d.differ(k, d.spread(negative, n)), d.zero(n), negative);
  size = d.extract(size, 0, n - 1);
  const int64_t width = scale + n - 1;
  Value logOfTwo =
      d.constant(width, llvm::APInt(256, numeric::scaledLog(2, 0, int(width)))
                            .trunc(unsigned(width)));
  Value multiple = d.extract(d.multiply(logOfTwo, size), n - 1, width);
  sum = d.add(d.differ(multiple, d.spread(negative, scale + above)),
              d.zero(scale + above), negative);
  error = 2 * powerOfTwo(-scale);

  Value isNear = d.inverse(d.any(k));
  Value isUnity;
  // r has as many bits as the index at least.
  auto reach = [&](int64_t least) {
    if (fraction >= least)
      return;
    r = d.join({d.zero(least - fraction), r});
    fraction = least;
  };
  int64_t cell = index;
  for (int64_t l = 0; l < levels; ++l) {
    reach(cell + 1);
    reduce(r, fraction, cell, isUnity);
    if (l + 1 < levels)
      cell += index - 1;
  }
  isNear = d.both(isNear, isUnity);
  // |r| is a cell at most.
  Value isNegative = d.top(r);
  const int64_t bits = Datapath::width(r);
  Number magnitude;
  magnitude.bits =
      d.add(d.differ(r, d.spread(isNegative, bits)), d.zero(bits), isNegative);
  magnitude.scale = fraction;
  magnitude.most = powerOfTwo(-cell);
  Number h = series(magnitude, isNegative);

  Logarithm out;
  Number whole = magnitude;
  if (isFloat) {
    // The digits of a number next to 1 are those of its fraction.
    const int64_t top = fraction - cell; // of |r| < 2^-cell
    Value own = d.extract(magnitude.bits, 0, top);
    const int64_t some = std::min(top, m + 1 - cell);
    Value zeros =
        some > 0 ? d.leadingZeros(d.extract(own, top - some, some)) : d.zero();
    Value moves = d.both(isNear, d.inverse(d.top(magnitude.bits)));
    zeros = d.both(zeros, d.spread(moves, Datapath::width(zeros)));
    whole.bits = d.join({d.shiftLeft(own, zeros), d.top(magnitude.bits)});
    out.zeros = zeros;
  }
  // whole · (1 − h), where h is added for negative r.
  Number part = a.cut(whole, scale);
  part = a.minusOrPlus(part, a.times(whole, h, scale), isNegative);
  Value signedPart = d.extend(part.bits, scale + above);
  if (part.scale < scale)
    signedPart = d.extend(d.join({d.zero(scale - part.scale), part.bits}),
                          scale + above);
  Value total =
      d.add(sum, d.differ(signedPart, d.spread(isNegative, scale + above)),
            isNegative);
  Value isBelow = d.top(total);
  total = d.add(d.differ(total, d.spread(isBelow, scale + above)),
                d.zero(scale + above), isBelow);
  out.value.scale = scale;
  out.value.error = part.error + error;
  // Numbers are as large as a cell of the last table at least.
  assert((!isFloat ||
          out.value.error * powerOfTwo(-cell - 2) <= powerOfTwo(5 - p)) &&
         "a result that is not right");
  out.value.most = powerOfTwo(above - 1);
  out.value.bits =
      d.extract(isFloat ? d.choose(isNear, signedPart, total) : total, 0,
                scale + above - 1);
  out.isNegative = d.choose(isNear, isNegative, isBelow);
  return out;
}

Logarithm logarithmOf(Datapath &d, const CostContext &device, Value exponent,
                      Value digits, int64_t precision, bool isFloat) {
  return Log(d, device, precision, isFloat).build(exponent, digits);
}

Value Float::log(Value a, const CostContext &device) {
  const int64_t m = mantissa();
  Fields x = unpack(a);
  const int64_t most = topField() + std::abs(f.bias) + m + 2;
  const int64_t n = signedBits(-most, most);
  Value field;
  Value digits = normalized(x, n, field);
  Value exponent = d.add(field, d.constant(n, -f.bias));
  const double distance = *distanceOf(Function::Log, f);
  Logarithm l = logarithmOf(d, device, exponent, digits,
                            int64_t(std::ceil(distance)) + 5, true);
  // Only what may be the result's top bit and its digits.
  const int64_t width = Datapath::width(l.value.bits);
  Value zeros = d.leadingZeros(l.value.bits);
  Value placed = d.shiftLeft(l.value.bits, zeros);
  const int64_t reach = width + m + 4;
  const int64_t size = signedBits(-reach - std::abs(f.bias) - 2,
                                  reach + std::abs(f.bias) + topField() + 2);
  Value lowered = d.add(d.extend(zeros, size), d.extend(l.zeros, size));
  lowered =
      d.sub(d.constant(size, f.bias + width - l.value.scale - 1), lowered);
  Unrounded r;
  place(r, d.extract(placed, width - m - 2, m + 2), d.ones(), lowered,
        f.bias - reach, f.bias + width - l.value.scale - 1);
  r.isNaN = d.either(x.isNaN, d.both(x.sign, d.inverse(x.isZero)));
  r.isInfinite = d.both(d.either(x.isInfinite, x.isZero), d.inverse(r.isNaN));
  Value isOne =
      d.inverse(d.either(d.any(exponent), d.any(d.extract(digits, 0, m))));
  r.isZero = d.both(isOne, d.inverse(r.isInfinite));
  r.sign = d.either(
      x.isZero, d.both(l.isNegative, d.inverse(d.either(x.isInfinite, isOne))));
  return round(r);
}
} // namespace rhizome::gen::floats
