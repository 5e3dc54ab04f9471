// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operations without cost: they are composed with a tensor's exact function
// from integer to real and do not change the integers.
#include "Integerizer.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace rhizome;

void Integerizer::visitDequantize(osa::DequantizeOp op, Lazy in) {
  auto out = std::make_shared<LazyTensor>(*in);
  std::vector<float> scales = osa::floatValues(op.getScale());
  std::vector<int64_t> zeros = osa::intValues(op.getZeroPoint());
  size_t count = scaleCount(op);
  std::vector<int64_t> which(1, 0);
  if (count > 1) {
    std::vector<int64_t> map;
    int64_t elements = cast<RankedTensorType>(op.getType()).getNumElements();
    const Cycle indexOf = scaleCycle(op, out->shape);
    for (int64_t i = 0; i < elements; ++i)
      map.push_back(int64_t(indexOf(i)));
    auto channels = out->perChannel(map);
    if (!channels)
      return leaveToHost(op,
                         "its scales run along an axis that is not the "
                         "channel axis",
                         "");
    which = *channels;
    out->expand();
  }
  for (size_t c = 0; c < out->f.size(); ++c) {
    int64_t k = which[which.size() == 1 ? 0 : c];
    out->f[c].shift(Real(-zeros[zeros.size() == 1 ? 0 : k]));
    out->f[c].scale(Real(exact(scales[scales.size() == 1 ? 0 : k])));
  }
  setResult(op, out);
}

/// A constant that varies within a channel, such as a mask of an attention's
/// scores, still varies along axes next to it: all of these are then the
/// channels of what rounds the sum.
std::optional<std::vector<int64_t>>
Integerizer::refined(Operation *op, LazyTensor &t, ArrayRef<int64_t> map) {
  constexpr int64_t kMostChannels = 4096; // of a few blocks of RAM
  if (t.curve)
    return std::nullopt;
  for (size_t axes = 2; axes <= t.physicalShape.size(); ++axes) {
    LazyTensor finer = t;
    finer.refine(axes);
    if (finer.channels() > kMostChannels)
      break;
    auto channels = finer.perChannel(map);
    if (!channels)
      continue;
    if (!settle(op, finer))
      break;
    finer.physical = osa::ReshapeOp::create(
        builder, op->getLoc(),
        RankedTensorType::get(
            finer.physicalShape,
            cast<RankedTensorType>(finer.physical.getType()).getElementType()),
        finer.physical);
    t = std::move(finer);
    return channels;
  }
  return std::nullopt;
}

std::optional<std::vector<Real>>
Integerizer::constantPerChannel(Operation *op, LazyTensor &t,
                                const ExactConstant &c) {
  auto result = cast<RankedTensorType>(op->getResult(0).getType()).getShape();
  if (ArrayRef<int64_t>(t.shape) != result) {
    int64_t n = cast<RankedTensorType>(op->getResult(0).getType())
                    .getNumElements(),
            have = 1;
    for (int64_t d : t.shape)
      have *= d;
    if (n != have)
      return std::nullopt; // the constant broadcasts the tensor
    t.reshape(result);
  }
  std::vector<int64_t> which(1, 0);
  if (c.size() > 1) {
    const std::vector<int64_t> map = broadcastMap(c.shape, t.shape);
    auto channels = t.perChannel(map);
    if (!channels)
      channels = refined(op, t, map);
    if (!channels)
      return std::nullopt;
    which = *channels;
    t.expand();
  }
  std::vector<Real> values;
  for (int64_t k : which)
    values.push_back(Real(c.at(k)));
  return values;
}

bool Integerizer::applyConstant(Operation *op, LazyTensor &t,
                                const ExactConstant &c, bool constantFirst) {
  auto values = constantPerChannel(op, t, c);
  if (!values)
    return false;
  for (size_t i = 0; i < t.f.size(); ++i) {
    const Real &v = (*values)[values->size() == 1 ? 0 : i];
    PiecewiseLinear &f = t.f[i];
    if (isa<osa::AddOp>(op)) {
      f.shift(v);
    } else if (isa<osa::MulOp>(op)) {
      f.scale(v);
    } else if (isa<osa::MaxOp>(op)) {
      f.atLeast(v);
    } else if (isa<osa::MinOp>(op)) {
      f.atMost(v);
    } else if (isa<osa::SubOp>(op)) {
      if (constantFirst)
        f.scale(Real(-1));
      f.shift(constantFirst ? v : -v);
    } else {
      if (constantFirst || v.sign() == 0)
        return false;
      f.scale(v.inverse());
    }
  }
  return true;
}

