// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Turns a quantizer into hardware: nothing, a requantizer, thresholds, a table,
// or the factors of a pending sum, whichever is the cheapest that equals the
// model's step function for every possible value.
#include "Integerizer.h"
#include "rhizome/Dialect/Marks/Marks.h"
#include "rhizome/Transforms/RequantSearch.h"
#include "llvm/Support/Parallel.h"
#include <atomic>

using namespace mlir;
using namespace rhizome;

/// More steps than this do not become thresholds, larger ranges no table.
constexpr int64_t kMaxThresholds = 4095;
constexpr int64_t kMaxTable = 1 << 16;
/// Up to this many steps, thresholds are always the cheapest.
constexpr int64_t kFewSteps = 3;
/// Operand pairs that the search for a sum's factors may enumerate.
constexpr int64_t kMaxPairs = 1 << 20;

struct Integerizer::Channels {
  std::vector<Quantizer> quantizers; ///< one, or one per channel
  std::vector<Steps> steps;          ///< one, or one per channel
  /// Minimum and maximum level of each, empty if it is not monotone.
  std::vector<std::pair<int64_t, int64_t>> levels;
  int64_t lo = INT64_MAX, hi = INT64_MIN; ///< levels that occur
  QuantizerStats stats;

  const Quantizer &quantizer(size_t c) const {
    return quantizers[quantizers.size() == 1 ? 0 : c];
  }
  int64_t code(int64_t level) const {
    return quantizers[0].base() + quantizers[0].step() * level;
  }
};

/// Marks a requantizer that saturates values beyond the
/// quantizer's codes.
static void noteLimits(osa::RequantizeOp op, const LazyTensor &in,
                       ArrayRef<Quantizer> quantizers) {
  if (in.curve)
    return;
  // Half a code beyond the first and the last.
  struct Bounds {
    Real low, high;
    explicit Bounds(const Quantizer &q)
        : low(bound(q, q.lo, -1)), high(bound(q, q.hi, 1)) {}
    static mpq_class bound(const Quantizer &q, int64_t code, int side) {
      return (mpq_class(code - q.zero) + mpq_class(side, 2)) * q.scale;
    }
  };
  const std::vector<Bounds> bounds(quantizers.begin(), quantizers.end());
  std::atomic<bool> low = false, high = false;
  const size_t count = std::max(in.f.size(), quantizers.size());
  llvm::parallelFor(0, count, [&](size_t c) {
    if (low && high)
      return;
    const PiecewiseLinear &f = in.function(c);
    const Bounds &bound = bounds[bounds.size() == 1 ? 0 : c];
    for (int64_t x : {f.lo(), f.hi()}) {
      const Real value = f.at(x);
      if (value < bound.low)
        low = true;
      if (bound.high < value)
        high = true;
    }
  });
  if (low || high)
    op->setAttr(marks::kSaturates,
                DenseBoolArrayAttr::get(op.getContext(), {low, high}));
}

/// What its codes mean, for who looks at the integer model's tensors.
static void noteCodes(osa::QuantizeOp op, ArrayRef<Quantizer> quantizers,
                      QuantizerStats &stats) {
  const Quantizer &first = quantizers[0];
  if (first.rounding == Rounding::Sign)
    return;
  stats.op = modelOpName(op);
  stats.lo = first.lo;
  stats.hi = first.hi;
  for (const Quantizer &q : quantizers) {
    stats.scales.push_back(float(q.scale.get_d()));
    stats.zeros.push_back(q.zero);
  }
}

static bool isIdentity(const Steps &s) {
  if (s.falls || s.bottom != s.lo || s.top() != s.hi)
    return false;
  for (size_t k = 0; k < s.at.size(); ++k)
    if (s.at[k] != s.lo + 1 + int64_t(k))
      return false;
  return true;
}

static RankedTensorType withElement(Value like, num::IntType element) {
  return RankedTensorType::get(
      cast<RankedTensorType>(like.getType()).getShape(), element);
}

/// One value if all are equal.
static std::vector<int64_t> compress(std::vector<int64_t> v) {
  if (llvm::all_equal(v))
    v.resize(1);
  return v;
}

