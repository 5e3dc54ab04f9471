// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One instance per actor (of its kind's module or, if the datapath is
// generated, of a module made of its gates) with the ports that its kind's
// description defines, and valid, ready and data wires per stream. Ready flows
// against the order of actors, and so does a stream back to a unit that several
// regions share; module bodies are graph regions, so both are filled in once
// their other end exists. MemoryPorts.cpp makes the ports to memories.
#include "rhizome/Rtl/FlowToRtl.h"
#include "MemoryPorts.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "rhizome/Unit/Unit.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include <list>
#include <optional>

using namespace mlir;

namespace rhizome {
namespace {
/// The two directions of a stream between instances.
struct Wires {
  Value valid, data;
  rtl::InstanceOp producer;
  unsigned readyOperand = 0; ///< of the producer
  rtl::ConcatOp gathered;    ///< if a fork collects its readies
  unsigned readySlot = 0;
};

/// An input whose producer is not built yet.
struct Awaited {
  Value stream, ready;
  /// The operation that takes its valid and its data, and the operand indices;
  /// null: the instance of the actor that is being built.
  Operation *validUser = nullptr, *dataUser = nullptr;
  unsigned validOperand = 0, dataOperand = 0;
};

class FlowToRtl {
public:
  explicit FlowToRtl(flow::DesignOp design)
      : design(design), builder(design.getContext()),
        memories(design, builder) {}

  rtl::ModuleOp run(ModuleOp parent) {
    std::vector<Attribute> inputNames, outputNames;
    SmallVector<Type> inputTypes;
    auto text = [&](const Twine &t) { return builder.getStringAttr(t); };
    auto addInput = [&](const Twine &name, int64_t width) {
      inputNames.push_back(text(name));
      inputTypes.push_back(builder.getIntegerType(unsigned(width)));
    };
    addInput("clk_i", 1);
    addInput("rst_ni", 1);
    for (auto actor : design.getBody().getOps<flow::ActorOp>()) {
      unit::Instance unit = actor.getUnit();
      for (const unit::Port &port : unit.kind().ports)
        if (port.protocol == unit::Protocol::Axis)
          for (const unit::Signal &signal : signalsOf(port)) {
            std::string name = borderName(actor, port) + signal.suffix;
            if (signal.isInput)
              addInput(name, widthOf(unit, port, signal));
            else
              outputNames.push_back(text(name));
          }
        else if (port.protocol == unit::Protocol::Status && isAtBorder(unit))
          outputNames.push_back(text(statusName(actor, port)));
    }
    memories.forSignals(
        [&](const std::string &name, bool isInput, int64_t width) {
          if (isInput)
            addInput(name, width);
          else
            outputNames.push_back(text(name));
        });

    builder.setInsertionPointToEnd(parent.getBody());
    auto module = rtl::ModuleOp::create(
        builder, design.getLoc(), "rhz_top", builder.getArrayAttr(inputNames),
        builder.getArrayAttr(outputNames), StringAttr());
    top = module;
    Block *body = builder.createBlock(&module.getBody());
    for (Type t : inputTypes)
      body->addArgument(t, design.getLoc());
    clock = body->getArgument(0);
    reset = body->getArgument(1);
    for (auto actor : design.getBody().getOps<flow::ActorOp>())
      buildActor(actor, body);
    for (const Awaited &input : awaited) {
      const Wires &from = wires[input.stream];
      input.validUser->setOperand(input.validOperand, from.valid);
      input.dataUser->setOperand(input.dataOperand, from.data);
      connectReady(input.stream, input.ready);
    }
    connectLoads(body);
    connectErrors(body);
    memories.connect(body, nextArgument, topOutputs);
    rtl::OutputOp::create(builder, design.getLoc(), topOutputs);
    return module;
  }

private:
  /// The ready of a port with output streams: a placeholder until their readers
  /// exist, of several streams their concatenation.
  struct Ready {
    unsigned operand;
    rtl::ConcatOp gathered;
  };

