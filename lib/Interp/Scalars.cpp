// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The table of scalar operations. Sums and products of f32 are computed in f32,
// as in compiled kernels; functions of f32 in double and rounded once.
// Exponentials and logarithms of f64 are rounded correctly, as in hardware.
#include "Scalars.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/TypeSwitch.h"
#include <bit>
#include <cmath>

using namespace mlir;
using namespace rhizome;
using namespace rhizome::interp;
using numeric::Arithmetic;
using numeric::Bits;
using numeric::Format;

std::optional<Format> interp::realFormat(Type type) {
  if (auto format = num::formatOf(type))
    return format;
  auto real = dyn_cast<FloatType>(getElementTypeOrSelf(type));
  if (real && real.isF16())
    return Format::floating(5, 10);
  if (real && real.isBF16())
    return Format::floating(8, 7);
  return std::nullopt;
}

std::optional<Kind> interp::kindOf(Type type) {
  type = getElementTypeOrSelf(type);
  if (auto integer = dyn_cast<IntegerType>(type))
    return integer.getWidth() <= 64 ? std::optional(Kind::Integer)
                                    : std::nullopt;
  if (isa<IndexType, num::IntType>(type))
    return Kind::Integer;
  if (type.isF64())
    return Kind::Double;
  if (type.isF32())
    return Kind::Single;
  return realFormat(type) ? std::optional(Kind::Pattern) : std::nullopt;
}

static unsigned widthOf(Type type) {
  auto integer = dyn_cast<IntegerType>(type);
  return integer ? integer.getWidth() : 64;
}

Arithmetic interp::arithmeticOfAny(Operation *op) {
  if (isa_and_nonnull<num::NumDialect>(op->getDialect()))
    return num::arithmeticOf(op);
  return Arithmetic(*realFormat(op->getResult(0).getType()),
                    numeric::Rounding::NearestEven,
                    numeric::Overflow::Infinity);
}

std::optional<Code> interp::codeOf(Operation *op) {
  if (op->getNumResults() != 1 || !realFormat(op->getResult(0).getType()))
    return std::nullopt;
  return llvm::TypeSwitch<Operation *, std::optional<Code>>(op)
      .Case<arith::ConstantOp>([](auto) { return Code::Constant; })
      .Case<num::CastOp, arith::ExtFOp, arith::TruncFOp>(
          [](auto) { return Code::Cast; })
      .Case<num::AddOp, arith::AddFOp>([](auto) { return Code::Add; })
      .Case<num::SubOp, arith::SubFOp>([](auto) { return Code::Sub; })
      .Case<num::MulOp, arith::MulFOp>([](auto) { return Code::Mul; })
      .Case<num::DivOp, arith::DivFOp>([](auto) { return Code::Div; })
      .Case<num::MinOp, arith::MinimumFOp, arith::MinNumFOp>(
          [](auto) { return Code::Min; })
      .Case<num::MaxOp, arith::MaximumFOp, arith::MaxNumFOp>(
          [](auto) { return Code::Max; })
      .Case<num::FmaOp, math::FmaOp>([](auto) { return Code::Fma; })
      .Case<num::SqrtOp, math::SqrtOp>([](auto) { return Code::Sqrt; })
      .Case<num::ExpOp, math::ExpOp>([](auto) { return Code::Exp; })
      .Case<num::LogOp, math::LogOp>([](auto) { return Code::Log; })
      .Case<num::NegOp, arith::NegFOp>([](auto) { return Code::Neg; })
      .Case<num::AbsOp, math::AbsFOp>([](auto) { return Code::Abs; })
      .Default([](Operation *) { return std::nullopt; });
}

Scalar interp::scalarOf(double value, Type type) {
  Scalar s;
  switch (*kindOf(type)) {
  case Kind::Integer:
    s.whole = int64_t(value);
    break;
  case Kind::Single:
    s.single = float(value);
    break;
  case Kind::Double:
    s.real = value;
    break;
  case Kind::Pattern: {
    Format format = *realFormat(type);
    s.pattern = Arithmetic(format, numeric::Rounding::NearestEven,
                           numeric::defaultOverflow(format))
                    .fromDouble(value);
    break;
  }
  }
  return s;
}

