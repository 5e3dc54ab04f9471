// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a generator could build for a region: its units, its time, its traffic,
// its resources, and the key that plans and steering files name it by.
#pragma once

#include "mlir/IR/Types.h"
#include "rhizome/Generator/Actor.h"
#include "rhizome/Generator/OptionKey.h"
#include <optional>

namespace rhizome::gen {
/// Units joined by streams: any graph.
struct Body {
  /// Where a stream comes from: an output of a unit, or with `unit` −1 an input
  /// of the region.
  struct Source {
    int unit = -1, port = 0;
  };
  struct Unit {
    Actor actor;
    std::vector<Source> inputs;  ///< units in front of this one
    std::vector<Format> outputs; ///< of each of its streams
    /// Which of the region's elements they carry: null for those of the
    /// region's result where the stream is one, else of its first input.
    std::vector<mlir::Type> elements = {};
  };
  std::vector<Unit> units;
  std::vector<Source> outputs; ///< of the region

  /// Appends a unit behind the last one: it takes that one's first stream (the
  /// region's first input if there is none) and, if it has more inputs, the
  /// next ones of the region. The region's output is then the unit's.
  Body &chain(Actor actor, const Format &output);
  Actor &front() { return units.front().actor; }
  Actor &back() { return units.back().actor; }
  const Actor &front() const { return units.front().actor; }
  const Actor &back() const { return units.back().actor; }
};

/// Where constants live.
enum class WeightHome : uint8_t {
  Rom,      ///< in the bitstream
  Resident, ///< on-chip memory, filled when the design starts
  Streamed, ///< read from a memory outside for every frame
};

/// Bytes a frame that go to and from a memory outside the chip.
struct Traffic {
  std::string memory; ///< by the device's name for it
  double readBytes = 0, writeBytes = 0;
};

/// A unit that several regions may take in turn. It is paid for once.
struct SharedUnit {
  /// Offers with equal keys, of one generator, may share it.
  std::string key;
  /// What it costs: its units as they are for one region.
  std::vector<Actor> actors;
};

struct Offer {
  std::string generator;
  /// Which one it is: no two offers for a region have the same. It begins with
  /// the generator's name.
  OptionKey key;
  /// For people, e.g. "PE 4 × SIMD 9, in DSPs".
  std::string summary;
  std::vector<Format> inputs, outputs; ///< of the region's streams
  /// The units; of an offer on a shared unit those that are the region's own.
  Body body;
  std::optional<SharedUnit> shared;
  /// Cycles a frame for which the region keeps its unit busy: its interval, if
  /// it has a unit of its own.
  int64_t busyCycles = 0;
  std::vector<Traffic> traffic;
  WeightHome weights = WeightHome::Rom;
  Resources resources; ///< of `body`
  /// How far LUTs and FFs may be off: the units' errors, squared and added up.
  double lutVariance = 0, ffVariance = 0;
};
} // namespace rhizome::gen
