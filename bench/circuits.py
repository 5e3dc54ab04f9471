#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Circuits of constant matrices next to da4ml's: a dense network 16-64-32-32-5
of random 6-bit weights, all in LUTs, one frame a cycle on xcvu9p-slr at 200
MHz. Both get the same weights; Yosys counts LUTs, inverters and registers with the
options of data/models/ultrascale+.yaml, ours without the AXI4 border. Our
integers must equal da4ml's on random frames. da4ml is the Python
package of that name, in an environment of its own:
    python3 -m venv E && E/bin/pip install da4ml
    bench/circuits.py --da4ml E/bin/python [--rhizome build/bin/rhizome]
Prints the table and writes bench/circuits.json and bench/circuits.txt.
"""
import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
VENV = ROOT / ".venv/bin/python"
SIZES = (16, 64, 32, 32, 5)
# Bits of weights and activations; sums are divided by powers of two.
BITS, SHIFTS, LAST = 6, (6, 7, 6), 2
DEVICE, CLOCK = "xcvu9p-slr", 200
SYNTH = "synth_xilinx -top {top} -family xcup -flatten -noiopad -noclkbuf " \
        "-nowidelut"
CUT = 5  # adders of a stage of da4ml's: a nanosecond each
DA4ML = """
import sys, time, numpy as np
from da4ml.trace import FixedVariableArrayInput, comb_trace
from da4ml.codegen import RTLModel
data = np.load(sys.argv[1]); bits, cut = int(sys.argv[3]), float(sys.argv[4])
start = time.time()
x = FixedVariableArrayInput(data['w0'].shape[0]).quantize(
    1, bits - 1, 0)
given, h, n = x, x, int(data['n'])
last = int(data['last'])
for i in range(n):
    h = h @ data[f'w{i}'] + data[f'b{i}']
    if i < n - 1:
        s = int(data['s'][i])
        h = (h * 2.0 ** -s).relu().quantize(0, bits, 0, 'SAT', 'TRN')
h = (h * 2.0 ** -last).quantize(1, 15, 0, 'SAT', 'TRN')
logic = comb_trace(given, h)
model = RTLModel(logic, 'net', sys.argv[2], latency_cutoff=cut,
                 print_latency=False)
model.write()
frames = data['x']
print('seconds', time.time() - start)
print('depth', len(model._pipe.solutions))
np.save(sys.argv[2] + '/y.npy', np.array([logic(f.astype(float)) for f in
                                          frames], float))
