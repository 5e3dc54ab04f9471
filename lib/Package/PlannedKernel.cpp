// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The kernel of plan.json, written and read.
#include "rhizome/Package/PlannedKernel.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace rhizome;

int64_t PlannedTensor::words() const {
  int64_t n = 1;
  for (int64_t d : shape)
    n *= d;
  return n;
}

int64_t PlannedStream::beatsOf(const PlannedTensor &tensor) const {
  return divideCeil(uint64_t(tensor.words()), uint64_t(words));
}

PortLayout rhizome::layoutOf(const PlannedKernel &kernel,
                             const std::vector<PlannedTensor> &tensors,
                             const std::string &port) {
  PortLayout out;
  out.tensors = tensorsOfPort(kernel, tensors, port);
  auto stream = find_if(kernel.streams, [&](const PlannedStream &each) {
    return each.port == port;
  });
  if (stream == kernel.streams.end())
    return out;
  out.words = stream->words;
  out.lanes = stream->isOnce ? 1 : kernel.lanes;
  for (size_t t : out.tensors) {
    out.first.push_back(out.beats);
    out.beats += stream->beatsOf(tensors[t]);
  }
  return out;
}

std::vector<size_t>
rhizome::tensorsOfPort(const PlannedKernel &kernel,
                       const std::vector<PlannedTensor> &tensors,
                       const std::string &port) {
  std::vector<size_t> numbers;
  for (const PlannedStream &stream : kernel.streams) {
    if (stream.port != port)
      continue;
    for (const std::string &name : stream.tensors) {
      size_t t = 0;
      while (t < tensors.size() &&
             (tensors[t].name != name || is_contained(numbers, t)))
        ++t;
      if (t == tensors.size())
        return {};
      numbers.push_back(t);
    }
  }
  return numbers;
}

namespace rhizome {
static json::Value toJSON(const PlannedTensor &tensor) {
  return json::Object{{"name", tensor.name},
                      {"shape", json::Array(tensor.shape)},
                      {"format", tensor.format.str()},
                      {"format_bits", tensor.format.width()},
                      {"words", tensor.words()}};
}

static json::Value toJSON(const PlannedStep &operation) {
  return json::Object{{"name", operation.name},
                      {"unit", operation.unit},
                      {"cycle", operation.cycle},
                      {"cycles", operation.cycles},
                      {"copies", operation.copies}};
}

static json::Value toJSON(const PlannedNest &nest) {
  return json::Object{{"name", nest.name},
                      {"place", nest.place},
                      {"loops", json::Array(nest.loops)},
                      {"iterations", nest.iterations},
                      {"interval_cycles", nest.interval},
                      {"depth_cycles", nest.depth},
                      {"cycles", nest.cycles},
                      {"operations", json::Array(nest.operations)}};
}

static json::Value toJSON(const PlannedStream &stream) {
  return json::Object{{"port", stream.port},
                      {"tensors", json::Array(stream.tensors)},
                      {"words", stream.words},
                      {"once", stream.isOnce}};
}

static json::Value toJSON(const PlannedStage &stage) {
  return json::Object{{"parts", json::Array(stage.parts)},
                      {"part_cycles", json::Array(stage.partCycles)},
                      {"cycles", stage.cycles},
                      {"once", stage.isOnce}};
}

static json::Value toJSON(const PlannedShare &share) {
  return json::Object{
      {"tensor", share.tensor}, {"first", share.first}, {"last", share.last}};
}

static json::Value toJSON(const PlannedStore &store) {
  return json::Object{{"name", store.name},
                      {"kind", store.kind},
                      {"stage", store.stage},
                      {"words", store.words},
                      {"width", store.width},
                      {"slots", store.slots},
                      {"banks", store.banks},
                      {"copies", store.copies},
                      {"tensors", json::Array(store.tensors)}};
}

json::Value toJSON(const PlannedKernel &kernel) {
  json::Object out{{"name", kernel.name},
                   {"choice", kernel.choice},
                   {"dataflow", kernel.isDataflow},
                   {"lanes", kernel.lanes},
                   {"read_cycles", kernel.readCycles},
                   {"compute_cycles", kernel.computeCycles},
                   {"write_cycles", kernel.writeCycles},
                   {"nests", json::Array(kernel.nests)},
                   {"inputs", json::Array(kernel.inputs)},
                   {"outputs", json::Array(kernel.outputs)},
                   {"streams", json::Array(kernel.streams)},
                   {"stages", json::Array(kernel.stages)},
                   {"memories", json::Array(kernel.memories)}};
  if (kernel.system)
    out["system"] = *kernel.system;
  return out;
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

static bool fromJSON(const json::Value &value, PlannedStep &o,
                     json::Path path) {
  json::ObjectMapper map(value, path);
  return map && map.map("name", o.name) && map.map("unit", o.unit) &&
         map.map("cycle", o.cycle) && map.map("cycles", o.cycles) &&
         map.map("copies", o.copies);
}

static bool fromJSON(const json::Value &value, PlannedNest &n,
                     json::Path path) {
  json::ObjectMapper map(value, path);
  return map && map.map("name", n.name) && map.map("place", n.place) &&
         map.map("loops", n.loops) && map.map("iterations", n.iterations) &&
         map.map("interval_cycles", n.interval) &&
         map.map("depth_cycles", n.depth) && map.map("cycles", n.cycles) &&
         map.map("operations", n.operations);
}

static bool fromJSON(const json::Value &value, PlannedStream &s,
                     json::Path path) {
  json::ObjectMapper map(value, path);
  if (!map || !map.map("port", s.port) || !map.map("tensors", s.tensors) ||
      !map.map("words", s.words) || !map.map("once", s.isOnce))
    return false;
  if (s.words < 1 || s.words > kMostBeatWords) {
    path.field("words").report("expected 1 to 4096 words");
    return false;
  }
  return true;
}

static bool fromJSON(const json::Value &value, PlannedStage &s,
                     json::Path path) {
  json::ObjectMapper map(value, path);
  return map && map.map("parts", s.parts) &&
         map.map("part_cycles", s.partCycles) && map.map("cycles", s.cycles) &&
         map.map("once", s.isOnce);
}

static bool fromJSON(const json::Value &value, PlannedShare &s,
                     json::Path path) {
  json::ObjectMapper map(value, path);
  return map && map.map("tensor", s.tensor) && map.map("first", s.first) &&
         map.map("last", s.last);
}

static bool fromJSON(const json::Value &value, PlannedStore &s,
                     json::Path path) {
  json::ObjectMapper map(value, path);
  return map && map.map("name", s.name) && map.map("kind", s.kind) &&
         map.map("stage", s.stage) && map.map("words", s.words) &&
         map.map("width", s.width) && map.map("slots", s.slots) &&
         map.map("banks", s.banks) && map.map("copies", s.copies) &&
         map.map("tensors", s.tensors);
}

bool fromJSON(const json::Value &value, PlannedKernel &k, json::Path path) {
  json::ObjectMapper map(value, path);
  return map && map.map("name", k.name) && map.map("choice", k.choice) &&
         map.map("dataflow", k.isDataflow) && map.map("lanes", k.lanes) &&
         map.map("read_cycles", k.readCycles) &&
         map.map("compute_cycles", k.computeCycles) &&
         map.map("write_cycles", k.writeCycles) && map.map("nests", k.nests) &&
         map.map("inputs", k.inputs) && map.map("outputs", k.outputs) &&
         map.map("streams", k.streams) && map.map("stages", k.stages) &&
         map.map("memories", k.memories) && map.mapOptional("system", k.system);
}
} // namespace rhizome
