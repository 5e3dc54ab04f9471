// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Layouts by search: what is missing on all dies together falls with every
// step, then the number of wires.
#include "rhizome/Explore/Solver/Layout.h"
#include "llvm/Support/xxhash.h"
#include <algorithm>
#include <cmath>

namespace rhizome::explore {
using gen::Resources;
constexpr size_t kOnChip = gen::kResourceNames.size();

namespace {
/// A layout that is changed item by item.
class Search {
public:
  explicit Search(const Layout &layout)
      : layout(layout), dies(int(layout.room.size())),
        streamsOf(layout.items.size()), used(layout.room.size()),
        wires(layout.room.size()) {
    for (const Resources &die : layout.room) {
      Room &room = rooms.emplace_back();
      for (size_t k = 0; k < kOnChip; ++k) {
        room.amount[k] = die.amount[k] * layout.share;
        room.most[k] = room.amount[k] * (1 + 1e-12) + 1e-6;
      }
    }
    for (int s = 0; s < int(layout.streams.size()); ++s) {
      auto add = [&](int item) {
        if (item != Layout::kBorder &&
            (streamsOf[item].empty() || streamsOf[item].back() != s))
          streamsOf[item].push_back(s);
      };
      add(layout.streams[s].from);
      for (int to : layout.streams[s].to)
        add(to);
    }
  }

  LaidOut all();
  LaidOut descend();

private:
  /// Layouts of few items that are all tried.
  static constexpr double kMostTried = 4096;
  static constexpr int kBeginnings = 4, kMostSteps = 400;
  /// Of more items each move that helps is made at once, not only the best of
  /// all; and each is so small that swaps find little more.
  static constexpr size_t kMany = 200;
  /// If the first search ends with so much missing, others do not help.
  static constexpr double kHopeless = 0.1;

  const Layout &layout;
  const int dies;
  std::vector<std::vector<int>> streamsOf; ///< by item
  std::vector<int> on;                     ///< the die of each item
  std::vector<Cost> used;                  ///< of each die
  /// What may be used of a die, and what counts as no more than that.
  struct Room {
    std::array<double, kOnChip> amount, most;
  };
  std::vector<Room> rooms;
  std::vector<int64_t> wires; ///< from each die to the next one

