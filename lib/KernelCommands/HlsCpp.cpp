// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A loop nest of the kernel becomes a loop nest of C++, pipelined; every tensor
// an array; every number a float, a double or an `ap_fixed` that rounds and
// overflows as the evaluator does.
#include "HlsCpp.h"
#include "HardwareParts.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "rhizome/Dialect/Marks/Marks.h"
#include "rhizome/Dialect/Num/Ops.h"
#include "rhizome/Generator/Loops/Views.h"
#include "rhizome/Import/Kernel/Ir.h"
#include "rhizome/Support/Names.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Regex.h"
#include <cmath>

using namespace mlir;
using namespace rhizome;
using namespace rhizome::kernelcommands;
using numeric::Overflow;
using numeric::Rounding;

static bool isReal(Type type) {
  return isa<FloatType>(getElementTypeOrSelf(type));
}

/// True for a conversion between an argument in reals, or a result, and numbers
/// in a format, if nothing else uses what is in reals.
static bool isBorder(Operation &op) {
  auto generic = dyn_cast<linalg::GenericOp>(op);
  if (!generic || generic.getNumDpsInputs() != 1 ||
      !llvm::hasNItems(*generic.getBody(), 2) ||
      !isa<num::CastOp>(generic.getBody()->front()))
    return false;
  Value from = generic.getInputs()[0], to = generic.getResult(0);
  if (isReal(from.getType()) == isReal(to.getType()))
    return false;
  if (isReal(from.getType()))
    return isa<BlockArgument>(from) && from.hasOneUse();
  return to.hasOneUse() &&
         to.use_begin()->getOwner()->hasTrait<OpTrait::IsTerminator>();
}

std::vector<HlsPort> kernelcommands::portsOf(const NumberedKernel &kernel) {
  func::FuncOp func = kernel.formats.func;
  NameScope scope(Language::C);
  // What kernels and test benches call their own things.
  const llvm::Regex taken(
      "^([imv][0-9]+|nest[0-9]+(_sum)?|before|elements|[ei]|"
      "want_.*|argc|argv|path|file|wrong|word|[sg]et|put|"
      "fetch|main)$");
  std::vector<HlsPort> ports;
  auto add = [&](Value v, DictionaryAttr attrs, const char *fallback,
                 bool isOutput) {
    auto name = attrs ? attrs.getAs<StringAttr>(marks::kName) : StringAttr();
    std::string text = name ? name.str() : fallback;
    bool isBoth = isOutput && llvm::any_of(ports, [&](const HlsPort &port) {
                    return port.name == text;
                  });
    if (isBoth)
      text += "_out";
    else if (taken.match(text) || text == kernel.signature.name)
      text += "_port";
    ports.push_back({v, scope.unique(text), isOutput,
                     cast<RankedTensorType>(v.getType()).getNumElements()});
  };
  for (BlockArgument argument : func.getArguments()) {
    Value v = argument;
    // It enters by one conversion, if at all.
    for (Operation *user : argument.getUsers())
      if (isBorder(*user))
        v = user->getResult(0);
    if (!v.use_empty())
      add(v, func.getArgAttrDict(argument.getArgNumber()), "x", false);
  }
  for (OpOperand &result :
       func.getBody().front().getTerminator()->getOpOperands()) {
    Value v = result.get();
    if (Operation *made = v.getDefiningOp(); made && isBorder(*made))
      v = made->getOperand(0);
    add(v, func.getResultAttrDict(result.getOperandNumber()), "y", true);
  }
  return ports;
}

namespace {
class Printer {
public:
  Printer(const NumberedKernel &kernel, const FormatChoice &numbers,
          int64_t frames)
      : kernel(kernel), numbers(numbers), frames(frames), os(body) {}
  Refusals run(std::vector<HlsPort> &ports, HlsCpp &out);

private:
  const NumberedKernel &kernel;
  const FormatChoice &numbers;
  int64_t frames;
  std::string body;
  llvm::raw_string_ostream os;
  Refusals refusals;
  Operation *place = nullptr; ///< what is written
  llvm::MapVector<Value, std::string> memories;
  std::map<std::string, std::string> types; ///< declarations, by name
  DenseMap<Value, std::string> values;      ///< of a nest's body
  unsigned nests = 0, depth = 1;

