// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "rhizome/Pipeline/Build.h"
#include "Cells.h"
#include "mlir/IR/Verifier.h"
#include "rhizome/Conversion/FlowToRtl.h"
#include "rhizome/Dialect/Osa/Osa.h"
#include "rhizome/Emit/Emit.h"
#include "rhizome/Support/Resources.h"
#include "rhizome/Target/CostModel.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Regex.h"
#include <cmath>
#include <set>

using namespace mlir;

namespace rhizome {
/// The generators' form of a family's model: terms by number.
static llvm::Expected<gen::CostModel> costModelOf(const FamilyModel &family) {
  gen::CostModel model = gen::CostModel::unit();
  auto position = [](const auto &names, StringRef name) {
    return size_t(llvm::find(names, name) - names.begin());
  };
  auto bar = [](const Residuals &r) { return gen::ErrorBar{r.p90, r.least}; };
  for (const auto &[name, unit] : family.units) {
    size_t u = position(gen::kUnitNames, name);
    if (u == gen::kUnitNames.size())
      return llvm::createStringError("the model of the family '%s' has an "
                                     "unknown unit '%s'; characterise it again",
                                     family.family.c_str(), name.c_str());
    gen::CostModel::Unit &target = model.units[u];
    target.lut.fill(0);
    for (const auto &[term, luts] : unit.lut) {
      size_t t = position(gen::kTermNames, term);
      if (t == gen::kTermNames.size())
        return llvm::createStringError(
            "the model of the family '%s' has an unknown term '%s'; "
            "characterise it again",
            family.family.c_str(), term.c_str());
      target.lut[t] = luts;
    }
    target.lutError = bar(unit.lutResiduals);
    target.ffError = bar(unit.ffResiduals);
  }
  return model;
}

llvm::Expected<gen::CostContext> costContextOf(const Device &device) {
  if (device.processor)
    return llvm::createStringError("'%s' is a CPU, for which no generator "
                                   "builds; choose an FPGA of 'rhizome "
                                   "targets'",
                                   device.name.c_str());
  gen::CostContext cost;
  cost.lutInputs = device.lutInputs;
  cost.dspWide = device.dspABits;
  cost.dspNarrow = device.dspBBits;
  cost.bramBits = device.bramBits;
  cost.bramPort = device.bramMaxWidth;
  auto family = loadFamilyModel(device.family);
  if (!family)
    return family.takeError();
  cost.shiftRegisters = family->mapping.shiftRegisters;
  cost.halfBlocks = family->mapping.halfBlocks;
  cost.lutramBits = family->mapping.lutramBits;
  auto model = costModelOf(*family);
  if (!model)
    return model.takeError();
  cost.model = std::make_shared<const gen::CostModel>(std::move(*model));
  return cost;
}

llvm::Expected<gen::DeviceContext> contextOf(const Device &device,
                                             double clockMhz) {
  gen::DeviceContext context;
  auto cost = costContextOf(device);
  if (!cost)
    return cost.takeError();
  context.cost = std::move(*cost);
  context.budget = device.budget;
  context.clockMhz = clockMhz;
  auto dsp = device.budget.find("dsp");
  context.hasDsp = dsp != device.budget.end() && dsp->second > 0 &&
                   device.dspABits > 0 && device.dspBBits > 0;
  if (!context.hasDsp)
    context.cost.dspWide = context.cost.dspNarrow = 0;
  if (device.dspPairs) {
    context.pairBits = std::min(device.dspPairs->xBits, device.dspPairs->wBits);
    context.packedSigned = device.dspPairs->maxPackedSigned;
    context.packedUnsigned = device.dspPairs->maxPackedUnsigned;
  }
  return context;
}

llvm::Error copyCell(PackageWriter &writer, const std::string &folder,
                     const std::string &library, const std::string &cell,
                     std::set<std::string> &seen,
                     std::vector<std::string> &files,
                     std::vector<std::string> &models) {
  if (!seen.insert(cell).second)
    return llvm::Error::success();
  std::string model = library + "/sim/" + cell + ".sv";
  if (llvm::sys::fs::exists(model)) {
    models.push_back("sim/" + cell + ".sv");
    return writer.copyFile(folder + "/sim/" + cell + ".sv", model);
  }
  std::string path = library + "/src/" + cell + ".sv";
  auto text = readFile(path);
  if (!text)
    return text.takeError();
  // Every name of a file of the library that stands in the text.
  llvm::Regex word("(rhz_[a-z0-9_]+|DSP48E[12])");
  llvm::StringRef rest = *text;
  llvm::SmallVector<llvm::StringRef> match;
  while (word.match(rest, &match)) {
    std::string name = match[1].str();
    rest = rest.substr(size_t(match[1].data() - rest.data()) + name.size());
    bool known = llvm::sys::fs::exists(library + "/src/" + name + ".sv") ||
                 llvm::sys::fs::exists(library + "/sim/" + name + ".sv");
    if (!known || name == cell)
      continue;
    if (auto error =
            copyCell(writer, folder, library, name, seen, files, models))
      return error;
  }
  files.push_back(cell + ".sv");
  return writer.copyFile(folder + "/" + cell + ".sv", path);
}

static BorderPort portOf(const std::string &port, const std::string &name,
                         Type type, unsigned dataWidth) {
  BorderPort p;
  p.port = port;
  p.name = name;
  auto tensor = cast<RankedTensorType>(type);
  p.shape = tensor.getShape().vec();
  num::IntType element = num::elementInt(type);
  p.element = {element.getIsSigned(), element.getWidth(), element.getLo(),
               element.getHi()};
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

llvm::Error writeNode(PackageWriter &writer, PlannedNode &node,
                      explore::NodeResult &result) {
  std::string folder = "nodes/" + node.name + "/rtl";
  auto path = writer.makeFolder(folder);
  if (!path)
    return path.takeError();

  auto holder = ModuleOp::create(UnknownLoc::get(result.design.getContext()));
  OwningOpRef<ModuleOp> owner(holder);
  if (auto error = checkHardware(result.design))
    return error;
  rtl::ModuleOp top = convertFlowToRtl(result.design, holder);
  if (auto error = checkHardware(holder))
    return error;
  node.top = top.getSymName().str();

  auto library = rtlDir();
  if (!library)
    return library.takeError();
  std::set<std::string> seen;
  for (auto module : holder.getBody()->getOps<rtl::ModuleOp>())
    seen.insert(module.getSymName().str());
  for (auto module : holder.getBody()->getOps<rtl::ModuleOp>())
    for (auto instance : module.getBody().getOps<rtl::InstanceOp>())
      if (auto error =
              copyCell(writer, folder, *library, instance.getCallee().str(),
                       seen, node.rtl, node.simulationModels))
        return error;
  std::vector<std::string> tops;
  if (failed(emitDesign(holder, *path, &tops)))
    return llvm::createStringError("the RTL could not be written");
  node.rtl.insert(node.rtl.end(), tops.begin(), tops.end());
  for (const auto &[name, image] : result.images)
    if (auto error = writer.writeFile(folder + "/" + name, image.hex()))
      return error;
  std::string design;
  llvm::raw_string_ostream(design) << result.design << "\n";
  return writer.writeFile("nodes/" + node.name + "/design.mlir", design);
}

/// What a node promises by itself, its budget and its use of it.
static void fillPrediction(PlannedNode &node, const explore::NodeResult &result,
                           const gen::DeviceContext &device) {
  Prediction &p = node.predicted;
  p.intervalCycles = int64_t(std::llround(result.timing.intervalCycles));
  p.latencyCycles = result.timing.latencyCycles;
  p.clockMhz = device.clockMhz;
  // A design that nobody timed promises nothing.
  if (p.intervalCycles > 0)
    p.throughputPerS = device.clockMhz * 1e6 / result.timing.intervalCycles;
  p.latencyUs = double(p.latencyCycles) / device.clockMhz;
  auto round = [](double v) { return int64_t(std::ceil(v)); };
  p.lut = round(result.resources.lut());
  p.ff = round(result.resources.ff());
  p.dsp = round(result.resources.dsp());
  p.bram = round(result.resources.bram());
  p.lutError = round(result.errors.lut());
  p.ffError = round(result.errors.ff());
  for (size_t k = 0; k < result.resources.amount.size(); ++k) {
    double budget = gen::available(device.budget, k);
    if (budget > 0)
      node.utilisation[gen::kResourceNames[k]] =
          result.resources.amount[k] / budget;
  }
  node.clockMhz = device.clockMhz;
  node.budget = device.budget;
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
    planned.kind = actor.cell;
    planned.node = op->getAttrOfType<StringAttr>("rhizome.node").str();
    planned.intervalCycles = gen::serviceCycles(actor);
    gen::Resources r = gen::costOf(actor, cost, &result.images);
    // Block RAMs come in halves, all else in wholes.
    for (size_t k = 0; k < r.amount.size(); ++k) {
      double parts = gen::kResourceNames[k] == StringRef("bram") ? 2 : 1;
      if (r.amount[k] > 0)
        planned.resources[gen::kResourceNames[k]] =
            std::ceil(parts * r.amount[k]) / parts;
    }
    for (const auto &[key, value] : actor.params)
      planned.config[StringRef(key)] = value;
    for (const auto &[key, value] : actor.files)
      planned.config[key] = value;
    node.actors.push_back(std::move(planned));
  }
  node.blockBits = int64_t(blocks * double(cost.bramBits));
  node.heldBits = int64_t(held);

  for (const gen::Selection &selection : result.selections)
    node.operations.push_back({osa::nodeName(selection.op),
                               selection.op->getName().stripDialect().str(),
                               selection.option.generator,
                               selection.option.summary,
                               selection.option.intervalCycles});

  func::FuncOp network = result.function;
  FunctionType type = network.getFunctionType();
  auto width = [&](StringRef kind, int64_t index) {
    for (auto op : result.design.getBody().getOps<flow::ActorOp>())
      if (op.getKind() == kind &&
          op->getAttrOfType<IntegerAttr>("rhizome.port").getInt() == index)
        return unsigned(
            cast<IntegerAttr>(op.getConfig().get("DataWidth")).getInt());
    return 64u;
  };
  for (auto [i, t] : llvm::enumerate(type.getInputs())) {
    auto name =
        network.getArgAttrOfType<StringAttr>(unsigned(i), "rhizome.name");
    node.inputs.push_back(portOf("s_axis_" + std::to_string(i),
                                 name ? name.str() : "input", t,
                                 width("axis_in", int64_t(i))));
  }
  for (auto [i, t] : llvm::enumerate(type.getResults())) {
    auto name =
        network.getResultAttrOfType<StringAttr>(unsigned(i), "rhizome.name");
    node.outputs.push_back(portOf("m_axis_" + std::to_string(i),
                                  name ? name.str() : "output", t,
                                  width("axis_out", int64_t(i))));
  }
  return node;
}

void addMultipliers(Plan &plan, flow::DesignOp design, int64_t copies) {
  for (const char *kind : {"dsp_paired", "dsp_single", "lut"})
    plan.multipliers.try_emplace(kind, 0);
  for (auto op : design.getBody().getOps<flow::ActorOp>()) {
    gen::Actor actor = gen::actorOf(op);
    if (int64_t products = gen::productsOf(actor)) {
      int64_t style = actor.get("Style");
      plan.multipliers[style == 2   ? "dsp_paired"
                       : style == 1 ? "dsp_single"
                                    : "lut"] += copies * products;
    }
  }
}
} // namespace rhizome
