// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Constants, and operations that only move elements: transposes, reshapes,
// slices, paddings, concatenations. Also the queries used by all steps.
#include "Raise.h"
#include "rhizome/Dialect/Marks/Marks.h"
#include <cmath>

using namespace mlir;
using namespace rhizome;
using namespace rhizome::importer;

//===----------------------------------------------------------------------===//
// Questions
//===----------------------------------------------------------------------===//

bool importer::isReal(Value v) {
  return osa::isTensorOf(v.getType(),
                         [](Type element) { return element.isF32(); });
}

bool importer::isMovable(Value v) {
  return osa::isTensorOf(v.getType(), [](Type element) {
    return element.isF32() || element.isSignlessInteger(64);
  });
}

ElementsAttr importer::constantOf(Value v) {
  if (auto constant = v.getDefiningOp<osa::ConstantOp>())
    return constant.getValue();
  return {};
}

bool importer::isInfinite(Value v) {
  ElementsAttr attr = constantOf(v);
  return attr && attr.getElementType().isF32() &&
         !llvm::all_of(osa::floatValues(attr),
                       [](float value) { return std::isfinite(value); });
}

std::optional<double> importer::splatOf(Value v) {
  if (auto fill = v.getDefiningOp<linalg::FillOp>())
    return splatOf(fill.getInputs()[0]);
  if (auto scalar = v.getDefiningOp<arith::ConstantOp>())
    if (auto real = dyn_cast<FloatAttr>(scalar.getValue()))
      return real.getValueAsDouble();
  ElementsAttr attr = constantOf(v);
  auto dense = dyn_cast_or_null<DenseElementsAttr>(attr);
  if (!attr || !attr.getElementType().isF32() ||
      !(attr.getNumElements() == 1 || (dense && dense.isSplat())))
    return std::nullopt;
  return osa::floatValues(attr).front();
}

bool importer::isOpen(linalg::LinalgOp op) {
  return op->getNumResults() == 1 && op.hasPureTensorSemantics() &&
         !op->hasAttr(marks::kWhyHost) && isReal(op->getResult(0)) &&
         llvm::all_of(op.getDpsInputs(),
                      [](Value v) { return v.getType().isF32() || isReal(v); });
}

LogicalResult importer::keepOnHost(PatternRewriter &rewriter, Operation *op,
                                   StringRef reason, StringRef remedy) {
  rewriter.modifyOpInPlace(op, [&] {
    op->setAttr(marks::kWhyHost, rewriter.getStringAttr(reason));
    if (!remedy.empty())
      op->setAttr(marks::kHostRemedy, rewriter.getStringAttr(remedy));
  });
  return success();
}

Value importer::reshaped(OpBuilder &b, Location loc, Value v,
                         ArrayRef<int64_t> shape) {
  RankedTensorType type = tensorOf(v);
  if (type.getShape() == shape)
    return v;
  return osa::ReshapeOp::create(b, loc, type.clone(shape), v);
}

Value importer::transposed(OpBuilder &b, Location loc, Value v,
                           ArrayRef<int64_t> permutation) {
  if (llvm::is_sorted(permutation))
    return v;
  Shape shape;
  for (int64_t axis : permutation)
    shape.push_back(tensorOf(v).getDimSize(axis));
  return osa::TransposeOp::create(b, loc, tensorOf(v).clone(shape), v,
                                  permutation);
}

Value importer::scalarConstant(OpBuilder &b, Location loc, double value) {
  auto attr = DenseElementsAttr::get(RankedTensorType::get({}, b.getF32Type()),
                                     float(value));
  return osa::ConstantOp::create(b, loc, attr.getType(), attr);
}

SmallVector<int64_t> importer::inverse(ArrayRef<int64_t> permutation) {
  SmallVector<int64_t> back(permutation.size());
  for (auto [i, axis] : llvm::enumerate(permutation))
    back[axis] = int64_t(i);
  return back;
}

/// The values of a constant along `axes`, in their order, if it is constant
/// along all others.
static std::optional<std::vector<float>> valuesAlong(ElementsAttr attr,
                                                     ArrayRef<unsigned> axes) {
  auto shape = attr.getShapedType().getShape();
  int64_t size = 1;
  for (unsigned axis : axes)
    size *= shape[axis];
  std::vector<float> all = osa::floatValues(attr), values(size);
  std::vector<bool> seen(size, false);
  SmallVector<int64_t> at(shape.size(), 0);
  for (float value : all) {
    int64_t i = 0;
    for (unsigned axis : axes)
      i = i * shape[axis] + at[axis];
    if (seen[i] && values[i] != value)
      return std::nullopt;
    seen[i] = true;
    values[i] = value;
    for (size_t d = at.size(); d-- > 0;) {
      if (++at[d] < shape[d])
        break;
      at[d] = 0;
    }
  }
  return values;
}

