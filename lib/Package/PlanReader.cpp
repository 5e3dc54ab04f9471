// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// plan.json's text as C++ values, with all reasons for refusing it:
// first its form, then the bounds of names and numbers (PlanBounds.cpp), then
// their consistency.
#include "PlanBounds.h"
#include "rhizome/Package/Plan.h"
#include "rhizome/Support/Untrusted.h"
#include "rhizome/Support/Version.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"
#include <set>

using namespace llvm;
using namespace rhizome;

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
         map.mapOptional("uram", p.uram) &&
         map.mapOptional("load_cycles", p.loadCycles) &&
         map.mapOptional("lut_error", p.lutError) &&
         map.mapOptional("ff_error", p.ffError) &&
         map.mapOptional("latency_us", p.latencyUs);
}

/// "in" or "out".
static bool readDirection(json::ObjectMapper &map, bool &out, json::Path path) {
  std::string direction;
  if (!map.map("direction", direction))
    return false;
  if (direction != "in" && direction != "out") {
    path.field("direction").report("expected 'in' or 'out'");
    return false;
  }
  out = direction == "out";
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
      !map.map("module", a.module) || !map.map("node", a.node) ||
      !map.mapOptional("die", a.die) ||
      !map.mapOptional("from_die", a.fromDie) ||
      !map.map("interval_cycles", a.intervalCycles) ||
      !map.map("resources", a.resources) ||
      !map.map("parameters", a.parameters))
    return false;
  const json::Object *config = value.getAsObject()->getObject("config");
  if (!config) {
    path.field("config").report("expected object");
    return false;
  }
  a.config = *config;
  return true;
}

static bool fromJSON(const json::Value &value, PlannedOperation &o,
                     json::Path path) {
  json::ObjectMapper map(value, path);
  return map && map.map("name", o.name) && map.map("op", o.op) &&
         map.map("nth", o.nth) && map.map("generator", o.generator) &&
         map.map("option", o.option) && map.mapOptional("text", o.text) &&
         map.map("interval_cycles", o.intervalCycles) &&
         map.mapOptional("die", o.die) &&
         map.mapOptional("shared_unit", o.shared);
}

static bool fromJSON(const json::Value &value, PlannedDie &d, json::Path path) {
  json::ObjectMapper map(value, path);
  return map && map.map("name", d.name) && map.map("budget", d.budget) &&
         map.map("resources", d.resources) && map.map("wires", d.wires) &&
         map.map("wires_available", d.wiresAvailable);
}

static bool fromJSON(const json::Value &value, PlannedRepeat &r,
                     json::Path path) {
  json::ObjectMapper map(value, path);
  if (!map || !map.map("name", r.name) || !map.map("op", r.op) ||
      !map.map("nth", r.nth) || !map.map("length", r.length) ||
      !map.map("trips", r.trips) ||
      !map.mapOptional("cycles_per_trip", r.cyclesPerTrip) ||
      !map.mapOptional("resources", r.resources) ||
      !map.mapOptional("apart", r.apart))
    return false;
  if (r.length < 1 || r.length > 65535) {
    path.field("length").report("expected 1..65535");
    return false;
  }
  if (r.trips < 2 || r.trips > 65535) {
    path.field("trips").report("expected 2..65535");
    return false;
  }
  return true;
}

static bool fromJSON(const json::Value &value, PlannedSplit &s,
                     json::Path path) {
  json::ObjectMapper map(value, path);
  if (!map || !map.map("name", s.name) || !map.map("op", s.op) ||
      !map.map("nth", s.nth) || !map.map("parts", s.parts))
    return false;
  if (s.parts < 2 || s.parts > 65535) {
    path.field("parts").report("expected 2..65535");
    return false;
  }
  return true;
}

static bool fromJSON(const json::Value &value, Replica &r, json::Path path) {
  json::ObjectMapper map(value, path);
  if (!map || !map.map("group", r.group) || !map.map("index", r.index) ||
      !map.map("count", r.count))
    return false;
  if (r.count < 1 || r.index < 0 || r.index >= r.count) {
    path.field("index").report("expected less than count, and not negative");
    return false;
  }
  return true;
}

/// A number that identifies a node or a channel on the links.
static bool readNumber(json::ObjectMapper &map, uint16_t &number,
                       StringLiteral key, json::Path path) {
  int64_t value = 0;
  if (!map.map(key, value))
    return false;
  if (value < 0 || value > 65535) {
    path.field(key).report("expected 0..65535");
    return false;
  }
  number = uint16_t(value);
  return true;
}

