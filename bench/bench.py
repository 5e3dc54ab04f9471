#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Measures the table of networks again: compile time, predicted and simulated
cycles, estimated resources, simulator speed, and the CPU path's inferences per
second next to ONNX Runtime's on the same machine. Prints the table and writes
bench/results.json and bench/results.txt. `--latency` measures only the table of
latencies and keeps the others.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
VENV = ROOT / ".venv/bin/python"
sys.path[:0] = [str(ROOT / "test/e2e"), str(ROOT / "test/reference")]
sys.dont_write_bytecode = True

import framework  # noqa: E402
import hardware  # noqa: E402
import networks  # noqa: E402

FRAMES = 20
MEASURE_S = 1.0  # minimum of each CPU measurement

COLUMNS = (  # title, key, decimals
    ("network", "network", None), ("goal", "goal", None),
    ("compile s", "compile_s", 2),
    ("interval", "interval_cycles", 0), ("measured", "measured_interval", 0),
    ("latency", "latency_cycles", 0), ("measured", "measured_latency", 0),
    ("frames/s", "throughput_per_s", 0), ("mult", "multipliers", 0),
    ("DSP", "dsp", 0), ("LUT", "lut", 0), ("BRAM", "bram", 0),
    ("sim cycles/s", "sim_cycles_per_s", 0), ("differ", "mismatches", 0),
)
LATENCY_COLUMNS = (
    ("network", "network", None), ("device", "device", None),
    ("MHz", "clock_mhz", 2), ("interval", "interval_cycles", 0),
    ("measured", "measured_interval", 0), ("latency", "latency_cycles", 0),
    ("measured", "measured_latency", 0), ("ns", "measured_ns", 1),
    ("DSP", "dsp", 0), ("LUT", "lut", 0), ("FF", "ff", 0),
    ("differ", "mismatches", 0),
)
# The jet tagger 16-64-32-32-5 with weights of 8 and of 16 bits, at its lowest
# latency: device and clock.
LATENCY_NETWORKS = ("CERN", "three_layer_keras")
LATENCY_POINTS = ("xcku060-role@156.25", "xcvu9p-slr@200", "xcvu9p-slr@320")
LATENCY_NOTE = """\
Latency of a single frame, border to border, of the jet tagger 16-64-32-32-5
(--goal min-latency). Cycles are simulated, clocks
are planned (no place and route of these families here). hls4ml has 45-70 ns on a
VU9P, with 66-1,826 DSP, for networks of this shape, pruned or of fewer bits; these
are dense, without a DSP where the column says 0."""
CPU_COLUMNS = (
    ("network", "network", None),
    ("CPU path, 1 thread", "cpu_1", 0), ("all cores", "cpu_all", 0),
    ("ONNX Runtime, 1 thread", "ort_1", 0), ("default", "ort_all", 0),
    ("note", "note", None),
)


def machine():
    """One line: processor, cores, system, versions of the measured programs."""
    name = "unknown processor"
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            name = line.split(":", 1)[1].strip()
            break

    def first(*command):
        try:
            return subprocess.run(command, capture_output=True, text=True,
                                  check=True).stdout.split("\n")[0]
        except (OSError, subprocess.CalledProcessError):
            return f"no {command[0]}"

    cores = len(os.sched_getaffinity(0))
    text = (f"{name}, {cores} cores, {os.uname().sysname} "
            f"{os.uname().release}, {first('verilator', '--version')}")
    try:
        import onnxruntime
        text += f", ONNX Runtime {onnxruntime.__version__}"
    except ImportError:
        text += ", no ONNX Runtime"
    return text


def measure_hardware(suite, network, goal):
    """Compiles and simulates; the row."""
    row = {"network": network.name, "goal": goal}
    package = suite.work / f"{framework.slug(network.name + ' ' + goal)}.rhz"
    answer, _ = suite.compiled(network, goal, package)
    if not answer:
        return row
    row.update(answer["predicted"], compile_s=answer["seconds"],
               multipliers=hardware.multipliers(
                   json.loads((package / "plan.json").read_text())))
    return measure_package(suite, row, package)


