// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Builds a solution: per run a function and its design, whose timing
// the event simulator predicts. Rate and latency of the whole follow from the
// nodes' and the links'.
#include "Realize.h"
#include "Cut.h"
#include "Latency.h"
#include "Spills.h"
#include "rhizome/Design/Sizing.h"
#include "rhizome/Dialect/Marks/Marks.h"
#include "rhizome/Dialect/Osa/Osa.h"
#include "rhizome/Explore/Solver/RunLayout.h"
#include "rhizome/Explore/Solver/Runs.h"
#include "rhizome/Generator/Trips.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Parallel.h"
#include <cmath>
#include <map>

using namespace mlir;
using namespace rhizome::gen;

namespace rhizome::explore {
Posed::Posed(func::FuncOp network, const Cluster &cluster,
             const Steering &steering, OfferCache &cache)
    : network(network), cluster(cluster), steering(steering),
      menu(network, hardwareOf(network), cluster, steering, cache),
      orders(ordersOf(menu.problem())) {
  for (const auto &order : orders)
    problems.push_back(reorder(menu.problem(), order));
}

void Posed::addOffers(const NodeResult &node, Result &result) const {
  const Problem &problem = menu.problem();
  const Place &place = problem.places[node.place];
  const Resources &capacity = problem.kinds[place.kind].capacity;
  for (const Taken &taken : node.taken) {
    int stage = taken.stage;
    // For every other generator, the cheapest offer that is as fast as the
    // plan.
    std::map<std::string, std::pair<double, std::string>> best;
    double cycles = result.seconds * node.copies * place.clockHz * (1 + 1e-9);
    const auto &choices = problem.kinds[place.kind].choices[stage];
    for (size_t c = 0; c < choices.size(); ++c) {
      const Offer &offer = menu.sketch(place.kind, stage, int(c));
      if (choices[c].region >= 0 || offer.generator == taken.generator ||
          double(choices[c].interval) > cycles)
        continue;
      double price = pricesOf(choices[c].cost.resources, capacity)[0];
      auto [it, isNew] = best.try_emplace(offer.generator);
      if (isNew || price < it->second.first)
        it->second = {price, menu.offer(place.kind, stage, int(c)).key.text()};
    }
    double mine = pricesOf(taken.resources, capacity)[0];
    for (const auto &[generator, offer] : best)
      result.others.push_back(
          {taken.id.node + ": " + offer.second,
           llvm::formatv(
               "takes {0:F2} % of the device, the option taken {1:F2} "
               "% (sum over the resources)",
               100 * offer.first, 100 * mine),
           node.copies, 1 / result.seconds});
  }
}

namespace {
class Realizer {
public:
  Realizer(Posed &posed, const Proposal &proposal, Result result = {})
      : posed(posed), problem(posed.problems[proposal.order]),
        order(posed.orders[proposal.order]), solution(proposal.solution),
        result(std::move(result)) {
    for (const Run &run : solution.runs)
      ends.push_back(crossingOf(problem, run.begin, run.end));
  }
  FailureOr<Result> run(const Trial &trial);
  FailureOr<Result> outline();
  Result outlineTiming();
  FailureOr<Result> addTiming();

private:
  Posed &posed;
  const Problem &problem;
  const std::vector<int> &order;
  const Solution &solution;
  Result result;
  std::vector<Ends> ends; ///< for every run

