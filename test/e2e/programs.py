# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random programs of ONNX operations (casts, integers of every width, division,
indices, concatenation, Resize) against exact arithmetic: Python's integers,
wrapped to the type that the file declares, and rationals. A model holds many
programs side by side, each with an input and an output of its own, so that one
process computes them all. Values, shapes and the types of the files must be the
same."""
import fractions
import itertools
import math
import random

import framework

WIDTHS = {f"{sign}int{bits}": (bits, not sign) for bits in (8, 16, 32, 64)
          for sign in ("", "u")}
SIGNED = [kind for kind, (_, signed) in WIDTHS.items() if signed]
WIDE = ["int32", "int64", "uint32", "uint64"]
TOGETHER = 100  # programs in a model
FRAMES = 2


def tools():
    try:
        import numpy as np
        import onnx
        import onnxkit
    except ImportError as why:
        raise framework.Skip(f"no {why.name}: run make setup") from None
    return np, onnx, onnxkit


def wrap(value, kind):
    """A whole number as one of the type."""
    if kind == "bool":
        return int(value != 0)
    bits, signed = WIDTHS[kind]
    value = int(value) & ((1 << bits) - 1)
    return value - (1 << bits) if signed and value >> (bits - 1) else value


def span(kind):
    if kind == "bool":
        return 0, 1
    bits, signed = WIDTHS[kind]
    return ((-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if signed
            else (0, (1 << bits) - 1))


def quotient(x, y):
    """Towards zero."""
    q = abs(x) // abs(y)
    return q if (x < 0) == (y < 0) else -q


def nearest(at, mode):
    half = fractions.Fraction(1, 2)
    return {"floor": math.floor(at), "ceil": math.ceil(at),
            "round_prefer_floor": math.ceil(at - half),
            "round_prefer_ceil": math.floor(at + half)}[mode]


def coordinate(mode, place, n, m, scale):
    """ONNX's formulas, in rationals."""
    half = fractions.Fraction(1, 2)
    if mode == "asymmetric":
        return place / scale
    if mode == "align_corners":
        return fractions.Fraction(place * (n - 1), m - 1) if m > 1 else 0
    if mode == "tf_half_pixel_for_nn":
        return (place + half) / scale
    if mode == "pytorch_half_pixel" and m <= 1:
        return 0
    at = (place + half) / scale - half
    if mode == "half_pixel_symmetric":
        at += fractions.Fraction(n, 2) * (1 - m / (scale * n))
    return at


