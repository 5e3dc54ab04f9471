// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A kernel on the nodes of a cluster: equal units behind link endpoints, which
// compute elements in turn. Decides how many nodes serve, their channels, rate
// and latency.
#include "HardwareParts.h"
#include "rhizome/Cost/Link.h"
#include "rhizome/PlanBuild/Node.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>

using namespace mlir;
using namespace rhizome;
using namespace rhizome::kernelcommands;
using namespace rhizome::gen;

static int64_t frameBits(const BorderPort &port) {
  return port.elements() * int64_t(port.element.width());
}

std::optional<Failure>
kernelcommands::whyNotOnNodes(const planbuild::Targets &targets,
                              const UnitChoice &unit) {
  auto usage = [](const std::string &reason, const std::string &remedy) {
    return Failure(Failure::Kind::Usage, reason, remedy);
  };
  if (unit.nodes > mostNodes(targets, nullptr))
    return Failure(
        Failure::Kind::Input,
        llvm::formatv("its unit is chosen for {0} nodes, and {1}", unit.nodes,
                      targets.cluster.empty()
                          ? "there is one device"
                          : llvm::formatv("'{0}' has room for {1}",
                                          targets.cluster,
                                          mostNodes(targets, nullptr))
                                .str()),
        "give a --cluster of so many");
  if (targets.cluster.empty())
    return std::nullopt;
  const char *single = "name one device with --device";
  if (unit.isSystem)
    return usage("--system: nodes of a cluster get their elements over links, "
                 "not from memories",
                 "leave out --system, or " + std::string(single));
  if (unit.lanes > 1)
    return usage("--lanes: a node of a cluster computes one element at a time",
                 "leave out --lanes; --copies, --stages, --words and more "
                 "nodes make it faster");
  if (!unit.residents.empty())
    return usage("--resident: a client sends all inputs with each element, and "
                 "starts the nodes anew",
                 "leave out --resident, or " + std::string(single));
  for (const Device &device : targets.devices)
    if (device.name != targets.devices[0].name)
      return usage(
          llvm::formatv("--cluster: a kernel's nodes are equal, and '{0}' has "
                        "{1} and {2}",
                        targets.cluster, targets.devices[0].name, device.name),
          "choose a cluster of equal devices, such as " +
              targets.devices[0].name + ":2@LINK");
  return std::nullopt;
}

int64_t kernelcommands::mostBeatBits(const planbuild::Targets &targets) {
  return targets.cluster.empty() ? loops::UnitOptions().beatBits
                                 : targets.places.places[0].streamBits;
}

int64_t kernelcommands::mostNodes(const planbuild::Targets &targets,
                                  const explore::Goal *goal) {
  const explore::Cluster &cluster = targets.places;
  if (targets.cluster.empty())
    return 1;
  // Only the first node of a chain is linked with the host.
  if (cluster.isChain || !cluster.mayReplicate)
    return 1;
  return std::min({int64_t(cluster.places.size()), int64_t(kMostKernelNodes),
                   goal ? goal->maxNodes : INT64_MAX});
}

static std::vector<int64_t> framesOf(const std::vector<BorderPort> &ports) {
  std::vector<int64_t> bits;
  for (const BorderPort &port : ports)
    bits.push_back(frameBits(port));
  return bits;
}

/// Seconds for which an element occupies a wire, in its busier direction.
static double secondsOn(const explore::Wire &wire, const PlannedNode &node) {
  return wire.busierSeconds(framesOf(node.inputs), framesOf(node.outputs));
}

/// Seconds for which an element occupies the byte streams of a node's endpoint.
static double secondsInEndpoint(const explore::Wire &wire,
                                const PlannedNode &node) {
  double most = 0;
  for (const auto *ports : {&node.inputs, &node.outputs}) {
    double cycles = 0;
    for (const BorderPort &port : *ports)
      cycles += wire.cyclesFor(frameBits(port), node.streamBits);
    most = std::max(most, cycles);
  }
  return most / (node.clockMhz * 1e6);
}

