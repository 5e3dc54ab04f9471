// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An offer is identified by its generator and key; the solution of a plan
// is found again in a menu whose operations are pinned to these.
#include "rhizome/Explore/Record.h"
#include "Pinned.h"
#include "Realize.h"
#include "Repeat.h"
#include "Split.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace rhizome::gen;

namespace rhizome::explore {
//===----------------------------------------------------------------------===//
// Into the IR
//===----------------------------------------------------------------------===//

static DenseF64ArrayAttr attrOf(OpBuilder &b, const Resources &resources) {
  return b.getDenseF64ArrayAttr(resources.amount);
}

/// The nodes whose FIFOs a design has in a memory; a kernel has no design.
static SmallVector<StringRef> movedIn(flow::DesignOp design) {
  SmallVector<StringRef> nodes;
  if (!design)
    return nodes;
  for (auto op : design.getBody().getOps<flow::ActorOp>())
    if (op.getUnit().is<unit::MemFifo>())
      llvm::append_range(nodes, op.getNodeNames());
  return nodes;
}

static void recordNode(OpBuilder &b, const NodeResult &node, Location loc) {
  OpBuilder::InsertionGuard guard(b);
  OperationState state(loc, flow::NodeOp::getOperationName());
  std::vector<int64_t> places(node.places.begin(), node.places.end());
  state.addAttribute("places", b.getDenseI64ArrayAttr(places));
  state.addAttribute("stream_bits", b.getI64IntegerAttr(node.streamBits));
  state.addAttribute("traffic", attrOf(b, node.account));
  if (auto moved = movedIn(node.design); !moved.empty())
    state.addAttribute("moved", b.getStrArrayAttr(moved));
  state.addRegion()->emplaceBlock();
  auto op = cast<flow::NodeOp>(b.create(state));
  b.setInsertionPointToEnd(&op.getBody().front());
  for (const Taken &taken : node.taken) {
    OperationState choice(loc, flow::ChoiceOp::getOperationName());
    choice.addAttribute("node", b.getStringAttr(taken.id.node));
    choice.addAttribute("op", b.getStringAttr(taken.id.op));
    choice.addAttribute("nth", b.getI64IntegerAttr(taken.id.nth));
    choice.addAttribute("generator", b.getStringAttr(taken.generator));
    choice.addAttribute("key", b.getStringAttr(taken.key.text()));
    choice.addAttribute("summary", b.getStringAttr(taken.summary));
    choice.addAttribute("busy_cycles", b.getI64IntegerAttr(taken.busyCycles));
    choice.addAttribute("resources", attrOf(b, taken.resources));
    choice.addAttribute("position", b.getI64IntegerAttr(taken.position));
    choice.addAttribute("unit", b.getI64IntegerAttr(taken.unit));
    if (taken.die > 0)
      choice.addAttribute("die", b.getI64IntegerAttr(taken.die));
    if (taken.shared >= 0)
      choice.addAttribute("shared", b.getI64IntegerAttr(taken.shared));
    b.create(choice);
  }
}

flow::PlanOp record(const Result &result, StringRef goal, ModuleOp module) {
  OpBuilder b(module.getContext());
  b.setInsertionPointToEnd(module.getBody());
  Location loc = module.getLoc();
  OperationState state(loc, flow::PlanOp::getOperationName());
  auto number = [&](const char *name, double value) {
    state.addAttribute(name, b.getF64FloatAttr(value));
  };
  auto flag = [&](const char *name, bool value) {
    if (value)
      state.addAttribute(name, b.getUnitAttr());
  };
  state.addAttribute("goal", b.getStringAttr(goal));
  state.addAttribute("bottleneck", flow::BottleneckKindAttr::get(
                                       b.getContext(), result.bottleneck.kind));
  state.addAttribute("bottleneck_name",
                     b.getStringAttr(result.bottleneck.node));
  number("seconds", result.seconds);
  number("solved_seconds", result.solvedSeconds);
  number("latency", result.latency);
  number("bound", result.bound);
  number("luts_of_a_block", result.lutsOfABlock);
  flag("exact", result.isExact);
  flag("fits", result.fits);
  flag("meets_goal", result.meetsGoal);
  flag("avoids_dsp", result.avoidsDsp);
  if (!result.limit.isNone())
    state.addAttribute("no_faster", b.getStringAttr(describe(result.limit)));
  state.addRegion()->emplaceBlock();
  auto plan = cast<flow::PlanOp>(b.create(state));
  b.setInsertionPointToEnd(&plan.getBody().front());
  for (const Split &split : result.splits) {
    OperationState op(loc, flow::SplitOp::getOperationName());
    op.addAttribute("node", b.getStringAttr(split.of.node));
    op.addAttribute("op", b.getStringAttr(split.of.op));
    op.addAttribute("nth", b.getI64IntegerAttr(split.of.nth));
    op.addAttribute("parts", b.getI64IntegerAttr(split.parts));
    b.create(op);
  }
  for (const Repeat &repeat : result.repeats) {
    OperationState op(loc, flow::RepeatOp::getOperationName());
    op.addAttribute("node", b.getStringAttr(repeat.of.node));
    op.addAttribute("op", b.getStringAttr(repeat.of.op));
    op.addAttribute("nth", b.getI64IntegerAttr(repeat.of.nth));
    op.addAttribute("length", b.getI64IntegerAttr(repeat.length));
    op.addAttribute("trips", b.getI64IntegerAttr(repeat.trips));
    b.create(op);
  }
  for (const NodeResult &node : result.nodes)
    recordNode(b, node, loc);
  for (const Result::Other &other : result.others) {
    OperationState op(loc, flow::AlternativeOp::getOperationName());
    op.addAttribute("what", b.getStringAttr(other.what));
    op.addAttribute("why", b.getStringAttr(other.why));
    op.addAttribute("nodes", b.getI64IntegerAttr(other.nodes));
    op.addAttribute("per_second", b.getF64FloatAttr(other.perSecond));
    b.create(op);
  }
  return plan;
}

void recordDesigns(Result &result, flow::PlanOp plan) {
  OpBuilder b(plan.getContext());
  // In a plan edited by somebody these differ from what explore recorded.
  plan.setSeconds(APFloat(result.seconds));
  plan.setLatency(APFloat(result.latency));
  plan.setBottleneck(result.bottleneck.kind);
  plan.setBottleneckName(result.bottleneck.node);
  for (auto [op, node] :
       llvm::zip_equal(plan.getBody().getOps<flow::NodeOp>(), result.nodes)) {
    op.setFunction(node.function.getSymName());
    op.setDesign(node.design.getSymName());
    op.setIntervalCycles(APFloat(node.timing.intervalCycles));
    op.setLatencyCycles(node.timing.latencyCycles);
    op.setResourcesAttr(attrOf(b, node.resources));
    op.setEndpointAttr(attrOf(b, node.endpoint));
    op.setErrorsAttr(attrOf(b, node.errors));
    op.setBottleneck(node.bottleneck);
  }
}

void recordImages(const Result &result, flow::PlanOp plan) {
  OpBuilder b(plan.getContext());
  for (auto [op, node] :
       llvm::zip_equal(plan.getBody().getOps<flow::NodeOp>(), result.nodes)) {
    if (!op.getBody().getOps<flow::ImageOp>().empty())
      continue;
    b.setInsertionPointToEnd(&op.getBody().front());
    for (const auto &[name, image] : node.images) {
      OperationState state(op.getLoc(), flow::ImageOp::getOperationName());
      state.addAttribute("name", b.getStringAttr(name));
      state.addAttribute("depth", b.getI64IntegerAttr(image.depth));
      state.addAttribute("width", b.getI64IntegerAttr(image.width));
      state.addAttribute("hex", b.getStringAttr(image.hex()));
      b.create(state);
    }
  }
}

//===----------------------------------------------------------------------===//
// And back
//===----------------------------------------------------------------------===//

static Resources resourcesOf(ArrayRef<double> amounts) {
  Resources resources;
  for (size_t k = 0; k < std::min(amounts.size(), kResources); ++k)
    resources.amount[k] = amounts[k];
  return resources;
}

/// The plan's data on the whole, except what building determines.
static void readWhole(flow::PlanOp plan, Result &result) {
  result.bound = plan.getBound().convertToDouble();
  result.isExact = plan.getExact();
  result.fits = plan.getFits();
  result.meetsGoal = plan.getMeetsGoal();
  result.avoidsDsp = plan.getAvoidsDsp();
  result.lutsOfABlock = plan.getLutsOfABlock().convertToDouble();
  for (auto split : plan.getBody().getOps<flow::SplitOp>())
    result.splits.push_back(
        {{split.getNode().str(), split.getOp().str(), int(split.getNth())},
         int(split.getParts())});
  for (auto repeat : plan.getBody().getOps<flow::RepeatOp>())
    result.repeats.push_back(
        {{repeat.getNode().str(), repeat.getOp().str(), int(repeat.getNth())},
         int(repeat.getLength()),
         int(repeat.getTrips())});
  for (auto other : plan.getBody().getOps<flow::AlternativeOp>())
    result.others.push_back({other.getWhat().str(), other.getWhy().str(),
                             int64_t(other.getNodes()),
                             other.getPerSecond().convertToDouble()});
}

/// An operation's id in the plan's form.
static OperationId idOf(flow::ChoiceOp choice) {
  return {choice.getNode().str(), choice.getOp().str(), int(choice.getNth())};
}

namespace {
/// Finds the solution that a plan describes.
class Finder {
public:
  Finder(const Posed &posed, flow::PlanOp plan) : posed(posed), plan(plan) {}
  std::optional<Proposal> run(Refusals &refused);

private:
  const Posed &posed;
  flow::PlanOp plan;
  std::vector<flow::ChoiceOp> choices; ///< by stage of the menu

