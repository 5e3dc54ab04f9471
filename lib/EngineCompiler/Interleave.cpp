// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// List scheduling with a clock for each unit.
#include "Interleave.h"
#include "Hoist.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <tuple>

using namespace llvm;
using namespace rhizome;
using namespace rhizome::engine;

namespace {
/// From the end of an instruction to the first word of one that waits for it,
/// in cycles, besides the memory's own: about what the cycle model says. Only
/// the order depends on it.
constexpr int64_t kAfter = 40;

/// A piece, what it uses, and the cycles that its units take for it.
struct Known {
  std::vector<Access> accesses;
  int64_t load = 0, weights = 0, array = 0, sums = 0, lanes = 0, store = 0;
  bool hasArray = false;
  /// Of each earlier layer, the pieces that have to come before, and whether
  /// what they leave is in a memory.
  std::vector<size_t> needs;
  std::vector<bool> byMemory;
};

class Scheduler {
public:
  Scheduler(std::vector<Pieces> layers, const Core &core,
            const MemoryTiming &memory)
      : layers(std::move(layers)), core(core), memory(memory),
        beats(8 * core.in / core.port_bits) {
    for (const Pieces &pieces : this->layers) {
      known.emplace_back();
      for (const Piece &piece : pieces)
        known.back().push_back(knownOf(piece));
    }
    for (size_t layer = 1; layer < known.size(); ++layer)
      findNeeds(layer);
    next.assign(known.size(), 0);
    loaded.assign(known.size(), 0);
    for (const auto &pieces : known)
      ends.emplace_back(pieces.size(), 0);
  }

  Pieces run() {
    Pieces made;
    while (true) {
      std::optional<Slot> best;
      for (size_t layer = 0; layer < layers.size(); ++layer)
        if (auto slot = slotOf(layer); slot && (!best || *slot < *best))
          best = slot;
      if (!best)
        return made;
      take(*best);
      made.push_back(std::move(layers[best->layer][next[best->layer] - 1]));
    }
  }

private:
  /// When the next piece of a layer could run.
  struct Slot {
    size_t layer;
    int64_t stands; ///< cycles in which array and lanes stand still
    int64_t helps;  ///< how much it brings the clocks together
    int64_t load, weights, array, sums, lanes, store; ///< when each is done

    bool operator<(const Slot &other) const {
      return std::tuple(stands, -helps, layer) <
             std::tuple(other.stands, -other.helps, other.layer);
    }
  };

  Known knownOf(const Piece &piece) const {
    Known made;
    for (const Instruction &instruction : piece.instructions) {
      const InstructionInfo &info = infoOf(instruction.opcode);
      info.accesses(core, instruction.values.data(), made.accesses);
      if (instruction.opcode == Opcode::Matrix) {
        const auto f = instruction.as<isa::Matrix>();
        made.hasArray = true;
        made.array += f.taps2 * f.taps1 * f.taps0 *
                      std::max(f.rows * f.columns, core.out + 2);
      } else if (instruction.opcode == Opcode::Vector) {
        const auto f = instruction.as<isa::Vector>();
        const int64_t cycles = vectorCycles(f);
        made.lanes += cycles;
        if (f.operation == isa::Vector::Requantize)
          made.sums = made.lanes;
      } else if (instruction.opcode == Opcode::Weights) {
        made.weights +=
            info.pushes(core, instruction.values.data()) * core.out * beats;
      } else if (info.unit == Unit::Load) {
        for (const Access &access : made.accesses)
          if (access.space == Space::Memory && !access.writes)
            made.load += access.words() * beats;
      } else if (info.unit == Unit::Store) {
        made.store += made.accesses.back().words() * beats;
      }
    }
    // Order alone keeps accumulators and blocks of weights apart.
    erase_if(made.accesses, [](const Access &access) {
      return access.space != Space::Scratch && access.space != Space::Memory;
    });
    return made;
  }

  void findNeeds(size_t layer) {
    std::vector<size_t> before(layer, 0);
    std::vector<bool> byMemory(layer, false);
    for (Known &piece : known[layer]) {
      for (size_t earlier = 0; earlier < layer; ++earlier) {
        const std::vector<Known> &others = known[earlier];
        for (size_t k = others.size(); k > before[earlier]; --k)
          if (auto space = meet(piece.accesses, others[k - 1].accesses)) {
            before[earlier] = k;
            byMemory[earlier] = *space == Space::Memory;
            break;
          }
      }
      piece.needs = before;
      piece.byMemory = byMemory;
    }
  }

