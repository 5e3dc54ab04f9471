// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Contractions as matrix products: rows are indices of the left operand and the
// result, columns those of the right one and the result, the others are summed.
// Contiguous groups of indices collapse directly; a matmul's maps
// take transposed operands, other orders are transposed first.
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "rhizome/Transforms/Algebra.h"
#include "rhizome/Transforms/Passes.h"

using namespace mlir;
using namespace rhizome::kernel;

namespace rhizome {
#define GEN_PASS_DEF_LINALGFORMMATMULS
#include "rhizome/Transforms/Passes.h.inc"
} // namespace rhizome

bool rhizome::kernel::isZeroFilled(Value tensor) {
  auto fill = tensor.getDefiningOp<linalg::FillOp>();
  return fill && (matchPattern(fill.getInputs()[0], m_AnyZeroFloat()) ||
                  matchPattern(fill.getInputs()[0], m_Zero()));
}

using Group = SmallVector<unsigned>;

static SmallVector<unsigned> dimsOf(AffineMap map) {
  SmallVector<unsigned> out;
  for (AffineExpr result : map.getResults())
    out.push_back(cast<AffineDimExpr>(result).getPosition());
  return out;
}

static Group joined(const Group &a, const Group &b) {
  Group out = a;
  out.append(b.begin(), b.end());
  return out;
}

/// `tensor`, whose dimensions are `dims`, as a matrix (first, second) or, if
/// that needs no transpose, (second, first), as reported in `transposed`.
static Value asMatrix(OpBuilder &b, Location loc, Value tensor,
                      ArrayRef<unsigned> dims, const Group &first,
                      const Group &second, bool &transposed) {
  Group straight = joined(first, second), turned = joined(second, first);
  transposed = ArrayRef(turned) == dims && ArrayRef(straight) != dims;
  auto type = cast<RankedTensorType>(tensor.getType());
  const Group &order = transposed ? turned : straight;
  if (ArrayRef(order) != dims) {
    SmallVector<int64_t> permutation, shape;
    for (unsigned dim : order) {
      permutation.push_back(llvm::find(dims, dim) - dims.begin());
      shape.push_back(type.getDimSize(permutation.back()));
    }
    Value empty = tensor::EmptyOp::create(b, loc, shape, type.getElementType());
    tensor = linalg::TransposeOp::create(b, loc, tensor, empty, permutation)
                 ->getResult(0);
  }
  if (dims.size() == 2)
    return tensor;
  size_t split = (transposed ? second : first).size();
  SmallVector<ReassociationIndices> groups(2);
  for (size_t i = 0; i < dims.size(); ++i)
    groups[i >= split].push_back(i);
  return tensor::CollapseShapeOp::create(b, loc, tensor, groups);
}

/// The matmul for `op`; nothing if its indices do not fall into the groups.
static Value matmulOf(linalg::ContractOp op) {
  if (!op.hasPureTensorSemantics() || op.hasDynamicShape() ||
      !isZeroFilled(op.getOutputs()[0]))
    return nullptr;
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  for (AffineMap map : maps)
    if (!map.isProjectedPermutation())
      return nullptr;
  SmallVector<unsigned> left = dimsOf(maps[0]), right = dimsOf(maps[1]),
                        result = dimsOf(maps[2]);
  Value leftTensor = op.getInputs()[0], rightTensor = op.getInputs()[1];
  // The result's first index is a row's.
  if (!result.empty() && llvm::is_contained(right, result[0])) {
    std::swap(left, right);
    std::swap(leftTensor, rightTensor);
  }
  Group rows, columns, summed;
  for (unsigned dim : result) {
    bool inLeft = llvm::is_contained(left, dim);
    if (inLeft == llvm::is_contained(right, dim))
      return nullptr;
    (inLeft ? rows : columns).push_back(dim);
  }
  for (unsigned dim : left)
    if (!llvm::is_contained(result, dim)) {
      if (!llvm::is_contained(right, dim))
        return nullptr;
      summed.push_back(dim);
    }
  if (rows.empty() || columns.empty() || summed.empty() ||
      right.size() != columns.size() + summed.size())
    return nullptr;

  OpBuilder b(op);
  Location loc = op.getLoc();
  MLIRContext *context = b.getContext();
  bool leftTurned, rightTurned;
  Value a = asMatrix(b, loc, leftTensor, left, rows, summed, leftTurned);
  Value c = asMatrix(b, loc, rightTensor, right, summed, columns, rightTurned);
  auto sizes = op.getStaticLoopRanges();
  auto sizeOf = [&](const Group &group) {
    int64_t out = 1;
    for (unsigned dim : group)
      out *= sizes[dim];
    return out;
  };
  auto element = getElementTypeOrSelf(op->getResult(0).getType());
  Value empty =
      tensor::EmptyOp::create(b, loc, {sizeOf(rows), sizeOf(columns)}, element);
  Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(element));
  Value init = linalg::FillOp::create(b, loc, zero, empty).getResult(0);
  AffineExpr m, n, k;
  bindDims(context, m, n, k);
  auto map = [&](AffineExpr x, AffineExpr y, bool turned) {
    return AffineMap::get(
        3, 0, turned ? ArrayRef<AffineExpr>{y, x} : ArrayRef<AffineExpr>{x, y},
        context);
  };
  auto matmul =
      linalg::MatmulOp::create(b, loc, ValueRange{a, c}, ValueRange{init});
  matmul->setAttr(
      "indexing_maps",
      b.getAffineMapArrayAttr(
          {map(m, k, leftTurned), map(k, n, rightTurned), map(m, n, false)}));
  Value value = matmul->getResult(0);
  Group order = joined(rows, columns);
  if (order.size() > 2) {
    SmallVector<ReassociationIndices> groups(2);
    SmallVector<int64_t> shape;
    for (size_t i = 0; i < order.size(); ++i) {
      groups[i >= rows.size()].push_back(i);
      shape.push_back(sizes[order[i]]);
    }
    value = tensor::ExpandShapeOp::create(
        b, loc, RankedTensorType::get(shape, element), value, groups);
  }
  if (ArrayRef(order) != ArrayRef(result)) {
    SmallVector<int64_t> permutation;
    for (unsigned dim : result)
      permutation.push_back(llvm::find(order, dim) - order.begin());
    auto type = cast<RankedTensorType>(op->getResult(0).getType());
    Value into = tensor::EmptyOp::create(b, loc, type.getShape(), element);
    value = linalg::TransposeOp::create(b, loc, value, into, permutation)
                ->getResult(0);
  }
  return value;
}

int64_t rhizome::kernel::formMatmuls(func::FuncOp kernel) {
  int64_t count = 0;
  SmallVector<linalg::ContractOp> ops;
  kernel.walk([&](linalg::ContractOp op) { ops.push_back(op); });
  for (linalg::ContractOp op : ops)
    if (Value value = matmulOf(op)) {
      op->getResult(0).replaceAllUsesWith(value);
      op->erase();
      ++count;
    }
  return count;
}

namespace {
struct LinalgFormMatmuls
    : rhizome::impl::LinalgFormMatmulsBase<LinalgFormMatmuls> {
  void runOnOperation() override { formMatmuls(getOperation()); }
};
} // namespace
