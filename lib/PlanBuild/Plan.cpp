// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "rhizome/PlanBuild/Plan.h"
#include "rhizome/Dialect/Marks/Marks.h"
#include "rhizome/PlanBuild/Build.h"
#include <cmath>
#include <numeric>

using namespace mlir;
using namespace rhizome;
using namespace rhizome::planbuild;

//===----------------------------------------------------------------------===//
// Channels
//===----------------------------------------------------------------------===//

namespace {
/// One end of a tensor: a port of a run's nodes, or of the host.
struct End {
  int run = -1; ///< of the result's nodes; -1 is the host
  std::string port;
};

class Wiring {
public:
  Wiring(Plan &plan, const Targets &targets, explore::Result &result,
         func::FuncOp network)
      : plan(plan), targets(targets), result(result), network(network) {}
  void run();

private:
  Plan &plan;
  const Targets &targets;
  explore::Result &result;
  func::FuncOp network;
  std::vector<size_t> first; ///< node of each run

  std::string nameOf(const End &end, int64_t frame) const;
  std::string linkOf(const End &from, const End &to) const;
  void connect(const End &from, const End &to, const BorderPort &port);
};

std::string Wiring::nameOf(const End &end, int64_t frame) const {
  if (end.run < 0)
    return kHost;
  return plan.nodes[first[end.run] + frame % result.nodes[end.run].copies].name;
}

/// The slower of the two ends' links.
std::string Wiring::linkOf(const End &from, const End &to) const {
  auto at = [&](const End &end) {
    return end.run < 0
               ? targets.hostLink
               : targets.places.places[result.nodes[end.run].place].link;
  };
  const PlannedLink *a = plan.link(at(from)), *b = plan.link(at(to));
  return b->bitsPerS < a->bitsPerS ? b->name : a->name;
}

void Wiring::connect(const End &from, const End &to, const BorderPort &port) {
  auto copies = [&](const End &end) {
    return end.run < 0 ? int64_t(1) : int64_t(result.nodes[end.run].copies);
  };
  int64_t every = std::lcm(copies(from), copies(to));
  for (int64_t frame = 0; frame < every; ++frame)
    plan.channels.push_back({uint16_t(plan.channels.size()),
                             port.name,
                             port.element,
                             port.elements(),
                             {nameOf(from, frame), from.port},
                             {nameOf(to, frame), to.port},
                             frame,
                             every,
                             linkOf(from, to)});
}

void Wiring::run() {
  size_t node = 0;
  for (const explore::NodeResult &run : result.nodes) {
    first.push_back(node);
    node += run.copies;
  }
  // The last owner of a value: its producer, or in a chain the node that passed
  // it on.
  std::map<int64_t, End> sources;
  auto numberAt = [](DictionaryAttr attrs, StringRef key) -> int64_t {
    auto number = attrs ? attrs.getAs<IntegerAttr>(key) : IntegerAttr();
    return number ? number.getInt() : -1;
  };
  int runs = int(result.nodes.size());
  for (int r = 0; r < runs; ++r) {
    func::FuncOp function = result.nodes[r].function;
    const PlannedNode &here = plan.nodes[first[r]];
    bool isWhole = function == network;
    for (unsigned i = 0; i < function.getNumArguments(); ++i) {
      DictionaryAttr attrs = function.getArgAttrDict(i);
      auto source = sources.find(numberAt(attrs, marks::kValue));
      int64_t input = isWhole ? int64_t(i) : numberAt(attrs, marks::kInput);
      End from = !isWhole && source != sources.end()
                     ? source->second
                     : End{-1, "input" + std::to_string(input)};
      connect(from, {r, "s_axis_" + std::to_string(i)}, here.inputs[i]);
    }
    for (unsigned i = 0; i < function.getNumResults(); ++i) {
      std::vector<int64_t> outputs{int64_t(i)};
      if (!isWhole) {
        DictionaryAttr attrs = function.getResultAttrDict(i);
        sources[numberAt(attrs, marks::kValue)] = {r, "m_axis_" +
                                                          std::to_string(i)};
        auto list = attrs.getAs<DenseI64ArrayAttr>(marks::kOutputs);
        outputs.assign(list.asArrayRef().begin(), list.asArrayRef().end());
      }
      for (int64_t output : outputs)
        connect({r, "m_axis_" + std::to_string(i)},
                {-1, "output" + std::to_string(output)}, here.outputs[i]);
    }
  }
}
} // namespace

