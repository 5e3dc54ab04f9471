// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which instructions end before which others begin, and which share words that
// one of them writes. Programs have no branches, so the n-th token from one
// unit to another is always the same one, and one pass in program order with
// vector clocks decides both.
#pragma once

#include "rhizome/Engine/Isa.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <vector>

namespace rhizome::engine {
/// For each unit the number of the last of its instructions that has ended, 0
/// for none.
struct Clock : std::array<size_t, kUnits> {
  void join(const Clock &other) {
    for (unsigned unit = 0; unit < kUnits; ++unit)
      (*this)[unit] = std::max((*this)[unit], other[unit]);
  }
};

/// Words from `first` to before `end`.
struct Run {
  int64_t first, end;
};

/// The words of an access in ascending order; `isTwice` gets whether a word
/// occurs twice.
std::vector<Run> runsOf(const Access &access, bool *isTwice = nullptr);

/// Words that two instructions use, of which one writes.
struct Conflict {
  Space space;
  int64_t bank;
  Run words;
  size_t earlier; ///< instruction; the later one itself if it reads and writes
  bool earlierWrites, laterWrites;
};

/// Who read and wrote each word last.
class Accessors {
public:
  /// Records the accesses of an instruction, which `start` lets begin. Calls
  /// `report` for conflicts with instructions that `start` does not know of;
  /// it may add to `start`.
  void add(size_t number, Unit unit, llvm::ArrayRef<Access> accesses,
           const Clock &start,
           llvm::function_ref<void(const Conflict &)> report);

private:
  struct Cell {
    size_t writer = 0;
    Clock readers = {};
    unsigned writerUnit = 0;
    bool operator==(const Cell &) const = default;
  };
  /// By their first words; each reaches to the next.
  using Cells = std::map<int64_t, Cell>;
  std::map<std::pair<Space, int64_t>, Cells> spaces;
  /// Of the scratchpad, whose accesses are scattered, the number of each word's
  /// cell: quick to compare and to change.
  std::vector<uint32_t> scratch;
  std::vector<Cell> cells = {{}};
};

/// The tokens that wait between units while a program runs.
class Counters {
public:
  /// A unit takes one of each unit in `waits`, or none if one lacks.
  bool take(unsigned unit, uint8_t waits) {
    for (unsigned from = 0; from < kUnits; ++from)
      if (waits >> from & 1 && tokens[from][unit] == 0)
        return false;
    for (unsigned from = 0; from < kUnits; ++from)
      tokens[from][unit] -= waits >> from & 1;
    return true;
  }
  /// It gives one to each unit in `gives`, or none if one has `most`.
  bool give(unsigned unit, uint8_t gives, int64_t most) {
    for (unsigned to = 0; to < kUnits; ++to)
      if (gives >> to & 1 && tokens[unit][to] == most)
        return false;
    for (unsigned to = 0; to < kUnits; ++to)
      tokens[unit][to] += gives >> to & 1;
    return true;
  }

private:
  std::array<std::array<int64_t, kUnits>, kUnits> tokens = {};
};

/// When instructions begin and end, as far as tokens, units and the queue of
/// weights say.
class Order {
public:
  /// What the next instruction of a unit knows when it begins; tokens of the
  /// units in `waits` are taken. `missing` gets the units that gave none.
  Clock begin(Unit unit, uint8_t waits, uint8_t &missing);
  /// It ends: gives tokens and moves blocks of weights. Returns false if it
  /// takes more blocks than there are.
  bool end(size_t number, Unit unit, Clock start, uint8_t gives, int64_t pushes,
           int64_t pops);

  /// An instruction whose blocks or tokens nobody took, if there is one.
  std::optional<size_t> leftBlocks() const;
  struct Token {
    size_t giver;
    Clock clock;
  };
  const std::deque<Token> &tokens(unsigned from, unsigned to) const {
    return waiting[from][to];
  }
  /// What is known when an instruction has ended.
  const Clock &ended(size_t number) const { return clocks[number]; }

private:
  struct Blocks {
    size_t giver;
    int64_t count;
  };
  std::array<Clock, kUnits> known = {};
  std::array<std::array<std::deque<Token>, kUnits>, kUnits> waiting;
  std::deque<Blocks> queue;
  std::vector<Clock> clocks = {{}};
};
} // namespace rhizome::engine
