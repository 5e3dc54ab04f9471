// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Converts numbers in formats to signless integers and integer arithmetic.
// Fixed point is inline, floats and the rarer functions call Numeric/Runtime.h.
// Storage is the narrowest of i8, i16, i32, i64 and i128; it holds a fixed
// number sign- or zero-extended and a float's pattern zero-extended.
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/PatternMatch.h"
#include "rhizome/Conversion/Comparison.h"
#include "rhizome/Conversion/Passes.h"
#include "rhizome/Dialect/Num/Ops.h"
#include "rhizome/Numeric/Runtime.h"
#include "llvm/ADT/TypeSwitch.h"

namespace rhizome {
#define GEN_PASS_DEF_CONVERTNUMTOARITH
#include "rhizome/Conversion/Passes.h.inc"
} // namespace rhizome

using namespace mlir;
using namespace rhizome;
using numeric::Format;
using numeric::Function;
using numeric::Overflow;
using numeric::Rounding;

static unsigned storageWidth(const Format &f) {
  unsigned width = 8;
  while (width < unsigned(f.width()))
    width *= 2;
  return width;
}

/// The type that replaces `type`; itself if it contains no format.
static Type storageOf(Type type) {
  if (auto shaped = dyn_cast<ShapedType>(type))
    return shaped.clone(storageOf(shaped.getElementType()));
  if (isa<num::FixedType, num::CustomFloatType>(type))
    return IntegerType::get(type.getContext(),
                            storageWidth(*num::formatOf(type)));
  return type;
}

namespace {
/// Integer arithmetic at one place, on values of any width.
class Emitter {
public:
  Emitter(OpBuilder &b, Location loc) : b(b), loc(loc) {}
  OpBuilder &b;
  Location loc;

  Type integer(unsigned width) { return b.getIntegerType(width); }
  unsigned widthOf(Value v) { return v.getType().getIntOrFloatBitWidth(); }
  Value constant(Type type, const llvm::APInt &value) {
    return arith::ConstantOp::create(b, loc, b.getIntegerAttr(type, value));
  }
  Value constant(Type type, int64_t value) {
    return constant(
        type, llvm::APInt(type.getIntOrFloatBitWidth(), uint64_t(value), true));
  }
  Value like(Value v, int64_t value) { return constant(v.getType(), value); }
  Value extend(Value v, unsigned width, bool isSigned) {
    if (widthOf(v) == width)
      return v;
    if (widthOf(v) > width)
      return arith::TruncIOp::create(b, loc, integer(width), v);
    if (isSigned)
      return arith::ExtSIOp::create(b, loc, integer(width), v);
    return arith::ExtUIOp::create(b, loc, integer(width), v);
  }
  Value compare(arith::CmpIPredicate p, Value x, Value y) {
    return arith::CmpIOp::create(b, loc, p, x, y);
  }
  Value select(Value c, Value x, Value y) {
    return arith::SelectOp::create(b, loc, c, x, y);
  }
#define BINARY(name, Op)                                                       \
  Value name(Value x, Value y) { return arith::Op::create(b, loc, x, y); }
  BINARY(add, AddIOp)
  BINARY(sub, SubIOp)
  BINARY(mul, MulIOp)
  BINARY(andOf, AndIOp)
  BINARY(orOf, OrIOp)
  BINARY(shl, ShLIOp)
  BINARY(sar, ShRSIOp)
  BINARY(shr, ShRUIOp)
#undef BINARY
  Value isNegative(Value v) {
    return compare(arith::CmpIPredicate::slt, v, like(v, 0));
  }
  Value isZero(Value v) {
    return compare(arith::CmpIPredicate::eq, v, like(v, 0));
  }
  Value notZero(Value v) {
    return compare(arith::CmpIPredicate::ne, v, like(v, 0));
  }

