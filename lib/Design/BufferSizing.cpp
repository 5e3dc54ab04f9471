// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How deep buffers before joins are: docs/rationale/buffers.md.
#include "Runs.h"
#include "rhizome/Design/Sizing.h"
#include "rhizome/Generator/UnitModel.h"
#include "rhizome/Timing/LeastDepths.h"
#include "llvm/Support/Parallel.h"

using namespace mlir;

namespace rhizome::gen {
/// The streams that the design's inputs reach. The others come from memories,
/// which fill any buffer.
static DenseSet<Value> streamsOfInputs(flow::DesignOp design) {
  DenseSet<Value> reached;
  for (bool grows = true; grows;) {
    size_t before = reached.size();
    for (auto op : design.getBody().getOps<flow::ActorOp>())
      if ((op.getBanks().empty() && op.getInputs().empty()) ||
          llvm::any_of(op.getInputs(),
                       [&](Value v) { return reached.contains(v); }))
        reached.insert(op.getOutputs().begin(), op.getOutputs().end());
    grows = reached.size() > before;
  }
  return reached;
}

/// Does a design whose buffers have their depths now run as it has without
/// bounds? The depths change nothing if the buffers held no more, and tokens
/// that come later do not if they waited for as long.
static bool runsAs(Simulation &simulation, ArrayRef<int> watched,
                   const ProcessNetwork &before, ProcessNetwork now) {
  for (int c : watched) {
    TokenQueue &queue = now.channels[c];
    int64_t later = queue.latency - before.channels[c].latency;
    if (queue.capacity < simulation.occupancy(c) || later < 0 ||
        later > simulation.slack(c))
      return false;
    queue = before.channels[c];
  }
  return now.processes == before.processes && now.channels == before.channels;
}

/// The timing of such a design, if that run tells it.
static std::optional<Timing> timingFrom(Simulation &simulation,
                                        ArrayRef<int> watched,
                                        const ProcessNetwork &before,
                                        flow::DesignOp design) {
  const ProcessNetwork now = networkOf(design);
  if (!runsAs(simulation, watched, before, now))
    return std::nullopt;
  if (!readsMemory(now))
    return timingOf(simulation, /*simulates=*/false);
  // Where memories keep up with all frames that are measured.
  if (!simulation.keepsUp() || !simulation.knowsAll())
    return std::nullopt;
  const SimResult &run = simulation.upTo(kShort - 1, aheadOf(now));
  Timing timing =
      timingOfReading(simulation, now, latencyFrom(simulation, run, now));
  return simulation.keepsUp() ? std::optional(timing) : std::nullopt;
}

/// An operand of a join, whose buffer's depth is wanted.
struct Operand {
  flow::ActorOp op;
  int channel;
  flow::ActorOp join;
  int64_t shallow; ///< the depth of a buffer that nothing waits in
};

/// Whether a stream depends on a result of a unit, on ways on which the unit is
/// only at their beginning.
static bool follows(Value stream, Value from) {
  SmallVector<Value> open = {stream};
  DenseSet<Value> seen;
  while (!open.empty()) {
    Value v = open.pop_back_val();
    if (v == from)
      return true;
    if (seen.insert(v).second)
      if (auto op = v.getDefiningOp<flow::ActorOp>();
          op && op != from.getDefiningOp())
        llvm::append_range(open, op.getInputs());
  }
  return false;
}

/// Whether what comes at an operand may have to wait for other operands of a
/// unit: at joins, and at units whose layers take turns where a layer needs
/// nothing of the one before, as of branches next to each other.
static bool mayWait(flow::ActorOp op, const Actor &actor, size_t operand) {
  if (!actor.model().takesTurns(actor))
    return true;
  return operand > 0 && operand < op.getOutputs().size() &&
         !follows(op.getInputs()[operand], op.getOutputs()[operand - 1]);
}

struct BufferSizing::Run {
  flow::DesignOp design;
  ProcessNetwork network;
  SmallVector<Operand> operands;
  SmallVector<int> watched;
  std::optional<Simulation> simulation;
  const Simulation::Memories memories;
  /// Where beats come evenly.
  ProcessNetwork pacedNetwork;
  std::optional<Simulation> pacedRun;

