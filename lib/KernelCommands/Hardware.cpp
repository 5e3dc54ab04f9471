// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A kernel's unit for a device and a goal, and what the plan says of it.
#include "Chosen.h"
#include "Steps.h"
#include "rhizome/Support/Failures.h"
#include "rhizome/Units/Circuit.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>

using namespace mlir;
using namespace rhizome;
using namespace rhizome::kernelcommands;
using namespace rhizome::gen;

static BorderPort portOf(const loops::UnitStream &stream, int64_t beatWords,
                         int64_t lanes, const std::string &name) {
  if (stream.isOnce)
    lanes = 1;
  ArrayRef<Value> tensors = stream.tensors;
  BorderPort out;
  out.port = stream.name;
  out.name = name;
  int64_t beats = 0;
  for (Value v : tensors)
    beats += llvm::divideCeil(
        cast<RankedTensorType>(v.getType()).getNumElements(), beatWords);
  out.shape = {beats * beatWords * lanes};
  const unsigned bits = wordBits(tensors);
  out.dataWidth = bits * unsigned(beatWords * lanes);
  out.element = {/*isSigned=*/true, bits, llvm::minIntN(bits),
                 llvm::maxIntN(bits)};
  return out;
}

/// The plan of a unit on a device, without the names of files. Of a system,
/// `layout` says whether the device has room for it.
static Plan planOf(const HardwareRequest &request, const ParallelKernel &way,
                   const NumberedKernel &kernel, const loops::KernelUnit &unit,
                   const planbuild::Targets &targets, const SystemRoom &room,
                   SystemLayout &layout) {
  const UnitChoice &choice = request.unit;
  const gen::DeviceContext &device = targets.places.places[0].context;
  const int64_t lanes = choice.lanes;
  Plan plan;
  plan.kernel = describeKernel(kernel, unit);
  plan.kernel->choice = choiceOf(choice, way, unit);
  plan.kernel->lanes = lanes;
  plan.model = plan.kernel->name;
  plan.goal = request.goal;
  PlannedNode node;
  node.name = "node0";
  node.function = plan.kernel->name;
  node.device = targets.devices[0].name;
  node.family = targets.devices[0].family;
  node.clockMhz = device.clockMhz;
  node.budget = device.budget;
  node.top = kUnit;
  auto nameFor = [&](const loops::UnitStream &stream, const char *all) {
    return unit.isDataflow || stream.isOnce
               ? tensorsOf(kernel, stream.tensors)[0].name
               : all;
  };
  for (const loops::UnitStream &stream : unit.inStreams)
    node.inputs.push_back(
        portOf(stream, unit.words, lanes, nameFor(stream, "inputs")));
  for (const loops::UnitStream &stream : unit.outStreams)
    node.outputs.push_back(
        portOf(stream, unit.words, lanes, nameFor(stream, "outputs")));
  node.streamBits = node.outputs[0].dataWidth;

  Structure structure = loops::structureOf(unit.module, device.cost);
  Resources cost = costOf(structure, device.cost);
  for (double &amount : cost.amount)
    amount *= double(lanes);
  std::vector<Mover> movers;
  if (choice.isSystem) {
    movers = moversOf(unit, lanes, device);
    cost += priceOf(movers, device.cost);
  }
  const Resources one = cost;
  for (double &amount : cost.amount)
    amount *= double(choice.units);
  Prediction &p = node.predicted;
  p.intervalCycles = unit.cycles();
  // The last word leaves in the last cycle of a run.
  p.latencyCycles = unit.latency() - 1;
  p.clockMhz = device.clockMhz;
  p.throughputPerS =
      double(lanes) * device.clockMhz * 1e6 / double(p.intervalCycles);
  p.latencyUs = double(p.latencyCycles) / device.clockMhz;
  auto up = [](double v) { return int64_t(std::ceil(v)); };
  p.lut = up(cost.lut());
  p.ff = up(cost.ff());
  p.dsp = up(cost.dsp());
  p.bram = std::ceil(2 * cost.bram()) / 2;
  p.uram = up(cost.uram());
  const double error = loops::errorShareOf(device.cost);
  p.lutError = up(error * cost.lut());
  p.ffError = up(error * cost.ff());
  PlannedActor actor;
  actor.name = plan.kernel->name;
  actor.kind = "kernel";
  actor.nodes = {plan.kernel->name};
  actor.module = choice.isSystem ? kSystem : kUnit;
  actor.intervalCycles = p.intervalCycles;
  for (size_t k = 0; k < kResourceNames.size(); ++k) {
    if (one.amount[k] > 0)
      actor.resources[kResourceNames[k]] =
          std::round(1e6 * one.amount[k]) / 1e6;
    if (double budget = available(device.budget, k); budget > 0)
      node.utilization[kResourceNames[k]] = cost.amount[k] / budget;
  }
  node.blockBits = int64_t(cost.bram() * double(device.cost.bramBits));
  node.heldBits = int64_t(structure.heldBits) * lanes * choice.units;
  node.actors.push_back(std::move(actor));
  const PlannedNest *longest = nullptr;
  for (auto [i, nest] : llvm::enumerate(plan.kernel->nests)) {
    node.operations.push_back(
        {nest.name, "nest", int64_t(i), "loops", "loops/nest",
         llvm::formatv("an iteration every {0} cycles, {1} deep", nest.interval,
                       nest.depth),
         nest.cycles, ""});
    if (!longest || nest.cycles > longest->cycles)
      longest = &nest;
  }
  plan.device = node.device;
  plan.clockMhz = node.clockMhz;
  plan.bottleneck = longest->name;
  if (unit.isDataflow) {
    auto slowest = llvm::max_element(
        plan.kernel->stages, [](const PlannedStage &a, const PlannedStage &b) {
          return (a.isOnce ? 0 : a.cycles) < (b.isOnce ? 0 : b.cycles);
        });
    plan.bottleneck = slowest->parts.front();
  }
  plan.predicted = p;
  plan.utilization = node.utilization;
  plan.nodes.push_back(std::move(node));
  if (choice.isSystem) {
    const SystemUnit each = asSystemUnit(one, movers);
    layout = layOut(each, choice.units, room);
    addSystem(plan, unit, movers, choice.units, device);
    if (layout.obstacle.empty() && room.dies.size() > 1)
      addDies(plan, each, layout, room);
  }
  plan.boundPerS = boundOf(plan, device);
  if (!targets.cluster.empty() && whyNoStreams(plan).empty())
    addNodes(plan, targets);
  return plan;
}

