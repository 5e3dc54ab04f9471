// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Network or host. Whether the network can hold a node depends on its operands'
// types, constants and shapes in ways that only its builder knows, so that the
// answer is an attempt: it gives the node, declines it with reasons (then the
// host takes it if it can), or refuses it for good. A declined attempt has no
// effect: its results are dropped and what it built is dead code.
#include "Placement.h"
#include "Asked.h"
#include "Bounds.h"
#include "Host.h"
#include "Network.h"

using namespace mlir;
using namespace rhizome;
using namespace rhizome::importer;
using onnx::TensorProto;

namespace {
enum class Outcome { Built, Declined, Refused };
} // namespace

//===----------------------------------------------------------------------===//
// The two sides
//===----------------------------------------------------------------------===//

/// Computes a node of constants; nullopt if it is none, or only the builders
/// can.
static std::optional<Outcome> foldConstant(NodeContext &node,
                                           NodeFolder folder) {
  SmallVector<HostRef> hosts;
  for (const TensorRef &t : node.inputs) {
    if (!folder || (t && !t->isPlainConstant()))
      return std::nullopt;
    hosts.push_back(t ? t->constant : nullptr);
    if (t && t->constant->isReal() && HostTensor::isRealType(t->onnx) &&
        t->constant->type != t->onnx) {
      auto own = std::make_shared<HostTensor>(*t->constant);
      own->type = t->onnx;
      hosts.back() = own;
    }
  }
  ImportState &state = node.state;
  int64_t left = state.options.limits.foldedElements - state.foldedElements;
  Folding folding{node.file, hosts, node.context,
                  std::min(left, kMaxFoldedElements), ""};
  HostRef out;
  switch (folder(folding, out)) {
  case Fold::NotFoldable:
    return std::nullopt;
  case Fold::Failed:
    node.refuse(folding.error);
    return Outcome::Refused;
  case Fold::Folded:
    bool isStored = node.op() == "Constant";
    if (!isStored)
      state.foldedElements += int64_t(out->size());
    (void)node.setResult(0, isStored ? state.constant(out)
                                     : constantTensor(node.context, out));
    return Outcome::Built;
  }
  llvm_unreachable("all cases return");
}

/// As part of the network, or as a constant. In a body the host comes first:
/// the network has no bodies.
static Outcome tryNetwork(NodeContext &node, const OnnxOperation &operation) {
  if ((!operation.network && !operation.fold) ||
      !checkAttributes(node, operation, /*onHost=*/false))
    return Outcome::Declined;
  if (auto folded = foldConstant(node, operation.fold))
    return *folded;
  if (node.state.trips && operation.host)
    return Outcome::Declined;
  if (!operation.network) {
    node.refuse(llvm::formatv("the operation {0} is supported on constants "
                              "only",
                              node.op()));
    return Outcome::Declined;
  }
  bool done = succeeded(prepareWhole(node, operation)) &&
              succeeded(operation.network(node)) &&
              succeeded(propagateWhole(node, operation));
  return done ? Outcome::Built : Outcome::Declined;
}

/// `why` says why it is no part of the network, for those who ask.
static Outcome tryHost(NodeContext &node, NodeBuilder builder,
                       const OnnxOperation &operation, const Refusal *why) {
  LoopsSince built(node.state);
  if (!checkAttributes(node, operation, /*onHost=*/true) ||
      failed(builder(node)))
    return Outcome::Refused;
  if (why)
    built.note(*why);
  return Outcome::Built;
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

void importer::giveUnknown(NodeContext &node) {
  const Graph &graph = node.state.graph;
  const OnnxOperation *operation = findOperation(node.op());
  for (const std::string &name : node.proto.output()) {
    if (name.empty())
      continue;
    auto t = std::make_shared<GraphTensor>();
    t->unknown = true;
    std::optional<Shape> shape;
    if (auto info = graph.valueInfo.find(name);
        info != graph.valueInfo.end() &&
        info->second->type().tensor_type().elem_type() == TensorProto::FLOAT)
      shape = staticShape(*info->second);
    TensorRef x = node.input(0);
    if (!shape && operation && operation->has(KeepsShape) && x && !x->unknown &&
        x->element == node.f32)
      shape = x->shape;
    if (shape && elementCount(*shape)) {
      t->unknown = false;
      t->shape = *shape;
      t->element = node.f32;
      t->plain = UnrealizedConversionCastOp::create(
                     node.builder, node.loc, tensorType(*shape, node.f32),
                     ValueRange())
                     .getResult(0);
    }
    node.state.tensors[name] = t;
  }
}

/// Enters the results of a node that was built; false if one is missing, or
/// something was refused on the way.
static bool enterResults(NodeContext &node, const OnnxOperation &operation,
                         bool onHost) {
  settleTypes(node);
  if (onHost)
    foldResults(node);
  for (auto [name, t] : llvm::zip_equal(node.proto.output(), node.results))
    if (t)
      node.state.tensors[name] = t;
  if (!node.refusals.empty())
    return true;
  for (auto [i, t] : llvm::enumerate(node.results))
    if (!t && node.outputUsed(i)) {
      node.refuse(llvm::formatv("its output {0} ('{1}') is used, which {2} "
                                "does not have",
                                i, node.proto.output(int(i)), node.op()));
      return false;
    }
  return true;
}

//===----------------------------------------------------------------------===//
// One node
//===----------------------------------------------------------------------===//

static void settle(NodeContext &node, const OnnxOperation *operation,
                   Outcome outcome, bool onHost, Refusals &refusals) {
  if (outcome != Outcome::Built || !enterResults(node, *operation, onHost)) {
    assert((!node.refusals.empty() || !node.areInputsKnown() ||
            node.state.graph.refusedNodes.contains(node.name)) &&
           "failure without a reason");
    giveUnknown(node);
  }
  for (Refusal &refusal : node.refusals)
    if (refusal.remedy.empty())
      refusal.remedy = askedByOnnx(node);
  llvm::append_range(refusals, node.refusals);
}

void importer::importNode(ImportState &state, const Node &file, Sides sides,
                          Refusals &refusals) {
  if (file.op() != "If" && readsBounds(state, file))
    importBounded(state, file, sides, refusals);
  else
    importPlain(state, file, sides, refusals);
}

void importer::importPlain(ImportState &state, const Node &file, Sides sides,
                           Refusals &refusals) {
  const OnnxOperation *operation = findOperation(file);
  NodeContext node(state, file);
  auto refuse = [&] {
    settle(node, operation, Outcome::Refused, false, refusals);
  };
  if (state.graph.refusedNodes.contains(file.name) ||
      !isSupported(node, file, operation, sides))
    return refuse();
  if (!node.areInputsKnown()) { // its attributes can be judged
    judgeAttributes(node, *operation, sides);
    return refuse();
  }
  if (operation->has(Qonnx))
    liftParameters(node);
  Outcome outcome = tryNetwork(node, *operation);
  bool mayBeHosts = sides == Sides::NetworkOrHost && operation->host;
  if (outcome != Outcome::Declined || !mayBeHosts)
    return settle(node, operation, outcome, false, refusals);
  NodeContext again(state, file);
  if (operation->has(Qonnx))
    liftParameters(again);
  const Refusal *why = node.refusals.empty() ? nullptr : &node.refusals.front();
  outcome = tryHost(again, operation->host, *operation, why);
  settle(again, operation, outcome, true, refusals);
}
