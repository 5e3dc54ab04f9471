// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The resources of a system's movers and registers, as Yosys maps them:
// registers and memories are counted, logic is counted in LUTs.
#include "rhizome/Cost/Structure.h"
#include "rhizome/Generator/Actor.h"
#include "rhizome/Units/System.h"

namespace rhizome::gen {
namespace {
using cost::addressBits;
using cost::ceilDiv;
using cost::clog2;

class Counter {
public:
  explicit Counter(const CostContext &context) : context(context) {
    structure.unit = "kernel";
  }
  Structure structure;

  void luts(double n) { structure.terms[size_t(Term::Control)] += n; }
  void ff(double n) { structure.exact.ff() += n; }
  void counter(int64_t count);
  void outbuf(int64_t depth, int64_t width);
  void rounds(const Mover &m);
  void gearbox(const Mover &m);

private:
  const CostContext &context;
};

void Counter::counter(int64_t count) {
  if (count == 1)
    return;
  const int64_t bits = addressBits(count);
  ff(double(bits + 1));
  luts(double(bits) + double(ceilDiv(bits, context.lutInputs)));
}

/// rhz_outbuf: its credits, its fill, its pointers, its memory.
void Counter::outbuf(int64_t depth, int64_t width) {
  const int64_t count = clog2(depth + 1);
  ff(double(2 * (count + 1)));
  luts(double(2 * count + 4));
  counter(depth);
  counter(depth);
  const cost::Memory m = cost::memoryOf(depth, width, context, depth > 64);
  structure.exact.lut() += m.luts;
  structure.exact.lutram() += m.luts;
  structure.exact.bram() += m.blocks;
  structure.exact.ff() += m.ffs;
  luts(m.choiceLuts + m.enables);
  if (depth > 64)
    ff(1 + (m.blocks > 0 ? 0 : double(width)));
}

/// rhz_mem_rounds: the address of the next burst and that at the port, and the
/// items that are left.
void Counter::rounds(const Mover &m) {
  constexpr int64_t kAddress = 64, kItems = 32;
  const int64_t bits = kAddress - clog2(m.burst * m.dataWidth / 8);
  counter(ceilDiv(m.beats(), m.burst));
  ff(double(2 * bits + 3));
  luts(double(bits + 4));
  if (m.isOnce)
    return;
  ff(double(kItems + 1));
  luts(double(kItems + kItems / 2));
}

/// rhz_gearbox_pick and _collect hold a beat of the wider side. The one chooses
/// from it, the other masks what a last beat does not fill.
void Counter::gearbox(const Mover &m) {
  constexpr int64_t kPlaces = 4;
  const int64_t bus = m.busWords(), narrow = std::min(bus, m.wide);
  const int64_t most = std::max(bus, m.wide) / narrow;
  const int64_t bits = narrow * m.wordBits;
  if (most == 1)
    return;
  const bool isPick = m.isWrite ? m.wide > bus : bus > m.wide;
  outbuf(kPlaces, isPick ? bits : most * bits);
  counter(most);
  ff(double(most * bits));
  const int64_t tail = std::max(m.beats(), m.streamBeats()) % most;
  luts(isPick ? double(bits * cost::choiceLuts(most, context))
              : double(most + (tail ? most - tail : 0) * bits));
}
} // namespace

Resources costOf(const Mover &mover, const CostContext &context) {
  Counter c(context);
  c.rounds(mover);
  const int64_t count = clog2(mover.depth + 1);
  // The places or beats that no burst has, and which burst fits.
  c.ff(double(count + 2));
  c.luts(double(2 * count));
  c.outbuf(mover.depth, mover.dataWidth);
  if (mover.isWrite) {
    const int64_t flight = clog2(mover.inFlight + 1);
    c.ff(double(2 * flight + 4));
    c.luts(double(4 * flight));
    c.counter(ceilDiv(mover.beats(), mover.burst));
    c.counter(mover.burst);
  } else {
    c.ff(double(2 + mover.dataWidth));
  }
  const int64_t bus = mover.busWords(), wide = mover.wide;
  if (bus % wide == 0 || wide % bus == 0) {
    c.gearbox(mover);
    return costOf(c.structure, context);
  }
  Actor ring(unit::Gearbox::kKind, "",
             {{"Elem", mover.wordBits},
              {"LanesIn", mover.isWrite ? wide : bus},
              {"LanesOut", mover.isWrite ? bus : wide},
              {"RowIn", mover.row},
              {"RowOut", mover.row},
              {"frameElements", mover.row},
              {"Depth", 4}});
  Resources all = costOf(c.structure, context);
  all += costOf(ring, context);
  return all;
}

Resources costOfRegisters(int64_t movers, const CostContext &context) {
  constexpr int64_t kWord = 32;
  Counter c(context);
  const int64_t words = 2 * movers + 1;
  c.ff(double(kWord * (words + 1) + 24 + movers));
  // Enables, and a choice that is masked word by word; errors.
  c.luts(double(24 * words + 20 + 3 * movers));
  return costOf(c.structure, context);
}
} // namespace rhizome::gen
