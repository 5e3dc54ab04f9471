// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The resources of a unit's module, operation by operation, as Yosys maps them.
// Registers, memories and DSP blocks are counted; logic is counted in bits.
#include "rhizome/Cost/Structure.h"
#include "rhizome/Generator/Hls/KernelUnit.h"
#include "llvm/ADT/TypeSwitch.h"
#include <cmath>
#include <map>

using namespace mlir;

namespace rhizome::gen::hls {
namespace {
/// The registers of a pipeline bit by bit: what joins and takes apart words is
/// none, constants have none, and Yosys merges those with the same input.
class RegisterBits {
public:
  explicit RegisterBits(Block &block);
  /// How many rows there are of each length.
  std::map<int64_t, int64_t> rows() const;

private:
  using Bit = std::pair<Value, unsigned>; ///< null: a constant
  DenseMap<Bit, Bit> registers;           ///< by their input
  DenseMap<Bit, int64_t> reads;

  Bit origin(Value v, unsigned at);
};

RegisterBits::Bit RegisterBits::origin(Value v, unsigned at) {
  Operation *op = v.getDefiningOp();
  if (auto extract = dyn_cast_or_null<rtl::ExtractOp>(op))
    return origin(extract.getInput(), unsigned(extract.getLow()) + at);
  if (auto extend = dyn_cast_or_null<rtl::SignExtendOp>(op)) {
    const unsigned top =
        extend.getInput().getType().getIntOrFloatBitWidth() - 1;
    return origin(extend.getInput(), std::min(at, top));
  }
  if (auto concat = dyn_cast_or_null<rtl::ConcatOp>(op))
    for (Value part : concat.getInputs()) {
      const unsigned width = part.getType().getIntOrFloatBitWidth();
      if (at < width)
        return origin(part, at);
      at -= width;
    }
  if (isa_and_nonnull<rtl::ConstantOp>(op))
    return {};
  auto q = dyn_cast_or_null<rtl::RegisterOp>(op);
  if (!q)
    return {v, at};
  Bit input = origin(q.getInput(), at);
  if (!input.first)
    return {};
  return registers.try_emplace(input, Bit(v, at)).first->second;
}

RegisterBits::RegisterBits(Block &block) {
  for (Operation &op : block)
    if (!isa<rtl::ExtractOp, rtl::SignExtendOp, rtl::ConcatOp, rtl::RegisterOp>(
            op))
      for (Value v : op.getOperands())
        for (unsigned i = 0; i < v.getType().getIntOrFloatBitWidth(); ++i)
          ++reads[origin(v, i)];
}

std::map<int64_t, int64_t> RegisterBits::rows() const {
  std::map<int64_t, int64_t> out;
  DenseMap<Bit, Bit> inputs;
  for (auto [input, q] : registers)
    inputs[q] = input;
  for (auto [input, q] : registers) {
    // From its last register.
    if (registers.contains(q) && !reads.contains(q))
      continue;
    int64_t length = 1;
    for (Bit at = input; inputs.contains(at) && !reads.contains(at);
         at = inputs.lookup(at))
      ++length;
    ++out[length];
  }
  return out;
}

class Counter {
public:
  explicit Counter(const CostContext &context) : context(context) {}
  void count(Operation &op);
  /// The module of an operator, whose logic Yosys packs more densely.
  void countOperator(rtl::ModuleOp module);
  Structure structure;

private:
  const CostContext &context;

