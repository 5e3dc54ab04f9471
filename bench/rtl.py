#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The table of networks in hardware: every model of ../shared/models with
operations on the FPGA (bench/models.json), compiled for the first
device that holds it and simulated, see test/e2e/rtl.py. Prints the table
and writes bench/rtl.json and bench/rtl.txt after each network; --resume keeps
the correct rows.
"""
import argparse
import json
import pathlib
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "test/e2e")]
sys.dont_write_bytecode = True

import framework  # noqa: E402
import numpy  # noqa: E402
import rtl  # noqa: E402


def table(rows, total):
    """The rows as text, of `total` networks to be run."""
    lines = [f"{'verdict':8} {'frames':>6} {'interval':>19} {'latency':>19} "
             f"{'device':13} model",
             f"{'':15} {'promised':>9} {'counted':>9} {'promised':>9} "
             f"{'counted':>9}"]
    for r in rows:
        cycles = [f"{c:>9}" for key in ("interval_cycles", "latency_cycles")
                  for c in r.get(key, ("", ""))]
        notes = [r["verdict"] if r["verdict"] != "equal" else "",
                 f"input cut down: {r['cut'][1]}" if r["cut"] else "",
                 f"{r['golden']}" if "golden" in r else ""]
        lines.append(
            f"{'equal' if r['verdict'] == 'equal' else 'WRONG':8} "
            f"{r.get('frames', ''):>6} {' '.join(cycles)} "
            f"{r.get('device', ''):13} {r['model']}"
            + "".join(f"  [{n}]" for n in notes if n))
    good = sum(r["verdict"] == "equal" for r in rows)
    lines.append(f"{good} of {total} networks equal the interpreter in "
                 f"every bit, with the cycles that were promised")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    framework.rhizome_option(parser)
    parser.add_argument("--only", default="", help="a part of the models' names")
    parser.add_argument("--resume", action="store_true",
                        help="keep the rows of bench/rtl.json that are right")
    arguments = parser.parse_args()
    kept = ROOT / "bench/rtl.json"

    def read():
        return {r["model"]: r for r in (json.loads(kept.read_text())
                                        if kept.exists() else [])}
    known = read()
    todo = [r for r in rtl.listed() if arguments.only in r["model"]]
    rows = []
    for i, row in enumerate(todo):
        old = known.get(row["model"])
        if arguments.resume and old and old["verdict"] == "equal":
            rows.append(old)
            continue
        with tempfile.TemporaryDirectory() as folder:
            rows.append(rtl.simulate(numpy, arguments.rhizome, row,
                                     pathlib.Path(folder)))
        print(f"{i + 1} of {len(todo)}: {row['model']}: "
              f"{rows[-1]['verdict']}", file=sys.stderr, flush=True)
        # Another run may have added rows in the meantime.
        known = {**read(), row["model"]: rows[-1]}
        ordered = [known[r["model"]] for r in rtl.listed()
                   if r["model"] in known]
        kept.write_text(json.dumps(ordered, indent=1) + "\n")
        kept.with_suffix(".txt").write_text(
            table(ordered, len(rtl.listed())) + "\n")
    print(table(rows, len(todo)))
    return 0 if all(r["verdict"] == "equal" for r in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
