// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What compile and explore share: where the network is to run, for which goal,
// and how what was found is shown.
#pragma once

#include "Kernel.h"
#include "ModelOptions.h"
#include "Output.h"
#include "rhizome/Pipeline/Pipeline.h"

namespace rhizome::cli {
/// A request as its options fill it.
struct TargetOptions {
  pipeline::CompileRequest request;
  kernelcommands::KernelOptions kernel; ///< if MODEL is one
  std::string target = "cpu";           ///< of a kernel
  double clockMhz = 0;
  int64_t maxNodes = 0;
  bool json = false;
};

/// Adds MODEL, --device, --board, --cluster, --goal, --max-nodes, --clock-mhz,
/// --accept-nearest, --target, those of a model and of a kernel, and --json.
void addTargetOptions(CLI::App &command, TargetOptions &options);

/// True if the user names a device, a board or a cluster.
bool namesHardware(const CLI::App &command);

/// The request, once the command line is read.
pipeline::CompileRequest requestOf(const CLI::App &command,
                                   const TargetOptions &options);

/// {"name":,"device":,"actors":[…],"utilization":{…},…} of every node.
llvm::json::Array nodesJson(const Plan &plan);

/// A row a node: device, actors, rate, use of every resource.
void printNodes(const Plan &plan);

/// A failure as failWith says it; of a goal that cannot be met the nearest plan
/// follows. Returns the exit code.
int failCompile(const Failure &failure, bool json);
} // namespace rhizome::cli
