#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs are built so that a fault in them is harder to use: at addresses that
change, without a stack that can be run, with tables of functions that are
read-only once they have started, with a guard behind arrays on the stack and
copies that know where they end. Usage: hardening.py PROGRAM…"""
import pathlib
import re
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
    data = path.read_bytes()
    elf = Elf(data)
    flags, flags_1 = (elf.dynamic.get(t, 0) for t in (DT_FLAGS, DT_FLAGS_1))
    if not flags_1 & DF_1_PIE:
        yield "has a fixed address (no PIE)"
    if RELRO not in elf.segments:
        yield "has no read-only relocations (RELRO)"
    if not (flags & DF_BIND_NOW or flags_1 & DF_1_NOW):
        yield "binds functions late, so their table stays writable (no -z now)"
    if STACK not in elf.segments or elf.segments[STACK][0] & 1:
        yield "has a stack that can be run"
    # Of functions that are linked dynamically the names stand in the file.
    if b"\0__stack_chk_fail\0" not in data:
        yield "has no guarded stack (-fstack-protector-strong)"


def main():
    programs = [pathlib.Path(text) for text in sys.argv[1:]]
    problems = [f"{path.name} {fault}" for path in programs
                for fault in faults(path)]
    # A program may have nothing that can be fortified; not all of them.
    if not any(re.search(rb"\0__(?!stack_)\w+_chk\0", path.read_bytes())
               for path in programs):
        problems.append("no program has fortified functions (_FORTIFY_SOURCE)")
    return report("hardening", problems)


if __name__ == "__main__":
    sys.exit(main())
