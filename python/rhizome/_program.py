# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Finds the program, runs its commands, and turns answers that tell of a
failure into exceptions."""
from __future__ import annotations

import contextlib
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from typing import (Any, Callable, Dict, Iterator, List, Mapping, Optional,
                    Sequence, Union)

import numpy as np
import numpy.typing as npt

from .errors import GoalError, Refusal, Refused, RhizomeError, UsageError

Path = Union[str, "os.PathLike[str]"]
Array = npt.NDArray[Any]
#: Values for a model: an array, or a file or folder that the program reads.
Data = Union[Array, Path]
Answer = Dict[str, Any]
#: Called with what a command is doing, such as "explore …" or "12 of 30 frames".
Progress = Callable[[str], None]

_BAD_USAGE = 2
_PROGRESS = "RHIZOME_PROGRESS"
_ERASE = b"\x1b[K"


def program() -> pathlib.Path:
    """The program that calls run: $RHIZOME_PROGRAM, the wheel's, or PATH's."""
    named = os.environ.get("RHIZOME_PROGRAM")
    wheel = pathlib.Path(__file__).parent / "install" / "bin" / "rhizome"
    found = named or (str(wheel) if wheel.exists() else shutil.which("rhizome"))
    if not found:
        raise RhizomeError("the program 'rhizome' is not in PATH",
                           "install it, or name it in RHIZOME_PROGRAM")
    return pathlib.Path(found)


def examples() -> pathlib.Path:
    """The folder of examples that comes with the program."""
    root = program().resolve().parents[1]
    for folder in (root / "share/rhizome/examples", root.parent / "examples"):
        if folder.is_dir():
            return folder
    raise RhizomeError(f"there are no examples near '{program()}'",
                       "they are in the wheel, the packages, and a clone")


def version() -> str:
    """The program's version."""
    return _communicate([str(program()), "--version"])[1].strip()


def main() -> int:
    """The wheel's commands: rhizome and its siblings, by the name called."""
    path, name = program(), pathlib.Path(sys.argv[0]).name
    if name.startswith("rhizome-"):
        path = path.with_name(name)
    os.execv(path, [str(path), *sys.argv[1:]])


def run(command: str, *arguments: Path, options: Mapping[str, Any] = {},
        progress: Optional[Progress] = None, names: Mapping[str, str] = {},
        also: str = "") -> Answer:
    """Runs a command and returns its answer; raises what it failed with, unless
    the answer has a member `also`.

    `options` are those of the command line with underscores: `clock_mhz=200`
    is --clock-mhz 200. True is a flag, False and None leave an option out, a
    list repeats it, a mapping gives NAME=VALUE for each. `names` are those of
    arguments by the files that stand for them.
    """
    with files() as keep:
        # What follows "--" is no option, whatever it begins with.
        line = [str(program()), command, *words(options, keep), "--json", "--",
                *(os.fspath(a) for a in arguments)]
        status, out, err = _communicate(line, progress)
    answer = _answer(out)
    if answer is not None and (status == 0 or also in answer):
        return answer
    raise _failure(status, answer, err, {**names, **keep.names})


_COMMANDS = "analyze|compile|coverage|evaluate|explore|formats|targets|trace"


def _for_python(text: str, names: Mapping[str, str]) -> str:
    """A message of the program with arguments in place of options and of files
    that were written for a call."""
    for path, name in names.items():
        text = text.replace(path, name)
    text = re.sub(rf"'rhizome ({_COMMANDS})'", r"rhizome.\1", text)
    text = re.sub(r"--([a-z][a-z0-9-]*) ('[^']*')", lambda found:
                  found[1].replace("-", "_") + "=" + found[2], text)
    return re.sub(r"(?<![\w/.-])--([a-z][a-z0-9-]*)(?!=)\b", lambda found:
                  found[1].replace("-", "_"), text)


def frames_first(values: Array) -> Array:
    """Without the model's own batch dimension, which is 1."""
    return values[:, 0] if values.ndim > 1 and values.shape[1] == 1 else values


def words(options: Mapping[str, Any],
          keep: Optional["Files"] = None) -> List[str]:
    """Options as those of the command line; arrays need a place for files."""
    return [word for name, value in options.items()
            for word in _option(name, value, keep)]


def failure_of(status: int, err: bytes) -> RhizomeError:
    """What a program that has ended failed with, by what it said."""
    return _failure(status, None, err.decode(errors="replace"), {})


@contextlib.contextmanager
def files() -> Iterator["Files"]:
    """A folder for arrays that the program reads or writes, for one call."""
    with tempfile.TemporaryDirectory(prefix="rhizome-") as folder:
        yield Files(pathlib.Path(folder))


