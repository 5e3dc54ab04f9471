// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Draws instructions within their bounds, with results that neither touch twice
// nor read what they write; tokens come from addTokens and some from chance.
#include "RandomProgram.h"
#include "llvm/ADT/STLExtras.h"
#include <set>

using namespace rhizome;
using namespace rhizome::engine;
using namespace rhizome::engine::test;

namespace {
/// Words of a memory besides the two images of the scratchpad in m0, and of
/// sets of constants at its end, one for each shift.
constexpr int64_t kFreeWords = 384, kSetWords = 16, kSets = 4;

class Maker {
public:
  Maker(const Core &core, const Mix &mix, uint64_t seed)
      : mix(mix), random(seed), made{core, {}, {}, State(core)} {}

  Case make() {
    for (int64_t port = 0; port < core.ports; ++port)
      made.around.memoryWords[size_t(port)] =
          kFreeWords + (port == 0 ? 2 * core.words : 0);
    fillMemories();
    add(image<isa::Load>(0));
    if (has(Opcode::Matrix) || has(Opcode::Vector))
      fillSums();
    while (int(instructions().size()) < mix.instructions)
      addOne(mix.opcodes[size_t(below(int64_t(mix.opcodes.size())))]);
    while (waiting > 0)
      add(matrix());
    add(image<isa::Store>(core.words));
    add(isa::End());
    addTokens(made.program, core);
    seal(made.program, core);
    addMoreTokens();
    made.before.received = bytes(made.around.received);
    return std::move(made);
  }

private:
  // Chance.
  int64_t below(int64_t end) { return int64_t(random() % uint64_t(end)); }
  int64_t from(int64_t least, int64_t most) {
    return least + below(most - least + 1);
  }
  bool chance(int percent) { return below(100) < percent; }
  std::vector<int8_t> bytes(int64_t words) {
    std::vector<int8_t> all(size_t(words * core.in));
    for (int8_t &byte : all)
      byte = int8_t(random());
    return all;
  }

  std::vector<Instruction> &instructions() { return made.program.instructions; }
  bool has(Opcode opcode) const {
    return llvm::is_contained(mix.opcodes, opcode);
  }

  int64_t setAt(int64_t shift, bool isAdd) const {
    return made.around.memoryWords[0] -
           (2 * kSets - 2 * shift - isAdd) * kSetWords;
  }

  void fillMemories() {
    for (int64_t port = 0; port < core.ports; ++port)
      made.before.memories[size_t(port)] =
          bytes(made.around.memoryWords[size_t(port)]);
    // Constants of which results are spread over all bytes.
    auto put = [&](int64_t word, int64_t lane, int64_t count, int64_t value) {
      for (int64_t i = 0; i < count; ++i)
        made.before.memories[0][size_t((word + i) * core.in + lane)] =
            int8_t(value >> (8 * i));
    };
    auto about = [&](int64_t bits) {
      const int64_t size = from(0, int64_t(1) << bits);
      return chance(50) ? size : -size;
    };
    for (int64_t shift = 0; shift < kSets; ++shift)
      for (int64_t lane = 0; lane < core.in; ++lane) {
        put(setAt(shift, false), lane, 5, about(from(4, 10) + 8 * shift));
        put(setAt(shift, false) + 5, lane, 6, about(23 + 8 * shift));
        const int64_t bits = std::min<int64_t>(8 * shift, 22);
        put(setAt(shift, true), lane, 3, about(bits));
        put(setAt(shift, true) + 3, lane, 3, about(bits));
        put(setAt(shift, true) + 6, lane, 6, about(7 + bits));
      }
  }

  /// All of the scratchpad, as one box.
  template <typename T> T image(int64_t address) {
    T box;
    box.address = address;
    box.channels = 256;
    box.columns = core.words / 256;
    box.column_step = box.place_column = 256;
    return box;
  }

