// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The tasks of host and FPGA, and the tensors between them. Into and out of the
// FPGA only integers pass. A tensor stays on the host once it is there: each
// later task, of the host or the FPGA, takes it from the host by its name.
#include "rhizome/Transforms/Tasks.h"
#include "Integerizer.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "rhizome/Dialect/Marks/Marks.h"
#include "rhizome/Transforms/Placement.h"

using namespace mlir;
using namespace rhizome;

//===----------------------------------------------------------------------===//
// Tensors and tasks in the making
//===----------------------------------------------------------------------===//

unsigned Integerizer::addTensor(Type type, std::string name) {
  tensors.push_back({type, std::move(name)});
  return unsigned(tensors.size() - 1);
}

Integerizer::Task &Integerizer::taskAt(Tasks &tasks, unsigned i) {
  if (tasks.size() <= i)
    tasks.resize(i + 1);
  if (tasks[i])
    return *tasks[i];
  const bool isRegion = &tasks == &regions;
  tasks[i] = std::make_unique<Task>();
  MLIRContext *context = builder.getContext();
  OpBuilder b(context);
  b.setInsertionPointToEnd(module.getBody());
  func::FuncOp f = func::FuncOp::create(
      b, model.getLoc(), (isRegion ? "region" : "host") + std::to_string(i),
      FunctionType::get(context, {}, {}));
  f->setAttr(flow::kPlace,
             flow::PlaceAttr::get(context, isRegion ? flow::Place::Fpga
                                                    : flow::Place::Host));
  Block *body = f.addEntryBlock();
  if (isRegion)
    regionAtBlock[body] = i;
  tasks[i]->function = f;
  return *tasks[i];
}

OpBuilder Integerizer::endOf(Task &task) {
  OpBuilder b(builder.getContext());
  b.setInsertionPointToEnd(&task.function.front());
  return b;
}

unsigned Integerizer::regionOf(const LazyTensor &t) const {
  Value codes = t.physical ? t.physical : t.sum->lhs;
  return regionAtBlock.lookup(codes.getParentBlock());
}

Value Integerizer::take(Task &task, unsigned tensor, Location loc) {
  Value &argument = task.arguments[tensor];
  if (!argument) {
    argument = task.function.front().addArgument(tensors[tensor].type, loc);
    task.taken.push_back(tensor);
  }
  return argument;
}

void Integerizer::give(Task &task, unsigned tensor, Value v) {
  task.given.push_back(tensor);
  task.results.push_back(v);
}

unsigned Integerizer::regionTensor(Value physical) {
  auto found = regionTensors.find(physical);
  if (found != regionTensors.end())
    return found->second;
  Task &region = *regions[regionAtBlock.lookup(physical.getParentBlock())];
  // What the region was given the host has already.
  if (auto argument = dyn_cast<BlockArgument>(physical))
    return region.taken[argument.getArgNumber()];
  unsigned tensor = addTensor(physical.getType());
  give(region, tensor, physical);
  regionTensors[physical] = tensor;
  return tensor;
}

unsigned Integerizer::hostTensor(Value v) {
  if (auto argument = dyn_cast<BlockArgument>(v))
    return inputs[argument.getArgNumber()];
  auto found = hostTensors.find(v);
  if (found != hostTensors.end())
    return found->second;
  unsigned stage = stages.lookup(v), tensor = addTensor(v.getType());
  Value value = hostValue(v, stage);
  give(hostAt(stage), tensor, value);
  hostTensors[v] = tensor;
  return tensor;
}

void Integerizer::addInputs() {
  Task &first = hostAt(0);
  for (auto [i, arg] : llvm::enumerate(model.getArguments())) {
    auto name = model.getArgAttrOfType<StringAttr>(i, marks::kName);
    unsigned tensor = addTensor(
        arg.getType(), name ? name.str() : "input" + std::to_string(i));
    inputs.push_back(tensor);
    first.map.map(arg, take(first, tensor, arg.getLoc()));
    stages[arg] = 0;
    dependsOnInput.insert(arg);
  }
}

