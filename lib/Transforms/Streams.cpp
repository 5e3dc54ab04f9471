// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Selection of elements by constants, and operations on two streams
// other than sums: maxima, minima, products and products of matrices.
#include "Integerizer.h"
#include "rhizome/Dialect/Osa/Matmul.h"

using namespace mlir;
using namespace rhizome;
using Wide = __int128;

static bool fits(Wide v) { return v < (Wide(1) << 60) && v > -(Wide(1) << 60); }

Integerizer::Lazy Integerizer::gathered(Operation *op, Lazy source,
                                        int64_t axis,
                                        ArrayRef<int64_t> indices) {
  auto t = std::make_shared<LazyTensor>(*source);
  if (!settle(op, *t))
    return nullptr;
  // A single transpose is deferred: the axis is one of the physical tensor.
  SmallVector<int64_t> permutation;
  if (t->layout.size() == 1 && !t->layout[0].permutation.empty()) {
    permutation = t->layout[0].permutation;
    axis = permutation[axis];
    t->layout.clear();
    t->shape = t->physicalShape;
  } else if (!t->layout.empty() && !(t = materialize(op, t))) {
    return nullptr;
  }
  bool channels = axis + 1 == int64_t(t->shape.size());
  if (channels && t->curve && t->f.size() > 1) {
    leaveToHost(op, "its input has an activation but no quantizer",
                "put a quantizer before it");
    return nullptr;
  }
  if (channels && t->f.size() > 1) {
    std::vector<PiecewiseLinear> chosen;
    for (int64_t i : indices)
      chosen.push_back(t->f[i]);
    t->f = std::move(chosen);
  }
  t->shape[axis] = t->physicalShape[axis] = int64_t(indices.size());
  auto type = RankedTensorType::get(
      t->shape, cast<RankedTensorType>(t->physical.getType()).getElementType());
  t->physical = osa::GatherOp::create(builder, op->getLoc(), type, t->physical,
                                      axis, indices);
  if (!permutation.empty())
    t->transpose(permutation);
  return t;
}

void Integerizer::visitGather(osa::GatherOp op, Lazy in) {
  if (Lazy out = gathered(op, in, int64_t(op.getAxis()), op.getIndices())) {
    setResult(op, out);
    if (out->isAffine())
      pickUp.insert(op.getResult());
  }
}

static bool sameLayout(const LazyTensor &a, const LazyTensor &b) {
  if (a.physicalShape != b.physicalShape || a.layout.size() != b.layout.size())
    return false;
  for (size_t i = 0; i < a.layout.size(); ++i)
    if (a.layout[i].permutation != b.layout[i].permutation ||
        a.layout[i].shape != b.layout[i].shape)
      return false;
  return true;
}

bool Integerizer::align(Operation *op, Lazy &lhs, Lazy &rhs) {
  auto shape = cast<RankedTensorType>(op->getResult(0).getType()).getShape();
  for (Lazy *side : {&lhs, &rhs}) {
    Lazy &t = *side;
    t = std::make_shared<LazyTensor>(*t);
    if (!settle(op, *t))
      return false;
    if (t->shape.size() < shape.size()) {
      SmallVector<int64_t> longer(shape.size() - t->shape.size(), 1);
      longer.append(t->shape.begin(), t->shape.end());
      t->reshape(longer);
    }
    // NumPy's broadcasting repeats axes of size 1.
    for (size_t axis = 0; axis < shape.size(); ++axis)
      if (t->shape[axis] != shape[axis] &&
          !(t = gathered(op, t, int64_t(axis),
                         SmallVector<int64_t>(shape[axis], 0))))
        return false;
  }
  if (sameLayout(*lhs, *rhs))
    return true;
  lhs = materialize(op, lhs);
  rhs = lhs ? materialize(op, rhs) : nullptr;
  return lhs && rhs;
}

