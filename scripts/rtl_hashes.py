#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles a fixed set of designs (networks and kernels, goals, devices,
clusters) and prints a hash of the RTL of each: every file below nodes/*/rtl,
names and contents. test/e2e/rtl_hashes.txt records them, so that a change of the
compiler's structure can show that it changed no hardware.

    scripts/rtl_hashes.py              the hashes, a line a design
    scripts/rtl_hashes.py --check      compared with the recorded ones
    scripts/rtl_hashes.py --update     records them

Designs whose model is not part of this repository and is not found in
../shared (or $RHIZOME_SHARED) are listed and keep their recorded hash."""
import argparse
import concurrent.futures
import hashlib
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "test/e2e"))
from networks import NETWORKS  # noqa: E402

FIXED, HALF, FLOAT = (("--numbers", text) for text in
                      ("fixed<8,24>", "half", "float<6,9>"))
DATAFLOW = ("--stages", "3", "--resident", "S")
# Formats, dataflow stages, lanes, words, copies and goals, systems.
KERNELS = [
    ("helmholtz", "xcu280", FIXED),
    ("helmholtz", "xcu280", (*FIXED, *DATAFLOW)),
    ("helmholtz", "xcu280", (*HALF, *DATAFLOW)),
    ("helmholtz", "xcu280", FLOAT),
    ("helmholtz", "xcu280", (*FIXED, "--saturate", "--fused")),
    ("helmholtz", "xcu280", (*FIXED, "--lanes", "4")),
    ("helmholtz", "xcu280", (*FIXED, "--words", "11")),
    ("helmholtz", "xcu280", (*FIXED, "--copies", "7=11x1x1x1")),
    ("helmholtz", "xcu280", (*FIXED, *DATAFLOW, "--system")),
    ("helmholtz", "xcu280", (*HALF, *DATAFLOW, "--system", "--lanes", "2",
                             "--units", "3")),
    ("helmholtz", "xczu3eg", (*FIXED, "--goal", "max-throughput")),
    ("helmholtz", "xc7a100t", FIXED),
    ("interpolation", "xcu280", FIXED),
    ("interpolation", "xcu280", (*HALF, "--goal", "max-throughput")),
    ("interpolation", "xczu7ev", (*FIXED, "--stages", "2", "--system",
                                  "--units", "2")),
    ("gradient", "xczu3eg", (*FLOAT, "--stages", "2")),
    ("gradient", "xczu7ev", (*FIXED, "--system", "--words", "2")),
    ("gradient", "lfe5u-85f", FIXED),
    ("heat", "xczu3eg", FIXED),
    ("heat", "xcu280", (*FIXED, "--stages", "4", "--lanes", "2", "--system")),
    ("heat", "10ax115", (*FIXED, "--goal", "max-throughput")),
    ("heat", "xcu280", (*FIXED, "--goal", "latency=10us")),
    ("convolution", "xczu3eg", FIXED),
    ("convolution", "xczu3eg", (*FIXED, "--goal", "throughput=100000/s")),
    ("pooling", "xc7z020", FIXED),
    ("pooling", "xcu280", (*FIXED, "--stages", "2", "--words", "4")),
]

RECORDED = ROOT / "test/e2e/rtl_hashes.txt"
TINY = ROOT / "examples/tiny-digits/tiny_digits_qdq_int8.onnx"


def designs():
    """{name: (model, options)}: each line begins with the name."""
    table = {}

    def add(name, model, *options):
        table[name] = (pathlib.Path(model), options)

    # Every network at its goals on the default device.
    for network in NETWORKS.values():
        for goal in network.goals:
            add(f"{network.name} {goal}", network.path, *network.options,
                "--goal", goal, "--accept-nearest")
    # The same network on devices of every family, of many and of few DSPs.
    digits = NETWORKS["digits_qdq_int8"].path
    for device in ("xczu3eg", "xc7z020", "lfe5u-85f", "xcu55c", "10ax115",
                   "xcvc1902"):
        add(f"digits_qdq_int8 {device}", digits, "--device", device,
            "--goal", "throughput=20000/s", "--accept-nearest")
    # Weights that are read for every frame, alone and next to loaded ones.
    for name, *homes in (("streamed", "streamed"),
                         ("two homes", "resident", "dense1=streamed")):
        add(f"digits_qdq_int8 xczu3eg {name}", digits, "--device", "xczu3eg",
            "--goal", "throughput=4000/s",
            *(option for home in homes for option in ("--weights", home)))
    for board in ("ice40-hx8k-breakout", "icebreaker"):
        add(f"tiny_digits {board}", TINY, "--board", board,
            "--goal", "throughput=1000/s", "--accept-nearest")
    # What is kept from frame to frame.
    add("gru_qdq_int8 max-throughput", ROOT / "examples/gru/gru_qdq_int8.onnx",
        "--state", "h=h_next", "--device", "xc7a100t")
    # Cuts, replicas and channel splits; wires and networks; different nodes.
    for network, cluster, goal in (
            ("digits_qdq_int8", "ecp5-12fx4", "throughput=8000/s"),
            ("digits_qdq_int8", "ku060x2", "max-throughput"),
            ("digits_qdq_int8", "mixed9", "throughput=100000/s"),
            ("digits_qdq_int8", "up5kx16", "min-nodes"),
            ("digits_qonnx_w4a4", "ecp5-12fx4", "min-latency"),
            ("lenet5", "ku060x9", "throughput=200000/s"),
            ("PTTCNN_int8", "ku060x2", "max-throughput"),
            ("TFC_2W2A", "ku060x20", "max-throughput")):
        add(f"{network} {cluster} {goal}", NETWORKS[network].path,
            *NETWORKS[network].options, "--cluster", cluster,
            "--goal", goal, "--accept-nearest")
    for kernel, device, options in KERNELS:
        add(" ".join((kernel, device, *options)),
            ROOT / f"examples/kernels/{kernel}.cfd", "--device", device,
            *options)
    return table


def hash_of(rhizome, model, options, work):
    """The hash of a design's RTL, or the compiler's message."""
    package = pathlib.Path(work) / "package.rhz"
    result = subprocess.run(
        [rhizome, "compile", str(model), *options, "-o", str(package)],
        stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if result.returncode != 0:
        # A refusal is also a result; its wording is not.
        return f"refused (exit {result.returncode})"
    digest = hashlib.sha256()
    for path in sorted(package.glob("nodes/*/rtl/**/*")):
        if path.is_file():
            digest.update(f"{path.relative_to(package)}\n".encode())
            digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()[:32]


