// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The host's loops (linalg on tensors of f32 and i64), executed element by
// element: a body becomes a list of steps on numbered slots.
#include "Evaluate.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "rhizome/Interp/Interpreter.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/ADT/bit.h"
#include <cmath>

using namespace mlir;
using namespace rhizome;
using namespace rhizome::interp;

namespace {
/// A scalar: `f` of reals, `i` of integers, indices and truths, sign-extended.
struct Scalar {
  float f = 0;
  int64_t i = 0;
};

/// One loop nest, ready to run.
class Nest {
public:
  Nest(linalg::GenericOp op, Frame &frame) : op(op), frame(frame) {}
  LogicalResult run();

private:
  using Step = std::function<void()>;
  Scalar *slot(Value v);
  LogicalResult compile(Operation *inner);
  LogicalResult extract(tensor::ExtractOp inner);

  linalg::GenericOp op;
  Frame &frame;
  std::vector<int64_t> at; ///< the loops' indices
  llvm::DenseMap<Value, std::unique_ptr<Scalar>> slots;
  std::vector<Step> steps;
  bool outside = false; ///< a read left its tensor
};
} // namespace

Scalar *Nest::slot(Value v) {
  std::unique_ptr<Scalar> &s = slots[v];
  if (s)
    return s.get();
  s = std::make_unique<Scalar>();
  // A scalar that the function computes once, such as a constant that a rewrite
  // took out of the body.
  if (!op.getRegion().isAncestor(v.getParentRegion()))
    if (const Tensor *given = frame.outer(v)) {
      if (given->isFloat)
        s->f = given->floats.front();
      else
        s->i = given->ints.front();
    }
  return s.get();
}

static int64_t signExtend(int64_t v, unsigned width) {
  return width >= 64 ? v : int64_t(uint64_t(v) << (64 - width)) >> (64 - width);
}
static uint64_t zeroExtend(int64_t v, unsigned width) {
  return width >= 64 ? uint64_t(v) : uint64_t(v) & ((uint64_t(1) << width) - 1);
}

LogicalResult Nest::extract(tensor::ExtractOp inner) {
  const Tensor *from = frame.outer(inner.getTensor());
  if (!from)
    return inner.emitOpError("reads a tensor of unknown origin");
  std::vector<Scalar *> places;
  for (Value v : inner.getIndices())
    places.push_back(slot(v));
  Scalar *to = slot(inner.getResult());
  steps.push_back([=, this] {
    int64_t offset = 0;
    for (auto [place, size] : llvm::zip_equal(places, from->shape)) {
      if (place->i < 0 || place->i >= size) {
        outside = true;
        return;
      }
      offset = offset * size + place->i;
    }
    if (from->isFloat)
      to->f = from->floats[offset];
    else
      to->i = from->ints[offset];
  });
  return success();
}

using S = const Scalar &;
/// What an operation computes of up to three scalars.
using Meaning = std::function<void(Scalar &, S, S, S)>;

