// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Programs to MLIR: a statement is one linalg.generic, a reduction inside an
// expression another one before it. Offsets and numbers are in indexing
// maps; a statement for a part of a tensor inserts a slice.
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StructuredOpsUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "rhizome/Dialect/Marks/Marks.h"
#include "rhizome/Import/Kernel/Ir.h"

using namespace mlir;
using namespace rhizome;
using namespace rhizome::kernel;

void rhizome::kernel::loadDialects(MLIRContext &context) {
  context.loadDialect<marks::MarksDialect, arith::ArithDialect,
                      func::FuncDialect, linalg::LinalgDialect,
                      math::MathDialect, tensor::TensorDialect>();
}

void rhizome::kernel::loadForeignDialects(MLIRContext &context) {
  loadDialects(context);
  context.loadDialect<affine::AffineDialect, memref::MemRefDialect,
                      scf::SCFDialect, vector::VectorDialect>();
}

namespace {
class ModuleBuilder {
public:
  ModuleBuilder(MLIRContext &context, const Program &program, bool reassociate)
      : program(program), b(&context), values(program.variables.size()) {
    auto flags = reassociate ? arith::FastMathFlags::reassoc |
                                   arith::FastMathFlags::contract
                             : arith::FastMathFlags::none;
    fastmath = arith::FastMathFlagsAttr::get(&context, flags);
  }
  OwningOpRef<ModuleOp> run();

private:
  const Program &program;
  OpBuilder b;
  std::vector<Value> values; ///< of the variables, current
  arith::FastMathFlagsAttr fastmath;
  /// Reductions of the statement that have their own tensor.
  struct Temporary {
    Value tensor;
    std::vector<int> dims;
  };
  std::map<const Expr *, Temporary> temporaries;
  const Statement *statement = nullptr;
  FloatType computeType;
  unsigned temporaryCount = 0;

  Location locate(Place at) {
    return FileLineColLoc::get(b.getStringAttr(program.file), at.line,
                               at.column);
  }
  FloatType floatType(unsigned bits) {
    return bits == 32 ? FloatType(b.getF32Type()) : FloatType(b.getF64Type());
  }
  RankedTensorType typeOf(const Variable &variable);
  DictionaryAttr attributes(const Variable &variable);
  void nameOp(Operation *op, const Variable &variable);
  std::string temporaryName();

  Value windowOf(const Expr &access, ArrayRef<AffineExpr> subscripts);
  void emit(const Statement &one);
  Value tensorOf(const Expr &expr, ArrayRef<int> dims, Type element);
  void hoist(const Expr &expr, ArrayRef<int> dims);
  Value cast(Value value, Type to, Location loc);
  Value identity(Operator op, Type type, Location loc);
  Value combine(Operator op, Value left, Value right, Location loc);
  Value scalar(const Expr &expr,
               llvm::function_ref<Value(const Expr &)> accessed);
};
} // namespace

RankedTensorType ModuleBuilder::typeOf(const Variable &variable) {
  SmallVector<int64_t> shape;
  for (auto [extent, margin] : llvm::zip(variable.extents, variable.halo))
    shape.push_back(margin.first + extent + margin.second);
  return RankedTensorType::get(shape, floatType(variable.bits));
}

DictionaryAttr ModuleBuilder::attributes(const Variable &variable) {
  NamedAttrList list;
  list.set(marks::kName, b.getStringAttr(variable.name));
  if (!variable.format.empty())
    list.set(marks::kFormat, b.getStringAttr(variable.format));
  if (variable.accuracy > 0)
    list.set(marks::kAccuracy, b.getF64FloatAttr(variable.accuracy));
  if (variable.columnMajor)
    list.set(marks::kColumnMajor, b.getUnitAttr());
  if (variable.hasHalo()) {
    SmallVector<int64_t> margins;
    for (auto [below, above] : variable.halo)
      margins.append({below, above});
    list.set(marks::kHalo, b.getDenseI64ArrayAttr(margins));
  }
  if (variable.element != ElementDim::None)
    list.set(variable.element == ElementDim::First ? marks::kElementFirst
                                                   : marks::kElementLast,
             b.getUnitAttr());
  return list.getDictionary(b.getContext());
}

void ModuleBuilder::nameOp(Operation *op, const Variable &variable) {
  op->setAttr(marks::kName, b.getStringAttr(variable.name));
  if (!variable.format.empty())
    op->setAttr(marks::kFormat, b.getStringAttr(variable.format));
  if (variable.accuracy > 0)
    op->setAttr(marks::kAccuracy, b.getF64FloatAttr(variable.accuracy));
}

std::string ModuleBuilder::temporaryName() {
  std::string name;
  do
    name = program.variables[statement->target].name + "_" +
           std::to_string(++temporaryCount);
  while (llvm::any_of(program.variables, [&](const Variable &v) {
    return llvm::StringRef(v.name).equals_insensitive(name);
  }));
  return name;
}

