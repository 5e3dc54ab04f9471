// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the host computes around the network (@prologue, @epilogue), as loops:
// real-level osa on f32, indices on i64, the border's integers in their
// storage. Loops that are there already stay as they are; the bodies of loops
// over time are lowered in place.
#include "RealToLinalg.h"
#include "RowsToLinalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "rhizome/Conversion/Storage.h"
#include "rhizome/Dialect/Osa/Matmul.h"
#include "rhizome/Dialect/Osa/Unary.h"
#include "rhizome/Support/LinalgLoops.h"
#include "llvm/ADT/TypeSwitch.h"
#include <cmath>

using namespace mlir;
using namespace rhizome;
using host::Loops;
using host::Scalars;

namespace {
using Shape = Loops::Shape;

/// What a value's type becomes.
RankedTensorType hostType(Type type, MLIRContext *context) {
  auto tensor = cast<RankedTensorType>(type);
  if (num::IntType i = num::elementInt(type))
    return RankedTensorType::get(
        tensor.getShape(), IntegerType::get(context, Storage::of(i).width));
  return tensor;
}

class RealLowering {
public:
  RealLowering(OpBuilder &builder, Location loc)
      : b(builder), loops(builder, loc) {}
  IRMapping values;

  LogicalResult convert(Operation *op);

private:
  Value in(Operation *op, unsigned i) {
    return values.lookup(op->getOperand(i));
  }
  LogicalResult give(Operation *op, Value v) {
    auto type = hostType(op->getResult(0).getType(), b.getContext());
    Type element = cast<RankedTensorType>(v.getType()).getElementType();
    if (element != type.getElementType())
      return op->emitOpError()
             << "gives integers in " << type.getElementType() << " that lie in "
             << element << "; among reals it has no CPU form";
    values.map(op->getResult(0), loops.reshape(v, type.getShape()));
    return success();
  }
  Value constant(ArrayRef<int64_t> shape, ArrayRef<float> content) {
    auto type = RankedTensorType::get(shape, b.getF32Type());
    return arith::ConstantOp::create(b, loops.loc,
                                     DenseElementsAttr::get(type, content));
  }
  Value constant(ArrayRef<int64_t> shape, ArrayRef<int64_t> content) {
    auto type = RankedTensorType::get(shape, b.getI64Type());
    return arith::ConstantOp::create(b, loops.loc,
                                     DenseElementsAttr::get(type, content));
  }
  AffineMap map(unsigned dims, ArrayRef<AffineExpr> exprs) {
    return AffineMap::get(dims, 0, exprs, b.getContext());
  }
  /// One value for all (axis −1), or one along an axis.
  AffineMap along(unsigned rank, int64_t axis, size_t count) {
    return map(rank, {count == 1 || axis < 0 ? b.getAffineConstantExpr(0)
                                             : loops.dim(unsigned(axis))});
  }
  AffineMap identity(unsigned rank) { return b.getMultiDimIdentityMap(rank); }

  LogicalResult constantOp(osa::ConstantOp op);
  LogicalResult quantize(osa::QuantizeOp op);
  LogicalResult multiThreshold(osa::MultiThresholdOp op);
  LogicalResult gather(osa::GatherOp op);
  /// Integers of a type in another storage that holds them.
  Value storedAs(Value x, num::IntType type, Type element);
  LogicalResult dequantize(osa::DequantizeOp op);
  LogicalResult conv2d(osa::Conv2dOp op);
  LogicalResult dense(osa::DenseOp op);
  LogicalResult matmul(osa::MatmulOp op);
  LogicalResult maxPool(osa::MaxPoolOp op);
  LogicalResult avgPool(osa::AvgPoolOp op);
  LogicalResult batchNorm(osa::BatchNormOp op);
  LogicalResult argMax(osa::ArgMaxOp op);
  LogicalResult repeated(scf::ForOp op);
  LogicalResult repeated(scf::WhileOp op);
  template <typename Fn> LogicalResult binary(Operation *op, Fn fn) {
    return give(op, loops.map({in(op, 0), in(op, 1)}, loops.real(), fn));
  }
  template <typename Fn> LogicalResult each(Operation *op, Fn fn) {
    return give(
        op, loops.map({in(op, 0)}, loops.real(),
                      [&](Scalars &s, ValueRange a) { return fn(s, a[0]); }));
  }

  OpBuilder &b;
  Loops loops;
};
} // namespace

