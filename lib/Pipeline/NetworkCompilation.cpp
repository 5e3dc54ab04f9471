// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A network's phases from a file to RTL as text. What explore has built is
// taken out of the module, which then holds the plan alone, and put back by
// build; without it build makes the same again.
#include "Analyze.h"
#include "Compilation.h"
#include "Constraints.h"
#include "Core.h"
#include "Settings.h"
#include "mlir/IR/Verifier.h"
#include "rhizome/Dialect/Osa/Osa.h"
#include "rhizome/Dialect/Rtl/Rtl.h"
#include "rhizome/Explore/Record.h"
#include "rhizome/Model/Model.h"
#include "rhizome/Model/Placing.h"
#include "rhizome/Model/States.h"
#include "rhizome/PlanBuild/Build.h"
#include "rhizome/PlanBuild/Node.h"
#include "rhizome/PlanBuild/Plan.h"
#include "rhizome/PlanBuild/Steer.h"
#include "rhizome/Support/Failures.h"
#include "rhizome/Support/Units.h"
#include "rhizome/Transforms/Tasks.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include <chrono>

using namespace mlir;
using namespace rhizome;
using namespace rhizome::pipeline;
using namespace rhizome::model;
using namespace rhizome::planbuild;
using llvm::formatv;

static std::vector<std::string> notesOf(const IntegerizeStats &stats) {
  std::vector<std::string> notes;
  int64_t saturated = 0, elements = 0;
  for (const IntegerizeStats::Saturation &s : stats.saturations) {
    saturated += s.saturated;
    elements += s.elements;
    if (s.saturated)
      notes.push_back(formatv("{0} of {1} elements of '{2}' are "
                              "saturated to the number format",
                              s.saturated, s.elements, s.tensor));
  }
  if (2 * saturated > elements)
    notes.push_back("most constants lie outside the number format: if the file "
                    "holds integer codes, give --raw-integers, otherwise more "
                    "integer bits");
  return notes;
}

NetworkCompilation::~NetworkCompilation() {
  if (isDetached)
    explore::drop(*built);
}

/// A failure of a step that says what it has to say as an error and, maybe, in
/// diagnostics.
Status NetworkCompilation::failed(Failure::Kind kind, llvm::Error error) {
  Failure failure = failureOf(std::move(error), kind);
  if (std::string said = diagnostics.take(); !said.empty())
    failure.causes.front().reason += "\n" + said;
  return failure;
}

func::FuncOp NetworkCompilation::network() { return fpgaNetwork(module); }

flow::PlanOp NetworkCompilation::planOp() {
  auto plans = module.getOps<flow::PlanOp>();
  return plans.empty() ? flow::PlanOp() : *plans.begin();
}

Status NetworkCompilation::begin() {
  if (Status read = readSettings(module, request); !read)
    return read;
  if (!request.constraints.empty())
    if (llvm::Error error = applyConstraints(request, result.notes))
      return failed(Failure::Kind::Input, std::move(error));
  if (!request.core.empty()) {
    Result<Plan> found = aimAtCore(request);
    if (!found)
      return found.failure();
    core = std::move(*found);
  }
  result.hasGoal = !request.goal.empty();
  if (request.samples.files.empty() && request.model.calibration)
    request.samples = {{request.model.calibration->data}, "--calibration"};
  // The last phase reads them; what isn't there is said before any work is
  // done.
  for (const DataRequest &file : request.samples.files)
    if (request.samples.option == "--input" && request.golden != 0 &&
        !llvm::sys::fs::exists(file.path))
      return Failure(Failure::Kind::Input,
                     "--input '" + file.path + "': there is no such file");
  return aim();
}

/// Devices, and the goal that they are used for.
Status NetworkCompilation::aim() {
  std::string text = request.goal;
  flow::PlanOp explored = planOp();
  if (explored)
    text = explored.getGoal().str();
  if (text.empty()) {
    llvm::Expected<std::string> otherwise =
        request.plan.empty() ? "max-throughput" : goalOf(request.plan);
    if (!otherwise)
      return failed(Failure::Kind::Input, otherwise.takeError());
    text = *otherwise;
  }
  llvm::Expected<Host> found = loadHost(kDefaultHost);
  if (!found)
    return failed(Failure::Kind::Environment, found.takeError());
  host = std::move(*found);
  std::optional<explore::Goal> parsed = explore::parseGoal(text);
  if (!parsed)
    return Failure(Failure::Kind::Input,
                   "the plan's goal is '" + text + "', which is none");
  goal = *parsed;
  llvm::Expected<Targets> places = targetsOf(request);
  if (!places)
    return failed(Failure::Kind::Input, places.takeError());
  targets = std::move(*places);
  if (Status linked = linkHost(); !linked)
    return linked;
  targets.places = explore::withinParts(std::move(targets.places), goal);
  if (explored)
    request.goal = text;
  goalText = std::move(text);
  return Done();
}

