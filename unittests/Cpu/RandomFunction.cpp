// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The random functions. Ranges stay below 2^40 so that every operation can
// follow every other.
#include "RandomFunction.h"
#include "rhizome/Dialect/Osa/Matmul.h"
#include "rhizome/Dialect/Osa/Rows.h"

using namespace mlir;
using namespace rhizome;
using namespace rhizome::test;

int64_t RandomFunction::pick(int64_t lo, int64_t hi) {
  uint64_t span = uint64_t(hi) - uint64_t(lo) + 1;
  return span ? int64_t(uint64_t(lo) + random() % span) : int64_t(random());
}

ArrayRef<int64_t> RandomFunction::shape(Value v) {
  return cast<RankedTensorType>(v.getType()).getShape();
}

RankedTensorType RandomFunction::type(ArrayRef<int64_t> shape, __int128 lo,
                                      __int128 hi) {
  return RankedTensorType::get(
      shape, num::IntType::getForRange(b.getContext(), lo, hi));
}

num::IntType RandomFunction::randomInt(unsigned maxWidth) {
  auto full = num::IntType::getFull(b.getContext(), coin(), pick(1, maxWidth));
  if (pick(0, 2))
    return full;
  int64_t x = pick(full.getLo(), full.getHi()),
          y = pick(full.getLo(), full.getHi());
  return num::IntType::get(b.getContext(), full.getIsSigned(), full.getWidth(),
                           std::min(x, y), std::max(x, y));
}

Value RandomFunction::constant(ArrayRef<int64_t> shape, num::IntType type) {
  std::vector<int64_t> values(ShapedType::getNumElements(shape));
  for (int64_t &v : values)
    v = pick(type.getLo(), type.getHi());
  return osa::ConstantOp::create(
      b, loc, RankedTensorType::get(shape, type),
      osa::makeIntAttr(b.getContext(), "random", shape, type, values));
}

Value RandomFunction::argument(ArrayRef<int64_t> shape, num::IntType type) {
  return function.getBody().front().addArgument(
      RankedTensorType::get(shape, type), loc);
}

/// The range of n products of two ranges.
static std::pair<__int128, __int128> products(num::IntType x, num::IntType w,
                                              int64_t n) {
  __int128 lo = 0, hi = 0;
  for (int64_t a : {x.getLo(), x.getHi()})
    for (int64_t c : {w.getLo(), w.getHi()}) {
      lo = std::min(lo, __int128(a) * c * n);
      hi = std::max(hi, __int128(a) * c * n);
    }
  return {lo, hi};
}

Value RandomFunction::conv2d(Value v) {
  auto in = shape(v);
  if (in.size() != 4)
    return {};
  num::IntType x = element(v), w = randomInt(8);
  SmallVector<int64_t> groupings;
  for (int64_t g = 1; g <= in[3]; ++g)
    if (in[3] % g == 0)
      groupings.push_back(g);
  int64_t groups = coin() ? 1 : groupings[pick(0, groupings.size() - 1)];
  int64_t outs = groups * pick(1, coin() ? 2 : 12);
  int64_t kh = pick(1, 4), kw = pick(1, 4);
  SmallVector<int64_t> s = {pick(1, 3), pick(1, 3)},
                       d = {pick(1, 2), pick(1, 2)},
                       p = {pick(0, 2), pick(0, 2), pick(0, 2), pick(0, 2)};
  int64_t oh = osa::windowOutput(in[1], p[0], p[2], kh, s[0], d[0]);
  int64_t ow = osa::windowOutput(in[2], p[1], p[3], kw, s[1], d[1]);
  if (oh < 1 || ow < 1)
    return {};
  int64_t padValue = coin() ? 0 : pick(x.getLo(), x.getHi());
  auto seen =
      num::IntType::getForRange(b.getContext(), std::min(x.getLo(), padValue),
                                std::max(x.getHi(), padValue));
  auto [lo, hi] = products(seen, w, kh * kw * in[3] / groups);
  Value bias;
  if (coin()) {
    num::IntType t = randomInt(16);
    bias = constant({outs}, t);
    lo += t.getLo(), hi += t.getHi();
  }
  Value weights = constant({outs, kh, kw, in[3] / groups}, w);
  return osa::Conv2dOp::create(
      b, loc, type({1, oh, ow, outs}, lo, hi), v, weights, bias,
      b.getDenseI64ArrayAttr(s), b.getDenseI64ArrayAttr(p),
      b.getDenseI64ArrayAttr(d), b.getI64IntegerAttr(groups),
      b.getI64IntegerAttr(padValue));
}

