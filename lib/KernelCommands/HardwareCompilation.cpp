// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The phases of a kernel that becomes hardware. What explore has built stays
// here until lower enters its RTL in the module; without it the unit is built
// again from the choice in flow.plan.
#include "Chosen.h"
#include "Load.h"
#include "Steps.h"
#include "rhizome/Deploy/Deploy.h"
#include "rhizome/Dialect/Flow/Plan.h"
#include "rhizome/Dialect/Marks/Marks.h"
#include "rhizome/Dialect/Num/Num.h"
#include "rhizome/Import/Kernel/Ir.h"
#include "rhizome/Import/Mlir/MlirImport.h"
#include "rhizome/Package/NodeChannels.h"
#include "rhizome/Package/Package.h"
#include "rhizome/PlanBuild/Build.h"
#include "rhizome/PlanBuild/Cells.h"
#include "rhizome/PlanBuild/Node.h"
#include "rhizome/PlanBuild/Steer.h"
#include "rhizome/Report/Report.h"
#include "rhizome/Support/Failures.h"
#include "rhizome/Support/Files.h"
#include "rhizome/Support/Resources.h"
#include "rhizome/Vendor/Vendor.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include <set>

using namespace mlir;
using namespace rhizome;
using namespace rhizome::kernelcommands;

HardwareCompilation::HardwareCompilation(HardwareRequest request,
                                         ModuleOp module)
    : request(std::move(request)), module(module) {}

HardwareCompilation::~HardwareCompilation() = default;

func::FuncOp HardwareCompilation::kernel() {
  auto found = kernel::findKernel(module);
  if (found)
    return *found;
  llvm::consumeError(found.takeError());
  return {};
}

static flow::PlanOp planIn(ModuleOp module) {
  auto plans = module.getOps<flow::PlanOp>();
  return plans.empty() ? flow::PlanOp() : *plans.begin();
}

Status HardwareCompilation::begin() {
  if (Status read = readSettings(); !read)
    return read;
  if (holdsKernel(module) && !kernel())
    return Failure(Failure::Kind::Input,
                   request.path + ": the module holds no kernel, or several",
                   "the compile that wrote the file writes it again");
  flow::PlanOp explored = planIn(module);
  if (explored) {
    request.goal = explored.getGoal().str();
  } else if (!request.plan.empty()) {
    auto plan = planbuild::planAt(request.plan);
    if (!plan)
      return failureOf(plan.takeError(), Failure::Kind::Input);
    planned = std::move(*plan);
    request.goal = planned->goal;
    if (!request.target.clockMhz)
      request.target.clockMhz = planned->clockMhz;
    if (planned->kernel)
      request.unit = planned->kernel->choice;
  }
  auto found = planbuild::targetsOf(request.target);
  if (!found)
    return failureOf(found.takeError(), Failure::Kind::Input);
  targets = std::move(*found);
  if (!explored)
    result.notes = targets.notes;
  if (!explored && !request.target.board.empty())
    result.notes.push_back(llvm::formatv(
        "the unit is for {0} at {1} MHz, which the board {2} has; pins of a "
        "board are given to networks only",
        targets.devices[0].name, targets.places.places[0].context.clockMhz,
        request.target.board));
  goal = explore::parseGoal(request.goal);
  if (!goal && !request.goal.empty())
    return Failure(Failure::Kind::Input,
                   request.path + ": '" + request.goal + "' is no goal",
                   "the compile that wrote the file writes it again");
  if (goal)
    targets.places = explore::withinParts(targets.places, *goal);
  return Done();
}

//===----------------------------------------------------------------------===//
// From the file to nests
//===----------------------------------------------------------------------===//

Status HardwareCompilation::import() {
  auto source = readText(request.path);
  if (source)
    request.source = std::move(*source);
  else
    llvm::consumeError(source.takeError()); // load() says it
  auto loaded = load(request.path, request.options, module.getContext());
  if (!loaded)
    return failureOf(loaded.takeError(), Failure::Kind::Input);
  loaded->func->setAttr(marks::kKernel, UnitAttr::get(module.getContext()));
  module->setLoc((*loaded->module)->getLoc());
  module.getBodyRegion().takeBody(loaded->module->getBodyRegion());
  return Done();
}

Status HardwareCompilation::normalize() {
  KernelResult unused;
  if (llvm::Error error = normalizeKernel(kernel(), request.options, unused))
    return failureOf(std::move(error), Failure::Kind::Input);
  return Done();
}

