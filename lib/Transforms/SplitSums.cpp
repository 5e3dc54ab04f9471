// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sums with several terms per iteration: the body is repeated, its operands are
// read at terms * loop + number, and a tree adds what the copies give. An
// operand without elements that are read gives the loop its size.
#include "rhizome/Transforms/SplitSums.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "rhizome/Dialect/Num/Ops.h"

using namespace mlir;
using namespace rhizome;

/// The addition to the result, of which the other operand is the term.
static Operation *additionOf(linalg::GenericOp op) {
  if (op.getNumDpsInits() != 1 || op->getNumResults() != 1)
    return nullptr;
  Block *body = op.getBody();
  Value before = body->getArgument(op.getNumDpsInputs());
  Operation *sum = body->getTerminator()->getOperand(0).getDefiningOp();
  if (!sum || !isa<num::AddOp, arith::AddFOp, arith::AddIOp>(sum) ||
      !before.hasOneUse() || *before.getUsers().begin() != sum ||
      !sum->hasOneUse())
    return nullptr;
  return sum;
}

bool rhizome::isSum(linalg::GenericOp op) { return additionOf(op); }

FailureOr<linalg::GenericOp> rhizome::splitSum(linalg::GenericOp op,
                                               unsigned loop, int64_t terms) {
  Operation *sum = additionOf(op);
  auto sizes = op.getStaticLoopRanges();
  if (!sum || loop >= sizes.size() ||
      op.getIteratorTypesArray()[loop] != utils::IteratorType::reduction ||
      terms < 1 || sizes[loop] % terms != 0)
    return failure();
  if (terms == 1)
    return op;
  OpBuilder b(op);
  MLIRContext *context = op.getContext();
  const unsigned loops = op.getNumLoops();
  Block *body = op.getBody();
  SmallVector<Value> inputs;
  SmallVector<AffineMap> maps;
  // By operand and term: the new operand.
  std::vector<std::vector<unsigned>> places;
  for (OpOperand *operand : op.getDpsInputOperands()) {
    AffineMap map = op.getMatchingIndexingMap(operand);
    std::vector<unsigned> &place = places.emplace_back();
    const int64_t copies = map.isFunctionOfDim(loop) ? terms : 1;
    for (int64_t term = 0; term < copies; ++term) {
      SmallVector<AffineExpr> dims;
      for (unsigned d = 0; d < loops; ++d)
        dims.push_back(getAffineDimExpr(d, context));
      if (copies > 1)
        dims[loop] = dims[loop] * terms + term;
      place.push_back(unsigned(inputs.size()));
      inputs.push_back(operand->get());
      maps.push_back(map.replaceDimsAndSymbols(dims, {}, loops, 0));
    }
    place.resize(size_t(terms), place[0]);
  }
  Type element =
      cast<RankedTensorType>(op->getResult(0).getType()).getElementType();
  inputs.push_back(tensor::EmptyOp::create(
      b, op.getLoc(), ArrayRef<int64_t>{sizes[loop] / terms}, element));
  maps.push_back(AffineMap::get(loops, 0, getAffineDimExpr(loop, context)));
  maps.push_back(op.getMatchingIndexingMap(op.getDpsInitOperand(0)));

  auto split = linalg::GenericOp::create(
      b, op.getLoc(), op->getResultTypes(), inputs, op.getDpsInits(), maps,
      op.getIteratorTypesArray(),
      [&](OpBuilder &inner, Location loc, ValueRange arguments) {
        IRMapping mapping;
        Value before = body->getArgument(op.getNumDpsInputs());
        Value term = sum->getOperand(sum->getOperand(0) == before ? 1 : 0);
        SmallVector<Value> values;
        DenseMap<Value, bool> changes; // From term to term.
        for (unsigned i = 0; i < op.getNumDpsInputs(); ++i)
          changes[body->getArgument(i)] = places[i][0] != places[i].back();
        for (int64_t t = 0; t < terms; ++t) {
          for (unsigned i = 0; i < op.getNumDpsInputs(); ++i)
            mapping.map(body->getArgument(i), arguments[places[i][size_t(t)]]);
          for (Operation &each : body->without_terminator()) {
            if (&each == sum)
              continue;
            bool isOther =
                t == 0 || llvm::any_of(each.getOperands(), [&](Value v) {
                  return changes.lookup(v);
                });
            if (isOther)
              inner.clone(each, mapping);
            for (Value result : each.getResults())
              changes[result] = llvm::any_of(each.getOperands(), [&](Value v) {
                return changes.lookup(v);
              });
          }
          values.push_back(mapping.lookup(term));
        }
        auto add = [&](Value x, Value y) {
          IRMapping both;
          both.map(sum->getOperand(0), x);
          both.map(sum->getOperand(1), y);
          return inner.clone(*sum, both)->getResult(0);
        };
        while (values.size() > 1) {
          SmallVector<Value> next;
          for (size_t i = 0; i < values.size(); i += 2)
            next.push_back(i + 1 < values.size() ? add(values[i], values[i + 1])
                                                 : values[i]);
          values = std::move(next);
        }
        Value result = sum->getOperand(0) == before
                           ? add(arguments.back(), values[0])
                           : add(values[0], arguments.back());
        linalg::YieldOp::create(inner, loc, result);
      });
  for (NamedAttribute attribute : op->getDiscardableAttrs())
    split->setAttr(attribute.getName(), attribute.getValue());
  op->replaceAllUsesWith(split);
  op.erase();
  return split;
}

LogicalResult rhizome::splitSums(Operation *func, ArrayRef<SumChoice> choices) {
  SmallVector<linalg::GenericOp> sums;
  func->walk([&](linalg::GenericOp op) {
    if (isSum(op))
      sums.push_back(op);
  });
  for (const SumChoice &choice : choices) {
    if (choice.sum >= sums.size())
      return failure();
    auto split = splitSum(sums[choice.sum], choice.loop, choice.terms);
    if (failed(split))
      return failure();
    sums[choice.sum] = *split;
  }
  return success();
}