Value RandomFunction::dense(Value v) {
  SmallVector<int64_t> out(shape(v));
  num::IntType w = randomInt(8);
  int64_t ins = out.back(), outs = pick(1, 20);
  out.back() = outs;
  auto [lo, hi] = products(element(v), w, ins);
  Value bias;
  if (coin()) {
    num::IntType t = randomInt(16);
    bias = constant({outs}, t);
    lo += t.getLo(), hi += t.getHi();
  }
  return osa::DenseOp::create(b, loc, type(out, lo, hi), v,
                              constant({outs, ins}, w), bias);
}

Value RandomFunction::matmul(Value v) {
  auto divisor = [&](int64_t n) {
    int64_t d = pick(1, n);
    while (n % d)
      --d;
    return d;
  };
  osa::MatmulShape s;
  s.inner = shape(v).empty() ? 1 : shape(v).back();
  int64_t rows = ShapedType::getNumElements(shape(v)) / s.inner;
  s.outer = divisor(rows);
  s.batch = divisor(rows / s.outer);
  s.rows = rows / s.outer / s.batch;
  s.columns = pick(1, 9);
  s.axes = {0, 1, 2};
  std::shuffle(s.axes.begin(), s.axes.end(), random);
  SmallVector<int64_t> right(3);
  right[s.axes[0]] = s.batch;
  right[s.axes[1]] = s.inner;
  right[s.axes[2]] = s.columns;
  num::IntType x = element(v), y = randomInt(8);
  int64_t zx = coin() ? 0 : pick(x.getLo(), x.getHi()),
          zy = coin() ? 0 : pick(y.getLo(), y.getHi());
  auto [lo, hi] = std::minmax({(x.getLo() - zx) * (y.getLo() - zy),
                               (x.getLo() - zx) * (y.getHi() - zy),
                               (x.getHi() - zx) * (y.getLo() - zy),
                               (x.getHi() - zx) * (y.getHi() - zy)});
  SmallVector<int64_t> left = {s.outer, s.batch, s.rows, s.inner};
  auto out =
      type({s.outer, s.batch, s.rows, s.columns}, lo * s.inner, hi * s.inner);
  Value lhs = osa::ReshapeOp::create(
      b, loc, RankedTensorType::get(left, element(v)), v);
  Value product = osa::MatmulOp::create(b, loc, out, lhs, argument(right, y),
                                        s.axes, zx, zy);
  // One frame, as the other operations expect it.
  return osa::ReshapeOp::create(
      b, loc,
      RankedTensorType::get({1, 1, rows, s.columns}, out.getElementType()),
      product);
}

