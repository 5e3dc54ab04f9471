# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Packages: what a compile leaves, and what can be run from it."""
from __future__ import annotations

import dataclasses
import json
import os
import pathlib
import re
from typing import (Any, Dict, List, Mapping, Optional, Sequence, Tuple,
                    Union)

import numpy as np

from . import _program
from .device import Device
from .errors import RhizomeError, UsageError
from .plan import Plan, Summary, check, number, shown, table
from .tracing import Trace, traced
from ._program import Answer, Array, Data, Path, Progress


#: What a package computes on: arrays or files in the order of its inputs, or
#: those of a kernel by their names.
Inputs = Union[Data, Sequence[Data], Mapping[str, Data]]


@dataclasses.dataclass(frozen=True)
class Simulation:
    """Frames through simulated hardware: `mismatches` counts values that are
    not the interpreter's, `measured` is None at levels without a clock, and
    `outputs` has an array for each output, frames first."""

    frames: int
    mismatches: int
    predicted: Summary
    measured: Optional[Summary]
    outputs: List[Array]
    json: Answer = dataclasses.field(repr=False)

    def _repr_html_(self) -> str:
        rows = [("frames", number(self.frames), ""),
                ("mismatches", number(self.mismatches), "")]
        for key in ("interval_cycles", "latency_cycles", "latency_us",
                    "throughput_per_s"):
            values = [getattr(each, key) if each else None
                      for each in (self.predicted, self.measured)]
            if values[1] is not None or not self.measured:
                predicted, measured = ("" if value is None else shown(key, value)
                                       for value in values)
                rows.append((key.replace("_", " "), predicted, measured))
        return table(rows, ("", "predicted", "measured"))


@dataclasses.dataclass(frozen=True)
class Evaluation:
    """A model on data; without labels, nothing is correct or wrong: None."""

    frames: int
    correct: Optional[int]
    accuracy: Optional[float]
    json: Answer = dataclasses.field(repr=False)

    def _repr_html_(self) -> str:
        accuracy = "" if self.accuracy is None else f"{self.accuracy:.2%}"
        return table([("frames", number(self.frames)),
                      ("correct", "" if self.correct is None
                       else number(self.correct)),
                      ("accuracy", accuracy)])


@dataclasses.dataclass(frozen=True)
class Synthesis:
    """What synthesis counts, by resource, and what the plan predicted."""

    measured: Dict[str, float]
    predicted: Dict[str, float]
    json: Answer = dataclasses.field(repr=False)

    def _repr_html_(self) -> str:
        return table([(key, number(self.predicted.get(key, "")), number(value))
                      for key, value in self.measured.items()],
                     ("resource", "predicted", "measured"))


