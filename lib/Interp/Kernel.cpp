// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels in numbers: every element a pattern, every operation the arithmetic
// of its format; f64 and f32 by the processor.
#include "rhizome/Interp/Kernel.h"
#include "KernelWalk.h"
#include <bit>
#include <cmath>

using namespace mlir;
using namespace rhizome;
using namespace rhizome::interp;
using numeric::Arithmetic;
using numeric::Bits;

NumberTensor NumberTensor::ofDoubles(std::vector<int64_t> shape,
                                     const std::vector<double> &values,
                                     const numeric::Format &format) {
  Arithmetic to(format, numeric::Rounding::NearestEven,
                numeric::Overflow::Saturate);
  NumberTensor tensor{std::move(shape), format, {}};
  for (double v : values)
    tensor.values.push_back(format == numeric::Format::binary64()
                                ? Bits(std::bit_cast<uint64_t>(v))
                                : to.fromDouble(v));
  return tensor;
}

std::vector<double> NumberTensor::toDoubles() const {
  Arithmetic from(format, numeric::Rounding::NearestEven,
                  numeric::defaultOverflow(format));
  std::vector<double> reals;
  for (Bits v : values)
    reals.push_back(from.toDouble(v));
  return reals;
}

namespace {
template <typename Real> Real native(Code code, Real a, Real b, Real c) {
  switch (code) {
  case Code::Add:
    return a + b;
  case Code::Sub:
    return a - b;
  case Code::Mul:
    return a * b;
  case Code::Div:
    return a / b;
  case Code::Min:
    return a != a   ? a
           : b != b ? b
           : a == b ? (std::signbit(a) ? a : b)
           : a < b  ? a
                    : b;
  case Code::Max:
    return a != a   ? a
           : b != b ? b
           : a == b ? (std::signbit(a) ? b : a)
           : a > b  ? a
                    : b;
  case Code::Fma:
    return std::fma(a, b, c);
  case Code::Sqrt:
    return std::sqrt(a);
  case Code::Exp:
    return std::exp(a);
  case Code::Log:
    return std::log(a);
  case Code::Neg:
    return -a;
  case Code::Abs:
    return std::fabs(a);
  default:
    return a;
  }
}

/// Elements are patterns.
struct Numbers {
  using Value = Bits;
  struct Context {
    enum Kind : uint8_t { Double, Single, Format } kind;
    Arithmetic arithmetic;
    numeric::Format from; ///< of a cast's operand
    Operation *op;
  };
  OverflowEvent *overflow = nullptr;

  Value constant(double v, Type type) {
    return Arithmetic(*num::formatOf(type), numeric::Rounding::NearestEven,
                      numeric::defaultOverflow(*num::formatOf(type)))
        .fromDouble(v);
  }
  Context context(Operation *op) {
    Type type = op->getResult(0).getType();
    numeric::Format from = *num::formatOf(type);
    if (op->getNumOperands())
      from = num::formatOf(op->getOperand(0).getType()).value_or(from);
    return {isa<num::NumDialect>(op->getDialect()) ? Context::Format
            : type.isF64()                         ? Context::Double
                                                   : Context::Single,
            arithmeticOfAny(op), from, op};
  }
  Value apply(Code code, const Context &x, Value a, Value b, Value c) {
    if (code != Code::Cast && x.kind == Context::Double)
      return std::bit_cast<uint64_t>(
          native(code, std::bit_cast<double>(uint64_t(a)),
                 std::bit_cast<double>(uint64_t(b)),
                 std::bit_cast<double>(uint64_t(c))));
    if (code != Code::Cast && x.kind == Context::Single)
      return std::bit_cast<uint32_t>(native(code,
                                            std::bit_cast<float>(uint32_t(a)),
                                            std::bit_cast<float>(uint32_t(b)),
                                            std::bit_cast<float>(uint32_t(c))));
    Bits result = compute(code, x.arithmetic, x.from, a, b, c);
    if (overflow && x.kind == Context::Format)
      watch(code, x, a, b, c, result);
    return result;
  }

private:
  static Bits compute(Code code, const Arithmetic &n,
                      const numeric::Format &from, Bits a, Bits b, Bits c) {
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
    default:
      return a;
    }
  }
  /// A result left its format if the two treatments of overflow differ.
  void watch(Code code, const Context &x, Bits a, Bits b, Bits c, Bits result) {
    const numeric::Format &f = x.arithmetic.format();
    numeric::Overflow other =
        x.arithmetic.overflow() == numeric::Overflow::Saturate
            ? (f.isFixed() ? numeric::Overflow::Wrap
                           : numeric::Overflow::Infinity)
            : numeric::Overflow::Saturate;
    Arithmetic second(f, x.arithmetic.rounding(), other);
    if (compute(code, second, x.from, a, b, c) == result)
      return;
    ++overflow->count;
    if (!llvm::is_contained(overflow->ops, x.op))
      overflow->ops.push_back(x.op);
  }
};
} // namespace

FailureOr<std::vector<NumberTensor>>
rhizome::interpretKernel(func::FuncOp func, ArrayRef<NumberTensor> inputs,
                         OverflowEvent *overflow) {
  if (inputs.size() != func.getNumArguments())
    return func.emitError()
           << "@" << func.getSymName() << " takes " << func.getNumArguments()
           << " inputs, not " << inputs.size();
  std::vector<std::vector<Bits>> values;
  for (auto [i, input] : llvm::enumerate(inputs)) {
    Type type = func.getArgument(i).getType();
    if (num::formatOf(type) != input.format ||
        ArrayRef<int64_t>(input.shape) != ArrayRef<int64_t>(shapeOf(type)) ||
        int64_t(input.values.size()) != count(input.shape))
      return func.emitError() << "input " << i << " of @" << func.getSymName()
                              << " is " << type << "; another shape or format ("
                              << input.format.str() << ") was given";
    values.push_back(input.values);
  }
  Numbers domain;
  domain.overflow = overflow;
  auto results = KernelWalk<Numbers>(domain).run(func, std::move(values));
  if (failed(results))
    return failure();
  std::vector<NumberTensor> tensors;
  for (auto [type, result] : llvm::zip(func.getResultTypes(), *results))
    tensors.push_back(
        {std::vector<int64_t>(shapeOf(type).begin(), shapeOf(type).end()),
         *num::formatOf(type), std::move(result)});
  return tensors;
}