Value RandomFunction::pool(Value v, bool sum) {
  auto in = shape(v);
  if (in.size() != 4)
    return {};
  num::IntType x = element(v);
  SmallVector<int64_t> k = {pick(1, 3), pick(1, 3)},
                       s = {pick(1, 3), pick(1, 3)},
                       d = {pick(1, 2), pick(1, 2)},
                       p = {pick(0, 2), pick(0, 2), pick(0, 2), pick(0, 2)};
  int64_t oh = osa::windowOutput(in[1], p[0], p[2], k[0], s[0], d[0]);
  int64_t ow = osa::windowOutput(in[2], p[1], p[3], k[1], s[1], d[1]);
  // Every window must contain a position of the input.
  auto covered = [](int64_t size, int64_t low, int64_t kernel, int64_t stride,
                    int64_t dilation, int64_t outs) {
    for (int64_t o = 0; o < outs; ++o) {
      bool any = false;
      for (int64_t i = 0; i < kernel; ++i) {
        int64_t at = o * stride - low + i * dilation;
        any |= at >= 0 && at < size;
      }
      if (!any)
        return false;
    }
    return outs > 0;
  };
  if (!covered(in[1], p[0], k[0], s[0], d[0], oh) ||
      !covered(in[2], p[1], k[1], s[1], d[1], ow))
    return {};
  auto kernel = b.getDenseI64ArrayAttr(k), strides = b.getDenseI64ArrayAttr(s),
       pads = b.getDenseI64ArrayAttr(p), dilations = b.getDenseI64ArrayAttr(d);
  if (!sum)
    return osa::MaxPoolOp::create(b, loc,
                                  RankedTensorType::get({1, oh, ow, in[3]}, x),
                                  v, kernel, strides, pads, dilations);
  int64_t zero = coin() ? 0 : pick(-9, 9);
  auto shifted = num::IntType::getForRange(b.getContext(), x.getLo() - zero,
                                           x.getHi() - zero);
  SmallVector<int64_t> scale;
  if (coin())
    for (int64_t i = 0; i < oh * ow; ++i)
      scale.push_back(pick(1, 12));
  auto factor = num::IntType::getForRange(b.getContext(), 0, 12);
  auto [lo, hi] = products(shifted, factor, k[0] * k[1]);
  return osa::SumPoolOp::create(
      b, loc, type({1, oh, ow, in[3]}, lo, hi), v, kernel, strides, pads,
      dilations, b.getI64IntegerAttr(zero), b.getDenseI64ArrayAttr(scale));
}

Value RandomFunction::requantize(Value v) {
  num::IntType x = element(v);
  int64_t n = coin() && !shape(v).empty() ? shape(v).back() : 1;
  // Products below 2^60.
  unsigned room = std::min(59 - int(x.getWidth()), 24);
  SmallVector<int64_t> m, o;
  for (int64_t c = 0; c < n; ++c)
    m.push_back(pick(-(int64_t(1) << room), int64_t(1) << room) >>
                pick(0, room));
  int64_t offsets = coin() ? n : 1;
  for (int64_t c = 0; c < offsets; ++c)
    o.push_back(pick(-(int64_t(1) << 40), int64_t(1) << 40) >> pick(0, 40));
  int64_t shift = pick(0, pick(0, 3) ? 20 : 62);
  return osa::RequantizeOp::create(
      b, loc, RankedTensorType::get(shape(v), randomInt(16)), v,
      b.getDenseI64ArrayAttr(m), b.getDenseI64ArrayAttr(o),
      b.getI64IntegerAttr(shift), b.getBoolAttr(shift > 0 && coin()));
}

Value RandomFunction::threshold(Value v) {
  num::IntType x = element(v);
  int64_t sets = coin() && !shape(v).empty() ? shape(v).back() : 1;
  int64_t count = pick(0, 15);
  std::vector<int64_t> all;
  for (int64_t c = 0; c < sets; ++c) {
    std::vector<int64_t> row;
    for (int64_t k = 0; k < count; ++k)
      row.push_back(pick(x.getLo() - 2, x.getHi() + 2));
    llvm::sort(row);
    all.insert(all.end(), row.begin(), row.end());
  }
  int64_t base = pick(-20, 20), step = pick(-3, 3);
  auto attr = DenseElementsAttr::get(
      RankedTensorType::get({sets, count}, b.getI64Type()),
      ArrayRef<int64_t>(all));
  return osa::ThresholdOp::create(
      b, loc,
      type(shape(v), base + std::min<int64_t>(0, step * count),
           base + std::max<int64_t>(0, step * count)),
      v, attr, b.getI64IntegerAttr(base), b.getI64IntegerAttr(step));
}

Value RandomFunction::table(Value v) {
  num::IntType x = element(v), out = randomInt(16);
  if (x.getHi() - x.getLo() > 4000)
    return {};
  int64_t sets = coin() && !shape(v).empty() ? shape(v).back() : 1;
  int64_t entries = x.getHi() - x.getLo() + 1;
  std::vector<int64_t> values(sets * entries);
  for (int64_t &e : values)
    e = pick(out.getLo(), out.getHi());
  auto attr = DenseElementsAttr::get(
      RankedTensorType::get({sets, entries}, b.getI64Type()),
      ArrayRef<int64_t>(values));
  return osa::TableOp::create(b, loc, RankedTensorType::get(shape(v), out), v,
                              attr);
}

