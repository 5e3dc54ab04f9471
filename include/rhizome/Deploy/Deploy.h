// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The parts of a package for those who run it: a client that builds alone and,
// for several nodes, the manifest with its script.
#pragma once

#include "rhizome/Model/HostModel.h"
#include "rhizome/Package/Package.h"

namespace rhizome::deploy {
/// Writes deploy.yaml and deploy.sh, for a plan with channels.
llvm::Error writeManifest(PackageWriter &writer, const Plan &plan);

/// Writes host/ and, if the plan has channels, deploy.yaml and deploy.sh. All
/// nodes must have been written, and the plan must have its host section.
llvm::Error writeDeployment(PackageWriter &writer, const Plan &plan,
                            mlir::func::FuncOp network);

/// Writes the model, which the package already contains, as machine code for a
/// processor with LLVM's name, with its header and the tables that a client
/// uses to call it; for "" only the tables, which state that there is none.
llvm::Error writeCpuObject(PackageWriter &writer, const std::string &cpu);
} // namespace rhizome::deploy
