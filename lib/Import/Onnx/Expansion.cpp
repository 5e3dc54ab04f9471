// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operations that Decompose.cpp wrote out as several others: all of these
// become part of the network, or the host computes the operation as a whole,
// exactly.
#include "Bounds.h"
#include "Host.h"
#include "Placement.h"

using namespace mlir;
using namespace rhizome;
using namespace rhizome::importer;
using onnx::TensorProto;

/// True if the sums of an integer product may be beyond what float32 holds,
/// and somebody reads them as integers.
static bool isWideProduct(ImportState &state, const Node &n) {
  if (n.op() != "MatMulInteger" && n.op() != "ConvInteger")
    return false;
  TensorRef w = state.lookup(n.proto.input(1));
  if (!w || w->unknown || w->rank() == 0)
    return false;
  int64_t depth = 1;
  if (n.op() == "ConvInteger")
    for (int64_t size : ArrayRef(w->shape).drop_front())
      depth *= size;
  else
    depth = w->rank() > 1 ? w->shape[w->rank() - 2] : w->shape[0];
  if (depth <= 256)
    return false;
  const std::string &out = n.proto.output(0);
  for (const onnx::ValueInfoProto &v : state.graph.model.graph().output())
    if (v.name() == out)
      return true;
  return llvm::any_of(state.graph.nodes, [&](const Node &user) {
    return llvm::is_contained(user.proto.input(), out) &&
           !(user.op() == "Cast" &&
             HostTensor::isRealType(int(user.getInt("to", 0))));
  });
}

/// The tensor that an expansion's node works towards.
static StringRef targetOf(const Node &n) {
  return n.proto.output_size()
             ? StringRef(n.proto.output(0)).split('\x1f').first
             : StringRef();
}

/// The nodes from `first` on that one operation was written out as; empty if
/// there is no such operation.
static ArrayRef<Node> partsFrom(const Graph &graph, size_t first) {
  ArrayRef<Node> rest = ArrayRef(graph.nodes).drop_front(first);
  StringRef target = targetOf(rest.front());
  if (!graph.expanded.contains(target))
    return {};
  size_t count = 1;
  while (rest[count - 1].proto.output(0) != target && count < rest.size() &&
         targetOf(rest[count]) == target)
    ++count;
  if (rest[count - 1].proto.output(0) != target)
    return {};
  return rest.take_front(count);
}

/// All parts in the network; else why not.
static std::string tryParts(ImportState &state, ArrayRef<Node> parts) {
  Refusals declined;
  for (const Node &n : parts) {
    importNode(state, n, Sides::Network, declined);
    if (!declined.empty())
      return declined.front().reason;
  }
  return "";
}

/// Computes an operation that its expansion could not make part of the network.
static bool tryExactly(ImportState &state, const Node &written,
                       const std::string &why) {
  const OnnxOperation *operation = findOperation(written);
  NodeContext node(state, written);
  if (!operation || !operation->exact || !node.areInputsKnown() ||
      readsBounds(state, written))
    return false;
  LoopsSince built(state);
  if (!checkAttributes(node, *operation, /*onHost=*/true) ||
      failed(operation->exact(node)) || !node.refusals.empty())
    return false;
  built.note({"", "", why, ""});
  foldResults(node);
  for (auto [name, t] : llvm::zip_equal(node.proto.output(), node.results))
    if (t)
      state.tensors[name] = t;
  return true;
}

/// What the network gives for an integer product are int32.
static void markInteger(ImportState &state, const Node &written) {
  if (written.op() != "MatMulInteger" && written.op() != "ConvInteger")
    return;
  TensorRef &out = state.tensors[written.proto.output(0)];
  out = std::make_shared<GraphTensor>(*out);
  Value v = out->last ? out->last : out->plain;
  RealInterval range = v ? state.bounds.of(v) : RealInterval();
  auto [lo, hi] = *wholeRange(TensorProto::INT32);
  out->whole = {int64_t(std::max(range.lo, double(lo))),
                int64_t(std::min(range.hi, double(hi)))};
  out->onnx = TensorProto::INT32;
}

size_t importer::importExpansion(ImportState &state, size_t first) {
  ArrayRef<Node> parts = partsFrom(state.graph, first);
  if (parts.empty()) {
    importNode(state, state.graph.nodes[first], Sides::NetworkOrHost,
               state.refusals);
    return first + 1;
  }
  size_t next = first + parts.size();
  const Node written(state.graph.expanded.find(targetOf(parts.front()))->second,
                     first);
  std::string why = state.trips ? "the network has no loops over time"
                    : isWideProduct(state, written)
                        ? "float32 does not hold its sums"
                        : tryParts(state, parts);
  if (why.empty()) {
    markInteger(state, written);
    return next;
  }
  for (const Node &n : parts)
    for (const std::string &name : n.proto.output())
      state.tensors.erase(name);
  if (tryExactly(state, written, why))
    return next;
  // For instance scales that are computed: in parts, in float32.
  for (const Node &n : parts)
    importNode(state, n, Sides::NetworkOrHost, state.refusals);
  return next;
}
