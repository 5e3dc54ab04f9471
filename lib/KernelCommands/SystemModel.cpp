// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A kernel's system cycle by cycle: the registers of movers, their buffers and
// gearboxes (rtl/src/rhz_move_in.sv, rhz_move_out.sv), the unit's stages, and
// banks that answer by the rules of simulated memories (data/sim). Cycles in
// which nothing can happen are skipped, and the work of a run is bounded.
#include "SystemModel.h"
#include "rhizome/Package/SystemGroups.h"
#include "llvm/Support/MathExtras.h"
#include <array>
#include <deque>
#include <map>
#include <memory>

using namespace rhizome;
using namespace rhizome::kernelcommands;
using namespace rhizome::gen;

namespace {
constexpr int64_t kNever = INT64_MAX;

/// rhz_outbuf: what is pushed is there a cycle later, in a deep one two.
class Outbuf {
public:
  explicit Outbuf(int64_t depth) : isDeep(depth > 64), credits(depth) {}
  bool hasRoom() const { return credits > 0; }
  bool isValid() const { return isDeep ? isOut : fill > 0; }
  /// Takes a place, gets what has one, and gives. True if anything changes.
  bool step(bool takes, bool pushes, bool pops) {
    const bool fetches = isDeep ? fill > 0 && (!isOut || pops) : pops;
    credits += int64_t(pops) - int64_t(takes);
    fill += int64_t(pushes) - int64_t(fetches);
    if (isDeep)
      isOut = fetches || (isOut && !pops);
    return takes || pushes || pops || fetches;
  }

private:
  bool isDeep, isOut = false;
  int64_t credits, fill = 0;
};

/// Most of every beat, `last` of the last one of every `beats`.
struct Side {
  int64_t most = 1, last = 1, beats = 1;
  static Side of(int64_t from, int64_t to, int64_t ratio) {
    const int64_t most = std::min(from, ratio), tail = from % most;
    return {most, tail ? tail : most, tail ? to : 1};
  }
};

/// Counts the beats of a side.
struct Place {
  Side side;
  int64_t beat = 0;
  bool isLast() const { return beat == side.beats - 1; }
  int64_t size() const { return isLast() ? side.last : side.most; }
  void next() { beat = isLast() ? 0 : beat + 1; }
};

/// Between beats of the memory and those of a stream: a wire, rhz_gearbox_pick,
/// _collect or _ring.
class Gear {
public:
  explicit Gear(const Mover &m);
  bool takes(bool isReady) const {
    switch (way) {
    case Way::Wire:
      return isReady;
    case Way::Pick:
      return out.hasRoom() && at == 0;
    case Way::Collect:
      return out.hasRoom() || at + 1 < in.size();
    case Way::Ring:
      return held + in.size() <= store;
    }
    return false;
  }
  bool gives(bool isOffered) const {
    return way == Way::Wire ? isOffered : out.isValid();
  }
  bool step(bool isTaken, bool isGiven);

private:
  enum class Way { Wire, Pick, Collect, Ring } way = Way::Wire;
  Place in, to;
  Outbuf out{4};
  int64_t at = 0; ///< words of the beat that were picked or collected
  int64_t held = 0, there = 0, store = 0;
  bool isLateIn = false, isLateOut = false;
  bool pushes = false, emitted = false; ///< into the buffer in this cycle
  int64_t coming = 0;
};

Gear::Gear(const Mover &m) {
  const int64_t bus = m.busWords(), wide = m.wide;
  const int64_t from = m.isWrite ? m.streamBeats() : m.beats();
  const int64_t into = m.isWrite ? m.beats() : m.streamBeats();
  const int64_t lanesIn = m.isWrite ? wide : bus;
  const int64_t lanesOut = m.isWrite ? bus : wide;
  if (lanesIn == lanesOut)
    return;
  if (lanesIn % lanesOut == 0) {
    way = Way::Pick;
    in.side = Side::of(into, from, lanesIn / lanesOut);
  } else if (lanesOut % lanesIn == 0) {
    way = Way::Collect;
    in.side = Side::of(from, into, lanesOut / lanesIn);
  } else {
    way = Way::Ring;
    const RingTiming ring =
        ringBetween(m.wordBits, lanesIn, lanesOut, m.row, m.row);
    in.side = {ring.in.most, ring.in.last, ring.in.beats};
    to.side = {ring.out.most, ring.out.last, ring.out.beats};
    store = ring.store;
    isLateIn = ring.in.isLate;
    isLateOut = ring.out.isLate;
  }
}

bool Gear::step(bool isTaken, bool isGiven) {
  if (way == Way::Wire)
    return false;
  bool takes = false, next = false;
  const int64_t arrived = coming; // in the ring, to be seen from the next cycle
  if (way == Way::Pick) {
    // The first word comes with its beat, the others from registers.
    takes = next = isTaken || (at > 0 && out.hasRoom());
    if (takes && ++at == in.size()) {
      at = 0;
      in.next();
    }
  } else if (way == Way::Collect) {
    takes = next = isTaken && at + 1 == in.size();
    at = takes ? 0 : at + int64_t(isTaken);
    if (takes)
      in.next();
  } else {
    const bool emits = out.hasRoom() && (isLateIn ? there : held) >= to.size();
    const int64_t came = isTaken ? in.size() : 0;
    const int64_t goes = emits ? to.size() : 0;
    held += came - goes;
    there += arrived - goes;
    coming = came;
    if (isTaken)
      in.next();
    if (emits)
      to.next();
    takes = emits;
    next = isLateOut ? emitted : emits;
    emitted = emits;
  }
  const bool changes = out.step(takes, pushes, isGiven) || isTaken || next ||
                       emitted || arrived > 0;
  pushes = next;
  return changes;
}

/// A bank, as data/sim/rhz_bench.h has it.
struct Bank {
  rhz::MemoryServer server;
  int64_t end = -1;
  bool wrote = false;
  void begin(int64_t now, int64_t address, int64_t beats, bool writes) {
    server.begin(now, address != end || writes != wrote);
    end = address + beats;
    wrote = writes;
  }
};

/// A mover and the port of the memory: rhz_mem_rounds, and rhz_mem_source or
/// rhz_mem_writer.
struct Port {
  const Mover *mover;
  Bank *bank;
  Gear gear;
  Outbuf buffer;
  int64_t base;           ///< far from other ports'
  int64_t bursts, rounds; ///< of a round; in all
  int64_t asked = 0;      ///< bursts
  int64_t request = -1;   ///< that stands at the port
  int64_t room, flight = 0;
  bool pushes = false;            ///< a read beat in its register
  std::deque<int64_t> beats = {}; ///< read: when each comes
  // Written:
  int64_t owed = 0, sent = 0; ///< bursts that have not begun; beats of a round
  bool sends = false;
  int64_t data = 0; ///< beats that wait for their burst or it for them
  std::deque<int64_t> accepted = {}, written = {}, answers = {};
  std::vector<int64_t> firsts = {}; ///< the cycle of each round's first beat
  // Of this cycle:
  bool streams = false, moves = false;

