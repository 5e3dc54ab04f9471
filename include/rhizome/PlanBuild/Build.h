// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From an explored design to a node's folder in a package.
#pragma once

#include "rhizome/Explore/Explore.h"
#include "rhizome/Package/Package.h"

namespace rhizome::planbuild {
/// A node of the plan: its prediction, its options, actors and
/// borders; everything except the names of files.
PlannedNode describeNode(const std::string &name, explore::NodeResult &result,
                         const gen::DeviceContext &device);

/// Assigns addresses to the data that the design reads from off-chip memories.
llvm::Error layOutSegments(explore::NodeResult &result);

/// Adds the design's modules of RTL to `holder`, which then names its top.
llvm::Error lowerNode(flow::DesignOp design, mlir::ModuleOp holder);

/// Adds to `holder` a file of SystemVerilog for each of its modules.
llvm::Error emitFiles(mlir::ModuleOp holder);

/// Writes nodes/<name>/design.mlir and rtl/: the files of `holder`, the library
/// cells that they use, memory images; in its sim/, models of vendor
/// primitives. Enters the files in `node`.
llvm::Error writeNode(PackageWriter &writer, PlannedNode &node,
                      explore::NodeResult &result, mlir::ModuleOp holder);
/// The same for a design that is lowered and printed first.
llvm::Error writeNode(PackageWriter &writer, PlannedNode &node,
                      explore::NodeResult &result);

/// Adds the products per cycle of `copies` equal designs.
void addMultipliers(Plan &plan, flow::DesignOp design, int64_t copies);
} // namespace rhizome::planbuild
