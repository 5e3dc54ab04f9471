// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Shared memories. A candidate is a set of tensors that fit a shape and never
// overlap; only sets to which no tensor can be added need to be tried, since a
// tensor in two of the chosen ones may leave either.
#include "rhizome/Solvers/Sharing.h"
#include <algorithm>
#include <glpk.h>
#include <numeric>
#include <set>

namespace rhizome::schedule {
bool overlap(const Lifetime &a, const Lifetime &b) {
  return a.first <= b.last && b.first <= a.last;
}

std::vector<std::pair<int, int>>
compatible(const std::vector<Lifetime> &lifetimes) {
  std::vector<std::pair<int, int>> pairs;
  for (int a = 0; a < int(lifetimes.size()); ++a)
    for (int b = a + 1; b < int(lifetimes.size()); ++b)
      if (!overlap(lifetimes[a], lifetimes[b]))
        pairs.emplace_back(a, b);
  return pairs;
}

namespace {
/// The numbers of all tensors by first step.
std::vector<int> byFirst(const std::vector<Lifetime> &lifetimes) {
  std::vector<int> order(lifetimes.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](int a, int b) {
    return std::pair(lifetimes[a].first, a) < std::pair(lifetimes[b].first, b);
  });
  return order;
}

class Candidates {
public:
  Candidates(const std::vector<Lifetime> &lifetimes, int64_t most)
      : lifetimes(lifetimes), most(most) {}
  /// False if there are too many.
  bool find();
  std::set<std::vector<int>> sets;

private:
  const std::vector<Lifetime> &lifetimes;
  const int64_t most;
  std::vector<int> fitting; ///< of the shape, by first step
  std::vector<int> chosen;

  bool extend(int64_t from);
};

/// All ways to go on from a step with what may follow directly: a tensor that
/// leaves no room for another one before it.
bool Candidates::extend(int64_t from) {
  int64_t end = INT64_MAX; ///< what begins later leaves room
  for (int t : fitting)
    if (lifetimes[t].first >= from)
      end = std::min(end, lifetimes[t].last);
  if (end == INT64_MAX) {
    sets.insert(chosen);
    return int64_t(sets.size()) <= most;
  }
  for (int t : fitting) {
    if (lifetimes[t].first < from || lifetimes[t].first > end)
      continue;
    chosen.push_back(t);
    if (!extend(lifetimes[t].last + 1))
      return false;
    chosen.pop_back();
  }
  return true;
}

bool Candidates::find() {
  std::set<std::pair<int64_t, int64_t>> shapes;
  for (const Lifetime &a : lifetimes)
    for (const Lifetime &b : lifetimes)
      shapes.insert({a.words, b.width});
  const std::vector<int> order = byFirst(lifetimes);
  for (auto [words, width] : shapes) {
    fitting.clear();
    chosen.clear();
    for (int t : order)
      if (lifetimes[t].words <= words && lifetimes[t].width <= width)
        fitting.push_back(t);
    if (!fitting.empty() && !extend(INT64_MIN))
      return false;
  }
  return true;
}

/// The numbers of the sets that cover all tensors at least cost.
std::vector<int> cover(int tensors, const std::vector<std::vector<int>> &sets,
                       const std::vector<double> &costs) {
  glp_prob *lp = glp_create_prob();
  glp_set_obj_dir(lp, GLP_MIN);
  glp_add_rows(lp, tensors);
  for (int t = 0; t < tensors; ++t)
    glp_set_row_bnds(lp, t + 1, GLP_LO, 1, 0);
  glp_add_cols(lp, int(sets.size()));
  for (int s = 0; s < int(sets.size()); ++s) {
    glp_set_col_kind(lp, s + 1, GLP_BV);
    glp_set_obj_coef(lp, s + 1, costs[s]);
    std::vector<int> rows(1);
    for (int t : sets[s])
      rows.push_back(t + 1);
    std::vector<double> ones(rows.size(), 1);
    glp_set_mat_col(lp, s + 1, int(rows.size()) - 1, rows.data(), ones.data());
  }
  glp_iocp parameters;
  glp_init_iocp(&parameters);
  parameters.msg_lev = GLP_MSG_OFF;
  parameters.presolve = GLP_ON;
  glp_intopt(lp, &parameters);
  std::vector<int> chosen;
  for (int s = 0; s < int(sets.size()); ++s)
    if (glp_mip_col_val(lp, s + 1) > 0.5)
      chosen.push_back(s);
  glp_delete_prob(lp);
  return chosen;
}
} // namespace

Sharing leftEdge(const std::vector<Lifetime> &lifetimes) {
  Sharing sharing;
  for (int t : byFirst(lifetimes)) {
    auto free = std::find_if(
        sharing.begin(), sharing.end(), [&](const std::vector<int> &memory) {
          return lifetimes[memory.back()].last < lifetimes[t].first;
        });
    if (free == sharing.end())
      sharing.push_back({t});
    else
      free->push_back(t);
  }
  return sharing;
}

Sharing
shareMemories(const std::vector<Lifetime> &lifetimes,
              const std::function<double(int64_t words, int64_t width)> &costOf,
              int64_t most) {
  Candidates candidates(lifetimes, most);
  if (lifetimes.empty() || !candidates.find())
    return leftEdge(lifetimes);
  std::vector<std::vector<int>> sets(candidates.sets.begin(),
                                     candidates.sets.end());
  std::vector<double> costs;
  for (const std::vector<int> &set : sets) {
    int64_t words = 0, width = 0;
    for (int t : set) {
      words = std::max(words, lifetimes[t].words);
      width = std::max(width, lifetimes[t].width);
    }
    costs.push_back(costOf(words, width));
  }
  Sharing sharing;
  std::vector<bool> isPlaced(lifetimes.size());
  for (int s : cover(int(lifetimes.size()), sets, costs)) {
    std::vector<int> memory;
    for (int t : sets[s])
      if (!isPlaced[t]) {
        memory.push_back(t);
        isPlaced[t] = true;
      }
    if (!memory.empty())
      sharing.push_back(std::move(memory));
  }
  std::sort(sharing.begin(), sharing.end());
  return sharing;
}
} // namespace rhizome::schedule
