// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "TargetOptions.h"
#include "Config.h"
#include "rhizome/Support/Units.h"
#include "rhizome/Support/Untrusted.h"
#include "llvm/Support/raw_ostream.h"
#include <set>

using namespace rhizome;
using namespace rhizome::cli;
using namespace rhizome::pipeline;
using rhizome::kernelcommands::HardwareRequest;

void cli::addTargetOptions(CLI::App &command, TargetOptions &options) {
  CompileRequest &request = options.request;
  request.device = kDefaultDevice;
  command.add_option(
      "MODEL", request.model.path,
      "a network: .onnx, or .mlir of linalg or osa; or a kernel: "
      ".cfd, .mlir; otherwise that of rhizome.yaml in this folder");
  CLI::Option *device =
      command
          .add_option("--device", request.device,
                      "a name from 'rhizome targets', or a .yaml file")
          ->capture_default_str();
  CLI::Option *board =
      command
          .add_option("--board", request.board,
                      "a name of data/boards, or a .yaml file: its device, and "
                      "its oscillator as the clock")
          ->option_text("NAME")
          ->excludes(device);
  command
      .add_option("--cluster", request.cluster,
                  "several devices and their links: a name of data/clusters, "
                  "a .yaml file, or DEVICE:COUNT,…@LINK")
      ->option_text("NAME")
      ->excludes(device)
      ->excludes(board);
  CLI::Option *goal =
      command
          .add_option(
              "--goal", request.goal,
              "bounds: throughput=N/s, latency=T(ns|us|ms|s), nodes=N, and per "
              "device lut=, ff=, dsp=, bram=, uram= and lutram=N or P%, "
              "otherwise what its file says routes; and an "
              "objective: max-throughput, min-latency, min-resources or "
              "min-nodes; separated by commas")
          ->default_str("max-throughput")
          ->check([](const std::string &text) { return faultOfGoal(text); });
  CLI::Option *steer =
      command
          .add_option("--steer", request.steer,
                      "a .yaml file that pins generators, options, cuts and "
                      "places by the model's nodes, or options of a kernel "
                      "and its nests")
          ->check(faultOfFile)
          ->option_text("FILE");
  command
      .add_option("--plan", request.plan,
                  "a plan.json, or a package, edited or not: its options, cuts "
                  "and places, or a kernel's choice of copies, stages, lanes, "
                  "words and units, within the resources that its goal allowed")
      ->check(faultOfPath)
      ->option_text("FILE")
      ->excludes(steer);
  command
      .add_option("--generators", request.generators,
                  "who may offer hardware, with commas between: stream (a unit "
                  "for each operation), dhm (weights wired into logic), engine "
                  "(a core that carries out programs, with weights in a "
                  "memory); otherwise all")
      ->delimiter(',')
      ->check([](const std::string &text) { return faultOfGenerator(text); })
      ->option_text("LIST")
      ->allow_extra_args(false)
      ->take_all();
  command
      .add_option("--core", request.core,
                  "a package whose hardware is one core: the network becomes a "
                  "program for it, on the same device with the same clock")
      ->check(faultOfPath)
      ->option_text("PACKAGE")
      ->excludes("--generators")
      ->excludes("--cluster")
      ->excludes(steer)
      ->excludes("--plan");
  command
      .add_option(
          "--weights", request.weights,
          "where weights are stored: rom (in the bitstream), "
          "resident (in block RAM or UltraRAM that is filled from the "
          "device's memory when the design starts) or streamed (in that "
          "memory, read for every frame), for all layers "
          "that support it or with NAME=HOME for one; may be repeated")
      ->option_text("HOME")
      ->allow_extra_args(false)
      ->take_all();
  command
      .add_option(
          "--fifos", request.fifos,
          "where FIFOs before nodes that join streams lie, such as those of "
          "long skips: on-chip, or memory (the device's memory outside the "
          "chip, where they are deep enough for its bursts), for all of them "
          "or with NAME=PLACE for one; may be repeated")
      ->option_text("PLACE")
      ->allow_extra_args(false)
      ->take_all();
  command
      .add_option("--state-home", request.stateHome,
                  "where the tensors of --state are kept: auto, on the FPGA if "
                  "the host would only hand them back, or host")
      ->option_text("HOME")
      ->check(CLI::IsMember({"auto", "host"}));
  command.add_flag("--hide-states", request.hideStates,
                   "leave out outputs that are only the next values of states "
                   "on the FPGA");
  command
      .add_option("--constraints", request.constraints,
                  "a DOSA constraint file: its goal, shapes, device type and "
                  "number format")
      ->check(faultOfFile)
      ->option_text("FILE")
      ->excludes(goal)
      ->excludes(device)
      ->excludes(board);
  command
      .add_option(
          "--max-nodes", options.maxNodes,
          "maximum number of devices of the cluster to use, otherwise all")
      ->check(CLI::Range(1, 65535))
      ->option_text("N");
  command
      .add_option(
          "--clock-mhz", options.clock,
          "the clock of every design from 0.001 to 10000 MHz, otherwise "
          "the device's; auto: the one that serves the goal best, up to the "
          "fastest that the delays of the device's family allow")
      ->option_text("MHZ|auto")
      ->check([](const std::string &text) -> std::string {
        double mhz;
        const bool isClock = !llvm::StringRef(text).getAsDouble(mhz) &&
                             mhz >= 0.001 && mhz <= 10000;
        return isClock || text == "auto"
                   ? ""
                   : "'" + text +
                         "' is not a clock from 0.001 to 10000 MHz, nor auto";
      })
      ->excludes("--core");
  command
      .add_option(
          "--border", request.border,
          "the ports of a device alone: axi, as wide as the device's "
          "streams, or wide: as wide as a frame (up to 4,096 bits) and, "
          "where a beat is a frame, without registers, which saves "
          "four to six cycles")
      ->check(CLI::IsMember({"axi", "wide"}))
      ->option_text("BORDER [axi]")
      ->excludes(board)
      ->excludes("--cluster")
      ->excludes("--core");
  command.add_flag("--accept-nearest", request.acceptNearest,
                   "if the goal cannot be met, take the nearest plan");
  addModelOptions(command, request.model);
  command
      .add_option("--target", options.target,
                  "what to compile a kernel for: cpu; or, with a device, the "
                  "input of vitis-hls or bambu")
      ->check(CLI::IsMember({"cpu", "vitis-hls", "bambu"}))
      ->option_text("TARGET [cpu]");
  ofKernels(command, {"--target"});
  addKernelOptions(command, options.request.kernel);
  command
      .add_option_function<std::vector<std::string>>(
          "--copies",
          [&options](const std::vector<std::string> &texts) {
            for (const std::string &text : texts) {
              auto copies = kernelcommands::parseCopies(text);
              if (!copies)
                throw CLI::ValidationError("--copies",
                                           "'" + text +
                                               "' is not NEST=NxN…, such as "
                                               "1=4x2x1");
              options.request.copies.push_back(std::move(*copies));
            }
          },
          "with a device: how many iterations of a nest's loops, those of its "
          "result's indices, then of its sums, work side by side; the nest's "
          "name or its number in explore's list; may be repeated")
      ->option_text("NEST=NxN…");
  ofKernels(command, {"--copies"});
  addUnitOptions(command, options.request.unit);
  addExploreFormats(command, options.request.kernel);
  addConfig(command, options.dumpConfig);
  command.add_flag("--json", options.json, "one JSON object on stdout");
}

