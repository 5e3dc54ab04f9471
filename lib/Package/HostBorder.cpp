// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "rhizome/Package/HostBorder.h"
#include "PlanParts.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace rhizome;

int64_t HostBorder::elements() const {
  int64_t n = 1;
  for (const OrderDigit &digit : order)
    n *= digit.size;
  return n;
}

const std::vector<std::string> &rhizome::roundingNames() {
  static const std::vector<std::string> names(std::begin(kHostBorderRounding),
                                              std::end(kHostBorderRounding));
  return names;
}

namespace rhizome {
bool fromJSON(const json::Value &value, StreamElement &e, json::Path path) {
  json::ObjectMapper map(value, path);
  bool isSigned = false;
  int64_t width = 0;
  if (!map || !map.map("signed", isSigned) || !map.map("width", width) ||
      !map.map("lo", e.lo) || !map.map("hi", e.hi))
    return false;
  if (width < 1 || width > 64) {
    path.field("width").report("expected 1..64");
    return false;
  }
  e.format = numeric::Format::integer(int(width), isSigned);
  return true;
}

/// Every border names one of the tensors and stays within it.
static bool checkBorders(const std::vector<HostBorder> &borders,
                         const std::vector<HostTensor> &tensors,
                         json::Path path) {
  for (auto [k, border] : enumerate(borders)) {
    if (border.tensor < 0 || border.tensor >= int64_t(tensors.size())) {
      path.index(k).field("tensor").report("expected the index of a tensor");
      return false;
    }
    const HostTensor &tensor = tensors[size_t(border.tensor)];
    int64_t elements = 1, last = 0, count = 1;
    for (int64_t size : tensor.shape)
      elements *= size;
    for (const OrderDigit &digit : border.order) {
      bool fits = digit.size <= elements / count &&
                  (digit.size == 1 ||
                   digit.stride <= (elements - 1 - last) / (digit.size - 1));
      if (!fits) {
        path.index(k).field("order").report("expected places in the tensor");
        return false;
      }
      count *= digit.size;
      last += (digit.size - 1) * digit.stride;
    }
    if (tensor.isFloat == border.scale.empty()) {
      path.index(k).field("scale").report(
          "expected scales for reals, and for reals only");
      return false;
    }
  }
  return true;
}

bool checkStates(const HostSection &h, json::Path path) {
  std::vector<bool> taken(h.inputs.size());
  for (auto [k, state] : enumerate(h.states)) {
    if (state.input < 0 || state.input >= int64_t(h.inputs.size()) ||
        taken[size_t(state.input)]) {
      path.index(k).field("input").report("expected the index of an input that "
                                          "no other state has");
      return false;
    }
    taken[size_t(state.input)] = true;
    if (state.output < 0 || state.output >= int64_t(h.outputs.size())) {
      path.index(k).field("output").report("expected the index of an output");
      return false;
    }
    const HostTensor &in = h.inputs[size_t(state.input)],
                     &out = h.outputs[size_t(state.output)];
    int64_t elements = 1;
    for (int64_t size : in.shape)
      elements *= size;
    if (in.shape != out.shape || in.isFloat != out.isFloat ||
        (!state.initial.empty() && int64_t(state.initial.size()) != elements)) {
      path.index(k).report("expected one shape and type");
      return false;
    }
  }
  return true;
}

bool checkBordersTo(const HostSection &host, json::Path path) {
  return checkBorders(host.toDevice, host.inputs, path);
}

bool checkBordersFrom(const HostSection &host, json::Path path) {
  return checkBorders(host.fromDevice, host.outputs, path);
}
} // namespace rhizome
