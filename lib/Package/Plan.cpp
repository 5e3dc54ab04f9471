// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// plan.json's text and back. Keys are in a readable order;
// numbers in their shortest exact form.
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
  return (elements() * element.width() + dataWidth - 1) / dataWidth;
}

const PlannedMemory *PlannedNode::memory(StringRef name) const {
  for (const PlannedMemory &m : memories)
    if (m.name == name)
      return &m;
  return nullptr;
}

bool PlannedNode::countsErrors() const {
  // What takes a frame from a port has the port's name; a kernel is one actor.
  return llvm::any_of(actors, [&](const PlannedActor &actor) {
    return !inputs.empty() && actor.name == inputs.front().port;
  });
}

int64_t PlannedNode::batch() const {
  int64_t most = 1;
  for (const PlannedActor &actor : actors)
    most = std::max(most, actor.config.getInteger("batch").value_or(1));
  return most;
}

const PlannedNode *Plan::node(StringRef name) const {
  for (const PlannedNode &n : nodes)
    if (n.name == name)
      return &n;
  return nullptr;
}

const PlannedLink *Plan::link(StringRef name) const {
  for (const PlannedLink &l : links)
    if (l.name == name)
      return &l;
  return nullptr;
}

const PlannedNode &Plan::owner(const PlannedNode &n) const {
  return n.rtlOf.empty() ? n : *node(n.rtlOf);
}

namespace {
/// A number with the fewest digits that read back as the same double.
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
    number(os, "bram", p.bram);
    if (p.uram)
      os.attribute("uram", p.uram);
    if (p.loadCycles)
      os.attribute("load_cycles", p.loadCycles);
    os.attribute("lut_error", p.lutError);
    os.attribute("ff_error", p.ffError);
    number(os, "latency_us", p.latencyUs);
  });
}

void print(json::OStream &os, const std::map<std::string, double> &shares) {
  os.attributeObject("utilization", [&] {
    for (auto &[name, share] : shares)
      number(os, name, share);
  });
}

void print(json::OStream &os, const std::vector<BorderPort> &ports,
           StringRef direction) {
  for (const BorderPort &port : ports)
    os.object([&] {
      os.attribute("port", port.port);
      os.attribute("direction", direction);
      os.attribute("name", port.name);
      os.attribute("shape", json::Array(port.shape));
      printElement(os, port.element);
      os.attribute("data_width", port.dataWidth);
    });
}

void print(json::OStream &os, const RegisterPort &port) {
  os.object([&] {
    os.attribute("port", port.port);
    os.attribute("name", port.name);
    os.attribute("width", port.width);
  });
}

void print(json::OStream &os, const LinkPort &port) {
  os.object([&] {
    os.attribute("port", port.port);
    os.attribute("direction", port.transmit ? "out" : "in");
    os.attribute("data_width", port.dataWidth);
  });
}

void print(json::OStream &os, const PlannedMemory &memory) {
  os.object([&] {
    os.attribute("name", memory.name);
    os.attribute("banks", memory.banks);
    os.attribute("bytes_per_s", memory.bytesPerS);
    os.attribute("latency_ns", memory.latencyNs);
    os.attribute("turnaround_ns", memory.turnaroundNs);
    os.attribute("refresh_every_ns", memory.refreshEveryNs);
    os.attribute("refresh_ns", memory.refreshNs);
  });
}

void print(json::OStream &os, const MemoryPort &port) {
  os.object([&] {
    os.attribute("port", port.port);
    os.attribute("memory", port.memory);
    os.attribute("bank", port.bank);
    os.attribute("data_width", port.dataWidth);
    os.attribute("bytes_per_frame", port.bytesPerFrame);
    if (port.writes()) {
      os.attribute("space_address", port.spaceAddress);
      os.attribute("space_bytes", port.spaceBytes);
    }
  });
}

void print(json::OStream &os, const PlannedSegment &segment) {
  os.object([&] {
    os.attribute("file", segment.file);
    os.attribute("memory", segment.memory);
    os.attribute("bank", segment.bank);
    os.attribute("address", segment.address);
    os.attribute("bytes", segment.bytes);
    os.attribute("load", segment.load);
    os.attribute("bytes_per_frame", segment.bytesPerFrame);
  });
}

