// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tensors that lie in the memory of others: parts of a tensor that is put
// together, each computed in its place, and slices that are read there.
#include "Nest.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StructuredOpsUtils.h"

using namespace mlir;

namespace rhizome::gen::loops {
/// The nest that computes a tensor in a unit; null for inputs, results of
/// conversions and everything else.
static linalg::GenericOp nestOf(Value tensor) {
  auto nest = tensor.getDefiningOp<linalg::GenericOp>();
  auto isFloat = [](Type type) {
    return isa<FloatType>(getElementTypeOrSelf(type));
  };
  if (!nest || nest->getNumResults() != 1 || isOutside(*nest) ||
      (llvm::any_of(nest->getOperandTypes(), isFloat) &&
       !llvm::all_of(nest->getOperandTypes(), isFloat)))
    return {};
  return nest;
}

static bool isStatic(OffsetSizeAndStrideOpInterface slice) {
  auto isKnown = [](int64_t n) { return !ShapedType::isDynamic(n); };
  return llvm::all_of(slice.getStaticOffsets(), isKnown) &&
         llvm::all_of(slice.getStaticSizes(), isKnown) &&
         llvm::all_of(slice.getStaticStrides(), isKnown);
}

/// True if all readers of a tensor, but for `except`, are before `op`.
static bool isReadBefore(Value tensor, Operation *op, Operation *except) {
  return llvm::all_of(tensor.getUsers(), [&](Operation *user) {
    if (user == except)
      return true;
    if (user->getBlock() != op->getBlock() || !user->isBeforeInBlock(op))
      return false;
    return !isa<tensor::ExtractSliceOp>(user) ||
           isReadBefore(user->getResult(0), op, except);
  });
}

/// True if `insert` may change its destination from `from` on, because nothing
/// else needs what was there.
static bool mayChangeFrom(tensor::InsertSliceOp insert, Operation *from) {
  Value whole = insert.getDest();
  Operation *made = whole.getDefiningOp();
  if (isa_and_nonnull<tensor::EmptyOp>(made))
    return true;
  bool isComputed =
      isa_and_nonnull<tensor::InsertSliceOp>(made) || (made && nestOf(whole));
  return isComputed && (made->isBeforeInBlock(from) || made == from) &&
         isReadBefore(whole, from, insert);
}

bool isInPlace(tensor::InsertSliceOp insert) {
  linalg::GenericOp part = nestOf(insert.getSource());
  return part && part->getBlock() == insert->getBlock() && isStatic(insert) &&
         part->hasOneUse() && mayChangeFrom(insert, part);
}

Value copyOf(Value tensor, Operation *op) {
  OpBuilder b(op);
  auto type = cast<RankedTensorType>(tensor.getType());
  Value init = tensor::EmptyOp::create(b, op->getLoc(), type.getShape(),
                                       type.getElementType());
  SmallVector<AffineMap> maps(
      2, b.getMultiDimIdentityMap(unsigned(type.getRank())));
  SmallVector<utils::IteratorType> loops(size_t(type.getRank()),
                                         utils::IteratorType::parallel);
  return linalg::GenericOp::create(
             b, op->getLoc(), type, tensor, init, maps, loops,
             [](OpBuilder &nested, Location loc, ValueRange arguments) {
               linalg::YieldOp::create(nested, loc, arguments[0]);
             })
      .getResult(0);
}

void separateParts(func::FuncOp kernel) {
  kernel.walk([&](tensor::InsertSliceOp insert) {
    if (!isStatic(insert) || isInPlace(insert))
      return;
    if (!mayChangeFrom(insert, insert))
      insert.getDestMutable().assign(copyOf(insert.getDest(), insert));
    insert.getSourceMutable().assign(copyOf(insert.getSource(), insert));
  });
}

/// The view of a slice of a tensor with this view.
static View sliceOf(View whole, OffsetSizeAndStrideOpInterface slice,
                    const llvm::SmallBitVector &dropped) {
  for (View::Dimension &d : whole.dims) {
    if (!d.of)
      continue;
    const unsigned index = *d.of;
    d.first += slice.getStaticOffset(index) * d.step;
    d.step *= slice.getStaticStride(index);
    if (dropped.test(index)) {
      d.of = std::nullopt;
      continue;
    }
    for (unsigned before = 0; before < index; ++before)
      *d.of -= dropped.test(before);
  }
  return whole;
}

View viewOf(Value tensor) {
  if (auto slice = tensor.getDefiningOp<tensor::ExtractSliceOp>();
      slice && isStatic(slice))
    return sliceOf(viewOf(slice.getSource()), slice, slice.getDroppedDims());
  for (OpOperand &use : tensor.getUses()) {
    auto insert = dyn_cast<tensor::InsertSliceOp>(use.getOwner());
    if (!insert || !isInPlace(insert))
      continue;
    View whole = viewOf(insert.getResult());
    if (use.get() == insert.getDest())
      return whole;
    return sliceOf(std::move(whole), insert, insert.getDroppedDims());
  }
  View own{tensor, {}};
  const int64_t rank = cast<RankedTensorType>(tensor.getType()).getRank();
  for (unsigned d = 0; d < unsigned(rank); ++d)
    own.dims.push_back({0, 1, d});
  return own;
}

bool Index::add(AffineExpr expr, int64_t by) {
  if (auto fixed = dyn_cast<AffineConstantExpr>(expr))
    return constant += by * fixed.getValue(), true;
  if (auto loop = dyn_cast<AffineDimExpr>(expr))
    return scale[loop.getPosition()] += by, true;
  auto both = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!both)
    return false;
  if (both.getKind() == AffineExprKind::Add)
    return add(both.getLHS(), by) && add(both.getRHS(), by);
  auto factor = dyn_cast<AffineConstantExpr>(both.getRHS());
  return both.getKind() == AffineExprKind::Mul && factor &&
         add(both.getLHS(), by * factor.getValue());
}

Value baseOf(Value tensor) { return viewOf(tensor).base; }
} // namespace rhizome::gen::loops
