// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// simulate and evaluate: frames through the hardware or the CPU path, compared
// with the interpreter, with expected values or with labels.
#include "rhizome/Simulate/Simulate.h"
#include "Model.h"
#include "rhizome/Conversion/Jit.h"
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
using Frames = std::vector<std::vector<Tensor>>; // [frame][value]

Frames emptyFrames(int64_t n) { return Frames(size_t(n)); }

std::string namesOf(ArrayRef<HostModel::Value> values) {
  std::vector<std::string> names;
  for (const HostModel::Value &value : values)
    names.push_back("'" + value.name + "'");
  return join(names, ", ");
}

/// Values of graph inputs or outputs, [frame][value], from one file per value
/// or from one .npz that names them all.
Expected<Frames> readValues(ArrayRef<DataRequest> files,
                            ArrayRef<HostModel::Value> values, int64_t limit,
                            const char *what) {
  const bool shared =
      files.size() == 1 && StringRef(files[0].path).ends_with(".npz");
  if (!shared && files.size() != values.size())
    return createStringError("the model has %zu %ss (%s), %zu files are given",
                             values.size(), what, namesOf(values).c_str(),
                             files.size());
  Frames frames;
  for (auto [k, value] : enumerate(values)) {
    const DataRequest &file = files[shared ? 0 : k];
    Expected<Normalise> normalise = Normalise::parse(file.normalise);
    if (!normalise)
      return normalise.takeError();
    Expected<FrameSource> source = FrameSource::open(
        file.path, InputSpec{value.name, value.shape}, *normalise);
    if (!source)
      return source.takeError();
    size_t count = source->size();
    if (limit)
      count = std::min(count, size_t(limit));
    if (k > 0 && count != frames.size())
      return createStringError("'%s' has %zu frames, the %s before it %zu",
                               file.path.c_str(), count, what, frames.size());
    frames.resize(count);
    for (size_t f = 0; f < count; ++f) {
      Expected<Tensor> tensor = source->frame(f);
      if (!tensor)
        return tensor.takeError();
      frames[f].push_back(std::move(*tensor));
    }
  }
  return frames;
}

/// Runs the model's prologue over frames of graph inputs.
Expected<Frames> toIntegers(const HostModel &model, const Frames &frames) {
  Frames integers = emptyFrames(frames.size());
  if (Error error = parallelFrames(frames.size(), [&](int64_t i) -> Error {
        Expected<std::vector<Tensor>> out = model.runPrologue(frames[i]);
        if (!out)
          return out.takeError();
        integers[i] = std::move(*out);
        return Error::success();
      }))
    return error;
  return integers;
}

/// Seeded frames, one value per spec.
Expected<Frames> randomFrames(ArrayRef<InputSpec> specs, int64_t n,
                              uint64_t seed, std::pair<double, double> range) {
  Frames frames = emptyFrames(n);
  for (auto [k, spec] : enumerate(specs)) {
    FrameSource source = FrameSource::random(spec, seed + k, size_t(n),
                                             range.first, range.second);
    for (auto [f, frame] : enumerate(frames)) {
      Expected<Tensor> tensor = source.frame(f);
      if (!tensor)
        return tensor.takeError();
      frame.push_back(std::move(*tensor));
    }
  }
  return frames;
}

Expected<Frames> framesFor(const SimulateRequest &request,
                           const HostModel &model, const Plan &plan) {
  int64_t n = std::max<int64_t>(request.frames, 1);
  std::vector<InputSpec> specs;
  if (request.inputs.empty() && !request.inputRange) {
    for (const BorderPort &port : plan.nodes.front().inputs)
      specs.push_back({port.name, port.shape, /*isFloat=*/false,
                       port.element.lo, port.element.hi});
    return randomFrames(specs, n, request.seed, {0, 1});
  }
  if (request.inputs.empty()) {
    for (const HostModel::Value &value : model.inputs())
      specs.push_back({value.name, value.shape});
    Expected<Frames> reals =
        randomFrames(specs, n, request.seed, *request.inputRange);
    if (!reals)
      return reals.takeError();
    return toIntegers(model, *reals);
  }
  Expected<Frames> given =
      readValues(request.inputs, model.inputs(), request.frames, "input");
  if (!given)
    return given.takeError();
  return toIntegers(model, *given);
}

/// Counts elements that differ, and describes the first.
void compare(const Frames &got, const Frames &want, const PlannedNode &node,
             SimulateResult &result) {
  for (size_t f = 0; f < want.size(); ++f)
    for (size_t k = 0; k < want[f].size(); ++k)
      for (size_t i = 0; i < want[f][k].ints.size(); ++i) {
        int64_t w = want[f][k].ints[i], g = got[f][k].ints[i];
        if (w == g)
          continue;
        if (result.mismatches++ == 0)
          result.firstMismatch =
              formatv("frame {0}, output '{1}', element {2}: {3} instead of "
                      "the interpreter's {4}",
                      f, node.outputs[k].name, i, g, w);
      }
}

