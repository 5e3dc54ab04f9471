# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A stand-in for the package pynq: buffers, DMA engines and the kernel's
registers as its documentation has them, in front of the package's simulator
($STANDIN_SIMULATOR, $STANDIN_PACKAGE). What the hardware would not do, such as a
transfer on a busy channel or data that were not flushed, is an error."""
import json
import os
import pathlib
import subprocess
import tempfile

import numpy as np


class Buffer(np.ndarray):
    """What allocate() gives: the device sees only what was flushed, the program
    only what was invalidated."""
    _next = 0x10000000

    def flush(self):
        self.memory = self.tobytes()

    def invalidate(self):
        self[:] = np.frombuffer(self.memory, self.dtype).reshape(self.shape)

    def freebuffer(self):
        self.physical_address = None


def allocate(shape, dtype="u4", target=None):
    buffer = np.zeros(shape, dtype).view(Buffer)
    buffer.physical_address = Buffer._next
    Buffer._next += -(-buffer.nbytes // 4096) * 4096
    buffer.memory = b"\xaa" * buffer.nbytes
    Overlay.buffers[buffer.physical_address] = buffer
    return buffer


class Channel:
    def __init__(self, overlay, sends):
        self.overlay, self.sends = overlay, sends
        self.idle, self.error, self.running, self.active = True, False, True, None

    def transfer(self, array, start=0, nbytes=0):
        if not self.idle:
            raise RuntimeError("DMA channel not idle")
        if start or nbytes:
            raise ValueError("the stand-in moves whole buffers")
        if self.sends:
            array.flush()
            self.overlay.sent += 1
        self.active, self.idle = array, False
        self.overlay.step()

    def wait(self):
        if not self.idle:
            raise RuntimeError("the stand-in would wait for ever")
        if not self.sends:
            self.active.invalidate()
            self.overlay.received()


class Engine:
    def __init__(self, overlay, sends):
        setattr(self, "sendchannel" if sends else "recvchannel",
                Channel(overlay, sends))


class Kernel:
    """The registers of rhz_kernel."""

    def __init__(self, overlay):
        self.overlay, self.registers, self.runs = overlay, {}, False

    def write(self, offset, value):
        if offset:
            self.registers[offset] = value
        elif value & 1:
            self.runs = True
            self.overlay.check_memories()

    def read(self, offset):
        return 2 * self.runs if offset == 0 else self.registers.get(offset, 0)


class Overlay:
    buffers = {}

    def __init__(self, bitfile):
        path = pathlib.Path(bitfile)
        if path.suffix != ".bit" or not path.with_suffix(".hwh").is_file():
            raise FileNotFoundError(bitfile)
        self.package = pathlib.Path(os.environ["STANDIN_PACKAGE"])
        self.plan = json.loads((self.package / "plan.json").read_text())
        self.node = self.plan["nodes"][0]
        self.ways = []
        for key, sends in (("to_device", True), ("from_device", False)):
            for border in self.plan["host"][key]:
                engine = Engine(self, sends)
                setattr(self, f"dma_{border['port']}", engine)
                self.ways.append((border, getattr(
                    engine, "sendchannel" if sends else "recvchannel")))
        self.rhz_kernel = Kernel(self)
        self.sent = self.waited = self.most = 0

    def received(self):
        """Keeps how many frames were on their way at most, of one input and one
        output."""
        self.most = max(self.most, self.sent - self.waited)
        self.waited += 1
        if "STANDIN_MOST" in os.environ:
            pathlib.Path(os.environ["STANDIN_MOST"]).write_text(str(self.most))

    def check_memories(self):
        """Each segment is in the buffer whose address its port's register has."""
        for k, port in enumerate(self.node["ports"]["memory"]):
            low, high = (self.rhz_kernel.registers[0x10 + 12 * k + 4 * half]
                         for half in (0, 1))
            buffer = self.buffers[high << 32 | low]
            for segment in self.node["segments"]:
                if (segment["memory"], segment["bank"]) != (port["memory"],
                                                            port["bank"]):
                    continue
                content = (self.package / segment["file"]).read_bytes()
                at = segment["address"]
                if buffer.memory[at:at + len(content)] != content:
                    raise RuntimeError(f"{segment['file']} is not in memory")

    def step(self):
        """Computes once every channel has its frame."""
        if any(channel.idle for _, channel in self.ways):
            return
        if self.node["segments"] and not self.rhz_kernel.runs:
            raise RuntimeError("the kernel was not started")
        with tempfile.TemporaryDirectory() as folder:
            words = [os.environ["STANDIN_SIMULATOR"], "--frames", "1", "--total",
                     "1", "--stalls-in", "0", "--stalls-out", "0", "--seed", "1",
                     "--hang", "10000000", "--report", f"{folder}/report"]
            for k, (border, channel) in enumerate(self.ways):
                file = f"{folder}/{k}"
                size = border["data_width"] // 8
                if channel.active.nbytes % size:
                    raise RuntimeError("a frame is not whole beats")
                if channel.sends:
                    pathlib.Path(file).write_bytes(channel.active.memory)
                words += ["--in" if channel.sends else "--out", file,
                          str(channel.active.nbytes // size), str(size)]
            subprocess.run(words, cwd=self.package / "nodes/node0/rtl",
                           check=True, capture_output=True)
            for k, (_, channel) in enumerate(self.ways):
                if not channel.sends:
                    channel.active.memory = pathlib.Path(
                        f"{folder}/{k}").read_bytes()
                channel.idle = True
