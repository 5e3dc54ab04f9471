// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The part of an HLS tool's integers that the emitted data movers use.
#pragma once

#include <array>
#include <cstdint>

template <int W> class ap_uint {
public:
  ap_uint() = default;
  /// Sign-extends, then truncates to W bits.
  ap_uint(long long value) {
    for (auto &part : parts) {
      part = static_cast<uint64_t>(value);
      value = value < 0 ? -1 : 0;
    }
    if (W % 64)
      parts.back() &= (uint64_t(1) << W % 64) - 1;
  }
  bool operator==(const ap_uint &) const = default;

private:
  std::array<uint64_t, (W + 63) / 64> parts{};
};
