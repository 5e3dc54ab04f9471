// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "MemoryPorts.h"
#include "rhizome/Unit/Unit.h"

using namespace mlir;

namespace rhizome {
static ArrayRef<unit::Signal> signals() {
  return unit::signalsOf(unit::Protocol::Axi4Read, /*isInput=*/false);
}

/// Whether an output of a memory goes to all readers, so that only its valid
/// selects one.
static bool isShared(const unit::Signal &signal) {
  return StringRef(signal.suffix) == "_rdata" ||
         StringRef(signal.suffix) == "_rlast";
}

/// Replaces a placeholder.
static void setOperand(rtl::InstanceOp instance, unsigned index, Value value) {
  Operation *old = instance->getOperand(index).getDefiningOp();
  instance->setOperand(index, value);
  if (old && isa<rtl::ConstantOp>(old) && old->use_empty())
    old->erase();
}

void MemoryPorts::forSignals(
    function_ref<void(const std::string &, bool, int64_t)> tell) {
  llvm::MapVector<Bank, int64_t> widths;
  for (auto actor : design.getBody().getOps<flow::ActorOp>()) {
    unit::Instance unit = actor.getUnit();
    for (auto [port, bank] :
         llvm::zip_equal(unit.kind().memoryPorts(), actor.getBanks()))
      widths[{bank.getMemory(), bank.getBank()}] = unit.bitsOf(*port);
  }
  for (auto &[bank, width] : widths)
    for (const unit::Signal &signal : signals())
      tell(unit::memoryPortName(bank.first, bank.second) + signal.suffix,
           signal.isInput, signal.width ? signal.width : width);
}

Value MemoryPorts::placeholder(int64_t bits, Value bit) {
  return bits == 1
             ? bit
             : rtl::ConstantOp::create(builder, design.getLoc(),
                                       builder.getIntegerType(unsigned(bits)),
                                       int64_t(0));
}

void MemoryPorts::connect(Block *body, unsigned firstArgument,
                          SmallVectorImpl<Value> &outputs) {
  for (auto &[bank, all] : readers) {
    MemoryReader port = all.size() > 1 ? arbiter(bank, body) : all[0];
    for (const unit::Signal &signal : signals())
      if (signal.isInput)
        setOperand(port.instance, port.firstOperand++,
                   body->getArgument(firstArgument++));
      else
        outputs.push_back(port.instance.getResult(port.firstResult++));
  }
}

/// Arbitrates between the readers of a bank; returns the port to the memory.
MemoryReader MemoryPorts::arbiter(Bank bank, Block *body) {
  Location loc = design.getLoc();
  MutableArrayRef<MemoryReader> ports = readers[bank];
  int64_t count = int64_t(ports.size()), bits = ports[0].bits, inFlight = 0;
  std::string turns; // a character for each, from '1' on
  for (const MemoryReader &port : ports) {
    inFlight += port.inFlight;
    turns += char('0' + port.turn);
  }
  SmallVector<Value> operands = {body->getArgument(0), body->getArgument(1)};
  std::vector<std::string> inputs = {"clk_i", "rst_ni"}, outputs;
  SmallVector<Type> types;
  auto output = [&](const std::string &name, int64_t width) {
    outputs.push_back(name);
    types.push_back(builder.getIntegerType(unsigned(width)));
  };
  MemoryReader result{bits, inFlight, 1, {}, unsigned(operands.size()), 0};
  // Towards the memory like a reader's port; towards the readers its mirror.
  for (const unit::Signal &signal : signals()) {
    int64_t width = signal.width ? signal.width : bits;
    std::string name = std::string("m_axi") + signal.suffix;
    if (!signal.isInput) {
      output(name, width);
      continue;
    }
    inputs.push_back(name);
    operands.push_back(placeholder(width, operands[0]));
  }
  unsigned firstAnswer = unsigned(types.size()), offset = 0;
  for (const unit::Signal &signal : signals()) {
    int64_t width = signal.width ? signal.width : bits;
    std::string name = std::string("s_axi") + signal.suffix;
    if (signal.isInput) {
      output(name, isShared(signal) ? width : width * count);
      continue;
    }
    SmallVector<Value> all;
    for (MemoryReader &port : ports)
      all.push_back(port.instance.getResult(port.firstResult + offset));
    ++offset;
    inputs.push_back(name);
    operands.push_back(rtl::ConcatOp::create(
        builder, loc, builder.getIntegerType(unsigned(width * count)), all));
  }
  auto texts = [&](const std::vector<std::string> &names) {
    SmallVector<StringRef> refs(names.begin(), names.end());
    return builder.getStrArrayAttr(refs);
  };
  auto parameter = [&](StringRef name, int64_t value) {
    return builder.getNamedAttr(name, builder.getI64IntegerAttr(value));
  };
  SmallVector<NamedAttribute> parameters = {parameter("DataWidth", bits),
                                            parameter("Readers", count),
                                            parameter("Bursts", inFlight)};
  if (turns != std::string(turns.size(), '1'))
    parameters.push_back(
        builder.getNamedAttr("Turns", builder.getStringAttr(turns)));
  result.instance = rtl::InstanceOp::create(
      builder, loc, types, operands,
      builder.getStringAttr(unit::memoryPortName(bank.first, bank.second) +
                            "_arbiter"),
      builder.getStringAttr("rhz_mem_arbiter"),
      builder.getDictionaryAttr(parameters), texts(inputs), texts(outputs));
  unsigned answer = 0;
  for (const unit::Signal &signal : signals()) {
    if (!signal.isInput)
      continue;
    Value all = result.instance.getResult(firstAnswer + answer);
    for (auto [i, port] : llvm::enumerate(ports)) {
      Value own = all;
      if (!isShared(signal))
        own = rtl::ExtractOp::create(builder, loc, builder.getI1Type(), all, i);
      setOperand(port.instance, port.firstOperand + answer, own);
    }
    ++answer;
  }
  return result;
}
} // namespace rhizome