/// Elements per second of so many nodes, and what bounds them.
static std::pair<double, std::string>
rateOf(const PlannedNode &node, int64_t nodes,
       const planbuild::Targets &targets) {
  const explore::Wire &own = *targets.places.places[0].wire,
                      &host = *targets.places.hostWire;
  const double unit =
      double(node.predicted.intervalCycles) / (node.clockMhz * 1e6);
  const double link =
      std::max(secondsOn(own, node), secondsInEndpoint(own, node));
  // A switched port carries what all nodes get; wires are one for each.
  const double shared =
      secondsOn(host, node) / double(host.isReliable() ? nodes : 1);
  const double each = std::max(unit, link) / double(nodes);
  return {1 / std::max(each, shared), shared > each ? "the host's link"
                                      : link > unit ? "a node's link"
                                                    : ""};
}

int64_t kernelcommands::fewestNodes(const Plan &plan,
                                    const planbuild::Targets &targets,
                                    double wanted) {
  int64_t nodes = 1;
  while (nodes < plan.kernel->choice.nodes &&
         rateOf(plan.nodes[0], nodes, targets).first < wanted * (1 - 1e-9))
    ++nodes;
  return nodes;
}

//===----------------------------------------------------------------------===//
// A single element
//===----------------------------------------------------------------------===//

namespace {
/// A datagram passes the slower end's wire.
struct Carrier {
  const explore::Wire &wire;
  double sent = 0; ///< when the last one has left

  double carry(double ready, int64_t words) {
    sent = std::max(sent, ready) + wire.bitsOf(words) / wire.bitsPerS;
    return sent + wire.latencyS();
  }
};
} // namespace

/// Seconds from an element's first bit at the host to its result's last one
/// there. A unit reads all of its inputs before the last result can leave.
static double latencyOf(const PlannedNode &node,
                        const planbuild::Targets &targets) {
  const explore::Wire &own = *targets.places.places[0].wire,
                      &host = *targets.places.hostWire;
  const explore::Wire &slower = host.bitsPerS < own.bitsPerS ? host : own;
  const double hertz = node.clockMhz * 1e6;
  const int64_t bits = node.streamBits;
  Carrier there{slower}, back{slower};
  double entered = 0;
  int64_t beats = 0;
  for (const BorderPort &port : node.inputs) {
    for (int64_t words : slower.datagramsOf(frameBits(port)))
      entered = std::max(entered, there.carry(0, words)) +
                double(linkStreamCycles(words, bits)) / hertz;
    beats = std::max(beats, port.beats());
  }
  // From then on its beats, or what is left of them, one per cycle.
  const int64_t last =
      std::min(beats, slower.slotWords * 64 / std::max<int64_t>(1, bits));
  double read = entered + double(linkReceiveCycles() + last) / hertz;
  const int64_t after =
      std::max<int64_t>(0, node.predicted.latencyCycles - beats);
  double done = 0;
  for (const BorderPort &port : node.outputs) {
    const int64_t all = port.beats();
    int64_t words = 0;
    double stream = 0;
    for (int64_t datagram : slower.datagramsOf(frameBits(port))) {
      words += datagram;
      const int64_t beat =
          std::min(all, int64_t(llvm::divideCeil(64 * words, bits)));
      const double ready = read + double(after - (all - beat)) / hertz;
      stream =
          std::max(ready + double(linkTransmitCycles(datagram, bits)) / hertz,
                   stream + double(linkStreamCycles(datagram, bits)) / hertz);
      done = std::max(done, back.carry(stream, datagram));
    }
  }
  return done;
}

//===----------------------------------------------------------------------===//
// The plan
//===----------------------------------------------------------------------===//

/// What a node's link endpoint takes.
static void addEndpoint(Plan &plan, const DeviceContext &device) {
  PlannedNode &node = plan.nodes[0];
  const Resources cost =
      endpointCost(planbuild::linkEndpointOf(plan, node), device.cost);
  Prediction &p = node.predicted;
  auto up = [](double v) { return int64_t(std::ceil(v)); };
  p.lut += up(cost.lut());
  p.ff += up(cost.ff());
  p.bram = std::ceil(2 * (p.bram + cost.bram())) / 2;
  for (size_t k = 0; k < kResourceNames.size(); ++k)
    if (double budget = available(device.budget, k); budget > 0)
      node.utilization[kResourceNames[k]] += cost.amount[k] / budget;
  node.blockBits += int64_t(cost.bram() * double(device.cost.bramBits));
}