/// Of conversions, selections and comparisons, `width` bits the first operand;
/// null if it is unknown.
static Meaning otherMeaning(Operation *op, unsigned width) {
  if (isa<arith::ExtUIOp>(op))
    return [=](Scalar &r, S x, S, S) { r.i = int64_t(zeroExtend(x.i, width)); };
  if (auto cut = dyn_cast<arith::TruncIOp>(op)) {
    unsigned to = cut.getType().getIntOrFloatBitWidth();
    return [=](Scalar &r, S x, S, S) { r.i = signExtend(x.i, to); };
  }
  if (isa<arith::SIToFPOp>(op))
    return [](Scalar &r, S x, S, S) { r.f = float(x.i); };
  if (isa<arith::UIToFPOp>(op))
    return [=](Scalar &r, S x, S, S) { r.f = float(zeroExtend(x.i, width)); };
  if (isa<arith::FPToSIOp>(op))
    return [](Scalar &r, S x, S, S) {
      bool fits = x.f >= -0x1p63f && x.f < 0x1p63f;
      r.i = fits ? int64_t(x.f) : INT64_MIN;
    };
  if (isa<arith::BitcastOp>(op)) { // between f32 and i32
    if (isa<FloatType>(op->getOperand(0).getType()))
      return [](Scalar &r, S x, S, S) { r.i = llvm::bit_cast<int32_t>(x.f); };
    return [](Scalar &r, S x, S, S) {
      r.f = llvm::bit_cast<float>(uint32_t(x.i));
    };
  }
  if (isa<arith::SelectOp>(op))
    return [](Scalar &r, S c, S x, S y) { r = c.i ? x : y; };
  if (auto compare = dyn_cast<arith::CmpFOp>(op))
    return [p = compare.getPredicate()](Scalar &r, S x, S y, S) {
      r.i = arith::applyCmpPredicate(p, llvm::APFloat(x.f), llvm::APFloat(y.f));
    };
  if (auto compare = dyn_cast<arith::CmpIOp>(op))
    return [p = compare.getPredicate()](Scalar &r, S x, S y, S) {
      r.i = arith::applyCmpPredicate(p, llvm::APInt(64, uint64_t(x.i)),
                                     llvm::APInt(64, uint64_t(y.i)));
    };
  return {};
}

/// Null if the operation is unknown.
static Meaning meaningOf(Operation *op) {
  unsigned width = 64;
  if (auto type = dyn_cast<IntegerType>(
          op->getNumOperands() ? op->getOperand(0).getType() : Type()))
    width = type.getWidth();
#define REAL(OP, EXPRESSION)                                                   \
  .Case<OP>([](auto) -> Meaning {                                              \
    return [](Scalar &r, S x, S y, S) {                                        \
      (void)y;                                                                 \
      double a = x.f, b = y.f;                                                 \
      (void)a, (void)b;                                                        \
      r.f = float(EXPRESSION);                                                 \
    };                                                                         \
  })
#define WHOLE(OP, EXPRESSION)                                                  \
  .Case<OP>([](auto) -> Meaning {                                              \
    return [](Scalar &r, S x, S y, S) {                                        \
      int64_t a = x.i, b = y.i;                                                \
      uint64_t ua = uint64_t(a), ub = uint64_t(b);                             \
      (void)ua, (void)ub, (void)b;                                             \
      r.i = int64_t(EXPRESSION);                                               \
    };                                                                         \
  })
  return llvm::TypeSwitch<Operation *, Meaning>(op)
      // clang-format off
      REAL(arith::AddFOp, x.f + y.f) REAL(arith::SubFOp, x.f - y.f)
      REAL(arith::MulFOp, x.f * y.f) REAL(arith::DivFOp, x.f / y.f)
      REAL(arith::RemFOp, std::fmod(x.f, y.f)) REAL(arith::NegFOp, -x.f)
      REAL(arith::MaximumFOp, std::isnan(a) ? a : std::isnan(b) ? b : std::max(a, b))
      REAL(arith::MinimumFOp, std::isnan(a) ? a : std::isnan(b) ? b : std::min(a, b))
      REAL(math::AbsFOp, std::fabs(a)) REAL(math::ExpOp, std::exp(a))
      REAL(math::LogOp, std::log(a)) REAL(math::SqrtOp, std::sqrt(a))
      REAL(math::TanhOp, std::tanh(a)) REAL(math::ErfOp, std::erf(a))
      REAL(math::SinOp, std::sin(a)) REAL(math::CosOp, std::cos(a))
      REAL(math::TanOp, std::tan(a)) REAL(math::AsinOp, std::asin(a))
      REAL(math::AcosOp, std::acos(a)) REAL(math::AtanOp, std::atan(a))
      REAL(math::SinhOp, std::sinh(a)) REAL(math::CoshOp, std::cosh(a))
      REAL(math::AsinhOp, std::asinh(a)) REAL(math::AcoshOp, std::acosh(a))
      REAL(math::AtanhOp, std::atanh(a)) REAL(math::FloorOp, std::floor(a))
      REAL(math::CeilOp, std::ceil(a)) REAL(math::RoundEvenOp, std::nearbyint(a))
      REAL(math::RoundOp, std::round(a)) REAL(math::TruncOp, std::trunc(a))
      REAL(math::Log1pOp, std::log1p(a)) REAL(math::PowFOp, std::pow(a, b))
      WHOLE(arith::AddIOp, ua + ub) WHOLE(arith::SubIOp, ua - ub)
      WHOLE(arith::MulIOp, ua * ub)
      WHOLE(arith::DivSIOp, b == 0 ? 0 : b == -1 ? -ua : uint64_t(a / b))
      WHOLE(arith::DivUIOp, ub == 0 ? 0 : ua / ub)
      WHOLE(arith::RemSIOp, b == 0 || b == -1 ? 0 : a % b)
      WHOLE(arith::RemUIOp, ub == 0 ? 0 : ua % ub)
      WHOLE(arith::AndIOp, a & b) WHOLE(arith::OrIOp, a | b)
      WHOLE(arith::XOrIOp, a ^ b)
      WHOLE(arith::ShLIOp, ub > 63 ? 0 : ua << ub)
      WHOLE(arith::ShRUIOp, ub > 63 ? 0 : ua >> ub)
      WHOLE(arith::ShRSIOp, ub > 63 ? (a < 0 ? -1 : 0) : a >> b)
      WHOLE(arith::MaxSIOp, std::max(a, b)) WHOLE(arith::MinSIOp, std::min(a, b))
      WHOLE(arith::MaxUIOp, std::max(ua, ub)) WHOLE(arith::MinUIOp, std::min(ua, ub))
      WHOLE(arith::IndexCastOp, a) WHOLE(arith::ExtSIOp, a)
      .Default([&](Operation *other) { return otherMeaning(other, width); });
  // clang-format on
#undef REAL
#undef WHOLE
}

