// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Inputs and outputs of the graph. Integers of up to 16 bits cross the border
// as f32 with a quantizer of scale 1, wider ones as indices.
#include "Border.h"
#include "Bounds.h"
#include "Values.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "rhizome/Dialect/Marks/Marks.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace rhizome;
using namespace rhizome::importer;
using llvm::formatv;
using onnx::TensorProto;

std::optional<Shape> importer::staticShape(const onnx::ValueInfoProto &info) {
  const onnx::TypeProto &type = info.type();
  if (!type.has_tensor_type() || !type.tensor_type().has_shape())
    return std::nullopt;
  Shape shape;
  for (const auto &dim : type.tensor_type().shape().dim())
    shape.push_back(dim.has_dim_value() && dim.dim_value() > 0 ? dim.dim_value()
                                                               : 1);
  return shape;
}

/// Refuses shapes, types and states that are given for inputs which the model
/// has not.
static void checkOptions(ImportState &state) {
  auto check = [&](const std::vector<StringRef> &inputs, StringRef name,
                   StringRef what) {
    if (!llvm::is_contained(inputs, name))
      state.refusals.push_back(
          {name.str(), "input",
           formatv("a {0} is given for this name, but the model has no such "
                   "input",
                   what),
           "its inputs are '" + llvm::join(inputs, "', '") + "'"});
  };
  std::vector<StringRef> inputs, withDefaults;
  for (const onnx::ValueInfoProto *input : state.graph.inputs)
    inputs.push_back(input->name());
  for (const onnx::ValueInfoProto &input : state.graph.model.graph().input())
    withDefaults.push_back(input.name());
  for (const auto &entry : state.options.shapes)
    check(inputs, entry.first, "shape");
  for (const auto &entry : state.options.inputTypes)
    check(inputs, entry.first, "type");
  for (const std::string &name : state.options.keptInputs)
    check(withDefaults, name, "state");
}

/// The input that tells how much of an axis is there: the file's name of the
/// dimension, or one made from the input's.
static std::string sizeName(const onnx::ValueInfoProto &input, size_t axis) {
  const auto &shape = input.type().tensor_type().shape();
  if (axis < size_t(shape.dim_size()) &&
      !shape.dim(int(axis)).dim_param().empty())
    return shape.dim(int(axis)).dim_param();
  return formatv("{0}.size{1}", input.name(), axis);
}

/// The shape that the file or the user gives an input, whose bounds become the
/// tensor's; nullopt if refused.
static std::optional<Shape> inputShape(Place &place,
                                       const onnx::ValueInfoProto &input,
                                       GraphTensor &tensor) {
  std::optional<Shape> shape = staticShape(input);
  const auto &given = place.state.options.shapes;
  if (auto it = given.find(input.name()); it != given.end()) {
    if (shape && shape->size() != it->second.size())
      place.refuse(
          formatv("the shape {0} is given for this graph input, the file "
                  "has {1}",
                  describe(it->second), describe(*shape)),
          formatv("give {0} sizes", shape->size()));
    shape = it->second;
  }
  if (!input.type().has_tensor_type()) {
    place.refuse("this graph input is not a tensor");
    return std::nullopt;
  }
  if (!shape) {
    place.refuse("this graph input has no shape",
                 formatv("give it one: --shape {0}=1,…", input.name()));
    return std::nullopt;
  }
  for (auto [axis, size] : llvm::enumerate(*shape))
    if (size < 0) {
      size = -size;
      tensor.bounds.push_back({int64_t(axis), sizeName(input, axis)});
    }
  std::optional<int64_t> count = elementCount(*shape);
  if (!count || *count == 0) {
    place.refuse(
        formatv("this graph input's shape {0} must have 1 to {1} elements",
                describe(*shape), kMaxElements),
        "give another with --shape");
    return std::nullopt;
  }
  return shape;
}

