// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Elementwise operations of the host, on reals and on integers of every width:
// each is a loop with a scalar body. Integers are held in 64 bits and wrapped
// to their own width after arithmetic.
#include "Asked.h"
#include "Host.h"
#include "rhizome/Numeric/Functions.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>

using namespace mlir;
using namespace rhizome;
using namespace rhizome::importer;
using host::Loops;
using host::Scalars;
using llvm::formatv;
using onnx::TensorProto;

namespace {
using Unary = Value (*)(Scalars &, Value);
} // namespace

static Value zeroOf(Scalars &s, Value x) { return s.number(0, x); }

static Value magnitude(Scalars &s, Value x) {
  if (Scalars::isReal(x))
    return s.abs(x);
  return s.max(x, s.sub(s.whole(0), x));
}

/// Functions of one number; those of reals only are marked.
struct UnaryInfo {
  Unary fn;
  bool realOnly;
};

static const llvm::StringMap<UnaryInfo> &unaries() {
  using S = Scalars;
  static const llvm::StringMap<UnaryInfo> table = {
      {"Abs", {magnitude, false}},
      {"Neg",
       {[](S &s, Value x) {
          return Scalars::isReal(x) ? s.neg(x) : s.sub(s.whole(0), x);
        },
        false}},
      {"Sign",
       {[](S &s, Value x) {
          Value up =
              s.select(s.less(zeroOf(s, x), x), s.number(1, x), zeroOf(s, x));
          return s.select(s.less(x, zeroOf(s, x)), s.number(-1, x), up);
        },
        false}},
      {"Relu", {[](S &s, Value x) { return s.max(x, zeroOf(s, x)); }, false}},
      {"Floor",
       {[](S &s, Value x) { return s.apply<math::FloorOp>(x); }, true}},
      {"Ceil", {[](S &s, Value x) { return s.apply<math::CeilOp>(x); }, true}},
      {"Round",
       {[](S &s, Value x) { return s.apply<math::RoundEvenOp>(x); }, true}},
      {"Sin", {[](S &s, Value x) { return s.apply<math::SinOp>(x); }, true}},
      {"Cos", {[](S &s, Value x) { return s.apply<math::CosOp>(x); }, true}},
      {"Tan", {[](S &s, Value x) { return s.apply<math::TanOp>(x); }, true}},
      {"Asin", {[](S &s, Value x) { return s.apply<math::AsinOp>(x); }, true}},
      {"Acos", {[](S &s, Value x) { return s.apply<math::AcosOp>(x); }, true}},
      {"Atan", {[](S &s, Value x) { return s.apply<math::AtanOp>(x); }, true}},
      {"Sinh", {[](S &s, Value x) { return s.apply<math::SinhOp>(x); }, true}},
      {"Cosh", {[](S &s, Value x) { return s.apply<math::CoshOp>(x); }, true}},
      {"Asinh",
       {[](S &s, Value x) { return s.apply<math::AsinhOp>(x); }, true}},
      {"Acosh",
       {[](S &s, Value x) { return s.apply<math::AcoshOp>(x); }, true}},
      {"Atanh",
       {[](S &s, Value x) { return s.apply<math::AtanhOp>(x); }, true}},
      {"Exp", {[](S &s, Value x) { return s.exp(x); }, true}},
      {"Log", {[](S &s, Value x) { return s.apply<math::LogOp>(x); }, true}},
      {"Sqrt", {[](S &s, Value x) { return s.apply<math::SqrtOp>(x); }, true}},
      {"Tanh", {[](S &s, Value x) { return s.apply<math::TanhOp>(x); }, true}},
      {"Erf", {[](S &s, Value x) { return s.apply<math::ErfOp>(x); }, true}},
      {"Sigmoid", {[](S &s, Value x) { return numeric::sigmoid(s, x); }, true}},
      {"Reciprocal",
       {[](S &s, Value x) { return s.div(s.number(1, x), x); }, true}},
      {"Softplus",
       {[](S &s, Value x) { return numeric::softplus(s, x); }, true}},
      {"FastGelu",
       {[](S &s, Value x) { return numeric::geluTanh(s, x); }, true}},
  };
  return table;
}

