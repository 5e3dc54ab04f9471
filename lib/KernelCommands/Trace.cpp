// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs elements through a kernel in reals and in its number formats, and
// compares the result of every nest. Which nest is at fault is measured, by a
// kernel in which it alone has a wider format.
#include "rhizome/KernelCommands/Trace.h"
#include "HardwareParts.h"
#include "Load.h"
#include "Steps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "rhizome/Dialect/Marks/Marks.h"
#include "rhizome/Dialect/Num/Num.h"
#include "rhizome/Evaluate/Findings.h"
#include "rhizome/Generator/Loops/Views.h"
#include "rhizome/Interp/Interpreter.h"
#include "rhizome/Interp/Numbers.h"
#include "rhizome/Model/Input.h"
#include "rhizome/Numeric/Arithmetic.h"
#include "rhizome/Package/Package.h"
#include "rhizome/Support/Failures.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"
#include <cmath>

using namespace mlir;
using namespace rhizome;
using namespace rhizome::evaluate;
using namespace rhizome::kernelcommands;
using numeric::Format;

/// On a nest: its number, which stays when formats are applied.
static constexpr const char *kNest = "nest";
/// What a nest is to the user.
static constexpr const char *kStatement = "statement", *kPart = "part";
/// As many nests are tried with a wider format, and told apart by this gain in
/// dB.
static constexpr size_t kMostTrials = 8;
static constexpr double kToldGain = 0.5;

static llvm::Error textError(Failure::Kind kind, const llvm::Twine &text) {
  return ofKind(kind,
                llvm::createStringError(llvm::inconvertibleErrorCode(), text));
}

namespace {
/// A layer in the making: an input, or a nest.
struct Followed {
  TracedLayer layer;
  size_t number = 0; ///< of the input among the arguments, or of the nest
  Noise noise = {};
  int64_t infinite = 0;          ///< values that are no finite numbers in reals
  std::vector<size_t> from = {}; ///< the layers whose values it reads
  std::vector<double> wanted = {}; ///< of this element
};

class KernelTrace {
public:
  KernelTrace(const HardwareRunRequest &request, TraceResult &result)
      : request(request), result(result) {}
  llvm::Error run();

private:
  llvm::Error open();
  llvm::Error readKernels();
  llvm::Expected<OwningOpRef<ModuleOp>> inFormats(ArrayRef<size_t> wider);
  void followInputs();
  void followNests();
  llvm::Error runElements();
  llvm::Error runElement(const Interpreter &onReals, const Interpreter &rounded,
                         const std::vector<Tensor> &arguments);
  void meetOperands(Followed &followed);
  void meetReals(Followed &followed, std::vector<double> values);
  void meetOutputs(const std::vector<Tensor> &want,
                   const std::vector<Tensor> &got);
  void finish();
  std::optional<double> outputsWith(ArrayRef<size_t> wider);
  std::string remedyOf(const TracedLayer &layer) const;
  void judge();
  func::FuncOp kernelIn(ModuleOp module) {
    return module.lookupSymbol<func::FuncOp>(exact.func.getSymName());
  }

  const HardwareRunRequest &request;
  TraceResult &result;
  std::optional<Package> package;
  KernelOptions options;
  std::string source;
  Loaded exact;
  OwningOpRef<ModuleOp> formats;
  std::vector<Followed> list;
  /// The layer of an operation in formats, and of a nest by its number.
  llvm::DenseMap<Operation *, size_t> layerOf;
  std::vector<size_t> layerOfNest;
  InputValues values;
  std::vector<std::vector<Tensor>> wantedOutputs; ///< by element
  std::vector<Noise> noises;                      ///< of the outputs
};
} // namespace

