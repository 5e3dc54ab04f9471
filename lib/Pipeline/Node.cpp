// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "rhizome/Pipeline/Node.h"
#include "Cells.h"
#include "rhizome/Emit/Emit.h"
#include "rhizome/Support/Resources.h"

using namespace mlir;

namespace rhizome {
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
    endpoint.channels.push_back(channel);
  }
  return endpoint;
}

/// The numbers of the cells.
static EndpointOptions optionsOf(const gen::LinkEndpoint &endpoint,
                                 const PlannedNode &node) {
  EndpointOptions options;
  options.streamBits = endpoint.streamBits;
  options.inputs = int64_t(node.inputs.size());
  options.outputs = int64_t(node.outputs.size());
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
    c.waitTicks = gen::linkWaitTicks(channel.medium, endpoint.streamBits,
                                     endpoint.clockMhz);
    c.ackTicks = gen::linkAckTicks(channel.medium, endpoint.clockMhz);
    options.channels.push_back(c);
  }
  return options;
}

llvm::Error writeNodeTop(PackageWriter &writer, const Plan &plan,
                         PlannedNode &node, MLIRContext &context) {
  // Its endpoint resets the design when a client begins anew, and beats that
  // were asked for before would come after that.
  if (!node.memoryPorts.empty())
    return llvm::createStringError(
        "node '%s' reads a memory outside the chip ('%s'), which a node on a "
        "link cannot do yet; compile for one device without links",
        node.name.c_str(), node.memoryPorts[0].memory.c_str());
  std::string folder = "nodes/" + node.name + "/rtl";
  auto path = writer.makeFolder(folder);
  if (!path)
    return path.takeError();
  auto holder = ModuleOp::create(UnknownLoc::get(&context));
  OwningOpRef<ModuleOp> owner(holder);
  rtl::ModuleOp top =
      buildNodeTop(optionsOf(linkEndpointOf(plan, node), node), holder);
  if (auto error = checkHardware(holder))
    return error;
  auto library = rtlDir();
  if (!library)
    return library.takeError();
  // What the design has brought already is not copied again.
  std::set<std::string> seen(node.rtl.begin(), node.rtl.end());
  for (auto instance : top.getBody().getOps<rtl::InstanceOp>())
    if (instance.getCallee() != node.top)
      if (llvm::Error error =
              copyModule(writer, folder, *library, instance.getCallee(), seen,
                         node.rtl, node.simulationModels))
        return error;
  std::vector<std::string> tops;
  if (failed(emitDesign(holder, *path, &tops)))
    return llvm::createStringError("the endpoint's RTL could not be written");
  node.rtl.insert(node.rtl.end(), tops.begin(), tops.end());
  node.nodeTop = top.getSymName().str();
  node.registerPorts = {{"address_i", "address", 16},
                        {"channels_i", "channels",
                         16 * unsigned(nodeConfiguration(plan, node).size())}};
  node.linkPorts = {{"s_link", false, node.streamBits},
                    {"m_link", true, node.streamBits}};
  return llvm::Error::success();
}
} // namespace rhizome