Value Integerizer::riseEverywhere(Operation *op, LazyTensor &in,
                                  Channels &channels) {
  if (llvm::none_of(channels.steps, [](const Steps &s) { return s.falls; }))
    return in.physical;
  int64_t lo = INT64_MAX, hi = INT64_MIN;
  for (const Steps &s : channels.steps) {
    lo = std::min(lo, s.lo);
    hi = std::max(hi, s.hi);
  }
  auto type = withElement(in.physical, intType(lo, hi));
  Operation *producer = in.physical.getDefiningOp();
  if (isa_and_nonnull<osa::Conv2dOp, osa::DenseOp>(producer) &&
      channels.steps.size() > 1) {
    std::vector<int64_t> codes = *osa::constantInts(producer->getOperand(1));
    auto shape =
        cast<RankedTensorType>(producer->getOperand(1).getType()).getShape();
    int64_t perOutput = int64_t(codes.size()) / shape[0];
    for (auto [c, s] : llvm::enumerate(channels.steps))
      for (int64_t i = 0; s.falls && i < perOutput; ++i)
        codes[c * perOutput + i] *= -1;
    Value weights = constant(producer->getLoc(), "weights", shape, codes);
    Operation *turned = builder.clone(*producer);
    turned->setOperand(1, weights);
    turned->getResult(0).setType(type);
    return turned->getResult(0);
  }
  std::vector<int64_t> sign;
  for (const Steps &s : channels.steps)
    sign.push_back(s.falls ? -1 : 1);
  return osa::RequantizeOp::create(builder, op->getLoc(), type, in.physical,
                                   compress(sign), ArrayRef<int64_t>{0}, 0);
}

Value Integerizer::emitThreshold(Operation *op, LazyTensor &in,
                                 Channels &channels) {
  Value x = riseEverywhere(op, in, channels);
  num::IntType type = num::elementInt(x.getType());
  int64_t count = channels.hi - channels.lo;
  std::vector<std::vector<int64_t>> rows;
  for (const Steps &s : channels.steps) {
    // Levels below this channel's lowest are always exceeded, those above
    // never.
    std::vector<int64_t> row(s.bottom - channels.lo, type.getLo());
    row.insert(row.end(), s.at.begin(), s.at.end());
    row.resize(count, type.getHi() + 1);
    rows.push_back(std::move(row));
  }
  if (llvm::all_equal(rows))
    rows.resize(1);
  std::vector<int64_t> flat;
  for (auto &row : rows)
    flat.insert(flat.end(), row.begin(), row.end());
  auto attr = osa::makeIntAttr(
      builder.getContext(), "thresholds" + std::to_string(blobs++),
      {int64_t(rows.size()), count},
      num::IntType::getFull(builder.getContext(), true, 64), flat);
  channels.stats.kind = "threshold";
  channels.stats.thresholds = count;
  channels.stats.accumulatorBits = type.getWidth();
  return osa::ThresholdOp::create(
      builder, op->getLoc(),
      withElement(
          x, intType(channels.code(channels.lo), channels.code(channels.hi))),
      x, attr, channels.code(channels.lo), channels.quantizers[0].step());
}

Value Integerizer::emitTable(Operation *op, LazyTensor &in,
                             Channels &channels) {
  num::IntType type = num::elementInt(in.physical.getType());
  int64_t entries = type.getHi() - type.getLo() + 1;
  size_t count = std::max(in.f.size(), channels.quantizers.size());
  if (entries > kMaxTable || entries * int64_t(count) > (1 << 22))
    return nullptr;
  std::vector<int64_t> values;
  int64_t lo = INT64_MAX, hi = INT64_MIN;
  for (size_t c = 0; c < count; ++c) {
    const PiecewiseLinear &f = in.function(c);
    for (int64_t x = type.getLo(); x <= type.getHi(); ++x) {
      int64_t within = std::clamp(x, f.lo(), f.hi());
      std::optional<int64_t> level;
      if (!in.curve)
        level = channels.quantizer(c).level(f.at(within));
      else if (std::optional<Number> value = in.curve->at(c, within))
        level = levelOf(channels.quantizer(c), *value);
      if (!level)
        return nullptr; // not a number there
      int64_t code = channels.code(*level);
      lo = std::min(lo, code);
      hi = std::max(hi, code);
      values.push_back(code);
    }
  }
  auto attr = osa::makeIntAttr(
      builder.getContext(), "table" + std::to_string(blobs++),
      {int64_t(count), entries},
      num::IntType::getFull(builder.getContext(), true, 64), values);
  channels.stats.kind = "table";
  return osa::TableOp::create(builder, op->getLoc(),
                              withElement(in.physical, intType(lo, hi)),
                              in.physical, attr);
}

