// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "rhizome/Cluster/Channels.h"
#include "llvm/ADT/STLExtras.h"
#include <numeric>

using namespace llvm;
using namespace rhizome;
using namespace rhizome::cluster;

uint16_t cluster::addressOf(const Plan &plan, StringRef name) {
  if (name == kHost)
    return kHostAddress;
  const PlannedNode *node = plan.node(name);
  assert(node && "the plan was checked");
  return node->address;
}

std::vector<link::ChannelConfig> cluster::channelsOf(const Plan &plan,
                                                     StringRef name) {
  std::vector<link::ChannelConfig> configs;
  for (const Channel &channel : plan.channels) {
    bool transmit = channel.from.node == name;
    if (!transmit && channel.to.node != name)
      continue;
    const PlannedLink &medium = *plan.link(channel.link);
    link::ChannelConfig &config = configs.emplace_back();
    config.id = channel.id;
    config.transmit = transmit;
    config.peer =
        addressOf(plan, transmit ? channel.to.node : channel.from.node);
    config.frameBits =
        uint64_t(channel.elements) * uint64_t(channel.element.width);
    config.slotWords = link::slotWordsFor(size_t(medium.mtuBytes));
    config.reliable = medium.kind == "wire";
    double datagramBits =
        8.0 * double(config.slotWords * link::kWordBytes + link::kHeaderBytes +
                     size_t(medium.overheadBytes));
    // A datagram there and an acknowledgement back behind a few others.
    config.roundTrip = link::Time(2 * medium.latencyNs) +
                       link::Time(8 * datagramBits * 1e9 / medium.bitsPerS);
  }
  return configs;
}

/// The number behind a port's prefix: "s_axis_1" and "input1" give 1.
static size_t numberOf(StringRef port) {
  StringRef digits = port.substr(port.find_last_not_of("0123456789") + 1);
  size_t number = 0;
  bool bad = digits.getAsInteger(10, number);
  assert(!bad && "the plan was checked");
  (void)bad;
  return number;
}

Routes::Routes(const Plan &plan, StringRef name, bool receives) {
  if (const PlannedNode *node = plan.node(name)) {
    first = node->replica.index;
    every = node->replica.count;
  }
  std::vector<std::vector<const Channel *>> byPort;
  for (const Channel &channel : plan.channels) {
    const ChannelEnd &end = receives ? channel.to : channel.from;
    if (end.node != name)
      continue;
    size_t k = numberOf(end.port);
    if (byPort.size() <= k)
      byPort.resize(k + 1);
    byPort[k].push_back(&channel);
  }
  for (const std::vector<const Channel *> &channels : byPort) {
    int64_t period = 1;
    for (const Channel *channel : channels)
      period = std::lcm(period, channel->every);
    period /= std::gcd(period, every);
    Port &port = ports.emplace_back();
    port.channels.resize(size_t(period));
    for (int64_t f = 0; f < period; ++f)
      for (const Channel *channel : channels)
        if ((first + f * every) % channel->every == channel->first)
          port.channels[size_t(f)].push_back(channel->id);
  }
}

const std::vector<uint16_t> &Routes::next(size_t k) const {
  const Port &port = ports[k];
  return port.channels[size_t(port.frame) % port.channels.size()];
}
