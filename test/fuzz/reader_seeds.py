#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes small inputs for the fuzzers of everything but models to begin with:
kernels and YAML files of the tree, plans of the kept corpus with parts left
out, and made-up data files and datagrams. usage: reader_seeds.py TARGET FOLDER"""
import gzip
import io
import json
import pathlib
import random
import re
import struct
import sys
import zipfile
import zlib

ROOT = pathlib.Path(__file__).resolve().parents[2]


def kernel():
    for path in sorted((ROOT / "examples/kernels").rglob("*")):
        if path.is_file() and path.stat().st_size < 20000:
            yield path.name, path.read_bytes()
    for path in sorted((ROOT / "docs").rglob("*.md")):
        blocks = re.findall(r"```cfd\w*\n(.*?)```", path.read_text(), re.S)
        for k, block in enumerate(blocks):
            yield f"{path.stem}-{k}", block.encode()
    yield "empty", b""
    yield "pragma", (b"#pragma rhizome kernel k\nvar input a : [3 4]\n"
                     b"var output b : [4 3]\nb = a\n#pragma rhizome end\n")


def yaml():
    for path in sorted((ROOT / "data").glob("*/*.yaml")):
        if path.parent.name != "models":
            yield f"{path.parent.name}-{path.stem}", path.read_bytes()
    yield "steering", (b"nodes:\n  conv1:\n    generator: stream\n"
                       b"    option: stream/matvec?pe=4\n    place: 1\n"
                       b"    cut: before\nsplits:\n  conv2: 3\n")
    yield "manifest", (b"schema: 1\nhost:\n  place: \"\"\nnodes:\n"
                       b"  - name: node0\n    address: 1\n    device: x\n"
                       b"    files: nodes/node0\n    load: \"\"\n"
                       b"    place: \"127.0.0.1:2719\"\n")
    yield "alias", b"a: &a [x, x]\nb: &b [*a, *a]\nnodes: [*b, *b]\n"


def device():
    for path in sorted((ROOT / "data/devices").glob("*.yaml")):
        yield path.stem, path.read_bytes()


def config():
    yield "lines", (b"model: net.onnx\ndevice: xc7z020\ngoal: min-resources\n"
                    b"clock_mhz: 100\nbits: [8, conv1=4]\n"
                    b"accept_nearest: true\n")
    yield "flow", b"{model: a, shape: {x: [1, 3]}, weights: rom, output: b}\n"
    yield "former", b"clock-mhz: 1e3\naccept-nearest: false\nmodel: \"\\0\"\n"
    yield "twice", b"goal: a\ngoal: b\n"
    yield "alias", b"bits: &a [1, 2]\nweights: *a\nmodel: [x]\n"
    yield "nothing", b"model:\n"


def plan():
    """Each plan of the kept corpus, and the same without one member each."""
    for path in sorted((ROOT / "test/fuzz/corpus-plan").glob("seed-*")):
        text = path.read_text()
        yield path.name, text.encode()
        if not text.startswith("{"):
            continue
        whole = json.loads(text)
        for key in whole:
            part = {k: v for k, v in whole.items() if k != key}
            yield f"{path.name}-{key}", json.dumps(part).encode()


def npy(descr, shape, payload, order="False", version=1):
    header = (f"{{'descr': '{descr}', 'fortran_order': {order}, "
              f"'shape': {shape}, }}\n").encode()
    length = struct.pack("<H" if version == 1 else "<I", len(header))
    return b"\x93NUMPY" + bytes([version, 0]) + length + header + payload


def png(width, height, depth, colour, rows, *more):
    def chunk(name, content):
        return (struct.pack(">I", len(content)) + name + content
                + struct.pack(">I", zlib.crc32(name + content)))
    head = struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, 0)
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head)
            + b"".join(chunk(*m) for m in more)
            + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


def jpeg(components):
    """The smallest baseline image that decodes: one block, all zero."""
    def segment(marker, content):
        return bytes([0xff, marker]) + struct.pack(">H", len(content) + 2) + content
    frame = struct.pack(">BHHB", 8, 8, 8, components) + b"".join(
        bytes([c + 1, 0x11, 0]) for c in range(components))
    scan = bytes([components]) + b"".join(
        bytes([c + 1, 0]) for c in range(components)) + bytes([0, 63, 0])
    codes = bytes([1] + [0] * 15 + [0])
    return (b"\xff\xd8" + segment(0xdb, bytes([0]) + bytes([1] * 64))
            + segment(0xc0, frame) + segment(0xc4, bytes([0]) + codes)
            + segment(0xc4, bytes([0x10]) + codes) + segment(0xda, scan)
            + bytes([0b00000011 if components > 1 else 0b00111111]) + b"\xff\xd9")


def data():
    arrays = {}
    for descr, size in (("|b1", 1), ("|i1", 1), ("|u1", 1), ("<i2", 2),
                        (">u2", 2), ("<i4", 4), (">u4", 4), ("<i8", 8),
                        (">u8", 8), ("<f2", 2), ("<f4", 4), (">f8", 8)):
        name = "npy-" + descr[1:] + ("-big" if descr[0] == ">" else "")
        arrays[name] = npy(descr, "(2, 3)", bytes(range(1, 1 + 6 * size)))
    arrays["npy-fortran"] = npy("<i4", "(2, 3)", bytes(24), "True", 2)
    arrays["npy-scalar"] = npy("<f4", "()", bytes(4), version=3)
    yield from arrays.items()
    for method, name in ((zipfile.ZIP_STORED, "stored"),
                         (zipfile.ZIP_DEFLATED, "deflated")):
        file = io.BytesIO()
        with zipfile.ZipFile(file, "w", method) as archive:
            for entry in ("npy-f4", "npy-i8"):
                archive.writestr(zipfile.ZipInfo(entry + ".npy"), arrays[entry])
        yield "npz-" + name, file.getvalue()
    for kind, size in ((8, 1), (9, 1), (11, 2), (12, 4), (13, 4), (14, 8)):
        yield f"idx-{kind}", (bytes([0, 0, kind, 2]) + struct.pack(">II", 2, 3)
                              + bytes(range(1, 1 + 6 * size)))
    for depth, colour, channels in ((8, 0, 1), (8, 2, 3), (8, 4, 2), (8, 6, 4),
                                    (1, 0, 1), (16, 2, 6)):
        row = bytes([0]) + bytes(range(1, 1 + max(1, 4 * channels * depth // 8)))
        yield f"png-{depth}-{colour}", png(4, 2, depth, colour, row * 2)
    yield "png-palette", png(4, 2, 8, 3, bytes([0, 0, 1, 1, 0] * 2),
                             (b"PLTE", bytes(range(6))), (b"tRNS", b"\x80"))
    yield "jpeg-1", jpeg(1)
    yield "jpeg-3", jpeg(3)
    # A TensorProto: dims 2 and 3, FLOAT or INT64, raw data.
    yield "pb-float", b"\x08\x02\x08\x03\x10\x01\x4a\x18" + bytes(24)
    yield "pb-int64", b"\x08\x02\x08\x01\x10\x07\x4a\x10" + bytes(16)
    yield "gz", gzip.compress(arrays["npy-f4"], mtime=0)


def scripts(most):
    """Lists of things to do, drawn; see the targets."""
    draw = random.Random(5)
    for k in range(24):
        yield f"drawn-{k}", bytes(
            draw.choice((0, 1, 2, 3, 4, 7, 8, 16, 31, 64, 255, draw.randrange(256)))
            for _ in range(draw.randrange(8, most)))


def endpoint():
    # Data of every channel in order, frames taken and given, time passing.
    data_of = bytes
    steady = b""
    for number in range(6):
        for channel in (1, 3):
            steady += data_of([0, 0, 1 | 2 | 4, channel, number, 0, 0]) + b"\x03"
        steady += bytes([3, 9, 9, 2, 20, 16])
    yield "steady", steady
    yield "opened", bytes([0, 3, 0, 5, 0, 1, 0, 9, 0, 0, 0, 0, 0]) + steady
    yield from scripts(300)


def node():
    yield "asked", bytes([4, 3, 9, 0, 1, 0, 0, 0, 0, 0, 4, 4, 9, 0, 7, 0, 0, 0,
                          0, 0])
    yield from scripts(200)


def main():
    target, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in globals()[target]():
        (folder / name).write_bytes(content)


main()
