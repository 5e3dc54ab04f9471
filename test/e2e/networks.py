# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The networks that the acceptance suite and the benchmark compile, and their
goals. A goal marked quick keeps the simulator small, so that
the fast tests can build it."""
import dataclasses
import os
import pathlib

ROOT = pathlib.Path(__file__).resolve().parents[2]
SHARED = pathlib.Path(os.environ.get("RHIZOME_SHARED", ROOT.parent / "shared"))
MODELS = SHARED / "models"
DOSA = MODELS / "cloudFPGA+DOSA/examples"
TFC = (MODELS / "fastmachinelearning+qonnx_model_zoo/models/MNIST"
       / "Brevitas_FINN_TFC/TFC")
MNIST = SHARED / "datasets/frej-dahlin+aesia/examples/data/mnist"
MNIST_IMAGES = MNIST / "t10k-images-idx3-ubyte.gz"
KWS = (SHARED / "datasets/mlcommons+tiny_results_v0.7/open/hls4ml-finn/code"
       / "kws/KWS-W3A3/training/kws_bin_files")
MNIST_LABELS = MNIST / "t10k-labels-idx1-ubyte.gz"

CODES = ("--number-format", "fixed<1,7>", "--raw-integers")


@dataclasses.dataclass(frozen=True)
class Network:
    name: str
    path: pathlib.Path
    options: tuple  # for every command that reads the model file
    quick: str      # the goal of the fast tests
    third: str      # in addition to the quick one and max-throughput
    # LOW, HIGH of random real inputs if the float border requires them.
    input_range: tuple = ()
    bench: bool = True  # a row of the benchmark's table

    @property
    def goals(self):
        return self.quick, "max-throughput", self.third


NETWORKS = {n.name: n for n in (
    Network("CERN", DOSA / "CERN.onnx", CODES,
            "throughput=100000/s", "min-resources"),
    Network("MNIST_int8", DOSA / "MNIST_int8.onnx", CODES,
            "throughput=10000/s", "latency=500us"),
    Network("MPCNN", DOSA / "MPCNN.onnx", CODES,
            "throughput=10000/s", "latency=400us"),
    Network("PTTCNN_int8", DOSA / "PTTCNN_int8.onnx", CODES,
            "throughput=5000/s", "latency=200us"),
    Network("TFC", DOSA / "TFC.onnx", CODES,
            "throughput=20000/s", "min-resources"),
    Network("lenet5", ROOT / "examples/lenet5/lenet5_codes.onnx", CODES,
            "throughput=20000/s", "latency=200us"),
    Network("TFC_1W1A", TFC / "TFC_1W1A.onnx", (),
            "throughput=20000/s", "min-resources"),
    Network("TFC_2W2A", TFC / "TFC_2W2A.onnx", (),
            "throughput=20000/s", "min-resources"),
    Network("three_layer_keras",
            MODELS / "fastmachinelearning+hls4ml/example-models/onnx"
            / "three_layer_keras.onnx", ("--number-format", "fixed<6,10>"),
            "throughput=100000/s", "min-resources"),
    Network("micro_kws_m_static_qdq",
            MODELS / "emmtrix+emx-onnx-cgen/tests/onnx"
            / "micro_kws_m_static_qdq.onnx", (),
            "throughput=4000/s", "latency=2ms", (0, 20)),
    Network("micro_kws_m_static_qoperator",
            MODELS / "emmtrix+emx-onnx-cgen/tests/onnx"
            / "micro_kws_m_static_qoperator.onnx", (),
            "throughput=4000/s", "latency=2ms", (0, 20), bench=False),
    Network("mnist_conv_integer",
            MODELS / "alrevuelta+cONNXr/test/mnist_quantized"
            / "model_quantized.onnx", (),
            "throughput=20000/s", "min-resources", (0, 1), bench=False),
    Network("mnist_plinio",
            MODELS / "eml-eda+match/examples/targets/arcane/model/mnist.onnx",
            ("--input-type", "0=u8"), "throughput=20000/s", "min-resources",
            bench=False),
    Network("KWS_W3A3",
            MODELS / "mlcommons+tiny_results_v0.7/open/hls4ml-finn/code/kws"
            / "KWS-W3A3/training/training_checkpoint/QONNX_model.onnx", (),
            "min-resources", "throughput=1000/s", (-40, 40), bench=False),
    Network("qrelu_1", MODELS / "sonos+tract/onnx/test_cases/qrelu_1"
            / "model.onnx", (), "min-resources", "throughput=50000000/s",
            (-4, 4)),
    Network("digits_qdq_int8", ROOT / "examples/digits/digits_qdq_int8.onnx",
            (), "throughput=20000/s", "min-resources", (0, 16)),
    Network("digits_qonnx_w4a4",
            ROOT / "examples/digits/digits_qonnx_w4a4.onnx", (),
            "throughput=5000/s", "min-resources", (0, 16)),
)}
