// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A network of integers as a file: a graph of tasks, as a package holds it, or
// one function alone; then whole numbers enter and leave it.
#include "Raise.h"
#include "rhizome/Dialect/Flow/Tasks.h"
#include "rhizome/Dialect/Marks/Marks.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace rhizome;
using namespace rhizome::importer;
using llvm::formatv;

/// The function of integers, @network if there are several.
static func::FuncOp findIntegers(ModuleOp module, Refusals &refusals) {
  SmallVector<func::FuncOp> all(module.getOps<func::FuncOp>());
  if (auto network = module.lookupSymbol<func::FuncOp>("network"))
    return network;
  if (all.size() == 1)
    return all[0];
  refusals.push_back({"", "",
                      formatv("the module holds {0} functions, none of them "
                              "@network",
                              all.size()),
                      "name the network's function @network"});
  return {};
}

/// One quantizer of scale 1: whole numbers as reals, and back.
static Value converted(OpBuilder &b, Location loc, Value v, Type to) {
  ElementsAttr scale =
      DenseElementsAttr::get(RankedTensorType::get({1}, b.getF32Type()), 1.0f);
  ElementsAttr zero = DenseElementsAttr::get(
      RankedTensorType::get({1}, b.getI64Type()), int64_t(0));
  if (num::elementInt(to))
    return osa::QuantizeOp::create(b, loc, to, v, scale, zero);
  return osa::DequantizeOp::create(b, loc, to, v, scale, zero);
}

static Type realOf(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  return tensor.clone(Float32Type::get(type.getContext()));
}

/// Whether float32 holds every value at the border.
static bool fitsFloats(TypeRange types, const char *what, Refusals &refusals) {
  for (auto [i, type] : llvm::enumerate(types)) {
    num::IntType integer = num::elementInt(type);
    if (!integer) {
      refusals.push_back(
          {"network", "func.func",
           formatv("its {0} {1} is no tensor of !num.int", what, i),
           "give the host's tasks as a package's model/network.mlir does"});
      return false;
    }
    if (integer.getWidth() > 24) {
      refusals.push_back({"network", "func.func",
                          formatv("its {0} {1} has integers of {2} bits, "
                                  "float32 holds 24",
                                  what, i, integer.getWidth()),
                          "end the network with a requantizer"});
      return false;
    }
  }
  return true;
}

static void setNames(func::FuncOp task, StringRef key,
                     ArrayRef<std::string> arguments,
                     ArrayRef<std::string> results) {
  MLIRContext *context = task.getContext();
  for (auto [i, name] : llvm::enumerate(arguments))
    task.setArgAttr(i, key, StringAttr::get(context, name));
  for (auto [i, name] : llvm::enumerate(results))
    task.setResultAttr(i, key, StringAttr::get(context, name));
}

static void setPlace(func::FuncOp task, flow::Place place) {
  task->setAttr(flow::kPlace, flow::PlaceAttr::get(task.getContext(), place));
}

/// A task of the host that takes and gives these and converts one by one.
static func::FuncOp addConversion(ModuleOp module, StringRef name,
                                  TypeRange from, TypeRange to, Location loc) {
  OpBuilder b = OpBuilder::atBlockEnd(module.getBody());
  auto function =
      func::FuncOp::create(b, loc, name, b.getFunctionType(from, to));
  b.setInsertionPointToEnd(function.addEntryBlock());
  SmallVector<Value> results;
  for (auto [argument, type] : llvm::zip_equal(function.getArguments(), to))
    results.push_back(converted(b, loc, argument, type));
  func::ReturnOp::create(b, loc, results);
  setPlace(function, flow::Place::Host);
  return function;
}

/// Names of a network's arguments or results, each once.
static std::vector<std::string> borderNames(func::FuncOp network, bool result,
                                            llvm::StringSet<> &used) {
  std::vector<std::string> names;
  unsigned n = result ? network.getNumResults() : network.getNumArguments();
  for (unsigned i = 0; i < n; ++i) {
    auto given = result
                     ? network.getResultAttrOfType<StringAttr>(i, marks::kName)
                     : network.getArgAttrOfType<StringAttr>(i, marks::kName);
    std::string name =
        given ? given.str() : (result ? "output" : "input") + std::to_string(i);
    while (!used.insert(name).second)
      name += "_";
    names.push_back(std::move(name));
  }
  return names;
}

