// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The checked face: the semantics of the description over proxies that look at
// each access, and units that run in program order or in a random legal one.
#include "Order.h"
#include "rhizome/Engine/Faces.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <numeric>
#include <random>

using namespace llvm;
using namespace rhizome;
using namespace rhizome::engine;

namespace {
#include "rhizome/Engine/Semantics.inc"

/// What an access has found wrong, first of all.
struct Fault {
  std::string text;
  void operator()(const std::string &reason) {
    if (text.empty())
      text = reason;
  }
};

/// A byte or an accumulator that is checked when it is read or written.
template <typename Machine> struct Cell {
  Machine &machine;
  Space space;
  int64_t bank, word, part;

  operator int() const { return machine.read(*this); }
  const Cell &operator=(int value) const {
    machine.write(*this, value);
    return *this;
  }
  const Cell &operator=(const Cell &other) const { return *this = int(other); }
};

class Machine {
public:
  using Proxy = Cell<Machine>;

  Machine(const Core &core, State &state) : core(core), state(state) {}

  /// Carries out one instruction, with `popped` blocks at hand; returns those
  /// that it appends.
  std::vector<int8_t> carryOutOne(const Instruction &instruction,
                                  std::vector<int8_t> popped) {
    const InstructionInfo &info = infoOf(instruction.opcode);
    accesses.clear();
    info.accesses(core, instruction.values.data(), accesses);
    runs.clear();
    for (const Access &access : accesses)
      runs.push_back(runsOf(access));
    pops = std::move(popped);
    pushes.assign(
        size_t(info.pushes(core, instruction.values.data()) * blockBytes()), 0);
    visit(instruction, [&](const auto &one) { carryOut(one, *this); });
    return std::move(pushes);
  }

  int64_t blockBytes() const { return core.in * core.out; }
  size_t receivedWords() const { return taken; }
  Fault fault;

  // What the semantics use.
  int in() const { return int(core.in); }
  int out() const { return int(core.out); }
  Proxy scratch(int64_t word, int64_t byte) {
    return {*this, Space::Scratch, 0, word, byte};
  }
  Proxy memory(int64_t port, int64_t word, int64_t byte) {
    return {*this, Space::Memory, port, word, byte};
  }
  Proxy sum(int64_t bank, int64_t entry, int64_t column) {
    return {*this, Space::Accumulator, bank, entry, column};
  }
  int8_t &pushed(int64_t block, int64_t column, int64_t row) {
    return blockByte(pushes, block, column, row);
  }
  int popped(int64_t block, int64_t column, int64_t row) {
    return blockByte(pops, block, column, row);
  }
  int wrap(int64_t value) const {
    const int unused = 64 - int(core.sum_bits);
    return int(int64_t(uint64_t(value) << unused) >> unused);
  }
  void receive(int64_t word) {
    receiveRow(1);
    for (int i = 0; i < in(); ++i)
      scratch(word, i) = received(i);
  }
  void receiveRow(int64_t words) {
    row = taken;
    taken += size_t(words);
  }
  int received(int64_t byte) {
    const size_t at = row * size_t(core.in) + size_t(byte);
    if (at < state.received.size() && at < taken * size_t(core.in))
      return state.received[at];
    fault("a word of the stream is read that is not there");
    return 0;
  }
  void send(int64_t word) {
    for (int i = 0; i < in(); ++i)
      state.sent.push_back(int8_t(int(scratch(word, i))));
  }

  int read(const Proxy &cell) {
    // A result that is still being made is read as part of its writing.
    if (!named(cell, false) && !named(cell, true))
      return 0;
    return cell.space == Space::Accumulator ? sumAt(cell) : byteAt(cell);
  }
  void write(const Proxy &cell, int value) {
    if (!named(cell, true))
      return;
    if (cell.space == Space::Accumulator)
      sumAt(cell) = value;
    else
      byteAt(cell) = int8_t(value);
  }

private:
  /// Whether the instruction names the word among those that it reads or
  /// writes, and it is there.
  bool named(const Proxy &cell, bool writes) {
    const int64_t parts = cell.space == Space::Accumulator ? core.out : core.in;
    bool isThere = cell.word >= 0 && cell.part >= 0 && cell.part < parts;
    switch (cell.space) {
    case Space::Scratch:
      isThere &= cell.word < core.words;
      break;
    case Space::Memory:
      isThere &= cell.bank < core.ports &&
                 (cell.word + 1) * core.in <=
                     int64_t(state.memories[size_t(cell.bank)].size());
      break;
    default:
      isThere &= cell.bank < 2 && cell.word < core.entries;
    }
    if (!isThere) {
      fault("word " + std::to_string(cell.word) + " is not there");
      return false;
    }
    for (auto [access, words] : zip(accesses, runs))
      if (access.space == cell.space && access.writes == writes &&
          access.bank == cell.bank && contains(words, cell.word))
        return true;
    if (writes)
      fault("word " + std::to_string(cell.word) +
            " is used, which is none of the instruction's accesses");
    return false;
  }
  static bool contains(ArrayRef<Run> words, int64_t word) {
    auto next = upper_bound(words, word,
                            [](int64_t w, Run run) { return w < run.first; });
    return next != words.begin() && word < std::prev(next)->end;
  }
  int8_t &byteAt(const Proxy &cell) {
    auto &bytes = cell.space == Space::Scratch
                      ? state.scratch
                      : state.memories[size_t(cell.bank)];
    return bytes[size_t(cell.word * core.in + cell.part)];
  }
  int32_t &sumAt(const Proxy &cell) {
    return state.sums[size_t((cell.bank * core.entries + cell.word) * core.out +
                             cell.part)];
  }
  int8_t &blockByte(std::vector<int8_t> &blocks, int64_t block, int64_t column,
                    int64_t row) {
    const int64_t at = (block * core.out + column) * core.in + row;
    if (block >= 0 && column >= 0 && column < core.out && row >= 0 &&
        row < core.in && at < int64_t(blocks.size()))
      return blocks[size_t(at)];
    fault("a weight is used that is not there");
    return nowhere;
  }