OwningOpRef<ModuleOp> ModuleBuilder::run() {
  OwningOpRef<ModuleOp> module = ModuleOp::create(locate({1, 1}));
  b.setInsertionPointToEnd(module->getBody());
  SmallVector<Type> inputs, outputs;
  SmallVector<DictionaryAttr> inputAttrs, outputAttrs;
  std::vector<int> results, parameters;
  for (int v : program.arguments()) {
    const Variable &variable = program.variables[v];
    if (variable.isInput()) {
      parameters.push_back(v);
      inputs.push_back(typeOf(variable));
      inputAttrs.push_back(attributes(variable));
    }
    if (variable.isOutput()) {
      results.push_back(v);
      outputs.push_back(typeOf(variable));
      outputAttrs.push_back(attributes(variable));
    }
  }
  auto func = func::FuncOp::create(b, locate({1, 1}), program.name,
                                   b.getFunctionType(inputs, outputs));
  func->setAttr(marks::kKernel, b.getUnitAttr());
  if (program.elements)
    func->setAttr(marks::kElements, b.getI64IntegerAttr(program.elements));
  for (auto [i, attrs] : llvm::enumerate(inputAttrs))
    func.setArgAttrs(i, attrs);
  for (auto [i, attrs] : llvm::enumerate(outputAttrs))
    func.setResultAttrs(i, attrs);
  Block *body = func.addEntryBlock();
  b.setInsertionPointToEnd(body);
  for (auto [v, argument] : llvm::zip(parameters, body->getArguments()))
    values[v] = argument;
  for (const Statement &one : program.statements)
    emit(one);
  SmallVector<Value> returned;
  for (int v : results)
    returned.push_back(values[v]);
  func::ReturnOp::create(b, locate({1, 1}), returned);
  return module;
}

/// The widest element among the variables of an expression.
static unsigned bitsOf(const Program &program, const Expr &expr) {
  unsigned bits = expr.kind == Expr::Kind::Access
                      ? program.variables[expr.variable].bits
                      : 32;
  for (const ExprPtr &operand : expr.operands)
    bits = std::max(bits, bitsOf(program, *operand));
  return bits;
}

static void collectIndices(const Expr &expr, std::vector<bool> &used) {
  for (const Subscript &subscript : expr.subscripts)
    for (const IndexTerm &term : subscript.terms)
      used[term.index] = true;
  for (const ExprPtr &operand : expr.operands)
    collectIndices(*operand, used);
}

void ModuleBuilder::emit(const Statement &one) {
  statement = &one;
  temporaries.clear();
  const Variable &target = program.variables[one.target];
  computeType = floatType(std::max(target.bits, bitsOf(program, *one.value)));
  std::vector<int> dims;
  for (const Subscript &subscript : one.subscripts)
    if (!subscript.isNumber())
      dims.push_back(subscript.index());
  Value value = tensorOf(*one.value, dims, floatType(target.bits));
  if (dims.size() == one.subscripts.size()) {
    nameOp(value.getDefiningOp(), target);
    values[one.target] = value;
    return;
  }
  Location loc = locate(one.at);
  RankedTensorType type = typeOf(target);
  Value old = values[one.target];
  if (!old)
    old =
        tensor::EmptyOp::create(b, loc, type.getShape(), type.getElementType());
  SmallVector<OpFoldResult> offsets, sizes, strides;
  for (auto [d, subscript] : llvm::enumerate(one.subscripts)) {
    bool whole = !subscript.isNumber();
    offsets.push_back(b.getIndexAttr(whole ? 0 : subscript.offset));
    sizes.push_back(b.getIndexAttr(whole ? type.getDimSize(d) : 1));
    strides.push_back(b.getIndexAttr(1));
  }
  auto inserted = tensor::InsertSliceOp::create(b, loc, value, old, offsets,
                                                sizes, strides);
  nameOp(inserted, target);
  values[one.target] = inserted;
}

/// Computes every outermost reduction below `expr` in its own tensor.
void ModuleBuilder::hoist(const Expr &expr, ArrayRef<int> dims) {
  if (expr.kind != Expr::Kind::Reduce) {
    for (const ExprPtr &operand : expr.operands)
      hoist(*operand, dims);
    return;
  }
  std::vector<bool> used(statement->extents.size());
  collectIndices(expr, used);
  Temporary temporary;
  for (int dim : dims)
    if (used[dim])
      temporary.dims.push_back(dim);
  temporary.tensor = tensorOf(expr, temporary.dims, computeType);
  temporary.tensor.getDefiningOp()->setAttr(marks::kName,
                                            b.getStringAttr(temporaryName()));
  temporaries[&expr] = temporary;
}

