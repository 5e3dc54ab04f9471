// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The operations of the integer level, in exact arithmetic.
#include "Evaluate.h"
#include "rhizome/Dialect/Osa/Rows.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace rhizome;
using namespace rhizome::interp;

/// The channel of element `i`, or 0 if there is only one value.
static size_t channelOf(const Frame &frame, size_t i, size_t numValues) {
  return numValues == 1 ? 0 : i % frame.out.shape.back();
}

static LogicalResult requantize(osa::RequantizeOp op, Frame &frame) {
  auto [lo, hi] = resultRange(op);
  auto multiplier = op.getMultiplier(), offset = op.getOffset();
  for (auto [i, x] : llvm::enumerate(frame.in[0]->ints)) {
    __int128 v =
        __int128(x) * multiplier[channelOf(frame, i, multiplier.size())] +
        offset[channelOf(frame, i, offset.size())];
    bool tie = (v & ((__int128(1) << op.getShift()) - 1)) == 0;
    v >>= op.getShift();
    if (op.getTiesEven() && tie && (v & 1))
      v -= 1;
    v = v < lo ? lo : v > hi ? hi : v;
    frame.out.ints[i] = int64_t(v);
  }
  return success();
}

static LogicalResult threshold(osa::ThresholdOp op, Frame &frame) {
  auto shape = op.getThresholds().getShapedType().getShape();
  // The generated getters return the attributes as uint64_t.
  __int128 base = int64_t(op.getBase()), step = int64_t(op.getStep());
  const auto &thresholds = frame.decoded(op.getThresholds()).ints;
  for (auto [i, x] : llvm::enumerate(frame.in[0]->ints)) {
    size_t c = channelOf(frame, i, shape[0]);
    __int128 count = 0;
    for (int64_t k = 0; k < shape[1]; ++k)
      count += x >= thresholds[c * shape[1] + k];
    if (failed(store(frame, i, base + step * count)))
      return failure();
  }
  return success();
}

static LogicalResult table(osa::TableOp op, Frame &frame) {
  auto shape = op.getValues().getShapedType().getShape();
  const auto &entries = frame.decoded(op.getValues()).ints;
  num::IntType type = num::elementInt(op.getInput().getType());
  for (auto [i, x] : llvm::enumerate(frame.in[0]->ints)) {
    size_t c = channelOf(frame, i, shape[0]);
    if (failed(store(frame, i, entries[c * shape[1] + (x - type.getLo())])))
      return failure();
  }
  return success();
}

static LogicalResult scaledAdd(osa::ScaledAddOp op, Frame &frame) {
  __int128 lhs = int64_t(op.getLhsMultiplier()),
           rhs = int64_t(op.getRhsMultiplier());
  for (size_t i = 0; i < frame.out.ints.size(); ++i)
    if (failed(store(frame, i,
                     frame.in[0]->ints[i] * lhs + frame.in[1]->ints[i] * rhs)))
      return failure();
  return success();
}

static LogicalResult scaledMax(osa::ScaledMaxOp op, Frame &frame) {
  __int128 lhs = int64_t(op.getLhsMultiplier()),
           rhs = int64_t(op.getRhsMultiplier()),
           offset = int64_t(op.getRhsOffset());
  for (size_t i = 0; i < frame.out.ints.size(); ++i)
    if (failed(store(frame, i,
                     std::max(frame.in[0]->ints[i] * lhs,
                              frame.in[1]->ints[i] * rhs + offset))))
      return failure();
  return success();
}

static LogicalResult product(osa::ProductOp op, Frame &frame) {
  for (size_t i = 0; i < frame.out.ints.size(); ++i)
    if (failed(store(
            frame, i,
            (__int128(frame.in[0]->ints[i]) - int64_t(op.getLhsZero())) *
                (__int128(frame.in[1]->ints[i]) - int64_t(op.getRhsZero())))))
      return failure();
  return success();
}

static LogicalResult sumPool(osa::SumPoolOp op, Frame &frame) {
  osa::Window w = *osa::getWindow(op);
  auto scale = op.getPositionScale();
  for (int64_t y = 0; y < w.outHeight; ++y)
    for (int64_t x = 0; x < w.outWidth; ++x)
      for (int64_t c = 0; c < w.channels; ++c) {
        __int128 sum = 0;
        for (int64_t kh = 0; kh < w.kernelH; ++kh)
          for (int64_t kw = 0; kw < w.kernelW; ++kw) {
            int64_t iy = y * w.strideH - w.padTop + kh * w.dilationH;
            int64_t ix = x * w.strideW - w.padLeft + kw * w.dilationW;
            if (iy >= 0 && iy < w.height && ix >= 0 && ix < w.width)
              sum +=
                  __int128(
                      frame.in[0]->ints[(iy * w.width + ix) * w.channels + c]) -
                  int64_t(op.getZero());
          }
        int64_t position = y * w.outWidth + x;
        if (!scale.empty())
          sum *= scale[position];
        if (failed(store(frame, position * w.channels + c, sum)))
          return failure();
      }
  return success();
}

