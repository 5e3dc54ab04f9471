// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// analyze: import, integerize, and the roofs of the devices asked for; and
// what a package keeps of it for its report.
#include "Analyze.h"
#include "Compilation.h"
#include "rhizome/Design/Design.h"
#include "rhizome/KernelCommands/Analyze.h"
#include "rhizome/Model/Model.h"
#include "rhizome/Pipeline/Pipeline.h"
#include "rhizome/PlanBuild/DeviceContext.h"
#include "rhizome/Report/Report.h"
#include "rhizome/Support/Failures.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace rhizome;
using namespace rhizome::pipeline;
using namespace rhizome::model;
using namespace rhizome::planbuild;

std::vector<AnalyzedDevice> pipeline::devicesOf(const Cluster &cluster) {
  std::vector<AnalyzedDevice> devices;
  for (const ClusterNode &node : cluster.nodes) {
    auto same = [&](const AnalyzedDevice &other) {
      return other.device.name == node.device.name &&
             other.device.clockMhz == node.device.clockMhz &&
             other.device.budget == node.device.budget &&
             other.link->name == node.link.name;
    };
    if (llvm::none_of(devices, same))
      devices.push_back({node.device, node.link});
  }
  return devices;
}

/// Needs, and what `roofsOn` says of each device.
static llvm::Expected<llvm::json::Object> analysisWith(
    const analysis::Needs &needs, llvm::StringRef model,
    const std::vector<AnalyzedDevice> &devices,
    llvm::function_ref<analysis::DeviceAnalysis(const AnalyzedDevice &,
                                                const gen::DeviceContext *)>
        roofsOn) {
  llvm::json::Object result = analysis::toJson(needs);
  result["schema"] = 1;
  result["model"] = llvm::json::fixUTF8(model);
  llvm::json::Array list;
  for (const AnalyzedDevice &entry : devices) {
    std::optional<gen::DeviceContext> context;
    if (!entry.device.processor) {
      auto known = contextOf(entry.device, entry.device.clockMhz);
      if (!known)
        return known.takeError();
      context = std::move(*known);
    }
    list.push_back(
        analysis::toJson(roofsOn(entry, context ? &*context : nullptr)));
  }
  result["devices"] = std::move(list);
  return result;
}

llvm::Expected<llvm::json::Object>
pipeline::analysisOf(func::FuncOp network, llvm::StringRef model,
                     const std::vector<AnalyzedDevice> &devices) {
  const analysis::Needs needs = analysis::analyze(network);
  return analysisWith(
      needs, model, devices,
      [&](const AnalyzedDevice &entry, const gen::DeviceContext *context) {
        return analysis::roofsOf(network, needs, entry.device, context,
                                 entry.link ? &*entry.link : nullptr);
      });
}

/// Of a kernel: an operation for each nest, which `loops` builds.
static Result<llvm::json::Object>
analyzeKernel(const AnalyzeRequest &request,
              const std::vector<AnalyzedDevice> &devices) {
  MLIRContext context;
  loadDialects(context);
  OwningOpRef<ModuleOp> module = ModuleOp::create(UnknownLoc::get(&context));
  CompileRequest compile;
  compile.model = request.model;
  compile.device = kDefaultDevice;
  compile.isKernel = true;
  compile.kernel = request.kernel;
  auto compilation = Compilation::of(std::move(compile), *module);
  if (Status begun = compilation->begin(); !begun)
    return begun.failure();
  for (Phase phase = Phase::Import; phase <= Phase::Integerize;
       phase = *next(phase))
    if (Status done = compilation->run(phase); !done)
      return done.failure();
  auto kernel = kernelcommands::analyzeKernel(*module);
  if (!kernel)
    return kernel.failure();
  auto found = analysisWith(
      kernel->needs, llvm::sys::path::stem(request.model.path), devices,
      [&](const AnalyzedDevice &entry, const gen::DeviceContext *context) {
        std::optional<analysis::Offers> offers;
        if (context)
          offers = kernel->offersFor(*context);
        return analysis::roofsOf(kernel->needs, entry.device, context,
                                 entry.link ? &*entry.link : nullptr,
                                 offers ? &*offers : nullptr);
      });
  if (!found)
    return Failure(Failure::Kind::Input, llvm::toString(found.takeError()));
  return std::move(*found);
}

static std::string textOf(llvm::json::Object object) {
  return llvm::formatv("{0:2}\n", llvm::json::Value(std::move(object)));
}

llvm::Error
pipeline::writeAnalysis(PackageWriter &writer, func::FuncOp network,
                        llvm::StringRef model,
                        const std::vector<AnalyzedDevice> &devices) {
  auto found = analysisOf(network, model, devices);
  if (!found)
    return found.takeError();
  return writer.writeFile("model/analysis.json", textOf(std::move(*found)));
}

llvm::Error pipeline::writeTimeline(PackageWriter &writer, llvm::StringRef node,
                                    flow::DesignOp design, double clockMhz) {
  constexpr int kFrames = 4;
  llvm::json::Array actors;
  for (const gen::ActorSpans &actor : gen::timelineOf(design, kFrames)) {
    llvm::json::Array spans;
    for (auto [first, last] : actor.frames)
      spans.push_back(llvm::json::Array{first, last});
    actors.push_back(
        llvm::json::Object{{"name", actor.actor},
                           {"node", llvm::json::fixUTF8(actor.node)},
                           {"spans", std::move(spans)}});
  }
  return writer.writeFile(
      ("nodes/" + node + "/timeline.json").str(),
      textOf(llvm::json::Object{{"clock_mhz", clockMhz},
                                {"actors", std::move(actors)}}));
}

/// The devices that a request names.
static llvm::Expected<std::vector<AnalyzedDevice>>
devicesFor(const AnalyzeRequest &request) {
  std::optional<Link> link;
  if (!request.link.empty()) {
    auto loaded = loadLink(request.link);
    if (!loaded)
      return loaded.takeError();
    link = std::move(*loaded);
  }
  std::vector<AnalyzedDevice> devices;
  if (!request.cluster.empty()) {
    auto cluster = loadCluster(request.cluster);
    if (!cluster)
      return cluster.takeError();
    devices = devicesOf(*cluster);
  }
  for (const std::string &name : request.devices) {
    auto device = loadDevice(name);
    if (!device)
      return device.takeError();
    devices.push_back({std::move(*device), link});
  }
  if (request.clockMhz)
    for (AnalyzedDevice &entry : devices)
      entry.device.clockMhz = *request.clockMhz;
  return devices;
}

Result<llvm::json::Object>
pipeline::analyzeModel(const AnalyzeRequest &request) {
  auto devices = devicesFor(request);
  if (!devices)
    return failureOf(devices.takeError(), Failure::Kind::Input);
  if (request.isKernel)
    return analyzeKernel(request, *devices);
  MLIRContext context;
  IntegerizeStats stats;
  Refusals refused;
  OwningOpRef<ModuleOp> module =
      importModel(context, request.model, request.progress, refused, stats);
  if (!module)
    return Failure::refused(std::move(refused));
  auto found = analysisOf(fpgaNetwork(*module),
                          llvm::sys::path::stem(request.model.path), *devices);
  if (!found)
    return Failure(Failure::Kind::Input, llvm::toString(found.takeError()));
  return std::move(*found);
}
