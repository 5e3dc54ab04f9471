// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Floating point in bodies of nests: calls on patterns, which name the function
// and the arithmetic as `convert-num-to-arith` writes them. Kernels in the
// processor's own f32 and f64 get the same form here.
#include "Nest.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "rhizome/Conversion/Comparison.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace rhizome::gen::loops {
using numeric::Arithmetic;
using numeric::Format;
using numeric::Function;

static constexpr const char *kFloatCall = "rhizome_num_float";
static constexpr const char *kConvertCall = "rhizome_num_convert";
static constexpr const char *kFixedCall = "rhizome_num_fixed";
static constexpr const char *kQuotientCall = "rhizome_num_quotient";

static std::optional<uint64_t> known(Value v) {
  APInt value;
  if (matchPattern(v, m_ConstantInt(&value)))
    return value.getZExtValue();
  return std::nullopt;
}

std::optional<floats::Operator> operatorOf(Operation &op) {
  auto call = dyn_cast<func::CallOp>(op);
  if (!call ||
      !llvm::is_contained({kFloatCall, kConvertCall, kFixedCall, kQuotientCall},
                          call.getCallee()))
    return std::nullopt;
  // The arithmetic, and the function or the arithmetic of what is converted.
  auto first = known(call.getOperand(0));
  if (!first)
    return std::nullopt;
  const Arithmetic arithmetic = numeric::unpack(*first);
  if (call.getCallee() == kQuotientCall)
    return floats::Operator(Function::Div, arithmetic);
  auto second = known(call.getOperand(1));
  if (!second)
    return std::nullopt;
  if (call.getCallee() == kConvertCall)
    return floats::Operator(numeric::unpack(*second).format(), arithmetic);
  return floats::Operator(Function(*second), arithmetic);
}

unsigned firstPatternOf(Operation &call) {
  return cast<func::CallOp>(call).getCallee() == kQuotientCall ? 1 : 2;
}

std::optional<APInt> evaluateCall(func::CallOp call,
                                  ArrayRef<Attribute> operands) {
  std::vector<numeric::Bits> in;
  for (Attribute operand : operands) {
    auto value = dyn_cast_or_null<IntegerAttr>(operand);
    if (!value)
      return std::nullopt;
    APInt bits = value.getValue().zextOrTrunc(128);
    in.push_back(numeric::Bits(bits.extractBitsAsZExtValue(64, 64)) << 64 |
                 bits.extractBitsAsZExtValue(64, 0));
  }
  numeric::Bits result;
  if (call.getCallee() == kFloatCall)
    result =
        rhizome_num_float(uint64_t(in[0]), uint32_t(in[1]), uint64_t(in[2]),
                          uint64_t(in[3]), uint64_t(in[4]));
  else if (call.getCallee() == kFixedCall)
    result = rhizome_num_fixed(uint64_t(in[0]), uint32_t(in[1]), in[2]);
  else if (call.getCallee() == kQuotientCall)
    result =
        rhizome_num_quotient(uint64_t(in[0]), uint64_t(in[1]), uint64_t(in[2]));
  else if (call.getCallee() == kConvertCall)
    result = rhizome_num_convert(uint64_t(in[0]), uint64_t(in[1]), in[2]);
  else
    return std::nullopt;
  const uint64_t words[2] = {uint64_t(result), uint64_t(result >> 64)};
  return APInt(128, words)
      .trunc(call.getResult(0).getType().getIntOrFloatBitWidth());
}

