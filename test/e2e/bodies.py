# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Bodies that are repeated: ONNX's Scan and Loop next to ONNX Runtime, written by
hand and drawn at random, and those that are refused."""
import random


def tools():
    global np, kit, helper, numpy_helper, TensorProto
    import numpy as np
    from onnx import TensorProto, helper, numpy_helper

    import onnxkit as kit


def info(name, shape=None, kind="float"):
    return helper.make_tensor_value_info(name, kit.KINDS[kind], shape)


def graph(nodes, inputs, outputs, constants=()):
    return helper.make_graph(
        nodes, "body", inputs, outputs,
        [numpy_helper.from_array(np.asarray(v), n) for n, v in constants])


def node(op, inputs, outputs, **attributes):
    return helper.make_node(op, inputs, outputs, name=outputs[0], **attributes)


def running_sum(**attributes):
    """s += x, and every s; x [3, 4, 5] is scanned along one axis."""
    b = kit.Builder()
    shape = [3, 4, 5]
    axis = attributes.get("scan_input_axes", [0])[0]
    rest = [n for i, n in enumerate(shape) if i != axis % 3]
    s, x = b.input(rest), b.input(shape)
    body = graph([node("Add", ["s", "x"], ["t"]),
                  node("Mul", ["t", "half"], ["y"])],
                 [info("s", rest), info("x", rest)],
                 [info("t", rest), info("y", rest)],
                 [("half", np.float32(0.5))])
    b.output(*b.node("Scan", s, x, outputs=2, body=body, num_scan_inputs=1,
                     **attributes))
    return b.model()


def cell():
    """A GRU's cell, written out, whose weights come from outside of the body."""
    b = kit.Builder()
    h, x = b.input([2, 5]), b.input([6, 2, 3])
    for name, shape in (("W", (3, 15)), ("R", (5, 15)), ("B", (15,))):
        b.constant(b.rng.normal(0, 0.3, shape), name=name)
    parts = [[f"{p}{g}" for g in "zrn"] for p in "xh"]
    body = graph(
        [node("MatMul", ["e", "W"], ["xw"]), node("Add", ["xw", "B"], ["xb"]),
         node("MatMul", ["g", "R"], ["hr"]),
         node("Split", ["xb", "sizes"], parts[0], axis=1),
         node("Split", ["hr", "sizes"], parts[1], axis=1),
         node("Add", ["xz", "hz"], ["sz"]), node("Sigmoid", ["sz"], ["z"]),
         node("Add", ["xr", "hr_"], ["sr"]), node("Sigmoid", ["sr"], ["r"]),
         node("Mul", ["r", "hn"], ["rn"]), node("Add", ["xn", "rn"], ["sn"]),
         node("Tanh", ["sn"], ["n"]), node("Sub", ["g", "n"], ["d"]),
         node("Mul", ["z", "d"], ["zd"]), node("Add", ["n", "zd"], ["next"]),
         node("Identity", ["next"], ["y"])],
        [info("g", [2, 5]), info("e", [2, 3])],
        [info("next", [2, 5]), info("y", [2, 5])],
        [("sizes", np.array([5, 5, 5]))])
    for n in body.node:  # two names that would be one
        if n.op_type == "Split" and n.input[0] == "hr":
            n.output[1] = "hr_"
    b.output(*b.node("Scan", h, x, outputs=2, body=body, num_scan_inputs=1))
    return b.model()


def loop(b, trips, inputs, body, outputs, condition=""):
    """A Loop whose trip count is a constant."""
    return b.node("Loop", b.constant(np.int64(trips), "int64"), condition,
                  *inputs, outputs=outputs, body=body)


def powers(trips=6, condition=None, goes_on="given"):
    """p = p x + i, and every p."""
    b = kit.Builder()
    x, p = b.input([4]), b.input([4])
    nodes = [node("Mul", ["p", x], ["m"]), node("Cast", ["i"], ["f"], to=1),
             node("Add", ["m", "f"], ["q"]), node("Identity", ["q"], ["all"])]
    constants = []
    if goes_on == "given":
        nodes.append(node("Identity", ["c"], ["on"]))
    elif goes_on == "computed":
        nodes += [node("ReduceSum", ["q"], ["sum"], keepdims=0),
                  node("Less", ["sum", "most"], ["on"])]
        constants.append(("most", np.float32(1e6)))
    else:
        constants.append(("on", np.array(goes_on)))
    body = graph(nodes, [info("i", [], "int64"), info("c", [], "bool"),
                         info("p", [4])],
                 [info("on", [], "bool"), info("q", [4]), info("all", [4])],
                 constants)
    given = "" if condition is None else b.constant(condition, "bool")
    b.output(*loop(b, trips, [p], body, 2, given))
    return b.model()