  /// 1 if floor(x) must be rounded up: the remainder is above, at or below one
  /// half. `odd` is floor's last bit, `negative` the sign of the exact value.
  Value roundsUp(Rounding mode, Value odd, Value negative, Value aboveHalf,
                 Value atHalf, Value any) {
    Value no = like(odd, 0);
    switch (mode) {
    case Rounding::NearestEven:
      return orOf(aboveHalf, andOf(atHalf, odd));
    case Rounding::NearestAway:
      return select(negative, aboveHalf, orOf(aboveHalf, atHalf));
    case Rounding::TowardZero:
      return select(negative, any, no);
    case Rounding::Up:
      return any;
    case Rounding::Down:
      return no;
    }
    return no;
  }

  /// x / 2^shift as an integer; the shift is a value in 0 … width − 2.
  Value shiftRounded(Value x, Value shift, Rounding mode) {
    Value one = like(x, 1);
    Value floor = sar(x, shift);
    Value rest = sub(x, shl(floor, shift));
    // Compares twice the remainder with 2^shift.
    Value twice = shl(rest, one), whole = shl(one, shift);
    Value odd = notZero(andOf(floor, one));
    Value up = roundsUp(mode, odd, isNegative(x),
                        compare(arith::CmpIPredicate::ugt, twice, whole),
                        compare(arith::CmpIPredicate::eq, twice, whole),
                        notZero(rest));
    return add(floor, extend(up, widthOf(x), false));
  }
  Value shiftRounded(Value x, int shift, Rounding mode) {
    return shift == 0 ? x : shiftRounded(x, like(x, shift), mode);
  }

  llvm::APInt bound(const Format &f, bool greatest, unsigned width) {
    numeric::Bits bits = greatest ? f.greatest() : f.least();
    uint64_t words[2] = {uint64_t(bits), uint64_t(bits >> 64)};
    llvm::APInt pattern(f.width(), words);
    return f.isSigned ? pattern.sext(width) : pattern.zext(width);
  }

  /// Puts an integer with more bits than the format into its storage.
  Value fit(Value x, const Format &f, Overflow overflow) {
    unsigned storage = storageWidth(f), width = unsigned(f.width());
    if (overflow == Overflow::Saturate) {
      Value high = constant(x.getType(), bound(f, true, widthOf(x)));
      Value low = constant(x.getType(), bound(f, false, widthOf(x)));
      x = select(compare(arith::CmpIPredicate::sgt, x, high), high, x);
      x = select(compare(arith::CmpIPredicate::slt, x, low), low, x);
      return extend(x, storage, true);
    }
    x = extend(x, storage, true);
    if (width == storage)
      return x;
    if (!f.isSigned)
      return andOf(
          x, constant(x.getType(), llvm::APInt::getLowBitsSet(storage, width)));
    Value unused = like(x, storage - width);
    return sar(shl(x, unused), unused);
  }
};

/// The conversion of one module.
class Converter {
public:
  Converter(ModuleOp module, bool callsQuotients)
      : module(module), callsQuotients(callsQuotients) {}

  void run() {
    std::vector<Operation *> ops;
    module.walk([&](Operation *op) {
      if (isa_and_nonnull<num::NumDialect>(op->getDialect()))
        ops.push_back(op);
    });
    for (Operation *op : ops)
      operandFormats.push_back(op->getNumOperands()
                                   ? num::formatOf(op->getOperand(0).getType())
                                   : std::nullopt);
    // All formats of results are read before any type is changed.
    std::vector<numeric::Arithmetic> arithmetics;
    for (Operation *op : ops)
      arithmetics.push_back(num::arithmeticOf(op));
    module.walk([&](Operation *op) {
      for (Value v : op->getResults())
        v.setType(storageOf(v.getType()));
      for (Region &region : op->getRegions())
        for (Block &block : region)
          for (BlockArgument arg : block.getArguments())
            arg.setType(storageOf(arg.getType()));
      if (auto func = dyn_cast<func::FuncOp>(op))
        func.setType(FunctionType::get(
            op->getContext(),
            llvm::map_to_vector(func.getArgumentTypes(), storageOf),
            llvm::map_to_vector(func.getResultTypes(), storageOf)));
    });
    OpBuilder b(module.getContext());
    for (size_t i = 0; i < ops.size(); ++i) {
      b.setInsertionPoint(ops[i]);
      Emitter e(b, ops[i]->getLoc());
      Value result = convert(e, ops[i], arithmetics[i], *operandFormats[i]);
      ops[i]->getResult(0).replaceAllUsesWith(result);
    }
    for (Operation *op : ops)
      op->erase();
  }

private:
  ModuleOp module;
  bool callsQuotients;
  std::vector<std::optional<Format>> operandFormats;