static std::optional<Scalar> scalarOf(arith::ConstantOp op) {
  Scalar s;
  if (auto real = dyn_cast<FloatAttr>(op.getValue()))
    s.f = float(real.getValueAsDouble());
  else if (auto whole = dyn_cast<IntegerAttr>(op.getValue()))
    s.i = whole.getValue().getSExtValue();
  else
    return std::nullopt;
  return s;
}

LogicalResult Nest::compile(Operation *inner) {
  if (auto constant = dyn_cast<arith::ConstantOp>(inner)) {
    auto value = scalarOf(constant);
    if (!value)
      return inner->emitOpError("is no constant scalar");
    *slot(constant.getResult()) = *value;
    return success();
  }
  if (auto index = dyn_cast<linalg::IndexOp>(inner)) {
    Scalar *to = slot(index.getResult());
    unsigned d = unsigned(index.getDim());
    steps.push_back([=, this] { to->i = at[d]; });
    return success();
  }
  if (auto read = dyn_cast<tensor::ExtractOp>(inner))
    return extract(read);
  auto meaning = meaningOf(inner);
  if (!meaning)
    return inner->emitOpError("is unknown to the interpreter");
  static const Scalar none;
  const Scalar *in[3] = {&none, &none, &none};
  for (auto [i, v] : llvm::enumerate(inner->getOperands()))
    in[i] = slot(v);
  Scalar *to = slot(inner->getResult(0));
  const Scalar *x = in[0], *y = in[1], *z = in[2];
  steps.push_back([=] { meaning(*to, *x, *y, *z); });
  return success();
}

namespace {
/// An operand and how it is read: offset = base + Σ stride · index.
struct Access {
  Scalar *slot;
  const Tensor *tensor;
  int64_t base = 0;
  std::vector<int64_t> strides;

  int64_t offset(ArrayRef<int64_t> at) const {
    int64_t sum = base;
    for (size_t d = 0; d < at.size(); ++d)
      sum += strides[d] * at[d];
    return sum;
  }
};
} // namespace

