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

/// What offsets are at least or at most for a multiplier m: c − m · a.
struct Bound {
  Wide c, a;
};

/// A byte v or more from a sum a on bounds the offset o from below,
/// v · 2^total − m · a; less than v at a bounds it from above.
struct Bounds {
  std::vector<Bound> lower, upper;

  /// Of a staircase; `next(t)` is the least sum from t on that there is,
  /// `last(t)` the greatest before it.
  template <typename Next, typename Last>
  Bounds(const Staircase &s, int64_t total, Next next, Last last) {
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
    for (auto [sum, then] : s.steps) {
      staysBelow(value + 1, last(sum));
      reaches(then, next(sum));
      value = then;
    }
    staysBelow(value + 1, s.most);
  }

  /// For no pair of bounds may the lower one exceed the upper one, which bounds
  /// m: what is left of its range is right, and nothing else is.
  std::optional<std::pair<Wide, Wide>> multipliers(Wide from, Wide to) const {
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
    return std::pair(from, to);
  }
};

/// Constants with `total` bits of shift.
std::optional<Lane> laneOf(const Staircase &s, int64_t total) {
  const Wide most = (Wide(1) << (kOffsetBits - 1)) - 1;
  Bounds bounds(
      s, total, [](int64_t sum) { return sum; },
      [](int64_t sum) { return sum - 1; });
  bounds.lower.push_back({-most - 1, 0});
  bounds.upper.push_back({most, 0});
  auto range = bounds.multipliers(0, (Wide(1) << (kMultiplierBits - 1)) - 1);
  if (!range)
    return std::nullopt;
  const Wide m = range->first + (range->second - range->first) / 2;
  Wide o = -most - 1;
  for (const Bound &l : bounds.lower)
    o = std::max(o, l.c - m * l.a);
  return Lane{int64_t(s.falls ? -m : m), 0, int64_t(o)};
}

/// All pairs of bytes of an addition, with their sums and what a staircase
/// makes of these.
class Pairs {
public:
  Pairs(const Addends &x, const Staircase &s) : low(s.low), high(s.high) {
    for (int64_t a = x.leastA; a <= x.mostA; ++a)
      for (int64_t b = x.leastB; b <= x.mostB; ++b)
        all.push_back({a, b, a * x.left + b * x.right, 0});
    llvm::sort(all, [](const Pair &p, const Pair &q) { return p.sum < q.sum; });
    auto step = s.steps.begin();
    int64_t value = s.first;
    for (Pair &pair : all) {
      for (; step != s.steps.end() && step->first <= pair.sum; ++step)
        value = step->second;
      pair.value = value;
    }
  }
  /// The least sum from `sum` on, and the greatest before it; the ends where
  /// there is none.
  int64_t next(int64_t sum) const {
    auto at = from(sum);
    return at == all.end() ? all.back().sum : at->sum;
  }
  int64_t last(int64_t sum) const {
    auto at = from(sum);
    return at == all.begin() ? all.front().sum : std::prev(at)->sum;
  }
  /// An offset with which m and n are right for all pairs.
  std::optional<int64_t> offsetFor(Wide m, Wide n, int64_t total) const {
    Wide least = -(Wide(1) << (kOffsetBits - 1)), most = -least - 1;
    for (const Pair &pair : all) {
      const Wide sum = 4 * (pair.a * m + pair.b * n);
      if (pair.value > low)
        least = std::max(least, (Wide(pair.value) << total) - sum);
      if (pair.value < high)
        most = std::min(most, (Wide(pair.value + 1) << total) - 1 - sum);
      if (least > most)
        return std::nullopt;
    }
    return int64_t(least + (most - least) / 2);
  }

private:
  struct Pair {
    int64_t a, b, sum, value;
  };
  std::vector<Pair> all; ///< by their sums
  int64_t low, high;

  std::vector<Pair>::const_iterator from(int64_t sum) const {
    return llvm::lower_bound(
        all, sum, [](const Pair &pair, int64_t s) { return pair.sum < s; });
  }
};

