// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The walk over the sorted graph: which operations we read, the current node's
// inputs and attributes, and the function's border. A refused node's outputs
// are replaced by placeholders where their shape is known, so that one run
// finds everything that is to be refused.
#include "Importer.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "rhizome/Support/HostReason.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>

using namespace mlir;
using namespace rhizome;
using namespace rhizome::importer;
using llvm::formatv;
using onnx::TensorProto;

const llvm::StringMap<Importer::OpInfo> &Importer::operations() {
  using I = Importer;
  static const llvm::StringMap<OpInfo> table = {
      {"Conv",
       {&I::conv,
        {"auto_pad", "dilations", "group", "kernel_shape", "pads", "strides"}}},
      {"MaxPool",
       {&I::maxPool,
        {"auto_pad", "ceil_mode", "dilations", "kernel_shape", "pads",
         "storage_order", "strides"}}},
      {"AveragePool",
       {&I::averagePool,
        {"auto_pad", "ceil_mode", "count_include_pad", "dilations",
         "kernel_shape", "pads", "strides"}}},
      {"GlobalAveragePool", {&I::globalPool, {}}},
      {"GlobalMaxPool", {&I::globalPool, {}}},
      {"ReduceMean",
       {&I::reduce, {"axes", "keepdims", "noop_with_empty_axes"}}},
      {"ReduceSum", {&I::reduce, {"axes", "keepdims", "noop_with_empty_axes"}}},
      {"ReduceMax", {&I::reduce, {"axes", "keepdims", "noop_with_empty_axes"}}},
      {"ReduceMin", {&I::reduce, {"axes", "keepdims", "noop_with_empty_axes"}}},
      {"ConvTranspose",
       {&I::convTranspose,
        {"auto_pad", "dilations", "group", "kernel_shape", "output_padding",
         "output_shape", "pads", "strides"}}},
      {"Resize",
       {&I::resize,
        {"antialias", "axes", "coordinate_transformation_mode", "cubic_coeff_a",
         "exclude_outside", "extrapolation_value", "keep_aspect_ratio_policy",
         "mode", "nearest_mode"}}},
      {"Upsample", {&I::resize, {"mode", "scales"}}},
      {"DepthToSpace", {&I::depthToSpace, {"blocksize", "mode"}}},
      {"SpaceToDepth", {&I::spaceToDepth, {"blocksize", "mode"}}},
      {"Split", {&I::split, {"axis", "split", "num_outputs"}}},
      {"BatchNormalization",
       {&I::batchNormalization,
        {"epsilon", "momentum", "training_mode", "spatial"}}},
      {"Gemm", {&I::gemm, {"alpha", "beta", "transA", "transB"}}},
      {"MatMul", {&I::matMul, {}}},
      {"Einsum", {&I::einsum, {"equation"}}},
      {"Add", {&I::binary, {}}},
      {"Sub", {&I::binary, {}}},
      {"Mul", {&I::binary, {}}},
      {"Div", {&I::binary, {}}},
      {"Sum", {&I::sum, {}}},
      {"Pow", {&I::pow, {}}},
      {"Relu", {&I::relu, {}}},
      {"LeakyRelu", {&I::leakyRelu, {"alpha"}}},
      {"Clip", {&I::clip, {"max", "min"}}},
      {"Sigmoid", {&I::unary, {}}},
      {"Tanh", {&I::unary, {}}},
      {"Exp", {&I::unary, {}}},
      {"Log", {&I::unary, {}}},
      {"Sqrt", {&I::unary, {}}},
      {"Neg", {&I::unary, {}}},
      {"Abs", {&I::unary, {}}},
      {"Erf", {&I::unary, {}}},
      {"Gelu", {&I::unary, {"approximate"}}},
      {"HardSwish", {&I::unary, {}}},
      {"Mish", {&I::unary, {}}},
      {"Reciprocal", {&I::unary, {}}},
      {"Softplus", {&I::unary, {}}},
      {"Softsign", {&I::unary, {}}},
      {"Softmax", {&I::softmax, {"axis"}}},
      {"LogSoftmax", {&I::softmax, {"axis"}}},
      {"ArgMax", {&I::argMax, {"axis", "keepdims", "select_last_index"}}},
      {"TopK", {&I::topK, {"axis", "k", "largest", "sorted"}}},
      {"Reshape", {&I::reshapeOp, {"allowzero"}}},
      {"Flatten", {&I::flatten, {"axis"}}},
      {"Squeeze", {&I::squeeze, {"axes"}}},
      {"Unsqueeze", {&I::unsqueeze, {"axes"}}},
      {"Transpose", {&I::transposeOp, {"perm"}}},
      {"Concat", {&I::concat, {"axis"}}},
      {"Pad", {&I::pad, {"mode", "pads", "value"}}},
      {"Identity", {&I::identity, {}}},
      {"Dropout", {&I::dropout, {"ratio", "seed"}}},
      {"Cast", {&I::castOp, {"to", "saturate"}}},
      {"Shape", {&I::shapeOf, {"start", "end"}}},
      {"QuantizeLinear",
       {&I::quantizeLinear,
        {"axis", "saturate", "block_size", "output_dtype"}}},
      {"DequantizeLinear", {&I::dequantizeLinear, {"axis", "block_size"}}},
      {"Quant", {&I::quant, {"signed", "narrow", "rounding_mode"}}},
      {"IntQuant", {&I::quant, {"signed", "narrow", "rounding_mode"}}},
      {"BipolarQuant", {&I::bipolarQuant, {}}},
      {"Trunc",
       {&I::trunc, {"rounding_mode", "signed", "narrow", "output_scale"}}},
      {"MultiThreshold",
       {&I::multiThreshold,
        {"out_scale", "out_bias", "out_dtype", "data_layout"}}},
      {"Constant",
       {&I::foldedOnly,
        {"value", "value_float", "value_floats", "value_int", "value_ints"}}},
      {"ConstantOfShape", {&I::foldedOnly, {"value"}}},
      {"Gather", {&I::gather, {"axis"}}},
      {"Slice", {&I::slice, {"starts", "ends", "axes"}}},
      {"Expand", {&I::foldedOnly, {}}},
      {"Equal", {&I::foldedOnly, {}}},
      {"Min", {&I::extremum, {}}},
      {"Max", {&I::extremum, {}}},
      {"Floor", {&I::roundToWhole, {}}},
      {"Ceil", {&I::roundToWhole, {}}},
      {"Round", {&I::roundToWhole, {}}},
  };
  return table;
}