/// What is traced, and how it was compiled.
llvm::Error KernelTrace::open() {
  options = request.options;
  source = request.path;
  const model::InputKind kind = model::inputKind(request.path);
  result.model = llvm::sys::path::filename(request.path).str();
  if (kind == model::InputKind::Kernel)
    return llvm::Error::success();
  std::string folder = request.path;
  if (kind == model::InputKind::KernelPackage) {
    auto opened = Package::open(
        request.path, changesFor(request.acceptChanges, request.trust));
    if (!opened)
      return opened.takeError();
    package.emplace(std::move(*opened));
    result.notes = package->notes();
    result.model = package->plan().model;
    folder = package->path("model");
  }
  auto read = readKernelOptions(folder, options);
  if (!read)
    return read.takeError();
  options = *read;
  if (package && package->plan().kernel)
    options.sums = sumsOf(package->plan().kernel->choice);
  source = sourceOf(folder);
  return llvm::Error::success();
}

static int64_t numberOf(Operation &op) {
  auto number = op.getAttrOfType<IntegerAttr>(kNest);
  return number ? number.getInt() : -1;
}

/// The kernel on reals, whose nests are numbered.
llvm::Error KernelTrace::readKernels() {
  auto loaded = load(source, options);
  if (!loaded)
    return loaded.takeError();
  exact = std::move(*loaded);
  KernelResult unused;
  if (llvm::Error error = normalizeKernel(exact.func, options, unused))
    return error;
  gen::loops::generalizeAll(exact.func);
  separateNests(exact.func);
  OpBuilder b(exact.context);
  int64_t number = 0;
  for (auto nest : exact.func.getOps<linalg::GenericOp>())
    nest->setAttr(kNest, b.getI64IntegerAttr(number++));
  auto made = inFormats({});
  if (!made)
    return made.takeError();
  formats = std::move(*made);
  return llvm::Error::success();
}

/// The kernel in its formats; these layers have a wider one.
llvm::Expected<OwningOpRef<ModuleOp>>
KernelTrace::inFormats(ArrayRef<size_t> wider) {
  OwningOpRef<ModuleOp> module = exact.module->clone();
  func::FuncOp kernel = kernelIn(*module);
  for (size_t at : wider) {
    const Followed &followed = list[at];
    auto format = StringAttr::get(kernel.getContext(), followed.layer.wider);
    if (followed.layer.isInput) {
      kernel.setArgAttr(unsigned(followed.number), marks::kFormat, format);
      continue;
    }
    for (auto nest : kernel.getOps<linalg::GenericOp>())
      if (numberOf(*nest) == int64_t(followed.number))
        nest->setAttr(marks::kFormat, format);
  }
  auto chosen = chooseNumbers(kernel, options);
  if (!chosen)
    return chosen.takeError();
  if (!*chosen)
    return textError(Failure::Kind::Usage,
                     "'" + source +
                         "' has no number formats, so that nothing of it is "
                         "rounded; remedy: --numbers, or formats in its "
                         "declarations");
  return std::move(module);
}

/// A layer of this format, empty.
static TracedLayer layerIn(const Format &format, const KernelOptions &options) {
  TracedLayer layer;
  const bool saturates = options.numbers.saturate;
  const numeric::Arithmetic numbers(format, numeric::Rounding::NearestEven,
                                    numeric::Overflow::Saturate);
  layer.format = format.str();
  layer.number = format;
  layer.wraps = !saturates;
  layer.lowest = numbers.toDouble(format.least());
  layer.highest = numbers.toDouble(format.greatest());
  layer.scale = numbers.toDouble(1);
  if (format.isFixed()) {
    constexpr double kMost = 0x1p62;
    auto code = [&](double real) {
      return int64_t(std::clamp(real / layer.scale, -kMost, kMost));
    };
    layer.lo = code(layer.lowest);
    layer.hi = code(layer.highest);
  }
  return layer;
}

/// The inputs that are converted to a format.
void KernelTrace::followInputs() {
  for (auto cast : kernelIn(*formats).getOps<linalg::GenericOp>()) {
    if (numberOf(*cast) >= 0 || cast.getNumDpsInputs() != 1)
      continue;
    auto argument = dyn_cast<BlockArgument>(cast.getDpsInputs()[0]);
    auto format = num::formatOf(getElementTypeOrSelf(cast.getResult(0)));
    if (!argument || !format)
      continue;
    const kernel::Argument &given =
        exact.signature.arguments[argument.getArgNumber()];
    Followed followed{layerIn(*format, options), argument.getArgNumber()};
    followed.layer.name = given.name;
    followed.layer.op = "input";
    followed.layer.shape = given.shape;
    followed.layer.isInput = true;
    layerOf[cast] = list.size();
    list.push_back(std::move(followed));
  }
}