def measure_package(suite, row, package):
    """Adds the results of simulation to the row."""
    result = suite.run("simulate", package, "--level", "rtl", "-n", FRAMES,
                       "--json")
    found = result.json or {}
    suite.check(result.status == 0 and found.get("mismatches") == 0,
                f"{package.name}: {found.get('mismatches')} mismatches",
                result.command)
    measured = found.get("measured") or {}
    row.update(mismatches=found.get("mismatches"),
               sim_cycles_per_s=found.get("sim_cycles_per_s"),
               measured_interval=measured.get("interval_cycles"),
               measured_latency=measured.get("latency_cycles"))
    return row


def measure_latency(suite, network, point):
    device, clock = point.split("@")
    clock = float(clock)
    row = {"network": network.name, "device": device, "clock_mhz": clock}
    package = suite.work / f"{framework.slug(f'{network.name} {device} {clock}')}.rhz"
    built = suite.compile(suite.need(network.path), network.options,
                          "min-latency", package, "--device", device,
                          "--clock-mhz", str(clock))
    if not suite.check(built.status == 0, f"{network.name} on {device} at "
                       f"{clock} MHz compiles", built.command):
        return row
    row.update(built.json["predicted"])
    measure_package(suite, row, package)
    if row["measured_latency"]:
        row["measured_ns"] = row["measured_latency"] * 1000 / clock
    return row


def input_values(session, network, count):
    """Random values for every graph input, a batch of `count` single frames."""
    import numpy as np
    low, high = network.input_range or (0, 1)
    draw = np.random.RandomState(1)
    values = []
    for i in session.get_inputs():
        shape = [d if isinstance(d, int) and d > 0 else 1 for d in i.shape]
        values.append(draw.uniform(low, high, [count, *shape])
                      .astype(np.float32))
    return values


def shapes_of(network):
    """(name, shape) of the graph's inputs, with dynamic dimensions 1."""
    import onnx
    graph = onnx.load(network.path).graph
    held = {i.name for i in graph.initializer}
    return [(v.name, [max(d.dim_value, 1)
                      for d in v.type.tensor_type.shape.dim])
            for v in graph.input if v.name not in held]


def cpu_rate(suite, network, cores):
    """Frames per second of the CPU path, from two runs of different length,
    so that loading and code generation drop out."""
    import numpy as np
    (_, shape), = shapes_of(network)
    low, high = network.input_range or (0, 1)
    data, labels = suite.work / "data.npy", suite.work / "labels.npy"
    draw = np.random.RandomState(1)

    def seconds(frames):
        np.save(data, draw.uniform(low, high, [frames, *shape])
                .astype(np.float32))
        np.save(labels, np.zeros(frames, np.int64))
        command = [] if cores is None else ["taskset", "-c", cores]
        result = framework.run_program(
            [*command, suite.rhizome, "evaluate", network.path, "--data", data,
             "--labels", labels, *network.options, "--json"])
        if result.status:
            raise framework.Skip(f"{network.name}: {result.message}")
        return result.json["seconds"]

    few = min(seconds(1) for _ in range(3))
    frames = 100
    while True:
        spent = seconds(frames) - few
        if spent >= MEASURE_S / 4:
            return (frames - 1) / spent
        frames = int(min(frames * 10, frames * MEASURE_S / max(spent, 1e-3)))


def ort_rate(network, threads):
    """Frames per second of ONNX Runtime, one frame per call."""
    import onnxruntime
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    if threads:
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = threads
    session = onnxruntime.InferenceSession(
        str(network.path), options, providers=["CPUExecutionProvider"])
    names = [i.name for i in session.get_inputs()]
    values = input_values(session, network, 1)
    feed = {name: value[0] for name, value in zip(names, values)}
    for _ in range(10):
        session.run(None, feed)
    calls, start = 0, time.perf_counter()
    while time.perf_counter() - start < MEASURE_S:
        session.run(None, feed)
        calls += 1
    return calls / (time.perf_counter() - start)


