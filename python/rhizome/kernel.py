# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tensor kernels that are called with arrays."""
from __future__ import annotations

import pathlib
import tempfile
from typing import Any

import numpy as np

from . import _program
from ._program import Array, Path


class Kernel:
    """A kernel (.cfd or .mlir), compiled for this CPU.

    It is called with its inputs by name:

        helmholtz = rhizome.Kernel("helmholtz.cfd", numbers="fixed<8,24>")
        v = helmholtz(S=S, D=D, u=u)
    """

    def __init__(self, source: Path, **options: Any) -> None:
        """Compiles; options are those of `rhizome compile` for kernels."""
        self._folder = tempfile.TemporaryDirectory(prefix="rhizome-kernel-")
        self.source = pathlib.Path(source)
        self._compiled = pathlib.Path(self._folder.name) / "kernel"
        self.json = _program.run("compile", source, options={
            "target": "cpu", "output": self._compiled, **options})

    def __call__(self, **arrays: Array) -> Array:
        """The output of a kernel that has one. Arrays are named as in its text; an element
        dimension, where it has one, may be of any length."""
        with _program.files() as keep:
            inputs, result = keep.new(".npz"), keep.new()
            np.savez(inputs, **arrays)  # type: ignore[arg-type]
            _program.run("run", self._compiled,
                        options={"input": inputs, "output": result})
            value: Array = np.load(result)
            return value

    def __repr__(self) -> str:
        return f"Kernel({str(self.source)!r})"
