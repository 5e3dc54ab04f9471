// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Converts a kernel from reals to chosen formats. Values that must agree form
// a class with one format, and so do values that are only moved, unless they
// are annotated otherwise; where classes meet, a conversion is inserted. The
// function's own arguments and results are not changed.
#include "rhizome/Transforms/ApplyFormats.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"
#include "rhizome/Dialect/Marks/Marks.h"
#include "rhizome/Dialect/Num/Ops.h"
#include "rhizome/Transforms/Passes.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/TypeSwitch.h"

namespace rhizome {
#define GEN_PASS_DEF_NUMAPPLYFORMATS
#include "rhizome/Transforms/Passes.h.inc"
} // namespace rhizome

using namespace mlir;
using namespace rhizome;
using numeric::Format;

/// f64 and f32, alone or in a tensor.
static bool isReal(Type type) {
  return isa<Float64Type, Float32Type>(getElementTypeOrSelf(type));
}

static Type withElement(Type type, Type element) {
  if (auto shaped = dyn_cast<ShapedType>(type))
    return shaped.clone(element);
  return element;
}

namespace {
/// One function's classes and rewriting.
class Applier {
public:
  Applier(func::FuncOp func, const FormatChoice &choice)
      : func(func), choice(choice), rewriter(func.getContext()) {}

  LogicalResult run() {
    if (failed(checkTypes()))
      return failure();
    separateInits();
    if (failed(generalize()) || failed(classify()) || failed(annotate()))
      return failure();
    followMoves();
    convertBorder();
    for (Operation &op : llvm::make_early_inc_range(func.getOps()))
      if (failed(convert(&op)))
        return failure();
    // Parts that are read in formats only, and parts of them.
    for (Operation &op :
         llvm::make_early_inc_range(llvm::reverse(func.getBody().front())))
      if (isa<tensor::ExtractSliceOp>(op) && op.use_empty())
        rewriter.eraseOp(&op);
    return success();
  }

private:
  func::FuncOp func;
  const FormatChoice &choice;
  IRRewriter rewriter;
  llvm::EquivalenceClasses<Value> classes;
  llvm::MapVector<Value, std::pair<Format, Value>> formats; ///< by leader
  /// What is moved, from where: one format if no annotation says otherwise.
  llvm::SmallVector<std::pair<Value, Value>> moves;
  /// Of results: a format that is not that of the value that is returned.
  llvm::SmallDenseMap<unsigned, Format> resultFormats;
  /// Conversions between formats and reals, each once.
  llvm::DenseMap<std::pair<Value, Type>, Value> converted;

  /// Formats are for tensors and scalars: buffers would have to change with
  /// all that reads and writes them.
  LogicalResult checkTypes() {
    auto isOther = [](Type type) {
      return isReal(type) && isa<ShapedType>(type) &&
             !isa<RankedTensorType>(type);
    };
    auto refuse = [](Location loc, Type type) {
      return emitError(loc)
             << "number formats are for tensors, and this is a " << type;
    };
    for (BlockArgument arg : func.getArguments())
      if (isOther(arg.getType()))
        return refuse(arg.getLoc(), arg.getType());
    return success(!func.walk([&](Operation *op) {
                          for (Type type : op->getResultTypes())
                            if (isOther(type)) {
                              (void)refuse(op->getLoc(), type);
                              return WalkResult::interrupt();
                            }
                          return WalkResult::advance();
                        })
                        .wasInterrupted());
  }

  /// What several statements begin with, empty or full of one number, ties
  /// none of them to another's format: each gets its own.
  void separateInits() {
    if (!isAnnotated(func))
      return;
    auto separate = [&](auto shared) {
      rewriter.setInsertionPointAfter(shared);
      SmallVector<OpOperand *> uses;
      for (OpOperand &use : shared->getUses())
        uses.push_back(&use);
      for (OpOperand *use : ArrayRef(uses).drop_front(uses.empty() ? 0 : 1))
        use->set(rewriter.clone(*shared)->getResult(0));
    };
    // Fills first: their copies share what they fill.
    for (auto fill : llvm::make_early_inc_range(func.getOps<linalg::FillOp>()))
      separate(fill);
    for (auto empty :
         llvm::make_early_inc_range(func.getOps<tensor::EmptyOp>()))
      separate(empty);
  }

