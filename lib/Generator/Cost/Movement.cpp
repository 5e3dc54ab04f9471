// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Structure of the cells that move elements: gearbox and the borders around
// it, concat, reorder, fork and fifo.
#include "Structure.h"
#include "rhizome/Generator/Gearbox.h"
#include <algorithm>

namespace rhizome::gen::cost {
namespace {
/// LUTs of a bit of rhz_choose_few: one of six inputs, or two of four.
int64_t fewLuts(const Builder &b, int64_t choices) {
  return choices > 2 && b.context().lutInputs < 6 ? 2 : choices > 1;
}

/// LUTs of a bit of rhz_choose.
int64_t chooseLuts(const Builder &b, int64_t choices) {
  int64_t luts = 0;
  for (; choices > 1; choices = ceilDiv(choices, 4))
    luts += choices / 4 * fewLuts(b, 4) + fewLuts(b, choices % 4);
  return luts;
}

/// rhz_rotate_out: what reads a beat.
void rotateOut(Builder &b, const GearboxSide &side, double bits) {
  int64_t lanes = side.full / side.step, span = int64_t(1) << (2 * side.digits);
  int64_t coarse = ceilDiv(side.count, span), luts = 0;
  // The ring's end cuts the last span short.
  int64_t cut = side.count - (coarse - 1) * span + lanes - 1;
  for (int64_t word = 0; word < lanes + span - 1; ++word)
    luts += chooseLuts(b, coarse - (coarse > 1 && word >= cut));
  for (int64_t below = 1; below < span; below *= 4)
    luts += (lanes + below - 1) * fewLuts(b, 4);
  b.term(Term::Mux, double(luts) * bits);
  if (side.stage) {
    int64_t behind = std::min<int64_t>(side.digits, 2);
    b.ff(double(lanes + (int64_t(1) << (2 * behind)) - 1) * bits +
         double(2 * behind));
  }
}

/// rhz_rotate_in: what lays a beat on the ring.
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

/// rhz_ring_position: two sums and a choice, over one or two steps.
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

void gearboxOf(Builder &b) {
  Gearbox g = Gearbox::of(b.actor());
  double unit = double(g.unitBits);
  int64_t count = clog2(g.store + 1);
  b.term(Term::Fixed, 1);
  b.counter(g.in.beats);
  b.counter(g.out.beats);
  tally(b, count);
  // Whether a full beat and a row's last one fit and are there.
  b.ff(double((g.in.beats > 1 ? 2 : 1) + (g.out.beats > 1 ? 2 : 1)));
  // The ring, and of every step whether a beat writes it.
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
  // Registers of lanes that stay zero are left out, places of a memory are not.
  bool isMemory = b.context().lutramBits > 0;
  b.outbuf(b.get("Depth"), (isMemory ? g.out.lanes : g.out.full) * g.unitBits);
}
} // namespace

bool rotates(const Actor &a) {
  Gearbox g = Gearbox::of(a);
  return !g.in.turns() || !g.out.turns();
}

void gearbox(Builder &b) { gearboxOf(b); }

void axis(Builder &b) {
  b.counter(
      ceilDiv(b.get("FrameElements") * b.get("Elem"), b.get("DataWidth")));
  if (b.actor().cell == "axis_in") {
    b.ff(16); // the count of errors
    b.term(Term::Control, 16);
  }
  gearboxOf(b);
}

void concat(Builder &b) {
  int64_t width = b.get("Elem") * b.get("Lanes");
  b.term(Term::Fixed, 1);
  b.counter(b.get("BlockA") + b.get("BlockB"));
  b.ff(double(2 + width));
  b.term(Term::Select, double(width));
  b.outbuf(b.get("Depth"), width);
}

void reorder(Builder &b) {
  int64_t elements = b.get("Elements"), elem = b.get("Elem");
  int64_t address = addressBits(elements);
  b.term(Term::Fixed, 1);
  int64_t reads = b.get("OutElements");
  b.counter(elements);
  b.counter(reads);
  b.ff(4 + 3 + 1 + 2 + double(address + elem));
  b.rom("AddressFile", "Block", reads, address, 1);
  b.ram(int64_t(2) << address, elem, 2);
  b.outbuf(b.get("Depth"), elem);
}

void select(Builder &b) {
  int64_t gap = clog2(b.get("Period") + 1), left = clog2(b.get("Count") + 1);
  b.term(Term::Fixed, 1);
  b.counter(b.get("Inner"));
  b.counter(b.get("Period"));
  b.ff(double(2 + gap + left + b.get("Elem")));
  b.term(Term::Control, double(gap + left));
  b.outbuf(b.get("Depth"), b.get("Elem"));
}

void fork(Builder &b) {
  bool one = b.actor().cell == "fifo";
  b.term(Term::Fixed, 1);
  b.ff(double(1 + b.get("Width")));
  for (int64_t i = 0; i < (one ? 1 : b.get("Outputs")); ++i)
    b.outbuf(b.get("Depth"), b.get("Width"));
}
} // namespace rhizome::gen::cost
