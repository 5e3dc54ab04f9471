// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The kernel of plan.json, written and read.
#include "rhizome/Package/PlannedKernel.h"

using namespace llvm;
using namespace rhizome;

int64_t PlannedTensor::words() const {
  int64_t n = 1;
  for (int64_t d : shape)
    n *= d;
  return n;
}

namespace rhizome {
static json::Value toJSON(const PlannedTensor &tensor) {
  return json::Object{{"name", tensor.name},
                      {"shape", json::Array(tensor.shape)},
                      {"format", tensor.format.str()},
                      {"format_bits", tensor.format.width()},
                      {"words", tensor.words()}};
}

static json::Value toJSON(const PlannedNest &nest) {
  return json::Object{{"name", nest.name},
                      {"place", nest.place},
                      {"loops", json::Array(nest.loops)},
                      {"iterations", nest.iterations},
                      {"interval_cycles", nest.interval},
                      {"depth_cycles", nest.depth},
                      {"cycles", nest.cycles}};
}

json::Value toJSON(const PlannedKernel &kernel) {
  return json::Object{{"name", kernel.name},
                      {"read_cycles", kernel.readCycles},
                      {"compute_cycles", kernel.computeCycles},
                      {"write_cycles", kernel.writeCycles},
                      {"nests", json::Array(kernel.nests)},
                      {"inputs", json::Array(kernel.inputs)},
                      {"outputs", json::Array(kernel.outputs)}};
}

static bool fromJSON(const json::Value &value, PlannedTensor &t,
                     json::Path path) {
  json::ObjectMapper map(value, path);
  std::string format, problem;
  if (!map || !map.map("name", t.name) || !map.map("shape", t.shape) ||
      !map.map("format", format))
    return false;
  int64_t words = 1;
  for (int64_t d : t.shape) {
    if (d < 1 || d > (int64_t(1) << 40) / words) {
      path.field("shape").report("expected positive sizes, at most 2^40");
      return false;
    }
    words *= d;
  }
  auto parsed = numeric::Format::parse(format, problem);
  if (!parsed) {
    path.field("format").report("expected a number format");
    return false;
  }
  t.format = *parsed;
  return true;
}

static bool fromJSON(const json::Value &value, PlannedNest &n,
                     json::Path path) {
  json::ObjectMapper map(value, path);
  return map && map.map("name", n.name) && map.map("place", n.place) &&
         map.map("loops", n.loops) && map.map("iterations", n.iterations) &&
         map.map("interval_cycles", n.interval) &&
         map.map("depth_cycles", n.depth) && map.map("cycles", n.cycles);
}

bool fromJSON(const json::Value &value, PlannedKernel &k, json::Path path) {
  json::ObjectMapper map(value, path);
  return map && map.map("name", k.name) &&
         map.map("read_cycles", k.readCycles) &&
         map.map("compute_cycles", k.computeCycles) &&
         map.map("write_cycles", k.writeCycles) && map.map("nests", k.nests) &&
         map.map("inputs", k.inputs) && map.map("outputs", k.outputs);
}
} // namespace rhizome
