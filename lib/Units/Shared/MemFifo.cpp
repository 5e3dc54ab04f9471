// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// FIFOs in an off-chip memory: what packs words into beats, one process that
// writes bursts and one that reads them, and what takes the beats apart.
#include "Models.h"
#include "rhizome/Units/Shared.h"

namespace rhizome::gen {
namespace {
using namespace cost;

class MemFifoUnit final : public UnitModel {
public:
  MemFifoUnit() : UnitModel(unit::MemFifo::kKind) {}

  int64_t latency(const unit::Instance &a) const override {
    return 1 + bufferLatency(a);
  }
  /// A word a cycle.
  int64_t leastDepth(const unit::Instance &) const override { return 4; }

  void processes(const Actor &actor, ProcessNetwork &network,
                 const std::vector<int> &inputs,
                 const std::vector<int> &outputs) const override {
    auto p = actor.as<unit::MemFifo>();
    const int64_t parts = ceilDiv(p.Width, p.DataWidth),
                  beats = p.Words / p.Per * parts,
                  stages = 1 + (p.Buffer > 64 ? 2 : 1);
    // From the grant of a burst to its answer its data pass, and the answer is
    // counted before the burst is asked for; places in the buffers are free
    // again a few cycles after a beat has left.
    constexpr int64_t kAnswered = 4, kFreed = 3;
    const int packed =
        network.addChannel(actor.name + ".packed", p.Buffer, stages);
    network.channels.back().returns = kFreed;
    const int ring = network.addChannel(actor.name + ".ring", p.Slots * p.Burst,
                                        std::min(p.Burst, beats) + kAnswered);
    const int read = network.addChannel(actor.name + ".read", p.Buffer, stages);
    auto add = [&](const char *role, std::vector<Phase> phases, int64_t periods,
                   int from, int to) -> Process & {
      network.processes.push_back(
          {actor.name + role, std::move(phases), periods, {from}, {to}});
      return network.processes.back();
    };
    std::vector<Phase> packs, unpacks;
    if (p.Per > 1)
      packs.push_back(firings(p.Per - 1, /*produces=*/false));
    packs.push_back(firings(1));
    if (parts > 1)
      packs.push_back({parts - 1, {0}, {0}, {1}});
    if (parts > 1)
      unpacks.push_back(firings(parts - 1, /*produces=*/false));
    unpacks.push_back(firings(1));
    if (p.Per > 1)
      unpacks.push_back({p.Per - 1, {0}, {0}, {1}});
    std::vector<Phase> bursts;
    if (beats >= p.Burst)
      bursts.push_back(Phase::of(beats / p.Burst, {p.Burst}, {p.Burst}));
    if (beats % p.Burst)
      bursts.push_back(Phase::of(1, {beats % p.Burst}, {beats % p.Burst}));
    MemoryPlace place;
    if (!actor.memories.empty())
      place = actor.memories[0];
    const int bank = network.memory(place.memory, place.bank);
    network.memories[size_t(bank)].inFlight +=
        p.InFlight +
        actor.kind().memoryPorts()[0]->traffic.inFlight(actor.params.data());
    add(".pack", packs, p.Words / p.Per, inputs[0], packed);
    add(".write", bursts, 1, packed, ring).memory = bank;
    add(".read", bursts, 1, ring, read).memory = bank;
    add("", unpacks, p.Words / p.Per, read, outputs[0]);
  }

  void structure(Builder &b) const override {
    auto p = b.instance().as<unit::MemFifo>();
    const int64_t parts = ceilDiv(p.Width, p.DataWidth),
                  elem = parts > 1 ? p.DataWidth : p.Width, beat = p.Per * elem,
                  beats = p.Words / p.Per * parts,
                  bursts = ceilDiv(beats, p.Burst);
    const bool isUneven = beats % p.Burst != 0;
    // What packs words, with the buffer of what is to be written, and what
    // takes beats apart.
    auto gearbox = [&](int64_t in, int64_t out, int64_t depth) {
      unit::Instance inner(*unit::find(unit::Gearbox::kKind));
      inner.params = {{"Elem", elem},
                      {"LanesIn", in},
                      {"LanesOut", out},
                      {"RowIn", parts * p.Per},
                      {"RowOut", parts * p.Per},
                      {"Depth", depth},
                      {"frameElements", parts * p.Words}};
      Builder own = b.inside(inner);
      findUnit(unit::Gearbox::kKind)->structure(own);
      b.add(own.structure);
    };
    gearbox(parts, p.Per, p.Buffer);
    gearbox(p.Per, parts, p.Depth);
    b.outbuf(p.Buffer, beat, {.takesCredits = false});
    b.ff(double(1 + beat)); // a beat that has arrived
    if (p.Per > 1)
      b.counter(p.Per);
    // The requests of both sides.
    const int64_t pages =
        ceilDiv(p.Slots * p.Burst * (p.DataWidth / 8), unit::kPageBytes);
    const int64_t address =
        12 + clog2(p.Page + pages) - clog2(p.Burst * (p.DataWidth / 8));
    for (int side = 0; side < 2; ++side) {
      b.counter(bursts);
      b.counter(p.Slots);
      b.ff(double(2 * address + 1 + isUneven));
      b.adder(1, address);
    }
    // Beats and places that are counted, with signs, and what may be asked for.
    const int64_t fill = clog2(p.Buffer + parts + 1), slot = clog2(p.Slots + 1),
                  flight = clog2(p.InFlight + 1), room = clog2(p.Buffer + 1),
                  place = clog2(p.Burst);
    b.ff(double(fill + 2 * slot + 2 * flight + room + 9));
    b.adder(2, fill + 1);
    b.adder(2, room + 1);
    b.adder(2, slot + 1);
    b.adder(2, flight);
    // The data of bursts.
    b.ff(double(1 + place));
    b.counter(bursts);
    b.compare(1, place);
    b.term(Term::Fixed, 1);
  }
};
} // namespace

std::unique_ptr<UnitModel> makeMemFifoUnit() {
  return std::make_unique<MemFifoUnit>();
}

Actor makeMemFifo(const MemoryFifo &fifo, int64_t width, int64_t words,
                  const MemoryPlace &place) {
  Actor actor(unit::MemFifo::kKind, "fifo",
              {{"Width", width},
               {"DataWidth", fifo.bits},
               {"Words", words},
               {"Per", fifo.per},
               {"Burst", fifo.burst},
               {"Slots", fifo.slots},
               {"Buffer", fifo.buffer},
               {"InFlight", fifo.inFlight},
               {"Depth", 4},
               {"frameBeats", words}});
  actor.memories = {place};
  return actor;
}
} // namespace rhizome::gen