bool Integerizer::applyBatchNorm(osa::BatchNormOp op, LazyTensor &t) {
  std::vector<float> gamma = osa::floatValues(op.getGamma()),
                     beta = osa::floatValues(op.getBeta()),
                     mean = osa::floatValues(op.getMean()),
                     variance = osa::floatValues(op.getVariance());
  mpq_class epsilon = exact(op.getEpsilon().convertToFloat());
  std::vector<int64_t> map;
  int64_t last = t.shape.back(), elements = 1;
  for (int64_t d : t.shape)
    elements *= d;
  for (int64_t i = 0; i < elements; ++i)
    map.push_back(i % last);
  auto channels = t.perChannel(map);
  if (!channels)
    return false;
  t.expand();
  for (size_t i = 0; i < t.f.size(); ++i) {
    int64_t c = (*channels)[i];
    for (float v : {gamma[c], beta[c], mean[c], variance[c]})
      if (!std::isfinite(v))
        return false;
    mpq_class spread = exact(variance[c]) + epsilon;
    if (spread <= 0)
      return false;
    Real deviation = Real::sqrt(spread);
    PiecewiseLinear &f = t.f[i];
    if (!f.compatible(deviation))
      return false;
    f.shift(Real(-exact(mean[c])));
    f.scale(Real(exact(gamma[c])) / deviation);
    f.shift(Real(exact(beta[c])));
  }
  return true;
}

/// The function of a tensor as an expression.
static std::shared_ptr<const Curve> curveOf(const LazyTensor &t) {
  return t.curve ? t.curve : std::make_shared<Curve>(t.f);
}

static std::optional<Curve::Binary> joinOf(Operation *op) {
  using Join = std::optional<Curve::Binary>;
  return llvm::TypeSwitch<Operation *, Join>(op)
      .Case<osa::AddOp>([](auto) { return Curve::Binary::Add; })
      .Case<osa::SubOp>([](auto) { return Curve::Binary::Sub; })
      .Case<osa::MulOp>([](auto) { return Curve::Binary::Mul; })
      .Case<osa::DivOp>([](auto) { return Curve::Binary::Div; })
      .Case<osa::MaxOp>([](auto) { return Curve::Binary::Max; })
      .Case<osa::MinOp>([](auto) { return Curve::Binary::Min; })
      .Default([](Operation *) { return std::nullopt; });
}

/// The operation as an expression; null for other operations.
static Curve::Ref curveOf(Operation *op, ArrayRef<Curve::Ref> operands) {
  if (auto join = joinOf(op))
    return std::make_shared<Curve>(*join, operands[0], operands[1]);
  if (auto unary = dyn_cast<osa::UnaryOp>(op))
    return std::make_shared<Curve>(unary.getKind(), operands[0]);
  auto limited = [](bool atLeast, mpq_class bound, Curve::Ref operand) {
    return std::make_shared<Curve>(Curve::Limit{atLeast, std::move(bound)},
                                   std::move(operand));
  };
  if (isa<osa::ReluOp>(op))
    return limited(true, 0, operands[0]);
  auto clip = dyn_cast<osa::ClipOp>(op);
  if (!clip)
    return nullptr;
  float low = clip.getMin().convertToFloat(),
        high = clip.getMax().convertToFloat();
  if (!std::isfinite(low) || !std::isfinite(high))
    return nullptr;
  return limited(false, exact(high), limited(true, exact(low), operands[0]));
}

bool Integerizer::applyCurve(Operation *op, ArrayRef<Lazy> tensors) {
  auto out = std::make_shared<LazyTensor>(*tensors[0]);
  if (!settle(op, *out))
    return false;
  std::vector<Curve::Ref> operands{curveOf(*out)};
  if (tensors.size() == 2) {
    // Two functions of one tensor are one function of it.
    const LazyTensor &other = *tensors[1];
    if (other.sum || other.physical != out->physical ||
        other.shape != out->shape || other.layout.size() != out->layout.size())
      return false;
    for (size_t i = 0; i < other.layout.size(); ++i)
      if (other.layout[i].permutation != out->layout[i].permutation ||
          other.layout[i].shape != out->layout[i].shape)
        return false;
    operands.push_back(curveOf(other));
    if (other.f.size() > out->f.size())
      out->expand();
  } else if (op->getNumOperands() == 2) {
    bool constantFirst = !lazy(op->getOperand(0));
    auto c = constants.get(op->getOperand(constantFirst ? 0 : 1));
    auto values = c ? constantPerChannel(op, *out, *c) : std::nullopt;
    if (!values)
      return false;
    auto [lo, hi] = out->range();
    std::vector<PiecewiseLinear> leaf;
    for (const Real &v : *values)
      leaf.push_back(PiecewiseLinear::affine(lo, hi, Real(0), v));
    operands.push_back(std::make_shared<Curve>(std::move(leaf)));
    if (constantFirst)
      std::swap(operands[0], operands[1]);
  }
  out->curve = curveOf(op, operands);
  if (!out->curve)
    return false;
  setResult(op, out);
  return true;
}

