// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// When things happen in a design: its network for the event simulator, its
// interval and latency, and how long it loads.
#include "Runs.h"
#include "rhizome/Design/Design.h"
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
  int64_t cycle = -1, free = 0, taken = 0; // of chain and port
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
          taken = std::max(server.next(), taken) + 1;
        turns = true;
      }
    server.begin(cycle + 1 + !others.empty(), turns);
    int64_t last = 0;
    for (int64_t i = 0; i < std::min(left, burst); ++i) {
      last = std::max({server.next(), taken, free});
      taken = last + 1;
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

/// A process that brings a port's beats at these cycles; its channel.
static int addPort(std::string name, ArrayRef<int64_t> offers,
                   ProcessNetwork &network) {
  // A beat is visible in the cycle after that in which it is brought.
  const int beats = network.addChannel(name, int64_t(offers.size()), 1);
  Process port;
  port.name = std::move(name);
  port.phases = {Phase::of(int64_t(offers.size()), {}, {1})};
  port.outputs = {beats};
  for (int64_t time : offers)
    port.offers.push_back({std::max<int64_t>(0, time - 1)});
  network.processes.push_back(std::move(port));
  return beats;
}

ProcessNetwork networkOf(flow::DesignOp design, Arrival arrival,
                         ArrayRef<std::vector<int64_t>> offers) {
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
    if (auto port = op.getPort(); port && inputs.empty() && !offers.empty())
      inputs.push_back(addPort(op.getName().str() + ".port",
                               offers[size_t(*port)], network));
    const size_t before = network.processes.size();
    addProcesses(actorOf(op), network, inputs, outputs);
    if (!network.isAlone)
      for (size_t p = before; p < network.processes.size(); ++p)
        network.processes[p].periods *= network.frames / int64_t(op.getBatch());
  }
  return network;
}

bool readsMemory(const ProcessNetwork &network) {
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

int aheadOf(const ProcessNetwork &network) {
  return sharesBanks(network) ? Simulation::kAhead : 0;
}

Simulation::Memories memoriesOf(bool waits) {
  return waits ? Simulation::Memories::Always
               : Simulation::Memories::IfTheyMatter;
}

int64_t firingsIn(const Process &process) {
  int64_t firings = 0;
  for (const Phase &phase : process.phases)
    firings += phase.repeat * process.periods;
  return firings;
}

double leastInterval(const ProcessNetwork &network) {
  int64_t most = 0;
  for (const Process &process : network.processes)
    if (process.memory < 0)
      most = std::max(most, firingsIn(process));
  return double(most);
}

static constexpr double kLong = 20000, kVeryLong = 5 * kLong;

std::optional<Timing> timingOf(Simulation &simulation, bool simulates) {
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
      int64_t ticks = t.portTicks() + t.turnTicks;
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

int64_t latencyFrom(const Simulation &simulation, const SimResult &run,
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

/// Is the last distance between the frames of a run alike the mean of the last
/// two, to a hundredth? Then it tells the interval: of ResNet-18 on xczu3eg,
/// whose distances oscillate for ever, to 0.17 %.
static bool isNearlyEven(const SimResult &run) {
  constexpr double kAlike = 0.01;
  const double last = run.interval(run.frames - 2),
               both = run.interval(run.frames - 3);
  return std::abs(last - both) < kAlike * both;
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

Timing timingOfReading(Simulation &simulation, const ProcessNetwork &network,
                       int64_t latency) {
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
  if (interval > kHuge && isNearlyEven(run))
    return Timing{interval, latency};
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

Simulation withoutSpans(const ProcessNetwork &network) {
  return Simulation(network, {}, Simulation::Memories::IfTheyMatter,
                    Simulation::Spans::Omitted);
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
  ProcessNetwork network = networkOf(design, Arrival::Alone, offers);
  llvm::StringMap<int64_t> ports; // the outputs
  for (auto op : design.getBody().getOps<flow::ActorOp>())
    if (auto port = op.getPort(); port && op.getNumResults() == 0)
      ports[op.getName()] = int64_t(*port);
  // An actor at the border consists of several processes.
  std::vector<int64_t> sinks;
  for (Process &process : network.processes)
    if (process.outputs.empty())
      sinks.push_back(ports.at(StringRef(process.name).rsplit('.').first));
  Simulation simulation(network);
  const SimResult &run = simulation.upTo(1, aheadOf(network));
  if (run.deadlock)
    return design.emitError("internal: the design deadlocks: ") << run.blocked;
  std::vector<std::vector<int64_t>> taken(ports.size());
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