Importer::Importer(MLIRContext *context, const Graph &graph,
                   StringRef directory, const ImportOptions &options,
                   Refusals &refusals)
    : context(context), graph(graph), directory(directory), options(options),
      refusals(refusals), builder(context), f32(builder.getF32Type()),
      loc(builder.getUnknownLoc()) {}

Refused Importer::refuse(std::string reason, std::string remedy) {
  refusals.push_back(
      {placeName, placeOp, std::move(reason), std::move(remedy)});
  return {};
}

void Importer::enter(StringRef name, StringRef op) {
  placeName = name.str();
  placeOp = op.str();
  if (!name.empty())
    loc = NameLoc::get(builder.getStringAttr(name),
                       op.empty()
                           ? Location(builder.getUnknownLoc())
                           : Location(NameLoc::get(builder.getStringAttr(op))));
}

//===----------------------------------------------------------------------===//
// The function's border
//===----------------------------------------------------------------------===//

/// The shape that a value info gives, unknown sizes being 1; nullopt if it
/// gives none.
static std::optional<Shape> staticShape(const onnx::ValueInfoProto &info) {
  const onnx::TypeProto &type = info.type();
  if (!type.has_tensor_type() || !type.tensor_type().has_shape())
    return std::nullopt;
  Shape shape;
  for (const auto &dim : type.tensor_type().shape().dim())
    shape.push_back(dim.has_dim_value() && dim.dim_value() > 0 ? dim.dim_value()
                                                               : 1);
  return shape;
}

