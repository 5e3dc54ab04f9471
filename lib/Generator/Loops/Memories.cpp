// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where tensors are. Those that leave their stage have slots for the elements
// that are on their way at a time; the others share memories with tensors of
// the same stage that live before or after them. Each memory is where it takes
// least of what the device has.
#include "Unit.h"
#include "rhizome/Cost/Structure.h"

using namespace mlir;

namespace rhizome::gen::loops {
StringRef nameOf(MemoryKind kind) {
  constexpr const char *kNames[] = {"registers", "LUT", "block", "ultra"};
  return kNames[size_t(kind)];
}

std::optional<rtl::Style> styleOf(MemoryKind kind) {
  if (kind == MemoryKind::Registers)
    return std::nullopt;
  return kind == MemoryKind::Lut     ? rtl::Style::Distributed
         : kind == MemoryKind::Block ? rtl::Style::Block
                                     : rtl::Style::Ultra;
}

bool isReadBy(const UnitMemory &memory, const KernelUnit &unit, size_t s) {
  const UnitStage &stage = unit.stages[s];
  auto isHere = [&](Value v) {
    return llvm::is_contained(memory.tensors, baseOf(v));
  };
  return llvm::any_of(stage.writes, isHere) ||
         llvm::any_of(stage.nests, [&](size_t nest) {
           linalg::GenericOp op = unit.nests[nest].op;
           return llvm::any_of(op.getDpsInputOperands(), [&](OpOperand *o) {
             return isRead(op, *o) && isHere(o->get());
           });
         });
}

namespace {
/// Who uses a tensor.
struct Use {
  size_t stage = 0;           ///< that writes it
  int64_t phase = 0;          ///< of this stage
  std::vector<size_t> others; ///< stages that read it
  int64_t lastRead = 0;       ///< the stage's own last phase that reads it
  int64_t copies = 0;         ///< of own reads in one phase
  int64_t otherCopies = 0;    ///< of those of other stages
};

class Planner {
public:
  Planner(KernelUnit &unit, const UnitOptions &options,
          const CostContext &context)
      : unit(unit), options(options), context(context) {}
  void run();

private:
  KernelUnit &unit;
  const UnitOptions &options;
  const CostContext &context;
  std::vector<Value> tensors; ///< bases, in program order
  DenseMap<Value, Use> uses;

