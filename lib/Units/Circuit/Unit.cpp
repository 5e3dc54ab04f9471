// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The unit kind of circuits: a pipeline that takes one beat per cycle. Two
// consecutive ones are merged, which saves a buffer and its cycle.
#include "rhizome/Generator/Generator.h"
#include "rhizome/Generator/UnitModel.h"
#include "rhizome/Units/Circuit.h"
#include <algorithm>
#include <cmath>

namespace rhizome::gen {
namespace {
const Circuit &circuitOf(const Actor &actor) {
  assert(actor.datapath && "the generator has built it");
  return static_cast<const Circuit &>(*actor.datapath);
}

class CircuitUnit final : public UnitModel {
public:
  CircuitUnit() : UnitModel(unit::Circuit::kKind) {}

  int64_t latency(const unit::Instance &a) const override {
    return a.get("stages") + bufferLatency(a);
  }
  void structure(cost::Builder &b) const override;
  std::optional<Actor> fused(const Actor &first,
                             const Actor &second) const override;
  void emitDatapath(const Actor &a, mlir::Region &region,
                    mlir::Location loc) const override {
    emitCircuit(region, circuitOf(a), paceOf(a), loc);
  }
};

/// The resources of its graph (rhizome/Cost/Words.h).
void CircuitUnit::structure(cost::Builder &b) const {
  const bool wide = b.context().lutInputs >= 6;
  auto of = [&](const char *six, const char *four) {
    return double(b.get(wide ? six : four));
  };
  b.term(Term::Adder, of("wideSumBits", "narrowSumBits"));
  b.term(Term::Select, of("wideLuts", "narrowLuts"));
  if (!wide)
    b.term(Term::Compare, double(b.get("narrowCompareBits")));
  b.term(Term::RomLeaf, of("wideTableLeaves", "narrowTableLeaves"));
  b.term(Term::RomMux, of("wideTableChoices", "narrowTableChoices"));
  b.ff(double(b.get("stages") + b.get("ffBits")));
  if (b.hasShiftRegisters())
    b.shift(double(b.get("rowBits")));
  else
    b.ff(double(b.get("rowStageBits")));
  b.outbuf(b.get("Depth"), b.get("outBits"));
}

std::optional<Actor> CircuitUnit::fused(const Actor &first,
                                        const Actor &second) const {
  auto circuit =
      std::make_shared<Circuit>(circuitOf(first).then(circuitOf(second)));
  cost::LogicPace pace = paceOf(first);
  pace.budget = std::min(pace.budget, paceOf(second).budget);
  Actor both = describe(*circuit, pace);
  // Deeper output buffers would be block RAMs as wide as the beat.
  constexpr int64_t kDeepest = 64;
  both.set("Depth", 2);
  if (fullRateDepth(both) > kDeepest)
    return std::nullopt;
  both.set("Depth", fullRateDepth(both));
  both.set("frameBeats", second.get("frameBeats"));
  both.name = second.name;
  both.ownModule = second.ownModule;
  both.datapath = std::move(circuit);
  return both;
}
} // namespace

cost::LogicPace paceFor(const DeviceContext &device) {
  const CostContext::Delays &delays = device.cost.delays;
  // For placement and the clock's uncertainty, as in Vivado HLS by default.
  constexpr double kMargin = 0.125;
  double left = 1000 / device.clockMhz * (1 - kMargin) - delays.registerNs;
  double level = delays.levelNs / 32; // a 32nd
  auto chain = int64_t(std::ceil(delays.chainNs / level));
  auto bit = int64_t(std::ceil(32 * delays.chainBitNs / level));
  // A stage takes a sum after a memory's LUT, however fast the clock.
  return {std::max(int64_t(left / level), 64 + chain), chain, bit};
}

cost::LogicPace paceOf(const unit::Instance &actor) {
  return {actor.get("levels"), actor.get("chain"), actor.get("chainBit")};
}

Actor describe(const Circuit &c, const cost::LogicPace &pace) {
  cost::WordStages stages = stagesOf(c, pace);
  cost::WordCounts counts = cost::countWords(c, stages);
  const cost::WordCounts::Logic &wide = counts.wide, &narrow = counts.narrow;
  return Actor(unit::Circuit::kKind, "circuit",
               {{"levels", pace.budget},
                {"chain", pace.chain},
                {"chainBit", pace.chainBit},
                {"stages", stages.count},
                {"inBits", c.inLanes * c.inWidth},
                {"outBits", int64_t(c.outputs.size()) * c.outWidth},
                {"adders", counts.adders},
                {"wideLuts", wide.luts},
                {"wideSumBits", wide.sumBits},
                {"wideTableLeaves", wide.tableLeaves},
                {"wideTableChoices", wide.tableChoices},
                {"narrowLuts", narrow.luts},
                {"narrowSumBits", narrow.sumBits},
                {"narrowCompareBits", narrow.compareBits},
                {"narrowTableLeaves", narrow.tableLeaves},
                {"narrowTableChoices", narrow.tableChoices},
                {"ffBits", counts.ffBits},
                {"rowBits", counts.rowBits},
                {"rowStageBits", counts.rowStageBits}});
}

std::unique_ptr<UnitModel> makeCircuitUnit() {
  return std::make_unique<CircuitUnit>();
}
} // namespace rhizome::gen
