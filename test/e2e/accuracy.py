# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Accuracy on real data: the CPU path on all images, and the hardware on the
first ones, which must give the same bits and therefore the same classes."""
import networks
import numpy as np
import pages
from framework import slug

EXAMPLES = networks.ROOT / "examples/digits"
# MNIST_int8: counted by an independent evaluation in numpy.
# Network, images, labels, normalization, frames, percent, tolerance.
CASES = {
    "TFC_1W1A": (networks.MNIST_IMAGES, networks.MNIST_LABELS, "0..1", 10000,
                 92.96, 0.05),
    "TFC_2W2A": (networks.MNIST_IMAGES, networks.MNIST_LABELS, "0..1", 10000,
                 96.60, 0.05),
    "MNIST_int8": (networks.MNIST_IMAGES, networks.MNIST_LABELS, "0..1", 10000,
                   93.68, 0.001),
    "mnist_conv_integer": (networks.MNIST_IMAGES, networks.MNIST_LABELS,
                           "0..1", 10000, 98.93, 0.05),
    "mnist_plinio": (networks.MNIST_IMAGES, networks.MNIST_LABELS, "0..255",
                     10000, 97.68, 0.05),
    "digits_qdq_int8": (EXAMPLES / "test_images.npy",
                        EXAMPLES / "test_labels.npy", None, 450, 98.67, 0.01),
    "digits_qonnx_w4a4": (EXAMPLES / "test_images.npy",
                          EXAMPLES / "test_labels.npy", None, 450, 98.89,
                          0.01),
}
# The independent evaluation does not round what leaves the network.
EXACT_ENDS = {"MNIST_int8": ("--tensor-format", "12=fixed<18,14>")}
FIRST = 200
QUICK = ("--float-frames", 0, "--layer-frames", 0)


def arguments(case, network):
    images, labels, normalize = case[:3]
    args = ["--data", images, "--labels", labels, "--json", *network.options,
            *QUICK, *EXACT_ENDS.get(network.name, ())]
    return args + (["--normalize", normalize] if normalize else [])


def accuracy(suite, name):
    """The CPU path on every image."""
    network, case = networks.NETWORKS[name], CASES[name]
    for path in (network.path, *case[:2]):
        suite.need(path)
    written = suite.work / "y.npy"
    result = suite.run("evaluate", network.path, *arguments(case, network),
                       "--output", written, "--time")
    answer = result.json or {}
    percent = 100 * answer.get("accuracy", -1)
    suite.check(result.status == 0 and answer.get("frames") == case[3]
                and abs(percent - case[4]) <= case[5] + 1e-9,
                f"{name}: {percent:.2f} % of {answer.get('frames')}, expected "
                f"{case[4]} ± {case[5]} ({result.wall_s:.1f} s)"
                + ("" if result.status == 0 else f": {result.message}"),
                result.command)
    form = (answer.get("forms") or [{}])[0]
    suite.check(form.get("frame_us", 0) > 0,
                f"{name}: {form.get('frame_us')} us a frame", result.command)
    if result.status:
        return
    # Without labels nothing is counted, and the outputs are the same.
    plain = arguments(case, network)
    at = plain.index("--labels")
    del plain[at:at + 2]
    again = suite.work / "z.npy"
    result = suite.run("evaluate", network.path, *plain, "--output", again,
                       "-n", FIRST)
    suite.check(result.status == 0 and np.array_equal(
        np.load(written)[:FIRST], np.load(again)),
        f"{name}: {FIRST} frames without labels give the same outputs",
        result.command)


def kws(suite):
    """KWS-W3A3 on its 1,000 vectors: the labels, and the predictions of
    QONNX's executor."""
    network = networks.NETWORKS["KWS_W3A3"]
    suite.need(network.path)
    labels = {}
    for kind in ("y", "tflm"):
        lines = suite.need(networks.KWS / f"{kind}_labels.csv").read_text()
        labels[kind] = {line.split(",")[0].strip(): int(line.split(",")[2])
                        for line in lines.splitlines() if line.strip()}
    vectors = [np.frombuffer((networks.KWS / name).read_bytes(), np.int8)
               for name in labels["y"]]
    data = suite.work / "x.npy"
    np.save(data, np.float32(0.33674246)
            * np.stack(vectors).reshape(-1, 1, 10, 49).astype(np.float32))
    for kind, wanted, tolerance, what in (
            ("y", 825, 0, "right"),
            ("tflm", 999, 1, "as QONNX's executor says")):
        classes = suite.work / f"{kind}.npy"
        np.save(classes, [labels[kind][name] for name in labels["y"]])
        result = suite.run("evaluate", network.path, "--data", data,
                           "--labels", classes, "--json", *QUICK)
        correct = (result.json or {}).get("correct", 0)
        suite.check(result.status == 0 and abs(correct - wanted) <= tolerance,
                    f"KWS-W3A3: {correct} of {len(vectors)} {what} "
                    f"({result.wall_s:.1f} s)"
                    + ("" if result.status == 0 else f": {result.message}"),
                    result.command)