  static Function functionOf(Operation *op) {
    return llvm::TypeSwitch<Operation *, Function>(op)
        .Case<num::AddOp>([](auto) { return Function::Add; })
        .Case<num::SubOp>([](auto) { return Function::Sub; })
        .Case<num::MulOp>([](auto) { return Function::Mul; })
        .Case<num::DivOp>([](auto) { return Function::Div; })
        .Case<num::MinOp>([](auto) { return Function::Min; })
        .Case<num::MaxOp>([](auto) { return Function::Max; })
        .Case<num::FmaOp>([](auto) { return Function::Fma; })
        .Case<num::SqrtOp>([](auto) { return Function::Sqrt; })
        .Case<num::ExpOp>([](auto) { return Function::Exp; })
        .Case<num::LogOp>([](auto) { return Function::Log; })
        .Case<num::NegOp>([](auto) { return Function::Neg; })
        .Default([](auto) { return Function::Abs; });
  }

  Value call(Emitter &e, StringRef name, ArrayRef<Value> operands,
             Type result) {
    auto callee = module.lookupSymbol<func::FuncOp>(name);
    if (!callee) {
      OpBuilder top = OpBuilder::atBlockBegin(module.getBody());
      callee = func::FuncOp::create(
          top, module.getLoc(), name,
          top.getFunctionType(
              llvm::map_to_vector(operands,
                                  [](Value v) { return v.getType(); }),
              result));
      callee.setPrivate();
      // Pure: calls may be hoisted and merged.
      callee->setAttr("llvm.readnone", top.getUnitAttr());
    }
    return func::CallOp::create(e.b, e.loc, callee, operands).getResult(0);
  }

  Value convert(Emitter &e, Operation *op, const numeric::Arithmetic &n,
                const Format &from) {
    llvm::SmallVector<Value> in(op->getOperands());
    if (auto compare = dyn_cast<num::CompareOp>(op))
      return (from.isFixed() ? compareFixed : compareFloats)(
          e.b, e.loc, compare.getPredicate(), in[0], in[1], from);
    if (isa<num::CastOp>(op))
      return cast(e, in[0], op->getResult(0).getType(), n, from);
    if (n.format().isFixed())
      return fixed(e, functionOf(op), in, n);
    Type word = e.integer(64);
    Value zero = e.constant(word, int64_t(0));
    llvm::SmallVector<Value> operands = {
        e.constant(word, int64_t(numeric::pack(n))),
        e.constant(e.integer(32), int64_t(functionOf(op)))};
    for (unsigned i = 0; i < 3; ++i)
      operands.push_back(i < in.size() ? e.extend(in[i], 64, false) : zero);
    return e.extend(call(e, "rhizome_num_float", operands, word),
                    storageWidth(n.format()), false);
  }

