// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Quantizers whose scales are computed at run time: on the host.
#include "Host.h"
#include "Network.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>

using namespace mlir;
using namespace rhizome;
using namespace rhizome::importer;
using host::Loops;
using host::Scalars;
using llvm::formatv;
using onnx::TensorProto;

using S = Scalars;
using R = ValueRange;

namespace {
/// A tensor with scale and zero point (or null), both broadcast to it.
struct Levels {
  Value x, scale, zero;
};
} // namespace

/// A scale or zero point broadcast to its tensor: one value, one along the
/// axis, or one per block of it; null if it does not fit.
static Value besideAxis(NodeContext &node, Value v, ArrayRef<int64_t> shape,
                        int64_t axis) {
  Loops l = loops(node);
  Loops::Shape own(Loops::shapeOf(v));
  int64_t n = ShapedType::getNumElements(own), rank = int64_t(shape.size());
  if (n == 1)
    return l.reshape(v, {});
  if (axis < -rank || axis >= rank)
    return {};
  axis = axis < 0 ? axis + rank : axis;
  if (own.size() == 1 && n == shape[axis]) {
    Loops::Shape wide(rank, 1);
    wide[axis] = n;
    return l.reshape(v, wide);
  }
  int64_t block = node.getInt("block_size", 0);
  if (int64_t(own.size()) != rank || block < 1)
    return Loops::broadcast(own, shape) == Loops::Shape(shape) ? v : Value();
  for (int64_t i = 0; i < rank; ++i)
    if (own[i] != (i == axis ? (shape[i] + block - 1) / block : shape[i]))
      return {};
  Type element = cast<RankedTensorType>(v.getType()).getElementType();
  return l.each(shape, element, [&](S &s, R) {
    SmallVector<Value> at;
    for (unsigned i = 0; i < rank; ++i)
      at.push_back(int64_t(i) == axis ? s.div(s.index(i), s.whole(block))
                                      : s.index(i));
    return s.at(v, at);
  });
}

/// A constant scale must be positive and finite.
static LogicalResult checkScale(NodeContext &node) {
  TensorRef t = node.input(1);
  if (t && t->isPlainConstant() && t->constant->isReal())
    for (double v : t->constant->reals)
      if (!(v > 0) || !std::isfinite(v))
        return node.refuse(formatv("its scale holds the value {0}", v),
                           "scales are positive and finite");
  return success();
}

static std::optional<Levels> hostLevels(NodeContext &node) {
  Levels l = {hostValue(node, 0), hostValue(node, 1),
              node.input(2) ? hostValue(node, 2) : Value()};
  if (!l.x || !l.scale || (node.input(2) && !l.zero))
    return std::nullopt;
  int64_t axis = node.getInt("axis", 1);
  l.scale = besideAxis(node, l.scale, node.input(0)->shape, axis);
  if (l.zero)
    l.zero = besideAxis(node, l.zero, node.input(0)->shape, axis);
  if (l.scale && (!node.input(2) || l.zero))
    return l;
  int64_t block = node.getInt("block_size", 0);
  node.refuse(
      formatv("its {0} has the shape {1}, which does not fit {2} along axis "
              "{3} {4}",
              l.scale ? "zero point" : "scale",
              describe(node.input(l.scale ? 2 : 1)->shape),
              describe(node.input(0)->shape), axis,
              block ? formatv("in blocks of {0}", block).str()
                    : "without a block_size"),
      "give one value, one for each place of the axis, or one a block");
  return std::nullopt;
}

LogicalResult onhost::quantize(NodeContext &node) {
  if (failed(checkScale(node)))
    return failure();
  auto levels = hostLevels(node);
  if (!levels)
    return failure();
  Value x = levels->x, scale = levels->scale, zero = levels->zero;
  int to = node.input(2) ? typeOf(node.input(2))
                         : int(node.getInt("output_dtype", TensorProto::UINT8));
  auto range = wholeRange(to);
  if (!range || !Loops::isReal(scale))
    return node.refuse(formatv("it quantizes to {0}", typeName(to)));
  x = convertTo(node, x, typeOf(node.input(0)), TensorProto::FLOAT);
  SmallVector<Value> in = {x, scale};
  if (zero)
    in.push_back(zero);
  return give(node, 0,
              eachOf(node, in, to,
                     [&](S &s, R a) {
                       Value r = s.apply<math::RoundEvenOp>(s.div(a[0], a[1]));
                       r = s.min(s.max(r, s.real(-0x1p62)), s.real(0x1p62));
                       Value q = s.toWhole(r);
                       if (zero)
                         q = s.add(q, a[2]);
                       return s.min(s.max(q, s.whole(range->first)),
                                    s.whole(range->second));
                     }),
              to);
}

