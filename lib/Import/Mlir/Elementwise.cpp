// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Elementwise loops become one operation of `osa` for each operation of their
// body, and a few groups of these are replaced by a single operation:
// activations, a bias, a mean.
#include "Raise.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Traits.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace rhizome;
using namespace rhizome::importer;

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

/// `v` broadcast to the loop's axes as in NumPy; null if the loop reads
/// it in another way.
static Value aligned(OpBuilder &b, Location loc, Value v, AffineMap map) {
  SmallVector<int64_t> loops, order;
  for (auto [axis, expr] : llvm::enumerate(map.getResults())) {
    if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
      loops.push_back(dim.getPosition());
      order.push_back(int64_t(axis));
      continue;
    }
    auto fixed = dyn_cast<AffineConstantExpr>(expr);
    if (!fixed || fixed.getValue() != 0 || tensorOf(v).getDimSize(axis) != 1)
      return {};
  }
  Shape sizes(map.getNumDims(), 1);
  for (auto [axis, loop] : llvm::zip_equal(order, loops))
    sizes[loop] = tensorOf(v).getDimSize(axis);
  if (!llvm::is_sorted(loops)) {
    if (order.size() != size_t(tensorOf(v).getRank()))
      return {};
    SmallVector<int64_t> permutation(order);
    llvm::sort(permutation,
               [&](int64_t x, int64_t y) { return loops[x] < loops[y]; });
    v = transposed(b, loc, v, permutation);
  }
  // Leading axes of size 1 may be omitted, if it has none of its own.
  size_t first = 0;
  while (first < sizes.size() && sizes[first] == 1)
    ++first;
  size_t rank = std::max(sizes.size() - first, size_t(tensorOf(v).getRank()));
  return reshaped(
      b, loc, v,
      ArrayRef<int64_t>(sizes).take_back(std::min(rank, sizes.size())));
}

namespace {
/// The `osa` operation for a scalar one.
using Make = Value (*)(OpBuilder &, Location, Type, ValueRange);

template <typename Op>
Value binary(OpBuilder &b, Location loc, Type type, ValueRange in) {
  return Op::create(b, loc, type, in[0], in[1]);
}
template <osa::UnaryKind kind>
Value unary(OpBuilder &b, Location loc, Type type, ValueRange in) {
  return osa::UnaryOp::create(b, loc, type, in[0], kind);
}

/// Null if `osa` has none.
Make makerOf(Operation *op) {
  using K = osa::UnaryKind;
  return llvm::TypeSwitch<Operation *, Make>(op)
      .Case<arith::AddFOp>([](auto) { return binary<osa::AddOp>; })
      .Case<arith::SubFOp>([](auto) { return binary<osa::SubOp>; })
      .Case<arith::MulFOp>([](auto) { return binary<osa::MulOp>; })
      .Case<arith::DivFOp>([](auto) { return binary<osa::DivOp>; })
      .Case<arith::MaximumFOp>([](auto) { return binary<osa::MaxOp>; })
      .Case<arith::MinimumFOp>([](auto) { return binary<osa::MinOp>; })
      .Case<arith::NegFOp>([](auto) { return unary<K::Neg>; })
      .Case<math::AbsFOp>([](auto) { return unary<K::Abs>; })
      .Case<math::ErfOp>([](auto) { return unary<K::Erf>; })
      .Case<math::ExpOp>([](auto) { return unary<K::Exp>; })
      .Case<math::LogOp>([](auto) { return unary<K::Log>; })
      .Case<math::SqrtOp>([](auto) { return unary<K::Sqrt>; })
      .Case<math::TanhOp>([](auto) { return unary<K::Tanh>; })
      .Default([](Operation *) { return nullptr; });
}

struct RaiseLoop : OpRewritePattern<linalg::GenericOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(linalg::GenericOp op,
                                PatternRewriter &rewriter) const override;

private:
  static bool canRaise(linalg::GenericOp op);
  static Value raise(linalg::GenericOp op, PatternRewriter &rewriter);
};
} // namespace