//===----------------------------------------------------------------------===//
// Into the FPGA
//===----------------------------------------------------------------------===//

/// The transpose that a layer of the network applies to `v` first, behind
/// operations that leave every element in its place.
static std::optional<SmallVector<int64_t>> firstTranspose(Value v) {
  SmallVector<Value> work{v};
  DenseSet<Value> seen;
  while (!work.empty()) {
    Value next = work.pop_back_val();
    if (!seen.insert(next).second)
      continue;
    for (Operation *user : next.getUsers()) {
      if (auto t = dyn_cast<osa::TransposeOp>(user))
        return SmallVector<int64_t>(t.getPermutation());
      if (isa<osa::DequantizeOp, osa::QuantizeOp, osa::ReluOp, osa::ClipOp,
              osa::LeakyReluOp, osa::AddOp, osa::SubOp, osa::MulOp, osa::DivOp>(
              user) &&
          user->getResult(0).getType() != Type() &&
          cast<RankedTensorType>(user->getResult(0).getType()).getShape() ==
              cast<RankedTensorType>(v.getType()).getShape())
        work.push_back(user->getResult(0));
    }
  }
  return std::nullopt;
}

void Integerizer::visitEntry(Operation *op) {
  Value result = op->getResult(0);
  auto type = cast<RankedTensorType>(result.getType());
  unsigned stage = stageFor(op);
  Task &region = regionAt(stage);
  auto t = std::make_shared<LazyTensor>();
  auto permutation = firstTranspose(result);
  if (permutation && permutation->size() == size_t(type.getRank())) {
    SmallVector<int64_t> shape;
    for (int64_t axis : *permutation)
      shape.push_back(type.getShape()[axis]);
    type = RankedTensorType::get(shape, type.getElementType());
  } else {
    permutation.reset();
  }
  Entry entry{addTensor(type), permutation};
  t->physical = take(region, entry.tensor, op->getLoc());
  t->shape = t->physicalShape = SmallVector<int64_t>(type.getShape());
  num::IntType element = num::elementInt(type);
  t->f = {PiecewiseLinear::identity(element.getLo(), element.getHi())};
  if (permutation) {
    SmallVector<int64_t> inverse(permutation->size());
    for (auto [i, axis] : llvm::enumerate(*permutation))
      inverse[axis] = i;
    t->transpose(inverse);
  }
  entries.insert({op, std::move(entry)});
  setResult(op, t);
}

/// The host's end of an entry.
void Integerizer::enter(Operation *op, const Entry &entry) {
  unsigned stage = regionOf(*held.lookup(op->getResult(0)));
  Value codes = hostClone(op, stage);
  Task &task = hostAt(stage);
  if (entry.permutation) {
    OpBuilder b = endOf(task);
    codes = osa::TransposeOp::create(
        b, op->getLoc(), tensors[entry.tensor].type, codes, *entry.permutation);
  }
  give(task, entry.tensor, codes);
}

//===----------------------------------------------------------------------===//
// On the host
//===----------------------------------------------------------------------===//

/// Enters an operation of the host that computes, once.
void Integerizer::noteHost(Operation *op) {
  if (isa<osa::ConstantOp, osa::QuantizeOp, osa::DequantizeOp, osa::ReshapeOp,
          osa::TransposeOp, tensor::EmptyOp, arith::ConstantOp, linalg::FillOp,
          tensor::CollapseShapeOp, tensor::ExpandShapeOp>(op))
    return;
  auto found = reasons.find(op);
  Refusal entry = found != reasons.end() ? found->second : whyHost(op);
  auto [known, isNew] = hostEntries.try_emplace(entry.node, stats.host.size());
  if (isNew)
    stats.host.push_back(entry);
  else if (Refusal &before = stats.host[known->second]; before.reason.empty())
    before = entry;
}

