// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The module of a kernel while it is built: its registers, memories and ports.
// Stages.cpp, Memories.cpp and Widen.cpp plan, KernelUnit.cpp decides which
// phase runs when, Border.cpp takes and puts tensors, Ports.cpp reads and
// writes memories, Walk.cpp counts and addresses, Pipeline.cpp builds the
// datapath of a nest.
#pragma once

#include "Banks.h"
#include "Nest.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/MathExtras.h"
#include <array>
#include <map>

namespace rhizome::gen::loops {
/// A bank of a memory in the module. Ports belong to a stage, whose phases use
/// them in turn; writes, of which there is one in a cycle at most, share one.
struct Bank {
  rtl::MemoryOp op;
  struct Port {
    size_t stage = 0;
    std::vector<std::pair<mlir::Value, mlir::Value>>
        addresses; ///< phase's turn, address
    rtl::ReadOp read;
  };
  std::vector<Port> ports;
  struct Write {
    mlir::Value enable, address, data;
  };
  std::vector<Write> writes;
};

/// The loops of a phase as counters, and addresses that follow them.
struct Walk {
  Loops loops;
  mlir::Value issue;
  std::vector<mlir::Value> counts, ends; ///< by counter
  mlir::Value isLast;                    ///< the last iteration of all loops
  mlir::Value isFirst; ///< the first one of those that are marked
  mlir::Value isFinal; ///< their last one
  /// By what they reach, in memories of some bits of addresses, some slots of
  /// some words, and a spread.
  std::vector<std::pair<std::pair<Reach, std::array<int64_t, 4>>, mlir::Value>>
      addresses;
};

/// When a phase starts its last element, and when it has finished it.
struct Turn {
  mlir::Value lastIssue, done;
};

/// When a nest computes, and whether its last iteration has begun.
struct Phase {
  mlir::Value turn, isIssued;
};

/// A stream of operands.
struct InStream {
  mlir::Value valid, data;
  mlir::Value ready; ///< so far, phase by phase
};

/// A stream of results: its register takes a word if it is empty or read.
struct OutRegister {
  mlir::Value valid, ready, isAdvancing;
  mlir::Value isTaking, data, isLast; ///< so far, phase by phase
};

/// Notes what operations belong to while they are made.
class PartRecorder : public mlir::OpBuilder::Listener {
public:
  explicit PartRecorder(KernelUnit &unit) : unit(unit) {}
  /// From now on; "": nothing in particular. Returns what was before.
  std::string enter(std::string name) {
    std::swap(name, current);
    return name;
  }
  void notifyOperationInserted(mlir::Operation *op,
                               mlir::OpBuilder::InsertPoint) override;

private:
  KernelUnit &unit;
  std::string current;
  std::map<std::string, size_t> numbers;
};

class Unit {
public:
  Unit(KernelUnit &unit, floats::Operators &operators, mlir::OpBuilder &b,
       mlir::Location loc)
      : unit(unit), operators(operators), b(b), loc(loc), recorder(unit) {}
  void build(mlir::StringRef name);

private:
  KernelUnit &unit;
  floats::Operators &operators;
  mlir::OpBuilder &b;
  mlir::Location loc;
  PartRecorder recorder;
  /// Operations that are made belong to a part while it lives.
  class InPart {
  public:
    InPart(Unit &unit, std::string name)
        : unit(unit), before(unit.recorder.enter(std::move(name))) {}
    ~InPart() { unit.recorder.enter(before); }

  private:
    Unit &unit;
    std::string before;
  };
  mlir::Value clock, reset;
  /// Of the stage that is built: its number, its phase, and whether the phase's
  /// last iteration has begun.
  size_t stage = 0;
  mlir::Value phase, isIssued;
  mlir::DenseMap<mlir::Value, size_t> memories; ///< by tensor
  std::vector<std::vector<Bank>> banks;         ///< by memory
  /// 1 while a stage is at the last slot, by stage and number of slots.
  std::map<std::pair<size_t, int64_t>, mlir::Value> lastSlots;
  /// Elements that a stage has written and another has not read yet.
  struct Tokens {
    size_t from, to;
    int64_t slots;
    mlir::Value count;
  };
  std::vector<Tokens> tokens;
  mlir::DenseMap<std::pair<mlir::Value, int64_t>, mlir::Value> kept;
  mlir::DenseMap<mlir::Value, mlir::Value> factors; ///< in their registers
  mlir::DenseMap<mlir::Value, std::pair<mlir::Value, mlir::Value>> divided;
  /// An operator and the operands that it gets in the turns of nests.
  struct Shared {
    rtl::InstanceOp instance;
    std::vector<std::pair<mlir::Value, mlir::SmallVector<mlir::Value, 3>>> uses;
  };
  /// By name, and how many of each the current nest has taken.
  llvm::StringMap<std::vector<Shared>> shared;
  llvm::StringMap<size_t> taken;

