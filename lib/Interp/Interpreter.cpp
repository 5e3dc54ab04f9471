// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The interpreter's frame: binds values to tensors, decodes constants once,
// walks the function and its loops over time, and checks declared ranges. The
// operations are implemented in Common.cpp, Real.cpp, Integer.cpp and
// Loops.cpp.
#include "rhizome/Interp/Interpreter.h"
#include "Evaluate.h"
#include "Loops.h"
#include "Memory.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "rhizome/Interp/Numbers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace rhizome;
using namespace rhizome::interp;

struct Interpreter::Constants {
  DecodedAttrs attrs;
  llvm::DenseMap<Value, Tensor> values;
};

/// Scalars, the initial values of the host's loops, are tensors of rank 0.
static RankedTensorType tensorType(Type type) {
  if (auto tensor = dyn_cast<RankedTensorType>(type))
    return tensor;
  if (auto buffer = dyn_cast<MemRefType>(type))
    return RankedTensorType::get(buffer.getShape(), buffer.getElementType());
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
  func.walk([&](Operation *op) {
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
      return;
    }
    if (!isa_and_nonnull<osa::OsaDialect>(op->getDialect()))
      return;
    auto add = [&](Attribute attr) {
      if (auto elements = dyn_cast<ElementsAttr>(attr);
          elements && !isa<DenseArrayAttr>(attr))
        constants->attrs.try_emplace(attr, decode(elements));
    };
    for (NamedAttribute attr : op->getAttrs())
      add(attr.getValue());
  });
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

