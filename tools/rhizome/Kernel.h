// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the commands do with a tensor kernel (.cfd, .mlir) instead of a model:
// the options that only kernels have, and the runs.
#pragma once

#include "rhizome/KernelCommands/ForeignHls.h"
#include "rhizome/KernelCommands/Hardware.h"
#include "rhizome/KernelCommands/Systems.h"
#include "rhizome/Model/Input.h"
#include "rhizome/Pipeline/Pipeline.h"
#include <CLI/CLI.hpp>

namespace rhizome::cli {
/// Adds --cpu, --cfdlang-compat, --keep-order and --gemm.
void addKernelOptions(CLI::App &command,
                      kernelcommands::KernelOptions &options);

/// Adds --stages, --resident and --lanes.
void addUnitOptions(CLI::App &command, UnitChoice &unit);

/// The names of options that only kernels have; --help lists them apart.
void ofKernels(CLI::App &command, const std::vector<std::string> &names);

/// Whether the file at `path` is a kernel; as checkOptions, unless the file
/// cannot be read, which its reader reports.
bool checkOptionsOf(const CLI::App &command, const std::string &path,
                    const std::vector<std::string> &common);

/// A usage error for the first given option that does not apply to the input, a
/// kernel or a network. Options in `common` apply to both.
void checkOptions(const CLI::App &command, bool isKernel,
                  const std::vector<std::string> &common);

/// compile and explore with a device: the package, what its unit costs and how
/// long its parts take.
int showKernel(const pipeline::CompileResult &result, bool json);
/// Whether a failure is text with its own places in a kernel's file.
bool isPlaced(const Failure &failure);
/// explore --systems.
int runKernelSystems(const kernelcommands::SystemRequest &request,
                     const std::string &picture, bool json);
/// compile for another tool: its input.
int runForeignHls(const kernelcommands::ForeignHlsRequest &request, bool json);
/// A usage error for options of a kernel that is compiled.
void refuseKernelOptions(const CLI::App &command,
                         const std::vector<std::string> &except = {});
/// simulate of a kernel's package.
int runKernelHardware(const kernelcommands::HardwareRunRequest &request,
                      bool json);

/// run of a kernel's package, on this CPU.
int runKernelPackage(const kernelcommands::HardwareRunRequest &request,
                     bool json);

/// Prints a failure; a kernel's errors name their place in the file and are
/// printed unchanged.
int failWithPlaces(const Failure &failure, bool json);

/// compile and explore: the work before and after the algebra, the files.
int runKernelCompile(const kernelcommands::KernelRequest &request, bool json);

/// Adds --explore-formats, to compile and explore.
void addExploreFormats(CLI::App &command,
                       kernelcommands::KernelOptions &options);
/// Prints the table of `rhizome formats` on random data.
int runExploreFormats(const kernelcommands::KernelRequest &request, bool json);

/// run and simulate: applies the kernel and prints the result.
int runKernelShown(const kernelcommands::KernelRunRequest &request, bool json);
} // namespace rhizome::cli
