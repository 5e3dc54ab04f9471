#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The outcome for every model of ../shared/models: its style, how many
of its operations run on the FPGA and on the host, or why it is refused and
whether that is correct. Prints the table and writes bench/models.json and
bench/models.txt. bench/rtl.py simulates the networks of this table.
"""
import argparse
import concurrent.futures
import json
import pathlib
import re
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "test/e2e")]
sys.dont_write_bytecode = True

import networks  # noqa: E402

# Information on a model that its file does not contain.
OPTIONS = (
    (r"qtdnn_10x5", ["--shape", "input=10,10"]),
    (r"tract/.*/(qrelu|qsigmoid)", ["--shape", "input=10,10"]),
    (r"arcane/model/mnist", ["--input-type", "0=u8"]),
    (r"TCN_T/TCN|dscnn_test/model_int", ["--input-type", "input.1=u8"]),
    (r"eegnet|Frontnet|dronet", ["--input-type", "0=u8"]),
)
# Correct refusals, by the message.
RIGHT = (
    (r"of domain 'finn[^']*(fpgadataflow|')", "FINN's hardware layers"),
    (r"has integers of \d+ bits, float32 is needed|for which \w+ is not defined",
     "an integer tensor before an operation on floats"),
    (r"the file has opset [1-6],", "an opset before 7"),
    (r"which does not fit .* without a block_size", "blocks without a size"),
    (r"float4", "float4"),
    (r"attribute 'epsion'", "an attribute that does not exist"),
)
BAD = r"(error|mismatch|invalid|too_few|bad_|zero_block|size_mismatch)"


def options_of(name):
    return next((o for pattern, o in OPTIONS if re.search(pattern, name)), [])


def styles(path):
    """The model's style, from the names of its operations."""
    try:
        sys.path.insert(0, str(next((ROOT / ".venv/lib").glob("python3*"))
                               / "site-packages"))
        import onnx
        model = onnx.load(str(path), load_external_data=False)
    except Exception:  # a file that even onnx does not read
        return "unreadable"
    ops = [n.op_type for n in model.graph.node]
    found = []

    def have(title, *names):
        if any(re.fullmatch(n, op) for n in names for op in ops):
            found.append(title)
    have("QDQ", "QuantizeLinear", "DequantizeLinear")
    have("QLinear", "QLinear.*", "QGemm")
    have("Integer", "ConvInteger", "MatMulInteger.*")
    have("dynamic", "DynamicQuantizeLinear")
    have("QONNX", "Quant", "IntQuant", "BipolarQuant", "Trunc")
    have("FINN", "MultiThreshold", "Streaming.*", "MVAU.*")
    if not found and "Floor" in ops or ops.count("Cast") > 5 and "Clip" in ops:
        found.append("integers in floats")
    types = {i.type.tensor_type.elem_type for i in model.graph.input}
    if not found and types & {2, 3, 4, 5, 6, 7} and not types & {1, 10}:
        found.append("integer tensors")
    if not found:
        found.append("float16" if 10 in types else "float")
    return "+".join(found)


def measure(rhizome, path):
    name = str(path.relative_to(networks.MODELS))
    row = {"model": name, "style": styles(path), "options": options_of(name)}
    start = time.time()
    result = subprocess.run([str(rhizome), "coverage", "--json", str(path),
                             *row["options"]], capture_output=True, text=True)
    row["seconds"] = round(time.time() - start, 2)
    try:
        data = json.loads(result.stdout)
    except ValueError:
        row["verdict"] = f"FAILED with status {result.returncode}"
        return row
    if not data.get("ok"):
        refused = data["refused"]
        row["refused"] = [f"{r['node']} ({r['op']}): {r['reason']}"
                          .replace(f"{path} (): ", "") for r in refused]
        why = next((title for pattern, title in RIGHT
                    if re.search(pattern, row["refused"][0])), "")
        if not why and re.search(BAD, path.stem):
            why = "a case of bad input"
        row["verdict"] = f"rightly refused: {why}" if why else "refused"
        return row
    row["fpga"], row["host"] = data["fpga"], data["host"]
    missing = [o for o in data["ops"] if o["runs_on"] == "fpga"
               and not any(v is True for v in o["generators"].values())]
    row["verdict"] = f"{len(missing)} operations without a generator" \
        if missing else "accepted"
    return row


def table(rows):
    lines = [f"{'verdict':42} {'FPGA':>5} {'host':>5}  {'style':20} model"]
    for r in rows:
        lines.append(f"{r['verdict']:42} {r.get('fpga', ''):>5} "
                     f"{r.get('host', ''):>5}  {r['style']:20} {r['model']}")
        if "refused" in r:
            lines.append(f"{'':44}{r['refused'][0][:110]}")
    counts = {}
    for r in rows:
        key = r["verdict"].split(":")[0]
        counts[key] = counts.get(key, 0) + 1
    lines.append(", ".join(f"{n} {key}" for key, n in sorted(counts.items())))
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rhizome", default=ROOT / "build/bin/rhizome",
                        type=pathlib.Path)
    parser.add_argument("--only", default="", help="a part of the models' names")
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args()
    files = [p for p in sorted(networks.MODELS.rglob("*.onnx"))
             if arguments.only in str(p)]
    if not files:
        sys.exit(f"no models in {networks.MODELS}")
    rows = []
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        jobs = [pool.submit(measure, arguments.rhizome, p) for p in files]
        for i, job in enumerate(jobs):
            rows.append(job.result())
            print(f"\r{i + 1} of {len(files)}", end="", file=sys.stderr)
    print(file=sys.stderr)
    text = table(rows)
    print(text)
    if not arguments.only:
        (ROOT / "bench/models.json").write_text(json.dumps(rows, indent=1) + "\n")
        (ROOT / "bench/models.txt").write_text(text + "\n")
    return 1 if any("FAILED" in r["verdict"] for r in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
