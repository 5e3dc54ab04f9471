// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// --core: a network becomes a program for the core of a package, of hardware
// that is there already.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "rhizome/Explore/Explore.h"
#include "rhizome/Pipeline/Pipeline.h"

namespace rhizome::pipeline {
/// The plan of the package `request.core`; enters its device, unless a device
/// or board is named, its clock and its generator in the request. A package
/// that is anything but one core is refused.
Result<Plan> aimAtCore(CompileRequest &request);

/// The decision for that core, from the network's first operation on.
explore::Steering steeringFor(const Plan &core, mlir::func::FuncOp network);

/// Why that decision has no offer.
Failure noProgram(const CompileRequest &request, const Plan &core);

/// Refuses a plan of hardware that differs from the core's package in anything.
Status checkCore(const CompileRequest &request, const Plan &core,
                 const Plan &own);
} // namespace rhizome::pipeline