class Program:
    """A chain of operations, with the values of each frame as arrays of Python's
    numbers."""

    def __init__(self, np, builder, rng, number):
        self.np, self.b, self.rng, self.number = np, builder, rng, number
        shape = [rng.choice((1, 2, 3, 4)) for _ in range(rng.randint(1, 3))]
        self.kind = rng.choice(["float", "int8", "uint8", "int16", "uint16",
                                "int32", "uint32", "int64"])
        self.input = builder.input(shape, name=f"p{number}", kind="float")
        self.value = self.input
        self.frames = [self.drawn(self.kind, shape) for _ in range(FRAMES)]
        self.given, self.given_kind = list(self.frames), self.kind
        builder.inputs[-1].type.tensor_type.elem_type = self.type(self.kind)

    def type(self, kind):
        import onnx
        return getattr(onnx.TensorProto, kind.upper())

    # Values.

    def array(self, values, shape):
        """Of numbers of Python's own, which have no limits."""
        out = self.np.empty(shape, object)
        out.reshape(-1)[:] = [v.item() if isinstance(v, self.np.generic) else v
                              for v in values]
        return out

    def drawn(self, kind, shape):
        count = math.prod(shape)
        if kind == "float":
            values = [self.rng.randint(-400, 400) / 8 for _ in range(count)]
        else:
            low, high = span(kind)
            values = [self.rng.choice((
                self.rng.randint(low, high), low, high, self.rng.randint(
                    max(low, -9), min(high, 9)))) for _ in range(count)]
        return self.array(values, shape)

    def constant(self, values, kind):
        np = self.np
        array = np.array(values.tolist(), "float32" if kind == "float" else kind)
        return self.b.constant(array.reshape(values.shape), kind)

    def whole(self, *values):
        return self.constant(self.array(values, [len(values)]), "int64")

    def shape(self):
        return list(self.frames[0].shape)

    def size(self):
        return self.frames[0].size

    def give(self, op, *others, kind=None, fn=None, outputs=1, take=0,
             **attributes):
        """Applies an operation to the value and others; `fn` to each frame."""
        result = self.b.node(op, self.value, *others, outputs=outputs,
                             **attributes)
        self.value = result if outputs == 1 else result[take]
        made = [self.np.asarray(fn(frame), object) for frame in self.frames]
        self.frames = [self.array(m.reshape(-1), m.shape) for m in made]
        self.kind = kind or self.kind

    def each(self, fn, kind=None):
        """Of each number, wrapped to the type."""
        kind = kind or self.kind

        def of(frame, *others):
            others = [self.np.broadcast_to(o, frame.shape) for o in others]
            rows = zip(frame.reshape(-1), *(o.reshape(-1) for o in others))
            values = [fn(*row) for row in rows]
            if kind != "float":
                values = [wrap(int(v), kind) for v in values]
            return self.array(values, frame.shape)
        return of

    def largest(self):
        return max((abs(v) for f in self.frames for v in f.reshape(-1)),
                   default=0)

    # Operations; each says whether it was one for this value.

    def cast(self):
        to = self.rng.choice([*WIDTHS, "bool", "float"])
        if self.kind == "float":
            low, high = span(to) if to != "float" else (0, 0)
            if to not in ("float", "bool") and any(
                    not low <= math.trunc(v) <= high
                    for f in self.frames for v in f.reshape(-1)):
                to = "int64"
            fn = {"float": lambda v: v, "bool": bool}.get(to, math.trunc)
        else:
            if to == "float" and self.largest() > 1 << 12:
                return False
            fn = float if to == "float" else lambda v: v
        self.give("Cast", kind=to, fn=self.each(fn, to), to=self.type(to))
        return True

    def operand(self, kind, nonzero=False):
        """A constant that broadcasts, or has the value's shape."""
        shape = self.rng.choice([[], [1] * bool(self.shape()), self.shape()])
        if kind == "float":
            values = [self.rng.randint(-24, 24) / 8 for _ in
                      range(math.prod(shape))]
        else:
            low, high = span(kind)
            near = lambda: self.rng.randint(max(low, -12), min(high, 12))
            values = [self.rng.choice((near(), near(), near(),
                                       self.rng.randint(low, high)))
                      for _ in range(math.prod(shape))]
        if nonzero:
            values = [v or 3 for v in values]
        made = self.array(values, shape)
        return self.constant(made, kind), made

    def arithmetic(self):
        if self.kind == "bool" or (self.kind == "float"
                                   and self.largest() > 1 << 10):
            return False
        op, fn = self.rng.choice([
            ("Add", lambda x, y: x + y), ("Sub", lambda x, y: x - y),
            ("Mul", lambda x, y: x * y)])
        name, made = self.operand(self.kind)
        if self.rng.random() < 0.2:  # with itself
            self.give(op, self.value, fn=self.each(lambda x: fn(x, x)))
        else:
            of = self.each(fn)
            self.give(op, name, fn=lambda f: of(f, made))
        return True

    def division(self):
        if self.kind in ("bool", "float"):
            return False
        name, made = self.operand(self.kind, nonzero=True)
        op = self.rng.choice(["Div", "Mod", "Mod"])
        if op == "Div":
            of = self.each(quotient)
            self.give("Div", name, fn=lambda f: of(f, made))
            return True
        fmod = self.rng.randint(0, 1)
        of = self.each(lambda x, y: x - y * quotient(x, y) if fmod else x % y)
        self.give("Mod", name, fn=lambda f: of(f, made), fmod=fmod)
        return True

    def power(self):
        if self.kind not in ("int32", "int64"):
            return False
        n = self.rng.randint(0, 5)
        name = self.constant(self.array([n], []), self.kind)
        self.give("Pow", name, fn=self.each(lambda x: x ** n))
        return True

    def unary(self):
        if self.kind == "bool":
            self.give("Not", fn=self.each(lambda v: not v))
            return True
        choice = [("Abs", abs), ("Sign", lambda v: int(v > 0) - int(v < 0))]
        if self.kind == "float":
            choice += [("Floor", math.floor), ("Ceil", math.ceil),
                       ("Relu", lambda v: max(v, 0)),
                       ("Round", lambda v: round(v))]
        else:
            choice.append(("BitwiseNot", lambda v: ~v))
        if self.kind in SIGNED or self.kind == "float":
            choice.append(("Neg", lambda v: -v))
        op, fn = self.rng.choice(choice)
        self.give(op, fn=self.each(fn))
        return True

    def extremum(self):
        if self.kind == "bool":
            return False
        op, fn = self.rng.choice([("Max", max), ("Min", min)])
        others = [self.operand(self.kind)
                  for _ in range(self.rng.choice((0, 1, 1, 2)))]
        of = self.each(lambda *v: fn(v))
        self.give(op, *(name for name, _ in others),
                  fn=lambda f: of(f, *(made for _, made in others)))
        return True

    def clip(self):
        if self.kind == "bool":
            return False
        low, high = sorted(self.operand(self.kind)[1].reshape(-1)[0]
                           for _ in range(2))
        names = [self.constant(self.array([v], []), self.kind)
                 for v in (low, high)]
        self.give("Clip", *names,
                  fn=self.each(lambda v: min(max(v, low), high)))
        return True

    def bits(self):
        if self.kind not in WIDTHS:
            return False
        if self.kind not in SIGNED and self.rng.random() < 0.5:
            by = self.rng.randint(0, WIDTHS[self.kind][0] - 1)
            left = self.rng.random() < 0.5
            name = self.constant(self.array([by], []), self.kind)
            self.give("BitShift", name, direction="LEFT" if left else "RIGHT",
                      fn=self.each(lambda v: v << by if left else v >> by))
            return True
        op, fn = self.rng.choice([
            ("BitwiseAnd", lambda x, y: x & y), ("BitwiseOr", lambda x, y: x | y),
            ("BitwiseXor", lambda x, y: x ^ y)])
        name, made = self.operand(self.kind)
        of = self.each(fn)
        self.give(op, name, fn=lambda f: of(f, made))
        return True

    def compare(self):
        if self.kind == "bool":
            return False
        op, fn = self.rng.choice([
            ("Less", lambda x, y: x < y), ("Greater", lambda x, y: x > y),
            ("LessOrEqual", lambda x, y: x <= y), ("Equal", lambda x, y: x == y),
            ("GreaterOrEqual", lambda x, y: x >= y)])
        name, made = self.operand(self.kind)
        of, kind = self.each(fn, "bool"), self.kind
        value, frames = self.value, self.frames
        self.give(op, name, kind="bool", fn=lambda f: of(f, made))
        if self.rng.random() < 0.6:  # and choose by it
            other, second = self.operand(kind)
            truths = self.frames
            self.value = self.b.node("Where", self.value, value, other)
            self.kind = kind
            choose = self.each(lambda x, t, y: x if t else y)
            self.frames = [choose(f, t, second)
                           for f, t in zip(frames, truths)]
        return True

    def reduce(self):
        axis = self.rng.randrange(len(self.shape()) or 1)
        keep = self.rng.randint(0, 1)
        ops = {"ReduceMax": max, "ReduceMin": min}
        if self.kind == "bool" or not self.shape() or (
                self.kind not in (*WIDE, "int8", "uint8", "float")):
            return False
        if self.kind in WIDE:
            ops |= {"ReduceSum": sum, "ReduceProd": math.prod,
                    "ReduceL1": lambda v: sum(map(abs, v)),
                    "ReduceSumSquare": lambda v: sum(x * x for x in v)}
        op = self.rng.choice(sorted(ops))

        def of(frame):
            moved = self.np.moveaxis(frame, axis, -1)
            rest = moved.shape[:-1]
            values = [ops[op](list(row))
                      for row in moved.reshape(-1, moved.shape[-1])]
            if self.kind != "float":
                values = [wrap(v, self.kind) for v in values]
            out = self.array(values, rest)
            return self.np.expand_dims(out, axis) if keep else out
        self.give(op, self.whole(axis), fn=of, keepdims=keep)
        return True

    def running(self):
        if self.kind not in WIDE or not self.shape():
            return False
        axis = self.rng.randrange(len(self.shape()))

        def of(frame):
            out = self.np.cumsum(frame, axis=axis, dtype=object)
            return self.array([wrap(v, self.kind) for v in out.reshape(-1)],
                              frame.shape)
        name = self.constant(self.array([axis], []), "int64")
        self.give("CumSum", name, fn=of)
        return True

    def most(self):
        if self.kind == "bool" or not self.shape():
            return False
        axis = self.rng.randrange(len(self.shape()))
        op = self.rng.choice(["ArgMax", "ArgMin"])
        fn = self.np.argmax if op == "ArgMax" else self.np.argmin

        def of(frame):
            out = fn(frame, axis=axis)
            return self.array([int(v) for v in self.np.ravel(out)],
                              self.np.shape(out))
        self.give(op, kind="int64", fn=of, axis=axis, keepdims=0)
        return True

    def gather(self):
        if not self.shape():
            return False
        axis = self.rng.randrange(len(self.shape()))
        n = self.shape()[axis]
        index = [self.rng.randrange(-n, n)
                 for _ in range(self.rng.choice((1, 2, 3)))]
        if self.rng.random() < 0.4 and self.kind not in ("float", "bool"):
            # A table read at what the value says.
            rows = self.rng.randint(1, 5)
            table = self.drawn(self.kind, [rows, 2])
            if self.rng.random() < 0.5:
                self.give("Cast", kind="int64", to=self.type("int64"),
                          fn=self.each(lambda v: v, "int64"))
            else:
                self.give("Cast", kind="int32", to=self.type("int32"),
                          fn=self.each(lambda v: v, "int32"))
            size = self.constant(self.array([rows], []), self.kind)
            self.give("Mod", size, fn=self.each(lambda v: v % rows))
            kind = self.rng.choice(["int8", "uint16", "int64"])
            made = self.each(lambda v: v, kind)(table)
            name = self.constant(made, kind)
            self.value = self.b.node("Gather", name, self.value, axis=0)
            self.frames = [made[f.astype(int)] for f in self.frames]
            self.kind = kind
            return True
        self.give("Gather", self.whole(*index), axis=axis,
                  fn=lambda f: self.np.take(f, [i % n for i in index], axis))
        return True

    def scatter(self):
        if not self.shape() or self.kind == "bool":
            return False
        n = self.shape()[0]
        row = self.shape()[1:]
        index = self.rng.randrange(-n, n)
        fresh = self.drawn(self.kind, [1, *row])
        add = self.rng.random() < 0.5 and self.kind != "float"

        def of(frame):
            out = frame.copy()
            sum_of = self.each(lambda x, y: x + y)
            at = slice(index % n, index % n + 1)
            out[at] = sum_of(out[at], fresh) if add else fresh
            return out
        where = self.constant(self.array([index], [1, 1]), "int64")
        self.give("ScatterND", where, self.constant(fresh, self.kind), fn=of,
                  reduction="add" if add else "none")
        return True

    def concat(self):
        if not self.shape():
            return False
        axis = self.rng.randrange(len(self.shape()))
        parts = [None]
        for _ in range(self.rng.choice((0, 0, 1, 2))):
            shape = self.shape()
            shape[axis] = self.rng.choice((0, 0, 1, 2))
            parts.insert(self.rng.randint(0, len(parts)),
                         self.drawn(self.kind, shape))
        names = [self.value if p is None else self.constant(p, self.kind)
                 for p in parts]
        self.value = self.b.node("Concat", *names, axis=axis)
        self.frames = [self.np.concatenate(
            [f if p is None else p for p in parts], axis) for f in self.frames]
        return True

    def split(self):
        if not self.shape():
            return False
        axis = self.rng.randrange(len(self.shape()))
        n = self.shape()[axis]
        count = self.rng.randint(1, min(n, 3))
        cuts = sorted(self.rng.sample(range(1, n), count - 1))
        sizes = [b - a for a, b in itertools.pairwise([0, *cuts, n])]
        take = self.rng.randrange(count)
        self.give("Split", self.whole(*sizes), outputs=count, take=take,
                  axis=axis, fn=lambda f: self.np.split(f, cuts, axis)[take])
        return True

    def move(self):
        rank = len(self.shape())
        which = self.rng.choice(["Transpose", "Reshape", "Unsqueeze", "Slice",
                                 "Tile", "Pad", "Identity"])
        np = self.np
        if which == "Transpose" and rank:
            perm = self.rng.sample(range(rank), rank)
            self.give(which, perm=perm, fn=lambda f: np.transpose(f, perm))
        elif which == "Reshape":
            self.give(which, self.whole(-1), fn=lambda f: f.reshape(-1))
        elif which == "Unsqueeze" and rank < 4:
            axis = self.rng.randint(0, rank)
            self.give(which, self.whole(axis),
                      fn=lambda f: np.expand_dims(f, axis))
        elif which == "Slice" and rank:
            axis = self.rng.randrange(rank)
            step = self.rng.choice((1, -1, 2))
            first, last = (0, 1 << 40) if step > 0 else (-1, -(1 << 40))
            index = [slice(None)] * rank
            index[axis] = slice(None, None, step)
            self.give(which, *(self.whole(v) for v in (first, last, axis, step)),
                      fn=lambda f: f[tuple(index)])
        elif which == "Tile" and rank and self.size() < 12:
            times = [self.rng.randint(1, 2) for _ in range(rank)]
            self.give(which, self.whole(*times), fn=lambda f: np.tile(f, times))
        elif which == "Pad" and rank and self.size() < 12:
            pads = [self.rng.randint(0, 1) for _ in range(2 * rank)]
            fill = self.drawn(self.kind, [1])[0]
            name = self.constant(self.array([fill], []), self.kind)
            self.give(which, self.whole(*pads), name, fn=lambda f: np.pad(
                f, list(zip(pads[:rank], pads[rank:])), constant_values=fill))
        elif which == "Identity":
            self.give(which, fn=lambda f: f)
        else:
            return False
        return True

    def resize(self):
        shape = self.shape()
        if not 1 <= len(shape) <= 4 or self.size() > 40 or self.kind == "bool":
            return False
        by = self.rng.choice(["half_pixel", "pytorch_half_pixel", "asymmetric",
                              "align_corners", "half_pixel_symmetric"])
        mode = self.rng.choice(["round_prefer_floor", "round_prefer_ceil",
                                "floor", "ceil"])
        np = self.np
        if self.rng.random() < 0.6:
            sizes = [self.rng.randint(1, 9) for _ in shape]
            scales = [fractions.Fraction(m, n) for m, n in zip(sizes, shape)]
            given = ["", "", self.whole(*sizes)]
        else:
            floats = [np.float32(self.rng.choice((0.3, 0.6, 0.7, 1, 1.5, 2, 2.5)))
                      for _ in shape]
            sizes = [int(np.floor(np.float32(n) * s))
                     for n, s in zip(shape, floats)]
            if 0 in sizes:
                return False
            scales = [fractions.Fraction(float(s)) for s in floats]
            given = ["", self.constant(self.array(
                [float(s) for s in floats], [len(floats)]), "float")]

        def of(frame):
            for axis, (n, m, scale) in enumerate(zip(shape, sizes, scales)):
                index = [min(max(nearest(coordinate(by, i, n, m, scale), mode),
                                 0), n - 1) for i in range(m)]
                frame = np.take(frame, index, axis)
            return frame
        self.give("Resize", *given, fn=of, mode="nearest", nearest_mode=mode,
                  coordinate_transformation_mode=by)
        return True

    def run(self):
        steps = [self.cast, self.cast, self.arithmetic, self.arithmetic,
                 self.division, self.division, self.power, self.unary,
                 self.extremum, self.clip, self.bits, self.compare, self.reduce,
                 self.running, self.most, self.gather, self.scatter, self.concat,
                 self.split, self.move, self.resize]
        wanted = self.rng.randint(3, 8)
        while wanted:
            wanted -= self.rng.choice(steps)()
            if self.size() > 200:
                break
        # Its last value is a node's, not an input.
        self.give("Identity", fn=lambda f: f)
        self.b.nodes[-1].output[0] = f"y{self.number}"
        self.value = f"y{self.number}"