  void add(const Instruction &instruction) {
    const InstructionInfo &info = infoOf(instruction.opcode);
    std::vector<Access> accesses;
    info.accesses(core, instruction.values.data(), accesses);
    for (const Access &access : accesses)
      if (access.space == Space::Stream)
        (access.writes ? made.around.sent : made.around.received) +=
            access.last() + 1;
    waiting += info.pushes(core, instruction.values.data());
    waiting -= info.pops(core, instruction.values.data());
    instructions().push_back(instruction);
  }

  /// Sums are defined before anything is added to them or read.
  void fillSums() {
    for (int64_t bank = 0; bank < 2; ++bank) {
      if (has(Opcode::Matrix)) {
        isa::Weights blocks;
        blocks.address = below(kFreeWords - core.out);
        add(blocks);
        isa::Matrix all;
        all.place = below(core.words - core.entries);
        all.bank = bank;
        all.rows = core.entries / 16;
        all.columns = 16;
        all.row_step = 16;
        all.column_step = 1;
        add(all);
        continue;
      }
      for (int64_t group = 0; group < core.out / core.in; ++group) {
        isa::Vector all;
        all.operation = isa::Vector::Multiply;
        all.a = below(core.words - core.entries);
        all.b = below(core.words - core.entries);
        all.bank = bank;
        all.group = group;
        all.rows = core.entries / 16;
        all.columns = 16;
        all.a_row = all.b_row = 16;
        all.a_column = all.b_column = 1;
        add(all);
      }
    }
  }

  int64_t port() {
    const int64_t count = core.ports + (mix.streams ? 1 : 0);
    const int64_t drawn = below(count);
    return drawn == core.ports ? int64_t(isa::Load::Stream) : drawn;
  }

  /// Strides for a box of `channels` words a column that touches no word twice.
  void place(int64_t rows, int64_t columns, int64_t channels, int64_t &row,
             int64_t &column) {
    const bool rowsInside = chance(20);
    int64_t &inner = rowsInside ? row : column;
    int64_t &outer = rowsInside ? column : row;
    inner = channels + (chance(30) ? below(3) : 0);
    outer = (rowsInside ? rows : columns) * inner + (chance(30) ? below(4) : 0);
  }

  isa::Load load() {
    isa::Load f;
    f.port = port();
    f.rows = from(1, 4);
    f.columns = from(1, 5);
    f.channels = from(1, 3);
    if (chance(40)) {
      f.top = below(3);
      f.bottom = below(3);
      f.left = below(3);
      f.right = below(3);
      f.rows += f.top + f.bottom;
      f.columns += f.left + f.right;
      f.pad = from(-128, 127);
    }
    place(f.rows, f.columns, f.channels, f.place_row, f.place_column);
    f.place = below(core.words);
    if (f.port == isa::Load::Stream)
      return f;
    f.column_step = chance(70) ? f.channels : below(8);
    f.row_step = chance(70) ? f.columns * f.column_step : below(40);
    f.address = below(made.around.memoryWords[size_t(f.port)]);
    return f;
  }

  isa::Pack pack() {
    isa::Pack f;
    f.port = port();
    f.rows = from(1, 4);
    f.columns = from(1, 6);
    f.channels = from(1, 2);
    f.bytes = from(1, 3 * core.in);
    f.step = from(1, core.in);
    f.left = from(0, core.in);
    if (chance(40)) {
      f.top = below(3);
      f.bottom = below(3);
      f.rows += f.top + f.bottom;
    }
    f.pad = from(-128, 127);
    f.place_row = f.columns * f.channels + below(3);
    f.place = below(core.words);
    if (f.port == isa::Load::Stream) {
      f.bytes = from(1, 3) * core.in;
      return f;
    }
    f.row_step = below(8);
    f.address = below(made.around.memoryWords[size_t(f.port)]);
    return f;
  }

  isa::Weights weights() {
    isa::Weights f;
    f.blocks = from(1, 4);
    if (chance(30)) {
      f.port = isa::Weights::Scratch;
      f.turned = chance(50);
      f.column_step = below(4);
      f.block_step = below(20);
      f.place = below(core.words);
      return f;
    }
    f.port = below(core.ports);
    f.four = chance(40);
    f.address = below(made.around.memoryWords[size_t(f.port)]);
    return f;
  }

