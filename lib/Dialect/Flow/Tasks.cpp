// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The graph of tasks: access to its attributes, and their verifier, whose
// messages begin with the number of the constraint in Flow.td.
#include "rhizome/Dialect/Flow/Tasks.h"
#include "mlir/IR/BuiltinTypes.h"
#include "rhizome/Dialect/Marks/Marks.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace rhizome;
using namespace rhizome::flow;

bool flow::hasTasks(ModuleOp module) {
  return module->hasAttrOfType<ArrayAttr>(kTasks);
}

SmallVector<FunctionOpInterface> flow::tasksOf(ModuleOp module) {
  SmallVector<FunctionOpInterface> tasks;
  if (auto list = module->getAttrOfType<ArrayAttr>(kTasks))
    for (auto name : list.getAsRange<FlatSymbolRefAttr>())
      tasks.push_back(
          cast<FunctionOpInterface>(module.lookupSymbol(name.getValue())));
  return tasks;
}

SmallVector<FunctionOpInterface> flow::tasksOf(ModuleOp module, Place place) {
  SmallVector<FunctionOpInterface> tasks = tasksOf(module);
  llvm::erase_if(tasks, [&](auto task) { return placeOf(task) != place; });
  return tasks;
}

Place flow::placeOf(FunctionOpInterface task) {
  auto place = task->getAttrOfType<PlaceAttr>(kPlace);
  return place ? place.getValue() : Place::Host;
}

/// The name at an argument or result; null if there is none.
static StringAttr nameAt(FunctionOpInterface task, unsigned i, bool result) {
  return result ? task.getResultAttrOfType<StringAttr>(i, kTensor)
                : task.getArgAttrOfType<StringAttr>(i, kTensor);
}

static std::vector<std::string> namesAt(FunctionOpInterface task, bool result) {
  std::vector<std::string> names;
  unsigned n = result ? task.getNumResults() : task.getNumArguments();
  for (unsigned i = 0; i < n; ++i)
    names.push_back(nameAt(task, i, result).str());
  return names;
}

std::vector<std::string> flow::takenBy(FunctionOpInterface task) {
  return namesAt(task, false);
}
std::vector<std::string> flow::givenBy(FunctionOpInterface task) {
  return namesAt(task, true);
}

static std::vector<std::string> namesIn(ModuleOp module, const char *attr) {
  std::vector<std::string> names;
  if (auto list = module->getAttrOfType<ArrayAttr>(attr))
    for (auto name : list.getAsRange<StringAttr>())
      names.push_back(name.str());
  return names;
}

std::vector<std::string> flow::inputsOf(ModuleOp module) {
  return namesIn(module, kInputs);
}
std::vector<std::string> flow::outputsOf(ModuleOp module) {
  return namesIn(module, kOutputs);
}

SmallVector<StateAttr> flow::statesOf(ModuleOp module) {
  SmallVector<StateAttr> states;
  if (auto list = module->getAttrOfType<ArrayAttr>(kStates))
    for (auto state : list.getAsRange<StateAttr>())
      states.push_back(state);
  return states;
}

SmallVector<Kept> flow::keptBy(FunctionOpInterface task) {
  SmallVector<Kept> kept;
  auto module = dyn_cast_or_null<ModuleOp>(task->getParentOp());
  if (!module)
    return kept;
  SmallVector<StateAttr> states = statesOf(module);
  if (llvm::none_of(states, [](StateAttr s) { return s.isOnFpga(); }))
    return kept;
  for (unsigned i = 0; i < task.getNumArguments(); ++i)
    for (StateAttr state : states) {
      StringAttr name = nameAt(task, i, false);
      if (!state.isOnFpga() || !name || name.getValue() != state.getName())
        continue;
      for (unsigned k = 0; k < task.getNumResults(); ++k)
        if (StringAttr next = nameAt(task, k, true);
            next && next.getValue() == state.getNext())
          kept.push_back({i, k, state});
    }
  return kept;
}

