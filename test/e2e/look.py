# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`trace`: layers on data, against numpy and `evaluate`, and nests of kernels,
against `run`. What saturates on purpose is found, and the formats that are
proposed mend it."""
import json
import math
import re

import networks
import numpy as np
import report
from framework import Skip

MLP = networks.ROOT / "examples/pytorch/mlp.onnx"
IMAGES = networks.ROOT / "examples/digits/test_images.npy"
NARROW = ("--number-format", "fixed<1,7>")
FRAMES = 40


def answer(suite, *arguments):
    run = suite.run(*arguments, "--json")
    suite.check(run.status == 0, f"{run.command[:120]}: {run.message[:200]}")
    return run.json or {}


def decibels(want, got):
    noise = np.square(got.astype(float) - want).sum()
    return 10 * math.log10(np.square(want.astype(float)).sum() / noise)


def check_outputs(suite, model, traced, options, data):
    """The outputs' ratio as numpy has it, of what `evaluate` writes."""
    forms = []
    for level in ("functional", "float"):
        path = suite.work / f"{level}.npy"
        answer(suite, "evaluate", model, *options, "--data", data, "-n",
               traced["frames"], "--level", level, "--output", path)
        forms.append(np.load(path))
    integer, real = forms
    found = traced["outputs"][0]
    suite.check(abs(found["snr_db"] - decibels(real, integer)) < 0.01,
                f"the outputs' ratio: {found['snr_db']:.3f} dB, "
                f"{decibels(real, integer):.3f} in numpy")
    suite.check(found["real"]["high"] == float(real.max()) and
                found["integer"]["low"] == float(integer.min()),
                "the outputs' ranges are numpy's")
    same = int((real.reshape(len(real), -1).argmax(1) ==
                integer.reshape(len(real), -1).argmax(1)).sum())
    suite.check(traced["same_class"] == same, f"{same} frames keep their class")


def check_layers(suite, traced, evaluated):
    """Counts are evaluate's; what is counted twice agrees."""
    counts = {s["name"]: s for s in evaluated["saturation"]}
    for layer in traced["layers"]:
        counted = counts.get(layer["name"])
        suite.check(counted is None or (layer["values"], layer["below"],
                                        layer["above"]) ==
                    (counted["values"], counted["low"], counted["high"]),
                    f"{layer['name']}: {layer['saturated']:.4f} saturate")
        octaves = layer["octaves"]
        suite.check(octaves["zeros"] + sum(octaves["counts"]) ==
                    layer["values"], f"{layer['name']}: each value once")
        real = layer["real"]
        top = max(abs(real["low"]), abs(real["high"]))
        last = octaves["first"] + len(octaves["counts"])
        suite.check(2.0 ** (last - 1) <= top < 2.0 ** last,
                    f"{layer['name']}: the last octave holds {top:.4g}")
        rounding = 1e-6 * (layer["highest"] - layer["lowest"])
        suite.check(layer["lowest"] <= layer["integer"]["low"] + rounding and
                    layer["integer"]["high"] <= layer["highest"] + rounding,
                    f"{layer['name']}: no code is outside the format")


def mended(traced):
    """The options that the findings propose."""
    options = []
    for layer in traced["layers"]:
        if layer["finding"] and layer["finding"]["kind"] == "saturated":
            options += ["--tensor-format",
                        f"{layer['name']}={layer['finding']['better']}"]
    return options


def narrow(suite, model, options, data, normalize=()):
    """A network whose layers saturate: found, judged and mended."""
    given = ("--data", data, *normalize, "-n", FRAMES)
    traced = answer(suite, "trace", model, *options, *given)
    evaluated = answer(suite, "evaluate", model, *options, "--data", data,
                       *normalize, "--layer-frames", FRAMES, "-n",
                       traced["frames"])
    check_layers(suite, traced, evaluated)
    saturated = [l for l in traced["layers"] if l["saturated"] > 0.001]
    suite.check(saturated and traced["worst"] in {l["name"] for l in saturated},
                f"the layer to mend first is {traced['worst']}")
    suite.check(all(l["finding"] and l["finding"]["kind"] == "saturated" and
                    l["finding"]["gain_db"] is not None and
                    l["finding"]["better"] in l["finding"]["remedy"]
                    for l in saturated),
                f"all {len(saturated)} are told, with a format each")
    before = traced["outputs"][0]["snr_db"]
    suite.check(traced["snr_without_saturation_db"] > before + 3,
                f"{before:.1f} dB, {traced['snr_without_saturation_db']:.1f} "
                "without saturation")
    again = answer(suite, "trace", model, *options, *mended(traced), *given)
    after = again["outputs"][0]["snr_db"]
    suite.check(after > before + 3 and again["worst"] is None,
                f"the formats proposed give {after:.1f} dB; at fault is "
                f"{again['worst']}")
    return traced