LogicalResult onhost::dequantize(NodeContext &node) {
  if (failed(checkScale(node)))
    return failure();
  auto levels = hostLevels(node);
  if (!levels)
    return failure();
  Value x = levels->x, scale = levels->scale, zero = levels->zero;
  if (Loops::isReal(x) || !Loops::isReal(scale) ||
      (zero && Loops::isReal(zero)))
    return node.refuse(formatv("its input has the element type {0}",
                               typeName(typeOf(node.input(0)))));
  SmallVector<Value> in = {x, scale};
  if (zero)
    in.push_back(zero);
  return give(node, 0,
              eachOf(node, in, TensorProto::FLOAT,
                     [&](S &s, R a) {
                       Value q = zero ? s.sub(a[0], a[2]) : a[0];
                       return s.mul(s.toReal(q), a[1]);
                     }),
              TensorProto::FLOAT);
}

LogicalResult onhost::dynamicQuantize(NodeContext &node) {
  if (failed(requireReals(node)))
    return failure();
  Value x = hostValue(node, 0);
  if (!x)
    return failure();
  Loops l = loops(node);
  SmallVector<bool> all(node.input(0)->rank(), true);
  auto scalar = [&](Value v) { return l.reshape(v, {}); };
  Value low = eachOf(node, {scalar(l.min(x, all))}, TensorProto::FLOAT,
                     [](S &s, R a) { return s.min(a[0], s.real(0)); });
  Value high = eachOf(node, {scalar(l.max(x, all))}, TensorProto::FLOAT,
                      [](S &s, R a) { return s.max(a[0], s.real(0)); });
  Value scale = eachOf(node, {low, high}, TensorProto::FLOAT, [](S &s, R a) {
    return s.div(s.sub(a[1], a[0]), s.real(255));
  });
  auto code = [](S &s, Value v) {
    return s.toWhole(
        s.min(s.max(s.apply<math::RoundEvenOp>(v), s.real(0)), s.real(255)));
  };
  Value zero = eachOf(node, {low, scale}, TensorProto::UINT8, [&](S &s, R a) {
    return code(s, s.sub(s.real(0), s.div(a[0], a[1])));
  });
  Value y = eachOf(node, {x, scale, zero}, TensorProto::UINT8, [&](S &s, R a) {
    Value r = s.apply<math::RoundEvenOp>(s.div(a[0], a[1]));
    return code(s, s.add(r, s.toReal(a[2])));
  });
  if (failed(give(node, 0, y, TensorProto::UINT8)) ||
      failed(give(node, 1, scale, TensorProto::FLOAT)))
    return failure();
  return give(node, 2, zero, TensorProto::UINT8);
}

/// A real rounded to a whole number, with the roundings of `osa.quantize`.
static Value roundedTo(S &s, Value x, osa::Rounding rounding) {
  auto floor = [&](Value v) { return s.apply<math::FloorOp>(v); };
  auto ceil = [&](Value v) { return s.apply<math::CeilOp>(v); };
  // The others only look at the magnitude.
  auto bySize = [&](auto round) {
    Value isNegative = s.less(x, s.real(0));
    Value whole = round(s.apply<math::AbsFOp>(x));
    return s.select(isNegative, s.sub(s.real(0), whole), whole);
  };
  switch (rounding) {
  case osa::Rounding::HalfEven:
    return s.apply<math::RoundEvenOp>(x);
  case osa::Rounding::Up:
    return ceil(x);
  case osa::Rounding::Down:
    return floor(x);
  case osa::Rounding::TowardZero:
    return bySize(floor);
  case osa::Rounding::AwayFromZero:
    return bySize(ceil);
  case osa::Rounding::HalfAway:
    return bySize([&](Value v) { return floor(s.add(v, s.real(0.5))); });
  case osa::Rounding::HalfTowardZero:
    return bySize([&](Value v) { return ceil(s.sub(v, s.real(0.5))); });
  case osa::Rounding::HalfUp:
  case osa::Rounding::HalfDown:
  case osa::Rounding::Sign:
    break;
  }
  llvm_unreachable("qonnxRounding gives no other");
}