  /// Named operations get their bodies.
  LogicalResult generalize() {
    llvm::SmallVector<linalg::LinalgOp> named;
    for (auto op : func.getOps<linalg::LinalgOp>())
      if (!isa<linalg::GenericOp>(op))
        named.push_back(op);
    for (linalg::LinalgOp op : named) {
      Attribute format = op->getAttr(marks::kFormat);
      rewriter.setInsertionPoint(op);
      auto generic = linalg::generalizeNamedOp(rewriter, op);
      if (failed(generic))
        return op->emitOpError("has no general form");
      if (format)
        (*generic)->setAttr(marks::kFormat, format);
    }
    return success();
  }

  static bool haveFormats(Value a, Value b) {
    return isReal(a.getType()) && isReal(b.getType()) && !isConstant(a) &&
           !isConstant(b);
  }
  void tie(Value a, Value b) {
    if (haveFormats(a, b))
      classes.unionSets(a, b);
  }
  /// Scalar constants take the format of their user.
  static bool isConstant(Value v) {
    return v.getDefiningOp<arith::ConstantOp>() &&
           !isa<ShapedType>(v.getType());
  }

  LogicalResult classify() {
    for (Value arg : func.getArguments())
      if (isReal(arg.getType()))
        classes.insert(arg);
    for (Operation &op : func.getOps()) {
      for (Value v : op.getResults())
        if (isReal(v.getType()) && !isConstant(v))
          classes.insert(v);
      if (auto generic = dyn_cast<linalg::GenericOp>(op)) {
        if (!generic.hasPureTensorSemantics())
          return generic.emitOpError("is not on tensors");
        auto inits = generic.getDpsInits();
        Block *body = generic.getBody();
        for (auto [i, result] : llvm::enumerate(generic->getResults())) {
          tie(result, inits[i]);
          // Data that is only moved keeps its format.
          Value from = body->getTerminator()->getOperand(i);
          if (auto arg = dyn_cast<BlockArgument>(from);
              arg && arg.getOwner() == body)
            moves.push_back({result, generic->getOperand(arg.getArgNumber())});
        }
        continue;
      }
      bool known =
          isa<tensor::EmptyOp, tensor::ExtractSliceOp, tensor::InsertSliceOp,
              tensor::CollapseShapeOp, tensor::ExpandShapeOp, tensor::CastOp,
              tensor::ConcatOp, arith::ConstantOp, func::ReturnOp>(op) ||
          llvm::none_of(op.getOperandTypes(), isReal);
      if (!known)
        return op.emitOpError("is not known to number formats");
      if (op.getNumResults() == 1)
        for (Value v : op.getOperands())
          moves.push_back({op.getResult(0), v});
    }
    return success();
  }

  void followMoves() {
    for (auto [to, from] : moves) {
      if (!haveFormats(to, from))
        continue;
      auto a = formats.find(classes.getLeaderValue(to)),
           b = formats.find(classes.getLeaderValue(from));
      if (a != formats.end() && b != formats.end() &&
          a->second.first != b->second.first)
        continue;
      std::optional<std::pair<Format, Value>> known;
      for (auto it : {a, b})
        if (it != formats.end())
          known = it->second;
      classes.unionSets(to, from);
      if (known)
        formats.insert({classes.getLeaderValue(to), *known});
    }
  }

  std::optional<Format> formatOfClass(Value v) {
    if (!isReal(v.getType()) || isConstant(v))
      return std::nullopt;
    auto it = formats.find(classes.getLeaderValue(v));
    if (it != formats.end())
      return it->second.first;
    return choice.format;
  }

