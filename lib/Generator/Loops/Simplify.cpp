// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Bodies of nests before they are scheduled: constants are inside and folded,
// the remainders of roundings are the bits that they are, and every value has
// only the low bits that something reads. Results do not change.
#include "Nest.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace rhizome::gen::loops {
/// Copies constants from outside into the body.
static void takeConstants(Block &body) {
  for (Operation &op : llvm::make_early_inc_range(body))
    for (OpOperand &operand : op.getOpOperands()) {
      Operation *made = operand.get().getDefiningOp();
      if (!made || made->getBlock() == &body || !isa<arith::ConstantOp>(made) ||
          isa<ShapedType>(operand.get().getType()))
        continue;
      OpBuilder b(&op);
      operand.set(b.clone(*made)->getResult(0));
    }
}

/// Replaces operations that fold, to constants or to other values.
static void foldBody(Block &body) {
  for (Operation &op : llvm::make_early_inc_range(body)) {
    if (isa<arith::ConstantOp>(op) || op.getNumResults() != 1)
      continue;
    SmallVector<OpFoldResult> results;
    OpBuilder b(&op);
    if (auto call = dyn_cast<func::CallOp>(op)) {
      SmallVector<Attribute> operands(call.getNumOperands());
      for (auto [v, known] : llvm::zip(call.getOperands(), operands))
        matchPattern(v, m_Constant(&known));
      if (auto value = evaluateCall(call, operands))
        call.getResult(0).replaceAllUsesWith(arith::ConstantOp::create(
            b, op.getLoc(),
            b.getIntegerAttr(call.getResult(0).getType(), *value)));
      continue;
    }
    if (failed(op.fold(results)) || results.size() != 1)
      continue;
    Value value = dyn_cast<Value>(results[0]);
    if (!value)
      if (auto constant = dyn_cast<TypedAttr>(cast<Attribute>(results[0])))
        value = arith::ConstantOp::create(b, op.getLoc(), constant);
    if (!value || value == op.getResult(0))
      continue;
    op.getResult(0).replaceAllUsesWith(value);
  }
}

static void removeUnused(Block &body) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(body)))
    // Calls only compute.
    if (isOpTriviallyDead(&op) || (isa<func::CallOp>(op) && op.use_empty()))
      op.erase();
}

static unsigned widthOf(Value v) { return v.getType().getIntOrFloatBitWidth(); }

/// The value of a constant.
static std::optional<APInt> known(Value v) {
  APInt value;
  if (matchPattern(v, m_ConstantInt(&value)))
    return value;
  return std::nullopt;
}

/// A shift's distance, if it is a constant within the width.
static std::optional<unsigned> distance(Operation &op) {
  auto by = known(op.getOperand(1));
  if (!by || by->uge(by->getBitWidth()))
    return std::nullopt;
  return unsigned(by->getZExtValue());
}

static Value constant(OpBuilder &b, Location loc, const APInt &value) {
  return arith::ConstantOp::create(
      b, loc, b.getIntegerAttr(b.getIntegerType(value.getBitWidth()), value));
}

//===----------------------------------------------------------------------===//
// Roundings
//===----------------------------------------------------------------------===//

/// x - ((x >> n) << n), the low n bits of x: gives x and n.
static std::optional<std::pair<Value, unsigned>> remainder(Value v) {
  auto difference = v.getDefiningOp<arith::SubIOp>();
  if (!difference)
    return std::nullopt;
  auto whole = difference.getRhs().getDefiningOp<arith::ShLIOp>();
  auto floor = whole ? whole.getLhs().getDefiningOp<arith::ShRSIOp>() : nullptr;
  if (!floor || floor.getLhs() != difference.getLhs())
    return std::nullopt;
  auto up = distance(*whole), down = distance(*floor);
  if (!up || !down || *up != *down || *up == 0)
    return std::nullopt;
  return std::pair(difference.getLhs(), *up);
}

