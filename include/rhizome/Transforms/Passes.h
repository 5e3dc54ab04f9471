// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The passes of the Transforms layer and their registration.
#pragma once

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Pass/Pass.h"
#include "rhizome/Dialect/Osa/Osa.h"
#include "rhizome/Support/Refusal.h"

namespace rhizome {
#define GEN_PASS_DECL
#include "rhizome/Transforms/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "rhizome/Transforms/Passes.h.inc"

/// @main, if the passes on networks can read it: one block, on tensors of
/// static shape. Otherwise a refusal, and null.
mlir::func::FuncOp findNetwork(mlir::ModuleOp module, Refusals &refusals);
/// Reports refusals as errors of a pass.
void emitRefusals(mlir::ModuleOp module, const Refusals &refusals);
} // namespace rhizome