Status HardwareCompilation::quantize() {
  if (llvm::Error error = quantizeKernel(kernel(), request.options))
    return failureOf(std::move(error), Failure::Kind::Input);
  return Done();
}

Status HardwareCompilation::integerize() {
  separateNests(kernel());
  return Done();
}

//===----------------------------------------------------------------------===//
// The unit
//===----------------------------------------------------------------------===//

/// The unit that serves a request best, of a cluster on as few nodes as serve
/// it as well.
static rhizome::Result<std::unique_ptr<ChosenUnit>>
chooseNodes(HardwareRequest request, ModuleOp module,
            const NumberedKernel &kernel, const planbuild::Targets &targets,
            const explore::Goal *goal) {
  auto on = [&](int64_t nodes) {
    request.unit.nodes = nodes;
    return chooseUnit(request, module, kernel, targets, goal);
  };
  if (targets.cluster.empty())
    return on(1);
  using Kind = explore::Goal::Kind;
  const bool isRate =
      !goal || goal->throughput > 0 || goal->kind == Kind::MaxThroughput;
  const int64_t most = isRate ? mostNodes(targets, goal) : 1;
  auto chosen = on(most);
  if (!chosen || !(*chosen)->refusals.empty() || most == 1)
    return chosen;
  const bool isMost = !goal || goal->kind == Kind::MaxThroughput;
  if (isMost) {
    // What a link limits is not worth another node.
    request = (*chosen)->request;
    request.unit = (*chosen)->plan.kernel->choice;
    request.unit.nodes = fewestNodes((*chosen)->plan, targets,
                                     (*chosen)->plan.predicted.throughputPerS);
    return request.unit.nodes == most
               ? std::move(chosen)
               : buildChosen(request, module, targets,
                             goal ? std::optional(*goal) : std::nullopt);
  }
  // With fewer nodes each needs more copies.
  int64_t bad = 0, good = most;
  while (good - bad > 1) {
    const int64_t nodes = (good + bad) / 2;
    auto fewer = on(nodes);
    if (fewer && (*fewer)->refusals.empty()) {
      chosen = std::move(fewer);
      good = nodes;
    } else {
      bad = nodes;
    }
  }
  return chosen;
}

/// Refuses a unit that the device cannot have, or that contradicts itself.
static Status checkUnit(const UnitChoice &unit,
                        const planbuild::Targets &targets) {
  if (unit.units > 1 && !unit.isSystem)
    return Failure(Failure::Kind::Usage,
                   "units: several of them are for systems", "say --system");
  if (auto why = whyNotOnNodes(targets, unit))
    return *why;
  if (unit.isSystem && targets.places.places[0].context.memories.empty())
    return Failure(Failure::Kind::Input,
                   "--system: '" + targets.devices[0].name +
                       "' has no off-chip memory",
                   "choose a device with one: rhizome targets");
  return Done();
}

Status HardwareCompilation::explore() {
  auto numbered = numberedOf(module, request.options.sums);
  if (!numbered)
    return failureOf(numbered.takeError(), Failure::Kind::Input);
  if (Refusals refusals = whyNoHardware(*numbered); !refusals.empty())
    return Failure::refused(std::move(refusals));
  if (Status steered = steer(request, *numbered); !steered)
    return steered;
  if (Status good = checkUnit(request.unit, targets); !good)
    return good;
  if (planned)
    if (auto why = whyNotFor(*planned, request.plan, *numbered,
                             targets.devices[0].name))
      return *why;
  auto chosen = planned ? buildChosen(request, module, targets, goal)
                        : chooseNodes(request, module, *numbered, targets,
                                      goal ? &*goal : nullptr);
  if (!chosen)
    return chosen.failure();
  built = std::move(*chosen);
  recordUnit(*built, module);
  return Done();
}

Status HardwareCompilation::build() {
  if (built)
    return Done();
  auto numbered = numberedOf(module, {});
  if (!numbered)
    return failureOf(numbered.takeError(), Failure::Kind::Input);
  gen::loops::KernelParts parts = gen::loops::partsOf(numbered->integers);
  auto choice =
      unitIn(module, tensorsOf(*numbered, parts.inputs), parts.nests.size());
  if (!choice)
    return choice.failure();
  request.unit = std::move(*choice);
  if (Status good = checkUnit(request.unit, targets); !good)
    return good;
  auto made = buildChosen(request, module, targets, goal);
  if (!made)
    return made.failure();
  built = std::move(*made);
  return Done();
}

