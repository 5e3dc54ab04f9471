#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tables III to VI of the DOSA paper, its own predictions recomputed
(bench/dosa.py) next to ours for the same networks, devices and goal.
    bench/paper_tables.py           the tables
    bench/paper_tables.py --check   only that the recomputed figures are DOSA's
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
VENV = ROOT / ".venv/bin/python"
sys.path[:0] = [str(ROOT / "bench"), str(ROOT / "test/e2e")]
sys.dont_write_bytecode = True

import dosa  # noqa: E402
import networks  # noqa: E402

SKIPPED = 77
GOAL = 5000  # inferences a second
PAPER = {"CERN": "CERN", "MPCNN": "MPCNN", "TFC": "TFC",
         "LeNet-5": "lenet5", "PTTDNN": "PTTCNN_int8"}
# The places of DOSA's figures that --check compares with: its paper, and its
# exploration run again.
RATES = {"CERN": 78397.17, "TFC": 6399.77, "PTTDNN": 17421.59,
         "MPCNN": 9945.26, "LeNet-5": 5066.91}
COVERED = {"CERN": (11, 3, 11, 11), "TFC": (11, 3, 11, 10),
           "MPCNN": (17, 13, 14, 9), "LeNet-5": (17, 13, 15, 10),
           "PTTDNN": (17, 13, 14, 10)}
KILOBYTES = {"CERN": 4.4, "MPCNN": 70.3, "TFC": 59.2, "PTTDNN": 32.6}


def check(all_ops):
    problems = []

    def equal(what, found, wanted, within=0.0):
        if abs(found - wanted) > within:
            problems.append(f"{what}: {found}, DOSA has {wanted}")
    for name, ops in all_ops.items():
        equal(f"{name}, rate", dosa.rate(ops), RATES[name], 0.01)
        found = (len(ops), *dosa.coverage(ops).values())
        for kind, a, b in zip(("operations", "haddoc", "hls4ml", "TIPS"),
                              found, COVERED[name]):
            equal(f"{name}, {kind}", a, b)
        if name in KILOBYTES:
            equal(f"{name}, kB", round(dosa.parameters(ops) / 1000, 1),
                  KILOBYTES[name], 0.05)
    print("\n".join(problems) or
          f"{len(all_ops)} networks: DOSA's rates, coverage and sizes recomputed")
    return 1 if problems else 0


def table(title, head, rows, *notes):
    print(f"\n{title}\n")
    widths = [max(len(str(r[i])) for r in [head, *rows])
              for i in range(len(head))]
    for row in [head, *rows]:
        print("  ".join(str(cell).ljust(w) if i == 0 else str(cell).rjust(w)
                        for i, (cell, w) in enumerate(zip(row, widths))))
    for note in notes:
        print(f"  {note}")


def explore(rhizome, network, goal, *more):
    """The result of `rhizome explore`, one JSON object."""
    command = [rhizome, "explore", str(network.path), *network.options,
               *(more or ("--device", "xcku060-role")), "--goal", goal,
               "--json"]
    run = subprocess.run(command, capture_output=True, text=True, timeout=300)
    try:
        answer = json.loads(run.stdout.strip().splitlines()[-1])
    except (ValueError, IndexError):
        sys.exit(f"{' '.join(command)}: {run.stderr or run.stdout}")
    if not answer.get("ok"):
        sys.exit(f"{' '.join(command)}: {run.stdout}")
    return answer


def covered(rhizome, network):
    run = subprocess.run([rhizome, "coverage", str(network.path),
                          *network.options, "--json"],
                         capture_output=True, text=True, timeout=300)
    nodes = [op for op in json.loads(run.stdout)["ops"]
             if op["runs_on"] == "fpga"]
    return sum(any(v is True for v in n["generators"].values())
               for n in nodes), len(nodes)


def baseline(python, network):
    """ONNX Runtime on this machine; None, loudly, without it."""
    with tempfile.TemporaryDirectory() as folder:
        target = pathlib.Path(folder) / "baseline.json"
        run = subprocess.run([python, str(ROOT / "data/report/baseline.py"),
                              str(network.path), str(target)],
                             capture_output=True, text=True, timeout=120)
        if run.returncode:
            print(f"SKIPPED the CPU baseline: {run.stderr.strip()}")
            return None
        return json.loads(target.read_text())


def latency_us(answer):
    predicted = answer["predicted"]
    return predicted.get("latency_us") or (predicted["latency_cycles"] /
                                           predicted["clock_mhz"])


