// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The operators that quantise by themselves, written out. ONNX defines
// QLinearConv and QLinearMatMul, and ONNX Runtime the contrib operators of
// domain com.microsoft, by this very equivalence; a bias of QLinearConv has the
// scale x_scale · w_scale, which is kept as a product of two exact numbers.
#include "Decompose.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include <cfloat>
#include <functional>
#include <string>
#include <vector>

using namespace rhizome;
using llvm::StringRef;
using onnx::AttributeProto;
using onnx::NodeProto;

namespace {
/// The nodes that take one node's place.
class Expansion {
public:
  Expansion(const NodeProto &node, onnx::GraphProto &out)
      : node(node), out(out) {
    for (const std::string &output : node.output())
      if (name.empty())
        name = node.name().empty() ? output : node.name();
  }

  std::string input(int i) const {
    return i < node.input_size() ? node.input(i) : "";
  }
  int inputs() const { return node.input_size(); }
  const AttributeProto *attribute(StringRef which) const {
    for (const AttributeProto &a : node.attribute())
      if (a.name() == which)
        return &a;
    return nullptr;
  }
  int64_t getInt(StringRef which, int64_t fallback) const {
    const AttributeProto *a = attribute(which);
    return a && a->has_i() ? a->i() : fallback;
  }

  /// Adds a node. Its result is the expanded node's if `last`.
  NodeProto &add(StringRef op, std::vector<std::string> from,
                 bool last = false) {
    NodeProto &made = *out.add_node();
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
  std::string put(StringRef op, std::vector<std::string> from) {
    return add(op, std::move(from)).output(0);
  }
  void last(StringRef op, std::vector<std::string> from) {
    add(op, std::move(from), true);
  }

  std::string dequantize(const std::string &x, const std::string &scale,
                         const std::string &zero, int64_t axis = 1) {
    NodeProto &made = add("DequantizeLinear", {x, scale, zero});
    set(made, "axis", axis);
    return made.output(0);
  }
  void quantize(const std::string &x, int scale) {
    last("QuantizeLinear", {x, input(scale), input(scale + 1)});
  }
  std::string constant(float value) {
    NodeProto &made = add("Constant", {});
    AttributeProto &a = *made.add_attribute();
    a.set_name("value_float");
    a.set_type(AttributeProto::FLOAT);
    a.set_f(value);
    return made.output(0);
  }
  double getFloat(StringRef which, double fallback) const {
    const AttributeProto *a = attribute(which);
    return a && a->has_f() ? a->f() : fallback;
  }
  std::string transpose(const std::string &x, std::vector<int64_t> order,
                        bool last = false) {
    NodeProto &made = add("Transpose", {x}, last);
    AttributeProto &a = *made.add_attribute();
    a.set_name("perm");
    a.set_type(AttributeProto::INTS);
    for (int64_t v : order)
      a.add_ints(v);
    return made.output(0);
  }
  static void set(NodeProto &made, StringRef which, int64_t value) {
    AttributeProto &a = *made.add_attribute();
    a.set_name(which.str());
    a.set_type(AttributeProto::INT);
    a.set_i(value);
  }
  /// Adds the real operation with the node's attributes, less `without`.
  std::string real(StringRef op, std::vector<std::string> from,
                   std::vector<StringRef> without = {}) {
    NodeProto &made = add(op, std::move(from));
    for (const AttributeProto &a : node.attribute())
      if (!llvm::is_contained(without, StringRef(a.name())))
        *made.add_attribute() = a;
    return made.output(0);
  }

private:
  /// A tensor name that no file uses: it holds a control character.
  std::string fresh() {
    return node.output(0) + "\x1f" + std::to_string(count++);
  }

  const NodeProto &node;
  onnx::GraphProto &out;
  std::string name;
  int count = 0;
};
} // namespace

//===----------------------------------------------------------------------===//
// QLinear*: integers in, integers out
//===----------------------------------------------------------------------===//

/// (x, x_scale, x_zero, w, w_scale, w_zero, y_scale, y_zero, bias); the contrib
/// form may have images with their channels last.
static void qlinearConv(Expansion &e) {
  bool last = e.getInt("channels_last", 0) != 0;
  std::string x = e.dequantize(e.input(0), e.input(1), e.input(2));
  std::string w = e.dequantize(e.input(3), e.input(4), e.input(5), 0);
  if (last)
    x = e.transpose(x, {0, 3, 1, 2});
  std::string bias;
  if (!e.input(8).empty()) {
    std::string scaled = e.dequantize(e.input(8), e.input(1), "", 0);
    bias = e.put("Mul", {scaled, e.input(4)});
  }
  std::string y = e.real("Conv", {x, w, bias}, {"channels_last"});
  e.quantize(last ? e.transpose(y, {0, 2, 3, 1}) : y, 6);
}

/// (a, a_scale, a_zero, b, b_scale, b_zero, y_scale, y_zero)
static void qlinearMatMul(Expansion &e) {
  std::string a = e.dequantize(e.input(0), e.input(1), e.input(2), -2);
  std::string b = e.dequantize(e.input(3), e.input(4), e.input(5), -1);
  e.quantize(e.put("MatMul", {a, b}), 6);
}

/// (a, a_scale, a_zero, b, b_scale, b_zero, c, y_scale, y_zero); alpha · A · B
/// + C, C of scale alpha · a_scale · b_scale; a real result without y_scale.
static void qgemm(Expansion &e) {
  bool transposed = e.getInt("transB", 0) != 0;
  std::string a = e.dequantize(e.input(0), e.input(1), e.input(2));
  std::string b =
      e.dequantize(e.input(3), e.input(4), e.input(5), transposed ? 0 : 1);
  std::string y = e.real("Gemm", {a, b}, {"alpha"});
  if (!e.input(6).empty()) {
    std::string scaled = e.dequantize(e.input(6), e.input(1), "", -1);
    y = e.put("Add", {y, e.put("Mul", {scaled, e.input(4)})});
  }
  if (const AttributeProto *alpha = e.attribute("alpha");
      alpha && alpha->f() != 1) {
    NodeProto &factor = e.add("Constant", {});
    *factor.add_attribute() = *alpha;
    factor.mutable_attribute(0)->set_name("value_float");
    std::string name = factor.output(0);
    y = e.put("Mul", {y, name});
  }
  if (e.input(7).empty())
    e.last("Identity", {y});
  else
    e.quantize(y, 7);
}

/// (a, a_scale, a_zero, b, b_scale, b_zero, y_scale, y_zero)
static std::function<void(Expansion &)> qlinearBinary(StringRef op) {
  return [op](Expansion &e) {
    std::string a = e.dequantize(e.input(0), e.input(1), e.input(2));
    std::string b = e.dequantize(e.input(3), e.input(4), e.input(5));
    e.quantize(e.put(op, {a, b}), 6);
  };
}

/// (x, x_scale, x_zero, y_scale, y_zero)
static std::function<void(Expansion &)> qlinearUnary(StringRef op) {
  return [op](Expansion &e) {
    std::string x = e.dequantize(e.input(0), e.input(1), e.input(2));
    e.quantize(e.real(op, {x}, {"opset"}), 3);
  };
}

/// The same with images in either layout.
static std::function<void(Expansion &)> qlinearPool(StringRef op) {
  return [op](Expansion &e) {
    bool last = e.getInt("channels_last", 0) != 0;
    std::string x = e.dequantize(e.input(0), e.input(1), e.input(2));
    if (last)
      x = e.transpose(x, {0, 3, 1, 2});
    std::string y = e.real(op, {x}, {"channels_last"});
    e.quantize(last ? e.transpose(y, {0, 2, 3, 1}) : y, 3);
  };
}

/// (y_scale, y_zero, then x, scale, zero of each)
static void qlinearConcat(Expansion &e) {
  std::vector<std::string> parts;
  for (int i = 2; i + 2 < e.inputs(); i += 3)
    parts.push_back(e.dequantize(e.input(i), e.input(i + 1), e.input(i + 2)));
  e.quantize(e.real("Concat", parts), 0);
}

//===----------------------------------------------------------------------===//
// Integers in, their product as whole numbers or as reals out
//===----------------------------------------------------------------------===//

/// (x, w, x_zero, w_zero)
static void convInteger(Expansion &e) {
  std::string scale = e.constant(1);
  std::string x = e.dequantize(e.input(0), scale, e.input(2));
  std::string w = e.dequantize(e.input(1), scale, e.input(3), 0);
  e.last("Identity", {e.real("Conv", {x, w})});
}

/// (a, b, a_zero, b_zero)
static void matMulInteger(Expansion &e) {
  std::string scale = e.constant(1);
  std::string a = e.dequantize(e.input(0), scale, e.input(2), -2);
  std::string b = e.dequantize(e.input(1), scale, e.input(3), -1);
  e.last("MatMul", {a, b});
}

/// (a, b, a_scale, b_scale, a_zero, b_zero, bias); both per column
static void matMulIntegerToFloat(Expansion &e) {
  std::string a = e.dequantize(e.input(0), e.input(2), e.input(4), -1);
  std::string b = e.dequantize(e.input(1), e.input(3), e.input(5), -1);
  if (e.input(6).empty())
    e.last("MatMul", {a, b});
  else
    e.last("Add", {e.put("MatMul", {a, b}), e.input(6)});
}

/// (a, b, b_scale, b_zero, bias): a is quantised by its own range.
static void dynamicQuantizeMatMul(Expansion &e) {
  NodeProto &range = e.add("DynamicQuantizeLinear", {e.input(0)});
  std::string q = range.output(0), scale = q + "s", zero = q + "z";
  range.add_output(scale);
  range.add_output(zero);
  std::string a = e.dequantize(q, scale, zero);
  std::string b = e.dequantize(e.input(1), e.input(2), e.input(3), -1);
  if (e.input(4).empty())
    e.last("MatMul", {a, b});
  else
    e.last("Add", {e.put("MatMul", {a, b}), e.input(4)});
}

//===----------------------------------------------------------------------===//
// What ONNX Runtime's optimiser writes
//===----------------------------------------------------------------------===//

/// Adds the activation that a fused node names, with `parameters` in the order
/// of the operation's own.
static void activate(Expansion &e, const std::string &x,
                     const std::vector<float> &parameters) {
  const AttributeProto *which = e.attribute("activation");
  if (!which)
    return e.last("Identity", {x});
  auto parameter = [&](size_t i, float fallback) {
    return i < parameters.size() ? parameters[i] : fallback;
  };
  if (which->s() == "Clip") {
    std::string low = e.constant(parameter(0, -FLT_MAX)),
                high = e.constant(parameter(1, FLT_MAX));
    return e.last("Clip", {x, low, high});
  }
  if (which->s() == "HardSigmoid") {
    std::string alpha = e.constant(parameter(0, 0.2f)),
                beta = e.constant(parameter(1, 0.5f)), low = e.constant(0),
                high = e.constant(1);
    std::string line = e.put("Add", {e.put("Mul", {x, alpha}), beta});
    return e.last("Clip", {line, low, high});
  }
  NodeProto &made = e.add(which->s(), {x}, true);
  if (which->s() != "LeakyRelu" || parameters.empty())
    return;
  AttributeProto &a = *made.add_attribute();
  a.set_name("alpha");
  a.set_type(AttributeProto::FLOAT);
  a.set_f(parameters[0]);
}

/// (x, w, bias, what is added before the activation)
static void fusedConv(Expansion &e) {
  std::string y = e.real("Conv", {e.input(0), e.input(1), e.input(2)},
                         {"activation", "activation_params"});
  if (!e.input(3).empty())
    y = e.put("Add", {y, e.input(3)});
  std::vector<float> parameters;
  if (const AttributeProto *a = e.attribute("activation_params"))
    parameters.assign(a->floats().begin(), a->floats().end());
  activate(e, y, parameters);
}

/// (a, b, c)
static void fusedGemm(Expansion &e) {
  std::vector<float> parameters;
  for (StringRef name : {"activation_alpha", "activation_beta"})
    if (const AttributeProto *a = e.attribute(name))
      parameters.push_back(a->f());
  activate(e,
           e.real("Gemm", {e.input(0), e.input(1), e.input(2)},
                  {"activation", "activation_alpha", "activation_beta",
                   "activation_gamma"}),
           parameters);
}

/// alpha · A · B, of matrices that may be transposed: Gemm has the same.
static void fusedMatMul(Expansion &e) {
  bool batches = e.getInt("transBatchA", 0) || e.getInt("transBatchB", 0);
  if (batches || e.getInt("transA", 0) || e.getInt("transB", 0)) {
    std::vector<StringRef> without;
    if (!batches) // else Gemm refuses them by name
      without = {"transBatchA", "transBatchB"};
    return e.last("Identity",
                  {e.real("Gemm", {e.input(0), e.input(1)}, without)});
  }
  std::string alpha = e.constant(float(e.getFloat("alpha", 1)));
  e.last("Mul", {e.put("MatMul", {e.input(0), e.input(1)}), alpha});
}

/// A pool of integers with their channels last.
static void nhwcMaxPool(Expansion &e) {
  std::string x = e.transpose(e.input(0), {0, 3, 1, 2});
  e.transpose(e.real("MaxPool", {x}), {0, 2, 3, 1}, true);
}

//===----------------------------------------------------------------------===//
// Activations made of others
//===----------------------------------------------------------------------===//

/// The part of the input below zero.
static std::string negativePart(Expansion &e) {
  NodeProto &clip = e.add("Clip", {e.input(0), "", e.constant(0)});
  return clip.output(0);
}

/// max(0, min(1, alpha · x + beta))
static void hardSigmoid(Expansion &e) {
  std::string alpha = e.constant(float(e.getFloat("alpha", 0.2f))),
              beta = e.constant(float(e.getFloat("beta", 0.5f)));
  std::string line = e.put("Add", {e.put("Mul", {e.input(0), alpha}), beta});
  std::string low = e.constant(0), high = e.constant(1);
  e.last("Clip", {line, low, high});
}

/// Swish(a) · b
static void swiGlu(Expansion &e) {
  e.last("Mul", {e.real("Swish", {e.input(0)}), e.input(1)});
}

/// max(0, x) + slope · min(0, x)
static void pRelu(Expansion &e) {
  std::string below = e.put("Mul", {negativePart(e), e.input(1)});
  e.last("Add", {e.put("Relu", {e.input(0)}), below});
}

/// gamma · (max(0, x) + alpha · (exp(min(0, x)) − 1))
static void exponential(Expansion &e, double alpha, double gamma) {
  std::string scale = e.constant(float(alpha * gamma)), one = e.constant(1);
  std::string curve = e.put("Exp", {negativePart(e)});
  std::string below = e.put("Mul", {e.put("Sub", {curve, one}), scale});
  std::string above = e.put("Relu", {e.input(0)});
  if (gamma != 1) {
    std::string factor = e.constant(float(gamma));
    above = e.put("Mul", {above, factor});
  }
  e.last("Add", {above, below});
}

//===----------------------------------------------------------------------===//
// QONNX's operations on tensors with their channels last
//===----------------------------------------------------------------------===//

/// The standard operation between two transposes, which then vanish. A Conv has
/// its weights [O, kH, kW, C], too.
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

/// The number of axes of a node's first input, as far as the file tells it.
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

namespace {
struct Rule {
  std::function<void(Expansion &)> expand;
  int least, most;      ///< inputs
  bool isExact = false; ///< the host has it as a whole, with exact sums
};
} // namespace

static const llvm::StringMap<Rule> &rules() {
  static const llvm::StringMap<Rule> table = {
      {"QLinearConv", {qlinearConv, 8, 9, true}},
      {"QLinearMatMul", {qlinearMatMul, 8, 8, true}},
      {"QGemm", {qgemm, 6, 9, true}},
      {"QLinearAdd", {qlinearBinary("Add"), 7, 8, true}},
      {"QLinearMul", {qlinearBinary("Mul"), 7, 8, true}},
      {"QLinearSigmoid", {qlinearUnary("Sigmoid"), 4, 5}},
      {"QLinearLeakyRelu", {qlinearUnary("LeakyRelu"), 4, 5}},
      {"QLinearSoftmax", {qlinearUnary("Softmax"), 4, 5}},
      {"QLinearReduceMean", {qlinearUnary("ReduceMean"), 4, 5}},
      {"QLinearAveragePool", {qlinearPool("AveragePool"), 4, 5}},
      {"QLinearGlobalAveragePool",
       {qlinearPool("GlobalAveragePool"), 4, 5, true}},
      {"QLinearConcat", {qlinearConcat, 5, 1 << 20}},
      {"ConvInteger", {convInteger, 2, 4, true}},
      {"MatMulInteger", {matMulInteger, 2, 4, true}},
      {"MatMulIntegerToFloat", {matMulIntegerToFloat, 4, 7}},
      {"DynamicQuantizeMatMul", {dynamicQuantizeMatMul, 3, 5}},
      {"FusedConv", {fusedConv, 2, 4}},
      {"FusedGemm", {fusedGemm, 2, 3}},
      {"FusedMatMul", {fusedMatMul, 2, 2}},
      {"NhwcMaxPool", {nhwcMaxPool, 1, 1}},
      {"SwiGLU", {swiGlu, 2, 2}},
      {"HardSigmoid", {hardSigmoid, 1, 1}},
      {"PRelu", {pRelu, 2, 2}},
      {"Elu",
       {[](Expansion &e) { exponential(e, e.getFloat("alpha", 1), 1); }, 1, 1}},
      {"Selu",
       {[](Expansion &e) {
          exponential(e, e.getFloat("alpha", 1.67326319217681884765625),
                      e.getFloat("gamma", 1.05070102214813232421875));
        },
        1, 1}},
  };
  return table;
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
    auto rule = rules().find(n.op_type());
    StringRef domain = n.domain();
    bool known =
        domain.empty() || domain == "ai.onnx" || domain == "com.microsoft";
    // A node with too few inputs stays, to be refused under its own name.
    if (rule != rules().end() && known && n.output_size() == 1 &&
        n.input_size() >= rule->second.least &&
        n.input_size() <= rule->second.most) {
      Expansion e(n, graph);
      rule->second.expand(e);
      if (rule->second.isExact) {
        n.clear_doc_string();
        whole[n.output(0)] = n;
      }
      continue;
    }
    n.clear_doc_string();
    *graph.add_node() = std::move(n);
  }
}
