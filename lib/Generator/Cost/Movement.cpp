// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Structure of the cells that move elements: gearbox and the borders around
// it, concat, reorder, fork and fifo.
#include "Structure.h"
#include <algorithm>
#include <numeric>
#include <vector>

namespace rhizome::gen::cost {
namespace {
/// LUTs per bit of the multiplexers that read `lanes` neighbouring places of a
/// ring from any of its `reads` steps on. Those of the lower levels are shared
/// by all outputs that begin at the same place, but for the ones that the end
/// of the steps cuts short; what has a single choice takes nothing.
int64_t ringNodes(int64_t reads, int64_t step, int64_t lanes, int64_t length,
                  int64_t lutInputs) {
  const int64_t choices = lutInputs >= 6 ? 4 : 2;
  int64_t nodes = 0;
  for (int64_t below = 1; below < reads; below *= choices) {
    int64_t span = below * choices;
    std::vector<char> begun(length);
    for (int64_t r = 0; r + span <= reads; r += span)
      for (int64_t lane = 0; lane < lanes; ++lane)
        begun[(r * step + lane) % length] = 1;
    nodes += std::count(begun.begin(), begun.end(), 1);
    if (reads % span > below)
      nodes += std::min(lanes, length);
  }
  return nodes;
}

/// LUTs of a bit that one of `choices` signals picks from as many. Synthesis
/// balances it as a tree of pairs: of three choices a LUT of six inputs then
/// takes two.
double pickLuts(const Builder &b, int64_t choices) {
  if (b.context().lutInputs < 6)
    return double(ceilDiv(2 * choices - 1, 3));
  return choices <= 3   ? 1
         : choices <= 8 ? double(choices / 2)
                        : double(choices) * (choices <= 12 ? 0.53 : 0.62);
}

/// LUTs of a bit of rhz_mux. Synthesis packs two levels into a LUT of six
/// inputs, or three LUTs of four; of large ones it loses some.
double muxLuts(const Builder &b, int64_t choices) {
  if (b.context().lutInputs >= 6)
    return choices <= 20 ? double(ceilDiv(choices - 1, 3))
                         : 0.385 * double(choices);
  return choices <= 4 ? double(ceilDiv(choices, 2))
                      : (choices <= 16 ? 0.7 : 0.79) * double(choices);
}

/// What rhz_gearbox moves, in units that all its widths and rows share.
struct Gearbox {
  int64_t width, in, out; ///< lanes that beats fill
  int64_t wide;           ///< lanes of an output beat
  int64_t tailIn, tailOut, stepIn, stepOut, store, length;
  int64_t beatsIn, beatsOut;
  bool ring;

  Gearbox(int64_t elem, int64_t lanesIn, int64_t lanesOut, int64_t rowIn,
          int64_t rowOut) {
    int64_t unit =
        std::gcd(std::gcd(lanesIn, lanesOut), std::gcd(rowIn, rowOut));
    width = unit * elem;
    in = lanesIn / unit;
    out = lanesOut / unit;
    tailIn = rowIn / unit % in;
    tailOut = rowOut / unit % out;
    beatsIn = tailIn ? ceilDiv(rowIn, lanesIn) : 1;
    beatsOut = tailOut ? ceilDiv(rowOut, lanesOut) : 1;
    // Lanes that no beat fills.
    if (beatsIn == 1 && tailIn)
      in = tailIn;
    wide = out;
    if (beatsOut == 1 && tailOut)
      out = tailOut;
    stepIn = beatsIn == 1 ? in : std::gcd(in, tailIn);
    stepOut = beatsOut == 1 ? out : std::gcd(out, tailOut);
    store = in + out + std::max(in, out);
    int64_t both = std::lcm(stepIn, stepOut);
    length = ceilDiv(store, both) * both;
    ring = length <= 3 * store &&
           length / stepIn * in + length / stepOut * out <= 4096;
  }

