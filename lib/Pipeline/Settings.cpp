// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Settings.h"
#include "mlir/IR/Builders.h"
#include "rhizome/Dialect/Marks/Settings.h"
#include "rhizome/Model/TensorFormat.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace rhizome;
using namespace rhizome::pipeline;
using namespace rhizome::model;

namespace {
/// What an option is for.
enum class Of { Both, Networks, Kernels };

/// An option and the last phase at which it acts.
struct OptionPhase {
  llvm::StringLiteral option;
  Phase last;
  Of of = Of::Networks;
};
} // namespace

static constexpr OptionPhase kOptions[] = {
    {"--shape", Phase::Import},
    {"--input-type", Phase::Import},
    {"--state", Phase::Import},
    {"--raw-integers", Phase::Import},
    {"--fixed-point-functions", Phase::Import},
    {"--constraints", Phase::Import},
    {"--number-format", Phase::Quantize},
    {"--tensor-format", Phase::Quantize},
    {"--calibration", Phase::Quantize},
    {"--calibration-normalize", Phase::Quantize},
    {"--calibration-method", Phase::Quantize},
    {"--calibration-frames", Phase::Quantize},
    {"--bits", Phase::Quantize},
    {"--max-loss", Phase::Quantize},
    {"--min-snr", Phase::Quantize},
    {"--device", Phase::Explore, Of::Both},
    {"--board", Phase::Explore, Of::Both},
    {"--cluster", Phase::Explore, Of::Both},
    {"--clock-mhz", Phase::Explore, Of::Both},
    {"--border", Phase::Explore},
    {"--goal", Phase::Explore, Of::Both},
    {"--max-nodes", Phase::Explore},
    {"--steer", Phase::Explore, Of::Both},
    {"--plan", Phase::Explore, Of::Both},
    {"--accept-nearest", Phase::Explore},
    {"--generators", Phase::Explore},
    {"--core", Phase::Explore},
    {"--weights", Phase::Explore},
    {"--fifos", Phase::Explore},
    {"--state-home", Phase::Explore},
    {"--hide-states", Phase::Explore},
    {"--cpu-object", Phase::Package},
    {"--object-cpu", Phase::Package},
    {"--golden", Phase::Package},
    {"--input", Phase::Package},
    {"--bitstream", Phase::Package},
    {"--cfdlang-compat", Phase::Import, Of::Kernels},
    {"--keep-order", Phase::Import, Of::Kernels},
    {"--gemm", Phase::Normalize, Of::Kernels},
    {"--numbers", Phase::Quantize, Of::Kernels},
    {"--rounding", Phase::Quantize, Of::Kernels},
    {"--saturate", Phase::Quantize, Of::Kernels},
    {"--fused", Phase::Quantize, Of::Kernels},
    {"--stages", Phase::Explore, Of::Kernels},
    {"--resident", Phase::Explore, Of::Kernels},
    {"--lanes", Phase::Explore, Of::Kernels},
    {"--words", Phase::Explore, Of::Kernels},
    {"--system", Phase::Explore, Of::Kernels},
    {"--units", Phase::Explore, Of::Kernels},
    {"--copies", Phase::Explore, Of::Kernels},
};

Status pipeline::checkPhases(const CompileRequest &request) {
  if (request.from && request.to && *request.to <= *request.from)
    return Failure(Failure::Kind::Usage,
                   std::string("--compile-to ") + infoOf(*request.to).name +
                       " does not come after --compile-from " +
                       infoOf(*request.from).name,
                   "phases are, in order: " + phaseNames());
  if (request.from == Phase::Package)
    return Failure(Failure::Kind::Usage,
                   "--compile-from package: no phase follows",
                   "'rhizome simulate' and others take the package");
  if (!request.from)
    return Done();
  for (const OptionPhase &entry : kOptions)
    if (entry.last <= *request.from && request.isGiven(entry.option))
      return Failure(Failure::Kind::Usage,
                     entry.option.str() + " acts in the phase '" +
                         infoOf(entry.last).name +
                         "' for the last time; what --compile-from " +
                         infoOf(*request.from).name + " takes has passed it",
                     "give it to the compile that begins before");
  return Done();
}

