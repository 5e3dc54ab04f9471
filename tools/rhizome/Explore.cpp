// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rhizome explore: the plan alone, its bottleneck and the rejected
// alternatives.
#include "Analyze.h"
#include "Commands.h"
#include "Quantization.h"
#include "TargetOptions.h"
#include "Tasks.h"
#include "rhizome/Support/Units.h"

using namespace rhizome;
using namespace rhizome::cli;
using namespace rhizome::kernelcommands;
using namespace rhizome::model;
using namespace rhizome::pipeline;

static llvm::json::Object toJson(CompileResult &result, bool ok) {
  const Plan &plan = result.plan;
  return llvm::json::Object{
      {"ok", ok},
      {"seconds", result.exploreSeconds},
      {"goal", plan.goal},
      {"nodes", nodesJson(plan)},
      {"predicted", plan.nodes.empty() ? llvm::json::Value(nullptr)
                                       : toJSON(plan.predicted)},
      {"bound", plan.boundPerS},
      {"bottleneck", plan.bottleneck},
      {"bottleneck_kind", plan.bottleneckKind},
      {"fits", result.fits},
      {"limit", result.limit},
      {"alternatives", llvm::json::Array(plan.alternatives)},
      {"tasks", toJSON(plan.tasks)},
      {"analysis", std::move(result.analysis)}};
}

/// What is shown of each table, unless everything is.
constexpr size_t kShown = 10;

/// The operations that take longest, those of the plan's order first; with
/// `full` all of them in that order.
static std::vector<std::pair<const PlannedNode *, const PlannedOperation *>>
operationsOf(const Plan &plan, bool full) {
  std::vector<std::pair<const PlannedNode *, const PlannedOperation *>> shown;
  for (const PlannedNode &node : plan.nodes)
    for (const PlannedOperation &op : node.operations)
      if (node.rtlOf.empty())
        shown.push_back({&node, &op});
  if (full || shown.size() <= kShown)
    return shown;
  llvm::stable_sort(shown, [](const auto &a, const auto &b) {
    return a.second->intervalCycles > b.second->intervalCycles;
  });
  shown.resize(kShown);
  return shown;
}

/// The alternatives of the plan, then those of the operations shown.
static std::vector<const Alternative *> alternativesOf(
    const Plan &plan,
    llvm::ArrayRef<std::pair<const PlannedNode *, const PlannedOperation *>>
        operations,
    bool full) {
  std::vector<const Alternative *> shown;
  for (const Alternative &other : plan.alternatives) {
    auto names = [&](const PlannedOperation &op) {
      return llvm::StringRef(other.what).starts_with(op.name + ": ");
    };
    bool isOfOperation = false;
    for (const PlannedNode &node : plan.nodes)
      isOfOperation |= llvm::any_of(node.operations, names);
    if (full || (shown.size() < kShown &&
                 (!isOfOperation || llvm::any_of(operations, [&](auto entry) {
                   return names(*entry.second);
                 }))))
      shown.push_back(&other);
  }
  return shown;
}

/// The summary first, then tables, of which `full` shows everything.
static void printExplored(const CompileResult &result, bool full) {
  const Plan &plan = result.plan;
  llvm::outs() << plan.model << ", " << plan.goal << ", explored in "
               << durationText(result.exploreSeconds) << "\n\n";
  printNodes(plan);
  llvm::outs() << "\n";
  printPrediction(plan.predicted);
  printTasks(plan.tasks, plan.predicted.latencyUs);
  llvm::outs() << "  bottleneck " << plan.bottleneck << "\n";
  printBodies(plan);
  printMemories(plan);
  if (!result.limit.empty())
    llvm::outs() << "  no faster  " << result.limit << "\n";
  llvm::outs() << "  bound      " << rateText(plan.boundPerS)
               << " per second, which no plan exceeds\n";
  printDies(plan);

  size_t all = 0;
  for (const PlannedNode &node : plan.nodes)
    all += node.rtlOf.empty() ? node.operations.size() : 0;
  const auto entries = operationsOf(plan, full);
  llvm::outs() << "\n";
  if (entries.size() < all)
    llvm::outs() << "the slowest " << entries.size() << " of " << all
                 << " operations:\n";
  Table operations({"node", "operation", "kind", "option", "interval", ""});
  for (auto [node, op] : entries)
    operations.add({node->name, op->name, op->op, op->option,
                    grouped(op->intervalCycles), op->text});
  operations.print();
  const auto others = alternativesOf(plan, entries, full);
  if (!others.empty()) {
    llvm::outs() << "\nconsidered and rejected:\n";
    Table table({"what", "per second", "why not"});
    for (const Alternative *other : others)
      table.add({other->what, rateText(other->throughputPerS), other->why});
    table.print();
  }
  if (full) {
    llvm::outs() << "\n";
    printAnalysis(result.analysis);
    return;
  }
  llvm::outs() << "\n--full lists all operations, all alternatives and what "
                  "each operation needs.\n";
}

