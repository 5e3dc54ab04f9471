// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The plan of what the explorer found: nodes, channels and links.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "rhizome/Package/Plan.h"
#include "rhizome/PlanBuild/Targets.h"

namespace rhizome::planbuild {
/// Nodes stand in the order of places; replicas follow each other. `goal` is
/// what a user said.
Plan planOf(const std::string &model, const std::string &goal,
            const Targets &targets, explore::Result &result,
            mlir::func::FuncOp network);
} // namespace rhizome::planbuild
