// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rhizome compile: a model becomes a package.
#include "Commands.h"
#include "ModelOptions.h"
#include "Output.h"
#include "PlaceRoute.h"

using namespace rhizome;
using namespace rhizome::cli;
using namespace rhizome::pipeline;

static llvm::json::Object toJson(const CompileResult &result) {
  if (!result.ok)
    return llvm::json::Object{{"ok", false},
                              {"limit", result.limit},
                              {"nearest", rhizome::toJson(result.nearest)}};
  llvm::json::Object utilisation, multipliers;
  for (auto &[kind, count] : result.multipliers)
    multipliers[kind] = count;
  for (auto &[name, share] : result.utilisation)
    utilisation[name] = share;
  llvm::json::Array notes;
  for (const std::string &note : result.notes)
    notes.push_back(note);
  llvm::json::Object object{{"ok", true},
                            {"package", llvm::json::fixUTF8(result.package)},
                            {"seconds", result.seconds},
                            {"predicted", rhizome::toJson(result.predicted)},
                            {"utilisation", std::move(utilisation)},
                            {"multipliers", std::move(multipliers)},
                            {"bottleneck", result.bottleneck}};
  if (!notes.empty())
    object["notes"] = std::move(notes);
  if (!result.limit.empty())
    object["limit"] = result.limit;
  return object;
}

static int runCompile(CompileRequest request, bool bitstream, bool json) {
  if (bitstream && request.board.empty())
    return failWith("--bitstream needs a --board: its pins and its clock",
                    json);
  ProgressLine line(!json);
  request.progress = [&line](llvm::StringRef phase) {
    line.show(phase.str() + " …");
  };
  CompileResult result = compileModel(request);
  line.show("");
  if (!result.error.empty())
    return failWith(result.error, json);
  if (!result.refused.empty())
    return failWith(result.refused, json);
  std::optional<PlaceRouteResult> placed;
  if (bitstream && result.ok) {
    llvm::Expected<PlaceRouteResult> run =
        placeAndRouteShown(result.package, PlaceRouteOptions(), json);
    if (!run)
      return failWith(llvm::toString(run.takeError()), json);
    placed = std::move(*run);
  }
  if (json) {
    llvm::json::Object object = toJson(result);
    if (placed)
      object["place_and_route"] = rhizome::toJson(*placed);
    printJson(std::move(object));
    return result.ok && (!placed || placed->meetsClock()) ? 0 : 1;
  }
  for (const std::string &note : result.notes)
    llvm::errs() << "note: " << note << "\n";
  if (!result.ok) {
    llvm::errs() << "error: the goal '" << request.goal
                 << "' cannot be met: " << result.limit
                 << "\n  remedy: --accept-nearest builds the nearest plan:\n";
    printPrediction(result.nearest);
    return 1;
  }
  llvm::outs() << result.package << "  (" << decimal(result.seconds, 2)
               << " s)\n";
  printPrediction(result.predicted);
  llvm::outs() << "  used       ";
  const char *separator = "";
  for (auto &[name, share] : result.utilisation) {
    llvm::outs() << separator << name << " " << percent(share);
    separator = ", ";
  }
  llvm::outs() << "\n  products   " << result.multipliers["dsp_paired"]
               << " a cycle in DSPs two by two, "
               << result.multipliers["dsp_single"] << " in DSPs one by one, "
               << result.multipliers["lut"] << " in LUTs";
  llvm::outs() << "\n  bottleneck " << result.bottleneck << "\n";
  if (!result.limit.empty())
    llvm::outs() << "  limit      " << result.limit << "\n";
  if (placed)
    return printPlaceRoute(*placed);
  return 0;
}

void cli::addCompile(CLI::App &app, Run &run) {
  struct Options {
    CompileRequest request;
    double clockMhz = 0;
    bool bitstream = false, json = false;
  };
  auto options = std::make_shared<Options>();
  CompileRequest &request = options->request;
  request.device = "xcku060-role";
  CLI::App *command = app.add_subcommand(
      "compile", "Compile a quantised ONNX model into a hardware package.");
  command->add_option("MODEL", request.model.path, "an .onnx file")->required();
  CLI::Option *device =
      command
          ->add_option("--device", request.device,
                       "a name from 'rhizome targets', or a .yaml file")
          ->capture_default_str();
  command
      ->add_option("--board", request.board,
                   "a name of data/boards, or a .yaml file: its device, and "
                   "its oscillator as the clock")
      ->option_text("NAME")
      ->excludes(device);
  command->add_flag("--bitstream", options->bitstream,
                    "with --board: also place, route and write the bitstream");
  command
      ->add_option("--goal", request.goal,
                   "throughput=N/s, latency=T(ns|us|ms|s), max-throughput "
                   "or min-resources")
      ->capture_default_str()
      ->check([](const std::string &text) -> std::string {
        return isGoal(text) ? ""
                            : "'" + text +
                                  "' is not throughput=N/s, latency=T, "
                                  "max-throughput or min-resources";
      });
  CLI::Option *clock =
      command
          ->add_option("--clock-mhz", options->clockMhz,
                       "the design's clock, otherwise the device's")
          ->check(CLI::Range(0.001, 10000.0))
          ->check([](const std::string &text) -> std::string {
            double mhz;
            return llvm::StringRef(text).getAsDouble(mhz) || mhz == mhz
                       ? ""
                       : "'" + text + "' is not a clock";
          });
  command->add_option("-o,--output", request.output,
                      "the package's folder, otherwise MODEL's name + .rhz");
  command->add_flag("--accept-nearest", request.acceptNearest,
                    "if the goal cannot be met, build the nearest plan");
  addModelOptions(*command, request.model);
  command->add_flag("--json", options->json, "one JSON object on stdout");
  command->footer(
      "The package's nodes/<n>/ holds the RTL and, in a folder per tool, "
      "build\n"
      "files for the vendor's tools; 'rhizome targets DEVICE' lists them.\n"
      "Examples:\n"
      "  rhizome compile net_qdq.onnx --device xczu3eg -o net.rhz\n"
      "  rhizome compile net.onnx --goal throughput=5000/s --json\n"
      "  rhizome compile net.onnx --board ice40-hx8k-breakout --bitstream\n"
      "  rhizome compile float.onnx --number-format fixed:16,10\n"
      "  rhizome compile codes.onnx --number-format fixed:8,7 --raw-integers");
  command->callback([options, clock, &run] {
    if (clock->count())
      options->request.clockMhz = options->clockMhz;
    run = [options] {
      return runCompile(options->request, options->bitstream, options->json);
    };
  });
}