void Importer::declareInputs() {
  std::string names;
  for (const onnx::ValueInfoProto *input : graph.inputs)
    names += (names.empty() ? "'" : ", '") + input->name() + "'";
  auto checkName = [&](const std::string &name, StringRef what) {
    if (llvm::none_of(graph.inputs,
                      [&](const auto *input) { return input->name() == name; }))
      refusals.push_back({name, "input",
                          formatv("a {0} is given for this name, but the model "
                                  "has no such input",
                                  what),
                          "its inputs are " + names});
  };
  for (const auto &entry : options.shapes)
    checkName(entry.first, "shape");
  for (const auto &entry : options.inputTypes)
    checkName(entry.first, "type");
  Block *block = &function.getBody().front();
  for (const onnx::ValueInfoProto *input : graph.inputs) {
    enter(input->name(), "input");
    auto tensor = std::make_shared<GraphTensor>();
    tensors[input->name()] = tensor;
    tensor->unknown = true;
    std::optional<Shape> shape = staticShape(*input);
    if (auto it = options.shapes.find(input->name());
        it != options.shapes.end()) {
      if (shape && shape->size() != it->second.size())
        refuse(formatv("the shape {0} is given for this graph input, the file "
                       "has {1}",
                       describe(it->second), describe(*shape)),
               formatv("give {0} sizes", shape->size()));
      shape = it->second;
    }
    if (!input->type().has_tensor_type()) {
      refuse("this graph input is not a tensor");
      continue;
    }
    if (!shape) {
      refuse("this graph input has no shape",
             formatv("give it one: --shape {0}=1,…", input->name()));
      continue;
    }
    std::optional<int64_t> count = elementCount(*shape);
    if (!count || *count == 0) {
      refuse(formatv("this graph input's shape {0} must have 1 to {1} elements",
                     describe(*shape), kMaxElements),
             "give another with --shape");
      continue;
    }
    int elementType = input->type().tensor_type().elem_type();
    num::IntType integer = integerType(elementType);
    bool wide =
        isWholeType(elementType) && (!integer || integer.getWidth() > 16);
    if (wide)
      integer = {};
    auto given = options.inputTypes.find(input->name());
    bool isGiven = given != options.inputTypes.end();
    if (wide && !isGiven) { // indices, or truths
      tensor->unknown = false;
      tensor->shape = *shape;
      tensor->element = builder.getI64Type();
      tensor->onnx = elementType;
      tensor->plain =
          block->addArgument(type(*shape, builder.getI64Type()), loc);
      arguments.push_back({input->name(), false, wholeRange(elementType)});
      continue;
    }
    if (!HostTensor::isRealType(elementType) && !integer && !wide) {
      refuse(formatv("this graph input has the element type {0}",
                     typeName(elementType)),
             "floats, integers and bool are supported");
      continue;
    }
    tensor->unknown = false;
    tensor->shape = *shape;
    Value v = block->addArgument(type(*shape, f32), loc);
    if (isGiven)
      integer = num::IntType::getFull(context, given->second.isSigned,
                                      given->second.width);
    arguments.push_back({input->name(), bool(integer)});
    if (integer)
      arguments.back().range = {integer.getLo(), integer.getHi()};
    if (integer)
      v = quantStep(v, {true, {1.0}, {0}, -1, integer}, -1);
    tensor->element = integer ? Type(integer) : f32;
    if (isGiven && (wide || HostTensor::isRealType(elementType))) {
      v = quantStep(v, {false, {1.0}, {0}, -1, integer}, -1);
      tensor->element = f32;
      if (wide)
        tensor->whole = {integer.getLo(), integer.getHi()};
    }
    tensor->plain = v;
    if (FloatType half = halfType(elementType); half && !isGiven) {
      tensor->onnx = elementType;
      roundTo(*tensor, half);
    }
  }
}

