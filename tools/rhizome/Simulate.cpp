// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rhizome simulate: a package's hardware against its semantics.
#include "Commands.h"
#include "Kernel.h"
#include "ModelOptions.h"
#include "Output.h"
#include "Quantization.h"
#include "Report.h"
#include "rhizome/Support/Units.h"

using namespace rhizome;
using namespace rhizome::cli;
using namespace rhizome::evaluate;
using namespace rhizome::model;
using namespace rhizome::kernelcommands;

llvm::json::Value cli::measuredOf(const ClusterResult &result) {
  if (result.throughputPerS <= 0)
    return nullptr;
  return llvm::json::Object{{"throughput_per_s", result.throughputPerS},
                            {"latency_us", result.latencyUs}};
}

void cli::addCluster(const ClusterResult &result, llvm::json::Object &to) {
  llvm::json::Array parties;
  for (const ClusterParty &party : result.parties)
    parties.push_back(llvm::json::Object{{"name", party.name},
                                         {"device", party.device},
                                         {"utilization", party.utilization},
                                         {"sending", party.sending},
                                         {"receiving", party.receiving},
                                         {"datagrams", party.datagrams},
                                         {"lost", party.lost},
                                         {"resent", party.resent},
                                         {"cycles", party.cycles},
                                         {"skipped", party.skipped}});
  to["parties"] = std::move(parties);
  to["simulated_us"] = result.simulatedUs;
  to["seconds"] = result.seconds;
}

void cli::printCluster(const ClusterResult &result,
                       const Prediction &predicted) {
  if (result.throughputPerS > 0) {
    Table table({"", "predicted", "measured"});
    table.add({"rate per s", rateText(predicted.throughputPerS),
               rateText(result.throughputPerS)});
    table.add({"latency", durationText(predicted.latencyUs * 1e-6),
               durationText(result.latencyUs * 1e-6)});
    table.print();
    llvm::outs() << "\n";
  }
  Table table({"node", "device", "busy", "sending", "receiving", "datagrams",
               "lost", "sent again"});
  for (const ClusterParty &p : result.parties)
    table.add({p.name, p.device, p.device.empty() ? "" : percent(p.utilization),
               percent(p.sending), percent(p.receiving), grouped(p.datagrams),
               grouped(p.lost), grouped(p.resent)});
  table.print();
  llvm::outs() << durationText(result.simulatedUs * 1e-6) << " simulated in "
               << decimal(result.seconds, 1) << " s, designs built in "
               << decimal(result.buildSeconds, 1) << " s\n";
}

/// Layers of an engine: all of a few, otherwise those that take longest.
static void printEngine(const EngineCycles &engine) {
  constexpr size_t kMostRows = 24;
  std::vector<int64_t> longest;
  for (const EngineLayer &layer : engine.layers)
    longest.push_back(layer.measured);
  llvm::sort(longest, std::greater<>());
  const int64_t least = longest.size() > kMostRows ? longest[kMostRows - 1] : 0;
  Table table({"layer", "unit", "ideal", "predicted", "measured", "waits for",
               "bytes"});
  size_t shown = 0;
  for (const EngineLayer &layer : engine.layers) {
    if (layer.measured < least || shown == kMostRows)
      continue;
    ++shown;
    std::string waits;
    for (const auto &[whom, cycles] : layer.waits)
      waits += (waits.empty() ? "" : ", ") + whom + " " + grouped(cycles);
    table.add({shortened(layer.name), layer.unit,
               layer.ideal ? grouped(layer.ideal) : "",
               grouped(layer.predicted), grouped(layer.measured), waits,
               layer.bytes ? grouped(layer.bytes) : ""});
  }
  table.add({"all", "", grouped(engine.ideal), grouped(engine.predicted),
             grouped(engine.measured), "", ""});
  llvm::outs() << "\n"
               << engine.unit << ", cycles of a frame, bytes of '"
               << engine.memory << "':\n";
  table.print();
  if (shown < engine.layers.size())
    llvm::outs() << "and "
                 << counted(int64_t(engine.layers.size() - shown),
                            "shorter layer")
                 << ": see --json or report.html\n";
  llvm::outs() << "\n";
}

