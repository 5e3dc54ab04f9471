// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// plan.json's text and back. Keys come in the order in which a person reads
// them; numbers in their shortest exact form.
#include "rhizome/Package/Plan.h"
#include "rhizome/Support/Version.h"
#include "llvm/Support/raw_ostream.h"
#include <charconv>

using namespace llvm;
using namespace rhizome;

int64_t BorderPort::elements() const {
  int64_t n = 1;
  for (int64_t d : shape)
    n *= d;
  return n;
}

int64_t BorderPort::beats() const {
  return (elements() * element.width + dataWidth - 1) / dataWidth;
}

namespace {
/// A number in the fewest digits that read back as the same double.
void number(json::OStream &os, StringRef key, double value) {
  char digits[32];
  auto end = std::to_chars(digits, digits + sizeof(digits), value).ptr;
  os.attributeBegin(key);
  os.rawValue(StringRef(digits, end - digits));
  os.attributeEnd();
}

void print(json::OStream &os, const Prediction &p) {
  os.attributeObject("predicted", [&] {
    os.attribute("interval_cycles", p.intervalCycles);
    os.attribute("latency_cycles", p.latencyCycles);
    number(os, "clock_mhz", p.clockMhz);
    number(os, "throughput_per_s", p.throughputPerS);
    os.attribute("lut", p.lut);
    os.attribute("ff", p.ff);
    os.attribute("dsp", p.dsp);
    os.attribute("bram", p.bram);
    os.attribute("lut_error", p.lutError);
    os.attribute("ff_error", p.ffError);
  });
}

void print(json::OStream &os, StringRef key,
           const std::vector<BorderPort> &ports) {
  os.attributeArray(key, [&] {
    for (const BorderPort &port : ports)
      os.object([&] {
        os.attribute("port", port.port);
        os.attribute("name", port.name);
        os.attribute("shape", json::Array(port.shape));
        os.attributeObject("element", [&] {
          os.attribute("signed", port.element.isSigned);
          os.attribute("width", port.element.width);
          os.attribute("lo", port.element.lo);
          os.attribute("hi", port.element.hi);
        });
        os.attribute("data_width", port.dataWidth);
      });
  });
}

void print(json::OStream &os, const PlannedNode &node) {
  os.object([&] {
    os.attribute("name", node.name);
    os.attribute("device", node.device);
    os.attribute("family", node.family);
    os.attributeObject("budget", [&] {
      for (auto &[name, count] : node.budget)
        os.attribute(name, count);
    });
    os.attribute("top", node.top);
    os.attribute("rtl", json::Array(node.rtl));
    os.attribute("simulation_models", json::Array(node.simulationModels));
    os.attributeArray("actors", [&] {
      for (const PlannedActor &actor : node.actors)
        os.object([&] {
          os.attribute("name", actor.name);
          os.attribute("kind", actor.kind);
          os.attribute("node", actor.node);
          os.attribute("interval_cycles", actor.intervalCycles);
          os.attributeObject("resources", [&] {
            for (auto &[name, count] : actor.resources)
              number(os, name, count);
          });
          os.attribute("config", json::Object(actor.config));
        });
    });
    print(os, "inputs", node.inputs);
    print(os, "outputs", node.outputs);
  });
}
} // namespace

