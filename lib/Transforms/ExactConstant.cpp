// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Exact evaluation of constant subgraphs: stored floats, quantize and
// dequantize, shape changes and arithmetic.
#include "ExactConstant.h"
#include "mlir/IR/BuiltinTypes.h"
#include "rhizome/Dialect/Osa/Osa.h"
#include "llvm/ADT/TypeSwitch.h"
#include <cmath>

using namespace mlir;
using namespace rhizome;

std::vector<int64_t> rhizome::transposeMap(ArrayRef<int64_t> shape,
                                           ArrayRef<int64_t> permutation) {
  size_t rank = shape.size();
  std::vector<int64_t> stride(rank, 1), out(rank);
  for (size_t i = rank; i-- > 1;)
    stride[i - 1] = stride[i] * shape[i];
  int64_t n = 1;
  for (size_t i = 0; i < rank; ++i) {
    out[i] = shape[permutation[i]];
    n *= shape[i];
  }
  std::vector<int64_t> map(n), index(rank, 0);
  int64_t from = 0;
  for (int64_t i = 0; i < n; ++i) {
    map[i] = from;
    for (size_t axis = rank; axis-- > 0;) {
      from += stride[permutation[axis]];
      if (++index[axis] < out[axis])
        break;
      from -= stride[permutation[axis]] * out[axis];
      index[axis] = 0;
    }
  }
  return map;
}

std::vector<int64_t> rhizome::broadcastMap(ArrayRef<int64_t> from,
                                           ArrayRef<int64_t> shape) {
  size_t rank = shape.size();
  std::vector<int64_t> stride(rank, 0);
  int64_t step = 1;
  for (size_t i = from.size(); i-- > 0;) {
    if (from[i] != 1)
      stride[rank - from.size() + i] = step;
    step *= from[i];
  }
  int64_t n = 1;
  for (int64_t d : shape)
    n *= d;
  std::vector<int64_t> map(n), index(rank, 0);
  int64_t at = 0;
  for (int64_t i = 0; i < n; ++i) {
    map[i] = at;
    for (size_t axis = rank; axis-- > 0;) {
      at += stride[axis];
      if (++index[axis] < shape[axis])
        break;
      at -= stride[axis] * shape[axis];
      index[axis] = 0;
    }
  }
  return map;
}

ExactConstant rhizome::exactFloats(ArrayRef<int64_t> shape,
                                   ArrayRef<float> values) {
  ExactConstant c;
  c.shape = shape.vec();
  // value = mantissa · 2^(exponent − 24), where the mantissa is a whole number.
  int lowest = INT_MAX, highest = INT_MIN;
  for (float v : values) {
    if (v == 0)
      continue;
    int exponent;
    double m = std::frexp(v, &exponent) * 0x1p24;
    int zeros = __builtin_ctz(unsigned(std::abs(m)));
    lowest = std::min(lowest, exponent - 24 + zeros);
    highest = std::max(highest, exponent);
  }
  if (lowest == INT_MAX) {
    c.codes = Codes(values.size(), [](size_t) { return 0; });
    c.scales = {1};
    return c;
  }
  if (highest - lowest <= 61) {
    c.scales = {exact(std::ldexp(1.0, lowest))};
    c.codes = Codes(values.size(), [&](size_t i) {
      return int64_t(std::ldexp(double(values[i]), -lowest));
    });
    return c;
  }
  c.codes = Codes(values.size(), [](size_t) { return 1; });
  c.cycle.count = values.size(); // a scale each
  for (float v : values)
    c.scales.push_back(exact(v));
  return c;
}

namespace {
/// Scale, zero point and axis of a quantize or dequantize.
struct Scaling {
  ElementsAttr scale, zero;
  int64_t axis;
};
} // namespace

static Scaling scalingOf(Operation *op) {
  if (auto q = dyn_cast<osa::QuantizeOp>(op))
    return {q.getScale(), q.getZeroPoint(), int64_t(q.getAxis())};
  auto d = cast<osa::DequantizeOp>(op);
  return {d.getScale(), d.getZeroPoint(), int64_t(d.getAxis())};
}

size_t rhizome::scaleCount(Operation *op) {
  Scaling s = scalingOf(op);
  return std::max(s.scale.getNumElements(), s.zero.getNumElements());
}

Cycle rhizome::scaleCycle(Operation *op, ArrayRef<int64_t> shape) {
  Cycle cycle;
  int64_t axis = scalingOf(op).axis;
  if (axis < 0 || scaleCount(op) == 1)
    return cycle;
  cycle.count = size_t(shape[axis]);
  for (size_t i = axis + 1; i < shape.size(); ++i)
    cycle.inner *= size_t(shape[i]);
  return cycle;
}

/// The zero points, for any integer type that stores them.
static std::vector<int64_t> zeroPoints(ElementsAttr attr) {
  auto type = dyn_cast<IntegerType>(attr.getElementType());
  return osa::intValues(attr, !type || !type.isUnsigned());
}