  LogicalResult set(Value v, Attribute attr, Location loc) {
    auto text = dyn_cast_or_null<StringAttr>(attr);
    if (!text)
      return success();
    std::string error;
    auto format = Format::parse(text.getValue(), error);
    if (!format)
      return emitError(loc) << error;
    if (!isReal(v.getType()))
      return emitError(loc) << v.getType() << " takes no number format";
    auto [it, isNew] =
        formats.insert({classes.getLeaderValue(v), {*format, v}});
    if (!isNew && it->second.first != *format) {
      auto diag = emitError(loc) << "the format " << format->str()
                                 << " contradicts " << it->second.first.str()
                                 << " of a value that it must agree with";
      diag.attachNote(it->second.second.getLoc())
          << it->second.first.str() << " is given here";
      return diag;
    }
    return success();
  }

  LogicalResult annotate() {
    for (BlockArgument arg : func.getArguments())
      if (failed(set(arg, func.getArgAttr(arg.getArgNumber(), marks::kFormat),
                     arg.getLoc())))
        return failure();
    Operation *ret = func.getBody().front().getTerminator();
    for (Operation &op : func.getOps())
      for (Value v : op.getResults())
        if (failed(set(v, op.getAttr(marks::kFormat), op.getLoc())))
          return failure();
    for (auto [i, v] : llvm::enumerate(ret->getOperands()))
      if (failed(setResult(unsigned(i), v, ret->getLoc())))
        return failure();
    return success();
  }

  /// What is returned may be a value with a format of its own.
  LogicalResult setResult(unsigned i, Value v, Location loc) {
    auto text =
        dyn_cast_or_null<StringAttr>(func.getResultAttr(i, marks::kFormat));
    if (!text || classes.findLeader(v) == classes.member_end())
      return set(v, text, loc);
    auto found = formats.find(classes.getLeaderValue(v));
    std::string error;
    auto format = Format::parse(text.getValue(), error);
    if (!format || found == formats.end() || found->second.first == *format)
      return set(v, text, loc);
    resultFormats.try_emplace(i, *format);
    return success();
  }

  /// Binary64 and binary32 in their own types stay native.
  Type elementFor(Value v) {
    Type element = getElementTypeOrSelf(v.getType());
    auto format = formatOfClass(v);
    if (!format)
      return element;
    if (*format == Format::binary64())
      return rewriter.getF64Type();
    return num::typeOf(func.getContext(), *format);
  }

  num::RoundingAttr rounding() {
    return num::RoundingAttr::get(func.getContext(),
                                  num::Rounding(choice.rounding));
  }
  num::OverflowAttr overflow(Type type) {
    Format format = *num::formatOf(type);
    numeric::Overflow how = numeric::defaultOverflow(format);
    if (choice.saturate && !isa<FloatType>(type))
      how = numeric::Overflow::Saturate;
    return num::OverflowAttr::get(func.getContext(), num::Overflow(how));
  }

  Value castScalar(Location loc, Value v, Type type) {
    if (v.getType() == type)
      return v;
    return num::CastOp::create(rewriter, loc, type, v, rounding(),
                               overflow(type));
  }

  /// A value with elements of another type.
  Value castAll(Location loc, Value v, Type element) {
    auto shaped = dyn_cast<RankedTensorType>(v.getType());
    if (getElementTypeOrSelf(v) == element)
      return v;
    if (!shaped)
      return castScalar(loc, v, element);
    Value init =
        tensor::EmptyOp::create(rewriter, loc, shaped.getShape(), element);
    auto map = rewriter.getMultiDimIdentityMap(shaped.getRank());
    llvm::SmallVector<utils::IteratorType> loops(shaped.getRank(),
                                                 utils::IteratorType::parallel);
    return linalg::GenericOp::create(
               rewriter, loc, TypeRange{init.getType()}, ValueRange{v},
               ValueRange{init}, ArrayRef<AffineMap>{map, map}, loops,
               [&](OpBuilder &, Location inner, ValueRange args) {
                 // The builder's position is managed by the rewriter.
                 linalg::YieldOp::create(rewriter, inner,
                                         castScalar(inner, args[0], element));
               })
        ->getResult(0);
  }

