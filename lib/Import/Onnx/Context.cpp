// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reading a node: its inputs, constants and axes, and what becomes of its
// results.
#include "Context.h"
#include "Asked.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>

using namespace mlir;
using namespace rhizome;
using namespace rhizome::importer;
using llvm::formatv;
using onnx::TensorProto;

static Location locationOf(OpBuilder &builder, StringRef name, StringRef op,
                           StringRef tensor = "") {
  Location inner = builder.getUnknownLoc();
  if (!tensor.empty())
    inner = NameLoc::get(builder.getStringAttr(tensor));
  if (!op.empty())
    inner = NameLoc::get(builder.getStringAttr(op), inner);
  if (name.empty())
    return inner;
  return NameLoc::get(builder.getStringAttr(name), inner);
}

Place::Place(ImportState &state, StringRef name, StringRef op)
    : state(state), builder(state.builder), context(builder.getContext()),
      name(name), writtenOp(op), loc(locationOf(builder, name, op)),
      f32(builder.getF32Type()) {}

Refused Place::refuse(std::string reason, std::string remedy) {
  refusals.push_back({name, writtenOp, std::move(reason), std::move(remedy)});
  return {};
}

/// Of fixed-point networks whose floats are codes: the reals that they mean.
static HostRef withoutFraction(HostRef host, std::optional<int> fraction) {
  if (!fraction || host->type != TensorProto::FLOAT || host->shape.empty())
    return host;
  auto scaled = std::make_shared<HostTensor>(*host);
  for (double &v : scaled->reals)
    v = std::ldexp(v, -*fraction);
  return scaled;
}

TensorRef ImportState::constant(HostRef host) {
  return constantTensor(
      builder.getContext(),
      withoutFraction(std::move(host), options.rawIntegerFraction));
}

TensorRef ImportState::lookup(StringRef name) {
  if (auto it = tensors.find(name); it != tensors.end())
    return it->second;
  auto it = graph.initializers.find(name);
  if (graph.refusedTensors.contains(name)) {
    auto refused = std::make_shared<GraphTensor>();
    refused->unknown = true;
    return tensors[name] = refused;
  }
  if (it == graph.initializers.end())
    return nullptr;
  std::string error;
  if (HostRef host = decodeTensor(*it->second, directory, error))
    return tensors[name] = constant(host);
  const bool isElsewhere = it->second->data_location() == TensorProto::EXTERNAL;
  refusals.push_back(
      {name.str(), "initializer", error,
       isElsewhere ? "give the model together with its data file" : "",
       isElsewhere ? Refusal::Fault::File : Refusal::Fault::Model});
  auto t = std::make_shared<GraphTensor>();
  t->unknown = true;
  return tensors[name] = t;
}

NodeContext::NodeContext(ImportState &state, const Node &file)
    : Place(state, file.name, file.writtenOp()), file(file), proto(file.proto),
      results(proto.output_size()) {
  // Names inside an expansion are none of the file's.
  if (proto.output_size() == 1 && proto.output(0) != name &&
      !StringRef(proto.output(0)).contains('\x1f'))
    loc = locationOf(builder, name, writtenOp, proto.output(0));
  for (const std::string &name : proto.input())
    inputs.push_back(name.empty() ? nullptr : state.lookup(name));
}

bool NodeContext::areInputsKnown() const {
  for (auto [name, t] : llvm::zip_equal(proto.input(), inputs))
    if (!name.empty() && (!t || t->unknown))
      return false;
  return true;
}

bool NodeContext::outputUsed(size_t i) const {
  if (i >= results.size() || proto.output(int(i)).empty())
    return false;
  const std::string &name = proto.output(int(i));
  for (const onnx::ValueInfoProto &v : state.graph.model.graph().output())
    if (v.name() == name)
      return true;
  for (const Node &n : state.graph.nodes)
    if (llvm::is_contained(n.proto.input(), name))
      return true;
  return false;
}

LogicalResult NodeContext::requireReal(size_t i) {
  if (!input(i))
    return refuse(formatv("its input {0} is missing", i));
  if (input(i)->element == f32)
    return success();
  std::string have = "a type that is not float32";
  if (num::IntType integer = dyn_cast_or_null<num::IntType>(input(i)->element))
    have = formatv("integers of {0} bits", integer.getWidth());
  else if (input(i)->element || input(i)->constant)
    have = typeName(typeOf(input(i)));
  return refuse(formatv("its input {0} has {1}, float32 is needed", i, have),
                "put a DequantizeLinear before it, or convert the model to "
                "float32");
}

std::optional<std::vector<int64_t>> NodeContext::constantInts(size_t i,
                                                              StringRef what) {
  TensorRef t = input(i);
  if (t && t->isPlainConstant() && !t->constant->isReal())
    return t->constant->ints;
  refuse(formatv("its {0} is not a constant of integers", what),
         "fold constants before export");
  return std::nullopt;
}

std::optional<std::vector<double>> NodeContext::constantReals(size_t i,
                                                              StringRef what) {
  TensorRef t = input(i);
  if (t && t->isPlainConstant() && t->constant->isReal())
    return t->constant->reals;
  refuse(formatv("its {0} is not a constant of floats", what),
         "fold constants before export");
  return std::nullopt;
}

std::optional<int64_t> NodeContext::axisAttribute(int64_t fallback,
                                                  size_t rank) {
  int64_t axis = getInt("axis", fallback), r = int64_t(rank);
  if (axis < -r || axis >= r) {
    refuse(formatv("its axis {0} is out of range for rank {1}", axis, rank),
           toNameAxis(rank));
    return std::nullopt;
  }
  return axis < 0 ? axis + r : axis;
}

LogicalResult NodeContext::setResult(size_t i, TensorRef t) {
  std::optional<int64_t> count = elementCount(t->shape);
  if (count == 0 && !t->isConstant()) {
    // Of what holds nothing, the shape is all.
    auto nothing = std::make_shared<HostTensor>();
    nothing->type = typeOf(t);
    nothing->shape = t->shape;
    t = constantTensor(context, nothing);
  }
  if (!count)
    return refuse(formatv("its output of shape {0} has more than {1} elements",
                          describe(t->shape), kMaxElements),
                  "give smaller input shapes with --shape");
  if (i < results.size() && !proto.output(int(i)).empty())
    results[i] = std::move(t);
  return success();
}