def measure_cpu(suite, network):
    row = {"network": network.name, "note": ""}
    one = str(min(os.sched_getaffinity(0)))
    try:
        row["cpu_1"] = cpu_rate(suite, network, one)
        row["cpu_all"] = cpu_rate(suite, network, None)
    except (framework.Skip, ImportError) as why:
        row["note"] = str(why)
    try:
        row["ort_1"] = ort_rate(network, 1)
        row["ort_all"] = ort_rate(network, 0)
        if network.options:
            row["note"] = "ONNX Runtime computes the float graph"
    except ImportError:
        row["note"] = "no ONNX Runtime here"
    except Exception as why:  # onnxruntime's own exceptions have no base
        reason = str(why).replace("\n", " ")
        row["note"] = ("ONNX Runtime knows no QONNX operators"
                       if "qonnx" in reason or "Quant" in reason
                       else f"ONNX Runtime: {reason[:80]}")
    return row


def table(columns, rows):
    """Rows as text, numbers to the right."""
    def cell(row, key, digits):
        value = row.get(key)
        if value is None:
            return "-"
        return value if digits is None else f"{value:,.{digits}f}"

    cells = [[title for title, _, _ in columns]]
    cells += [[cell(row, key, digits) for _, key, digits in columns]
              for row in rows]
    widths = [max(len(line[i]) for line in cells)
              for i in range(len(columns))]
    lines = []
    for line in cells:
        lines.append("  ".join(
            text.ljust(width) if columns[i][2] is None else text.rjust(width)
            for i, (text, width) in enumerate(zip(line, widths))).rstrip())
    return "\n".join(lines)


def text_of(results):
    """results.txt: every table with results."""
    text = (f"Machine: {results['machine']}\n"
            f"Cycles at 156.25 MHz on xcku060-role; resources are the cost "
            f"model's; {results['frames']} frames simulated.\n\n"
            f"{table(COLUMNS, results['hardware'])}\n\n"
            f"Inferences per second, one frame at a time:\n"
            f"{table(CPU_COLUMNS, results['cpu'])}\n")
    if results.get("latency"):
        text += (f"\n{LATENCY_NOTE}\n"
                 f"{table(LATENCY_COLUMNS, results['latency'])}\n")
    return text


def bench(suite, options):
    chosen = [n for n in networks.NETWORKS.values()
              if (n.name in options.networks if options.networks else n.bench)]
    folder = pathlib.Path(options.results)
    known = folder / "results.json"
    results = json.loads(known.read_text()) if known.exists() else {}
    only = options.latency is not None
    if not only or not results:
        results.update(machine=machine(), frames=FRAMES, hardware=[], cpu=[])
    for network in chosen if not only else []:
        if not network.path.exists():
            suite.skip(f"{network.path} is missing")
            continue
        goals = network.goals[:{"quick": 1, "two": 2, "all": 3}[options.goals]]
        results["hardware"] += [measure_hardware(suite, network, goal)
                                for goal in goals]
        results["cpu"].append(measure_cpu(suite, network))
        suite.check(True, f"{network.name}: CPU path measured")
    named = [n for n in chosen if n.name in LATENCY_NETWORKS and n.path.exists()]
    results["latency"] = [measure_latency(suite, network, point)
                          for network in named
                          for point in options.latency or LATENCY_POINTS]
    text = text_of(results)
    print("\n" + text)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "results.txt").write_text(text)
    known.write_text(json.dumps(results, indent=2) + "\n")


def main():
    if VENV.exists() and pathlib.Path(sys.prefix) != VENV.parents[1]:
        os.execv(VENV, [str(VENV), *sys.argv])
    parser = argparse.ArgumentParser(description=__doc__)
    framework.rhizome_option(parser)
    parser.add_argument("--goals", choices=("quick", "two", "all"),
                        default="two",
                        help="a small design each; also the fastest; also the "
                             "third goal of the acceptance suite")
    parser.add_argument("--results", default=ROOT / "bench",
                        help="the folder of results.json and results.txt")
    parser.add_argument("--latency", nargs="*", metavar="DEVICE@MHZ",
                        help="only the latencies, at these points or all; the "
                             "other tables stay")
    parser.add_argument("--networks", nargs="*", default=(),
                        help="names from test/e2e/networks.py; all otherwise")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="rhizome-bench-") as work:
        return framework.execute(bench, options.rhizome,
                                 pathlib.Path(work) / "bench", options)


if __name__ == "__main__":
    sys.exit(main())