  flow::DesignOp design;
  OpBuilder builder;
  rtl::ModuleOp top;
  Value clock, reset;
  unsigned nextArgument = 2; ///< of the top module, after clock and reset
  SmallVector<Value> topOutputs;
  DenseMap<Value, Wires> wires;
  std::vector<Awaited> awaited;
  MemoryPorts memories;
  /// An instance on the load chain, or its head: its signals are
  /// consecutive operands and results.
  struct Loaded {
    rtl::InstanceOp instance;
    unsigned firstOperand = 0, firstResult = 0;
  };
  std::vector<Loaded> loaded;
  std::optional<Loaded> loadHead;
  /// Inputs at the border: the instance's operand with their valid, and the
  /// top's output with their ready.
  struct Entry {
    rtl::InstanceOp instance;
    unsigned validOperand = 0, readyOutput = 0;
    std::string name;
  };
  std::vector<Entry> entries;
  /// Counts of frames with mistakes: the top's outputs of those at the border,
  /// and those of other units.
  DenseMap<Operation *, unsigned> statuses;
  std::vector<std::pair<flow::ActorOp, Value>> inner;

  static ArrayRef<unit::Signal> signalsOf(const unit::Port &port) {
    return unit::signalsOf(port.protocol, port.isInput);
  }
  static int64_t widthOf(const unit::Instance &unit, const unit::Port &port,
                         const unit::Signal &signal) {
    return signal.width ? signal.width : unit.bitsOf(port);
  }
  /// The name of a port of the design: "s_axis_0".
  static std::string borderName(flow::ActorOp actor, const unit::Port &port) {
    return std::string(port.name) + "_" +
           std::to_string(actor.getPort().value_or(0));
  }

  static bool isAtBorder(const unit::Instance &unit) {
    return llvm::any_of(unit.kind().ports, [](const unit::Port &port) {
      return port.protocol == unit::Protocol::Axis;
    });
  }

  /// That of what a unit at the border tells of its port: "s_axis_0_err_o".
  static std::string statusName(flow::ActorOp actor, const unit::Port &status) {
    for (const unit::Port &port : actor.getUnit().kind().ports)
      if (port.protocol == unit::Protocol::Axis)
        return borderName(actor, port) + "_" + status.name;
    llvm_unreachable("it is not at the border");
  }

  /// The actor at the border through which an actor's frames come; null if
  /// none does.
  static Operation *borderOf(flow::ActorOp actor) {
    llvm::SetVector<Operation *> seen;
    seen.insert(actor);
    for (size_t i = 0; i < seen.size(); ++i) {
      auto from = cast<flow::ActorOp>(seen[i]);
      if (isAtBorder(from.getUnit()))
        return from;
      for (Value stream : from.getInputs())
        if (auto producer = stream.getDefiningOp<flow::ActorOp>())
          seen.insert(producer);
    }
    return nullptr;
  }

  NamedAttribute parameter(StringRef name, int64_t value) {
    return builder.getNamedAttr(name, builder.getI64IntegerAttr(value));
  }

  /// The module of an actor whose datapath is generated: its gates next to the
  /// shell that has the handshakes of every actor.
  std::string buildOwnModule(flow::ActorOp actor, const unit::Instance &unit) {
    OpBuilder::InsertionGuard guard(builder);
    Location loc = actor.getLoc();
    Type bit = builder.getI1Type();
    auto bits = [&](Value stream) {
      return builder.getIntegerType(
          unsigned(cast<flow::StreamType>(stream.getType()).bits()));
    };
    Type in = bits(actor.getInputs()[0]), out = bits(actor.getOutputs()[0]);
    std::string name =
        cast<StringAttr>(actor.getConfig().get("module")).getValue().str();
    builder.setInsertionPoint(top);
    auto module = rtl::ModuleOp::create(
        builder, loc, name,
        builder.getStrArrayAttr(
            {"clk_i", "rst_ni", "in_valid_i", "in_data_i", "out_ready_i"}),
        builder.getStrArrayAttr({"in_ready_o", "out_valid_o", "out_data_o"}),
        StringAttr());
    Block *body = builder.createBlock(&module.getBody());
    for (Type type : {bit, bit, bit, in, bit})
      body->addArgument(type, loc);
    Block &gates = actor.getGates().front();
    IRMapping map;
    map.map(gates.getArgument(0), body->getArgument(0));
    map.map(gates.getArgument(1), body->getArgument(3));
    for (Operation &op : gates.without_terminator())
      builder.clone(op, map);
    Value data = map.lookup(gates.getTerminator()->getOperand(0));
    SmallVector<NamedAttribute> parameters;
    for (const unit::Binding &binding : unit.kind().shellParameters)
      parameters.push_back(
          parameter(binding.name, binding.value(unit.params.data())));
    auto shell = rtl::InstanceOp::create(
        builder, loc, TypeRange{bit, bit, out},
        ValueRange{body->getArgument(0), body->getArgument(1),
                   body->getArgument(2), data, body->getArgument(4)},
        builder.getStringAttr(
            StringRef(unit.kind().shell).substr(StringRef("rhz_").size())),
        builder.getStringAttr(unit.kind().shell),
        builder.getDictionaryAttr(parameters),
        builder.getStrArrayAttr(
            {"clk_i", "rst_ni", "in_valid_i", "data_i", "out_ready_i"}),
        builder.getStrArrayAttr({"in_ready_o", "out_valid_o", "out_data_o"}));
    rtl::OutputOp::create(builder, loc, shell.getResults());
    return name;
  }

