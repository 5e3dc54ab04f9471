// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What compile and explore share: the target, the goal, and how the plan is
// printed.
#pragma once

#include "Kernel.h"
#include "ModelOptions.h"
#include "Output.h"
#include "rhizome/Pipeline/Pipeline.h"

namespace rhizome::cli {
/// A request, as the options fill it in.
struct TargetOptions {
  pipeline::CompileRequest request;
  std::string target = "cpu"; ///< of a kernel
  std::string clock;          ///< MHz, or "auto"
  int64_t maxNodes = 0;
  bool json = false;
  bool dumpConfig = false; ///< print the options as a file, and stop
};

/// Adds MODEL, --device, --board, --cluster, --goal, --max-nodes, --clock-mhz,
/// --accept-nearest, --target, those of a model and of a kernel, and --json.
void addTargetOptions(CLI::App &command, TargetOptions &options);

/// Adds an option that names a phase.
void addPhase(CLI::App &command, const std::string &name,
              std::optional<pipeline::Phase> &phase, const std::string &help);

/// Adds --compile-from.
void addCompileFrom(CLI::App &command, pipeline::CompileRequest &request);
/// A usage error for options that a module of --compile-from has no use for.
void refuseWithFrom(const CLI::App &command);
/// For the callback of a command: whether it only prints its options as a file,
/// which `run` then does. Otherwise a usage error if there is no MODEL.
bool dumpsConfig(const CLI::App &command, const TargetOptions &options,
                 std::function<int()> &run);

/// True if the user names a device, a board or a cluster.
bool namesHardware(const CLI::App &command);

/// A usage error for what only a kernel's hardware has, if there is no device.
void refuseClock(const CLI::App &command);

/// The device and the clock of a kernel's hardware.
planbuild::TargetChoice deviceOf(const CLI::App &command,
                                 const TargetOptions &options);
/// The options that decide how a kernel's unit is put together.
inline constexpr const char *kOfUnits[] = {"--goal",     "--copies", "--stages",
                                           "--resident", "--lanes",  "--words",
                                           "--system",   "--units"};

/// A request for a kernel's hardware; a usage error for options of a unit that
/// contradict each other.
pipeline::CompileRequest hardwareOf(const CLI::App &command,
                                    const TargetOptions &options);

/// The request, after the command line has been read.
pipeline::CompileRequest requestOf(const CLI::App &command,
                                   const TargetOptions &options);

/// {"name":,"device":,"actors":[…],"utilization":{…},…} of every node.
llvm::json::Array nodesJson(const Plan &plan);

/// One row per node: device, actors, rate, use of every resource.
void printNodes(const Plan &plan);

/// Prints a failure like failWith; if a goal cannot be met, then the nearest
/// plan. Returns the exit code.
int failCompile(const Failure &failure, bool json);
} // namespace rhizome::cli
