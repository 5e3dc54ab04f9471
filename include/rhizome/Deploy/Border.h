// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What stands between a model's tensors and the device's frames, read from the
// tasks of the host: the conversions at both ends as the plan's `host`
// section. What they do not cover, the host computes.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "rhizome/Package/Plan.h"

namespace rhizome::deploy {
/// `inputs` and `outputs` are the ports of the FPGA's network, in its order.
HostSection hostSectionOf(mlir::ModuleOp module,
                          llvm::ArrayRef<BorderPort> inputs,
                          llvm::ArrayRef<BorderPort> outputs);
} // namespace rhizome::deploy