  llvm::raw_ostream &line() { return os.indent(2 * depth); }
  std::string refuse(const llvm::Twine &reason, StringRef remedy,
                     bool isEverywhere = false) {
    Refusal one{placeOf(place->getLoc()), place->getName().getStringRef().str(),
                reason.str(), remedy.str()};
    if (llvm::none_of(refusals, [&](const Refusal &other) {
          return other.reason == one.reason &&
                 (isEverywhere || other.node == one.node);
        }))
      refusals.push_back(std::move(one));
    return "0";
  }
  /// A value of a nest's body, or a constant.
  std::string valueOf(Value v) {
    auto found = values.find(v);
    if (found != values.end())
      return found->second;
    if (std::optional<double> number = constant(v))
      return literal(*number, v.getType());
    return refuse("a value from outside of a nest has no C++",
                  "make it an operand");
  }
  std::string typeOf(Type type);
  std::string literal(double number, Type type);
  std::optional<double> constant(Value v);
  std::optional<std::string> uniform(Value tensor);
  std::string memoryOf(Value base);
  std::string element(Value tensor, AffineMap map, ArrayRef<std::string> loops);
  std::string number(Operation &inner);
  std::string real(Operation &inner);
  std::string cast(num::CastOp op);
  void open(const llvm::Twine &label, StringRef index, int64_t trip);
  void close(size_t loops);
  void printNest(linalg::GenericOp op);
  void printCopy(const HlsPort &port);
};
} // namespace

//===----------------------------------------------------------------------===//
// Types and constants
//===----------------------------------------------------------------------===//

static const char *modeOf(Rounding rounding) {
  switch (rounding) {
  case Rounding::NearestEven:
    return "AP_RND_CONV";
  case Rounding::NearestAway:
    return "AP_RND_INF";
  case Rounding::TowardZero:
    return "AP_TRN_ZERO";
  case Rounding::Down:
    return "AP_TRN";
  case Rounding::Up:
    break;
  }
  return nullptr;
}

/// True for IEEE's single precision, a float of C++.
static bool isSingle(Type type) {
  return type.isF32() || num::formatOf(type) == numeric::Format::binary32();
}

std::string Printer::typeOf(Type type) {
  if (type.isInteger(1))
    return "bool";
  auto format = num::formatOf(type);
  const bool isNearest = numbers.rounding == Rounding::NearestEven;
  if (type.isF64() || type.isF32() || (isSingle(type) && isNearest))
    return type.isF64() ? "double" : "float";
  if (!format || format->isFloat())
    return refuse("there is no C++ for " +
                      (format ? format->str() : std::string("its numbers")) +
                      (isNearest ? "" : " that rounds so"),
                  "choose fixed point, or single or double precision to the "
                  "nearest",
                  true);
  const char *mode = modeOf(numbers.rounding);
  if (!mode)
    return refuse("ap_fixed does not round up",
                  "choose another --rounding, such as nearest_even", true);
  if (format->width() > 64)
    return refuse("numbers of " + llvm::Twine(format->width()) +
                      " bits are wider than a word of 64",
                  "choose a narrower format", true);
  auto digits = [](int n) {
    return n < 0 ? "m" + std::to_string(-n) : std::to_string(n);
  };
  std::string name = std::string(format->isSigned ? "fixed_" : "ufixed_") +
                     digits(format->integerBits) + "_" +
                     digits(format->fractionBits);
  types[name] = llvm::formatv("typedef ap_{0}fixed<{1}, {2}, {3}, {4}> {5};\n",
                              format->isSigned ? "" : "u", format->width(),
                              format->integerBits, mode,
                              numbers.saturate ? "AP_SAT" : "AP_WRAP", name);
  return name;
}

static std::string digitsOf(double number) {
  char digits[64];
  snprintf(digits, sizeof digits, "%.17g", number);
  std::string text = digits;
  return text.find_first_of(".en") == std::string::npos ? text + ".0" : text;
}