/// slope · x + offset, the same for every channel; nullopt if they differ or
/// are not rational.
static std::optional<std::pair<mpq_class, mpq_class>>
commonLine(const LazyTensor &t) {
  if (!t.isAffine())
    return std::nullopt;
  auto &first = t.f[0].pieces()[0];
  for (const PiecewiseLinear &g : t.f)
    if (!(g.pieces()[0].slope == first.slope) ||
        !(g.pieces()[0].offset == first.offset))
      return std::nullopt;
  if (!first.slope.isRational() || !first.offset.isRational() ||
      first.slope.sign() == 0)
    return std::nullopt;
  return std::pair(first.slope.rational(), first.offset.rational());
}

void Integerizer::visitMax(Operation *op, Lazy lhs, Lazy rhs) {
  const char *remedy = "put a quantizer with one scale on each operand";
  if (!align(op, lhs, rhs))
    return;
  auto a = commonLine(*lhs), b = commonLine(*rhs);
  if (!a || !b)
    return leaveToHost(op, "its operands' channels have different scales",
                       remedy);
  // max(a₁x + a₀, b₁y + b₀) = unit · max(p·x, q·y + o) + a₀, unit positive or,
  // for a minimum, negative.
  mpq_class shift = b->second - a->second;
  mpz_class den =
      lcm(lcm(a->first.get_den(), b->first.get_den()), shift.get_den());
  mpz_class p = a->first.get_num() * (den / a->first.get_den()),
            q = b->first.get_num() * (den / b->first.get_den()),
            o = shift.get_num() * (den / shift.get_den());
  mpz_class common = gcd(gcd(p, q), o);
  p /= common, q /= common, o /= common;
  mpq_class unit(common, den);
  unit.canonicalize();
  if (isa<osa::MinOp>(op))
    p = -p, q = -q, o = -o, unit = -unit;
  for (const mpz_class *v : {&p, &q, &o})
    if (mpz_sizeinbase(v->get_mpz_t(), 2) > 31)
      return leaveToHost(op, "its operands' scales have no small common unit",
                         "quantize both operands with one scale");
  auto ends = [](const LazyTensor &t, int64_t factor, int64_t term) {
    auto [lo, hi] = t.range();
    return std::minmax({Wide(lo) * factor + term, Wide(hi) * factor + term});
  };
  int64_t pi = toInt64(p), qi = toInt64(q), oi = toInt64(o);
  auto [xlo, xhi] = ends(*lhs, pi, 0);
  auto [ylo, yhi] = ends(*rhs, qi, oi);
  if (!fits(xlo) || !fits(xhi) || !fits(ylo) || !fits(yhi))
    return leaveToHost(op, "its result needs more than 60 bits", remedy);
  int64_t lo = int64_t(std::max(xlo, ylo)), hi = int64_t(std::max(xhi, yhi));
  auto out = std::make_shared<LazyTensor>(*lhs);
  out->physical = osa::ScaledMaxOp::create(
      builder, op->getLoc(),
      RankedTensorType::get(lhs->physicalShape, intType(lo, hi)), lhs->physical,
      rhs->physical, pi, qi, oi);
  out->f = {PiecewiseLinear::affine(lo, hi, Real(unit), Real(a->second))};
  setResult(op, out);
  pickUp.insert(op->getResult(0));
}

/// z, if every channel is a·(x − z): a whole number, the same for all.
static std::optional<int64_t> zeroOf(const LazyTensor &t) {
  std::optional<int64_t> zero;
  for (const PiecewiseLinear &g : t.f) {
    auto &piece = g.pieces()[0];
    if (piece.slope.sign() == 0)
      return std::nullopt;
    Real z = -piece.offset / piece.slope;
    if (!(z == Real(mpq_class(z.floor()))) ||
        mpz_sizeinbase(z.floor().get_mpz_t(), 2) > 30 ||
        (zero && *zero != toInt64(z.floor())))
      return std::nullopt;
    zero = toInt64(z.floor());
  }
  return zero;
}

