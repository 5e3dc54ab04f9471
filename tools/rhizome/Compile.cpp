// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rhizome compile: a model becomes a package.
#include "Commands.h"
#include "PlaceRoute.h"
#include "Quantization.h"
#include "TargetOptions.h"
#include "Tasks.h"

using namespace rhizome;
using namespace rhizome::cli;
using namespace rhizome::kernelcommands;
using namespace rhizome::model;
using namespace rhizome::pipeline;

/// What limits a plan that does not meet its goal, and what it reaches.
static llvm::json::Object nearestJson(const CompileResult &result) {
  llvm::json::Object object{
      {"ok", false}, {"fits", result.fits}, {"limit", result.limit}};
  if (!result.plan.nodes.empty())
    object["nearest"] = toJSON(result.plan.predicted);
  return object;
}

static llvm::json::Object toJson(const CompileResult &result) {
  const Plan &plan = result.plan;
  llvm::json::Object utilization, multipliers;
  for (auto &[kind, count] : plan.multipliers)
    multipliers[kind] = count;
  for (auto &[name, share] : plan.utilization)
    utilization[name] = share;
  llvm::json::Array notes;
  for (const std::string &note : result.notes)
    notes.push_back(note);
  llvm::json::Object object{{"ok", true},
                            {"package", llvm::json::fixUTF8(result.package)},
                            {"seconds", result.seconds},
                            {"explore_seconds", result.exploreSeconds},
                            {"nodes", nodesJson(plan)},
                            {"predicted", toJSON(plan.predicted)},
                            {"utilization", std::move(utilization)},
                            {"multipliers", std::move(multipliers)},
                            {"bottleneck", plan.bottleneck},
                            {"tasks", toJSON(plan.tasks)}};
  if (!notes.empty())
    object["notes"] = std::move(notes);
  if (!result.limit.empty())
    object["limit"] = result.limit;
  return object;
}

/// A compile that stops before the package: says where the module was written.
static int showModule(const CompileRequest &request,
                      const CompileResult &result, bool json) {
  if (json) {
    llvm::json::Array notes;
    for (const std::string &note : result.notes)
      notes.push_back(note);
    llvm::json::Object object{{"ok", true},
                              {"phase", infoOf(*request.to).name},
                              {"module", llvm::json::fixUTF8(result.package)},
                              {"seconds", result.seconds},
                              {"notes", std::move(notes)}};
    reportQuantization(request.model, object);
    printJson(std::move(object));
    return 0;
  }
  printNotes(result.notes);
  llvm::outs() << result.text;
  return 0;
}

