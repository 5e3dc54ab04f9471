// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The border between network and host: what the host computes before the
// network goes to @prologue, what is behind its last integer operation to
// @epilogue. Into and out of @network only integers pass; what the host needs
// on both sides is carried past it.
#include "Integeriser.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace rhizome;

void Integeriser::createFunctions() {
  MLIRContext *context = builder.getContext();
  auto make = [&](StringRef name, FunctionType type) {
    OpBuilder b(context);
    b.setInsertionPointToEnd(module.getBody());
    auto f = func::FuncOp::create(b, model.getLoc(), name, type);
    f.addEntryBlock();
    return f;
  };
  FunctionType modelType = model.getFunctionType();
  auto none = FunctionType::get(context, {}, {});
  prologue =
      make("prologue", FunctionType::get(context, modelType.getInputs(), {}));
  network = make("network", none);
  epilogue =
      make("epilogue", FunctionType::get(context, {}, modelType.getResults()));
  for (auto [i, arg] : llvm::enumerate(model.getArguments())) {
    before.insert(arg);
    dependsOnInput.insert(arg);
    beforeMap.map(arg, prologue.getArgument(i));
    if (DictionaryAttr attrs = model.getArgAttrDict(i))
      prologue.setArgAttrs(i, attrs);
  }
  for (unsigned i = 0; i < model.getNumResults(); ++i)
    if (DictionaryAttr attrs = model.getResultAttrDict(i))
      epilogue.setResultAttrs(i, attrs);
  builder.setInsertionPointToEnd(&network.getBody().front());
}

Value Integeriser::beforeValue(Value v) {
  if (Value known = beforeMap.lookupOrNull(v))
    return known;
  Operation *op = v.getDefiningOp();
  for (Value operand : valuesRead(op))
    beforeValue(operand);
  OpBuilder b(builder.getContext());
  b.setInsertionPointToEnd(&prologue.getBody().front());
  b.clone(*op, beforeMap);
  noteHost(op);
  return beforeMap.lookup(v);
}

/// Enters an operation of the host that computes, once.
void Integeriser::noteHost(Operation *op) {
  if (isa<osa::ConstantOp, osa::QuantizeOp, osa::DequantizeOp, osa::ReshapeOp,
          osa::TransposeOp, tensor::EmptyOp, arith::ConstantOp, linalg::FillOp,
          tensor::CollapseShapeOp, tensor::ExpandShapeOp>(op))
    return;
  auto found = reasons.find(op);
  Refusal entry = found != reasons.end() ? found->second : whyHost(op);
  for (Refusal &known : stats.host)
    if (known.node == entry.node) {
      if (known.reason.empty())
        known = entry;
      return;
    }
  stats.host.push_back(entry);
}

Value Integeriser::carriedValue(Value v) {
  carriedResults.push_back(beforeValue(v));
  BlockArgument arg =
      epilogue.getBody().front().addArgument(v.getType(), v.getLoc());
  carriedArguments.push_back(arg);
  return arg;
}

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

void Integeriser::visitEntry(Operation *op) {
  Value result = op->getResult(0), host = beforeValue(result);
  auto type = cast<RankedTensorType>(host.getType());
  auto t = std::make_shared<LazyTensor>();
  auto permutation = firstTranspose(result);
  if (permutation && permutation->size() == size_t(type.getRank())) {
    SmallVector<int64_t> shape;
    for (int64_t axis : *permutation)
      shape.push_back(type.getShape()[axis]);
    OpBuilder b(builder.getContext());
    b.setInsertionPointToEnd(&prologue.getBody().front());
    type = RankedTensorType::get(shape, type.getElementType());
    host = osa::TransposeOp::create(b, op->getLoc(), type, host, *permutation);
  } else {
    permutation.reset();
  }
  prologueResults.push_back(host);
  t->physical = network.getBody().front().addArgument(type, op->getLoc());
  t->shape = t->physicalShape = SmallVector<int64_t>(type.getShape());
  num::IntType element = num::elementInt(type);
  t->f = {PiecewiseLinear::identity(element.getLo(), element.getHi())};
  if (permutation) {
    SmallVector<int64_t> inverse(permutation->size());
    for (auto [i, axis] : llvm::enumerate(*permutation))
      inverse[axis] = i;
    t->transpose(inverse);
  }
  // The graph input that it comes from, if it is one.
  Value source = op->getOperand(0);
  while (Operation *producer = source.getDefiningOp())
    source = producer->getNumOperands() ? producer->getOperand(0) : Value();
  std::string name;
  if (auto arg = dyn_cast_or_null<BlockArgument>(source))
    if (auto attr = model.getArgAttrOfType<StringAttr>(arg.getArgNumber(),
                                                       "rhizome.name"))
      name = attr.str();
  for (int suffix = 2; llvm::is_contained(inputNames, name); ++suffix)
    name += "_" + std::to_string(suffix);
  inputNames.push_back(name);
  setResult(op, t);
}

Value Integeriser::networkResult(Value physical) {
  auto found = llvm::find(networkResults, physical);
  size_t i = found - networkResults.begin();
  if (found == networkResults.end()) {
    networkResults.push_back(physical);
    resultArguments.push_back(epilogue.getBody().front().addArgument(
        physical.getType(), physical.getLoc()));
  }
  return resultArguments[i];
}

