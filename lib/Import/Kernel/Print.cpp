// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// MLIR to text of the language: declarations from the function's type and
// attributes, one statement in the index form for each linalg operation.
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "rhizome/Dialect/Marks/Marks.h"
#include "rhizome/Import/Kernel/Ir.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace rhizome;
using namespace rhizome::kernel;

namespace {
/// The precedence of an expression's text.
enum Binding { Sum, Term, Factor };
struct Text {
  std::string text;
  Binding binding;
  std::string within(Binding least) const {
    return binding >= least ? text : "(" + text + ")";
  }
};

class Printer {
public:
  explicit Printer(func::FuncOp func) : func(func) {}
  llvm::Expected<std::string> run();

private:
  func::FuncOp func;
  llvm::StringSet<> taken; ///< lower case
  DenseMap<Value, std::string> names;
  llvm::StringMap<DenseI64ArrayAttr> halos;
  llvm::StringMap<SmallVector<int64_t>> shapes; ///< declared, without halos
  std::string declarations, statements, problem;

  std::string fresh(StringRef wanted, StringRef fallback);
  void declareBorder();
  std::string annotations(DictionaryAttr attrs, Type element);
  void declareLocal(StringRef name, RankedTensorType type, Operation *op);
  void declare(StringRef keywords, StringRef name, RankedTensorType type,
               DictionaryAttr attrs);
  std::string elemLine();
  StringRef nameFor(Operation *op);
  void visit(Operation &op);
  void printGeneric(linalg::LinalgOp op);
  void printInsert(tensor::InsertSliceOp op);
  std::string valueOf(linalg::LinalgOp op, ArrayRef<std::string> indices);
  std::vector<std::string> indexNames(unsigned count);
  Text scalar(Value value, linalg::LinalgOp op, ArrayRef<std::string> indices);
  Text access(OpOperand &operand, linalg::LinalgOp op,
              ArrayRef<std::string> indices);
  /// A subscript: factors by loop, and an offset.
  struct Linear {
    SmallVector<int64_t> factors;
    int64_t offset = 0;
    bool isAlone = false; ///< an index over its whole dimension
    bool isIndex() const {
      return llvm::count(factors, 0) == int64_t(factors.size()) - 1 &&
             llvm::is_contained(factors, 1);
    }
  };
  std::optional<Linear> linear(StringRef name, size_t dimension,
                               AffineExpr expr, linalg::LinalgOp op);
  std::string subscript(StringRef name, size_t dimension, AffineExpr expr,
                        linalg::LinalgOp op, ArrayRef<std::string> indices);
  std::string rangeOf(unsigned loop, linalg::LinalgOp op);
  std::string fail(const llvm::Twine &what) {
    if (problem.empty())
      problem = what.str();
    return "0";
  }
};
} // namespace

/// The shortest text that is read back as `value`.
static std::string numberText(double value) {
  for (int digits : {6, 15, 16, 17}) {
    char text[64];
    snprintf(text, sizeof text, "%.*g", digits, value);
    if (strtod(text, nullptr) == value)
      return text;
  }
  llvm_unreachable("17 digits say every double");
}

std::string Printer::fresh(StringRef wanted, StringRef fallback) {
  StringRef base = wanted.empty() ? fallback : wanted;
  std::string name = base.str();
  for (unsigned i = 1; !taken.insert(StringRef(name).lower()).second; ++i)
    name = (base + "_" + llvm::Twine(i)).str();
  return name;
}

static StringRef textAttr(DictionaryAttr attrs, StringRef name) {
  auto text = attrs ? attrs.getAs<StringAttr>(name) : StringAttr();
  return text ? text.getValue() : "";
}

static bool isColumnMajor(DictionaryAttr attrs) {
  return attrs && attrs.contains(marks::kColumnMajor);
}

std::string Printer::annotations(DictionaryAttr attrs, Type element) {
  std::string out;
  if (StringRef format = textAttr(attrs, marks::kFormat); !format.empty()) {
    std::string text = format.str();
    std::replace(text.begin(), text.end(), '<', '(');
    std::replace(text.begin(), text.end(), '>', ')');
    out += " @" + text;
  }
  if (auto bound =
          attrs ? attrs.getAs<FloatAttr>(marks::kAccuracy) : FloatAttr())
    out += " @accuracy(" + numberText(bound.getValueAsDouble()) + ")";
  if (element.isF32() && !isColumnMajor(attrs))
    out += " @f32";
  return out;
}