/// One input as an argument of the function; nullopt if refused.
static std::optional<Argument> declareInput(Place &place,
                                            const onnx::ValueInfoProto &input,
                                            GraphTensor &tensor) {
  std::optional<Shape> shape = inputShape(place, input, tensor);
  if (!shape)
    return std::nullopt;
  int elementType = input.type().tensor_type().elem_type();
  num::IntType integer = integerType(place.context, elementType);
  bool isWide =
      isWholeType(elementType) && (!integer || integer.getWidth() > 16);
  if (isWide)
    integer = {};
  const auto &types = place.state.options.inputTypes;
  auto given = types.find(input.name());
  bool isGiven = given != types.end();
  if (!isWide && !HostTensor::isRealType(elementType) && !integer) {
    place.refuse(formatv("this graph input has the element type {0}",
                         typeName(elementType)),
                 "floats, integers and bool are supported");
    return std::nullopt;
  }
  tensor.unknown = false;
  tensor.shape = *shape;
  Block &block = place.state.function.getBody().front();
  if (isWide && !isGiven) { // indices, or truths
    tensor.element = place.builder.getI64Type();
    tensor.onnx = elementType;
    tensor.plain =
        block.addArgument(tensorType(*shape, tensor.element), place.loc);
    return Argument{input.name(), false, wholeRange(elementType)};
  }
  Value v = block.addArgument(tensorType(*shape, place.f32), place.loc);
  if (isGiven)
    integer = num::IntType::getFull(place.context, given->second.isSigned,
                                    given->second.width);
  Argument argument{input.name(), bool(integer)};
  if (integer) {
    argument.range = {integer.getLo(), integer.getHi()};
    v = quantStep(place, v, {true, {1.0}, {0}, -1, integer}, -1);
  }
  tensor.element = integer ? Type(integer) : place.f32;
  if (isGiven && (isWide || HostTensor::isRealType(elementType))) {
    v = quantStep(place, v, {false, {1.0}, {0}, -1, integer}, -1);
    tensor.element = place.f32;
    if (isWide)
      tensor.whole = {integer.getLo(), integer.getHi()};
  }
  tensor.plain = v;
  FloatType half = halfType(place.context, elementType);
  if (half && !isGiven) {
    tensor.onnx = elementType;
    roundTo(place, tensor, half);
  }
  return argument;
}

/// An input with a default, which is to stay an input.
static std::optional<Argument> declareKept(ImportState &state, Place &place,
                                           const onnx::ValueInfoProto &input,
                                           GraphTensor &tensor) {
  TensorRef initial = state.lookup(input.name());
  if (!initial || !initial->isPlainConstant())
    return std::nullopt; // refused as an initializer
  auto argument = declareInput(place, input, tensor);
  if (!argument)
    return std::nullopt;
  if (!tensor.bounds.empty()) {
    place.refuse("a state has a fixed size", "give its largest size");
    return std::nullopt;
  }
  argument->initial = initial->constant;
  if (argument->initial->shape == tensor.shape)
    return argument;
  place.refuse(formatv("its default has the shape {0}, it has {1}",
                       describe(argument->initial->shape),
                       describe(tensor.shape)));
  return std::nullopt;
}

/// The inputs that tell how much of bounded axes is there, after the others.
static void declareSizes(ImportState &state, std::vector<Argument> &arguments) {
  std::map<std::string, int64_t> sizes;
  Block &block = state.function.getBody().front();
  for (const Argument &argument : arguments) {
    Place place(state, argument.name, "input");
    TensorRef t = state.tensors[argument.name];
    for (const Bound &bound : t->bounds) {
      const int64_t most = t->shape[size_t(bound.axis)];
      auto [known, isNew] = sizes.try_emplace(bound.size, most);
      if (!isNew && known->second != most)
        place.refuse(formatv("the dimension '{0}' has the bounds {1} and {2}",
                             bound.size, known->second, most),
                     "give all of its inputs one bound with --shape");
      if (state.lookup(bound.size) && isNew)
        place.refuse(
            formatv("the size '{0}' has the name of a tensor", bound.size),
            "give the dimension another name");
    }
    llvm::append_range(state.refusals, place.refusals);
  }
  for (const auto &[name, most] : sizes) {
    Place place(state, name, "input");
    auto tensor = std::make_shared<GraphTensor>();
    tensor->element = state.builder.getI64Type();
    tensor->onnx = TensorProto::INT64;
    tensor->plain =
        block.addArgument(tensorType({}, tensor->element), place.loc);
    state.tensors[name] = tensor;
    arguments.push_back({name, false, {{1, most}}});
  }
}

std::vector<Argument> importer::declareInputs(ImportState &state) {
  checkOptions(state);
  std::vector<Argument> arguments;
  for (const onnx::ValueInfoProto *input : state.graph.inputs) {
    Place place(state, input->name(), "input");
    auto tensor = std::make_shared<GraphTensor>();
    tensor->unknown = true;
    state.tensors[input->name()] = tensor;
    if (auto argument = declareInput(place, *input, *tensor))
      arguments.push_back(*argument);
    llvm::append_range(state.refusals, place.refusals);
  }
  for (const onnx::ValueInfoProto &input : state.graph.model.graph().input()) {
    if (!state.options.keptInputs.count(input.name()) ||
        !state.graph.initializers.count(input.name()))
      continue;
    Place place(state, input.name(), "input");
    auto tensor = std::make_shared<GraphTensor>();
    tensor->unknown = true;
    if (auto argument = declareKept(state, place, input, *tensor))
      arguments.push_back(*argument);
    state.tensors[input.name()] = tensor;
    llvm::append_range(state.refusals, place.refusals);
  }
  declareSizes(state, arguments);
  return arguments;
}