Value Integeriser::behindLayout(Location loc, const LazyTensor &t, Value v) {
  OpBuilder b(builder.getContext());
  b.setInsertionPointToEnd(&epilogue.getBody().front());
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

/// The levels of `t`, which are the network's integers unless a quantiser
/// passed them through.
Value Integeriser::behindInteger(Value v, const LazyTensor &t) {
  Location loc = v.getLoc();
  bool same = llvm::all_of(t.f, [](const PiecewiseLinear &f) {
    auto &piece = f.pieces()[0];
    return f.isAffine() && piece.slope == Real(1) && piece.offset.sign() == 0;
  });
  if (same)
    return behindLayout(loc, t, networkResult(t.physical));
  Value levels = behindReal(loc, t);
  OpBuilder b(builder.getContext());
  b.setInsertionPointToEnd(&epilogue.getBody().front());
  auto one =
      DenseElementsAttr::get(RankedTensorType::get({1}, b.getF32Type()), 1.0f);
  auto zero = DenseElementsAttr::get(RankedTensorType::get({1}, b.getI64Type()),
                                     int64_t(0));
  return osa::QuantizeOp::create(b, loc, v.getType(), levels, one, zero);
}

Value Integeriser::behindReal(Location loc, const LazyTensor &t) {
  OpBuilder b(builder.getContext());
  b.setInsertionPointToEnd(&epilogue.getBody().front());
  Value x = networkResult(t.physical);
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
  // A positive scale is a dequantiser's; others multiply.
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
  return behindLayout(loc, t, v);
}

Value Integeriser::behindValue(Value v) {
  if (Value known = behindMap.lookupOrNull(v))
    return known;
  Operation *op = v.getDefiningOp();
  if (isHostBefore(v) && dependsOnInput.contains(v)) {
    Value out = carriedValue(v);
    behindMap.map(v, out);
    return out;
  }
  if (Lazy t = lazy(v)) {
    Value out;
    if (num::elementInt(v.getType()))
      out = behindInteger(v, *t);
    else if (pickUp.contains(v) && t->isAffine() &&
             (t->physical || settle(op, *t)))
      out = behindReal(op->getLoc(), *t);
    if (out) {
      behindMap.map(v, out);
      return out;
    }
  }
  for (Value operand : valuesRead(op))
    behindValue(operand);
  OpBuilder b(builder.getContext());
  b.setInsertionPointToEnd(&epilogue.getBody().front());
  b.clone(*op, behindMap);
  noteHost(op);
  return behindMap.lookup(v);
}

/// The network's results first, then what is carried.
void Integeriser::orderEpilogue(std::vector<Value> &results) {
  Block &body = epilogue.getBody().front();
  auto last = body.getNumArguments();
  for (auto *list : {&resultArguments, &carriedArguments})
    for (BlockArgument arg : *list) {
      Value moved = body.addArgument(arg.getType(), arg.getLoc());
      arg.replaceAllUsesWith(moved);
      std::replace(results.begin(), results.end(), Value(arg), moved);
    }
  body.eraseArguments(0, last);
}

void Integeriser::finish() {
  MLIRContext *context = builder.getContext();
  // In order, so that nothing recurses deeply.
  for (Operation &op : model.getBody().front())
    if (op.getNumResults() && behind.contains(op.getResult(0)))
      behindValue(op.getResult(0));
  auto terminator = cast<func::ReturnOp>(model.getBody().front().back());
  std::vector<Value> results;
  for (Value v : terminator.getOperands())
    results.push_back(behindValue(v));
  // Inputs that turn out to feed nothing of the network go again.
  for (unsigned i = network.getNumArguments(); i-- > 0;) {
    BlockArgument arg = network.getArgument(i);
    if (!arg.use_empty() || llvm::is_contained(networkResults, Value(arg)))
      continue;
    network.getBody().front().eraseArgument(i);
    prologueResults.erase(prologueResults.begin() + i);
    inputNames.erase(inputNames.begin() + i);
  }
  orderEpilogue(results);
  stats.carried = int64_t(carriedResults.size());
  llvm::append_range(prologueResults, carriedResults);

  auto close = [&](func::FuncOp f, ValueRange values) {
    OpBuilder b(context);
    b.setInsertionPointToEnd(&f.getBody().front());
    func::ReturnOp::create(b, f.getLoc(), values);
    f.setFunctionType(FunctionType::get(
        context, f.getBody().front().getArgumentTypes(), values.getTypes()));
  };
  close(prologue, prologueResults);
  close(network, networkResults);
  close(epilogue, results);

  // Names: of the inputs that they come from; of the outputs in order.
  for (auto [i, name] : llvm::enumerate(inputNames))
    network.setArgAttr(i, "rhizome.name", StringAttr::get(context, name));
  for (unsigned i = 0; i < networkResults.size(); ++i) {
    StringAttr name;
    if (networkResults.size() == model.getNumResults())
      name = model.getResultAttrOfType<StringAttr>(i, "rhizome.name");
    if (!name)
      name = StringAttr::get(context, "result" + std::to_string(i));
    network.setResultAttr(i, "rhizome.name", name);
  }

  // What nobody reads goes.
  for (func::FuncOp f : {prologue, network, epilogue})
    for (Operation &op :
         llvm::make_early_inc_range(llvm::reverse(f.getBody().front())))
      if (!op.hasTrait<OpTrait::IsTerminator>() && op.use_empty())
        op.erase();
  model.erase();
}