  void buildAll();
  void build(const Run &run, size_t first);
  void price(NodeResult &node);
  LogicalResult size(size_t n, const Trial &trial);
  void select(const Run &run, ArrayRef<std::pair<int, int>> stages,
              ArrayRef<Operation *> ops, ArrayRef<Operation *> copies,
              NodeResult &node);
  LogicalResult forNodes(llvm::function_ref<LogicalResult(size_t)> work);
  /// The node's place, with the stream width used there.
  Place placeOf(const NodeResult &node) const {
    Place place = problem.places[node.place];
    place.streamBits = node.streamBits;
    return place;
  }
  double secondsOf(const NodeResult &node, const Ends &ends) const;
  std::optional<std::string> memoryThatBinds(size_t node, double seconds) const;
  void addEndpoints(double seconds);
};

static DieRow rowOf(const Dies &dies) {
  return {int(dies.count()), dies.registers, dies.border, dies.memory};
}

void Realizer::build(const Run &run, size_t first) {
  const ClusterPlace &device = posed.cluster.places[run.places[0]];
  NodeResult node;
  node.place = run.places[0];
  node.streamBits = run.streamBits;
  node.places = run.places;
  node.copies = int(run.places.size());
  node.account = run.cost.resources;
  // In the network's own order, independent of the order along the devices.
  std::vector<std::pair<int, int>> stages; // of the menu, with the choice
  for (int s = run.begin; s < run.end; ++s)
    stages.push_back({order[s], run.choices[s - run.begin]});
  llvm::sort(stages);
  std::vector<Operation *> ops, copies;
  for (auto [stage, choice] : stages)
    ops.push_back(posed.menu.operation(stage));
  std::string name = "node" + std::to_string(first);
  node.function = posed.network;
  copies = ops;
  // A network whose operations were split is no longer the model's.
  bool isCut =
      solution.runs.size() > 1 || posed.network.getSymName() != "network";
  if (isCut) {
    copies.clear();
    Operation *after = posed.network;
    if (!result.nodes.empty())
      after = result.nodes.back().design;
    SmallVector<Value> passing;
    Ends ends = crossingOf(problem, run.begin, run.end);
    for (int t : ends.in)
      if (llvm::is_contained(ends.out, t))
        passing.push_back(posed.menu.value(t));
    node.ownsFunction = true;
    node.function =
        cutFunction(posed.network, ops, passing, solution.runs.size() == 1,
                    name, after, posed.values, copies);
  }
  select(run, stages, ops, copies, node);
  // Two symbols cannot share a name: the design has its node's.
  std::string designName = isCut ? name + "_design" : name;
  Border border{device.device, device.context.clockMhz, node.streamBits,
                designName,    device.context.memories, &device.context.cost};
  if (!run.dies.empty())
    border.dies = rowOf(problem.places[node.place].dies);
  node.design =
      buildDesign(node.function, node.selections, border, node.images);
  result.nodes.push_back(std::move(node));
}

/// The offers taken by a run: stages of the menu with their choices,
/// for `copies` of its operations. Regions that share a unit become one.
void Realizer::select(const Run &run, ArrayRef<std::pair<int, int>> stages,
                      ArrayRef<Operation *> ops, ArrayRef<Operation *> copies,
                      NodeResult &node) {
  const Menu &menu = posed.menu;
  int kind = problem.places[run.places[0]].kind;
  struct Sharing {
    size_t selection; ///< of the first region
    std::vector<gen::Region> regions;
    std::vector<const Offer *> offers;
    std::vector<size_t> taken; ///< the regions' first operations
  };
  llvm::MapVector<std::pair<int, int>, Sharing> shared; // by unit, instance
  auto dieOf = [&](int at) {
    return run.dies.empty() ? 0 : run.dies[at - run.begin];
  };
  for (size_t i = 0; i < stages.size();) {
    auto [stage, choice] = stages[i];
    const Offer &offer = menu.offer(kind, stage, choice);
    auto parts = size_t(menu.partsOf(kind, stage, choice));
    const size_t first = node.taken.size();
    for (size_t part = 0; part < parts; ++part) {
      int at = int(llvm::find(order, stages[i + part].first) - order.begin());
      node.taken.push_back({menu.id(stages[i + part].first),
                            stages[i + part].first, offer.generator, offer.key,
                            offer.summary, offer.busyCycles,
                            part == 0 ? offer.resources : Resources(), at,
                            dieOf(at), run.units[at - run.begin]});
    }
    if (const int64_t trips = tripsOf(menu.operation(stage)); trips > 1) {
      node.taken.back().trips = trips;
      node.taken.back().apart = apartOf(offer, trips, menu.device(kind));
    }
    const int die = dieOf(int(llvm::find(order, stage) - order.begin()));
    gen::Region region =
        gen::Region(ops.slice(i, parts)).with(copies.slice(i, parts));
    i += parts;
    if (!offer.shared) {
      node.selections.push_back({region, offer, die});
      continue;
    }
    int at = int(llvm::find(order, stage) - order.begin());
    std::pair<int, int> unit{problem.kinds[kind].choices[at][choice].unit,
                             run.units[at - run.begin]};
    auto [it, isNew] =
        shared.insert({unit, {node.selections.size(), {}, {}, {}}});
    if (isNew)
      node.selections.push_back({region, offer, die});
    it->second.regions.push_back(region);
    it->second.offers.push_back(&offer);
    it->second.taken.push_back(first);
  }
  int units = 0;
  for (auto &[unit, sharing] : shared) {
    const Generator *generator = findGenerator(sharing.offers[0]->generator);
    node.selections[sharing.selection] = {
        gen::Region::joined(sharing.regions),
        generator->join(sharing.regions, sharing.offers, menu.device(kind)),
        node.selections[sharing.selection].die};
    if (sharing.taken.size() < 2)
      continue;
    for (size_t mine : sharing.taken) {
      std::vector<std::string> others;
      for (size_t other : sharing.taken)
        if (other != mine)
          others.push_back(node.taken[other].id.node);
      node.taken[mine].summary += ", one unit with " + llvm::join(others, ", ");
      node.taken[mine].shared = units;
    }
    ++units;
  }
  int64_t slowest = 0;
  for (const Selection &s : node.selections)
    if (s.offer.busyCycles > slowest) {
      slowest = s.offer.busyCycles;
      node.bottleneck = osa::nodeName(s.region.front());
    }
}

/// Runs `work` on every node, on all threads: designs are independent. A single
/// node's work has parts for all of them.
LogicalResult
Realizer::forNodes(llvm::function_ref<LogicalResult(size_t)> work) {
  if (result.nodes.size() == 1)
    return work(0);
  std::vector<char> done(result.nodes.size());
  llvm::parallelFor(0, done.size(),
                    [&](size_t n) { done[n] = succeeded(work(n)); });
  return success(!llvm::is_contained(done, 0));
}

/// What limits the rate of all copies of a node together.
double Realizer::secondsOf(const NodeResult &node, const Ends &ends) const {
  Place place = placeOf(node);
  double seconds = node.timing.intervalCycles / place.clockHz;
  if (place.wire)
    for (auto *side : {&ends.in, &ends.out}) {
      double busy = 0, cycles = 0;
      for (int t : side == &ends.in ? ends.out : ends.in)
        busy += place.wire->answerFor(problem.tensors[t].bits);
      for (int t : *side) {
        busy += place.wire->secondsForFrame(problem.tensors[t].bits);
        cycles +=
            place.wire->cyclesFor(problem.tensors[t].bits, place.streamBits);
      }
      seconds = std::max({seconds, busy, cycles / place.clockHz});
    }
  return seconds / node.copies;
}

/// The memory that transfers a node's bytes in no less than this time, if any,
/// without its latency and what it loses between bursts.
std::optional<std::string> Realizer::memoryThatBinds(size_t n,
                                                     double seconds) const {
  constexpr double kNear = 0.9;
  const Run &run = solution.runs[n];
  const Place &place = problem.places[run.places[0]];
  for (size_t m = 0; m < kMemories; ++m) {
    double bytes = run.cost.resources.amount[memoryKind(m)];
    double copies = double(run.places.size());
    if (bytes > 0 && bytes / place.bandwidth[m] / copies >= kNear * seconds)
      return problem.kinds[place.kind].memories[m];
  }
  return std::nullopt;
}

/// The guards of all ports through which a design reaches memories.
static Resources guardsOf(flow::DesignOp design, const CostContext &context) {
  struct Port {
    int64_t bits = 0;
    bool writes = false;
  };
  std::map<std::pair<std::string, int64_t>, Port> ports;
  for (auto op : design.getBody().getOps<flow::ActorOp>()) {
    const unit::Instance unit = op.getUnit();
    for (auto [own, bank] :
         llvm::zip_equal(unit.kind().memoryPorts(), op.getBanks())) {
      Port &port = ports[{bank.getMemory().str(), bank.getBank()}];
      port.bits = unit.bitsOf(*own);
      port.writes |= own->writes();
    }
  }
  Resources all;
  for (const auto &[bank, port] : ports)
    all += guardCost(port.writes, port.bits, context);
  return all;
}

/// The endpoints' resources, at this rate of the whole.
void Realizer::addEndpoints(double seconds) {
  for (size_t n = 0; n < result.nodes.size(); ++n) {
    NodeResult &node = result.nodes[n];
    Place place = placeOf(node);
    if (!place.wire)
      continue;
    ends[n].framesPerS = 1 / (seconds * node.copies);
    for (size_t k = 0; k < node.resources.amount.size(); ++k)
      node.resources.amount[k] -= node.endpoint.amount[k];
    node.endpoint = problem.glue->endpoint(place, ends[n]).resources;
    node.endpoint +=
        guardsOf(node.design, posed.cluster.places[node.place].context.cost);
    node.resources += node.endpoint;
  }
}

FailureOr<Result> Realizer::addTiming() {
  auto time = [&](size_t n) -> LogicalResult {
    NodeResult &node = result.nodes[n];
    if (node.sized) {
      node.timing = *node.sized;
      return success();
    }
    auto timing = predictTiming(node.design, node.waits);
    if (succeeded(timing))
      node.timing = *timing;
    return timing;
  };
  if (failed(forNodes(time)))
    return failure();
  for (size_t n = 0; n < result.nodes.size(); ++n) {
    NodeResult &node = result.nodes[n];
    double seconds = secondsOf(node, ends[n]);
    if (seconds <= result.seconds)
      continue;
    result.seconds = seconds;
    Place place = placeOf(node);
    double own = node.timing.intervalCycles / place.clockHz / node.copies;
    double beats = 0;
    for (auto *side : {&ends[n].in, &ends[n].out})
      for (int t : *side)
        beats = std::max(
            beats, double((problem.tensors[t].bits + place.streamBits - 1) /
                          place.streamBits));
    int64_t slowest = 0;
    for (const Selection &s : node.selections)
      slowest = std::max(slowest, s.offer.busyCycles);
    if (std::string state =
            stateThatBinds(node.design, node.timing.intervalCycles);
        !state.empty()) {
      result.bottleneck = {flow::BottleneckKind::State, state};
      continue;
    }
    if (auto memory = memoryThatBinds(n, seconds)) {
      result.bottleneck = {flow::BottleneckKind::Memory, *memory};
      continue;
    }
    result.bottleneck = {seconds > own * (1 + 1e-9) ? flow::BottleneckKind::Link
                         : beats >= double(slowest)
                             ? flow::BottleneckKind::Border
                             : flow::BottleneckKind::Operation,
                         node.bottleneck};
  }
  double host = hostSeconds(problem);
  if (host > result.seconds) {
    result.seconds = host;
    result.bottleneck = {flow::BottleneckKind::HostLink, ""};
  }
  std::vector<RequestNode> nodes;
  for (size_t n = 0; n < result.nodes.size(); ++n)
    nodes.push_back({result.nodes[n], placeOf(result.nodes[n]), ends[n]});
  auto latency = latencyOf(posed, problem, nodes);
  if (failed(latency))
    return failure();
  result.latency = *latency;
  addEndpoints(result.seconds);
  return std::move(result);
}

void Realizer::buildAll() {
  size_t first = 0;
  for (const Run &run : solution.runs) {
    build(run, first);
    first += int(run.places.size());
  }
}

/// The resources of the node's design with its current buffers.
void Realizer::price(NodeResult &node) {
  const CostContext &context = posed.cluster.places[node.place].context.cost;
  const auto actors = gen::costsOfActors(node.design, context, &node.images);
  node.resources = gen::costOf(node.design, context, actors, &node.errors);
  const Dies &dies = problem.places[node.place].dies;
  if (dies.count() < 2)
    return;
  node.dies.clear();
  for (const DieCost &die :
       costOfDies(node.design, rowOf(dies), context, actors))
    node.dies.push_back({die.resources, die.lutVariance, die.ffVariance});
  node.wires = wiresOf(node.design, rowOf(dies));
}

/// Gives a node's buffers their depths, step by step as long as it may fit:
/// docs/rationale/buffers.md.
LogicalResult Realizer::size(size_t n, const Trial &trial) {
  NodeResult &node = result.nodes[n];
  const Place &place = problem.places[node.place];
  const Kind &kind = problem.kinds[place.kind];
  auto fits = [&] {
    price(node);
    return fitsPlace(node, place, kind);
  };
  const SpillSite site{node,
                       posed.cluster.places[node.place],
                       posed.steering,
                       place,
                       solution.runs[n].dies.empty() ? DieRow()
                                                     : rowOf(place.dies),
                       fits};
  // Where memories have hardly a cycle to spare, no run is tried that assumes
  // that they keep up.
  constexpr double kNoSpare = 0.97;
  const double share = memoryShareOf(site);
  BufferSizing sizing(node.design, trial.waits || share > kNoSpare);
  auto wouldFit = [&](Resources needs) {
    needs += node.errors;
    return exceeded(needs, place.budgetFor(INFINITY), kind).isNone();
  };
  // Whether it fits, or could with FIFOs in a memory.
  const bool movesFifos =
      llvm::any_of(posed.steering.fifos,
                   [](const Steering::Fifo &fifo) { return fifo.inMemory; });
  auto mayFit = [&] {
    price(node);
    node.maySpill = false;
    if (fitsPlace(node, place, kind) || movesFifos)
      return true;
    const bool could = couldSpill(site, wouldFit);
    node.maySpill =
        could && trial.isFirst && !trial.spillsDies && wouldFit(node.resources);
    return could;
  };
  // What comes next takes longer each time. What a run tells is learned from,
  // unless so much more is needed.
  constexpr double kHopeless = 1.2;
  auto isHopeless = [&] {
    if (mayFit() && !node.maySpill)
      return false;
    Resources some = node.resources;
    for (double &amount : some.amount)
      amount /= kHopeless;
    return !wouldFit(some);
  };
  const int64_t firings = gen::firingsOf(node.design);
  std::function<bool()> isTooMuch;
  if (trial.isFirst) {
    sizing.atLeast();
    const bool isTooLong = firings > trial.mostFirings;
    if (isHopeless() || (isTooLong && trial.hasRun))
      return success();
    if (isTooLong)
      isTooMuch = isHopeless;
  }
  // Where frames take long, another run beside the first one costs little
  // time, unless they take very long. Memories that make others wait do not
  // keep a pace.
  constexpr int64_t kLong = 20'000'000, kVeryLong = 10 * kLong; // firings
  const int64_t interval = intervalOf(node);
  const bool isLong = share <= 1 && result.nodes.size() == 1 &&
                      firings > kLong && firings < kVeryLong;
  if (failed(isLong ? sizing.roughly(interval) : sizing.roughly({}, isTooMuch)))
    return failure();
  node.isSimulated = true;
  if (sizing.isTooMuch())
    return success();
  node.waits = sizing.waitsForMemories();
  auto pace = [&](BufferSizing &now) -> LogicalResult {
    if (node.waits)
      return success();
    if (failed(now.paced(interval)))
      return failure();
    node.sized.reset();
    price(node);
    return success();
  };
  // A plan that is built again takes the same way.
  if (!mayFit() && (trial.isFirst || !node.waits))
    return pace(sizing);
  if (node.maySpill)
    return success();
  auto timing = sizing.fully();
  if (failed(timing))
    return failure();
  node.sized = *timing;
  // What comes from a memory has its own timing.
  if (spillAsAsked(site))
    node.sized.reset();
  price(node);
  if (!fitsPlace(node, place, kind)) {
    if ((trial.spillsDies || !wouldFit(node.resources)) && spillToFit(site))
      node.sized.reset();
    price(node);
  }
  if (fitsPlace(node, place, kind))
    return success();
  // FIFOs that were moved and came back are others now.
  BufferSizing again(node.design);
  return pace(again);
}

FailureOr<Result> Realizer::run(const Trial &trial) {
  buildAll();
  if (failed(forNodes([&](size_t n) { return size(n, trial); }))) {
    erase(result);
    return failure();
  }
  result.isExact = solution.isExact;
  result.solvedSeconds = solution.seconds;
  addEndpoints(solution.seconds);
  return std::move(result);
}

FailureOr<Result> Realizer::outline() {
  buildAll();
  for (NodeResult &node : result.nodes)
    price(node);
  return outlineTiming();
}

Result Realizer::outlineTiming() {
  for (NodeResult &node : result.nodes) {
    for (const Selection &s : node.selections)
      node.timing.intervalCycles =
          std::max(node.timing.intervalCycles, double(s.offer.busyCycles));
    // Not the solver's, which are infinite if no rate was asked for.
    result.seconds =
        std::max(result.seconds, node.timing.intervalCycles /
                                     placeOf(node).clockHz / node.copies);
  }
  result.isExact = solution.isExact;
  result.bottleneck = {flow::BottleneckKind::Operation,
                       result.nodes.front().bottleneck};
  addEndpoints(solution.seconds);
  return std::move(result);
}
} // namespace

FailureOr<Result> realize(Posed &posed, const Proposal &proposal,
                          const Trial &trial) {
  return Realizer(posed, proposal).run(trial);
}

FailureOr<Result> outline(Posed &posed, const Proposal &proposal) {
  return Realizer(posed, proposal).outline();
}

void outlineTiming(Posed &posed, const Proposal &proposal, Result &result) {
  result = Realizer(posed, proposal, std::move(result)).outlineTiming();
}

LogicalResult addTiming(Posed &posed, const Proposal &proposal,
                        Result &result) {
  auto timed = Realizer(posed, proposal, std::move(result)).addTiming();
  if (failed(timed))
    return failure();
  result = std::move(*timed);
  return success();
}

/// The resources of deep buffers before joins, by the operation that joins.
static std::map<std::string, Resources> buffersOf(NodeResult &node,
                                                  const CostContext &context) {
  std::map<std::string, Resources> taken;
  for (auto op : node.design.getBody().getOps<flow::ActorOp>()) {
    const auto names = op.getNodeNames();
    if (op.getInputs().size() < 2 || names.empty())
      continue;
    for (Value v : op.getInputs()) {
      Actor deep = actorOf(cast<flow::ActorOp>(v.getDefiningOp()));
      Actor shallow = deep;
      sizeOutput(shallow);
      Resources with = costOf(deep, context),
                without = costOf(shallow, context);
      Resources &sum = taken[names.front().str()];
      for (size_t k = 0; k < sum.amount.size(); ++k)
        sum.amount[k] += std::max(0.0, with.amount[k] - without.amount[k]);
    }
  }
  return taken;
}

/// The stage at which the operands of a join fork: the last one before it,
/// and not before `begin`, that several stages read.
static int partingOf(const Problem &problem, int begin, int join) {
  for (int s = join - 1; s > begin; --s)
    if (problem.tensors[problem.stages[s].result].readers.size() > 1)
      return s;
  return begin;
}

bool fitsPlace(const NodeResult &node, const Place &place, const Kind &kind) {
  Resources most = node.resources;
  most += node.errors;
  if (!exceeded(most, place.budgetFor(INFINITY), kind).isNone())
    return false;
  for (size_t d = 0; d < std::min(node.dies.size(), place.dies.count()); ++d)
    if (!exceeded(node.dies[d].most(), place.dies.budgets[d], kind).isNone())
      return false;
  return llvm::none_of(node.wires,
                       [&](int64_t wires) { return wires > place.dies.wires; });
}

bool learn(Posed &posed, const Proposal &proposal, Result &result) {
  bool isNew = false;
  for (size_t n = 0; n < result.nodes.size(); ++n) {
    NodeResult &node = result.nodes[n];
    const Problem &problem = posed.problems[proposal.order];
    const Place &here = problem.places[node.place];
    if (fitsPlace(node, here, problem.kinds[here.kind]))
      continue;
    auto buffers =
        buffersOf(node, posed.cluster.places[node.place].context.cost);
    const std::vector<int> &order = posed.orders[proposal.order];
    auto positionIn = [&](size_t o, int stage) {
      return int(llvm::find(posed.orders[o], stage) - posed.orders[o].begin());
    };
    for (const Taken &taken : node.taken) {
      int join = positionIn(proposal.order, taken.stage);
      auto found = buffers.find(taken.id.node);
      if (found == buffers.end() || problem.stages[join].operands.size() < 2)
        continue;
      int parting =
          order[partingOf(problem, proposal.solution.runs[n].begin, join)];
      for (size_t o = 0; o < posed.problems.size(); ++o) {
        Kind &target = posed.problems[o].kinds[here.kind];
        target.beyond.resize(target.choices.size());
        Kind::Beyond &beyond = target.beyond[positionIn(o, taken.stage)];
        beyond.from = std::max(beyond.from, positionIn(o, parting));
        // What a run takes replaces what was only the least of other plans.
        if (beyond.isLeast && node.isSimulated) {
          isNew |= beyond.resources.amount != found->second.amount;
          beyond.resources = Resources();
          beyond.isLeast = false;
        }
        for (size_t k = 0; k < kResources; ++k)
          if (found->second.amount[k] > beyond.resources.amount[k]) {
            beyond.resources.amount[k] = found->second.amount[k];
            isNew = true;
          }
      }
    }
  }
  return isNew;
}

std::optional<Proposal> laidOutAgain(const Posed &posed,
                                     const Proposal &proposal,
                                     const Result &result,
                                     const Limits &limits) {
  Proposal other = proposal;
  const Problem &problem = posed.problems[proposal.order];
  bool hasMoved = false;
  for (auto [run, node] : llvm::zip_equal(other.solution.runs, result.nodes)) {
    Place place = problem.places[node.place];
    const Kind &kind = problem.kinds[place.kind];
    if (fitsPlace(node, place, kind))
      continue;
    Resources most = node.resources;
    most += node.errors;
    if (run.dies.empty() ||
        !exceeded(most, place.budgetFor(INFINITY), kind).isNone())
      return std::nullopt;
    place.streamBits = run.streamBits;
    Ends ends = crossingOf(problem, run.begin, run.end);
    ends.framesPerS =
        1 / (proposal.solution.seconds * double(run.places.size()));
    LaidOut on = layOutRun(problem, run, limits, place, ends);
    if (!on.fits)
      return std::nullopt;
    hasMoved |= on.dies != run.dies;
    run.dies = std::move(on.dies);
  }
  if (!hasMoved)
    return std::nullopt;
  return other;
}

void forget(Posed &posed) {
  for (Problem &problem : posed.problems)
    for (Kind &kind : problem.kinds)
      kind.beyond.clear();
}

void renumberValues(Result &result) {
  std::map<int64_t, int64_t> numbers;
  for (NodeResult &node : result.nodes) {
    if (!node.ownsFunction)
      continue;
    func::FuncOp function = node.function;
    Builder b(function.getContext());
    auto renumbered = [&](DictionaryAttr attrs) {
      int64_t old = attrs.getAs<IntegerAttr>(marks::kValue).getInt();
      return b.getI64IntegerAttr(
          numbers.try_emplace(old, int64_t(numbers.size())).first->second);
    };
    for (unsigned i = 0; i < function.getNumArguments(); ++i)
      function.setArgAttr(i, marks::kValue,
                          renumbered(function.getArgAttrDict(i)));
    for (unsigned i = 0; i < function.getNumResults(); ++i)
      function.setResultAttr(i, marks::kValue,
                             renumbered(function.getResultAttrDict(i)));
  }
}

void erase(Result &result) {
  for (NodeResult &node : result.nodes) {
    if (node.design)
      node.design.erase();
    if (node.ownsFunction)
      node.function.erase();
  }
  result.nodes.clear();
}
} // namespace rhizome::explore
