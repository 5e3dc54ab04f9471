// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The `flow` dialect: where, with what parallelism, in what order? Actors
// joined by typed streams.
#ifndef RHIZOME_DIALECT_FLOW_TD
#define RHIZOME_DIALECT_FLOW_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"
include "mlir/IR/RegionKindInterface.td"
include "mlir/IR/SymbolInterfaces.td"
include "rhizome/Dialect/Flow/FlowBase.td"

def Flow_Order : I32Enum<"Order", "the order of a stream's elements", [
    I32EnumCase<"Pixels", 0, "pixels">,  // the tensor flattened, channels last
    I32EnumCase<"Windows", 1, "windows"> // unrolled windows, one after another
  ]> {
  let cppNamespace = "::rhizome::flow";
}

def Flow_Place : I32Enum<"Place", "where a task runs", [
    I32EnumCase<"Host", 0, "host">,
    I32EnumCase<"Fpga", 1, "fpga">
  ]> {
  let cppNamespace = "::rhizome::flow";
}

def Flow_PlaceAttr : EnumAttr<Flow_Dialect, Flow_Place, "place"> {
  let summary = "marks a function as a task, and says where it runs";
  let description = [{
    The functions with a `flow.place` are the tasks of a model. The module lists
    them as `flow.tasks`, in an order in which they can run. `flow.tensor` names
    what a task takes (at its arguments) and gives (at its results);
    `flow.inputs` and `flow.outputs` of the module name what the model takes and
    gives.

    - (C1) `flow.tasks` lists functions that have a body, a place and a
      `flow.tensor` at every argument and result.
    - (C2) what a task takes is an input of the model, a state, or given by an
      earlier task.
    - (C3) a tensor has one type, wherever it is given and taken.
    - (C4) tensors have different names: none is given twice or is an input as
      well, and each output of the model is given.
    - (C5) every function with a place is listed once.

    ```mlir
    module attributes {flow.inputs = ["x"], flow.outputs = ["y"], flow.tasks = [@host0]} {
      func.func @host0(%x: tensor<2xf32> {flow.tensor = "x"}) -> (tensor<2xf32> {flow.tensor = "y"})
          attributes {flow.place = #flow.place<host>} {
        func.return %x : tensor<2xf32>
      }
    }
    ```
  }];
  let assemblyFormat = "`<` $value `>`";
}

def Flow_State : AttrDef<Flow_Dialect, "State"> {
  let mnemonic = "state";
  let summary = "a tensor that a model keeps from frame to frame";
  let description = [{
    A module lists what its model keeps as `flow.states`. In the first frame
    after a reset the tensor holds `initial`, in each later one what the frame
    before gave as `next`: it is read before it is written. In a graph of tasks
    the names are those of `flow.tensor`; before, they are `rhizome.name` of an
    argument and of a result of @main.

    - (C1) `flow.states` is a list of states at a module; each has a name that no
      other one has.
    - (C2) of a graph of tasks, a state is no input of the model and is given by no
      task, and a task gives its `next`; of @main, it is an argument and its `next`
      a result.
    - (C3) a state, its `next` and its `initial` have one type; integers of
      `num` are signless in `initial`.
    - (C4) a state with `of` is kept by a task of the FPGA, the only one, which
      takes it and gives its `next`; no other task takes it. Such states are
      the last arguments of that task, and results that nothing else reads its
      last results: neither is a port. Their elements have one width and
      signedness, and `of` is the name that the model has for the state. `because` says why
      the host keeps one.

    ```mlir
    module attributes {flow.states = [#flow.state<"h", next = "g", initial = dense<0.0> : tensor<2xf32>>]} {
      func.func @main(%h: tensor<2xf32> {rhizome.name = "h"}) -> (tensor<2xf32> {rhizome.name = "g"}) {
        func.return %h : tensor<2xf32>
      }
    }
    ```
  }];
  let parameters = (ins StringRefParameter<>:$name, StringRefParameter<>:$next,
                        "::mlir::ElementsAttr":$initial,
                        StringRefParameter<"", [{""}]>:$of,
                        StringRefParameter<"", [{""}]>:$why);
  let builders = [AttrBuilder<(ins "::llvm::StringRef":$name, "::llvm::StringRef":$next,
                                   "::mlir::ElementsAttr":$initial), [{
    return $_get($_ctxt, name, next, initial, "", "");
  }]>];
  let extraClassDeclaration = [{
    /// Whether the FPGA keeps it, not the host.
    bool isOnFpga() const { return !getOf().empty(); }
  }];
  let assemblyFormat = "`<` $name `,` `next` `=` $next `,` `initial` `=` $initial (`of` $of^)? (`because` $why^)? `>`";
}

