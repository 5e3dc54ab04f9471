// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Model.h"
#include "Frames.h"
#include "rhizome/Calibrate/Calibrate.h"
#include "rhizome/Dialect/Osa/Osa.h"
#include "rhizome/Host/Loops.h"
#include "rhizome/Import/OnnxImport.h"
#include "rhizome/Support/Data.h"
#include <atomic>
#include <thread>

using namespace mlir;
using namespace rhizome;
using namespace rhizome::pipeline;

std::optional<NumberFormat> pipeline::parseNumberFormat(llvm::StringRef text) {
  NumberFormat format;
  if (!text.consume_front("fixed:"))
    return std::nullopt;
  auto [width, fraction] = text.split(',');
  if (width.getAsInteger(10, format.width) ||
      fraction.getAsInteger(10, format.fraction) || format.width < 1 ||
      format.width > 16 || format.fraction < -32 || format.fraction > 32)
    return std::nullopt;
  return format;
}

bool pipeline::isNormalisation(llvm::StringRef text) {
  llvm::Expected<Normalise> parsed = Normalise::parse(text);
  bool good = bool(parsed);
  llvm::consumeError(parsed.takeError());
  return good;
}

static FixedFormat fixedOf(NumberFormat format) {
  return {format.width, format.fraction};
}

/// Quantises the module; false if that is refused.
static bool calibrated(ModuleOp module, const Calibration &calibration,
                       const std::string &path, const Progress &progress,
                       Refusals &refusals) {
  canonicaliseReal(module);
  llvm::Expected<Frames> frames = readValues(
      calibration.data,
      valuesOf(module.lookupSymbol<func::FuncOp>("main"), /*results=*/false),
      calibration.frames, "input");
  if (!frames) { // it names its file
    refusals.push_back({"", "", llvm::toString(frames.takeError()), ""});
    return false;
  }
  llvm::Expected<calibrate::Report> report =
      calibrate::quantise(module, *frames, calibration.options, progress);
  if (!report) {
    refusals.push_back({path, "", llvm::toString(report.takeError()), ""});
    return false;
  }
  *calibration.report = std::move(*report);
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

OwningOpRef<ModuleOp> pipeline::importReal(MLIRContext &context,
                                           const ModelRequest &request,
                                           const Progress &progress,
                                           Refusals &refusals) {
  loadDialects(context);
  DiagnosticText diagnostics(&context);
  importer::ImportOptions importOptions;
  importOptions.shapes = request.shapes;
  for (const auto &[name, type] : request.inputTypes)
    importOptions.inputTypes[name] = {type.first, type.second};
  if (request.rawIntegers) {
    if (!request.numberFormat) {
      refusals.push_back({"", "",
                          "--raw-integers says that the file holds codes, but "
                          "not of which format",
                          "add --number-format fixed:W,F"});
      return nullptr;
    }
    importOptions.rawIntegerFraction = request.numberFormat->fraction;
  }
  if (!request.numberFormat && !request.tensorFormats.empty()) {
    refusals.push_back({request.tensorFormats.begin()->first, "",
                        "--tensor-format differs from a number format, but "
                        "there is none",
                        "add --number-format fixed:W,F"});
    return nullptr;
  }
  if (request.numberFormat && request.calibration) {
    refusals.push_back({request.path, "",
                        "--calibration and --number-format both say how "
                        "numbers are rounded",
                        "give one of them"});
    return nullptr;
  }
  if (progress)
    progress("import");
  OwningOpRef<ModuleOp> module =
      importer::importOnnx(&context, request.path, importOptions, refusals);
  // What concerns the whole file is said of the file.
  for (Refusal &refusal : refusals)
    if (refusal.node.empty())
      refusal.node = request.path;
  if (!module || !refusals.empty())
    return stopped(diagnostics, "the model cannot be imported", refusals);
  // Formats of our own take the place of the file's.
  if (request.calibration || request.numberFormat)
    host::dropRounding(*module);
  if (request.calibration && !calibrated(*module, *request.calibration,
                                         request.path, progress, refusals))
    return nullptr;
  return module;
}

LogicalResult pipeline::integeriseModel(ModuleOp module,
                                        const ModelRequest &request,
                                        const Progress &progress,
                                        Refusals &refusals,
                                        IntegeriseStats &stats) {
  IntegeriseOptions options;
  if (request.numberFormat)
    options.fixed = fixedOf(*request.numberFormat);
  for (auto &[name, format] : request.tensorFormats)
    options.tensorFormats[name] = fixedOf(format);

  DiagnosticText diagnostics(module.getContext());
  if (progress)
    progress("integerise");
  if (succeeded(integerise(module, options, refusals, stats)) &&
      refusals.empty())
    return success();
  stopped(diagnostics, "the model cannot be turned into exact integers",
          refusals);
  return failure();
}

/// True if a network computes nothing.
static bool isEmpty(func::FuncOp network) {
  return llvm::all_of(network.getOps(), [](Operation &op) {
    return op.hasTrait<OpTrait::IsTerminator>() ||
           isa<osa::ConstantOp, osa::ReshapeOp, osa::TransposeOp>(op);
  });
}

OwningOpRef<ModuleOp>
pipeline::importModel(MLIRContext &context, const ModelRequest &request,
                      const Progress &progress, Refusals &refusals,
                      IntegeriseStats &stats, bool hostOnly) {
  OwningOpRef<ModuleOp> module =
      importReal(context, request, progress, refusals);
  if (!module ||
      failed(integeriseModel(*module, request, progress, refusals, stats)))
    return nullptr;
  if (hostOnly || !isEmpty(module->lookupSymbol<func::FuncOp>("network")))
    return module;
  // Why the host keeps what computes.
  for (const Refusal &entry : stats.host)
    if (!entry.reason.empty())
      refusals.push_back(entry);
  if (refusals.empty())
    refusals.push_back({request.path, "",
                        "no operation of the model can be built: none "
                        "computes on integers",
                        "quantise it, or give --calibration DATA or "
                        "--number-format fixed:W,F"});
  return nullptr;
}

llvm::Error
pipeline::parallelFrames(int64_t count,
                         const std::function<llvm::Error(int64_t)> &work) {
  std::atomic<int64_t> next{0};
  std::mutex mutex;
  llvm::Error first = llvm::Error::success();
  auto worker = [&] {
    for (int64_t i; (i = next++) < count;) {
      if (llvm::Error error = work(i)) {
        std::lock_guard<std::mutex> guard(mutex);
        first = llvm::joinErrors(std::move(first), std::move(error));
        next = count;
      }
    }
  };
  unsigned cores = std::max(1u, std::thread::hardware_concurrency());
  std::vector<std::thread> threads;
  for (int64_t t = 1; t < std::min<int64_t>(cores, count); ++t)
    threads.emplace_back(worker);
  worker();
  for (std::thread &thread : threads)
    thread.join();
  return first;
}