/// Whole numbers as reals enter and leave `network` by tasks of the host.
static void addHost(ModuleOp module, func::FuncOp network) {
  Builder b(module.getContext());
  auto reals = [](TypeRange types) {
    return SmallVector<Type>(llvm::map_range(types, realOf));
  };
  TypeRange taken = network.getArgumentTypes(),
            given = network.getResultTypes();
  func::FuncOp first = addConversion(module, "host0", reals(taken), taken,
                                     network.getLoc()),
               last = addConversion(module, "host1", given, reals(given),
                                    network.getLoc());
  setPlace(network, flow::Place::Fpga);
  llvm::StringSet<> used;
  auto inputs = borderNames(network, false, used),
       outputs = borderNames(network, true, used);
  setNames(network, marks::kName, inputs, outputs);
  setNames(first, marks::kName, inputs, {});
  setNames(last, marks::kName, {}, outputs);
  for (auto [i, type] : llvm::enumerate(taken)) {
    num::IntType integer = num::elementInt(type);
    first.setArgAttr(i, marks::kWhole, b.getUnitAttr());
    first.setArgAttr(
        i, marks::kRange,
        b.getDenseI64ArrayAttr({integer.getLo(), integer.getHi()}));
  }
  auto numbered = [](StringRef task, size_t n) {
    std::vector<std::string> names;
    for (size_t i = 0; i < n; ++i)
      names.push_back((task + "." + std::to_string(i)).str());
    return names;
  };
  auto codes = numbered("host0", taken.size()),
       answers = numbered("network", given.size());
  setNames(first, flow::kTensor, inputs, codes);
  setNames(network, flow::kTensor, codes, answers);
  setNames(last, flow::kTensor, answers, outputs);
  auto list = [&](ArrayRef<std::string> names) {
    return b.getStrArrayAttr(
        SmallVector<StringRef>(names.begin(), names.end()));
  };
  module->setAttr(flow::kInputs, list(inputs));
  module->setAttr(flow::kOutputs, list(outputs));
  SmallVector<Attribute> tasks;
  for (func::FuncOp task : {first, network, last})
    tasks.push_back(FlatSymbolRefAttr::get(task.getSymNameAttr()));
  module->setAttr(flow::kTasks, b.getArrayAttr(tasks));
}

/// Only osa, and integers, on the FPGA.
static void checkNetwork(func::FuncOp network, Refusals &refusals) {
  for (Operation &op : network.getBody().front())
    if (!isa_and_nonnull<osa::OsaDialect>(op.getDialect()) &&
        !isa<func::ReturnOp>(op))
      refusals.push_back(
          {placeOf(op.getLoc()), op.getName().getStringRef().str(),
           "a network of integers holds osa operations only", ""});
}

/// Whether each task can be called, and those of the FPGA be built.
static void checkTasks(ModuleOp module, Refusals &refusals) {
  for (FunctionOpInterface task : flow::tasksOf(module)) {
    auto refuse = [&](std::string reason) {
      refusals.push_back({task.getName().str(), "func.func", std::move(reason),
                          "write tasks as a package's model/network.mlir has "
                          "them"});
    };
    auto function = dyn_cast<func::FuncOp>(task.getOperation());
    if (!function || !function.getBody().hasOneBlock()) {
      refuse("the task is not one block of operations");
      continue;
    }
    if (flow::placeOf(task) == flow::Place::Host)
      continue;
    auto isInteger = [](Type type) { return bool(num::elementInt(type)); };
    if (!llvm::all_of(function.getArgumentTypes(), isInteger) ||
        !llvm::all_of(function.getResultTypes(), isInteger))
      refuse("the FPGA's task takes or gives other than tensors of !num.int");
    checkNetwork(function, refusals);
  }
  if (flow::tasksOf(module, flow::Place::Fpga).empty())
    refusals.push_back({"", "", "none of the tasks is the FPGA's",
                        "give one of them flow.place = #flow.place<fpga>"});
}

bool importer::completeIntegers(ModuleOp module, Refusals &refusals) {
  if (flow::hasTasks(module)) {
    checkTasks(module, refusals);
    return refusals.empty();
  }
  if (module->hasAttr(flow::kStates)) {
    refusals.push_back({"", "", "a network of integers keeps nothing by itself",
                        "write it as tasks, as a package's model/network.mlir "
                        "has them, whose states are reals of the host"});
    return false;
  }
  func::FuncOp network = findIntegers(module, refusals);
  if (!network)
    return false;
  if (network.isExternal() || !network.getBody().hasOneBlock()) {
    refusals.push_back({"network", "func.func",
                        "the network is not one block of operations", ""});
    return false;
  }
  network.setSymName("network");
  checkNetwork(network, refusals);
  if (!refusals.empty() ||
      !fitsFloats(network.getArgumentTypes(), "input", refusals) ||
      !fitsFloats(network.getResultTypes(), "output", refusals))
    return false;
  addHost(module, network);
  return true;
}
