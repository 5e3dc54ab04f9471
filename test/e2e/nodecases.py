# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The node cases of the onnx package in .venv, which are newer than Debian's
libonnx-testdata: written as the folders that ImportTests reads, and compared
with unittests/Import/node-cases-current.txt."""
import os
import pathlib
import subprocess
import warnings

from framework import Skip

TABLE = (pathlib.Path(__file__).resolve().parents[2]
         / "unittests/Import/node-cases-current.txt")
VERSION = "1.23.2"  # of onnx, in test/requirements.txt
OLDEST = 18         # opset; Debian's cases are of 17


def opset_of(model):
    return max((s.version for s in model.opset_import
                if s.domain in ("", "ai.onnx")), default=0)


def write_cases(folder):
    """Writes the cases with tensors only; their number."""
    from onnx import TensorProto, numpy_helper
    from onnx.backend.test.case.node import collect_testcases

    def tensor(value):
        if isinstance(value, TensorProto):
            return value
        return numpy_helper.from_array(value)

    count = 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        cases = collect_testcases(None)
    for case in cases:
        if opset_of(case.model) < OLDEST or not case.data_sets:
            continue
        inputs, outputs = case.data_sets[0]
        try:
            files = {f"{kind}_{i}.pb": tensor(value)
                     for kind, values in (("input", inputs),
                                          ("output", outputs))
                     for i, value in enumerate(values)}
        except (AttributeError, TypeError):  # a sequence or an optional
            continue
        data = folder / case.name / "test_data_set_0"
        data.mkdir(parents=True)
        (data.parent / "model.onnx").write_bytes(
            case.model.SerializeToString())
        for name, proto in files.items():
            (data / name).write_bytes(proto.SerializeToString())
        count += 1
    return count


def node_cases(suite):
    try:
        import onnx
    except ImportError:
        raise Skip("the Python package onnx is missing (make setup)") from None
    if onnx.__version__ != VERSION:
        raise Skip(f"the table is of onnx {VERSION}, {onnx.__version__} is "
                   "installed (make setup)")
    tests = suite.rhizome.parent / "ImportTests"
    if not tests.exists():
        raise Skip(f"{tests} is missing (make build-all)")
    folder = suite.work / "cases"
    count = write_cases(folder)
    suite.check(count > 800, f"onnx {VERSION} has {count} cases from opset "
                f"{OLDEST} on")
    process = subprocess.run(
        [tests, "--gtest_filter=ImportConformance.*", "--gtest_brief=1"],
        env={**os.environ, "RHIZOME_NODE_CASES_FOLDER": str(folder),
             "RHIZOME_NODE_CASES_TABLE": str(TABLE),
             "RHIZOME_NODE_CASE_STEP": "1"},
        capture_output=True, text=True, timeout=1000)
    told = [line for line in process.stdout.splitlines()
            if "node cases pass" in line]
    suite.check(process.returncode == 0 and told,
                f"{told[0] if told else 'no result'}; the others fail as "
                f"{TABLE.name} says\n"
                + ("" if process.returncode == 0 else process.stdout[-4000:]))
