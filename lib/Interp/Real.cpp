// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The operations of the real level, each with its result in float32, and the
// two that connect the levels, quantize and dequantize.
#include "Evaluate.h"
#include "rhizome/Dialect/Osa/Rows.h"
#include "rhizome/Dialect/Osa/Unary.h"
#include "llvm/ADT/TypeSwitch.h"
#include <cmath>

using namespace mlir;
using namespace rhizome;
using namespace rhizome::interp;

/// The index of element `i`'s value among n along `axis`; 0 if there is one.
static size_t alongAxis(const Tensor &t, size_t i, int64_t axis, size_t n) {
  if (n == 1 || axis < 0)
    return 0;
  size_t inner = 1;
  for (size_t d = axis + 1; d < t.shape.size(); ++d)
    inner *= t.shape[d];
  return i / inner % n;
}

/// Zero points are integers, or whole floats (QONNX).
static std::vector<int64_t> zeroPoints(const Frame &frame, Attribute attr) {
  const Decoded &decoded = frame.decoded(attr);
  if (!decoded.ints.empty())
    return decoded.ints;
  return {decoded.floats.begin(), decoded.floats.end()};
}

/// Rounds to a whole number.
static double roundBy(osa::Rounding mode, float x) {
  switch (mode) {
  case osa::Rounding::HalfEven:
    return std::nearbyint(x);
  case osa::Rounding::HalfUp:
    return std::floor(double(x) + 0.5);
  case osa::Rounding::HalfDown:
    return std::ceil(double(x) - 0.5);
  case osa::Rounding::HalfAway:
    return std::round(x);
  case osa::Rounding::HalfTowardZero:
    return x < 0 ? std::floor(double(x) + 0.5) : std::ceil(double(x) - 0.5);
  case osa::Rounding::TowardZero:
    return std::trunc(x);
  case osa::Rounding::AwayFromZero:
    return x < 0 ? std::floor(x) : std::ceil(x);
  case osa::Rounding::Up:
    return std::ceil(x);
  case osa::Rounding::Down:
    return std::floor(x);
  case osa::Rounding::Sign:
    return x >= 0 ? 1.0 : -1.0;
  }
  llvm_unreachable("every rounding is handled");
}

static LogicalResult quantize(osa::QuantizeOp op, Frame &frame) {
  const auto &scale = frame.decoded(op.getScale()).floats;
  auto zero = zeroPoints(frame, op.getZeroPoint());
  int64_t axis = int64_t(op.getAxis());
  auto [lo, hi] = resultRange(op);
  for (auto [i, x] : llvm::enumerate(frame.in[0]->floats)) {
    float s = scale[alongAxis(*frame.in[0], i, axis, scale.size())];
    int64_t z = zero[alongAxis(*frame.in[0], i, axis, zero.size())];
    if (std::isnan(x))
      return op.emitOpError()
             << "meets NaN at element " << i << ", which no integer represents";
    double rounded = roundBy(op.getRounding(), x / s);
    // Saturate before the conversion: the quotient may be infinite.
    if (rounded >= double(hi) - double(z))
      frame.out.ints[i] = hi;
    else if (rounded <= double(lo) - double(z))
      frame.out.ints[i] = lo;
    else
      frame.out.ints[i] = int64_t(rounded) + z;
  }
  return success();
}

static LogicalResult multiThreshold(osa::MultiThresholdOp op, Frame &frame) {
  auto shape = op.getThresholds().getShapedType().getShape();
  const auto &thresholds = frame.decoded(op.getThresholds()).floats;
  for (auto [i, x] : llvm::enumerate(frame.in[0]->floats)) {
    size_t c = shape[0] == 1 ? 0 : i % frame.out.shape.back();
    int64_t count = 0;
    for (int64_t k = 0; k < shape[1]; ++k)
      count += x >= thresholds[c * shape[1] + k];
    frame.out.ints[i] = count;
  }
  return success();
}

static LogicalResult dequantize(osa::DequantizeOp op, Frame &frame) {
  const auto &scale = frame.decoded(op.getScale()).floats;
  auto zero = zeroPoints(frame, op.getZeroPoint());
  int64_t axis = int64_t(op.getAxis());
  for (auto [i, q] : llvm::enumerate(frame.in[0]->ints)) {
    float s = scale[alongAxis(*frame.in[0], i, axis, scale.size())];
    int64_t z = zero[alongAxis(*frame.in[0], i, axis, zero.size())];
    frame.out.floats[i] = float(q - z) * s;
  }
  return success();
}

