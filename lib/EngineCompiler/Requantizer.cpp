// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Constants of lanes: scaled by powers of two, or searched by the thresholds
// that they have to meet.
#include "Requantizer.h"
#include <algorithm>

using namespace llvm;
using namespace rhizome;
using namespace rhizome::engine;

using Wide = __int128;

namespace {
constexpr int64_t kShifts = 4; // values of the field `shift`
constexpr unsigned kMultiplierBits = 35, kOffsetBits = 47, kFactorBits = 24;
/// Multipliers on each side of the nearest one that are tried.
constexpr int64_t kNeighbors = 16;

bool fits(Wide value, unsigned bits) {
  const Wide bound = Wide(1) << (bits - 1);
  return value >= -bound && value < bound;
}

Wide floorDiv(Wide a, Wide b) {
  const Wide quotient = a / b;
  return quotient - (a % b != 0 && (a < 0) != (b < 0));
}

/// The same function, scaled up to `total` bits of shift.
std::optional<Lane> scaled(const Scaling &s, int64_t total) {
  if (total < s.shift)
    return std::nullopt;
  const Wide m = Wide(s.multiplier) << (total - s.shift);
  const Wide o = s.offset << (total - s.shift);
  if (!fits(m, kMultiplierBits) || !fits(o, kOffsetBits))
    return std::nullopt;
  return Lane{int64_t(m), 0, int64_t(o)};
}

/// Another function of `total` bits of shift with the same bytes. A byte v or
/// more comes from sums of threshold(v) on; for a multiplier m each of them is
/// a bound of o from below and one from above.
std::optional<Lane> searched(Scaling s, int64_t total) {
  const bool falls = s.multiplier < 0;
  if (falls) {
    s.multiplier = -s.multiplier;
    std::tie(s.least, s.most) = std::pair(-s.most, -s.least);
  }
  auto byteOf = [&](int64_t a) {
    return std::clamp<Wide>((Wide(a) * s.multiplier + s.offset) >> s.shift,
                            s.low, s.high);
  };
  const int64_t first = int64_t(byteOf(s.least)),
                last = int64_t(byteOf(s.most));
  const Wide nearest =
      total >= s.shift
          ? Wide(s.multiplier) << (total - s.shift)
          : ((Wide(s.multiplier) >> (s.shift - total - 1)) + 1) >> 1;
  auto tried = [&](Wide m) -> std::optional<Lane> {
    if (m < 0 || !fits(m, kMultiplierBits))
      return std::nullopt;
    Wide lower = -(Wide(1) << (kOffsetBits - 1)), upper = -lower - 1;
    // At least `v` at `a`, and less than `v` at `a`.
    auto reaches = [&](int64_t v, Wide a) {
      lower = std::max(lower, (Wide(v) << total) - m * a);
    };
    auto staysBelow = [&](int64_t v, Wide a) {
      upper = std::min(upper, (Wide(v) << total) - m * a - 1);
    };
    if (first > s.low)
      reaches(first, s.least);
    if (last < s.high)
      staysBelow(last + 1, s.most);
    for (int64_t v = first + 1; v <= last; ++v) {
      const Wide threshold =
          -floorDiv(s.offset - (Wide(v) << s.shift), s.multiplier);
      reaches(v, threshold);
      staysBelow(v, threshold - 1);
    }
    if (lower > upper)
      return std::nullopt;
    return Lane{int64_t(falls ? -m : m), 0,
                int64_t(lower + (upper - lower) / 2)};
  };
  if (first == last)
    return tried(0);
  for (int64_t i = 0; i <= kNeighbors; ++i)
    for (const Wide m : {nearest + i, nearest - i})
      if (auto lane = tried(m))
        return lane;
  return std::nullopt;
}
} // namespace

std::optional<Lanes> engine::requantizerOf(ArrayRef<Scaling> scalings) {
  for (bool searches : {false, true})
    for (int64_t shift = 0; shift < kShifts; ++shift) {
      Lanes made = {{}, shift};
      for (const Scaling &scaling : scalings) {
        const int64_t total = 17 + 8 * shift;
        auto lane = scaled(scaling, total);
        if (!lane && searches)
          lane = searched(scaling, total);
        if (!lane)
          break;
        made.lanes.push_back(*lane);
      }
      if (made.lanes.size() == scalings.size())
        return made;
    }
  return std::nullopt;
}

std::optional<Lanes> engine::additionOf(ArrayRef<Sum> sums) {
  for (int64_t shift = 0; shift < kShifts; ++shift) {
    Lanes made = {{}, shift};
    for (const Sum &sum : sums) {
      const int64_t up = 8 * shift - sum.shift;
      if (up < 0)
        break;
      // The instruction multiplies operands by four.
      const Wide m = sum.left << up, n = sum.right << up, o = sum.offset << up;
      if (m % 4 != 0 || n % 4 != 0 || !fits(m / 4, kFactorBits) ||
          !fits(n / 4, kFactorBits) || !fits(o, kOffsetBits))
        break;
      made.lanes.push_back({int64_t(m / 4), int64_t(n / 4), int64_t(o)});
    }
    if (made.lanes.size() == sums.size())
      return made;
  }
  return std::nullopt;
}