Status pipeline::checkGiven(const CompileRequest &request, bool isKernel) {
  for (const OptionPhase &entry : kOptions)
    if (entry.of == (isKernel ? Of::Networks : Of::Kernels) &&
        request.isGiven(entry.option))
      return Failure(Failure::Kind::Usage,
                     entry.option.str() + ": '" + request.model.path +
                         "' holds a " + (isKernel ? "kernel" : "network") +
                         ", which does not take it",
                     "leave it out");
  return Done();
}

//===----------------------------------------------------------------------===//
// Into the IR
//===----------------------------------------------------------------------===//

static llvm::StringRef nameOf(calibrate::Method method) {
  switch (method) {
  case calibrate::Method::MinMax:
    return "min-max";
  case calibrate::Method::Percentile:
    return "percentile";
  case calibrate::Method::MeanSquare:
    return "mse";
  }
  llvm_unreachable("every method has its name");
}

static Attribute attrOf(Builder &b, const calibrate::Bits &bits) {
  return b.getDenseI64ArrayAttr({bits.weights, bits.activations});
}

static DictionaryAttr attrOf(Builder &b, const Calibration &calibration) {
  const calibrate::Options &options = calibration.options;
  NamedAttrList list;
  list.set("data", b.getStringAttr(calibration.data.path));
  list.set("normalize", b.getStringAttr(calibration.data.normalize));
  if (!calibration.data.images.empty())
    list.set("images", b.getStringAttr(calibration.data.images));
  list.set("frames", b.getI64IntegerAttr(calibration.frames));
  list.set("method", b.getStringAttr(nameOf(options.method)));
  list.set("percentile", b.getF64FloatAttr(options.percentile));
  list.set("bits", attrOf(b, options.bits));
  if (options.maxLoss)
    list.set("max_loss", b.getF64FloatAttr(*options.maxLoss));
  if (options.minSnr)
    list.set("min_snr", b.getF64FloatAttr(*options.minSnr));
  NamedAttrList layers;
  for (const auto &[name, bits] : options.layers)
    layers.set(name, attrOf(b, bits));
  list.set("layers", layers.getDictionary(b.getContext()));
  return list.getDictionary(b.getContext());
}

std::string pipeline::modelNameOf(const CompileRequest &request) {
  if (!request.name.empty())
    return request.name;
  // File names need not be UTF-8; plan.json must be.
  return llvm::json::fixUTF8(llvm::sys::path::stem(request.model.path));
}

void pipeline::recordSettings(ModuleOp module, const CompileRequest &request,
                              Phase done) {
  Builder b(module.getContext());
  marks::SettingsWriter list(module.getContext());
  list.text("model", modelNameOf(request));
  list.text("device", request.device);
  list.text("board", request.board);
  list.text("cluster", request.cluster);
  list.text("border", request.border);
  list.real("clock_mhz", request.clockMhz);
  if (done < Phase::Explore) {
    list.text("goal", request.goal);
    list.text("steer", request.steer);
    list.text("plan", request.plan);
    if (request.maxNodes)
      list.set("max_nodes", b.getI64IntegerAttr(*request.maxNodes));
    list.flag("accept_nearest", request.acceptNearest);
    list.texts("generators", request.generators);
    list.text("core", request.core);
    list.texts("weights", request.weights);
    list.texts("fifos", request.fifos);
    if (request.stateHome != "auto")
      list.text("state_home", request.stateHome);
    list.flag("hide_states", request.hideStates);
  }
  if (done < Phase::Quantize) {
    if (request.model.numberFormat)
      list.text("number_format", request.model.numberFormat->str());
    NamedAttrList formats;
    for (const auto &[name, format] : request.model.tensorFormats)
      formats.set(name, b.getStringAttr(format.str()));
    if (!formats.empty())
      list.set("tensor_formats", formats.getDictionary(b.getContext()));
    if (request.model.calibration)
      list.set("calibration", attrOf(b, *request.model.calibration));
  }
  if (!request.samples.files.empty()) {
    NamedAttrList samples;
    llvm::SmallVector<llvm::StringRef> paths;
    for (const DataRequest &file : request.samples.files)
      paths.push_back(file.path);
    samples.set("option", b.getStringAttr(request.samples.option));
    samples.set("files", b.getStrArrayAttr(paths));
    samples.set("normalize",
                b.getStringAttr(request.samples.files.front().normalize));
    if (!request.samples.files.front().images.empty())
      samples.set("images",
                  b.getStringAttr(request.samples.files.front().images));
    list.set("samples", samples.getDictionary(b.getContext()));
  }
  module->setAttr(marks::kCompile, list.dictionary());
}