def first_frames(suite, name):
    """The first images in hardware: all bits equal the
    interpreter's, and as many classes are correct as on the CPU path."""
    network, case = networks.NETWORKS[name], CASES[name]
    for path in (network.path, *case[:2]):
        suite.need(path)
    suite.tool("verilator")
    package = suite.work / f"{slug(name)}.rhz"
    answer, _ = suite.compiled(network, network.quick, package)
    if not answer:
        return
    normalize = ["--normalize", case[2]] if case[2] else []
    result = suite.run("simulate", package, "--level", "rtl", "--input",
                       case[0], *normalize, "-n", FIRST, "--json")
    found = result.json or {}
    suite.check(result.status == 0 and found.get("mismatches") == 0
                and found.get("frames") == FIRST,
                f"{name}: {found.get('frames')} images through RTL, "
                f"{found.get('mismatches')} mismatches"
                + ("" if result.status == 0 else f": {result.message}"),
                result.command)
    correct = {}
    for level in ("functional", "rtl"):
        result = suite.run("evaluate", package, "--data", case[0], "--labels",
                           case[1], *normalize, "--level", level, "-n", FIRST,
                           "--json")
        correct[level] = (result.json or {}).get("correct")
        suite.check(correct[level] is not None,
                    f"{name}: {correct[level]} of {FIRST} right at level "
                    f"{level}" + ("" if result.status == 0 else
                                  f": {result.message}"), result.command)
    suite.check(correct["functional"] == correct["rtl"],
                f"{name}: both levels name the same classes")


def images(suite):
    """Folders of PNG files in the place of arrays, prepared as they need; the
    answers of single frames and the top classes."""
    model = networks.ROOT / "examples/digits/digits_qdq_int8.onnx"
    frames = np.load(networks.ROOT / "examples/digits/test_images.npy")
    labels = np.load(networks.ROOT / "examples/digits/test_labels.npy")
    # As the folders order them.
    order = np.argsort(labels, kind="stable")
    np.save(suite.work / "x.npy", frames[order])
    np.save(suite.work / "y.npy", labels[order])
    pages.write_digits(suite.work / "val", frames, labels)
    arrays = suite.run("evaluate", model, "--data", suite.work / "x.npy",
                       "--labels", suite.work / "y.npy", "--json", "--output",
                       suite.work / "scores.npy", "--top", 2)
    csv = suite.work / "val.csv"
    folder = suite.run("evaluate", model, "--data", suite.work / "val",
                       "--images", "crop=8,gray", "--normalize", "0..255",
                       "--json", "--top", 2, "--predictions", csv)
    one, two = ((r.json or {}).get("forms", [{}])[0] for r in (arrays, folder))
    suite.check(one and one["correct"] == two["correct"] < len(frames)
                and one["top_correct"] == two["top_correct"] > one["correct"],
                f"images as arrays: {one} {two} {folder.message[:200]}",
                folder.command)
    scores = np.load(suite.work / "scores.npy").reshape(-1, 10)
    best = np.argsort(-scores, axis=1, kind="stable")
    suite.check(one["top_correct"] == (best[:, :2].T == labels[order]).sum(),
                "the top classes are numpy's")
    rows = [line.split(",") for line in csv.read_text().splitlines()]
    want = [[str(f), str(suite.work / f"val/{labels[i]}/{i:03}.png"),
             str(labels[i]), str(best[f, 0]),
             " ".join(str(c) for c in best[f, :2])]
            for f, i in enumerate(order)]
    suite.check(rows[0] == ["frame", "file", "label", "class", "score", "top"]
                and [r[:4] + r[5:] for r in rows[1:]] == want
                and all(abs(float(r[4]) - scores[f].max()) < 1e-3
                        for f, r in enumerate(rows[1:])),
                f"a line for each frame: {rows[1]}")
    for words, wanted in (
            (["--images", "gray"], "e.g. --images resize=256,crop=224"),
            (["--images", "crop=11"], "too few for a crop of 11 x 11"),
            (["--images", "crop=8,grey"], "'grey' is no step")):
        result = suite.run("evaluate", model, "--data", suite.work / "val",
                           "--normalize", "0..255", *words)
        suite.check(result.status in (1, 2) and wanted in result.err,
                    f"{words}: {result.message[:160]}", result.command)
    full = suite.run("evaluate", model, "--data", suite.work / "x.npy",
                     "--predictions", "/dev/full")
    suite.check(full.status == 1 and "'/dev/full' cannot be written" in full.err,
                f"a full disk: {full.message}", full.command)
    prepared = [suite.run(
        "compile", networks.ROOT / "examples/pytorch/cnn.onnx", *data,
        "--goal", "throughput=1000/s", "--json", "-o", suite.work / "c.rhz")
        for data in (["--calibration", suite.work / "x.npy"],
                     ["--calibration", suite.work / "val",
                      "--calibration-images", "gray,crop=8x8",
                      "--calibration-normalize", "0..255"])]
    suite.check(prepared[0].status == 0 and prepared[0].json["quantization"]
                == (prepared[1].json or {}).get("quantization"),
                "samples for quantization are prepared alike "
                f"{prepared[1].message[:200]}", prepared[1].command)
