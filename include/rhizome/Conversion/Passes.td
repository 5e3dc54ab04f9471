// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Conversions between dialects.
#ifndef RHIZOME_CONVERSION_PASSES_TD
#define RHIZOME_CONVERSION_PASSES_TD

include "mlir/Pass/PassBase.td"

#endif
