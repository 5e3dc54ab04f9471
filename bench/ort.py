#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every accepted model of ../shared/models, compared with ONNX Runtime, which
computes each node as it is written: how many elements of the outputs are equal,
the largest difference and its kind, and the time of a frame on one
thread (ONNX Runtime with all its optimizations). Prints the table and writes
bench/onnxruntime.json and bench/onnxruntime.txt.

The kinds of a model's outputs:
  exact    every element is equal
  float    differs by at most 8 times as much as ONNX Runtime's own outputs
           when float constants change by one unit in the last place or its graph
           is optimized, plus 2^-20 of the largest output
  ties     a QDQ network: every code inside ONNX Runtime that is not the exact
           one has an exact value at a tie, or as near to a rounding boundary as
           float32's error (test/e2e/reference.py)
  meaning  the two compute something else on purpose; the row gives the reason
  DIFFERS  none of these
  not computed  the CPU path refused it, or took too long; the row gives the reason
"""
import argparse
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
VENV = ROOT / ".venv/bin/python"
sys.path[:0] = [str(ROOT / "test/e2e"), str(ROOT / "test/reference"),
                str(ROOT / "bench")]
sys.dont_write_bytecode = True

# Models for which the two have different semantics, by name.
MEANING = ()
FACTOR, FLOOR = 8, 2.0 ** -20
DRAWS = 3
MEASURE_S = 0.25
TIMEOUT_S = 300
PRODUCTS = ("QLinearConv", "QLinearMatMul")
KINDS = ("exact", "float", "ties", "meaning", "DIFFERS", "not computed")


def value_range(model, name, options):
    """LOW, HIGH of a float input: the range that its quantizer distinguishes."""
    np, onnx = modules()
    if any(str(o).startswith(f"{name}=") for o in options
           if re.search(r"=[us]\d+$", str(o))):
        return 0, 255, True
    held = {t.name: onnx.numpy_helper.to_array(t)
            for t in model.graph.initializer}
    for node in model.graph.node:
        if node.op_type != "QuantizeLinear" or node.input[0] != name \
                or node.input[1] not in held:
            continue
        zero = held.get(node.input[2]) if len(node.input) > 2 else None
        kind = np.uint8 if zero is None else zero.dtype
        if kind.kind not in "iu" or kind.itemsize > 2:
            break
        low, high = np.iinfo(kind).min, np.iinfo(kind).max
        scale = float(np.max(held[node.input[1]]))
        zero = 0 if zero is None else float(np.mean(zero))
        return (low - zero) * scale, (high - zero) * scale, False
    return -1, 1, False


def modules():
    import numpy
    import onnx
    return numpy, onnx


def draw_frames(model, session, options, count):
    """Seeded values of every graph input."""
    np, _ = modules()
    shapes = {}
    for at, option in enumerate(options):
        if option == "--shape":
            name, sizes = options[at + 1].split("=")
            shapes[name] = [int(n) for n in sizes.split(",")]
    draw = np.random.RandomState(7)
    frames = []
    for _ in range(count):
        frame = {}
        for i in session.get_inputs():
            shape = shapes.get(i.name) or [
                d if isinstance(d, int) and d > 0 else 1 for d in i.shape]
            kind = re.fullmatch(r"tensor\((\w+)\)", i.type).group(1)
            kind = {"float": "float32", "double": "float64"}.get(kind, kind)
            if kind == "bool":
                value = draw.randint(0, 2, shape).astype(bool)
            elif kind in ("int8", "uint8"):
                info = np.iinfo(kind)
                value = draw.randint(info.min, info.max + 1, shape).astype(kind)
            elif kind.startswith(("int", "uint")):
                value = draw.randint(0, 2, shape).astype(kind)
            else:
                low, high, whole = value_range(model, i.name, options)
                value = draw.uniform(low, high, shape)
                value = (np.rint(value) if whole else value).astype(kind)
            frame[i.name] = value
        frames.append(frame)
    return frames


def wobbled(model, draw):
    """A copy whose float constants are off by at most one unit in the last
    place of their type."""
    np, onnx = modules()
    copy = onnx.ModelProto()
    copy.CopyFrom(model)

    def move(tensor):
        array = onnx.numpy_helper.to_array(tensor)
        if array.dtype.kind != "f":
            return
        toward = draw.choice([-np.inf, np.inf], array.shape)
        moved = np.where(draw.randint(0, 3, array.shape) == 0, array,
                         np.nextafter(array, toward.astype(array.dtype)))
        tensor.CopyFrom(onnx.numpy_helper.from_array(
            moved.astype(array.dtype), tensor.name))
    for tensor in copy.graph.initializer:
        move(tensor)
    for node in copy.graph.node:
        if node.op_type == "Constant":
            for attribute in node.attribute:
                if attribute.name == "value":
                    move(attribute.t)
    return copy


def bounds(model, session, frames, wanted):
    """For each output, the maximum change caused by float's rounding."""
    np, _ = modules()
    import ort_reference
    spread = [0.0] * len(wanted[0])
    draw = np.random.RandomState(11)
    others = [ort_reference.session(model, optimize=True)]
    for _ in range(DRAWS):
        try:
            others.append(ort_reference.session(wobbled(model, draw)))
        except Exception:  # e.g. a scale that must be what it is
            break
    for other in others:
        for frame, want in zip(frames, wanted):
            try:
                moved = other.run(None, frame)
            except Exception:  # a size that is a float constant moved
                break
            for k, value in enumerate(moved):
                if np.shape(value) != np.shape(want[k]):
                    continue
                apart = abs(np.asarray(value, np.float64)
                            - np.asarray(want[k], np.float64))
                apart = apart[np.isfinite(apart)]
                spread[k] = max(spread[k], float(apart.max(initial=0)))
    return [FACTOR * s + FLOOR * max(
        float(np.abs(np.nan_to_num(np.asarray(want[k], np.float64),
                                   posinf=0, neginf=0)).max(initial=0))
        for want in wanted) for k, s in enumerate(spread)]


