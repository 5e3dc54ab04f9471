// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a package of several nodes holds for those who run it: the manifest with
// its script, and a client that builds alone.
#pragma once

#include "HostModel.h"
#include "rhizome/Package/Package.h"

namespace rhizome::pipeline {
/// Writes deploy.yaml, deploy.sh and host/; nothing if the plan has no
/// channels. `network` is what the client sends to and hears from.
llvm::Error writeDeployment(PackageWriter &writer, const Plan &plan,
                            mlir::func::FuncOp network);
} // namespace rhizome::pipeline
