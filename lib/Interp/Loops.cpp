// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loops on numbers: elements of every format, each stored as in its tensor.
#include "Loops.h"
#include "Evaluate.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "rhizome/Interp/Numbers.h"
#include <bit>

using namespace mlir;
using namespace rhizome;
using namespace rhizome::interp;

/// Adds scale · expr to the constant and the loops' factors.
static bool collect(AffineExpr expr, int64_t scale, Access &access) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr)) {
    access.base += scale * constant.getValue();
    return true;
  }
  if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
    access.steps[dim.getPosition()] += scale;
    return true;
  }
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return false;
  if (expr.getKind() == AffineExprKind::Add)
    return collect(binary.getLHS(), scale, access) &&
           collect(binary.getRHS(), scale, access);
  auto factor = dyn_cast<AffineConstantExpr>(binary.getRHS());
  if (expr.getKind() != AffineExprKind::Mul || !factor)
    return false;
  return collect(binary.getLHS(), scale * factor.getValue(), access);
}

std::optional<Access> Access::of(AffineMap map, ArrayRef<int64_t> shape) {
  Access access;
  access.steps.resize(map.getNumDims());
  int64_t stride = 1;
  for (int i = int(map.getNumResults()) - 1; i >= 0; --i) {
    if (!collect(map.getResult(i), stride, access))
      return std::nullopt;
    stride *= shape[i];
  }
  return access;
}

std::optional<Access> Access::ofSlice(ArrayRef<int64_t> shape,
                                      ArrayRef<int64_t> offsets,
                                      ArrayRef<int64_t> sizes,
                                      ArrayRef<int64_t> strides) {
  Access access;
  access.steps.resize(shape.size());
  int64_t stride = 1;
  for (int i = int(shape.size()) - 1; i >= 0; --i) {
    for (int64_t v : {offsets[i], sizes[i], strides[i]})
      if (ShapedType::isDynamic(v))
        return std::nullopt;
    access.base += stride * offsets[i];
    access.steps[i] = stride * strides[i];
    stride *= shape[i];
  }
  return access;
}

namespace {
struct Numbers {
  using Value = Scalar;
  using Context = Meaning;
  using Store = Tensor;
  struct Port {
    void *data = nullptr;
    Kind kind = Kind::Integer;
  };
  static constexpr bool hasIndices = true;

  OverflowEvent *overflow = nullptr;

  Tensor make(Type type) { return zeros(type); }
  bool constant(Attribute value, Type type, Scalar &to) {
    if (auto real = dyn_cast<FloatAttr>(value))
      to = scalarOf(real.getValueAsDouble(), type);
    else if (auto whole = dyn_cast<IntegerAttr>(value);
             whole && whole.getValue().getBitWidth() <= 64)
      to.whole = whole.getValue().getSExtValue();
    else
      return false;
    return true;
  }
  bool context(Operation *op, Meaning &to) {
    auto meaning = meaningOf(op, overflow);
    if (meaning)
      to = std::move(*meaning);
    return meaning.has_value();
  }
  void apply(const Meaning &meaning, Scalar &to, const Scalar &x,
             const Scalar &y, const Scalar &z) {
    meaning.run(to, x, y, z, meaning);
  }

  static Port port(Tensor &t) {
    if (!t.format)
      return t.isFloat ? Port{t.floats.data(), Kind::Single}
                       : Port{t.ints.data(), Kind::Integer};
    return *t.format == numeric::Format::binary64()
               ? Port{t.doubles.data(), Kind::Double}
               : Port{t.patterns.data(), Kind::Pattern};
  }
  static Scalar load(const Port &port, int64_t i) {
    Scalar s;
    switch (port.kind) {
    case Kind::Integer:
      s.whole = static_cast<const int64_t *>(port.data)[i];
      break;
    case Kind::Single:
      s.single = static_cast<const float *>(port.data)[i];
      break;
    case Kind::Double:
      s.real = static_cast<const double *>(port.data)[i];
      break;
    case Kind::Pattern:
      s.pattern = static_cast<const numeric::Bits *>(port.data)[i];
      break;
    }
    return s;
  }
  static void store(const Port &port, int64_t i, const Scalar &s) {
    switch (port.kind) {
    case Kind::Integer:
      static_cast<int64_t *>(port.data)[i] = s.whole;
      break;
    case Kind::Single:
      static_cast<float *>(port.data)[i] = s.single;
      break;
    case Kind::Double:
      static_cast<double *>(port.data)[i] = s.real;
      break;
    case Kind::Pattern:
      static_cast<numeric::Bits *>(port.data)[i] = s.pattern;
      break;
    }
  }
  static Scalar ofIndex(int64_t i) {
    Scalar s;
    s.whole = i;
    return s;
  }
  static int64_t toIndex(const Scalar &s) { return s.whole; }
};
} // namespace

