# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What can be done with a model: look at it, plan it, compile it."""
from __future__ import annotations

import pathlib
from typing import Any, Optional

from . import _program
from .package import Package
from .plan import Plan
from ._program import Answer, Data, Path


def _target(device: Optional[str], board: Optional[str],
            cluster: Optional[str], goal: Optional[str],
            calibration: Optional[Data], options: Any) -> Any:
    return {"device": device, "board": board, "cluster": cluster, "goal": goal,
            "calibration": calibration, **options}


def explore(model: Path, *, device: Optional[str] = None,
            board: Optional[str] = None, cluster: Optional[str] = None,
            goal: Optional[str] = None, calibration: Optional[Data] = None,
            **options: Any) -> Plan:
    """The plan for `model`, an ONNX or MLIR file; nothing is built.

    device, board, cluster: a name from `rhizome targets`, or a YAML file.
    goal: such as "throughput=1000/s,lut=80%" or "min-latency".
    calibration: inputs of a float model, which quantize it.
    Further options are those of `rhizome explore`, with underscores.
    Raises Refused, GoalError, UsageError, RhizomeError.
    """
    return Plan(_program.run("explore", model, options=_target(
        device, board, cluster, goal, calibration, options)))


def compile(model: Path, *, output: Optional[Path] = None,
            device: Optional[str] = None, board: Optional[str] = None,
            cluster: Optional[str] = None, goal: Optional[str] = None,
            calibration: Optional[Data] = None, plan: Optional[Path] = None,
            **options: Any) -> Package:
    """Compiles `model` into a package in the folder `output`, by default the
    model's name with the suffix .rhz in the current folder.

    plan: a plan.json or a package whose choices are taken.
    The other arguments and the exceptions are those of explore.
    """
    folder = pathlib.Path(output or pathlib.Path(model).with_suffix(".rhz").name)
    answer = _program.run("compile", model, options={
        **_target(device, board, cluster, goal, calibration, options),
        "plan": plan, "output": folder})
    return Package(folder, Plan(answer))


def coverage(model: Path, **options: Any) -> Answer:
    """Which generator can build which operation, and what runs on the host."""
    return _program.run("coverage", model, options=options)


def analyze(model: Path, **options: Any) -> Answer:
    """Work, bytes and roofs of every operation."""
    return _program.run("analyze", model, options=options)