Value Integerizer::hostLayout(Location loc, const LazyTensor &t, Value v,
                              unsigned stage) {
  OpBuilder b = endOf(hostAt(stage));
  Type element = cast<RankedTensorType>(v.getType()).getElementType();
  for (const LayoutStep &step : t.layout) {
    auto type = RankedTensorType::get(step.shape, element);
    if (step.permutation.empty())
      v = osa::ReshapeOp::create(b, loc, type, v);
    else
      v = osa::TransposeOp::create(b, loc, type, v, step.permutation);
  }
  return v;
}

/// The levels of `t`, which are the FPGA's integers unless a quantizer passed
/// them through.
Value Integerizer::hostInteger(Value v, const LazyTensor &t, unsigned stage) {
  Location loc = v.getLoc();
  bool same = llvm::all_of(t.f, [](const PiecewiseLinear &f) {
    auto &piece = f.pieces()[0];
    return f.isAffine() && piece.slope == Real(1) && piece.offset.sign() == 0;
  });
  if (same) {
    unsigned tensor = regionTensor(t.physical);
    return hostLayout(loc, t, take(hostAt(stage), tensor, loc), stage);
  }
  Value levels = hostReal(loc, t, stage);
  OpBuilder b = endOf(hostAt(stage));
  auto one =
      DenseElementsAttr::get(RankedTensorType::get({1}, b.getF32Type()), 1.0f);
  auto zero = DenseElementsAttr::get(RankedTensorType::get({1}, b.getI64Type()),
                                     int64_t(0));
  return osa::QuantizeOp::create(b, loc, v.getType(), levels, one, zero);
}

Value Integerizer::hostReal(Location loc, const LazyTensor &t, unsigned stage) {
  unsigned tensor = regionTensor(t.physical);
  Value x = take(hostAt(stage), tensor, t.physical.getLoc());
  OpBuilder b = endOf(hostAt(stage));
  auto shape = cast<RankedTensorType>(x.getType()).getShape();
  auto type = RankedTensorType::get(shape, b.getF32Type());
  std::vector<float> slopes, offsets;
  for (const PiecewiseLinear &f : t.f) {
    slopes.push_back(float(f.pieces()[0].slope.toDouble()));
    offsets.push_back(float(f.pieces()[0].offset.toDouble()));
  }
  auto floats = [&](std::vector<float> v) {
    if (llvm::all_equal(v))
      v.resize(1);
    auto vector = RankedTensorType::get({int64_t(v.size())}, b.getF32Type());
    return DenseElementsAttr::get(vector, ArrayRef<float>(v));
  };
  auto constantOf = [&](const std::vector<float> &v) -> Value {
    DenseElementsAttr attr = floats(v);
    return osa::ConstantOp::create(b, loc, attr.getType(), attr);
  };
  // A positive scale is a dequantizer's; others multiply.
  bool plain = llvm::all_of(slopes, [](float s) { return s > 0; });
  DenseElementsAttr scale = floats(plain ? slopes : std::vector<float>{1.f});
  auto zeroType =
      RankedTensorType::get(scale.getType().getShape(), b.getI32Type());
  auto zero = DenseElementsAttr::get(zeroType, int32_t(0));
  int64_t axis = scale.getNumElements() > 1 ? int64_t(shape.size()) - 1 : -1;
  Value v = osa::DequantizeOp::create(b, loc, type, x, scale, zero, axis);
  if (!plain)
    v = osa::MulOp::create(b, loc, type, v, constantOf(slopes));
  if (llvm::any_of(offsets, [](float o) { return o != 0; }))
    v = osa::AddOp::create(b, loc, type, v, constantOf(offsets));
  return hostLayout(loc, t, v, stage);
}

Value Integerizer::hostClone(Operation *op, unsigned stage) {
  for (Value operand : valuesRead(op))
    hostValue(operand, stage);
  Task &task = hostAt(stage);
  OpBuilder b = endOf(task);
  Operation *copy = b.clone(*op, task.map);
  noteHost(op);
  return copy->getResult(0);
}

