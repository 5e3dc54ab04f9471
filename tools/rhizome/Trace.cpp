// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rhizome trace: a network's or a kernel's tensors on data, layer by layer, and
// which of them saturate.
#include "rhizome/Evaluate/Trace.h"
#include "Commands.h"
#include "Kernel.h"
#include "ModelOptions.h"
#include "Output.h"
#include "Report.h"
#include "rhizome/KernelCommands/Trace.h"
#include "rhizome/Model/Input.h"
#include "rhizome/Report/Report.h"
#include "rhizome/Support/Tools.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"

using namespace rhizome;
using namespace rhizome::cli;
using namespace rhizome::evaluate;
using namespace rhizome::model;

namespace {
/// Less is nothing, in dB.
constexpr double kToldGain = 0.05;

struct Options {
  TraceRequest request;
  kernelcommands::KernelOptions kernel;
  bool isKernel = false;
  std::string html;
  bool json = false;
};
} // namespace

static std::string short4(double value) {
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%.4g", value);
  return text;
}

static std::string rangeOf(const Spread &spread) {
  return spread.count ? short4(spread.low) + " … " + short4(spread.high) : "";
}

static std::string decibelsOf(const std::optional<double> &db) {
  return db ? decimal(*db, 1) : "";
}

static void printLayers(const TraceResult &result) {
  const bool hasReal = llvm::any_of(
      result.layers, [](const TracedLayer &layer) { return layer.isExact; });
  const bool isKernel = result.isKernel;
  std::vector<std::string> head{"",
                                isKernel ? "nest" : "layer",
                                isKernel ? "kind" : "operation",
                                isKernel ? "numbers" : "codes",
                                "hold",
                                "values",
                                isKernel ? "rounded" : "integer",
                                isKernel ? "beyond %" : "saturated %"};
  if (hasReal)
    head.insert(head.end(), {"SNR dB", "lost dB"});
  Table table(std::move(head));
  for (const TracedLayer &layer : result.layers) {
    std::string mark;
    if (layer.finding == TracedLayer::Finding::Saturated)
      mark = layer.name == result.worst ? "!!" : "!";
    else if (layer.finding == TracedLayer::Finding::Unused)
      mark = "~";
    std::vector<std::string> row{
        mark,
        shortened(layer.name),
        layer.op,
        layer.format.empty() ? std::to_string(layer.bits()) + " bits"
                             : layer.format,
        short4(layer.lowest) + " … " + short4(layer.highest),
        layer.real ? rangeOf(*layer.real) : "",
        rangeOf(layer.integer),
        layer.saturated() > 0 ? decimal(layer.saturated() * 100, 2) : ""};
    if (hasReal)
      row.insert(row.end(), {decibelsOf(layer.snr), decibelsOf(layer.lost)});
    table.add(std::move(row));
  }
  for (const TracedOutput &output : result.outputs) {
    std::vector<std::string> row{"",
                                 shortened(output.name),
                                 "output",
                                 "",
                                 "",
                                 output.real ? rangeOf(*output.real) : "",
                                 rangeOf(output.integer),
                                 ""};
    if (hasReal)
      row.insert(row.end(), {decibelsOf(output.snr), ""});
    table.add(std::move(row));
  }
  table.print();
}

static void printFindings(const TraceResult &result) {
  bool any = false;
  for (const TracedLayer &layer : result.layers) {
    if (layer.finding == TracedLayer::Finding::None)
      continue;
    any = true;
    llvm::outs() << "\n"
                 << layer.name << " (" << layer.op << "): " << layer.reason
                 << "\n";
    const char *alone = result.isKernel
                            ? "  if it alone fitted, the outputs would "
                            : "  if it alone did not saturate, the outputs "
                              "would ";
    if (layer.gain && std::abs(*layer.gain) < kToldGain)
      llvm::outs() << alone << "gain nothing\n";
    else if (layer.gain)
      llvm::outs() << alone << "have " << decimal(std::abs(*layer.gain), 1)
                   << " dB " << (*layer.gain < 0 ? "less" : "more") << "\n";
    llvm::outs() << "  remedy: " << layer.remedy << "\n";
  }
  const std::string part = result.isKernel ? "nest" : "layer";
  if (!any)
    llvm::outs() << (result.isKernel ? "\nevery nest's values fit"
                                     : "\nno layer saturates")
                 << ", and none leaves two bits unused\n";
  const std::optional<double> now =
      result.outputs.empty() ? std::nullopt : result.outputs.front().snr;
  if (!result.worst.empty()) {
    llvm::outs() << "\n!! " << result.worst << " is the first " << part
                 << " to mend";
    if (result.snrWithout && now)
      llvm::outs() << ": if "
                   << (result.isKernel ? "all values fitted"
                                       : "no layer saturated")
                   << ", the outputs would have "
                   << decimal(*result.snrWithout, 1) << " dB instead of "
                   << decimal(*now, 1);
    llvm::outs() << "\n";
  }
}

static void printTrace(const TraceResult &result) {
  llvm::outs() << counted(result.frames, result.isKernel ? "element" : "frame")
               << " of " << result.data << "\n";
  printLayers(result);
  printFindings(result);
  if (result.sameClass >= 0)
    llvm::outs() << (result.worst.empty() ? "\n" : "")
                 << grouped(result.sameClass) << " of "
                 << counted(result.frames, "frame")
                 << (result.frames == 1 ? " has its" : " have their")
                 << " largest output where the network without rounding has "
                    "it\n";
}

