// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the commands do when they are given a tensor kernel (.cfd, .mlir) in a
// model's place: the options that only kernels have, and the runs.
#pragma once

#include "rhizome/KernelCommands/Kernel.h"
#include "rhizome/Model/Input.h"
#include <CLI/CLI.hpp>

namespace rhizome::cli {
/// Adds --cpu, --cfdlang-compat, --keep-order and --gemm.
void addKernelOptions(CLI::App &command,
                      kernelcommands::KernelOptions &options);

/// Options that say something of kernels alone, by name: they stand apart in
/// --help.
void ofKernels(CLI::App &command, const std::vector<std::string> &names);

/// A usage error for the first given option that says nothing of what the
/// command works on: a kernel, or else a network. `common` says something of
/// both.
void checkOptions(const CLI::App &command, bool isKernel,
                  const std::vector<std::string> &common);

/// compile and explore with a device: asks all generators, and says why the
/// kernel becomes no hardware.
int runKernelForDevice(const kernelcommands::KernelRequest &request, bool json);

/// compile and explore: the work before and after the algebra, the files.
int runKernelCompile(const kernelcommands::KernelRequest &request, bool json);

/// Adds --explore-formats, to compile and explore.
void addExploreFormats(CLI::App &command,
                       kernelcommands::KernelOptions &options);
/// What it does: the table of `rhizome formats` on random data.
int runExploreFormats(const kernelcommands::KernelRequest &request, bool json);

/// run and simulate: applies the kernel and says what came out.
int runKernelShown(const kernelcommands::KernelRunRequest &request, bool json);
} // namespace rhizome::cli