  /// Arguments, constant tensors and results keep their types.
  void convertBorder() {
    auto enter = [&](Value v, Location loc) {
      Type element = elementFor(v);
      if (element == getElementTypeOrSelf(v.getType()) || v.use_empty())
        return;
      Value inside = castAll(loc, v, element);
      Operation *first = inside.getDefiningOp();
      v.replaceAllUsesExcept(inside, first);
    };
    rewriter.setInsertionPointToStart(&func.getBody().front());
    std::vector<Operation *> constants;
    for (auto op : func.getOps<arith::ConstantOp>())
      if (isReal(op.getType()) && isa<ShapedType>(op.getType()))
        constants.push_back(op);
    for (BlockArgument arg : func.getArguments())
      if (isReal(arg.getType()))
        enter(arg, arg.getLoc());
    for (Operation *op : constants) {
      rewriter.setInsertionPointAfter(op);
      enter(op->getResult(0), op->getLoc());
    }
  }

  LogicalResult convert(Operation *op) {
    op->removeAttr(marks::kFormat);
    if (auto ret = dyn_cast<func::ReturnOp>(op)) {
      rewriter.setInsertionPoint(ret);
      for (OpOperand &operand : ret->getOpOperands()) {
        auto own = resultFormats.find(operand.getOperandNumber());
        if (own != resultFormats.end())
          operand.set(castAll(ret.getLoc(), operand.get(),
                              num::typeOf(func.getContext(), own->second)));
        Type want = getElementTypeOrSelf(
            func.getResultTypes()[operand.getOperandNumber()]);
        if (getElementTypeOrSelf(operand.get().getType()) != want)
          operand.set(castAll(ret.getLoc(), operand.get(), want));
      }
      return success();
    }
    if (isa<arith::ConstantOp>(op))
      return success();
    // Casts at the border already have their types.
    if (llvm::none_of(op->getResults(), [&](Value v) {
          return classes.findLeader(v) != classes.member_end();
        }))
      return success();
    for (Value v : op->getResults())
      v.setType(withElement(v.getType(), elementFor(v)));
    if (auto generic = dyn_cast<linalg::GenericOp>(op))
      return convertBody(generic);
    // What moves data of another format converts it first.
    const Type to = getElementTypeOrSelf(op->getResult(0));
    rewriter.setInsertionPoint(op);
    for (OpOperand &operand : op->getOpOperands())
      if (num::formatOf(getElementTypeOrSelf(operand.get())))
        operand.set(castAll(op->getLoc(), operand.get(), to));
    return success();
  }

  /// What computes in formats reads no reals, and the other way round: between
  /// them stand conversions that do nothing else, which are a unit's border.
  void separateReals(linalg::GenericOp generic) {
    if (llvm::hasSingleElement(*generic.getBody()))
      return;
    const Type to = getElementTypeOrSelf(generic->getResult(0));
    const bool toReal = isReal(to);
    if (!toReal && !num::formatOf(to))
      return;
    for (OpOperand *operand : generic.getDpsInputOperands()) {
      Value from = operand->get();
      if (!isa<RankedTensorType>(from.getType()) ||
          isReal(from.getType()) == toReal ||
          !num::formatOf(getElementTypeOrSelf(from)))
        continue;
      operand->set(convertedTo(from, to));
    }
  }

