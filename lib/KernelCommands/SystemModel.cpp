// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The cycles between groups of elements where a memory limits them: movers and
// banks cycle by cycle, with the rules by which simulated memories answer. Of a
// unit only reading, computing and writing are known, and their slots.
#include "HardwareParts.h"
#include "rhz_memory.h"
#include "llvm/Support/MathExtras.h"
#include <deque>
#include <map>
#include <memory>

using namespace rhizome;
using namespace rhizome::kernelcommands;
using namespace rhizome::gen;

namespace {
/// Elements between neighboring stages.
constexpr int64_t kSlots = 2;
/// Beats that a port takes before they are written, and those in the latency.
constexpr int64_t kPlaces = 64;

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

struct Port {
  const PlannedMover *mover;
  Bank *bank;
  int64_t streamBeats; ///< of a group
  int64_t asked = 0;   ///< beats at the memory, in bursts that were begun
  int64_t moved = 0;   ///< beats of the stream
  int64_t passed = 0;  ///< beats at the memory that the stream has had
  int64_t room = 0, number = 0; ///< places of the buffer; which port it is
  std::deque<int64_t> coming = {}, queued = {};
  int64_t sending = 0;              ///< beats of begun bursts that are not sent
  int64_t left = 0;                 ///< of the burst that is sent
  std::vector<int64_t> firsts = {}; ///< the cycle of each group's first beat

  int64_t beats() const { return mover->beats(); }
  int64_t groups() const { return moved / streamBeats; }
  int64_t nextBurst() const {
    const int64_t in = asked % beats();
    return std::min(mover->burst, beats() - in);
  }
  int64_t address() const {
    // Groups begin a burst apart, far from other ports'.
    const int64_t place = number << 40;
    const int64_t step =
        int64_t(llvm::divideCeil(beats(), mover->burst)) * mover->burst;
    return place + asked / beats() * step + asked % beats();
  }
  /// Beats at the memory for the stream's next one.
  int64_t needed() const {
    const int64_t in = moved % streamBeats + 1;
    return groups() * beats() +
           int64_t(llvm::divideCeil(in * beats(), streamBeats));
  }
};

struct Unit {
  std::vector<Port> reads, writes;
  std::vector<int64_t> computed; ///< when each group's results are there
};

class Model {
public:
  Model(const PlannedKernel &kernel, const PlannedSystem &system,
        const std::vector<int64_t> &streamBeats,
        const rhz::MemoryTiming &timing);
  double interval();

private:
  const PlannedKernel &kernel;
  rhz::MemoryTiming timing;
  int64_t groups; ///< the last half is measured
  std::map<int64_t, std::unique_ptr<Bank>> banks;
  std::vector<Unit> units;
  int64_t now = 0;

