# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Trained networks on the data that they were trained for: each MNIST network
as in its file, and float ones quantized after training."""
import dataclasses
import pathlib

import networks

MARABOU = networks.MODELS / "NeuralNetworkVerification+Marabou/resources/onnx"
NORM = "0.1307,0.3081"


@dataclasses.dataclass(frozen=True)
class Trained:
    name: str
    path: pathlib.Path
    normalize: str
    checked: float      # percent of 10,000, by another implementation
    level: str = "float"    # functional: the file is quantized
    options: tuple = ()
    calibrated: bool = False  # one of those that we quantize

    def evaluate(self, *more):
        return ("evaluate", self.path, "--data", networks.MNIST_IMAGES,
                "--labels", networks.MNIST_LABELS, "--normalize",
                self.normalize, "--layer-frames", 0, "--json", *self.options,
                *more)


def qonnx(name):
    return networks.NETWORKS[name].path


MNIST = {t.name: t for t in (
    Trained("mnist-8", networks.MODELS / "fastmachinelearning+qonnx/src/qonnx"
            / "data/onnx/mnist-conv/model.onnx", "0..255", 98.91,
            calibrated=True),
    Trained("deepC-mlp", networks.MODELS / "ai-techsystems+deepC/test/compiler"
            / "mnist/mnist.onnx", "0..1", 97.29, calibrated=True),
    Trained("pytorch-cnn", networks.MODELS / "ROCm+onnxruntime/java/testdata"
            / "cnn_mnist_pytorch.onnx", NORM, 99.07, calibrated=True),
    Trained("burn-cnn", networks.MODELS / "tracel-ai+burn-onnx/examples"
            / "onnx-inference/src/model/mnist.onnx", NORM, 99.16,
            calibrated=True),
    Trained("marabou-sigmoid", MARABOU / "robust_model_sigmoid_linear.onnx",
            "0..1", 95.41, calibrated=True),
    Trained("marabou-softmax", MARABOU / "softmax-last-layer.onnx", "0..1",
            88.95, calibrated=True),
    Trained("marabou-attention",
            MARABOU / "self-attention-mnist-pgd-medium-sim.onnx", "0..1",
            97.41),
    Trained("DOSA-MNIST_int8", qonnx("MNIST_int8"), "0..1", 87.44),
    Trained("DOSA-TFC", qonnx("TFC"), "0..1", 10.33),
    Trained("TFC_1W1A", qonnx("TFC_1W1A"), "0..1", 92.96, "functional"),
    Trained("TFC_2W2A", qonnx("TFC_2W2A"), "0..1", 96.60, "functional"),
    Trained("FINN-TFC", networks.MODELS / "Xilinx+finn/src/finn/qnn-data"
            / "build_dataflow/model.onnx", "0..255", 92.96, "functional"),
    Trained("cONNXr-integer", qonnx("mnist_conv_integer"), "0..1", 98.93,
            "functional"),
    Trained("PLiNIO", qonnx("mnist_plinio"), "0..255", 97.68, "functional",
            networks.NETWORKS["mnist_plinio"].options),
)}


def checked(suite, name):
    """As in the file, on all 10,000 images."""
    network = MNIST[name]
    suite.need(network.path)
    suite.need(networks.MNIST_IMAGES)
    result = suite.run(*network.evaluate("--level", network.level,
                                         "--float-frames", 0))
    percent = 100 * (result.json or {}).get("accuracy", -1)
    suite.check(result.status == 0 and abs(percent - network.checked) <= 0.05,
                f"{name}: {percent:.2f} %, checked {network.checked} "
                f"({result.wall_s:.1f} s)"
                + ("" if result.status == 0 else f": {result.message}"),
                result.command)
    return percent


def quantized(suite, name, bits, reference):
    """Quantized after training, its loss in points."""
    network = MNIST[name]
    suite.need(network.path)
    suite.need(networks.MNIST_IMAGES)
    result = suite.run(*network.evaluate(
        "--calibration", networks.MNIST_IMAGES, "--calibration-normalize",
        network.normalize, "--bits", bits, "--float-frames", 0))
    answer = result.json or {}
    percent = 100 * answer.get("accuracy", -1)
    suite.check(result.status == 0
                and (bits < 8 or percent >= reference - 0.5),
                f"{name}: {percent:.2f} % at {bits} bits, {reference:.2f} % "
                f"in float ({result.wall_s:.1f} s)"
                + ("" if result.status == 0 else f": {result.message}"),
                result.command)
    return percent, answer.get("quantization", {}).get("snr_db", 0)


def mnist(suite, *names):
    """Every MNIST network of the shared models."""
    for name in names or MNIST:
        checked(suite, name)


def calibrated(suite, *names):
    """Float networks at 8 bits against the checked column."""
    for name in names or (n for n, t in MNIST.items() if t.calibrated):
        for bits in (8, 6, 4) if not names else (8,):
            quantized(suite, name, bits, MNIST[name].checked)


def calibrated_rtl(suite, name):
    """The hardware of a network quantized after training, bit by bit."""
    network = MNIST[name]
    suite.need(network.path)
    suite.need(networks.MNIST_IMAGES)
    suite.tool("verilator")
    package = suite.work / "calibrated.rhz"
    result = suite.run("compile", network.path, "--calibration",
                       networks.MNIST_IMAGES, "--calibration-normalize",
                       network.normalize, "--bits", "6,8", "--goal",
                       "min-resources", "-o", package, "--json")
    found = (result.json or {}).get("quantization", {}).get("layers", [])
    suite.check(result.status == 0 and any(
        layer.get("weight_bits") == 6 for layer in found),
        f"{name}: compiles with {len(found)} rounded tensors"
        + ("" if result.status == 0 else f": {result.message}"),
        result.command)
    result = suite.run("simulate", package, "--level", "rtl", "--input",
                       networks.MNIST_IMAGES, "--normalize",
                       network.normalize, "-n", 3, "--json")
    answer = result.json or {}
    suite.check(result.status == 0 and answer.get("frames") == 3
                and answer.get("mismatches") == 0,
                f"{name}: 3 images through RTL, {answer.get('mismatches')} "
                "mismatches"
                + ("" if result.status == 0 else f": {result.message}"),
                result.command)
