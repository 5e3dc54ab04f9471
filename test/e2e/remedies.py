# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Remedies work: every refusal of remedycases.py is provoked, what its message
names is taken from the message and done, and the same error must not return.
What a remedy means is in few rules here: options to give or to leave out, names
to choose from, commands to run, forms to fill in. Where it is about the input
file, remedyedits.py changes the file as the remedy says."""
import dataclasses
import itertools
import pathlib
import re
import shlex
import shutil

import networks
from framework import needed, run_program

STEPS = 3
# The end of the way: what this machine or the request cannot do, said so.
HONEST = re.compile(
    "is not installed|' is missing|needs numpy|does not fit '|cannot be opened|"
    "no answer from|there is no program|cannot open '|take the float network|"
    "cannot be parsed|"
    "a state has one shape")
# What a user gives where a message or the help has a word in capitals.
GIVEN = {"DATA": "{images}", "--data": "{images}", "--labels": "{labels}",
         "--input": "{images}", "--calibration": "{images}",
         "--device": "xcu280", "--board": "zcu104", "--cluster": "ku060x2",
         "--port": "/dev/ttyUSB1", "--program": "{text}", "--formats": "half",
         "--tool-path": "{work}", "--output": "{work}/out", "-o": "{work}/new",
         "--number-format": "fixed<4,4>", "--bits": "8", "--family": "ecp5",
         "--calibration-normalize": "0..1", "--driver": "cpu",
         "--compile-to": "explore", "--numbers": "fixed<8,24>",
         "--frames": "10", "FOLDER": "{work}", "--golden": "0"}
FORMS = {"fixed<I,F>": "fixed<4,4>",
         "fixed<integer bits,fraction bits>": "fixed<4,4>",
         "NAME=SIZE,SIZE,…": "image=1,1,8,8", "NAME=u8": "image=u8",
         "NAME=s8": "image=s8", "LOW,HIGH": "-1,1", "MEAN,STD": "0.5,0.5",
         "INPUT=OUTPUT": "image=logits", "throughput=N/s": "throughput=9000/s",
         "latency=T": "latency=1ms", "lut=N": "lut=50000", "lut=P%": "lut=50%",
         "resize=N": "resize=8", "resize=HxW": "resize=8x8",
         "crop=N": "crop=8", "crop=HxW": "crop=8x8", "ap_fixed<W,I>":
         "ap_fixed<16,8>", "int<bits>": "int<16>", "float<E,M>": "float<6,9>",
         "NAME=fixed<I,F>": "node_relu=fixed<4,6>",
         "NAME=W,A": "conv1=8,8", "W,A": "8,8", "W": "8"}
LISTS = [re.compile(rf"\b(?:{words}) (.*)") for words in (
    "[Kk]nown are:?|choose from|objectives are|bounds are|they are, in order:|"
    "phases are, in order:|inputs are|outputs are|name one of these:|that can be "
    "characterized are|steps are|offered are|these do:|has the drivers",
    "one of|is neither|is not|is none of|not in|expected", "not")]
PROSE = {"takes", "take", "says", "say", "names", "name", "where", "shows", "looks",
         "are", "is", "which", "or", "and", "to", "with", "both", "begins", "for",
         "the", "of", "needs", "meets", "tells", "wrote", "acts", "out", "given"}


@dataclasses.dataclass
class Trial:
    """One command on its way to success."""
    suite: object
    names: dict       # {name} of a path to the path
    args: list
    packages: dict    # a package's path to the command that made it
    serial: itertools.count

    def path(self, ending):
        return self.suite.work / f"made{next(self.serial)}{ending}"

    def given(self, text):
        return text.format_map(self.names)

    def run(self, args):
        """Without tools, which a remedy may need, and which would take long:
        that they are missing is a good end."""
        here = self.suite.work / "here"
        return run_program(["env", f"PATH={here}", self.suite.rhizome, *args],
                           cwd=here, timeout=60)

    def files(self):
        return [i for i, a in enumerate(self.args)
                if pathlib.Path(a).is_file()]

    def put(self, at, value):
        return [*self.args[:at], str(value), *self.args[at + 1:]]


def told(result):
    """The pairs of error and remedy that a command printed."""
    pairs, answer = [], result.json
    if answer and isinstance(answer, dict) and answer.get("ok") is False:
        for r in answer.get("refused", [answer]):
            pairs.append((r.get("reason") or r.get("error", ""),
                          r.get("remedy", "")))
        return pairs
    for line in result.err.splitlines():
        if m := re.match(r"(?:(?!DBG|note:|remedy:)\S.*?:\d+:\d+: )?error: (.*)",
                         line):
            pairs.append((m[1], ""))
        elif (m := re.match(r"\s*remedy: (.*)", line)) and pairs:
            pairs[-1] = (pairs[-1][0], m[1])
        elif (m := re.match(r"note: (.*?)(?:; (.*))?$", line)) and not pairs \
                and result.status:
            continue
    return [(e, r or (m[1] if (m := re.search(r"remedy: (.*)", e)) else ""))
            for e, r in pairs]


class Help:
    """Which options of a command take a value, from its --help."""

    def __init__(self, suite):
        self.suite, self.known = suite, {}

    def value(self, command, option):
        """"" of a flag, the value's word, None if there is no such option."""
        if command not in self.known:
            text = self.suite.run(command, "--help").out
            self.known[command] = {
                name: (m[2] or "").strip() for m in re.finditer(
                    r"^  ((?:-\w, )?--[\w, -]*?--?[\w-]+|--[\w-]+|-\w, --[\w-]+)"
                    r"(?: ([A-Za-z\[<][^ ]*(?: …| \.\.\.| [A-Z]+)?))?"
                    r"(?:  .*)?$", text, re.M)
                for name in re.findall(r"-[\w-]+", m[1])}
        return self.known[command].get(option)