Value Integerizer::hostValue(Value v, unsigned stage) {
  if (Value known = hostAt(stage).map.lookupOrNull(v))
    return known;
  Value out;
  Operation *op = v.getDefiningOp();
  if (stages.contains(v) && dependsOnInput.contains(v) &&
      stages.lookup(v) < stage) {
    unsigned tensor = hostTensor(v);
    out = take(hostAt(stage), tensor, v.getLoc());
  } else if (Lazy t = held.lookup(v)) {
    if (num::elementInt(v.getType()))
      out = hostInteger(v, *t, stage);
    else if (pickUp.contains(v) && t->isAffine() &&
             (t->physical || settle(op, *t)))
      out = hostReal(op->getLoc(), *t, stage);
    if (out)
      pickedUp[regionTensor(t->physical)].push_back(v);
  }
  if (out) {
    hostAt(stage).map.map(v, out);
    return out;
  }
  hostClone(op, stage);
  return hostAt(stage).map.lookup(v);
}

void Integerizer::addOutputs() {
  auto terminator = cast<func::ReturnOp>(model.getBody().front().back());
  for (auto [i, v] : llvm::enumerate(terminator.getOperands())) {
    unsigned stage = stages.lookup(v);
    if (Lazy t = held.lookup(v))
      stage = regionOf(*t) + 1;
    auto name = model.getResultAttrOfType<StringAttr>(i, marks::kName);
    unsigned tensor = addTensor(
        v.getType(), name ? name.str() : "output" + std::to_string(i));
    outputs.push_back(tensor);
    Value value = hostValue(v, stage);
    give(hostAt(stage), tensor, value);
  }
}

//===----------------------------------------------------------------------===//
// The graph
//===----------------------------------------------------------------------===//

/// What nobody reads goes, from the last task to the first.
void Integerizer::prune() {
  DenseSet<unsigned> read(outputs.begin(), outputs.end());
  auto prune = [&](Task &task, bool keepsArguments) {
    for (size_t i = task.given.size(); i-- > 0;)
      if (!read.contains(task.given[i])) {
        task.given.erase(task.given.begin() + i);
        task.results.erase(task.results.begin() + i);
      }
    Block &body = task.function.front();
    DenseSet<Value> results(task.results.begin(), task.results.end());
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(body)))
      if (op.use_empty() && llvm::none_of(op.getResults(), [&](Value v) {
            return results.contains(v);
          }))
        op.erase();
    for (unsigned i = body.getNumArguments(); i-- > 0;) {
      BlockArgument argument = body.getArgument(i);
      if (keepsArguments || !argument.use_empty() ||
          results.contains(argument)) {
        read.insert(task.taken[i]);
        continue;
      }
      body.eraseArgument(i);
      task.arguments.erase(task.taken[i]);
      task.taken.erase(task.taken.begin() + i);
    }
  };
  for (size_t i = std::max(hosts.size(), regions.size()); i-- > 0;) {
    for (Tasks *tasks : {&regions, &hosts}) {
      if (i >= tasks->size() || !(*tasks)[i])
        continue;
      std::unique_ptr<Task> &task = (*tasks)[i];
      const bool isFirst = tasks == &hosts && i == 0;
      prune(*task, isFirst);
      if (!task->given.empty() || isFirst)
        continue;
      task->function.erase();
      task.reset();
    }
  }
}

/// Puts a task of the host behind another one, in its function.
void Integerizer::append(Task &to, Task &from) {
  Block &body = from.function.front();
  for (auto [i, tensor] : llvm::enumerate(from.taken)) {
    auto given = llvm::find(to.given, tensor);
    Value v = given != to.given.end()
                  ? to.results[size_t(given - to.given.begin())]
                  : take(to, tensor, body.getArgument(i).getLoc());
    body.getArgument(i).replaceAllUsesWith(v);
    llvm::replace(from.results, Value(body.getArgument(i)), v);
  }
  Block &target = to.function.front();
  target.getOperations().splice(target.end(), body.getOperations());
  for (auto [tensor, v] : llvm::zip_equal(from.given, from.results))
    give(to, tensor, v);
  from.function.erase();
}

