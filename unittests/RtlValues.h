// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Values of `rtl` logic, operation by operation, by the dialect's folders.
#pragma once

#include "mlir/IR/Block.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/APInt.h"
#include "llvm/ADT/DenseMap.h"
#include "gtest/gtest.h"

namespace rhizome::test {
/// The values of the block, which contains logic without feedback; `inputs`
/// are its arguments'.
inline llvm::DenseMap<mlir::Value, llvm::APInt>
valuesOf(mlir::Block &block, llvm::ArrayRef<llvm::APInt> inputs) {
  llvm::DenseMap<mlir::Value, llvm::APInt> values;
  for (auto [argument, input] : llvm::zip_equal(block.getArguments(), inputs))
    values[argument] = input;
  for (mlir::Operation &op : block) {
    if (op.getNumResults() == 0)
      continue;
    llvm::SmallVector<mlir::Attribute> operands;
    for (mlir::Value operand : op.getOperands())
      operands.push_back(
          mlir::IntegerAttr::get(operand.getType(), values.at(operand)));
    llvm::SmallVector<mlir::OpFoldResult> results;
    if (failed(op.fold(operands, results)) || results.size() != 1) {
      ADD_FAILURE() << "an operation on constants does not fold: "
                    << op.getName().getStringRef().str();
      return values;
    }
    auto value = llvm::dyn_cast<mlir::Value>(results[0]);
    values[op.getResult(0)] = value
                                  ? values.at(value)
                                  : llvm::cast<mlir::IntegerAttr>(
                                        llvm::cast<mlir::Attribute>(results[0]))
                                        .getValue();
  }
  return values;
}
} // namespace rhizome::test
