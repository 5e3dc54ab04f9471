// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A kernel's package as a device: elements through a driver, and a node of a
// cluster as a process.
#pragma once

#include "rhizome/Deploy/Service.h"
#include "rhizome/KernelCommands/Kernel.h"

namespace rhizome::kernelcommands {
/// Whether the package at a path, of a kernel, is for the nodes of a cluster.
bool isLinked(const std::string &path);

/// Runs the elements of `data` through the request's driver, and compares them
/// with the evaluator unless the request says otherwise. The drivers null,
/// opencl (this CPU in the device's place) and, of a cluster, udp and mpi.
Result<deploy::RunResult> runKernelFrames(const deploy::RunRequest &request,
                                          const KernelRunRequest &data);

/// deploy::serveNode of a kernel's package.
Result<deploy::ServeResult>
serveKernelNode(const deploy::ServeRequest &request);
} // namespace rhizome::kernelcommands
