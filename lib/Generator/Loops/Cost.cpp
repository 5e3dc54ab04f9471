// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The resources of a unit's module, operation by operation, as Yosys maps them.
// Registers, memories and DSP blocks are counted; logic is counted in bits.
#include "RegisterBits.h"
#include "rhizome/Cost/Structure.h"
#include "rhizome/Generator/Loops/KernelUnit.h"
#include "llvm/ADT/TypeSwitch.h"
#include <cmath>

using namespace mlir;

namespace rhizome::gen::loops {
namespace {
class Counter {
public:
  explicit Counter(const CostContext &context) : context(context) {}
  void countUnit(rtl::ModuleOp module);
  /// The module of an operator, whose logic Yosys packs more densely.
  void countOperator(rtl::ModuleOp module);
  Structure structure;

private:
  const CostContext &context;

  // LUTs of a bit: of sums, of which counters share some with what they choose,
  // of gates of control, and of an operand that is let through.
  static constexpr double kSum = 0.75, kGate = 0.66, kMasked = 0.4;

  void luts(double n) { structure.terms[size_t(Term::Control)] += n; }
  bool hasShiftRegisters() const { return context.shiftRegisters; }
  bool isInDsp(rtl::RegisterOp op) const;
  cost::Memory placed(rtl::MemoryOp op) const;
  void count(Operation &op);
  void countRegisters(Block &block);
  /// Registers in a row.
  void addRow(double bits, int64_t stages);
  double sumBits(rtl::AddOp a) const;
  double differenceBits(rtl::SubOp s) const;
  void countChoice(rtl::MuxOp m);
  void countProduct(rtl::MulOp op);
  void countMemory(rtl::MemoryOp op);
};

int64_t bitsOf(Value v) { return v.getType().getIntOrFloatBitWidth(); }

bool isConstant(Value v) { return v.getDefiningOp<rtl::ConstantOp>(); }

/// Bits below those that are zero.
int64_t bitsBelowZeros(Value v) {
  auto concat = v.getDefiningOp<rtl::ConcatOp>();
  return isConstant(v) ? 0
         : concat && isConstant(concat.getInputs().back())
             ? bitsOf(v) - bitsOf(concat.getInputs().back())
             : bitsOf(v);
}

/// Bits of an operand that are differences of others, which a carry chain's
/// LUTs do not hold.
int64_t invertedBits(Value v) {
  if (auto concat = v.getDefiningOp<rtl::ConcatOp>())
    v = concat.getInputs().back();
  return v.getDefiningOp<rtl::XorOp>() ? bitsOf(v) : 0;
}

void Counter::countRegisters(Block &block) {
  using Kind = RegisterBits::Kind;
  auto kindOf = [&](Operation *op) {
    if (auto read = dyn_cast<rtl::ReadOp>(op)) {
      cost::Memory m = placed(read.getMemory().getDefiningOp<rtl::MemoryOp>());
      return m.blocks == 0 && m.ultras == 0 ? Kind::Plain : Kind::None;
    }
    auto q = cast<rtl::RegisterOp>(op);
    return q.getReset() ? Kind::Reset : isInDsp(q) ? Kind::None : Kind::Plain;
  };
  RegisterBits bits(block, kindOf);
  structure.exact.ff() += double(bits.resets);
  for (auto [stages, count] : bits.rows)
    addRow(double(count), stages);
}

void Counter::addRow(double bits, int64_t stages) {
  if (hasShiftRegisters() && stages >= 3) {
    double luts = bits * double(cost::ceilDiv(stages, 16));
    structure.exact.lut() += luts;
    structure.exact.lutram() += luts;
  } else {
    structure.exact.ff() += bits * double(stages);
  }
}

/// The number that a value is, if it is a constant.
std::optional<llvm::APInt> constantOf(Value v) {
  if (auto constant = v.getDefiningOp<rtl::ConstantOp>())
    return constant.getBits();
  auto concat = v.getDefiningOp<rtl::ConcatOp>();
  if (!concat || !llvm::all_of(concat.getInputs(), isConstant))
    return std::nullopt;
  llvm::APInt all(unsigned(bitsOf(v)), 0);
  unsigned low = 0;
  for (Value part : concat.getInputs()) {
    all.insertBits(part.getDefiningOp<rtl::ConstantOp>().getBits(), low);
    low += unsigned(bitsOf(part));
  }
  return all;
}

/// Bits of a factor that are in a product; of a constant from its lowest to its
/// highest one, as Yosys shifts instead of multiplying by zeros.
int64_t factorBits(Value v) {
  if (auto extend = v.getDefiningOp<rtl::SignExtendOp>())
    return factorBits(extend.getInput());
  if (auto value = constantOf(v))
    return value->isZero()
               ? 0
               : int64_t(value->getActiveBits() - value->countr_zero());
  return usedBits(v);
}

/// Bits to which nothing is added only pass the carry on, unless they are
/// inverted by a sign.
double Counter::sumBits(rtl::AddOp a) const {
  return double(
      hasShiftRegisters()
          ? std::max({std::min(bitsBelowZeros(a.getLhs()),
                               bitsBelowZeros(a.getRhs())),
                      invertedBits(a.getLhs()), invertedBits(a.getRhs())})
          : bitsOf(a.getResult()));
}

double Counter::differenceBits(rtl::SubOp s) const {
  return hasShiftRegisters() && isConstant(s.getRhs())
             ? 0
             : double(bitsOf(s.getResult()));
}

void Counter::countProduct(rtl::MulOp op) {
  // Yosys makes narrow products in logic.
  constexpr int64_t kLeastProduct = 9;
  const int64_t kept = bitsOf(op.getResult());
  const int64_t a = std::min(factorBits(op.getLhs()), kept);
  const int64_t b = std::min(factorBits(op.getRhs()), kept);
  if (context.dspWide > 0 && std::min(a + b, kept) >= kLeastProduct)
    structure.exact.dsp() += double(dspTiles(a, b, context));
  else
    luts(double(a * b) / (kept < a + b ? 2 : 1));
}

/// Yosys moves a product's registers into a DSP48E1, but not into others.
bool Counter::isInDsp(rtl::RegisterOp op) const {
  constexpr int64_t kDsp48E1 = 25;
  if (context.dspWide != kDsp48E1)
    return false;
  auto isProduct = [](Operation *user) {
    return isa<rtl::MulOp>(user) ||
           (isa<rtl::SignExtendOp, rtl::ConcatOp>(user) &&
            llvm::all_of(user->getUsers(), [](Operation *next) {
              return isa<rtl::MulOp, rtl::SignExtendOp>(next);
            }));
  };
  return op.getInput().getDefiningOp<rtl::MulOp>() ||
         llvm::all_of(op->getUsers(), isProduct);
}

cost::Memory Counter::placed(rtl::MemoryOp op) const {
  const int64_t words = op.getType().getDepth();
  const int64_t width = op.getType().getWord().getIntOrFloatBitWidth();
  return op.getStyle() == rtl::Style::Ultra
             ? cost::placedRam(words, width, /*ultra=*/true, context)
             : cost::memoryOf(words, width, context, true);
}

void Counter::countMemory(rtl::MemoryOp op) {
  const int64_t words = op.getType().getDepth();
  const int64_t width = op.getType().getWord().getIntOrFloatBitWidth();
  const cost::Memory m = placed(op);
  // Every read port has a copy.
  double copies = 0;
  for (Operation *user : op->getUsers())
    copies += isa<rtl::ReadOp>(user);
  // A single word is a register, and so is what all ports read of it.
  if (words == 1)
    copies = 1;
  structure.exact.lut() += copies * m.luts;
  structure.exact.lutram() += copies * m.luts;
  structure.exact.bram() += copies * m.blocks;
  structure.exact.uram() += copies * m.ultras;
  structure.exact.ff() += copies * m.ffs;
  luts(copies * (m.choiceLuts + m.enables));
  if (m.blocks == 0 && m.ultras == 0)
    return;
  structure.heldBits += copies * double(words * width);
  // Reads during writes return the old word.
  if (!hasShiftRegisters()) {
    const int64_t address = cost::addressBits(words);
    structure.exact.ff() += copies * double(2 * width + address + 2);
    luts(copies * (double(width) + double(address) / 2));
  }
}

/// Shifters: two levels of multiplexers in a LUT. Gates are parts of LUTs.
void Counter::countOperator(rtl::ModuleOp module) {
  constexpr double kMux = 0.5, kGate = 0.25;
  countRegisters(module.getBody().front());
  for (Operation &op : module.getBody().front())
    llvm::TypeSwitch<Operation *>(&op)
        .Case([&](rtl::MuxOp m) {
          luts(double(usedBits(m.getResult())) * kMux *
               (hasShiftRegisters() ? 1 : 2));
        })
        .Case<rtl::AndOp, rtl::OrOp, rtl::XorOp>([&](Operation *gate) {
          luts(double(bitsOf(gate->getResult(0))) * kGate);
        })
        .Default([&](Operation *other) { count(*other); });
}

void Counter::countUnit(rtl::ModuleOp module) {
  countRegisters(module.getBody().front());
  for (Operation &op : module.getBody().front())
    llvm::TypeSwitch<Operation *>(&op)
        .Case([&](rtl::AddOp a) { luts(kSum * sumBits(a)); })
        .Case([&](rtl::SubOp s) { luts(kSum * differenceBits(s)); })
        .Case([&](rtl::MuxOp m) { countChoice(m); })
        .Case<rtl::AndOp, rtl::OrOp, rtl::XorOp>([&](Operation *gate) {
          const double bits = double(bitsOf(gate->getResult(0)));
          auto mask = gate->getOperand(1).getDefiningOp<rtl::SignExtendOp>();
          // Operands of a shared operator, each in a nest's turn.
          if (isa<rtl::AndOp>(gate) && mask && bitsOf(mask.getInput()) == 1)
            luts(kMasked * bits * (hasShiftRegisters() ? 1 : 2));
          else if (bits == 1)
            luts(hasShiftRegisters() ? kGate : 1);
        })
        .Default([&](Operation *other) { count(*other); });
}

/// A six-input LUT chooses among four, and a choice whose result is chosen
/// among again has a part of one. A constant is a gate, a register's reset or,
/// in front of another choice, nothing.
void Counter::countChoice(rtl::MuxOp m) {
  constexpr double kChoice = 1, kInner = 0.4, kConstant = 0.33;
  const bool hasConstant =
      isConstant(m.getOnTrue()) || isConstant(m.getOnFalse());
  auto isIn = [&](auto kind) {
    return m->hasOneUse() && isa<decltype(kind)>(*m->getUsers().begin());
  };
  const double bits = double(usedBits(m.getResult()));
  const bool isOne = bits == 1;
  if (!hasShiftRegisters())
    luts(bits * (hasConstant ? 0.5 : 1));
  else if (isOne)
    luts(kGate);
  else if (hasConstant)
    luts(isIn(rtl::MuxOp()) || isIn(rtl::RegisterOp()) ? 0 : kConstant * bits);
  else
    luts(bits * (isIn(rtl::MuxOp()) ? kInner : kChoice));
}

void Counter::count(Operation &op) {
  llvm::TypeSwitch<Operation *>(&op)
      .Case([&](rtl::InstanceOp i) {
        auto design = i->getParentOfType<ModuleOp>();
        if (auto callee = design.lookupSymbol<rtl::ModuleOp>(i.getCallee()))
          countOperator(callee);
      })
      .Case([&](rtl::MulOp m) { countProduct(m); })
      .Case([&](rtl::MemoryOp m) { countMemory(m); })
      .Case([&](rtl::AddOp a) { luts(sumBits(a)); })
      .Case([&](rtl::SubOp s) { luts(differenceBits(s)); })
      // A bit of a table takes a LUT for 64 entries, and some choose among
      // these.
      .Case([&](rtl::LookupOp l) {
        constexpr double kChoice = 1.33;
        const int64_t index = bitsOf(l.getIndex());
        const double tables =
            std::ldexp(1, int(std::max<int64_t>(0, index - context.lutInputs)));
        luts(double(bitsOf(l.getResult())) *
             (tables > 1 ? tables * kChoice : 1));
      })
      .Case([&](rtl::CompareOp c) {
        const double bits = double(bitsOf(c.getLhs()));
        luts(isConstant(c.getRhs())
                 ? std::ceil(bits / double(context.lutInputs))
                 : bits / (hasShiftRegisters() ? 2 : 1));
      });
}
} // namespace

// The worst of those with 200 and more: 208 registers instead of 184 (xc7a35t)
// and 377 LUTs instead of 285 (lfe5u-25f).
double errorShareOf(const CostContext &context) {
  return context.shiftRegisters ? 0.15 : 0.35;
}

Structure structureOfOperator(rtl::ModuleOp module,
                              const CostContext &context) {
  Counter counter(context);
  counter.structure.unit = "kernel";
  counter.countOperator(module);
  return counter.structure;
}

Structure structureOf(rtl::ModuleOp module, const CostContext &context) {
  Counter counter(context);
  counter.structure.unit = "kernel";
  counter.countUnit(module);
  return counter.structure;
}
} // namespace rhizome::gen::loops
