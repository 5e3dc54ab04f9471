// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a generator could build for a region: its units, its time, its traffic,
// its resources, and the key by which plans and steering files name it.
#pragma once

#include "mlir/IR/Types.h"
#include "rhizome/Generator/Actor.h"
#include "rhizome/Generator/OptionKey.h"
#include "llvm/ADT/SmallVector.h"
#include <optional>

namespace rhizome::gen {
/// Units connected by streams: any graph.
struct Body {
  /// The source of a stream: an output of a unit, or with `unit` −1 an input
  /// of the region.
  struct Source {
    int unit = -1, port = 0;
  };
  struct Unit {
    Actor actor;
    std::vector<Source> inputs;      ///< units before this one
    std::vector<BeatFormat> outputs; ///< for each of its streams
    /// The value whose elements they carry: null for those of the
    /// region's result if the stream is one, otherwise of its first input.
    std::vector<mlir::Type> elements = {};
    /// Frames that it works on at once. Its parameters are then those for all
    /// of them together.
    int64_t batch = 1;
  };
  std::vector<Unit> units;
  std::vector<Source> outputs; ///< of the region

  /// Appends a unit after the last one: it takes the last one's first stream
  /// (the region's first input if there is none) and, if it has more inputs,
  /// the next ones of the region. The region's output is then the unit's.
  Body &chain(Actor actor, const BeatFormat &output);
  Actor &front() { return units.front().actor; }
  Actor &back() { return units.back().actor; }
  const Actor &front() const { return units.front().actor; }
  const Actor &back() const { return units.back().actor; }
};

/// Where constants are stored.
enum class WeightHome : uint8_t {
  Rom,      ///< in the bitstream
  Resident, ///< on-chip memory, filled when the design starts
  Streamed, ///< read from an off-chip memory for every frame
};

/// Bytes per frame to and from an off-chip memory.
struct Traffic {
  std::string memory; ///< by the device's name for it
  double readBytes = 0, writeBytes = 0;
};

/// A unit that several regions may share. It is paid for once.
struct SharedUnit {
  /// Offers with equal keys, of one generator, may share it.
  std::string key;
  /// Its cost: its units as they are for one region.
  std::vector<Actor> actors;
};

/// What a generator needs to know to complete an offer. Its moves are
/// `noexcept`, which those of SmallVector are not, so that a std::vector moves
/// offers when it grows.
struct OfferSketch : llvm::SmallVector<int64_t, 9> {
  using SmallVector::SmallVector;
  OfferSketch() = default;
  OfferSketch(const OfferSketch &) = default;
  OfferSketch(OfferSketch &&) noexcept = default;
  OfferSketch &operator=(const OfferSketch &) = default;
  OfferSketch &operator=(OfferSketch &&) noexcept = default;
};

struct Offer {
  std::string generator;
  /// Unique among the offers for a region. It begins with
  /// the generator's name.
  OptionKey key;
  /// For people, e.g. "PE 4 × SIMD 9, in DSPs".
  std::string summary;
  std::vector<BeatFormat> inputs, outputs; ///< of the region's streams
  /// The units; for an offer on a shared unit, the region's own ones.
  Body body;
  std::optional<SharedUnit> shared;
  /// Cycles per frame for which the region occupies its unit: its interval, if
  /// it has a unit of its own.
  int64_t busyCycles = 0;
  std::vector<Traffic> traffic;
  WeightHome weights = WeightHome::Rom;
  /// Its units carry out a program, and the same units another one: they are
  /// named by what they are, not by the region.
  bool isProgrammed = false;
  /// Of `body`, and what the region adds to the unit that it shares.
  Resources resources;
  /// The errors of LUTs and FFs: the units' errors, squared and added up.
  double lutVariance = 0, ffVariance = 0;
  /// Of an offer that is not complete.
  OfferSketch sketch = {};
};
} // namespace rhizome::gen
