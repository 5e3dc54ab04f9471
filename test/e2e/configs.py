# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One file per compile: rhizome.yaml gives what its options would give, its
mistakes are told with their lines, and --dump-config writes it; what a terminal
shows, in color and not."""
import os
import pty
import subprocess

import networks

DIGITS = networks.ROOT / "examples/digits/digits_qonnx_w4a4.onnx"
FILE = """# A rate, at two lanes of numbers.
model: {model}
device: xczu3eg
goal: [throughput=20000/s, lut=50%]
clock-mhz: 180
shape:
  image: [1, 1, 8, 8]
weights: [rom]
golden: 0
output: out.rhz
"""
OPTIONS = ["--device", "xczu3eg", "--goal", "throughput=20000/s,lut=50%",
           "--clock-mhz", "180", "--shape", "image=1,1,8,8", "--weights", "rom",
           "--golden", "0"]
# A line that is added, the number of the message's line, what it says.
MISTAKES = (
    ("gaol: max-throughput", 1, "'compile' has no option 'gaol'; did you mean "
     "'goal'?"),
    ("goal: fast", 1, "--goal: 'fast' is no objective"),
    ("accept-nearest: perhaps", 1, "'accept-nearest' is 'perhaps', not true or "
     "false"),
    ("device: xczu3eg\ndevice: xc7z020", 2, "'device' is there twice, first in "
     "line 3"),
    ("device:", 1, "'device' has no value"),
    ("board: icebreaker\ndevice: xczu3eg", 1,
     "'--device' and '--board' cannot be combined"),
    ("max-nodes: many", 1, "--max-nodes"),
    ("json: true", 1, "'compile' has no option 'json'"),
    ("steer: nowhere.yaml", 1, "--steer: 'nowhere.yaml': there is no such file; check the path"),
    ("goal: {lut: {a: 1}}", 1, "'goal' is not a single value"),
    ("goal: [", 2, ""),
)


def configs(suite):
    files(suite)
    mistakes(suite)
    terminal(suite)


def files(suite):
    def plan(folder):
        return (suite.work / folder / "plan.json").read_bytes()

    result = suite.run("compile", DIGITS, *OPTIONS, "-o", "words.rhz",
                       cwd=suite.work)
    suite.check(result.status == 0, f"by options: {result.message}",
                result.command)
    folder = suite.work / "project"
    folder.mkdir()
    os.symlink(DIGITS, folder / DIGITS.name)
    (folder / "rhizome.yaml").write_text(FILE.format(model=DIGITS.name))
    # In its folder without a word; from elsewhere its paths are its own.
    for args, cwd in ((["compile"], folder),
                      (["compile", "--config", "project/rhizome.yaml"],
                       suite.work)):
        result = suite.run(*args, cwd=cwd)
        suite.check(result.status == 0
                    and plan("project/out.rhz") == plan("words.rhz"),
                    f"{' '.join(args)}: the plan of the options "
                    f"{result.message if result.status else ''}",
                    result.command)
    explored = suite.run("explore", "--json", cwd=folder)
    suite.check(explored.status == 0 and explored.json["nodes"][0]["clock_mhz"]
                == 180, "explore reads the same file", explored.command)
    for words, clock, device in (
            (["--clock-mhz=170"], 170, "xczu3eg"),
            (["--board", "ulx3s-12f", "--accept-nearest"], 180, "lfe5u-12f"),
            ([DIGITS, "--config", "project/rhizome.yaml", "--device",
              "xc7z020"], 180, "xc7z020")):
        result = suite.run("explore", "--json", *words,
                           cwd=suite.work if "--config" in words else folder)
        node = ((result.json or {}).get("nodes") or [{}])[0]
        suite.check((node.get("clock_mhz"), node.get("device"))
                    == (clock, device),
                    f"the command line goes first: {words} {node.get('device')}"
                    f" {result.message[:100]}", result.command)
    dumped = suite.run("compile", DIGITS, *OPTIONS, "--accept-nearest",
                       "--dump-config")
    (suite.work / "dumped.yaml").write_text(dumped.out)
    suite.check("# state-home: …\n" in dumped.out
                and "accept-nearest: true\n" in dumped.out,
                "--dump-config writes the options, and the others as comments")
    again = suite.run("compile", "--config", "dumped.yaml", "-o", "dumped.rhz",
                      cwd=suite.work)
    same = suite.run("compile", "--config", "dumped.yaml", "--dump-config",
                     cwd=suite.work)
    suite.check(again.status == 0 and plan("dumped.rhz") == plan("words.rhz")
                and same.out == dumped.out,
                f"what it writes is read: {again.message[:100]}", again.command)
    empty = suite.run("compile", "--dump-config")
    suite.check(empty.status == 0 and "\n# model: FILE\n" in empty.out,
                "without options it is a form to fill in")
    none = suite.run("compile", "--goal", "min-latency", cwd=suite.work)
    suite.check(none.status == 2 and "write rhizome.yaml" in none.err,
                f"no model, no file: {none.message}", none.command)


def mistakes(suite):
    path = suite.work / "bad.yaml"
    for text, line, words in MISTAKES:
        path.write_text(f"# first\nmodel: {DIGITS}\n{text}\n")
        result = suite.run("compile", "--config", "bad.yaml", "-o", "bad.rhz",
                           cwd=suite.work)
        suite.check(result.status == 2 and f"error: bad.yaml:{line + 2}: " in
                    result.err and words in result.err
                    and not (suite.work / "bad.rhz").exists(),
                    f"{text.splitlines()[-1]}: {result.err.strip()}",
                    result.command)
    missing = suite.run("compile", "--config", "nowhere.yaml", cwd=suite.work)
    suite.check(missing.status == 2 and "nowhere.yaml" in missing.err,
                f"no such file: {missing.message}", missing.command)


def seen(suite, words, cwd=None, **environment):
    """What a command prints on a terminal."""
    ours, theirs = pty.openpty()
    clean = {k: v for k, v in os.environ.items()
             if k not in ("NO_COLOR", "TERM")}
    process = subprocess.Popen(
        [str(w) for w in (suite.rhizome, *words)], stdin=subprocess.DEVNULL,
        stdout=theirs, stderr=theirs, cwd=cwd,
        env={**clean, "TERM": "xterm", **environment})
    os.close(theirs)
    text = b""
    while True:
        try:
            part = os.read(ours, 4096)
        except OSError:
            break
        if not part:
            break
        text += part
    os.close(ours)
    process.wait()
    return text.decode(errors="replace")


def terminal(suite):
    refused = ["compile", DIGITS, "--goal", "throughput=1e12/s"]
    shown = seen(suite, refused)
    suite.check("\033[1;31merror:\033[0m " in shown
                and "\033[32mremedy:\033[0m " in shown and "explore …" in shown,
                "errors and remedies have colors on a terminal, and phases "
                "are shown")
    for environment in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
        shown = seen(suite, refused, **environment)
        suite.check("error: " in shown and "\033[1;31m" not in shown,
                    f"none with {environment}")
    result = suite.run(*refused)
    suite.check("\033" not in result.err + result.out, "none in a file")
    shown = seen(suite, ["compile", "--help"])
    suite.check("\033[1mHardware:\033[0m" in shown, "headings of help are bold")
