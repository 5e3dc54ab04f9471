// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Integer operations of `arith`, one by one, to the `rtl` operation of the same
// meaning. Undefined results (shifts by the width or more) become zeros.
#include "rhizome/Rtl/ScalarsToRtl.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"
#include "rhizome/Dialect/Rtl/Rtl.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace rhizome {
namespace {
class Scalars {
public:
  Scalars(OpBuilder &b, IRMapping &signals) : b(b), signals(signals) {}

  /// Of an operation that has logic.
  Value logic(Operation &op);

private:
  OpBuilder &b;
  IRMapping &signals;

  Value of(Value v) { return signals.lookup(v); }
  template <typename T> Value binary(Operation &op) {
    return T::create(b, op.getLoc(), of(op.getOperand(0)),
                     of(op.getOperand(1)));
  }
  Value compare(arith::CmpIOp op);
  Value choose(Location loc, rtl::Predicate predicate, Value lhs, Value rhs) {
    Value first = rtl::CompareOp::create(b, loc, predicate, lhs, rhs);
    return rtl::MuxOp::create(b, loc, first, lhs, rhs);
  }
};

Value Scalars::compare(arith::CmpIOp op) {
  using From = arith::CmpIPredicate;
  using To = rtl::Predicate;
  Value lhs = of(op.getLhs()), rhs = of(op.getRhs());
  auto as = [&](To predicate, bool isSwapped) -> Value {
    // What is decided folds: linters take it for an error.
    return b.createOrFold<rtl::CompareOp>(
        op.getLoc(), predicate, isSwapped ? rhs : lhs, isSwapped ? lhs : rhs);
  };
  switch (op.getPredicate()) {
  case From::eq:
    return as(To::Equal, false);
  case From::ne:
    return as(To::NotEqual, false);
  case From::slt:
    return as(To::SignedLess, false);
  case From::sle:
    return as(To::SignedAtMost, false);
  case From::sgt:
    return as(To::SignedLess, true);
  case From::sge:
    return as(To::SignedAtMost, true);
  case From::ult:
    return as(To::UnsignedLess, false);
  case From::ule:
    return as(To::UnsignedAtMost, false);
  case From::ugt:
    return as(To::UnsignedLess, true);
  case From::uge:
    return as(To::UnsignedAtMost, true);
  }
  llvm_unreachable("all predicates are above");
}

Value Scalars::logic(Operation &op) {
  Location loc = op.getLoc();
  using P = rtl::Predicate;
  return llvm::TypeSwitch<Operation *, Value>(&op)
      .Case([&](arith::ConstantOp c) -> Value {
        return rtl::ConstantOp::create(
            b, loc, c.getType(), cast<IntegerAttr>(c.getValue()).getValue());
      })
      .Case([&](arith::AddIOp) { return binary<rtl::AddOp>(op); })
      .Case([&](arith::SubIOp) { return binary<rtl::SubOp>(op); })
      .Case([&](arith::MulIOp) { return binary<rtl::MulOp>(op); })
      .Case([&](arith::AndIOp) { return binary<rtl::AndOp>(op); })
      .Case([&](arith::OrIOp) { return binary<rtl::OrOp>(op); })
      .Case([&](arith::XOrIOp) { return binary<rtl::XorOp>(op); })
      .Case([&](arith::ShLIOp) { return binary<rtl::ShiftLeftOp>(op); })
      .Case([&](arith::ShRUIOp) { return binary<rtl::ShiftRightOp>(op); })
      .Case([&](arith::ShRSIOp) { return binary<rtl::ShiftRightSignedOp>(op); })
      .Case([&](arith::MinSIOp m) {
        return choose(loc, P::SignedLess, of(m.getLhs()), of(m.getRhs()));
      })
      .Case([&](arith::MaxSIOp m) {
        return choose(loc, P::SignedLess, of(m.getRhs()), of(m.getLhs()));
      })
      .Case([&](arith::CmpIOp c) { return compare(c); })
      .Case([&](arith::SelectOp s) -> Value {
        return rtl::MuxOp::create(b, loc, of(s.getCondition()),
                                  of(s.getTrueValue()), of(s.getFalseValue()));
      })
      .Case([&](arith::ExtSIOp e) -> Value {
        return rtl::SignExtendOp::create(b, loc, e.getType(), of(e.getIn()));
      })
      .Case([&](arith::ExtUIOp e) -> Value {
        Value in = of(e.getIn());
        unsigned more = e.getType().getIntOrFloatBitWidth() -
                        in.getType().getIntOrFloatBitWidth();
        Value zeros =
            rtl::ConstantOp::create(b, loc, b.getIntegerType(more), int64_t(0));
        return rtl::ConcatOp::create(b, loc, e.getType(),
                                     ValueRange{in, zeros});
      })
      .Case([&](arith::TruncIOp t) -> Value {
        return rtl::ExtractOp::create(b, loc, t.getType(), of(t.getIn()), 0);
      })
      .Default([](Operation *) -> Value {
        llvm_unreachable("hasRtlLogic lists the operations above");
      });
}
} // namespace

bool hasRtlLogic(Operation &op) {
  auto isSignal = [](Type type) { return type.isSignlessInteger(); };
  return op.getNumResults() == 1 &&
         llvm::all_of(op.getResultTypes(), isSignal) &&
         llvm::all_of(op.getOperandTypes(), isSignal) &&
         isa<arith::ConstantOp, arith::AddIOp, arith::SubIOp, arith::MulIOp,
             arith::AndIOp, arith::OrIOp, arith::XOrIOp, arith::ShLIOp,
             arith::ShRUIOp, arith::ShRSIOp, arith::MinSIOp, arith::MaxSIOp,
             arith::CmpIOp, arith::SelectOp, arith::ExtSIOp, arith::ExtUIOp,
             arith::TruncIOp>(op);
}

FailureOr<Value> scalarToRtl(Operation &op, ValueRange operands, OpBuilder &b) {
  IRMapping signals;
  signals.map(op.getOperands(), operands);
  if (hasRtlLogic(op))
    return Scalars(b, signals).logic(op);
  return op.emitError("no logic is built for '")
         << op.getName() << "' yet: only for sums, products, comparisons and "
         << "conversions of integers and fixed point; remedy: the CPU computes "
            "it, leave the device out";
}
} // namespace rhizome
