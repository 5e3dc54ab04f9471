#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every command and option that rhizome's --help prints is in
docs/commands.md, and no other; no line of help is wider than 100 columns, and
none has words of the parser's. With --update the page is rewritten."""
import re
import subprocess
import sys

from common import ROOT, report

PAGE = ROOT / "docs" / "commands.md"
HEAD = """# Commands

`rhizome COMMAND --help` prints the same. Exit codes are 0 (done), 1 (failed or
refused) and 2 (bad usage).
"""
OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]*")
# What CLI11 would print by itself.
PARSER = re.compile(r"\b(TEXT|UINT|FLOAT|INT:|Excludes:|Needs:|REQUIRED|"
                    r"SUBCOMMAND)")


def help_of(program, *command):
    return subprocess.run([program, *command, "--help"], capture_output=True,
                          text=True, check=True).stdout.rstrip()


def entries(lines):
    """[(entry, its text)] of lines in the form of tools/rhizome/Help.cpp."""
    found = []
    for line in lines:
        entry = re.fullmatch(r"  (\S.*?)(?:  +(\S.*))?", line)
        if line.startswith(" " * 26):
            found[-1][1] += (" " if found[-1][1] else "") + line.strip()
        elif entry:
            found.append([entry[1], entry[2] or ""])
    return found


def escaped(text):
    """Help as Markdown: options and formats are code, nothing is a tag."""
    text = re.sub(r"(?<![\w-])(--[a-z][a-z-]*)", r"`\1`", text)
    return re.sub(r"([*_])", r"\\\1", text.replace("<", "&lt;"))


def section(name, text):
    """A command's help as definition lists, which fit every width."""
    purpose, rest = text.split("Usage:", 1)
    usage, _, rest = rest.lstrip().partition("\n")
    parts = [f"\n## {name}\n\n{escaped(' '.join(purpose.split()))}\n\n"
             f"    {usage}\n"]
    for block in re.split(r"^(?=[A-Z][A-Za-z ]*:$)", rest, flags=re.M):
        heading, _, body = block.partition(":\n")
        if not body.strip():
            continue
        parts.append(f"\n**{heading.strip()}**\n\n")
        if heading.strip() == "Examples":
            parts += [f"    {line.strip()}\n" for line in body.splitlines()
                      if line.strip()]
            continue
        parts += [f"`{entry}`\n:   {escaped(said)}\n\n"
                  for entry, said in entries(body.splitlines())]
    return "".join(parts)


def of_form(name, text):
    problems = []
    for line in text.splitlines():
        if len(line) > 100 and " " in line.strip():
            problems.append(f"rhizome {name} --help: wider than 100 columns: "
                            f"{line.strip()}")
        if PARSER.search(line):
            problems.append(f"rhizome {name} --help: the parser's words: "
                            f"{line.strip()}")
    return problems


def main():
    program = sys.argv[1]
    top = help_of(program)
    listed = top.split("Usage:")[1].split("Examples:")[0]
    commands = re.findall(r"^  ([a-z]+)\b", listed, re.M)
    texts = {name: help_of(program, name) for name in commands}
    if "--update" in sys.argv:
        PAGE.write_text(HEAD + "".join(
            section(name, text) for name, text in texts.items()))
        return 0
    problems = of_form("", top)
    for name, text in texts.items():
        problems += of_form(name, text)
    sections = dict(re.findall(r"^## (\w+)\n(.*?)(?=^## |\Z)",
                               PAGE.read_text(), re.M | re.S))
    for name in sorted(set(commands) ^ set(sections)):
        problems.append(f"docs/commands.md: '{name}' is a command here only"
                        if name in sections else
                        f"docs/commands.md: lacks the command '{name}'")
    for name in set(commands) & set(sections):
        real = set(OPTION.findall(texts[name]))
        said = set(OPTION.findall(sections[name]))
        for option in sorted(real - said):
            problems.append(f"docs/commands.md: '{name}' lacks {option}")
        for option in sorted(said - real):
            problems.append(f"docs/commands.md: '{name}' has no {option}")
    return report("options", problems)


if __name__ == "__main__":
    sys.exit(main())
