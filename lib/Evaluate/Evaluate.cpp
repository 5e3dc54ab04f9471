// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// evaluate: labeled frames through the file's float arithmetic, the integer
// model and the hardware, and where the first two part.
#include "Layers.h"
#include "rhizome/Dialect/Osa/Osa.h"
#include "rhizome/Model/Frames.h"
#include "rhizome/Model/Input.h"
#include "rhizome/Model/Model.h"
#include "rhizome/Model/States.h"
#include "rhizome/Simulate/Simulate.h"
#include "rhizome/Support/ClassFolders.h"
#include "rhizome/Support/Data.h"
#include "rhizome/Support/Failures.h"
#include "rhizome/Support/Folders.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include <chrono>
#include <mutex>
#include <numeric>

using namespace llvm;
using namespace rhizome;
using namespace rhizome::evaluate;
using namespace rhizome::model;

namespace {
/// The `n` classes with the highest scores, the highest first; where the model
/// names the class itself, that.
std::vector<int64_t> topClasses(const std::vector<Tensor> &outputs, int64_t n) {
  const Tensor &t = outputs.front();
  if (!t.isFloat)
    return {t.ints.front()};
  std::vector<int64_t> order(t.floats.size());
  std::iota(order.begin(), order.end(), 0);
  auto end = order.begin() + std::min<int64_t>(n, int64_t(order.size()));
  // Of equal ones the first, as in classOf.
  std::partial_sort(order.begin(), end, order.end(), [&](int64_t a, int64_t b) {
    return std::pair(-t.floats[a], a) < std::pair(-t.floats[b], b);
  });
  order.erase(end, order.end());
  return order;
}

using Classes = std::vector<int64_t>;

using OneFrame =
    std::function<Expected<std::vector<Tensor>>(const std::vector<Tensor> &)>;

/// Microseconds a frame takes on this core: the fastest of the passes of half
/// a second, since other work on the machine only slows them.
Expected<double> frameTime(const Frames &frames, const OneFrame &run) {
  using Clock = std::chrono::steady_clock;
  std::vector<double> passes;
  const auto start = Clock::now();
  auto since = [](Clock::time_point from) {
    return std::chrono::duration<double, std::micro>(Clock::now() - from)
        .count();
  };
  // So many frames in a row that the clock costs nothing beside them.
  int64_t count = 1, next = 0;
  while (passes.size() < 3 || since(start) < 5e5) {
    auto begin = Clock::now();
    for (int64_t i = 0; i < count; ++i) {
      Expected<std::vector<Tensor>> out =
          run(frames[size_t(next++) % frames.size()]);
      if (!out)
        return out.takeError();
    }
    double spent = since(begin);
    if (spent < 2e3)
      count *= 2;
    // The first fifth of a second warms up.
    if (since(start) < 2e5 && spent < 2e5)
      continue;
    passes.push_back(spent / double(count));
    if (since(start) > 2e7)
      break;
  }
  return *std::min_element(passes.begin(), passes.end());
}

/// One evaluation: the model's forms, the frames and what came of them.
class Evaluation {
public:
  Evaluation(const EvaluateRequest &request, EvaluateResult &result)
      : request(request), result(result) {}
  Error run();

private:
  bool isPackage() const { return sys::fs::is_directory(request.model.path); }
  void say(const Twine &phase) {
    if (request.progress)
      request.progress(phase.str());
  }
  Error loadOriginal();
  Error loadIntegers();
  Error loadModel();
  Error readData();
  Error watchPackage();
  Error keepSaturation(const Passage &passage,
                       const SaturationCounter &counter);
  Error writePredictions(const Frames &outputs);
  Expected<Frames> runFloat(int64_t frames);
  /// One frame in the file's arithmetic, and what is kept for the next one.
  Expected<std::vector<Tensor>> floatFrame(const std::vector<Tensor> &frame,
                                           MainStates &states);
  Expected<Frames> runRtl(const Frames &frames);
  Expected<Frames> runPackage(const std::string &dir, const Frames &frames);
  /// Times `outputs` and counts their classes; `one` computes a frame.
  Error add(const char *form, function_ref<Expected<Frames>()> outputs,
            const OneFrame &one = {});
  Frames first(const Frames &frames, int64_t n) const {
    return Frames(frames.begin(), frames.begin() + n);
  }

