// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// plan.json: all of its objects but those of a kernel (Kernel.td) and of the
// host's border (Host.td).
#ifndef RHIZOME_PACKAGE_PLAN_TD
#define RHIZOME_PACKAGE_PLAN_TD

include "rhizome/Package/Host.td"
include "rhizome/Package/Kernel.td"
include "rhizome/Package/Limits.td"

def Prediction : Struct<"Plan", "Prediction", [{The prediction for the whole
    design, or for one node of it. For a design of several nodes cycles are those
    of `clock_mhz`, the first node's, and resources the sum over all nodes.}]> {
  let Forms = ["stream", "value"];
  let Fields = [
    Int<"intervalCycles", "cycles from the start of a frame to the next",
        [Range<0, MostCycles>]>,
    Int<"latencyCycles", "cycles from a frame's first beat to its last result",
        [Range<0, MostCycles>]>,
    Real<"clockMhz", "clock rate in MHz", [UpTo<MostMhz>]>,
    Real<"throughputPerS", "frames per second">,
    Int<"lut", "lookup tables">,
    Int<"ff", "flip-flops">,
    Int<"dsp", "DSP blocks">,
    Real<"bram", "block RAMs, in halves">,
    Int<"uram", "UltraRAMs", [Range<0, MostCycles>], omit = "!uram">,
    Int<"loadCycles", [{cycles from reset until the memories that are filled at
        start are full, 0: there are none}], [Range<0, MostCycles>],
        omit = "!loadCycles">,
    Int<"lutError", [{the error of LUTs, by the family's characterization: nine of
        ten designs are within; of a kernel, the worst of those measured}], mayLack = 1>,
    Int<"ffError", "the same for flip-flops", mayLack = 1>,
    Real<"latencyUs", [{microseconds of a single request from the client's first
        byte to its last result, including links; for a design without links,
        its latency in cycles as a time}], mayLack = 1>];
}

def BorderPort : Struct<"Plan", "Stream port", [{One AXI4-Stream port of a node's
    top module: signals "<port>_tdata", "_tvalid", "_tready", "_tlast". Elements
    are bit-packed little-endian in channels-last order, a frame is padded to
    whole beats.}]> {
  let HasReader = 0;
  let Forms = [];
  let Fields = [
    Text<"port", "its name, `s_axis_0`, `m_axis_0`, …">,
    Text<"name", "the model's tensor">,
    Ints<"shape", "the tensor's shape, channels last">,
    Of<"element", "StreamElement", "the format of an element">,
    Bits<"dataWidth", "bits of tdata", preset = "64">];
  let ExtraDeclarations = [{
    int64_t elements() const;
    int64_t beats() const; ///< beats of one frame
  }];
}

def StreamPort : Struct<"", "Stream port", BorderPort.Text> {
  let Base = "BorderPort";
  let Order = ["port", "direction", "name", "shape", "element", "data_width"];
  let Fields = [
    Either<"isOutput", "direction", "in", "out", "seen from the node">];
  let Constraints = [
    Requires<"data_width", "dataWidth && dataWidth % 8 == 0 && dataWidth <= 4096",
             "expected whole bytes, at most 4096 bits">,
    Requires<"shape", "isShape(shape)",
             "expected positive sizes, at most 2^40">];
}

def RegisterPort : Struct<"Plan", "Register port",
    [{An input of a node's top module with its endpoint that is set externally
    before the first frame and then constant.}]> {
  let Fields = [
    Text<"port", "its name, `channels_i`", [Identifier]>,
    Text<"name", "what it says, `channels`">,
    Bits<"width", "bits; `channels` has 16 for each channel",
         [Expects<1, 1048576>], preset = "16">];
}

def MemoryPort : Struct<"Plan", "Memory port",
    [{A port of a node's top module to a bank: the channels AR and R of AXI4,
    signals "<port>_arvalid" … "_rready", and where it writes AW, W and B.
    Addresses count from the bank's beginning.}]> {
  let Fields = [
    Text<"port", "its name, `m_axi_ddr4_0`", [Identifier]>,
    Text<"memory", "one of the node's memories">,
    Int<"bank", "the index of the bank">,
    Bits<"dataWidth", "bits of a beat, a power of two", preset = "64">,
    Int<"bytesPerFrame", "bytes read and written for a frame",
        [Range<0, MostBytes>]>,
    Int<"spaceAddress", [{where the space is that the design has for itself,
        without contents, which it writes before it reads}],
        [Range<0, MostBytes>], omit = "!writes()">,
    Int<"spaceBytes", "bytes of that space; none if it only reads",
        [Range<0, MostBytes>], omit = "!writes()">];
  let Constraints = [
    Requires<"data_width",
             "dataWidth >= 8 && dataWidth <= 1024 && isPowerOf2_32(dataWidth)",
             "expected a power of two, 8..1024">];
  let ExtraDeclarations = "bool writes() const { return spaceBytes > 0; }";
}

def LinkPort : Struct<"Plan", "Link port",
    "A byte stream of datagrams between a node's endpoint and its shell."> {
  let Fields = [
    Text<"port", "its name, `s_link`, `m_link`", [Identifier]>,
    Either<"transmit", "direction", "in", "out", "seen from the node">,
    Bits<"dataWidth", "bits of a beat", [Expects<1, MostBits>], preset = "64">];
}

def NodePorts : Struct<"", "Ports", "The ports of a node's top module."> {
  let Fields = [
    ListOf<"streams", "StreamPort", "inputs, then outputs", key = "stream">,
    ListOf<"registers", "RegisterPort", "what is set before the first frame",
           key = "register">,
    ListOf<"memories", "MemoryPort", "those to off-chip memories",
           key = "memory">,
    ListOf<"links", "LinkPort", "those to its shell's links", key = "link">];
}

def PlannedMemory : Struct<"Plan", "Memory",
    "An off-chip memory of a node that its design uses (data/devices)."> {
  let Fields = [
    Text<"name", "its name, `ddr4`, `hbm2`", [Name]>,
    Int<"banks", "banks, each with a port of its own", [Range<1, MostNodes>],
        preset = "1">,
    Int<"bytesPerS", "bytes per second of a bank", [Range<1, MostRate>]>,
    Int<"latencyNs", "nanoseconds from an address to the first data",
        [Range<0, MostNs>]>,
    Int<"turnaroundNs", "nanoseconds from a burst to the next elsewhere",
        [Range<0, MostNs>]>,
    Int<"refreshEveryNs", "nanoseconds from a refresh to the next",
        [Range<0, MostNs>]>,
    Int<"refreshNs", "nanoseconds of a refresh", [Range<0, MostNs>]>];
  let Constraints = [
    Requires<"refresh_ns", "refreshNs == 0 || refreshNs < refreshEveryNs",
             "expected less than refresh_every_ns">];
}

def PlannedSegment : Struct<"Plan", "Segment",
    "A file that is in a bank before the first frame."> {
  let Fields = [
    Text<"file", "below the package: `segments/node0/weights.bin`",
         [PlainPath]>,
    Text<"memory", "one of the node's memories">,
    Int<"bank", "the index of the bank">,
    Int<"address", "in the bank", [Range<0, MostBytes>]>,
    Int<"bytes", "bytes of the file", [Range<0, MostBytes>]>,
    Text<"load", "when: before the first frame",
         [OneOf<["start"], "expected 'start'">], preset = "start">,
    Int<"bytesPerFrame", "bytes that are read from it for every frame",
        [Range<0, MostBytes>], mayLack = 1>];
}

def PlannedProgram : Struct<"Plan", "Program",
    [{OpenCL C that computes a frame on any device: one kernel, one work-item, with
    buffers of bytes as arguments: the inputs and outputs in whole beats, the memories of
    the node's ports with its segments in them, room to work in. Frames take turns: the
    last two change with each. After the last output, from where a word of four bytes
    begins, two words report: 0 and anything if all is well; otherwise 1, and the
    instruction set of the program in the memory, 2 and its core, 3 and its
    instructions, 4 and its blocks of weights, if the kernel is for others or has no
    room for so many.}]> {
  let Fields = [
    Text<"file", "below the package: `nodes/node0/opencl/engine.cl`",
         [PlainPath]>,
    Text<"kernel", "the kernel's name, which no other program has",
         [Identifier]>,
    Int<"spaceBytes", "of the room to work in", [Range<1, MostBytes>]>];
}

def PlannedActor : Struct<"Plan", "Actor",
    "One actor of the design and the model's nodes that it works for."> {
  let Fields = [
    Text<"name", "its name, unique in the node", [Name]>,
    Text<"kind", "the [unit kind](units.md)", [Name]>,
    Text<"module", "the module that it is an instance of", [Identifier]>,
    Texts<"nodes", "the model's nodes, several where datapaths were joined">,
    Text<"die", [{the die that it lies on; for a crossing, the die
        that receives. There is none on a device with one}], omit = "die.empty()">,
    Text<"fromDie", "of a crossing: the die that sends",
         omit = "fromDie.empty()">,
    Int<"intervalCycles", "cycles for which a frame occupies it",
        [Range<0, MostCycles>]>,
    Figures<"resources", "predicted; halves of block RAMs occur">,
    Values<"config", "the values of its unit's parameters, and its files">,
    Texts<"parameters", [{the keys of `config` that are the module's parameters;
        the others are for the compiler}], [Identifier]>];
}

def PlannedOperation : Struct<"Plan", "Operation",
    [{One operation of a node and the option taken for it. An edited plan (or a
    steering file) names options by their keys.}]> {
  let Fields = [
    Text<"name", "the model's node, with its part's number after a split">,
    Text<"op", "`conv2d`, `requantize`, …">,
    Int<"nth", [{its index among the operations of that name and kind, in the
        network's order}]>,
    Text<"generator", "who builds it">,
    Text<"option", "the option's key, `stream/matvec?pe=4&simd=9&…`">,
    Text<"text", "for people, `PE 4 × SIMD 9, in DSPs`", mayLack = 1>,
    Int<"intervalCycles", "cycles for which a frame occupies its units">,
    Text<"die", "the die that it lies on; there is none on a device with one",
         preset = "{}", omit = "die.empty()">,
    Int<"shared", [{operations of a node with the same number take turns on one
        unit; one that lacks it, -1 in C++, has a unit of its own}],
        preset = "-1", key = "shared_unit", omit = "shared < 0">];
}

def PlannedDie : Struct<"Plan", "Die", "What lies on a die of a node's device."> {
  let Fields = [
    Text<"name", "the die's name">,
    Counts<"budget", "what it may hold, by resource">,
    Figures<"resources", "predicted, by resource">,
    Int<"wires", "wires to the next die in the row; 0 for the last">,
    Int<"wiresAvailable", "how many there are; 0 for the last">];
}

def PlannedSplit : Struct<"Plan", "Split",
    [{An operation of the model whose output channels are split over several
    operations of the plan, named as in an operation.}]> {
  let Fields = [
    Text<"name", "the model's node">,
    Text<"op", "the operation's kind">,
    Int<"nth", "as in an operation">,
    Int<"parts", "operations of the plan", [Expects<2, 65535>], preset = "2">];
}

def PlannedRepeat : Struct<"Plan", "Repeat",
    [{Equal blocks of the model that are one body in hardware, which each frame
    passes `trips` times.}]> {
  let Fields = [
    Text<"name", "the model's node at which the first one begins">,
    Text<"op", "the kind of the operation at which it begins">,
    Int<"nth", "as in an operation">,
    Int<"length", "operations of a block", [Expects<1, 65535>], preset = "1">,
    Int<"trips", "blocks", [Expects<2, 65535>], preset = "2">,
    Int<"cyclesPerTrip", "cycles for which its slowest unit is busy in a trip",
        mayLack = 1>,
    Figures<"resources", "predicted, of its units with its borders",
            mayLack = 1>,
    Figures<"apart", "predicted, of units of the same kind for each block",
            mayLack = 1>];
}

def Replica : Struct<"Plan", "Replica",
    [{The index of a node among equal ones: frame f goes to the replica of the
    group whose index is f mod count. A node without replicas is 0 of 1.}]> {
  let Fields = [
    Int<"group", "nodes of one group are equal">,
    Int<"index", "its index in the group">,
    Int<"count", "nodes of the group", [Range<1, MostNodes>], preset = "1">];
  let Constraints = [
    Requires<"index", "index >= 0 && index < count",
             "expected less than count, and not negative">];
}

def PlannedNode : Struct<"Plan", "Node", "The part of one device."> {
  let Fields = [
    Text<"name", "its name, `node0`", [Name]>,
    Text<"function", "in model/network.mlir: what it computes", [Name],
         preset = "network">,
    Text<"device", "a device's name", [NameOrEmpty]>,
    Text<"family", "the device's family", [NameOrEmpty], mayLack = 1>,
    Real<"clockMhz", "clock rate in MHz", [UpTo<MostMhz>]>,
    Id<"address", "on the links, unique; the host's is 0", preset = "1">,
    Text<"link", [{the link that its port is attached to, otherwise that of its
        channels. These are as fast as the slower end's link}],
        [NameOrEmpty], omit = "link.empty()">,
    Of<"replica", "Replica", "its place among equal nodes">,
    Text<"rtlOf", "the node whose files this one shares, empty if it has its own",
         [NameOrEmpty]>,
    Of<"predicted", "Prediction", "of this node by itself">,
    Figures<"utilization", "share of the budget, 1: all of it">,
    Counts<"budget", "the device's budget for the design, by resource",
           mayLack = 1>,
    Int<"blockBits", "bits of its block RAMs", mayLack = 1>,
    Int<"heldBits", "bits of those that hold data", mayLack = 1>,
    Text<"top", "the design's top module", [Identifier], preset = "rhz_top">,
    Text<"nodeTop", [{the module around it with a link endpoint, empty if there is
        no link}], [IdentifierOrEmpty]>,
    Bits<"streamBits", "bits of the endpoint's byte streams to the shell",
         [Range<1, MostBits>], preset = "64">,
    Texts<"rtl", "files below nodes/<name>/rtl, in order", [SourceFile]>,
    Texts<"simulationModels", [{models of vendor primitives, in the same folder,
        only for simulators}], [SourceFile], mayLack = 1>,
    Lists<"modules", "the files of each actor's module, callees first",
          Identifier, SourceFile>,
    ListOf<"operations", "PlannedOperation", "in the network's order">,
    ListOf<"actors", "PlannedActor", "in the order of the stream">,
    ListOf<"dies", "PlannedDie", "of a device with several", mayLack = 1,
           omit = "dies.empty()">,
    Made<"ports", "NodePorts", "portsOf", "setPorts",
         "the ports of its top module">,
    ListOf<"memories", "PlannedMemory", "off-chip memories that it uses">,
    ListOf<"segments", "PlannedSegment", "what is in them before a frame">,
    MaybeOf<"program", "PlannedProgram", [{the same for an OpenCL device, of a
        design that is one unit with a program}]>];
  let ExtraDeclarations = [{
    std::vector<BorderPort> inputs, outputs;
    std::vector<MemoryPort> memoryPorts;
    std::vector<RegisterPort> registerPorts;
    std::vector<LinkPort> linkPorts;
    /// Null if there is none with that name.
    const PlannedMemory *memory(llvm::StringRef name) const;
    /// The most frames that share weights which are read from a memory; 1 if
    /// each has them read for itself.
    int64_t batch() const;
    /// Whether the design counts the faulty frames of each input
    /// (s_axis_0_err_o): a network's does, a kernel's doesn't.
    bool countsErrors() const;
  }];
}

def ChannelEnd : Struct<"Plan", "End of a channel",
    [{A node's border port (`s_axis_0`, `m_axis_1`), or for the host `input0`,
    `input1`, … and `output0`, …: the arguments and results of `@network`.}]> {
  let Fields = [
    Text<"node", "a node's name, or `host`">,
    Text<"port", "a port of it">];
}

def Channel : Struct<"Plan", "Channel",
    [{Point-to-point, one tensor: the frames f with f mod every = first. Channels
    of one output port with equal `first` are a broadcast.}]> {
  let Fields = [
    Id<"id", "unique in the plan">,
    Text<"tensor", "the model's tensor">,
    Of<"element", "StreamElement", "the format of an element">,
    Int<"elements", "elements of one frame", [Range<1, MostElements>]>,
    Of<"from", "ChannelEnd", "where it begins">,
    Of<"to", "ChannelEnd", "where it ends">,
    Int<"first", "the first frame">,
    Int<"every", "frames from one to the next", preset = "1">,
    Text<"link", "a link's name", [Name]>];
  let Constraints = [
    Requires<"first", "first >= 0 && first < every",
             "expected less than every, and not negative">];
  let ExtraDeclarations = [{
    /// Bytes of one frame, bit-packed.
    int64_t frameBytes() const {
      return (elements * int64_t(element.width()) + 7) / 8;
    }
  }];
}

def Medium : Struct<"", "Link", ""> {
  let Declared = 0;
  let HasReader = 0;
  let Forms = [];
  let Fields = [
    Spelled<"Medium::Kind", "kind", [{udp: datagrams that may be lost, repeated or
        reordered; wire: reliable, in order, with flow control}],
        "nameOf(kind)", "mediumKindOf",
        OneOf<["udp", "wire"], "expected 'udp' or 'wire'">>,
    Real<"bitsPerS", "bits per second in each direction, at the same time",
         [UpTo<"1e15">]>,
    Int<"latencyNs", [{nanoseconds of one bit from one node's shell to the
        other's}], [Range<0, MostNs>]>,
    Int<"mtuBytes", [{bytes of the largest payload of one packet, including the
        header of the frame protocol}], [Range<1, MostBits>]>,
    Int<"overheadBytes", [{bytes that the medium adds to every packet: preamble,
        headers, checksum, gap}], [Range<0, MostBits>]>];
}

def PlannedLink : Struct<"Plan", "Link", "A medium of the cluster."> {
  let Base = "Medium";
  let Order = ["name", "kind", "bits_per_s", "latency_ns", "mtu_bytes",
               "overhead_bytes"];
  let Fields = [Text<"name", "the link's name", [Name]>];
  let Constraints = [
    Requires<"bits_per_s", "bitsPerS > 0", "expected a positive number">];
}

def Alternative : Struct<"Plan", "Alternative", "A rejected plan."> {
  let Forms = ["stream", "value"];
  let Fields = [
    Text<"what", "what it would be built of, `2 × xcku060-role`">,
    Int<"nodes", "its nodes">,
    Real<"throughputPerS", "frames per second">,
    Text<"why", "why it lost">];
}

//===----------------------------------------------------------------------===//
// Tasks
//===----------------------------------------------------------------------===//

def PlannedTask : Struct<"PlannedTasks", "Task",
    "A function of model/network.mlir that runs on the host or the FPGA."> {
  let Forms = ["value"];
  let Fields = [
    Text<"name", "the function">,
    Either<"onFpga", "place", "host", "fpga", "where it runs">,
    Texts<"takes", "its tensors">,
    Texts<"gives", "its results">,
    Int<"operations", "operations of the model">,
    Real<"hostUs", [{microseconds on one core, as predicted; of the FPGA's
        tasks 0}]>];
}

def PlannedCopy : Struct<"PlannedTasks", "Copy",
    "All that a task of the FPGA takes, or all that it gives, of one frame."> {
  let Forms = ["value"];
  let Fields = [
    Text<"task", "the task">,
    Either<"toFpga", "to", "host", "fpga", "where it goes", preset = "true">,
    Texts<"tensors", "what is copied">,
    Int<"bytes", "bytes, bit-packed">,
    Real<"us", "microseconds">];
}

def PlannedState : Struct<"PlannedTasks", "State",
    [{What the model keeps from frame to frame. If the host keeps it and hands it
    on, a frame of the FPGA begins when the one before has ended.}]> {
  let Forms = ["value"];
  let Fields = [
    Text<"name", "the tensor of this frame">,
    Text<"next", "the tensor of the next frame">,
    Int<"bytes", "its bytes", [Range<0, MostElements>]>,
    Either<"onFpga", "home", "host", "fpga", "where it is kept", mayLack = 1>,
    Text<"why", "why the host keeps it", mayLack = 1>];
}

def PlannedTasks : Struct<"PlannedTasks", "Tasks",
    [{How a model runs: its tasks in order, and the copies between host and
    FPGA.}]> {
  let Forms = ["value"];
  let Fields = [
    Text<"host", "the host whose figures these are (data/hosts)">,
    Text<"link", "the link whose figures these are (data/links)">,
    ListOf<"tasks", "PlannedTask", "in the order in which they run",
           key = "list">,
    ListOf<"copies", "PlannedCopy", "between host and FPGA">,
    ListOf<"states", "PlannedState", "what is kept from frame to frame",
           omit = "states.empty()", preset = "{}">];
  let ExtraDeclarations = [{
    /// The first state that the host keeps; null if there is none.
    const PlannedState *keptByHost() const;
    /// Whether the FPGA keeps any.
    bool isKeptByFpga() const;
    /// What the host and copies take of a frame.
    double outsideUs() const;
  }];
}

//===----------------------------------------------------------------------===//
// The whole
//===----------------------------------------------------------------------===//

def Plan : Struct<"Plan", "The plan",
    "What was built, where, with which prediction, and its borders."> {
  let Fields = [
    Derived<"schema", "int", "kPlanSchema", "the number of this format">,
    Derived<"rhizome", "text", "version()", "the version that wrote it">,
    Text<"model", "the model's name">,
    Text<"device", "a device's name", [NameOrEmpty]>,
    Text<"board", "the board that it was compiled for", [NameOrEmpty],
         omit = "board.empty()">,
    Text<"cluster", "the cluster that it was compiled for", [NameOrEmpty],
         omit = "cluster.empty()">,
    Real<"clockMhz", "clock rate in MHz", [UpTo<MostMhz>]>,
    Text<"goal", "as given by the user">,
    Of<"predicted", "Prediction", "of the whole">,
    Figures<"utilization", "share of the budget, 1: all of it">,
    Counts<"multipliers", [{products of weights and activations per cycle, by what
        computes them: dsp_paired (two in one DSP block), dsp_single, lut.
        Reported separately, so that a rate per DSP block does not include those
        in LUTs}], mayLack = 1>,
    Text<"bottleneck", "what limits the rate: a node of the model, or text">,
    Text<"bottleneckKind", "its kind",
         [OneOf<["operation", "border", "link", "host_link", "memory", "state"],
                "expected operation, border, link, host_link, memory or state">],
         preset = "operation">,
    Real<"boundPerS", "no plan on these devices reaches more frames per second">,
    ListOf<"alternatives", "Alternative", "what was rejected">,
    ListOf<"splits", "PlannedSplit", "operations split over several">,
    ListOf<"repeats", "PlannedRepeat", "blocks that are one body",
           omit = "repeats.empty()">,
    Real<"lutsOfABlock", [{the price of a block of memory in LUTs, for ROMs that
        may be in either}]>,
    Of<"tasks", "PlannedTasks", "how the model runs">,
    ListOf<"nodes", "PlannedNode", "one for each device">,
    ListOf<"channels", "Channel", "between nodes, and the host">,
    ListOf<"links", "PlannedLink", "the media of the channels">,
    Text<"hostLink", "the link of the host's port, as for a node", [NameOrEmpty],
         omit = "hostLink.empty()">,
    Of<"host", "HostSection", "the tensors at the model's border">,
    MaybeOf<"kernel", "PlannedKernel", [{of a package that computes a kernel:
        nothing else of the plan concerns a host}]>];
  let ExtraDeclarations = [{
    /// Null if there is none with that name.
    const PlannedNode *node(llvm::StringRef name) const;
    const PlannedLink *link(llvm::StringRef name) const;
    /// The node whose folder contains `node`'s RTL: itself, or the one it
    /// shares.
    const PlannedNode &owner(const PlannedNode &node) const;
  }];
}

def : Schema<[
  Plan, Prediction, Alternative, PlannedSplit, PlannedRepeat, PlannedTasks,
  PlannedTask, PlannedCopy, PlannedState, PlannedNode, Replica, PlannedOperation,
  PlannedActor, PlannedDie, NodePorts, StreamPort, BorderPort, StreamElement,
  RegisterPort, MemoryPort, LinkPort, PlannedMemory, PlannedSegment, PlannedProgram,
  Channel, ChannelEnd, PlannedLink, Medium, HostSection, HostTensor, HostBorder, OrderDigit,
  HostState, PlannedKernel, UnitChoice, ChosenNest, ChosenSum, PlannedNest,
  PlannedStep, PlannedTensor, PlannedStream, PlannedStage, PlannedStore,
  PlannedShare, PlannedSystem, SystemRegisters, PlannedMover]>;

#endif // RHIZOME_PACKAGE_PLAN_TD
