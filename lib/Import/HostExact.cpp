// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// QLinear operations that cannot become part of the network, on the host with
// the values of their integer definition: exact sums of integers, scales as the
// exact rationals that float32 numbers are, one rounding, half to even.
#include "Importer.h"
#include "rhizome/Host/Loops.h"
#include "rhizome/Support/HostReason.h"
#include "llvm/ADT/APInt.h"
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

/// Bits of the numbers below: sums of products of four float32 numbers of any
/// exponent, shifted to whole ones.
constexpr unsigned kBits = 1536;

/// A positive float32 number as a multiple of 2^-kScale, exactly.
constexpr int kScale = 160;
static APInt fixedPoint(double value) {
  int exponent;
  int64_t mantissa = int64_t(std::ldexp(std::frexp(value, &exponent), 24));
  APInt out(kBits, uint64_t(mantissa));
  int shift = exponent - 24 + kScale;
  return shift >= 0 ? out.shl(unsigned(shift)) : out.lshr(unsigned(-shift));
}

namespace {
/// A quotient of positive numbers.
struct Ratio {
  APInt over{kBits, 1}, under{kBits, 1};

  Ratio &times(double value) {
    over *= fixedPoint(value);
    under = under.shl(kScale);
    return *this;
  }
  Ratio &dividedBy(double value) {
    under *= fixedPoint(value);
    over = over.shl(kScale);
    return *this;
  }
};
} // namespace

static APInt number(int64_t v) {
  return APInt(kBits, uint64_t(v), /*isSigned=*/true);
}

/// a / b rounded down; b is positive.
static APInt floorOf(const APInt &a, const APInt &b) {
  APInt quotient(kBits, 0), rest(kBits, 0);
  APInt::sdivrem(a, b, quotient, rest);
  return rest.isNegative() ? quotient - 1 : quotient;
}

static int64_t saturated(const APInt &v) {
  if (v.isSignedIntN(64))
    return v.getSExtValue();
  return v.isNegative() ? INT64_MIN : INT64_MAX;
}

/// a / b rounded half to even; b is positive.
static int64_t roundedQuotient(const APInt &a, const APInt &b) {
  APInt down = floorOf(a, b), rest = (a - down * b).shl(1);
  bool up = rest.ugt(b) || (rest == b && down[0]);
  return saturated(up ? down + 1 : down);
}

/// The least integer that, times `ratio`, rounds to `level` or more.
static int64_t leastFor(int64_t level, const Ratio &ratio) {
  // v · over / under ≥ level − 1/2; a tie goes up to an even level.
  APInt bound = number(2 * level - 1) * ratio.under, step = ratio.over.shl(1);
  APInt down = floorOf(bound, step);
  bool isTie = down * step == bound;
  return saturated(isTie && level % 2 == 0 ? down : down + 1);
}

namespace {
/// Scale and zero point of one operand.
struct Quantiser {
  std::vector<double> scales;
  std::vector<int64_t> zeros;
  int type = 0;
};
} // namespace

static bool isByte(int type) {
  return type == TensorProto::INT8 || type == TensorProto::UINT8;
}