/// Refuses a unit that is larger than its device, and a system for which the
/// dies have no room.
static Refusals whyTooLarge(const Plan &plan, const SystemLayout &layout) {
  Refusals refusals;
  if (!layout.obstacle.empty()) {
    const PlannedSystem &system = *plan.kernel->system;
    const std::string what =
        system.units == 1 ? plan.device + " has no room for a unit of "
                          : llvm::formatv("{0} has no room for {1} units of ",
                                          plan.device, system.units)
                                .str();
    return {{plan.kernel->name, "",
             llvm::formatv("{0}{1} lane{2}: {3}", what, plan.kernel->lanes,
                           plan.kernel->lanes == 1 ? "" : "s", layout.obstacle),
             plan.kernel->lanes > 1
                 ? "choose fewer --lanes or --units, or a narrower format; "
                   "explore --systems finds how many fit"
                 : "choose fewer --units, fewer copies, or a narrower "
                   "format"}};
  }
  for (const auto &[name, share] : plan.utilization)
    if (share > 1)
      refusals.push_back({plan.kernel->name, "",
                          llvm::formatv("it needs {0:f0} % of the {1} of {2}",
                                        100 * share, name, plan.device),
                          plan.kernel->streams[0].words > 1
                              ? "choose a larger device, a narrower format, or "
                                "fewer --words"
                              : "choose a larger device, or a narrower "
                                "format"});
  return refusals;
}

/// By how much a unit misses a goal.
static std::string tooSlow(const Prediction &predicted,
                           const explore::Goal &goal) {
  if (predicted.throughputPerS < goal.throughput)
    return llvm::formatv("it takes {0} cycles; the goal allows {1}",
                         predicted.intervalCycles,
                         int64_t(double(predicted.intervalCycles) *
                                 predicted.throughputPerS / goal.throughput));
  return llvm::formatv("its latency is {0:f2} us; the goal allows {1:f2}",
                       predicted.latencyUs, goal.latency * 1e6);
}

