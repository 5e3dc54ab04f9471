// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The last phase: the package from a module that holds everything.
#include "Analyze.h"
#include "Compilation.h"
#include "Settings.h"
#include "rhizome/Deploy/Border.h"
#include "rhizome/Deploy/Deploy.h"
#include "rhizome/Deploy/TestBench.h"
#include "rhizome/Dialect/Marks/Marks.h"
#include "rhizome/Model/Golden.h"
#include "rhizome/Model/Quantization.h"
#include "rhizome/Pipeline/Board.h"
#include "rhizome/PlanBuild/Build.h"
#include "rhizome/PlanBuild/Node.h"
#include "rhizome/Report/Report.h"
#include "rhizome/Synth/Shell.h"
#include "rhizome/Transforms/Tasks.h"
#include "rhizome/Vendor/Vendor.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace rhizome;
using namespace rhizome::pipeline;
using namespace rhizome::model;
using namespace rhizome::planbuild;
using namespace rhizome::deploy;

/// The text of a module with the model's tasks, the network that they were
/// merged into, and the functions of nodes, node names included.
std::string NetworkCompilation::printModel() {
  OwningOpRef<ModuleOp> model = ModuleOp::create(module.getLoc());
  for (const char *name : {flow::kInputs, flow::kOutputs, flow::kStates,
                           flow::kTasks, marks::kQuantizers.data()})
    if (Attribute attr = module->getAttr(name))
      model.get()->setAttr(name, attr);
  for (FunctionOpInterface task : flow::tasksOf(module))
    model->push_back(task->clone());
  if (!model->lookupSymbol(network().getSymName()))
    model->push_back(network()->clone());
  for (const explore::NodeResult &node : built->nodes) {
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

/// The unlike devices in use, each once with its clock and link.
static std::vector<AnalyzedDevice> analyzedOf(const Targets &targets,
                                              const explore::Result &result) {
  std::vector<AnalyzedDevice> devices;
  for (const explore::NodeResult &node : result.nodes) {
    const explore::ClusterPlace &place = targets.places.places[node.place];
    AnalyzedDevice entry{targets.devices[node.place], std::nullopt};
    entry.device.clockMhz = place.context.clockMhz;
    for (const PlannedLink &link : targets.links)
      if (link.name == place.link)
        entry.link = Link{link, link.name, "", {}};
    if (llvm::none_of(devices, [&](const AnalyzedDevice &other) {
          return other.device.name == entry.device.name &&
                 other.device.clockMhz == entry.device.clockMhz &&
                 other.device.budget == entry.device.budget;
        }))
      devices.push_back(std::move(entry));
  }
  return devices;
}

/// Where the package goes.
std::string pipeline::packageOf(const CompileRequest &request) {
  return request.output.empty() ? modelNameOf(request) + ".rhz"
                                : request.output;
}

std::string NetworkCompilation::target() const { return packageOf(request); }

llvm::Expected<llvm::json::Object> NetworkCompilation::analysis() {
  return analysisOf(network(), plan->model, analyzedOf(targets, *built));
}

llvm::Expected<std::optional<vendor::BoardProject>>
pipeline::boardProjectOf(const Plan &plan, const PlannedNode &node,
                         const Device &device, const Board *board,
                         std::vector<std::string> &notes) {
  if (!board || device.router)
    return std::nullopt;
  vendor::BoardProject project{*board, {}};
  if (project.board.host() != Board::Host::Serial)
    return project;
  if (llvm::Error error = synth::checkShell(plan, node, project.board)) {
    notes.push_back("no files for the board '" + project.board.name +
                    "': " + llvm::toString(std::move(error)));
    return std::nullopt;
  }
  auto rtl = synth::boardRtl(node, project.board);
  if (!rtl)
    return rtl.takeError();
  project.rtl = std::move(*rtl);
  return project;
}

/// What every node's folder holds.
llvm::Error NetworkCompilation::writeNodes(PackageWriter &writer) {
  auto run = built->nodes.begin();
  auto recorded = planOp().getBody().getOps<flow::NodeOp>().begin();
  for (PlannedNode &node : plan->nodes) {
    if (!node.rtlOf.empty())
      continue;
    explore::NodeResult &one = *run++;
    flow::NodeOp op = *recorded++;
    if (llvm::Error error = writeNode(
            writer, node, one, module.lookupSymbol<ModuleOp>(*op.getRtl())))
      return error;
    if (llvm::Error error =
            writeTimeline(writer, node.name, one.design, node.clockMhz))
      return error;
    if (op.getLink()) {
      describeEndpoint(*plan, node);
      if (llvm::Error error = writeNodeTop(
              writer, node, module.lookupSymbol<ModuleOp>(*op.getLink())))
        return error;
    }
    auto board =
        boardProjectOf(*plan, node, targets.devices[one.place],
                       targets.board ? &*targets.board : nullptr, result.notes);
    if (!board)
      return board.takeError();
    if (llvm::Error error = vendor::writeFlows(
            writer, node, targets.devices[one.place], node.clockMhz,
            result.notes, nodeConfiguration(*plan, node),
            *board ? &**board : nullptr))
      return error;
  }
  // Replicas name their owner's files. A role holds its node's address, so each
  // has a project of its own around them.
  run = built->nodes.begin();
  std::vector<std::string> saidBefore;
  for (PlannedNode &node : plan->nodes) {
    if (node.rtlOf.empty()) {
      ++run;
      continue;
    }
    shareFiles(node, plan->owner(node));
    if (llvm::Error error = vendor::writeFlows(
            writer, node, targets.devices[std::prev(run)->place], node.clockMhz,
            saidBefore, nodeConfiguration(*plan, node)))
      return error;
  }
  return llvm::Error::success();
}

/// The conversions at the model's border: of one device at its ports, of
/// several at the client's.
void NetworkCompilation::fillHost() {
  const bool isOne = plan->channels.empty() && plan->nodes.size() == 1;
  plan->host = hostSectionOf(
      module, isOne ? plan->nodes.front().inputs : hostPorts(network(), false),
      isOne ? plan->nodes.front().outputs : hostPorts(network(), true));
}

llvm::Error NetworkCompilation::write(PackageWriter &writer) {
  if (llvm::Error error = writeNodes(writer))
    return error;
  if (llvm::Error error = writer.writeFile("model/network.mlir", printModel()))
    return error;
  fillHost();
  if (auto quantization =
          module->getAttrOfType<StringAttr>(marks::kQuantization))
    if (llvm::Error error = writer.writeFile("model/quantization.json",
                                             quantization.getValue()))
      return error;
  llvm::Expected<GoldenCodes> golden = writeGolden(
      writer, *plan, request.golden ? *request.golden : goldenFrames(module),
      request.samples);
  if (!golden)
    return golden.takeError();
  if (llvm::Error error = writeTestBench(writer, *plan, *golden))
    return error;
  if (llvm::Error error = writeDeployment(writer, *plan, network()))
    return error;
  if (llvm::Error error = writeCpuObject(writer, request.objectCpu))
    return error;
  if (llvm::Error error = writeAnalysis(writer, network(), plan->model,
                                        analyzedOf(targets, *built)))
    return error;
  if (llvm::Error error = writer.writePlan(*plan))
    return error;
  if (llvm::Error error = report::writeInto(writer, result.notes))
    return error;
  return writer.commit();
}

Status NetworkCompilation::package() {
  std::string target = packageOf(request);
  auto writer = PackageWriter::create(target);
  if (!writer)
    return failed(Failure::Kind::Environment, writer.takeError());
  if (llvm::Error error = write(**writer))
    return failed(Failure::Kind::Environment, std::move(error));
  if ((*writer)->removedResults())
    result.notes.push_back("the measurements in '" + target +
                           "/results' were deleted because the package "
                           "changed");
  result.package = target;
  return Done();
}
