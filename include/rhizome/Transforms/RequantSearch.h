// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Finds the cheapest integer hardware that equals a given step function for
// every possible value: multiplier, offset and shift, compared with the
// function's step positions.
#pragma once

#include "rhizome/Transforms/StepFunction.h"

namespace rhizome {
/// osa.requantize's attributes, one multiplier and offset per channel.
struct Requantizer {
  std::vector<int64_t> multiplier, offset;
  int64_t shift = 0;
  bool tiesEven = false;
  /// Of a wide one: what is added to each channel's level, before clamping.
  std::vector<int64_t> base = {};

  /// The level before clamping; `channel` is an index of multiplier.
  int64_t apply(int64_t x, size_t channel) const;
  /// Bits of the largest multiplier, including the sign if one is negative;
  /// 1 if all multipliers are 1.
  unsigned multiplierBits() const;
};

/// Products and sums of 62 bits, or of 110 with a part of the offset that is
/// added after the shift.
enum class Reach : uint8_t { Narrow, Wide };
/// The smallest shift, common to all channels, for which every channel has a
/// multiplier and an offset whose clamped result equals its steps; nullopt if
/// none exists within reach. The clamp is lo..hi, and lo ≤ bottom, top ≤ hi
/// for every channel. Both maps are monotone, so equal step positions mean
/// equal functions.
std::optional<Requantizer> searchRequantizer(const std::vector<Steps> &channels,
                                             int64_t lo, int64_t hi,
                                             Reach reach = Reach::Narrow);

/// The integer combination (x·lhs + y·rhs + offset) >> shift of two operands
/// that equals the steps of a function of X = x·p + y·q.
struct PairRequantizer {
  int64_t lhs, rhs, offset, shift;
};

/// The search for two operands with ranges x and y, by enumeration of all
/// pairs; at most 2^20 of them. `slope` is the true slope, in levels per unit
/// of X. nullopt if nothing below 62 bits is found.
std::optional<PairRequantizer> searchPair(const Steps &steps, int64_t lo,
                                          int64_t hi, double slope, int64_t p,
                                          int64_t q,
                                          std::pair<int64_t, int64_t> x,
                                          std::pair<int64_t, int64_t> y);
} // namespace rhizome
