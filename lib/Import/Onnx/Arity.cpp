// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Checks that nodes have as many inputs and outputs as their operations take
// and return. Otherwise a reader would silently ignore additional inputs and
// compute something else than the file's author meant.
#include "Operations.h"
#include "Types.h"
#include "llvm/Support/FormatVariadic.h"

using namespace rhizome;
using namespace rhizome::importer;
using llvm::formatv;
using llvm::StringRef;

/// Inputs that are given: an empty name at the end means none.
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
    const OnnxOperation *found = findOperation(StringRef(n.op_type()));
    // Contrib operations share names with ONNX's, not always their inputs.
    bool same = n.domain() != "com.microsoft" ||
                n.op_type() == "QuantizeLinear" ||
                n.op_type() == "DequantizeLinear";
    if (!found || !same)
      continue;
    const auto &[least, most, mostOutputs] = found->arity;
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
