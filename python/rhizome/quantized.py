# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Float networks quantized after training: what became of each layer, and the
module that explore and compile continue from."""
from __future__ import annotations

import dataclasses
import os
import pathlib
import shutil
import tempfile
from typing import Any, Dict, List, Mapping, Optional, Tuple, Union

import numpy as np

from . import _program
from .plan import number, table
from ._program import Answer, Data, Path, Progress

#: Bits of weights and activations, or of both.
Bits = Union[int, Tuple[int, int]]


@dataclasses.dataclass(frozen=True)
class Layer:
    """A layer of a quantized network. Without weights, `weight_bits` is None;
    without a quantizer after it (an output), the fields of one are None.

    low, high: the range observed on the calibration data.
    saturated: the share of values outside the chosen range.
    snr_db: quantized against float, at this layer.
    """

    name: str
    op: str
    snr_db: float
    weight_bits: Optional[int] = None
    activation_bits: Optional[int] = None
    low: Optional[float] = None
    high: Optional[float] = None
    scale: Optional[float] = None
    zero_point: Optional[int] = None
    saturated: Optional[float] = None


_COLUMNS = tuple(field.name for field in dataclasses.fields(Layer))


class Quantized:
    """What `quantize` returns. It stands for a model in explore and compile."""

    def __init__(self, model: Path, answer: Answer,
                 options: Mapping[str, Any],
                 folder: "tempfile.TemporaryDirectory[str]") -> None:
        report = answer["quantization"]
        self.model = pathlib.Path(model)
        self.json = report
        self.method: str = report["method"]
        self.frames: int = report["frames"]
        #: At the network's outputs.
        self.snr_db: float = report["snr_db"]
        #: The share of the calibration frames that keep their class.
        self.agreement: float = report["agreement"]
        self.layers = [Layer(**{key: each[key] for key in _COLUMNS
                                if key in each}) for each in report["layers"]]
        self.notes: List[str] = answer.get("notes", [])
        self.options = dict(options)
        self._folder = folder

    @property
    def module(self) -> pathlib.Path:
        """The quantized network in MLIR, for `compile --compile-from quantize`."""
        return pathlib.Path(self._folder.name) / "quantized.mlir"

    def __getitem__(self, name: str) -> Layer:
        """The layer of this name."""
        for layer in self.layers:
            if layer.name == name:
                return layer
        raise KeyError(f"{name!r}; there are "
                       f"{', '.join(layer.name for layer in self.layers)}")

    def save(self, path: Path) -> pathlib.Path:
        """Copies the module."""
        return pathlib.Path(shutil.copy(self.module, path))

    def __repr__(self) -> str:
        return (f"Quantized({str(self.model)!r}, {self.snr_db:.1f} dB, "
                f"{self.agreement:.1%} of {self.frames} frames keep their "
                "class)")

    def _repr_html_(self) -> str:
        rows = [[number(value) if value is not None else "" for value in (
            layer.name, layer.op, layer.weight_bits, layer.activation_bits,
            layer.low, layer.high, layer.scale, layer.zero_point,
            f"{layer.saturated:.2%}" if layer.saturated is not None else None,
            f"{layer.snr_db:.1f}")] for layer in self.layers]
        return table(rows, ("layer", "operation", "weights", "activations",
                            "low", "high", "scale", "zero point", "saturated",
                            "SNR dB")) + (
            f"<p>Output: {self.snr_db:.1f} dB, {self.agreement:.1%} of "
            f"{self.frames} frames keep their class</p>")


def quantize(model: Path, calibration: Data, *, bits: Optional[Bits] = None,
             layer_bits: Mapping[str, Bits] = {}, method: Optional[str] = None,
             frames: Optional[int] = None, normalize: Optional[str] = None,
             max_loss: Optional[float] = None, min_snr: Optional[float] = None,
             progress: Optional[Progress] = None,
             **options: Any) -> Quantized:
    """Quantizes a float network after training.

    calibration: inputs that resemble the data to come: an array, frames first,
    a file, or a folder of images. bits: of weights and activations, such as 8
    or (4, 8); layer_bits: of single layers. method: "mse", "min-max" or
    "percentile:99.9". frames: at most so many. normalize: how bytes become the
    model's range. max_loss, min_snr: lower the widths of layers as long as at
    most this percentage of the frames changes its class, or the outputs keep
    this ratio.

        quantized = rhizome.quantize("net.onnx", samples, bits=(6, 8))
        rhizome.compile(quantized, goal="throughput=1000/s")
    """
    folder = tempfile.TemporaryDirectory(prefix="rhizome-quantized-")
    names: Dict[str, str] = {}
    if not isinstance(calibration, (str, os.PathLike)):
        # Kept for `evaluate`, which compares with the float network.
        path = pathlib.Path(folder.name) / "calibration.npy"
        np.save(path, np.ascontiguousarray(calibration))
        calibration = path
        names[str(path)] = "calibration"
    given: Dict[str, Any] = {
        "calibration": calibration, "calibration_method": method,
        "calibration_frames": frames, "calibration_normalize": normalize,
        "bits": bit_options(bits, layer_bits),
        "max_loss": max_loss, "min_snr": min_snr, **options}
    answer = _program.run(
        "compile", model, progress=progress, options={
            **given, "compile_to": "quantize",
            "output": pathlib.Path(folder.name) / "quantized.mlir"},
        names=names)
    return Quantized(model, answer, given, folder)


def bit_options(bits: Optional[Bits],
                layer_bits: Mapping[str, Bits]) -> List[str]:
    """The values of --bits."""
    return ([] if bits is None else [_widths(bits)]) + [
        f"{name}={_widths(each)}" for name, each in layer_bits.items()]


def _widths(bits: Bits) -> str:
    return f"{bits}" if isinstance(bits, int) else f"{bits[0]},{bits[1]}"
