// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rhizome precision: widths by layer that keep an accuracy on a device.
#include "rhizome/Precision/Precision.h"
#include "Commands.h"
#include "Config.h"
#include "Quantization.h"
#include "TargetOptions.h"
#include "rhizome/Support/Tools.h"
#include "rhizome/Support/Units.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace rhizome;
using namespace rhizome::cli;
using namespace rhizome::precision;

namespace {
struct Options : TargetOptions {
  Request request;
  std::string output, picture;
};

/// What compile has but no search of widths: kernels, other ways to round, and
/// choices that name options of hardware, which change with the widths.
constexpr const char *kNotHere[] = {
    "--steer",           "--plan",          "--constraints",
    "--target",          "--cpu",           "--cfdlang-compat",
    "--keep-order",      "--gemm",          "--numbers",
    "--rounding",        "--saturate",      "--fused",
    "--explore-formats", "--number-format", "--tensor-format",
    "--raw-integers",    "--max-loss",      "--min-snr",
    "--config",          "--dump-config",   "--accept-nearest"};
} // namespace

/// "97" or "97%", above 1: 0.97 would be meant as 97 %.
static std::string checkPercent(std::string &text, bool isShare) {
  llvm::StringRef number = text;
  number.consume_back("%");
  double value = 0;
  if (number.trim().getAsDouble(value) || !(value >= 0 && value <= 100))
    return "'" + text + "' is not a percentage from 0 to 100";
  if (isShare && value > 0 && value <= 1)
    return "'" + text + "' is in percent: " + decimal(value * 100, 4) + "?";
  text = number.trim().str();
  return "";
}

static void printFound(const Found &found) {
  auto percentOf = [&](int64_t correct) {
    return decimal(100 * double(correct) / double(found.frames), 2);
  };
  llvm::outs() << found.model << " on " << found.target << ", " << found.goal
               << "\n"
               << grouped(found.needed) << " of "
               << counted(found.frames, "frame") << " must be right ("
               << percentOf(found.needed) << " %); without rounding "
               << grouped(found.floatCorrect) << " are ("
               << percentOf(found.floatCorrect) << " %)\n\n";
  Table table({"", "right %", "per second", "latency", "LUT", "FF", "DSP",
               "BRAM", "device %", "weights,activations"});
  std::vector<const Point *> shown;
  for (auto [i, point] : llvm::enumerate(found.points))
    if (point.isPareto || i == found.chosen || i == found.uniform)
      shown.push_back(&point);
  llvm::sort(shown, [](const Point *a, const Point *b) {
    return std::tuple(-a->correct, a->share, a) <
           std::tuple(-b->correct, b->share, b);
  });
  for (const Point *point : shown)
    table.add({point == &found.points[found.chosen]                      ? "=>"
               : found.uniform && point == &found.points[*found.uniform] ? "="
                                                                         : "",
               percentOf(point->correct),
               rateText(point->predicted.throughputPerS),
               durationText(point->predicted.latencyUs * 1e-6),
               grouped(point->predicted.lut), grouped(point->predicted.ff),
               grouped(point->predicted.dsp), decimal(point->predicted.bram, 1),
               decimal(100 * point->share, 1), widthsText(found, *point)});
  table.print();
  llvm::outs() << "=> is the choice, = the best of those with the same widths "
                  "in all layers that keep\nthe accuracy. The others are those "
                  "that no choice beats in accuracy, rate, latency\nand "
                  "resources at once. "
               << counted(int64_t(found.points.size()), "choice")
               << " were looked at.\n";
}

/// The file of a compile with the widths: the options that were given here, and
/// the widths in place of --bits.
static std::string configOf(const CLI::App &command, const CLI::App &compile,
                            const Found &found, bool isElsewhere) {
  std::vector<std::string> bits;
  const Point &chosen = found.points[found.chosen];
  auto orAny = [](unsigned bits) { return bits ? bits : 8; };
  for (const calibrate::Layer &layer : found.layers) {
    // Those that the user gave are no part of the choice.
    auto at = chosen.widths.find(layer.name);
    const calibrate::Bits own =
        at != chosen.widths.end()
            ? at->second
            : calibrate::Bits{orAny(layer.weightBits),
                              orAny(layer.activationBits)};
    bits.push_back(layer.name + "=" + std::to_string(own.weights) + "," +
                   std::to_string(own.activations));
  }
  return "# Written by 'rhizome precision': " + std::to_string(chosen.correct) +
         " of " + std::to_string(found.frames) + " frames right.\n" +
         configFor(command, compile,
                   {{"bits", bits}, {"normalize", {}}, {"images", {}}},
                   isElsewhere);
}

