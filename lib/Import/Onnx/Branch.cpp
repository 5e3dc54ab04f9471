// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// If whose condition is a constant, or follows from shapes: the branch that is
// taken is imported in its place, on either side like any nodes. What branches
// read from around themselves are the node's further inputs (Graph.cpp).
#include "Host.h"
#include "Placement.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace rhizome;
using namespace rhizome::importer;
using llvm::formatv;
using onnx::TensorProto;

/// The branch that is taken; null (refused) if nobody knows.
static const onnx::GraphProto *branchOf(NodeContext &node) {
  TensorRef condition = node.input(0);
  if (!condition) {
    node.refuse("its input 0 is missing");
    return nullptr;
  }
  if (!condition->isPlainConstant() || condition->ofBound) {
    node.refuse("its condition is computed while the model runs",
                "export the model with the branch that is taken alone "
                "(constants folded), or compute both and choose with Where");
    return nullptr;
  }
  const HostTensor &value = *condition->constant;
  if (value.isReal() || value.size() != 1) {
    node.refuse(formatv("its condition is {0}{1}, not one truth",
                        typeName(value.type), describe(value.shape)),
                "export the model anew");
    return nullptr;
  }
  StringRef name = value.ints.front() ? "then_branch" : "else_branch";
  const onnx::AttributeProto *branch = node.find(name);
  if (!branch || !branch->has_g()) {
    node.refuse(formatv("its attribute '{0}' is missing", name),
                "export the model anew");
    return nullptr;
  }
  if (branch->g().output_size() != node.proto.output_size()) {
    node.refuse(formatv("its attribute '{0}' gives {1} tensors, not {2}", name,
                        branch->g().output_size(), node.proto.output_size()),
                "export the model anew");
    return nullptr;
  }
  return &branch->g();
}

LogicalResult onhost::branch(NodeContext &node) {
  const onnx::GraphProto *proto = branchOf(node);
  if (!proto)
    return failure();
  Refusals refused;
  ImportState &outer = node.state;
  std::unique_ptr<Graph> graph = readBody(*proto, outer.graph, refused);
  if (!graph) {
    llvm::append_range(node.refusals, refused);
    return failure();
  }
  ImportState inner(node.context, *graph, outer.directory, outer.options,
                    refused);
  inner.builder.restoreInsertionPoint(node.builder.saveInsertionPoint());
  inner.function = outer.function;
  inner.trips = outer.trips;
  inner.foldedElements = outer.foldedElements;
  inner.integersOnHost = outer.integersOnHost;
  for (int i = 1; i < node.proto.input_size(); ++i)
    if (TensorRef t = node.input(size_t(i))) {
      inner.tensors[node.proto.input(i)] = t;
      for (const Bound &bound : t->bounds)
        inner.tensors[bound.size] = outer.lookup(bound.size);
    }
  for (size_t i = 0; i < graph->nodes.size();)
    i = importExpansion(inner, i);
  outer.foldedElements = inner.foldedElements;
  outer.needsExactIntegers |= inner.needsExactIntegers;
  node.builder.restoreInsertionPoint(inner.builder.saveInsertionPoint());
  llvm::append_range(node.refusals, refused);
  if (!refused.empty())
    return failure();
  for (auto [i, output] : llvm::enumerate(proto->output())) {
    TensorRef t = inner.lookup(output.name());
    if (!t || t->unknown)
      return node.refuse(
          formatv("its branch does not give '{0}'", output.name()),
          "export the model anew");
    if (failed(node.setResult(i, t)))
      return failure();
  }
  return success();
}
