// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The operators of a design: names, modules and instances.
#include "Elementary.h"
#include "Fixed.h"
#include "Float.h"

using namespace mlir;

namespace rhizome::gen::floats {
llvm::StringRef nameOf(Function function) {
  switch (function) {
  case Function::Add:
    return "add";
  case Function::Sub:
    return "sub";
  case Function::Mul:
    return "mul";
  case Function::Div:
    return "div";
  case Function::Min:
    return "min";
  case Function::Max:
    return "max";
  case Function::Fma:
    return "fma";
  case Function::Sqrt:
    return "sqrt";
  case Function::Exp:
    return "exp";
  case Function::Log:
    return "log";
  case Function::Neg:
    return "neg";
  case Function::Abs:
    return "abs";
  }
  llvm_unreachable("every function is handled");
}

/// e8m23, with what differs from IEEE 754; i8f24 of fixed point.
static std::string nameOf(const numeric::Format &f) {
  auto number = [](int v) {
    return (v < 0 ? "n" : "") + std::to_string(std::abs(v));
  };
  if (f.isFixed())
    return (f.isSigned ? "i" : "u") + number(f.integerBits) + "f" +
           number(f.fractionBits);
  std::string text = "e" + std::to_string(f.exponentBits) + "m" +
                     std::to_string(f.mantissaBits);
  if (f.bias != f.ieeeBias())
    text += f.bias < 0 ? "_nb" + std::to_string(-f.bias)
                       : "_b" + std::to_string(f.bias);
  if (!f.subnormals)
    text += "_flush";
  if (f.finite)
    text += "_finite";
  return text;
}

bool Operator::isBuilt() const {
  if (from)
    return format.isFloat() || from->isFloat();
  const bool isElementary =
      function == Function::Exp || function == Function::Log;
  if (isElementary)
    return format.width() <= kTableBits ||
           (format.width() <= 64 && distanceOf(function, format));
  if (format.isFixed())
    return (function == Function::Div || function == Function::Sqrt) &&
           format.width() <= 64;
  return function != Function::Fma || Float::canFuse(format);
}

unsigned Operator::operands() const {
  if (from)
    return 1;
  switch (function) {
  case Function::Fma:
    return 3;
  case Function::Sqrt:
  case Function::Exp:
  case Function::Log:
  case Function::Neg:
  case Function::Abs:
    return 1;
  default:
    return 2;
  }
}

std::string Operator::name() const {
  std::string text =
      std::string(format.isFixed() && !from ? "rhz_fixed_" : "rhz_float_") +
      (from ? nameOf(*from) + "_to" : nameOf(function).str()) + "_" +
      nameOf(format);
  if (rounding != numeric::Rounding::NearestEven)
    text += std::string("_") + numeric::name(rounding);
  if (overflow != numeric::defaultOverflow(format))
    text += std::string("_") + numeric::name(overflow);
  return text;
}

Operators::Operators(MLIRContext *context, const cost::LogicPace &pace,
                     const CostContext &device)
    : pace(pace), device(device),
      holder(ModuleOp::create(UnknownLoc::get(context))) {}

/// All results of a function of few operands.
static Value tableOf(const Operator &op, Datapath &d, Value in) {
  const numeric::Arithmetic n(op.format, op.rounding, op.overflow);
  std::vector<int64_t> values;
  for (numeric::Bits v = 0; v <= op.format.mask(); ++v)
    values.push_back(
        int64_t(op.function == Function::Exp ? n.exp(v) : n.log(v)));
  return d.table(in, values, op.format.width());
}

static Value logicOf(const Operator &op, Datapath &d, ArrayRef<Value> in,
                     const CostContext &device) {
  if (op.from && op.format.isFixed()) {
    Operator inner = op;
    inner.format = *op.from;
    return Float(d, inner).toFixed(in[0], op.format);
  }
  const bool isElementary =
      op.function == Function::Exp || op.function == Function::Log;
  if (!op.from && isElementary && op.format.width() <= kTableBits)
    return tableOf(op, d, in[0]);
  if (!op.from && op.format.isFixed()) {
    Fixed logic(d, op);
    switch (op.function) {
    case Function::Div:
      return logic.div(in[0], in[1]);
    case Function::Sqrt:
      return logic.sqrt(in[0]);
    case Function::Exp:
      return logic.exp(in[0], device);
    case Function::Log:
      return logic.log(in[0], device);
    default:
      llvm_unreachable("isBuilt lists the functions above");
    }
  }
  Float logic(d, op);
  if (op.from && op.from->isFixed())
    return logic.fromFixed(in[0], *op.from);
  if (op.from) {
    Operator source = op;
    source.format = *op.from;
    return logic.fromFloat(in[0], source);
  }
  switch (op.function) {
  case Function::Add:
    return logic.add(in[0], in[1], false);
  case Function::Sub:
    return logic.add(in[0], in[1], true);
  case Function::Mul:
    return logic.mul(in[0], in[1]);
  case Function::Fma:
    return logic.fma(in[0], in[1], in[2]);
  case Function::Div:
    return logic.div(in[0], in[1]);
  case Function::Sqrt:
    return logic.sqrt(in[0]);
  case Function::Min:
    return logic.least(in[0], in[1], false);
  case Function::Max:
    return logic.least(in[0], in[1], true);
  case Function::Neg:
    return logic.signedAs(in[0], true);
  case Function::Abs:
    return logic.signedAs(in[0], false);
  case Function::Exp:
    return logic.exp(in[0], device);
  case Function::Log:
    return logic.log(in[0], device);
  }
  llvm_unreachable("every function is handled");
}

static constexpr const char *kOperands[] = {"a_i", "b_i", "c_i"};

const Pipeline &Operators::of(const Operator &op) {
  const std::string name = op.name();
  auto [it, isNew] = built.try_emplace(name);
  Pipeline &made = it->second;
  if (!isNew)
    return made;
  OpBuilder b = OpBuilder::atBlockEnd(holder->getBody());
  Location loc = b.getUnknownLoc();
  SmallVector<StringRef> names = {"clk_i"};
  names.append(kOperands, kOperands + op.operands());
  assert(op.isBuilt());
  made.module = rtl::ModuleOp::create(b, loc, name, b.getStrArrayAttr(names),
                                      b.getStrArrayAttr({"x_o"}), StringAttr());
  Block *body = b.createBlock(&made.module.getBody());
  Value clock = body->addArgument(b.getI1Type(), loc);
  SmallVector<Value> in;
  for (unsigned i = 0; i < op.operands(); ++i)
    in.push_back(body->addArgument(
        b.getIntegerType(unsigned(op.operandFormat().width())), loc));
  Datapath d(body, loc, pace, device);
  Value result = logicOf(op, d, in, device);
  d.finish(clock, result, made.latency, made.delay);
  return made;
}

Value Operators::instance(const Operator &op, Value clock, ValueRange operands,
                          OpBuilder &b, Location loc) {
  const Pipeline &made = of(op);
  auto user = cast<rtl::ModuleOp>(b.getInsertionBlock()->getParentOp());
  auto parent = user->getParentOfType<ModuleOp>();
  if (!parent.lookupSymbol(op.name())) {
    OpBuilder next(user);
    next.clone(*rtl::ModuleOp(made.module).getOperation());
  }
  SmallVector<Value> inputs = {clock};
  inputs.append(operands.begin(), operands.end());
  SmallVector<StringRef> names = {"clk_i"};
  names.append(kOperands, kOperands + op.operands());
  rtl::ModuleOp module = made.module;
  Type type = module.getBody().front().getTerminator()->getOperand(0).getType();
  return rtl::InstanceOp::create(
             b, loc, TypeRange{type}, inputs,
             b.getStringAttr(op.from ? "convert" : nameOf(op.function)),
             b.getStringAttr(op.name()), b.getDictionaryAttr({}),
             b.getStrArrayAttr(names), b.getStrArrayAttr({"x_o"}))
      .getResult(0);
}
} // namespace rhizome::gen::floats
