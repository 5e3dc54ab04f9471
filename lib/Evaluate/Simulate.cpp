// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// simulate: frames through the hardware or the CPU path, compared with the
// interpreter and with expected values.
#include "rhizome/Simulate/Simulate.h"
#include "Engines.h"
#include "Saturation.h"
#include "rhizome/Model/Frames.h"
#include "rhizome/Model/Golden.h"
#include "rhizome/Model/Model.h"
#include "rhizome/Simulate/Cluster.h"
#include "rhizome/Simulate/Core.h"
#include "rhizome/Support/Data.h"
#include "rhizome/Support/Failures.h"
#include "rhizome/Support/Tools.h"
#include "rhizome/Synth/PlaceRoute.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include <chrono>
#include <cmath>

using namespace llvm;
using namespace rhizome;
using namespace rhizome::evaluate;
using namespace rhizome::model;

namespace {
/// Puts a board in place of the node's RTL. What the line takes of a frame is
/// no figure of the design, so nothing is measured then.
Error chooseDesign(const Package &package, Level level, SimOptions &options) {
  BoardLevel what = BoardLevel::Rtl;
  if (level == Level::Netlist)
    what = BoardLevel::Netlist;
  else if (level == Level::Bitstream)
    what = BoardLevel::Bitstream;
  else if (level != Level::Board)
    return Error::success();
  Expected<BoardSources> sources = boardSources(package, what);
  if (!sources)
    return ofKind(Failure::Kind::Input, sources.takeError());
  options.design = {sources->files, sources->top, sources->cyclesPerFrame};
  options.measure = false;
  return Error::success();
}

/// Runs integer frames through a simulated cluster.
Expected<Frames> runCluster(const SimulateRequest &request,
                            const Package &package, const HostModel &model,
                            const Frames &frames, SimulateResult &result) {
  ClusterOptions options;
  options.seed = request.seed;
  options.loss = request.loss;
  options.reorder = request.reorder;
  options.reorderDelayUs = request.reorderDelayUs;
  options.hostfile = request.hostfile;
  options.progress = request.showProgress;
  options.onWait = request.onWait;
  Expected<ClusterResult> run = simulateCluster(
      package, frames, model.networkInputs(), model.networkOutputs(), options);
  if (!run)
    return run.takeError();
  result.cluster = std::move(*run);
  return std::move(result.cluster->outputs);
}

/// Keeps what was measured beside what was promised: results/simulate.json, of
/// clusters results/cluster.json.
Error keepMeasurement(const Package &package, const SimulateResult &result) {
  json::Object measured;
  if (const auto &cluster = result.cluster) {
    measured["throughput_per_s"] = cluster->throughputPerS;
    measured["latency_us"] = cluster->latencyUs;
  } else {
    measured["interval_cycles"] = result.intervalCycles;
    measured["latency_cycles"] = result.latencyCycles;
    if (result.predicted.loadCycles)
      measured["load_cycles"] = result.loadCycles;
    if (result.intervalCycles > 0)
      measured["throughput_per_s"] =
          result.predicted.clockMhz * 1e6 / result.intervalCycles;
  }
  json::Object kept{{"frames", result.frames},
                    {"mismatches", result.mismatches},
                    {"predicted", toJSON(result.predicted)},
                    {"measured", std::move(measured)},
                    {"parties", result.cluster
                                    ? sharesOf(result.cluster->parties)
                                    : json::Array()}};
  if (!result.engines.empty())
    kept["engines"] = toJson(result.engines);
  return package.writeResult(
      result.cluster ? "cluster.json" : "simulate.json",
      formatv("{0:2}\n", json::Value(std::move(kept))).str());
}

/// Runs integer frames through the RTL, alone or on a board.
Expected<Frames> runHardware(const SimulateRequest &request,
                             const Package &package, const Frames &frames,
                             SimulateResult &result) {
  SimOptions options;
  options.stallsIn = request.stallsIn;
  options.stallsOut = request.stallsOut;
  options.seed = request.seed;
  options.fourState = request.fourState;
  options.trace = request.trace;
  options.progress = request.showProgress;
  options.onWait = request.onWait;
  if (Error error = chooseDesign(package, request.level, options))
    return error;
  Expected<SimResult> run = simulateRtl(package, frames, options);
  if (!run)
    return run.takeError();
  result.measured = run->measured;
  result.intervalCycles = run->intervalCycles;
  result.latencyCycles = run->latencyCycles;
  result.loadCycles = run->loadCycles;
  result.simCyclesPerS = run->simCyclesPerS;
  result.buildSeconds = run->buildSeconds;
  result.simulator = run->simulator;
  if (Error error =
          addEngines(package, run->engines, request.traceUnits, result))
    return std::move(error);
  return std::move(run->outputs);
}

/// The golden vectors against the integer model: the interpreter, to which the
/// hardware is compared, and in a functional simulation the CPU path.
Error compareGolden(const SimulateRequest &request, const Package &package,
                    const HostModel &model, SimulateResult &result) {
  Expected<std::optional<Golden>> golden = readGolden(package, model);
  if (!golden)
    return golden.takeError();
  if (!*golden)
    return Error::success();
  result.golden = int64_t((*golden)->inputs.size());
  result.goldenFrom = (*golden)->from;
  Passage passage(model, (*golden)->inputs);
  if (Error error =
          passage.run(request.level == Level::Functional ? compiled(model)
                                                         : interpreted(model)))
    return error;
  Expected<Frames> outputs = passage.outputs();
  if (!outputs)
    return outputs.takeError();
  for (auto [f, frame] : enumerate((*golden)->outputs))
    for (auto [k, want] : enumerate(frame)) {
      const Tensor &got = (*outputs)[f][k];
      if (got.ints == want.ints && got.floats == want.floats)
        continue;
      if (result.mismatches++ == 0)
        result.firstMismatch =
            formatv("golden frame {0}: output '{1}' is not the recorded one", f,
                    model.outputs()[k].name);
    }
  return Error::success();
}

Error simulateOpened(const SimulateRequest &request, const Package *package,
                     SimulateResult &result) {
  Expected<std::unique_ptr<HostModel>> model =
      HostModel::read(package->modelPath());
  if (!model)
    return ofKind(Failure::Kind::Input, model.takeError());
  const Plan &plan = package->plan();
  if (!request.traceUnits.empty() && !hasEngines(*package))
    return ofKind(
        Failure::Kind::Input,
        createStringError("'%s' has no engine, whose units --trace-units "
                          "shows; remedy: compile it with --generators "
                          "engine, or leave the option out",
                          request.package.c_str()));
  result.predicted = plan.predicted;
  if (request.level == Level::Rtl && !plan.channels.empty() &&
      plan.nodes.size() == 1) {
    result.predicted = plan.nodes.front().predicted;
    result.notes.push_back("cycles are those of the device without its link; "
                           "--level cluster simulates both");
  }
  Expected<Drawn> drawn = framesFor(request, **model);
  if (!drawn)
    return ofKind(Failure::Kind::Input, drawn.takeError());
  result.frames = int64_t(drawn->passage.size());
  // The reference; random data say nothing about saturation.
  Passage want = drawn->passage;
  SaturationCounter counter(**model, /*onFpga=*/true);
  if (Error error = want.run(drawn->isReal ? counter.interpreted(**model)
                                           : interpreted(**model)))
    return error;
  if (drawn->isReal) {
    Expected<std::vector<Saturation>> before = hostSaturation(**model, want);
    if (!before)
      return before.takeError();
    result.saturation = std::move(*before);
    llvm::append_range(result.saturation, counter.counts());
  }
  for (const HostModel::State &state : (*model)->states())
    if (!state.onFpga && request.level != Level::Functional) {
      result.notes.push_back(formatv(
          "the host keeps '{0}' from frame to frame: the rate measured is the "
          "device's own, with frames that need not wait for each other",
          state.name));
      break;
    }
  Passage got = std::move(drawn->passage);
  auto design = [&](const Frames &codes) -> Expected<Frames> {
    if (request.level == Level::Cluster)
      return runCluster(request, *package, **model, codes, result);
    return runHardware(request, *package, codes, result);
  };
  // A core's program is run as the package has it.
  Expected<PlannedCore> core = coreOf(plan);
  if (!core)
    consumeError(core.takeError());
  auto programmed = [&](const Frames &codes) {
    return runCore(*package, *core, codes);
  };
  const bool isFunctional = request.level == Level::Functional;
  if (Error error =
          isFunctional && core ? got.runDesign(programmed, want.networkInputs())
          : isFunctional       ? got.run(compiled(**model))
                               : got.runDesign(design, want.networkInputs()))
    return error;
  compare(got.networkOutputs(), want.networkOutputs(), **model, result);
  if (request.inputs.empty())
    if (Error error = compareGolden(request, *package, **model, result))
      return error;
  if (Error error = package->checkUnchanged())
    return ofKind(Failure::Kind::Input, std::move(error));
  if (result.measured || (result.cluster && result.cluster->throughputPerS > 0))
    if (Error error = keepMeasurement(*package, result))
      return error;
  return keepOutputs(request, **model, got, result);
}

Error simulateInto(const SimulateRequest &request, SimulateResult &result) {
  Expected<Package> package = Package::open(
      request.package, changesFor(request.acceptChanges, request.trust));
  if (!package)
    return ofKind(Failure::Kind::Input, package.takeError());
  result.notes = package->notes();
  Error error = simulateOpened(request, &*package, result);
  // What fails because files were exchanged meanwhile says so.
  if (error)
    if (Error exchanged = package->checkUnchanged()) {
      consumeError(std::move(error));
      return ofKind(Failure::Kind::Input, std::move(exchanged));
    }
  return error;
}
} // namespace

rhizome::Result<SimulateResult>
evaluate::simulatePackage(const SimulateRequest &request) {
  SimulateResult result;
  if (Error error = simulateInto(request, result)) {
    Failure failure = failureOf(std::move(error), Failure::Kind::Environment);
    failure.notes = std::move(result.notes);
    return failure;
  }
  return result;
}