  Port(const Mover &m, Bank &bank, int64_t number, int64_t groups)
      : mover(&m), bank(&bank), gear(m), buffer(m.depth), base(number << 40),
        bursts(int64_t(llvm::divideCeil(m.beats(), m.burst))),
        rounds(m.isOnce ? 1 : groups), room(m.isWrite ? 0 : m.depth) {}
  int64_t sizeOf(int64_t burst) const {
    const int64_t in = burst % bursts;
    return std::min(mover->burst, mover->beats() - in * mover->burst);
  }
  bool mayAsk() const { return asked < bursts * rounds; }
  bool isBusy() const { return mayAsk() || flight > 0; }
  /// Makes the next request if it may. True if it does.
  bool ask(bool may) {
    request = may && mayAsk() ? asked++ : -1;
    return request >= 0;
  }
};

/// A part of a stage: what it reads or writes in steps, of which some make a
/// beat, or cycles that it computes.
struct Phase {
  enum class Kind { Read, Compute, Write } kind = Kind::Compute;
  size_t stream = 0;
  int64_t steps = 0, parts = 1;
};

struct Stage {
  std::vector<Phase> phases;
  size_t phase = 0;
  int64_t done = 0;      ///< steps
  int64_t end = kNever;  ///< of what it computes
  bool isIssued = false; ///< all steps of what it writes
  bool hasLast = false;  ///< the last beat is at the border
};

/// A unit with its movers.
struct Unit {
  std::vector<Port> ports; ///< in the order of the movers
  std::vector<Stage> stages;
  std::vector<int64_t> tokens; ///< of each wait
  std::vector<bool> valid;     ///< of each stream that is written
};

class Model {
public:
  Model(const loops::KernelUnit &unit, llvm::ArrayRef<Mover> movers,
        const PlannedSystem &system, const rhz::MemoryTiming &timing,
        int64_t groups);
  /// Runs until all is written; false if that takes too much work.
  bool run();
  double interval() const;
  /// From the start to the interrupt.
  int64_t latency() const { return finished + kFinish - started; }

private:
  /// From the host's write to the first request's register, and from the last
  /// answer to the interrupt (rtl/src/rhz_registers.sv).
  static constexpr int64_t kStart = 22, kFinish = 2;
  /// Places for written beats, and those that come in the bank's latency.
  static constexpr int64_t kPlaces = 64;