/// Runs integer frames on the CPU path.
Expected<Frames> runCpu(const HostModel &model, const Frames &frames) {
  FailureOr<std::unique_ptr<CompiledFunction>> compiled =
      CompiledFunction::compile(model.network());
  if (failed(compiled))
    return createStringError("the CPU path cannot be built for this model");
  Frames outputs = emptyFrames(frames.size());
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

Expected<Frames> runInterpreter(const HostModel &model, const Frames &frames) {
  Frames outputs = emptyFrames(frames.size());
  if (Error error = parallelFrames(frames.size(), [&](int64_t i) -> Error {
        Expected<std::vector<Tensor>> out = model.runNetwork(frames[i]);
        if (!out)
          return out.takeError();
        outputs[i] = std::move(*out);
        return Error::success();
      }))
    return error;
  return outputs;
}

/// Compares the graph's outputs with expected values.
Error compareExpected(const SimulateRequest &request, const HostModel &model,
                      const Frames &outputs, SimulateResult &result) {
  std::vector<DataRequest> files;
  for (const std::string &path : request.expect)
    files.push_back({path, ""});
  Expected<Frames> want =
      readValues(files, model.outputs(), int64_t(outputs.size()), "output");
  if (!want)
    return want.takeError();
  result.unexpected = 0;
  for (size_t f = 0; f < std::min(want->size(), outputs.size()); ++f) {
    Expected<std::vector<Tensor>> got = model.runEpilogue(outputs[f]);
    if (!got)
      return got.takeError();
    for (size_t k = 0; k < got->size(); ++k)
      for (int64_t i = 0; i < (*got)[k].size(); ++i) {
        const Tensor &t = (*got)[k];
        double g = t.isFloat ? t.floats[i] : double(t.ints[i]);
        double w = (*want)[f][k].floats[i];
        if (std::abs(g - w) <= 1e-6 + 1e-5 * std::abs(w))
          continue;
        if (result.unexpected++ == 0 && result.firstMismatch.empty())
          result.firstMismatch =
              formatv("frame {0}, output '{1}', element {2}: {3} instead of "
                      "the expected {4}",
                      f, model.outputs()[k].name, i, g, w);
      }
  }
  return Error::success();
}

/// Runs the epilogue and writes each graph output of all frames to its file.
Error writeOutputs(const SimulateRequest &request, const HostModel &model,
                   const Frames &outputs) {
  std::vector<Tensor> all;
  for (const std::vector<Tensor> &frame : outputs) {
    Expected<std::vector<Tensor>> values = model.runEpilogue(frame);
    if (!values)
      return values.takeError();
    if (all.empty())
      for (const Tensor &value : *values) {
        Tensor joined;
        joined.isFloat = value.isFloat;
        joined.shape = value.shape;
        joined.shape.insert(joined.shape.begin(), int64_t(outputs.size()));
        all.push_back(std::move(joined));
      }
    for (auto [joined, value] : llvm::zip_equal(all, *values)) {
      llvm::append_range(joined.floats, value.floats);
      llvm::append_range(joined.ints, value.ints);
    }
  }
  if (request.outputs.size() != all.size())
    return createStringError("the model has %zu outputs (%s), %zu files are "
                             "named",
                             all.size(), namesOf(model.outputs()).c_str(),
                             request.outputs.size());
  for (auto [path, tensor] : llvm::zip_equal(request.outputs, all))
    if (Error error = writeNpy(path, tensor))
      return error;
  return Error::success();
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

/// Keeps what was measured beside what was promised: results/simulate.json.
Error keepMeasurement(const Package &package, const SimulateResult &result) {
  double perS = result.intervalCycles > 0
                    ? result.predicted.clockMhz * 1e6 / result.intervalCycles
                    : 0;
  json::Object measured{{"interval_cycles", result.intervalCycles},
                        {"latency_cycles", result.latencyCycles},
                        {"throughput_per_s", perS}};
  json::Object kept{{"frames", result.frames},
                    {"mismatches", result.mismatches},
                    {"predicted", toJson(result.predicted)},
                    {"measured", std::move(measured)}};
  return writeAtomically(
      package.path("results/simulate.json"),
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
  Expected<Frames> frames = framesFor(request, **model, plan);
  if (!frames)
    return frames.takeError();
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
  compare(got, *want, plan.nodes.front(), result);
  if (result.measured)
    if (Error error = keepMeasurement(*package, result))
      return error;
  if (!request.outputs.empty())
    if (Error error = writeOutputs(request, **model, got))
      return error;
  if (!request.expect.empty())
    return compareExpected(request, **model, got, result);
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
  mlir::OwningOpRef<mlir::ModuleOp> module = importModel(
      *context, request.model, request.progress, result.refused, stats);
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
  Expected<Frames> integers = toIntegers(**model, *given);
  if (!integers)
    return integers.takeError();
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
    Expected<std::vector<Tensor>> values = (*model)->runEpilogue((*outputs)[f]);
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