def as_qdq(model):
    """The products of QOperator form between DequantizeLinear and
    QuantizeLinear, which is how ONNX defines them."""
    np, onnx = modules()
    make = onnx.helper.make_node
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    held = {t.name: onnx.numpy_helper.to_array(t)
            for t in model.graph.initializer}
    nodes = []
    for n in model.graph.node:
        if n.op_type not in PRODUCTS:
            nodes.append(n)
            continue
        base, i = n.output[0], n.input
        real = [f"{base} {k}" for k in ("x", "w", "b", "y")]
        conv = n.op_type == "QLinearConv"
        nodes.append(make("DequantizeLinear", i[0:3], [real[0]]))
        nodes.append(make("DequantizeLinear", i[3:6], [real[1]],
                          axis=0 if conv else 1))
        data = real[:2]
        if conv and len(i) > 8:
            scale = f"{base} scale"
            copy.graph.initializer.append(onnx.numpy_helper.from_array(
                (held[i[1]] * held[i[4]]).astype(np.float32), scale))
            zero = f"{base} zero"
            copy.graph.initializer.append(onnx.numpy_helper.from_array(
                np.zeros(np.shape(held[i[4]]), np.int32), zero))
            nodes.append(make("DequantizeLinear", [i[8], scale, zero],
                              [real[2]], axis=0))
            data = real[:3]
        product = make("Conv" if conv else "MatMul", data, [real[3]])
        product.attribute.extend(n.attribute)
        nodes.append(product)
        nodes.append(make("QuantizeLinear", [real[3], i[6], i[7]], [base]))
    del copy.graph.node[:]
    copy.graph.node.extend(nodes)
    return copy


def quantized_causes(model, frames):
    """Codes inside ONNX Runtime that are not the exact ones, by cause; None
    for a graph that the exact evaluation does not support."""
    import ort_reference
    import reference
    if not any(n.op_type in ("QuantizeLinear", *PRODUCTS)
               for n in model.graph.node):
        return None
    try:
        session = ort_reference.session(
            ort_reference.with_intermediates(model))
        names = [o.name for o in session.get_outputs()]
        model = as_qdq(model)
        causes = {}
        for frame in frames:
            runtime = dict(zip(names, session.run(names, frame)))
            local = reference.Exact(model, frame, runtime, follow=True)
            for kind, number in local.differences.items():
                causes[kind] = causes.get(kind, 0) + number
        return causes
    except Exception:
        return None


