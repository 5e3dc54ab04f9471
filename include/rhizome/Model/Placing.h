// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The cost of a model's tasks on the host, and of copies between them: for
// the choice of places, and for plans and reports.
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "rhizome/Package/PlannedTasks.h"
#include "rhizome/Target/Host.h"
#include "rhizome/Transforms/Tasks.h"

namespace rhizome::model {
/// Microseconds of an operation on one core of the host.
double hostUs(const Host &host, mlir::Operation *op);
/// Microseconds of one copy over a medium.
double copyUs(const Medium &medium, int64_t bytes);

/// Assigns places by minimum cut (lib/Solvers), at the host's costs. Operations
/// that the FPGA could compute next to its layers cost only copies there.
Placer placerFor(const Host &host);

/// The tasks of a module in order, and the copies between host and FPGA: one
/// for all inputs of an FPGA task, and one for all its outputs.
PlannedTasks tasksOf(mlir::ModuleOp module, const Host &host);
} // namespace rhizome::model
