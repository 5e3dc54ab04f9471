// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which inputs of an operation must have the same element type, for which types
// it is defined, and the type of its result. Within the network, real numbers
// have no precision and integers have a range, so a file that violates these
// rules would not be detected there: it is checked by what the file itself
// states of inputs, initializers and constants, and by what follows from that.
#include "Types.h"
#include "Constant.h"
#include "Graph.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/FormatVariadic.h"
#include <initializer_list>

using namespace rhizome;
using namespace rhizome::importer;
using llvm::formatv;
using llvm::StringRef;

/// Groups of input indices; an empty group is all inputs.
using Groups = std::vector<std::vector<int>>;
using Kinds = std::vector<int>;

namespace {
struct Rule {
  Groups alike; ///< inputs of one type
  /// The types of these inputs for which the operation is defined, and a remedy
  /// for others.
  struct Defined {
    std::vector<int> inputs;
    Kinds kinds;
    std::string remedy;
  };
  std::vector<Defined> defined;
  /// The type of its first output: an input's type (−1 if that is missing), or
  /// `type`.
  int typeOf = -1, type = 0;
};
} // namespace

static Kinds joined(std::initializer_list<Kinds> lists) {
  Kinds all;
  for (const Kinds &list : lists)
    all.insert(all.end(), list.begin(), list.end());
  return all;
}

