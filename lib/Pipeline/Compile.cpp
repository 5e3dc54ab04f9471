// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// compile and coverage: from a model file to a package, phase by phase.
#include "Analyse.h"
#include "Border.h"
#include "Deploy.h"
#include "Explored.h"
#include "Placing.h"
#include "Steer.h"
#include "rhizome/Dialect/Flow/Flow.h"
#include "rhizome/Dialect/Osa/Osa.h"
#include "rhizome/Dialect/Rtl/Rtl.h"
#include "rhizome/Generator/Generator.h"
#include "rhizome/Pipeline/Node.h"
#include "rhizome/Support/Units.h"
#include "rhizome/Transforms/Tasks.h"
#include "rhizome/Vendor/Vendor.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"
#include <chrono>

using namespace mlir;
using namespace rhizome;
using namespace rhizome::pipeline;

bool pipeline::isGoal(llvm::StringRef text) {
  return explore::parseGoal(text).has_value();
}

/// The text of a module with the model's tasks, the network that they were
/// merged into, and the functions of nodes, node names included.
static std::string printModel(ModuleOp module, const explore::Result &result) {
  OwningOpRef<ModuleOp> model = ModuleOp::create(module.getLoc());
  model.get()->setAttrs(module->getAttrDictionary());
  for (FunctionOpInterface task : flow::tasksOf(module))
    model->push_back(task->clone());
  func::FuncOp network = fpgaNetwork(module);
  if (!model->lookupSymbol(network.getSymName()))
    model->push_back(network->clone());
  for (const explore::NodeResult &node : result.nodes) {
    func::FuncOp function = node.function;
    if (node.ownsFunction)
      model->push_back(function->clone());
  }
  std::string text;
  llvm::raw_string_ostream os(text);
  model->print(os, OpPrintingFlags().enableDebugInfo(true, false));
  os << "\n";
  return text;
}

static std::vector<std::string> notesOf(const IntegeriseStats &stats) {
  std::vector<std::string> notes;
  int64_t saturated = 0, elements = 0;
  for (const IntegeriseStats::Saturation &s : stats.saturations) {
    saturated += s.saturated;
    elements += s.elements;
    if (s.saturated)
      notes.push_back(llvm::formatv("{0} of {1} elements of '{2}' are "
                                    "saturated to the number format",
                                    s.saturated, s.elements, s.tensor));
  }
  if (2 * saturated > elements)
    notes.push_back("most constants lie outside the number format: if the file "
                    "holds integer codes, give --raw-integers, otherwise more "
                    "integer bits");
  return notes;
}

/// Exploration of an integer model, and its plan. False if something is refused
/// (entered in `refused`) or failed (in `error`).
static std::optional<Explored>
exploreModule(ModuleOp module, const CompileRequest &request,
              explore::Goal goal, Targets &targets, DiagnosticText &diagnostics,
              Refusals &refused, std::string &error) {
  func::FuncOp network = fpgaNetwork(module);
  refused = explore::coverage(network);
  if (!refused.empty())
    return std::nullopt;
  if (request.progress)
    request.progress("explore");
  goal.maxNodes =
      std::min(goal.maxNodes, request.maxNodes.value_or(goal.maxNodes));
  goal.buildsNearest = request.acceptNearest;
  explore::Steering steering;
  if (!request.steer.empty() || !request.plan.empty()) {
    llvm::Expected<explore::Steering> read =
        request.steer.empty() ? steeringOf(request.plan, targets.places)
                              : readSteering(request.steer);
    if (!read) {
      error = llvm::toString(read.takeError());
      return std::nullopt;
    }
    steering = std::move(*read);
  }
  auto start = std::chrono::steady_clock::now();
  FailureOr<explore::Result> found =
      explore::explore(network, goal, targets.places, steering);
  if (failed(found)) {
    error = "exploration fails: " + diagnostics.take();
    return std::nullopt;
  }
  refused = found->refused;
  if (!refused.empty())
    return std::nullopt;
  if (found->avoidsDsp)
    targets.places =
        explore::withinParts(std::move(targets.places), goal.withoutDsp());
  Explored explored;
  explored.seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
          .count();
  explored.result = std::move(*found);
  explored.plan = planOf(request, targets, explored.result, network);
  llvm::Expected<Host> host = loadHost(kDefaultHost);
  if (!host) {
    error = llvm::toString(host.takeError());
    return std::nullopt;
  }
  // Over the cluster's own link, if there is one.
  if (const PlannedLink *link = explored.plan.link(explored.plan.hostLink)) {
    static_cast<Medium &>(host->link) = *link;
    host->link.name = link->name;
  }
  explored.plan.tasks = tasksOf(module, *host);
  return explored;
}

