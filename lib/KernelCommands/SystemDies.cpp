// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Units are equal, so a layout is a number for each die. Dies are few, and each
// holds few units: all numbers are tried, but for those that are worse early.
#include "rhizome/KernelCommands/SystemDies.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>
#include <tuple>

using namespace rhizome;
using namespace rhizome::kernelcommands;
using gen::kResourceNames;

SystemRoom kernelcommands::roomOf(const explore::Cluster &places,
                                  const Device &device,
                                  const explore::Goal *goal) {
  const explore::ClusterPlace place =
      explore::withinParts(places, goal ? *goal : explore::Goal()).places[0];
  SystemRoom room;
  for (size_t k = 0; k < kResourceNames.size(); ++k)
    room.all.amount[k] = gen::available(place.context.budget, k);
  for (auto [die, budget] :
       llvm::zip_equal(device.dies.dies, place.dies.budgets))
    room.dies.push_back({die.name, budget});
  if (room.dies.empty())
    room.dies.push_back({device.name, room.all});
  room.wires = device.dies.wires;
  room.memory = size_t(device.dies.memory);
  room.border = size_t(device.dies.border);
  return room;
}

namespace {
struct Share {
  double of = 0;
  size_t kind = 0;
};

/// The largest share of these resources that so many units take.
Share shareOf(const SystemUnit &unit, int64_t units,
              const gen::Resources &room) {
  Share most;
  for (size_t k = 0; k < kResourceNames.size(); ++k) {
    const double need = double(units) * unit.resources.amount[k];
    const double share = need <= 0            ? 0
                         : room.amount[k] > 0 ? need / room.amount[k]
                                              : INFINITY;
    if (share > most.of)
      most = {share, k};
  }
  return most;
}

/// Sums of shares are not exact.
constexpr double kAlmost = 1 + 1e-9;

class Search {
public:
  Search(const SystemUnit &unit, int64_t units, const SystemRoom &room)
      : unit(unit), room(room), units(units), counts(room.dies.size()),
        mostWires(room.wires) {
    for (const SystemRoom::Die &die : room.dies)
      ones.push_back(shareOf(unit, 1, die.routable).of);
  }
  SystemLayout run();

private:
  const SystemUnit &unit;
  const SystemRoom &room;
  const int64_t units;
  std::vector<double> ones; ///< the share of a die that a unit takes
  std::vector<int64_t> counts, best;
  /// What a layout must not exceed, and what the best one has.
  double mostShare = 1;
  int64_t mostWires; ///< between dies; 0: any number
  std::tuple<double, int64_t, double> least;
  bool isByShare = true; ///< by the largest share; otherwise by borders

