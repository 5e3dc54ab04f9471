# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What can be done with a model or a kernel: look at it, plan it, compile it."""
from __future__ import annotations

import dataclasses
import json
import os
import pathlib
from typing import Any, Dict, Mapping, Optional, Union

from . import _program
from .errors import Refused, UsageError
from .package import Evaluation, Package, evaluated
from .plan import Plan, Request
from .quantized import Quantized
from .tracing import Trace, traced
from ._program import Answer, Data, Path, Progress

#: An ONNX or MLIR file, or what `quantize` returned.
Model = Union[Path, Quantized]


def explore(model: Model, *, device: Optional[str] = None,
            board: Optional[str] = None, cluster: Optional[str] = None,
            goal: Optional[str] = None, calibration: Optional[Data] = None,
            progress: Optional[Progress] = None, **options: Any) -> Plan:
    """The plan for `model`; nothing is built.

    model: an ONNX or MLIR file, or what quantize returned.
    device, board, cluster: a name from `rhizome targets`, or a YAML file.
    goal: such as "throughput=1000/s,lut=80%" or "min-latency".
    calibration: inputs of a float model, which quantize it.
    progress: called with a line of text about what is being done.
    Further options are those of `rhizome explore`, with underscores.
    Raises Refused, GoalError, UsageError, RhizomeError.
    """
    return _Command(model, {
        "device": device, "board": board, "cluster": cluster, "goal": goal,
        "calibration": calibration, **options}).explore(progress)


def compile(model: Model, *, output: Optional[Path] = None,
            device: Optional[str] = None, board: Optional[str] = None,
            cluster: Optional[str] = None, goal: Optional[str] = None,
            calibration: Optional[Data] = None, plan: Optional[Path] = None,
            progress: Optional[Progress] = None,
            **options: Any) -> Package:
    """Compiles `model` into a package in the folder `output`, by default the
    model's name with the suffix .rhz in the current folder. A kernel (.cfd,
    .mlir) needs a device or board; rhizome.Kernel computes one on this CPU.

    plan: a plan.json or a package whose choices are taken.
    The other arguments and the exceptions are those of explore.
    """
    return _Command(model, {
        "device": device, "board": board, "cluster": cluster, "goal": goal,
        "calibration": calibration, "plan": plan, **options}).compile(
            output, progress, {})


def evaluate(model: Model, data: Data, labels: Optional[Data] = None, *,
             progress: Optional[Progress] = None,
             **options: Any) -> Evaluation:
    """The accuracy of a model on `data`, whose classes are `labels`: of its
    integers if it is quantized, and of its float arithmetic."""
    if isinstance(model, Quantized):
        return evaluated(model.model, data, labels, progress,
                         {**model.options, **options})
    return evaluated(model, data, labels, progress, options)


def trace(model: Model, data: Data, *, frames: Optional[int] = None,
          progress: Optional[Progress] = None, **options: Any) -> Trace:
    """What the tensors of a network hold on `data`, layer by layer: ranges, the
    share of values that saturates, the noise of rounding, and what to mend. The
    first 20 frames are used unless `frames` is given; further options are those
    of `rhizome trace`."""
    options["frames"] = frames
    if isinstance(model, Quantized):
        return traced(model.model, data, progress, {**model.options, **options})
    return traced(model, data, progress, options)


def coverage(model: Path, **options: Any) -> Answer:
    """Which generator can build which operation, and what runs on the host; `ok`
    tells whether a compile would build the network."""
    return _program.run("coverage", model, options=options, also="fpga")


def analyze(model: Path, **options: Any) -> Answer:
    """Work, bytes and roofs of every operation."""
    return _program.run("analyze", model, options=options)


def targets(name: Optional[str] = None) -> Answer:
    """The devices, boards, links and clusters that have a name; or one of them
    in full."""
    return _program.run("targets", *([name] if name else []))


class _Command(Request):
    """A request that runs the commands."""

    def explore(self, progress: Optional[Progress] = None) -> Plan:
        with _program.files() as keep:
            path, options = _read(self, keep)
            try:
                return Plan(_program.run("explore", path, options=options,
                                         progress=progress, names=keep.names),
                            self)
            except Refused as refused:
                if not self.steering:
                    raise
                # Of the file that was written here: its lines say nothing.
                raise Refused([dataclasses.replace(each, line=0)
                               for each in refused.refusals]) from None

    def compile(self, output: Optional[Path], progress: Optional[Progress],
                more: Mapping[str, Any]) -> Package:
        model = self.model
        source = model.model if isinstance(model, Quantized) else model
        folder = pathlib.Path(output or
                              pathlib.Path(source).with_suffix(".rhz").name)
        with _program.files() as keep:
            path, options = _read(self, keep)
            answer = _program.run("compile", path, progress=progress, options={
                **options, **more, "output": folder}, names=keep.names)
            return Package(folder, Plan(answer, self))


def _read(request: Request,
          keep: _program.Files) -> "tuple[Path, Dict[str, Any]]":
    """The file that a command reads, and its options."""
    options = dict(request.options)
    if request.steering:
        if options.get("steer"):
            raise UsageError("the plan is steered by a file",
                             "put the choices into that file, or explore "
                             "without it")
        # JSON is YAML, too.
        options["steer"] = keep.new(".yaml", "the choices")
        options["steer"].write_text(json.dumps(request.steering))
    if isinstance(request.model, Quantized):
        return request.model.module, {**options, "compile_from": "quantize"}
    return os.fspath(request.model), options
