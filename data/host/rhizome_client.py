#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The compiled model on its device, from Python with numpy alone:

    from rhizome_client import Client
    with Client("uart", "/dev/ttyUSB1") as device:
        results = device.infer(images)

`infer` takes and gives the tensors that the package's README lists; scales, zero
points, order and packing are those of plan.json. From a shell:

    python3 rhizome_client.py uart /dev/ttyUSB1 --input x.npy --output y.npy

The driver "uart" talks to a board at a serial line, "pynq" runs on the processors
of a Zynq next to the design, "simulation" is the Verilated design.
rhizome_client.h is the same for C and C++, with drivers for more devices.
"""
import argparse
import json
import os
import pathlib
import select
import shutil
import subprocess
import sys
import tempfile
import time

try:
    import numpy as np
except ImportError:
    if __name__ != "__main__":
        raise
    sys.exit("error: this program needs numpy: python3 -m pip install numpy")

PACKAGE = pathlib.Path(__file__).resolve().parents[1]
READY = b"R"  # kMpiReady of the runtime's drivers.h
BREAK_S = 0.01
TIOCSBRK, TIOCCBRK = 0x5427, 0x5428  # Linux; Python's termios has no names


class DeviceError(Exception):
    """The device, or the way to it, failed."""


class Border:
    """One port's frames: the elements of a tensor in the order in which the
    device takes them, as integers without gaps."""

    def __init__(self, table, tensors):
        element = table["element"]
        self.port, self.index = table["port"], table["tensor"]
        self.tensor = tensors[self.index]
        self.width, self.signed = element["width"], element["signed"]
        self.lo, self.hi = element["lo"], element["hi"]
        self.beat_bytes = table["data_width"] // 8
        self.rounding = table["rounding"]
        places = np.zeros(1, np.int64)
        for digit in table["order"]:
            steps = np.arange(digit["size"], dtype=np.int64) * digit["stride"]
            places = (places[:, None] + steps).reshape(-1)
        self.places = places
        channel = places // table["inner"] % table["channels"]

        def constants(name, kind):
            values = np.array(table[name], kind)
            return values[channel] if values.size else None

        self.scale = constants("scale", np.float32)
        self.zero = constants("zero_point", np.int64)
        self.offset = constants("offset", np.float32)
        self.frame_bytes = (places.size * self.width + 7) // 8
        beats = -(-self.frame_bytes // self.beat_bytes)
        self.padded_bytes = beats * self.beat_bytes

    def pack(self, values):
        """A tensor as the bytes of a frame, padded to whole beats."""
        values = values.reshape(-1)[self.places]
        if self.scale is None:
            codes = values
            if ((codes < self.lo) | (codes > self.hi)).any():
                raise ValueError(f"input '{self.tensor['name']}': values must be "
                                 f"from {self.lo} to {self.hi}")
        else:
            if np.isnan(values).any():
                raise ValueError(f"input '{self.tensor['name']}': NaN has no "
                                 "integer")
            with np.errstate(over="ignore"):
                whole = rounded(values / self.scale, self.rounding)
            least, most = (float(end) - self.zero for end in (self.lo, self.hi))
            codes = np.clip(whole, least, most).astype(np.int64) + self.zero
        octets = codes.astype("<i8").view(np.uint8).reshape(-1, 8)
        bits = np.unpackbits(octets, axis=1, bitorder="little")[:, :self.width]
        frame = np.packbits(bits.reshape(-1), bitorder="little").tobytes()
        return frame.ljust(self.padded_bytes, b"\0")

    def unpack(self, frame, values):
        """The other way round, into a tensor."""
        octets = np.frombuffer(frame, np.uint8, self.frame_bytes)
        count = self.places.size
        bits = np.unpackbits(octets, count=count * self.width,
                             bitorder="little").reshape(count, self.width)
        # All bits above the highest are the sign's.
        whole = np.repeat(bits[:, -1:] if self.signed else bits[:, -1:] * 0, 64,
                          axis=1)
        whole[:, :self.width] = bits
        codes = np.packbits(whole, axis=1, bitorder="little").view("<i8")
        codes = codes.reshape(-1).astype(np.int64)
        if self.scale is not None:
            codes = (codes - self.zero).astype(np.float32) * self.scale
            if self.offset is not None:
                codes = codes + self.offset
        values.reshape(-1)[self.places] = codes


def rounded(x, how):
    """Float32 numbers to whole ones, in double where a half is added."""
    wide = x.astype(np.float64)
    if how == "half_even":
        return np.rint(wide)
    if how == "half_up":
        return np.floor(wide + 0.5)
    if how == "half_down":
        return np.ceil(wide - 0.5)
    if how == "half_away":
        return np.copysign(np.floor(np.abs(wide) + 0.5), wide)
    if how == "half_toward_zero":
        return np.where(wide < 0, np.floor(wide + 0.5), np.ceil(wide - 0.5))
    if how == "toward_zero":
        return np.trunc(wide)
    if how == "away_from_zero":
        return np.where(wide < 0, np.floor(wide), np.ceil(wide))
    if how == "up":
        return np.ceil(wide)
    if how == "down":
        return np.floor(wide)
    return np.where(wide >= 0, 1.0, -1.0)  # sign


class Serial:
    """A board at a serial line: 8 data bits, no parity, one stop bit."""

    def __init__(self, model, port, baud=1000000, patience_s=5.0):
        import termios
        import tty
        if len(model.to_device) != 1 or len(model.from_device) != 1:
            raise DeviceError("a serial line carries one tensor in and one out")
        if model.segments:
            raise DeviceError("a serial line does not fill the device's memory, "
                              "from which the design is loaded")
        speed = getattr(termios, f"B{int(baud)}", None)
        if speed is None:
            raise DeviceError(f"there is no line speed of {baud} baud")
        self.port, self.patience_s = port, patience_s
        self.wanted = model.from_device[0].padded_bytes
        try:
            self.line = os.open(port, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)
        except OSError as why:
            raise DeviceError(f"cannot open '{port}': {why.strerror}") from why
        try:
            tty.setraw(self.line, termios.TCSANOW)
            mode = termios.tcgetattr(self.line)
            mode[2] |= termios.CREAD | termios.CLOCAL
            mode[2] &= ~(termios.CSTOPB | termios.PARENB | termios.CRTSCTS)
            mode[4] = mode[5] = speed
            termios.tcsetattr(self.line, termios.TCSANOW, mode)
        except termios.error as why:
            self.close()
            raise DeviceError(f"'{port}' is not a serial line at {baud} baud: "
                              f"{why.args[-1]}") from why
        try:
            self.reset(model.keeps_state)
        except DeviceError:
            self.close()
            raise

    def reset(self, needed):
        """A break resets the design. Linux lets pseudo-terminals take one, too, and
        does nothing; but only lines of hardware have the signals of a modem."""
        import fcntl
        import termios
        try:
            fcntl.ioctl(self.line, termios.TIOCMGET, bytes(4))
            fcntl.ioctl(self.line, TIOCSBRK)
            time.sleep(BREAK_S)
            fcntl.ioctl(self.line, TIOCCBRK)
            time.sleep(BREAK_S)
        except OSError as why:
            if needed:
                raise DeviceError(f"'{self.port}' has no break that resets the "
                                  "state of the design") from why
        termios.tcflush(self.line, termios.TCIOFLUSH)

    def run(self, frames):
        """Answers frames, each sent when the one before is back."""
        for (frame,) in frames:
            yield [self.exchange(frame)]

    def exchange(self, frame):
        end = time.monotonic() + self.patience_s
        answer = b""
        while len(answer) < self.wanted:
            left = end - time.monotonic()
            if left <= 0:
                raise DeviceError(f"{len(answer)} of {self.wanted} bytes came "
                                  f"back over '{self.port}' in "
                                  f"{self.patience_s:g} s")
            readable, writable, _ = select.select(
                [self.line], [self.line] if frame else [], [], left)
            try:
                if writable:
                    frame = frame[os.write(self.line, frame):]
                if readable:
                    part = os.read(self.line, self.wanted - len(answer))
                    if not part:
                        raise DeviceError(f"the line '{self.port}' was closed")
                    answer += part
            except BlockingIOError:
                continue
            except OSError as why:
                raise DeviceError(f"the line '{self.port}' is gone: "
                                  f"{why.strerror}") from why
        return answer

    def close(self):
        os.close(self.line)


class Overlay:
    """The design next to the processors of a Zynq, with PYNQ: a DMA engine for
    each stream. The overlay is rhizome.bit with rhizome.hwh in the same folder, as
    overlay.tcl of the package's nodes/node0/vivado makes them."""

    def __init__(self, model, bitstream=None, patience_s=5.0):
        try:
            import pynq
        except ImportError as why:
            raise DeviceError("the driver 'pynq' needs the Python package pynq, "
                              f"which the board's image has: {why}") from None
        path = pathlib.Path(bitstream or self.find(model.package))
        for needed in (path, path.with_suffix(".hwh")):
            if not needed.is_file():
                raise DeviceError(f"there is no overlay: '{needed}' is missing")
        self.patience_s, self.buffers, self.allocate = patience_s, [], pynq.allocate
        self.memory_ports = len(model.memory_ports) if model.segments else 0
        self.overlay = pynq.Overlay(str(path))
        self.ways_in = [self.way(border, "sendchannel")
                        for border in model.to_device]
        self.ways_out = [self.way(border, "recvchannel")
                         for border in model.from_device]
        if model.segments:
            self.load(model)

    @staticmethod
    def find(package):
        """Where the file is on the machine that built it, or next to this one."""
        for place in ("results/vivado/node0/vivado/out",
                      "nodes/node0/vivado/out", "host", "."):
            if (package / place / "rhizome.bit").is_file():
                return package / place / "rhizome.bit"
        return package / "host/rhizome.bit"

    def block(self, name):
        try:
            return getattr(self.overlay, name)
        except AttributeError:
            raise DeviceError(f"the overlay has no '{name}': it was built for "
                              "another package") from None

    def buffer(self, size):
        self.buffers.append(self.allocate((size,), np.uint8))
        return self.buffers[-1]

    def way(self, border, channel):
        """A port's name, its DMA channel, and room for two frames."""
        engine = self.block(f"dma_{border.port}")
        return border.port, getattr(engine, channel), [
            self.buffer(border.padded_bytes) for _ in range(2)]

    def load(self, model):
        """The contents of the memories that the design reads: a buffer for each
        of its ports, whose address goes into the kernel's registers."""
        kernel = self.block("rhz_kernel")
        for k, port in enumerate(model.memory_ports):
            parts = [s for s in model.segments
                     if (s["memory"], s["bank"]) == (port["memory"], port["bank"])]
            buffer = self.buffer(max(s["address"] + s["bytes"] for s in parts))
            for part in parts:
                content = np.fromfile(model.package / part["file"], np.uint8)
                if content.size != part["bytes"]:
                    raise DeviceError(f"'{part['file']}' has {content.size} bytes, "
                                      f"not {part['bytes']}")
                buffer[part["address"]:part["address"] + content.size] = content
            buffer.flush()
            if buffer.physical_address % 4096:
                raise DeviceError("a buffer is not at a multiple of 4 KiB")
            for half in (0, 1):
                kernel.write(0x10 + 12 * k + 4 * half,
                             buffer.physical_address >> 32 * half & 0xffffffff)
        kernel.write(0, 1)
        self.until(lambda: kernel.read(0) & 2, "the design does not start")

    def frame_errors(self):
        """Of each input, the frames since the start that came too short or too
        long or were answered with zeros; None where the kernel has no registers."""
        if not self.memory_ports:
            return None
        kernel = self.block("rhz_kernel")
        first = 0x10 + 12 * self.memory_ports
        return [kernel.read(first + 4 * k) for k in range(len(self.ways_in))]

    def until(self, holds, problem):
        end = time.monotonic() + self.patience_s
        while not holds():
            if time.monotonic() > end:
                raise DeviceError(f"{problem} in {self.patience_s:g} s")

    def run(self, frames):
        """A transfer a frame, for its end is that of the packet. While one frame
        is computed, the next one is packed and goes in."""
        number = -1
        for number, frame in enumerate(frames):
            for (_, _, buffers), data in zip(self.ways_in, frame):
                buffers[number % 2][:] = np.frombuffer(data, np.uint8)
            if number:
                self.wait(self.ways_in)
            else:
                self.transfer(self.ways_out, number)
            self.transfer(self.ways_in, number)
            if number:
                self.wait(self.ways_out)
                self.transfer(self.ways_out, number)
                yield self.answer(number - 1)
        if number >= 0:
            self.wait(self.ways_in + self.ways_out)
            yield self.answer(number)

    @staticmethod
    def transfer(ways, number):
        for _, channel, buffers in ways:
            channel.transfer(buffers[number % 2])

    def wait(self, ways):
        for name, channel, _ in ways:
            self.until(lambda way=channel: way.idle or way.error,
                       f"no whole frame has passed '{name}'")
            try:
                channel.wait()
            except RuntimeError as why:
                raise DeviceError(f"'{name}': {why}") from why

    def answer(self, number):
        return [bytes(buffers[number % 2]) for _, _, buffers in self.ways_out]

    def close(self):
        for buffer in self.buffers:
            buffer.freebuffer()
        self.buffers = []