  void read(Unit &unit, Port &port);
  void write(Unit &unit, Port &port);
  void compute(Unit &unit);
};

Model::Model(const PlannedKernel &kernel, const PlannedSystem &system,
             const std::vector<int64_t> &streamBeats,
             const rhz::MemoryTiming &timing)
    : kernel(kernel), timing(timing), groups(system.settledGroups()) {
  int64_t number = 0;
  for (int64_t u = 0; u < system.units; ++u) {
    Unit &unit = units.emplace_back();
    for (size_t k = 0; k < system.ports.size(); ++k) {
      const PlannedMover &mover = system.ports[k];
      if (mover.isOnce)
        continue;
      auto &bank = banks[mover.banks[size_t(u)]];
      if (!bank)
        bank = std::make_unique<Bank>(Bank{rhz::MemoryServer(timing)});
      Port port{&mover, bank.get(), streamBeats[k]};
      port.room = mover.depth;
      port.number = number++;
      (mover.isWrite ? unit.writes : unit.reads).push_back(std::move(port));
    }
  }
}

void Model::read(Unit &unit, Port &port) {
  while (!port.coming.empty() && port.coming.front() <= now) {
    port.coming.pop_front();
    ++port.passed;
  }
  const int64_t burst = port.nextBurst();
  if (port.room >= burst && port.asked < groups * port.beats()) {
    port.room -= burst;
    port.bank->begin(now, port.address(), burst, /*writes=*/false);
    for (int64_t i = 0; i < burst; ++i)
      port.coming.push_back(port.bank->server.next());
    port.asked += burst;
  }
  // The stream takes a beat if its stage may.
  const int64_t group = port.groups();
  const auto done = int64_t(unit.computed.size());
  bool may = group < groups;
  if (kernel.isDataflow)
    may = may &&
          (group < done + kSlots &&
           (group < kSlots || unit.computed[size_t(group - kSlots)] <= now));
  else
    for (const Port &writer : unit.writes)
      may = may && writer.groups() >= group;
  if (may && port.needed() <= port.passed) {
    const int64_t had =
        port.moved % port.streamBeats == 0
            ? group * port.beats()
            : group * port.beats() +
                  int64_t(llvm::divideCeil(port.moved % port.streamBeats *
                                               port.beats(),
                                           port.streamBeats));
    port.room += port.needed() - had;
    ++port.moved;
  }
}

void Model::compute(Unit &unit) {
  const auto group = int64_t(unit.computed.size());
  if (group == groups)
    return;
  for (const Port &port : unit.reads)
    if (port.groups() <= group)
      return;
  for (const Port &port : unit.writes)
    if (group - port.groups() >= kSlots)
      return;
  const int64_t last = group ? unit.computed.back() : 0;
  unit.computed.push_back(std::max(last, now) + kernel.computeCycles);
}

void Model::write(Unit &unit, Port &port) {
  while (!port.queued.empty() && port.queued.front() <= now)
    port.queued.pop_front();
  // A stream's beat into the buffer.
  const int64_t group = port.groups();
  if (group < int64_t(unit.computed.size()) &&
      unit.computed[size_t(group)] <= now) {
    const int64_t adds = port.needed() - port.passed;
    if (port.room >= adds) {
      port.room -= adds;
      port.passed += adds;
      ++port.moved;
    }
  }
  const int64_t burst = port.nextBurst();
  if (port.asked < groups * port.beats() && port.passed - port.asked >= burst) {
    if (port.asked % port.beats() == 0)
      port.firsts.push_back(now);
    port.asked += burst;
    port.sending += burst;
  }
  const int64_t places =
      kPlaces + timing.latency * rhz::kTicks / timing.beatTicks;
  if (port.sending == 0 || int64_t(port.queued.size()) >= places)
    return;
  // Bursts are those of the requests; beats of one go to the bank together.
  const int64_t sent = port.asked - port.sending;
  const int64_t in = sent % port.beats();
  const int64_t size =
      std::min(port.mover->burst,
               port.beats() - in / port.mover->burst * port.mover->burst);
  --port.sending;
  ++port.room;
  if (++port.left < size) {
    port.queued.push_back(INT64_MAX);
    return;
  }
  port.left = 0;
  for (int64_t i = 1; i < size; ++i)
    port.queued.pop_back();
  const int64_t step =
      int64_t(llvm::divideCeil(port.beats(), port.mover->burst)) *
      port.mover->burst;
  port.bank->begin(
      now, (port.number << 40) + sent / port.beats() * step + in + 1 - size,
      size, /*writes=*/true);
  for (int64_t i = 0; i < size; ++i)
    port.queued.push_back(port.bank->server.next());
}

double Model::interval() {
  auto isDone = [&] {
    for (const Unit &unit : units)
      for (const Port &port : unit.writes)
        if (int64_t(port.firsts.size()) < groups)
          return false;
    return true;
  };
  for (; !isDone(); ++now)
    for (Unit &unit : units) {
      for (Port &port : unit.reads)
        read(unit, port);
      compute(unit);
      for (Port &port : unit.writes)
        write(unit, port);
    }
  double most = 0;
  for (const Unit &unit : units)
    for (const Port &port : unit.writes)
      most = std::max(most, double(port.firsts[size_t(groups - 1)] -
                                   port.firsts[size_t(groups / 2 - 1)]) /
                                double(groups - groups / 2));
  return most;
}
} // namespace

double kernelcommands::memoryBoundCycles(
    const PlannedKernel &kernel, const PlannedSystem &system,
    const std::vector<int64_t> &streamBeats, const rhz::MemoryTiming &timing) {
  return Model(kernel, system, streamBeats, timing).interval();
}