COUNTS = ("constant", "none", "input", "one element", "computed")
CONDITIONS = ("none", "true", "before", "body", "both")


def computed(count, condition, seed=0, size=4):
    """v = v w + i until a trip count or a condition ends it, with a value that
    is carried as it is; `count` and `condition` say what computes them."""
    b = kit.Builder(seed=seed)
    x, w = b.input([size]), b.input([size])
    largest = b.node("ReduceMax", x, keepdims=0)
    most, first = "", ""
    if count == "constant":  # a limit that exporters write for none, too
        most = b.constant(np.int64(7 if condition == "before"
                                   else np.iinfo("int64").max), "int64")
    elif count in ("input", "one element"):
        most = b.input([] if count == "input" else [1], "int64", "most")
    elif count == "computed":
        most = b.node("Cast", b.node("Mul", largest, b.constant(
            np.float32(1.5))), to=TensorProto.INT64)
    if condition in ("before", "both"):
        first = b.node("Less", b.node("ReduceMin", x, keepdims=0), largest)
    elif condition == "true":
        first = b.constant(True, "bool")
    nodes = [node("Mul", ["v", w], ["m"]), node("Cast", ["i"], ["f"], to=1),
             node("Add", ["m", "f"], ["s"]), node("Tanh", ["s"], ["t"]),
             node("Add", ["v", "one"], ["w1"]), node("Mul", ["t", "w1"], ["n"])]
    constants = [("one", np.float32(1)), ("most", np.float32(20 + seed))]
    if condition in ("body", "both"):
        nodes += [node("ReduceSum", ["k"], ["sum"], keepdims=0),
                  node("Less", ["sum", "most"], ["on"])]
    else:
        nodes.append(node("Identity", ["c"], ["on"]))
    # What ends it moves by whole steps, so that rounding decides nothing.
    nodes += [node("Abs", [x], ["d"]), node("Add", ["k", "d"], ["l"]),
              node("Add", ["l", "one"], ["k1"])]
    body = graph(nodes, [info("i", [], "int64"), info("c", [], "bool"),
                         info("v", [size]), info("k", [size]),
                         info("same", [2])],
                 [info("on", [], "bool"), info("n", [size]),
                  info("k1", [size]), info("same", [2])], constants)
    b.output(*b.node("Loop", most, first, b.node("Tanh", x), b.node("Abs", w),
                     b.input([2]), outputs=3, body=body))
    return b.model()


def computed_feeds(model, seed):
    """Five frames, whose trip counts are small, zero and negative."""
    feeds = kit.feeds_for(model, frames=5, seed=seed)
    if "most" in feeds:
        feeds["most"] = np.array([3, 0, 8, -2, 1]).reshape(
            feeds["most"].shape)
    feeds["x0"][3] = 0.25  # no first trip: no element is less than another
    feeds["x0"][4] = -1.5  # a negative trip count
    return feeds


def never_ends(count, condition):
    return count in ("constant", "none") and condition in (
        "none", "true", *(["before"] if count == "none" else []))


def nested_computed():
    """A Loop that is ended by a condition, in a Scan and in a Loop whose trip
    count is an input."""
    b = kit.Builder()
    s, x, n = b.input([3]), b.input([5, 3]), b.input([], "int64", "most")
    inner = graph([node("Add", ["v", "e"], ["w"]),
                   node("ReduceMax", ["w"], ["top"], keepdims=0),
                   node("Less", ["top", "limit"], ["on"])],
                  [info("i", [], "int64"), info("c", [], "bool"),
                   info("v", [3])],
                  [info("on", [], "bool"), info("w", [3])],
                  [("limit", np.float32(12))])
    middle = graph([node("Relu", ["e0"], ["r"]), node("Add", ["r", "one"], ["e"]),
                    node("Loop", ["", "", "s"], ["u"], body=inner),
                    node("Sub", ["u", "e"], ["t"])],
                   [info("s", [3]), info("e0", [3])], [info("t", [3])],
                   [("one", np.float32(1))])
    outer = graph([node("Scan", ["o", x], ["p"], body=middle,
                        num_scan_inputs=1),
                   node("Identity", ["c"], ["on"])],
                  [info("i", [], "int64"), info("c", [], "bool"),
                   info("o", [3])],
                  [info("on", [], "bool"), info("p", [3])])
    b.output(b.node("Loop", n, "", s, body=outer))
    return b.model()