LogicalResult RealLowering::constantOp(osa::ConstantOp op) {
  auto type = cast<RankedTensorType>(op.getResult().getType());
  TypedAttr attr;
  if (num::IntType i = num::elementInt(type))
    attr = cast<TypedAttr>(osa::makeIntAttr(
        b.getContext(), "host", type.getShape(),
        num::IntType::getFull(b.getContext(), true, Storage::of(i).width),
        *osa::constantInts(op.getResult())));
  else if (op.getValue().getElementType() == type.getElementType())
    attr = cast<TypedAttr>(op.getValue());
  else
    return op.emitOpError("holds another element type than its result");
  values.map(op.getResult(),
             Value(arith::ConstantOp::create(b, loops.loc, attr)));
  return success();
}

/// Zero points come as integers, or as whole floats (QONNX).
static std::vector<int64_t> zeroPoints(ElementsAttr attr) {
  if (isa<FloatType>(attr.getElementType())) {
    std::vector<float> reals = osa::floatValues(attr);
    return {reals.begin(), reals.end()};
  }
  return osa::intValues(attr, !attr.getElementType().isUnsignedInteger());
}

/// x rounded to a whole number, in f64 where f32 could round twice.
static Value rounded(Scalars &s, osa::Rounding mode, Value x) {
  auto doubled = [&](double half, auto round) {
    Value wide = arith::ExtFOp::create(s.b, s.loc, s.b.getF64Type(), x);
    Value h = arith::ConstantOp::create(s.b, s.loc, s.b.getF64FloatAttr(half));
    wide = round(arith::AddFOp::create(s.b, s.loc, wide, h));
    return Value(arith::TruncFOp::create(s.b, s.loc, s.b.getF32Type(), wide));
  };
  auto halfUp = [&] {
    return doubled(0.5, [&](Value v) { return s.apply<math::FloorOp>(v); });
  };
  auto halfDown = [&] {
    return doubled(-0.5, [&](Value v) { return s.apply<math::CeilOp>(v); });
  };
  switch (mode) {
  case osa::Rounding::HalfEven:
    return s.apply<math::RoundEvenOp>(x);
  case osa::Rounding::HalfUp:
    return halfUp();
  case osa::Rounding::HalfDown:
    return halfDown();
  case osa::Rounding::HalfAway:
    return s.apply<math::RoundOp>(x);
  case osa::Rounding::HalfTowardZero: {
    Value isNegative = s.less(x, s.real(0));
    return s.select(isNegative, halfUp(), halfDown());
  }
  case osa::Rounding::TowardZero:
    return s.apply<math::TruncOp>(x);
  case osa::Rounding::AwayFromZero:
    return s.select(s.less(x, s.real(0)), s.apply<math::FloorOp>(x),
                    s.apply<math::CeilOp>(x));
  case osa::Rounding::Up:
    return s.apply<math::CeilOp>(x);
  case osa::Rounding::Down:
    return s.apply<math::FloorOp>(x);
  case osa::Rounding::Sign:
    return s.select(s.notLess(x, s.real(0)), s.real(1), s.real(-1));
  }
  llvm_unreachable("every rounding is handled");
}

LogicalResult RealLowering::quantize(osa::QuantizeOp op) {
  Value x = in(op, 0);
  unsigned rank = loops.shapeOf(x).size();
  std::vector<float> scale = osa::floatValues(op.getScale());
  std::vector<int64_t> zero = zeroPoints(op.getZeroPoint());
  int64_t axis = int64_t(op.getAxis());
  num::IntType type = num::elementInt(op.getOutput().getType());
  Type element = hostType(op.getType(), b.getContext()).getElementType();
  Value out =
      loops.loop(loops.shapeOf(x), {}, element, {},
                 {{x, identity(rank)},
                  {constant({int64_t(scale.size())}, scale),
                   along(rank, axis, scale.size())},
                  {constant({int64_t(zero.size())}, zero),
                   along(rank, axis, zero.size())}},
                 [&](Scalars &s, ValueRange a) -> Value {
                   Value r = rounded(s, op.getRounding(), s.div(a[0], a[1]));
                   // What the conversion takes; beyond it everything saturates.
                   r = s.min(s.max(r, s.real(-0x1p62)), s.real(0x1p62));
                   Value q = s.add(s.toWhole(r), a[2]);
                   q = s.max(q, s.whole(type.getLo()));
                   q = s.min(q, s.whole(type.getHi()));
                   if (element.isInteger(64))
                     return q;
                   return arith::TruncIOp::create(s.b, s.loc, element, q);
                 });
  return give(op, out);
}

