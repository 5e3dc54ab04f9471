// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Intervals from the quantizers on, operation by operation. Sums of products
// take the signs of constant weights into account. Whatever is not listed has
// no bounds.
#include "RealBounds.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "rhizome/Dialect/Osa/Matmul.h"
#include "rhizome/Dialect/Osa/Osa.h"
#include "llvm/ADT/TypeSwitch.h"
#include <cmath>
#include <optional>

using namespace mlir;
using namespace rhizome;
using namespace rhizome::importer;

using R = RealInterval;

/// A product of bounds, in which nothing is zero times anything.
static double times(double a, double b) { return a == 0 || b == 0 ? 0 : a * b; }

static R hull(R a, R b) { return {std::min(a.lo, b.lo), std::max(a.hi, b.hi)}; }
static R sum(R a, R b) { return {a.lo + b.lo, a.hi + b.hi}; }
static R product(R a, R b) {
  auto ends = {times(a.lo, b.lo), times(a.lo, b.hi), times(a.hi, b.lo),
               times(a.hi, b.hi)};
  return {std::min(ends), std::max(ends)};
}

/// The values of a constant, dequantized ones included; nullopt for others.
static std::optional<std::vector<double>> valuesOf(Value v) {
  if (auto constant = v.getDefiningOp<osa::ConstantOp>()) {
    if (num::IntType type = num::elementInt(v.getType())) {
      auto ints = osa::intValues(constant.getValue(), type.getIsSigned());
      return std::vector<double>(ints.begin(), ints.end());
    }
    if (!cast<RankedTensorType>(v.getType()).getElementType().isF32())
      return std::nullopt;
    auto reals = osa::floatValues(constant.getValue());
    return std::vector<double>(reals.begin(), reals.end());
  }
  auto back = v.getDefiningOp<osa::DequantizeOp>();
  auto codes = back ? valuesOf(back.getInput()) : std::nullopt;
  if (!codes)
    return std::nullopt;
  auto scale = osa::floatValues(back.getScale());
  auto zero = osa::intValues(back.getZeroPoint());
  auto shape = cast<RankedTensorType>(v.getType()).getShape();
  const int64_t axis = int64_t(back.getAxis());
  size_t inner = 1;
  for (size_t d = size_t(std::max<int64_t>(axis, 0)) + 1; d < shape.size(); ++d)
    inner *= size_t(shape[d]);
  for (auto [i, code] : llvm::enumerate(*codes))
    code = (code - double(zero[i / inner % zero.size()])) *
           double(scale[i / inner % scale.size()]);
  return codes;
}

/// Sums of `x` times the weights of each output channel.
static R weighted(R x, Value weights, Value bias) {
  auto values = valuesOf(weights);
  if (!values)
    return {};
  const int64_t channels =
      cast<RankedTensorType>(weights.getType()).getShape().front();
  const size_t each = values->size() / size_t(channels);
  auto added = bias ? valuesOf(bias) : std::nullopt;
  if (bias && !added)
    return {};
  std::optional<R> all;
  for (int64_t c = 0; c < channels; ++c) {
    R total{0, 0};
    for (size_t k = 0; k < each; ++k) {
      double w = (*values)[size_t(c) * each + k];
      total = sum(total, product(x, {w, w}));
    }
    if (added) {
      double b = (*added)[size_t(c) % added->size()];
      total = sum(total, {b, b});
    }
    all = all ? hull(*all, total) : total;
  }
  return all.value_or(R());
}

static R quantized(osa::QuantizeOp op, R x) {
  num::IntType type = num::elementInt(op.getType());
  R range{double(type.getLo()), double(type.getHi())};
  auto scale = osa::floatValues(op.getScale());
  auto zero = osa::intValues(op.getZeroPoint());
  if (scale.size() != 1 || zero.size() != 1 ||
      op.getRounding() == osa::Rounding::Sign)
    return range;
  // Whatever the rounding, by less than one. Quotients are not exact.
  double low = x.lo / scale[0], high = x.hi / scale[0];
  low -= std::fabs(low) * 1e-12, high += std::fabs(high) * 1e-12;
  const bool isCut = op.getRounding() == osa::Rounding::TowardZero;
  low = isCut && low <= 0 ? std::ceil(low) : std::floor(low);
  high = isCut && high >= 0 ? std::floor(high) : std::ceil(high);
  return {std::clamp(low + double(zero[0]), range.lo, range.hi),
          std::clamp(high + double(zero[0]), range.lo, range.hi)};
}

static R dequantized(osa::DequantizeOp op, R x) {
  auto scale = osa::floatValues(op.getScale());
  auto zero = osa::intValues(op.getZeroPoint());
  std::optional<R> all;
  for (size_t c = 0; c < std::max(scale.size(), zero.size()); ++c) {
    double s = double(scale[c % scale.size()]),
           z = double(zero[c % zero.size()]);
    R here = product({x.lo - z, x.hi - z}, {s, s});
    all = all ? hull(*all, here) : here;
  }
  return all.value_or(R());
}

static R normalized(osa::BatchNormOp op, R x) {
  auto gamma = osa::floatValues(op.getGamma()),
       beta = osa::floatValues(op.getBeta()),
       mean = osa::floatValues(op.getMean()),
       variance = osa::floatValues(op.getVariance());
  std::optional<R> all;
  size_t count =
      std::max({gamma.size(), beta.size(), mean.size(), variance.size()});
  for (size_t c = 0; c < count; ++c) {
    auto at = [&](const std::vector<float> &v) {
      return double(v[c % v.size()]);
    };
    double gain =
        at(gamma) / std::sqrt(at(variance) + op.getEpsilon().convertToDouble());
    R here = sum(product(sum(x, {-at(mean), -at(mean)}), {gain, gain}),
                 {at(beta), at(beta)});
    all = all ? hull(*all, here) : here;
  }
  return all.value_or(R());
}

