// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A circuit as `rtl` operations: first its logic alone, then the registers
// between its stages. Every operand is extended to the result's width, so that
// no tool's rules of width or sign matter.
#include "Pipeline.h"
#include "rhizome/Dialect/Rtl/Rtl.h"
#include "rhizome/Units/Circuit.h"

using namespace mlir;

namespace rhizome::gen {
namespace {
using Op = Circuit::Op;

class Logic {
public:
  Logic(const cost::WordGraph &circuit, OpBuilder &builder, Location loc,
        Value beat)
      : c(circuit), loc(loc), b(builder), beat(beat),
        values(circuit.nodes.size()), reads(circuit.readers()) {}

  Combinational run();

private:
  const cost::WordGraph &c;
  Location loc;
  OpBuilder &b;
  Value beat;
  std::vector<Value> values; ///< of the nodes
  std::vector<int> reads;

  static int64_t width(Value v) { return v.getType().getIntOrFloatBitWidth(); }
  Type bits(int64_t n) { return b.getIntegerType(unsigned(n)); }
  bool isSigned(int node) const { return c.nodes[node].isSigned(); }

  Value constant(int64_t value, int64_t n) {
    return rtl::ConstantOp::create(b, loc, bits(n), value);
  }
  Value zero(int64_t n) { return constant(0, n); }
  /// The value of a constant with this many bits.
  static std::optional<int64_t> known(Value v, bool isSigned) {
    auto constant = v.getDefiningOp<rtl::ConstantOp>();
    if (!constant)
      return std::nullopt;
    return isSigned ? constant.getBits().getSExtValue()
                    : int64_t(constant.getBits().getZExtValue());
  }
  Value concat(ValueRange parts) {
    if (parts.size() == 1)
      return parts[0];
    int64_t n = 0;
    for (Value v : parts)
      n += width(v);
    return rtl::ConcatOp::create(b, loc, bits(n), parts);
  }
  Value extract(Value v, int64_t low, int64_t n) {
    if (low == 0 && n == width(v))
      return v;
    return rtl::ExtractOp::create(b, loc, bits(n), v, low);
  }
  /// The same value in n bits: extended, or without redundant bits.
  Value fit(Value v, bool isSigned, int64_t n) {
    if (auto value = known(v, isSigned))
      return constant(*value, n);
    if (n <= width(v))
      return extract(v, 0, n);
    if (isSigned)
      return rtl::SignExtendOp::create(b, loc, bits(n), v);
    return concat({v, zero(n - width(v))});
  }
  /// Bits low … of a value, as n bits.
  Value above(Value v, bool isSigned, int64_t low, int64_t n) {
    if (auto value = known(v, isSigned))
      return constant(*value >> low, n);
    if (low >= width(v)) {
      if (!isSigned)
        return zero(n);
      low = width(v) - 1;
    }
    return fit(extract(v, low, width(v) - low), isSigned, n);
  }

