// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How rhz_gearbox regroups a stream, also inside a border: the same
// decisions as in rtl/src/rhz_gearbox.sv, for timing and cost.
#pragma once

#include "rhizome/Unit/Units.h"

namespace rhizome::gen {
/// One side of a gearbox, in units.
struct GearboxSide {
  int64_t lanes; ///< of a port's beat
  int64_t full;  ///< lanes that a full beat fills
  int64_t last;  ///< lanes that a row's last beat fills
  int64_t beats; ///< of a row if the last one is partial, otherwise 1
  int64_t step;  ///< between the places of the ring at which beats may begin
  int64_t count; ///< of these places
  bool stage;    ///< whether rotating takes its own stage

  GearboxSide(int64_t lanes, int64_t row);
  /// Beats begin in turn at a few places and are not rotated.
  bool turns() const { return step == full; }
  /// Digits of two bits by which beats rotate.
  int64_t digits = 0;
};

struct Gearbox {
  /// Beats of one unit are picked from those of several, or collected to them.
  enum class Way : uint8_t { Pick, Collect, Ring };
  Way way;
  int64_t unitBits; ///< elements move in units of this many bits
  GearboxSide in, out;
  // Of a ring:
  int64_t store; ///< maximum number of stored units
  int64_t ring;  ///< places, of which a last beat may waste some

  /// For a gearbox or for a port of the design.
  static Gearbox of(const unit::Instance &unit);
  Gearbox(int64_t elemBits, int64_t lanesIn, int64_t lanesOut, int64_t rowIn,
          int64_t rowOut);
};
} // namespace rhizome::gen
