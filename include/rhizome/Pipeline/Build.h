// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From an explored design to a node's folder in a package.
#pragma once

#include "rhizome/Explore/Explore.h"
#include "rhizome/Package/Package.h"
#include "rhizome/Target/Device.h"

namespace rhizome {
/// What costs depend on: the device's blocks, and its family's model.
llvm::Expected<gen::CostContext> costContextOf(const Device &device);

/// What generators may know of a device, at this clock.
llvm::Expected<gen::DeviceContext> contextOf(const Device &device,
                                             double clockMhz);

/// Lowers the design to RTL and writes nodes/<design>/rtl: the top module, the
/// library cells that it uses, memory images; below it sim/, models of vendor
/// primitives. Returns the node as the plan records it.
llvm::Expected<PlannedNode> writeNode(PackageWriter &writer,
                                      mlir::func::FuncOp network,
                                      explore::Result &result,
                                      const gen::CostContext &cost);

/// The plan's figures for a whole result.
void fillPrediction(Plan &plan, explore::Result &result,
                    const gen::DeviceContext &device);
} // namespace rhizome