Value RandomFunction::rows(Value v) {
  num::IntType x = element(v);
  if (shape(v).empty() || x.getWidth() > 16)
    return {};
  if (coin() && x.getHi() - x.getLo() < 4000) {
    std::vector<int64_t> table(size_t(x.getHi() - x.getLo() + 1));
    for (int64_t &e : table)
      e = pick(0, 65535);
    table[0] = 65535;
    int64_t shift = pick(8, 30);
    return osa::RowSoftmaxOp::create(b, loc, type(shape(v), 0, pick(0, 300)), v,
                                     table, pick(65535, int64_t(65535) << 20),
                                     shift);
  }
  const bool isCentered = coin();
  const int64_t fraction = pick(0, 16),
                most = osa::mostNormalized(shape(v).back(), fraction);
  return osa::RowNormOp::create(
      b, loc, type(shape(v), -most, most), v, isCentered,
      isCentered || coin() ? 0 : pick(x.getLo(), x.getHi()),
      pick(1, coin() ? 9 : int64_t(1) << 40), fraction);
}

Value RandomFunction::scaledAdd(Value v) {
  Value other = coin() ? v : argument(shape(v), randomInt(16));
  int64_t l = pick(-9, 9), r = pick(-300, 300);
  auto one = [&](int64_t m) {
    return num::IntType::getForRange(b.getContext(), m, m);
  };
  auto [lo, hi] = products(element(v), one(l), 1);
  auto [lo2, hi2] = products(element(other), one(r), 1);
  return osa::ScaledAddOp::create(b, loc, type(shape(v), lo + lo2, hi + hi2), v,
                                  other, b.getI64IntegerAttr(l),
                                  b.getI64IntegerAttr(r));
}

Value RandomFunction::pair(Value v) {
  Value other = coin() ? v : argument(shape(v), randomInt(16));
  bool product = coin();
  int64_t l = pick(-9, 9), r = pick(-300, 300), offset = pick(-999, 999);
  int64_t lo = INT64_MAX, hi = INT64_MIN;
  for (int64_t x : {element(v).getLo(), element(v).getHi()})
    for (int64_t y : {element(other).getLo(), element(other).getHi()}) {
      int64_t result =
          product ? (x - l) * (y - r) : std::max(x * l, y * r + offset);
      lo = std::min(lo, result);
      hi = std::max(hi, result);
    }
  if (product)
    return osa::ProductOp::create(b, loc, type(shape(v), lo, hi), v, other, l,
                                  r);
  return osa::ScaledMaxOp::create(b, loc, type(shape(v), lo, hi), v, other, l,
                                  r, offset);
}

Value RandomFunction::gather(Value v) {
  if (shape(v).empty())
    return {};
  int64_t axis = pick(shape(v).size() == 4, shape(v).size() - 1);
  SmallVector<int64_t> indices, out(shape(v));
  for (int64_t i = pick(1, 7); i > 0; --i)
    indices.push_back(pick(0, shape(v)[axis] - 1));
  out[axis] = indices.size();
  return osa::GatherOp::create(b, loc, RankedTensorType::get(out, element(v)),
                               v, axis, indices);
}

Value RandomFunction::concat(Value v) {
  if (shape(v).empty())
    return {};
  int64_t axis = pick(0, shape(v).size() - 1);
  if (shape(v).size() == 4 && axis == 0)
    axis = 3;
  SmallVector<int64_t> other(shape(v)), out(shape(v));
  other[axis] = pick(1, 5);
  out[axis] += other[axis];
  num::IntType x = element(v), y = randomInt(16);
  Value w = argument(other, y);
  return osa::ConcatOp::create(
      b, loc,
      type(out, std::min(x.getLo(), y.getLo()), std::max(x.getHi(), y.getHi())),
      coin() ? ValueRange{v, w} : ValueRange{w, v}, b.getI64IntegerAttr(axis));
}

