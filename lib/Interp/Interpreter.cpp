// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The interpreter's frame: binds values to tensors, decodes constants once,
// walks the function and checks declared ranges. The operations' meanings
// stand in Common.cpp, Real.cpp, Integer.cpp and Loops.cpp.
#include "rhizome/Interp/Interpreter.h"
#include "Evaluate.h"
#include "Loops.h"
#include "rhizome/Interp/Numbers.h"

using namespace mlir;
using namespace rhizome;
using namespace rhizome::interp;

struct Interpreter::Constants {
  DecodedAttrs attrs;
  llvm::DenseMap<Value, Tensor> values;
};

/// Scalars, which begin the host's loops, are tensors of rank 0.
static RankedTensorType tensorType(Type type) {
  if (auto tensor = dyn_cast<RankedTensorType>(type))
    return tensor;
  return RankedTensorType::get({}, type);
}
static bool isFloatTensor(Type type) {
  return isa<FloatType>(tensorType(type).getElementType());
}

static Decoded decode(ElementsAttr attr) {
  Type element = attr.getElementType();
  if (isa<FloatType>(element))
    return {{}, osa::floatValues(attr)};
  return {osa::intValues(attr, !element.isUnsignedInteger()), {}};
}

Interpreter::Interpreter(func::FuncOp func)
    : func(func), constants(std::make_unique<Constants>()) {
  for (Operation &op : func.getOps()) {
    if (auto constant = dyn_cast<osa::ConstantOp>(op)) {
      auto type = cast<RankedTensorType>(constant.getResult().getType());
      Tensor tensor;
      tensor.shape = type.getShape().vec();
      tensor.isFloat = isFloatTensor(type);
      if (tensor.isFloat)
        tensor.floats = osa::floatValues(constant.getValue());
      else if (num::IntType i = num::elementInt(type))
        tensor.ints = osa::intValues(constant.getValue(), i.getIsSigned());
      else
        tensor.ints = osa::intValues(constant.getValue());
      constants->values[constant.getResult()] = std::move(tensor);
      continue;
    }
    if (!isa_and_nonnull<osa::OsaDialect>(op.getDialect()))
      continue;
    auto add = [&](Attribute attr) {
      if (auto elements = dyn_cast<ElementsAttr>(attr);
          elements && !isa<DenseArrayAttr>(attr))
        constants->attrs.try_emplace(attr, decode(elements));
    };
    for (NamedAttribute attr : op.getAttrs())
      add(attr.getValue());
  }
}
Interpreter::~Interpreter() = default;
Interpreter::Interpreter(Interpreter &&) noexcept = default;
Interpreter &Interpreter::operator=(Interpreter &&) noexcept = default;

std::pair<int64_t, int64_t> interp::resultRange(Operation *op) {
  if (num::IntType type = num::elementInt(op->getResult(0).getType()))
    return {type.getLo(), type.getHi()};
  return {INT64_MIN, INT64_MAX};
}

static std::string toString(__int128 value) {
  bool negative = value < 0;
  unsigned __int128 rest = negative ? -(unsigned __int128)value : value;
  std::string digits;
  do
    digits.insert(digits.begin(), char('0' + int(rest % 10)));
  while (rest /= 10);
  return negative ? "-" + digits : digits;
}

LogicalResult interp::store(Frame &frame, size_t index, __int128 value) {
  auto [lo, hi] = resultRange(frame.op);
  if (value < lo || value > hi)
    return frame.op->emitOpError()
           << "gives " << toString(value) << " at element " << index
           << ", outside its declared range " << lo << ":" << hi
           << " (a wrong range was derived)";
  frame.out.ints[index] = int64_t(value);
  return success();
}

