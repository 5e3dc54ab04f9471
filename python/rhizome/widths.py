# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Widths by layer that keep an accuracy on a device."""
from __future__ import annotations

import dataclasses
import os
from typing import Any, Dict, List, Mapping, Optional, Tuple

from . import _program
from ._program import Answer, Data, Path, Progress
from .plan import Summary, number, shown, table
from .quantized import Bits, bit_options


@dataclasses.dataclass(frozen=True)
class Widths:
    """Bits of weights and activations by layer, and what they give. `share` is
    that of the device, summed over its resources; `uniform` are the bits that
    all layers have, None if they differ; `pareto` says that no other
    choice is as good in accuracy, rate, latency and resources."""

    widths: Dict[str, Tuple[int, int]]
    uniform: Optional[Tuple[int, int]]
    accuracy: float
    keeps_accuracy: bool
    meets_goal: bool
    predicted: Summary
    share: float
    pareto: bool

    @staticmethod
    def of(point: Answer) -> "Widths":
        def pair(bits: List[int]) -> Tuple[int, int]:
            return (bits[0], bits[1])
        return Widths({name: pair(bits)
                       for name, bits in point["widths"].items()},
                      pair(point["uniform"]) if point["uniform"] else None,
                      point["accuracy"], point["keeps_accuracy"],
                      point["meets_goal"],
                      Summary.of(point["predicted"]), point["share"],
                      point["pareto"])


class Precision:
    """What `precision` found: `chosen`, `uniform` (the best with the same
    widths in all layers, None if none keeps the accuracy), all `choices`, and their `picture`
    as SVG, which a notebook shows."""

    def __init__(self, json: Answer, picture: str) -> None:
        self.json = json
        self.picture = picture
        self.choices: List[Widths] = [Widths.of(p) for p in json["points"]]
        self.chosen = self.choices[json["chosen"]]
        self.uniform = (None if json["uniform"] is None
                        else self.choices[json["uniform"]])

    @property
    def bits(self) -> Dict[str, Tuple[int, int]]:
        """The chosen widths, for compile(…, bits=found.bits)."""
        return self.chosen.widths

    @property
    def front(self) -> List[Widths]:
        """The Pareto front, the most accurate choice first."""
        return sorted((each for each in self.choices if each.pareto),
                      key=lambda each: -each.accuracy)

    def __repr__(self) -> str:
        return (f"Precision({100 * self.chosen.accuracy:.2f} %, "
                f"{number(self.chosen.predicted.lut)} LUT, "
                f"{len(self.choices)} choices)")

    def _repr_html_(self) -> str:
        def row(each: Widths) -> Tuple[str, ...]:
            p = each.predicted
            return (f"{100 * each.accuracy:.2f}",
                    shown("throughput_per_s", p.throughput_per_s),
                    number(p.latency_us), number(p.lut), number(p.dsp),
                    ", ".join(f"{name} {w}/{a}"
                              for name, (w, a) in each.widths.items()))
        return self.picture + table(
            [row(each) for each in self.front],
            ("% right", "per second", "latency us", "LUT", "DSP",
             "bits of weights/activations"))


def precision(model: Path, calibration: Data, labels: Data,
              data: Optional[Data] = None, *,
              accuracy: Optional[float] = None,
              accuracy_loss: Optional[float] = None,
              bits: Optional[Bits] = None,
              layer_bits: Mapping[str, Bits] = {},
              progress: Optional[Progress] = None,
              **options: Any) -> Precision:
    """Finds widths for every layer of a float network: those that serve the
    goal best among all that keep the accuracy.

    calibration: inputs on which ranges are observed.
    labels, data: labeled inputs; data are those of calibration otherwise.
    accuracy: percent of the frames that must be right; or
    accuracy_loss: percentage points that may be lost, 1 otherwise.
    bits: of all weights and activations to begin with, such as 8 or (6, 8);
    layer_bits: of layers that keep theirs.
    options: device, goal and others of `rhizome precision`.

        found = rhizome.precision("net.onnx", samples, labels, device="xc7a35t")
        rhizome.compile("net.onnx", calibration=samples, bits=found.bits,
                        device="xc7a35t")
    """
    with _program.files() as keep:
        picture = keep.new(".svg")
        answer = _program.run(
            "precision", os.fspath(model), progress=progress, options={
                "calibration": keep.path(calibration, "calibration"),
                "labels": keep.path(labels, "labels"),
                "data": None if data is None else keep.path(data, "data"),
                "accuracy": accuracy, "accuracy_loss": accuracy_loss,
                "bits": bit_options(bits, layer_bits),
                **options, "picture": picture}, names=keep.names)
        return Precision(answer, picture.read_text())