std::optional<Scalar> interp::scalarOf(arith::ConstantOp op) {
  if (auto real = dyn_cast<FloatAttr>(op.getValue()))
    return kindOf(op.getType())
               ? std::optional(scalarOf(real.getValueAsDouble(), op.getType()))
               : std::nullopt;
  auto whole = dyn_cast<IntegerAttr>(op.getValue());
  if (!whole || !kindOf(op.getType()))
    return std::nullopt;
  Scalar s;
  s.whole = whole.getValue().getSExtValue();
  return s;
}

//===----------------------------------------------------------------------===//
// Reals of the processor
//===----------------------------------------------------------------------===//

using S = const Scalar &;
using M = const Meaning &;

template <typename T> static T get(S s) {
  if constexpr (std::is_same_v<T, float>)
    return s.single;
  else
    return s.real;
}
static void set(Scalar &s, float v) { s.single = v; }
static void set(Scalar &s, double v) { s.real = v; }

template <typename T, typename Fn>
static void runReal(Scalar &to, S x, S y, S z, M) {
  set(to, T(Fn()(get<T>(x), get<T>(y), get<T>(z))));
}

/// `fn` in f32 or f64.
template <typename Fn> static Meaning::Run real(Kind kind, Fn) {
  if (kind == Kind::Single)
    return runReal<float, Fn>;
  return kind == Kind::Double ? runReal<double, Fn> : nullptr;
}

/// IEEE 754's minimum and maximum: NaN if either operand is, −0 below +0.
template <typename T> static T minimum(T a, T b) {
  return a != a   ? a
         : b != b ? b
         : a == b ? (std::signbit(a) ? a : b)
         : a < b  ? a
                  : b;
}
template <typename T> static T maximum(T a, T b) {
  return a != a   ? a
         : b != b ? b
         : a == b ? (std::signbit(a) ? b : a)
         : a > b  ? a
                  : b;
}

static const Arithmetic &binary64() {
  static const Arithmetic arithmetic(Format::binary64(),
                                     numeric::Rounding::NearestEven,
                                     numeric::Overflow::Infinity);
  return arithmetic;
}
static double exponential(float a) { return std::exp(double(a)); }
static double exponential(double a) {
  return binary64().toDouble(binary64().exp(std::bit_cast<uint64_t>(a)));
}
static double logarithm(float a) { return std::log(double(a)); }
static double logarithm(double a) {
  return binary64().toDouble(binary64().log(std::bit_cast<uint64_t>(a)));
}

static Meaning::Run realRun(Operation *op, Kind kind) {
#define REAL(OP, EXPRESSION)                                                   \
  .Case<OP>([&](auto) {                                                        \
    return real(kind, [](auto a, auto b, auto c) {                             \
      double x = double(a);                                                    \
      (void)b, (void)c, (void)x;                                               \
      return EXPRESSION;                                                       \
    });                                                                        \
  })
  return llvm::TypeSwitch<Operation *, Meaning::Run>(op)
      // clang-format off
      REAL(arith::AddFOp, a + b) REAL(arith::SubFOp, a - b)
      REAL(arith::MulFOp, a * b) REAL(arith::DivFOp, a / b)
      REAL(arith::RemFOp, std::fmod(a, b)) REAL(arith::NegFOp, -a)
      REAL(arith::MinimumFOp, minimum(a, b)) REAL(arith::MaximumFOp, maximum(a, b))
      REAL(arith::MinNumFOp, a != a ? b : b != b ? a : minimum(a, b))
      REAL(arith::MaxNumFOp, a != a ? b : b != b ? a : maximum(a, b))
      REAL(math::FmaOp, std::fma(a, b, c))
      REAL(math::AbsFOp, std::fabs(a)) REAL(math::SqrtOp, std::sqrt(a))
      REAL(math::ExpOp, exponential(a)) REAL(math::LogOp, logarithm(a))
      REAL(math::TanhOp, std::tanh(x)) REAL(math::ErfOp, std::erf(x))
      REAL(math::SinOp, std::sin(x)) REAL(math::CosOp, std::cos(x))
      REAL(math::TanOp, std::tan(x)) REAL(math::AsinOp, std::asin(x))
      REAL(math::AcosOp, std::acos(x)) REAL(math::AtanOp, std::atan(x))
      REAL(math::SinhOp, std::sinh(x)) REAL(math::CoshOp, std::cosh(x))
      REAL(math::AsinhOp, std::asinh(x)) REAL(math::AcoshOp, std::acosh(x))
      REAL(math::AtanhOp, std::atanh(x)) REAL(math::FloorOp, std::floor(a))
      REAL(math::CeilOp, std::ceil(a)) REAL(math::RoundEvenOp, std::nearbyint(a))
      REAL(math::RoundOp, std::round(a)) REAL(math::TruncOp, std::trunc(a))
      REAL(math::Log1pOp, std::log1p(x)) REAL(math::PowFOp, std::pow(x, double(b)))
                                                              // clang-format on
                                                              .Default([](Operation
                                                                              *) {
                                                                return nullptr;
                                                              });
#undef REAL
}

