// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "rhizome/Model/HostModel.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Parser/Parser.h"
#include "rhizome/Dialect/Flow/Tasks.h"
#include "rhizome/Dialect/Marks/Marks.h"
#include "rhizome/Dialect/Num/Num.h"
#include "rhizome/Dialect/Osa/Osa.h"
#include "rhizome/Model/Input.h"
#include "rhizome/Model/States.h"
#include "rhizome/Support/LinalgLoops.h"
#include "rhizome/Support/Resources.h"
#include "rhizome/Support/Untrusted.h"
#include "rhizome/Transforms/Tasks.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace rhizome;
using namespace rhizome::model;

void model::loadDialects(MLIRContext &context) {
  context.loadDialect<func::FuncDialect, marks::MarksDialect, num::NumDialect,
                      osa::OsaDialect, flow::FlowDialect, arith::ArithDialect,
                      linalg::LinalgDialect, math::MathDialect, scf::SCFDialect,
                      tensor::TensorDialect>();
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
  // Packages with kernels instead of networks.
  llvm::StringRef folder = llvm::sys::path::parent_path(path);
  if (!llvm::sys::fs::exists(path) &&
      inputKind(folder) == InputKind::KernelFolder)
    return llvm::createStringError(
        "'%s' holds hardware of a kernel, not of a network; 'rhizome simulate' "
        "and 'rhizome synth' take it, and 'rhizome run %s' computes the kernel "
        "on the CPU",
        llvm::sys::path::parent_path(folder).str().c_str(),
        folder.str().c_str());
  llvm::Expected<std::string> bytes = readFile(path);
  if (!bytes)
    return bytes.takeError();
  if (llvm::Error error = checkMlirText(*bytes))
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
    if (module && (failed(osa::verifyResources(*module)) ||
                   failed(host::checkAccesses(*module))))
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

std::vector<HostModel::Value> model::valuesOf(func::FuncOp func, bool results) {
  std::vector<HostModel::Value> values;
  TypeRange types = results ? func.getResultTypes() : func.getArgumentTypes();
  for (auto [i, type] : llvm::enumerate(types)) {
    auto name = results ? func.getResultAttrOfType<StringAttr>(i, marks::kName)
                        : func.getArgAttrOfType<StringAttr>(i, marks::kName);
    if (!results && name && isStateOfMain(func, name.getValue()))
      continue;
    values.push_back({name ? name.str() : std::to_string(i),
                      cast<ShapedType>(type).getShape().vec(),
                      isa<FloatType>(cast<ShapedType>(type).getElementType()),
                      !results && func.getArgAttr(i, marks::kWhole)});
    if (auto kind = results
                        ? func.getResultAttrOfType<StringAttr>(i, marks::kType)
                        : StringAttr())
      values.back().type = storedType(kind.getValue());
    auto range =
        results ? DenseI64ArrayAttr()
                : func.getArgAttrOfType<DenseI64ArrayAttr>(i, marks::kRange);
    if (range && range.size() == 2) {
      values.back().lo = range[0];
      values.back().hi = range[1];
    }
  }
  return values;
}

std::vector<BorderPort> model::hostPorts(func::FuncOp func, bool results) {
  std::vector<BorderPort> ports;
  TypeRange types = results ? func.getResultTypes() : func.getArgumentTypes();
  types = types.take_front(flow::portsOf(func, results));
  for (auto [i, type] : llvm::enumerate(types)) {
    auto name = results ? func.getResultAttrOfType<StringAttr>(i, marks::kName)
                        : func.getArgAttrOfType<StringAttr>(i, marks::kName);
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
    return isa<linalg::GenericOp, scf::ForOp, scf::WhileOp, osa::Conv2dOp,
               osa::DenseOp, osa::MaxPoolOp, osa::AvgPoolOp, osa::UnaryOp>(op);
  });
}