static llvm::StringMap<Rule> makeRules() {
  using T = onnx::TensorProto;
  const Kinds reals = {T::FLOAT, T::DOUBLE, T::FLOAT16, T::BFLOAT16},
              bytes = {T::INT8, T::UINT8}, word = {T::INT32},
              wide = {T::INT32, T::UINT32, T::INT64, T::UINT64},
              codes = {T::INT8, T::UINT8, T::INT16, T::UINT16, kInt4, kUint4};
  llvm::StringMap<Rule> made;
  auto alike = [&](std::initializer_list<StringRef> ops, Groups groups) {
    for (StringRef op : ops)
      made[op].alike = groups;
  };
  auto defined = [&](std::initializer_list<StringRef> ops,
                     std::vector<int> inputs, Kinds kinds, std::string remedy) {
    for (StringRef op : ops)
      made[op].defined.push_back({inputs, kinds, remedy});
  };
  alike({"Add", "Sub", "Mul", "Div", "Min", "Max", "Sum", "Mean"}, {{}});
  alike({"MatMul", "Gemm", "Conv", "ConvTranspose"}, {{}});
  alike({"Concat", "Clip", "Einsum", "PRelu", "Equal"}, {{}});
  alike({"Greater", "GreaterOrEqual", "Less", "LessOrEqual"}, {{}});
  alike({"Where"}, {{1, 2}});
  alike({"Pad"}, {{0, 2}});
  alike({"DequantizeLinear"}, {{0, 2}});
  alike({"ConvInteger", "MatMulInteger"}, {{0, 2}, {1, 3}});
  alike({"MatMulIntegerToFloat"}, {{0, 4}, {1, 5}, {2, 3, 6}});
  alike({"QLinearConv", "QLinearMatMul", "QGemm"}, {{0, 2}, {3, 5}});
  alike({"QLinearAdd", "QLinearMul"}, {{0, 2, 3, 5, 7}});
  alike({"QLinearSigmoid", "QLinearLeakyRelu", "QLinearAveragePool",
         "QLinearGlobalAveragePool", "QLinearReduceMean", "QLinearSoftmax"},
        {{0, 2, 4}});

  const std::string asReals =
      "write it with a DequantizeLinear before each input and a "
      "QuantizeLinear after it, which take 16 bits too";
  defined({"ConvInteger", "MatMulInteger", "MatMulIntegerToFloat"}, {0, 1},
          bytes,
          "quantize both to int8 or uint8, or put a DequantizeLinear before "
          "each and use the operation on floats");
  defined({"QLinearConv", "QLinearMatMul"}, {0, 3, 7}, bytes, asReals);
  defined({"QGemm"}, {0, 3, 8}, bytes, asReals);
  defined({"QLinearConv"}, {8}, word, "store the bias as int32");
  defined({"QGemm"}, {6}, word, "store the bias as int32");
  defined({"QLinearAdd", "QLinearMul"}, {0, 3, 7}, bytes, asReals);
  defined({"QuantizeLinear"}, {0}, joined({reals, word}),
          "put a Cast to float32 before it");
  defined({"QuantizeLinear", "DequantizeLinear"}, {1}, reals,
          "store the scale as float32");
  defined({"QuantizeLinear"}, {2}, codes,
          "store the zero point as int8, uint8, int16, uint16, int4 or uint4, "
          "and those of what reads the result alike");
  defined({"DequantizeLinear"}, {2}, joined({codes, word}),
          "store the zero point with the type of input 0");
  defined({"DynamicQuantizeLinear"}, {0}, {T::FLOAT},
          "put a Cast to float32 before it");
  defined({"Conv", "ConvTranspose"}, {0, 1}, reals,
          "put a DequantizeLinear before each of its inputs, or use "
          "ConvInteger or QLinearConv");
  defined({"MatMul", "Gemm"}, {0, 1}, joined({reals, wide}),
          "put a DequantizeLinear before each of its inputs, or use "
          "MatMulInteger or QLinearMatMul");

  const Kinds flag = {T::BOOL}, sizes = {T::INT64},
              indices = {T::INT32, T::INT64};
  defined({"Where", "Not"}, {0}, flag, "put a Cast to bool before it");
  defined({"And", "Or", "Xor"}, {0, 1}, flag, "put a Cast to bool before it");
  for (StringRef op :
       {"Expand", "Pad", "Reshape", "Split", "Squeeze", "Tile", "TopK",
        "Unsqueeze", "ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp",
        "ReduceMax", "ReduceMean", "ReduceMin", "ReduceProd", "ReduceSum",
        "ReduceSumSquare"})
    defined({op}, {1}, sizes, "store it as int64");
  defined({"Gather", "GatherElements", "Slice"}, {1}, indices,
          "store it as int32 or int64");
  defined({"ConstantOfShape"}, {0}, sizes, "store it as int64");
  defined({"Resize"}, {2}, reals, "store it as float32");

  auto gives = [&](std::initializer_list<StringRef> ops, int typeOf,
                   int type = 0) {
    for (StringRef op : ops) {
      made[op].typeOf = typeOf;
      made[op].type = type;
    }
  };
  gives({"QuantizeLinear"}, 2, T::UINT8);
  gives({"DequantizeLinear"}, 1, T::FLOAT);
  gives({"DynamicQuantizeLinear"}, -1, T::UINT8);
  gives({"ConvInteger", "MatMulInteger"}, -1, T::INT32);
  gives({"QLinearConv", "QLinearMatMul", "QLinearAdd", "QLinearMul"}, 7);
  gives({"Where"}, 1);
  gives({"Cast"}, -1, T::FLOAT); // or what its attribute says
  gives({"Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual", "And",
         "Or", "Xor", "Not", "IsNaN", "IsInf"},
        -1, T::BOOL);
  gives({"ArgMax", "ArgMin", "Shape", "Size", "NonZero"}, -1, T::INT64);
  gives({"Add",
         "Sub",
         "Mul",
         "Div",
         "Min",
         "Max",
         "Sum",
         "Mean",
         "Pow",
         "Abs",
         "Neg",
         "Sign",
         "MatMul",
         "Gemm",
         "Conv",
         "ConvTranspose",
         "Einsum",
         "PRelu",
         "Relu",
         "LeakyRelu",
         "Sigmoid",
         "Tanh",
         "Exp",
         "Log",
         "Sqrt",
         "Erf",
         "Softmax",
         "LogSoftmax",
         "Elu",
         "Selu",
         "Gelu",
         "HardSigmoid",
         "HardSwish",
         "Softplus",
         "Softsign",
         "Reciprocal",
         "Floor",
         "Ceil",
         "Round",
         "AveragePool",
         "GlobalAveragePool",
         "MaxPool",
         "GlobalMaxPool",
         "LpPool",
         "BatchNormalization",
         "InstanceNormalization",
         "GroupNormalization",
         "LayerNormalization",
         "LRN",
         "LSTM",
         "GRU",
         "RNN",
         "ReduceMax",
         "ReduceMean",
         "ReduceMin",
         "ReduceSum",
         "TopK",
         "Resize",
         "Upsample",
         "Clip",
         "Concat",
         "DepthToSpace",
         "Expand",
         "Flatten",
         "Gather",
         "Identity",
         "Pad",
         "Reshape",
         "Slice",
         "SpaceToDepth",
         "Squeeze",
         "Tile",
         "Transpose",
         "Unsqueeze"},
        0);
  return made;
}

namespace {
/// The walk over the nodes, with the element types known so far.
class TypeChecker {
public:
  TypeChecker(const onnx::GraphProto &graph, Refusals &refusals);
  void run();

private:
  int typeOf(const onnx::NodeProto &n, int i) const {
    auto found =
        i >= 0 && i < n.input_size() ? types.find(n.input(i)) : types.end();
    return found == types.end() ? 0 : found->second;
  }
  void check(const onnx::NodeProto &n, const Rule &rule);
  bool areAlike(const onnx::NodeProto &n, const std::vector<int> &group);
  bool isDefined(const onnx::NodeProto &n, const Rule::Defined &defined);
  void takeResult(const onnx::NodeProto &n, const Rule &rule);
  bool refuse(const onnx::NodeProto &n, std::string reason,
              std::string remedy) {
    refusals.push_back(
        {Node(n, 0).name, n.op_type(), std::move(reason), std::move(remedy)});
    return false;
  }