  const EvaluateRequest &request;
  EvaluateResult &result;
  mlir::MLIRContext floatContext;
  /// The file as it stands; below, what the integer model was made of.
  mlir::OwningOpRef<mlir::ModuleOp> original;
  std::unique_ptr<HostModel> model;       ///< null if refused
  mlir::OwningOpRef<mlir::ModuleOp> real; ///< in the model's context
  Frames given;
  std::vector<int64_t> labels;
  Classes integerClasses;
  std::vector<HostModel::Value> outputValues;
  std::unique_ptr<CompiledFunction> floatPath; ///< `original` as machine code
};
} // namespace

/// A file that holds the integer model itself.
Error Evaluation::loadIntegers() {
  auto context = std::make_unique<mlir::MLIRContext>();
  IntegerizeStats stats;
  mlir::OwningOpRef<mlir::ModuleOp> module = importModel(
      *context, request.model, request.progress, result.refused, stats);
  if (!module)
    return Error::success();
  Expected<std::unique_ptr<HostModel>> made =
      HostModel::create(std::move(context), std::move(module));
  if (!made)
    return made.takeError();
  model = std::move(*made);
  return Error::success();
}

/// The package, or the file in float.
Error Evaluation::loadOriginal() {
  if (isPackage()) {
    Expected<Package> package = Package::open(
        request.model.path, changesFor(request.acceptChanges, request.trust));
    if (!package)
      return ofKind(Failure::Kind::Input, package.takeError());
    result.notes = package->notes();
    Expected<std::unique_ptr<HostModel>> read =
        HostModel::read(package->modelPath());
    if (!read)
      return ofKind(Failure::Kind::Input, read.takeError());
    model = std::move(*read);
    return Error::success();
  }
  if (inputKind(request.model.path) == InputKind::IntegerNetwork)
    return loadIntegers();
  ModelRequest plain = request.model;
  plain.calibration.reset();
  original = importReal(floatContext, plain, request.progress, result.refused);
  return Error::success();
}

/// Whether data are images in a folder for each class.
static bool hasClasses(const std::string &path) {
  if (!sys::fs::is_directory(path))
    return false;
  Expected<std::vector<ClassFolder>> folders = classFolders(path);
  if (!folders) { // reading the data says so
    consumeError(folders.takeError());
    return false;
  }
  return !folders->empty() && !folders->front().name.empty();
}

/// The integer model of a file.
Error Evaluation::loadModel() {
  if (!original || request.level == Level::Float)
    return Error::success();
  auto context = std::make_unique<mlir::MLIRContext>();
  mlir::OwningOpRef<mlir::ModuleOp> module = importQuantized(
      *context, request.model, request.progress, result.refused);
  if (!module)
    return Error::success();
  real = module->clone();
  IntegerizeStats stats;
  if (failed(lowerQuantized(*module, request.model, request.progress,
                            result.refused, stats))) {
    real = nullptr; // its context goes
    return Error::success();
  }
  Expected<std::unique_ptr<HostModel>> made =
      HostModel::create(std::move(context), std::move(module));
  if (!made)
    return made.takeError();
  model = std::move(*made);
  return Error::success();
}

Error Evaluation::readData() {
  std::vector<HostModel::Value> inputs =
      model ? model->inputs()
            : valuesOf(original->lookupSymbol<mlir::func::FuncOp>("main"),
                       /*results=*/false);
  Expected<Frames> frames =
      readValues(request.data, inputs, request.frames, "input");
  if (!frames)
    return ofKind(Failure::Kind::Input, frames.takeError());
  given = std::move(*frames);
  std::string from = request.labels;
  if (from.empty() && hasClasses(request.data.path))
    from = request.data.path;
  if (from.empty())
    return Error::success();
  Expected<std::vector<int64_t>> read = readLabels(from);
  if (!read)
    return ofKind(Failure::Kind::Input, read.takeError());
  // With -n the first frames are taken.
  const bool fits = request.frames ? read->size() >= given.size()
                                   : read->size() == given.size();
  if (!fits) {
    const size_t fewer = std::min(read->size(), given.size());
    return ofKind(
        Failure::Kind::Input,
        createStringError("'%s' has %zu labels for %zu frames; give one label "
                          "for each frame, or -n %zu for the first ones",
                          from.c_str(), read->size(), given.size(), fewer));
  }
  labels = std::move(*read);
  return Error::success();
}

