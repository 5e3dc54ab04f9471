// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A scheduled circuit as `rtl` operations. Every operand is brought to the
// result's width, so that no tool's rules of width or sign matter.
#include "rhizome/Dialect/Rtl/Rtl.h"
#include "rhizome/Generator/Circuit.h"

using namespace mlir;

namespace rhizome::gen {
namespace {
using Op = Circuit::Op;

class Gates {
public:
  Gates(const Circuit &circuit, int64_t budget, Block &block, Location loc)
      : c(circuit), plan(schedule(circuit, budget)), loc(loc),
        b(OpBuilder::atBlockEnd(&block)), clock(block.getArgument(0)),
        beat(block.getArgument(1)), values(circuit.nodes.size()) {}

  void run() {
    for (size_t i = 0; i < c.nodes.size(); ++i)
      if (plan.stage[i] >= 0)
        values[i].push_back(compute(c.nodes[i], plan.stage[i]));
    SmallVector<Value> lanes;
    for (int o : c.outputs)
      lanes.push_back(
          fit(at(o, plan.stages), c.nodes[o].isSigned(), c.outWidth));
    rtl::OutputOp::create(b, loc, concat(lanes));
  }

private:
  const Circuit &c;
  Schedule plan;
  Location loc;
  OpBuilder b;
  Value clock, beat;
  /// Of each node: as computed, then a stage later each.
  std::vector<SmallVector<Value, 1>> values;

  static int64_t width(Value v) { return v.getType().getIntOrFloatBitWidth(); }
  Type bits(int64_t n) { return b.getIntegerType(unsigned(n)); }

  /// The node's value in a stage; registers are shared by all readers.
  Value at(int node, int stage) {
    if (c.nodes[node].op == Op::Constant)
      return values[node][0];
    auto &v = values[node];
    while (int(v.size()) <= stage - plan.stage[node])
      v.push_back(
          rtl::RegisterOp::create(b, loc, v.back().getType(), clock, v.back()));
    return v[stage - plan.stage[node]];
  }
  /// The value's low bits.
  Value constant(int64_t value, int64_t n) {
    if (n < 64 && !llvm::isIntN(unsigned(n), value))
      value &= (int64_t(1) << n) - 1;
    return rtl::ConstantOp::create(b, loc, bits(n), value);
  }
  Value zero(int64_t n) { return constant(0, n); }
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
    if (auto constant = v.getDefiningOp<rtl::ConstantOp>())
      return this->constant(int64_t(constant.getValue()) >> low, n);
    return rtl::ExtractOp::create(b, loc, bits(n), v, low);
  }
  /// The same value in n bits: extended, or without bits that say nothing.
  Value fit(Value v, bool isSigned, int64_t n) {
    if (auto constant = v.getDefiningOp<rtl::ConstantOp>())
      return this->constant(int64_t(constant.getValue()), n);
    if (n <= width(v))
      return extract(v, 0, n);
    if (isSigned)
      return rtl::SignExtendOp::create(b, loc, bits(n), v);
    return concat({v, zero(n - width(v))});
  }
  /// Bits low … of a value, as n bits.
  Value above(Value v, bool isSigned, int64_t low, int64_t n) {
    if (auto constant = v.getDefiningOp<rtl::ConstantOp>())
      return this->constant(int64_t(constant.getValue()) >> low, n);
    if (low >= width(v)) {
      if (!isSigned)
        return zero(n);
      low = width(v) - 1;
    }
    return fit(extract(v, low, width(v) - low), isSigned, n);
  }

  Value sum(const Circuit::Node &n, int stage) {
    const Circuit::Node &na = c.nodes[n.a], &nb = c.nodes[n.b];
    Value x = at(n.a, stage), y = at(n.b, stage);
    int64_t w = n.bits();
    if (n.op == Op::Rsub) {
      Value shifted = y;
      if (auto constant = y.getDefiningOp<rtl::ConstantOp>())
        shifted = this->constant(
            int64_t(uint64_t(constant.getValue()) << n.shift), w);
      else if (n.shift > 0)
        shifted = concat({zero(n.shift), y});
      return rtl::SubOp::create(b, loc, fit(shifted, nb.isSigned(), w),
                                fit(x, na.isSigned(), w));
    }
    if (n.shift >= w)
      return fit(x, na.isSigned(), w);
    // The low bits are those of a.
    int64_t upper = w - n.shift;
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

  Value compute(const Circuit::Node &n, int stage) {
    int64_t w = n.bits();
    auto sign = [&](int i) { return c.nodes[i].isSigned(); };
    switch (n.op) {
    case Op::Input:
      return extract(beat, n.value * c.inWidth, std::min(w, c.inWidth));
    case Op::Constant:
      return constant(n.value, w);
    case Op::Add:
    case Op::Sub:
    case Op::Rsub:
      return sum(n, stage);
    case Op::Floor:
      return above(at(n.a, stage), sign(n.a), n.shift, w);
    case Op::Even: {
      Value x = at(n.a, stage);
      Value low = fit(x, sign(n.a), n.shift);
      Value some = rtl::AtLeastOp::create(b, loc, b.getI1Type(), low, 1, false);
      Value bit =
          rtl::AndOp::create(b, loc, above(x, sign(n.a), n.shift, 1), some);
      if (w == 1)
        return bit;
      return concat({bit, above(x, sign(n.a), n.shift + 1, w - 1)});
    }
    case Op::AtLeast:
      return rtl::AtLeastOp::create(b, loc, b.getI1Type(), at(n.a, stage),
                                    n.value, sign(n.a));
    case Op::Select:
      return rtl::MuxOp::create(b, loc, at(n.a, stage),
                                fit(at(n.b, stage), sign(n.b), w),
                                fit(at(n.c, stage), sign(n.c), w));
    case Op::Table: {
      Value index = at(n.a, stage);
      assert(width(index) == c.nodes[n.a].bits());
      return rtl::LookupOp::create(b, loc, bits(w), index,
                                   b.getDenseI64ArrayAttr(c.entriesOf(n)));
    }
    }
    llvm_unreachable("every operation is handled");
  }
};
} // namespace

void emitCircuit(Region &region, const Circuit &circuit, int64_t budget,
                 Location loc) {
  Block &block = region.emplaceBlock();
  Builder b(region.getContext());
  block.addArgument(b.getI1Type(), loc);
  block.addArgument(
      b.getIntegerType(unsigned(circuit.inLanes * circuit.inWidth)), loc);
  Gates(circuit, budget, block, loc).run();
}
} // namespace rhizome::gen
