// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "rhizome/Model/Model.h"
#include "mlir/Bytecode/BytecodeWriter.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Parser/Parser.h"
#include "rhizome/Calibrate/Calibrate.h"
#include "rhizome/Dialect/Flow/Tasks.h"
#include "rhizome/Dialect/Marks/Marks.h"
#include "rhizome/Dialect/Osa/Osa.h"
#include "rhizome/Import/Mlir/MlirImport.h"
#include "rhizome/Import/OnnxAnew.h"
#include "rhizome/Import/OnnxImport.h"
#include "rhizome/Model/Frames.h"
#include "rhizome/Model/Input.h"
#include "rhizome/Model/Placing.h"
#include "rhizome/Model/Quantization.h"
#include "rhizome/Model/States.h"
#include "rhizome/Model/TensorFormat.h"
#include "rhizome/Support/ImageSteps.h"
#include "rhizome/Support/LinalgLoops.h"
#include "rhizome/Transforms/OutputFormat.h"
#include "rhizome/Transforms/Placement.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include <set>

using namespace mlir;
using namespace rhizome;
using namespace rhizome::model;

static std::optional<numeric::Format>
parseFormat(llvm::StringRef text, std::string &error, std::string &note,
            std::string (*whyNot)(const numeric::Format &)) {
  auto format = numeric::Format::parse(text, error, &note);
  if (!format)
    return std::nullopt;
  error = whyNot(*format);
  if (error.empty())
    return format;
  error = "'" + text.str() + "': " + error;
  return std::nullopt;
}

std::optional<numeric::Format> model::parseNetworkFormat(llvm::StringRef text,
                                                         std::string &error,
                                                         std::string &note) {
  return parseFormat(text, error, note, whyNotForNetworks);
}

std::optional<numeric::Format> model::parseTensorFormat(llvm::StringRef text,
                                                        std::string &error,
                                                        std::string &note) {
  return parseFormat(text, error, note, whyNotForOutputs);
}

bool model::isNormalization(llvm::StringRef text) {
  llvm::Expected<Normalize> parsed = Normalize::parse(text);
  bool good = bool(parsed);
  llvm::consumeError(parsed.takeError());
  return good;
}

std::string model::wrongImageSteps(llvm::StringRef text) {
  llvm::Expected<ImageSteps> parsed = ImageSteps::parse(text);
  if (parsed)
    return "";
  std::string why;
  llvm::handleAllErrors(parsed.takeError(), [&](const DataError &error) {
    why = error.reason + ": " + error.remedy;
  });
  return why;
}

/// Puts the states of each frame among its inputs; false if the network cannot
/// be evaluated.
static bool fillStates(func::FuncOp main, Frames &frames) {
  MainStates states(main);
  if (states.empty())
    return true;
  Interpreter interpreter(main);
  for (std::vector<Tensor> &frame : frames) {
    frame = states.arguments(frame);
    llvm::FailureOr<std::vector<Tensor>> results = interpreter.run(frame);
    if (failed(results))
      return false;
    states.keep(*results);
  }
  return true;
}

/// Puts a quantized module, as Calibration::kept has it, in place of the same
/// one in float.
static bool takeKept(ModuleOp module, const std::string &kept) {
  OwningOpRef<ModuleOp> read =
      parseSourceString<ModuleOp>(kept, module.getContext());
  if (!read)
    return false;
  module->setAttr(marks::kQuantization,
                  read->getOperation()->getAttr(marks::kQuantization));
  module.getBodyRegion().takeBody(read->getBodyRegion());
  return true;
}

