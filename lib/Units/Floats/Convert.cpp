// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Conversions between formats, at least one of them of floats: to floats by the
// highest one of what is converted, to fixed point by one shift.
#include "Float.h"
#include "rhizome/Cost/Structure.h"

using namespace mlir;

namespace rhizome::gen::floats {
Value Float::fromFixed(Value a, const numeric::Format &from) {
  const int64_t m = mantissa(), w = Datapath::width(a);
  Unrounded r;
  r.sign = from.isSigned ? d.top(a) : d.zero();
  Value size = from.isSigned
                   ? d.add(d.differ(a, d.spread(r.sign, w)), d.zero(w), r.sign)
                   : a;
  Value zeros = d.leadingZeros(size);
  Value digits = d.shiftLeft(size, zeros);
  const int64_t least = f.bias - from.fractionBits, most = least + w - 1;
  const int64_t n = signedBits(std::min<int64_t>(least, -1) - 1,
                               std::max(most, topField()) + 1);
  Value field = d.sub(d.constant(n, most),
                      d.extend(zeros, std::max(n, Datapath::width(zeros))));
  // The significand and the bit below it.
  Value rest = d.zero();
  if (w > m + 2) {
    rest = d.any(d.extract(digits, 0, w - m - 2));
    digits = d.extract(digits, w - m - 2, m + 2);
  } else if (w < m + 2) {
    digits = d.join({d.zero(m + 2 - w), digits});
  }
  place(r, digits, rest, field, least, most);
  r.isZero = d.inverse(d.any(a));
  return round(r);
}

Value Float::fromFloat(Value a, const Operator &source) {
  Float other(d, source);
  const numeric::Format &from = source.format;
  const int64_t m = mantissa(), own = from.mantissaBits;
  Fields x = other.unpack(a);
  const int64_t shift = f.bias - from.bias;
  const int64_t least = (from.subnormals ? 1 - own : 1) + shift;
  const int64_t most = other.topField() + shift;
  const int64_t n =
      signedBits(std::min({least, -own, int64_t(-1)}) - 1,
                 std::max({most, topField(), other.topField()}) + 1);
  Value field;
  Value digits = other.normalized(x, n, field);
  field = d.add(field, d.constant(n, shift));
  Value rest = d.zero();
  if (own > m + 1) {
    rest = d.any(d.extract(digits, 0, own - m - 1));
    digits = d.extract(digits, own - m - 1, m + 2);
  } else if (own < m + 1) {
    digits = d.join({d.zero(m + 1 - own), digits});
  }
  Unrounded r;
  place(r, digits, rest, field, least, most);
  r.sign = x.sign;
  r.isZero = x.isZero;
  r.isInfinite = x.isInfinite;
  r.isNaN = x.isNaN;
  return round(r);
}

Value Float::toFixed(Value a, const numeric::Format &to) {
  const int64_t m = mantissa(), w = to.width();
  const bool saturates = op.overflow == numeric::Overflow::Saturate;
  Fields x = unpack(a);
  // The integer's lowest bit is m + 2 bits up.
  const int64_t below = m + 2, size = w + below;
  const int64_t offset = to.fractionBits - f.bias - m + below;
  const int64_t n =
      signedBits(std::min<int64_t>(offset, 0) - 1,
                 std::max(topField() + std::max<int64_t>(offset, 0), size) + 1);
  Value by = d.add(d.extend(exponentOf(x), n), d.constant(n, offset));
  Value isFar = d.isLessSigned(d.constant(n, size), by);
  const int64_t bits = cost::clog2(size + 1);
  Value amount = d.extract(d.extend(by, std::max(n, bits)), 0, bits);
  amount =
      d.both(amount, d.spread(d.inverse(d.either(isFar, d.top(by))), bits));
  // Above it what saturation has to know.
  const int64_t space = saturates ? m + 2 : 0;
  Value start = d.both(significand(x), d.spread(d.inverse(isFar), m + 1));
  Value placed = d.shiftLeft(d.extend(start, size + space), amount);
  Value up = roundsUp(x.sign, d.bit(placed, below), d.bit(placed, below - 1),
                      d.any(d.extract(placed, 0, below - 1)));
  Value whole = d.extract(placed, below, w + space);
  whole = d.add(whole, d.zero(w + space), up);
  Value low = d.extract(whole, 0, w);
  Value result = d.add(d.differ(low, d.spread(x.sign, w)), d.zero(w), x.sign);
  auto pattern = [&](numeric::Bits v) {
    const uint64_t words[2] = {uint64_t(v), uint64_t(v >> 64)};
    return d.constant(w, llvm::APInt(128, words).trunc(unsigned(w)));
  };
  Value isBound = d.zero();
  if (saturates) {
    // The magnitudes of the bounds.
    const numeric::Bits least = (~to.least() + 1) & to.mask();
    Value limit = d.choose(x.sign, pattern(least), pattern(to.greatest()));
    isBound = d.isLess(d.extend(limit, w + space), whole);
    Value isFinite = d.inverse(d.either(x.isInfinite, x.isNaN));
    isBound = d.either(d.both(isBound, isFinite), x.isInfinite);
    isBound =
        d.either(isBound, d.both(d.both(isFar, isFinite), d.inverse(x.isZero)));
    result = d.choose(
        isBound, d.choose(x.sign, pattern(to.least()), pattern(to.greatest())),
        result);
  }
  Value isNothing = saturates ? x.isNaN : d.either(x.isNaN, x.isInfinite);
  return d.both(result, d.spread(d.inverse(isNothing), w));
}
} // namespace rhizome::gen::floats
