// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Readers of an off-chip memory: a process that prefetches bursts
// as far as its output buffer allows; and the head of the load
// chain, which has read everything before the first frame.
#include "Models.h"
#include "rhizome/Units/Shared.h"

namespace rhizome::gen {
namespace {
using namespace cost;

class MemReaderUnit final : public UnitModel {
public:
  MemReaderUnit() : UnitModel(unit::MemReader::kKind) {}

  int64_t latency(const unit::Instance &a) const override {
    return 1 + bufferLatency(a);
  }

  /// Prefetched data need places.
  int64_t leastDepth(const unit::Instance &a) const override {
    return a.get("Depth");
  }

  void processes(const Actor &actor, ProcessNetwork &network,
                 const std::vector<int> &,
                 const std::vector<int> &outputs) const override {
    auto p = actor.as<unit::MemReader>();
    addReader(actor, network, 0, p.Words, std::min(p.Burst, p.Words),
              p.frameBeats / p.Words, outputs[0]);
    network.processes.back().group = p.Group;
  }

  void structure(Builder &b) const override {
    auto p = b.instance().as<unit::MemReader>();
    int64_t bursts = ceilDiv(p.Words, p.Burst), last = p.Words % p.Burst;
    int64_t pages = ceilDiv(p.Words * (p.DataWidth / 8), unit::kPageBytes);
    b.term(Term::Fixed, 1);
    b.counter(bursts);
    // The places that no burst has reserved, instead of the output buffer's
    // own count of credits, and whether a full and a last burst fit.
    int64_t room = clog2(p.Depth + 1);
    b.ff(double(1 + (bursts > 1 && last)));
    b.adder(1, room);
    if (!b.hasShiftRegisters())
      b.compare(bursts > 1 && last ? 2 : 1, room);
    if (p.Group > 1) {
      b.counter(p.Group);
      b.ff(1);
    }
    // The next address, and the request; addresses are multiples of a burst.
    int64_t fixed = clog2(p.Burst * (p.DataWidth / 8));
    int64_t address = 12 + clog2(p.Page + pages) - fixed;
    if (bursts > 1) {
      b.ff(double(2 * address));
      b.adder(1, address);
    }
    b.ff(1 + double(bursts > 1 && last ? 1 : 0));
    // A beat that has arrived.
    b.ff(double(1 + p.DataWidth));
    b.outbuf(p.Depth, p.DataWidth);
    // As measured on AMD, with buffers of 64 and 512 beats: the reader leaves
    // nothing of the buffer's credits, its other counters are carry chains of a
    // LUT a bit, and comparisons with constants are shared with the fixed part.
    if (b.hasShiftRegisters()) {
      const int64_t count = clog2(p.Depth + 1), pointer = clog2(p.Depth);
      b.term(Term::Buffer, -double(2 * (count + pointer)));
      b.adder(1, count);
      b.adder(2, pointer);
    }
  }
};

class LoadReaderUnit final : public UnitModel {
public:
  LoadReaderUnit() : UnitModel(unit::LoadReader::kKind) {}

  int64_t latency(const unit::Instance &) const override { return 1; }
  /// None during a frame.
  void processes(const Actor &, ProcessNetwork &, const std::vector<int> &,
                 const std::vector<int> &) const override {}

  void structure(Builder &b) const override {
    auto p = b.instance().as<unit::LoadReader>();
    int64_t bursts = ceilDiv(p.Words, p.Burst), last = p.Words % p.Burst;
    int64_t pages = ceilDiv(p.Words * (p.DataWidth / 8), unit::kPageBytes);
    int64_t flying = clog2(p.InFlight + 1);
    b.term(Term::Fixed, 1);
    b.counter(bursts);
    // Requests in flight; whether all have been made and one is pending.
    b.ff(double(flying + 2));
    b.adder(1, flying);
    int64_t fixed = clog2(p.Burst * (p.DataWidth / 8));
    int64_t address = 12 + clog2(p.Page + pages) - fixed;
    if (bursts > 1) {
      b.ff(double(2 * address));
      b.adder(1, address);
    }
    b.ff(double(bursts > 1 && last ? 1 : 0));
    // A beat that has arrived, and the words of it that are left.
    b.ff(double(1 + p.DataWidth));
    b.counter(p.DataWidth / p.Load);
    // The next word of it, or zeros behind the last one.
    if (p.DataWidth > p.Load)
      b.mux(double(p.DataWidth), 2);
  }
};
} // namespace

std::unique_ptr<UnitModel> makeLoadReaderUnit() {
  return std::make_unique<LoadReaderUnit>();
}

Actor makeLoadReader(int64_t beats, int64_t bits, const MemoryPlace &place) {
  constexpr int64_t kBurst = 64, kInFlight = 4;
  Actor actor(unit::LoadReader::kKind, "load",
              {{"DataWidth", bits},
               {"Load", kLoadBits},
               {"Words", beats},
               {"Burst", std::min(kBurst, unit::kPageBytes / (bits / 8))},
               {"InFlight", kInFlight}});
  actor.memories = {place};
  return actor;
}

std::unique_ptr<UnitModel> makeMemReaderUnit() {
  return std::make_unique<MemReaderUnit>();
}

Actor makeMemReader(const MemoryReading &reading, const MemoryPlace &place) {
  Actor actor(unit::MemReader::kKind, "read",
              {{"DataWidth", reading.bits},
               {"Words", reading.words},
               {"Burst", reading.burst},
               {"frameBeats", reading.words * reading.rounds},
               {"Depth", reading.depth}});
  actor.memories = {place};
  return actor;
}
} // namespace rhizome::gen