/// True if quantizers alone read `v`, which may be moved before.
static bool isQuantized(Value v) {
  return !v.use_empty() && llvm::all_of(v.getUsers(), [](Operation *user) {
    return isa<osa::QuantizeOp>(user) ||
           (isa<osa::ReshapeOp, osa::TransposeOp>(user) &&
            isQuantized(user->getResult(0)));
  });
}

/// A mask of minus infinities that is added before a quantizer: any number that
/// saturates it will do. Null for other constants.
static std::shared_ptr<const ExactConstant> maskOf(Operation *sum, Value mask) {
  constexpr float kFar = 0x1p100f;
  auto constant = mask.getDefiningOp<osa::ConstantOp>();
  auto type = cast<RankedTensorType>(mask.getType());
  if (!constant || !type.getElementType().isF32() ||
      !isQuantized(sum->getResult(0)))
    return nullptr;
  std::vector<float> values = osa::floatValues(constant.getValue());
  for (float &v : values) {
    if (std::isnan(v) || (std::isfinite(v) && std::abs(v) >= kFar))
      return nullptr;
    if (std::isinf(v))
      v = v < 0 ? -kFar : kFar;
  }
  return std::make_shared<ExactConstant>(exactFloats(type.getShape(), values));
}

void Integerizer::visitElementwise(Operation *op, Lazy in) {
  auto out = std::make_shared<LazyTensor>(*in);
  bool done = !in->curve &&
              llvm::TypeSwitch<Operation *, bool>(op)
                  .Case<osa::ReluOp>([&](auto) {
                    for (PiecewiseLinear &f : out->f)
                      f.atLeast(Real(0));
                    return true;
                  })
                  .Case<osa::LeakyReluOp>([&](osa::LeakyReluOp leaky) {
                    float alpha = leaky.getAlpha().convertToFloat();
                    if (!std::isfinite(alpha))
                      return false;
                    for (PiecewiseLinear &f : out->f)
                      f.leaky(Real(exact(alpha)));
                    return true;
                  })
                  .Case<osa::ClipOp>([&](osa::ClipOp clip) {
                    float low = clip.getMin().convertToFloat(),
                          high = clip.getMax().convertToFloat();
                    if (std::isnan(low) || std::isnan(high))
                      return false;
                    for (PiecewiseLinear &f : out->f) {
                      if (!std::isinf(low))
                        f.atLeast(Real(exact(low)));
                      if (!std::isinf(high))
                        f.atMost(Real(exact(high)));
                    }
                    return true;
                  })
                  .Case<osa::BatchNormOp>(
                      [&](auto norm) { return applyBatchNorm(norm, *out); })
                  .Case<osa::UnaryOp>([&](osa::UnaryOp unary) {
                    for (PiecewiseLinear &f : out->f)
                      if (unary.getKind() == osa::UnaryKind::Neg)
                        f.scale(Real(-1));
                      else if (unary.getKind() == osa::UnaryKind::Abs)
                        f.leaky(Real(-1));
                      else
                        return false;
                    return true;
                  })
                  .Case<osa::AddOp, osa::SubOp, osa::MulOp, osa::DivOp,
                        osa::MaxOp, osa::MinOp>([&](auto) {
                    bool constantFirst = !lazy(op->getOperand(0));
                    Value other = op->getOperand(constantFirst ? 0 : 1);
                    auto c = constants.get(other);
                    if (!c && isa<osa::AddOp>(op))
                      c = maskOf(op, other);
                    return c && applyConstant(op, *out, *c, constantFirst);
                  })
                  .Default([](Operation *) { return false; });
  if (done)
    return setResult(op, out);
  if (applyCurve(op, {in}))
    return;
  leaveToHost(op,
              "it can't be expressed as one exact linear function per channel "
              "between two quantizers",
              "put a quantizer before it, or make its parameters one per "
              "channel");
}
