// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rhizome simulate: a package's hardware against its semantics.
#include "Commands.h"
#include "Kernel.h"
#include "ModelOptions.h"
#include "Output.h"

using namespace rhizome;
using namespace rhizome::cli;
using namespace rhizome::pipeline;

static int runSimulate(SimulateRequest request, bool json) {
  ProgressLine line(!json);
  request.showProgress = line.active();
  line.show("building the simulator …");
  SimulateResult result = simulatePackage(request);
  line.show("");
  if (!result.ok)
    return failWith(result.error, json);
  bool good = result.mismatches == 0 && result.unexpected <= 0;
  if (json) {
    llvm::json::Value measured = nullptr;
    if (result.measured)
      measured = llvm::json::Object{{"interval_cycles", result.intervalCycles},
                                    {"latency_cycles", result.latencyCycles}};
    llvm::json::Object object{{"frames", result.frames},
                              {"mismatches", result.mismatches},
                              {"predicted", rhizome::toJson(result.predicted)},
                              {"measured", std::move(measured)},
                              {"sim_cycles_per_s", result.simCyclesPerS}};
    if (result.unexpected >= 0)
      object["unexpected"] = result.unexpected;
    if (!result.firstMismatch.empty())
      object["first_mismatch"] = result.firstMismatch;
    printJson(std::move(object));
    return good ? 0 : 1;
  }
  llvm::outs() << result.frames
               << (result.frames == 1 ? " frame, " : " frames, ")
               << grouped(result.mismatches) << " mismatches\n";
  if (result.unexpected >= 0)
    llvm::outs() << grouped(result.unexpected)
                 << " elements differ from the expected outputs\n";
  if (!result.firstMismatch.empty())
    llvm::outs() << "first: " << result.firstMismatch << "\n";
  if (result.measured) {
    Table table({"cycles", "predicted", "measured"});
    table.add({"interval", decimal(result.predicted.intervalCycles, 0),
               decimal(result.intervalCycles, 2)});
    table.add({"latency", decimal(result.predicted.latencyCycles, 0),
               decimal(result.latencyCycles, 0)});
    table.print();
  }
  if (result.simCyclesPerS > 0)
    llvm::outs() << "simulator: " << grouped(int64_t(result.simCyclesPerS))
                 << " cycles per second, built in "
                 << decimal(result.buildSeconds, 1) << " s\n";
  return good ? 0 : 1;
}

void cli::addSimulate(CLI::App &app, Run &run) {
  struct Options {
    SimulateRequest request;
    std::vector<std::string> inputs;
    std::string normalise, range, stalls;
    bool json = false;
  };
  auto options = std::make_shared<Options>();
  SimulateRequest &request = options->request;
  CLI::App *command = app.add_subcommand(
      "simulate", "Run a package's hardware and compare it, bit for bit.");
  command->add_option("DIR", request.package, "a package, or a kernel (.cfd)")
      ->required();
  addLevel(*command, request.level, true);
  command
      ->add_option("--input", options->inputs,
                   "values of a graph input (.npy .npz .pb idx .png .jpg or "
                   "a folder), once per input; random ones otherwise")
      ->allow_extra_args(false);
  command
      ->add_option("--expect", request.expect,
                   "values that the graph output should have, once per "
                   "output")
      ->allow_extra_args(false);
  command
      ->add_option("--output", request.outputs,
                   "a .npy to write a graph output of all frames to, once per "
                   "output")
      ->allow_extra_args(false);
  addNormalise(*command, options->normalise);
  command
      ->add_option_function<std::string>(
          "--input-range",
          [options](const std::string &text) {
            auto [low, high] = llvm::StringRef(text).split(',');
            double lo, hi;
            if (low.getAsDouble(lo) || high.getAsDouble(hi) || !(lo <= hi))
              throw CLI::ValidationError("--input-range",
                                         "'" + text + "' is not LOW,HIGH");
            options->request.inputRange = {lo, hi};
          },
          "random real inputs between LOW and HIGH")
      ->type_name("LOW,HIGH");
  command
      ->add_option("-n,--frames", request.frames,
                   "frames to run; all of the data otherwise, or one")
      ->check(CLI::Range(int64_t(1), int64_t(1) << 32))
      ->option_text("N");
  command
      ->add_option("--stalls-in", request.stallsIn,
                   "per cent of cycles in which sources pause")
      ->check(CLI::Range(0, 99))
      ->option_text("PERCENT");
  command
      ->add_option("--stalls-out", request.stallsOut,
                   "per cent of cycles in which sinks pause")
      ->check(CLI::Range(0, 99))
      ->option_text("PERCENT");
  command->add_option("--seed", request.seed,
                      "of random data, stalls and initial values");
  command->add_flag("--four-state", request.fourState,
                    "Icarus Verilog with X checks instead of Verilator");
  command->add_flag("--json", options->json, "one JSON object on stdout");
  command->footer(
      "Examples:\n"
      "  rhizome simulate net.rhz -n 20\n"
      "  rhizome simulate net.rhz -n 20 --stalls-in 30 --stalls-out 50\n"
      "  rhizome simulate net.rhz --input x.npy --expect y.npy --json\n"
      "  rhizome simulate net.rhz --level functional -n 1000\n"
      "  rhizome simulate net.rhz --level bitstream --input x.npy");
  command->callback([options, &run] {
    for (const std::string &path : options->inputs)
      options->request.inputs.push_back({path, options->normalise});
    // A kernel has no hardware yet: its level is functional.
    if (isKernelFile(options->request.package)) {
      KernelRunRequest kernel;
      kernel.path = options->request.package;
      kernel.inputs = options->inputs;
      kernel.outputs = options->request.outputs;
      kernel.frames = options->request.frames;
      kernel.seed = options->request.seed;
      kernel.check = true;
      run = [kernel, options] { return runKernelShown(kernel, options->json); };
      return;
    }
    run = [options] { return runSimulate(options->request, options->json); };
  });
}