/// The lowest and the highest product of x − zx and y − zy.
static std::pair<Wide, Wide> productRange(std::pair<int64_t, int64_t> x,
                                          int64_t zx,
                                          std::pair<int64_t, int64_t> y,
                                          int64_t zy) {
  return std::minmax({(Wide(x.first) - zx) * (Wide(y.first) - zy),
                      (Wide(x.first) - zx) * (Wide(y.second) - zy),
                      (Wide(x.second) - zx) * (Wide(y.first) - zy),
                      (Wide(x.second) - zx) * (Wide(y.second) - zy)});
}

void Integerizer::visitProduct(osa::MulOp op, Lazy lhs, Lazy rhs) {
  const char *remedy = "put a quantizer on each operand";
  if (!align(op, lhs, rhs))
    return;
  if (!lhs->isAffine() || !rhs->isAffine())
    return leaveToHost(op, "an operand has an activation but no quantizer",
                       remedy);
  auto zx = zeroOf(*lhs), zy = zeroOf(*rhs);
  if (!zx || !zy)
    return leaveToHost(op, "an operand has no code for zero", remedy);
  std::vector<PiecewiseLinear> f;
  size_t count = std::max(lhs->f.size(), rhs->f.size());
  Wide lowest = Wide(1) << 100, highest = -(Wide(1) << 100);
  for (size_t c = 0; c < count; ++c) {
    const PiecewiseLinear &g = lhs->function(c), &h = rhs->function(c);
    const Real &a = g.pieces()[0].slope, &b = h.pieces()[0].slope;
    if (!a.isRational() || !b.isRational())
      return leaveToHost(op, "its operands' scales are not rational", remedy);
    auto [lo, hi] = productRange({g.lo(), g.hi()}, *zx, {h.lo(), h.hi()}, *zy);
    if (!fits(lo) || !fits(hi))
      return leaveToHost(op, "its product needs more than 60 bits", remedy);
    lowest = std::min(lowest, lo);
    highest = std::max(highest, hi);
    f.push_back(
        PiecewiseLinear::affine(int64_t(lo), int64_t(hi), a * b, Real(0)));
  }
  auto out = std::make_shared<LazyTensor>(*lhs);
  out->physical = osa::ProductOp::create(
      builder, op.getLoc(),
      RankedTensorType::get(lhs->physicalShape,
                            intType(int64_t(lowest), int64_t(highest))),
      lhs->physical, rhs->physical, *zx, *zy);
  out->f = std::move(f);
  setResult(op, out);
  pickUp.insert(op.getResult());
}

/// The order of axes of these sizes in which `t`'s elements physically lie, as
/// the permutation that gives each axis its place, if it is one of `orders`.
static std::optional<SmallVector<int64_t>>
orderOf(const LazyTensor &t, ArrayRef<int64_t> sizes,
        ArrayRef<SmallVector<int64_t>> orders) {
  auto map = t.elementMap();
  for (const SmallVector<int64_t> &places : orders) {
    SmallVector<int64_t> strides(sizes.size());
    for (size_t axis = 0; axis < sizes.size(); ++axis) {
      strides[axis] = 1;
      for (size_t other = 0; other < sizes.size(); ++other)
        if (places[other] > places[axis])
          strides[axis] *= sizes[other];
    }
    SmallVector<int64_t> index(sizes.size(), 0);
    bool fits = true;
    for (int64_t i = 0, n = llvm::product_of(sizes); i < n && fits; ++i) {
      int64_t at = 0;
      for (size_t axis = 0; axis < sizes.size(); ++axis)
        at += index[axis] * strides[axis];
      fits = at == (map ? (*map)[i] : i);
      for (size_t axis = sizes.size();
           axis-- > 0 && ++index[axis] == sizes[axis];)
        index[axis] = 0;
    }
    if (fits)
      return places;
  }
  return std::nullopt;
}

