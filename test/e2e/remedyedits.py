# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a remedy says about an input file, done to the file: each entry is a
pattern of remedies and how it changes a kernel's text or a model."""
import json
import pathlib
import re

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


def declared(m, text, error):
    """A line that declares a name, as the remedy writes it, where others do."""
    if "kernel k\n" in text:
        return text.replace("kernel k\n", f"kernel k\n{m[1]}\n".replace(
            "(…)", "(4)"))
    return f"{m[1]}\n{text}"


def assigned(m, text, error):
    """The name takes what another variable of its shape has."""
    name = re.search(r"'(\w+)'", error)[1]
    shape = re.search(rf"\b{name} : (.*)", text)[1]
    other = next(n for n, s in re.findall(r"var input (\w+) : (.*)", text)
                 if s == shape) if "var input" in text else "2"
    return re.sub(r"\Z|(?=^\w+ = )", f"{name} = {other}\n", text, count=1,
                  flags=re.M)


def input_instead(m, text, error):
    name = re.search(r"'(\w+)'", error)[1]
    return re.sub(rf"var (?:output )?{name}\b", f"var input {name}", text)


def renamed(m, text, error):
    name = re.search(r"index '(\w)'", error)[1]
    return re.sub(rf"sum\({name}\)\((\w+)\[{name}\]\)",
                  rf"sum(z)(\1[z])", text)


# In a kernel's text: the remedy's pattern, what it makes of the text.
KERNELS = (
    (r"for example: (type \w+ : \[8 8\])$", declared),
    (r"give one width for each dimension",
     lambda m, t, e: t.replace("halo [1]", "halo [1 1]")),
    (r"declare it 'var input', or leave the halo out",
     lambda m, t, e: re.sub(r"(var output .*) halo .*", r"\1", t)),
    (r"assign it(?: before)?, or declare it an input$", assigned),
    (r"assign it(?: before)?, or declare it an input$", input_instead),
    (r"assign every number of the dimension",
     lambda m, t, e: t + "b[1,i] = a[i]\n"),
    (r"declare one, for example: (var output v : \[8 8\])$", declared),
    (r"declare it '(var input output (\w+))'",
     lambda m, t, e: t.replace(f"var input {m[2]}", m[1])),
    (r"write (\w) \+ 0 to read a part",
     lambda m, t, e: t.replace(f"c[{m[1]}]", f"c[{m[1]} + 0]")),
    (r"write (sum\(\w\)) before the product",
     lambda m, t, e: re.sub(r"= (.*)", rf"= {m[1]} \1", t)),
    (r"reduce over a name of its own", renamed),
    (r"there are sum, prod, min, max, sqrt, exp, log, abs, sin, cos, (tanh)",
     lambda m, t, e: t.replace("cosh", m[1])),
    (r"declare it, with its extents in the brackets: (.*)$", declared),
    (r"extents are at least (1)", lambda m, t, e: t.replace("[0]", f"[{m[1]}]")),
    (r"use the index form for a stencil: (\w+)\[i - 1\]",
     lambda m, t, e: t.replace(f"v = {m[1]}", f"v[i,j] = {m[1]}[i - 1,j]")),
    (r"declare a halo: (var input (\w+) .*)$",
     lambda m, t, e: re.sub(rf"var input {m[2]} .*", m[1], t)),
    (r"give its variable a format, too, such as (@fixed\(8,24\))",
     lambda m, t, e: re.sub(r"(var output .*\])$", rf"\1 {m[1]}", t, flags=re.M)),
    (r"a scalar may stand on the left",
     lambda m, t, e: t.replace("a * 2", "2 * a")),
    (r"(REAL\(8\)).* are known", lambda m, t, e: t.replace("REAL(3)", m[1])),
    (r"give extents, not bounds",
     lambda m, t, e: re.sub(r"\(0:(\d)\)", lambda b: f"({int(b[1]) + 1})", t)),
    (r"declarations know no other attribute",
     lambda m, t, e: t.replace(", ALLOCATABLE", "")),
    (r"declare it (INTENT\(INOUT\))",
     lambda m, t, e: t.replace("INTENT(IN)", m[1])),
    (r"write '(!\$rhizome end)' after it", lambda m, t, e: t + m[1] + "\n"),
)


