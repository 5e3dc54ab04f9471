// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What follows from a plan's objects, and its text.
#include "rhizome/Package/Plan.h"
#include "PlanParts.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"

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

NodePorts rhizome::portsOf(const PlannedNode &node) {
  NodePorts ports{{}, node.registerPorts, node.memoryPorts, node.linkPorts};
  for (bool isOutput : {false, true})
    for (const BorderPort &port : isOutput ? node.outputs : node.inputs)
      ports.streams.push_back({port, isOutput});
  return ports;
}

void rhizome::setPorts(PlannedNode &node, NodePorts ports) {
  for (StreamPort &port : ports.streams)
    (port.isOutput ? node.outputs : node.inputs).push_back(std::move(port));
  node.registerPorts = std::move(ports.registers);
  node.memoryPorts = std::move(ports.memories);
  node.linkPorts = std::move(ports.links);
}

std::string rhizome::printPlan(const Plan &plan) {
  std::string text;
  raw_string_ostream stream(text);
  json::OStream os(stream, /*IndentSize=*/2);
  print(os, plan);
  os.flush();
  stream << "\n";
  return text;
}
