// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A product that one DSP block does not hold: pieces of both factors are
// multiplied, each pair in one block, and their products are added, lowest
// first. What is left of the first factor may be so narrow that it takes the
// block's narrow side, and the other factor is cut for the wide one; a pair of
// few bits is added up in logic. All are operations of the body, so the
// scheduler puts registers between blocks and adders where the clock needs
// them.
#include "Nest.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "rhizome/Cost/Structure.h"
#include "rhizome/Generator/Loops/KernelUnit.h"

using namespace mlir;

namespace rhizome::gen::loops {
namespace {
// Rows of a pair take about a LUT for each of its bits; large devices have
// more than a hundred LUTs for each block.
constexpr unsigned kLogic = 49;

/// The widths of the pieces of a signed number: each has `step` bits and a
/// sign, the last what is left.
std::vector<unsigned> widthsOf(unsigned width, unsigned step) {
  std::vector<unsigned> widths;
  for (; width > step + 1; width -= step)
    widths.push_back(step + 1);
  widths.push_back(width);
  return widths;
}

class Cutter {
public:
  Cutter(OpBuilder &b, Location loc) : b(b), loc(loc) {}

  /// A signed number of its own width, `offset` bits up.
  struct Term {
    Value value;
    unsigned offset = 0;
  };
  /// x in pieces of `step` bits, the last with x's sign. Each is signed.
  std::vector<Term> pieces(Value x, unsigned step);
  /// The low `bits` of x * y in blocks of these signed factors.
  Value product(Value x, Value y, unsigned wide, unsigned narrow,
                unsigned bits);

private:
  OpBuilder &b;
  Location loc;