  /// A tensor, or the part of a tensor, in another format or in reals.
  Value convertedTo(Value from, Type element) {
    Value known = converted.lookup({from, element});
    if (known)
      return known;
    if (auto slice = from.getDefiningOp<tensor::ExtractSliceOp>()) {
      Value whole = convertedTo(slice.getSource(), element);
      rewriter.setInsertionPointAfter(slice);
      Operation *part = rewriter.clone(*slice);
      part->setOperand(0, whole);
      part->getResult(0).setType(withElement(from.getType(), element));
      known = part->getResult(0);
    } else {
      rewriter.setInsertionPointAfterValue(from);
      known = castAll(from.getLoc(), from, element);
    }
    converted[{from, element}] = known;
    return known;
  }

  LogicalResult convertBody(linalg::GenericOp generic) {
    separateReals(generic);
    Block *body = generic.getBody();
    for (BlockArgument arg : body->getArguments())
      arg.setType(getElementTypeOrSelf(
          generic->getOperand(arg.getArgNumber()).getType()));
    for (Operation &op : llvm::make_early_inc_range(*body)) {
      rewriter.setInsertionPoint(&op);
      if (auto yield = dyn_cast<linalg::YieldOp>(op)) {
        for (OpOperand &operand : yield->getOpOperands())
          operand.set(castScalar(
              op.getLoc(), operand.get(),
              getElementTypeOrSelf(
                  generic->getResult(operand.getOperandNumber()).getType())));
        continue;
      }
      auto comparison = dyn_cast<arith::CmpFOp>(op);
      if (isa<arith::ConstantOp>(op) ||
          (!comparison && llvm::none_of(op.getResultTypes(), isReal)))
        continue;
      const Type type = typeIn(generic, op);
      llvm::SmallVector<Value> operands;
      for (Value v : op.getOperands())
        operands.push_back(
            num::formatOf(v.getType()) ? castScalar(op.getLoc(), v, type) : v);
      if (isa<FloatType>(type)) {
        op.setOperands(operands);
        if (!comparison)
          for (Value v : op.getResults())
            v.setType(type);
        continue;
      }
      Value result = arithmetic(&op, operands, type);
      if (!result)
        return emitError(op.getLoc())
               << "'" << op.getName().stripDialect() << "' has no meaning in "
               << num::formatOf(type)->str()
               << "; formats have + - * / fma sqrt exp log min max abs, "
                  "comparisons and selections";
      rewriter.replaceOp(&op, result);
    }
    if (choice.fused)
      fuse(body);
    return success();
  }

  /// What an operation is computed in: the statement's format, or that of its
  /// own numbers if the statement's result is none.
  static Type typeIn(linalg::GenericOp generic, Operation &op) {
    Type type = getElementTypeOrSelf(generic->getResult(0).getType());
    if (num::formatOf(type))
      return type;
    for (bool constants : {false, true})
      for (Value v : op.getOperands())
        if (num::formatOf(v.getType()) && isConstant(v) == constants)
          return v.getType();
    return type;
  }

