// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What code must not do, whoever has written the function: read or write
// outside of a buffer, call what is not its own, or divide where a processor
// traps. Accesses whose indices show that they stay inside are left alone;
// before the others stands a check (host::Check), which a model's own checks
// make redundant.
#include "Buffers.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "rhizome/Dialect/Marks/Marks.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace rhizome;

namespace {
/// The least and the greatest value of an integer.
struct Span {
  int64_t lo = INT64_MIN, hi = INT64_MAX;

  bool isWithin(int64_t least, int64_t most) const {
    return lo >= least && hi <= most;
  }
  Span both(const Span &other) const {
    Span found{std::max(lo, other.lo), std::min(hi, other.hi)};
    return found.lo <= found.hi ? found : Span{lo, lo}; // never reached
  }
  Span either(const Span &other) const {
    return {std::min(lo, other.lo), std::max(hi, other.hi)};
  }
};

/// What is known of integers where they are used.
class Spans {
public:
  Span of(Value v) {
    left = kMostSteps;
    return spanOf(v, {});
  }

private:
  using Facts = SmallVector<std::pair<Value, Span>>;
  static constexpr int kMostSteps = 2000;
  int left = 0; ///< choices in choices would take exponential time

  /// Adds what a condition says where it holds, or where it does not.
  void learn(Value condition, bool holds, Facts &facts);
  Span spanOf(Value v, const Facts &facts);
  Span computed(Value v, const Facts &facts);
};
} // namespace

static unsigned widthOf(Type type) {
  return type.isIntOrFloat() ? type.getIntOrFloatBitWidth() : 64;
}

static Span ofWidth(Type type) {
  const unsigned width = std::min(64u, widthOf(type));
  return {llvm::minIntN(width), llvm::maxIntN(width)};
}

void Spans::learn(Value condition, bool holds, Facts &facts) {
  if (auto both = condition.getDefiningOp<arith::AndIOp>(); both && holds) {
    learn(both.getLhs(), true, facts);
    learn(both.getRhs(), true, facts);
    return;
  }
  auto compare = condition.getDefiningOp<arith::CmpIOp>();
  if (!compare)
    return;
  using P = arith::CmpIPredicate;
  P p = compare.getPredicate();
  if (!holds)
    p = arith::invertPredicate(p);
  Value a = compare.getLhs(), b = compare.getRhs();
  if (p == P::sgt || p == P::sge) {
    std::swap(a, b);
    p = p == P::sgt ? P::slt : P::sle;
  }
  const Span x = spanOf(a, facts), y = spanOf(b, facts);
  if (p == P::eq) {
    facts.emplace_back(a, y);
    facts.emplace_back(b, x);
  }
  if (p != P::slt && p != P::sle)
    return;
  const int64_t apart = p == P::slt;
  Span less, more;
  if (!llvm::SubOverflow(y.hi, apart, less.hi))
    facts.emplace_back(a, less);
  if (!llvm::AddOverflow(x.lo, apart, more.lo))
    facts.emplace_back(b, more);
}

Span Spans::spanOf(Value v, const Facts &facts) {
  const Span all = ofWidth(v.getType());
  Span found = all;
  // What is beyond the type wraps.
  if (left-- > 0)
    if (const Span span = computed(v, facts); span.isWithin(all.lo, all.hi))
      found = span;
  for (const auto &[known, span] : facts)
    if (known == v)
      found = found.both(span);
  return found;
}

/// c − x, with its constant, as it stands in `v`.
static std::optional<int64_t> mirrored(Value v, Value x) {
  auto difference = v.getDefiningOp<arith::SubIOp>();
  APInt c;
  if (difference && difference.getRhs() == x &&
      matchPattern(difference.getLhs(), m_ConstantInt(&c)))
    return c.getSExtValue();
  return std::nullopt;
}

