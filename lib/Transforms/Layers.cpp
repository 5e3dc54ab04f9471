// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operations that compute in integers: convolution and dense layers, pools,
// sums, concatenation and padding. Each derives the range of its result from
// the actual weights and input ranges, per channel.
#include "Integerizer.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace rhizome;
using Wide = __int128;

static bool fits(Wide v) { return v < (Wide(1) << 60) && v > -(Wide(1) << 60); }

/// True if the type's width can hold the value, independent of its range.
static bool widthHolds(num::IntType type, int64_t v) {
  return num::IntType::getFull(type.getContext(), type.getIsSigned(),
                               type.getWidth())
      .contains(v);
}

namespace {
/// Weights of one layer: whole codes, one scale per output channel.
struct Weights {
  std::vector<int64_t> codes;
  std::vector<mpq_class> scales;
  int64_t outputs;
};
} // namespace

/// The largest code of a weight.
static constexpr int64_t kLargestWeight = 65536;

/// The largest rational that both are whole multiples of.
static mpq_class commonUnit(const mpq_class &a, const mpq_class &b) {
  mpq_class unit(gcd(a.get_num() * b.get_den(), b.get_num() * a.get_den()),
                 a.get_den() * b.get_den());
  unit.canonicalize();
  return unit;
}

/// Gives codes one scale instead of one for each group, by whole factors;
/// nothing if the codes would be too large for weights. A group's scale is
/// positive, or 0, which makes its codes 0.
static std::optional<mpq_class>
foldScales(MutableArrayRef<int64_t> codes,
           llvm::function_ref<size_t(size_t)> groupOf,
           ArrayRef<mpq_class> scales) {
  std::optional<mpq_class> unit, most;
  std::vector<bool> isUsed(scales.size());
  for (auto [i, code] : llvm::enumerate(codes))
    if (code != 0)
      isUsed[groupOf(i)] = true;
  for (auto [used, scale] : llvm::zip_equal(isUsed, scales)) {
    if (!used || scale == 0)
      continue;
    unit = unit ? commonUnit(*unit, scale) : scale;
    most = most ? std::max(*most, scale) : scale;
    if (*most > *unit * kLargestWeight)
      return std::nullopt;
  }
  if (!unit)
    unit = 1;
  for (auto [i, code] : llvm::enumerate(codes))
    if (code != 0) {
      if (std::abs(code) > kLargestWeight)
        return std::nullopt;
      code *= toInt64(mpq_class(scales[groupOf(i)] / *unit).get_num());
      if (std::abs(code) > kLargestWeight)
        return std::nullopt;
    }
  return unit;
}

/// Splits constant weights into codes and scales; returns the reason if
/// impossible, and what helps.
static std::string splitWeights(const ExactConstant &c, Weights &out,
                                std::string &remedy) {
  remedy = "quantize the model";
  out.outputs = c.shape[0];
  out.codes = c.codes.all();
  int64_t perOutput = int64_t(c.size()) / out.outputs;
  for (int64_t o = 0; o < out.outputs; ++o) {
    int64_t *codes = out.codes.data() + o * perOutput;
    std::optional<uint32_t> group;
    const bool isOneGroup = c.isOneGroup(size_t(o * perOutput), perOutput);
    if (isOneGroup && std::any_of(codes, codes + perOutput,
                                  [](int64_t code) { return code != 0; }))
      group = c.group(size_t(o * perOutput));
    bool isMixed = false;
    for (int64_t i = 0; i < perOutput && !isOneGroup; ++i) {
      uint32_t g = c.group(o * perOutput + i);
      isMixed |= codes[i] != 0 && group && *group != g &&
                 c.scales[*group] != c.scales[g];
      if (codes[i] != 0 && !group)
        group = g;
    }
    if (isMixed) {
      auto unit = foldScales(
          MutableArrayRef(codes, size_t(perOutput)),
          [&](size_t i) { return c.group(size_t(o * perOutput) + i); },
          c.scales);
      if (!unit) {
        remedy = "quantize its weights with one scale for each output channel";
        return "the weights of output channel " + std::to_string(o) +
               " have scales that are not small multiples of one";
      }
      out.scales.push_back(*unit);
      continue;
    }
    out.scales.push_back(group ? c.scales[*group] : mpq_class(1));
    // If stored reals are multiples of one number, e.g. ±0.3, the factors are
    // the codes.
    uint64_t divisor = 0, largest = 0;
    for (int64_t i = 0; i < perOutput; ++i)
      largest = std::max(largest, uint64_t(std::abs(codes[i])));
    for (int64_t i = 0; i < perOutput && largest > 32768 && divisor != 1; ++i)
      divisor = std::gcd(divisor, uint64_t(std::abs(codes[i])));
    if (divisor > 1) {
      for (int64_t i = 0; i < perOutput; ++i)
        codes[i] /= int64_t(divisor);
      out.scales.back() *= mpz_class(static_cast<unsigned long>(divisor));
      largest /= divisor;
    }
    if (largest > kLargestWeight)
      return "its weights are real numbers that need more than 17 bits";
  }
  return "";
}