LogicalResult RealLowering::multiThreshold(osa::MultiThresholdOp op) {
  Value x = in(op, 0);
  unsigned rank = loops.shapeOf(x).size();
  auto shape = op.getThresholds().getShapedType().getShape();
  Value limits = constant(shape, osa::floatValues(op.getThresholds()));
  AffineExpr channel =
      shape[0] == 1 ? b.getAffineConstantExpr(0) : loops.dim(rank - 1);
  Type element = hostType(op.getType(), b.getContext()).getElementType();
  Value count = loops.loop(
      loops.shapeOf(x), {shape[1]}, element, loops.number(0, element),
      {{x, map(rank + 1, b.getMultiDimIdentityMap(rank).getResults())},
       {limits, map(rank + 1, {channel, loops.dim(rank)})}},
      [&](Scalars &s, ValueRange a) -> Value {
        Value reached = s.notLess(a[0], a[1]);
        return s.add(a[2],
                     arith::ExtUIOp::create(s.b, s.loc, element, reached));
      });
  return give(op, count);
}

LogicalResult RealLowering::gather(osa::GatherOp op) {
  Value x = in(op, 0);
  Value places = constant({int64_t(op.getIndices().size())}, op.getIndices());
  Type element = cast<RankedTensorType>(x.getType()).getElementType();
  unsigned rank = loops.shapeOf(x).size(), axis = unsigned(op.getAxis());
  return give(op, loops.each(loops.shapeOf(op.getOutput()), element,
                             [&](Scalars &s, ValueRange) {
                               SmallVector<Value> at;
                               for (unsigned i = 0; i < rank; ++i)
                                 at.push_back(s.index(i));
                               at[axis] = s.at(places, {at[axis]});
                               return s.at(x, at);
                             }));
}

/// A stored integer in i64.
static Value extended(Scalars &s, Value q, num::IntType type) {
  Type wide = s.b.getI64Type();
  if (q.getType() == wide)
    return q;
  if (Storage::of(type).isSigned)
    return arith::ExtSIOp::create(s.b, s.loc, wide, q);
  return arith::ExtUIOp::create(s.b, s.loc, wide, q);
}

Value RealLowering::storedAs(Value x, num::IntType type, Type element) {
  if (cast<RankedTensorType>(x.getType()).getElementType() == element)
    return x;
  return loops.loop(loops.shapeOf(x), {}, element, {},
                    {{x, identity(unsigned(loops.shapeOf(x).size()))}},
                    [&](Scalars &s, ValueRange a) -> Value {
                      Value q = extended(s, a[0], type);
                      if (q.getType() == element)
                        return q;
                      return arith::TruncIOp::create(s.b, s.loc, element, q);
                    });
}

LogicalResult RealLowering::dequantize(osa::DequantizeOp op) {
  Value x = in(op, 0);
  unsigned rank = loops.shapeOf(x).size();
  std::vector<float> scale = osa::floatValues(op.getScale());
  std::vector<int64_t> zero = zeroPoints(op.getZeroPoint());
  int64_t axis = int64_t(op.getAxis());
  num::IntType type = num::elementInt(op.getInput().getType());
  Value out = loops.loop(loops.shapeOf(x), {}, loops.real(), {},
                         {{x, identity(rank)},
                          {constant({int64_t(scale.size())}, scale),
                           along(rank, axis, scale.size())},
                          {constant({int64_t(zero.size())}, zero),
                           along(rank, axis, zero.size())}},
                         [&](Scalars &s, ValueRange a) -> Value {
                           Value q = extended(s, a[0], type);
                           return s.mul(s.toReal(s.sub(q, a[2])), a[1]);
                         });
  return give(op, out);
}