/// (x, scale, exponent bits, mantissa bits, exponent bias, largest value):
/// QONNX's rounding to a small floating-point format, including subnormals.
LogicalResult onhost::floatQuant(NodeContext &node) {
  if (failed(requireReals(node)))
    return failure();
  double format[4]; // bits of the exponent and mantissa, bias, largest
  static const StringRef names[] = {"exponent's width", "mantissa's width",
                                    "exponent's bias", "largest value"};
  for (size_t i = 0; i < 4; ++i) {
    auto values = node.constantReals(i + 2, names[i]);
    if (!values)
      return failure();
    if (values->size() != 1)
      return node.refuse(formatv("its {0} has the shape {1}", names[i],
                                 describe(node.input(i + 2)->shape)),
                         "one format per tensor is supported");
    format[i] = values->front();
  }
  auto [exponent, mantissa, bias, most] = format;
  bool isWhole = exponent == std::floor(exponent) &&
                 mantissa == std::floor(mantissa) && bias == std::floor(bias);
  if (!isWhole || exponent < 1 || exponent > 8 || mantissa < 0 ||
      mantissa > 23 || bias < -100 || bias > 127 || !(most > 0))
    return node.refuse(
        formatv("its format has {0} bits of exponent, {1} of "
                "mantissa, the bias {2} and the largest value {3}",
                exponent, mantissa, bias, most),
        "what float32 holds is supported: 1 to 8 bits, 0 to 23, a "
        "bias of -100 to 127, a largest value above 0");
  if (node.getInt("saturation", 1) == 0)
    return node.refuse(
        "it does not saturate: what is too large would be infinite "
        "or no number",
        "export it with saturation=1");
  std::string mode = node.getString("rounding_mode", "ROUND");
  std::optional<osa::Rounding> rounding = qonnxRounding(mode);
  if (!rounding)
    return node.refuse(
        formatv("its rounding mode is '{0}'", mode),
        "ROUND, CEIL, FLOOR, UP, DOWN, HALF_UP and HALF_DOWN are "
        "supported");
  if (failed(checkScale(node)))
    return failure();
  Value x = hostValue(node, 0), scale = hostValue(node, 1);
  if (!x || !scale)
    return failure();
  if (Loops::broadcast(Loops::shapeOf(x), Loops::shapeOf(scale)) !=
      Loops::Shape(Loops::shapeOf(x)))
    return node.refuse(formatv(
        "its scale has the shape {0}, which does not fit {1}",
        describe(node.input(1)->shape), describe(node.input(0)->shape)));
  double top = std::ldexp(2 - std::ldexp(1.0, -int(mantissa)),
                          int(std::exp2(exponent) - 1 - bias));
  most = std::min({most, top, double(std::numeric_limits<float>::max())});
  return give(
      node, 0,
      eachOf(node, {x, scale}, TensorProto::FLOAT,
             [&](S &s, R a) {
               Value v = s.div(a[0], a[1]), size = s.apply<math::AbsFOp>(v);
               // The power of two at or below |v|, starting at the smallest
               // normal number, found bit by bit of its exponent: exact.
               Value power = s.real(std::ldexp(1.0, int(1 - bias)));
               for (int step : {64, 64, 64, 32, 16, 8, 4, 2, 1}) {
                 Value next = s.mul(power, s.real(std::ldexp(1.0, step)));
                 power = s.select(s.notLess(size, next), next, power);
               }
               Value unit =
                   s.mul(power, s.real(std::ldexp(1.0, -int(mantissa))));
               Value q = s.mul(roundedTo(s, s.div(v, unit), *rounding), unit);
               q = s.min(s.max(q, s.real(-most)), s.real(most));
               return s.mul(q, a[1]);
             }),
      TensorProto::FLOAT);
}