/// Tasks of the host without a region between them become one.
void Integerizer::fuse() {
  Task *last = hosts[0].get();
  for (size_t i = 1; i < hosts.size(); ++i) {
    if (i - 1 < regions.size() && regions[i - 1])
      last = nullptr;
    if (!hosts[i])
      continue;
    if (!last) {
      last = hosts[i].get();
      continue;
    }
    append(*last, *hosts[i]);
    hosts[i].reset();
  }
}

void Integerizer::nameTensors() {
  llvm::StringSet<> used;
  auto unique = [&](unsigned tensor) {
    std::string &name = tensors[tensor].name;
    while (name.empty() || !used.insert(name).second)
      name += "_";
  };
  for (unsigned tensor : inputs)
    unique(tensor);
  for (unsigned tensor : outputs)
    unique(tensor);
  for (Tasks *tasks : {&hosts, &regions})
    for (std::unique_ptr<Task> &task : *tasks)
      for (size_t i = 0; task && i < task->given.size(); ++i)
        if (Tensor &tensor = tensors[task->given[i]]; tensor.name.empty()) {
          tensor.name =
              (task->function.getSymName() + "." + std::to_string(i)).str();
          unique(task->given[i]);
        }
}

/// Ends a task's function, with the names of what it takes and gives.
void Integerizer::close(Task &task) {
  MLIRContext *context = builder.getContext();
  func::FuncOp f = task.function;
  OpBuilder b = endOf(task);
  func::ReturnOp::create(b, f.getLoc(), task.results);
  f.setFunctionType(FunctionType::get(context, f.front().getArgumentTypes(),
                                      ValueRange(task.results).getTypes()));
  auto nameOf = [&](unsigned tensor) {
    return StringAttr::get(context, tensors[tensor].name);
  };
  for (auto [i, tensor] : llvm::enumerate(task.taken))
    f.setArgAttr(i, flow::kTensor, nameOf(tensor));
  for (auto [i, tensor] : llvm::enumerate(task.given))
    f.setResultAttr(i, flow::kTensor, nameOf(tensor));
}

/// rhizome.name and what else the model says of its inputs and outputs.
void Integerizer::nameBorders() {
  auto copy = [](DictionaryAttr from, auto set) {
    if (from)
      for (NamedAttribute attr : from)
        set(attr.getName(), attr.getValue());
  };
  Task &first = hostAt(0);
  for (unsigned i = 0; i < inputs.size(); ++i)
    copy(model.getArgAttrDict(i), [&](StringAttr name, Attribute value) {
      first.function.setArgAttr(i, name, value);
    });
  for (std::unique_ptr<Task> &task : hosts)
    for (size_t k = 0; task && k < task->given.size(); ++k)
      if (auto at = llvm::find(outputs, task->given[k]); at != outputs.end())
        copy(model.getResultAttrDict(unsigned(at - outputs.begin())),
             [&](StringAttr name, Attribute value) {
               task->function.setResultAttr(unsigned(k), name, value);
             });
  nameEntries();
  nameResults();
}

namespace {
/// Names of the FPGA's tensors. Those of the model's inputs or outputs are for
/// these alone: whoever reads a name means its values.
class BorderNames {
public:
  explicit BorderNames(func::FuncOp model) {
    for (unsigned i = 0; i < model.getNumArguments(); ++i)
      reserve(model.getArgAttrOfType<StringAttr>(i, marks::kName));
    for (unsigned i = 0; i < model.getNumResults(); ++i)
      reserve(model.getResultAttrOfType<StringAttr>(i, marks::kName));
  }
  std::string ofModel(std::string name) { return fresh(std::move(name)); }
  std::string own(std::string name) {
    return fresh(models.contains(name) ? name + "_border" : std::move(name));
  }

private:
  llvm::StringSet<> models, used;
  void reserve(StringAttr name) {
    if (name)
      models.insert(name.getValue());
  }
  std::string fresh(std::string name) {
    const std::string stem = name;
    for (int suffix = 2; !used.insert(name).second; ++suffix)
      name = stem + "_" + std::to_string(suffix);
    return name;
  }
};
} // namespace