void Importer::finish() {
  SmallVector<Value> results;
  SmallVector<std::string> names;
  node = nullptr;
  for (const onnx::ValueInfoProto &output : graph.model.graph().output()) {
    enter(output.name(), "output");
    TensorRef t = lookup(output.name());
    if (!t || t->unknown)
      continue;
    bool indices = t->isPlainConstant() && !t->constant->isReal();
    Value v = indices ? wholeConstant(t->shape, t->constant->ints) : plain(t);
    if (!v)
      continue;
    if (num::IntType integer = num::elementInt(v.getType())) {
      if (integer.getWidth() > 24) {
        refuse(formatv("this graph output has integers of {0} bits, float32 "
                       "holds 24",
                       integer.getWidth()),
               "end the model with a DequantizeLinear");
        continue;
      }
      v = quantStep(v, {false, {1.0}, {0}, -1, integer}, -1);
    }
    results.push_back(v);
    names.push_back(output.name());
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
    function.setArgAttr(i, "rhizome.name",
                        builder.getStringAttr(argument.name));
    if (argument.isWhole)
      function.setArgAttr(i, "rhizome.whole", builder.getUnitAttr());
    if (argument.range)
      function.setArgAttr(i, "rhizome.range",
                          builder.getDenseI64ArrayAttr(
                              {argument.range->first, argument.range->second}));
  }
  for (auto [i, name] : llvm::enumerate(names))
    function.setResultAttr(i, "rhizome.name", builder.getStringAttr(name));
}

//===----------------------------------------------------------------------===//
// One node
//===----------------------------------------------------------------------===//

TensorRef Importer::lookup(StringRef name) {
  if (auto it = tensors.find(name); it != tensors.end())
    return it->second;
  auto it = graph.initialisers.find(name);
  if (graph.refusedTensors.contains(name)) {
    auto refused = std::make_shared<GraphTensor>();
    refused->unknown = true;
    return tensors[name] = refused;
  }
  if (it == graph.initialisers.end())
    return nullptr;
  std::string error;
  HostRef host = decodeTensor(*it->second, directory, error);
  TensorRef t;
  if (host) {
    if (options.rawIntegerFraction && host->type == TensorProto::FLOAT &&
        !host->shape.empty()) {
      auto scaled = std::make_shared<HostTensor>(*host);
      for (double &v : scaled->reals)
        v = std::ldexp(v, -*options.rawIntegerFraction);
      host = scaled;
    }
    t = hostTensor(host);
  } else {
    refusals.push_back({name.str(), "initializer", error,
                        it->second->data_location() == TensorProto::EXTERNAL
                            ? "give the model together with its data file"
                            : ""});
    t = std::make_shared<GraphTensor>();
    t->unknown = true;
  }
  return tensors[name] = t;
}

bool Importer::loadInputs() {
  bool known = true;
  inputs.clear();
  for (const std::string &name : node->proto.input()) {
    inputs.push_back(name.empty() ? nullptr : lookup(name));
    known &= name.empty() || (inputs.back() && !inputs.back()->unknown);
  }
  liftParameters();
  return known;
}

bool Importer::foldConstant() {
  SmallVector<HostRef> hosts;
  for (const TensorRef &t : inputs) {
    if (t && !t->isPlainConstant())
      return false;
    hosts.push_back(t ? t->constant : nullptr);
    if (t && halfType(t->onnx) && t->constant->type != t->onnx) {
      auto half = std::make_shared<HostTensor>(*t->constant);
      half->type = t->onnx;
      hosts.back() = half;
    }
  }
  HostRef out;
  std::string error;
  switch (foldNode(*node, hosts, out,
                   options.limits.foldedElements - foldedElements, error)) {
  case Fold::NotFoldable:
    return false;
  case Fold::Failed:
    refuse(error);
    failOutputs();
    return true;
  case Fold::Folded:
    if (node->op() != "Constant")
      foldedElements += int64_t(out->size());
    if (options.rawIntegerFraction && node->op() == "Constant" &&
        out->type == TensorProto::FLOAT && !out->shape.empty()) {
      auto scaled = std::make_shared<HostTensor>(*out);
      for (double &v : scaled->reals)
        v = std::ldexp(v, -*options.rawIntegerFraction);
      out = scaled;
    }
    (void)setResult(0, hostTensor(out));
    return true;
  }
  llvm_unreachable("all cases return");
}

