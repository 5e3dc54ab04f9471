// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The result of exploration, as operations of the `flow` dialect: which
// offer builds each operation, and which devices hold it. The phase `build`
// needs nothing else.
#ifndef RHIZOME_DIALECT_FLOW_PLAN_TD
#define RHIZOME_DIALECT_FLOW_PLAN_TD

include "mlir/IR/EnumAttr.td"
include "rhizome/Dialect/Flow/FlowBase.td"

def Flow_BottleneckKind : I32EnumAttr<"BottleneckKind", "what limits a rate", [
    I32EnumAttrCase<"Operation", 0, "operation">,
    I32EnumAttrCase<"Border", 1, "border">,
    I32EnumAttrCase<"Link", 2, "link">,
    I32EnumAttrCase<"HostLink", 3, "host_link">,
    I32EnumAttrCase<"Memory", 4, "memory">,
    I32EnumAttrCase<"State", 5, "state">]> {
  let cppNamespace = "::rhizome::flow";
}

def Flow_PlanOp : Flow_Op<"plan", [SingleBlock, NoTerminator,
                                   HasParent<"::mlir::ModuleOp">]> {
  let summary = "what exploration decided for a module's network";
  let description = [{
    `goal` is the goal that the plan was made for. `seconds` is the time a
    frame takes, `solved_seconds` what the solver aimed at, `latency` the
    time of one request, `bound` the least time that any plan takes.
    `bottleneck` and `bottleneck_name` give what limits the rate, `no_faster` is
    the sentence for people on what prevents a better one.
    `luts_of_a_block` is the price at which ROMs were placed. The body holds the
    splits and repeated blocks, one node for each run of operations in the order along the devices,
    and the alternatives that were not taken.

    - (C1) the body holds splits, repeats, nodes and alternatives, one node at least.
    - (C2) no place belongs to two nodes.
    - (C3) the choices' positions are all numbers from 0 on, each once.
    - (C4) times are positive.

    ```mlir
    module {
    flow.plan "max-throughput" bottleneck operation "conv" attributes {bound = 1.0e-5 : f64, exact, fits, latency = 2.0e-5 : f64, luts_of_a_block = 90.0 : f64, meets_goal, seconds = 1.0e-5 : f64, solved_seconds = 1.0e-5 : f64} {
      flow.split "conv" "conv2d" 0 in 2
      flow.node at [0] attributes {stream_bits = 64 : i64, traffic = array<f64: 0.0>} {
        flow.choice "conv.0" "conv2d" 0 takes "stream" "stream/matvec?pe=1" attributes {busy_cycles = 100 : i64, position = 0 : i64, resources = array<f64: 12.0>, summary = "1 lane", unit = 0 : i64}
      }
      flow.alternative "1 device" attributes {nodes = 1 : i64, per_second = 0.0 : f64, why = "does not fit"}
    }
    }
    ```
  }];
  let arguments = (ins StrAttr:$goal, Flow_BottleneckKind:$bottleneck,
                       StrAttr:$bottleneck_name, F64Attr:$seconds,
                       F64Attr:$solved_seconds, F64Attr:$latency,
                       F64Attr:$bound, F64Attr:$luts_of_a_block,
                       UnitAttr:$exact, UnitAttr:$fits, UnitAttr:$meets_goal,
                       UnitAttr:$avoids_dsp, OptionalAttr<StrAttr>:$no_faster);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$goal `bottleneck` $bottleneck $bottleneck_name attr-dict-with-keyword $body";
  let hasRegionVerifier = 1;
}

