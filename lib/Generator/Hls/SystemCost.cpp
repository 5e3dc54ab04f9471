// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The resources of a system's movers and registers, as Yosys maps them:
// registers and memories are counted, logic is counted in LUTs.
#include "rhizome/Cost/Structure.h"
#include "rhizome/Generator/Hls/System.h"

namespace rhizome::gen::hls {
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

/// rhz_gearbox_pick and _collect hold a beat of the wider side, and choose from
/// it.
void Counter::gearbox(const Mover &m) {
  const int64_t bus = m.busWords();
  if (bus == m.wide)
    return;
  const bool isWhole = bus % m.wide == 0 || m.wide % bus == 0;
  const bool isPick = m.isWrite ? m.wide > bus : bus > m.wide;
  const int64_t wideBits = std::max(bus, m.wide) * m.wordBits;
  const int64_t outBits = (m.isWrite ? bus : m.wide) * m.wordBits;
  constexpr int64_t kPlaces = 4;
  outbuf(kPlaces, outBits);
  if (!isWhole) {
    // A ring with a rotation on each side.
    const int64_t words = bus + m.wide;
    ff(double(2 * words * m.wordBits));
    luts(double(words * m.wordBits) * double(clog2(words)) / 2);
    return;
  }
  const int64_t narrow = std::min(bus, m.wide);
  const int64_t most = std::max(bus, m.wide) / narrow;
  counter(most);
  if (isPick) {
    ff(double(wideBits - narrow * m.wordBits + narrow * m.wordBits));
    luts(double(narrow * m.wordBits) * double(cost::choiceLuts(most, context)));
  } else {
    ff(double(wideBits));
    luts(double(most));
  }
}
} // namespace

Structure structureOf(const Mover &mover, const CostContext &context) {
  Counter c(context);
  c.rounds(mover);
  const int64_t count = clog2(mover.depth + 1);
  // The places or beats that no burst has, and which burst fits.
  c.ff(double(count + 2));
  c.luts(double(2 * count));
  c.outbuf(mover.depth, mover.dataWidth);
  if (mover.isWrite) {
    const int64_t flight = clog2(mover.inFlight + 1);
    c.ff(double(2 * flight + 3));
    c.luts(double(4 * flight));
    c.counter(ceilDiv(mover.beats(), mover.burst));
    c.counter(mover.burst);
  } else {
    c.ff(double(1 + mover.dataWidth));
  }
  c.gearbox(mover);
  return c.structure;
}

Structure structureOfRegisters(int64_t movers, const CostContext &context) {
  constexpr int64_t kWord = 32;
  Counter c(context);
  const int64_t words = 2 * movers + 1;
  c.ff(double(kWord * (words + 1) + 24));
  c.luts(double(kWord * cost::choiceLuts(words, context) + 4 * words + 40));
  return c.structure;
}
} // namespace rhizome::gen::hls