def nested():
    """A Loop in a Scan: both read what is computed around them."""
    b = kit.Builder()
    s, x = b.input([3]), b.input([5, 3])
    k = b.node("Tanh", b.input([3]))
    inner = graph([node("Mul", ["v", k], ["vk"]),
                   node("Add", ["vk", "e"], ["w"]),
                   node("Identity", ["c"], ["on"])],
                  [info("i", [], "int64"), info("c", [], "bool"),
                   info("v", [3])],
                  [info("on", [], "bool"), info("w", [3])])
    body = graph([node("Loop", ["n", "", "s"], ["t"], body=inner),
                  node("Add", ["t", "k2"], ["y"])],
                 [info("s", [3]), info("e", [3])],
                 [info("t", [3]), info("y", [3])],
                 [("n", np.int64(3)), ("k2", np.ones(3, np.float32))])
    b.output(*b.node("Scan", s, x, outputs=2, body=body, num_scan_inputs=1))
    return b.model()


def whole():
    """Integers are carried as they are and wrap; a truth is scanned."""
    b = kit.Builder()
    n, x = b.input([2], "int32"), b.input([4, 2], "int32")
    body = graph([node("Mul", ["n", "x"], ["m"]), node("Add", ["m", "x"], ["t"]),
                  node("Greater", ["t", "x"], ["g"])],
                 [info("n", [2], "int32"), info("x", [2], "int32")],
                 [info("t", [2], "int32"), info("g", [2], "bool")])
    b.output(*b.node("Scan", n, x, outputs=2, body=body, num_scan_inputs=1))
    return b.model()


def swapped():
    """Two values that change places, and one that stays."""
    b = kit.Builder()
    values = [b.input([3]) for _ in range(3)]
    body = graph([node("Identity", ["c"], ["on"]),
                  node("Identity", ["v1"], ["w0"]),
                  node("Add", ["v0", "v2"], ["w1"])],
                 [info("i", [], "int64"), info("c", [], "bool")]
                 + [info(f"v{k}", [3]) for k in range(3)],
                 [info("on", [], "bool"), info("w0", [3]), info("w1", [3]),
                  info("v2", [3]), info("v0", [3])])
    b.output(*loop(b, 5, values, body, 4))
    return b.model()


def drawn(seed):
    """A Scan or Loop with a random body, whose weights are in it or around it."""
    random.seed(seed)
    b = kit.Builder(seed=seed)
    rows, size = random.randint(1, 3), random.randint(2, 5)
    shape, trips = [rows, size], random.randint(1, 6)
    around = b.node("Tanh", b.input(shape))
    carried = random.randint(0, 3)
    is_scan = carried == 0 or random.random() < 0.6
    scanned = random.randint(1, 3) if is_scan else 0
    nodes, constants, values = [], [], [around]
    starts = [b.input(shape) for _ in range(carried)]
    inputs = [info(f"v{k}", shape) for k in range(carried)]
    axes, sequences = [], []
    for k in range(scanned):
        axis = random.randint(0, 2)
        axes.append(axis - random.choice((0, 3)))
        sequences.append(b.input(shape[:axis] + [trips] + shape[axis:]))
        inputs.append(info(f"e{k}", shape))
    values += [i.name for i in inputs]

    def give(op, *names, **attributes):
        nodes.append(node(op, list(names), [f"t{len(nodes)}"], **attributes))
        return nodes[-1].output[0]

    if not is_scan:
        values.append(give("Add", values[-1], give("Cast", "i", to=1)))
    for _ in range(random.randint(2, 7)):
        kind, x = random.choice(("unary", "binary", "product", "moved",
                                 "softmax")), random.choice(values)
        if kind == "unary":
            y = give(random.choice(("Tanh", "Sigmoid", "Relu", "Neg", "Abs")), x)
        elif kind == "binary":
            y = give(random.choice(("Add", "Mul", "Sub", "Max")), x,
                     random.choice(values))
        elif kind == "product":
            weights = b.rng.normal(0, 0.5, (size, size)).astype("f")
            name = f"w{len(nodes)}"
            if random.random() < 0.5:
                b.constant(weights, name=name)
            else:
                constants.append((name, weights))
            y = give("MatMul", x, name)
        elif kind == "moved":
            y = give("Transpose", give("Transpose", x, perm=[1, 0]),
                     perm=[1, 0])
        else:
            y = give("Softmax", x, axis=random.choice((0, 1)))
        values.append(give("Tanh", y))
    outputs = [info(give("Identity", random.choice(values[1:] or values)), shape)
               for _ in range(carried)]
    gives = random.randint(0 if carried else 1, 2)
    outputs += [info(give("Identity", random.choice(values)), shape)
                for _ in range(gives)]
    if not is_scan:
        nodes.append(node("Identity", ["c"], ["on"]))
        body = graph(nodes, [info("i", [], "int64"), info("c", [], "bool"),
                             *inputs], [info("on", [], "bool"), *outputs],
                     constants)
        made = loop(b, trips, starts, body, len(outputs))
    else:
        ways = dict(
            scan_input_axes=axes,
            scan_input_directions=[random.randint(0, 1) for _ in axes])
        if gives:
            ways["scan_output_axes"] = [random.randint(-3, 2)
                                        for _ in range(gives)]
            ways["scan_output_directions"] = [random.randint(0, 1)
                                              for _ in range(gives)]
        made = b.node("Scan", *starts, *sequences, outputs=len(outputs),
                      body=graph(nodes, inputs, outputs, constants),
                      num_scan_inputs=scanned, **ways)
    b.output(*([made] if isinstance(made, str) else made))
    return b.model()