Value Integerizer::emitSteps(Operation *op, LazyTensor &in,
                             Channels &channels) {
  if (llvm::all_of(channels.steps, isIdentity)) {
    channels.stats.kind = "none";
    return in.physical;
  }
  int64_t levels = channels.hi - channels.lo;
  if (levels >= 1 && levels <= kFewSteps)
    return emitThreshold(op, in, channels);
  auto found = searchRequantizer(channels.steps, channels.lo, channels.hi);
  if (!found || channels.quantizers[0].rounding == Rounding::Sign) {
    if (levels >= 1 && levels <= kMaxThresholds)
      return emitThreshold(op, in, channels);
    if (!found)
      return emitWide(op, in, channels);
  }
  channels.stats.kind = "requantize";
  channels.stats.multiplierBits = found->multiplierBits();
  channels.stats.shift = found->shift;
  auto made = osa::RequantizeOp::create(
      builder, op->getLoc(),
      withElement(in.physical, intType(channels.lo, channels.hi)), in.physical,
      compress(found->multiplier), compress(found->offset), found->shift,
      found->tiesEven);
  noteLimits(made, in, channels.quantizers);
  return made;
}

/// More levels than thresholds can count, at scales for which products of 62
/// bits are not exact: a wide product gives the level without its base, which a
/// second requantizer adds and clamps; or a table if the range is small.
Value Integerizer::emitWide(Operation *op, LazyTensor &in, Channels &channels) {
  num::IntType type = num::elementInt(in.physical.getType());
  constexpr unsigned kFewBits = 12;
  if (type.getWidth() <= kFewBits)
    return emitTable(op, in, channels);
  auto found =
      searchRequantizer(channels.steps, channels.lo, channels.hi, Reach::Wide);
  if (!found)
    return emitTable(op, in, channels);
  int64_t lo = INT64_MAX, hi = INT64_MIN;
  for (size_t c = 0; c < found->base.size(); ++c)
    for (int64_t x : {type.getLo(), type.getHi()}) {
      const int64_t level = found->apply(x, c) - found->base[c];
      lo = std::min(lo, level);
      hi = std::max(hi, level);
    }
  if (lo < INT32_MIN || hi > INT32_MAX)
    return emitTable(op, in, channels);
  channels.stats.kind = "requantize";
  channels.stats.multiplierBits = found->multiplierBits();
  channels.stats.shift = found->shift;
  Value level = osa::RequantizeOp::create(
      builder, op->getLoc(), withElement(in.physical, intType(lo, hi)),
      in.physical, compress(found->multiplier), compress(found->offset),
      found->shift);
  auto made = osa::RequantizeOp::create(
      builder, op->getLoc(),
      withElement(in.physical, intType(channels.lo, channels.hi)), level,
      ArrayRef<int64_t>{1}, compress(found->base), 0);
  noteLimits(made, in, channels.quantizers);
  return made;
}

