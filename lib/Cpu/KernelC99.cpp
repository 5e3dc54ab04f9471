// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels as C99 text for other compilers: plain loops over the factorized
// operations, temporaries as local arrays.
#include "KernelParts.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/ADT/ScopedHashTable.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace rhizome::kernel;

namespace {
class C99Printer {
public:
  explicit C99Printer(const Signature &signature)
      : signature(signature), os(text) {}
  llvm::Expected<std::string> run(func::FuncOp body);

private:
  const Signature &signature;
  std::string text, problem;
  llvm::raw_string_ostream os;
  DenseMap<Value, std::string> names;
  unsigned next = 0, depth = 1;

  llvm::raw_ostream &line() { return os.indent(2 * depth); }
  std::string fail(const llvm::Twine &what) {
    if (problem.empty())
      problem = what.str();
    return "0";
  }
  std::string nameOf(Value value) {
    auto found = names.find(value);
    return found == names.end() ? fail("a value of an unknown operation")
                                : found->second;
  }
  std::string fresh(const char *prefix, Value value) {
    return names[value] = prefix + std::to_string(next++);
  }
  std::string affine(AffineExpr expr, ValueRange operands, unsigned dims);
  std::string bound(AffineMap map, ValueRange operands);
  void loop(affine::AffineForOp op);
  std::string element(Value memref, AffineMap map, ValueRange operands);
  void visit(Operation &op);
  void visit(Block &block) {
    for (Operation &op : block)
      visit(op);
  }
  std::string scalar(Operation &op);
  void printCopies();
  void printRun();
};
} // namespace

static const char *cType(Type type) {
  return type.isF32() ? "float" : "double";
}

std::string C99Printer::affine(AffineExpr expr, ValueRange operands,
                               unsigned dims) {
  if (auto number = dyn_cast<AffineConstantExpr>(expr))
    return std::to_string(number.getValue());
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return nameOf(operands[dim.getPosition()]);
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return nameOf(operands[dims + symbol.getPosition()]);
  auto binary = cast<AffineBinaryOpExpr>(expr);
  std::string left = affine(binary.getLHS(), operands, dims),
              right = affine(binary.getRHS(), operands, dims);
  switch (expr.getKind()) {
  case AffineExprKind::Add:
    return "(" + left + " + " + right + ")";
  case AffineExprKind::Mul:
    return left + " * " + right;
  default:
    return fail("a subscript with a division");
  }
}

/// The bound of a loop.
std::string C99Printer::bound(AffineMap map, ValueRange operands) {
  if (map.getNumResults() != 1)
    return fail("a loop that ends at the least of several bounds");
  return affine(map.getResult(0), operands, map.getNumDims());
}

/// What a loop carries is a variable that its trips write.
void C99Printer::loop(affine::AffineForOp op) {
  for (auto [init, arg, result] : llvm::zip_equal(
           op.getInits(), op.getRegionIterArgs(), op.getResults())) {
    if (!isa<FloatType>(arg.getType())) {
      fail("a loop that carries something else than numbers");
      return;
    }
    std::string from = nameOf(init), to = fresh("s", arg);
    names[result] = to;
    line() << cType(arg.getType()) << " " << to << " = " << from << ";\n";
  }
  const std::string from = bound(op.getLowerBoundMap(),
                                 op.getLowerBoundOperands()),
                    to = bound(op.getUpperBoundMap(),
                               op.getUpperBoundOperands()),
                    i = fresh("i", op.getInductionVar());
  line() << "for (int " << i << " = " << from << "; " << i << " < " << to
         << "; " << i << " += " << op.getStepAsInt() << ") {\n";
  ++depth;
  visit(*op.getBody());
  // All are read before one is written.
  auto yield = cast<affine::AffineYieldOp>(op.getBody()->getTerminator());
  SmallVector<std::string> next;
  for (Value v : yield.getOperands()) {
    next.push_back(nameOf(v));
    if (yield.getNumOperands() == 1)
      continue;
    std::string kept = "n" + std::to_string(this->next++);
    line() << "const " << cType(v.getType()) << " " << kept << " = "
           << next.back() << ";\n";
    next.back() = kept;
  }
  for (auto [arg, value] : llvm::zip_equal(op.getRegionIterArgs(), next))
    line() << nameOf(arg) << " = " << value << ";\n";
  --depth;
  line() << "}\n";
}

std::string C99Printer::element(Value memref, AffineMap map,
                                ValueRange operands) {
  SmallVector<int64_t> strides;
  int64_t offset;
  auto type = cast<MemRefType>(memref.getType());
  if (failed(type.getStridesAndOffset(strides, offset)) ||
      ShapedType::isDynamic(offset) ||
      llvm::any_of(strides, ShapedType::isDynamic))
    return fail("an array whose layout is not known");
  AffineExpr place = getAffineConstantExpr(offset, type.getContext());
  for (auto [result, stride] : llvm::zip(map.getResults(), strides))
    place = place + result * stride;
  return nameOf(memref) + "[" + affine(place, operands, map.getNumDims()) + "]";
}

