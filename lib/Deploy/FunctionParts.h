// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The parts of a node's function that share nothing: a node computes each of
// them as soon as its own inputs are there, as hardware does.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/OwningOpRef.h"
#include <vector>

namespace rhizome::deploy {
struct FunctionPart {
  mlir::OwningOpRef<mlir::func::FuncOp> function;
  /// Its arguments and results by their numbers in the whole, ascending.
  std::vector<size_t> inputs, outputs;
};

/// Together the parts have each argument and result once. What depends on no
/// argument, and arguments on which nothing depends, are in the first part.
std::vector<FunctionPart> partsOf(mlir::func::FuncOp function);
} // namespace rhizome::deploy
