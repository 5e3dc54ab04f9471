// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The resources of a unit's module, operation by operation, as Yosys maps them.
// Registers, memories and DSP blocks are counted; logic is counted in bits.
#include "rhizome/Cost/Structure.h"
#include "rhizome/Generator/Hls/KernelUnit.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace rhizome::gen::hls {
namespace {
class Counter {
public:
  explicit Counter(const CostContext &context) : context(context) {}
  void count(Operation &op);
  Structure structure;

private:
  const CostContext &context;

  void luts(double n) { structure.terms[size_t(Term::Control)] += n; }
  void countRegister(rtl::RegisterOp op);
  void countProduct(rtl::MulOp op);
  void countMemory(rtl::MemoryOp op);
};

int64_t bitsOf(Value v) { return v.getType().getIntOrFloatBitWidth(); }

/// Bits that are not copies of the top one.
int64_t usedBits(Value v) {
  if (auto op = v.getDefiningOp<rtl::SignExtendOp>())
    return usedBits(op.getOperand());
  if (auto op = v.getDefiningOp<rtl::RegisterOp>(); op && !op.getReset())
    return usedBits(op.getInput());
  return bitsOf(v);
}

bool isConstant(Value v) { return v.getDefiningOp<rtl::ConstantOp>(); }

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
  if (follows(op.getResult()))
    return;
  int64_t stages = 1;
  for (Value v = op.getInput();
       isPlain(v.getDefiningOp<rtl::RegisterOp>()) && follows(v);
       v = v.getDefiningOp<rtl::RegisterOp>().getInput())
    ++stages;
  if (context.shiftRegisters && stages >= 3) {
    double luts = bits * double(cost::ceilDiv(stages, 16));
    structure.exact.lut() += luts;
    structure.exact.lutram() += luts;
  } else {
    structure.exact.ff() += bits * double(stages);
  }
}

void Counter::countProduct(rtl::MulOp op) {
  int64_t a = usedBits(op.getLhs()), b = usedBits(op.getRhs());
  if (context.dspWide > 0)
    structure.exact.dsp() += double(dspTiles(a, b, context));
  else
    luts(double(a * b));
}

void Counter::countMemory(rtl::MemoryOp op) {
  const rtl::MemoryType type = op.getType();
  cost::Memory m = cost::memoryOf(
      type.getDepth(), type.getWord().getIntOrFloatBitWidth(), context, true);
  // Every read port has a copy.
  double copies = 0;
  for (Operation *user : op->getUsers())
    copies += isa<rtl::ReadOp>(user);
  structure.exact.lut() += copies * m.luts;
  structure.exact.lutram() += copies * m.luts;
  structure.exact.bram() += copies * m.blocks;
  structure.exact.uram() += copies * m.ultras;
  structure.exact.ff() += copies * m.ffs;
  luts(copies * (m.choiceLuts + m.enables));
  if (m.blocks > 0)
    structure.heldBits += copies * double(type.getDepth()) *
                          double(type.getWord().getIntOrFloatBitWidth());
  else
    structure.exact.ff() +=
        copies * double(type.getWord().getIntOrFloatBitWidth());
}

void Counter::count(Operation &op) {
  llvm::TypeSwitch<Operation *>(&op)
      .Case([&](rtl::RegisterOp r) { countRegister(r); })
      .Case([&](rtl::MulOp m) { countProduct(m); })
      .Case([&](rtl::MemoryOp m) { countMemory(m); })
      .Case<rtl::AddOp, rtl::SubOp>(
          [&](Operation *) { luts(double(bitsOf(op.getResult(0)))); })
      .Case([&](rtl::CompareOp c) {
        const double bits = double(bitsOf(c.getLhs()));
        luts(isConstant(c.getRhs()) ? std::ceil(bits / 6) : bits / 2);
      })
      .Case([&](rtl::MuxOp m) {
        luts(double(usedBits(m.getResult())) *
             (isConstant(m.getOnTrue()) || isConstant(m.getOnFalse()) ? 0.25
                                                                      : 0.5));
      });
}
} // namespace

Structure structureOf(rtl::ModuleOp module, const CostContext &context) {
  Counter counter(context);
  counter.structure.unit = "kernel";
  for (Operation &op : module.getBody().front())
    counter.count(op);
  return counter.structure;
}
} // namespace rhizome::gen::hls
