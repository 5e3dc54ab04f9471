// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "PlanBounds.h"
#include "rhizome/Support/Untrusted.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/Path.h"
#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

using namespace llvm;

namespace rhizome {
namespace {
/// More than any device, cluster or frame has.
constexpr int64_t kMostNodes = 65535, kMostBits = 1 << 16,
                  kMostElements = int64_t(1) << 40,
                  kMostCycles = int64_t(1) << 53, kMostBytes = int64_t(1) << 50,
                  kMostNs = 1'000'000'000'000;
/// Of a buffer between actors, which synthesis makes a memory of.
constexpr int64_t kMostPlaces = 1 << 24;
/// Channels take turns; a table of this many turns is made for each port.
constexpr int64_t kMostTurns = 4096;
constexpr double kMostMhz = 1e5;

/// Keeps the first error.
class Bounds {
public:
  Error take() {
    return problem.empty() ? Error::success() : createStringError(problem);
  }

  void name(const Twine &at, StringRef text, bool mayBeEmpty = false) {
    if (!(mayBeEmpty && text.empty()) && !isPlainName(text))
      refuse(at, "'" + printable(text) + "' is not a name: it may have " +
                     kNameCharacters);
  }
  void identifier(const Twine &at, StringRef text, bool mayBeEmpty = false) {
    if (!(mayBeEmpty && text.empty()) && !isIdentifier(text))
      refuse(at, "'" + printable(text) + "' is not an identifier of Verilog");
  }
  void path(const Twine &at, StringRef text) {
    if (!isPlainPath(text))
      refuse(at,
             "'" + printable(text) +
                 "' is not a path below its folder, made of names that have " +
                 kNameCharacters);
  }
  /// A path with one of these endings: tools choose by a name's ending what to
  /// do with a file.
  void file(const Twine &at, StringRef text, ArrayRef<StringRef> endings) {
    path(at, text);
    const StringRef name = sys::path::filename(text);
    if (none_of(endings, [&](StringRef ending) {
          return name.ends_with(ending) && name.size() > ending.size();
        }))
      refuse(at, "'" + printable(text) + "' must end in one of " +
                     join(endings, ", "));
  }
  void source(const Twine &at, StringRef text) {
    file(at, text, {".sv", ".v", ".svh"});
  }
  void number(const Twine &at, int64_t value, int64_t least, int64_t most) {
    if (value < least || value > most)
      refuse(at, std::to_string(value) + " is not in " + std::to_string(least) +
                     ".." + std::to_string(most));
  }
  void number(const Twine &at, double value, double most) {
    if (!(value >= 0) || value > most)
      refuse(at, "expected a number from 0 to " + std::to_string(most));
  }
  void refuse(const Twine &at, const Twine &why) {
    if (problem.empty())
      problem = ("plan." + at + ": " + why).str();
  }

private:
  std::string problem;
};

/// "name[3]"
std::string item(const Twine &list, size_t i) {
  return (list + "[" + Twine(i) + "]").str();
}

void checkChoice(Bounds &bounds, const std::string &at,
                 const UnitChoice &choice) {
  constexpr int64_t kMost = INT32_MAX;
  bounds.number(at + ".stages", choice.stages, 0, kMostStages);
  bounds.number(at + ".lanes", choice.lanes, 1, kMostLanes);
  bounds.number(at + ".words", choice.words, 1, kMostBeatWords);
  bounds.number(at + ".units", choice.units, 1, kMostUnits);
  for (size_t i = 0; i < choice.borders.size(); ++i)
    if (choice.borders[i] < 1 || choice.words % choice.borders[i] != 0)
      bounds.refuse(item(at + ".borders", i),
                    Twine(choice.borders[i]) + " does not divide the " +
                        Twine(choice.words) + " words of a beat");
  for (size_t i = 0; i < choice.nests.size(); ++i) {
    const ChosenNest &nest = choice.nests[i];
    const std::string here = item(at + ".nests", i);
    for (int64_t loop : nest.order)
      bounds.number(here + ".order", loop, 0, kMost);
    for (int64_t copies : nest.copies)
      bounds.number(here + ".copies", copies, 1, kMost);
    bounds.number(here + ".datapath", nest.datapath, 0, kMost);
  }
  for (size_t i = 0; i < choice.sums.size(); ++i) {
    const ChosenSum &sum = choice.sums[i];
    const std::string here = item(at + ".sums", i);
    bounds.number(here + ".sum", sum.sum, 0, kMost);
    bounds.number(here + ".loop", sum.loop, 0, kMost);
    bounds.number(here + ".terms", sum.terms, 1, kMost);
  }
}

void checkElement(Bounds &bounds, const Twine &at, const StreamElement &e) {
  // As far as int64 allows: 64-bit unsigned elements have no upper bound there.
  int64_t least = !e.isSigned()     ? 0
                  : e.width() == 64 ? INT64_MIN
                                    : -(int64_t(1) << (e.width() - 1));
  unsigned magnitude = e.width() - (e.isSigned() ? 1 : 0);
  int64_t most = magnitude >= 63 ? INT64_MAX : (int64_t(1) << magnitude) - 1;
  if (e.lo > e.hi || e.lo < least || e.hi > most)
    bounds.refuse(at + ".lo", "its range is empty, or " +
                                  std::to_string(e.width()) +
                                  " bits do not hold it");
}

void checkPorts(Bounds &bounds, const Twine &at, StringRef prefix,
                const std::vector<BorderPort> &ports) {
  for (size_t i = 0; i < ports.size(); ++i) {
    std::string here = item(at, i);
    // Programs find a port's number after its prefix.
    if (ports[i].port != (prefix + Twine(i)).str())
      bounds.refuse(here + ".port", "expected '" + prefix + Twine(i) + "'");
    checkElement(bounds, here + ".element", ports[i].element);
  }
}

void checkPrediction(Bounds &bounds, const Twine &at, const Prediction &p) {
  bounds.number(at + ".interval_cycles", p.intervalCycles, 0, kMostCycles);
  bounds.number(at + ".latency_cycles", p.latencyCycles, 0, kMostCycles);
  bounds.number(at + ".uram", p.uram, 0, kMostCycles);
  bounds.number(at + ".load_cycles", p.loadCycles, 0, kMostCycles);
  bounds.number(at + ".clock_mhz", p.clockMhz, kMostMhz);
}

void checkActor(Bounds &bounds, const Twine &at, const PlannedActor &actor) {
  bounds.name(at + ".name", actor.name);
  bounds.name(at + ".kind", actor.kind);
  bounds.identifier(at + ".module", actor.module);
  bounds.number(at + ".interval_cycles", actor.intervalCycles, 0, kMostCycles);
  for (size_t i = 0; i < actor.parameters.size(); ++i) {
    const std::string &name = actor.parameters[i];
    bounds.identifier(item(at + ".parameters", i), name);
    const json::Value *value = actor.config.get(name);
    if (auto depth =
            value && name == "Depth" ? value->getAsInteger() : std::nullopt)
      bounds.number(at + ".config.Depth", *depth, 0, kMostPlaces);
    // A string parameter is a memory image's file, or a word without a dot.
    auto text = value ? value->getAsString() : std::nullopt;
    if (!text || text->empty())
      continue;
    const std::string here = (at + ".config." + printable(name)).str();
    if (text->find_first_of("./") != StringRef::npos)
      bounds.file(here, *text, {".hex", ".mem"});
    else
      bounds.name(here, *text);
  }
}

void checkNode(Bounds &bounds, const Twine &at, const PlannedNode &node) {
  bounds.name(at + ".name", node.name);
  bounds.name(at + ".function", node.function);
  bounds.name(at + ".device", node.device, /*mayBeEmpty=*/true);
  bounds.name(at + ".family", node.family, /*mayBeEmpty=*/true);
  bounds.name(at + ".link", node.link, /*mayBeEmpty=*/true);
  bounds.name(at + ".rtl_of", node.rtlOf, /*mayBeEmpty=*/true);
  bounds.identifier(at + ".top", node.top);
  bounds.identifier(at + ".node_top", node.nodeTop, /*mayBeEmpty=*/true);
  bounds.number(at + ".clock_mhz", node.clockMhz, kMostMhz);
  bounds.number(at + ".stream_bits", node.streamBits, 1, kMostBits);
  bounds.number(at + ".replica.count", node.replica.count, 1, kMostNodes);
  bounds.number(at + ".replica.index", node.replica.index, 0,
                std::max<int64_t>(0, node.replica.count - 1));
  checkPrediction(bounds, at + ".predicted", node.predicted);
  for (size_t i = 0; i < node.rtl.size(); ++i)
    bounds.source(item(at + ".rtl", i), node.rtl[i]);
  for (size_t i = 0; i < node.simulationModels.size(); ++i)
    bounds.source(item(at + ".simulation_models", i), node.simulationModels[i]);
  for (const auto &[module, files] : node.modules) {
    bounds.identifier(at + ".modules", module);
    for (const std::string &file : files)
      bounds.source(at + ".modules." + printable(module), file);
  }
  for (size_t i = 0; i < node.actors.size(); ++i)
    checkActor(bounds, item(at + ".actors", i), node.actors[i]);
  checkPorts(bounds, at + ".ports.stream.in", "s_axis_", node.inputs);
  checkPorts(bounds, at + ".ports.stream.out", "m_axis_", node.outputs);
  for (size_t i = 0; i < node.memories.size(); ++i) {
    bounds.name(item(at + ".memories", i) + ".name", node.memories[i].name);
    const PlannedMemory &memory = node.memories[i];
    std::string here = item(at + ".memories", i);
    bounds.number(here + ".banks", memory.banks, 1, kMostNodes);
    bounds.number(here + ".bytes_per_s", double(memory.bytesPerS), 1e15);
    bounds.number(here + ".latency_ns", memory.latencyNs, 0, kMostNs);
    bounds.number(here + ".turnaround_ns", memory.turnaroundNs, 0, kMostNs);
    bounds.number(here + ".refresh_ns", memory.refreshNs, 0, kMostNs);
    bounds.number(here + ".refresh_every_ns", memory.refreshEveryNs, 0,
                  kMostNs);
  }
  for (size_t i = 0; i < node.memoryPorts.size(); ++i) {
    const MemoryPort &port = node.memoryPorts[i];
    std::string here = item(at + ".ports.memory", i);
    bounds.identifier(here + ".port", port.port);
    bounds.number(here + ".bytes_per_frame", port.bytesPerFrame, 0, kMostBytes);
    bounds.number(here + ".space_address", port.spaceAddress, 0, kMostBytes);
    bounds.number(here + ".space_bytes", port.spaceBytes, 0, kMostBytes);
  }
  for (const RegisterPort &port : node.registerPorts)
    bounds.identifier(at + ".ports.register", port.port);
  for (const LinkPort &port : node.linkPorts)
    bounds.identifier(at + ".ports.link", port.port);
  for (size_t i = 0; i < node.segments.size(); ++i) {
    const PlannedSegment &segment = node.segments[i];
    std::string here = item(at + ".segments", i);
    bounds.path(here + ".file", segment.file);
    bounds.number(here + ".address", segment.address, 0, kMostBytes);
    bounds.number(here + ".bytes", segment.bytes, 0, kMostBytes);
    bounds.number(here + ".bytes_per_frame", segment.bytesPerFrame, 0,
                  kMostBytes);
  }
}

/// The host's ports are numbered, and each is an end of a channel; ends at
/// nodes name ports, which the caller checks.
void checkEnd(Bounds &bounds, const Twine &at, const ChannelEnd &end,
              StringRef prefix, size_t channels) {
  StringRef number = end.port;
  size_t index = 0;
  if (end.node == kHost && number.consume_front(prefix) &&
      !number.getAsInteger(10, index) && index >= channels)
    bounds.refuse(at + ".port", "'" + printable(end.port) +
                                    "' has a higher number than there are "
                                    "channels");
}

/// A replica gets each of its group's frames by turns; the frames of a channel
/// at it must be among these.
void checkReplicas(Bounds &bounds, const Plan &plan) {
  for (size_t i = 0; i < plan.channels.size(); ++i) {
    const Channel &channel = plan.channels[i];
    std::string at = item("channels", i);
    bounds.number(at + ".first", channel.first, 0,
                  std::max<int64_t>(0, channel.every - 1));
    for (const ChannelEnd *end : {&channel.from, &channel.to}) {
      const PlannedNode *node =
          end->node == kHost ? nullptr : plan.node(end->node);
      if (!node || node->replica.count < 1 || channel.every < 1)
        continue;
      const Replica &replica = node->replica;
      const int64_t common = std::gcd(channel.every, replica.count);
      if (channel.first % common != replica.index % common)
        bounds.refuse(at + ".first", "frames " + Twine(channel.first) + ", " +
                                         Twine(channel.first + channel.every) +
                                         ", … are not those of the node '" +
                                         end->node + "', which is replica " +
                                         Twine(replica.index) + " of " +
                                         Twine(replica.count));
    }
  }
}

/// Turns of the channels at each port: the least common multiple of their
/// distances in frames.
void checkTurns(Bounds &bounds, const Plan &plan) {
  std::map<std::pair<std::string, std::string>, int64_t> turns;
  for (size_t i = 0; i < plan.channels.size(); ++i) {
    const Channel &channel = plan.channels[i];
    std::string at = item("channels", i);
    bounds.number(at + ".every", channel.every, 1, kMostTurns);
    if (channel.every < 1 || channel.every > kMostTurns)
      return;
    for (const ChannelEnd *end : {&channel.from, &channel.to}) {
      int64_t &all = turns.try_emplace({end->node, end->port}, 1).first->second;
      all = std::lcm(all, channel.every);
      bounds.number(at + ".every, with the port's others,", all, 1, kMostTurns);
      if (all > kMostTurns)
        return;
    }
  }
}
} // namespace

Error checkBounds(const Plan &plan) {
  Bounds bounds;
  bounds.name("device", plan.device, /*mayBeEmpty=*/true);
  bounds.name("board", plan.board, /*mayBeEmpty=*/true);
  bounds.name("cluster", plan.cluster, /*mayBeEmpty=*/true);
  bounds.name("host_link", plan.hostLink, /*mayBeEmpty=*/true);
  bounds.number("clock_mhz", plan.clockMhz, kMostMhz);
  bounds.number("nodes", int64_t(plan.nodes.size()), 1, kMostNodes);
  checkPrediction(bounds, "predicted", plan.predicted);
  for (size_t i = 0; i < plan.nodes.size(); ++i)
    checkNode(bounds, item("nodes", i), plan.nodes[i]);
  for (size_t i = 0; i < plan.tasks.states.size(); ++i) {
    const PlannedState &state = plan.tasks.states[i];
    std::string at = item("tasks.states", i);
    bounds.number(at + ".bytes", state.bytes, 0, kMostElements);
    // A node on a link may start anew, without what it kept.
    if (state.onFpga && (plan.nodes.size() != 1 || !plan.channels.empty()))
      bounds.refuse(at + ".home", "a node on a link keeps no state");
  }
  for (size_t i = 0; i < plan.links.size(); ++i) {
    const PlannedLink &link = plan.links[i];
    std::string at = item("links", i);
    bounds.name(at + ".name", link.name);
    bounds.number(at + ".bits_per_s", link.bitsPerS, 1e15);
    bounds.number(at + ".latency_ns", double(link.latencyNs), double(kMostNs));
    bounds.number(at + ".mtu_bytes", link.mtuBytes, 1, kMostBits);
    bounds.number(at + ".overhead_bytes", link.overheadBytes, 0, kMostBits);
  }
  for (size_t i = 0; i < plan.channels.size(); ++i) {
    const Channel &channel = plan.channels[i];
    std::string at = item("channels", i);
    bounds.name(at + ".link", channel.link);
    bounds.number(at + ".elements", channel.elements, 1, kMostElements);
    checkElement(bounds, at + ".element", channel.element);
    checkEnd(bounds, at + ".from", channel.from, "input", plan.channels.size());
    checkEnd(bounds, at + ".to", channel.to, "output", plan.channels.size());
  }
  checkReplicas(bounds, plan);
  checkTurns(bounds, plan);
  if (plan.kernel) {
    bounds.identifier("kernel.name", plan.kernel->name);
    checkChoice(bounds, "kernel.choice", plan.kernel->choice);
    if (const auto &system = plan.kernel->system;
        system && !system->dies.empty() &&
        int64_t(system->dies.size()) != system->units)
      bounds.refuse("kernel.system.dies", "there is not one for each of the " +
                                              Twine(system->units) + " units");
  }
  return bounds.take();
}
} // namespace rhizome
