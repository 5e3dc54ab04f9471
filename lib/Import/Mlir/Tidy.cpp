// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Normalizes a function. Assertions of loop bodies are dropped, functions that
// the host lacks are replaced by others, unused results are
// dropped, and named operations whose name carries no information become loops.
#include "Raise.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;
using namespace rhizome;
using namespace rhizome::importer;

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

/// The exponent of a power, if it is a constant.
std::optional<double> exponentOf(Value v) {
  auto constant = v.getDefiningOp<arith::ConstantOp>();
  if (!constant)
    return std::nullopt;
  if (auto real = dyn_cast<FloatAttr>(constant.getValue()))
    return real.getValueAsDouble();
  if (auto whole = dyn_cast<IntegerAttr>(constant.getValue()))
    return double(whole.getInt());
  return std::nullopt;
}

/// Small powers as products, as other exporters write them.
template <typename Op> struct SplitPower : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;
  LogicalResult matchAndRewrite(Op op,
                                PatternRewriter &rewriter) const override {
    std::optional<double> n = exponentOf(op.getRhs());
    if (!n || !op.getType().isF32() || !(*n == 2 || *n == 3 || *n == 4))
      return failure();
    Value x = op.getLhs(), v = x;
    for (int i = 1; i < int(*n); ++i)
      v = arith::MulFOp::create(rewriter, op.getLoc(), v, x);
    rewriter.replaceOp(op, v);
    return success();
  }
};

/// They differ only for NaN, which is not a real number.
template <typename From, typename To> struct Rename : OpRewritePattern<From> {
  using OpRewritePattern<From>::OpRewritePattern;
  LogicalResult matchAndRewrite(From op,
                                PatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<To>(op, op->getOperands());
    return success();
  }
};

/// x > 0 ? x : 0 and similar forms.
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

/// Operations whose name determines their meaning, or that are looked through.
bool staysNamed(linalg::LinalgOp op) {
  return isa<linalg::GenericOp, linalg::FillOp, linalg::TransposeOp,
             linalg::BroadcastOp>(op) ||
         isa<linalg::ConvolutionOpInterface>(op.getOperation()) ||
         linalg::isaContractionOpInterface(op);
}

struct Generalize : OpInterfaceRewritePattern<linalg::LinalgOp> {
  using OpInterfaceRewritePattern::OpInterfaceRewritePattern;
  LogicalResult matchAndRewrite(linalg::LinalgOp op,
                                PatternRewriter &rewriter) const override {
    if (staysNamed(op))
      return failure();
    return linalg::generalizeNamedOp(rewriter, op);
  }
};

/// A maximum together with its index, of whose two results the
/// second is osa's; the first is then computed separately.
struct RaiseArgMax : OpRewritePattern<linalg::GenericOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(linalg::GenericOp op,
                                PatternRewriter &rewriter) const override;
};

/// A loop that passes on its only input unchanged.
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

LogicalResult RaiseArgMax::matchAndRewrite(linalg::GenericOp op,
                                           PatternRewriter &rewriter) const {
  if (op.getNumResults() != 2 || op.getNumDpsInputs() != 1 ||
      op.getNumReductionLoops() != 1 || op.getResult(1).use_empty() ||
      !isReal(op.getDpsInputs()[0]))
    return failure();
  SmallVector<unsigned> reduced;
  op.getReductionDims(reduced);
  Value in = op.getDpsInputs()[0];
  auto maps = op.getIndexingMapsArray();
  Block *body = op.getBody();
  Value x = body->getArgument(0), best = body->getArgument(1),
        place = body->getArgument(2);
  auto yield = cast<linalg::YieldOp>(body->getTerminator());
  auto largest = yield.getOperand(0).getDefiningOp<arith::MaximumFOp>();
  auto chosen = yield.getOperand(1).getDefiningOp<arith::SelectOp>();
  auto larger = chosen ? chosen.getCondition().getDefiningOp<arith::CmpFOp>()
                       : arith::CmpFOp();
  if (!largest || !larger || !maps[0].isIdentity() || maps[1] != maps[2] ||
      larger.getPredicate() != arith::CmpFPredicate::OGT ||
      larger.getLhs() != x || larger.getRhs() != best ||
      chosen.getFalseValue() != place ||
      !llvm::is_contained(largest->getOperands(), x) ||
      !llvm::is_contained(largest->getOperands(), best))
    return failure();
  auto cast = chosen.getTrueValue().getDefiningOp<arith::IndexCastOp>();
  auto index =
      cast ? cast.getIn().getDefiningOp<linalg::IndexOp>() : linalg::IndexOp();
  if (!index || index.getDim() != reduced[0] ||
      !cast.getType().isSignlessInteger(64) ||
      !llvm::all_of(op.getDpsInits(),
                    [](Value v) { return v.getDefiningOp<linalg::FillOp>(); }))
    return failure();
  const bool keeps =
      tensorOf(op.getResult(1)).getRank() == tensorOf(in).getRank();
  Value found =
      osa::ArgMaxOp::create(rewriter, op.getLoc(), op.getResult(1).getType(),
                            in, int64_t(reduced[0]), keeps, false);
  rewriter.replaceAllUsesWith(op.getResult(1), found);
  return success();
}

void importer::tidy(func::FuncOp function) {
  // An exporter's assertions about its own steps.
  function.walk([](linalg::LinalgOp op) {
    op->walk([](cf::AssertOp check) { check.erase(); });
  });
  settleTypes(function);
  RewritePatternSet patterns(function.getContext());
  patterns.add<SplitRsqrt, SplitPower<math::PowFOp>, SplitPower<math::FPowIOp>,
               RaiseArgMax, SelectToMax, Generalize, DropCopy,
               Rename<arith::MaxNumFOp, arith::MaximumFOp>,
               Rename<arith::MinNumFOp, arith::MinimumFOp>>(
      function.getContext());
  linalg::populateEraseUnusedOperandsAndResultsPatterns(patterns);
  (void)applyPatternsGreedily(function, std::move(patterns));
}
