// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tensors to buffers, a step of the CPU path (Jit.cpp).
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace rhizome {
/// Rewrites a function on tensors (linalg, slices, reshapes; one block) to
/// take memrefs only: inputs, then constants, whose bytes go to `constants`,
/// then results. Fails with a diagnostic at what it does not know.
llvm::LogicalResult toBuffers(mlir::func::FuncOp func,
                              std::vector<std::vector<char>> &constants);
} // namespace rhizome
