// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// When things happen in a design: its network for the event simulator, the
// depths of its buffers, its interval and latency, and how long it loads.
#include "rhizome/Design/Design.h"
#include "rhizome/Design/Sizing.h"
#include "rhizome/Generator/UnitModel.h"
#include "llvm/Support/Parallel.h"
#include <cmath>
#include <numeric>

using namespace mlir;

namespace rhizome::gen {
/// The timing parameters of a memory.
static llvm::StringMap<rhz::MemoryFigures> figuresOf(flow::DesignOp design) {
  llvm::StringMap<rhz::MemoryFigures> figures;
  if (auto memories = design.getMemories())
    for (auto m : memories->getAsRange<flow::MemoryAttr>())
      figures[m.getName()] = {m.getBanks(),          m.getBytesPerS(),
                              m.getLatencyNs(),      m.getTurnaroundNs(),
                              m.getRefreshEveryNs(), m.getRefreshNs()};
  return figures;
}

/// What a reader of the load chain's bank reads ahead while the chain is
/// filled: bursts of a segment, round after round, as long as there are places,
/// and how many in a row.
struct ReadAhead {
  int64_t burst, words, places, turn;
  int64_t at = 0; ///< in the segment

  int64_t next() const { return std::min(burst, words - at); }
  /// Takes the next burst.
  int64_t take() {
    const int64_t beats = next();
    places -= beats;
    at = (at + beats) % words;
    return beats;
  }
};
static std::vector<ReadAhead> readAheadNextTo(flow::ActorOp head,
                                              flow::DesignOp design) {
  std::vector<ReadAhead> others;
  for (auto op : design.getBody().getOps<flow::ActorOp>())
    for (auto [port, bank] :
         llvm::zip_equal(op.getUnit().kind().memoryPorts(), op.getBanks())) {
      if (op == head || bank.getMemory() != head.getBanks()[0].getMemory() ||
          bank.getBank() != head.getBanks()[0].getBank() || port->writes())
        continue;
      unit::Instance unit = op.getUnit();
      int64_t burst = port->traffic.burst(unit.params.data());
      int64_t room = op.getDepths().empty() ? burst : op.getDepths()[0];
      const int64_t words =
          port->traffic.bytes(unit.params.data()) / (unit.bitsOf(*port) / 8);
      others.push_back({burst,
                        unit.is<unit::MemReader>() ? unit.get("Words")
                                                   : std::max(words, burst),
                        room, unit.turnOf(*port)});
    }
  return others;
}

int64_t loadCycles(flow::DesignOp design) {
  int64_t places = 0;
  flow::ActorOp head;
  for (auto op : design.getBody().getOps<flow::ActorOp>()) {
    unit::Instance unit = op.getUnit();
    for (const unit::Port &port : unit.kind().ports)
      if (port.isLoaded()) {
        ++places;
      } else if (port.protocol == unit::Protocol::Load) {
        head = op;
      }
  }
  if (!head)
    return 0;
  unit::Instance unit = head.getUnit();
  const unit::Port &port = *unit.kind().memoryPorts().front();
  const int64_t burst = port.traffic.burst(unit.params.data()),
                atOnce = port.traffic.inFlight(unit.params.data());
  rhz::MemoryServer server(rhz::MemoryTiming::of(
      figuresOf(design).lookup(head.getBanks()[0].getMemory()),
      unit.bitsOf(port) / 8, design.getClockMhz().convertToDouble()));
  // A beat of several words waits until those of the one before are passed on.
  const int64_t parts = unit.bitsOf(port) / kLoadBits;
  // A request is made if few enough are in flight, and accepted in the
  // next cycle.
  int64_t cycle = -1, free = 0;
  std::vector<ReadAhead> others = readAheadNextTo(head, design);
  std::vector<int64_t> ends; // cycles of the bursts' last beats
  for (int64_t left = unit.get("Words"); left > 0; left -= burst) {
    ++cycle;
    int64_t before = int64_t(ends.size()) - atOnce;
    if (before >= 0)
      cycle = std::max(cycle, ends[size_t(before)] + 1);
    bool turns = ends.empty();
    for (ReadAhead &other : others)
      for (int64_t k = 0; k < other.turn && other.next() <= other.places; ++k) {
        server.begin(cycle + 1, /*turns=*/k == 0 || other.at == 0);
        for (int64_t i = other.take(); i > 0; --i)
          server.next();
        turns = true;
      }
    server.begin(cycle + 1 + !others.empty(), turns);
    int64_t last = 0;
    for (int64_t i = 0; i < std::min(left, burst); ++i) {
      last = std::max(server.next(), free);
      free = last + parts;
    }
    ends.push_back(last);
  }
  // Each place passes a word on in the next cycle; the last one's flag follows.
  int64_t words = 0;
  for (auto op : design.getBody().getOps<flow::ActorOp>())
    if (const unit::Port *loaded = op.getUnit().kind().loadedPort())
      words += loaded->beats(op.getUnit().params.data());
  return ends.back() + (words - 1) % parts + places + 1;
}

/// The banks that actors of a design use, in its cycles.
static void addBanks(flow::DesignOp design, ProcessNetwork &network) {
  llvm::StringMap<rhz::MemoryFigures> figures = figuresOf(design);
  double clockMhz = design.getClockMhz().convertToDouble();
  for (auto op : design.getBody().getOps<flow::ActorOp>())
    for (auto [bank, port] :
         llvm::zip(op.getBanks(), op.getUnit().kind().memoryPorts()))
      network.memories[network.memory(bank.getMemory(), bank.getBank())]
          .timing =
          rhz::MemoryTiming::of(figures.lookup(bank.getMemory()),
                                op.getUnit().bitsOf(*port) / 8, clockMhz);
}

ProcessNetwork networkOf(flow::DesignOp design, Arrival arrival) {
  ProcessNetwork network;
  network.isAlone = arrival == Arrival::Alone;
  if (!network.isAlone)
    for (auto op : design.getBody().getOps<flow::ActorOp>())
      network.frames = std::lcm(network.frames, int(op.getBatch()));
  addBanks(design, network);
  DenseMap<Value, int> channel;
  for (auto op : design.getBody().getOps<flow::ActorOp>()) {
    Actor actor = actorOf(op);
    for (auto [i, result] : llvm::enumerate(op.getOutputs()))
      channel[result] = network.addChannel(op.getName().str(),
                                           op.getDepths()[i], latencyOf(actor));
  }
  for (auto op : design.getBody().getOps<flow::ActorOp>()) {
    std::vector<int> inputs, outputs;
    for (Value v : op.getInputs())
      inputs.push_back(channel[v]);
    for (Value v : op.getOutputs())
      outputs.push_back(channel[v]);
    const size_t before = network.processes.size();
    addProcesses(actorOf(op), network, inputs, outputs);
    if (!network.isAlone)
      for (size_t p = before; p < network.processes.size(); ++p)
        network.processes[p].periods *= network.frames / int64_t(op.getBatch());
  }
  return network;
}

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

/// Does a process read a memory while frames pass? Weights are loaded before.
static bool readsMemory(const ProcessNetwork &network) {
  return llvm::any_of(network.processes,
                      [](const Process &p) { return p.memory >= 0; });
}

/// Do readers take turns at a bank? Only there what is read for later frames
/// delays what is read for these.
static bool sharesBanks(const ProcessNetwork &network) {
  SmallVector<int> banks;
  for (const Process &p : network.processes)
    if (p.memory >= 0)
      banks.push_back(p.memory);
  llvm::sort(banks);
  return llvm::adjacent_find(banks) != banks.end();
}

/// Frames by which readers may be ahead.
static int aheadOf(const ProcessNetwork &network) {
  return sharesBanks(network) ? Simulation::kAhead : 0;
}

/// How a network is simulated that is known to wait for memories, or not.
static Simulation::Memories memoriesOf(bool waits) {
  return waits ? Simulation::Memories::Always
               : Simulation::Memories::IfTheyMatter;
}

/// The firings of a process in a frame.
static int64_t firingsIn(const Process &process) {
  int64_t firings = 0;
  for (const Phase &phase : process.phases)
    firings += phase.repeat * process.periods;
  return firings;
}

/// Those of the busiest process: in the long run no interval is shorter.
static double leastInterval(const ProcessNetwork &network) {
  int64_t most = 0;
  for (const Process &process : network.processes)
    if (process.memory < 0)
      most = std::max(most, firingsIn(process));
  return double(most);
}

static constexpr int kWarmUp = 3, kShort = 5;
static constexpr double kLong = 20000, kVeryLong = 5 * kLong;

/// The timing of a network that reads no memory while frames pass; nothing if
/// that needs frames that have not been simulated and may not be.
static std::optional<Timing> timingOf(Simulation &simulation, bool simulates) {
  // Most designs settle at once. Those whose frames still differ, and those
  // whose frames are so short that the first ones meet an empty pipeline, are
  // followed for as long as data/sim/harness.cpp measures them. Frame 0 never
  // waits for a later one, so that its latency is that of a single frame.
  // Long frames with constant intervals are steady a frame earlier.
  auto isThere = [&](int frames) {
    return simulates || simulation.knows(frames);
  };
  if (!isThere(kShort - 1))
    return std::nullopt;
  const SimResult &run = simulation.upTo(kShort - 1);
  if (run.interval(kWarmUp - 1) > kLong && run.isSteady(kWarmUp - 2))
    return Timing{run.interval(kWarmUp - 1), run.latency()};
  if (!isThere(kShort))
    return std::nullopt;
  simulation.upTo(kShort);
  double interval = run.interval(kWarmUp);
  bool filling = interval < 1000 && double(run.latency()) > 3 * interval;
  if (run.isSteady(kWarmUp - 1) && !filling)
    return Timing{interval, run.latency()};
  bool shortFrames = interval < kLong;
  if (!isThere(shortFrames ? 20 : 12))
    return std::nullopt;
  simulation.upTo(shortFrames ? 20 : 12);
  return Timing{run.interval(shortFrames ? 10 : kWarmUp), run.latency()};
}

/// Does everything wait for a frame, even if memories have been read?
static bool waitsForFrames(const ProcessNetwork &network) {
  SmallVector<int> read; // channels
  for (const Process &p : network.processes)
    if (p.memory >= 0)
      llvm::append_range(read, p.outputs);
  auto isRead = [&](int channel) { return llvm::is_contained(read, channel); };
  return llvm::all_of(network.processes, [&](const Process &p) {
    return p.memory >= 0 || llvm::none_of(p.inputs, isRead) ||
           llvm::all_of(p.phases, [&](const Phase &phase) {
             return llvm::any_of(llvm::enumerate(phase.need), [&](auto need) {
               return need.value() > 0 && !isRead(p.inputs[need.index()]);
             });
           });
  });
}

/// The cycle at which all readers have filled their buffers, if nothing is
/// taken from them.
static int64_t cyclesToFill(const ProcessNetwork &network) {
  int64_t ready = 0;
  for (const MemoryBank &bank : network.memories)
    ready += bank.timing.latency + 2 * bank.timing.refresh;
  for (const Process &process : network.processes)
    if (process.memory >= 0 && process.inputs.empty()) {
      const rhz::MemoryTiming &t = network.memories[process.memory].timing;
      int64_t ticks = t.beatTicks + t.turnTicks;
      ready += 2 * network.channels[process.outputs[0]].capacity *
               (ticks / rhz::kTicks + 1);
    }
  return ready;
}

/// The latency of a design whose readers have filled all their buffers before
/// the frame comes.
static int64_t latencyAfterFilling(ProcessNetwork network,
                                   Simulation::Memories memories) {
  const int64_t ready = cyclesToFill(network);
  // No other frame follows it; readers go on.
  constexpr int64_t kNever = INT64_MAX / 8;
  for (Process &process : network.processes)
    if (process.isSource()) {
      int64_t firings = 0;
      for (const Phase &phase : process.phases)
        firings += phase.repeat * process.periods;
      process.offers = {{ready, firings}, {kNever}};
    }
  return Simulation(network, {}, memories, Simulation::Spans::Omitted)
      .upTo(1, aheadOf(network))
      .latency();
}

/// The same, if a run whose readers begin with the frame may tell it.
static int64_t latencyFrom(const Simulation &simulation, const SimResult &run,
                           const ProcessNetwork &network) {
  if (simulation.keepsUp() && waitsForFrames(network) &&
      simulation.keepsUpLater(cyclesToFill(network)))
    return run.latency();
  return latencyAfterFilling(network, memoriesOf(!simulation.keepsUp()));
}

/// Does every frame take long to simulate?
static bool isVeryLong(const ProcessNetwork &network) {
  return leastInterval(network) > kVeryLong;
}

/// The frames that are simulated at first.
static int firstFrames(const ProcessNetwork &network) {
  return readsMemory(network) && isVeryLong(network) ? kShort - 2 : kShort - 1;
}

/// Are all distances between the frames of a run alike, to a thousandth?
static bool isEven(const SimResult &run) {
  constexpr double kAlike = 1e-3;
  for (const std::vector<int64_t> &first : run.firstOut)
    for (int i = 2; i < run.frames; ++i) {
      const auto last = double(first[i] - first[i - 1]),
                 before = double(first[i - 1] - first[i - 2]);
      if (std::abs(last - before) > kAlike * before)
        return false;
    }
  return true;
}

/// The timing of a network that reads memories while frames pass, some of which
/// have been simulated, with the latency of one for which all buffers are full.
static Timing timingOfReading(Simulation &simulation,
                              const ProcessNetwork &network, int64_t latency) {
  const bool shares = sharesBanks(network);
  const int ahead = aheadOf(network);
  if (isVeryLong(network)) {
    const SimResult &first = simulation.upTo(kShort - 2, ahead);
    if (isEven(first))
      return Timing{first.interval(kWarmUp - 2), latency};
  }
  const SimResult &run = simulation.upTo(kShort - 1, ahead);
  double interval = run.interval(kWarmUp - 1);
  if (!shares && interval > kLong && run.isSteady(kWarmUp - 2))
    return Timing{interval, latency};
  // Refreshes are not aligned to frames: no frame is like another. Those in
  // flight at once share the memory: as many go before and after. How many they
  // are follows from the interval, as in framesInFlight of lib/Simulate.
  constexpr int64_t kMostInFlight = 32;
  auto inFlightAt = [&] {
    int64_t cycles = std::max<int64_t>(1, int64_t(interval));
    return int(std::min(kMostInFlight, (latency + cycles - 1) / cycles));
  };
  // In long frames the refreshes are as many in each: two that differ by a
  // ten-thousandth at most tell the interval, if banks are shared once those in
  // flight are there.
  constexpr double kAlike = 1e-4;
  if (interval > kVeryLong && isEven(run))
    return Timing{run.interval(kWarmUp - 2), latency};
  if (interval > kVeryLong)
    for (int frames = kShort; frames <= inFlightAt() + 12; ++frames) {
      simulation.upTo(frames, shares ? std::max(inFlightAt(), ahead) : 0);
      double last = run.interval(frames - 2), both = run.interval(frames - 3);
      interval = both;
      if ((!shares || frames > inFlightAt() + 3) &&
          std::abs(last - both) < kAlike * both)
        return Timing{both, latency};
    }
  for (int round = 0; round < 2; ++round) {
    int inFlight = inFlightAt();
    int frames = inFlight + (interval < kLong ? 20 : 12);
    simulation.upTo(frames, std::max(inFlight, ahead));
    interval = run.interval(frames - 1 - std::max(8, (frames - 1) / 2));
  }
  return Timing{interval, latency};
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

/// A run of a network that is asked for no spans.
static Simulation withoutSpans(const ProcessNetwork &network) {
  return Simulation(network, {}, Simulation::Memories::IfTheyMatter,
                    Simulation::Spans::Omitted);
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

  Run(flow::DesignOp design, Simulation::Memories memories);
  FailureOr<const SimResult *> upTo(int frames);
  int64_t depthOf(Operand operand);
  bool isLast(const Operand &operand) const;
  void setDepths(bool keepsPace);
  FailureOr<std::optional<Timing>> withPace();
};

BufferSizing::Run::Run(flow::DesignOp design, Simulation::Memories memories)
    : design(design), network(networkOf(design)) {
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

/// The depth that the frames so far need.
int64_t BufferSizing::Run::depthOf(Operand operand) {
  Actor actor = actorOf(operand.op);
  int64_t depth = std::max(actor.model().leastDepth(actor),
                           simulation->occupancy(operand.channel));
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

/// Sets the depths that the frames so far need. A join that `keepsPace` with
/// what follows it lets no more of its last operand come than it takes.
void BufferSizing::Run::setDepths(bool keepsPace) {
  for (Operand &operand : operands) {
    int64_t depth = depthOf(operand);
    if (keepsPace && depth > operand.shallow && isLast(operand))
      depth = operand.shallow;
    operand.op.setDepths(
        SmallVector<int64_t>(operand.op.getNumResults(), depth));
  }
}

static constexpr int kRoughly = 2;

int64_t firingsOf(flow::DesignOp design) {
  const ProcessNetwork network = networkOf(design);
  int64_t firings = 0;
  for (const Process &process : network.processes)
    firings += firingsIn(process);
  return firings / network.frames;
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

LogicalResult BufferSizing::roughly() {
  if (!run->simulation)
    return success();
  const bool paces = isLarge(run->network) && run->network.frames == 1;
  // A frame takes longest to simulate where memories are read.
  if (failed(run->upTo(paces || readsMemory(run->network) ? 1 : kRoughly)))
    return failure();
  run->setDepths(paces);
  return success();
}

FailureOr<std::optional<Timing>> BufferSizing::fully() {
  if (!run->simulation)
    return std::optional<Timing>();
  int frames = kRoughly;
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

/// The timing of a design with units that take several frames at once: the
/// interval is the mean of such a batch, the latency that of a single frame.
static FailureOr<Timing> timingOfBatches(flow::DesignOp design,
                                         const ProcessNetwork &network,
                                         bool waits) {
  const ProcessNetwork alone = networkOf(design, Arrival::Alone);
  Simulation simulation(network, {}, memoriesOf(waits),
                        Simulation::Spans::Omitted);
  int64_t latency = 0;
  llvm::parallelFor(0, 2, [&](size_t i) {
    if (i == 0)
      simulation.upTo(kShort - 1, aheadOf(network));
    else
      latency = latencyAfterFilling(alone, memoriesOf(waits));
  });
  const SimResult &run = simulation.upTo(kShort - 1, aheadOf(network));
  if (run.deadlock)
    return design.emitError("internal: the design deadlocks: ") << run.blocked;
  Timing timing = timingOfReading(simulation, network, run.latency());
  return Timing{timing.intervalCycles / network.frames, latency};
}

FailureOr<Timing> predictTiming(flow::DesignOp design, bool waits) {
  ProcessNetwork network = networkOf(design);
  if (network.frames > 1)
    return timingOfBatches(design, network, waits);
  Simulation simulation(network, {}, memoriesOf(waits),
                        Simulation::Spans::Omitted);
  // Where it waits, the run with full buffers needs nothing of the other one.
  int64_t latency = 0;
  llvm::parallelFor(0, waits ? 2 : 1, [&](size_t i) {
    if (i == 0)
      simulation.upTo(firstFrames(network), aheadOf(network));
    else
      latency = latencyAfterFilling(network, memoriesOf(waits));
  });
  const SimResult &run =
      simulation.upTo(firstFrames(network), aheadOf(network));
  if (run.deadlock)
    return design.emitError("internal: the design deadlocks: ") << run.blocked;
  if (!readsMemory(network))
    return *timingOf(simulation, /*simulates=*/true);
  if (!waits)
    latency = latencyFrom(simulation, run, network);
  return timingOfReading(simulation, network, latency);
}

std::string stateThatBinds(flow::DesignOp design, double intervalCycles) {
  // A loop does not bind if more frames are on their way around it.
  constexpr int kFrames = 20;
  auto intervalWith = [&](StringRef only) {
    ProcessNetwork network = networkOf(design);
    int channel = 0;
    for (auto op : design.getBody().getOps<flow::ActorOp>())
      for (unsigned i = 0; i < op.getNumResults(); ++i, ++channel) {
        TokenQueue &queue = network.channels[channel];
        if (queue.initial == 0 || op.getName() == only)
          continue;
        queue.capacity += kFrames * queue.initial;
        queue.initial *= 1 + kFrames;
      }
    return withoutSpans(network).upTo(kFrames).interval(kFrames / 2);
  };
  SmallVector<StringRef> states; // with tokens from the start
  ProcessNetwork network = networkOf(design);
  int channel = 0;
  for (auto op : design.getBody().getOps<flow::ActorOp>())
    for (unsigned i = 0; i < op.getNumResults(); ++i)
      if (network.channels[channel++].initial > 0)
        states.push_back(op.getName());
  const double almost = intervalCycles * (1 - 1e-6);
  if (states.empty() || intervalWith("") >= almost)
    return "";
  // By itself, or with others.
  StringRef binds = states.front();
  for (StringRef state : llvm::reverse(states))
    if (intervalWith(state) >= almost)
      binds = state;
  for (auto op : design.getBody().getOps<flow::ActorOp>())
    if (op.getName() == binds)
      return llvm::join(op.getNodeNames(), ", ");
  llvm_unreachable("it is one of the design's");
}

FailureOr<std::vector<std::vector<int64_t>>>
followFrame(flow::DesignOp design, ArrayRef<std::vector<int64_t>> offers) {
  ProcessNetwork network = networkOf(design, Arrival::Alone);
  // An actor at the border consists of two processes, or with the sink three.
  llvm::StringMap<int64_t> ports;
  int64_t outputs = 0;
  for (auto op : design.getBody().getOps<flow::ActorOp>())
    if (auto port = op.getPort()) {
      ports[op.getName()] = int64_t(*port);
      outputs += op.getNumResults() == 0;
    }
  std::vector<int64_t> sinks;
  for (Process &process : network.processes) {
    auto port = ports.find(StringRef(process.name).rsplit('.').first);
    if (process.isSource())
      for (int64_t time : offers[port->second])
        process.offers.push_back({time});
    if (process.outputs.empty())
      sinks.push_back(port->second);
  }
  Simulation simulation(network);
  const SimResult &run = simulation.upTo(1, aheadOf(network));
  if (run.deadlock)
    return design.emitError("internal: the design deadlocks: ") << run.blocked;
  std::vector<std::vector<int64_t>> taken(outputs);
  for (auto [port, times] : llvm::zip_equal(sinks, run.taken))
    taken[port] = times;
  return taken;
}

std::vector<ActorSpans> timelineOf(flow::DesignOp design, int frames) {
  std::vector<ActorSpans> actors;
  llvm::StringMap<size_t> index;
  for (auto op : design.getBody().getOps<flow::ActorOp>()) {
    index[op.getName()] = actors.size();
    actors.push_back(
        {op.getName().str(), llvm::join(op.getNodeNames(), ", "), {}});
  }
  ProcessNetwork network = networkOf(design);
  Simulation simulation(network);
  const SimResult &run = simulation.upTo(frames, aheadOf(network));
  // An actor with several processes works while one of them does.
  for (auto [process, spans] : llvm::zip_equal(network.processes, run.spans)) {
    auto it = index.find(llvm::StringRef(process.name).split('.').first);
    if (it == index.end())
      continue;
    auto &all = actors[it->second].frames;
    for (auto [f, span] : llvm::enumerate(spans)) {
      if (f == all.size())
        all.push_back(span);
      all[f] = {std::min(all[f].first, span.first),
                std::max(all[f].second, span.second)};
    }
  }
  return actors;
}
} // namespace rhizome::gen
