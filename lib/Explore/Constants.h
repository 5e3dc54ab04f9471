// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The constants of operations, whatever the operations are: operands that are
// constants, and tables.
#pragma once

#include "mlir/IR/Operation.h"

namespace rhizome::explore {
/// Whether it accumulates products.
bool multiplies(mlir::Operation *op);
/// The constants by which it multiplies: the first constant operand of an
/// operation that accumulates products, null if there is none.
mlir::OpOperand *weightsOf(mlir::Operation *op);
/// The bits of all its constants: weights, biases, thresholds and tables.
double constantBitsOf(mlir::Operation *op);
/// The bits of its weights that are not zero: circuits leave the others out.
double usedWeightBitsOf(mlir::Operation *op);
} // namespace rhizome::explore
