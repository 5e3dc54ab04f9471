// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The conversion passes and their registration.
#pragma once

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "rhizome/Conversion/Storage.h"

namespace rhizome {
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "rhizome/Conversion/Passes.h.inc"
} // namespace rhizome
