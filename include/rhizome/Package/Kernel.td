// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// plan.json's `kernel`, of a package that computes a kernel and not a network:
// what was decided about it, which tensors follow each other in its streams, the
// cycles of its loop nests, what is in its memories when, and how it is connected
// to off-chip memory and a host.
#ifndef RHIZOME_PACKAGE_KERNEL_TD
#define RHIZOME_PACKAGE_KERNEL_TD

include "rhizome/Package/Limits.td"

//===----------------------------------------------------------------------===//
// The choice
//===----------------------------------------------------------------------===//

def ChosenNest : Struct<"UnitChoice", "Chosen nest",
    [{How a loop nest is built. The numbers of its loops are those of the kernel's
    operation.}]> {
  let Forms = ["value"];
  let Fields = [
    Text<"name", "for people">,
    Ints<"order", [{the loops, outermost first; empty: those of its sum are
        innermost}], [Range<0, MostInt>]>,
    Ints<"copies", "copies of its body, by loop; empty: one",
         [Range<1, MostInt>]>,
    Int<"datapath", "only nests with equal numbers may share one",
        [Range<0, MostInt>]>];
}

def ChosenSum : Struct<"UnitChoice", "Chosen sum",
    "Terms of a sum that are added to each other first, in one iteration."> {
  let Forms = ["value"];
  let Fields = [
    Int<"sum", "its index among the kernel's sums, in its order",
        [Range<0, MostInt>]>,
    Int<"loop", "the sum's loop", [Range<0, MostInt>]>,
    Int<"terms", "terms that are added in an iteration", [Range<1, MostInt>],
        preset = "1">];
}

def UnitChoice : Struct<"UnitChoice", "Choice",
    [{All that was decided about how a kernel's unit is put together, by a user or
    by the search. A plan that is built again is built from this alone.}]> {
  let Forms = ["value"];
  let Fields = [
    Int<"stages", [{dataflow stages of the nests, at most; 0: one element at a
        time}], [Range<0, kMostStages.Value>]>,
    Texts<"residents", "inputs that are read once">,
    Int<"lanes", "elements side by side", [Range<1, kMostLanes.Value>],
        preset = "1">,
    // In a request 0: one, or what serves the goal.
    Int<"words", "words of a tensor in a beat of a stream",
        [Range<1, kMostBeatWords.Value>]>,
    Flag<"isSystem", "with ports to off-chip memory and registers for a host",
         key = "system">,
    Int<"units", "equal systems, each with elements of its own",
        [Range<1, kMostUnits.Value>], preset = "1">,
    Int<"nodes", "equal nodes of a cluster, which compute elements in turn",
        [Range<1, kMostKernelNodes.Value>], preset = "1">,
    // Empty in a request: as many as its memories' banks allow.
    Ints<"borders", [{for each input and then each output of the unit: its words
        that pass the border in a cycle, which divide `words`}]>,
    ListOf<"nests", "ChosenNest", "one for each nest; empty: none has copies">,
    ListOf<"sums", "ChosenSum", "the others are added as written">];
}

//===----------------------------------------------------------------------===//
// The system
//===----------------------------------------------------------------------===//

class Built<int least, int most>
    : Range<least, most, "is larger or smaller than anything that is built">;