/// The multiplier of the sums is looked for with many bits. Rounding it times
/// the operands' factors moves sums a little, so some are tried.
std::optional<Lane> laneOf(const Addends &x, const Staircase &s,
                           int64_t total) {
  constexpr int64_t kFine = 24, kTries = 16;
  const Pairs pairs(x, s);
  Bounds bounds(
      s, total + kFine, [&](int64_t sum) { return pairs.next(sum); },
      [&](int64_t sum) { return pairs.last(sum); });
  auto range = bounds.multipliers(0, Wide(1) << 60);
  if (!range)
    return std::nullopt;
  auto rounded = [&](int64_t factor, Wide multiplier) {
    // The instruction multiplies operands by four.
    constexpr int64_t kDown = kFine + 2;
    return (factor * multiplier + (Wide(1) << (kDown - 1))) >> kDown;
  };
  for (int64_t i = 1; i < kTries; ++i) {
    const Wide multiplier =
        range->first + (range->second - range->first) * i / kTries;
    const Wide m = rounded(x.left, multiplier),
               n = rounded(x.right, multiplier);
    if (!fits(m, kFactorBits) || !fits(n, kFactorBits))
      continue;
    if (auto offset = pairs.offsetFor(m, n, total))
      return Lane{int64_t(m), int64_t(n), *offset};
  }
  return std::nullopt;
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
  return lanesOf(staircases, [](const Staircase &staircase, int64_t total) {
    return laneOf(staircase, total);
  });
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

/// Lanes with the greatest shift with which all have constants: it has most
/// bits.
static std::optional<Lanes> additionOf(ArrayRef<Addends> addends,
                                       ArrayRef<Staircase> staircases) {
  for (int64_t shift = kShifts - 1; shift >= 0; --shift) {
    Lanes made = {{}, shift};
    for (auto [x, s] : zip_equal(addends, staircases)) {
      auto lane = laneOf(x, s, 8 * shift);
      if (!lane)
        break;
      made.lanes.push_back(*lane);
    }
    if (made.lanes.size() == addends.size())
      return made;
  }
  return std::nullopt;
}

/// The steps to even or to odd bytes alone, from `first` on.
static Staircase halfOf(const Staircase &s, bool isOdd, int64_t first) {
  Staircase half = {s.least, s.most, first, first, first, {}};
  int64_t value = s.first, own = first;
  for (auto [sum, next] : s.steps) {
    int64_t before = own;
    for (++value; value <= next; ++value)
      own += (value & 1) == int64_t(isOdd);
    value = next;
    if (own != before)
      half.steps.push_back({sum, own});
  }
  half.high = own;
  return half;
}

std::vector<Addition> engine::additionsOf(ArrayRef<Addends> addends,
                                          ArrayRef<Staircase> staircases) {
  const int64_t low = staircases.front().low, high = staircases.front().high;
  if (auto one = ::additionOf(addends, staircases))
    return {{std::move(*one), low, high}};
  constexpr int64_t kFirst = -64; // half of at most 255 steps fit a byte
  std::vector<Addition> made;
  for (bool isOdd : {false, true}) {
    std::vector<Staircase> halves;
    int64_t last = kFirst;
    for (const Staircase &s : staircases) {
      halves.push_back(halfOf(s, isOdd, kFirst));
      last = std::max(last, halves.back().high);
    }
    for (Staircase &half : halves)
      half.high = last;
    auto lanes = ::additionOf(addends, halves);
    if (!lanes)
      return {};
    made.push_back({std::move(*lanes), kFirst, last});
  }
  std::vector<Sum> sums;
  for (const Staircase &s : staircases)
    sums.push_back({1, 1, s.first - 2 * kFirst, 0});
  made.push_back({*engine::additionOf(sums), low, high});
  return made;
}

std::optional<Staircase> engine::stepsOf(const Sum &sum, const Addends &addends,
                                         int64_t low, int64_t high,
                                         std::optional<int64_t> ties) {
  auto ends = [](Wide factor, int64_t least, int64_t most) {
    return std::minmax({factor * least, factor * most});
  };
  const auto [leastA, mostA] = ends(sum.left, addends.leastA, addends.mostA);
  const auto [leastB, mostB] = ends(sum.right, addends.leastB, addends.mostB);
  const Wide least = leastA + leastB, most = mostA + mostB;
  if (!fits(least, 62) || !fits(most, 62))
    return std::nullopt;
  // The least sum of which the byte is v or more.
  auto from = [&](int64_t v) {
    return (Wide(v) << sum.shift) - sum.offset + (ties && ((v + *ties) & 1));
  };
  Staircase made = {int64_t(least), int64_t(most), low, high, low, {}};
  for (int64_t v = low + 1; v <= high && from(v) <= most; ++v)
    if (from(v) <= least)
      made.first = v;
    else
      made.steps.push_back({int64_t(from(v)), v});
  return made;
}
