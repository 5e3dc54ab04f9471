// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// For given prices of resources, the cheapest run is a shortest path along its
// stages. The prices are Lagrange's multipliers: those at which the cheapest of
// all paths so far costs most (a linear program; Kelley's cutting planes,
// smoothed after Wentges). So what is scarce becomes expensive: where LUTs
// bind, products move into DSPs, and back. If the cheapest path costs more than
// the whole budget at the same prices, no run fits. Near the right prices,
// paths alternate between too much of one resource and of another; one that
// begins as one of them and goes on as the other takes what is between.
#include "Balance.h"
#include "RunLayout.h"
#include <algorithm>
#include <cmath>
#include <glpk.h>
#include <map>
#include <numeric>

namespace rhizome::explore {
using gen::Resources;
constexpr size_t kKinds = gen::kResources;

BalancedRun::BalancedRun(const Problem &problem, const Limits &limits,
                         const RunGlue &glue, int end, int64_t interval,
                         const Ends &ends)
    : problem(problem), limits(limits), glue(glue), begin(glue.begin), end(end),
      ends(ends), options(end - begin) {
  const Kind &kind = problem.kinds[glue.kind];
  for (int s = begin; s < end; ++s) {
    std::map<std::tuple<std::vector<int>, int, int, int>, size_t> known;
    std::vector<Alike> &here = options[s - begin];
    for (auto [c, choice] : llvm::enumerate(kind.choices[s])) {
      if (choice.unit >= 0 || choice.interval > interval)
        continue;
      auto [it, isNew] = known.try_emplace(
          {choice.in, choice.out, choice.region, choice.part}, here.size());
      if (isNew)
        here.emplace_back();
      here[it->second].push_back(int(c));
    }
    fixed.resources += beyondAt(kind, begin, s);
  }
}

/// The cheapest of each that are alike, with their prices: few, and parts of
/// regions that follow from the choice before.
std::vector<std::pair<double, int>>
BalancedRun::cheapestAt(int stage, const Prices &prices) const {
  constexpr size_t kMost = 16;
  std::vector<std::pair<double, int>> all, parts;
  for (const Alike &alike : options[stage - begin]) {
    std::pair<double, int> least{INFINITY, -1};
    for (int c : alike) {
      double price = 0;
      for (size_t k = 0; k < kKinds; ++k)
        price += prices[k] * choiceOf(stage, c).cost.resources.amount[k];
      least = std::min(least, {price, c});
    }
    (choiceOf(stage, least.second).part > 0 ? parts : all).push_back(least);
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
BalancedRun::cheapest(const Prices &prices) const {
  constexpr size_t kMost = 8;
  struct Label {
    double price;
    int choice, parent;
  };
  auto priceOf = [&](const Cost &cost) {
    double price = 0;
    for (size_t k = 0; k < kKinds; ++k)
      price += prices[k] * cost.resources.amount[k];
    return price;
  };
  std::vector<std::vector<Label>> levels(end - begin);
  for (int s = begin; s < end; ++s) {
    const int level = s - begin;
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
    if (next.size() > kMost)
      next.resize(kMost);
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
  Cost cost = fixed;
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

std::optional<Run> BalancedRun::runOf(const Path &path,
                                      const Place &place) const {
  Run run{begin,
          end,
          {},
          path,
          std::vector<int>(path.size()),
          {},
          costOf(path),
          glue.streamBits};
  if (place.dies.count() <= 1)
    return run;
  auto dies = layOutRun(problem, run, limits, place, ends);
  if (!dies)
    return std::nullopt;
  run.dies = std::move(*dies);
  return run;
}

/// What its stages take up to each of them.
std::vector<Resources> BalancedRun::sumsOf(const Path &path) const {
  auto chosen = [&](int stage) -> const Choice & {
    return choiceOf(stage, path[stage - begin]);
  };
  std::vector<Resources> sums{fixed.resources};
  for (int s = begin; s < end; ++s) {
    Cost here = chosen(s).cost;
    glue.add(here, s, chosen(s), chosen);
    here.resources += sums.back();
    sums.push_back(here.resources);
  }
  return sums;
}

/// The first that fits of those that begin as one of the paths and go on as
/// another.
std::optional<Run> BalancedRun::mixed(const std::vector<Path> &paths,
                                      const Place &place,
                                      const Resources &budget) const {
  // What changes between the two parts is little.
  constexpr double kNear = 1.003;
  int layouts = 16; // that are tried, a millisecond or two each
  std::vector<std::vector<Resources>> sums;
  for (const Path &path : paths)
    sums.push_back(sumsOf(path));
  auto fits = [&](size_t a, size_t b, int parts) {
    const Resources &before = sums[a][parts], &whole = sums[b].back(),
                    &skipped = sums[b][parts];
    for (size_t k = 0; k < kKinds; ++k)
      if (before.amount[k] + whole.amount[k] - skipped.amount[k] >
          budget.amount[k] * kNear)
        return false;
    return true;
  };
  for (size_t b = paths.size(); b-- > 0;)
    for (size_t a = paths.size(); a-- > 0;)
      for (int parts = 1; a != b && parts < end - begin; ++parts) {
        if (!fits(a, b, parts) ||
            !choiceOf(begin + parts - 1, paths[a][parts - 1]).isWhole() ||
            choiceOf(begin + parts, paths[b][parts]).part > 0)
          continue;
        Path path = paths[b];
        std::copy_n(paths[a].begin(), parts, path.begin());
        if (scarcest(needOf(costOf(path)), budget).second > 1)
          continue;
        if (auto run = runOf(path, place))
          return run;
        if (--layouts == 0)
          return std::nullopt;
      }
  return std::nullopt;
}

namespace {
/// What each path takes, as shares of the budget, and the weights of resources
/// under which the cheapest of them costs most.
class Scarcity {
public:
  explicit Scarcity(const Resources &budget) : budget(budget) {
    for (size_t k = 0; k < kKinds; ++k)
      if (budget.amount[k] > 0 && !std::isinf(budget.amount[k]))
        kinds.push_back(k);
  }
  void add(const Resources &need) {
    std::vector<double> &path = shares.emplace_back();
    for (size_t k : kinds)
      path.push_back(std::min(10.0, need.amount[k] / budget.amount[k]));
  }
  /// Summing up to one.
  std::vector<double> weights() const;

  const Resources &budget;
  std::vector<size_t> kinds; ///< that are limited
  std::vector<std::vector<double>> shares;
};
} // namespace

std::vector<double> Scarcity::weights() const {
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

std::optional<Run> BalancedRun::within(const Place &place,
                                       const Resources &given) {
  constexpr int kRounds = 16;
  Resources budget = given;
  for (double &amount : budget.amount)
    amount *= limits.share;
  if (place.wire)
    fixed += problem.glue->endpoint(place, ends);
  Scarcity scarcity(budget);
  const size_t count = scarcity.kinds.size();
  // The next prices are between those that showed most and those that the
  // paths so far suggest, which alone would swing.
  std::vector<double> best(count, 1.0 / double(count)), weights = best;
  double most = -1;
  std::vector<Path> paths;
  std::optional<Run> found;
  for (int round = 0; round < kRounds && !found; ++round) {
    Prices prices{};
    for (size_t k = 0; k < kKinds; ++k)
      prices[k] = budget.amount[k] <= 0 ? 1e3 : 0;
    for (size_t k = 0; k < count; ++k)
      prices[scarcity.kinds[k]] =
          (weights[k] + 1e-4) / budget.amount[scarcity.kinds[k]];
    auto path = cheapest(prices);
    // A whole budget costs one.
    if (!path || path->second > 1.01)
      return std::nullopt;
    if (path->second > most) {
      most = path->second;
      best = weights;
    }
    // The same path again says nothing new.
    if (llvm::is_contained(paths, path->first))
      break;
    const Resources need = needOf(costOf(path->first));
    if (scarcest(need, budget).second <= 1)
      found = runOf(path->first, place);
    scarcity.add(need);
    paths.push_back(std::move(path->first));
    weights = scarcity.weights();
    for (size_t k = 0; k < count; ++k)
      weights[k] = (weights[k] + best[k]) / 2;
  }
  return found ? found : mixed(paths, place, budget);
}
} // namespace rhizome::explore