static bool fromJSON(const json::Value &value, PlannedMemory &m,
                     json::Path path) {
  json::ObjectMapper map(value, path);
  if (!map || !map.map("name", m.name) || !map.map("banks", m.banks) ||
      !map.map("bytes_per_s", m.bytesPerS) ||
      !map.map("latency_ns", m.latencyNs) ||
      !map.map("turnaround_ns", m.turnaroundNs) ||
      !map.map("refresh_every_ns", m.refreshEveryNs) ||
      !map.map("refresh_ns", m.refreshNs))
    return false;
  if (m.banks < 1 || m.bytesPerS < 1 || m.latencyNs < 0 || m.turnaroundNs < 0 ||
      m.refreshNs < 0 || m.refreshEveryNs < 0 ||
      (m.refreshNs > 0 && m.refreshNs >= m.refreshEveryNs)) {
    path.field("banks").report("expected positive banks and bytes, times that "
                               "are not negative, refreshes that end");
    return false;
  }
  return true;
}

static bool fromJSON(const json::Value &value, MemoryPort &p, json::Path path) {
  json::ObjectMapper map(value, path);
  if (!map || !map.map("port", p.port) || !map.map("memory", p.memory) ||
      !map.map("bank", p.bank) || !map.map("data_width", p.dataWidth) ||
      !map.map("bytes_per_frame", p.bytesPerFrame) ||
      !map.mapOptional("space_address", p.spaceAddress) ||
      !map.mapOptional("space_bytes", p.spaceBytes))
    return false;
  if (p.dataWidth < 8 || p.dataWidth > 1024 || !isPowerOf2_32(p.dataWidth)) {
    path.field("data_width").report("expected a power of two, 8..1024");
    return false;
  }
  return true;
}

static bool fromJSON(const json::Value &value, PlannedSegment &s,
                     json::Path path) {
  json::ObjectMapper map(value, path);
  if (!map || !map.map("file", s.file) || !map.map("memory", s.memory) ||
      !map.map("bank", s.bank) || !map.map("address", s.address) ||
      !map.map("bytes", s.bytes) || !map.map("load", s.load) ||
      !map.mapOptional("bytes_per_frame", s.bytesPerFrame))
    return false;
  if (s.address < 0 || s.bytes < 0) {
    path.field("address").report("expected numbers that are not negative");
    return false;
  }
  if (s.load != "start") {
    path.field("load").report("expected 'start'");
    return false;
  }
  return true;
}

static bool fromJSON(const json::Value &value, RegisterPort &p,
                     json::Path path) {
  json::ObjectMapper map(value, path);
  return map && map.map("port", p.port) && map.map("name", p.name) &&
         map.map("width", p.width);
}

static bool fromJSON(const json::Value &value, LinkPort &p, json::Path path) {
  json::ObjectMapper map(value, path);
  return map && map.map("port", p.port) &&
         readDirection(map, p.transmit, path) &&
         map.map("data_width", p.dataWidth);
}

/// A stream's port with its direction, as the plan lists them.
struct StreamPort {
  BorderPort port;
  bool out = false;
};
/// A node's ports by kind.
struct Ports {
  std::vector<StreamPort> streams;
  std::vector<RegisterPort> registers;
  std::vector<MemoryPort> memories;
  std::vector<LinkPort> links;
};

static bool fromJSON(const json::Value &value, StreamPort &p, json::Path path) {
  json::ObjectMapper map(value, path);
  return map && readDirection(map, p.out, path) &&
         fromJSON(value, p.port, path);
}

static bool fromJSON(const json::Value &value, Ports &p, json::Path path) {
  json::ObjectMapper map(value, path);
  return map && map.map("stream", p.streams) &&
         map.map("register", p.registers) && map.map("memory", p.memories) &&
         map.map("link", p.links);
}

/// Sorts a node's ports by kind.
static bool readPorts(json::ObjectMapper &map, PlannedNode &n) {
  Ports ports;
  if (!map.map("ports", ports))
    return false;
  for (StreamPort &stream : ports.streams)
    (stream.out ? n.outputs : n.inputs).push_back(std::move(stream.port));
  n.registerPorts = std::move(ports.registers);
  n.memoryPorts = std::move(ports.memories);
  n.linkPorts = std::move(ports.links);
  return true;
}

