// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "rhizome/Package/HostBorder.h"
#include "llvm/ADT/STLExtras.h"
#include <charconv>
#include <cmath>

using namespace llvm;
using namespace rhizome;

int64_t HostBorder::elements() const {
  int64_t n = 1;
  for (const OrderDigit &digit : order)
    n *= digit.size;
  return n;
}

const std::vector<std::string> &rhizome::roundingNames() {
  static const std::vector<std::string> names = {"half_even",
                                                 "half_up",
                                                 "half_down",
                                                 "half_away",
                                                 "half_toward_zero",
                                                 "toward_zero",
                                                 "away_from_zero",
                                                 "up",
                                                 "down",
                                                 "sign"};
  return names;
}

//===----------------------------------------------------------------------===//
// Printing
//===----------------------------------------------------------------------===//

/// Reals in the fewest digits that read back as the same double.
static void reals(json::OStream &os, StringRef key,
                  const std::vector<float> &values) {
  os.attributeArray(key, [&] {
    for (float value : values) {
      char digits[32];
      auto end =
          std::to_chars(digits, digits + sizeof(digits), double(value)).ptr;
      os.rawValue(StringRef(digits, end - digits));
    }
  });
}

void rhizome::printElement(json::OStream &os, const StreamElement &element) {
  os.attributeObject("element", [&] {
    os.attribute("signed", element.isSigned());
    os.attribute("width", element.width());
    os.attribute("lo", element.lo);
    os.attribute("hi", element.hi);
  });
}

static void print(json::OStream &os, StringRef key,
                  const std::vector<HostTensor> &tensors) {
  os.attributeArray(key, [&] {
    for (const HostTensor &tensor : tensors)
      os.object([&] {
        os.attribute("name", tensor.name);
        os.attribute("type", tensor.isFloat ? "float32" : "int64");
        os.attribute("shape", json::Array(tensor.shape));
        os.attribute("of_model", tensor.ofModel);
      });
  });
}

static void print(json::OStream &os, StringRef key,
                  const std::vector<HostBorder> &borders) {
  os.attributeArray(key, [&] {
    for (const HostBorder &border : borders)
      os.object([&] {
        os.attribute("port", border.port);
        os.attribute("tensor", border.tensor);
        printElement(os, border.element);
        os.attribute("data_width", border.dataWidth);
        os.attributeArray("order", [&] {
          for (const OrderDigit &digit : border.order)
            os.object([&] {
              os.attribute("size", digit.size);
              os.attribute("stride", digit.stride);
            });
        });
        os.attribute("rounding", border.rounding);
        os.attribute("channels", border.channels);
        os.attribute("inner", border.inner);
        reals(os, "scale", border.scale);
        os.attribute("zero_point", json::Array(border.zeroPoint));
        reals(os, "offset", border.offset);
      });
  });
}

void rhizome::printHost(json::OStream &os, const HostSection &host) {
  os.attributeObject("host", [&] {
    os.attribute("complete", host.complete);
    print(os, "inputs", host.inputs);
    print(os, "outputs", host.outputs);
    print(os, "to_device", host.toDevice);
    print(os, "from_device", host.fromDevice);
    if (!host.states.empty())
      os.attributeArray("states", [&] {
        for (const HostState &state : host.states)
          os.object([&] {
            os.attribute("input", state.input);
            os.attribute("output", state.output);
            reals(os, "initial", state.initial);
          });
      });
  });
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

namespace rhizome {
bool fromJSON(const json::Value &value, StreamElement &e, json::Path path) {
  json::ObjectMapper map(value, path);
  bool isSigned = false;
  unsigned width = 0;
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

static bool fromJSON(const json::Value &value, HostTensor &t, json::Path path) {
  json::ObjectMapper map(value, path);
  std::string type;
  if (!map || !map.map("name", t.name) || !map.map("type", type) ||
      !map.map("shape", t.shape) || !map.map("of_model", t.ofModel))
    return false;
  if (type != "float32" && type != "int64") {
    path.field("type").report("expected 'float32' or 'int64'");
    return false;
  }
  t.isFloat = type == "float32";
  int64_t elements = 1;
  for (int64_t size : t.shape) {
    if (size < 1 || size > (int64_t(1) << 40) / elements) {
      path.field("shape").report("expected positive sizes, at most 2^40");
      return false;
    }
    elements *= size;
  }
  return true;
}

static bool fromJSON(const json::Value &value, OrderDigit &d, json::Path path) {
  json::ObjectMapper map(value, path);
  if (!map || !map.map("size", d.size) || !map.map("stride", d.stride))
    return false;
  if (d.size < 1 || d.stride < 0) {
    path.field("size").report("expected a positive size and stride");
    return false;
  }
  return true;
}

static bool readReals(json::ObjectMapper &map, StringLiteral key,
                      std::vector<float> &to) {
  std::vector<double> values;
  if (!map.map(key, values))
    return false;
  to.assign(values.begin(), values.end());
  return true;
}

static bool fromJSON(const json::Value &value, HostBorder &b, json::Path path) {
  json::ObjectMapper map(value, path);
  if (!map || !map.map("port", b.port) || !map.map("tensor", b.tensor) ||
      !map.map("element", b.element) || !map.map("data_width", b.dataWidth) ||
      !map.map("order", b.order) || !map.map("rounding", b.rounding) ||
      !map.map("channels", b.channels) || !map.map("inner", b.inner) ||
      !readReals(map, "scale", b.scale) ||
      !map.map("zero_point", b.zeroPoint) ||
      !readReals(map, "offset", b.offset))
    return false;
  if (!is_contained(roundingNames(), b.rounding)) {
    path.field("rounding").report("expected a rounding of osa.quantize");
    return false;
  }
  if (b.dataWidth == 0 || b.dataWidth % 8) {
    path.field("data_width").report("expected whole bytes");
    return false;
  }
  if (b.channels < 1 || b.inner < 1 || b.scale.size() != b.zeroPoint.size() ||
      (!b.scale.empty() && int64_t(b.scale.size()) != b.channels) ||
      (!b.offset.empty() && b.offset.size() != b.scale.size())) {
    path.field("scale").report("expected as many values as channels");
    return false;
  }
  if (any_of(b.scale, [](float s) { return s == 0 || !std::isfinite(s); })) {
    path.field("scale").report("expected finite numbers that are not 0");
    return false;
  }
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

static bool fromJSON(const json::Value &value, HostState &s, json::Path path) {
  json::ObjectMapper map(value, path);
  return map && map.map("input", s.input) && map.map("output", s.output) &&
         readReals(map, "initial", s.initial);
}

/// Every state names an input of its own and an output like it.
static bool checkStates(const HostSection &h, json::Path path) {
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

bool fromJSON(const json::Value &value, HostSection &h, json::Path path) {
  json::ObjectMapper map(value, path);
  return map && map.map("complete", h.complete) &&
         map.map("inputs", h.inputs) && map.map("outputs", h.outputs) &&
         map.map("to_device", h.toDevice) &&
         map.map("from_device", h.fromDevice) &&
         map.mapOptional("states", h.states) &&
         checkStates(h, path.field("states")) &&
         checkBorders(h.toDevice, h.inputs, path.field("to_device")) &&
         checkBorders(h.fromDevice, h.outputs, path.field("from_device"));
}
} // namespace rhizome
