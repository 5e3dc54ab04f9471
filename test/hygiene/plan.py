#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""plan.json is described once: docs/plan.md and data/plan.schema.json are what
include/rhizome/Package/Plan.td says. With --update they are rewritten.

    plan.py BUILD [--update]"""
import pathlib
import sys

from common import ROOT, argument, report


def main():
    build = pathlib.Path(argument(__doc__))
    problems = []
    for path in (ROOT / "docs/plan.md", ROOT / "data/plan.schema.json"):
        made = (build / "plan" / path.name).read_text()
        if "--update" in sys.argv:
            path.write_text(made)
        elif not path.exists() or path.read_text() != made:
            problems.append(f"{path.relative_to(ROOT)}: is not what Plan.td says; "
                            f"write it anew with test/hygiene/plan.py {build} "
                            "--update")
    return report("plan", problems)


if __name__ == "__main__":
    sys.exit(main())
