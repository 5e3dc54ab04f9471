// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A kernel's loop nests in hardware: one pipeline per nest, scheduled, on
// memories of true depth between streams. In a serial unit reading, nests and
// writing take turns; in a dataflow unit stages work on elements that follow
// each other.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "rhizome/Cost/CostModel.h"
#include "rhizome/Cost/Words.h"
#include "rhizome/Dialect/Rtl/Rtl.h"
#include "rhizome/Solvers/Problem.h"
#include "rhizome/Solvers/Sharing.h"
#include <functional>
#include <optional>
#include <string>

namespace rhizome::numeric {
struct Format;
}

namespace rhizome::gen::loops {
/// Counters that run a nest's loops, outermost first. A loop's index is the sum
/// of stride * count over its counters, plus the number of the copy.
struct Loops {
  std::vector<unsigned> loop; ///< by counter; those of a loop are neighbours
  std::vector<int64_t> trips, strides;
  /// Trips while the loop's counters before are at their ends.
  std::vector<int64_t> lasts;
  std::vector<int64_t> copies; ///< by loop: of the body, side by side

  void add(unsigned number, int64_t count, int64_t stride, int64_t last) {
    loop.push_back(number);
    trips.push_back(count);
    strides.push_back(stride);
    lasts.push_back(last);
  }
  /// Adds the counters that visit `size` in steps: multiples of each other, the
  /// smallest first.
  void addSplit(unsigned number, int64_t size, llvm::ArrayRef<int64_t> steps);
  /// Iterations of a loop, or of all.
  int64_t iterationsOf(unsigned number) const;
  int64_t iterations() const;
};

/// What can be chosen for a nest. Neither changes a result: the terms of a sum
/// keep their order.
struct NestChoice {
  /// The loops, outermost first, with reductions in their own order; empty:
  /// reductions are the innermost loops.
  std::vector<unsigned> order;
  /// By loop: copies of the body. Reductions have 1; empty: 1 everywhere.
  std::vector<int64_t> copies;
  /// Only nests with the same number may share a datapath.
  unsigned datapath = 0;
  bool operator==(const NestChoice &) const = default;
};

/// Cyclic banks of a tensor, by dimension: an element is in the bank of its
/// indices' remainders.
struct BankFactors {
  std::vector<int64_t> factors;
  /// Sizes of the dimensions with room for copies beyond the last element.
  std::vector<int64_t> sizes;
  /// A power of two: within a bank, neighbors are in as many banks in turn.
  int64_t spread = 1;
  static BankFactors one(mlir::Value tensor);
};

/// A nest as a pipelined loop.
struct Nest {
  mlir::linalg::GenericOp op;
  Loops loops;
  unsigned datapath = 0; ///< as in its choice
  /// The loops that have copies, in the order of the result's indices.
  std::vector<unsigned> copied;
  /// Sums wait in the result's memory, since others are added to before one is
  /// complete; otherwise in a register.
  bool isStored = false;
  int64_t distance = 1; ///< iterations between two terms of a sum, at least
  /// An operation for every operand that is read, one for the sum's value
  /// before, every operation of the body, and, last, the sum.
  schedule::LoopProblem problem;
  schedule::Schedule schedule;