bool interp::isLoop(Operation *op) { return LoopWalk<Numbers>::knows(op); }

LogicalResult interp::evaluateLoops(
    Operation *op, llvm::function_ref<const Tensor *(Value)> of,
    OverflowEvent *overflow, SmallVectorImpl<Tensor> &results) {
  Numbers domain;
  domain.overflow = overflow;
  return LoopWalk<Numbers>(domain).evaluate(op, of, results);
}

/// The operations of the host: linalg.generic and tensor movement for it.
static bool isHost(Operation *op) {
  return isa<linalg::GenericOp, linalg::FillOp, tensor::EmptyOp,
             tensor::CollapseShapeOp, tensor::ExpandShapeOp,
             tensor::ExtractSliceOp, tensor::InsertSliceOp, arith::ConstantOp>(
      op);
}

bool rhizome::isHostOperation(Operation *op) {
  return isa<osa::ConstantOp, scf::ForOp, scf::WhileOp>(op) || isHost(op) ||
         isReal(op) || isCommon(op);
}

bool rhizome::isHostScalar(Operation *op) {
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    return scalarOf(constant).has_value();
  return isa<linalg::IndexOp, tensor::ExtractOp>(op) ||
         (!isa_and_nonnull<num::NumDialect>(op->getDialect()) && meaningOf(op));
}

//===----------------------------------------------------------------------===//
// Tensors of numbers
//===----------------------------------------------------------------------===//

Tensor rhizome::zeros(Type type) {
  Tensor t;
  llvm::append_range(t.shape, shapeOf(type));
  size_t n = size_t(count(t.shape));
  auto kind = kindOf(type);
  assert(kind && "a type of numbers");
  switch (*kind) {
  case Kind::Integer:
    t.ints.resize(n);
    break;
  case Kind::Single:
    t.isFloat = true;
    t.floats.resize(n);
    break;
  case Kind::Double:
    t.format = numeric::Format::binary64();
    t.doubles.resize(n);
    break;
  case Kind::Pattern:
    t.format = *realFormat(type);
    t.patterns.resize(n);
    break;
  }
  return t;
}

Tensor rhizome::numbersOf(std::vector<int64_t> shape, ArrayRef<double> values,
                          const numeric::Format &format) {
  Tensor t;
  t.shape = std::move(shape);
  if (format == numeric::Format::binary32()) {
    t.isFloat = true;
    t.floats.assign(values.begin(), values.end());
    return t;
  }
  t.format = format;
  if (format == numeric::Format::binary64()) {
    t.doubles = values.vec();
    return t;
  }
  numeric::Arithmetic to(format, numeric::Rounding::NearestEven,
                         numeric::Overflow::Saturate);
  for (double v : values)
    t.patterns.push_back(to.fromDouble(v));
  return t;
}

std::vector<double> rhizome::doublesOf(const Tensor &t) {
  if (!t.format)
    return t.isFloat ? std::vector<double>(t.floats.begin(), t.floats.end())
                     : std::vector<double>(t.ints.begin(), t.ints.end());
  if (*t.format == numeric::Format::binary64())
    return t.doubles;
  numeric::Arithmetic from(*t.format, numeric::Rounding::NearestEven,
                           numeric::defaultOverflow(*t.format));
  std::vector<double> reals;
  for (numeric::Bits v : t.patterns)
    reals.push_back(from.toDouble(v));
  return reals;
}

numeric::Format rhizome::formatOf(const Tensor &t) {
  if (t.format)
    return *t.format;
  return t.isFloat ? numeric::Format::binary32() : numeric::Format::integer(64);
}

std::vector<numeric::Bits> rhizome::patternsOf(const Tensor &t) {
  if (t.format && *t.format != numeric::Format::binary64())
    return t.patterns;
  std::vector<numeric::Bits> out;
  for (double v : t.doubles)
    out.push_back(std::bit_cast<uint64_t>(v));
  for (float v : t.floats)
    out.push_back(std::bit_cast<uint32_t>(v));
  for (int64_t v : t.ints)
    out.push_back(uint64_t(v));
  return out;
}

Tensor rhizome::ofPatterns(std::vector<int64_t> shape,
                           ArrayRef<numeric::Bits> patterns,
                           const numeric::Format &format) {
  Tensor t = numbersOf(std::move(shape), {}, format);
  for (numeric::Bits v : patterns)
    if (t.isFloat)
      t.floats.push_back(std::bit_cast<float>(uint32_t(v)));
    else if (format == numeric::Format::binary64())
      t.doubles.push_back(std::bit_cast<double>(uint64_t(v)));
    else
      t.patterns.push_back(v);
  return t;
}
