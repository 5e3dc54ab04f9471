// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The first phases of every command that takes a model file.
#pragma once

#include "rhizome/Model/HostModel.h"
#include "rhizome/Model/Request.h"
#include "rhizome/Support/Refusal.h"
#include "rhizome/Transforms/Integerize.h"

namespace rhizome::model {
/// Import and integerize. Returns a module with flow.tasks, or null with the
/// reasons in `refusals` (also the first one if a part only reported it as a
/// diagnostic). A model of which nothing can be built on an FPGA is refused,
/// unless `hostOnly` allows it.
mlir::OwningOpRef<mlir::ModuleOp>
importModel(mlir::MLIRContext &context, const ModelRequest &request,
            const Progress &progress, Refusals &refusals,
            IntegerizeStats &stats, bool hostOnly = false);

/// Reads the file: real-level @main, or the contents of a file of integers.
mlir::OwningOpRef<mlir::ModuleOp> readModel(mlir::MLIRContext &context,
                                            const ModelRequest &request,
                                            const Progress &progress,
                                            Refusals &refusals);
/// Adds the quantizers of --calibration or --number-format to @main; does
/// nothing if neither is given.
llvm::LogicalResult quantizeModel(mlir::ModuleOp module,
                                  const ModelRequest &request,
                                  const Progress &progress, Refusals &refusals,
                                  IntegerizeStats &stats);
/// Turns @main into the functions of an integer model, with all refusals of a
/// model of which nothing can be built; does nothing if that is already done.
llvm::LogicalResult lowerModel(mlir::ModuleOp module,
                               const ModelRequest &request,
                               const Progress &progress, Refusals &refusals,
                               IntegerizeStats &stats, bool hostOnly = false);

/// Only the first step: real-level @main, with the quantizers of
/// --calibration if given. For a file with a network of
/// integers, the result of importModel.
mlir::OwningOpRef<mlir::ModuleOp> importReal(mlir::MLIRContext &context,
                                             const ModelRequest &request,
                                             const Progress &progress,
                                             Refusals &refusals);
/// The same, with the quantizers of --number-format, too.
mlir::OwningOpRef<mlir::ModuleOp> importQuantized(mlir::MLIRContext &context,
                                                  const ModelRequest &request,
                                                  const Progress &progress,
                                                  Refusals &refusals);
/// The second step after that one.
llvm::LogicalResult lowerQuantized(mlir::ModuleOp module,
                                   const ModelRequest &request,
                                   const Progress &progress,
                                   Refusals &refusals, IntegerizeStats &stats);
/// Whether --calibration or --number-format says how it rounds, not the file.
inline bool isQuantizedHere(const ModelRequest &request) {
  return request.calibration || request.numberFormat;
}
/// True if the FPGA computes nothing.
bool isEmpty(mlir::ModuleOp module);
/// True for modules that need no second step: they have flow.tasks.
bool isIntegerNetwork(mlir::ModuleOp module);
/// The second step.
llvm::LogicalResult integerizeModel(mlir::ModuleOp module,
                                    const ModelRequest &request,
                                    const Progress &progress,
                                    Refusals &refusals, IntegerizeStats &stats);
} // namespace rhizome::model
