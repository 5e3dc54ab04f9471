#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""man_pages.py PROGRAM FOLDER: the manual pages of rhizome and its commands,
made from what --help prints."""
import pathlib
import re
import subprocess
import sys


def printed(*command):
    return subprocess.run(command, capture_output=True, text=True,
                          check=True).stdout


def escaped(text):
    lines = text.replace("\\", r"\e").replace("-", r"\-").splitlines()
    return "\n".join(r"\&" + line if line[:1] in (".", "'") else line
                     for line in lines)


def verbatim(text):
    return f".nf\n{escaped(text)}\n.fi\n"


def page(name, version, text):
    """A page of the help text of one command: what stands before "Usage:" says
    what it is for, headings end in a colon."""
    purpose, rest = text.split("Usage:", 1)
    usage, rest = rest.lstrip().split("\n", 1)
    purpose = " ".join(purpose.split())
    summary = purpose[:1].lower() + purpose[1:].split(". ")[0].rstrip(".")
    parts = [f'.TH {name.upper()} 1 "" "{version}" "Rhizome"\n.SH NAME\n',
             f"{escaped(name)} \\- {escaped(summary)}\n",
             f".SH SYNOPSIS\n{escaped(usage)}\n",
             f".SH DESCRIPTION\n{escaped(purpose)}\n"]
    heading = None
    for block in re.split(r"^([A-Z][A-Za-z ]*):\n", rest, flags=re.M):
        if heading is None and re.fullmatch(r"[A-Z][A-Za-z ]*", block):
            heading = block
        else:
            if block.strip():
                parts.append((f".SH {heading.upper()}\n" if heading else "") +
                             options(block))
            heading = None
    return "".join(parts)


def options(block):
    """Entries are indented by two; what explains them by more, or by two
    blanks after the entry. Anything else is printed as it is."""
    out, plain = [], []
    for line in block.strip("\n").splitlines():
        entry = re.fullmatch(r"  (-\S.*?|[A-Z]\S*.*?|[a-z]+)(?:  +(\S.*))?", line)
        more = re.fullmatch(r" {8,}(\S.*)", line)
        if entry:
            out.append(f".TP\n.B {escaped(entry[1])}" +
                       (f"\n{escaped(entry[2])}" if entry[2] else ""))
        elif more and out:
            out.append(escaped(more[1]))
        elif out:
            out.append((".PP\n" if line.strip() else "") + verbatim(line).rstrip("\n"))
        else:
            plain.append(line)
    return (verbatim("\n".join(plain)) if plain else "") + "\n".join(out) + "\n"


def main():
    program, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    version = printed(program, "--version").strip()
    top = printed(program, "--help")
    listed = top.split("Usage:")[1].split("Examples:")[0]
    for command in re.findall(r"^  ([a-z]+)\b", listed, re.M):
        (folder / f"rhizome-{command}.1").write_text(
            page(f"rhizome-{command}", version,
                 printed(program, command, "--help")))
    (folder / "rhizome.1").write_text(page("rhizome", version, top))
    return 0


if __name__ == "__main__":
    sys.exit(main())