def trace(suite):
    """An MLP in a format that is too narrow, as a file and as a package."""
    traced = narrow(suite, MLP, NARROW, IMAGES)
    check_outputs(suite, MLP, traced, NARROW, IMAGES)
    images = np.load(IMAGES)[:FRAMES]
    first = traced["layers"][0]
    suite.check(first["input"] and
                first["real"]["high"] == float(images.max()) and
                first["real"]["low"] == float(images.min()) and
                first["format"] == "fixed<1,7>",
                f"the input's range is numpy's: {first['real']}")

    package = suite.work / "narrow.rhz"
    answer(suite, "compile", MLP, *NARROW, "--goal", "min-resources", "-o",
           package)
    given = ("--data", IMAGES, "-n", FRAMES)
    alone = answer(suite, "trace", package, *given)
    for mine, theirs in zip(alone["layers"], traced["layers"]):
        suite.check(all(mine[k] == theirs[k] for k in (
            "name", "integer", "format", "scale", "values", "below", "above")),
            f"the package's {mine['name']} is the model's")
    both = answer(suite, "trace", package, *given, "--model", MLP, *NARROW)
    suite.check([l["snr_db"] for l in both["layers"]] ==
                [l["snr_db"] for l in traced["layers"]] and
                both["worst"] == traced["worst"],
                "with its model the ratios are the model's")
    kept = json.loads((package / "results/trace.json").read_text())
    suite.check(kept == both, "results/trace.json is what was printed")
    try:
        page = report.check_page(suite, package)
        suite.check("Layers on data" in page.headings and
                    "results/trace/layers/1/saturated" in
                    {where for where, _ in page.marks},
                    "the report shows it")
        plain = suite.work / "trace.html"
        answer(suite, "trace", MLP, *NARROW, *given, "--html", plain)
        page = report.drawn_page(suite, plain)
        suite.check(page.headings == ["Layers on data"], "a page of its own")
    except Skip as why:
        suite.skip(str(why))
    golden = answer(suite, "trace", package)
    suite.check(golden["data"] == "the package's golden vectors" and
                golden["frames"] > 0, "a package has frames of its own")
    for arguments, said in (
            ((MLP, *NARROW), "--data"),
            ((MLP, "--data", IMAGES, "--model", MLP), "model file itself")):
        run = suite.run("trace", *arguments)
        suite.check(run.status == 2 and said in run.err,
                    f"refused: {run.message[:120]}")


def trace_calibrated(suite):
    """A network after calibration, and the digits' own quantizers: nothing to
    mend; per-channel scales and zero points are understood."""
    for model, options in (
            (MLP, ("--calibration", IMAGES)),
            (networks.ROOT / "examples/digits/digits_qdq_int8.onnx", ()),
            (networks.ROOT / "examples/digits/digits_qonnx_w4a4.onnx", ())):
        traced = answer(suite, "trace", model, *options, "--data", IMAGES,
                        "-n", FRAMES)
        suite.check(traced["worst"] is None and traced["outputs"][0]["snr_db"]
                    > 12, f"{model.name}: nothing to mend, "
                    f"{traced['outputs'][0]['snr_db']:.1f} dB")
        check_layers(suite, traced, {"saturation": []})
        if options:  # evaluate's float is the file's, quantizers included
            check_outputs(suite, model, traced, options, IMAGES)


def trace_pttcnn(suite):
    """DOSA's CIFAR-10 network in its own format: 8 to 13 % of its activations
    saturate, which costs it a quarter of all pictures."""
    network = networks.NETWORKS["PTTCNN_int8"]
    picture = suite.need(networks.SHARED / "models/Xilinx+finn/src/finn"
                         "/qnn-data/cifar10/cifar10-test-data-class3.npz")
    suite.need(network.path)
    image = np.load(picture)["arr_0"][0].astype(np.float32) / 127.5 - 1
    frames = [np.roll(view, 2 * shift, axis) for shift in range(4)
              for view, axis in ((image, 2), (image[:, :, ::-1], 1))]
    data = suite.work / "cifar.npy"
    np.save(data, np.stack(frames))
    traced = narrow(suite, network.path, network.options, data)
    shares = {l["name"]: l["saturated"] for l in traced["layers"]}
    suite.check(sum(share > 0.05 for share in shares.values()) >= 3,
                f"three layers or more saturate: {shares}")


HELMHOLTZ = networks.ROOT / "examples/kernels/helmholtz.cfd"
HEAT = networks.ROOT / "examples/kernels/heat.cfd"