/// The link between the host and a single device.
Status NetworkCompilation::linkHost() {
  if (!targets.cluster.empty())
    return Done();
  llvm::Expected<Host> there = host.at(
      targets.devices.front(), targets.board ? &*targets.board : nullptr);
  if (!there)
    return failed(Failure::Kind::Environment, there.takeError());
  host = std::move(*there);
  return Done();
}

Status NetworkCompilation::prepare(Phase phase) {
  return phase > Phase::Build && !built ? readBuilt() : Status(Done());
}

void NetworkCompilation::record(Phase done) {
  recordSettings(module, request, done);
}

//===----------------------------------------------------------------------===//
// From the file to integers
//===----------------------------------------------------------------------===//

Status NetworkCompilation::import() {
  Refusals refused;
  OwningOpRef<ModuleOp> read =
      readModel(*module.getContext(), request.model, request.progress, refused);
  if (!read)
    return Failure::refused(std::move(refused));
  module->setAttrs((*read)->getAttrs());
  module->setLoc((*read)->getLoc());
  module.getBodyRegion().takeBody(read->getBodyRegion());
  return Done();
}

Status NetworkCompilation::normalize() {
  if (!isIntegerNetwork(module))
    canonicalizeReal(module);
  return Done();
}

Status NetworkCompilation::quantize() {
  Refusals refused;
  IntegerizeStats stats;
  if (mlir::failed(quantizeModel(module, request.model, request.progress,
                                 refused, stats)))
    return Failure::refused(std::move(refused));
  llvm::append_range(result.notes, notesOf(stats));
  return Done();
}

Status NetworkCompilation::integerize() {
  Refusals refused;
  IntegerizeStats stats;
  // Its number format has been applied.
  ModelRequest model = request.model;
  model.numberFormat.reset();
  if (mlir::failed(lowerModel(module, model, request.progress, refused, stats)))
    return Failure::refused(std::move(refused));
  // The FPGA's tasks as one function.
  return network() ? Status(Done()) : nothingToBuild();
}

Failure NetworkCompilation::nothingToBuild() const {
  return Failure(Failure::Kind::Unsupported,
                 Refusals{{request.model.path, "",
                           "no operation of the model can be built: @network "
                           "computes nothing",
                           ""}});
}

//===----------------------------------------------------------------------===//
// Exploration
//===----------------------------------------------------------------------===//

/// Places what designs read from memories outside their chips.
Status NetworkCompilation::layOut() {
  for (explore::NodeResult &node : built->nodes)
    if (llvm::Error error = layOutSegments(node))
      return failed(Failure::Kind::Internal, std::move(error));
  return Done();
}

/// The plan of what was built.
void NetworkCompilation::finishPlan() {
  if (built->avoidsDsp)
    targets.places =
        explore::withinParts(std::move(targets.places), goal.withoutDsp());
  plan = planOf(modelNameOf(request), request.goal, targets, *built, network());
  // Over the cluster's own link, if there is one.
  Host own = host;
  if (const PlannedLink *link = plan->link(plan->hostLink)) {
    static_cast<Medium &>(own.link) = *link;
    own.link.name = link->name;
  }
  plan->tasks = tasksOf(module, own);
}

