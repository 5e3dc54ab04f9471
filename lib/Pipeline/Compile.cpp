// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// compile and coverage: from a model file to a package, phase by phase.
#include "Model.h"
#include "rhizome/Dialect/Flow/Flow.h"
#include "rhizome/Dialect/Osa/Osa.h"
#include "rhizome/Dialect/Rtl/Rtl.h"
#include "rhizome/Explore/Explore.h"
#include "rhizome/Generator/Generator.h"
#include "rhizome/Pipeline/Build.h"
#include "rhizome/Target/Board.h"
#include "rhizome/Vendor/Vendor.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"
#include <chrono>

using namespace mlir;
using namespace rhizome;
using namespace rhizome::pipeline;

bool pipeline::isGoal(llvm::StringRef text) {
  return explore::parseGoal(text).has_value();
}

/// The text of a module with the model's three functions, node names included.
static std::string printModel(ModuleOp module) {
  OwningOpRef<ModuleOp> model = ModuleOp::create(module.getLoc());
  for (const char *name : {"prologue", "network", "epilogue"})
    model->push_back(module.lookupSymbol<func::FuncOp>(name)->clone());
  std::string text;
  llvm::raw_string_ostream os(text);
  model->print(os, OpPrintingFlags().enableDebugInfo(true, false));
  os << "\n";
  return text;
}

static std::vector<std::string> notesOf(const IntegeriseStats &stats) {
  std::vector<std::string> notes;
  for (const IntegeriseStats::Saturation &s : stats.saturations)
    if (s.saturated)
      notes.push_back(llvm::formatv("{0} of {1} elements of '{2}' are "
                                    "saturated to the number format",
                                    s.saturated, s.elements, s.tensor));
  return notes;
}

/// Everything behind integerise; errors are texts.
static llvm::Error buildPackage(ModuleOp module, const CompileRequest &request,
                                const Device &device,
                                DiagnosticText &diagnostics,
                                CompileResult &result) {
  auto tell = [&](const char *phase) {
    if (request.progress)
      request.progress(phase);
  };
  auto network = module.lookupSymbol<func::FuncOp>("network");
  result.refused = explore::coverage(network);
  if (!result.refused.empty())
    return llvm::Error::success();
  tell("explore");
  double clockMhz = request.clockMhz.value_or(device.clockMhz);
  llvm::Expected<gen::DeviceContext> known = contextOf(device, clockMhz);
  if (!known)
    return known.takeError();
  const gen::DeviceContext &context = *known;
  gen::Border border{device.name, clockMhz, int64_t(device.streamBits)};
  explore::Goal goal = *explore::parseGoal(request.goal);
  FailureOr<explore::Result> found =
      explore::explore(network, goal, context, border);
  if (failed(found))
    return llvm::createStringError("exploration fails: %s",
                                   diagnostics.take().c_str());
  Plan plan;
  // File names need not be UTF-8; plan.json must be.
  plan.model = llvm::json::fixUTF8(llvm::sys::path::stem(request.model.path));
  plan.device = device.name;
  plan.board = request.board;
  plan.goal = request.goal;
  fillPrediction(plan, *found, context);
  plan.boundPerS = plan.predicted.throughputPerS;
  if (!found->meetsGoal) {
    result.limit = found->limit;
    result.nearest = plan.predicted;
    if (!request.acceptNearest)
      return llvm::Error::success();
  }
  tell("emit");
  std::string target =
      request.output.empty() ? plan.model + ".rhz" : request.output;
  auto writer = PackageWriter::create(target);
  if (!writer)
    return writer.takeError();
  auto node = writeNode(**writer, network, *found, context.cost);
  if (!node) {
    std::string said = diagnostics.take();
    return said.empty() ? node.takeError()
                        : llvm::joinErrors(node.takeError(),
                                           llvm::createStringError(said));
  }
  node->family = device.family;
  node->budget = device.budget;
  node->clockMhz = clockMhz;
  node->streamBits = device.streamBits;
  node->predicted = plan.predicted;
  node->utilisation = plan.utilisation;
  std::string design;
  llvm::raw_string_ostream(design) << found->design << "\n";
  if (llvm::Error error =
          (*writer)->writeFile("nodes/" + node->name + "/design.mlir", design))
    return error;
  tell("vendor flows");
  if (llvm::Error error =
          vendor::writeFlows(**writer, *node, device, clockMhz, result.notes))
    return error;
  plan.nodes.push_back(std::move(*node));
  if (llvm::Error error =
          (*writer)->writeFile("model/network.mlir", printModel(module)))
    return error;
  if (llvm::Error error = (*writer)->writePlan(plan))
    return error;
  if (llvm::Error error = (*writer)->commit())
    return error;
  result.ok = true;
  result.package = target;
  result.predicted = plan.predicted;
  result.utilisation = plan.utilisation;
  result.multipliers = plan.multipliers;
  result.bottleneck = plan.bottleneck;
  return llvm::Error::success();
}

CompileResult pipeline::compileModel(const CompileRequest &request) {
  auto start = std::chrono::steady_clock::now();
  CompileResult result;
  std::optional<Board> board;
  if (!request.board.empty()) {
    llvm::Expected<Board> loaded = loadBoard(request.board);
    if (!loaded) {
      result.error = llvm::toString(loaded.takeError());
      return result;
    }
    board = std::move(*loaded);
  }
  llvm::Expected<Device> device =
      loadDevice(board ? board->device : request.device);
  if (!device) {
    result.error = llvm::toString(device.takeError());
    return result;
  }
  // There is no PLL on a board: the oscillator is the design's clock.
  if (board)
    device->clockMhz = board->clockMhz;
  MLIRContext context;
  context.loadDialect<flow::FlowDialect, rtl::RtlDialect>();
  IntegeriseStats stats;
  OwningOpRef<ModuleOp> module = importModel(
      context, request.model, request.progress, result.refused, stats);
  if (module) {
    result.notes = notesOf(stats);
    DiagnosticText diagnostics(&context);
    if (llvm::Error error =
            buildPackage(*module, request, *device, diagnostics, result))
      result.error = llvm::toString(std::move(error));
  }
  result.seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
          .count();
  return result;
}

CoverageResult pipeline::coverModel(const ModelRequest &request) {
  CoverageResult result;
  MLIRContext context;
  IntegeriseStats stats;
  OwningOpRef<ModuleOp> module =
      importModel(context, request, nullptr, result.refused, stats);
  if (!module)
    return result;
  result.host = stats.hostNodes;
  result.ok = true;
  auto network = module->lookupSymbol<func::FuncOp>("network");
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
  return result;
}