void Integerizer::visitLinear(Operation *op, Lazy in) {
  std::string remedy;
  auto conv = dyn_cast<osa::Conv2dOp>(op);
  auto constantWeights = constants.get(op->getOperand(1));
  if (!constantWeights)
    return leaveToHost(op, "its weights are not constant", "");
  Weights weights;
  const std::string reason = splitWeights(*constantWeights, weights, remedy);
  remedy += ", or give --calibration DATA or --number-format 'fixed<I,F>'";
  if (!reason.empty())
    return leaveToHost(op, reason, remedy);
  std::shared_ptr<const ExactConstant> bias;
  if (op->getNumOperands() > 2 && !(bias = constants.get(op->getOperand(2))))
    return leaveToHost(op, "its bias is not constant", "");

  if (!in->isAffine())
    return leaveToHost(
        op, "its input has an activation but no quantizer before it", remedy);
  // The input as the layer reads it: a vector with elements in any order, or
  // channels last.
  auto shape = SmallVector<int64_t>(in->shape);
  int64_t columns = int64_t(weights.codes.size()) / weights.outputs;
  int64_t elements = llvm::product_of(shape);
  std::vector<int64_t> channelOf;
  Value x;
  Lazy source = std::make_shared<LazyTensor>(*in);
  if (!settle(op, *source))
    return;
  if (!conv && elements == columns && !source->layout.empty()) {
    if (auto map = source->elementMap()) {
      std::vector<int64_t> codes(weights.codes.size());
      for (int64_t o = 0; o < weights.outputs; ++o)
        for (int64_t j = 0; j < columns; ++j)
          codes[o * columns + (*map)[j]] = weights.codes[o * columns + j];
      weights.codes = std::move(codes);
    }
    for (int64_t j = 0; j < columns; ++j)
      channelOf.push_back(j % source->channels());
    x = osa::ReshapeOp::create(
        builder, op->getLoc(),
        RankedTensorType::get(shape,
                              cast<RankedTensorType>(source->physical.getType())
                                  .getElementType()),
        source->physical);
  } else {
    source = materialize(op, source);
    if (!source)
      return;
    x = source->physical;
    int64_t perGroup = constantWeights->shape.back();
    int64_t groups = conv ? conv.getGroups() : 1;
    for (int64_t i = 0; i < groups * perGroup; ++i)
      channelOf.push_back(i);
  }
  int64_t groups = conv ? conv.getGroups() : 1;
  int64_t perTap = int64_t(channelOf.size()) / groups;

  // The code of real zero, the value outside the input.
  bool padded =
      conv && llvm::any_of(conv.getPads(), [](int64_t p) { return p; });
  int64_t padValue = 0;
  if (padded) {
    std::optional<int64_t> common;
    for (const PiecewiseLinear &g : source->f) {
      auto &piece = g.pieces()[0];
      if (piece.slope.sign() == 0 && piece.offset.sign() == 0)
        continue; // zero, whatever the code
      std::optional<int64_t> zero;
      if (piece.slope.sign() != 0)
        if (Real z = -piece.offset / piece.slope;
            z == Real(mpq_class(z.floor())))
          zero = toInt64(z.floor());
      if (!zero || (common && *zero != *common))
        return leaveToHost(op,
                           "it pads an input whose codes have no common zero",
                           "pad before the quantizer, or use a zero point");
      common = zero;
    }
    padValue = common.value_or(0);
  }
  num::IntType inType = num::elementInt(x.getType());
  if (padded && !widthHolds(inType, padValue)) {
    auto [lo, hi] = source->range();
    auto type = RankedTensorType::get(
        cast<RankedTensorType>(x.getType()).getShape(),
        intType(std::min(lo, padValue), std::max(hi, padValue)));
    x = osa::RequantizeOp::create(builder, op->getLoc(), type, x,
                                  ArrayRef<int64_t>{1}, ArrayRef<int64_t>{0},
                                  0);
  }

  // The accumulator's range and function, per output channel.
  std::vector<PiecewiseLinear> f;
  Wide lowest = Wide(1) << 100, highest = -(Wide(1) << 100);
  int64_t perOutput = int64_t(weights.codes.size()) / weights.outputs;
  for (int64_t o = 0; o < weights.outputs; ++o) {
    int64_t group = o / (weights.outputs / groups);
    auto codes = MutableArrayRef(weights.codes)
                     .slice(size_t(o * perOutput), size_t(perOutput));
    auto channel = [&](size_t i) {
      return size_t(channelOf[group * perTap + int64_t(i) % perTap]);
    };
    // Grouped by input channel, so that few rationals occur.
    struct Codes {
      int64_t positive = 0, negative = 0; ///< sums
      bool isNone() const { return positive == 0 && negative == 0; }
    };
    std::vector<Codes> sums;
    auto count = [&] {
      sums.assign(source->f.size(), Codes());
      for (auto [i, code] : llvm::enumerate(codes)) {
        Codes &sum = sums[sums.size() == 1 ? 0 : channel(i)];
        sum.positive += std::max<int64_t>(code, 0);
        sum.negative += std::min<int64_t>(code, 0);
      }
    };
    count();
    const Real *slope = nullptr;
    bool isMixed = false, areRational = true;
    Real scale(weights.scales[o]), offset(0);
    for (auto [sum, g] : llvm::zip_equal(sums, source->f)) {
      if (sum.isNone())
        continue;
      const Real &own = g.pieces()[0].slope;
      isMixed |= slope && slope != &own && !(*slope == own);
      if (!slope || slope->sign() == 0)
        slope = &own;
      const int64_t all = sum.positive + sum.negative;
      const Real &start = g.pieces()[0].offset;
      areRational &= offset.compatible(start);
      if (all != 0 && areRational)
        offset = offset + start * Real(all);
    }
    offset = offset * scale;
    if (isMixed || !areRational) {
      // The codes take the ratios of the channels' scales.
      std::vector<mpq_class> ratios(sums.size());
      for (auto [ratio, sum, g] : llvm::zip_equal(ratios, sums, source->f)) {
        const Real &own = g.pieces()[0].slope;
        if (sum.isNone() || own.sign() == 0)
          continue;
        areRational &= own.compatible(*slope);
        if (Real r = areRational ? own / *slope : Real(0); r.isRational())
          ratio = r.rational();
        else
          areRational = false;
      }
      auto unit = areRational ? foldScales(codes, channel, ratios)
                              : std::optional<mpq_class>();
      if (!unit)
        return leaveToHost(op,
                           "it sums channels whose scales are not small "
                           "multiples of one",
                           "quantize its input with one scale");
      scale = scale * Real(*unit);
      count();
    }
    Wide lo = 0, hi = 0;
    for (auto [sum, g] : llvm::zip_equal(sums, source->f)) {
      int64_t xlo = g.lo(), xhi = g.hi();
      if (padded) {
        xlo = std::min(xlo, padValue);
        xhi = std::max(xhi, padValue);
      }
      lo += Wide(sum.positive) * xlo + Wide(sum.negative) * xhi;
      hi += Wide(sum.positive) * xhi + Wide(sum.negative) * xlo;
    }
    if (!fits(lo) || !fits(hi))
      return leaveToHost(op, "its accumulator needs more than 60 bits", "");
    lowest = std::min(lowest, lo);
    highest = std::max(highest, hi);
    if (bias)
      offset = offset + Real(bias->at(o));
    f.push_back(PiecewiseLinear::affine(
        int64_t(lo), int64_t(hi), slope ? *slope * scale : scale, offset));
  }

  auto weightShape = cast<RankedTensorType>(op->getOperand(1).getType());
  Value w =
      constant(op->getLoc(), "weights", weightShape.getShape(), weights.codes);
  auto resultType = RankedTensorType::get(
      cast<RankedTensorType>(op->getResult(0).getType()).getShape(),
      intType(int64_t(lowest), int64_t(highest)));
  Value acc;
  if (conv)
    acc = osa::Conv2dOp::create(
        builder, op->getLoc(), resultType, x, w, Value(), conv.getStrides(),
        conv.getPads(), conv.getDilations(), conv.getGroups(), padValue);
  else
    acc =
        osa::DenseOp::create(builder, op->getLoc(), resultType, x, w, Value());
  stats.accumulators.push_back(
      {osa::nodeName(op), num::elementInt(resultType).getWidth()});
  auto out = std::make_shared<LazyTensor>();
  out->physical = acc;
  out->shape = out->physicalShape = SmallVector<int64_t>(resultType.getShape());
  out->f = std::move(f);
  setResult(op, out);
  pickUp.insert(op->getResult(0));
}