  void luts(double n) { structure.terms[size_t(Term::Control)] += n; }
  bool isAmd() const { return context.shiftRegisters; }
  bool isInDsp(rtl::RegisterOp op) const;
  void countRegister(rtl::RegisterOp op);
  /// Registers in a row.
  void addRow(double bits, int64_t stages);
  void countProduct(rtl::MulOp op);
  void countMemory(rtl::MemoryOp op);
};

int64_t bitsOf(Value v) { return v.getType().getIntOrFloatBitWidth(); }

bool isConstant(Value v) { return v.getDefiningOp<rtl::ConstantOp>(); }

/// Bits that are neither constant nor copies of the top one.
int64_t usedBits(Value v) {
  Operation *op = v.getDefiningOp();
  if (auto extend = dyn_cast_or_null<rtl::SignExtendOp>(op))
    return usedBits(extend.getInput());
  if (auto q = dyn_cast_or_null<rtl::RegisterOp>(op); q && !q.getReset())
    return usedBits(q.getInput());
  if (auto concat = dyn_cast_or_null<rtl::ConcatOp>(op)) {
    int64_t bits = 0;
    for (Value part : concat.getInputs())
      bits += isConstant(part) ? 0 : bitsOf(part);
    return bits;
  }
  if (auto product = dyn_cast_or_null<rtl::MulOp>(op))
    return std::min(bitsOf(v),
                    usedBits(product.getLhs()) + usedBits(product.getRhs()));
  return bitsOf(v);
}

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

void Counter::countRegister(rtl::RegisterOp op) {
  const double bits = double(usedBits(op.getResult()));
  auto isPlain = [](rtl::RegisterOp r) { return r && !r.getReset(); };
  if (!isPlain(op)) {
    structure.exact.ff() += bits;
    return;
  }
  // A row is counted at its last register.
  auto follows = [&](Value v) {
    if (!v.hasOneUse())
      return false;
    auto next = dyn_cast<rtl::RegisterOp>(*v.getUsers().begin());
    return isPlain(next) && next.getInput() == v &&
           next.getEnable() == op.getEnable();
  };
  if (follows(op.getResult()) || isInDsp(op))
    return;
  int64_t stages = 1;
  for (Value v = op.getInput();
       isPlain(v.getDefiningOp<rtl::RegisterOp>()) && follows(v);
       v = v.getDefiningOp<rtl::RegisterOp>().getInput())
    ++stages;
  addRow(bits, stages);
}

void Counter::addRow(double bits, int64_t stages) {
  if (isAmd() && stages >= 3) {
    double luts = bits * double(cost::ceilDiv(stages, 16));
    structure.exact.lut() += luts;
    structure.exact.lutram() += luts;
  } else {
    structure.exact.ff() += bits * double(stages);
  }
}

/// Bits of a factor that are in a product; of a constant from its lowest to its
/// highest one, as Yosys shifts instead of multiplying by zeros.
int64_t factorBits(Value v) {
  if (auto extend = v.getDefiningOp<rtl::SignExtendOp>())
    return factorBits(extend.getInput());
  auto concat = v.getDefiningOp<rtl::ConcatOp>();
  if (!concat || !llvm::all_of(concat.getInputs(), isConstant))
    return usedBits(v);
  int64_t low = 0, first = bitsOf(v), end = 0;
  for (Value part : concat.getInputs()) {
    const llvm::APInt value =
        part.getDefiningOp<rtl::ConstantOp>().getValue().getValue();
    if (!value.isZero()) {
      first = std::min(first, low + int64_t(value.countr_zero()));
      end = low + int64_t(value.getActiveBits());
    }
    low += bitsOf(part);
  }
  return std::max<int64_t>(0, end - first);
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

void Counter::countMemory(rtl::MemoryOp op) {
  const int64_t words = op.getType().getDepth();
  const int64_t width = op.getType().getWord().getIntOrFloatBitWidth();
  cost::Memory m = op.getStyle() == rtl::Style::Ultra
                       ? cost::placedRam(words, width, /*ultra=*/true, context)
                       : cost::memoryOf(words, width, context, true);
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
  if (m.blocks == 0 && m.ultras == 0) {
    structure.exact.ff() += copies * double(width);
    return;
  }
  structure.heldBits += copies * double(words * width);
  // Reads during writes return the old word.
  if (!isAmd()) {
    const int64_t address = cost::addressBits(words);
    structure.exact.ff() += copies * double(2 * width + address + 2);
    luts(copies * (double(width) + double(address) / 2));
  }
}

/// Shifters: two levels of multiplexers in a LUT. Gates are parts of LUTs.
void Counter::countOperator(rtl::ModuleOp module) {
  constexpr double kMux = 0.5, kGate = 0.25;
  for (auto [stages, bits] : RegisterBits(module.getBody().front()).rows())
    addRow(double(bits), stages);
  for (Operation &op : module.getBody().front())
    llvm::TypeSwitch<Operation *>(&op)
        .Case([&](rtl::MuxOp m) {
          luts(double(usedBits(m.getResult())) * kMux * (isAmd() ? 1 : 2));
        })
        .Case([](rtl::RegisterOp) {})
        .Case<rtl::AndOp, rtl::OrOp, rtl::XorOp>([&](Operation *gate) {
          luts(double(bitsOf(gate->getResult(0))) * kGate);
        })
        .Default([&](Operation *other) { count(*other); });
}

void Counter::count(Operation &op) {
  llvm::TypeSwitch<Operation *>(&op)
      .Case([&](rtl::InstanceOp i) {
        auto design = i->getParentOfType<ModuleOp>();
        if (auto callee = design.lookupSymbol<rtl::ModuleOp>(i.getCallee()))
          countOperator(callee);
      })
      .Case([&](rtl::RegisterOp r) { countRegister(r); })
      .Case([&](rtl::MulOp m) { countProduct(m); })
      .Case([&](rtl::MemoryOp m) { countMemory(m); })
      // Operands of a shared operator, each in a nest's turn.
      .Case([&](rtl::AndOp a) {
        constexpr double kMasked = 0.5;
        auto mask = a.getRhs().getDefiningOp<rtl::SignExtendOp>();
        if (mask && bitsOf(mask.getInput()) == 1)
          luts(double(bitsOf(a.getResult())) * kMasked * (isAmd() ? 1 : 2));
      })
      // Bits to which nothing is added only pass the carry on, unless they are
      // inverted by a sign.
      .Case([&](rtl::AddOp a) {
        luts(double(isAmd() ? std::max({std::min(bitsBelowZeros(a.getLhs()),
                                                 bitsBelowZeros(a.getRhs())),
                                        invertedBits(a.getLhs()),
                                        invertedBits(a.getRhs())})
                            : bitsOf(a.getResult())));
      })
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
      .Case([&](rtl::SubOp s) {
        const bool isFree = isAmd() && isConstant(s.getRhs());
        luts(isFree ? 0 : double(bitsOf(s.getResult())));
      })
      .Case([&](rtl::CompareOp c) {
        const double bits = double(bitsOf(c.getLhs()));
        luts(isConstant(c.getRhs())
                 ? std::ceil(bits / double(context.lutInputs))
                 : bits / (isAmd() ? 2 : 1));
      })
      .Case([&](rtl::MuxOp m) {
        // A six-input LUT selects among four; constants are inverters.
        const bool isEasy =
            isConstant(m.getOnTrue()) || isConstant(m.getOnFalse());
        luts(double(usedBits(m.getResult())) * (isEasy ? 0.15 : 0.4) *
             (isAmd() ? 1 : 2));
      });
}
} // namespace

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
  for (Operation &op : module.getBody().front())
    counter.count(op);
  return counter.structure;
}
} // namespace rhizome::gen::hls