static int runSimulate(SimulateRequest request, bool json) {
  // The simulator counts its frames on the same line.
  ProgressLine line(!json, /*ticks=*/false);
  request.showProgress = line.active();
  request.onWait = [&](const std::string &what) { line.announce(what); };
  auto simulated = simulatePackage(request);
  line.show("");
  if (!simulated)
    return failWith(simulated.failure(), json);
  const SimulateResult &result = *simulated;
  if (result.measured || result.cluster)
    redrawReport(request.package);
  printNotes(result.notes);
  bool good = result.mismatches == 0 && result.unexpected <= 0;
  if (json) {
    llvm::json::Value measured = nullptr;
    if (result.measured) {
      llvm::json::Object cycles{{"interval_cycles", result.intervalCycles},
                                {"latency_cycles", result.latencyCycles}};
      if (result.predicted.loadCycles)
        cycles["load_cycles"] = result.loadCycles;
      measured = std::move(cycles);
    }
    if (result.cluster)
      measured = measuredOf(*result.cluster);
    llvm::json::Object object{{"frames", result.frames},
                              {"mismatches", result.mismatches},
                              {"predicted", toJSON(result.predicted)},
                              {"measured", std::move(measured)},
                              {"sim_cycles_per_s", result.simCyclesPerS}};
    if (!result.engines.empty())
      object["engines"] = toJson(result.engines);
    if (!result.simulator.empty())
      object["simulator"] = llvm::json::fixUTF8(result.simulator);
    if (result.golden) {
      object["golden"] = result.golden;
      object["golden_from"] = llvm::json::fixUTF8(result.goldenFrom);
    }
    if (result.unexpected >= 0)
      object["unexpected"] = result.unexpected;
    if (!result.firstMismatch.empty())
      object["first_mismatch"] = result.firstMismatch;
    if (result.cluster)
      addCluster(*result.cluster, object);
    if (!request.inputs.empty())
      reportSaturation(result.saturation, object);
    printJson(std::move(object));
    return good ? 0 : 1;
  }
  llvm::outs() << result.frames
               << (result.frames == 1 ? " frame, " : " frames, ")
               << verdict(result.mismatches,
                          grouped(result.mismatches) + " mismatches");
  if (result.golden) {
    llvm::outs() << " (" << result.golden << " golden vectors";
    if (result.goldenFrom == "input" || result.goldenFrom == "calibration")
      llvm::outs() << " of " << result.goldenFrom << " data";
    llvm::outs() << " compared, too)";
  }
  llvm::outs() << "\n";
  if (result.unexpected >= 0)
    llvm::outs() << grouped(result.unexpected)
                 << " elements differ from the expected outputs\n";
  if (!result.firstMismatch.empty())
    llvm::outs() << "first: " << result.firstMismatch << "\n";
  printSaturation(result.saturation);
  if (result.measured) {
    Table table({"cycles", "predicted", "measured"});
    table.add({"interval", decimal(result.predicted.intervalCycles, 0),
               decimal(result.intervalCycles, 2)});
    table.add({"latency", decimal(result.predicted.latencyCycles, 0),
               decimal(result.latencyCycles, 0)});
    if (result.predicted.loadCycles)
      table.add({"loading", decimal(result.predicted.loadCycles, 0),
                 decimal(result.loadCycles, 0)});
    table.print();
  }
  for (const EngineCycles &engine : result.engines)
    printEngine(engine);
  if (result.cluster)
    printCluster(*result.cluster, result.predicted);
  if (result.simCyclesPerS > 0)
    llvm::outs() << "simulator: " << grouped(int64_t(result.simCyclesPerS))
                 << " cycles per second, built in "
                 << decimal(result.buildSeconds, 1) << " s\n";
  return good ? 0 : 1;
}

