// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "rhizome/Dialect/Rtl/Wiring.h"

using namespace mlir;

namespace rhizome::rtl {
ArrayAttr Wiring::texts(const std::vector<std::string> &names) {
  SmallVector<StringRef> refs(names.begin(), names.end());
  return builder.getStrArrayAttr(refs);
}

ModuleOp Wiring::begin(StringRef name, StringRef comment) {
  auto module = ModuleOp::create(
      builder, loc, name, texts(inputNames), texts(outputNames),
      comment.empty() ? StringAttr() : builder.getStringAttr(comment));
  Block *body = builder.createBlock(&module.getBody());
  for (auto [input, width] : llvm::zip_equal(inputNames, inputWidths))
    signals[input] = body->addArgument(bits(width), loc);
  placeholder = body->getArgument(0);
  return module;
}

SmallVector<Value> Wiring::read(const std::vector<std::string> &names) {
  SmallVector<Value> values;
  for (const std::string &name : names) {
    Value v = signals.lookup(name);
    values.push_back(v ? v : placeholder);
  }
  return values;
}

void Wiring::await(Operation *op, const std::vector<std::string> &names) {
  for (auto [operand, name] : llvm::enumerate(names))
    if (!signals.lookup(name))
      pending.push_back({op, unsigned(operand), name});
}

void Wiring::instance(const std::string &name, const std::string &callee,
                      const Parameters &parameters, const Ports &inputs,
                      const Outputs &outputs) {
  std::vector<std::string> inPorts, outPorts, read;
  SmallVector<Type> types;
  for (const auto &[port, signal] : inputs) {
    inPorts.push_back(port);
    read.push_back(signal);
  }
  for (const auto &[port, signal, width] : outputs) {
    outPorts.push_back(port);
    types.push_back(bits(width));
  }
  SmallVector<NamedAttribute> attributes;
  for (auto [key, value] : parameters)
    attributes.push_back(
        builder.getNamedAttr(key, builder.getI64IntegerAttr(value)));
  auto op = InstanceOp::create(
      builder, loc, types, this->read(read), builder.getStringAttr(name),
      builder.getStringAttr(callee), builder.getDictionaryAttr(attributes),
      texts(inPorts), texts(outPorts));
  await(op, read);
  for (auto [i, output] : llvm::enumerate(outputs))
    if (!std::get<1>(output).empty())
      signals[std::get<1>(output)] = op.getResult(unsigned(i));
}

void Wiring::concat(const std::string &name,
                    const std::vector<std::string> &parts, int64_t width) {
  auto op = ConcatOp::create(builder, loc, bits(width), read(parts));
  await(op, parts);
  signals[name] = op;
}

void Wiring::slice(const std::string &name, const std::string &whole,
                   int64_t low, int64_t width) {
  auto op = ExtractOp::create(builder, loc, bits(width), read({whole}).front(),
                              uint64_t(low));
  await(op, {whole});
  signals[name] = op;
}

void Wiring::constant(const std::string &name, int64_t value, int64_t width) {
  signals[name] = ConstantOp::create(builder, loc, bits(width), value);
}

void Wiring::end() {
  OutputOp::create(builder, loc, read(outputNames));
  for (const std::string &name : outputNames) {
    assert(signals.lookup(name) && "every output has a source");
    (void)name;
  }
  for (const Pending &p : pending) {
    Value v = signals.lookup(p.signal);
    assert(v && "every signal has a source");
    p.op->setOperand(p.operand, v);
  }
}
} // namespace rhizome::rtl
