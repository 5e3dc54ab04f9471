// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Selection of elements by constants, and operations on two streams
// other than sums: maxima, minima and products.
#include "Integerizer.h"

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

void Integerizer::visitProduct(osa::MulOp op, Lazy lhs, Lazy rhs) {
  const char *remedy = "put a quantizer on each operand";
  if (!align(op, lhs, rhs))
    return;
  if (!lhs->isAffine() || !rhs->isAffine())
    return leaveToHost(op, "an operand has an activation but no quantizer",
                       remedy);
  // a·(x − z) each: the zeros are whole and the same for all channels.
  auto zeroOf = [](const LazyTensor &t) -> std::optional<int64_t> {
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
  };
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
    Wide corners[] = {(Wide(g.lo()) - *zx) * (Wide(h.lo()) - *zy),
                      (Wide(g.lo()) - *zx) * (Wide(h.hi()) - *zy),
                      (Wide(g.hi()) - *zx) * (Wide(h.lo()) - *zy),
                      (Wide(g.hi()) - *zx) * (Wide(h.hi()) - *zy)};
    Wide lo = *std::min_element(std::begin(corners), std::end(corners)),
         hi = *std::max_element(std::begin(corners), std::end(corners));
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
