// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The table of phases and the verifiers at their ends, which also check
// files passed in between phases.
#include "rhizome/Pipeline/Phases.h"
#include "Settings.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/SymbolTable.h"
#include "rhizome/Dialect/Flow/Plan.h"
#include "rhizome/Dialect/Flow/Tasks.h"
#include "rhizome/Dialect/Marks/Marks.h"
#include "rhizome/Dialect/Osa/Osa.h"
#include "rhizome/Dialect/Rtl/Rtl.h"
#include "rhizome/Import/Kernel/Ir.h"
#include "rhizome/KernelCommands/Hardware.h"
#include "rhizome/PlanBuild/Build.h"
#include "rhizome/Support/Names.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace rhizome;
using namespace rhizome::pipeline;
using namespace rhizome::planbuild;
using kernelcommands::holdsKernel;

static constexpr PhaseInfo kPhases[] = {
    {Phase::Import, "import",
     "Read the model's or the kernel's file, on real numbers."},
    {Phase::Normalize, "normalize",
     "Move quantizers and padding to where they cost least; do a kernel's "
     "algebra."},
    {Phase::Quantize, "quantize",
     "Give a float model quantizers, from calibration data or a number "
     "format; give a kernel its number formats."},
    {Phase::Integerize, "integerize",
     "Turn what the FPGA computes into @network, on integers, exactly; "
     "separate a kernel's loop nests."},
    {Phase::Explore, "explore",
     "Choose what builds each operation and which device holds it: flow.plan."},
    {Phase::Build, "build",
     "Build the plan's designs of actors and streams, or a kernel's unit, "
     "with their timing."},
    {Phase::Lower, "lower", "Turn designs into modules of RTL."},
    {Phase::Emit, "emit", "Print the modules as SystemVerilog."},
    {Phase::Package, "package",
     "Write the package: RTL, build files, the plan, the report."},
};

llvm::ArrayRef<PhaseInfo> pipeline::phases() { return kPhases; }

const PhaseInfo &pipeline::infoOf(Phase phase) {
  return kPhases[size_t(phase)];
}

std::optional<Phase> pipeline::parsePhase(llvm::StringRef name) {
  for (const PhaseInfo &info : kPhases)
    if (name == info.name)
      return info.phase;
  return std::nullopt;
}

std::optional<Phase> pipeline::next(Phase phase) {
  if (phase == Phase::Package)
    return std::nullopt;
  return Phase(int(phase) + 1);
}

std::string pipeline::phaseNames() {
  std::string names;
  for (const PhaseInfo &info : kPhases)
    names += (names.empty() ? "" : ", ") + std::string(info.name);
  return names;
}

static func::FuncOp networkOf(ModuleOp module) {
  return module.lookupSymbol<func::FuncOp>("network");
}

/// C8; with `files` C9 too, of one module of RTL.
static LogicalResult verifyRtl(ModuleOp holder, bool files) {
  auto top = holder->getAttrOfType<StringAttr>(marks::kTop);
  if (!top || !holder.lookupSymbol<rtl::ModuleOp>(top.getValue()))
    return holder.emitOpError("C8: does not name its top module");
  llvm::StringSet<> written;
  for (auto file : holder.getOps<rtl::FileOp>())
    written.insert(file.getName());
  if (files)
    for (auto part : holder.getOps<rtl::ModuleOp>())
      if (!written.contains(legalName(part.getSymName()) + ".sv"))
        return part.emitOpError("C9: has no file");
  return success();
}

/// C2, of a kernel.
static LogicalResult verifyKernel(ModuleOp module) {
  if (auto found = kernel::findKernel(module); !found)
    return module.emitError("C2: ") << llvm::toString(found.takeError());
  return success();
}

/// C8; with `files` C9 too, of a kernel: the module of its only node.
static LogicalResult verifyUnit(ModuleOp module, bool files) {
  auto holder = module.lookupSymbol<ModuleOp>(kernelcommands::kUnitRtl);
  if (!holder)
    return module.emitError("C8: has no RTL of the kernel's unit");
  return verifyRtl(holder, files);
}

