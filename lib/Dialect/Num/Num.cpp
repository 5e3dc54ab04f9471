// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "rhizome/Dialect/Num/Ops.h"
#include "llvm/ADT/TypeSwitch.h"
#include <bit>

using namespace mlir;
using namespace rhizome::num;

#include "rhizome/Dialect/Num/NumDialect.cpp.inc"
#include "rhizome/Dialect/Num/NumEnums.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "rhizome/Dialect/Num/NumTypes.cpp.inc"

#define GET_OP_CLASSES
#include "rhizome/Dialect/Num/NumOps.cpp.inc"

void NumDialect::initialize() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "rhizome/Dialect/Num/NumTypes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "rhizome/Dialect/Num/NumOps.cpp.inc"
      >();
}

static int64_t fullLo(bool isSigned, unsigned width) {
  return isSigned ? -(int64_t(1) << (width - 1)) : 0;
}

static int64_t fullHi(bool isSigned, unsigned width) {
  if (isSigned)
    return width == 64 ? INT64_MAX : (int64_t(1) << (width - 1)) - 1;
  return width >= 63 ? INT64_MAX : (int64_t(1) << width) - 1;
}

IntType IntType::getFull(MLIRContext *context, bool isSigned, unsigned width) {
  return get(context, isSigned, width, fullLo(isSigned, width),
             fullHi(isSigned, width));
}

IntType IntType::getForRange(MLIRContext *context, int64_t lo, int64_t hi) {
  return get(context, lo < 0, bitsForRange(lo, hi), lo, hi);
}

bool IntType::isFullRange() const {
  return getLo() == fullLo(getIsSigned(), getWidth()) &&
         getHi() == fullHi(getIsSigned(), getWidth());
}

LogicalResult IntType::verify(function_ref<InFlightDiagnostic()> emitError,
                              bool isSigned, unsigned width, int64_t lo,
                              int64_t hi) {
  if (width < 1 || width > (isSigned ? 64u : 63u))
    return emitError() << "C1: width " << width << " is not in 1.."
                       << (isSigned ? 64 : 63);
  if (lo > hi || lo < fullLo(isSigned, width) || hi > fullHi(isSigned, width))
    return emitError() << "C2: the range " << lo << ":" << hi
                       << " does not fit " << (isSigned ? "s" : "u") << width;
  return success();
}

Type IntType::parse(AsmParser &parser) {
  SMLoc loc = parser.getCurrentLocation();
  StringRef keyword;
  unsigned width = 0;
  if (parser.parseLess() || parser.parseKeyword(&keyword))
    return {};
  bool isSigned = keyword.starts_with("s");
  if ((!isSigned && !keyword.starts_with("u")) ||
      keyword.drop_front().getAsInteger(10, width) || width < 1 || width > 64) {
    parser.emitError(loc,
                     "expected s<width> or u<width> with a width in 1..64");
    return {};
  }
  int64_t lo = fullLo(isSigned, width), hi = fullHi(isSigned, width);
  if (succeeded(parser.parseOptionalComma()))
    if (parser.parseInteger(lo) || parser.parseColon() ||
        parser.parseInteger(hi))
      return {};
  if (parser.parseGreater())
    return {};
  return IntType::getChecked([&] { return parser.emitError(loc); },
                             parser.getContext(), isSigned, width, lo, hi);
}

void IntType::print(AsmPrinter &printer) const {
  printer << "<" << (getIsSigned() ? "s" : "u") << getWidth();
  if (!isFullRange())
    printer << ", " << getLo() << ":" << getHi();
  printer << ">";
}

IntType rhizome::num::elementInt(Type tensor) {
  if (auto shaped = dyn_cast<ShapedType>(tensor))
    return dyn_cast<IntType>(shaped.getElementType());
  return {};
}

unsigned rhizome::num::bitsForRange(int64_t lo, int64_t hi) {
  if (lo >= 0)
    return std::max(1u, unsigned(std::bit_width(uint64_t(hi))));
  return 1 + unsigned(std::bit_width(uint64_t(std::max(~lo, hi))));
}
