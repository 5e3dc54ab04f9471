// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Checks each instruction alone, then their order and their words, then one run
// with queues as short as the core's.
#include "rhizome/Engine/Verifier.h"
#include "Order.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Twine.h"

using namespace llvm;
using namespace rhizome;
using namespace rhizome::engine;

static std::string spaceName(Space space, int64_t bank) {
  switch (space) {
  case Space::Scratch:
    return "the scratchpad";
  case Space::Memory:
    return "memory m" + std::to_string(bank);
  case Space::Accumulator:
    return "bank " + std::to_string(bank) + " of the accumulators";
  case Space::Queue:
    return "the queue of weights";
  case Space::Stream:
    return "the stream";
  }
  llvm_unreachable("all spaces");
}

namespace {
class Verifier {
public:
  Verifier(const Program &program, const Core &core, const Surroundings &around,
           size_t limit)
      : program(program), core(core), around(around), limit(limit) {}

  std::vector<Problem> run() {
    checkHead();
    for (size_t number = 1; number <= program.instructions.size(); ++number)
      checkAlone(number);
    checkStreams();
    // Words and order mean nothing where fields are wrong.
    if (problems.empty())
      checkOrder();
    if (problems.empty())
      checkEnd();
    stable_sort(problems, [](const Problem &a, const Problem &b) {
      return a.instruction < b.instruction;
    });
    return std::move(problems);
  }

private:
  const Instruction &at(size_t number) const {
    return program.instructions[number - 1];
  }
  /// "instruction 3 (load)".
  std::string named(size_t number) const {
    return "instruction " + std::to_string(number) + " (" +
           infoOf(at(number).opcode).name + ")";
  }
  void refuse(size_t number, const Twine &text) {
    refuse(number, number, text);
  }
  void refuse(size_t number, size_t other, const Twine &text) {
    if (problems.size() < limit)
      problems.push_back(
          {number, other,
           ((number ? named(number) : "the head") + " " + text).str()});
  }

  void checkHead() {
    const isa::Head &head = program.head;
    auto expect = [&](const char *name, int64_t is, int64_t should,
                      const char *what) {
      if (is != should)
        refuse(0, Twine("has '") + name + "' " + Twine(is) + ", but " + what +
                      " is " + Twine(should));
    };
    expect("isa", head.isa, kIsaHash, "the hash of the instruction set");
    expect("core", head.core, core.hash(), "the hash of the core's parameters");
    expect("instructions", head.instructions,
           int64_t(program.instructions.size()), "their number");
    if (program.instructions.empty() ||
        program.instructions.back().opcode != Opcode::End)
      refuse(0, "is of a program that does not finish with 'end'");
  }

  void checkAlone(size_t number) {
    const Instruction &instruction = at(number);
    const InstructionInfo &info = infoOf(instruction.opcode);
    const int64_t *values = instruction.values.data();
    if (info.opcode == Opcode::Head)
      return refuse(number, "stands after another instruction");
    if (info.opcode == Opcode::End && number != program.instructions.size())
      return refuse(number, "is not the last one");
    if (info.unit == Unit::Fetch && (instruction.waits || instruction.gives))
      refuse(number, "waits or gives; it does so for all units");
    if ((instruction.waits | instruction.gives) & bitOf(info.unit))
      refuse(number, Twine("waits for its own unit, or gives to it; '") +
                         nameOf(info.unit) + "' keeps their order anyway");
    bool good = true;
    for (auto [n, field] : enumerate(info.fields)) {
      const int64_t least = std::max(field.least(core), field.leastHeld());
      const int64_t most = std::min(field.most(core), field.mostHeld());
      if (values[n] >= least && values[n] <= most)
        continue;
      good = false;
      refuse(number, Twine("has '") + field.name + "' " + Twine(values[n]) +
                         ", not from " + Twine(least) + " to " + Twine(most));
    }
    for (const RuleInfo &rule : info.rules)
      if (good && !rule.holds(core, values)) {
        good = false;
        refuse(number, Twine("breaks the rule that ") + rule.text + " (" +
                           rule.expression + ")");
      }
    if (!good)
      return;
    std::vector<Access> accesses;
    info.accesses(core, values, accesses);
    for (const Access &access : accesses)
      checkAccess(number, access);
  }