/// A file's name in a line of comma-separated values.
static std::string quoted(StringRef text) {
  if (text.find_first_of(",\"\n\r") == StringRef::npos)
    return text.str();
  std::string out = "\"";
  for (char c : text)
    out += std::string(c == '"' ? 2 : 1, c);
  return out + "\"";
}

/// One line for each frame: where it is from, its label, the class, the score
/// and, with `top`, the classes of the highest scores.
Error Evaluation::writePredictions(const Frames &outputs) {
  std::vector<std::string> files;
  if (sys::fs::is_directory(request.data.path)) {
    Expected<std::vector<ClassFolder>> folders =
        classFolders(request.data.path);
    if (!folders)
      return folders.takeError();
    for (const ClassFolder &folder : *folders)
      append_range(files, folder.images);
  }
  std::error_code code;
  raw_fd_ostream out(request.predictions, code);
  if (!code) {
    out << "frame,file,label,class,score" << (request.top ? ",top" : "")
        << "\n";
    for (auto [f, frame] : enumerate(outputs)) {
      const int64_t found = classOf(frame);
      const Tensor &scores = frame.front();
      out << f << "," << (f < files.size() ? quoted(files[f]) : "") << ","
          << (labels.empty() ? "" : std::to_string(labels[f])) << "," << found
          << ",";
      if (scores.isFloat)
        out << format("%.9g", double(scores.floats[found]));
      if (request.top)
        out << ","
            << join(map_range(topClasses(frame, request.top),
                              [](int64_t c) { return std::to_string(c); }),
                    " ");
      out << "\n";
    }
    out.close();
    code = out.error();
    out.clear_error();
  }
  if (code)
    return createStringError(code, "'%s' cannot be written: %s",
                             request.predictions.c_str(),
                             code.message().c_str());
  return Error::success();
}

Error Evaluation::add(const char *form,
                      function_ref<Expected<Frames>()> compute,
                      const OneFrame &one) {
  auto start = std::chrono::steady_clock::now();
  Expected<Frames> outputs = compute();
  if (!outputs)
    return outputs.takeError();
  Accuracy accuracy{form, int64_t(outputs->size())};
  accuracy.seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
          .count();
  bool isFirst = result.forms.empty();
  if (isFirst && !request.outputs.empty())
    if (Error error = writeValues(request.outputs, outputValues, *outputs))
      return ofKind(Failure::Kind::Environment, std::move(error));
  if (isFirst && !request.predictions.empty())
    if (Error error = writePredictions(*outputs))
      return ofKind(Failure::Kind::Environment, std::move(error));
  if (request.time && one) {
    Expected<double> us = frameTime(given, one);
    if (!us)
      return us.takeError();
    accuracy.frameUs = *us;
  }
  if (labels.empty()) {
    result.forms.push_back(std::move(accuracy));
    return Error::success();
  }
  Classes classes;
  for (const std::vector<Tensor> &frame : *outputs)
    classes.push_back(classOf(frame));
  if (StringRef(form) == "integer")
    integerClasses = classes;
  if (!integerClasses.empty())
    accuracy.integerCorrect = 0;
  for (auto [f, found] : enumerate(classes)) {
    accuracy.correct += found == labels[f];
    if (request.top)
      accuracy.topCorrect +=
          is_contained(topClasses((*outputs)[f], request.top), labels[f]);
    accuracy.sameClass +=
        f < integerClasses.size() && found == integerClasses[f];
    accuracy.integerCorrect +=
        f < integerClasses.size() && integerClasses[f] == labels[f];
    if (!isFirst || found < 0 || labels[f] < 0)
      continue;
    size_t size = size_t(std::max(found, labels[f])) + 1;
    if (size > 1000)
      continue;
    if (size > result.confusion.size()) {
      result.confusion.resize(size);
      for (auto &row : result.confusion)
        row.resize(size, 0);
    }
    ++result.confusion[labels[f]][found];
  }
  result.forms.push_back(std::move(accuracy));
  return Error::success();
}

