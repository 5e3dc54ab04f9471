// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a package holds for those who run it: a client that builds alone and, of
// several nodes, the manifest with its script.
#pragma once

#include "rhizome/Model/HostModel.h"
#include "rhizome/Package/Package.h"

namespace rhizome::deploy {
/// Writes host/ and, if the plan has channels, deploy.yaml and deploy.sh. All
/// nodes have been written; the plan has its host section.
llvm::Error writeDeployment(PackageWriter &writer, const Plan &plan,
                            mlir::func::FuncOp network);
} // namespace rhizome::deploy
