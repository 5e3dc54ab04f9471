// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The first phases of every command that takes a model file.
#pragma once

#include "rhizome/Model/HostModel.h"
#include "rhizome/Model/Request.h"
#include "rhizome/Support/Refusal.h"
#include "rhizome/Transforms/Integerize.h"

namespace rhizome::model {
/// Import and integerize. Returns a module with flow.tasks, or null with the
/// reasons in `refusals` (the first also where a part only said it as a
/// diagnostic). A model of which nothing can be built on an FPGA is refused,
/// unless `hostOnly` allows it.
mlir::OwningOpRef<mlir::ModuleOp>
importModel(mlir::MLIRContext &context, const ModelRequest &request,
            const Progress &progress, Refusals &refusals,
            IntegerizeStats &stats, bool hostOnly = false);

/// Reads the file: real-level @main, or what a file of integers holds.
mlir::OwningOpRef<mlir::ModuleOp> readModel(mlir::MLIRContext &context,
                                            const ModelRequest &request,
                                            const Progress &progress,
                                            Refusals &refusals);
/// Gives @main the quantizers of --calibration or --number-format; nothing if
/// neither is asked for.
llvm::LogicalResult quantizeModel(mlir::ModuleOp module,
                                  const ModelRequest &request,
                                  const Progress &progress, Refusals &refusals,
                                  IntegerizeStats &stats);
/// @main to the functions of an integer model, with all refusals of a model
/// of which nothing can be built; nothing if that is done already.
llvm::LogicalResult lowerModel(mlir::ModuleOp module,
                               const ModelRequest &request,
                               const Progress &progress, Refusals &refusals,
                               IntegerizeStats &stats, bool hostOnly = false);

/// The first step alone: real-level @main, with the quantizers of
/// --calibration if that is asked for. Of a file that holds a network of
/// integers, what importModel gives.
mlir::OwningOpRef<mlir::ModuleOp> importReal(mlir::MLIRContext &context,
                                             const ModelRequest &request,
                                             const Progress &progress,
                                             Refusals &refusals);
/// True if the FPGA computes nothing.
bool isEmpty(mlir::ModuleOp module);
/// True for what needs no second step: it has flow.tasks.
bool isIntegerNetwork(mlir::ModuleOp module);
/// The second step.
llvm::LogicalResult integerizeModel(mlir::ModuleOp module,
                                    const ModelRequest &request,
                                    const Progress &progress,
                                    Refusals &refusals, IntegerizeStats &stats);
} // namespace rhizome::model
