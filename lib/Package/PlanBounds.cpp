// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The bounds of single fields are generated; here are those of what belongs
// together.
#include "PlanBounds.h"
#include "Bounds.h"
#include "PlanParts.h"
#include <map>
#include <numeric>

using namespace llvm;

namespace rhizome {
template <typename T>
static void checkAll(Bounds &bounds, const std::string &at,
                     const std::vector<T> &all) {
  for (size_t i = 0; i < all.size(); ++i)
    check(bounds, item(at, i), all[i]);
}

#include "rhizome/Package/Bounds.cpp.inc"

namespace {
constexpr int64_t kMostNodes = 65535;
/// Of a buffer between actors, which synthesis makes a memory of.
constexpr int64_t kMostPlaces = 1 << 24;
/// Channels take turns; a table of this many turns is made for each port.
constexpr int64_t kMostTurns = 4096;

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

/// The values of the module's parameters.
void checkParameters(Bounds &bounds, const Twine &at,
                     const PlannedActor &actor) {
  for (const std::string &name : actor.parameters) {
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
    for (const ChannelEnd *end : {&channel.from, &channel.to}) {
      const PlannedNode *node =
          end->node == kHost ? nullptr : plan.node(end->node);
      if (!node)
        continue;
      const Replica &replica = node->replica;
      const int64_t common = std::gcd(channel.every, replica.count);
      if (channel.first % common != replica.index % common)
        bounds.refuse(item("plan.channels", i) + ".first",
                      "frames " + Twine(channel.first) + ", " +
                          Twine(channel.first + channel.every) +
                          ", … are not those of the node '" + end->node +
                          "', which is replica " + Twine(replica.index) +
                          " of " + Twine(replica.count));
    }
  }
}

/// Turns of the channels at each port: the least common multiple of their
/// distances in frames.
void checkTurns(Bounds &bounds, const Plan &plan) {
  std::map<std::pair<std::string, std::string>, int64_t> turns;
  for (size_t i = 0; i < plan.channels.size(); ++i) {
    const Channel &channel = plan.channels[i];
    std::string at = item("plan.channels", i);
    bounds.number(at + ".every", channel.every, 1, kMostTurns);
    if (channel.every > kMostTurns)
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

void checkKernel(Bounds &bounds, const PlannedKernel &kernel) {
  const UnitChoice &choice = kernel.choice;
  for (size_t i = 0; i < choice.borders.size(); ++i)
    if (choice.borders[i] < 1 || choice.words % choice.borders[i] != 0)
      bounds.refuse(item("plan.kernel.choice.borders", i),
                    Twine(choice.borders[i]) + " does not divide the " +
                        Twine(choice.words) + " words of a beat");
  if (kernel.system && !kernel.system->dies.empty() &&
      int64_t(kernel.system->dies.size()) != kernel.system->units)
    bounds.refuse("plan.kernel.system.dies",
                  "there is not one for each of the " +
                      Twine(kernel.system->units) + " units");
}
} // namespace

Error checkBounds(const Plan &plan) {
  Bounds bounds;
  bounds.number("plan.nodes", int64_t(plan.nodes.size()), 1, kMostNodes);
  check(bounds, "plan", plan);
  if (Error error = bounds.take())
    return error;
  for (size_t i = 0; i < plan.nodes.size(); ++i) {
    const PlannedNode &node = plan.nodes[i];
    const std::string at = item("plan.nodes", i);
    for (size_t k = 0; k < node.actors.size(); ++k)
      checkParameters(bounds, item(at + ".actors", k), node.actors[k]);
    checkPorts(bounds, at + ".ports.stream.in", "s_axis_", node.inputs);
    checkPorts(bounds, at + ".ports.stream.out", "m_axis_", node.outputs);
  }
  // A node on a link may start anew, without what it kept.
  for (size_t i = 0; i < plan.tasks.states.size(); ++i)
    if (plan.tasks.states[i].onFpga &&
        (plan.nodes.size() != 1 || !plan.channels.empty()))
      bounds.refuse(item("plan.tasks.states", i) + ".home",
                    "a node on a link keeps no state");
  for (size_t i = 0; i < plan.channels.size(); ++i) {
    const Channel &channel = plan.channels[i];
    std::string at = item("plan.channels", i);
    checkElement(bounds, at + ".element", channel.element);
    checkEnd(bounds, at + ".from", channel.from, "input", plan.channels.size());
    checkEnd(bounds, at + ".to", channel.to, "output", plan.channels.size());
  }
  checkReplicas(bounds, plan);
  checkTurns(bounds, plan);
  if (plan.kernel)
    checkKernel(bounds, *plan.kernel);
  return bounds.take();
}
} // namespace rhizome
