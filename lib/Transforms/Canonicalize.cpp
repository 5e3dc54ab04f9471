// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rewrites of the real-level network that change no value and make hardware
// smaller: activations and quantizers move before max pools, gathers and
// concatenations, zero padding into the convolution, clips into the rounding
// before them. Transposes need no rewrite: the integer lowering cancels them.
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "rhizome/Dialect/Osa/Osa.h"
#include "rhizome/Transforms/Integerize.h"
#include "rhizome/Transforms/Passes.h"
#include <cmath>

using namespace mlir;
using namespace rhizome;

namespace rhizome {
#define GEN_PASS_DEF_OSACANONICALIZE
#include "rhizome/Transforms/Passes.h.inc"
} // namespace rhizome

static RankedTensorType withElement(Value like, Type element) {
  return RankedTensorType::get(
      cast<RankedTensorType>(like.getType()).getShape(), element);
}

/// g(max_pool(x)) is max_pool(g(x)) for a nondecreasing g.
static LogicalResult moveBeforeMaxPool(Operation *op,
                                       PatternRewriter &rewriter) {
  auto pool = op->getOperand(0).getDefiningOp<osa::MaxPoolOp>();
  // After a quantizer, the pool has fewer elements to pass on: leave it.
  if (!pool || !pool->hasOneUse() ||
      pool.getInput().getDefiningOp<osa::DequantizeOp>())
    return failure();
  Operation *moved = rewriter.clone(*op);
  Type element =
      cast<RankedTensorType>(op->getResult(0).getType()).getElementType();
  rewriter.modifyOpInPlace(moved, [&] {
    moved->setOperand(0, pool.getInput());
    moved->getResult(0).setType(withElement(pool.getInput(), element));
  });
  auto after = osa::MaxPoolOp::create(
      rewriter, pool.getLoc(), op->getResult(0).getType(), moved->getResult(0),
      pool.getKernel(), pool.getStrides(), pool.getPads(), pool.getDilations());
  rewriter.replaceOp(op, after.getResult());
  return success();
}

/// g(gather(x)) is gather(g(x)) for an elementwise g with one parameter for
/// all. Not if most elements would be computed in vain.
static LogicalResult moveBeforeGather(Operation *op,
                                      PatternRewriter &rewriter) {
  auto gather = op->getOperand(0).getDefiningOp<osa::GatherOp>();
  if (!gather || !gather->hasOneUse() ||
      gather.getInput().getDefiningOp<osa::DequantizeOp>())
    return failure();
  auto in = cast<RankedTensorType>(gather.getInput().getType()),
       out = cast<RankedTensorType>(gather.getType());
  if (2 * out.getNumElements() < in.getNumElements())
    return failure();
  Operation *moved = rewriter.clone(*op);
  Type element =
      cast<RankedTensorType>(op->getResult(0).getType()).getElementType();
  rewriter.modifyOpInPlace(moved, [&] {
    moved->setOperand(0, gather.getInput());
    moved->getResult(0).setType(withElement(gather.getInput(), element));
  });
  rewriter.replaceOpWithNewOp<osa::GatherOp>(
      op, op->getResult(0).getType(), moved->getResult(0), gather.getAxis(),
      gather.getIndices());
  return success();
}

namespace {
struct MoveActivation : RewritePattern {
  explicit MoveActivation(MLIRContext *context)
      : RewritePattern(MatchAnyOpTypeTag(), 1, context) {}
  LogicalResult matchAndRewrite(Operation *op,
                                PatternRewriter &rewriter) const override {
    if (isa<osa::ReluOp, osa::ClipOp, osa::LeakyReluOp>(op) &&
        succeeded(moveBeforeGather(op, rewriter)))
      return success();
    if (isa<osa::ReluOp, osa::ClipOp>(op))
      return moveBeforeMaxPool(op, rewriter);
    if (auto leaky = dyn_cast<osa::LeakyReluOp>(op))
      if (!leaky.getAlpha().isNegative())
        return moveBeforeMaxPool(op, rewriter);
    return failure();
  }
};

struct MoveQuantize : OpRewritePattern<osa::QuantizeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(osa::QuantizeOp op,
                                PatternRewriter &rewriter) const override {
    // The channel axis stays last; scales along others would not fit a pool.
    if (int64_t(op.getAxis()) >= 0)
      return failure();
    if (succeeded(moveBeforeMaxPool(op, rewriter)) ||
        succeeded(moveBeforeGather(op, rewriter)))
      return success();
    auto concat = op.getInput().getDefiningOp<osa::ConcatOp>();
    if (!concat || !concat->hasOneUse())
      return failure();
    SmallVector<Value> inputs;
    Type element = cast<RankedTensorType>(op.getType()).getElementType();
    for (Value v : concat.getInputs())
      inputs.push_back(osa::QuantizeOp::create(
          rewriter, op.getLoc(), withElement(v, element), v, op.getScale(),
          op.getZeroPoint(), op.getAxis(), op.getRounding()));
    rewriter.replaceOpWithNewOp<osa::ConcatOp>(op, op.getType(), inputs,
                                               concat.getAxis());
    return success();
  }
};

