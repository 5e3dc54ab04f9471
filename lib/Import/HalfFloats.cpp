// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tensors of float16 and bfloat16. ONNX computes and rounds in the type that
// the file gives a tensor. Here reals are float32: every operation is computed
// in float32, and its result is rounded once to the tensor's own type, half to
// even. Between two quantisers arithmetic is real, whatever the file stores
// its numbers in, so nothing is rounded there.
#include "Importer.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace rhizome;
using namespace rhizome::importer;
using onnx::TensorProto;

FloatType Importer::halfType(int onnxType) {
  if (onnxType == TensorProto::FLOAT16)
    return builder.getF16Type();
  if (onnxType == TensorProto::BFLOAT16)
    return builder.getBF16Type();
  return {};
}

/// The element type that ONNX gives the real result `i` of the current node.
int Importer::realTypeOf(size_t i) const {
  StringRef op = node->op();
  auto of = [&](size_t k) {
    return input(k) ? typeOf(input(k)) : int(TensorProto::FLOAT);
  };
  if (op == "Cast")
    return int(node->getInt("to", 0));
  if (op == "CastLike" || op == "Where")
    return of(1);
  if (op == "OneHot")
    return of(2);
  if (op == "DequantizeLinear")
    return int(node->getInt("output_dtype", of(1)));
  if (op == "EyeLike")
    return int(node->getInt("dtype", of(0)));
  if (op == "DynamicQuantizeLinear" ||
      (i > 0 && op.ends_with("LayerNormalization")))
    return TensorProto::FLOAT;
  for (const TensorRef &t : inputs)
    if (t && HostTensor::isRealType(typeOf(t)))
      return typeOf(t);
  return TensorProto::FLOAT;
}

/// True if an operation's results are elements of its inputs, or numbers that
/// every type of float has.
static bool keepsNumbers(StringRef op) {
  static const llvm::StringSet<> names = {"Abs",           "Ceil",
                                          "Clip",          "Compress",
                                          "Concat",        "DepthToSpace",
                                          "Dropout",       "Expand",
                                          "EyeLike",       "Flatten",
                                          "Floor",         "Gather",
                                          "GatherND",      "GatherElements",
                                          "GlobalMaxPool", "Hardmax",
                                          "Identity",      "Max",
                                          "MaxPool",       "Min",
                                          "Neg",           "OneHot",
                                          "Pad",           "ReduceMax",
                                          "ReduceMin",     "Relu",
                                          "Reshape",       "Round",
                                          "Sign",          "Slice",
                                          "SpaceToDepth",  "Split",
                                          "Squeeze",       "Tile",
                                          "TopK",          "Transpose",
                                          "Trilu",         "Unsqueeze",
                                          "Where",         "ReverseSequence"};
  return names.contains(op);
}

void Importer::settleTypes() {
  for (int i = 0; i < node->proto.output_size(); ++i) {
    auto found = tensors.find(node->proto.output(i));
    if (found == tensors.end() || found->second->unknown ||
        found->second->element != f32 || found->second->whole)
      continue;
    int type = realTypeOf(i);
    FloatType half = halfType(type);
    const TensorRef &t = found->second;
    if (!half && !halfType(t->onnx))
      continue;
    // Operations that only pass a tensor on share it with their input.
    auto own = std::make_shared<GraphTensor>(*t);
    own->onnx = half ? type : 0;
    bool isWider = node->op() == "Cast" || node->op() == "CastLike"
                       ? input(0) && typeOf(input(0)) != type
                       : !keepsNumbers(node->op());
    if (half && isWider && !own->isPlainConstant() &&
        !isBetweenQuantisers(node->proto.output(i)))
      roundTo(*own, half);
    found->second = own;
  }
}

void Importer::roundTo(GraphTensor &t, FloatType half) {
  if (options.rawIntegerFraction)
    return; // its numbers are codes of the fixed-point format
  bool last = t.last && !t.isConstant();
  Value v = last ? t.last : t.isConstant() ? materialise(t) : t.plain;
  if (!v) // refused
    return;
  v = loops().rounded(v, half);
  t.constant = nullptr;
  t.steps.clear();
  t.plain = last ? Value() : v;
  t.last = last ? v : Value();
  t.host = {};
}

/// Finds the tensors whose reals all come from dequantisers and constants, and
/// all end in quantisers. Those inside an operation's expansion, which the file
/// does not name, are no tensors of the file's type either.
bool Importer::isBetweenQuantisers(StringRef tensor) {
  if (tensor.contains('\x1f'))
    return true;
  if (betweenQuantisers)
    return betweenQuantisers->contains(tensor);
  betweenQuantisers.emplace();
  enum Source { Constant, Quantised, Other };
  llvm::StringMap<Source> sources;
  for (const auto &entry : graph.initialisers)
    sources[entry.getKey()] = Constant;
  for (const Node &n : graph.nodes) {
    Source from = Constant;
    for (const std::string &name : n.proto.input()) {
      auto found = sources.find(name);
      if (!name.empty())
        from = std::max(from, found == sources.end() ? Other : found->second);
    }
    if (n.op() == "DequantizeLinear")
      from = from == Constant ? Constant : Quantised;
    for (const std::string &name : n.proto.output())
      sources[name] = from;
  }
  // What leaves towards something else than a quantiser, users first.
  llvm::StringSet<> leaving;
  for (const onnx::ValueInfoProto &v : graph.model.graph().output())
    leaving.insert(v.name());
  for (const Node &n : llvm::reverse(graph.nodes)) {
    bool leaves = n.op() != "QuantizeLinear" &&
                  llvm::any_of(n.proto.output(), [&](const std::string &name) {
                    return leaving.contains(name) || sources[name] == Other;
                  });
    if (leaves)
      for (const std::string &name : n.proto.input())
        leaving.insert(name);
    for (const std::string &name : n.proto.output())
      if (!leaving.contains(name) && sources[name] != Other)
        betweenQuantisers->insert(name);
  }
  return betweenQuantisers->contains(tensor);
}
