// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a model's tasks cost on the host, and what copies between them cost: for
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

/// Places by minimum cut (lib/Place), at the host's costs. What the FPGA could
/// compute next to its layers costs it nothing but copies.
Placer placerFor(const Host &host);

/// The tasks of a module in order, and the copies between host and FPGA: all
/// that a task of the FPGA takes is one, and all that it gives.
PlannedTasks tasksOf(mlir::ModuleOp module, const Host &host);
} // namespace rhizome::model
