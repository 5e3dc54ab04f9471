// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Products of which only the upper bits are built, sums, and tables. Bits that
// are left out make a number smaller, by less than a unit of the last one kept.
#include "Approximate.h"
#include "rhizome/Cost/Structure.h"
#include <cmath>

using namespace mlir;

namespace rhizome::gen::floats {
double powerOfTwo(int64_t n) { return std::ldexp(1.0, int(n)); }

int64_t bitsFor(double most, int64_t scale) {
  int exponent;
  std::frexp(most, &exponent);
  return std::max<int64_t>(1, exponent + scale);
}

Number Approximate::constant(const llvm::APInt &value, int64_t scale,
                             double error) {
  const unsigned width = std::max(1u, value.getActiveBits());
  Number x;
  x.bits = d.constant(width, value.trunc(width));
  x.scale = scale;
  x.most = value.roundToDouble() * powerOfTwo(-scale) * (1 + powerOfTwo(-50));
  x.error = error;
  return x;
}

static llvm::APInt quotientOf(int64_t by, int64_t scale) {
  return llvm::APInt::getOneBitSet(320, unsigned(scale))
      .udiv(llvm::APInt(320, uint64_t(by)));
}

Number Approximate::inverseOf(int64_t n, int64_t scale) {
  return constant(quotientOf(n, scale), scale, powerOfTwo(-scale));
}

Number Approximate::inverseFactorial(int64_t n, int64_t scale) {
  int64_t product = 1;
  for (int64_t i = 2; i <= n; ++i)
    product *= i;
  return inverseOf(product, scale);
}

Number Approximate::cut(const Number &x, int64_t scale) {
  if (scale >= x.scale)
    return x;
  Number y = x;
  const int64_t drop = x.scale - scale, width = Datapath::width(x.bits);
  assert(drop < width && "a number without bits");
  y.bits = d.extract(x.bits, drop, width - drop);
  y.scale = scale;
  y.error += powerOfTwo(-scale);
  return y;
}

Value Approximate::aligned(const Number &x, int64_t scale, int64_t width) {
  Value v = x.bits;
  if (scale > x.scale)
    v = d.join({d.zero(scale - x.scale), v});
  assert(scale >= x.scale && "a number loses bits");
  if (Datapath::width(v) > width)
    return d.extract(v, 0, width);
  return d.extend(v, width);
}

Number Approximate::plus(const Number &x, const Number &y) {
  Number sum;
  sum.scale = std::max(x.scale, y.scale);
  sum.most = x.most + y.most;
  sum.error = x.error + y.error;
  const int64_t width = bitsFor(sum.most, sum.scale);
  sum.bits = d.add(aligned(x, sum.scale, width), aligned(y, sum.scale, width));
  return sum;
}

Number Approximate::minusOrPlus(const Number &x, const Number &y, Value isSum) {
  Number sum;
  sum.scale = std::max(x.scale, y.scale);
  sum.most = x.most + y.most;
  sum.error = x.error + y.error;
  const int64_t width = bitsFor(sum.most, sum.scale);
  Value isDifference = d.inverse(isSum);
  sum.bits = d.add(
      aligned(x, sum.scale, width),
      d.differ(aligned(y, sum.scale, width), d.spread(isDifference, width)),
      isDifference);
  return sum;
}

Number Approximate::times(const Number &x, const Number &y, int64_t scale) {
  // What is left out of a factor counts by the other's magnitude.
  constexpr int64_t kGuard = 2;
  auto scaleFor = [&](const Number &other) {
    return scale + kGuard + int64_t(std::ceil(std::log2(other.most)));
  };
  const Number a = cut(x, scaleFor(y)), b = cut(y, scaleFor(x));
  Number product;
  product.scale = scale;
  product.most = x.most * y.most;
  product.error = a.error * b.most + b.error * a.most + a.error * b.error;
  Value u = a.bits, v = b.bits;
  const int64_t fraction = a.scale + b.scale;
  const int64_t narrow = device.dspNarrow - 1, wide = device.dspWide - 1;
  auto count = [](Value w, int64_t most) {
    return cost::ceilDiv(Datapath::width(w), most);
  };
  if (wide > 0 &&
      count(u, narrow) * count(v, wide) < count(u, wide) * count(v, narrow))
    std::swap(u, v);
  // Rows of pieces of v; of u only the bits that matter in a row.
  Value total;
  int64_t base = 0;
  const int64_t step = wide > 0 ? narrow : Datapath::width(v);
  for (int64_t at = 0; at < Datapath::width(v); at += step) {
    const int64_t size = std::min(step, Datapath::width(v) - at);
    int64_t low =
        std::max<int64_t>(0, fraction - scale - kGuard - 1 - at - size);
    if (low >= Datapath::width(u)) {
      product.error += powerOfTwo(at + size + Datapath::width(u) - fraction);
      continue;
    }
    if (low > 0)
      product.error += powerOfTwo(low + at + size - fraction);
    Value row = d.multiply(d.extract(u, low, Datapath::width(u) - low),
                           d.extract(v, at, size));
    const int64_t offset = at + low;
    if (!total) {
      total = row;
      base = offset;
      continue;
    }
    // The sum so far is below the row's last bit but for what it adds to.
    const int64_t below = offset - base;
    const int64_t width =
        std::max(Datapath::width(row), Datapath::width(total) - below) + 1;
    Value high = d.extend(
        d.extract(total, below, Datapath::width(total) - below), width);
    Value sum = d.add(high, d.extend(row, width));
    total = below > 0 ? d.join({d.extract(total, 0, below), sum}) : sum;
  }
  const int64_t width = bitsFor(product.most, scale);
  const int64_t drop = fraction - scale - base;
  if (drop > 0) {
    product.error += powerOfTwo(-scale);
    total = d.extract(total, drop, Datapath::width(total) - drop);
  } else if (drop < 0) {
    total = d.join({d.zero(-drop), total});
  }
  product.bits = Datapath::width(total) > width ? d.extract(total, 0, width)
                                                : d.extend(total, width);
  return product;
}

Value Approximate::lookup(Value index, ArrayRef<llvm::APInt> entries) {
  const int64_t width = entries[0].getBitWidth();
  SmallVector<Value> parts;
  for (int64_t low = 0; low < width; low += 64) {
    const int64_t size = std::min<int64_t>(64, width - low);
    std::vector<int64_t> words;
    for (const llvm::APInt &entry : entries)
      words.push_back(
          entry.extractBits(unsigned(size), unsigned(low)).getSExtValue());
    parts.push_back(d.table(index, words, size));
  }
  return d.join(parts);
}
} // namespace rhizome::gen::floats
