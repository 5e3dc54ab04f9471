// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Scalars and loops as arith, math, tensor and linalg. Sums of reals may be
// taken in any order, which lets the CPU path vectorize them.
#include "rhizome/Support/LinalgLoops.h"
#include "mlir/Dialect/Utils/ReshapeOpsUtils.h"
#include "rhizome/Dialect/Marks/Marks.h"
#include <limits>

using namespace mlir;
using namespace rhizome::host;
using llvm::ArrayRef;
using llvm::SmallVector;
using llvm::StringRef;

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

std::optional<Check> Check::of(Operation *op) {
  auto what = op->getAttrOfType<StringAttr>(marks::kCheck);
  auto range = op->getAttrOfType<DenseI64ArrayAttr>(marks::kCheckRange);
  if (!what || !range || range.size() != 2 || !isa<arith::SelectOp>(op))
    return std::nullopt;
  Check check{"", what.str(), range[0], range[1]};
  // A node of ONNX, or a place in a file of MLIR.
  op->getLoc()->walk([&](Location inner) {
    if (auto at = dyn_cast<FileLineColLoc>(inner); at && check.node.empty())
      check.node =
          (at.getFilename().getValue() + ":" + llvm::Twine(at.getLine()) + ":" +
           llvm::Twine(at.getColumn()))
              .str();
    auto named = dyn_cast<NameLoc>(inner);
    if (!named)
      return WalkResult::advance();
    check.node = named.getName().str();
    return WalkResult::interrupt();
  });
  return check;
}

std::string Check::message(int64_t value, int64_t element) const {
  std::string text = "its " + what + " at element " + std::to_string(element) +
                     " is " + std::to_string(value);
  if (lo <= hi)
    text +=
        ", it must be from " + std::to_string(lo) + " to " + std::to_string(hi);
  return text;
}

Value Scalars::checked(Value holds, Value v, Value instead, StringRef what,
                       int64_t lo, int64_t hi) {
  auto op = arith::SelectOp::create(b, loc, holds, v, instead);
  op->setAttr(marks::kCheck, b.getStringAttr(what));
  op->setAttr(marks::kCheckRange, b.getDenseI64ArrayAttr({lo, hi}));
  return op;
}
Value Scalars::within(Value v, int64_t lo, int64_t hi, StringRef what) {
  Value holds = both(notLess(v, whole(lo)), notLess(whole(hi), v));
  return checked(holds, v, whole(lo), what, lo, hi);
}
Value Scalars::divisor(Value v) {
  Value holds =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, v, whole(0));
  return checked(holds, v, whole(1), "divisor", 1, 0);
}

//===----------------------------------------------------------------------===//
// Accesses
//===----------------------------------------------------------------------===//

namespace {
/// The least and the greatest value of an expression.
struct Span {
  int64_t lo = 0, hi = 0;
};
} // namespace

/// The span of an affine expression of loops that begin at 0; nullopt if it is
/// not known or too large.
static std::optional<Span> spanOf(AffineExpr expr, ArrayRef<int64_t> extents) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return Span{constant.getValue(), constant.getValue()};
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return Span{0, extents[dim.getPosition()] - 1};
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return std::nullopt;
  std::optional<Span> a = spanOf(binary.getLHS(), extents),
                      b = spanOf(binary.getRHS(), extents);
  if (!a || !b)
    return std::nullopt;
  Span all;
  if (expr.getKind() == AffineExprKind::Add)
    return llvm::AddOverflow(a->lo, b->lo, all.lo) ||
                   llvm::AddOverflow(a->hi, b->hi, all.hi)
               ? std::nullopt
               : std::optional(all);
  if (b->lo != b->hi)
    return std::nullopt;
  const int64_t factor = b->lo;
  switch (expr.getKind()) {
  case AffineExprKind::Mul:
    if (llvm::MulOverflow(a->lo, factor, all.lo) ||
        llvm::MulOverflow(a->hi, factor, all.hi))
      return std::nullopt;
    return factor < 0 ? Span{all.hi, all.lo} : all;
  case AffineExprKind::Mod:
    if (factor < 1)
      return std::nullopt;
    return a->lo >= 0 && a->hi < factor ? *a : Span{0, factor - 1};
  case AffineExprKind::FloorDiv:
    if (factor < 1)
      return std::nullopt;
    return Span{llvm::divideFloorSigned(a->lo, factor),
                llvm::divideFloorSigned(a->hi, factor)};
  case AffineExprKind::CeilDiv:
    if (factor < 1)
      return std::nullopt;
    return Span{llvm::divideCeilSigned(a->lo, factor),
                llvm::divideCeilSigned(a->hi, factor)};
  default:
    return std::nullopt;
  }
}

