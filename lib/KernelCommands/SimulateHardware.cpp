// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// simulate of a kernel's package: elements through its RTL, word by word
// against the evaluator.
#include "KernelWords.h"
#include "rhizome/Simulate/Simulate.h"
#include "rhizome/Support/Failures.h"
#include "rhizome/Support/Tools.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"

using namespace mlir;
using namespace rhizome;
using namespace rhizome::kernelcommands;

static llvm::Error textError(const llvm::Twine &text) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), text);
}

/// results/simulate.json or cluster.json, as for a network.
static llvm::Error keepMeasurement(const Package &package,
                                   const HardwareRunResult &result) {
  llvm::json::Object measured;
  if (const auto &cluster = result.cluster) {
    measured["throughput_per_s"] = cluster->throughputPerS;
    measured["latency_us"] = cluster->latencyUs;
  } else {
    measured["interval_cycles"] = result.intervalCycles;
    measured["latency_cycles"] = result.latencyCycles;
    measured["throughput_per_s"] =
        double(result.plan.kernel->elementsAtOnce()) *
        result.plan.predicted.clockMhz * 1e6 / result.intervalCycles;
  }
  llvm::json::Object kept{{"frames", result.frames},
                          {"mismatches", result.mismatches},
                          {"predicted", toJSON(result.plan.predicted)},
                          {"measured", std::move(measured)},
                          {"parties", result.cluster
                                          ? sharesOf(result.cluster->parties)
                                          : llvm::json::Array()}};
  return package.writeResult(
      result.cluster ? "cluster.json" : "simulate.json",
      llvm::formatv("{0:2}\n", llvm::json::Value(std::move(kept))).str());
}

/// Which port of a system has a memory that answers with an error.
static llvm::Error chooseFault(llvm::StringRef text,
                               const PlannedKernel &kernel, SimOptions &how) {
  if (text.empty())
    return llvm::Error::success();
  auto usage = [&](const llvm::Twine &why) {
    return ofKind(Failure::Kind::Usage, textError("--memory-error: " + why));
  };
  constexpr unsigned kSlverr = 2, kDecerr = 3;
  const auto [tensor, response] = text.split('=');
  how.fault = response == "decerr" ? kDecerr : kSlverr;
  if (!response.empty() && response != "decerr" && response != "slverr")
    return usage("'" + response +
                 "' is no answer of AXI4; remedy: NAME, "
                 "NAME=slverr or NAME=decerr");
  if (!kernel.system)
    return usage("the package has no memory; remedy: compile with --system");
  std::string all;
  for (const PlannedMover &port : kernel.system->ports)
    for (const PlannedStream &stream : kernel.streams)
      for (const std::string &name : stream.tensors) {
        if (stream.port != port.stream)
          continue;
        all += (all.empty() ? "" : ", ") + name;
        if (name == tensor)
          how.faultyPort = port.port;
      }
  if (how.faultyPort.empty())
    return usage("no buffer holds '" + tensor + "'; remedy: one of " + all);
  return llvm::Error::success();
}

/// Elements through the RTL of a unit.
static llvm::Expected<Frames> runUnit(const HardwareRunRequest &request,
                                      const Package &package,
                                      const KernelWords &kernel,
                                      const Elements &elements,
                                      HardwareRunResult &result) {
  SimOptions how;
  how.stallsIn = request.stallsIn;
  how.stallsOut = request.stallsOut;
  how.seed = request.seed;
  how.fourState = request.fourState;
  how.trace = request.trace;
  how.progress = request.showProgress;
  how.onWait = request.onWait;
  how.isSerial = !kernel.planned().isDataflow;
  how.missing = kernel.repeatedIn(elements);
  if (llvm::Error error =
          chooseFault(request.memoryError, kernel.planned(), how))
    return std::move(error);
  auto run = simulateRtl(package, kernel.framesOf(elements), how);
  if (!run)
    return run.takeError();
  result.measured = run->measured;
  result.intervalCycles = run->intervalCycles;
  result.latencyCycles = run->latencyCycles;
  result.simCyclesPerS = run->simCyclesPerS;
  result.buildSeconds = run->buildSeconds;
  result.simulator = run->simulator;
  return std::move(run->outputs);
}

