// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sums and differences: the operand of smaller magnitude is shifted to the
// other's exponent, with three bits below the fraction that the rounding needs,
// the last of which stands for all that was shifted out.
#include "Float.h"
#include "rhizome/Cost/Structure.h"

using namespace mlir;

namespace rhizome::gen::floats {
Value Float::add(Value a, Value b, bool isDifference) {
  const int64_t m = mantissa(), e = exponent();
  if (isDifference)
    b = d.join({d.extract(b, 0, e + m), d.inverse(d.top(b))});
  Fields x = unpack(a), y = unpack(b);
  Value isOpposed = d.differ(x.sign, y.sign);
  Value isSwapped = d.isLess(d.extract(a, 0, e + m), d.extract(b, 0, e + m));
  Value bigField = d.choose(isSwapped, exponentOf(y), exponentOf(x));
  Value big = d.choose(isSwapped, significand(y), significand(x));
  Value small = d.choose(isSwapped, significand(x), significand(y));
  Value sign = d.choose(isSwapped, y.sign, x.sign);

  // Both differences, so that none waits for the comparison.
  Value ex = exponentOf(x), ey = exponentOf(y);
  Value distance = d.choose(isSwapped, d.sub(ey, ex), d.sub(ex, ey));
  const int64_t bits = std::min(e, cost::clog2(m + 4));
  Value amount = d.extract(distance, 0, bits);
  if (bits < e) // Far ones are shifted out.
    amount = d.either(
        amount, d.spread(d.any(d.extract(distance, bits, e - bits)), bits));
  Value lost;
  Value shifted = d.shiftRight(d.join({d.zero(2), small}), amount, lost);
  // A bit for the carry above and the lost ones below.
  Value first = d.join({d.zero(3), big, d.zero()});
  Value second = d.join({lost, shifted, d.zero()});
  Value sum =
      d.add(first, d.differ(second, d.spread(isOpposed, m + 5)), isOpposed);

  Unrounded r = normalize(sum, bigField);
  r.isOver = d.both(d.top(sum), d.equals(bigField, mostField()));
  r.isNaN = d.either(d.either(x.isNaN, y.isNaN),
                     d.both(d.both(x.isInfinite, y.isInfinite), isOpposed));
  r.isInfinite = d.either(x.isInfinite, y.isInfinite);
  r.isZero = d.both(d.inverse(d.any(sum)), d.inverse(r.isInfinite));
  // An exact zero of opposed operands.
  Value nothing = op.rounding == numeric::Rounding::Down ? d.ones() : d.zero();
  r.sign = d.choose(d.both(r.isZero, isOpposed), nothing, sign);
  return round(r);
}
} // namespace rhizome::gen::floats