  void findUses();
  void addBetweenStages();
  void share(size_t stage);
  void place();
  schedule::Lifetime lifetimeOf(Value tensor) const;
  const BankFactors &factorsOf(Value tensor) {
    return unit.banks.try_emplace(tensor, BankFactors::one(tensor))
        .first->second;
  }
  /// The words of a bank, and the number of banks.
  int64_t wordsOf(Value tensor) { return bankWords(factorsOf(tensor)); }
  int64_t banksOf(Value tensor) { return bankCount(factorsOf(tensor)); }
};

int64_t bitsOf(Value tensor) {
  return cast<RankedTensorType>(tensor.getType()).getElementTypeBitWidth();
}
int64_t countOf(Value tensor) {
  return cast<RankedTensorType>(tensor.getType()).getNumElements();
}

void Planner::findUses() {
  auto define = [&](Value v, size_t stage, int64_t phase) {
    auto [use, isNew] = uses.try_emplace(v, Use{stage, phase, {}, phase});
    if (isNew)
      tensors.push_back(v);
    use->second.lastRead = phase; // at least: a part of it is written
  };
  for (auto [s, stage] : llvm::enumerate(unit.stages)) {
    int64_t phase = 0;
    for (Value v : stage.reads)
      define(v, s, phase++);
    for (const std::vector<size_t> &step : stage.steps) {
      for (size_t n : step)
        define(baseOf(unit.nests[n].op->getResult(0)), s, phase);
      ++phase;
    }
  }
  auto use = [&](Value v, size_t stage, int64_t phase, int64_t copies) {
    auto it = uses.find(v);
    if (it == uses.end()) // a constant
      return;
    Use &u = it->second;
    if (u.stage != stage) {
      if (!llvm::is_contained(u.others, stage)) {
        u.others.push_back(stage);
        u.otherCopies += copies;
      }
      return;
    }
    u.lastRead = std::max(u.lastRead, phase);
    u.copies = std::max(u.copies, copies);
  };
  for (auto [s, stage] : llvm::enumerate(unit.stages)) {
    auto phase = int64_t(stage.reads.size());
    for (const std::vector<size_t> &step : stage.steps) {
      DenseMap<Value, int64_t> ports;
      for (size_t n : step) {
        linalg::GenericOp op = unit.nests[n].op;
        if (unit.nests[n].isStored) // Sums wait there.
          ++ports[baseOf(op->getResult(0))];
        for (OpOperand *operand : op.getDpsInputOperands())
          if (isRead(op, *operand))
            ++ports[baseOf(operand->get())];
      }
      for (auto [v, copies] : ports)
        use(v, s, phase, copies);
      ++phase;
    }
    for (Value v : stage.writes)
      use(baseOf(v), s, phase++, 1);
  }
}

schedule::Lifetime Planner::lifetimeOf(Value tensor) const {
  const Use &use = uses.at(tensor);
  return {countOf(tensor), bitsOf(tensor), use.phase, use.lastRead};
}

void Planner::addBetweenStages() {
  for (Value tensor : tensors) {
    const Use &use = uses.at(tensor);
    if (use.others.empty())
      continue;
    UnitMemory memory;
    memory.words = wordsOf(tensor);
    memory.banks = banksOf(tensor);
    memory.width = bitsOf(tensor);
    memory.stage = use.stage;
    memory.copies = use.copies + use.otherCopies;
    memory.tensors = {tensor};
    memory.lifetimes = {lifetimeOf(tensor)};
    // An element's slot is free again when its last reader has finished, as
    // many elements later as there are stages to it.
    if (!unit.stages[use.stage].isOnce)
      for (size_t reader : use.others)
        memory.slots =
            std::max(memory.slots, unit.stages[reader].level -
                                       unit.stages[use.stage].level + 1);
    unit.memories.push_back(std::move(memory));
  }
}

/// A memory's price in LUTs.
double priceOf(const cost::Memory &memory) {
  constexpr double kBlock = 258;
  return memory.luts + memory.choiceLuts + memory.ffs / 2 +
         kBlock * memory.blocks;
}

void Planner::share(size_t stage) {
  std::vector<Value> own;
  std::vector<schedule::Lifetime> lifetimes;
  for (Value tensor : tensors)
    if (const Use &use = uses.at(tensor);
        use.stage == stage && use.others.empty()) {
      own.push_back(tensor);
      lifetimes.push_back(lifetimeOf(tensor));
    }
  // Alone, a tensor lives through all phases.
  if (!options.isShared)
    for (schedule::Lifetime &life : lifetimes) {
      life.first = 0;
      life.last = int64_t(unit.stages[stage].phases()) - 1;
    }
  if (options.lifetimes)
    options.lifetimes(lifetimes);
  for (const std::vector<int> &shared :
       schedule::shareMemories(lifetimes, [&](int64_t words, int64_t width) {
         return priceOf(cost::memoryOf(words, width, context, true));
       })) {
    UnitMemory memory;
    memory.stage = stage;
    for (int t : shared) {
      memory.words = std::max(memory.words, wordsOf(own[t]));
      memory.banks = std::max(memory.banks, banksOf(own[t]));
      memory.width = std::max(memory.width, bitsOf(own[t]));
      memory.copies = std::max(memory.copies, uses.at(own[t]).copies);
      memory.tensors.push_back(own[t]);
      memory.lifetimes.push_back(lifetimes[t]);
    }
    unit.memories.push_back(std::move(memory));
  }
}

/// The kind that shape alone decides.
MemoryKind kindOf(const cost::Memory &memory) {
  return memory.blocks > 0 ? MemoryKind::Block
         : memory.luts > 0 ? MemoryKind::Lut
                           : MemoryKind::Registers;
}

/// Large memories first, each where the resource that it takes stays furthest
/// from its end.
void Planner::place() {
  constexpr size_t kLut = 0, kBram = 3, kUram = 4;
  const double luts = available(options.budget, kLut),
               blocks = available(options.budget, kBram),
               ultras = available(options.budget, kUram);
  double lutShare = 0, blockShare = 0, ultraShare = 0;
  std::vector<UnitMemory *> order;
  for (UnitMemory &memory : unit.memories)
    order.push_back(&memory);
  llvm::sort(order, [](const UnitMemory *a, const UnitMemory *b) {
    auto size = [](const UnitMemory *m) {
      return m->words * m->slots * m->width * m->copies * m->banks;
    };
    return std::pair(-size(a), a) < std::pair(-size(b), b);
  });
  for (UnitMemory *memory : order) {
    const int64_t words = memory->words * memory->slots;
    const double copies = double(memory->copies * memory->banks);
    cost::Memory plain = cost::memoryOf(words, memory->width, context, true);
    memory->kind = kindOf(plain);
    if (memory->kind != MemoryKind::Block)
      continue;
    auto share = [](double used, double of) {
      return of > 0 ? used / of : used > 0 ? 1e9 : 0;
    };
    auto lutsOf = [&](const cost::Memory &m) {
      return lutShare + share(copies * (m.luts + m.choiceLuts), luts);
    };
    const double block = std::max(
        lutsOf(plain), blockShare + share(copies * plain.blocks, blocks));
    cost::Memory deep =
        cost::placedRam(words, memory->width, /*ultra=*/true, context);
    const double ultra = std::max(
        lutsOf(deep), ultraShare + share(copies * deep.ultras, ultras));
    if (ultras > 0 && words >= kDeepWords && ultra < block) {
      memory->kind = MemoryKind::Ultra;
      ultraShare += share(copies * deep.ultras, ultras);
      lutShare = lutsOf(deep);
    } else {
      blockShare += share(copies * plain.blocks, blocks);
      lutShare = lutsOf(plain);
    }
  }
}

void Planner::run() {
  findUses();
  for (size_t stage = 0; stage < unit.stages.size(); ++stage)
    share(stage);
  addBetweenStages();
  for (auto [i, memory] : llvm::enumerate(unit.memories))
    memory.name = "m" + std::to_string(i);
  place();
}
} // namespace

void planMemories(KernelUnit &unit, const UnitOptions &options,
                  const CostContext &context) {
  Planner(unit, options, context).run();
}
} // namespace rhizome::gen::loops