void Integerizer::visitMaxPool(osa::MaxPoolOp op, Lazy in) {
  in = materialize(op, in);
  if (!in)
    return;
  auto rises = [](auto &g) { return g.neverFalls(); };
  auto falls = [](auto &g) { return g.mirrored().neverFalls(); };
  if (!llvm::all_of(in->f, rises) && llvm::all_of(in->f, falls)) {
    // The maximum of a falling function is at the smallest integer.
    auto [lo, hi] = in->range();
    auto negated = RankedTensorType::get(in->physicalShape, intType(-hi, -lo));
    auto out = std::make_shared<LazyTensor>(*in);
    out->physical = osa::RequantizeOp::create(
        builder, op.getLoc(), negated, in->physical, ArrayRef<int64_t>{-1},
        ArrayRef<int64_t>{0}, 0);
    for (PiecewiseLinear &g : out->f)
      g = g.mirrored();
    in = out;
  }
  if (!llvm::all_of(in->f, rises))
    return leaveToHost(op, "its input falls where the accumulator rises",
                       "put a quantizer before it");
  auto type =
      RankedTensorType::get(cast<RankedTensorType>(op.getType()).getShape(),
                            num::elementInt(in->physical.getType()));
  Value pooled = osa::MaxPoolOp::create(
      builder, op.getLoc(), type, in->physical, op.getKernel(), op.getStrides(),
      op.getPads(), op.getDilations());
  auto out = std::make_shared<LazyTensor>();
  out->physical = pooled;
  out->shape = out->physicalShape = SmallVector<int64_t>(type.getShape());
  out->f = in->f;
  setResult(op, out);
  pickUp.insert(op.getResult());
}

