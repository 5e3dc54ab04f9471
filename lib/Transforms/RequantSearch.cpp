// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A requantizer is a line: level = ⌊(m·x + b) / 2^s⌋. It equals a step function
// if and only if the line is on or above each step's point (T, K) and
// strictly below (T − 1, K). Only the convex hulls of the two point sets
// matter, and for a fixed shift the width of the corridor between them is
// concave in m, so a binary search decides. See docs/architecture.md, "Integer
// semantics".
#include "rhizome/Transforms/RequantSearch.h"
#include "rhizome/Dialect/Num/Num.h"
#include "llvm/Support/Parallel.h"
#include <algorithm>
#include <cassert>
#include <cmath>

using namespace rhizome;
using Wide = __int128;

/// What a product and the sum with its offset may have, without the sign.
static constexpr int kNarrowBits = 61, kWideBits = 110;

namespace {
struct Point {
  int64_t x, level;
};

/// The line's lower and upper constraints of one channel, as hulls.
struct Corridor {
  std::vector<Point> above; ///< the line passes on or above these
  std::vector<Point> below; ///< and strictly below these
};
} // namespace

static Wide cross(Point o, Point a, Point b) {
  return Wide(a.x - o.x) * (b.level - o.level) -
         Wide(a.level - o.level) * (b.x - o.x);
}

/// Keeps the hull of points sorted by x (and level): the upper one for sign
/// −1, the lower one for sign 1.
static std::vector<Point> hull(const std::vector<Point> &points, int sign) {
  // Products of differences of narrow numbers need no wide ones.
  constexpr int64_t kNarrow = int64_t(1) << 28;
  const bool isNarrow =
      std::all_of(points.begin(), points.end(), [](const Point &p) {
        return std::abs(p.x) < kNarrow && std::abs(p.level) < kNarrow;
      });
  auto turns = [&](Point o, Point a, Point b) {
    if (isNarrow)
      return sign * ((a.x - o.x) * (b.level - o.level) -
                     (a.level - o.level) * (b.x - o.x)) >
             0;
    return sign * cross(o, a, b) > 0;
  };
  std::vector<Point> out;
  for (Point p : points) {
    while (out.size() >= 2 && !turns(out[out.size() - 2], out.back(), p))
      out.pop_back();
    out.push_back(p);
  }
  return out;
}

static Corridor makeCorridor(const Steps &steps, int64_t lo, int64_t hi) {
  std::vector<Point> above, below;
  if (steps.bottom > lo)
    above.push_back({steps.lo, steps.bottom});
  for (size_t k = 0; k < steps.at.size(); ++k) {
    int64_t level = steps.bottom + 1 + int64_t(k);
    // Of several steps at one position the highest is reached, the lowest left.
    if (k + 1 == steps.at.size() || steps.at[k + 1] != steps.at[k])
      above.push_back({steps.at[k], level});
    if (k == 0 || steps.at[k - 1] != steps.at[k])
      below.push_back({steps.at[k] - 1, level});
  }
  if (steps.top() < hi)
    below.push_back({steps.hi, steps.top() + 1});
  return {hull(above, -1), hull(below, 1)};
}

namespace {
/// The range of b in the corridor, given m and the shift, and by how much its
/// width grows with m at most: a line through it is on or above all others.
struct OffsetRange {
  Wide low, high;
  int64_t growth = 0;
  Wide room() const { return high - low; }
};
} // namespace

static OffsetRange offsetRange(const Corridor &c, Wide m, int64_t shift) {
  Wide none = Wide(1) << 125;
  OffsetRange range{-none, none};
  int64_t above = 0, below = 0;
  for (Point p : c.above)
    if (Wide b = (Wide(p.level) << shift) - m * p.x; b > range.low) {
      range.low = b;
      above = p.x;
    }
  for (Point p : c.below)
    if (Wide b = (Wide(p.level) << shift) - m * p.x - 1; b < range.high) {
      range.high = b;
      below = p.x;
    }
  range.growth = above - below;
  return range;
}

