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

/// Writes the model, which the package holds already, as machine code for a
/// processor by LLVM's name, with its header and the tables by which a client
/// calls it; for "" the tables alone, which say that there is none.
llvm::Error writeCpuObject(PackageWriter &writer, const std::string &cpu);
} // namespace rhizome::deploy