  /// The module's parameters for an actor's parameters and files.
  DictionaryAttr parametersOf(flow::ActorOp actor, const unit::Instance &unit) {
    SmallVector<NamedAttribute> parameters;
    if (!unit.kind().isGenerated())
      for (const unit::Parameter &known : unit.kind().parameters)
        if (known.inHardware && unit.params.has(known.name))
          parameters.push_back(
              parameter(known.name, unit.params.get(known.name)));
    for (const auto &[name, file] : unit.files)
      parameters.push_back(
          builder.getNamedAttr(name, builder.getStringAttr(file)));
    return builder.getDictionaryAttr(parameters);
  }

  /// Chains the loaded memories after the head, in the order of the actors, and
  /// blocks the design's inputs until the last one is full: then all others
  /// are, too.
  void connectLoads(Block *body) {
    if (!loadHead)
      return;
    Location loc = design.getLoc();
    auto setOperand = [](rtl::InstanceOp instance, unsigned index,
                         Value value) {
      Operation *old = instance->getOperand(index).getDefiningOp();
      instance->setOperand(index, value);
      if (old && isa<rtl::ConstantOp>(old) && old->use_empty())
        old->erase();
    };
    Loaded from = *loadHead;
    for (Loaded &to : loaded) {
      for (unsigned i = 0; i < 2; ++i) // valid and data
        setOperand(to.instance, to.firstOperand + i,
                   from.instance.getResult(from.firstResult + i));
      from = to;
    }
    Value isLoaded = from.instance.getResult(from.firstResult + 2);
    Type bit = builder.getI1Type();
    builder.setInsertionPointToEnd(body);
    for (Entry &entry : entries) {
      auto gate = rtl::InstanceOp::create(
          builder, loc, TypeRange{bit, bit},
          ValueRange{isLoaded, entry.instance->getOperand(entry.validOperand),
                     topOutputs[entry.readyOutput]},
          builder.getStringAttr(entry.name + "_gate"),
          builder.getStringAttr("rhz_load_gate"), builder.getDictionaryAttr({}),
          builder.getStrArrayAttr({"loaded_i", "valid_i", "ready_i"}),
          builder.getStrArrayAttr({"valid_o", "ready_o"}));
      entry.instance->setOperand(entry.validOperand, gate.getResult(0));
      topOutputs[entry.readyOutput] = gate.getResult(1);
    }
  }

  /// What units inside count is added to what their frames' border does.
  void connectErrors(Block *body) {
    llvm::MapVector<Operation *, SmallVector<Value>> added;
    for (auto &[actor, count] : inner)
      if (Operation *border = borderOf(actor))
        added[border].push_back(count);
    Location loc = design.getLoc();
    builder.setInsertionPointToEnd(body);
    for (auto &[border, counts] : added) {
      unsigned output = statuses.lookup(border);
      counts.push_back(topOutputs[output]);
      auto total = int64_t(counts.size());
      Value all = rtl::ConcatOp::create(
          builder, loc, builder.getIntegerType(unsigned(16 * total)), counts);
      auto sum = rtl::InstanceOp::create(
          builder, loc, TypeRange{builder.getIntegerType(16)},
          ValueRange{clock, reset, all},
          builder.getStringAttr(cast<flow::ActorOp>(border).getName() +
                                "_errors"),
          builder.getStringAttr("rhz_errors"),
          builder.getDictionaryAttr(parameter("Count", total)),
          builder.getStrArrayAttr({"clk_i", "rst_ni", "err_i"}),
          builder.getStrArrayAttr({"err_o"}));
      topOutputs[output] = sum.getResult(0);
    }
  }

  /// Connects a reader's ready to the producer of its stream.
  void connectReady(Value stream, Value ready) {
    Wires &w = wires[stream];
    if (w.gathered)
      w.gathered->setOperand(w.readySlot, ready);
    else
      w.producer->setOperand(w.readyOperand, ready);
  }