LogicalResult RealLowering::conv2d(osa::Conv2dOp op) {
  osa::Window w = *osa::getWindow(op);
  int64_t groups = op.getGroups(), outs = loops.shapeOf(op.getOutput()).back();
  int64_t perIn = w.channels / groups, perOut = outs / groups;
  int64_t bottom = std::max<int64_t>(0, (w.outHeight - 1) * w.strideH +
                                            w.spanH() - w.padTop - w.height);
  int64_t right = std::max<int64_t>(0, (w.outWidth - 1) * w.strideW +
                                           w.spanW() - w.padLeft - w.width);
  Value x = loops.pad(in(op, 0), {0, w.padTop, w.padLeft, 0},
                      {0, bottom, right, 0}, b.getF32FloatAttr(0));
  x = loops.reshape(x,
                    {loops.shapeOf(x)[1], loops.shapeOf(x)[2], groups, perIn});
  Value f =
      loops.reshape(in(op, 1), {groups, perOut, w.kernelH, w.kernelW, perIn});
  auto d = [&](unsigned i) { return loops.dim(i); };
  // y, x, group, output | row, column, input
  AffineMap readIn =
      map(7, {d(0) * w.strideH + d(4) * w.dilationH,
              d(1) * w.strideW + d(5) * w.dilationW, d(2), d(6)});
  AffineMap readFilter = map(7, {d(2), d(3), d(4), d(5), d(6)});
  Value sum = loops.loop(
      {w.outHeight, w.outWidth, groups, perOut}, {w.kernelH, w.kernelW, perIn},
      loops.real(), b.getF32FloatAttr(0), {{x, readIn}, {f, readFilter}},
      [](Scalars &s, ValueRange a) { return s.add(a[2], s.mul(a[0], a[1])); });
  sum = loops.reshape(sum, {1, w.outHeight, w.outWidth, outs});
  if (op.getBias())
    sum = loops.map({sum, in(op, 2)}, loops.real(),
                    [](Scalars &s, ValueRange a) { return s.add(a[0], a[1]); });
  return give(op, sum);
}

LogicalResult RealLowering::dense(osa::DenseOp op) {
  Value x = in(op, 0), w = in(op, 1);
  int64_t outs = loops.shapeOf(w)[0], ins = loops.shapeOf(w)[1];
  int64_t rows = ShapedType::getNumElements(loops.shapeOf(x).drop_back());
  auto d = [&](unsigned i) { return loops.dim(i); };
  Value sum = loops.loop(
      {rows, outs}, {ins}, loops.real(), b.getF32FloatAttr(0),
      {{loops.reshape(x, {rows, ins}), map(3, {d(0), d(2)})},
       {w, map(3, {d(1), d(2)})}},
      [](Scalars &s, ValueRange a) { return s.add(a[2], s.mul(a[0], a[1])); });
  if (op.getBias())
    sum = loops.map({sum, in(op, 2)}, loops.real(),
                    [](Scalars &s, ValueRange a) { return s.add(a[0], a[1]); });
  return give(op, sum);
}

LogicalResult RealLowering::matmul(osa::MatmulOp op) {
  const osa::MatmulShape s = osa::matmulShape(op);
  auto d = [&](unsigned i) { return loops.dim(i); };
  SmallVector<AffineExpr> right(3);
  right[s.axes[0]] = d(1);
  right[s.axes[1]] = d(4);
  right[s.axes[2]] = d(3);
  return give(op, loops.loop({s.outer, s.batch, s.rows, s.columns}, {s.inner},
                             loops.real(), b.getF32FloatAttr(0),
                             {{in(op, 0), map(5, {d(0), d(1), d(2), d(4)})},
                              {in(op, 1), map(5, right)}},
                             [](Scalars &at, ValueRange a) {
                               return at.add(a[2], at.mul(a[0], a[1]));
                             }));
}

/// How a pool's source [H, W, C] is read by the loops y, x, c | row, column.
static AffineMap poolMap(OpBuilder &b, const osa::Window &w) {
  auto d = [&](unsigned i) { return b.getAffineDimExpr(i); };
  return AffineMap::get(5, 0,
                        {d(0) * w.strideH + d(3) * w.dilationH,
                         d(1) * w.strideW + d(4) * w.dilationW, d(2)},
                        b.getContext());
}

LogicalResult RealLowering::maxPool(osa::MaxPoolOp op) {
  osa::Window w = *osa::getWindow(op);
  Value x = in(op, 0);
  Type element = cast<RankedTensorType>(x.getType()).getElementType();
  bool isUnsigned = false;
  TypedAttr least;
  if (num::IntType i = num::elementInt(op.getInput().getType())) {
    isUnsigned = !Storage::of(i).isSigned;
    least = b.getIntegerAttr(element, i.getLo());
  } else if (isa<FloatType>(element)) {
    least = b.getF32FloatAttr(-std::numeric_limits<float>::infinity());
  } else {
    least = b.getI64IntegerAttr(INT64_MIN);
  }
  x = loops.pad(x, {0, w.padTop, w.padLeft, 0}, {0, w.padBottom, w.padRight, 0},
                least);
  x = loops.reshape(x, loops.shapeOf(x).drop_front());
  return give(op,
              loops.loop({w.outHeight, w.outWidth, w.channels},
                         {w.kernelH, w.kernelW}, element, least,
                         {{x, poolMap(b, w)}}, [&](Scalars &s, ValueRange a) {
                           return s.max(a[0], a[1], isUnsigned);
                         }));
}