/// The map's row-major offset into `shape`; a map is a sum of dimensions times
/// constants.
static void linearise(Access &access, AffineMap map, ArrayRef<int64_t> shape) {
  unsigned dims = map.getNumDims();
  auto offset = [&](ArrayRef<int64_t> at) {
    SmallVector<int64_t> index = map.compose(at);
    int64_t sum = 0;
    for (auto [i, size] : llvm::zip_equal(index, shape))
      sum = sum * size + i;
    return sum;
  };
  SmallVector<int64_t> at(dims, 0);
  access.base = offset(at);
  for (unsigned d = 0; d < dims; ++d) {
    at[d] = 1;
    access.strides.push_back(offset(at) - access.base);
    at[d] = 0;
  }
}

LogicalResult Nest::run() {
  Block &body = op.getRegion().front();
  for (Operation &inner : body.without_terminator())
    if (failed(compile(&inner)))
      return failure();
  auto yield = cast<linalg::YieldOp>(body.getTerminator());
  if (op.getNumDpsInits() != 1)
    return op.emitOpError("has several results");
  std::vector<Access> reads;
  for (auto [i, operand] : llvm::enumerate(op.getDpsInputs())) {
    if (body.getArgument(i).use_empty())
      continue;
    Access access{slot(body.getArgument(i)), frame.in[i], 0, {}};
    linearise(access, op.getIndexingMapsArray()[i], frame.in[i]->shape);
    reads.push_back(std::move(access));
  }
  size_t result = op.getNumDpsInputs();
  Access write{slot(yield.getOperand(0)), &frame.out, 0, {}};
  linearise(write, op.getIndexingMapsArray()[result], frame.out.shape);
  Scalar *carried = slot(body.getArgument(result));
  frame.out = *frame.in[result];
  SmallVector<int64_t> extents = op.getStaticLoopRanges();
  at.assign(extents.size(), 0);
  int64_t total = ShapedType::getNumElements(extents);
  bool real = frame.out.isFloat;
  for (int64_t n = 0; n < total; ++n) {
    for (const Access &read : reads) {
      int64_t from = read.offset(at);
      if (read.tensor->isFloat)
        read.slot->f = read.tensor->floats[from];
      else
        read.slot->i = read.tensor->ints[from];
    }
    int64_t to = write.offset(at);
    if (real)
      carried->f = frame.out.floats[to];
    else
      carried->i = frame.out.ints[to];
    for (const Step &step : steps)
      step();
    if (outside)
      return op.emitOpError("reads outside a tensor: an index that the model "
                            "computes is out of range");
    if (real)
      frame.out.floats[to] = write.slot->f;
    else
      frame.out.ints[to] = write.slot->i;
    for (size_t d = at.size(); d-- > 0;) {
      if (++at[d] < extents[d])
        break;
      at[d] = 0;
    }
  }
  return success();
}

/// True for an operation on scalars outside of a loop nest, such as the place
/// of a step in a sequence.
static bool isScalar(Operation *op) {
  return op->getNumResults() == 1 &&
         !isa<ShapedType>(op->getResult(0).getType()) && meaningOf(op);
}

bool interp::isHost(Operation *op) {
  return isa<linalg::GenericOp, linalg::FillOp, tensor::EmptyOp,
             tensor::CollapseShapeOp, tensor::ExpandShapeOp,
             tensor::InsertSliceOp, tensor::ExtractSliceOp, arith::ConstantOp>(
             op) ||
         isScalar(op);
}

bool rhizome::isHostOperation(Operation *op) {
  return isa<osa::ConstantOp, scf::ForOp>(op) || isHost(op) ||
         interp::isReal(op) || isCommon(op);
}

bool rhizome::isHostScalar(Operation *op) {
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    return scalarOf(constant).has_value();
  return isa<linalg::IndexOp, tensor::ExtractOp>(op) || meaningOf(op);
}

