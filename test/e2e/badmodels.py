# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Model files that must be refused: a dict of name to (bytes, what the message
must name). Each breaks one thing in an otherwise valid model."""
import random

import numpy as np
from onnx import TensorProto, helper, numpy_helper

F = TensorProto.FLOAT
f32 = np.float32


def info(name, shape, kind=F):
    return helper.make_tensor_value_info(name, kind, shape)


def init(name, values, dtype=f32):
    return numpy_helper.from_array(np.array(values, dtype), name)


def model(nodes, inits=(), inputs=None, outputs=None, opset=13, ir=8,
          domains=("qonnx.custom_op.general",)):
    graph = helper.make_graph(
        nodes, "case", inputs or [info("x", [1, 2, 6, 6])],
        outputs or [helper.make_empty_tensor_value_info("y")], list(inits))
    sets = [helper.make_opsetid("", opset)]
    sets += [helper.make_opsetid(d, 1) for d in domains]
    return helper.make_model(graph, opset_imports=sets, ir_version=ir)


def node(kind, inputs, outputs, **attributes):
    domain = ("qonnx.custom_op.general"
              if kind in ("Quant", "BipolarQuant", "Trunc") else "")
    return helper.make_node(kind, inputs, outputs, name=f"the_{kind}",
                            domain=domain, **attributes)


def qdq(scale=0.1, zero=0, scale_of_weights=0.05, zero_type=np.int8,
        zero_of_weights=None, second=0.2, extra=None, conv=None,
        weights=None, dtype=f32):
    """x, quantize, Conv with quantized weights, quantize, y."""
    weights = (np.ones((3, 2, 3, 3), np.int8) if weights is None else weights)
    inits = [init("s", scale, dtype), init("z", zero, zero_type),
             init("sw", scale_of_weights),
             numpy_helper.from_array(weights, "w"),
             init("zw", 0 if zero_of_weights is None else zero_of_weights,
                  np.int8), init("s2", second)]
    nodes = [node("QuantizeLinear", ["x", "s", "z"], ["xq"]),
             node("DequantizeLinear", ["xq", "s", "z"], ["xd"]),
             node("DequantizeLinear", ["w", "sw", "zw"], ["wd"]),
             node("Conv", ["xd", "wd"], ["c"], **(conv or {})),
             *(extra or []),
             node("QuantizeLinear", ["e" if extra else "c", "s2", "zw"],
                  ["yq"]),
             node("DequantizeLinear", ["yq", "s2", "zw"], ["y"])]
    return model(nodes, inits)


def quant(scale=0.5, zero=0, bits=4, **attributes):
    attributes = {"signed": 1, "narrow": 0, **attributes}
    return model([node("Quant", ["x", "s", "z", "b"], ["y"], **attributes)],
                 [init("s", scale), init("z", zero), init("b", bits)])


def sized(dims, raw=b"\0" * 16, kind=F):
    """A Conv whose weights have these dimensions."""
    made = qdq()
    weights = next(i for i in made.graph.initializer if i.name == "w")
    weights.ClearField("dims")
    weights.dims.extend(dims)
    weights.raw_data = raw
    weights.data_type = kind
    return made


def with_input(shape):
    made = qdq()
    made.graph.input[0].CopyFrom(info("x", shape))
    return made


def external(location):
    made = qdq()
    weights = next(i for i in made.graph.initializer if i.name == "w")
    weights.ClearField("raw_data")
    weights.data_location = TensorProto.EXTERNAL
    entry = weights.external_data.add()
    entry.key, entry.value = "location", location
    return made


def beside(kind, shapes, opset=13, **attributes):
    """A host node; its inputs are x and zeros of the other shapes."""
    names = [f"i{k}" if shape else "" for k, shape in enumerate(shapes[1:])]
    zeros = [init(name, np.zeros(shape))
             for name, shape in zip(names, shapes[1:]) if name]
    return model([node(kind, ["x", *names], ["y"], **attributes)], zeros,
                 [info("x", shapes[0])], opset=opset)


def unsupported():
    """Three nodes that are refused by name, among good ones."""
    extra = [node("RandomNormalLike", ["c"], ["e0"]),
             node("Unique", ["e0"], ["e1"]), node("NonZero", ["e1"], ["e"])]
    return qdq(extra=extra)


def changed(change):
    made = qdq()
    change(made.graph)
    return made


def cyclic(graph):
    """The Conv reads what the last node computes."""
    graph.node[3].input[0] = "y"


def duplicate(graph):
    graph.node[4].output[0] = graph.node[3].output[0]


def cases(good):
    """good: the bytes of a model that compiles."""
    draw = random.Random(3)
    made = {
        "empty file": b"",
        "one byte": b"\x08",
        "random bytes": draw.randbytes(5000),
        "text": b"This is no model.\n" * 40,
        "zeros": bytes(4096),
        "a pointer of Git LFS": b"version https://git-lfs.github.com/spec/v1\n"
        b"oid sha256:4d7a\nsize 12345\n",
        "length of 2^63": b"\x3a" + b"\xff" * 8 + b"\x7f" + b"abc",
        "a name that is not UTF-8": qdq().SerializeToString().replace(
            b"the_Conv", b"the_Con\xff"),
        "no graph": helper.make_model(
            helper.make_graph([], "g", [], []),
            opset_imports=[helper.make_opsetid("", 13)]),
        "cyclic": changed(cyclic),
        "reads itself": changed(
            lambda g: g.node[3].input.__setitem__(0, "c")),
        "two nodes write one tensor": changed(duplicate),
        "input from nowhere": changed(
            lambda g: g.node[3].input.__setitem__(0, "nowhere")),
        "output from nowhere": changed(
            lambda g: setattr(g.output[0], "name", "nowhere")),
        "no outputs": changed(lambda g: g.ClearField("output")),
        "no inputs": changed(lambda g: g.ClearField("input")),
        "node without inputs": changed(
            lambda g: g.node[3].ClearField("input")),
        "node without outputs": changed(
            lambda g: g.node[3].ClearField("output")),
        "scale NaN": qdq(scale=np.nan),
        "scale zero": qdq(scale=0),
        "scale negative": qdq(scale=-0.1),
        "scale infinite": qdq(scale=np.inf),
        "weight scale NaN": qdq(scale_of_weights=np.nan),
        "weight scale zero": qdq(scale_of_weights=0),
        "second scale zero": qdq(second=0),
        "one weight scale of three NaN": qdq(
            scale_of_weights=[0.1, np.nan, 0.1], zero_of_weights=[0, 0, 0]),
        "weight scales of another length": qdq(
            scale_of_weights=[0.1, 0.2], zero_of_weights=[0, 0]),
        "zero point of a float type": qdq(zero_type=f32),
        "zero point of int64": qdq(zero_type=np.int64),
        "scale of int64": qdq(scale=1, dtype=np.int64),
        "scale of a matrix": qdq(scale=[[0.1, 0.2], [0.3, 0.4]]),
        "weights of strings": sized([3, 2, 3, 3], kind=TensorProto.STRING),
        "weights of an unknown type": sized([3, 2, 3, 3], kind=99),
        "weights of double": sized([3, 2, 3, 3], bytes(432),
                                   TensorProto.DOUBLE),
        "too few weight bytes": sized([3, 2, 3, 3], bytes(53),
                                      TensorProto.INT8),
        "too many weight bytes": sized([3, 2, 3, 3], bytes(55),
                                       TensorProto.INT8),
        "weights of 2^31 x 2^31": sized([2 ** 31, 2 ** 31, 3, 3]),
        "weights whose size overflows": sized([2 ** 32, 2 ** 32, 1, 1],
                                              b"", TensorProto.INT8),
        "negative weight dimension": sized([-3, 2, 3, 3]),
        "zero weight dimension": sized([0, 2, 3, 3], b"", TensorProto.INT8),
        "input of 2^40 channels": with_input([1, 2 ** 40, 6, 6]),
        "input of 2^30 squared": with_input([1, 2, 2 ** 30, 2 ** 30]),
        "input whose size overflows": with_input([2 ** 32, 2, 2 ** 32, 4]),
        "input of 2^22 columns of 2^22 rows": with_input(
            [1, 2, 2 ** 22, 2 ** 22]),
        "input with a zero dimension": with_input([1, 2, 0, 6]),
        "input with a negative dimension": with_input([1, 2, -6, 6]),
        "input of rank 3": with_input([1, 2, 6]),
        "input of rank 9": with_input([1] * 7 + [2, 6]),
        "input smaller than the kernel": with_input([1, 2, 2, 2]),
        "other channels than the weights": with_input([1, 5, 6, 6]),
        "group 0": qdq(conv={"group": 0}),
        "group 7": qdq(conv={"group": 7}),
        "group -1": qdq(conv={"group": -1}),
        "stride 0": qdq(conv={"strides": [0, 1]}),
        "stride -1": qdq(conv={"strides": [-1, 1]}),
        "one stride": qdq(conv={"strides": [1]}),
        "dilation 0": qdq(conv={"dilations": [0, 0]}),
        "dilation 2^40": qdq(conv={"dilations": [2 ** 40, 1]}),
        "pads 2^62": qdq(conv={"pads": [2 ** 62] * 4}),
        "pads 2^31": qdq(conv={"pads": [2 ** 31] * 4}),
        "three pads": qdq(conv={"pads": [1, 1, 1]}),
        "negative pads beyond the image": qdq(conv={"pads": [-9, 0, 0, 0]}),
        "kernel_shape other than the weights'": qdq(
            conv={"kernel_shape": [5, 5]}),
        "an auto_pad that does not exist": qdq(conv={"auto_pad": "ALWAYS"}),
        "a float where an integer belongs": qdq(conv={"group": 1.5}),
        "pool with a kernel of 0": qdq(extra=[
            node("MaxPool", ["c"], ["e"], kernel_shape=[0, 2])]),
        "pool without a kernel": qdq(extra=[node("MaxPool", ["c"], ["e"])]),
        "pool with a kernel of 2^40": qdq(extra=[
            node("MaxPool", ["c"], ["e"], kernel_shape=[2 ** 40, 2])]),
        "Add of shapes that do not match": qdq(extra=[
            node("Flatten", ["c"], ["e0"]), node("Add", ["c", "e0"], ["e"])]),
        "Concat along axis 9": qdq(extra=[
            node("Concat", ["c", "c"], ["e"], axis=9)]),
        "Transpose with a repeated axis": qdq(extra=[
            node("Transpose", ["c"], ["e"], perm=[0, 1, 1, 2])]),
        "Transpose with an axis of 99": qdq(extra=[
            node("Transpose", ["c"], ["e"], perm=[0, 1, 2, 99])]),
        "Conv with a bias of another size": beside(
            "Conv", [(1, 2, 6, 6), (3, 2, 3, 3), (4,)]),
        "ConvTranspose with a bias of another size": beside(
            "ConvTranspose", [(1, 2, 6, 6), (2, 3, 3, 3), (4,)]),
        "LSTM with a bias of another size": beside(
            "LSTM", [(2, 1, 3), (1, 16, 3), (1, 16, 4), (1, 31)],
            hidden_size=4),
        "LSTM with an initial state of another size": beside(
            "LSTM", [(2, 1, 3), (1, 16, 3), (1, 16, 4), None, None,
                     (1, 2, 4)], hidden_size=4),
        "GRU of a matrix, batch first": beside(
            "GRU", [(2, 3), (1, 12, 3), (1, 12, 4)], opset=14, hidden_size=4,
            layout=1),
        "Attention with values of other heads": beside(
            "Attention", [(1, 4, 3, 2), (1, 2, 5, 2), (1, 3, 5, 2)], opset=23),
        "DepthToSpace with a blocksize of 2^32": beside(
            "DepthToSpace", [(1, 4, 6, 6)], blocksize=2 ** 32),
        "Quant of 0 bits": quant(bits=0),
        "Quant of -3 bits": quant(bits=-3),
        "Quant of 2.5 bits": quant(bits=2.5),
        "Quant of 17 bits": quant(bits=17),
        "Quant of 1e9 bits": quant(bits=1e9),
        "Quant of NaN bits": quant(bits=np.nan),
        "Quant with scale 0": quant(scale=0),
        "Quant with scale NaN": quant(scale=np.nan),
        "Quant with scale -1": quant(scale=-1),
        "Quant with zero point NaN": quant(zero=np.nan),
        "Quant with zero point 1e30": quant(zero=1e30),
        "Quant with a zero point of 0.5": quant(zero=0.5),
        "Quant that rounds SIDEWAYS": quant(rounding_mode="SIDEWAYS"),
        "external data that is missing": external("weights.bin"),
        "external data outside": external("../../../../../../etc/passwd"),
        "opset 99": model([node("Relu", ["x"], ["y"])], opset=99),
        "IR version 99": model([node("Relu", ["x"], ["y"])], ir=99),
        "unsupported": unsupported(),
        "an operator that does not exist": qdq(extra=[
            node("Frobnicate", ["c"], ["e"])]),
        "a float model without a number format": model(
            [node("Conv", ["x", "w"], ["y"])],
            [init("w", np.full((3, 2, 3, 3), 0.1))]),
    }
    made = {label: data if isinstance(data, bytes)
            else data.SerializeToString() for label, data in made.items()}
    for share in (0.05, 0.3, 0.7, 0.95):
        made[f"the first {share:.0%}"] = good[:int(len(good) * share)]
    made["all but a byte"] = good[:-1]
    return made


# Labels whose message must name these nodes.
NAMES = {"unsupported": ["the_RandomNormalLike", "the_Unique", "the_NonZero"]}


def unsorted():
    """Correct except for the order of its nodes."""
    made = qdq()
    nodes = list(made.graph.node)[::-1]
    made.graph.ClearField("node")
    made.graph.node.extend(nodes)
    return made.SerializeToString()
