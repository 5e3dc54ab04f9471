#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every pass accepts or refuses, with a message at an operation, all IR
that verifies: each example of the dialects' descriptions and each file of the
lit tests goes through each pass, and none crashes the program. Passes on networks
look at @main, so every function also goes through them under this name.
Usage: passes.py RHIZOME_OPT"""
import concurrent.futures
import re
import subprocess
import sys

from common import ROOT, argument, report, tracked
from snippets import example_files

FUNCTION = re.compile(r"^func\.func @\w+(.*?^\})$", re.M | re.S)
PASS = re.compile(r'Pass<"([\w-]+)"')


def run(tool, name, text, only):
    done = subprocess.run([tool, "-", f"--{only}", "--split-input-file"],
                          input=text, text=True, capture_output=True)
    if done.returncode in (0, 1) and (done.returncode == 0 or
                                      "error:" in done.stderr):
        return []
    return [f"{name}: --{only} ends with {done.returncode}: "
            + done.stderr.strip()[-300:]]


def main():
    tool = argument(__doc__)
    passes = [name for path in tracked("Passes.td")
              for name in PASS.findall((ROOT / path).read_text())]
    inputs = {path: "\n// -----\n".join(code for _, code in examples)
              for path, examples in example_files(".td").items()}
    for path in tracked(".mlir"):
        if path.startswith("test/"):
            inputs[path] = (ROOT / path).read_text()
    for name, text in list(inputs.items()):
        functions = ["func.func @main" + body
                     for body in FUNCTION.findall(text)]
        if functions:
            inputs[f"{name}, as @main"] = "\n// -----\n".join(functions)
    problems = []
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        jobs = [pool.submit(run, tool, name, text, only)
                for name, text in inputs.items() for only in passes]
        for job in jobs:
            problems += job.result()
    if len(passes) < 5 or len(inputs) < 15:
        problems.append(f"found {len(passes)} passes, {len(inputs)} files only")
    return report(f"passes ({len(passes)} on {len(inputs)} files)", problems)


if __name__ == "__main__":
    sys.exit(main())
