// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Transposes from channels-last to channels-first sink below operations that
// work in either order, until they meet their inverse.
#include "Raise.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;
using namespace rhizome;
using namespace rhizome::importer;

/// The channels-last tensor that `v` is a transpose of; null if it is none.
static Value lastOf(Value v) {
  static constexpr int64_t kToFirst[] = {0, 3, 1, 2};
  auto turn = v.getDefiningOp<osa::TransposeOp>();
  return turn && isReal(v) && turn.getPermutation() == ArrayRef(kToFirst)
             ? turn.getInput()
             : Value();
}

static Value toFirst(OpBuilder &b, Location loc, Value v) {
  return transposed(b, loc, v, {0, 3, 1, 2});
}

/// A constant operand of a channels-first operation, for channels-last.
static Value constantForLast(OpBuilder &b, Location loc, Value v) {
  Shape shape(4 - tensorOf(v).getRank(), 1);
  shape.append(shapeOf(v));
  v = transposed(b, loc, reshaped(b, loc, v, shape), {0, 2, 3, 1});
  shape = shapeOf(v);
  while (shape.size() > 1 && shape.front() == 1)
    shape.erase(shape.begin());
  return reshaped(b, loc, v, shape);
}

namespace {
/// Elementwise operations whose operands are all transposes or constants.
struct SinkElementwise : RewritePattern {
  explicit SinkElementwise(MLIRContext *context)
      : RewritePattern(MatchAnyOpTypeTag(), 1, context) {}
  LogicalResult matchAndRewrite(Operation *op,
                                PatternRewriter &rewriter) const override {
    if (!isa<osa::AddOp, osa::SubOp, osa::MulOp, osa::DivOp, osa::MaxOp,
             osa::MinOp, osa::ReluOp, osa::LeakyReluOp, osa::ClipOp,
             osa::UnaryOp>(op))
      return failure();
    bool any = false;
    for (Value v : op->getOperands()) {
      bool turned = bool(lastOf(v));
      any |= turned;
      if (!turned && (!constantOf(v) || tensorOf(v).getRank() > 4))
        return failure();
    }
    if (!any)
      return failure();
    SmallVector<Value> operands;
    for (Value v : op->getOperands()) {
      Value last = lastOf(v);
      operands.push_back(last ? last
                              : constantForLast(rewriter, op->getLoc(), v));
    }
    Shape out = shapeOf(op->getResult(0));
    Operation *moved = rewriter.clone(*op);
    rewriter.modifyOpInPlace(moved, [&] {
      moved->setOperands(operands);
      moved->getResult(0).setType(
          tensorOf(op->getResult(0))
              .clone(ArrayRef<int64_t>{out[0], out[2], out[3], out[1]}));
    });
    rewriter.replaceOp(op,
                       toFirst(rewriter, op->getLoc(), moved->getResult(0)));
    return success();
  }
};

struct SinkPad : OpRewritePattern<osa::PadOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(osa::PadOp op,
                                PatternRewriter &rewriter) const override {
    Value x = lastOf(op.getInput());
    if (!x)
      return failure();
    auto low = op.getLow(), high = op.getHigh();
    Shape out = shapeOf(op.getOutput());
    auto moved = osa::PadOp::create(
        rewriter, op.getLoc(),
        tensorOf(x).clone(ArrayRef<int64_t>{out[0], out[2], out[3], out[1]}), x,
        ArrayRef<int64_t>{low[0], low[2], low[3], low[1]},
        ArrayRef<int64_t>{high[0], high[2], high[3], high[1]}, op.getValue());
    rewriter.replaceOp(op, toFirst(rewriter, op.getLoc(), moved));
    return success();
  }
};

struct SinkConcat : OpRewritePattern<osa::ConcatOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(osa::ConcatOp op,
                                PatternRewriter &rewriter) const override {
    SmallVector<Value> inputs;
    for (Value v : op.getInputs()) {
      Value last = lastOf(v);
      if (!last)
        return failure();
      inputs.push_back(last);
    }
    static constexpr int64_t kAxis[] = {0, 3, 1, 2};
    Shape out = shapeOf(op.getOutput());
    auto moved = osa::ConcatOp::create(
        rewriter, op.getLoc(),
        tensorOf(op.getOutput())
            .clone(ArrayRef<int64_t>{out[0], out[2], out[3], out[1]}),
        inputs, kAxis[op.getAxis()]);
    rewriter.replaceOp(op, toFirst(rewriter, op.getLoc(), moved));
    return success();
  }
};
} // namespace

void importer::sinkTransposes(func::FuncOp function) {
  RewritePatternSet patterns(function.getContext());
  patterns.add<SinkElementwise, SinkPad, SinkConcat>(function.getContext());
  addJoins(patterns);
  (void)applyPatternsGreedily(function, std::move(patterns));
}