/// The variable that `access` reads. A dimension that is subscripted by an
/// index alone may be longer than the index's range: only its start is read.
Value ModuleBuilder::windowOf(const Expr &access,
                              ArrayRef<AffineExpr> subscripts) {
  Value value = values[access.variable];
  auto type = cast<RankedTensorType>(value.getType());
  SmallVector<OpFoldResult> offsets, sizes, strides;
  bool whole = true;
  for (auto [d, subscript] : llvm::enumerate(subscripts)) {
    int64_t size = type.getDimSize(d);
    if (isa<AffineDimExpr>(subscript))
      size = statement->extents[access.subscripts[d].index()];
    whole = whole && size == type.getDimSize(d);
    offsets.push_back(b.getIndexAttr(0));
    sizes.push_back(b.getIndexAttr(size));
    strides.push_back(b.getIndexAttr(1));
  }
  if (whole)
    return value;
  return tensor::ExtractSliceOp::create(b, locate(access.at), value, offsets,
                                        sizes, strides);
}

Value ModuleBuilder::tensorOf(const Expr &expr, ArrayRef<int> dims,
                              Type element) {
  Location loc = locate(expr.at);
  bool reduces = expr.kind == Expr::Kind::Reduce && element == computeType;
  const Expr &inner = reduces ? *expr.operands[0] : expr;
  std::vector<int> loops(dims);
  if (reduces)
    loops.insert(loops.end(), expr.reduced.begin(), expr.reduced.end());
  hoist(inner, loops);

  MLIRContext *context = b.getContext();
  auto dimOf = [&](int index) {
    return getAffineDimExpr(llvm::find(loops, index) - loops.begin(), context);
  };
  // The operands: each tensor once for each kind of subscripts.
  SmallVector<Value> inputs;
  SmallVector<AffineMap> maps;
  std::map<const Expr *, unsigned> argumentOf;
  std::vector<bool> bound(loops.size());
  auto addOperand = [&](const Expr &access, Value tensor,
                        ArrayRef<AffineExpr> results) {
    AffineMap map = AffineMap::get(loops.size(), 0, results, context);
    unsigned at = 0;
    while (at < inputs.size() && (inputs[at] != tensor || maps[at] != map))
      ++at;
    if (at == inputs.size()) {
      inputs.push_back(tensor);
      maps.push_back(map);
    }
    for (AffineExpr result : results)
      if (auto dim = dyn_cast<AffineDimExpr>(result))
        bound[dim.getPosition()] = true;
    argumentOf[&access] = at;
  };
  std::function<void(const Expr &)> collect = [&](const Expr &e) {
    if (auto found = temporaries.find(&e); found != temporaries.end()) {
      SmallVector<AffineExpr> results;
      for (int dim : found->second.dims)
        results.push_back(dimOf(dim));
      return addOperand(e, found->second.tensor, results);
    }
    if (e.kind == Expr::Kind::Access) {
      SmallVector<AffineExpr> results;
      for (auto [subscript, margin] :
           llvm::zip(e.subscripts, program.variables[e.variable].halo)) {
        AffineExpr result = getAffineConstantExpr(0, context);
        for (const IndexTerm &term : subscript.terms)
          result = result + dimOf(term.index) * term.factor;
        results.push_back(result + (subscript.offset + margin.first));
      }
      return addOperand(e, windowOf(e, results), results);
    }
    for (const ExprPtr &operand : e.operands)
      collect(*operand);
  };
  collect(inner);
  // An index that subscripts nothing alone takes its range from an operand
  // without values.
  SmallVector<int64_t> unbound;
  SmallVector<AffineExpr> unboundDims;
  for (size_t i = dims.size(); i < loops.size(); ++i)
    if (!bound[i]) {
      unbound.push_back(statement->extents[loops[i]]);
      unboundDims.push_back(getAffineDimExpr(i, context));
    }
  if (!unbound.empty()) {
    inputs.push_back(tensor::EmptyOp::create(b, loc, unbound, computeType));
    maps.push_back(AffineMap::get(loops.size(), 0, unboundDims, context));
  }

  SmallVector<int64_t> shape;
  SmallVector<AffineExpr> results;
  for (auto [i, dim] : llvm::enumerate(dims)) {
    shape.push_back(statement->extents[dim]);
    results.push_back(getAffineDimExpr(i, context));
  }
  maps.push_back(AffineMap::get(loops.size(), 0, results, context));
  Value init = tensor::EmptyOp::create(b, loc, shape, element);
  if (reduces) {
    Value zero = identity(expr.op, element, loc);
    init = linalg::FillOp::create(b, loc, zero, init).getResult(0);
  }
  SmallVector<utils::IteratorType> iterators(dims.size(),
                                             utils::IteratorType::parallel);
  iterators.resize(loops.size(), utils::IteratorType::reduction);
  auto generic = linalg::GenericOp::create(
      b, loc, TypeRange{init.getType()}, inputs, ValueRange{init}, maps,
      iterators, [&](OpBuilder &nested, Location, ValueRange arguments) {
        OpBuilder::InsertionGuard guard(b);
        b.setInsertionPoint(nested.getInsertionBlock(),
                            nested.getInsertionPoint());
        Value value = scalar(inner, [&](const Expr &access) -> Value {
          auto found = argumentOf.find(&access);
          return found == argumentOf.end() ? Value() : arguments[found->second];
        });
        if (reduces)
          value = combine(expr.op, arguments.back(), value, loc);
        value = cast(value, element, loc);
        linalg::YieldOp::create(b, loc, value);
      });
  return generic.getResult(0);
}

