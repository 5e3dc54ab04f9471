// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Functions that round nothing: the lesser and the greater of two numbers,
// changed signs.
#include "Float.h"

using namespace mlir;

namespace rhizome::gen::floats {
Value Float::least(Value a, Value b, bool isGreatest) {
  const int64_t n = exponent() + mantissa();
  Fields x = unpack(a), y = unpack(b);
  Value sizeX = d.extract(a, 0, n), sizeY = d.extract(b, 0, n);
  Value isLess = d.choose(
      d.differ(x.sign, y.sign), x.sign,
      d.choose(x.sign, d.isLess(sizeY, sizeX), d.isLess(sizeX, sizeY)));
  Value areZero = d.both(x.isZero, y.isZero);
  Value isFirst = d.choose(areZero, x.sign, isLess);
  Value chosen = isGreatest ? d.choose(isFirst, b, a) : d.choose(isFirst, a, b);
  return d.choose(d.either(x.isNaN, y.isNaN), nan(), chosen);
}

Value Float::signedAs(Value a, bool isNegated) {
  const int64_t m = mantissa(), e = exponent();
  Fields x = unpack(a);
  Value size = d.join({x.fraction, x.field});
  if (!f.finite && !keepsInfinity())
    size = d.choose(x.isInfinite, d.join({d.ones(m), d.zero(), d.ones(e - 1)}),
                    size);
  Value sign = isNegated ? d.inverse(x.sign) : d.zero();
  return d.choose(x.isNaN, nan(), d.join({size, sign}));
}

Value Float::nan() {
  const int64_t m = mantissa(), e = exponent();
  if (m == 1)
    return d.join({d.ones(1 + e), d.zero()});
  return d.join({d.zero(m - 1), d.ones(1 + e), d.zero()});
}
} // namespace rhizome::gen::floats
