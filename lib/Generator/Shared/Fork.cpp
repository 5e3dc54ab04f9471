// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Forks and FIFOs: a register and output buffers, one beat per firing.
#include "Models.h"
#include "rhizome/Generator/Sampler.h"
#include "rhizome/Generator/Shared.h"

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
  units.push_back(makeStateUnit());
  units.push_back(makeMemReaderUnit());
  units.push_back(makeLoadReaderUnit());
  return units;
}

Actor makeFork(const BeatFormat &format, int64_t readers) {
  return Actor(unit::Fork::kKind, "fork",
               {{"Width", format.bits()},
                {"Outputs", readers},
                {"frameBeats", format.beats()},
                {"Depth", 4}});
}

Actor makeFifo(const BeatFormat &format) {
  return Actor(
      unit::Fifo::kKind, "fifo",
      {{"Width", format.bits()}, {"frameBeats", format.beats()}, {"Depth", 4}});
}
} // namespace rhizome::gen