  Value term(int node);
  Value sum(const Circuit::Node &n);
  Value compute(const Circuit::Node &n);
};

/// An operand of a sum. Yosys would merge a sum that has no other reader into
/// this one, as rows of full adders, which take more LUTs than a carry chain
/// each; not behind two complements, which vanish later.
Value Logic::term(int node) {
  Value v = values[node];
  if (reads[size_t(node)] != 1 || c.adderBits(c.nodes[node]) == 0)
    return v;
  v = rtl::NotOp::create(b, loc, v);
  return rtl::NotOp::create(b, loc, v);
}

Value Logic::sum(const Circuit::Node &n) {
  const Circuit::Node &na = c.nodes[n.a], &nb = c.nodes[n.b];
  const bool isWhole = n.shift == 0 && c.adderBits(n) > 0;
  Value x = isWhole ? term(n.a) : values[n.a];
  Value y = c.adderBits(n) > 0 && n.op != Op::AddNot ? term(n.b) : values[n.b];
  int64_t w = n.bits();
  if (n.op == Op::Rsub) {
    Value shifted = y;
    if (auto value = known(y, nb.isSigned()))
      shifted = constant(int64_t(uint64_t(*value) << n.shift), w);
    else if (n.shift > 0)
      shifted = concat({zero(n.shift), y});
    return rtl::SubOp::create(b, loc, fit(shifted, nb.isSigned(), w),
                              fit(x, na.isSigned(), w));
  }
  if (n.shift >= w)
    return fit(x, na.isSigned(), w);
  // The low bits are those of a.
  int64_t upper = w - n.shift;
  if (n.op == Op::AddNot) {
    Value high =
        fit(rtl::NotOp::create(b, loc, fit(y, false, n.value)), false, upper);
    if (c.adderBits(n) > 0)
      high = rtl::AddOp::create(b, loc, above(x, false, n.shift, upper), high);
    return n.shift == 0 ? high : concat({fit(x, false, n.shift), high});
  }
  Value high = fit(y, nb.isSigned(), upper);
  bool none = na.lo >= 0 && na.bits() <= n.shift;
  if (n.op == Op::Sub)
    high = rtl::SubOp::create(b, loc, above(x, na.isSigned(), n.shift, upper),
                              high);
  else if (!none && !(na.lo == 0 && na.hi == 0))
    high = rtl::AddOp::create(b, loc, above(x, na.isSigned(), n.shift, upper),
                              high);
  if (n.shift == 0)
    return high;
  return concat({fit(x, na.isSigned(), n.shift), high});
}

Value Logic::compute(const Circuit::Node &n) {
  int64_t w = n.bits();
  switch (n.op) {
  case Op::Input:
    return extract(beat, n.value * c.inWidth, std::min(w, c.inWidth));
  case Op::Constant:
    return constant(n.value, w);
  case Op::Add:
  case Op::Sub:
  case Op::Rsub:
  case Op::AddNot:
    return sum(n);
  case Op::Floor:
    return above(values[n.a], isSigned(n.a), n.shift, w);
  case Op::Even: {
    Value x = values[n.a];
    Value low = fit(x, isSigned(n.a), n.shift);
    Value some = rtl::AtLeastOp::create(b, loc, b.getI1Type(), low, 1, false);
    Value bit =
        rtl::AndOp::create(b, loc, above(x, isSigned(n.a), n.shift, 1), some);
    if (w == 1)
      return bit;
    return concat({bit, above(x, isSigned(n.a), n.shift + 1, w - 1)});
  }
  case Op::AtLeast:
    return rtl::AtLeastOp::create(b, loc, b.getI1Type(), values[n.a], n.value,
                                  isSigned(n.a));
  case Op::Select:
    return rtl::MuxOp::create(b, loc, values[n.a],
                              fit(values[n.b], isSigned(n.b), w),
                              fit(values[n.c], isSigned(n.c), w));
  case Op::Table:
    assert(width(values[n.a]) == c.nodes[n.a].bits());
    return rtl::LookupOp::create(b, loc, bits(w), values[n.a],
                                 b.getDenseI64ArrayAttr(c.entriesOf(n)));
  }
  llvm_unreachable("every operation is handled");
}

Combinational Logic::run() {
  Combinational made;
  Block *block = b.getInsertionBlock();
  assert(b.getInsertionPoint() == block->end());
  auto last = [&] { return block->empty() ? nullptr : &block->back(); };
  auto since = [&](Operation *before) -> Operation * {
    if (last() == before)
      return nullptr;
    return before ? before->getNextNode() : &block->front();
  };
  for (size_t i = 0; i < c.nodes.size(); ++i) {
    LogicGroup group;
    if (reads[i] > 0) {
      Operation *before = last();
      values[i] = compute(c.nodes[i]);
      group = {since(before), values[i], c.nodes[i].op == Op::Constant};
    }
    made.groups.push_back(group);
  }
  Operation *before = last();
  SmallVector<Value> lanes;
  for (int o : c.outputs)
    lanes.push_back(fit(values[o], isSigned(o), c.outWidth));
  made.outputs = concat(lanes);
  made.groups.push_back({since(before), made.outputs});
  return made;
}
} // namespace

Combinational combinational(const cost::WordGraph &circuit, OpBuilder &builder,
                            Location loc, Value beat) {
  return Logic(circuit, builder, loc, beat).run();
}

void emitCircuit(Region &region, const Circuit &circuit,
                 const cost::LogicPace &pace, Location loc) {
  Block &block = region.emplaceBlock();
  OpBuilder b = OpBuilder::atBlockEnd(&block);
  Value clock = block.addArgument(b.getI1Type(), loc);
  Value beat = block.addArgument(
      b.getIntegerType(unsigned(circuit.inLanes * circuit.inWidth)), loc);
  Combinational logic = combinational(circuit, b, loc, beat);
  Value outputs =
      insertRegisters(block, clock, logic.groups, problemOf(circuit),
                      scheduleOf(circuit, pace));
  rtl::OutputOp::create(b, loc, outputs);
}
} // namespace rhizome::gen