namespace {
/// The format of a type of the processor.
std::optional<Format> nativeFormat(Type type) {
  if (type.isF64())
    return Format::binary64();
  if (type.isF32())
    return Format::binary32();
  return std::nullopt;
}

std::optional<Function> nativeFunction(Operation &op) {
  return llvm::TypeSwitch<Operation *, std::optional<Function>>(&op)
      .Case([](arith::AddFOp) { return Function::Add; })
      .Case([](arith::SubFOp) { return Function::Sub; })
      .Case([](arith::MulFOp) { return Function::Mul; })
      .Case([](arith::DivFOp) { return Function::Div; })
      .Case<arith::MinimumFOp, arith::MinNumFOp>(
          [](Operation *) { return Function::Min; })
      .Case<arith::MaximumFOp, arith::MaxNumFOp>(
          [](Operation *) { return Function::Max; })
      .Case([](arith::NegFOp) { return Function::Neg; })
      .Case([](math::AbsFOp) { return Function::Abs; })
      .Case([](math::FmaOp) { return Function::Fma; })
      .Case([](math::SqrtOp) { return Function::Sqrt; })
      .Case([](math::ExpOp) { return Function::Exp; })
      .Case([](math::LogOp) { return Function::Log; })
      .Default([](Operation *) { return std::nullopt; });
}

/// The type of patterns instead of one of reals, of elements or not.
Type patternsOf(Type type) {
  if (auto shaped = dyn_cast<ShapedType>(type))
    return shaped.clone(patternsOf(shaped.getElementType()));
  if (nativeFormat(type))
    return IntegerType::get(type.getContext(), type.getIntOrFloatBitWidth());
  return type;
}

bool isReal(Type type) {
  return nativeFormat(getElementTypeOrSelf(type)).has_value();
}

/// True if an operation can be on patterns as it is, or be replaced.
bool isConvertible(Operation &op) {
  if (isa<arith::ConstantOp, arith::SelectOp, arith::CmpFOp, tensor::EmptyOp,
          tensor::ExtractSliceOp, tensor::InsertSliceOp, linalg::LinalgOp>(
          op) ||
      op.hasTrait<OpTrait::IsTerminator>())
    return true;
  return nativeFunction(op) || (llvm::none_of(op.getOperandTypes(), isReal) &&
                                llvm::none_of(op.getResultTypes(), isReal));
}

/// A comparison of patterns, as its operands are by now.
Value compare(arith::CmpFOp op) {
  OpBuilder b(op);
  auto predicate =
      num::symbolizePredicate(arith::stringifyCmpFPredicate(op.getPredicate()));
  if (!predicate) // always or never
    return arith::ConstantOp::create(
        b, op.getLoc(),
        b.getBoolAttr(op.getPredicate() == arith::CmpFPredicate::AlwaysTrue));
  const Format format = op.getLhs().getType().getIntOrFloatBitWidth() == 64
                            ? Format::binary64()
                            : Format::binary32();
  return compareFloats(b, op.getLoc(), *predicate, op.getLhs(), op.getRhs(),
                       format);
}

/// A call in place of an operation on reals.
Value callOf(Operation &op, Function function, ModuleOp module) {
  OpBuilder b(&op);
  Location loc = op.getLoc();
  Type word = b.getI64Type();
  auto constant = [&](Type type, uint64_t value) -> Value {
    return arith::ConstantOp::create(b, loc,
                                     b.getIntegerAttr(type, int64_t(value)));
  };
  const Format format = *nativeFormat(op.getResult(0).getType());
  SmallVector<Value> operands = {
      constant(word,
               numeric::pack(Arithmetic(format, numeric::Rounding::NearestEven,
                                        numeric::Overflow::Infinity))),
      constant(b.getI32Type(), uint64_t(function))};
  for (Value v : op.getOperands())
    operands.push_back(format.width() == 64
                           ? v
                           : arith::ExtUIOp::create(b, loc, word, v).getOut());
  while (operands.size() < 5)
    operands.push_back(constant(word, 0));
  auto callee = module.lookupSymbol<func::FuncOp>(kFloatCall);
  if (!callee) {
    OpBuilder top = OpBuilder::atBlockBegin(module.getBody());
    SmallVector<Type> types = {word, b.getI32Type(), word, word, word};
    callee = func::FuncOp::create(top, module.getLoc(), kFloatCall,
                                  top.getFunctionType(types, word));
    callee.setPrivate();
    callee->setAttr("llvm.readnone", top.getUnitAttr());
  }
  Value result =
      func::CallOp::create(b, loc, kFloatCall, word, operands).getResult(0);
  Type type = patternsOf(op.getResult(0).getType());
  if (format.width() < 64)
    result = arith::TruncIOp::create(b, loc, type, result);
  if (!isa<arith::MinNumFOp, arith::MaxNumFOp>(op))
    return result;
  // These give the other number if one is none.
  const uint64_t sizes = uint64_t(format.mask() >> 1);
  const uint64_t infinity = sizes & ~((uint64_t(1) << format.mantissaBits) - 1);
  for (auto [v, other] : {std::pair(op.getOperand(1), op.getOperand(0)),
                          std::pair(op.getOperand(0), op.getOperand(1))}) {
    Value size = arith::AndIOp::create(b, loc, v, constant(type, sizes));
    Value isNone = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ugt,
                                         size, constant(type, infinity));
    result = arith::SelectOp::create(b, loc, isNone, other, result);
  }
  return result;
}
} // namespace