  bool isReduction(unsigned loop) const;
  int64_t iterations() const { return loops.iterations(); }
  /// Copies of the body.
  int64_t lanes() const;
  /// The cycle of an iteration in which its result is written, from 0.
  int64_t depth() const { return schedule.start.back(); }
  /// From its first iteration's start to its last result.
  int64_t cycles() const {
    return schedule.interval * (iterations() - 1) + depth() + 1;
  }
};

/// What a unit of a nest's datapath does in an iteration: an operation, or a
/// tensor's read or write.
struct NestStep {
  std::string name;              ///< "add", "read"
  std::string unit;              ///< its kind: "adder", "memory port"
  mlir::Value tensor;            ///< that is read or written
  int64_t cycle = 0, cycles = 1; ///< 0 cycles: within one, with others
  int64_t copies = 1;            ///< side by side
};
/// In order; without wires.
std::vector<NestStep> stepsOf(const Nest &nest);

/// Something for which no hardware is built, at its place in the user's file.
struct Obstacle {
  mlir::Operation *op; ///< of the kernel's body, or the kernel
  mlir::Location where;
  std::string reason, remedy;
};

/// A kernel after `convert-num-to-arith`, as far as a unit computes it: all
/// that is between the conversions from and to floats.
struct KernelParts {
  std::vector<mlir::linalg::GenericOp> nests;
  std::vector<mlir::Value> inputs, outputs; ///< as in a KernelUnit
  std::vector<Obstacle> obstacles;          ///< all; without any it is built
};
/// Simplifies the nests in place.
KernelParts partsOf(mlir::func::FuncOp kernel);
/// The numbers of the inputs that one of its outputs is computed from.
std::vector<size_t> sourcesOf(const KernelParts &parts, mlir::Value output);
/// True if an operation of a kernel is a conversion at the unit's border, or
/// has no logic of its own: constants and the initial values of sums.
bool isOutside(mlir::Operation &op);

/// How a unit is put together.
struct UnitOptions {
  /// Stages into which the nests are divided; 0: a serial unit.
  size_t stages = 0;
  bool isShared = true;            ///< tensors of a stage share memories
  std::vector<NestChoice> choices; ///< one for each nest, or none at all
  /// Numbers of inputs that are read once, after reset, and then stay.
  std::vector<size_t> residents;
  /// For each output whether its numbers have no sign: in wider words, zeros
  /// stand before them. Empty: all have one.
  std::vector<bool> areUnsigned;
  /// Words of a tensor in a beat of a stream; 0: as many as make reading and
  /// writing short, in at most so many bits.
  int64_t words = 1, beatBits = 1024;
  /// By input and then output: its words that pass the border in a cycle;
  /// empty: as many as banks allow.
  std::vector<int64_t> borders;
  /// What more banks for the border may take; nothing: as they like.
  std::optional<Resources> spare;
  /// What there is of each resource, which decides where memories are; empty:
  /// by shape alone.
  Budget budget;
  /// Asked when words and cycles are known; if not, nothing is built.
  std::function<bool(const struct KernelUnit &)> isWanted;
  /// May change lifetimes before memories are shared: for tests.
  std::function<void(std::vector<schedule::Lifetime> &)> lifetimes;
};

/// Phases that take turns, in this order: tensors are read from the stage's
/// stream, nests compute, tensors are written to its stream. A serial unit has
/// one stage, apart from those that read what stays.
struct UnitStage {
  std::vector<mlir::Value> reads, writes;
  std::vector<size_t> nests;
  std::vector<std::vector<size_t>> steps; ///< of nests at the same time
  bool isOnce = false;                    ///< it runs once, after reset
  int64_t cycles = 0;
  int64_t level = 0;          ///< as many stages are before it
  std::vector<size_t> before; ///< whose results it waits for

  size_t phases() const { return reads.size() + steps.size() + writes.size(); }
};

/// Shallower memories would leave most of an UltraRAM empty.
inline constexpr int64_t kDeepWords = 1024;
/// Where a memory is.
enum class MemoryKind { Registers, Lut, Block, Ultra };
llvm::StringRef nameOf(MemoryKind kind);

/// A memory: of the tensors of one stage that have it one after the other, or
/// of one tensor between stages, whose elements go around its slots.
struct UnitMemory {
  std::string name;
  int64_t banks = 1;
  int64_t words = 0, width = 0; ///< of a slot of a bank
  int64_t slots = 1;
  int64_t copies = 1; ///< reads at the same time
  MemoryKind kind = MemoryKind::Block;
  size_t stage = 0; ///< that writes it
  std::vector<mlir::Value> tensors;
  std::vector<schedule::Lifetime> lifetimes; ///< in the stage's phases
};

/// A stream at the border: tensors one after the other, each in row-major order
/// and from a beat of its own on. The first word of a beat is in its low bits;
/// a tensor's last beat is filled up with zeros.
struct UnitStream {
  std::string name; ///< "s_axis_0"
  std::vector<mlir::Value> tensors;
  bool isOnce = false; ///< of what stays: words are taken once, after reset
};

/// What is built of a kernel, and its cycles if the sources always offer and
/// the sinks always accept.
struct KernelUnit {
  /// Tensors of integers: those that the unit does not compute, and those that
  /// something else reads.
  std::vector<mlir::Value> inputs, outputs;
  llvm::DenseSet<mlir::Value> unsignedOutputs;
  std::vector<Nest> nests;
  /// Nests with one datapath, which they use in turns, by the first of them.
  std::vector<std::vector<size_t>> groups;
  llvm::DenseMap<mlir::Value, BankFactors> banks;
  std::vector<UnitStage> stages;
  std::vector<UnitMemory> memories;
  std::vector<UnitStream> inStreams, outStreams;
  int64_t words = 1; ///< of a tensor in a beat of a stream
  /// Words of a beat that go to the banks of a tensor, or come from them, in
  /// one cycle; a divisor of those of a beat.
  llvm::DenseMap<mlir::Value, int64_t> widths;
  bool isDataflow = false;
  /// Of a serial unit the sums, of a dataflow unit those of the slowest stage
  /// of each kind. What is read once does not count.
  int64_t readCycles = 0, computeCycles = 0, writeCycles = 0;
  rtl::ModuleOp module;
  /// What operations of the module belong to, by number: datapaths, memories,
  /// the border. The others tie these together.
  std::vector<std::string> parts;
  llvm::DenseMap<mlir::Operation *, size_t> partOf;

