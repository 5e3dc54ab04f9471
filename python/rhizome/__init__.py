# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Rhizome from Python: neural networks and tensor kernels onto FPGAs.

    import rhizome
    package = rhizome.compile("net.onnx", device="xcku060-role",
                              goal="throughput=100000/s", output="net.rhz")
    package.plan                        # rate, latency, resources, operations
    package.simulate(images[:8])        # RTL against the interpreter, bit for bit
    package.infer(images)               # the model's outputs as arrays

Each call runs the program `rhizome`, which the wheel contains. Nothing of the
compiler is loaded into Python's process, so its LLVM meets no other one there,
calls from several threads run side by side, and Ctrl-C ends the program.
"""
from .device import Device
from .errors import GoalError, Refusal, Refused, RhizomeError, UsageError
from .kernel import FormatPoint, Formats, Kernel, formats
from .model import (analyze, compile, coverage, evaluate, explore, targets,
                    trace)
from .package import Evaluation, Package, Simulation, Synthesis
from .plan import Operation, Plan, Summary
from .quantized import Layer, Quantized, quantize
from .tracing import Finding, Trace, TracedLayer
from .widths import Precision, Widths, precision
from ._program import examples, program, version

__all__ = [
    "Device", "Evaluation", "Finding", "FormatPoint", "Formats", "GoalError", "Kernel", "Layer", "Operation", "Package",
    "Plan", "Precision", "Quantized", "Refusal", "Refused", "RhizomeError", "Simulation",
    "Summary", "Synthesis", "Trace", "TracedLayer", "UsageError", "Widths", "analyze", "compile", "coverage",
    "evaluate", "examples", "explore", "formats", "precision", "program", "quantize", "targets",
    "trace", "version",
]