  Value fixed(Emitter &e, Function function, ArrayRef<Value> in,
              const numeric::Arithmetic &n) {
    const Format &f = n.format();
    const unsigned width = unsigned(f.width());
    const int fraction = f.fractionBits;
    const unsigned shift = unsigned(std::abs(fraction));
    auto widen = [&](Value v, unsigned bits) {
      // The machine's widths if they suffice.
      for (unsigned usual : {32u, 64u, 128u, 256u, 512u})
        if (bits <= usual)
          return e.extend(v, usual, f.isSigned);
      return e.extend(v, bits, f.isSigned);
    };
    auto finish = [&](Value v, int drop) {
      return e.fit(e.shiftRounded(v, drop, n.rounding()), f, n.overflow());
    };
    switch (function) {
    case Function::Add:
      return finish(e.add(widen(in[0], width + 2), widen(in[1], width + 2)), 0);
    case Function::Sub:
      return finish(e.sub(widen(in[0], width + 2), widen(in[1], width + 2)), 0);
    case Function::Neg: {
      Value x = widen(in[0], width + 2);
      return finish(e.sub(e.like(x, 0), x), 0);
    }
    case Function::Abs: {
      Value x = widen(in[0], width + 2);
      return finish(e.select(e.isNegative(x), e.sub(e.like(x, 0), x), x), 0);
    }
    case Function::Min:
    case Function::Max: {
      bool least = function == Function::Min;
      auto less =
          f.isSigned ? arith::CmpIPredicate::slt : arith::CmpIPredicate::ult;
      Value first = e.compare(less, in[0], in[1]);
      return least ? e.select(first, in[0], in[1])
                   : e.select(first, in[1], in[0]);
    }
    case Function::Mul:
    case Function::Fma: {
      // The product has 2 F fraction bits; unsigned numbers need one bit more.
      bool isFma = function == Function::Fma;
      unsigned bits = 2 * width + (f.isSigned ? 0 : 1) + (isFma ? 1 : 0);
      if (fraction < 0)
        bits += shift;
      if (isFma)
        bits = std::max(bits, width + shift + 2);
      // Rounding shifts need a bit above twice the remainder.
      bits = std::max(bits, shift + 3);
      Value x = e.mul(widen(in[0], bits), widen(in[1], bits));
      if (fraction < 0)
        x = e.shl(x, e.like(x, shift));
      if (isFma) {
        Value c = widen(in[2], bits);
        x = e.add(x, fraction > 0 ? e.shl(c, e.like(c, shift)) : c);
      }
      return finish(x, std::max(fraction, 0));
    }
    case Function::Div:
      if (callsQuotients && width <= 64) {
        Type word = e.integer(64);
        Value result =
            call(e, "rhizome_num_quotient",
                 {e.constant(word, int64_t(numeric::pack(n))),
                  e.extend(in[0], 64, false), e.extend(in[1], 64, false)},
                 word);
        // The pattern has no sign.
        return e.fit(result, f, Overflow::Wrap);
      }
      return divide(e, widen(in[0], width + shift + 4),
                    widen(in[1], width + shift + 4), n);
    default:
      break;
    }
    Type word = e.integer(64);
    Value result = call(e, "rhizome_num_fixed",
                        {e.constant(word, int64_t(numeric::pack(n))),
                         e.constant(e.integer(32), int64_t(function)),
                         e.extend(in[0], 128, f.isSigned)},
                        e.integer(128));
    // The pattern has no sign.
    return e.fit(result, f, Overflow::Wrap);
  }

  Value divide(Emitter &e, Value a, Value d, const numeric::Arithmetic &n) {
    const Format &f = n.format();
    Value shift = e.like(a, std::abs(f.fractionBits));
    Value byZero = e.isZero(d);
    if (f.fractionBits >= 0)
      a = e.shl(a, shift);
    else
      d = e.shl(d, shift);
    Value one = e.like(a, 1), zero = e.like(a, 0);
    d = e.select(byZero, one, d);
    Value quotient = arith::DivSIOp::create(e.b, e.loc, a, d);
    Value rest = e.sub(a, e.mul(quotient, d));
    Value negative =
        arith::XOrIOp::create(e.b, e.loc, e.isNegative(a), e.isNegative(d));
    // The quotient was truncated toward zero; its floor and the remainder above
    // it.
    Value inexact = e.notZero(rest);
    Value down =
        e.select(negative, e.extend(inexact, e.widthOf(a), false), zero);
    Value floor = e.sub(quotient, down);
    Value magnitude = e.select(e.isNegative(d), e.sub(zero, d), d);
    Value left = e.select(e.isNegative(rest), e.sub(zero, rest), rest);
    left = e.select(e.notZero(down), e.sub(magnitude, left), left);
    Value twice = e.shl(left, one);
    Value up = e.roundsUp(
        n.rounding(), e.notZero(e.andOf(floor, one)), negative,
        e.compare(arith::CmpIPredicate::ugt, twice, magnitude),
        e.compare(arith::CmpIPredicate::eq, twice, magnitude), inexact);
    Value rounded = e.add(floor, e.extend(up, e.widthOf(a), false));
    Value result = e.fit(rounded, f, n.overflow());
    Value infinite = e.like(result, 0);
    if (n.overflow() == Overflow::Saturate) {
      unsigned storage = storageWidth(f);
      Value high = e.constant(result.getType(), e.bound(f, true, storage));
      Value low = e.constant(result.getType(), e.bound(f, false, storage));
      infinite =
          e.select(e.isZero(a), infinite, e.select(e.isNegative(a), low, high));
    }
    return e.select(byZero, infinite, result);
  }

