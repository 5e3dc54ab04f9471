// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operations that are composed of others: the nodes that replace a node,
// and the functions that write them.
#pragma once

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"
#include <onnx/onnx_pb.h>
#include <string>
#include <vector>

namespace rhizome::importer {
/// The nodes that replace one node.
class Expansion {
public:
  Expansion(const onnx::NodeProto &node, onnx::GraphProto &out)
      : node(node), out(out) {
    for (const std::string &output : node.output())
      if (name.empty())
        name = node.name().empty() ? output : node.name();
  }

  llvm::StringRef op() const { return node.op_type(); }
  std::string input(int i) const {
    return i < node.input_size() ? node.input(i) : "";
  }
  int inputs() const { return node.input_size(); }
  const onnx::AttributeProto *attribute(llvm::StringRef which) const {
    for (const onnx::AttributeProto &a : node.attribute())
      if (a.name() == which)
        return &a;
    return nullptr;
  }
  int64_t getInt(llvm::StringRef which, int64_t fallback) const {
    const onnx::AttributeProto *a = attribute(which);
    return a && a->has_i() ? a->i() : fallback;
  }

  /// Adds a node. Its result is the expanded node's if `last`.
  onnx::NodeProto &add(llvm::StringRef op, std::vector<std::string> from,
                       bool last = false) {
    onnx::NodeProto &made = *out.add_node();
    made.set_name(name);
    made.set_op_type(op.str());
    made.set_doc_string(node.op_type());
    while (!from.empty() && from.back().empty())
      from.pop_back();
    for (std::string &f : from)
      made.add_input(std::move(f));
    made.add_output(last ? node.output(0) : fresh());
    return made;
  }
  std::string put(llvm::StringRef op, std::vector<std::string> from) {
    return add(op, std::move(from)).output(0);
  }
  void last(llvm::StringRef op, std::vector<std::string> from) {
    add(op, std::move(from), true);
  }

  std::string dequantize(const std::string &x, const std::string &scale,
                         const std::string &zero, int64_t axis = 1) {
    onnx::NodeProto &made = add("DequantizeLinear", {x, scale, zero});
    set(made, "axis", axis);
    return made.output(0);
  }
  void quantize(const std::string &x, int scale) {
    last("QuantizeLinear", {x, input(scale), input(scale + 1)});
  }
  std::string constant(float value) {
    onnx::NodeProto &made = add("Constant", {});
    onnx::AttributeProto &a = *made.add_attribute();
    a.set_name("value_float");
    a.set_type(onnx::AttributeProto::FLOAT);
    a.set_f(value);
    return made.output(0);
  }
  double getFloat(llvm::StringRef which, double fallback) const {
    const onnx::AttributeProto *a = attribute(which);
    return a && a->has_f() ? a->f() : fallback;
  }
  std::string transpose(const std::string &x, std::vector<int64_t> order,
                        bool last = false) {
    onnx::NodeProto &made = add("Transpose", {x}, last);
    onnx::AttributeProto &a = *made.add_attribute();
    a.set_name("perm");
    a.set_type(onnx::AttributeProto::INTS);
    for (int64_t v : order)
      a.add_ints(v);
    return made.output(0);
  }
  static void set(onnx::NodeProto &made, llvm::StringRef which, int64_t value) {
    onnx::AttributeProto &a = *made.add_attribute();
    a.set_name(which.str());
    a.set_type(onnx::AttributeProto::INT);
    a.set_i(value);
  }
  /// Adds the real operation with the node's attributes, except `without`.
  std::string real(llvm::StringRef op, std::vector<std::string> from,
                   std::vector<llvm::StringRef> without = {}) {
    onnx::NodeProto &made = add(op, std::move(from));
    for (const onnx::AttributeProto &a : node.attribute())
      if (!llvm::is_contained(without, llvm::StringRef(a.name())))
        *made.add_attribute() = a;
    return made.output(0);
  }

private:
  /// A tensor name that no file uses: it contains a control character.
  std::string fresh() {
    return node.output(0) + "\x1f" + std::to_string(count++);
  }

  const onnx::NodeProto &node;
  onnx::GraphProto &out;
  std::string name;
  int count = 0;
};

namespace expand {
// ExpandQuantized.cpp
void qlinearConv(Expansion &e);
void qlinearMatMul(Expansion &e);
void qgemm(Expansion &e);
void qlinearBinary(Expansion &e);
void qlinearUnary(Expansion &e);
void qlinearPool(Expansion &e);
void qlinearConcat(Expansion &e);
void convInteger(Expansion &e);
void matMulInteger(Expansion &e);
void matMulIntegerToFloat(Expansion &e);
void dynamicQuantizeMatMul(Expansion &e);

// ExpandFused.cpp
void fusedConv(Expansion &e);
void fusedGemm(Expansion &e);
void fusedMatMul(Expansion &e);
void nhwcMaxPool(Expansion &e);
void hardSigmoid(Expansion &e);
void swiGlu(Expansion &e);
void pRelu(Expansion &e);
void elu(Expansion &e);
void selu(Expansion &e);
} // namespace expand
} // namespace rhizome::importer