  const Core &core;
  State &state;
  std::vector<Access> accesses;
  std::vector<std::vector<Run>> runs;
  std::vector<int8_t> pushes, pops;
  size_t taken = 0, row = 0; ///< words of the stream
  int8_t nowhere = 0;
};

/// The units of a core. The first that can move in a random order of preference
/// does, and the order changes seldom, often or at each step: so that some runs
/// let a unit get far ahead.
class Units {
public:
  Units(const Program &program, const Core &core, Machine &machine,
        uint64_t seed)
      : program(program), core(core), machine(machine), random(seed) {}

  /// Returns the number of an instruction at which the program stands still.
  std::optional<size_t> run() {
    std::array<unsigned, kUnits + 1> order;
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), random);
    const unsigned changes = std::array{1u, 16u, 256u}[random() % 3];
    for (bool moves = true; moves;) {
      moves = false;
      if (random() % changes == 0)
        std::shuffle(order.begin(), order.end(), random);
      for (unsigned unit : order) {
        moves = unit == kUnits ? fetch() : step(unit);
        if (moves)
          break;
      }
    }
    for (const Running &running : units)
      if (!running.waiting.empty())
        return running.waiting.front() + 1;
    return std::nullopt;
  }

private:
  struct Running {
    std::deque<size_t> waiting;
    bool begun = false, isDone = false;
    std::vector<int8_t> blocks; ///< taken, or still to be appended
  };

  bool fetch() {
    if (next + 1 >= program.instructions.size())
      return false;
    const Unit unit = infoOf(program.instructions[next].opcode).unit;
    auto &waiting = units[unsigned(unit)].waiting;
    if (int64_t(waiting.size()) == core.depth)
      return false;
    waiting.push_back(next++);
    return true;
  }

  bool step(unsigned unit) {
    Running &running = units[unit];
    if (running.waiting.empty())
      return false;
    const Instruction &instruction =
        program.instructions[running.waiting.front()];
    const InstructionInfo &info = infoOf(instruction.opcode);
    const int64_t *values = instruction.values.data();
    const size_t bytes = size_t(machine.blockBytes());
    if (!running.begun) {
      if (!tokens.take(unit, instruction.waits))
        return false;
      running.begun = true;
      running.isDone = false;
      running.blocks.clear();
      return true;
    }
    // Weights are taken one by one before the instruction is carried out, and
    // appended one by one after it. Whether another unit comes between is up
    // to chance.
    const size_t pops = size_t(info.pops(core, values)) * bytes;
    if (running.blocks.size() < pops && !running.isDone) {
      if (queue.empty())
        return false;
      append_range(running.blocks, queue.front());
      queue.pop_front();
      return true;
    }
    if (!running.isDone) {
      running.blocks =
          machine.carryOutOne(instruction, std::move(running.blocks));
      running.isDone = true;
      return true;
    }
    if (!running.blocks.empty()) {
      if (int64_t(queue.size()) == core.queue)
        return false;
      auto end = running.blocks.begin() + ptrdiff_t(bytes);
      queue.emplace_back(running.blocks.begin(), end);
      running.blocks.erase(running.blocks.begin(), end);
      return true;
    }
    if (!tokens.give(unit, instruction.gives, core.tokens))
      return false;
    running.begun = false;
    running.waiting.pop_front();
    return true;
  }

  const Program &program;
  const Core &core;
  Machine &machine;
  std::mt19937_64 random;
  size_t next = 0;
  std::array<Running, kUnits> units;
  Counters tokens;
  std::deque<std::vector<int8_t>> queue;
};
} // namespace

Error engine::runChecked(const Program &program, const Core &core, State &state,
                         std::optional<uint64_t> seed) {
  Machine machine(core, state);
  if (seed) {
    if (auto stands = Units(program, core, machine, *seed).run())
      return createStringError("instruction %zu stands still", *stands);
  } else {
    std::vector<int8_t> queue;
    for (const Instruction &instruction : program.instructions) {
      const int64_t pops =
          infoOf(instruction.opcode).pops(core, instruction.values.data()) *
          machine.blockBytes();
      if (pops > int64_t(queue.size()))
        return createStringError("weights are taken that are not there");
      auto end = queue.begin() + ptrdiff_t(pops);
      std::vector<int8_t> popped(queue.begin(), end);
      queue.erase(queue.begin(), end);
      append_range(queue, machine.carryOutOne(instruction, std::move(popped)));
    }
  }
  if (!machine.fault.text.empty())
    return createStringError(machine.fault.text);
  return Error::success();
}