/// For every output position, the number of positions of the window inside.
static std::vector<int64_t> insideCounts(const osa::Window &w) {
  auto along = [](int64_t out, int64_t size, int64_t kernel, int64_t stride,
                  int64_t dilation, int64_t pad) {
    std::vector<int64_t> counts(out, 0);
    for (int64_t o = 0; o < out; ++o)
      for (int64_t k = 0; k < kernel; ++k) {
        int64_t at = o * stride - pad + k * dilation;
        counts[o] += at >= 0 && at < size;
      }
    return counts;
  };
  auto rows =
      along(w.outHeight, w.height, w.kernelH, w.strideH, w.dilationH, w.padTop);
  auto columns =
      along(w.outWidth, w.width, w.kernelW, w.strideW, w.dilationW, w.padLeft);
  std::vector<int64_t> counts;
  for (int64_t r : rows)
    for (int64_t c : columns)
      counts.push_back(r * c);
  return counts;
}

void Integerizer::visitAvgPool(osa::AvgPoolOp op, Lazy in) {
  in = materialize(op, in);
  if (!in)
    return;
  if (!in->isAffine())
    return leaveToHost(op, "its input has an activation but no quantizer",
                       "put a quantizer before it");
  osa::Window w = *osa::getWindow(op);
  std::vector<int64_t> counts = insideCounts(w);
  int64_t least = *llvm::min_element(counts), most = *llvm::max_element(counts);
  int64_t size = w.kernelH * w.kernelW;
  bool partial = least != most;
  bool countPad = op.getCountIncludePad();
  // The divisor of the sum, and the code of real zero if
  // the divisor counts positions outside.
  int64_t divisor = countPad ? size : most, zero = 0;
  std::vector<int64_t> scale;
  if (partial && !countPad) {
    divisor = 1;
    for (int64_t n : counts)
      divisor = std::lcm(divisor, n);
    for (int64_t n : counts)
      scale.push_back(divisor / n);
  }
  if (countPad && least != size)
    for (size_t c = 0; c < in->f.size(); ++c) {
      auto &piece = in->f[c].pieces()[0];
      std::optional<int64_t> own;
      if (piece.slope.sign() != 0)
        if (Real z = -piece.offset / piece.slope;
            z == Real(mpq_class(z.floor())))
          own = toInt64(z.floor());
      if (!own || (c > 0 && *own != zero))
        return leaveToHost(op, "it pads an input whose codes have no zero",
                           "use a zero point, or count_include_pad = 0");
      zero = *own;
    }

  std::vector<PiecewiseLinear> f;
  Wide lowest = Wide(1) << 100, highest = -(Wide(1) << 100);
  for (const PiecewiseLinear &g : in->f) {
    Wide lo = Wide(1) << 100, hi = -(Wide(1) << 100);
    for (size_t i = 0; i < counts.size(); ++i) {
      Wide factor = Wide(counts[i]) * (scale.empty() ? 1 : scale[i]);
      lo = std::min(lo, factor * (g.lo() - zero));
      hi = std::max(hi, factor * (g.hi() - zero));
    }
    if (!fits(lo) || !fits(hi))
      return leaveToHost(op, "its sum needs more than 60 bits", "");
    lowest = std::min(lowest, lo);
    highest = std::max(highest, hi);
    auto &piece = g.pieces()[0];
    // Σ(a·x + b) over n inside, divided: with a zero, b = −a·zero cancels.
    Real offset = countPad && least != size ? Real(0) : piece.offset;
    f.push_back(PiecewiseLinear::affine(
        int64_t(lo), int64_t(hi), piece.slope * Real(mpq_class(1, divisor)),
        offset));
  }
  auto type =
      RankedTensorType::get(cast<RankedTensorType>(op.getType()).getShape(),
                            intType(int64_t(lowest), int64_t(highest)));
  Value sum = osa::SumPoolOp::create(
      builder, op.getLoc(), type, in->physical, op.getKernel(), op.getStrides(),
      op.getPads(), op.getDilations(), zero, scale);
  auto out = std::make_shared<LazyTensor>();
  out->physical = sum;
  out->shape = out->physicalShape = SmallVector<int64_t>(type.getShape());
  out->f = std::move(f);
  setResult(op, out);
  pickUp.insert(op.getResult());
}

