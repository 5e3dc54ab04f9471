// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What exploration decided, in the IR and back: `flow.plan` holds all that the
// designs can be built from again, and what is told of the plan.
#pragma once

#include "rhizome/Dialect/Flow/Plan.h"
#include "rhizome/Explore/Explore.h"

namespace rhizome::explore {
/// Adds the plan at the end of `module`. `goal` is the one that it was made
/// for.
flow::PlanOp record(const Result &result, llvm::StringRef goal,
                    mlir::ModuleOp module);

/// Builds what `plan` says, as `explore` does, with `cluster` as it was given
/// to that. `goal` is the plan's, parsed. What the plan names and nobody offers
/// is entered in the result's `refused`.
mlir::FailureOr<Result> rebuild(mlir::func::FuncOp network, flow::PlanOp plan,
                                const Goal &goal, const Cluster &cluster);

/// Enters functions, designs and what they promise in the plan's nodes.
void recordDesigns(Result &result, flow::PlanOp plan);
/// Enters the contents of their memories, where they are not there yet: these
/// are as large as the weights, and who goes on with `result` has them.
void recordImages(const Result &result, flow::PlanOp plan);

/// The result with the functions and designs that the plan's nodes name; those
/// are there, which the caller has verified. `network` is what a plan of one
/// device builds as it stands.
Result readDesigns(flow::PlanOp plan, mlir::func::FuncOp network);

/// Takes functions and designs of `result` out of their module; they are the
/// caller's to put back or to drop.
void detach(Result &result);
/// Puts them back at the end of `module`.
void attach(Result &result, mlir::ModuleOp module);
/// Deletes what was taken out and not put back.
void drop(Result &result);
} // namespace rhizome::explore
