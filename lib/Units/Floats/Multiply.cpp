// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Products. The zeros above subnormal operands are counted while the DSP blocks
// multiply; one shifter moves the product by them, or to the right if the
// result is subnormal.
#include "Float.h"
#include "rhizome/Cost/Structure.h"

using namespace mlir;

namespace rhizome::gen::floats {
Value Float::mul(Value a, Value b) {
  const int64_t m = mantissa(), e = exponent();
  Fields x = unpack(a), y = unpack(b);
  Value sigX = significand(x), sigY = significand(y);
  Value product = d.multiply(sigX, sigY);

  // The field of the binade in which the product's top bit but one is.
  const int64_t most = 2 * mostField() + 2 - f.bias;
  const int64_t least = 1 - f.bias - 2 * (m + 1);
  const int64_t n = std::max(signedBits(least, most),
                             signedBits(-mostField() - 2, mostField() + 2));
  Value field =
      d.add(d.add(d.extend(exponentOf(x), n), d.extend(exponentOf(y), n)),
            d.constant(n, -f.bias));
  Unrounded r;
  r.sign = d.differ(x.sign, y.sign);
  r.isNaN = d.either(
      d.either(x.isNaN, y.isNaN),
      d.either(d.both(x.isInfinite, y.isZero), d.both(x.isZero, y.isInfinite)));
  r.isInfinite = d.either(x.isInfinite, y.isInfinite);
  r.isZero = d.both(d.either(x.isZero, y.isZero), d.inverse(r.isInfinite));

  auto isAbove = [&](Value v, int64_t bound) {
    return d.isLessSigned(d.constant(n, bound), v);
  };
  if (!f.subnormals) {
    // The top bit tells the binade.
    Value isHigh = d.top(product);
    Value digits = d.choose(isHigh, d.extract(product, 0, 2 * m + 1),
                            d.join({d.zero(), d.extract(product, 0, 2 * m)}));
    Value fraction = d.extract(digits, m + 1, m);
    r.kept = d.join({fraction, d.ones()});
    r.half = d.bit(digits, m);
    r.rest = d.any(d.extract(digits, 0, m));
    Value lower = d.sub(field, d.constant(n, 1));
    r.base = d.choose(isHigh, d.extract(field, 0, e), d.extract(lower, 0, e));
    r.isOver = d.choose(isHigh, isAbove(field, mostField() - 1),
                        isAbove(field, mostField()));
    r.isTiny = d.choose(isHigh, d.top(field), d.top(lower));
    r.tinyHalf = d.choose(isHigh, d.equals(field, -1), d.equals(field, 0));
    r.tinyRest = d.either(d.inverse(r.tinyHalf), d.any(digits));
    return round(r);
  }

  Value zerosX = d.leadingZeros(sigX), zerosY = d.leadingZeros(sigY);
  const int64_t z = Datapath::width(zerosX) + 1;
  Value zeros = d.add(d.extend(zerosX, z), d.extend(zerosY, z));
  Value lowered = d.sub(field, d.extend(zeros, n));
  Value isBelow = d.top(lowered);
  // Shifted by `amount` from far below.
  const int64_t below = m + 3, furthest = below + 2 * m;
  const int64_t bits = cost::clog2(furthest + 1);
  Value limited = d.add(field, d.constant(n, below));
  limited = d.both(d.extract(d.extend(limited, std::max(n, bits)), 0, bits),
                   d.spread(d.inverse(d.top(limited)), bits));
  Value whole = d.add(d.extend(zeros, std::max(bits, z)),
                      d.constant(std::max(bits, z), below));
  Value amount = d.choose(isBelow, limited, d.extract(whole, 0, bits));
  Value raised = d.extract(lowered, 0, n);
  raised = d.both(raised, d.spread(d.inverse(isBelow), n));

  // The bits from `lowest` on may be above the rest in the end.
  const int64_t lowest = below + m - 1;
  Value v = d.extend(product, 2 * m + 2 + below);
  Value rest = d.zero();
  int64_t dropped = 0, left = furthest;
  for (int64_t k = bits;; --k) {
    const int64_t reach = lowest - std::min(left, (int64_t(1) << k) - 1);
    if (reach > dropped) {
      rest = d.either(rest, d.any(d.extract(v, 0, reach - dropped)));
      v = d.extract(v, reach - dropped, Datapath::width(v) - (reach - dropped));
      dropped = reach;
    }
    if (k == 0)
      break;
    const int64_t by = int64_t(1) << (k - 1), size = Datapath::width(v);
    Value moved = by >= size ? d.zero(size)
                             : d.join({d.zero(by), d.extract(v, 0, size - by)});
    v = d.choose(d.bit(amount, k - 1), moved, v);
  }
  // The top bit is set, or the next one if the exponent can still be lowered.
  Value isHigh = d.either(d.top(v), d.inverse(d.any(raised)));
  Value digits =
      d.choose(isHigh, d.extract(v, 1, m + 2), d.extract(v, 0, m + 2));
  r.kept = d.extract(digits, 1, m + 1);
  r.half = d.bit(digits, 0);
  r.rest = d.either(rest, d.both(isHigh, d.bit(v, 0)));
  r.base = d.choose(isHigh, d.extract(raised, 0, e),
                    d.extract(d.sub(raised, d.constant(n, 1)), 0, e));
  r.isOver = d.choose(d.top(v), isAbove(raised, mostField() - 1),
                      isAbove(raised, mostField()));
  return round(r);
}
} // namespace rhizome::gen::floats
