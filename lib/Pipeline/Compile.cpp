// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// compile, explore and coverage: which phases run, on what, and where the
// result goes.
#include "Analyze.h"
#include "Compilation.h"
#include "Settings.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "rhizome/Dialect/Osa/Osa.h"
#include "rhizome/Dialect/Rtl/Rtl.h"
#include "rhizome/Generator/Generator.h"
#include "rhizome/Model/Model.h"
#include "rhizome/Model/Placing.h"
#include "rhizome/Support/Failures.h"
#include "rhizome/Support/LinalgLoops.h"
#include "rhizome/Support/Resources.h"
#include "rhizome/Support/Spelling.h"
#include "rhizome/Support/Untrusted.h"
#include "rhizome/Transforms/Tasks.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <chrono>

using namespace mlir;
using namespace rhizome;
using namespace rhizome::pipeline;
using namespace rhizome::model;
using kernelcommands::holdsKernel;

std::string pipeline::faultOfGoal(llvm::StringRef text) {
  std::string fault;
  explore::parseGoal(text, &fault);
  return fault;
}

/// The module of --compile-from, as its phase leaves it; options that it does
/// not take are refused first.
static Result<OwningOpRef<ModuleOp>> readModule(MLIRContext &context,
                                                const CompileRequest &request) {
  const std::string &path = request.model.path;
  const Phase from = *request.from;
  llvm::Expected<std::string> bytes = readFile(path);
  if (!bytes)
    return Failure(Failure::Kind::Input, llvm::toString(bytes.takeError()));
  if (llvm::Error error = checkMlirText(*bytes))
    return Failure(Failure::Kind::Input,
                   "'" + path + "': " + llvm::toString(std::move(error)));
  DiagnosticText diagnostics(&context);
  auto module =
      parseSourceString<ModuleOp>(*bytes, ParserConfig(&context), path);
  if (module)
    if (Status given = checkGiven(request, holdsKernel(*module)); !given)
      return given.failure();
  if (module && succeeded(osa::verifyResources(*module)) &&
      succeeded(host::checkAccesses(*module)) &&
      succeeded(verifyAfter(from, *module)))
    return module;
  return Failure(Failure::Kind::Input,
                 "'" + path + "' is not what the phase '" + infoOf(from).name +
                     "' leaves: " + diagnostics.take(),
                 "--compile-from takes what --compile-to wrote for the same "
                 "phase");
}

/// Writes a text whole or not at all.
static llvm::Error writeWhole(const std::string &path, llvm::StringRef text) {
  return llvm::writeToOutput(path, [&](llvm::raw_ostream &os) {
    os << text;
    return llvm::Error::success();
  });
}

/// The phases up to `last`; explore writes nothing.
static Result<CompileResult> compileOrExplore(const CompileRequest &request,
                                              Phase last, bool write) {
  auto start = std::chrono::steady_clock::now();
  if (Status given = checkPhases(request); !given)
    return given.failure();
  MLIRContext context;
  loadDialects(context);
  context.loadDialect<flow::FlowDialect, rtl::RtlDialect>();
  OwningOpRef<ModuleOp> module = ModuleOp::create(UnknownLoc::get(&context));
  if (request.from) {
    auto read = readModule(context, request);
    if (!read)
      return read.failure();
    module = std::move(*read);
  }
  auto compilation = Compilation::of(request, *module);
  if (Status begun = compilation->begin(); !begun)
    return begun.failure();
  // In vain is no work done.
  const std::string target = compilation->target();
  if (write && last == Phase::Package && !target.empty())
    if (llvm::Error error = PackageWriter::check(target))
      return Failure(Failure::Kind::Environment,
                     llvm::toString(std::move(error)));
  std::optional<Phase> phase =
      request.from ? next(*request.from) : Phase::Import;
  for (; phase && *phase <= last; phase = next(*phase))
    if (Status done = compilation->run(*phase); !done) {
      Failure failure = std::move(done.failure());
      // What explore tells of the nearest plan too.
      if (auto *nearest = std::any_cast<CompileResult>(&failure.detail);
          nearest && !nearest->plan.nodes.empty() && !write) {
        if (auto found = compilation->analysis())
          nearest->analysis = std::move(*found);
        else
          llvm::consumeError(found.takeError());
      }
      return failure;
    }
  llvm::json::Object analysis;
  if (!write) {
    auto found = compilation->analysis();
    if (!found)
      return Failure(Failure::Kind::Environment,
                     llvm::toString(found.takeError()));
    analysis = std::move(*found);
  }
  std::string text;
  if (write && last != Phase::Package)
    text = compilation->text();
  CompileResult result = compilation->take();
  result.analysis = std::move(analysis);
  if (!text.empty() && !request.output.empty() && request.output != "-") {
    if (llvm::Error error = writeWhole(request.output, text))
      return Failure(Failure::Kind::Environment,
                     "cannot write '" + request.output +
                         "': " + llvm::toString(std::move(error)));
    result.package = request.output;
  } else {
    result.text = std::move(text);
  }
  result.seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
          .count();
  return result;
}