void Importer::failOutputs() {
  const bool sameShape =
      llvm::StringSwitch<bool>(node->op())
          .Cases({"Sign", "Erf", "Elu", "Selu", "Celu", "Gelu"}, true)
          .Cases({"Mish", "Softplus", "Softsign", "HardSigmoid"}, true)
          .Cases({"HardSwish", "PRelu", "Relu", "LeakyRelu", "Clip"}, true)
          .Cases({"Reciprocal", "Sin", "Cos", "ThresholdedRelu"}, true)
          .Cases({"LayerNormalization", "InstanceNormalization"}, true)
          .Cases({"BatchNormalization", "Quant", "BipolarQuant"}, true)
          .Default(false);
  for (const std::string &name : node->proto.output()) {
    if (name.empty())
      continue;
    auto t = std::make_shared<GraphTensor>();
    t->unknown = true;
    auto info = graph.valueInfo.find(name);
    std::optional<Shape> shape;
    if (info != graph.valueInfo.end() &&
        info->second->type().tensor_type().elem_type() == TensorProto::FLOAT)
      shape = staticShape(*info->second);
    if (!shape && sameShape && !inputs.empty() && inputs[0] &&
        !inputs[0]->unknown && inputs[0]->element == f32)
      shape = inputs[0]->shape;
    if (shape && elementCount(*shape)) {
      t->unknown = false;
      t->shape = *shape;
      t->element = f32;
      t->plain = UnrealizedConversionCastOp::create(
                     builder, loc, type(*shape, f32), ValueRange())
                     .getResult(0);
    }
    tensors[name] = t;
  }
}

void Importer::importNode(const Node &n, bool networkOnly) {
  node = &n;
  enter(n.name, n.writtenOp());
  size_t before = refusals.size();
  const OpInfo *info = findOperation(n, operations()),
               *host =
                   networkOnly ? nullptr : findOperation(n, hostOperations());
  bool known = loadInputs();
  if (graph.refusedNodes.contains(n.name) || !isSupported(n, info, host))
    return failOutputs();
  if (!known) { // its attributes can be judged
    judgeAttributes(info, host);
    return failOutputs();
  }
  // As part of the network where that is possible, else on the host.
  bool done = false, onHost = false;
  if (info && checkAttributes(n, *info))
    done = foldConstant() ||
           (succeeded(checkWhole()) && succeeded(liftIntegers()) &&
            succeeded((this->*info->handler)()));
  if (!done && host) {
    // Why it is no part of the network, for those who ask.
    Refusal why;
    if (refusals.size() != before)
      why = refusals[before];
    refusals.resize(before);
    loadInputs();
    Block *block = builder.getInsertionBlock();
    Operation *last = block->empty() ? nullptr : &block->back();
    auto first = [&] { return last ? last->getNextNode() : &block->front(); };
    onHost = done =
        checkAttributes(n, *host) && succeeded((this->*host->handler)());
    for (Operation *op = block->empty() ? nullptr : first();
         op && !why.reason.empty(); op = op->getNextNode())
      if (isa<linalg::GenericOp>(op)) {
        op->setAttr(kWhyHost, builder.getStringAttr(why.reason));
        if (!why.remedy.empty())
          op->setAttr(kHostRemedy, builder.getStringAttr(why.remedy));
      }
  }
  if (!done) {
    assert(refusals.size() != before && "failure without a reason");
    return failOutputs();
  }
  settleTypes();
  if (onHost)
    foldResults();
  if (refusals.size() != before)
    return;
  if (!onHost)
    propagateWhole();
  for (int i = 0; i < n.proto.output_size(); ++i)
    if (!tensors.count(n.proto.output(i)) && outputUsed(i)) {
      refuse(formatv("its output {0} ('{1}') is used, which {2} does not have",
                     i, n.proto.output(i), n.op()));
      return failOutputs();
    }
}