//===----------------------------------------------------------------------===//
// The plan
//===----------------------------------------------------------------------===//

/// Sums over all nodes; rate and latency of the whole.
static void predictWhole(Plan &plan, const explore::Result &result) {
  if (plan.cluster.empty()) {
    plan.predicted = plan.nodes[0].predicted;
    plan.utilization = plan.nodes[0].utilization;
    return;
  }
  Prediction &p = plan.predicted;
  p.clockMhz = plan.clockMhz;
  p.throughputPerS = 1 / result.seconds;
  p.intervalCycles = std::llround(result.seconds * plan.clockMhz * 1e6);
  p.latencyUs = result.latency * 1e6;
  p.latencyCycles = std::llround(result.latency * plan.clockMhz * 1e6);
  double lutSquares = 0, ffSquares = 0;
  std::map<std::string, int64_t> budget;
  std::map<std::string, double> used;
  for (const PlannedNode &node : plan.nodes) {
    const Prediction &n = node.predicted;
    p.lut += n.lut;
    p.ff += n.ff;
    p.dsp += n.dsp;
    p.bram += n.bram;
    p.uram += n.uram;
    p.loadCycles = std::max(p.loadCycles, n.loadCycles);
    lutSquares += double(n.lutError * n.lutError);
    ffSquares += double(n.ffError * n.ffError);
    for (auto &[name, share] : node.utilization) {
      int64_t all = node.budget.count(name) ? node.budget.at(name) : 0;
      budget[name] += all;
      used[name] += share * double(all);
    }
  }
  p.lutError = int64_t(std::ceil(std::sqrt(lutSquares)));
  p.ffError = int64_t(std::ceil(std::sqrt(ffSquares)));
  for (auto &[name, count] : used)
    plan.utilization[name] = budget[name] ? count / double(budget[name]) : 0;
}

/// Enters which die holds what.
static void describeDies(PlannedNode &node, explore::NodeResult &run,
                         const Device &device,
                         const explore::ClusterPlace &place) {
  const std::vector<Die> &dies = device.dies.dies;
  if (dies.empty() || !run.design)
    return;
  // A plan that fits no layout, taken nevertheless, has none.
  if (llvm::none_of(run.design.getBody().getOps<flow::ActorOp>(),
                    [](flow::ActorOp op) { return op.getDie().has_value(); }))
    return;
  const gen::DieRow row{int(dies.size()), device.dies.registers,
                        device.dies.border, device.dies.memory};
  auto costs = gen::costOfDies(
      run.design, row, place.context.cost,
      gen::costsOfActors(run.design, place.context.cost, &run.images));
  auto wires = gen::wiresOf(run.design, row);
  for (size_t d = 0; d < dies.size(); ++d) {
    PlannedDie die;
    die.name = dies[d].name;
    for (size_t k = 0; k < gen::kResourceNames.size(); ++k) {
      const char *name = gen::kResourceNames[k];
      if (double all = place.dies.budgets[d].amount[k]; all > 0)
        die.budget[name] = int64_t(all);
      if (double used = costs[d].resources.amount[k]; used > 0)
        die.resources[name] = std::round(1e6 * used) / 1e6;
    }
    if (d + 1 < dies.size()) {
      die.wires = wires[d];
      die.wiresAvailable = device.dies.wires;
    }
    node.dies.push_back(std::move(die));
  }
  auto nameOf = [&](std::optional<uint64_t> die) {
    return die ? dies[*die].name : std::string();
  };
  for (auto [op, actor] :
       llvm::zip(run.design.getBody().getOps<flow::ActorOp>(), node.actors)) {
    actor.die = nameOf(op.getDie());
    actor.fromDie = nameOf(op.getFromDie());
  }
  for (auto [taken, operation] : llvm::zip(run.taken, node.operations))
    operation.die = dies[size_t(taken.die)].name;
}