def quoted(text):
    return re.findall(r"'([^']*)'", text)


def without(args, option, takes_value, count=None):
    out, skip, left = [], False, count
    for a in args:
        if skip:
            skip = False
        elif (a == option or a.startswith(option + "=")) and left != 0:
            skip = takes_value and a == option
            left = None if left is None else left - 1
        else:
            out.append(a)
    return out


def with_option(trial, helps, option, value):
    """The arguments with this option, which replaces one of the name."""
    kind = helps.value(trial.args[0], option)
    if kind is None:
        return None
    if kind == "" or value is None:
        return [*trial.args, option] if option not in trial.args else None
    if option in trial.args and helps.value(trial.args[0], option):
        return trial.put(trial.args.index(option) + 1, value)
    return [*trial.args, option, value]


def replaced(trial, wrong, right):
    """The arguments with another value, in an argument or in a text file."""
    for i, a in enumerate(trial.args):
        if a == wrong:
            return trial.put(i, right)
    if not wrong:
        return None
    word = re.compile(r"(?<![\w.])" + re.escape(wrong) + (
        r"(?![\w.])" if wrong[-1] not in "=,%" else ""))
    for i, a in enumerate(trial.args[1:], 1):
        if word.search(a) and not a.startswith("-") and \
                not pathlib.Path(a).exists():
            return trial.put(i, word.sub(lambda m: right, a))
    for i in trial.files():
        try:
            text = pathlib.Path(trial.args[i]).read_text()
        except ValueError:
            continue
        if word.search(text):
            path = trial.path(pathlib.Path(trial.args[i]).suffix)
            path.write_text(word.sub(lambda m: right, text))
            return trial.put(i, path)
    return None


def culprit(trial, error):
    """The value that an error is about, as it stands in the command."""
    option = re.match(r"'?(--?[\w-]+)'?:? ", error)
    names = [text for text in quoted(error)[::-1]
             if not text.startswith("-") and not pathlib.Path(text).exists()]
    for text in names:
        if any(text in a for a in trial.args[1:] if not a.startswith("-")
               and not pathlib.Path(a).exists()):
            return text
    if option and option[1] in trial.args[:-1]:
        return trial.args[trial.args.index(option[1]) + 1]
    for text in names:
        if replaced(trial, text, text):
            return text
    return None


# Every rule gives the commands that a remedy amounts to: lists of arguments.

