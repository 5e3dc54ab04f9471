// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which scalar operations a kernel may hold, and how its loops reach elements.
#include "KernelWalk.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace rhizome;
using namespace rhizome::interp;

std::optional<Code> interp::codeOf(Operation *op) {
  if (op->getNumResults() != 1 || !num::formatOf(op->getResult(0).getType()))
    return std::nullopt;
  return llvm::TypeSwitch<Operation *, std::optional<Code>>(op)
      .Case<arith::ConstantOp>([](auto) { return Code::Constant; })
      .Case<num::CastOp, arith::ExtFOp, arith::TruncFOp>(
          [](auto) { return Code::Cast; })
      .Case<num::AddOp, arith::AddFOp>([](auto) { return Code::Add; })
      .Case<num::SubOp, arith::SubFOp>([](auto) { return Code::Sub; })
      .Case<num::MulOp, arith::MulFOp>([](auto) { return Code::Mul; })
      .Case<num::DivOp, arith::DivFOp>([](auto) { return Code::Div; })
      .Case<num::MinOp, arith::MinimumFOp, arith::MinNumFOp>(
          [](auto) { return Code::Min; })
      .Case<num::MaxOp, arith::MaximumFOp, arith::MaxNumFOp>(
          [](auto) { return Code::Max; })
      .Case<num::FmaOp, math::FmaOp>([](auto) { return Code::Fma; })
      .Case<num::SqrtOp, math::SqrtOp>([](auto) { return Code::Sqrt; })
      .Case<num::ExpOp, math::ExpOp>([](auto) { return Code::Exp; })
      .Case<num::LogOp, math::LogOp>([](auto) { return Code::Log; })
      .Case<num::NegOp, arith::NegFOp>([](auto) { return Code::Neg; })
      .Case<num::AbsOp, math::AbsFOp>([](auto) { return Code::Abs; })
      .Default([](Operation *) { return std::nullopt; });
}

double interp::constantOf(Operation *op) {
  auto attr = dyn_cast<FloatAttr>(cast<arith::ConstantOp>(op).getValue());
  return attr ? attr.getValueAsDouble() : 0;
}

numeric::Arithmetic interp::arithmeticOfAny(Operation *op) {
  if (isa<num::NumDialect>(op->getDialect()))
    return num::arithmeticOf(op);
  return numeric::Arithmetic(*num::formatOf(op->getResult(0).getType()),
                             numeric::Rounding::NearestEven,
                             numeric::Overflow::Infinity);
}

/// Adds scale · expr to the constant and the loops' factors.
static bool collect(AffineExpr expr, int64_t scale, Access &access) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr)) {
    access.base += scale * constant.getValue();
    return true;
  }
  if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
    access.steps[dim.getPosition()] += scale;
    return true;
  }
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return false;
  if (expr.getKind() == AffineExprKind::Add)
    return collect(binary.getLHS(), scale, access) &&
           collect(binary.getRHS(), scale, access);
  auto factor = dyn_cast<AffineConstantExpr>(binary.getRHS());
  if (expr.getKind() != AffineExprKind::Mul || !factor)
    return false;
  return collect(binary.getLHS(), scale * factor.getValue(), access);
}

std::optional<Access> Access::of(AffineMap map, ArrayRef<int64_t> shape) {
  Access access;
  access.steps.resize(map.getNumDims());
  int64_t stride = 1;
  for (int i = int(map.getNumResults()) - 1; i >= 0; --i) {
    if (!collect(map.getResult(i), stride, access))
      return std::nullopt;
    stride *= shape[i];
  }
  return access;
}