Value importer::scalarUnary(Scalars &s, StringRef op, Value x) {
  return unaries().lookup(op).fn(s, x);
}

LogicalResult onhost::unary(NodeContext &node) {
  Value x = hostValue(node, 0);
  if (!x)
    return failure();
  auto found = unaries().find(node.op());
  assert(found != unaries().end() && "the table of operations names it");
  int type = typeOf(node.input(0));
  bool rounds =
      node.op() == "Floor" || node.op() == "Ceil" || node.op() == "Round";
  if (rounds && !Loops::isReal(x))
    return give(node, 0, x, type);
  // Half of its numbers are stored as negative ones.
  if (type == TensorProto::UINT64 && node.op() == "Abs")
    return give(node, 0, x, type);
  if (type == TensorProto::UINT64 && node.op() == "Sign")
    return give(
        node, 0,
        eachOf(node, {x}, type,
               [&](Scalars &s, ValueRange a) { return s.flag(s.truth(a[0])); }),
        type);
  if (found->second.realOnly && !Loops::isReal(x))
    return node.refuse(
        formatv("its input has the element type {0}, for which {1} "
                "is not defined",
                typeName(type), node.op()));
  return give(node, 0,
              eachOf(node, {x}, type,
                     [&](Scalars &s, ValueRange a) {
                       return found->second.fn(s, a[0]);
                     }),
              type);
}

LogicalResult onhost::activation(NodeContext &node) {
  if (failed(requireReals(node)))
    return failure();
  Value x = hostValue(node, 0);
  if (!x)
    return failure();
  StringRef op = node.op();
  auto number = [&](StringRef name, double fallback) {
    return node.getFloat(name, float(fallback));
  };
  std::string form = node.getString("approximate", "none");
  Value bias = op == "BiasGelu" || (op == "FastGelu" && node.input(1))
                   ? hostValue(node, 1)
                   : Value();
  SmallVector<Value> in = {x};
  if (bias)
    in.push_back(bias);
  Value out =
      eachOf(node, in, TensorProto::FLOAT, [&](Scalars &s, ValueRange a) {
        Value v = bias ? s.add(a[0], a[1]) : a[0];
        if (op == "Celu") {
          Value alpha = s.real(number("alpha", 1));
          Value low = s.sub(s.exp(s.div(v, alpha)), s.real(1));
          return s.add(s.max(v, s.real(0)),
                       s.min(s.real(0), s.mul(alpha, low)));
        }
        if (op == "ThresholdedRelu")
          return s.select(s.less(s.real(number("alpha", 1)), v), v, s.real(0));
        if (op == "Shrink") {
          Value lambda = s.real(number("lambd", 0.5)),
                shift = s.real(number("bias", 0));
          Value high = s.select(s.less(lambda, v), s.sub(v, shift), s.real(0));
          return s.select(s.less(v, s.sub(s.real(0), lambda)), s.add(v, shift),
                          high);
        }
        if (op == "Swish" || op == "QuickGelu") {
          double alpha = number("alpha", op == "Swish" ? 1 : 1.702);
          return numeric::swish(s, v, alpha);
        }
        if (op == "FastGelu" || form == "tanh")
          return numeric::geluTanh(s, v);
        assert((op == "Gelu" || op == "BiasGelu") && "the table names it");
        return numeric::gelu(s, v);
      });
  return give(node, 0, out, TensorProto::FLOAT);
}

/// x^y of whole numbers towards zero, by squaring over the low bits of y. With
/// a negative y, or one of 64 and more, it is 0 unless x is 1 or -1.
static Value power(Scalars &s, Value x, Value y) {
  Value isUnit = s.either(s.equal(x, s.whole(1)), s.equal(x, s.whole(-1)));
  Value isFar = s.notLess(y, s.whole(64), /*isUnsigned=*/true);
  Value result = s.whole(1);
  for (int bit = 0; bit < 6; ++bit) {
    Value isSet = s.truth(s.both(y, s.whole(int64_t(1) << bit)));
    result = s.select(isSet, s.mul(result, x), result);
    x = s.mul(x, x);
  }
  return s.select(isFar, s.select(isUnit, result, s.whole(0)), result);
}

