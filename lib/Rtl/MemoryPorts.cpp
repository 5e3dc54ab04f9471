// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "MemoryPorts.h"
#include "rhizome/Unit/Unit.h"
#include <set>

using namespace mlir;

namespace rhizome {
/// The signals of a port that reads, and of one that also writes: in each
/// direction, those for writing follow.
static ArrayRef<unit::Signal> signalsOf(bool writes) {
  return unit::signalsOf(writes ? unit::Protocol::Axi4
                                : unit::Protocol::Axi4Read,
                         /*isInput=*/false);
}

static unsigned inputsOf(ArrayRef<unit::Signal> signals) {
  return unsigned(llvm::count_if(
      signals, [](const unit::Signal &signal) { return signal.isInput; }));
}

/// Only those for writing.
static SmallVector<unit::Signal> writeSignals() {
  SmallVector<unit::Signal> signals;
  for (const unit::Signal &signal : signalsOf(/*writes=*/true))
    if (llvm::none_of(signalsOf(/*writes=*/false), [&](const auto &reads) {
          return StringRef(reads.suffix) == signal.suffix;
        }))
      signals.push_back(signal);
  return signals;
}

/// Such a port's part for writing.
static MemoryReader writingPartOf(MemoryReader port) {
  ArrayRef<unit::Signal> reads = signalsOf(/*writes=*/false);
  const unsigned inputs = inputsOf(reads);
  port.firstOperand += inputs;
  port.firstResult += unsigned(reads.size()) - inputs;
  return port;
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
  std::set<Bank> written;
  for (auto actor : design.getBody().getOps<flow::ActorOp>()) {
    unit::Instance unit = actor.getUnit();
    for (auto [port, bank] :
         llvm::zip_equal(unit.kind().memoryPorts(), actor.getBanks())) {
      const Bank at{bank.getMemory(), bank.getBank()};
      widths[at] = unit.bitsOf(*port);
      if (port->writes())
        written.insert(at);
    }
  }
  for (auto &[bank, width] : widths)
    for (const unit::Signal &signal : signalsOf(written.count(bank) > 0))
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
  auto connectPort = [&](MemoryReader port, ArrayRef<unit::Signal> signals) {
    for (const unit::Signal &signal : signals)
      if (signal.isInput)
        setOperand(port.instance, port.firstOperand++,
                   body->getArgument(firstArgument++));
      else
        outputs.push_back(port.instance.getResult(port.firstResult++));
  };
  const SmallVector<unit::Signal> writing = writeSignals();
  for (auto &[bank, all] : readers) {
    SmallVector<MemoryReader> writers;
    for (const MemoryReader &port : all)
      if (port.writes)
        writers.push_back(writingPartOf(port));
    const ArrayRef<unit::Signal> reading = signalsOf(/*writes=*/false);
    connectPort(all.size() > 1
                    ? arbitrate({"rhz_mem_arbiter", "_arbiter", "Readers",
                                 reading, /*takesTurns=*/true},
                                bank, all, body)
                    : all[0],
                reading);
    if (!writers.empty())
      connectPort(writers.size() > 1
                      ? arbitrate({"rhz_mem_write_arbiter", "_write_arbiter",
                                   "Writers", writing, /*takesTurns=*/false},
                                  bank, writers, body)
                      : writers[0],
                  writing);
  }
}

/// Arbitrates between the ports at a bank; returns the port to the memory.
MemoryReader MemoryPorts::arbitrate(const Arbitration &how, Bank bank,
                                    MutableArrayRef<MemoryReader> ports,
                                    Block *body) {
  Location loc = design.getLoc();
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
  MemoryReader result;
  result.firstOperand = unsigned(operands.size());
  // Towards the memory like a reader's port; towards the readers its mirror.
  for (const unit::Signal &signal : how.signals) {
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
  for (const unit::Signal &signal : how.signals) {
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
                                            parameter(how.count, count),
                                            parameter("Bursts", inFlight)};
  if (how.takesTurns && turns != std::string(turns.size(), '1'))
    parameters.push_back(
        builder.getNamedAttr("Turns", builder.getStringAttr(turns)));
  result.instance = rtl::InstanceOp::create(
      builder, loc, types, operands,
      builder.getStringAttr(unit::memoryPortName(bank.first, bank.second) +
                            how.suffix),
      builder.getStringAttr(how.module), builder.getDictionaryAttr(parameters),
      texts(inputs), texts(outputs));
  unsigned answer = 0;
  for (const unit::Signal &signal : how.signals) {
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
