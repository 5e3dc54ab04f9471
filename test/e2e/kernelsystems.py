# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Systems of a kernel in several number formats: the front over error, rate and
share, for people, as JSON and as a picture."""
import kernels


def is_as_good(a, b):
    return all(x <= y for x, y in zip(a, b))


def kernel_systems(suite):
    """A small kernel in formats of which one overflows and one is too wide."""
    kernel = kernels.helmholtz_of(suite, 3)
    wanted = ["fixed<8,24>", "fixed<10,22>", "fixed<24,40>", "half",
              "fixed<1,7>", "fixed<40,40>", "fixed<8,24>"]
    numbers = [x for text in wanted for x in ("--numbers", text)]
    common = ("explore", kernel, "--device", "xcu280", "--systems",
              "--resident", "S")
    picture = suite.work / "systems.svg"
    result = suite.run(*common, *numbers, "--picture", picture, "--json")
    answer = result.json or {}
    formats = {f["format"]: f for f in answer.get("formats", [])}
    if not suite.check(result.status == 0 and list(formats) == wanted[:6],
                       f"formats: {list(formats)} {result.message}",
                       result.command):
        return
    error = {name: f["relative_error"] for name, f in formats.items()}
    suite.check(error["fixed<24,40>"] < error["fixed<8,24>"] <
                error["fixed<10,22>"] < error["half"] and
                formats["fixed<1,7>"]["overflows"] > 0 and
                formats["fixed<8,24>"]["snr_db"] > 120 and
                "80 bits" in formats["fixed<40,40>"]["obstacle"],
                f"errors: {formats}", result.command)
    points = [p for p in answer["points"] if p["format"] != "fixed<1,7>"]
    front = [p for p in answer["points"] if p["pareto"]]
    ends = [p for p in points if p["bound"]]
    level = {name: -f["snr_db"] for name, f in formats.items()
             if not f["overflows"]}
    key = [(level[p["format"]], -p["throughput_per_s"], p["share"])
           for p in points]
    best = {k for k, p in zip(key, points) if p["pareto"]}
    suite.check({p["format"] for p in front} >= {"fixed<24,40>", "fixed<8,24>"} and
                all(p in points for p in front),
                f"formats on the front: {sorted({p['format'] for p in front})}",
                result.command)
    suite.check(not any(is_as_good(a, b) for a in best for b in best
                        if a != b) and
                all(any(is_as_good(a, b) for a in best) for b in key),
                "the front over error, rate and share", result.command)
    suite.check({p["format"] for p in answer["points"] if p["bound"]} ==
                set(wanted[:5]), "every format's systems have a bound",
                result.command)
    suite.check(answer["best"]["format"] in ("fixed<8,24>", "fixed<10,22>"),
                f"the best: {answer['best']}", result.command)
    text = picture.read_text()
    suite.check("<svg" in text and "fixed&lt;24,40&gt;" in text,
                f"the picture: {text[:200]}")
    result = suite.run(*common, *numbers)
    suite.check("front" in result.out and "overflows" in result.out and
                "fixed<40,40>: " in result.out and
                "fastest in " in result.out and "bound" in result.out,
                f"for people: {result.out}", result.command)
    alone = suite.run(*common, "--numbers", "fixed<8,24>", "--json").json or {}
    best = [p for p in ends if p["format"] == "fixed<8,24>"][-1]
    suite.check(alone.get("best", {}).get("throughput_per_s") ==
                best["throughput_per_s"] and "formats" not in alone,
                f"one format: {alone.get('best')} {best}")
    for options, why in (
            (("--numbers", "half", "--numbers", "fixed<4,4>"),
             "only --systems compares formats"),
            (("--picture", picture), "it is for --systems"),
            (("--systems", "--picture", suite.work / "no/x.svg"),
             "cannot write"),
            (("--systems", "--numbers", "fixed<40,40>", "--numbers",
              "fixed<41,41>"), "80 bits")):
        result = suite.run("explore", kernel, "--device", "xcu280", *options)
        suite.check(result.status in (1, 2) and why in result.err,
                    f"{options}: {result.err}", result.command)