template <typename T> static void runCompare(Scalar &to, S x, S y, M m) {
  T a = get<T>(x), b = get<T>(y);
  bool is = arith::applyCmpPredicate(arith::CmpFPredicate(m.predicate),
                                     llvm::APFloat(a), llvm::APFloat(b));
  to.whole = -int64_t(is);
}

//===----------------------------------------------------------------------===//
// Patterns
//===----------------------------------------------------------------------===//

template <Code code>
static Bits compute(const Arithmetic &n, const Format &from, Bits a, Bits b,
                    Bits c) {
  switch (code) {
  case Code::Cast:
    return n.convert(from, a);
  case Code::Add:
    return n.add(a, b);
  case Code::Sub:
    return n.sub(a, b);
  case Code::Mul:
    return n.mul(a, b);
  case Code::Div:
    return n.div(a, b);
  case Code::Min:
    return n.min(a, b);
  case Code::Max:
    return n.max(a, b);
  case Code::Fma:
    return n.fma(a, b, c);
  case Code::Sqrt:
    return n.sqrt(a);
  case Code::Exp:
    return n.exp(a);
  case Code::Log:
    return n.log(a);
  case Code::Neg:
    return n.neg(a);
  case Code::Abs:
    return n.abs(a);
  case Code::Input:
  case Code::Constant:
    return a;
  }
  llvm_unreachable("every code is handled");
}

/// A result exceeded its format if the two treatments of overflow differ.
template <Code code>
static void watch(M m, Bits a, Bits b, Bits c, Bits result) {
  const Format &f = m.arithmetic->format();
  numeric::Overflow other =
      m.arithmetic->overflow() == numeric::Overflow::Saturate
          ? (f.isFixed() ? numeric::Overflow::Wrap
                         : numeric::Overflow::Infinity)
          : numeric::Overflow::Saturate;
  Arithmetic second(f, m.arithmetic->rounding(), other);
  if (compute<code>(second, m.fromFormat, a, b, c) == result)
    return;
  ++m.overflow->count;
  if (!llvm::is_contained(m.overflow->ops, m.op))
    m.overflow->ops.push_back(m.op);
}

static Bits patternOf(Kind kind, S s) {
  if (kind == Kind::Single)
    return std::bit_cast<uint32_t>(s.single);
  return kind == Kind::Double ? Bits(std::bit_cast<uint64_t>(s.real))
                              : s.pattern;
}

template <Code code> static void runPattern(Scalar &to, S x, S y, S z, M m) {
  Bits a = x.pattern, b = y.pattern, c = z.pattern;
  if constexpr (code == Code::Cast)
    a = patternOf(m.from, x);
  Bits result = compute<code>(*m.arithmetic, m.fromFormat, a, b, c);
  if (m.overflow && isa<num::NumDialect>(m.op->getDialect()))
    watch<code>(m, a, b, c, result);
  if (m.to == Kind::Single)
    to.single = std::bit_cast<float>(uint32_t(result));
  else if (m.to == Kind::Double)
    to.real = std::bit_cast<double>(uint64_t(result));
  else
    to.pattern = result;
}

static Meaning::Run patternRun(Code code) {
  switch (code) {
#define CODE(NAME)                                                             \
  case Code::NAME:                                                             \
    return runPattern<Code::NAME>;
    CODE(Cast)
    CODE(Add)
    CODE(Sub)
    CODE(Mul)
    CODE(Div)
    CODE(Min)
    CODE(Max)
    CODE(Fma)
    CODE(Sqrt)
    CODE(Exp)
    CODE(Log)
    CODE(Neg)
    CODE(Abs)
#undef CODE
  case Code::Input:
  case Code::Constant:
    return nullptr;
  }
  llvm_unreachable("every code is handled");
}

//===----------------------------------------------------------------------===//
// Integers
//===----------------------------------------------------------------------===//

