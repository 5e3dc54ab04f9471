# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`precision`: widths by layer that keep an accuracy, against `evaluate` and
`explore` with the same widths, and the file that it writes against `compile`."""
import networks
import numpy as np

JETS = networks.ROOT / "examples/jets"
MODEL = JETS / "jets_float.onnx"
DEVICE = ("--device", "xc7a35t")
RATE = "throughput=1000000/s,min-resources,dsp=0"


def precision(suite):
    """The jet tagger in LUTs alone, on the first 200 jets."""
    jets, labels = suite.work / "jets.npy", suite.work / "labels.npy"
    np.save(jets, np.load(JETS / "test_jets.npy")[:200])
    np.save(labels, np.load(JETS / "test_labels.npy")[:200])
    ranges = ("--calibration", jets, "--calibration-frames", 30)
    plain = ("precision", MODEL, *ranges, "--labels", labels, *DEVICE)
    search = (*plain, "--goal", RATE)
    config, picture = suite.work / "rhizome.yaml", suite.work / "front.svg"
    result = suite.run(*search, "--accuracy-loss", "3", "--bits", "6,7", "-o", config,
                       "--picture", picture, "--json")
    if not suite.check(result.status == 0, f"a search: {result.message[:300]}",
                       result.command):
        return
    found = result.json
    points, needed = found["points"], found["needed"]
    chosen, uniform = points[found["chosen"]], points[found["uniform"]]
    suite.check(needed == int(np.ceil(found["float_correct"] - 0.03 * 200)) and
                chosen["correct"] >= needed and uniform["correct"] >= needed,
                f"{chosen['correct']} and {uniform['correct']} of 200 right, "
                f"{needed} needed")
    suite.check(chosen["predicted"]["lut"] < uniform["predicted"]["lut"] and
                chosen["predicted"]["throughput_per_s"] >= 1e6,
                f"{chosen['predicted']['lut']} LUTs, with "
                f"{uniform['uniform']} bits everywhere "
                f"{uniform['predicted']['lut']}")
    # The commands of a user with these widths.
    widths = [word for name, (weights, activations) in chosen["widths"].items()
              for word in ("--bits", f"{name}={weights},{activations}")]
    evaluated = suite.run("evaluate", MODEL, *ranges, *widths, "--data", jets,
                          "--labels", labels, "--json").json or {}
    suite.check(evaluated.get("correct") == chosen["correct"],
                f"evaluate counts {evaluated.get('correct')}")
    for options in ((MODEL, *ranges, *widths, *DEVICE, "--goal", RATE),
                    ("--config", config)):
        explored = suite.run("explore", *options, "--json").json or {}
        suite.check(explored.get("predicted") == chosen["predicted"],
                    f"explore {options[0]} gives the same plan")
    package = suite.work / "jets.rhz"
    result = suite.run("compile", "--config", config, "-o", package)
    suite.check(result.status == 0, f"compile: {result.message[:200]}",
                result.command)
    counted = suite.run("evaluate", package, "--data", jets, "--labels", labels,
                        "--json").json or {}
    suite.check(counted.get("correct") == chosen["correct"],
                f"of the package, evaluate counts {counted.get('correct')}")
    front = [p for p in points if p["pareto"]]
    suite.check(not any(a is not b and a["correct"] >= b["correct"] and
                        a["share"] < b["share"] and
                        a["predicted"]["latency_us"] <=
                        b["predicted"]["latency_us"] and
                        a["predicted"]["throughput_per_s"] >=
                        b["predicted"]["throughput_per_s"]
                        for a in front for b in front),
                f"{len(front)} of {len(points)} points are on the front")
    drawn = picture.read_text()
    suite.check(drawn.count("<circle") == 3 + 3 * sum(p["meets_goal"]
                                                      for p in points),
                "all points are drawn, in three panels")
    for options, code, told in (
            (("--accuracy", "99"), 1, ("more than the network has without",
                                       "remedy: --accuracy 6")),
            (("--accuracy-loss", "0.5", "--bits", "4"), 1,
             ("with 4 bits for all weights", "remedy: --bits 16")),
            (("--accuracy", "0.6"), 2, ("in percent: 60?",)),
            (("--goal", "throughput=500000000/s,dsp=0", "--bits", "3",
              "--accuracy", "20"), 1, ("choices of widths that keep",
                                       "remedy: a larger device"))):
        result = suite.run(*plain, *options)
        suite.check(result.status == code and
                    all(text in result.err for text in told),
                    f"{' '.join(options)}: {result.err[:300]}", result.command)
    result = suite.run("precision", JETS / "jets_qonnx_w6a6.onnx", *ranges,
                       "--labels", labels)
    suite.check(result.status == 1 and "take the float network it was made of"
                in result.err, f"a rounded network: {result.err[:200]}")
