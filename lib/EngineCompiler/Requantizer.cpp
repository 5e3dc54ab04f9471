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

/// The bytes of a scaling, step by step.
Staircase staircaseOf(Scaling s) {
  Staircase made = {s.least, s.most, s.low, s.high, 0, {}, s.multiplier < 0};
  if (made.falls) {
    s.multiplier = -s.multiplier;
    std::tie(made.least, made.most) = std::pair(-s.most, -s.least);
  }
  auto byteOf = [&](int64_t a) {
    return int64_t(std::clamp<Wide>(
        (Wide(a) * s.multiplier + s.offset) >> s.shift, s.low, s.high));
  };
  made.first = byteOf(made.least);
  for (int64_t v = made.first + 1, last = byteOf(made.most); v <= last; ++v)
    made.steps.push_back(
        {int64_t(-floorDiv(s.offset - (Wide(v) << s.shift), s.multiplier)), v});
  return made;
}

/// Constants with `total` bits of shift. A byte v or more from a sum a on
/// bounds the offset o from below, v · 2^total − m · a; less than v at a bounds
/// it from above. For no pair of bounds may the lower one exceed the upper one,
/// which bounds m: what is left of its range is right, and nothing else is.
std::optional<Lane> laneOf(const Staircase &s, int64_t total) {
  /// c − m · a.
  struct Bound {
    Wide c, a;
  };
  const Wide most = (Wide(1) << (kOffsetBits - 1)) - 1;
  std::vector<Bound> lower = {{-most - 1, 0}}, upper = {{most, 0}};
  auto reaches = [&](int64_t v, int64_t a) {
    if (v > s.low)
      lower.push_back({Wide(v) << total, a});
  };
  auto staysBelow = [&](int64_t v, int64_t a) {
    if (v <= s.high)
      upper.push_back({(Wide(v) << total) - 1, a});
  };
  int64_t value = s.first;
  reaches(value, s.least);
  for (auto [sum, next] : s.steps) {
    staysBelow(value + 1, sum - 1);
    reaches(next, sum);
    value = next;
  }
  staysBelow(value + 1, s.most);
  Wide from = 0, to = (Wide(1) << (kMultiplierBits - 1)) - 1;
  for (const Bound &l : lower)
    for (const Bound &u : upper) {
      // m · (u.a − l.a) ≤ u.c − l.c
      const Wide a = u.a - l.a, c = u.c - l.c;
      if (a > 0)
        to = std::min(to, floorDiv(c, a));
      else if (a < 0)
        from = std::max(from, -floorDiv(c, -a));
      else if (c < 0)
        return std::nullopt;
    }
  if (from > to)
    return std::nullopt;
  const Wide m = from + (to - from) / 2;
  Wide o = -most - 1;
  for (const Bound &l : lower)
    o = std::max(o, l.c - m * l.a);
  return Lane{int64_t(s.falls ? -m : m), 0, int64_t(o)};
}

/// Lanes with the least shift with which all have constants.
template <typename T, typename LaneOf>
std::optional<Lanes> lanesOf(ArrayRef<T> functions, LaneOf of) {
  for (int64_t shift = 0; shift < kShifts; ++shift) {
    Lanes made = {{}, shift};
    for (const T &function : functions) {
      auto lane = of(function, 17 + 8 * shift);
      if (!lane)
        break;
      made.lanes.push_back(*lane);
    }
    if (made.lanes.size() == functions.size())
      return made;
  }
  return std::nullopt;
}
} // namespace

std::optional<Lanes> engine::requantizerOf(ArrayRef<Scaling> scalings) {
  if (auto made = lanesOf(scalings, scaled))
    return made;
  return lanesOf(scalings, [](const Scaling &scaling, int64_t total) {
    auto lane = scaled(scaling, total);
    return lane ? lane : laneOf(staircaseOf(scaling), total);
  });
}

std::optional<Lanes> engine::requantizerOf(ArrayRef<Staircase> staircases) {
  return lanesOf(staircases, laneOf);
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