/// Refuses what the host quantizes anew in each frame: formats of our own would
/// saturate its codes. Import has made reals of it where it can.
static bool refusesDynamic(ModuleOp module, Refusals &refusals) {
  const size_t before = refusals.size();
  std::set<std::string> seen;
  module.walk([&](linalg::GenericOp loop) {
    auto node = dyn_cast<NameLoc>(loop.getLoc());
    auto op = node ? dyn_cast<NameLoc>(node.getChildLoc()) : NameLoc();
    if (op && op.getName().getValue().starts_with("DynamicQuantize") &&
        seen.insert(node.getName().str()).second)
      refusals.push_back(
          {node.getName().str(), op.getName().str(),
           "it quantizes anew in each frame, and not only products read its "
           "codes, which a number format or a calibration would saturate",
           "give the option to the phase that imports the file, or use the "
           "float model that this one was made of"});
  });
  return refusals.size() != before;
}

/// Quantizes the module; false if that is refused.
static bool calibrated(ModuleOp module, const Calibration &calibration,
                       const std::string &path, const Progress &progress,
                       DiagnosticText &diagnostics, Refusals &refusals) {
  if (calibration.kept && !calibration.kept->empty() &&
      takeKept(module, *calibration.kept))
    return true;
  if (refusesDynamic(module, refusals))
    return false;
  canonicalizeReal(module);
  auto function = module.lookupSymbol<func::FuncOp>("main");
  // Where the host has every layer, its reasons say more than we could.
  bool hasLayer = placeQuantizers(function).hasFloatLayer();
  if (Refusals reasons = hostReasons(module); !hasLayer && !reasons.empty()) {
    llvm::append_range(refusals, reasons);
    return false;
  }
  if (!hasLayer && function.getBody().getOps<osa::QuantizeOp>().empty()) {
    refusals.push_back(
        {path, "", "no layer of this model can be quantized",
         "a package needs a layer (Conv, Gemm, MatMul) with constant weights; "
         "'rhizome evaluate' computes the model on the CPU"});
    return false;
  }
  llvm::Expected<Frames> frames =
      readValues(calibration.data, valuesOf(function, /*results=*/false),
                 calibration.frames, "input");
  if (!frames) { // it names its file
    refusals.push_back(
        {"", "", llvm::toString(frames.takeError()), "", Refusal::Fault::File});
    return false;
  }
  if (!fillStates(function, *frames)) {
    refusals.push_back({path, "",
                        "the model cannot be evaluated frame by "
                        "frame: " +
                            diagnostics.take(),
                        ""});
    return false;
  }
  llvm::Expected<calibrate::Report> report =
      calibrate::quantize(module, *frames, calibration.options, progress);
  if (!report) {
    std::string why = llvm::toString(report.takeError());
    if (std::string detail = diagnostics.take(); !detail.empty())
      why += ": " + detail;
    refusals.push_back({path, "", std::move(why), ""});
    return false;
  }
  *calibration.report = std::move(*report);
  if (!calibration.report->layers.empty())
    module->setAttr(
        marks::kQuantization,
        StringAttr::get(module.getContext(),
                        llvm::formatv("{0:2}\n", llvm::json::Value(toJson(
                                                     *calibration.report)))
                            .str()));
  tieStates(module);
  if (calibration.kept) {
    llvm::raw_string_ostream text(*calibration.kept);
    if (failed(writeBytecodeToFile(module, text)))
      calibration.kept->clear();
  }
  return true;
}

/// What stopped a phase: the refusals, or else what a diagnostic said.
static std::nullptr_t stopped(DiagnosticText &diagnostics, const char *phase,
                              Refusals &refusals) {
  std::string text = diagnostics.take();
  if (refusals.empty())
    refusals.push_back({"", "", text.empty() ? phase : text, ""});
  return nullptr;
}

/// Refuses options that contradict each other.
static void checkFormats(const ModelRequest &request, Refusals &refusals) {
  if (request.rawIntegers && !request.numberFormat)
    refusals.push_back({"", "",
                        "--raw-integers says that the file holds codes, but "
                        "not of which format",
                        "add --number-format 'fixed<I,F>'"});
  if (!request.numberFormat && !request.tensorFormats.empty())
    refusals.push_back({request.tensorFormats.begin()->first, "",
                        "--tensor-format differs from a number format, but "
                        "there is none",
                        "add --number-format 'fixed<I,F>'"});
  if (request.numberFormat && request.calibration)
    refusals.push_back({request.path, "",
                        "--calibration and --number-format both say how "
                        "numbers are rounded",
                        "give one of them"});
}

