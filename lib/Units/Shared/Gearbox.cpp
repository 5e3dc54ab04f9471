// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How a gearbox regroups beats; its ring: the length, where beats may begin,
// how they are rotated.
#include "Gearbox.h"
#include "rhizome/Units/System.h"
#include <algorithm>
#include <numeric>

namespace rhizome::gen {
namespace {
int64_t upTo(int64_t value, int64_t step) {
  return (value + step - 1) / step * step;
}

/// All digits, unless that reaches around the ring.
int64_t digitsOf(int64_t lanes, int64_t count) {
  int64_t n = 0;
  while (n < 3 && (int64_t(4) << (2 * n)) < count &&
         lanes + (int64_t(4) << (2 * n)) - 1 <= count)
    ++n;
  return n;
}

int64_t sharedUnit(int64_t lanesIn, int64_t lanesOut, int64_t rowIn,
                   int64_t rowOut) {
  return std::gcd(std::gcd(lanesIn, lanesOut), std::gcd(rowIn, rowOut));
}
} // namespace

GearboxSide::GearboxSide(int64_t lanes, int64_t row)
    : lanes(lanes), full(std::min(lanes, row)),
      last(row % lanes ? row % lanes : lanes),
      beats(row % lanes ? (row + lanes - 1) / lanes : 1),
      step(std::gcd(full, last)), count(0), stage(false) {}

Gearbox::Gearbox(int64_t elemBits, int64_t lanesIn, int64_t lanesOut,
                 int64_t rowIn, int64_t rowOut)
    : unitBits(elemBits * sharedUnit(lanesIn, lanesOut, rowIn, rowOut)),
      in(lanesIn * elemBits / unitBits, rowIn * elemBits / unitBits),
      out(lanesOut * elemBits / unitBits, rowOut * elemBits / unitBits) {
  // The longest beat to pick from, and row with a partial beat in beats.
  constexpr int64_t kLongest = 32;
  way = out.full == 1 && in.full <= kLongest && in.beats <= kLongest ? Way::Pick
        : in.full == 1 && out.beats <= kLongest ? Way::Collect
                                                : Way::Ring;
  int64_t room = in.full + out.full + std::max(in.full, out.full);
  int64_t both = std::lcm(in.full, out.full),
          grid = std::gcd(in.step, out.step);
  bool inTurns = in.beats == 1, outTurns = out.beats == 1;
  // Both sides take turns if that needs no long ring.
  if (inTurns && outTurns && upTo(room, both) > 3 * room)
    outTurns = false;
  if (inTurns && outTurns)
    grid = both;
  else if (inTurns)
    grid = in.full, out.step = std::gcd(out.step, in.full);
  else if (outTurns)
    grid = out.full, in.step = std::gcd(in.step, out.full);
  else
    in.step = out.step = grid;
  int64_t spare = inTurns ? 0 : in.full - in.last;
  in.stage = !inTurns && upTo(room + spare, grid) > 32 * in.step;
  store = room + (in.stage ? in.full : 0);
  ring = upTo(store + spare, grid);
  in.count = ring / in.step;
  out.count = ring / out.step;
  out.stage = out.count > (out.beats > 1 ? 16 : 32);
  if (!in.turns())
    in.digits = digitsOf(in.full / in.step, in.count);
  if (!out.turns())
    out.digits = digitsOf(out.full / out.step, out.count);
  else if (out.stage) // the register must be followed by something
    out.digits = out.count > 128 ? 2 : 1;
}

Gearbox Gearbox::of(const unit::Instance &a) {
  if (a.is<unit::Gearbox>()) {
    auto p = a.as<unit::Gearbox>();
    return Gearbox(p.Elem, p.LanesIn, p.LanesOut, p.RowIn, p.RowOut);
  }
  // Elements may cross a border's beats.
  bool enters = a.is<unit::AxisIn>();
  int64_t elem = a.get("Elem"), data = a.get("DataWidth");
  int64_t part = std::gcd(data, elem), parts = elem / part;
  int64_t frame = a.get("FrameElements") * parts;
  int64_t lanes = a.get("Lanes") * parts, row = a.get("Row") * parts;
  return enters ? Gearbox(part, data / part, lanes, frame, row)
                : Gearbox(part, lanes, data / part, row, frame);
}

RingTiming ringBetween(int64_t elementBits, int64_t lanesIn, int64_t lanesOut,
                       int64_t rowIn, int64_t rowOut) {
  const Gearbox box(elementBits, lanesIn, lanesOut, rowIn, rowOut);
  auto side = [](const GearboxSide &s) {
    return RingTiming::Side{s.full, s.last, s.beats, s.stage};
  };
  return {side(box.in), side(box.out), box.store};
}
} // namespace rhizome::gen
