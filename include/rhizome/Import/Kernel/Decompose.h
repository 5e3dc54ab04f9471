// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operations of other projects' modules in terms of the few that kernels are
// made of.
#pragma once

#include "mlir/IR/BuiltinOps.h"

namespace rhizome::kernel {
/// Replaces what has a decomposition in MLIR: linalg.softmax, linalg.pack and
/// unpack become generic operations, fills and slices; so do tensor.pad,
/// concat, generate, from_elements and splat. What has none, such as a pack of
/// tensors without fixed extents, stays.
void decompose(mlir::ModuleOp module);
} // namespace rhizome::kernel