/// Visits the elements of the box that a slice of `whole` names: the place in
/// `whole` of each, in order. Where it begins may be computed; the operands
/// that say so begin at `first`. Fails if the box leaves the tensor.
template <typename Op>
static LogicalResult visitSlice(Op op, const Frame &frame, size_t first,
                                const Tensor &whole,
                                llvm::function_ref<void(int64_t, int64_t)> fn) {
  SmallVector<int64_t> begin(op.getStaticOffsets());
  for (int64_t &place : begin)
    if (ShapedType::isDynamic(place))
      place = frame.in[first++]->ints.front();
  ArrayRef<int64_t> size = op.getStaticSizes(), step = op.getStaticStrides();
  for (size_t d = 0; d < size.size(); ++d)
    if (ShapedType::isDynamic(size[d]) || ShapedType::isDynamic(step[d]) ||
        begin[d] < 0 ||
        (size[d] && begin[d] + (size[d] - 1) * step[d] >= whole.shape[d]))
      return op.emitOpError("reads or writes outside a tensor: a place that "
                            "the model computes is out of range");
  SmallVector<int64_t> at(size.size(), 0);
  int64_t total = ShapedType::getNumElements(size);
  for (int64_t n = 0; n < total; ++n) {
    int64_t place = 0;
    for (size_t d = 0; d < at.size(); ++d)
      place = place * whole.shape[d] + begin[d] + step[d] * at[d];
    fn(n, place);
    for (size_t d = at.size(); d-- > 0;) {
      if (++at[d] < size[d])
        break;
      at[d] = 0;
    }
  }
  return success();
}

static LogicalResult insertSlice(tensor::InsertSliceOp op, Frame &frame) {
  frame.out = *frame.in[1];
  const Tensor &part = *frame.in[0];
  return visitSlice(op, frame, 2, frame.out, [&](int64_t n, int64_t to) {
    if (part.isFloat)
      frame.out.floats[to] = part.floats[n];
    else
      frame.out.ints[to] = part.ints[n];
  });
}

static LogicalResult extractSlice(tensor::ExtractSliceOp op, Frame &frame) {
  const Tensor &whole = *frame.in[0];
  return visitSlice(op, frame, 1, whole, [&](int64_t n, int64_t from) {
    if (whole.isFloat)
      frame.out.floats[n] = whole.floats[from];
    else
      frame.out.ints[n] = whole.ints[from];
  });
}

static LogicalResult scalar(Operation *op, Frame &frame) {
  Scalar in[3], out;
  for (auto [i, t] : llvm::enumerate(frame.in)) {
    if (t->isFloat)
      in[i].f = t->floats.front();
    else
      in[i].i = t->ints.front();
  }
  meaningOf(op)(out, in[0], in[1], in[2]);
  if (frame.out.isFloat)
    frame.out.floats = {out.f};
  else
    frame.out.ints = {out.i};
  return success();
}

LogicalResult interp::evaluateHost(Frame &frame) {
  return llvm::TypeSwitch<Operation *, LogicalResult>(frame.op)
      .Case<linalg::GenericOp>([&](auto op) { return Nest(op, frame).run(); })
      .Case<linalg::FillOp>([&](auto) {
        const Tensor &value = *frame.in[0];
        for (float &f : frame.out.floats)
          f = value.floats[0];
        for (int64_t &i : frame.out.ints)
          i = value.ints[0];
        return success();
      })
      .Case<tensor::EmptyOp>([](auto) { return success(); })
      .Case<tensor::CollapseShapeOp, tensor::ExpandShapeOp>([&](auto) {
        frame.out.floats = frame.in[0]->floats;
        frame.out.ints = frame.in[0]->ints;
        return success();
      })
      .Case<tensor::InsertSliceOp>(
          [&](auto op) { return insertSlice(op, frame); })
      .Case<tensor::ExtractSliceOp>(
          [&](auto op) { return extractSlice(op, frame); })
      .Case<arith::ConstantOp>([&](arith::ConstantOp op) -> LogicalResult {
        auto value = scalarOf(op);
        if (!value)
          return op.emitOpError("is no constant scalar");
        if (frame.out.isFloat)
          frame.out.floats = {value->f};
        else
          frame.out.ints = {value->i};
        return success();
      })
      .Default([&](Operation *op) -> LogicalResult {
        if (isScalar(op))
          return scalar(op, frame);
        return op->emitOpError("is unknown to the interpreter");
      });
}
