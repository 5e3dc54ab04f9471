// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Passes on `osa`.
#ifndef RHIZOME_TRANSFORMS_PASSES_TD
#define RHIZOME_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

#endif
