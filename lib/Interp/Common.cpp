// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The operations of both levels. Each is written once, as a template
// over the element: float with sums in double, or int64_t with exact sums.
#include "Evaluate.h"
#include "rhizome/Dialect/Osa/Matmul.h"

using namespace mlir;
using namespace rhizome;
using namespace rhizome::interp;

template <typename T>
using Accumulator =
    std::conditional_t<std::is_same_v<T, float>, double, __int128>;

/// Converts a sum to a result: rounded to float32, or checked against the
/// range.
static LogicalResult finish(Frame &frame, size_t index, double sum) {
  frame.out.floats[index] = float(sum);
  return success();
}
static LogicalResult finish(Frame &frame, size_t index, __int128 sum) {
  return store(frame, index, sum);
}

template <typename T>
static LogicalResult conv2d(osa::Conv2dOp op, Frame &frame) {
  using Acc = Accumulator<T>;
  osa::Window w = *osa::getWindow(op);
  const auto &in = values<T>(*frame.in[0]), &weights = values<T>(*frame.in[1]);
  int64_t outChannels = frame.out.shape[3], groups = op.getGroups();
  int64_t perIn = w.channels / groups, perOut = outChannels / groups;
  T padValue = T(int64_t(op.getPadValue()));
  for (int64_t y = 0; y < w.outHeight; ++y)
    for (int64_t x = 0; x < w.outWidth; ++x)
      for (int64_t o = 0; o < outChannels; ++o) {
        Acc sum = op.getBias() ? Acc(values<T>(*frame.in[2])[o]) : Acc(0);
        for (int64_t kh = 0; kh < w.kernelH; ++kh)
          for (int64_t kw = 0; kw < w.kernelW; ++kw) {
            int64_t iy = y * w.strideH - w.padTop + kh * w.dilationH;
            int64_t ix = x * w.strideW - w.padLeft + kw * w.dilationW;
            bool inside = iy >= 0 && iy < w.height && ix >= 0 && ix < w.width;
            for (int64_t c = 0; c < perIn; ++c) {
              int64_t channel = o / perOut * perIn + c;
              T v = inside ? in[(iy * w.width + ix) * w.channels + channel]
                           : padValue;
              sum +=
                  Acc(v) *
                  weights[((o * w.kernelH + kh) * w.kernelW + kw) * perIn + c];
            }
          }
        if (failed(finish(frame, (y * w.outWidth + x) * outChannels + o, sum)))
          return failure();
      }
  return success();
}

template <typename T>
static LogicalResult dense(osa::DenseOp op, Frame &frame) {
  using Acc = Accumulator<T>;
  const auto &in = values<T>(*frame.in[0]), &weights = values<T>(*frame.in[1]);
  int64_t outs = frame.in[1]->shape[0], ins = frame.in[1]->shape[1];
  int64_t rows = ins ? frame.in[0]->size() / ins : 0;
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t o = 0; o < outs; ++o) {
      Acc sum = op.getBias() ? Acc(values<T>(*frame.in[2])[o]) : Acc(0);
      for (int64_t c = 0; c < ins; ++c)
        sum += Acc(in[row * ins + c]) * weights[o * ins + c];
      if (failed(finish(frame, row * outs + o, sum)))
        return failure();
    }
  return success();
}

template <typename T>
static LogicalResult matmul(osa::MatmulOp op, Frame &frame) {
  using Acc = Accumulator<T>;
  const auto &lhs = values<T>(*frame.in[0]), &rhs = values<T>(*frame.in[1]);
  const osa::MatmulShape s = osa::matmulShape(op);
  const T lhsZero = T(int64_t(op.getLhsZero())),
          rhsZero = T(int64_t(op.getRhsZero()));
  int64_t row = 0;
  for (int64_t o = 0; o < s.outer; ++o)
    for (int64_t b = 0; b < s.batch; ++b)
      for (int64_t m = 0; m < s.rows; ++m, ++row)
        for (int64_t n = 0; n < s.columns; ++n) {
          Acc sum = 0;
          int64_t at = b * s.stride(0) + n * s.stride(2);
          for (int64_t k = 0; k < s.inner; ++k, at += s.stride(1))
            sum += (Acc(lhs[row * s.inner + k]) - lhsZero) *
                   (Acc(rhs[at]) - rhsZero);
          if (failed(finish(frame, row * s.columns + n, sum)))
            return failure();
        }
  return success();
}

template <typename T>
static LogicalResult maxPool(osa::MaxPoolOp op, Frame &frame) {
  osa::Window w = *osa::getWindow(op);
  const auto &in = values<T>(*frame.in[0]);
  for (int64_t y = 0; y < w.outHeight; ++y)
    for (int64_t x = 0; x < w.outWidth; ++x)
      for (int64_t c = 0; c < w.channels; ++c) {
        std::optional<T> best;
        for (int64_t kh = 0; kh < w.kernelH; ++kh)
          for (int64_t kw = 0; kw < w.kernelW; ++kw) {
            int64_t iy = y * w.strideH - w.padTop + kh * w.dilationH;
            int64_t ix = x * w.strideW - w.padLeft + kw * w.dilationW;
            if (iy < 0 || iy >= w.height || ix < 0 || ix >= w.width)
              continue;
            T v = in[(iy * w.width + ix) * w.channels + c];
            best = best ? std::max(*best, v) : v;
          }
        assert(best && "C2: every window holds a position of the input");
        size_t index = (y * w.outWidth + x) * w.channels + c;
        if constexpr (std::is_same_v<T, float>)
          frame.out.floats[index] = *best;
        else if (failed(store(frame, index, *best)))
          return failure();
      }
  return success();
}