/// Refuses options that mean nothing at a level.
static void checkLevelOptions(const CLI::App &command, Level level) {
  auto refuse = [&](std::initializer_list<const char *> names,
                    const char *why) {
    for (const char *name : names)
      if (command.count(name))
        throw CLI::ValidationError(name, why);
  };
  if (level != Level::Cluster)
    refuse({"--loss", "--reorder", "--reorder-delay-us", "--hostfile"},
           "only with --level cluster are datagrams sent");
  if (command.count("--reorder-delay-us") && !command.count("--reorder"))
    throw CLI::ValidationError("--reorder-delay-us",
                               "no datagram is delayed without --reorder");
  if (level == Level::Functional || level == Level::Cluster)
    refuse({"--trace"}, "there are signals at the levels rtl, board, netlist "
                        "and bitstream only");
  if (level != Level::Rtl)
    refuse({"--trace-units"},
           "units of engines are watched at --level rtl only; take that, or "
           "leave it out");
  if (level == Level::Functional)
    refuse({"--stalls-in", "--stalls-out", "--four-state"},
           "nothing waits and nothing is unknown at --level functional; leave "
           "it out, or take --level rtl");
  if (level == Level::Cluster)
    refuse({"--stalls-in", "--stalls-out", "--four-state", "--memory-error"},
           "at --level cluster links make nodes wait, and Verilator simulates "
           "them; leave it out, or take --level rtl");
}