bool RaiseLoop::canRaise(linalg::GenericOp op) {
  if (!isOpen(op) || op.getNumParallelLoops() != op.getNumLoops() ||
      !op.getIndexingMapsArray().back().isIdentity() ||
      !op.getMatchingBlockArgument(op.getDpsInitOperand(0)).use_empty() ||
      llvm::any_of(op.getDpsInputs(), isInfinite))
    return false;
  bool computes = false;
  for (Operation &inner : op.getBody()->without_terminator()) {
    auto constant = dyn_cast<arith::ConstantOp>(inner);
    if (!makerOf(&inner) && !(constant && constant.getType().isF32()))
      return false;
    computes |= !constant;
  }
  return computes;
}

LogicalResult RaiseLoop::matchAndRewrite(linalg::GenericOp op,
                                         PatternRewriter &rewriter) const {
  if (!canRaise(op))
    return failure();
  Operation *before = op->getPrevNode();
  if (Value v = raise(op, rewriter)) {
    rewriter.replaceOp(op, v);
    return success();
  }
  // Removes what was made in vain.
  while (op->getPrevNode() != before)
    rewriter.eraseOp(op->getPrevNode());
  return failure();
}

/// The loop's result; null if a tensor is not read as a broadcast.
Value RaiseLoop::raise(linalg::GenericOp op, PatternRewriter &rewriter) {
  Location loc = op.getLoc();
  llvm::DenseMap<Value, Value> known;
  auto maps = op.getIndexingMapsArray();
  for (auto [i, v] : llvm::enumerate(op.getDpsInputs())) {
    BlockArgument argument = op.getBody()->getArgument(i);
    if (argument.use_empty())
      continue;
    Value as;
    if (std::optional<double> number = splatOf(v); number && !constantOf(v))
      as = scalarConstant(rewriter, loc, *number);
    else if (isReal(v))
      as = aligned(rewriter, loc, v, maps[i]);
    if (!as)
      return {};
    known[argument] = as;
  }
  // Values that the body reads from outside, or constants in it.
  auto tensorFor = [&](Value scalar) -> Value {
    if (Value v = known.lookup(scalar))
      return v;
    std::optional<double> number = splatOf(scalar);
    return number ? known[scalar] = scalarConstant(rewriter, loc, *number)
                  : Value();
  };
  RankedTensorType result = tensorOf(op.getResult(0));
  for (Operation &inner : op.getBody()->without_terminator()) {
    Make make = makerOf(&inner);
    if (!make)
      continue;
    SmallVector<Value> in;
    Shape shape;
    for (Value scalar : inner.getOperands()) {
      Value v = tensorFor(scalar);
      if (!v)
        return {};
      in.push_back(v);
      SmallVector<int64_t> wider;
      if (!OpTrait::util::getBroadcastedShape(shape, shapeOf(v), wider))
        return {};
      shape = wider;
    }
    known[inner.getResult(0)] =
        make(rewriter, loc, result.clone(ArrayRef<int64_t>(shape)), in);
  }
  auto yield = cast<linalg::YieldOp>(op.getBody()->getTerminator());
  Value v = tensorFor(yield.getOperand(0));
  // A loop may be wider than all its operands.
  return v && v.getType() == result ? v : Value();
}

//===----------------------------------------------------------------------===//
// Groups
//===----------------------------------------------------------------------===//

/// The constant operand of a commutative operation, and the other one.
static std::optional<std::pair<double, Value>> withNumber(Operation *op) {
  for (int i : {1, 0})
    if (std::optional<double> number = splatOf(op->getOperand(i)))
      if (op->getOperand(1 - i).getType() == op->getResult(0).getType())
        return std::pair(*number, op->getOperand(1 - i));
  return std::nullopt;
}

namespace {
/// max(x, 0).
struct FormRelu : OpRewritePattern<osa::MaxOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(osa::MaxOp op,
                                PatternRewriter &rewriter) const override {
    auto found = withNumber(op);
    if (!found || found->first != 0)
      return failure();
    rewriter.replaceOpWithNewOp<osa::ReluOp>(op, op.getType(), found->second);
    return success();
  }
};