template <typename Fn> static LogicalResult binary(Frame &frame, Fn fn) {
  const auto &shape = frame.out.shape;
  for (size_t i = 0; i < frame.out.floats.size(); ++i) {
    size_t index[2] = {0, 0}, step[2] = {1, 1}, rest = i;
    for (size_t d = shape.size(); d-- > 0;) {
      size_t at = rest % shape[d];
      rest /= shape[d];
      for (int side = 0; side < 2; ++side) {
        const auto &operand = frame.in[side]->shape;
        size_t missing = shape.size() - operand.size();
        if (d < missing || operand[d - missing] == 1)
          continue;
        index[side] += at * step[side];
        step[side] *= operand[d - missing];
      }
    }
    frame.out.floats[i] =
        fn(frame.in[0]->floats[index[0]], frame.in[1]->floats[index[1]]);
  }
  return success();
}

template <typename Fn> static LogicalResult map(Frame &frame, Fn fn) {
  for (auto [i, x] : llvm::enumerate(frame.in[0]->floats))
    frame.out.floats[i] = fn(x);
  return success();
}

static LogicalResult batchNorm(osa::BatchNormOp op, Frame &frame) {
  const auto &gamma = frame.decoded(op.getGamma()).floats,
             &beta = frame.decoded(op.getBeta()).floats,
             &mean = frame.decoded(op.getMean()).floats,
             &variance = frame.decoded(op.getVariance()).floats;
  double epsilon = op.getEpsilon().convertToFloat();
  for (auto [i, x] : llvm::enumerate(frame.in[0]->floats)) {
    auto at = [&](const std::vector<float> &v) -> double {
      return v[v.size() == 1 ? 0 : i % frame.out.shape.back()];
    };
    frame.out.floats[i] =
        float(at(gamma) * (x - at(mean)) / std::sqrt(at(variance) + epsilon) +
              at(beta));
  }
  return success();
}

static LogicalResult avgPool(osa::AvgPoolOp op, Frame &frame) {
  osa::Window w = *osa::getWindow(op);
  for (int64_t y = 0; y < w.outHeight; ++y)
    for (int64_t x = 0; x < w.outWidth; ++x)
      for (int64_t c = 0; c < w.channels; ++c) {
        double sum = 0;
        int64_t inside = 0;
        for (int64_t kh = 0; kh < w.kernelH; ++kh)
          for (int64_t kw = 0; kw < w.kernelW; ++kw) {
            int64_t iy = y * w.strideH - w.padTop + kh * w.dilationH;
            int64_t ix = x * w.strideW - w.padLeft + kw * w.dilationW;
            if (iy < 0 || iy >= w.height || ix < 0 || ix >= w.width)
              continue;
            sum += frame.in[0]->floats[(iy * w.width + ix) * w.channels + c];
            ++inside;
          }
        assert(inside && "C2: every window holds a position of the input");
        int64_t divisor =
            op.getCountIncludePad() ? w.kernelH * w.kernelW : inside;
        frame.out.floats[(y * w.outWidth + x) * w.channels + c] =
            float(sum / double(divisor));
      }
  return success();
}

/// Splits a shape around an axis (negative counts from the end) into outer,
/// size and inner extents.
struct Axis {
  int64_t outer = 1, size = 1, inner = 1;
  Axis(ArrayRef<int64_t> shape, int64_t axis) {
    if (axis < 0)
      axis += shape.size();
    for (auto [d, n] : llvm::enumerate(shape))
      (int64_t(d) < axis ? outer : int64_t(d) == axis ? size : inner) *= n;
  }
  int64_t index(int64_t o, int64_t k, int64_t i) const {
    return (o * size + k) * inner + i;
  }
};

static LogicalResult softmax(osa::SoftmaxOp op, Frame &frame) {
  Axis axis(frame.out.shape, int64_t(op.getAxis()));
  const auto &in = frame.in[0]->floats;
  for (int64_t o = 0; o < axis.outer; ++o)
    for (int64_t i = 0; i < axis.inner; ++i) {
      double top = -INFINITY, sum = 0;
      for (int64_t k = 0; k < axis.size; ++k)
        top = std::max(top, double(in[axis.index(o, k, i)]));
      for (int64_t k = 0; k < axis.size; ++k)
        sum += std::exp(in[axis.index(o, k, i)] - top);
      for (int64_t k = 0; k < axis.size; ++k) {
        double x = in[axis.index(o, k, i)] - top;
        frame.out.floats[axis.index(o, k, i)] =
            float(op.getLog() ? x - std::log(sum) : std::exp(x) / sum);
      }
    }
  return success();
}

