// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Comparisons of floats as integers: the same for CPUs and for hardware.
#pragma once

#include "mlir/IR/Builders.h"
#include "rhizome/Dialect/Num/Ops.h"

namespace rhizome {
/// Whether two floats fulfill a predicate, as i1. They are patterns of
/// `format`, in integers at least as wide.
mlir::Value compareFloats(mlir::OpBuilder &b, mlir::Location loc,
                          num::Predicate predicate, mlir::Value x,
                          mlir::Value y, const numeric::Format &format);

/// The same of fixed point in integers, sign- or zero-extended.
mlir::Value compareFixed(mlir::OpBuilder &b, mlir::Location loc,
                         num::Predicate predicate, mlir::Value x, mlir::Value y,
                         const numeric::Format &format);
} // namespace rhizome