Value Integerizer::emitPair(osa::QuantizeOp op, LazyTensor &in,
                            Channels &channels) {
  PendingSum sum = *in.sum;
  num::IntType a = num::elementInt(sum.lhs.getType()),
               b = num::elementInt(sum.rhs.getType());
  const Steps &steps = channels.steps[0];
  if (channels.steps.size() != 1 || steps.falls || steps.at.empty() ||
      steps.bottom == steps.top())
    return nullptr;
  // Range and type of an operand agree, since it comes from one quantizer.
  Real unit = in.f[0].pieces().back().slope;
  for (auto &piece : in.f[0].pieces())
    if (piece.slope.sign() != 0)
      unit = piece.slope;
  if (in.f[0].lo() !=
          sum.p * a.getLo() + sum.q * (sum.q > 0 ? b.getLo() : b.getHi()) ||
      (a.getHi() - a.getLo() + 1) > kMaxPairs / (b.getHi() - b.getLo() + 1) ||
      unit.sign() <= 0)
    return nullptr;
  double slope = (unit / Real(channels.quantizers[0].scale)).toDouble();
  auto found = searchPair(steps, channels.lo, channels.hi, slope, sum.p, sum.q,
                          {a.getLo(), a.getHi()}, {b.getLo(), b.getHi()});
  if (!found)
    return nullptr;
  auto product = [](int64_t m, num::IntType t) -> std::pair<int64_t, int64_t> {
    return std::minmax({m * t.getLo(), m * t.getHi()});
  };
  auto [la, ha] = product(found->lhs, a);
  auto [lb, hb] = product(found->rhs, b);
  Value added = osa::ScaledAddOp::create(
      builder, op.getLoc(), withElement(sum.lhs, intType(la + lb, ha + hb)),
      sum.lhs, sum.rhs, found->lhs, found->rhs);
  channels.stats.kind = "scaled_add";
  channels.stats.multiplierBits =
      std::max(num::bitsForRange(std::min<int64_t>(found->lhs, 0), found->lhs),
               num::bitsForRange(std::min<int64_t>(found->rhs, 0),
                                 std::max<int64_t>(found->rhs, 0)));
  channels.stats.shift = found->shift;
  channels.stats.accumulatorBits = num::elementInt(added.getType()).getWidth();
  auto made = osa::RequantizeOp::create(
      builder, op.getLoc(),
      withElement(added, intType(channels.lo, channels.hi)), added,
      ArrayRef<int64_t>{1}, ArrayRef<int64_t>{found->offset}, found->shift);
  noteLimits(made, in, channels.quantizers);
  return made;
}

/// value · 2^shift as a whole number below 2^60; nullopt for others.
static std::optional<int64_t> scaledUp(const mpq_class &value, int64_t shift) {
  mpz_class whole = value.get_num() << shift;
  if (!mpz_divisible_p(whole.get_mpz_t(), value.get_den_mpz_t()))
    return std::nullopt;
  whole /= value.get_den();
  if (mpz_sizeinbase(whole.get_mpz_t(), 2) > 60)
    return std::nullopt;
  return whole.get_si();
}

/// The exponent of a power-of-two denominator; nullopt for other ones.
static std::optional<int64_t> dyadicBits(const mpq_class &value) {
  const mpz_class &den = value.get_den();
  if (mpz_popcount(den.get_mpz_t()) != 1)
    return std::nullopt;
  return int64_t(mpz_sizeinbase(den.get_mpz_t(), 2)) - 1;
}

