// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The result of exploration in the IR, and back: `flow.plan` contains
// everything needed to build the designs again, and what is reported about the
// plan.
#pragma once

#include "rhizome/Dialect/Flow/Plan.h"
#include "rhizome/Explore/Explore.h"

namespace rhizome::explore {
/// Adds the plan at the end of `module`. `goal` is the one that it was made
/// for.
flow::PlanOp record(const Result &result, llvm::StringRef goal,
                    mlir::ModuleOp module);

/// Builds the plan `plan` like `explore` does, with the same `cluster`
/// argument. `goal` is the plan's, parsed. Choices that nobody offers
/// are entered in the result's `refused`.
mlir::FailureOr<Result> rebuild(mlir::func::FuncOp network, flow::PlanOp plan,
                                const Goal &goal, const Cluster &cluster);

/// Enters functions, designs and their predictions in the plan's nodes.
void recordDesigns(Result &result, flow::PlanOp plan);
/// Enters the contents of their memories, unless present: these
/// are as large as the weights, and callers that continue with `result` have
/// them.
void recordImages(const Result &result, flow::PlanOp plan);

/// The result with the functions and designs that the plan's nodes name; the
/// caller has verified that they exist. `network` is built unchanged by a plan
/// of one device.
Result readDesigns(flow::PlanOp plan, mlir::func::FuncOp network);

/// Removes the functions and designs of `result` from their module; the
/// caller puts them back or drops them.
void detach(Result &result);
/// Puts them back at the end of `module`.
void attach(Result &result, mlir::ModuleOp module);
/// Deletes those that were removed and not put back.
void drop(Result &result);
} // namespace rhizome::explore