void cli::addSimulate(CLI::App &app, Run &run) {
  struct Options {
    SimulateRequest request;
    std::vector<std::string> inputs;
    DataRequest how;
    KernelOptions kernel;
    std::string memoryError;
    bool json = false;
  };
  auto options = std::make_shared<Options>();
  SimulateRequest &request = options->request;
  CLI::App *command = app.add_subcommand(
      "simulate",
      "Simulate a package's hardware and compare its results bit for bit.");
  command
      ->add_option("DIR", request.package,
                   "a package, of a network or a kernel, or a kernel (.cfd)")
      ->required();
  addLevel(*command, request.level, true);
  addData(*command, request, options->inputs, options->how);
  command
      ->add_option("--stalls-in", request.stallsIn,
                   "percent of cycles in which sources pause")
      ->check(CLI::Range(0, 99))
      ->option_text("PERCENT");
  command
      ->add_option("--stalls-out", request.stallsOut,
                   "percent of cycles in which sinks pause")
      ->check(CLI::Range(0, 99))
      ->option_text("PERCENT");
  command
      ->add_option("--loss", request.loss,
                   "level cluster: probability that a datagram is lost")
      ->check(CLI::Range(0.0, 0.9))
      ->option_text("P");
  command
      ->add_option("--reorder", request.reorder,
                   "level cluster: probability that a datagram is delayed, so "
                   "that later ones overtake it")
      ->check(CLI::Range(0.0, 1.0))
      ->option_text("P");
  command
      ->add_option("--reorder-delay-us", request.reorderDelayUs,
                   "the maximum delay")
      ->check(CLI::Range(0.0, 1e6))
      ->capture_default_str();
  command
      ->add_option("--hostfile", request.hostfile,
                   "level cluster: mpirun's hostfile; the package needs the "
                   "same path on all hosts")
      ->check(faultOfFile)
      ->option_text("FILE");
  CLI::Option *fourState =
      command->add_flag("--four-state", request.fourState,
                        "Icarus Verilog with X checks instead of Verilator");
  command
      ->add_option("--trace", request.trace,
                   "write all signals of these frames as waveforms, .fst or "
                   ".vcd; nothing is measured then")
      ->option_text("FILE")
      ->excludes(fourState)
      ->check([](const std::string &path) -> std::string {
        llvm::StringRef name = path;
        return name.ends_with(".fst") || name.ends_with(".vcd")
                   ? ""
                   : "'" + path + "' ends in neither .fst nor .vcd";
      });
  command
      ->add_option("--trace-units", request.traceUnits,
                   "write what the units of engines do in a frame, instruction "
                   "by instruction, measured and predicted, as a trace for "
                   "Perfetto or Chrome; a cycle is shown as 1 us")
      ->option_text("FILE.json")
      ->excludes(fourState);
  command
      ->add_option(
          "--memory-error", options->memoryError,
          "of a kernel's system: the memory answers with an error in "
          "the middle of a tensor's buffer, which the run must report; "
          "slverr or decerr")
      ->option_text("NAME[=slverr]");
  addKernelOptions(*command, options->kernel);
  addPackageChecks(*command, request.acceptChanges, request.trust);
  command->add_flag("--json", options->json, "one JSON object on stdout");
  command->footer(
      "Examples:\n"
      "  rhizome simulate net.rhz -n 20\n"
      "  rhizome simulate net.rhz -n 20 --stalls-in 30 --stalls-out 50\n"
      "  rhizome simulate net.rhz --input x.npy --expect y.npy --json\n"
      "  rhizome simulate net.rhz --input x.npy -n 2 --trace x.fst\n"
      "  rhizome simulate net.rhz -n 1 --trace-units net.json\n"
      "  rhizome simulate net.rhz --level functional -n 1000\n"
      "  rhizome simulate net.rhz --level cluster -n 20 --loss 0.01\n"
      "  rhizome simulate helmholtz.rhz -n 4 --input x.npz --output v.npy\n"
      "  rhizome simulate net.rhz --level bitstream --input x.npy");
  command->callback([options, command, &run] {
    const InputKind kind = inputKind(options->request.package);
    if (kind == InputKind::KernelPackage) {
      checkOptions(*command, true,
                   {"--level", "--input", "--output", "--frames", "--seed",
                    "--json", "--stalls-in", "--stalls-out", "--four-state",
                    "--trace", "--memory-error", "--accept-changes", "--trust",
                    "--loss", "--reorder", "--reorder-delay-us", "--hostfile"});
      refuseKernelOptions(*command);
      const bool isCluster = options->request.level == Level::Cluster;
      if (!isCluster && options->request.level != Level::Rtl)
        throw CLI::ValidationError("--level", "a kernel's package has no such "
                                              "level; leave it out, or "
                                              "choose rtl or cluster");
      checkLevelOptions(*command, options->request.level);
      HardwareRunRequest kernel;
      if (isCluster) {
        kernel.cluster.emplace();
        kernel.cluster->loss = options->request.loss;
        kernel.cluster->reorder = options->request.reorder;
        kernel.cluster->reorderDelayUs = options->request.reorderDelayUs;
        kernel.cluster->hostfile = options->request.hostfile;
      }
      kernel.path = options->request.package;
      kernel.inputs = options->inputs;
      kernel.outputs = options->request.outputs;
      kernel.frames = options->request.frames;
      kernel.seed = options->request.seed;
      kernel.stallsIn = options->request.stallsIn;
      kernel.stallsOut = options->request.stallsOut;
      kernel.fourState = options->request.fourState;
      kernel.trace = options->request.trace;
      kernel.memoryError = options->memoryError;
      kernel.acceptChanges = options->request.acceptChanges;
      kernel.trust = options->request.trust;
      run = [kernel, options] {
        return runKernelHardware(kernel, options->json);
      };
      return;
    }
    if (command->count("--memory-error"))
      throw CLI::ValidationError("--memory-error",
                                 "only a kernel's package with a system has "
                                 "such a memory");
    const bool isKernel = runsOnCpu(kind);
    checkOptions(
        *command, isKernel,
        {"--level", "--input", "--output", "--frames", "--seed", "--json"});
    if (isKernel && command->count("--level") &&
        options->request.level != Level::Functional)
      throw CLI::ValidationError("--level",
                                 "a kernel's file is computed on the CPU: "
                                 "--level functional; the RTL is in the "
                                 "package that 'compile --device' writes");
    checkLevelOptions(*command, options->request.level);
    options->request.inputs = dataOf(options->inputs, options->how);
    if (isKernel) {
      KernelRunRequest kernel;
      kernel.path = options->request.package;
      kernel.options = options->kernel;
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