def in_function():
    """A Scan in a function: its body reads what the function computes, whose
    name the model has, too."""
    b = kit.Builder()
    s, x, k = b.input([3]), b.input([4, 3]), b.input([3])
    body = graph([node("Add", ["s", "e"], ["t"]), node("Mul", ["t", k], ["y"])],
                 [info("s", [3]), info("e", [3])],
                 [info("t", [3]), info("y", [3])])
    nodes = [helper.make_node("Neg", ["p"], [k]),  # not the model's
             helper.make_node("Scan", ["a", "b"], ["c", "d"], body=body,
                              num_scan_inputs=1)]
    b.functions.append(helper.make_function(
        "own", "scanned", ["a", "b", "p"], ["c", "d"], nodes,
        [helper.make_opsetid("", b.opset)]))
    b.output(*b.node("scanned", s, x, b.node("Relu", k), outputs=2,
                     domain="own"))
    return b.model()


def between_layers(suite):
    """The FPGA computes a layer, the host a Loop that its result ends, and the
    FPGA another layer of that."""
    b = kit.Builder()
    x = b.quantized(b.input([1, 8]), 0.125)
    y = b.quantized(b.node("MatMul", x, b.weights(8, 8)), 0.5)
    body = graph([node("Mul", ["v", "half"], ["w"]), node("Abs", ["w"], ["a"]),
                  node("ReduceMax", ["a"], ["top"], keepdims=0),
                  node("Less", ["least", "top"], ["on"])],
                 [info("i", [], "int64"), info("c", [], "bool"),
                  info("v", [1, 8])],
                 [info("on", [], "bool"), info("w", [1, 8])],
                 [("half", np.float32(0.5)), ("least", np.float32(3))])
    z = b.quantized(b.node("Loop", "", "", y, body=body), 0.125)
    b.output(b.quantized(b.node("MatMul", z, b.weights(8, 4)), 0.5))
    model, path = b.model(), suite.work / "between.onnx"
    kit.agrees(suite, "a Loop between layers", model)
    path.write_bytes(model.SerializeToString())
    package = suite.work / "between.rhz"
    result = suite.run("compile", path, "--device", "xc7z020", "-o", package,
                       "--json")
    if not suite.check(result.status == 0,
                       f"compiles: {kit.refusals(result)}", result.command):
        return
    tasks = suite.run("explore", path, "--device", "xc7z020",
                      "--json").json["tasks"]["list"]
    places = [task["place"] for task in tasks]
    suite.check(places == ["host", "fpga", "host", "fpga", "host"],
                f"the Loop is a task between two of the FPGA: {places}")
    for level in ("functional", "rtl"):
        result = suite.run("simulate", package, "--level", level, "-n", 3,
                           "--json")
        suite.check(result.status == 0 and result.json["mismatches"] == 0,
                    f"{level}: {result.message[:200]}", result.command)


def check_computed(suite):
    for seed, (count, condition) in enumerate(
            (c, d) for c in COUNTS for d in CONDITIONS):
        model = computed(count, condition, seed)
        if never_ends(count, condition):
            kit.is_refused(suite, f"endless {seed}", model,
                           "nothing ends it" if count == "none"
                           else "it has 9223372036854775807 trips")
            continue
        kit.agrees(suite, f"count {count}, condition {condition}", model,
                   computed_feeds(model, seed), within=1e-5)
    model = nested_computed()
    feeds = kit.feeds_for(model)
    feeds["most"] = np.array([2, 0, 3])
    kit.agrees(suite, "computed loops in a body", model, feeds)


