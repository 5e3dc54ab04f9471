// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ONNX Runtime's dynamic quantization, undone: where formats or ranges of our
// own take its place, a tensor that it quantizes anew in each frame is the
// tensor of reals that it comes from, in scale 1, and the weights keep their
// codes. What else reads such codes leaves them as they are.
#include "Dynamic.h"
#include "Constant.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

using namespace rhizome;
using namespace rhizome::importer;
using llvm::StringRef;
using onnx::NodeProto;

/// Operations that only move their first input's elements.
static bool moves(const NodeProto &n) {
  static const StringRef ops[] = {"Identity", "Reshape", "Transpose",
                                  "Flatten",  "Squeeze", "Unsqueeze",
                                  "Slice",    "Gather",  "MaxPool"};
  return llvm::is_contained(ops, StringRef(n.op_type())) &&
         n.output_size() == 1;
}

namespace {
class Undoing {
public:
  explicit Undoing(Graph &graph) : graph(graph) {
    onnx::GraphProto &proto = *graph.model.mutable_graph();
    for (NodeProto &n : *proto.mutable_node()) {
      for (int i = 0; i < n.input_size(); ++i)
        if (!n.input(i).empty())
          uses[n.input(i)].push_back({&n, i});
      // As an expansion writes the scale of integers.
      if (n.op_type() == "Constant" && n.attribute_size() == 1 &&
          n.attribute(0).name() == "value_float" && n.attribute(0).f() == 1)
        ones.insert(n.output(0));
    }
    for (const onnx::ValueInfoProto &v : proto.output())
      outputs.insert(v.name());
  }
  /// The nodes that read codes of reals now.
  std::vector<NodeProto *> undo(NodeProto &quantizer);

private:
  struct Use {
    NodeProto *node;
    int input;
  };
  bool collect(const std::string &codes, const std::string &zero,
               std::vector<NodeProto *> &readers) const;

  Graph &graph;
  llvm::StringMap<llvm::SmallVector<Use>> uses;
  llvm::StringSet<> outputs, ones;
};
} // namespace

/// Finds the dequantizers of `codes`; false if something else reads them, or
/// reads them with another zero point.
bool Undoing::collect(const std::string &codes, const std::string &zero,
                      std::vector<NodeProto *> &readers) const {
  if (outputs.contains(codes))
    return false;
  for (const Use &use : uses.lookup(codes)) {
    NodeProto &n = *use.node;
    if (use.input != 0)
      return false;
    if (n.op_type() == "DequantizeLinear" && n.input_size() == 3 &&
        n.input(2) == zero)
      readers.push_back(&n);
    else if (!moves(n) || !collect(n.output(0), zero, readers))
      return false;
  }
  return true;
}

static void makeOne(NodeProto &n) {
  n.set_op_type("Constant");
  onnx::AttributeProto &a = *n.add_attribute();
  a.set_name("value_float");
  a.set_type(onnx::AttributeProto::FLOAT);
  a.set_f(1);
}

std::vector<NodeProto *> Undoing::undo(NodeProto &quantizer) {
  if (quantizer.input_size() != 1 || quantizer.output_size() != 3)
    return {};
  const std::string codes = quantizer.output(0), scale = quantizer.output(1),
                    zero = quantizer.output(2);
  std::vector<NodeProto *> readers;
  if (codes.empty() || outputs.contains(scale) || outputs.contains(zero) ||
      !collect(codes, zero, readers) || readers.empty() ||
      !llvm::all_of(uses.lookup(zero), [&](const Use &use) {
        return llvm::is_contained(readers, use.node) && use.input == 2;
      }))
    return {};
  // x = 1 · (x − 0)
  for (NodeProto *n : readers) {
    n->clear_attribute();
    n->mutable_input()->DeleteSubrange(2, 1);
    if (n->input(1) == scale || ones.contains(n->input(1))) {
      n->mutable_input()->DeleteSubrange(1, 1);
      n->set_op_type("Identity");
    } else {
      n->set_op_type("Mul");
    }
  }
  const std::string name = quantizer.name();
  quantizer.set_op_type("Identity");
  quantizer.mutable_output()->DeleteSubrange(1, 2);
  if (!scale.empty() && uses.contains(scale)) {
    NodeProto &one = *graph.model.mutable_graph()->add_node();
    one.set_name(name);
    one.add_output(scale);
    makeOne(one);
    std::vector<Node> nodes; // which cannot be assigned
    nodes.reserve(graph.nodes.size() + 1);
    nodes.emplace_back(one, 0);
    for (const Node &n : graph.nodes)
      nodes.push_back(n);
    graph.nodes.swap(nodes);
  }
  return readers;
}

/// Scales of float16 beside stored codes, as float32, in which nothing is
/// rounded behind them.
static void widenScales(Graph &graph) {
  onnx::GraphProto &proto = *graph.model.mutable_graph();
  llvm::StringSet<> stored; // made of initializers alone
  for (const auto &entry : graph.initializers)
    stored.insert(entry.getKey());
  for (const Node &n : graph.nodes)
    if (llvm::all_of(n.proto.input(), [&](const std::string &name) {
          return name.empty() || stored.contains(name);
        }))
      for (const std::string &name : n.proto.output())
        stored.insert(name);
  for (NodeProto &n : *proto.mutable_node()) {
    if (n.op_type() != "DequantizeLinear" || n.input_size() < 2 ||
        !stored.contains(n.input(0)))
      continue;
    auto scale = graph.initializers.find(n.input(1));
    if (scale == graph.initializers.end() ||
        (scale->second->data_type() != onnx::TensorProto::FLOAT16 &&
         scale->second->data_type() != onnx::TensorProto::BFLOAT16))
      continue;
    std::string error;
    HostRef values = decodeTensor(*scale->second, "", error);
    if (!values) // it is refused where it is read
      continue;
    const std::string name = n.input(1) + "\x1f" + "wide";
    if (!graph.initializers.contains(name)) {
      onnx::TensorProto &wide = *proto.add_initializer();
      wide.set_name(name);
      wide.set_data_type(onnx::TensorProto::FLOAT);
      for (int64_t size : values->shape)
        wide.add_dims(size);
      for (double v : values->reals)
        wide.add_float_data(float(v));
      graph.initializers[name] = &wide;
    }
    *n.mutable_input(1) = name;
  }
}

void importer::undoRounding(Graph &graph) {
  Undoing undoing(graph);
  std::vector<NodeProto *> quantizers;
  for (NodeProto &n : *graph.model.mutable_graph()->mutable_node())
    if (n.op_type() == "DynamicQuantizeLinear")
      quantizers.push_back(&n);
  for (NodeProto *quantizer : quantizers)
    for (const NodeProto *reader : undoing.undo(*quantizer))
      // The host's exact form of it takes integers.
      graph.expanded.erase(StringRef(reader->output(0)).split('\x1f').first);
  widenScales(graph);
}