void Integerizer::visitSum(Operation *op, Lazy lhs, Lazy rhs) {
  const char *remedy = "put a quantizer on each operand";
  if (!lhs->isAffine() || !rhs->isAffine())
    return leaveToHost(op, "an operand has an activation but no quantizer",
                       remedy);
  if (!align(op, lhs, rhs))
    return;
  size_t count = std::max(lhs->f.size(), rhs->f.size());
  bool minus = isa<osa::SubOp>(op);
  auto slopeOf = [](const Lazy &t, size_t c) -> const Real & {
    return t->function(c).pieces()[0].slope;
  };
  // a₁x + a₂y = unit · (p·x + q·y) with the same whole p, q in every channel.
  std::optional<mpq_class> ratio;
  for (size_t c = 0; c < count; ++c) {
    const Real &a = slopeOf(lhs, c), &b = slopeOf(rhs, c);
    bool usable = a.sign() != 0 && b.sign() != 0 && a.compatible(b);
    Real own = usable ? a / b : Real(0);
    if (!usable || !own.isRational() || (ratio && *ratio != own.rational()))
      return leaveToHost(op, "its operands' scales have no common ratio",
                         remedy);
    ratio = own.rational();
  }
  mpz_class wholeP = abs(ratio->get_num()), wholeQ = ratio->get_den();
  if (sgn(*ratio) < 0)
    wholeQ = -wholeQ;
  if (minus)
    wholeQ = -wholeQ;
  if (mpz_sizeinbase(wholeP.get_mpz_t(), 2) > 44 ||
      mpz_sizeinbase(wholeQ.get_mpz_t(), 2) > 44)
    return leaveToHost(op, "its operands' scales are too far apart", remedy);
  int64_t p = toInt64(wholeP), q = toInt64(wholeQ);

  std::vector<PiecewiseLinear> f;
  for (size_t c = 0; c < count; ++c) {
    const PiecewiseLinear &g = lhs->function(c), &h = rhs->function(c);
    Wide lo = Wide(p) * g.lo() + (q > 0 ? Wide(q) * h.lo() : Wide(q) * h.hi());
    Wide hi = Wide(p) * g.hi() + (q > 0 ? Wide(q) * h.hi() : Wide(q) * h.lo());
    if (!fits(lo) || !fits(hi))
      return leaveToHost(op, "its sum needs more than 60 bits", remedy);
    Real other = h.pieces()[0].offset;
    if (minus)
      other = -other;
    if (!g.pieces()[0].offset.compatible(other) ||
        !g.pieces()[0].slope.compatible(other))
      return leaveToHost(op, "its operands' offsets are not comparable",
                         remedy);
    f.push_back(PiecewiseLinear::affine(int64_t(lo), int64_t(hi),
                                        slopeOf(lhs, c) / Real(p),
                                        g.pieces()[0].offset + other));
  }
  // Channels that differ only in their ranges count as one.
  if (llvm::all_of(f, [&](const PiecewiseLinear &g) {
        return g.pieces()[0].slope == f[0].pieces()[0].slope &&
               g.pieces()[0].offset == f[0].pieces()[0].offset;
      })) {
    auto [la, ha] = lhs->range();
    auto [lb, hb] = rhs->range();
    f = {f[0].over(p * la + q * (q > 0 ? lb : hb),
                   p * ha + q * (q > 0 ? hb : lb))};
  }
  auto out = std::make_shared<LazyTensor>(*lhs);
  out->sum = PendingSum{lhs->physical, rhs->physical, p, q};
  out->physical = Value();
  out->f = std::move(f);
  // Small factors are those that any search would find.
  if (p <= 16 && std::abs(q) <= 16)
    (void)settle(op, *out);
  setResult(op, out);
  pickUp.insert(op->getResult(0));
}