def ours(rhizome, path, options, frames, outputs, level, folder):
    """Runs the CPU path: its outputs by frame, microseconds a frame."""
    np, _ = modules()
    data = pathlib.Path(folder) / "x.npz"
    np.savez(data, **{name: np.stack([f[name] for f in frames])
                      for name in frames[0]})
    files = [pathlib.Path(folder) / f"y{k}.npy" for k in range(outputs)]
    command = [rhizome, "evaluate", path, *options, "--data", data, "--time",
               "--json", "--float-frames", 0, "--layer-frames", 0]
    if level == "float":
        command = command[:-4] + ["--level", "float"]
    for file in files:
        command += ["--output", file]
    result = subprocess.run([str(c) for c in command], capture_output=True,
                            text=True, timeout=TIMEOUT_S)
    try:
        answer = json.loads(result.stdout)
    except ValueError:
        answer = {"error": f"status {result.returncode}: "
                           f"{result.stderr[-200:]}"}
    if not answer.get("forms"):
        raise RuntimeError(answer.get("error") or json.dumps(answer)[:200])
    values = [np.load(file) for file in files]
    return ([[v[i] for v in values] for i in range(len(frames))],
            answer["forms"][0]["frame_us"])


def runtime_us(model_path, frame):
    """Microseconds of a frame in ONNX Runtime, one thread, the fastest pass."""
    import ort_reference
    session = ort_reference.session(str(model_path), optimize=True)
    for _ in range(3):
        session.run(None, frame)
    count, passes, start = 1, [], time.perf_counter()
    while len(passes) < 3 or time.perf_counter() - start < MEASURE_S:
        begin = time.perf_counter()
        for _ in range(count):
            session.run(None, frame)
        spent = time.perf_counter() - begin
        if spent < 2e-3:
            count *= 2
        else:
            passes.append(spent / count * 1e6)
        if time.perf_counter() - start > 20:
            break
    return min(passes)


def compare(row, model, session, frames, wanted, got):
    """Counts and classes."""
    np, _ = modules()
    total = equal = 0
    largest, relative = 0.0, 0.0
    apart = []
    for want, have in zip(wanted, got):
        for k, w in enumerate(want):
            w = np.asarray(w, np.float64).reshape(-1)
            h = np.asarray(have[k], np.float64).reshape(-1)
            if w.size != h.size:
                row["kind"] = "DIFFERS"
                row["note"] = f"output {k}: {h.size} elements, not {w.size}"
                return
            same = (w == h) | (np.isnan(w) & np.isnan(h))
            total += w.size
            equal += int(same.sum())
            far = np.where(same, 0.0, np.abs(w - h))
            far = np.where(np.isnan(far), np.inf, far)
            worst = float(far.max(initial=0))
            apart.append((k, worst))
            largest = max(largest, worst)
            finite = np.abs(w[np.isfinite(w)])
            relative = max(relative, worst / max(
                float(finite.max(initial=0)), 1e-30))
    row.update(elements=total, equal=equal, largest=largest,
               relative=relative)
    if equal == total:
        row["kind"] = "exact"
        return
    why = next((text for pattern, text in MEANING
                if re.search(pattern, row["model"])), None)
    if why:
        row["kind"], row["note"] = "meaning", why
        return
    causes = quantized_causes(model, frames)
    if causes is not None:
        row["causes"] = causes
        if sum(causes.values()) and not causes.get("bug"):
            row["kind"] = "ties"
            return
    limit = bounds(model, session, frames, wanted)
    row["bound"] = max(limit)
    row["kind"] = "float" if all(worst <= limit[k] for k, worst in apart) \
        else "DIFFERS"


def measure(rhizome, path, name, options, count, meaning=None):
    _, onnx = modules()
    import models
    import networks
    import ort_reference
    row = {"model": name, "options": options}
    if options != models.options_of(name) \
            or not path.is_relative_to(networks.MODELS):
        level = "functional"  # options that make a float network integer
        row["style"] = models.styles(path)
    else:
        covered = models.measure(rhizome, path)
        row["style"] = covered["style"]
        if not covered["verdict"].startswith("accepted"):
            return None
        level = "functional" if covered["fpga"] else "float"
    row["level"] = level
    try:
        model = onnx.load(str(path))
        session = ort_reference.session(str(path))
        frames = draw_frames(model, session, options, count)
        wanted = [session.run(None, frame) for frame in frames]
    except Exception as why:  # onnxruntime's own exceptions have no base
        row["kind"] = "not in ONNX Runtime"
        text = re.sub(r"\s+", " ", str(why))
        text = text.replace(str(path), path.name)
        row["note"] = re.sub(r"^\[ONNXRuntimeError\] : \d+ : ", "", text)[:160]
        wanted = None
    try:
        with tempfile.TemporaryDirectory() as folder:
            if wanted is None:
                return row
            got, row["ours_us"] = ours(rhizome, path, options, frames,
                                       len(wanted[0]), level, folder)
        if meaning:
            row["kind"], row["note"] = "meaning", meaning
        else:
            compare(row, model, session, frames, wanted, got)
        row["ort_us"] = runtime_us(path, frames[0])
        row["ratio"] = row["ort_us"] / row["ours_us"]
    except (RuntimeError, subprocess.TimeoutExpired) as why:
        row["kind"] = "not computed"
        row["note"] = (f"took longer than {TIMEOUT_S} s"
                       if isinstance(why, subprocess.TimeoutExpired)
                       else str(why)[:200])
    return row