static bool fromJSON(const json::Value &value, PlannedNode &n,
                     json::Path path) {
  json::ObjectMapper map(value, path);
  return map && map.map("name", n.name) && map.map("function", n.function) &&
         map.map("device", n.device) && map.mapOptional("family", n.family) &&
         map.mapOptional("budget", n.budget) &&
         map.map("clock_mhz", n.clockMhz) &&
         readNumber(map, n.address, "address", path) &&
         map.mapOptional("link", n.link) && map.map("replica", n.replica) &&
         map.map("rtl_of", n.rtlOf) && map.map("predicted", n.predicted) &&
         map.map("utilization", n.utilization) &&
         map.mapOptional("block_bits", n.blockBits) &&
         map.mapOptional("held_bits", n.heldBits) && map.map("top", n.top) &&
         map.map("node_top", n.nodeTop) &&
         map.map("stream_bits", n.streamBits) && map.map("rtl", n.rtl) &&
         map.map("modules", n.modules) &&
         map.mapOptional("simulation_models", n.simulationModels) &&
         map.map("operations", n.operations) && map.map("actors", n.actors) &&
         map.mapOptional("dies", n.dies) && readPorts(map, n) &&
         map.map("memories", n.memories) && map.map("segments", n.segments);
}

static bool fromJSON(const json::Value &value, ChannelEnd &e, json::Path path) {
  json::ObjectMapper map(value, path);
  return map && map.map("node", e.node) && map.map("port", e.port);
}

static bool fromJSON(const json::Value &value, Channel &c, json::Path path) {
  json::ObjectMapper map(value, path);
  if (!map || !readNumber(map, c.id, "id", path) ||
      !map.map("tensor", c.tensor) || !map.map("element", c.element) ||
      !map.map("elements", c.elements) || !map.map("from", c.from) ||
      !map.map("to", c.to) || !map.map("first", c.first) ||
      !map.map("every", c.every) || !map.map("link", c.link))
    return false;
  if (c.every < 1 || c.first < 0 || c.first >= c.every) {
    path.field("first").report("expected less than every, and not negative");
    return false;
  }
  return true;
}

static bool fromJSON(const json::Value &value, PlannedLink &l,
                     json::Path path) {
  json::ObjectMapper map(value, path);
  std::string kind;
  if (!map || !map.map("name", l.name) || !map.map("kind", kind) ||
      !map.map("bits_per_s", l.bitsPerS) ||
      !map.map("latency_ns", l.latencyNs) ||
      !map.map("mtu_bytes", l.mtuBytes) ||
      !map.map("overhead_bytes", l.overheadBytes))
    return false;
  std::optional<Medium::Kind> known = mediumKindOf(kind);
  if (!known) {
    path.field("kind").report("expected 'udp' or 'wire'");
    return false;
  }
  l.kind = *known;
  if (!(l.bitsPerS > 0)) {
    path.field("bits_per_s").report("expected a positive number");
    return false;
  }
  if (l.latencyNs < 0 || l.mtuBytes < 1 || l.overheadBytes < 0) {
    path.field("mtu_bytes")
        .report("expected a positive size, latency and overhead not negative");
    return false;
  }
  return true;
}

static bool fromJSON(const json::Value &value, Alternative &a,
                     json::Path path) {
  json::ObjectMapper map(value, path);
  return map && map.map("what", a.what) && map.map("nodes", a.nodes) &&
         map.map("throughput_per_s", a.throughputPerS) && map.map("why", a.why);
}

static bool fromJSON(const json::Value &value, Plan &p, json::Path path) {
  json::ObjectMapper map(value, path);
  return map && map.map("model", p.model) && map.map("device", p.device) &&
         map.mapOptional("board", p.board) &&
         map.mapOptional("cluster", p.cluster) &&
         map.map("clock_mhz", p.clockMhz) && map.map("goal", p.goal) &&
         map.map("predicted", p.predicted) &&
         map.map("utilization", p.utilization) &&
         map.mapOptional("multipliers", p.multipliers) &&
         map.map("bottleneck", p.bottleneck) &&
         map.map("bottleneck_kind", p.bottleneckKind) &&
         map.map("bound_per_s", p.boundPerS) &&
         map.map("alternatives", p.alternatives) &&
         map.map("splits", p.splits) && map.mapOptional("repeats", p.repeats) &&
         map.map("luts_of_a_block", p.lutsOfABlock) &&
         map.map("tasks", p.tasks) && map.map("nodes", p.nodes) &&
         map.map("channels", p.channels) && map.map("links", p.links) &&
         map.mapOptional("host_link", p.hostLink) && map.map("host", p.host) &&
         map.mapOptional("kernel", p.kernel);
}
} // namespace rhizome

