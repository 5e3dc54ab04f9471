# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Bad models and bad options: a message and an exit status, never a crash, a
hang or a package."""
import os
import random
import shutil

import networks
from framework import needed

GOOD = networks.ROOT / "examples/digits/digits_qonnx_w4a4.onnx"
SECONDS, GIGABYTES = 60, 8
LIMITS = {"timeout": SECONDS, "memory_gb": GIGABYTES}


def check_refused(suite, label, path, names=()):
    folder = suite.work / "out"
    folder.mkdir(exist_ok=True)
    result = suite.run("compile", path, "-o", folder / "net.rhz", "--json",
                       **LIMITS)
    answer = result.json or {}
    reasons = answer.get("refused", [])
    text = answer.get("error") or "; ".join(
        f"{r['node']} {r['op']}: {r['reason']}" for r in reasons)
    named = {r["node"] for r in reasons}
    suite.check(result.status == 1 and answer.get("ok") is False and text
                and set(names) <= named and not os.listdir(folder),
                f"{label}: status {result.status}, {text[:200]}"
                + ("" if answer else f" {result.message[:300]}")
                + (f"; left {os.listdir(folder)}" if os.listdir(folder)
                   else ""), result.command)
    if result.status == 1 and text:
        plain = suite.run("compile", path, "-o", folder / "net.rhz", **LIMITS)
        suite.check(plain.status == 1 and "error: " in plain.err,
                    f"{label}: the same in words", plain.command)


def bad_models(suite):
    badmodels = needed("badmodels")
    for label, data in badmodels.cases(GOOD.read_bytes()).items():
        path = suite.work / f"{label.replace(' ', '_').replace('/', '_')}.onnx"
        path.write_bytes(data)
        check_refused(suite, label, path, badmodels.NAMES.get(label, ()))
    check_refused(suite, "a file that does not exist",
                  suite.work / "nowhere.onnx")
    check_refused(suite, "a folder", suite.work)
    path = suite.work / "unsorted.onnx"
    path.write_bytes(badmodels.unsorted())
    result = suite.run("compile", path, "-o", suite.work / "u.rhz", "--json",
                       **LIMITS)
    suite.check(result.status in (0, 1) and result.json,
                f"nodes in reverse order: status {result.status}, compiled or "
                f"refused", result.command)


def refusals(suite):
    needed("refusals").refusals(suite)


def damaged_models(suite, count):
    """A good model with a few bytes changed: compiled or refused."""
    good = GOOD.read_bytes()
    draw = random.Random(11)
    statuses = {}
    for i in range(int(count)):
        data = bytearray(good)
        # Half of them near the end, where the nodes' attributes stand.
        for _ in range(draw.randint(1, 4)):
            data[draw.randrange(len(data))] = draw.randrange(256)
        if i % 3 == 0:
            at = draw.randrange(len(data))
            del data[at:at + draw.randint(1, 9)]
        path = suite.work / f"damaged{i}.onnx"
        path.write_bytes(data)
        target = suite.work / f"damaged{i}.rhz"
        result = suite.run("compile", path, "-o", target, "--goal",
                           "throughput=20000/s", "--accept-nearest", "--json",
                           **LIMITS)
        statuses[result.status] = statuses.get(result.status, 0) + 1
        good_end = (result.status == 0 and target.exists()
                    or result.status == 1 and not target.exists())
        if suite.check(good_end and result.json is not None,
                       f"damaged model {i}: status {result.status}",
                       result.command):
            path.unlink()
    print(f"statuses: {statuses}")


BAD_OPTIONS = (
    [], ["frobnicate"], ["compile"], ["compile", "--frobnicate"],
    ["compile", GOOD, GOOD],
    ["compile", GOOD, "--goal", "fast"],
    ["compile", GOOD, "--goal", "throughput=0/s"],
    ["compile", GOOD, "--goal", "throughput=-5/s"],
    ["compile", GOOD, "--goal", "throughput=nan/s"],
    ["compile", GOOD, "--goal", "latency=5"],
    ["compile", GOOD, "--clock-mhz", "0"],
    ["compile", GOOD, "--clock-mhz", "nan"],
    ["compile", GOOD, "--clock-mhz", "fast"],
    ["compile", GOOD, "--number-format", "fixed:8"],
    ["compile", GOOD, "--number-format", "fixed:0,0"],
    ["compile", GOOD, "--number-format", "fixed:99,7"],
    ["compile", GOOD, "--number-format", "float:8,7"],
    ["compile", GOOD, "--shape", "image"],
    ["compile", GOOD, "--shape", "image=1,-1,8,8"],
    ["compile", GOOD, "--tensor-format", "image"],
    ["simulate"], ["simulate", "x.rhz", "-n", "0"],
    ["simulate", "x.rhz", "-n", "-3"],
    ["simulate", "x.rhz", "--stalls-in", "100"],
    ["simulate", "x.rhz", "--stalls-out", "-1"],
    ["simulate", "x.rhz", "--level", "gates"],
    ["simulate", "x.rhz", "--input-range", "5"],
    ["simulate", "x.rhz", "--input-range", "5,1"],
    ["simulate", "x.rhz", "--normalise", "2..1"],
    ["evaluate", GOOD], ["evaluate", GOOD, "--labels", "y.npy"],
    ["synth"], ["synth", "x.rhz", "--jobs", "0"],
    ["synth", "x.rhz", "--tool"], ["synth", "x.rhz", "--cache"],
    ["coverage"], ["targets", "too", "much"], ["doctor", "--frobnicate"],
    ["doctor", "--timeout-s", "0"],
)

# Well-formed, but what they name is not there: status 1.
ABSENT = (
    ["compile", GOOD, "--device", "xc0000"],
    ["compile", GOOD, "--device", GOOD],
    ["compile", GOOD, "--shape", "nothing=1,1,8,8"],
    ["compile", GOOD, "--shape", "image=1,2,3"],
    ["compile", GOOD, "--tensor-format", "nothing=fixed:8,7"],
    ["compile", GOOD, "--raw-integers"],
    ["evaluate", GOOD, "--data", "nowhere.npy"],
    ["evaluate", GOOD, "--data", "nowhere.npy", "--labels", "nowhere.npy"],
    ["evaluate", GOOD, "--data", GOOD, "--labels", GOOD],
    ["synth", "nowhere.rhz"],
    ["coverage", "nowhere.onnx"],
)


def bad_options(suite):
    for status, lists in ((2, BAD_OPTIONS), (1, ABSENT)):
        for args in lists:
            result = suite.run(*args, cwd=suite.work, **LIMITS)
            left = os.listdir(suite.work)
            for name in left:
                shutil.rmtree(suite.work / name)
            suite.check(result.status == status and result.err.strip()
                        and not left,
                        f"{' '.join(str(a) for a in args)}: status "
                        f"{result.status}, wanted {status}; "
                        f"{result.message[:160]} {left or ''}",
                        result.command)
    for args, words in ((["comple", GOOD], "did you mean 'compile'"),
                        (["compile", GOOD, "--gaol", "x"],
                         "did you mean '--goal'"),
                        (["coverage", GOOD, "--frobnicate=3"],
                         "'coverage' has no option '--frobnicate'")):
        result = suite.run(*args, **LIMITS)
        suite.check(result.status == 2 and words in result.err,
                    f"{args[0]}: {result.message[:100]}", result.command)
    for args in (["--help"], ["--version"], ["compile", "--help"],
                 ["simulate", "--help"], ["evaluate", "--help"],
                 ["synth", "--help"], ["targets"], ["doctor"]):
        result = suite.run(*args, **LIMITS)
        suite.check(result.status == 0 and result.out.strip(),
                    f"{' '.join(args)}: status {result.status}",
                    result.command)
    # A goal out of reach: status 1, the limit by name, nothing built; the
    # nearest only on request.
    target = suite.work / "net.rhz"
    impossible = ["compile", GOOD, "--goal", "throughput=1e12/s", "-o", target,
                  "--json"]
    result = suite.run(*impossible)
    answer = result.json or {}
    suite.check(result.status == 1 and answer.get("limit")
                and answer.get("nearest") and not target.exists(),
                f"a goal out of reach: {answer.get('limit')}", result.command)
    result = suite.run(*impossible, "--accept-nearest")
    answer = result.json or {}
    suite.check(result.status == 0 and answer.get("ok") and target.exists(),
                "the nearest is built on request", result.command)
    result = suite.run("compile", GOOD, "--goal", "throughput=1000/s,lut=2000",
                       "-o", suite.work / "large.rhz", "--json",
                       "--accept-nearest")
    notes = (result.json or {}).get("notes", [])
    suite.check(any("does not fit" in n and "LUT" in n for n in notes),
                f"what does not fit is said: {notes}", result.command)