  mlir::Type bits(int64_t n) { return b.getIntegerType(unsigned(n)); }
  mlir::Value constant(int64_t n, int64_t value) {
    return rtl::ConstantOp::create(b, loc, bits(n), value);
  }
  mlir::Value both(mlir::Value x, mlir::Value y) {
    return rtl::AndOp::create(b, loc, x, y);
  }
  mlir::Value either(mlir::Value x, mlir::Value y) {
    return rtl::OrOp::create(b, loc, x, y);
  }
  mlir::Value inverse(mlir::Value x) { return rtl::NotOp::create(b, loc, x); }
  mlir::Value choose(mlir::Value condition, mlir::Value x, mlir::Value y) {
    if (x == y)
      return x;
    return rtl::MuxOp::create(b, loc, condition, x, y);
  }
  mlir::Value isEqual(mlir::Value x, int64_t value) {
    return rtl::CompareOp::create(
        b, loc, rtl::Predicate::Equal, x,
        constant(x.getType().getIntOrFloatBitWidth(), value));
  }
  /// A register with an initial value, whose input is given later.
  mlir::Value state(int64_t n, mlir::Value enable, int64_t initial = 0) {
    return rtl::RegisterOp::create(b, loc, bits(n), clock, constant(n, 0),
                                   enable, reset,
                                   b.getIntegerAttr(bits(n), initial));
  }
  static void setNext(mlir::Value state, mlir::Value next) {
    state.getDefiningOp<rtl::RegisterOp>().getInputMutable().assign(next);
  }
  /// A control signal some cycles later; 0 after reset.
  mlir::Value later(mlir::Value v, int64_t cycles) {
    for (; cycles > 0; --cycles) {
      mlir::Value q = state(1, mlir::Value());
      setNext(q, v);
      v = q;
    }
    return v;
  }
  /// Data some cycles later.
  mlir::Value delayed(mlir::Value v, int64_t cycles) {
    for (; cycles > 0; --cycles)
      v = rtl::RegisterOp::create(b, loc, clock, v);
    return v;
  }
  /// The same; its readers share the registers.
  mlir::Value after(mlir::Value v, int64_t cycles) {
    for (int64_t c = 1; c <= cycles; ++c) {
      mlir::Value &next = kept[{v, 1}];
      if (!next)
        next = delayed(v, 1);
      v = next;
    }
    return v;
  }
  /// A factor in its register, before its sign is extended. Products share it.
  mlir::Value factor(mlir::Value v) {
    if (auto wide = v.getDefiningOp<rtl::SignExtendOp>())
      return rtl::SignExtendOp::create(b, loc, v.getType(),
                                       factor(wide.getInput()));
    if (v.getDefiningOp<rtl::ConstantOp>())
      return v;
    mlir::Value &registered = factors[v];
    if (!registered)
      registered = delayed(v, 1);
    return registered;
  }
  static int64_t widthOf(mlir::Value tensor) {
    return cast<mlir::RankedTensorType>(tensor.getType())
        .getElementTypeBitWidth();
  }
  static int64_t wordsOf(mlir::Value tensor) {
    return cast<mlir::RankedTensorType>(tensor.getType()).getNumElements();
  }
  static int64_t addressBits(int64_t words) {
    return std::max<int64_t>(1, llvm::Log2_64_Ceil(uint64_t(words)));
  }