  void buildActor(flow::ActorOp actor, Block *body) {
    Location loc = actor.getLoc();
    unit::Instance unit = actor.getUnit();
    SmallVector<Value> operands = {clock, reset};
    SmallVector<StringRef> inputNames = {"clk_i", "rst_ni"}, outputNames;
    SmallVector<Type> types;
    std::list<std::string> kept; // owns the names
    unsigned nextStream = 0, nextMemory = 0;
    SmallVector<std::pair<flow::BankAttr, MemoryReader>, 2> readers;
    SmallVector<Ready, 2> readies; // of the ports with output streams
    std::optional<Loaded> load;
    std::optional<Entry> entry;
    std::vector<Awaited> awaitedHere;
    for (const unit::Port &port : unit.kind().ports) {
      bool isStream = port.protocol == unit::Protocol::Stream;
      Wires from;
      if (isStream && port.isInput)
        from = takeStreams(actor, port, nextStream, unsigned(operands.size()),
                           awaitedHere);
      if (port.isMemory()) {
        MemoryReader reader;
        reader.bits = unit.bitsOf(port);
        reader.writes = port.writes();
        reader.inFlight = port.traffic.inFlight(unit.params.data());
        reader.turn = unit.turnOf(port);
        reader.firstOperand = unsigned(operands.size());
        reader.firstResult = unsigned(types.size());
        readers.push_back({actor.getBanks()[nextMemory++], reader});
      }
      if (port.protocol == unit::Protocol::Load)
        load = {{}, unsigned(operands.size()), unsigned(types.size())};
      for (const unit::Signal &signal : signalsOf(port)) {
        StringRef name =
            kept.emplace_back(std::string(port.name) + signal.suffix);
        if (!signal.isInput) {
          // Several parallel streams have their own valids.
          int64_t width = widthOf(unit, port, signal);
          if (signal.width)
            width *= port.count(unit.params.data());
          outputNames.push_back(name);
          types.push_back(builder.getIntegerType(unsigned(width)));
          continue;
        }
        inputNames.push_back(name);
        if (port.isMemory() || port.isLoaded()) {
          operands.push_back(
              memories.placeholder(widthOf(unit, port, signal), clock));
        } else if (!isStream) {
          if (StringRef(signal.suffix) == "_tvalid")
            entry = {{}, unsigned(operands.size()), 0, borderName(actor, port)};
          operands.push_back(body->getArgument(nextArgument++));
        } else if (from.valid) {
          operands.push_back(signal.width ? from.valid : from.data);
        } else {
          readies.push_back({unsigned(operands.size()), {}});
          Value placeholder = clock;
          if (auto branches = unsigned(port.count(unit.params.data()));
              branches > 1)
            placeholder = readies.back().gathered = rtl::ConcatOp::create(
                builder, loc, builder.getIntegerType(branches),
                SmallVector<Value>(branches, placeholder));
          operands.push_back(placeholder);
        }
      }
    }

    std::string module = unit.kind().isGenerated()
                             ? buildOwnModule(actor, unit)
                             : std::string(unit.kind().module);
    auto instance = rtl::InstanceOp::create(
        builder, loc, types, operands, actor.getNameAttr(),
        builder.getStringAttr(module), parametersOf(actor, unit),
        builder.getStrArrayAttr(inputNames),
        builder.getStrArrayAttr(outputNames));
    for (Awaited &input : awaitedHere)
      if (!input.validUser)
        input.validUser = input.dataUser = instance;
    for (auto &[bank, reader] : readers) {
      reader.instance = instance;
      memories.add(bank, reader);
    }
    if (load) {
      load->instance = instance;
      if (unit.kind().loadedPort())
        loaded.push_back(*load);
      else
        loadHead = load;
    }
    if (entry) {
      entry->instance = instance;
      entry->readyOutput = unsigned(topOutputs.size()); // the only one
      entries.push_back(*entry);
    }
    connect(actor, unit, instance, readies, awaitedHere);
    llvm::append_range(awaited, awaitedHere);
  }

