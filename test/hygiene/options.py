#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every command and option that rhizome's --help prints is in
docs/commands.md, and no other. With --update the page is rewritten."""
import re
import subprocess
import sys

from common import ROOT, report

PAGE = ROOT / "docs" / "commands.md"
HEAD = """# Commands

What `rhizome COMMAND --help` prints; `test/hygiene/options.py` compares, and
writes this page with `--update`.
"""
OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]*")


def help_of(program, *command):
    return subprocess.run([program, *command, "--help"], capture_output=True,
                          text=True, check=True).stdout.rstrip()


def main():
    program = sys.argv[1]
    top = help_of(program)
    listed = top.split("Subcommands:")[1].split("Examples:")[0]
    commands = re.findall(r"^  ([a-z]+) ", listed, re.M)
    texts = {name: help_of(program, name) for name in commands}
    if "--update" in sys.argv:
        sections = [f"\n## {name}\n\n```\n" +
                    "\n".join(line.rstrip() for line in text.splitlines()) +
                    "\n```\n" for name, text in texts.items()]
        PAGE.write_text(HEAD + "".join(sections))
        return 0
    problems = []
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
