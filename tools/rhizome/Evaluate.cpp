// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rhizome evaluate: the accuracy of a model's forms on labeled data.
#include "Commands.h"
#include "ModelOptions.h"
#include "Output.h"
#include "Quantization.h"
#include "Report.h"
#include "rhizome/Pipeline/Pipeline.h"
#include "rhizome/Support/Tools.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"

using namespace rhizome;
using namespace rhizome::cli;
using namespace rhizome::evaluate;
using namespace rhizome::model;
using namespace rhizome::pipeline;

static double share(int64_t part, int64_t whole) {
  return whole ? double(part) / double(whole) : 0;
}

/// Without labels nobody knows what is correct.
static bool areLabeled(const EvaluateRequest &request,
                       const EvaluateResult &result) {
  return !request.labels.empty() || !result.confusion.empty();
}

static llvm::json::Object toJson(const EvaluateRequest &request,
                                 const EvaluateResult &result) {
  llvm::json::Array forms, confusion, layers;
  auto ofLabels = [labeled = areLabeled(request, result)](auto value) {
    return labeled ? llvm::json::Value(value) : llvm::json::Value(nullptr);
  };
  for (const Accuracy &form : result.forms)
    forms.push_back(llvm::json::Object{
        {"form", form.form},
        {"frames", form.frames},
        {"correct", ofLabels(form.correct)},
        {"accuracy", ofLabels(share(form.correct, form.frames))},
        {"top_correct", ofLabels(form.topCorrect)},
        {"same_class", ofLabels(form.sameClass)},
        {"integer_correct", ofLabels(form.integerCorrect)},
        {"seconds", form.seconds},
        {"frame_us", form.frameUs}});
  for (const auto &row : result.confusion)
    confusion.push_back(llvm::json::Array(row));
  for (const EvaluateResult::Layer &layer : result.layers)
    layers.push_back(llvm::json::Object{
        {"name", layer.name}, {"op", layer.op}, {"snr_db", layer.snr}});
  const Accuracy &first = result.forms.front();
  llvm::json::Object object{
      {"ok", result.refused.empty()},
      {"frames", first.frames},
      {"correct", ofLabels(first.correct)},
      {"accuracy", ofLabels(share(first.correct, first.frames))},
      {"seconds", first.seconds},
      {"forms", std::move(forms)},
      {"confusion", std::move(confusion)},
      {"layers", std::move(layers)}};
  reportQuantization(request.model, object);
  reportSaturation(result.saturation, object);
  return object;
}

static void printConfusion(const EvaluateResult &result) {
  size_t classes = result.confusion.size();
  if (classes == 0 || classes > 20)
    return;
  std::vector<std::string> head{"label"};
  for (size_t c = 0; c < classes; ++c)
    head.push_back("→" + std::to_string(c));
  Table table(std::move(head));
  for (auto [label, row] : llvm::enumerate(result.confusion)) {
    std::vector<std::string> cells{std::to_string(label)};
    for (int64_t count : row)
      cells.push_back(count ? grouped(count) : "");
    table.add(std::move(cells));
  }
  llvm::outs() << "\nclasses of the " << result.forms.front().form
               << " model\n";
  table.print();
}

static void printResult(const EvaluateRequest &request,
                        const EvaluateResult &result) {
  printQuantization(request.model);
  const bool labeled = areLabeled(request, result);
  const bool hasInteger =
      labeled && llvm::any_of(result.forms, [](const Accuracy &form) {
        return form.form == "integer";
      });
  std::vector<std::string> head{"model", "frames"};
  if (labeled)
    head.insert(head.end(), {"correct", "accuracy %"});
  if (labeled && request.top)
    head.push_back("top-" + std::to_string(request.top) + " %");
  if (hasInteger)
    head.push_back("as integer");
  head.push_back("seconds");
  if (request.time)
    head.push_back("us a frame");
  Table forms(std::move(head));
  for (const Accuracy &form : result.forms) {
    std::vector<std::string> row{form.form, grouped(form.frames)};
    if (labeled)
      row.insert(row.end(),
                 {grouped(form.correct),
                  decimal(share(form.correct, form.frames) * 100, 2)});
    if (labeled && request.top)
      row.push_back(decimal(share(form.topCorrect, form.frames) * 100, 2));
    if (hasInteger)
      row.push_back(form.sameClass ? grouped(form.sameClass) : "");
    row.push_back(decimal(form.seconds, 1));
    if (request.time)
      row.push_back(form.frameUs ? decimal(form.frameUs, 1) : "");
    forms.add(std::move(row));
  }
  forms.print();
  // Accuracies over different frames must not be compared.
  const Accuracy &all = result.forms.front();
  for (const Accuracy &form : result.forms)
    if (labeled && form.integerCorrect >= 0 && form.frames < all.frames)
      llvm::outs() << form.form << " is over the first " << grouped(form.frames)
                   << " frames; there the integer model has "
                   << decimal(share(form.integerCorrect, form.frames) * 100, 2)
                   << " %\n";
  if (all.form == "host")
    llvm::outs() << "nothing of this model runs on the FPGA: the host computes "
                    "it as it stands\n";
  printConfusion(result);
  printSaturation(result.saturation);
  if (result.layers.empty())
    return;
  llvm::outs() << "\nthe integer model against the network without rounding\n";
  Table layers({"layer", "operation", "SNR dB", "lost dB"});
  double before = 0;
  for (const EvaluateResult::Layer &layer : result.layers) {
    bool isFirst = &layer == &result.layers.front();
    layers.add({shortened(layer.name), layer.op, decimal(layer.snr, 1),
                isFirst ? "" : decimal(before - layer.snr, 1)});
    before = layer.snr;
  }
  layers.print();
}