LogicalResult rhizome::host::checkAccesses(linalg::LinalgOp op) {
  SmallVector<int64_t> extents = op.getStaticLoopRanges();
  if (op.hasDynamicShape() || llvm::is_contained(extents, 0))
    return success();
  for (OpOperand &operand : op->getOpOperands()) {
    auto type = dyn_cast<ShapedType>(operand.get().getType());
    if (!type)
      continue;
    AffineMap map = op.getMatchingIndexingMap(&operand);
    for (auto [expr, size] : llvm::zip(map.getResults(), type.getShape())) {
      std::optional<Span> span = spanOf(expr, extents);
      if (!span || span->lo < 0 || span->hi >= size)
        return op->emitOpError("reads or writes outside of operand ")
               << operand.getOperandNumber() << ": its map is "
               << AffineMapAttr::get(map);
    }
  }
  return success();
}

LogicalResult rhizome::host::checkAccesses(ModuleOp module) {
  return failure(module
                     ->walk([](linalg::LinalgOp op) {
                       return WalkResult(checkAccesses(op));
                     })
                     .wasInterrupted());
}

//===----------------------------------------------------------------------===//
// Scalars
//===----------------------------------------------------------------------===//

Value Scalars::real(double value) {
  return arith::ConstantOp::create(b, loc, b.getF32FloatAttr(float(value)));
}
Value Scalars::whole(int64_t value) {
  return arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(value));
}
Value Scalars::number(double value, Value like) {
  if (!isReal(like))
    return whole(int64_t(value));
  return arith::ConstantOp::create(b, loc,
                                   b.getFloatAttr(like.getType(), value));
}
Value Scalars::index(unsigned dimension) {
  return arith::IndexCastOp::create(b, loc, b.getI64Type(),
                                    linalg::IndexOp::create(b, loc, dimension));
}
Value Scalars::at(Value tensor, ArrayRef<Value> indices) {
  SmallVector<Value> places;
  for (Value i : indices)
    places.push_back(arith::IndexCastOp::create(b, loc, b.getIndexType(), i));
  return tensor::ExtractOp::create(b, loc, tensor, places);
}