  void tile(int64_t &rows, int64_t &columns, int64_t &entry) {
    rows = from(1, 4);
    columns = from(1, std::min<int64_t>(5, core.entries / rows));
    if (chance(5)) {
      rows = core.entries / 16;
      columns = 16;
    }
    entry = below(core.entries - rows * columns + 1);
  }

  isa::Matrix matrix() {
    isa::Matrix f;
    f.taps2 = from(1, std::min<int64_t>(3, waiting));
    f.taps1 = from(1, std::min<int64_t>(3, waiting / f.taps2));
    f.taps0 = from(1, std::min<int64_t>(4, waiting / f.taps2 / f.taps1));
    f.step2 = below(20);
    f.step1 = below(6);
    f.step0 = below(3);
    tile(f.rows, f.columns, f.entry);
    f.column_step = below(4);
    f.row_step = below(12);
    f.bank = below(2);
    f.more = chance(50);
    const Instruction drawn = f;
    std::vector<Access> accesses;
    infoOf(Opcode::Matrix).accesses(core, drawn.values.data(), accesses);
    f.place = below(core.words - accesses.front().last());
    return f;
  }

  isa::Vector vector() {
    using V = isa::Vector;
    V f;
    f.operation = mix.operations[size_t(below(int64_t(mix.operations.size())))];
    if (f.operation == V::Maximum || f.operation == V::Dot) {
      f.taps1 = from(1, 3);
      f.taps0 = from(1, 3);
    }
    tile(f.rows, f.columns, f.entry);
    f.a = below(core.words);
    f.b = below(core.words);
    f.place = below(core.words);
    f.constants = below(core.words);
    f.a_row = below(10);
    f.a_column = below(4);
    f.b_row = below(10);
    f.b_column = below(4);
    place(f.rows, f.columns, 1, f.place_row, f.place_column);
    f.bank = below(2);
    f.group = below(core.out / core.in);
    f.more = chance(50);
    f.shift = below(4);
    f.low = chance(70) ? -128 : from(-128, 127);
    f.high = chance(70) ? 127 : from(f.low, 127);
    return f;
  }

  isa::Store store() {
    isa::Store f;
    f.port = port();
    f.rows = from(1, 4);
    f.columns = from(1, 5);
    f.channels = from(1, 3);
    f.place = below(core.words);
    f.place_column = chance(70) ? f.channels : below(8);
    f.place_row = chance(70) ? f.columns * f.place_column : below(40);
    if (f.port == isa::Store::Stream)
      return f;
    place(f.rows, f.columns, f.channels, f.row_step, f.column_step);
    f.address = below(made.around.memoryWords[size_t(f.port)]);
    return f;
  }

  /// Whether all words are there, none is written twice, and none written that
  /// is read.
  bool fits(const Instruction &instruction) const {
    std::vector<Access> accesses;
    infoOf(instruction.opcode)
        .accesses(core, instruction.values.data(), accesses);
    std::set<int64_t> read, written;
    for (const Access &access : accesses) {
      const bool isScratch = access.space == Space::Scratch;
      if (!isScratch && access.space != Space::Memory)
        continue;
      const int64_t words =
          isScratch ? core.words : made.around.memoryWords[size_t(access.bank)];
      // The image that is loaded first stays as it is.
      if (access.last() >= words ||
          (access.writes && !isScratch && access.bank == 0 &&
           access.first < core.words))
        return false;
      for (int64_t word : wordsOf(access))
        if (access.writes ? !written.insert(word).second
                          : isScratch && !read.insert(word).second)
          if (access.writes)
            return false;
      if (!isScratch)
        written.clear();
    }
    return llvm::none_of(written,
                         [&](int64_t word) { return read.count(word) > 0; });
  }