void Integerizer::visitConcat(osa::ConcatOp op) {
  std::vector<Lazy> inputs;
  if (op.getInputs().size() == 1)
    if (Lazy only = lazy(op.getInputs().front())) {
      setResult(op, only);
      pickUp.insert(op.getResult());
      return;
    }
  for (Value v : op.getInputs()) {
    Lazy t = lazy(v);
    if (!t)
      return leaveToHost(op, "it joins a constant with a tensor", "");
    t = std::make_shared<LazyTensor>(*t);
    if (!settle(op, *t))
      return;
    inputs.push_back(t);
  }
  // The physical axis of the concatenation; a common transpose is deferred.
  int64_t axis = op.getAxis();
  const LazyTensor &first = *inputs[0];
  bool common = llvm::all_of(inputs, [&](const Lazy &t) {
    if (t->layout.size() != first.layout.size() || t->layout.size() > 1)
      return false;
    return t->layout.empty() ||
           (!t->layout[0].permutation.empty() &&
            t->layout[0].permutation == first.layout[0].permutation);
  });
  SmallVector<int64_t> permutation;
  if (!common) {
    for (Lazy &t : inputs)
      if (!(t = materialize(op, t)))
        return;
  } else if (!first.layout.empty()) {
    permutation = first.layout[0].permutation;
    axis = permutation[axis];
  }
  auto out = std::make_shared<LazyTensor>();
  out->physicalShape = inputs[0]->physicalShape;
  out->physicalShape[axis] = 0;
  bool alongChannels = axis + 1 == int64_t(out->physicalShape.size());
  SmallVector<Value> values;
  int64_t lo = INT64_MAX, hi = INT64_MIN;
  for (Lazy &t : inputs) {
    out->physicalShape[axis] += t->physicalShape[axis];
    values.push_back(t->physical);
    auto [l, h] = t->range();
    lo = std::min(lo, l);
    hi = std::max(hi, h);
    if (alongChannels) {
      t->expand();
      out->f.insert(out->f.end(), t->f.begin(), t->f.end());
      continue;
    }
    if (out->f.empty()) {
      out->f = t->f;
      continue;
    }
    if (out->f.size() != t->f.size()) {
      out->expand();
      t->expand();
    }
    if (!out->isAffine() || !t->isAffine())
      return leaveToHost(op, "an input has an activation but no quantizer",
                         "put a quantizer on each input");
    for (size_t c = 0; c < out->f.size() && c < t->f.size(); ++c) {
      auto &a = out->f[c].pieces()[0], &b = t->f[c].pieces()[0];
      if (!(a.slope == b.slope) || !(a.offset == b.offset))
        return leaveToHost(op, "its inputs have different scales",
                           "quantize its inputs with one scale");
      out->f[c] = out->f[c].over(std::min(out->f[c].lo(), t->f[c].lo()),
                                 std::max(out->f[c].hi(), t->f[c].hi()));
    }
  }
  out->shape = out->physicalShape;
  num::IntType element = intType(lo, hi);
  auto type = RankedTensorType::get(out->physicalShape, element);
  // One stream has one element type: narrower inputs are widened.
  for (Value &v : values)
    if (auto from = num::elementInt(v.getType());
        from.getWidth() != element.getWidth() ||
        from.getIsSigned() != element.getIsSigned())
      v = osa::RequantizeOp::create(
          builder, op.getLoc(),
          RankedTensorType::get(cast<RankedTensorType>(v.getType()).getShape(),
                                element),
          v, ArrayRef<int64_t>{1}, ArrayRef<int64_t>{0}, 0, false);
  out->physical =
      osa::ConcatOp::create(builder, op.getLoc(), type, values, axis);
  if (!permutation.empty())
    out->transpose(permutation);
  setResult(op, out);
  pickUp.insert(op.getResult());
}

