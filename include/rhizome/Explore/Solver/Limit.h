// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What limits a plan, and what prevents a better one, as values.
// Decisions use these; only describe() has the wording for people.
#pragma once

#include <cstdint>
#include <string>

namespace rhizome::explore {
/// Why no plan takes fewer seconds per frame, or why there is none at all.
struct Limit {
  enum class Kind {
    None,
    Options,      ///< nothing faster is offered
    Stage,        ///< `stage` has nothing as fast that a device could hold
    StageAlone,   ///< `stage` alone exceeds `device`, which suits it best
    Resource,     ///< one resource
    Weights,      ///< bits of weights alone, of all memories and LUTs
    Bandwidth,    ///< the rate of an off-chip memory
    AllResources, ///< the resources of all devices together
    HostLink,     ///< what the host sends and receives
    Links,        ///< what devices send and receive
    Border,       ///< the streams at the border of a device
    Latency,      ///< the latency of the fastest plan
    State,        ///< the way of `stage`, a state, from frame to frame
    Cuts,         ///< all devices have enough, but no cut fits them
    Dies,         ///< all dies together have enough, but no layout fits them
    Search,       ///< the solver follows too few combinations
    Pins,         ///< what the user decided
    PinOrder,     ///< `stage` is pinned before `other`, which comes first
  };
  Limit(Kind kind = Kind::None) : kind(kind) {}
  Kind kind;
  std::string stage, other;        ///< operations, by the model's node
  int place = -1, otherPlace = -1; ///< where these two are pinned
  std::string device;
  /// "lut"; the memory's name; where cuts of a large problem limit, the
  /// scarcest one.
  std::string resource;
  double needed = 0, available = 0;
  int64_t beats = 0, bits = 0; ///< of a frame at the border
  double seconds = 0;          ///< the least latency found; of a loop
  bool isNone() const { return kind == Kind::None; }
};
/// "lut: 106809 needed, 96801 available"; "" for none.
std::string describe(const Limit &limit);
} // namespace rhizome::explore
