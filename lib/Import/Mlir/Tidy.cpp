// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Brings a function to few forms. Assertions of loop bodies go, double
// precision inside the network becomes single, functions that the host lacks
// become those that it has, results that nobody reads are dropped, and named
// operations whose name tells nothing become loops.
#include "Raise.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;
using namespace rhizome;
using namespace rhizome::importer;

/// The same type with f32 for f64.
static Type single(Type type) {
  if (type.isF64())
    return Float32Type::get(type.getContext());
  if (auto shaped = dyn_cast<ShapedType>(type);
      shaped && shaped.getElementType().isF64())
    return shaped.clone(Float32Type::get(type.getContext()));
  return type;
}

/// A constant's value in single precision; null if it is of another type.
static TypedAttr single(TypedAttr value) {
  Type type = value.getType();
  if (single(type) == type)
    return {};
  if (auto scalar = dyn_cast<FloatAttr>(value))
    return FloatAttr::get(single(type), float(scalar.getValueAsDouble()));
  auto dense = dyn_cast<DenseFPElementsAttr>(value);
  if (!dense)
    return {};
  return dense.mapValues(
      Float32Type::get(type.getContext()), [](const APFloat &v) {
        return APFloat(float(v.convertToDouble())).bitcastToAPInt();
      });
}

static void lowerPrecision(func::FuncOp function) {
  function.walk([](Operation *op) {
    if (isa<func::FuncOp>(op))
      return;
    for (Value v : op->getResults())
      v.setType(single(v.getType()));
    for (Region &region : op->getRegions())
      for (BlockArgument argument : region.getArguments())
        argument.setType(single(argument.getType()));
    if (auto constant = dyn_cast<arith::ConstantOp>(op))
      if (TypedAttr value = single(constant.getValue()))
        constant.setValueAttr(value);
  });
  function.walk([](Operation *op) {
    if (!isa<arith::ExtFOp, arith::TruncFOp>(op) ||
        op->getOperand(0).getType() != op->getResult(0).getType())
      return;
    op->getResult(0).replaceAllUsesWith(op->getOperand(0));
    op->erase();
  });
}

namespace {
/// 1 / √x.
struct SplitRsqrt : OpRewritePattern<math::RsqrtOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(math::RsqrtOp op,
                                PatternRewriter &rewriter) const override {
    if (!op.getType().isF32())
      return failure();
    Value root = math::SqrtOp::create(rewriter, op.getLoc(), op.getOperand());
    Value one = arith::ConstantOp::create(rewriter, op.getLoc(),
                                          rewriter.getF32FloatAttr(1));
    rewriter.replaceOpWithNewOp<arith::DivFOp>(op, one, root);
    return success();
  }
};

/// They differ for NaN alone, which no real number is.
template <typename From, typename To> struct Rename : OpRewritePattern<From> {
  using OpRewritePattern<From>::OpRewritePattern;
  LogicalResult matchAndRewrite(From op,
                                PatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<To>(op, op->getOperands());
    return success();
  }
};

/// x > 0 ? x : 0 and the like.
struct SelectToMax : OpRewritePattern<arith::SelectOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(arith::SelectOp op,
                                PatternRewriter &rewriter) const override {
    auto compare = op.getCondition().getDefiningOp<arith::CmpFOp>();
    if (!compare)
      return failure();
    using P = arith::CmpFPredicate;
    P p = compare.getPredicate();
    bool greater = p == P::OGT || p == P::UGT || p == P::OGE || p == P::UGE;
    bool less = p == P::OLT || p == P::ULT || p == P::OLE || p == P::ULE;
    if (!greater && !less)
      return failure();
    Value x = compare.getLhs(), y = compare.getRhs();
    if (op.getTrueValue() == y && op.getFalseValue() == x)
      greater = !greater;
    else if (op.getTrueValue() != x || op.getFalseValue() != y)
      return failure();
    if (greater)
      rewriter.replaceOpWithNewOp<arith::MaximumFOp>(op, x, y);
    else
      rewriter.replaceOpWithNewOp<arith::MinimumFOp>(op, x, y);
    return success();
  }
};

/// Operations that say what they are by their name, or that are read through.
bool staysNamed(linalg::LinalgOp op) {
  return isa<linalg::GenericOp, linalg::FillOp, linalg::TransposeOp,
             linalg::BroadcastOp>(op) ||
         isa<linalg::ConvolutionOpInterface>(op.getOperation()) ||
         linalg::isaContractionOpInterface(op);
}

struct Generalise : OpInterfaceRewritePattern<linalg::LinalgOp> {
  using OpInterfaceRewritePattern::OpInterfaceRewritePattern;
  LogicalResult matchAndRewrite(linalg::LinalgOp op,
                                PatternRewriter &rewriter) const override {
    if (staysNamed(op))
      return failure();
    return linalg::generalizeNamedOp(rewriter, op);
  }
};

/// A loop that hands on its one input as it is.
struct DropCopy : OpRewritePattern<linalg::GenericOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(linalg::GenericOp op,
                                PatternRewriter &rewriter) const override {
    if (op.getNumDpsInputs() != 1 || op.getNumResults() != 1)
      return failure();
    auto yield = cast<linalg::YieldOp>(op.getBody()->getTerminator());
    auto maps = op.getIndexingMapsArray();
    Value in = op.getDpsInputs()[0];
    if (yield.getOperand(0) != op.getBody()->getArgument(0) ||
        maps[0] != maps[1] || !maps[0].isIdentity() ||
        in.getType() != op.getResult(0).getType())
      return failure();
    rewriter.replaceOp(op, in);
    return success();
  }
};
} // namespace

void importer::tidy(func::FuncOp function) {
  // What an exporter asserts of its own steps.
  function.walk([](linalg::LinalgOp op) {
    op->walk([](cf::AssertOp check) { check.erase(); });
  });
  lowerPrecision(function);
  RewritePatternSet patterns(function.getContext());
  patterns.add<SplitRsqrt, SelectToMax, Generalise, DropCopy,
               Rename<arith::MaxNumFOp, arith::MaximumFOp>,
               Rename<arith::MinNumFOp, arith::MinimumFOp>>(
      function.getContext());
  linalg::populateEraseUnusedOperandsAndResultsPatterns(patterns);
  (void)applyPatternsGreedily(function, std::move(patterns));
}