const CompileResult *pipeline::nearestOf(const Failure &failure) {
  return std::any_cast<CompileResult>(&failure.detail);
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

Result<CompileResult> pipeline::compileModel(const CompileRequest &request) {
  return compileOrExplore(request, request.to.value_or(Phase::Package), true);
}

Result<CompileResult> pipeline::exploreModel(const CompileRequest &request) {
  if (request.from && *request.from >= Phase::Explore)
    return Failure(Failure::Kind::Usage,
                   std::string("--compile-from ") + infoOf(*request.from).name +
                       ": the file holds its plan already",
                   "'rhizome compile' with the same --compile-from builds it");
  return compileOrExplore(request, Phase::Explore, false);
}

std::string pipeline::faultOfGenerator(llvm::StringRef name) {
  std::vector<std::string> names;
  for (const auto &generator : gen::allGenerators())
    names.push_back(generator->name().str());
  return llvm::is_contained(names, name)
             ? ""
             : unknownName("generator", name, names);
}

/// A row for each operation of the FPGA.
static void coverNetwork(func::FuncOp network, CoverageResult &result) {
  const std::vector<Operation *> ops = explore::hardwareOf(network);
  const size_t first = result.rows.size();
  std::vector<bool> isBuilt(ops.size(), false);
  for (Operation *op : ops) {
    CoverageRow &row = result.rows.emplace_back();
    row.node = osa::nodeName(op);
    row.op = op->getName().stripDialect().str();
    llvm::raw_string_ostream(row.type) << op->getResult(0).getType();
  }
  for (const auto &generator : gen::allGenerators()) {
    llvm::DenseMap<Operation *, std::string> reasons;
    for (auto &[op, reason] : generator->refusals(ops))
      reasons[op] = std::move(reason);
    // What some devices have only builds nothing by itself.
    const bool isAnywhere = generator->offersAnywhere();
    for (auto [i, op] : llvm::enumerate(ops)) {
      isBuilt[i] = isBuilt[i] || (isAnywhere && !reasons.contains(op));
      result.rows[first + i].generators.emplace_back(generator->name().str(),
                                                     reasons.lookup(op));
    }
  }
  result.isBuildable &= llvm::all_of(isBuilt, [](bool built) { return built; });
}

Result<CoverageResult> pipeline::coverModel(const ModelRequest &request) {
  CoverageResult result;
  Refusals refused;
  MLIRContext context;
  IntegerizeStats stats;
  OwningOpRef<ModuleOp> module =
      importModel(context, request, nullptr, refused, stats,
                  /*hostOnly=*/true);
  if (!module)
    return Failure::refused(std::move(refused));
  func::FuncOp network = fpgaNetwork(*module);
  if (network)
    coverNetwork(network, result);
  result.fpga = int64_t(result.rows.size());
  for (const Refusal &entry : stats.host)
    result.rows.push_back(
        {entry.node, entry.op, "", true, entry.reason, entry.remedy, {}});
  result.host = int64_t(stats.host.size());
  // As a compile ends.
  result.isBuildable &= !isEmpty(*module);
  result.copiesIn = network ? network.getNumArguments() : 0;
  result.copiesOut = network ? network.getNumResults() : 0;
  llvm::Expected<Host> host = loadHost(kDefaultHost);
  if (!host)
    return failureOf(host.takeError(), Failure::Kind::Environment);
  result.tasks = tasksOf(*module, *host);
  if (result.fpga == 0)
    return result;
  llvm::Expected<Device> device = loadDevice(kDefaultDevice);
  llvm::Expected<llvm::json::Object> analysis =
      device ? analysisOf(network, llvm::sys::path::stem(request.path),
                          {{std::move(*device), std::nullopt}})
             : device.takeError();
  if (!analysis)
    return failureOf(analysis.takeError(), Failure::Kind::Environment);
  result.analysis = std::move(*analysis);
  return result;
}