/// results/evaluate.json of a package, for its report. What prevents that is no
/// failure, since the figures are printed.
static void keepAccuracy(const EvaluateRequest &request,
                         const EvaluateResult &result) {
  llvm::Expected<Package> package =
      Package::open(request.model.path, Changes::Ignore);
  if (!package)
    return llvm::consumeError(package.takeError());
  llvm::Error error = package->writeResult(
      "evaluate.json",
      llvm::formatv("{0:2}\n", llvm::json::Value(toJson(request, result)))
          .str());
  if (error)
    return llvm::consumeError(std::move(error));
  redrawReport(request.model.path);
}

static int runEvaluate(EvaluateRequest request, const std::string &device,
                       bool json) {
  ProgressLine line(!json);
  request.progress = [&line](llvm::StringRef phase) {
    line.show(phase.str() + " …");
  };
  request.compile = [&request, &device](const std::string &package) -> Status {
    CompileRequest compile;
    compile.model = request.model;
    compile.device = device;
    compile.progress = request.progress;
    compile.output = package;
    if (auto done = compileModel(compile); !done)
      return done.failure();
    return Done();
  };
  auto evaluated = evaluateModel(request);
  line.show("");
  if (!evaluated)
    return failWith(evaluated.failure(), json);
  const EvaluateResult &result = *evaluated;
  printNotes(result.notes);
  if (llvm::sys::fs::is_directory(request.model.path) &&
      !result.confusion.empty())
    keepAccuracy(request, result);
  if (json) {
    printJson(toJson(request, result));
    return result.refused.empty() ? 0 : 1;
  }
  printResult(request, result);
  return result.refused.empty() ? 0 : failWith(result.refused, json);
}

void cli::addEvaluate(CLI::App &app, Run &run) {
  struct Options {
    EvaluateRequest request;
    std::string device = kDefaultDevice;
    bool json = false;
  };
  auto options = std::make_shared<Options>();
  EvaluateRequest &request = options->request;
  CLI::App *command = app.add_subcommand(
      "evaluate", "Measure a model's or a package's accuracy on data.");
  command
      ->add_option("MODEL", request.model.path,
                   "an .onnx or .mlir file, or a package")
      ->required();
  command
      ->add_option("--data", request.data.path,
                   "inputs: .npy .npz .pb idx(.gz) .png .jpg or a folder of "
                   "images, or of a folder for each class")
      ->required();
  command
      ->add_option("--labels", request.labels,
                   "classes: .npy, idx(.gz) or text, one per line; without "
                   "them no accuracy is computed, unless --data has a folder "
                   "for each class, numbered in the order of their names")
      ->option_text("FILE");
  command
      ->add_option(
          "--output", request.outputs,
          "a .npy file for a graph output of all frames, once per output")
      ->allow_extra_args(false);
  command
      ->add_option("--top", request.top,
                   "also count the frames whose label is among the N classes "
                   "with the highest scores")
      ->check(CLI::Range(int64_t(1), int64_t(1) << 20))
      ->option_text("N");
  command
      ->add_option("--predictions", request.predictions,
                   "a .csv file to write: for each frame its file, label, "
                   "class and score, and with --top the classes")
      ->option_text("FILE");
  command->add_flag("--time", request.time,
                    "also measure the time of a frame on one core");
  addPixels(*command, request.data);
  addLevel(*command, request.level, false);
  auto count = [&](const char *name, int64_t &value, const char *help) {
    return command->add_option(name, value, help)
        ->check(CLI::Range(int64_t(0), int64_t(1) << 32))
        ->option_text("N");
  };
  count("-n,--frames", request.frames, "the first N frames only")
      ->check(CLI::Range(int64_t(1), int64_t(1) << 32));
  count("--float-frames", request.floatFrames,
        "number of frames also run in the file's float arithmetic, otherwise "
        "1000");
  count("--rtl-frames", request.rtlFrames,
        "number of frames also run in the simulated hardware");
  count("--layer-frames", request.layerFrames,
        "number of frames for comparing the layers, otherwise 20");
  command
      ->add_option("--device", options->device,
                   "the device for hardware made from a model file")
      ->capture_default_str();
  addModelOptions(*command, request.model);
  addPackageChecks(*command, request.acceptChanges, request.trust);
  command->add_flag("--json", options->json, "one JSON object on stdout");
  command->footer(
      "Prints the accuracy of the integer model, of the file in float32 and, "
      "if\n"
      "requested, of the RTL; which classes are confused; which\n"
      "quantizers saturate; and the signal-to-noise ratio at every layer.\n"
      "Examples:\n"
      "  rhizome evaluate net.onnx --data t10k-images.idx3-ubyte.gz \\\n"
      "      --labels t10k-labels.idx1-ubyte.gz --normalize 0..1\n"
      "  rhizome evaluate float.onnx --data x.npy --labels y.npy \\\n"
      "      --calibration train.npz --bits 6 --rtl-frames 20\n"
      "  rhizome evaluate net.onnx --data x.npz --output y.npy --time\n"
      "  rhizome evaluate net.onnx --data val --images resize=256,crop=224 \\\n"
      "      --normalize 0.485,0.456,0.406,0.229,0.224,0.225 --top 5 \\\n"
      "      --predictions val.csv\n"
      "  rhizome evaluate net.rhz --data x.npy --labels y.npy --level rtl -n "
      "200");
  command->callback([options, &run] {
    run = [options] {
      return runEvaluate(options->request, options->device, options->json);
    };
  });
}
