# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a remedy says about an input file, done to the file: each entry is a
pattern of remedies and how it changes a kernel's text or a model."""
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


def scales(m, model, path):
    constants(model, ("s", "s2", "sw"),
              lambda v: np.where((v > 0) & np.isfinite(v), v, 0.1)
              .astype(v.dtype))


def attribute(model, name, value=None):
    for node in model.graph.node:
        for old in [a for a in node.attribute if a.name == name]:
            node.attribute.remove(old)
            if value is not None:
                node.attribute.append(helper.make_attribute(name, value))


def version(m, model, path):
    if m[1]:
        model.opset_import[0].version = int(m[1])
    model.ir_version = 8


def data_file(m, model, path):
    for tensor in model.graph.initializer:
        if tensor.data_location == TensorProto.EXTERNAL:
            (path.parent / tensor.external_data[0].value).write_bytes(bytes(54))


def put_cast(m, model, path):
    """A Cast to float32 before what reads integers."""
    nodes = list(model.graph.node)
    at = next(i for i, n in enumerate(nodes) if n.input[0] == "e")
    nodes[at].input[0] = "e_float"
    nodes.insert(at, helper.make_node("Cast", ["e"], ["e_float"],
                                      to=TensorProto.FLOAT))
    del model.graph.node[:]
    model.graph.node.extend(nodes)


def replaced(m, model, path):
    for node in model.graph.node:
        if node.op_type in ("Frobnicate", "RandomNormalLike", "Unique",
                            "NonZero"):
            node.op_type = "Relu"
            del node.attribute[:]


def dequantized(m, model, path):
    """Every input of the Conv through a DequantizeLinear, or a ConvInteger."""
    if "use" in m[0]:
        model.graph.node[0].op_type = m[1]


def inputs_given(m, model, path):
    node = model.graph.node[3]
    node.input.extend(["xd", "wd"])


def output_left_out(m, model, path):
    weights = next(i for i in model.graph.initializer if i.name == "w")
    weights.CopyFrom(numpy_helper.from_array(np.ones((3, 2, 3, 3), np.int8), "w"))


# In a model: the remedy's pattern, how it changes the model.
MODELS = (
    (r"scales are positive and finite|a scale must be positive", scales),
    (r"whole bit widths from 1 to (16)", lambda m, model, path: constants(
        model, ("b",), lambda v: np.float32(m[1]))),
    (r"whole numbers are supported", lambda m, model, path: constants(
        model, ("z",), lambda v: np.float32(0))),
    (r"^(ROUND), CEIL, .* are supported", lambda m, model, path: attribute(
        model, "rounding_mode", m[1])),
    (r"store the scale as (float32)", lambda m, model, path: constants(
        model, ("s",), lambda v: v.astype(m[1]))),
    (r"store the zero point as (int8)", lambda m, model, path: constants(
        model, ("z",), lambda v: v.astype(m[1]))),
    (r"make them one, or leave (kernel_shape) out",
     lambda m, model, path: attribute(model, m[1])),
    (r"convert it with onnx.version_converter.*?(?:opset (\d+))?$", version),
    (r"give the model together with its data file", data_file),
    (r"put a Cast to float32 before it", put_cast),
    (r"replace it by operations of docs/operations.md", replaced),
    (r"or use (ConvInteger)", dequantized),
    (r"give the inputs that are missing", inputs_given),
    (r"^leave it out$", output_left_out),
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
                    change(m, model, path)
                    new = new.with_suffix(".onnx")
                    onnx.save(model, new)
                    yield trial.put(i, new)
                    return