void KernelTrace::followNests() {
  SmallVector<linalg::GenericOp> nests(exact.func.getOps<linalg::GenericOp>());
  const std::vector<std::string> names = namesOf(nests);
  layerOfNest.assign(nests.size(), size_t(-1));
  for (Operation &op : kernelIn(*formats).getBody().front()) {
    if (numberOf(op) < 0 || op.getNumResults() != 1)
      continue;
    const auto number = size_t(numberOf(op));
    auto type = cast<ShapedType>(op.getResult(0).getType());
    auto format = num::formatOf(type.getElementType());
    if (!format)
      continue;
    Followed followed{layerIn(*format, options), number};
    followed.layer.name = names[number];
    // The algebra makes several nests of a statement; the last one is what it
    // computes.
    const bool isLast = names[number] == nameOf(*nests[number]);
    followed.layer.op = isLast ? kStatement : kPart;
    followed.layer.shape = type.getShape().vec();
    llvm::SetVector<Value> read;
    read.insert(op.operand_begin(), op.operand_end());
    for (size_t i = 0; i < read.size(); ++i) {
      Operation *made = read[i].getDefiningOp();
      if (auto found = layerOf.find(made); made && found != layerOf.end())
        followed.from.push_back(found->second);
      else if (made)
        read.insert(made->operand_begin(), made->operand_end());
    }
    layerOf[&op] = layerOfNest[number] = list.size();
    list.push_back(std::move(followed));
  }
}

/// Values that a layer rounds to its format.
static void meet(TracedLayer &layer, ArrayRef<double> reals) {
  if (!layer.real)
    layer.real.emplace();
  layer.isExact = true;
  // What rounds to the last number fits.
  const double half = layer.number->isFixed() ? layer.scale / 2 : 0;
  for (double x : reals) {
    if (!std::isfinite(x))
      continue;
    layer.real->add(x);
    layer.octaves.add(x);
    layer.below += x < layer.lowest - half;
    layer.above += x > layer.highest + half;
  }
}

/// A nest computes in one format, to which its operands are converted.
void KernelTrace::meetOperands(Followed &followed) {
  for (size_t from : followed.from) {
    const Followed &operand = list[from];
    for (double x : operand.wanted)
      if (std::isfinite(x))
        followed.layer.operands.add(x);
    if (operand.layer.number != followed.layer.number)
      meet(followed.layer, operand.wanted);
  }
}

void KernelTrace::meetReals(Followed &followed, std::vector<double> reals) {
  meet(followed.layer, reals);
  followed.infinite +=
      llvm::count_if(reals, [](double x) { return !std::isfinite(x); });
  followed.wanted = std::move(reals);
}

void KernelTrace::meetOutputs(const std::vector<Tensor> &want,
                              const std::vector<Tensor> &got) {
  for (auto [k, output] : llvm::enumerate(result.outputs)) {
    const std::vector<double> reals = doublesOf(want[k]),
                              found = doublesOf(got[k]);
    if (!output.real)
      output.real.emplace();
    for (auto [w, x] : llvm::zip_equal(reals, found))
      if (std::isfinite(w)) {
        output.real->add(w);
        output.integer.add(x);
        noises[k].add(w, x);
      }
  }
}

