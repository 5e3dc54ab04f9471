// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Number formats as types, and the verifiers of the arithmetic.
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "rhizome/Dialect/Num/Ops.h"

using namespace mlir;
using namespace rhizome;
using namespace rhizome::num;
using numeric::Format;

Format FixedType::getFormat() const {
  return Format::fixed(getIntegerBits(), getFractionBits(), getIsSigned());
}

Format CustomFloatType::getFormat() const {
  return Format::floating(getExponentBits(), getMantissaBits(), getBias(),
                          getSubnormals(), getFinite());
}

static LogicalResult verifyFormat(function_ref<InFlightDiagnostic()> emitError,
                                  const Format &format) {
  if (std::string why = format.check(); !why.empty())
    return emitError() << "C1: " << why;
  return success();
}

LogicalResult FixedType::verify(function_ref<InFlightDiagnostic()> emitError,
                                int integerBits, int fractionBits,
                                bool isSigned) {
  return verifyFormat(emitError,
                      Format::fixed(integerBits, fractionBits, isSigned));
}

LogicalResult
CustomFloatType::verify(function_ref<InFlightDiagnostic()> emitError,
                        int exponentBits, int mantissaBits, int bias,
                        bool subnormals, bool finite) {
  return verifyFormat(emitError, Format::floating(exponentBits, mantissaBits,
                                                  bias, subnormals, finite));
}

Type FixedType::parse(AsmParser &parser) {
  SMLoc loc = parser.getCurrentLocation();
  int integerBits = 0, fractionBits = 0;
  bool isSigned = true;
  if (parser.parseLess() || parser.parseInteger(integerBits) ||
      parser.parseComma() || parser.parseInteger(fractionBits))
    return {};
  if (succeeded(parser.parseOptionalComma())) {
    if (parser.parseKeyword("unsigned"))
      return {};
    isSigned = false;
  }
  if (parser.parseGreater())
    return {};
  return getChecked([&] { return parser.emitError(loc); }, parser.getContext(),
                    integerBits, fractionBits, isSigned);
}

void FixedType::print(AsmPrinter &printer) const {
  printer << "<" << getIntegerBits() << ", " << getFractionBits()
          << (getIsSigned() ? ">" : ", unsigned>");
}

Type CustomFloatType::parse(AsmParser &parser) {
  SMLoc loc = parser.getCurrentLocation();
  int exponentBits = 0, mantissaBits = 0, bias = 0;
  bool hasBias = false, flush = false, finite = false;
  if (parser.parseLess() || parser.parseInteger(exponentBits) ||
      parser.parseComma() || parser.parseInteger(mantissaBits))
    return {};
  while (succeeded(parser.parseOptionalComma())) {
    if (succeeded(parser.parseOptionalKeyword("bias"))) {
      hasBias = true;
      if (parser.parseEqual() || parser.parseInteger(bias))
        return {};
    } else if (succeeded(parser.parseOptionalKeyword("flush"))) {
      flush = true;
    } else if (succeeded(parser.parseOptionalKeyword("finite"))) {
      finite = true;
    } else {
      parser.emitError(parser.getCurrentLocation(),
                       "expected bias, flush or finite");
      return {};
    }
  }
  if (parser.parseGreater())
    return {};
  if (!hasBias)
    bias = Format::floating(exponentBits, mantissaBits).bias;
  return getChecked([&] { return parser.emitError(loc); }, parser.getContext(),
                    exponentBits, mantissaBits, bias, !flush, finite);
}

void CustomFloatType::print(AsmPrinter &printer) const {
  printer << "<" << getExponentBits() << ", " << getMantissaBits();
  if (getBias() != getFormat().ieeeBias())
    printer << ", bias = " << getBias();
  if (!getSubnormals())
    printer << ", flush";
  if (getFinite())
    printer << ", finite";
  printer << ">";
}

std::optional<Format> num::formatOf(Type type) {
  if (auto shaped = dyn_cast<ShapedType>(type))
    type = shaped.getElementType();
  if (auto fixed = dyn_cast<FixedType>(type))
    return fixed.getFormat();
  if (auto real = dyn_cast<CustomFloatType>(type))
    return real.getFormat();
  if (type.isF64())
    return Format::binary64();
  if (type.isF32())
    return Format::binary32();
  return std::nullopt;
}

Type num::typeOf(MLIRContext *context, const Format &format) {
  if (format.isFixed())
    return FixedType::get(context, format.integerBits, format.fractionBits,
                          format.isSigned);
  return CustomFloatType::get(context, format.exponentBits, format.mantissaBits,
                              format.bias, format.subnormals, format.finite);
}

numeric::Arithmetic num::arithmeticOf(Operation *op) {
  if (auto compare = dyn_cast<CompareOp>(op)) {
    const Format format = *formatOf(compare.getLhs().getType());
    return numeric::Arithmetic(format, numeric::Rounding::NearestEven,
                               numeric::defaultOverflow(format));
  }
  auto rounding = op->getAttrOfType<RoundingAttr>("rounding").getValue();
  auto overflow = op->getAttrOfType<OverflowAttr>("overflow").getValue();
  return numeric::Arithmetic(*formatOf(op->getResult(0).getType()),
                             numeric::Rounding(rounding),
                             numeric::Overflow(overflow));
}

/// C1 of every operation.
static LogicalResult verifyOverflow(Operation *op, Overflow overflow) {
  Type type = op->getResult(0).getType();
  Format format = *formatOf(type);
  bool native = type.isF64() || type.isF32();
  if (format.isFixed() && overflow == Overflow::Infinity)
    return op->emitOpError("C1: ")
           << type << " has no infinity; overflow is wrap or saturate";
  if (format.isFloat() && overflow == Overflow::Wrap)
    return op->emitOpError("C1: ")
           << type << " does not wrap; overflow is infinity or saturate";
  if (format.isFloat() && format.finite && overflow != Overflow::Saturate)
    return op->emitOpError("C1: ") << type << " is finite: it saturates";
  if (native && overflow != Overflow::Infinity)
    return op->emitOpError("C1: ") << type << " goes to infinity";
  return success();
}

#define VERIFY(op)                                                             \
  LogicalResult op::verify() { return verifyOverflow(*this, getOverflow()); }
VERIFY(AddOp)
VERIFY(SubOp)
VERIFY(MulOp)
VERIFY(DivOp)
VERIFY(MinOp)
VERIFY(MaxOp)
VERIFY(FmaOp)
VERIFY(SqrtOp)
VERIFY(ExpOp)
VERIFY(LogOp)
VERIFY(NegOp)
VERIFY(AbsOp)
VERIFY(CastOp)
#undef VERIFY
