// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Constant nodes that compute: the scalars of which the host's loops consist,
// evaluated by the interpreter in the precision of the file. What those loops
// do not take is allowed here: doubles, 64 bits without a sign, and tensors
// without elements.
#include "Fold.h"
#include "Host.h"
#include "rhizome/Interp/Interpreter.h"
#include "rhizome/Interp/Numbers.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>

using namespace mlir;
using namespace rhizome;
using namespace rhizome::importer;
using host::Loops;
using host::Scalars;
using llvm::formatv;
using onnx::TensorProto;

/// What a loop computes with: reals of 16 bits are rounded at its end.
static Type workingType(MLIRContext *context, int type) {
  if (!HostTensor::isRealType(type))
    return IntegerType::get(context, 64);
  return type == TensorProto::FLOAT ? Type(Float32Type::get(context))
                                    : Float64Type::get(context);
}

static Tensor workingTensor(const HostTensor &t) {
  if (!t.isReal())
    return Tensor::ofInts(t.shape, t.ints);
  return numbersOf(t.shape, t.reals,
                   t.type == TensorProto::FLOAT ? numeric::Format::binary32()
                                                : numeric::Format::binary64());
}

/// A scalar as it is stored in a tensor of `type`: a real rounded once, an
/// integer wrapped.
static Value stored(Scalars &s, Value v, int type) {
  if (!HostTensor::isRealType(type)) {
    auto range = wholeRange(type);
    return range ? s.wrap(v, num::bitsForRange(range->first, range->second),
                          range->first < 0)
                 : v;
  }
  Type element = halfType(s.b.getContext(), type);
  if (!element)
    element = workingType(s.b.getContext(), type);
  return element == v.getType()
             ? v
             : Value(arith::TruncFOp::create(s.b, s.loc, element, v));
}

/// More is left to the builders, and so to the host when the model runs.
static bool isMuch(ArrayRef<const HostTensor *> inputs) {
  constexpr int64_t kMost = int64_t(1) << 25;
  Shape shape;
  for (const HostTensor *t : inputs) {
    auto both = broadcast(shape, t->shape);
    if (!both) // refused by whoever reads it
      return false;
    shape = *both;
  }
  auto count = elementCount(shape);
  return count && *count > kMost;
}

/// The inputs, broadcast, through a loop of `body`; null (with the error set)
/// if the result would be too large.
static std::shared_ptr<HostTensor> evaluate(Folding &f,
                                            ArrayRef<const HostTensor *> inputs,
                                            int type, Loops::Body body) {
  Shape shape;
  for (const HostTensor *t : inputs)
    shape = *broadcast(shape, t->shape);
  std::shared_ptr<HostTensor> out = f.make(type, shape);
  if (!out)
    return nullptr;
  Location loc = UnknownLoc::get(f.context);
  OwningOpRef<ModuleOp> scratch = ModuleOp::create(loc);
  OpBuilder b = OpBuilder::atBlockEnd(scratch->getBody());
  SmallVector<Type> types;
  std::vector<Tensor> tensors;
  for (const HostTensor *t : inputs) {
    types.push_back(tensorType(t->shape, workingType(f.context, t->type)));
    tensors.push_back(workingTensor(*t));
  }
  Type element = halfType(f.context, type);
  if (!element)
    element = workingType(f.context, type);
  auto func = func::FuncOp::create(
      b, loc, "fold", b.getFunctionType(types, tensorType(shape, element)));
  Block *block = func.addEntryBlock();
  b.setInsertionPointToEnd(block);
  Value result = Loops(b, loc).map(
      SmallVector<Value>(block->getArguments()), element,
      [&](Scalars &s, ValueRange a) { return stored(s, body(s, a), type); });
  func::ReturnOp::create(b, loc, result);
  std::vector<Tensor> results = *interpret(func, tensors);
  if (out->isReal())
    out->reals = doublesOf(results.front());
  else
    out->ints = std::move(results.front().ints);
  return out;
}

static Value toDouble(Scalars &s, Value v, bool isUnsigned) {
  Type real = s.b.getF64Type();
  if (v.getType() == real)
    return v;
  if (Scalars::isReal(v))
    return arith::ExtFOp::create(s.b, s.loc, real, v);
  return s.toReal(v, isUnsigned, real);
}