"""


def network(np, seed=1):
    """Weights, biases and frames, all integers."""
    draw = np.random.RandomState(seed)
    data = {"n": len(SIZES) - 1, "s": np.array(SHIFTS), "last": LAST}
    low, high = -(1 << (BITS - 1)), 1 << (BITS - 1)
    for i, (inputs, outputs) in enumerate(zip(SIZES, SIZES[1:])):
        data[f"w{i}"] = draw.randint(low, high, (inputs, outputs)).astype(float)
        data[f"b{i}"] = draw.randint(low, high, outputs).astype(float)
    data["x"] = draw.randint(low, high, (32, SIZES[0])).astype(float)
    return data


def onnx_model(np, data):
    """The network in QONNX, and the scale of its outputs. A Quant's results are
    its integers times its scale, so scales multiply from layer to layer."""
    import onnx
    from onnx import TensorProto, helper, numpy_helper
    nodes, held = [], []

    def constant(name, value):
        held.append(numpy_helper.from_array(np.float32(value), name))
        return name

    def quant(x, y, scale, signed, bits):
        nodes.append(helper.make_node(
            "Quant", [x, constant(y + "_s", scale), constant(y + "_z", 0),
                      constant(y + "_b", bits)], [y], name=y,
            domain="onnx.brevitas", signed=signed, narrow=0,
            rounding_mode="FLOOR"))
        return y
    x = quant("input", "q", 1, 1, BITS)
    last, unit = data["n"] - 1, 1.0
    for i in range(data["n"]):
        constant(f"w{i}", data[f"w{i}"])
        quant(f"w{i}", f"wq{i}", 1, 1, BITS)
        constant(f"b{i}", data[f"b{i}"] * unit)
        quant(f"b{i}", f"bq{i}", unit, 1, BITS)
        nodes.append(helper.make_node("Gemm", [x, f"wq{i}", f"bq{i}"],
                                      [f"g{i}"], name=f"fc{i}"))
        x = f"g{i}"
        if i < last:
            nodes.append(helper.make_node("Relu", [x], [f"r{i}"]))
            unit *= 2.0 ** data["s"][i]
            x = quant(f"r{i}", f"a{i}", unit, 0, BITS)
    unit *= 2.0 ** data["last"]
    x = quant(x, "out", unit, 1, 16)
    graph = helper.make_graph(
        nodes, "net",
        [helper.make_tensor_value_info("input", TensorProto.FLOAT,
                                       [1, SIZES[0]])],
        [helper.make_tensor_value_info(x, TensorProto.FLOAT, [1, SIZES[-1]])],
        held)
    return helper.make_model(graph, ir_version=8, opset_imports=[
        helper.make_opsetid("", 13),
        helper.make_opsetid("onnx.brevitas", 1)]), unit


def cells(files, top, folder):
    """LUTs and registers of a design by Yosys, and its inverters: Yosys leaves
    them next to LUTs and registers, and each may take a LUT."""
    files = " ".join(str(f) for f in files)
    report = folder / "stat.json"
    subprocess.run(["yosys", "-q", "-p",
                    f"read_verilog -sv {files}; {SYNTH.format(top=top)}; "
                    f"tee -q -o {report} stat -json"], check=True,
                   stdout=subprocess.DEVNULL)
    kinds = json.loads(report.read_text())["design"]["num_cells_by_type"]
    count = lambda pattern: sum(n for kind, n in kinds.items()
                                if re.fullmatch(pattern, kind))
    return {"lut": count(r"LUT\d|SRL.*|RAM32M16|RAM\d.*"),
            "inv": count("INV"), "ff": count(r"FD[RSCP]E(_1)?")}


def ours(np, rhizome, data, folder, expected):
    import onnx
    model, unit = onnx_model(np, data)
    onnx.save(model, folder / "net.onnx")
    package = folder / "net.rhz"
    start = time.time()
    subprocess.run([rhizome, "compile", folder / "net.onnx", "--device", DEVICE,
                    "--clock-mhz", str(CLOCK), "--goal", "max-throughput",
                    "-o", package], check=True, stdout=subprocess.DEVNULL)
    seconds = time.time() - start
    sources = list(package.glob("nodes/*/rtl/*.sv"))
    circuits = [p for p in sources if p.name.startswith("rhz_circuit")]
    if len(circuits) != 1:
        raise SystemExit(f"{len(circuits)} circuits instead of one")
    library = [p for p in sources if p.stem in (
        "rhz_pipeline", "rhz_outbuf", "rhz_valid", "rhz_counter")]
    if expected is not None:
        np.save(folder / "x.npy", data["x"].astype(np.float32))
        np.save(folder / "y.npy", (expected * unit).astype(np.float32))
        simulated = subprocess.run(
            [rhizome, "simulate", package, "--level", "functional", "--input",
             folder / "x.npy", "--expect", folder / "y.npy"],
            capture_output=True, text=True)
        if simulated.returncode:
            raise SystemExit(simulated.stdout + simulated.stderr)
    plan = (package / "plan.json").read_text()
    stages = int(re.search(r'"stages": (\d+)', plan).group(1))
    found = cells([*library, *circuits], circuits[0].stem, folder)
    return {**found, "depth": stages + 1, "seconds": round(seconds, 1)}


def theirs(np, python, data, folder, cut):
    np.savez(folder / "data.npz", **data)
    told = subprocess.run([python, "-c", DA4ML, folder / "data.npz",
                           folder / "da", str(BITS), str(cut)], check=True,
                          capture_output=True, text=True).stdout
    said = dict(line.split() for line in told.splitlines()
                if len(line.split()) == 2)
    sources = [p for p in (folder / "da/src").rglob("*.v")
               if "wrapper" not in p.name and p.stem != "lookup_table"]
    found = cells(sources, "net", folder)
    return {**found, "depth": int(said["depth"]),
            "seconds": round(float(said["seconds"]), 1)}


def table(rows):
    lines = [("", "LUT", "INV", "both", "FF", "cycles", "s")]
    lines += [(name, *(f"{k:,}" for k in (
        row["lut"], row["inv"], row["lut"] + row["inv"], row["ff"],
        row["depth"], row["seconds"]))) for name, row in rows.items()]
    if len(rows) == 2:
        mine, other = rows["rhizome"], rows["da4ml"]
        lines.append(("share", f"{mine['lut'] / other['lut']:.3f}", "",
                      f"{(mine['lut'] + mine['inv']) / (other['lut'] + other['inv']):.3f}",
                      "", "", ""))
    return "\n".join((f"{line[0]:8}" + "".join(
        f"{cell:>10}" for cell in line[1:])).rstrip() for line in lines) + "\n"


def main():
    if VENV.exists() and pathlib.Path(sys.prefix) != VENV.parents[1]:
        os.execv(VENV, [str(VENV), *sys.argv])
    import numpy as np
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rhizome", default=ROOT / "build/bin/rhizome")
    parser.add_argument("--da4ml", metavar="PYTHON",
                        help="a Python that has da4ml")
    options = parser.parse_args()
    data = network(np)
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        rows, expected = {}, None
        if options.da4ml:
            rows["da4ml"] = theirs(np, options.da4ml, data, folder, CUT)
            expected = np.load(folder / "da/y.npy")
        rows["rhizome"] = ours(np, options.rhizome, data, folder, expected)
    print(table(rows), end="")
    if options.da4ml:
        store = ROOT / "bench/circuits.json"
        store.write_text(json.dumps(rows, indent=1) + "\n")
        store.with_suffix(".txt").write_text(table(rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