/// Half-even rounding of (m·x + o) / 2^s with whole m and o is a requantizer by
/// definition; no step needs comparing. Sets the possible levels. Null if the
/// quantizer is not of that form or has few steps.
Value Integerizer::emitDyadic(osa::QuantizeOp op, LazyTensor &in,
                              Channels &channels) {
  size_t count = std::max(in.f.size(), channels.quantizers.size());
  struct Line {
    mpq_class slope, offset; ///< in levels, without the zero point
    bool lowClamp, highClamp;
    int64_t bottom, top;
  };
  std::vector<Line> lines;
  int64_t shift = 0, lo = INT64_MAX, hi = INT64_MIN;
  bool identity = true;
  for (size_t c = 0; c < count; ++c) {
    const PiecewiseLinear &f = in.function(c);
    const Quantizer &q = channels.quantizer(c);
    auto &pieces = f.pieces();
    size_t i = pieces[0].slope.sign() == 0 && pieces.size() > 1;
    bool highClamp = pieces.size() > i + 1 && pieces.back().slope.sign() == 0;
    if (q.rounding != Rounding::HalfEven ||
        pieces.size() != i + 1 + highClamp || pieces[i].slope.sign() <= 0 ||
        !f.neverFalls() || !pieces[i].slope.isRational() ||
        !pieces[i].offset.isRational() || q.zero != channels.quantizers[0].zero)
      return nullptr;
    Line line{pieces[i].slope.rational() / q.scale,
              pieces[i].offset.rational() / q.scale,
              i == 1,
              highClamp,
              q.level(f.at(f.lo())),
              q.level(f.at(f.hi()))};
    auto a = dyadicBits(line.slope), b = dyadicBits(line.offset);
    if (!a || !b || std::max(*a, *b) > 40)
      return nullptr;
    shift = std::max({shift, *a, *b});
    lo = std::min(lo, line.bottom);
    hi = std::max(hi, line.top);
    identity &= line.slope == 1 && line.offset + q.zero == 0 &&
                line.bottom == f.lo() && line.top == f.hi();
    lines.push_back(std::move(line));
  }
  if (hi - lo <= kFewSteps)
    return nullptr;
  auto [xlo, xhi] = in.range();
  std::vector<int64_t> multiplier, offset;
  for (const Line &line : lines) {
    // A constant piece must equal the result of the common clamp.
    if ((line.lowClamp && line.bottom != lo) ||
        (line.highClamp && line.top != hi))
      return nullptr;
    auto m = scaledUp(line.slope, shift), o = scaledUp(line.offset, shift);
    __int128 reach =
        m && o ? __int128(*m) * std::max(std::abs(xlo), std::abs(xhi)) +
                     std::abs(*o)
               : 0;
    if (!m || !o || reach > (__int128(1) << 59))
      return nullptr;
    multiplier.push_back(*m);
    offset.push_back(*o + (shift > 0 ? int64_t(1) << (shift - 1) : 0));
  }
  for (const Line &line : lines)
    channels.levels.push_back({line.bottom, line.top});
  channels.lo = lo;
  channels.hi = hi;
  if (identity) {
    channels.stats.kind = "none";
    return in.physical;
  }
  // Evenness refers to the number before an odd zero point is added.
  int64_t zero = channels.quantizers[0].zero;
  bool split = shift > 0 && (zero & 1);
  if (!split)
    for (int64_t &o : offset)
      o += zero << shift;
  int64_t down = split ? zero : 0;
  Requantizer found{multiplier, offset, shift, shift > 0};
  channels.stats.kind = "requantize";
  channels.stats.multiplierBits = found.multiplierBits();
  channels.stats.shift = shift;
  auto rounded = osa::RequantizeOp::create(
      builder, op.getLoc(),
      withElement(in.physical, intType(lo - down, hi - down)), in.physical,
      compress(multiplier), compress(offset), shift, shift > 0);
  noteLimits(rounded, in, channels.quantizers);
  if (!split)
    return rounded;
  return osa::RequantizeOp::create(
      builder, op.getLoc(), withElement(in.physical, intType(lo, hi)), rounded,
      ArrayRef<int64_t>{1}, ArrayRef<int64_t>{zero}, 0);
}

/// True if every possible value is already a level of the quantizer and a
/// dequantizer follows: then `in` becomes the levels, and nothing is built. Not
/// after an activation, whose bend would be lost.
/// Networks that were integerized into float tensors contain many such casts.
bool Integerizer::passesThrough(osa::QuantizeOp op, LazyTensor &in,
                                const Channels &channels) {
  if (!llvm::all_of(op->getUsers(), [](Operation *user) {
        return isa<osa::DequantizeOp>(user);
      }))
    return false;
  auto isWhole = [](const Real &v) {
    return v.isRational() && v.rational().get_den() == 1;
  };
  size_t count = std::max(in.f.size(), channels.quantizers.size());
  std::vector<PiecewiseLinear> levels;
  for (size_t c = 0; c < count; ++c) {
    const Quantizer &q = channels.quantizer(c);
    if (q.rounding == Rounding::Sign || !in.function(c).isAffine())
      return false;
    PiecewiseLinear f = in.function(c);
    f.scale(Real(1 / q.scale));
    f.shift(Real(q.zero));
    const PiecewiseLinear::Piece &line = f.pieces().front();
    if (!isWhole(line.at(f.lo())) || !isWhole(line.slope))
      return false;
    for (int64_t x : {f.lo(), f.hi()})
      if (f.at(x) < Real(q.lo) || Real(q.hi) < f.at(x))
        return false;
    levels.push_back(std::move(f));
  }
  in.f = std::move(levels);
  return true;
}

