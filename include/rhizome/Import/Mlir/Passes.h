// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The passes of the MLIR importer and their registration.
#pragma once

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Pass/Pass.h"
#include "rhizome/Dialect/Osa/Osa.h"

namespace rhizome {
#define GEN_PASS_DECL
#include "rhizome/Import/Mlir/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "rhizome/Import/Mlir/Passes.h.inc"
} // namespace rhizome