def table(rows, count):
    lines = [
        f"Seeded inputs, {count} frames. Kinds: see the head of bench/ort.py. "
        f" us: microseconds of a",
        "frame on one thread, the fastest pass, host parts included; ratio: ONNX Runtime's "
        "time by ours, above 1 we are faster.", "",
        f"{'kind':12} {'equal':>9} {'of':>9} {'largest':>9} {'of output':>9} "
        f"{'bound':>9} {'ours us':>9} {'ORT us':>9} {'ratio':>6}  "
        f"{'style':20} model"]

    def small(value):
        return f"{value:9.2g}" if value else f"{'':9}"
    for r in rows:
        if r["kind"] == "not in ONNX Runtime":
            continue
        lines.append(
            f"{r['kind']:12} {r.get('equal', ''):>9} {r.get('elements', ''):>9} "
            f"{small(r.get('largest'))} {small(r.get('relative'))} "
            f"{small(r.get('bound'))} {r.get('ours_us', 0):9.1f} "
            f"{r.get('ort_us', 0):9.1f} {r.get('ratio', 0):6.2f}  "
            f"{r['style']:20} {r['model']}")
        if r.get("note"):
            lines.append(f"{'':13}{r['note']}")
    missing = [r for r in rows if r["kind"] == "not in ONNX Runtime"]
    if missing:
        lines += ["", "Not in ONNX Runtime:"]
        lines += [f"{r['style']:20} {r['model']}\n{'':21}{r['note']}"
                  for r in missing]
    counts = ", ".join(
        f"{sum(r['kind'] == kind for r in rows)} {kind}"
        for kind in (*KINDS, "not in ONNX Runtime"))
    ratios = sorted(r["ratio"] for r in rows if "ratio" in r)
    lines += ["", counts]
    if ratios:
        below = sum(r < 0.5 for r in ratios)
        lines.append(
            f"ratio: median {statistics.median(ratios):.2f}, "
            f"{sum(r >= 1 for r in ratios)} of {len(ratios)} at least 1, "
            f"{below} below 0.5")
    return "\n".join(line.rstrip() for line in "\n".join(lines).split("\n"))


def main():
    if VENV.exists() and pathlib.Path(sys.prefix) != VENV.parents[1]:
        os.execv(VENV, [str(VENV), *sys.argv])
    import models
    import networks
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rhizome", default=ROOT / "build/bin/rhizome",
                        type=pathlib.Path)
    parser.add_argument("--only", default="", help="a part of the models' names")
    parser.add_argument("--frames", type=int, default=4)
    arguments = parser.parse_args()
    work = [(p, str(p.relative_to(networks.MODELS)), None)
            for p in sorted(networks.MODELS.rglob("*.onnx"))]
    work += [(n.path, n.name, n) for n in networks.NETWORKS.values()
             if n.bench and n.path.exists()
             and (n.options or n.path.is_relative_to(ROOT))]
    rows = []
    for i, (path, name, network) in enumerate(work):
        if arguments.only not in name:
            continue
        print(f"\r{i + 1} of {len(work)}", end="", file=sys.stderr)
        options = list(network.options) if network \
            else models.options_of(name)
        row = measure(arguments.rhizome, path, name, options, arguments.frames,
                      "ONNX Runtime computes the float graph"
                      if network and network.options else None)
        if row:
            rows.append(row)
            if row["kind"] in ("DIFFERS", "not computed"):
                print(f"\n{name}: {row.get('note', 'differs')}",
                      file=sys.stderr)
    print(file=sys.stderr)
    if not rows:
        sys.exit(f"no accepted model named '{arguments.only}'")
    text = table(rows, arguments.frames)
    print(text)
    if not arguments.only:
        (ROOT / "bench/onnxruntime.json").write_text(
            json.dumps(rows, indent=1) + "\n")
        (ROOT / "bench/onnxruntime.txt").write_text(text + "\n")
    return 1 if any(r["kind"] in ("DIFFERS", "not computed")
                    for r in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