  int dieOf(int item) const {
    return item == Layout::kBorder ? layout.border : on[item];
  }
  void add(Cost &sum, const Cost &cost, double sign) const {
    for (size_t k = 0; k < kOnChip; ++k)
      sum.resources.amount[k] += sign * cost.resources.amount[k];
    sum.lutVariance += sign * cost.lutVariance;
    sum.ffVariance += sign * cost.ffVariance;
  }
  /// The first and the last die of a stream.
  std::pair<int, int> spanOf(const Layout::Stream &stream) const {
    int low = dieOf(stream.from), high = low;
    for (int to : stream.to) {
      low = std::min(low, dieOf(to));
      high = std::max(high, dieOf(to));
    }
    return {low, high};
  }
  /// The wires of an item's streams.
  int64_t wiresOf(int item) const {
    int64_t sum = 0;
    for (int s : streamsOf[item]) {
      auto [low, high] = spanOf(layout.streams[s]);
      sum += layout.streams[s].wires * (high - low);
    }
    return sum;
  }
  void addStream(const Layout::Stream &stream, int sign) {
    const int from = dieOf(stream.from);
    auto [low, high] = spanOf(stream);
    for (int d = low; d < high; ++d) {
      wires[d] += sign * stream.wires;
      add(used[d < from ? d : d + 1], stream.crossing, sign);
    }
  }
  void move(int item, int die) {
    for (int s : streamsOf[item])
      addStream(layout.streams[s], -1);
    add(used[on[item]], layout.items[item].cost, -1);
    on[item] = die;
    add(used[die], layout.items[item].cost, 1);
    for (int s : streamsOf[item])
      addStream(layout.streams[s], 1);
  }
  void place(std::vector<int> layout);
  double lacking(int die, const Cost &used) const;
  double missing(double enough = INFINITY) const;
  bool lacksWires() const;
  int64_t wiresInUse() const;
  bool mayMove(int item) const { return layout.items[item].die < 0; }
  std::vector<int> beginning(int which) const;
  bool improve();
  bool isOfMany() const { return on.size() > kMany; }
};

/// The shares of a die's resources that are missing.
double Search::lacking(int die, const Cost &used) const {
  double sum = 0;
  for (size_t k = 0; k < kOnChip; ++k) {
    double need = used.resources.amount[k];
    if (layout.errorBars && k < 2)
      need +=
          std::sqrt(std::max(0.0, k == 0 ? used.lutVariance : used.ffVariance));
    if (const Room &room = rooms[die]; need > room.most[k])
      sum += (need - room.amount[k]) / std::max(1.0, room.amount[k]);
  }
  return sum;
}

/// The shares of dies and wires that are missing; 0 if everything fits. Some
/// number above `enough` if they are more than that.
double Search::missing(double enough) const {
  double sum = 0;
  for (int d = 0; d < dies && sum <= enough; ++d) {
    sum += lacking(d, used[d]);
    if (wires[d] > layout.wires)
      sum += double(wires[d] - layout.wires) / double(layout.wires + 1);
  }
  return sum;
}

bool Search::lacksWires() const {
  return std::any_of(wires.begin(), wires.end(),
                     [&](int64_t count) { return count > layout.wires; });
}

int64_t Search::wiresInUse() const {
  int64_t sum = 0;
  for (int64_t count : wires)
    sum += count;
  return sum;
}

void Search::place(std::vector<int> where) {
  on = std::move(where);
  std::fill(used.begin(), used.end(), Cost());
  std::fill(wires.begin(), wires.end(), 0);
  for (size_t i = 0; i < on.size(); ++i)
    add(used[on[i]], layout.items[i].cost, 1);
  for (const Layout::Stream &stream : layout.streams)
    addStream(stream, 1);
}

/// All layouts, if there are few; the first with the fewest wires.
LaidOut Search::all() {
  std::vector<int> where(layout.items.size());
  LaidOut best;
  std::pair<double, int64_t> least{INFINITY, 0};
  auto next = [&](auto &self, size_t item) -> void {
    if (item == where.size()) {
      place(where);
      if (std::pair now{missing(), wiresInUse()}; now < least) {
        least = now;
        best = {where, now.first <= 0};
      }
      return;
    }
    int fixed = layout.items[item].die;
    for (int d = 0; d < dies; ++d)
      if (fixed < 0 || fixed == d) {
        where[item] = d;
        self(self, item + 1);
      }
  };
  next(next, 0);
  return best;
}

/// Everything next to the border; the row upwards or downwards, each die with
/// the same part of the sum of shares; or of those of what is scarcest.
std::vector<int> Search::beginning(int which) const {
  Resources all, room;
  for (const Layout::Item &item : layout.items)
    all += item.cost.resources;
  for (const Resources &die : layout.room)
    room += die;
  // The weight of each resource, by how scarce it is.
  std::array<double, kOnChip> weight{};
  for (size_t k = 0; k < kOnChip; ++k)
    if (room.amount[k] > 0 && all.amount[k] > 0) {
      double share = all.amount[k] / room.amount[k];
      weight[k] = (which == 3 ? std::pow(share, 4) : share) / all.amount[k];
    }
  double sum = 0, whole = 0;
  for (size_t k = 0; k < kOnChip; ++k)
    whole += weight[k] * all.amount[k];
  std::vector<int> where;
  for (const Layout::Item &item : layout.items) {
    double size = 0;
    for (size_t k = 0; k < kOnChip; ++k)
      size += weight[k] * item.cost.resources.amount[k];
    int die = std::min(dies - 1, int((sum + size / 2) / whole * dies));
    if (which == 2)
      die = dies - 1 - die;
    if (which == 0)
      die = layout.border;
    where.push_back(item.die >= 0 ? item.die : die);
    sum += size;
  }
  return where;
}

/// The best move of an item or swap of two, or all moves of a round that help;
/// false if none does.
bool Search::improve() {
  double now = missing();
  const double before = now;
  const int64_t taken = wiresInUse();
  const int n = int(on.size());
  double least = now;
  int64_t fewest = taken;
  std::array<int, 4> best{-1, 0, -1, 0}; // an item and its die, twice
  auto consider = [&](std::array<int, 4> change) {
    double left = missing(/*enough=*/least);
    int64_t count = wiresInUse();
    bool better = left < least - 1e-9 || (left <= least && count < fewest);
    if (better) {
      least = left;
      fewest = count;
      best = change;
    }
  };
  // Streams take little: what makes more missing without them is not tried.
  const bool lacks = lacksWires();
  std::vector<double> lackings;
  for (int d = 0; d < dies; ++d)
    lackings.push_back(lacking(d, used[d]));
  // What two dies lack once `out` is gone from `a` and `in` has come.
  auto left = [&](int a, const Cost &out, const Cost *in) {
    Cost there = used[a];
    add(there, out, -1);
    if (in)
      add(there, *in, 1);
    return lacking(a, there);
  };
  auto mayMoveTo = [&](int i, int d) {
    const Cost &cost = layout.items[i].cost;
    Cost there = used[d];
    add(there, cost, 1);
    return lacking(d, there) + left(on[i], cost, nullptr) <=
           lackings[d] + lackings[on[i]] + 1e-12;
  };
  // If nothing is missing, only fewer wires help.
  auto mayHelp = [&](int i, int d) {
    if (now > 0)
      return true;
    const int home = on[i];
    const int64_t before = wiresOf(i);
    on[i] = d;
    const int64_t after = wiresOf(i);
    on[i] = home;
    return after < before;
  };
  // Where less is missing then, or else as much.
  auto maySwap = [&](int i, int j, bool isLess) {
    const double here = lackings[on[i]] + lackings[on[j]];
    if (isLess && here <= 0)
      return false;
    const Cost &a = layout.items[i].cost, &b = layout.items[j].cost;
    const double there = left(on[i], a, &b) + left(on[j], b, &a);
    return isLess ? there < here : there == here;
  };
  for (int i = 0; i < n; ++i) {
    if (!mayMove(i))
      continue;
    const int home = on[i];
    std::vector<int> to;
    for (int d = 0; d < dies; ++d)
      if (d != home && mayHelp(i, d) && (lacks || mayMoveTo(i, d)))
        to.push_back(d);
    for (int d : to) {
      move(i, d);
      consider({i, d, -1, 0});
    }
    if (to.empty())
      continue;
    move(i, home);
    if (!isOfMany() || best[0] < 0)
      continue;
    move(i, best[1]);
    now = least;
    best[0] = -1;
    for (int d = 0; d < dies; ++d)
      lackings[d] = lacking(d, used[d]);
  }
  if (isOfMany())
    return now < before || fewest < taken;
  // Swaps are many: only where moves do not help.
  for (bool isLess : {true, false})
    for (int i = 0; best[0] < 0 && now > 0 && i < n; ++i)
      for (int j = i + 1; j < n; ++j) {
        const int a = on[i], b = on[j];
        if (a == b || !mayMove(i) || !mayMove(j) ||
            !(lacks ? isLess : maySwap(i, j, isLess)))
          continue;
        move(i, b);
        move(j, a);
        consider({i, b, j, a});
        move(j, b);
        move(i, a);
      }
  if (best[0] < 0)
    return false;
  move(best[0], best[1]);
  if (best[2] >= 0)
    move(best[2], best[3]);
  return true;
}

LaidOut Search::descend() {
  if (std::pow(double(dies), double(layout.items.size())) <= kMostTried)
    return all();
  LaidOut best;
  std::pair<double, int64_t> least{INFINITY, 0};
  auto search = [&](std::vector<int> from) {
    place(std::move(from));
    for (int step = 0; step < kMostSteps && improve(); ++step)
      ;
    if (std::pair now{missing(), wiresInUse()}; now < least) {
      least = now;
      best = {on, now.first <= 0};
    }
  };
  if (!layout.first.empty())
    search(layout.first);
  if (best.fits)
    return best;
  for (int which = 0; which < kBeginnings; ++which) {
    search(beginning(which));
    if (best.fits ? which == 2 || least.second == 0 : missing() > kHopeless)
      break;
  }
  return best;
}
} // namespace

LaidOut layOut(const Layout &layout) { return Search(layout).descend(); }

namespace {
/// Everything that a layout depends on, in bytes.
class Bytes {
public:
  template <typename T> void add(const T &value) {
    static_assert(std::is_trivially_copyable_v<T>);
    const auto *from = reinterpret_cast<const uint8_t *>(&value);
    bytes.insert(bytes.end(), from, from + sizeof(T));
  }
  void add(const Cost &cost) {
    add(cost.resources.amount);
    add(cost.lutVariance);
    add(cost.ffVariance);
  }
  template <typename T> void addAll(const std::vector<T> &values) {
    add(values.size());
    for (const T &value : values)
      add(value);
  }
  std::pair<uint64_t, uint64_t> hash() const {
    const llvm::XXH128_hash_t hash = llvm::xxh3_128bits(bytes);
    return {hash.low64, hash.high64};
  }

private:
  std::vector<uint8_t> bytes;
};
} // namespace

LaidOut Layouts::of(const Layout &layout) {
  Bytes bytes;
  bytes.add(layout.items.size());
  for (const Layout::Item &item : layout.items) {
    bytes.add(item.cost);
    bytes.add(item.die);
  }
  bytes.add(layout.streams.size());
  for (const Layout::Stream &stream : layout.streams) {
    bytes.add(stream.from);
    bytes.addAll(stream.to);
    bytes.add(stream.wires);
    bytes.add(stream.crossing);
  }
  bytes.add(layout.room.size());
  for (const Resources &room : layout.room)
    bytes.add(room.amount);
  bytes.add(layout.wires);
  bytes.add(layout.border);
  bytes.add(layout.share);
  bytes.add(layout.errorBars);
  bytes.addAll(layout.first);
  const auto hash = bytes.hash();
  {
    std::lock_guard<std::mutex> lock(mutex);
    if (auto found = known.find(hash); found != known.end())
      return found->second;
  }
  LaidOut on = layOut(layout);
  std::lock_guard<std::mutex> lock(mutex);
  return known.try_emplace(hash, std::move(on)).first->second;
}
} // namespace rhizome::explore