//===----------------------------------------------------------------------===//
// And back
//===----------------------------------------------------------------------===//

std::optional<std::string> pipeline::waitingFormat(ModuleOp module) {
  auto settings = module->getAttrOfType<DictionaryAttr>(marks::kCompile);
  if (!settings)
    return std::nullopt;
  for (const char *name : {"number_format", "tensor_formats", "calibration"})
    if (settings.contains(name))
      return name;
  return std::nullopt;
}

namespace {
/// Reads what only networks have, too.
class Reader : public marks::SettingsReader {
public:
  bool format(NamedAttribute entry, std::optional<numeric::Format> &value,
              bool isTensor = false) {
    std::string words, error, note;
    if (!text(entry, words))
      return false;
    value = isTensor ? parseTensorFormat(words, error, note)
                     : parseNetworkFormat(words, error, note);
    if (!value)
      return wrong(entry, "a number format (" + error + ")");
    return true;
  }
  bool bits(NamedAttribute entry, calibrate::Bits &value) {
    auto attr = dyn_cast<DenseI64ArrayAttr>(entry.getValue());
    if (!attr || attr.size() != 2 ||
        llvm::any_of(attr.asArrayRef(),
                     [](int64_t b) { return b < 2 || b > 16; }))
      return wrong(entry, "two widths of 2 to 16 bits");
    value = {unsigned(attr[0]), unsigned(attr[1])};
    return true;
  }
};
} // namespace

static bool readCalibration(Reader &reader, NamedAttribute entry,
                            Calibration &calibration) {
  calibrate::Options &options = calibration.options;
  calibration.data.normalizeOption = "--calibration-normalize";
  calibration.data.imagesOption = "--calibration-images";
  return reader.entries(entry, [&](NamedAttribute inner) {
    llvm::StringRef name = inner.getName();
    std::string words;
    std::optional<double> number;
    if (name == "data")
      return reader.text(inner, calibration.data.path);
    if (name == "normalize")
      return reader.text(inner, calibration.data.normalize);
    if (name == "images")
      return reader.text(inner, calibration.data.images);
    if (name == "frames")
      return reader.whole(inner, calibration.frames);
    if (name == "bits")
      return reader.bits(inner, options.bits);
    if (name == "max_loss")
      return reader.real(inner, options.maxLoss);
    if (name == "min_snr")
      return reader.real(inner, options.minSnr);
    if (name == "percentile") {
      if (!reader.real(inner, number))
        return false;
      options.percentile = *number;
      return true;
    }
    if (name == "layers")
      return reader.entries(inner, [&](NamedAttribute layer) {
        return reader.bits(layer, options.layers[layer.getName().str()]);
      });
    if (name != "method")
      return reader.wrong(inner, "a setting");
    if (!reader.text(inner, words))
      return false;
    for (calibrate::Method method :
         {calibrate::Method::MinMax, calibrate::Method::Percentile,
          calibrate::Method::MeanSquare})
      if (words == nameOf(method)) {
        options.method = method;
        return true;
      }
    return reader.wrong(inner, "min-max, percentile or mse");
  });
}

static bool readSamples(Reader &reader, NamedAttribute entry,
                        Samples &samples) {
  std::string normalize, images;
  const bool good = reader.entries(entry, [&](NamedAttribute inner) {
    llvm::StringRef name = inner.getName();
    if (name == "option")
      return reader.text(inner, samples.option);
    if (name == "normalize")
      return reader.text(inner, normalize);
    if (name == "images")
      return reader.text(inner, images);
    auto paths = dyn_cast<ArrayAttr>(inner.getValue());
    if (name != "files" || !paths ||
        !llvm::all_of(paths, [](Attribute a) { return isa<StringAttr>(a); }))
      return reader.wrong(inner, "a setting");
    for (Attribute path : paths)
      samples.files.emplace_back().path = cast<StringAttr>(path).str();
    return true;
  });
  for (DataRequest &file : samples.files) {
    file.normalize = normalize;
    file.images = images;
    if (samples.option == "--calibration") {
      file.normalizeOption = "--calibration-normalize";
      file.imagesOption = "--calibration-images";
    }
  }
  return good;
}

