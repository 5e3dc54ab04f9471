// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The semantics of logic: with constant operands, every operation folds to its
// result. Other folders replace an operation by an existing value.
#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"
#include "rhizome/Dialect/Rtl/Rtl.h"

using namespace mlir;
using namespace rhizome::rtl;
using llvm::APInt;

namespace {
std::optional<APInt> constantOf(Attribute operand) {
  if (auto number = dyn_cast_or_null<IntegerAttr>(operand))
    return number.getValue();
  return std::nullopt;
}

Attribute constant(Value result, const APInt &value) {
  return IntegerAttr::get(result.getType(), value);
}

unsigned widthOf(Value v) { return v.getType().getIntOrFloatBitWidth(); }

/// Folds an operation on two numbers of one width, if both are constants.
template <typename Adaptor, typename Compute>
OpFoldResult foldBinary(Adaptor adaptor, Value result, Compute compute) {
  auto x = constantOf(adaptor.getLhs()), y = constantOf(adaptor.getRhs());
  if (!x || !y)
    return {};
  return constant(result, compute(*x, *y));
}

bool isZero(Attribute operand) {
  auto value = constantOf(operand);
  return value && value->isZero();
}
bool isOnes(Attribute operand) {
  auto value = constantOf(operand);
  return value && value->isAllOnes();
}

template <typename Adaptor, typename Compute>
OpFoldResult foldShift(Adaptor adaptor, Value input, Value result,
                       Compute compute) {
  auto amount = constantOf(adaptor.getAmount());
  if (amount && amount->isZero())
    return input;
  auto value = constantOf(adaptor.getInput());
  if (!amount || !value)
    return {};
  return constant(
      result,
      compute(*value, unsigned(amount->getLimitedValue(value->getBitWidth()))));
}
} // namespace

OpFoldResult ConstantOp::fold(FoldAdaptor) { return getValueAttr(); }

OpFoldResult ConcatOp::fold(FoldAdaptor adaptor) {
  if (getInputs().size() == 1)
    return getInputs()[0];
  APInt all(widthOf(getResult()), 0);
  unsigned low = 0;
  for (Attribute operand : adaptor.getInputs()) {
    auto part = constantOf(operand);
    if (!part)
      return {};
    all.insertBits(*part, low);
    low += part->getBitWidth();
  }
  return constant(getResult(), all);
}

OpFoldResult ExtractOp::fold(FoldAdaptor adaptor) {
  if (getInput().getType() == getResult().getType())
    return getInput();
  if (auto value = constantOf(adaptor.getInput()))
    return constant(getResult(), value->extractBits(widthOf(getResult()),
                                                    unsigned(getLow())));
  if (auto outer = getInput().getDefiningOp<ExtractOp>();
      outer && outer != *this) {
    setLow(getLow() + outer.getLow());
    getInputMutable().assign(outer.getInput());
    return getResult();
  }
  if (auto joined = getInput().getDefiningOp<ConcatOp>()) {
    // A part of it, or bits of one part.
    uint64_t low = getLow();
    for (Value part : joined.getInputs()) {
      if (low < widthOf(part)) {
        if (low + widthOf(getResult()) > widthOf(part))
          return {};
        setLow(low);
        getInputMutable().assign(part);
        return getResult();
      }
      low -= widthOf(part);
    }
  }
  return {};
}

OpFoldResult AddOp::fold(FoldAdaptor adaptor) {
  if (isZero(adaptor.getRhs()))
    return getLhs();
  if (isZero(adaptor.getLhs()))
    return getRhs();
  return foldBinary(adaptor, getResult(),
                    [](const APInt &x, const APInt &y) { return x + y; });
}

OpFoldResult SubOp::fold(FoldAdaptor adaptor) {
  if (isZero(adaptor.getRhs()))
    return getLhs();
  if (getLhs() == getRhs())
    return constant(getResult(), APInt(widthOf(getResult()), 0));
  return foldBinary(adaptor, getResult(),
                    [](const APInt &x, const APInt &y) { return x - y; });
}

OpFoldResult MulOp::fold(FoldAdaptor adaptor) {
  for (auto [factor, other] : {std::pair(adaptor.getRhs(), getLhs()),
                               std::pair(adaptor.getLhs(), getRhs())}) {
    auto value = constantOf(factor);
    if (value && value->isZero())
      return factor;
    if (value && value->isOne())
      return other;
  }
  return foldBinary(adaptor, getResult(),
                    [](const APInt &x, const APInt &y) { return x * y; });
}

OpFoldResult AndOp::fold(FoldAdaptor adaptor) {
  if (isZero(adaptor.getRhs()) || isOnes(adaptor.getLhs()))
    return getRhs();
  if (isZero(adaptor.getLhs()) || isOnes(adaptor.getRhs()) ||
      getLhs() == getRhs())
    return getLhs();
  return foldBinary(adaptor, getResult(),
                    [](const APInt &x, const APInt &y) { return x & y; });
}

OpFoldResult OrOp::fold(FoldAdaptor adaptor) {
  if (isOnes(adaptor.getRhs()) || isZero(adaptor.getLhs()))
    return getRhs();
  if (isOnes(adaptor.getLhs()) || isZero(adaptor.getRhs()) ||
      getLhs() == getRhs())
    return getLhs();
  return foldBinary(adaptor, getResult(),
                    [](const APInt &x, const APInt &y) { return x | y; });
}