def main():
    if VENV.exists() and pathlib.Path(sys.prefix) != ROOT / ".venv":
        sys.exit(subprocess.run([str(VENV), *sys.argv]).returncode)
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rhizome", default=str(ROOT / "build/bin/rhizome"))
    parser.add_argument("--check", action="store_true",
                        help="only compare with DOSA's published figures")
    arguments = parser.parse_args()
    nets = {name: networks.NETWORKS[key] for name, key in PAPER.items()}
    try:
        import onnx  # noqa: F401
    except ImportError:
        print("SKIPPED: this Python has no onnx (make setup)")
        return SKIPPED
    missing = [n.path for n in nets.values() if not n.path.exists()]
    if missing:
        print(f"SKIPPED: no {missing[0]}")
        return SKIPPED
    ops = {name: dosa.operations(net.path) for name, net in nets.items()}
    if arguments.check:
        return check(ops)

    goal = {name: explore(arguments.rhizome, net, f"throughput={GOAL}/s")
            for name, net in nets.items()}
    fastest = {name: explore(arguments.rhizome, net, "max-throughput",
                             "--cluster", "ku060x1")
               for name, net in nets.items()}
    table("Table III: the networks",
          ("network", "conv", "dense", "parameters kB"),
          [(name, sum(o.kind == "conv" for o in some),
            sum(o.kind == "dense" for o in some),
            f"{dosa.parameters(some) / 1000:.1f}")
           for name, some in ops.items()],
          "LeNet-5 has DOSA's shape and weights of our own.")
    rows = []
    for name, some in ops.items():
        ours, of = covered(arguments.rhizome, nets[name])
        rows.append((name, *(f"{n}/{len(some)}"
                             for n in dosa.coverage(some).values()),
                     f"{ours}/{of}"))
    table("Table IV: operations covered",
          ("network", "haddoc", "hls4ml", "TIPS", "Rhizome"), rows,
          "DOSA's by name of the operation; ours is what generators build, "
          "counted after fusion.")
    table(f"Table V: {GOAL:,}/s on KU060 roles",
          ("network", "DOSA nodes", "DOSA /s", "DOSA s", "nodes", "/s",
           "explored s", "most /s on one"),
          [(name, dosa.NODES[name], f"{dosa.rate(ops[name]):,.2f}",
            "0.08-0.89", len(goal[name]["nodes"]),
            f"{goal[name]['predicted']['throughput_per_s']:,.0f}",
            f"{goal[name]['seconds']:.3f}",
            f"{fastest[name]['predicted']['throughput_per_s']:,.0f}")
           for name in nets],
          "DOSA's rates are predictions, recomputed; ours are predictions "
          "that simulation meets within 1 %.",
          "The last column counts a 10 GbE link with our frame protocol.")
    python = str(VENV) if VENV.exists() else sys.executable
    measured = baseline(python, nets["PTTDNN"])
    rows = [(f"DOSA, 9 FPGAs, measured", f"{dosa.MEASURED_PER_S['FPGA']:,.0f}",
             "not measured",
             f"{dosa.MEASURED_W['FPGA'] / dosa.MEASURED_PER_S['FPGA']:.4f}")]
    for kind in ("CPU", "GPU"):
        per_s = dosa.MEASURED_PER_S[kind]
        rows.append((f"DOSA's {kind}, measured", f"{per_s:,.0f}",
                     f"{1e6 / per_s:,.0f}",
                     f"{dosa.MEASURED_W[kind] / per_s:.4f}"))
    for run in (measured or {}).get("runs", ()):
        rows.append((f"ONNX Runtime, {run['threads']} of this CPU's threads",
                     f"{run['throughput_per_s']:,.0f}",
                     f"{run['latency_us']:,.1f}", "-"))
    for answer, words in ((goal["PTTDNN"], f"Rhizome, {GOAL:,}/s"),
                          (fastest["PTTDNN"], "Rhizome, 1 FPGA at 10 GbE")):
        rows.append((f"{words}, predicted",
                     f"{answer['predicted']['throughput_per_s']:,.0f}",
                     f"{latency_us(answer):,.1f}", "-"))
    table("Table VI: PTTDNN", ("what", "/s", "latency us", "J"), rows,
          "DOSA prints 1 / throughput as latency; ours is that of a single "
          "request. DOSA's joules are power over rate.",
          *([measured["runtime"] + " on " + measured["cpu"]]
            if measured else []))
    return 0


if __name__ == "__main__":
    sys.exit(main())