static const BorderPort *portOf(const PlannedNode &node, StringRef port,
                                bool output) {
  for (const BorderPort &p : output ? node.outputs : node.inputs)
    if (p.port == port)
      return &p;
  return nullptr;
}

/// Refuses one end of a channel that does not exist or carries another tensor.
static Error checkEnd(const Plan &plan, const Channel &channel,
                      const ChannelEnd &end, bool output) {
  if (end.node == kHost) {
    StringRef number = end.port;
    int64_t index = 0;
    if (!number.consume_front(output ? "input" : "output") ||
        number.getAsInteger(10, index))
      return createStringError(
          "channel %u: the host has no port '%s'; %s are %s0, %s1, …",
          channel.id, end.port.c_str(), output ? "its sources" : "its sinks",
          output ? "input" : "output", output ? "input" : "output");
    return Error::success();
  }
  const PlannedNode *node = plan.node(end.node);
  if (!node)
    return createStringError("channel %u names the node '%s', which is not in "
                             "the plan",
                             channel.id, end.node.c_str());
  const BorderPort *port = portOf(*node, end.port, output);
  if (!port)
    return createStringError("channel %u: node '%s' has no %s '%s'", channel.id,
                             end.node.c_str(), output ? "output" : "input",
                             end.port.c_str());
  if (port->element != channel.element || port->elements() != channel.elements)
    return createStringError(
        "channel %u carries %lld elements of %u bits, but port '%s' of node "
        "'%s' has %lld of %u bits (or another range)",
        channel.id, static_cast<long long>(channel.elements),
        channel.element.width(), end.port.c_str(), end.node.c_str(),
        static_cast<long long>(port->elements()), port->element.width());
  return Error::success();
}

/// Refuses memory ports and segments at banks that a node does not have.
static Error checkMemories(const PlannedNode &node) {
  auto isThere = [&](const std::string &what, const std::string &name,
                     int64_t bank) {
    const PlannedMemory *memory = node.memory(name);
    return memory && bank >= 0 && bank < memory->banks
               ? Error::success()
               : createStringError("node '%s' has no bank %lld of a memory "
                                   "'%s', which '%s' names",
                                   node.name.c_str(),
                                   static_cast<long long>(bank), name.c_str(),
                                   what.c_str());
  };
  for (const MemoryPort &port : node.memoryPorts)
    if (Error error = isThere(port.port, port.memory, port.bank))
      return error;
  for (const PlannedSegment &segment : node.segments) {
    if (Error error = isThere(segment.file, segment.memory, segment.bank))
      return error;
    if (!StringRef(segment.file).starts_with("segments/"))
      return createStringError("node '%s' names the segment '%s', which does "
                               "not lie in segments/",
                               node.name.c_str(), segment.file.c_str());
  }
  return Error::success();
}

/// Refuses a system whose ports are not one for each stream of the unit, or are
/// at no bank.
static Error checkSystem(const PlannedSystem &system, const PlannedNode &node) {
  const PlannedMemory *memory = node.memory(system.memory);
  bool fits =
      memory && system.ports.size() == node.inputs.size() + node.outputs.size();
  std::set<std::string> streams;
  for (const PlannedMover &port : system.ports) {
    const auto &borders = port.isWrite ? node.outputs : node.inputs;
    auto border = llvm::find_if(
        borders, [&](const BorderPort &b) { return b.port == port.stream; });
    fits = fits && border != borders.end() &&
           streams.insert(port.stream).second &&
           port.words * port.lanes == border->elements() &&
           port.wordBits == border->element.width() &&
           llvm::all_of(port.banks,
                        [&](int64_t bank) { return bank < memory->banks; });
  }
  if (!fits)
    return createStringError("the ports of its kernel's system are not one for "
                             "each stream, at banks of a memory of its node");
  return Error::success();
}