def constants(model, names, change):
    """Changes initializers, by the beginning of their names."""
    for tensor in model.graph.initializer:
        if tensor.name in names:
            value = change(numpy_helper.to_array(tensor))
            tensor.CopyFrom(numpy_helper.from_array(np.array(value),
                                                    tensor.name))


def scales(m, model, path, error):
    constants(model, ("s", "s2", "sw"),
              lambda v: np.where((v > 0) & np.isfinite(v), v, 0.1)
              .astype(v.dtype))


def attribute(model, name, value=None):
    for node in model.graph.node:
        for old in [a for a in node.attribute if a.name == name]:
            node.attribute.remove(old)
            if value is not None:
                node.attribute.append(helper.make_attribute(name, value))


def version(m, model, path, error):
    if m[1]:
        model.opset_import[0].version = int(m[1])
    model.ir_version = 8


def data_file(m, model, path, error):
    for tensor in model.graph.initializer:
        if tensor.data_location == TensorProto.EXTERNAL:
            (path.parent / tensor.external_data[0].value).write_bytes(bytes(54))


def put_cast(m, model, path, error):
    """A Cast to float32 before what reads integers."""
    nodes = list(model.graph.node)
    at = next(i for i, n in enumerate(nodes) if n.input[0] == "e")
    nodes[at].input[0] = "e_float"
    nodes.insert(at, helper.make_node("Cast", ["e"], ["e_float"],
                                      to=TensorProto.FLOAT))
    del model.graph.node[:]
    model.graph.node.extend(nodes)


def replaced(m, model, path, error):
    for node in model.graph.node:
        if node.op_type in ("Frobnicate", "RandomNormalLike", "Unique",
                            "NonZero"):
            node.op_type = "Relu"
            del node.attribute[:]


def dequantized(m, model, path, error):
    """Every input of the Conv through a DequantizeLinear, or a ConvInteger."""
    if "use" in m[0]:
        model.graph.node[0].op_type = m[1]


def inputs_given(m, model, path, error):
    node = model.graph.node[3]
    node.input.extend(["xd", "wd"])


def output_left_out(m, model, path, error):
    weights = next(i for i in model.graph.initializer if i.name == "w")
    weights.CopyFrom(numpy_helper.from_array(np.ones((3, 2, 3, 3), np.int8), "w"))


def node_of(model, error):
    """The node that an error names."""
    return next(n for n in model.graph.node if f"'{n.name}'" in error)


def written(m, model, path, error):
    """An attribute takes the value that the remedy gives."""
    node = node_of(model, error)
    for old in [a for a in node.attribute if a.name == m[1]]:
        node.attribute.remove(old)
    value = m[2] if m[2].isalpha() else json.loads(m[2])
    node.attribute.append(helper.make_attribute(m[1], value))


def of_shape(model, name, shape):
    """The tensor, an initializer or an input of the graph, of this shape."""
    for t in model.graph.initializer:
        if t.name == name:
            t.CopyFrom(numpy_helper.from_array(np.ones(shape, np.float32), name))
            return
    for old in [v for v in model.graph.input if v.name == name]:
        model.graph.input.remove(old)
    model.graph.input.append(helper.make_tensor_value_info(
        name, TensorProto.FLOAT, shape))


def image_input(m, model, path, error):
    of_shape(model, "x", [1, int(m[1]), 6, 6])


def larger_input(m, model, path, error):
    of_shape(model, "x", [1, 2, *json.loads(m[1])])


def recurrent(m, model, path, error):
    names = ["X", "W", "R", "B", "sequence_lens", "initial_h", "initial_c", "P"]
    of_shape(model, node_of(model, error).input[names.index(m[1])],
             [{"batch": 1, "length": 2}.get(n, 3) if not n.isdigit() else int(n)
              for n in m[2].split(", ")])


def reshape_before(m, model, path, error):
    node, at = node_of(model, error), ("first", "second").index(m[2])
    model.graph.initializer.append(numpy_helper.from_array(
        np.array(json.loads(m[1]), np.int64), "asked"))
    made = helper.make_node("Reshape", [node.input[at], "asked"], ["reshaped"])
    node.input[at] = "reshaped"
    model.graph.node.insert(list(model.graph.node).index(node), made)


