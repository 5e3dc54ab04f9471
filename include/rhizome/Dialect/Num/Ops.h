// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The `num` dialect's scalar operations: arithmetic in formats.
#pragma once

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "rhizome/Dialect/Num/Num.h"
#include "rhizome/Numeric/Arithmetic.h"

#include "rhizome/Dialect/Num/NumEnums.h.inc"

#define GET_OP_CLASSES
#include "rhizome/Dialect/Num/NumOps.h.inc"

namespace rhizome::num {
/// The arithmetic of the operation, which must be one of this dialect; of a
/// comparison that of its operands.
numeric::Arithmetic arithmeticOf(mlir::Operation *op);

/// True if two numbers in this order fulfill the predicate.
inline bool holds(Predicate predicate, numeric::Order order) {
  return uint32_t(predicate) >> unsigned(order) & 1;
}
} // namespace rhizome::num
