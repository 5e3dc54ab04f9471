# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A package's device, held open between calls: a `rhizome run --serve` as a child,
to which arrays go and from which they come back."""
from __future__ import annotations

import contextlib
import io
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
import weakref
from typing import IO, Any, Dict, List, Mapping, Optional, Sequence, Union

import numpy as np

from . import _program
from .errors import RhizomeError
from ._program import Array, Path

_READY = b"R"
_REFUSED = (1 << 64) - 1


class Device:
    """What `Package.open` returns: computes until it is closed, best by `with`.

    Frames come first in arrays, as for `Package.infer`. An interrupt ends the
    call and the program that it waits for; the next call opens the device anew,
    unless the network keeps something from frame to frame, which is lost then.
    A process that forks keeps the device; its child has none and may open its
    own.
    """

    def __init__(self, package: Path, driver: str,
                 options: Mapping[str, Any], keeps_state: bool) -> None:
        self._words = [str(_program.program()), "run", os.fspath(package),
                       "--driver=" + driver, "--serve",
                       *_program.words(options)]
        self._keeps_state = keeps_state
        self._child: Optional[_Child] = None
        self._owner = os.getpid()
        self._why_closed = ""
        self._lock = threading.Lock()
        self._start()

    def infer(self, *inputs: Array) -> Union[Array, List[Array]]:
        """The model's outputs for an array per graph input; one array, or a list
        if the model has several outputs."""
        if self._owner != os.getpid():
            raise RhizomeError("the device belongs to the process that forked "
                               "this one", "open one here")
        with self._lock:
            outputs = self._ask([_bytes(array) for array in inputs])
        return outputs[0] if len(outputs) == 1 else outputs

    def _ask(self, arrays: Sequence[bytes]) -> List[Array]:
        if self._why_closed:
            raise RhizomeError(self._why_closed, "open it again")
        if not self._child:
            self._start()
        assert self._child
        try:
            return self._child.ask(arrays)
        except _Wrong as why:  # the device is as before
            reason, _, remedy = str(why).partition("; ")
            raise RhizomeError(reason, remedy) from None
        except BaseException:
            # An answer would be taken for that of the next call.
            self._end()
            if self._keeps_state:
                self._why_closed = ("the call before was broken off, and with "
                                    "it what the network keeps was lost")
            raise

    def close(self) -> None:
        """Lets go of the device; harmless if that has happened."""
        self._why_closed = "the device is closed"
        if self._child and self._owner == os.getpid():
            self._child.close()
        self._child = None

    def __enter__(self) -> "Device":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        state = "closed" if self._why_closed else "open"
        return f"<device of {self._words[2]!r}, {state}>"

    def _start(self) -> None:
        self._child = _Child(self._words)
        # Also when nobody closes it; never in a process that was forked.
        weakref.finalize(self, _close, self._child, self._owner)

    def _end(self) -> None:
        if self._child:
            self._child.kill()
        self._child = None


class _Wrong(Exception):
    """A request that the program refuses."""


def _close(child: "_Child", owner: int) -> None:
    if owner == os.getpid():
        child.close()


def _bytes(array: Array) -> bytes:
    text = io.BytesIO()
    np.lib.format.write_array(text, np.ascontiguousarray(array),
                              allow_pickle=False)
    return text.getvalue()


class _Child:
    """The program: requests and answers as lib/Deploy/FrameLine.h has them."""

    def __init__(self, words: Sequence[str]) -> None:
        # What it says is for the error that ends it, or for nobody.
        self._said: IO[bytes] = tempfile.TemporaryFile(prefix="rhizome-")
        environment: Dict[str, str] = {**os.environ,
                                       "RHIZOME_PYTHON": sys.executable}
        # A session of its own: an interrupt of ours is not one of its.
        self._process = subprocess.Popen(
            words, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=self._said, env=environment, start_new_session=True)
        try:
            self._read(len(_READY))
        except BaseException:
            self.kill()
            raise

    def ask(self, arrays: Sequence[bytes]) -> List[Array]:
        request = [_number(len(arrays))]
        for array in arrays:
            request += [_number(len(array)), array]
        assert self._process.stdin
        try:
            self._process.stdin.write(b"".join(request))
            self._process.stdin.flush()
        except OSError:
            raise self._ended() from None
        count = self._read_number()
        if count == _REFUSED:
            raise _Wrong(self._read(self._read_number()).decode(errors="replace"))
        return [_program.frames_first(np.lib.format.read_array(
            io.BytesIO(self._read(self._read_number())), allow_pickle=False))
            for _ in range(count)]

    def close(self) -> None:
        """The end of requests, of which it has some seconds to make its own."""
        assert self._process.stdin and self._process.stdout
        with contextlib.suppress(OSError, ValueError):
            self._process.stdin.write(_number(0))
            self._process.stdin.flush()
        with contextlib.suppress(OSError):
            self._process.stdin.close()
        end = time.monotonic() + 5
        while not self._is_over() and time.monotonic() < end:
            time.sleep(0.002)
        self.kill()

    def kill(self) -> None:
        """Ends it, and all that it has started."""
        if self._process.returncode is None:
            # Its number stays its own until it is waited for.
            with contextlib.suppress(ProcessLookupError):
                if not self._is_over():
                    os.killpg(self._process.pid, signal.SIGTERM)
                end = time.monotonic() + 2
                while not self._is_over() and time.monotonic() < end:
                    time.sleep(0.005)
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
        for stream in (self._process.stdin, self._process.stdout, self._said):
            with contextlib.suppress(OSError):
                if stream:
                    stream.close()

    def _is_over(self) -> bool:
        return self._process.returncode is not None or os.waitid(
            os.P_PID, self._process.pid,
            os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None

    def _read_number(self) -> int:
        return int.from_bytes(self._read(8), "little")

    def _read(self, count: int) -> bytes:
        assert self._process.stdout
        data = self._process.stdout.read(count)
        if len(data) < count:
            raise self._ended()
        return data

    def _ended(self) -> RhizomeError:
        status = self._process.wait()
        self._said.seek(0)
        return _program.failure_of(status, self._said.read())


def _number(value: int) -> bytes:
    return value.to_bytes(8, "little")