def unmade(model):
    """The names that are read and not made."""
    made = {v.name for v in [*model.graph.initializer, *model.graph.input]}
    made |= {o for n in model.graph.node for o in n.output}
    return [i for n in model.graph.node for i in n.input if i not in made]


def output_renamed(m, model, path, error):
    twice = re.search(r"tensor '(\w+)'", error)[1]
    node = [n for n in model.graph.node if twice in n.output][-1]
    node.output[0] = (unmade(model) or ["renamed"])[0]


def tensor_given(m, model, path, error):
    of_shape(model, m[1], [1, 3, 4, 4] if m[1] == "c" else [1, 2, 6, 6])


def output_named(m, model, path, error):
    del model.graph.output[:]
    model.graph.output.append(helper.make_empty_tensor_value_info(m[1]))


# In a model: the remedy's pattern, how it changes the model.
MODELS = (
    (r"scales are positive and finite|a scale must be positive", scales),
    (r"whole bit widths from 1 to (16)", lambda m, model, path, error: constants(
        model, ("b",), lambda v: np.float32(m[1]))),
    (r"whole numbers are supported", lambda m, model, path, error: constants(
        model, ("z",), lambda v: np.float32(0))),
    (r"^(ROUND), CEIL, .* are supported", lambda m, model, path, error: attribute(
        model, "rounding_mode", m[1])),
    (r"store the scale as (float32)", lambda m, model, path, error: constants(
        model, ("s",), lambda v: v.astype(m[1]))),
    (r"store the zero point as (int8)", lambda m, model, path, error: constants(
        model, ("z",), lambda v: v.astype(m[1]))),
    (r"make them one, or leave (kernel_shape) out",
     lambda m, model, path, error: attribute(model, m[1])),
    (r"convert it with onnx.version_converter.*?(?:opset (\d+))?$", version),
    (r"give the model together with its data file", data_file),
    (r"put a Cast to float32 before it", put_cast),
    (r"replace it by operations of docs/operations.md", replaced),
    (r"or use (ConvInteger)", dequantized),
    (r"give the inputs that are missing", inputs_given),
    (r"^leave it out$", output_left_out),
    (r"write (\w+) = (\[[\d, ]+\]|\d+|[A-Z]+)", written),
    (r"give an input \[1, (\d+), H, W\]", image_input),
    (r"at least (\[[\d, ]+\]) positions: give a larger input", larger_input),
    (r"give a bias of shape \[(\d+)\]", lambda m, model, path, error: of_shape(
        model, "i1", [int(m[1])])),
    (r"give (\w+) the shape \[(.*?)\]", recurrent),
    (r"put a Reshape to (\[.*?\]) before its (first|second) input",
     reshape_before),
    (r"the keys and the values one number of heads",
     lambda m, model, path, error: of_shape(model, "i1", [1, 2, 5, 2])),
    (r"rename this output", output_renamed),
    (r"give the model an initializer or an input '(\w+)'", tensor_given),
    (r"in graph.output, such as '(\w+)'", output_named),
)


def edited(trial, error, cure):
    """The command with a changed file, if a remedy is about the file."""
    for i in trial.files():
        path = pathlib.Path(trial.args[i])
        new = trial.suite.work / f"edited{next(trial.serial)}"
        if path.suffix in (".cfd", ".f90"):
            text = path.read_text()
            for pattern, change in KERNELS:
                if m := re.search(pattern, cure):
                    new = new.with_suffix(path.suffix)
                    new.write_text(change(m, text, error))
                    yield trial.put(i, new)
                    new = trial.suite.work / f"edited{next(trial.serial)}"
        elif path.suffix == ".onnx" and cure:
            if "rename it" in cure:
                new = new.with_suffix(".onnx")
                new.write_bytes(path.read_bytes().replace(b"\xff", b"v"))
                yield trial.put(i, new)
                return
            if "give an ONNX model" in cure:
                yield trial.put(i, trial.names["tiny"])
                return
            for pattern, change in MODELS:
                if m := re.search(pattern, cure):
                    model = onnx.load(path, load_external_data=False)
                    change(m, model, path, error)
                    new = new.with_suffix(".onnx")
                    onnx.save(model, new)
                    yield trial.put(i, new)
                    return