OpFoldResult XorOp::fold(FoldAdaptor adaptor) {
  if (isZero(adaptor.getRhs()))
    return getLhs();
  if (isZero(adaptor.getLhs()))
    return getRhs();
  if (getLhs() == getRhs())
    return constant(getResult(), APInt(widthOf(getResult()), 0));
  return foldBinary(adaptor, getResult(),
                    [](const APInt &x, const APInt &y) { return x ^ y; });
}

OpFoldResult NotOp::fold(FoldAdaptor adaptor) {
  if (auto inner = getInput().getDefiningOp<NotOp>(); inner && inner != *this)
    return inner.getInput();
  if (auto value = constantOf(adaptor.getInput()))
    return constant(getResult(), ~*value);
  return {};
}

OpFoldResult ShiftLeftOp::fold(FoldAdaptor adaptor) {
  return foldShift(adaptor, getInput(), getResult(),
                   [](const APInt &x, unsigned by) { return x.shl(by); });
}

OpFoldResult ShiftRightOp::fold(FoldAdaptor adaptor) {
  return foldShift(adaptor, getInput(), getResult(),
                   [](const APInt &x, unsigned by) { return x.lshr(by); });
}

OpFoldResult ShiftRightSignedOp::fold(FoldAdaptor adaptor) {
  return foldShift(adaptor, getInput(), getResult(),
                   [](const APInt &x, unsigned by) { return x.ashr(by); });
}

static bool compare(Predicate predicate, const APInt &x, const APInt &y) {
  switch (predicate) {
  case Predicate::Equal:
    return x == y;
  case Predicate::NotEqual:
    return x != y;
  case Predicate::SignedLess:
    return x.slt(y);
  case Predicate::SignedAtMost:
    return x.sle(y);
  case Predicate::UnsignedLess:
    return x.ult(y);
  case Predicate::UnsignedAtMost:
    return x.ule(y);
  }
  llvm_unreachable("every predicate is handled");
}

/// The outcome of an inequality that holds at both ends of what its sides may
/// be, or at neither: a constant is its own ends, of other values nothing is
/// known.
static std::optional<bool> decidedBy(Predicate predicate, unsigned width,
                                     const std::optional<APInt> &x,
                                     const std::optional<APInt> &y) {
  if (predicate == Predicate::Equal || predicate == Predicate::NotEqual)
    return std::nullopt;
  const bool isSigned = predicate == Predicate::SignedLess ||
                        predicate == Predicate::SignedAtMost;
  const APInt least = isSigned ? APInt::getSignedMinValue(width)
                               : APInt::getMinValue(width),
              most = isSigned ? APInt::getSignedMaxValue(width)
                              : APInt::getMaxValue(width);
  const bool atBest = compare(predicate, x.value_or(least), y.value_or(most)),
             atWorst = compare(predicate, x.value_or(most), y.value_or(least));
  return atBest == atWorst ? std::optional(atBest) : std::nullopt;
}

OpFoldResult CompareOp::fold(FoldAdaptor adaptor) {
  if (getLhs() == getRhs()) {
    APInt zero(widthOf(getLhs()), 0);
    return constant(getResult(), APInt(1, compare(getPredicate(), zero, zero)));
  }
  if (auto decided =
          decidedBy(getPredicate(), widthOf(getLhs()),
                    constantOf(adaptor.getLhs()), constantOf(adaptor.getRhs())))
    return constant(getResult(), APInt(1, *decided));
  return foldBinary(adaptor, getResult(), [&](const APInt &x, const APInt &y) {
    return APInt(1, compare(getPredicate(), x, y));
  });
}

OpFoldResult SignExtendOp::fold(FoldAdaptor adaptor) {
  if (getInput().getType() == getResult().getType())
    return getInput();
  if (auto value = constantOf(adaptor.getInput()))
    return constant(getResult(), value->sext(widthOf(getResult())));
  return {};
}

bool AtLeastOp::isAlways() {
  unsigned width = widthOf(getInput());
  auto bound = int64_t(getBound());
  if (!getIsSigned())
    return bound == 0;
  return width <= 64 && bound == llvm::minIntN(width);
}

OpFoldResult AtLeastOp::fold(FoldAdaptor adaptor) {
  if (isAlways())
    return constant(getResult(), APInt(1, 1));
  auto value = constantOf(adaptor.getInput());
  if (!value)
    return {};
  unsigned width = std::max(value->getBitWidth(), 64u) + 1;
  APInt x = getIsSigned() ? value->sext(width) : value->zext(width);
  APInt bound(width, uint64_t(getBound()), /*isSigned=*/true);
  return constant(getResult(), APInt(1, x.sge(bound)));
}

OpFoldResult MuxOp::fold(FoldAdaptor adaptor) {
  if (getOnTrue() == getOnFalse())
    return getOnTrue();
  if (auto condition = constantOf(adaptor.getCondition()))
    return condition->isZero() ? getOnFalse() : getOnTrue();
  if (widthOf(getResult()) == 1 && isOnes(adaptor.getOnTrue()) &&
      isZero(adaptor.getOnFalse()))
    return getCondition();
  return {};
}

OpFoldResult LookupOp::fold(FoldAdaptor adaptor) {
  auto index = constantOf(adaptor.getIndex());
  if (!index)
    return {};
  return constant(getResult(),
                  APInt(widthOf(getResult()),
                        uint64_t(getValues()[index->getZExtValue()]),
                        /*isSigned=*/true, /*implicitTrunc=*/true));
}
