// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One instance per actor (of a library cell or, for a circuit, of a module made
// of its gates), valid/ready/data wires per stream. Ready flows
// against the order of actors; module bodies are graph regions, so a ready is
// filled in once its reader exists.
#include "rhizome/Conversion/FlowToRtl.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace rhizome {
namespace {
/// The two directions of a stream between instances.
struct Wires {
  Value valid, data;
  rtl::InstanceOp producer;
  unsigned readyOperand = 0; ///< of the producer
  rtl::ConcatOp gathered;    ///< where a fork collects its readies
  unsigned readySlot = 0;
};

class FlowToRtl {
public:
  explicit FlowToRtl(flow::DesignOp design)
      : design(design), builder(design.getContext()) {}

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
      std::string port = portOf(actor);
      if (actor.getKind() == "axis_in") {
        addInput(port + "_tdata", dataWidth(actor));
        addInput(port + "_tvalid", 1);
        addInput(port + "_tlast", 1);
        outputNames.push_back(text(port + "_tready"));
      } else if (actor.getKind() == "axis_out") {
        addInput(port + "_tready", 1);
        for (const char *signal : {"_tdata", "_tvalid", "_tlast"})
          outputNames.push_back(text(port + signal));
      }
    }

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
    unsigned argument = 2;
    SmallVector<Value> outputs;
    for (auto actor : design.getBody().getOps<flow::ActorOp>())
      buildActor(actor, body, argument, outputs);
    rtl::OutputOp::create(builder, design.getLoc(), outputs);
    return module;
  }