llvm::Error KernelTrace::runElement(const Interpreter &onReals,
                                    const Interpreter &rounded,
                                    const std::vector<Tensor> &arguments) {
  for (Followed &followed : list)
    if (followed.layer.isInput)
      meetReals(followed, doublesOf(arguments[followed.number]));
  auto want = onReals.run(arguments, [&](Operation *op, const Tensor &t) {
    const int64_t number = numberOf(*op);
    if (number < 0 || layerOfNest[size_t(number)] == size_t(-1))
      return;
    Followed &followed = list[layerOfNest[size_t(number)]];
    meetOperands(followed);
    meetReals(followed, doublesOf(t));
  });
  if (failed(want))
    return textError(Failure::Kind::Unsupported, "");
  auto got = rounded.run(arguments, [&](Operation *op, const Tensor &t) {
    auto found = layerOf.find(op);
    if (found == layerOf.end())
      return;
    Followed &followed = list[found->second];
    for (auto [w, x] : llvm::zip_equal(followed.wanted, doublesOf(t)))
      if (std::isfinite(w)) {
        followed.layer.integer.add(x);
        followed.noise.add(w, x);
      }
  });
  if (failed(got))
    return textError(Failure::Kind::Unsupported, "");
  meetOutputs(*want, *got);
  wantedOutputs.push_back(std::move(*want));
  return llvm::Error::success();
}

llvm::Error KernelTrace::runElements() {
  PlacedDiagnostics diagnostics(*exact.context);
  const Interpreter onReals(exact.func), rounded(kernelIn(*formats));
  for (int64_t f = 0; f < result.frames; ++f)
    if (llvm::Error error = runElement(
            onReals, rounded, argumentsOf(exact.signature, values, f))) {
      llvm::consumeError(std::move(error));
      return diagnostics.error("trace another kernel: the interpreter cannot "
                               "run this one");
    }
  return llvm::Error::success();
}

void KernelTrace::finish() {
  for (Followed &followed : list) {
    TracedLayer &layer = followed.layer;
    layer.values = layer.real ? layer.real->count : 0;
    if (followed.infinite)
      result.notes.push_back(llvm::formatv(
          "{0} of the values of {1} are no finite numbers in reals either, as "
          "after a division by zero: they are left out",
          followed.infinite, layer.name));
    layer.snr = followed.noise.decibels();
    for (size_t from : followed.from)
      if (const auto &before = list[from].layer.snr; before && layer.snr)
        layer.lost = std::max(layer.lost.value_or(-1e9), *before - *layer.snr);
    findFaults(layer);
    // A finer input is converted, and a part has no declaration.
    if (layer.finding == TracedLayer::Finding::Unused && layer.op != kStatement)
      layer.finding = TracedLayer::Finding::None;
  }
  for (auto [noise, output] : llvm::zip_equal(noises, result.outputs))
    output.snr = noise.decibels();
}

/// The least dB of an output if these layers have wider formats; nothing if
/// they cannot.
std::optional<double> KernelTrace::outputsWith(ArrayRef<size_t> wider) {
  PlacedDiagnostics ignored(*exact.context);
  auto module = inFormats(wider);
  if (!module) {
    llvm::consumeError(module.takeError());
    return std::nullopt;
  }
  std::vector<Noise> found(noises.size());
  Interpreter interpreter(kernelIn(**module));
  for (int64_t f = 0; f < result.frames; ++f) {
    auto got = interpreter.run(argumentsOf(exact.signature, values, f));
    if (failed(got))
      return std::nullopt;
    for (auto [k, noise] : llvm::enumerate(found))
      for (auto [w, x] : llvm::zip_equal(doublesOf(wantedOutputs[size_t(f)][k]),
                                         doublesOf((*got)[k])))
        if (std::isfinite(w))
          noise.add(w, x);
  }
  std::optional<double> least;
  for (const Noise &noise : found)
    if (auto one = noise.decibels())
      least = std::min(least.value_or(*one), *one);
  return least;
}

/// What is at fault, and by how much.
void KernelTrace::judge() {
  SmallVector<size_t> saturated, all;
  for (auto [i, followed] : llvm::enumerate(list))
    if (followed.layer.finding == TracedLayer::Finding::Saturated) {
      saturated.push_back(i);
      if (!followed.layer.wider.empty())
        all.push_back(i);
    }
  std::optional<double> plain;
  if (!saturated.empty()) {
    plain = outputsWith({});
    result.snrWithout = outputsWith(all);
  }
  // Among several that do not fit, a single one may gain nothing: then the
  // first is to blame.
  double most = kToldGain;
  for (size_t i : ArrayRef(saturated).take_front(kMostTrials)) {
    TracedLayer &layer = list[i].layer;
    if (layer.wider.empty())
      continue;
    if (result.worst.empty())
      result.worst = layer.name;
    if (auto one = outputsWith({i}); one && plain)
      layer.gain = *one - *plain;
    if (layer.gain.value_or(0) > most) {
      most = *layer.gain;
      result.worst = layer.name;
    }
  }
  for (Followed &followed : list) {
    TracedLayer &layer = followed.layer;
    explainFault(layer, Rounder::Kernel);
    if (layer.finding != TracedLayer::Finding::None)
      layer.remedy = remedyOf(layer);
  }
}