unsigned flow::portsOf(FunctionOpInterface task, bool results) {
  SmallVector<Kept> kept = keptBy(task);
  unsigned ports = results ? task.getNumResults() : task.getNumArguments();
  if (kept.empty())
    return ports;
  if (!results)
    return ports - unsigned(kept.size());
  // What somebody else reads has a port.
  auto module = cast<ModuleOp>(task->getParentOp());
  llvm::StringSet<> read;
  for (FunctionOpInterface other : tasksOf(module))
    for (unsigned i = 0; other != task && i < other.getNumArguments(); ++i)
      read.insert(nameAt(other, i, false).getValue());
  for (const std::string &output : outputsOf(module))
    read.insert(output);
  auto isInside = [&](unsigned k) {
    return !read.contains(nameAt(task, k, true).getValue()) &&
           llvm::any_of(kept, [&](const Kept &one) { return one.result == k; });
  };
  while (ports > 0 && isInside(ports - 1))
    --ports;
  return ports;
}

namespace {
/// One check of a module that has `flow.tasks`.
class TaskVerifier {
public:
  explicit TaskVerifier(ModuleOp module) : module(module) {}
  LogicalResult run();

private:
  LogicalResult list();
  LogicalResult names(FunctionOpInterface task);
  LogicalResult order();
  LogicalResult typed(Operation *task, StringRef tensor, Type type);
  LogicalResult complete();

  ModuleOp module;
  SmallVector<FunctionOpInterface> tasks;
  llvm::StringMap<std::pair<Type, Operation *>> types;
  llvm::StringSet<> given, inputs;
};
} // namespace

/// C1: the list itself; C5 where a task occurs twice.
LogicalResult TaskVerifier::list() {
  auto attr = dyn_cast<ArrayAttr>(module->getAttr(kTasks));
  if (!attr)
    return module.emitError() << "C1: flow.tasks is no list of functions";
  llvm::StringSet<> seen;
  for (Attribute entry : attr) {
    auto name = dyn_cast<FlatSymbolRefAttr>(entry);
    auto task = name ? dyn_cast_or_null<FunctionOpInterface>(
                           module.lookupSymbol(name.getValue()))
                     : FunctionOpInterface();
    if (!task || task.isExternal() || !task->getAttrOfType<PlaceAttr>(kPlace))
      return module.emitError()
             << "C1: flow.tasks lists " << entry
             << ", which is no function with a body and a flow.place";
    if (!seen.insert(name.getValue()).second)
      return task.emitError() << "C5: flow.tasks lists this task twice";
    if (failed(names(task)))
      return failure();
    tasks.push_back(task);
  }
  for (const char *key : {kInputs, kOutputs}) {
    auto values = module->getAttrOfType<ArrayAttr>(key);
    if (!values || !llvm::all_of(values, llvm::IsaPred<StringAttr>))
      return module.emitError() << "C1: flow.tasks needs " << key
                                << ", a list of names, beside it";
  }
  return success();
}

LogicalResult TaskVerifier::names(FunctionOpInterface task) {
  for (bool result : {false, true}) {
    unsigned n = result ? task.getNumResults() : task.getNumArguments();
    for (unsigned i = 0; i < n; ++i)
      if (StringAttr name = nameAt(task, i, result); !name || name.empty())
        return task.emitError() << "C1: " << (result ? "result " : "argument ")
                                << i << " of this task has no flow.tensor";
  }
  return success();
}

/// C3: notes or compares a tensor's type.
LogicalResult TaskVerifier::typed(Operation *task, StringRef tensor,
                                  Type type) {
  auto [it, isNew] = types.insert({tensor, {type, task}});
  if (isNew || it->second.first == type)
    return success();
  InFlightDiagnostic diagnostic =
      task->emitError() << "C3: the tensor '" << tensor << "' is " << type
                        << " here and " << it->second.first << " elsewhere";
  diagnostic.attachNote(it->second.second->getLoc()) << "the other place";
  return diagnostic;
}

