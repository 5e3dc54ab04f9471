# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Model files as written by others: the op-level cases of AMDMIGraphX, and the
ways of shipping a network (functions, external data, symbolic shapes, opsets,
layouts), against ONNX Runtime."""
import re

import networks
from framework import needed

FOLDER = networks.MODELS / "ROCm+AMDMIGraphX/test/onnx"
# The authors use this name for cases of bad input.
BAD = re.compile(r"(error|mismatch|bad_\w+|invalid_\w+|too_few_\w+|zero_\w+_size)"
                 r"(_test\d*)?$")
# Cases whose name does not give the verdict: (accepted, why).
EXCEPTIONS = {
    # [?, 6, 16] times [?, 16, 8]: legal, and ONNX Runtime computes it. Its
    # authors refuse a product over a range of batch sizes; ours is one number.
    "matmulinteger_dyn_error": (True, ""),
    "int4_const_identity_block_sz_2_qdq_test":
        (False, "its scale has the shape [2, 2], which does not fit [2, 4] "
                "along axis 1 without a block_size"),
    "quantizelinear_mxfp4_odd_test": (False, "float4e2m1"),
    # uint8 without a zero point, but declared otherwise; ONNX Runtime refuses
    # it, too.
    "quantizelinear_int32_test": (False, "declares its output 'out' as int8"),
    # int8 zero points, but its output is declared otherwise; likewise.
    "qlinearconcat_3d_test": (False, "is declared as uint8"),
}
# Texts of refusals, if the reason is not the number of inputs.
SAYS = {
    "matmulinteger_int8_uint8_one_zp_error_test":
        "inputs 0 and 2 have the types uint8 and int8",
    "matmulintegertofloat_bad_bias_test":
        "inputs 2 and 6 have the types float and uint8",
    "matmulintegertofloat_bad_bias_test2":
        "inputs 2 and 6 have the types float and float16",
    "matmulintegertofloat_bad_bias_test3":
        "inputs 2 and 3 have the types float16 and float",
}


# The position of an operation's scales.
SCALES = {"QuantizeLinear": [1], "DequantizeLinear": [1],
          "MatMulIntegerToFloat": [2, 3], "QLinearConv": [1, 4, 6],
          "QLinearMatMul": [1, 4, 6], "QLinearAdd": [1, 4, 6],
          "QLinearMul": [1, 4, 6], "QLinearAveragePool": [1, 3],
          "QLinearGlobalAveragePool": [1, 3], "QLinearSigmoid": [1, 3],
          "QLinearLeakyRelu": [1, 3], "QLinearConcat": [0, 3, 6, 9]}


def scales_of(model):
    return {n.input[i] for n in model.graph.node
            for i in SCALES.get(n.op_type, ()) if i < len(n.input)}


def exact(k, model):
    """The model with powers of two as scales, so that float32 is exact, and in
    the form that ONNX Runtime requires: contrib operations in their domain, block sizes in
    their opset, outputs of the types that the operations give (the files'
    authors were not careful with these)."""
    onnx, np = k.onnx, k.np
    domain, scales = False, scales_of(model)
    held = [t for n in model.graph.node if n.op_type == "Constant"
            and n.output[0] in scales for a in n.attribute for t in [a.t]]
    held += [t for t in model.graph.initializer if t.name in scales]
    for tensor in held:
        values = k.numpy_helper.to_array(tensor)
        tensor.CopyFrom(k.numpy_helper.from_array(
            (2.0 ** np.round(np.log2(values.astype("float64"))))
            .astype(values.dtype), tensor.name))
    for node in model.graph.node:
        if node.op_type.startswith("QLinear") and node.op_type not in (
                "QLinearConv", "QLinearMatMul") or \
                node.op_type == "MatMulIntegerToFloat":
            node.domain, domain = k.MICROSOFT, True
        if any(a.name == "block_size" for a in node.attribute):
            model.opset_import[0].version = max(
                21, model.opset_import[0].version)
            model.ir_version = max(10, model.ir_version)
    if domain:
        model.opset_import.append(onnx.helper.make_opsetid(k.MICROSOFT, 1))
    for output in model.graph.output:
        output.ClearField("type")
    return model


def migraphx(suite):
    """Every case is accepted, with ONNX Runtime's outputs, or refused, according to
    its name."""
    k = needed("onnxkit")
    suite.need(FOLDER)
    compared, alone = 0, []
    for path in sorted(FOLDER.glob("*.onnx")):
        name = path.stem
        accepted, says = EXCEPTIONS.get(name, (not BAD.search(name),
                                               SAYS.get(name, "")))
        if not accepted:
            k.is_refused(suite, name, path, says)
            continue
        told = suite.run("coverage", path, "--json")
        suite.check("fpga" in (told.json or {}), f"{name}: accepted",
                    told.command)
        model = exact(k, k.onnx.load(path))
        feeds = k.feeds_for(model, step=0.25)
        for key in scales_of(model) & set(feeds):
            feeds[key] = 2.0 ** k.np.random.default_rng(2).integers(
                -4, 4, feeds[key].shape).astype(feeds[key].dtype)
        references = [k.runtime_outputs, spelled_out, by_hand]
        if may_saturate(k, model):
            references.remove(k.runtime_outputs)
        want, reason = None, ""
        for reference in references:
            try:
                want = reference(model, feeds)
                break
            except Exception as why:  # it has no kernel for this
                reason += f" {why}"
        if want is None:
            alone.append(name)
            print(f"      {name} has no reference: {reason[:1200]}")
            continue
        compared += k.agrees(
            suite, name, model, feeds, want,
            within=1.0 if re.search("leakyrelu|sigmoid", name) else 0.0)
    suite.check(len(alone) <= 1, f"{compared} cases compared with a reference, "
                                 f"only accepted: {alone}")


def may_saturate(k, model):
    """Whether it has a convolution of uint8 and int8: on processors without
    VNNI, ONNX Runtime adds pairs of such products with saturation to 16 bits."""
    types = {t.name: t.data_type for t in model.graph.initializer}
    types |= {i.name: i.type.tensor_type.elem_type for i in model.graph.input}
    at = {"ConvInteger": (0, 1), "QLinearConv": (0, 3)}
    return any({types.get(node.input[i]) for i in at.get(node.op_type, ())}
               == {k.onnx.TensorProto.UINT8, k.onnx.TensorProto.INT8}
               for node in model.graph.node)


def spelled_out(model, feeds):
    """ONNX Runtime's outputs for the definitions of integer operators in real
    numbers, where its own kernels are missing or not exact. The scales are
    powers of two and the sums below 2^24, so that float32 is exact."""
    k = needed("onnxkit")
    made, nodes = k.onnx.ModelProto(), []
    made.CopyFrom(model)

    def add(op, *inputs, output=None, attributes=(), **more):
        nodes.append(k.helper.make_node(
            op, inputs, [output or f"real{len(nodes)}"], **more))
        nodes[-1].attribute.extend(attributes)
        return nodes[-1].output[0]

    spelled = 0
    for node in model.graph.node:
        real, i = k.onnx.TensorProto.FLOAT, list(node.input)
        as_before = {"output": node.output[0]}
        if node.op_type == "ConvInteger":
            x, w = (add("Cast", name, to=real) for name in i[:2])
            operands = [add("Cast", name, to=real) for name in i[:2]]
            for at, zero in enumerate(i[2:]):
                operands[at] = add("Sub", operands[at],
                                   add("Cast", zero, to=real))
            y = add("Conv", *operands, attributes=node.attribute)
            add("Cast", y, to=k.onnx.TensorProto.INT32, **as_before)
        elif node.op_type == "QLinearConv":
            operands = [add("DequantizeLinear", *i[:3]),
                        add("DequantizeLinear", *i[3:6], axis=0)]
            if i[8:]:
                operands.append(add("DequantizeLinear", i[8],
                                    add("Mul", i[1], i[4]), axis=0))
            y = add("Conv", *operands, attributes=node.attribute)
            add("QuantizeLinear", y, *i[6:8], **as_before)
        elif node.op_type == "QLinearAveragePool":
            y = add("AveragePool", add("DequantizeLinear", *i[:3]),
                    attributes=node.attribute)
            add("QuantizeLinear", y, *i[3:5], **as_before)
        else:
            nodes.append(node)
            continue
        spelled += 1
    if not spelled:
        raise NotImplementedError("no operator that is spelled out")
    made.graph.ClearField("node")
    made.graph.node.extend(nodes)
    made.opset_import[0].version = 19
    return k.runtime_outputs(made, feeds)


def by_hand(model, feeds):
    """Outputs of a single node that ONNX Runtime has no kernel for, by its
    definition."""
    k = needed("onnxkit")
    np, (node, *more) = k.np, model.graph.node
    held = {t.name: k.numpy_helper.to_array(t)
            for t in model.graph.initializer}
    rows = []
    for f in range(len(next(iter(feeds.values())))):
        x = [feeds[i][f] if i in feeds else held.get(i) for i in node.input]
        x = [None if v is None else np.asarray(v, np.float64) for v in x]
        x += [None] * (9 - len(x))

        def minus(v, zero):
            return v if zero is None else v - zero
        if node.op_type == "MatMulInteger":
            y = minus(x[0], x[2]) @ minus(x[1], x[3])
        elif node.op_type == "MatMulIntegerToFloat":
            y = (minus(x[0], x[4]) * x[2]) @ (minus(x[1], x[5]) * x[3])
            y = y if x[6] is None else y + x[6]
            # The result has the scales' type.
            scale = feeds.get(node.input[2], held.get(node.input[2]))
            with np.errstate(over="ignore"):
                y = y.astype(scale.dtype).astype(np.float64)
        elif node.op_type == "QuantizeLinear" and x[2] is None:
            y = np.clip(np.rint(x[0] / x[1]), 0, 255)
        else:
            raise NotImplementedError(node.op_type)
        rows.append(y)
    return [np.stack(rows)]


# ---- Ways of shipping a network --------------------------------------------

def functions(k):
    """Models whose nodes call functions of the model's own, by label: (model,
    what its inlined form computes)."""
    helper, onnx = k.helper, k.onnx

    def function(name, inputs, outputs, nodes, attributes=(), defaults=(),
                 opset=17, domain="local"):
        return helper.make_function(
            domain, name, inputs, outputs, nodes,
            [helper.make_opsetid("", opset),
             helper.make_opsetid("local", 1)],
            attributes=attributes, attribute_protos=list(defaults))

    def refer(node, attribute, kind, name):
        a = node.attribute.add()
        a.name, a.type, a.ref_attr_name = attribute, kind, name
        return node
    ints, real = onnx.AttributeProto.INTS, onnx.AttributeProto.FLOAT

    made = {}

    def model(label, build, *functions, opset=17):
        b = k.Builder(opset=opset)
        b.functions += functions
        x = b.quantized(b.input((1, 4, 6, 6)), 0.25, 3)
        b.output(b.quantized(build(b, x), 0.5, -7))
        made[label] = b.model()

    conv = function(
        "ConvRelu", ["x", "w", "bias"], ["y"],
        [refer(helper.make_node("Conv", ["x", "w", "bias"], ["c"]),
               "pads", ints, "pads"),
         helper.make_node("Relu", ["c"], ["y"])], ["pads"])
    model("a function with an attribute", lambda b, x: b.node(
        "ConvRelu", x, b.weights(3, 4, 3, 3), b.floats(1, -2, 3),
        domain="local", pads=[1, 0, 0, 1]), conv)
    model("a function without its attribute and input", lambda b, x: b.node(
        "ConvRelu", x, b.weights(3, 4, 3, 3), domain="local"), conv)
    leaky = function(
        "Leaky", ["x"], ["y"],
        [refer(helper.make_node("LeakyRelu", ["x"], ["y"]), "alpha", real,
               "slope")],
        defaults=[helper.make_attribute("slope", 0.5)])
    model("a default of an attribute",
          lambda b, x: b.node("Leaky", x, domain="local"), leaky)
    model("a default that is overruled", lambda b, x: b.node(
        "Leaky", x, domain="local", slope=0.25), leaky)
    block = function(
        "Block", ["x", "w1", "w2"], ["y"],
        [refer(helper.make_node("ConvRelu", ["x", "w1"], ["a"],
                                domain="local"), "pads", ints, "border"),
         refer(helper.make_node("ConvRelu", ["a", "w2"], ["b"],
                                domain="local"), "pads", ints, "border"),
         refer(helper.make_node("Leaky", ["b"], ["y"], domain="local"),
               "slope", real, "slope")],
        ["border", "slope"])
    model("functions in a function", lambda b, x: b.node(
        "Add", b.node("Block", x, b.weights(4, 4, 3, 3, scale=0.0625),
                      b.weights(4, 4, 3, 3, scale=0.0625), domain="local",
                      border=[1] * 4, slope=0.5), x), conv, leaky, block)
    both = function("Both", ["x"], ["same", "twice"],
                    [helper.make_node("Add", ["x", "x"], ["twice"])])
    # An input that is returned: "same" is the input itself.
    both.node.append(helper.make_node("Identity", ["x"], ["same"]))
    model("two outputs", lambda b, x: b.node(
        "Concat", *b.node("Both", x, domain="local", outputs=2), axis=1), both)
    mine = function("Relu", ["x"], ["y"],
                    [helper.make_node("Neg", ["x"], ["y"])], domain="mine")
    model("a standard name in a domain of its own",
          lambda b, x: b.node("Relu", x, domain="mine"), mine)
    quantize = function(
        "FakeQuant", ["x", "scale", "zero"], ["y"],
        [helper.make_node("QuantizeLinear", ["x", "scale", "zero"], ["q"]),
         helper.make_node("DequantizeLinear", ["q", "scale", "zero"], ["y"])])
    model("quantizers in a function", lambda b, x: b.node(
        "Conv", b.node("FakeQuant", x, b.constant(0.5),
                       b.constant(1, "int8"), domain="local"),
        b.weights(3, 4, 3, 3)), quantize)
    constants = function(
        "Scaled", ["x"], ["y"],
        [helper.make_node("Constant", [], ["two"], value_float=2.0),
         helper.make_node("Mul", ["x", "two"], ["y"])])
    model("one function called twice", lambda b, x: b.node(
        "Scaled", b.node("Scaled", x, domain="local"), domain="local"),
        constants)
    return made


def bad_functions(k):
    """By label: (model, the refusal's text)."""
    helper = k.helper

    def model(calls, *functions):
        b = k.Builder()
        b.functions += functions
        for call in calls:
            b.node(*call[:-1], domain="local", **call[-1])
        b.input((1, 4, 6, 6))
        return b.model()

    def function(name, body, inputs=("x",), attributes=()):
        return helper.make_function("local", name, inputs, ["y"], body,
                                    [helper.make_opsetid("", 17)],
                                    attributes=attributes)
    call = [("F", "x0", {})]
    ring = [helper.make_node(g, ["x"], ["y"], domain="local") for g in "FGH"]
    relu = [helper.make_node("Relu", ["x"], ["y"])]
    lost = helper.make_node("LeakyRelu", ["x"], ["y"])
    a = lost.attribute.add()
    a.name, a.type, a.ref_attr_name = "alpha", k.onnx.AttributeProto.FLOAT, "s"
    softmax = helper.make_function(
        "local", "F", ["x"], ["y"], [helper.make_node("Softmax", ["x"], ["y"])],
        [helper.make_opsetid("", 11)])
    doubling = [function(f"L{i}", [
        helper.make_node(f"L{i + 1}", ["x"], ["a"], domain="local"),
        helper.make_node(f"L{i + 1}", ["a"], ["y"], domain="local")])
        for i in range(40)] + [function("L40", relu)]
    return {
        "a function that calls itself": (
            model(call, function("F", ring[:1])), "'F' calls 'F'"),
        "a ring of functions": (
            model(call, function("F", [ring[1]]), function("G", [ring[2]]),
                  function("H", [ring[0]])),
            "'F' calls 'G' calls 'H' calls 'F'"),
        "too many inputs": (
            model([("F", "x0", "x0", {})], function("F", relu)),
            "it has 2 inputs, the function takes 1"),
        "an unknown attribute": (
            model([("F", "x0", {"alpha": 1.0})], function("F", relu)),
            "no attribute 'alpha'"),
        "a reference to nothing": (
            model(call, function("F", [lost])),
            "takes its attribute 'alpha' from 's'"),
        "two of a name": (
            model(call, function("F", relu), function("F", relu)),
            "two functions of domain 'local' have this name"),
        "2^40 nodes": (model([("L0", "x0", {})], *doubling),
                       "too many nodes"),
        "a meaning that changed": (
            model(call, softmax), "Softmax changed its meaning"),
        "an operation inside that is not there": (
            model(call, function("F", [helper.make_node(
                "NonZero", ["x"], ["y"], name="inner")])), "/inner"),
        "a function that is missing": (
            model(call), "of domain 'local'"),
    }


def shipping_functions(suite):
    k = needed("onnxkit")
    for label, model in functions(k).items():
        feeds = k.feeds_for(model)
        want = k.runtime_outputs(model, feeds)
        k.agrees(suite, label, model, feeds, want)
        # Unsorted, which ONNX Runtime does not accept.
        for function in model.functions:
            nodes = list(function.node)[::-1]
            function.ClearField("node")
            function.node.extend(nodes)
        k.agrees(suite, f"{label}, unsorted", model, feeds, want)
    # An input that is the output: ONNX Runtime wants an Identity there.
    for body in ([k.helper.make_node("Identity", ["x"], ["y"])], []):
        b = k.Builder()
        b.functions.append(k.helper.make_function(
            "local", "Through", ["x"], ["y"] if body else ["x"], body,
            [k.helper.make_opsetid("", 17)]))
        b.node("Relu", b.node("Through", b.input((1, 4)), domain="local"))
        if body:
            feeds = k.feeds_for(b.model())
            want = k.runtime_outputs(b.model(), feeds)
        k.agrees(suite, f"a function of {len(body)} nodes", b.model(), feeds,
                 want)
    for label, (model, says) in bad_functions(k).items():
        k.is_refused(suite, label, model, says)


def network(k, opset=17, shape=(1, 4, 8, 8), **kinds):
    """A small convolutional network with a residual and a dense end."""
    b = k.Builder(opset=opset, ir=min(3 + opset // 2, 10))
    x = b.quantized(b.input(shape, name="image"), 0.25, 3)
    y = b.quantized(b.node("Relu", b.node(
        "Conv", x, b.weights(4, 4, 3, 3, scale=0.0625), pads=[1] * 4)), 0.25)
    y = b.quantized(b.node("Add", x, y), 0.5)
    y = b.quantized(b.node("MaxPool", y, kernel_shape=[2, 2],
                           strides=[2, 2]), 0.5)
    y = b.node("Flatten", y)
    b.output(b.node("Gemm", y, b.weights(64, 5, scale=0.0625),
                    b.floats(1, 2, 3, -4, 5)))
    return b.model()


def shipping(suite):
    """The same network in all forms in which exporters ship it."""
    k = needed("onnxkit")
    onnx, helper = k.onnx, k.helper
    plain = network(k)
    feeds = k.feeds_for(plain)
    want = k.runtime_outputs(plain, feeds)

    def same(label, change, options=()):
        model = onnx.ModelProto()
        model.CopyFrom(plain)
        change(model)
        return k.agrees(suite, label, model, feeds, want, options)

    def unsorted(model):
        nodes = list(model.graph.node)[::-1]
        model.graph.ClearField("node")
        model.graph.node.extend(nodes)

    def dims(model, *sizes):
        shape = model.graph.input[0].type.tensor_type.shape
        shape.ClearField("dim")
        for size in sizes:
            dim = shape.dim.add()
            if isinstance(size, str):
                dim.dim_param = size
            elif size is not None:
                dim.dim_value = size

    def as_inputs(model):
        for tensor in model.graph.initializer:
            model.graph.input.append(helper.make_tensor_value_info(
                tensor.name, tensor.data_type, tensor.dims))

    def with_infos(model):
        model.CopyFrom(onnx.shape_inference.infer_shapes(model))

    def unnamed(model):
        for node in model.graph.node:
            node.name = ""

    def constants(model):
        for tensor in model.graph.initializer:
            model.graph.node.append(helper.make_node(
                "Constant", [], [tensor.name], value=tensor))
        model.graph.ClearField("initializer")

    def typed(model):
        for tensor in model.graph.initializer:
            values = k.numpy_helper.to_array(tensor)
            tensor.CopyFrom(helper.make_tensor(
                tensor.name, tensor.data_type, values.shape,
                values.reshape(-1).tolist()))
    full = "image=1,4,8,8"
    same("as it is", lambda m: None)
    same("nodes in reverse order", unsorted)
    same("a symbolic batch", lambda m: dims(m, "N", 4, 8, 8))
    same("a batch without a name", lambda m: dims(m, None, 4, 8, 8))
    same("a batch of minus one", lambda m: dims(m, -1, 4, 8, 8))
    same("a batch of zero", lambda m: dims(m, 0, 4, 8, 8))
    same("symbolic sizes", lambda m: dims(m, "N", "C", "H", "W"),
         ("--shape", full))
    same("no input shape", lambda m: m.graph.input[0].type.tensor_type.ClearField(
        "shape"), ("--shape", full))
    same("every tensor declared", with_infos)
    same("initializers as inputs", as_inputs)
    same("nodes without names", unnamed)
    same("constants as nodes", constants)
    same("typed data", typed)
    k.is_refused(suite, "a size that the weights do not fit", plain_of(
        k, plain, dims), "Gemm", "[1, 48]", "[64, 5]", options=("--shape", "image=1,4,8,7"))
    k.is_refused(suite, "a shape for no input", plain, "picture",
                 "'image'", options=("--shape", "picture=1,4,8,8"))
    k.is_refused(suite, "a shape of another rank", plain, "image",
                 "[1, 4, 64]", "[1, 4, 8, 8]", options=("--shape", "image=1,4,64"))
    k.is_refused(suite, "a shape against the file", plain, "Gemm", "[1, 256]",
                 "[64, 5]", options=("--shape", "image=1,4,16,16"))
    batch = plain_of(k, plain, dims)
    dims(batch, 4, 4, 8, 8)
    k.agrees(suite, "four images at once", batch)
    k.onnx.save(batch, suite.work / "batch.onnx")
    told = suite.run("coverage", suite.work / "batch.onnx", "--json")
    suite.check(any("has a batch of 4" in o.get("reason", "")
                    for o in (told.json or {}).get("ops", ())),
                "coverage says why a batch is not for the FPGA", told.command)
    external(suite, k, plain, feeds, want)
    opsets(suite, k, feeds)


def plain_of(k, plain, dims):
    """The network with an image of any size."""
    model = k.onnx.ModelProto()
    model.CopyFrom(plain)
    dims(model, "N", 4, "H", "W")
    return model


def external(suite, k, plain, feeds, want):
    """Weights in another file, and possible errors with it."""
    folder = suite.work / "external"
    folder.mkdir()
    path, data = folder / "m.onnx", folder / "weights.bin"
    model = k.onnx.ModelProto()
    model.CopyFrom(plain)
    k.onnx.save(model, path, save_as_external_data=True, location="weights.bin",
                size_threshold=0, all_tensors_to_one_file=True)
    k.agrees(suite, "external data", path, feeds, want)
    good = data.read_bytes()

    def refused(label, *says):
        k.is_refused(suite, label, path, *says)
    data.write_bytes(good[:len(good) // 2])
    refused("external data that is cut off", "weights.bin",
            f"the file has {len(good) // 2}")
    data.unlink()
    refused("external data that is missing", "weights.bin", "is missing")
    data.mkdir()
    refused("external data that is a folder", "weights.bin", "not a file")
    data.rmdir()

    def relocate(location, **entries):
        model = k.onnx.load(path, load_external_data=False)
        for tensor in model.graph.initializer:
            for entry in tensor.external_data:
                if entry.key == "location":
                    entry.value = location
                entry.value = entries.get(entry.key, entry.value)
        path.write_bytes(model.SerializeToString())
    (suite.work / "outside.bin").write_bytes(good)
    for location in ("../outside.bin", str(suite.work / "outside.bin"), ""):
        relocate(location)
        refused(f"external data at '{location[:3]}'",
                "not a file below the model's folder")
    data.write_bytes(good)
    relocate("weights.bin", offset="-4")
    refused("external data at a negative offset", "offset '-4'")
    relocate("weights.bin", offset=str(1 << 62))
    refused("external data beyond the end", "weights.bin")
    relocate("weights.bin", offset="0", length="1")
    refused("external data of another length", "has 1 bytes")


def opsets(suite, k, feeds):
    """Operations whose arguments moved from attributes to inputs, in every
    opset from 7 to 24."""
    for opset in range(7, 25):
        b = k.Builder(opset=opset, ir={True: 4, False: 8}[opset < 9]
                      if opset < 21 else 10)
        x = b.input((1, 4, 8, 8), name="image")
        new = opset >= 13

        def axes(op, value, *given, since=13, **more):
            """A list as attribute before opset `since`, then as input."""
            if opset >= since:
                return b.node(op, value, b.ints(*given), **more)
            return b.node(op, value, axes=list(given), **more)
        y = b.node("Clip", x, b.constant(-3), b.constant(4)) \
            if opset >= 11 else b.node("Clip", x, min=-3.0, max=4.0)
        pads = [0, 0, 1, 2, 0, 0, 0, 1]
        y = b.node("Pad", y, b.ints(*pads), b.constant(0.5)) \
            if opset >= 11 else b.node("Pad", y, pads=pads, value=0.5)
        y = b.node("Slice", y, b.ints(1), b.ints(-1), b.ints(3)) \
            if opset >= 10 else b.node("Slice", y, starts=[1], ends=[-1],
                                       axes=[3])
        if opset >= 13:
            u, v = b.node("Split", y, b.ints(1, 3), outputs=2, axis=1)
        else:
            u, v = b.node("Split", y, outputs=2, axis=1, split=[1, 3])
        y = b.node("Concat", v, u, axis=1)
        y = axes("Squeeze", axes("Unsqueeze", y, 0), 0)
        r = axes("ReduceSum", y, 2, keepdims=1)
        r = b.node("Add", r, axes("ReduceMean", y, 2, since=18, keepdims=1))
        r = b.node("Add", r, axes("ReduceMax", y, 2, since=18, keepdims=1))
        y = b.node("Add", y, r)
        scales = b.floats(1, 1, 2, 2)
        if opset >= 11:
            y = b.node("Resize", y, b.floats() if opset < 13 else "", scales,
                       mode="nearest", nearest_mode="floor",
                       coordinate_transformation_mode="asymmetric")
        elif opset == 10:
            y = b.node("Resize", y, scales, mode="nearest")
        elif opset == 9:
            y = b.node("Upsample", y, scales, mode="nearest")
        else:
            y = b.node("Upsample", y, scales=[1., 1., 2., 2.], mode="nearest")
        y = b.node("Dropout", y)
        bn = [b.floats(1, 2, .5, 1), b.floats(0, 1, -1, 2),
              b.floats(0, .5, 0, 1), b.floats(1, 4, .25, 1)]
        y = b.node("BatchNormalization", y, *bn, epsilon=0.0)
        y = b.node("LeakyRelu", b.node("PRelu", y, b.constant(
            [[[.5]], [[.25]], [[.5]], [[1]]])), alpha=0.5)
        y = b.node("AveragePool", y, kernel_shape=[2, 2], strides=[2, 2])
        y = b.node("MaxPool", y, kernel_shape=[2, 2], strides=[1, 1])
        flat = b.node("Reshape", y, b.ints(0, -1))
        if opset >= 10:
            top = b.node("TopK", flat, b.ints(3), outputs=2)
        else:
            top = b.node("TopK", flat, outputs=2, k=3, axis=-1)
        b.output(b.node("Softmax", flat, axis=1), top[0],
                 b.node("Gather", flat, b.ints(2, 0), axis=1),
                 b.node("ArgMax", flat, axis=1, keepdims=0),
                 b.node("Cast", b.node("Pow", flat, b.constant(2)), to=1))
        k.agrees(suite, f"opset {opset}", b.model(), feeds, within=2e-5)
        assert new or opset < 13


# ---- Channels last ----------------------------------------------------------

def channels_last(suite):
    """Exports of Keras and TFLite: NHWC tensors between transposes. In the
    network no transpose remains, and the outputs are ONNX Runtime's."""
    k = needed("onnxkit")
    to_first, to_last = [0, 3, 1, 2], [0, 2, 3, 1]

    def conv(b, x, outputs, inputs, size=3, **attributes):
        return b.node("Conv", x, b.weights(outputs, inputs, size, size,
                                           scale=0.0625), **attributes)

    def plain(b, x):
        """tf2onnx: one transpose at each end."""
        y = b.node("Transpose", b.quantized(x, 0.25, 3), perm=to_first)
        y = b.quantized(b.node("Relu", conv(b, y, 6, 4, pads=[1] * 4)), 0.25)
        y = b.quantized(conv(b, y, 5, 6, strides=[2, 2]), 0.5)
        return b.node("Transpose", y, perm=to_last)

    def between(b, x):
        """Transposes around every layer, quantizers on NHWC tensors."""
        for outputs, inputs in ((6, 4), (5, 6), (3, 5)):
            y = b.node("Transpose", b.quantized(x, 0.25), perm=to_first)
            y = conv(b, y, outputs, inputs, auto_pad="SAME_UPPER")
            y = b.node("Transpose", b.node("Relu", y), perm=to_last)
            x = b.quantized(y, 0.25)
        return x

    def added(b, x):
        """A bias, batch norm's factors and a residual on NHWC tensors."""
        x = b.quantized(x, 0.25)
        y = conv(b, b.node("Transpose", x, perm=to_first), 4, 4, pads=[1] * 4)
        y = b.node("Transpose", y, perm=to_last)
        y = b.node("Mul", y, b.floats(1, 2, 0.5, 1))
        y = b.node("Add", y, b.floats(1, -1, 2, 0))
        y = b.quantized(b.node("Relu", y), 0.25)
        y = b.quantized(b.node("Add", y, x), 0.5)
        y = b.quantized(b.node("ReduceMean", y, axes=[1, 2], keepdims=0), 0.25)
        return b.node("MatMul", y, b.weights(4, 3))

    def flattened(b, x):
        """Channels last before Reshape: the dense layer's weights are in that
        order."""
        y = b.node("Transpose", b.quantized(x, 0.25), perm=to_first)
        y = b.quantized(b.node("Relu", conv(b, y, 6, 4)), 0.25)
        y = b.quantized(b.node("MaxPool", y, kernel_shape=[2, 2],
                               strides=[2, 2]), 0.25)
        y = b.node("Transpose", y, perm=to_last)
        y = b.node("Reshape", y, b.ints(-1, 3 * 3 * 6))
        return b.node("MatMul", y, b.weights(54, 3, scale=0.0625))

    def depthwise(b, x):
        """Depthwise weights that are stored [H, W, C, 1], transposed."""
        y = b.node("Transpose", b.quantized(x, 0.25), perm=to_first)
        w = b.node("Transpose", b.weights(3, 3, 4, 1), perm=[2, 3, 0, 1])
        y = b.quantized(b.node("Conv", y, w, group=4, pads=[0, 0, 1, 1],
                               strides=[2, 2]), 0.5)
        w = b.node("Transpose", b.weights(1, 1, 4, 6), perm=[3, 2, 0, 1])
        y = b.node("Clip", b.node("Conv", y, w), b.constant(0.0),
                   b.constant(6.0))
        return b.quantized(b.node("Transpose", y, perm=to_last), 0.25)

    def concatenated(b, x):
        """Concat, padding and slices along NHWC axes."""
        x = b.quantized(x, 0.25)
        y = b.node("Pad", x, b.ints(0, 1, 1, 0, 0, 1, 1, 0), b.constant(0.0))
        y = conv(b, b.node("Transpose", y, perm=to_first), 4, 4)
        y = b.quantized(b.node("Transpose", y, perm=to_last), 0.25)
        y = b.node("Concat", x, y, axis=3)
        y = b.node("Slice", y, b.ints(1), b.ints(7), b.ints(3))
        return b.quantized(y, 0.25)
    for build in (plain, between, added, flattened, depthwise, concatenated):
        b = k.Builder()
        x = b.input((1, 8, 8, 4))
        b.output(build(b, x))
        label = f"channels last, {build.__name__}"
        model = b.model()
        k.agrees(suite, label, model)
        path = suite.work / "nhwc.onnx"
        k.onnx.save(model, path)
        told = suite.run("coverage", path, "--json")
        ops = [o for o in (told.json or {}).get("ops", ())
               if o["op"] in ("Transpose", "osa.transpose", "transpose")]
        on_host = (told.json or {}).get("host")
        suite.check(told.status == 0 and not ops and on_host == 0,
                    f"{label}: {len(ops)} transposes, {on_host} operations on "
                    f"the host", told.command)
