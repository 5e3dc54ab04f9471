// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A run as a problem of layout: stages that stay together are one item, what
// lies at the border is taken from its die's room.
#include "rhizome/Explore/Solver/RunLayout.h"
#include <algorithm>
#include <map>
#include <set>

namespace rhizome::explore {
using gen::Resources;
constexpr size_t kKinds = gen::kResources;
constexpr size_t kOnChip = gen::kResourceNames.size();

void subtract(Cost &from, const Cost &cost) {
  for (size_t k = 0; k < kKinds; ++k)
    from.resources.amount[k] =
        std::max(0.0, from.resources.amount[k] - cost.resources.amount[k]);
  from.lutVariance = std::max(0.0, from.lutVariance - cost.lutVariance);
  from.ffVariance = std::max(0.0, from.ffVariance - cost.ffVariance);
}

/// Items with their costs, and the item of each stage.
static Layout itemsOf(const RunGlue &glue, llvm::ArrayRef<Placed> stages,
                      std::vector<int> &itemOf) {
  Layout layout;
  std::map<std::pair<int, int>, int> units; // the item of a shared unit
  for (const Placed &here : stages) {
    const Stage &stage = glue.problem.stages[glue.begin + int(itemOf.size())];
    int item = -1;
    if (here.choice->unit >= 0) {
      auto known = units.find({here.choice->unit, here.instance});
      if (known != units.end())
        item = known->second;
    }
    if (item < 0 && !itemOf.empty() && (here.choice->part > 0 || !stage.mayCut))
      item = itemOf.back();
    if (item < 0) {
      item = int(layout.items.size());
      layout.items.emplace_back();
    }
    if (here.choice->unit >= 0)
      units.try_emplace({here.choice->unit, here.instance}, item);
    Layout::Item &there = layout.items[item];
    there.cost += here.cost;
    if (stage.die >= 0)
      there.die = stage.die;
    itemOf.push_back(item);
  }
  return layout;
}

/// The streams between items, and to and from the border.
static void addStreams(const RunGlue &glue, llvm::ArrayRef<Placed> stages,
                       const Ends &ends, const std::vector<int> &itemOf,
                       Layout &layout) {
  const Problem &problem = glue.problem;
  const int begin = glue.begin, end = begin + int(stages.size());
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
      format = stages[tensor.producer - begin].choice->out;
    } else {
      const Stage &reader = problem.stages[*first];
      size_t slot =
          std::find(reader.operands.begin(), reader.operands.end(), t) -
          reader.operands.begin();
      format = stages[*first - begin].choice->in[slot];
      // The border's unit lies next to its ports.
      Cost border =
          problem.glue->border(glue.kind, glue.streamBits, t, format, true);
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
    stream.crossing = problem.glue->crossing(glue.kind, t, format);
    layout.streams.push_back(std::move(stream));
  }
}

LaidOut layOutRun(const RunGlue &glue, llvm::ArrayRef<Placed> stages,
                  const Limits &limits, const Place &place, const Ends &ends,
                  const Cost &atBorder, llvm::ArrayRef<int> first) {
  std::vector<int> itemOf;
  Layout layout = itemsOf(glue, stages, itemOf);
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
      if (item.cost.resources.amount[k] > 0) {
        if (item.die >= 0 && item.die != place.dies.memory)
          return {};
        item.die = place.dies.memory;
      }
  addStreams(glue, stages, ends, itemOf, layout);
  if (!first.empty())
    layout.first.resize(layout.items.size());
  for (size_t s = 0; s < first.size(); ++s) {
    const int fixed = layout.items[itemOf[s]].die;
    layout.first[itemOf[s]] = fixed >= 0 ? fixed : first[s];
  }
  const auto &known = glue.problem.layouts;
  LaidOut on = known ? known->of(layout) : layOut(layout);
  std::vector<int> dies;
  for (int item : itemOf)
    dies.push_back(on.dies[item]);
  return {std::move(dies), on.fits};
}

Resources beyondAt(const Kind &kind, int begin, int stage) {
  return !kind.beyond.empty() && begin <= kind.beyond[stage].from
             ? kind.beyond[stage].resources
             : Resources();
}

LaidOut layOutRun(const Problem &problem, const Run &run, const Limits &limits,
                  const Place &place, const Ends &ends,
                  llvm::ArrayRef<int> first) {
  const RunGlue glue{problem, place.kind, run.begin, run.streamBits};
  const Kind &kind = problem.kinds[place.kind];
  auto chosen = [&](int stage) -> const Choice & {
    return kind.choices[stage][run.choices[stage - run.begin]];
  };
  std::set<std::pair<int, int>> units; // shared ones that are paid for
  std::vector<Placed> stages;
  for (int s = run.begin; s < run.end; ++s) {
    const Choice &choice = chosen(s);
    stages.push_back({&choice, choice.cost, run.units[s - run.begin]});
    Placed &here = stages.back();
    if (choice.unit >= 0 && units.insert({choice.unit, here.instance}).second)
      here.cost += kind.units[choice.unit];
    glue.add(here.cost, s, choice, chosen);
    here.cost.resources += beyondAt(kind, run.begin, s);
  }
  Cost atBorder = place.wire ? problem.glue->endpoint(place, ends) : Cost();
  atBorder += glue.closing(run.end, ends, chosen);
  return layOutRun(glue, stages, limits, place, ends, atBorder, first);
}
} // namespace rhizome::explore