bool cli::dumpsConfig(const CLI::App &command, const TargetOptions &options,
                      std::function<int()> &run) {
  if (options.dumpConfig) {
    run = [&command] {
      llvm::outs() << dumpConfig(command);
      return 0;
    };
    return true;
  }
  if (options.request.model.path.empty())
    throw CLI::ValidationError(
        "MODEL", std::string("name a network or kernel, or write ") +
                     kConfigFile + ", which --dump-config begins");
  return false;
}

bool cli::namesHardware(const CLI::App &command) {
  return command.count("--device") || command.count("--board") ||
         command.count("--cluster") || command.count("--plan") ||
         command.count("--steer");
}

/// --clock-mhz, if it is given.
static std::optional<double> clockOf(const CLI::App &command,
                                     const TargetOptions &options) {
  if (!command.count("--clock-mhz"))
    return std::nullopt;
  return options.clock == "auto" ? planbuild::TargetChoice::kBestClock
                                 : std::stod(options.clock);
}

void cli::refuseClock(const CLI::App &command) {
  if (command.count("--clock-mhz"))
    throw CLI::ValidationError("--clock-mhz", "a kernel on the CPU has no "
                                              "clock to choose; name a "
                                              "--device");
  for (const char *name : kOfUnits)
    if (command.count(name))
      throw CLI::ValidationError(name, "it is for a kernel's hardware: name a "
                                       "--device");
}

CompileRequest cli::hardwareOf(const CLI::App &command,
                               const TargetOptions &options) {
  CompileRequest request = requestOf(command, options);
  request.isKernel = true;
  static_cast<planbuild::TargetChoice &>(request) = deviceOf(command, options);
  if (!request.plan.empty())
    for (const char *name : kOfUnits)
      if (command.count(name))
        throw CLI::ValidationError(name, "the --plan says it: leave one of "
                                         "them out");
  return request;
}

planbuild::TargetChoice cli::deviceOf(const CLI::App &command,
                                      const TargetOptions &options) {
  if (command.count("--target") && options.target == "cpu")
    throw CLI::ValidationError("--target", "with a device a kernel becomes "
                                           "hardware: leave one of them out");
  planbuild::TargetChoice target;
  target.device = options.request.device;
  target.board = options.request.board;
  target.cluster = options.request.cluster;
  target.clockMhz = clockOf(command, options);
  return target;
}

