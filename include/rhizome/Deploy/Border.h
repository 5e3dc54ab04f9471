// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The conversions between a model's tensors and the device's frames, read from
// the host tasks: those at both ends form the plan's `host` section. The host
// computes everything else.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "rhizome/Package/Plan.h"

namespace rhizome::deploy {
/// For each port, which of the network's arguments or results it is: the one of
/// its name, or where names are missing the one at its place.
std::vector<unsigned> tensorsAt(mlir::func::FuncOp network,
                                llvm::ArrayRef<BorderPort> ports, bool results);

/// `inputs` and `outputs` are the ports of the FPGA's network, in any order.
HostSection hostSectionOf(mlir::ModuleOp module,
                          llvm::ArrayRef<BorderPort> inputs,
                          llvm::ArrayRef<BorderPort> outputs);
} // namespace rhizome::deploy
