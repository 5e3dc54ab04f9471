// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The orders in which a graph is assigned to the devices.
#include "rhizome/Explore/Solver/Problem.h"
#include <algorithm>
#include <cassert>
#include <map>

namespace rhizome::explore {
/// Stages in an order in which every operand comes first. Among those that are
/// ready, the newest is taken, or the oldest.
static std::vector<int> sorted(const Problem &problem, bool newest) {
  std::vector<int> missing, ready, order;
  for (const Stage &stage : problem.stages) {
    std::vector<int> producers;
    for (int t : stage.operands)
      if (int p = problem.tensors[t].producer;
          p >= 0 && !std::count(producers.begin(), producers.end(), p))
        producers.push_back(p);
    missing.push_back(int(producers.size()));
  }
  for (int s = 0; s < int(missing.size()); ++s)
    if (missing[s] == 0)
      ready.push_back(s);
  while (!ready.empty()) {
    auto next = newest ? ready.end() - 1 : ready.begin();
    int s = *next;
    ready.erase(next);
    order.push_back(s);
    for (int r : problem.tensors[problem.stages[s].result].readers)
      if (--missing[r] == 0)
        ready.push_back(r);
  }
  return order;
}

std::vector<std::vector<int>> ordersOf(const Problem &problem) {
  std::vector<int> own;
  bool isChain = true;
  for (int s = 0; s < int(problem.stages.size()); ++s) {
    own.push_back(s);
    const Stage &stage = problem.stages[s];
    isChain &= stage.operands.size() == 1 &&
               problem.tensors[stage.operands[0]].producer == s - 1 &&
               problem.tensors[stage.result].readers.size() <= 1;
  }
  std::vector<std::vector<int>> orders{own};
  if (isChain || isLarge(problem))
    return orders;
  for (bool newest : {true, false}) {
    std::vector<int> other = sorted(problem, newest);
    if (std::find(orders.begin(), orders.end(), other) == orders.end())
      orders.push_back(std::move(other));
  }
  return orders;
}

/// Removes regions whose stages are not consecutive.
static void dropTorn(std::vector<std::vector<Choice>> &choices) {
  std::map<int, std::vector<std::pair<int, int>>> stages; // with their parts
  for (int s = 0; s < int(choices.size()); ++s)
    for (const Choice &choice : choices[s])
      if (choice.region >= 0)
        stages[choice.region].push_back({s, choice.part});
  for (auto &stage : choices)
    for (Choice &choice : stage) {
      if (choice.region < 0 || choice.part > 0)
        continue;
      const auto &all = stages[choice.region];
      for (size_t i = 0; i < all.size(); ++i)
        if (all[i].first != all[0].first + int(i) || all[i].second != int(i))
          choice.interval = Choice::kNever;
    }
}

Problem reorder(const Problem &problem, const std::vector<int> &order) {
  Problem result = problem;
  std::vector<int> position(order.size());
  for (size_t i = 0; i < order.size(); ++i)
    position[order[i]] = int(i);
  for (size_t i = 0; i < order.size(); ++i)
    result.stages[i] = problem.stages[order[i]];
  for (Kind &kind : result.kinds) {
    std::vector<std::vector<Choice>> choices;
    for (int s : order)
      choices.push_back(std::move(kind.choices[s]));
    kind.choices = std::move(choices);
    dropTorn(kind.choices);
    assert(kind.beyond.empty() && "nothing has been learned yet");
  }
  for (Tensor &tensor : result.tensors) {
    if (tensor.producer >= 0)
      tensor.producer = position[tensor.producer];
    for (int &reader : tensor.readers)
      reader = position[reader];
    std::sort(tensor.readers.begin(), tensor.readers.end());
  }
  for (size_t s = 0; s < order.size(); ++s) {
    Stage &stage = result.stages[s];
    bool isFed = false;
    for (int t : stage.operands)
      isFed |= s > 0 && result.tensors[t].producer == int(s) - 1;
    stage.mayCut =
        stage.mustCut || stage.copies > 0 || !(stage.staysWith && isFed);
  }
  return result;
}
} // namespace rhizome::explore