void Integerizer::visitPad(osa::PadOp op, Lazy in) {
  in = materialize(op, in);
  if (!in)
    return;
  Real value(exact(op.getValue().convertToDouble()));
  std::optional<int64_t> code;
  for (const PiecewiseLinear &g : in->f) {
    std::optional<int64_t> own;
    auto &piece = g.pieces()[0];
    if (g.isAffine() && piece.slope.sign() != 0)
      if (Real z = (value - piece.offset) / piece.slope;
          z == Real(mpq_class(z.floor())))
        own = toInt64(z.floor());
    if (!own || (code && *own != *code))
      return leaveToHost(op, "its value is not a code of the input",
                         "pad with a value that the quantizer can hold");
    code = own;
  }
  auto out = std::make_shared<LazyTensor>();
  for (const PiecewiseLinear &g : in->f)
    out->f.push_back(g.over(std::min(g.lo(), *code), std::max(g.hi(), *code)));
  auto [lo, hi] = out->range();
  auto type = RankedTensorType::get(
      cast<RankedTensorType>(op.getType()).getShape(), intType(lo, hi));
  out->physical =
      osa::PadOp::create(builder, op.getLoc(), type, in->physical, op.getLow(),
                         op.getHigh(), APFloat(double(*code)));
  out->shape = out->physicalShape = SmallVector<int64_t>(type.getShape());
  setResult(op, out);
  pickUp.insert(op.getResult());
}