void Printer::declare(StringRef keywords, StringRef name, RankedTensorType type,
                      DictionaryAttr attrs) {
  if (!isa<Float32Type, Float64Type>(type.getElementType())) {
    std::string text;
    llvm::raw_string_ostream(text) << type;
    fail("elements of type " + text + " have no notation");
    return;
  }
  SmallVector<int64_t> extents(type.getShape());
  auto margins = attrs ? attrs.getAs<DenseI64ArrayAttr>(marks::kHalo)
                       : DenseI64ArrayAttr();
  if (margins)
    for (auto [d, extent] : llvm::enumerate(extents))
      extent -= margins[2 * d] + margins[2 * d + 1];
  shapes[name] = extents;
  llvm::raw_string_ostream os(declarations);
  if (isColumnMajor(attrs)) {
    StringRef intent = keywords == "input "    ? "IN"
                       : keywords == "output " ? "OUT"
                                               : "INOUT";
    os << "REAL(" << (type.getElementType().isF32() ? 4 : 8) << "), INTENT("
       << intent << ") :: " << name;
    if (!extents.empty()) {
      os << "(";
      llvm::interleave(extents, os, ",");
      os << ")";
    }
  } else {
    os << "var " << keywords << name << " : [";
    llvm::interleave(extents, os, " ");
    os << "]";
    if (margins) {
      os << " halo [";
      for (size_t d = 0; d < extents.size(); ++d) {
        int64_t below = margins[2 * d], above = margins[2 * d + 1];
        os << (d ? " " : "") << below;
        if (above != below)
          os << ":" << above;
      }
      os << "]";
    }
  }
  os << annotations(attrs, type.getElementType()) << "\n";
}

void Printer::declareLocal(StringRef name, RankedTensorType type,
                           Operation *op) {
  NamedAttrList attrs;
  for (StringRef key : {marks::kFormat, marks::kAccuracy})
    if (Attribute attr = op->getAttr(key))
      attrs.set(key, attr);
  declare("", name, type, attrs.getDictionary(op->getContext()));
}

void Printer::declareBorder() {
  auto resultNames = [&](unsigned i) {
    return textAttr(func.getResultAttrDict(i), marks::kName);
  };
  for (auto [i, argument] : llvm::enumerate(func.getArguments())) {
    auto type = dyn_cast<RankedTensorType>(argument.getType());
    if (!type || !type.hasStaticShape()) {
      fail("an argument is not a tensor of fixed extents");
      return;
    }
    DictionaryAttr attrs = func.getArgAttrDict(i);
    std::string name = fresh(textAttr(attrs, marks::kName), "x");
    names[argument] = name;
    if (attrs)
      if (auto margins = attrs.getAs<DenseI64ArrayAttr>(marks::kHalo))
        halos[name] = margins;
    bool both = llvm::any_of(llvm::seq(func.getNumResults()), [&](unsigned r) {
      return resultNames(r) == name;
    });
    declare(both ? "input output " : "input ", name, type, attrs);
  }
  for (unsigned i = 0; i < func.getNumResults(); ++i) {
    auto type = dyn_cast<RankedTensorType>(func.getResultTypes()[i]);
    if (!type || !type.hasStaticShape()) {
      fail("a result is not a tensor of fixed extents");
      return;
    }
    StringRef name = resultNames(i);
    if (!name.empty() && taken.contains(name.lower()))
      continue;
    declare("output ", fresh(name, "y"), type, func.getResultAttrDict(i));
  }
}

std::string Printer::elemLine() {
  auto count = func->getAttrOfType<IntegerAttr>(marks::kElements);
  if (!count)
    return "";
  std::string out = "elem [", where = "first";
  const char *separator = "";
  auto add = [&](DictionaryAttr attrs, StringRef name) {
    bool first = attrs && attrs.contains(marks::kElementFirst);
    if (!first && !(attrs && attrs.contains(marks::kElementLast)))
      return;
    out += separator + name.str();
    separator = " ";
    where = first ? "first" : "last";
  };
  llvm::StringSet<> seen;
  for (unsigned i = 0; i < func.getNumArguments(); ++i) {
    seen.insert(names[func.getArgument(i)]);
    add(func.getArgAttrDict(i), names[func.getArgument(i)]);
  }
  for (unsigned i = 0; i < func.getNumResults(); ++i) {
    StringRef name = textAttr(func.getResultAttrDict(i), marks::kName);
    if (!seen.contains(name))
      add(func.getResultAttrDict(i), name);
  }
  return out + "] " + std::to_string(count.getInt()) + " " + where + "\n";
}