/// Quotient or remainder. Of integers a processor traps at a divisor of 0, and
/// at the least one divided by −1, which wraps around.
static Value divided(Scalars &s, Value x, Value y, const BinaryForm &form,
                     bool isRemainder) {
  const bool mayTrap = form.mayTrap && !Scalars::isReal(x);
  if (mayTrap)
    y = s.divisor(y);
  Value isNegation;
  if (mayTrap && !form.isUnsigned) {
    isNegation = s.equal(y, s.whole(-1));
    y = s.select(isNegation, s.whole(1), y);
  }
  if (isRemainder)
    return s.rem(x, y, form.isUnsigned);
  Value quotient = s.div(x, y, form.isUnsigned);
  return isNegation ? s.select(isNegation, s.sub(s.whole(0), x), quotient)
                    : quotient;
}

/// The remainder with the sign of y (NumPy's mod).
static Value floorMod(Scalars &s, Value x, Value y, const BinaryForm &form) {
  Value r = divided(s, x, y, form, /*isRemainder=*/true);
  if (form.isUnsigned)
    return r;
  Value zero = zeroOf(s, r);
  Value differ = s.exclusive(s.less(r, zero), s.less(y, zero));
  Value isZero = s.equal(r, zero);
  return s.select(isZero, r, s.select(differ, s.add(r, y), r));
}

Value importer::scalarBinary(Scalars &s, StringRef op, Value p, Value q,
                             const BinaryForm &form) {
  if (op == "Add")
    return s.add(p, q);
  if (op == "Sub")
    return s.sub(p, q);
  if (op == "Mul")
    return s.mul(p, q);
  if (op == "Div")
    return divided(s, p, q, form, /*isRemainder=*/false);
  if (op == "Max")
    return s.max(p, q, form.isUnsigned);
  if (op == "Min")
    return s.min(p, q, form.isUnsigned);
  if (op == "Mod")
    return form.isFmod ? divided(s, p, q, form, /*isRemainder=*/true)
                       : floorMod(s, p, q, form);
  if (op == "Pow")
    return Scalars::isReal(p) ? s.apply<math::PowFOp>(p, q) : power(s, p, q);
  if (op == "Equal")
    return s.flag(s.equal(p, q));
  if (op == "Less")
    return s.flag(s.less(p, q, form.isUnsigned));
  if (op == "Greater")
    return s.flag(s.less(q, p, form.isUnsigned));
  if (op == "LessOrEqual")
    return s.flag(s.notLess(q, p, form.isUnsigned));
  if (op == "GreaterOrEqual")
    return s.flag(s.notLess(p, q, form.isUnsigned));
  if (op == "And" || op == "BitwiseAnd")
    return s.both(p, q);
  if (op == "Or" || op == "BitwiseOr")
    return s.either(p, q);
  if (op == "Xor" || op == "BitwiseXor")
    return s.exclusive(p, q);
  assert(op == "BitShift" && "the table of operations names it");
  // A shift by the width or more, or by a negative number, leaves nothing,
  // or the sign.
  Value far = s.notLess(q, s.whole(64), true), none = s.whole(0);
  if (form.goesRight && !form.isUnsigned)
    return s.apply<arith::ShRSIOp>(p, s.select(far, s.whole(63), q));
  Value by = s.select(far, none, q);
  Value moved = form.goesRight ? s.apply<arith::ShRUIOp>(p, by)
                               : s.apply<arith::ShLIOp>(p, by);
  return s.select(far, none, moved);
}

Value importer::computeBinary(NodeContext &node, StringRef op, Value x, Value y,
                              int type) {
  int result =
      llvm::StringSwitch<int>(op)
          .Cases({"Equal", "Less", "Greater", "LessOrEqual"}, TensorProto::BOOL)
          .Cases({"GreaterOrEqual", "And", "Or", "Xor"}, TensorProto::BOOL)
          .Default(type);
  // Constant divisors are seen.
  TensorRef divisor = node.input(1);
  bool isHarmless = divisor && divisor->isPlainConstant() &&
                    llvm::none_of(divisor->constant->ints,
                                  [](int64_t v) { return v == 0 || v == -1; });
  BinaryForm form{isUnsigned(type),
                  node.getString("direction", "LEFT") != "LEFT",
                  node.getInt("fmod", 0) != 0, !isHarmless};
  return eachOf(node, {x, y}, result, [&](Scalars &s, ValueRange a) {
    return scalarBinary(s, op, a[0], a[1], form);
  });
}

