# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Shared by the acceptance tests: running the rhizome binary, counting checks,
reporting skips. A suite is a function that takes a Suite; run() turns its
checks into an exit status for CTest: 0, 1, or 77 if it could check nothing."""
import dataclasses
import functools
import importlib
import json
import os
import pathlib
import re
import resource
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback

SKIP_STATUS = 77
TIME_LIMIT_S = 1200


class Skip(Exception):
    """Raised if a check is not possible here, with the reason."""


def needed(name):
    """A module next to this one that needs packages of `make setup`."""
    try:
        return importlib.import_module(name)
    except ImportError as why:
        raise Skip(f"Python's {why.name} is missing ('make setup' installs "
                   f"it)") from why


@dataclasses.dataclass
class Result:
    command: str
    status: int  # negative: ended by that signal
    out: str
    err: str
    cpu_s: float
    wall_s: float

    @property
    def json(self):
        """The last line of standard output as JSON, None for other text."""
        try:
            return json.loads(self.out.strip().splitlines()[-1])
        except (ValueError, IndexError):
            return None

    @property
    def message(self):
        return (self.err.strip() or self.out.strip())[:600]


def run_program(args, timeout=TIME_LIMIT_S, memory_gb=None, cwd=None):
    """Runs a program to its end; a timeout counts as SIGKILL."""
    args = [str(a) for a in args]

    def limit():
        size = memory_gb << 30
        resource.setrlimit(resource.RLIMIT_AS, (size, size))

    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.time()
    process = subprocess.Popen(
        args, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, cwd=cwd, start_new_session=True,
        preexec_fn=limit if memory_gb else None)
    try:
        out, err = process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        out, err = process.communicate()
        err += b"\n(time limit of %d s reached)" % timeout
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return Result(shlex.join(args), process.returncode,
                  out.decode(errors="replace"), err.decode(errors="replace"),
                  cpu, time.time() - start)


@functools.cache
def plan_schema():
    """A validator of plan.json; None without the package for it."""
    try:
        import jsonschema
    except ImportError:
        print("SKIP  no plan is compared with its schema: Python's jsonschema is "
              "missing ('make setup' installs it)", flush=True)
        return None
    path = pathlib.Path(__file__).resolve().parents[2] / "data/plan.schema.json"
    return jsonschema.Draft202012Validator(json.loads(path.read_text()))


def misfit(plan):
    """Where a plan.json is not as its schema says, and why; empty if it is."""
    validator = plan_schema()
    error = validator and next(
        validator.iter_errors(json.loads(plan.read_text())), None)
    return f"{error.json_path}: {error.message[:200]}" if error else ""


class Suite:
    """One run of a suite: its folder, its checks, the binary."""

    def __init__(self, rhizome, work):
        self.rhizome = pathlib.Path(rhizome).resolve()
        self.work = pathlib.Path(work)
        self.passed, self.failures, self.skipped = 0, [], []

    def check(self, good, text, command=None):
        """Counts a check; if it fails, prints it with the command that reproduces it."""
        if good:
            self.passed += 1
            print(f"ok    {text}", flush=True)
        else:
            self.failures.append(text)
            print(f"FAIL  {text}", flush=True)
            if command:
                print(f"      {command}", flush=True)
        return bool(good)

    def skip(self, text):
        self.skipped.append(text)
        print(f"SKIP  {text}", flush=True)

    def need(self, path):
        """The path, if it exists; skips otherwise."""
        if not pathlib.Path(path).exists():
            raise Skip(f"{path} is missing (RHIZOME_SHARED names the folder "
                       f"of models and data)")
        return pathlib.Path(path)

    def tool(self, name):
        if not shutil.which(name):
            raise Skip(f"the program {name} is missing")
        return name

    def run(self, *args, **limits):
        """Runs rhizome with these arguments. The plan of a package that it makes
        must be as data/plan.schema.json says."""
        result = run_program([self.rhizome, *args], **limits)
        if args[:1] == ("compile",) and result.status == 0 and "-o" in args:
            plan = pathlib.Path(limits.get("cwd") or ".",
                                args[args.index("-o") + 1], "plan.json")
            if plan.exists() and (why := misfit(plan)):
                self.check(False, f"the schema of plan.json: {why}",
                           result.command)
        return result

    def compile(self, model, options, goal, package, *more):
        return self.run("compile", model, *options, "--goal", goal,
                        "-o", package, "--json", *more)

    def compiled(self, network, goal, package):
        """Compiles a network, checks that it worked, and returns the JSON
        object and the result; None instead of the object if it failed."""
        result = self.compile(self.need(network.path), network.options, goal,
                              package)
        answer = result.json
        good = self.check(
            result.status == 0 and answer and answer.get("ok"),
            f"{network.name} {goal}: compiles ({result.wall_s:.2f} s wall, "
            f"{result.cpu_s:.2f} s processor)"
            + ("" if result.status == 0 else f": {result.message}"),
            result.command)
        return (answer if good else None), result


def slug(text):
    """The text as a file name."""
    return re.sub(r"[^A-Za-z0-9_.-]+", "_", text)


def rhizome_option(parser):
    root = pathlib.Path(__file__).resolve().parents[2]
    parser.add_argument("--rhizome", default=os.environ.get(
        "RHIZOME", root / "build/bin/rhizome"), help="the binary to test")


def execute(function, rhizome, work, *args):
    """Runs a suite's function in a clean folder and returns its status."""
    own = work is None
    folder = pathlib.Path(tempfile.mkdtemp(prefix="rhizome-e2e-") if own
                          else work)
    if not own:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
    suite = Suite(rhizome, folder)
    if not suite.rhizome.exists():
        print(f"FAIL  {suite.rhizome} does not exist: build it first")
        return 1
    try:
        function(suite, *args)
    except Skip as why:
        suite.skip(str(why))
    except Exception:  # a bug of the suite must not hide what it found
        traceback.print_exc()
        suite.failures.append("the suite itself ended with an exception")
    print(f"{suite.passed} checks passed, {len(suite.failures)} failed, "
          f"{len(suite.skipped)} skipped")
    for text in suite.failures:
        print(f"failed: {text}")
    if not suite.failures:
        shutil.rmtree(folder, ignore_errors=True)
    else:
        print(f"what it made lies in {folder}")
    sys.stdout.flush()
    if suite.failures:
        return 1
    return 0 if suite.passed else SKIP_STATUS
