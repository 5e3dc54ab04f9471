// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// QLinear operations that cannot become part of the network, computed on the
// host by their integer definition: exact sums of integers, scales as exact
// rationals (the values of float32 numbers), one rounding, half to even.
#include "Asked.h"
#include "Host.h"
#include "Rational.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>

using namespace mlir;
using namespace rhizome;
using namespace rhizome::importer;
using host::Loops;
using host::Scalars;
using llvm::APInt;
using llvm::formatv;
using onnx::TensorProto;

using S = Scalars;
using R = ValueRange;

namespace {
/// The integers from lo to hi.
struct Interval {
  int64_t lo, hi;
  int64_t most() const { return std::max({-lo, hi, int64_t(1)}); }
};
/// Integers in as few bits as they need.
struct Narrow {
  Value value;
  bool isUnsigned;
};

/// Scale and zero point of one operand.
struct Quantizer {
  std::vector<double> scales;
  std::vector<int64_t> zeros;
  int type = 0;
};
} // namespace

static bool isByte(int type) {
  return type == TensorProto::INT8 || type == TensorProto::UINT8;
}

/// Constant scales and zero points of a tensor of `type`; nullopt if they are
/// not constant, or the types do not have 8 bits.
static std::optional<Quantizer> makeQuantizer(const TensorRef &scale,
                                              const TensorRef &zero, int type) {
  Quantizer q;
  q.type = type;
  if (!scale || !scale->isPlainConstant() || !scale->constant->isReal())
    return std::nullopt;
  q.scales = scale->constant->reals;
  for (double v : q.scales)
    if (!(v > 0) || !std::isfinite(v) || double(float(v)) != v)
      return std::nullopt;
  q.zeros = {0};
  if (zero) {
    if (!zero->isPlainConstant() || !isByte(zero->constant->type))
      return std::nullopt;
    q.zeros = zero->constant->ints;
  }
  if (!isByte(type) || q.scales.empty() || q.zeros.empty())
    return std::nullopt;
  return q;
}

/// x minus its zero points, which vary along `axis` if there are several.
static Value centered(NodeContext &node, Value x, ArrayRef<int64_t> zeros,
                      int64_t axis) {
  if (llvm::all_of(zeros, [](int64_t z) { return z == 0; }))
    return x;
  Loops l = loops(node);
  if (auto constant = x.getDefiningOp<osa::ConstantOp>()) {
    ArrayRef<int64_t> sizes = Loops::shapeOf(x);
    int64_t inner = 1;
    for (size_t d = size_t(axis) + 1; zeros.size() > 1 && d < sizes.size(); ++d)
      inner *= sizes[d];
    std::vector<int64_t> values = osa::intValues(constant.getValue());
    for (auto [i, v] : llvm::enumerate(values))
      v -= zeros[i / size_t(inner) % zeros.size()];
    return wholeConstant(node, sizes, values);
  }
  Loops::Shape shape(Loops::shapeOf(x).size(), 1);
  if (zeros.size() > 1)
    shape[axis] = int64_t(zeros.size());
  else
    shape.clear();
  Value zero = wholeConstant(node, shape, zeros);
  return l.map({x, zero}, l.whole(),
               [](S &s, R a) { return s.sub(a[0], a[1]); });
}

/// Integers times ratios (one, or one for each index of `axis`), rounded, plus
/// the zero point, within an 8-bit type: found by comparing with the smallest
/// integers that give each level, eight comparisons for each element.
static Value requantized(NodeContext &node, Value acc, ArrayRef<APInt> over,
                         ArrayRef<APInt> under, int64_t zero, int onnxType,
                         int64_t axis) {
  auto [lo, hi] = *wholeRange(onnxType);
  int64_t levels = hi - lo + 1, rows = int64_t(over.size());
  std::vector<int64_t> least;
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t q = lo + 1; q <= hi; ++q)
      least.push_back(leastFor(q - zero, {over[r], under[r]}));
    least.push_back(INT64_MAX); // fills the row
  }
  Value table = wholeConstant(node, {rows, levels}, least);
  return loops(node).map({acc}, node.builder.getI64Type(), [&](S &s, R a) {
    Value row = rows > 1 ? s.index(unsigned(axis)) : s.whole(0);
    Value level = s.whole(0);
    for (int64_t step = levels / 2; step > 0; step /= 2) {
      Value place = s.add(level, s.whole(step - 1));
      Value isReached = s.notLess(a[0], s.at(table, {row, place}));
      level = s.select(isReached, s.add(level, s.whole(step)), level);
    }
    return s.add(level, s.whole(lo));
  });
}