  static Gearbox of(const Actor &a) {
    int64_t elem = a.get("Elem");
    if (a.cell == "gearbox")
      return Gearbox(elem, a.get("LanesIn"), a.get("LanesOut"), a.get("RowIn"),
                     a.get("RowOut"));
    int64_t data = a.get("DataWidth"), unit = std::gcd(data, elem);
    int64_t parts = elem / unit, lanes = a.get("Lanes") * parts;
    int64_t row = a.get("Row") * parts, frame = a.get("FrameElements") * parts;
    return a.cell == "axis_in" ? Gearbox(unit, data / unit, lanes, frame, row)
                               : Gearbox(unit, lanes, data / unit, row, frame);
  }
};

void gearboxOf(Builder &b) {
  auto [width, in, out, wide, tailIn, tailOut, stepIn, stepOut, store, length,
        beatsIn, beatsOut, ring] = Gearbox::of(b.actor());
  int64_t count = clog2(store + 1);
  b.term(Term::Fixed, 1);
  b.counter(beatsIn);
  b.counter(beatsOut);
  // The count; whether a full beat and a row's last one fit and are there.
  b.ff(double(count + 1 + (tailIn ? 2 : 1) + (tailOut ? 2 : 1)));
  b.term(Term::Control, double(3 * count));
  if (ring) {
    int64_t writes = length / stepIn, reads = length / stepOut;
    b.ff(double(length * width));
    // A register for every place that a beat may begin at. A place takes any of
    // the steps of a beat; its enable is any of these.
    int64_t steps = in / stepIn;
    b.ff(double(writes));
    if (beatsIn > 1)
      b.term(Term::Control, double(writes));
    if (steps > 1)
      b.term(Term::Pick, double(length * width) * pickLuts(b, steps));
    b.term(Term::Lane,
           double(writes * ceilDiv(steps, b.context().lutInputs - 1)));
    if (out == stepOut) {
      b.counter(reads, /*last=*/false);
      b.term(Term::Mux, double(out * width) * muxLuts(b, reads));
    } else {
      int64_t position = clog2(reads + out / stepOut);
      b.ff(double(position));
      b.term(Term::Control, double(position));
      int64_t nodes =
          ringNodes(reads, stepOut, out, length, b.context().lutInputs);
      // Sharing costs levels, and LUTs of four inputs are then not filled.
      double shared =
          std::min(double(nodes) * (b.context().lutInputs < 6 ? 1.38 : 1),
                   double(out) * muxLuts(b, reads));
      b.term(out > 1 ? Term::MuxPairs : Term::Mux, shared * double(width));
      if (beatsOut > 1)
        b.term(Term::Select, double((out - tailOut) * width));
    }
  } else {
    b.ff(double(store * width));
    // A beat shifts by up to seven units, goes to one of the places that lie
    // eight apart, and all of it shifts down or not.
    const bool wideLut = b.context().lutInputs >= 6;
    int64_t fine = std::min<int64_t>(count, 3), step = int64_t(1) << fine;
    int64_t units = in + step - 1;
    b.term(Term::Shift,
           double(units * width * (wideLut ? ceilDiv(fine, 2) : fine)));
    int64_t picks = 0;
    for (int64_t place = 0; place < store; ++place) {
      int64_t ways = std::min(place / step, store / step) -
                     std::max<int64_t>(0, ceilDiv(place - units + 1, step)) + 1;
      picks += ceilDiv(2 * ways, b.context().lutInputs - 1);
    }
    b.term(Term::Pick, double(picks * width));
    b.term(Term::Lane, double(ceilDiv(store, step)));
    b.term(Term::Mux,
           double(store * width) * (beatsOut > 1 && !wideLut ? 2 : 1));
  }
  b.ff(double(out * width));
  // Registers of lanes that stay zero are left out, places of a memory are not.
  b.outbuf(b.get("Depth"), (b.context().lutramBits > 0 ? wide : out) * width);
}
} // namespace

bool isRing(const Actor &a) { return Gearbox::of(a).ring; }

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
