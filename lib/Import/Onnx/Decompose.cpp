// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which nodes are expanded into others: those whose operation has an
// expansion, and QONNX's on tensors with their channels last.
#include "Decompose.h"
#include "Expand.h"
#include "Operations.h"

using namespace rhizome;
using namespace rhizome::importer;
using llvm::StringRef;
using onnx::AttributeProto;
using onnx::NodeProto;

/// The standard operation between two transposes, which later cancel. The
/// weights of a Conv are [O, kH, kW, C], too.
static void channelsLast(Expansion &e, StringRef op, size_t rank) {
  std::vector<int64_t> first = {0, int64_t(rank) - 1}, back = {0};
  for (size_t i = 1; i + 1 < rank; ++i) {
    first.push_back(int64_t(i));
    back.push_back(int64_t(i) + 1);
  }
  back.push_back(1);
  std::vector<std::string> inputs = {e.transpose(e.input(0), first)};
  for (int i = 1; i < e.inputs(); ++i)
    inputs.push_back(op == "Conv" && i == 1 ? e.transpose(e.input(i), first)
                                            : e.input(i));
  e.transpose(e.real(op, inputs), back, true);
}

/// The number of axes of a node's first input, if the file contains it.
static size_t rankOf(const NodeProto &n,
                     const llvm::StringMap<size_t> &declared) {
  for (const AttributeProto &a : n.attribute())
    if (a.name() == "kernel_shape")
      return size_t(a.ints_size()) + 2;
  for (const std::string &name : {n.input(0), n.output(0)})
    if (auto found = declared.find(name); found != declared.end())
      return found->second;
  return 4;
}

static bool isChannelsLast(const NodeProto &n) {
  static const StringRef ops[] = {"AveragePool", "BatchNormalization", "Conv",
                                  "MaxPool"};
  std::string domain = StringRef(n.domain()).lower();
  bool named = domain.find("channels_last") != std::string::npos ||
               domain.find("channelslast") != std::string::npos;
  return named && llvm::is_contained(ops, StringRef(n.op_type())) &&
         n.input_size() > 0 && n.output_size() == 1;
}

void importer::decompose(onnx::GraphProto &graph,
                         llvm::StringMap<NodeProto> &whole) {
  llvm::StringMap<size_t> ranks;
  for (const auto *list :
       {&graph.input(), &graph.output(), &graph.value_info()})
    for (const onnx::ValueInfoProto &info : *list)
      if (info.type().tensor_type().has_shape())
        ranks[info.name()] =
            size_t(info.type().tensor_type().shape().dim_size());
  google::protobuf::RepeatedPtrField<NodeProto> nodes;
  nodes.Swap(graph.mutable_node());
  for (NodeProto &n : nodes) {
    if (isChannelsLast(n)) {
      size_t rank = rankOf(n, ranks);
      if (rank >= 3 && rank <= 4) {
        Expansion e(n, graph);
        channelsLast(e, n.op_type(), rank);
        continue;
      }
    }
    const OnnxOperation *found = findOperation(n.op_type());
    StringRef domain = n.domain();
    bool known =
        domain.empty() || domain == "ai.onnx" || domain == "com.microsoft";
    // A node with too few inputs is kept, to be refused under its own name.
    if (found && found->expand && known && n.output_size() == 1 &&
        n.input_size() >= found->arity.least &&
        n.input_size() <= found->arity.most) {
      Expansion e(n, graph);
      found->expand(e);
      if (found->exact) {
        n.clear_doc_string();
        whole[n.output(0)] = n;
      }
      continue;
    }
    n.clear_doc_string();
    *graph.add_node() = std::move(n);
  }
}
