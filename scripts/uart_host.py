#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs frames on a board that holds a design of `rhizome compile --board`:
packs integers into the bytes of a frame, sends them over the serial line,
reads the answer's bytes and unpacks them. One frame is on its way at a time.

    scripts/uart_host.py net.rhz --port /dev/ttyUSB1 --input codes.npy \\
        --output answers.npy

The file holds what enters the FPGA's task of the model, after the host's first:
[frame, height, width, channels] of the integers in plan.json's
`inputs`. A break on the line resets the design before the first frame.
"""
import argparse
import fcntl
import json
import os
import pathlib
import sys
import termios
import time

try:
    import numpy as np
except ImportError:
    raise SystemExit("needs numpy: .venv/bin/python has it")

BREAK_S = 0.01
TIMEOUT_S = 10.0


def pack(values, port):
    """Integers to a frame's bytes: bit-packed, little-endian, whole beats."""
    width, low = port["element"]["width"], port["element"]["lo"]
    bits, at = 0, 0
    for value in np.asarray(values).reshape(-1):
        value = int(value)
        if not low <= value <= port["element"]["hi"]:
            raise SystemExit(f"{value} is outside {low} to "
                             f"{port['element']['hi']}, the range of "
                             f"'{port['name']}'")
        bits |= (value & ((1 << width) - 1)) << at
        at += width
    beat = port["data_width"]
    return bits.to_bytes((at + beat - 1) // beat * beat // 8, "little")


def unpack(data, port):
    """A frame's bytes to integers in the port's shape."""
    width, bits = port["element"]["width"], int.from_bytes(data, "little")
    count = int(np.prod(port["shape"]))
    values = [bits >> i * width & (1 << width) - 1 for i in range(count)]
    if port["element"]["signed"]:
        values = [v - (1 << width) if v >> width - 1 else v for v in values]
    return np.array(values, np.int64).reshape(port["shape"])


def frame_bytes(port):
    bits = int(np.prod(port["shape"])) * port["element"]["width"]
    beat = port["data_width"]
    return (bits + beat - 1) // beat * beat // 8


def border(package):
    """The ports of the package's only node: what goes in, what comes back."""
    path = package / "plan.json"
    try:
        nodes = json.loads(path.read_text())["nodes"]
    except OSError as error:
        raise SystemExit(f"'{package}' is not a package: "
                         f"{path}: {error.strerror}") from None
    except (ValueError, KeyError, TypeError):
        raise SystemExit(f"'{path}' is not a plan") from None
    ports = [*nodes[0]["inputs"], *nodes[0]["outputs"]]
    if len(nodes) != 1 or len(ports) != 2:
        raise SystemExit(
            f"'{package}' has {len(nodes)} nodes and {len(ports)} tensors at the "
            "first one's border; a serial line carries one in and one out")
    return ports


def load_frames(path, port):
    """The frames of a file: whole numbers of the port's shape."""
    try:
        frames = np.load(path)
    except (OSError, ValueError) as error:
        raise SystemExit(f"cannot read '{path}': {error}") from None
    shape = list(port["shape"])
    wanted = shape[1:] if shape[:1] == [1] else shape
    if list(frames.shape[1:]) not in (wanted, shape):
        raise SystemExit(
            f"'{path}' holds {list(frames.shape)}, but '{port['name']}' takes "
            f"{['frames', *wanted]}")
    if not np.issubdtype(frames.dtype, np.integer):
        raise SystemExit(
            f"'{path}' holds {frames.dtype}, but '{port['name']}' takes the "
            "integers that enter the network")
    return frames


def open_line(path, baud):
    """A serial line without any interpretation of bytes."""
    speed = getattr(termios, f"B{baud}", None)
    if speed is None:
        raise SystemExit(f"this system has no line speed of {baud}")
    try:
        line = os.open(path, os.O_RDWR | os.O_NOCTTY)
        attributes = termios.tcgetattr(line)
    except OSError as error:
        raise SystemExit(f"cannot open '{path}': {error.strerror}") from None
    except termios.error as error:
        raise SystemExit(f"'{path}' is not a serial line: "
                         f"{error.args[1]}") from None
    attributes[0] = attributes[1] = attributes[3] = 0
    attributes[2] = termios.CS8 | termios.CREAD | termios.CLOCAL
    attributes[4] = attributes[5] = speed
    attributes[6][termios.VMIN], attributes[6][termios.VTIME] = 0, 1
    termios.tcsetattr(line, termios.TCSANOW, attributes)
    return line


def reset(line):
    """A break, which resets the design."""
    tiocsbrk, tioccbrk = 0x5427, 0x5428
    try:
        fcntl.ioctl(line, tiocsbrk)
        time.sleep(BREAK_S)
        fcntl.ioctl(line, tioccbrk)
    except OSError:  # a pseudo terminal has no line
        pass
    time.sleep(BREAK_S)
    termios.tcflush(line, termios.TCIOFLUSH)


def exchange(line, data, count):
    """Sends a frame and reads the answer's `count` bytes."""
    while data:
        data = data[os.write(line, data):]
    answer, end = b"", time.monotonic() + TIMEOUT_S
    while len(answer) < count:
        answer += os.read(line, count - len(answer))
        if time.monotonic() > end:
            raise SystemExit(f"{len(answer)} of {count} bytes came back in "
                             f"{TIMEOUT_S:.0f} s")
    return answer


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("package", type=pathlib.Path)
    parser.add_argument("--port", required=True, help="e.g. /dev/ttyUSB1")
    parser.add_argument("--input", required=True, help=".npy of integers")
    parser.add_argument("--output", help=".npy to write; printed otherwise")
    parser.add_argument("--baud", type=int, default=1000000,
                        help="as in the board's file")
    options = parser.parse_args()
    source, sink = border(options.package)
    frames = load_frames(options.input, source)
    line = open_line(options.port, options.baud)
    reset(line)
    start = time.monotonic()
    answers = [unpack(exchange(line, pack(frame, source), frame_bytes(sink)),
                      sink) for frame in frames]
    seconds = time.monotonic() - start
    os.close(line)
    if options.output:
        np.save(options.output, np.stack(answers))
    else:
        for answer in answers:
            print(*answer.reshape(-1))
    print(f"{len(frames)} frames in {seconds:.3f} s", file=sys.stderr)


if __name__ == "__main__":
    main()
