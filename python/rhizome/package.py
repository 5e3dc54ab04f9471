# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Packages: what a compile leaves, and what can be run from it."""
from __future__ import annotations

import dataclasses
import json
import os
import pathlib
from typing import Any, Dict, List, Optional, Sequence, Union

import numpy as np

from . import _program
from .errors import RhizomeError
from .plan import Plan, Summary, number, table
from ._program import Answer, Array, Data, Path


@dataclasses.dataclass(frozen=True)
class Simulation:
    """Frames through simulated hardware: `mismatches` counts values that are
    not the interpreter's, `measured` is None at levels without a clock."""

    frames: int
    mismatches: int
    predicted: Summary
    measured: Optional[Summary]
    outputs: List[Array]
    json: Answer = dataclasses.field(repr=False)

    def _repr_html_(self) -> str:
        rows = [("frames", number(self.frames), ""),
                ("mismatches", number(self.mismatches), "")]
        for key in ("interval_cycles", "latency_cycles", "throughput_per_s"):
            rows.append((key.replace("_", " "),
                         number(getattr(self.predicted, key)),
                         number(getattr(self.measured, key))
                         if self.measured else ""))
        return table(rows, ("", "predicted", "measured"))


@dataclasses.dataclass(frozen=True)
class Evaluation:
    """A model on labeled data."""

    frames: int
    correct: Optional[int]
    accuracy: Optional[float]
    json: Answer = dataclasses.field(repr=False)

    def _repr_html_(self) -> str:
        accuracy = "" if self.accuracy is None else f"{self.accuracy:.2%}"
        return table([("frames", number(self.frames)),
                      ("correct", number(self.correct)),
                      ("accuracy", accuracy)])


class Package:
    """A package on disk: RTL, build files, host program, plan, report."""

    def __init__(self, folder: Path, plan: Optional[Plan] = None) -> None:
        """Opens a package; raises RhizomeError if `folder` is none."""
        self.folder = pathlib.Path(folder)
        try:
            #: plan.json as it is on disk.
            self.record: Dict[str, Any] = json.loads(
                (self.folder / "plan.json").read_text())
        except (OSError, ValueError) as why:
            raise RhizomeError(f"'{self.folder}' is not a package: {why}",
                               "compile a model into it") from why
        self.plan = plan or Plan(self.record)

    def __repr__(self) -> str:
        return f"Package({str(self.folder)!r}, {self.plan!r})"

    def _repr_html_(self) -> str:
        return self.plan._repr_html_()

    def __fspath__(self) -> str:
        return str(self.folder)

    @property
    def rtl(self) -> List[pathlib.Path]:
        """The SystemVerilog files of all nodes."""
        return sorted(self.folder.glob("nodes/*/rtl/*.sv"))

    @property
    def report_page(self) -> pathlib.Path:
        """The report, one HTML page."""
        return self.folder / "report.html"

    def simulate(self, inputs: Union[Data, Sequence[Data], None] = None, *,
                 level: str = "rtl", frames: Optional[int] = None,
                 **options: Any) -> Simulation:
        """Runs the hardware in simulation and compares it with the interpreter.

        inputs: one array or file per graph input, frames first; random values
        if None. level: "rtl", "functional", "cluster", "board", "netlist" or
        "bitstream". Further options are those of `rhizome simulate`.
        """
        answer, outputs = self._frames("simulate", inputs, {
            "level": level, "frames": frames, **options})
        measured = answer.get("measured")
        return Simulation(answer["frames"], answer["mismatches"],
                          Summary.of(answer.get("predicted")),
                          Summary.of(measured) if measured else None,
                          outputs, answer)

    def infer(self, inputs: Union[Data, Sequence[Data]], *,
              driver: str = "cpu", **options: Any) -> Union[Array, List[Array]]:
        """The model's outputs on real tensors; one array, or a list if the
        model has several outputs. driver: "cpu", "simulation", "uart" with
        port=…, "udp", "mpi" or "opencl", as in `rhizome run`."""
        options.setdefault("no_check", driver == "cpu")
        _, outputs = self._frames("run", inputs, {"driver": driver, **options})
        return outputs[0] if len(outputs) == 1 else outputs

    def evaluate(self, data: Data, labels: Optional[Data] = None,
                 **options: Any) -> Evaluation:
        """The accuracy on `data`, whose classes are `labels`."""
        answer = _program.run("evaluate", self.folder, options={
            "data": _array(data), "labels": _array(labels), **options})
        return Evaluation(answer["frames"], answer.get("correct"),
                          answer.get("accuracy"), answer)

    def synth(self, **options: Any) -> Answer:
        """Resources by synthesis beside the predicted ones."""
        return _program.run("synth", self.folder, options=options)

    def report(self) -> pathlib.Path:
        """Draws the report again, with what was measured since."""
        _program.run("report", self.folder)
        return self.report_page

    @property
    def outputs(self) -> List[str]:
        """Names of the model's outputs."""
        return [each["name"] for each in self.record["host"]["outputs"]]

    def _frames(self, command: str,
                inputs: Union[Data, Sequence[Data], None],
                options: Dict[str, Any]) -> "tuple[Answer, List[Array]]":
        with _program.files() as keep:
            many = ([] if inputs is None else
                    [inputs] if isinstance(inputs, (str, os.PathLike, np.ndarray))
                    else inputs)
            results = [keep.new() for _ in self.outputs]
            answer = _program.run(command, self.folder, options={
                "input": [keep.path(each) for each in many],
                "output": results, **options})
            return answer, [np.load(path) for path in results]


def _array(data: Optional[Data]) -> Any:
    """Lists become arrays; files stay."""
    return np.asarray(data) if isinstance(data, (list, tuple)) else data
