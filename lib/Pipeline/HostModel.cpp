// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "HostModel.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Parser/Parser.h"
#include "rhizome/Dialect/Num/Num.h"
#include "rhizome/Dialect/Osa/Osa.h"
#include "rhizome/Support/Resources.h"
#include "rhizome/Support/Untrusted.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace rhizome;
using namespace rhizome::pipeline;

void pipeline::loadDialects(MLIRContext &context) {
  context.loadDialect<func::FuncDialect, num::NumDialect, osa::OsaDialect,
                      arith::ArithDialect, linalg::LinalgDialect,
                      math::MathDialect, tensor::TensorDialect>();
}

static std::string describe(Location location) {
  std::string name;
  location->walk([&](Location inner) {
    auto named = dyn_cast<NameLoc>(inner);
    if (!named)
      return WalkResult::advance();
    name = named.getName().str();
    return WalkResult::interrupt();
  });
  return name;
}

DiagnosticText::DiagnosticText(MLIRContext *context)
    : handler(context, [this](Diagnostic &diagnostic) {
        if (diagnostic.getSeverity() != DiagnosticSeverity::Error)
          return success();
        std::lock_guard<std::mutex> guard(mutex);
        std::string name = describe(diagnostic.getLocation());
        std::string line =
            (name.empty() ? "" : "'" + name + "': ") + diagnostic.str();
        // Threads that run several frames say the same of each.
        if (!llvm::is_contained(lines, line))
          lines.push_back(std::move(line));
        return success();
      }) {}

std::string DiagnosticText::take() {
  std::lock_guard<std::mutex> guard(mutex);
  return llvm::join(std::exchange(lines, {}), "; ");
}

/// What is wrong with a package's file: no user has written it.
static llvm::Error damaged(llvm::StringRef path, const std::string &what) {
  return llvm::createStringError(
      "'%s' is damaged, or another version of rhizome wrote it: %s; compile "
      "the model again",
      path.str().c_str(), what.c_str());
}

llvm::Expected<std::unique_ptr<HostModel>>
HostModel::read(llvm::StringRef path) {
  auto context = std::make_unique<MLIRContext>();
  loadDialects(*context);
  llvm::Expected<std::string> bytes = readFile(path);
  if (!bytes)
    return bytes.takeError();
  if (llvm::Error error = checkNesting(*bytes))
    return damaged(path, llvm::toString(std::move(error)));
  OwningOpRef<ModuleOp> module;
  std::string problem;
  {
    // The first is the cause; where it stands nobody can mend.
    ScopedDiagnosticHandler handler(context.get(), [&](Diagnostic &diagnostic) {
      if (diagnostic.getSeverity() == DiagnosticSeverity::Error &&
          problem.empty())
        problem = diagnostic.str();
      return success();
    });
    module =
        parseSourceString<ModuleOp>(*bytes, ParserConfig(context.get()), path);
    if (module && failed(osa::verifyResources(*module)))
      module = {};
  }
  if (!module)
    return damaged(path, problem);
  auto model = create(std::move(context), std::move(module));
  if (!model)
    return damaged(path, llvm::toString(model.takeError()));
  return model;
}

/// Whether a function can be called at all: it has a body, and takes and gives
/// tensors of known size, of integers if it is the network.
static bool isCallable(func::FuncOp func, bool integers) {
  auto ok = [&](Type type) {
    return osa::isTensorOf(type, [&](Type element) {
      return isa<num::IntType>(element) ||
             (!integers && element.isIntOrFloat());
    });
  };
  return func && !func.isExternal() &&
         llvm::all_of(func.getArgumentTypes(), ok) &&
         llvm::all_of(func.getResultTypes(), ok);
}

std::vector<HostModel::Value> pipeline::valuesOf(func::FuncOp func,
                                                 bool results) {
  std::vector<HostModel::Value> values;
  TypeRange types = results ? func.getResultTypes() : func.getArgumentTypes();
  for (auto [i, type] : llvm::enumerate(types)) {
    auto name = results
                    ? func.getResultAttrOfType<StringAttr>(i, "rhizome.name")
                    : func.getArgAttrOfType<StringAttr>(i, "rhizome.name");
    values.push_back({name ? name.str() : std::to_string(i),
                      cast<ShapedType>(type).getShape().vec(),
                      isa<FloatType>(cast<ShapedType>(type).getElementType()),
                      !results && func.getArgAttr(i, "rhizome.whole")});
    auto range =
        results ? DenseI64ArrayAttr()
                : func.getArgAttrOfType<DenseI64ArrayAttr>(i, "rhizome.range");
    if (range && range.size() == 2) {
      values.back().lo = range[0];
      values.back().hi = range[1];
    }
  }
  return values;
}

std::vector<BorderPort> pipeline::hostPorts(func::FuncOp func, bool results) {
  std::vector<BorderPort> ports;
  TypeRange types = results ? func.getResultTypes() : func.getArgumentTypes();
  for (auto [i, type] : llvm::enumerate(types)) {
    auto name = results
                    ? func.getResultAttrOfType<StringAttr>(i, "rhizome.name")
                    : func.getArgAttrOfType<StringAttr>(i, "rhizome.name");
    num::IntType element = num::elementInt(type);
    ports.push_back({(results ? "output" : "input") + std::to_string(i),
                     name ? name.str() : (results ? "output" : "input"),
                     cast<ShapedType>(type).getShape().vec(),
                     {element.getIsSigned(), element.getWidth(),
                      element.getLo(), element.getHi()},
                     8});
  }
  return ports;
}