def PlannedMover : Struct<"PlannedSystem", "Mover",
    [{An AXI4 master, which moves one stream of the unit from or to a buffer. The
    buffer has a place for each group of `lanes` elements, one after the other,
    `group_bytes` apart; a stream that is read once needs only one place. A place has the
    stream's beats one after the other, little-endian.}]> {
  let Forms = ["value"];
  let Fields = [
    Text<"port", "its name, `m_axi_0`", [Identifier]>,
    Text<"stream", "of the unit: `s_axis_0` is read, `m_axis_0` written",
         [Identifier]>,
    Either<"isWrite", "direction", "read", "write", "seen from the memory">,
    Flag<"isOnce", "whether it is read once after each start", key = "once">,
    Bits<"dataWidth", "bits of a beat, a power of two", [Built<8, 1024>],
         preset = "512">,
    Bits<"wordBits", "bits of a word", [Built<8, 64>], preset = "32">,
    Int<"lanes", "elements of a group", [Built<1, 1024>], preset = "1">,
    Int<"words", "words of an element, with what fills up beats",
        [Built<1, 4294967296>]>,
    Int<"groupBytes", "bytes from a group to the next, whole bursts">,
    Int<"burst", "beats of a burst; a group's last may be shorter",
        [Built<1, 256>], preset = "1", key = "burst_beats">,
    Int<"depth", "beats of its buffer, at least a burst", [Built<1, 65536>],
        preset = "2", key = "buffer_beats">,
    Int<"offset", "of its address register, which has 64 bits",
        [Built<0, 4088>]>,
    Ints<"banks", "of the memory, one for each unit", [Built<0, 65535>]>];
  let Constraints = [
    Requires<"buffer_beats", "depth >= burst",
             "is larger or smaller than anything that is built">,
    Requires<"group_bytes", "hasWholeBursts()",
             "expected the whole bursts of a group">];
  let ExtraDeclarations = [{
    int64_t beats() const { ///< of a group
      return (words * lanes * wordBits + dataWidth - 1) / dataWidth;
    }
    /// No burst crosses a page of 4 KiB, and a group ends with one.
    bool hasWholeBursts() const;
  }];
}

def SystemRegisters : Struct<"", "Registers",
    [{The offsets of a system's registers: those of the protocol ap_ctrl_hs of
    Vitis, then the addresses of the ports, then its own.}]> {
  let Forms = ["value"];
  let Fields = [
    Text<"port", "the AXI4-Lite port">,
    Int<"elements", "of the number of elements, 32 bits">,
    Derived<"control", "int", "0", "of start, done, idle and ready">,
    Derived<"global_interrupt", "int", "4", "of whether interrupts are on">,
    Derived<"interrupt_enable", "int", "8", "of which interrupts are on">,
    Derived<"interrupt_status", "int", "12", "of which interrupts have come">,
    Derived<"errors", "int", "errorsOffset(elements)",
            "of the ports' errors, a bit for each port">];
}

def PlannedSystem : Struct<"PlannedSystem", "System",
    [{How the unit of a kernel is connected to off-chip memory and to a host.
    Programs on the host and the connectivity of vendors' tools follow from it.}]> {
  let Forms = ["value"];
  let Fields = [
    Text<"kernel", "its name for vendors' tools", preset = "rhz_kernel">,
    Text<"memory", "one of the node's memories">,
    Int<"units", "equal kernels, each with elements of its own",
        [Built<1, 1024>], preset = "1">,
    Texts<"dies", "the die of each unit; empty on a device with one">,
    Made<"control", "SystemRegisters", "registersOf", "setRegisters",
         "the offsets of its registers">,
    ListOf<"ports", "PlannedMover",
           "one for each stream, in the order of their registers">];
  let Constraints = [
    Requires<"control", "isIdentifier(kernel) && isIdentifier(control)",
             "expected an identifier of Verilog">,
    Requires<"ports", "ports.size() >= 2 && ports.size() <= 64",
             "is larger or smaller than anything that is built">,
    Requires<"ports", "hasPortsInOrder()",
             "expected a bank for each unit, and ports in the order of their "
             "registers">,
    Requires<"control", "elements == addressOffset(int64_t(ports.size()))",
             "expected the elements' register after the addresses">];
  let ExtraDeclarations = [{
    std::string control = "s_axi_control"; ///< the port of its registers
    int64_t elements = 0; ///< offset of the number of elements, 32 bits
    /// Groups of a unit after whose first half the distances settle: later where
    /// several ports share a bank.
    int64_t settledGroups() const;
    /// Whether port k is "m_axi_<k>", has the k-th address register, and a bank
    /// for each unit.
    bool hasPortsInOrder() const;
  }];
}

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

def PlannedTensor : Struct<"PlannedKernel", "Tensor of a kernel",
    [{A tensor in a stream, a word for each element, row-major. Words hold the
    pattern of the format, sign- or zero-extended.}]> {
  let Forms = ["value"];
  let Fields = [
    Text<"name", "its name in the kernel">,
    Ints<"shape", "its shape">,
    Spelled<"numeric::Format", "format", "the format of an element",
            "format.str()", "formatOf", OneOf<[], "expected a number format">,
            preset = "numeric::Format::binary64()">,
    Derived<"format_bits", "int", "format.width()", "bits of the format">,
    Derived<"words", "int", "words()", "words of the tensor">];
  let Constraints = [
    Requires<"shape", "isShape(shape)",
             "expected positive sizes, at most 2^40">];
  let ExtraDeclarations = "int64_t words() const;";
}

def PlannedStep : Struct<"PlannedKernel", "Step",
    [{An operation of an iteration on its unit, from a cycle on; 0 cycles: within
    that one, with others.}]> {
  let Forms = ["value"];
  let Fields = [
    Text<"name", "`read A`, `mul`">,
    Text<"unit", "`memory port`, `multiplier`">,
    Int<"cycle", "the first, of the iteration">,
    Int<"cycles", "how many it takes">,
    Int<"copies", "operations side by side", preset = "1">];
}

def PlannedNest : Struct<"PlannedKernel", "Nest",
    [{A loop nest: an iteration starts every `interval_cycles`, and its result is
    written `depth_cycles` later.}]> {
  let Forms = ["value"];
  let Fields = [
    Text<"name", "the variable, or its place in the kernel's file">,
    Text<"place", "the place in the kernel's file, `helmholtz.cfd:13:5`">,
    Ints<"loops", "iterations of each loop, outermost first">,
    Int<"iterations", "iterations in all">,
    Int<"interval", "cycles from an iteration to the next", preset = "1",
        key = "interval_cycles">,
    Int<"depth", "cycles of an iteration", key = "depth_cycles">,
    Int<"cycles", "cycles of the nest">,
    ListOf<"operations", "PlannedStep", "the schedule of an iteration",
           preset = "{}">];
}

def PlannedStream : Struct<"PlannedKernel", "Stream of a kernel",
    [{A stream of the unit: these tensors one after the other, each from a beat of
    its own on. A beat has so many words of a tensor, the first one in its low
    bits; a tensor's last beat is filled up with zeros.}]> {
  let Forms = ["value"];
  let Fields = [
    Text<"port", "the port, `s_axis_0`">,
    Texts<"tensors", "the names of its tensors">,
    Flag<"isOnce", "whether they stay: they are read once, after reset",
         key = "once">,
    Int<"words", "words of a tensor in a beat",
        [Range<1, kMostBeatWords.Value, "expected 1 to 4096 words">],
        preset = "1">];
  let ExtraDeclarations = "int64_t beatsOf(const PlannedTensor &tensor) const;";
}

def PlannedStage : Struct<"PlannedKernel", "Stage",
    "Nests, or the reading or writing of tensors, that take turns."> {
  let Forms = ["value"];
  let Fields = [
    Texts<"parts", "`read S`, `t`, `write v`">,
    Ints<"partCycles", "cycles of each part">,
    Int<"cycles", "cycles of all">,
    Flag<"isOnce", "whether it runs once, after reset", key = "once">];
}

def PlannedShare : Struct<"PlannedKernel", "Share of a memory",
    [{A tensor in a memory, from the part of its stage that writes it first to the
    last one that reads it.}]> {
  let Forms = ["value"];
  let Fields = [
    Text<"tensor", "the tensor">,
    Int<"first", "the index of the first part">,
    Int<"last", "the index of the last part">];
}

def PlannedStore : Struct<"PlannedKernel", "Memory of a kernel",
    "An on-chip memory of a kernel's unit, which tensors share."> {
  let Forms = ["value"];
  let Fields = [
    Text<"name", "its name">,
    Text<"kind", "registers, LUT, block or ultra">,
    Int<"stage", "the index of the stage that writes it">,
    Int<"words", "words of a slot of a bank">,
    Int<"width", "bits of a word">,
    Int<"slots", "elements at a time", preset = "1">,
    Int<"banks", "banks, which are accessed at the same time", preset = "1">,
    Int<"copies", "copies, which are read at the same time", preset = "1">,
    ListOf<"tensors", "PlannedShare", "what it has when">];
}

def PlannedKernel : Struct<"PlannedKernel", "Kernel",
    [{A serial unit reads, computes and writes one element after the other; the
    stages of a dataflow unit work on elements that follow each other.}]> {
  let Forms = ["value"];
  let Fields = [
    Text<"name", "the kernel's name", [Identifier]>,
    Of<"choice", "UnitChoice", "what was decided; all else follows from it">,
    Flag<"isDataflow", "whether stages work at the same time",
         key = "dataflow">,
    Int<"lanes", [{elements side by side: a beat has a word of each, but for what
        stays}], preset = "1">,
    Int<"readCycles", "cycles in which the inputs are read">,
    Int<"computeCycles", "cycles in which it computes">,
    Int<"writeCycles", "cycles in which the outputs are written">,
    ListOf<"nests", "PlannedNest", "its loop nests">,
    ListOf<"inputs", "PlannedTensor", "the kernel's inputs">,
    ListOf<"outputs", "PlannedTensor", "the kernel's outputs">,
    ListOf<"streams", "PlannedStream", "those of both directions">,
    ListOf<"stages", "PlannedStage", "what takes turns, in order">,
    ListOf<"memories", "PlannedStore", "its on-chip memories">,
    MaybeOf<"system", "PlannedSystem", [{what lies between it, off-chip memory and
        a host; without it streams are the border}]>];
  let ExtraDeclarations = [{
    /// Elements in one interval.
    int64_t elementsAtOnce() const {
      return lanes * (system ? system->units : 1);
    }
  }];
}

#endif // RHIZOME_PACKAGE_KERNEL_TD