class Simulation:
    """The Verilated design. Without a program `rhizome` is asked for one, which
    takes some seconds the first time."""

    def __init__(self, model, program=None):
        self.model = model
        self.program = os.path.abspath(program or self.build(model.package))
        if not os.access(self.program, os.X_OK):
            raise DeviceError(f"the simulator '{self.program}' cannot be run")
        self.past = []

    @staticmethod
    def build(package):
        rhizome = os.environ.get("RHIZOME_PROGRAM") or shutil.which("rhizome")
        if not rhizome:
            raise DeviceError("the driver 'simulation' needs 'rhizome' in PATH, or "
                              "a simulator that 'rhizome simulate --json' named")
        done = subprocess.run(
            [rhizome, "simulate", str(package), "-n", "1", "--json"],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True,
            check=False)
        try:
            answer = json.loads(done.stdout.strip().splitlines()[-1])
            return answer["simulator"]
        except (ValueError, IndexError, KeyError):
            raise DeviceError(f"'{rhizome} simulate' failed with status "
                              f"{done.returncode}") from None

    def run(self, frames):
        frames = list(frames)
        # What the design keeps from frame to frame comes about anew.
        earlier = len(self.past)
        everything = self.past + frames
        if not frames:
            return []
        with tempfile.TemporaryDirectory(prefix="rhizome-") as folder:
            answers = self.simulate(pathlib.Path(folder), everything)
        if self.model.keeps_state:
            self.past = everything
        return answers[earlier:]

    def simulate(self, folder, frames):
        count, model = str(len(frames)), self.model
        report = folder / "report.txt"
        words = [self.program, "--frames", count, "--total", count,
                 "--stalls-in", "0", "--stalls-out", "0", "--seed", "1",
                 "--hang", str(model.hang_cycles), "--report", str(report)]
        for k, border in enumerate(model.to_device):
            path = folder / f"in{k}.bin"
            path.write_bytes(b"".join(frame[k] for frame in frames))
            words += ["--in", str(path), *self.beats(border)]
        for k, border in enumerate(model.from_device):
            words += ["--out", str(folder / f"out{k}.bin"), *self.beats(border)]
        words += ["+verilator+rand+reset+2", "+verilator+seed+1"]
        done = subprocess.run(words, cwd=model.package / "nodes/node0/rtl",
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, check=False)
        said = report.read_text().splitlines() if report.exists() else []
        problems = [line[6:] for line in said if line.startswith("error ")]
        if done.returncode or problems:
            raise DeviceError("the simulated design failed: " + (
                "; ".join(problems) or f"status {done.returncode}: "
                f"{done.stdout.strip()[-300:]}"))
        outputs = []
        for k, border in enumerate(model.from_device):
            data, size = (folder / f"out{k}.bin").read_bytes(), border.padded_bytes
            outputs.append([data[i * size:(i + 1) * size]
                            for i in range(len(frames))])
        return [list(answer) for answer in zip(*outputs)]

    @staticmethod
    def beats(border):
        return [str(border.padded_bytes // border.beat_bytes),
                str(border.beat_bytes)]

    def close(self):
        pass


class Model:
    """What plan.json says of the model's tensors and of the design's ports."""

    def __init__(self, package=PACKAGE):
        self.package = pathlib.Path(package).resolve()
        plan = json.loads((self.package / "plan.json").read_text())
        host = plan["host"]
        self.name, self.complete = plan["model"], host["complete"]
        self.inputs, self.outputs = host["inputs"], host["outputs"]
        self.to_device = [Border(b, self.inputs) for b in host["to_device"]]
        self.from_device = [Border(b, self.outputs) for b in host["from_device"]]
        self.states = host.get("states", [])
        tasks = plan.get("tasks", {})
        self.segments = plan["nodes"][0].get("segments", [])
        self.memory_ports = plan["nodes"][0]["ports"].get("memory", [])
        self.keeps_state = any(state["home"] == "fpga"
                               for state in tasks.get("states", []))
        regions = sum(t["place"] == "fpga" for t in tasks.get("list", []))
        if len(plan["nodes"]) != 1:
            raise DeviceError("the package is for several nodes; 'rhizome run' and "
                              "the client for C and C++ reach them")
        if regions > 1:
            raise DeviceError(f"the host computes between the {regions} regions of "
                              "this model; 'rhizome run' and rhz_run of the "
                              "client for C and C++ do that")
        predicted = plan["predicted"]
        cycles = max(predicted["interval_cycles"], predicted["latency_cycles"])
        self.hang_cycles = max(100000,
                               20 * (cycles + predicted.get("load_cycles", 0)))
        kept = {state["input"] for state in self.states}
        #: What the caller gives: what is kept from frame to frame is not.
        self.given = [k for k in range(len(self.inputs)) if k not in kept]


class Client:
    """Opens a device: Client("uart", PORT[, BAUD]), Client("pynq"[, BITSTREAM])
    or Client("simulation"[, PROGRAM])."""

    def __init__(self, driver, *where, package=PACKAGE, patience_s=5.0):
        self.model = Model(package)
        if driver == "uart":
            if not where:
                raise DeviceError("the driver 'uart' needs a serial line")
            self.device = Serial(self.model, *where, patience_s=patience_s)
        elif driver == "pynq":
            self.device = Overlay(self.model, *where, patience_s=patience_s)
        elif driver == "simulation":
            self.device = Simulation(self.model, *where)
        else:
            raise DeviceError(f"there is no driver '{driver}' here; there are uart, "
                              "pynq and simulation, and more in rhizome_client.h")
        self.states = []
        self.initialize()

    def initialize(self):
        """Gives what the host keeps from frame to frame its first values."""
        self.states = []
        for state in self.model.states:
            tensor = self.model.inputs[state["input"]]
            value = np.zeros(tensor["shape"], tensor["type"])
            if state["initial"]:
                value.reshape(-1)[:] = state["initial"]
            self.states.append(value)

    def infer(self, *inputs):
        """The results of one frame, of the model's shapes, or of several, one
        after the other along the first axis. One array if the model has one
        output, otherwise a tuple."""
        model = self.model
        if len(inputs) != len(model.given):
            names = ", ".join(model.inputs[k]["name"] for k in model.given)
            raise TypeError(f"the model takes {len(model.given)} arrays: {names}")
        batches = [frames_of(model.inputs[k], array)
                   for k, array in zip(model.given, inputs)]
        counts = {len(batch) for batch, _ in batches}
        if len(counts) > 1:
            raise ValueError(f"the arrays hold different numbers of frames: "
                             f"{sorted(counts)}")
        values = dict(zip(model.given, (batch for batch, _ in batches)))
        count = counts.pop() if counts else 1
        results = [np.zeros((count, *tensor["shape"]), tensor["type"])
                   for tensor in model.outputs]
        if model.states:
            for f in range(count):
                self.compute(values, results, range(f, f + 1))
        else:
            self.compute(values, results, range(count))
        shaped = [result_of(tensor, result, not any(many for _, many in batches))
                  for tensor, result in zip(model.outputs, results)]
        return shaped[0] if len(shaped) == 1 else tuple(shaped)

    def compute(self, values, results, frames):
        kept = {state["input"]: value
                for state, value in zip(self.model.states, self.states)}

        def pack(f):
            return [border.pack(kept[border.index] if border.index in kept
                                else values[border.index][f])
                    for border in self.model.to_device]

        answers = self.device.run(pack(f) for f in frames)
        for f, answer in zip(frames, answers):
            for border, frame in zip(self.model.from_device, answer):
                border.unpack(frame, results[border.index][f])
        self.states = [results[state["output"]][frames[-1]].copy()
                       for state in self.model.states]

    def frame_errors(self):
        """How many frames of each input the design found too short or too long,
        which is the case after a transfer that was broken off, or answered with
        zeros, since an engine's memory held a wrong program; None where the device
        has no way to tell."""
        of = getattr(self.device, "frame_errors", None)
        return of() if of else None

    def serve(self, source, sink):
        """Frames in the form of the device's ports, one after the other without
        padding, from one file to another: what `rhizome run` asks for."""
        ports = self.model.to_device
        size, waiting = sum(border.frame_bytes for border in ports), b""

        def frames(data):
            for at in range(0, len(data), size):
                frame = []
                for border in ports:
                    part = data[at:at + border.frame_bytes]
                    frame.append(part.ljust(border.padded_bytes, b"\0"))
                    at += border.frame_bytes
                yield frame

        sink.write(READY)
        sink.flush()
        while part := os.read(source.fileno(), 1 << 20):
            waiting += part
            whole = len(waiting) // size * size
            for answer in self.device.run(frames(waiting[:whole])):
                for border, frame in zip(self.model.from_device, answer):
                    sink.write(frame[:border.frame_bytes])
                sink.flush()
            waiting = waiting[whole:]

    def close(self):
        self.device.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def frames_of(tensor, array):
    """The array as (frames, *shape), and whether it holds several frames."""
    array, shape = np.asarray(array), tuple(tensor["shape"])
    if tensor["type"] == "int64" and array.dtype.kind not in "iub":
        raise TypeError(f"input '{tensor['name']}' takes integers, not "
                        f"{array.dtype}")
    if array.dtype.kind not in "iubf":
        raise TypeError(f"input '{tensor['name']}' takes numbers, not "
                        f"{array.dtype}")
    is_batch = array.ndim > 0 and array.shape[1:] == shape
    if shape[:1] == (1,) and array.shape[1:] == shape[1:]:
        is_batch = array.shape != shape
    elif not is_batch and array.shape != shape:
        sizes = ", ".join(map(str, shape[1:] if shape[:1] == (1,) else shape))
        raise ValueError(f"input '{tensor['name']}' has the shape {shape}, or "
                         f"(frames, {sizes}), not {array.shape}")
    return array.astype(tensor["type"]).reshape(-1, *shape), is_batch


def result_of(tensor, result, is_single):
    """Frames along the first axis, in place of a batch of one."""
    if is_single:
        return result[0]
    shape = tensor["shape"]
    return result.reshape(-1, *shape[1:]) if shape[:1] == [1] else result


def main():
    parser = argparse.ArgumentParser(
        description="Computes frames on the device of this package.")
    parser.add_argument("driver", choices=["uart", "pynq", "simulation"])
    parser.add_argument("where", nargs="*", help="the serial line and its baud "
                        "rate; or the overlay's bitstream; or the simulator's "
                        "program")
    parser.add_argument("--input", action="append", default=[],
                        metavar="X.npy", help="once for each input")
    parser.add_argument("--output", action="append", default=[],
                        metavar="Y.npy", help="once for each output; otherwise "
                        "the largest element's index is printed for each frame")
    parser.add_argument("--labels", metavar="L.npy", help="counts the frames "
                        "whose largest element has this index")
    parser.add_argument("-n", "--frames", type=int, help="only the first ones")
    parser.add_argument("--patience-s", type=float, default=5.0,
                        help="how long to wait for a frame")
    parser.add_argument("--package", default=PACKAGE, metavar="DIR",
                        help="another package than this file's")
    parser.add_argument("--serve", action="store_true", help="frames of the "
                        "device's ports from standard input to standard output, "
                        "for 'rhizome run'")
    options = parser.parse_args()
    if not options.serve and not options.input:
        parser.error("--input is missing")
    try:
        if options.serve:
            with Client(options.driver, *options.where,
                        package=options.package,
                        patience_s=options.patience_s) as device:
                device.serve(sys.stdin.buffer, sys.stdout.buffer)
            return
        inputs = [np.load(path)[:options.frames] for path in options.input]
        with Client(options.driver, *options.where, package=options.package,
                    patience_s=options.patience_s) as device:
            outputs = device.model.outputs
            if options.output and len(options.output) != len(outputs):
                raise ValueError(f"the model has {len(outputs)} outputs, "
                                 f"--output names {len(options.output)} files")
            start = time.monotonic()
            results = device.infer(*inputs)
            seconds = time.monotonic() - start
    except (DeviceError, ValueError, TypeError, OSError) as why:
        sys.exit(f"error: {why}")
    results = results if isinstance(results, tuple) else (results,)
    for path, result in zip(options.output, results):
        np.save(path, result)
    size = int(np.prod(outputs[0]["shape"]))
    classes = results[0].reshape(-1, size).argmax(1)
    if options.labels:
        labels = np.load(options.labels).reshape(-1)[:len(classes)]
        print(f"{(classes == labels).sum()} of {len(classes)} right, "
              f"{len(classes) / seconds:.1f} frames/s")
    elif not options.output:
        print(*classes, sep="\n")


if __name__ == "__main__":
    main()