/// The result as an integer tensor of the network.
static LogicalResult giveInteger(NodeContext &node, Value v, int onnxType) {
  num::IntType to = integerType(node.context, onnxType);
  v = convertTo(node, v, onnxType, TensorProto::FLOAT);
  return setPlain(node, quantStep(node, v, {true, {1.0}, {0}, -1, to}, -1));
}

/// A product of centered 8-bit integers, `each` of them for every index of x's
/// axis `xAxis`, which is w's `wAxis`. As many as float32 can sum exactly are
/// summed in it, which is faster and still exact; these sums are added as
/// integers. Null if refused.
static Value exactProduct(NodeContext &node, Value x, Value w, int64_t xAxis,
                          int64_t wAxis, int64_t each,
                          function_ref<Value(Value, Value)> product) {
  constexpr int64_t kTerms = 256; // 2^24 / 255²
  if (each > kTerms)
    return product(x, w);
  Loops l = loops(node);
  int64_t size = Loops::shapeOf(w)[wAxis], step = kTerms / each;
  auto part = [&](Value v, int64_t axis, int64_t begin) {
    Loops::Shape shape(Loops::shapeOf(v)), first(shape.size(), 0),
        stride(shape.size(), 1);
    first[axis] = begin;
    shape[axis] = std::min(step, size - begin);
    if (shape[axis] != size)
      v = l.slice(v, first, stride, shape);
    return convertTo(node, v, TensorProto::INT64, TensorProto::FLOAT);
  };
  Value sum;
  for (int64_t begin = 0; begin < size; begin += step) {
    Value v = product(part(x, xAxis, begin), part(w, wAxis, begin));
    if (!v)
      return {};
    v = convertTo(node, v, TensorProto::FLOAT, TensorProto::INT64);
    sum = sum ? l.map({sum, v}, l.whole(),
                      [](S &s, R a) { return s.add(a[0], a[1]); })
              : v;
  }
  return sum;
}

static Value exactConvolution(NodeContext &node, Value x, Value w) {
  Loops::Shape from(Loops::shapeOf(x)), kernel(Loops::shapeOf(w));
  auto plain = [&](Value p, Value q) { return convolved(node, p, q); };
  if (from.size() < 3 || kernel.size() != from.size() || from[1] != kernel[1])
    return plain(x, w); // in groups, or refused
  int64_t taps = 1;
  for (int64_t size : ArrayRef(kernel).drop_front(2))
    taps *= size;
  return exactProduct(node, x, w, 1, 1, taps, plain);
}

/// The range of a type's values minus their zero points.
static Interval rangeOf(int type, ArrayRef<int64_t> zeros) {
  auto [lo, hi] = *wholeRange(type);
  return {lo - *llvm::max_element(zeros), hi - *llvm::min_element(zeros)};
}

static Narrow narrowed(NodeContext &node, Value v, Interval range) {
  bool isUnsigned = range.lo >= 0 && range.hi <= 255;
  bool isByte = isUnsigned || (range.lo >= -128 && range.hi <= 127);
  auto type = node.builder.getIntegerType(isByte ? 8 : 16);
  return {loops(node).map({v}, type,
                          [&](S &s, R a) -> Value {
                            return arith::TruncIOp::create(s.b, s.loc, type,
                                                           a[0]);
                          }),
          isUnsigned};
}