Refusals kernelcommands::whyNoStreams(const Plan &plan) {
  const PlannedNode &node = plan.nodes[0];
  std::string widths;
  bool isGood = true;
  for (const auto *ports : {&node.inputs, &node.outputs})
    for (const BorderPort &port : *ports) {
      widths += (widths.empty() ? "" : ", ") + port.name + " " +
                std::to_string(port.dataWidth);
      isGood &= port.dataWidth == node.inputs[0].dataWidth &&
                port.dataWidth <= 64 && llvm::isPowerOf2_64(port.dataWidth);
    }
  if (isGood)
    return {};
  return {{plan.kernel->name, "",
           "streams of a node on links have one width of 8, 16, 32 or 64 bits; "
           "its streams have " +
               widths,
           "choose formats of 8, 16, 32 or 64 bits, the same for inputs and "
           "outputs, or name one device with --device"}};
}

void kernelcommands::addNodes(Plan &plan, const planbuild::Targets &targets) {
  const int64_t nodes = plan.kernel->choice.nodes;
  plan.cluster = targets.cluster;
  plan.links = targets.links;
  plan.hostLink = targets.hostLink;
  auto linkOf = [&](int64_t n) {
    const PlannedLink *own = plan.link(targets.places.places[size_t(n)].link);
    const PlannedLink *host = plan.link(plan.hostLink);
    return host->bitsPerS < own->bitsPerS ? host->name : own->name;
  };
  plan.nodes.resize(size_t(nodes), plan.nodes[0]);
  for (auto [n, node] : llvm::enumerate(plan.nodes)) {
    node.name = "node" + std::to_string(n);
    node.address = uint16_t(n + 1);
    node.link = targets.places.places[n].link;
    node.replica = {0, int64_t(n), nodes};
    node.rtlOf = n ? plan.nodes[0].name : "";
  }
  auto connect = [&](const std::vector<BorderPort> &ports, bool isInput) {
    for (auto [k, port] : llvm::enumerate(ports))
      for (auto [n, node] : llvm::enumerate(plan.nodes)) {
        ChannelEnd host{kHost,
                        (isInput ? "input" : "output") + std::to_string(k)},
            device{node.name, port.port};
        plan.channels.push_back(
            {uint16_t(plan.channels.size()), port.name, port.element,
             port.elements(), isInput ? host : device, isInput ? device : host,
             int64_t(n), nodes, linkOf(int64_t(n))});
      }
  };
  connect(plan.nodes[0].inputs, true);
  connect(plan.nodes[0].outputs, false);

  Prediction &p = plan.predicted;
  auto [rate, bound] = rateOf(plan.nodes[0], nodes, targets);
  p.throughputPerS = rate;
  p.intervalCycles = std::llround(p.clockMhz * 1e6 / rate);
  plan.boundPerS = std::max(rate, double(nodes) * plan.boundPerS);
  if (!bound.empty())
    plan.bottleneck = bound;
  addEndpoint(plan, targets.places.places[0].context);
  for (size_t n = 1; n < plan.nodes.size(); ++n) {
    plan.nodes[n].predicted = plan.nodes[0].predicted;
    plan.nodes[n].utilization = plan.nodes[0].utilization;
    plan.nodes[n].blockBits = plan.nodes[0].blockBits;
  }
  const double latency = latencyOf(plan.nodes[0], targets);
  p.latencyUs = latency * 1e6;
  p.latencyCycles = std::llround(latency * p.clockMhz * 1e6);
  const Prediction &each = plan.nodes[0].predicted;
  p.lut = nodes * each.lut;
  p.ff = nodes * each.ff;
  p.dsp = nodes * each.dsp;
  p.bram = double(nodes) * each.bram;
  p.uram = nodes * each.uram;
  const double root = std::sqrt(double(nodes));
  p.lutError = int64_t(std::ceil(root * double(each.lutError)));
  p.ffError = int64_t(std::ceil(root * double(each.ffError)));
  plan.utilization = plan.nodes[0].utilization;
}