Start importer::startOf(OpBuilder &b, Location loc, Value init,
                        ArrayRef<unsigned> channels) {
  if (splatOf(init) == 0.0)
    return {};
  // A broadcast that no step has computed.
  if (auto broadcast = init.getDefiningOp<linalg::BroadcastOp>()) {
    Shape kept;
    for (unsigned d = 0; d < tensorOf(init).getRank(); ++d)
      if (!llvm::is_contained(broadcast.getDimensions(), int64_t(d)))
        kept.push_back(d);
    if (kept.size() == channels.size() && constantOf(broadcast.getInput()) &&
        llvm::equal(kept, channels))
      return {reshaped(b, loc, broadcast.getInput(),
                       {tensorOf(broadcast.getInput()).getNumElements()})};
  }
  if (ElementsAttr attr = constantOf(init))
    if (auto values = valuesAlong(attr, channels)) {
      Shape shape = {int64_t(values->size())};
      auto made = osa::makeFloatAttr(b.getContext(), "bias", shape, *values);
      return {osa::ConstantOp::create(
          b, loc, RankedTensorType::get(shape, b.getF32Type()), made)};
    }
  return {Value(), true};
}

//===----------------------------------------------------------------------===//
// Patterns
//===----------------------------------------------------------------------===//

namespace {
struct RaiseConstant : OpRewritePattern<arith::ConstantOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(arith::ConstantOp op,
                                PatternRewriter &rewriter) const override {
    auto values = dyn_cast<ElementsAttr>(op.getValue());
    if (!values || !isMovable(op.getResult()))
      return failure();
    rewriter.replaceOpWithNewOp<osa::ConstantOp>(op, op.getType(), values);
    return success();
  }
};

struct RaiseTranspose : OpRewritePattern<linalg::TransposeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(linalg::TransposeOp op,
                                PatternRewriter &rewriter) const override {
    if (op->getNumResults() != 1 || !isMovable(op.getInput()))
      return failure();
    rewriter.replaceOp(op, transposed(rewriter, op.getLoc(), op.getInput(),
                                      op.getPermutation()));
    return success();
  }
};

/// A loop that only moves elements.
struct RaiseMovingLoop : OpRewritePattern<linalg::GenericOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(linalg::GenericOp op,
                                PatternRewriter &rewriter) const override {
    if (op.getNumResults() != 1 || op.getNumDpsInputs() != 1 ||
        !isMovable(op.getDpsInputs()[0]))
      return failure();
    auto maps = op.getIndexingMapsArray();
    auto yield = cast<linalg::YieldOp>(op.getBody()->getTerminator());
    if (yield.getOperand(0) != op.getBody()->getArgument(0) ||
        !maps[0].isPermutation() || !maps[1].isPermutation())
      return failure();
    // Loop d is axis in[d] of the input and out[d] of the result.
    SmallVector<int64_t> permutation(maps[0].getNumDims());
    for (unsigned i = 0; i < permutation.size(); ++i)
      permutation[i] = *maps[0].getResultPosition(maps[1].getResult(i));
    rewriter.replaceOp(op, transposed(rewriter, op.getLoc(),
                                      op.getDpsInputs()[0], permutation));
    return success();
  }
};

template <typename Op> struct RaiseReshape : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;
  LogicalResult matchAndRewrite(Op op,
                                PatternRewriter &rewriter) const override {
    if (!isMovable(op.getSrc()) || !isMovable(op.getResult()))
      return failure();
    rewriter.replaceOp(op, reshaped(rewriter, op.getLoc(), op.getSrc(),
                                    tensorOf(op.getResult()).getShape()));
    return success();
  }
};

struct RaisePad : OpRewritePattern<tensor::PadOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(tensor::PadOp op,
                                PatternRewriter &rewriter) const override {
    Value value = op.getConstantPaddingValue();
    std::optional<double> number = value ? splatOf(value) : std::nullopt;
    auto isFixed = [](ArrayRef<int64_t> sizes) {
      return llvm::none_of(sizes, ShapedType::isDynamic) &&
             llvm::all_of(sizes, [](int64_t n) { return n >= 0; });
    };
    if (!number || !isReal(op.getSource()) || !isReal(op.getResult()) ||
        !isFixed(op.getStaticLow()) || !isFixed(op.getStaticHigh()))
      return failure();
    rewriter.replaceOpWithNewOp<osa::PadOp>(
        op, op.getResult().getType(), op.getSource(), op.getStaticLow(),
        op.getStaticHigh(), APFloat(*number));
    return success();
  }
};