def meant(trial, helps, error, cure):
    text = f"{error} {cure}"
    if m := re.search(r"needs '([^']+)'; is '([^']+)' meant", text):
        yield replaced(trial, m[2], m[1])
        return
    m = re.search(r"did you mean '([^']+)'", text)
    if not m:
        return
    before = quoted(text[:m.start()])
    option = re.match(r"(--[\w-]+): ", error)
    for wrong in [*before[::-1], option[1] if option else None]:
        right = m[1]
        if wrong and right.endswith("="):
            wrong = wrong.split("=")[0] + "="
        if wrong and (found := replaced(trial, wrong, right)):
            yield found
            return


def removal(trial, helps, error, cure):
    def drop(option, count=None):
        return without(trial.args, option,
                       bool(helps.value(trial.args[0], option)), count)

    own = re.findall(r"(?<![\w-])(--[\w-]+)", error)
    if m := re.search(r"unexpected argument '([^']+)'", error):
        yield [a for i, a in enumerate(trial.args)
               if i == 0 or a != m[1] or a in trial.args[:i]]
    elif "cannot be combined" in error or re.search(
            "leave one of them out|give one of them", f"{error} {cure}"):
        yield from (drop(option) for option in own)
    elif m := re.search(r"leave it or (--[\w-]+) out", cure or error):
        yield from (drop(option) for option in (own[0], m[1]))
    elif re.search(r"takes one value|leave one out", f"{error} {cure}"):
        yield drop(own[0], 1)
    elif re.search(r"leave (it|the option) out", f"{error} {cure}") and own:
        yield drop(own[0])
    elif re.search(r"does not take it|leave it out|give it to the compile that "
                   "begins|--systems chooses it|only compile writes|is for packages",
                   error + cure):
        yield drop(own[0])
    elif m := re.search(r"'(\w+)' can be left out", cure):
        at = trial.args.index("--steer") + 1
        path = trial.path(".yaml")
        path.write_text(re.sub(rf"{m[1]}: \w+", "", pathlib.Path(
            trial.args[at]).read_text()))
        yield trial.put(at, path)
    else:
        for part in re.findall(r"(?:leave|drop|leave out) ((?:--[\w-]+(?:,| and)? ?)"
                               r"+)", cure or error):
            args = trial.args
            for option in re.findall(r"--[\w-]+", part):
                args = without(args, option,
                               bool(helps.value(args[0], option)))
            yield args


def model_of(trial):
    for i in trial.files():
        if trial.args[i].endswith((".onnx", ".mlir", ".cfd")):
            return i
    return None


def packages(trial, helps, error, cure):
    """What is to be compiled again, in another way."""
    text = cure or error
    at = next((i for i, a in enumerate(trial.args) if a in trial.packages), None)
    if at is not None and re.search(r"[Cc]ompile (it |with|for|the model)", text):
        made = trial.packages[trial.args[at]]
        ways = re.findall(r"(--(?:cluster|board|system))\b", text)
        if m := re.search(r"compile for one of ([\w, -]+?),? or ", text):
            ways = [("--device", m[1].split(", ")[-1])]
        for way in ways[:1]:
            option, value = way if isinstance(way, tuple) else (
                way, {"--cluster": "ku060x2", "--board": "icebreaker"}.get(way))
            target = trial.path(".rhz")
            again = [*made[:-1], str(target)]
            if option == "--board":
                again = without(again, "--device", True)
            again = again[:1] + ([option, value] if value else [option]) + again[1:]
            if not value:  # a system needs a memory
                again = without(again, "--device", True) + ["--device", "xcu280"]
            trial.suite.check(trial.run(again).status == 0,
                              f"... {shlex.join(again)}"[:200])
            yield trial.put(at, target)
    elif m := re.search(r"a package is what 'rhizome compile MODEL -o DIR' writes|"
                        r"--compile-from takes what --compile-to wrote", text):
        at = model_of(trial)
        target = trial.path(".rhz" if "package" in m[0] else ".mlir")
        model = trial.args[at] if at is not None else trial.names["tiny"]
        if model.endswith(".mlir"):
            model = trial.names["tiny"]
        again = ["compile", model, "-o", str(target)]
        if "--compile-to" in text:
            again += ["--compile-to",
                      trial.args[trial.args.index("--compile-from") + 1]]
        made = trial.run(again)
        trial.suite.check(made.status == 0, f"... {shlex.join(again)}"[:200],
                          made.command)
        position = at if at is not None else next(
            i for i, a in enumerate(trial.args[1:], 1) if not a.startswith("-"))
        yield trial.put(position, target)


