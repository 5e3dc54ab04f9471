// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tensors of float16 and bfloat16. ONNX computes and rounds in the type that
// the file gives a tensor. Here reals are float32: every operation is computed
// in float32, and its result is rounded once to the tensor's own type, half to
// even. Between two quantizers arithmetic is real, whatever the file stores
// its numbers in, so nothing is rounded there.
#include "Operations.h"
#include "Values.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/StringSet.h"
#include <cmath>

using namespace mlir;
using namespace rhizome;
using namespace rhizome::importer;
using onnx::TensorProto;

/// The element type that ONNX gives the real result `i` of the current node.
static int realTypeOf(NodeContext &node, size_t i) {
  StringRef op = node.op();
  auto of = [&](size_t k) {
    return node.input(k) ? typeOf(node.input(k)) : int(TensorProto::FLOAT);
  };
  if (op == "Cast")
    return int(node.getInt("to", 0));
  if (op == "CastLike" || op == "Where")
    return of(1);
  if (op == "OneHot")
    return of(2);
  if (op == "DequantizeLinear")
    return int(node.getInt("output_dtype", of(1)));
  if (op == "EyeLike")
    return int(node.getInt("dtype", of(0)));
  if (op == "DynamicQuantizeLinear" ||
      (i > 0 && op.ends_with("LayerNormalization")))
    return TensorProto::FLOAT;
  for (const TensorRef &t : node.inputs)
    if (t && HostTensor::isRealType(typeOf(t)))
      return typeOf(t);
  return TensorProto::FLOAT;
}

void importer::roundTo(Place &place, GraphTensor &t, FloatType half) {
  if (place.state.options.rawIntegerFraction)
    return; // its numbers are codes of the fixed-point format
  bool last = t.last && !t.isConstant();
  Value v = last ? t.last : t.isConstant() ? materialize(place, t) : t.plain;
  if (!v) // refused
    return;
  v = loops(place).rounded(v, half);
  t.constant = nullptr;
  t.steps.clear();
  t.plain = last ? Value() : v;
  t.last = last ? v : Value();
  t.host = {};
}

/// Finds the tensors whose reals all come from dequantizers and constants, and
/// all end in quantizers. Those inside an operation's expansion, which the file
/// does not name, are no tensors of the file's type either.
static bool isBetweenQuantizers(ImportState &state, StringRef tensor) {
  if (tensor.contains('\x1f'))
    return true;
  if (state.betweenQuantizers)
    return state.betweenQuantizers->contains(tensor);
  state.betweenQuantizers.emplace();
  enum Source { Constant, Quantized, Other };
  llvm::StringMap<Source> sources;
  for (const auto &entry : state.graph.initializers)
    sources[entry.getKey()] = Constant;
  for (const Node &n : state.graph.nodes) {
    Source from = Constant;
    for (const std::string &name : n.proto.input()) {
      auto found = sources.find(name);
      if (!name.empty())
        from = std::max(from, found == sources.end() ? Other : found->second);
    }
    if (n.op() == "DequantizeLinear")
      from = from == Constant ? Constant : Quantized;
    for (const std::string &name : n.proto.output())
      sources[name] = from;
  }
  // What leaves towards something else than a quantizer, users first.
  llvm::StringSet<> leaving;
  for (const onnx::ValueInfoProto &v : state.graph.model.graph().output())
    leaving.insert(v.name());
  for (const Node &n : llvm::reverse(state.graph.nodes)) {
    bool leaves = n.op() != "QuantizeLinear" &&
                  llvm::any_of(n.proto.output(), [&](const std::string &name) {
                    return leaving.contains(name) || sources[name] == Other;
                  });
    if (leaves)
      for (const std::string &name : n.proto.input())
        leaving.insert(name);
    for (const std::string &name : n.proto.output())
      if (!leaving.contains(name) && sources[name] != Other)
        state.betweenQuantizers->insert(name);
  }
  return state.betweenQuantizers->contains(tensor);
}

/// A stored tensor behind its quantizers, rounded to a half float: a constant
/// again. Null for other tensors and other roundings.
static HostRef roundedConstant(const GraphTensor &t, int type) {
  if (!t.isConstant())
    return nullptr;
  auto host = std::make_shared<HostTensor>();
  host->type = type;
  host->shape = t.shape;
  std::vector<double> values = t.constant->reals;
  if (!t.constant->isReal())
    values.assign(t.constant->ints.begin(), t.constant->ints.end());
  for (const QuantStep &step : t.steps) {
    if (step.rounding != osa::Rounding::HalfEven)
      return nullptr;
    int64_t inner = 1;
    for (size_t d = size_t(step.axis) + 1; step.axis >= 0 && d < t.shape.size();
         ++d)
      inner *= t.shape[d];
    for (auto [i, v] : llvm::enumerate(values)) {
      const size_t at =
          step.axis < 0
              ? 0
              : size_t(int64_t(i) / inner % t.shape[size_t(step.axis)]);
      const auto scale = float(step.scale[at]);
      const auto zero = double(step.zeroPoint[at]);
      if (step.quantize)
        v = std::clamp(double(std::nearbyint(float(v) / scale)) + zero,
                       double(step.type.getLo()), double(step.type.getHi()));
      else
        v = float(v - zero) * scale;
    }
  }
  const llvm::fltSemantics &half = type == TensorProto::BFLOAT16
                                       ? llvm::APFloat::BFloat()
                                       : llvm::APFloat::IEEEhalf();
  for (double &v : values) {
    llvm::APFloat rounded(v);
    bool lost;
    rounded.convert(half, llvm::APFloat::rmNearestTiesToEven, &lost);
    rounded.convert(llvm::APFloat::IEEEdouble(),
                    llvm::APFloat::rmNearestTiesToEven, &lost);
    v = rounded.convertToDouble();
  }
  host->reals = std::move(values);
  return host;
}

void importer::settleTypes(NodeContext &node) {
  if (!innerGraphsOf(node.proto).empty())
    return; // the nodes of its body have settled it
  const OnnxOperation *operation = findOperation(node.op());
  for (auto [i, t] : llvm::enumerate(node.results)) {
    if (!t || t->element != node.f32 || t->whole)
      continue;
    int type = realTypeOf(node, i);
    FloatType half = halfType(node.context, type);
    if (!half && !halfType(node.context, t->onnx))
      continue;
    // Operations that only pass a tensor on share it with their input.
    auto own = std::make_shared<GraphTensor>(*t);
    own->onnx = half ? type : 0;
    bool isWider = node.op() == "Cast" || node.op() == "CastLike"
                       ? node.input(0) && typeOf(node.input(0)) != type
                       : !operation->has(KeepsNumbers);
    if (half && isWider && !own->isPlainConstant() &&
        !isBetweenQuantizers(node.state, node.proto.output(int(i)))) {
      if (HostRef stored = roundedConstant(*own, type))
        own = constantTensor(node.context, stored);
      else
        roundTo(node, *own, half);
    }
    t = own;
  }
}