/// A product of integers within these ranges, summed in 32 bits: in parts, if
/// these do not hold all of a sum.
static Value exactMatrixProduct(NodeContext &node, Value x, Interval xRange,
                                Value w, Interval wRange) {
  Loops::Shape p(Loops::shapeOf(x)), q(Loops::shapeOf(w));
  size_t inner = q.size() > 1 ? q.size() - 2 : 0;
  if (p.empty() || q.empty() || p.back() != q[inner])
    return {};
  Loops l = loops(node);
  Narrow a = narrowed(node, x, xRange), b = narrowed(node, w, wRange);
  mlir::Type sums = node.builder.getI32Type();
  auto widened = [&](S &s, Value v, bool isUnsigned) -> Value {
    if (isUnsigned)
      return arith::ExtUIOp::create(s.b, s.loc, sums, v);
    return arith::ExtSIOp::create(s.b, s.loc, sums, v);
  };
  auto part = [&](Value v, size_t axis, int64_t begin, int64_t size) {
    Loops::Shape shape(Loops::shapeOf(v)), first(shape.size(), 0),
        stride(shape.size(), 1);
    if (shape[axis] == size)
      return v;
    first[axis] = begin;
    shape[axis] = size;
    return l.slice(v, first, stride, shape);
  };
  int64_t depth = p.back(), step = INT32_MAX / (xRange.most() * wRange.most());
  Value sum;
  for (int64_t begin = 0; begin < depth; begin += step) {
    int64_t size = std::min(step, depth - begin);
    Value v =
        hostProduct(node, part(a.value, p.size() - 1, begin, size),
                    part(b.value, inner, begin, size), sums, [&](S &s, R e) {
                      return s.mul(widened(s, e[0], a.isUnsigned),
                                   widened(s, e[1], b.isUnsigned));
                    });
    if (!v)
      return {};
    v = l.map({v}, l.whole(), [&](S &s, R e) -> Value {
      return arith::ExtSIOp::create(s.b, s.loc, l.whole(), e[0]);
    });
    sum = sum ? l.map({sum, v}, l.whole(),
                      [](S &s, R e) { return s.add(e[0], e[1]); })
              : v;
  }
  return sum;
}

/// The scale, zero point and type of a product's result.
static LogicalResult giveProduct(NodeContext &node, Value acc, size_t aScale,
                                 size_t bScale, size_t yScale, int64_t axis) {
  auto a = makeQuantizer(node.input(aScale), node.input(aScale + 1),
                         TensorProto::UINT8),
       b = makeQuantizer(node.input(bScale), node.input(bScale + 1),
                         TensorProto::UINT8);
  int to = node.input(yScale + 1) ? typeOf(node.input(yScale + 1))
                                  : int(TensorProto::UINT8);
  auto y = makeQuantizer(node.input(yScale), node.input(yScale + 1), to);
  int64_t places = axis >= 0 ? Loops::shapeOf(acc)[axis] : 1;
  if (!a || !b || !y || a->scales.size() != 1 || y->scales.size() != 1 ||
      y->zeros.size() != 1 ||
      (b->scales.size() != 1 && int64_t(b->scales.size()) != places))
    return node.refuse("its scales and zero points are not constants that fit");
  double factor = node.getFloat("alpha", 1);
  if (!(factor > 0) || double(float(factor)) != factor)
    return node.refuse(formatv("its alpha is {0}", factor));
  std::vector<APInt> over, under;
  for (double scale : b->scales) {
    Ratio r;
    r.times(a->scales[0]).times(scale).times(factor).dividedBy(y->scales[0]);
    over.push_back(r.over);
    under.push_back(r.under);
  }
  return giveInteger(
      node, requantized(node, acc, over, under, y->zeros[0], to, axis), to);
}

/// (x, x_scale, x_zero, w, w_scale, w_zero, y_scale, y_zero, bias)
LogicalResult onhost::exactConv(NodeContext &node) {
  if (node.getInt("channels_last", 0))
    return node.refuse("its channels are last");
  Value x = hostValue(node, 0), w = x ? hostValue(node, 3) : Value();
  Value bias = w && node.input(8) ? hostValue(node, 8) : Value();
  if (!w)
    return failure();
  auto zx = makeQuantizer(node.input(1), node.input(2), typeOf(node.input(0))),
       zw = makeQuantizer(node.input(4), node.input(5), typeOf(node.input(3)));
  if (!zx || !zw || zx->zeros.size() != 1 || Loops::isReal(x) ||
      Loops::isReal(w) || (node.input(8) && (!bias || Loops::isReal(bias))))
    return node.refuse("its operands are not those of an integer convolution");
  const Shape &kernel = node.input(3)->shape;
  if (kernel.empty() ||
      (zw->zeros.size() != 1 && int64_t(zw->zeros.size()) != kernel[0]))
    return node.refuse("its weights' zero points do not fit");
  Value acc = exactConvolution(node, centered(node, x, zx->zeros, 0),
                               centered(node, w, zw->zeros, 0));
  if (!acc)
    return failure();
  if (bias) {
    if (failed(onePerChannel(node, bias, kernel[0])))
      return failure();
    Loops::Shape channels(Loops::shapeOf(acc).size(), 1);
    channels[1] = kernel[0];
    acc =
        eachOf(node, {acc, loops(node).reshape(bias, channels)},
               TensorProto::INT64, [](S &s, R a) { return s.add(a[0], a[1]); });
  }
  return giveProduct(node, acc, 1, 4, 6, 1);
}

