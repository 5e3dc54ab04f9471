// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The gearbox and the borders that use it: beats that are cut or collected, or
// a ring between a process that accepts and one that emits, and its rotators.
#include "Gearbox.h"
#include "Models.h"
#include "rhizome/Generator/Sampler.h"
#include "rhizome/Units/Shared.h"
#include <algorithm>

namespace rhizome::gen {
namespace {
using cost::Builder;
using cost::ceilDiv;
using cost::clog2;

/// LUTs per bit of rhz_choose_few: one with six inputs, or two with four.
int64_t fewLuts(const Builder &b, int64_t choices) {
  return choices > 2 && b.context().lutInputs < 6 ? 2 : choices > 1;
}

/// LUTs per bit of rhz_choose.
int64_t chooseLuts(const Builder &b, int64_t choices) {
  int64_t luts = 0;
  for (; choices > 1; choices = ceilDiv(choices, 4))
    luts += choices / 4 * fewLuts(b, 4) + fewLuts(b, choices % 4);
  return luts;
}

/// rhz_rotate_out: reads a beat.
void rotateOut(Builder &b, const GearboxSide &side, double bits) {
  int64_t lanes = side.full / side.step, span = int64_t(1) << (2 * side.digits);
  int64_t coarse = ceilDiv(side.count, span), luts = 0;
  // The ring's end shortens the last span.
  int64_t cut = side.count - (coarse - 1) * span + lanes - 1;
  for (int64_t word = 0; word < lanes + span - 1; ++word)
    luts += chooseLuts(b, coarse - (coarse > 1 && word >= cut));
  for (int64_t below = 1; below < span; below *= 4)
    luts += (lanes + below - 1) * fewLuts(b, 4);
  b.term(Term::Mux, double(luts) * bits);
  if (side.stage) {
    int64_t digits = std::min<int64_t>(side.digits, 2);
    b.ff(double(lanes + (int64_t(1) << (2 * digits)) - 1) * bits +
         double(2 * digits));
  }
}

/// rhz_rotate_in: writes a beat into the ring.
void rotateIn(Builder &b, const GearboxSide &side, double bits) {
  int64_t lanes = side.full / side.step, luts = 0, span = 1;
  for (; span < int64_t(1) << (2 * side.digits); span *= 4)
    for (int64_t word = 0, from = lanes + span - 1; word < lanes + 4 * span - 1;
         ++word) {
      int64_t first = word < from ? 0 : (word - from) / span + 1;
      luts += fewLuts(b, std::min<int64_t>(word / span, 3) - first + 1);
    }
  int64_t coarse = ceilDiv(side.count, span);
  for (int64_t place = 0; place < side.count; ++place) {
    int64_t ways = 0;
    for (int64_t d = 0; d < coarse; ++d)
      ways += (place + side.count - d * span) % side.count <
              lanes - 1 + std::min(span, side.count - d * span);
    luts += ways <= 2 ? fewLuts(b, ways) : chooseLuts(b, coarse);
  }
  b.term(Term::Mux, double(luts) * bits);
  if (side.stage) {
    int64_t before = std::min<int64_t>(side.digits, 2);
    b.ff(double(lanes + (int64_t(1) << (2 * before)) - 1) * bits +
         double(clog2(side.count) - 2 * before));
  }
}

/// rhz_ring_position: two sums and a multiplexer, over one or two steps.
void ringPosition(Builder &b, const GearboxSide &side) {
  int64_t bits = clog2(side.count);
  b.ff(double(bits));
  b.term(Term::Adder, double(2 * bits));
  b.term(Term::Control, double(bits));
}

/// rhz_tally.
void tally(Builder &b, int64_t bits) {
  b.ff(double(bits));
  b.term(Term::Control, double(3 * bits));
}

/// rhz_gearbox_pick.
void pick(Builder &b, const Gearbox &g) {
  const int64_t most = g.in.full;
  b.counter(g.in.beats);
  if (g.in.beats == 1) {
    b.counter(most);
  } else {
    b.ff(double(clog2(most) + 1));
    b.term(Term::Counter, double(clog2(most)));
  }
  // The first word's flag, the words behind it, the chosen one.
  b.ff(double((most > 1) + most * g.unitBits + 1));
  b.term(Term::Mux, double(chooseLuts(b, most) * g.unitBits));
  b.outbuf(b.get("Depth"), g.unitBits);
}

/// rhz_gearbox_collect.
void collect(Builder &b, const Gearbox &g) {
  const int64_t most = g.out.full;
  b.counter(g.out.beats);
  b.ff(double(most * g.unitBits + 1));
  if (g.out.beats == 1) {
    b.counter(most);
  } else {
    b.ff(double(most + 1));
    b.term(Term::Lane, double(2 * most));
    b.term(Term::Select, double((most - g.out.last) * g.unitBits));
  }
  b.outbuf(b.get("Depth"), most * g.unitBits);
}

void gearboxOf(Builder &b) {
  Gearbox g = Gearbox::of(b.instance());
  if (g.way == Gearbox::Way::Pick)
    return pick(b, g);
  if (g.way == Gearbox::Way::Collect)
    return collect(b, g);
  double unit = double(g.unitBits);
  int64_t count = clog2(g.store + 1);
  b.term(Term::Fixed, 1);
  b.counter(g.in.beats);
  b.counter(g.out.beats);
  tally(b, count);
  // Whether a full beat and a row's last one fit and are available.
  b.ff(double((g.in.beats > 1 ? 2 : 1) + (g.out.beats > 1 ? 2 : 1)));
  // The ring, and for every step whether a beat writes it.
  b.ff(double(g.ring) * unit + double(g.in.count));
  b.term(Term::Lane, double(g.in.count));
  if (g.in.beats > 1)
    b.term(Term::Control, double(g.in.count));
  if (g.in.stage) {
    tally(b, count);
    b.ff(double(2 + g.in.count));
  }
  if (!g.in.turns()) {
    ringPosition(b, g.in);
    rotateIn(b, g.in, double(g.in.step) * unit);
  }
  if (g.out.turns())
    b.counter(g.out.count, /*last=*/false);
  else
    ringPosition(b, g.out);
  rotateOut(b, g.out, double(g.out.step) * unit);
  if (g.out.beats > 1)
    b.term(Term::Select, double(g.out.full - g.out.last) * unit);
  b.ff(double(g.out.stage ? (g.out.beats > 1 ? 3 : 2) : 1) +
       double(g.out.full) * unit);
  // Registers of lanes that are always zero are omitted, places of a memory are
  // not.
  bool isMemory = b.context().lutramBits > 0;
  b.outbuf(b.get("Depth"), (isMemory ? g.out.lanes : g.out.full) * g.unitBits);
}

bool rotates(const unit::Instance &a) {
  Gearbox g = Gearbox::of(a);
  return g.way == Gearbox::Way::Ring && (!g.in.turns() || !g.out.turns());
}

/// Firings for the beats of `lanes` tokens of a row of `row` tokens: each with
/// its number of tokens.
std::vector<Phase> rowPhases(int64_t row, int64_t lanes,
                             llvm::function_ref<Phase(int64_t, int64_t)> of) {
  std::vector<Phase> phases;
  if (row / lanes > 0)
    phases.push_back(of(row / lanes, lanes));
  if (row % lanes > 0)
    phases.push_back(of(1, row % lanes));
  return phases;
}

/// The process of a gearbox without a ring. Of a beat with several units on one
/// side, the first one takes it or the last one makes it.
void addUnits(const Actor &a, ProcessNetwork &network, const Gearbox &g,
              int64_t frameUnits, const std::vector<int> &inputs,
              const std::vector<int> &outputs) {
  const bool picks = g.way == Gearbox::Way::Pick;
  const GearboxSide &side = picks ? g.in : g.out;
  const Counts takes(inputs.size(), 1), none(inputs.size(), 0);
  std::vector<Phase> phases;
  auto beat = [&](int64_t units) {
    const Phase others = picks ? Phase::of(units - 1, none, {1})
                               : Phase::of(units - 1, takes, {0});
    if (!picks && units > 1)
      phases.push_back(others);
    phases.push_back(Phase::of(1, takes, {1}));
    if (picks && units > 1)
      phases.push_back(others);
  };
  for (int64_t i = 1; i < side.beats; ++i)
    beat(side.full);
  beat(side.last);
  const int64_t row = (side.beats - 1) * side.full + side.last;
  network.processes.push_back(
      {a.name, std::move(phases), frameUnits / row, inputs, outputs});
}

/// A store between an accepting and an emitting process, whose tokens are of
/// `bits` bits.
void addGearbox(const Actor &a, ProcessNetwork &network, int64_t bits,
                int64_t frame, int64_t lanesIn, int64_t rowIn, int64_t lanesOut,
                int64_t rowOut, const std::vector<int> &inputs,
                const std::vector<int> &outputs) {
  Gearbox gearbox = Gearbox::of(a);
  if (gearbox.way != Gearbox::Way::Ring)
    return addUnits(a, network, gearbox, frame * bits / gearbox.unitBits,
                    inputs, outputs);
  int store = network.addChannel(a.name + ".store",
                                 gearbox.store * gearbox.unitBits / bits,
                                 1 + gearbox.in.stage);
  // A port of the design is a source without an input.
  auto accept = [&](int64_t beats, int64_t tokens) {
    return Phase::of(beats, Counts(inputs.size(), 1), {tokens});
  };
  auto emit = [](int64_t beats, int64_t tokens) {
    return Phase::of(beats, {tokens}, {1});
  };
  network.processes.push_back({a.name + ".accept",
                               rowPhases(rowIn, lanesIn, accept),
                               frame / rowIn,
                               inputs,
                               {store}});
  network.processes.push_back({a.name + ".emit",
                               rowPhases(rowOut, lanesOut, emit),
                               frame / rowOut,
                               {store},
                               outputs});
}

/// The common part of gearboxes and borders.
class RingUnit : public UnitModel {
public:
  using UnitModel::UnitModel;

