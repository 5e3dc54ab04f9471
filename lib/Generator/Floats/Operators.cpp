// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The operators of a design: names, modules and instances.
#include "Float.h"

using namespace mlir;

namespace rhizome::gen::floats {
static const char *nameOf(Function function) {
  switch (function) {
  case Function::Add:
    return "add";
  case Function::Sub:
    return "sub";
  case Function::Mul:
    return "mul";
  }
  llvm_unreachable("every function is handled");
}

/// e8m23, with what differs from IEEE 754.
static std::string nameOf(const numeric::Format &f) {
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

unsigned Operator::operands() const { return 2; }

std::string Operator::name() const {
  std::string text =
      std::string("rhz_float_") + nameOf(function) + "_" + nameOf(format);
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

static Value logicOf(const Operator &op, Datapath &d, ArrayRef<Value> in) {
  Float logic(d, op);
  switch (op.function) {
  case Function::Add:
    return logic.add(in[0], in[1], false);
  case Function::Sub:
    return logic.add(in[0], in[1], true);
  case Function::Mul:
    return logic.mul(in[0], in[1]);
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
  made.module = rtl::ModuleOp::create(b, loc, name, b.getStrArrayAttr(names),
                                      b.getStrArrayAttr({"x_o"}), StringAttr());
  Block *body = b.createBlock(&made.module.getBody());
  Value clock = body->addArgument(b.getI1Type(), loc);
  SmallVector<Value> in;
  for (unsigned i = 0; i < op.operands(); ++i)
    in.push_back(
        body->addArgument(b.getIntegerType(unsigned(op.format.width())), loc));
  Datapath d(body, loc, pace, device);
  Value result = logicOf(op, d, in);
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
             b.getStringAttr(std::string("u_") + nameOf(op.function)),
             b.getStringAttr(op.name()), b.getDictionaryAttr({}),
             b.getStrArrayAttr(names), b.getStrArrayAttr({"x_o"}))
      .getResult(0);
}
} // namespace rhizome::gen::floats
