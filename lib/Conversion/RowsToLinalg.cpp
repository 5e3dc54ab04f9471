// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "RowsToLinalg.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace rhizome;
using S = host::Scalars;
using R = ValueRange;

/// Flags the last axis.
static SmallVector<bool> lastAxis(Value x) {
  SmallVector<bool> axes(host::Loops::shapeOf(x).size(), false);
  axes.back() = true;
  return axes;
}

static Value shiftedDown(S &s, Value x, Value by) {
  return s.apply<arith::ShRSIOp>(x, by);
}
static Value shiftedUp(S &s, Value x, Value by) {
  return s.apply<arith::ShLIOp>(x, by);
}

Value rhizome::rowSoftmaxLoops(host::Loops &l, osa::RowSoftmaxOp op, Value x,
                               Value table) {
  SmallVector<bool> axes = lastAxis(x);
  Value most = l.max(x, axes);
  Value powers = l.map({x, most}, l.whole(), [&](S &s, R a) {
    return s.at(table, {s.sub(a[1], a[0])});
  });
  Value sum = l.sum(powers, axes);
  Value quotient = l.map({sum}, l.whole(), [&](S &s, R a) {
    return s.div(s.whole(int64_t(op.getNumerator())), a[0]);
  });
  const auto shift = int64_t(op.getShift());
  const int64_t hi = num::elementInt(op.getOutput().getType()).getHi();
  return l.map({powers, quotient}, l.whole(), [&](S &s, R a) {
    Value v = s.add(s.mul(a[0], a[1]), s.whole(int64_t(1) << (shift - 1)));
    return s.min(shiftedDown(s, v, s.whole(shift)), s.whole(hi));
  });
}

Value rhizome::rowNormLoops(host::Loops &l, osa::RowNormOp op, Value x) {
  SmallVector<bool> axes = lastAxis(x);
  const int64_t row = host::Loops::shapeOf(x).back();
  const auto fraction = int64_t(op.getFraction());
  Value less = l.map({x}, l.whole(), [&](S &s, R a) {
    return s.sub(a[0], s.whole(int64_t(op.getZero())));
  });
  Value squares = l.sum(
      l.map({less}, l.whole(), [](S &s, R a) { return s.mul(a[0], a[0]); }),
      axes);
  Value sum = l.sum(less, axes);
  if (!op.getCentered())
    sum = l.map({sum}, l.whole(), [](S &s, R) { return s.whole(0); });
  Value square = l.map({squares, sum}, l.whole(), [&](S &s, R a) {
    Value v = s.sub(s.mul(a[0], s.whole(row)), s.mul(a[1], a[1]));
    return s.add(v, s.whole(int64_t(op.getEpsilon())));
  });
  // Digits to the base 4, from the leading zeros of 64 bits.
  Value digits = l.map({square}, l.whole(), [](S &s, R a) {
    Value zeros = s.apply<math::CountLeadingZerosOp>(a[0]);
    return shiftedDown(s, s.sub(s.whole(65), zeros), s.whole(1));
  });
  Value inverse = l.map({square, digits}, l.whole(), [](S &s, R a) {
    Value up = s.mul(s.sub(s.whole(osa::kRootBits), a[1]), s.whole(2));
    Value none = s.whole(0);
    Value most = shiftedUp(s, a[0], s.max(up, none));
    Value kept = shiftedDown(s, most, s.max(s.sub(none, up), none));
    // Exact: a double has 53 bits, the root rounds no number up to a square.
    Value root = s.toWhole(s.sqrt(s.toReal(kept, false, s.b.getF64Type())));
    return s.div(s.whole((int64_t(1) << 32) - 1), root);
  });
  return l.map({less, sum, digits, inverse}, l.whole(), [&](S &s, R a) {
    Value product = s.mul(s.sub(s.mul(a[0], s.whole(row)), a[1]), a[3]);
    Value shift = s.add(a[2], s.whole(osa::kRootBits - fraction));
    Value half = shiftedUp(s, s.whole(1), s.sub(shift, s.whole(1)));
    return shiftedDown(s, s.add(product, half), shift);
  });
}

Value rhizome::normalizeLoops(host::Loops &l, osa::NormalizeOp op, Value x) {
  SmallVector<bool> axes = lastAxis(x);
  Value centered = x;
  if (op.getCentered())
    centered = l.map({x, l.mean(x, axes)}, l.real(),
                     [](S &s, R a) { return s.sub(a[0], a[1]); });
  Value squares =
      l.map({centered}, l.real(), [](S &s, R a) { return s.mul(a[0], a[0]); });
  const double epsilon = op.getEpsilon().convertToFloat();
  Value inverse = l.map({l.mean(squares, axes)}, l.real(), [&](S &s, R a) {
    return s.div(s.real(1), s.sqrt(s.add(a[0], s.real(epsilon))));
  });
  return l.map({centered, inverse}, l.real(),
               [](S &s, R a) { return s.mul(a[0], a[1]); });
}