  static unsigned widthOf(Value v) {
    return v.getType().getIntOrFloatBitWidth();
  }
  Value constant(unsigned bits, unsigned value) {
    return arith::ConstantOp::create(
        b, loc, b.getIntegerAttr(b.getIntegerType(bits), value));
  }
  /// The bits from `from` on, `bits` of them.
  Value slice(Value v, unsigned from, unsigned bits) {
    if (from)
      v = arith::ShRSIOp::create(b, loc, v, constant(widthOf(v), from));
    return bits == widthOf(v)
               ? v
               : arith::TruncIOp::create(b, loc, b.getIntegerType(bits), v);
  }
  Value fit(Value v, unsigned bits) {
    if (bits > widthOf(v))
      return arith::ExtSIOp::create(b, loc, b.getIntegerType(bits), v);
    return slice(v, 0, bits);
  }
  /// At most the low `bits` of a product.
  Value pair(Value x, Value y, unsigned bits);
  /// The same in logic: x for each bit of y, less for its sign.
  Value rows(Value x, Value y, unsigned bits);
  Term add(Term low, Term high, unsigned bits);
  Term sum(std::vector<Term> terms, unsigned bits);
};

std::vector<Cutter::Term> Cutter::pieces(Value x, unsigned step) {
  std::vector<Term> out;
  const std::vector<unsigned> widths = widthsOf(widthOf(x), step);
  unsigned at = 0;
  for (unsigned width : ArrayRef(widths).drop_back()) {
    out.push_back({arith::ExtUIOp::create(b, loc, b.getIntegerType(width),
                                          slice(x, at, step)),
                   at});
    at += step;
  }
  out.push_back({slice(x, at, widths.back()), at});
  return out;
}

Value Cutter::pair(Value x, Value y, unsigned bits) {
  if (widthOf(x) * widthOf(y) <= kLogic)
    return this->rows(x, y, bits);
  const unsigned width = std::min(bits, widthOf(x) + widthOf(y));
  return arith::MulIOp::create(
      b, loc, fit(slice(x, 0, std::min(bits, widthOf(x))), width),
      fit(slice(y, 0, std::min(bits, widthOf(y))), width));
}

Value Cutter::rows(Value x, Value y, unsigned bits) {
  if (widthOf(x) < widthOf(y))
    std::swap(x, y);
  const unsigned count = widthOf(y), width = std::min(bits, widthOf(x) + count);
  std::vector<Term> terms;
  for (unsigned i = 0; i < std::min(count, width); ++i) {
    Value bit = slice(slice(y, i, count - i), 0, 1);
    const bool isSign = i + 1 == count;
    // Of the sign's row all bits are read, so that the difference is exact.
    Value row = fit(x, isSign ? width - i : std::min(widthOf(x), width - i));
    Value none = constant(widthOf(row), 0);
    if (isSign)
      row = arith::SubIOp::create(b, loc, none, row);
    terms.push_back({arith::SelectOp::create(b, loc, bit, row, none), i});
  }
  return fit(sum(std::move(terms), width).value, width);
}

/// The bits of `low` below `high` pass. No bit from `bits` on is needed.
Cutter::Term Cutter::add(Term low, Term high, unsigned bits) {
  const unsigned apart = high.offset - low.offset;
  const unsigned most = bits - low.offset;
  if (apart >= most)
    return low;
  const unsigned width = std::min(
      most, std::max(widthOf(low.value), widthOf(high.value) + apart) + 1);
  Value over = fit(high.value, width - apart);
  if (apart == 0)
    return {arith::AddIOp::create(b, loc, fit(low.value, width), over),
            low.offset};
  Value bottom = fit(low.value, std::max(widthOf(low.value), apart + 1));
  Value top = fit(slice(bottom, apart, widthOf(bottom) - apart), width - apart);
  Value sum = arith::AddIOp::create(b, loc, top, over);
  Type type = b.getIntegerType(width);
  sum = arith::ShLIOp::create(b, loc, arith::ExtUIOp::create(b, loc, type, sum),
                              constant(width, apart));
  Value rest = arith::ExtUIOp::create(b, loc, type, slice(bottom, 0, apart));
  return {arith::OrIOp::create(b, loc, sum, rest), low.offset};
}

/// Neighbors are added in pairs.
Cutter::Term Cutter::sum(std::vector<Term> terms, unsigned bits) {
  while (terms.size() > 1) {
    std::vector<Term> next;
    for (size_t i = 0; i + 1 < terms.size(); i += 2)
      next.push_back(add(terms[i], terms[i + 1], bits));
    if (terms.size() % 2)
      next.push_back(terms.back());
    terms = std::move(next);
  }
  return terms[0];
}

Value Cutter::product(Value x, Value y, unsigned wide, unsigned narrow,
                      unsigned bits) {
  std::vector<Term> rows;
  for (const Term &left : pieces(x, wide - 1)) {
    std::vector<Term> row;
    const bool isNarrow = widthOf(left.value) <= narrow;
    for (const Term &right : pieces(y, (isNarrow ? wide : narrow) - 1)) {
      const unsigned offset = left.offset + right.offset;
      if (offset < bits)
        row.push_back({pair(left.value, right.value, bits - offset), offset});
    }
    if (!row.empty())
      rows.push_back(sum(std::move(row), bits));
  }
  return fit(sum(std::move(rows), bits).value, bits);
}

/// The factor before its sign was extended.
Value factorOf(Value v, OpBuilder &b) {
  if (auto extend = v.getDefiningOp<arith::ExtSIOp>())
    return factorOf(extend.getIn(), b);
  APInt value;
  if (!matchPattern(v, m_ConstantInt(&value)))
    return v;
  value = value.trunc(value.getSignificantBits());
  return arith::ConstantOp::create(
      b, v.getLoc(),
      b.getIntegerAttr(b.getIntegerType(value.getBitWidth()), value));
}
} // namespace

/// Whether the second factor is the one that is cut for the wide side.
static bool isTurned(int64_t x, int64_t y, const CostContext &context) {
  auto count = [](int64_t width, int64_t most) {
    return width <= most ? 1 : cost::ceilDiv(width - 1, most - 1);
  };
  const int64_t wide = context.dspWide, narrow = context.dspNarrow;
  return count(x, narrow) * count(y, wide) < count(x, wide) * count(y, narrow);
}

static bool hasBlocks(const CostContext &context) {
  return context.dspWide >= 2 && context.dspNarrow >= 2;
}

/// Blocks of a product of signed numbers of which so many bits are kept.
static int64_t blocksOfWidth(unsigned width, unsigned kept,
                             const CostContext &context) {
  const unsigned wide = unsigned(context.dspWide),
                 narrow = unsigned(context.dspNarrow);
  if (width <= narrow)
    return 1;
  int64_t blocks = 0;
  for (auto [i, left] : llvm::enumerate(widthsOf(width, wide - 1))) {
    const unsigned step = (left <= narrow ? wide : narrow) - 1;
    for (auto [j, right] : llvm::enumerate(widthsOf(width, step)))
      blocks += left * right > kLogic &&
                unsigned(i) * (wide - 1) + unsigned(j) * step < kept;
  }
  return blocks;
}

int64_t blocksOfProduct(const numeric::Format &format, bool isWhole,
                        const CostContext &context) {
  if (!hasBlocks(context))
    return 0;
  if (format.isFixed()) {
    const unsigned width = unsigned(format.width() + !format.isSigned);
    return blocksOfWidth(
        width, isWhole ? 2 * width : width + unsigned(format.fractionBits),
        context);
  }
  const floats::Operator product(
      numeric::Function::Mul,
      numeric::Arithmetic(format, numeric::Rounding::NearestEven,
                          numeric::Overflow::Infinity));
  if (!product.isBuilt())
    return blocksOfWidth(unsigned(format.mantissaBits + 2),
                         2 * unsigned(format.mantissaBits + 2), context);
  MLIRContext own(MLIRContext::Threading::DISABLED);
  own.loadDialect<rtl::RtlDialect>();
  constexpr int64_t kLevels = 8; // between registers, which take no blocks
  floats::Operators operators(&own, cost::LogicPace(32 * kLevels), context);
  return int64_t(
      structureOfOperator(operators.of(product).module, context).exact.dsp());
}

void cutProducts(linalg::GenericOp op, const CostContext &context) {
  if (!hasBlocks(context))
    return;
  std::vector<arith::MulIOp> products(
      op.getBody()->getOps<arith::MulIOp>().begin(),
      op.getBody()->getOps<arith::MulIOp>().end());
  for (arith::MulIOp product : products) {
    OpBuilder b(product);
    Value x = factorOf(product.getLhs(), b), y = factorOf(product.getRhs(), b);
    auto widthOf = [](Value v) {
      return int64_t(v.getType().getIntOrFloatBitWidth());
    };
    if (isTurned(widthOf(x), widthOf(y), context))
      std::swap(x, y);
    const int64_t wide = context.dspWide, narrow = context.dspNarrow;
    if (widthOf(x) <= wide && widthOf(y) <= narrow)
      continue;
    Cutter cutter(b, product.getLoc());
    Value sum = cutter.product(x, y, unsigned(wide), unsigned(narrow),
                               product.getType().getIntOrFloatBitWidth());
    product.getResult().replaceAllUsesWith(sum);
    product.erase();
  }
}
} // namespace rhizome::gen::loops