void HostModel::addTask(func::FuncOp function,
                        llvm::StringMap<unsigned> &numbers) {
  auto numberOf = [&](const std::string &name) {
    return numbers.insert({name, unsigned(numbers.size())}).first->second;
  };
  Task task{function.getSymName().str(), function};
  task.onFpga = flow::placeOf(function) == flow::Place::Fpga;
  for (const std::string &name : flow::takenBy(function))
    task.takes.push_back(numberOf(name));
  for (const std::string &name : flow::givenBy(function))
    task.gives.push_back(numberOf(name));
  auto part = std::make_unique<Part>();
  part->function = function;
  part->interpreter = std::make_unique<Interpreter>(function);
  part->isHeavy = !task.onFpga && isHeavy(function);
  task.isLight = !part->isHeavy;
  task.part = parts.size();
  parts.push_back(std::move(part));
  if (task.onFpga) {
    task.firstInput = inputPorts.size();
    task.firstOutput = outputPorts.size();
    llvm::append_range(inputPorts, hostPorts(function, false));
    llvm::append_range(outputPorts, hostPorts(function, true));
    task.inputPorts = inputPorts.size() - task.firstInput;
    task.outputPorts = outputPorts.size() - task.firstOutput;
    ++regions;
  }
  allTasks.push_back(std::move(task));
}

/// The value of a model's input or output, where a task has it.
static HostModel::Value valueOf(ModuleOp module, StringRef tensor,
                                bool result) {
  for (FunctionOpInterface task : flow::tasksOf(module)) {
    auto names = result ? flow::givenBy(task) : flow::takenBy(task);
    auto at = llvm::find(names, tensor);
    if (at != names.end())
      return valuesOf(cast<func::FuncOp>(task.getOperation()),
                      result)[size_t(at - names.begin())];
  }
  return {tensor.str(), {}};
}

/// Whether `network` has the borders of all the FPGA's tasks, side by side.
static bool areMerged(ModuleOp module, func::FuncOp network) {
  SmallVector<Type> takes, gives;
  for (FunctionOpInterface task : flow::tasksOf(module, flow::Place::Fpga)) {
    llvm::append_range(takes, task.getArgumentTypes());
    llvm::append_range(gives, task.getResultTypes());
  }
  return llvm::equal(takes, network.getArgumentTypes()) &&
         llvm::equal(gives, network.getResultTypes());
}

void HostModel::joinTasks() {
  Location loc = module->getLoc();
  joined = ModuleOp::create(loc);
  OpBuilder b = OpBuilder::atBlockEnd(joined->getBody());
  auto frame = func::FuncOp::create(b, loc, "frame", b.getFunctionType({}, {}));
  Block *block = frame.addEntryBlock();
  std::vector<mlir::Value> values(tensors);
  std::vector<Type> types(tensors);
  for (Task &task : allTasks)
    for (auto [tensor, type] :
         llvm::zip_equal(task.takes, task.function.getArgumentTypes()))
      types[tensor] = type;
  std::vector<unsigned> from(inputNumbers), to(outputNumbers);
  for (const State &state : kept) {
    from.push_back(state.tensor);
    to.push_back(state.next);
  }
  for (unsigned tensor : from) {
    if (!types[tensor]) // no task takes it
      types[tensor] = RankedTensorType::get({}, b.getF32Type());
    values[tensor] = block->addArgument(types[tensor], loc);
  }
  auto valuesOf = [&](ArrayRef<unsigned> numbers) {
    return llvm::map_to_vector(numbers, [&](unsigned i) { return values[i]; });
  };
  for (Task &task : allTasks) {
    b.setInsertionPointToEnd(joined->getBody());
    auto function = cast<func::FuncOp>(b.clone(*task.function));
    b.setInsertionPointToEnd(block);
    auto call = func::CallOp::create(b, loc, function, valuesOf(task.takes));
    for (auto [tensor, result] : llvm::zip_equal(task.gives, call.getResults()))
      values[tensor] = result;
  }
  SmallVector<mlir::Value> results = valuesOf(to);
  b.setInsertionPointToEnd(block);
  func::ReturnOp::create(b, loc, results);
  frame.setFunctionType(b.getFunctionType(block->getArgumentTypes(),
                                          ValueRange(results).getTypes()));
  whole.function = frame;
}