Span Spans::computed(Value v, const Facts &facts) {
  if (auto trip = dyn_cast<BlockArgument>(v)) {
    if (auto affine =
            dyn_cast<affine::AffineForOp>(trip.getOwner()->getParentOp());
        affine && v == affine.getInductionVar() && affine.hasConstantBounds())
      return affine.getConstantUpperBound() > affine.getConstantLowerBound()
                 ? Span{affine.getConstantLowerBound(),
                        affine.getConstantUpperBound() - 1}
                 : Span();
    auto loop = dyn_cast<scf::ForOp>(trip.getOwner()->getParentOp());
    if (!loop || v != loop.getInductionVar())
      return {};
    const Span from = spanOf(loop.getLowerBound(), {}),
               to = spanOf(loop.getUpperBound(), {}),
               step = spanOf(loop.getStep(), {});
    int64_t last = 0;
    const bool goesUp = from.lo >= 0 && to.lo >= 0 && step.lo > 0 &&
                        !llvm::AddOverflow(to.hi, step.hi, last);
    return goesUp && to.hi > from.lo ? Span{from.lo, to.hi - 1} : Span();
  }
  Operation *op = v.getDefiningOp();
  APInt c;
  if (matchPattern(op, m_ConstantInt(&c)))
    return c.getSignificantBits() <= 64
               ? Span{c.getSExtValue(), c.getSExtValue()}
               : Span();
  if (auto index = dyn_cast<linalg::IndexOp>(op)) {
    auto loop = cast<linalg::LinalgOp>(op->getParentOp());
    const int64_t extent = loop.getStaticLoopRanges()[index.getDim()];
    return extent > 0 ? Span{0, extent - 1} : Span();
  }
  auto operand = [&](unsigned i) { return spanOf(op->getOperand(i), facts); };
  Span all;
  return llvm::TypeSwitch<Operation *, Span>(op)
      .Case<arith::IndexCastOp, arith::ExtSIOp>(
          [&](auto) { return operand(0); })
      .Case<arith::ExtUIOp>([&](auto extend) {
        const unsigned width = extend.getIn().getType().getIntOrFloatBitWidth();
        return width < 63 ? Span{0, (int64_t(1) << width) - 1} : Span();
      })
      .Case<arith::AddIOp>([&](auto) {
        const Span a = operand(0), b = operand(1);
        return llvm::AddOverflow(a.lo, b.lo, all.lo) ||
                       llvm::AddOverflow(a.hi, b.hi, all.hi)
                   ? Span()
                   : all;
      })
      .Case<arith::SubIOp>([&](auto) {
        const Span a = operand(0), b = operand(1);
        return llvm::SubOverflow(a.lo, b.hi, all.lo) ||
                       llvm::SubOverflow(a.hi, b.lo, all.hi)
                   ? Span()
                   : all;
      })
      .Case<arith::MulIOp>([&](auto) {
        const Span a = operand(0), b = operand(1);
        all = {INT64_MAX, INT64_MIN};
        for (int64_t x : {a.lo, a.hi})
          for (int64_t y : {b.lo, b.hi}) {
            int64_t product = 0;
            if (llvm::MulOverflow(x, y, product))
              return Span();
            all = all.either({product, product});
          }
        return all;
      })
      .Case<arith::DivSIOp, arith::RemSIOp>([&](auto) {
        const Span a = operand(0), b = operand(1);
        if (b.lo != b.hi || b.lo < 1)
          return Span();
        if (isa<arith::DivSIOp>(op))
          return Span{a.lo / b.lo, a.hi / b.lo};
        return Span{a.lo < 0 ? 1 - b.lo : 0, a.hi > 0 ? b.lo - 1 : 0};
      })
      .Case<arith::MinSIOp>([&](auto least) {
        const Span a = operand(0), b = operand(1);
        all = {std::min(a.lo, b.lo), std::min(a.hi, b.hi)};
        // Of c − x and x, one is c / 2 at most.
        for (auto [x, other] : {std::pair(least.getLhs(), least.getRhs()),
                                {least.getRhs(), least.getLhs()}})
          if (std::optional<int64_t> sum = mirrored(other, x); sum && *sum >= 0)
            all.hi = std::min(all.hi, *sum / 2);
        return all;
      })
      .Case<arith::MaxSIOp>([&](auto) {
        const Span a = operand(0), b = operand(1);
        return Span{std::max(a.lo, b.lo), std::max(a.hi, b.hi)};
      })
      .Case<arith::SelectOp>([&](auto choice) {
        Facts yes = facts, no = facts;
        learn(choice.getCondition(), true, yes);
        learn(choice.getCondition(), false, no);
        return spanOf(choice.getTrueValue(), yes)
            .either(spanOf(choice.getFalseValue(), no));
      })
      .Default([](Operation *) { return Span(); });
}

//===----------------------------------------------------------------------===//
// Guards
//===----------------------------------------------------------------------===//