Value ModuleBuilder::cast(Value value, Type to, Location loc) {
  unsigned from = value.getType().getIntOrFloatBitWidth(),
           width = to.getIntOrFloatBitWidth();
  if (from < width)
    return arith::ExtFOp::create(b, loc, to, value);
  if (from > width)
    return arith::TruncFOp::create(b, loc, to, value);
  return value;
}

Value ModuleBuilder::identity(Operator op, Type type, Location loc) {
  double value = op == Operator::Add        ? 0
                 : op == Operator::Multiply ? 1
                 : op == Operator::Minimum
                     ? std::numeric_limits<double>::infinity()
                     : -std::numeric_limits<double>::infinity();
  return arith::ConstantOp::create(b, loc, b.getFloatAttr(type, value));
}

Value ModuleBuilder::combine(Operator op, Value left, Value right,
                             Location loc) {
  switch (op) {
  case Operator::Add:
    return arith::AddFOp::create(b, loc, left, right, fastmath);
  case Operator::Subtract:
    return arith::SubFOp::create(b, loc, left, right, fastmath);
  case Operator::Multiply:
    return arith::MulFOp::create(b, loc, left, right, fastmath);
  case Operator::Divide:
    return arith::DivFOp::create(b, loc, left, right);
  case Operator::Minimum:
    return arith::MinNumFOp::create(b, loc, left, right);
  case Operator::Maximum:
    return arith::MaxNumFOp::create(b, loc, left, right);
  default:
    llvm_unreachable("not an operator of two operands");
  }
}

Value ModuleBuilder::scalar(const Expr &expr,
                            llvm::function_ref<Value(const Expr &)> accessed) {
  Location loc = locate(expr.at);
  if (Value value = accessed(expr))
    return cast(value, computeType, loc);
  if (expr.kind == Expr::Kind::Literal)
    return arith::ConstantOp::create(b, loc,
                                     b.getFloatAttr(computeType, expr.literal));
  assert(expr.kind == Expr::Kind::Apply && "reductions have tensors");
  Value first = scalar(*expr.operands[0], accessed);
  if (expr.operands.size() == 2) {
    Value second = scalar(*expr.operands[1], accessed);
    return combine(expr.op, first, second, loc);
  }
  switch (expr.op) {
  case Operator::Negate:
    return arith::NegFOp::create(b, loc, first);
  case Operator::Sqrt:
    return math::SqrtOp::create(b, loc, first);
  case Operator::Exp:
    return math::ExpOp::create(b, loc, first);
  case Operator::Log:
    return math::LogOp::create(b, loc, first);
  case Operator::Abs:
    return math::AbsFOp::create(b, loc, first);
  case Operator::Sin:
    return math::SinOp::create(b, loc, first);
  case Operator::Cos:
    return math::CosOp::create(b, loc, first);
  case Operator::Tanh:
    return math::TanhOp::create(b, loc, first);
  default:
    llvm_unreachable("not an operator of one operand");
  }
}

OwningOpRef<ModuleOp> rhizome::kernel::buildModule(MLIRContext &context,
                                                   const Program &program,
                                                   bool reassociate) {
  loadDialects(context);
  return ModuleBuilder(context, program, reassociate).run();
}

llvm::Expected<func::FuncOp> rhizome::kernel::findKernel(ModuleOp module) {
  SmallVector<func::FuncOp> marked, all;
  for (auto func : module.getOps<func::FuncOp>()) {
    if (func->hasAttr(marks::kKernel))
      marked.push_back(func);
    if (!func.isExternal())
      all.push_back(func);
  }
  if (marked.size() == 1 && !marked[0].isExternal())
    return marked[0];
  if (marked.empty() && all.size() == 1)
    return all[0];
  return llvm::createStringError(
      llvm::inconvertibleErrorCode(),
      all.empty() || (marked.size() == 1 && marked[0].isExternal())
          ? "the module holds no function with a body"
          : "the module holds several functions; mark one with the attribute " +
                marks::kKernel);
}
