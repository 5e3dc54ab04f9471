# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Bad models and bad options: a message and an exit status, never a crash, a
hang or a package."""
import os
import random
import re
import shutil

import networks
from framework import needed, run_program

GOOD = networks.ROOT / "examples/digits/digits_qonnx_w4a4.onnx"
IMAGES = networks.ROOT / "examples/tiny-digits/test_images.npy"  # 100
LABELS = networks.ROOT / "examples/digits/test_labels.npy"       # 450
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
    ["compile", GOOD, "--number-format", "fixed<64,32>"],
    ["compile", GOOD, "--number-format", "ufixed<4,4>"],
    ["compile", GOOD, "--number-format", "half"],
    ["compile", GOOD, "--number-format", "ap_fixed<16,6,AP_RND>"],
    ["compile", GOOD, "--shape", "image"],
    ["compile", GOOD, "--shape", "image=1,-1,8,8"],
    ["compile", GOOD, "--shape", "image=1,<=0,8,8"],
    ["compile", GOOD, "--tensor-format", "image"],
    ["compile", GOOD, "--tensor-format", "image=fixed<0,0>"],
    ["simulate"], ["simulate", "x.rhz", "-n", "0"],
    ["simulate", "x.rhz", "-n", "-3"],
    ["simulate", "x.rhz", "--stalls-in", "100"],
    ["simulate", "x.rhz", "--stalls-out", "-1"],
    ["simulate", "x.rhz", "--level", "gates"],
    ["simulate", "x.rhz", "--input-range", "5"],
    ["simulate", "x.rhz", "--input-range", "5,1"],
    ["simulate", "x.rhz", "--normalize", "2..1"],
    ["evaluate", GOOD], ["evaluate", GOOD, "--labels", "y.npy"],
    ["synth"], ["synth", "x.rhz", "--jobs", "0"],
    ["synth", "x.rhz", "--tool"], ["synth", "x.rhz", "--cache"],
    ["coverage"], ["targets", "too", "much"], ["doctor", "--frobnicate"],
    ["doctor", "--timeout-s", "0"],
    ["help", "comple"], ["--versoin"], ["compile", GOOD, "-o", ""],
    ["compile", GOOD, "--device", "xc0000"],
)

# Well-formed, but what they name is not there: status 1.
ABSENT = (
    ["compile", GOOD, "--device", GOOD],
    ["compile", GOOD, "--shape", "nothing=1,1,8,8"],
    ["compile", GOOD, "--shape", "image=1,2,3"],
    ["compile", GOOD, "--tensor-format", "nothing=fixed<1,7>"],
    ["compile", GOOD, "--raw-integers"],
    ["evaluate", GOOD, "--data", "nowhere.npy"],
    ["evaluate", GOOD, "--data", "nowhere.npy", "--labels", "nowhere.npy"],
    ["evaluate", GOOD, "--data", GOOD, "--labels", GOOD],
    ["evaluate", GOOD, "--data", IMAGES, "--labels", LABELS],
    ["synth", "--tool", "vivado", "x.rhz"],
    ["synth", "nowhere.rhz"],
    ["coverage", "nowhere.onnx"],
)


def told(suite):
    """What a command says of what it was given and of what it found."""
    def plan(*options, model=GOOD):
        return suite.run("explore", model, *options, **LIMITS)

    # One meaning in three spellings; the former one is told of.
    float_model = networks.ROOT / "examples/lenet5/lenet5_codes.onnx"
    answers = []
    for text in ("fixed<1,7>", "ap_fixed<8,1>", "fixed:8,7"):
        result = plan("--number-format", text, "--raw-integers", "--json",
                      model=float_model)
        answers.append((result.json or {}).get("predicted"))
        former = "is the former spelling of fixed<1,7>" in result.err
        suite.check(result.status == 0 and former == (":" in text),
                    f"--number-format {text}: {result.message[:100]}",
                    result.command)
    suite.check(answers[0] and answers[0] == answers[1] == answers[2],
                f"one plan for three spellings: {answers}")

    # The least latency, in the unit and with the digits that it needs.
    result = plan("--goal", "latency=100ns", "--clock-mhz", "500")
    least = re.search(r"cannot be met: the least latency found is (\d+ ns)\n",
                      result.err)
    latency = re.search(r"latency +([\d,]+) cycles, (\d+ ns)\n", result.out)
    suite.check(result.status == 1 and least and latency
                and least[1] == latency[2]
                and float(latency[1].replace(",", "")) * 2
                == float(latency[2].split()[0]),
                f"a latency that is out of reach: {result.message[:200]}",
                result.command)
    # A convolution mixes rows.
    result = plan("--shape", "image=1,<=4,8,8")
    suite.check(result.status == 1 and "inputs of a bounded size" in result.err,
                f"a bounded size: {result.message[:120]}", result.command)
    # What limits a plan that stands, and one that does not, without a goal.
    result = plan()
    suite.check(result.status == 0 and re.search(r"no faster +\w+: ", result.out),
                "what keeps a plan from being faster", result.command)
    result = plan("--device", "ice40-up5k")
    suite.check(result.status == 1 and "does not fit 'ice40-up5k': " in result.err
                and "goal" not in result.err.split("\n")[0],
                f"what does not fit: {result.message[:200]}", result.command)
    result = plan("--cluster", "icebreaker:1@bus-8x12m")
    suite.check(result.status == 1 and "does not fit the cluster" in result.err
                and re.search(r"interval +\d[\d,]* cycles.*[1-9].* per second",
                              result.out),
                f"... on a cluster: {result.message[:200]}", result.command)
    # Whose roofs coverage shows, and that they are of single operations.
    result = suite.run("coverage", GOOD, **LIMITS)
    suite.check(re.search(r"xcku060-role at .* of each operation alone",
                          result.out),
                "coverage says what its bounds are of", result.command)
    # A plan for other devices.
    plain = suite.work / "plain.rhz"
    suite.run("compile", GOOD, "--goal", "throughput=10000/s", "-o", plain,
              **LIMITS)
    result = plan("--plan", plain, "--device", "ice40-hx8k")
    suite.check(result.status == 1 and "a 'xcku060-role', none is left of those "
                "given: ice40-hx8k" in result.err,
                f"a plan for another device: {result.message[:200]}",
                result.command)
    shutil.rmtree(plain)
    # A clock that no design reaches, and the highest that one may.
    for clock, refused in (("585", False), ("586", True)):
        result = plan("--clock-mhz", clock)
        suite.check(result.status == int(refused) and refused == (
            f"{clock} MHz is beyond 585 MHz" in result.err),
            f"{clock} MHz on a KU060: {result.err[:200]}", result.command)
    result = plan("--device", "xck26", "--clock-mhz", "1600")
    suite.check(result.status == 1 and "a register and one level of logic of "
                "ultrascale+ take 0.66 ns" in result.err,
                f"1600 MHz on a K26: {result.err[:200]}", result.command)
    # The best one by the delays of the family, which says why; a board has one.
    own = plan("--json").json["predicted"]
    best = plan("--clock-mhz", "auto", "--json").json["predicted"]
    suite.check(best["clock_mhz"] == 225 and best["throughput_per_s"]
                > own["throughput_per_s"] * 1.2,
                f"auto takes {best['clock_mhz']} MHz: "
                f"{best['throughput_per_s']:.0f} per second")
    result = plan("--clock-mhz", "auto")
    suite.check("clock of 225 MHz: 9 levels of logic of 0.45 ns" in result.err,
                f"what limits it: {result.err[:200]}")
    result = plan("--clock-mhz", "auto", "--device", "lfe5u-85f")
    suite.check("clock of 93 MHz: the longest path of designs routed for ecp5"
                in result.err, f"a family that was routed: {result.err[:200]}")
    # By goal: longer cycles, of which circuits take fewer.
    jets = ("explore", networks.ROOT / "examples/jets/jets_qonnx_w6a6.onnx",
            "--device", "xcvu9p-slr", "--border", "wide", "--goal",
            "min-latency", "--json", "--clock-mhz")
    fastest, searched = (suite.run(*jets, clock).json["predicted"]
                         for clock in ("282", "auto"))
    suite.check(fastest["latency_us"] > 0.038 and searched["latency_us"] < 0.036
                and searched["clock_mhz"] < 200,
                f"auto for the least latency: {searched['clock_mhz']} MHz, "
                f"{1000 * searched['latency_us']:.1f} ns")
    missed = suite.run(*jets[:6], "--goal", "latency=36ns", "--clock-mhz", "282",
                       "--json")
    met = suite.run(*jets[:6], "--goal", "latency=36ns", "--clock-mhz", "auto",
                    "--json")
    suite.check(missed.status == 1 and met.status == 0 and
                met.json["predicted"]["latency_us"] <= 0.036,
                f"a latency that only longer cycles reach: {met.message[:200]}",
                met.command)
    # Settings that meet a bound are tried, and named.
    for border, latency, words in ((None, "50ns", "--border wide meets it with 40.0 ns"),
                                   (None, "37ns", "--border wide --clock-mhz "
                                    "auto meets it with "),
                                   ("wide", "37ns", "--clock-mhz auto meets "
                                    "it with ")):
        missed = suite.run(*jets[:4], *(("--border", border) if border else ()),
                           "--goal", f"latency={latency}")
        suite.check(missed.status == 1 and words in missed.message,
                    f"what meets {latency}: {missed.message[:300]}",
                    missed.command)
    result = plan("--clock-mhz", "auto", "--board", "icebreaker")
    suite.check(result.status == 1 and "oscillator of icebreaker" in result.err,
                f"a board's clock: {result.err[:200]}")


def former_spellings(suite):
    """Commands, options and phases under the names that they had."""
    for former, today in (
            (["analyse", GOOD, "--json"], ["analyze", GOOD, "--json"]),
            (["compile", GOOD, "--compile-to=normalise"],
             ["compile", GOOD, "--compile-to", "normalize"]),
            (["compile", GOOD, "--compile-to", "integerise"],
             ["compile", GOOD, "--compile-to", "integerize"]),
            (["evaluate", GOOD, "--normalise", "bad"],
             ["evaluate", GOOD, "--normalize", "bad"]),
            (["explore", GOOD, "--calibration-normalise=bad"],
             ["explore", GOOD, "--calibration-normalize=bad"])):
        answers = [suite.run(*args, cwd=suite.work, **LIMITS)
                   for args in (former, today)]
        files = sorted(os.listdir(suite.work))
        for name in files:
            (suite.work / name).unlink()
        suite.check(len({(a.status, a.out, a.err) for a in answers}) == 1
                    and answers[0].status == (2 if "bad" in former[-1] else 0),
                    f"{' '.join(str(a) for a in former)} is read as "
                    f"{' '.join(str(a) for a in today)}: {files}",
                    answers[0].command)


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
                        (["help", "comple"], "did you mean 'compile'"),
                        (["--versoin"], "did you mean '--version'"),
                        (["version"], "did you mean '--version'"),
                        (["-v"], "'--version' tells it"),
                        (["build", GOOD], "'compile' makes a package"),
                        (["quantize", GOOD], "'compile --calibration DATA'"),
                        (["doctor", "now"], "unexpected argument 'now'"),
                        (["explore", GOOD, "--device", "a", "--device", "b"],
                         "'--device' is given 2 times; it takes one value"),
                        (["simulate", suite.work, "--level", "cluster",
                          "--reorder-delay-us", "9"],
                         "no datagram is delayed without --reorder"),
                        (["explore"], "name a network or kernel"),
                        (["formats", GOOD], "is no kernel"),
                        (["coverage", GOOD, "--frobnicate=3"],
                         "'coverage' has no option '--frobnicate'"),
                        (["compile", GOOD, "--number-format", "fixed<64,32>"],
                         "fixed point of 2 to 16 bits, -32 to 32 of them "
                         "fraction; this one has 96 bits"),
                        (["compile", GOOD, "--tensor-format",
                          "image=ap_fixed<16,6,AP_SAT>"],
                         "'AP_SAT' is about rounding or overflow")):
        result = suite.run(*args, **LIMITS)
        suite.check(result.status == 2 and words in result.err,
                    f"{args[0]}: {result.message[:100]}", result.command)
    told(suite)
    former_spellings(suite)
    result = suite.run("explore", GOOD, "--device", "xczu3e", **LIMITS)
    suite.check("unknown device 'xczu3e'; did you mean 'xczu3eg'? Known are "
                in result.err, f"a misspelled device: {result.message[:90]}",
                result.command)
    nothing = suite.run(**LIMITS)
    suite.check(nothing.status == 2 and nothing.err == suite.run("--help").out,
                "without a word, what there is", nothing.command)
    for args in (["help", "help"], ["help"], ["help", "compile"]):
        words = [word for word in args if word != "help"]
        asked = suite.run(*words, "--help", **LIMITS)
        result = suite.run(*args, **LIMITS)
        suite.check(result.status == 0 and result.out == asked.out,
                    f"{' '.join(args)} is --help", result.command)
    headings = re.findall(r"^(\w[\w ]*):$", result.out, re.M)
    suite.check({"Hardware", "Goal and plan", "Model", "Data",
                 "Quantization after training"} <= set(headings),
                f"compile's options have headings: {headings}", result.command)
    result = run_program(["sh", "-c", '"$0" targets > /dev/full',
                          suite.rhizome])
    suite.check(result.status == 1 and "error: the output cannot be written: "
                "No space left" in result.err, f"a full disk: {result.err}",
                result.command)
    result = suite.run("explore", GOOD, "--cluster", "ku060x2", "--max-nodes",
                       5, **LIMITS)
    suite.check(result.status == 0 and "more than there are: the network is for "
                "2 devices" in result.err, "more nodes than there are",
                result.command)
    tools = suite.work / "no-tools"
    tools.mkdir()
    result = run_program(["env", f"PATH={tools}", suite.rhizome, "compile", GOOD,
                          "--board", "ice40-hx8k-breakout", "--bitstream",
                          "-o", suite.work / "no.rhz"])
    suite.check(result.status == 1 and "'nextpnr-ice40' is missing" in result.err
                and not (suite.work / "no.rhz").exists(),
                f"--bitstream without tools: {result.err}", result.command)
    # The same of ranks, before the designs are built.
    pair = suite.work / "pair.rhz"
    suite.run("compile", GOOD, "--cluster", "ku060x2", "-o", pair)
    result = run_program(["env", f"PATH={tools}",
                          f"XDG_CACHE_HOME={suite.work / 'cache'}",
                          suite.rhizome, "simulate", pair, "--level",
                          "cluster", "-n", 1])
    suite.check(result.status == 1 and "'mpirun' is missing" in result.err
                and not list((suite.work / "cache").rglob("*.so")),
                f"a cluster without MPI: {result.err}", result.command)
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
    # More bits than there are: said at once, without a nearest plan.
    few = ["compile", GOOD, "--device", "ice40-hx8k", "--goal",
           "max-throughput,lut=10,bram=0", "-o", target, "--json"]
    result = suite.run(*few)
    answer = result.json or {}
    suite.check(result.status == 1 and "nearest" not in answer
                and re.match("the weights alone take .* kbit, all memories and "
                             "LUTs hold 0.6 kbit", answer.get("limit", "")),
                f"too many bits: {answer}", result.command)
    result = suite.run("explore", *few[1:6])
    suite.check(result.status == 1 and "the weights alone take" in result.err
                and "remedy: take a device with more memory" in result.err,
                f"... for people: {result.err}", result.command)
    result = suite.run("compile", GOOD, "--goal", "throughput=1000/s,lut=2000",
                       "-o", suite.work / "large.rhz", "--json",
                       "--accept-nearest")
    notes = (result.json or {}).get("notes", [])
    suite.check(any("does not fit" in n and "LUT" in n for n in notes),
                f"what does not fit is said: {notes}", result.command)