TensorRef Importer::input(size_t i) const {
  return i < inputs.size() ? inputs[i] : nullptr;
}

bool Importer::outputUsed(size_t i) const {
  if (int(i) >= node->proto.output_size() || node->proto.output(i).empty())
    return false;
  const std::string &name = node->proto.output(i);
  for (const onnx::ValueInfoProto &v : graph.model.graph().output())
    if (v.name() == name)
      return true;
  for (const Node &n : graph.nodes)
    if (llvm::is_contained(n.proto.input(), name))
      return true;
  return false;
}

LogicalResult Importer::requireReal(size_t i) {
  if (!input(i))
    return refuse(formatv("its input {0} is missing", i));
  if (input(i)->element == f32)
    return success();
  std::string have = "a type that is not float32";
  if (num::IntType integer = dyn_cast_or_null<num::IntType>(input(i)->element))
    have = formatv("integers of {0} bits", integer.getWidth());
  else if (input(i)->element)
    have = "indices";
  else if (input(i)->constant)
    have = typeName(input(i)->constant->type);
  return refuse(formatv("its input {0} has {1}, float32 is needed", i, have),
                "put a DequantizeLinear before it, or convert the model to "
                "float32");
}

/// What an operation makes of integer tensors.
enum class OnIntegers { Refused, Keeps, Computes, Decides };

static OnIntegers onIntegers(StringRef op) {
  return llvm::StringSwitch<OnIntegers>(op)
      .Cases({"Concat", "Dropout", "Flatten", "Identity", "MaxPool"},
             OnIntegers::Keeps)
      .Cases({"Pad", "Relu", "Reshape", "Squeeze", "Transpose", "Unsqueeze"},
             OnIntegers::Keeps)
      .Cases({"Gather", "Slice", "Split", "DepthToSpace", "SpaceToDepth"},
             OnIntegers::Decides)
      .Cases({"Add", "Div", "MatMul", "Mul", "Neg", "Sub", "Sum"},
             OnIntegers::Computes)
      .Cases({"ArgMax", "Cast", "Ceil", "Clip", "Floor", "Round", "Shape"},
             OnIntegers::Decides)
      .Cases({"TopK", "QuantizeLinear"}, OnIntegers::Decides)
      .Default(OnIntegers::Refused);
}

LogicalResult Importer::checkWhole() {
  for (auto [i, t] : llvm::enumerate(inputs))
    if (t && t->whole && onIntegers(node->op()) == OnIntegers::Refused)
      return refuse(formatv("its input {0} holds integers, for which {1} is "
                            "not defined",
                            i, node->op()),
                    "put a Cast to float32 before it");
  return success();
}

void Importer::setWhole(std::pair<int64_t, int64_t> bounds) {
  auto it = tensors.find(node->proto.output(0));
  if (it == tensors.end() || it->second->unknown)
    return;
  // Operations that only pass a tensor on share it with their input.
  it->second = std::make_shared<GraphTensor>(*it->second);
  it->second->whole = bounds;
}

void Importer::propagateWhole() {
  OnIntegers kind = onIntegers(node->op());
  if (node->proto.output_size() == 0 ||
      (kind != OnIntegers::Keeps && kind != OnIntegers::Computes))
    return;
  std::optional<std::pair<int64_t, int64_t>> bounds;
  for (const TensorRef &t : inputs)
    if (t && t->whole)
      bounds = {std::min(bounds ? bounds->first : 0, t->whole->first),
                std::max(bounds ? bounds->second : 0, t->whole->second)};
  if (bounds)
    setWhole(kind == OnIntegers::Keeps ? *bounds : kWideIntegers);
  // Indices that were only moved keep the file's element type.
  auto out = tensors.find(node->proto.output(0));
  if (kind == OnIntegers::Keeps && out != tensors.end() && input(0) &&
      out->second != input(0) && out->second->element == builder.getI64Type())
    out->second->onnx = input(0)->onnx;
}

