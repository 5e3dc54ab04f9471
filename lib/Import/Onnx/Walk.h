// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Converts a checked graph to a module.
#pragma once

#include "Graph.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace rhizome::importer {
/// Builds the graph's inputs, nodes and outputs. If there are refusals,
/// including earlier ones, the module must not be used. `needsExactIntegers`
/// tells whether some integers are not exact unless the host computes them
/// (ImportOptions::integersOnHost).
mlir::OwningOpRef<mlir::ModuleOp>
importGraph(mlir::MLIRContext *context, const Graph &graph,
            llvm::StringRef directory, const ImportOptions &options,
            Refusals &refusals, bool &needsExactIntegers);

/// For a file with an unsupported opset: the unsupported operations.
void judgeOperations(mlir::MLIRContext *context, const Graph &graph,
                     const ImportOptions &options, Refusals &refusals);
} // namespace rhizome::importer