  const onnx::GraphProto &graph;
  Refusals &refusals;
  llvm::StringMap<int> types, declared;
};
} // namespace

/// The types that the file states for initializers, inputs, constants and
/// casts; its declarations of others are compared with the actual types.
TypeChecker::TypeChecker(const onnx::GraphProto &graph, Refusals &refusals)
    : graph(graph), refusals(refusals) {
  for (const onnx::TensorProto &t : graph.initializer())
    types[t.name()] = t.data_type();
  for (const onnx::ValueInfoProto &v : graph.input())
    if (int type = v.type().tensor_type().elem_type())
      types.try_emplace(v.name(), type);
  for (const auto *list : {&graph.value_info(), &graph.output()})
    for (const onnx::ValueInfoProto &v : *list)
      if (int type = v.type().tensor_type().elem_type())
        declared[v.name()] = type;
  for (const onnx::NodeProto &n : graph.node())
    for (const onnx::AttributeProto &a : n.attribute())
      if (n.output_size() == 1 && n.op_type() == "Constant" &&
          a.name() == "value" && a.has_t())
        types[n.output(0)] = a.t().data_type();
      else if (n.output_size() == 1 && n.op_type() == "Cast" &&
               a.name() == "to")
        types[n.output(0)] = int(a.i());
}

bool TypeChecker::areAlike(const onnx::NodeProto &n,
                           const std::vector<int> &group) {
  int first = -1;
  for (int k = 0, e = group.empty() ? n.input_size() : int(group.size()); k < e;
       ++k) {
    int i = group.empty() ? k : group[k];
    if (!typeOf(n, i))
      continue;
    if (first < 0)
      first = i;
    else if (typeOf(n, i) != typeOf(n, first))
      return refuse(
          n,
          formatv("its inputs {0} and {1} have the types {2} and {3}, which "
                  "must be one",
                  first, i, typeName(typeOf(n, first)), typeName(typeOf(n, i))),
          "put a Cast before one of them, or export the model anew");
  }
  return true;
}

bool TypeChecker::isDefined(const onnx::NodeProto &n,
                            const Rule::Defined &defined) {
  for (int i : defined.inputs)
    if (int type = typeOf(n, i);
        type && !llvm::is_contained(defined.kinds, type))
      return refuse(n,
                    formatv("its input {0} has the type {1}, for which {2} is "
                            "not defined",
                            i, typeName(type), n.op_type()),
                    defined.remedy);
  return true;
}

void TypeChecker::takeResult(const onnx::NodeProto &n, const Rule &rule) {
  StringRef op = n.op_type();
  if (n.output_size() == 0 || (rule.typeOf < 0 && !rule.type))
    return;
  int given = typeOf(n, rule.typeOf), type = given;
  bool isMissing = rule.typeOf >= n.input_size() || rule.typeOf < 0 ||
                   n.input(rule.typeOf).empty();
  if (int asked = int(Node(n, 0).getInt("output_dtype", 0))) {
    if (op == "QuantizeLinear" && given && asked != given)
      return (void)refuse(n,
                          formatv("its zero point has the type {0}, its "
                                  "output_dtype is {1}",
                                  typeName(given), typeName(asked)),
                          "make them one, or leave output_dtype out");
    type = asked;
  } else if (isMissing) {
    type = int(Node(n, 0).getInt("to", rule.type));
  }
  if (!type)
    return;
  types[n.output(0)] = type;
  auto said = declared.find(n.output(0));
  // Files converted between float types declare the old one.
  bool isReal = HostTensor::isRealType(type);
  if (said == declared.end() || said->second == type ||
      (isReal && HostTensor::isRealType(said->second)))
    return;
  refuse(n,
         formatv("it gives {0}, but the file declares its output '{1}' as {2}",
                 typeName(type), n.output(0), typeName(said->second)),
         rule.typeOf > 1
             ? formatv("declare it as {0}, or give a zero point of {1}",
                       typeName(type), typeName(said->second))
                   .str()
             : formatv("declare it as {0}", typeName(type)).str());
}

void TypeChecker::check(const onnx::NodeProto &n, const Rule &rule) {
  for (const Rule::Defined &defined : rule.defined)
    if (!isDefined(n, defined))
      return;
  for (const std::vector<int> &group : rule.alike)
    if (!areAlike(n, group))
      return;
  takeResult(n, rule);
}

void TypeChecker::run() {
  static const llvm::StringMap<Rule> rules = makeRules();
  for (const onnx::NodeProto &n : graph.node()) {
    StringRef domain = n.domain();
    auto rule = rules.find(n.op_type());
    if (rule != rules.end() &&
        (domain.empty() || domain == "ai.onnx" || domain == "com.microsoft"))
      check(n, rule->second);
  }
}

void importer::checkTypes(const onnx::GraphProto &graph, Refusals &refusals) {
  TypeChecker(graph, refusals).run();
}