/// The unlike devices in use, each once with its clock and link.
static std::vector<AnalysedDevice> analysedOf(const Targets &targets,
                                              const explore::Result &result) {
  std::vector<AnalysedDevice> devices;
  for (const explore::NodeResult &node : result.nodes) {
    const explore::ClusterPlace &place = targets.places.places[node.place];
    AnalysedDevice entry{targets.devices[node.place], std::nullopt};
    entry.device.clockMhz = place.context.clockMhz;
    for (const PlannedLink &link : targets.links)
      if (link.name == place.link)
        entry.link = Link{link, link.name, "", {}};
    if (llvm::none_of(devices, [&](const AnalysedDevice &other) {
          return other.device.name == entry.device.name &&
                 other.device.clockMhz == entry.device.clockMhz &&
                 other.device.budget == entry.device.budget;
        }))
      devices.push_back(std::move(entry));
  }
  return devices;
}

/// Where the package goes.
static std::string packageOf(const CompileRequest &request) {
  return request.output.empty() ? modelNameOf(request) + ".rhz"
                                : request.output;
}

/// The conversions at the model's border: of one device at its ports, of
/// several at the client's.
static void fillHost(ModuleOp module, Plan &plan) {
  func::FuncOp network = fpgaNetwork(module);
  const bool isOne = plan.channels.empty() && plan.nodes.size() == 1;
  plan.host = hostSectionOf(
      module, isOne ? plan.nodes.front().inputs : hostPorts(network, false),
      isOne ? plan.nodes.front().outputs : hostPorts(network, true));
}

/// Everything behind exploration; errors are texts.
static llvm::Error writePackage(ModuleOp module, const CompileRequest &request,
                                const Targets &targets, Explored &explored,
                                DiagnosticText &diagnostics,
                                CompileResult &result) {
  auto tell = [&](const char *phase) {
    if (request.progress)
      request.progress(phase);
  };
  Plan &plan = explored.plan;
  tell("emit");
  std::string target = packageOf(request);
  auto writer = PackageWriter::create(target);
  if (!writer)
    return writer.takeError();
  auto run = explored.result.nodes.begin();
  for (PlannedNode &node : plan.nodes) {
    if (!node.rtlOf.empty())
      continue;
    explore::NodeResult &built = *run++;
    if (llvm::Error error = writeNode(**writer, node, built)) {
      std::string said = diagnostics.take();
      return said.empty() ? std::move(error)
                          : llvm::joinErrors(std::move(error),
                                             llvm::createStringError(said));
    }
    if (llvm::Error error =
            writeTimeline(**writer, node.name, built.design, node.clockMhz))
      return error;
    if (!nodeChannels(plan, node).empty())
      if (llvm::Error error =
              writeNodeTop(**writer, plan, node, *module.getContext()))
        return error;
    if (llvm::Error error = vendor::writeFlows(
            **writer, node, targets.devices[built.place], node.clockMhz,
            result.notes, nodeConfiguration(plan, node)))
      return error;
  }
  // Replicas name their owner's files. A role holds its node's address, so each
  // has a project of its own around them.
  run = explored.result.nodes.begin();
  std::vector<std::string> saidBefore;
  for (PlannedNode &node : plan.nodes) {
    if (node.rtlOf.empty()) {
      ++run;
      continue;
    }
    const PlannedNode &owner = plan.owner(node);
    node.top = owner.top;
    node.nodeTop = owner.nodeTop;
    node.registerPorts = owner.registerPorts;
    node.linkPorts = owner.linkPorts;
    node.rtl = owner.rtl;
    node.simulationModels = owner.simulationModels;
    if (llvm::Error error = vendor::writeFlows(
            **writer, node, targets.devices[std::prev(run)->place],
            node.clockMhz, saidBefore, nodeConfiguration(plan, node)))
      return error;
  }
  if (llvm::Error error = (*writer)->writeFile(
          "model/network.mlir", printModel(module, explored.result)))
    return error;
  fillHost(module, plan);
  if (llvm::Error error = writeDeployment(**writer, plan, fpgaNetwork(module)))
    return error;
  if (llvm::Error error =
          writeAnalysis(**writer, fpgaNetwork(module), plan.model,
                        analysedOf(targets, explored.result)))
    return error;
  if (llvm::Error error = (*writer)->writePlan(plan))
    return error;
  if (llvm::Error error = writeReport(**writer, result.notes))
    return error;
  if (llvm::Error error = (*writer)->commit())
    return error;
  if ((*writer)->removedResults())
    result.notes.push_back("what was measured of the package that stood at '" +
                           target +
                           "' (its folder results) is removed: this one is "
                           "not the same");
  result.ok = true;
  result.package = target;
  return llvm::Error::success();
}