/// Elements through a cluster's nodes.
static llvm::Expected<Frames> runNodes(const HardwareRunRequest &request,
                                       const Package &package,
                                       const KernelWords &kernel,
                                       const Elements &elements,
                                       HardwareRunResult &result) {
  ClusterOptions options = *request.cluster;
  options.seed = request.seed;
  options.progress = request.showProgress;
  options.onWait = request.onWait;
  auto run =
      simulateCluster(package, kernel.framesOf(elements), kernel.inputPorts(),
                      kernel.outputPorts(), options);
  if (!run)
    return run.takeError();
  result.buildSeconds = run->buildSeconds;
  result.cluster = std::move(*run);
  return std::move(result.cluster->outputs);
}

/// Whether a package is simulated so; links are between several nodes.
static llvm::Error checkLevel(const HardwareRunRequest &request,
                              const Plan &plan) {
  if (request.cluster && plan.channels.empty())
    return ofKind(
        Failure::Kind::Usage,
        textError("--level cluster: the package has no links; remedy: "
                  "leave --level out, or compile with --cluster"));
  if (!request.cluster && !plan.channels.empty())
    return ofKind(Failure::Kind::Usage,
                  textError("the package's nodes are linked with the host; "
                            "remedy: --level cluster"));
  return llvm::Error::success();
}

static llvm::Error simulateOpened(const HardwareRunRequest &request,
                                  const Package &package,
                                  HardwareRunResult &result) {
  auto input = [](llvm::Error error) {
    return ofKind(Failure::Kind::Input, std::move(error));
  };
  result.plan = package.plan();
  auto kernel = KernelWords::open(package, request.options);
  if (!kernel)
    return input(kernel.takeError());
  if (llvm::Error error = checkLevel(request, result.plan))
    return error;
  if (llvm::Error error = (*kernel)->begin(request, /*check=*/true, result))
    return error;
  auto elements = (*kernel)->next(result.frames);
  if (!elements)
    return elements.takeError();
  auto *run = request.cluster ? runNodes : runUnit;
  auto outputs = run(request, package, **kernel, *elements, result);
  if (!outputs)
    return outputs.takeError();
  if (llvm::Error error = package.checkUnchanged())
    return input(std::move(error));
  (*kernel)->judge(std::move(*elements), *outputs, result);
  if (llvm::Error error = (*kernel)->write())
    return error;
  return result.measured || result.cluster ? keepMeasurement(package, result)
                                           : llvm::Error::success();
}

rhizome::Result<HardwareRunResult>
kernelcommands::simulateHardware(const HardwareRunRequest &request) {
  HardwareRunResult result;
  auto package = Package::open(
      request.path, changesFor(request.acceptChanges, request.trust));
  if (!package)
    return failureOf(package.takeError(), Failure::Kind::Input);
  result.notes = package->notes();
  if (llvm::Error error = simulateOpened(request, *package, result)) {
    Failure failure = failureOf(std::move(error), Failure::Kind::Environment);
    failure.notes = std::move(result.notes);
    return failure;
  }
  return result;
}

rhizome::Result<KernelRunResult>
kernelcommands::runPackageOnCpu(const HardwareRunRequest &request) {
  auto package = Package::open(
      request.path, changesFor(request.acceptChanges, request.trust));
  if (!package)
    return failureOf(package.takeError(), Failure::Kind::Input);
  KernelRunRequest onCpu = request;
  onCpu.path = package->path("model");
  if (const auto &kernel = package->plan().kernel)
    onCpu.options.sums = sumsOf(kernel->choice);
  auto result = runKernel(onCpu);
  if (result)
    result->notes = package->notes();
  else
    result.failure().notes = package->notes();
  return result;
}
