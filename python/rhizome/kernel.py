# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tensor kernels that are called with arrays, and the formats of their
numbers."""
from __future__ import annotations

import dataclasses
import os
import pathlib
import re
import tempfile
from typing import Any, List, Mapping, Optional, Sequence, Union

import numpy as np

from . import _program
from .errors import UsageError
from .plan import number, table
from ._program import Array, Path, Progress


class Kernel:
    """A kernel, compiled for this CPU: a file (.cfd or .mlir), or its text.

    It is called with its inputs by name:

        helmholtz = rhizome.Kernel("helmholtz.cfd", numbers="fixed<8,24>")
        v = helmholtz(S=S, D=D, u=u)

        double = rhizome.Kernel('''
            var input  u : [4 4]
            var output v : [4 4]
            v[i,j] = 2 * u[i,j]''')

    `inputs` and `outputs` are the names of its arrays, in its order.
    """

    def __init__(self, source: Path, *, progress: Optional[Progress] = None,
                 **options: Any) -> None:
        """Compiles; options are those of `rhizome compile` for kernels."""
        self._folder = tempfile.TemporaryDirectory(prefix="rhizome-kernel-")
        folder = pathlib.Path(self._folder.name)
        names = {}
        if _is_text(source):
            self.source = folder / ("kernel.mlir" if _MLIR.match(str(source))
                                    else "kernel.cfd")
            self.source.write_text(str(source))
            # Errors have its lines.
            names[str(self.source)] = "source"
        else:
            self.source = pathlib.Path(source)
            if self.source.suffix == ".onnx":
                raise UsageError(f"source: '{source}' is no kernel's file",
                                 "give a .cfd or .mlir file, or its text")
        self.folder = folder / "kernel"
        self.json = _program.run("compile", self.source, progress=progress,
                                 options={"target": "cpu", "output": self.folder,
                                          **options}, names=names)
        self.inputs: List[str] = self.json["inputs"]
        self.outputs: List[str] = self.json["outputs"]

    def __call__(self, **arrays: Array) -> Union[Array, List[Array]]:
        """The kernel's output, or a list of them if it has several. Arrays are
        named as in its text. With elements first they may be of any number, and
        so are the outputs; without, these have their own shapes."""
        with _program.files() as keep:
            results = [keep.new() for _ in self.outputs]
            answer = _program.run(
                "run", self.folder, names=keep.names, options={
                    "input": keep.arrays(arrays, "the arrays"),
                    "output": results})
            values = [np.load(path) for path in results]
            if answer["single"]:
                values = [each[0] for each in values]
            return values[0] if len(values) == 1 else values

    def __repr__(self) -> str:
        return f"Kernel({str(self.source)!r})"

    def _repr_html_(self) -> str:
        work = self.json["work"]
        if not work:
            return repr(self)
        return table([(name, number(work["direct"][name]),
                       number(work["chosen"][name]))
                      for name in ("macs", "operations")],
                     (self.source.name, "as written", "chosen"))


#: How modules begin.
_MLIR = re.compile(r"\s*(//.*\s*)*(#\w+ *=|!\w+ *=|module|func\.func|builtin\.)")


def _is_text(source: Path) -> bool:
    """A text has several lines, or what no file's name has."""
    return isinstance(source, str) and not os.path.exists(source) and bool(
        "\n" in source or _MLIR.match(source) or
        re.match(r"\s*(var|type|elem)\s", source))


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
            inputs = keep.arrays(inputs, "inputs")
        answer = _program.run("formats", kernel, progress=progress, options={
            "formats": list(candidates), "input": inputs, **options},
            names=keep.names)
    return Formats(FormatPoint(**{field.name: each[field.name] for field in
                                  dataclasses.fields(FormatPoint)})
                   for each in answer["formats"])
