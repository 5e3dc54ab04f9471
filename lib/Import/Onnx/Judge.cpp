// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What of a node is judged before it is read: whether we have its operation and
// its attributes, and what would work where we don't.
#include "Placement.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace rhizome;
using namespace rhizome::importer;
using llvm::formatv;

/// What would work instead of an operation that we don't have.
static std::string remedyFor(StringRef op, StringRef domain) {
  if (op == "Attention" && domain == "com.microsoft")
    return "export the model with ONNX's own Attention (opset 23), or with "
           "MatMul and Softmax";
  if (domain.contains("training"))
    return "export the model in inference mode";
  if (op.starts_with("QLinear"))
    return "quantize with the QDQ format instead of QOperator";
  if (op == "DynamicQuantizeLinear" || op.ends_with("Integer") ||
      op == "MatMulIntegerToFloat")
    return "use static quantization in QDQ format";
  if (!domain.empty() && domain != "ai.onnx" && domain != "com.microsoft")
    return "export the model with the functions of this domain, or with "
           "standard operations";
  return "replace it by operations of docs/operations.md, or cut the model "
         "before it";
}

bool importer::isSupported(Place &place, const Node &file,
                           const OnnxOperation *operation, Sides sides) {
  bool onHost = sides == Sides::NetworkOrHost;
  if (operation &&
      (operation->network || operation->fold || (onHost && operation->host)))
    return true;
  StringRef domain = file.proto.domain();
  bool standard = domain.empty() || domain == "ai.onnx";
  std::string where = standard ? "" : formatv(" of domain '{0}'", domain).str();
  place.refuse(
      formatv("the operation {0}{1} is not supported", file.op(), where),
      remedyFor(file.op(), domain));
  return false;
}

/// True if an attribute holds what its name promises; a reader would otherwise
/// take the default in silence.
static bool holds(const onnx::AttributeProto &a, AttributeKind kind) {
  bool isSingle = a.has_i() || a.has_f() || a.has_s() || a.has_t() || a.has_g();
  switch (kind) {
  case AttributeKind::Int:
    return a.has_i();
  case AttributeKind::Float:
    return a.has_f();
  case AttributeKind::Text:
    return a.has_s();
  case AttributeKind::Tensor:
    return a.has_t();
  case AttributeKind::Ints:
    return !isSingle && a.floats_size() == 0;
  case AttributeKind::Floats:
    return !isSingle && a.ints_size() == 0;
  case AttributeKind::List:
    return !isSingle;
  case AttributeKind::Graph:
    return a.has_g();
  }
  llvm_unreachable("all kinds return");
}

bool importer::checkAttributes(NodeContext &node,
                               const OnnxOperation &operation, bool onHost) {
  SmallVector<OnnxAttribute> known;
  for (const OnnxAttribute &a : operation.attributes)
    if (onHost || !a.isHostOnly)
      known.push_back(a);
  bool good = true;
  for (const onnx::AttributeProto &a : node.proto.attribute()) {
    const OnnxAttribute *found =
        llvm::find_if(known, [&](const OnnxAttribute &k) {
          return k.name == StringRef(a.name());
        });
    if (found == known.end()) {
      std::string names = llvm::join(
          llvm::map_range(known, [](const OnnxAttribute &k) { return k.name; }),
          ", ");
      node.refuse(
          formatv("its attribute '{0}' is not supported", a.name()),
          known.empty()
              ? formatv("{0} is supported without attributes", node.op()).str()
              : formatv("{0} is supported with {1}", node.op(), names).str());
      good = false;
    } else if (!holds(a, found->kind)) {
      node.refuse(formatv("its attribute '{0}' holds another kind of value "
                          "than expected",
                          a.name()),
                  "export the model anew");
      good = false;
    }
  }
  return good;
}

void importer::judgeAttributes(NodeContext &node,
                               const OnnxOperation &operation, Sides sides) {
  if (!operation.network && !operation.fold)
    return;
  bool isHosts = sides == Sides::NetworkOrHost && operation.host;
  checkAttributes(node, operation, /*onHost=*/isHosts);
}