/// C1.
static LogicalResult verifyFunctions(ModuleOp module) {
  for (Operation &op : *module.getBody())
    if (!isa<func::FuncOp>(op))
      return op.emitOpError("C1: is in a module that has not been explored");
  return success();
}

/// C2.
static LogicalResult verifyModel(ModuleOp module) {
  if (holdsKernel(module))
    return verifyKernel(module);
  auto main = module.lookupSymbol<func::FuncOp>("main");
  if ((!main || main.isExternal()) && !networkOf(module) &&
      !flow::hasTasks(module))
    return module.emitError("C2: has neither @main nor @network");
  return success();
}

/// C3.
static LogicalResult verifyQuantized(ModuleOp module) {
  if (std::optional<std::string> name = waitingFormat(module))
    return module.emitError("C3: still has '")
           << *name << "' in " << marks::kCompile
           << ", which 'quantize' applies";
  return success();
}

/// C4, C5.
static LogicalResult verifyIntegers(ModuleOp module) {
  func::FuncOp network = networkOf(module);
  if (!network || network.isExternal())
    return module.emitError("C4: has no @network");
  if (auto main = module.lookupSymbol("main"))
    return main->emitOpError("C4: exists next to @network");
  WalkResult result = network.walk([](Operation *op) {
    for (Type type : op->getResultTypes())
      if (!osa::isTensorOf(
              type, [](Type element) { return isa<num::IntType>(element); })) {
        op->emitOpError("C5: gives ") << type << " in @network";
        return WalkResult::interrupt();
      }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

/// C6, its first half.
static FailureOr<flow::PlanOp> planIn(ModuleOp module) {
  auto plans = llvm::to_vector(module.getOps<flow::PlanOp>());
  if (plans.size() == 1)
    return plans[0];
  return module.emitError("C6: has ")
         << plans.size() << " operations flow.plan, not one";
}

static LogicalResult verifyPlan(ModuleOp module) {
  FailureOr<flow::PlanOp> plan = planIn(module);
  if (failed(plan))
    return failure();
  for (auto design : module.getOps<flow::DesignOp>())
    return design.emitOpError("C6: exists although the plan is not built yet");
  return success();
}

/// C7.
static LogicalResult verifyBuilt(ModuleOp module) {
  FailureOr<flow::PlanOp> plan = planIn(module);
  if (failed(plan))
    return failure();
  for (auto node : plan->getBody().getOps<flow::NodeOp>())
    if (!node.getFunction() || !node.getDesign() ||
        !module.lookupSymbol<func::FuncOp>(*node.getFunction()) ||
        !module.lookupSymbol<flow::DesignOp>(*node.getDesign()))
      return node.emitOpError("C7: does not name a function and a design of "
                              "the module");
  return success();
}

/// C8; with `files` C9 too.
static LogicalResult verifyLowered(ModuleOp module, bool files) {
  for (auto node : (*planIn(module)).getBody().getOps<flow::NodeOp>())
    for (std::optional<StringRef> name : {node.getRtl(), node.getLink()}) {
      if (!name && node.getRtl())
        continue; // it has no link
      auto holder = name ? module.lookupSymbol<ModuleOp>(*name) : ModuleOp();
      if (!holder)
        return node.emitOpError("C8: does not name its RTL, with a top module");
      if (failed(verifyRtl(holder, files)))
        return failure();
    }
  return success();
}

LogicalResult pipeline::verifyAfter(Phase phase, ModuleOp module) {
  if (phase < Phase::Explore && failed(verifyFunctions(module)))
    return failure();
  if (phase < Phase::Integerize)
    return failure(
        failed(verifyModel(module)) ||
        (phase == Phase::Quantize && failed(verifyQuantized(module))));
  const bool isKernel = holdsKernel(module);
  if (failed(isKernel ? verifyKernel(module) : verifyIntegers(module)))
    return failure();
  if (phase == Phase::Integerize)
    return success();
  if (phase == Phase::Explore)
    return verifyPlan(module);
  if (isKernel)
    return phase == Phase::Build
               ? verifyPlan(module)
               : verifyUnit(module, /*files=*/phase > Phase::Lower);
  if (failed(verifyBuilt(module)))
    return failure();
  if (phase == Phase::Build)
    return success();
  return verifyLowered(module, /*files=*/phase > Phase::Lower);
}
