// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "rhizome/Model/States.h"
#include "mlir/IR/Builders.h"
#include "rhizome/Dialect/Flow/Tasks.h"
#include "rhizome/Dialect/Marks/Marks.h"
#include "rhizome/Dialect/Osa/Osa.h"
#include "rhizome/Support/LinalgLoops.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace rhizome;
using namespace rhizome::model;
using llvm::formatv;

static StringRef nameAt(func::FuncOp main, unsigned i, bool result) {
  auto name = result ? main.getResultAttrOfType<StringAttr>(i, marks::kName)
                     : main.getArgAttrOfType<StringAttr>(i, marks::kName);
  return name ? name.getValue() : StringRef();
}

/// Which argument or result has a name; nothing if none has.
static std::optional<unsigned> find(func::FuncOp main, StringRef name,
                                    bool result) {
  for (unsigned i = 0,
                n = result ? main.getNumResults() : main.getNumArguments();
       i < n; ++i)
    if (nameAt(main, i, result) == name)
      return i;
  return std::nullopt;
}

static std::string names(func::FuncOp main, bool result) {
  std::string text;
  for (unsigned i = 0,
                n = result ? main.getNumResults() : main.getNumArguments();
       i < n; ++i)
    text += (i ? ", '" : "'") + nameAt(main, i, result).str() + "'";
  return text;
}

static std::string shape(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

/// Makes an argument of whole numbers as reals one of integers, for a state
/// whose next value the host computes as integers.
static void takeIntegers(func::FuncOp main, unsigned i) {
  BlockArgument argument = main.getArgument(i);
  OpBuilder b = OpBuilder::atBlockBegin(&main.getBody().front());
  auto reals = cast<RankedTensorType>(argument.getType());
  argument.setType(
      RankedTensorType::get(reals.getShape(), b.getIntegerType(64)));
  SmallVector<OpOperand *> uses;
  for (OpOperand &use : argument.getUses())
    uses.push_back(&use);
  Value value =
      host::Loops(b, main.getLoc())
          .map({argument}, reals.getElementType(),
               [](host::Scalars &s, ValueRange a) { return s.toReal(a[0]); });
  for (OpOperand *use : uses)
    use->set(value);
  main.setFunctionType(b.getFunctionType(
      main.getBody().front().getArgumentTypes(), main.getResultTypes()));
  main.removeArgAttr(i, marks::kWhole);
}

void model::nameStates(ModuleOp module, const ModelRequest &request,
                       Refusals &refusals) {
  if (request.states.empty())
    return;
  auto main = module.lookupSymbol<func::FuncOp>("main");
  auto refuse = [&](std::string node, std::string reason, std::string remedy) {
    refusals.push_back(
        {std::move(node), "--state", std::move(reason), std::move(remedy)});
  };
  if (!main || flow::hasTasks(module))
    return refuse("",
                  "the file holds a network of integers, whose states it "
                  "names itself (flow.states)",
                  "leave --state out");
  if (module->hasAttr(flow::kStates))
    return refuse("", "the file says itself what it keeps (flow.states)",
                  "leave --state out");
  Builder b(module.getContext());
  SmallVector<Attribute> states;
  for (const auto &[input, output] : request.states) {
    auto argument = find(main, input, false), result = find(main, output, true);
    if (!argument) {
      refuse(input, "--state names this input, which the model does not have",
             "its inputs are " + names(main, false));
      continue;
    }
    if (!result) {
      refuse(output, "--state names this output, which the model does not have",
             "its outputs are " + names(main, true));
      continue;
    }
    auto nextType = cast<RankedTensorType>(main.getResultTypes()[*result]);
    if (main.getArgAttr(*argument, marks::kWhole) &&
        nextType.getElementType().isInteger(64))
      takeIntegers(main, *argument);
    auto type = cast<RankedTensorType>(main.getArgumentTypes()[*argument]);
    if (Type next = main.getResultTypes()[*result]; next != type) {
      refuse(input,
             formatv("it is {0}, but its next value '{1}' is {2}", shape(type),
                     output, shape(next)),
             "a state has one shape and type; --shape sets an input's");
      continue;
    }
    auto initial =
        main.getArgAttrOfType<ElementsAttr>(*argument, marks::kInitial);
    if (initial && initial.getType() != type) { // as integers, see above
      SmallVector<int64_t> whole;
      for (float value : osa::floatValues(initial))
        whole.push_back(int64_t(value));
      initial = DenseElementsAttr::get(type, ArrayRef(whole));
    }
    if (!initial)
      initial =
          DenseElementsAttr::get(type, b.getZeroAttr(type.getElementType()));
    main.removeArgAttr(*argument, marks::kInitial);
    states.push_back(
        flow::StateAttr::get(module.getContext(), input, output, initial));
  }
  if (states.size() == main.getNumArguments())
    return refuse("",
                  "every input of the model is a state, so that nothing "
                  "says when a frame begins",
                  "leave one of them out");
  if (refusals.empty())
    module->setAttr(flow::kStates, b.getArrayAttr(states));
}

bool model::isStateOfMain(func::FuncOp func, StringRef name) {
  auto module = dyn_cast_or_null<ModuleOp>(func->getParentOp());
  return module && !flow::hasTasks(module) && func.getSymName() == "main" &&
         llvm::any_of(flow::statesOf(module), [&](flow::StateAttr state) {
           return state.getName() == name;
         });
}

Tensor model::initialOf(flow::StateAttr state) {
  ElementsAttr values = state.getInitial();
  auto type = cast<RankedTensorType>(values.getType());
  if (isa<FloatType>(type.getElementType()))
    return Tensor::ofFloats(type.getShape().vec(), osa::floatValues(values));
  return Tensor::ofInts(type.getShape().vec(), osa::intValues(values));
}

MainStates::MainStates(func::FuncOp main) {
  auto module = main ? main->getParentOfType<ModuleOp>() : ModuleOp();
  if (!module || flow::hasTasks(module))
    return;
  for (flow::StateAttr state : flow::statesOf(module))
    all.push_back({*find(main, state.getName(), false),
                   *find(main, state.getNext(), true), initialOf(state)});
  llvm::sort(
      all, [](const One &a, const One &b) { return a.argument < b.argument; });
}

std::vector<Tensor> MainStates::arguments(ArrayRef<Tensor> inputs) const {
  std::vector<Tensor> arguments(inputs.begin(), inputs.end());
  for (const One &state : all)
    arguments.insert(arguments.begin() + state.argument, state.value);
  return arguments;
}

void MainStates::keep(ArrayRef<Tensor> results) {
  for (One &state : all)
    state.value = results[state.result];
}