  int64_t capOf(size_t die) const;
  int64_t wiresAfter(size_t die) const;
  int64_t wires() const;
  void tryDie(size_t die, int64_t left, double share);
  bool find();
  std::string obstacle();
};

/// The units that a die alone holds, at most those there are.
int64_t Search::capOf(size_t die) const {
  double most = mostShare;
  if (isByShare && !best.empty())
    most = std::min(most, std::get<0>(least));
  return ones[die] > 0
             ? int64_t(std::min(double(units), kAlmost * most / ones[die]))
             : units;
}

/// From a die to the next: what units beyond it, seen from the memory and from
/// the host, have to them.
int64_t Search::wiresAfter(size_t die) const {
  int64_t before = 0, after = 0;
  for (auto [d, n] : llvm::enumerate(counts))
    (d <= die ? before : after) += n;
  return (room.memory <= die ? after : before) * unit.memoryWires +
         (room.border <= die ? after : before) * unit.controlWires;
}

int64_t Search::wires() const {
  int64_t most = 0;
  for (size_t die = 0; die + 1 < counts.size(); ++die)
    most = std::max(most, wiresAfter(die));
  return most;
}

/// Numbers for the dies from this one on; those before have theirs.
void Search::tryDie(size_t die, int64_t left, double share) {
  if (die == counts.size()) {
    if (left > 0 || (mostWires > 0 && wires() > mostWires))
      return;
    int64_t far = 0;
    for (auto [d, n] : llvm::enumerate(counts))
      far += n * std::abs(int64_t(d) - int64_t(room.memory));
    auto now =
        isByShare ? std::tuple(share, far, 0.0) : std::tuple(0.0, far, share);
    if (best.empty() || now < least) {
      least = now;
      best = counts;
    }
    return;
  }
  int64_t rest = 0; ///< what the dies after this one hold
  for (size_t d = die + 1; d < counts.size(); ++d)
    rest += capOf(d);
  for (int64_t n = std::max<int64_t>(0, left - rest);
       n <= std::min(left, capOf(die)); ++n) {
    counts[die] = n;
    tryDie(die + 1, left - n, std::max(share, double(n) * ones[die]));
  }
  counts[die] = 0;
}

bool Search::find() {
  best.clear();
  tryDie(0, units, 0);
  return !best.empty();
}

/// The reason without a layout.
std::string Search::obstacle() {
  mostShare = 1;
  best.clear();
  int64_t held = 0;
  std::string each;
  size_t where = 0;
  auto next = [&](size_t die) { return double(capOf(die) + 1) * ones[die]; };
  for (size_t d = 0; d < ones.size(); ++d) {
    held += capOf(d);
    each += llvm::formatv("{0}{1} on {2}", d ? ", " : "", capOf(d),
                          room.dies[d].name);
    if (next(d) < next(where))
      where = d;
  }
  if (held < units) {
    const SystemRoom::Die &die = room.dies[where];
    const Share share = shareOf(unit, capOf(where) + 1, die.routable);
    const char *kind = kResourceNames[share.kind];
    const std::string needs =
        std::isinf(share.of)
            ? llvm::formatv("{0}, of which {1} has none", kind, die.name).str()
            : llvm::formatv("{0:f1} % of the {1} that routes on {2}",
                            100 * share.of, kind, die.name)
                  .str();
    if (held == 0)
      return "a unit, which is on one die, needs " + needs;
    return llvm::formatv("there is room for {0} ({1}), and {2} would need {3}",
                         held, each, capOf(where) + 1, needs);
  }
  if (const Share share = shareOf(unit, units, room.all); share.of > kAlmost)
    return llvm::formatv("together they need {0:f1} % of the {1} that may be "
                         "used",
                         100 * share.of, kResourceNames[share.kind]);
  // As few wires as there can be.
  counts.assign(counts.size(), 0);
  int64_t fewest = INT64_MAX;
  mostWires = 0;
  isByShare = false;
  for (find(); !best.empty(); find()) {
    counts = best;
    fewest = wires();
    mostWires = fewest - 1;
    if (mostWires == 0)
      break;
  }
  return llvm::formatv("they need {0} wires between two dies, which have {1}",
                       fewest, room.wires);
}

SystemLayout Search::run() {
  SystemLayout layout;
  // Without the wires: the least share that holds them all.
  std::vector<double> shares;
  for (double one : ones)
    for (int64_t n = 0; n <= units && double(n) * one <= kAlmost; ++n)
      shares.push_back(double(n) * one);
  llvm::sort(shares);
  auto holds = [&](double share) {
    mostShare = share;
    int64_t held = 0;
    for (size_t d = 0; d < ones.size(); ++d)
      held += capOf(d);
    return held >= units;
  };
  auto even = llvm::partition_point(
      shares, [&](double share) { return !holds(share); });
  if (even == shares.end() || shareOf(unit, units, room.all).of > kAlmost) {
    layout.obstacle = obstacle();
    return layout;
  }
  mostShare = *even;
  if (!find()) {
    mostShare = 1;
    if (!find()) {
      layout.obstacle = obstacle();
      return layout;
    }
  }
  // A little more of one die is better than another border to cross.
  constexpr double kWorth = 1.1;
  mostShare = std::min(1.0, kWorth * std::get<0>(least));
  isByShare = false;
  find();
  for (auto [d, n] : llvm::enumerate(best)) {
    counts = best;
    const Share share = shareOf(unit, n, room.dies[d].routable);
    layout.dies.push_back(
        {n, share.of, share.kind, d + 1 < best.size() ? wiresAfter(d) : 0});
    layout.share = std::max(layout.share, share.of);
  }
  // Those next to the memory first.
  auto far = [&](size_t d) {
    return std::abs(int64_t(d) - int64_t(room.memory));
  };
  for (int64_t distance = 0; distance < int64_t(best.size()); ++distance)
    for (auto [d, n] : llvm::enumerate(best))
      if (far(d) == distance)
        layout.dieOf.insert(layout.dieOf.end(), size_t(n), d);
  return layout;
}
} // namespace

SystemLayout kernelcommands::layOut(const SystemUnit &unit, int64_t units,
                                    const SystemRoom &room) {
  return Search(unit, units, room).run();
}
