// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// For given prices of resources, the cheapest run is a shortest path along its
// stages. The prices are Lagrange's multipliers: those at which the cheapest of
// all paths so far costs most (a linear program; Kelley's cutting planes,
// smoothed after Wentges). So what is scarce becomes expensive: where LUTs
// bind, products move into DSPs, and back. If the cheapest path costs more than
// the whole budget at the same prices, no run fits. Near the right prices,
// paths alternate between too much of one resource and of another; one that
// takes parts of several of them is between. On a place with several dies, a
// path that fits the sum may fit no layout: then each die has prices of its
// own, and layouts and paths take turns.
#include "Balance.h"
#include "rhizome/Explore/Solver/RunLayout.h"
#include <algorithm>
#include <cmath>
#include <glpk.h>
#include <map>
#include <numeric>

namespace rhizome::explore {
using gen::Resources;
constexpr size_t kKinds = gen::kResources;

namespace {
/// Choices that differ only in cost, next to these costs.
struct Alike {
  std::vector<int> choices;
  std::vector<std::array<double, kKinds>> costs;

  void prune();
};
} // namespace

/// Leaves out what is never the cheapest: what takes at least as much of
/// everything as another one.
void Alike::prune() {
  std::vector<std::pair<double, size_t>> order; // by what dominance agrees with
  for (auto [i, cost] : llvm::enumerate(costs))
    order.push_back({std::accumulate(cost.begin(), cost.end(), 0.0), i});
  llvm::sort(order);
  Alike kept;
  for (auto [sum, i] : order) {
    const double *cost = costs[i].data();
    if (llvm::none_of(kept.costs, [&](const auto &other) {
          const double *theirs = other.data();
          bool isLess = true;
          for (size_t k = 0; k < kKinds; ++k)
            isLess &= theirs[k] <= cost[k];
          return isLess;
        })) {
      kept.choices.push_back(choices[i]);
      kept.costs.push_back(costs[i]);
    }
  }
  *this = std::move(kept);
}

BalancedRun::Options::Options(const std::vector<Choice> &all,
                              int64_t interval) {
  std::map<std::tuple<std::vector<int>, int, int, int>, size_t> known;
  std::vector<Alike> groups;
  for (auto [c, choice] : llvm::enumerate(all)) {
    if (choice.unit >= 0 || choice.interval > interval)
      continue;
    auto [it, isNew] = known.try_emplace(
        {choice.in, choice.out, choice.region, choice.part}, groups.size());
    if (isNew)
      groups.emplace_back();
    groups[it->second].choices.push_back(int(c));
    groups[it->second].costs.push_back(choice.cost.resources.amount);
  }
  for (Alike &alike : groups) {
    alike.prune();
    llvm::append_range(choices, alike.choices);
    ends.push_back(choices.size());
  }
  for (size_t k = 0; k < kKinds; ++k) {
    std::vector<double> column;
    for (const Alike &alike : groups)
      for (const auto &cost : alike.costs)
        column.push_back(cost[k]);
    if (llvm::any_of(column, [](double amount) { return amount != 0; }))
      amounts.emplace_back(k, std::move(column));
  }
}

/// What each of them costs.
std::vector<double> BalancedRun::Options::pricesAt(const Prices &prices) const {
  std::vector<double> sums(choices.size());
  double *to = sums.data();
  for (const auto &[k, column] : amounts)
    if (const double price = prices[k], *from = column.data(); price != 0)
      for (size_t i = 0, n = sums.size(); i < n; ++i)
        to[i] += price * from[i];
  return sums;
}

BalancedRun::BalancedRun(const Problem &problem, const Limits &limits,
                         const RunGlue &glue, int end, int64_t interval,
                         const Ends &ends)
    : problem(problem), limits(limits), glue(glue), begin(glue.begin), end(end),
      ends(ends) {
  const Kind &kind = problem.kinds[glue.kind];
  for (int s = begin; s < end; ++s) {
    options.emplace_back(kind.choices[s], interval);
    beyond += beyondAt(kind, begin, s);
  }
}

/// The cheapest of each that are alike, with their prices: few, and regions,
/// whose first parts have the price of all, and whose others follow from the
/// choice before.
std::vector<std::pair<double, int>>
BalancedRun::cheapestAt(int stage, const Prices &prices) const {
  constexpr size_t kMost = 16;
  std::vector<std::pair<double, int>> all, parts;
  const Options &here = options[stage - begin];
  const std::vector<double> sums = here.pricesAt(prices);
  size_t i = 0;
  for (size_t end : here.ends) {
    std::pair<double, int> least{INFINITY, -1};
    for (; i < end; ++i)
      if (sums[i] < least.first)
        least = {sums[i], here.choices[i]};
    (choiceOf(stage, least.second).region >= 0 ? parts : all).push_back(least);
  }
  if (all.size() > kMost) {
    std::nth_element(all.begin(), all.begin() + kMost, all.end());
    all.resize(kMost);
  }
  std::sort(all.begin(), all.end());
  all.insert(all.end(), parts.begin(), parts.end());
  return all;
}

std::optional<std::pair<BalancedRun::Path, double>>
BalancedRun::cheapest(const std::vector<Prices> &all,
                      const Rooms &rooms) const {
  constexpr size_t kMost = 8;
  struct Label {
    double price;
    int choice, parent;
  };
  std::vector<std::vector<Label>> levels(end - begin);
  for (int s = begin; s < end; ++s) {
    const int level = s - begin;
    const Prices &prices = all[rooms.of(level)];
    auto priceOf = [&](const Cost &cost) {
      double price = 0;
      for (size_t k = 0; k < kKinds; ++k)
        price += prices[k] * cost.resources.amount[k];
      return price;
    };
    std::vector<Label> next;
    for (auto [price, c] : cheapestAt(s, prices)) {
      const Choice &choice = choiceOf(s, c);
      Label best{INFINITY, c, -1};
      auto consider = [&](int parent) {
        const Choice *before =
            parent < 0 ? nullptr
                       : &choiceOf(s - 1, levels[level - 1][parent].choice);
        int open = before && !before->isWhole() ? before->region : -1;
        if (choice.part > 0
                ? open != choice.region || before->part + 1 != choice.part
                : open >= 0)
          return;
        Cost between;
        glue.add(between, s, choice, [&](int stage) -> const Choice & {
          int at = parent;
          for (int back = s - 1; back > stage; --back)
            at = levels[back - begin][at].parent;
          return choiceOf(stage, levels[stage - begin][at].choice);
        });
        double sum = price + priceOf(between) +
                     (parent < 0 ? 0 : levels[level - 1][parent].price);
        if (sum < best.price)
          best = {sum, c, parent};
      };
      // The best of those that look alike to what follows.
      auto same = std::find_if(next.begin(), next.end(), [&](const Label &l) {
        const Choice &other = choiceOf(s, l.choice);
        return other.out == choice.out && other.region == choice.region &&
               other.part == choice.part;
      });
      const double least = same == next.end() ? INFINITY : same->price;
      if (level == 0)
        consider(-1);
      // Those before ascend.
      for (int l = 0; level > 0 && l < int(levels[level - 1].size()); ++l) {
        if (price + levels[level - 1][l].price >= std::min(best.price, least))
          break;
        consider(l);
      }
      if (std::isinf(best.price))
        continue;
      if (same == next.end())
        next.push_back(best);
      else if (best.price < same->price)
        *same = best;
    }
    std::sort(next.begin(), next.end(), [](const Label &a, const Label &b) {
      return std::pair(a.price, a.choice) < std::pair(b.price, b.choice);
    });
    // Those within a region, which is paid for by then, take no places of the
    // others.
    std::array<size_t, 2> count{};
    llvm::erase_if(next, [&](const Label &label) {
      return ++count[choiceOf(s, label.choice).isWhole()] > kMost;
    });
    levels[level] = std::move(next);
  }
  const std::vector<Label> &last = levels.back();
  auto whole = std::find_if(last.begin(), last.end(), [&](const Label &l) {
    return choiceOf(end - 1, l.choice).isWhole();
  });
  if (whole == last.end())
    return std::nullopt;
  Path path(end - begin);
  int at = int(whole - last.begin());
  for (int level = end - begin; level-- > 0;) {
    path[level] = levels[level][at].choice;
    at = levels[level][at].parent;
  }
  return std::pair(std::move(path), whole->price);
}

Cost BalancedRun::costOf(const Path &path) const {
  auto chosen = [&](int stage) -> const Choice & {
    return choiceOf(stage, path[stage - begin]);
  };
  Cost cost = endpoint;
  cost.resources += beyond;
  for (int s = begin; s < end; ++s) {
    cost += chosen(s).cost;
    glue.add(cost, s, chosen(s), chosen);
  }
  cost += glue.closing(end, ends, chosen);
  return cost;
}

Resources BalancedRun::needOf(const Cost &cost) const {
  return limits.errorBars ? cost.most() : cost.resources;
}

std::vector<Resources> BalancedRun::needsOf(const Path &path,
                                            const Rooms &rooms,
                                            const Place &place) const {
  if (rooms.dies.empty())
    return {needOf(costOf(path))};
  auto chosen = [&](int stage) -> const Choice & {
    return choiceOf(stage, path[stage - begin]);
  };
  std::vector<Cost> costs(rooms.budgets.size());
  for (int s = begin; s < end; ++s) {
    Cost &there = costs[rooms.of(s - begin)];
    there += chosen(s).cost;
    glue.add(there, s, chosen(s), chosen);
    there.resources += beyondAt(problem.kinds[glue.kind], begin, s);
  }
  costs[place.dies.border] += endpoint;
  costs[place.dies.border] += glue.closing(end, ends, chosen);
  std::vector<Resources> needs;
  for (const Cost &cost : costs)
    needs.push_back(needOf(cost));
  return needs;
}

Run BalancedRun::runOf(const Path &path) const {
  return {begin,
          end,
          {},
          path,
          std::vector<int>(path.size()),
          {},
          costOf(path),
          glue.streamBits};
}

/// What each path takes, as shares of the budgets, and the weights of resources
/// under which the cheapest of them costs most.
class BalancedRun::Scarcity {
public:
  /// A resource of a room that is limited.
  struct Kind {
    size_t room, resource;
    double budget;
  };
  explicit Scarcity(const std::vector<Resources> &budgets) {
    for (size_t room = 0; room < budgets.size(); ++room)
      for (size_t k = 0; k < kKinds; ++k)
        if (double amount = budgets[room].amount[k];
            amount > 0 && !std::isinf(amount))
          kinds.push_back({room, k, amount});
  }
  void add(const std::vector<Resources> &needs) {
    std::vector<double> &path = shares.emplace_back();
    for (const Kind &kind : kinds)
      path.push_back(
          std::min(10.0, needs[kind.room].amount[kind.resource] / kind.budget));
  }
  /// Summing up to one.
  std::vector<double> weights() const;

