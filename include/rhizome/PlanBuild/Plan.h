// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The plan for an exploration result: nodes, channels and links.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "rhizome/Package/Plan.h"
#include "rhizome/PlanBuild/Targets.h"

namespace rhizome::planbuild {
/// Nodes are in the order of places; replicas follow each other. `goal` is
/// the user's text.
Plan planOf(const std::string &model, const std::string &goal,
            const Targets &targets, explore::Result &result,
            mlir::func::FuncOp network);
} // namespace rhizome::planbuild