/// The variable for an operation's result; declared if it is a local one.
StringRef Printer::nameFor(Operation *op) {
  Value result = op->getResult(0);
  if (auto found = names.find(result); found != names.end())
    return found->second;
  StringRef wanted;
  if (auto attr = op->getAttrOfType<StringAttr>(marks::kName))
    wanted = attr.getValue();
  if (!wanted.empty() && taken.contains(wanted.lower()))
    return names[result] = wanted.str();
  std::string name = fresh(wanted, "t");
  declareLocal(name, cast<RankedTensorType>(result.getType()), op);
  return names[result] = name;
}

std::vector<std::string> Printer::indexNames(unsigned count) {
  std::vector<std::string> out;
  static constexpr StringLiteral letters = "ijklmnopqrstuvwxyz";
  for (unsigned next = 0; out.size() < count; ++next) {
    std::string name = next < letters.size() ? std::string(1, letters[next])
                                             : "i" + std::to_string(next);
    if (!taken.contains(name))
      out.push_back(name);
  }
  return out;
}

Text Printer::access(OpOperand &operand, linalg::LinalgOp op,
                     ArrayRef<std::string> indices) {
  Value value = operand.get();
  DenseElementsAttr splat;
  if (matchPattern(value, m_Constant(&splat)) && splat.isSplat() &&
      isa<FloatType>(splat.getElementType()))
    return {numberText(splat.getSplatValue<APFloat>().convertToDouble()),
            Factor};
  auto found = names.find(value);
  if (found == names.end()) {
    if (op.isScalar(&operand)) {
      FloatAttr constant;
      if (matchPattern(value, m_Constant(&constant)))
        return {numberText(constant.getValueAsDouble()), Factor};
    }
    fail("an operand comes from an operation that has no notation");
    return {"0", Factor};
  }
  AffineMap map = op.getMatchingIndexingMap(&operand);
  if (map.getNumResults() == 0)
    return {found->second, Factor};
  std::string out = found->second + "[";
  for (auto [d, result] : llvm::enumerate(map.getResults()))
    out += (d ? ", " : "") + subscript(found->second, d, result, op, indices);
  return {out + "]", Factor};
}

/// A subscript as a sum; its order is the order of the loops.
std::string Printer::subscript(StringRef name, size_t dimension,
                               AffineExpr expr, linalg::LinalgOp op,
                               ArrayRef<std::string> indices) {
  std::optional<Linear> sum = linear(name, dimension, expr, op);
  if (!sum)
    return fail("a subscript is more than a sum of indices");
  std::string out;
  for (auto [loop, factor] : llvm::enumerate(sum->factors)) {
    if (!factor)
      continue;
    out += out.empty() ? (factor < 0 ? "-" : "") : factor < 0 ? " - " : " + ";
    if (std::abs(factor) != 1)
      out += std::to_string(std::abs(factor)) + "*";
    out += indices[loop];
  }
  if (out.empty())
    return std::to_string(sum->offset);
  // An index alone runs over its whole dimension.
  if (sum->offset || (sum->isIndex() && !sum->isAlone))
    out += (sum->offset < 0 ? " - " : " + ") +
           std::to_string(std::abs(sum->offset));
  return out;
}

/// Factors of the loops and an offset, without the halo; nothing if `expr` is
/// not such a sum.
std::optional<Printer::Linear> Printer::linear(StringRef name, size_t dimension,
                                               AffineExpr expr,
                                               linalg::LinalgOp op) {
  Linear out;
  out.factors.resize(op.getNumLoops());
  std::function<bool(AffineExpr, int64_t)> add = [&](AffineExpr e, int64_t by) {
    if (auto constant = dyn_cast<AffineConstantExpr>(e))
      return out.offset += by * constant.getValue(), true;
    if (auto dim = dyn_cast<AffineDimExpr>(e))
      return out.factors[dim.getPosition()] += by, true;
    auto binary = dyn_cast<AffineBinaryOpExpr>(e);
    if (!binary)
      return false;
    if (binary.getKind() == AffineExprKind::Add)
      return add(binary.getLHS(), by) && add(binary.getRHS(), by);
    auto factor = dyn_cast<AffineConstantExpr>(binary.getRHS());
    return binary.getKind() == AffineExprKind::Mul && factor &&
           add(binary.getLHS(), by * factor.getValue());
  };
  if (!add(expr, 1))
    return std::nullopt;
  if (DenseI64ArrayAttr margins = halos.lookup(name))
    out.offset -= margins[2 * dimension];
  if (out.isIndex() && !out.offset) {
    size_t loop = llvm::find(out.factors, 1) - out.factors.begin();
    out.isAlone =
        op.getStaticLoopRanges()[loop] == shapes.lookup(name)[dimension];
  }
  return out;
}