static bool hasWideIntegers(Operation *root) {
  return root
      ->walk([](Operation *op) {
        return op->hasAttr(marks::kWide) ? WalkResult::interrupt()
                                         : WalkResult::advance();
      })
      .wasInterrupted();
}

/// Whether the host would compute integers of the network that float32 does not
/// hold, because the FPGA does not take all of them. With formats of our own
/// nobody knows before they are chosen.
static bool losesIntegers(ModuleOp module, const ModelRequest &request) {
  if (request.calibration || request.numberFormat)
    return true;
  OwningOpRef<ModuleOp> trial(cast<ModuleOp>(module->clone()));
  Refusals refusals;
  IntegerizeStats stats;
  if (failed(integerizeModel(*trial, request, nullptr, refusals, stats)))
    return false; // and so it will be refused
  return llvm::any_of(flow::tasksOf(*trial, flow::Place::Host),
                      [](FunctionOpInterface task) {
                        return hasWideIntegers(task.getOperation());
                      });
}

static OwningOpRef<ModuleOp> importOnnxFile(MLIRContext &context,
                                            const ModelRequest &request,
                                            Refusals &refusals) {
  importer::ImportOptions options;
  options.shapes = request.shapes;
  for (const auto &[name, type] : request.inputTypes)
    options.inputTypes[name] = {type.first, type.second};
  for (const auto &[input, output] : request.states)
    options.keptInputs.insert(input);
  if (request.rawIntegers && request.numberFormat)
    options.rawIntegerFraction = request.numberFormat->fractionBits;
  options.fixedPointFunctions = request.fixedPointFunctions;
  auto read = isQuantizedHere(request) ? importer::importOnnxAnew
                                       : importer::importOnnx;
  OwningOpRef<ModuleOp> module =
      read(&context, request.path, options, refusals);
  if (!module || !hasWideIntegers(*module) || !losesIntegers(*module, request))
    return module;
  options.integersOnHost = true;
  return read(&context, request.path, options, refusals);
}

static OwningOpRef<ModuleOp> importMlirFile(MLIRContext &context,
                                            const ModelRequest &request,
                                            Refusals &refusals) {
  if (request.rawIntegers)
    refusals.push_back({"", "",
                        "--raw-integers is for ONNX files, whose tensors may "
                        "hold codes",
                        "an MLIR file with codes is a network of integers in "
                        "the osa dialect"});
  return importer::importMlir(&context, request.path,
                              {request.shapes, request.inputTypes}, refusals);
}

/// A network of integers has its formats.
static void checkIntegers(const ModelRequest &request, Refusals &refusals) {
  if (request.calibration || request.numberFormat)
    refusals.push_back({"", "",
                        "the file holds a network of integers, which needs no "
                        "--calibration and no --number-format",
                        "leave these options out"});
}

/// A file of any kind but a kernel.
static OwningOpRef<ModuleOp> importFile(MLIRContext &context,
                                        const ModelRequest &request,
                                        Refusals &refusals) {
  switch (inputKind(request.path)) {
  case InputKind::IntegerNetwork:
    checkIntegers(request, refusals);
    [[fallthrough]];
  case InputKind::MlirNetwork:
  case InputKind::BrokenMlir:
    return importMlirFile(context, request, refusals);
  case InputKind::Kernel:
  case InputKind::KernelFolder:
    refusals.push_back({"", "",
                        "this is a kernel: it holds no constant tensors",
                        "'rhizome run' and 'rhizome compile' take it; a "
                        "network is exported with its parameters inside"});
    return {};
  case InputKind::KernelPackage:
    refusals.push_back({"", "", "this is a package of a kernel: it is compiled",
                        "simulate and synth take it; to compile anew, name the "
                        "kernel's file",
                        Refusal::Fault::File});
    return {};
  case InputKind::Folder:
    if (llvm::sys::fs::exists(request.path + "/plan.json"))
      refusals.push_back({"", "", "this is a package: it is compiled",
                          "simulate, evaluate, synth, run and report take it; "
                          "to compile anew, name the model's file",
                          Refusal::Fault::File});
    else
      refusals.push_back({"", "", "this is a folder", "name the model's file",
                          Refusal::Fault::File});
    return {};
  case InputKind::Onnx:
    return importOnnxFile(context, request, refusals);
  }
  llvm_unreachable("all kinds return");
}

