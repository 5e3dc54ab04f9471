#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Hardware units are described once: no core folder refers to a unit kind by name,
and docs/units.md, docs/isa.md and rtl/src/rhz_isa.sv match the records of rtl/units and
rtl/isa. With --update these files are rewritten. The resources of each kind have been measured: bench/points.json or
bench/resources.json or bench/engines.json contains a module of it.

    units.py BUILD [--update]"""
import json
import pathlib
import re
import sys

from common import ROOT, argument, report, tracked

MADE = {"docs/units.md": "rtl/units", "docs/isa.md": "rtl/isa",
        "rtl/src/rhz_isa.sv": "rtl/isa"}
# Folders that use units, and so refer to them by name.
GENERATORS = ("lib/Generator/Stream/", "lib/Generator/Dhm/", "lib/Generator/Engine/",
              "lib/Units/Shared/", "lib/Units/Circuit/",
              "include/rhizome/Generator/Stream/",
              "include/rhizome/Generator/Dhm/", "include/rhizome/Generator/Engine/")
# Files in which such a word has another meaning.
OTHERWISE = {
    "tools/rhizome/Doctor.cpp": {"state"},  # of a program
    "tools/rhizome/Tasks.cpp": {"state"},   # of a model
    "include/rhizome/Cost/CostModel.h": {"product", "select"},  # terms
    "lib/Transforms/Requantize.cpp": {"threshold", "table", "scaled_add"},
    "lib/Explore/Split.cpp": {"table"},  # what a message calls a table's rows
    "lib/Simulate/Cluster.cpp": {"reorder"},  # a disturbance of a link
    "tools/rhizome-rank/rhizome-rank.cpp": {"reorder"},
    # The prices of kernels are those of a characterized unit's terms.
    "lib/KernelCommands/ExploreFormats.cpp": {"matvec_lut", "gearbox_rotate"},
}
CORE = ("lib/Analysis/", "lib/Conversion/", "lib/Cost/", "lib/Rtl/",
        "lib/Design/", "lib/Explore/", "lib/Generator/", "lib/Package/", "lib/Pipeline/",
        "lib/Report/", "lib/Simulate/", "lib/Synth/", "lib/Target/",
        "lib/Timing/", "lib/Transforms/", "lib/Unit/", "lib/Units/", "lib/Vendor/", "lib/ClusterSim/",
        "lib/Model/", "lib/PlanBuild/", "lib/Evaluate/", "lib/Deploy/",
        "lib/Characterize/", "lib/KernelCommands/",
        "include/rhizome/", "tools/")


def main():
    build = pathlib.Path(argument(__doc__))
    problems = []
    for name, source in MADE.items():
        kept = ROOT / name
        made = (build / "rtl" / kept.name).read_text()
        if "--update" in sys.argv:
            kept.write_text(made)
        elif not kept.exists() or kept.read_text() != made:
            problems.append(f"{name}: is not what {source} says; write it "
                            f"anew with test/hygiene/units.py {build} --update")
    if "--update" in sys.argv:
        return 0
    kinds = json.loads((build / "rtl/units.json").read_text())["kinds"]
    names = {unit["kind"] for unit in kinds.values()}
    names |= {name for unit in kinds.values() for name in unit["characterized"]}
    measured = set()
    for name in ("points", "resources", "engines"):
        rows = json.loads((ROOT / f"bench/{name}.json").read_text())
        measured |= {row["cell"] for row in rows}
    for kind in sorted({unit["kind"] for unit in kinds.values()} - measured):
        problems.append(f"bench/points.json: contains no {kind}; let "
                        "bench/points.cpp draw it (docs/howto/"
                        "measure-resources.md)")
    words = re.compile('"(' + "|".join(sorted(names, key=len, reverse=True)) + ')"')
    for path in tracked(".cpp", ".h"):
        if not path.startswith(CORE) or path.startswith(GENERATORS):
            continue
        for number, line in enumerate((ROOT / path).read_text().splitlines(), 1):
            for match in words.finditer(line.partition("//")[0]):
                if match.group(1) not in OTHERWISE.get(path, ()):
                    problems.append(f"{path}:{number}: knows the unit "
                                    f"{match.group(0)} by name")
    return report("units", problems)


if __name__ == "__main__":
    sys.exit(main())