  void addOne(Opcode opcode) {
    for (int tries = 0; tries < 200; ++tries) {
      Instruction drawn = isa::End();
      switch (opcode) {
      case Opcode::Load:
        drawn = load();
        break;
      case Opcode::Pack:
        drawn = pack();
        break;
      case Opcode::Weights:
        drawn = weights();
        // Seldom more than the queue holds, which may keep a program from
        // ending.
        if (waiting + drawn.as<isa::Weights>().blocks >
            core.queue + (chance(5) ? 2 : 0))
          continue;
        break;
      case Opcode::Matrix:
        if (waiting == 0)
          return;
        drawn = matrix();
        break;
      case Opcode::Vector:
        drawn = vector();
        break;
      case Opcode::Store:
        drawn = store();
        break;
      case Opcode::Head:
      case Opcode::End:
        return;
      }
      if (!fits(drawn))
        continue;
      if (opcode == Opcode::Vector)
        addConstants(drawn.as<isa::Vector>());
      add(drawn);
      return;
    }
  }

  /// Before a requantizer or an addition, often constants of its shift.
  void addConstants(const isa::Vector &vector) {
    const bool isAdd = vector.operation == isa::Vector::Add;
    if ((!isAdd && vector.operation != isa::Vector::Requantize) || chance(10))
      return;
    isa::Load load;
    load.address = setAt(vector.shift, isAdd);
    load.channels = isAdd ? 12 : 11;
    load.place = vector.constants;
    add(load);
  }

  /// Tokens that nothing needs, where the program stays right.
  void addMoreTokens() {
    const int64_t count = int64_t(instructions().size()) - 1;
    for (int tries = 0; tries < 8; ++tries) {
      const Program kept = made.program;
      int64_t first = below(count), second = below(count);
      if (first > second)
        std::swap(first, second);
      Instruction &giver = instructions()[size_t(first)];
      Instruction &waiter = instructions()[size_t(second)];
      const uint8_t from = bitOf(infoOf(giver.opcode).unit);
      const uint8_t to = bitOf(infoOf(waiter.opcode).unit);
      if (from == to || giver.gives & to || waiter.waits & from)
        continue;
      giver.gives |= to;
      waiter.waits |= from;
      if (!verify(made.program, core, made.around).empty())
        made.program = kept;
    }
  }

  const Mix &mix;
  std::mt19937_64 random;
  Case made;
  const Core &core = made.core;
  int64_t waiting = 0; ///< blocks in the queue, in program order
};
} // namespace

std::vector<int64_t> test::wordsOf(const Access &access) {
  std::vector<int64_t> words = {access.first};
  for (const Loop &loop : access.loops) {
    std::vector<int64_t> all;
    for (int64_t i = 0; i < loop.count; ++i)
      for (int64_t word : words)
        all.push_back(word + i * loop.stride);
    words = std::move(all);
  }
  return words;
}

Case test::randomCase(const Core &core, const Mix &mix, uint64_t seed) {
  Case made = Maker(core, mix, seed).make();
  for (int tries = 1;
       tries < 20 && !verify(made.program, core, made.around).empty(); ++tries)
    made = Maker(core, mix, seed + (uint64_t(tries) << 32)).make();
  return made;
}

Core test::coreOf(int64_t in, int64_t out, int64_t portBits, int64_t ports,
                  uint64_t seed) {
  std::mt19937_64 random(seed);
  auto one = [&](std::initializer_list<int64_t> of) {
    return of.begin()[random() % of.size()];
  };
  Core core;
  core.name = "core" + std::to_string(in) + "x" + std::to_string(out);
  core.in = in;
  core.out = out;
  core.words = one({256, 512, 1024});
  core.banks = one({1, 2, 4, 8});
  core.entries = one({16, 32, 64, 128});
  core.sum_bits = one({20, 24, 27});
  core.queue = one({1, 2, 4, 8});
  core.depth = one({2, 4, 16});
  core.tokens = one({1, 2, 4});
  core.ports = ports;
  core.port_bits = portBits;
  return core;
}
