// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Products of a tensor with constant weights, with axes in any
// order, become dense layers: the tensor as [.., K], the weights as [N, K].
#include "Raise.h"

using namespace mlir;
using namespace rhizome;
using namespace rhizome::importer;

namespace {
/// An operand and the loop of each of its axes.
struct Operand {
  Value v;
  SmallVector<unsigned> loops;

  bool has(unsigned loop) const { return llvm::is_contained(loops, loop); }
  int64_t axisOf(unsigned loop) const {
    return llvm::find(loops, loop) - loops.begin();
  }
};

struct RaiseContraction : OpInterfaceRewritePattern<linalg::LinalgOp> {
  using OpInterfaceRewritePattern::OpInterfaceRewritePattern;
  LogicalResult matchAndRewrite(linalg::LinalgOp op,
                                PatternRewriter &rewriter) const override;
};
} // namespace

static std::optional<Operand> operandOf(Value v, AffineMap map) {
  Operand operand{v, {}};
  for (AffineExpr axis : map.getResults()) {
    auto loop = dyn_cast<AffineDimExpr>(axis);
    if (!loop)
      return std::nullopt;
    operand.loops.push_back(loop.getPosition());
  }
  // A matrix that is repeated for each batch element is read as one.
  if (auto broadcast = v.getDefiningOp<linalg::BroadcastOp>()) {
    SmallVector<unsigned> kept;
    for (auto [axis, loop] : llvm::enumerate(operand.loops))
      if (!llvm::is_contained(broadcast.getDimensions(), int64_t(axis)))
        kept.push_back(loop);
    operand = {broadcast.getInput(), kept};
  }
  return operand;
}

/// An axis of size 1 can be dropped from weights.
static Operand withoutUnits(OpBuilder &b, Location loc, Operand operand,
                            ArrayRef<unsigned> units) {
  Shape shape;
  SmallVector<unsigned> kept;
  for (auto [size, loop] : llvm::zip_equal(shapeOf(operand.v), operand.loops))
    if (size != 1 || !llvm::is_contained(units, loop)) {
      shape.push_back(size);
      kept.push_back(loop);
    }
  return {reshaped(b, loc, operand.v, shape), kept};
}

/// The operand with its axes in the order of `loops`.
static Value ordered(OpBuilder &b, Location loc, const Operand &operand,
                     ArrayRef<unsigned> loops) {
  SmallVector<int64_t> permutation;
  for (unsigned loop : loops)
    permutation.push_back(operand.axisOf(loop));
  return transposed(b, loc, operand.v, permutation);
}

LogicalResult
RaiseContraction::matchAndRewrite(linalg::LinalgOp op,
                                  PatternRewriter &rewriter) const {
  if (!isOpen(op) || !linalg::isaContractionOpInterface(op))
    return failure();
  auto maps = op.getIndexingMapsArray();
  auto left = operandOf(op.getDpsInputs()[0], maps[0]),
       right = operandOf(op.getDpsInputs()[1], maps[1]),
       out = operandOf(op->getResult(0), maps[2]);
  if (!left || !right || !out)
    return failure();
  if (!constantOf(right->v))
    std::swap(left, right);
  if (!constantOf(right->v))
    return keepOnHost(rewriter, op,
                      "neither of its operands is a constant matrix, and not "
                      "both are quantized",
                      "put a quantizer on each operand");
  Location loc = op.getLoc();
  SmallVector<unsigned> shared, rows, columns, sums;
  for (unsigned loop = 0; loop < op.getNumLoops(); ++loop)
    if (left->has(loop) && right->has(loop) && out->has(loop))
      shared.push_back(loop);
  Operand weights = withoutUnits(rewriter, loc, *right, shared);
  auto sizes = op.getStaticLoopRanges();
  for (unsigned loop = 0; loop < op.getNumLoops(); ++loop)
    if (!out->has(loop) && left->has(loop) && weights.has(loop))
      sums.push_back(loop);
  for (unsigned loop : out->loops) {
    if (left->has(loop) && weights.has(loop))
      return keepOnHost(rewriter, op,
                        "it has weights of its own for each of "
                        "a batch");
    if (!left->has(loop) && !weights.has(loop))
      return failure();
    (left->has(loop) ? rows : columns).push_back(loop);
  }
  if (sums.size() + rows.size() + columns.size() != op.getNumLoops() ||
      left->loops.size() != rows.size() + sums.size())
    return failure();

  auto sizeOf = [&](ArrayRef<unsigned> loops) {
    int64_t product = 1;
    for (unsigned loop : loops)
      product *= sizes[loop];
    return product;
  };
  auto joined = [](ArrayRef<unsigned> x, ArrayRef<unsigned> y) {
    SmallVector<unsigned> both(x);
    both.append(y.begin(), y.end());
    return both;
  };
  Shape in, all;
  for (unsigned loop : rows)
    in.push_back(sizes[loop]);
  Shape dense = in;
  in.push_back(sizeOf(sums));
  dense.push_back(sizeOf(columns));
  for (unsigned loop : joined(rows, columns))
    all.push_back(sizes[loop]);
  SmallVector<unsigned> axes;
  for (unsigned loop : columns)
    axes.push_back(unsigned(out->axisOf(loop)));
  Value init = op.getDpsInits()[0];
  // A bias has its axes in the columns' order, which is the result's.
  Start start = startOf(rewriter, loc, init, axes);
  Value x = reshaped(rewriter, loc,
                     ordered(rewriter, loc, *left, joined(rows, sums)), in);
  Value w = reshaped(rewriter, loc,
                     ordered(rewriter, loc, weights, joined(columns, sums)),
                     {sizeOf(columns), sizeOf(sums)});
  Value v = osa::DenseOp::create(
      rewriter, loc, RankedTensorType::get(dense, rewriter.getF32Type()), x, w,
      start.bias);
  Operand result{reshaped(rewriter, loc, v, all), joined(rows, columns)};
  v = ordered(rewriter, loc, result, out->loops);
  if (start.other)
    v = osa::AddOp::create(rewriter, loc, v.getType(), v, init);
  rewriter.replaceOp(op, v);
  return success();
}

void importer::addContractions(RewritePatternSet &patterns) {
  patterns.add<RaiseContraction>(patterns.getContext());
}