/// C2 to C4 along the order.
LogicalResult TaskVerifier::order() {
  for (const std::string &name : inputsOf(module))
    if (!inputs.insert(name).second)
      return module.emitError()
             << "C4: the model has two inputs '" << name << "'";
  llvm::StringSet<> states; // their own verifier says more of them
  for (StateAttr state : statesOf(module))
    states.insert(state.getName());
  for (FunctionOpInterface task : tasks) {
    for (auto [name, type] :
         llvm::zip_equal(takenBy(task), task.getArgumentTypes())) {
      if (!inputs.contains(name) && !given.contains(name) &&
          !states.contains(name))
        return task.emitError() << "C2: it takes '" << name
                                << "', which is no input or state of the model "
                                   "and is given by no earlier task";
      if (failed(typed(task, name, type)))
        return failure();
    }
    for (auto [name, type] :
         llvm::zip_equal(givenBy(task), task.getResultTypes())) {
      if (inputs.contains(name) || !given.insert(name).second)
        return task.emitError() << "C4: it gives '" << name
                                << "', which another task or the "
                                   "model's input gives as well";
      if (failed(typed(task, name, type)))
        return failure();
    }
  }
  return success();
}

/// C4 of the outputs, C5.
LogicalResult TaskVerifier::complete() {
  llvm::StringSet<> seen;
  for (const std::string &name : outputsOf(module)) {
    if (!given.contains(name))
      return module.emitError()
             << "C4: no task gives the model's output '" << name << "'";
    if (!seen.insert(name).second)
      return module.emitError()
             << "C4: the model has two outputs '" << name << "'";
  }
  return success();
}

LogicalResult TaskVerifier::run() {
  return success(succeeded(list()) && succeeded(order()) &&
                 succeeded(complete()));
}

/// C5: a function with a place is in its module's list.
static LogicalResult verifyPlaced(Operation *op) {
  auto module = dyn_cast_or_null<ModuleOp>(op->getParentOp());
  auto list = module ? module->getAttrOfType<ArrayAttr>(kTasks) : ArrayAttr();
  auto name = op->getAttrOfType<StringAttr>(SymbolTable::getSymbolAttrName());
  bool isListed =
      list && name &&
      llvm::is_contained(list, Attribute(FlatSymbolRefAttr::get(name)));
  if (isListed)
    return success();
  return op->emitError()
         << "C5: it has a flow.place, but flow.tasks does not list it";
}

//===----------------------------------------------------------------------===//
// States
//===----------------------------------------------------------------------===//

/// The types by which a module knows what is taken and given: by the tasks, or
/// by @main. What is no tensor has no place here.
static void typesOf(ModuleOp module, llvm::StringMap<Type> &taken,
                    llvm::StringMap<Type> &given) {
  auto note = [](llvm::StringMap<Type> &types, StringAttr name, Type type) {
    if (name)
      types.insert({name.getValue(), type});
  };
  SmallVector<FunctionOpInterface> functions = tasksOf(module);
  const StringRef attr =
      functions.empty() ? StringRef(marks::kName) : StringRef(kTensor);
  if (functions.empty())
    if (auto main =
            dyn_cast_or_null<FunctionOpInterface>(module.lookupSymbol("main")))
      functions.push_back(main);
  for (FunctionOpInterface f : functions) {
    for (unsigned i = 0; i < f.getNumArguments(); ++i)
      note(taken, f.getArgAttrOfType<StringAttr>(i, attr),
           f.getArgumentTypes()[i]);
    for (unsigned i = 0; i < f.getNumResults(); ++i)
      note(given, f.getResultAttrOfType<StringAttr>(i, attr),
           f.getResultTypes()[i]);
  }
}