static int runPrecision(const CLI::App &command, const CLI::App &compile,
                        const Options &options) {
  // Before a search, not after it.
  for (const std::string &path : {options.output, options.picture})
    if (const std::string folder = llvm::sys::path::parent_path(path).str();
        !folder.empty() && !llvm::sys::fs::is_directory(folder))
      return failWith("cannot write '" + path + "': there is no folder '" +
                          folder + "'",
                      options.json);
  Request request = options.request;
  ProgressLine line(!options.json);
  request.progress = [&line](llvm::StringRef phase) {
    line.show(phase.str() + " …");
  };
  rhizome::Result<Found> found = findWidths(request);
  line.show("");
  if (!found)
    return failWith(found.failure(), options.json);
  if (!options.picture.empty())
    if (llvm::Error error = writeAtomically(options.picture, draw(*found)))
      return failWith(llvm::toString(std::move(error)), options.json);
  if (!options.output.empty()) {
    const bool isElsewhere =
        !llvm::sys::path::parent_path(options.output).empty();
    if (llvm::Error error = writeAtomically(
            options.output, configOf(command, compile, *found, isElsewhere)))
      return failWith(llvm::toString(std::move(error)), options.json);
  }
  if (options.json) {
    llvm::json::Object object = toJson(*found);
    object["ok"] = true;
    printJson(std::move(object));
    return 0;
  }
  printFound(*found);
  if (!options.output.empty())
    llvm::outs() << options.output << ": 'rhizome compile --config "
                 << options.output << "' builds it\n";
  return 0;
}

void cli::addPrecision(CLI::App &app, Run &run) {
  auto options = std::make_shared<Options>();
  CLI::App *command = app.add_subcommand(
      "precision", "Find widths for every layer of a float network: the best "
                   "on a device that keep its\naccuracy.");
  addTargetOptions(*command, *options);
  for (const char *name : kNotHere)
    command->remove_option(command->get_option_no_throw(name));
  command->get_option("MODEL")->description(
      "a float network: .onnx, or .mlir of linalg");
  command
      ->add_option("--data", options->request.data.path,
                   "labeled inputs: .npy .npz .pb idx(.gz) .png .jpg or a "
                   "folder of images, or of a folder for each class; otherwise "
                   "those of --calibration")
      ->option_text("FILE");
  command
      ->add_option("--labels", options->request.labels,
                   "their classes: .npy, idx(.gz) or text, one per line")
      ->option_text("FILE");
  addPixels(*command, options->request.data);
  command
      ->add_option("-n,--frames", options->request.frames,
                   "the first N labeled frames, otherwise all")
      ->check(CLI::Range(int64_t(1), int64_t(1) << 32))
      ->option_text("N");
  CLI::Option *accuracy =
      command
          ->add_option_function<double>(
              "--accuracy",
              [options](double percent) {
                options->request.accuracy = percent;
              },
              "at least so many percent of the frames must be right")
          ->transform(CLI::Validator(
              [](std::string &text) {
                return checkPercent(text, /*isShare=*/true);
              },
              ""))
          ->option_text("PERCENT");
  command
      ->add_option("--accuracy-loss", options->request.loss,
                   "or at most so many percentage points fewer than without "
                   "rounding")
      ->transform(CLI::Validator(
          [](std::string &text) {
            return checkPercent(text, /*isShare=*/false);
          },
          ""))
      ->option_text("POINTS [1]")
      ->excludes(accuracy);
  command
      ->add_option("-o,--output", options->output,
                   "a file for the choice, which 'compile --config' reads")
      ->option_text("FILE");
  command
      ->add_option(
          "--picture", options->picture,
          "plot accuracy over resources, rate and latency to an .svg file")
      ->option_text("FILE");
  command->footer(
      "Starts with one width for all, --bits (otherwise 8, or the first of 10, "
      "12 and 16\nthat keeps the accuracy), and lowers the widths one by one: "
      "first those that cost the\nleast noise for what they save on the "
      "device. Each choice is quantized, evaluated and\nexplored as 'compile' "
      "would do it. --bits NAME=W,A keeps a layer as it is.\n"
      "Examples:\n"
      "  rhizome precision net.onnx --calibration x.npy --labels y.npy "
      "--device xc7a35t\n"
      "  rhizome precision net.onnx --calibration train.npz --data x.npy "
      "--labels y.npy \\\n"
      "      --accuracy 97 --goal throughput=100000/s -o rhizome.yaml "
      "--picture front.svg");
  const CLI::App *compile = app.get_subcommand("compile");
  command->callback([options, command, compile, &run] {
    if (options->TargetOptions::request.model.path.empty())
      throw CLI::ValidationError("MODEL", "name a float network");
    if (!command->count("--calibration"))
      throw CLI::ValidationError(
          "--calibration", "which inputs? The ranges of a float network are "
                           "observed on frames");
    Request &request = options->request;
    request.compile = requestOf(*command, *options);
    const model::Calibration &calibration = *request.compile.model.calibration;
    if (request.data.path.empty())
      request.data = calibration.data;
    run = [options, command, compile] {
      return runPrecision(*command, *compile, *options);
    };
  });
}