/// Builds one way; with what may be taken for it, its border is as wide as
/// serves.
static rhizome::Result<std::unique_ptr<ChosenUnit>>
buildWay(const HardwareRequest &request, ModuleOp module,
         const ParallelKernel &way, const planbuild::Targets &targets,
         const explore::Goal *goal, const Resources *spare = nullptr) {
  const gen::DeviceContext &device = targets.places.places[0].context;
  auto kernel = numberedOf(module, way.options.sums);
  if (!kernel)
    return failureOf(kernel.takeError(), Failure::Kind::Input);
  auto out = std::make_unique<ChosenUnit>(
      ChosenUnit{request, std::move(*kernel), {}, {}, {}, false});
  MLIRContext &context = *out->kernel.formats.inContext();
  context.loadDialect<rtl::RtlDialect>();
  OpBuilder b(&context);
  out->holder = ModuleOp::create(b.getUnknownLoc());
  b.setInsertionPointToEnd(out->holder->getBody());
  std::string problem;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    problem += "\n" + diagnostic.str();
    return success();
  });
  const int64_t lanes = request.unit.lanes;
  auto options = unitOptions(out->kernel, request.unit, device);
  if (!options)
    return options.failure();
  options->beatBits = mostBeatBits(targets) / lanes;
  options->choices = way.nests;
  options->borders = request.unit.borders;
  if (spare) {
    options->words = 0;
    options->spare = *spare;
  }
  auto unit = loops::buildKernelUnit(
      out->kernel.integers, lanes > 1 ? "rhz_lane" : kUnit,
      gen::paceFor(device), device.cost, *options, b);
  if (failed(unit)) {
    out->refusals = {{request.path, "",
                      "its nests cannot be built so:" + problem,
                      "choose other --copies"}};
    return out;
  }
  rtl::ModuleOp top =
      lanes > 1 ? loops::addLanes(*unit, lanes, kUnit, b) : unit->module;
  SystemLayout layout;
  out->plan = planOf(request, way, out->kernel, *unit, targets,
                     roomOf(targets.places, targets.devices[0], goal), layout);
  if (request.unit.isSystem)
    gen::addSystem(top, moversOf(*unit, lanes, device), kSystem, b);
  loops::splitModule(*unit, b);
  out->refusals =
      targets.cluster.empty() ? Refusals() : whyNoStreams(out->plan);
  if (out->refusals.empty())
    out->refusals = whyTooLarge(out->plan, layout);
  const Prediction &predicted = out->plan.predicted;
  if (out->refusals.empty() && goal &&
      (predicted.throughputPerS < goal->throughput ||
       (goal->latency > 0 && predicted.latencyUs / 1e6 > goal->latency))) {
    out->isTooSlow = true;
    out->refusals = {
        {out->plan.model, "", tooSlow(predicted, *goal), "lower the goal"}};
  }
  return out;
}

/// What a lane may have if all lanes and units have the same, a unit of a
/// system on one die.
static Resources roomOfLane(const UnitChoice &choice, const SystemRoom &room,
                            const gen::DeviceContext &device) {
  Resources out;
  for (size_t k = 0; k < kResourceNames.size(); ++k) {
    double most = gen::available(device.budget, k);
    if (choice.isSystem) {
      const auto dies = int64_t(room.dies.size());
      double die = 0;
      for (const SystemRoom::Die &one : room.dies)
        die = std::max(die, one.routable.amount[k]);
      most = std::min(room.all.amount[k] / double(choice.units),
                      die / double(llvm::divideCeil(choice.units, dies)));
    }
    out.amount[k] = most / double(choice.lanes);
  }
  return out;
}

/// What a unit leaves of that, less than estimates err.
static Resources leftOf(const Plan &plan, const UnitChoice &choice,
                        const Resources &room) {
  constexpr double kSafe = 0.9;
  const double lanes = double(choice.lanes * choice.units);
  Resources out;
  out.lut() = kSafe * (room.lut() - double(plan.predicted.lut) / lanes);
  out.bram() = kSafe * (room.bram() - plan.predicted.bram / lanes);
  return out;
}

/// The best way to build the nests that is built as promised, and, for goals
/// without bounds, with a border that takes what the nests leave.
static rhizome::Result<std::unique_ptr<ChosenUnit>>
chooseWay(const HardwareRequest &request, ModuleOp module,
          const NumberedKernel &kernel, const planbuild::Targets &targets,
          const explore::Goal *goal, const Resources &room, int64_t words) {
  // Each node has its share of the goal.
  std::optional<explore::Goal> share;
  if (goal) {
    share = *goal;
    share->throughput /= double(request.unit.nodes);
  }
  auto ways = parallelize(request, kernel, share ? &*share : nullptr,
                          targets.places.places[0].context, room, words);
  if (!ways)
    return ways.failure();
  HardwareRequest chosen = request;
  const bool isWide = words > 1 && request.unit.words == 0;
  Refusals refusals;
  bool isTooSlow = false;
  std::unique_ptr<ChosenUnit> best;
  auto isBetter = [&](const ChosenUnit &unit) {
    return unit.refusals.empty() &&
           (!best || unit.plan.predicted.intervalCycles <
                         best->plan.predicted.intervalCycles);
  };
  // Estimates may promise too much.
  for (const ParallelKernel &way : *ways) {
    chosen.options = way.options;
    // Which words the banks of the nests allow is known when they are built.
    auto built =
        buildWay(chosen, module, way, targets, goal, isWide ? &room : nullptr);
    if (!built)
      return built.failure();
    isTooSlow = (*built)->isTooSlow;
    if (!(*built)->refusals.empty()) {
      if (refusals.empty())
        refusals = std::move((*built)->refusals);
      continue;
    }
    if (chosen.unit.words > 0 || !goal || goal->isBounded() ||
        goal->kind == explore::Goal::Kind::MinResources)
      return built;
    // The border may have what the nests leave.
    const Resources spare = leftOf((*built)->plan, request.unit, room);
    auto wide = buildWay(chosen, module, way, targets, goal, &spare);
    if (!wide)
      return wide.failure();
    for (auto *unit : {&*built, &*wide})
      if (isBetter(**unit))
        best = std::move(*unit);
    // Slower nests that leave the border more may be faster in all.
    const PlannedKernel &kernel = *best->plan.kernel;
    if (kernel.readCycles + kernel.writeCycles <= kernel.computeCycles)
      return best;
  }
  if (best)
    return best;
  if (isTooSlow && ways->size() == 1)
    return noCopies();
  return Failure(Failure::Kind::Infeasible, std::move(refusals));
}