LogicalResult RealLowering::avgPool(osa::AvgPoolOp op) {
  osa::Window w = *osa::getWindow(op);
  Value x = loops.pad(in(op, 0), {0, w.padTop, w.padLeft, 0},
                      {0, w.padBottom, w.padRight, 0}, b.getF32FloatAttr(0));
  x = loops.reshape(x, loops.shapeOf(x).drop_front());
  Value sum =
      loops.loop({w.outHeight, w.outWidth, w.channels}, {w.kernelH, w.kernelW},
                 loops.real(), b.getF32FloatAttr(0), {{x, poolMap(b, w)}},
                 [](Scalars &s, ValueRange a) { return s.add(a[1], a[0]); });
  std::vector<float> divisors;
  auto inside = [](int64_t from, int64_t kernel, int64_t step, int64_t size) {
    int64_t n = 0;
    for (int64_t k = 0; k < kernel; ++k)
      n += from + k * step >= 0 && from + k * step < size;
    return n;
  };
  for (int64_t y = 0; y < w.outHeight; ++y)
    for (int64_t c = 0; c < w.outWidth; ++c)
      divisors.push_back(
          float(op.getCountIncludePad()
                    ? w.kernelH * w.kernelW
                    : inside(y * w.strideH - w.padTop, w.kernelH, w.dilationH,
                             w.height) *
                          inside(c * w.strideW - w.padLeft, w.kernelW,
                                 w.dilationW, w.width)));
  Value counts = constant({w.outHeight, w.outWidth, 1}, divisors);
  return give(
      op, loops.map({sum, counts}, loops.real(), [](Scalars &s, ValueRange a) {
        return s.div(a[0], a[1]);
      }));
}

LogicalResult RealLowering::batchNorm(osa::BatchNormOp op) {
  auto gamma = osa::floatValues(op.getGamma()),
       beta = osa::floatValues(op.getBeta()),
       mean = osa::floatValues(op.getMean()),
       variance = osa::floatValues(op.getVariance());
  double epsilon = op.getEpsilon().convertToFloat();
  size_t n =
      std::max({gamma.size(), beta.size(), mean.size(), variance.size()});
  auto at = [](const std::vector<float> &v, size_t i) -> double {
    return v[v.size() == 1 ? 0 : i];
  };
  std::vector<float> factor(n), term(n);
  for (size_t i = 0; i < n; ++i) {
    double f = at(gamma, i) / std::sqrt(at(variance, i) + epsilon);
    factor[i] = float(f);
    term[i] = float(at(beta, i) - f * at(mean, i));
  }
  Value f = constant({int64_t(n)}, factor), t = constant({int64_t(n)}, term);
  return give(op, loops.map({in(op, 0), f, t}, loops.real(),
                            [](Scalars &s, ValueRange a) {
                              return s.add(s.mul(a[0], a[1]), a[2]);
                            }));
}

LogicalResult RealLowering::argMax(osa::ArgMaxOp op) {
  Value x = in(op, 0);
  if (num::IntType type = num::elementInt(op.getInput().getType()))
    x = loops.map({x}, b.getI64Type(), [&](Scalars &s, ValueRange a) {
      return extended(s, a[0], type);
    });
  int64_t axis = int64_t(op.getAxis());
  SmallVector<bool> axes(loops.shapeOf(x).size(), false);
  axes[axis < 0 ? axis + int64_t(axes.size()) : axis] = true;
  return give(op, loops.argMax(x, axes, op.getSelectLast()));
}

