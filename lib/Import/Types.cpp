// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which inputs of an operation must have one element type. Within the network
// real numbers have no precision and integers carry their range, so that a file
// which breaks this rule would not be noticed there: it is judged by what the
// file itself says of inputs, initialisers and constants.
#include "Types.h"
#include "Constant.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/FormatVariadic.h"
#include <initializer_list>

using namespace rhizome;
using namespace rhizome::importer;
using llvm::formatv;
using llvm::StringRef;

/// Groups of input indices; an empty group is all inputs.
using Groups = std::vector<std::vector<int>>;

static const llvm::StringMap<Groups> &rules() {
  static const llvm::StringMap<Groups> table = [] {
    llvm::StringMap<Groups> made;
    auto add = [&](std::initializer_list<StringRef> ops, const Groups &groups) {
      for (StringRef op : ops)
        made[op] = groups;
    };
    add({"Add",
         "Sub",
         "Mul",
         "Div",
         "Min",
         "Max",
         "Sum",
         "Mean",
         "MatMul",
         "Gemm",
         "Conv",
         "ConvTranspose",
         "Concat",
         "Clip",
         "Einsum",
         "PRelu",
         "Equal",
         "Greater",
         "GreaterOrEqual",
         "Less",
         "LessOrEqual"},
        {{}});
    add({"Where"}, {{1, 2}});
    add({"DequantizeLinear"}, {{0, 2}});
    add({"ConvInteger", "MatMulInteger"}, {{0, 2}, {1, 3}});
    add({"MatMulIntegerToFloat"}, {{0, 4}, {1, 5}, {2, 3, 6}});
    add({"QLinearConv", "QLinearMatMul", "QGemm"}, {{0, 2}, {3, 5}});
    add({"QLinearAdd", "QLinearMul"}, {{0, 2, 3, 5, 7}});
    add({"QLinearSigmoid", "QLinearLeakyRelu", "QLinearAveragePool",
         "QLinearGlobalAveragePool", "QLinearReduceMean", "QLinearSoftmax"},
        {{0, 2, 4}});
    return made;
  }();
  return table;
}

/// The element types that the file states, by tensor.
static llvm::StringMap<int> statedTypes(const onnx::GraphProto &graph) {
  llvm::StringMap<int> types;
  for (const onnx::TensorProto &t : graph.initializer())
    types[t.name()] = t.data_type();
  for (const onnx::ValueInfoProto &v : graph.input())
    if (int type = v.type().tensor_type().elem_type())
      types.try_emplace(v.name(), type);
  for (const onnx::NodeProto &n : graph.node())
    for (const onnx::AttributeProto &a : n.attribute())
      if (n.output_size() == 1 && n.op_type() == "Constant" &&
          a.name() == "value" && a.has_t())
        types[n.output(0)] = a.t().data_type();
      else if (n.output_size() == 1 && n.op_type() == "Cast" &&
               a.name() == "to")
        types[n.output(0)] = int(a.i());
  return types;
}

void importer::checkTypes(const onnx::GraphProto &graph, Refusals &refusals) {
  const llvm::StringMap<int> types = statedTypes(graph);
  for (const onnx::NodeProto &n : graph.node()) {
    auto rule = rules().find(n.op_type());
    StringRef domain = n.domain();
    if (rule == rules().end() ||
        !(domain.empty() || domain == "ai.onnx" || domain == "com.microsoft"))
      continue;
    for (const std::vector<int> &group : rule->second) {
      int first = -1, firstType = 0;
      for (int k = 0, e = group.empty() ? n.input_size() : int(group.size());
           k < e; ++k) {
        int i = group.empty() ? k : group[k];
        auto type = i < n.input_size() ? types.find(n.input(i)) : types.end();
        if (type == types.end())
          continue;
        if (first < 0) {
          first = i;
          firstType = type->second;
        } else if (type->second != firstType) {
          refusals.push_back(
              {Node(n, 0).name, n.op_type(),
               formatv("its inputs {0} and {1} have the types {2} and {3}, "
                       "which must be one",
                       first, i, typeName(firstType), typeName(type->second)),
               "put a Cast before one of them, or export the model anew"});
          break;
        }
      }
    }
  }
}
