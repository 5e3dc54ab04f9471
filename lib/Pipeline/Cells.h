// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The library's cells, copied into a node's folder.
#pragma once

#include "mlir/IR/Operation.h"
#include "rhizome/Package/Package.h"
#include <set>

namespace rhizome {
/// Verifies what has been built; anything wrong is a fault of the compiler.
llvm::Error checkHardware(mlir::Operation *op);

/// Copies `cell` and every cell that it instantiates, callees first, except
/// those in `seen`. Enters what was copied in `seen`, `files` and, models of
/// vendor primitives, in `models`.
llvm::Error copyCell(PackageWriter &writer, const std::string &folder,
                     const std::string &library, const std::string &cell,
                     std::set<std::string> &seen,
                     std::vector<std::string> &files,
                     std::vector<std::string> &models);
} // namespace rhizome