/// Where a user sets the format, and to what.
std::string KernelTrace::remedyOf(const TracedLayer &layer) const {
  const bool isMlir = llvm::sys::path::extension(source) == ".mlir";
  const bool isPart = layer.op == kPart;
  auto written = [&](const std::string &text) -> std::string {
    if (isPart)
      return "--numbers '" + text + "'";
    if (isMlir)
      return "rhizome.format = \"" + text + "\"";
    std::string error;
    const Format format = *Format::parse(text, error);
    if (format.isFloat())
      return llvm::formatv("@float({0},{1})", format.exponentBits,
                           format.mantissaBits);
    return llvm::formatv("@{0}fixed({1},{2})", format.isSigned ? "" : "u",
                         format.integerBits, format.fractionBits);
  };
  std::string where;
  if (isPart)
    where = "it has no declaration: ";
  else if (isMlir)
    where = "as its attribute: ";
  else
    where = layer.isInput
                ? "in its declaration: "
                : "in the declaration of what " + layer.name + " computes: ";
  if (layer.finding == TracedLayer::Finding::Unused)
    return where + written(layer.better) + " rounds more finely";
  std::string formats;
  for (auto [format, what] : {std::pair(layer.better, " in as many bits"),
                              std::pair(layer.wider, " with the same steps")})
    if (!format.empty())
      formats += (formats.empty() ? "" : ", ") + written(format) + what;
  if (formats.empty())
    return "no format is wide enough: scale the data";
  if (layer.wraps && layer.number->isFixed())
    formats += "; --saturate keeps the largest number instead";
  return where + formats;
}

llvm::Error KernelTrace::run() {
  result.isKernel = true;
  if (llvm::Error error = open())
    return error;
  if (llvm::Error error = readKernels())
    return error;
  followInputs();
  followNests();
  const std::vector<std::string> names = outputNames(exact.signature);
  for (unsigned i = 0; i < exact.func.getNumResults(); ++i) {
    auto name = exact.func.getResultAttrOfType<StringAttr>(i, marks::kName);
    result.outputs.push_back(
        {name ? name.str() : names[i], {}, std::nullopt, std::nullopt});
  }
  noises.resize(result.outputs.size());
  KernelRunRequest all = request;
  if (!request.inputs.empty())
    all.frames = 0;
  auto given = inputsOf(all, exact.signature,
                        formatsOfInputs(kernelIn(*formats)), result.frames);
  if (!given)
    return given.takeError();
  values = std::move(*given);
  result.frames = std::min(result.frames, request.frames);
  result.data = request.inputs.empty() ? "random numbers"
                                       : llvm::join(request.inputs, ", ");
  if (request.inputs.empty())
    result.notes.push_back("random inputs say little about ranges: --data "
                           "names real ones");
  if (llvm::Error error = runElements())
    return error;
  finish();
  judge();
  for (Followed &followed : list)
    result.layers.push_back(std::move(followed.layer));
  if (!package)
    return llvm::Error::success();
  return package->writeResult(
      "trace.json",
      llvm::formatv("{0:2}\n", llvm::json::Value(toJson(result))).str());
}

Result<TraceResult>
kernelcommands::traceKernel(const HardwareRunRequest &request) {
  TraceResult result;
  llvm::Error error = KernelTrace(request, result).run();
  if (!error)
    return result;
  Failure failure = failureOf(std::move(error), Failure::Kind::Input);
  failure.notes = std::move(result.notes);
  return failure;
}