/// ": 3" for a loop whose range does not follow from a subscript that it is
/// alone.
std::string Printer::rangeOf(unsigned loop, linalg::LinalgOp op) {
  for (OpOperand *operand : op.getDpsInputOperands()) {
    auto found = names.find(operand->get());
    if (found == names.end())
      continue;
    AffineMap map = op.getMatchingIndexingMap(operand);
    for (auto [d, result] : llvm::enumerate(map.getResults()))
      if (auto sum = linear(found->second, d, result, op);
          sum && sum->isAlone && sum->factors[loop])
        return "";
  }
  return " : " + std::to_string(op.getStaticLoopRanges()[loop]);
}

Text Printer::scalar(Value value, linalg::LinalgOp op,
                     ArrayRef<std::string> indices) {
  if (auto argument = dyn_cast<BlockArgument>(value))
    return access(op->getOpOperand(argument.getArgNumber()), op, indices);
  Operation *def = value.getDefiningOp();
  auto of = [&](unsigned i) { return scalar(def->getOperand(i), op, indices); };
  auto two = [&](const char *sign, Binding level) {
    // The operators are left-associative.
    Binding right = level == Sum ? Term : Factor;
    return Text{of(0).within(level) + " " + sign + " " + of(1).within(right),
                level};
  };
  auto call = [&](const char *name) {
    std::string text = std::string(name) + "(" + of(0).text;
    if (def->getNumOperands() == 2)
      text += ", " + of(1).text;
    return Text{text + ")", Factor};
  };
  return llvm::TypeSwitch<Operation *, Text>(def)
      .Case<arith::AddFOp>([&](auto) { return two("+", Sum); })
      .Case<arith::SubFOp>([&](auto) { return two("-", Sum); })
      .Case<arith::MulFOp>([&](auto) { return two("*", Term); })
      .Case<arith::DivFOp>([&](auto) { return two("/", Term); })
      .Case<arith::NegFOp>(
          [&](auto) { return Text{"-" + of(0).within(Factor), Factor}; })
      .Case<arith::MinNumFOp, arith::MinimumFOp>(
          [&](auto) { return call("min"); })
      .Case<arith::MaxNumFOp, arith::MaximumFOp>(
          [&](auto) { return call("max"); })
      .Case<math::SqrtOp>([&](auto) { return call("sqrt"); })
      .Case<math::ExpOp>([&](auto) { return call("exp"); })
      .Case<math::LogOp>([&](auto) { return call("log"); })
      .Case<math::AbsFOp>([&](auto) { return call("abs"); })
      .Case<math::SinOp>([&](auto) { return call("sin"); })
      .Case<math::CosOp>([&](auto) { return call("cos"); })
      .Case<math::TanhOp>([&](auto) { return call("tanh"); })
      .Case<arith::ExtFOp, arith::TruncFOp>([&](auto) { return of(0); })
      .Case<arith::ConstantOp>([&](arith::ConstantOp constant) {
        auto number = dyn_cast<FloatAttr>(constant.getValue());
        if (!number || !number.getValue().isFinite())
          return Text{fail("a constant has no notation"), Factor};
        return Text{numberText(number.getValueAsDouble()), Factor};
      })
      .Default([&](Operation *) {
        return Text{
            fail("'" + def->getName().getStringRef() + "' has no notation"),
            Factor};
      });
}

/// The right side of a statement.
std::string Printer::valueOf(linalg::LinalgOp op,
                             ArrayRef<std::string> indices) {
  Block *body = op.getBlock();
  Value yielded = body->getTerminator()->getOperand(0);
  if (op.getNumReductionLoops() == 0)
    return scalar(yielded, op, indices).text;
  Value accumulator = body->getArguments().back();
  Operation *combiner = yielded.getDefiningOp();
  const char *word = !combiner
                         ? nullptr
                         : llvm::TypeSwitch<Operation *, const char *>(combiner)
                               .Case<arith::AddFOp>([](auto) { return "sum"; })
                               .Case<arith::MulFOp>([](auto) { return "prod"; })
                               .Case<arith::MinNumFOp, arith::MinimumFOp>(
                                   [](auto) { return "min"; })
                               .Case<arith::MaxNumFOp, arith::MaximumFOp>(
                                   [](auto) { return "max"; })
                               .Default([](auto) { return nullptr; });
  if (!word || !llvm::is_contained(combiner->getOperands(), accumulator))
    return fail("a reduction is none of sum, prod, min and max");
  Value value = combiner->getOperand(combiner->getOperand(0) == accumulator);
  std::string out = std::string(word) + "(";
  const char *separator = "";
  for (auto [i, kind] : llvm::enumerate(op.getIteratorTypesArray()))
    if (kind == utils::IteratorType::reduction) {
      out += separator + indices[i] + rangeOf(i, op);
      separator = ", ";
    }
  return out + ") " + scalar(value, op, indices).within(Term);
}