def Flow_SplitOp : Flow_Op<"split", [HasParent<"PlanOp">]> {
  let summary = "an operation whose output channels are split";
  let description = [{
    The `nth` operation `op` of the model's node `node`.

    - (C1) there are two parts or more, and `nth` is not negative.

    ```mlir
    module {
    flow.plan "max-throughput" bottleneck border "" attributes {bound = 1.0e-5 : f64, latency = 2.0e-5 : f64, luts_of_a_block = 90.0 : f64, seconds = 1.0e-5 : f64, solved_seconds = 1.0e-5 : f64} {
      flow.split "conv" "conv2d" 0 in 2
      flow.node at [0] attributes {stream_bits = 64 : i64, traffic = array<f64>} {
        flow.choice "conv.0" "conv2d" 0 takes "stream" "stream/matvec?pe=1" attributes {busy_cycles = 100 : i64, position = 0 : i64, resources = array<f64>, summary = "", unit = 0 : i64}
      }
    }
    }
    ```
  }];
  let arguments = (ins StrAttr:$node, StrAttr:$op, I64Attr:$nth, I64Attr:$parts);
  let assemblyFormat = "$node $op custom<Count>($nth) `in` custom<Count>($parts) attr-dict";
  let hasVerifier = 1;
}

def Flow_RepeatOp : Flow_Op<"repeat", [HasParent<"PlanOp">]> {
  let summary = "a chain of equal blocks that is one body";
  let description = [{
    The first block begins with the `nth` operation `op` of the model's node
    `node` and has `length` operations; a frame passes it `trips` times.

    - (C1) there are two trips or more, an operation or more, and `nth` is not
      negative.

    ```mlir
    module {
    flow.plan "min-resources" bottleneck border "" attributes {bound = 1.0e-5 : f64, latency = 2.0e-5 : f64, luts_of_a_block = 90.0 : f64, seconds = 1.0e-5 : f64, solved_seconds = 1.0e-5 : f64} {
      flow.repeat "conv" "conv2d" 0 length 2 trips 6
      flow.node at [0] attributes {stream_bits = 64 : i64, traffic = array<f64>} {
        flow.choice "conv" "conv2d" 0 takes "stream" "stream/matvec?pe=1" attributes {busy_cycles = 100 : i64, position = 0 : i64, resources = array<f64>, summary = "", unit = 0 : i64}
      }
    }
    }
    ```
  }];
  let arguments = (ins StrAttr:$node, StrAttr:$op, I64Attr:$nth, I64Attr:$length,
                       I64Attr:$trips);
  let assemblyFormat = "$node $op custom<Count>($nth) `length` custom<Count>($length) `trips` custom<Count>($trips) attr-dict";
  let hasVerifier = 1;
}

class Flow_Border<string mnemonic> : Flow_Op<mnemonic> {
  let arguments = (ins AnyRankedTensor:$input, StrAttr:$body, I64Attr:$trips);
  let results = (outs AnyRankedTensor:$output);
  let assemblyFormat = "$input `body` $body `trips` custom<Count>($trips) attr-dict `:` functional-type($input, $output)";
  let hasVerifier = 1;
}
def Flow_EnterOp : Flow_Border<"enter"> {
  let summary = "the entry of a body that each frame passes several times";
  let description = [{
    Stands for a block of operations that a frame passes `trips` times, each time
    with other constants: between this operation and the `flow.leave` with the
    same `body`, values are those of each trip in turn. It gives a frame of
    `input`, then `trips` less one from the body's end.

    - (C1) there are two trips or more.
    - (C2) input and output have one shape, and elements of one width.

    ```mlir
    func.func @network(%x: tensor<1x4x!num.int<u8>>) -> tensor<1x4x!num.int<u8>> {
      %0 = flow.enter %x body "fc" trips 3 : (tensor<1x4x!num.int<u8>>) -> tensor<1x4x!num.int<u8>>
      %1 = flow.leave %0 body "fc" trips 3 : (tensor<1x4x!num.int<u8>>) -> tensor<1x4x!num.int<u8>>
      return %1 : tensor<1x4x!num.int<u8>>
    }
    ```
  }];
}
def Flow_LeaveOp : Flow_Border<"leave"> {
  let summary = "the end of a body that each frame passes several times";
  let description = [{
    Gives what comes from the last trip; see `flow.enter`.

    - (C1) there are two trips or more.
    - (C2) input and output have one shape, and elements of one width.

    ```mlir
    func.func @network(%x: tensor<1x4x!num.int<u8>>) -> tensor<1x4x!num.int<u8>> {
      %0 = flow.enter %x body "fc" trips 3 : (tensor<1x4x!num.int<u8>>) -> tensor<1x4x!num.int<u8>>
      %1 = flow.leave %0 body "fc" trips 3 : (tensor<1x4x!num.int<u8>>) -> tensor<1x4x!num.int<u8>>
      return %1 : tensor<1x4x!num.int<u8>>
    }
    ```
  }];
}