Value RandomFunction::pad(Value v) {
  SmallVector<int64_t> low, high, out(shape(v));
  for (auto [i, n] : llvm::enumerate(out)) {
    bool batch = i == 0 && out.size() == 4;
    low.push_back(batch ? 0 : pick(0, 2));
    high.push_back(batch ? 0 : pick(0, 2));
    n += low.back() + high.back();
  }
  num::IntType x = element(v);
  int64_t value = pick(-300, 300);
  return osa::PadOp::create(
      b, loc, type(out, std::min(x.getLo(), value), std::max(x.getHi(), value)),
      v, b.getDenseI64ArrayAttr(low), b.getDenseI64ArrayAttr(high),
      b.getF64FloatAttr(double(value)));
}

Value RandomFunction::transpose(Value v) {
  SmallVector<int64_t> permutation, out;
  for (size_t i = 0; i < shape(v).size(); ++i)
    permutation.push_back(i);
  std::shuffle(permutation.begin() + (shape(v).size() == 4 ? 1 : 0),
               permutation.end(), random);
  for (int64_t axis : permutation)
    out.push_back(shape(v)[axis]);
  return osa::TransposeOp::create(b, loc,
                                  RankedTensorType::get(out, element(v)), v,
                                  b.getDenseI64ArrayAttr(permutation));
}

Value RandomFunction::reshape(Value v) {
  int64_t n = ShapedType::getNumElements(shape(v));
  SmallVector<int64_t> factors;
  for (int64_t f = 1; f <= n; ++f)
    if (n % f == 0)
      factors.push_back(f);
  int64_t f = factors[pick(0, factors.size() - 1)];
  SmallVector<int64_t> out;
  switch (pick(0, 3)) {
  case 0:
    out = {n};
    break;
  case 1:
    out = {f, n / f};
    break;
  default:
    out = {1, 1, f, n / f};
  }
  return osa::ReshapeOp::create(b, loc, RankedTensorType::get(out, element(v)),
                                v);
}

Value RandomFunction::step(Value v) {
  if (element(v).getWidth() > 26)
    return requantize(v);
  switch (pick(0, 17)) {
  case 0:
  case 1:
  case 2:
    return conv2d(v);
  case 3:
    return dense(v);
  case 4:
    return pool(v, false);
  case 5:
    return pool(v, true);
  case 6:
    return requantize(v);
  case 7:
    return threshold(v);
  case 8:
    return table(v);
  case 9:
    return scaledAdd(v);
  case 10:
    return concat(v);
  case 11:
    return pad(v);
  case 12:
    return transpose(v);
  case 13:
    return gather(v);
  case 14:
    return pair(v);
  case 15:
    return matmul(v);
  case 16:
    return rows(v);
  default:
    return reshape(v);
  }
}

RandomFunction::RandomFunction(MLIRContext &context, unsigned seed,
                               unsigned length)
    : random(seed), b(&context),
      loc(NameLoc::get(b.getStringAttr("seed" + std::to_string(seed)))),
      owner(ModuleOp::create(loc)) {
  function = func::FuncOp::create(loc, "network", b.getFunctionType({}, {}));
  owner->push_back(function);
  b.setInsertionPointToStart(function.addEntryBlock());
  Value v = argument({1, pick(1, 9), pick(1, 9), pick(1, coin() ? 4 : 40)},
                     randomInt(16));
  for (unsigned made = 0; made < length;)
    if (Value next = step(v)) {
      v = next;
      ++made;
    }
  func::ReturnOp::create(b, loc, v);
  function.setType(
      b.getFunctionType(function.getBody().getArgumentTypes(), v.getType()));
}

std::vector<Tensor> RandomFunction::frame() {
  std::vector<Tensor> out;
  for (Type t : function.getArgumentTypes()) {
    num::IntType range = num::elementInt(t);
    Tensor tensor =
        Tensor::ofInts(cast<RankedTensorType>(t).getShape().vec(), {});
    for (int64_t i = 0, n = tensor.size(); i < n; ++i)
      tensor.ints.push_back(extremes ? (coin() ? range.getLo() : range.getHi())
                                     : pick(range.getLo(), range.getHi()));
    out.push_back(std::move(tensor));
  }
  extremes = !extremes;
  return out;
}