/// (a, a_scale, a_zero, b, b_scale, b_zero, then y_scale and y_zero, or c,
/// y_scale and y_zero of QGemm)
LogicalResult onhost::exactMatMul(NodeContext &node) {
  bool isGemm = node.op() == "QGemm";
  Loops l = loops(node);
  Value a = hostValue(node, 0), b = a ? hostValue(node, 3) : Value(),
        c = b && isGemm && node.input(6) ? hostValue(node, 6) : Value();
  if (!b)
    return failure();
  auto za = makeQuantizer(node.input(1), node.input(2), typeOf(node.input(0))),
       zb = makeQuantizer(node.input(4), node.input(5), typeOf(node.input(3)));
  if (!za || !zb || za->zeros.size() != 1 || Loops::isReal(a) ||
      Loops::isReal(b) ||
      (isGemm && node.input(6) && (!c || Loops::isReal(c))) ||
      (isGemm && !node.input(7)))
    return node.refuse("its operands are not those of an integer product");
  if (isGemm && (node.input(0)->rank() != 2 || node.input(3)->rank() != 2))
    return node.refuse("its inputs are no matrices");
  if (isGemm && node.getInt("transA", 0))
    a = l.transpose(a, {1, 0});
  if (isGemm && node.getInt("transB", 0))
    b = l.transpose(b, {1, 0});
  Loops::Shape shape(Loops::shapeOf(b));
  if (shape.empty() ||
      (zb->zeros.size() != 1 &&
       (shape.size() < 2 || int64_t(zb->zeros.size()) != shape.back())))
    return node.refuse("its zero points do not fit");
  Value acc = exactMatrixProduct(
      node, centered(node, a, za->zeros, 0), rangeOf(za->type, za->zeros),
      centered(node, b, zb->zeros, int64_t(shape.size()) - 1),
      rangeOf(zb->type, zb->zeros));
  if (!acc)
    return node.refuse("its inputs do not fit");
  if (c) {
    if (Loops::broadcast(Loops::shapeOf(acc), Loops::shapeOf(c)) !=
        Loops::Shape(Loops::shapeOf(acc)))
      return node.refuse("its input C does not fit");
    acc = eachOf(node, {acc, c}, TensorProto::INT64,
                 [](S &s, R e) { return s.add(e[0], e[1]); });
  }
  int64_t axis = int64_t(Loops::shapeOf(acc).size()) - 1;
  return giveProduct(node, acc, 1, 4, isGemm ? 7 : 6, axis);
}

/// (a, a_scale, a_zero, b, b_scale, b_zero, y_scale, y_zero): a table of all
/// pairs of 8-bit integers.
LogicalResult onhost::exactBinary(NodeContext &node) {
  Value x = hostValue(node, 0), y = x ? hostValue(node, 3) : Value();
  if (!y || Loops::isReal(x) || Loops::isReal(y))
    return node.refuse("its operands are not integers");
  auto a = makeQuantizer(node.input(1), node.input(2), typeOf(node.input(0))),
       b = makeQuantizer(node.input(4), node.input(5), typeOf(node.input(3)));
  int to = node.input(7) ? typeOf(node.input(7)) : typeOf(node.input(0));
  auto c = makeQuantizer(node.input(6), node.input(7), to);
  for (auto *q : {&a, &b, &c})
    if (!*q || (*q)->scales.size() != 1 || (*q)->zeros.size() != 1)
      return node.refuse("its scales and zero points are not single constants");
  if (!Loops::broadcast(Loops::shapeOf(x), Loops::shapeOf(y)))
    return node.refuse("its inputs' shapes do not broadcast",
                       toBroadcast(Loops::shapeOf(x), Loops::shapeOf(y)));
  bool isSum = node.op() == "QLinearAdd";
  APInt sa = fixedPoint(a->scales[0]), sb = fixedPoint(b->scales[0]),
        sc = fixedPoint(c->scales[0]);
  APInt one = wideInteger(1).shl(kScale);
  APInt under = isSum ? sc : sc * one, product = sa * sb;
  int64_t la = wholeRange(a->type)->first, lb = wholeRange(b->type)->first;
  auto [lo, hi] = *wholeRange(to);
  std::vector<int64_t> values;
  for (int64_t i = 0; i < 256; ++i)
    for (int64_t k = 0; k < 256; ++k) {
      int64_t p = la + i - a->zeros[0], q = lb + k - b->zeros[0];
      APInt over = isSum ? sa * wideInteger(p) + sb * wideInteger(q)
                         : product * wideInteger(p * q);
      int64_t level = roundedQuotient(over, under);
      // Far out, where adding the zero point could overflow, it is a bound.
      level = std::clamp<int64_t>(level, -(1 << 20), 1 << 20) + c->zeros[0];
      values.push_back(std::clamp(level, lo, hi));
    }
  Value table = wholeConstant(node, {256, 256}, values);
  Value v = eachOf(node, {x, y}, to, [&](S &s, R e) {
    auto place = [&](Value v, int64_t least) {
      v = s.sub(v, s.whole(least));
      return s.min(s.max(v, s.whole(0)), s.whole(255));
    };
    return s.at(table, {place(e[0], la), place(e[1], lb)});
  });
  return giveInteger(node, v, to);
}