void Integerizer::visitQuantize(osa::QuantizeOp op, Lazy source) {
  auto in = std::make_shared<LazyTensor>(*source);
  Channels channels;
  std::vector<Quantizer> own;
  for (size_t i = 0; i < scaleCount(op); ++i)
    own.push_back(makeQuantizer(op, i));
  if (own.size() > 1) {
    std::vector<int64_t> map;
    int64_t elements = cast<RankedTensorType>(op.getType()).getNumElements();
    const Cycle indexOf = scaleCycle(op, in->shape);
    for (int64_t i = 0; i < elements; ++i)
      map.push_back(int64_t(indexOf(i)));
    auto which = in->perChannel(map);
    if (!which)
      return leaveToHost(op,
                         "its scales run along an axis that is not the "
                         "channel axis",
                         "");
    for (int64_t k : *which)
      channels.quantizers.push_back(own[k]);
  } else {
    channels.quantizers = own;
  }

  if (!in->curve && passesThrough(op, *in, channels))
    return setResult(op, in);

  channels.stats.node = osa::nodeName(op);
  channels.stats.multiplierBits = 0;
  channels.stats.shift = channels.stats.thresholds = 0;
  size_t count = std::max(in->f.size(), channels.quantizers.size());
  channels.stats.accumulatorBits =
      in->physical ? num::elementInt(in->physical.getType()).getWidth() : 0;
  Value result;
  if (in->physical && !in->curve)
    result = emitDyadic(op, *in, channels);
  bool monotone = true;
  if (!result && !in->curve) {
    // All steps are compared, so that there must not be too many to list.
    constexpr double kMostLevels = double(1 << 25);
    double levels = 0;
    for (size_t c = 0; c < count; ++c) {
      const PiecewiseLinear &f = in->function(c);
      const Quantizer &q = channels.quantizer(c);
      levels += std::abs(double(q.level(f.at(f.hi()))) -
                         double(q.level(f.at(f.lo()))));
    }
    if (levels > kMostLevels)
      return leaveToHost(op,
                         "its results take too many values to be compared one "
                         "by one",
                         "use fewer bits, or scales that are powers of two");
  }
  // A curve caches its results; lines do not.
  std::vector<std::optional<Steps>> found(result ? 0 : count);
  if (!in->curve)
    llvm::parallelFor(0, found.size(), [&](size_t c) {
      found[c] = computeSteps(in->function(c), channels.quantizer(c));
    });
  for (size_t c = 0; c < found.size() && monotone; ++c) {
    const PiecewiseLinear &f = in->function(c);
    auto steps = in->curve ? computeSteps(*in->curve, c, f.lo(), f.hi(),
                                          channels.quantizer(c), kMaxThresholds)
                           : std::move(found[c]);
    if (!(monotone = steps.has_value()))
      break;
    channels.lo = std::min(channels.lo, steps->bottom);
    channels.hi = std::max(channels.hi, steps->top());
    channels.levels.push_back({steps->bottom, steps->top()});
    channels.steps.push_back(std::move(*steps));
  }

  if (in->sum && monotone)
    result = emitPair(op, *in, channels);
  if (!result) {
    if (!settle(op, *in))
      return;
    channels.stats.accumulatorBits =
        num::elementInt(in->physical.getType()).getWidth();
    result =
        monotone ? emitSteps(op, *in, channels) : emitTable(op, *in, channels);
  }
  // The host may compute this at the end of a model.
  if (!result && in->curve)
    return leaveToHost(op,
                       "its function is not linear, and its input's range is "
                       "too wide for a table",
                       "put a quantizer before the function");
  if (!result)
    return leaveToHost(op,
                       monotone
                           ? "no requantizer of up to 110 bits equals it on "
                             "every accumulator value, and it has too many "
                             "steps for thresholds or a table"
                           : "it is not monotone, and its input's range is too "
                             "wide for a table",
                       "use fewer bits, or scales that are powers of two");

  std::vector<PiecewiseLinear> f;
  if (monotone) {
    for (auto [bottom, top] : channels.levels)
      f.push_back(
          PiecewiseLinear::identity(channels.code(bottom), channels.code(top)));
  } else {
    num::IntType type = num::elementInt(result.getType());
    f.push_back(PiecewiseLinear::identity(type.getLo(), type.getHi()));
  }
  if (llvm::all_equal(f))
    f.resize(1);
  if (channels.stats.kind != "none")
    noteCodes(op, channels.quantizers, channels.stats);
  stats.quantizers.push_back(channels.stats);
  setResult(op, makeLazy(result, *in, std::move(f)));
}

