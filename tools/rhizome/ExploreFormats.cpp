// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rhizome formats: a kernel's errors and costs in number formats, and where it
// overflows.
#include "rhizome/KernelCommands/ExploreFormats.h"
#include "Commands.h"
#include "Kernel.h"
#include "Output.h"
#include "rhizome/Numeric/Arithmetic.h"
#include "llvm/Support/Format.h"
#include <cmath>

using namespace rhizome;
using namespace rhizome::cli;
using namespace rhizome::kernelcommands;

namespace {
struct Options {
  ExploreFormatsRequest request;
  std::string rounding = "nearest_even", picture;
  std::vector<double> range;
  bool checkRanges = false, json = false;
};
} // namespace

static std::string scientific(double value) {
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%.3g", value);
  return text;
}

static llvm::json::Value number(double value) {
  if (std::isfinite(value))
    return value;
  return scientific(value); // JSON has no infinity
}

static llvm::json::Value toJson(const OverflowPlace &place) {
  llvm::json::Object input;
  for (auto &[name, values] : place.input)
    input[name] = llvm::json::Array(values);
  return llvm::json::Object{
      {"place", place.place},
      {"operation", place.what},
      {"range",
       llvm::json::Array{number(place.range.lo), number(place.range.hi)}},
      {"limits",
       llvm::json::Array{number(place.limits.lo), number(place.limits.hi)}},
      {"shown", place.isCertain},
      {"reached", number(place.reached)},
      {"input", std::move(input)}};
}

static int runRanges(const Options &options) {
  if (options.request.formats.size() != 1)
    return failWith("--check-ranges looks at one format: name it with "
                    "--formats",
                    options.json);
  auto places = checkRanges(options.request);
  if (!places)
    return failWith(places.failure(), options.json);
  if (options.json) {
    llvm::json::Array list;
    for (const OverflowPlace &place : *places)
      list.push_back(toJson(place));
    printJson(llvm::json::Object{{"format", options.request.formats[0]},
                                 {"overflows", std::move(list)}});
    return 0;
  }
  if (places->empty())
    llvm::outs() << "no result can leave " << options.request.formats[0]
                 << "\n";
  for (const OverflowPlace &place : (*places)) {
    llvm::outs() << place.place << ": warning: '" << place.what
                 << "' may overflow " << options.request.formats[0]
                 << ": results in " << scientific(place.range.lo) << " … "
                 << scientific(place.range.hi) << ", the format ends at "
                 << scientific(place.limits.lo) << " and "
                 << scientific(place.limits.hi) << "\n";
    if (!place.isCertain) {
      bool follows =
          place.reached < place.limits.lo || place.reached > place.limits.hi;
      llvm::outs() << (follows ? "  only after an earlier overflow: without "
                                 "it the value is "
                               : "  no input found that overflows; the search "
                                 "reached ")
                   << scientific(place.reached) << "\n";
      continue;
    }
    llvm::outs() << "  overflows with " << scientific(place.reached)
                 << " for this input:\n";
    for (auto &[name, values] : place.input) {
      llvm::outs() << "    " << name << " =";
      size_t shown = 0;
      for (double v : values) {
        if (shown++ == 16) {
          llvm::outs() << " … (" << values.size()
                       << " values; --json prints all)";
          break;
        }
        llvm::outs() << " " << decimal(v, 6);
      }
      llvm::outs() << "\n";
    }
  }
  return 0;
}

static int runFormats(Options options) {
  if (options.checkRanges)
    return runRanges(options);
  ProgressLine line(!options.json);
  options.request.progress = [&line](llvm::StringRef what) {
    line.show(what.str() + " …");
  };
  rhizome::Result<ExploreFormatsResult> explored =
      exploreFormats(options.request);
  line.show("");
  if (!explored)
    return failWith(explored.failure(), options.json);
  const ExploreFormatsResult &result = *explored;
  if (!options.picture.empty()) {
    std::error_code code;
    llvm::raw_fd_ostream os(options.picture, code);
    if (code)
      return failWith("cannot write '" + options.picture +
                          "': " + code.message(),
                      options.json);
    os << drawFormats(result, "Number formats of " + options.request.kernel);
  }
  if (options.json) {
    llvm::json::Array points;
    for (const FormatPoint &p : result.points)
      points.push_back(
          llvm::json::Object{{"format", p.format.str()},
                             {"bits", p.format.width()},
                             {"mean_square_error", number(p.meanSquare)},
                             {"max_error", number(p.maximum)},
                             {"relative_error", number(p.relative)},
                             {"multiply_add_luts", std::round(p.luts)},
                             {"multiplier_dsps", p.dsps},
                             {"overflows", int64_t(p.overflows)},
                             {"can_overflow", p.canOverflow},
                             {"pareto", p.isPareto}});
    printJson(llvm::json::Object{
        {"kernel", llvm::json::fixUTF8(options.request.kernel)},
        {"device", llvm::json::fixUTF8(options.request.device)},
        {"formats", std::move(points)}});
    return 0;
  }
  Table table({"", "format", "bits", "mean square", "maximum", "relative",
               "LUTs", "DSPs", "overflow"});
  for (const FormatPoint &p : result.points)
    table.add({p.isPareto ? "*" : "", p.format.str(),
               std::to_string(p.format.width()), scientific(p.meanSquare),
               scientific(p.maximum), scientific(p.relative),
               grouped(int64_t(std::round(p.luts))), std::to_string(p.dsps),
               p.overflows     ? grouped(int64_t(p.overflows))
               : p.canOverflow ? "possible"
                               : "never"});
  table.print();
  llvm::outs() << "* no cheaper format has a smaller error; LUTs of one "
                  "multiply-add, DSPs of its multiplier on "
               << options.request.device << "\n";
  return 0;
}