/// Constant scales and zero points of a tensor of `type`; nullopt if they are
/// not, or the types have not 8 bits.
static std::optional<Quantiser> makeQuantiser(const TensorRef &scale,
                                              const TensorRef &zero, int type) {
  Quantiser q;
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

/// x less its zero points, which lie along `axis` if there are several.
Value Importer::centred(Value x, ArrayRef<int64_t> zeros, int64_t axis) {
  if (llvm::all_of(zeros, [](int64_t z) { return z == 0; }))
    return x;
  Loops l = loops();
  Loops::Shape shape(Loops::shapeOf(x).size(), 1);
  if (zeros.size() > 1)
    shape[axis] = int64_t(zeros.size());
  else
    shape.clear();
  Value zero = wholeConstant(shape, zeros);
  return l.map({x, zero}, l.whole(),
               [](S &s, R a) { return s.sub(a[0], a[1]); });
}

/// Integers times ratios (one, or one for each place of `axis`), rounded, plus
/// the zero point, within an 8-bit type: found among the least integers that
/// give each level, eight comparisons for each element.
Value Importer::requantised(Value acc, ArrayRef<APInt> over,
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
  Value table = wholeConstant({rows, levels}, least);
  return loops().map({acc}, builder.getI64Type(), [&](S &s, R a) {
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
LogicalResult Importer::giveInteger(Value v, int onnxType) {
  num::IntType to = integerType(onnxType);
  v = convertTo(v, onnxType, TensorProto::FLOAT);
  return setPlain(quantStep(v, {true, {1.0}, {0}, -1, to}, -1));
}

/// A product of centred 8-bit integers, `each` of them for every place of x's
/// axis `xAxis`, which is w's `wAxis`. As many as float32 holds the sums of are
/// taken in it, which is quicker and as exact; these are added as integers.
/// Null if refused.
Value Importer::exactProduct(Value x, Value w, int64_t xAxis, int64_t wAxis,
                             int64_t each,
                             function_ref<Value(Value, Value)> product) {
  constexpr int64_t kTerms = 256; // 2^24 / 255²
  if (each > kTerms)
    return product(x, w);
  Loops l = loops();
  int64_t size = Loops::shapeOf(w)[wAxis], step = kTerms / each;
  auto part = [&](Value v, int64_t axis, int64_t begin) {
    Loops::Shape shape(Loops::shapeOf(v)), first(shape.size(), 0),
        stride(shape.size(), 1);
    first[axis] = begin;
    shape[axis] = std::min(step, size - begin);
    if (shape[axis] != size)
      v = l.slice(v, first, stride, shape);
    return convertTo(v, TensorProto::INT64, TensorProto::FLOAT);
  };
  Value sum;
  for (int64_t begin = 0; begin < size; begin += step) {
    Value v = product(part(x, xAxis, begin), part(w, wAxis, begin));
    if (!v)
      return {};
    v = convertTo(v, TensorProto::FLOAT, TensorProto::INT64);
    sum = sum ? l.map({sum, v}, l.whole(),
                      [](S &s, R a) { return s.add(a[0], a[1]); })
              : v;
  }
  return sum;
}

Value Importer::exactConvolution(Value x, Value w) {
  Loops::Shape from(Loops::shapeOf(x)), kernel(Loops::shapeOf(w));
  auto plain = [&](Value p, Value q) { return convolved(p, q); };
  if (from.size() < 3 || kernel.size() != from.size() || from[1] != kernel[1])
    return plain(x, w); // in groups, or refused
  int64_t taps = 1;
  for (int64_t size : ArrayRef(kernel).drop_front(2))
    taps *= size;
  return exactProduct(x, w, 1, 1, taps, plain);
}

Value Importer::exactMatrixProduct(Value x, Value w) {
  Loops::Shape p(Loops::shapeOf(x)), q(Loops::shapeOf(w));
  auto plain = [&](Value a, Value b) { return hostProduct(a, b); };
  int64_t inner = q.size() > 1 ? int64_t(q.size()) - 2 : 0;
  if (p.empty() || q.empty() || p.back() != q[inner])
    return {};
  return exactProduct(x, w, int64_t(p.size()) - 1, inner, 1, plain);
}

/// What scale, zero point and sums of a product's result become.
LogicalResult Importer::giveProduct(Value acc, size_t aScale, size_t bScale,
                                    size_t yScale, int64_t axis) {
  auto a = makeQuantiser(input(aScale), input(aScale + 1), TensorProto::UINT8),
       b = makeQuantiser(input(bScale), input(bScale + 1), TensorProto::UINT8);
  int to =
      input(yScale + 1) ? typeOf(input(yScale + 1)) : int(TensorProto::UINT8);
  auto y = makeQuantiser(input(yScale), input(yScale + 1), to);
  int64_t places = axis >= 0 ? Loops::shapeOf(acc)[axis] : 1;
  if (!a || !b || !y || a->scales.size() != 1 || y->scales.size() != 1 ||
      y->zeros.size() != 1 ||
      (b->scales.size() != 1 && int64_t(b->scales.size()) != places))
    return refuse("its scales and zero points are not constants that fit");
  double factor = node->getFloat("alpha", 1);
  if (!(factor > 0) || double(float(factor)) != factor)
    return refuse(formatv("its alpha is {0}", factor));
  std::vector<APInt> over, under;
  for (double scale : b->scales) {
    Ratio r;
    r.times(a->scales[0]).times(scale).times(factor).dividedBy(y->scales[0]);
    over.push_back(r.over);
    under.push_back(r.under);
  }
  return giveInteger(requantised(acc, over, under, y->zeros[0], to, axis), to);
}

/// (x, x_scale, x_zero, w, w_scale, w_zero, y_scale, y_zero, bias)
LogicalResult Importer::exactConv() {
  if (node->getInt("channels_last", 0))
    return refuse("its channels are last");
  Value x = hostValue(0), w = x ? hostValue(3) : Value();
  Value bias = w && input(8) ? hostValue(8) : Value();
  if (!w)
    return failure();
  auto zx = makeQuantiser(input(1), input(2), typeOf(input(0))),
       zw = makeQuantiser(input(4), input(5), typeOf(input(3)));
  if (!zx || !zw || zx->zeros.size() != 1 || Loops::isReal(x) ||
      Loops::isReal(w) || (input(8) && (!bias || Loops::isReal(bias))))
    return refuse("its operands are not those of an integer convolution");
  const Shape &kernel = input(3)->shape;
  if (kernel.empty() ||
      (zw->zeros.size() != 1 && int64_t(zw->zeros.size()) != kernel[0]))
    return refuse("its weights' zero points do not fit");
  Value acc =
      exactConvolution(centred(x, zx->zeros, 0), centred(w, zw->zeros, 0));
  if (!acc)
    return failure();
  if (bias) {
    if (failed(onePerChannel(bias, kernel[0])))
      return failure();
    Loops::Shape channels(Loops::shapeOf(acc).size(), 1);
    channels[1] = kernel[0];
    acc = eachOf({acc, loops().reshape(bias, channels)}, TensorProto::INT64,
                 [](S &s, R a) { return s.add(a[0], a[1]); });
  }
  return giveProduct(acc, 1, 4, 6, 1);
}

/// (a, a_scale, a_zero, b, b_scale, b_zero, then y_scale and y_zero, or c,
/// y_scale and y_zero of QGemm)
LogicalResult Importer::exactMatMul() {
  bool isGemm = node->op() == "QGemm";
  Loops l = loops();
  Value a = hostValue(0), b = a ? hostValue(3) : Value(),
        c = b && isGemm && input(6) ? hostValue(6) : Value();
  if (!b)
    return failure();
  auto za = makeQuantiser(input(1), input(2), typeOf(input(0))),
       zb = makeQuantiser(input(4), input(5), typeOf(input(3)));
  if (!za || !zb || za->zeros.size() != 1 || Loops::isReal(a) ||
      Loops::isReal(b) || (isGemm && input(6) && (!c || Loops::isReal(c))) ||
      (isGemm && !input(7)))
    return refuse("its operands are not those of an integer product");
  if (isGemm && (input(0)->rank() != 2 || input(3)->rank() != 2))
    return refuse("its inputs are no matrices");
  if (isGemm && node->getInt("transA", 0))
    a = l.transpose(a, {1, 0});
  if (isGemm && node->getInt("transB", 0))
    b = l.transpose(b, {1, 0});
  Loops::Shape shape(Loops::shapeOf(b));
  if (shape.empty() ||
      (zb->zeros.size() != 1 &&
       (shape.size() < 2 || int64_t(zb->zeros.size()) != shape.back())))
    return refuse("its zero points do not fit");
  Value acc =
      exactMatrixProduct(centred(a, za->zeros, 0),
                         centred(b, zb->zeros, int64_t(shape.size()) - 1));
  if (!acc)
    return refuse("its inputs do not fit");
  if (c) {
    if (Loops::broadcast(Loops::shapeOf(acc), Loops::shapeOf(c)) !=
        Loops::Shape(Loops::shapeOf(acc)))
      return refuse("its input C does not fit");
    acc = eachOf({acc, c}, TensorProto::INT64,
                 [](S &s, R e) { return s.add(e[0], e[1]); });
  }
  int64_t axis = int64_t(Loops::shapeOf(acc).size()) - 1;
  return giveProduct(acc, 1, 4, isGemm ? 7 : 6, axis);
}

/// (a, a_scale, a_zero, b, b_scale, b_zero, y_scale, y_zero): a table of all
/// pairs of 8-bit integers.
LogicalResult Importer::exactBinary() {
  Value x = hostValue(0), y = x ? hostValue(3) : Value();
  if (!y || Loops::isReal(x) || Loops::isReal(y))
    return refuse("its operands are not integers");
  auto a = makeQuantiser(input(1), input(2), typeOf(input(0))),
       b = makeQuantiser(input(4), input(5), typeOf(input(3)));
  int to = input(7) ? typeOf(input(7)) : typeOf(input(0));
  auto c = makeQuantiser(input(6), input(7), to);
  for (auto *q : {&a, &b, &c})
    if (!*q || (*q)->scales.size() != 1 || (*q)->zeros.size() != 1)
      return refuse("its scales and zero points are not single constants");
  if (!Loops::broadcast(Loops::shapeOf(x), Loops::shapeOf(y)))
    return refuse("its inputs' shapes do not broadcast");
  bool isSum = node->op() == "QLinearAdd";
  APInt sa = fixedPoint(a->scales[0]), sb = fixedPoint(b->scales[0]),
        sc = fixedPoint(c->scales[0]);
  APInt one = number(1).shl(kScale);
  APInt under = isSum ? sc : sc * one, product = sa * sb;
  int64_t la = wholeRange(a->type)->first, lb = wholeRange(b->type)->first;
  auto [lo, hi] = *wholeRange(to);
  std::vector<int64_t> values;
  for (int64_t i = 0; i < 256; ++i)
    for (int64_t k = 0; k < 256; ++k) {
      int64_t p = la + i - a->zeros[0], q = lb + k - b->zeros[0];
      APInt over =
          isSum ? sa * number(p) + sb * number(q) : product * number(p * q);
      int64_t level = roundedQuotient(over, under);
      // Far out, where adding the zero point could overflow, it is a bound.
      level = std::clamp<int64_t>(level, -(1 << 20), 1 << 20) + c->zeros[0];
      values.push_back(std::clamp(level, lo, hi));
    }
  Value table = wholeConstant({256, 256}, values);
  Value v = eachOf({x, y}, to, [&](S &s, R e) {
    auto place = [&](Value v, int64_t least) {
      v = s.sub(v, s.whole(least));
      return s.min(s.max(v, s.whole(0)), s.whole(255));
    };
    return s.at(table, {place(e[0], la), place(e[1], lb)});
  });
  return giveInteger(v, to);
}

/// (x, x_scale, x_zero, y_scale, y_zero): the mean over an image, or over axes.
LogicalResult Importer::exactMean() {
  if (node->getInt("channels_last", 0))
    return refuse("its channels are last");
  Value x = hostValue(0);
  if (!x || Loops::isReal(x))
    return refuse("its input is not of integers");
  auto in = makeQuantiser(input(1), input(2), typeOf(input(0)));
  int to = input(4) ? typeOf(input(4)) : typeOf(input(0));
  auto out = makeQuantiser(input(3), input(4), to);
  for (auto *q : {&in, &out})
    if (!*q || (*q)->scales.size() != 1 || (*q)->zeros.size() != 1)
      return refuse("its scales and zero points are not single constants");
  SmallVector<bool> axes(input(0)->rank(), true);
  for (size_t i = 0; i < std::min<size_t>(2, axes.size()); ++i)
    axes[i] = false;
  int64_t count = 1;
  for (auto [size, isReduced] : llvm::zip_equal(input(0)->shape, axes))
    count *= isReduced ? size : 1;
  Value sum = loops().sum(centred(x, in->zeros, 0), axes);
  Ratio r;
  r.times(in->scales[0]).dividedBy(out->scales[0]);
  return giveInteger(requantised(sum, {r.over}, {r.under * number(count)},
                                 out->zeros[0], to, -1),
                     to);
}

/// (x, w, x_zero, w_zero): sums as int32, which float32 would not hold.
LogicalResult Importer::exactIntegerProduct() {
  bool isConv = node->op() == "ConvInteger";
  Value x = hostValue(0), w = x ? hostValue(1) : Value();
  if (!w || !isByte(typeOf(input(0))) || !isByte(typeOf(input(1))))
    return refuse("its inputs are not integers of 8 bits");
  auto zeros = [&](size_t i) -> std::optional<std::vector<int64_t>> {
    if (!input(i))
      return std::vector<int64_t>{0};
    if (!input(i)->isPlainConstant() || !isByte(input(i)->constant->type) ||
        input(i)->constant->ints.empty())
      return std::nullopt;
    return input(i)->constant->ints;
  };
  auto zx = zeros(2), zw = zeros(3);
  int64_t axis = isConv ? 0 : int64_t(input(1)->rank()) - 1;
  if (!zx || !zw || zx->size() != 1 || axis < 0 ||
      (zw->size() != 1 && int64_t(zw->size()) != input(1)->shape[axis]))
    return refuse("its zero points are not constants that fit");
  x = centred(x, *zx, 0), w = centred(w, *zw, axis);
  Value v = isConv ? exactConvolution(x, w) : exactMatrixProduct(x, w);
  if (!v)
    return refuse("its inputs do not fit");
  return give(0, wrapped(v, TensorProto::INT32), TensorProto::INT32);
}

/// True if the sums of an integer product may be beyond what float32 holds,
/// and somebody reads them as integers.
bool Importer::isWideProduct(const Node &n) {
  if (n.op() != "MatMulInteger" && n.op() != "ConvInteger")
    return false;
  TensorRef w = lookup(n.proto.input(1));
  if (!w || w->unknown || w->rank() == 0)
    return false;
  int64_t depth = 1;
  if (n.op() == "ConvInteger")
    for (int64_t size : ArrayRef(w->shape).drop_front())
      depth *= size;
  else
    depth = w->rank() > 1 ? w->shape[w->rank() - 2] : w->shape[0];
  if (depth <= 256)
    return false;
  const std::string &out = n.proto.output(0);
  for (const onnx::ValueInfoProto &v : graph.model.graph().output())
    if (v.name() == out)
      return true;
  return llvm::any_of(graph.nodes, [&](const Node &user) {
    return llvm::is_contained(user.proto.input(), out) &&
           !(user.op() == "Cast" &&
             HostTensor::isRealType(int(user.getInt("to", 0))));
  });
}

const llvm::StringMap<Importer::OpInfo> &Importer::exactOperations() {
  using I = Importer;
  static const std::vector<StringRef> window = {
      "auto_pad",     "channels_last", "dilations", "group",
      "kernel_shape", "pads",          "strides"};
  static const llvm::StringMap<OpInfo> table = {
      {"QLinearConv", {&I::exactConv, window}},
      {"QLinearMatMul", {&I::exactMatMul, {}}},
      {"QGemm", {&I::exactMatMul, {"alpha", "transA", "transB"}}},
      {"QLinearAdd", {&I::exactBinary, {}}},
      {"QLinearMul", {&I::exactBinary, {}}},
      {"QLinearGlobalAveragePool", {&I::exactMean, {"channels_last"}}},
      {"MatMulInteger", {&I::exactIntegerProduct, {}}},
      {"ConvInteger", {&I::exactIntegerProduct, window}},
  };
  return table;
}

/// Computes an operation that its expansion could not make part of the network.
LogicalResult Importer::importExactly(const Node &n) {
  node = &n;
  enter(n.name, n.op());
  if (!loadInputs())
    return failure();
  auto found = exactOperations().find(n.op());
  size_t before = refusals.size();
  bool done =
      found != exactOperations().end() && checkAttributes(n, found->second) &&
      succeeded((this->*found->second.handler)()) && refusals.size() == before;
  if (done)
    foldResults();
  return success(done);
}

size_t Importer::importExpansion(size_t first) {
  auto keyOf = [&](size_t i) {
    return StringRef(graph.nodes[i].proto.output(0)).split('\x1f').first;
  };
  StringRef key =
      graph.nodes[first].proto.output_size() ? keyOf(first) : StringRef();
  auto whole = graph.expanded.find(key);
  size_t last = first;
  if (whole != graph.expanded.end())
    while (graph.nodes[last].proto.output(0) != key &&
           last + 1 < graph.nodes.size() &&
           graph.nodes[last + 1].proto.output_size() && keyOf(last + 1) == key)
      ++last;
  ArrayRef<Node> parts = ArrayRef(graph.nodes).slice(first, last + 1 - first);
  if (whole == graph.expanded.end() || parts.back().proto.output(0) != key) {
    importNode(graph.nodes[first]);
    return first + 1;
  }
  const Node written(whole->second, first);
  size_t before = refusals.size();
  auto undo = [&] {
    refusals.resize(before);
    for (const Node &n : parts)
      for (const std::string &name : n.proto.output())
        tensors.erase(name);
  };
  bool isWide = isWideProduct(written);
  for (const Node &n : parts)
    if (!isWide && refusals.size() == before)
      importNode(n, /*networkOnly=*/true);
  if (!isWide && refusals.size() == before)
    return last + 1;
  std::string why = isWide ? "float32 does not hold its sums"
                    : refusals.size() > before ? refusals[before].reason
                                               : "";
  undo();
  Block *block = builder.getInsertionBlock();
  Operation *begin = block->empty() ? nullptr : &block->back();
  if (succeeded(importExactly(written))) {
    for (Operation *op = begin ? begin->getNextNode() : nullptr; op;
         op = op->getNextNode())
      if (isa<linalg::GenericOp>(op))
        op->setAttr(kWhyHost, builder.getStringAttr(why));
    return last + 1;
  }
  undo(); // for instance scales that are computed: in parts, in float32
  for (const Node &n : parts)
    importNode(n);
  return last + 1;
}