/// min(max(x, a), b) and max(min(x, b), a).
template <typename Op> struct FormClip : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;
  LogicalResult matchAndRewrite(Op op,
                                PatternRewriter &rewriter) const override {
    constexpr bool isMin = std::is_same_v<Op, osa::MinOp>;
    using Inner = std::conditional_t<isMin, osa::MaxOp, osa::MinOp>;
    auto outer = withNumber(op);
    Operation *before = outer ? outer->second.getDefiningOp() : nullptr;
    if (!before || !before->hasOneUse())
      return failure();
    std::optional<std::pair<double, Value>> inner;
    if (isa<Inner>(before))
      inner = withNumber(before);
    else if (isMin && isa<osa::ReluOp>(before))
      inner = {0, before->getOperand(0)};
    if (!inner)
      return failure();
    double low = isMin ? inner->first : outer->first,
           high = isMin ? outer->first : inner->first;
    if (!(low <= high))
      return failure();
    rewriter.replaceOpWithNewOp<osa::ClipOp>(
        op, op.getType(), inner->second, rewriter.getF32FloatAttr(float(low)),
        rewriter.getF32FloatAttr(float(high)));
    return success();
  }
};

/// 1 / (1 + e^−x).
struct FormSigmoid : OpRewritePattern<osa::DivOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(osa::DivOp op,
                                PatternRewriter &rewriter) const override {
    auto sum = op.getRhs().getDefiningOp<osa::AddOp>();
    if (splatOf(op.getLhs()) != 1.0 || !sum)
      return failure();
    auto one = withNumber(sum);
    if (!one || one->first != 1)
      return failure();
    auto kindOf = [](Value v, osa::UnaryKind kind) -> Value {
      auto unary = v.getDefiningOp<osa::UnaryOp>();
      return unary && unary.getKind() == kind ? unary.getInput() : Value();
    };
    Value power = kindOf(one->second, osa::UnaryKind::Exp);
    Value x = power ? kindOf(power, osa::UnaryKind::Neg) : Value();
    if (!x)
      return failure();
    rewriter.replaceOpWithNewOp<osa::UnaryOp>(op, op.getType(), x,
                                              osa::UnaryKind::Sigmoid);
    return success();
  }
};

/// n · x / n, as the mean of a sum is written.
template <typename Op> struct FormMean : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;
  LogicalResult matchAndRewrite(Op op,
                                PatternRewriter &rewriter) const override {
    constexpr bool divides = std::is_same_v<Op, osa::DivOp>;
    std::optional<double> by = splatOf(op.getRhs());
    auto times = op.getLhs().template getDefiningOp<osa::MulOp>();
    if (!by || !times || op.getType() != times.getType())
      return failure();
    auto inner = withNumber(times);
    if (!inner || (divides ? inner->first != *by : inner->first * *by != 1))
      return failure();
    rewriter.replaceOp(op, inner->second);
    return success();
  }
};

/// A constant vector added to a layer's result is its bias.
struct FormBias : OpRewritePattern<osa::AddOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(osa::AddOp op,
                                PatternRewriter &rewriter) const override {
    for (int i : {0, 1}) {
      Value bias = op->getOperand(1 - i);
      Operation *layer = op->getOperand(i).getDefiningOp();
      if (!isa_and_nonnull<osa::DenseOp, osa::Conv2dOp>(layer) ||
          !constantOf(bias) || !layer->hasOneUse() ||
          layer->getNumOperands() != 2 ||
          layer->getResult(0).getType() != op.getType())
        continue;
      int64_t channels = tensorOf(layer->getResult(0)).getShape().back();
      Shape shape = shapeOf(bias);
      if (shape.empty() || shape.back() != channels ||
          tensorOf(bias).getNumElements() != channels)
        continue;
      rewriter.setInsertionPoint(op);
      Value vector = reshaped(rewriter, op.getLoc(), bias, {channels});
      Operation *whole = rewriter.clone(*layer);
      rewriter.modifyOpInPlace(whole,
                               [&] { whole->insertOperands(2, {vector}); });
      rewriter.replaceOp(op, whole->getResult(0));
      return success();
    }
    return failure();
  }
};
} // namespace

void importer::addElementwise(RewritePatternSet &patterns) {
  patterns
      .add<RaiseLoop, FormRelu, FormClip<osa::MinOp>, FormClip<osa::MaxOp>,
           FormSigmoid, FormMean<osa::DivOp>, FormMean<osa::MulOp>, FormBias>(
          patterns.getContext());
}
