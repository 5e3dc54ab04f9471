// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What of a node is judged before it is read: whether we have its operation and
// its attributes, and what would work where we don't.
#include "Importer.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace rhizome;
using namespace rhizome::importer;
using llvm::formatv;

/// What would work instead of an operation that we don't have.
static std::string remedyFor(StringRef op, StringRef domain) {
  if (op == "If" || op == "Loop" || op == "Scan")
    return "export the model without control flow (unrolled, with constants "
           "folded)";
  if (domain.contains("training"))
    return "export the model in inference mode";
  if (op.starts_with("QLinear"))
    return "quantise with the QDQ format instead of QOperator";
  if (op == "DynamicQuantizeLinear" || op.ends_with("Integer") ||
      op == "MatMulIntegerToFloat")
    return "use static quantisation in QDQ format";
  if (!domain.empty() && domain != "ai.onnx" && domain != "com.microsoft")
    return "export the model with the functions of this domain, or with "
           "standard operations";
  return "replace it by operations of docs/operations.md, or cut the model "
         "before it";
}

/// Some exporters leave the domain of QONNX's operations empty.
static bool isQonnxDomain(StringRef domain) {
  return domain.empty() || domain.contains("qonnx") ||
         domain.contains("finn") || domain.contains("brevitas");
}

const Importer::OpInfo *
Importer::findOperation(const Node &n,
                        const llvm::StringMap<OpInfo> &table) const {
  StringRef op = n.op(), domain = n.proto.domain();
  bool standard =
      domain.empty() || domain == "ai.onnx" || domain == "com.microsoft";
  bool qonnx = op == "Quant" || op == "IntQuant" || op == "BipolarQuant" ||
               op == "Trunc" || op == "MultiThreshold" || op == "FloatQuant";
  auto it = table.find(op);
  if (it == table.end() || !(qonnx ? isQonnxDomain(domain) : standard))
    return nullptr;
  return &it->second;
}

/// True if an attribute holds what its name promises; a reader would otherwise
/// take the default in silence.
static bool hasExpectedKind(const onnx::AttributeProto &a, StringRef op) {
  StringRef name = a.name();
  bool tensor = name == "value" && op != "Pad";
  bool real = name == "alpha" || name == "beta" || name == "epsilon" ||
              name == "momentum" || name == "min" || name == "max" ||
              name == "ratio" || name == "value_float" || name == "lambd" ||
              name == "clip" || name == "cubic_coeff_a" || name == "softcap" ||
              name == "extrapolation_value" || name == "scale" ||
              name == "out_scale" || name == "out_bias" || name == "bias" ||
              (name == "value" && op == "Pad");
  bool text = name == "approximate" || name == "auto_pad" || name == "mode" ||
              name == "rounding_mode" || name == "equation" ||
              name == "direction" || name == "reduction" ||
              name == "coordinate_transformation_mode" ||
              name == "nearest_mode" || name == "padding_mode" ||
              name == "keep_aspect_ratio_policy" || name == "round_mode" ||
              name == "out_dtype" || name == "data_layout";
  // Lists whose reader checks every entry.
  if (name.starts_with("activation"))
    return !a.has_i() && !a.has_f() && !a.has_s() && !a.has_t();
  bool list = name == "axes" || name == "dilations" || name == "ends" ||
              name == "kernel_shape" || name == "output_padding" ||
              name == "output_shape" || name == "pads" || name == "perm" ||
              name == "split" || name == "starts" || name == "strides" ||
              name == "value_ints" || name == "value_floats" ||
              name == "scales";
  if (list)
    return !a.has_i() && !a.has_f() && !a.has_s() && !a.has_t() &&
           (name == "value_floats" || name == "scales" ? a.ints_size()
                                                       : a.floats_size()) == 0;
  return tensor ? a.has_t() : real ? a.has_f() : text ? a.has_s() : a.has_i();
}

bool Importer::checkAttributes(const Node &n, const OpInfo &info) {
  bool good = true;
  for (const onnx::AttributeProto &a : n.proto.attribute())
    if (!llvm::is_contained(info.attributes, StringRef(a.name()))) {
      refuse(formatv("its attribute '{0}' is not supported", a.name()),
             info.attributes.empty()
                 ? formatv("{0} is supported without attributes", n.op()).str()
                 : formatv("{0} is supported with {1}", n.op(),
                           llvm::join(info.attributes, ", "))
                       .str());
      good = false;
    } else if (!hasExpectedKind(a, n.op())) {
      refuse(formatv("its attribute '{0}' holds another kind of value than "
                     "expected",
                     a.name()),
             "export the model anew");
      good = false;
    }
  return good;
}

bool Importer::isSupported(const Node &n, const OpInfo *info,
                           const OpInfo *host) {
  if (info || host)
    return true;
  StringRef domain = n.proto.domain();
  bool standard = domain.empty() || domain == "ai.onnx";
  std::string where = standard ? "" : formatv(" of domain '{0}'", domain).str();
  refuse(formatv("the operation {0}{1} is not supported", n.op(), where),
         remedyFor(n.op(), domain));
  return false;
}

void Importer::judgeAttributes(const OpInfo *info, const OpInfo *host) {
  size_t before = refusals.size();
  if (!info || checkAttributes(*node, *info) || !host)
    return;
  refusals.resize(before);
  checkAttributes(*node, *host);
}

void Importer::judgeOperations() {
  for (const Node &n : graph.nodes) {
    enter(n.name, n.writtenOp());
    isSupported(n, findOperation(n, operations()),
                findOperation(n, hostOperations()));
  }
}