static int runCompile(CompileRequest request, bool bitstream, bool json) {
  const bool stops = request.to && *request.to != Phase::Package;
  if (stops && bitstream)
    return failWith(Failure(Failure::Kind::Usage,
                            "--bitstream needs the whole package",
                            "leave --compile-to out"),
                    json);
  if (stops && json && (request.output.empty() || request.output == "-"))
    return failWith(Failure(Failure::Kind::Usage,
                            "--json with --compile-to needs -o FILE for the "
                            "module: both go to the standard output"),
                    json);
  if (bitstream && request.board.empty() && !request.from)
    return failWith("--bitstream needs a --board: its pins and its clock",
                    json);
  // Before the work, which would be in vain.
  if (bitstream && !request.board.empty())
    if (llvm::Error error = checkRouterTools(request.board))
      return failWith(llvm::toString(std::move(error)), json);
  ProgressLine line(!json);
  request.progress = [&line](llvm::StringRef phase) {
    line.show(phase.str() + " …");
  };
  rhizome::Result<CompileResult> compiled = compileModel(request);
  line.show("");
  if (!compiled) {
    if (isPlaced(compiled.failure()))
      return failWithPlaces(compiled.failure(), json);
    const CompileResult *nearest = nearestOf(compiled.failure());
    if (!nearest || !json)
      return failCompile(compiled.failure(), json);
    llvm::json::Object object = nearestJson(*nearest);
    reportQuantization(request.model, object);
    printJson(std::move(object));
    return compiled.failure().exitCode();
  }
  CompileResult &result = *compiled;
  if (stops)
    return showModule(request, result, json);
  if (result.plan.kernel)
    return showKernel(result, json);
  std::optional<PlaceRouteResult> placed;
  if (bitstream) {
    llvm::Expected<PlaceRouteResult> run = placeAndRouteShown(
        result.package, Changes::Ignore, PlaceRouteOptions(), json);
    if (!run)
      return failWith(llvm::toString(run.takeError()), json);
    placed = std::move(*run);
  }
  if (json) {
    llvm::json::Object object = toJson(result);
    reportQuantization(request.model, object);
    if (placed)
      object["place_and_route"] = rhizome::toJson(*placed);
    printJson(std::move(object));
    return !placed || placed->meetsClock() ? 0 : 1;
  }
  printNotes(result.notes);
  printQuantization(request.model);
  Plan &plan = result.plan;
  llvm::outs() << result.package << "  (" << decimal(result.seconds, 2)
               << " s)\n";
  if (plan.nodes.size() > 1)
    printNodes(plan);
  printPrediction(plan.predicted);
  llvm::outs() << "  used       ";
  const char *separator = "";
  for (auto &[name, share] : plan.utilization) {
    llvm::outs() << separator << name << " " << percent(share);
    separator = ", ";
  }
  llvm::outs() << "\n  products   " << plan.multipliers["dsp_paired"]
               << " a cycle in DSPs two by two, "
               << plan.multipliers["dsp_single"] << " in DSPs one by one, "
               << plan.multipliers["lut"] << " in LUTs";
  int64_t blockBits = 0, heldBits = 0;
  for (const PlannedNode &node : plan.nodes) {
    blockBits += node.blockBits;
    heldBits += node.heldBits;
  }
  if (blockBits > 0)
    llvm::outs() << "\n  memories   " << percent(double(heldBits) / blockBits)
                 << " of the bits of block RAM hold data";
  llvm::outs() << "\n  bottleneck " << plan.bottleneck << "\n";
  printBodies(plan);
  printMemories(plan);
  if (!result.limit.empty())
    llvm::outs() << "  no faster  " << result.limit << "\n";
  printDies(plan);
  printTasks(plan.tasks, plan.predicted.latencyUs);
  if (placed)
    return printPlaceRoute(*placed);
  return 0;
}