/// The steps of #{k : f(x) ≥ thresholds[k]}; nullopt if f is not monotone.
static std::optional<Steps> stepsOf(const PiecewiseLinear &f,
                                    ArrayRef<float> thresholds) {
  Steps steps;
  PiecewiseLinear rising = f;
  if (!f.neverFalls()) {
    rising = f.mirrored();
    steps.falls = true;
    if (!rising.neverFalls())
      return std::nullopt;
  }
  steps.lo = rising.lo();
  steps.hi = rising.hi();
  for (float threshold : thresholds) {
    Real bound(exact(threshold));
    if (rising.at(steps.hi) < bound)
      break;
    if (!(rising.at(steps.lo) < bound)) {
      ++steps.bottom;
      continue;
    }
    int64_t low = steps.lo, high = steps.hi; // reached at `high`
    while (low + 1 < high) {
      int64_t middle = low + (high - low) / 2;
      (rising.at(middle) < bound ? low : high) = middle;
    }
    steps.at.push_back(high);
  }
  return steps;
}

void Integerizer::visitMultiThreshold(osa::MultiThresholdOp op, Lazy source) {
  auto in = std::make_shared<LazyTensor>(*source);
  if (!settle(op, *in))
    return;
  if (in->curve)
    return leaveToHost(op, "its input has an activation but no quantizer",
                       "put a quantizer before it");
  auto shape = op.getThresholds().getShapedType().getShape();
  std::vector<float> values = osa::floatValues(op.getThresholds());
  Channels channels;
  Quantizer count;
  count.hi = shape[1];
  channels.quantizers = {count};
  std::vector<int64_t> rows(1, 0);
  if (shape[0] > 1) {
    std::vector<int64_t> map;
    int64_t elements = cast<RankedTensorType>(op.getType()).getNumElements();
    for (int64_t i = 0; i < elements; ++i)
      map.push_back(i % shape[0]);
    auto which = in->perChannel(map);
    if (!which)
      return leaveToHost(op,
                         "its thresholds run along an axis that is not the "
                         "channel axis",
                         "");
    rows = *which;
  }
  for (size_t c = 0; c < std::max(rows.size(), in->f.size()); ++c) {
    int64_t row = rows[rows.size() == 1 ? 0 : c];
    auto steps =
        stepsOf(in->function(c),
                ArrayRef<float>(values).slice(row * shape[1], shape[1]));
    if (!steps)
      return leaveToHost(op, "its input is not monotone", "");
    channels.lo = std::min(channels.lo, steps->bottom);
    channels.hi = std::max(channels.hi, steps->top());
    channels.levels.push_back({steps->bottom, steps->top()});
    channels.steps.push_back(std::move(*steps));
  }
  channels.stats.node = osa::nodeName(op);
  channels.stats.accumulatorBits =
      num::elementInt(in->physical.getType()).getWidth();
  channels.stats.multiplierBits = 0;
  channels.stats.shift = channels.stats.thresholds = 0;
  Value result = emitSteps(op, *in, channels);
  if (!result)
    return leaveToHost(op, "it has too many thresholds", "use fewer bits");
  std::vector<PiecewiseLinear> f;
  for (auto [bottom, top] : channels.levels)
    f.push_back(PiecewiseLinear::identity(bottom, top));
  if (llvm::all_equal(f))
    f.resize(1);
  stats.quantizers.push_back(channels.stats);
  setResult(op, makeLazy(result, *in, std::move(f)));
}
