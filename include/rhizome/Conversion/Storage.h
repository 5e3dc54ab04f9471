// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How the CPU path stores a `!num.int`: determined by the range alone, in one
// place for the conversion and for callers that pass data.
#pragma once

#include "rhizome/Dialect/Num/Num.h"

namespace rhizome {
/// A signless integer of 8, 16, 32 or 64 bits and how it is extended.
struct Storage {
  unsigned width = 64;
  bool isSigned = true;

  /// The narrowest storage that holds lo..hi, unsigned if lo ≥ 0.
  static Storage forRange(int64_t lo, int64_t hi) {
    unsigned bits = num::bitsForRange(lo, hi);
    return {bits <= 8 ? 8u : bits <= 16 ? 16u : bits <= 32 ? 32u : 64u, lo < 0};
  }
  static Storage of(num::IntType type) {
    return forRange(type.getLo(), type.getHi());
  }
};
} // namespace rhizome
