// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Element types inside a network: double precision becomes single, and booleans
// become 0 and 1 of i64, as on the host.
#include "Raise.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace rhizome;
using namespace rhizome::importer;

/// The same type with f32 for f64.
static Type single(Type type) {
  if (type.isF64())
    return Float32Type::get(type.getContext());
  if (auto shaped = dyn_cast<ShapedType>(type);
      shaped && shaped.getElementType().isF64())
    return shaped.clone(Float32Type::get(type.getContext()));
  return type;
}

/// A constant's value in single precision; null if it is of another type.
static TypedAttr single(TypedAttr value) {
  Type type = value.getType();
  if (single(type) == type)
    return {};
  if (auto scalar = dyn_cast<FloatAttr>(value))
    return FloatAttr::get(single(type), float(scalar.getValueAsDouble()));
  auto dense = dyn_cast<DenseFPElementsAttr>(value);
  if (!dense)
    return {};
  return dense.mapValues(
      Float32Type::get(type.getContext()), [](const APFloat &v) {
        return APFloat(float(v.convertToDouble())).bitcastToAPInt();
      });
}

//===----------------------------------------------------------------------===//
// Precision
//===----------------------------------------------------------------------===//

static void lowerPrecision(func::FuncOp function) {
  function.walk([](Operation *op) {
    if (isa<func::FuncOp>(op))
      return;
    for (Value v : op->getResults())
      v.setType(single(v.getType()));
    for (Region &region : op->getRegions())
      for (BlockArgument argument : region.getArguments())
        argument.setType(single(argument.getType()));
    if (auto constant = dyn_cast<arith::ConstantOp>(op))
      if (TypedAttr value = single(constant.getValue()))
        constant.setValueAttr(value);
  });
  function.walk([](Operation *op) {
    if (!isa<arith::ExtFOp, arith::TruncFOp>(op) ||
        op->getOperand(0).getType() != op->getResult(0).getType())
      return;
    op->getResult(0).replaceAllUsesWith(op->getOperand(0));
    op->erase();
  });
}

//===----------------------------------------------------------------------===//
// Truths
//===----------------------------------------------------------------------===//

static bool isTruths(Value v) {
  auto tensor = tensorOf(v);
  return tensor && tensor.getElementType().isSignlessInteger(1);
}

/// Operations that only make or move a tensor of booleans.
static bool carries(Operation *op) {
  return isa<tensor::EmptyOp, tensor::CollapseShapeOp, tensor::ExpandShapeOp,
             tensor::ExtractSliceOp, tensor::InsertSliceOp, tensor::ConcatOp,
             linalg::TransposeOp, linalg::BroadcastOp>(op);
}

/// Whether every operation on booleans is one of those or a loop.
static bool canWiden(func::FuncOp function) {
  auto isFixed = [](Operation &op) {
    bool any = llvm::any_of(op.getResults(), isTruths) ||
               llvm::any_of(op.getOperands(), isTruths);
    auto constant = dyn_cast<arith::ConstantOp>(op);
    return any && !carries(&op) &&
           !isa<linalg::GenericOp, linalg::FillOp>(op) &&
           !(constant && isa<DenseIntElementsAttr>(constant.getValue()));
  };
  return llvm::none_of(function.getBody().front(), isFixed);
}

/// Values that a loop reads are compared with 0, results are extended.
static void widenLoop(linalg::GenericOp op) {
  Block *body = op.getBody();
  OpBuilder b = OpBuilder::atBlockBegin(body);
  for (auto [i, v] : llvm::enumerate(op->getOperands())) {
    BlockArgument argument = body->getArgument(i);
    if (!tensorOf(v) || !argument.getType().isSignlessInteger(1))
      continue;
    argument.setType(b.getI64Type());
    Value zero =
        arith::ConstantOp::create(b, op.getLoc(), b.getI64IntegerAttr(0));
    auto truth = arith::CmpIOp::create(b, op.getLoc(), arith::CmpIPredicate::ne,
                                       argument, zero);
    argument.replaceAllUsesExcept(truth, truth);
  }
  Operation *yield = body->getTerminator();
  b.setInsertionPoint(yield);
  for (OpOperand &operand : yield->getOpOperands())
    if (operand.get().getType().isSignlessInteger(1))
      operand.set(arith::ExtUIOp::create(b, op.getLoc(), b.getI64Type(),
                                         operand.get()));
}

static void widenTruths(func::FuncOp function) {
  if (!canWiden(function))
    return; // the obstacle is refused by its type
  Type i64 = IntegerType::get(function.getContext(), 64);
  for (Operation &op : function.getBody().front()) {
    if (auto loop = dyn_cast<linalg::GenericOp>(op))
      widenLoop(loop);
    else // for named operations, which only pass their elements on
      for (Region &region : op.getRegions())
        for (BlockArgument argument : region.getArguments())
          if (argument.getType().isSignlessInteger(1))
            argument.setType(i64);
    if (auto fill = dyn_cast<linalg::FillOp>(op);
        fill && fill.getInputs()[0].getType().isSignlessInteger(1)) {
      OpBuilder b(fill);
      bool isSet = matchPattern(fill.getInputs()[0], m_One());
      fill.getInputsMutable()[0].set(arith::ConstantOp::create(
          b, op.getLoc(), b.getI64IntegerAttr(isSet)));
    }
    auto constant = dyn_cast<arith::ConstantOp>(op);
    for (Value v : op.getResults()) {
      if (!isTruths(v))
        continue;
      v.setType(tensorOf(v).clone(i64));
      if (constant)
        constant.setValueAttr(
            cast<DenseIntElementsAttr>(constant.getValue())
                .mapValues(i64, [](const APInt &bit) { return bit.zext(64); }));
    }
  }
}

void importer::settleTypes(func::FuncOp function) {
  lowerPrecision(function);
  widenTruths(function);
}