/// The FPGA's inputs have the names of what they quantize: the model's inputs,
/// or what the host makes of these.
void Integerizer::nameEntries() {
  DenseMap<unsigned, Value> sources;
  for (auto &[op, entry] : entries) {
    Value source = op->getOperand(0);
    while (isa_and_nonnull<osa::ReshapeOp, osa::TransposeOp>(
        source.getDefiningOp()))
      source = source.getDefiningOp()->getOperand(0);
    sources[entry.tensor] = source;
  }
  BorderNames names(model);
  for (std::unique_ptr<Task> &region : regions)
    for (size_t i = 0; region && i < region->taken.size(); ++i) {
      Value source = sources.lookup(region->taken[i]);
      std::string name;
      if (auto arg = dyn_cast_or_null<BlockArgument>(source)) {
        if (auto given = model.getArgAttrOfType<StringAttr>(arg.getArgNumber(),
                                                            marks::kName))
          name = names.ofModel(given.str());
      } else if (source) {
        name = tensorName(source.getLoc());
        name = name.empty() ? name : names.own(name);
      }
      if (name.empty())
        name = names.own("input");
      region->function.setArgAttr(unsigned(i), marks::kName,
                                  builder.getStringAttr(name));
    }
}

/// What the host makes of codes, if it converts them; otherwise `v`.
static Value realOf(Value v) {
  for (Operation *user : v.getUsers())
    if (isa<osa::DequantizeOp>(user) && user->getOperand(0) == v)
      return user->getResult(0);
  return v;
}

/// The FPGA's outputs have the names of what the host reads in them: the
/// model's outputs, where it only converts and moves them, or the values from
/// which it computes.
void Integerizer::nameResults() {
  DenseMap<Value, StringAttr> given;
  auto end = cast<func::ReturnOp>(model.getBody().front().back());
  for (auto [i, v] : llvm::enumerate(end.getOperands())) {
    auto name =
        model.getResultAttrOfType<StringAttr>(unsigned(i), marks::kName);
    for (Value at = v; name && at;) {
      given.try_emplace(at, name);
      Operation *op = at.getDefiningOp();
      at = isa_and_nonnull<osa::DequantizeOp, osa::ReshapeOp, osa::TransposeOp>(
               op)
               ? op->getOperand(0)
               : Value();
    }
  }
  BorderNames names(model);
  size_t results = 0;
  for (std::unique_ptr<Task> &region : regions)
    for (size_t i = 0; region && i < region->given.size(); ++i, ++results) {
      ArrayRef<Value> values = pickedUp[region->given[i]];
      auto isGiven = [&](Value v) { return given.contains(v); };
      std::string name;
      if (auto v = llvm::find_if(values, isGiven); v != values.end()) {
        name = names.ofModel(given[*v].str());
      } else {
        for (Value v : values)
          if (name.empty())
            name = tensorName(realOf(v).getLoc());
        name =
            names.own(name.empty() ? "result" + std::to_string(results) : name);
      }
      region->function.setResultAttr(unsigned(i), marks::kName,
                                     builder.getStringAttr(name));
    }
}

/// What the model keeps is no input of its tasks' graph, and has the graph's
/// names.
void Integerizer::renameStates() {
  SmallVector<Attribute> states;
  SmallVector<unsigned> kept;
  for (flow::StateAttr state : flow::statesOf(module)) {
    auto named = [&](StringRef name, bool result) -> unsigned {
      for (unsigned i = 0;; ++i) {
        auto attr = result
                        ? model.getResultAttrOfType<StringAttr>(i, marks::kName)
                        : model.getArgAttrOfType<StringAttr>(i, marks::kName);
        if (attr && attr.getValue() == name)
          return result ? outputs[i] : inputs[i];
      }
    };
    unsigned own = named(state.getName(), false);
    kept.push_back(own);
    states.push_back(flow::StateAttr::get(
        builder.getContext(), tensors[own].name,
        tensors[named(state.getNext(), true)].name, state.getInitial()));
  }
  if (states.empty())
    return;
  llvm::erase_if(inputs,
                 [&](unsigned t) { return llvm::is_contained(kept, t); });
  module->setAttr(flow::kStates, builder.getArrayAttr(states));
}

