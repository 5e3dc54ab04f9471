// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Softmax and normalization between quantizers, by their integer algorithms:
// the table of exponentials and the factors follow from the scales. A row must
// lie in the physical tensor as one; in which order the rows lie does not
// matter.
#include "rhizome/Dialect/Osa/Rows.h"
#include "Integerizer.h"
#include "rhizome/Dialect/Marks/Marks.h"
#include <cmath>

using namespace mlir;
using namespace rhizome;
using Wide = __int128;

/// The first exponential: 1 in units of 2^-16, but for what fits 16 bits.
constexpr int64_t kOne = 65535;
/// Bits of the largest quotient: a multiplier of 18 signed bits takes it.
constexpr int64_t kQuotientBits = 17;
/// More differences of inputs get no table.
constexpr int64_t kMostEntries = 4096;
/// Fraction bits of a normalized value.
constexpr int64_t kFraction = 12;

/// Whether each row of `n` logical elements is `n` elements of the physical
/// tensor's last axis.
static bool hasRows(const LazyTensor &t, int64_t n) {
  if (t.physicalShape.empty() || t.physicalShape.back() != n)
    return false;
  auto map = t.elementMap();
  for (size_t i = 0; map && i < map->size(); ++i) {
    int64_t first = (*map)[i - i % size_t(n)];
    if (first % n || (*map)[i] != first + int64_t(i % size_t(n)))
      return false;
  }
  return true;
}

Integerizer::Lazy Integerizer::withRows(Operation *op, Lazy in) {
  auto t = std::make_shared<LazyTensor>(*in);
  const auto shape = cast<RankedTensorType>(op->getResult(0).getType());
  if (t->curve || !t->isAffine()) {
    leaveToHost(op, "its input has an activation but no quantizer",
                "put a quantizer before it");
    return nullptr;
  }
  auto &first = t->f[0].pieces()[0];
  for (const PiecewiseLinear &g : t->f)
    if (auto &piece = g.pieces()[0];
        !(piece.slope == first.slope) || !(piece.offset == first.offset)) {
      leaveToHost(op, "its input's channels have different scales",
                  "quantize it with one scale");
      return nullptr;
    }
  if (!first.slope.isRational() || first.slope.sign() == 0) {
    leaveToHost(op, "its input's scale is zero, or not rational",
                "put a quantizer before it");
    return nullptr;
  }
  if (!settle(op, *t))
    return nullptr;
  if (hasRows(*t, shape.getShape().back()))
    return t;
  return materialize(op, t);
}

/// The one scale of the quantizers that read `v`, directly or moved; the
/// largest code that they have above the one for zero. nullopt if something
/// else reads it, or they differ.
static std::optional<std::pair<mpq_class, int64_t>> quantizersOf(Value v) {
  std::optional<std::pair<mpq_class, int64_t>> found;
  SmallVector<Value> work{v};
  while (!work.empty())
    for (Operation *user : work.pop_back_val().getUsers()) {
      if (isa<osa::ReshapeOp, osa::TransposeOp>(user)) {
        work.push_back(user->getResult(0));
        continue;
      }
      auto q = dyn_cast<osa::QuantizeOp>(user);
      if (!q || osa::floatValues(q.getScale()).size() != 1)
        return std::nullopt;
      mpq_class scale = exact(osa::floatValues(q.getScale())[0]);
      int64_t most = num::elementInt(q.getType()).getHi() -
                     osa::intValues(q.getZeroPoint())[0];
      if (found && *found != std::pair(scale, most))
        return std::nullopt;
      found = {scale, most};
    }
  return found;
}