  Value cast(Emitter &e, Value v, Type to, const numeric::Arithmetic &n,
             const Format &from) {
    const Format &f = n.format();
    bool fromNative = isa<FloatType>(v.getType()),
         toNative = isa<FloatType>(to);
    if (from.isFixed() && f.isFixed())
      return fixedToFixed(e, v, n, from);
    if (fromNative && f.isFixed())
      return realToFixed(e, v, n, from);
    // Exact as an integer, and its power of two is not subnormal.
    if (from.isFixed() && toNative && to.isF64()) {
      Value x = from.isSigned
                    ? Value(arith::SIToFPOp::create(e.b, e.loc, to, v))
                    : Value(arith::UIToFPOp::create(e.b, e.loc, to, v));
      Value scale = arith::ConstantOp::create(
          e.b, e.loc, e.b.getF64FloatAttr(std::ldexp(1.0, -from.fractionBits)));
      return arith::MulFOp::create(e.b, e.loc, x, scale);
    }
    Type word = e.integer(64);
    if (fromNative)
      v = arith::BitcastOp::create(
          e.b, e.loc, e.integer(v.getType().getIntOrFloatBitWidth()), v);
    numeric::Arithmetic source(from, Rounding::NearestEven,
                               numeric::defaultOverflow(from));
    Value result = call(e, "rhizome_num_convert",
                        {e.constant(word, int64_t(numeric::pack(n))),
                         e.constant(word, int64_t(numeric::pack(source))),
                         e.extend(v, 128, false)},
                        e.integer(128));
    if (toNative)
      return arith::BitcastOp::create(
          e.b, e.loc, to, e.extend(result, to.getIntOrFloatBitWidth(), false));
    if (f.isFixed())
      return e.fit(result, f, Overflow::Wrap);
    return e.extend(result, storageWidth(f), false);
  }

  Value fixedToFixed(Emitter &e, Value v, const numeric::Arithmetic &n,
                     const Format &from) {
    const Format &f = n.format();
    int drop = from.fractionBits - f.fractionBits;
    unsigned bits = unsigned(std::max(from.width() + 2, f.width() + 2) +
                             std::abs(drop) + 2);
    Value x = e.extend(v, bits, from.isSigned);
    if (drop < 0)
      x = e.shl(x, e.like(x, -drop));
    return e.fit(e.shiftRounded(x, std::max(drop, 0), n.rounding()), f,
                 n.overflow());
  }

