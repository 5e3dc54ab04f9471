// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Unrolling, evaluation, and derivatives in reverse.
#include "Tape.h"
#include <cmath>
#include <list>
#include <map>

using namespace mlir;
using namespace rhizome;
using namespace rhizome::interp;

namespace {
/// The domain of the walk whose values are nodes.
struct Recorder {
  using Value = int32_t;
  using Store = std::vector<int32_t>;
  using Port = int32_t *;
  struct Context {
    Code code = Code::Constant;
    int32_t site = -1;
  };
  static constexpr bool hasIndices = false;
  static constexpr size_t most = size_t(1) << 25;

  Tape &tape;
  llvm::DenseMap<Operation *, int32_t> siteOf;
  std::map<double, int32_t> constants;
  bool isFull = false;

  explicit Recorder(Tape &tape) : tape(tape) {}

  Store make(Type type) { return Store(count(shapeOf(type)), constant(0)); }
  int32_t constant(double v) {
    auto [it, isNew] = constants.insert({v, 0});
    if (isNew)
      it->second = add({Code::Constant, -1, -1, -1, -1, v});
    return it->second;
  }
  bool constant(Attribute value, Type, int32_t &to) {
    auto real = dyn_cast<FloatAttr>(value);
    if (real)
      to = constant(real.getValueAsDouble());
    return bool(real);
  }
  bool context(Operation *op, Context &to) {
    auto code = codeOf(op);
    if (!code || *code == Code::Constant)
      return false;
    auto [it, isNew] = siteOf.insert({op, int32_t(tape.sites.size())});
    if (isNew) {
      numeric::Arithmetic n = arithmeticOfAny(op);
      tape.sites.push_back({op, n.format(),
                            isa_and_nonnull<num::NumDialect>(op->getDialect()),
                            n.rounding()});
    }
    to = {*code, it->second};
    return true;
  }
  void apply(const Context &context, int32_t &to, int32_t a, int32_t b,
             int32_t c) {
    switch (context.code) { // operands that a code does not have
    case Code::Fma:
      break;
    case Code::Add:
    case Code::Sub:
    case Code::Mul:
    case Code::Div:
    case Code::Min:
    case Code::Max:
      c = -1;
      break;
    default:
      b = c = -1;
      break;
    }
    to = add({context.code, a, b, c, context.site, 0});
  }
  int32_t add(const Node &node) {
    if (tape.nodes.size() >= most) {
      isFull = true;
      return 0;
    }
    tape.nodes.push_back(node);
    return int32_t(tape.nodes.size() - 1);
  }

  static Port port(Store &store) { return store.data(); }
  static int32_t load(Port port, int64_t i) { return port[i]; }
  static void store(Port port, int64_t i, int32_t value) { port[i] = value; }
};
} // namespace

FailureOr<Tape> Tape::of(func::FuncOp func) {
  Tape tape;
  Recorder recorder(tape);
  if (!llvm::hasSingleElement(func.getBody()))
    return func.emitError("a kernel is one block");
  std::list<std::vector<int32_t>> stores;
  llvm::DenseMap<Value, const std::vector<int32_t> *> bound;
  auto bind = [&](Value v, std::vector<int32_t> nodes) {
    stores.push_back(std::move(nodes));
    bound[v] = &stores.back();
  };
  for (BlockArgument argument : func.getArguments()) {
    Type type = argument.getType();
    if (!realFormat(type) || ShapedType::isDynamicShape(shapeOf(type)))
      return func.emitError() << "an argument of type " << type
                              << " has no range; numbers of a known shape have";
    int first = int(tape.nodes.size());
    std::vector<int32_t> nodes;
    for (int64_t i = 0; i < count(shapeOf(type)); ++i)
      nodes.push_back(recorder.add({Code::Input, -1, -1, -1, -1, 0}));
    tape.inputs.push_back({first, int(nodes.size())});
    bind(argument, std::move(nodes));
  }
  LoopWalk<Recorder> walk(recorder);
  for (Operation &op : func.getBody().front().without_terminator()) {
    SmallVector<std::vector<int32_t>> results;
    if (failed(walk.evaluate(
            &op, [&](Value v) { return bound.lookup(v); }, results)))
      return failure();
    for (auto [value, nodes] : llvm::zip(op.getResults(), results))
      bind(value, std::move(nodes));
  }
  if (recorder.isFull)
    return func.emitError() << "has more than " << Recorder::most
                            << " scalar operations, too many to look at each";
  for (Value v : func.getBody().front().getTerminator()->getOperands())
    llvm::append_range(tape.outputs, *bound[v]);
  return tape;
}

void Tape::evaluate(const std::vector<double> &in, std::vector<double> &values,
                    size_t end) const {
  values.resize(nodes.size());
  for (size_t i = 0; i < std::min(end, nodes.size()); ++i) {
    const Node &n = nodes[i];
    double a = n.a < 0 ? 0 : values[n.a], b = n.b < 0 ? 0 : values[n.b];
    double &r = values[i];
    switch (n.code) {
    case Code::Input:
      r = in[i]; // inputs are the first nodes
      break;
    case Code::Constant:
      r = n.constant;
      break;
    case Code::Cast:
      r = a;
      break;
    case Code::Add:
      r = a + b;
      break;
    case Code::Sub:
      r = a - b;
      break;
    case Code::Mul:
      r = a * b;
      break;
    case Code::Div:
      r = a / b;
      break;
    case Code::Min:
      r = std::fmin(a, b);
      break;
    case Code::Max:
      r = std::fmax(a, b);
      break;
    case Code::Fma:
      r = a * b + values[n.c];
      break;
    case Code::Sqrt:
      r = std::sqrt(a);
      break;
    case Code::Exp:
      r = std::exp(a);
      break;
    case Code::Log:
      r = std::log(a);
      break;
    case Code::Neg:
      r = -a;
      break;
    case Code::Abs:
      r = std::fabs(a);
      break;
    }
  }
}

void Tape::differentiate(const std::vector<double> &values, int target,
                         std::vector<double> &gradient) const {
  gradient.assign(nodes.size(), 0);
  gradient[target] = 1;
  for (int i = target; i >= 0; --i) {
    const double g = gradient[i];
    if (g == 0)
      continue;
    const Node &n = nodes[i];
    double a = n.a < 0 ? 0 : values[n.a], b = n.b < 0 ? 0 : values[n.b];
    switch (n.code) {
    case Code::Input:
    case Code::Constant:
      break;
    case Code::Cast:
      gradient[n.a] += g;
      break;
    case Code::Add:
      gradient[n.a] += g;
      gradient[n.b] += g;
      break;
    case Code::Sub:
      gradient[n.a] += g;
      gradient[n.b] -= g;
      break;
    case Code::Fma:
      gradient[n.c] += g;
      [[fallthrough]];
    case Code::Mul:
      gradient[n.a] += g * b;
      gradient[n.b] += g * a;
      break;
    case Code::Div:
      gradient[n.a] += g / b;
      gradient[n.b] -= g * values[i] / b;
      break;
    case Code::Min:
      gradient[a <= b ? n.a : n.b] += g;
      break;
    case Code::Max:
      gradient[a >= b ? n.a : n.b] += g;
      break;
    case Code::Sqrt:
      gradient[n.a] += g / (2 * values[i]);
      break;
    case Code::Exp:
      gradient[n.a] += g * values[i];
      break;
    case Code::Log:
      gradient[n.a] += g / a;
      break;
    case Code::Neg:
      gradient[n.a] -= g;
      break;
    case Code::Abs:
      gradient[n.a] += a < 0 ? -g : g;
      break;
    }
  }
}