def commands(trial, helps, error, cure):
    """Commands that tell what there is; one of it is taken."""
    text = cure or error
    wrong = culprit(trial, error)
    if re.search(r"'rhizome explore --full' lists the nodes|explore lists them", text):
        model = trial.args[model_of(trial)]
        args = ["explore", model]
        for option in ("--device", "--numbers", "--number-format"):
            if option in trial.args:
                args += [option, trial.args[trial.args.index(option) + 1]]
        result = trial.run(args + (["--full"] if "--full" in text else []))
        trial.suite.check(result.status == 0, f"... {shlex.join(args)}"[:160],
                          result.command)
        names = re.findall(r"^node\d+ +(\S+) ", result.out, re.M) \
            if "--full" in text else re.findall(
                r"^(\w+ [\d.]+|\w+) +[\d,]+ +\d+ +\d+ +[\d,]+$", result.out, re.M)
        if wrong is None:
            wrong = quoted(error)[0] if quoted(error) else None
        for name in (names[0], names[-1]) if "lists them" in text else (
                names[1], names[-1]):
            if wrong and (found := replaced(trial, wrong, name)):
                yield found
    elif "convolutions" in text and "dense layers" in text:
        result = trial.run(["explore", trial.args[1], "--full"])
        yield replaced(trial, quoted(error)[0], re.search(
            r"^node\d+ +(\S+) +(?:conv2d|dense) ", result.out, re.M)[1])
    elif m := re.search(r"first run 'rhizome (synth) (--tool) (nextpnr)'", text):
        yield [m[1], trial.args[1], m[2], m[3]]
    elif m := re.search(r"((?:\w+, )+\w+ and \w+) take it", text):
        for command in re.split(", | and ", m[1]):
            yield [command, trial.args[1], *(
                ["--data", trial.names["images"]] if command == "evaluate" else
                ["--driver", "cpu"] if command == "run" else [])]
    elif "choose a larger device, or a narrower format" in text:
        rows = [line.split() for line in trial.run(["targets"]).out.split(
            "\n\n")[0].splitlines()[1:]]
        large = max((r for r in rows if r[3] != "-"),
                    key=lambda r: float(r[6].replace(",", "")))
        yield with_option(trial, helps, "--device", large[0])
        yield with_option(trial, helps, "--numbers", "fixed<4,4>")
    elif m := re.search(r"at the levels (\w+)|there is only (\w+)$", text):
        yield with_option(trial, helps, "--level", m[1] or m[2])
    elif m := re.search(r"only the driver '(\w+)'", text):
        yield with_option(trial, helps, "--driver", m[1])
    elif "'KERNEL' is missing" in text:
        yield [*trial.args, trial.names["kernel"]]
    elif "'rhizome compile' with the same --compile-from" in text:
        yield ["compile", *trial.args[1:], "-o", str(trial.path(".rhz"))]
    elif "rhizome targets" in text:
        result = trial.run(["targets"])
        rows = [line.split() for line in result.out.split("\n\n")[0].splitlines()
                [1:]]
        rows = [r[0] for r in rows if r[-1] != "-" and r[1] != "cpu"]
        for name in (rows[1], rows[-1]):
            yield with_option(trial, helps, "--device", name)
    elif m := re.search(r"'(compile|synth|evaluate)((?: --[\w-]+ [A-Z]+)*)' "
                        r"(?:makes|synth|quantizes|measures)", text):
        args = [m[1], *trial.args[1:]]
        for option, value in re.findall(r"(--[\w-]+) ([A-Z]+)", m[2]):
            args += [option, trial.given(GIVEN[value])]
        yield args
    elif "'--version' tells it" in text:
        yield ["--version"]
    elif "networks take --bits and --number-format, and evaluate" in text:
        yield ["evaluate", trial.args[1], "--data", trial.names["images"]]
    elif m := re.search(r"'rhizome (\w+)' and '?(?:rhizome )?(\w+)'? (?:take|others)",
                        text):
        for command in (m[1], m[2]):
            if command in ("run", "compile"):
                yield [command, trial.args[1]]
    elif "--dump-config begins" in text:
        result = trial.run(["compile", trial.names["tiny"], "--dump-config"])
        path = trial.suite.work / "here/rhizome.yaml"
        path.write_text(result.out)
        yield trial.args
        yield [*trial.args, trial.names["tiny"]]