/// What a plan tells of a body: it is on one node, from the entry before its
/// first operation to its end.
static PlannedRepeat bodyOf(const explore::Repeat &repeat,
                            const explore::Result &result) {
  PlannedRepeat body{repeat.of.node,
                     repeat.of.op,
                     repeat.of.nth,
                     repeat.length,
                     repeat.trips,
                     0,
                     {},
                     {}};
  auto add = [](std::map<std::string, double> &to,
                const gen::Resources &resources) {
    for (auto [k, name] : llvm::enumerate(gen::kResourceNames))
      if (resources.amount[k] > 0)
        to[name] += resources.amount[k];
  };
  for (const explore::NodeResult &node : result.nodes) {
    bool isInside = false;
    for (const explore::Taken &taken : node.taken) {
      if (taken.id.op == "enter")
        isInside = taken.id.node == repeat.of.node;
      if (!isInside)
        continue;
      add(body.resources, taken.resources);
      if (taken.trips > 1) {
        add(body.apart, taken.apart);
        body.cyclesPerTrip =
            std::max(body.cyclesPerTrip, taken.busyCycles / taken.trips);
      }
      if (taken.id.op == "leave")
        isInside = false;
    }
  }
  return body;
}

Plan planbuild::planOf(const std::string &model, const std::string &goal,
                       const Targets &targets, explore::Result &result,
                       func::FuncOp network) {
  Plan plan;
  plan.model = model;
  plan.board = targets.board ? targets.board->name : "";
  plan.cluster = targets.cluster;
  plan.goal = goal;
  for (explore::NodeResult &run : result.nodes) {
    const gen::DeviceContext &context =
        targets.places.places[run.place].context;
    std::string owner;
    for (int copy = 0; copy < run.copies; ++copy) {
      size_t number = plan.nodes.size();
      PlannedNode node =
          describeNode("node" + std::to_string(number), run, context);
      node.family = targets.devices[run.place].family;
      describeDies(node, run, targets.devices[run.place],
                   targets.places.places[run.place]);
      node.streamBits = run.streamBits;
      node.address = uint16_t(number + 1);
      if (!targets.cluster.empty())
        node.link = targets.places.places[run.places[copy]].link;
      node.replica = {int64_t(number) - copy, copy, run.copies};
      node.rtlOf = owner;
      if (owner.empty())
        owner = node.name;
      plan.nodes.push_back(std::move(node));
    }
    addMultipliers(plan, run.design, run.copies);
  }
  plan.device = plan.nodes[0].device;
  plan.clockMhz = plan.nodes[0].clockMhz;
  plan.bottleneck = describe(result.bottleneck);
  plan.bottleneckKind =
      flow::stringifyBottleneckKind(result.bottleneck.kind).str();
  for (const explore::Split &split : result.splits)
    plan.splits.push_back(
        {split.of.node, split.of.op, split.of.nth, split.parts});
  for (const explore::Repeat &repeat : result.repeats)
    plan.repeats.push_back(bodyOf(repeat, result));
  plan.lutsOfABlock = result.lutsOfABlock;
  predictWhole(plan, result);
  plan.boundPerS = 1 / result.bound;
  for (const explore::Result::Other &other : result.others)
    plan.alternatives.push_back(
        {other.what, other.nodes, other.perSecond, other.why});
  if (!plan.cluster.empty()) {
    plan.links = targets.links;
    plan.hostLink = targets.hostLink;
    Wiring(plan, targets, result, network).run();
  }
  return plan;
}
