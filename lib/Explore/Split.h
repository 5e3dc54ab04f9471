// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One operation too big for a device becomes several, each with some of the
// output channels, and a concatenation: in osa, so that the interpreter says
// what it computes.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace rhizome::explore {
/// Can `op`'s output channels be shared out?
bool isSplittable(mlir::Operation *op, int parts);

/// Replaces `op` by `parts` operations with as equal shares of the output
/// channels as can be, each followed by its share of the elementwise operations
/// that alone read `op`, and joined one after the other by osa.concat. Returns
/// the parts of `op` itself.
llvm::SmallVector<mlir::Operation *> splitChannels(mlir::Operation *op,
                                                   int parts);
} // namespace rhizome::explore