def Flow_Stream : TypeDef<Flow_Dialect, "Stream"> {
  let mnemonic = "stream";
  let summary = "a sequence of beats that carries one tensor per frame";
  let description = [{
    Elements of type `element` flow in beats of `lanes`. A frame holds `count`
    elements, flattened channels-last (`order` = pixels) or as unrolled
    windows (`order` = windows). Every `row` elements start a new
    beat, so the last beat of a row may be partial; `row` = `count` packs a
    frame contiguously. Two streams connect without a converter iff their types are equal.

    - (C1) lanes, row, count ≥ 1; row divides count.
    - (C2) a beat has at most 2^24−1 bits.

    ```mlir
    func.func private @f(!flow.stream<!num.int<u8>, lanes = 6, row = 84, count = 2352, order = pixels>)
    ```
  }];
  let parameters = (ins "::rhizome::num::IntType":$element, "int64_t":$lanes,
                        "int64_t":$row, "int64_t":$count,
                        EnumParameter<Flow_Order>:$order);
  let assemblyFormat = [{
    `<` $element `,` `lanes` `=` $lanes `,` `row` `=` $row `,` `count` `=` $count `,` `order` `=` $order `>`
  }];
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Beats of one row and of one frame.
    int64_t beatsPerRow() const { return (getRow() + getLanes() - 1) / getLanes(); }
    int64_t beatsPerFrame() const { return getCount() / getRow() * beatsPerRow(); }
    /// Bits of one beat.
    int64_t bits() const { return getLanes() * getElement().getWidth(); }
  }];
}

def Flow_Memory : AttrDef<Flow_Dialect, "Memory"> {
  let mnemonic = "memory";
  let summary = "a memory outside the chip";
  let description = [{
    What a design's timing needs to know of a memory: `bytes_per_s` of all
    `banks` together, at best; `latency_ns` from a request to its first data;
    `turnaround_ns`, lost where a burst does not go on where the last one ended;
    every `refresh_every_ns` (0: never) a bank reads nothing for `refresh_ns`.

    - (C1) it has a name of letters and digits, a bank or more and a rate; no time
      is negative.
    - (C2) a refresh is over before the next one begins.

    ```mlir
    func.func private @f() attributes {test.memory = #flow.memory<"ddr4", banks = 1, bytes_per_s = 19200000000, latency_ns = 100, turnaround_ns = 0, refresh_every_ns = 7800, refresh_ns = 350>}
    ```
  }];
  let parameters = (ins StringRefParameter<>:$name, "int64_t":$banks,
                        "int64_t":$bytes_per_s, "int64_t":$latency_ns,
                        "int64_t":$turnaround_ns, "int64_t":$refresh_every_ns,
                        "int64_t":$refresh_ns);
  let assemblyFormat = [{
    `<` $name `,` `banks` `=` $banks `,` `bytes_per_s` `=` $bytes_per_s `,` `latency_ns` `=` $latency_ns `,` `turnaround_ns` `=` $turnaround_ns `,` `refresh_every_ns` `=` $refresh_every_ns `,` `refresh_ns` `=` $refresh_ns `>`
  }];
  let genVerifyDecl = 1;
}