  void checkAccess(size_t number, const Access &access) {
    int64_t words = 0;
    switch (access.space) {
    case Space::Scratch:
      words = core.words;
      break;
    case Space::Memory:
      words = around.memoryWords[size_t(access.bank)];
      break;
    case Space::Stream:
      (access.writes ? sent : received) += access.last() + 1;
      return;
    case Space::Accumulator:
    case Space::Queue:
      return; // rules bound the one, and counts are checked of the other
    }
    const char *does = access.writes ? "writes" : "reads";
    if (access.last() >= words) {
      refuse(number, Twine(does) + " word " + Twine(access.last()) + " of " +
                         spaceName(access.space, access.bank) + ", which has " +
                         Twine(words));
      return;
    }
    bool isTwice = false;
    if (access.writes && (runsOf(access, &isTwice), isTwice))
      refuse(number, Twine("writes a word of ") +
                         spaceName(access.space, access.bank) + " twice");
  }

  void checkStreams() {
    for (auto [is, should, does] :
         {std::tuple(received, around.received, "receives"),
          std::tuple(sent, around.sent, "sends")})
      if (is != should)
        refuse(0, Twine("is of a program that ") + does + " " + Twine(is) +
                      " words, but a frame of the stream has " + Twine(should));
  }

  void checkOrder() {
    Order order;
    Accessors accessors;
    for (size_t number = 1; number < program.instructions.size(); ++number) {
      const Instruction &instruction = at(number);
      const InstructionInfo &info = infoOf(instruction.opcode);
      const int64_t *values = instruction.values.data();
      uint8_t missing = 0;
      Clock start = order.begin(info.unit, instruction.waits, missing);
      for (unsigned unit = 0; unit < kUnits; ++unit)
        if (missing >> unit & 1)
          refuse(number, Twine("waits for a token of '") + nameOf(Unit(unit)) +
                             "' that no earlier instruction gives");
      std::vector<Access> accesses;
      info.accesses(core, values, accesses);
      bool isReported = false;
      accessors.add(number, info.unit, accesses, start,
                    [&](const Conflict &conflict) {
                      if (!std::exchange(isReported, true))
                        refuseConflict(number, conflict);
                    });
      const int64_t pops = info.pops(core, values);
      if (!order.end(number, info.unit, start, instruction.gives,
                     info.pushes(core, values), pops))
        refuse(number, Twine("takes ") + Twine(pops) +
                           " blocks of weights, more than earlier instructions "
                           "have left in the queue");
    }
    for (unsigned from = 0; from < kUnits; ++from)
      for (unsigned to = 0; to < kUnits; ++to)
        if (auto &left = order.tokens(from, to); !left.empty())
          refuse(left.front().giver, Twine("gives '") + nameOf(Unit(to)) +
                                         "' a token that no later instruction "
                                         "waits for");
    if (std::optional<size_t> left = order.leftBlocks())
      refuse(*left,
             "appends blocks of weights that no later instruction takes");
    const int64_t blocks = blocksInOrder(program.instructions, core);
    if (blocks != program.head.blocks)
      refuse(0, Twine("has 'blocks' ") + Twine(program.head.blocks) + ", but " +
                    Twine(blocks) +
                    " blocks of weights wait in the queue when "
                    "instructions are carried out one by one");
  }

  void refuseConflict(size_t number, const Conflict &conflict) {
    auto does = [](bool writes) { return writes ? "writes" : "reads"; };
    const std::string space = spaceName(conflict.space, conflict.bank);
    const int64_t first = conflict.words.first, last = conflict.words.end - 1;
    const std::string words =
        conflict.space == Space::Accumulator ? space
        : first == last ? "word " + std::to_string(first) + " of " + space
                        : "words " + std::to_string(first) + " to " +
                              std::to_string(last) + " of " + space;
    if (conflict.earlier == number)
      return refuse(number, Twine("reads and writes ") + words);
    const char *from = nameOf(infoOf(at(conflict.earlier).opcode).unit);
    const char *to = nameOf(infoOf(at(number).opcode).unit);
    refuse(number, conflict.earlier,
           Twine(does(conflict.laterWrites)) + " " + words + ", which " +
               named(conflict.earlier) + " " + does(conflict.earlierWrites) +
               ", and nothing orders them: a token from '" + from + "' to '" +
               to + "' would");
  }