private:
  flow::DesignOp design;
  OpBuilder builder;
  rtl::ModuleOp top;
  Value clock, reset;
  DenseMap<Value, Wires> wires;

  static std::string portOf(flow::ActorOp actor) {
    auto port = actor->getAttrOfType<IntegerAttr>("rhizome.port");
    if (!port)
      return "";
    return (actor.getKind() == "axis_in" ? "s_axis_" : "m_axis_") +
           std::to_string(port.getInt());
  }

  static int64_t dataWidth(flow::ActorOp actor) {
    return cast<IntegerAttr>(actor.getConfig().get("DataWidth")).getInt();
  }

  int64_t depthOf(flow::ActorOp actor) {
    return actor.getDepths().empty() ? 4 : actor.getDepths()[0];
  }

  /// The module of a circuit: its gates between the handshakes that every
  /// actor has.
  std::string buildCircuit(flow::ActorOp actor) {
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
    auto parameter = [&](const char *key, int64_t value) {
      return builder.getNamedAttr(key, builder.getI64IntegerAttr(value));
    };
    auto stages = cast<IntegerAttr>(actor.getConfig().get("stages")).getInt();
    auto pipeline = rtl::InstanceOp::create(
        builder, loc, TypeRange{bit, bit, out},
        ValueRange{body->getArgument(0), body->getArgument(1),
                   body->getArgument(2), data, body->getArgument(4)},
        builder.getStringAttr("pipeline"),
        builder.getStringAttr("rhz_pipeline"),
        builder.getDictionaryAttr(
            {parameter("Width", out.getIntOrFloatBitWidth()),
             parameter("Stages", stages), parameter("Depth", depthOf(actor))}),
        builder.getStrArrayAttr(
            {"clk_i", "rst_ni", "in_valid_i", "data_i", "out_ready_i"}),
        builder.getStrArrayAttr({"in_ready_o", "out_valid_o", "out_data_o"}));
    rtl::OutputOp::create(builder, loc, pipeline.getResults());
    return name;
  }

  DictionaryAttr parametersOf(flow::ActorOp actor) {
    SmallVector<NamedAttribute> parameters;
    if (!actor.getGates().empty())
      return builder.getDictionaryAttr({});
    for (NamedAttribute attr : actor.getConfig())
      if (!std::islower(attr.getName().str()[0]))
        parameters.push_back(attr);
    int64_t depth = 4;
    if (!actor.getDepths().empty())
      depth = actor.getDepths()[0];
    else if (auto given = actor.getConfig().getAs<IntegerAttr>("Depth"))
      depth = given.getInt();
    parameters.push_back(
        builder.getNamedAttr("Depth", builder.getI64IntegerAttr(depth)));
    return builder.getDictionaryAttr(parameters);
  }

  /// Connects a reader's ready to the producer of its stream.
  void connectReady(Value stream, Value ready) {
    Wires &w = wires[stream];
    if (w.gathered)
      w.gathered->setOperand(w.readySlot, ready);
    else
      w.producer->setOperand(w.readyOperand, ready);
  }

  void buildActor(flow::ActorOp actor, Block *body, unsigned &argument,
                  SmallVector<Value> &outputs) {
    Location loc = actor.getLoc();
    Type bit = builder.getI1Type();
    SmallVector<Value> operands = {clock, reset};
    SmallVector<StringRef> inputNames = {"clk_i", "rst_ni"}, outputNames;
    SmallVector<Type> types;
    bool source = actor.getKind() == "axis_in";
    bool sink = actor.getKind() == "axis_out";
    auto input = [&](StringRef name, Value v) {
      inputNames.push_back(name);
      operands.push_back(v);
    };
    auto output = [&](StringRef name, Type type) {
      outputNames.push_back(name);
      types.push_back(type);
    };

    if (source) {
      for (const char *signal :
           {"s_axis_tdata", "s_axis_tvalid", "s_axis_tlast"})
        input(signal, body->getArgument(argument++));
      output("s_axis_tready", bit);
      output("err_o", builder.getIntegerType(16));
    }
    static const char *const names[2][3] = {
        {"a_valid_i", "a_data_i", "a_ready_o"},
        {"b_valid_i", "b_data_i", "b_ready_o"}};
    static const char *const only[3] = {"in_valid_i", "in_data_i",
                                        "in_ready_o"};
    for (auto [i, stream] : llvm::enumerate(actor.getInputs())) {
      const char *const *n = actor.getInputs().size() > 1 ? names[i] : only;
      input(n[0], wires[stream].valid);
      input(n[1], wires[stream].data);
      output(n[2], bit);
    }
    // Ready inputs get a placeholder until the readers exist.
    unsigned readyOperand = unsigned(operands.size());
    unsigned branches = actor.getNumResults();
    rtl::ConcatOp gathered;
    if (sink) {
      input("m_axis_tready", body->getArgument(argument++));
      output("m_axis_tdata",
             builder.getIntegerType(unsigned(dataWidth(actor))));
      output("m_axis_tvalid", bit);
      output("m_axis_tlast", bit);
    } else {
      auto stream = cast<flow::StreamType>(actor.getOutputs()[0].getType());
      Value placeholder = clock;
      if (branches > 1) {
        gathered = rtl::ConcatOp::create(
            builder, loc, builder.getIntegerType(branches),
            SmallVector<Value>(branches, placeholder));
        placeholder = gathered;
      }
      input("out_ready_i", placeholder);
      output("out_valid_o", builder.getIntegerType(branches));
      output("out_data_o",
             builder.getIntegerType(unsigned(stream.bits() * branches)));
    }

    std::string cell = actor.getGates().empty() ? "rhz_" + actor.getKind().str()
                                                : buildCircuit(actor);
    auto instance = rtl::InstanceOp::create(
        builder, loc, types, operands, actor.getNameAttr(),
        builder.getStringAttr(cell), parametersOf(actor),
        builder.getStrArrayAttr(inputNames),
        builder.getStrArrayAttr(outputNames));
    unsigned result = 0;
    if (source) {
      outputs.push_back(instance.getResult(0));
      result = 2;
    }
    for (Value stream : actor.getInputs())
      connectReady(stream, instance.getResult(result++));
    if (sink) {
      for (int i = 0; i < 3; ++i)
        outputs.push_back(instance.getResult(result++));
      return;
    }
    Value valid = instance.getResult(result),
          data = instance.getResult(result + 1);
    for (auto [i, value] : llvm::enumerate(actor.getOutputs())) {
      Wires w{valid, data, instance, readyOperand, gathered, unsigned(i)};
      if (branches > 1) {
        int64_t bits = cast<flow::StreamType>(value.getType()).bits();
        w.valid = rtl::ExtractOp::create(builder, loc, bit, valid, i);
        w.data = rtl::ExtractOp::create(builder, loc,
                                        builder.getIntegerType(unsigned(bits)),
                                        data, i * bits);
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
