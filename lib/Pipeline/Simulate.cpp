// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// simulate and evaluate: frames through the hardware or the CPU path, compared
// with the interpreter, with expected values or with labels.
#include "rhizome/Simulate/Simulate.h"
#include "Frames.h"
#include "Model.h"
#include "rhizome/Conversion/Jit.h"
#include "rhizome/Simulate/Cluster.h"
#include "rhizome/Support/Data.h"
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
using namespace rhizome::pipeline;

namespace {
/// Runs integer frames on the CPU path.
Expected<Frames> runCpu(const HostModel &model, const Frames &frames) {
  if (model.networkOutputs().empty()) // all on the host
    return Frames(frames.size());
  FailureOr<std::unique_ptr<CompiledFunction>> compiled =
      CompiledFunction::compile(model.network());
  if (failed(compiled))
    return createStringError("the CPU path cannot be built for this model");
  Frames outputs(frames.size());
  if (Error error = parallelFrames(frames.size(), [&](int64_t i) -> Error {
        Expected<std::vector<Tensor>> out = (*compiled)->run(frames[i]);
        if (!out)
          return out.takeError();
        outputs[i] = std::move(*out);
        return Error::success();
      }))
    return error;
  return outputs;
}

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
    return sources.takeError();
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
  Expected<ClusterResult> run = simulateCluster(
      package, frames, model.networkInputs(), model.networkOutputs(), options);
  if (!run)
    return run.takeError();
  result.throughputPerS = run->throughputPerS;
  result.latencyUs = run->latencyUs;
  result.simulatedUs = run->simulatedUs;
  result.seconds = run->seconds;
  result.buildSeconds = run->buildSeconds;
  for (const ClusterParty &p : run->parties)
    result.parties.push_back({p.name, p.device, p.utilisation, p.sending,
                              p.receiving, p.datagrams, p.lost, p.resent,
                              p.cycles, p.skipped});
  return std::move(run->outputs);
}

/// Keeps what was measured beside what was promised: results/simulate.json, of
/// clusters results/cluster.json.
Error keepMeasurement(const Package &package, const SimulateResult &result) {
  bool isCluster = !result.measured;
  json::Object measured;
  if (isCluster) {
    measured["throughput_per_s"] = result.throughputPerS;
    measured["latency_us"] = result.latencyUs;
  } else {
    measured["interval_cycles"] = result.intervalCycles;
    measured["latency_cycles"] = result.latencyCycles;
    if (result.intervalCycles > 0)
      measured["throughput_per_s"] =
          result.predicted.clockMhz * 1e6 / result.intervalCycles;
  }
  json::Array parties;
  for (const auto &party : result.parties)
    parties.push_back(json::Object{{"name", party.name},
                                   {"utilisation", party.utilisation},
                                   {"sending", party.sending},
                                   {"receiving", party.receiving}});
  json::Object kept{{"frames", result.frames},
                    {"mismatches", result.mismatches},
                    {"predicted", toJson(result.predicted)},
                    {"measured", std::move(measured)},
                    {"parties", std::move(parties)}};
  if (std::error_code error =
          sys::fs::create_directories(package.path("results")))
    return createStringError(error, "cannot make '%s': %s",
                             package.path("results").c_str(),
                             error.message().c_str());
  return writeAtomically(
      package.path(isCluster ? "results/cluster.json"
                             : "results/simulate.json"),
      formatv("{0:2}\n", json::Value(std::move(kept))).str());
}

Error simulateInto(const SimulateRequest &request, SimulateResult &result) {
  Expected<Package> package = Package::open(request.package);
  if (!package)
    return package.takeError();
  Expected<std::unique_ptr<HostModel>> model =
      HostModel::read(package->modelPath());
  if (!model)
    return model.takeError();
  const Plan &plan = package->plan();
  result.predicted = plan.predicted;
  Expected<PreparedFrames> prepared = framesFor(request, **model);
  if (!prepared)
    return prepared.takeError();
  const Frames *frames = &prepared->inputs;
  result.frames = int64_t(frames->size());
  Expected<Frames> want = runInterpreter(**model, *frames);
  if (!want)
    return want.takeError();
  Frames got;
  if (request.level == Level::Functional) {
    Expected<Frames> run = runCpu(**model, *frames);
    if (!run)
      return run.takeError();
    got = std::move(*run);
  } else if (request.level == Level::Cluster) {
    Expected<Frames> run =
        runCluster(request, *package, **model, *frames, result);
    if (!run)
      return run.takeError();
    got = std::move(*run);
  } else {
    SimOptions options;
    options.stallsIn = request.stallsIn;
    options.stallsOut = request.stallsOut;
    options.seed = request.seed;
    options.fourState = request.fourState;
    options.progress = request.showProgress;
    if (Error error = chooseDesign(*package, request.level, options))
      return error;
    Expected<SimResult> run = simulateRtl(*package, *frames, options);
    if (!run)
      return run.takeError();
    got = std::move(run->outputs);
    result.measured = run->measured;
    result.intervalCycles = run->intervalCycles;
    result.latencyCycles = run->latencyCycles;
    result.simCyclesPerS = run->simCyclesPerS;
    result.buildSeconds = run->buildSeconds;
  }
  compare(got, *want, **model, result);
  if (result.measured || result.throughputPerS > 0)
    if (Error error = keepMeasurement(*package, result))
      return error;
  if (!request.outputs.empty())
    if (Error error = writeOutputs(request, **model, got, prepared->carried))
      return error;
  if (!request.expect.empty())
    return compareExpected(request, **model, got, prepared->carried, result);
  return Error::success();
}