void cli::addCompile(CLI::App &app, Run &run) {
  struct Options : TargetOptions {
    bool bitstream = false, cpuObject = false;
    std::string objectCpu = "x86-64-v3";
    DataRequest how;
    std::vector<std::string> samples;
  };
  auto options = std::make_shared<Options>();
  CLI::App *command = app.add_subcommand(
      "compile",
      "Compile a network, ONNX or MLIR, or a kernel in fixed point into a\n"
      "hardware package, or a kernel for the CPU.");
  addTargetOptions(*command, *options);
  command->add_flag("--bitstream", options->bitstream,
                    "with --board: also place, route and write the bitstream");
  command
      ->add_option("-o,--output", options->request.output,
                   "the package's folder, otherwise MODEL's name + .rhz; "
                   "with --compile-to the module's file, otherwise stdout")
      ->check([](const std::string &text) {
        return std::string(text.empty() ? "it is empty" : "");
      });
  CLI::Option *object =
      command->add_flag("--cpu-object", options->cpuObject,
                        "also write the model as an object file, model/cpu.o, "
                        "with which the client in host/ works without rhizome");
  command
      ->add_option("--object-cpu", options->objectCpu,
                   "with --cpu-object: the processor, one of LLVM's names")
      ->needs(object)
      ->capture_default_str()
      ->option_text("NAME [x86-64-v3]");
  command
      ->add_option("--golden", options->request.golden,
                   "frames with the interpreter's results in model/golden/; "
                   "otherwise at most 4, and fewer if they take long")
      ->check(CLI::Range(int64_t(0), int64_t(1000)))
      ->option_text("N");
  command
      ->add_option(
          "--input", options->samples,
          "sample data (.npy .npz .pb idx .png .jpg or a folder), once "
          "per input, whose first frames are the golden vectors; "
          "otherwise those of --calibration, or random ones")
      ->allow_extra_args(false);
  addPixels(*command, options->how);
  addPhase(*command, "--compile-to", options->request.to,
           "stop after a phase and write the module as .mlir: " + phaseNames());
  addCompileFrom(*command, options->request);
  command->footer(
      "The package's nodes/<n>/ holds the RTL and, in a folder per tool, "
      "build\n"
      "files for the vendor's tools; 'rhizome targets DEVICE' lists them.\n"
      "Examples:\n"
      "  rhizome compile net_qdq.onnx --device xczu3eg -o net.rhz\n"
      "  rhizome compile net.onnx --goal throughput=5000/s --json\n"
      "  rhizome compile net.onnx --cluster ku060x2 --goal max-throughput\n"
      "  rhizome compile net.onnx --board ice40-hx8k-breakout --bitstream\n"
      "  rhizome compile float.onnx --number-format 'fixed<6,10>'\n"
      "  rhizome compile codes.onnx --number-format 'fixed<1,7>' "
      "--raw-integers\n"
      "  rhizome compile torch.mlir --calibration train.npz\n"
      "  rhizome compile net.onnx --cpu-object --object-cpu x86-64-v2\n"
      "  rhizome compile net.onnx --compile-to explore -o net.mlir\n"
      "  rhizome compile net.mlir --compile-from explore -o net.rhz\n"
      "  rhizome compile kernel.cfd --target cpu -o kernel.cpu\n"
      "  rhizome compile kernel.cfd --numbers 'fixed<8,24>' --device xcu280\n"
      "  rhizome compile kernel.cfd --target vitis-hls --device xcu280\n"
      "  rhizome compile net.onnx --device xczu3eg --dump-config > "
      "rhizome.yaml\n"
      "  rhizome compile --goal min-resources");
  command->callback([options, command, &run] {
    if (dumpsConfig(*command, *options, run))
      return;
    if (options->cpuObject)
      options->request.objectCpu = options->objectCpu;
    for (const char *name : {"normalize", "images"})
      if (command->count(std::string("--") + name) && options->samples.empty())
        throw CLI::ValidationError(std::string("--") + name,
                                   "it is for --input; did you mean "
                                   "'--calibration-" +
                                       std::string(name) + "'?");
    options->request.samples.files = dataOf(options->samples, options->how);
    if (!options->samples.empty())
      options->request.samples.option = "--input";
    const CompileRequest &request = options->request;
    const std::vector<std::string> common = {
        "--output",  "--json",       "--device", "--board",
        "--cluster", "--clock-mhz",  "--config", "--goal",
        "--plan",    "--compile-to", "--steer"};
    bool isKernel = false;
    if (request.from)
      refuseWithFrom(*command); // the module says what it is
    else
      isKernel = checkOptionsOf(*command, request.model.path, common);
    if (isKernel) {
      if (options->target == "vitis-hls" || options->target == "bambu") {
        auto refuse = [&](const char *name) {
          if (command->count(name))
            throw CLI::ValidationError(name,
                                       "it is for Rhizome's own RTL: leave it "
                                       "out, or leave out --target");
        };
        llvm::for_each(kOfUnits, refuse);
        refuse("--plan");
        refuse("--compile-to");
        refuse("--steer");
        ForeignHlsRequest foreign{
            request.model.path, request.kernel,
            options->target == "bambu" ? HlsTool::Bambu : HlsTool::VitisHls,
            deviceOf(*command, *options), request.output};
        run = [options, foreign] {
          return runForeignHls(foreign, options->json);
        };
        return;
      }
      if (namesHardware(*command) || request.to) {
        run = [options, hardware = hardwareOf(*command, *options)] {
          return runCompile(hardware, /*bitstream=*/false, options->json);
        };
        return;
      }
      refuseClock(*command);
      run = [options, &request] {
        return runKernelCompile(
            {request.model.path, request.kernel, request.output},
            options->json);
      };
      return;
    }
    run = [options, command] {
      return runCompile(requestOf(*command, *options), options->bitstream,
                        options->json);
    };
  });
}