def Flow_NodeOp : Flow_Op<"node", [SingleBlock, NoTerminator,
                                   HasParent<"PlanOp">]> {
  let summary = "one device's part of a plan, or that of several equal ones";
  let description = [{
    `places` are the devices of the cluster that hold a copy each, in
    order; `stream_bits` is the width of the border, `traffic` what one copy
    transfers and takes by the solver's estimate, in the order of the resource
    vector. `moved` are the names of the model's nodes whose FIFOs lie in the
    device's memory. After `build` the node names its function and its design and has
    the design's predictions; after `lower` also the modules of its RTL.

    - (C1) there is a place, none is negative, and streams have bits.
    - (C2) the body holds choices and images, one choice at least.
    - (C3) function, design, timing, resources and bottleneck are there together
      or not at all.
    - (C4) `rtl` needs a design, `link` needs `rtl`.

    ```mlir
    module {
    flow.plan "max-throughput" bottleneck border "" attributes {bound = 1.0e-5 : f64, latency = 2.0e-5 : f64, luts_of_a_block = 90.0 : f64, seconds = 1.0e-5 : f64, solved_seconds = 1.0e-5 : f64} {
      flow.node at [0, 1] attributes {stream_bits = 64 : i64, traffic = array<f64>} {
        flow.choice "conv" "conv2d" 0 takes "stream" "stream/matvec?pe=1" attributes {busy_cycles = 100 : i64, position = 0 : i64, resources = array<f64>, summary = "", unit = 0 : i64}
        flow.image "weights.hex" of 2 words of 8 bits "0a\0Aff\0A"
      }
    }
    }
    ```
  }];
  let arguments = (ins DenseI64ArrayAttr:$places, I64Attr:$stream_bits,
                       DenseF64ArrayAttr:$traffic,
                       OptionalAttr<StrArrayAttr>:$moved,
                       OptionalAttr<FlatSymbolRefAttr>:$function,
                       OptionalAttr<FlatSymbolRefAttr>:$design,
                       OptionalAttr<F64Attr>:$interval_cycles,
                       OptionalAttr<I64Attr>:$latency_cycles,
                       OptionalAttr<DenseF64ArrayAttr>:$resources,
                       OptionalAttr<DenseF64ArrayAttr>:$endpoint,
                       OptionalAttr<DenseF64ArrayAttr>:$errors,
                       OptionalAttr<StrAttr>:$bottleneck,
                       OptionalAttr<FlatSymbolRefAttr>:$rtl,
                       OptionalAttr<FlatSymbolRefAttr>:$link);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "`at` $places attr-dict-with-keyword $body";
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def Flow_ChoiceOp : Flow_Op<"choice", [HasParent<"NodeOp">]> {
  let summary = "the offer taken for an operation";
  let description = [{
    The `nth` operation `op` of the model's node `node` takes the offer `key` of
    `generator`, alone or with the operations around it that have the same one.
    `position` is its place along the devices, `unit` which of several
    equal shared units it takes, `die` on which die of its device it lies.
    Choices of a node with the same `shared` take turns on one unit; -1 is a
    unit of its own. `summary` is for people.

    - (C1) numbers are not negative.
    - (C2) operation, generator and key are not empty; a node without a name is
      one of MLIR without locations.

    ```mlir
    module {
    flow.plan "max-throughput" bottleneck border "" attributes {bound = 1.0e-5 : f64, latency = 2.0e-5 : f64, luts_of_a_block = 90.0 : f64, seconds = 1.0e-5 : f64, solved_seconds = 1.0e-5 : f64} {
      flow.node at [0] attributes {stream_bits = 64 : i64, traffic = array<f64>} {
        flow.choice "conv" "conv2d" 0 takes "stream" "stream/matvec?pe=1" attributes {busy_cycles = 100 : i64, position = 0 : i64, resources = array<f64>, summary = "", unit = 0 : i64}
      }
    }
    }
    ```
  }];
  let arguments = (ins StrAttr:$node, StrAttr:$op, I64Attr:$nth,
                       StrAttr:$generator, StrAttr:$key, StrAttr:$summary,
                       I64Attr:$busy_cycles, DenseF64ArrayAttr:$resources,
                       I64Attr:$position, I64Attr:$unit,
                       DefaultValuedAttr<I64Attr, "0">:$die,
                       DefaultValuedAttr<I64Attr, "-1">:$shared);
  let assemblyFormat = "$node $op custom<Count>($nth) `takes` $generator $key attr-dict-with-keyword";
  let hasVerifier = 1;
}

def Flow_ImageOp : Flow_Op<"image", [HasParent<"NodeOp">]> {
  let summary = "the contents of one of a design's memories";
  let description = [{
    `depth` words of `width` bits, in hexadecimal digits, one per line.

    - (C1) width and depth are positive, and the digits are those of `depth`
      words.

    ```mlir
    module {
    flow.plan "max-throughput" bottleneck border "" attributes {bound = 1.0e-5 : f64, latency = 2.0e-5 : f64, luts_of_a_block = 90.0 : f64, seconds = 1.0e-5 : f64, solved_seconds = 1.0e-5 : f64} {
      flow.node at [0] attributes {stream_bits = 64 : i64, traffic = array<f64>} {
        flow.choice "conv" "conv2d" 0 takes "stream" "stream/matvec?pe=1" attributes {busy_cycles = 100 : i64, position = 0 : i64, resources = array<f64>, summary = "", unit = 0 : i64}
        flow.image "weights.hex" of 2 words of 8 bits "0a\0Aff\0A"
      }
    }
    }
    ```
  }];
  let arguments = (ins StrAttr:$name, I64Attr:$depth, I64Attr:$width,
                       StrAttr:$hex);
  let assemblyFormat = "$name `of` custom<Count>($depth) `words` `of` custom<Count>($width) `bits` $hex attr-dict";
  let hasVerifier = 1;
}

def Flow_AlternativeOp : Flow_Op<"alternative", [HasParent<"PlanOp">]> {
  let summary = "a rejected alternative";
  let description = [{
    For people: `what` and `why`, on `nodes` devices, at this rate.

    ```mlir
    module {
    flow.plan "max-throughput" bottleneck border "" attributes {bound = 1.0e-5 : f64, latency = 2.0e-5 : f64, luts_of_a_block = 90.0 : f64, seconds = 1.0e-5 : f64, solved_seconds = 1.0e-5 : f64} {
      flow.node at [0] attributes {stream_bits = 64 : i64, traffic = array<f64>} {
        flow.choice "conv" "conv2d" 0 takes "stream" "stream/matvec?pe=1" attributes {busy_cycles = 100 : i64, position = 0 : i64, resources = array<f64>, summary = "", unit = 0 : i64}
      }
      flow.alternative "1 device" attributes {nodes = 1 : i64, per_second = 0.0 : f64, why = "does not fit"}
    }
    }
    ```
  }];
  let arguments = (ins StrAttr:$what, StrAttr:$why, I64Attr:$nodes,
                       F64Attr:$per_second);
  let assemblyFormat = "$what attr-dict-with-keyword";
}

#endif