class Package:
    """A package on disk: RTL, build files, host program, plan, report."""

    def __init__(self, folder: Path, plan: Optional[Plan] = None) -> None:
        """Opens a package; raises RhizomeError if `folder` is none."""
        self.folder = pathlib.Path(folder)
        try:
            #: plan.json as it is on disk.
            self.record: Dict[str, Any] = json.loads(
                (self.folder / "plan.json").read_text())
            check(self.record)
        except (OSError, ValueError, RecursionError) as why:
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

    def simulate(self, inputs: Optional[Inputs] = None, *,
                 level: str = "rtl", frames: Optional[int] = None,
                 progress: Optional[Progress] = None,
                 **options: Any) -> Simulation:
        """Runs the hardware in simulation and compares it with the interpreter.

        inputs: one array or file per graph input, frames first, or a kernel's
        arrays by name; random values if None. level: "rtl", "functional", "cluster", "board", "netlist" or
        "bitstream". Further options are those of `rhizome simulate`.
        """
        answer, outputs = self._frames("simulate", inputs, {
            "level": level, "frames": frames, **options}, progress)
        predicted = Summary.of(answer.get("predicted"))
        measured = Summary.of(answer["measured"]) if answer.get(
            "measured") else None
        if measured and measured.latency_cycles and predicted.clock_mhz:
            measured = dataclasses.replace(
                measured, clock_mhz=predicted.clock_mhz,
                latency_us=measured.latency_cycles / predicted.clock_mhz)
        return Simulation(answer["frames"], answer["mismatches"], predicted,
                          measured, outputs, answer)

    def infer(self, inputs: Inputs, *,
              driver: str = "cpu", progress: Optional[Progress] = None,
              **options: Any) -> Union[Array, List[Array]]:
        """The model's outputs on real tensors; one array, or a list if the
        model has several outputs, in the order of `outputs`. Frames come first;
        a batch dimension of 1 in the model is left out. driver: "cpu",
        "simulation", "uart" with port=…, "udp", "mpi" or "opencl", as in
        `rhizome run`.

        A kernel takes arrays by name, or in its order, of its own shapes or
        with elements first; without them, neither do the outputs have them.
        driver: "cpu", with the bits of its hardware, or "simulation"."""
        if not self.is_kernel:
            options.setdefault("no_check", driver == "cpu")
        _, outputs = self._frames("run", inputs, {"driver": driver, **options},
                                  progress)
        return outputs[0] if len(outputs) == 1 else outputs

    def open(self, driver: str = "cpu", **options: Any) -> Device:
        """The device, opened once for many calls of its `infer`:

            with package.open("simulation") as device:
                for image in images:
                    scores = device.infer(image)

        driver and further options are those of `rhizome run`, as for `infer`.
        """
        tasks = self.record.get("tasks") or {}
        return Device(self.folder, driver, options,
                      bool(tasks.get("states")))

    def evaluate(self, data: Data, labels: Optional[Data] = None, *,
                 progress: Optional[Progress] = None,
                 **options: Any) -> Evaluation:
        """The accuracy on `data`, whose classes are `labels`; with rtl_frames=N
        also that of the simulated hardware. Other options are those of
        `rhizome evaluate`."""
        return evaluated(self.folder, data, labels, progress, options)

    def trace(self, data: Optional[Data] = None, *,
              model: Optional[Path] = None, frames: Optional[int] = None,
              progress: Optional[Progress] = None, **options: Any) -> Trace:
        """The hardware's tensors on `data`, by default on the package's golden
        vectors, layer by layer, as rhizome.trace does it. `model`, the file
        that was compiled, adds the comparison with arithmetic without rounding."""
        return traced(self.folder, data, progress, {
            "model": model, "frames": frames, **options})

    def synth(self, *, progress: Optional[Progress] = None,
              **options: Any) -> Synthesis:
        """Resources by synthesis beside the predicted ones; options are those
        of `rhizome synth`."""
        answer = _program.run("synth", self.folder, options=options,
                              progress=progress)
        return Synthesis(answer.get("measured", {}),
                         answer.get("predicted", {}), answer)

    def report(self) -> pathlib.Path:
        """Draws the report again, with what was measured since."""
        _program.run("report", self.folder)
        return self.report_page

    @property
    def is_kernel(self) -> bool:
        """Whether it computes a tensor kernel, not a network."""
        return bool(self.record.get("kernel"))

    @property
    def inputs(self) -> Dict[str, Tuple[int, ...]]:
        """The shapes of the inputs by name."""
        owner = self.record["kernel" if self.is_kernel else "host"]
        return {each["name"]: tuple(each["shape"]) for each in owner["inputs"]}

    @property
    def outputs(self) -> List[str]:
        """Names of the model's or the kernel's outputs."""
        owner = self.record["kernel" if self.is_kernel else "host"]
        if self.is_kernel or owner["complete"]:
            return [each["name"] for each in owner["outputs"]]
        # Where the host computes the end, what leaves the device has names of
        # its own.
        with open(self.folder / "model/network.mlir", encoding="utf-8") as file:
            found = next(filter(None, (re.search(
                r"flow\.outputs = (\[.*?\])", line) for line in file
                if line.startswith("module"))), None)
        names: List[str] = json.loads(found[1]) if found else []
        return names

    def _frames(self, command: str, inputs: Optional[Inputs],
                options: Dict[str, Any], progress: Optional[Progress]
                ) -> "tuple[Answer, List[Array]]":
        with _program.files() as keep:
            if isinstance(inputs, Mapping):
                if not self.is_kernel:
                    raise UsageError("a network takes its inputs in their order",
                                     "give an array, or a list of arrays")
                given: Sequence[Data] = [keep.arrays(inputs, "inputs")]
            else:
                given = ([] if inputs is None else [inputs] if isinstance(
                    inputs, (str, os.PathLike, np.ndarray)) else inputs)
            results = [keep.new() for _ in self.outputs]
            answer = _program.run(command, self.folder, options={
                "input": [keep.path(each, "inputs" if len(given) == 1 else
                                    f"inputs[{i}]")
                          for i, each in enumerate(given)],
                "output": results, **options}, progress=progress,
                names=keep.names)
            values = [np.load(path) for path in results]
            if not self.is_kernel:
                return answer, [_program.frames_first(each) for each in values]
            # The files are in the order of the kernel's text.
            named = dict(zip(answer["outputs"], values))
            return answer, [named[name][0] if answer["single"] else named[name]
                            for name in self.outputs]


def evaluated(model: Path, data: Data, labels: Optional[Data],
              progress: Optional[Progress],
              options: Mapping[str, Any]) -> Evaluation:
    answer = _program.run("evaluate", model, progress=progress, options={
        "data": _array(data), "labels": _array(labels), **options})
    return Evaluation(answer["frames"], answer.get("correct"),
                      answer.get("accuracy"), answer)


def _array(data: Optional[Data]) -> Any:
    """Lists become arrays; files stay."""
    return np.asarray(data) if isinstance(data, (list, tuple)) else data