/// The least multiplier with the widest corridor, and its width (negative:
/// none). Where the lines through two multipliers on either side of it meet is
/// the next one to try (Kelley, J. SIAM 8, 1960), which takes few steps; should
/// it take more, every other step halves the interval.
static std::pair<Wide, Wide> bestMultiplier(const Corridor &c, Wide limit,
                                            int64_t shift) {
  constexpr int kFew = 8;
  Wide low = 0, high = limit;
  // The lines on both sides: at a multiplier, a width and its growth.
  struct Line {
    Wide at, room;
    int64_t growth;
  };
  auto lineAt = [&](Wide m) {
    OffsetRange range = offsetRange(c, m, shift);
    return Line{m, range.room(), range.growth};
  };
  Line left = lineAt(low), right = lineAt(high);
  for (int step = 0; low < high; ++step) {
    Wide middle = low + (high - low) / 2;
    if ((step < kFew || step % 2) && left.growth > right.growth)
      middle = std::clamp((right.room - Wide(right.growth) * right.at -
                           left.room + Wide(left.growth) * left.at) /
                              (left.growth - right.growth),
                          low, high - 1);
    OffsetRange here = offsetRange(c, middle, shift),
                next = offsetRange(c, middle + 1, shift);
    if (next.room() > here.room()) {
      low = middle + 1;
      left = Line{middle + 1, next.room(), next.growth};
    } else {
      high = middle;
      right = Line{middle, here.room(), here.growth};
    }
  }
  return {low, offsetRange(c, low, shift).room()};
}

/// A value of the range with as many trailing zeros as possible.
static Wide roundest(Wide low, Wide high) {
  if (low <= 0 && high >= 0)
    return 0;
  for (int bit = kWideBits; bit > 0; --bit) {
    Wide unit = Wide(1) << bit;
    Wide candidate = low > 0 ? (low + unit - 1) / unit * unit
                             : -(-high + unit - 1) / unit * unit;
    if (low <= candidate && candidate <= high)
      return candidate;
  }
  return low;
}

static bool fits(Wide v, int bits) {
  return v < (Wide(1) << bits) && v > -(Wide(1) << bits);
}

/// The largest multiplier to try: steeper than every step.
static Wide multiplierLimit(const Steps &steps, int64_t shift) {
  return (Wide(steps.top() - steps.bottom + 1) << shift) + 1;
}

int64_t Requantizer::apply(int64_t x, size_t channel) const {
  Wide v = Wide(x) * multiplier[channel] + offset[channel];
  int64_t level = int64_t(v >> shift);
  bool tie = tiesEven && (v & ((Wide(1) << shift) - 1)) == 0;
  level = tie ? level & ~int64_t(1) : level;
  return base.empty() ? level : level + base[channel];
}

unsigned Requantizer::multiplierBits() const {
  auto [low, high] = std::minmax_element(multiplier.begin(), multiplier.end());
  return num::bitsForRange(*low, *high);
}

/// Rounding half to even with a power-of-two slope: exact numbers, no search.
/// Takes the pieces' slope and offset from two neighboring steps and compares
/// every position.
static std::optional<std::pair<int64_t, int64_t>>
tiesEvenChannel(const Steps &steps, int64_t lo, int64_t hi, int64_t shift,
                int64_t multiplier) {
  // level ≥ K ⇔ m·x + b ≥ K·2^s (K even) or > (K odd): each step bounds b.
  Wide low = -(Wide(1) << 120), high = Wide(1) << 120;
  auto reaches = [&](int64_t x, int64_t level) {
    low = std::max(low,
                   (Wide(level) << shift) - Wide(multiplier) * x + (level & 1));
  };
  auto misses = [&](int64_t x, int64_t level) {
    high = std::min(high, (Wide(level) << shift) - Wide(multiplier) * x - 1 +
                              (level & 1));
  };
  if (steps.bottom > lo)
    reaches(steps.lo, steps.bottom);
  for (size_t k = 0; k < steps.at.size() && low <= high; ++k) {
    reaches(steps.at[k], steps.bottom + 1 + int64_t(k));
    misses(steps.at[k] - 1, steps.bottom + 1 + int64_t(k));
  }
  if (steps.top() < hi)
    misses(steps.hi, steps.top() + 1);
  if (low > high)
    return std::nullopt;
  const Wide offset = roundest(low, high);
  if (!fits(offset, kNarrowBits))
    return std::nullopt;
  return std::pair(multiplier, int64_t(offset));
}