def Flow_Bank : AttrDef<Flow_Dialect, "Bank"> {
  let mnemonic = "bank";
  let summary = "where a memory port stands, and what it reads";
  let description = [{
    A bank of a memory by its number, and the segment that the port reads there:
    the name of an image of the package.

    - (C1) the memory and the segment are named, the bank is not negative.

    ```mlir
    func.func private @f() attributes {test.bank = #flow.bank<"ddr4", 0, "weights.bin">}
    ```
  }];
  let parameters = (ins StringRefParameter<>:$memory, "int64_t":$bank,
                        StringRefParameter<>:$segment);
  let assemblyFormat = "`<` $memory `,` $bank `,` $segment `>`";
  let genVerifyDecl = 1;
}

def Flow_DesignOp : Flow_Op<"design", [IsolatedFromAbove, SingleBlock,
    NoTerminator, Symbol, RegionKindInterface]> {
  let summary = "the actors of one device";
  let description = [{
    `device` names a file of data/devices; one clock drives all. `memories` are
    those outside the chip that actors read.

    - (C1) actors have different names.
    - (C2) the design holds actors only.
    - (C3) every stream has one reader.
    - (C4) an actor with a port of the design stands at the border: its
      `port` gives the port's number, other than those of the design's
      other inputs or outputs.
    - (C5) the clock is positive and finite.
    - (C6) memories have different names.
    - (C7) memory ports of actors stand at banks that the design's memories have.
    - (C8) the memory ports at one bank are equally wide, a power of two of bytes
      up to 128.

    ```mlir
    !pixels = !flow.stream<!num.int<u8>, lanes = 1, row = 4, count = 4, order = pixels>
    flow.design @node0 attributes {clock_mhz = 156.25, device = "xcku060-role"} {
      %in = flow.actor "axis_in" "s_axis_0"() {config = {DataWidth = 64, Elem = 8, Lanes = 1, FrameElements = 4, Row = 4}, depths = array<i64: 4>, port = 0} : () -> !pixels
      flow.actor "axis_out" "m_axis_0"(%in) {config = {DataWidth = 64, Elem = 8, Lanes = 1, FrameElements = 4, Row = 4}, depths = array<i64>, port = 0} : (!pixels) -> ()
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, StrAttr:$device,
                       F64Attr:$clock_mhz,
                       OptionalAttr<TypedArrayAttrBase<Flow_Memory,
                           "memories outside the chip">>:$memories);
  let regions = (region SizedRegion<1>:$body);
  // One that reads no memory outside the chip.
  let builders = [OpBuilder<(ins "::llvm::StringRef":$name,
      "::llvm::StringRef":$device, "::llvm::APFloat":$clock_mhz), [{
    build($_builder, $_state, name, device, clock_mhz, ::mlir::ArrayAttr());
  }]>];
  let assemblyFormat = "$sym_name attr-dict-with-keyword $body";
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    static mlir::RegionKind getRegionKind(unsigned) { return mlir::RegionKind::Graph; }
  }];
}

def Flow_ActorOp : Flow_Op<"actor", [HasParent<"DesignOp">]> {
  let summary = "one hardware unit";
  let description = [{
    `kind` names a unit kind (docs/units.md), `name` is unique in the design and
    comes from the model's node, `config` holds the kind's parameters and the
    files of its memories, `depths` the capacity of each output's buffer in
    beats. Where the kind's datapath is generated, `gates` holds it as `rtl`
    operations on (clock, input beat), a pipeline without stalls, and the
    config's `module` names the module that it becomes. `memories` says at which
    bank each memory port of the kind stands. `nodes` names the model's nodes
    that the unit works for, several where datapaths were joined. At the border
    `port` is the number of the network's argument or result. On a device of
    several dies the unit lies on `die`; a crossing lies where its receiver does
    and sends from `from_die`. `batch` frames are worked on at once.

    - (C1) one depth per result, all equal: a kind has one.
    - (C2) the kind is known.
    - (C3) `config` has nothing but parameters and files of the kind; parameters
      are integers within their bounds, none that is needed is missing, and they
      fit each other.
    - (C4) operands and results are the kind's stream ports, each as wide as the
      port is with these parameters.
    - (C5) `gates` are there if and only if the kind's datapath is generated.
    - (C6) what has one input and gives several streams from one port copies
      it: all have its type.
    - (C7) the block of `gates` takes the clock, i1, and an input beat, and its
      terminator gives an output beat.
    - (C8) a frame of each stream has as many beats as its port takes with these
      parameters, so that nothing is lost or made up on the way.
    - (C9) `memories` has an entry for every memory port of the kind.
    - (C10) an actor has a `port` if and only if its kind has an AXI4-Stream
      port, and it is not negative.
    - (C11) `die` and `from_die` are not negative; who has a `from_die` has a
      `die` next to it.
    - (C12) `batch` is positive.

    ```mlir
    !in = !flow.stream<!num.int<u8>, lanes = 1, row = 4, count = 4, order = pixels>
    !out = !flow.stream<!num.int<u8>, lanes = 2, row = 4, count = 4, order = pixels>
    flow.design @node0 attributes {clock_mhz = 156.25, device = "xcku060-role"} {
      %0 = flow.actor "axis_in" "s_axis_0"() {config = {DataWidth = 64, Elem = 8, Lanes = 1, FrameElements = 4, Row = 4}, depths = array<i64: 4>, port = 0} : () -> !in
      %1 = flow.actor "gearbox" "convert"(%0) {config = {Elem = 8, LanesIn = 1, LanesOut = 2, RowIn = 4, RowOut = 4, frameElements = 4}, depths = array<i64: 2>} : (!in) -> !out
      flow.actor "axis_out" "m_axis_0"(%1) {config = {DataWidth = 64, Elem = 8, Lanes = 2, FrameElements = 4, Row = 4}, depths = array<i64>, port = 0} : (!out) -> ()
    }
    ```
  }];
  let arguments = (ins Variadic<Flow_Stream>:$inputs, StrAttr:$kind, StrAttr:$name,
                       DictionaryAttr:$config, DenseI64ArrayAttr:$depths,
                       OptionalAttr<TypedArrayAttrBase<Flow_Bank,
                           "banks of memories">>:$memories,
                       OptionalAttr<StrArrayAttr>:$nodes,
                       OptionalAttr<I64Attr>:$port,
                       OptionalAttr<I64Attr>:$die,
                       OptionalAttr<I64Attr>:$from_die,
                       DefaultValuedAttr<I64Attr, "1">:$batch);
  let results = (outs Variadic<Flow_Stream>:$outputs);
  let regions = (region MaxSizedRegion<1>:$gates);
  // One without memory ports.
  let builders = [OpBuilder<(ins "::mlir::TypeRange":$outputs,
      "::mlir::ValueRange":$inputs, "::mlir::StringAttr":$kind,
      "::mlir::StringAttr":$name, "::mlir::DictionaryAttr":$config,
      "::mlir::DenseI64ArrayAttr":$depths), [{
    build($_builder, $_state, outputs, inputs, kind, name, config, depths,
          ::mlir::ArrayAttr(), ::mlir::ArrayAttr(), ::mlir::IntegerAttr(),
          ::mlir::IntegerAttr(), ::mlir::IntegerAttr(),
          $_builder.getI64IntegerAttr(1));
  }]>];
  let assemblyFormat =
      "$kind $name `(` $inputs `)` attr-dict `:` functional-type($inputs, $outputs) ($gates^)?";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The unit with its parameters, the output's depth among them. Of a kind
    /// that is known and a config that has been verified.
    ::rhizome::unit::Instance getUnit();
    /// The bank at which each memory port of the kind stands.
    ::llvm::SmallVector<BankAttr, 2> getBanks();
    /// The names of `nodes`.
    ::llvm::SmallVector<::llvm::StringRef, 1> getNodeNames();
  }];
}

#endif