static LogicalResult rowSoftmax(osa::RowSoftmaxOp op, Frame &frame) {
  const auto &x = frame.in[0]->ints;
  auto table = op.getExponentials();
  const auto row = size_t(frame.out.shape.back());
  const auto shift = int64_t(op.getShift());
  const int64_t hi = resultRange(op).second;
  for (size_t first = 0; first < x.size(); first += row) {
    int64_t most = *std::max_element(&x[first], &x[first] + row), sum = 0;
    for (size_t i = first; i < first + row; ++i)
      sum += table[most - x[i]];
    const int64_t quotient = int64_t(op.getNumerator()) / sum;
    for (size_t i = first; i < first + row; ++i) {
      int64_t share =
          (table[most - x[i]] * quotient + (int64_t(1) << (shift - 1))) >>
          shift;
      if (failed(store(frame, i, std::min(share, hi))))
        return failure();
    }
  }
  return success();
}

/// ⌊√value⌋, digit by digit.
static int64_t rootOf(int64_t value) {
  int64_t root = 0;
  for (int64_t bit = int64_t(1) << 31; bit > 0; bit >>= 1)
    if ((root | bit) * (root | bit) <= value)
      root |= bit;
  return root;
}

static LogicalResult rowNorm(osa::RowNormOp op, Frame &frame) {
  const auto &x = frame.in[0]->ints;
  const int64_t row = frame.out.shape.back(), zero = int64_t(op.getZero());
  const auto fraction = int64_t(op.getFraction());
  for (size_t first = 0; first < x.size(); first += size_t(row)) {
    int64_t sum = 0;
    __int128 squares = 0;
    for (size_t i = first; i < first + size_t(row); ++i) {
      sum += op.getCentered() ? x[i] - zero : 0;
      squares += __int128(x[i] - zero) * (x[i] - zero);
    }
    __int128 square =
        squares * row - __int128(sum) * sum + int64_t(op.getEpsilon());
    const int64_t digits = osa::digitsOf(square);
    const int64_t up = 2 * (osa::kRootBits - digits);
    const int64_t root = rootOf(int64_t(up > 0 ? square << up : square >> -up));
    const int64_t inverse = ((int64_t(1) << 32) - 1) / root;
    const int64_t shift = osa::kRootBits + digits;
    for (size_t i = first; i < first + size_t(row); ++i) {
      __int128 product = (__int128(row) * (x[i] - zero) - sum) * inverse;
      __int128 rounded =
          ((product << fraction) + (__int128(1) << (shift - 1))) >> shift;
      if (failed(store(frame, i, rounded)))
        return failure();
    }
  }
  return success();
}

bool interp::isInteger(Operation *op) {
  return isa<osa::RequantizeOp, osa::ThresholdOp, osa::TableOp,
             osa::ScaledAddOp, osa::ScaledMaxOp, osa::ProductOp, osa::SumPoolOp,
             osa::RowSoftmaxOp, osa::RowNormOp>(op);
}

LogicalResult interp::evaluateInteger(Frame &frame) {
  for (const Tensor *in : frame.in)
    if (in->isFloat || frame.out.isFloat)
      return frame.op->emitOpError("takes and gives integers only");
  return llvm::TypeSwitch<Operation *, LogicalResult>(frame.op)
      .Case<osa::RequantizeOp>([&](auto op) { return requantize(op, frame); })
      .Case<osa::ThresholdOp>([&](auto op) { return threshold(op, frame); })
      .Case<osa::TableOp>([&](auto op) { return table(op, frame); })
      .Case<osa::ScaledAddOp>([&](auto op) { return scaledAdd(op, frame); })
      .Case<osa::ScaledMaxOp>([&](auto op) { return scaledMax(op, frame); })
      .Case<osa::ProductOp>([&](auto op) { return product(op, frame); })
      .Case<osa::SumPoolOp>([&](auto op) { return sumPool(op, frame); })
      .Case<osa::RowSoftmaxOp>([&](auto op) { return rowSoftmax(op, frame); })
      .Case<osa::RowNormOp>([&](auto op) { return rowNorm(op, frame); })
      .Default([](Operation *op) {
        return op->emitOpError("is not an integer operation");
      });
}