/// Integers to a real power, which is cut to an integer.
static Value realPower(NodeContext &node, Value x, Value y, int type) {
  return eachOf(node, {x, y}, type, [&](Scalars &s, ValueRange a) -> Value {
    Type real = s.b.getF64Type();
    Value base = s.toReal(a[0], isUnsigned(type), real),
          exponent = arith::ExtFOp::create(s.b, s.loc, real, a[1]);
    return s.toWhole(s.apply<math::PowFOp>(base, exponent));
  });
}

LogicalResult onhost::binary(NodeContext &node) {
  StringRef op = node.op();
  if (node.inputs.empty())
    return node.refuse("it has no input");
  Value out = hostValue(node, 0);
  if (!out)
    return failure();
  int type = typeOf(node.input(0));
  bool logic = op == "And" || op == "Or" || op == "Xor";
  bool whole = logic || op.starts_with("Bit");
  for (size_t i = 1; i < node.inputs.size(); ++i) {
    Value y = hostValue(node, i);
    if (!y)
      return failure();
    if (op == "Pow" && Loops::isReal(out) && !Loops::isReal(y))
      y = convertTo(node, y, typeOf(node.input(i)), TensorProto::FLOAT);
    if (op == "Pow" && !Loops::isReal(out) && Loops::isReal(y) &&
        Loops::broadcast(Loops::shapeOf(out), Loops::shapeOf(y)))
      return give(node, 0, realPower(node, out, y, type), type);
    if (Loops::isReal(out) != Loops::isReal(y) || (whole && Loops::isReal(out)))
      return node.refuse(formatv(
          "its inputs have the element types {0} and {1}",
          typeName(typeOf(node.input(0))), typeName(typeOf(node.input(i)))));
    if (!Loops::broadcast(Loops::shapeOf(out), Loops::shapeOf(y)))
      return node.refuse(
          formatv("its inputs' shapes {0} and {1} do not broadcast",
                  describe(node.input(0)->shape),
                  describe(node.input(i)->shape)),
          toBroadcast(node.input(0)->shape, node.input(i)->shape));
    StringRef step = op == "Sum" || op == "Mean" ? "Add" : op;
    out = computeBinary(node, step, out, y, type);
  }
  if (op == "Mean") {
    double n = double(node.inputs.size());
    out = eachOf(node, {out}, type, [&](Scalars &s, ValueRange a) {
      return s.div(a[0], s.number(n, a[0]));
    });
  }
  bool truth = logic || op == "Equal" || op.starts_with("Less") ||
               op.starts_with("Greater");
  return give(node, 0, out, truth ? int(TensorProto::BOOL) : type);
}

LogicalResult onhost::test(NodeContext &node) {
  Value x = hostValue(node, 0);
  if (!x)
    return failure();
  StringRef op = node.op();
  if (op == "Not" || op == "BitwiseNot") {
    int type = typeOf(node.input(0));
    return give(node, 0,
                eachOf(node, {x}, type,
                       [&](Scalars &s, ValueRange a) {
                         Value all = s.whole(op == "Not" ? 1 : -1);
                         return s.exclusive(a[0], all);
                       }),
                type);
  }
  if (!Loops::isReal(x))
    return node.refuse("its input holds integers");
  bool up = node.getInt("detect_positive", 1) != 0,
       down = node.getInt("detect_negative", 1) != 0;
  return give(node, 0,
              eachOf(node, {x}, TensorProto::BOOL,
                     [&](Scalars &s, ValueRange a) {
                       if (op == "IsNaN") {
                         Value same = s.equal(a[0], a[0]);
                         return s.sub(s.whole(1), s.flag(same));
                       }
                       auto is = [&](double what, bool wanted) -> Value {
                         if (!wanted)
                           return s.whole(0);
                         return s.flag(s.equal(a[0], s.real(what)));
                       };
                       return s.either(is(INFINITY, up), is(-INFINITY, down));
                     }),
              TensorProto::BOOL);
}

