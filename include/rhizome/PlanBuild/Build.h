// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From an explored design to a node's folder in a package.
#pragma once

#include "rhizome/Explore/Explore.h"
#include "rhizome/Package/Package.h"

namespace rhizome::planbuild {
/// On a module of RTL: its top module's name.
constexpr llvm::StringLiteral kTop = "rhizome.top";

/// A node as the plan records it: what it promises, its options, actors and
/// borders; all but the names of files.
PlannedNode describeNode(const std::string &name, explore::NodeResult &result,
                         const gen::DeviceContext &device);

/// Gives what the design reads from memories outside the chip its places there.
llvm::Error layOutSegments(explore::NodeResult &result);

/// Adds the design's modules of RTL to `holder`, which then names its top.
llvm::Error lowerNode(flow::DesignOp design, mlir::ModuleOp holder);

/// Adds to `holder` a file of SystemVerilog for each of its modules.
llvm::Error emitFiles(mlir::ModuleOp holder);

/// Writes nodes/<name>/design.mlir and rtl/: the files of `holder`, the library
/// cells that they use, memory images; below it sim/, models of vendor
/// primitives. Enters the files in `node`.
llvm::Error writeNode(PackageWriter &writer, PlannedNode &node,
                      explore::NodeResult &result, mlir::ModuleOp holder);
/// The same of a design that is lowered and printed first.
llvm::Error writeNode(PackageWriter &writer, PlannedNode &node,
                      explore::NodeResult &result);

/// Adds the products a cycle of `copies` equal designs.
void addMultipliers(Plan &plan, flow::DesignOp design, int64_t copies);
} // namespace rhizome::planbuild