CompileRequest cli::requestOf(const CLI::App &command,
                              const TargetOptions &options) {
  CompileRequest request = options.request;
  request.clockMhz = clockOf(command, options);
  if (!request.core.empty() && !command.count("--device"))
    request.device.clear(); // the package says it
  if (command.count("--max-nodes"))
    request.maxNodes = options.maxNodes;
  for (const CLI::Option *option : command.get_options())
    if (option->count() > 0 && !option->get_positional() &&
        option->get_name() != "--config")
      request.given.push_back(option->get_name());
  return request;
}

void cli::addPhase(CLI::App &command, const std::string &name,
                   std::optional<Phase> &phase, const std::string &help) {
  command
      .add_option_function<std::string>(
          name,
          [name, &phase](const std::string &text) {
            phase = parsePhase(text);
            if (!phase)
              throw CLI::ValidationError(
                  name, "'" + text + "' is no phase; they are, in order: " +
                            phaseNames());
          },
          help)
      ->type_name("PHASE");
}

void cli::addCompileFrom(CLI::App &command, CompileRequest &request) {
  addPhase(command, "--compile-from", request.from,
           "MODEL is a module that 'compile --compile-to' wrote for this "
           "phase: continue with the next");
}

void cli::refuseWithFrom(const CLI::App &command) {
  for (const char *name :
       {"--target", "--cpu", "--explore-formats", "--systems", "--picture"})
    if (command.get_option_no_throw(name) && command.count(name))
      throw CLI::ValidationError(name, "it begins with a kernel's file, not "
                                       "with a module: leave it out, or leave "
                                       "out --compile-from");
}

llvm::json::Array cli::nodesJson(const Plan &plan) {
  llvm::json::Array nodes;
  for (const PlannedNode &node : plan.nodes) {
    llvm::json::Array actors, operations;
    for (const PlannedActor &actor : node.actors)
      actors.push_back(
          llvm::json::Object{{"name", actor.name},
                             {"kind", actor.kind},
                             {"nodes", llvm::json::Array(actor.nodes)},
                             {"interval_cycles", actor.intervalCycles}});
    for (const PlannedOperation &op : node.operations)
      operations.push_back(
          llvm::json::Object{{"name", op.name},
                             {"op", op.op},
                             {"nth", op.nth},
                             {"generator", op.generator},
                             {"option", op.option},
                             {"text", op.text},
                             {"interval_cycles", op.intervalCycles}});
    llvm::json::Object utilization;
    for (auto &[name, share] : node.utilization)
      utilization[name] = share;
    nodes.push_back(
        llvm::json::Object{{"name", node.name},
                           {"device", node.device},
                           {"clock_mhz", node.clockMhz},
                           {"replica_of", node.rtlOf},
                           {"operations", std::move(operations)},
                           {"actors", std::move(actors)},
                           {"predicted", toJSON(node.predicted)},
                           {"utilization", std::move(utilization)}});
  }
  return nodes;
}

void cli::printNodes(const Plan &plan) {
  std::set<std::string> kinds;
  for (const PlannedNode &node : plan.nodes)
    for (auto &[name, share] : node.utilization)
      kinds.insert(name);
  std::vector<std::string> head = {"node", "device", "clock MHz", "from",
                                   "to",   "actors", "interval",  "per second"};
  for (const std::string &kind : kinds)
    head.push_back(kind + " %");
  Table table(head);
  for (const PlannedNode &node : plan.nodes) {
    bool empty = node.operations.empty();
    std::vector<std::string> row = {
        node.name + (node.rtlOf.empty() ? "" : " = " + node.rtlOf),
        node.device,
        decimal(node.clockMhz, 3),
        empty ? "" : node.operations.front().name,
        empty ? "" : node.operations.back().name,
        grouped(int64_t(node.actors.size())),
        grouped(node.predicted.intervalCycles),
        rateText(node.predicted.throughputPerS)};
    for (const std::string &kind : kinds) {
      auto share = node.utilization.find(kind);
      row.push_back(share == node.utilization.end()
                        ? ""
                        : decimal(100 * share->second, 1));
    }
    table.add(std::move(row));
  }
  table.print();
}

int cli::failCompile(const Failure &failure, bool json) {
  const CompileResult *nearest = nearestOf(failure);
  if (!nearest || nearest->plan.nodes.empty())
    return failWith(failure, json);
  printNotes(nearest->notes);
  llvm::errs() << errorLabel() << withoutControls(failure.reason()) << "\n  "
               << remedyLabel()
               << withoutControls(failure.causes.front().remedy) << ":\n";
  printPrediction(nearest->plan.predicted);
  return failure.exitCode();
}