namespace rhizome {
// Readers, found by argument-dependent lookup from llvm::json.
static bool fromJSON(const json::Value &value, Prediction &p, json::Path path) {
  json::ObjectMapper map(value, path);
  return map && map.map("interval_cycles", p.intervalCycles) &&
         map.map("latency_cycles", p.latencyCycles) &&
         map.map("clock_mhz", p.clockMhz) &&
         map.map("throughput_per_s", p.throughputPerS) &&
         map.map("lut", p.lut) && map.map("ff", p.ff) &&
         map.map("dsp", p.dsp) && map.map("bram", p.bram) &&
         map.mapOptional("lut_error", p.lutError) &&
         map.mapOptional("ff_error", p.ffError);
}

static bool fromJSON(const json::Value &value, ElementFormat &e,
                     json::Path path) {
  json::ObjectMapper map(value, path);
  if (!map || !map.map("signed", e.isSigned) || !map.map("width", e.width) ||
      !map.map("lo", e.lo) || !map.map("hi", e.hi))
    return false;
  if (e.width < 1 || e.width > 64) {
    path.field("width").report("expected 1..64");
    return false;
  }
  return true;
}

static bool fromJSON(const json::Value &value, BorderPort &p, json::Path path) {
  json::ObjectMapper map(value, path);
  if (!map || !map.map("port", p.port) || !map.map("name", p.name) ||
      !map.map("shape", p.shape) || !map.map("element", p.element) ||
      !map.map("data_width", p.dataWidth))
    return false;
  if (p.dataWidth == 0 || p.dataWidth % 8 || p.dataWidth > 4096) {
    path.field("data_width").report("expected whole bytes, at most 4096 bits");
    return false;
  }
  int64_t elements = 1;
  for (int64_t d : p.shape) {
    if (d < 1 || d > (int64_t(1) << 40) / elements) {
      path.field("shape").report("expected positive sizes, at most 2^40");
      return false;
    }
    elements *= d;
  }
  return true;
}

static bool fromJSON(const json::Value &value, PlannedActor &a,
                     json::Path path) {
  json::ObjectMapper map(value, path);
  if (!map || !map.map("name", a.name) || !map.map("kind", a.kind) ||
      !map.map("node", a.node) ||
      !map.map("interval_cycles", a.intervalCycles) ||
      !map.map("resources", a.resources))
    return false;
  const json::Object *config = value.getAsObject()->getObject("config");
  if (!config) {
    path.field("config").report("expected object");
    return false;
  }
  a.config = *config;
  return true;
}

static bool fromJSON(const json::Value &value, PlannedNode &n,
                     json::Path path) {
  json::ObjectMapper map(value, path);
  return map && map.map("name", n.name) && map.map("device", n.device) &&
         map.mapOptional("family", n.family) &&
         map.mapOptional("budget", n.budget) && map.map("top", n.top) &&
         map.map("rtl", n.rtl) &&
         map.mapOptional("simulation_models", n.simulationModels) &&
         map.map("actors", n.actors) && map.map("inputs", n.inputs) &&
         map.map("outputs", n.outputs);
}

static bool fromJSON(const json::Value &value, Plan &p, json::Path path) {
  json::ObjectMapper map(value, path);
  return map && map.map("model", p.model) && map.map("device", p.device) &&
         map.mapOptional("board", p.board) &&
         map.map("clock_mhz", p.clockMhz) && map.map("goal", p.goal) &&
         map.map("predicted", p.predicted) &&
         map.map("utilisation", p.utilisation) &&
         map.mapOptional("multipliers", p.multipliers) &&
         map.map("bottleneck", p.bottleneck) && map.map("nodes", p.nodes);
}
} // namespace rhizome

json::Object rhizome::toJson(const Prediction &p) {
  return json::Object{{"interval_cycles", p.intervalCycles},
                      {"latency_cycles", p.latencyCycles},
                      {"clock_mhz", p.clockMhz},
                      {"throughput_per_s", p.throughputPerS},
                      {"lut", p.lut},
                      {"ff", p.ff},
                      {"dsp", p.dsp},
                      {"bram", p.bram},
                      {"lut_error", p.lutError},
                      {"ff_error", p.ffError}};
}

std::string rhizome::printPlan(const Plan &plan) {
  std::string text;
  raw_string_ostream stream(text);
  json::OStream os(stream, /*IndentSize=*/2);
  os.object([&] {
    os.attribute("schema", kPlanSchema);
    os.attribute("rhizome", version());
    os.attribute("model", plan.model);
    os.attribute("device", plan.device);
    if (!plan.board.empty())
      os.attribute("board", plan.board);
    number(os, "clock_mhz", plan.clockMhz);
    os.attribute("goal", plan.goal);
    print(os, plan.predicted);
    os.attributeObject("utilisation", [&] {
      for (auto &[name, share] : plan.utilisation)
        number(os, name, share);
    });
    os.attributeObject("multipliers", [&] {
      for (auto &[kind, count] : plan.multipliers)
        os.attribute(kind, count);
    });
    os.attribute("bottleneck", plan.bottleneck);
    os.attributeArray("nodes", [&] {
      for (const PlannedNode &node : plan.nodes)
        print(os, node);
    });
  });
  os.flush();
  stream << "\n";
  return text;
}

Expected<Plan> rhizome::parsePlan(StringRef text) {
  Expected<json::Value> value = json::parse(text);
  if (!value)
    return value.takeError();
  const json::Object *object = value->getAsObject();
  std::optional<int64_t> schema =
      object ? object->getInteger("schema") : std::nullopt;
  if (!schema)
    return createStringError("it has no 'schema' number");
  if (*schema != kPlanSchema)
    return createStringError(
        "its schema is %lld, this is rhizome %s, which reads schema %d; "
        "compile the model again",
        static_cast<long long>(*schema), version(), kPlanSchema);
  json::Path::Root root("plan");
  Plan plan;
  if (!fromJSON(*value, plan, root))
    return root.getError();
  if (plan.nodes.empty())
    return createStringError("it names no node");
  return plan;
}