  int64_t latency(const unit::Instance &a) const override {
    Gearbox g = Gearbox::of(a);
    return 1 + (g.way == Gearbox::Way::Ring && g.out.stage) + bufferLatency(a);
  }
  const char *characterizedAs(const unit::Instance &a) const override {
    return kind().characterized[rotates(a)];
  }
};

class GearboxUnit final : public RingUnit {
public:
  GearboxUnit() : RingUnit(unit::Gearbox::kKind) {}

  void processes(const Actor &a, ProcessNetwork &network,
                 const std::vector<int> &inputs,
                 const std::vector<int> &outputs) const override {
    auto p = a.as<unit::Gearbox>();
    addGearbox(a, network, p.Elem, p.frameElements, p.LanesIn, p.RowIn,
               p.LanesOut, p.RowOut, inputs, outputs);
  }
  void structure(Builder &b) const override { gearboxOf(b); }
  bool sample(Sampler &s, llvm::StringRef name) const override;
};

class BorderUnit final : public RingUnit {
public:
  explicit BorderUnit(bool enters)
      : RingUnit(enters ? unit::AxisIn::kKind : unit::AxisOut::kKind),
        enters(enters) {}

  void processes(const Actor &a, ProcessNetwork &network,
                 const std::vector<int> &inputs,
                 const std::vector<int> &outputs) const override {
    // In bits, so that elements may cross border beats.
    int64_t elem = a.get("Elem"), frame = a.get("FrameElements") * elem;
    int64_t lanes = a.get("Lanes") * elem, row = a.get("Row") * elem;
    int64_t border = a.get("DataWidth");
    if (enters)
      return addGearbox(a, network, 1, frame, border, frame, lanes, row, inputs,
                        outputs);
    int out = network.addChannel(a.name + ".axis", a.get("Depth"), latency(a));
    addGearbox(a, network, 1, frame, lanes, row, border, frame, inputs, {out});
    network.processes.push_back({a.name + ".sink",
                                 {Phase::of(ceilDiv(frame, border), {1}, {})},
                                 1,
                                 {out},
                                 {}});
  }
  void structure(Builder &b) const override {
    b.counter(
        ceilDiv(b.get("FrameElements") * b.get("Elem"), b.get("DataWidth")));
    if (enters) {
      b.ff(16); // the error counter
      b.term(Term::Control, 16);
    }
    gearboxOf(b);
  }

private:
  bool enters;
};

/// Wires from and to a port of the design.
class WideBorderUnit final : public UnitModel {
public:
  explicit WideBorderUnit(bool enters)
      : UnitModel(enters ? unit::WideIn::kKind : unit::WideOut::kKind),
        enters(enters) {}