/// A body with a trip count, operation by operation.
LogicalResult RealLowering::repeated(scf::ForOp op) {
  auto mapped = [&](Value v) { return values.lookupOrDefault(v); };
  auto made = scf::ForOp::create(
      b, op.getLoc(), mapped(op.getLowerBound()), mapped(op.getUpperBound()),
      mapped(op.getStep()), llvm::map_to_vector(op.getInitArgs(), mapped));
  values.map(op.getInductionVar(), made.getInductionVar());
  values.map(op.getRegionIterArgs(), made.getRegionIterArgs());
  values.map(op.getResults(), made.getResults());
  Operation *end = op.getBody()->getTerminator();
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(made.getBody());
  for (Operation &inner : op.getBody()->without_terminator())
    if (failed(convert(&inner)))
      return failure();
  if (end->getNumOperands())
    scf::YieldOp::create(b, end->getLoc(),
                         llvm::map_to_vector(end->getOperands(), mapped));
  return success();
}

/// A body with a condition, operation by operation.
LogicalResult RealLowering::repeated(scf::WhileOp op) {
  auto mapped = [&](Value v) { return values.lookupOrDefault(v); };
  auto all = [&](ValueRange range) {
    return llvm::map_to_vector(range, mapped);
  };
  SmallVector<Value> inits = all(op.getInits());
  OpBuilder::InsertionGuard guard(b);
  auto made =
      scf::WhileOp::create(b, op.getLoc(), ValueRange(inits).getTypes(), inits);
  values.map(op.getResults(), made.getResults());
  const SmallVector<Location> locations(inits.size(), op.getLoc());
  for (auto [from, to] : {std::pair(op.getBeforeBody(), &made.getBefore()),
                          std::pair(op.getAfterBody(), &made.getAfter())}) {
    Block *block =
        b.createBlock(to, {}, ValueRange(inits).getTypes(), locations);
    values.map(from->getArguments(), block->getArguments());
    for (Operation &inner : from->without_terminator())
      if (failed(convert(&inner)))
        return failure();
    Location end = from->getTerminator()->getLoc();
    if (auto condition = dyn_cast<scf::ConditionOp>(from->getTerminator()))
      scf::ConditionOp::create(b, end, mapped(condition.getCondition()),
                               all(condition.getArgs()));
    else
      scf::YieldOp::create(b, end, all(from->getTerminator()->getOperands()));
  }
  return success();
}

