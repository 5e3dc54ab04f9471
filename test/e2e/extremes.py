# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random ONNX graphs with extreme dimensions, attributes and constants: every
command ends with 0, 1 or 2 within 4 GB."""
import random

from framework import needed
from mutations import tried

SIZES = (0, 1, 1, 2, 3, 4, 7, 8, 16, 31, 64, 255, 256, 1 << 16, 1 << 20,
         (1 << 31) - 1, 1 << 31, 1 << 32, (1 << 62), (1 << 63) - 1, -1,
         -(1 << 63))


def size(chance, wild):
    return chance.choice(SIZES) if chance.random() < wild else chance.choice(
        (1, 2, 3, 4, 8))


def graph(onnx, chance):
    """A chain of operations, each with its attributes."""
    helper, types = onnx.helper, onnx.TensorProto
    wild = chance.choice((0.05, 0.15, 0.4))
    rank = chance.choice((1, 2, 3, 4, 4, 4, 5, 8))
    shape = [size(chance, wild) for _ in range(rank)]
    nodes, constants, last = [], [], "x"

    def constant(values, kind=types.INT64, dims=None):
        name = f"c{len(constants)}"
        constants.append(helper.make_tensor(
            name, kind, dims if dims is not None else [len(values)], values))
        return name

    def numbers(count):
        return [size(chance, wild) for _ in range(count)]

    def weights():
        dims = [chance.choice((0, 1, 2, 3, 4)) for _ in range(chance.choice((1, 2, 3, 4)))]
        count = 1
        for d in dims:
            count *= d
        return constant([chance.choice((0.0, 1.0, -2.5, 1e38)) for _ in range(count)],
                        types.FLOAT, dims)

    def add(op, inputs, **attributes):
        nonlocal last
        out = f"t{len(nodes)}"
        nodes.append(helper.make_node(op, inputs, [out], name=f"n{len(nodes)}",
                                      **attributes))
        last = out

    for _ in range(chance.choice((1, 1, 2, 3, 5))):
        op = chance.choice((
            "Relu", "Conv", "MaxPool", "AveragePool", "Reshape", "Transpose",
            "Tile", "Expand", "Pad", "Slice", "Concat", "Gather", "MatMul",
            "Gemm", "Resize", "ReduceSum", "Flatten", "Unsqueeze", "Squeeze",
            "ConstantOfShape", "Range", "OneHot", "Split", "DepthToSpace",
            "SpaceToDepth", "ConvTranspose", "TopK", "Softmax", "Einsum",
            "Add", "Upsample", "CumSum", "Trilu", "EyeLike", "GatherND"))
        spatial = {"kernel_shape": numbers(2), "strides": numbers(2),
                   "pads": numbers(4), "dilations": numbers(2)}
        some = {k: v for k, v in spatial.items() if chance.random() < 0.6}
        if op in ("Conv", "ConvTranspose"):
            add(op, [last, weights()], group=size(chance, wild), **some)
        elif op in ("MaxPool", "AveragePool"):
            some.setdefault("kernel_shape", numbers(2))
            if op == "AveragePool":
                some.pop("dilations", None)
            add(op, [last], **some)
        elif op in ("Reshape", "Expand", "Tile"):
            add(op, [last, constant(numbers(chance.choice((1, 2, rank))))])
        elif op == "Pad":
            add(op, [last, constant(numbers(2 * rank))])
        elif op == "Slice":
            add(op, [last, constant(numbers(1)), constant(numbers(1)),
                     constant([chance.randrange(-2, rank + 1)]), constant(numbers(1))])
        elif op == "Transpose":
            perm = list(range(rank))
            chance.shuffle(perm)
            add(op, [last], perm=perm)
        elif op in ("MatMul", "Gemm", "Add"):
            add(op, [last, chance.choice((weights(), last))])
        elif op in ("Gather", "GatherND"):
            add(op, [last, constant(numbers(chance.choice((1, 3))))])
        elif op == "Resize":
            add(op, [last, "", "", constant(numbers(rank))])
        elif op == "Upsample":
            add(op, [last, constant([float(size(chance, wild)) for _ in range(rank)],
                                    types.FLOAT)])
        elif op in ("ReduceSum", "Unsqueeze", "Squeeze"):
            add(op, [last, constant(numbers(1))])
        elif op == "ConstantOfShape":
            add(op, [constant(numbers(chance.choice((1, 2, 4))))])
        elif op == "Range":
            add(op, [constant(numbers(1), dims=[]) for _ in range(3)])
        elif op == "OneHot":
            add(op, [constant(numbers(2)), constant(numbers(1), dims=[]),
                     constant([0.0, 1.0], types.FLOAT)])
        elif op in ("DepthToSpace", "SpaceToDepth"):
            add(op, [last], blocksize=size(chance, wild))
        elif op in ("Flatten", "Softmax"):
            add(op, [last], axis=chance.randrange(-9, 9))
        elif op == "Split":
            add(op, [last], axis=chance.randrange(-2, 4), num_outputs=1)
        elif op == "TopK":
            add(op, [last, constant(numbers(1))])
        elif op == "CumSum":
            add(op, [last, constant(numbers(1), dims=[])])
        elif op == "Einsum":
            add(op, [last, last], equation=chance.choice(("ij,jk->ik", "i,i->", "...a,...b->ab")))
        elif op == "Concat":
            add(op, [last] * chance.choice((1, 2, 50)), axis=chance.randrange(-3, 4))
        else:
            add(op, [last])
    kinds = {"x": types.FLOAT}
    made = helper.make_graph(
        nodes, "g", [helper.make_tensor_value_info("x", kinds["x"], shape)],
        [helper.make_tensor_value_info(last, types.FLOAT, None)], constants)
    return helper.make_model(made, opset_imports=[helper.make_opsetid(
        "", 9 if any(n.op_type == "Upsample" for n in nodes) else 18)])


def extremes(suite, count, seed=1):
    onnx = needed("onnx")

    def make(i, chance):
        path = suite.work / f"g{i}.onnx"
        try:
            model = graph(onnx, chance)
        except (ValueError, TypeError, OverflowError):
            model = graph(onnx, random.Random(i))
        path.write_bytes(model.SerializeToString())
        return {0: ("coverage", path), 1: ("explore", path),
                2: ("compile", path, "-o", suite.work / f"g{i}.rhz")}[i % 3]
    tried(suite, "graphs", int(count), int(seed), make)