LogicalResult Importer::liftIntegers() {
  if (llvm::none_of(inputs, [](const TensorRef &t) { return t && t->whole; }))
    return success();
  static const StringRef arithmetic[] = {"Add", "Sub", "Mul", "Div", "MatMul"};
  if (!llvm::is_contained(arithmetic, node->op()))
    return success();
  for (TensorRef &t : inputs) {
    if (!t || !t->isPlainConstant() || t->constant->isReal())
      continue;
    num::IntType stored = integerType(t->constant->type);
    if (node->op() == "MatMul" && stored && stored.getWidth() < 32)
      return refuse(formatv("its weights have the element type {0}, for which "
                            "MatMul is not defined",
                            typeName(t->constant->type)),
                    "use MatMulInteger, or store them as int32");
    auto host = std::make_shared<HostTensor>(*t->constant);
    for (int64_t v : host->ints)
      if (v < INT32_MIN || v > INT32_MAX)
        return refuse(formatv("its constant operand holds {0}", v),
                      "integers of 32 bits are supported");
    host->type = TensorProto::INT32;
    auto out = std::make_shared<GraphTensor>();
    out->shape = host->shape;
    out->element = f32;
    auto [lo, hi] = std::minmax_element(host->ints.begin(), host->ints.end());
    if (lo != host->ints.end())
      out->whole = {*lo, *hi};
    out->constant = std::move(host);
    out->steps = {
        {false, {1.0}, {0}, -1, num::IntType::getFull(context, true, 32)}};
    t = out;
  }
  return success();
}

std::optional<std::vector<int64_t>> Importer::constantInts(size_t i,
                                                           StringRef what) {
  TensorRef t = input(i);
  if (t && t->isPlainConstant() && !t->constant->isReal())
    return t->constant->ints;
  refuse(formatv("its {0} is not a constant of integers", what),
         "fold constants before export");
  return std::nullopt;
}

std::optional<std::vector<double>> Importer::constantReals(size_t i,
                                                           StringRef what) {
  TensorRef t = input(i);
  if (t && t->isPlainConstant() && t->constant->isReal())
    return t->constant->reals;
  refuse(formatv("its {0} is not a constant of floats", what),
         "fold constants before export");
  return std::nullopt;
}

std::optional<int64_t> Importer::axisAttribute(int64_t fallback, size_t rank) {
  int64_t axis = node->getInt("axis", fallback), r = int64_t(rank);
  if (axis < -r || axis >= r) {
    refuse(formatv("its axis {0} is out of range for rank {1}", axis, rank));
    return std::nullopt;
  }
  return axis < 0 ? axis + r : axis;
}

//===----------------------------------------------------------------------===//
// The whole
//===----------------------------------------------------------------------===//

void Importer::verify(ModuleOp module) {
  ScopedDiagnosticHandler handler(context, [&](Diagnostic &diagnostic) {
    refusals.push_back(
        {osa::nodeName(diagnostic.getLocation()), "",
         "the imported operation is not valid: " + diagnostic.str(),
         "report this model as a bug of the importer"});
    return success();
  });
  (void)mlir::verify(module);
}

OwningOpRef<ModuleOp> Importer::run() {
  context->loadDialect<num::NumDialect, osa::OsaDialect, func::FuncDialect,
                       arith::ArithDialect, linalg::LinalgDialect,
                       math::MathDialect, tensor::TensorDialect>();
  size_t before = refusals.size();
  OwningOpRef<ModuleOp> module = ModuleOp::create(builder.getUnknownLoc());
  builder.setInsertionPointToEnd(module->getBody());
  std::string name = graph.model.graph().name();
  enter(name.empty() ? "main" : name, "");
  function = func::FuncOp::create(builder, loc, "main",
                                  builder.getFunctionType({}, {}));
  builder.setInsertionPointToEnd(function.addEntryBlock());
  declareInputs();
  for (size_t i = 0; i < graph.nodes.size();)
    i = importExpansion(i);
  finish();
  if (refusals.size() == before)
    verify(*module);
  return module;
}
