# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tensor kernels that are called with arrays, and the formats of their
numbers."""
from __future__ import annotations

import dataclasses
import pathlib
import tempfile
from typing import Any, List, Mapping, Optional, Sequence, Union

import numpy as np

from . import _program
from .plan import number, table
from ._program import Array, Path, Progress


class Kernel:
    """A kernel (.cfd or .mlir), compiled for this CPU.

    It is called with its inputs by name:

        helmholtz = rhizome.Kernel("helmholtz.cfd", numbers="fixed<8,24>")
        v = helmholtz(S=S, D=D, u=u)
    """

    def __init__(self, source: Path, *, progress: Optional[Progress] = None,
                 **options: Any) -> None:
        """Compiles; options are those of `rhizome compile` for kernels."""
        self._folder = tempfile.TemporaryDirectory(prefix="rhizome-kernel-")
        self.source = pathlib.Path(source)
        self.folder = pathlib.Path(self._folder.name) / "kernel"
        self.json = _program.run("compile", source, progress=progress, options={
            "target": "cpu", "output": self.folder, **options})

    def __call__(self, **arrays: Array) -> Array:
        """The output of a kernel that has one. Arrays are named as in its text; an element
        dimension, where it has one, may be of any length."""
        with _program.files() as keep:
            inputs, result = keep.new(".npz"), keep.new()
            np.savez(inputs, **arrays)  # type: ignore[arg-type]
            _program.run("run", self.folder,
                         options={"input": inputs, "output": result})
            value: Array = np.load(result)
            return value

    def __repr__(self) -> str:
        return f"Kernel({str(self.source)!r})"

    def _repr_html_(self) -> str:
        work = self.json["work"]
        return table([(name, number(work["direct"][name]),
                       number(work["chosen"][name]))
                      for name in ("macs", "operations")],
                     (self.source.name, "as written", "chosen"))


@dataclasses.dataclass(frozen=True)
class FormatPoint:
    """A number format, tried on a kernel: errors relative to double, the cost
    of one multiply-add, and how many results overflowed. `pareto`: none of the
    others is as cheap and as exact."""

    format: str
    bits: int
    mean_square_error: Optional[float]
    max_error: Optional[float]
    relative_error: Optional[float]
    multiply_add_luts: float
    multiplier_dsps: int
    overflows: int
    can_overflow: bool
    pareto: bool


class Formats(List[FormatPoint]):
    """What `formats` returns: a list that notebooks show as a table."""

    @property
    def pareto(self) -> "Formats":
        """Those that are on the Pareto front."""
        return Formats(each for each in self if each.pareto)

    def _repr_html_(self) -> str:
        return table([("*" if each.pareto else "", each.format, each.bits,
                       number(each.relative_error),
                       number(each.multiply_add_luts), each.multiplier_dsps,
                       number(each.overflows)) for each in self],
                     ("", "format", "bits", "relative error", "LUTs", "DSPs",
                      "overflows"))


def formats(kernel: Path, candidates: Sequence[str] = (), *,
            inputs: Union[Path, Mapping[str, Array], None] = None,
            progress: Optional[Progress] = None, **options: Any) -> Formats:
    """Compares number formats for a kernel by error and cost.

    candidates: such as ["fixed<8,24>", "half"]; otherwise a sweep of widths.
    inputs: arrays by name, or a .npz file; otherwise random ones. Further
    options are those of `rhizome formats`.
    """
    with _program.files() as keep:
        if isinstance(inputs, Mapping):
            path = keep.new(".npz")
            np.savez(path, **inputs)  # type: ignore[arg-type]
            inputs = path
        answer = _program.run("formats", kernel, progress=progress, options={
            "formats": list(candidates), "input": inputs, **options})
    return Formats(FormatPoint(**{field.name: each[field.name] for field in
                                  dataclasses.fields(FormatPoint)})
                   for each in answer["formats"])