def options(trial, helps, error, cure):
    """Options that a remedy names, with their values."""
    text = cure or re.sub(r"^--[\w-]+: |^.*?; ", "", error, count=1)
    text = re.sub(r"'rhizome [^']*'", "", text)
    if m := re.search(r"'(--[\w-]+)' needs '(--[\w-]+)'", error):
        text = m[2]
    elif m := re.match(r"'(--[\w-]+)' is missing|(--\w+): (?:which|name)|"
                       r"(--\w+) or (--\w+) is required", error):
        text = " or ".join(filter(None, m.groups()))
    elif m := re.search(r" is a \w+: (--\w+) (\S+)$", error):
        wrong = re.search(r"(--\w+) '?" + re.escape(m[2]),
                          shlex.join(trial.args))
        rest = without(trial.args, wrong[1], True)
        yield [*rest, m[1], m[2]]
        return
    groups = []
    for m in re.finditer(
            r"'?(--[a-z][\w-]*|(?<!\w)-[no]\b)"
            r"(?:[ =]('[^']*'|[^\s;]+?(?=[,.:;]?(?:\s|$))))?", text):
        option, value = m[1], (m[2] or "").strip("'.:()")
        joined = groups and text[:m.start()].endswith(" ") and \
            text[groups[-1][2]:m.start()].strip() == ""
        joined = joined or (groups and text[:m.start()].endswith(" of "))
        kind = helps.value(trial.args[0], option)
        if kind is None:
            continue
        if option == "--shape" and not value.startswith(("x=", "image=")):
            shape = re.search(r"\[([\d, ]+)\]", error)
            if not shape:
                continue
            sizes = re.findall(r"\d+", shape[1])[1:]
            value = (quoted(error) or ["x"])[0] + "=1," + ",".join(
                size if int(size) < 1000 else "62"[k == 0]
                for k, size in enumerate(sizes))
            value = value.replace("Conv0_0", "x0")
        if kind:
            such = re.search(r"(?:such as|e\.g\.) ('[^']*'|\S+)", text[m.end():])
            if such:
                value = such[1].strip("'.,;")
                value = trial.args[trial.args.index(option) + 1] if value == \
                    option and option in trial.args else value
            if value in PROSE or not value or value in ("…",):
                value = ""
            values = [FORMS.get(value) or trial.given(
                GIVEN.get(option) if value == "FILE" and option in GIVEN else
                GIVEN.get(value, value))] if value else []
            if values and option == "--driver":  # several, told what they are
                values += re.findall(r"(?:, | or )(\w+)(?= \(|,|$)",
                                     text[m.end():])
                values = [v for v in values if v in "cpu simulation null"]
            if not values and option in GIVEN:
                values = [trial.given(GIVEN[option])]
            if not values and "|" in kind:
                values = kind.split("|")
        else:
            values = [None]
        end = m.end(1) if not value or not kind else m.end()
        if joined and groups:
            groups[-1] = ([*groups[-1][0], (option, values)], groups[-1][1], end)
        else:
            groups.append(([(option, values)], m.start(), end))
    for chosen, _, _ in groups:
        most = max((len(values) for _, values in chosen), default=0)
        for k in range(most):
            branch = dataclasses.replace(trial)
            for option, values in chosen:
                args = with_option(branch, helps, option,
                                   values[min(k, len(values) - 1)])
                if args:
                    branch = dataclasses.replace(branch, args=args)
            if branch.args != trial.args:
                yield branch.args