Quantizer rhizome::makeQuantizer(Operation *op, size_t i) {
  auto quantize = cast<osa::QuantizeOp>(op);
  std::vector<float> scales = osa::floatValues(quantize.getScale());
  std::vector<int64_t> zeros = zeroPoints(quantize.getZeroPoint());
  num::IntType type = num::elementInt(quantize.getOutput().getType());
  Quantizer q;
  q.scale = exact(scales[scales.size() == 1 ? 0 : i]);
  q.zero = zeros[zeros.size() == 1 ? 0 : i];
  q.lo = type.getLo();
  q.hi = type.getHi();
  q.rounding = quantize.getRounding();
  if (q.rounding == Rounding::Sign) {
    q.zero = 1;
    q.lo = 0;
    q.hi = 1;
  }
  return q;
}

static std::shared_ptr<ExactConstant>
evaluateQuantize(osa::QuantizeOp op, const ExactConstant &in) {
  auto out = std::make_shared<ExactConstant>();
  out->shape = in.shape;
  out->scales = {1};
  std::vector<int64_t> codes(in.size());
  std::vector<Quantizer> quantizers;
  for (size_t i = 0; i < scaleCount(op); ++i)
    quantizers.push_back(makeQuantizer(op, i));
  // code · scale / quantizer's scale as a fraction of 64-bit numbers, if it
  // fits: then no rational arithmetic is needed per element.
  struct Fraction {
    int64_t num = 0, den = 0;
  };
  std::vector<Fraction> fractions(quantizers.size() * in.scales.size());
  bool few = in.scales.size() <= 4096;
  for (size_t q = 0; q < quantizers.size(); ++q)
    for (size_t s = 0; s < in.scales.size() && few; ++s) {
      mpq_class ratio = in.scales[s] / quantizers[q].scale;
      if (ratio.get_num().fits_slong_p() && ratio.get_den().fits_slong_p() &&
          mpz_sizeinbase(ratio.get_den_mpz_t(), 2) < 62)
        fractions[q * in.scales.size() + s] = {ratio.get_num().get_si(),
                                               ratio.get_den().get_si()};
    }
  const Cycle cycle = scaleCycle(op, in.shape);
  for (size_t i = 0; i < in.size(); ++i) {
    size_t which = cycle(i);
    const Quantizer &q = quantizers[which];
    int64_t level;
    Fraction f = fractions[which * in.scales.size() + in.group(i)];
    if (f.den != 0 && q.rounding == Rounding::HalfEven) {
      // ⌊(2·n + d) / 2d⌋, one less if that is a tie with an odd result.
      __int128 den = 2 * __int128(f.den);
      __int128 n = 2 * __int128(in.codes[i]) * f.num + f.den;
      __int128 rounded = n / den - (n % den < 0);
      rounded -= rounded * den == n && (rounded & 1);
      rounded += q.zero;
      level = rounded < q.lo ? q.lo : rounded > q.hi ? q.hi : int64_t(rounded);
    } else {
      level = q.level(Real(in.at(i)));
    }
    codes[i] = q.base() + q.step() * level;
  }
  out->codes = Codes(codes);
  return out;
}

static std::shared_ptr<ExactConstant>
evaluateDequantize(osa::DequantizeOp op, const ExactConstant &in) {
  auto out = std::make_shared<ExactConstant>();
  out->shape = in.shape;
  std::vector<float> scales = osa::floatValues(op.getScale());
  std::vector<int64_t> zeros = zeroPoints(op.getZeroPoint());
  size_t count = scaleCount(op);
  for (size_t i = 0; i < count; ++i)
    out->scales.push_back(exact(scales[scales.size() == 1 ? 0 : i]));
  out->cycle = scaleCycle(op, in.shape);
  if (llvm::all_of(zeros, [](int64_t zero) { return zero == 0; }))
    out->codes = in.codes;
  else
    out->codes = Codes(in.size(), [&](size_t i) {
      return in.codes[i] - zeros[zeros.size() == 1 ? 0 : out->cycle(i)];
    });
  return out;
}

static std::shared_ptr<ExactConstant>
evaluateBinary(Operation *op, const ExactConstant &a, const ExactConstant &b) {
  auto out = std::make_shared<ExactConstant>();
  out->shape =
      cast<RankedTensorType>(op->getResult(0).getType()).getShape().vec();
  std::vector<int64_t> left = broadcastMap(a.shape, out->shape),
                       right = broadcastMap(b.shape, out->shape);
  for (size_t i = 0; i < left.size(); ++i) {
    mpq_class x = a.at(left[i]), y = b.at(right[i]), v;
    if (isa<osa::AddOp>(op))
      v = x + y;
    else if (isa<osa::SubOp>(op))
      v = x - y;
    else if (isa<osa::MulOp>(op))
      v = x * y;
    else if (y != 0)
      v = x / y;
    else
      return nullptr;
    out->scales.push_back(v);
  }
  out->codes = Codes(left.size(), [](size_t) { return 1; });
  out->cycle.count = left.size(); // a scale each
  return out;
}