/// Clocks beyond what the devices are specified for.
static void noteClocks(const Targets &targets,
                       std::vector<std::string> &notes) {
  for (const auto &[device, place] :
       llvm::zip(targets.devices, targets.places.places)) {
    const double clock = place.context.clockMhz;
    std::string note = llvm::formatv(
        "the clock of {0} MHz is beyond {1} MHz, the most that the data "
        "sheet of {2} gives for any design: the rate will not be reached",
        llvm::format("%g", clock), llvm::format("%g", device.maxClockMhz),
        device.name);
    if (device.maxClockMhz > 0 && clock > device.maxClockMhz &&
        !llvm::is_contained(notes, note))
      notes.push_back(note);
  }
}

/// The phases of compile, or with `write` false of explore.
static CompileResult compileOrExplore(CompileRequest request, bool write) {
  auto start = std::chrono::steady_clock::now();
  CompileResult result;
  auto elapsed = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() -
                                         start)
        .count();
  };
  // In vain is no work done.
  if (write)
    if (llvm::Error error = PackageWriter::check(packageOf(request))) {
      result.error = llvm::toString(std::move(error));
      return result;
    }
  std::vector<std::string> notes;
  if (!request.constraints.empty())
    if (llvm::Error error = applyConstraints(request, notes)) {
      result.error = llvm::toString(std::move(error));
      return result;
    }
  result.hasGoal = !request.goal.empty();
  if (request.goal.empty()) {
    llvm::Expected<std::string> otherwise =
        request.plan.empty() ? "max-throughput" : goalOf(request.plan);
    if (!otherwise) {
      result.error = llvm::toString(otherwise.takeError());
      return result;
    }
    request.goal = *otherwise;
  }
  llvm::Expected<Targets> targets = targetsOf(request);
  if (!targets) {
    result.error = llvm::toString(targets.takeError());
    return result;
  }
  explore::Goal goal = *explore::parseGoal(request.goal);
  targets->places = explore::withinParts(std::move(targets->places), goal);
  MLIRContext context;
  context.loadDialect<flow::FlowDialect, rtl::RtlDialect>();
  IntegeriseStats stats;
  OwningOpRef<ModuleOp> module = importModel(
      context, request.model, request.progress, result.refused, stats);
  if (!module)
    return result;
  result.notes = notesOf(stats);
  result.notes.insert(result.notes.end(), notes.begin(), notes.end());
  noteClocks(*targets, result.notes);
  DiagnosticText diagnostics(&context);
  std::optional<Explored> explored =
      exploreModule(*module, request, goal, *targets, diagnostics,
                    result.refused, result.error);
  if (!explored)
    return result;
  result.exploreSeconds = explored->seconds;
  result.cause = explored->result.limit;
  result.limit = describe(result.cause);
  result.fits = explored->result.fits;
  result.meetsGoal = explored->result.meetsGoal;
  // Of a plan that is taken although it is only the nearest.
  for (const PlannedNode &node : explored->plan.nodes)
    for (const auto &[kind, share] : node.utilisation)
      if (share > 1 && request.acceptNearest)
        result.notes.push_back(llvm::formatv(
            "{0} does not fit: it needs {1:f1} % of the {2} that it may use "
            "of its {3}",
            node.name, 100 * share, llvm::StringRef(kind).upper(),
            node.device));
  if (!explored->result.splits.empty()) {
    std::vector<std::string> shared;
    for (const explore::Split &split : explored->result.splits)
      shared.push_back(split.of.node + " in " + std::to_string(split.parts));
    result.notes.push_back("channels are shared out: " +
                           llvm::join(shared, ", "));
  }
  if (!write) {
    auto analysis = analysisOf(fpgaNetwork(*module), explored->plan.model,
                               analysedOf(*targets, explored->result));
    if (analysis)
      result.analysis = std::move(*analysis);
    else
      result.error = llvm::toString(analysis.takeError());
    result.ok =
        result.error.empty() && (result.meetsGoal || request.acceptNearest);
  } else if (result.meetsGoal || request.acceptNearest) {
    if (llvm::Error error = writePackage(*module, request, *targets, *explored,
                                         diagnostics, result))
      result.error = llvm::toString(std::move(error));
  }
  result.plan = std::move(explored->plan);
  result.seconds = elapsed();
  return result;
}