  bool collect(Refusals &refused);
  std::optional<int> choiceOf(int kind, int stage) const;
};

/// The choice of every stage. False if the plan names other operations than
/// exist.
bool Finder::collect(Refusals &refused) {
  const size_t stages = posed.menu.problem().stages.size();
  choices.assign(stages, flow::ChoiceOp());
  std::map<OperationId, size_t> stageOf;
  for (size_t s = 0; s < stages; ++s)
    stageOf.emplace(posed.menu.id(int(s)), s);
  for (auto node : plan.getBody().getOps<flow::NodeOp>())
    for (auto choice : node.getBody().getOps<flow::ChoiceOp>()) {
      auto stage = stageOf.find(idOf(choice));
      if (stage == stageOf.end() || choices[stage->second])
        refused.push_back({choice.getNode().str(), choice.getOp().str(),
                           "the plan names an operation that the network does "
                           "not have, or names it twice",
                           "explore this network again"});
      else
        choices[stage->second] = choice;
    }
  for (size_t s = 0; s < stages; ++s)
    if (!choices[s])
      refused.push_back({posed.menu.id(int(s)).node, posed.menu.id(int(s)).op,
                         "the plan chooses nothing for it",
                         "explore this network again"});
  return refused.empty();
}

/// Which of the menu's choices a stage takes.
std::optional<int> Finder::choiceOf(int kind, int stage) const {
  flow::ChoiceOp wanted = choices[stage];
  const auto &offered = posed.menu.problem().kinds[kind].choices[stage];
  std::optional<int> same;
  for (int c = 0; c < int(offered.size()); ++c) {
    const Offer &offer = posed.menu.offer(kind, stage, c);
    if (offer.generator != wanted.getGenerator() ||
        offer.key.text() != wanted.getKey())
      continue;
    // Among offers that differ only in their streams, the one that was priced.
    if (offered[c].part > 0 ||
        (offer.busyCycles == int64_t(wanted.getBusyCycles()) &&
         offer.resources == resourcesOf(wanted.getResources())))
      return c;
    if (!same)
      same = c;
  }
  return same;
}

std::optional<Proposal> Finder::run(Refusals &refused) {
  if (!collect(refused))
    return std::nullopt;
  std::vector<int> order(choices.size());
  for (size_t s = 0; s < choices.size(); ++s)
    order[choices[s].getPosition()] = int(s);
  Proposal proposal;
  proposal.order = llvm::find(posed.orders, order) - posed.orders.begin();
  Solution &solution = proposal.solution;
  solution.seconds = plan.getSolvedSeconds().convertToDouble();
  solution.isExact = plan.getExact();
  const Problem &problem = posed.menu.problem();
  for (auto node : plan.getBody().getOps<flow::NodeOp>()) {
    Run run;
    run.begin = solution.runs.empty() ? 0 : solution.runs.back().end;
    run.end = run.begin;
    run.end += int(llvm::range_size(node.getBody().getOps<flow::ChoiceOp>()));
    for (int64_t place : node.getPlaces()) {
      if (place >= int64_t(problem.places.size())) {
        refused.push_back({choices[order[run.begin]].getNode().str(), "",
                           "the plan puts it at place " +
                               std::to_string(place) + " of " +
                               std::to_string(problem.places.size()),
                           "give the cluster that was explored"});
        return std::nullopt;
      }
      run.places.push_back(int(place));
    }
    run.streamBits = node.getStreamBits();
    run.cost.resources = resourcesOf(node.getTraffic());
    int kind = problem.places[run.places[0]].kind;
    const int dies = int(problem.places[run.places[0]].dies.count());
    for (int at = run.begin; at < run.end; ++at) {
      flow::ChoiceOp wanted = choices[order[at]];
      std::optional<int> choice = choiceOf(kind, order[at]);
      if (wanted->getParentOp() != node || !choice) {
        refused.push_back({wanted.getNode().str(), wanted.getOp().str(),
                           wanted->getParentOp() != node
                               ? "the plan's positions do not follow its nodes"
                               : "no generator offers the option '" +
                                     wanted.getKey().str() + "' for it",
                           "explore this network again"});
        return std::nullopt;
      }
      run.choices.push_back(*choice);
      run.units.push_back(int(wanted.getUnit()));
      if (dies > 1 && int(wanted.getDie()) < dies)
        run.dies.push_back(int(wanted.getDie()));
    }
    if (!run.dies.empty() && run.dies.size() != run.choices.size()) {
      refused.push_back({choices[order[run.begin]].getNode().str(), "",
                         "the plan puts it on a die that the device does not "
                         "have",
                         "give the device that was explored"});
      return std::nullopt;
    }
    solution.runs.push_back(std::move(run));
  }
  if (proposal.order == posed.orders.size()) {
    refused.push_back({choices[order[0]].getNode().str(), "",
                       "the plan lays the network along the devices in an "
                       "order that is none of those looked at",
                       "explore this network again"});
    return std::nullopt;
  }
  return proposal;
}
} // namespace

FailureOr<Result> rebuild(func::FuncOp network, flow::PlanOp plan,
                          const Goal &goal, const Cluster &cluster) {
  Result whole;
  readWhole(plan, whole);
  func::FuncOp base =
      alteredAs(network, whole.splits, whole.repeats, whole.refused);
  FailureOr<Result> result = std::move(whole);
  if (result->refused.empty()) {
    Steering steering;
    for (auto node : plan.getBody().getOps<flow::NodeOp>()) {
      if (auto moved = node.getMoved())
        for (auto of : moved->getAsRange<StringAttr>())
          steering.fifos.push_back({of.str(), /*inMemory=*/true});
      for (auto choice : node.getBody().getOps<flow::ChoiceOp>()) {
        Steering::Pin pin;
        pin.of = idOf(choice);
        pin.generator = choice.getGenerator().str();
        pin.option = choice.getKey().str();
        steering.pins.push_back(std::move(pin));
      }
    }
    steering.lutsOfABlock = result->lutsOfABlock;
    Cluster allowed =
        withinParts(cluster, result->avoidsDsp ? goal.withoutDsp() : goal);
    allowed = priced(allowed, pricesFor(base, allowed, steering));
    OfferCache cache;
    Posed posed(base, allowed, steering, cache);
    result->refused = posed.menu.refused();
    std::optional<Proposal> proposal;
    if (result->refused.empty())
      proposal = Finder(posed, plan).run(result->refused);
    if (proposal) {
      auto built = realize(posed, *proposal);
      if (failed(built) || failed(addTiming(posed, *proposal, *built))) {
        result = failure();
      } else {
        readWhole(plan, *built);
        renumberValues(*built);
        result = std::move(built);
      }
    }
  }
  if (base != network)
    eraseFolded(base);
  return result;
}

Result readDesigns(flow::PlanOp plan, func::FuncOp network) {
  auto module = cast<ModuleOp>(plan->getParentOp());
  Result result;
  readWhole(plan, result);
  result.seconds = plan.getSeconds().convertToDouble();
  result.solvedSeconds = plan.getSolvedSeconds().convertToDouble();
  result.latency = plan.getLatency().convertToDouble();
  result.bottleneck = {plan.getBottleneck(), plan.getBottleneckName().str()};
  for (auto op : plan.getBody().getOps<flow::NodeOp>()) {
    NodeResult node;
    node.function = module.lookupSymbol<func::FuncOp>(*op.getFunction());
    node.ownsFunction = node.function != network;
    node.places.assign(op.getPlaces().begin(), op.getPlaces().end());
    node.place = node.places[0];
    node.copies = int(node.places.size());
    node.streamBits = op.getStreamBits();
    node.account = resourcesOf(op.getTraffic());
    for (auto choice : op.getBody().getOps<flow::ChoiceOp>()) {
      Taken taken;
      taken.id = idOf(choice);
      taken.generator = choice.getGenerator().str();
      if (auto key = OptionKey::parse(choice.getKey()))
        taken.key = *key;
      taken.summary = choice.getSummary().str();
      taken.busyCycles = choice.getBusyCycles();
      taken.resources = resourcesOf(choice.getResources());
      taken.position = int(choice.getPosition());
      taken.unit = int(choice.getUnit());
      taken.die = int(choice.getDie());
      taken.shared = int(choice.getShared());
      node.taken.push_back(std::move(taken));
    }
    for (auto image : op.getBody().getOps<flow::ImageOp>()) {
      MemoryImage words = MemoryImage::parse(
          std::string_view(image.getHex().data(), image.getHex().size()));
      words.width = image.getWidth();
      node.images.emplace(image.getName().str(), std::move(words));
    }
    node.design = module.lookupSymbol<flow::DesignOp>(*op.getDesign());
    node.timing = {op.getIntervalCycles()->convertToDouble(),
                   int64_t(*op.getLatencyCycles())};
    node.resources = resourcesOf(*op.getResources());
    node.endpoint = resourcesOf(*op.getEndpoint());
    node.errors = resourcesOf(*op.getErrors());
    node.bottleneck = op.getBottleneck()->str();
    result.nodes.push_back(std::move(node));
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Out of the module and in again
//===----------------------------------------------------------------------===//

void detach(Result &result) {
  for (NodeResult &node : result.nodes) {
    node.design->remove();
    if (node.ownsFunction)
      node.function->remove();
  }
}

void attach(Result &result, ModuleOp module) {
  for (NodeResult &node : result.nodes) {
    if (node.ownsFunction)
      module.push_back(node.function);
    module.push_back(node.design);
  }
}

void drop(Result &result) {
  for (NodeResult &node : result.nodes) {
    node.design->erase();
    if (node.ownsFunction)
      node.function->erase();
  }
  result.nodes.clear();
}
} // namespace rhizome::explore
