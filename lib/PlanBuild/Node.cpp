// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "rhizome/PlanBuild/Node.h"
#include "rhizome/Dialect/Marks/Marks.h"
#include "rhizome/PlanBuild/Build.h"
#include "rhizome/PlanBuild/Cells.h"
#include "rhizome/Rtl/Emit.h"
#include "rhizome/Support/Resources.h"

using namespace mlir;

namespace rhizome::planbuild {
gen::LinkEndpoint linkEndpointOf(const Plan &plan, const PlannedNode &node) {
  gen::LinkEndpoint endpoint;
  endpoint.address = node.address;
  endpoint.streamBits = node.streamBits;
  endpoint.clockMhz = node.clockMhz;
  for (const NodeChannel &c : nodeChannels(plan, node)) {
    const Medium &medium = *c.link;
    double framesPerS =
        plan.predicted.throughputPerS / double(c.channel->every);
    gen::LinkChannel channel;
    channel.id = c.channel->id;
    channel.transmit = c.transmit;
    channel.frameBits = c.frameBits();
    channel.peer = c.peer;
    channel.port = c.port;
    channel.first = c.first;
    channel.every = c.every;
    channel.medium = gen::linkMediumFor(medium, framesPerS, channel.frameBits);
    channel.link = medium;
    endpoint.channels.push_back(channel);
  }
  return endpoint;
}

/// The parameters of the cells.
static EndpointOptions optionsOf(const gen::LinkEndpoint &endpoint,
                                 const PlannedNode &node) {
  EndpointOptions options;
  options.streamBits = endpoint.streamBits;
  options.inputs = int64_t(node.inputs.size());
  options.outputs = int64_t(node.outputs.size());
  options.countsErrors = node.countsErrors();
  for (const gen::LinkChannel &channel : endpoint.channels) {
    EndpointChannel c;
    c.transmit = channel.transmit;
    c.port = channel.port;
    c.frameBeats =
        (channel.frameBits + endpoint.streamBits - 1) / endpoint.streamBits;
    c.every = channel.every;
    c.slotWords = gen::linkSlotWords(channel.medium);
    c.slots =
        channel.transmit
            ? gen::linkTransmitSlots(channel, endpoint.streamBits,
                                     endpoint.clockMhz)
            : gen::linkWindow(channel, endpoint.streamBits, endpoint.clockMhz);
    c.retain = !channel.medium.isReliable();
    c.waitTicks =
        gen::linkWaitTicks(channel, endpoint.streamBits, endpoint.clockMhz);
    c.ackTicks = gen::linkAckTicks(channel, endpoint.clockMhz);
    options.channels.push_back(c);
  }
  for (const MemoryPort &port : node.memoryPorts)
    options.memories.push_back(
        {port.port, int64_t(port.dataWidth), port.writes()});
  return options;
}

llvm::Error lowerNodeTop(const Plan &plan, const PlannedNode &node,
                         ModuleOp holder) {
  rtl::ModuleOp top =
      buildNodeTop(optionsOf(linkEndpointOf(plan, node), node), holder);
  holder->setAttr(marks::kTop, top.getSymNameAttr());
  return checkHardware(holder);
}

void describeEndpoint(const Plan &plan, PlannedNode &node) {
  node.registerPorts = {{"address_i", "address", 16},
                        {"channels_i", "channels",
                         16 * unsigned(nodeConfiguration(plan, node).size())}};
  node.linkPorts = {{"s_link", false, node.streamBits},
                    {"m_link", true, node.streamBits}};
}

void shareFiles(PlannedNode &replica, const PlannedNode &owner) {
  replica.top = owner.top;
  replica.nodeTop = owner.nodeTop;
  replica.rtl = owner.rtl;
  replica.modules = owner.modules;
  replica.registerPorts = owner.registerPorts;
  replica.linkPorts = owner.linkPorts;
  replica.simulationModels = owner.simulationModels;
}

llvm::Error writeNodeTop(PackageWriter &writer, PlannedNode &node,
                         ModuleOp holder) {
  // Files already copied for the design are not copied again.
  std::set<std::string> seen(node.rtl.begin(), node.rtl.end());
  node.nodeTop = holder->getAttrOfType<StringAttr>(marks::kTop).str();
  return writeFiles(writer, "nodes/" + node.name + "/rtl", holder, node.top,
                    seen, node);
}

llvm::Error writeNodeTop(PackageWriter &writer, const Plan &plan,
                         PlannedNode &node, MLIRContext &context) {
  OwningOpRef<ModuleOp> holder = ModuleOp::create(UnknownLoc::get(&context));
  if (auto error = lowerNodeTop(plan, node, *holder))
    return error;
  if (auto error = emitFiles(*holder))
    return error;
  describeEndpoint(plan, node);
  return writeNodeTop(writer, node, *holder);
}
} // namespace rhizome::planbuild