static R boundsOf(Operation *op, ArrayRef<R> in) {
  auto padded = [&](ArrayRef<int64_t> pads) {
    bool any = llvm::any_of(pads, [](int64_t p) { return p != 0; });
    return any ? hull(in[0], {0, 0}) : in[0];
  };
  return llvm::TypeSwitch<Operation *, R>(op)
      .Case<osa::ConstantOp>([](auto constant) -> R {
        auto values = valuesOf(constant.getResult());
        if (!values || values->empty())
          return {};
        auto [lo, hi] = std::minmax_element(values->begin(), values->end());
        return {*lo, *hi};
      })
      .Case<osa::QuantizeOp>([&](auto q) { return quantized(q, in[0]); })
      .Case<osa::DequantizeOp>([&](auto d) { return dequantized(d, in[0]); })
      .Case<osa::Conv2dOp>([&](auto conv) {
        R x = hull(padded(conv.getPads()),
                   {double(conv.getPadValue()), double(conv.getPadValue())});
        return weighted(x, conv.getWeights(), conv.getBias());
      })
      .Case<osa::DenseOp>([&](auto dense) {
        return weighted(in[0], dense.getWeights(), dense.getBias());
      })
      .Case<osa::MatmulOp>([&](auto matmul) {
        auto depth = double(cast<RankedTensorType>(matmul.getLhs().getType())
                                .getShape()
                                .back());
        return product(product(in[0], in[1]), {depth, depth});
      })
      .Case<osa::BatchNormOp>([&](auto op) { return normalized(op, in[0]); })
      .Case<osa::AddOp>([&](auto) { return sum(in[0], in[1]); })
      .Case<osa::SubOp>(
          [&](auto) { return sum(in[0], {-in[1].hi, -in[1].lo}); })
      .Case<osa::MulOp>([&](auto) { return product(in[0], in[1]); })
      .Case<osa::DivOp>([&](auto) -> R {
        if (in[1].lo <= 0 && in[1].hi >= 0)
          return {};
        return product(in[0], {1 / in[1].hi, 1 / in[1].lo});
      })
      .Case<osa::MaxOp>([&](auto) -> R {
        return {std::max(in[0].lo, in[1].lo), std::max(in[0].hi, in[1].hi)};
      })
      .Case<osa::MinOp>([&](auto) -> R {
        return {std::min(in[0].lo, in[1].lo), std::min(in[0].hi, in[1].hi)};
      })
      .Case<osa::ReluOp>([&](auto) -> R {
        return {std::max(in[0].lo, 0.0), std::max(in[0].hi, 0.0)};
      })
      .Case<osa::ClipOp>([&](auto clip) -> R {
        double lo = clip.getMin().convertToDouble(),
               hi = clip.getMax().convertToDouble();
        return {std::min(std::max(in[0].lo, lo), hi),
                std::min(std::max(in[0].hi, lo), hi)};
      })
      .Case<osa::LeakyReluOp>([&](auto leaky) {
        double alpha = leaky.getAlpha().convertToDouble();
        R negative = product({std::min(in[0].lo, 0.0), std::min(in[0].hi, 0.0)},
                             {alpha, alpha});
        return hull(negative,
                    {std::max(in[0].lo, 0.0), std::max(in[0].hi, 0.0)});
      })
      .Case<osa::UnaryOp>([&](auto unary) -> R {
        if (unary.getKind() == osa::UnaryKind::Neg)
          return {-in[0].hi, -in[0].lo};
        if (unary.getKind() == osa::UnaryKind::Abs)
          return {in[0].lo > 0   ? in[0].lo
                  : in[0].hi < 0 ? -in[0].hi
                                 : 0,
                  std::max(std::fabs(in[0].lo), std::fabs(in[0].hi))};
        return {};
      })
      .Case<osa::AvgPoolOp>([&](auto pool) { return padded(pool.getPads()); })
      .Case<osa::PadOp>([&](auto pad) {
        double v = pad.getValue().convertToDouble();
        return hull(in[0], {v, v});
      })
      .Case<osa::ConcatOp>([&](auto) {
        R all = in[0];
        for (R other : in.drop_front())
          all = hull(all, other);
        return all;
      })
      .Case<osa::MaxPoolOp, osa::ReshapeOp, osa::TransposeOp, osa::GatherOp>(
          [&](auto) { return in[0]; })
      .Default([](Operation *other) -> R {
        num::IntType type = other->getNumResults()
                                ? num::elementInt(other->getResult(0).getType())
                                : num::IntType();
        return type ? R{double(type.getLo()), double(type.getHi())} : R();
      });
}

RealInterval RealBounds::of(Value v) {
  // Without recursion: a network may be a chain of 50,000 operations.
  SmallVector<Value> work{v};
  while (!work.empty()) {
    Value next = work.back();
    Operation *op = next.getDefiningOp();
    if (known.contains(next)) {
      work.pop_back();
      continue;
    }
    const bool isReal = op && isa<osa::OsaDialect>(op->getDialect());
    size_t before = work.size();
    if (isReal)
      for (Value operand : op->getOperands())
        if (!known.contains(operand))
          work.push_back(operand);
    if (work.size() != before)
      continue;
    work.pop_back();
    SmallVector<R> in;
    if (isReal)
      for (Value operand : op->getOperands())
        in.push_back(known.lookup(operand));
    known[next] = isReal ? boundsOf(op, in) : R();
  }
  return known.lookup(v);
}