  const BankFactors &banksOf(mlir::Value base);
  /// Counters for these loops, of which some are marked.
  Walk walk(const Loops &loops, const llvm::BitVector &isMarked,
            mlir::Value issue);
  /// All elements of a tensor in order.
  Walk walkOver(mlir::Value tensor, mlir::Value issue) {
    Loops loops =
        loopsOver(tensor, banksOf(baseOf(tensor)), unit.widthOf(tensor));
    return walk(loops, llvm::BitVector(loops.trips.size()), issue);
  }
  mlir::Value addressOf(Walk &w, const Reach &reach, mlir::Value tensor,
                        int64_t spread);
  /// An address in a bank of a spread one, and the low bits that choose it.
  std::pair<mlir::Value, mlir::Value>
  divide(mlir::Value address, mlir::Value tensor, int64_t spread);
  /// The value of a number in binary.
  mlir::Value pick(mlir::Value number, std::vector<mlir::Value> values);
  /// The value whose number the selectors of an access had some cycles before.
  mlir::Value select(const Walk &w, const Access &access,
                     mlir::ArrayRef<mlir::Value> values, int64_t cycles);

  // Memories: Ports.cpp.
  void makeMemories();
  /// The words of all slots of a bank of the memory that holds a tensor.
  int64_t depthOf(mlir::Value tensor);
  /// The slots of a tensor's memory: the words of one, their number, and
  /// whether the stage is at the last one. Without any, one.
  struct Slots {
    int64_t words = 0, count = 1;
    mlir::Value isLast;
  };
  Slots slotsOf(mlir::Value tensor);
  /// The element of a lane, a cycle after the counters and `cycles` more, in a
  /// phase's turn. With an enable, its ports keep their words while it is 0.
  mlir::Value read(mlir::Value tensor, const Access &access, size_t lane,
                   Walk &w, mlir::Value turn, int64_t cycles = 0,
                   mlir::Value enable = {});
  /// Writes words, by lane, `cycles` after the counters.
  void fill(mlir::Value tensor, const Access &access, Walk &w,
            mlir::ArrayRef<mlir::Value> words, int64_t cycles,
            mlir::Value enable);
  void finishWrites();

  // Stages: KernelUnit.cpp.
  /// Returns when an element's last phase ends.
  mlir::Value buildStage(const UnitStage &plan, InStream *in, OutRegister *out);
  void makeTokens();
  /// What lets a stage begin an element.
  mlir::Value mayRun(size_t stage);
  /// Counts elements, once all stages have an end.
  void finishTokens(mlir::ArrayRef<mlir::Value> ends);

  /// An operator on patterns in wider words, and its result in a word of `size`
  /// bits. In a phase's turn nests share it; without one it is theirs alone.
  mlir::Value operate(const floats::Operator &op, mlir::ValueRange operands,
                      int64_t size, mlir::Value turn);
  /// Gives shared operators their operands, when all nests are built.
  void connectShared();
  /// The datapath of nests and their loops.
  std::vector<Turn> compute(mlir::ArrayRef<const Nest *> nests,
                            mlir::ArrayRef<Phase> phases);

  // The border: Border.cpp.
  Turn take(mlir::Value tensor, mlir::Value turn, InStream &in);
  Turn put(mlir::Value tensor, mlir::Value turn, OutRegister &out);
  /// The part of a beat that passes, which `step` makes the next one, and
  /// whether it is the beat's last one. Null if there is one only.
  struct Part {
    mlir::Value number, isEnd;
  };
  Part partOf(mlir::Value tensor, mlir::Value step, mlir::Value isLast);
};

/// Replaces operations by others with the same results.
void mergeAlike(mlir::Block &body);
/// True if a stage that does not write the memory reads it.
bool isReadBy(const UnitMemory &memory, const KernelUnit &unit, size_t stage);
/// What synthesis is told of a memory's place; nothing for registers.
std::optional<rtl::Style> styleOf(MemoryKind kind);
/// Divides a unit into stages and streams.
void planStages(KernelUnit &unit, const UnitOptions &options);
/// The cycles of stages and of the unit.
void countCycles(KernelUnit &unit);
/// Places all tensors in memories.
void planMemories(KernelUnit &unit, const UnitOptions &options,
                  const CostContext &context);
} // namespace rhizome::gen::loops