/// C4 of Flow_State: of a state that the FPGA keeps.
static LogicalResult verifyKept(ModuleOp module, StateAttr state) {
  auto fail = [&] {
    return module.emitError()
           << "C4: the state '" << state.getName() << "' of the FPGA ";
  };
  auto regions = tasksOf(module, Place::Fpga);
  if (regions.size() != 1)
    return fail() << "needs one task of the FPGA, not " << regions.size();
  FunctionOpInterface region = regions.front();
  SmallVector<Kept> kept = keptBy(region);
  auto own =
      llvm::find_if(kept, [&](const Kept &one) { return one.state == state; });
  if (own == kept.end())
    return fail() << "is not taken by the task that gives '" << state.getNext()
                  << "'";
  for (FunctionOpInterface other : tasksOf(module))
    if (other != region && llvm::is_contained(takenBy(other), state.getName()))
      return fail() << "is also taken by '" << other.getName() << "'";
  if (own->argument < portsOf(region, false))
    return fail() << "is none of the last arguments of its task";
  auto from =
           dyn_cast<RankedTensorType>(region.getArgumentTypes()[own->argument]),
       to = dyn_cast<RankedTensorType>(region.getResultTypes()[own->result]),
       begin = dyn_cast<RankedTensorType>(state.getInitial().getType());
  num::IntType a = num::elementInt(from), b = num::elementInt(to);
  if (!a || !b || !begin || from.getShape() != to.getShape() ||
      from.getShape() != begin.getShape() ||
      !begin.getElementType().isSignlessInteger(64) ||
      a.getWidth() != b.getWidth() || a.getIsSigned() != b.getIsSigned())
    return fail() << "is " << from << ", its next value " << to
                  << " and its first one " << begin;
  return success();
}

/// C1 to C4 of Flow_State.
static LogicalResult verifyStates(ModuleOp module, Attribute value) {
  auto list = dyn_cast<ArrayAttr>(value);
  if (!list || !llvm::all_of(list, llvm::IsaPred<StateAttr>))
    return module.emitError() << "C1: flow.states is no list of #flow.state";
  llvm::StringMap<Type> taken, given;
  typesOf(module, taken, given);
  const bool isGraph = hasTasks(module);
  const std::vector<std::string> inputs = inputsOf(module);
  llvm::StringSet<> names;
  for (auto state : list.getAsRange<StateAttr>()) {
    StringRef name = state.getName(), next = state.getNext();
    if (name.empty() || !names.insert(name).second)
      return module.emitError() << "C1: there is another state '" << name
                                << "', or it has no name";
    if (isGraph && (given.contains(name) || llvm::is_contained(inputs, name)))
      return module.emitError() << "C2: the state '" << name
                                << "' is an input of the model, or a task "
                                   "gives it";
    if (!isGraph && !taken.contains(name))
      return module.emitError()
             << "C2: @main takes no '" << name << "', which is to be a state";
    if (!given.contains(next))
      return module.emitError() << "C2: nothing gives '" << next
                                << "', the state '" << name << "' of the next "
                                << "frame";
    if (state.isOnFpga()) {
      if (failed(verifyKept(module, state)))
        return failure();
      continue;
    }
    Type type = state.getInitial().getType();
    for (auto &[types, what] :
         {std::pair(&taken, name), std::pair(&given, next)})
      if (auto found = types->find(what);
          found != types->end() && found->second != type)
        return module.emitError()
               << "C3: the state '" << name << "' begins as " << type
               << ", but '" << what << "' is " << found->second;
  }
  return success();
}

LogicalResult FlowDialect::verifyOperationAttribute(Operation *op,
                                                    NamedAttribute attribute) {
  StringRef name = attribute.getName();
  if (name == kPlace) {
    if (!isa<FunctionOpInterface>(op) || !isa<PlaceAttr>(attribute.getValue()))
      return op->emitError()
             << "C1: flow.place is a #flow.place and stands at a function";
    return verifyPlaced(op);
  }
  if (name != kTasks && name != kStates)
    return success();
  auto module = dyn_cast<ModuleOp>(op);
  if (!module)
    return op->emitError() << "C1: " << name << " stands at a module";
  return name == kTasks ? TaskVerifier(module).run()
                        : verifyStates(module, attribute.getValue());
}