  std::vector<Kind> kinds;
  std::vector<std::vector<double>> shares;
};

std::vector<double> BalancedRun::Scarcity::weights() const {
  // Maximize the price of the cheapest path, the last column.
  const int count = int(kinds.size());
  glp_prob *lp = glp_create_prob();
  glp_set_obj_dir(lp, GLP_MAX);
  glp_add_cols(lp, count + 1);
  for (int k = 1; k <= count; ++k)
    glp_set_col_bnds(lp, k, GLP_LO, 0, 0);
  glp_set_col_bnds(lp, count + 1, GLP_FR, 0, 0);
  glp_set_obj_coef(lp, count + 1, 1);
  std::vector<int> columns(count + 2);
  std::iota(columns.begin(), columns.end(), 0);
  std::vector<double> values(count + 2, 1);
  glp_add_rows(lp, 1 + int(shares.size()));
  glp_set_row_bnds(lp, 1, GLP_FX, 1, 1);
  glp_set_mat_row(lp, 1, count, columns.data(), values.data());
  for (size_t path = 0; path < shares.size(); ++path) {
    const int row = int(path) + 2;
    glp_set_row_bnds(lp, row, GLP_LO, 0, 0);
    std::copy(shares[path].begin(), shares[path].end(), values.begin() + 1);
    values[count + 1] = -1;
    glp_set_mat_row(lp, row, count + 1, columns.data(), values.data());
  }
  glp_smcp parameters;
  glp_init_smcp(&parameters);
  parameters.msg_lev = GLP_MSG_OFF;
  std::vector<double> result(kinds.size(), 1.0 / count);
  if (glp_simplex(lp, &parameters) == 0 && glp_get_status(lp) == GLP_OPT)
    for (int k = 0; k < count; ++k)
      result[k] = std::max(0.0, glp_get_col_prim(lp, k + 1));
  glp_delete_prob(lp);
  return result;
}

/// What a path takes of each limited resource up to each of its stages, as
/// shares of the budgets.
BalancedRun::Shares BalancedRun::sharesOf(const Path &path, const Rooms &rooms,
                                          const Scarcity &scarcity) const {
  auto chosen = [&](int stage) -> const Choice & {
    return choiceOf(stage, path[stage - begin]);
  };
  const size_t count = scarcity.kinds.size();
  Shares sums(path.size() + 1, std::vector<double>(count));
  for (int s = begin; s < end; ++s) {
    const size_t at = s - begin;
    Cost here = chosen(s).cost;
    glue.add(here, s, chosen(s), chosen);
    sums[at + 1] = sums[at];
    for (size_t k = 0; k < count; ++k) {
      const Scarcity::Kind &kind = scarcity.kinds[k];
      if (int(kind.room) == rooms.of(int(at)))
        sums[at + 1][k] += here.resources.amount[kind.resource] / kind.budget;
    }
  }
  return sums;
}

/// A path of which as little as possible does not fit, and what is missing in
/// shares of budgets: the part of a path whose exchange for the same part of
/// another one leaves least missing is exchanged, as long as that helps.
std::pair<BalancedRun::Path, double>
BalancedRun::spliced(const std::vector<Path> &paths, const Rooms &rooms,
                     const Scarcity &scarcity, const Place &place) const {
  constexpr int kSteps = 32, kLongest = 64; // parts
  const int stages = end - begin;
  const size_t count = scarcity.kinds.size();
  auto missing = [&](const std::vector<double> &shares) {
    double sum = 0;
    for (double share : shares)
      sum += std::max(0.0, share - 1);
    return sum;
  };
  auto sharesNow = [&](const Path &path) {
    std::vector<double> shares;
    const std::vector<Resources> needs = needsOf(path, rooms, place);
    for (const Scarcity::Kind &kind : scarcity.kinds)
      shares.push_back(needs[kind.room].amount[kind.resource] / kind.budget);
    return shares;
  };
  std::vector<Shares> sums;
  Path path;
  std::vector<double> now;
  for (const Path &one : paths) {
    sums.push_back(sharesOf(one, rooms, scarcity));
    std::vector<double> shares = sharesNow(one);
    if (path.empty() || missing(shares) < missing(now)) {
      path = one;
      now = std::move(shares);
    }
  }
  for (int step = 0; step < kSteps && missing(now) > 0; ++step) {
    const Shares own = sharesOf(path, rooms, scarcity);
    double best = missing(now);
    size_t from = 0;
    std::pair<int, int> part;
    for (size_t p = 0; p < paths.size(); ++p)
      for (int i = 0; i < stages; ++i) {
        if (paths[p][i] == path[i] || choiceOf(begin + i, path[i]).part > 0 ||
            choiceOf(begin + i, paths[p][i]).part > 0)
          continue;
        for (int j = i + 1; j <= std::min(stages, i + kLongest); ++j) {
          if (paths[p][j - 1] == path[j - 1] ||
              !choiceOf(begin + j - 1, path[j - 1]).isWhole() ||
              !choiceOf(begin + j - 1, paths[p][j - 1]).isWhole())
            continue;
          double sum = 0;
          for (size_t k = 0; k < count; ++k)
            sum += std::max(0.0, now[k] - (own[j][k] - own[i][k]) +
                                     (sums[p][j][k] - sums[p][i][k]) - 1);
          if (sum < best - 1e-9) {
            best = sum;
            from = p;
            part = {i, j};
          }
        }
      }
    if (part.second == 0)
      break;
    Path next = path;
    std::copy(paths[from].begin() + part.first,
              paths[from].begin() + part.second, next.begin() + part.first);
    std::vector<double> then = sharesNow(next);
    if (missing(then) >= missing(now)) // what changes at its ends
      break;
    path = std::move(next);
    now = std::move(then);
  }
  return {std::move(path), missing(now)};
}

std::optional<Run> BalancedRun::laidOut(const Path &path, const Place &place,
                                        const Rooms &rooms,
                                        std::vector<int> &dies) const {
  Run run = runOf(path);
  if (place.dies.count() <= 1)
    return run;
  LaidOut on = layOutRun(problem, run, limits, place, ends, rooms.dies);
  dies = on.dies;
  run.dies = std::move(on.dies);
  if (!on.fits)
    return std::nullopt;
  return run;
}

BalancedRun::Fitting BalancedRun::fitted(const Place &place,
                                         const Rooms &rooms) const {
  const bool onDies = !rooms.dies.empty();
  // Fewer for each of several layouts, the fewer the longer paths are: with 8
  // ResNet-50 is as fast as with 12, in half the time.
  constexpr int kFewest = 8, kMost = 12, kStages = 1600;
  const int most =
      onDies ? std::clamp(kStages / (end - begin), kFewest, kMost) : 16;
  bool isLaidOut = onDies; // one layout's choices are changed
  Scarcity scarcity(rooms.budgets);
  const size_t count = scarcity.kinds.size();
  // The next prices are between those that showed most and those that the
  // paths so far suggest, which alone would swing.
  std::vector<double> best(count, 1.0 / double(count)), weights = best;
  double highest = -1;
  Fitting fitting;
  std::vector<Path> paths;
  auto isSolved = [&](const Path &path) {
    std::vector<int> dies;
    fitting.run = laidOut(path, place, rooms, dies);
    if (!fitting.run && !dies.empty() && !std::exchange(isLaidOut, true))
      fitting.run = fittedOnDies(place, std::move(dies), rooms.budgets.front());
    return bool(fitting.run);
  };
  for (int round = 0; round < most; ++round) {
    std::vector<Prices> prices(rooms.budgets.size());
    for (size_t room = 0; room < prices.size(); ++room)
      for (size_t k = 0; k < kKinds; ++k)
        prices[room][k] = rooms.budgets[room].amount[k] <= 0 ? 1e3 : 0;
    for (size_t k = 0; k < count; ++k)
      prices[scarcity.kinds[k].room][scarcity.kinds[k].resource] =
          (weights[k] + 1e-4) / scarcity.kinds[k].budget;
    auto path = cheapest(prices, rooms);
    // A whole budget costs one.
    if (!path)
      break;
    const bool isHopeless = path->second > 1.01;
    if (path->second > highest) {
      highest = path->second;
      best = weights;
    }
    // The same path again says nothing new.
    if (llvm::is_contained(paths, path->first))
      break;
    paths.push_back(std::move(path->first));
    // On other dies it may fit.
    if (isHopeless && !onDies)
      return fitting;
    const Path &last = paths.back();
    const std::vector<Resources> needs = needsOf(last, rooms, place);
    if (llvm::all_of(llvm::zip_equal(needs, rooms.budgets),
                     [](auto pair) {
                       auto [need, budget] = pair;
                       return scarcest(need, budget).second <= 1;
                     }) &&
        isSolved(last))
      return fitting;
    if (isHopeless)
      break;
    scarcity.add(needs);
    weights = scarcity.weights();
    for (size_t k = 0; k < count; ++k)
      weights[k] = (weights[k] + best[k]) / 2;
  }
  if (paths.empty())
    return fitting;
  auto [path, missing] = spliced(paths, rooms, scarcity, place);
  if (missing <= 0)
    isSolved(path);
  fitting.nearest = std::move(path);
  return fitting;
}

std::optional<Run> BalancedRun::fittedOnDies(const Place &place,
                                             std::vector<int> dies,
                                             const Resources &budget) const {
  constexpr int kLayouts = 8;
  Rooms rooms{place.dies.budgets, std::move(dies)};
  for (size_t die = 0; die < rooms.budgets.size(); ++die)
    for (size_t k = 0; k < kKinds; ++k) {
      double &amount = rooms.budgets[die].amount[k];
      if (k < gen::kResourceNames.size())
        amount *= limits.share;
      else // off-chip memories have their ports on one die
        amount = int(die) == place.dies.memory ? budget.amount[k] : 0;
    }
  for (int tried = 0; tried < kLayouts; ++tried) {
    Fitting fitting = fitted(place, rooms);
    if (fitting.run || fitting.nearest.empty())
      return std::move(fitting.run);
    // What has become cheap on its die may lie on another one.
    std::vector<int> next;
    if (auto run = laidOut(fitting.nearest, place, rooms, next))
      return run;
    if (next.empty() || next == rooms.dies)
      break;
    rooms.dies = std::move(next);
  }
  return std::nullopt;
}

std::optional<Run> BalancedRun::within(const Place &place,
                                       const Resources &given) {
  Resources budget = given;
  for (double &amount : budget.amount)
    amount *= limits.share;
  if (place.wire)
    endpoint = problem.glue->endpoint(place, ends);
  return std::move(fitted(place, {{budget}, {}}).run);
}
} // namespace rhizome::explore