void cli::addExploreFormats(CLI::App &command, KernelOptions &options) {
  command.add_flag("--explore-formats", options.exploreFormats,
                   "compare number formats by error and cost instead; "
                   "'rhizome formats' has more options");
  ofKernels(command, {"--explore-formats"});
}

int cli::runExploreFormats(const KernelRequest &request, bool json) {
  Options options;
  options.request.kernel = request.path;
  options.request.options = request.options;
  options.request.choice = request.options.numbers;
  options.json = json;
  return runFormats(options);
}

void cli::addFormats(CLI::App &app, Run &run) {
  auto options = std::make_shared<Options>();
  ExploreFormatsRequest &request = options->request;
  CLI::App *command = app.add_subcommand(
      "formats", "Compare number formats for a kernel: error relative to "
                 "double, cost, and where it overflows.");
  command->add_option("KERNEL", request.kernel, "a kernel: .cfd or .mlir")
      ->required();
  command
      ->add_option("--formats", request.formats,
                   "candidates, e.g. 'fixed<8,24>' half 'float<6,9>'; "
                   "otherwise a sweep over widths")
      ->option_text("FORMAT …");
  command->add_option("--input", request.input,
                      "the kernel's arguments: .npz, by name or in order");
  command
      ->add_option("--seed", request.seed,
                   "the seed of random inputs and the search")
      ->capture_default_str();
  command
      ->add_option("-n,--elements", request.elements,
                   "number of random inputs to run the kernel on")
      ->check(CLI::Range(1, 1 << 20))
      ->capture_default_str();
  command
      ->add_option("--range", options->range,
                   "the range of every input, otherwise -1 1")
      ->expected(2)
      ->option_text("LOW HIGH");
  command
      ->add_option("--rounding", options->rounding,
                   "nearest_even, nearest_away, toward_zero, up or down")
      ->capture_default_str()
      ->check([](const std::string &text) -> std::string {
        return numeric::parseRounding(text)
                   ? ""
                   : "'" + text +
                         "' is not nearest_even, nearest_away, "
                         "toward_zero, up or down";
      });
  command->add_flag("--saturate", request.choice.saturate,
                    "saturate results that are too large");
  command->add_flag("--fused", request.choice.fused,
                    "round products together with the sums they are added to");
  command->add_flag(
      "--check-ranges", options->checkRanges,
      "for one format: show where it may overflow, with an input that does");
  command
      ->add_option("--device", request.device,
                   "the device whose LUTs and DSPs are counted")
      ->capture_default_str();
  command->add_option("--picture", options->picture,
                      "plot error over cost to an .svg file");
  command->add_flag("--json", options->json, "one JSON object on stdout");
  command->footer("Examples:\n"
                  "  rhizome formats helmholtz.cfd --picture formats.svg\n"
                  "  rhizome formats helmholtz.cfd --formats 'fixed<24,40>' "
                  "'fixed<8,24>' half\n"
                  "  rhizome formats helmholtz.cfd --check-ranges --formats "
                  "'fixed<8,24>'");
  command->callback([options, &run] {
    if (model::inputKind(options->request.kernel) == model::InputKind::Folder ||
        llvm::StringRef(options->request.kernel).ends_with(".onnx"))
      throw CLI::ValidationError(
          "KERNEL", "'" + options->request.kernel +
                        "' is no kernel; networks take --bits and "
                        "--number-format, and evaluate compares them");
    if (options->range.size() == 2) {
      options->request.lo = options->range[0];
      options->request.hi = options->range[1];
    }
    options->request.choice.rounding =
        *numeric::parseRounding(options->rounding);
    if (!(options->request.lo <= options->request.hi))
      throw CLI::ValidationError(
          "--range", "the first bound is above the second: give LOW HIGH");
    run = [options] { return runFormats(*options); };
  });
}
