// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Quotients and roots, digit by digit: a row adds or subtracts by the sign that
// the row before leaves (non-restoring), so that a row is one carry chain.
#include "Float.h"

using namespace mlir;

namespace rhizome::gen::floats {
Value Float::normalized(const Fields &x, int64_t n, Value &field) {
  Value digits = significand(x);
  field = d.extend(exponentOf(x), n);
  if (!f.subnormals)
    return digits;
  Value zeros = d.leadingZeros(digits);
  field = d.sub(field, d.extend(zeros, n));
  return d.shiftLeft(digits, zeros);
}

Value Float::div(Value a, Value b) {
  const int64_t m = mantissa();
  Fields x = unpack(a), y = unpack(b);
  const int64_t most = 2 * topField() + std::abs(f.bias) + 2 * m + 4;
  const int64_t n = signedBits(-most, most);
  Value fieldX, fieldY;
  Value rest = normalized(x, n, fieldX), divisor = normalized(y, n, fieldY);
  Value field = d.add(d.sub(fieldX, fieldY), d.constant(n, f.bias));

  // The rest is between minus the divisor and the divisor.
  const int64_t size = m + 3;
  rest = d.extend(rest, size);
  Value by = d.extend(divisor, size);
  SmallVector<Value> digits;
  Value isPositive = d.ones();
  for (int64_t i = 0; i < m + 3; ++i) {
    if (i > 0)
      rest = d.join({d.zero(), d.extract(rest, 0, size - 1)});
    rest = d.add(rest, d.differ(by, d.spread(isPositive, size)), isPositive);
    isPositive = d.inverse(d.top(rest));
    digits.push_back(isPositive);
  }
  std::reverse(digits.begin(), digits.end());
  Value isInexact =
      d.both(d.any(rest), d.either(isPositive, d.any(d.add(rest, by))));

  Unrounded r;
  Value isHigh = digits.back(); // at least 1
  Value all = d.join(digits);
  Value kept =
      d.choose(isHigh, d.extract(all, 1, m + 2), d.extract(all, 0, m + 2));
  Value below = d.either(isInexact, d.both(isHigh, digits[0]));
  field = d.choose(isHigh, field, d.sub(field, d.constant(n, 1)));
  place(r, kept, below, field, 1 - topField() - m - 1 + f.bias,
        topField() + m + f.bias);
  r.sign = d.differ(x.sign, y.sign);
  r.isNaN = d.either(
      d.either(x.isNaN, y.isNaN),
      d.either(d.both(x.isInfinite, y.isInfinite), d.both(x.isZero, y.isZero)));
  r.isInfinite = d.either(x.isInfinite, y.isZero);
  r.isZero = d.either(x.isZero, y.isInfinite);
  return round(r);
}

Value Float::sqrt(Value a) {
  const int64_t m = mantissa();
  Fields x = unpack(a);
  const int64_t most = topField() + 2 * std::abs(f.bias) + m + 4;
  const int64_t n = signedBits(-most, most);
  Value field;
  Value digits = normalized(x, n, field);
  // The exponent is made even.
  Value exponent = d.add(field, d.constant(n, -f.bias));
  Value isOdd = d.bit(exponent, 0);
  field = d.add(d.extendSigned(d.extract(exponent, 1, n - 1), n),
                d.constant(n, f.bias));
  Value radicand =
      d.choose(isOdd, d.join({d.zero(), digits}), d.join({digits, d.zero()}));
  // Two digits for each of the root's, which has one more than the fraction
  // and the hidden one.
  const int64_t count = m + 2;
  radicand = d.join({d.zero(2 * count - m - 2), radicand});
  Value root, rest, isPositive;
  for (int64_t i = 0; i < count; ++i) {
    Value next = d.extract(radicand, 2 * (count - 1 - i), 2);
    if (i == 0) {
      // 1, 2 or 3, less 1.
      rest = d.extend(d.sub(next, d.constant(2, 1)), 3);
      root = isPositive = d.ones();
      continue;
    }
    const int64_t size = i + 3;
    // Less 4 · root + 1, or plus 4 · root + 3.
    Value by = d.join(
        {d.ones(2), d.differ(root, d.spread(isPositive, i)), isPositive});
    rest = d.join({next, d.extract(rest, 0, size - 2)});
    rest = d.add(rest, by);
    isPositive = d.inverse(d.top(rest));
    root = d.join({isPositive, root});
  }
  Value back =
      d.add(rest, d.extend(d.join({d.ones(), root}), Datapath::width(rest)));
  Value isInexact = d.both(d.any(rest), d.either(isPositive, d.any(back)));

  Unrounded r;
  auto half = [](int64_t v) { return v >> 1; };
  place(r, root, isInexact, field, half(1 - f.bias - m) + f.bias,
        half(topField() - f.bias) + f.bias);
  r.isZero = x.isZero;
  r.isInfinite = d.both(x.isInfinite, d.inverse(x.sign));
  r.isNaN = d.either(x.isNaN, d.both(x.sign, d.inverse(x.isZero)));
  r.sign = x.sign;
  return round(r);
}
} // namespace rhizome::gen::floats