  /// One run of the core: if one ends, all do, since what a unit does depends
  /// only on what it has taken, never on when. Every queue is taken to be as
  /// short as a core may build it: an instruction holds its place until it has
  /// given all its tokens, and gives them at once.
  void checkEnd() {
    struct Running {
      std::deque<size_t> waiting;
      bool begun = false;
      int64_t blocks = 0; ///< that the first one still appends or takes
    };
    std::array<Running, kUnits> units;
    Counters tokens;
    int64_t queued = 0;
    size_t next = 1;
    auto step = [&](unsigned unit) {
      Running &running = units[unit];
      if (running.waiting.empty())
        return false;
      const Instruction &instruction = at(running.waiting.front());
      const InstructionInfo &info = infoOf(instruction.opcode);
      const int64_t *values = instruction.values.data();
      const int64_t pushes = info.pushes(core, values);
      bool moves = false;
      if (!running.begun) {
        if (!tokens.take(unit, instruction.waits))
          return false;
        running.begun = moves = true;
        running.blocks = pushes + info.pops(core, values);
      }
      const int64_t room = pushes > 0 ? core.queue - queued : queued;
      const int64_t moved = std::min(running.blocks, room);
      running.blocks -= moved;
      queued += pushes > 0 ? moved : -moved;
      if (running.blocks > 0)
        return moves || moved > 0;
      if (!tokens.give(unit, instruction.gives, core.tokens))
        return moves || moved > 0;
      running.begun = false;
      running.waiting.pop_front();
      return true;
    };
    for (bool moves = true; moves;) {
      moves = false;
      while (next < program.instructions.size()) {
        auto &waiting = units[unsigned(infoOf(at(next).opcode).unit)].waiting;
        if (int64_t(waiting.size()) == core.depth)
          break;
        waiting.push_back(next++);
        moves = true;
      }
      for (unsigned unit = 0; unit < kUnits; ++unit)
        while (step(unit))
          moves = true;
    }
    for (const Running &running : units)
      if (!running.waiting.empty())
        refuse(running.waiting.front(),
               reasonOf(running.waiting.front(), running.begun, running.blocks,
                        next));
  }

  /// Why an instruction of a program that stands still does not end.
  std::string reasonOf(size_t number, bool begun, int64_t blocks,
                       size_t next) const {
    const Instruction &instruction = at(number);
    std::string units;
    const uint8_t mask = begun ? instruction.gives : instruction.waits;
    for (unsigned unit = 0; unit < kUnits; ++unit)
      if (mask >> unit & 1)
        units +=
            std::string(units.empty() ? "'" : ", '") + nameOf(Unit(unit)) + "'";
    std::string fetch =
        next < program.instructions.size()
            ? "; fetch waits with " + named(next) + " for room before its unit"
            : "";
    if (!begun)
      return "never begins: it waits for tokens of " + units + fetch;
    if (blocks == 0)
      return "never ends: the core holds " + std::to_string(core.tokens) +
             " tokens between two units, and those to " + units +
             " are not taken" + fetch;
    return "never ends: " + std::to_string(blocks) +
           " blocks of weights are left, and the queue holds " +
           std::to_string(core.queue) + fetch;
  }

  const Program &program;
  const Core &core;
  const Surroundings &around;
  const size_t limit;
  int64_t received = 0, sent = 0;
  std::vector<Problem> problems;
};
} // namespace

std::vector<Problem> engine::verify(const Program &program, const Core &core,
                                    const Surroundings &around, size_t limit) {
  return Verifier(program, core, around, limit).run();
}