/// The batch may be outside or inside the rows of the left operand, and the
/// right one's axes may be in any order in which its innermost one is not the
/// batch: other orders are transposed.
void Integerizer::visitMatmul(Operation *op, Lazy lhs, Lazy rhs) {
  const char *remedy = "put a quantizer with one scale on each operand";
  const osa::MatmulShape s = osa::matmulShape(cast<osa::MatmulOp>(op));
  auto a = commonLine(*lhs), b = commonLine(*rhs);
  auto zx = a ? zeroOf(*lhs) : std::nullopt,
       zy = b ? zeroOf(*rhs) : std::nullopt;
  if (!a || !b)
    return leaveToHost(op,
                       "its operands' channels have different scales, or "
                       "an activation but no quantizer",
                       remedy);
  if (!zx || !zy)
    return leaveToHost(op, "an operand has no code for zero", remedy);
  auto [least, most] = productRange(lhs->range(), *zx, rhs->range(), *zy);
  Wide lo = least * s.inner, hi = most * s.inner;
  if (!fits(lo) || !fits(hi))
    return leaveToHost(op, "its sums need more than 60 bits", remedy);
  for (Lazy *side : {&lhs, &rhs}) {
    *side = std::make_shared<LazyTensor>(**side);
    if (!settle(op, **side))
      return;
  }

  assert(s.outer == 1 && "as it is imported");
  bool isInside = false;
  if (auto places =
          orderOf(*lhs, {s.batch, s.rows, s.inner}, {{0, 1, 2}, {1, 0, 2}})) {
    isInside = (*places)[0] == 1 && s.batch > 1 && s.rows > 1;
  } else if (!(lhs = materialize(op, lhs))) {
    return;
  }
  // As logical sizes in the order of the tensor's axes.
  SmallVector<int64_t> sizes(3), axes(s.axes.begin(), s.axes.end());
  const int64_t rightSizes[] = {s.batch, s.inner, s.columns};
  for (auto [axis, size] : llvm::zip_equal(s.axes, rightSizes))
    sizes[axis] = size;
  SmallVector<SmallVector<int64_t>> orders = {{0, 1, 2}};
  for (auto [batch, inner, columns] :
       {std::tuple(0, 1, 2), {0, 2, 1}, {1, 0, 2}, {1, 2, 0}}) {
    SmallVector<int64_t> places(3);
    places[s.axes[0]] = batch;
    places[s.axes[1]] = inner;
    places[s.axes[2]] = columns;
    orders.push_back(places);
  }
  if (auto places = orderOf(*rhs, sizes, orders)) {
    for (int64_t &axis : axes)
      axis = (*places)[axis];
  } else if (!(rhs = materialize(op, rhs))) {
    return;
  }
  SmallVector<int64_t> rightShape(3);
  for (auto [axis, size] : llvm::zip_equal(axes, rightSizes))
    rightShape[axis] = size;

  SmallVector<int64_t> left = {1, s.batch, s.rows, s.inner};
  if (isInside)
    left = {s.rows, s.batch, 1, s.inner};
  auto shaped = [&](Value v, ArrayRef<int64_t> shape) -> Value {
    auto type = cast<RankedTensorType>(v.getType());
    if (type.getShape() == shape)
      return v;
    return osa::ReshapeOp::create(
        builder, op->getLoc(),
        RankedTensorType::get(shape, type.getElementType()), v);
  };
  auto out = std::make_shared<LazyTensor>();
  SmallVector<int64_t> shape = left;
  shape.back() = s.columns;
  out->physical = osa::MatmulOp::create(
      builder, op->getLoc(),
      RankedTensorType::get(shape, intType(int64_t(lo), int64_t(hi))),
      shaped(lhs->physical, left), shaped(rhs->physical, rightShape), axes, *zx,
      *zy);
  out->physicalShape = out->shape = shape;
  out->f = {PiecewiseLinear::affine(
      int64_t(lo), int64_t(hi), Real(mpq_class(a->first * b->first)), Real(0))};
  if (isInside)
    out->transpose({2, 1, 0, 3});
  setResult(op, out);
  pickUp.insert(op->getResult(0));
}