/// What a user should know of the plan.
void NetworkCompilation::notePlan() {
  // Of a plan that is taken although it is only the nearest.
  for (const PlannedNode &node : plan->nodes)
    for (const auto &[kind, share] : node.utilization)
      if (share > 1 && request.acceptNearest)
        result.notes.push_back(formatv(
            "{0} does not fit: it needs {1:f1} % of the {2} that it may use "
            "of its {3}",
            node.name, 100 * share, llvm::StringRef(kind).upper(),
            node.device));
  const double frameUs = plan->predicted.latencyUs + plan->tasks.outsideUs();
  if (plan->tasks.keptByHost() && goal.throughput * frameUs > 1e6)
    result.notes.push_back(formatv(
        "with the copies over this link a frame takes {0:f1} us: fewer than "
        "the goal's {1} frames per second",
        frameUs, rateText(goal.throughput)));
  // A serial line carries less than most designs take.
  double slowest = 0;
  for (const PlannedCopy &copy : plan->tasks.copies)
    slowest = std::max(slowest, copy.us - double(host.link.latencyNs) * 1e-3);
  if (targets.board && slowest * plan->predicted.throughputPerS > 1e6)
    result.notes.push_back(formatv(
        "the host's link {0} takes {1} us to copy a frame: {2} of the {3} "
        "frames per second come over it",
        plan->tasks.link, llvm::format("%.3g", slowest),
        rateText(1e6 / slowest), rateText(plan->predicted.throughputPerS)));
  if (built->splits.empty())
    return;
  std::vector<std::string> shared;
  for (const explore::Split &split : built->splits)
    shared.push_back(split.of.node + " in " + std::to_string(split.parts));
  result.notes.push_back("channels are shared out: " +
                         llvm::join(shared, ", "));
}

/// Keeps on the FPGA what can be kept there.
void NetworkCompilation::settleHomes() {
  std::string reason;
  if (request.stateHome == "host")
    reason = "--state-home host";
  else if (!targets.cluster.empty())
    reason = "a node on a link may start anew, and would lose it";
  settleStates(module, reason, request.hideStates);
}

/// A frame of a model of which the host keeps something begins when the one
/// before has ended. A rate is then a bound of what a frame takes, host and
/// copies included, and the greatest rate the least latency.
Status NetworkCompilation::waitForStates(explore::Goal &wanted) {
  const PlannedTasks tasks = tasksOf(module, host);
  const PlannedState *kept = tasks.keptByHost();
  if (!kept)
    return Done();
  if (wanted.kind == explore::Goal::Kind::MaxThroughput)
    wanted.kind = explore::Goal::Kind::MinLatency;
  if (wanted.throughput <= 0)
    return Done();
  const double left = 1 / wanted.throughput - tasks.outsideUs() * 1e-6;
  if (left <= 0)
    return Failure(
        Failure::Kind::Infeasible,
        formatv("the host keeps '{0}' from frame to frame, so that a "
                "frame begins when the one before has ended; the host "
                "and copies alone take {1:f1} us of it, which leaves "
                "less than {2} frames per second",
                kept->name, tasks.outsideUs(), rateText(wanted.throughput)),
        formatv("ask for less than {0} frames per second",
                rateText(1e6 / tasks.outsideUs())));
  if (wanted.latency <= 0 || left < wanted.latency)
    wanted.latency = left;
  result.notes.push_back(
      formatv("the host keeps '{0}' from frame to frame, so that a frame "
              "begins when the one before has ended: {1} frames per "
              "second leave {2:f1} us for the device",
              kept->name, rateText(wanted.throughput), left * 1e6));
  return Done();
}

namespace {
/// How well a plan serves a goal, the best first: whether it misses the goal,
/// then what the goal wants least of, then the share of the devices.
using Rank = std::tuple<bool, double, double>;
} // namespace

static Rank rankOf(const explore::Result &found, const explore::Goal &goal,
                   const explore::Cluster &cluster) {
  double share = 0;
  for (const explore::NodeResult &node : found.nodes)
    for (size_t k = 0; k < gen::kResourceNames.size(); ++k)
      if (double all =
              gen::available(cluster.places[size_t(node.place)].capacity, k))
        share += node.resources.amount[k] / all * node.copies;
  double first = 0;
  if (goal.kind == explore::Goal::Kind::MaxThroughput)
    first = found.seconds;
  else if (goal.kind == explore::Goal::Kind::MinLatency)
    first = found.latency;
  return {!found.fits || !found.meetsGoal, first, share};
}