/// conv2d(pad(x)) with zeros around rows and columns: the convolution pads
/// itself.
struct FoldPad : OpRewritePattern<osa::Conv2dOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(osa::Conv2dOp op,
                                PatternRewriter &rewriter) const override {
    auto transpose = op.getInput().getDefiningOp<osa::TransposeOp>();
    Value padded = transpose ? transpose.getInput() : op.getInput();
    auto pad = padded.getDefiningOp<osa::PadOp>();
    if (!pad || !pad.getValue().isZero() ||
        (transpose && !transpose->hasOneUse()) || !pad->hasOneUse())
      return failure();
    SmallVector<int64_t> low(pad.getLow()), high(pad.getHigh());
    if (transpose)
      for (auto [i, axis] : llvm::enumerate(transpose.getPermutation())) {
        low[i] = pad.getLow()[axis];
        high[i] = pad.getHigh()[axis];
      }
    if (low.size() != 4 || low[0] || high[0] || low[3] || high[3])
      return failure();
    Value input = pad.getInput();
    if (transpose) {
      SmallVector<int64_t> shape;
      auto in = cast<RankedTensorType>(input.getType());
      for (int64_t axis : transpose.getPermutation())
        shape.push_back(in.getShape()[axis]);
      input = osa::TransposeOp::create(
          rewriter, transpose.getLoc(),
          RankedTensorType::get(shape, in.getElementType()), input,
          transpose.getPermutation());
    }
    auto old = op.getPads();
    SmallVector<int64_t> pads{old[0] + low[1], old[1] + low[2],
                              old[2] + high[1], old[3] + high[2]};
    rewriter.replaceOpWithNewOp<osa::Conv2dOp>(
        op, op.getType(), input, op.getWeights(), op.getBias(), op.getStrides(),
        pads, op.getDilations(), op.getGroups(), op.getPadValue());
    return success();
  }
};

/// The pair dequantize(quantize(x)) with scale 1 and zero point 0, which only
/// rounds to whole numbers; null for other values.
osa::QuantizeOp roundingBehind(Value v) {
  auto isOne = [](ElementsAttr scale, ElementsAttr zero) {
    return scale.getNumElements() == 1 && zero.getNumElements() == 1 &&
           osa::floatValues(scale).front() == 1.0f &&
           osa::intValues(zero).front() == 0;
  };
  auto back = v.getDefiningOp<osa::DequantizeOp>();
  if (!back || !isOne(back.getScale(), back.getZeroPoint()))
    return {};
  auto quantize = back.getInput().getDefiningOp<osa::QuantizeOp>();
  if (!quantize || !isOne(quantize.getScale(), quantize.getZeroPoint()) ||
      quantize.getRounding() == osa::Rounding::Sign)
    return {};
  return quantize;
}

/// clip(round(x)) with whole bounds rounds to fewer integers.
struct FoldClipIntoRounding : OpRewritePattern<osa::ClipOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(osa::ClipOp op,
                                PatternRewriter &rewriter) const override {
    osa::QuantizeOp rounding = roundingBehind(op.getInput());
    if (!rounding || !op.getInput().hasOneUse() ||
        !rounding.getOutput().hasOneUse())
      return failure();
    num::IntType old = num::elementInt(rounding.getType());
    double low = std::max(op.getMin().convertToDouble(), double(old.getLo())),
           high = std::min(op.getMax().convertToDouble(), double(old.getHi()));
    if (low != std::floor(low) || high != std::floor(high) || low > high)
      return failure();
    auto type = withElement(
        rounding.getInput(),
        num::IntType::getForRange(getContext(), int64_t(low), int64_t(high)));
    auto narrow = osa::QuantizeOp::create(
        rewriter, rounding.getLoc(), type, rounding.getInput(),
        rounding.getScale(), rounding.getZeroPoint(), rounding.getAxis(),
        rounding.getRounding());
    rewriter.replaceOpWithNewOp<osa::DequantizeOp>(
        op, op.getType(), narrow, rounding.getScale(), rounding.getZeroPoint(),
        rounding.getAxis());
    return success();
  }
};

/// Whole numbers need no second rounding to a range that contains them.
struct DropSecondRounding : OpRewritePattern<osa::DequantizeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(osa::DequantizeOp op,
                                PatternRewriter &rewriter) const override {
    osa::QuantizeOp second = roundingBehind(op.getOutput());
    osa::QuantizeOp first =
        second ? roundingBehind(second.getInput()) : osa::QuantizeOp();
    if (!first)
      return failure();
    num::IntType outer = num::elementInt(second.getType()),
                 inner = num::elementInt(first.getType());
    if (inner.getLo() < outer.getLo() || inner.getHi() > outer.getHi())
      return failure();
    rewriter.replaceOp(op, second.getInput());
    return success();
  }
};

struct OsaCanonicalize : rhizome::impl::OsaCanonicalizeBase<OsaCanonicalize> {
  void runOnOperation() override { canonicalizeReal(getOperation()); }
};
} // namespace

void rhizome::canonicalizeReal(ModuleOp module) {
  RewritePatternSet patterns(module.getContext());
  patterns.add<MoveActivation, MoveQuantize, FoldPad, FoldClipIntoRounding,
               DropSecondRounding>(module.getContext());
  // Each operation moves a few times at most. Should two patterns undo one
  // another, it ends all the same.
  int64_t operations = 0;
  module.walk([&](Operation *) { ++operations; });
  GreedyRewriteConfig config;
  config.setMaxNumRewrites(1000 + 100 * operations);
  (void)applyPatternsGreedily(module, std::move(patterns), config);
}
