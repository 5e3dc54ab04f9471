// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "rhizome/Package/NodeChannels.h"
#include "llvm/ADT/STLExtras.h"
#include <cassert>
#include <numeric>
#include <tuple>

namespace rhizome {
static uint16_t addressOf(const Plan &plan, const std::string &name) {
  const PlannedNode *node = name == kHost ? nullptr : plan.node(name);
  return node ? node->address : kHostAddress;
}

static unsigned portOf(const std::vector<BorderPort> &ports,
                       const std::string &name) {
  auto found = llvm::find_if(
      ports, [&](const BorderPort &port) { return port.port == name; });
  assert(found != ports.end() && "parsePlan has checked the channel's ends");
  return unsigned(found - ports.begin());
}

std::vector<NodeChannel> nodeChannels(const Plan &plan,
                                      const PlannedNode &node) {
  std::vector<NodeChannel> result;
  for (const Channel &channel : plan.channels)
    for (bool transmit : {false, true}) {
      const ChannelEnd &here = transmit ? channel.from : channel.to;
      const ChannelEnd &there = transmit ? channel.to : channel.from;
      if (here.node != node.name)
        continue;
      NodeChannel c;
      c.channel = &channel;
      c.link = plan.link(channel.link);
      c.transmit = transmit;
      c.port = portOf(transmit ? node.outputs : node.inputs, here.port);
      c.peer = addressOf(plan, there.node);
      // This node's k-th frame is index + k · count.
      int64_t count = node.replica.count, index = node.replica.index;
      assert(channel.every % std::gcd(channel.every, count) == 0 &&
             channel.first % std::gcd(channel.every, count) ==
                 index % std::gcd(channel.every, count) &&
             "a replica's channel carries frames of the replica");
      c.every = channel.every / std::gcd(channel.every, count);
      while (c.first + 1 < c.every &&
             (index + c.first * count - channel.first) % channel.every != 0)
        ++c.first;
      result.push_back(c);
    }
  llvm::sort(result, [](const NodeChannel &a, const NodeChannel &b) {
    return std::tuple(a.transmit, a.port, a.first, a.channel) <
           std::tuple(b.transmit, b.port, b.first, b.channel);
  });
  return result;
}

std::vector<uint16_t> nodeConfiguration(const Plan &plan,
                                        const PlannedNode &node) {
  std::vector<uint16_t> parts;
  for (const NodeChannel &c : nodeChannels(plan, node))
    parts.insert(parts.end(), {c.channel->id, c.peer, uint16_t(c.first)});
  return parts;
}
} // namespace rhizome