static int64_t signExtend(int64_t v, unsigned width) {
  return width >= 64 ? v : int64_t(uint64_t(v) << (64 - width)) >> (64 - width);
}
static uint64_t zeroExtend(int64_t v, unsigned width) {
  return width >= 64 ? uint64_t(v) : uint64_t(v) & ((uint64_t(1) << width) - 1);
}

template <typename Fn> static void runWhole(Scalar &to, S x, S y, S, M m) {
  to.whole = signExtend(int64_t(Fn()(x.whole, y.whole, m.width)), m.toWidth);
}
template <typename Fn> static Meaning::Run whole(Fn) { return runWhole<Fn>; }

/// Division by zero gives 0; bits shifted out are lost.
static Meaning::Run wholeRun(Operation *op) {
#define WHOLE(OP, EXPRESSION)                                                  \
  .Case<OP>([](auto) {                                                         \
    return whole([](int64_t a, int64_t b, unsigned w) {                        \
      uint64_t ua = zeroExtend(a, w), ub = zeroExtend(b, w);                   \
      (void)ua, (void)ub, (void)b;                                             \
      return EXPRESSION;                                                       \
    });                                                                        \
  })
  return llvm::TypeSwitch<Operation *, Meaning::Run>(op)
      // clang-format off
      WHOLE(arith::AddIOp, uint64_t(a) + uint64_t(b))
      WHOLE(arith::SubIOp, uint64_t(a) - uint64_t(b))
      WHOLE(arith::MulIOp, uint64_t(a) * uint64_t(b))
      WHOLE(arith::DivSIOp, b == 0 ? 0 : b == -1 ? -uint64_t(a) : uint64_t(a / b))
      WHOLE(arith::DivUIOp, ub == 0 ? 0 : ua / ub)
      WHOLE(arith::RemSIOp, b == 0 || b == -1 ? 0 : a % b)
      WHOLE(arith::RemUIOp, ub == 0 ? 0 : ua % ub)
      WHOLE(arith::AndIOp, a & b) WHOLE(arith::OrIOp, a | b)
      WHOLE(arith::XOrIOp, a ^ b)
      WHOLE(arith::ShLIOp, ub >= w ? 0 : ua << ub)
      WHOLE(arith::ShRUIOp, ub >= w ? 0 : ua >> ub)
      WHOLE(arith::ShRSIOp, ub >= w ? (a < 0 ? -1 : 0) : a >> ub)
      WHOLE(arith::MaxSIOp, std::max(a, b)) WHOLE(arith::MinSIOp, std::min(a, b))
      WHOLE(arith::MaxUIOp, std::max(ua, ub)) WHOLE(arith::MinUIOp, std::min(ua, ub))
      WHOLE(arith::IndexCastOp, a) WHOLE(arith::IndexCastUIOp, ua)
      WHOLE(arith::ExtSIOp, a) WHOLE(arith::ExtUIOp, ua) WHOLE(arith::TruncIOp, a)
                                                      // clang-format on
                                                      .Default([](Operation *) {
                                                        return nullptr;
                                                      });
#undef WHOLE
}

static void runCompareWhole(Scalar &to, S x, S y, S, M m) {
  int64_t a = x.whole, b = y.whole;
  uint64_t ua = uint64_t(a), ub = uint64_t(b);
  auto is = [&] {
    switch (arith::CmpIPredicate(m.predicate)) {
    case arith::CmpIPredicate::eq:
      return a == b;
    case arith::CmpIPredicate::ne:
      return a != b;
    case arith::CmpIPredicate::slt:
      return a < b;
    case arith::CmpIPredicate::sle:
      return a <= b;
    case arith::CmpIPredicate::sgt:
      return a > b;
    case arith::CmpIPredicate::sge:
      return a >= b;
    case arith::CmpIPredicate::ult:
      return ua < ub;
    case arith::CmpIPredicate::ule:
      return ua <= ub;
    case arith::CmpIPredicate::ugt:
      return ua > ub;
    case arith::CmpIPredicate::uge:
      return ua >= ub;
    }
    llvm_unreachable("every predicate is handled");
  };
  to.whole = -int64_t(is());
}

//===----------------------------------------------------------------------===//
// Conversions
//===----------------------------------------------------------------------===//

template <typename T> static void runToWhole(Scalar &to, S x, S, S, M m) {
  T v = get<T>(x);
  bool fits = v >= T(-0x1p63) && v < T(0x1p63);
  to.whole = signExtend(fits ? int64_t(v) : INT64_MIN, m.toWidth);
}

