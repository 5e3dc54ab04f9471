// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A checked graph as a module.
#pragma once

#include "Graph.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace rhizome::importer {
/// Builds the graph's inputs, nodes and outputs. Refusals may have been
/// entered, also before; then the module is of no use.
mlir::OwningOpRef<mlir::ModuleOp> importGraph(mlir::MLIRContext *context,
                                              const Graph &graph,
                                              llvm::StringRef directory,
                                              const ImportOptions &options,
                                              Refusals &refusals);

/// Of a file whose opset we don't read: the operations that we lack anyway.
void judgeOperations(mlir::MLIRContext *context, const Graph &graph,
                     const ImportOptions &options, Refusals &refusals);
} // namespace rhizome::importer
