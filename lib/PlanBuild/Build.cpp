// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "rhizome/PlanBuild/Build.h"
#include "mlir/IR/Verifier.h"
#include "rhizome/Design/Segments.h"
#include "rhizome/Dialect/Flow/Tasks.h"
#include "rhizome/Dialect/Marks/Marks.h"
#include "rhizome/Dialect/Osa/Osa.h"
#include "rhizome/Generator/UnitModel.h"
#include "rhizome/PlanBuild/Cells.h"
#include "rhizome/Rtl/Emit.h"
#include "rhizome/Rtl/FlowToRtl.h"
#include "rhizome/Support/LayersFile.h"
#include "rhizome/Support/Resources.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include <cmath>
#include <set>

using namespace mlir;

namespace rhizome::planbuild {
llvm::Error copyModule(PackageWriter &writer, const std::string &folder,
                       const std::string &library, llvm::StringRef module,
                       std::set<std::string> &seen,
                       std::vector<std::string> &files,
                       std::vector<std::string> &models) {
  llvm::ArrayRef<unit::SourceFile> sources = unit::sourcesOf(module);
  // A unit added by a program is not in the library.
  for (const unit::Kind *kind : unit::all())
    if (sources.empty() && module == kind->module)
      sources = kind->sources;
  if (sources.empty())
    return llvm::createStringError("the library has no module '%s'",
                                   module.str().c_str());
  for (const unit::SourceFile &source : sources) {
    std::string name = source.isModel ? std::string("sim/") + source.name
                                      : std::string(source.name);
    if (!seen.insert(name).second)
      continue;
    // The library has a folder for synthesizable files.
    std::string from = *source.folder   ? std::string(source.folder) + "/"
                       : source.isModel ? library + "/"
                                        : library + "/src/";
    (source.isModel ? models : files).push_back(name);
    if (auto error = writer.copyFile(folder + "/" + name, from + name))
      return error;
  }
  return llvm::Error::success();
}

static BorderPort portOf(const std::string &port, const std::string &name,
                         Type type, unsigned dataWidth) {
  BorderPort p;
  p.port = port;
  p.name = name;
  auto tensor = cast<RankedTensorType>(type);
  p.shape = tensor.getShape().vec();
  num::IntType element = num::elementInt(type);
  p.element = {element.getFormat(), element.getLo(), element.getHi()};
  p.dataWidth = dataWidth;
  return p;
}

llvm::Error checkHardware(Operation *op) {
  std::string text;
  ScopedDiagnosticHandler handler(op->getContext(), [&](Diagnostic &d) {
    text += (text.empty() ? "" : "; ") + d.str();
    return success();
  });
  if (succeeded(verify(op)))
    return llvm::Error::success();
  return llvm::createStringError("internal: the hardware is not valid: %s",
                                 text.c_str());
}

/// Writes the data that the design reads from off-chip memories and enters it
/// in the node; `images` receives the names of images that are such segments.
static llvm::Error writeSegments(PackageWriter &writer, PlannedNode &node,
                                 explore::NodeResult &result,
                                 std::set<std::string> &images) {
  std::string text;
  ScopedDiagnosticHandler handler(result.design.getContext(),
                                  [&](Diagnostic &d) {
                                    text = d.str();
                                    return success();
                                  });
  auto segments = gen::layOut(result.design, result.images);
  if (failed(segments))
    return llvm::createStringError("internal: %s", text.c_str());
  for (const gen::Segment &s : *segments) {
    std::string file = "segments/" + node.name + "/" + s.image;
    node.segments.push_back(
        {file, s.memory, s.bank, s.address, s.bytes, "start", s.bytesPerFrame});
    if (images.insert(s.image).second)
      if (auto error =
              writer.writeFile(file, result.images.at(s.image).bytes()))
        return error;
  }
  for (MemoryPort &port : node.memoryPorts) {
    if (!port.writes())
      continue;
    const gen::Space space =
        gen::spaceOf(result.design, port.memory, port.bank);
    port.spaceAddress = space.address;
    port.spaceBytes = space.bytes;
    // An empty segment at its end: whoever makes buffers for segments makes one
    // that has room for it.
    const std::string file = "segments/" + node.name + "/" + port.memory + "_" +
                             std::to_string(port.bank) + ".space";
    node.segments.push_back({file, port.memory, port.bank,
                             port.spaceAddress + port.spaceBytes, 0, "start",
                             space.bytesPerFrame});
    if (auto error = writer.writeFile(file, ""))
      return error;
  }
  return llvm::Error::success();
}

/// Writes what computes the same on an OpenCL device, if the design is one unit
/// that knows it.
static llvm::Error writeProgram(PackageWriter &writer, PlannedNode &node,
                                explore::NodeResult &result) {
  auto actors =
      llvm::to_vector(result.design.getBody().getOps<flow::ActorOp>());
  if (actors.size() != 3)
    return llvm::Error::success();
  const unit::Instance unit = actors[1].getUnit();
  const gen::UnitModel *model = gen::findUnit(unit.kind().name);
  std::vector<const gen::MemoryImage *> memories;
  for (flow::BankAttr bank : actors[1].getBanks()) {
    auto image = result.images.find(bank.getSegment().str());
    memories.push_back(image == result.images.end() ? nullptr : &image->second);
  }
  auto program =
      model->program(unit, actors[0].getUnit(), actors[2].getUnit(), memories);
  if (!program)
    return llvm::Error::success();
  node.program = {"nodes/" + node.name + "/opencl/" + unit.kind().name + ".cl",
                  program->kernel, program->spaceBytes};
  return writer.writeFile(node.program->file, program->text);
}

llvm::Error layOutSegments(explore::NodeResult &result) {
  std::string text;
  ScopedDiagnosticHandler handler(result.design.getContext(),
                                  [&](Diagnostic &d) {
                                    text = d.str();
                                    return success();
                                  });
  if (failed(gen::layOut(result.design, result.images)))
    return llvm::createStringError("internal: %s", text.c_str());
  return llvm::Error::success();
}

llvm::Error lowerNode(flow::DesignOp design, ModuleOp holder) {
  if (auto error = checkHardware(design))
    return error;
  rtl::ModuleOp top = convertFlowToRtl(design, holder);
  if (auto error = checkHardware(holder))
    return error;
  holder->setAttr(marks::kTop, top.getSymNameAttr());
  return llvm::Error::success();
}

llvm::Error emitFiles(ModuleOp holder) {
  std::vector<std::pair<std::string, std::string>> files;
  if (failed(emitDesign(holder, files)))
    return llvm::createStringError("the RTL could not be written");
  OpBuilder b(holder.getContext());
  b.setInsertionPointToEnd(holder.getBody());
  for (const auto &[name, text] : files)
    rtl::FileOp::create(b, holder.getLoc(), name, text);
  return llvm::Error::success();
}

llvm::Error writeFiles(PackageWriter &writer, const std::string &folder,
                       ModuleOp holder, llvm::StringRef inner,
                       std::set<std::string> &seen, PlannedNode &node) {
  if (auto path = writer.makeFolder(folder); !path)
    return path.takeError();
  auto library = rtlDir();
  if (!library)
    return library.takeError();
  for (auto module : holder.getOps<rtl::ModuleOp>())
    for (auto instance : module.getBody().getOps<rtl::InstanceOp>())
      if (instance.getCallee() != inner &&
          !holder.lookupSymbol(instance.getCallee()))
        if (auto error =
                copyModule(writer, folder, *library, instance.getCallee(), seen,
                           node.rtl, node.simulationModels))
          return error;
  for (auto file : holder.getOps<rtl::FileOp>()) {
    std::string name = file.getName().str();
    if (auto error = writer.writeFile(folder + "/" + name, file.getText()))
      return error;
    node.rtl.push_back(name);
  }
  return llvm::Error::success();
}

llvm::Error writeNode(PackageWriter &writer, PlannedNode &node,
                      explore::NodeResult &result, ModuleOp holder) {
  std::string folder = "nodes/" + node.name + "/rtl";
  std::set<std::string> segments, seen;
  if (auto error = writeSegments(writer, node, result, segments))
    return error;
  if (auto error = writeProgram(writer, node, result))
    return error;
  node.top = holder->getAttrOfType<StringAttr>(marks::kTop).str();
  if (auto error = writeFiles(writer, folder, holder, "", seen, node))
    return error;
  for (const auto &[name, image] : result.images)
    if (segments.count(name))
      continue;
    else if (auto error =
                 isLayersFile(name)
                     ? writer.writeFile("nodes/" + node.name + "/" + name,
                                        image.bytes())
                     : writer.writeFile(folder + "/" + name, image.hex()))
      return error;
  std::string design;
  llvm::raw_string_ostream(design) << result.design << "\n";
  return writer.writeFile("nodes/" + node.name + "/design.mlir", design);
}

llvm::Error writeNode(PackageWriter &writer, PlannedNode &node,
                      explore::NodeResult &result) {
  OwningOpRef<ModuleOp> holder =
      ModuleOp::create(UnknownLoc::get(result.design.getContext()));
  if (auto error = layOutSegments(result))
    return error;
  if (auto error = lowerNode(result.design, *holder))
    return error;
  if (auto error = emitFiles(*holder))
    return error;
  return writeNode(writer, node, result, *holder);
}

/// The memories that a design uses, and its ports to them.
static void describeMemories(PlannedNode &node, flow::DesignOp design) {
  if (auto memories = design.getMemories())
    for (auto m : memories->getAsRange<flow::MemoryAttr>())
      node.memories.push_back(
          {m.getName().str(), m.getBanks(), m.getBytesPerS(), m.getLatencyNs(),
           m.getTurnaroundNs(), m.getRefreshEveryNs(), m.getRefreshNs()});
  for (auto op : design.getBody().getOps<flow::ActorOp>()) {
    unit::Instance unit = op.getUnit();
    for (auto [port, bank] :
         llvm::zip_equal(unit.kind().memoryPorts(), op.getBanks())) {
      std::string name = unit::memoryPortName(bank.getMemory(), bank.getBank());
      auto found = llvm::find_if(node.memoryPorts, [&](const MemoryPort &p) {
        return p.port == name;
      });
      if (found == node.memoryPorts.end())
        found = node.memoryPorts.insert(
            found, {name, bank.getMemory().str(), bank.getBank(),
                    unsigned(unit.bitsOf(*port)), 0});
      const int64_t *params = unit.params.data();
      found->bytesPerFrame += port->traffic.bytes(params);
      // Where it lies is known once what lies before it is.
      if (port->writes())
        found->spaceBytes += int64_t(llvm::alignTo(
            uint64_t(port->traffic.space(params)), unit::kPageBytes));
    }
  }
}

/// A node's own prediction, its budget and its utilization.
static void fillPrediction(PlannedNode &node, const explore::NodeResult &result,
                           const gen::DeviceContext &device) {
  Prediction &p = node.predicted;
  p.intervalCycles = int64_t(std::llround(result.timing.intervalCycles));
  p.latencyCycles = result.timing.latencyCycles;
  p.clockMhz = device.clockMhz;
  // A design without timing has no prediction.
  if (p.intervalCycles > 0)
    p.throughputPerS = device.clockMhz * 1e6 / result.timing.intervalCycles;
  p.latencyUs = double(p.latencyCycles) / device.clockMhz;
  auto round = [](double v) { return int64_t(std::ceil(v)); };
  p.lut = round(result.resources.lut());
  p.ff = round(result.resources.ff());
  p.dsp = round(result.resources.dsp());
  p.bram = std::ceil(2 * result.resources.bram()) / 2;
  p.uram = round(result.resources.uram());
  p.loadCycles = gen::loadCycles(result.design);
  p.lutError = round(result.errors.lut());
  p.ffError = round(result.errors.ff());
  for (size_t k = 0; k < gen::kResourceNames.size(); ++k) {
    double budget = gen::available(device.budget, k);
    if (budget > 0)
      node.utilization[gen::kResourceNames[k]] =
          result.resources.amount[k] / budget;
  }
  node.clockMhz = device.clockMhz;
  node.budget = device.budget;
}

void describeUnit(const gen::Actor &actor, PlannedActor &planned) {
  const unit::Kind &kind = actor.kind();
  planned.kind = kind.name;
  planned.module = actor.module();
  for (auto [key, value] : actor.params.all())
    planned.config[key] = value;
  for (const auto &[key, value] : actor.files)
    planned.config[key] = value;
  if (!kind.isGenerated())
    for (const unit::Parameter &parameter : kind.parameters)
      if (parameter.inHardware && actor.params.has(parameter.name))
        planned.parameters.push_back(parameter.name.str());
  for (const auto &[key, value] : actor.files)
    planned.parameters.push_back(key);
  llvm::sort(planned.parameters);
}

std::vector<std::string> sourcesOf(const gen::Actor &actor) {
  std::vector<std::string> files;
  for (const unit::SourceFile &source : actor.kind().sources)
    if (!source.isModel)
      files.push_back(source.name);
  if (actor.kind().isGenerated())
    files.push_back(actor.module() + ".sv");
  return files;
}

PlannedNode describeNode(const std::string &name, explore::NodeResult &result,
                         const gen::DeviceContext &device) {
  const gen::CostContext &cost = device.cost;
  PlannedNode node;
  node.name = name;
  node.function = result.function.getSymName().str();
  node.device = result.design.getDevice().str();
  fillPrediction(node, result, device);
  double blocks = 0, held = 0;
  for (auto op : result.design.getBody().getOps<flow::ActorOp>()) {
    gen::Actor actor = gen::actorOf(op);
    gen::Structure structure = gen::structureOf(actor, cost, &result.images);
    blocks += structure.exact.bram();
    held += structure.heldBits;
    PlannedActor planned;
    planned.name = actor.name;
    for (StringRef node : op.getNodeNames())
      planned.nodes.push_back(node.str());
    planned.intervalCycles = int64_t(
        llvm::divideCeil(uint64_t(gen::serviceCycles(actor)), op.getBatch()));
    gen::Resources r = gen::costOf(structure, cost);
    // If rounded, they would not add up to the node's prediction.
    for (size_t k = 0; k < gen::kResourceNames.size(); ++k)
      if (r.amount[k] > 0)
        planned.resources[gen::kResourceNames[k]] =
            std::round(1e6 * r.amount[k]) / 1e6;
    describeUnit(actor, planned);
    node.modules[planned.module] = sourcesOf(actor);
    node.actors.push_back(std::move(planned));
  }
  node.blockBits = int64_t(blocks * double(cost.bramBits));
  node.heldBits = int64_t(held);
  describeMemories(node, result.design);

  // A design that was not explored is a network by itself.
  std::vector<explore::Taken> taken = result.taken;
  if (taken.empty()) {
    std::vector<Operation *> ops;
    for (const gen::Selection &selection : result.selections)
      for (Operation *op : selection.region.ops()) {
        const gen::Offer &offer = selection.offer;
        ops.push_back(op);
        taken.push_back({{},
                         0,
                         offer.generator,
                         offer.key,
                         offer.summary,
                         offer.busyCycles,
                         {}});
      }
    for (auto [one, id] : llvm::zip_equal(taken, explore::idsOf(ops)))
      one.id = id;
  }
  for (const explore::Taken &one : taken)
    node.operations.push_back({one.id.node, one.id.op, one.id.nth,
                               one.generator, one.key.text(), one.summary,
                               one.busyCycles, "", one.shared});

  func::FuncOp network = result.function;
  FunctionType type = network.getFunctionType();
  // Bits of the ports of the design, by name.
  llvm::StringMap<unsigned> widths;
  for (auto op : result.design.getBody().getOps<flow::ActorOp>())
    if (auto index = op.getPort()) {
      unit::Instance unit = op.getUnit();
      for (const unit::Port &port : unit.kind().ports)
        if (port.protocol == unit::Protocol::Axis)
          widths[(Twine(port.name) + "_" + Twine(*index)).str()] =
              unsigned(unit.bitsOf(port));
    }
  auto width = [&](const std::string &port) {
    auto found = widths.find(port);
    return found == widths.end() ? 64u : found->second;
  };
  auto ports = [&](ArrayRef<Type> types, bool results) {
    return types.take_front(flow::portsOf(network, results));
  };
  for (auto [i, t] : llvm::enumerate(ports(type.getInputs(), false))) {
    auto name = network.getArgAttrOfType<StringAttr>(unsigned(i), marks::kName);
    std::string port = "s_axis_" + std::to_string(i);
    node.inputs.push_back(
        portOf(port, name ? name.str() : "input", t, width(port)));
  }
  for (auto [i, t] : llvm::enumerate(ports(type.getResults(), true))) {
    auto name =
        network.getResultAttrOfType<StringAttr>(unsigned(i), marks::kName);
    std::string port = "m_axis_" + std::to_string(i);
    node.outputs.push_back(
        portOf(port, name ? name.str() : "output", t, width(port)));
  }
  return node;
}

void addMultipliers(Plan &plan, flow::DesignOp design, int64_t copies) {
  for (const char *kind : {"dsp_paired", "dsp_single", "lut"})
    plan.multipliers.try_emplace(kind, 0);
  for (auto op : design.getBody().getOps<flow::ActorOp>()) {
    gen::Actor actor = gen::actorOf(op);
    gen::Products products = gen::productsOf(actor);
    switch (products.by) {
    case gen::Multiplier::Lut:
      plan.multipliers["lut"] += copies * products.count;
      break;
    case gen::Multiplier::Dsp:
      plan.multipliers["dsp_single"] += copies * products.count;
      break;
    case gen::Multiplier::DspPair:
      plan.multipliers["dsp_paired"] += copies * products.count;
      break;
    }
  }
}
} // namespace rhizome::planbuild
