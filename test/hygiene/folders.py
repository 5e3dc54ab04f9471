#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Layers that work on packages write, copy and delete files by Support's
Folders.h only, which follows no links, and start programs by its Tools.h, which
confines them."""
import re
import sys

from common import ROOT, report, tracked

LAYERS = tuple(f"lib/{layer}/" for layer in (
    "Package", "Simulate", "Synth", "Vendor", "Deploy", "Evaluate", "Report",
    "Characterize", "Support"))
# What follows links, or writes through what is there.
FILES = re.compile(
    r"\b(remove_directories|remove_all|create_director(?:y|ies)|copy_file|"
    r"create_(?:hard_)?link|create_symlink|createUniqueDirectory|"
    r"createTemporaryFile|raw_fd_ostream|ofstream|fs::remove|fopen|creat)\b")
PROGRAMS = re.compile(r"\b(system|popen|exec[lv][ep]*|posix_spawnp?|"
                      r"ExecuteAndWait|ExecuteNoWait)\s*\(")
# Where, and why.
EXCEPTIONS = {
    ("lib/Support/Processes.cpp", PROGRAMS): "the library",
    ("lib/Support/Confine.cpp", PROGRAMS): "finds out whether bubblewrap works",
    ("lib/Support/KeptFiles.cpp", FILES): "removes names in the user's cache, "
                                          "of a link only itself",
    ("lib/Support/Data/Npy.cpp", FILES): "a file that the user names",
    ("lib/Support/Data/NpyFrames.cpp", FILES): "a file that the user names",
    ("lib/Evaluate/Evaluate.cpp", FILES): "a file that the user names",
    ("lib/Package/Writer.cpp", PROGRAMS): "rm, in a signal's handler",
}
COMMENT = re.compile(r"//[^\n]*|\"(?:\\.|[^\"\\\n])*\"")


def main():
    problems, used = [], set()
    for path in tracked(".cpp", ".h"):
        if not path.startswith(LAYERS):
            continue
        text = COMMENT.sub("", (ROOT / path).read_text())
        for pattern, instead in ((FILES, "Folders.h"), (PROGRAMS, "Tools.h")):
            for number, line in enumerate(text.split("\n"), 1):
                found = pattern.search(line)
                if not found:
                    continue
                if (path, pattern) in EXCEPTIONS:
                    used.add((path, pattern))
                else:
                    problems.append(f"{path}:{number}: '{found.group(1)}': use "
                                    f"Support/{instead}")
    for path, pattern in EXCEPTIONS.keys() - used:
        problems.append(f"{path}: an exception that nothing needs")
    return report("folders", problems)


if __name__ == "__main__":
    sys.exit(main())
