// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Finds loops that normalize by values computed from the data (layer norm,
// softmax): a sum or maximum that is broadcast back to the tensor it came from.
// The host computes these completely, as it does for normalizations named in a
// file.
#include "Raise.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "rhizome/Dialect/Marks/Marks.h"

using namespace mlir;
using namespace rhizome;
using namespace rhizome::importer;

namespace {
class Marker {
public:
  explicit Marker(func::FuncOp function) : function(function) {}
  void run();

private:
  void follow(linalg::GenericOp reduction);
  void spread();

  func::FuncOp function;
  /// Loops that normalize, and the results of these and of reductions.
  llvm::DenseSet<Operation *> marked, reductions;
  llvm::DenseSet<Value> normalized;
};
} // namespace

static bool isElementwise(Operation *op) {
  auto loop = dyn_cast<linalg::GenericOp>(op);
  return loop && loop.getNumParallelLoops() == loop.getNumLoops();
}
static bool isReduction(Operation *op) {
  auto loop = dyn_cast<linalg::GenericOp>(op);
  return loop && loop.getNumReductionLoops() > 0 &&
         !linalg::isaContractionOpInterface(loop);
}
/// Passes on its elements, in another shape or order.
static bool isMove(Operation *op) {
  return isa<osa::ReshapeOp, osa::TransposeOp>(op);
}
static bool isFixed(Value v) {
  return !tensorOf(v) || constantOf(v) || splatOf(v) ||
         v.getDefiningOp<tensor::EmptyOp>() ||
         v.getDefiningOp<linalg::BroadcastOp>();
}

/// Sums, products and the operations of a standard deviation.
static bool isArithmetic(Operation *op) {
  return llvm::all_of(
      cast<linalg::GenericOp>(op).getBody()->without_terminator(),
      [](Operation &inner) {
        return isa<arith::AddFOp, arith::SubFOp, arith::MulFOp, arith::DivFOp,
                   arith::ConstantOp, math::SqrtOp>(inner);
      });
}

/// Follows a reduction's result through arithmetic of its own size until it
/// meets a larger tensor.
void Marker::follow(linalg::GenericOp reduction) {
  SmallVector<Operation *> path{reduction}, meetings;
  SmallVector<Value> work{reduction.getResult(0)};
  llvm::DenseSet<Value> flow(work.begin(), work.end());
  while (!work.empty()) {
    Value v = work.pop_back_val();
    for (Operation *user : v.getUsers()) {
      if (!isMove(user) && !isElementwise(user))
        continue;
      Value out = user->getResult(0);
      bool alone = isMove(user) ||
                   llvm::all_of(cast<linalg::GenericOp>(user).getDpsInputs(),
                                [&](Value in) {
                                  return isFixed(in) || flow.contains(in);
                                });
      if (alone) {
        if (flow.insert(out).second) {
          path.push_back(user);
          work.push_back(out);
        }
      } else if (tensorOf(out).getNumElements() >
                 tensorOf(v).getNumElements()) {
        meetings.push_back(user);
      }
    }
  }
  if (meetings.empty())
    return;
  reductions.insert(reduction);
  for (Operation *op : meetings) {
    marked.insert(op);
    normalized.insert(op->getResult(0));
  }
  for (Operation *op : path) {
    marked.insert(op);
    normalized.insert(op->getResult(0));
  }
}

/// Scales, offsets and operands of the next reduction belong to it.
void Marker::spread() {
  for (Operation &op : function.getBody().front()) {
    auto isKnown = [&](Value v) {
      return isFixed(v) || normalized.contains(v);
    };
    if (isMove(&op) && normalized.contains(op.getOperand(0)))
      normalized.insert(op.getResult(0));
    if (!isElementwise(&op) || op.getNumResults() != 1 || marked.contains(&op))
      continue;
    auto inputs = cast<linalg::GenericOp>(op).getDpsInputs();
    bool isNext =
        llvm::any_of(inputs, [&](Value v) { return normalized.contains(v); });
    bool feeds = llvm::any_of(op.getUsers(), [&](Operation *user) {
      return reductions.contains(user);
    });
    if (isNext && llvm::all_of(inputs, isKnown) &&
        (feeds || isArithmetic(&op))) {
      marked.insert(&op);
      normalized.insert(op.getResult(0));
    }
  }
}

void Marker::run() {
  for (auto loop : function.getOps<linalg::GenericOp>())
    if (isReduction(loop) && loop.getNumResults() == 1)
      follow(loop);
  spread();
  OpBuilder b(function.getContext());
  for (Operation *op : marked)
    if (isa<linalg::GenericOp>(op))
      op->setAttr(marks::kWhyHost,
                  b.getStringAttr("it normalizes by sums or maxima "
                                  "of the data themselves"));
}

void importer::markNormalizations(func::FuncOp function) {
  Marker(function).run();
}
