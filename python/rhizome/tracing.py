# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the tensors of a network hold on data, layer by layer, and which layer
loses accuracy."""
from __future__ import annotations

import dataclasses
from typing import Any, List, Mapping, Optional

import numpy as np

from . import _program
from .plan import number, table
from ._program import Answer, Data, Path, Progress


@dataclasses.dataclass(frozen=True)
class Finding:
    """Why a layer should be looked at: `kind` is "saturated" or "unused", `better` a
    format that would do, `gain_db` what the outputs gain by it."""

    kind: str
    reason: str
    remedy: str
    better: Optional[str]
    gain_db: Optional[float]


@dataclasses.dataclass(frozen=True)
class TracedLayer:
    """A tensor that is rounded: its codes, from `lowest` to `highest`, the share
    of values beyond them, and the ratio of signal to noise up to here and what
    this layer lost of it, both in dB and None without a float network."""

    name: str
    op: str
    bits: int
    scale: float
    zero_point: int
    format: Optional[str]
    lowest: float
    highest: float
    saturated: float
    snr_db: Optional[float]
    lost_db: Optional[float]
    finding: Optional[Finding]


_COLUMNS = tuple(field.name for field in dataclasses.fields(TracedLayer)
                 if field.name != "finding")


class Trace:
    """What `trace` returns."""

    def __init__(self, answer: Answer) -> None:
        self.json = answer
        self.frames: int = answer["frames"]
        self.notes: List[str] = answer.get("notes", [])
        self.layers = [TracedLayer(
            **{key: each.get(key) for key in _COLUMNS},
            finding=_finding(each.get("finding")))
            for each in answer["layers"]]

    @property
    def findings(self) -> List[TracedLayer]:
        """The layers that should be looked at."""
        return [layer for layer in self.layers if layer.finding]

    def __getitem__(self, name: str) -> TracedLayer:
        """The layer of this name."""
        for layer in self.layers:
            if layer.name == name:
                return layer
        raise KeyError(f"{name!r}; there are "
                       f"{', '.join(layer.name for layer in self.layers)}")

    def _repr_html_(self) -> str:
        def shown(value: Any) -> str:
            return "" if value is None else number(value)
        return table([(layer.name, layer.op, layer.bits, layer.format or "",
                       shown(layer.lowest), shown(layer.highest),
                       f"{layer.saturated:.2%}", shown(layer.snr_db),
                       shown(layer.lost_db),
                       layer.finding.reason if layer.finding else "")
                      for layer in self.layers],
                     ("layer", "operation", "bits", "format", "lowest",
                      "highest", "saturated", "SNR dB", "lost dB", "finding"))


def _finding(found: Optional[Mapping[str, Any]]) -> Optional[Finding]:
    return Finding(**{field.name: found.get(field.name) for field in
                      dataclasses.fields(Finding)}) if found else None  # type: ignore[arg-type]


def traced(model: Path, data: Optional[Data], progress: Optional[Progress],
           options: Mapping[str, Any]) -> Trace:
    values = np.asarray(data) if isinstance(data, (list, tuple)) else data
    return Trace(_program.run("trace", model, progress=progress,
                              options={"data": values, **options}))