def check_nests(suite, data, frames):
    """Helmholtz's statements and output, against numpy and `run`."""
    S, D, u = (data[name] for name in "SDu")
    t = np.einsum("il,jm,kn,elmn->eijk", S, S, S, u)
    r = D * t
    v = np.einsum("li,mj,nk,elmn->eijk", S, S, S, r)
    path = suite.work / "helmholtz.npz"
    np.savez(path, **data)
    options = ("--numbers", "fixed<4,12>")
    traced = answer(suite, "trace", HELMHOLTZ, *options, "--data", path)
    suite.check(traced["kernel"] and traced["frames"] == frames,
                "each element of the file once")
    layers = {l["name"]: l for l in traced["layers"]}
    low, high = -8 - 2 ** -13, 8 - 2 ** -12 + 2 ** -13
    for name, exact in (("line 13", t), ("line 14", r), ("line 15", v)):
        layer, real = layers[name], layers[name]["real"]
        suite.check(abs(real["low"] - exact.min()) < 1e-9 and
                    abs(real["high"] - exact.max()) < 1e-9 and
                    (layer["below"], layer["above"]) ==
                    (int((exact < low).sum()), int((exact > high).sum())) and
                    layer["values"] == exact.size,
                    f"{name}: {layer['below']} below, {layer['above']} above, "
                    "as in numpy")
    out = suite.work / "v.npy"
    answer(suite, "run", HELMHOLTZ, *options, "--input", path, "--output", out)
    got, found = np.load(out), traced["outputs"][0]
    suite.check(found["integer"]["low"] == got.min() and
                found["integer"]["high"] == got.max() and
                abs(found["snr_db"] - decibels(v, got)) < 0.01,
                f"the output's bits are those of run: {found['snr_db']:.2f} dB")
    suite.check(traced["worst"] == "line 13.2" and
                traced["snr_without_saturation_db"] > found["snr_db"] + 40,
                f"the first that wraps is {traced['worst']}; if all values "
                f"fitted, {traced['snr_without_saturation_db']} dB")
    wide = answer(suite, "trace", HELMHOLTZ, "--numbers", "fixed<9,23>",
                  "--data", path)
    suite.check(wide["worst"] is None and wide["outputs"][0]["snr_db"] > 120,
                "in a wide format nothing is wrong")


def check_remedy(suite, options, extra, kernel, declaration):
    """A finding's remedy, followed in the kernel's declaration, leads on."""
    path = suite.work / kernel.name
    path.write_text(kernel.read_text())
    traced = answer(suite, "trace", path, *options, *extra, "-n", 5)
    found = [l for l in traced["layers"] if l["finding"]]
    # Infinities have no ratio in dB.
    isFinite = traced["outputs"][0]["integer"]["high"] is not None
    gain = found[0]["finding"]["gain_db"]
    suite.check(len(found) == 1 and found[0]["name"] == traced["worst"] and
                (gain > 20 if isFinite else gain is None),
                f"{kernel.name}: {[l['name'] for l in found]} is to mend")
    remedy = found[0]["finding"]["remedy"]
    formats = re.findall(r"@\w+\([^)]*\)", remedy)
    suite.check(len(formats) == 2 and ("--saturate" in remedy) ==
                ("--saturate" not in extra and "fixed" in formats[0]),
                f"{kernel.name}: {remedy}")
    for written in formats:
        path.write_text(kernel.read_text().replace(declaration,
                                                   f"{declaration} {written}"))
        again = answer(suite, "trace", path, *options, *extra, "-n", 5)
        before, after = (t["outputs"][0]["snr_db"] or 0 for t in (traced, again))
        suite.check(again["worst"] is None and after > before + 20,
                    f"{kernel.name}: {written}: {before:.1f} to {after:.1f} dB")


