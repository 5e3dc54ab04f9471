// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Calls MLIR's decompositions until none is left: some give operations that
// have one themselves.
#include "rhizome/Import/Kernel/Decompose.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

/// Replaces an operation with what its own interface makes of it.
template <typename Op>
static LogicalResult replaceByItself(RewriterBase &rewriter, Op op) {
  FailureOr<SmallVector<Value>> values = op.decomposeOperation(rewriter);
  if (failed(values))
    return failure();
  rewriter.replaceOp(op, *values);
  return success();
}

/// Whether all operands and results are tensors of fixed extents, or scalars.
static bool isKnown(Operation *op) {
  return llvm::all_of(op->getOperandTypes(), [](Type type) {
    auto shaped = dyn_cast<ShapedType>(type);
    return !shaped || (isa<RankedTensorType>(type) && shaped.hasStaticShape());
  });
}

static LogicalResult decomposeOne(RewriterBase &rewriter, Operation *op) {
  rewriter.setInsertionPoint(op);
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case<linalg::SoftmaxOp, tensor::ConcatOp>(
          [&](auto whole) { return replaceByItself(rewriter, whole); })
      .Case<tensor::PadOp, tensor::GenerateOp, tensor::FromElementsOp>(
          [&](auto made) -> LogicalResult {
            return linalg::rewriteInDestinationPassingStyle(rewriter, made);
          })
      .Case<linalg::PackOp>([&](auto pack) -> LogicalResult {
        if (!isKnown(pack))
          return failure();
        return linalg::lowerPack(rewriter, pack);
      })
      .Case<linalg::UnPackOp>([&](auto unpack) -> LogicalResult {
        if (!isKnown(unpack))
          return failure();
        return linalg::lowerUnPack(rewriter, unpack);
      })
      .Case<tensor::SplatOp>([&](tensor::SplatOp splat) -> LogicalResult {
        if (!splat.getType().hasStaticShape())
          return failure();
        Value empty = tensor::EmptyOp::create(rewriter, splat.getLoc(),
                                              splat.getType(), ValueRange());
        rewriter.replaceOpWithNewOp<linalg::FillOp>(splat, splat.getInput(),
                                                    empty);
        return success();
      })
      .Default([](Operation *) { return failure(); });
}

void rhizome::kernel::decompose(ModuleOp module) {
  IRRewriter rewriter(module.getContext());
  for (bool isChanged = true; isChanged;) {
    SmallVector<Operation *> ops;
    module.walk([&](Operation *op) {
      if (isa<linalg::SoftmaxOp, linalg::PackOp, linalg::UnPackOp,
              tensor::ConcatOp, tensor::PadOp, tensor::GenerateOp,
              tensor::FromElementsOp, tensor::SplatOp>(op))
        ops.push_back(op);
    });
    isChanged = false;
    for (Operation *op : ops)
      isChanged |= succeeded(decomposeOne(rewriter, op));
  }
}