/// Comparisons of low bits with constants, in as many bits. Operands that are
/// not negative are compared without a sign.
static void simplifyCompare(arith::CmpIOp op) {
  using P = arith::CmpIPredicate;
  const P p = op.getPredicate();
  if (p == P::slt || p == P::sle || p == P::sgt || p == P::sge)
    return;
  auto bound = known(op.getRhs());
  if (!bound)
    return;
  Value low = op.getLhs();
  APInt limit = *bound;
  unsigned bits = 0;
  // Twice the remainder against twice a half.
  if (auto twice = low.getDefiningOp<arith::ShLIOp>()) {
    auto by = distance(*twice);
    auto rest = remainder(twice.getLhs());
    if (!by || *by != 1 || !rest || limit[0] ||
        rest->second + 2 > limit.getBitWidth())
      return;
    low = rest->first;
    bits = rest->second;
    limit = limit.lshr(1);
  } else if (auto rest = remainder(low)) {
    std::tie(low, bits) = *rest;
  } else if (auto masked = low.getDefiningOp<arith::AndIOp>()) {
    auto mask = known(masked.getRhs());
    if (!mask || !mask->isMask())
      return;
    low = masked.getLhs();
    bits = mask->countr_one();
  }
  if (bits == 0 || bits >= limit.getBitWidth() || limit.getActiveBits() > bits)
    return;
  OpBuilder b(op);
  limit = limit.trunc(bits);
  // No bits are above all ones, or below zero: what follows needs no time then.
  const bool isAtEnd = p == P::ugt || p == P::ule   ? limit.isAllOnes()
                       : p == P::ult || p == P::uge ? limit.isZero()
                                                    : false;
  if (isAtEnd) {
    const bool isTrue = p == P::ule || p == P::uge;
    op.getResult().replaceAllUsesWith(
        constant(b, op.getLoc(), APInt(1, isTrue)));
    return;
  }
  Value x =
      arith::TruncIOp::create(b, op.getLoc(), b.getIntegerType(bits), low);
  Value same = arith::CmpIOp::create(b, op.getLoc(), p, x,
                                     constant(b, op.getLoc(), limit));
  op.getResult().replaceAllUsesWith(same);
}

/// A product with a constant is shifted by its zeros at the bottom, which are
/// all of it if it is a power of two.
static void simplifyProduct(arith::MulIOp op) {
  auto factor = known(op.getRhs());
  Value x = op.getLhs();
  if (!factor) {
    factor = known(x);
    x = op.getRhs();
  }
  if (!factor || factor->isZero() || (*factor)[0])
    return;
  OpBuilder b(op);
  const unsigned zeros = factor->countr_zero();
  APInt odd = factor->ashr(zeros);
  if (!odd.isOne())
    x = arith::MulIOp::create(b, op.getLoc(), x, constant(b, op.getLoc(), odd));
  Value by = constant(b, op.getLoc(), APInt(factor->getBitWidth(), zeros));
  Value shifted = arith::ShLIOp::create(b, op.getLoc(), x, by);
  op.getResult().replaceAllUsesWith(shifted);
}

/// Up and down by the same distance, as numbers that wrap are computed: the
/// sign of the bits that are left. Products see how many these are.
static void simplifyWrap(arith::ShRSIOp op) {
  auto up = op.getLhs().getDefiningOp<arith::ShLIOp>();
  auto left = up ? distance(*up) : std::nullopt, right = distance(*op);
  if (!left || left != right || *left == 0)
    return;
  OpBuilder b(op);
  Value kept = arith::TruncIOp::create(
      b, op.getLoc(), b.getIntegerType(widthOf(op.getResult()) - *left),
      up.getLhs());
  Value wide = arith::ExtSIOp::create(b, op.getLoc(), op.getType(), kept);
  op.getResult().replaceAllUsesWith(wide);
}

//===----------------------------------------------------------------------===//
// Widths
//===----------------------------------------------------------------------===//

namespace {
/// Gives every value only the low bits that are read.
class Narrow {
public:
  explicit Narrow(Block &body) : body(body) {}
  void run();

private:
  Block &body;
  DenseMap<Value, unsigned> read;  ///< low bits
  DenseMap<Value, Value> narrowed; ///< to as many
  DenseMap<std::pair<Value, unsigned>, Value> parts;

  void readOperands(Operation &op);
  void readLow(Value v, unsigned bits) {
    unsigned &most = read[v];
    most = std::max(most, std::min(bits, widthOf(v)));
  }
  /// The low bits of an original value.
  Value low(OpBuilder &b, Value v, unsigned bits);
  Value again(OpBuilder &b, Operation &op, unsigned bits);
};

void Narrow::readOperands(Operation &op) {
  const unsigned bits =
      op.getNumResults() == 1 ? read.lookup(op.getResult(0)) : 0;
  if (isa<arith::AddIOp, arith::SubIOp, arith::MulIOp, arith::AndIOp,
          arith::OrIOp, arith::XOrIOp, arith::TruncIOp, arith::ExtSIOp,
          arith::ExtUIOp>(op)) {
    for (Value v : op.getOperands())
      readLow(v, bits);
    return;
  }
  if (isa<arith::SelectOp>(op)) {
    readLow(op.getOperand(0), 1);
    readLow(op.getOperand(1), bits);
    readLow(op.getOperand(2), bits);
    return;
  }
  if (isa<arith::ShLIOp, arith::ShRSIOp, arith::ShRUIOp>(op))
    if (auto by = distance(op)) {
      readLow(op.getOperand(0), isa<arith::ShLIOp>(op)
                                    ? (bits > *by ? bits - *by : 1)
                                    : bits + *by);
      return;
    }
  for (Value v : op.getOperands())
    if (v.getType().isSignlessInteger())
      readLow(v, widthOf(v));
}

Value Narrow::low(OpBuilder &b, Value v, unsigned bits) {
  if (auto it = narrowed.find(v); it != narrowed.end())
    v = it->second;
  if (widthOf(v) == bits)
    return v;
  Value &part = parts[{v, bits}];
  if (!part) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointAfterValue(v);
    part = arith::TruncIOp::create(b, v.getLoc(), b.getIntegerType(bits), v);
  }
  return part;
}