static int runExplore(CompileRequest request, bool json, bool full) {
  ProgressLine line(!json);
  request.progress = [&line](llvm::StringRef phase) {
    line.show(phase.str() + " …");
  };
  rhizome::Result<CompileResult> explored = exploreModel(request);
  line.show("");
  if (!explored && isPlaced(explored.failure()))
    return failWithPlaces(explored.failure(), json);
  if (!explored && !(json && nearestOf(explored.failure())))
    return failCompile(explored.failure(), json);
  CompileResult result =
      explored ? std::move(*explored) : *nearestOf(explored.failure());
  if (explored && result.plan.kernel)
    return showKernel(result, json);
  if (json) {
    llvm::json::Object object = toJson(result, bool(explored));
    reportQuantization(request.model, object);
    printJson(std::move(object));
    return explored ? 0 : explored.failure().exitCode();
  }
  printNotes(result.notes);
  printQuantization(request.model);
  printExplored(result, full);
  return 0;
}

/// All formats of --numbers.
static std::vector<rhizome::numeric::Format>
formatsOf(const CLI::App &command) {
  std::vector<rhizome::numeric::Format> formats;
  for (const std::string &text : command.get_option("--numbers")->results()) {
    std::string error;
    auto format = rhizome::numeric::Format::parse(text, error);
    if (!format)
      throw CLI::ValidationError("--numbers", error);
    formats.push_back(*format);
  }
  return formats;
}

void cli::addExplore(CLI::App &app, Run &run) {
  auto options = std::make_shared<TargetOptions>();
  CLI::App *command = app.add_subcommand(
      "explore", "Find the plan for a model, and show what limits it.");
  addTargetOptions(*command, *options);
  addCompileFrom(*command, options->request);
  command->get_option("--numbers")
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  auto systems = std::make_shared<bool>(false);
  auto picture = std::make_shared<std::string>();
  auto full = std::make_shared<bool>(false);
  auto brief = std::make_shared<bool>(false); // the default needs no word
  CLI::Option *all = command->add_flag(
      "--full", *full,
      "list all operations, all alternatives and what each operation needs");
  command
      ->add_flag("--brief", *brief,
                 "show the summary and the ten operations that matter most, "
                 "which is the default")
      ->excludes(all);
  command->add_flag("--systems", *systems,
                    "with a device: fill it with lanes of the kernel, for "
                    "each number of stages and copies, and name what ends "
                    "it; with several --numbers also their errors");
  command->add_option("--picture", *picture,
                      "with --systems: plot error over elements per second to "
                      "an .svg file");
  ofKernels(*command, {"--systems", "--picture"});
  command->footer(
      "Nothing is written; 'compile' with the same options builds the plan.\n"
      "Examples:\n"
      "  rhizome explore net_qdq.onnx --goal throughput=5000/s\n"
      "  rhizome explore net.onnx --cluster ku060x9 --max-nodes 4\n"
      "  rhizome explore net.onnx --cluster ./lab.yaml --goal min-nodes "
      "--json\n"
      "  rhizome explore kernel.cfd\n"
      "  rhizome explore kernel.cfd --numbers 'fixed<8,24>' --device xcu280\n"
      "  rhizome explore kernel.cfd --numbers 'fixed<8,24>' --device xcu280 "
      "--systems --resident S\n"
      "  rhizome explore kernel.cfd --device xcu280 --systems --numbers "
      "'fixed<8,24>' --numbers half");
  command->callback([options, systems, picture, full, brief, command, &run] {
    if (dumpsConfig(*command, *options, run))
      return;
    const std::vector<std::string> common = {
        "--json",   "--device", "--board", "--cluster", "--clock-mhz",
        "--config", "--goal",   "--plan",  "--steer"};
    bool isKernel = false;
    if (options->request.from)
      refuseWithFrom(*command); // the module says what it is
    else
      isKernel = checkOptionsOf(*command, options->request.model.path, common);
    if (!*systems && command->get_option("--numbers")->results().size() > 1)
      throw CLI::ValidationError("--numbers", "only --systems compares "
                                              "formats: name one");
    if (!*systems && command->count("--picture"))
      throw CLI::ValidationError("--picture", "it is for --systems");
    if (isKernel) {
      if (!options->target.empty() && options->target != "cpu")
        throw CLI::ValidationError("--target", "only compile writes the input "
                                               "of another tool");
      if (namesHardware(*command)) {
        const CompileRequest hardware = hardwareOf(*command, *options);
        if (*systems) {
          SystemRequest request{
              {hardware.model.path, hardware.kernel, hardware},
              formatsOf(*command)};
          request.unit.residents = hardware.unit.residents;
          for (const char *name :
               {"--goal", "--copies", "--stages", "--lanes", "--words",
                "--system", "--units", "--plan", "--steer"})
            if (command->count(name))
              throw CLI::ValidationError(name, "--systems chooses it");
          run = [options, picture, request] {
            return runKernelSystems(request, *picture, options->json);
          };
          return;
        }
        run = [options, hardware] {
          return runExplore(hardware, options->json, /*full=*/false);
        };
        return;
      }
      if (*systems)
        throw CLI::ValidationError("--systems", "it is for a kernel's "
                                                "hardware: name a --device");
      refuseClock(*command);
      run = [options] {
        return runKernelCompile(
            {options->request.model.path, options->request.kernel, "-"},
            options->json);
      };
      return;
    }
    run = [options, full, command] {
      return runExplore(requestOf(*command, *options), options->json, *full);
    };
  });
}