namespace {
/// Guards the accesses of one function.
class Guards {
public:
  Guards(func::FuncOp func, bool mayCheck) : func(func), mayCheck(mayCheck) {}
  LogicalResult run();

private:
  bool isKnown(Operation *op) const;
  LogicalResult checkKnown(Operation *op);
  LogicalResult checkAllocation(Operation *op);
  LogicalResult checkFreed(memref::DeallocOp op);
  LogicalResult guardAccess(Operation *op, Value memref,
                            MutableOperandRange indices);
  LogicalResult guardView(memref::SubViewOp op);
  void guardDivision(Operation *op);
  LogicalResult guard(OpOperand &operand, int64_t most);
  void define(Value v);

  func::FuncOp func;
  bool mayCheck;
  Spans spans;
  DenseSet<Value> defined;
  int64_t stackBytes = 0;
};
} // namespace

/// All that is written by others before it comes here, and no more: other
/// operations make memory of pointers, or pointers of memory.
bool Guards::isKnown(Operation *op) const {
  if (isa_and_nonnull<arith::ArithDialect, math::MathDialect,
                      linalg::LinalgDialect>(op->getDialect()) ||
      isa<func::FuncOp, func::ReturnOp, scf::ForOp, scf::IfOp, scf::WhileOp,
          scf::YieldOp, scf::ConditionOp, affine::AffineApplyOp,
          affine::AffineMinOp, affine::AffineMaxOp, memref::AllocOp,
          memref::AllocaOp, memref::LoadOp, memref::StoreOp, memref::CopyOp,
          memref::SubViewOp, memref::CollapseShapeOp, memref::ExpandShapeOp>(
          op))
    return true;
  if (mayCheck)
    return false;
  // Of kernels, whose affine accesses are checked where they are read.
  if (auto call = dyn_cast<func::CallOp>(op))
    return call.getCallee().starts_with("rhizome_num_");
  return isa<affine::AffineForOp, affine::AffineIfOp, affine::AffineYieldOp,
             affine::AffineLoadOp, affine::AffineStoreOp, memref::DeallocOp>(
      op);
}

LogicalResult Guards::checkKnown(Operation *op) {
  if (!isKnown(op))
    return op->emitOpError("has no code on the CPU path");
  for (Type type : op->getResultTypes())
    if (auto shaped = dyn_cast<ShapedType>(type);
        shaped && !shaped.hasStaticShape())
      return op->emitOpError("gives memory of unknown size");
  // What promises that numbers do not overflow, or lie well in memory.
  if (auto wraps = dyn_cast<arith::ArithIntegerOverflowFlagsInterface>(op))
    op->setAttr(wraps.getIntegerOverflowAttrName(),
                arith::IntegerOverflowFlagsAttr::get(
                    op->getContext(), arith::IntegerOverflowFlags::none));
  for (StringRef promise : {"isExact", "exact", "nonNeg", "nneg", "alignment"})
    if (!isa<memref::AllocOp, memref::AllocaOp>(op) && op->getAttr(promise))
      op->removeAttr(promise);
  return success();
}

/// Made once, in front of all loops, and on the stack no more than it holds.
LogicalResult Guards::checkAllocation(Operation *op) {
  constexpr int64_t kMostOnStack = 1 << 20, kMost = int64_t(1) << 36;
  auto type = cast<MemRefType>(op->getResult(0).getType());
  const int64_t bytes =
      type.getNumElements() * ((widthOf(type.getElementType()) + 7) / 8);
  if (op->getParentOp() != func)
    return op->emitOpError("makes memory inside of a loop");
  if (type.getNumElements() > kMost || !type.getLayout().isIdentity())
    return op->emitOpError("makes too much memory");
  if (isa<memref::AllocaOp>(op) && (stackBytes += bytes) > kMostOnStack)
    return op->emitOpError("makes more memory than the stack has; "
                           "memref.alloc makes it elsewhere");
  return success();
}

/// Memory is freed that the function has made, once and last.
LogicalResult Guards::checkFreed(memref::DeallocOp op) {
  Value memory = op.getMemref();
  auto made = memory.getDefiningOp<memref::AllocOp>();
  if (made && made->getBlock() == op->getBlock() &&
      llvm::all_of(memory.getUsers(), [&](Operation *user) {
        return user == op ||
               (isa<memref::LoadOp, memref::StoreOp, memref::CopyOp,
                    affine::AffineLoadOp, affine::AffineStoreOp,
                    linalg::LinalgOp>(user) &&
                op->getBlock()->findAncestorOpInBlock(*user)->isBeforeInBlock(
                    op));
      }))
    return success();
  return op.emitOpError("frees memory that is not this function's, or is "
                        "used");
}