static rhizome::Result<TraceResult> traced(const Options &options,
                                           ProgressLine &line) {
  TraceRequest request = options.request;
  if (options.isKernel) {
    kernelcommands::HardwareRunRequest kernel;
    kernel.path = request.model.path;
    kernel.options = options.kernel;
    if (!request.data.path.empty())
      kernel.inputs = {request.data.path};
    kernel.frames = request.frames;
    kernel.acceptChanges = request.acceptChanges;
    kernel.trust = request.trust;
    line.show("tracing the kernel …");
    return kernelcommands::traceKernel(kernel);
  }
  request.progress = [&line](llvm::StringRef phase) {
    line.show(phase.str() + " …");
  };
  return traceModel(request);
}

static int runTrace(const Options &options) {
  const std::string &path = options.request.model.path;
  ProgressLine line(!options.json);
  auto done = traced(options, line);
  line.show("");
  if (!done)
    return isPlaced(done.failure())
               ? failWithPlaces(done.failure(), options.json)
               : failWith(done.failure(), options.json);
  const TraceResult &result = *done;
  printNotes(result.notes);
  const InputKind kind = inputKind(path);
  if (kind == InputKind::Folder || kind == InputKind::KernelPackage)
    redrawReport(path);
  if (!options.html.empty()) {
    llvm::Expected<std::string> page =
        report::renderTrace(result.model, toJson(result));
    if (!page)
      return failWith(llvm::toString(page.takeError()), options.json);
    if (llvm::Error error = writeAtomically(options.html, *page))
      return failWith(llvm::toString(std::move(error)), options.json);
  }
  if (options.json)
    printJson(toJson(result));
  else
    printTrace(result);
  return 0;
}

void cli::addTrace(CLI::App &app, Run &run) {
  auto options = std::make_shared<Options>();
  TraceRequest &request = options->request;
  CLI::App *command = app.add_subcommand(
      "trace", "Show a network's or a kernel's tensors on data, layer by "
               "layer or nest by nest: ranges, saturation, and the noise of "
               "rounding.");
  command
      ->add_option("MODEL", request.model.path,
                   "an .onnx, .mlir or .cfd file, or a package")
      ->required();
  command->add_option("--data,--input", request.data.path,
                      "inputs: .npy .npz .pb idx(.gz) .png .jpg or a folder of "
                      "images; otherwise a network's package takes its golden "
                      "vectors, a kernel random numbers in [-1, 1]");
  addPixels(*command, request.data);
  command->add_option("-n,--frames", request.frames, "the first N frames")
      ->check(CLI::Range(int64_t(1), int64_t(1) << 32))
      ->option_text("N [20]");
  command
      ->add_option("--model", request.original,
                   "of a package: the model file that it was compiled from, to "
                   "compare with its arithmetic without rounding")
      ->option_text("FILE");
  command
      ->add_option("--html", options->html,
                   "also write a page with a picture of every layer's values; "
                   "a package's report.html shows it always")
      ->option_text("FILE");
  addModelOptions(*command, request.model);
  addKernelOptions(*command, options->kernel);
  addPackageChecks(*command, request.acceptChanges, request.trust);
  command->add_flag("--json", options->json, "one JSON object on stdout");
  command->footer(
      "The hardware equals the integer model bit for bit, so that its values "
      "are the\n"
      "hardware's. A layer is marked ! if more than 0.1 % of its values "
      "saturate, !! if it\n"
      "is the one to mend first, ~ if it leaves two bits unused; below are "
      "reason and\n"
      "remedy.\n"
      "Examples:\n"
      "  rhizome trace net.onnx --number-format 'fixed<1,7>' --data x.npy\n"
      "  rhizome trace float.onnx --calibration train.npz --data x.npy --html "
      "trace.html\n"
      "  rhizome trace net.rhz --data x.npy --model net.onnx --json\n"
      "  rhizome trace kernel.cfd --numbers 'fixed<8,24>' --data x.npz");
  command->callback([options, command, &run] {
    const InputKind kind = inputKind(options->request.model.path);
    options->isKernel = isKernel(kind) || kind == InputKind::KernelPackage;
    if (kind != InputKind::BrokenMlir &&
        llvm::sys::fs::exists(options->request.model.path))
      checkOptions(*command, options->isKernel,
                   {"--data", "--frames", "--html", "--accept-changes",
                    "--trust", "--json"});
    if (options->isKernel) {
      if (kind != InputKind::Kernel)
        refuseKernelOptions(*command);
      run = [options] { return runTrace(*options); };
      return;
    }
    const bool isPackage =
        llvm::sys::fs::is_directory(options->request.model.path);
    if (!isPackage && !options->request.original.empty())
      throw CLI::ValidationError("--model", "it is for packages: '" +
                                                options->request.model.path +
                                                "' is a model file itself");
    if (!isPackage && options->request.data.path.empty())
      throw CLI::ValidationError(
          "--data", "which frames? A model file has none of its own");
    run = [options] { return runTrace(*options); };
  });
}