/// Of --clock-mhz auto: what takes several cycles at the best clock may take
/// one at a part of it. Goes down in quarters of the best clock as long as that
/// serves the goal better or a bound of the latency is missed, then looks an
/// eighth above and below. If all miss the goal, the best clock is taken.
FailureOr<explore::Result>
NetworkCompilation::exploreClocks(const explore::Goal &wanted,
                                  const explore::Steering &steering) {
  const explore::Cluster fastest = targets.places;
  const double top = fastest.places.front().context.clockMhz;
  // The phases that follow are told a single clock.
  if (llvm::any_of(fastest.places, [&](const explore::ClusterPlace &place) {
        return place.context.clockMhz != top;
      }))
    return explore::explore(network(), wanted, targets.places, steering);
  auto clockAt = [&](int eighths) {
    return eighths == 8 ? top : std::floor(top * eighths / 8);
  };
  explore::Result best;
  std::optional<Rank> bestRank;
  int bestAt = 8;
  auto isBetterAt = [&](int eighths) {
    const double mhz = clockAt(eighths);
    if (bestRank && mhz < 1)
      return false;
    explore::Cluster places = fastest;
    for (explore::ClusterPlace &place : places.places)
      place.context.clockMhz = mhz;
    if (request.progress)
      request.progress(
          formatv("explore at {0} MHz", llvm::format("%g", mhz)).str());
    FailureOr<explore::Result> found =
        explore::explore(network(), wanted, places, steering);
    if (mlir::failed(found)) {
      if (bestRank)
        diagnostics.take(); // of a clock that is not taken
      return false;
    }
    const Rank rank = rankOf(*found, wanted, places);
    explore::detach(*found);
    const bool isBetter = !bestRank || (found->refused.empty() && found->fits &&
                                        found->meetsGoal && rank < *bestRank);
    if (isBetter) {
      std::swap(best, *found);
      bestRank = rank;
      bestAt = eighths;
      targets.places = std::move(places);
    }
    explore::drop(*found);
    return isBetter;
  };
  for (int eighths = 8; eighths > 0; eighths -= 2) {
    const bool isBetter = isBetterAt(eighths);
    if (!bestRank)
      return failure();
    const bool mayHelp = !best.meetsGoal && wanted.latency > 0;
    if (!best.refused.empty() || (!isBetter && !mayHelp))
      break;
  }
  if (bestAt < 8)
    for (int eighths : {bestAt + 1, bestAt - 1})
      isBetterAt(eighths);
  request.clockMhz = clockAt(bestAt);
  if (bestAt < 8)
    result.notes.push_back(formatv(
        "{0} MHz serves the goal better than {1} MHz: circuits with longer "
        "cycles take fewer of them",
        llvm::format("%g", clockAt(bestAt)), llvm::format("%g", top)));
  explore::attach(best, module);
  return best;
}

/// Other settings with which a plan meets a bound of the latency that is
/// missed, as the beginning of a remedy; "" if none does, or it would take long
/// to try.
std::string
NetworkCompilation::settingsThatMeet(const explore::Goal &wanted,
                                     const explore::Steering &steering) {
  constexpr size_t kMost = 48; // operations
  if (result.cause.kind != explore::Limit::Kind::Latency ||
      targets.places.places.size() != 1 || targets.places.places[0].wire ||
      targets.board || result.plan.nodes.empty() ||
      result.plan.nodes[0].operations.size() > kMost)
    return "";
  // The latency on these places, 0 if they miss it, too.
  auto latencyOn = [&](const explore::Cluster &places) -> double {
    FailureOr<explore::Result> found =
        explore::explore(network(), wanted, places, steering);
    if (mlir::failed(found)) {
      diagnostics.take();
      return 0;
    }
    const bool meets = found->refused.empty() && found->meetsGoal;
    const double seconds = found->latency;
    explore::detach(*found);
    explore::drop(*found);
    return meets ? seconds : 0;
  };
  auto told = [](llvm::StringRef options, double seconds) {
    return (options + " meets it with " + durationText(seconds) + "; ").str();
  };
  // The places of another choice; none if there is none.
  auto placesOf = [&](bool isWide, bool isBest) {
    planbuild::TargetChoice choice = request;
    if (isWide)
      choice.border = "wide";
    if (isBest)
      choice.clockMhz = TargetChoice::kBestClock;
    std::optional<explore::Cluster> places;
    if (llvm::Expected<Targets> found = targetsOf(choice))
      places = explore::withinParts(std::move(found->places), goal);
    else
      llvm::consumeError(found.takeError());
    return places;
  };
  const bool isWide = request.border == "wide";
  if (!isWide)
    if (auto places = placesOf(/*isWide=*/true, /*isBest=*/false))
      if (double seconds = latencyOn(*places))
        return told("--border wide", seconds);
  if (request.clockMhz)
    return "";
  for (bool widens : {false, true}) {
    if (widens && isWide)
      break;
    std::optional<explore::Cluster> places = placesOf(widens, /*isBest=*/true);
    if (!places)
      break;
    double &mhz = places->places[0].context.clockMhz;
    const double top = mhz;
    for (int eighths = 8; eighths > 0; eighths -= 2) {
      mhz = eighths == 8 ? top : std::floor(top * eighths / 8);
      if (double seconds = latencyOn(*places))
        return told(widens ? "--border wide --clock-mhz auto"
                           : "--clock-mhz auto",
                    seconds);
    }
  }
  return "";
}

