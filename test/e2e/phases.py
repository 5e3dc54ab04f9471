# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A compile that stops after a phase and continues from the written file
gives the same package as a single run, byte for byte; options that come too late are
refused by name."""
import json
import os
import pathlib
import re
import subprocess

import networks

EXAMPLES = networks.ROOT / "examples"
NAMES = ("import", "normalize", "quantize", "integerize", "explore", "build",
         "lower", "emit", "package")
TINY = EXAMPLES / "tiny-digits/tiny_digits_qdq_int8.onnx"
DIGITS = EXAMPLES / "digits/digits_qdq_int8.onnx"
CALIBRATED = [(EXAMPLES / f"pytorch/{name}.{kind}",
               ("--calibration", EXAMPLES / "digits/test_images.npy",
                "--calibration-frames", "4"))
              for name in ("mlp", "cnn", "transformer")
              for kind in ("onnx", "mlir")]
CODES = ("--number-format", "fixed<1,7>", "--raw-integers")
BOARD = ("--board", "ice40-hx8k-breakout", "--goal", "min-resources")
# Every example, with devices and goals that cover all paths through the phases.
MODELS = [
    (DIGITS, ("--goal", "throughput=100000/s")),
    (DIGITS, ("--cluster", "ku060x2", "--steer", "splits.yaml")),
    (DIGITS, ("--cluster", "mixed9", "--max-nodes", "3")),
    (DIGITS, ("--cluster", "ecp5-12fx4", "--goal", "throughput=2000/s")),
    (EXAMPLES / "digits/digits_qonnx_w4a4.onnx",
     ("--goal", "max-throughput,dsp=0")),
    (EXAMPLES / "lenet5/lenet5_codes.onnx", (*CODES, "--goal",
                                             "throughput=1000/s")),
    (TINY, BOARD),
    *CALIBRATED,
]


def stopped_at(suite, phase, model, options, module, *more):
    return suite.run("compile", model, *options, "--compile-to", phase, "-o",
                     module, *more)


def gone_on(suite, phase, module, package):
    return suite.run("compile", module, "--compile-from", phase, "-o", package)


def same(suite, one, other, text, command):
    """Whether two packages are equal, byte for byte."""
    done = subprocess.run(["diff", "-rq", one, other], capture_output=True,
                          text=True)
    return suite.check(done.returncode == 0,
                       text + (": " + done.stdout[:300] if done.stdout
                               else ""), command)


def every_phase(suite, model, options, label):
    """All places to stop once."""
    whole, package = suite.work / "whole.rhz", suite.work / "parts.rhz"
    built = suite.run("compile", model, *options, "-o", whole)
    if not suite.check(built.status == 0, f"{label}: compiles"
                       + (f": {built.message}" if built.status else ""),
                       built.command):
        return
    for phase in NAMES[:-1]:
        module = suite.work / f"{phase}.mlir"
        first = stopped_at(suite, phase, model, options, module)
        second = gone_on(suite, phase, module, package)
        bad = first if first.status else second
        if suite.check(first.status == 0 and second.status == 0,
                       f"{label}: stops after {phase} and goes on"
                       + (f": {bad.message}" if bad.status else ""),
                       bad.command):
            same(suite, whole, package, f"{label}: {phase} gives the package "
                 "of one go", second.command)


def edited(suite):
    """A choice of the plan is changed by hand."""
    text = (suite.work / "explore.mlir").read_text()
    key = re.search(r'takes "stream" "(stream/matvec[^"]*)"', text)[1]
    module, package = suite.work / "edited.mlir", suite.work / "edited.rhz"

    def take(other):
        module.write_text(text.replace(key, other, 1))
        return gone_on(suite, "explore", module, package)

    result = take("stream/matvec?pe=999")
    suite.check(result.status == 1 and "no generator offers the option "
                "'stream/matvec?pe=999'" in result.err,
                "a key that nobody offers is refused", result.command)
    offered = [k for k in re.findall(r"stream/matvec\?[\w=&.-]+", result.err)
               if k != key and "999" not in k]
    if not suite.check(offered, "those that are offered are named",
                       result.command):
        return
    result = take(offered[0])
    if not suite.check(result.status == 0, f"{offered[0]} is built"
                       + (f": {result.message}" if result.status else ""),
                       result.command):
        return
    plan = json.loads((package / "plan.json").read_text())
    operations = [o for n in plan["nodes"] for o in n["operations"]]
    taken = [o for o in operations if o["option"] == offered[0]]
    suite.check(taken, f"the package has {offered[0]}", result.command)
    result = suite.run("simulate", package, "-n", "3", "--json")
    answer = result.json or {}
    suite.check(result.status == 0 and answer.get("mismatches") == 0,
                "and computes the same", result.command)


def phases(suite):
    """One example through every phase, and the refusals."""
    every_phase(suite, TINY, BOARD, "tiny-digits")
    # From phase to phase, each in its own process.
    module = suite.work / "import.mlir"
    for before, phase in zip(NAMES, NAMES[1:-1]):
        direct = module.parent / f"{phase}.mlir"
        result = suite.run("compile", module, "--compile-from", before,
                           "--compile-to", phase)
        if not suite.check(result.status == 0 and
                           result.out == direct.read_text(),
                           f"{before} to {phase} gives what one go has there",
                           result.command):
            break
        module = direct
    refused = [
        (("--compile-from", "build", "--device", "xc7z020"), 2,
         "--device acts in the phase 'explore' for the last time"),
        (("--compile-from", "integerize", "--number-format", "fixed<6,10>"), 2,
         "--number-format acts in the phase 'quantize' for the last time"),
        (("--compile-from", "build", "--compile-to", "explore"), 2,
         "--compile-to explore does not come after --compile-from build"),
        (("--compile-from", "package"), 2, "no phase follows"),
        (("--compile-from", "build"), 1, "is not what the phase 'build' leaves"),
        (("--compile-to", "flow"), 2, "'flow' is no phase"),
        (("--compile-to", "build", "--json"), 2, "needs -o FILE"),
        (("--compile-to", "build", "--bitstream"), 2,
         "--bitstream needs the whole package"),
    ]
    for options, status, words in refused:
        result = suite.run("compile", suite.work / "explore.mlir", *options)
        suite.check(result.status == status and
                    words in result.out + result.err,
                    f"{' '.join(options)} is refused", result.command)
    edited(suite)
    # Homes of weights are asked for before explore, and kept until then.
    homes = ("--device", "xck26", "--weights", "resident")
    whole, module = suite.work / "homes.rhz", suite.work / "homes.mlir"
    suite.run("compile", DIGITS, *homes, "-o", whole)
    suite.check("weights=ultra" in (whole / "plan.json").read_text(),
                "weights are resident")
    stopped_at(suite, "normalize", DIGITS, homes, module)
    result = gone_on(suite, "normalize", module, suite.work / "kept.rhz")
    same(suite, whole, suite.work / "kept.rhz",
         "a module keeps the homes of weights", result.command)
    result = suite.run("compile", suite.work / "explore.mlir",
                       "--compile-from", "explore", "--weights", "rom")
    suite.check(result.status == 2 and "--weights acts in the phase" in
                result.err, "and they are refused after explore",
                result.command)
    # Recorded options are used, given ones take precedence.
    result = suite.run("compile", suite.work / "integerize.mlir",
                       "--compile-from", "integerize", "--device", "xc7z020",
                       "--goal", "max-throughput", "-o",
                       suite.work / "other.rhz", "--json")
    plan = json.loads((suite.work / "other.rhz/plan.json").read_text())
    suite.check(plan["device"] == "xc7z020" and not plan.get("board") and
                plan["goal"] == "max-throughput",
                "another device and goal take the recorded ones' place",
                result.command)


FIXED = ("--numbers", "fixed<8,24>", "--device", "xcu280")
# Formats, stages, copies with another order of sums, lanes and systems.
KERNELS = [
    ("helmholtz.cfd", (*FIXED, "--stages", "3", "--resident", "S")),
    ("gradient.cfd", (*FIXED, "--goal", "throughput=1000000/s")),
    ("heat.cfd", ("--numbers", "float<6,9>", "--device", "xck26", "--lanes",
                  "2", "--words", "2")),
    ("heat.cfd", (*FIXED, "--system", "--units", "2", "--stages", "1")),
    ("gradient.cfd", ("--numbers", "fixed<16,16>", "--saturate", "--board",
                    "kv260")),
]


def kernel_edited(suite, module):
    """The plan of a kernel, changed by hand."""
    text, package = module.read_text(), suite.work / "edited.rhz"

    def take(before, after):
        (suite.work / "edited.mlir").write_text(text.replace(before, after, 1))
        return gone_on(suite, "explore", suite.work / "edited.mlir", package)

    result = take("loops/unit?stages=3", "loops/unit?stages=2")
    plan = json.loads((package / "plan.json").read_text()) if (
        result.status == 0) else {"kernel": {"choice": {}}}
    suite.check(plan["kernel"]["choice"].get("stages") == 2,
                "an edited number of stages is built", result.command)
    result = suite.run("simulate", package, "-n", "3", "--json")
    suite.check(result.status == 0 and result.json["mismatches"] == 0,
                "and computes the same", result.command)
    for before, after in (("loops/unit?stages=3", "loops/unit?stages=99999"),
                          ("loops/unit?stages=3", "stream/unit?stages=3"),
                          ("resident=0", "resident=7"),
                          ("borders=1-1", "borders=x-1"),
                          ("loops/nest", "loops/net"),
                          ("units=1", "units=3"),
                          ("loops/nest", "loops/nest?datapath=0"),
                          ('flow.choice "line 15" "nest"', '// "')):
        result = take(before, after)
        words = "say --system" if "units" in after else "'loops'"
        suite.check(before in text and result.status in (1, 2) and
                    words in result.err, f"{after} is refused: {result.err}",
                    result.command)


def kernel_phases(suite):
    """Kernels that become hardware, stopped after every phase."""
    for name, options in KERNELS:
        every_phase(suite, EXAMPLES / "kernels" / name, options,
                    f"{name} {' '.join(map(str, options[2:]))}")
    # From phase to phase, each in its own process, and as passes.
    kernel, options = EXAMPLES / "kernels" / KERNELS[0][0], KERNELS[0][1]
    for phase in NAMES[:-1]:
        stopped_at(suite, phase, kernel, options, suite.work / f"{phase}.mlir")
    opt = suite.rhizome.parent / "rhizome-opt"
    for before, phase in zip(NAMES, NAMES[1:-1]):
        module = suite.work / f"{before}.mlir"
        direct = (suite.work / f"{phase}.mlir").read_text()
        result = suite.run("compile", module, "--compile-from", before,
                           "--compile-to", phase)
        suite.check(result.status == 0 and result.out == direct,
                    f"{before} to {phase} gives what one go has there",
                    result.command)
        done = subprocess.run([opt, module, f"--rhizome-{phase}",
                               "--mlir-print-debuginfo"], capture_output=True,
                              text=True)
        suite.check(done.returncode == 0,
                    f"--rhizome-{phase}: {done.stderr[:300]}")
    integers = suite.work / "integerize.mlir"
    refused = [
        ("explore", ("--stages", "2"), 2, "--stages acts in the phase"),
        ("integerize", ("--numbers", "half"), 2, "--numbers acts in the phase"),
        ("integerize", ("--max-nodes", "2"), 2, "holds a kernel"),
        ("integerize", ("--cluster", "ku060x2"), 2, "with each element"),
        ("integerize", ("--device", "xck27"), 2, "xck26"),
        ("integerize", ("--units", "2"), 2, "say --system"),
        ("build", (), 1, "is not what the phase 'lower' leaves"),
    ]
    for phase, more, status, words in refused:
        at = "lower" if phase == "build" else phase
        result = suite.run("compile", suite.work / f"{phase}.mlir",
                           "--compile-from", at, *more, "-o",
                           suite.work / "none.rhz")
        suite.check(result.status == status and words in result.err and
                    not (suite.work / "none.rhz").exists(),
                    f"{more or phase} is refused: {result.err}",
                    result.command)
    # Given options take precedence; what is not given is as recorded.
    result = suite.run("compile", integers, "--compile-from", "integerize",
                       "--device", "xck26", "--stages", "1", "-o",
                       suite.work / "other.rhz")
    plan = json.loads((suite.work / "other.rhz/plan.json").read_text())
    choice = plan["kernel"]["choice"]
    suite.check(plan["device"] == "xck26" and choice["stages"] == 1 and
                choice["residents"] == ["S"], "another device and stages, the "
                "same residents", result.command)
    result = suite.run("explore", integers, "--compile-from", "integerize",
                       "--json")
    suite.check(result.status == 0 and
                result.json["kernel"]["choice"]["stages"] == 3,
                "explore goes on from integers", result.command)
    # Settings that nobody wrote.
    text = integers.read_text()
    for before, after, words in (
            ('residents = ["S"]', "residents = 3", "not a list of strings"),
            ("unit = \"loops/unit?", "unit = \"loops/units?",
             "not a choice of 'loops/unit'"),
            ("device = ", "devise = ", "'devise' in rhizome.compile is not"),
            ("residents = ", "residence = ", "'residence' in rhizome.compile"),
            ("rhizome.kernel}", "rhizome.kernels}",
             "no attribute 'rhizome.kernels'")):
        (suite.work / "odd.mlir").write_text(text.replace(before, after, 1))
        result = gone_on(suite, "integerize", suite.work / "odd.mlir",
                         suite.work / "odd.rhz")
        suite.check(before in text and result.status == 1 and
                    words in result.err, f"{after}: {result.err}",
                    result.command)
    # What is given later is recorded for the phases that follow.
    module, later = suite.work / "import.mlir", suite.work / "later.mlir"
    suite.run("compile", module, "--compile-from", "import", "--numbers",
              "fixed<6,10>", "--compile-to", "normalize", "-o", later)
    result = gone_on(suite, "normalize", later, suite.work / "later.rhz")
    plan = json.loads((suite.work / "later.rhz/plan.json").read_text())
    suite.check(plan["kernel"]["inputs"][0]["format"] == "fixed<6,10>",
                "numbers given from import to normalize are kept",
                result.command)
    for more in (("--cpu", "native"), ("--target", "bambu"),
                 ("--explore-formats",)):
        result = suite.run("compile", module, "--compile-from", "import", *more)
        suite.check(result.status == 2 and more[0] in result.err and
                    "leave out --compile-from" in result.err,
                    f"{more} is refused: {result.err}", result.command)
    kernel_edited(suite, suite.work / "explore.mlir")


def phases_examples(suite):
    """Every example, stopped after every phase."""
    os.chdir(suite.work)
    pathlib.Path("splits.yaml").write_text("splits: {conv4: 2}\n")
    for model, options in MODELS:
        every_phase(suite, model, options,
                    f"{model.name} {' '.join(map(str, options[-2:]))}")
