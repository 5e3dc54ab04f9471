#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Layering: a layer includes only layers below it, siblings never include
each other, and CMake links no libraries other than those of the layers that are
included. docs/architecture.md says what each layer of the table decides, and
its diagram draws no layer above another that it includes."""
import re
import sys

from common import ROOT, report, tracked

# Layer: the layers that its sources may include, besides itself.
ALLOWED = {
    "runtime": "",
    "Dialect/Marks": "",
    "Support": "Dialect/Marks Numeric",
    "Numeric": "",
    "Target": "Support",
    "Engine": "Support Unit",
    "Dialect/Num": "Numeric",
    "Dialect/Osa": "Dialect/Num Numeric Support",
    "Dialect/Flow": "Dialect/Marks Dialect/Num Unit",
    "Dialect/Rtl": "",
    # The precompiled header of what is above.
    "Dialect": "Dialect/Num Dialect/Osa Dialect/Flow Dialect/Rtl Support",
    "Package": "Numeric Support",
    "ClusterSim": "Package Support runtime",
    "EngineCompiler": "Engine Dialect/Num Dialect/Osa Support",
    "Interp": "Dialect/Num Dialect/Osa Numeric Support",
    "Conversion": "Dialect/Num Dialect/Osa Dialect/Flow Numeric Support",
    "Cpu": "Dialect/Marks Conversion Import/Kernel Dialect/Num Dialect/Osa Dialect/Flow "
           "Numeric Support",
    "Rtl": "Dialect/Flow Dialect/Rtl Unit Support",
    "Import": "Support",
    "Import/Onnx": "Dialect/Marks Import Interp Dialect/Num Dialect/Osa Numeric "
                   "Support",
    "Import/Mlir": "Dialect/Marks Import Interp Dialect/Num Dialect/Osa Dialect/Flow "
                   "Support",
    "Import/Kernel": "Dialect/Marks Numeric Support",
    "Transforms": "Dialect/Marks Import/Kernel Dialect/Num Dialect/Osa Dialect/Flow Numeric Support",
    "Calibrate": "Cpu Interp Transforms Dialect/Num Dialect/Osa Support",
    "Unit": "",
    "Cost": "Unit Support",
    "Solvers": "",
    "Timing": "",
    "Generator": "Dialect/Marks Cost Timing Unit Dialect/Num Dialect/Osa Dialect/Flow Support",
    "Units": "Generator Cost Solvers Unit Dialect/Num Dialect/Osa Dialect/Rtl "
             "Numeric Support",
    "Design": "Units Generator Timing Cost Unit Dialect/Num Dialect/Osa "
              "Dialect/Flow Support",
    "Generator/Engine": "Units Generator EngineCompiler Engine Cost Unit Dialect/Num "
                        "Dialect/Osa Support",
    "Generator/Dhm": "Units Generator Cost Unit Dialect/Num Dialect/Osa Support",
    "Generator/Loops": "Units Rtl Conversion Cost Solvers Dialect/Rtl",
    "Generator/Stream": "Units Generator Cost Unit Dialect/Num Dialect/Osa "
                        "Support",
    "Analysis": "Generator Cost Dialect/Num Dialect/Osa Target Support",
    "Report": "Package Support",
    "Simulate": "Engine Package Support Unit",
    "Synth": "Package Target Support",
    "Vendor": "Package Target Support",
    "Explore/Solver": "Cost Support",
    "Explore": "Dialect/Marks Explore/Solver Design Units Generator Timing Cost Dialect/Osa "
               "Dialect/Flow Support",
    "Model": "Dialect/Marks Import Import/Onnx Import/Mlir Calibrate Transforms Conversion Cpu "
             "Interp Solvers Package Target Dialect/Num Dialect/Osa "
             "Dialect/Flow Numeric Support",
    "PlanBuild": "Dialect/Marks Cost Explore Explore/Solver Design Units Generator Rtl Package Target "
                 "Dialect/Flow Dialect/Osa Support",
    "Evaluate": "Dialect/Marks Engine Model Simulate Synth Calibrate Package Dialect/Num "
                "Dialect/Osa Numeric Support",
    "Deploy": "Dialect/Marks Model ClusterSim Simulate Conversion Cpu Transforms Package Target "
              "Dialect/Num Dialect/Osa Support runtime",
    "Characterize": "PlanBuild Design Generator Synth Target Support",
    "KernelCommands": "Dialect/Marks Dialect/Flow Evaluate Deploy Cost Cpu Import/Kernel Model PlanBuild Analysis Explore Design Units Generator "
                      "Generator/Loops Rtl Simulate Report Vendor Package Import/Mlir Interp "
                      "Conversion Transforms Target Dialect/Num Dialect/Osa "
                      "Numeric Support runtime",
    "Pipeline": "Dialect/Marks KernelCommands Import/Kernel Deploy Model PlanBuild Explore Explore/Solver Analysis Design "
                "Generator Transforms "
                "Report Simulate Synth Vendor Package Target Dialect/Osa Dialect/Flow "
                "Dialect/Rtl Support",
    "Precision": "Pipeline Evaluate Explore Model Calibrate Package Support",
    "tools/rhizome": "Precision Pipeline Evaluate Simulate Deploy Characterize KernelCommands "
                     "Model Numeric Report Synth Vendor Package Target "
                     "Support",
    "tools/rhizome-rank": "ClusterSim Package Support runtime",
    "tools/rhizome-node": "Deploy KernelCommands Model Support",
    "tools/rhizome-opt": "Dialect/Marks Pipeline Conversion Import/Mlir Import/Kernel Transforms Dialect/Num Dialect/Osa "
                         "Dialect/Flow Dialect/Rtl Support",
}
# The only place where the list of generators may name each of them.
EXCEPTIONS = {("lib/Generator/Registry.cpp", "Generator/Dhm"),
              ("lib/Generator/Registry.cpp", "Generator/Engine"),
              ("lib/Generator/Registry.cpp", "Units"),
              ("lib/Generator/Registry.cpp", "Generator/Stream")}

# Libraries that are not named after their layer.
LIBRARIES = {"Dialects": "Dialect", "Marks": "Dialect/Marks", "Num": "Dialect/Num",
             "Osa": "Dialect/Osa", "Flow": "Dialect/Flow",
             "Rtl": "Dialect/Rtl", "Data": "Support", "Yaml": "Support", "Runtime": "runtime",
             "ImportOnnx": "Import/Onnx", "ImportMlir": "Import/Mlir",
             "ImportKernel": "Import/Kernel",
             "Floats": "Units", "Dhm": "Generator/Dhm", "EngineGenerator": "Generator/Engine",
             "Stream": "Generator/Stream", "Loops": "Generator/Loops",
             "Solver": "Explore/Solver", "ToRtl": "Rtl"}
LIBRARY = re.compile(r"rhizome_add_library\((\w+)(.*?)\)\s*$", re.M | re.S)

# Shared with what is built around a design: it is in data/sim.
INTERFACES = {"rhz_model.h", "rhz_memory.h", "rhz_mistakes.h"}

PAGE = "docs/architecture.md"

INCLUDE = re.compile(r'^\s*(?:#\s*)?include\s+"([^"]+)"', re.M)


def layer_of(path):
    """The layer of a repository path, None if it belongs to none."""
    for prefix in ("include/rhizome/", "lib/", ""):
        if path.startswith(prefix):
            inner = path[len(prefix):]
            for name in sorted(ALLOWED, key=len, reverse=True):
                if inner.startswith(name + "/"):
                    return name
    return None


def layer_of_library(name):
    return LIBRARIES.get(name, name)


def below(layer):
    """The layers that a layer may use, and those that they may use."""
    seen, todo = set(), [layer]
    while todo:
        for name in ALLOWED[todo.pop()].split():
            if name not in seen:
                seen.add(name)
                todo.append(name)
    # A library links all of a layer with its parts.
    return seen | {layer} | {name for name in ALLOWED
                             if name.startswith(layer + "/")}


def check_links(problems):
    """CMake links only what the layers allow."""
    for path in tracked("CMakeLists.txt"):
        if not path.startswith(("lib/", "runtime/")):
            continue
        text = (ROOT / path).read_text()
        for match in LIBRARY.finditer(text):
            layer = layer_of_library(match.group(1))
            if layer not in ALLOWED:
                problems.append(f"{path}: the library {match.group(1)} belongs "
                                "to no layer of the table")
                continue
            linked = match.group(2).partition("LINK")[2]
            for name in re.findall(r"\bRhizome(\w+)", linked):
                # Support provides LLVM and the precompiled header.
                if layer_of_library(name) not in below(layer) | {"Support"}:
                    problems.append(f"{path}: {layer} must not link {name}")


def check_page(problems):
    """The page has a row for each layer, and each is in its diagram, above all
    others that it includes."""
    text = (ROOT / PAGE).read_text().split("\n## Layers\n")[1].split("\n## ")[0]
    rows = [name for cells in re.findall(r"^\| (`.+?) \|", text, re.M)
            for name in re.findall(r"`([^`]+)`", cells)]
    whole = {name.partition("/")[0] for name in rows if name.endswith("/*")}
    for name in sorted(set(rows)):
        if rows.count(name) > 1:
            problems.append(f"{PAGE}: {name} has several rows")
        if name not in ALLOWED and not name.endswith("/*"):
            problems.append(f"{PAGE}: there is no layer {name}")
    drawn = {}
    for at, line in enumerate(text.split("```")[1].splitlines()):
        # What each line is about is to the right of it.
        names = re.split(r" {4,}", line.strip())[0]
        for name, parts in re.findall(r"([\w/-]+)(?:\{([^}]*)\})?", names):
            for part in re.split(r", ?", parts):
                drawn.setdefault(name + part, at)
    for name in sorted(set(drawn) - set(ALLOWED)):
        problems.append(f"{PAGE}: the diagram has '{name}', which is no layer")
    for layer, allowed in ALLOWED.items():
        family = layer.partition("/")[0]
        if layer not in rows and family not in whole:
            problems.append(f"{PAGE}: no row says what {layer} decides")
        if layer == "Dialect":  # the header of its parts
            continue
        if layer not in drawn:
            problems.append(f"{PAGE}: {layer} is not in the diagram")
            continue
        for other in allowed.split():
            if (other in drawn and drawn[other] <= drawn[layer] and
                    other.partition("/")[0] != family):
                problems.append(f"{PAGE}: the diagram draws {layer} below or "
                                f"next to {other}, which it includes")


def main():
    problems = []
    check_links(problems)
    check_page(problems)
    for path in tracked(".cpp", ".c", ".h", ".td"):
        if not path.startswith(("include/", "lib/", "runtime/", "tools/")):
            continue
        layer = layer_of(path)
        if layer is None:
            problems.append(f"{path}: belongs to no layer of the table")
            continue
        text = (ROOT / path).read_text()
        for match in INCLUDE.finditer(text):
            included = match.group(1)
            line = text.count("\n", 0, match.start(1)) + 1
            if included.startswith("rhizome/"):
                target = layer_of("include/" + included)
            elif included.startswith(("mlir/", "llvm/", "google/")) or (
                    included in INTERFACES):
                continue
            else:
                folder = path.rsplit("/", 1)[0]
                if path.endswith(".td"):
                    folder = "rtl/units"  # the records of hardware units
                if "/" in included or not (ROOT / folder / included).exists():
                    problems.append(f"{path}:{line}: '{included}' is neither "
                                    "in this folder nor below rhizome/")
                continue
            if target == layer:
                continue
            if (target not in ALLOWED[layer].split() and
                    (path, target) not in EXCEPTIONS):
                problems.append(f"{path}:{line}: {layer} must not include "
                                f"{target} ('{included}')")
    return report("layering", problems)


if __name__ == "__main__":
    sys.exit(main())