/// The shape, kind and element count of `tensor` are those of `type`, and its
/// integers lie in the type's range.
static LogicalResult checkInput(func::FuncOp func, unsigned index,
                                const Tensor &tensor) {
  Type declared = func.getArgumentTypes()[index];
  bool isOther = isa<ShapedType>(declared) && !isa<RankedTensorType>(declared);
  if (isOther || ShapedType::isDynamicShape(shapeOf(declared)) ||
      !kindOf(declared))
    return func.emitError()
           << "input " << index << " of @" << func.getSymName() << " is "
           << declared << ", not a tensor of numbers of a known shape";
  RankedTensorType type = tensorType(declared);
  const Tensor wanted = zeros(type);
  size_t given = tensor.floats.size() + tensor.ints.size() +
                 tensor.doubles.size() + tensor.patterns.size();
  if (tensor.shape != wanted.shape || tensor.isFloat != wanted.isFloat ||
      tensor.format != wanted.format ||
      int64_t(given) != type.getNumElements()) {
    auto diag = func.emitError()
                << "input " << index << " of @" << func.getSymName() << " is "
                << type << ", but " << given
                << (tensor.format    ? " numbers of " + tensor.format->str()
                    : tensor.isFloat ? std::string(" reals")
                                     : std::string(" integers"))
                << " of shape [";
    llvm::interleaveComma(tensor.shape, diag);
    return diag << "] were given";
  }
  if (num::IntType i = num::elementInt(type))
    for (int64_t v : tensor.ints)
      if (!i.contains(v))
        return func.emitError()
               << "input " << index << " of @" << func.getSymName() << " holds "
               << v << ", outside " << i.getLo() << ":" << i.getHi();
  return success();
}

FailureOr<std::vector<Tensor>> Interpreter::run(ArrayRef<Tensor> inputs,
                                                const ProbeFn &probe,
                                                OverflowEvent *overflow) const {
  func::FuncOp f = func;
  if (!llvm::hasSingleElement(f.getBody()))
    return f.emitError("the interpreter takes functions of one block");
  if (inputs.size() != f.getNumArguments())
    return f.emitError() << "@" << f.getSymName() << " takes "
                         << f.getNumArguments() << " inputs, not "
                         << inputs.size();
  llvm::DenseMap<Value, const Tensor *> bound;
  for (auto [i, tensor] : llvm::enumerate(inputs)) {
    if (failed(checkInput(f, i, tensor)))
      return failure();
    bound[f.getArgument(i)] = &tensor;
  }
  for (auto &[value, tensor] : constants->values)
    bound[value] = &tensor;

  std::vector<std::unique_ptr<Tensor>> results;
  for (Operation &op : f.getOps()) {
    if (isa<osa::ConstantOp>(op)) {
      if (probe)
        probe(&op, *bound[op.getResult(0)]);
      continue;
    }
    if (auto ret = dyn_cast<func::ReturnOp>(op)) {
      std::vector<Tensor> out;
      for (Value v : ret.getOperands())
        out.push_back(*bound[v]);
      return out;
    }
    if (isLoop(&op)) {
      SmallVector<Tensor> given;
      if (failed(evaluateLoops(
              &op, [&](Value v) { return bound.lookup(v); }, overflow, given)))
        return failure();
      for (auto [value, tensor] : llvm::zip(op.getResults(), given)) {
        results.push_back(std::make_unique<Tensor>(std::move(tensor)));
        bound[value] = results.back().get();
        if (probe)
          probe(&op, *results.back());
      }
      continue;
    }
    bool common = isCommon(&op), real = isReal(&op), integer = isInteger(&op);
    if (!common && !real && !integer)
      return op.emitOpError("is unknown to the interpreter");
    Frame frame{&op, {}, constants->attrs, {}};
    for (Value v : op.getOperands())
      frame.in.push_back(bound[v]);
    auto type = tensorType(op.getResult(0).getType());
    frame.out.shape = type.getShape().vec();
    frame.out.isFloat = isFloatTensor(type);
    if (frame.out.isFloat)
      frame.out.floats.resize(type.getNumElements());
    else
      frame.out.ints.resize(type.getNumElements());
    if (failed(common ? evaluateCommon(frame)
               : real ? evaluateReal(frame)
                      : evaluateInteger(frame)))
      return failure();
    results.push_back(std::make_unique<Tensor>(std::move(frame.out)));
    bound[op.getResult(0)] = results.back().get();
    if (probe)
      probe(&op, *results.back());
  }
  return f.emitError("the function does not return");
}

FailureOr<std::vector<Tensor>> rhizome::interpret(func::FuncOp func,
                                                  ArrayRef<Tensor> inputs,
                                                  const ProbeFn &probe,
                                                  OverflowEvent *overflow) {
  return Interpreter(func).run(inputs, probe, overflow);
}
