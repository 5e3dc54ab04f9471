// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The passes of the Transforms layer and their registration.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"
#include "rhizome/Dialect/Osa/Osa.h"
#include "rhizome/Support/Refusal.h"

namespace rhizome {
#define GEN_PASS_DECL
#include "rhizome/Transforms/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "rhizome/Transforms/Passes.h.inc"

/// Reports refusals as errors of a pass.
void emitRefusals(mlir::ModuleOp module, const Refusals &refusals);
} // namespace rhizome