/// Row-major strides of a shape.
static std::vector<int64_t> stridesOf(ArrayRef<int64_t> shape) {
  std::vector<int64_t> strides(shape.size(), 1);
  for (size_t i = shape.size(); i-- > 1;)
    strides[i - 1] = strides[i] * shape[i];
  return strides;
}

/// Calls fn(linear index, multi-index) for every position of a shape.
template <typename Fn>
static void forEachIndex(ArrayRef<int64_t> shape, Fn fn) {
  std::vector<int64_t> index(shape.size(), 0);
  int64_t n = ShapedType::getNumElements(shape);
  for (int64_t linear = 0; linear < n; ++linear) {
    fn(linear, ArrayRef<int64_t>(index));
    for (size_t d = shape.size(); d-- > 0;) {
      if (++index[d] < shape[d])
        break;
      index[d] = 0;
    }
  }
}

template <typename T> static void concat(osa::ConcatOp op, Frame &frame) {
  auto strides = stridesOf(frame.out.shape);
  int64_t offset = 0, axis = op.getAxis();
  for (const Tensor *in : frame.in) {
    forEachIndex(in->shape, [&](int64_t linear, ArrayRef<int64_t> index) {
      int64_t to = offset * strides[axis];
      for (size_t d = 0; d < index.size(); ++d)
        to += index[d] * strides[d];
      values<T>(frame.out)[to] = values<T>(*in)[linear];
    });
    offset += in->shape[axis];
  }
}

template <typename T> static void transpose(osa::TransposeOp op, Frame &frame) {
  auto strides = stridesOf(frame.in[0]->shape);
  forEachIndex(frame.out.shape, [&](int64_t linear, ArrayRef<int64_t> index) {
    int64_t from = 0;
    for (size_t d = 0; d < index.size(); ++d)
      from += index[d] * strides[op.getPermutation()[d]];
    values<T>(frame.out)[linear] = values<T>(*frame.in[0])[from];
  });
}

template <typename T> static void gather(osa::GatherOp op, Frame &frame) {
  auto strides = stridesOf(frame.in[0]->shape);
  forEachIndex(frame.out.shape, [&](int64_t linear, ArrayRef<int64_t> index) {
    int64_t from = 0;
    for (size_t d = 0; d < index.size(); ++d)
      from += (d == op.getAxis() ? op.getIndices()[index[d]] : index[d]) *
              strides[d];
    values<T>(frame.out)[linear] = values<T>(*frame.in[0])[from];
  });
}

template <typename T> static void pad(osa::PadOp op, Frame &frame) {
  auto strides = stridesOf(frame.out.shape);
  auto &out = values<T>(frame.out);
  std::fill(out.begin(), out.end(), T(op.getValue().convertToDouble()));
  forEachIndex(frame.in[0]->shape,
               [&](int64_t linear, ArrayRef<int64_t> index) {
                 int64_t to = 0;
                 for (size_t d = 0; d < index.size(); ++d)
                   to += (index[d] + op.getLow()[d]) * strides[d];
                 out[to] = values<T>(*frame.in[0])[linear];
               });
}

/// Moved values must also be in the result's range.
static LogicalResult checkMoved(Frame &frame) {
  if (!frame.out.isFloat)
    for (auto [i, v] : llvm::enumerate(frame.out.ints))
      if (failed(store(frame, i, v)))
        return failure();
  return success();
}

template <typename T> static LogicalResult evaluate(Frame &frame) {
  if (auto op = dyn_cast<osa::Conv2dOp>(frame.op))
    return conv2d<T>(op, frame);
  if (auto op = dyn_cast<osa::DenseOp>(frame.op))
    return dense<T>(op, frame);
  if (auto op = dyn_cast<osa::MatmulOp>(frame.op))
    return matmul<T>(op, frame);
  if (auto op = dyn_cast<osa::MaxPoolOp>(frame.op))
    return maxPool<T>(op, frame);
  if (auto op = dyn_cast<osa::ConcatOp>(frame.op))
    concat<T>(op, frame);
  else if (auto op = dyn_cast<osa::TransposeOp>(frame.op))
    transpose<T>(op, frame);
  else if (auto op = dyn_cast<osa::GatherOp>(frame.op))
    gather<T>(op, frame);
  else if (auto op = dyn_cast<osa::PadOp>(frame.op))
    pad<T>(op, frame);
  else if (isa<osa::ReshapeOp>(frame.op))
    values<T>(frame.out) = values<T>(*frame.in[0]);
  else
    return frame.op->emitOpError("does not live at both levels");
  return checkMoved(frame);
}

bool interp::isCommon(Operation *op) {
  return isa<osa::Conv2dOp, osa::DenseOp, osa::MatmulOp, osa::MaxPoolOp,
             osa::ConcatOp, osa::ReshapeOp, osa::TransposeOp, osa::GatherOp,
             osa::PadOp>(op);
}

LogicalResult interp::evaluateCommon(Frame &frame) {
  for (const Tensor *in : frame.in)
    if (in->isFloat != frame.out.isFloat)
      return frame.op->emitOpError("mixes real and integer tensors");
  return frame.out.isFloat ? evaluate<float>(frame) : evaluate<int64_t>(frame);
}
