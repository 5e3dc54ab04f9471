// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "rhizome/ClusterSim/Channels.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace rhizome;
using namespace rhizome::clustersim;

uint16_t clustersim::addressOf(const Plan &plan, StringRef name) {
  if (name == kHost)
    return kHostAddress;
  const PlannedNode *node = plan.node(name);
  assert(node && "the plan was checked");
  return node->address;
}

std::vector<link::ChannelConfig> clustersim::channelsOf(const Plan &plan,
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
        uint64_t(channel.elements) * uint64_t(channel.element.width());
    config.slotWords = link::slotWordsFor(size_t(medium.mtuBytes));
    config.reliable = medium.isReliable();
    double datagramBits =
        8.0 * double(config.slotWords * link::kWordBytes + link::kHeaderBytes +
                     size_t(medium.overheadBytes));
    // One datagram there and one acknowledgement back, queued after a few
    // others.
    config.roundTrip = link::Time(2 * medium.latencyNs) +
                       link::Time(8 * datagramBits * 1e9 / medium.bitsPerS);
    // Even on a slow medium, a busy channel's datagrams share acknowledgements.
    config.ackDelay = std::max(
        config.ackDelay, link::Time(16 * datagramBits * 1e9 / medium.bitsPerS));
  }
  return configs;
}

/// The number after a port's prefix: "s_axis_1" and "input1" give 1.
static size_t numberOf(StringRef port) {
  StringRef digits = port.substr(port.find_last_not_of("0123456789") + 1);
  size_t number = 0;
  bool bad = digits.getAsInteger(10, number);
  assert(!bad && "the plan was checked");
  (void)bad;
  return number;
}

std::vector<link::Route> clustersim::routesOf(const Plan &plan, StringRef name,
                                              bool receives) {
  std::vector<link::Route> routes;
  for (const Channel &channel : plan.channels) {
    const ChannelEnd &end = receives ? channel.to : channel.from;
    if (end.node == name)
      routes.push_back({numberOf(end.port), channel.id, uint64_t(channel.first),
                        uint64_t(channel.every)});
  }
  return routes;
}

link::Router clustersim::routerOf(const Plan &plan, StringRef name,
                                  bool receives) {
  const PlannedNode *node = plan.node(name);
  return link::Router(routesOf(plan, name, receives),
                      node ? uint64_t(node->replica.index) : 0,
                      node ? uint64_t(node->replica.count) : 1);
}

std::vector<runtime::Region> clustersim::regionsOf(const Plan &plan) {
  std::vector<runtime::Region> regions;
  runtime::Region next;
  for (const PlannedTask &task : plan.tasks.tasks) {
    if (!task.onFpga)
      continue;
    next.inputs = task.takes.size();
    next.outputs = task.gives.size();
    regions.push_back(next);
    next.firstInput += next.inputs;
    next.firstOutput += next.outputs;
  }
  const bool fits = next.firstInput == plan.host.toDevice.size() &&
                    next.firstOutput == plan.host.fromDevice.size();
  return fits && regions.size() > 1 ? regions : std::vector<runtime::Region>();
}

link::Service clustersim::serviceOf(const Plan &plan,
                                    const std::vector<BorderPort> &inputs,
                                    const std::vector<BorderPort> &outputs) {
  auto tensors = [](const std::vector<BorderPort> &ports) {
    std::vector<link::TensorInfo> infos;
    for (const BorderPort &port : ports)
      infos.push_back({port.name, port.shape, port.element.width(),
                       port.element.isSigned()});
    return infos;
  };
  link::Service service;
  service.channels = channelsOf(plan, kHost);
  service.inputs = routesOf(plan, kHost, /*receives=*/false);
  service.outputs = routesOf(plan, kHost, /*receives=*/true);
  service.inputTensors = tensors(inputs);
  service.outputTensors = tensors(outputs);
  for (const PlannedNode &node : plan.nodes)
    service.nodes.push_back({node.name, node.address});
  return service;
}