/// The integer type of an output, for whoever stores it; "" for reals. Refuses
/// a type that is not the one of which the file's operations are.
static std::string outputType(Place &place, const onnx::ValueInfoProto &output,
                              const TensorRef &t) {
  const int type = typeOf(t), said = output.type().tensor_type().elem_type();
  if (!isWholeType(type))
    return "";
  if (said && said != type && isWholeType(said))
    place.refuse(
        formatv("this graph output is declared as {0}, but the "
                "operations before it give {1}",
                typeName(said), typeName(type)),
        formatv("declare it as {0}, or put a Cast before it", typeName(type)));
  return typeName(type);
}

/// An output as a value of f32 or i64; null if it is refused, or its node was.
static Value outputValue(Place &place) {
  TensorRef t = place.state.lookup(place.name);
  if (!t || t->unknown)
    return {};
  if (t->ofBound) {
    place.refuse("this graph output is a size that is bounded",
                 "it is an input of the compiled model; leave it out");
    return {};
  }
  if (!t->bounds.empty() && !(t = withZeros(place, t)))
    return {};
  if (elementCount(t->shape) == 0) {
    place.refuse(formatv("this graph output of shape {0} has no elements",
                         describe(t->shape)),
                 "leave it out");
    return {};
  }
  if (t->isPlainConstant() && !t->constant->isReal())
    return wholeConstant(place, t->shape, t->constant->ints);
  Value v = plain(place, t);
  num::IntType integer = v ? num::elementInt(v.getType()) : num::IntType();
  bool &needsExact = place.state.needsExactIntegers;
  needsExact |= t->whole && !isExactInFloat(*t->whole);
  if (!integer)
    return v;
  needsExact |= !isExactInFloat({integer.getLo(), integer.getHi()});
  if (integer.getWidth() > 24 && place.state.integersOnHost) {
    place.refuse(formatv("this graph output has integers of {0} bits, float32 "
                         "holds 24",
                         integer.getWidth()),
                 "end the model with a DequantizeLinear");
    return {};
  }
  return quantStep(place, v, {false, {1.0}, {0}, -1, integer}, -1);
}

void importer::returnOutputs(ImportState &state, ArrayRef<Argument> arguments) {
  OpBuilder &builder = state.builder;
  func::FuncOp function = state.function;
  SmallVector<Value> results;
  SmallVector<std::string> names, types;
  Location loc = function.getLoc();
  for (const onnx::ValueInfoProto &output :
       state.graph.model.graph().output()) {
    Place place(state, output.name(), "output");
    loc = place.loc;
    if (Value v = outputValue(place)) {
      results.push_back(v);
      names.push_back(output.name());
      types.push_back(outputType(place, output, state.lookup(output.name())));
    }
    llvm::append_range(state.refusals, place.refusals);
  }
  func::ReturnOp::create(builder, loc, results);
  Block &block = function.getBody().front();
  // What was tried in vain, and what constants took the place of.
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (!op.hasTrait<OpTrait::IsTerminator>() && op.use_empty() &&
        isMemoryEffectFree(&op))
      op.erase();
  function.setFunctionType(builder.getFunctionType(
      block.getArgumentTypes(), ValueRange(results).getTypes()));
  for (auto [i, argument] : llvm::enumerate(arguments)) {
    function.setArgAttr(i, marks::kName, builder.getStringAttr(argument.name));
    if (argument.isWhole)
      function.setArgAttr(i, marks::kWhole, builder.getUnitAttr());
    if (argument.initial) {
      auto type = cast<RankedTensorType>(block.getArgument(i).getType());
      const HostTensor &given = *argument.initial;
      std::vector<float> reals(given.reals.begin(), given.reals.end());
      if (!given.isReal())
        reals.assign(given.ints.begin(), given.ints.end());
      function.setArgAttr(
          i, marks::kInitial,
          type.getElementType().isF32()
              ? DenseElementsAttr::get(type, ArrayRef(reals))
              : DenseElementsAttr::get(type, ArrayRef(given.ints)));
    }
    if (argument.range)
      function.setArgAttr(i, marks::kRange,
                          builder.getDenseI64ArrayAttr(
                              {argument.range->first, argument.range->second}));
  }
  for (auto [i, name, type] : llvm::enumerate(names, types)) {
    function.setResultAttr(i, marks::kName, builder.getStringAttr(name));
    if (!type.empty())
      function.setResultAttr(i, marks::kType, builder.getStringAttr(type));
  }
}
