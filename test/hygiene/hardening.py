#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs are built so that a fault in them is harder to use: at addresses that
change, without a stack that can be run, with tables of functions that are
read-only once they have started. Usage: hardening.py PROGRAM…"""
import pathlib
import struct
import sys

from common import report

DYNAMIC, STACK, RELRO = 2, 0x6474e551, 0x6474e552
DT_FLAGS, DT_FLAGS_1 = 30, 0x6ffffffb
DF_BIND_NOW, DF_1_NOW, DF_1_PIE = 8, 1, 0x08000000


class Elf:
    """The headers of a 64-bit little-endian ELF file."""

    def __init__(self, data):
        if data[:6] != b"\x7fELF\x02\x01":
            raise ValueError("no 64-bit ELF file")
        table, = struct.unpack_from("<Q", data, 32)
        size, count = struct.unpack_from("<HH", data, 54)
        self.segments = {}
        for i in range(count):
            kind, flags, offset, _, _, length = struct.unpack_from(
                "<IIQQQQ", data, table + i * size)
            self.segments[kind] = (flags, offset, length)
        self.dynamic = {}
        _, offset, length = self.segments.get(DYNAMIC, (0, 0, 0))
        for at in range(offset, offset + length, 16):
            tag, value = struct.unpack_from("<QQ", data, at)
            self.dynamic[tag] = value


def faults(path):
    """What is missing in a program."""
    elf = Elf(path.read_bytes())
    flags, flags_1 = (elf.dynamic.get(t, 0) for t in (DT_FLAGS, DT_FLAGS_1))
    if not flags_1 & DF_1_PIE:
        yield "has a fixed address (no PIE)"
    if RELRO not in elf.segments:
        yield "has no read-only relocations (RELRO)"
    if not (flags & DF_BIND_NOW or flags_1 & DF_1_NOW):
        yield "binds functions late, so their table stays writable (no -z now)"
    if STACK not in elf.segments or elf.segments[STACK][0] & 1:
        yield "has a stack that can be run"


def main():
    return report("hardening", [
        f"{path.name} {fault}" for path in map(pathlib.Path, sys.argv[1:])
        for fault in faults(path)])


if __name__ == "__main__":
    sys.exit(main())