/// (x, x_scale, x_zero, y_scale, y_zero): the mean over an image, or over axes.
LogicalResult onhost::exactMean(NodeContext &node) {
  if (node.getInt("channels_last", 0))
    return node.refuse("its channels are last");
  Value x = hostValue(node, 0);
  if (!x || Loops::isReal(x))
    return node.refuse("its input is not of integers");
  auto in = makeQuantizer(node.input(1), node.input(2), typeOf(node.input(0)));
  int to = node.input(4) ? typeOf(node.input(4)) : typeOf(node.input(0));
  auto out = makeQuantizer(node.input(3), node.input(4), to);
  for (auto *q : {&in, &out})
    if (!*q || (*q)->scales.size() != 1 || (*q)->zeros.size() != 1)
      return node.refuse("its scales and zero points are not single constants");
  SmallVector<bool> axes(node.input(0)->rank(), true);
  for (size_t i = 0; i < std::min<size_t>(2, axes.size()); ++i)
    axes[i] = false;
  int64_t count = 1;
  for (auto [size, isReduced] : llvm::zip_equal(node.input(0)->shape, axes))
    count *= isReduced ? size : 1;
  Value sum = loops(node).sum(centered(node, x, in->zeros, 0), axes);
  Ratio r;
  r.times(in->scales[0]).dividedBy(out->scales[0]);
  return giveInteger(node,
                     requantized(node, sum, {r.over},
                                 {r.under * wideInteger(count)}, out->zeros[0],
                                 to, -1),
                     to);
}

/// (x, w, x_zero, w_zero): sums as int32, for which float32 is not exact.
LogicalResult onhost::exactIntegerProduct(NodeContext &node) {
  bool isConv = node.op() == "ConvInteger";
  Value x = hostValue(node, 0), w = x ? hostValue(node, 1) : Value();
  if (!w || !isByte(typeOf(node.input(0))) || !isByte(typeOf(node.input(1))))
    return node.refuse("its inputs are not integers of 8 bits");
  auto zeros = [&](size_t i) -> std::optional<std::vector<int64_t>> {
    if (!node.input(i))
      return std::vector<int64_t>{0};
    if (!node.input(i)->isPlainConstant() ||
        !isByte(node.input(i)->constant->type) ||
        node.input(i)->constant->ints.empty())
      return std::nullopt;
    return node.input(i)->constant->ints;
  };
  auto zx = zeros(2), zw = zeros(3);
  int64_t axis = isConv ? 0 : int64_t(node.input(1)->rank()) - 1;
  if (!zx || !zw || zx->size() != 1 || axis < 0 ||
      (zw->size() != 1 && int64_t(zw->size()) != node.input(1)->shape[axis]))
    return node.refuse("its zero points are not constants that fit");
  x = centered(node, x, *zx, 0), w = centered(node, w, *zw, axis);
  Value v =
      isConv ? exactConvolution(node, x, w)
             : exactMatrixProduct(node, x, rangeOf(typeOf(node.input(0)), *zx),
                                  w, rangeOf(typeOf(node.input(1)), *zw));
  if (!v)
    return node.refuse("its inputs do not fit");
  return give(node, 0, wrapped(node, v, TensorProto::INT32),
              TensorProto::INT32);
}