/// Whether the shape, kind and element count of `tensor` match `type`, and its
/// integers are in the type's range.
static LogicalResult checkInput(func::FuncOp func, unsigned index,
                                const Tensor &tensor) {
  Type declared = func.getArgumentTypes()[index];
  bool isOther =
      isa<ShapedType>(declared) && !isa<RankedTensorType, MemRefType>(declared);
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

namespace {
/// One evaluation of a function: its current values.
class Run {
public:
  Run(const DecodedAttrs &attrs, const ProbeFn &probe, OverflowEvent *overflow)
      : attrs(attrs), probe(probe), overflow(overflow) {}
  using Owned = llvm::DenseMap<Value, std::unique_ptr<Tensor>>;

  void bind(Value v, const Tensor &tensor) { bound[v] = &tensor; }
  /// Lets a buffer hold a tensor to begin with.
  void fill(Value buffer, Tensor tensor) {
    std::unique_ptr<Tensor> &held = buffers[buffer];
    held = std::make_unique<Tensor>(std::move(tensor));
    bind(buffer, *held);
  }
  const Tensor &held(Value buffer) const {
    return *buffers.find(buffer)->second;
  }
  /// Evaluates a block up to its terminator; stores its results in `owned`.
  LogicalResult block(Block &body, Owned &owned);
  /// A value's tensor, moved out of `owned` if nothing else reads it.
  Tensor taken(Value v, Owned &owned);

private:
  LogicalResult operation(Operation *op, Owned &owned);
  LogicalResult loop(scf::ForOp op, Owned &owned);
  LogicalResult loop(scf::WhileOp op, Owned &owned);
  LogicalResult loop(affine::AffineForOp op, Owned &owned);
  template <typename Loop>
  LogicalResult trips(Loop op, int64_t begin, int64_t end, int64_t step,
                      Owned &owned);
  LogicalResult onMemory(Operation *op, Owned &owned);
  void give(Value v, Tensor tensor, Owned &owned) {
    std::unique_ptr<Tensor> &result = owned[v];
    result = std::make_unique<Tensor>(std::move(tensor));
    bind(v, *result);
  }

  const DecodedAttrs &attrs;
  const ProbeFn &probe;
  OverflowEvent *overflow;
  llvm::DenseMap<Value, const Tensor *> bound;
  llvm::DenseMap<Value, std::unique_ptr<Tensor>> buffers;
};
} // namespace

Tensor Run::taken(Value v, Owned &owned) {
  auto own = owned.find(v);
  if (own != owned.end() && v.hasOneUse())
    return std::move(*own->second);
  return *bound.lookup(v);
}

LogicalResult Run::onMemory(Operation *op, Owned &owned) {
  auto lookup = [&](Value v) { return bound.lookup(v); };
  auto buffer = [&](Value v) -> Tensor * {
    auto found = buffers.find(v);
    return found == buffers.end() ? nullptr : found->second.get();
  };
  std::optional<Tensor> result;
  if (failed(evaluateOnMemory(op, {lookup, buffer}, result)))
    return failure();
  if (result)
    give(op->getResult(0), std::move(*result), owned);
  return success();
}

LogicalResult Run::operation(Operation *op, Owned &owned) {
  if (isOnMemory(op))
    return onMemory(op, owned);
  if (isLoop(op)) {
    SmallVector<Tensor> given;
    if (failed(evaluateLoops(
            op, [&](Value v) { return bound.lookup(v); }, overflow, given)))
      return failure();
    for (auto [value, tensor] : llvm::zip(op->getResults(), given))
      give(value, std::move(tensor), owned);
  } else {
    bool common = isCommon(op), real = isReal(op), integer = isInteger(op);
    if (!common && !real && !integer)
      return op->emitOpError("is unknown to the interpreter");
    Frame frame{op, {}, attrs, {}};
    for (Value v : op->getOperands())
      frame.in.push_back(bound.lookup(v));
    auto type = tensorType(op->getResult(0).getType());
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
    give(op->getResult(0), std::move(frame.out), owned);
  }
  if (probe)
    for (Value v : op->getResults())
      probe(op, *bound.lookup(v));
  return success();
}

/// A body with a trip count: its results are what the last trip yields.
LogicalResult Run::loop(scf::ForOp op, Owned &owned) {
  int64_t range[3];
  for (int i = 0; i < 3; ++i) {
    const Tensor *given = bound.lookup(op->getOperand(unsigned(i)));
    if (!given || given->ints.empty())
      return op.emitOpError("has a bound of unknown kind");
    range[i] = given->ints.front();
  }
  auto [begin, end, step] = range;
  if (step <= 0)
    return op.emitOpError("has no positive step");
  return trips(op, begin, end, step, owned);
}

LogicalResult Run::loop(affine::AffineForOp op, Owned &owned) {
  auto lookup = [&](Value v) { return bound.lookup(v); };
  auto bounds = boundsOf(op, {lookup, {}});
  if (!bounds)
    return op.emitOpError("has a bound of unknown kind");
  return trips(op, bounds->first, bounds->second, op.getStepAsInt(), owned);
}

template <typename Loop>
LogicalResult Run::trips(Loop op, int64_t begin, int64_t end, int64_t step,
                         Owned &owned) {
  std::vector<Tensor> carried;
  for (Value v : op.getInits()) {
    if (!bound.lookup(v))
      return op.emitOpError("begins with a value of unknown kind");
    carried.push_back(taken(v, owned));
  }
  Block &body = *op.getBody();
  Tensor now;
  now.ints = {begin};
  bind(op.getInductionVar(), now);
  for (int64_t i = begin; i < end; i += step) {
    now.ints.front() = i;
    Owned inner;
    for (auto [arg, tensor] : llvm::zip_equal(op.getRegionIterArgs(), carried))
      give(arg, std::move(tensor), inner);
    if (failed(block(body, inner)))
      return failure();
    std::vector<Tensor> next;
    for (Value v : body.getTerminator()->getOperands())
      next.push_back(taken(v, inner));
    carried = std::move(next);
    if (end - i <= step) // the next index may overflow
      break;
  }
  for (auto [v, tensor] : llvm::zip_equal(op.getResults(), carried))
    give(v, std::move(tensor), owned);
  return success();
}

/// A body that runs as long as a condition holds: its results are what the
/// condition passes on when it fails.
LogicalResult Run::loop(scf::WhileOp op, Owned &owned) {
  std::vector<Tensor> carried;
  for (Value v : op.getInits()) {
    if (!bound.lookup(v))
      return op.emitOpError("begins with a value of unknown kind");
    carried.push_back(taken(v, owned));
  }
  auto enter = [&](Block &region, Owned &inner) {
    for (auto [arg, tensor] : llvm::zip_equal(region.getArguments(), carried))
      give(arg, std::move(tensor), inner);
    return block(region, inner);
  };
  auto leave = [&](ValueRange values, Owned &inner) {
    carried.clear();
    for (Value v : values)
      carried.push_back(taken(v, inner));
  };
  while (true) {
    Owned before, after;
    if (failed(enter(*op.getBeforeBody(), before)))
      return failure();
    auto end = op.getConditionOp();
    const bool goesOn = bound.lookup(end.getCondition())->ints.front() != 0;
    leave(end.getArgs(), before);
    if (!goesOn)
      break;
    if (failed(enter(*op.getAfterBody(), after)))
      return failure();
    leave(op.getYieldOp().getOperands(), after);
  }
  for (auto [v, tensor] : llvm::zip_equal(op.getResults(), carried))
    give(v, std::move(tensor), owned);
  return success();
}

LogicalResult Run::block(Block &body, Owned &owned) {
  for (Operation &op : body) {
    if (op.hasTrait<OpTrait::IsTerminator>())
      break;
    if (isa<osa::ConstantOp>(op)) {
      if (probe)
        probe(&op, *bound.lookup(op.getResult(0)));
      continue;
    }
    LogicalResult done =
        llvm::TypeSwitch<Operation *, LogicalResult>(&op)
            .Case<scf::ForOp, scf::WhileOp, affine::AffineForOp>(
                [&](auto repeated) { return loop(repeated, owned); })
            .Case<memref::AllocOp, memref::AllocaOp>(
                [&](auto made) -> LogicalResult {
                  if (!made.getType().hasStaticShape() ||
                      !kindOf(made.getType()))
                    return made.emitOpError(
                        "is no buffer of numbers of a known shape");
                  fill(made.getResult(), zeros(made.getType()));
                  return success();
                })
            .Case<memref::DeallocOp>([](auto) { return success(); })
            .Default([&](Operation *) { return operation(&op, owned); });
    if (failed(done))
      return failure();
  }
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
  Run run(constants->attrs, probe, overflow);
  for (auto [i, tensor] : llvm::enumerate(inputs)) {
    if (failed(checkInput(f, i, tensor)))
      return failure();
    if (isa<MemRefType>(f.getArgument(i).getType()))
      run.fill(f.getArgument(i), tensor);
    else
      run.bind(f.getArgument(i), tensor);
  }
  for (auto &[value, tensor] : constants->values)
    run.bind(value, tensor);
  Block &body = f.getBody().front();
  auto ret =
      dyn_cast_or_null<func::ReturnOp>(body.empty() ? nullptr : &body.back());
  if (!ret)
    return f.emitError("the function does not return");
  Run::Owned owned;
  if (failed(run.block(body, owned)))
    return failure();
  std::vector<Tensor> out;
  for (Value v : ret.getOperands())
    out.push_back(run.taken(v, owned));
  // After the results come the buffers among the arguments, as they are left.
  for (BlockArgument argument : f.getArguments())
    if (isa<MemRefType>(argument.getType()))
      out.push_back(run.held(argument));
  return out;
}

FailureOr<std::vector<Tensor>> rhizome::interpret(func::FuncOp func,
                                                  ArrayRef<Tensor> inputs,
                                                  const ProbeFn &probe,
                                                  OverflowEvent *overflow) {
  return Interpreter(func).run(inputs, probe, overflow);
}
