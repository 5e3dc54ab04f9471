// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// a · b + c with one rounding: c is shifted along the whole product, from far
// above it to far below.
#include "Float.h"
#include "rhizome/Cost/Structure.h"

using namespace mlir;

namespace rhizome::gen::floats {
bool Float::canFuse(const numeric::Format &f) {
  // A product of two subnormal numbers holds the bits of every c.
  return !f.subnormals || f.bias >= -(f.mantissaBits + 1);
}

Value Float::fma(Value a, Value b, Value c) {
  const int64_t m = mantissa();
  // Bits below the product, and above it until c alone is rounded.
  constexpr int64_t kBelow = 2;
  const int64_t above = m + 4;
  Fields x = unpack(a), y = unpack(b), z = unpack(c);
  Value product = d.multiply(significand(x), significand(y));
  const int64_t most = 2 * topField() + std::abs(f.bias) + above + 2;
  const int64_t n = signedBits(-most, most);
  Value field =
      d.add(d.add(d.extend(exponentOf(x), n), d.extend(exponentOf(y), n)),
            d.constant(n, -f.bias));
  Value other = d.extend(exponentOf(z), n);
  Value isEmpty = d.either(x.isZero, y.isZero); // the product

  // c's top bit is at most `above` bits above the product's top but one.
  const int64_t size = kBelow + 2 * m + above + 1;
  Value raised = d.add(field, d.constant(n, above));
  Value distance = d.sub(raised, other);
  Value isAlone = d.either(d.top(distance), isEmpty);
  const int64_t bits = cost::clog2(size + 1);
  Value amount = d.extract(d.extend(distance, std::max(n, bits)), 0, bits);
  if (n - 1 > bits)
    amount = d.either(
        amount, d.spread(d.any(d.extract(distance, bits, n - 1 - bits)), bits));
  amount = d.both(amount, d.spread(d.inverse(isAlone), bits));
  Value lost;
  Value moved = d.shiftRight(d.join({d.zero(size - m - 1), significand(z)}),
                             amount, lost);

  // Two bits above for the carry and the sign, those lost below.
  Value productSign = d.differ(x.sign, y.sign);
  Value isOpposed = d.differ(productSign, z.sign);
  Value first = d.extend(d.join({d.zero(1 + kBelow), product}), size + 3);
  Value second = d.extend(d.join({lost, moved}), size + 3);
  Value sum =
      d.add(first, d.differ(second, d.spread(isOpposed, size + 3)), isOpposed);
  Value isNegative = d.top(sum);
  Value magnitude =
      d.add(d.zero(size + 3), d.differ(sum, d.spread(isNegative, size + 3)),
            isNegative);
  magnitude = d.extract(magnitude, 0, size + 2);

  Unrounded r = normalize(magnitude, d.choose(isAlone, other, raised));
  Value isProductInfinite = d.either(x.isInfinite, y.isInfinite);
  r.isNaN = d.either(
      d.either(d.either(x.isNaN, y.isNaN), z.isNaN),
      d.either(d.either(d.both(x.isInfinite, y.isZero),
                        d.both(x.isZero, y.isInfinite)),
               d.both(d.both(isProductInfinite, z.isInfinite), isOpposed)));
  r.isInfinite = d.either(isProductInfinite, z.isInfinite);
  r.isZero = d.both(d.inverse(d.any(magnitude)), d.inverse(r.isInfinite));
  Value isOther =
      d.both(d.either(isNegative, z.isInfinite), d.inverse(isProductInfinite));
  Value nothing = op.rounding == numeric::Rounding::Down ? d.ones() : d.zero();
  r.sign = d.choose(d.both(r.isZero, isOpposed), nothing,
                    d.choose(isOther, z.sign, productSign));
  return round(r);
}
} // namespace rhizome::gen::floats