/// Lets an index be one number, which LLVM may not take for any: conversions
/// and shifts of what they are not defined for, and memory that nothing has
/// written, give such numbers.
void Guards::define(Value v) {
  const bool isIndex = v.getType().isIndex();
  if ((!isIndex && !isa<IntegerType>(v.getType())) || !defined.insert(v).second)
    return;
  Operation *op = v.getDefiningOp();
  const bool isArithmetic =
      op && isa_and_nonnull<arith::ArithDialect, affine::AffineDialect>(
                op->getDialect());
  if (isArithmetic && !isa<arith::FPToSIOp, arith::FPToUIOp, arith::ShLIOp,
                           arith::ShRSIOp, arith::ShRUIOp, arith::CmpFOp>(op)) {
    for (Value operand : op->getOperands())
      define(operand);
    return;
  }
  // The number of a trip is one.
  auto argument = dyn_cast<BlockArgument>(v);
  if (isa_and_nonnull<linalg::IndexOp>(op) ||
      (argument && argument.getArgNumber() == 0 &&
       isa<scf::ForOp, affine::AffineForOp>(
           argument.getOwner()->getParentOp())))
    return;
  OpBuilder b(func.getContext());
  b.setInsertionPointAfterValue(v);
  Location loc = v.getLoc();
  SmallPtrSet<Operation *, 4> own;
  Value word = v;
  if (isIndex) {
    word = arith::IndexCastOp::create(b, loc, b.getI64Type(), v);
    own.insert(word.getDefiningOp());
  }
  Value frozen = LLVM::FreezeOp::create(b, loc, word);
  own.insert(frozen.getDefiningOp());
  if (isIndex) {
    frozen = arith::IndexCastOp::create(b, loc, v.getType(), frozen);
    own.insert(frozen.getDefiningOp());
  }
  v.replaceUsesWithIf(
      frozen, [&](OpOperand &use) { return !own.contains(use.getOwner()); });
}

/// Lets an operand be an index from 0 to `most`, by a check where that is not
/// known; fails if there may be none.
LogicalResult Guards::guard(OpOperand &operand, int64_t most) {
  Operation *op = operand.getOwner();
  define(operand.get());
  Value index = operand.get();
  if (spans.of(index).isWithin(0, most))
    return success();
  Location loc = op->getLoc();
  if (!mayCheck) {
    op->emitOpError("may read or write outside of its tensor: an index is not "
                    "known to be from 0 to ")
        << most;
    return failure();
  }
  OpBuilder b(op);
  Value inside = host::Scalars(b, loc).within(
      arith::IndexCastOp::create(b, loc, b.getI64Type(), index), 0, most,
      "index");
  operand.set(arith::IndexCastOp::create(b, loc, b.getIndexType(), inside));
  return success();
}

LogicalResult Guards::guardAccess(Operation *op, Value memref,
                                  MutableOperandRange indices) {
  ArrayRef<int64_t> shape = cast<MemRefType>(memref.getType()).getShape();
  if (auto loop = dyn_cast<linalg::LinalgOp>(op->getParentOp());
      loop && llvm::is_contained(loop.getStaticLoopRanges(), 0))
    return success(); // without a trip
  // A record of checks would be made between tasks, where there are tensors
  // only.
  if (mayCheck && op->getParentOp() == func)
    return op->emitOpError("reads or writes an element outside of a loop");
  for (auto [operand, size] : llvm::zip_equal(indices, shape)) {
    if (ShapedType::isDynamic(size) || size < 1)
      return op->emitOpError("reads or writes memory without a size");
    if (failed(guard(operand, size - 1)))
      return failure();
  }
  return success();
}

