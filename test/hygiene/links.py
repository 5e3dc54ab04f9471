#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every relative link of every .md file leads to a file of the project, every
anchor to a heading, and every path in backticks that looks like one of ours
exists."""
import re
import sys

from common import ROOT, report, tracked

LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
PATH = re.compile(r"`((?:lib|include|tools|rtl|data|docs|test|unittests|"
                  r"examples|scripts|bench|runtime|cmake)/[\w./-]+)`")


def anchors(path):
    """The anchors of a page's headings, as forges make them."""
    found = set()
    for line in path.read_text().splitlines():
        if line.startswith("#"):
            title = re.sub(r"[`*]", "", line.lstrip("#").strip().lower())
            found.add(re.sub(r"[^\w\- ]", "", title).replace(" ", "-"))
    return found


def main():
    problems = []
    for page in tracked(".md"):
        text = (ROOT / page).read_text()
        folder = (ROOT / page).parent
        for match in LINK.finditer(text):
            link = match.group(1)
            if re.match(r"[a-z]+:", link):
                continue
            name, _, anchor = link.partition("#")
            target = folder / name if name else ROOT / page
            line = text.count("\n", 0, match.start()) + 1
            if not target.exists():
                problems.append(f"{page}:{line}: '{link}' leads nowhere")
            elif anchor and target.suffix == ".md" and anchor not in anchors(
                    target):
                problems.append(f"{page}:{line}: no heading '#{anchor}'")
        for match in PATH.finditer(text):
            if not (ROOT / match.group(1)).exists():
                line = text.count("\n", 0, match.start()) + 1
                problems.append(f"{page}:{line}: no file {match.group(1)}")
    return report("links", problems)


if __name__ == "__main__":
    sys.exit(main())
