// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How many inputs ONNX's operations take and how many outputs they give, over
// all opsets that we read. A reader that looks at the inputs it knows would
// pass over one too many in silence, and compute something else than the file's
// author meant.
#include "Graph.h"
#include "Types.h"
#include "llvm/Support/FormatVariadic.h"

using namespace rhizome;
using namespace rhizome::importer;
using llvm::formatv;
using llvm::StringRef;

namespace {
struct Arity {
  int least, most, mostOutputs;
};
/// Of lists of any length.
constexpr int kAny = 1 << 30;

struct Row {
  Arity arity;
  std::vector<StringRef> operations;
};
} // namespace

/// Of ONNX's own domain and of QONNX's. Operations that are missing here are
/// not judged.
static const llvm::StringMap<Arity> &arities() {
  static const Row rows[] = {
      {{0, 0, 1}, {"Constant"}},
      {{1, 1, 1},
       {"Abs",
        "Acos",
        "Acosh",
        "ArgMax",
        "ArgMin",
        "Asin",
        "Asinh",
        "Atan",
        "Atanh",
        "AveragePool",
        "BitwiseNot",
        "Cast",
        "Ceil",
        "Celu",
        "ConstantOfShape",
        "Cos",
        "Cosh",
        "DepthToSpace",
        "Elu",
        "Erf",
        "Exp",
        "EyeLike",
        "Flatten",
        "Floor",
        "Gelu",
        "GlobalAveragePool",
        "GlobalLpPool",
        "GlobalMaxPool",
        "HardSigmoid",
        "HardSwish",
        "Hardmax",
        "Identity",
        "IsInf",
        "IsNaN",
        "LRN",
        "LeakyRelu",
        "Log",
        "LogSoftmax",
        "LpNormalization",
        "LpPool",
        "MeanVarianceNormalization",
        "Mish",
        "Neg",
        "Not",
        "Reciprocal",
        "Relu",
        "Round",
        "Selu",
        "Shape",
        "Shrink",
        "Sigmoid",
        "Sign",
        "Sin",
        "Sinh",
        "Size",
        "Softmax",
        "Softplus",
        "Softsign",
        "SpaceToDepth",
        "Sqrt",
        "Swish",
        "Tan",
        "Tanh",
        "ThresholdedRelu",
        "Transpose"}},
      {{1, 1, 2}, {"MaxPool"}},
      {{1, 1, 3}, {"DynamicQuantizeLinear"}},
      {{1, 2, 1},
       {"ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceMax",
        "ReduceMean", "ReduceMin", "ReduceProd", "ReduceSum", "ReduceSumSquare",
        "Reshape", "Squeeze", "Trilu", "Unsqueeze", "Upsample"}},
      {{1, 2, 2}, {"TopK"}},
      {{1, 2, kAny}, {"Split"}},
      {{1, 3, 1}, {"Clip"}},
      {{1, 3, 2}, {"Dropout"}},
      {{1, 4, 1}, {"Pad", "Resize"}},
      {{1, 5, 1}, {"Slice"}},
      {{1, kAny, 1}, {"Concat", "Einsum", "Max", "Mean", "Min", "Sum"}},
      {{2, 2, 1},
       {"Add",
        "And",
        "BipolarQuant",
        "BitShift",
        "BitwiseAnd",
        "BitwiseOr",
        "BitwiseXor",
        "CastLike",
        "Compress",
        "CumProd",
        "CumSum",
        "Div",
        "Equal",
        "Expand",
        "Gather",
        "GatherElements",
        "GatherND",
        "Greater",
        "GreaterOrEqual",
        "GridSample",
        "Less",
        "LessOrEqual",
        "MatMul",
        "Mod",
        "Mul",
        "MultiThreshold",
        "Or",
        "PRelu",
        "Pow",
        "RMSNormalization",
        "ReverseSequence",
        "Sub",
        "Xor"}},
      {{2, 3, 1},
       {"Conv", "ConvTranspose", "DequantizeLinear", "Gemm", "QuantizeLinear",
        "Tile"}},
      {{2, 3, 3}, {"LayerNormalization"}},
      {{2, 4, 1}, {"ConvInteger", "MatMulInteger"}},
      {{3, 3, 1},
       {"GroupNormalization", "InstanceNormalization", "OneHot", "Range",
        "Scatter", "ScatterElements", "ScatterND", "Where"}},
      {{3, 6, 2}, {"GRU", "RNN"}},
      {{3, 7, 4}, {"Attention"}},
      {{3, 8, 3}, {"LSTM"}},
      {{4, 4, 1}, {"IntQuant", "Quant"}},
      {{5, 5, 5}, {"BatchNormalization"}},
      {{5, 7, 1}, {"Trunc"}},
      {{8, 8, 1}, {"QLinearMatMul"}},
      {{8, 9, 1}, {"QLinearConv"}},
  };
  static const llvm::StringMap<Arity> table = [] {
    llvm::StringMap<Arity> made;
    for (const Row &row : rows)
      for (StringRef op : row.operations)
        made[op] = row.arity;
    return made;
  }();
  return table;
}

/// Inputs that are given: an empty name at the end stands for nothing.
static int inputsOf(const onnx::NodeProto &n) {
  int count = n.input_size();
  while (count && n.input(count - 1).empty())
    --count;
  return count;
}

static std::string listed(const onnx::NodeProto &n, int from) {
  std::string names;
  for (int i = from; i < inputsOf(n); ++i)
    names += (names.empty() ? "'" : ", '") + n.input(i) + "'";
  return names;
}

void importer::checkArity(const onnx::GraphProto &graph, Refusals &refusals) {
  for (const onnx::NodeProto &n : graph.node()) {
    auto found = arities().find(n.op_type());
    // Contrib operations share names with ONNX's, not always their inputs.
    bool same = n.domain() != "com.microsoft" ||
                n.op_type() == "QuantizeLinear" ||
                n.op_type() == "DequantizeLinear";
    if (found == arities().end() || !same)
      continue;
    const auto &[least, most, mostOutputs] = found->second;
    int given = inputsOf(n);
    auto refuse = [&](std::string reason, std::string remedy) {
      refusals.push_back(
          {Node(n, 0).name, n.op_type(), std::move(reason), std::move(remedy)});
    };
    std::string takes = least == most
                            ? formatv("{0}", least).str()
                            : formatv("{0} to {1}", least, most).str();
    if (given > most)
      refuse(formatv("it has {0} inputs, {1} takes {2}", given, n.op_type(),
                     takes),
             formatv("remove {0} from its inputs, or export the model anew",
                     listed(n, most)));
    else if (given < least)
      refuse(
          formatv("it has {0} inputs, {1} takes {2}", given, n.op_type(),
                  most == kAny ? formatv("{0} or more", least).str() : takes),
          "give the inputs that are missing, or export the model anew");
    if (n.output_size() > mostOutputs)
      refuse(formatv("it has {0} outputs, {1} gives {2}", n.output_size(),
                     n.op_type(), mostOutputs),
             "remove the others, or export the model anew");
  }
}