/// The class that a graph's outputs name: an index if the model gives one,
/// else where the largest value of the first output stands.
int64_t classOf(const std::vector<Tensor> &outputs) {
  const Tensor &t = outputs.front();
  if (!t.isFloat)
    return t.ints.front();
  return std::max_element(t.floats.begin(), t.floats.end()) - t.floats.begin();
}

Expected<std::unique_ptr<HostModel>> loadModel(const EvaluateRequest &request,
                                               EvaluateResult &result) {
  if (sys::fs::is_directory(request.model.path)) {
    Expected<Package> package = Package::open(request.model.path);
    if (!package)
      return package.takeError();
    return HostModel::read(package->modelPath());
  }
  auto context = std::make_unique<mlir::MLIRContext>();
  IntegeriseStats stats;
  mlir::OwningOpRef<mlir::ModuleOp> module =
      importModel(*context, request.model, request.progress, result.refused,
                  stats, request.level == Level::Functional);
  if (!module)
    return nullptr;
  return HostModel::create(std::move(context), std::move(module));
}

/// Runs frames through simulated hardware, compiling a model file first.
Expected<Frames> runRtl(const EvaluateRequest &request, const Frames &frames,
                        EvaluateResult &result) {
  std::string dir = request.model.path;
  SmallString<128> temporary;
  if (!sys::fs::is_directory(dir)) {
    if (std::error_code error =
            sys::fs::createUniqueDirectory("rhizome", temporary))
      return createStringError(error, "cannot make a temporary folder");
    CompileRequest compile;
    compile.model = request.model;
    compile.device = request.device;
    compile.progress = request.progress;
    compile.output = dir = (temporary + "/m.rhz").str();
    CompileResult built = compileModel(compile);
    result.refused = built.refused;
    if (!built.ok)
      return createStringError(
          "%s", (built.error.empty() ? built.limit : built.error).c_str());
  }
  auto run = [&]() -> Expected<Frames> {
    Expected<Package> package = Package::open(dir);
    if (!package)
      return package.takeError();
    SimOptions options;
    options.measure = false;
    Expected<SimResult> simulated = simulateRtl(*package, frames, options);
    if (!simulated)
      return simulated.takeError();
    return std::move(simulated->outputs);
  };
  Expected<Frames> outputs = run();
  if (!temporary.empty())
    sys::fs::remove_directories(temporary);
  return outputs;
}

Error evaluateInto(const EvaluateRequest &request, EvaluateResult &result) {
  Expected<std::unique_ptr<HostModel>> model = loadModel(request, result);
  if (!model)
    return model.takeError();
  if (!*model)
    return Error::success(); // refused
  Expected<std::vector<int64_t>> labels = readLabels(request.labels);
  if (!labels)
    return labels.takeError();
  Expected<Frames> given =
      readValues(request.data, (*model)->inputs(), request.frames, "input");
  if (!given)
    return given.takeError();
  if (labels->size() < given->size())
    return createStringError("'%s' has %zu labels for %zu frames",
                             request.labels.c_str(), labels->size(),
                             given->size());
  if (request.progress)
    request.progress("run");
  auto start = std::chrono::steady_clock::now();
  Expected<PreparedFrames> prepared = prepare(**model, *given);
  if (!prepared)
    return prepared.takeError();
  const Frames *integers = &prepared->inputs;
  result.backend = request.level == Level::Rtl ? "rtl" : "cpu";
  Expected<Frames> outputs = request.level == Level::Rtl
                                 ? runRtl(request, *integers, result)
                                 : runCpu(**model, *integers);
  if (!outputs) {
    if (!result.refused.empty()) {
      consumeError(outputs.takeError());
      return Error::success();
    }
    return outputs.takeError();
  }
  result.frames = int64_t(outputs->size());
  for (size_t f = 0; f < outputs->size(); ++f) {
    Expected<std::vector<Tensor>> values =
        (*model)->runEpilogue((*outputs)[f], prepared->carried[f]);
    if (!values)
      return values.takeError();
    result.correct += classOf(*values) == (*labels)[f];
  }
  result.seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
          .count();
  result.ok = true;
  return Error::success();
}
} // namespace

SimulateResult pipeline::simulatePackage(const SimulateRequest &request) {
  SimulateResult result;
  if (Error error = simulateInto(request, result))
    result.error = toString(std::move(error));
  else
    result.ok = true;
  return result;
}

EvaluateResult pipeline::evaluateModel(const EvaluateRequest &request) {
  EvaluateResult result;
  if (Error error = evaluateInto(request, result))
    result.error = toString(std::move(error));
  return result;
}