Value Scalars::add(Value x, Value y) {
  if (isReal(x))
    return arith::AddFOp::create(b, loc, x, y, arith::FastMathFlags::reassoc);
  return arith::AddIOp::create(b, loc, x, y);
}
Value Scalars::sub(Value x, Value y) {
  return isReal(x) ? apply<arith::SubFOp>(x, y) : apply<arith::SubIOp>(x, y);
}
Value Scalars::mul(Value x, Value y) {
  return isReal(x) ? apply<arith::MulFOp>(x, y) : apply<arith::MulIOp>(x, y);
}
Value Scalars::div(Value x, Value y, bool isUnsigned) {
  if (isReal(x))
    return apply<arith::DivFOp>(x, y);
  return isUnsigned ? apply<arith::DivUIOp>(x, y) : apply<arith::DivSIOp>(x, y);
}
Value Scalars::rem(Value x, Value y, bool isUnsigned) {
  if (isReal(x))
    return apply<arith::RemFOp>(x, y);
  return isUnsigned ? apply<arith::RemUIOp>(x, y) : apply<arith::RemSIOp>(x, y);
}
Value Scalars::max(Value x, Value y, bool isUnsigned) {
  if (isReal(x))
    return apply<arith::MaximumFOp>(x, y);
  return isUnsigned ? apply<arith::MaxUIOp>(x, y) : apply<arith::MaxSIOp>(x, y);
}
Value Scalars::min(Value x, Value y, bool isUnsigned) {
  if (isReal(x))
    return apply<arith::MinimumFOp>(x, y);
  return isUnsigned ? apply<arith::MinUIOp>(x, y) : apply<arith::MinSIOp>(x, y);
}
Value Scalars::less(Value x, Value y, bool isUnsigned) {
  if (isReal(x))
    return arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OLT, x, y);
  return arith::CmpIOp::create(
      b, loc,
      isUnsigned ? arith::CmpIPredicate::ult : arith::CmpIPredicate::slt, x, y);
}
Value Scalars::notLess(Value x, Value y, bool isUnsigned) {
  if (isReal(x))
    return arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OGE, x, y);
  return arith::CmpIOp::create(
      b, loc,
      isUnsigned ? arith::CmpIPredicate::uge : arith::CmpIPredicate::sge, x, y);
}
Value Scalars::equal(Value x, Value y) {
  if (isReal(x))
    return arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OEQ, x, y);
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, x, y);
}
Value Scalars::select(Value condition, Value x, Value y) {
  return arith::SelectOp::create(b, loc, condition, x, y);
}
Value Scalars::both(Value x, Value y) { return apply<arith::AndIOp>(x, y); }
Value Scalars::either(Value x, Value y) { return apply<arith::OrIOp>(x, y); }
Value Scalars::exclusive(Value x, Value y) {
  return apply<arith::XOrIOp>(x, y);
}
Value Scalars::truth(Value v) {
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, v, whole(0));
}
Value Scalars::flag(Value v) {
  return arith::ExtUIOp::create(b, loc, b.getI64Type(), v);
}
Value Scalars::toReal(Value v, bool isUnsigned, Type type) {
  if (!type)
    type = b.getF32Type();
  if (isUnsigned)
    return arith::UIToFPOp::create(b, loc, type, v);
  return arith::SIToFPOp::create(b, loc, type, v);
}
Value Scalars::toWhole(Value v) {
  return arith::FPToSIOp::create(b, loc, b.getI64Type(), v);
}
Value Scalars::wrap(Value v, unsigned width, bool isSigned) {
  if (width >= 64)
    return v;
  Value narrow = arith::TruncIOp::create(b, loc, b.getIntegerType(width), v);
  if (isSigned)
    return arith::ExtSIOp::create(b, loc, b.getI64Type(), narrow);
  return arith::ExtUIOp::create(b, loc, b.getI64Type(), narrow);
}
Value Scalars::rounded(Value x, FloatType half) {
  // On the bits of |x|, which is the same on every processor: fewer bits of the
  // mantissa remain, and a carry reaches the exponent.
  Type i32 = b.getI32Type();
  auto bits = [&](uint32_t v) -> Value {
    return arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(int32_t(v)));
  };
  unsigned dropped = half.isBF16() ? 16 : 13;
  Value pattern = arith::BitcastOp::create(b, loc, i32, x);
  Value sign = both(pattern, bits(0x80000000u));
  Value size = both(pattern, bits(0x7fffffffu));
  Value odd = both(apply<arith::ShRUIOp>(size, bits(dropped)), bits(1));
  Value up = add(size, add(odd, bits((1u << (dropped - 1)) - 1)));
  Value cut = both(up, bits(~((1u << dropped) - 1)));
  auto real = [&](Value v) -> Value {
    return arith::BitcastOp::create(b, loc, b.getF32Type(), v);
  };
  if (half.isF16()) {
    // Below the smallest normal number 2^-14, multiples of
    // 2^-24 remain, which is float32's spacing from 0.5 on. Fast-math flags
    // must not undo this.
    Value tiny = real(size), offset = this->real(0.5);
    tiny = sub(apply<arith::AddFOp>(tiny, offset), offset);
    Value isTiny = less(real(size), this->real(0x1p-14));
    cut = select(isTiny, arith::BitcastOp::create(b, loc, i32, tiny), cut);
    Value isHuge = notLess(real(cut), this->real(0x1p16));
    cut = select(isHuge, bits(0x7f800000u), cut);
  }
  return select(equal(x, x), real(either(cut, sign)), x);
}
Value Scalars::gaussian(Value x) {
  return add(erf(mul(x, real(M_SQRT1_2))), real(1));
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

ArrayRef<int64_t> Loops::shapeOf(Value v) {
  return cast<RankedTensorType>(v.getType()).getShape();
}
bool Loops::isReal(Value v) {
  return isa<FloatType>(cast<RankedTensorType>(v.getType()).getElementType());
}

std::optional<Loops::Shape> Loops::broadcast(ArrayRef<int64_t> x,
                                             ArrayRef<int64_t> y) {
  Shape out(std::max(x.size(), y.size()));
  for (size_t i = 0; i < out.size(); ++i) {
    int64_t p = i < x.size() ? x[x.size() - 1 - i] : 1;
    int64_t q = i < y.size() ? y[y.size() - 1 - i] : 1;
    if (p != q && p != 1 && q != 1)
      return std::nullopt;
    out[out.size() - 1 - i] = p == 1 ? q : p;
  }
  return out;
}

TypedAttr Loops::number(double value, Type element) {
  if (isa<FloatType>(element))
    return b.getFloatAttr(element, value);
  return b.getIntegerAttr(element, int64_t(value));
}

/// The loop nest over `out`'s axes and then `reduced`; `carries` tells whether
/// the body reads the result so far.
static Value nest(Loops &l, Value out, ArrayRef<int64_t> reduced,
                  ArrayRef<Operand> operands, bool carries, Loops::Body body) {
  unsigned rank = l.shapeOf(out).size(), dims = rank + reduced.size();
  SmallVector<Value> in;
  SmallVector<AffineMap> maps;
  for (const Operand &o : operands) {
    in.push_back(o.tensor);
    maps.push_back(o.map);
  }
  MLIRContext *context = l.b.getContext();
  if (!reduced.empty()) {
    // Defines the loops' extents; it is never read.
    in.push_back(tensor::EmptyOp::create(l.b, l.loc, reduced, l.b.getI8Type()));
    SmallVector<AffineExpr> inner;
    for (unsigned i = rank; i < dims; ++i)
      inner.push_back(l.dim(i));
    maps.push_back(AffineMap::get(dims, 0, inner, context));
  }
  SmallVector<AffineExpr> outer;
  for (unsigned i = 0; i < rank; ++i)
    outer.push_back(l.dim(i));
  maps.push_back(AffineMap::get(dims, 0, outer, context));
  SmallVector<utils::IteratorType> kinds(rank, utils::IteratorType::parallel);
  kinds.append(reduced.size(), utils::IteratorType::reduction);
  return linalg::GenericOp::create(
             l.b, l.loc, out.getType(), in, out, maps, kinds,
             [&](OpBuilder &nested, Location, ValueRange args) {
               SmallVector<Value> given(args.take_front(operands.size()));
               if (carries)
                 given.push_back(args.back());
               Scalars s(nested, l.loc);
               linalg::YieldOp::create(nested, l.loc, body(s, given));
             })
      .getResult(0);
}

Value Loops::loop(ArrayRef<int64_t> shape, ArrayRef<int64_t> reduced,
                  Type element, TypedAttr init, ArrayRef<Operand> operands,
                  Body body) {
  Value out = tensor::EmptyOp::create(b, loc, shape, element);
  if (init)
    out = linalg::FillOp::create(
              b, loc, Value(arith::ConstantOp::create(b, loc, init)), out)
              .getResult(0);
  return nest(*this, out, reduced, operands, bool(init), body);
}

Value Loops::fold(Value init, ArrayRef<int64_t> reduced, Body body) {
  return nest(*this, init, reduced, {}, true, body);
}

/// How an operand of `shape` is read with NumPy's broadcasting to `rank` axes
/// of a loop with `dims` dimensions.
static AffineMap broadcastMap(OpBuilder &b, ArrayRef<int64_t> shape,
                              unsigned rank, unsigned dims) {
  SmallVector<AffineExpr> exprs;
  for (unsigned i = 0; i < shape.size(); ++i)
    exprs.push_back(shape[i] == 1
                        ? b.getAffineConstantExpr(0)
                        : b.getAffineDimExpr(rank - shape.size() + i));
  return AffineMap::get(dims, 0, exprs, b.getContext());
}

Value Loops::map(ArrayRef<Value> in, Type element, Body body) {
  Shape shape;
  for (Value v : in)
    shape = *broadcast(shape, shapeOf(v));
  SmallVector<Operand> operands;
  for (Value v : in)
    operands.push_back(
        {v, broadcastMap(b, shapeOf(v), shape.size(), shape.size())});
  return loop(shape, {}, element, {}, operands, body);
}

Value Loops::reduce(Value in, ArrayRef<bool> axes, TypedAttr init,
                    Body combine) {
  ArrayRef<int64_t> from = shapeOf(in);
  Shape kept, inner, keptDims(from.begin(), from.end());
  SmallVector<AffineExpr> exprs(from.size());
  for (size_t i = 0; i < from.size(); ++i)
    if (!axes[i]) {
      exprs[i] = dim(kept.size());
      kept.push_back(from[i]);
    }
  for (size_t i = 0; i < from.size(); ++i)
    if (axes[i]) {
      exprs[i] = dim(kept.size() + inner.size());
      inner.push_back(from[i]);
      keptDims[i] = 1;
    }
  auto map =
      AffineMap::get(kept.size() + inner.size(), 0, exprs, b.getContext());
  Value v =
      loop(kept, inner, cast<RankedTensorType>(in.getType()).getElementType(),
           init, {{in, map}}, combine);
  return reshape(v, keptDims);
}

Value Loops::matmul(Value x, Value y, Type sums, Body product) {
  ArrayRef<int64_t> p = shapeOf(x), q = shapeOf(y);
  Shape shape = *broadcast(p.drop_back(2), q.drop_back(2));
  unsigned batch = shape.size(), rank = batch + 2;
  shape.push_back(p[p.size() - 2]);
  shape.push_back(q.back());
  int64_t depth = p.back();
  auto mapOf = [&](ArrayRef<int64_t> s, unsigned row, unsigned column) {
    AffineMap lead = broadcastMap(b, s.drop_back(2), batch, rank + 1);
    SmallVector<AffineExpr> exprs(lead.getResults());
    exprs.push_back(dim(row));
    exprs.push_back(dim(column));
    return AffineMap::get(rank + 1, 0, exprs, b.getContext());
  };
  Type element =
      sums ? sums : cast<RankedTensorType>(x.getType()).getElementType();
  return loop(shape, {depth}, element, number(0, element),
              {{x, mapOf(p, rank - 2, rank)}, {y, mapOf(q, rank, rank - 1)}},
              [&](Scalars &s, ValueRange a) {
                return s.add(a[2], product ? product(s, a.take_front(2))
                                           : s.mul(a[0], a[1]));
              });
}

Value Loops::reshape(Value v, ArrayRef<int64_t> shape) {
  auto from = cast<RankedTensorType>(v.getType());
  auto to = RankedTensorType::get(shape, from.getElementType());
  if (from == to)
    return v;
  if (auto groups = getReassociationIndicesForReshape(from, to)) {
    if (from.getRank() > to.getRank())
      return tensor::CollapseShapeOp::create(b, loc, to, v, *groups);
    if (from.getRank() < to.getRank())
      return tensor::ExpandShapeOp::create(b, loc, to, v, *groups);
  }
  return reshape(reshape(v, {from.getNumElements()}), shape);
}

Value Loops::transpose(Value v, ArrayRef<int64_t> permutation) {
  auto from = cast<RankedTensorType>(v.getType());
  Shape shape;
  SmallVector<AffineExpr> exprs(permutation.size());
  for (auto [i, axis] : llvm::enumerate(permutation)) {
    shape.push_back(from.getDimSize(axis));
    exprs[axis] = dim(i);
  }
  auto map = AffineMap::get(shape.size(), 0, exprs, b.getContext());
  return loop(shape, {}, from.getElementType(), {}, {{v, map}},
              [](Scalars &, ValueRange a) { return a[0]; });
}

Value Loops::slice(Value v, ArrayRef<int64_t> begin, ArrayRef<int64_t> step,
                   ArrayRef<int64_t> size) {
  Type element = cast<RankedTensorType>(v.getType()).getElementType();
  if (llvm::is_contained(size, 0))
    return tensor::EmptyOp::create(b, loc, size, element);
  // linalg requires that a plain index walks an axis completely; if only its
  // beginning is read, the index of a loop of one step is added.
  unsigned rank = unsigned(size.size());
  Shape reduced;
  SmallVector<AffineExpr> exprs;
  for (unsigned i = 0; i < rank; ++i) {
    AffineExpr at = size[i] == 1 ? b.getAffineConstantExpr(begin[i])
                                 : dim(i) * step[i] + begin[i];
    if (isa<AffineDimExpr>(at) && size[i] != shapeOf(v)[i]) {
      reduced = {1};
      at = at + dim(rank);
    }
    exprs.push_back(at);
  }
  auto map =
      AffineMap::get(rank + unsigned(reduced.size()), 0, exprs, b.getContext());
  return loop(size, reduced, element, {}, {{v, map}},
              [](Scalars &, ValueRange a) { return a[0]; });
}

Value Loops::pad(Value v, ArrayRef<int64_t> low, ArrayRef<int64_t> high,
                 TypedAttr value) {
  auto none = [](int64_t n) { return n == 0; };
  if (llvm::all_of(low, none) && llvm::all_of(high, none))
    return v;
  auto type = cast<RankedTensorType>(v.getType());
  Shape shape(type.getShape());
  SmallVector<OpFoldResult> at, sizes, steps;
  for (auto [d, n] : llvm::enumerate(shape)) {
    at.push_back(b.getIndexAttr(low[d]));
    sizes.push_back(b.getIndexAttr(n));
    steps.push_back(b.getIndexAttr(1));
    n += low[d] + high[d];
  }
  Value whole =
      linalg::FillOp::create(
          b, loc, Value(arith::ConstantOp::create(b, loc, value)),
          Value(tensor::EmptyOp::create(b, loc, shape, type.getElementType())))
          .getResult(0);
  return tensor::InsertSliceOp::create(b, loc, v, whole, at, sizes, steps);
}

Value Loops::concat(ArrayRef<Value> parts, int64_t axis) {
  if (parts.size() == 1)
    return parts[0];
  auto type = cast<RankedTensorType>(parts[0].getType());
  Shape shape(type.getShape());
  shape[axis] = 0;
  for (Value v : parts)
    shape[axis] += shapeOf(v)[axis];
  Value whole = tensor::EmptyOp::create(b, loc, shape, type.getElementType());
  int64_t begin = 0;
  for (Value v : parts) {
    SmallVector<OpFoldResult> at, sizes, steps;
    for (auto [i, n] : llvm::enumerate(shapeOf(v))) {
      at.push_back(b.getIndexAttr(int64_t(i) == axis ? begin : 0));
      sizes.push_back(b.getIndexAttr(n));
      steps.push_back(b.getIndexAttr(1));
    }
    begin += shapeOf(v)[axis];
    whole = tensor::InsertSliceOp::create(b, loc, v, whole, at, sizes, steps);
  }
  return whole;
}

Value Loops::rounded(Value v, FloatType half) {
  Value out = map({v}, real(), [&](Scalars &s, ValueRange a) {
    return s.rounded(a[0], half);
  });
  out.getDefiningOp()->setAttr(marks::kRounds, TypeAttr::get(half));
  return out;
}

void rhizome::host::dropRounding(ModuleOp module) {
  module.walk([](linalg::GenericOp loop) {
    if (!loop->hasAttr(marks::kRounds))
      return;
    loop.getResult(0).replaceAllUsesWith(loop.getDpsInputOperand(0)->get());
    loop.erase();
  });
}

Value Loops::expand(Value v, ArrayRef<int64_t> shape) {
  Type element = cast<RankedTensorType>(v.getType()).getElementType();
  return loop(shape, {}, element, {},
              {{v, broadcastMap(b, shapeOf(v), shape.size(), shape.size())}},
              [](Scalars &, ValueRange a) { return a[0]; });
}

/// The lower (or upper) bound of all numbers of a tensor's type.
static TypedAttr bound(OpBuilder &b, bool real, bool least, bool isUnsigned) {
  if (real) {
    float all = std::numeric_limits<float>::infinity();
    return b.getF32FloatAttr(least ? -all : all);
  }
  if (isUnsigned)
    return b.getI64IntegerAttr(least ? 0 : -1);
  return b.getI64IntegerAttr(least ? INT64_MIN : INT64_MAX);
}

Value Loops::max(Value in, ArrayRef<bool> axes, bool isUnsigned) {
  return reduce(
      in, axes, bound(b, isReal(in), true, isUnsigned),
      [&](Scalars &s, ValueRange a) { return s.max(a[0], a[1], isUnsigned); });
}
Value Loops::min(Value in, ArrayRef<bool> axes, bool isUnsigned) {
  return reduce(
      in, axes, bound(b, isReal(in), false, isUnsigned),
      [&](Scalars &s, ValueRange a) { return s.min(a[0], a[1], isUnsigned); });
}

Value Loops::argMax(Value in, ArrayRef<bool> axes, bool last, bool smallest,
                    bool isUnsigned) {
  Value best = smallest ? min(in, axes, isUnsigned) : max(in, axes, isUnsigned);
  int64_t axis = llvm::find(axes, true) - axes.begin();
  int64_t none = last ? 0 : shapeOf(in)[axis] - 1;
  // The value if it is inside; elsewhere one that loses.
  Value places = map({in, best}, whole(), [&](Scalars &s, ValueRange a) {
    return s.select(s.equal(a[0], a[1]), s.index(unsigned(axis)),
                    s.whole(none));
  });
  return last ? max(places, axes) : min(places, axes);
}
Value Loops::sum(Value in, ArrayRef<bool> axes) {
  Type element = cast<RankedTensorType>(in.getType()).getElementType();
  return reduce(in, axes, number(0, element),
                [](Scalars &s, ValueRange a) { return s.add(a[1], a[0]); });
}
Value Loops::mean(Value in, ArrayRef<bool> axes) {
  int64_t n = 1;
  for (auto [size, flagged] : llvm::zip_equal(shapeOf(in), axes))
    n *= flagged ? size : 1;
  return map({sum(in, axes)}, real(), [&](Scalars &s, ValueRange a) {
    return s.div(a[0], s.real(double(n)));
  });
}

Value Loops::softmax(Value in, int64_t axis, bool log) {
  SmallVector<bool> axes(shapeOf(in).size(), false);
  axes[axis] = true;
  Value top = max(in, axes);
  Value shifted = map({in, top}, real(), [](Scalars &s, ValueRange a) {
    return s.sub(a[0], a[1]);
  });
  Value powers = map({shifted}, real(),
                     [](Scalars &s, ValueRange a) { return s.exp(a[0]); });
  Value total = sum(powers, axes);
  if (log)
    return map({shifted, total}, real(), [](Scalars &s, ValueRange a) {
      return s.sub(a[0], s.apply<math::LogOp>(a[1]));
    });
  return map({powers, total}, real(),
             [](Scalars &s, ValueRange a) { return s.div(a[0], a[1]); });
}
