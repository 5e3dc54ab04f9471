// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Integers that the network represents as reals: which operations accept them,
// and the bounds of their results.
#include "Network.h"
#include "Placement.h"
#include "rhizome/Dialect/Marks/Marks.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>

using namespace mlir;
using namespace rhizome;
using namespace rhizome::importer;
using llvm::formatv;
using onnx::TensorProto;

static bool hasWhole(const NodeContext &node) {
  return llvm::any_of(node.inputs,
                      [](const TensorRef &t) { return t && t->whole; });
}

/// Integer constants used with a tensor of whole numbers, as reals, exactly.
static LogicalResult liftIntegers(NodeContext &node) {
  static const StringRef arithmetic[] = {"Add", "Sub", "Mul", "Div", "MatMul"};
  if (!llvm::is_contained(arithmetic, node.op()))
    return success();
  for (TensorRef &t : node.inputs) {
    if (!t || !t->isPlainConstant() || t->constant->isReal())
      continue;
    num::IntType stored = integerType(node.context, t->constant->type);
    if (node.op() == "MatMul" && stored && stored.getWidth() < 32)
      return node.refuse(
          formatv("its weights have the element type {0}, for which "
                  "MatMul is not defined",
                  typeName(t->constant->type)),
          "use MatMulInteger, or store them as int32");
    auto host = std::make_shared<HostTensor>(*t->constant);
    for (int64_t v : host->ints)
      if (v < INT32_MIN || v > INT32_MAX)
        return node.refuse(formatv("its constant operand holds {0}", v),
                           "integers of 32 bits are supported");
    host->type = TensorProto::INT32;
    auto out = std::make_shared<GraphTensor>();
    out->shape = host->shape;
    out->element = node.f32;
    out->onnx = t->constant->type;
    auto [lo, hi] = std::minmax_element(host->ints.begin(), host->ints.end());
    if (lo != host->ints.end())
      out->whole = {*lo, *hi};
    out->constant = std::move(host);
    out->steps = {
        {false, {1.0}, {0}, -1, num::IntType::getFull(node.context, true, 32)}};
    t = out;
  }
  return success();
}

LogicalResult importer::prepareWhole(NodeContext &node,
                                     const OnnxOperation &operation) {
  if (!hasWhole(node))
    return success();
  if (node.state.integersOnHost && operation.has(ComputesIntegers))
    return node.refuse("the host computes the model's integers, which float32 "
                       "does not hold");
  constexpr unsigned takes =
      KeepsIntegers | ComputesIntegers | DecidesOnIntegers;
  for (auto [i, t] : llvm::enumerate(node.inputs))
    if (t && t->whole && !(operation.traits & takes))
      return node.refuse(formatv("its input {0} holds integers, for which {1} "
                                 "is not defined",
                                 i, node.op()),
                         "put a Cast to float32 before it");
  return liftIntegers(node);
}

void importer::setWhole(NodeContext &node, std::pair<int64_t, int64_t> bounds) {
  if (node.results.empty() || !node.results[0])
    return;
  // Operations that only pass a tensor on share it with their input.
  TensorRef &out = node.results[0];
  out = std::make_shared<GraphTensor>(*out);
  out->whole = bounds;
  auto from = llvm::find_if(node.inputs,
                            [](const TensorRef &t) { return t && t->whole; });
  if (from != node.inputs.end())
    out->onnx = typeOf(*from);
}

/// What an operation on whole numbers gives, if the type holds it all: the
/// network's reals do not wrap around.
static LogicalResult settleComputed(NodeContext &node, int type) {
  auto holds = wholeRange(type);
  RealInterval range = boundsOf(node, node.results[0]);
  const double low = double(
                   std::max(holds ? holds->first : 0, kWideIntegers.first)),
               high = double(
                   std::min(holds ? holds->second : 0, kWideIntegers.second));
  if (!holds || !range.isWithin(low, high))
    return node.refuse(formatv("its results from {0} to {1} may wrap around in "
                               "{2}",
                               range.lo, range.hi, typeName(type)),
                       "put a Clip before it");
  const std::pair<int64_t, int64_t> bounds(std::floor(range.lo),
                                           std::ceil(range.hi));
  setWhole(node, bounds);
  const TensorRef &out = node.results[0];
  Value v = out->last ? out->last : out->plain;
  if (Operation *op = v ? v.getDefiningOp() : nullptr;
      op && !isExactInFloat(bounds))
    op->setAttr(marks::kWide, node.builder.getUnitAttr());
  return success();
}

LogicalResult importer::propagateWhole(NodeContext &node,
                                       const OnnxOperation &operation) {
  bool isKept = operation.has(KeepsIntegers);
  if (node.results.empty() || !node.results[0] ||
      (!isKept && !operation.has(ComputesIntegers)))
    return success();
  std::optional<std::pair<int64_t, int64_t>> bounds;
  int type = 0;
  for (const TensorRef &t : node.inputs)
    if (t && t->whole) {
      bounds = {std::min(bounds ? bounds->first : 0, t->whole->first),
                std::max(bounds ? bounds->second : 0, t->whole->second)};
      type = typeOf(t);
    }
  if (bounds && !isKept)
    return settleComputed(node, type);
  if (bounds)
    setWhole(node, *bounds);
  // Integers that were only moved keep the file's element type.
  const TensorRef &out = node.results[0], in = node.input(0);
  if (isKept && in && out != in && !out->onnx &&
      !HostTensor::isRealType(typeOf(in)))
    out->onnx = typeOf(in);
  return success();
}