/// Refuses at once what bits alone rule out.
Status NetworkCompilation::holdWeights(const explore::Goal &wanted) {
  if (request.acceptNearest || request.describesNearest)
    return Done();
  result.cause = explore::weightsExceed(network(), wanted, targets.places);
  if (result.cause.isNone())
    return Done();
  result.limit = describe(result.cause);
  Plan &none = result.plan;
  none.model = modelNameOf(request);
  none.cluster = targets.cluster;
  none.device = targets.devices[0].name;
  none.goal = goalText;
  Failure failure(Failure::Kind::Infeasible, whyNone(result),
                  "take a device with more memory, or with memory outside the "
                  "chip, or fewer bits; --accept-nearest shows how much the "
                  "nearest plan needs");
  failure.detail = result;
  return failure;
}

/// A plan that names nodes of another network is refused once, not node by
/// node.
static Refusals asPlanOfAnother(const CompileRequest &request,
                                func::FuncOp network, const Refusals &refused) {
  if (request.plan.empty())
    return refused;
  llvm::Expected<Plan> planned = planAt(request.plan);
  const std::string own = modelNameOf(request);
  if (!planned || (!planned->kernel && planned->model == own)) {
    llvm::consumeError(planned.takeError());
    return refused;
  }
  llvm::StringSet<> names;
  network.walk([&](Operation *op) { names.insert(osa::nodeName(op)); });
  for (const Refusal &refusal : refused)
    if (!names.contains(refusal.node))
      return {{"", "",
               formatv("'{0}' is a plan of the {1} '{2}', not of '{3}', which "
                       "has no node '{4}'",
                       request.plan, planned->kernel ? "kernel" : "network",
                       planned->model, own, refusal.node),
               formatv("give a plan of '{0}', or leave --plan out", own)}};
  return refused;
}

Status NetworkCompilation::explore() {
  llvm::append_range(result.notes, targets.notes);
  if (const size_t places = targets.places.places.size();
      request.maxNodes && *request.maxNodes > int64_t(places))
    result.notes.push_back(formatv(
        "--max-nodes {0} is more than there are: the network is for {1} "
        "device{2}",
        *request.maxNodes, places, places == 1 ? "" : "s"));
  if (isEmpty(module))
    return nothingToBuild();
  if (Refusals refused = explore::coverage(network(), targets.places);
      !refused.empty())
    return Failure::refused(std::move(refused));
  settleHomes();
  explore::Goal wanted = goal;
  wanted.buildsNearest = request.acceptNearest;
  wanted.maxNodes =
      std::min(wanted.maxNodes, request.maxNodes.value_or(wanted.maxNodes));
  if (Status turns = waitForStates(wanted); !turns)
    return turns;
  explore::Steering steering;
  if (!request.steer.empty() || !request.plan.empty()) {
    llvm::Expected<explore::Steering> read =
        request.steer.empty() ? steeringOf(request.plan, targets.places)
                              : readSteering(request.steer);
    if (!read)
      return failed(Failure::Kind::Input, read.takeError());
    steering = std::move(*read);
  }
  if (core)
    steering = steeringFor(*core, network());
  if (llvm::Error error = addHomes(request.weights, steering))
    return failed(Failure::Kind::Input, std::move(error));
  if (llvm::Error error = addFifos(request.fifos, steering))
    return failed(Failure::Kind::Input, std::move(error));
  if (Status fits = holdWeights(wanted); !fits)
    return fits;
  auto start = std::chrono::steady_clock::now();
  FailureOr<explore::Result> found =
      request.clockMhz == TargetChoice::kBestClock
          ? exploreClocks(wanted, steering)
          : explore::explore(network(), wanted, targets.places, steering);
  if (mlir::failed(found))
    return Failure(Failure::Kind::Internal,
                   "exploration fails: " + diagnostics.take());
  if (!found->refused.empty())
    return core ? noProgram(request, *core)
                : Failure(Failure::Kind::Unsupported,
                          asPlanOfAnother(request, network(), found->refused));
  if (llvm::Error error = checkFifos(steering, *found))
    return failed(Failure::Kind::Input, std::move(error));
  result.exploreSeconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
          .count();
  built = std::move(*found);
  if (Status placed = layOut(); !placed)
    return placed;
  request.goal = goalText;
  finishPlan();
  if (core)
    if (Status same = checkCore(request, *core, *plan); !same)
      return same;
  notePlan();
  result.cause = built->limit;
  result.limit = describe(result.cause);
  result.fits = built->fits;
  result.meetsGoal = built->meetsGoal;
  if (!result.meetsGoal && !request.acceptNearest) {
    result.plan = *plan;
    explore::detach(*built);
    isDetached = true;
    Failure failure(Failure::Kind::Infeasible, whyNone(result),
                    settingsThatMeet(wanted, steering) +
                        "--accept-nearest takes the nearest plan");
    failure.detail = result;
    return failure;
  }
  explore::detach(*built);
  isDetached = true;
  explore::record(*built, request.goal, module);
  return Done();
}

