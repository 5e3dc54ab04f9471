// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// trace: a model or a package on data, layer by layer. Which layer is at fault
// is measured, by a network in which it alone does not saturate.
#include "rhizome/Evaluate/Trace.h"
#include "Layers.h"
#include "rhizome/Evaluate/Findings.h"
#include "rhizome/Model/Golden.h"
#include "rhizome/Model/Input.h"
#include "rhizome/Model/Model.h"
#include "rhizome/Package/Package.h"
#include "rhizome/Support/Data.h"
#include "rhizome/Support/Failures.h"
#include "rhizome/Support/Tools.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"

using namespace llvm;
using namespace rhizome;
using namespace rhizome::evaluate;
using namespace rhizome::model;

namespace {
/// Below this gain a saturation costs too little to be mended.
constexpr double kToldGain = 0.5;
/// As many layers are tried without their saturation.
constexpr size_t kMostTrials = 8;

class Trace {
public:
  Trace(const TraceRequest &request, TraceResult &result)
      : request(request), result(result) {}
  Error run();
  Refusals refused;

private:
  bool isPackage() const { return sys::fs::is_directory(request.model.path); }
  void say(const char *phase) {
    if (request.progress)
      request.progress(phase);
  }
  Error openPackage();
  Error loadFile(const std::string &path, bool alsoIntegers);
  Error loadModel();
  Error readFrames();
  Error judge(const LayerTrace &trace);
  Error keep();

  const TraceRequest &request;
  TraceResult &result;
  std::optional<Package> package;
  std::unique_ptr<HostModel> model;
  /// Of the package's original, where it stands for the network on reals.
  std::unique_ptr<mlir::MLIRContext> context;
  mlir::OwningOpRef<mlir::ModuleOp> quantized, exact;
  Frames given;
  Rounder rounder = Rounder::File;
};
} // namespace

Error Trace::openPackage() {
  Expected<Package> opened = Package::open(
      request.model.path, changesFor(request.acceptChanges, request.trust));
  if (!opened)
    return opened.takeError();
  package.emplace(std::move(*opened));
  result.model = package->plan().model;
  result.notes = package->notes();
  Expected<std::unique_ptr<HostModel>> read =
      HostModel::read(package->modelPath());
  if (!read)
    return read.takeError();
  model = std::move(*read);
  if (sys::fs::exists(package->path("model/quantization.json")))
    rounder = Rounder::Calibration;
  return Error::success();
}

/// The networks on reals and, if wanted, the integer model of a file.
Error Trace::loadFile(const std::string &path, bool alsoIntegers) {
  ModelRequest file = request.model;
  file.path = path;
  if (file.numberFormat)
    rounder = Rounder::NumberFormat;
  if (file.calibration)
    rounder = Rounder::Calibration;
  auto own = std::make_unique<mlir::MLIRContext>();
  mlir::OwningOpRef<mlir::ModuleOp> module =
      inputKind(path) == InputKind::IntegerNetwork
          ? mlir::OwningOpRef<mlir::ModuleOp>()
          : importQuantized(*own, file, request.progress, refused);
  if (inputKind(path) == InputKind::IntegerNetwork) {
    IntegerizeStats stats;
    module = importModel(*own, file, request.progress, refused, stats);
  } else if (module) {
    quantized = module->clone();
    exact = withoutRounding(*module, rounder != Rounder::File);
    IntegerizeStats stats;
    if (alsoIntegers &&
        failed(lowerQuantized(*module, file, request.progress, refused, stats)))
      module = nullptr;
  }
  if (!module) {
    quantized = nullptr;
    exact = nullptr; // their context goes
    return Error::success();
  }
  if (!alsoIntegers) {
    context = std::move(own);
    return Error::success();
  }
  result.model = sys::path::filename(path).str();
  Expected<std::unique_ptr<HostModel>> made =
      HostModel::create(std::move(own), std::move(module));
  if (!made)
    return made.takeError();
  model = std::move(*made);
  return Error::success();
}

Error Trace::loadModel() {
  if (!isPackage())
    return loadFile(request.model.path, /*alsoIntegers=*/true);
  if (Error error = openPackage())
    return ofKind(Failure::Kind::Input, std::move(error));
  if (request.original.empty())
    return Error::success();
  return loadFile(request.original, /*alsoIntegers=*/false);
}