/// All channels with one power-of-two slope and ties to even; the shift follows
/// from the longest run of steps.
static std::optional<Requantizer>
searchTiesEven(const std::vector<Steps> &channels, int64_t lo, int64_t hi) {
  const Steps *longest = &channels[0];
  for (const Steps &steps : channels)
    if (steps.at.size() > longest->at.size())
      longest = &steps;
  if (longest->at.size() < 2)
    return std::nullopt;
  double rise =
      double(longest->at.size() - 1) /
      double(std::max<int64_t>(1, longest->at.back() - longest->at.front()));
  int64_t shift = std::llround(-std::log2(rise));
  if (shift < 1 || shift > 50)
    return std::nullopt;
  Requantizer result;
  result.shift = shift;
  result.tiesEven = true;
  for (const Steps &steps : channels) {
    auto channel = tiesEvenChannel(steps, lo, hi, shift, 1);
    if (!channel)
      return std::nullopt;
    result.multiplier.push_back(steps.falls ? -1 : 1);
    result.offset.push_back(channel->second);
  }
  return result;
}

/// Without ties to even.
static std::optional<Requantizer> searchLine(const std::vector<Steps> &channels,
                                             int64_t lo, int64_t hi,
                                             Reach reach) {
  const bool isWide = reach == Reach::Wide;
  const int bits = isWide ? kWideBits : kNarrowBits;
  std::vector<Corridor> corridors(channels.size());
  llvm::parallelFor(0, channels.size(), [&](size_t c) {
    corridors[c] = makeCorridor(channels[c], lo, hi);
  });
  int64_t magnitude = 1;
  for (const Steps &steps : channels)
    magnitude = std::max({magnitude, std::abs(steps.lo), std::abs(steps.hi)});
  // m·x stays below 2^bits, and 2^s·level too; a shift is one of 64 bits.
  int64_t span = std::max(std::abs(lo), std::abs(hi)) + 2;
  int64_t maxShift = std::min<int64_t>(
      kNarrowBits, bits - 1 - int64_t(std::ceil(std::log2(double(span)))));

  auto feasible = [&](size_t c, int64_t s) {
    return bestMultiplier(corridors[c], multiplierLimit(channels[c], s), s)
               .second >= 0;
  };
  // A solution at one shift gives one at the next: binary search per channel.
  int64_t shift = 0;
  bool found = true;
  std::vector<char> holds(channels.size());
  for (size_t c = 0; c < channels.size() && found; ++c) {
    // The first channel gives an estimate of the shift; then all others are
    // tried at once, and again after each that needs a larger one.
    if (c < 2 || !holds[c - 1])
      llvm::parallelFor(c, c == 0 ? 1 : channels.size(), [&](size_t other) {
        holds[other] = feasible(other, shift);
      });
    if (holds[c])
      continue;
    int64_t no = shift, yes = maxShift;
    if (!feasible(c, yes)) {
      found = false;
      break;
    }
    while (yes - no > 1) {
      int64_t middle = (no + yes) / 2;
      (feasible(c, middle) ? yes : no) = middle;
    }
    shift = yes;
  }
  Requantizer result;
  result.shift = shift;
  std::vector<Wide> multipliers(channels.size());
  if (found)
    llvm::parallelFor(0, channels.size(), [&](size_t c) {
      Wide limit = multiplierLimit(channels[c], shift);
      multipliers[c] = bestMultiplier(corridors[c], limit, shift).first;
    });
  for (size_t c = 0; c < channels.size() && found; ++c) {
    Wide m = multipliers[c];
    auto [low, high, growth] = offsetRange(corridors[c], m, shift);
    // Without constraints on one side, any offset that fits will do.
    low = std::max(low, -(Wide(1) << (bits - 1)));
    high = std::min(high, Wide(1) << (bits - 1));
    if (low > high || !fits(m, kNarrowBits) ||
        !fits(m * magnitude + high, bits) || !fits(m * magnitude - low, bits))
      return std::nullopt;
    result.multiplier.push_back(int64_t(channels[c].falls ? -m : m));
    Wide offset = roundest(low, high);
    if (isWide) {
      result.base.push_back(int64_t(offset >> shift));
      offset &= (Wide(1) << shift) - 1;
    }
    result.offset.push_back(int64_t(offset));
  }
  return found ? std::optional(result) : std::nullopt;
}