def model_of(np, onnx, kit, seed, count):
    builder = kit.Builder(opset=18)
    made = []
    for number in range(count):
        rng = random.Random(f"{seed}/{number}")
        made.append(Program(np, builder, rng, number))
        made[-1].run()
    builder.outputs = []
    graph = onnx.helper.make_graph(
        builder.nodes, "programs", builder.inputs,
        [onnx.helper.make_tensor_value_info(p.value, p.type(p.kind), p.shape())
         for p in made], builder.constants)
    model = onnx.helper.make_model(
        graph, opset_imports=[onnx.helper.make_opsetid("", 18)], ir_version=8)
    return model, made


def stored(np, frames, kind):
    """What a file of ours must hold."""
    return np.stack([np.array(f.tolist(), "float32" if kind == "float" else kind)
                     .reshape(f.shape) for f in frames])


def operations_of(model, output):
    """The program behind an output, for messages."""
    makers = {o: n for n in model.graph.node for o in n.output}
    names = []
    while output in makers:
        names.insert(0, makers[output].op_type)
        output = next((i for i in makers[output].input
                       if i in makers or i.startswith("p")), "")
    return " ".join(names)


def run_model(suite, np, onnx, kit, seed, count):
    """Returns how many programs differ."""
    model, made = model_of(np, onnx, kit, seed, count)
    onnx.checker.check_model(model)
    path = suite.work / f"programs{seed}.onnx"
    onnx.save(model, path)
    feeds = {p.input: stored(np, p.given, p.given_kind) for p in made}
    got, result = kit.our_outputs(suite, path, feeds, count)
    if got is None:
        suite.check(False, f"seed {seed}: {kit.refusals(result)}",
                    result.command)
        return count
    wrong = 0
    for program, have in zip(made, got):
        want = stored(np, program.frames, program.kind)
        if have.dtype == want.dtype and have.shape == want.shape and (
                have == want).all():
            continue
        wrong += 1
        what = (f"{have.dtype}{list(have.shape)} instead of "
                f"{want.dtype}{list(want.shape)}"
                if have.dtype != want.dtype or have.shape != want.shape else
                f"{have[have != want][:4]} instead of {want[have != want][:4]}")
        suite.check(False, f"seed {seed}, program {program.number} "
                    f"({operations_of(model, program.value)}): {what}",
                    result.command)
    return wrong


def programs(suite, count="300"):
    np, onnx, kit = tools()
    wrong = done = 0
    for seed in range(int(count) // TOGETHER):
        wrong += run_model(suite, np, onnx, kit, seed, TOGETHER)
        done += TOGETHER
    suite.check(wrong == 0, f"{done} random programs equal exact arithmetic")