/// Takes one setting over.
static bool readSetting(Reader &reader, NamedAttribute entry,
                        CompileRequest &request) {
  llvm::StringRef name = entry.getName();
  const bool moved = request.isGiven("--device") ||
                     request.isGiven("--board") || request.isGiven("--cluster");
  const bool steered = request.isGiven("--steer") || request.isGiven("--plan");
  // Recorded, but told otherwise by an option.
  std::string other;
  auto text = [&](bool isGiven, std::string &value) {
    return reader.text(entry, isGiven ? other : value);
  };
  auto texts = [&](bool isGiven, std::vector<std::string> &value) {
    std::vector<std::string> none;
    return reader.texts(entry, isGiven ? none : value);
  };
  if (name == "model")
    return reader.text(entry, request.name);
  if (name == "device")
    return text(moved, request.device);
  if (name == "board")
    return text(moved, request.board);
  if (name == "cluster")
    return text(moved, request.cluster);
  if (name == "goal")
    return text(request.isGiven("--goal"), request.goal);
  if (name == "steer")
    return text(steered, request.steer);
  if (name == "plan")
    return text(steered, request.plan);
  if (name == "border")
    return text(request.isGiven("--border"), request.border);
  if (name == "clock_mhz") {
    std::optional<double> clock;
    if (!reader.real(entry, clock))
      return false;
    if (!request.clockMhz)
      request.clockMhz = clock;
    return true;
  }
  if (name == "max_nodes") {
    int64_t most = 0;
    if (!reader.whole(entry, most))
      return false;
    if (!request.maxNodes)
      request.maxNodes = most;
    return true;
  }
  if (name == "samples") {
    Samples samples;
    if (!readSamples(reader, entry, samples))
      return false;
    if (request.samples.files.empty() && !request.isGiven("--calibration"))
      request.samples = std::move(samples);
    return true;
  }
  if (name == "accept_nearest")
    return reader.flag(entry, request.acceptNearest);
  if (name == "hide_states")
    return reader.flag(entry, request.hideStates);
  if (name == "state_home")
    return text(request.isGiven("--state-home"), request.stateHome);
  if (name == "core")
    return text(moved || request.isGiven("--core"), request.core);
  if (name == "generators")
    return texts(request.isGiven("--generators"), request.generators);
  if (name == "weights")
    return texts(request.isGiven("--weights"), request.weights);
  if (name == "fifos")
    return texts(request.isGiven("--fifos"), request.fifos);
  // How numbers are rounded is said whole or not at all.
  ModelRequest ignored;
  ModelRequest &model =
      request.isGiven("--number-format") || request.isGiven("--calibration")
          ? ignored
          : request.model;
  if (name == "number_format")
    return reader.format(entry, model.numberFormat);
  if (name == "tensor_formats")
    return reader.entries(entry, [&](NamedAttribute inner) {
      std::optional<numeric::Format> format;
      if (!reader.format(inner, format, /*isTensor=*/true))
        return false;
      model.tensorFormats.try_emplace(inner.getName().str(), *format);
      return true;
    });
  if (name == "calibration") {
    Calibration calibration;
    if (!readCalibration(reader, entry, calibration))
      return false;
    model.calibration = std::move(calibration);
    return true;
  }
  return reader.wrong(entry, "a setting");
}

Status pipeline::readSettings(ModuleOp module, CompileRequest &request) {
  Attribute all = module->getAttr(marks::kCompile);
  if (!all)
    return Done();
  Reader reader;
  auto settings = dyn_cast<DictionaryAttr>(all);
  bool good = bool(settings);
  if (!settings)
    reader.problem = marks::kCompile.str() + " is not a dictionary";
  else
    for (NamedAttribute entry : settings)
      good = good && readSetting(reader, entry, request);
  if (!good)
    return Failure(Failure::Kind::Input,
                   request.model.path + ": " + reader.problem,
                   "the compile that wrote the file writes it again");
  if (request.goal.empty())
    return Done();
  if (std::string fault = faultOfGoal(request.goal); !fault.empty())
    return Failure(Failure::Kind::Input,
                   request.model.path + ": 'goal' in " + marks::kCompile.str() +
                       " is no goal: '" + request.goal + "': " + fault,
                   "the compile that wrote the file writes it again");
  return Done();
}