//===----------------------------------------------------------------------===//
// From the plan to text
//===----------------------------------------------------------------------===//

/// Of a module in which designs stand: what they are and promise.
Status NetworkCompilation::readBuilt() {
  built = explore::readDesigns(planOp(), network());
  finishPlan();
  return Done();
}

Status NetworkCompilation::build() {
  if (isDetached) {
    explore::attach(*built, module);
    isDetached = false;
  } else {
    auto found = explore::rebuild(network(), planOp(), goal, targets.places);
    if (mlir::failed(found))
      return Failure(Failure::Kind::Internal,
                     "the plan cannot be built: " + diagnostics.take());
    if (!found->refused.empty())
      return Failure(Failure::Kind::Unsupported, found->refused);
    built = std::move(*found);
    // In the order in which attach() would have put them.
    explore::detach(*built);
    explore::attach(*built, module);
    if (Status placed = layOut(); !placed)
      return placed;
    finishPlan();
  }
  explore::recordDesigns(*built, planOp());
  return Done();
}

/// An empty module for RTL at the end of `module`.
static ModuleOp holderIn(ModuleOp module, const std::string &name) {
  OpBuilder b(module.getContext());
  b.setInsertionPointToEnd(module.getBody());
  return ModuleOp::create(b, UnknownLoc::get(b.getContext()), name);
}

Status NetworkCompilation::lower() {
  auto recorded = planOp().getBody().getOps<flow::NodeOp>().begin();
  auto run = built->nodes.begin();
  for (const PlannedNode &node : plan->nodes) {
    if (!node.rtlOf.empty())
      continue;
    flow::NodeOp op = *recorded++;
    explore::NodeResult &one = *run++;
    ModuleOp holder = holderIn(module, node.name + "_rtl");
    if (llvm::Error error = lowerNode(one.design, holder))
      return failed(Failure::Kind::Internal, std::move(error));
    op.setRtl(*holder.getSymName());
    if (nodeChannels(*plan, node).empty())
      continue;
    ModuleOp link = holderIn(module, node.name + "_link");
    if (llvm::Error error = lowerNodeTop(*plan, node, link))
      return failed(Failure::Kind::Unsupported, std::move(error));
    op.setLink(*link.getSymName());
  }
  return Done();
}

Status NetworkCompilation::emit() {
  for (auto holder : module.getOps<ModuleOp>())
    if (llvm::Error error = emitFiles(holder))
      return failed(Failure::Kind::Internal, std::move(error));
  return Done();
}

CompileResult NetworkCompilation::take() {
  if (flow::PlanOp op = planOp();
      op && result.limit.empty() && op.getNoFaster())
    result.limit = op.getNoFaster()->str();
  if (built) {
    result.fits = built->fits;
    result.meetsGoal = built->meetsGoal;
  }
  if (plan)
    result.plan = std::move(*plan);
  return std::move(result);
}

void NetworkCompilation::complete() {
  if (built && !isDetached)
    explore::recordImages(*built, planOp());
}