  int64_t widthOf(mlir::Value tensor) const {
    auto it = widths.find(tensor);
    return it == widths.end() ? 1 : it->second;
  }
  /// Cycles in which a tensor passes the border.
  int64_t stepsOf(mlir::Value tensor) const;
  /// From an element to the next.
  int64_t cycles() const {
    return isDataflow ? std::max({readCycles, computeCycles, writeCycles})
                      : readCycles + computeCycles + writeCycles;
  }
  /// Of one element alone, after what stays is there: from its first beat to
  /// its last result, both included.
  int64_t latency() const;
};

/// A stage begins an element when another one has finished it, and that one
/// when a slot is free, of as many; what is read once stays.
struct UnitWait {
  size_t from = 0, to = 0; ///< stages
  int64_t slots = 1;
};
std::vector<UnitWait> waitsOf(const KernelUnit &unit);

/// Builds all nests of a kernel. Nests of a stage whose bodies and copies are
/// alike share a datapath. `pace` is the logic allowed between registers;
/// products are cut to the device's DSP blocks. The module, at the builder's
/// insertion point, has clk_i, rst_ni and the AXI4-Streams of the unit, whose
/// TLAST ends an element; that of inputs is not read. Fails with a diagnostic
/// for every obstacle.
mlir::FailureOr<KernelUnit>
buildKernelUnit(mlir::func::FuncOp kernel, llvm::StringRef name,
                const cost::LogicPace &pace, const CostContext &context,
                const UnitOptions &options, mlir::OpBuilder &b);

/// How large modules are that are written, in operations: those that stay
/// whole, and the parts of others.
struct ModuleSizes {
  size_t whole = 8000, part = 4000;
};
/// Makes a large unit's module several ones, next to it. It must be priced
/// before.
void splitModule(KernelUnit &unit, mlir::OpBuilder &b,
                 const ModuleSizes &sizes = {});

/// A module of `lanes` units that work on as many elements in step: a beat of
/// each stream has a word of each, the first lane's in its low bits, but for
/// streams of what stays, which all lanes read alike.
rtl::ModuleOp addLanes(KernelUnit &unit, int64_t lanes, llvm::StringRef name,
                       mlir::OpBuilder &b);

/// The resources of a floating-point operator's module on a device.
Structure structureOfOperator(rtl::ModuleOp module, const CostContext &context);
/// The resources of a unit's module, with its operators', on a device.
Structure structureOf(rtl::ModuleOp module, const CostContext &context);
/// How far the LUTs and registers of structureOf() may be from what Yosys
/// makes, as a share of them: the worst case of bench/kernel_resources.txt
/// with 200 and more, rounded up.
double errorShareOf(const CostContext &context);
/// DSP blocks of a product of two numbers of a format, as units have it; of a
/// fixed-point one that wraps, bits above the result's are not computed.
int64_t blocksOfProduct(const numeric::Format &format, bool isWhole,
                        const CostContext &context);
} // namespace rhizome::gen::loops