void generalizeAll(func::FuncOp kernel) {
  IRRewriter rewriter(kernel.getContext());
  for (auto op : llvm::make_early_inc_range(
           kernel.getBody().front().getOps<linalg::LinalgOp>())) {
    if (isa<linalg::GenericOp, linalg::FillOp>(op))
      continue;
    DictionaryAttr attributes = op->getDiscardableAttrDictionary();
    rewriter.setInsertionPoint(op);
    if (auto generic = linalg::generalizeNamedOp(rewriter, op);
        succeeded(generic))
      (*generic)->setDiscardableAttrs(attributes);
  }
}

void realsToPatterns(func::FuncOp kernel) {
  // A kernel in formats has reals only at its border.
  bool isInReals = false, areAllConvertible = true;
  for (Operation &op : kernel.getBody().front()) {
    if (isa<linalg::LinalgOp>(op) && !isa<linalg::FillOp>(op))
      isInReals |= llvm::all_of(op.getOperandTypes(), isReal);
    op.walk(
        [&](Operation *inner) { areAllConvertible &= isConvertible(*inner); });
  }
  if (!isInReals || !areAllConvertible)
    return;
  generalizeAll(kernel);
  auto module = kernel->getParentOfType<ModuleOp>();
  auto retype = [](Value v) { v.setType(patternsOf(v.getType())); };
  SmallVector<Operation *> computing;
  kernel.walk([&](Operation *op) {
    for (Region &region : op->getRegions())
      for (Block &block : region)
        llvm::for_each(block.getArguments(), retype);
    if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
      if (!isReal(constant.getType()))
        return;
      Type type = patternsOf(constant.getType());
      Attribute value;
      if (auto one = dyn_cast<FloatAttr>(constant.getValue()))
        value = IntegerAttr::get(type, one.getValue().bitcastToAPInt());
      else
        value = cast<DenseElementsAttr>(constant.getValue())
                    .bitcast(getElementTypeOrSelf(type));
      constant.setValueAttr(cast<TypedAttr>(value));
      retype(constant.getResult());
    } else if (nativeFunction(*op) || isa<arith::CmpFOp>(op)) {
      computing.push_back(op);
    } else {
      llvm::for_each(op->getResults(), retype);
    }
  });
  for (Operation *op : computing) {
    auto comparison = dyn_cast<arith::CmpFOp>(op);
    Value result = comparison ? compare(comparison)
                              : callOf(*op, *nativeFunction(*op), module);
    op->getResult(0).replaceAllUsesWith(result);
    op->erase();
  }
  kernel.setType(FunctionType::get(
      kernel.getContext(),
      llvm::map_to_vector(kernel.getArgumentTypes(), patternsOf),
      llvm::map_to_vector(kernel.getResultTypes(), patternsOf)));
}
} // namespace rhizome::gen::loops