def measure(rhizome, jobs):
    """{name: hash} of the designs whose models are available, and the names of
    the others."""
    hashes, missing = {}, []

    def one(item):
        name, (model, options) = item
        if not model.exists():
            return name, None
        with tempfile.TemporaryDirectory() as work:
            return name, hash_of(rhizome, model, options, work)

    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for name, value in pool.map(one, designs().items()):
            if value is None:
                missing.append(name)
            else:
                hashes[name] = value
    return hashes, missing


def read_recorded():
    if not RECORDED.exists():
        return {}
    lines = RECORDED.read_text().splitlines()
    return {name: value for value, name in
            (line.split("  ", 1) for line in lines if line[:1] not in ("", "#"))}


def write_recorded(hashes):
    lines = ["# Hashes of emitted RTL: scripts/rtl_hashes.py --update"]
    lines += [f"{hashes[name]:<32}  {name}" for name in designs() if name in hashes]
    RECORDED.write_text("\n".join(lines) + "\n")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rhizome", default=str(ROOT / "build/bin/rhizome"))
    parser.add_argument("--jobs", type=int, default=2)
    mode = parser.add_mutually_exclusive_group()
    mode.add_argument("--check", action="store_true")
    mode.add_argument("--update", action="store_true")
    options = parser.parse_args()

    hashes, missing = measure(options.rhizome, options.jobs)
    for name in missing:
        print(f"not there: the model of '{name}'", file=sys.stderr)
    recorded = read_recorded()
    if options.update:
        write_recorded({**recorded, **hashes})
    elif not options.check:
        for name, value in hashes.items():
            print(f"{value:<32}  {name}")
    if not options.check:
        return 0
    changed = [name for name, value in hashes.items()
               if recorded.get(name, "").strip() != value]
    for name in changed:
        print(f"changed: {name}: {recorded.get(name, 'not recorded').strip()} -> "
              f"{hashes[name]}")
    print(f"{len(hashes)} designs compared, {len(changed)} changed, "
          f"{len(missing)} models not there")
    return 1 if changed or not hashes else 0


if __name__ == "__main__":
    sys.exit(main())