def check_refused(suite):
    kit.is_refused(suite, "sequence of unknown length",
                   powers(goes_on="computed"),
                   "has an element for each trip, and how many there are is "
                   "computed", "a loop of known length")
    kit.is_refused(suite, "condition false", powers(goes_on=False),
                   "its condition 'on' ends it after one trip")
    kit.is_refused(suite, "many trips", powers(trips=1 << 40),
                   "it has 1099511627776 trips", "up to 1048576")
    kit.is_refused(suite, "no trips", powers(trips=0), "it has no trips")

    def broken(change, base=running_sum):
        model = base()
        change(next(n for n in model.graph.node
                    if n.op_type in ("Scan", "Loop")))
        return model

    def body_of(n):
        return next(a.g for a in n.attribute if a.name == "body")

    def ends_in(output, op, inputs, **attributes):
        """A body whose output is that of one more node."""
        def change(n):
            body = body_of(n)
            body.node.append(node(op, inputs, ["tt"], **attributes))
            body.output[output].name = "tt"
        return broken(change)

    kit.is_refused(suite, "carried value that grows",
                   ends_in(0, "Concat", ["t", "t"], axis=0),
                   "its value 'tt' begins as float[4, 5] and is "
                   "float[8, 5] after a trip")
    kit.is_refused(suite, "carried value of another type",
                   ends_in(0, "Cast", ["t"], to=TensorProto.FLOAT16),
                   "begins as float[4, 5] and is float16[4, 5] after a trip")
    kit.is_refused(suite, "unknown operation in a body",
                   ends_in(1, "Unique", ["t"]),
                   "tt", "the operation Unique is not supported")
    kit.is_refused(suite, "tensor from nowhere",
                   broken(lambda n: setattr(body_of(n).output[1], "name", "z")),
                   "its input 'z' is neither an initializer")
    kit.is_refused(suite, "axis out of range",
                   running_sum(scan_input_axes=[0], scan_output_axes=[7]),
                   "its output axis 7 is out of range for rank 3")
    kit.is_refused(suite, "too few directions",
                   running_sum(scan_input_directions=[0, 1]),
                   "has 2 entries for 1 sequences")
    kit.is_refused(suite, "nothing to scan", broken(
        lambda n: next(a for a in n.attribute if a.name == "num_scan_inputs")
        .CopyFrom(helper.make_attribute("num_scan_inputs", 0))),
        "it has no input to scan")
    kit.is_refused(suite, "too many inputs",
                   broken(lambda n: n.input.extend(["x0"])),
                   "it has 3 inputs, its body takes 2")
    kit.is_refused(suite, "trip count that is no integer",
                   broken(lambda n: n.input.__setitem__(0, "x0"), powers),
                   "its trip count is float[4], not one integer")


def bodies(suite):
    tools()
    for label, options in (
            ("plain", {}), ("along axis 1", dict(scan_input_axes=[1])),
            ("along the last axis", dict(scan_input_axes=[-1])),
            ("backwards", dict(scan_input_directions=[1])),
            ("written backwards", dict(scan_output_directions=[1])),
            ("written along axis 2", dict(scan_output_axes=[2],
                                          scan_input_axes=[2]))):
        kit.agrees(suite, f"Scan {label}", running_sum(**options))
    kit.agrees(suite, "GRU cell in a Scan", cell(), within=2e-6)
    # Coefficients of a polynomial grow: all numbers are small.
    for label, options in (("condition passed on", {}),
                           ("condition true", dict(goes_on=True,
                                                   condition=True)),
                           ("one trip", dict(trips=1))):
        model = powers(**options)
        kit.agrees(suite, f"Loop, {label}", model,
                   kit.feeds_for(model, step=0.0125), within=1e-5)
    model = nested()
    kit.agrees(suite, "Loop in a Scan", model,
               kit.feeds_for(model, step=0.0125), within=1e-5)
    kit.agrees(suite, "Scan of integers", whole())
    kit.agrees(suite, "values that change places", swapped())
    kit.agrees(suite, "Scan in a function", in_function())
    check_computed(suite)
    between_layers(suite)
    for seed in range(40):
        model = drawn(seed)
        kit.agrees(suite, f"drawn {seed}", model,
                   kit.feeds_for(model, step=0.0125), within=1e-5)
    check_refused(suite)
