// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// plan.json's text as C++ values, with all reasons for refusing it: first its
// form (generated, PlanJson.cpp), then the bounds of names and numbers
// (PlanBounds.cpp), then their consistency.
#include "PlanBounds.h"
#include "rhizome/Package/Plan.h"
#include "rhizome/Support/Untrusted.h"
#include "rhizome/Support/Version.h"
#include "llvm/ADT/STLExtras.h"
#include <set>

using namespace llvm;
using namespace rhizome;

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
  auto isEqual = [&](const PlannedNode &other) {
    return fits(other.inputs, kernel.inputs) &&
           fits(other.outputs, kernel.outputs);
  };
  if (int64_t(plan.nodes.size()) != kernel.choice.nodes ||
      !llvm::all_of(plan.nodes, isEqual) ||
      (kernel.system && !plan.channels.empty()))
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