void Integerizer::finish() {
  MLIRContext *context = builder.getContext();
  // In order, so that nothing recurses deeply.
  for (Operation &op : model.getBody().front()) {
    if (auto entry = entries.find(&op); entry != entries.end())
      enter(&op, entry->second);
    else if (op.getNumResults() && stages.contains(op.getResult(0)) &&
             dependsOnInput.contains(op.getResult(0)))
      hostValue(op.getResult(0), stages.lookup(op.getResult(0)));
  }
  addOutputs();
  prune();
  fuse();
  prune();

  SmallVector<Attribute> list;
  unsigned host = 0, region = 0;
  const auto isThere = [](const std::unique_ptr<Task> &task) {
    return bool(task);
  };
  const bool isOne = llvm::count_if(regions, isThere) == 1;
  for (size_t i = 0; i < std::max(hosts.size(), regions.size()); ++i)
    for (Tasks *tasks : {&hosts, &regions}) {
      if (i >= tasks->size() || !(*tasks)[i])
        continue;
      func::FuncOp f = (*tasks)[i]->function;
      if (tasks == &hosts)
        f.setSymName("host" + std::to_string(host++));
      else
        f.setSymName(isOne ? "network" : "region" + std::to_string(region++));
      list.push_back(FlatSymbolRefAttr::get(f.getSymNameAttr()));
    }
  nameTensors();
  for (Tasks *tasks : {&hosts, &regions})
    for (std::unique_ptr<Task> &task : *tasks)
      if (task)
        close(*task);
  nameBorders();
  auto namesOf = [&](ArrayRef<unsigned> list) {
    SmallVector<Attribute> names;
    for (unsigned tensor : list)
      names.push_back(StringAttr::get(context, tensors[tensor].name));
    return ArrayAttr::get(context, names);
  };
  renameStates();
  model.erase();
  module->setAttr(flow::kInputs, namesOf(inputs));
  module->setAttr(flow::kOutputs, namesOf(outputs));
  module->setAttr(flow::kTasks, ArrayAttr::get(context, list));
}

func::FuncOp rhizome::fpgaNetwork(ModuleOp module) {
  if (auto known = module.lookupSymbol<func::FuncOp>("network"))
    return known;
  auto regions = flow::tasksOf(module, flow::Place::Fpga);
  if (regions.empty())
    return {};
  MLIRContext *context = module.getContext();
  OpBuilder b = OpBuilder::atBlockEnd(module.getBody());
  auto merged = func::FuncOp::create(b, regions.front().getLoc(), "network",
                                     FunctionType::get(context, {}, {}));
  Block *body = merged.addEntryBlock();
  SmallVector<Value> results;
  SmallVector<Attribute> takes, gives;
  for (FunctionOpInterface region : regions) {
    IRMapping map;
    for (auto [i, arg] : llvm::enumerate(region.getArguments())) {
      map.map(arg, body->addArgument(arg.getType(), arg.getLoc()));
      takes.push_back(region.getArgAttr(unsigned(i), marks::kName));
    }
    b.setInsertionPointToEnd(body);
    Block &from = region.getFunctionBody().front();
    for (Operation &op : from.without_terminator())
      b.clone(op, map);
    for (auto [i, v] : llvm::enumerate(from.getTerminator()->getOperands())) {
      results.push_back(map.lookup(v));
      gives.push_back(region.getResultAttr(unsigned(i), marks::kName));
    }
  }
  func::ReturnOp::create(b, merged.getLoc(), results);
  merged.setFunctionType(FunctionType::get(context, body->getArgumentTypes(),
                                           ValueRange(results).getTypes()));
  for (auto [i, name] : llvm::enumerate(takes))
    merged.setArgAttr(i, marks::kName, name);
  for (auto [i, name] : llvm::enumerate(gives))
    merged.setResultAttr(i, marks::kName, name);
  return merged;
}