/// The same operation in fewer bits; null if it needs all.
Value Narrow::again(OpBuilder &b, Operation &op, unsigned bits) {
  Location loc = op.getLoc();
  Type type = b.getIntegerType(bits);
  auto both = [&](auto tag) -> Value {
    return decltype(tag)::create(b, loc, low(b, op.getOperand(0), bits),
                                 low(b, op.getOperand(1), bits));
  };
  if (auto value = known(op.getResult(0)))
    return constant(b, loc, value->trunc(bits));
  if (isa<arith::AddIOp>(op))
    return both(arith::AddIOp());
  if (isa<arith::SubIOp>(op))
    return both(arith::SubIOp());
  if (isa<arith::MulIOp>(op))
    return both(arith::MulIOp());
  if (isa<arith::AndIOp>(op))
    return both(arith::AndIOp());
  if (isa<arith::OrIOp>(op))
    return both(arith::OrIOp());
  if (isa<arith::XOrIOp>(op))
    return both(arith::XOrIOp());
  if (isa<arith::SelectOp>(op))
    return arith::SelectOp::create(b, loc, low(b, op.getOperand(0), 1),
                                   low(b, op.getOperand(1), bits),
                                   low(b, op.getOperand(2), bits));
  if (isa<arith::TruncIOp>(op))
    return low(b, op.getOperand(0), bits);
  if (isa<arith::ExtSIOp, arith::ExtUIOp>(op)) {
    unsigned from = widthOf(op.getOperand(0));
    if (bits <= from)
      return low(b, op.getOperand(0), bits);
    Value in = low(b, op.getOperand(0), from);
    return isa<arith::ExtSIOp>(op)
               ? Value(arith::ExtSIOp::create(b, loc, type, in))
               : Value(arith::ExtUIOp::create(b, loc, type, in));
  }
  auto by = isa<arith::ShLIOp, arith::ShRSIOp, arith::ShRUIOp>(op)
                ? distance(op)
                : std::nullopt;
  if (!by)
    return {};
  if (isa<arith::ShLIOp>(op)) {
    if (bits <= *by)
      return constant(b, loc, APInt(bits, 0));
    Value in = low(b, op.getOperand(0), bits - *by);
    if (*by == 0)
      return in;
    in = arith::ExtUIOp::create(b, loc, type, in);
    return arith::ShLIOp::create(b, loc, in,
                                 constant(b, loc, APInt(bits, *by)));
  }
  const unsigned from = std::min(widthOf(op.getOperand(0)), bits + *by);
  Value in = low(b, op.getOperand(0), from);
  if (*by == 0)
    return in;
  Value by_ = constant(b, loc, APInt(from, *by));
  Value moved = isa<arith::ShRSIOp>(op)
                    ? Value(arith::ShRSIOp::create(b, loc, in, by_))
                    : Value(arith::ShRUIOp::create(b, loc, in, by_));
  return arith::TruncIOp::create(b, loc, type, moved);
}

void Narrow::run() {
  for (Operation &op : llvm::reverse(body))
    readOperands(op);
  for (Operation &op : llvm::make_early_inc_range(body)) {
    if (op.getNumResults() != 1 ||
        !op.getResult(0).getType().isSignlessInteger())
      continue;
    Value result = op.getResult(0);
    const unsigned bits = read.lookup(result);
    // These may read fewer bits than their operand has, though all of theirs
    // are read.
    const bool isWhole = bits == widthOf(result);
    if (bits == 0 || (isWhole && !isa<arith::TruncIOp, arith::ShLIOp>(op)))
      continue;
    OpBuilder b(&op);
    Value same = again(b, op, bits);
    if (!same)
      continue;
    narrowed[result] = same;
    if (isWhole)
      result.replaceAllUsesWith(same);
  }
}
} // namespace

void simplify(linalg::GenericOp op) {
  Block &body = *op.getBody();
  takeConstants(body);
  foldBody(body);
  for (auto compare : llvm::make_early_inc_range(body.getOps<arith::CmpIOp>()))
    simplifyCompare(compare);
  for (auto product : llvm::make_early_inc_range(body.getOps<arith::MulIOp>()))
    simplifyProduct(product);
  for (auto shift : llvm::make_early_inc_range(body.getOps<arith::ShRSIOp>()))
    simplifyWrap(shift);
  removeUnused(body);
  Narrow(body).run();
  foldBody(body);
  removeUnused(body);
}
} // namespace rhizome::gen::loops