  int64_t latency(const unit::Instance &) const override { return 0; }
  void processes(const Actor &a, ProcessNetwork &network,
                 const std::vector<int> &inputs,
                 const std::vector<int> &outputs) const override {
    network.processes.push_back(
        {a.name,
         {Phase::of(1, Counts(inputs.size(), 1), Counts(outputs.size(), 1))},
         1,
         inputs,
         outputs});
  }
  void structure(Builder &b) const override {
    if (!enters)
      return;
    // The error counter, which stays at its end: as Yosys builds it, six LUTs
    // next to the carry chain on AMD, 38 with those of the chain otherwise.
    b.ff(16);
    b.structure.exact.lut() += b.hasShiftRegisters() ? 6 : 38;
  }

private:
  bool enters;
};

void sampleBorder(Sampler &s, std::initializer_list<int64_t> lanesOf,
                  std::initializer_list<int64_t> framesOf,
                  std::initializer_list<int64_t> widthsOf,
                  std::initializer_list<int64_t> elementsOf) {
  s.begin(s.draw(0, 1) ? unit::AxisIn::kKind : unit::AxisOut::kKind);
  int64_t lanes = s.any(lanesOf), count = lanes * s.any(framesOf);
  int64_t width = widthsOf.size() > 1 ? s.any(widthsOf) : *widthsOf.begin();
  s.actor.params = {{"DataWidth", width},
                    {"Elem", s.any(elementsOf)},
                    {"Lanes", lanes},
                    {"FrameElements", count},
                    {"Row", count}};
}

bool GearboxUnit::sample(Sampler &s, llvm::StringRef name) const {
  if (name == kind().characterized[0]) {
    if (!s.draw(0, 1)) {
      sampleBorder(s, {1, 1, 2, 4, 8}, {3, 10, 49, 256}, {64, 64, 128},
                   {4, 7, 8, 13, 16, 18});
      return true;
    }
    s.begin(kind().name);
    int64_t in = s.any({1, 2, 3, 4, 6, 8, 12}), out = s.any({1, 2, 3, 4, 8, 9});
    int64_t row = in * out * s.any({2, 5, 16});
    int64_t rowIn = s.draw(0, 2) ? row : in * 3 + s.draw(0, in - 1) + 1;
    s.actor.params = {{"Elem", s.any({1, 4, 7, 8, 18})},
                      {"LanesIn", in},
                      {"LanesOut", out},
                      {"RowIn", rowIn},
                      {"RowOut", rowIn == row ? row : rowIn * s.any({1, 4})}};
    return true;
  }
  // Beats that begin anywhere: rows that end in partial beats, and elements of
  // an odd width over a bus of 64 bits.
  if (s.draw(0, 1)) {
    sampleBorder(s, {1, 1, 2, 3}, {1, 3, 10, 49, 64}, {64}, {7, 9, 11, 13, 15});
    return true;
  }
  s.begin(kind().name);
  int64_t in = s.any({3, 4, 6, 9, 16, 20}), out = s.any({4, 5, 7, 9, 16});
  int64_t rowIn = in * s.draw(1, 4) + (s.draw(0, 1) ? s.draw(1, in - 1) : 0);
  s.actor.params = {{"Elem", s.any({4, 6, 7, 8, 16})},
                    {"LanesIn", in},
                    {"LanesOut", out},
                    {"RowIn", rowIn},
                    {"RowOut", rowIn * s.any({1, 1, 2})}};
  return true;
}
} // namespace

std::unique_ptr<UnitModel> makeGearboxUnit() {
  return std::make_unique<GearboxUnit>();
}
std::unique_ptr<UnitModel> makeBorderUnit(bool enters) {
  return std::make_unique<BorderUnit>(enters);
}
std::unique_ptr<UnitModel> makeWideBorderUnit(bool enters) {
  return std::make_unique<WideBorderUnit>(enters);
}

Actor makeBorder(const BeatFormat &f, int64_t dataWidth, bool enters) {
  if (dataWidth == kWideBorder) {
    const int64_t frame = f.count * f.width;
    dataWidth = std::min(dataWidth, ceilDiv(frame, 8) * 8);
    if (f.lanes == f.count && frame <= dataWidth)
      return Actor(enters ? unit::WideIn::kKind : unit::WideOut::kKind, "",
                   {{"DataWidth", dataWidth}, {"Width", frame}, {"Depth", 2}});
  }
  return Actor(enters ? unit::AxisIn::kKind : unit::AxisOut::kKind, "",
               {{"DataWidth", dataWidth},
                {"Elem", f.width},
                {"Lanes", f.lanes},
                {"FrameElements", f.count},
                {"Row", f.row},
                {"Depth", 4}});
}

Actor makeConverter(const BeatFormat &from, const BeatFormat &to) {
  return Actor(unit::Gearbox::kKind, "",
               {{"Elem", from.width},
                {"LanesIn", from.lanes},
                {"LanesOut", to.lanes},
                {"RowIn", from.row},
                {"RowOut", to.row},
                {"frameElements", from.count},
                {"Depth", 4}});
}
} // namespace rhizome::gen
