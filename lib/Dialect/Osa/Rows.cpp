// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The verifiers of the operations along rows, and the bounds of their numbers.
// Each message begins with the number of the constraint in Rows.td.
#include "rhizome/Dialect/Osa/Rows.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/OpImplementation.h"
#include <cmath>

using namespace mlir;
using namespace rhizome;
using namespace rhizome::osa;

#define GET_OP_CLASSES
#include "rhizome/Dialect/Osa/Rows.cpp.inc"

constexpr int64_t kMostElements = int64_t(1) << 20;

static ArrayRef<int64_t> shapeOf(Value v) {
  return cast<RankedTensorType>(v.getType()).getShape();
}

static LogicalResult checkRows(Operation *op, StringRef number) {
  if (shapeOf(op->getOperand(0)) != shapeOf(op->getResult(0)))
    return op->emitOpError() << number << ": input and output differ in shape";
  if (shapeOf(op->getOperand(0)).empty())
    return op->emitOpError() << number << ": a scalar has no rows";
  return success();
}

static LogicalResult checkRowLength(Operation *op) {
  int64_t elements = shapeOf(op->getOperand(0)).back();
  if (elements < 1 || elements > kMostElements)
    return op->emitOpError() << "C4: a row has " << elements << " elements";
  return success();
}

LogicalResult NormalizeOp::verify() {
  if (failed(checkRows(*this, "C1")))
    return failure();
  float epsilon = getEpsilon().convertToFloat();
  if (!std::isfinite(epsilon) || epsilon < 0)
    return emitOpError("C2: epsilon is negative or not finite");
  return success();
}

LogicalResult RowSoftmaxOp::verify() {
  if (failed(checkRows(*this, "C3")) || failed(checkRowLength(*this)))
    return failure();
  num::IntType in = num::elementInt(getInput().getType());
  ArrayRef<int64_t> table = getExponentials();
  if (table.empty() ||
      uint64_t(table.size() - 1) != uint64_t(in.getHi()) - uint64_t(in.getLo()))
    return emitOpError() << "C1: " << table.size()
                         << " exponentials for the differences of " << in;
  if (table[0] < 1 || table[0] > 65535 ||
      llvm::any_of(table, [&](int64_t e) { return e < 0 || e > table[0]; }))
    return emitOpError("C1: an exponential is above the first one, or that is "
                       "not 1 … 65535");
  auto shift = int64_t(getShift()), numerator = int64_t(getNumerator());
  if (shift < 1 || shift > 40)
    return emitOpError() << "C2: the shift " << shift << " is not in 1..40";
  if (numerator < table[0] || numerator / table[0] >= int64_t(1) << 24)
    return emitOpError("C2: the largest quotient is not 1 … 2^24 - 1");
  if (num::elementInt(getOutput().getType()).getLo() != 0)
    return emitOpError("C3: the output's range does not begin at 0");
  return success();
}

int64_t osa::digitsOf(__int128 value) {
  int64_t digits = 0;
  for (; value > 0; value >>= 2)
    ++digits;
  return digits;
}

int64_t osa::mostNormalized(int64_t elements, int64_t fraction) {
  // ⌊√(C · 4^fraction · (1 + 2^−14)²)⌋ + 1: the square of 2^14 times the root,
  // in integers.
  const __int128 factor = (int64_t(1) << 14) + 1;
  __int128 square = (__int128(elements) << 2 * fraction) * factor * factor;
  auto root = __int128(std::sqrt(double(square)));
  while (root * root > square)
    --root;
  while ((root + 1) * (root + 1) <= square)
    ++root;
  return int64_t(root >> 14) + 1;
}

RowNormShape osa::rowNormShape(RowNormOp op) {
  num::IntType in = num::elementInt(op.getInput().getType());
  const auto zero = int64_t(op.getZero());
  RowNormShape s;
  s.elements = shapeOf(op.getInput()).back();
  s.most = std::max(std::abs(in.getLo() - zero), std::abs(in.getHi() - zero));
  __int128 span = __int128(in.getHi()) - in.getLo();
  // The variance of numbers between two bounds is at most a fourth of the
  // square of their distance.
  __int128 square =
      op.getCentered()
          ? (span * s.elements) * (span * s.elements) / 4
          : (__int128(s.most) * s.elements) * (__int128(s.most) * s.elements);
  s.mostDifference =
      op.getCentered() ? int64_t(span) * (s.elements - 1) : s.most * s.elements;
  s.mostSquare = square + int64_t(op.getEpsilon());
  s.digits = digitsOf(s.mostSquare);
  s.mostResult = mostNormalized(s.elements, int64_t(op.getFraction()));
  return s;
}

LogicalResult RowNormOp::verify() {
  if (failed(checkRows(*this, "C3")) || failed(checkRowLength(*this)))
    return failure();
  auto fraction = int64_t(getFraction());
  if (int64_t(getEpsilon()) < 1 || fraction < 0 || fraction > kRootBits)
    return emitOpError("C1: epsilon is below 1, or fraction not in 0..16");
  num::IntType in = num::elementInt(getInput().getType());
  constexpr int64_t kMost = int64_t(1) << 31;
  for (int64_t x : {in.getLo(), in.getHi(), int64_t(getZero())})
    if (x > kMost || x < -kMost)
      return emitOpError("C2: its numbers have more than 32 bits");
  RowNormShape s = rowNormShape(*this);
  if (s.mostSquare >= __int128(1) << 60)
    return emitOpError("C2: the sums of squares need more than 60 bits");
  num::IntType out = num::elementInt(getOutput().getType());
  if (out.getLo() != -s.mostResult || out.getHi() != s.mostResult)
    return emitOpError() << "C4: the output's range is " << out
                         << ", its results' -" << s.mostResult << ":"
                         << s.mostResult;
  return success();
}