OwningOpRef<ModuleOp> model::readModel(MLIRContext &context,
                                       const ModelRequest &request,
                                       const Progress &progress,
                                       Refusals &refusals) {
  loadDialects(context);
  DiagnosticText diagnostics(&context);
  checkFormats(request, refusals);
  if (progress)
    progress("import");
  OwningOpRef<ModuleOp> module = importFile(context, request, refusals);
  if (module && refusals.empty())
    nameStates(*module, request, refusals);
  // What concerns the whole file is said of the file.
  for (Refusal &refusal : refusals)
    if (refusal.node.empty())
      refusal.node = request.path;
  if (!module || !refusals.empty())
    return stopped(diagnostics, "the model cannot be imported", refusals);
  return module;
}

OwningOpRef<ModuleOp> model::importReal(MLIRContext &context,
                                        const ModelRequest &request,
                                        const Progress &progress,
                                        Refusals &refusals) {
  OwningOpRef<ModuleOp> module =
      readModel(context, request, progress, refusals);
  if (!module || isIntegerNetwork(*module))
    return module;
  DiagnosticText diagnostics(&context);
  // Formats of our own take the place of the file's.
  if (request.calibration || request.numberFormat)
    host::dropRounding(*module);
  if (request.calibration &&
      !calibrated(*module, *request.calibration, request.path, progress,
                  diagnostics, refusals))
    return nullptr;
  return module;
}

OwningOpRef<ModuleOp> model::importQuantized(MLIRContext &context,
                                             const ModelRequest &request,
                                             const Progress &progress,
                                             Refusals &refusals) {
  OwningOpRef<ModuleOp> module =
      importReal(context, request, progress, refusals);
  IntegerizeStats stats;
  // Of the two, calibration has been applied.
  if (!module || request.calibration || isIntegerNetwork(*module))
    return module;
  if (failed(quantizeModel(*module, request, progress, refusals, stats)))
    return nullptr;
  return module;
}

LogicalResult model::lowerQuantized(ModuleOp module,
                                    const ModelRequest &request,
                                    const Progress &progress,
                                    Refusals &refusals,
                                    IntegerizeStats &stats) {
  ModelRequest rounded = request;
  rounded.numberFormat.reset();
  rounded.tensorFormats.clear();
  return integerizeModel(module, rounded, progress, refusals, stats);
}

LogicalResult model::quantizeModel(ModuleOp module, const ModelRequest &request,
                                   const Progress &progress, Refusals &refusals,
                                   IntegerizeStats &stats) {
  checkFormats(request, refusals);
  if (isIntegerNetwork(module))
    checkIntegers(request, refusals);
  if (!refusals.empty())
    return failure();
  if (isIntegerNetwork(module) ||
      (!request.calibration && !request.numberFormat))
    return success();
  DiagnosticText diagnostics(module.getContext());
  host::dropRounding(module);
  if (request.calibration)
    return success(calibrated(module, *request.calibration, request.path,
                              progress, diagnostics, refusals));
  if (refusesDynamic(module, refusals))
    return failure();
  IntegerizeOptions options;
  options.fixed = request.numberFormat;
  options.tensorFormats = request.tensorFormats;
  canonicalizeReal(module);
  if (succeeded(applyFixedPoint(module, options, refusals, stats)) &&
      refusals.empty())
    return success();
  stopped(diagnostics, "the model cannot be quantized", refusals);
  for (Refusal &refusal : refusals)
    if (refusal.node.empty())
      refusal.node = request.path;
  return failure();
}