void Integerizer::visitSoftmax(osa::SoftmaxOp op, Lazy in) {
  auto shape = cast<RankedTensorType>(op.getType()).getShape();
  const auto rank = int64_t(shape.size()), axis = int64_t(op.getAxis());
  if (!op->hasAttr(marks::kFixedPoint))
    return leaveToHost(op, "it is computed on the host",
                       "move it to the end, or give --fixed-point-functions");
  if (op.getLog() || (axis < 0 ? axis + rank : axis) != rank - 1)
    return leaveToHost(op,
                       "its fixed-point form is for the last axis, "
                       "without a logarithm",
                       "transpose its input");
  auto to = quantizersOf(op.getResult());
  if (!to)
    return leaveToHost(op, "its result is not quantized with one scale",
                       "put a quantizer after it");
  in = withRows(op, in);
  if (!in)
    return;
  auto [lo, hi] = in->range();
  const double slope = in->f[0].pieces()[0].slope.toDouble();
  if (slope < 0 || hi - lo >= kMostEntries)
    return leaveToHost(op, "its input falls, or has more than 4096 values",
                       "put a quantizer before it");
  std::vector<int64_t> table;
  for (int64_t d = 0; d <= hi - lo; ++d)
    table.push_back(std::llround(double(kOne) * std::exp(-slope * double(d))));
  // The most bits of the quotient that a multiplier takes.
  int64_t shift = 40, numerator = 0;
  for (; shift > 0; --shift) {
    mpq_class factor = mpq_class(mpz_class(1) << shift) / to->first;
    mpz_class whole = Real(factor + mpq_class(1, 2)).floor();
    if (mpz_sizeinbase(whole.get_mpz_t(), 2) <= 60 &&
        whole / kOne < (mpz_class(1) << kQuotientBits)) {
      numerator = whole.get_si();
      break;
    }
  }
  const mpz_class one = Real(1 / to->first + mpq_class(1, 2)).floor();
  const int64_t most = std::min(to->second, toInt64(one));
  if (numerator < kOne || shift < 1 || most < 1 ||
      shape.back() > int64_t(1) << 20)
    return leaveToHost(op, "its result's scale is too large, or its rows are",
                       "quantize its result with a scale below 1");
  auto type = RankedTensorType::get(in->physicalShape, intType(0, most));
  Value out = osa::RowSoftmaxOp::create(builder, op.getLoc(), type,
                                        in->physical, table, numerator, shift);
  setResult(op, makeLazy(out, *in,
                         {PiecewiseLinear::affine(0, most, Real(to->first),
                                                  Real(0))}));
  pickUp.insert(op.getResult());
}

void Integerizer::visitNormalize(osa::NormalizeOp op, Lazy in) {
  in = withRows(op, in);
  if (!in)
    return;
  auto &line = in->f[0].pieces()[0];
  const mpq_class slope = line.slope.rational();
  int64_t zero = 0;
  if (!op.getCentered()) {
    Real z = -line.offset / line.slope;
    if (!(z == Real(mpq_class(z.floor()))) ||
        mpz_sizeinbase(z.floor().get_mpz_t(), 2) > 30)
      return leaveToHost(op, "its input has no code for zero",
                         "use a zero point");
    zero = toInt64(z.floor());
  }
  const int64_t row = in->physicalShape.back();
  mpq_class epsilon =
      exact(op.getEpsilon().convertToFloat()) * row * row / (slope * slope);
  const mpz_class whole = Real(epsilon + mpq_class(1, 2)).floor();
  auto [lo, hi] = in->range();
  const Wide span =
      (op.getCentered() ? Wide(hi) - lo
                        : std::max(Wide(zero) - lo, Wide(hi) - zero)) *
      row;
  if (mpz_sizeinbase(whole.get_mpz_t(), 2) > 58 || row > int64_t(1) << 20 ||
      span > (Wide(1) << 29) || std::max(-lo, hi) > int64_t(1) << 30)
    return leaveToHost(op, "its sums of squares need more than 60 bits",
                       "put a quantizer before it");
  const int64_t most = osa::mostNormalized(row, kFraction);
  auto type = RankedTensorType::get(in->physicalShape, intType(-most, most));
  Value out = osa::RowNormOp::create(
      builder, op.getLoc(), type, in->physical, op.getCentered(), zero,
      std::max<int64_t>(1, toInt64(whole)), kFraction);
  mpq_class unit(sgn(slope), 1 << kFraction);
  unit.canonicalize();
  setResult(op, makeLazy(out, *in,
                         {PiecewiseLinear::affine(-most, most, Real(unit),
                                                  Real(0))}));
  pickUp.insert(op.getResult());
}