/// A number in a type, rounded by it.
std::string Printer::literal(double number, Type type) {
  std::string name = typeOf(type);
  if (isReal(type) || isSingle(type)) {
    if (std::isfinite(number))
      return name + "(" + digitsOf(number) + ")";
    return std::isnan(number)
               ? name + "(NAN)"
               : name + (number < 0 ? "(-INFINITY)" : "(INFINITY)");
  }
  auto format = num::formatOf(type);
  if (!format || format->isFloat() || format->width() > 64)
    return "0";
  numeric::Arithmetic arithmetic(*format, numbers.rounding,
                                 numbers.saturate ? Overflow::Saturate
                                                  : Overflow::Wrap);
  numeric::Bits bits = arithmetic.fromDouble(number);
  // Of more than 53 bits, a double would be another number.
  double value = arithmetic.toDouble(bits);
  if (arithmetic.fromDouble(value) == bits)
    return name + "(" + digitsOf(value) + ")";
  return "from_bits<" + name + ">(" +
         std::string(llvm::formatv("0x{0:x-}ull", uint64_t(bits))) + ")";
}

/// The value of a scalar, or of all elements of a tensor.
std::optional<double> Printer::constant(Value v) {
  Attribute attr;
  if (matchPattern(v, m_Constant(&attr))) {
    if (auto number = dyn_cast<FloatAttr>(attr))
      return number.getValueAsDouble();
    if (auto dense = dyn_cast<DenseElementsAttr>(attr);
        dense && dense.isSplat() && isReal(dense.getType()))
      return dense.getSplatValue<APFloat>().convertToDouble();
    return std::nullopt;
  }
  if (auto fill = v.getDefiningOp<linalg::FillOp>())
    return constant(fill.getInputs()[0]);
  // One that is only converted.
  auto generic = v.getDefiningOp<linalg::GenericOp>();
  if (!generic || generic.getNumDpsInputs() != 1)
    return std::nullopt;
  Value yielded = generic.getBody()->getTerminator()->getOperand(0);
  if (auto cast = yielded.getDefiningOp<num::CastOp>())
    yielded = cast.getOperand();
  if (yielded != generic.getBody()->getArgument(0))
    return std::nullopt;
  return constant(generic.getInputs()[0]);
}