Expected<std::vector<Tensor>>
Evaluation::floatFrame(const std::vector<Tensor> &frame, MainStates &states) {
  if (states.empty())
    return floatPath->run(frame);
  Expected<std::vector<Tensor>> out = floatPath->run(states.arguments(frame));
  if (out)
    states.keep(*out);
  return out;
}

Expected<Frames> Evaluation::runFloat(int64_t n) {
  Frames outputs(n);
  MainStates states(original->lookupSymbol<mlir::func::FuncOp>("main"));
  for (int64_t f = 0; f < n && !states.empty(); ++f) {
    Expected<std::vector<Tensor>> out = floatFrame(given[f], states);
    if (!out)
      return out.takeError();
    outputs[f] = std::move(*out);
  }
  if (!states.empty())
    return outputs;
  std::mutex counting; // so that the counts that are shown only grow
  int64_t done = 0;
  if (Error error = parallelFrames(n, [&](int64_t f) -> Error {
        Expected<std::vector<Tensor>> out = floatPath->run(given[f]);
        if (!out)
          return out.takeError();
        outputs[f] = std::move(*out);
        std::lock_guard<std::mutex> guard(counting);
        if (++done % 100 == 0)
          say(formatv("float: {0} of {1} frames", done, n).str());
        return Error::success();
      }))
    return error;
  return outputs;
}

/// Runs frames through a package's simulated hardware.
Expected<Frames> Evaluation::runPackage(const std::string &dir,
                                        const Frames &frames) {
  // Compiled just now, or compared when the model was loaded.
  Expected<Package> package =
      Package::open(dir, request.trust ? Changes::Trust : Changes::Ignore);
  if (!package)
    return package.takeError();
  SimOptions options;
  options.measure = false;
  say("rtl");
  Passage passage(*model, frames), predicted = passage;
  if (Error error = predicted.run(compiled(*model)))
    return error;
  auto design = [&](const Frames &codes) -> Expected<Frames> {
    Expected<SimResult> simulated = simulateRtl(*package, codes, options);
    if (!simulated)
      return simulated.takeError();
    return std::move(simulated->outputs);
  };
  if (Error error = passage.runDesign(design, predicted.networkInputs()))
    return error;
  return passage.outputs();
}

/// The same, compiling a model file first.
Expected<Frames> Evaluation::runRtl(const Frames &frames) {
  if (isPackage())
    return runPackage(request.model.path, frames);
  Expected<std::string> temporary = makeTemporaryFolder("rhizome");
  if (!temporary)
    return temporary.takeError();
  const std::string dir = *temporary + "/m.rhz";
  if (Status built = request.compile(dir); !built) {
    // Of the model, each with its place.
    if (!built.failure().causes.front().node.empty())
      result.refused = built.failure().causes;
    return ofKind(built.failure().kind,
                  createStringError("%s", built.failure().reason().c_str()));
  }
  Expected<Frames> outputs = runPackage(dir, frames);
  if (Error error = removeTree(*temporary))
    return joinErrors(std::move(error), outputs.takeError());
  return outputs;
}

/// Counts what saturates on some of the frames: as many as the interpreter runs
/// in seconds.
Error Evaluation::watchPackage() {
  constexpr int64_t kMostWork = 1000000000;
  if (model->regionCount() == 0)
    return Error::success();
  mlir::func::FuncOp network = model->network();
  int64_t work = 1;
  for (mlir::Operation &op : network.getBody().front())
    if (op.getNumResults()) {
      osa::Work own = osa::computeWork(&op);
      work += own.macs + own.ops;
    }
  int64_t n = std::min({request.layerFrames, int64_t(given.size()),
                        std::max<int64_t>(1, kMostWork / work)});
  Passage passage(*model, first(given, n));
  SaturationCounter counter(*model, /*onFpga=*/true);
  if (Error error = passage.run(counter.interpreted(*model)))
    return error;
  return keepSaturation(passage, counter);
}

