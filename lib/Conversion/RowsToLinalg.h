// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The operations along rows as loops over i64.
#pragma once

#include "rhizome/Dialect/Osa/Rows.h"
#include "rhizome/Support/LinalgLoops.h"

namespace rhizome {
/// `x` is the input, `table` the exponentials, of i64 each; so is the result.
mlir::Value rowSoftmaxLoops(host::Loops &loops, osa::RowSoftmaxOp op,
                            mlir::Value x, mlir::Value table);
mlir::Value rowNormLoops(host::Loops &loops, osa::RowNormOp op, mlir::Value x);
/// The same of reals.
mlir::Value normalizeLoops(host::Loops &loops, osa::NormalizeOp op,
                           mlir::Value x);
} // namespace rhizome