static LogicalResult normalize(osa::NormalizeOp op, Frame &frame) {
  const auto row = size_t(frame.out.shape.back());
  const auto &in = frame.in[0]->floats;
  for (size_t first = 0; first < in.size(); first += row) {
    double sum = 0, squares = 0;
    for (size_t i = first; i < first + row; ++i)
      sum += op.getCentered() ? in[i] : 0;
    const double mean = sum / double(row);
    for (size_t i = first; i < first + row; ++i)
      squares += (in[i] - mean) * (in[i] - mean);
    const double root = std::sqrt(squares / double(row) +
                                  double(op.getEpsilon().convertToFloat()));
    for (size_t i = first; i < first + row; ++i)
      frame.out.floats[i] = float((in[i] - mean) / root);
  }
  return success();
}

template <typename T>
static LogicalResult argMax(osa::ArgMaxOp op, Frame &frame) {
  Axis axis(frame.in[0]->shape, int64_t(op.getAxis()));
  const auto &in = values<T>(*frame.in[0]);
  for (int64_t o = 0; o < axis.outer; ++o)
    for (int64_t i = 0; i < axis.inner; ++i) {
      int64_t best = 0;
      for (int64_t k = 1; k < axis.size; ++k) {
        T v = in[axis.index(o, k, i)], top = in[axis.index(o, best, i)];
        if (op.getSelectLast() ? v >= top : v > top)
          best = k;
      }
      frame.out.ints[o * axis.inner + i] = best;
    }
  return success();
}

bool interp::isReal(Operation *op) {
  return isa<osa::QuantizeOp, osa::DequantizeOp, osa::AddOp, osa::SubOp,
             osa::MulOp, osa::DivOp, osa::MaxOp, osa::MinOp, osa::BatchNormOp,
             osa::ReluOp, osa::LeakyReluOp, osa::ClipOp, osa::AvgPoolOp,
             osa::SoftmaxOp, osa::UnaryOp, osa::ArgMaxOp, osa::MultiThresholdOp,
             osa::NormalizeOp>(op);
}

LogicalResult interp::evaluateReal(Frame &frame) {
  for (const Tensor *in : frame.in)
    if (in->isFloat == isa<osa::DequantizeOp>(frame.op) &&
        !isa<osa::ArgMaxOp>(frame.op))
      return frame.op->emitOpError("has an operand of the other level");
  if (frame.out.isFloat ==
      isa<osa::QuantizeOp, osa::MultiThresholdOp, osa::ArgMaxOp>(frame.op))
    return frame.op->emitOpError("has a result of the other level");
  return llvm::TypeSwitch<Operation *, LogicalResult>(frame.op)
      .Case<osa::QuantizeOp>([&](auto op) { return quantize(op, frame); })
      .Case<osa::DequantizeOp>([&](auto op) { return dequantize(op, frame); })
      .Case<osa::AddOp>([&](auto) { return binary(frame, std::plus<float>()); })
      .Case<osa::SubOp>(
          [&](auto) { return binary(frame, std::minus<float>()); })
      .Case<osa::MulOp>(
          [&](auto) { return binary(frame, std::multiplies<float>()); })
      .Case<osa::DivOp>(
          [&](auto) { return binary(frame, std::divides<float>()); })
      .Case<osa::MaxOp>([&](auto) {
        return binary(frame, [](float a, float b) { return a < b ? b : a; });
      })
      .Case<osa::MinOp>([&](auto) {
        return binary(frame, [](float a, float b) { return b < a ? b : a; });
      })
      .Case<osa::MultiThresholdOp>(
          [&](auto op) { return multiThreshold(op, frame); })
      .Case<osa::BatchNormOp>([&](auto op) { return batchNorm(op, frame); })
      .Case<osa::ReluOp>([&](auto) {
        return map(frame, [](float x) { return x < 0 ? 0.0f : x; });
      })
      .Case<osa::LeakyReluOp>([&](auto op) {
        float alpha = op.getAlpha().convertToFloat();
        return map(frame, [=](float x) { return x < 0 ? alpha * x : x; });
      })
      .Case<osa::ClipOp>([&](auto op) {
        float lo = op.getMin().convertToFloat(),
              hi = op.getMax().convertToFloat();
        return map(frame,
                   [=](float x) { return std::min(std::max(x, lo), hi); });
      })
      .Case<osa::AvgPoolOp>([&](auto op) { return avgPool(op, frame); })
      .Case<osa::SoftmaxOp>([&](auto op) { return softmax(op, frame); })
      .Case<osa::NormalizeOp>([&](auto op) { return normalize(op, frame); })
      .Case<osa::UnaryOp>([&](auto op) {
        return map(frame, [kind = op.getKind()](float x) {
          return float(
              osa::applyUnary(numeric::Native<double>(), kind, double(x)));
        });
      })
      .Case<osa::ArgMaxOp>([&](auto op) {
        return frame.in[0]->isFloat ? argMax<float>(op, frame)
                                    : argMax<int64_t>(op, frame);
      })
      .Default([](Operation *op) {
        return op->emitOpError("is not a real operation");
      });
}