Error Trace::readFrames() {
  if (!request.data.path.empty()) {
    Expected<Frames> frames =
        readValues(request.data, model->inputs(), request.frames, "input");
    if (!frames)
      return frames.takeError();
    given = std::move(*frames);
    result.data = request.data.path;
    return Error::success();
  }
  if (!package)
    return createStringError("which frames? --data names a file of them");
  Expected<std::optional<Golden>> golden = readGolden(*package, *model);
  if (!golden)
    return golden.takeError();
  if (!*golden)
    return createStringError("the package has no golden vectors: --data names "
                             "a file of frames");
  given = std::move((*golden)->inputs);
  if (request.frames && int64_t(given.size()) > request.frames)
    given.resize(size_t(request.frames));
  result.data = "the package's golden vectors";
  if ((*golden)->from == "seed")
    result.notes.push_back("the package's golden vectors are random: they say "
                           "little about ranges; --data names real frames");
  return Error::success();
}

/// What is at fault, and by how much.
Error Trace::judge(const LayerTrace &trace) {
  std::vector<TracedLayer *> saturated;
  for (TracedLayer &layer : result.layers) {
    findFaults(layer);
    if (layer.finding == TracedLayer::Finding::Saturated)
      saturated.push_back(&layer);
  }
  llvm::sort(saturated, [](const TracedLayer *a, const TracedLayer *b) {
    return std::pair(-a->saturated(), a) < std::pair(-b->saturated(), b);
  });
  if (quantized && !trace.exactOutputs.empty() && !saturated.empty()) {
    say("without saturation");
    auto without = [&](ArrayRef<std::string> names) {
      return snrWithoutSaturation(*quantized, names, given, trace.exactOutputs);
    };
    std::vector<std::string> all;
    for (const TracedLayer *layer : saturated)
      all.push_back(layer->name);
    Expected<std::optional<double>> plain = without({});
    if (!plain)
      return plain.takeError();
    Expected<std::optional<double>> best = without(all);
    if (!best)
      return best.takeError();
    result.snrWithout = *best;
    for (TracedLayer *layer : ArrayRef(saturated).take_front(kMostTrials)) {
      Expected<std::optional<double>> one = without({layer->name});
      if (!one)
        return one.takeError();
      if (*one && *plain)
        layer->gain = **one - **plain;
    }
  }
  for (TracedLayer &layer : result.layers)
    explainFault(layer, rounder);
  // Among several that saturate a single one may gain nothing.
  const TracedLayer *worst = nullptr;
  for (const TracedLayer *layer : saturated)
    if (!worst || layer->gain.value_or(0) > worst->gain.value_or(0))
      worst = layer;
  const bool harms = !result.snrWithout || trace.outputs.empty() ||
                     !trace.outputs[0].snr ||
                     *result.snrWithout > *trace.outputs[0].snr + kToldGain;
  if (worst && harms)
    result.worst = worst->name;
  return Error::success();
}

Error Trace::keep() {
  if (!package)
    return Error::success();
  return package->writeResult(
      "trace.json", formatv("{0:2}\n", json::Value(toJson(result))).str());
}

Error Trace::run() {
  if (Error error = loadModel())
    return error;
  if (!model || !refused.empty())
    return Error::success(); // refused
  if (model->regionCount() == 0)
    return ofKind(
        Failure::Kind::Unsupported,
        createStringError("nothing of this model runs on the FPGA, so that "
                          "nothing of it is rounded"));
  if (Error error = readFrames())
    return ofKind(Failure::Kind::Input, std::move(error));
  result.frames = int64_t(given.size());
  std::vector<mlir::func::FuncOp> functions;
  for (const HostModel::Task &task : model->tasks())
    if (task.onFpga || task.isLight)
      functions.push_back(task.function);
  SaturationCounter counter(functions);
  say("layers");
  Expected<LayerTrace> trace =
      traceLayers(*model, exact ? *exact : mlir::ModuleOp(), given, counter);
  if (!trace)
    return trace.takeError();
  result.layers = std::move(trace->layers);
  result.outputs = trace->outputs;
  result.sameClass = trace->sameClass;
  if (Error error = judge(*trace))
    return error;
  return keep();
}

rhizome::Result<TraceResult> evaluate::traceModel(const TraceRequest &request) {
  TraceResult result;
  Trace trace(request, result);
  Error error = trace.run();
  if (!error && trace.refused.empty())
    return result;
  Failure failure = Failure::refused(trace.refused);
  if (error)
    failure = failureOf(std::move(error), Failure::Kind::Environment);
  failure.notes = std::move(result.notes);
  return failure;
}