std::string pipeline::whyNone(const CompileResult &result) {
  const Plan &plan = result.plan;
  bool isPinned = result.cause.kind == explore::Limit::Kind::Pins ||
                  result.cause.kind == explore::Limit::Kind::PinOrder;
  if (!result.fits && !isPinned)
    return "'" + plan.model + "' does not fit " +
           (plan.cluster.empty() ? "'" + plan.device + "'"
                                 : "the cluster '" + plan.cluster + "'") +
           ": " + result.limit;
  if (!result.hasGoal)
    return "there is no such plan: " + result.limit;
  return "the goal '" + plan.goal + "' cannot be met: " + result.limit;
}

CompileResult pipeline::compileModel(const CompileRequest &request) {
  return compileOrExplore(request, true);
}

CompileResult pipeline::exploreModel(const CompileRequest &request) {
  return compileOrExplore(request, false);
}

/// A row for each operation of the FPGA.
static void coverNetwork(func::FuncOp network, CoverageResult &result) {
  for (Operation &op : network.getBody().front()) {
    if (op.hasTrait<OpTrait::IsTerminator>() || op.getNumOperands() == 0 ||
        isa<osa::ReshapeOp>(op))
      continue;
    CoverageRow row;
    row.node = osa::nodeName(&op);
    row.op = op.getName().stripDialect().str();
    llvm::raw_string_ostream(row.type) << op.getResult(0).getType();
    bool built = false;
    for (const auto &generator : gen::allGenerators()) {
      std::optional<std::string> reason = generator->coverage(&op);
      built |= !reason;
      row.generators.emplace_back(generator->name().str(), reason.value_or(""));
    }
    result.ok &= built;
    result.rows.push_back(std::move(row));
  }
}

CoverageResult pipeline::coverModel(const ModelRequest &request) {
  CoverageResult result;
  MLIRContext context;
  IntegeriseStats stats;
  OwningOpRef<ModuleOp> module =
      importModel(context, request, nullptr, result.refused, stats,
                  /*hostOnly=*/true);
  if (!module)
    return result;
  result.ok = true;
  func::FuncOp network = fpgaNetwork(*module);
  if (network)
    coverNetwork(network, result);
  result.fpga = int64_t(result.rows.size());
  for (const Refusal &entry : stats.host)
    result.rows.push_back(
        {entry.node, entry.op, "", true, entry.reason, entry.remedy, {}});
  result.host = int64_t(stats.host.size());
  result.copiesIn = network ? network.getNumArguments() : 0;
  result.copiesOut = network ? network.getNumResults() : 0;
  if (llvm::Expected<Host> host = loadHost(kDefaultHost))
    result.tasks = tasksOf(*module, *host);
  else
    result.error = llvm::toString(host.takeError());
  if (result.fpga == 0)
    return result;
  llvm::Expected<Device> device = loadDevice(kDefaultDevice);
  llvm::Expected<llvm::json::Object> analysis =
      device ? analysisOf(network, llvm::sys::path::stem(request.path),
                          {{std::move(*device), std::nullopt}})
             : device.takeError();
  if (analysis)
    result.analysis = std::move(*analysis);
  else
    result.error = llvm::toString(analysis.takeError());
  return result;
}
