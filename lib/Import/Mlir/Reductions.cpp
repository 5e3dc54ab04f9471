// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sums and maxima along axes are pools: the reduced axes, next to each
// other, become the columns of an image. A sum is its mean times their number.
#include "Raise.h"
#include <cfloat>

using namespace mlir;
using namespace rhizome;
using namespace rhizome::importer;

namespace {
/// A loop that reduces axes of its only input by one operation.
struct Reduction {
  Value in;
  SmallVector<bool> gone; ///< of the input's axes
  bool isMax;
};

struct RaiseReduction : OpRewritePattern<linalg::GenericOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(linalg::GenericOp op,
                                PatternRewriter &rewriter) const override;
};
} // namespace

static std::optional<Reduction> reductionOf(linalg::GenericOp op) {
  if (!isOpen(op) || op.getNumDpsInputs() != 1 || !isReal(op.getDpsInputs()[0]))
    return std::nullopt;
  auto maps = op.getIndexingMapsArray();
  Block *body = op.getBody();
  if (!maps[0].isIdentity() || !llvm::hasNItems(body->begin(), body->end(), 2))
    return std::nullopt;
  Operation *step = &body->front();
  auto yield = cast<linalg::YieldOp>(body->getTerminator());
  bool folds = yield.getOperand(0) == step->getResult(0) &&
               step->getNumOperands() == 2 &&
               llvm::is_contained(step->getOperands(), body->getArgument(0)) &&
               llvm::is_contained(step->getOperands(), body->getArgument(1));
  std::optional<double> start = splatOf(op.getDpsInits()[0]);
  const bool isMax = isa<arith::MaximumFOp>(step);
  if (!folds || !start || !(isMax || isa<arith::AddFOp>(step)) ||
      !(isMax ? *start <= -FLT_MAX : *start == 0))
    return std::nullopt;
  // The remaining axes keep their order; reduced ones may leave a 1.
  Reduction found{op.getDpsInputs()[0], {}, isMax};
  for (auto kind : op.getIteratorTypesArray())
    found.gone.push_back(kind == utils::IteratorType::reduction);
  unsigned last = 0;
  for (AffineExpr expr : maps[1].getResults()) {
    auto dim = dyn_cast<AffineDimExpr>(expr);
    if (dim && dim.getPosition() < last)
      return std::nullopt;
    last = dim ? dim.getPosition() : last;
  }
  if (llvm::none_of(found.gone, [](bool gone) { return gone; }))
    return std::nullopt;
  return found;
}

/// The remaining axes before the first reduced one, the reduced ones, the rest.
static SmallVector<int64_t> orderOf(ArrayRef<int64_t> shape,
                                    ArrayRef<bool> gone) {
  SmallVector<int64_t> before, middle, after;
  for (int64_t d = 0; d < int64_t(shape.size()); ++d) {
    if (gone[d])
      middle.push_back(d);
    else
      (middle.empty() ? before : after).push_back(d);
  }
  before.append(middle);
  before.append(after);
  return before;
}

LogicalResult RaiseReduction::matchAndRewrite(linalg::GenericOp op,
                                              PatternRewriter &rewriter) const {
  auto found = reductionOf(op);
  if (!found)
    return failure();
  Location loc = op.getLoc();
  Value x = found->in;
  SmallVector<bool> gone = found->gone;
  // Under a transpose, in the tensor's order; the remaining axes
  // keep their relative order if there is only one.
  auto turned = x.getDefiningOp<osa::TransposeOp>();
  if (turned && llvm::count(gone, false) == 2 &&
      tensorOf(x).getDimSize(0) == 1 && !gone[0] &&
      turned.getPermutation()[0] == 0) {
    x = turned.getInput();
    for (auto [i, axis] : llvm::enumerate(turned.getPermutation()))
      gone[axis] = found->gone[i];
  }
  Shape shape = shapeOf(x), view = {1, 1, 1, 1};
  SmallVector<int64_t> order = orderOf(shape, gone);
  bool seen = false;
  for (int64_t d : order) {
    view[gone[d] ? 2 : seen ? 3 : 1] *= shape[d];
    seen |= gone[d];
  }
  x = reshaped(rewriter, loc, transposed(rewriter, loc, x, order), view);
  SmallVector<int64_t> kernel = {1, view[2]}, none(4, 0), ones = {1, 1};
  auto type =
      RankedTensorType::get({1, view[1], 1, view[3]}, rewriter.getF32Type());
  Value v;
  if (found->isMax)
    v = osa::MaxPoolOp::create(rewriter, loc, type, x, kernel, kernel, none,
                               ones);
  else
    v = osa::AvgPoolOp::create(rewriter, loc, type, x, kernel, kernel, none,
                               ones, false);
  v = reshaped(rewriter, loc, v, tensorOf(op.getResult(0)).getShape());
  if (!found->isMax)
    v = osa::MulOp::create(rewriter, loc, v.getType(), v,
                           scalarConstant(rewriter, loc, double(view[2])));
  rewriter.replaceOp(op, v);
  return success();
}

void importer::addReductions(RewritePatternSet &patterns) {
  patterns.add<RaiseReduction>(patterns.getContext());
}