Error Evaluation::keepSaturation(const Passage &passage,
                                 const SaturationCounter &counter) {
  Expected<std::vector<Saturation>> before = hostSaturation(*model, passage);
  if (!before)
    return before.takeError();
  result.saturation = std::move(*before);
  append_range(result.saturation, counter.counts());
  return Error::success();
}

Error Evaluation::run() {
  if (Error error = loadOriginal())
    return error;
  if (!model && !original)
    return Error::success(); // refused
  // What is wrong with the data is said before minutes of calibration.
  if (Error error = readData())
    return error;
  if (Error error = loadModel())
    return error;
  outputValues =
      model ? model->outputs()
            : valuesOf(original->lookupSymbol<mlir::func::FuncOp>("main"),
                       /*results=*/true);
  int64_t all = int64_t(given.size());
  bool isRtl = request.level == Level::Rtl;
  const bool onlyHost = model && model->regionCount() == 0;
  if (model) {
    say("integer");
    auto integer = [&]() -> Expected<Frames> {
      Passage passage(*model, given);
      if (Error error = passage.run(compiled(*model)))
        return error;
      return passage.outputs();
    };
    auto rtl = [&] {
      return runRtl(
          first(given, isRtl ? all : std::min(request.rtlFrames, all)));
    };
    auto one = [&, states = model->initialStates()](
                   const std::vector<Tensor> &frame) mutable {
      return model->runAll(frame, states);
    };
    const char *form = onlyHost ? "host" : "integer";
    if (!isRtl)
      if (Error error = add(form, integer, one))
        return error;
    if (isRtl || request.rtlFrames)
      if (Error error = add("rtl", rtl)) {
        if (result.refused.empty())
          return error;
        consumeError(std::move(error));
        return Error::success();
      }
  }
  MainStates timedStates(
      original ? original->lookupSymbol<mlir::func::FuncOp>("main")
               : mlir::func::FuncOp());
  int64_t floats =
      request.level == Level::Float ? all : std::min(request.floatFrames, all);
  if (original && !isRtl && floats) {
    auto compiled = CompiledFunction::compile(
        original->lookupSymbol<mlir::func::FuncOp>("main"));
    if (failed(compiled))
      return ofKind(
          Failure::Kind::Unsupported,
          createStringError("the model cannot be evaluated in float32"));
    floatPath = std::move(*compiled);
    if (Error error = add(
            "float", [&] { return runFloat(floats); },
            [&](const std::vector<Tensor> &f) {
              return floatFrame(f, timedStates);
            }))
      return error;
  }
  if (model && original && !isRtl && !onlyHost && request.layerFrames) {
    say("layers");
    SaturationCounter counter(*model, /*onFpga=*/true);
    Frames some = first(given, std::min(request.layerFrames, all));
    mlir::OwningOpRef<mlir::ModuleOp> exact =
        withoutRounding(*real, isQuantizedHere(request.model));
    Expected<LayerTrace> trace = traceLayers(*model, *exact, some, counter);
    if (!trace)
      return trace.takeError();
    for (const TracedLayer &layer : trace->layers)
      if (layer.snr && layer.isExact)
        result.layers.push_back({layer.name, layer.op, *layer.snr});
    for (const TracedOutput &output : trace->outputs)
      if (output.snr)
        result.layers.push_back({output.name, "output", *output.snr});
    Passage passage(*model, some);
    if (Error error = passage.run(compiled(*model)))
      return error;
    if (Error error = keepSaturation(passage, counter))
      return error;
  }
  if (model && isPackage() && !isRtl && request.layerFrames)
    if (Error error = watchPackage())
      return error;
  if (request.level == Level::Float)
    result.refused.clear(); // of an integer model that nobody asked for
  return Error::success();
}

rhizome::Result<EvaluateResult>
evaluate::evaluateModel(const EvaluateRequest &request) {
  EvaluateResult result;
  Error error = Evaluation(request, result).run();
  if (!error && !result.forms.empty())
    return result;
  Failure failure = Failure::refused(result.refused);
  if (error)
    failure = failureOf(std::move(error), Failure::Kind::Environment);
  else if (result.refused.empty())
    failure = Failure(Failure::Kind::Usage, "there is no frame to evaluate");
  failure.notes = std::move(result.notes);
  return failure;
}