static std::string numberText(double value, bool single) {
  if (value != value)
    return "NAN";
  if (std::isinf(value))
    return value < 0 ? "-INFINITY" : "INFINITY";
  char out[64];
  snprintf(out, sizeof out, "%.17g", value);
  std::string text = out;
  if (text.find_first_of(".e") == std::string::npos)
    text += ".0";
  return (value < 0 ? "(" + text : text) + (single ? "f" : "") +
         (value < 0 ? ")" : "");
}

/// The right side of an operation on scalars.
std::string C99Printer::scalar(Operation &op) {
  auto of = [&](unsigned i) { return nameOf(op.getOperand(i)); };
  auto two = [&](const char *sign) { return of(0) + " " + sign + " " + of(1); };
  bool single = op.getNumResults() && op.getResult(0).getType().isF32();
  auto call = [&](const char *name) {
    std::string out = std::string(name) + (single ? "f(" : "(") + of(0);
    return out + (op.getNumOperands() > 1 ? ", " + of(1) + ")" : ")");
  };
  return llvm::TypeSwitch<Operation *, std::string>(&op)
      .Case<arith::AddFOp, arith::AddIOp>([&](auto) { return two("+"); })
      .Case<arith::SubFOp, arith::SubIOp>([&](auto) { return two("-"); })
      .Case<arith::MulFOp, arith::MulIOp>([&](auto) { return two("*"); })
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
      .Case<arith::ExtFOp, arith::TruncFOp>([&](auto) {
        return std::string("(") + cType(op.getResult(0).getType()) + ")" +
               of(0);
      })
      .Default([&](Operation *) {
        return fail("'" + op.getName().getStringRef() + "'");
      });
}

void C99Printer::visit(Operation &op) {
  if (isa<func::ReturnOp, affine::AffineYieldOp, memref::DeallocOp>(op))
    return;
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    if (auto number = dyn_cast<FloatAttr>(constant.getValue()))
      names[constant] =
          numberText(number.getValueAsDouble(), number.getType().isF32());
    else if (auto number = dyn_cast<IntegerAttr>(constant.getValue()))
      names[constant] = std::to_string(number.getInt());
    else
      fail("a constant array");
    return;
  }
  if (auto repeated = dyn_cast<affine::AffineForOp>(op)) {
    loop(repeated);
    return;
  }
  if (isa<memref::AllocOp, memref::AllocaOp>(op)) {
    auto type = cast<MemRefType>(op.getResult(0).getType());
    if (!type.hasStaticShape() || !isa<FloatType>(type.getElementType())) {
      fail("an array whose layout is not known");
      return;
    }
    std::string name = fresh("t", op.getResult(0));
    line() << cType(type.getElementType()) << " " << name << "["
           << type.getNumElements() << "];\n";
    return;
  }
  // The offset is in the type.
  if (auto part = dyn_cast<memref::SubViewOp>(op)) {
    names[part] = nameOf(part.getSource());
    return;
  }
  if (auto load = dyn_cast<affine::AffineLoadOp>(op)) {
    std::string from =
        element(load.getMemRef(), load.getAffineMap(), load.getMapOperands());
    line() << "const " << cType(load.getType()) << " " << fresh("v", load)
           << " = " << from << ";\n";
    return;
  }
  if (auto store = dyn_cast<affine::AffineStoreOp>(op)) {
    std::string to = element(store.getMemRef(), store.getAffineMap(),
                             store.getMapOperands());
    line() << to << " = " << nameOf(store.getValueToStore()) << ";\n";
    return;
  }
  if (auto apply = dyn_cast<affine::AffineApplyOp>(op)) {
    names[apply] =
        affine(apply.getAffineMap().getResult(0), apply.getMapOperands(),
               apply.getAffineMap().getNumDims());
    return;
  }
  if (op.getNumRegions() || op.getNumResults() != 1 ||
      !isa<FloatType>(op.getResult(0).getType())) {
    fail("'" + op.getName().getStringRef() + "'");
    return;
  }
  std::string value = scalar(op);
  line() << "const " << cType(op.getResult(0).getType()) << " "
         << fresh("v", op.getResult(0)) << " = " << value << ";\n";
}