rhizome::Result<std::unique_ptr<ChosenUnit>>
kernelcommands::buildChosen(const HardwareRequest &request, ModuleOp module,
                            const planbuild::Targets &targets,
                            std::optional<explore::Goal> goal) {
  if (goal)
    goal->throughput = goal->latency = 0;
  const ParallelKernel way = wayOf(request.options, request.unit);
  HardwareRequest chosen = request;
  chosen.options = way.options;
  auto built = buildWay(chosen, module, way, targets, goal ? &*goal : nullptr);
  if (!built)
    return built;
  if (!(*built)->refusals.empty())
    return Failure::refused(std::move((*built)->refusals));
  const std::vector<int64_t> &asked = request.unit.borders;
  if (!asked.empty() && (*built)->plan.kernel->choice.borders != asked)
    return Failure(Failure::Kind::Input,
                   (request.plan.empty() ? "'" + request.path
                                         : "--plan: '" + request.plan) +
                       "' has borders that the memories' banks do not allow, "
                       "or not one for each tensor",
                   request.plan.empty()
                       ? "leave borders out of the key of 'loops/unit'"
                       : "leave kernel.choice.borders empty: []");
  return built;
}

/// True if reading and writing take a twentieth of an element's cycles.
static bool isBorderLong(const PlannedKernel &kernel) {
  constexpr int64_t kWorth = 20;
  const int64_t border = kernel.isDataflow
                             ? std::max(kernel.readCycles, kernel.writeCycles)
                             : kernel.readCycles + kernel.writeCycles;
  return border * kWorth >= (kernel.isDataflow ? kernel.computeCycles
                                               : border + kernel.computeCycles);
}

/// Whether a plan serves a bounded goal better than another that is within it.
static bool isBetter(const Plan &a, const Plan &b, const explore::Goal &goal) {
  auto share = [](const Plan &plan) {
    double most = 0;
    for (const auto &[name, used] : plan.utilization)
      most = std::max(most, used);
    return most;
  };
  switch (goal.kind) {
  case explore::Goal::Kind::MaxThroughput:
    return a.predicted.throughputPerS > b.predicted.throughputPerS;
  case explore::Goal::Kind::MinLatency:
    return a.predicted.latencyCycles < b.predicted.latencyCycles;
  default:
    return share(a) < share(b);
  }
}

rhizome::Result<std::unique_ptr<ChosenUnit>>
kernelcommands::chooseUnit(const HardwareRequest &request, ModuleOp module,
                           const NumberedKernel &kernel,
                           const planbuild::Targets &targets,
                           const explore::Goal *goal) {
  const Resources room =
      roomOfLane(request.unit, roomOf(targets.places, targets.devices[0], goal),
                 targets.places.places[0].context);
  // The nests of copies for as many words a beat, built so.
  auto choose = [&](int64_t words) {
    return chooseWay(request, module, kernel, targets, goal, room, words);
  };
  auto chosen = choose(std::max<int64_t>(1, request.unit.words));
  // A goal may be met, or cheaper, with a border that takes fewer cycles.
  const bool isOpen = request.unit.words == 0 && goal && goal->isBounded() &&
                      (!chosen || isBorderLong(*(*chosen)->plan.kernel));
  const loops::KernelParts parts = loops::partsOf(kernel.integers);
  const int64_t beat =
      int64_t(std::max(wordBits(parts.inputs), wordBits(parts.outputs))) *
      request.unit.lanes;
  for (int64_t words = 2; isOpen && words * beat <= mostBeatBits(targets);
       words *= 2) {
    auto wide = choose(words);
    if (wide && (!chosen || isBetter((*wide)->plan, (*chosen)->plan, *goal)))
      chosen = std::move(wide);
  }
  return chosen;
}