void Printer::printGeneric(linalg::LinalgOp op) {
  if (op.getNumDpsInits() != 1) {
    fail("an operation with several results");
    return;
  }
  std::vector<std::string> indices = indexNames(op.getNumLoops());
  std::string value = valueOf(op, indices), left = nameFor(op).str() + "[";
  AffineMap map = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  if (!map.isProjectedPermutation()) {
    fail("a result's subscript is not an index alone");
    return;
  }
  for (auto [d, result] : llvm::enumerate(map.getResults()))
    left +=
        (d ? ", " : "") + indices[cast<AffineDimExpr>(result).getPosition()];
  statements += left + "] = " + value + "\n";
}

void Printer::printInsert(tensor::InsertSliceOp op) {
  auto source = op.getSource().getDefiningOp<linalg::LinalgOp>();
  if (!source || !op.hasUnitStride() || source.getNumDpsInits() != 1 ||
      !source.getMatchingIndexingMap(source.getDpsInitOperand(0))
           .isProjectedPermutation()) {
    fail("a slice has no notation");
    return;
  }
  std::string name = nameFor(op).str();
  std::vector<std::string> indices = indexNames(source.getNumLoops());
  std::string value = valueOf(source, indices), left = name + "[";
  AffineMap map = source.getMatchingIndexingMap(source.getDpsInitOperand(0));
  auto dropped = op.getDroppedDims();
  unsigned next = 0;
  for (int64_t d = 0; d < op.getDestType().getRank(); ++d) {
    left += d ? ", " : "";
    if (dropped.test(d)) {
      left += std::to_string(op.getStaticOffset(d));
    } else if (op.getStaticSize(d) == op.getDestType().getDimSize(d)) {
      AffineExpr result = map.getResult(next++);
      left += indices[cast<AffineDimExpr>(result).getPosition()];
    } else {
      fail("a slice is a part of a dimension");
      return;
    }
  }
  statements += left + "] = " + value + "\n";
}

/// Whether `op` only computes the operand of an insert_slice, its only user.
static bool isPart(Operation *op) {
  if (!op->hasOneUse() || op->hasAttr(marks::kName))
    return false;
  auto insert = dyn_cast<tensor::InsertSliceOp>(*op->user_begin());
  return insert && insert.getSource() == op->getResult(0) &&
         insert->hasAttr(marks::kName);
}

void Printer::visit(Operation &op) {
  if (isa<tensor::EmptyOp, linalg::FillOp, arith::ConstantOp, func::ReturnOp>(
          op))
    return;
  // A window that starts where its tensor starts is read like the tensor.
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op);
      slice && names.count(slice.getSource()) && slice.hasUnitStride() &&
      slice.getDroppedDims().none() &&
      llvm::all_of(slice.getStaticOffsets(),
                   [](int64_t o) { return o == 0; })) {
    std::string name = names[slice.getSource()];
    names[slice] = name;
    return;
  }
  if (auto insert = dyn_cast<tensor::InsertSliceOp>(op))
    return printInsert(insert);
  auto structured = dyn_cast<linalg::LinalgOp>(op);
  if (!structured || op.getNumResults() != 1) {
    fail("'" + op.getName().getStringRef() + "' has no notation");
    return;
  }
  if (!isPart(&op))
    printGeneric(structured);
}

llvm::Expected<std::string> Printer::run() {
  declareBorder();
  if (problem.empty()) {
    // Results have their variables' names.
    for (auto [i, value] :
         llvm::enumerate(func.getBody().front().getTerminator()->getOperands()))
      if (StringRef name = textAttr(func.getResultAttrDict(i), marks::kName);
          !name.empty() && value.getDefiningOp())
        names[value] = name.str();
    std::string elem = elemLine();
    for (Operation &op : func.getBody().front())
      visit(op);
    declarations += elem;
  }
  if (!problem.empty())
    return llvm::createStringError(llvm::inconvertibleErrorCode(),
                                   "the kernel cannot be written in the "
                                   "language: " +
                                       problem);
  return declarations + statements;
}

llvm::Expected<std::string> rhizome::kernel::printProgram(func::FuncOp kernel) {
  return Printer(kernel).run();
}