void print(json::OStream &os, const PlannedDie &die) {
  os.object([&] {
    os.attribute("name", die.name);
    os.attributeObject("budget", [&] {
      for (auto &[name, count] : die.budget)
        os.attribute(name, count);
    });
    os.attributeObject("resources", [&] {
      for (auto &[name, count] : die.resources)
        number(os, name, count);
    });
    os.attribute("wires", die.wires);
    os.attribute("wires_available", die.wiresAvailable);
  });
}

template <typename T>
void printAll(json::OStream &os, StringRef key, const std::vector<T> &all);

void print(json::OStream &os, const PlannedNode &node) {
  os.object([&] {
    os.attribute("name", node.name);
    os.attribute("function", node.function);
    os.attribute("device", node.device);
    os.attribute("family", node.family);
    number(os, "clock_mhz", node.clockMhz);
    os.attribute("address", node.address);
    if (!node.link.empty())
      os.attribute("link", node.link);
    os.attributeObject("replica", [&] {
      os.attribute("group", node.replica.group);
      os.attribute("index", node.replica.index);
      os.attribute("count", node.replica.count);
    });
    os.attribute("rtl_of", node.rtlOf);
    print(os, node.predicted);
    print(os, node.utilization);
    os.attributeObject("budget", [&] {
      for (auto &[name, count] : node.budget)
        os.attribute(name, count);
    });
    os.attribute("block_bits", node.blockBits);
    os.attribute("held_bits", node.heldBits);
    os.attribute("top", node.top);
    os.attribute("node_top", node.nodeTop);
    os.attribute("stream_bits", node.streamBits);
    os.attribute("rtl", json::Array(node.rtl));
    os.attribute("simulation_models", json::Array(node.simulationModels));
    os.attributeObject("modules", [&] {
      for (auto &[module, files] : node.modules)
        os.attribute(module, json::Array(files));
    });
    os.attributeArray("operations", [&] {
      for (const PlannedOperation &op : node.operations)
        os.object([&] {
          os.attribute("name", op.name);
          os.attribute("op", op.op);
          os.attribute("nth", op.nth);
          os.attribute("generator", op.generator);
          os.attribute("option", op.option);
          os.attribute("text", op.text);
          os.attribute("interval_cycles", op.intervalCycles);
          if (!op.die.empty())
            os.attribute("die", op.die);
          if (op.shared >= 0)
            os.attribute("shared_unit", op.shared);
        });
    });
    os.attributeArray("actors", [&] {
      for (const PlannedActor &actor : node.actors)
        os.object([&] {
          os.attribute("name", actor.name);
          os.attribute("kind", actor.kind);
          os.attribute("module", actor.module);
          os.attribute("node", actor.node);
          if (!actor.die.empty())
            os.attribute("die", actor.die);
          if (!actor.fromDie.empty())
            os.attribute("from_die", actor.fromDie);
          os.attribute("interval_cycles", actor.intervalCycles);
          os.attributeObject("resources", [&] {
            for (auto &[name, count] : actor.resources)
              number(os, name, count);
          });
          os.attribute("config", json::Object(actor.config));
          os.attribute("parameters", json::Array(actor.parameters));
        });
    });
    if (!node.dies.empty())
      printAll(os, "dies", node.dies);
    os.attributeObject("ports", [&] {
      os.attributeArray("stream", [&] {
        print(os, node.inputs, "in");
        print(os, node.outputs, "out");
      });
      printAll(os, "register", node.registerPorts);
      printAll(os, "memory", node.memoryPorts);
      printAll(os, "link", node.linkPorts);
    });
    printAll(os, "memories", node.memories);
    printAll(os, "segments", node.segments);
  });
}

void print(json::OStream &os, StringRef key, const ChannelEnd &end) {
  os.attributeObject(key, [&] {
    os.attribute("node", end.node);
    os.attribute("port", end.port);
  });
}