  /// Valid and data of the streams of an input port, concatenated if
  /// it takes several. `operand` is the index of the valid.
  Wires takeStreams(flow::ActorOp actor, const unit::Port &port,
                    unsigned &nextStream, unsigned operand,
                    std::vector<Awaited> &awaitedHere) {
    Location loc = actor.getLoc();
    unit::Instance unit = actor.getUnit();
    auto count = unsigned(port.count(unit.params.data()));
    SmallVector<Value> valids, datas;
    size_t firstAwaited = awaitedHere.size();
    for (unsigned i = 0; i < count; ++i) {
      Value stream = actor.getInputs()[nextStream++];
      Wires from = wires.lookup(stream);
      if (!from.valid) {
        from.valid = from.data = clock; // placeholders
        awaitedHere.push_back({stream, {}, nullptr, nullptr, i, i});
      }
      valids.push_back(from.valid);
      datas.push_back(from.data);
    }
    Wires all;
    all.valid = valids[0];
    all.data = datas[0];
    if (count > 1) {
      all.valid = rtl::ConcatOp::create(builder, loc,
                                        builder.getIntegerType(count), valids);
      all.data = rtl::ConcatOp::create(
          builder, loc, builder.getIntegerType(unsigned(unit.bitsOf(port))),
          datas);
    }
    for (Awaited &input : MutableArrayRef(awaitedHere).drop_front(firstAwaited))
      if (count > 1) {
        input.validUser = all.valid.getDefiningOp();
        input.dataUser = all.data.getDefiningOp();
      } else {
        input.validOperand = operand;
        input.dataOperand = operand + 1;
      }
    return all;
  }

  /// Passes an instance's results to the top module and to the streams' wires.
  void connect(flow::ActorOp actor, const unit::Instance &unit,
               rtl::InstanceOp instance, ArrayRef<Ready> readies,
               MutableArrayRef<Awaited> awaitedHere) {
    unsigned result = 0, nextStream = 0, made = 0;
    for (const unit::Port &port : unit.kind().ports) {
      switch (port.protocol) {
      case unit::Protocol::Status:
        if (isAtBorder(unit)) {
          statuses[actor] = unsigned(topOutputs.size());
          topOutputs.push_back(instance.getResult(result++));
        } else {
          inner.emplace_back(actor, instance.getResult(result++));
        }
        break;
      case unit::Protocol::Load:
      case unit::Protocol::Axi4Read:
      case unit::Protocol::Axi4:
        result += unsigned(llvm::count_if(
            signalsOf(port), [](const auto &s) { return !s.isInput; }));
        break;
      case unit::Protocol::Axis:
        for (const unit::Signal &signal : signalsOf(port))
          if (!signal.isInput)
            topOutputs.push_back(instance.getResult(result++));
        break;
      case unit::Protocol::Stream:
        if (port.isInput) {
          Value all = instance.getResult(result++);
          int64_t count = port.count(unit.params.data());
          for (int64_t i = 0; i < count; ++i) {
            Value stream = actor.getInputs()[nextStream++], ready = all;
            if (count > 1)
              ready = rtl::ExtractOp::create(builder, actor.getLoc(),
                                             builder.getI1Type(), all, i);
            auto later = llvm::find_if(awaitedHere, [&](const Awaited &input) {
              return input.stream == stream;
            });
            if (later == awaitedHere.end())
              connectReady(stream, ready);
            else
              later->ready = ready;
          }
        } else {
          const auto count = unsigned(port.count(unit.params.data()));
          const Ready &ready = readies.front();
          produce(actor.getOutputs().slice(made, count),
                  {instance.getResult(result), instance.getResult(result + 1),
                   instance, ready.operand, ready.gathered, 0});
          readies = readies.drop_front();
          made += count;
          result += 2;
        }
        break;
      }
    }
  }

  /// The wires of each output stream of a port.
  void produce(ValueRange streams, const Wires &all) {
    Location loc = all.producer->getLoc();
    bool isForked = streams.size() > 1;
    for (auto [i, value] : llvm::enumerate(streams)) {
      Wires w = all;
      w.readySlot = unsigned(i);
      if (isForked) {
        int64_t bits = cast<flow::StreamType>(value.getType()).bits();
        w.valid = rtl::ExtractOp::create(builder, loc, builder.getI1Type(),
                                         all.valid, i);
        w.data = rtl::ExtractOp::create(builder, loc,
                                        builder.getIntegerType(unsigned(bits)),
                                        all.data, i * bits);
      }
      wires[value] = w;
    }
  }
};
} // namespace

rtl::ModuleOp convertFlowToRtl(flow::DesignOp design, ModuleOp parent) {
  return FlowToRtl(design).run(parent);
}
} // namespace rhizome