Fold fold::cast(Folding &f, HostRef &out) {
  const HostTensor *x = f.in(0);
  int to = int(f.node.getInt("to", 0));
  if (!x)
    return f.fail("its input is missing");
  if (isMuch({x}))
    return Fold::NotFoldable;
  bool known = HostTensor::isRealType(to) ||
               (to >= TensorProto::UINT8 && to <= TensorProto::UINT64 &&
                to != TensorProto::STRING && to != TensorProto::COMPLEX64);
  if (!known)
    return f.fail(formatv("it casts a constant to {0}", typeName(to)));
  const bool isReal = HostTensor::isRealType(to);
  if (x->isReal() && !isReal && to != TensorProto::BOOL)
    for (double v : x->reals)
      if (!(std::abs(v) < 9.2e18))
        return f.fail(
            formatv("it casts the value {0} to {1}", v, typeName(to)));
  out = evaluate(f, {x}, to, [&](Scalars &s, ValueRange a) -> Value {
    if (to == TensorProto::BOOL)
      return s.sub(s.whole(1), s.flag(s.equal(a[0], s.number(0, a[0]))));
    if (!isReal)
      return x->isReal() ? s.toWhole(a[0]) : a[0];
    if (to == TensorProto::FLOAT && !x->isReal())
      return s.toReal(a[0], isUnsigned(x->type)); // rounded once
    return to == TensorProto::FLOAT && x->type == to
               ? a[0]
               : toDouble(s, a[0], isUnsigned(x->type));
  });
  return out ? Fold::Folded : Fold::Failed;
}

Fold fold::binary(Folding &f, HostRef &out) {
  StringRef op = f.node.op();
  if ((op == "Min" || op == "Max") && f.inputs.size() != 2)
    return Fold::NotFoldable;
  const HostTensor *a = f.in(0), *b = f.in(1);
  if (!a || !b)
    return f.fail("an input is missing");
  if (isMuch({a, b}))
    return Fold::NotFoldable;
  const bool isPower = op == "Pow";
  if (isPower && a->isReal() && !b->isReal())
    ; // the exponent may have a type of its own
  else if (a->type != b->type)
    return f.fail(formatv("its inputs have the types {0} and {1}",
                          typeName(a->type), typeName(b->type)));
  if (!broadcast(a->shape, b->shape))
    return f.fail(formatv("its inputs' shapes {0} and {1} do not broadcast",
                          describe(a->shape), describe(b->shape)));
  if (op == "Div" && !a->isReal() && a->size() &&
      llvm::is_contained(b->ints, 0))
    return f.fail("it divides a constant by zero");
  const int type = op == "Equal" ? int(TensorProto::BOOL) : a->type;
  auto compute = [&](Scalars &s, ValueRange v) -> Value {
    if (isPower)
      return s.apply<math::PowFOp>(toDouble(s, v[0], isUnsigned(a->type)),
                                   toDouble(s, v[1], isUnsigned(b->type)));
    return scalarBinary(s, op, v[0], v[1], {isUnsigned(a->type)});
  };
  if (!isPower || a->isReal()) {
    out = evaluate(f, {a, b}, type, compute);
    return out ? Fold::Folded : Fold::Failed;
  }
  // Powers of integers are exact in a double up to a bound.
  auto powers = evaluate(f, {a, b}, TensorProto::DOUBLE, compute);
  if (!powers)
    return Fold::Failed;
  for (double v : powers->reals)
    if (!(std::abs(v) < 9e15))
      return f.fail("it raises a constant to a power that overflows");
  out = evaluate(f, {powers.get()}, type,
                 [](Scalars &s, ValueRange v) { return s.toWhole(v[0]); });
  return Fold::Folded;
}

Fold fold::unary(Folding &f, HostRef &out) {
  const HostTensor *x = f.in(0);
  if (!x)
    return Fold::NotFoldable;
  StringRef op = f.node.op();
  if (isMuch({x}))
    return Fold::NotFoldable;
  if (!x->isReal() && op != "Neg" && op != "Abs")
    return Fold::NotFoldable;
  out = evaluate(f, {x}, x->type, [&](Scalars &s, ValueRange a) {
    return isUnsigned(x->type) && op == "Abs" ? a[0] : scalarUnary(s, op, a[0]);
  });
  return out ? Fold::Folded : Fold::Failed;
}