/// The part that a view shows begins where all of it is inside.
LogicalResult Guards::guardView(memref::SubViewOp op) {
  ArrayRef<int64_t> shape = op.getSourceType().getShape();
  unsigned computed = 0;
  for (auto [d, begin, size, stride] : llvm::enumerate(
           op.getStaticOffsets(), op.getStaticSizes(), op.getStaticStrides())) {
    if (ShapedType::isDynamic(size) || ShapedType::isDynamic(stride) ||
        ShapedType::isDynamic(shape[d]))
      return op.emitOpError("has a size that is not known");
    int64_t reach = 0; // from the first place to the last
    const bool isComputed = ShapedType::isDynamic(begin);
    if (size > 0 && llvm::MulOverflow(size - 1, stride, reach))
      return op.emitOpError("reads or writes outside of a tensor");
    const int64_t least = std::max<int64_t>(0, reach < 0 ? -reach : 0),
                  most = shape[d] - 1 - std::max<int64_t>(0, reach);
    if (size > 0 &&
        (most < least || (!isComputed && (begin < least || begin > most))))
      return op.emitOpError("reads or writes outside of a tensor");
    if (!isComputed)
      continue;
    if (mayCheck && op->getParentOp() == func)
      return op.emitOpError("begins at a place that is computed outside of a "
                            "loop");
    if (least > 0)
      return op.emitOpError("reads backwards from a place that is computed");
    if (failed(guard(op.getOffsetsMutable()[computed++],
                     std::max<int64_t>(0, most))))
      return failure();
  }
  return success();
}

/// Quotients and remainders of what a processor traps at: 0 of a divisor of 0,
/// as the interpreter has it, and what wraps of the least integer and −1.
void Guards::guardDivision(Operation *op) {
  Value a = op->getOperand(0), d = op->getOperand(1);
  const bool isSigned = isa<arith::DivSIOp, arith::RemSIOp, arith::CeilDivSIOp,
                            arith::FloorDivSIOp>(op);
  const Span divisor = spans.of(d);
  if (divisor.lo > 0 || (divisor.hi < (isSigned ? -1 : 0)))
    return;
  OpBuilder b(op);
  Location loc = op->getLoc();
  auto number = [&](int64_t v) -> Value {
    return arith::ConstantOp::create(b, loc, b.getIntegerAttr(d.getType(), v));
  };
  auto isEqual = [&](int64_t v) -> Value {
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, d,
                                 number(v));
  };
  Value byZero = isEqual(0), special = byZero, byMinusOne;
  if (isSigned) {
    byMinusOne = isEqual(-1);
    special = arith::OrIOp::create(b, loc, byZero, byMinusOne);
  }
  op->setOperand(1, arith::SelectOp::create(b, loc, special, number(1), d));
  b.setInsertionPointAfter(op);
  Value result = op->getResult(0), zero = number(0), fixed = result;
  if (isSigned && !isa<arith::RemSIOp>(op))
    fixed = arith::SelectOp::create(
        b, loc, byMinusOne, arith::SubIOp::create(b, loc, zero, a), fixed);
  fixed = arith::SelectOp::create(b, loc, byZero, zero, fixed);
  llvm::SmallPtrSet<Operation *, 4> own;
  for (Operation *at = op->getNextNode();
       at != fixed.getDefiningOp()->getNextNode(); at = at->getNextNode())
    own.insert(at);
  result.replaceUsesWithIf(
      fixed, [&](OpOperand &use) { return !own.contains(use.getOwner()); });
}

LogicalResult Guards::run() {
  // The function's own promises go to LLVM, too.
  SmallVector<StringAttr> attributes;
  for (NamedAttribute attribute : func->getDiscardableAttrs())
    if (attribute.getName() == "passthrough" ||
        attribute.getName().strref().starts_with("llvm."))
      attributes.push_back(attribute.getName());
  for (StringAttr name : attributes)
    func->removeAttr(name);
  SmallVector<Operation *> all;
  func.walk([&](Operation *op) { all.push_back(op); });
  for (Operation *op : all) {
    if (failed(checkKnown(op)))
      return failure();
    LogicalResult good =
        llvm::TypeSwitch<Operation *, LogicalResult>(op)
            .Case<memref::LoadOp, memref::StoreOp>([&](auto access) {
              return guardAccess(op, access.getMemRef(),
                                 access.getIndicesMutable());
            })
            .Case<memref::SubViewOp>([&](auto view) { return guardView(view); })
            .Case<memref::AllocOp, memref::AllocaOp>(
                [&](auto) { return checkAllocation(op); })
            .Case<memref::DeallocOp>([&](auto end) { return checkFreed(end); })
            .Case<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp,
                  arith::RemUIOp, arith::CeilDivSIOp, arith::CeilDivUIOp,
                  arith::FloorDivSIOp>([&](auto) {
              guardDivision(op);
              return success();
            })
            .Case<linalg::LinalgOp>(
                [](auto loop) { return host::checkAccesses(loop); })
            .Default([](Operation *) { return success(); });
    if (failed(good))
      return failure();
  }
  return success();
}

LogicalResult cpu::guardAccesses(func::FuncOp func, bool mayCheck) {
  return Guards(func, mayCheck).run();
}