  /// x · 2^s in the format's storage, which is as wide as x or narrower.
  /// `shift` is s, but neither negative nor above the greatest shift of x.
  Value shiftLeft(Emitter &e, Value x, Value s, Value shift,
                  const numeric::Arithmetic &n) {
    using enum arith::CmpIPredicate;
    const Format &f = n.format();
    const unsigned bits = e.widthOf(x), width = unsigned(f.width());
    Value beyond = e.compare(sgt, s, e.like(s, bits - 1));
    shift = e.extend(shift, bits, false);
    Value shifted = e.shl(x, shift);
    if (n.overflow() == Overflow::Wrap) {
      if (width == bits)
        shifted = e.select(beyond, e.like(x, 0), shifted);
      return e.fit(shifted, f, Overflow::Wrap);
    }
    Value high = e.constant(x.getType(), e.bound(f, true, bits));
    Value low = e.constant(x.getType(), e.bound(f, false, bits));
    Value negative = e.isNegative(x);
    Value back = f.isSigned ? e.sar(shifted, shift) : e.shr(shifted, shift);
    Value outside =
        e.orOf(e.compare(ne, back, x), e.andOf(beyond, e.notZero(x)));
    if (!f.isSigned)
      outside = e.orOf(outside, negative);
    if (width < bits) {
      outside =
          e.orOf(outside, e.compare(f.isSigned ? sgt : ugt, shifted, high));
      if (f.isSigned)
        outside = e.orOf(outside, e.compare(slt, shifted, low));
    }
    Value bound = e.select(negative, low, high);
    return e.extend(e.select(outside, bound, shifted), storageWidth(f), true);
  }

  /// Native floats: ±m · 2^s with an integer m, s relative to the quantum. One
  /// of a shift to the right, rounded, and one to the left is not zero, so one
  /// word of the machine suffices.
  Value realToFixed(Emitter &e, Value v, const numeric::Arithmetic &n,
                    const Format &from) {
    const Format &f = n.format();
    const int mantissa = from.mantissaBits, total = from.width();
    // Room for the format and for twice a remainder below 2^(mantissa + 4).
    const unsigned bits = std::max(storageWidth(f), mantissa > 25 ? 64u : 32u);
    Value pattern = arith::BitcastOp::create(e.b, e.loc, e.integer(total), v);
    Type type = pattern.getType();
    Value field =
        e.andOf(e.shr(pattern, e.constant(type, int64_t(mantissa))),
                e.constant(type, (int64_t(1) << from.exponentBits) - 1));
    Value digits =
        e.andOf(pattern, e.constant(type, (int64_t(1) << mantissa) - 1));
    Value normal = e.notZero(field);
    Value m = e.select(normal,
                       e.orOf(digits, e.constant(type, int64_t(1) << mantissa)),
                       digits);
    Value exponent = e.select(normal, field, e.like(field, 1));
    // Exponents and shifts need 32 bits.
    Value s = e.add(e.extend(exponent, 32, false),
                    e.constant(e.integer(32),
                               int64_t(f.fractionBits - from.bias - mantissa)));
    auto clamp = [&](Value x, int64_t high) {
      Value zero = e.like(x, 0), top = e.like(x, high);
      x = e.select(e.isNegative(x), zero, x);
      return e.select(e.compare(arith::CmpIPredicate::sgt, x, top), top, x);
    };
    Value negative = e.isNegative(pattern);
    Value x = e.extend(m, bits, false), zero = e.like(x, 0);
    x = e.select(negative, e.sub(zero, x), x);
    Value right =
        e.extend(clamp(e.sub(e.like(s, 0), s), mantissa + 4), bits, false);
    x = e.shiftRounded(x, right, n.rounding());
    Value result = shiftLeft(e, x, s, clamp(s, bits - 1), n);
    Value special =
        e.compare(arith::CmpIPredicate::eq, field,
                  e.constant(type, (int64_t(1) << from.exponentBits) - 1));
    Value instead = e.like(result, 0);
    if (n.overflow() == Overflow::Saturate) {
      unsigned storage = storageWidth(f);
      Value high = e.constant(result.getType(), e.bound(f, true, storage));
      Value low = e.constant(result.getType(), e.bound(f, false, storage));
      instead =
          e.select(e.isZero(digits), e.select(negative, low, high), instead);
    }
    return e.select(special, instead, result);
  }
};

class ConvertNumToArith
    : public rhizome::impl::ConvertNumToArithBase<ConvertNumToArith> {
  using ConvertNumToArithBase::ConvertNumToArithBase;
  void runOnOperation() override {
    Converter(getOperation(), callsQuotients).run();
  }
};
} // namespace
