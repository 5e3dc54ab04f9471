// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A float without its sign is ordered as an integer; with it, negative ones the
// other way round. Zeros and NaN are told apart by their sizes.
#include "rhizome/Conversion/Comparison.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace rhizome;
using num::Predicate;
using numeric::Format;
using numeric::Order;

Value rhizome::compareFloats(OpBuilder &b, Location loc, Predicate predicate,
                             Value x, Value y, const Format &format) {
  const unsigned width = unsigned(format.width());
  Type type = b.getIntegerType(width);
  for (Value *v : {&x, &y})
    if (v->getType() != type)
      *v = arith::TruncIOp::create(b, loc, type, *v);
  auto constant = [&](uint64_t value) -> Value {
    return arith::ConstantOp::create(
        b, loc, b.getIntegerAttr(type, APInt(64, value).trunc(width)));
  };
  auto integers = [&](arith::CmpIPredicate p, Value u, Value v) -> Value {
    return arith::CmpIOp::create(b, loc, p, u, v);
  };
  auto either = [&](Value u, Value v) -> Value {
    return arith::OrIOp::create(b, loc, u, v);
  };
  auto inverse = [&](Value v) -> Value {
    return arith::XOrIOp::create(
        b, loc, v, arith::ConstantOp::create(b, loc, b.getBoolAttr(true)));
  };
  const uint64_t sizes = uint64_t(format.mask() >> 1);
  const uint64_t digits = (uint64_t(1) << format.mantissaBits) - 1;
  const uint64_t infinity = sizes & ~digits;
  if (!format.subnormals) {
    // Without an exponent a number is zero.
    Value none = constant(0);
    for (Value *v : {&x, &y}) {
      Value field = arith::AndIOp::create(b, loc, *v, constant(infinity));
      *v = arith::SelectOp::create(
          b, loc, integers(arith::CmpIPredicate::eq, field, none), none, *v);
    }
  }
  auto sizeOf = [&](Value v) -> Value {
    return arith::AndIOp::create(b, loc, v, constant(sizes));
  };
  // Negative numbers the other way round.
  auto keyOf = [&](Value v) -> Value {
    Value sign =
        arith::ShRSIOp::create(b, loc, v, constant(uint64_t(width - 1)));
    return arith::XOrIOp::create(
        b, loc, v, arith::AndIOp::create(b, loc, sign, constant(sizes)));
  };
  Value sizeX = sizeOf(x), sizeY = sizeOf(y), isNone;
  if (format.finite)
    isNone = arith::ConstantOp::create(b, loc, b.getBoolAttr(false));
  else
    isNone =
        either(integers(arith::CmpIPredicate::ugt, sizeX, constant(infinity)),
               integers(arith::CmpIPredicate::ugt, sizeY, constant(infinity)));
  Value areZero =
      integers(arith::CmpIPredicate::eq, either(sizeX, sizeY), constant(0));
  Value areSame = either(integers(arith::CmpIPredicate::eq, x, y), areZero);
  auto less = [&](Value u, Value v) -> Value {
    Value isLess = integers(arith::CmpIPredicate::slt, keyOf(u), keyOf(v));
    return arith::AndIOp::create(b, loc, isLess, inverse(areZero));
  };
  const bool isOrdered = !num::holds(predicate, Order::Unordered);
  const bool orLess = num::holds(predicate, Order::Less),
             orEqual = num::holds(predicate, Order::Equal),
             orGreater = num::holds(predicate, Order::Greater);
  if (orLess && orEqual && orGreater) // ordered
    return inverse(isNone);
  if (!orLess && !orEqual && !orGreater)
    return isNone;
  Value holds;
  if (orLess == orGreater)
    holds = orEqual ? areSame : inverse(areSame);
  else
    holds = orLess ? less(x, y) : less(y, x);
  if (orLess != orGreater && orEqual)
    holds = either(holds, areSame);
  return isOrdered
             ? arith::AndIOp::create(b, loc, holds, inverse(isNone)).getResult()
             : either(holds, isNone);
}

Value rhizome::compareFixed(OpBuilder &b, Location loc, Predicate predicate,
                            Value x, Value y, const Format &format) {
  using P = arith::CmpIPredicate;
  // All numbers are ordered.
  const P predicates[] = {P::eq, // not used
                          format.isSigned ? P::slt : P::ult,
                          P::eq,
                          format.isSigned ? P::sle : P::ule,
                          format.isSigned ? P::sgt : P::ugt,
                          P::ne,
                          format.isSigned ? P::sge : P::uge};
  const unsigned orders = unsigned(predicate) & 7;
  if (orders == 0 || orders == 7)
    return arith::ConstantOp::create(b, loc, b.getBoolAttr(orders == 7));
  return arith::CmpIOp::create(b, loc, predicates[orders], x, y);
}