  Run(flow::DesignOp design, Simulation::Memories memories);
  FailureOr<const SimResult *> upTo(int frames);
  void runPaced(int64_t interval);
  void setDepths(llvm::function_ref<int64_t(size_t)> depthOf);
  int64_t depthFor(Operand operand, int64_t tokens) const;
  bool isLast(const Operand &operand) const;
  void setDepths(bool keepsPace);
  FailureOr<std::optional<Timing>> withPace();
};

BufferSizing::Run::Run(flow::DesignOp design, Simulation::Memories memories)
    : design(design), network(networkOf(design)), memories(memories) {
  // networkOf numbers channels in the order of actors and results.
  int channel = 0;
  DenseMap<Value, int> numbers;
  for (auto op : design.getBody().getOps<flow::ActorOp>())
    for (Value v : op.getOutputs())
      numbers[v] = channel++;
  DenseSet<Value> reached = streamsOfInputs(design);
  for (auto op : design.getBody().getOps<flow::ActorOp>())
    if (Actor actor = actorOf(op);
        op.getBatch() == 1 && llvm::count_if(op.getInputs(), [&](Value v) {
                                return reached.contains(v);
                              }) > 1)
      for (auto [i, v] : llvm::enumerate(op.getInputs()))
        if (reached.contains(v) && mayWait(op, actor, i)) {
          const int index = numbers[v];
          operands.push_back({v.getDefiningOp<flow::ActorOp>(), index, op,
                              network.channels[index].capacity});
        }
  for (const Operand &operand : operands) {
    network.channels[operand.channel].capacity = INT64_MAX / 4;
    watched.push_back(operand.channel);
  }
  if (!operands.empty())
    simulation.emplace(network, watched, memories);
}

FailureOr<const SimResult *> BufferSizing::Run::upTo(int frames) {
  const SimResult &run = simulation->upTo(frames, aheadOf(network));
  if (run.deadlock)
    return design.emitError("internal: deadlock with unbounded buffers: ")
           << run.blocked;
  return &run;
}

/// The depth of an operand's buffer that holds so many tokens.
int64_t BufferSizing::Run::depthFor(Operand operand, int64_t tokens) const {
  Actor actor = actorOf(operand.op);
  int64_t depth = std::max(actor.model().leastDepth(actor), tokens);
  // Two frames of fewer beats do not show what full rate needs.
  auto stream = cast<flow::StreamType>(operand.op.getOutputs()[0].getType());
  int64_t atFullRate = fullRateDepth(actor);
  if (2 * stream.beatsPerFrame() < atFullRate)
    depth = std::max(depth, atFullRate);
  // The deep form of the buffer becomes visible one cycle later.
  return depth > 62 ? depth + 2 : depth;
}

/// Do all other operands of its join always come earlier?
bool BufferSizing::Run::isLast(const Operand &operand) const {
  Actor join = actorOf(operand.join);
  return !join.model().takesTurns(join) &&
         simulation->slack(operand.channel) == 0 &&
         llvm::all_of(operands, [&](const Operand &other) {
           return other.join != operand.join ||
                  other.channel == operand.channel ||
                  simulation->slack(other.channel) > operand.shallow;
         });
}

void BufferSizing::Run::setDepths(llvm::function_ref<int64_t(size_t)> depthOf) {
  for (size_t o = 0; o < operands.size(); ++o)
    operands[o].op.setDepths(
        SmallVector<int64_t>(operands[o].op.getNumResults(), depthOf(o)));
}

/// Sets the depths that the frames so far need. A join that `keepsPace` with
/// what follows it lets no more of its last operand come than it takes.
void BufferSizing::Run::setDepths(bool keepsPace) {
  setDepths([&](size_t o) {
    const Operand &operand = operands[o];
    const int64_t depth =
        depthFor(operand, simulation->occupancy(operand.channel));
    return keepsPace && depth > operand.shallow && isLast(operand)
               ? operand.shallow
               : depth;
  });
}

static constexpr int kRoughly = 2;

int64_t firingsOf(flow::DesignOp design) {
  const ProcessNetwork network = networkOf(design);
  int64_t firings = 0;
  for (const Process &process : network.processes)
    firings += firingsIn(process);
  return firings / network.frames;
}

/// Simulates frames whose beats come evenly: in each frame, first some with
/// steps that are a cycle longer than those of the others.
void BufferSizing::Run::runPaced(int64_t interval) {
  pacedNetwork = network;
  for (Process &process : pacedNetwork.processes) {
    if (!process.isSource())
      continue;
    const int64_t beats = firingsIn(process), step = interval / beats,
                  longer = interval % beats;
    for (int64_t frame = 0; frame < kRoughly; ++frame) {
      const int64_t first = frame * interval;
      if (longer > 0)
        process.offers.push_back({first, longer, step + 1});
      process.offers.push_back(
          {first + longer * (step + 1), beats - longer, step});
    }
  }
  pacedRun.emplace(pacedNetwork, watched, memories);
  pacedRun->upTo(kRoughly, aheadOf(pacedNetwork));
}

/// Where what follows a join is slower than what comes before it, both operands
/// pile up in buffers without bounds, frame after frame. They need not: while
/// the first frame comes, nothing waits for a frame before it, and a buffer
/// that holds as much delays none that is slower. So these depths are taken if
/// the design is as fast with them as it is without bounds; its timing. It is
/// if its busiest process never waits and the first frame is as early;
/// otherwise a second frame without bounds tells.
FailureOr<std::optional<Timing>> BufferSizing::Run::withPace() {
  constexpr double kSame = 1 + 1e-9;
  auto first = upTo(1);
  if (failed(first))
    return failure();
  const int64_t latency = (*first)->latency();
  setDepths(/*keepsPace=*/true);
  const ProcessNetwork paced = networkOf(design);
  Simulation trial = withoutSpans(paced);
  std::optional<Timing> timing;
  if (!trial.upTo(kShort - 1).deadlock)
    timing = timingOf(trial, /*simulates=*/true);
  if (timing && timing->intervalCycles <= leastInterval(paced) * kSame &&
      timing->latencyCycles <= latency)
    return timing;
  auto free = upTo(kRoughly);
  if (failed(free))
    return failure();
  if (simulation->knowsAll()) // and nothing piles up
    return std::optional<Timing>();
  if (timing && timing->intervalCycles > (*free)->interval(0) * kSame)
    timing.reset();
  return timing;
}

BufferSizing::BufferSizing(flow::DesignOp design, bool waits)
    : run(std::make_unique<Run>(design, memoriesOf(waits))) {}

BufferSizing::~BufferSizing() = default;

/// Designs that load weights are large: their frames take long to simulate. So
/// are parts of a large network on a cluster.
static bool isLarge(const ProcessNetwork &network) {
  constexpr double kLongFrame = 100000; // cycles
  return !readsMemory(network) &&
         (!network.memories.empty() || leastInterval(network) > kLongFrame);
}

void BufferSizing::atLeast() {
  // Units that take several frames at once hold them, too.
  if (run->network.frames > 1)
    return;
  const std::vector<int64_t> tokens = leastDepths(run->network, run->watched);
  run->setDepths(
      [&](size_t o) { return run->depthFor(run->operands[o], tokens[o]); });
}

LogicalResult BufferSizing::roughly(std::optional<int64_t> interval,
                                    std::function<bool()> isTooMuch) {
  if (!run->simulation)
    return success();
  const bool paces = isLarge(run->network) && run->network.frames == 1;
  if (isTooMuch)
    run->simulation->stopIf([&] {
      run->setDepths(paces);
      return isTooMuch();
    });
  // A frame takes longest to simulate where memories are read.
  const int frames = paces || readsMemory(run->network) ? 1 : kRoughly;
  llvm::parallelFor(0, interval ? 2 : 1, [&](size_t i) {
    if (i == 0)
      run->simulation->upTo(frames, aheadOf(run->network));
    else
      run->runPaced(*interval);
  });
  run->simulation->stopIf({});
  if (run->simulation->isStopped())
    return success();
  if (failed(run->upTo(frames)))
    return failure();
  run->setDepths(paces);
  return success();
}

bool BufferSizing::isTooMuch() const {
  return run->simulation && run->simulation->isStopped();
}

LogicalResult BufferSizing::paced(int64_t interval) {
  if (!run->simulation || run->network.frames > 1)
    return success();
  if (!run->pacedRun)
    run->runPaced(interval);
  const SimResult &told =
      run->pacedRun->upTo(kRoughly, aheadOf(run->pacedNetwork));
  if (told.deadlock)
    return run->design.emitError("internal: deadlock at an even pace: ")
           << told.blocked;
  run->setDepths([&](size_t o) {
    const Operand &operand = run->operands[o];
    return run->depthFor(operand, run->pacedRun->occupancy(operand.channel));
  });
  return success();
}

FailureOr<std::optional<Timing>> BufferSizing::fully() {
  if (!run->simulation)
    return std::optional<Timing>();
  // Where a frame takes seconds, those that run ahead of it tell as much as a
  // second one.
  int frames = readsMemory(run->network) && leastInterval(run->network) > kHuge
                   ? 1
                   : kRoughly;
  if (isLarge(run->network) && run->network.frames == 1) {
    auto timing = run->withPace();
    if (failed(timing) || *timing)
      return timing;
    // What lies in their buffers grows for some frames more.
    frames = 6;
  }
  if (failed(run->upTo(frames)))
    return failure();
  run->setDepths(/*keepsPace=*/false);
  if (run->network.frames > 1)
    return std::optional<Timing>();
  return timingFrom(*run->simulation, run->watched, run->network, run->design);
}

bool BufferSizing::waitsForMemories() const {
  return run->simulation && readsMemory(run->network) &&
         !run->simulation->keepsUp();
}

FailureOr<std::optional<Timing>> sizeBuffers(flow::DesignOp design) {
  return BufferSizing(design).fully();
}
} // namespace rhizome::gen