  /// The cycle from which on a piece may use what others leave, none if one of
  /// these is still to come.
  std::optional<int64_t> readyAt(const Known &piece) const {
    int64_t ready = 0;
    for (auto [earlier, count] : enumerate(piece.needs)) {
      if (next[earlier] < count)
        return std::nullopt;
      if (count > 0)
        ready = std::max(
            ready,
            ends[earlier][count - 1] + kAfter +
                (piece.byMemory[earlier] ? memory.latency + memory.answer : 0));
    }
    return ready;
  }

  std::optional<Slot> slotOf(size_t layer) const {
    if (next[layer] == layers[layer].size())
      return std::nullopt;
    const Known &piece = known[layer][next[layer]];
    const auto ready = readyAt(piece);
    if (!ready)
      return std::nullopt;
    Slot slot{layer,      0,       0,          loadClock, weightsClock,
              arrayClock, sumsEnd, lanesClock, storeClock};
    int64_t from = std::max(*ready, loaded[layer]);
    if (piece.load > 0) {
      slot.load = std::max(loadClock, *ready) + piece.load;
      // Other loads would wait behind it.
      slot.stands += std::max<int64_t>(
          0, *ready - std::max(loadClock, std::min(arrayClock, lanesClock)));
      from = slot.load + memory.latency + kAfter;
    }
    if (piece.hasArray) {
      slot.weights = weightsClock + piece.weights;
      const int64_t begins = std::max({arrayClock, from, bankFree});
      slot.array = std::max(begins + piece.array, slot.weights);
      slot.stands += slot.array - arrayClock - piece.array;
      from = slot.array;
    }
    if (piece.lanes > 0) {
      const int64_t begins = std::max(lanesClock, from);
      slot.stands += begins - lanesClock;
      slot.sums = begins + piece.sums;
      slot.lanes = begins + piece.lanes;
    }
    if (piece.store > 0)
      slot.store =
          std::max(storeClock, std::max(from, slot.lanes)) + piece.store;
    slot.helps = lanesClock > arrayClock ? piece.array - piece.lanes
                                         : piece.lanes - piece.array;
    return slot;
  }

  void take(const Slot &slot) {
    const Known &piece = known[slot.layer][next[slot.layer]];
    if (piece.load > 0)
      loaded[slot.layer] = slot.load + memory.latency + kAfter;
    if (piece.hasArray)
      bankFree = std::exchange(sumsEnd, slot.sums);
    loadClock = slot.load;
    weightsClock = slot.weights;
    arrayClock = slot.array;
    lanesClock = slot.lanes;
    storeClock = slot.store;
    ends[slot.layer][next[slot.layer]] = piece.store > 0   ? slot.store
                                         : piece.lanes > 0 ? slot.lanes
                                         : piece.hasArray  ? slot.array
                                                           : loaded[slot.layer];
    ++next[slot.layer];
  }

  std::vector<Pieces> layers;
  const Core &core;
  const MemoryTiming &memory;
  const int64_t beats;
  std::vector<std::vector<Known>> known;
  std::vector<size_t> next;    ///< piece of each layer
  std::vector<int64_t> loaded; ///< when a layer's last load is there
  std::vector<std::vector<int64_t>> ends;
  int64_t loadClock = 0, weightsClock = 0, arrayClock = 0, lanesClock = 0;
  int64_t storeClock = 0;
  /// When the lanes are done with the sums of the array's last piece, and with
  /// those of the one before, which are in the bank that it needs next.
  int64_t sumsEnd = 0, bankFree = 0;
};
} // namespace

Pieces engine::interleaved(std::vector<Pieces> layers, const Core &core,
                           const MemoryTiming &memory) {
  return Scheduler(std::move(layers), core, memory).run();
}

/// Its accumulators are those of the other bank.
template <typename T> static void swapBank(Instruction &instruction) {
  auto fields = instruction.as<T>();
  fields.bank ^= 1;
  instruction.values = fields.values();
}

static void swapBanks(Piece &piece) {
  for (Instruction &instruction : piece.instructions)
    if (instruction.opcode == Opcode::Matrix)
      swapBank<isa::Matrix>(instruction);
    else if (instruction.opcode == Opcode::Vector)
      swapBank<isa::Vector>(instruction);
}

void engine::alternateBanks(Pieces &pieces, int64_t &bank) {
  for (Piece &piece : pieces) {
    const bool hasArray =
        any_of(piece.instructions, [](const Instruction &instruction) {
          return instruction.opcode == Opcode::Matrix;
        });
    const bool isSwapped = piece.bank != (hasArray ? bank : bank ^ 1);
    if (isSwapped)
      swapBanks(piece);
    if (hasArray)
      bank = piece.nextBank ^ int64_t(isSwapped);
  }
}
