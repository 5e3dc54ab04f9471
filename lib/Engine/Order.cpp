// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs of words, the last accessors of each, and vector clocks.
#include "Order.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace rhizome;
using namespace rhizome::engine;

/// Both sets of runs as one.
static std::vector<Run> united(ArrayRef<Run> a, ArrayRef<Run> b) {
  std::vector<Run> both;
  both.reserve(a.size() + b.size());
  while (!a.empty() || !b.empty()) {
    ArrayRef<Run> &next =
        b.empty() || (!a.empty() && a.front().first <= b.front().first) ? a : b;
    if (!both.empty() && next.front().first <= both.back().end)
      both.back().end = std::max(both.back().end, next.front().end);
    else
      both.push_back(next.front());
    next = next.drop_front();
  }
  return both;
}

std::vector<Run> engine::runsOf(const Access &access, bool *isTwice) {
  SmallVector<Loop, 5> loops = access.loops;
  sort(loops, [](Loop a, Loop b) { return a.stride < b.stride; });
  std::vector<Run> runs = {{access.first, access.first + 1}};
  int64_t points = 1;
  for (Loop loop : loops) {
    points *= loop.count;
    // Copies double, and neighbors become one run at once: the cost does not
    // depend on how many words there are, but on how they are scattered.
    for (int64_t copies = 1; copies < loop.count && loop.stride > 0;) {
      const int64_t more = std::min(copies, loop.count - copies);
      std::vector<Run> moved = runs;
      for (Run &run : moved) {
        run.first += more * loop.stride;
        run.end += more * loop.stride;
      }
      runs = united(runs, moved);
      copies += more;
    }
  }
  if (isTwice) {
    for (const Run &run : runs)
      points -= run.end - run.first;
    *isTwice = points != 0;
  }
  return runs;
}

void Accessors::add(size_t number, Unit unit, ArrayRef<Access> accesses,
                    const Clock &start,
                    function_ref<void(const Conflict &)> report) {
  // Words of an access that are alike, and what is known of them from then on.
  auto check = [&](const Access &access, Run words, const Cell &cell) {
    if (cell.writer > start[cell.writerUnit])
      report(
          {access.space, access.bank, words, cell.writer, true, access.writes});
    if (access.writes)
      for (unsigned other = 0; other < kUnits; ++other)
        if (cell.readers[other] > start[other])
          report({access.space, access.bank, words, cell.readers[other], false,
                  true});
  };
  // Who comes after the writer comes after those before it.
  auto note = [&](const Access &access, Cell &cell) {
    if (access.writes)
      cell = {number, {}, unsigned(unit)};
    else
      cell.readers[unsigned(unit)] = number;
  };
  // What cells of the scratchpad become by an access; the last one, and all.
  std::pair<uint32_t, uint32_t> last;
  DenseMap<uint32_t, uint32_t> become;
  auto after = [&](const Access &access, uint32_t before) {
    if (last.first == before && !become.empty())
      return last.second;
    auto [it, isNew] = become.try_emplace(access.writes ? 0 : before, before);
    if (isNew) {
      Cell cell = cells[before];
      note(access, cell);
      if (cell != cells[before]) {
        it->second = uint32_t(cells.size());
        cells.push_back(cell);
      }
    }
    last = {before, it->second};
    return it->second;
  };
  auto visitScratch = [&](const Access &access, Run run) {
    if (size_t(run.end) > scratch.size())
      scratch.resize(size_t(run.end));
    for (auto word = scratch.begin() + run.first,
              last = scratch.begin() + run.end;
         word != last;) {
      const uint32_t before = *word;
      const auto end = std::find_if(
          word, last, [&](uint32_t cell) { return cell != before; });
      check(access, {word - scratch.begin(), end - scratch.begin()},
            cells[before]);
      std::fill(word, end, after(access, before));
      word = end;
    }
  };
  auto visit = [&](const Access &access, Run run) {
    if (access.space == Space::Scratch)
      return visitScratch(access, run);
    Cells &cells = spaces[{access.space, access.bank}];
    if (cells.empty())
      cells[0] = {};
    auto split = [&](int64_t word) {
      auto next = cells.upper_bound(word);
      auto at = std::prev(next);
      return at->first == word ? at
                               : cells.emplace_hint(next, word, at->second);
    };
    auto begin = split(run.first), end = split(run.end);
    for (auto it = begin; it != end; ++it) {
      check(access, {it->first, std::next(it)->first}, it->second);
      note(access, it->second);
    }
    if (access.writes)
      cells.erase(std::next(begin), end);
  };
  auto inOrder = [&](bool writes) {
    for (const Access &access : accesses) {
      if (access.writes != writes || access.space == Space::Stream)
        continue;
      if (access.space == Space::Accumulator) {
        // A bank is for one of the units at a time.
        bool isRead = !writes && any_of(accesses, [](const Access &other) {
          return other.space == Space::Accumulator && other.writes;
        });
        if (!isRead)
          visit(access, {0, 1});
        continue;
      }
      become.clear();
      for (Run run : runsOf(access))
        visit(access, run);
    }
  };
  inOrder(false);
  inOrder(true);
}

Clock Order::begin(Unit unit, uint8_t waits, uint8_t &missing) {
  Clock start = known[unsigned(unit)];
  missing = 0;
  for (unsigned from = 0; from < kUnits; ++from) {
    if (!(waits >> from & 1))
      continue;
    std::deque<Token> &tokens = waiting[from][unsigned(unit)];
    if (tokens.empty()) {
      missing |= uint8_t(1 << from);
      continue;
    }
    start.join(tokens.front().clock);
    tokens.pop_front();
  }
  return start;
}

bool Order::end(size_t number, Unit unit, Clock start, uint8_t gives,
                int64_t pushes, int64_t pops) {
  assert(number == clocks.size() && "instructions come in order");
  Clock end = start;
  end[unsigned(unit)] = number;
  if (pushes > 0)
    queue.push_back({number, pushes});
  while (pops > 0 && !queue.empty()) {
    Blocks &blocks = queue.front();
    const int64_t count = std::min(pops, blocks.count);
    pops -= count;
    blocks.count -= count;
    if (blocks.count > 0)
      break;
    // Who has taken the last block knows that all were read.
    end.join(clocks[blocks.giver]);
    queue.pop_front();
  }
  known[unsigned(unit)] = end;
  clocks.push_back(end);
  for (unsigned to = 0; to < kUnits; ++to)
    if (gives >> to & 1)
      waiting[unsigned(unit)][to].push_back({number, end});
  return pops == 0;
}

std::optional<size_t> Order::leftBlocks() const {
  if (queue.empty())
    return std::nullopt;
  return queue.front().giver;
}