static std::shared_ptr<ExactConstant>
rearrange(const ExactConstant &in, ArrayRef<int64_t> shape,
          const std::vector<int64_t> &map) {
  auto out = std::make_shared<ExactConstant>();
  out->shape = shape.vec();
  out->scales = in.scales;
  out->codes = Codes(map.size(), [&](size_t i) { return in.codes[map[i]]; });
  if (!in.isOneGroup())
    for (int64_t from : map)
      out->groups.push_back(in.group(from));
  return out;
}

/// For each element of a gather, its element of the input.
static std::vector<int64_t> gatherMap(osa::GatherOp op,
                                      ArrayRef<int64_t> shape) {
  int64_t inner = 1, outer = 1;
  for (size_t i = 0; i < shape.size(); ++i)
    if (i != op.getAxis())
      (i < op.getAxis() ? outer : inner) *= shape[i];
  std::vector<int64_t> map;
  for (int64_t o = 0; o < outer; ++o)
    for (int64_t index : op.getIndices())
      for (int64_t i = 0; i < inner; ++i)
        map.push_back((o * shape[op.getAxis()] + index) * inner + i);
  return map;
}

/// The input among zeros; null for other values.
static std::shared_ptr<ExactConstant>
evaluatePad(osa::PadOp op, const ExactConstant &in, ArrayRef<int64_t> shape) {
  if (!op.getValue().isZero())
    return nullptr;
  auto out = std::make_shared<ExactConstant>();
  out->shape = shape.vec();
  out->scales = in.scales;
  int64_t n = 1;
  for (int64_t d : shape)
    n *= d;
  std::vector<int64_t> codes(n, 0);
  if (!in.isOneGroup())
    out->groups.resize(n, 0);
  for (size_t i = 0; i < in.size(); ++i) {
    int64_t rest = int64_t(i), to = 0, stride = 1;
    for (size_t d = shape.size(); d-- > 0;) {
      to += (rest % in.shape[d] + op.getLow()[d]) * stride;
      rest /= in.shape[d];
      stride *= shape[d];
    }
    codes[to] = in.codes[i];
    if (!in.isOneGroup())
      out->groups[to] = in.group(i);
  }
  out->codes = Codes(codes);
  return out;
}

std::shared_ptr<const ExactConstant> ConstantEvaluator::compute(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op || !isa<osa::OsaDialect>(op->getDialect()))
    return nullptr;
  auto shape = cast<RankedTensorType>(value.getType()).getShape();
  if (auto constant = dyn_cast<osa::ConstantOp>(op)) {
    if (osa::isConstantInts(value)) {
      auto out = std::make_shared<ExactConstant>();
      out->shape = shape.vec();
      // As most weights are stored.
      const ElementsAttr stored = constant.getValue();
      if (num::elementInt(value.getType()).getIsSigned() &&
          stored.getElementType().isInteger(8) && !stored.isSplat())
        out->codes = Codes::ofBytes(osa::rawValues(stored));
      else
        out->codes = Codes(*osa::constantInts(value));
      out->scales = {1};
      return out;
    }
    if (!constant.getValue().getElementType().isF32())
      return nullptr;
    std::vector<float> values = osa::floatValues(constant.getValue());
    if (!llvm::all_of(values, [](float v) { return std::isfinite(v); }))
      return nullptr;
    return std::make_shared<ExactConstant>(exactFloats(shape, values));
  }
  if (op->getNumOperands() == 0)
    return nullptr;
  auto in = get(op->getOperand(0));
  if (!in)
    return nullptr;
  using Result = std::shared_ptr<const ExactConstant>;
  return llvm::TypeSwitch<Operation *, Result>(op)
      .Case<osa::QuantizeOp>([&](auto q) { return evaluateQuantize(q, *in); })
      .Case<osa::DequantizeOp>(
          [&](auto d) { return evaluateDequantize(d, *in); })
      .Case<osa::TransposeOp>([&](osa::TransposeOp t) {
        return rearrange(*in, shape,
                         transposeMap(in->shape, t.getPermutation()));
      })
      .Case<osa::GatherOp>([&](osa::GatherOp g) {
        return rearrange(*in, shape, gatherMap(g, in->shape));
      })
      .Case<osa::PadOp>(
          [&](osa::PadOp p) { return evaluatePad(p, *in, shape); })
      .Case<osa::ReshapeOp>([&](auto) {
        auto out = std::make_shared<ExactConstant>(*in);
        out->shape = shape.vec();
        return out;
      })
      .Case<osa::AddOp, osa::SubOp, osa::MulOp, osa::DivOp>(
          [&](auto) -> Result {
            auto other = get(op->getOperand(1));
            return other ? evaluateBinary(op, *in, *other) : nullptr;
          })
      .Default([](Operation *) { return nullptr; });
}

std::shared_ptr<const ExactConstant> ConstantEvaluator::get(Value value) {
  auto found = known.find(value);
  if (found != known.end())
    return found->second;
  auto result = compute(value);
  // Stored weights are read once per use.
  if (!value.getDefiningOp<osa::ConstantOp>())
    known[value] = result;
  return result;
}