LogicalResult onhost::where(NodeContext &node) {
  Value c = hostValue(node, 0), x = c ? hostValue(node, 1) : Value(),
        y = x ? hostValue(node, 2) : Value();
  if (!y)
    return failure();
  auto shape = Loops::broadcast(Loops::shapeOf(c), Loops::shapeOf(x));
  if (shape)
    shape = Loops::broadcast(*shape, Loops::shapeOf(y));
  if (!shape || Loops::isReal(c) || Loops::isReal(x) != Loops::isReal(y))
    return node.refuse("its inputs' shapes or element types do not fit");
  int type = typeOf(node.input(1));
  return give(node, 0,
              eachOf(node, {c, x, y}, type,
                     [&](Scalars &s, ValueRange a) {
                       return s.select(s.truth(a[0]), a[1], a[2]);
                     }),
              type);
}

LogicalResult onhost::clip(NodeContext &node) {
  Value out = hostValue(node, 0);
  if (!out)
    return failure();
  int type = typeOf(node.input(0));
  auto bounded = [&](size_t i, StringRef attribute, bool low) -> LogicalResult {
    Value bound;
    if (node.input(i))
      bound = hostValue(node, i);
    else if (node.has(attribute))
      bound = scalarConstant(node, node.getFloat(attribute, 0), type);
    else
      return success();
    if (!bound)
      return failure();
    if (ShapedType::getNumElements(Loops::shapeOf(bound)) != 1 ||
        Loops::isReal(bound) != Loops::isReal(out))
      return node.refuse(
          formatv("its {0} has the shape {1} and the element type "
                  "{2}",
                  attribute, describe(Loops::shapeOf(bound)),
                  typeName(typeOf(node.input(i)))),
          formatv("one value of type {0} is needed", typeName(type)));
    bound = loops(node).reshape(bound, {});
    out = computeBinary(node, low ? "Max" : "Min", out, bound, type);
    return success();
  };
  if (failed(bounded(1, "min", true)) || failed(bounded(2, "max", false)))
    return failure();
  return give(node, 0, out, type);
}

Value importer::convertTo(Place &place, Value v, int from, int to) {
  if (from == to)
    return v;
  bool real = HostTensor::isRealType(to);
  if (real && Loops::isReal(v) && !halfType(place.context, to))
    return v;
  FloatType half = halfType(place.context, to);
  return eachOf(place, {v}, to, [&](Scalars &s, ValueRange a) -> Value {
    Value x = a[0];
    if (to == TensorProto::BOOL) {
      Value zero = s.equal(x, zeroOf(s, x));
      return s.sub(s.whole(1), s.flag(zero));
    }
    if (!real && Scalars::isReal(x) && to == TensorProto::UINT64) {
      // What int64 does not hold are its negative numbers.
      Value half = s.number(0x1p63, x), isLow = s.less(x, half);
      Value rest = s.toWhole(s.select(isLow, x, s.sub(x, half)));
      return s.select(isLow, rest, s.exclusive(rest, s.whole(INT64_MIN)));
    }
    if (!real)
      return Scalars::isReal(x) ? s.toWhole(x) : x;
    if (!Scalars::isReal(x))
      x = s.toReal(x, from == TensorProto::UINT64);
    return half ? s.rounded(x, half) : x;
  });
}

LogicalResult onhost::castOp(NodeContext &node) {
  Value x = hostValue(node, 0);
  if (!x)
    return failure();
  int to = node.op() == "CastLike" ? (node.input(1) ? typeOf(node.input(1)) : 0)
                                   : int(node.getInt("to", 0));
  if (!HostTensor::isRealType(to) && !isWholeType(to))
    return node.refuse(formatv("it casts to {0}", typeName(to)),
                       "casts to bool, integers of 8 to 64 bits and floats are "
                       "supported");
  return give(node, 0, convertTo(node, x, typeOf(node.input(0)), to), to);
}