llvm::Expected<std::unique_ptr<HostModel>>
HostModel::create(std::unique_ptr<MLIRContext> context,
                  OwningOpRef<ModuleOp> module) {
  std::unique_ptr<HostModel> model(new HostModel());
  if (!flow::hasTasks(*module))
    return llvm::createStringError("the model has no flow.tasks");
  llvm::StringMap<unsigned> numbers;
  for (FunctionOpInterface task : flow::tasksOf(*module)) {
    auto function = dyn_cast<func::FuncOp>(task.getOperation());
    if (!isCallable(function, flow::placeOf(task) == flow::Place::Fpga))
      return llvm::createStringError("the task @%s cannot be called",
                                     task.getName().str().c_str());
    model->addTask(function, numbers);
  }
  for (const std::string &name : flow::inputsOf(*module)) {
    model->inputNumbers.push_back(
        numbers.insert({name, unsigned(numbers.size())}).first->second);
    model->graphInputs.push_back(valueOf(*module, name, false));
  }
  for (const std::string &name : flow::outputsOf(*module)) {
    model->outputNumbers.push_back(numbers.lookup(name));
    model->graphOutputs.push_back(valueOf(*module, name, true));
  }
  for (flow::StateAttr state : flow::statesOf(*module))
    if (numbers.contains(state.getName())) // or no task takes it
      model->kept.push_back(
          {(state.isOnFpga() ? state.getOf() : state.getName()).str(),
           numbers.lookup(state.getName()), numbers.lookup(state.getNext()),
           initialOf(state), state.isOnFpga()});
  model->tensors = numbers.size();
  model->theNetwork = fpgaNetwork(*module);
  // The ports of several regions have numbers of the network.
  if (model->theNetwork) {
    if (!isCallable(model->theNetwork, true) ||
        !areMerged(*module, model->theNetwork))
      return llvm::createStringError(
          "@network does not take and give what the FPGA's tasks do, in order");
    model->inputPorts = hostPorts(model->theNetwork, false);
    model->outputPorts = hostPorts(model->theNetwork, true);
  }
  loadCpuDialects(*context); // frames run, and compile, in several threads
  model->context = std::move(context);
  model->module = std::move(module);
  model->joinTasks();
  model->diagnostics = std::make_unique<DiagnosticText>(model->context.get());
  return model;
}

bool HostModel::isNetworkFree() const {
  if (regions != 1 || !kept.empty())
    return false;
  std::vector<bool> known(tensors);
  bool isBehind = false;
  for (const Task &task : allTasks) {
    if (isBehind)
      for (unsigned tensor : task.takes)
        if (!known[tensor])
          return false;
    isBehind |= task.onFpga;
    for (unsigned tensor : task.gives)
      known[tensor] = isBehind;
  }
  return llvm::all_of(outputNumbers,
                      [&](unsigned tensor) { return known[tensor]; });
}

llvm::Expected<std::vector<Tensor>>
HostModel::runPart(const Part &part, llvm::ArrayRef<Tensor> in) const {
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
HostModel::runCompiled(const Task &task, llvm::ArrayRef<Tensor> in) const {
  return runPart(*parts[task.part], in);
}

llvm::Expected<std::vector<Tensor>>
HostModel::interpret(const Task &task, llvm::ArrayRef<Tensor> in,
                     const ProbeFn &probe) const {
  llvm::FailureOr<std::vector<Tensor>> out =
      parts[task.part]->interpreter->run(in, probe);
  if (failed(out))
    return llvm::createStringError("the interpreter stops: %s",
                                   diagnostics->take().c_str());
  return std::move(*out);
}

llvm::Expected<std::vector<Tensor>>
HostModel::runHost(const Task &task, llvm::ArrayRef<Tensor> in) const {
  // So many elements take the interpreter less time than compiling would.
  constexpr int64_t kFew = 1 << 18;
  const Part &part = *parts[task.part];
  int64_t elements = 1;
  for (const Tensor &tensor : in)
    elements += tensor.size();
  if (part.isHeavy || (part.elements += elements) > kFew)
    return runPart(part, in);
  return interpret(task, in);
}

std::vector<Tensor> HostModel::initialStates() const {
  std::vector<Tensor> initial;
  for (const State &state : kept)
    initial.push_back(state.initial);
  return initial;
}

llvm::Expected<std::vector<Tensor>>
HostModel::runAll(llvm::ArrayRef<Tensor> in,
                  std::vector<Tensor> &states) const {
  std::vector<Tensor> taken(in);
  llvm::append_range(taken, states);
  llvm::Expected<std::vector<Tensor>> given = runPart(whole, taken);
  if (!given)
    return given.takeError();
  auto next = given->begin() + ptrdiff_t(outputNumbers.size());
  std::move(next, given->end(), states.begin());
  given->erase(next, given->end());
  return given;
}