func::FuncOp HostModel::function(llvm::StringRef name) const {
  return module.get().lookupSymbol<func::FuncOp>(name);
}

/// True if a function computes more than the border's conversions and a
/// classifier's end.
static bool isHeavy(func::FuncOp func) {
  return llvm::any_of(func.getOps(), [](Operation &op) {
    return isa<linalg::GenericOp, osa::Conv2dOp, osa::DenseOp, osa::MaxPoolOp,
               osa::AvgPoolOp, osa::UnaryOp>(op);
  });
}

llvm::Expected<std::unique_ptr<HostModel>>
HostModel::create(std::unique_ptr<MLIRContext> context,
                  OwningOpRef<ModuleOp> module) {
  std::unique_ptr<HostModel> model(new HostModel());
  func::FuncOp parts[3];
  const char *names[] = {"prologue", "network", "epilogue"};
  for (int i = 0; i < 3; ++i) {
    parts[i] = module->lookupSymbol<func::FuncOp>(names[i]);
    if (!isCallable(parts[i], i == 1))
      return llvm::createStringError(
          "the model has no function @%s that can be called", names[i]);
  }
  if (parts[0].getNumResults() < parts[1].getNumArguments() ||
      parts[2].getNumArguments() != parts[1].getNumResults() +
                                        parts[0].getNumResults() -
                                        parts[1].getNumArguments())
    return llvm::createStringError(
        "@prologue, @network and @epilogue do not follow each other");
  model->graphInputs = valuesOf(parts[0], false);
  model->graphOutputs = valuesOf(parts[2], true);
  model->inputPorts = hostPorts(parts[1], false);
  model->outputPorts = hostPorts(parts[1], true);
  model->carried = parts[0].getNumResults() - parts[1].getNumArguments();
  Part *to[] = {&model->prologue, &model->theNetwork, &model->epilogue};
  for (int i = 0; i < 3; ++i) {
    to[i]->function = parts[i];
    to[i]->interpreter = std::make_unique<Interpreter>(parts[i]);
    to[i]->isHeavy = i != 1 && isHeavy(parts[i]);
  }
  model->context = std::move(context);
  model->module = std::move(module);
  model->diagnostics = std::make_unique<DiagnosticText>(model->context.get());
  return model;
}

llvm::Expected<std::vector<Tensor>>
HostModel::runCompiled(const Part &part, llvm::ArrayRef<Tensor> in) const {
  std::call_once(part.once, [&] {
    auto compiled = CompiledFunction::compile(part.function);
    if (succeeded(compiled))
      part.compiled = std::move(*compiled);
  });
  if (!part.compiled)
    return llvm::createStringError(
        "@%s cannot be compiled for this CPU: %s",
        mlir::func::FuncOp(part.function).getSymName().str().c_str(),
        diagnostics->take().c_str());
  return part.compiled->run(in);
}

llvm::Expected<std::vector<Tensor>>
HostModel::run(const Part &part, llvm::ArrayRef<Tensor> in) const {
  // So many elements take the interpreter less time than compiling would.
  constexpr int64_t kFew = 1 << 18;
  int64_t elements = 1;
  for (const Tensor &tensor : in)
    elements += tensor.size();
  if (part.isHeavy || (part.elements += elements) > kFew)
    return runCompiled(part, in);
  llvm::FailureOr<std::vector<Tensor>> out = part.interpreter->run(in);
  if (failed(out))
    return llvm::createStringError("the interpreter stops: %s",
                                   diagnostics->take().c_str());
  return std::move(*out);
}

llvm::Expected<HostModel::Prepared>
HostModel::runPrologue(llvm::ArrayRef<Tensor> in) const {
  llvm::Expected<std::vector<Tensor>> out = run(prologue, in);
  if (!out)
    return out.takeError();
  Prepared prepared;
  auto border = out->begin() + int64_t(inputPorts.size());
  prepared.inputs.assign(std::make_move_iterator(out->begin()),
                         std::make_move_iterator(border));
  prepared.carried.assign(std::make_move_iterator(border),
                          std::make_move_iterator(out->end()));
  return prepared;
}
llvm::Expected<std::vector<Tensor>>
HostModel::runNetwork(llvm::ArrayRef<Tensor> in, const ProbeFn &probe) const {
  llvm::FailureOr<std::vector<Tensor>> out =
      theNetwork.interpreter->run(in, probe);
  if (failed(out))
    return llvm::createStringError("the interpreter stops: %s",
                                   diagnostics->take().c_str());
  return std::move(*out);
}
llvm::Expected<std::vector<Tensor>>
HostModel::runCompiledNetwork(llvm::ArrayRef<Tensor> in) const {
  return runCompiled(theNetwork, in);
}
llvm::Expected<std::vector<Tensor>>
HostModel::runEpilogue(llvm::ArrayRef<Tensor> outputs,
                       llvm::ArrayRef<Tensor> carriedOver) const {
  std::vector<Tensor> in(outputs.begin(), outputs.end());
  in.insert(in.end(), carriedOver.begin(), carriedOver.end());
  return run(epilogue, in);
}