std::optional<std::string> Printer::uniform(Value tensor) {
  std::optional<double> number = constant(tensor);
  if (!number)
    return std::nullopt;
  return literal(*number, getElementTypeOrSelf(tensor.getType()));
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

std::string Printer::memoryOf(Value base) {
  std::string &name = memories[base];
  if (name.empty())
    name = "m" + std::to_string(memories.size() - 1);
  return name;
}

std::string Printer::element(Value tensor, AffineMap map,
                             ArrayRef<std::string> loops) {
  gen::loops::View view = gen::loops::viewOf(tensor);
  gen::loops::Index sum{0, std::vector<int64_t>(loops.size())};
  auto shape = mlir::cast<RankedTensorType>(view.base.getType()).getShape();
  int64_t stride = 1;
  for (size_t d = shape.size(); d-- > 0; stride *= shape[d]) {
    const gen::loops::View::Dimension &at = view.dims[d];
    sum.constant += at.first * stride;
    if (at.of && !sum.add(map.getResult(*at.of), at.step * stride))
      return refuse("an index is not a sum of loops",
                    "the CPU computes it, leave the target out");
  }
  std::string text;
  auto add = [&](int64_t factor, StringRef index) {
    if (!factor)
      return;
    text += text.empty() ? (factor < 0 ? "-" : "") : factor < 0 ? " - " : " + ";
    uint64_t size = uint64_t(std::abs(factor));
    text += index.empty() ? std::to_string(size)
            : size == 1   ? index.str()
                          : std::to_string(size) + " * " + index.str();
  };
  for (auto [factor, loop] : llvm::zip_equal(sum.scale, loops))
    add(factor, loop);
  add(sum.constant, "");
  return memoryOf(view.base) + "[" + (text.empty() ? "0" : text) + "]";
}

std::string Printer::cast(num::CastOp op) {
  Type from = op.getOperand().getType(), to = op.getResult().getType();
  if (auto number = constant(op.getOperand()))
    return literal(*number, to);
  std::string operand = valueOf(op.getOperand());
  auto format = num::formatOf(from);
  if (!format->isFixed() || num::formatOf(to)->isFixed())
    return typeOf(to) + "(" + operand + ")";
  if (isSingle(to) && format->width() > 53)
    return refuse("a conversion to float is rounded twice",
                  "store the result in double");
  return typeOf(to) + "(" + operand + ".to_double())";
}

/// A comparison of two values, of floats or of fixed point.
static std::string comparison(num::Predicate predicate, const std::string &x,
                              const std::string &y, bool isFloat) {
  const unsigned kAll = 15, orders = unsigned(predicate);
  const bool orUnordered = num::holds(predicate, numeric::Order::Unordered);
  if (isFloat && orUnordered)
    return "!(" + comparison(num::Predicate(kAll - orders), x, y, true) + ")";
  switch (num::Predicate(orders & 7)) {
  case num::Predicate::ONE:
    return isFloat ? x + " < " + y + " || " + x + " > " + y : x + " != " + y;
  case num::Predicate::ORD:
    return isFloat ? x + " == " + x + " && " + y + " == " + y : "true";
  default:
    break;
  }
  const char *const signs[] = {"", "<", "==", "<=", ">", "", ">="};
  return orders & 7 ? x + " " + signs[orders & 7] + " " + y : "false";
}

/// The right side of an operation on numbers in a format.
std::string Printer::number(Operation &inner) {
  if (auto conversion = dyn_cast<num::CastOp>(inner))
    return cast(conversion);
  std::string type = typeOf(inner.getResult(0).getType());
  auto of = [&](unsigned i) { return valueOf(inner.getOperand(i)); };
  auto exact = [&](const std::string &value) {
    return type + "(" + value + ")";
  };
  const bool isFloat = type == "float";
  auto either = [&](unsigned small, unsigned large) {
    // What is not a number stays so.
    const char *sign = small == 0 ? " || " : " && ";
    const char *is = small == 0 ? " != " : " == ";
    return of(0) + " < " + of(1) +
           (isFloat ? sign + of(0) + is + of(0) : std::string()) + " ? " +
           of(small) + " : " + of(large);
  };
  return llvm::TypeSwitch<Operation *, std::string>(&inner)
      .Case<num::AddOp>([&](auto) { return exact(of(0) + " + " + of(1)); })
      .Case<num::SubOp>([&](auto) { return exact(of(0) + " - " + of(1)); })
      .Case<num::MulOp>([&](auto) { return exact(of(0) + " * " + of(1)); })
      .Case<num::FmaOp>([&](auto) {
        return isFloat ? "std::fma(" + of(0) + ", " + of(1) + ", " + of(2) + ")"
                       : exact(of(0) + " * " + of(1) + " + " + of(2));
      })
      .Case<num::NegOp>([&](auto) { return exact("-" + of(0)); })
      .Case<num::AbsOp>([&](auto) {
        return isFloat ? "std::fabs(" + of(0) + ")"
                       : of(0) + " < 0 ? " + exact("-" + of(0)) + " : " + of(0);
      })
      .Case<num::CompareOp>([&](num::CompareOp compare) {
        return comparison(compare.getPredicate(), of(0), of(1),
                          isSingle(compare.getLhs().getType()));
      })
      .Case<num::MinOp>([&](auto) { return either(0, 1); })
      .Case<num::MaxOp>([&](auto) { return either(1, 0); })
      .Default([&](Operation *) {
        if (isFloat && isa<num::DivOp>(inner))
          return of(0) + " / " + of(1);
        if (isFloat && isa<num::SqrtOp>(inner))
          return "std::sqrt(" + of(0) + ")";
        return refuse("'" + inner.getName().getStringRef() +
                          "' rounds otherwise than the evaluator in C++",
                      "choose double precision");
      });
}

/// The same on floats and doubles.
std::string Printer::real(Operation &inner) {
  std::string type = typeOf(inner.getResult(0).getType());
  auto of = [&](unsigned i) { return valueOf(inner.getOperand(i)); };
  auto two = [&](const char *sign) { return of(0) + " " + sign + " " + of(1); };
  auto call = [&](const char *name) {
    std::string out = std::string("std::") + name + "(" + of(0);
    return out + (inner.getNumOperands() > 1 ? ", " + of(1) + ")" : ")");
  };
  return llvm::TypeSwitch<Operation *, std::string>(&inner)
      .Case<arith::AddFOp>([&](auto) { return two("+"); })
      .Case<arith::SubFOp>([&](auto) { return two("-"); })
      .Case<arith::MulFOp>([&](auto) { return two("*"); })
      .Case<arith::DivFOp>([&](auto) { return two("/"); })
      .Case<arith::NegFOp>([&](auto) { return "-" + of(0); })
      .Case<arith::MinNumFOp, arith::MinimumFOp>(
          [&](auto) { return call("fmin"); })
      .Case<arith::MaxNumFOp, arith::MaximumFOp>(
          [&](auto) { return call("fmax"); })
      .Case<math::SqrtOp>([&](auto) { return call("sqrt"); })
      .Case<math::ExpOp>([&](auto) { return call("exp"); })
      .Case<math::LogOp>([&](auto) { return call("log"); })
      .Case<math::AbsFOp>([&](auto) { return call("fabs"); })
      .Case<math::SinOp>([&](auto) { return call("sin"); })
      .Case<math::CosOp>([&](auto) { return call("cos"); })
      .Case<math::TanhOp>([&](auto) { return call("tanh"); })
      .Case<arith::CmpFOp>([&](arith::CmpFOp compare) {
        auto predicate = num::symbolizePredicate(
            arith::stringifyCmpFPredicate(compare.getPredicate()));
        if (!predicate) // always or never
          return std::string(compare.getPredicate() ==
                                     arith::CmpFPredicate::AlwaysTrue
                                 ? "true"
                                 : "false");
        return comparison(*predicate, of(0), of(1), true);
      })
      .Case<arith::SelectOp>(
          [&](auto) { return of(0) + " ? " + of(1) + " : " + of(2); })
      .Case<arith::ExtFOp, arith::TruncFOp>(
          [&](auto) { return type + "(" + of(0) + ")"; })
      .Default([&](Operation *) {
        return refuse("there is no C++ for '" + inner.getName().getStringRef() +
                          "'",
                      "the CPU computes it, leave the target out");
      });
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

void Printer::open(const llvm::Twine &label, StringRef index, int64_t trip) {
  std::string name = label.str();
  line() << (name.empty() ? "" : name + ": ") << "for (int " << index
         << " = 0; " << index << " < " << trip << "; ++" << index << ") {\n";
  ++depth;
}

void Printer::close(size_t loops) {
  for (; loops > 0; --loops) {
    --depth;
    line() << "}\n";
  }
}

void Printer::printNest(linalg::GenericOp op) {
  place = op;
  std::string label = "nest" + std::to_string(nests++);
  line() << "// " << nameOf(*op) << ", " << placeOf(op->getLoc()) << "\n";
  if (op->getNumResults() != 1) {
    refuse("a nest with several results has no C++ yet",
           "one statement per result");
    return;
  }
  auto kinds = op.getIteratorTypesArray();
  auto trips = op.getStaticLoopRanges();
  std::vector<std::string> loops, sums, lasts;
  for (size_t l = 0; l < kinds.size(); ++l) {
    loops.push_back("i" + std::to_string(l));
    if (kinds[l] != utils::IteratorType::reduction)
      continue;
    sums.push_back(loops.back() + " == 0");
    lasts.push_back(loops.back() + " == " + std::to_string(trips[l] - 1));
  }
  Block *inside = op.getBody();
  Value result = op->getResult(0), before = inside->getArguments().back();
  std::string type = typeOf(getElementTypeOrSelf(result.getType()));
  AffineMap to = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  std::string sum = label + "_sum";
  if (!sums.empty())
    line() << type << " " << sum << " = " << type << "(0);\n";
  bool isFirst = true;
  for (bool isReduction : {false, true})
    for (size_t l = 0; l < kinds.size(); ++l)
      if ((kinds[l] == utils::IteratorType::reduction) == isReduction) {
        open(isFirst ? label : "", loops[l], trips[l]);
        isFirst = false;
      }
  os << "#pragma HLS PIPELINE II=1\n";
  values.clear();
  for (OpOperand *operand : op.getDpsInputOperands()) {
    Value argument = inside->getArgument(operand->getOperandNumber());
    if (argument.use_empty())
      continue;
    std::string &text = values[argument];
    if (auto same = uniform(operand->get()))
      text = *same;
    else if (isa<RankedTensorType>(operand->get().getType()))
      text = element(operand->get(), op.getMatchingIndexingMap(operand), loops);
    else
      text = refuse("a scalar operand that is not a constant has no C++",
                    "make it a tensor");
  }
  if (!before.use_empty()) {
    Value init = op.getDpsInits()[0];
    auto same = uniform(init);
    std::string first = same ? *same : element(init, to, loops);
    line() << "const " << type << " before = "
           << (sums.empty()
                   ? first
                   : llvm::join(sums, " && ") + " ? " + first + " : " + sum)
           << ";\n";
    values[before] = "before";
  }
  unsigned next = 0;
  for (Operation &inner : inside->without_terminator()) {
    place = &inner;
    Type made = inner.getResult(0).getType();
    if (auto number = dyn_cast<arith::ConstantOp>(inner)) {
      if (auto value = constant(number))
        values[number] = literal(*value, made);
      continue;
    }
    bool isNumber = isa<num::NumDialect>(inner.getDialect());
    std::string value = isNumber ? number(inner) : real(inner);
    std::string name = "v" + std::to_string(next++);
    line() << "const " << typeOf(made) << " " << name << " = " << value
           << ";\n";
    values[inner.getResult(0)] = name;
  }
  place = op;
  std::string yielded = valueOf(inside->getTerminator()->getOperand(0));
  std::string target = element(result, to, loops);
  if (sums.empty()) {
    line() << target << " = " << yielded << ";\n";
  } else {
    line() << sum << " = " << yielded << ";\n";
    line() << "if (" << llvm::join(lasts, " && ") << ")\n";
    ++depth;
    line() << target << " = " << sum << ";\n";
    --depth;
  }
  close(loops.size());
}

/// A port's array to its memory, or back.
void Printer::printCopy(const HlsPort &port) {
  auto shape = ::cast<RankedTensorType>(port.value.getType()).getShape();
  std::vector<std::string> loops;
  std::string from;
  int64_t stride = port.words;
  for (auto [d, extent] : llvm::enumerate(shape)) {
    stride /= extent;
    loops.push_back("i" + std::to_string(d));
    from += " + " + (stride > 1 ? std::to_string(stride) + " * " : "") +
            loops.back();
  }
  std::string inside =
      element(port.value,
              AffineMap::getMultiDimIdentityMap(unsigned(shape.size()),
                                                port.value.getContext()),
              loops);
  std::string outside =
      port.name + "[e * " + std::to_string(port.words) + from + "]";
  for (auto [d, extent] : llvm::enumerate(shape))
    open(d ? "" : (port.isOutput ? "write_" : "read_") + port.name, loops[d],
         extent);
  if (!shape.empty())
    os << "#pragma HLS PIPELINE II=1\n";
  line() << (port.isOutput ? outside + " = " + inside
                           : inside + " = " + outside)
         << ";\n";
  close(shape.size());
}

/// Named operations get their bodies.
static void generalize(func::FuncOp func) {
  SmallVector<linalg::LinalgOp> named;
  for (auto op : func.getOps<linalg::LinalgOp>())
    if (!isa<linalg::GenericOp, linalg::FillOp>(op))
      named.push_back(op);
  IRRewriter rewriter(func.getContext());
  for (linalg::LinalgOp op : named) {
    Attribute name = op->getAttr(marks::kName);
    rewriter.setInsertionPoint(op);
    auto generic = linalg::generalizeNamedOp(rewriter, op);
    if (succeeded(generic) && name)
      (*generic)->setAttr(marks::kName, name);
  }
}

Refusals Printer::run(std::vector<HlsPort> &ports, HlsCpp &out) {
  func::FuncOp func = kernel.formats.func;
  place = func;
  depth = 2;
  for (const HlsPort &port : ports)
    if (!port.isOutput)
      printCopy(port);
  for (Operation &op : func.getBody().front()) {
    place = &op;
    auto nest = dyn_cast<linalg::GenericOp>(op);
    if (nest && !isBorder(op) &&
        !(op.getNumResults() == 1 && constant(op.getResult(0)))) {
      printNest(nest);
      continue;
    }
    if (!nest && !op.hasTrait<OpTrait::IsTerminator>() &&
        !isa<arith::ConstantOp, tensor::EmptyOp, linalg::FillOp,
             tensor::ExtractSliceOp, tensor::InsertSliceOp>(op))
      refuse("there is no C++ for '" + op.getName().getStringRef() + "'",
             "the CPU computes it, leave the target out");
  }
  place = func;
  for (const HlsPort &port : ports)
    if (port.isOutput)
      printCopy(port);

  const std::string &name = kernel.signature.name;
  std::string parameters, depths;
  for (HlsPort &port : ports) {
    port.type = typeOf(getElementTypeOrSelf(port.value.getType()));
    parameters += std::string(port.isOutput ? "" : "const ") + port.type +
                  " *" + port.name + ", ";
    depths += llvm::formatv(
        "#pragma HLS INTERFACE m_axi port={0} offset=slave bundle=gmem_{0} "
        "depth={1}\n#pragma HLS INTERFACE s_axilite port={0}\n",
        port.name, frames * port.words);
  }
  std::string signature = "void " + name + "(" + parameters + "int elements)";
  std::string upper = StringRef(name).upper();
  llvm::raw_string_ostream header(out.header), source(out.source);
  header << "// The kernel '" << name
         << "' for AMD's Vitis HLS, written by rhizome compile.\n#ifndef "
         << upper << "_H\n#define " << upper << "_H\n\n";
  if (!types.empty())
    header << "#include <ap_fixed.h>\n\n";
  for (const auto &[one, text] : types)
    header << text;
  header << (types.empty() ? "" : "\n") << "extern \"C\" " << signature
         << ";\n\n#endif\n";
  source << "// The kernel '" << name
         << "' for AMD's Vitis HLS, written by rhizome compile.\n#include \""
         << name << ".h\"\n\n#include <cmath>\n\n";
  if (StringRef(body).contains("from_bits<"))
    source << "template <typename T> static T from_bits(unsigned long long "
              "bits) {\n  T value;\n  value.range(T::width - 1, 0) = bits;\n  "
              "return value;\n}\n\n";
  source << "// Arrays of `elements` elements, one after the other.\n"
         << signature << " {\n"
         << depths
         << "#pragma HLS INTERFACE s_axilite port=elements\n"
            "#pragma HLS INTERFACE s_axilite port=return\n"
            "  for (int e = 0; e < elements; ++e) {\n";
  for (const auto &[base, memory] : memories)
    source << "    " << typeOf(getElementTypeOrSelf(base.getType())) << " "
           << memory << "["
           << ::cast<RankedTensorType>(base.getType()).getNumElements()
           << "];\n";
  source << body << "  }\n}\n";
  return std::move(refusals);
}

Refusals kernelcommands::printHlsCpp(const NumberedKernel &kernel,
                                     const FormatChoice &numbers,
                                     int64_t frames,
                                     std::vector<HlsPort> &ports, HlsCpp &out) {
  generalize(kernel.formats.func);
  ports = portsOf(kernel);
  return Printer(kernel, numbers, frames).run(ports, out);
}
