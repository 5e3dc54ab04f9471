// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How large tensors and files of others may be. Sizes are checked where they
// enter, by these functions, so that later products cannot overflow and memory
// is not exceeded by what a few bytes announce.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/MathExtras.h"
#include <cstdint>
#include <optional>

namespace rhizome {
/// Elements of a tensor, at most: a product with the bits of an element, with
/// a count of frames or with a stride is still far from 64 bits.
inline constexpr int64_t kMostElements = int64_t(1) << 40;

/// Memory that reading one file of data takes, at most.
inline constexpr int64_t kMostDataBytes = int64_t(2) << 30;

/// The number of elements of a shape; nothing if an extent is negative, as
/// those that are not known are, or the number is above `most`.
inline std::optional<int64_t> elementsOf(llvm::ArrayRef<int64_t> shape,
                                         int64_t most = kMostElements) {
  // Extents after a zero are checked, too: strides multiply without it.
  int64_t all = 1;
  bool isEmpty = false;
  for (int64_t extent : shape) {
    isEmpty |= extent == 0;
    if (extent < 0 || llvm::MulOverflow(all, extent == 0 ? 1 : extent, all) ||
        all > most)
      return std::nullopt;
  }
  return isEmpty ? 0 : all;
}
} // namespace rhizome
