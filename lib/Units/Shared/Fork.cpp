// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Forks and FIFOs: a register and output buffers, one beat per firing.
#include "Models.h"
#include "rhizome/Generator/Sampler.h"
#include "rhizome/Units/Shared.h"

namespace rhizome::gen {
namespace {
void forkStructure(cost::Builder &b, int64_t outputs) {
  b.term(Term::Fixed, 1);
  b.ff(double(1 + b.get("Width")));
  for (int64_t i = 0; i < outputs; ++i)
    b.outbuf(b.get("Depth"), b.get("Width"));
}

constexpr std::initializer_list<int64_t> kWidths = {4, 8, 16, 24, 64};

class ForkUnit final : public UnitModel {
public:
  ForkUnit() : UnitModel(unit::Fork::kKind) {}

  int64_t latency(const unit::Instance &a) const override {
    return 1 + bufferLatency(a);
  }
  void structure(cost::Builder &b) const override {
    forkStructure(b, b.get("Outputs"));
  }
  bool sample(Sampler &s, llvm::StringRef) const override {
    // Forks and FIFOs are characterized together.
    int64_t width = s.any(kWidths);
    if (s.draw(0, 1)) {
      s.begin(unit::Fifo::kKind);
      s.actor.params = {{"Width", width}};
      s.actor.set("Depth", s.any({4, 20, 64, 100, 300, 800}));
    } else {
      s.begin(unit::Fork::kKind);
      s.actor.params = {{"Width", width}, {"Outputs", s.any({2, 3})}};
    }
    return true;
  }
  bool samplesDeepBuffers() const override { return true; }
};

class FifoUnit final : public UnitModel {
public:
  FifoUnit() : UnitModel(unit::Fifo::kKind) {}

  int64_t latency(const unit::Instance &a) const override {
    return 1 + bufferLatency(a);
  }
  void structure(cost::Builder &b) const override { forkStructure(b, 1); }
};

/// Registers on both sides of the border, and a buffer for what is between the
/// sender and the taker of a place.
class CrossingUnit final : public UnitModel {
public:
  CrossingUnit() : UnitModel(unit::Crossing::kKind) {}

  int64_t latency(const unit::Instance &a) const override {
    return a.get("Registers") + bufferLatency(a);
  }
  int64_t leastDepth(const unit::Instance &a) const override {
    return 2 * a.get("Registers") + 2;
  }
  void processes(const Actor &actor, ProcessNetwork &network,
                 const std::vector<int> &inputs,
                 const std::vector<int> &outputs) const override {
    UnitModel::processes(actor, network, inputs, outputs);
    network.channels[outputs[0]].returns = actor.get("Registers");
  }
  void structure(cost::Builder &b) const override {
    const int64_t registers = b.get("Registers");
    forkStructure(b, 1);
    // Those of the fork apart; of the freed places, as many back.
    b.ff(double((registers - 1) * (1 + b.get("Width")) + registers));
  }
};
} // namespace

std::unique_ptr<UnitModel> makeForkUnit() {
  return std::make_unique<ForkUnit>();
}
std::unique_ptr<UnitModel> makeFifoUnit() {
  return std::make_unique<FifoUnit>();
}

std::vector<std::unique_ptr<UnitModel>> makeSharedUnits() {
  std::vector<std::unique_ptr<UnitModel>> units;
  units.push_back(makeWindowUnit());
  units.push_back(makeGearboxUnit());
  units.push_back(makeBorderUnit(/*enters=*/true));
  units.push_back(makeBorderUnit(/*enters=*/false));
  units.push_back(makeWideBorderUnit(/*enters=*/true));
  units.push_back(makeWideBorderUnit(/*enters=*/false));
  units.push_back(makeForkUnit());
  units.push_back(makeFifoUnit());
  units.push_back(std::make_unique<CrossingUnit>());
  units.push_back(makeStateUnit());
  units.push_back(makeWindowTiledUnit());
  units.push_back(makeWindowBatchUnit());
  units.push_back(makeUnbatchUnit());
  units.push_back(makeMemReaderUnit());
  units.push_back(makeLoadReaderUnit());
  units.push_back(makeMemFifoUnit());
  return units;
}

Actor makeFork(const BeatFormat &format, int64_t readers) {
  return Actor(unit::Fork::kKind, "fork",
               {{"Width", format.bits()},
                {"Outputs", readers},
                {"frameBeats", format.beats()},
                {"Depth", 4}});
}

Actor makeCrossing(const BeatFormat &format, int64_t registers) {
  Actor crossing(unit::Crossing::kKind, "crossing",
                 {{"Width", format.bits()},
                  {"Registers", registers},
                  {"frameBeats", format.beats()},
                  {"Depth", 2 * registers + 2}});
  return crossing;
}

int64_t crossingWires(const BeatFormat &format) {
  return format.bits() + 2; // valid, and a place that was freed
}

Actor makeFifo(const BeatFormat &format) {
  return Actor(
      unit::Fifo::kKind, "fifo",
      {{"Width", format.bits()}, {"frameBeats", format.beats()}, {"Depth", 4}});
}
} // namespace rhizome::gen