struct RaiseSlice : OpRewritePattern<tensor::ExtractSliceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(tensor::ExtractSliceOp op,
                                PatternRewriter &rewriter) const override {
    constexpr int64_t kLongest = 1 << 20;
    auto isFixed = [](ArrayRef<int64_t> sizes) {
      return llvm::none_of(sizes, ShapedType::isDynamic);
    };
    if (!isMovable(op.getSource()) || !isMovable(op.getResult()) ||
        !isFixed(op.getStaticOffsets()) || !isFixed(op.getStaticSizes()) ||
        !isFixed(op.getStaticStrides()))
      return failure();
    Value v = op.getSource();
    for (size_t axis = 0; axis < op.getStaticSizes().size(); ++axis) {
      int64_t begin = op.getStaticOffsets()[axis],
              size = op.getStaticSizes()[axis],
              step = op.getStaticStrides()[axis];
      Shape shape = shapeOf(v);
      if (begin == 0 && size == shape[axis] && step == 1)
        continue;
      if (size > kLongest)
        return failure();
      std::vector<int64_t> indices;
      for (int64_t i = 0; i < size; ++i)
        indices.push_back(begin + i * step);
      shape[axis] = size;
      v = osa::GatherOp::create(rewriter, op.getLoc(), tensorOf(v).clone(shape),
                                v, int64_t(axis), indices);
    }
    rewriter.replaceOp(op, reshaped(rewriter, op.getLoc(), v,
                                    tensorOf(op.getResult()).getShape()));
    return success();
  }
};

struct RaiseConcat : OpRewritePattern<tensor::ConcatOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(tensor::ConcatOp op,
                                PatternRewriter &rewriter) const override {
    if (!isMovable(op.getResult()) || !llvm::all_of(op.getInputs(), isMovable))
      return failure();
    rewriter.replaceOpWithNewOp<osa::ConcatOp>(op, op.getResult().getType(),
                                               op.getInputs(), op.getDim());
    return success();
  }
};

struct RaiseSoftmax : OpRewritePattern<linalg::SoftmaxOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(linalg::SoftmaxOp op,
                                PatternRewriter &rewriter) const override {
    if (op->getNumResults() != 1 || !isReal(op.getInput()))
      return failure();
    rewriter.replaceOpWithNewOp<osa::SoftmaxOp>(op, op->getResult(0).getType(),
                                                op.getInput(),
                                                int64_t(op.getDimension()));
    return success();
  }
};

struct JoinReshapes : OpRewritePattern<osa::ReshapeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(osa::ReshapeOp op,
                                PatternRewriter &rewriter) const override {
    Value in = op.getInput();
    if (!isMovable(in))
      return failure();
    if (in.getType() == op.getType()) {
      rewriter.replaceOp(op, in);
      return success();
    }
    auto first = in.getDefiningOp<osa::ReshapeOp>();
    if (!first || first.getInput().getType() == op.getType()) {
      if (first)
        rewriter.replaceOp(op, first.getInput());
      return success(bool(first));
    }
    rewriter.modifyOpInPlace(op, [&] { op->setOperand(0, first.getInput()); });
    return success();
  }
};

struct JoinTransposes : OpRewritePattern<osa::TransposeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(osa::TransposeOp op,
                                PatternRewriter &rewriter) const override {
    auto first = op.getInput().getDefiningOp<osa::TransposeOp>();
    if (!isMovable(op.getInput()) || !first)
      return failure();
    SmallVector<int64_t> permutation;
    for (int64_t axis : op.getPermutation())
      permutation.push_back(first.getPermutation()[axis]);
    rewriter.replaceOp(
        op, transposed(rewriter, op.getLoc(), first.getInput(), permutation));
    return success();
  }
};
} // namespace

void importer::addJoins(RewritePatternSet &patterns) {
  patterns.add<JoinReshapes, JoinTransposes>(patterns.getContext());
}

void importer::addMoves(RewritePatternSet &patterns) {
  patterns.add<RaiseConstant, RaiseTranspose, RaiseMovingLoop,
               RaiseReshape<tensor::CollapseShapeOp>,
               RaiseReshape<tensor::ExpandShapeOp>, RaisePad, RaiseSlice,
               RaiseConcat, RaiseSoftmax>(patterns.getContext());
  addJoins(patterns);
}
