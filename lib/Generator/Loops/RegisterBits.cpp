// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From every operation that is not a wire, its operands' bits are followed to
// where they come from, register by register. Rows are then counted from the
// bits that something reads.
#include "RegisterBits.h"

using namespace mlir;

namespace rhizome::gen::loops {
/// Not a register.
static constexpr unsigned kNone = ~0u;

static unsigned bitsOf(Value v) { return v.getType().getIntOrFloatBitWidth(); }

int64_t usedBits(Value v) {
  Operation *op = v.getDefiningOp();
  if (auto extend = dyn_cast_or_null<rtl::SignExtendOp>(op))
    return usedBits(extend.getInput());
  if (auto q = dyn_cast_or_null<rtl::RegisterOp>(op); q && !q.getReset())
    return usedBits(q.getInput());
  if (auto concat = dyn_cast_or_null<rtl::ConcatOp>(op)) {
    int64_t bits = 0;
    for (Value part : concat.getInputs())
      bits += part.getDefiningOp<rtl::ConstantOp>() ? 0 : bitsOf(part);
    return bits;
  }
  if (auto product = dyn_cast_or_null<rtl::MulOp>(op))
    return std::min<int64_t>(bitsOf(v), usedBits(product.getLhs()) +
                                            usedBits(product.getRhs()));
  return bitsOf(v);
}

/// True if the value is a choice with a constant and for one reader: if that is
/// a register, synthesis makes the choice its reset.
static bool mayReset(Value v) {
  auto mux = v.getDefiningOp<rtl::MuxOp>();
  auto isConstant = [](Value v) { return v.getDefiningOp<rtl::ConstantOp>(); };
  return mux && mux->hasOneUse() &&
         (isConstant(mux.getOnTrue()) || isConstant(mux.getOnFalse()));
}

/// A shift's distance, if it is a constant.
static std::optional<unsigned> distanceOf(Operation *op) {
  if (isa<rtl::ShiftLeftOp, rtl::ShiftRightOp, rtl::ShiftRightSignedOp>(op))
    if (auto by = op->getOperand(1).getDefiningOp<rtl::ConstantOp>())
      return unsigned(by.getBits().getLimitedValue(1u << 16));
  return std::nullopt;
}

static bool isGate(Operation *op) {
  return isa<rtl::AndOp, rtl::OrOp, rtl::XorOp>(op);
}

void RegisterBits::number(Block &block) {
  unsigned count = 2;
  auto add = [&](Value v, unsigned bits) {
    first[v] = count;
    count += bits;
  };
  for (Value v : block.getArguments())
    add(v, bitsOf(v));
  for (Operation &op : block) {
    if (auto memory = dyn_cast<rtl::MemoryOp>(op)) {
      add(memory.getMemory(), memory.getType().getWord().getWidth());
      continue;
    }
    for (Value v : op.getResults())
      // Of a read the register, and the word in front of it.
      add(v, bitsOf(v) * (isa<rtl::ReadOp>(op) ? 2 : 1));
  }
  from.resize(count);
  for (unsigned i = 0; i < count; ++i)
    from[i] = i;
  input.assign(count, kNone);
  enable.assign(count, kNone);
  next.assign(count, kNone);
  isKnown.resize(count);
  isChoice.resize(count);
  isReset.resize(count);
  isRead.resize(count);
}

unsigned RegisterBits::resolve(Value v) {
  const unsigned at = first.at(v), bits = bitsOf(v);
  if (isKnown[at])
    return at;
  isKnown.set(at);
  Operation *op = v.getDefiningOp();
  if (!op)
    return at;
  if (auto extract = dyn_cast<rtl::ExtractOp>(op)) {
    const unsigned in =
        resolve(extract.getInput()) + unsigned(extract.getLow());
    for (unsigned i = 0; i < bits; ++i)
      from[at + i] = from[in + i];
  } else if (auto extend = dyn_cast<rtl::SignExtendOp>(op)) {
    const unsigned in = resolve(extend.getInput());
    const unsigned top = bitsOf(extend.getInput()) - 1;
    for (unsigned i = 0; i < bits; ++i)
      from[at + i] = from[in + std::min(i, top)];
  } else if (auto concat = dyn_cast<rtl::ConcatOp>(op)) {
    unsigned low = at;
    for (Value part : concat.getInputs()) {
      const unsigned in = resolve(part);
      for (unsigned i = 0; i < bitsOf(part); ++i)
        from[low++] = from[in + i];
    }
  } else if (auto constant = dyn_cast<rtl::ConstantOp>(op)) {
    for (unsigned i = 0; i < bits; ++i)
      from[at + i] = constant.getBits()[i];
  } else if (isa<rtl::MulOp>(op)) {
    const auto used = unsigned(std::max<int64_t>(usedBits(v), 1));
    for (unsigned i = used; i < bits; ++i)
      from[at + i] = at + used - 1;
  } else if (mayReset(v)) {
    isChoice.set(at, at + bits);
  } else if (isGate(op)) {
    resolveGate(op, at, bits);
  } else if (distanceOf(op)) {
    resolveShift(op, at, bits);
  } else if (isa<rtl::RegisterOp, rtl::ReadOp>(op)) {
    resolveRegister(op, at, bits);
  }
  return at;
}

void RegisterBits::resolveGate(Operation *op, unsigned at, unsigned bits) {
  const unsigned x = resolve(op->getOperand(0)), y = resolve(op->getOperand(1));
  for (unsigned i = 0; i < bits; ++i) {
    unsigned constant = from[x + i], other = from[y + i];
    if (constant > 1)
      std::swap(constant, other);
    if (constant > 1 || (isa<rtl::XorOp>(op) && constant == 1))
      continue;
    // And with 1, or and exclusive or with 0, pass a bit on.
    from[at + i] = (constant == 1) == isa<rtl::AndOp>(op) ? other : constant;
  }
}

void RegisterBits::resolveShift(Operation *op, unsigned at, unsigned bits) {
  const unsigned by = *distanceOf(op), in = resolve(op->getOperand(0));
  const bool isSigned = isa<rtl::ShiftRightSignedOp>(op);
  for (unsigned i = 0; i < bits; ++i)
    if (isa<rtl::ShiftLeftOp>(op))
      from[at + i] = i < by ? 0 : from[in + i - by];
    else if (i + by < bits || isSigned)
      from[at + i] = from[in + std::min(i + by, bits - 1)];
    else
      from[at + i] = 0;
}

void RegisterBits::resolveRegister(Operation *op, unsigned at, unsigned bits) {
  const Kind kind = kindOf(op);
  auto q = dyn_cast<rtl::RegisterOp>(op);
  if (kind == Kind::None)
    return;
  if (kind == Kind::Reset) {
    // It may always have the value that it is reset to.
    auto constant = q.getInput().getDefiningOp<rtl::ConstantOp>();
    const bool isFixed =
        constant && constant.getValueAttr() == q.getResetValueAttr();
    for (unsigned i = 0; i < bits; ++i)
      if (isFixed)
        from[at + i] = constant.getBits()[i];
      else
        isReset.set(at + i);
    return;
  }
  unsigned in = at + bits;
  Value enables;
  if (q) {
    in = resolve(q.getInput());
    enables = q.getEnable();
  } else {
    auto read = cast<rtl::ReadOp>(op);
    if (read.getMemory().getType().getDepth() == 1)
      in = first.at(read.getMemory());
    enables = read.getEnable();
  }
  unsigned on = kNone;
  if (enables) {
    on = from[resolve(enables)];
    isRead.set(on);
  }
  for (unsigned i = 0; i < bits; ++i) {
    const unsigned bit = from[in + i];
    if (bit <= 1) {
      from[at + i] = bit;
      continue;
    }
    unsigned &same = on == kNone
                         ? next[bit]
                         : enabled.try_emplace({bit, on}, kNone).first->second;
    if (same != kNone) {
      from[at + i] = same;
      continue;
    }
    same = at + i;
    if (q && isChoice[bit]) {
      isReset.set(at + i);
      continue;
    }
    input[at + i] = bit;
    enable[at + i] = on;
    if (input[bit] != kNone && enable[bit] != on)
      isRead.set(bit);
  }
}

void RegisterBits::readAll(Value v) {
  if (!isa<IntegerType>(v.getType()))
    return;
  const unsigned at = resolve(v);
  for (unsigned i = 0; i < bitsOf(v); ++i)
    isRead.set(from[at + i]);
}

void RegisterBits::countRows() {
  // From a row's last register to its first.
  for (unsigned bit = 2; bit < from.size(); ++bit) {
    if (!isRead[bit] || input[bit] == kNone)
      continue;
    int64_t length = 1;
    unsigned before = input[bit];
    for (; input[before] != kNone && !isRead[before]; before = input[before])
      ++length;
    ++rows[length];
    if (isReset[before])
      isRead.set(before);
  }
  isReset &= isRead;
  resets = isReset.count();
}

RegisterBits::RegisterBits(Block &block,
                           llvm::function_ref<Kind(Operation *)> kindOf)
    : kindOf(kindOf) {
  number(block);
  for (Operation &op : block) {
    if (isa<rtl::ExtractOp, rtl::SignExtendOp, rtl::ConcatOp>(op) ||
        distanceOf(&op) ||
        (isa<rtl::RegisterOp>(op) && kindOf(&op) == Kind::Plain))
      continue;
    if (!isGate(&op)) {
      for (Value v : op.getOperands())
        readAll(v);
      continue;
    }
    const unsigned at = resolve(op.getResult(0));
    for (Value v : op.getOperands())
      for (unsigned i = 0, in = first.at(v); i < bitsOf(v); ++i)
        if (from[at + i] == at + i)
          isRead.set(from[in + i]);
  }
  countRows();
}
} // namespace rhizome::gen::loops