LogicalResult RealLowering::convert(Operation *op) {
  loops.loc = op->getLoc();
  Dialect *dialect = op->getDialect();
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return repeated(loop);
  if (auto loop = dyn_cast<scf::WhileOp>(op))
    return repeated(loop);
  if (auto call = dyn_cast<func::CallOp>(op)) {
    auto types = llvm::map_to_vector(call.getResultTypes(), [&](Type type) {
      return Type(hostType(type, b.getContext()));
    });
    SmallVector<Value> given;
    for (Value v : call.getOperands())
      given.push_back(values.lookup(v));
    auto made = func::CallOp::create(b, loops.loc, call.getCallee(),
                                     TypeRange(types), given);
    values.map(call.getResults(), made.getResults());
    return success();
  }
  if (!isa<osa::OsaDialect>(dialect)) {
    b.clone(*op, values);
    return success();
  }
  if (isa<osa::Conv2dOp, osa::DenseOp, osa::MatmulOp>(op))
    for (Value v : op->getOperands())
      if (num::elementInt(v.getType()))
        return op->emitOpError("takes integers; among reals it has no CPU "
                               "form");
  auto softmaxAxis = [](osa::SoftmaxOp o) {
    int64_t axis = int64_t(o.getAxis());
    return axis < 0 ? axis + cast<RankedTensorType>(o.getType()).getRank()
                    : axis;
  };
  using S = Scalars;
  using R = ValueRange;
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case<osa::ConstantOp>([&](auto o) { return constantOp(o); })
      .Case<osa::QuantizeOp>([&](auto o) { return quantize(o); })
      .Case<osa::DequantizeOp>([&](auto o) { return dequantize(o); })
      .Case<osa::MultiThresholdOp>([&](auto o) { return multiThreshold(o); })
      .Case<osa::GatherOp>([&](auto o) { return gather(o); })
      .Case<osa::MaxOp>([&](auto o) {
        return binary(o, [](S &s, R a) { return s.max(a[0], a[1]); });
      })
      .Case<osa::MinOp>([&](auto o) {
        return binary(o, [](S &s, R a) { return s.min(a[0], a[1]); });
      })
      .Case<osa::Conv2dOp>([&](auto o) { return conv2d(o); })
      .Case<osa::DenseOp>([&](auto o) { return dense(o); })
      .Case<osa::MatmulOp>([&](auto o) { return matmul(o); })
      .Case<osa::MaxPoolOp>([&](auto o) { return maxPool(o); })
      .Case<osa::AvgPoolOp>([&](auto o) { return avgPool(o); })
      .Case<osa::BatchNormOp>([&](auto o) { return batchNorm(o); })
      .Case<osa::UnaryOp>([&](auto o) {
        return each(o, [&](S &s, Value x) {
          return osa::applyUnary(s, o.getKind(), x);
        });
      })
      .Case<osa::ArgMaxOp>([&](auto o) { return argMax(o); })
      .Case<osa::NormalizeOp>(
          [&](auto o) { return give(o, normalizeLoops(loops, o, in(o, 0))); })
      .Case<osa::SoftmaxOp>([&](auto o) {
        return give(o, loops.softmax(in(o, 0), softmaxAxis(o), o.getLog()));
      })
      .Case<osa::AddOp>([&](auto o) {
        return binary(o, [](S &s, R a) { return s.add(a[0], a[1]); });
      })
      .Case<osa::SubOp>([&](auto o) {
        return binary(o, [](S &s, R a) { return s.sub(a[0], a[1]); });
      })
      .Case<osa::MulOp>([&](auto o) {
        return binary(o, [](S &s, R a) { return s.mul(a[0], a[1]); });
      })
      .Case<osa::DivOp>([&](auto o) {
        return binary(o, [](S &s, R a) { return s.div(a[0], a[1]); });
      })
      .Case<osa::ReluOp>([&](auto o) {
        return each(o, [](S &s, Value x) {
          return s.select(s.less(x, s.real(0)), s.real(0), x);
        });
      })
      .Case<osa::LeakyReluOp>([&](auto o) {
        double alpha = o.getAlpha().convertToFloat();
        return each(o, [=](S &s, Value x) {
          return s.select(s.less(x, s.real(0)), s.mul(x, s.real(alpha)), x);
        });
      })
      .Case<osa::ClipOp>([&](auto o) {
        double lo = o.getMin().convertToFloat(),
               hi = o.getMax().convertToFloat();
        return each(o, [=](S &s, Value x) {
          return s.min(s.max(x, s.real(lo)), s.real(hi));
        });
      })
      .Case<osa::ReshapeOp>([&](auto o) { return give(o, in(o, 0)); })
      .Case<osa::TransposeOp>([&](auto o) {
        return give(o, loops.transpose(in(o, 0), o.getPermutation()));
      })
      .Case<osa::ConcatOp>([&](osa::ConcatOp o) -> LogicalResult {
        Type element = hostType(o.getType(), b.getContext()).getElementType();
        SmallVector<Value> parts;
        for (auto [i, input] : llvm::enumerate(o.getInputs()))
          parts.push_back(storedAs(in(o, unsigned(i)),
                                   num::elementInt(input.getType()), element));
        return give(o, loops.concat(parts, o.getAxis()));
      })
      .Case<osa::PadOp>([&](osa::PadOp o) {
        Type element = hostType(o.getType(), b.getContext()).getElementType();
        Value x = storedAs(in(o, 0), num::elementInt(o.getInput().getType()),
                           element);
        return give(o, loops.pad(x, o.getLow(), o.getHigh(),
                                 loops.number(o.getValue().convertToDouble(),
                                              element)));
      })
      .Default([](Operation *other) {
        return other->emitOpError("has no CPU form at the real level");
      });
}

LogicalResult rhizome::convertRealFunction(func::FuncOp func) {
  MLIRContext *context = func.getContext();
  auto stored = [&](Type type) -> Type { return hostType(type, context); };
  Block &old = func.getBody().front();
  auto *fresh = new Block();
  func.getBody().push_back(fresh);
  OpBuilder builder = OpBuilder::atBlockBegin(fresh);
  RealLowering lowering(builder, func.getLoc());
  for (BlockArgument arg : old.getArguments())
    lowering.values.map(
        arg, fresh->addArgument(stored(arg.getType()), arg.getLoc()));
  for (Operation &op : old)
    if (failed(lowering.convert(&op)))
      return failure();
  old.dropAllReferences();
  old.erase();
  func.setType(FunctionType::get(
      context, llvm::map_to_vector(func.getArgumentTypes(), stored),
      llvm::map_to_vector(func.getResultTypes(), stored)));
  return success();
}