def kernel_trace(suite):
    """Kernels nest by nest: against numpy and `run`, remedies followed, as
    packages, and what is refused."""
    random = np.random.default_rng(5)
    data = {"S": random.uniform(-1, 1, (11, 11)),
            "D": random.uniform(-1, 1, (6, 11, 11, 11)),
            "u": random.uniform(-1, 1, (6, 11, 11, 11))}
    check_nests(suite, data, 6)
    output = "var output v : [64 64]"
    check_remedy(suite, ("--numbers", "fixed<2,14>"), (), HEAT, output)
    check_remedy(suite, ("--numbers", "fixed<2,14>"), ("--saturate",), HEAT,
                 output)
    check_remedy(suite, ("--numbers", "float<2,9>"), (), HEAT, output)
    mlir = suite.work / "twice.mlir"
    mlir.write_text("""
func.func @twice(%x: tensor<4xf64>) -> tensor<4xf64> {
  %e = tensor.empty() : tensor<4xf64>
  %y = linalg.add ins(%x, %x : tensor<4xf64>, tensor<4xf64>)
    outs(%e : tensor<4xf64>) -> tensor<4xf64>
  return %y : tensor<4xf64>
}
""")
    numbers = suite.work / "x.npy"
    np.save(numbers, random.uniform(-0.9, 0.9, (20, 4)))
    options = ("--numbers", "fixed<1,7>", "--data", numbers)
    traced = answer(suite, "trace", mlir, *options)
    remedy = traced["layers"][-1]["finding"]["remedy"]
    written = re.search(r'rhizome.format = "[^"]*"', remedy)
    suite.check(written is not None, f"a remedy in MLIR: {remedy}")
    mlir.write_text(mlir.read_text().replace(
        "linalg.add", "linalg.add {" + written[0] + "}"))
    traced = answer(suite, "trace", mlir, *options)
    suite.check(traced["worst"] is None, "followed, it leads on")

    # Sums in the hardware's order, which changes where floats round.
    package = suite.work / "helmholtz.rhz"
    answer(suite, "compile", HELMHOLTZ, "--numbers", "half", "--goal",
           "max-throughput", "--device", "xcu280", "-o", package)
    path, out = suite.work / "helmholtz.npz", suite.work / "v.npy"
    traced = answer(suite, "trace", package, "--data", path, "-n", 2)
    answer(suite, "run", package, "--input", path, "-n", 2, "--output", out)
    got, found = np.load(out), traced["outputs"][0]["integer"]
    suite.check((found["low"], found["high"]) == (got.min(), got.max()),
                "the package's output is that of run")
    kept = json.loads((package / "results/trace.json").read_text())
    suite.check(kept == {k: v for k, v in traced.items() if k != "ok"},
                "results/trace.json is what was printed")
    folder = suite.work / "heat.kernel"
    answer(suite, "compile", HEAT, "--numbers", "fixed<4,12>", "-o", folder)
    traced = answer(suite, "trace", folder, "-n", 2)
    suite.check([l["format"] for l in traced["layers"]] == 3 * ["fixed<4,12>"],
                "a compiled kernel's folder has its formats")
    try:
        page = report.drawn_page(suite, package / "report.html")
        suite.check("Nests on data" in page.headings, "the report shows it")
    except Skip as why:
        suite.skip(str(why))

    # What is infinite in reals is no fault of a format, and no remedy has widths
    # that declarations refuse.
    quotient = suite.work / "quotient.cfd"
    quotient.write_text("var input  a : [4]\nvar input  c : [4]\n"
                        "var output b : [4]\nb[i] = a[i] / c[i]\n")
    numbers = suite.work / "quotient.npz"
    np.savez(numbers, a=np.array([1., 2, 3, 0]), c=np.array([1., 0, 2, 0]))
    options = ("--numbers", "fixed<4,4>", "--data", numbers)
    traced = answer(suite, "trace", quotient, *options)
    last = traced["layers"][-1]
    told = suite.run("trace", quotient, *options).err
    suite.check((last["values"], last["finding"], last["real"]["high"]) ==
                (2, None, 1.5) and "2 of the values of line 4" in told,
                f"infinities are left out: {told.strip()}")
    np.savez(numbers, a=np.full(4, 3000.), c=np.ones(4))
    traced = answer(suite, "trace", quotient, *options)
    found = [layer["finding"] for layer in traced["layers"] if layer["finding"]]
    suite.check(found and all(one["better"] is None and "-" not in
                              one["remedy"].split("@")[1].split(")")[0]
                              for one in found),
                f"no width is negative: {[one['remedy'] for one in found]}")

    bad = suite.work / "bad.npz"
    np.savez(bad, S=data["S"], D=data["D"][0], u=np.full((11, 11, 11), np.nan))
    for arguments, said in (
            ((HEAT,), "--numbers"),
            ((HEAT, "--numbers", "half", "--model", MLP), "--model"),
            ((MLP, "--data", IMAGES, "--numbers", "half"), "--numbers"),
            ((package, "--numbers", "half"), "--numbers"),
            ((HELMHOLTZ, "--numbers", "fixed<8,8>", "--data", bad), "NaN"),
            ((HELMHOLTZ, "--numbers", "half", "--data", IMAGES), "'S'"),
            ((suite.work / "no.cfd", "--numbers", "half"), "no.cfd")):
        run = suite.run("trace", *arguments)
        suite.check(run.status in (1, 2) and said in run.err,
                    f"refused: {run.message[:120]}")