void print(json::OStream &os, const Channel &channel) {
  os.object([&] {
    os.attribute("id", channel.id);
    os.attribute("tensor", channel.tensor);
    printElement(os, channel.element);
    os.attribute("elements", channel.elements);
    print(os, "from", channel.from);
    print(os, "to", channel.to);
    os.attribute("first", channel.first);
    os.attribute("every", channel.every);
    os.attribute("link", channel.link);
  });
}

void print(json::OStream &os, const PlannedLink &link) {
  os.object([&] {
    os.attribute("name", link.name);
    os.attribute("kind", nameOf(link.kind));
    number(os, "bits_per_s", link.bitsPerS);
    os.attribute("latency_ns", link.latencyNs);
    os.attribute("mtu_bytes", link.mtuBytes);
    os.attribute("overhead_bytes", link.overheadBytes);
  });
}

void print(json::OStream &os, const Alternative &other) {
  os.object([&] {
    os.attribute("what", other.what);
    os.attribute("nodes", other.nodes);
    number(os, "throughput_per_s", other.throughputPerS);
    os.attribute("why", other.why);
  });
}

void printResources(json::OStream &os, StringRef key,
                    const std::map<std::string, double> &resources) {
  os.attributeObject(key, [&] {
    for (auto &[name, count] : resources)
      number(os, name, count);
  });
}

void print(json::OStream &os, const PlannedRepeat &repeat) {
  os.object([&] {
    os.attribute("name", repeat.name);
    os.attribute("op", repeat.op);
    os.attribute("nth", repeat.nth);
    os.attribute("length", repeat.length);
    os.attribute("trips", repeat.trips);
    os.attribute("cycles_per_trip", repeat.cyclesPerTrip);
    printResources(os, "resources", repeat.resources);
    printResources(os, "apart", repeat.apart);
  });
}

void print(json::OStream &os, const PlannedSplit &split) {
  os.object([&] {
    os.attribute("name", split.name);
    os.attribute("op", split.op);
    os.attribute("nth", split.nth);
    os.attribute("parts", split.parts);
  });
}

template <typename T>
void printAll(json::OStream &os, StringRef key, const std::vector<T> &all) {
  os.attributeArray(key, [&] {
    for (const T &one : all)
      print(os, one);
  });
}
} // namespace

json::Object rhizome::toJson(const Prediction &p) {
  json::Object object{{"interval_cycles", p.intervalCycles},
                      {"latency_cycles", p.latencyCycles},
                      {"clock_mhz", p.clockMhz},
                      {"throughput_per_s", p.throughputPerS},
                      {"lut", p.lut},
                      {"ff", p.ff},
                      {"dsp", p.dsp},
                      {"bram", p.bram},
                      {"lut_error", p.lutError},
                      {"ff_error", p.ffError},
                      {"latency_us", p.latencyUs}};
  if (p.uram)
    object["uram"] = p.uram;
  if (p.loadCycles)
    object["load_cycles"] = p.loadCycles;
  return object;
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
    if (!plan.cluster.empty())
      os.attribute("cluster", plan.cluster);
    number(os, "clock_mhz", plan.clockMhz);
    os.attribute("goal", plan.goal);
    print(os, plan.predicted);
    print(os, plan.utilization);
    os.attributeObject("multipliers", [&] {
      for (auto &[kind, count] : plan.multipliers)
        os.attribute(kind, count);
    });
    os.attribute("bottleneck", plan.bottleneck);
    os.attribute("bottleneck_kind", plan.bottleneckKind);
    number(os, "bound_per_s", plan.boundPerS);
    printAll(os, "alternatives", plan.alternatives);
    printAll(os, "splits", plan.splits);
    if (!plan.repeats.empty())
      printAll(os, "repeats", plan.repeats);
    number(os, "luts_of_a_block", plan.lutsOfABlock);
    os.attribute("tasks", toJSON(plan.tasks));
    printAll(os, "nodes", plan.nodes);
    printAll(os, "channels", plan.channels);
    printAll(os, "links", plan.links);
    if (!plan.hostLink.empty())
      os.attribute("host_link", plan.hostLink);
    printHost(os, plan.host);
    if (plan.kernel)
      os.attribute("kernel", toJSON(*plan.kernel));
  });
  os.flush();
  stream << "\n";
  return text;
}