  Value arithmetic(Operation *op, ArrayRef<Value> in, Type type) {
    Location loc = op->getLoc();
    auto r = rounding();
    auto o = overflow(type);
    auto binary = [&](auto tag) -> Value {
      using Op = decltype(tag);
      return Op::create(rewriter, loc, type, in[0], in[1], r, o);
    };
    auto unary = [&](auto tag) -> Value {
      using Op = decltype(tag);
      return Op::create(rewriter, loc, type, in[0], r, o);
    };
    return llvm::TypeSwitch<Operation *, Value>(op)
        .Case<arith::AddFOp>([&](auto) { return binary(num::AddOp()); })
        .Case<arith::SubFOp>([&](auto) { return binary(num::SubOp()); })
        .Case<arith::MulFOp>([&](auto) { return binary(num::MulOp()); })
        .Case<arith::DivFOp>([&](auto) { return binary(num::DivOp()); })
        .Case<arith::MinimumFOp, arith::MinNumFOp>(
            [&](auto) { return binary(num::MinOp()); })
        .Case<arith::MaximumFOp, arith::MaxNumFOp>(
            [&](auto) { return binary(num::MaxOp()); })
        .Case<math::FmaOp>([&](auto) -> Value {
          return num::FmaOp::create(rewriter, loc, type, in[0], in[1], in[2], r,
                                    o);
        })
        .Case<math::SqrtOp>([&](auto) { return unary(num::SqrtOp()); })
        .Case<math::ExpOp>([&](auto) { return unary(num::ExpOp()); })
        .Case<math::LogOp>([&](auto) { return unary(num::LogOp()); })
        .Case<arith::NegFOp>([&](auto) { return unary(num::NegOp()); })
        .Case<math::AbsFOp>([&](auto) { return unary(num::AbsOp()); })
        .Case<arith::CmpFOp>([&](arith::CmpFOp compare) -> Value {
          const auto predicate = compare.getPredicate();
          if (auto known = num::symbolizePredicate(
                  arith::stringifyCmpFPredicate(predicate)))
            return num::CompareOp::create(rewriter, loc, *known, in[0], in[1]);
          const bool always = predicate == arith::CmpFPredicate::AlwaysTrue;
          return arith::ConstantOp::create(rewriter, loc,
                                           rewriter.getBoolAttr(always));
        })
        .Case<arith::SelectOp>([&](auto) -> Value {
          return arith::SelectOp::create(rewriter, loc, in[0], in[1], in[2]);
        })
        .Case<arith::ExtFOp, arith::TruncFOp>([&](auto) { return in[0]; })
        .Default([](Operation *) { return Value(); });
  }

  /// A product used once, in a sum, is rounded with the sum.
  void fuse(Block *body) {
    for (auto add : llvm::make_early_inc_range(body->getOps<num::AddOp>())) {
      for (bool left : {false, true}) {
        Value product = left ? add.getLhs() : add.getRhs();
        Value addend = left ? add.getRhs() : add.getLhs();
        auto mul = product.getDefiningOp<num::MulOp>();
        if (!mul || !mul->hasOneUse())
          continue;
        rewriter.setInsertionPoint(add);
        rewriter.replaceOpWithNewOp<num::FmaOp>(
            add, add.getType(), mul.getLhs(), mul.getRhs(), addend,
            add.getRoundingAttr(), add.getOverflowAttr());
        rewriter.eraseOp(mul);
        break;
      }
    }
  }
};

class NumApplyFormats
    : public rhizome::impl::NumApplyFormatsBase<NumApplyFormats> {
public:
  using Base::Base;
  void runOnOperation() override {
    FormatChoice choice;
    std::string error;
    if (!format.empty()) {
      choice.format = Format::parse(format, error);
      if (!choice.format) {
        getOperation().emitError() << error;
        return signalPassFailure();
      }
    }
    auto direction = numeric::parseRounding(rounding);
    if (!direction) {
      getOperation().emitError() << "'" << rounding << "' is not a rounding";
      return signalPassFailure();
    }
    choice.rounding = *direction;
    choice.saturate = saturate;
    choice.fused = fused;
    for (auto func : getOperation().getOps<func::FuncOp>())
      if (!func.isExternal() && failed(applyFormats(func, choice)))
        return signalPassFailure();
  }
};
} // namespace

bool rhizome::isAnnotated(func::FuncOp func) {
  for (unsigned i = 0; i < func.getNumArguments(); ++i)
    if (func.getArgAttr(i, marks::kFormat))
      return true;
  for (unsigned i = 0; i < func.getNumResults(); ++i)
    if (func.getResultAttr(i, marks::kFormat))
      return true;
  return func
      ->walk([](Operation *op) {
        return op->hasAttr(marks::kFormat) ? WalkResult::interrupt()
                                           : WalkResult::advance();
      })
      .wasInterrupted();
}

LogicalResult rhizome::applyFormats(func::FuncOp func,
                                    const FormatChoice &choice) {
  if (!llvm::hasSingleElement(func.getBody()))
    return func.emitError("a kernel is one block");
  return Applier(func, choice).run();
}