class Files:
    """The .npy files of one call."""

    def __init__(self, folder: pathlib.Path) -> None:
        self.folder = folder
        self.names: Dict[str, str] = {}
        self._count = 0

    def new(self, suffix: str = ".npy", name: str = "") -> pathlib.Path:
        """A file for an argument of this name, by which errors call it."""
        self._count += 1
        path = self.folder / f"{self._count}{suffix}"
        if name:
            self.names[str(path)] = name
        return path

    def arrays(self, arrays: Mapping[str, Data], name: str = "") -> str:
        """One file of arrays by name."""
        path = self.new(".npz", name)
        np.savez(path, **{key: np.load(each) if isinstance(
            each, (str, os.PathLike)) else np.asarray(each)
            for key, each in arrays.items()})  # type: ignore[arg-type]
        return str(path)

    def path(self, data: Data, name: str = "") -> str:
        """The file of `data`, written if it is an array."""
        if isinstance(data, (str, os.PathLike)):
            return os.fspath(data)
        path = self.new(name=name)
        np.save(path, np.ascontiguousarray(data))
        return str(path)


def _option(name: str, value: Any, keep: Optional[Files]) -> List[str]:
    flag = "--" + name.replace("_", "-")
    if value is None or value is False:
        return []
    if value is True:
        return [flag]
    if isinstance(value, Mapping):
        return [word for key, each in value.items()
                for word in (flag, f"{key}={_text(each)}")]
    if isinstance(value, tuple) and all(isinstance(each, (int, float))
                                        for each in value):
        return [f"{flag}={_text(value)}"]
    if isinstance(value, (list, tuple)):
        return [word for each in value for word in _option(name, each, keep)]
    if isinstance(value, np.ndarray):
        if not keep:
            raise UsageError(f"{name} takes a path, not an array")
        return [flag, keep.path(value, name)]
    # One word, so that a value may begin with a dash.
    return [f"{flag}={_text(value)}"]


def _text(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        return ",".join(map(str, value))
    return str(os.fspath(value) if isinstance(value, os.PathLike) else value)


def _communicate(words: Sequence[str], progress: Optional[Progress] = None
                 ) -> "tuple[int, str, str]":
    # A session of its own: an interrupt of ours ends all that the program runs
    # for it, and nothing else.
    environment = {**os.environ, "RHIZOME_PYTHON": sys.executable}
    if progress:
        environment[_PROGRESS] = "1"
    with subprocess.Popen(words, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          env=environment, start_new_session=True) as process:
        try:
            if progress:
                out, err = _watch(process, progress)
            else:
                out, err = process.communicate()
        except BaseException:
            _end(process)
            raise
    return (process.returncode, out.decode(errors="replace"),
            err.decode(errors="replace"))


def _watch(process: "subprocess.Popen[bytes]",
           progress: Progress) -> "tuple[bytes, bytes]":
    """Like communicate, with `progress` called in this thread for each line
    that the program overwrites on a terminal."""
    assert process.stdout and process.stderr
    out: List[bytes] = []
    reader = threading.Thread(target=lambda stream: out.append(stream.read()),
                              args=(process.stdout,), daemon=True)
    reader.start()
    err, line, shown = b"", b"", b""
    while chunk := os.read(process.stderr.fileno(), 1 << 16):
        # A line of progress stands between two carriage returns.
        for part in re.split(rb"([\r\n])", chunk):
            if part == b"\r":
                line = line.replace(_ERASE, b"").strip()
                if line and line != shown:
                    shown = line
                    progress(line.decode(errors="replace"))
                line = b""
            elif part == b"\n":
                err += line.replace(_ERASE, b"") + part
                line = b""
            else:
                line += part
    reader.join()
    process.wait()
    return b"".join(out), err + line.replace(_ERASE, b"")


def _end(process: "subprocess.Popen[bytes]") -> None:
    """Ends the program, which then removes what it began, and all that it
    started."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGINT)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(timeout=10)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


def _answer(out: str) -> Optional[Answer]:
    try:
        answer = json.loads(out.strip().splitlines()[-1])
    except (ValueError, IndexError):
        return None
    return answer if isinstance(answer, dict) else None


def _failure(status: int, answer: Optional[Answer], err: str,
             names: Mapping[str, str]) -> RhizomeError:
    def said(text: str) -> str:
        return _for_python(text, names)

    if answer and answer.get("refused"):
        return Refused([Refusal(**{key: said(each.get(key, "")) for key in
                                   ("node", "op", "reason", "remedy")},
                                line=each.get("line", 0))
                        for each in answer["refused"]])
    if answer and "limit" in answer:
        return GoalError(said(answer["limit"]), answer.get("nearest"))
    kind = UsageError if status == _BAD_USAGE else RhizomeError
    if answer and answer.get("error"):
        reason, _, remedy = answer["error"].strip().partition("\n  remedy: ")
        return kind(said(reason), said(answer.get("remedy", "") or remedy))
    text = err.strip().replace("\nRun with --help for more information.", "")
    if not text:
        text = (f"rhizome ended with status {status}" if status >= 0 else
                f"rhizome was ended by {signal.Signals(-status).name}")
    reason, _, remedy = text.partition("\n  remedy: ")
    if reason.startswith("error: "):
        reason = reason[len("error: "):]
    return kind(said(reason), said(remedy))