  std::vector<loops::UnitWait> waits;
  std::vector<bool> isOnce; ///< by stage
  rhz::MemoryTiming timing;
  size_t inputs;
  std::map<int64_t, std::unique_ptr<Bank>> banks;
  std::vector<Unit> units;
  int64_t now = 0, started = 0, finished = 0;

  Stage stageOf(const loops::KernelUnit &unit,
                const loops::UnitStage &stage) const;
  bool mayRun(const Unit &unit, size_t stage) const;
  bool step(Unit &unit);
  bool stepStages(Unit &unit);
  bool stepRead(Port &port);
  bool stepWrite(Port &port);
  int64_t nextEvent() const;
};

/// True if units have no banks in common, after what is read once or with it.
bool areApart(const PlannedSystem &system, bool withOnce) {
  std::map<int64_t, size_t> of;
  for (const PlannedMover &port : system.ports)
    for (auto [u, bank] : llvm::enumerate(port.banks))
      if ((!port.isOnce || withOnce) &&
          of.try_emplace(bank, u).first->second != u)
        return false;
  return true;
}

Model::Model(const loops::KernelUnit &unit, llvm::ArrayRef<Mover> movers,
             const PlannedSystem &system, const rhz::MemoryTiming &timing,
             int64_t groups)
    : waits(loops::waitsOf(unit)), timing(timing),
      inputs(unit.inStreams.size()) {
  for (const loops::UnitStage &stage : unit.stages)
    isOnce.push_back(stage.isOnce);
  // As after a refresh.
  started = timing.refreshEvery + timing.refresh;
  now = started + kStart;
  int64_t number = 0;
  const int64_t count =
      areApart(system, /*withOnce=*/groups == 1) ? 1 : system.units;
  for (int64_t u = 0; u < count; ++u) {
    Unit &one = units.emplace_back();
    for (const auto &[m, planned] : llvm::zip_equal(movers, system.ports)) {
      auto &bank = banks[planned.banks[size_t(u)]];
      if (!bank)
        bank = std::make_unique<Bank>(Bank{rhz::MemoryServer(timing)});
      one.ports.emplace_back(m, *bank, number++, groups);
    }
    for (const loops::UnitStage &stage : unit.stages)
      one.stages.push_back(stageOf(unit, stage));
    one.tokens.resize(waits.size());
    one.valid.resize(unit.outStreams.size());
  }
}

Stage Model::stageOf(const loops::KernelUnit &unit,
                     const loops::UnitStage &plan) const {
  Stage stage;
  auto add = [&](Phase::Kind kind, llvm::ArrayRef<mlir::Value> tensors,
                 const std::vector<loops::UnitStream> &streams) {
    for (mlir::Value v : tensors) {
      Phase phase{kind, 0, unit.stepsOf(v), unit.words / unit.widthOf(v)};
      for (auto [k, stream] : llvm::enumerate(streams))
        if (llvm::is_contained(stream.tensors, v))
          phase.stream = k;
      stage.phases.push_back(phase);
    }
  };
  add(Phase::Kind::Read, plan.reads, unit.inStreams);
  for (const std::vector<size_t> &step : plan.steps) {
    int64_t longest = 0;
    for (size_t n : step)
      longest = std::max(longest, unit.nests[n].cycles());
    stage.phases.push_back({Phase::Kind::Compute, 0, longest, 1});
  }
  add(Phase::Kind::Write, plan.writes, unit.outStreams);
  return stage;
}

bool Model::mayRun(const Unit &unit, size_t stage) const {
  for (auto [wait, count] : llvm::zip_equal(waits, unit.tokens))
    if ((wait.to == stage && count == 0) ||
        (wait.from == stage && count == wait.slots))
      return false;
  return true;
}

/// What the stages do in a cycle; `streams` of the ports says which beats pass.
bool Model::stepStages(Unit &unit) {
  bool changes = false;
  // All look at what was before this cycle.
  std::vector<bool> ends(unit.stages.size()), may;
  for (size_t s = 0; s < unit.stages.size(); ++s)
    may.push_back(unit.stages[s].phase > 0 || mayRun(unit, s));
  std::vector<bool> offered(inputs), ready(unit.valid.size());
  for (auto [k, port] : llvm::enumerate(unit.ports)) {
    port.streams = port.moves = false;
    if (k < inputs)
      offered[k] = port.gear.gives(port.buffer.isValid());
    else
      ready[k - inputs] = port.gear.takes(port.buffer.hasRoom());
  }
  std::vector<bool> advances, takes(unit.valid.size()), gives = unit.valid;
  for (size_t k = 0; k < unit.valid.size(); ++k) {
    advances.push_back(!unit.valid[k] || ready[k]);
    unit.ports[inputs + k].streams = unit.valid[k] && ready[k];
  }
  for (auto [s, stage] : llvm::enumerate(unit.stages)) {
    const Phase &phase = stage.phases[stage.phase];
    bool done = false;
    const size_t k = phase.stream;
    auto isPartEnd = [&] {
      return stage.done + 1 == phase.steps ||
             (stage.done + 1) % phase.parts == 0;
    };
    switch (phase.kind) {
    case Phase::Kind::Read:
      if (!may[s] || !offered[k])
        break;
      unit.ports[k].streams = isPartEnd();
      changes = true;
      done = ++stage.done == phase.steps;
      break;
    case Phase::Kind::Compute:
      if (!may[s])
        break;
      if (stage.end == kNever) {
        stage.end = now + phase.steps - 1;
        changes = true;
      }
      done = stage.end <= now;
      break;
    case Phase::Kind::Write:
      done = unit.valid[k] && ready[k] && stage.hasLast;
      if (advances[k])
        stage.hasLast = false;
      if (!may[s] || stage.isIssued || !advances[k])
        break;
      takes[k] = isPartEnd();
      changes = true;
      if (++stage.done == phase.steps)
        stage.isIssued = stage.hasLast = true;
      break;
    }
    if (!done)
      continue;
    changes = true;
    stage.done = 0;
    stage.end = kNever;
    stage.isIssued = stage.hasLast = false;
    stage.phase = (stage.phase + 1) % stage.phases.size();
    ends[s] = stage.phase == 0;
  }
  for (size_t k = 0; k < unit.valid.size(); ++k)
    if (advances[k])
      unit.valid[k] = takes[k];
  for (auto [wait, count] : llvm::zip_equal(waits, unit.tokens))
    count +=
        int64_t(ends[wait.from]) - int64_t(ends[wait.to] && !isOnce[wait.from]);
  return changes;
}

bool Model::stepRead(Port &port) {
  // The memory's port: a beat that it offers, a request that it accepts.
  const bool comes = !port.beats.empty() && port.beats.front() <= now;
  if (comes)
    port.beats.pop_front();
  if (port.request >= 0) {
    const int64_t size = port.sizeOf(port.request);
    port.bank->begin(now, port.base + port.request * port.mover->burst, size,
                     /*writes=*/false);
    for (int64_t i = 0; i < size; ++i)
      port.beats.push_back(port.bank->server.next());
  }
  const bool wasAsked = port.request >= 0;
  const bool isOffered = port.buffer.isValid();
  const bool taken = isOffered && port.gear.takes(port.streams);
  bool changes = port.ask(port.room >= port.sizeOf(port.asked));
  if (changes)
    port.room -= port.sizeOf(port.request);
  port.room += taken;
  changes |= port.gear.step(taken, port.streams);
  changes |= port.buffer.step(port.pushes, port.pushes, taken);
  changes |= comes || wasAsked || port.pushes;
  port.pushes = comes;
  return changes;
}

bool Model::stepWrite(Port &port) {
  // What the memory drives.
  while (!port.written.empty() && port.written.front() <= now)
    port.written.pop_front();
  int64_t places = kPlaces + timing.latency * rhz::kTicks / timing.portTicks();
  if (!port.accepted.empty())
    places = std::max(places, port.sizeOf(port.accepted.front()));
  const bool isReady = int64_t(port.written.size()) + port.data < places;
  const bool isAnswered = !port.answers.empty() && port.answers.front() <= now;
  // The mover.
  const bool offers = port.gear.gives(port.streams);
  const bool takes = offers && port.buffer.hasRoom();
  const bool isThere = port.buffer.isValid();
  const bool passes = port.sends && isThere && isReady;
  const int64_t wasAsked = port.request;
  const bool asks = port.ask(port.room >= port.sizeOf(port.asked) &&
                             port.flight < port.mover->inFlight);
  if (asks)
    port.room -= port.sizeOf(port.request);
  port.room += takes;
  port.flight += int64_t(asks) - int64_t(isAnswered);
  if (passes) {
    if (port.sent == 0)
      port.firsts.push_back(now);
    ++port.sent;
  }
  const bool isAtEnd = passes && (port.sent % port.mover->burst == 0 ||
                                  port.sent == port.mover->beats());
  if (port.sent == port.mover->beats())
    port.sent = 0;
  const bool starts = port.owed > 0 && (!port.sends || isAtEnd);
  bool changes = asks || isAnswered || passes || starts || wasAsked >= 0;
  port.owed += int64_t(asks) - int64_t(starts);
  port.sends = starts || (port.sends && !isAtEnd);
  changes |= port.gear.step(port.streams, takes);
  changes |= port.buffer.step(takes, takes, passes);
  // What the memory takes.
  if (wasAsked >= 0)
    port.accepted.push_back(wasAsked);
  port.data += passes;
  if (isAnswered)
    port.answers.pop_front();
  while (!port.accepted.empty() &&
         port.data >= port.sizeOf(port.accepted.front())) {
    const int64_t burst = port.accepted.front(), size = port.sizeOf(burst);
    port.accepted.pop_front();
    port.bank->begin(now, port.base + burst * port.mover->burst, size,
                     /*writes=*/true);
    for (int64_t i = 0; i < size; ++i)
      port.written.push_back(port.bank->server.next());
    port.answers.push_back(port.written.back() + 1);
    port.data -= size;
    changes = true;
  }
  return changes;
}

bool Model::step(Unit &unit) {
  bool changes = stepStages(unit);
  // Of a bench that reads are sampled first.
  for (Port &port : unit.ports)
    if (!port.mover->isWrite)
      changes |= stepRead(port);
  for (Port &port : unit.ports)
    if (port.mover->isWrite)
      changes |= stepWrite(port);
  return changes;
}

/// The next cycle in which something can happen by itself.
int64_t Model::nextEvent() const {
  int64_t next = kNever;
  auto at = [&](int64_t cycle) {
    if (cycle > now)
      next = std::min(next, cycle);
  };
  for (const Unit &unit : units) {
    for (const Stage &stage : unit.stages)
      if (stage.end != kNever)
        at(stage.end);
    for (const Port &port : unit.ports) {
      for (const std::deque<int64_t> *queue :
           {&port.beats, &port.written, &port.answers})
        if (!queue->empty())
          at(queue->front());
    }
  }
  return next;
}

bool Model::run() {
  constexpr int64_t kMostSteps = 3'000'000; ///< of ports
  int64_t steps = 0;
  for (;;) {
    bool changes = false, isBusy = false;
    for (Unit &unit : units) {
      for (const Port &port : unit.ports)
        isBusy |= port.mover->isWrite && port.isBusy();
      steps += int64_t(unit.ports.size());
    }
    if (!isBusy)
      break;
    if (steps > kMostSteps)
      return false;
    for (Unit &unit : units)
      changes |= step(unit);
    const int64_t next = changes ? now + 1 : nextEvent();
    // A system that waits for ever is none.
    if (next == kNever)
      return false;
    now = next;
  }
  finished = now;
  return true;
}

double Model::interval() const {
  // As a bench measures it: the mean distance in the second half.
  constexpr int64_t kDistances = 8;
  double most = 0;
  for (const Unit &unit : units)
    for (const Port &port : unit.ports) {
      if (!port.mover->isWrite)
        continue;
      const int64_t distances = int64_t(port.firsts.size()) - 1;
      const int64_t used = std::max(kDistances, distances / 2);
      if (distances < used)
        return 0;
      most = std::max(most, double(port.firsts[size_t(distances)] -
                                   port.firsts[size_t(distances - used)]) /
                                double(used));
    }
  return most;
}
} // namespace

std::optional<SystemTiming> kernelcommands::timeSystem(
    const loops::KernelUnit &unit, llvm::ArrayRef<Mover> movers,
    const PlannedSystem &system, const rhz::MemoryTiming &timing) {
  SystemTiming out;
  // A run that takes too much work has measured some groups.
  Model many(unit, movers, system, timing,
             measuredGroups(system, unit.cycles(), timing.refreshEvery));
  many.run();
  out.interval = many.interval();
  Model one(unit, movers, system, timing, 1);
  if (out.interval == 0 || !one.run())
    return std::nullopt;
  out.latency = one.latency();
  return out;
}