/// Those between the processor's types; null for others.
static Meaning::Run conversionRun(Operation *op, Kind from, Kind to) {
  bool single = to == Kind::Single;
  if (isa<arith::SIToFPOp>(op) && to != Kind::Pattern)
    return single ? [](Scalar &r, S x, S, S, M) { r.single = float(x.whole); }
                  : [](Scalar &r, S x, S, S, M) { r.real = double(x.whole); };
  if (isa<arith::UIToFPOp>(op) && to != Kind::Pattern)
    return single ? [](Scalar &r, S x, S, S,
                       M m) { r.single = float(zeroExtend(x.whole, m.width)); }
                  : [](Scalar &r, S x, S, S, M m) {
                      r.real = double(zeroExtend(x.whole, m.width));
                    };
  if (isa<arith::FPToSIOp>(op) && from != Kind::Pattern)
    return from == Kind::Single ? runToWhole<float> : runToWhole<double>;
  if (isa<arith::BitcastOp>(op) && from == Kind::Single && to == Kind::Integer)
    return [](Scalar &r, S x, S, S, M) {
      r.whole = std::bit_cast<int32_t>(x.single);
    };
  if (isa<arith::BitcastOp>(op) && from == Kind::Integer && single)
    return [](Scalar &r, S x, S, S, M) {
      r.single = std::bit_cast<float>(uint32_t(x.whole));
    };
  if (isa<arith::ExtFOp>(op) && from == Kind::Single && to == Kind::Double)
    return [](Scalar &r, S x, S, S, M) { r.real = x.single; };
  if (isa<arith::TruncFOp>(op) && from == Kind::Double && single)
    return [](Scalar &r, S x, S, S, M) { r.single = float(x.real); };
  return nullptr;
}

std::optional<Meaning> interp::meaningOf(Operation *op,
                                         OverflowEvent *overflow) {
  if (op->getNumResults() != 1 || op->getNumOperands() == 0 ||
      op->getNumOperands() > 3)
    return std::nullopt;
  Type result = op->getResult(0).getType(),
       operand = op->getOperand(0).getType();
  auto to = kindOf(result), from = kindOf(operand);
  if (!to || !from || isa<ShapedType>(result))
    return std::nullopt;
  Meaning m;
  m.op = op;
  m.overflow = overflow;
  m.from = *from;
  m.to = *to;
  m.width = widthOf(operand);
  m.toWidth = widthOf(result);
  if (isa<arith::SelectOp>(op)) {
    m.run = [](Scalar &r, S c, S x, S y, M) { r = c.whole ? x : y; };
    return m;
  }
  if (auto compare = dyn_cast<arith::CmpIOp>(op)) {
    m.predicate = unsigned(compare.getPredicate());
    m.run = runCompareWhole;
    return m;
  }
  if (auto compare = dyn_cast<num::CompareOp>(op)) {
    m.predicate = unsigned(compare.getPredicate());
    m.arithmetic = arithmeticOfAny(op);
    m.run = [](Scalar &r, S x, S y, S, M m) {
      r.whole =
          -int64_t(num::holds(num::Predicate(m.predicate),
                              m.arithmetic->compare(x.pattern, y.pattern)));
    };
    return m;
  }
  if (auto compare = dyn_cast<arith::CmpFOp>(op)) {
    m.predicate = unsigned(compare.getPredicate());
    m.run =
        *from == Kind::Single   ? Meaning::Run([](Scalar &r, S x, S y, S, M m) {
          runCompare<float>(r, x, y, m);
        })
        : *from == Kind::Double ? Meaning::Run([](Scalar &r, S x, S y, S, M m) {
            runCompare<double>(r, x, y, m);
          })
                                : nullptr;
    return m.run ? std::optional(m) : std::nullopt;
  }
  m.run = conversionRun(op, *from, *to);
  if (!m.run)
    m.run = *to == Kind::Integer ? wholeRun(op) : realRun(op, *to);
  if (m.run)
    return m;
  auto code = codeOf(op);
  if (!code || *code == Code::Constant || !realFormat(operand))
    return std::nullopt;
  m.arithmetic = arithmeticOfAny(op);
  m.fromFormat = *realFormat(operand);
  m.run = patternRun(*code);
  return m.run ? std::optional(m) : std::nullopt;
}