Status HardwareCompilation::lower() {
  if (Status made = build(); !made)
    return made;
  if (llvm::Error error = planbuild::checkHardware(*built->holder))
    return failureOf(std::move(error), Failure::Kind::Internal);
  ModuleOp holder = built->holder.release();
  holder.setSymName(kUnitRtl);
  holder->setAttr(marks::kTop, StringAttr::get(module.getContext(), kUnit));
  module.push_back(holder);
  return Done();
}

Status HardwareCompilation::emit() {
  if (llvm::Error error =
          planbuild::emitFiles(module.lookupSymbol<ModuleOp>(kUnitRtl)))
    return failureOf(std::move(error), Failure::Kind::Internal);
  return Done();
}

//===----------------------------------------------------------------------===//
// The package
//===----------------------------------------------------------------------===//

/// What the other nodes of a cluster have of their own: projects for vendors'
/// tools, with their addresses.
static llvm::Error writeReplicas(PackageWriter &writer, const Device &device,
                                 Plan &plan) {
  std::vector<std::string> saidBefore;
  for (PlannedNode &node : llvm::drop_begin(plan.nodes)) {
    planbuild::shareFiles(node, plan.nodes[0]);
    if (auto error =
            vendor::writeFlows(writer, node, device, node.clockMhz, saidBefore,
                               nodeConfiguration(plan, node)))
      return error;
  }
  return plan.channels.empty() ? llvm::Error::success()
                               : deploy::writeManifest(writer, plan);
}

static llvm::Error writeFiles(PackageWriter &writer, ModuleOp module,
                              const ChosenUnit &unit, const Device &device,
                              Plan &plan, const std::string &text,
                              std::vector<std::string> &notes) {
  PlannedNode &node = plan.nodes[0];
  std::set<std::string> seen;
  if (auto error = planbuild::writeFiles(
          writer, "nodes/node0/rtl", module.lookupSymbol<ModuleOp>(kUnitRtl),
          "", seen, node))
    return error;
  node.modules[node.top] = node.rtl;
  if (!plan.channels.empty())
    if (auto error =
            planbuild::writeNodeTop(writer, plan, node, *module.getContext()))
      return error;
  if (auto error = vendor::writeFlows(
          writer, node, device, node.clockMhz, notes,
          nodeConfiguration(plan, node), nullptr,
          plan.kernel->system ? &*plan.kernel->system : nullptr))
    return error;
  if (auto error = writeReplicas(writer, device, plan))
    return error;
  if (auto error = writer.writeFile("nodes/node0/memories.yaml",
                                    memoriesYaml(*plan.kernel)))
    return error;
  // As written, before the algebra: what simulate compares with.
  if (auto error = writer.writeFile(importer::isMlir(text) ? "model/kernel.mlir"
                                                           : "model/kernel.cfd",
                                    text))
    return error;
  if (auto error = writer.writeFile(std::string("model/") + kernelOptionsFile,
                                    kernelOptionsText(unit.request.options)))
    return error;
  // Building the unit has changed its nests for the FPGA.
  auto kernel = numberedOf(module, unit.request.options.sums);
  if (!kernel)
    return kernel.takeError();
  if (auto error = writeKernelHost(writer, *kernel, plan, notes))
    return error;
  const bool hasHost = llvm::sys::fs::exists(writer.dir() + "/host/README.md");
  if (auto error = writer.writeFile("README.md", packagePage(plan, hasHost)))
    return error;
  if (auto error = writer.writePlan(plan))
    return error;
  if (auto error = report::writeInto(writer, notes))
    return error;
  return writer.commit();
}

Status HardwareCompilation::package() {
  if (Status made = build(); !made)
    return made;
  const std::string folder =
      request.output.empty() ? built->plan.model + ".rhz" : request.output;
  auto writer = PackageWriter::create(folder);
  if (!writer)
    return failureOf(writer.takeError(), Failure::Kind::Environment);
  if (auto error = writeFiles(**writer, module, *built, targets.devices[0],
                              built->plan, request.source, result.notes))
    return failureOf(std::move(error), Failure::Kind::Environment);
  result.package = folder;
  if ((*writer)->removedResults())
    result.notes.push_back("the measurements in '" + folder +
                           "/results' were deleted because the package "
                           "changed");
  return Done();
}

HardwareResult HardwareCompilation::take() {
  if (built)
    result.plan = std::move(built->plan);
  return std::move(result);
}
