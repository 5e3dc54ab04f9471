// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The constants with which the lanes of the vector unit do what requantizers
// and scaled additions of a network do, exactly or not at all.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include <cstdint>
#include <optional>
#include <vector>

namespace rhizome::engine {
/// What a lane is to do with a sum a of `least` … `most`: the byte
/// clamp((a · multiplier + offset) >> shift, low, high).
struct Scaling {
  int64_t multiplier;
  __int128 offset;
  int64_t shift;
  int64_t low, high;
  int64_t least, most;
};

/// The constants of a lane: m and o of `requantize`, m, n and o of `add`.
struct Lane {
  int64_t m = 0, n = 0, o = 0;
  bool operator==(const Lane &) const = default;
};

/// Lanes that share the instruction's field `shift`.
struct Lanes {
  std::vector<Lane> lanes;
  int64_t shift;
};

/// Constants of `requantize` that give the same bytes for every sum in its
/// range; nothing if there are none of 35 and 47 bits. With the multiplier and
/// the offset times a power of two where they fit, and otherwise with others
/// that meet the same thresholds.
std::optional<Lanes> requantizerOf(llvm::ArrayRef<Scaling> scalings);

/// The same for a function of sums `least` … `most` that only rises or, with
/// `falls`, would if sums had the other sign: `first` for the least one, then
/// from each sum in `steps` on, in ascending order, another byte. Bytes are
/// clamped to `low` … `high`.
struct Staircase {
  int64_t least, most;
  int64_t low, high;
  int64_t first;
  std::vector<std::pair<int64_t, int64_t>> steps;
  bool falls = false;
};
std::optional<Lanes> requantizerOf(llvm::ArrayRef<Staircase> staircases);

/// What an addition is to do with bytes a and b:
/// (a · left + b · right + offset) >> shift.
struct Sum {
  __int128 left, right, offset;
  int64_t shift;
};

/// Constants of `add` that do the same; nothing if there are none of 24 and 47
/// bits.
std::optional<Lanes> additionOf(llvm::ArrayRef<Sum> sums);

/// Of the sums a · left + b · right of a staircase: the bytes that there are.
struct Addends {
  int64_t left, right;
  int64_t leastA, mostA, leastB, mostB;
};

/// An `add` with the bounds of its bytes.
struct Addition {
  Lanes lanes;
  int64_t low, high;
};

/// What meets staircases that rise, of as many addends and with the same
/// bounds: one addition, or three of which the third adds what the others make.
/// With ties to even no single one may do, but steps to even and to odd bytes
/// are each as far apart. None if there are none.
std::vector<Addition> additionsOf(llvm::ArrayRef<Addends> addends,
                                  llvm::ArrayRef<Staircase> staircases);

/// What an addition makes of bytes within these ranges, as a staircase of
/// a · left + b · right; nothing if sums do not fit 62 bits. With `ties`,
/// (a · left + b · right + offset) / 2^shift that is whole is a tie, and
/// becomes one less where it and `ties` are odd together.
std::optional<Staircase> stepsOf(const Sum &sum, const Addends &addends,
                                 int64_t low, int64_t high,
                                 std::optional<int64_t> ties);
} // namespace rhizome::engine
