// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The phases from a model file to a package: import, integerise, cover,
// explore, build, emit. Each phase either succeeds or ends the compile with
// what the user should read.
#include "HostModel.h"
#include "llvm/Support/Path.h"
#include "rhizome/Import/OnnxImport.h"
#include "rhizome/Pipeline/Build.h"
#include "rhizome/Pipeline/Pipeline.h"
#include "rhizome/Support/Resources.h"
#include "rhizome/Transforms/Integerise.h"
#include <chrono>

using namespace mlir;

namespace rhizome::pipeline {
bool isGoal(llvm::StringRef text) { return bool(explore::parseGoal(text)); }

std::optional<NumberFormat> parseNumberFormat(llvm::StringRef text) {
  unsigned width;
  int fraction;
  if (!text.consume_front("fixed:"))
    return std::nullopt;
  auto [w, f] = text.split(',');
  if (w.getAsInteger(10, width) || f.getAsInteger(10, fraction) || width < 1 ||
      width > 16 || fraction < -32 || fraction > 32)
    return std::nullopt;
  return NumberFormat{width, fraction};
}

namespace {
/// An integer model: @prologue, @network, @epilogue.
struct Model {
  OwningOpRef<ModuleOp> module;
  IntegeriseStats stats;
  func::FuncOp network() {
    return module->lookupSymbol<func::FuncOp>("network");
  }
};

/// Import and integerise; false with `refused` or `error` filled in.
bool loadModel(MLIRContext &context, const ModelRequest &request,
               const Progress &progress, Model &model, Refusals &refused,
               std::string &error) {
  auto say = [&](llvm::StringRef phase) {
    if (progress)
      progress(phase);
  };
  DiagnosticText diagnostics(&context);
  if (request.rawIntegers && !request.numberFormat) {
    error = "--raw-integers needs a number format whose codes the file holds; "
            "remedy: --number-format fixed:W,F";
    return false;
  }
  say("import");
  importer::ImportOptions importOptions;
  importOptions.shapes = request.shapes;
  if (request.rawIntegers)
    importOptions.rawIntegerFraction = request.numberFormat->fraction;
  model.module =
      importer::importOnnx(&context, request.path, importOptions, refused);
  if (!model.module || !refused.empty())
    return false;
  say("integerise");
  IntegeriseOptions options;
  if (request.numberFormat)
    options.fixed = FixedFormat{request.numberFormat->width,
                                request.numberFormat->fraction};
  for (const auto &[name, format] : request.tensorFormats)
    options.tensorFormats[name] = {format.width, format.fraction};
  bool done = succeeded(
      integerise(*model.module, options, refused, model.stats));
  if (!refused.empty())
    return false;
  if (!done)
    error = "internal: " + diagnostics.take();
  return done;
}

std::vector<std::string> notesOf(const IntegeriseStats &stats) {
  std::vector<std::string> notes;
  for (const auto &s : stats.saturations)
    if (s.saturated)
      notes.push_back(std::to_string(s.saturated) + " of " +
                      std::to_string(s.elements) + " elements of '" +
                      s.tensor + "' saturated in the number format");
  return notes;
}

std::string print(Operation *op) {
  std::string text;
  llvm::raw_string_ostream os(text);
  op->print(os, OpPrintingFlags().enableDebugInfo(true));
  os << "\n";
  return text;
}
} // namespace

CompileResult compileModel(const CompileRequest &request) {
  auto start = std::chrono::steady_clock::now();
  CompileResult result;
  auto say = [&](llvm::StringRef phase) {
    if (request.progress)
      request.progress(phase);
  };
  auto fail = [&](llvm::Error error) {
    result.error = llvm::toString(std::move(error));
    return result;
  };

  auto goal = explore::parseGoal(request.goal);
  if (!goal) {
    result.error = "'" + request.goal + "' is not a goal";
    return result;
  }
  auto device = loadDevice(request.device);
  if (!device)
    return fail(device.takeError());
  double clock = request.clockMhz.value_or(device->clockMhz);

  MLIRContext context(MLIRContext::Threading::DISABLED);
  loadDialects(context);
  context.loadDialect<flow::FlowDialect, rtl::RtlDialect>();
  Model model;
  if (!loadModel(context, request.model, request.progress, model,
                 result.refused, result.error))
    return result;
  func::FuncOp network = model.network();
  result.refused = explore::coverage(network);
  if (!result.refused.empty())
    return result;
  result.notes = notesOf(model.stats);

  say("explore");
  DiagnosticText diagnostics(&context);
  gen::DeviceContext target = contextOf(*device, clock);
  auto explored =
      explore::explore(network, *goal, target,
                       {device->name, clock, int64_t(device->streamBits)});
  if (failed(explored)) {
    result.error = diagnostics.take();
    return result;
  }
  Plan plan;
  plan.model = llvm::sys::path::stem(request.model.path).str();
  plan.device = device->name;
  plan.goal = request.goal;
  fillPrediction(plan, *explored, target);
  result.utilisation = plan.utilisation;
  result.bottleneck = plan.bottleneck;
  auto seconds = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() -
                                         start)
        .count();
  };
  if (!explored->meetsGoal) {
    result.limit = explored->limit;
    result.nearest = plan.predicted;
    if (!request.acceptNearest) {
      result.seconds = seconds();
      return result;
    }
  }

  say("build");
  std::string folder =
      request.output.empty() ? plan.model + ".rhz" : request.output;
  auto writer = PackageWriter::create(folder);
  if (!writer)
    return fail(writer.takeError());
  auto node = writeNode(**writer, network, *explored, target.cost);
  if (!node)
    return fail(node.takeError());
  plan.nodes.push_back(std::move(*node));
  if (auto error = (*writer)->writeFile("nodes/node0/design.mlir",
                                        print(explored->design)))
    return fail(std::move(error));
  explored->design.erase();
  auto input = readFile(request.model.path);
  if (!input)
    return fail(input.takeError());
  for (auto &[file, text] :
       std::map<std::string, std::string>{
           {"model/network.mlir", print(*model.module)},
           {"model/input.onnx", *input}})
    if (auto error = (*writer)->writeFile(file, text))
      return fail(std::move(error));
  if (auto error = (*writer)->writePlan(plan))
    return fail(std::move(error));
  if (auto error = (*writer)->commit())
    return fail(std::move(error));
  result.ok = true;
  result.package = folder;
  result.predicted = plan.predicted;
  result.seconds = seconds();
  return result;
}

CoverageResult coverModel(const ModelRequest &request) {
  CoverageResult result;
  MLIRContext context(MLIRContext::Threading::DISABLED);
  loadDialects(context);
  Model model;
  if (!loadModel(context, request, {}, model, result.refused, result.error))
    return result;
  result.host = model.stats.hostNodes;
  result.ok = true;
  for (Operation &op : model.network().getBody().front()) {
    if (isa<osa::ConstantOp, osa::ReshapeOp, func::ReturnOp>(op))
      continue;
    CoverageRow row;
    row.node = osa::nodeName(&op);
    row.op = op.getName().getStringRef().str();
    llvm::raw_string_ostream(row.type) << op.getResult(0).getType();
    bool covered = false;
    for (const auto &generator : gen::allGenerators()) {
      auto reason = generator->coverage(&op);
      covered |= !reason;
      row.generators.push_back({generator->name().str(), reason.value_or("")});
    }
    result.ok &= covered;
    result.rows.push_back(std::move(row));
  }
  return result;
}
} // namespace rhizome::pipeline