std::optional<Requantizer>
rhizome::searchRequantizer(const std::vector<Steps> &channels, int64_t lo,
                           int64_t hi, Reach reach) {
  auto found = searchLine(channels, lo, hi, reach);
  if (reach == Reach::Wide || (found && found->multiplierBits() == 1))
    return found;
  auto ties = searchTiesEven(channels, lo, hi);
  return ties && (!found || ties->multiplierBits() < found->multiplierBits())
             ? ties
             : found;
}

std::optional<PairRequantizer>
rhizome::searchPair(const Steps &steps, int64_t lo, int64_t hi, double slope,
                    int64_t p, int64_t q, std::pair<int64_t, int64_t> x,
                    std::pair<int64_t, int64_t> y) {
  // For every y the steps are at single x: only their two neighbors
  // constrain the plane (a, b, offset).
  struct Constraint {
    int64_t x, y, level;
  };
  assert(p > 0 && "the left factor rises");
  std::vector<Constraint> reach, miss;
  auto ceilDiv = [](Wide n, Wide d) {
    Wide t = n / d;
    return int64_t(t * d < n ? t + 1 : t);
  };
  for (int64_t v = y.first; v <= y.second; ++v) {
    for (size_t k = 0; k < steps.at.size(); ++k) {
      int64_t level = steps.bottom + 1 + int64_t(k);
      int64_t first = ceilDiv(Wide(steps.at[k]) - Wide(q) * v, p);
      if (first <= x.second)
        reach.push_back({std::max(first, x.first), v, level});
      if (first > x.first)
        miss.push_back({std::min(first - 1, x.second), v, level});
    }
    if (steps.bottom > lo)
      reach.push_back({x.first, v, steps.bottom});
    if (steps.top() < hi)
      miss.push_back({x.second, v, steps.top() + 1});
  }
  for (int64_t shift = 0; shift <= 32; ++shift) {
    int64_t a0 = std::llround(std::ldexp(slope * double(p), int(shift)));
    int64_t b0 = std::llround(std::ldexp(slope * double(q), int(shift)));
    for (int64_t a = std::max<int64_t>(a0 - 1, 0); a <= a0 + 1; ++a)
      for (int64_t b = b0 - 1; b <= b0 + 1; ++b) {
        Wide low = -(Wide(1) << 60), high = Wide(1) << 60;
        size_t n = std::max(reach.size(), miss.size());
        for (size_t i = 0; i < n && low <= high; ++i) {
          if (i < reach.size()) {
            const Constraint &r = reach[i];
            low = std::max(low, (Wide(r.level) << shift) - Wide(a) * r.x -
                                    Wide(b) * r.y);
          }
          if (i < miss.size()) {
            const Constraint &m = miss[i];
            high = std::min(high, (Wide(m.level) << shift) - Wide(a) * m.x -
                                      Wide(b) * m.y - 1);
          }
        }
        if (low <= high)
          return PairRequantizer{a, b, int64_t(roundest(low, high)), shift};
      }
  }
  return std::nullopt;
}