def choices(trial, helps, error, cure):
    """Names and ranges to choose from, forms and examples."""
    text = f"{error}; {cure}" if cure else error
    wrong = culprit(trial, error)
    if m := re.search(r"'(\w+)' is (-?[\d.]+), not from (\S+) to (\S+)", text):
        for bound in (m[4], m[3]):
            yield replaced(trial, f"{m[1]}: {m[2]}", f"{m[1]}: {bound}")
        return
    if m := re.search(r"there is no (\w+) (\d+).* are (\d+) to (\d+)", text):
        yield replaced(trial, f"{m[1]}: {m[2]}", f"{m[1]}: {m[4]}")
        return
    if m := re.search(r"the file has \[([\d, ]+)\]; give \d+ sizes", text):
        name = quoted(error)[0]
        yield trial.put(trial.args.index("--shape") + 1,
                        f"{name}=" + m[1].replace(" ", ""))
        return
    if m := re.search(r"such as '([^']+=[^']+)'", text):
        yield trial.put(trial.args.index("--copies") + 1, m[1])
        return
    if m := re.search(r"write (\S+)$", text):
        yield replaced(trial, quoted(error)[0], m[1])
        return
    if m := re.search(r"such as '?([^\s';]+)'?", text):
        yield replaced(trial, quoted(error)[0], m[1].rstrip(":,"))
        return
    if m := re.search(r"(?:is not|a clock) from (\S+) to (\S+?)(?: |$)", text):
        for bound in (m[2], m[1]):
            yield replaced(trial, wrong, bound)
        return
    if m := re.search(r"of (\d+) to (\d+) bits, -32", text):
        yield replaced(trial, wrong, "fixed<4,4>")
        yield replaced(trial, wrong, "fixed<8,8>")
        return
    if m := re.search(r"'(\w+)=[^']*': .*?(?:is at most (\d+%)|a whole number above "
                      r"(0)|is above (0)|it is below (0))", text):
        right = m[2] or {"throughput": "1000/s", "latency": "1ms"}.get(m[1], "1000")
        if m[3]:
            right = "1"
        yield replaced(trial, wrong, f"{m[1]}={right}")
        return
    if m := re.search(r"'(\w+)' has no (?:amount|number)", text):
        for form in re.findall(r"\w+=[NP]%?", text):
            yield replaced(trial, wrong, FORMS.get(form, f"{m[1]}=1000"))
        return
    if re.search(r"units are (.*)", text):
        digits = re.search(r"'latency=([\d.]+)", text)
        wrong = quoted(error)[0]
        for unit in re.search(r"units are (.*)", text)[1].replace(
                " and ", ", ").split(", ")[1:]:
            yield replaced(trial, wrong, f"latency={digits[1]}{unit}")
        return
    if m := re.search(r"it has two objectives, '([^']+)' and '([^']+)'", text):
        goal = trial.args[trial.args.index("--goal") + 1]
        for one in (m[1], m[2]):
            yield replaced(trial, goal, one)
        return
    if "nothing is between two commas" in text:
        goal = trial.args[trial.args.index("--goal") + 1]
        yield replaced(trial, goal, goal.strip(",").replace(",,", ","))
        return
    if "the first bound is above the second" in text:
        at = trial.args.index("--range")
        yield [*trial.args[:at + 1], *trial.args[at + 2:at + 0:-1],
               *trial.args[at + 3:]]
        return
    if "expected fixed<integer bits,fraction bits>" in text:
        yield replaced(trial, wrong, "fixed<4,4>")
        return
    if m := next(filter(None, (words.search(text) for words in LISTS)), None):
        listed = m[1].split(";")[0].split(", or give")[0]
        words = re.split(r"," if listed.startswith("{") else
                         r", (?:or |nor )?| or | and ", listed.strip("{}."))
        if after := re.search(r"not come after --compile-from (\w+)", text):
            words = words[words.index(after[1]) + 1:]
        words = [w.strip("'{}. ") for w in words]
        words = [w for w in words if w and (FORMS.get(w) or (
            " " not in w and not w.isupper() and w != "…"))]
        if not wrong or not words:
            return
        for word in dict.fromkeys((words[0], words[len(words) // 2], words[-1])):
            value = FORMS.get(word, word)
            if "bounds are" in text:
                value = {"throughput": "throughput=1000/s",
                         "latency": "latency=1ms"}.get(word, f"{word}=100%")
                if word == "nodes":
                    value = "nodes=1"
            yield replaced(trial, wrong, value)
        return
    for form, value in FORMS.items():
        if form in text and len(form) > 2 and wrong:
            yield replaced(trial, wrong, value)
            return


def frames(trial, helps, error, cure):
    """Data of the shape, the number and the kind that a message tells."""
    np = needed("numpy")
    text = f"{error}; {cure}"
    at = next((i for i in trial.files() if trial.args[i] in error), None)
    if at is None:
        return
    path = trial.path(".npy")
    if m := re.search(r"takes \[([\d,]+)\]; give frames of that shape", text):
        np.save(path, np.zeros([2, *map(int, m[1].split(","))], np.float32))
        yield trial.put(at, path)
    elif m := re.search(r"labels for (\d+) frames.*?one label", text):
        np.save(path, np.zeros(int(m[1]), np.int64))
        yield trial.put(at, path)
        if m := re.search(r"-n (\d+)", text):
            yield [*trial.args, "-n", m[1]]


RULES = (meant, packages, frames, removal, commands, options, choices)


def alternatives(trial, helps, error, cure):
    edits = needed("remedyedits")
    found = [list(map(str, args)) for args in
             edits.edited(trial, error, cure) if args]
    for rule in (() if found else RULES):
        found = [list(map(str, args)) for args in
                 rule(trial, helps, error, cure) if args]
        if found:
            return rule.__name__, found
    return "edit", found


def lead_on(trial, helps, seen, depth):
    """"" if following the remedies of a command ends well, else what fails.
    Every alternative of the first refusal is followed, of later ones the
    first that leads on."""
    result = trial.run(trial.args)
    pairs = told(result)
    if result.status == 0:
        return "" if seen else "nothing is refused: " + result.command
    if seen and result.status == 1 and not pairs:
        return ""  # the command's own verdict, such as coverage's
    if result.status not in (1, 2) or not pairs:
        return f"status {result.status}, {result.message[:300]}: {result.command}"
    error, cure = next((p for p in pairs if p[1]), pairs[0])
    if any(e in seen for e, _ in pairs):
        return f"the same again: {error[:200]} | {cure}: {result.command}"
    if seen and HONEST.search(f"{error} {cure}"):
        return ""
    if depth > STEPS:
        return f"after {STEPS} steps still: {error[:200]} | {cure}"
    rule, found = alternatives(trial, helps, error, cure)
    if not found:
        return f"no remedy: {error[:300]} | {cure}: {result.command}"
    problems, one_of = [], bool(seen) or rule == "choices"
    for args in found:
        problem = lead_on(dataclasses.replace(trial, args=args), helps,
                          {*seen, error}, depth + 1)
        if one_of and not problem:
            return ""
        if problem:
            problems.append(f"[{rule}] {error[:120]} | {cure[:120]} > {problem}")
    return "; ".join(problems[:2])


def remedies(suite, which="share"):
    """which: all, a share (some of every kind of refusal), or a kind's name."""
    cases = needed("remedycases")
    (suite.work / "here").mkdir()
    names, made = cases.inputs(suite)
    helps, serial = Help(suite), itertools.count()
    count, errors = 0, set()
    for kind, lines in cases.CASES.items():
        if which not in ("all", "share", kind):
            continue
        for line in lines[::6] if which == "share" else lines:
            args = [a.format_map(names) for a in shlex.split(line)]
            trial = Trial(suite, names, args, made, serial)
            first = trial.run(args)
            errors.update(re.sub(r"'[^']*'|[\d.]+", "_", e)
                          for e, _ in told(first))
            problem = lead_on(trial, helps, set(), 0)
            count += 1
            suite.check(not problem, f"{line}: {problem or 'leads on'}")
            shutil.rmtree(suite.work / "here")
            (suite.work / "here").mkdir()
    suite.check(count, f"{count} refusals with {len(errors)} different errors")