/// Copies between an array of the caller's strides and a dense one.
void C99Printer::printCopies() {
  for (unsigned bits : {32u, 64u}) {
    if (llvm::none_of(signature.arguments, [&](const Argument &one) {
          return one.bits == bits && !one.shape.empty();
        }))
      continue;
    const char *type = bits == 32 ? "float" : "double";
    os << "static void copy_" << type
       << "(int rank, const int64_t *extents, const " << type
       << " *from,\n    const int64_t *from_strides, " << type
       << " *to, const int64_t *to_strides) {\n"
       << "  if (rank == 0) {\n    *to = *from;\n    return;\n  }\n"
       << "  for (int64_t i = 0; i < extents[0]; ++i)\n    copy_" << type
       << "(rank - 1, extents + 1, from + i * from_strides[0],\n"
       << "        from_strides + 1, to + i * to_strides[0], to_strides + 1);\n"
       << "}\n\n";
  }
}

void C99Printer::printRun() {
  os << "void " << signature.name
     << "_run(int64_t elements, int32_t threads, const rhz_array *arrays) {\n"
     << "  (void)threads; /* C99 has none */\n"
     << "  for (int64_t e = 0; e < elements; ++e) {\n";
  auto typeOf = [](const Argument &one) {
    return one.bits == 32 ? "float" : "double";
  };
  auto list = [](llvm::ArrayRef<int64_t> values) {
    return llvm::join(
        llvm::map_range(values, [](int64_t v) { return std::to_string(v); }),
        ", ");
  };
  std::string call;
  for (auto [i, one] : llvm::enumerate(signature.arguments)) {
    std::string n = std::to_string(i), type = typeOf(one);
    os << "    " << type << " *a" << n << " = (" << type << " *)arrays[" << n
       << "].data + e * arrays[" << n << "].element_stride, *p" << n << " = a"
       << n << ";\n";
    call += (i ? ", p" : "p") + n;
    if (one.shape.empty())
      continue;
    os << "    " << type << " b" << n << "[" << one.size() << "];\n"
       << "    static const int64_t extents" << n << "[] = {" << list(one.shape)
       << "}, strides" << n << "[] = {" << list(one.strides) << "};\n"
       << "    for (int d = 0; d < " << one.shape.size() << "; ++d)\n"
       << "      if (extents" << n << "[d] > 1 && arrays[" << n
       << "].strides[d] != strides" << n << "[d])\n        p" << n << " = b"
       << n << ";\n";
    if (one.isInput)
      os << "    if (p" << n << " == b" << n << ")\n      copy_" << type << "("
         << one.shape.size() << ", extents" << n << ", a" << n << ", arrays["
         << n << "].strides, b" << n << ", strides" << n << ");\n";
  }
  os << "    body(" << call << ");\n";
  for (auto [i, one] : llvm::enumerate(signature.arguments)) {
    std::string n = std::to_string(i);
    if (one.isOutput && !one.shape.empty())
      os << "    if (p" << n << " == b" << n << ")\n      copy_" << typeOf(one)
         << "(" << one.shape.size() << ", extents" << n << ", b" << n
         << ", strides" << n << ", a" << n << ", arrays[" << n
         << "].strides);\n";
  }
  os << "  }\n}\n";
}

llvm::Expected<std::string> C99Printer::run(func::FuncOp body) {
  os << "/* The kernel '" << signature.name
     << "' as C99, written by rhizome compile. */\n#include \""
     << signature.name << ".h\"\n\n#include <math.h>\n\nstatic void body(";
  for (auto [i, one] : llvm::enumerate(signature.arguments)) {
    std::string name = "a" + std::to_string(i);
    names[body.getArgument(i)] = name;
    os << (i ? ", " : "") << (one.isOutput ? "" : "const ")
       << (one.bits == 32 ? "float" : "double") << " *restrict " << name;
  }
  os << ") {\n";
  for (auto [i, one] : llvm::enumerate(signature.arguments))
    if (body.getArgument(i).use_empty())
      line() << "(void)a" << i << ";\n";
  visit(body.getBody().front());
  os << "}\n\n";
  printCopies();
  printRun();
  if (!problem.empty())
    return llvm::createStringError(llvm::inconvertibleErrorCode(),
                                   "the kernel cannot be written as C99: " +
                                       problem);
  return text;
}

llvm::Expected<std::string>
rhizome::kernel::printC99(func::FuncOp kernel, const Signature &signature) {
  auto buffered = bufferizeKernel(kernel, signature);
  if (failed(buffered))
    return llvm::createStringError(llvm::inconvertibleErrorCode(),
                                   "the kernel's tensors cannot become "
                                   "buffers");
  if (!buffered->constants.empty())
    return llvm::createStringError(
        llvm::inconvertibleErrorCode(),
        "the kernel cannot be written as C99: a constant array");
  PassManager pm(kernel.getContext());
  pm.addPass(createConvertLinalgToAffineLoopsPass());
  pm.addPass(memref::createFoldMemRefAliasOpsPass());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
  if (failed(pm.run(*buffered->module)))
    return llvm::createStringError(llvm::inconvertibleErrorCode(),
                                   "the kernel cannot become loops");
  return C99Printer(signature).run(
      buffered->module->lookupSymbol<func::FuncOp>("body"));
}