/// Refuses a kernel's tensors that are not its streams'.
static Error checkKernel(const Plan &plan) {
  if (!plan.kernel)
    return Error::success();
  const PlannedNode &node = plan.nodes.front();
  const PlannedKernel &kernel = *plan.kernel;
  // Each tensor is in one stream, of as many beats as its tensors take.
  auto fits = [&](const std::vector<BorderPort> &ports,
                  const std::vector<PlannedTensor> &tensors) {
    std::vector<int> seen(tensors.size());
    for (const BorderPort &port : ports) {
      const PortLayout layout = layoutOf(kernel, tensors, port.port);
      for (size_t t : layout.tensors) {
        if (tensors[t].format.width() > int(port.element.width()))
          return false;
        ++seen[t];
      }
      if (layout.lanes < 1 || layout.lanes > int64_t(port.dataWidth) ||
          int64_t(port.element.width()) * layout.lanes * layout.words !=
              int64_t(port.dataWidth) ||
          layout.frameWords() != port.elements())
        return false;
    }
    return llvm::all_of(seen, [](int n) { return n == 1; });
  };
  if (plan.nodes.size() != 1 || !plan.channels.empty() ||
      !fits(node.inputs, kernel.inputs) || !fits(node.outputs, kernel.outputs))
    return createStringError("its kernel's tensors are not those of its "
                             "streams, a word for each element");
  if (kernel.system)
    if (Error error = checkSystem(*kernel.system, node))
      return error;
  for (const PlannedStore &store : kernel.memories)
    if (store.stage < 0 || size_t(store.stage) >= kernel.stages.size())
      return createStringError("the memory '%s' is of no stage of its kernel",
                               store.name.c_str());
  return Error::success();
}

/// Refuses well-formed plans that are inconsistent.
static Error check(const Plan &plan) {
  if (plan.nodes.empty())
    return createStringError("it names no node");
  if (Error error = checkBounds(plan))
    return error;
  std::set<StringRef> names{kHost};
  std::set<uint16_t> addresses{kHostAddress}, ids;
  for (const PlannedNode &node : plan.nodes) {
    if (!names.insert(node.name).second)
      return createStringError("two nodes are named '%s', or one as the host",
                               node.name.c_str());
    if (!addresses.insert(node.address).second)
      return createStringError("node '%s' has the address %u, which another "
                               "node or the host has",
                               node.name.c_str(), node.address);
  }
  for (const PlannedNode &node : plan.nodes)
    if (Error error = checkMemories(node))
      return error;
  if (Error error = checkKernel(plan))
    return error;
  for (const PlannedNode &node : plan.nodes) {
    const PlannedNode *owner = plan.node(node.rtlOf);
    if (!node.rtlOf.empty() && (!owner || !owner->rtlOf.empty()))
      return createStringError("node '%s' shares the files of '%s', which is "
                               "not a node with files of its own",
                               node.name.c_str(), node.rtlOf.c_str());
  }
  std::set<StringRef> links;
  for (const PlannedLink &link : plan.links)
    if (!links.insert(link.name).second)
      return createStringError("two links are named '%s'", link.name.c_str());
  auto isKnown = [&](const std::string &name, const std::string &link) {
    return link.empty() || links.count(link)
               ? Error::success()
               : createStringError("'%s' hangs at the link '%s', which is not "
                                   "in the plan",
                                   name.c_str(), link.c_str());
  };
  if (Error error = isKnown(kHost, plan.hostLink))
    return error;
  for (const PlannedNode &node : plan.nodes)
    if (Error error = isKnown(node.name, node.link))
      return error;
  for (const Channel &channel : plan.channels) {
    if (!ids.insert(channel.id).second)
      return createStringError("two channels have the number %u", channel.id);
    if (!links.count(channel.link))
      return createStringError("channel %u names the link '%s', which is not "
                               "in the plan",
                               channel.id, channel.link.c_str());
    if (Error error = checkEnd(plan, channel, channel.from, /*output=*/true))
      return error;
    if (Error error = checkEnd(plan, channel, channel.to, /*output=*/false))
      return error;
  }
  return Error::success();
}

Expected<Plan> rhizome::parsePlan(StringRef text) {
  Expected<json::Value> value = parseJson(text);
  if (!value)
    return value.takeError();
  removeControls(*value);
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
  if (Error error = check(plan))
    return std::move(error);
  return plan;
}