bool model::isIntegerNetwork(ModuleOp module) { return flow::hasTasks(module); }

LogicalResult model::integerizeModel(ModuleOp module,
                                     const ModelRequest &request,
                                     const Progress &progress,
                                     Refusals &refusals,
                                     IntegerizeStats &stats) {
  if (request.numberFormat && refusesDynamic(module, refusals))
    return failure();
  IntegerizeOptions options;
  options.fixed = request.numberFormat;
  options.tensorFormats = request.tensorFormats;
  llvm::Expected<Host> host = loadHost(kDefaultHost);
  if (!host) {
    refusals.push_back({"", "", llvm::toString(host.takeError()), ""});
    return failure();
  }
  options.placer = placerFor(*host);

  DiagnosticText diagnostics(module.getContext());
  if (progress)
    progress("integerize");
  if (succeeded(integerize(module, options, refusals, stats)) &&
      refusals.empty())
    return success();
  stopped(diagnostics, "the model cannot be turned into exact integers",
          refusals);
  for (Refusal &refusal : refusals)
    if (refusal.node.empty())
      refusal.node = request.path;
  return failure();
}

bool model::isEmpty(ModuleOp module) {
  return llvm::all_of(
      flow::tasksOf(module, flow::Place::Fpga), [](FunctionOpInterface task) {
        return llvm::all_of(task.getFunctionBody().getOps(), [](Operation &op) {
          return op.hasTrait<OpTrait::IsTerminator>() ||
                 isa<osa::ConstantOp, osa::ReshapeOp, osa::TransposeOp>(op);
        });
      });
}

/// True if the FPGA could compute something of a real-level model, once that is
/// quantized.
static bool hasNetworkOperation(ModuleOp module) {
  auto found = module.walk([](Operation *op) {
    bool computes =
        isa<osa::OsaDialect>(op->getDialect()) &&
        !isa<osa::ConstantOp, osa::ReshapeOp, osa::TransposeOp, osa::QuantizeOp,
             osa::DequantizeOp, osa::SoftmaxOp, osa::ArgMaxOp>(op);
    return computes ? WalkResult::interrupt() : WalkResult::advance();
  });
  return found.wasInterrupted();
}

OwningOpRef<ModuleOp>
model::importModel(MLIRContext &context, const ModelRequest &request,
                   const Progress &progress, Refusals &refusals,
                   IntegerizeStats &stats, bool hostOnly) {
  OwningOpRef<ModuleOp> module =
      importReal(context, request, progress, refusals);
  if (!module ||
      failed(lowerModel(*module, request, progress, refusals, stats, hostOnly)))
    return nullptr;
  return module;
}

LogicalResult model::lowerModel(ModuleOp module, const ModelRequest &request,
                                const Progress &progress, Refusals &refusals,
                                IntegerizeStats &stats, bool hostOnly) {
  if (isIntegerNetwork(module))
    return success();
  const bool mayBuild = hasNetworkOperation(module);
  if (failed(integerizeModel(module, request, progress, refusals, stats)))
    return failure();
  if (hostOnly || !isEmpty(module))
    return success();
  // Why the host keeps what computes.
  for (const Refusal &entry : stats.host)
    if (!entry.reason.empty())
      refusals.push_back(entry);
  if (refusals.empty())
    refusals.push_back(
        {request.path, "",
         "no operation of the model can be built: none computes on integers",
         request.calibration || request.numberFormat || !mayBuild
             ? "a package needs a layer (Conv, Gemm, MatMul) with constant "
               "weights; 'rhizome evaluate' computes the model on the CPU"
             : "quantize it, or give --calibration DATA or --number-format "
               "'fixed<I,F>'"});
  return failure();
}
