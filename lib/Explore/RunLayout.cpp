// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A run as a problem of layout: stages that stay together are one item, what
// lies at the border is taken from its die's room.
#include "Runs.h"
#include <algorithm>
#include <map>

namespace rhizome::explore {
using gen::Resources;
constexpr size_t kKinds = gen::kResources;
constexpr size_t kOnChip = gen::kResourceNames.size();

static void subtract(Cost &from, const Cost &cost) {
  for (size_t k = 0; k < kKinds; ++k)
    from.resources.amount[k] =
        std::max(0.0, from.resources.amount[k] - cost.resources.amount[k]);
  from.lutVariance = std::max(0.0, from.lutVariance - cost.lutVariance);
  from.ffVariance = std::max(0.0, from.ffVariance - cost.ffVariance);
}

/// Items with their costs, and the item of each stage.
Layout RunFront::itemsOf(int level, const std::vector<int> &chain,
                         std::vector<int> &itemOf) const {
  Layout layout;
  std::map<std::pair<int, int>, int> units; // the item of a shared unit
  for (int at = 0; at <= level; ++at) {
    const Label &label = levels[at][chain[at]];
    const Stage &stage = problem.stages[begin + at];
    const Choice &choice =
        problem.kinds[kind].choices[begin + at][label.choice];
    Cost own = label.cost;
    if (at > 0)
      subtract(own, levels[at - 1][chain[at - 1]].cost);
    int item = -1;
    if (choice.unit >= 0) {
      auto known = units.find({choice.unit, label.instance});
      if (known != units.end())
        item = known->second;
    }
    if (item < 0 && at > 0 && (choice.part > 0 || !stage.mayCut))
      item = itemOf[at - 1];
    if (item < 0) {
      item = int(layout.items.size());
      layout.items.emplace_back();
    }
    if (choice.unit >= 0)
      units.try_emplace({choice.unit, label.instance}, item);
    Layout::Item &there = layout.items[item];
    there.cost += own;
    if (stage.die >= 0)
      there.die = stage.die;
    itemOf.push_back(item);
  }
  return layout;
}

/// The streams between items, and to and from the border.
void RunFront::addStreams(int level, int label, const Ends &ends,
                          const std::vector<int> &itemOf,
                          Layout &layout) const {
  const int end = begin + level + 1;
  auto inside = [&](int s) { return s >= begin && s < end; };
  for (int t = 0; t < int(problem.tensors.size()); ++t) {
    const Tensor &tensor = problem.tensors[t];
    auto first =
        std::lower_bound(tensor.readers.begin(), tensor.readers.end(), begin);
    const bool isMade = inside(tensor.producer);
    if (!isMade && (tensor.producer >= end || first == tensor.readers.end() ||
                    *first >= end))
      continue;
    int format;
    if (isMade) {
      format = choiceAt(level, label, tensor.producer).out;
    } else {
      const Stage &reader = problem.stages[*first];
      size_t slot =
          std::find(reader.operands.begin(), reader.operands.end(), t) -
          reader.operands.begin();
      format = choiceAt(level, label, *first).in[slot];
      // The border's unit lies next to its ports.
      Cost border = problem.glue->border(kind, streamBits, t, format, true);
      subtract(layout.items[itemOf[*first - begin]].cost, border);
      const Resources most = border.most();
      for (size_t k = 0; k < kOnChip; ++k)
        layout.room[layout.border].amount[k] -= most.amount[k];
    }
    if (format == kInside)
      continue;
    Layout::Stream stream;
    stream.from = isMade ? itemOf[tensor.producer - begin] : Layout::kBorder;
    for (auto reader = first; reader != tensor.readers.end() && *reader < end;
         ++reader)
      if (*reader > tensor.producer)
        stream.to.push_back(itemOf[*reader - begin]);
    if (std::find(ends.out.begin(), ends.out.end(), t) != ends.out.end())
      stream.to.push_back(Layout::kBorder);
    stream.wires = problem.glue->wires(t, format);
    stream.crossing = problem.glue->crossing(kind, t, format);
    layout.streams.push_back(std::move(stream));
  }
}

std::optional<std::vector<int>> RunFront::layOutOn(const Place &place,
                                                   int level, int label,
                                                   const Ends &ends,
                                                   const Cost &atBorder) const {
  std::vector<int> chain(level + 1);
  for (int at = level, l = label; at >= 0; --at) {
    chain[at] = l;
    l = levels[at][l].parent;
  }
  std::vector<int> itemOf;
  Layout layout = itemsOf(level, chain, itemOf);
  layout.room = place.dies.budgets;
  layout.wires = place.dies.wires;
  layout.border = place.dies.border;
  layout.share = limits.share;
  layout.errorBars = limits.errorBars;
  const Resources most = atBorder.most();
  for (size_t k = 0; k < kOnChip; ++k)
    layout.room[layout.border].amount[k] -= most.amount[k];
  // Readers of memories lie next to their ports.
  for (Layout::Item &item : layout.items)
    for (size_t k = kOnChip; k < kKinds; ++k)
      if (item.cost.resources.amount[k] > 0)
        item.die = place.dies.memory;
  addStreams(level, label, ends, itemOf, layout);
  auto on = layOut(layout);
  if (!on)
    return std::nullopt;
  std::vector<int> dies;
  for (int item : itemOf)
    dies.push_back((*on)[item]);
  return dies;
}
} // namespace rhizome::explore
