# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""DOSA's own predictions for a network, recomputed from the structure of its
ONNX file: operations and bytes (the paper's Table III), coverage by generator
(Table IV), the rate of the slowest operation (Table V). The formulas are those
of DOSA's cost model: cycles of its VHDL blocks in closed form, and of its HLS
blocks in proportion to two rows of measurements. Only the parts needed for those
tables are here, without its choice of nodes."""
import dataclasses

CYCLE_S = 6.4e-9
DENSE_CYCLES_PER_BYTE = 19806 / 636    # a measured dense block of hls4ml
CONV_CYCLES_PER_BYTE = 54929 / 1824    # its fallback for convolutions
HLS_CONV_PARAMS = 400                  # hls4ml does not offer more than these
TIPS_PARAMS, TIPS_INPUTS = 32768, 2048  # of its operand memories, int8

# Published: nodes for 5,000/s, and the measurements of its demonstrator.
NODES = {"CERN": 1, "MPCNN": 15, "TFC": 1, "LeNet-5": 18, "PTTDNN": 9}
MEASURED_PER_S = {"FPGA": 3853.25, "CPU": 1 / 13.63e-3, "GPU": 1 / 4.72e-3}
MEASURED_W = {"FPGA": 77.31, "CPU": 1.686 / 13.63e-3, "GPU": .611 / 4.72e-3}


@dataclasses.dataclass
class Operation:
    """One operation as TVM's Relay counts it, one byte per element."""
    kind: str         # conv bias pool relu flatten dense add
    inputs: int       # bytes in
    params: int = 0
    channels: int = 0
    width: int = 0
    kernel: int = 0


def operations(path):
    """Convolutions split into conv and bias, Gemm into dense and add."""
    import numpy
    import onnx
    from onnx import shape_inference
    model = shape_inference.infer_shapes(onnx.load(path))
    graph = model.graph
    initial = {t.name: list(t.dims) for t in graph.initializer}
    shapes = dict(initial)
    for value in [*graph.input, *graph.value_info, *graph.output]:
        shapes[value.name] = [d.dim_value or 1
                              for d in value.type.tensor_type.shape.dim]
    size = lambda name: int(numpy.prod(shapes[name]))
    found = []
    for node in graph.node:
        inputs = size(node.input[0])
        attributes = {a.name: a for a in node.attribute}
        if node.op_type == "Conv":
            shape, out = shapes[node.input[0]], size(node.output[0])
            found.append(Operation("conv", inputs, size(node.input[1]),
                                   shape[1], shape[3],
                                   shapes[node.input[1]][-1]))
            if len(node.input) > 2:
                found.append(Operation("bias", out, size(node.input[2])))
        elif node.op_type in ("MaxPool", "AveragePool"):
            shape = shapes[node.input[0]]
            found.append(Operation("pool", inputs, 0, shape[1], shape[3],
                                   attributes["kernel_shape"].ints[0]))
        elif node.op_type in ("Gemm", "MatMul"):
            found.append(Operation("dense", inputs, size(node.input[1])))
            if len(node.input) > 2:
                found.append(Operation("add", size(node.output[0]),
                                       size(node.input[2])))
        elif node.op_type in ("Relu", "Tanh"):
            found.append(Operation("relu", inputs))
        elif node.op_type in ("Flatten", "Reshape"):
            found.append(Operation("flatten", inputs))
        elif node.op_type not in ("Constant", "Identity"):
            raise ValueError(f"{path}: '{node.op_type}' is none of DOSA's")
    return found


def parameters(ops):
    return sum(o.params for o in ops)


def covers(generator, o):
    if generator == "haddoc":
        return o.kind in ("conv", "bias", "pool", "relu", "flatten")
    if generator == "hls4ml":
        return o.kind != "conv" or o.params <= HLS_CONV_PARAMS
    return (o.kind in ("bias", "relu", "flatten", "dense", "add") and
            o.params <= TIPS_PARAMS and
            (o.kind == "flatten" or o.inputs <= TIPS_INPUTS))


def coverage(ops):
    return {g: sum(covers(g, o) for o in ops)
            for g in ("haddoc", "hls4ml", "TIPS")}


def cycles(o):
    """Cycles of the block that DOSA uses for the operation."""
    if o.kind == "dense":
        return o.inputs * DENSE_CYCLES_PER_BYTE
    if o.kind == "conv":
        if o.params <= HLS_CONV_PARAMS:
            return o.inputs * CONV_CYCLES_PER_BYTE
        return o.inputs + (o.kernel - 1) * o.width + o.kernel + 7
    if o.kind == "pool":
        return o.inputs + o.width + o.kernel + 1
    return 1


def rate(ops):
    """Inferences per second: a pipeline's slowest operation."""
    return 1 / (max(map(cycles, ops)) * CYCLE_S)
