// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// simulate and evaluate: frames through the hardware or the CPU path, compared
// with the interpreter, with expected values or with labels.
#include "rhizome/Simulate/Simulate.h"
#include "Data.h"
#include "Model.h"
#include "rhizome/Conversion/Jit.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include <chrono>
#include <cmath>
#include <random>

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
/// or from one .npz that names them.
Expected<Frames> readValues(ArrayRef<DataRequest> files,
                            ArrayRef<HostModel::Value> values, int64_t limit,
                            const char *what) {
  std::vector<std::vector<Array>> arrays(values.size());
  std::vector<std::string> paths(values.size());
  auto load = [](const DataRequest &file) -> Expected<std::vector<Array>> {
    Expected<std::vector<Array>> read = readArrays(file.path);
    if (read)
      for (Array &array : *read)
        normalise(array, file.normalise);
    return read;
  };
  bool named = files.size() == 1 && StringRef(files[0].path).ends_with(".npz");
  if (named) {
    Expected<std::vector<Array>> all = load(files[0]);
    if (!all)
      return all.takeError();
    for (auto [k, value] : enumerate(values)) {
      paths[k] = files[0].path;
      for (Array &array : *all)
        if (array.name == value.name ||
            (all->size() == 1 && values.size() == 1))
          arrays[k] = {array};
      if (arrays[k].empty()) {
        std::vector<std::string> held;
        for (const Array &array : *all)
          held.push_back("'" + array.name + "'");
        return createStringError("'%s' has no array for the %s '%s'; it holds "
                                 "%s",
                                 paths[k].c_str(), what, value.name.c_str(),
                                 join(held, ", ").c_str());
      }
    }
  } else {
    if (files.size() != values.size())
      return createStringError("the model has %zu %ss (%s), %zu files are "
                               "given",
                               values.size(), what, namesOf(values).c_str(),
                               files.size());
    for (auto [k, file] : enumerate(files)) {
      Expected<std::vector<Array>> read = load(file);
      if (!read)
        return read.takeError();
      arrays[k] = std::move(*read);
      paths[k] = file.path;
    }
  }
  Frames frames;
  for (auto [k, value] : enumerate(values)) {
    Expected<std::vector<Tensor>> cut =
        cutFrames(arrays[k], value.shape, limit, paths[k]);
    if (!cut)
      return cut.takeError();
    if (k > 0 && cut->size() != frames.size())
      return createStringError("'%s' has %zu frames, '%s' %zu",
                               paths[k].c_str(), cut->size(), paths[0].c_str(),
                               frames.size());
    frames.resize(cut->size());
    for (size_t f = 0; f < cut->size(); ++f)
      frames[f].push_back(std::move((*cut)[f]));
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

Frames randomReals(const HostModel &model, std::pair<double, double> range,
                   int64_t n, uint64_t seed) {
  std::mt19937_64 random(seed);
  Frames frames = emptyFrames(n);
  for (std::vector<Tensor> &frame : frames)
    for (const HostModel::Value &value : model.inputs()) {
      Tensor tensor = Tensor::ofFloats(value.shape, {});
      tensor.floats.resize(tensor.size());
      // 53 bits of a draw, so that every library gives the same values.
      for (float &v : tensor.floats)
        v = float(range.first + (range.second - range.first) *
                                    double(random() >> 11) * 0x1p-53);
      frame.push_back(std::move(tensor));
    }
  return frames;
}

Frames randomIntegers(const PlannedNode &node, int64_t n, uint64_t seed) {
  std::mt19937_64 random(seed);
  Frames frames = emptyFrames(n);
  for (std::vector<Tensor> &frame : frames)
    for (const BorderPort &port : node.inputs) {
      Tensor tensor = Tensor::ofInts(port.shape, {});
      tensor.ints.resize(tensor.size());
      uint64_t span = uint64_t(port.element.hi - port.element.lo) + 1;
      for (int64_t &v : tensor.ints)
        v = port.element.lo + int64_t(span ? (random() >> 1) % span : random());
      frame.push_back(std::move(tensor));
    }
  return frames;
}

Expected<Frames> framesFor(const SimulateRequest &request,
                           const HostModel &model, const Plan &plan) {
  int64_t n = std::max<int64_t>(request.frames, 1);
  if (request.inputs.empty() && !request.inputRange)
    return randomIntegers(plan.nodes.front(), n, request.seed);
  if (request.inputs.empty())
    return toIntegers(model,
                      randomReals(model, *request.inputRange, n, request.seed));
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
